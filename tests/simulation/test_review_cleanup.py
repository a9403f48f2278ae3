"""Review tasks whose work is done go by themselves, and nothing else does."""

import json

import httpx
import pytest

from prwatch.domain.review_ending import RECORD_KEPT
from prwatch.simulator import GitHubApp, World
from tests.cleanup import (
    ASKED,
    CYCLE,
    DRY,
    ME,
    ask,
    open_found,
    rows,
    sweep,
    sweeps,
    tasks,
    verdicts,
    write,
)
from tests.product import MovedClock

NAME = "review:octo/hello#1"


@pytest.fixture
def world():
    world = World(MovedClock())
    world.add_repository("octo/hello")
    return world


async def test_a_task_goes_at_the_second_look_with_its_record_and_its_event(
    tmp_path, world
):
    one = ask(world)
    async with open_found(tmp_path, world) as (product, cleanup):
        quiet = await sweep(product, cleanup)
        world.merge(one)
        seen = await sweep(product, cleanup)
        (noted,) = rows(product)
        done = await sweep(product, cleanup)
        for relay in product.runtime.relays:
            await relay.run_once()
        product.take_events()
        (event,) = product.notices
        (audit,) = product.ask("SELECT * FROM review_audit")
        left = tasks(product), rows(product)

    assert [verdicts(each) for each in (quiet, seen, done)] == [
        {"open": 1},
        {"seen_done": 1},
        {"deleted": 1},
    ]
    assert json.loads(noted["terminal_evidence"])["state"] == "MERGED"
    assert left == ([], [])
    assert (audit["action"], audit["acted_by"]) == ("deleted", "schedule")
    assert audit["reason"] == "pr_merged_or_closed"
    assert json.loads(audit["evidence"]) == json.loads(noted["terminal_evidence"])
    assert event["type"] == "GitHubPRReviewTaskDeleted"
    assert event["subject"] == f"acme/{NAME}"
    assert event["data"]["reason"] == "pr_merged_or_closed"
    assert event["data"]["evidence"] == json.loads(noted["terminal_evidence"])
    assert event["data"]["task_id"] == NAME


async def test_what_is_open_writes_nothing(tmp_path, world):
    for number in range(1, 6):
        ask(world, number)
    async with open_found(tmp_path, world) as (product, cleanup):
        with product.refused_writes():
            assert await sweeps(product, cleanup) == 0
        assert len(tasks(product)) == 5


async def test_two_looks_at_once_are_one(tmp_path, world):
    one = ask(world)
    async with open_found(tmp_path, world) as (product, cleanup):
        world.merge(one)
        first = await sweep(product, cleanup)
        again = await sweep(product, cleanup, ASKED, gap=0.0)
        early = await sweep(product, cleanup, ASKED, gap=299.0)
        last = await sweep(product, cleanup, ASKED, gap=1.0)

    assert [verdicts(each) for each in (first, again, early, last)] == [
        {"seen_done": 1},
        {"grace": 1},
        {"grace": 1},
        {"deleted": 1},
    ]


async def test_a_pull_request_that_is_reopened_begins_anew(tmp_path, world):
    one = ask(world)
    async with open_found(tmp_path, world) as (product, cleanup):
        world.close(one)
        await sweep(product, cleanup)
        world.reopen(one)
        reopened = await sweep(product, cleanup)
        (row,) = rows(product)
        world.close(one)
        closed = await sweep(product, cleanup)

        assert verdicts(reopened) == {"reopened": 1}
        assert (row["terminal_seen_at"], row["terminal_evidence"]) == (None, "{}")
        assert verdicts(closed) == {"seen_done": 1}
        assert tasks(product) == [NAME]


async def test_two_different_proofs_are_one_look_each(tmp_path, world):
    one = ask(world)
    async with open_found(tmp_path, world) as (product, cleanup):
        world.submit_review(one, ME)
        first = await sweep(product, cleanup)
        world.merge(one)
        second = await sweep(product, cleanup)
        third = await sweep(product, cleanup)

    assert [verdicts(each) for each in (first, second, third)] == [
        {"seen_done": 1},
        {"seen_done": 1},
        {"deleted": 1},
    ]


async def test_a_dry_run_shows_and_changes_nothing(tmp_path, world):
    world_one = ask(world)
    async with open_found(tmp_path, world) as (product, cleanup):
        world.merge(world_one)
        with product.refused_writes():
            first = await sweep(product, cleanup, DRY)
        await sweep(product, cleanup)
        with product.refused_writes():
            second = await sweep(product, cleanup, DRY)

        assert (verdicts(first), first.deleted) == ({"seen_done": 1}, 0)
        assert (verdicts(second), second.deleted) == ({"deleted": 1}, 0)
        assert second.findings[0].evidence["state"] == "MERGED"
        assert tasks(product) == [NAME]


class Meanwhile(httpx.ASGITransport):
    """Lets something happen while GitHub answers a reading."""

    def __init__(self, world):
        super().__init__(GitHubApp(world))
        self.act = None

    async def handle_async_request(self, request):
        response = await super().handle_async_request(request)
        if self.act is not None and b"ReviewEnds" in request.content:
            self.act()
        return response


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE tasks SET person_wrote_at = 1",
        "UPDATE tasks SET waits_for = 'an answer'",
        "UPDATE tasks SET archived_at = 1",
        "UPDATE tasks SET origin = 'command'",
        "UPDATE review_watches SET policy = 'never', revision = revision + 1",
        "UPDATE review_tasks SET terminal_seen_at = NULL",
    ],
)
async def test_what_somebody_changes_while_github_answers_stays(
    tmp_path, world, statement
):
    one = ask(world)
    transport = Meanwhile(world)
    async with open_found(tmp_path, world, transport=transport) as (product, cleanup):
        world.merge(one)
        await sweep(product, cleanup)
        transport.act = lambda: write(product, statement)
        report = await sweep(product, cleanup)

        assert (verdicts(report), report.deleted) == ({"changed": 1}, 0)
        assert tasks(product) == [NAME]
        assert product.ask("SELECT * FROM review_audit") == []


