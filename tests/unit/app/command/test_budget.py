"""What watching costs: told by a daemon, or forecast from store and configuration."""

import anyio
import pytest

from prwatch.app.command.budget import answer_budget, read_budget_report
from prwatch.app.control.server import ControlServer
from prwatch.app.daemon.daemon_lock import acquire_daemon_lock
from prwatch.errors import DaemonError
from prwatch.simulator import DEFAULT_TOKEN, World
from tests.benches import ONE, make_stage
from tests.product import MovedClock, open_product

WATCHES = f"""{ONE}
[[workspace.watch]]
repository = "octo/hello"
pull_request = 12
[[workspace.watch]]
repository = "octo/hello"
branch = "later"
[[workspace.watch]]
repository = "octo/other"
all = true
[[workspace.watch]]
author = "@me"
[[workspace.task]]
id = "T-1"
[[workspace.task.sessions]]
id = "S-1"
checkouts = [{{ repository = "octo/hello", branch = "topic" }}]
"""


async def read(stage, *, watches=None, is_live=False):
    async with stage.bench() as bench:
        return await read_budget_report(
            bench, stage.loaded, watches=watches, is_live=is_live
        )


async def read_account(stage, **options):
    (account,) = (await read(stage, **options))["accounts"]
    return account


async def test_before_anything_ran_the_configuration_is_forecast(tmp_path):
    stage = make_stage(tmp_path, WATCHES)

    report = await read(stage)

    (account,) = report["accounts"]
    counted = {name: n for name, n in account["watches"].items() if n}
    assert report["running"] is False
    assert counted == {
        "pull_requests": 1,
        "idle": 1,
        "branches": 2,
        "repositories": 1,
        "searches": 1,
    }
    assert (account["budget"]["points"], account["budget"]["assumed"]) == (5000, True)
    assert account["workspaces"] == ["acme"]
    assert len(stage.world.requests) == 0


async def test_what_the_store_has_is_counted_once(tmp_path):
    stage = make_stage(tmp_path, WATCHES)
    stage.world.add_repository("octo/other")
    stage.world.open_many("octo/other", 3)
    await stage.cycle()
    asked = len(stage.world.requests)

    account = await read_account(stage)

    counted = {name: n for name, n in account["watches"].items() if n}
    assert counted["pull_requests"] == 4
    assert (counted["branches"], counted["repositories"]) == (2, 1)
    assert account["account"].startswith("user/")
    assert len(stage.world.requests) == asked


async def test_so_many_watches_as_are_asked_about_are_forecast(tmp_path):
    account = await read_account(make_stage(tmp_path, WATCHES), watches=30_000)

    assert account["watches"]["pull_requests"] == 30_000
    assert account["stretch"]["level"] == "further"
    assert account["stretch"]["words"].startswith("30,000 idle pull requests are asked")
    assert account["bound_seconds"] > 300
    assert account["stretches_from"] < 30_000 < account["ends_at"]


async def test_what_is_left_is_asked_for_with_one_request(tmp_path):
    stage = make_stage(tmp_path, WATCHES)

    account = await read_account(stage, is_live=True)

    (graphql,) = account["buckets"]
    assert (graphql["bucket"], graphql["remaining"], graphql["reserve"]) == (
        "graphql",
        4999,
        750,
    )
    assert (account["login"], account["problem"]) == ("octocat", None)
    assert account["budget"]["assumed"] is False
    assert len(stage.world.requests) == 1


async def test_a_token_that_is_refused_is_told_beside_the_forecast(tmp_path):
    stage = make_stage(tmp_path, WATCHES)
    stage.world.revoke_token(DEFAULT_TOKEN)

    account = await read_account(stage, is_live=True)

    assert account["problem"]
    assert account["watches"]["pull_requests"] == 1


async def test_through_rest_there_are_no_points_to_plan(tmp_path):
    text = f'{WATCHES}\n[poll]\nread_path = "rest"\n'

    account = await read_account(make_stage(tmp_path, text))

    assert (account["budget"], account["stretches_from"]) == (None, None)
    assert [row["share"] for row in account["more"]] == [None] * 4


@pytest.mark.parametrize("watches", [None, 7])
async def test_a_daemon_answers_for_itself(tmp_path, watches):
    stage = make_stage(tmp_path, WATCHES)
    asked = []

    async def budget(arguments):
        asked.append(arguments)
        return {"at": "now", "accounts": []}

    path = tmp_path / "socket"
    state = stage.loaded.config.state_dir
    state.mkdir(exist_ok=True)
    async with anyio.create_task_group() as group:
        server = ControlServer(path, {"budget": budget})
        with acquire_daemon_lock(state, socket_path=path):
            await group.start(server.run, lambda: None)
            report = await read(stage, watches=watches, is_live=True)
        group.cancel_scope.cancel()

    assert report == {"running": True, "at": "now", "accounts": []}
    assert asked == [{} if watches is None else {"watches": 7}]
    assert len(stage.world.requests) == 0


@pytest.mark.parametrize("watches", [-1, 1_000_001, 10**30, True, 1.5, "7", [7]])
async def test_a_number_that_would_hold_the_daemon_up_is_refused(tmp_path, watches):
    async with open_product(tmp_path, World(MovedClock())) as product:
        with pytest.raises(DaemonError, match="up to 1000000") as caught:
            await answer_budget(product.runtime, {"watches": watches})

        answer = await answer_budget(product.runtime, {"watches": 1_000})

    assert caught.value.reason == "malformed"
    assert answer["accounts"][0]["watches"]["pull_requests"] == 1_000
