"""Readings that are not the last word: settling, lagging and older than what is known."""

import datetime as dt

import pytest
from structlog.testing import capture_logs

from prwatch.app.command.check import check_watch
from tests.product import NOON, MovedClock, list_changes, open_product
from tests.simulation.scenarios import make_world

READ_PATHS = ("graphql", "rest")
PASSED = (("checks", "pending", "success"),)


class SkewedClock:
    """Another clock that is wrong by some hours."""

    def __init__(self, clock, hours):
        self._clock = clock
        self._hours = hours

    def now(self):
        return self._clock.now() + dt.timedelta(hours=self._hours)

    def __getattr__(self, name):
        return getattr(self._clock, name)


def finish(world, pull_request):
    world.set_check(pull_request, "test", workflow="CI", conclusion="SUCCESS")


@pytest.mark.parametrize("read_path", READ_PATHS)
@pytest.mark.parametrize("hours", [-2, 0, 2])
async def test_a_verdict_settles_in_time_whatever_our_own_clock_says(
    tmp_path, hours, read_path
):
    world, pull_request = make_world(MovedClock())
    world.set_check(pull_request, "test", workflow="CI")
    clock = SkewedClock(world.clock, hours)
    poll = f'read_path = "{read_path}"'
    async with open_product(tmp_path, world, clock=clock, poll=poll) as product:
        await product.cycle()
        world.clock.advance(45)
        finish(world, pull_request)

        told = await product.cycles(3, gap=15.0, is_forced=False)

    assert list_changes(told, "GitHubPRFeedback") == [PASSED]


async def test_checks_that_lag_behind_a_new_head_are_asked_again_soon(tmp_path):
    world, pull_request = make_world(MovedClock())
    finish(world, pull_request)
    async with open_product(tmp_path, world) as product:
        await product.cycle()
        world.push(pull_request)
        world.lag_head(pull_request, for_=dt.timedelta(seconds=80))
        pushed = await product.cycle()
        world.set_check(pull_request, "test", workflow="CI")

        lagging = await product.cycle(gap=15.0, is_forced=False)
        caught_up = await product.cycle(gap=15.0, is_forced=False)

    assert [len(one) for one in list_changes(pushed)] == [2]
    assert list_changes(lagging) == []
    assert list_changes(caught_up) == [(("checks", "none", "pending"),)]


@pytest.mark.parametrize("read_path", READ_PATHS)
async def test_what_three_readings_over_ten_minutes_say_is_believed_and_logged(
    tmp_path, read_path
):
    world, pull_request = make_world(MovedClock())
    poll = f'read_path = "{read_path}"'
    async with open_product(tmp_path, world, poll=poll) as product:
        await product.cycle()
        world.mark_draft(pull_request)
        pull_request.updated_at = NOON - dt.timedelta(days=1)
        with capture_logs() as logs:
            doubted = await product.cycles(10)
            believed = await product.cycle()
            after = await product.cycles(10)

    assert (list_changes(doubted), list_changes(after)) == ([], [])
    assert list_changes(believed) == [(("is_draft", False, True),)]
    assert [(one["event"], one["readings"]) for one in logs] == [
        ("reading.believed", 11)
    ]


async def test_looks_by_hand_come_to_believe_it_too(tmp_path):
    """Entity tags of a reading that was dropped would hide that it is read again."""
    world, pull_request = make_world(MovedClock())
    async with open_product(tmp_path, world) as product:
        await product.cycle()
        watch_id = product.ask("SELECT id FROM pr_watches")[0]["id"]
        world.mark_draft(pull_request)
        pull_request.updated_at = NOON - dt.timedelta(days=1)

        told = []
        for _ in range(4):
            world.clock.advance(301)
            told.append(dict((await check_watch(product.runtime, watch_id)).events))

    both = {"GitHubPRFeedback": 1, "GitHubTaskPRUpdated": 1}
    assert told == [{}, {}, both, {}]
