"""Explaining a verdict: from the store, read now, and where nothing can be read."""

import dataclasses

import pytest

from prwatch.app.command.explain import explain_live, explain_stored
from prwatch.app.command.references import NamedBranch, NamedPullRequest
from prwatch.app.command.watch_commands import add_watch
from prwatch.errors import (
    AuthenticationFailed,
    ProviderUnavailable,
    RateLimited,
    ResourceGone,
    WatchNotFound,
)
from prwatch.simulator import Fault
from prwatch.store import connections, rate_limit
from tests.benches import ONE, TWO, get_pull_request, make_stage

PULL_REQUEST = NamedPullRequest(owner="octo", name="hello", number=12)
LATER = NamedBranch(owner="octo", name="hello", branch="later")
READ_PATHS = pytest.mark.parametrize("read_path", ["graphql", "rest"])


async def watch(stage, named=PULL_REQUEST, **options):
    async with stage.bench() as bench:
        await add_watch(bench, named, **options)


async def explain(stage, named=PULL_REQUEST, *, is_live=True, workspace=""):
    async with stage.bench() as bench:
        if is_live:
            return await explain_live(bench, stage.loaded, named, workspace=workspace)
        return await explain_stored(bench, named, workspace=workspace)


async def test_what_is_stored_is_told_once_for_all_tasks_with_its_age(tmp_path):
    stage = make_stage(tmp_path)
    await watch(stage)
    await watch(stage, task="T-1")
    stage.world.set_check(get_pull_request(stage.world), "a", conclusion="FAILURE")
    await stage.cycle()
    stage.clock.advance(600)

    (told,) = await explain(stage, is_live=False)

    assert sorted(told.tasks) == ["T-1", "octo/hello#12"]
    assert (told.at - told.stored.observed_at).total_seconds() == 600
    assert told.pull_request["checks"] == "failure"
    rendered = told.as_json()
    assert rendered["live"] is None
    assert rendered["stored"]["checks_notes"] == ["failed: a"]


async def test_what_the_configuration_has_lost_is_never_looked_at_again(tmp_path):
    stage = make_stage(tmp_path)
    await watch(stage)
    await stage.cycle()
    stage = make_stage(tmp_path, ONE.replace("acme", "other"))

    (told,) = await explain(stage, is_live=False)

    why = "never: its workspace is not configured any more"
    assert (told.workspace, told.outlook.why) == ("acme", why)
    assert told.as_json()["next_look"]["due_at"] is None


@READ_PATHS
async def test_a_live_reading_lists_everything_and_stores_nothing(tmp_path, read_path):
    stage = make_stage(tmp_path, f'poll.read_path = "{read_path}"\n{ONE}')
    await watch(stage)
    await stage.cycle()
    one = get_pull_request(stage.world)
    stage.world.set_check(one, "a", conclusion="ACTION_REQUIRED")
    stage.world.submit_review(one, "alice", "APPROVED")
    stage.world.request_review(one, "bob")
    before = await explain(stage, is_live=False)

    (told,) = await explain(stage)

    live = told.as_json()["live"]
    assert [(each["name"], each["said"], each["standing"]) for each in live["checks"]] == [
        ("a", "needs approval", "counts")
    ]  # fmt: skip
    assert live["opinions"] == [
        {
            "author": "alice",
            "state": "APPROVED",
            "submitted_at": "2026-11-30T12:01:00.000000Z",
        }
    ]
    assert live["asked"] == ["bob"]
    assert live["pull_request"]["checks"] == "failure"
    assert await explain(stage, is_live=False) == before


async def test_a_verdict_that_settles_says_until_when(tmp_path):
    stage = make_stage(tmp_path)
    stage.world.set_check(get_pull_request(stage.world), "a", conclusion="SUCCESS")

    (told,) = await explain(stage)

    live = told.as_json()["live"]
    assert (live["pull_request"]["checks"], live["settles_at"]) == (
        "pending",
        "2026-11-30T12:00:20.000000Z",
    )


async def test_what_nobody_watches_is_read_all_the_same(tmp_path):
    stage = make_stage(tmp_path)

    (told,) = await explain(stage)

    assert (told.reference, told.tasks, told.stored) == ("octo/hello#12", (), None)
    assert told.pull_request["title"] == "Fix it"
    with pytest.raises(WatchNotFound):
        await explain(stage, is_live=False)
    with pytest.raises(WatchNotFound):
        await explain(stage, LATER)


async def test_a_branch_without_a_pull_request_asks_nothing(tmp_path):
    stage = make_stage(tmp_path)
    await watch(stage, LATER)

    (told,) = await explain(stage, LATER)

    assert (told.number, told.live, told.pull_request) == (0, None, None)
    assert told.stored.state == "searching"


async def test_a_pull_request_that_is_not_there_is_an_error(tmp_path):
    stage = make_stage(tmp_path)
    missing = dataclasses.replace(PULL_REQUEST, number=99)

    with pytest.raises(ResourceGone, match="octo/hello#99"):
        await explain(stage, missing)


async def test_a_stored_limit_forbids_the_reading(tmp_path):
    stage = make_stage(tmp_path)
    await stage.cycle()
    async with stage.bench() as bench:
        (workspace,) = await bench.list_workspaces()

        async def block(tx):
            found = await connections.find_connection(tx, workspace.id)
            name = f"connection/{found.id}/{found.generation}"
            until = stage.clock.now().replace(hour=13)
            await rate_limit.put_block(tx, name, "graphql", until)

        await bench.database.transact(block)

    with pytest.raises(RateLimited):
        await explain(stage)


async def test_a_workspace_without_a_token_is_told_apart(tmp_path):
    stage = make_stage(tmp_path, TWO.replace("ACME_TOKEN", "NO_TOKEN", 1))

    with pytest.raises(AuthenticationFailed, match="acme"):
        await explain(stage, workspace="acme")


async def test_a_github_that_is_down_is_an_error(tmp_path):
    stage = make_stage(tmp_path)
    stage.world.faults.add(Fault(kind="html502", times=None))

    with pytest.raises(ProviderUnavailable):
        await explain(stage)
