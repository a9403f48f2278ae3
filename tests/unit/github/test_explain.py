"""A verdict explained through both paths, by a GitHub that answers as the real one."""

import datetime as dt

import httpx
import pytest

from prwatch.domain.explanation import Explanation
from prwatch.domain.outcome import Found, NotFound, Unreadable
from prwatch.domain.pull_request import UNOBSERVED
from prwatch.domain.reference import PullRequestReference
from prwatch.github.client import GitHub
from prwatch.github.credentials import TokenCredential
from prwatch.http.client import create_http_client
from prwatch.simulator import DEFAULT_TOKEN, GitHubApp, World
from prwatch.telemetry.secret import Secret
from tests.github_answers import (
    GITHUB_COM,
    ScriptedHost,
    make_node,
    make_rollup,
    make_run,
    reply,
)
from tests.unit.simulator.stage import MovedClock

ONE = PullRequestReference(owner="octo", name="hello", number=12)
PATHS = pytest.mark.parametrize("path", ["explain", "explain_by_rest"])


@pytest.fixture
def world():
    world = World(MovedClock())
    world.add_repository("octo/hello")
    world.open_pull_request("octo/hello", branch="fix", title="Fix it", number=12)
    return world


def get_pull_request(world):
    return next(iter(world.pull_requests.values()))


def connect(world):
    return GitHub(
        create_http_client(transport=httpx.ASGITransport(GitHubApp(world))),
        TokenCredential(Secret(DEFAULT_TOKEN), source="test"),
        endpoints=GITHUB_COM,
        clock=world.clock,
        settle=dt.timedelta(seconds=20),
    )


async def explain(world, path="explain") -> Explanation:
    outcome = await getattr(connect(world).explainer, path)(ONE)
    assert isinstance(outcome, Found)
    return outcome.value


async def test_the_checks_of_the_head_are_told_with_their_place_and_weight(world):
    one = get_pull_request(world)
    world.set_check(one, "test", conclusion="FAILURE", workflow="CI", is_required=True)
    world.set_check(one, "lint", status="IN_PROGRESS", workflow="CI")
    world.set_status(one, "deploy", "EXPECTED", is_required=True)

    checks = (await explain(world)).checks

    assert [
        (each.name, each.said, each.workflow, each.is_required, each.url.partition("1")[0])
        for each in checks
    ] == [
        ("test", "failed", "CI", True, "https://github.com/checks/"),
        ("deploy", "not reported yet", "", True, ""),
        ("lint", "in progress", "CI", False, "https://github.com/checks/"),
    ]  # fmt: skip


@PATHS
async def test_both_paths_tell_the_same_of_the_same(world, path):
    one = get_pull_request(world)
    world.set_check(one, "test", conclusion="ACTION_REQUIRED")
    world.set_status(one, "deploy", "PENDING")
    world.submit_review(one, "alice", "APPROVED")
    world.submit_review(one, "bob", "APPROVED")
    world.submit_review(one, "alice", "CHANGES_REQUESTED")
    world.request_review(one, "carol")

    told = await explain(world, path)

    assert [(each.name, each.said) for each in told.checks] == [
        ("test", "needs approval"),
        ("deploy", "pending"),
    ]
    assert [(each.author, each.state) for each in told.opinions] == [
        ("alice", "CHANGES_REQUESTED"),
        ("bob", "APPROVED"),
    ]
    assert told.asked == ("carol",)
    assert (told.observation.checks, told.observation.review) == (
        "failure",
        "changes_requested",
    )


@PATHS
async def test_before_anything_reported_there_are_no_checks(world, path):
    told = await explain(world, path)

    assert (told.checks, told.opinions, told.asked) == ((), (), ())
    assert told.observation.checks == "none"


async def test_the_pages_after_the_first_are_told_in_full_too(world):
    one = get_pull_request(world)
    for at in range(101):
        world.set_check(one, f"test {at:03}", conclusion="SUCCESS", is_required=True)

    checks = (await explain(world)).checks

    assert len(checks) == 101
    assert all(each.is_required and each.url for each in checks)


@PATHS
async def test_a_pull_request_that_is_not_there_is_not_found(world, path):
    missing = PullRequestReference(owner="octo", name="hello", number=99)

    outcome = await getattr(connect(world).explainer, path)(missing)

    assert isinstance(outcome, NotFound)


async def test_a_token_that_may_not_read_checks_gives_none_and_says_so(world):
    one = get_pull_request(world)
    world.set_check(one, "test", conclusion="SUCCESS")
    world.tokens[DEFAULT_TOKEN].can_read_checks = False

    told = await explain(world)

    assert (told.checks, told.observation.checks) == (None, UNOBSERVED)
    assert told.observation.checks_notes == (
        "checks are refused to this token: this token may not read it",
    )


async def explain_node(**changes):
    answer = {"repository": {"pullRequest": make_node(12, **changes)}}
    host = ScriptedHost(reply(answer))
    return await host.connect().explainer.explain(ONE)


async def test_checks_of_another_commit_are_not_told():
    rollup = make_rollup(make_run(), oid="b" * 40)

    told = (await explain_node(statusCheckRollup=rollup)).value

    assert told.checks is None
    assert told.observation.checks_notes == (
        "the checks that GitHub shows are another commit's",
    )


async def test_a_state_of_tomorrow_is_unreadable():
    outcome = await explain_node(state="FROZEN")

    assert outcome == Unreadable(
        "its state is a word that we do not know", "unknown_state"
    )
