"""Waiting for a decision, with a clock that the sleeper moves."""

import datetime as dt

import pytest

from prwatch.app.command.references import NamedPullRequest
from prwatch.app.command.wait import Goal, Verdict, decide, open_waiter
from prwatch.app.command.watch_commands import add_watch
from prwatch.app.command.watch_listing import list_watches
from prwatch.errors import AuthenticationFailed, PrwatchError, ResourceGone
from prwatch.simulator import Fault
from tests.benches import ONE, get_pull_request, make_stage

PULL_REQUEST = NamedPullRequest(owner="octo", name="hello", number=12)
HOUR = dt.timedelta(hours=1)


@pytest.fixture
def stage(tmp_path):
    return make_stage(tmp_path)


def make_facts(**facts):
    return {"state": "OPEN", "checks": "pending", "review": "pending", **facts}


@pytest.mark.parametrize(
    ("goal", "facts", "verdict"),
    [
        pytest.param("checks", {}, "waiting", id="checks run"),
        pytest.param("checks", {"checks": "none"}, "waiting", id="no checks yet"),
        pytest.param("checks", {"checks": None}, "waiting", id="checks unread"),
        pytest.param("checks", {"checks": "success"}, "reached", id="green"),
        pytest.param("checks", {"checks": "failure"}, "failed", id="red"),
        pytest.param(
            "checks", {"state": "MERGED", "checks": "none"}, "reached", id="merged"
        ),
        pytest.param(
            "checks",
            {"state": "MERGED", "checks": "failure"},
            "failed",
            id="merged red",
        ),
        pytest.param(
            "checks", {"state": "CLOSED", "checks": "success"}, "failed", id="closed"
        ),
        pytest.param("review", {}, "waiting", id="review asked for"),
        pytest.param("review", {"review": "approved"}, "reached", id="approved"),
        pytest.param(
            "review", {"review": "changes_requested"}, "failed", id="changes requested"
        ),
        pytest.param(
            "review",
            {"state": "MERGED", "review": "changes_requested"},
            "reached",
            id="merged without approval",
        ),
        pytest.param("merged", {"checks": "failure"}, "waiting", id="not merged"),
        pytest.param("merged", {"state": "MERGED"}, "reached", id="merged at last"),
        pytest.param("merged", {"state": "CLOSED"}, "failed", id="closed unmerged"),
    ],
)
def test_a_decision_follows_from_what_was_read(goal, facts, verdict):
    assert decide(Goal(goal), make_facts(**facts)) == Verdict(verdict)


async def wait(stage, goal="checks", *, limit=HOUR, named=PULL_REQUEST, script=None):
    """Wait, and let something happen in the world after each look."""
    looks = []
    script = list(script or [])

    def on_look(found, problem):
        field = goal if goal != "merged" else "state"
        looks.append(problem or found.pull_request[field])
        if script:
            script.pop(0)()

    async with (
        stage.bench() as bench,
        open_waiter(bench, stage.loaded, named, Goal(goal)) as waiter,
    ):
        waiter.on_look = on_look
        return await waiter.run(limit), looks


def finish(stage, conclusion):
    def play():
        stage.world.set_check(
            get_pull_request(stage.world), "test", conclusion=conclusion
        )

    return play


async def test_what_is_not_watched_is_read_and_not_stored(stage):
    stage.world.set_check(get_pull_request(stage.world), "test")

    result, looks = await wait(stage, script=[finish(stage, "SUCCESS")])

    async with stage.bench() as bench:
        listed = await list_watches(bench, is_all=True)
    assert result.verdict is Verdict.REACHED
    assert (looks[0], looks[-1]) == ("pending", "success")
    assert listed.watches == ()
    facts = result.as_json()
    assert facts["pull_request"]["checks"] == "success"
    assert facts["words"]["checks"] == {"word": "passed", "text": "all 1 passed"}


async def test_what_is_watched_is_committed_and_told_while_it_waits(stage):
    async with stage.bench() as bench:
        await add_watch(bench, PULL_REQUEST)
    stage.world.set_check(get_pull_request(stage.world), "test")

    result, _ = await wait(stage, script=[finish(stage, "FAILURE")])

    async with stage.bench() as bench:
        row = (await list_watches(bench)).watches[0]
    assert result.verdict is Verdict.FAILED
    assert row.read("checks") == "failure"
    assert b'"failure"' in stage.surroundings.stdout.getvalue()


