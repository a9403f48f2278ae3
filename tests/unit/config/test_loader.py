import datetime as dt
from pathlib import Path

import pytest

from prwatch.config import Config, load_config
from prwatch.config.document import MAX_FILE_BYTES
from prwatch.config.entries import Checkout, Watch, Workspace
from prwatch.config.model import Poll
from prwatch.config.sink import Sink
from prwatch.errors import ConfigError

HOME = {"HOME": "/home/me"}
TOKEN = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
REASON = (
    "secrets never stand in the configuration, which is copied, shared and shown;"
    " name where it is instead"
)

WRONG = """\
state_dir = 3
[poll]
intervals = "60s"
settle = 20
read_path = "grapql"
[[workspace]]
token = "abc"
[[workspace.watch]]
repository = "https://github.com/octo/hello"
branch = "a"
all = true
[[checkout]]
workspace = "acme"
roots = "~/src"
[[sink]]
name = "hook"
kind = "webhook"
events = ["GitHubPRFeedbak"]
[daemons]
"""


def get_problems(source, *, environ=HOME, flags=None):
    with pytest.raises(ConfigError) as refusal:
        load_config(source, environ=environ, flags=flags or {})
    return list(refusal.value.problems)


def test_nothing_at_all_gives_the_defaults_and_a_sink_to_the_terminal():
    loaded = load_config(None, environ=HOME)

    assert loaded.config == Config(
        state_dir=Path("/home/me/.local/state/prwatch"),
        sinks=(Sink(name="stdout", kind="stdout"),),
    )
    assert set(loaded.origins.values()) == {"default"}
    assert loaded.path is None


def test_a_file_gives_values_with_their_lines(tmp_path):
    file = tmp_path / "prwatch.toml"
    file.write_text(
        'state_dir = "state"\n\n[poll]\ninterval = "30s"\n'
        '[[workspace]]\nname = "acme"\ntoken_file = "token"\n'
        '[[workspace.watch]]\nrepository = "octo/hello"\nall = true\n'
        '[[checkout]]\nroots = ["~/src", "trees"]\n'
        '[[sink]]\nname = "file"\nkind = "jsonl"\n'
    )

    loaded = load_config(file, environ=HOME)

    state_dir = tmp_path / "state"
    assert loaded.path == file
    assert loaded.config == Config(
        state_dir=state_dir,
        poll=Poll(interval=dt.timedelta(seconds=30)),
        workspaces=(
            Workspace(
                name="acme",
                token_file=state_dir / "token",
                graphql_url="https://api.github.com/graphql",
                watches=(Watch(repository="octo/hello", all=True),),
            ),
        ),
        checkouts=(
            Checkout(
                workspace="acme", roots=(Path("/home/me/src"), state_dir / "trees")
            ),
        ),
        sinks=(Sink(name="file", kind="jsonl", path=state_dir / "events.jsonl"),),
    )
    origins = {
        key: origin for key, origin in loaded.origins.items() if origin != "default"
    }
    assert origins == {
        "state_dir": f"{file}:1",
        "poll.interval": f"{file}:4",
        "workspace[0].name": f"{file}:6",
        "workspace[0].token_file": f"{file}:7",
        "workspace[0].watch[0].repository": f"{file}:9",
        "workspace[0].watch[0].all": f"{file}:10",
        "checkout[0].roots": f"{file}:12",
        "sink[0].name": f"{file}:14",
        "sink[0].kind": f"{file}:15",
    }


