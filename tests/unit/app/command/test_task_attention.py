"""What people say of tasks, also of one that goes in that instant."""

import dataclasses

import pytest

from prwatch.app.command.references import NamedPullRequest
from prwatch.app.command.review.commands import add_review, poll_reviews
from prwatch.app.command.task_attention import note_person, wait_for
from prwatch.app.command.task_commands import (
    archive_task,
    detach_pull_request,
    end_session,
    link_pull_request,
    start_session,
    unarchive_task,
)
from prwatch.app.command.task_listing import list_tasks as list_rows
from prwatch.domain.review_watch import ReviewSettings
from prwatch.errors import StoreConflict, TaskNotFound
from prwatch.store.task_removal import remove_task
from prwatch.store.tasks import list_tasks
from tests.benches import get_pull_request, make_stage

TASK = "review:octo/hello#12"
OTHER = NamedPullRequest(owner="octo", name="hello", number=13)
PR = NamedPullRequest(owner="octo", name="hello", number=12)


@pytest.fixture
def stage(tmp_path):
    stage = make_stage(tmp_path)
    stage.world.request_review(get_pull_request(stage.world), "octocat")
    return stage


class Meanwhile:
    """A database in which somebody else cleans tasks up before each write."""

    def __init__(self, database, workspace_id):
        self._database = database
        self._workspace_id = workspace_id

    def __getattr__(self, name):
        return getattr(self._database, name)

    async def transact(self, work):
        async def clean(tx):
            for task in await list_tasks(tx, self._workspace_id, include_archived=True):
                await remove_task(tx, task.id)

        await self._database.transact(clean)
        return await self._database.transact(work)


async def race(stage, bench):
    """Find a review, and return a bench whose tasks all go before it writes."""
    await add_review(bench, "mine", ReviewSettings())
    await poll_reviews(bench, stage.loaded)
    await start_session(bench, TASK, "S-1")
    await link_pull_request(bench, TASK, PR)
    (workspace,) = await bench.list_workspaces()
    return dataclasses.replace(bench, database=Meanwhile(bench.database, workspace.id))


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda bench: note_person(bench, TASK), id="note"),
        pytest.param(lambda bench: wait_for(bench, TASK, "an answer"), id="wait"),
        pytest.param(lambda bench: wait_for(bench, TASK, ""), id="resume"),
        pytest.param(lambda bench: archive_task(bench, TASK), id="archive"),
        pytest.param(lambda bench: unarchive_task(bench, TASK), id="unarchive"),
        pytest.param(lambda bench: end_session(bench, TASK, "S-1"), id="session end"),
        pytest.param(lambda bench: detach_pull_request(bench, TASK, PR), id="detach"),
    ],
)
async def test_a_task_that_goes_meanwhile_is_told_as_gone(stage, change):
    async with stage.bench() as bench:
        raced = await race(stage, bench)
        with pytest.raises(TaskNotFound, match="went meanwhile"):
            await change(raced)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda bench: start_session(bench, TASK, "S-2"), id="session"),
        pytest.param(lambda bench: link_pull_request(bench, TASK, OTHER), id="link"),
    ],
)
async def test_nothing_is_hung_on_a_task_that_goes_meanwhile(stage, change):
    async with stage.bench() as bench:
        raced = await race(stage, bench)
        with pytest.raises(StoreConflict):
            await change(raced)
        assert await list_rows(bench, is_all=True) == ()


async def test_words_that_are_no_older_are_told_apart_from_a_task_that_is_gone(stage):
    async with stage.bench() as bench:
        await add_review(bench, "mine", ReviewSettings())
        await poll_reviews(bench, stage.loaded)
        noted = [await note_person(bench, TASK) for _ in range(2)]
        stage.clock.advance(-60)
        noted.append(await note_person(bench, TASK))

    assert noted == [True, False, False]
