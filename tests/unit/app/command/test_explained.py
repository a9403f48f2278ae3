"""What an explanation holds beside the verdict: numbers, losses, limits and changes."""

import dataclasses

import anyio

from prwatch.app.command.explain import explain_live, explain_stored
from prwatch.app.command.references import NamedPullRequest
from prwatch.app.command.watch_commands import add_watch
from prwatch.app.control.server import ControlServer
from prwatch.app.daemon.daemon_lock import acquire_daemon_lock
from prwatch.store import connections, rate_limit
from tests.benches import ONE, get_pull_request, make_stage

PULL_REQUEST = NamedPullRequest(owner="octo", name="hello", number=12)
BY_REST = f'poll.read_path = "rest"\n{ONE}'


async def watch(stage):
    async with stage.bench() as bench:
        await add_watch(bench, PULL_REQUEST)


async def explain(stage, *, is_live=False):
    async with stage.bench() as bench:
        if is_live:
            explained = await explain_live(bench, stage.loaded, PULL_REQUEST)
        else:
            explained = await explain_stored(bench, PULL_REQUEST)
    (told,) = explained
    return told.as_json()


async def test_the_runs_that_decided_are_named_from_the_store(tmp_path):
    stage = make_stage(tmp_path)
    await watch(stage)
    one = get_pull_request(stage.world)
    stage.world.set_check(one, "build", conclusion="FAILURE")
    stage.world.set_check(one, "lint", conclusion="SUCCESS")
    await stage.cycle()

    told = await explain(stage)

    assert told["rule"] == "any failure wins, whatever else passed or runs"
    assert told["words"]["checks"] == {
        "word": "failed",
        "text": "1 of 2 failed: build",
    }
    summary = told["checks_summary"]
    assert summary["deciding"] == [
        {
            "name": "build",
            "app": "github-actions",
            "said": "failed",
            "state": "failure",
            "since": "2026-11-30T12:00:00.000000Z",
            "required": None,
        }
    ]
    assert (summary["total"], summary["failing"], summary["required"]) == (2, 1, None)


async def test_the_last_changes_are_told_with_before_and_after(tmp_path):
    stage = make_stage(tmp_path)
    await watch(stage)
    await stage.cycle()
    stage.world.mark_draft(get_pull_request(stage.world))
    await stage.cycle()

    told = (await explain(stage))["changes"]

    assert [each["words"] for each in told] == [
        ["associated: none yet → 12"],
        ["is_draft: no → yes"],
    ]
    assert told[1]["changes"] == [
        {"field": "is_draft", "previous": False, "current": True}
    ]


async def test_only_optional_checks_that_run_are_told_as_such_where_it_is_known(
    tmp_path,
):
    """netresearch/git-workflow-skill#143: optional checks that run, told as red."""
    stage = make_stage(tmp_path)
    await watch(stage)
    one = get_pull_request(stage.world)
    stage.world.set_check(one, "test", conclusion="SUCCESS", is_required=True)
    stage.world.set_check(one, "docs")
    await stage.cycle()

    stored, live = await explain(stage), await explain(stage, is_live=True)

    assert stored["words"]["checks"]["text"] == "running 1 of 2: docs, as of 0 s ago"
    assert live["words"]["checks"] == {
        "word": "optional_running",
        "text": "required green, 1 optional running: docs",
    }
    assert live["checks_summary"]["required_pending"] == 0
    assert live["live"]["pull_request"]["checks"] == "pending"


async def test_what_rest_does_not_tell_is_listed_with_the_reason(tmp_path):
    stage = make_stage(tmp_path, BY_REST)
    await watch(stage)
    await stage.cycle()

    told = (await explain(stage))["unobserved"]

    reasons = {each["field"]: each["reason"] for each in told}
    assert set(reasons) == {"review_decision", "merge_queue", "unresolved_threads"}
    assert all("REST" in reason for reason in reasons.values())


