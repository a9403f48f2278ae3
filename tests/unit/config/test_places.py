from pathlib import Path

import pytest

from prwatch.config import find_config, load_config, prepare_state_dir
from prwatch.errors import ConfigError, StoreError

HOME = {"HOME": "/home/me"}


@pytest.fixture
def machine(tmp_path):
    """Make every place in which a file may be; return them in the order of search."""
    places = {
        "flag": tmp_path / "flag.toml",
        "variable": tmp_path / "variable.toml",
        "folder": tmp_path / "cwd" / "prwatch.toml",
        "person": tmp_path / "xdg" / "prwatch" / "prwatch.toml",
        "system": tmp_path / "etc" / "prwatch.toml",
    }
    for path in places.values():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return places


def find(machine, *, explicit=None, variable=None):
    root = machine["flag"].parent
    environ = {"XDG_CONFIG_HOME": str(root / "xdg")}
    if variable:
        environ["PRWATCH_CONFIG"] = str(variable)
    return find_config(explicit, environ, root / "cwd", system_file=machine["system"])


def test_the_first_place_that_has_a_file_is_taken(machine):
    found = [find(machine, explicit=machine["flag"], variable=machine["variable"])]
    found.append(find(machine, variable=machine["variable"]))
    for name in ("folder", "person", "system"):
        found.append(find(machine))
        machine[name].unlink()
    found.append(find(machine))

    assert found == [*machine.values(), None]


def test_the_folder_of_a_person_is_in_their_home(tmp_path):
    file = tmp_path / ".config" / "prwatch" / "prwatch.toml"
    file.parent.mkdir(parents=True)
    file.touch()

    environ = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": "relative"}
    assert find_config(None, environ, tmp_path) == file


@pytest.mark.parametrize("kind", ["explicit", "variable"])
def test_a_file_that_was_named_must_be_there(machine, kind):
    missing = machine["flag"].parent / "missing.toml"

    with pytest.raises(ConfigError, match="there is no configuration file") as refusal:
        find(machine, **{kind: missing})

    assert refusal.value.hint == "`prwatch init` writes one"


def test_a_named_file_is_relative_to_the_current_folder(machine):
    found = find(machine, explicit=Path("prwatch.toml"))

    assert found == machine["folder"]


def test_a_name_that_no_file_can_have_is_refused(machine):
    with pytest.raises(ConfigError, match="cannot be read: not a path"):
        find(machine, explicit=Path("a\0b"))


@pytest.mark.parametrize(
    ("text", "environ", "flags", "state_dir"),
    [
        pytest.param("", {}, {}, "/home/me/.local/state/prwatch", id="default"),
        pytest.param(
            "",
            {"STATE_DIRECTORY": "/var/lib/prwatch:/b"},
            {},
            "/var/lib/prwatch",
            id="systemd",
        ),
        pytest.param(
            'state_dir = "/file"', {"STATE_DIRECTORY": "/s"}, {}, "/file", id="file"
        ),
        pytest.param(
            'state_dir = "/file"',
            {"STATE_DIRECTORY": "/s", "PRWATCH_STATE_DIR": "/variable"},
            {},
            "/variable",
            id="variable",
        ),
        pytest.param(
            'state_dir = "/file"',
            {"STATE_DIRECTORY": "/s", "PRWATCH_STATE_DIR": "/variable"},
            {"state_dir": "~/flag"},
            "/home/me/flag",
            id="flag",
        ),
        pytest.param(
            "", {"PRWATCH_STATE_DIR": "x"}, {}, "/cwd/x", id="relative variable"
        ),
        pytest.param('state_dir = "../x"', {}, {}, "/x", id="relative text"),
    ],
)
def test_the_state_folder_comes_from_the_first_that_names_one(
    text, environ, flags, state_dir
):
    loaded = load_config(
        text, environ={**HOME, **environ}, flags=flags, cwd=Path("/cwd")
    )

    assert loaded.config.state_dir == Path(state_dir)


def test_a_relative_state_folder_is_beside_the_file_that_names_it(tmp_path):
    file = tmp_path / "prwatch.toml"
    file.write_text('state_dir = "state"')

    loaded = load_config(file, environ=HOME, cwd=Path("/cwd"))

    assert loaded.config.state_dir == tmp_path / "state"


def test_the_state_folder_is_made_for_its_owner_alone(tmp_path):
    folder = tmp_path / "a" / "state"

    assert prepare_state_dir(folder) == folder
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_state_folder_that_is_there_stays_as_it_is(tmp_path):
    tmp_path.chmod(0o750)

    prepare_state_dir(tmp_path)

    assert tmp_path.stat().st_mode & 0o777 == 0o750


@pytest.mark.parametrize("name", ["file", "file/below"])
def test_a_state_folder_that_cannot_be_written_is_an_error_of_the_store(tmp_path, name):
    (tmp_path / "file").touch()
    folder = tmp_path / name

    with pytest.raises(StoreError) as refusal:
        prepare_state_dir(folder)

    assert str(refusal.value).startswith(
        f"the state folder {folder} cannot be written: "
    )
    assert refusal.value.exit_code == 3
