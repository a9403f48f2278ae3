"""What cleaning up costs: a point for each hundred open pull requests, and no write."""

import contextlib

import pytest

from prwatch.app.cleanup.cleanup import ReviewCleanup
from prwatch.domain.reference import Usage
from prwatch.simulator import World
from tests.cleanup import sweep, verdicts
from tests.product import MovedClock, open_product

WORKSPACES, EACH = 20, 500
POINTS = WORKSPACES * EACH // 100


@pytest.fixture
def world():
    world = World(MovedClock())
    for place in range(WORKSPACES):
        name = f"octo/r{place}"
        world.add_repository(name)
        world.set_token(f"t{place}", login="octocat")
        for number in range(1, EACH + 1):
            world.open_pull_request(name, branch=f"b{number}", number=number)
    return world


def configure(place):
    review = '[[workspace.review]]\nname = "mine"'
    return f'[[workspace]]\nname = "w{place}"\ntoken_env = "T{place}"\n{review}'


def fill(product, world):
    """Store a review task of each pull request, as a queue would."""
    ids = {f"w{n}": f"octo/r{n}" for n in range(WORKSPACES)}
    found = {}
    for one in world.pull_requests.values():
        found.setdefault(one.repository.name_with_owner, []).append(one)
    watches = product.ask(
        "SELECT r.id, r.workspace_id, w.name FROM review_watches AS r"
        " JOIN workspaces AS w ON w.id = r.workspace_id"
    )
    with contextlib.closing(product.connect()) as rows:
        rows.execute("BEGIN")
        for watch in watches:
            name = ids[watch["name"]]
            for one in found[name]:
                owner, _, short = name.partition("/")
                rows.execute(
                    "INSERT INTO tasks VALUES (?, ?, ?, 'review', '', NULL, NULL, '', 1)",
                    (
                        f"t{one.id}",
                        watch["workspace_id"],
                        f"review:{name}#{one.number}",
                    ),
                )
                rows.execute(
                    "INSERT INTO review_tasks VALUES"
                    " (?, ?, ?, 'auto', '', 'user', ?, ?, '', ?, ?, ?, 1, '', NULL, '{}',"
                    " 1)",
                    (
                        f"r{one.id}",
                        watch["workspace_id"],
                        watch["id"],
                        owner,
                        short,
                        one.number,
                        one.id,
                        f"t{one.id}",
                    ),
                )
        rows.execute("COMMIT")


def total(product):
    found = Usage()
    for account in product.runtime.wired.accounts:
        usage = account.github.usage
        found = Usage(
            graphql=found.graphql + usage.graphql,
            rest=found.rest + usage.rest,
            points=found.points + usage.points,
        )
    return found


async def test_ten_thousand_rows_cost_a_hundred_points_and_write_nothing(
    tmp_path, world
):
    tasks = "\n".join(configure(place) for place in range(WORKSPACES))
    secrets = {f"T{place}": f"t{place}" for place in range(WORKSPACES)}
    async with open_product(
        tmp_path, world, watches=(), tasks=tasks, secrets=secrets
    ) as product:
        fill(product, world)
        cleanup = ReviewCleanup(product.runtime)
        first = await sweep(product, cleanup)
        learnt = total(product)
        written = product.runtime.database.rows_written
        with product.refused_writes():
            second = await sweep(product, cleanup)
        used = total(product)

        assert verdicts(first) == verdicts(second) == {"open": WORKSPACES * EACH}
        # A token that nobody knew yet is asked once whose it is.
        assert learnt.points == POINTS + WORKSPACES
        assert used.points - learnt.points == POINTS
        assert used.graphql - learnt.graphql == POINTS
        assert used.rest == 0
        assert product.runtime.database.rows_written == written
