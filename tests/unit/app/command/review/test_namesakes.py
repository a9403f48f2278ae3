"""A person's task that was a review task: only its own pull request joins it."""

import pytest

from prwatch.app.command.review.cleanup import clean_reviews
from prwatch.app.command.review.commands import add_review, poll_reviews, remove_review
from prwatch.app.command.review.removed import release_task
from prwatch.app.command.review.restore import restore_review
from prwatch.domain.review_watch import ReviewSettings
from prwatch.domain.task import Origin
from prwatch.store import tasks
from tests.benches import get_pull_request, make_stage

TASK = "review:octo/hello#12"


@pytest.fixture
def stage(tmp_path):
    stage = make_stage(tmp_path)
    stage.world.request_review(get_pull_request(stage.world), "octocat")
    return stage


async def release(stage, bench):
    await remove_review(bench, "mine")
    await release_task(bench, TASK)
    await add_review(bench, "mine", ReviewSettings())


async def restore(stage, bench):
    one = get_pull_request(stage.world)
    stage.world.close(one)
    for _ in range(3):
        stage.clock.advance(301)
        await clean_reviews(bench, stage.loaded)
    await restore_review(bench, TASK)
    stage.world.reopen(one)


async def adopt(stage, bench):
    """Let the task be a person's, as naming it by hand does; the row stays."""
    workspace = await bench.get_workspace("")

    async def write(tx):
        task = await tasks.find_task(tx, workspace.id, TASK)
        await tasks.put_task_origin(tx, task.id, Origin.COMMAND)

    await bench.database.transact(write)


async def search(stage, bench):
    stage.clock.advance(600)
    (watch,) = (await poll_reviews(bench, stage.loaded)).watches
    workspace = await bench.get_workspace("")
    found = await bench.database.read(lambda tx: tasks.list_tasks(tx, workspace.id))
    names = {each.external_id for each in found}
    return watch, sorted(name for name in names if name.startswith("review:"))


def make_anew(world):
    """Remove the repository, and make it and its pull request 12 anew."""
    world.delete_repository("octo/hello")
    world.add_repository("octo/hello")
    one = world.open_pull_request(
        "octo/hello", branch="new", title="Another one", number=12
    )
    world.request_review(one, "octocat")


@pytest.mark.parametrize("act", [release, restore, adopt])
async def test_a_namesake_gets_a_task_of_its_own(stage, act):
    async with stage.bench() as bench:
        await add_review(bench, "mine", ReviewSettings())
        await poll_reviews(bench, stage.loaded)
        await act(stage, bench)
        make_anew(stage.world)
        watch, names = await search(stage, bench)
        again, _ = await search(stage, bench)

    assert (watch["created"], watch["joined"]) == (1, 0)
    assert names == [TASK, f"{TASK}~2"]
    assert (again["created"], again["joined"]) == (0, 0)
    assert b"Another one" in stage.surroundings.stdout.getvalue()


@pytest.mark.parametrize("act", [release, restore, adopt])
async def test_the_same_pull_request_joins_it(stage, act):
    async with stage.bench() as bench:
        await add_review(bench, "mine", ReviewSettings())
        await poll_reviews(bench, stage.loaded)
        await act(stage, bench)
        watch, names = await search(stage, bench)

    assert (watch["created"], names) == (0, [TASK])
