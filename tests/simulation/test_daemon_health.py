"""What a running daemon says of its health when GitHub, sinks and files fail."""

import datetime as dt
import io

import anyio
import pytest
import structlog.testing
import trio.testing

from prwatch.errors import ConfigError
from prwatch.simulator import DEFAULT_TOKEN
from tests.daemons import make_daemon_world, running_daemon

MINUTE = 60.0
SECOND_WORKSPACE = """
[[workspace]]
name = "second"
token_env = "SECOND"

[[workspace.watch]]
repository = "octo/hello"
pull_request = 12
"""


@pytest.fixture
def anyio_backend():
    return ("trio", {"clock": trio.testing.MockClock(autojump_threshold=0)})


class FailingOutput(io.BytesIO):
    """A stream that takes nothing while it is broken."""

    is_broken = True

    def write(self, data):
        if self.is_broken:
            raise OSError(5, "Input/output error")
        return super().write(data)


async def test_a_daemon_that_does_its_work_is_well(tmp_path):
    async with running_daemon(tmp_path, make_daemon_world()) as running:
        await anyio.sleep(MINUTE)
        health, ready = running.health(), running.ready()

    assert (health["verdict"], health["reasons"]) == ("ok", [])
    assert health["watches"] == {"searching": 0, "discovered": 1}
    assert health["loops"]["watch_cycle"] == {"count": 1, "failing": 0, "stalled": 0}
    assert ready == (200, {"ready": True, "verdict": "ok", "reasons": []})
    assert running.page("/healthz") == (200, "ok\n")


async def test_a_limit_at_boot_leaves_the_daemon_ready_and_degrades_it(tmp_path):
    """home-assistant/core#63146: an optional look-up must not fail the whole."""
    world = make_daemon_world()
    world.exhaust_rate_limit()
    async with running_daemon(tmp_path, world) as running:
        await anyio.sleep(1)
        limited, ready = running.health(), running.ready()
        line = running.daemon.describe()
        await anyio.sleep(70 * MINUTE)
        after = running.health()

    reason = limited["reasons"][0]
    assert (limited["verdict"], reason["reason"]) == ("degraded", "limit")
    until = dt.datetime.fromisoformat(reason["until"])
    assert reason["until"] == limited["limits"][0]["until"]
    assert dt.timedelta(0) < until - dt.datetime.fromisoformat(limited["checked_at"])
    assert (ready[0], ready[1]["verdict"]) == (200, "degraded")
    assert f"1 workspace paused until {until.astimezone():%H:%M} (rate limit)" in line
    assert after["verdict"] == "ok"


async def test_a_refused_token_is_failing_within_one_cycle(tmp_path):
    """ohdearquant/lionagi#1868: refused is not the same as empty."""
    world = make_daemon_world()
    async with running_daemon(tmp_path, world) as running:
        await anyio.sleep(MINUTE)
        world.revoke_token()
        await anyio.sleep(75)
        refused = running.health()
        await anyio.sleep(10 * MINUTE)
        still = running.health()
        world.set_token(DEFAULT_TOKEN)
        await anyio.sleep(65 * MINUTE)
        after = running.health()

    assert (refused["verdict"], refused["failures"]) == ("failing", {"auth": 1})
    assert [each["reason"] for each in refused["reasons"]] == ["token_refused"]
    assert "doctor" in refused["reasons"][0]["remedy"]
    assert refused["circuits"] == [{"circuit": "workspace", "class": "auth", "open": 1}]
    assert still["reasons"] == refused["reasons"]
    assert refused["watches"] == {"searching": 0, "discovered": 1}
    assert after["verdict"] == "ok"


async def test_a_hundred_failures_with_words_of_their_own_are_one_change(tmp_path):
    """argoproj/argo-cd#21887: the text of an error is no state."""
    world = make_daemon_world()
    seen = []
    async with running_daemon(tmp_path, world) as running:
        await anyio.sleep(MINUTE)
        world.faults.add("json502;times=none")
        for _ in range(100):
            await anyio.sleep(MINUTE)
            health = running.health()
            told = (health["verdict"], [each["reason"] for each in health["reasons"]])
            seen += [told] if told not in seen else []

    assert seen == [("degraded", ["github_unreachable"])]


async def test_one_dead_workspace_is_told_by_its_number_alone(tmp_path):
    world = make_daemon_world()
    async with running_daemon(
        tmp_path,
        world,
        tasks=SECOND_WORKSPACE,
        environ={"SECOND": "ghp_" + "9" * 36},
    ) as running:
        await anyio.sleep(MINUTE)
        (reason,) = running.health()["reasons"]
        line = running.daemon.describe()

    assert (reason["reason"], reason["count"]) == ("token_refused", 1)
    assert line == ("watching 2 pull requests; 1 workspace has no valid token")


