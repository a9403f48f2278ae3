"""What is said about the systemd units of a machine."""

import sys
from pathlib import Path

import pytest

from prwatch.app.command.finding import Health
from prwatch.app.daemon.unit_check import UNIT, examine_units, get_user_folder

ANALYZE = """#!/bin/sh
echo "$@" >>"{log}"
echo "{said}" >&2
exit {code}
"""


@pytest.fixture
def machine(tmp_path):
    """Return a function that examines a machine whose systemd-analyze says so."""
    folder = tmp_path / "system"
    folder.mkdir()

    async def run(*, said="", code=0, has_analyze=True):
        programs = tmp_path / "bin"
        programs.mkdir(exist_ok=True)
        if has_analyze:
            program = programs / "systemd-analyze"
            log = tmp_path / "log"
            program.write_text(ANALYZE.format(log=log, said=said, code=code))
            program.chmod(0o755)
        environ = {"HOME": str(tmp_path), "PATH": str(programs)}
        found = examine_units(environ, system_folders=(folder,))
        return [each async for each in found]

    run.system = folder
    run.user = tmp_path / ".config/systemd/user"
    run.log = tmp_path / "log"
    return run


def install(folder, program=sys.executable):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / UNIT
    path.write_text(f"[Service]\nExecStart={program} run\n")
    return path


async def test_without_a_unit_it_says_what_writes_one(machine):
    (finding,) = await machine()

    assert (finding.health, finding.text) == (
        Health.OK,
        "no unit is installed; `prwatch init --systemd` writes one",
    )


async def test_units_of_the_system_and_of_the_person_are_verified(machine):
    system, user = install(machine.system), install(machine.user)

    findings = await machine()

    assert [(each.health, each.text) for each in findings] == [
        (Health.OK, f"{path} is what systemd understands") for path in (system, user)
    ]
    assert machine.log.read_text().splitlines() == [
        f"verify --man=no {system}",
        f"verify --man=no --user {user}",
    ]


@pytest.mark.parametrize(
    ("said", "code", "reason"),
    [
        pytest.param(
            "x/prwatch.service:3: Unknown key",
            0,
            "x/prwatch.service:3: Unknown key",
            id="a word about it",
        ),
        pytest.param("no manager", 1, "systemd-analyze ended with 1", id="a failure"),
    ],
)
async def test_what_systemd_says_is_passed_on(machine, said, code, reason):
    path = install(machine.system)

    (finding,) = await machine(said=said, code=code)

    assert (finding.health, finding.text) == (Health.WARNING, f"{path}: {reason}")


async def test_words_about_other_units_are_none_about_ours(machine):
    install(machine.system)

    (finding,) = await machine(said="other.service: is odd")

    assert finding.health is Health.OK


async def test_without_systemd_the_unit_is_still_named(machine):
    path = install(machine.system)

    (finding,) = await machine(has_analyze=False)

    assert finding.health is Health.OK
    assert finding.text.startswith(f"{path} is there")


@pytest.mark.parametrize(
    ("program", "text"),
    [
        pytest.param("/gone/prwatch", "starts /gone/prwatch, which", id="gone"),
        pytest.param("", "starts run, which cannot be run", id="no program"),
        pytest.param('"/a b', "starts nothing, which cannot be run", id="open quote"),
        pytest.param("/50%%/prwatch", "starts /50%/prwatch", id="a percent sign"),
    ],
)
async def test_a_program_that_cannot_be_run_is_broken(machine, program, text):
    install(machine.user, program)

    (finding,) = await machine()

    assert finding.health is Health.BROKEN
    assert text in finding.text
    assert "--user --force" in finding.remedy


async def test_a_unit_that_cannot_be_read_is_warned_of(machine):
    (machine.system / UNIT).write_bytes(b"\xff")

    (finding,) = await machine()

    assert finding.health is Health.WARNING


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        pytest.param({"HOME": "/h"}, Path("/h/.config/systemd/user"), id="home"),
        pytest.param(
            {"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, Path("/x/systemd/user"), id="xdg"
        ),
        pytest.param(
            {"HOME": "/h", "XDG_CONFIG_HOME": "x"},
            Path("/h/.config/systemd/user"),
            id="relative",
        ),
        pytest.param({}, None, id="no home"),
    ],
)
def test_a_persons_units_are_where_systemd_looks(environ, folder):
    assert get_user_folder(environ) == folder
