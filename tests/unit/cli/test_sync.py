"""`prwatch sync` as a command line, against a simulated GitHub on the loopback."""

import pytest

from prwatch.simulator import DEFAULT_TOKEN
from tests.hubs import get_environ, open_hub, write_config

SYNC = '[[workspace.sync]]\nrepository = "octo/team"\n'
HELLO = '[[watch]]\nrepository = "octo/hello"\npull_request = 12\n'


@pytest.fixture
def hub(call, tmp_path):
    call.environ.update(get_environ())
    with open_hub() as (world, api_url):
        world.add_repository("octo/team")
        world.write_file("octo/team", ".prwatch/a.toml", HELLO)
        call.configure(write_config(api_url, tmp_path / "state", SYNC))
        yield world


def extend(call, text):
    """Write more at the end of the configuration, which is the folder's entry."""
    config = call.folder / "prwatch.toml"
    config.write_text(f"{config.read_text()}{text}\n")


@pytest.mark.parametrize(
    "arguments",
    [(), ("acme",), ("now",), ("now", "acme"), ("--log-level", "error", "acme")],
)
def test_folders_are_looked_at_now(call, hub, arguments):
    told = call("sync", *arguments)

    assert (told.code, told.err) == (0, "")
    assert told.out == "acme: octo/team:.prwatch changed; 3 steps taken\n"


def test_mistakes_and_failures_are_told_apart_from_what_was_done(call, hub):
    hub.write_file("octo/team", ".prwatch/b.toml", "a = 1")
    first = call("sync")
    second = call("sync")
    hub.set_token(DEFAULT_TOKEN, repositories=())
    failed = call("sync")

    assert first.err.startswith("  b.toml:1:1: a: is not a key here")
    assert (second.code, second.out) == (0, "acme: octo/team:.prwatch is unchanged\n")
    assert (failed.code, failed.out) == (1, "")
    assert failed.err.startswith("acme: octo/team:.prwatch could not be read: the ")


@pytest.mark.parametrize("arguments", [("stat",), ("now", "stat"), ("--json", "stat")])
def test_a_word_that_is_neither_command_nor_workspace_tells_what_there_is(
    call, hub, arguments
):
    told = call("sync", *arguments)

    assert (told.code, told.out) == (2, "")
    assert told.err == (
        "prwatch: there is neither a workspace nor a command stat\n"
        "hint: commands: now, status; workspaces that follow a folder: acme\n"
    )


def test_a_workspace_that_follows_nothing_is_an_error(call, hub):
    extend(call, '[[workspace]]\nname = "corp"\ntoken_env = "CORP"')
    told = call("sync", "corp")

    assert told.code == 2
    assert told.err == (
        "prwatch: workspace corp names no folder of watch files\n"
        "hint: a [[workspace.sync]] entry does; workspaces that follow a folder: acme\n"
    )


NEEDS = (
    "and that the token may read it: a fine-grained token or an app needs the"
    " permission Contents (read), a classic token the scope repo"
)


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("", f"that .prwatch is a folder, {NEEDS}"),
        ('branch = "main"', f"that .prwatch is a folder on the branch main, {NEEDS}"),
        ('path = "/"', f"that it is not empty, {NEEDS}"),
        ('path = "/"\nbranch = "x"', f"that it has the branch x, {NEEDS}"),
    ],
)
def test_a_folder_that_is_not_found_tells_what_to_look_at(call, hub, place, told):
    hub.set_token(DEFAULT_TOKEN, repositories=())
    extend(call, place)
    now = call("sync")
    status = call("sync", "status")
    (row,) = call("sync", "--json").value["folders"]
    (failure,) = call("--json", "--cycle").value["failures"]

    remedy = f"see that octo/team is there, {told}"
    assert now.err.splitlines()[1] == f"  {remedy}"
    assert status.out.splitlines()[-1].endswith(f": {remedy}")
    assert row["remedy"] == failure["remedy"] == remedy


def test_a_folder_that_is_looked_at_by_hand_has_no_next_try(call, hub):
    hub.delete_repository("octo/team")
    extend(call, "poll_enabled = false")
    call("sync")

    assert "not found; it is tried by hand alone" in call("sync", "status").out


def test_the_help_is_that_of_the_group(call):
    assert "status" in call("sync", "--help").out


def test_the_status_tells_how_folders_stand(call, hub):
    before = call("sync", "status")
    call("sync")
    good = call("sync", "--log-level", "error", "status")
    hub.write_file("octo/team", ".prwatch/b.toml", "a = 1")
    hub.write_file("octo/team", ".prwatch/c.toml", HELLO)
    call("sync")
    broken = call("sync", "status")
    hub.delete_repository("octo/team")
    call("sync")
    failed = call("sync", "status")

    assert before.out.splitlines()[1].endswith("no file yet")
    assert good.out.splitlines()[1].split()[-1] == "good"
    assert "1 file with mistakes" in broken.out
    assert "\nb.toml:1:1: a: is not a key here" in broken.out
    assert "c.toml: task octo/hello#12 is declared by" in broken.out
    assert "not found; next try 20" in failed.out


def test_objects_are_printed_for_programs(call, hub):
    now = call("sync", "--json").value
    status = call("sync", "status", "--json").value

    assert [each["result"] for each in now["folders"]] == ["changed"]
    assert [each["name"] for each in status["folders"][0]["files"]] == ["a.toml"]


def test_without_an_entry_it_is_said_what_names_a_folder(call, tmp_path):
    call.configure(f'state_dir = "{tmp_path}/state"\n[[workspace]]\nname = "acme"\n')

    told = call("sync", "status")

    assert told.out.startswith("No folder is followed;")
    assert call("sync").code == 2
