import pytest

from prwatch.config import load_config
from prwatch.errors import ConfigError

ACME = '[[workspace]]\nname = "acme"\n'
APP = "id = 12345, installation = 678"
NEXT = "\n"
WATCH = f"{ACME}[[workspace.watch]]\n"
TASK = f'{ACME}[[workspace.task]]\nid = "T-1"\n'
SESSION = 'repository = "octo/hello"'
OTHER_SYNC = '[[workspace.sync]]\nrepository = "Octo/Team"'
SYNC = f'{ACME}[[workspace.sync]]\nrepository = "octo/team"'
SINK = '[[sink]]\nname = "s"\n'


def get_problems(text):
    with pytest.raises(ConfigError) as refusal:
        load_config(text, environ={"HOME": "/home/me"})
    return [problem.removeprefix("prwatch.toml:") for problem in refusal.value.problems]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param(
            '[poll]\nhot_interval = "2m"',
            "2: poll.hot_interval: is longer than interval; allowed is less",
            id="hot interval over interval",
        ),
        pytest.param(
            f'{SYNC}\npath = "/lists/"\n{OTHER_SYNC}\npath = "lists"',
            "6: workspace[0].sync[1]: repeats the folder of sync[0]",
            id="one folder twice",
        ),
        pytest.param(
            '[poll]\ntick = "16s"',
            "2: poll.tick: is longer than hot_interval; allowed is less",
            id="tick over hot interval",
        ),
        pytest.param(
            '[poll]\nsearch_idle_interval = "10s"',
            "1: poll.search_interval: is longer than search_idle_interval; allowed is"
            " less",
            id="search interval over idle interval",
        ),
        pytest.param(
            'database_password_env = "A"',
            "1: database_password_env: has no use without database_url",
            id="password without a database",
        ),
        pytest.param(
            'database_url = "postgresql://db.example/x"\ndatabase_password_env = "A"\n'
            'database_password_file = "/b"',
            "3: database_password_file: excludes database_password_env; give one of the"
            " two",
            id="two passwords",
        ),
        pytest.param(
            f"{ACME}{ACME}",
            '4: workspace[1].name: found "acme", the name of workspace[0] too',
            id="two workspaces of one name",
        ),
        pytest.param(
            f'{ACME}token_env = "A"\ngh = true',
            "4: workspace[0].gh: excludes token_env; give one of the two",
            id="two tokens",
        ),
        pytest.param(
            f'{ACME}gh = true\napp = {{ {APP}, private_key_env = "A" }}',
            "4: workspace[0].app: excludes gh; give one of the two",
            id="a token and an app",
        ),
        pytest.param(
            f"{ACME}app = {{ {APP} }}",
            "3: workspace[0].app: names no private key; give one of private_key_file,"
            " private_key_env, private_key_credential",
            id="an app without a key",
        ),
        pytest.param(
            f"{ACME}[workspace.app]\n{APP.replace(', ', NEXT)}\n"
            'private_key_env = "A"\nprivate_key_file = "/b"',
            "6: workspace[0].app.private_key_env: excludes private_key_file; give one of"
            " the two",
            id="an app with two keys",
        ),
        pytest.param(
            f'{WATCH}repository = "octo/hello"',
            "3: workspace[0].watch[0]: names nothing to watch; give one of branch,"
            " pull_request, all, author",
            id="watch of nothing",
        ),
        pytest.param(
            f'{WATCH}repository = "octo/hello"\nall = true\nauthor = "@me"',
            "6: workspace[0].watch[0].author: excludes all; give one of the two",
            id="watch of two things",
        ),
        pytest.param(
            f'{WATCH}branch = "a"',
            "3: workspace[0].watch[0].repository: is missing; only author ="
            ' "@me" goes without it',
            id="watch without a repository",
        ),
        pytest.param(
            f'{WATCH}author = "octocat"',
            '4: workspace[0].watch[0].author: found "octocat"; allowed is "@me"',
            id="somebody else's pull requests",
        ),
        pytest.param(
            f'{WATCH}repository = "octo/hello"\nall = true\nhead = "me/hello"',
            "6: workspace[0].watch[0].head: says where a branch lives; give branch as"
            " well",
            id="head without a branch",
        ),
        pytest.param(
            f'{TASK}[[workspace.task]]\nid = "T-1"',
            '6: workspace[0].task[1].id: found "T-1", the id of task[0] too',
            id="two tasks of one id",
        ),
        pytest.param(
            f'{TASK}repositories = [{{ repository = "octo/hello", head = "me/hello" }}]',
            "5: workspace[0].task[0].repositories[0].head: says where a branch lives;"
            " give branch as well",
            id="head of a task without a branch",
        ),
        pytest.param(
            f'{TASK}repositories = [{{ repository = "a/b" }}, {{ repository = "A/b" }}]',
            '5: workspace[0].task[0].repositories[1].repository: found "a/b", the'
            " repository of repositories[0] too",
            id="one repository twice",
        ),
        pytest.param(
            f'{TASK}sessions = [{{ id = "S" }},\n{{ id = "S" }}]',
            '6: workspace[0].task[0].sessions[1].id: found "S", the id of sessions[0]'
            " too",
            id="two sessions of one id",
        ),
        pytest.param(
            f'{TASK}sessions = [{{ id = "S", checkouts = [{{ repository = "a/b" }}] }}]',
            "5: workspace[0].task[0].sessions[0].checkouts[0]: names no branch; give"
            " branch, worktree or both",
            id="checkout of nothing",
        ),
        pytest.param(
            f'{TASK}sessions = [{{ id = "S", checkouts = ['
            '{ repository = "a/b", branch = "x" }, { repository = "a/b", branch = "y" }'
            "] }]",
            "5: workspace[0].task[0].sessions[0].checkouts[1]: repeats a repository;"
            " give each its own worktree",
            id="two checkouts in one place",
        ),
        pytest.param(
            f'{ACME}[[checkout]]\nworkspace = "acm"\nroots = ["/x"]',
            '4: checkout[0].workspace: found "acm"; there is no such workspace; did you'
            " mean acme?",
            id="checkout of no workspace",
        ),
        pytest.param(
            f'{ACME}[[workspace]]\nname = "b"\n[[checkout]]\nroots = ["/x"]',
            "5: checkout[0].workspace: is missing; allowed is the name of a workspace",
            id="checkout of any workspace",
        ),
        pytest.param(
            f"{ACME}[[checkout]]\nroots = []",
            "4: checkout[0].roots: is empty; name at least one folder",
            id="checkout without roots",
        ),
        pytest.param(
            f"{SINK}{SINK}",
            '4: sink[1].name: found "s", the name of sink[0] too',
            id="two sinks of one name",
        ),
        pytest.param(
            f'{SINK}kind = "webhok"\nurl = "https://a.example"',
            '3: sink[0].kind: found "webhok"; allowed is one of stdout, jsonl, webhook,'
            " command; did you mean webhook?",
            id="unknown kind alone",
        ),
        pytest.param(
            f'{SINK}kind = "jsonl"\nargv = ["x"]',
            "4: sink[0].argv: is a key of command, not of jsonl",
            id="key of another kind",
        ),
        pytest.param(
            f'{SINK}timeout = "1s"',
            "3: sink[0].timeout: is a key of webhook, command, not of stdout",
            id="key of two other kinds",
        ),
        pytest.param(
            f'{SINK}kind = "command"',
            "1: sink[0].argv: is missing; a command sink needs it",
            id="command without a program",
        ),
        pytest.param(
            f'{SINK}kind = "webhook"\nurl = "https://a.example"\nsecret_env = "A"\n'
            'secret_file = "/b"',
            "6: sink[0].secret_file: excludes secret_env; give one of the two",
            id="two secrets",
        ),
        pytest.param(
            f'{ACME}{SINK}workspaces = ["acme", "acne"]',
            '5: sink[0].workspaces[1]: found "acne"; there is no such workspace; did'
            " you mean acme?",
            id="sink of no workspace",
        ),
        pytest.param(
            '[[sink]]\nname = "a"\nkind = "jsonl"\n'
            '[[sink]]\nname = "b"\nkind = "jsonl"\npath = "x/../events.jsonl"',
            "7: sink[1].path: sink a writes to the same file",
            id="two sinks to one file",
        ),
    ],
)
def test_keys_that_do_not_go_together_are_refused(text, problem):
    assert get_problems(text) == [problem]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f'{WATCH}author = "@me"', id="own pull requests everywhere"),
        pytest.param(
            f'{WATCH}repository = "octo/hello"\nauthor = "@me"', id="own ones of one"
        ),
        pytest.param(f'{ACME}token_env = "A"\ngh = false', id="gh switched off"),
        pytest.param(
            f'{TASK}sessions = [{{ id = "S", checkouts = ['
            '{ repository = "a/b", worktree = "/x" },'
            ' { repository = "a/b", worktree = "/y" }] }]',
            id="two worktrees of one repository",
        ),
        pytest.param('[poll]\ninterval = "1s"', id="short interval alone"),
        pytest.param('[poll]\nsearch_interval = "1h"', id="long search interval alone"),
    ],
)
def test_keys_that_go_together_are_accepted(text):
    assert load_config(text, environ={"HOME": "/home/me"}).config.state_dir
