"""Looking at one watch now: the whole walk for it, and for nothing else."""

import contextlib

import anyio
import pytest

from prwatch.app.command.check import (
    CheckReport,
    answer_check,
    check_and_deliver,
    check_watch,
    request_check,
)
from prwatch.app.command.references import NamedBranch, NamedPullRequest
from prwatch.app.command.watch_commands import add_watch
from prwatch.app.command.watch_listing import list_watches
from prwatch.app.control.server import ControlServer
from prwatch.app.daemon.daemon_lock import acquire_daemon_lock
from prwatch.app.runtime import open_runtime
from prwatch.errors import (
    AuthenticationFailed,
    DaemonError,
    PrwatchError,
    RateLimited,
    WatchNotFound,
)
from tests.benches import ONE, get_pull_request, make_stage

PULL_REQUEST = NamedPullRequest(owner="octo", name="hello", number=12)
FIX = NamedBranch(owner="octo", name="hello", branch="fix")
BOTH = {"GitHubPRFeedback": 1, "GitHubTaskPRUpdated": 1}


@pytest.fixture
def stage(tmp_path):
    return make_stage(tmp_path)


async def add(stage, named, **options):
    async with stage.bench() as bench:
        return (await add_watch(bench, named, **options)).rows[0].id


async def list_rows(stage, **options):
    async with stage.bench() as bench:
        return (await list_watches(bench, **options)).watches


async def check(stage, *watch_ids):
    async with open_runtime(stage.loaded, stage.surroundings) as runtime:
        return await check_and_deliver(runtime, watch_ids)


async def test_a_change_is_read_committed_and_delivered(stage):
    watch_id = await add(stage, PULL_REQUEST)
    await stage.cycle()
    stage.world.submit_review(get_pull_request(stage.world), "mona", "APPROVED")

    stage.clock.advance(60)
    reports = await check(stage, watch_id)

    assert [dict(report.events) for report in reports] == [BOTH]
    assert reports[0].delivered == 2
    assert (await list_rows(stage))[0].read("review") == "approved"
    assert b'"GitHubPRFeedback"' in stage.surroundings.stdout.getvalue()


async def test_a_pull_request_is_read_through_rest_alone(stage):
    watch_id = await add(stage, PULL_REQUEST)
    before = stage.world.requests.graphql

    await check(stage, watch_id)

    assert stage.world.requests.graphql == before


async def test_an_unchanged_pull_request_writes_nothing(stage):
    watch_id = await add(stage, PULL_REQUEST)
    await stage.cycle()
    async with open_runtime(stage.loaded, stage.surroundings) as runtime:
        await check_watch(runtime, watch_id)
        written = runtime.database.rows_written
        report = await check_watch(runtime, watch_id)

        assert (dict(report.events), runtime.database.rows_written) == ({}, written)


async def test_a_branch_is_searched_and_its_pull_request_read(stage):
    watch_id = await add(stage, FIX)

    await check(stage, watch_id)

    assert [(row.reference, row.state) for row in await list_rows(stage)] == [
        ("octo/hello#12", "OPEN")
    ]


async def test_only_the_branch_that_is_meant_is_searched(stage):
    stage.world.open_pull_request("octo/hello", branch="other", number=13)
    other = NamedBranch(owner="octo", name="hello", branch="other")
    watch_id = await add(stage, FIX, task="T-1")
    await add(stage, other, task="T-2")

    await check(stage, watch_id)

    assert [(row.reference, row.state) for row in await list_rows(stage)] == [
        ("octo/hello@other", "searching"),
        ("octo/hello#12", "OPEN"),
    ]


async def test_all_who_watch_it_learn_it(stage):
    watch_id = await add(stage, PULL_REQUEST, task="T-1")
    await add(stage, PULL_REQUEST, task="T-2")

    await check(stage, watch_id)

    assert [row.state for row in await list_rows(stage)] == ["OPEN", "OPEN"]


async def test_the_branch_of_a_merged_pull_request_is_searched_again(stage):
    await add(stage, FIX)
    await stage.cycle()
    stage.world.merge(get_pull_request(stage.world))
    watch_id = (await list_rows(stage))[0].id

    stage.clock.advance(60)
    await check(stage, watch_id)

    assert [(row.reference, row.state) for row in await list_rows(stage)] == [
        ("octo/hello@fix", "searching")
    ]


