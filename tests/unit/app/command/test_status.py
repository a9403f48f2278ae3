"""How things stand: with a daemon, without one, and after a sink is gone."""

import anyio
import pytest

from prwatch.app.command.references import (
    NamedBranch,
    NamedPullRequest,
    NamedRepository,
)
from prwatch.app.command.status import read_status
from prwatch.app.command.watch_commands import add_adoption, add_watch
from prwatch.app.control.server import ControlServer
from prwatch.app.daemon.daemon_lock import acquire_daemon_lock
from prwatch.store import rate_limit
from tests.benches import ONE, get_pull_request, make_stage
from tests.unit.simulator.stage import NOON

PULL_REQUEST = NamedPullRequest(owner="octo", name="hello", number=12)
LATER = NamedBranch(owner="octo", name="hello", branch="later")
REFUSING = f"""{ONE}
[[sink]]
name = "refuse"
kind = "command"
argv = ["/bin/false"]
"""


async def read(stage):
    async with stage.bench() as bench:
        return await read_status(bench)


async def test_without_a_daemon_the_store_is_shown_with_its_age(tmp_path):
    stage = make_stage(tmp_path)
    async with stage.bench() as bench:
        await add_watch(bench, PULL_REQUEST)
        await add_watch(bench, LATER)
        await add_adoption(bench, NamedRepository(owner="octo", name="hello"))
    stage.world.set_check(get_pull_request(stage.world), "a", conclusion="FAILURE")
    await stage.cycle()
    stage.clock.advance(600)

    status = await read(stage)

    assert status.daemon is None
    assert (status.at - status.known_at).total_seconds() == 600
    assert [each.as_json() for each in status.workspaces] == [
        {
            "name": "acme",
            "host": "github.com",
            "configured": True,
            "watches": {
                "searching": 1,
                "resting": 0,
                "unread": 0,
                "OPEN": 1,
                "CLOSED": 0,
                "MERGED": 0,
            },
            "checks": {"failure": 1},
            "review": {"none": 1},
            "repository_watches": 1,
            "last_change_at": "2026-11-30T12:01:00.000000Z",
            "unreadable": [],
        }
    ]


async def test_an_empty_store_says_so(tmp_path):
    status = await read(make_stage(tmp_path))

    assert (status.known_at, status.last_event_at) == (None, None)
    assert [each.name for each in status.workspaces] == ["acme"]
    assert status.as_json()["daemon"] is None


async def test_deliveries_of_a_sink_that_is_gone_are_shown(tmp_path):
    stage = make_stage(tmp_path, REFUSING)
    async with stage.bench() as bench:
        await add_watch(bench, PULL_REQUEST)
    await stage.cycle()
    later = make_stage(tmp_path, ONE)

    before, after = await read(stage), await read(later)

    assert [each.as_json() for each in before.sinks] == [
        {
            "name": "refuse",
            "configured": True,
            "pending": 0,
            "acquired": 0,
            "delivered": 0,
            "dropped": 0,
            "dead": 1,
        }
    ]
    assert [(each.name, each.is_configured) for each in after.sinks] == [
        ("stdout", True),
        ("refuse", False),
    ]


async def test_a_workspace_that_is_gone_is_shown(tmp_path):
    stage = make_stage(tmp_path)
    async with stage.bench() as bench:
        await add_watch(bench, PULL_REQUEST)

    status = await read(make_stage(tmp_path, ONE.replace("acme", "corp")))

    assert [(each.name, each.is_configured) for each in status.workspaces] == [
        ("corp", True),
        ("acme", False),
    ]


async def test_a_limit_that_holds_is_shown(tmp_path):
    stage = make_stage(tmp_path)
    until = NOON.replace(hour=13)
    async with stage.bench() as bench:
        await bench.database.transact(
            lambda tx: rate_limit.put_block(tx, "account", "graphql", until)
        )

    assert (await read(stage)).as_json()["rate_limits"] == [
        {"bucket": "graphql", "blocked_until": "2026-11-30T13:00:00.000000Z"}
    ]


@pytest.fixture
def socket_path(tmp_path):
    (tmp_path / "state").mkdir(mode=0o700)
    return tmp_path / "state" / "s"


async def test_a_daemon_is_asked_for_what_it_knows(tmp_path, socket_path):
    stage = make_stage(tmp_path)

    async def answer(arguments):
        return {"last_cycle": {"failures": []}, "loops": {}}

    server = ControlServer(socket_path, {"status": answer})
    with acquire_daemon_lock(socket_path.parent, socket_path=socket_path):
        async with anyio.create_task_group() as group:
            await group.start(lambda *, task_status: run(server, task_status))
            status = await read(stage)
            group.cancel_scope.cancel()

    assert status.daemon.pid > 0
    assert status.daemon.facts == {"last_cycle": {"failures": []}, "loops": {}}


async def run(server, task_status):
    await server.run(lambda: None, task_status=task_status)


async def test_a_daemon_that_does_not_listen_is_told_with_what_the_store_knows(
    tmp_path, socket_path
):
    stage = make_stage(tmp_path)
    with acquire_daemon_lock(socket_path.parent, socket_path=socket_path):
        status = await read(stage)

    assert status.daemon.facts is None
    assert "does not listen" in status.daemon.problem
    assert [each.name for each in status.workspaces] == ["acme"]
