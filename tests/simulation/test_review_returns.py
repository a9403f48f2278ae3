"""Pull requests that were cleaned away, renamed or made anew: what comes back."""

import contextlib

import pytest

from prwatch.app.cleanup.cleanup import ReviewCleanup
from prwatch.app.review.queue import ReviewQueue
from prwatch.domain.review_watch import (
    RESERVED_FOR,
    ReviewedPullRequest,
    ReviewTask,
)
from prwatch.simulator import World
from prwatch.store import review_tasks
from tests.product import MovedClock
from tests.simulation.test_review_queue import (
    ME,
    MINE,
    TEAMS,
    ask,
    list_tasks,
    numbers,
    open_queue,
    read_watch,
    turn,
)

ALL = 'query = "repo:octo/hello"'
TEAM = "reviewers"


@pytest.fixture
def world():
    world = World(MovedClock())
    world.add_repository("octo/hello")
    world.join_team(TEAM, ME)
    return world


def ask_team(world, one):
    world.request_review(one, TEAM, kind="Team")


def ask_me(world, one):
    world.request_review(one, ME)


def dismiss(world, one):
    world.dismiss_review(one, one.reviews[-1])


def change_mind(world, one):
    world.submit_review(one, ME, "CHANGES_REQUESTED")


def approve(world, one):
    world.submit_review(one, ME)


async def clean(product):
    """Sweep until what is done is gone."""
    cleanup = ReviewCleanup(product.runtime)
    for _ in range(3):
        product.clock.advance(300.0)
        await cleanup.run_once()
    assert list_tasks(product) == []


@pytest.mark.parametrize(
    ("reviews", "end", "begin", "found"),
    [
        pytest.param(MINE, approve, None, [], id="nothing"),
        pytest.param(MINE, approve, ask_me, [1], id="asked again"),
        pytest.param(MINE, approve, dismiss, [1], id="dismissed"),
        pytest.param(MINE, approve, change_mind, [1], id="replaced"),
        pytest.param(MINE, approve, ask_team, [], id="a team, which does not count"),
        pytest.param(TEAMS, approve, ask_team, [1], id="a team asked again"),
        pytest.param(
            MINE,
            lambda world, one: world.close(one),
            lambda world, one: world.reopen(one),
            [1],
            id="reopened",
        ),
        pytest.param(
            MINE, lambda world, one: world.merge(one), ask_me, [], id="merged"
        ),
    ],
)
async def test_what_was_cleaned_comes_back_once_it_is_no_longer_done(
    tmp_path, world, reviews, end, begin, found
):
    one = ask(world, 1)
    async with open_queue(tmp_path, world, reviews=f"{reviews}\n{ALL}") as product:
        queue = ReviewQueue(product.runtime)
        await turn(product, queue)
        product.clock.advance(1.0)
        end(world, one)
        await clean(product)
        product.take_events()
        product.notices.clear()
        if begin is not None:
            product.clock.advance(1.0)
            begin(world, one)
        told = [*(await turn(product, queue))[1], *(await turn(product, queue))[1]]
        asked = [each for each in told if each["type"] == "GitHubPRReviewRequested"]

    assert numbers(asked) == found
    assert all(each["data"]["backlog"] is False for each in asked)


@pytest.mark.parametrize(
    ("reviews", "found"), [(MINE, []), (TEAMS, [1])], ids=["person", "teams"]
)
async def test_a_team_that_asks_after_my_approval_asks_again(
    tmp_path, world, reviews, found
):
    one = ask(world, 1)
    world.submit_review(one, ME)
    world.clock.advance(1.0)
    ask_team(world, one)
    async with open_queue(tmp_path, world, reviews=f"{reviews}\n{ALL}") as product:
        _, told = await turn(product)

    assert numbers(told) == found


async def test_a_server_that_knows_no_timeline_is_searched_all_the_same(
    tmp_path, world
):
    world.remove_field("PullRequest", "timelineItems")
    ask(world, 1, TEAM, kind="Team")
    async with open_queue(tmp_path, world, reviews=TEAMS) as product:
        queue = ReviewQueue(product.runtime)
        _, told = await turn(product, queue)
        second, late = await turn(product, queue)

    assert numbers(told + late) == [1]
    assert [each.error for each in second.outcomes.values()] == [None]


async def test_a_team_that_asked_before_my_approval_does_not_ask_again(tmp_path, world):
    one = ask(world, 1)
    world.join_team("others", "bob")
    world.request_review(one, "others", kind="Team")
    world.clock.advance(1.0)
    world.submit_review(one, ME)
    async with open_queue(tmp_path, world, reviews=f"{TEAMS}\n{ALL}") as product:
        report, told = await turn(product)

    assert told == []
    assert [each.ended for each in report.outcomes.values()] == [1]


