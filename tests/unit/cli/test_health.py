"""`prwatch health`: what it prints of a daemon's answer, and how it ends."""

import contextlib

import pytest
from anyio.from_thread import start_blocking_portal

from prwatch.app.daemon.control_server import ControlServer
from prwatch.app.daemon.daemon_lock import acquire_daemon_lock

WELL = {"ok": True, "stalled": [], "failing_loops": [], "failures": {"config": 1}}
ILL = {
    "ok": False,
    "stalled": ["watch"],
    "failing_loops": ["relay"],
    "failures": {"transient": 2, "auth": 1},
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
                "WHAT                        STATE",
                "stalled loops               none",
                "failing loops               none",
                "failures of the last cycle  1 config",
            ],
            id="well",
        ),
        pytest.param(
            ILL,
            1,
            [
                "The daemon is not well.",
                "WHAT                        STATE",
                "stalled loops               watch",
                "failing loops               relay",
                "failures of the last cycle  1 auth, 2 transient",
            ],
            id="not well",
        ),
    ],
)
def test_the_daemons_health_is_told_and_is_the_exit_code(
    prwatch, tmp_path, answer, code, lines
):
    with answering(tmp_path, answer):
        words = prwatch("health")
        told = prwatch("health", "--json")

    assert (words.code, words.out.splitlines()) == (code, lines)
    assert (told.code, told.value) == (code, {"running": True, **answer})


def test_without_a_daemon_it_says_so_and_fails(prwatch):
    words = prwatch("health")
    told = prwatch("health", "--json")

    assert (words.code, words.out) == (1, "No daemon runs.\n")
    assert (told.code, told.value) == (1, {"running": False, "ok": False})