async def test_the_time_is_over_when_nothing_is_decided(stage):
    stage.world.set_check(get_pull_request(stage.world), "test")

    result, looks = await wait(stage, limit=dt.timedelta(seconds=40))

    assert (result.verdict, result.waited) == (
        Verdict.TIMED_OUT,
        dt.timedelta(seconds=40),
    )
    assert looks == ["pending"] * 4


async def test_without_time_there_is_still_one_look(stage):
    finish(stage, "FAILURE")()

    result, looks = await wait(stage, limit=dt.timedelta(0))

    assert (result.verdict, looks) == (Verdict.FAILED, ["failure"])


@pytest.mark.parametrize("is_watched", [True, False], ids=["watched", "unwatched"])
@pytest.mark.parametrize(
    ("verb", "verdict"), [("merge", Verdict.REACHED), ("close", Verdict.FAILED)]
)
async def test_a_merge_is_waited_for(stage, verb, verdict, is_watched):
    if is_watched:
        async with stage.bench() as bench:
            await add_watch(bench, PULL_REQUEST)
    pull_request = get_pull_request(stage.world)

    result, looks = await wait(
        stage, "merged", script=[lambda: getattr(stage.world, verb)(pull_request)]
    )

    assert (result.verdict, looks[0]) == (verdict, "OPEN")


async def test_what_was_merged_before_is_decided_from_the_store(stage):
    async with stage.bench() as bench:
        await add_watch(bench, PULL_REQUEST)
    await stage.cycle()
    stage.world.merge(get_pull_request(stage.world))
    await stage.cycle()
    asked = len(stage.world.requests)

    result, _ = await wait(stage, "merged")

    assert (result.verdict, len(stage.world.requests)) == (Verdict.REACHED, asked)


async def test_an_outage_is_waited_for(stage):
    finish(stage, "FAILURE")()
    stage.world.go_down(dt.timedelta(minutes=2))

    result, looks = await wait(stage)

    assert (result.verdict, looks[-1]) == (Verdict.FAILED, "failure")
    assert len(looks) > 2


async def test_an_outage_that_outlasts_the_time_is_told(stage):
    stage.world.go_down(dt.timedelta(hours=2))

    result, _ = await wait(stage, limit=dt.timedelta(minutes=1))

    assert (result.verdict, result.seen) == (Verdict.TIMED_OUT, None)
    assert result.problem


async def test_what_waiting_does_not_help_ends_it(stage):
    missing = NamedPullRequest(owner="octo", name="hello", number=99)

    with pytest.raises(ResourceGone, match="octo/hello#99"):
        await wait(stage, named=missing)
    stage.world.revoke_token()
    with pytest.raises(AuthenticationFailed):
        await wait(stage)


async def test_a_watched_pull_request_that_is_not_there_is_given_two_minutes(stage):
    missing = NamedPullRequest(owner="octo", name="hello", number=99)
    async with stage.bench() as bench:
        await add_watch(bench, missing)
    before = stage.clock.monotonic()

    with pytest.raises(ResourceGone, match="octo/hello#99"):
        await wait(stage, named=missing)

    assert 120 <= stage.clock.monotonic() - before < 180


@pytest.mark.parametrize("is_watched", [True, False], ids=["watched", "unwatched"])
async def test_a_refused_token_ends_it(stage, is_watched):
    if is_watched:
        async with stage.bench() as bench:
            await add_watch(bench, PULL_REQUEST)
    stage.world.faults.add(Fault(kind="bad_credentials", times=None))

    with pytest.raises(PrwatchError) as raised:
        await wait(stage)

    assert raised.value.exit_code == 4


async def test_a_workspace_without_a_token_cannot_wait(tmp_path):
    text = f"""{ONE}
[[workspace]]
name = "other"
token_env = "OTHER_TOKEN"
api_url = "https://github.corp.example/api/v3"
"""
    stage = make_stage(tmp_path, text)
    named = NamedPullRequest(
        owner="octo", name="hello", number=12, host="github.corp.example"
    )

    with pytest.raises(AuthenticationFailed, match="the workspace other has no token"):
        await wait(stage, named=named)


async def test_an_unchanged_reading_is_not_asked_for_again(stage):
    _, looks = await wait(stage, "merged", limit=dt.timedelta(minutes=5))

    assert set(looks) == {"OPEN"}
    assert stage.world.requests.not_modified > 0


async def test_a_limit_is_waited_for(stage):
    finish(stage, "FAILURE")()
    stage.world.secondary_limit(dt.timedelta(minutes=3))

    result, looks = await wait(stage)

    assert (result.verdict, looks[-1]) == (Verdict.FAILED, "failure")
    assert result.waited >= dt.timedelta(minutes=3)
    assert stage.world.requests.while_limited == 1
