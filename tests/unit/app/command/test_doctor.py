"""What an examination finds, and what it leaves alone."""

import datetime as dt
import io
import os
import random
import sqlite3

import pytest

from prwatch.app.command.doctor import describe_broken_config, examine
from prwatch.app.command.finding import Finding, Health
from prwatch.app.store_place import DATABASE_NAME
from prwatch.app.surroundings import Surroundings
from prwatch.config.loader import load_config
from prwatch.errors import ConfigError
from prwatch.http.in_process import create_in_process_transport
from prwatch.simulator import GitHubApp, World
from prwatch.store.opening import open_database
from tests.app_keys import make_key
from tests.contract.store_backends import open_schema
from tests.product import NOON, MovedClock

TOKEN = "ghp_" + "a1" * 18
WORKSPACE = '[[workspace]]\nname = "acme"\ntoken_env = "ACME_TOKEN"\n'


@pytest.fixture
def world():
    world = World(MovedClock())
    world.set_token(TOKEN, login="ada")
    return world


@pytest.fixture
def examined(tmp_path, world):
    """Return a function that examines a configuration and gathers by subject."""

    async def run(text=WORKSPACE, *, clock=None, **variables):
        environ = {"HOME": str(tmp_path), "ACME_TOKEN": TOKEN, **variables}
        surroundings = Surroundings(
            environ=environ,
            clock=clock or world.clock,
            chance=random.Random(1),
            stdout=io.BytesIO(),
            transport=create_in_process_transport(GitHubApp(world)),
        )
        loaded = load_config(f'state_dir = "{tmp_path}/state"\n{text}', environ=environ)
        found = {}
        async for finding in examine(loaded, surroundings):
            found.setdefault(finding.subject, []).append(finding)
        return found

    return run


@pytest.fixture
def database(tmp_path):
    (tmp_path / "state").mkdir()
    return tmp_path / "state" / DATABASE_NAME


async def test_a_good_installation_has_nothing_broken(examined):
    found = await examined()

    assert {each.health for findings in found.values() for each in findings} == {
        Health.OK
    }
    assert list(found) == [
        "configuration",
        "store",
        "token of acme",
        "clock",
        "systemd",
    ]


async def test_nothing_is_made(examined, tmp_path):
    found = await examined()

    assert found["store"][0].text == (
        f"no database yet; the first start makes {tmp_path}/state"
    )
    assert list(tmp_path.iterdir()) == []


async def test_a_whole_database_is_said_to_be_whole(examined, database):
    async with open_database(database, now=NOON, inline=True):
        pass

    (finding,) = (await examined())["store"]

    assert finding.health is Health.OK
    assert f"{database} is whole, schema " in finding.text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(b"nonsense" * 200, "not a database", id="nonsense"),
        pytest.param(None, "not one of prwatch", id="somebody else's"),
    ],
)
async def test_a_database_that_cannot_be_used_is_broken(
    examined, database, content, said
):
    if content is None:
        with sqlite3.connect(database) as connection:
            connection.execute("CREATE TABLE notes (text)")
        connection.close()
    else:
        database.write_bytes(content)

    (finding,) = (await examined())["store"]

    assert finding.health is Health.BROKEN
    assert said in finding.text
    assert finding.remedy


async def test_a_database_that_cannot_be_written_is_broken(examined, database):
    async with open_database(database, now=NOON, inline=True):
        pass
    database.chmod(0o400)

    (finding,) = (await examined())["store"]

    # Nothing keeps root from writing.
    expected = Health.OK if os.geteuid() == 0 else Health.BROKEN
    assert finding.health is expected


async def test_a_postgres_server_that_does_not_answer_is_broken(examined):
    text = 'database_url = "postgresql://prwatch@127.0.0.1:1/prwatch"\n'

    (finding,) = (await examined(text + WORKSPACE))["store"]

    assert finding.health is Health.BROKEN
    assert finding.remedy


@pytest.fixture
def url():
    with open_schema() as url:
        yield url


@pytest.mark.postgres
async def test_a_postgres_server_is_named_alone(examined, url):
    (finding,) = (await examined(f'database_url = "{url}"\n{WORKSPACE}'))["store"]

    assert finding.health is Health.OK
    assert finding.text.startswith("PostgreSQL on 127.0.0.1 is whole, schema 0, ")
    assert "the next start brings it to schema" in finding.text


async def test_a_state_folder_that_cannot_be_made_is_broken(examined, tmp_path):
    found = await examined(PRWATCH_STATE_DIR="/dev/null/state")

    assert found["store"][0] == Finding(
        "store",
        Health.BROKEN,
        "/dev/null/state cannot be made: /dev/null is not writable",
        "set state_dir, PRWATCH_STATE_DIR or --state-dir to a folder of yours",
    )