async def test_a_task_of_two_watches_goes_when_the_more_cautious_lets_it(
    tmp_path, world
):
    one = ask(world)
    two = '[[workspace.review]]\nname = "a"\npolicy = "always"\n'
    reviews = f'{two}\n[[workspace.review]]\nname = "b"'
    async with open_found(tmp_path, world, policy="never", reviews=reviews) as (
        product,
        cleanup,
    ):
        world.merge(one)
        report = await sweep(product, cleanup)
        gone = await sweeps(product, cleanup)

        assert (verdicts(report), gone) == ({"policy_never": 1}, 0)
        assert len(rows(product)) == 2


@pytest.mark.parametrize("attention", ["person_wrote_at = 1", "waits_for = 'x'", ""])
@pytest.mark.parametrize("first", ["always", "auto"])
async def test_auto_keeps_what_always_would_let_go(tmp_path, world, first, attention):
    one = ask(world)
    (second,) = {"always", "auto"} - {first}
    reviews = (
        f'[[workspace.review]]\nname = "a"\npolicy = "{first}"\n'
        '[[workspace.review]]\nname = "b"'
    )
    async with open_found(tmp_path, world, policy=second, reviews=reviews) as (
        product,
        cleanup,
    ):
        world.merge(one)
        if attention:
            write(product, f"UPDATE tasks SET {attention}")
        gone = await sweeps(product, cleanup)

        assert len(rows(product)) == (2 if attention else 0)
        assert gone == (0 if attention else 1)


@pytest.mark.parametrize("policy", ["auto", "always", "never"])
async def test_rows_are_dropped_whose_task_is_gone_with_an_entry_of_the_record(
    tmp_path, world, policy
):
    ask(world)
    async with open_found(tmp_path, world, policy=policy) as (product, cleanup):
        write(product, "DELETE FROM tasks")
        report = await sweep(product, cleanup)
        (audit,) = product.ask("SELECT * FROM review_audit")

        assert (report.dropped, report.deleted, rows(product)) == (1, 0, [])
        assert (audit["action"], audit["reason"]) == ("released", "task_gone")


async def test_what_is_read_through_rest_alone_is_left(tmp_path, world):
    one = ask(world)
    async with open_found(tmp_path, world) as (product, _):
        pass
    world.merge(one)
    async with open_found(tmp_path, world, poll='read_path = "rest"') as (
        product,
        cleanup,
    ):
        report = await sweep(product, cleanup)

        assert verdicts(report) == {"skipped": 1}
        assert tasks(product) == [NAME]


async def test_the_record_goes_after_its_time_and_what_it_keeps_away_stays_away(
    tmp_path, world
):
    merged, approved = ask(world, 1), ask(world, 2)
    async with open_found(tmp_path, world) as (product, cleanup):
        world.merge(merged)
        world.submit_review(approved, ME)
        assert await sweeps(product, cleanup) == 2
        before = product.ask("SELECT * FROM review_audit")
        product.clock.advance(RECORD_KEPT.total_seconds() + CYCLE)
        await sweep(product, cleanup, DRY)
        dry = product.ask("SELECT * FROM review_audit")
        await sweep(product, cleanup)
        (left,) = product.ask("SELECT * FROM review_audit")

        assert (len(before), len(dry)) == (2, 2)
        assert (left["pr_number"], left["snapshot"]) == (2, "{}")


@pytest.mark.parametrize("seconds", [-601, -599, 0, 599, 601])
async def test_a_reservation_that_nobody_may_finish_is_forgotten(
    tmp_path, world, seconds
):
    ask(world)
    async with open_found(tmp_path, world) as (product, cleanup):
        moment = int((product.clock.now().timestamp() + CYCLE + seconds) * 1_000_000)
        write(product, f"UPDATE review_tasks SET task_id = '', reserved_at = {moment}")
        with product.refused_writes():
            dry = await sweep(product, cleanup, DRY)
        report = await sweep(product, cleanup, gap=0.0)
        is_left = abs(seconds) > 600

        assert (report.dropped, len(rows(product))) == (is_left, not is_left)
        assert (
            verdicts(report)
            == verdicts(dry)
            == {("gone" if is_left else "reserved"): 1}
        )
        assert product.ask("SELECT * FROM review_audit") == []


async def test_a_persons_task_that_no_watch_knows_is_no_longer_swept(tmp_path, world):
    ask(world)
    async with open_found(tmp_path, world) as (product, cleanup):
        write(product, "UPDATE tasks SET origin = 'command'")
        kept = await sweep(product, cleanup)
        write(product, "DELETE FROM review_watches")
        write(product, "UPDATE review_tasks SET review_watch_id = ''")
        left = await sweep(product, cleanup)
        (audit,) = product.ask("SELECT * FROM review_audit")

        assert verdicts(kept) == {"not_a_review_task": 1}
        assert (verdicts(left), rows(product)) == ({"gone": 1}, [])
        assert (audit["action"], audit["reason"]) == ("released", "not_a_review_task")
        assert tasks(product) == [NAME]