def test_every_mistake_is_told_in_one_go_in_the_order_of_the_file():
    found = get_problems(WRONG)

    assert found == [
        "prwatch.toml:1: state_dir: found 3; allowed is a path",
        "prwatch.toml:3: poll.intervals: is not a key here; did you mean interval?",
        (
            'prwatch.toml:4: poll.settle: found 20; allowed is a duration such as "30s",'
            " from 0s to 10m"
        ),
        (
            'prwatch.toml:5: poll.read_path: found "grapql"; allowed is one of auto,'
            " graphql, rest; did you mean graphql?"
        ),
        (
            "prwatch.toml:6: workspace[0].name: is missing; it is a name of letters,"
            " digits, dots, hyphens and underscores"
        ),
        (
            f"prwatch.toml:7: workspace[0].token: is refused: {REASON}: token_env,"
            " token_file, token_credential"
        ),
        (
            "prwatch.toml:9: workspace[0].watch[0].repository: found"
            ' "https://github.com/octo/hello"; allowed is owner/name alone: "octo/hello"'
        ),
        (
            "prwatch.toml:11: workspace[0].watch[0].all: excludes branch; give one of the"
            " two"
        ),
        (
            'prwatch.toml:13: checkout[0].workspace: found "acme"; there is no such'
            " workspace"
        ),
        'prwatch.toml:14: checkout[0].roots: found "~/src"; allowed is an array',
        "prwatch.toml:15: sink[0].url: is missing; a webhook sink needs it",
        (
            'prwatch.toml:18: sink[0].events[0]: found "GitHubPRFeedbak"; allowed is one of'
            " GitHubPRFeedback, GitHubTaskPRUpdated, GitHubPRReviewRequested,"
            " GitHubPRReviewTaskDeleted, ProviderCircuitOpened, ProviderCircuitClosed,"
            " GitHubRateLimitChanged; did you mean GitHubPRFeedback?"
        ),
        "prwatch.toml:19: daemons: is not a key here; did you mean daemon?",
    ]


def test_the_error_itself_names_the_first_mistake():
    with pytest.raises(ConfigError) as refusal:
        load_config("[poll]\njitter = 2\n", environ=HOME)

    assert str(refusal.value) == (
        "the configuration cannot be used: one problem, the first is prwatch.toml:2:"
        " poll.jitter: found 2; allowed is a number from 0.0 to 0.5"
    )
    assert (refusal.value.exit_code, refusal.value.code) == (2, "config_invalid")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param(f'# {TOKEN}\n[poll]\ninterval = "60s"\n', 1, id="comment"),
        pytest.param(f'[[workspace]]\nname = "a"\ntoken_env = "{TOKEN}"', 3, id="name"),
        pytest.param(f'[[workspace]]\nname = "{TOKEN}"', 2, id="another name"),
        pytest.param(f'[poll]\n{TOKEN} = "x"', 2, id="key"),
        pytest.param(
            f'[[sink]]\nname = "a"\nkind = "command"\nargv = ["x", "{TOKEN}"]',
            4,
            id="argument",
        ),
        pytest.param(
            'database_url = "postgresql://me:hunter2@db.example/x"', 1, id="database"
        ),
        pytest.param(
            '[[sink]]\nname = "a"\nkind = "webhook"\nurl = "https://me:hunter2@a.example"',
            4,
            id="user of a URL",
        ),
        pytest.param(
            '[[sink]]\nname = "a"\nkind = "webhook"\nurl = "https://a.example/?token=hunter2"',
            4,
            id="parameter of a URL",
        ),
        pytest.param(
            '[[sink]]\nname = "a"\nkind = "webhook"\nurl = "x"\nsecret = "hunter2"',
            5,
            id="secret",
        ),
        pytest.param('database_password = "hunter2"', 1, id="password"),
        pytest.param(
            '[[workspace]]\nname="a"\napp = {private_key = "hunter2"}', 3, id="app"
        ),
        pytest.param(f'[poll]\ninterval = = "{TOKEN}"', 2, id="no TOML"),
    ],
)
def test_a_secret_in_the_file_is_refused_and_never_shown(text, line):
    with pytest.raises(ConfigError) as refusal:
        load_config(text, environ=HOME)
    error = refusal.value

    assert any(each.startswith(f"prwatch.toml:{line}: ") for each in error.problems)
    shown = f"{error} {error!r} {error.hint} {error.problems} {error.__cause__!r}"
    assert TOKEN not in shown
    assert "hunter2" not in shown


def test_a_variable_that_holds_a_secret_is_referred_to_by_name():
    text = '[[workspace]]\nname = "a"\ntoken_env = "PRWATCH_TOKEN"\n'

    loaded = load_config(text, environ={**HOME, "PRWATCH_TOKEN": TOKEN})

    assert loaded.config.workspaces[0].token_env == "PRWATCH_TOKEN"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("a = \n", "1: invalid value", id="value"),
        pytest.param(
            "\n\n[poll\n",
            "3: expected ']' at the end of a table declaration",
            id="header",
        ),
        pytest.param('a = """', "1: unterminated string", id="end"),
        pytest.param(
            "[poll]\n[poll]\n", "2: cannot declare ('poll',) twice", id="twice"
        ),
    ],
)
def test_a_text_that_is_no_toml_is_refused_with_its_line(text, problem):
    assert get_problems(text) == [f"prwatch.toml:{problem}"]


