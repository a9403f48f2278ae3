"""Where things are on this machine: the file, the state folder, relative paths."""

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from prwatch.errors import ConfigError, StoreUnavailable

FILE_NAME: Final = "prwatch.toml"
SYSTEM_FILE: Final = Path("/etc/prwatch/prwatch.toml")
S = TypeVar("S", bound=msgspec.Struct)


def find_config(
    explicit: Path | None,
    environ: Mapping[str, str],
    cwd: Path,
    *,
    system_file: Path = SYSTEM_FILE,
) -> Path | None:
    """
    Return the configuration file to use, or None when there is none.

    The order is `--config`, `$PRWATCH_CONFIG`, `./prwatch.toml`,
    `$XDG_CONFIG_HOME/prwatch/prwatch.toml`, `/etc/prwatch/prwatch.toml`.

    Raises:
        ConfigError: A file that was named is not there, or nobody may look.
    """
    variable = environ.get("PRWATCH_CONFIG", "")
    named = explicit or (Path(variable) if variable else None)
    if named is not None:
        path = cwd / expand_home(named, environ)
        if not _exists(path):
            raise ConfigError(
                f"there is no configuration file {path}",
                hint="`prwatch init` writes one",
            )
        return path
    candidates = _list_candidates(environ, cwd, system_file)
    return next((path for path in candidates if _exists(path)), None)


def list_places(
    environ: Mapping[str, str], cwd: Path, *, system_file: Path = SYSTEM_FILE
) -> tuple[Path, ...]:
    """Return where a configuration is looked for when none is named, in order."""
    return tuple(_list_candidates(environ, cwd, system_file))


def _list_candidates(
    environ: Mapping[str, str], cwd: Path, system_file: Path
) -> Iterator[Path]:
    yield cwd / FILE_NAME
    # A relative value is to be ignored:
    # https://specifications.freedesktop.org/basedir-spec/latest/
    folder = environ.get("XDG_CONFIG_HOME", "")
    if Path(folder).is_absolute():
        yield Path(folder) / "prwatch" / FILE_NAME
    elif home := environ.get("HOME"):
        yield Path(home) / ".config" / "prwatch" / FILE_NAME
    yield system_file


def _exists(path: Path) -> bool:
    try:
        return not stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise ConfigError(
            f"the configuration {path} cannot be read: {reason}"
        ) from None


def expand_home(path: Path, environ: Mapping[str, str]) -> Path:
    """
    Return the path with the home folder in place of a leading `~`.

    Raises:
        ConfigError: The path needs a home folder and HOME is not set.
    """
    if path.parts[:1] != ("~",):
        return path
    home = environ.get("HOME")
    if not home:
        raise ConfigError(f"is not set, but {path} needs it")
    return Path(home, *path.parts[1:])


def get_service_folder(environ: Mapping[str, str]) -> str:
    """Return the first folder that systemd keeps for the service, or ''."""
    return environ.get("STATE_DIRECTORY", "").split(":", 1)[0]


def anchor(value: S, folder: Path, environ: Mapping[str, str]) -> S:
    """
    Return the struct with every path in it absolute.

    `~` is the home folder; a relative path is relative to `folder`.
    """

    def visit(inner: Any) -> Any:
        if isinstance(inner, Path):
            return Path(os.path.normpath(folder / expand_home(inner, environ)))
        if isinstance(inner, tuple):
            return tuple(visit(each) for each in inner)
        if isinstance(inner, msgspec.Struct):
            names = inner.__struct_fields__
            changes = {name: visit(getattr(inner, name)) for name in names}
            return msgspec.structs.replace(inner, **changes)
        return inner

    anchored: S = visit(value)
    return anchored


def prepare_state_dir(state_dir: Path) -> Path:
    """
    Make the state folder, readable by its owner alone, if it is not there.

    Raises:
        StoreUnavailable: It cannot be made or written to.
    """
    try:
        state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _refuse(state_dir, error.strerror or "it cannot be made") from None
    if not os.access(state_dir, os.R_OK | os.W_OK | os.X_OK):
        raise _refuse(state_dir, "permission denied or read-only")
    return state_dir


def _refuse(state_dir: Path, reason: str) -> StoreUnavailable:
    return StoreUnavailable(
        f"the state folder {state_dir} cannot be written: {reason}",
        hint="set state_dir, PRWATCH_STATE_DIR or --state-dir to a folder of yours",
    )
