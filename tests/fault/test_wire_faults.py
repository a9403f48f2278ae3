"""What GitHub may answer in place of the truth: nothing false is stored or told."""

import datetime as dt

import pytest

from prwatch.simulator import World
from prwatch.simulator.faults import Fault
from tests.product import MovedClock, list_changes, open_product

COUNT = 30
TARGET = 3
NUMBERS = range(1, COUNT + 1)
ENTRIES = [f'repository = "octo/hello"\npull_request = {n}' for n in NUMBERS]
SEARCHES = [f'repository = "octo/hello"\nbranch = "topic-{n}"' for n in NUMBERS]
DRAFT = (("is_draft", False, True),)
FIRST_WAIT = 12.5 * 60
"""Seconds after which the circuit of one record lets a probe through at the latest."""
MOST_REQUESTS = 4
"""A failing batch is tried once or twice, and never becomes a request a watch."""


def make_world(branches=False):
    world = World(MovedClock())
    world.add_repository("octo/hello")
    opened = [] if branches else open_all(world)
    return world, opened


def open_all(world):
    return [
        world.open_pull_request("octo/hello", branch=f"topic-{n}", number=n)
        for n in NUMBERS
    ]


def count_requests(product):
    usage = product.report.usage
    return usage.graphql + usage.rest


def numbers(events):
    return sorted(event["data"]["pull_request"]["number"] for event in events)


def updates(events):
    return [event for event in events if event["type"] == "GitHubTaskPRUpdated"]


def all_but_target():
    return [n for n in NUMBERS if n != TARGET]


def row_of(product, number):
    (row,) = product.ask("SELECT * FROM pr_watches WHERE pr_number = ?", number)
    return row


@pytest.mark.parametrize("operation", ["Probe", "Details"])
@pytest.mark.parametrize(
    ("kind", "code"),
    [
        pytest.param("not_found", "not_found", id="NOT_FOUND"),
        pytest.param("forbidden", "forbidden", id="FORBIDDEN"),
        pytest.param("null_alias", "null", id="null without an error"),
        pytest.param("resource_limits", "resource_limits", id="too heavy"),
    ],
)
async def test_one_spoiled_reference_keeps_its_row_and_its_neighbours_go_on(
    tmp_path, kind, code, operation
):
    world, opened = make_world()
    target = f"octo/hello#{TARGET}"
    async with open_product(tmp_path, world, watches=ENTRIES) as product:
        await product.cycle()
        before = row_of(product, TARGET)
        for one in opened:
            world.mark_draft(one)

        fault = Fault(kind=kind, match=operation, target=target, times=None)
        world.faults.add(fault)
        told = await product.cycle()
        failures = [(f.reference, f.code) for f in product.report.failures]
        kept = row_of(product, TARGET)
        world.faults.clear()
        later = await product.cycle(gap=FIRST_WAIT) + await product.cycle()

    assert list_changes(told) == [DRAFT] * (COUNT - 1)
    assert numbers(updates(told)) == all_but_target()
    assert kept == before
    assert failures == [(target, code)]
    assert list_changes(later) == [DRAFT]
    assert numbers(updates(later)) == [TARGET]


@pytest.mark.parametrize("operation", ["Probe", "Details"])
async def test_an_integer_in_an_error_path_costs_one_field_of_one_reference(
    tmp_path, operation
):
    world, opened = make_world()
    for one in opened:
        world.set_check(one, "test", conclusion="FAILURE")
    async with open_product(tmp_path, world, watches=ENTRIES) as product:
        await product.cycle()
        before = row_of(product, TARGET)
        for one in opened:
            world.mark_draft(one)

        world.faults.add(
            Fault(
                kind="integer_path",
                match=operation,
                target=f"octo/hello#{TARGET}",
                times=None,
            )
        )
        told = await product.cycle()
        kept = row_of(product, TARGET)
        world.faults.clear()
        later = await product.cycles(2)

    assert list_changes(told) == [DRAFT] * COUNT
    assert (kept["checks"], before["checks"]) == ("failure", "failure")
    assert later == []


async def test_a_lone_surrogate_is_replaced_in_its_own_title_alone(tmp_path):
    world, opened = make_world()
    async with open_product(tmp_path, world, watches=ENTRIES) as product:
        await product.cycle()
        for one in opened:
            world.mark_draft(one)

        world.faults.add(Fault(kind="lone_surrogate", match="Details"))
        told = await product.cycle()
        titles = [e["data"]["pull_request"]["title"] for e in updates(told)]

    assert list_changes(told) == [DRAFT] * COUNT
    true_titles = {one.title for one in opened}
    spoiled = [title for title in titles if title not in true_titles]
    assert len(spoiled) == 1
    assert spoiled[0].removeprefix("\ufffd") in true_titles


