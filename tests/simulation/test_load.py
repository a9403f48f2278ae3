"""A task resumed in fifty sessions beside others, cycle after cycle."""

import sys
from dataclasses import replace

import anyio
import pytest

from prwatch.testing.load import LoadReport, run_load
from prwatch.testing.load_story import LoadShape


@pytest.mark.parametrize(
    ("others", "cycles"),
    [
        pytest.param(30, 40, id="40 cycles"),
        pytest.param(30, 200, id="200 cycles", marks=pytest.mark.slow),
        pytest.param(
            200,
            1000,
            id="1000 cycles of 201 tasks",
            marks=[pytest.mark.slow, pytest.mark.timeout(600)],
        ),
    ],
)
def test_fifty_sessions_are_one_row_one_look_up_and_one_event_a_change(
    prwatch_load, others, cycles
):
    report = prwatch_load(sessions=50, others=others, cycles=cycles)

    if cycles > 40:
        sys.stdout.write(
            f"\n{report.render()}\nquiet cycles: p95 {report.latency_ratio:.2f} times"
            f" the median, later ones {report.growth_ratio:.2f} times earlier ones\n"
        )
    assert report.list_broken() == []
    assert len(report.cycles) == cycles


@pytest.fixture
def report(tmp_path):
    """A short load that went well, on a watch that ticks once a cycle."""
    ticks = iter(range(1000))
    shape = LoadShape(sessions=3, others=2, cycles=12)

    async def run():
        return await run_load(shape, tmp_path, stopwatch=lambda: float(next(ticks)))

    return anyio.run(run)


def test_a_load_tells_each_change_once(report):
    told = [change for cycle in report.cycles for change in cycle.told]

    assert told == [
        ("associated", None, 1),
        ("associated", None, 2),
        ("checks", "none", "failure"),
    ]
    assert report.list_broken() == []
    assert len(report.render().splitlines()) == 13


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        pytest.param({"rows": 4}, "cycle 7: 4 watches, not 3", id="a row more"),
        pytest.param({"lookups": 2}, "cycle 7: 2 look-ups of branches", id="look-ups"),
        pytest.param(
            {"rows_written": 1}, "cycle 7: 1 rows written for nothing", id="a write"
        ),
        pytest.param({"failures": 1}, "cycle 7: 1 failures", id="a failure"),
        pytest.param(
            {"told": (("checks", "none", "failure"),)},
            "cycle 7: told (('checks', 'none', 'failure'),), not ()",
            id="told for nothing",
        ),
    ],
)
def test_a_load_says_what_a_cycle_should_not_have_done(report, changes, broken):
    report.cycles[7] = replace(report.cycles[7], **changes)

    assert report.list_broken() == [broken]


def test_a_load_says_when_cycles_become_late_or_slow(report):
    late = LoadReport(report.shape, list(report.cycles))
    late.cycles[9] = replace(late.cycles[9], seconds=99.0)
    slow = LoadReport(
        report.shape,
        [
            replace(cycle, seconds=1.0 if number < 7 else 3.0)
            for number, cycle in enumerate(report.cycles)
        ],
    )

    assert [text.split()[1] for text in late.list_broken()] == ["late"]
    assert slow.list_broken() == ["cycles became 3.0 times slower"]