async def test_what_a_team_asks_again_is_not_cleaned_away(tmp_path, world):
    one = ask(world, 1)
    async with open_queue(tmp_path, world, reviews=TEAMS) as product:
        queue, cleanup = ReviewQueue(product.runtime), ReviewCleanup(product.runtime)
        await turn(product, queue)
        world.submit_review(one, ME)
        product.clock.advance(1.0)
        ask_team(world, one)
        told = []
        for _ in range(4):
            await cleanup.run_once()
            told += (await turn(product, queue))[1]

        assert len(list_tasks(product)) == 1
    assert told == []


async def test_a_pull_request_of_a_renamed_repository_keeps_its_task(tmp_path, world):
    ask(world, 1)
    async with open_queue(tmp_path, world) as product:
        await turn(product)
    world.rename_repository("octo/hello", "octo/hello-again")
    async with open_queue(tmp_path, world, reviews=f"{MINE}\n{TEAMS}") as product:
        report, told = await turn(product)
        tasks = product.ask("SELECT external_id FROM tasks")

    assert (told, report.outcomes["acme", "teams"].joined) == ([], 1)
    assert tasks == [{"external_id": "review:octo/hello#1"}]


async def test_one_of_a_repository_that_was_made_anew_gets_a_task_of_its_own(
    tmp_path, world
):
    ask(world, 1)
    async with open_queue(tmp_path, world) as product:
        queue = ReviewQueue(product.runtime)
        _, first = await turn(product, queue)
        world.delete_repository("octo/hello")
        world.add_repository("octo/hello")
        ask(world, 1)
        _, second = await turn(product, queue)
        _, third = await turn(product, queue)

    names = [each["data"]["task_id"] for each in first + second]
    assert names == ["review:octo/hello#1", "review:octo/hello#1~2"]
    assert third == []


async def leave_reservation(product, one, reserved_at):
    """Reserve as somebody did who is gone."""
    watch = await read_watch(product)
    row = ReviewTask(
        id="left",
        workspace_id=watch.workspace_id,
        review_watch_id=watch.id,
        policy=watch.settings.policy,
        pull_request=ReviewedPullRequest(
            owner="octo", name="hello", number=1, node_id=one.id
        ),
        reserved_at=reserved_at,
        reserved_by="gone",
        created_at=reserved_at,
    )
    await product.runtime.database.transact(
        lambda tx: review_tasks.add_review_task(tx, row)
    )


async def test_what_waited_at_the_first_search_is_backlog_also_after_a_crash(
    tmp_path, world
):
    one = ask(world, 1)
    async with open_queue(tmp_path, world) as product:
        await leave_reservation(product, one, product.clock.now())
        report, none = await turn(product)
        _, told = await turn(product, gap=RESERVED_FOR.total_seconds())
        ask(world, 2)
        _, later = await turn(product)

    assert (none, [each.left for each in report.outcomes.values()]) == ([], [1])
    assert [e["data"]["backlog"] for e in told + later] == [True, False]


async def test_a_reservation_from_before_a_clock_was_set_back_is_taken_over(
    tmp_path, world
):
    one = ask(world, 1)
    async with open_queue(tmp_path, world) as product:
        await leave_reservation(product, one, product.clock.now() + 6 * RESERVED_FOR)
        _, told = await turn(product)

    assert numbers(told) == [1]


async def test_a_task_that_somebody_makes_in_this_instant_is_joined(tmp_path, world):
    ask(world, 1)
    async with open_queue(tmp_path, world) as product:
        racing = RacingDatabase(product)
        product.runtime.database, whole = racing, product.runtime.database
        report, told = await turn(product)
        product.runtime.database = whole

    assert (told, racing.count) == ([], 2)
    assert [each.joined for each in report.outcomes.values()] == [1]


class RacingDatabase:
    """Lets somebody else make the task just when it would be added."""

    def __init__(self, product):
        self._product = product
        self._database = product.runtime.database
        self.count = 0

    def __getattr__(self, name):
        return getattr(self._database, name)

    async def transact(self, fn):
        if not fn.__qualname__.startswith("_create"):
            return await self._database.transact(fn)
        self.count += 1
        if self.count == 1:
            # On an engine with many writers it is seen only after the wait for it.
            with contextlib.closing(self._product.connect()) as connection:
                connection.execute(
                    "CREATE TRIGGER race BEFORE INSERT ON tasks WHEN"
                    " (SELECT count(*) FROM tasks) = 0"
                    " BEGIN SELECT RAISE(IGNORE); END"
                )
        else:
            self._make()
        return await self._database.transact(fn)

    def _make(self):
        with contextlib.closing(self._product.connect()) as connection:
            connection.execute("DROP TRIGGER race")
            connection.execute(
                "INSERT INTO tasks (id, workspace_id, external_id, origin, title,"
                " created_at, waits_for)"
                " SELECT 't', id, 'review:octo/hello#1', 'review', '', 0, ''"
                " FROM workspaces"
            )
