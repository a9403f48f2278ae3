"""What cleaning up costs where workspaces differ in size, and watches in whose they are."""

import contextlib
import itertools
import math

import pytest

from prwatch.app.cleanup.cleanup import ReviewCleanup
from prwatch.simulator import World
from tests.cleanup import sweep, verdicts
from tests.product import MovedClock, open_product

# Of each workspace how many review tasks count octocat, ada and bob.
SHARES = (
    {"": 1, "ada": 0, "bob": 0},
    {"": 99, "ada": 1, "bob": 100},
    {"": 100, "ada": 101, "bob": 0},
    {"": 201, "ada": 299, "bob": 7},
    {"": 0, "ada": 300, "bob": 301},
)
POINTS = sum(math.ceil(count / 100) for share in SHARES for count in share.values())
WHO_AM_I = sum(1 for share in SHARES if share[""])


@pytest.fixture
def world():
    world = World(MovedClock())
    for place, share in enumerate(SHARES):
        world.add_repository(f"octo/r{place}")
        world.set_token(f"t{place}", login="octocat")
        for number in range(1, sum(share.values()) + 1):
            world.open_pull_request(
                f"octo/r{place}", branch=f"b{number}", number=number
            )
    return world


def configure(place):
    reviews = "".join(
        f'\n[[workspace.review]]\nname = "of-{login or "me"}"\ntarget_login = "{login}"'
        for login in SHARES[place]
        if login
    )
    mine = '\n[[workspace.review]]\nname = "of-me"'
    return f'[[workspace]]\nname = "w{place}"\ntoken_env = "T{place}"{mine}{reviews}'


def fill(product, world):
    """Store a review task of each pull request, as a queue would; logins take turns."""
    watches = {
        (row["workspace"], row["name"]): row
        for row in product.ask(
            "SELECT r.*, w.name AS workspace FROM review_watches AS r"
            " JOIN workspaces AS w ON w.id = r.workspace_id"
        )
    }
    with contextlib.closing(product.connect()) as database:
        database.execute("BEGIN")
        for one in world.pull_requests.values():
            place = int(one.repository.name_with_owner.removeprefix("octo/r"))
            login = list_logins(SHARES[place])[one.number - 1]
            watch = watches[f"w{place}", f"of-{login or 'me'}"]
            database.execute(
                "INSERT INTO tasks VALUES (?, ?, ?, 'review', '', NULL, NULL, '', 1)",
                (
                    f"t{one.id}",
                    watch["workspace_id"],
                    f"review:octo/r{place}#{one.number}",
                ),
            )
            database.execute(
                "INSERT INTO review_tasks VALUES"
                " (?, ?, ?, 'auto', ?, 'user', 'octo', ?, '', ?, ?, ?, 1, '', NULL, '{}',"
                " 1)",
                (
                    *(f"r{one.id}", watch["workspace_id"], watch["id"], login),
                    *(f"r{place}", one.number, one.id, f"t{one.id}"),
                ),
            )
        database.execute("COMMIT")


def list_logins(share):
    """Return whose each task is, mixed as far as that goes."""
    left, found = dict(share), []
    while any(left.values()):
        found += [login for login, count in left.items() if count]
        left = {login: max(0, count - 1) for login, count in left.items()}
    return found


def points(product):
    return sum(each.github.usage.points for each in product.runtime.wired.accounts)


async def test_each_workspace_and_login_costs_a_point_for_each_hundred(tmp_path, world):
    tasks = "\n".join(configure(place) for place in range(len(SHARES)))
    secrets = {f"T{place}": f"t{place}" for place in range(len(SHARES))}
    async with open_product(
        tmp_path, world, watches=(), tasks=tasks, secrets=secrets
    ) as product:
        fill(product, world)
        cleanup = ReviewCleanup(product.runtime)
        used = [points(product)]
        for _ in range(3):
            with product.refused_writes():
                report = await sweep(product, cleanup)
            used.append(points(product))
        rest = sum(each.github.usage.rest for each in product.runtime.wired.accounts)

    costs = [after - before for before, after in itertools.pairwise(used)]
    assert verdicts(report) == {"open": sum(map(sum, map(dict.values, SHARES)))}
    assert costs == [POINTS + WHO_AM_I, POINTS, POINTS]
    assert rest == 0
