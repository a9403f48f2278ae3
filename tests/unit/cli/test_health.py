"""`prwatch health`: what it prints of a daemon's answer, and how it ends."""

import contextlib
import datetime as dt
import re

import pytest
from anyio.from_thread import start_blocking_portal

from prwatch.app.control.server import ControlServer
from prwatch.app.daemon.daemon_lock import acquire_daemon_lock
from prwatch.cli.output import format_time

UNTIL = dt.datetime(2026, 11, 30, 12, 40, tzinfo=dt.UTC)
WELL = {
    "verdict": "ok",
    "ok": True,
    "ready": True,
    "reasons": [],
    "loops": {"relay": {"count": 2, "failing": 0, "stalled": 0}},
    "failures": {"config": 1},
    "watches": {"searching": 0, "discovered": 2410},
    "observations": {"oldest_age_seconds": 61.5, "over_bound": {}},
}
ILL = {
    "verdict": "failing",
    "ok": False,
    "ready": False,
    "reasons": [
        {
            "reason": "loop_stalled",
            "verdict": "failing",
            "count": 1,
            "until": None,
            "remedy": "restart prwatch",
        },
        {
            "reason": "limit",
            "verdict": "degraded",
            "count": 1,
            "until": "2026-11-30T12:40:00.000000Z",
            "remedy": "nothing",
        },
    ],
    "loops": {
        "relay": {"count": 2, "failing": 1, "stalled": 0},
        "watch_cycle": {"count": 1, "failing": 0, "stalled": 1},
    },
    "failures": {"transient": 2, "auth": 1},
    "circuits": [{"circuit": "host", "class": "transient", "open": 1}],
    "sinks": {"webhook": 1},
    "watches": {"searching": 3, "discovered": 1},
    "observations": {
        "oldest_age_seconds": 7200.0,
        "over_bound": {"limit": 1, "unexplained": 2},
    },
}


@pytest.fixture
def prwatch(call, tmp_path):
    (tmp_path / "state").mkdir()
    call.configure(f'state_dir = "{tmp_path}/state"\n[[workspace]]\nname = "acme"\n')
    return call


@contextlib.contextmanager
def answering(folder, answer):
    """Stand in for a daemon that says this of its health."""
    path = folder / "socket"

    async def health(_):
        return answer

    async def serve(*, task_status):
        server = ControlServer(path, {"health": health})
        await server.run(lambda: None, task_status=task_status)

    with (
        acquire_daemon_lock(folder / "state", socket_path=path),
        start_blocking_portal() as portal,
    ):
        serving, _ = portal.start_task(serve)
        yield
        serving.cancel()


@pytest.mark.parametrize(
    ("answer", "code", "lines"),
    [
        pytest.param(
            WELL,
            0,
            [
                "The daemon is well.",
                "WHAT  STATE",
                "watches  2,410 discovered",
                "oldest observation  1 min 1 s",
                "loops  2 running",
                "failures of the last cycle  1 config",
                "open circuits  none",
                "failing sinks  none",
            ],
            id="well",
        ),
        pytest.param(
            ILL,
            1,
            [
                "The daemon is failing: somebody has to look.",
                "STATE  WHY  HOW MANY  WHAT TO DO",
                "failing  loop_stalled  1  restart prwatch",
                f"degraded  limit: paused until {format_time(UNTIL)}  1  nothing",
                "WHAT  STATE",
                "watches  3 searching, 1 discovered",
                "oldest observation  2 h; over their bound: 1 limit, 2 unexplained",
                "loops  3 running, 1 failing, 1 stalled",
                "failures of the last cycle  2 transient, 1 auth",
                "open circuits  1 host (transient)",
                "failing sinks  1 webhook",
            ],
            id="not well",
        ),
        pytest.param(
            {"ok": False, "verdict": "degraded"},
            1,
            [
                "The daemon is degraded: it works, but not all of it.",
                "WHAT  STATE",
                "watches  none",
                "oldest observation  none",
                "loops  none",
                "failures of the last cycle  none",
                "open circuits  none",
                "failing sinks  none",
            ],
            id="degraded, told in few words",
        ),
    ],
)
def test_the_daemons_health_is_told_and_is_the_exit_code(
    prwatch, tmp_path, answer, code, lines
):
    with answering(tmp_path, answer):
        words = prwatch("health")
        told = prwatch("health", "--json")

    shown = [re.sub("  +", "  ", line) for line in words.out.splitlines()]
    assert (words.code, shown) == (code, lines)
    assert (told.code, told.value) == (code, {"running": True, **answer})


def test_without_a_daemon_it_says_so_and_fails(prwatch):
    words = prwatch("health")
    told = prwatch("health", "--json")

    assert (words.code, words.out) == (1, "No daemon runs.\n")
    assert (told.code, told.value) == (
        1,
        {"running": False, "ok": False, "verdict": "failing", "ready": False},
    )
