"""A task resumed in fifty sessions beside thirty others, cycle after cycle."""

import sys

import pytest

from prwatch.simulator import World
from tests.product import MovedClock, list_changes, open_product

SESSIONS = 50
OTHERS = 30
TARGETS = OTHERS + 1
SHARED = "fix-greeting"
HEAD = "cycle  rows  lookups  graphql  points  writes  events"


def write_tasks():
    checkout = f'{{ repository = "octo/hello", branch = "{SHARED}" }}'
    sessions = ",\n  ".join(
        f'{{ id = "S-{n}", checkouts = [{checkout}] }}' for n in range(SESSIONS)
    )
    resumed = f'[[workspace.task]]\nid = "T-0"\nsessions = [\n  {sessions},\n]'
    others = [
        f'[[workspace.task]]\nid = "T-{n}"\n'
        f'repositories = [{{ repository = "octo/hello", branch = "topic-{n}" }}]'
        for n in range(1, OTHERS + 1)
    ]
    return "\n\n".join([resumed, *others])


class Plot:
    """What happens in which cycle, and which changes must be told for it."""

    def __init__(self, world):
        self._world = world
        self._open = {}

    def play(self, cycle):
        if cycle == 3:
            return self._open_one(SHARED)
        if 5 <= cycle < 5 + OTHERS and cycle % 3 == 0:
            return self._open_one(f"topic-{cycle - 4}")
        if cycle % 20 == 10:
            one = self._open[SHARED]
            self._world.set_check(one, "test", workflow=str(cycle))
            return []
        if cycle % 50 == 15:
            return self._toggle(self._open[SHARED])
        return []

    def _open_one(self, branch):
        one = self._world.open_pull_request("octo/hello", branch=branch)
        self._open[branch] = one
        return [(("associated", None, one.number),)]

    def _toggle(self, one):
        if one.is_draft:
            self._world.mark_ready(one)
        else:
            self._world.mark_draft(one)
        return [(("is_draft", not one.is_draft, one.is_draft),)]


@pytest.mark.parametrize(
    ("cycles", "is_printing"),
    [
        pytest.param(20, False, id="20 cycles"),
        pytest.param(200, True, id="200 cycles", marks=pytest.mark.slow),
    ],
)
async def test_fifty_sessions_are_one_row_one_look_up_and_one_event_a_change(
    tmp_path, cycles, is_printing
):
    world = World(MovedClock())
    world.add_repository("octo/hello")
    plot, table, expected, told = Plot(world), [HEAD], [], []
    options = {"watches": (), "tasks": write_tasks()}
    async with open_product(tmp_path, world, **options) as product:
        for cycle in range(cycles):
            coming = plot.play(cycle)
            changes = list_changes(await product.cycle())
            (rows,) = product.ask("SELECT count(*) AS number FROM pr_watches")
            report = product.report
            changes = [one for one in changes if one[0][0] != "checks"]
            table.append(
                f"{cycle:5}  {rows['number']:4}  {report.lookups:7}"
                f"  {report.usage.graphql:7}  {report.usage.points:6}"
                f"  {report.rows_written:6}"
                f"  {sum(report.events_by_type.values()):6}"
            )
            expected += coming
            told += changes
            assert rows["number"] == TARGETS
            assert report.lookups <= 1
            assert report.rows_written == 0 or report.events_by_type or cycle == 0
        keys = product.ask(
            "SELECT DISTINCT task_id, repository_id, branch, pr_number FROM pr_watches"
        )

    if is_printing:
        sys.stdout.write("\n" + "\n".join(table) + "\n")
    assert told == expected
    assert len(keys) == TARGETS
    assert [report.failures for report in product.reports] == [[]] * cycles
