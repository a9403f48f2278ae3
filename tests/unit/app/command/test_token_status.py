"""Whose tokens they are, asked of the simulated GitHub."""

import datetime as dt
import io
import random

import pytest

from prwatch.app.command.token_status import TokenStatus, read_token_statuses
from prwatch.app.surroundings import Surroundings
from prwatch.config.loader import load_config
from prwatch.http.in_process import create_in_process_transport
from prwatch.simulator import Fault, GitHubApp, World
from tests.app_keys import make_key
from tests.product import NOON, MovedClock

CLASSIC = "ghp_" + "a1" * 18
FINE = "github_pat_" + "b2" * 41
ENVIRON = {"HOME": "/h", "CLASSIC": CLASSIC, "FINE": FINE, "PATH": "/nowhere"}


@pytest.fixture
def clock():
    return MovedClock()


@pytest.fixture
def world(clock):
    world = World(clock)
    world.set_token(CLASSIC, login="ada", scopes=("repo", "read:org"))
    world.set_token(
        FINE, login="grace", scopes=None, expires_at=NOON + dt.timedelta(days=30)
    )
    return world


def workspace(name, token):
    return f'[[workspace]]\nname = "{name}"\n{token}\n'


async def ask(world, clock, text, **variables):
    environ = ENVIRON | variables
    surroundings = Surroundings(
        environ=environ,
        clock=clock,
        chance=random.Random(1),
        stdout=io.BytesIO(),
        transport=create_in_process_transport(GitHubApp(world)),
    )
    config = load_config(text, environ=environ).config
    return await read_token_statuses(config, surroundings)


async def test_each_workspace_is_told_with_its_account(world, clock):
    text = workspace("a", 'token_env = "CLASSIC"') + workspace(
        "b", 'token_env = "FINE"'
    )

    statuses = await ask(world, clock, text)

    assert [each.as_json() for each in statuses] == [
        {
            "workspace": "a",
            "source": "environment variable CLASSIC",
            "host": "github.com",
            "kind": "classic personal access token",
            "login": "ada",
            "scopes": ["repo", "read:org"],
            "expires_at": None,
            "problem": None,
        },
        {
            "workspace": "b",
            "source": "environment variable FINE",
            "host": "github.com",
            "kind": "fine-grained personal access token",
            "login": "grace",
            "scopes": None,
            "expires_at": NOON + dt.timedelta(days=30),
            "problem": None,
        },
    ]


APP = 'app = { id = 4242, installation = 777, private_key_env = "KEY" }'


def install_app(world):
    """Install an app and return its private key."""
    private, public = make_key()
    world.install_app(777, world.register_app(4242, public_key=public))
    return private


async def test_an_installation_is_told_as_what_signs_in(world, clock):
    key = install_app(world)

    (status,) = await ask(world, clock, workspace("a", APP), KEY=key)

    assert (status.source, status.kind, status.viewer.login, status.is_renewed) == (
        "app 4242, installation 777",
        "installation token of a GitHub App",
        "app-4242[bot]",
        True,
    )
    assert status.problem == ""
    assert "ghs_" not in repr(status)


async def test_a_suspended_installation_is_told_with_what_to_do(world, clock):
    key = install_app(world)
    world.suspend_installation(777)

    (status,) = await ask(world, clock, workspace("a", APP), KEY=key)

    assert (status.code, status.problem, status.remedy) == (
        "authentication_failed",
        "the app's installation is suspended",
        "ask the owner of the account to unsuspend the installation",
    )


async def test_the_key_of_an_app_is_checked_before_anybody_is_asked(world, clock):
    (status,) = await ask(world, clock, workspace("a", APP), KEY=CLASSIC)

    assert (status.code, status.problem) == (
        "config_invalid",
        "environment variable KEY holds no private key",
    )
    assert len(world.requests) == 0


async def test_a_token_is_asked_about_once(world, clock):
    text = workspace("a", 'token_env = "FINE"') + workspace("b", 'token_env = "FINE"')

    statuses = await ask(world, clock, text)

    assert [each.workspace for each in statuses] == ["a", "b"]
    assert len(world.requests) == 1


async def test_what_gives_no_token_is_told_with_what_to_do(world, clock):
    (status,) = await ask(world, clock, workspace("a", 'token_env = "MISSING"'))

    assert status == TokenStatus(
        workspace="a",
        source="environment variable MISSING",
        host="github.com",
        code="config_invalid",
        problem="environment variable MISSING is not set",
        remedy="give the workspace a token, then run `prwatch config check`",
    )


async def test_a_refused_token_is_told(world, clock):
    world.revoke_token(CLASSIC)

    (status,) = await ask(world, clock, workspace("a", 'token_env = "CLASSIC"'))

    assert status.code == "authentication_failed"
    assert status.remedy
    assert status.as_json()["problem"] == {
        "code": "authentication_failed",
        "message": status.problem,
    }


async def test_a_host_that_is_down_is_told_with_where_to_look(world, clock):
    world.faults.add(Fault(kind="html503", times=None))

    (status,) = await ask(world, clock, workspace("a", 'token_env = "CLASSIC"'))

    assert status.code == "provider_unavailable"
    assert "githubstatus" in status.remedy


async def test_the_clock_is_compared_with_githubs(world):
    ahead = MovedClock(NOON + dt.timedelta(seconds=90))

    (status,) = await ask(world, ahead, workspace("a", 'token_env = "CLASSIC"'))

    assert status.drift == dt.timedelta(seconds=90)


async def test_no_token_is_in_what_is_told(world, clock):
    (status,) = await ask(world, clock, workspace("a", 'token_env = "CLASSIC"'))

    assert CLASSIC not in repr(status) + repr(status.as_json())