async def test_a_token_that_is_refused_is_broken_and_the_rest_is_looked_at(
    examined, world
):
    world.revoke_token(TOKEN)

    found = await examined()

    assert [each.health for each in found["token of acme"]] == [Health.BROKEN]
    assert found["token of acme"][0].text.startswith(
        "environment variable ACME_TOKEN: "
    )
    assert "systemd" in found


@pytest.mark.parametrize(
    ("traits", "text"),
    [
        pytest.param(
            {"scopes": ("public_repo",)},
            "without the scope repo it can read public repositories alone",
            id="public",
        ),
        pytest.param(
            {"scopes": ()},
            "without the scope repo it can read what everybody sees",
            id="no scopes",
        ),
        pytest.param(
            {"expires_at": NOON + dt.timedelta(days=2)},
            f"it expires on {(NOON + dt.timedelta(days=2)).astimezone():%Y-%m-%d %H:%M %Z}",
            id="ends soon",
        ),
    ],
)
async def test_a_weak_token_is_warned_of(examined, world, traits, text):
    world.set_token(TOKEN, login="ada", **traits)

    warnings = [
        each.text
        for each in (await examined())["token of acme"]
        if each.health is Health.WARNING
    ]

    assert warnings == [text]


async def test_a_token_without_scopes_and_far_end_is_no_warning(examined, world):
    end = NOON + dt.timedelta(days=60)
    world.set_token(TOKEN, login="ada", scopes=None, expires_at=end)

    findings = (await examined())["token of acme"]

    assert {each.health for each in findings} == {Health.OK}


async def test_an_installation_that_renews_its_tokens_is_no_warning(examined, world):
    private, public = make_key()
    world.install_app(678, world.register_app(12345, public_key=public))
    app = "id = 12345, installation = 678, private_key_env = 'KEY'"
    text = f"[[workspace]]\nname = 'acme'\napp = {{ {app} }}\n"

    findings = (await examined(text, KEY=private))["token of acme"]

    assert {each.health for each in findings} == {Health.OK}
    assert findings[0].text == (
        "app 12345, installation 678 is a token of app-12345[bot] on github.com"
        " (installation token of a GitHub App)"
    )
    assert not any("expires" in each.text for each in findings)


async def test_a_used_up_budget_is_warned_of(examined, world):
    world.get_budget("ada", "graphql").used = 4900

    findings = (await examined())["token of acme"]

    assert [each.text for each in findings if each.health is Health.WARNING] == [
        "99 of 5000 left in the bucket graphql"
    ]


@pytest.mark.parametrize(
    ("seconds", "health", "text"),
    [
        pytest.param(5, Health.OK, "it agrees with GitHub's", id="five seconds"),
        pytest.param(6, Health.WARNING, "it is 6 s ahead of GitHub's", id="ahead"),
        pytest.param(-60, Health.WARNING, "it is 60 s behind GitHub's", id="behind"),
    ],
)
async def test_a_clock_that_is_off_is_warned_of(examined, seconds, health, text):
    clock = MovedClock(NOON + dt.timedelta(seconds=seconds))

    (finding,) = (await examined(clock=clock))["clock"]

    assert (finding.health, finding.text) == (health, text)


async def test_proxies_are_shown_without_their_passwords(examined):
    found = await examined(
        HTTPS_PROXY="http://me:geheim@proxy.example:3128",
        HTTP_PROXY="http://me:ge://heim@proxy.example:3128",
        ALL_PROXY="me:geheim@proxy.example:1080",
        no_proxy="localhost",
    )

    assert [each.text for each in found["proxy"]] == [
        "HTTPS_PROXY is http://proxy.example:3128",
        "HTTP_PROXY is http://proxy.example:3128",
        "ALL_PROXY is proxy.example:1080",
        "no_proxy is localhost",
    ]


async def test_a_certificate_file_that_cannot_be_read_is_broken(tmp_path):
    environ = {"HOME": str(tmp_path), "ACME_TOKEN": TOKEN}
    text = f'state_dir = "{tmp_path}"\n[http]\nca_file = "gone.pem"\n{WORKSPACE}'
    surroundings = Surroundings(
        environ=environ,
        clock=MovedClock(),
        chance=random.Random(1),
        stdout=io.BytesIO(),
    )

    found = [
        each async for each in examine(load_config(text, environ=environ), surroundings)
    ]

    assert [each.subject for each in found if each.health is Health.BROKEN] == ["tls"]


async def test_without_a_workspace_it_says_how_to_begin(examined):
    (finding,) = (await examined(""))["configuration"]

    assert (finding.health, finding.remedy) == (
        Health.WARNING,
        "`prwatch init` writes a configuration",
    )


def test_each_mistake_of_a_configuration_is_a_finding():
    error = ConfigError("two problems", problems=("a: x", "b: y"))

    assert [each.as_json() for each in describe_broken_config(error)] == [
        {
            "subject": "configuration",
            "health": "broken",
            "text": text,
            "remedy": "mend it, then run `prwatch config check`",
        }
        for text in ("a: x", "b: y")
    ]