async def test_a_resting_branch_is_woken(stage):
    named = NamedBranch(owner="octo", name="hello", branch="later")
    watch_id = await add(stage, named)
    stage.clock.advance(31 * 86_400)
    resting = (await list_rows(stage))[0].state

    await check(stage, watch_id)

    assert (resting, (await list_rows(stage))[0].state) == ("resting", "searching")


async def test_what_cannot_be_read_is_reported(stage):
    named = NamedPullRequest(owner="octo", name="hello", number=99)
    watch_id = await add(stage, named)

    reports = await check(stage, watch_id)

    assert [(f["reference"], f["code"]) for f in reports[0].failures] == [
        ("octo/hello#99", "not_found")
    ]


async def test_a_watch_that_is_not_there_is_not_found(stage):
    with pytest.raises(WatchNotFound, match="no watch 0000"):
        await check(stage, "0000")


async def test_a_workspace_without_a_token_is_told(tmp_path):
    text = f"""{ONE}
[[workspace]]
name = "other"
token_env = "OTHER_TOKEN"
"""
    stage = make_stage(tmp_path, text)
    watch_id = await add(stage, PULL_REQUEST, workspace="other")

    with pytest.raises(AuthenticationFailed, match=r"workspace other: .*OTHER_TOKEN"):
        await check(stage, watch_id)


async def test_a_workspace_that_left_the_configuration_is_not_polled(stage, tmp_path):
    watch_id = await add(stage, PULL_REQUEST)
    later = make_stage(tmp_path, ONE.replace("acme", "corp"), seed=2)

    with pytest.raises(WatchNotFound, match="is not configured any more"):
        await check(later, watch_id)


async def test_the_daemon_answers_in_plain_values(stage):
    watch_id = await add(stage, PULL_REQUEST)
    async with open_runtime(stage.loaded, stage.surroundings) as runtime:
        answer = await answer_check(runtime, {"watch": watch_id})

    assert answer == {
        "watch": watch_id,
        "events": {"GitHubTaskPRUpdated": 1},
        "failures": [],
        "requests": answer["requests"],
        "delivered": 0,
    }
    assert answer["requests"] > 0


@contextlib.asynccontextmanager
async def daemon(state_dir, answer):
    """A daemon that answers `check` with what is given, or with the error it is."""

    async def check_there(arguments):
        if isinstance(answer, Exception):
            raise answer
        return {**answer, "watch": arguments["watch"]}

    async def run(*, task_status):
        await server.run(lambda: None, task_status=task_status)

    server = ControlServer(state_dir / "s", {"check": check_there})
    with acquire_daemon_lock(state_dir, socket_path=state_dir / "s"):
        async with anyio.create_task_group() as group:
            await group.start(run)
            yield
            group.cancel_scope.cancel()


async def test_a_running_daemon_checks_in_place_of_the_command(stage):
    async with stage.bench() as bench:
        without = await request_check(bench, "w1")
        answer = {"events": {"GitHubTaskPRUpdated": 1}, "failures": [], "requests": 3}
        async with daemon(bench.config.state_dir, answer):
            report = await request_check(bench, "w1")

    assert without is None
    assert report == CheckReport(
        watch_id="w1", events={"GitHubTaskPRUpdated": 1}, failures=(), requests=3
    )


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        pytest.param(
            RateLimited("wait", bucket="core", retry_at=None), RateLimited, id="limit"
        ),
        pytest.param(AuthenticationFailed("no"), AuthenticationFailed, id="token"),
        pytest.param(WatchNotFound("gone"), WatchNotFound, id="watch"),
        pytest.param(PrwatchError("other"), DaemonError, id="another"),
    ],
)
async def test_what_stops_the_daemon_is_the_same_error_here(stage, error, kind):
    async with stage.bench() as bench, daemon(bench.config.state_dir, error):
        with pytest.raises(kind, match=str(error)) as raised:
            await request_check(bench, "w1")

    assert type(raised.value) is kind
