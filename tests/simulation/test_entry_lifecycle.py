"""Entries that come and go over restarts: what is watched, and what is told of it."""

import pytest

from prwatch.simulator import World
from tests.product import ALL, MovedClock, list_changes, open_product

NAMED = 'repository = "octo/hello"\npull_request = 3'


@pytest.fixture
def world():
    made = World(MovedClock())
    made.add_repository("octo/hello")
    return made


def list_tasks(product):
    rows = product.ask(
        "SELECT external_id, origin, archived_at IS NULL AS is_active FROM tasks"
        " ORDER BY external_id"
    )
    return [tuple(row.values()) for row in rows]


async def run(state_dir, world, *, cycles=2, **config):
    """Start with a configuration; return what was told and the tasks at the end."""
    async with open_product(state_dir, world, **config) as product:
        told = await product.cycles(cycles)
        return list_changes(told), list_tasks(product)


async def test_a_task_that_falls_back_to_adoption_is_an_adopted_one_again(
    tmp_path, world
):
    pull_request = world.open_pull_request("octo/hello", branch="fix", number=3)
    await run(tmp_path, world, watches=(ALL,))
    await run(tmp_path, world, watches=(ALL, NAMED))

    starts = [await run(tmp_path, world, watches=(ALL,)) for _ in range(3)]

    adopted = [("octo/hello#3", "adopted", 1)]
    assert starts == [
        ([(("associated", None, 3),)], adopted),
        ([], adopted),
        ([], adopted),
    ]

    world.merge(pull_request)
    assert await run(tmp_path, world, watches=(ALL,)) == (
        [(("state", "OPEN", "MERGED"),)],
        [("octo/hello#3", "adopted", 0)],
    )
