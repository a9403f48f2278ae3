"""
Random lives of pull requests, with faults and restarts: what is told stays coherent.

Every seed is one life that can be played again.
"""

import random
from collections import defaultdict

import pytest

from prwatch.simulator import World
from prwatch.simulator.faults import Fault
from tests.product import ALL, MovedClock, open_product

NUMBERS = (1, 2, 3, 4)
ADOPTED = (3, 4)
STEPS = 40
ENTRIES = [f'repository = "octo/hello"\npull_request = {n}' for n in (1, 2)]
KINDS = (
    "html502",
    "html504",
    "cut_json",
    "not_json",
    "null_data",
    "reset",
    "something_went_wrong",
    "rate_limited",
    "secondary",
    "not_found",
    "forbidden",
    "null_alias",
    "integer_path",
    "resource_limits",
    "lone_surrogate",
    "bad_credentials",
)
CHAINED = frozenset(
    {
        "state",
        "is_draft",
        "review",
        "head_ref_oid",
        "mergeable",
        "merge_queue",
        "auto_merge",
        "comments",
        "archived",
    }
)
"""Fields whose `previous` is what was told last; checks are told when they stay."""


class Life:
    """A world that a seed moves, one random verb at a time."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.world = World(MovedClock())
        self.world.add_repository("octo/hello", requires_reviews=True)
        self.world.add_repository("ada/hello", fork_of="octo/hello")
        for number in NUMBERS:
            self.world.open_pull_request(
                "octo/hello",
                branch=f"topic-{number}",
                number=number,
                author="ada",
                head_repository="ada/hello" if number % 2 else None,
            )

    def move(self):
        one = self.chance.choice(list(self.world.pull_requests.values()))
        self.chance.choice([*_verbs(one), self._spoil])(self.world, one)

    def _spoil(self, world, _):
        world.faults.add(
            Fault(
                kind=self.chance.choice(KINDS),
                times=self.chance.randint(1, 4),
                match=self.chance.choice(["", "Probe", "Details", "pulls", "Open"]),
            )
        )


def _verbs(one):
    """Return what can be done with a pull request as it is now."""
    check = [
        lambda w, p: w.set_check(p, "test", workflow="CI"),
        lambda w, p: w.set_check(p, "test", workflow="CI", conclusion="FAILURE"),
        lambda w, p: w.set_check(p, "test", workflow="CI", conclusion="SUCCESS"),
        lambda w, p: w.comment(p, "linus"),
        lambda w, p: w.retitle(p, f"title at {w.now():%H:%M:%S}"),
    ]
    if one.state == "MERGED":
        return check[-2:]
    if one.state == "CLOSED":
        return [lambda w, p: w.reopen(p)]
    return [
        *check,
        lambda w, p: w.submit_review(p, "grace"),
        lambda w, p: w.submit_review(p, "linus", "CHANGES_REQUESTED"),
        lambda w, p: w.dismiss_review(p, p.reviews[-1]) if p.reviews else None,
        lambda w, p: w.request_review(p, "grace"),
        lambda w, p: w.push(p),
        lambda w, p: w.mark_ready(p) if p.is_draft else w.mark_draft(p),
        lambda w, p: w.set_mergeable(p, "CONFLICTING"),
        lambda w, p: w.set_mergeable(p, "MERGEABLE"),
        lambda w, p: w.enqueue(p),
        lambda w, p: w.dequeue(p),
        lambda w, p: w.arm_auto_merge(p),
        lambda w, p: w.close(p),
        lambda w, p: w.merge(p),
    ]


async def play(folder, life, paths):
    """Play a life over several runs of the product; return all that was told."""
    told, world = [], life.world
    for run, read_path in enumerate(paths):
        options = {"poll": f'read_path = "{read_path}"', "seed": run}
        watches = [*ENTRIES, ALL]
        async with open_product(folder, world, watches=watches, **options) as product:
            for _ in range(STEPS // len(paths)):
                for _ in range(life.chance.randint(0, 3)):
                    life.move()
                told += await product.cycle(gap=life.chance.choice([5, 30, 60, 120]))
    world.faults.clear()
    return told


async def settle(folder, world):
    """Look at the world at rest; return what is told late, what later, and the rows."""
    async with open_product(folder, world, watches=[*ENTRIES, ALL], seed=99) as product:
        late = await product.cycles(3, gap=7200, is_full=True)
        quiet = await product.cycles(5, gap=60)
        rows = product.ask("SELECT * FROM task_pull_requests ORDER BY pr_number")
        failures = product.report.failures
    assert failures == []
    return late, quiet, rows


@pytest.mark.parametrize("paths", [("graphql",) * 4, ("graphql", "rest") * 2])
@pytest.mark.parametrize("seed", range(12))
async def test_a_random_life_is_told_without_gap_double_or_contradiction(
    tmp_path, seed, paths
):
    life = Life(seed)
    told = await play(tmp_path, life, paths)
    late, quiet, rows = await settle(tmp_path, life.world)
    told += late

    assert quiet == []
    assert find_broken_chains(told) == []
    assert len({event["id"] for event in told}) == len(told)
    assert find_revision_gaps(told) == []
    assert find_false_rows(rows, life.world) == []


def find_broken_chains(events):
    """Return the changes whose `previous` is not what was told before."""
    last, broken = {}, []
    for event in events:
        if event["type"] != "GitHubTaskPRUpdated":
            continue
        number = event["data"]["pull_request"]["number"]
        for change in event["data"]["changes"]:
            key = number, change["field"]
            if change["field"] not in CHAINED:
                continue
            if key in last and last[key] != change["previous"]:
                broken.append((key, last[key], change))
            last[key] = change["current"]
    return broken


def find_revision_gaps(events):
    revisions = defaultdict(list)
    for event in events:
        if event["type"] == "GitHubTaskPRUpdated":
            revisions[event["data"]["watch_id"]].append(event["data"]["revision"])
    return [
        (watch, found)
        for watch, found in revisions.items()
        if found != list(range(found[0], found[0] + len(found)))
    ]


def find_false_rows(rows, world):
    """Return what is stored and not so. A merged pull request is not read again."""
    truths = {one.number: one for one in world.pull_requests.values()}
    false = []
    for row in rows:
        one = truths[row["pr_number"]]
        stored = row["state"], bool(row["is_draft"]), row["head_ref_oid"]
        true = one.state, one.is_draft, one.head.oid
        if one.state == "OPEN":
            stored, true = (*stored, row["title"]), (*true, one.title)
        if (row["state"], one.state) == ("CLOSED", "MERGED") and one.number in ADOPTED:
            # It is found again in the list of open ones, where it never stood.
            continue
        if stored != true:
            false.append((one.number, stored, true))
    return false
