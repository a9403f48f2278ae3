"""Reports about waits: how long a refusal is believed, whatever form it has."""

import datetime as dt
import email.utils

import pytest

from prwatch.domain.circuit import CircuitKind
from tests.fault.test_clock_steps import SteppedClock
from tests.product import list_changes, open_product
from tests.reports.acts import draft
from tests.reports.altered_github import AlteredGitHub
from tests.reports.stage import PATHS, configure, make_stage

DRAFT = (("is_draft", False, True),)
HOUR = 3_600
SECONDARY = "You have exceeded a secondary rate limit."
PRIMARY = "API rate limit exceeded for user ID 1."


async def wait_until_asked(product, github, *, step, most):
    """Run cycles until GitHub is asked; return the seconds since the call."""
    before, waited = len(github.asked), 0.0
    while len(github.asked) == before:
        assert waited < most, "nobody asks any more"
        await product.cycle(gap=step)
        waited += step
    return waited


def refuse(status, message="", **headers):
    """Return an `alter` that refuses everything in these words."""

    def alter(answered):
        answered.status = status
        answered.body = {"message": message}
        for name, value in headers.items():
            answered.headers[name.replace("_", "-")] = value

    return alter


# agentconnect-md/agentconnect#1981, hub4j/github-api#1895


def in_seconds(seconds, *, form="rfc1123"):
    """Return how to write that time from now on GitHub's clock in a header."""

    def write(now):
        at = now.replace(microsecond=0) + dt.timedelta(seconds=seconds)
        if form == "rfc850":
            return at.strftime("%A, %d-%b-%y %H:%M:%S GMT")
        if form == "asctime":
            return at.strftime("%a %b %d %H:%M:%S %Y")
        return email.utils.format_datetime(at, usegmt=True)

    return write


WAITS = [
    ("A5 sixty seconds", "60", 60),
    ("A5 ten minutes", "600", 600),
    ("A5 one second", "1", 1),
    ("A7 no header", None, 60),
    ("A7 an empty header", "", 60),
    ("A8 a date", in_seconds(90), 90),
    ("A8 a date of long ago", in_seconds(-90), 1),
    ("A8 a date by an older standard", in_seconds(90, form="rfc850"), 90),
    ("A8 a date by the oldest standard", in_seconds(90, form="asctime"), 90),
    ("A8 soon", "soon", 60),
    ("A8 minus five", "-5", 60),
    ("A8 half a minute", "30.5", 60),
    ("A8 next year", "31536000", 65 * 60),
    ("A8 a broken date", "Mon, 99 Nov 2026 12:00:00 GMT", 60),
]


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize(
    ("header", "seconds"), [pytest.param(*each[1:], id=each[0]) for each in WAITS]
)
async def test_a_named_wait_is_kept_and_an_unnamed_one_is_a_minute(
    tmp_path, header, seconds, status, read_path
):
    world, one = make_stage()
    github = AlteredGitHub(world)
    options = {"transport": github, **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycles(2)
        draft(world, one)
        value = header(world.clock.now()) if callable(header) else header
        named = {} if value is None else {"retry_after": value}
        github.alter = refuse(status, SECONDARY, x_ratelimit_remaining="4000", **named)
        await product.cycle(gap=0)
        circuits = [k.kind for k, _ in product.runtime.circuits.items()]
        github.alter = None
        step = max(1.0, seconds / 40)
        waited = await wait_until_asked(product, github, step=step, most=2 * HOUR)
        told = product.take_events() + await product.cycles(2)

    assert circuits == []
    assert seconds - 1 <= waited <= seconds + 2 * step
    assert product.report.failures == []
    assert list_changes(told) in ([DRAFT], [])


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    "message", [SECONDARY, "", "You have triggered an abuse detection mechanism."]
)
async def test_a5_a_wait_with_points_left_touches_no_record(
    tmp_path, message, read_path
):
    world, one = make_stage()
    github = AlteredGitHub(world)
    options = {"transport": github, **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycles(2)
        github.alter = refuse(
            403, message, retry_after="60", x_ratelimit_remaining="4000"
        )
        draft(world, one)
        await product.cycle()
        kinds = {
            kind for (kind, _), n in product.runtime.circuits.failures.items() if n
        }
        github.alter = None
        told = await product.cycle(gap=61)

    assert CircuitKind.RECORD not in kinds
    assert kinds == set()
    assert list_changes(told) == [DRAFT]


# hub4j/github-api#1805


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("status", [403, 429])
async def test_a7_unnamed_waits_double_to_a_cap_with_one_request_each(
    tmp_path, status, read_path
):
    world, _ = make_stage()
    github = AlteredGitHub(world)
    options = {"transport": github, **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycles(2)
        github.alter = refuse(status, SECONDARY)
        await product.cycle(gap=0)
        before = len(github.asked)
        waits = [
            await wait_until_asked(product, github, step=10, most=2 * HOUR)
            for _ in range(6)
        ]

    assert waits == [60, 120, 240, 480, 960, 960]
    assert len(github.asked) - before == 6


# octokit/plugin-throttling.js#599, #635


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("ahead", [0, 5, -5, 90, HOUR, -HOUR])
async def test_a9_nobody_comes_back_before_the_reset_on_github_s_clock(
    tmp_path, ahead, read_path
):
    world, _ = make_stage()
    clock = SteppedClock(world.clock)
    clock.step = float(ahead)
    github = AlteredGitHub(world)
    options = {"transport": github, "clock": clock, **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycles(2)
        bucket = "graphql" if read_path == "graphql" else "core"
        world.exhaust_rate_limit(bucket, for_=dt.timedelta(minutes=10))
        reset_at = world.budgets["octocat", bucket].reset_at
        await product.cycle(gap=1)
        github.asked.clear()
        await wait_until_asked(product, github, step=1, most=2 * HOUR)
        asked_at = world.clock.now()

    assert world.requests.while_limited <= 1
    assert dt.timedelta(seconds=1) < asked_at - reset_at <= dt.timedelta(seconds=5)


# chaoss/grimoirelab-perceval#356

ENDS = {"first": 0, "last": 2**32 - 1}


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    ("reset", "least", "most"),
    [
        pytest.param(-10, 1, 130, id="ten seconds ago"),
        pytest.param(-HOUR, 1, 130, id="an hour ago"),
        pytest.param("first", 1, 130, id="in 1970"),
        pytest.param(0, 1, 130, id="now"),
        pytest.param(90 * 24 * HOUR, 60, 66 * 60, id="in three months"),
        pytest.param("last", 60, 66 * 60, id="in 2106"),
    ],
)
async def test_a10_a_reset_that_cannot_be_is_a_wait_of_sense(
    tmp_path, reset, least, most, read_path
):
    world, _ = make_stage()
    github = AlteredGitHub(world)
    options = {"transport": github, **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycles(2)
        now = int(world.clock.now().timestamp())
        epoch = ENDS[reset] if reset in ENDS else now + reset
        github.alter = refuse(
            403, PRIMARY, x_ratelimit_remaining="0", x_ratelimit_reset=str(epoch)
        )
        await product.cycle(gap=0)
        github.asked.clear()
        step = max(1, most // 130)
        waited = await wait_until_asked(product, github, step=step, most=2 * HOUR)

    assert least <= waited <= most
    assert len(github.asked) == 1
