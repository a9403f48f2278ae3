"""What a short budget does to an hour: idle ones wait, and hot ones do not."""

import datetime as dt
import itertools
import re

import httpx
import pytest

from prwatch.domain.stretch import StretchLevel
from prwatch.simulator import GitHubApp, World
from tests.product import ALL, ONE, OUT, MovedClock, open_product

DAYS = 2 * 86400.0
TICK = 15.0
CALM = 400


def make_world(limit, count=CALM, *, fresh=0):
    """Open pull requests on which nothing has moved for two days, and some others."""
    world = World(MovedClock())
    world.limits = {**world.limits, "graphql": limit}
    world.add_repository("octo/hello")
    calm = world.open_many("octo/hello", count)
    world.clock.advance(DAYS)
    return world, [*calm, *world.open_many("octo/hello", fresh)]


def watch(pull_requests):
    return [
        f'repository = "octo/hello"\npull_request = {one.number}'
        for one in pull_requests
    ]


class Unlimited(httpx.ASGITransport):
    """The way to a server that knows no limits."""

    def __init__(self, world):
        super().__init__(GitHubApp(world))

    async def handle_async_request(self, request):
        answer = await super().handle_async_request(request)
        body = re.sub(
            rb'"rateLimit":{[^}]*}', b'"rateLimit":null', await answer.aread()
        )
        kept = [
            (name, value)
            for name, value in answer.headers.items()
            if not name.startswith("x-ratelimit") and name != "content-length"
        ]
        return httpx.Response(answer.status_code, headers=kept, content=body)


class Asked:
    """When each pull request was asked about, by number, in seconds."""

    def __init__(self, product):
        self._memory = product.runtime.memory
        self._clock = product.clock
        rows = product.ask("SELECT id, pr_number FROM pr_watches")
        self._ids = {row["pr_number"]: row["id"] for row in rows}
        self.times = {number: [] for number in self._ids}

    def note(self):
        now = self._clock.now()
        for number, watch_id in self._ids.items():
            if self._memory.get(watch_id, now=now).asked_at == now:
                self.times[number].append(self._clock.monotonic())

    def gaps(self, number):
        times = self.times[number]
        return {b - a for a, b in itertools.pairwise(times)}


async def run_for(product, seconds, asked=None, *, gap=TICK):
    told = []
    for _ in range(int(seconds / gap)):
        told += await product.cycle(gap=gap, is_forced=False)
        if asked:
            asked.note()
    return told


def get_account(product):
    (account,) = product.runtime.wired.accounts
    return account


async def test_idle_ones_give_way_and_the_budget_lasts(tmp_path):
    world, pull_requests = make_world(500)
    async with open_product(tmp_path, world, watches=watch(pull_requests)) as product:
        await product.cycle(gap=TICK, is_forced=False)
        asked = Asked(product)
        await run_for(product, 3600, asked, gap=60.0)
        report = get_account(product).stretch

    assert report.level is StretchLevel.IDLE
    assert {gap for n in asked.times for gap in asked.gaps(n)} == {900.0}
    assert report.words == (
        "400 resting pull requests are asked every 15 min:"
        " the budget of 500 points an hour does not hold 60 s for 400"
    )
    assert world.get_budget("octocat", "graphql").remaining > 500 / 2
    assert [failure for each in product.reports for failure in each.failures] == []


async def test_a_hot_one_keeps_its_interval_under_a_short_budget(tmp_path):
    world, pull_requests = make_world(620)
    busy = pull_requests[0]
    async with open_product(tmp_path, world, watches=watch(pull_requests)) as product:
        await product.cycle(gap=TICK, is_forced=False)
        asked = Asked(product)
        world.set_check(busy, "test", workflow="CI")
        await run_for(product, 3600, asked)
        report = get_account(product).stretch
        world.set_check(busy, "test", workflow="CI", conclusion="SUCCESS")
        told = await run_for(product, 60)

    # It is found when its turn comes, and asked often from then on.
    assert asked.gaps(busy.number) == {TICK}
    assert len(asked.times[busy.number]) > 3600 / TICK - 900 / TICK
    assert (report.level, report.stretched) == (StretchLevel.IDLE, CALM - 1)
    assert world.get_budget("octocat", "graphql").remaining > 0
    assert [failure for each in product.reports for failure in each.failures] == []
    assert [c["field"] for e in told for c in e["data"]["changes"]][:1] == ["checks"]


async def test_what_moved_in_this_hour_is_asked_as_ever(tmp_path):
    world, pull_requests = make_world(500, fresh=1)
    async with open_product(tmp_path, world, watches=watch(pull_requests)) as product:
        await product.cycle(gap=TICK, is_forced=False)
        asked = Asked(product)
        await run_for(product, 1800, asked, gap=60.0)

    assert asked.gaps(pull_requests[-1].number) == {60.0}


