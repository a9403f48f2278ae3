"""What an hour is forecast to cost, compared with what it is charged."""

import os

import httpx
import pytest

from prwatch.app.command.budget import answer_budget
from prwatch.simulator import World
from tests.product import MovedClock, open_product

STANDIN = os.environ.get("PRWATCH_STANDIN_URL", "")
MINUTES = 30
"""Half an hour: twice all is read in full, three times lists are walked to their end."""
SOON = 5.0
"""Seconds after which nothing is due to be read in full again."""


def write_watches(singles, branches):
    """Name pull requests and branches, and all of a repository besides."""
    return [
        *(f'repository = "bench/hello"\npull_request = {number}' for number in singles),
        *(f'repository = "bench/hello"\nbranch = "b-{n}"' for n in range(branches)),
        'repository = "bench/list"\nall = true',
    ]


def make_world(singles, listed):
    world = World(MovedClock())
    world.limits = dict.fromkeys(world.limits, 10**9)
    world.add_repository("bench/hello")
    world.add_repository("bench/list")
    named = world.open_many("bench/hello", singles)
    world.open_many("bench/list", listed)
    world.clock.advance(7200)
    return world, [one.number for one in named]


async def forecast(product):
    (account,) = (await answer_budget(product.runtime, {}))["accounts"]
    return account


SIZES = [
    pytest.param(70, 30, 10, id="100"),
    pytest.param(700, 300, 60, id="1,000"),
    pytest.param(
        8000,
        2000,
        200,
        id="10,000",
        # To adopt them takes the simulator minutes.
        marks=[pytest.mark.slow, pytest.mark.timeout(900)],
    ),
]


@pytest.mark.parametrize(("singles", "listed", "branches"), SIZES)
async def test_what_is_charged_was_forecast(tmp_path, singles, listed, branches):
    world, numbers = make_world(singles, listed)
    options = {"watches": write_watches(numbers, branches)}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycle(is_forced=False)
        await product.cycle(is_forced=False)
        told = await forecast(product)
        world.requests.clear()
        await product.cycle(gap=SOON)
        quiet = world.requests.points
        world.requests.clear()
        for _ in range(MINUTES):
            await product.cycle(is_forced=False)

    assert told["watches"]["pull_requests"] == singles + listed
    charged = world.requests
    assert told["hour"]["points"] == pytest.approx(2 * charged.points, rel=0.1)
    assert told["hour"]["requests"] == pytest.approx(2 * charged.graphql, rel=0.1)
    assert told["cycle"]["points"] == pytest.approx(quiet, rel=0.1)


async def test_a_restart_makes_nothing_dearer(tmp_path):
    world, numbers = make_world(70, 30)
    options = {"watches": write_watches(numbers, 10)}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycle(is_forced=False)
    async with open_product(tmp_path, world, **options) as product:
        await product.cycle(is_forced=False)
        told = await forecast(product)
        world.requests.clear()
        for _ in range(MINUTES):
            await product.cycle(is_forced=False)

    assert told["hour"]["points"] == pytest.approx(2 * world.requests.points, rel=0.1)


NO_CHECKS = {"checks": 0, "statuses": 0}
"""Else some of them run for ever, and are hot."""


class Standin:
    """An independent model of GitHub, and how it is told what to hold."""

    token = "ghp_forecast"

    def __init__(self, control):
        self._control = control

    def prepare(self, singles, listed):
        self.call("reset", {})
        self.call("config", {"enforceSecondary": False})
        for resource in ("graphql", "core"):
            limit = {"token": self.token, "resource": resource, "limit": 10**9}
            self.call("ratelimit", limit)
        self.call("generate", {"repo": "bench/hello", "prs": singles, **NO_CHECKS})
        self.call("generate", {"repo": "bench/list", "prs": listed, **NO_CHECKS})
        ids = self._control.get("ids/bench/hello").json()
        return [row["number"] for row in ids]

    def call(self, path, body):
        self._control.post(path, json=body).raise_for_status()

    @property
    def points(self):
        return self._control.get("stats").json()["graphqlCost"]


@pytest.fixture
def control():
    address = f"{STANDIN}/_control"
    with httpx.Client(base_url=address, trust_env=False, timeout=60) as client:
        yield client


@pytest.mark.skipif(not STANDIN, reason="set PRWATCH_STANDIN_URL")
@pytest.mark.parametrize(("singles", "listed", "branches"), SIZES)
async def test_the_stand_in_charges_what_was_forecast(
    tmp_path, control, singles, listed, branches
):
    standin = Standin(control)
    numbers = standin.prepare(singles, listed)
    options = {
        "watches": write_watches(numbers, branches),
        "transport": httpx.AsyncHTTPTransport(),
        "token": standin.token,
        "api_url": STANDIN,
        "clock": MovedClock(),
        "is_inline": False,
    }
    async with open_product(tmp_path, **options) as product:
        await product.cycle(is_forced=False)
        await product.cycle(is_forced=False)
        told = await forecast(product)
        standin.call("stats-reset", {})
        await product.cycle(gap=SOON)
        quiet = standin.points
        standin.call("stats-reset", {})
        for _ in range(MINUTES):
            await product.cycle(is_forced=False)

    assert told["hour"]["points"] == pytest.approx(2 * standin.points, rel=0.1)
    assert told["cycle"]["points"] == pytest.approx(quiet, rel=0.1)
