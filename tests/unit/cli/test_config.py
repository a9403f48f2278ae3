"""`prwatch config`: check, show, path, example."""

import json

import pytest

from prwatch.config.loader import load_config

WORKSPACE = '[[workspace]]\nname = "acme"\ntoken_env = "ACME_TOKEN"\n'
TOKEN = "ghp_" + "a1" * 18


def test_a_good_configuration_is_said_to_be_good(call):
    call.configure(WORKSPACE)
    call.environ["ACME_TOKEN"] = TOKEN

    words = call("config", "check")
    value = call("config", "check", "--json").value

    path = str(call.folder / "prwatch.toml")
    assert (words.code, words.out, words.err) == (0, f"{path}: nothing is wrong.\n", "")
    assert value == {"ok": True, "path": path, "problems": []}


def test_without_a_workspace_it_says_that_nothing_is_watched(call):
    result = call("config", "check")

    assert result.code == 0
    assert result.out == (
        "without a configuration file: nothing is wrong, and nothing is watched.\n"
    )


def test_every_mistake_is_told_to_people_and_programs(call):
    call.configure('[poll]\ninterval = "0s"\n[http]\nca_flie = "x"\n')

    result = call("config", "check", "--json")

    assert result.code == 2
    problems = result.value["problems"]
    assert [each.split(": ")[1] for each in problems] == [
        "poll.interval",
        "http.ca_flie",
    ]
    assert result.value == {"ok": False, "problems": problems}
    assert result.err.splitlines() == [f"prwatch: {each}" for each in problems]


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        pytest.param(
            WORKSPACE,
            "workspace acme: environment variable ACME_TOKEN is not set",
            id="a variable",
        ),
        pytest.param(
            '[[workspace]]\nname = "acme"\ngh = true\n',
            "workspace acme: there is no program gh, which is to give the token",
            id="gh",
        ),
        pytest.param(
            '[[workspace]]\nname = "acme"\ntoken_credential = "t"\n',
            "workspace acme: systemd credential t cannot be read:"
            " CREDENTIALS_DIRECTORY is not set;"
            " add LoadCredential=t:/path/to/file to the unit",
            id="a credential",
        ),
        pytest.param(
            '[[sink]]\nname = "hook"\nkind = "webhook"\nurl = "https://h.example/"\n'
            'secret_env = "HOOK_KEY"\n',
            "sink hook: environment variable HOOK_KEY is not set",
            id="a sink's",
        ),
        pytest.param(
            'database_url = "postgresql://p@db.example/p"\n'
            'database_password_env = "DB_KEY"\n',
            "database: environment variable DB_KEY is not set",
            id="the database's",
        ),
    ],
)
def test_a_secret_that_is_not_there_is_a_mistake(call, entry, problem):
    call.configure(entry)

    result = call("config", "check")

    assert (result.code, result.out) == (2, "")
    assert result.err == f"prwatch: secrets cannot be read\nprwatch: {problem}\n"


def test_what_is_in_effect_is_shown_with_where_it_came_from(call):
    call.configure(WORKSPACE + '[poll]\ninterval = "7s"\n')
    call.environ |= {"ACME_TOKEN": TOKEN, "PRWATCH_POLL_SETTLE": "3s"}

    words = call("--log-level", "error", "config", "show")
    value = call("config", "show", "--json").value

    lines = [line.split("  # ") for line in words.out.splitlines()]
    shown = {left.strip(): origin.strip() for left, origin in lines}
    path = call.folder / "prwatch.toml"
    assert shown['poll.interval = "7s"'] == f"{path}:5"
    assert shown['poll.settle = "3s"'] == "environment PRWATCH_POLL_SETTLE"
    assert shown['log.level = "error"'] == "command line --log-level"
    assert value["workspace[0].token_env"]["value"] == "ACME_TOKEN"
    assert TOKEN not in words.out + json.dumps(value)


def test_the_file_that_is_used_is_named(call):
    call.configure(WORKSPACE)

    result = call("config", "path")

    assert (result.code, result.out) == (0, f"{call.folder}/prwatch.toml\n")


def test_without_a_file_the_places_are_named(call, tmp_path):
    own = f"{tmp_path}/home/.config/prwatch/prwatch.toml"
    places = [f"{call.folder}/prwatch.toml", own, "/etc/prwatch/prwatch.toml"]

    words = call("config", "path")
    objects = call("config", "path", "--json")

    assert (words.code, words.out) == (1, "")
    assert words.err == (
        f"There is no configuration file; looked for {', '.join(places)}.\n"
    )
    assert (objects.code, objects.value) == (1, {"path": None, "places": places})


def test_the_example_is_a_configuration(call, tmp_path):
    result = call("config", "example")

    loaded = load_config(result.out, environ={"HOME": str(tmp_path)})
    assert loaded.config.workspaces