async def test_what_a_token_may_not_read_is_told_where_nobody_watches(tmp_path):
    stage = make_stage(tmp_path)
    await watch(stage)
    stage.world.set_check(get_pull_request(stage.world), "a")
    stage.world.open_pull_request("octo/hello", branch="other", number=13)
    stage.world.refuse_fields("CheckRun")
    await stage.cycle()
    other = dataclasses.replace(PULL_REQUEST, number=13)

    async with stage.bench() as bench:
        (explained,) = await explain_live(bench, stage.loaded, other)

    (lost,) = explained.as_json()["unobserved"]
    assert lost["field"] == "checks"
    assert lost["reason"].startswith("unreadable with this token since 2026-11-30: ")
    assert explained.as_json()["words"]["checks"]["word"] == "unreadable"


async def test_a_stored_limit_is_in_the_way_until_its_end(tmp_path):
    stage = make_stage(tmp_path)
    await watch(stage)
    await stage.cycle()
    await block(stage)

    told = await explain(stage)
    stage.clock.advance(3 * 3600)

    assert told["obstacles"] == [
        {
            "kind": "limit of graphql",
            "message": "GitHub forbids calls",
            "until": "2026-11-30T13:00:00.000000Z",
        }
    ]
    assert (await explain(stage))["obstacles"] == []


async def block(stage):
    async with stage.bench() as bench:
        (workspace,) = await bench.list_workspaces()

        async def put(tx):
            found = await connections.find_connection(tx, workspace.id)
            unpaid = dataclasses.replace(found, account="")
            name = f"connection/{unpaid.id}/{unpaid.generation}"
            until = stage.clock.now().replace(hour=13, minute=0)
            await rate_limit.put_block(tx, name, "graphql", until)

        await bench.database.transact(put)


async def test_a_daemon_that_cannot_tell_is_passed_over(tmp_path):
    stage = make_stage(tmp_path)
    await watch(stage)
    await stage.cycle()
    path = tmp_path / "state" / "s"
    with acquire_daemon_lock(path.parent, socket_path=path):
        told = await explain(stage)

    assert told["next_look"] is None
    assert told["words"]["checks"]["word"] == "not_yet_registered"


async def test_a_daemon_tells_what_is_newer_than_the_store(tmp_path):
    stage = make_stage(tmp_path)
    await watch(stage)
    stage.world.set_check(get_pull_request(stage.world), "a")
    await stage.cycle()
    stage.clock.advance(600)
    path = tmp_path / "state" / "s"

    async def answer(arguments):
        return {
            "watch": arguments["watch"],
            "asked_at": "2026-11-30T12:10:55.000000Z",
            "good_at": "2026-11-30T12:10:55.000000Z",
            "due_at": "2026-11-30T12:11:10.000000Z",
            "why": "every 15 s: checks run",
            "stretched": "",
            "obstacles": [
                {
                    "kind": "circuit of the host",
                    "message": "it is down",
                    "until": "2026-11-30T12:12:00.000000Z",
                }
            ],
            "checks_summary": '{"total":3,"pending":2}',
            "mergeable_unknown_since": "2026-11-30T10:00:00.000000Z",
        }

    server = ControlServer(path, {"outlook": answer})
    with acquire_daemon_lock(path.parent, socket_path=path):
        async with anyio.create_task_group() as group:
            await group.start(lambda *, task_status: run(server, task_status))
            told = await explain(stage)
            group.cancel_scope.cancel()

    assert told["words"]["checks"]["text"] == "running 2 of 3, as of 5 s ago"
    assert told["words"]["merge"]["word"] == "unknown"
    assert told["next_look"] == {
        "asked_at": "2026-11-30T12:10:55.000000Z",
        "confirmed_at": "2026-11-30T12:10:55.000000Z",
        "due_at": "2026-11-30T12:11:10.000000Z",
        "why": "every 15 s: checks run",
        "stretched": None,
    }
    assert told["obstacles"] == [
        {
            "kind": "circuit of the host",
            "message": "it is down",
            "until": "2026-11-30T12:12:00.000000Z",
        }
    ]


async def run(server, task_status):
    await server.run(lambda: None, task_status=task_status)
