"""Looks at the systemd units that are installed for prwatch."""

import shlex
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

from prwatch.app.command.finding import Finding, Health

UNIT: Final = "prwatch.service"
SYSTEM_FOLDERS: Final = (Path("/etc/systemd/system"), Path("/usr/lib/systemd/system"))
PROGRAM_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class _Unit:
    path: Path
    is_of_user: bool


async def examine_units(
    environ: Mapping[str, str], *, system_folders: tuple[Path, ...] = SYSTEM_FOLDERS
) -> AsyncIterator[Finding]:
    """Yield a finding for each unit, or the one that there is none."""
    units = [each for each in _list_units(environ, system_folders) if _is_there(each)]
    if not units:
        yield Finding(
            "systemd",
            Health.OK,
            "no unit is installed; `prwatch init --systemd` writes one",
        )
    for unit in units:
        yield _examine_program(unit) or await _verify(unit, environ)


def get_user_folder(environ: Mapping[str, str]) -> Path | None:
    """Return where a person's own units are (systemd.unit(5)); None without HOME."""
    folder = environ.get("XDG_CONFIG_HOME", "")
    if Path(folder).is_absolute():
        return Path(folder, "systemd/user")
    home = environ.get("HOME")
    return Path(home, ".config/systemd/user") if home else None


def _list_units(
    environ: Mapping[str, str], system_folders: tuple[Path, ...]
) -> Iterator[_Unit]:
    for folder in system_folders:
        yield _Unit(folder / UNIT, is_of_user=False)
    user_folder = get_user_folder(environ)
    if user_folder is not None:
        yield _Unit(user_folder / UNIT, is_of_user=True)


def _is_there(unit: _Unit) -> bool:
    try:
        return unit.path.is_file()
    except OSError:
        return False


def _examine_program(unit: _Unit) -> Finding | None:
    """Return what is wrong with the program that a unit starts, if anything."""
    remedy = "run `prwatch init --systemd --force` again"
    if unit.is_of_user:
        remedy = "run `prwatch init --systemd --user --force` again"
    try:
        lines = unit.path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return Finding("systemd", Health.WARNING, f"{unit.path} cannot be read")
    line = next((each for each in lines if each.startswith("ExecStart=")), "")
    try:
        words = shlex.split(line.partition("=")[2])
    except ValueError:
        words = []
    program = words[0].replace("%%", "%") if words else ""
    if shutil.which(program) is None:
        text = f"{unit.path} starts {program or 'nothing'}, which cannot be run"
        return Finding("systemd", Health.BROKEN, text, remedy)
    return None


async def _verify(unit: _Unit, environ: Mapping[str, str]) -> Finding:
    program = shutil.which("systemd-analyze", path=environ.get("PATH"))
    if program is None:
        text = f"{unit.path} is there; systemd-analyze is not, to look at it"
        return Finding("systemd", Health.OK, text)
    scope = ["--user"] if unit.is_of_user else []
    argv = [program, "verify", "--man=no", *scope, str(unit.path)]
    try:
        # For a person's units it wants a runtime folder, which a plain shell lacks.
        with (
            tempfile.TemporaryDirectory(prefix="prwatch-") as folder,
            anyio.fail_after(PROGRAM_SECONDS),
        ):
            variables = {"XDG_RUNTIME_DIR": folder, **environ}
            done = await anyio.run_process(argv, check=False, env=variables)
    except (OSError, TimeoutError):
        text = f"{unit.path} is there; systemd-analyze did not say what it thinks of it"
        return Finding("systemd", Health.WARNING, text)
    said = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
    # It also speaks of other units; what it says of ours names the file.
    ours = [line for line in said.splitlines() if UNIT in line]
    if done.returncode or ours:
        reason = ours[0] if ours else f"systemd-analyze ended with {done.returncode}"
        return Finding(
            "systemd",
            Health.WARNING,
            f"{unit.path}: {reason}",
            "run `prwatch init --systemd --force` again, or mend the unit",
        )
    return Finding("systemd", Health.OK, f"{unit.path} is what systemd understands")
