"""Each kind of change through the whole product: told once, with before and after."""

import pytest

from tests.product import MovedClock, list_changes, open_product
from tests.simulation.scenarios import (
    QUIET_FIELDS,
    SCENARIOS,
    make_world,
    name_values,
    snap,
)

READ_PATHS = ("graphql", "rest")


def expect_events(changes):
    """Return the events of one observation as (type, changes)."""
    if not changes:
        return []
    updated = ("GitHubTaskPRUpdated", changes)
    if {field for field, _, _ in changes} <= QUIET_FIELDS:
        return [updated]
    return [("GitHubPRFeedback", changes), updated]


def count_readings(report):
    """Return the full readings that cost something: REST's are unchanged for free."""
    usage = report.usage
    return report.details if usage.graphql else usage.rest - usage.not_modified


def list_events(events):
    return [(one["type"], list_changes([one], one["type"])[0]) for one in events]


@pytest.mark.parametrize("read_path", READ_PATHS)
@pytest.mark.parametrize("scenario", [pytest.param(s, id=s.name) for s in SCENARIOS])
async def test_a_change_is_told_once_with_before_and_after(
    tmp_path, scenario, read_path
):
    world, pull_request = make_world(MovedClock())
    poll = f'read_path = "{read_path}"'
    async with open_product(tmp_path, world, poll=poll) as product:
        await product.cycle()
        for act in scenario.before:
            act(world, pull_request)
            await product.cycles(2)
        old = snap(pull_request)

        scenario.act(world, pull_request)
        new = snap(pull_request)
        told = await product.cycle(gap=scenario.gap)
        after = await product.cycles(10)

    changes = name_values(scenario.expected(read_path), old, new)
    assert list_events(told) == expect_events(changes)
    assert after == []
    assert [report.failures for report in product.reports] == [[]] * len(
        product.reports
    )


@pytest.mark.parametrize("read_path", READ_PATHS)
async def test_the_first_cycle_adopts_quietly_and_the_next_ones_cost_nothing(
    tmp_path, read_path
):
    world, _ = make_world(MovedClock())
    world.open_many("octo/hello", 30)
    config = {"poll": f'read_path = "{read_path}"'}
    watches = ['repository = "octo/hello"\nall = true']
    async with open_product(tmp_path, world, watches=watches, **config) as product:
        adopted = await product.cycle()
        await product.cycle()
        before = product.watermarks()
        with product.refused_writes():
            quiet = await product.cycles(3)

        numbers = sorted(changes[0][2] for changes in list_changes(adopted))
        assert [len(changes) for changes in list_changes(adopted)] == [1] * 31
        assert numbers == list(range(12, 43))
        assert list_changes(adopted, "GitHubPRFeedback") == []
        assert quiet == []
        # REST lists have no tag that could be believed: a page costs one request.
        lists = 1 if read_path == "rest" else 0
        assert [count_readings(report) for report in product.reports[2:]] == [lists] * 3
        assert [report.rows_written for report in product.reports[2:]] == [0] * 3
        assert product.watermarks() == before


@pytest.mark.parametrize("read_path", READ_PATHS)
async def test_a_quiet_cycle_of_one_named_pull_request_writes_no_row(
    tmp_path, read_path
):
    world, _ = make_world(MovedClock())
    poll = f'read_path = "{read_path}"'
    async with open_product(tmp_path, world, poll=poll) as product:
        await product.cycle()
        with product.refused_writes():
            quiet = await product.cycles(5)

        assert quiet == []
        assert [count_readings(report) for report in product.reports[1:]] == [0] * 5
        assert [report.rows_written for report in product.reports[1:]] == [0] * 5


@pytest.mark.parametrize("read_path", READ_PATHS)
async def test_a_change_between_two_runs_is_told_after_the_restart(tmp_path, read_path):
    world, pull_request = make_world(MovedClock())
    poll = f'read_path = "{read_path}"'
    async with open_product(tmp_path, world, poll=poll) as product:
        await product.cycle()
    world.comment(pull_request, "linus")
    world.submit_review(pull_request, "grace", "CHANGES_REQUESTED")
    async with open_product(tmp_path, world, poll=poll, seed=1) as product:
        told = await product.cycle()
        after = await product.cycles(10)

    fields = [[field for field, _, _ in changes] for changes in list_changes(told)]
    expected = ["review", "review_decision", "comments"]
    if read_path == "rest":
        expected.remove("review_decision")
    assert fields == [expected]
    assert after == []


async def test_a_closed_one_that_was_reopened_and_merged_at_once_is_told(tmp_path):
    world, pull_request = make_world(MovedClock())
    async with open_product(tmp_path, world) as product:
        await product.cycle()
        world.close(pull_request)
        closed = await product.cycle()
        world.reopen(pull_request)
        world.merge(pull_request)
        merged = await product.cycle()
        after = await product.cycles(3)
        watches = product.ask("SELECT id FROM pr_watches")

    assert list_changes(closed) == [(("state", "OPEN", "CLOSED"),)]
    assert list_changes(merged) == [(("state", "CLOSED", "MERGED"),)]
    assert (after, watches) == ([], [])
