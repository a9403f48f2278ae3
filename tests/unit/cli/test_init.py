"""`prwatch init`: where files go, what is kept, what is said."""

import pytest

from prwatch.config.loader import load_config


@pytest.fixture
def own_config(tmp_path):
    return tmp_path / "home/.config/prwatch/prwatch.toml"


def test_it_writes_a_configuration_that_can_be_used(call, own_config, tmp_path):
    result = call("init")

    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"Wrote {own_config}.\nNext:\n")
    loaded = load_config(own_config, environ={"HOME": str(tmp_path)})
    (workspace,) = loaded.config.workspaces
    assert (workspace.name, workspace.token_env) == ("default", "GITHUB_TOKEN")
    assert [watch.author for watch in workspace.watches] == ["@me"]


def test_a_program_learns_what_was_written_and_what_is_next(call, own_config):
    call.environ["GH_TOKEN"] = "ghp_" + "a1" * 18

    value = call("init", "--json").value

    assert value.pop("next")[0].startswith("prwatch doctor")
    assert value == {"path": str(own_config), "written": True, "warnings": []}
    assert 'token_env = "GH_TOKEN"' in own_config.read_text()


def test_it_writes_to_the_file_that_is_named(call):
    result = call("init", "--config", "mine.toml")

    assert result.out.startswith(f"Wrote {call.folder}/mine.toml.")
    assert (call.folder / "mine.toml").exists()


def test_the_variable_names_the_file_too(call):
    call.environ["PRWATCH_CONFIG"] = "~/other.toml"

    result = call("init")

    assert result.out.startswith(f"Wrote {call.environ['HOME']}/other.toml.")


def test_it_says_when_another_file_is_used_before_it(call):
    call.configure("")

    result = call("init")

    assert result.err == (
        f"Warning: in this folder {call.folder}/prwatch.toml is used before it.\n"
    )


def test_what_is_there_is_kept_unless_it_is_forced(call, own_config):
    call("init")
    written = own_config.read_text()
    own_config.write_text("# mine\n")

    refused = call("init")
    kept = own_config.read_text()
    forced = call("init", "--force")

    assert (refused.code, refused.out) == (2, "")
    assert refused.err == (
        f"prwatch: there is already a file {own_config}\nhint: --force replaces it\n"
    )
    assert kept == "# mine\n"
    assert (forced.code, own_config.read_text()) == (0, written)


def test_a_second_time_changes_nothing(call, own_config):
    call("init")

    result = call("init")

    assert result.code == 0
    assert result.out.startswith(f"{own_config} is as it should be.\n")


@pytest.mark.parametrize(
    ("options", "first_step"),
    [
        pytest.param([], "prwatch init --config /etc/prwatch", id="system"),
        pytest.param(["--user"], "prwatch init ", id="user"),
    ],
)
def test_a_unit_starts_this_program(call, options, first_step):
    result = call("init", "--systemd", *options, "--to", "units")

    assert result.code == 0
    path = call.folder / "units/prwatch.service"
    out = result.out.splitlines()
    assert out[:2] == [f"Wrote {path}.", "Next:"]
    assert out[2].strip().startswith(first_step)
    (start,) = [
        line for line in path.read_text().splitlines() if line.startswith("ExecStart=")
    ]
    program = start.removeprefix("ExecStart=").split()[0]
    assert program.startswith("/")
    assert program.endswith("/prwatch")


def test_a_units_own_folder_is_that_of_the_person(call):
    result = call("init", "--systemd", "--user")

    path = f"{call.environ['HOME']}/.config/systemd/user/prwatch.service"
    assert result.out.startswith(f"Wrote {path}.")


def test_a_folder_that_cannot_be_written_is_refused(call):
    (call.folder / "file").write_text("")

    result = call("init", "--systemd", "--to", "file/units")

    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(
        f"prwatch: {call.folder}/file/units/prwatch.service cannot be written: "
    )


@pytest.mark.parametrize("option", ["--user", "--to=x"])
def test_options_of_units_stand_with_systemd_alone(call, option):
    result = call("init", option)

    assert result.code == 2
    assert "--user and --to go with --systemd" in result.err
