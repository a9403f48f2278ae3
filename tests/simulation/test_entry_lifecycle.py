"""Entries that come and go over restarts: what is watched, and what is told of it."""

import pytest

from prwatch.simulator import World
from tests.checkouts import make_checkout
from tests.product import ALL, MovedClock, list_changes, open_product

OWN = 'author = "@me"'
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


async def test_without_folders_to_search_the_tasks_of_worktrees_end(tmp_path, world):
    remotes = {"origin": "https://github.com/octo/hello.git"}
    folder = make_checkout(tmp_path / "src" / "hello", remotes=remotes)
    world.open_pull_request("octo/hello", branch="fix", number=3)
    searched = f'[[checkout]]\nroots = ["{folder.parent}"]'
    told = [(("associated", None, 3),)]
    name = "worktree:~/src/hello"

    starts = [
        await run(tmp_path, world, watches=(), tasks=tasks)
        for tasks in (searched, "", searched)
    ]

    assert starts == [
        (told, [(name, "worktree", 1)]),
        ([], [(name, "worktree", 0)]),
        (told, [(name, "worktree", 1)]),
    ]


async def test_adoptions_that_only_a_wider_entry_asked_for_end_with_it(tmp_path, world):
    world.open_pull_request("octo/hello", branch="ours", number=3, author="octocat")
    world.open_pull_request("octo/hello", branch="theirs", number=4, author="ada")
    both, _ = await run(tmp_path, world, watches=(ALL, OWN))

    after = await run(tmp_path, world, watches=(OWN,))

    assert both == [(("associated", None, 3),), (("associated", None, 4),)]
    assert after == (
        [],
        [("octo/hello#3", "adopted", 1), ("octo/hello#4", "adopted", 0)],
    )


async def test_two_entries_that_adopt_one_pull_request_read_it_once(tmp_path, world):
    world.open_pull_request("octo/hello", branch="ours", number=3, author="octocat")

    async with open_product(tmp_path, world, watches=(ALL, OWN)) as product:
        await product.cycle()

    assert (product.report.details, product.report.rejected_commits) == (1, 0)


async def test_an_archived_repository_is_told_though_another_row_noticed_first(
    tmp_path, world
):
    world.open_pull_request("octo/hello", branch="fix", number=3)
    branches = [f'repository = "octo/hello"\nbranch = "{b}"' for b in ("fix", "next")]
    async with open_product(tmp_path, world, watches=branches) as product:
        await product.cycles(2, is_forced=False)
        world.archive_repository("octo/hello")

        told = await product.cycles(2, is_forced=False)
        await product.cycle(is_forced=False)

    assert list_changes(told) == [(("archived", False, True),)]
    assert product.report.skipped == {"archived": 2}
