"""Review tasks of removed watches: shown, kept or let go, and a person's at last."""

import pytest

from prwatch.app.command.review.cleanup import clean_reviews
from prwatch.app.command.review.commands import add_review, poll_reviews, remove_review
from prwatch.app.command.review.listing import list_reviews
from prwatch.app.command.review.removed import list_left, put_policy, release_task
from prwatch.app.command.task_edit import get_task
from prwatch.domain.review_watch import CleanupPolicy, ReviewSettings
from prwatch.domain.task import Origin
from prwatch.errors import ConfigError, NotFound
from prwatch.store.query import Query
from tests.benches import ONE, get_pull_request, make_stage

TASK = "review:octo/hello#12"


@pytest.fixture
def stage(tmp_path):
    stage = make_stage(tmp_path)
    stage.world.request_review(get_pull_request(stage.world), "octocat")
    return stage


async def leave(stage, bench, policy=CleanupPolicy.NEVER, workspace="", name="mine"):
    settings = ReviewSettings(policy=policy)
    await add_review(bench, name, settings, workspace=workspace)
    await poll_reviews(bench, stage.loaded, name, workspace=workspace)
    await remove_review(bench, name, workspace=workspace)


async def count_gone(stage, bench, sweeps=3):
    one = get_pull_request(stage.world)
    if one.state == "OPEN":
        stage.world.merge(one)
    gone = 0
    for _ in range(sweeps):
        stage.clock.advance(301)
        gone += (await clean_reviews(bench, stage.loaded)).deleted
    return gone


async def test_what_a_removed_watch_left_is_shown_with_what_keeps_it(stage):
    async with stage.bench() as bench:
        nothing = await list_left(bench)
        await leave(stage, bench)
        (left,) = await list_left(bench)
        rows = await list_reviews(bench)
        with pytest.raises(NotFound):
            await list_left(bench, workspace="nowhere")

    (one,) = left.tasks
    assert (nothing, rows) == ([], [])
    assert (left.workspace, one.task.id, one.policy) == (
        "acme",
        TASK,
        CleanupPolicy.NEVER,
    )
    assert one.as_json()["kept"] == "policy_never"
    assert left.as_json()["tasks"] == [one.as_json()]


@pytest.mark.parametrize("policy", [CleanupPolicy.AUTO, CleanupPolicy.ALWAYS])
async def test_a_person_lets_go_of_what_never_would_go(stage, policy):
    async with stage.bench() as bench:
        await leave(stage, bench)
        assert await count_gone(stage, bench) == 0
        put = await put_policy(bench, TASK, policy)
        gone = await count_gone(stage, bench)
        (left,) = await list_left(bench)

    assert (put.policy, put.task.kept, gone) == (policy, "", 1)
    assert left.tasks == ()
    assert [(each.action.value, each.external_id) for each in left.audit] == [
        ("deleted", TASK)
    ]


async def test_a_person_keeps_what_would_go(stage):
    async with stage.bench() as bench:
        await leave(stage, bench, CleanupPolicy.ALWAYS)
        await put_policy(bench, TASK, CleanupPolicy.NEVER)

        assert await count_gone(stage, bench) == 0


async def test_a_watch_that_is_there_says_what_it_says(stage):
    async with stage.bench() as bench:
        await leave(stage, bench)
        settings = ReviewSettings(policy=CleanupPolicy.NEVER)
        await add_review(bench, "other", settings)
        await poll_reviews(bench, stage.loaded)
        put = await put_policy(bench, TASK, CleanupPolicy.ALWAYS)

        assert (put.policy, put.task.kept) == (CleanupPolicy.ALWAYS, "policy_never")
        assert await count_gone(stage, bench) == 0


@pytest.mark.parametrize("policy", list(CleanupPolicy))
async def test_a_task_that_is_released_is_the_persons_and_stays(stage, policy):
    async with stage.bench() as bench:
        await leave(stage, bench, policy)
        assert await release_task(bench, TASK) == "acme"
        task = (await get_task(bench, TASK)).task
        (left,) = await list_left(bench)
        gone = await count_gone(stage, bench)

    (entry,) = left.audit
    assert (task.origin, left.tasks, gone) == (Origin.COMMAND, (), 0)
    assert (entry.action.value, entry.reason, entry.acted_by.value) == (
        "released",
        "asked_for",
        "person",
    )


async def test_only_what_was_left_is_decided_about(stage):
    async with stage.bench() as bench:
        await add_review(bench, "mine", ReviewSettings())
        await poll_reviews(bench, stage.loaded)

        for decide in (put_policy, release_task):
            more = (CleanupPolicy.NEVER,) if decide is put_policy else ()
            for name in (TASK, "nothing"):
                with pytest.raises(NotFound, match="no removed review watch left"):
                    await decide(bench, name, *more)


async def test_a_row_that_cannot_be_understood_is_counted(stage):
    async with stage.bench() as bench:
        await leave(stage, bench)
        await add_review(bench, "other", ReviewSettings(policy=CleanupPolicy.AUTO))
        await poll_reviews(bench, stage.loaded)
        await remove_review(bench, "other")
        (row,) = (await list_left(bench))[0].tasks
        statement = Query("break", "UPDATE review_tasks SET terminal_evidence = '['")
        await bench.database.transact(lambda tx: tx.execute(statement))
        (broken,) = await list_left(bench)

    assert row.policy is CleanupPolicy.NEVER
    assert (broken.tasks, broken.unreadable) == ((), 1)


async def test_the_workspace_is_chosen_where_several_could_be_meant(tmp_path):
    two = '[[workspace]]\nname = "two"\ntoken_env = "ACME_TOKEN"'
    stage = make_stage(tmp_path, f"{ONE}\n{two}")
    stage.world.request_review(get_pull_request(stage.world), "octocat")
    async with stage.bench() as bench:
        for workspace in ("acme", "two"):
            await leave(stage, bench, workspace=workspace)

        with pytest.raises(ConfigError, match="--workspace: acme, two"):
            await release_task(bench, TASK)
        assert await release_task(bench, TASK, workspace="two") == "two"
        assert [each.workspace for each in await list_left(bench) if each.tasks] == [
            "acme"
        ]