FAILURES = [
    pytest.param("html502", "transient", id="a 502 page"),
    pytest.param("html503", "transient", id="a 503 page"),
    pytest.param("html504", "transient", id="a 504 page"),
    pytest.param("json500", "transient", id="a 500 in JSON"),
    pytest.param("null_data", "transient", id="data is null"),
    pytest.param("cut_json", "transient", id="truncated JSON"),
    pytest.param("not_json", "transient", id="HTML with status 200"),
    pytest.param("something_went_wrong", "transient", id="an error without a type"),
    pytest.param("reset", "transient", id="a broken connection"),
    pytest.param("rate_limited", "limit", id="RATE_LIMITED in a 200"),
    pytest.param("secondary", "limit", id="the secondary limit"),
    pytest.param("bad_credentials", "auth", id="401"),
]


@pytest.mark.parametrize("operation", ["Probe", "Details"])
@pytest.mark.parametrize(("kind", "failure_class"), FAILURES)
async def test_a_failing_batch_ends_the_cycle_and_the_next_one_asks_again(
    tmp_path, kind, failure_class, operation
):
    world, opened = make_world()
    async with open_product(tmp_path, world, watches=ENTRIES) as product:
        await product.cycle()
        before = product.watermarks()
        for one in opened:
            world.mark_draft(one)

        world.faults.add(Fault(kind=kind, match=operation, times=None))
        told = await product.cycle()
        classes = {str(f.failure_class) for f in product.report.failures}
        sent, stored = count_requests(product), product.watermarks()
        world.faults.clear()
        later = await product.cycle(gap=dt.timedelta(hours=2).total_seconds())
        after = await product.cycle()

    assert told == []
    assert stored == before
    assert classes == {failure_class}
    assert sent <= MOST_REQUESTS
    assert list_changes(later) == [DRAFT] * COUNT
    assert numbers(updates(later)) == list(NUMBERS)
    assert after == []


@pytest.mark.parametrize(("kind", "failure_class"), FAILURES)
async def test_a_failed_first_reading_is_no_baseline(tmp_path, kind, failure_class):
    world, _ = make_world()
    world.faults.add(Fault(kind=kind, times=None))
    async with open_product(tmp_path, world, watches=ENTRIES) as product:
        told = await product.cycle()
        classes = {str(f.failure_class) for f in product.report.failures}
        sent, rows = count_requests(product), product.ask("SELECT * FROM pr_watches")
        world.faults.clear()
        later = await product.cycle(gap=dt.timedelta(hours=2).total_seconds())

    assert told == []
    assert classes == {failure_class}
    assert sent <= MOST_REQUESTS
    assert {(row["revision"], row["state"]) for row in rows} == {(0, None)}
    assert {changes[0][:2] for changes in list_changes(later)} == {("associated", None)}
    assert numbers(later) == list(NUMBERS)


@pytest.mark.parametrize(("kind", "failure_class"), FAILURES)
async def test_a_failed_look_up_of_branches_proves_no_absence(
    tmp_path, kind, failure_class
):
    world, _ = make_world(branches=True)
    async with open_product(tmp_path, world, watches=SEARCHES) as product:
        await product.cycle()
        before = product.watermarks()
        open_all(world)

        world.faults.add(Fault(kind=kind, match="Branch", times=None))
        told = await product.cycle()
        classes = {str(f.failure_class) for f in product.report.failures}
        sent, stored = count_requests(product), product.watermarks()
        world.faults.clear()
        later = await product.cycle(gap=dt.timedelta(hours=2).total_seconds())

    assert told == []
    assert stored == before
    assert classes == {failure_class}
    assert sent <= MOST_REQUESTS
    assert numbers(updates(later)) == list(NUMBERS)


async def test_a_server_failure_on_the_rest_path_ends_the_cycle_after_what_was_read(
    tmp_path,
):
    world, opened = make_world()
    poll = 'read_path = "rest"'
    async with open_product(tmp_path, world, watches=ENTRIES, poll=poll) as product:
        await product.cycle()
        before = row_of(product, TARGET)
        for one in opened:
            world.mark_draft(one)

        world.faults.add(
            Fault(kind="html502", match=f"pulls/{TARGET}( |/)", times=None)
        )
        told = await product.cycle()
        classes = [str(f.failure_class) for f in product.report.failures]
        kept = row_of(product, TARGET)
        world.faults.clear()
        later = await product.cycle()

    assert TARGET not in numbers(updates(told))
    assert kept == before
    assert classes == ["transient"]
    assert numbers(updates(told + later)) == list(NUMBERS)