async def test_a_restart_stretches_as_before(tmp_path):
    world, pull_requests = make_world(500)
    reports = []
    for _ in range(2):
        options = {"watches": watch(pull_requests)}
        async with open_product(tmp_path, world, **options) as product:
            await product.cycle(gap=TICK, is_forced=False)
            reports.append(get_account(product).stretch)
            await run_for(product, 300)
            asked = sum(len(each.references) for each in product.reports[1:])
            skipped = product.report.skipped["not_due"]

    assert (asked, skipped) == (0, CALM)
    assert [each.level for each in reports] == [StretchLevel.IDLE] * 2
    assert reports[0].stretch.intervals == reports[1].stretch.intervals


async def test_a_budget_that_suffices_stretches_nothing(tmp_path):
    world, pull_requests = make_world(5000)
    async with open_product(tmp_path, world, watches=watch(pull_requests)) as product:
        await product.cycle(gap=TICK, is_forced=False)
        asked = Asked(product)
        await run_for(product, 600, asked)
        report = get_account(product).stretch

    assert (report.level, report.stretched, report.words) == (StretchLevel.NONE, 0, "")
    assert asked.gaps(pull_requests[0].number) == {60.0}


async def test_two_tokens_of_one_account_are_planned_for_together(tmp_path):
    world, pull_requests = make_world(500)
    world.set_token("ghp_second")
    mine, theirs = watch(pull_requests[:200]), watch(pull_requests[200:])
    tables = "\n".join(f"[[workspace.watch]]\n{each}" for each in theirs)
    second = f'[[workspace]]\nname = "second"\ntoken_env = "SECOND"\n{tables}\n'
    options = {"secrets": {"SECOND": "ghp_second"}, "sinks": second + OUT}
    async with open_product(tmp_path, world, watches=mine, **options) as product:
        await product.cycle(gap=TICK, is_forced=False)
        first, other = product.runtime.wired.accounts

    assert first.stretch is other.stretch
    assert first.stretch.load.watched == CALM
    assert first.stretch.level is StretchLevel.IDLE


async def test_what_others_use_of_the_budget_is_not_ours(tmp_path):
    world, pull_requests = make_world(1000)
    async with open_product(tmp_path, world, watches=watch(pull_requests)) as product:
        await product.cycle(gap=TICK, is_forced=False)
        levels = [get_account(product).stretch.level]
        for _ in range(10):
            world.get_budget("octocat", "graphql").used += 12
            await run_for(product, 60)
        account = get_account(product)
        levels.append(account.stretch.level)

    assert levels == [StretchLevel.NONE, StretchLevel.IDLE]
    assert account.stretch.bucket.others == pytest.approx(12 * 60, rel=0.25)
    assert "of which others use " in account.stretch.words


async def test_a_server_without_limits_is_not_planned_for(tmp_path):
    world, _ = make_world(500, 100)
    options = {"clock": world.clock, "transport": Unlimited(world)}
    async with open_product(tmp_path, watches=(ALL,), **options) as product:
        await product.cycle(gap=TICK, is_forced=False)
        report = get_account(product).stretch

    assert (report.level, report.bucket) == (StretchLevel.NONE, None)


async def test_a_plan_is_made_at_most_once_an_interval(tmp_path):
    world, _ = make_world(500, 3)
    async with open_product(tmp_path, world, watches=(ALL,)) as product:
        planned = []
        for _ in range(9):
            await product.cycle(gap=TICK, is_forced=False)
            planned.append(get_account(product).planned_at)

    assert len(set(planned)) == 3
    assert planned[4] - planned[0] == dt.timedelta(seconds=60)


async def test_who_used_up_a_bucket_is_not_held_against_the_next_window(tmp_path):
    world = World(MovedClock())
    world.add_repository("octo/hello")
    world.open_pull_request("octo/hello", branch="fix", number=12)
    async with open_product(tmp_path, world, watches=(ONE,)) as product:
        await product.cycles(2)
        await product.cycles(6, is_forced=False)
        world.exhaust_rate_limit()
        asked = []
        for minute in range(75):
            before = len(world.requests)
            await product.cycle(is_forced=False)
            if len(world.requests) > before:
                asked.append(minute)

    blocked = [minute for minute in asked if 1 < minute < 50]
    assert blocked == []
    # The window is over within the hour; from there on it is asked as usual.
    (first, *later) = [minute for minute in asked if minute >= 50]
    assert first <= 61
    assert later == list(range(first + 1, 75))