async def test_a_sink_that_fails_degrades_until_it_takes_something(tmp_path):
    out = FailingOutput()
    async with running_daemon(tmp_path, make_daemon_world(), out=out) as running:
        await anyio.sleep(75)  # past the second look at the outbox
        failing = running.health()
        depth = running.metric("prwatch_outbox_pending_deliveries", sink_kind="stdout")
        failed = running.metric(
            "prwatch_deliveries_total", sink_kind="stdout", outcome="failed"
        )
        out.is_broken = False
        await anyio.sleep(30 * MINUTE)
        after = running.health()
        delivered = running.metric(
            "prwatch_deliveries_total", sink_kind="stdout", outcome="delivered"
        )

    assert [each["reason"] for each in failing["reasons"]] == ["sink_failing"]
    assert failing["sinks"] == {"stdout": 1}
    assert (depth, failed > 0, delivered) == (1, True, 1)
    assert (after["verdict"], after["sinks"]) == ("ok", {})


async def test_a_refused_reload_degrades_until_one_is_applied(tmp_path):
    async with running_daemon(tmp_path, make_daemon_world()) as running:
        await anyio.sleep(MINUTE)
        good = running.text
        running.text = "nonsense = 1\n" + good
        with pytest.raises(ConfigError):
            await running.daemon.reloader.reload()
        refused = running.reasons()
        running.text = good
        await running.daemon.reloader.reload()
        await anyio.sleep(MINUTE)
        after = running.reasons()
        counted = [
            running.metric("prwatch_reloads_total", outcome=each)
            for each in ("applied", "refused")
        ]

    assert (refused, after, counted) == (["reload_refused"], [], [1, 1])


async def test_where_metrics_are_answered_is_no_matter_of_a_reload(tmp_path):
    async with running_daemon(tmp_path, make_daemon_world()) as running:
        running.text += '\n[daemon]\nmetrics_listen = "127.0.0.1:9464"\n'
        with pytest.raises(ConfigError, match="metrics_listen cannot change"):
            await running.daemon.reloader.reload()


async def test_counts_go_on_over_a_reload(tmp_path):
    world = make_daemon_world()
    async with running_daemon(tmp_path, world) as running:
        await anyio.sleep(MINUTE)
        before = running.metric(
            "prwatch_deliveries_total", sink_kind="stdout", outcome="delivered"
        )
        world.close(next(iter(world.pull_requests.values())))
        await anyio.sleep(2 * MINUTE)
        await running.daemon.reloader.reload()
        await anyio.sleep(MINUTE)
        after = running.metric(
            "prwatch_deliveries_total", sink_kind="stdout", outcome="delivered"
        )

    assert (before, after > before) == (1, True)


async def test_a_day_of_work_is_counted(tmp_path):
    world = make_daemon_world()
    async with running_daemon(tmp_path, world, poll='settle = "0s"') as running:
        await anyio.sleep(MINUTE)
        world.set_check(
            next(iter(world.pull_requests.values())), "test", conclusion="FAILURE"
        )
        await anyio.sleep(2 * MINUTE)
        metric = running.metric
        values = {
            "associated": metric("prwatch_changes_total", field="associated"),
            "checks": metric("prwatch_changes_total", field="checks"),
            "feedback": metric("prwatch_events_written_total", type="GitHubPRFeedback"),
            "watches": metric("prwatch_watches", state="discovered"),
            "failed": metric("prwatch_cycles_total", outcome="failed"),
            "writable": metric("prwatch_store_writable"),
            "rows": metric("prwatch_table_rows", table="pr_watches"),
            "limit": metric("prwatch_rate_limit_limit", bucket="graphql"),
        }
        cycles = metric("prwatch_cycles_total", outcome="ok")
        count = metric("prwatch_cycle_duration_seconds_count")
        equal = metric("prwatch_cache_hits_total", hit="equal_bytes")

    assert values == {
        "associated": 1,
        "checks": 1,
        "feedback": 1,
        "watches": 1,
        "failed": 0,
        "writable": 1,
        "rows": 0,  # measured at the start, before anything was adopted
        "limit": 5000,
    }
    assert (cycles, equal > 0) == (count, True)
    assert count >= 3


@pytest.mark.parametrize(
    ("bucket", "read_path"), [("graphql", "auto"), ("core", "rest")]
)
async def test_a_limit_is_logged_when_it_begins_and_when_it_ends(
    tmp_path, bucket, read_path
):
    world = make_daemon_world()
    poll = f'read_path = "{read_path}"'
    with structlog.testing.capture_logs() as logs:
        async with running_daemon(tmp_path, world, poll=poll):
            await anyio.sleep(2 * MINUTE)
            world.exhaust_rate_limit(bucket)
            await anyio.sleep(2 * 60 * MINUTE)

    told = [
        (each["event"], "until" in each)
        for each in logs
        if each["event"].startswith(("workspace.", "reference."))
    ]
    assert told == [
        ("workspace.paused", True),
        ("workspace.resumed", False),
    ]