def test_a_file_of_other_bytes_is_refused_with_its_line(tmp_path):
    file = tmp_path / "prwatch.toml"
    file.write_bytes(b"[poll]\n# \xff\n")

    assert get_problems(file) == [f"{file}:2: a byte that is not UTF-8"]


def test_a_file_from_another_system_is_read(tmp_path):
    file = tmp_path / "prwatch.toml"
    file.write_bytes(b'\xef\xbb\xbf[log]\r\nlevel = "debug"\r\n')

    loaded = load_config(file, environ=HOME)

    assert (loaded.config.log.level, loaded.origins["log.level"]) == (
        "debug",
        f"{file}:2",
    )


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"none\.toml cannot be read: No such file"):
        load_config(tmp_path / "none.toml", environ=HOME)


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(ConfigError, match="is a folder, not a configuration file"):
        load_config(tmp_path, environ=HOME)


@pytest.mark.parametrize("opening", ["[", "{ a = "], ids=["arrays", "tables"])
def test_a_text_nested_without_end_is_refused(opening):
    with pytest.raises(ConfigError, match="is nested too deeply"):
        load_config("a = " + opening * 10_000, environ=HOME)


def test_a_path_below_an_unknown_home_is_told_with_all_else():
    assert get_problems("[log]\nlevel = 1\n", environ={}) == [
        "environment: HOME: is not set, but ~/.local/state/prwatch needs it",
        (
            "prwatch.toml:2: log.level: found 1; allowed is one of debug, info,"
            " warning, error"
        ),
    ]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        pytest.param("true", "true", id="flag"),
        pytest.param("2026-11-30", "a date", id="date"),
        pytest.param("07:32:00", "a time", id="time"),
        pytest.param("[1]", "an array", id="array"),
        pytest.param("{ a = 1 }", "a table", id="table"),
        pytest.param("0x" + "f" * 5000, "a huge number", id="huge number"),
        pytest.param(f'"{"x" * 70}"', f'"{"x" * 60}" and more', id="long text"),
        pytest.param(r'"a\u001b[31m"', r'"a\u001b[31m"', id="escape sequence"),
        pytest.param(r'"a\u202eb"', r'"a\u202eb"', id="turned writing"),
    ],
)
def test_what_was_found_is_told_short_and_harmless(value, found):
    assert get_problems(f"[log]\nlevel = {value}\n") == [
        (
            f"prwatch.toml:2: log.level: found {found}; allowed is one of debug, info,"
            " warning, error"
        )
    ]


def test_a_number_without_end_is_refused():
    with pytest.raises(ConfigError, match="a number of too many digits"):
        load_config(f"a = {'9' * 5000}", environ=HOME)


def test_a_file_without_end_is_refused(tmp_path):
    file = tmp_path / "prwatch.toml"
    file.write_bytes(b"#" * (MAX_FILE_BYTES + 1))

    with pytest.raises(ConfigError, match=f"longer than {MAX_FILE_BYTES} bytes"):
        load_config(file, environ=HOME)


def test_a_table_where_one_value_belongs_is_told_beside_the_environment():
    environ = {**HOME, "PRWATCH_POLL_INTERVAL": "5s"}

    assert get_problems("poll = 3\n", environ=environ) == [
        "prwatch.toml:1: poll: found 3; allowed is a table"
    ]


def test_ids_of_review_tasks_are_refused_with_what_is_allowed():
    text = (
        '[[workspace]]\nname = "acme"\n[[workspace.task]]\nid = "review:octo/hello#12"'
    )

    (problem,) = get_problems(text)

    assert problem == (
        'prwatch.toml:4: workspace[0].task[0].id: found "review:octo/hello#12";'
        " allowed is 1 to 200 characters without line breaks that do not begin with"
        " review:"
    )
