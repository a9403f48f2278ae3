"""
What goes and what stays: policy by state by task by watch, all of them.

Each product holds every pull request state with every task state under one policy and
one state of the watch, and is swept for an hour and a half.
"""

import itertools

import pytest

from prwatch.app.review.leaving import remove_watch
from prwatch.app.review.queue import ReviewQueue
from prwatch.simulator import Fault, World
from prwatch.store import review_watches
from tests.cleanup import ME, MINE, ask, open_found, rows, sweep, tasks, write
from tests.product import MovedClock

POLICIES = ("auto", "always", "never")
WATCHES = ("enabled", "disabled", "deleted", "unreadable")
TASKS = ("untouched", "wrote", "waits", "gone")
DONE = ("merged", "closed", "approved", "missing_once", "moved")
OPEN = ("open", "asked_again", "dismissed", "changes", "another", "missing")
STATES = (*DONE, *OPEN)
CASES = dict(enumerate(itertools.product(STATES, TASKS), 1))
ALL = f'{MINE}\nquery = "is:pr"'
SWEEPS = 18
FAULTS = {
    # Each pull request by itself is not found, in an answer that is good.
    "not_found": {"kind": "partial_not_found", "share": 1.1},
    **{
        kind: {"kind": kind}
        for kind in (
            *("gone410", "blocked403", "no_repository"),
            *("html502", "html503", "not_json", "empty200", "null_data"),
            *("bad_credentials", "secondary", "reset"),
        )
    },
}


@pytest.fixture
def world():
    world = World(MovedClock())
    world.add_repository("octo/hello")
    world.add_repository("octo/old")
    return world


def act(world, state, one):
    match state:
        case "merged" | "missing" | "missing_once" | "moved":
            world.merge(one)
        case "closed":
            world.close(one)
        case "approved":
            world.submit_review(one, ME)
        case "asked_again":
            world.submit_review(one, ME)
            world.request_review(one, ME)
        case "dismissed":
            world.dismiss_review(one, world.submit_review(one, ME))
        case "changes":
            world.submit_review(one, ME, "CHANGES_REQUESTED")
        case "another":
            world.submit_review(one, "bob")


def name(number):
    owner = "old" if CASES[number][0] == "moved" else "hello"
    return f"review:octo/{owner}#{number}"


def touch(product, external_id, state):
    match state:
        case "wrote":
            write(product, "UPDATE tasks SET person_wrote_at = 1 WHERE external_id = ?",
                  external_id)  # fmt: skip
        case "waits":
            write(product, "UPDATE tasks SET waits_for = 'x' WHERE external_id = ?",
                  external_id)  # fmt: skip
        case "gone":
            write(product, "DELETE FROM tasks WHERE external_id = ?", external_id)


async def change_watches(product, state):
    for watch in product.ask("SELECT id, name FROM review_watches"):
        match state:
            case "disabled":
                write(product, "UPDATE review_watches SET is_enabled = 0 WHERE id = ?",
                      watch["id"])  # fmt: skip
            case "deleted":
                await remove_watch(product.runtime.database, await find(product, watch))
            case "unreadable":
                write(product, "UPDATE review_watches SET scope = '?' WHERE id = ?",
                      watch["id"])  # fmt: skip


async def find(product, watch):
    (workspace,) = product.runtime.wired.workspaces.values()

    async def read(tx):
        return await review_watches.find_review_watch(tx, workspace.id, watch["name"])

    return await product.runtime.database.read(read)


def prepare(world):
    """Open one pull request for each case; the numbers are those of the cases."""
    return {
        number: ask(
            world,
            number,
            repository="octo/old" if state == "moved" else "octo/hello",
        )
        for number, (state, _) in CASES.items()
    }


def must_go(policy, watch, state, task):
    if policy == "never" or watch == "unreadable" or task == "gone":
        return False
    return state in DONE and (policy == "always" or task == "untouched")


@pytest.mark.parametrize("watch", WATCHES)
@pytest.mark.parametrize("policy", POLICIES)
async def test_exactly_what_is_proven_done_goes(tmp_path, world, policy, watch):
    ones = prepare(world)
    async with open_found(tmp_path, world, policy=policy, reviews=ALL) as (
        product,
        cleanup,
    ):
        assert len(tasks(product)) == len(CASES)
        for number, (state, task) in CASES.items():
            touch(product, name(number), task)
            act(world, state, ones[number])
        hidden = [n for n, (state, _) in CASES.items() if state == "missing"]
        once = [n for n, (state, _) in CASES.items() if state == "missing_once"]
        world.faults.add(
            Fault(kind="partial_not_found", numbers=tuple(hidden), times=None)
        )
        world.faults.add(
            Fault(kind="partial_not_found", numbers=tuple(once), match="ReviewEnds")
        )
        world.rename_repository("octo/old", "new/home")
        await change_watches(product, watch)
        for _ in range(SWEEPS):
            await sweep(product, cleanup)
        left = set(tasks(product))
        kept_rows = {row["pr_number"] for row in rows(product)}
        if watch != "unreadable":
            await ReviewQueue(product.runtime).run_once()
        after = set(tasks(product))

    gone = {n for n, case in CASES.items() if must_go(policy, watch, *case)}
    present = {n for n, (_, task) in CASES.items() if task != "gone"}
    dropped = set() if watch == "unreadable" else CASES.keys() - present
    assert left == {name(n) for n in present - gone}
    assert kept_rows == CASES.keys() - gone - dropped
    # What went because it was done is not made again, though the search shows it.
    assert after & {name(n) for n in gone} == set()


@pytest.mark.parametrize("watch", WATCHES)
@pytest.mark.parametrize("fault", FAULTS)
async def test_an_answer_that_proves_nothing_removes_nothing(
    tmp_path, world, watch, fault
):
    """Each product holds every policy with every task state."""
    cases = dict(enumerate(itertools.product(POLICIES, TASKS), 1))
    reviews = "\n".join(
        f'[[workspace.review]]\nname = "{each}"\nrepositories = ["octo/{each}"]'
        f"\n{'' if each == 'auto' else f'policy = {each!r}'}"
        for each in ("always", "never", "auto")
    )
    for policy in POLICIES:
        world.add_repository(f"octo/{policy}")
    ones = [
        ask(world, number, repository=f"octo/{policy}")
        for number, (policy, _) in cases.items()
    ]
    async with open_found(tmp_path, world, reviews=reviews) as (product, cleanup):
        names = {row["pr_number"]: f"review:octo/{row['name']}#{row['pr_number']}"
                 for row in rows(product)}  # fmt: skip
        for one in ones:
            world.merge(one)
        await sweep(product, cleanup)
        for number, (_, task) in cases.items():
            touch(product, names[number], task)
        await change_watches(product, watch)
        before = set(tasks(product))
        seen = {row["id"]: row["terminal_seen_at"] for row in rows(product)}
        rule = world.faults.add(Fault(**FAULTS[fault], times=None))
        reports = [await sweep(product, cleanup) for _ in range(6)]
        kept = set(tasks(product))
        noted = {row["id"]: row["terminal_seen_at"] for row in rows(product)}
        world.faults.remove(rule)
        for _ in range(SWEEPS):
            await sweep(product, cleanup)
        left = set(tasks(product))

    gone = {
        names[number]
        for number, (policy, task) in cases.items()
        if must_go(policy, watch, "merged", task)
    }
    assert kept == before
    assert noted.items() <= seen.items()
    assert any(report.failures for report in reports) == bool(gone)
    assert left == before - gone
