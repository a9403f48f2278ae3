"""Whose approvals and whose requests count, beside others and once a watch is removed."""

import contextlib
import dataclasses

import pytest

from prwatch.app.cleanup.cleanup import ReviewCleanup
from prwatch.app.cleanup.removal import CHUNK
from prwatch.app.review.leaving import remove_watch
from prwatch.simulator import World
from prwatch.store import review_watches
from tests.cleanup import ME, MINE, ask, open_found, rows, sweep, sweeps, tasks, write
from tests.product import MovedClock

TEAM = "reviewers"
TEAMS = f'{MINE}\nscope = "user_and_teams"'
BOTH = """
[[workspace.review]]
name = "mine"
repositories = ["octo/hello"]
[[workspace.review]]
name = "teams"
repositories = ["octo/other"]
scope = "user_and_teams"
"""


@pytest.fixture
def world():
    world = World(MovedClock())
    world.add_repository("octo/hello")
    world.add_repository("octo/other")
    world.join_team(TEAM, ME)
    return world


def ask_team_after_approval(world, one):
    world.submit_review(one, ME)
    world.clock.advance(1.0)
    world.request_review(one, TEAM, kind="Team")


async def remove_watches(product):
    (workspace,) = product.runtime.wired.workspaces.values()

    async def read(tx):
        return await review_watches.list_review_watches(tx, workspace.id)

    for watch in await product.runtime.database.read(read):
        await remove_watch(product.runtime.database, watch)


@pytest.mark.parametrize(("who", "gone"), [(ME, 0), ("hubot", 1)])
async def test_an_edited_login_counts_once_its_watch_is_removed_too(
    tmp_path, world, who, gone
):
    one = ask(world)
    async with open_found(tmp_path, world) as (product, cleanup):
        write(
            product,
            "UPDATE review_watches SET target_login = 'hubot', revision = revision + 1",
        )
        world.submit_review(one, who)
        kept = await sweep(product, cleanup)
        await remove_watches(product)

        assert kept.deleted == 0
        assert await sweeps(product, cleanup) == gone


@pytest.mark.parametrize("is_watched", [True, False], ids=["watched", "left"])
@pytest.mark.parametrize(("reviews", "gone"), [(MINE, 1), (TEAMS, 0)])
async def test_what_a_team_asks_for_counts_by_the_scope_also_of_a_removed_watch(
    tmp_path, world, reviews, gone, is_watched
):
    one = ask(world)
    async with open_found(tmp_path, world, reviews=reviews) as (product, cleanup):
        ask_team_after_approval(world, one)
        if not is_watched:
            await remove_watches(product)

        assert await sweeps(product, cleanup) == gone


async def test_what_shares_a_request_says_nothing_of_whose_requests_count(
    tmp_path, world
):
    ones = [ask(world), ask(world, 2, repository="octo/other")]
    async with open_found(tmp_path, world, reviews=BOTH) as (product, cleanup):
        found = len(tasks(product))
        for one in ones:
            ask_team_after_approval(world, one)
        gone = await sweeps(product, cleanup)

        assert (found, gone) == (2, 1)
        assert tasks(product) == ["review:octo/other#2"]


async def test_a_task_comes_back_with_what_its_watch_had(tmp_path, world):
    one = ask(world)
    async with open_found(tmp_path, world, reviews=TEAMS) as (product, cleanup):
        write(
            product,
            "UPDATE review_watches SET target_login = 'hubot', revision = revision + 1",
        )
        world.merge(one)
        await sweeps(product, cleanup)
        (kept,) = product.ask(
            "SELECT snapshot -> '$.reviews[0].target_login' AS login,"
            " snapshot -> '$.reviews[0].scope' AS scope FROM review_audit"
        )

        assert rows(product) == []
    assert kept == {"login": '"hubot"', "scope": '"user_and_teams"'}


class Counting:
    """Notes how many rows each transaction writes."""

    def __init__(self, database):
        self.counts = []
        self._database = database

    def __getattr__(self, name):
        return getattr(self._database, name)

    async def transact(self, fn):
        before = self._database.rows_written
        result = await self._database.transact(fn)
        self.counts.append(self._database.rows_written - before)
        return result


async def test_what_is_seen_of_what_many_watches_know_is_noted_a_part_at_a_time(
    tmp_path, world
):
    names = "abcdef"
    count = CHUNK // len(names) + 1
    ones = [ask(world, number) for number in range(1, count + 1)]
    reviews = "\n".join(f'[[workspace.review]]\nname = "{each}"' for each in names)
    async with open_found(tmp_path, world, reviews=reviews) as (product, _):
        counting = Counting(product.runtime.database)
        cleanup = ReviewCleanup(dataclasses.replace(product.runtime, database=counting))
        for one in ones:
            world.merge(one)
        first = await sweep(product, cleanup)
        noted = list(counting.counts)
        gone = await sweeps(product, cleanup)

    assert dict(first.verdicts) == {"seen_done": count}
    assert (sum(noted), max(noted)) == (count * len(names), CHUNK)
    assert gone == count


async def test_what_can_no_longer_be_undone_is_forgotten_a_part_at_a_time(
    tmp_path, world
):
    count = 2 * CHUNK + 1
    async with open_found(tmp_path, world) as (product, _):
        with contextlib.closing(product.connect()) as connection:
            connection.execute(
                "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n"
                f" WHERE x < {count}) INSERT INTO review_audit SELECT 'a' || x, 'w',"
                " 'v', 'octo', 'hello', x, 'PR_' || x, 'review:octo/hello#' || x,"
                " 'deleted', 'pr_merged_or_closed', '{}', ?, 'schedule',"
                " '{\"task\": {}}', 1 FROM n",
                (int(product.clock.now().timestamp() * 1e6),),
            )
            connection.commit()
        counting = Counting(product.runtime.database)
        cleanup = ReviewCleanup(dataclasses.replace(product.runtime, database=counting))
        await cleanup.run_once()
        left = product.ask("SELECT * FROM review_audit WHERE undo_until IS NOT NULL")

    assert left == []
    assert (sum(counting.counts), max(counting.counts)) == (count, CHUNK)
