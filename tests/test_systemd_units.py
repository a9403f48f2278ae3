"""The unit files are what systemd understands, without a word, and are hardened."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SYSTEM_UNIT = ROOT / "systemd" / "prwatch.service"
USER_UNIT = ROOT / "systemd" / "prwatch-user.service"
UNITS = [pytest.param(SYSTEM_UNIT, id="system"), pytest.param(USER_UNIT, id="user")]
MAX_EXPOSURE = 2.0
EXPOSURE = re.compile(r"Overall exposure level for \S+: ([0-9.]+)")


@pytest.fixture
def analyze(tmp_path):
    """Run systemd-analyze on a unit whose program exists on this machine."""
    program = shutil.which("systemd-analyze")
    if program is None:
        reason = "systemd-analyze is not installed (Debian: systemd)"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)

    def run(unit, verb, *options):
        filled = tmp_path / unit.name
        filled.write_text(unit.read_text().replace("@PRWATCH@", sys.executable))
        options = [*options, "--user"] if unit == USER_UNIT else list(options)
        return subprocess.run(
            [program, verb, *options, str(filled)],
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
            env={"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(runtime)},
        )

    return run


def get_settings(unit):
    """Return the settings of the unit, comments left out, each with its values."""
    settings = {}
    for line in unit.read_text().splitlines():
        name, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            settings.setdefault(name, []).append(value)
    return settings


@pytest.mark.parametrize("unit", UNITS)
def test_systemd_has_nothing_to_say_about_the_unit(analyze, unit):
    """The exit status proves nothing: unknown settings are only warned about."""
    result = analyze(unit, "verify", "--man=no")

    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_systemd_would_complain_about_a_wrong_setting(analyze, tmp_path):
    broken = tmp_path / "broken.service"
    text = SYSTEM_UNIT.read_text()
    broken.write_text(text.replace("Type=notify\n", "Type=notified\n"))

    result = analyze(broken, "verify", "--man=no")

    assert "Failed to parse service type" in result.stderr


def test_the_system_unit_is_hardened(analyze):
    result = analyze(SYSTEM_UNIT, "security", "--offline=true", "--no-pager")

    assert result.stderr == ""
    assert float(EXPOSURE.search(result.stdout)[1]) <= MAX_EXPOSURE


@pytest.mark.parametrize("unit", UNITS)
def test_the_daemon_speaks_with_systemd(unit):
    settings = get_settings(unit)

    names = ("Type", "NotifyAccess", "WatchdogSec", "ExecReload", "RuntimeDirectory")
    assert {name: settings[name] for name in names} == {
        "Type": ["notify"],
        "NotifyAccess": ["main"],
        "WatchdogSec": ["2min"],
        "ExecReload": ["kill -HUP $MAINPID"],
        "RuntimeDirectory": ["prwatch"],
    }


def test_the_system_service_has_a_user_a_state_folder_and_credentials_of_its_own():
    settings = get_settings(SYSTEM_UNIT)

    assert settings["DynamicUser"] == ["yes"]
    assert settings["StateDirectory"] == ["prwatch"]
    assert "#LoadCredential=github-token:" in SYSTEM_UNIT.read_text()


def test_the_user_service_sees_the_home_folder():
    hidden = {"ProtectHome", "DynamicUser", "PrivateUsers", "RootDirectory"}

    assert hidden.isdisjoint(get_settings(USER_UNIT))


@pytest.mark.parametrize("unit", UNITS)
def test_only_the_program_is_left_to_be_filled_in(unit):
    lines = [line for line in unit.read_text().splitlines() if not line.startswith("#")]

    marked = [line for line in lines if "@PRWATCH@" in line]
    assert [line.partition(" ")[0] for line in marked] == ["ExecStart=@PRWATCH@"]


@pytest.mark.parametrize("unit", UNITS)
def test_every_block_of_the_service_is_explained(unit):
    """A blank-line block of settings opens with a comment, so each line has one."""
    service = unit.read_text().partition("[Service]\n")[2].partition("[Install]")[0]

    blocks = service.strip().split("\n\n")
    assert [block for block in blocks[1:] if not block.startswith("#")] == []
