"""What a branch does when its pull requests end: nothing that ended is passed over."""

import pytest

from prwatch.simulator import World
from tests.product import BRANCH, MovedClock, list_changes, open_product


@pytest.fixture
def world():
    made = World(MovedClock())
    made.add_repository("octo/hello")
    return made


def begin(world, number, **values):
    return world.open_pull_request(
        "octo/hello", branch="fix-greeting", number=number, **values
    )


def list_rows(product):
    return product.ask(
        "SELECT branch, pr_number, searching_since FROM pr_watches ORDER BY id"
    )


def to_microseconds(moment):
    return round(moment.timestamp() * 1_000_000)


async def test_all_that_came_and_went_while_nobody_looked_is_told_in_order(
    tmp_path, world
):
    async with open_product(tmp_path, world, watches=(BRANCH,)) as product:
        await product.cycle()
        for number, end in ((3, world.close), (4, world.merge), (5, world.close)):
            world.clock.advance(30)
            end(begin(world, number))

        told = await product.cycles(4)

    assert list_changes(told) == [
        (("associated", None, 3), ("state", None, "CLOSED")),
        (("associated", None, 4), ("state", None, "MERGED")),
        (("associated", None, 5), ("state", None, "CLOSED")),
    ]


async def test_two_that_end_in_one_cycle_leave_one_row_that_searches_since_then(
    tmp_path, world
):
    async with open_product(tmp_path, world, watches=(BRANCH,)) as product:
        first = begin(world, 3)
        second = begin(world, 4, base="release")
        await product.cycles(2)
        world.merge(first)
        world.merge(second)

        await product.cycle()

        assert list_rows(product) == [
            {
                "branch": "fix-greeting",
                "pr_number": 0,
                "searching_since": to_microseconds(second.merged_at),
            }
        ]


async def test_what_came_and_went_just_after_two_had_ended_is_told(tmp_path, world):
    async with open_product(tmp_path, world, watches=(BRANCH,)) as product:
        first = begin(world, 3)
        second = begin(world, 4, base="release")
        await product.cycles(2)
        world.merge(first)
        world.merge(second)
        await product.cycle()
        world.clock.advance(5)
        world.close(begin(world, 5))

        told = await product.cycles(2)

    assert list_changes(told) == [(("associated", None, 5), ("state", None, "CLOSED"))]


async def test_nobody_searches_while_another_of_the_branch_is_open(tmp_path, world):
    async with open_product(tmp_path, world, watches=(BRANCH,)) as product:
        first = begin(world, 3)
        begin(world, 4, base="release")
        await product.cycles(2)
        world.merge(first)

        await product.cycles(2)

        assert list_rows(product) == [
            {"branch": "fix-greeting", "pr_number": 4, "searching_since": None}
        ]


async def test_a_branch_of_that_name_elsewhere_is_no_sign_of_life(tmp_path, world):
    world.add_repository("ada/hello", fork_of="octo/hello")
    theirs = begin(world, 3)
    forked = world.open_pull_request("ada/hello", branch="fix-greeting", number=1)
    world.close(forked)
    watch = f'{BRANCH}\nhead = "ada/hello"'
    query = "SELECT branch_head_oid FROM pr_watches"
    async with open_product(tmp_path, world, watches=(watch,)) as product:
        await product.cycles(2)
        world.push(theirs)

        await product.cycle()

        assert product.ask(query) == [{"branch_head_oid": forked.head.oid}]
        assert product.report.rows_written == 0
