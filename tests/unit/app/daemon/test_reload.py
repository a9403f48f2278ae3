import contextlib

import anyio
import pytest
import structlog.testing

from prwatch.app.daemon.reload import Reloader
from prwatch.errors import ConfigError
from prwatch.telemetry.systemd import SystemdNotifier
from tests.daemon_parts import HandClock, SystemdEnd


@pytest.fixture
def systemd(tmp_path):
    end = SystemdEnd(tmp_path / "notify")
    yield end
    end.close()


@pytest.fixture
def notifier(systemd):
    with SystemdNotifier(systemd.address) as notifier:
        yield notifier


async def refuse():
    raise ConfigError("one problem", problems=("prwatch.toml:1: nonsense",))


async def accept():
    await anyio.lowlevel.checkpoint()


@pytest.mark.parametrize("apply", [accept, refuse])
async def test_systemd_hears_of_the_reload_and_of_its_end(notifier, systemd, apply):
    reloader = Reloader(apply, notifier=notifier, clock=HandClock())

    try:
        await reloader.reload()
    except ConfigError:
        assert apply is refuse

    assert systemd.receive() == [
        "RELOADING=1\nMONOTONIC_USEC=1000000000",
        "READY=1",
    ]


async def test_a_refusal_tells_who_asked(notifier):
    reloader = Reloader(refuse, notifier=notifier, clock=HandClock())

    with pytest.raises(ConfigError, match="one problem"):
        await reloader.reload()


async def test_a_refused_request_is_logged_and_the_next_one_is_tried(notifier):
    answers = [refuse, accept]
    done = anyio.Event()

    async def apply():
        await answers.pop(0)()
        done.set()

    beats = []
    reloader = Reloader(apply, notifier=notifier, clock=HandClock())
    with structlog.testing.capture_logs() as logs, anyio.fail_after(5):
        async with anyio.create_task_group() as group:

            def beat():
                beats.append(1)
                reloader.request()

            await group.start(reloader.run, beat)
            reloader.request()
            await done.wait()
            group.cancel_scope.cancel()

    assert logs == [
        {
            "event": "configuration.refused",
            "log_level": "error",
            "message": "one problem",
            "problems": ["prwatch.toml:1: nonsense"],
        },
        {"event": "configuration.reloaded", "log_level": "info"},
    ]


async def test_two_reloads_never_overlap(notifier):
    story = []

    async def apply():
        story.append("begin")
        await anyio.wait_all_tasks_blocked()
        story.append("end")

    reloader = Reloader(apply, notifier=notifier, clock=HandClock())
    async with anyio.create_task_group() as group:
        group.start_soon(reloader.reload)
        group.start_soon(reloader.reload)

    assert story == ["begin", "end", "begin", "end"]


async def test_what_became_of_reloads_is_counted_and_the_last_one_stands(notifier):
    answers = [None, ConfigError("no"), ConfigError("no"), None]

    async def apply():
        answer = answers.pop(0)
        if answer is not None:
            raise answer

    reloader = Reloader(apply, notifier=notifier, clock=HandClock())
    seen = []
    while answers:
        with contextlib.suppress(ConfigError):
            await reloader.reload()
        seen.append((reloader.applied, reloader.refused, reloader.is_refused))

    assert seen == [(1, 0, False), (1, 1, True), (1, 2, True), (2, 2, False)]
