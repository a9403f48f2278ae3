import datetime as dt

import pytest

from prwatch.domain.rate_limit import Budget
from prwatch.errors import RateLimited
from prwatch.github.exchange import Exchange
from prwatch.github.tracker import Tracker
from tests.github_answers import NOW, StillClock

HOUR = dt.timedelta(hours=1)
SECOND = dt.timedelta(seconds=1)


def after(**wait):
    return NOW + dt.timedelta(**wait)


def answer(status=200, message="", *, date=NOW, remaining=None, reset=None, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if remaining is not None:
        named |= {
            "x-ratelimit-limit": "5000",
            "x-ratelimit-remaining": str(remaining),
            "x-ratelimit-reset": str(int((reset or NOW + HOUR).timestamp())),
        }
    return Exchange(status=status, headers=named, message=message, received_at=date)


SECONDARY = "You have exceeded a secondary rate limit"


@pytest.mark.parametrize(
    ("exchange", "bucket", "until"),
    [
        pytest.param(
            answer(403, SECONDARY, retry_after="7"), "secondary", after(seconds=7), id="seconds"
        ),
        pytest.param(
            answer(403, SECONDARY, retry_after="Mon, 30 Nov 2026 12:02:00 GMT"),
            "secondary",
            after(minutes=2),
            id="date",
        ),
        pytest.param(
            answer(403, SECONDARY, retry_after="soon"), "secondary", after(seconds=60), id="nonsense"
        ),
        pytest.param(answer(403, SECONDARY), "secondary", after(seconds=60), id="nothing named"),
        pytest.param(
            answer(403, "API rate limit exceeded", remaining=0, reset=after(minutes=10)),
            "core",
            after(minutes=10, seconds=2),
            id="reset and two seconds",
        ),
        pytest.param(
            answer(403, "API rate limit exceeded", date=after(seconds=-5), remaining=0, reset=after(minutes=10)),
            "core",
            after(minutes=10, seconds=7),
            id="our clock is ahead",
        ),
        pytest.param(
            answer(403, "API rate limit exceeded", remaining=0, reset=after(seconds=-10)),
            "core",
            after(seconds=1),
            id="reset in the past",
        ),
        pytest.param(
            answer(403, "API rate limit exceeded", remaining=0, reset=after(days=90)),
            "core",
            after(minutes=65),
            id="reset in the far future",
        ),
    ],
)  # fmt: skip
def test_a_limit_blocks_its_bucket_until_github_says(exchange, bucket, until):
    tracker = Tracker(StillClock())

    limit = tracker.observe(exchange)

    assert limit.retry_at == until
    assert tracker.blocks == {bucket: until}
    with pytest.raises(RateLimited) as caught:
        tracker.check("core", for_people=True)
    assert (caught.value.bucket, caught.value.retry_at) == (bucket, until)


def test_strange_resets_are_counted():
    tracker = Tracker(StillClock())

    tracker.observe(answer(remaining=10, reset=after(days=90)))
    tracker.observe(answer(remaining=10, reset=after(minutes=5)))
    tracker.observe(answer(403, SECONDARY, retry_after="0"))

    assert tracker.clamped_resets == 2
    assert tracker.budgets["core"].reset_at < after(minutes=65)


def test_a_block_ends_by_itself_and_bounds_only_its_bucket():
    clock = StillClock()
    tracker = Tracker(clock, blocks=[("core", after(minutes=1))])

    tracker.check("graphql", for_people=True)
    with pytest.raises(RateLimited):
        tracker.check("core", for_people=True)
    clock.time = after(minutes=1)

    tracker.check("core", for_people=True)
    assert tracker.blocked_until("core") is None


def test_unnamed_waits_double_up_to_a_bound_until_something_is_answered():
    clock = StillClock()
    tracker = Tracker(clock)
    waits = []

    for _ in range(6):
        until = tracker.observe(answer(403, SECONDARY)).retry_at
        waits.append((until - clock.now()).total_seconds())
        clock.time = until
    tracker.observe(answer())
    last = tracker.observe(answer(403, SECONDARY)).retry_at - clock.now()

    assert waits == [60, 120, 240, 480, 960, 960]
    assert last == dt.timedelta(seconds=60)


def test_a_good_answer_never_ends_a_secondary_limit():
    tracker = Tracker(StillClock())
    tracker.observe(answer(403, SECONDARY, retry_after="60"))

    tracker.observe(answer(remaining=4999))

    assert tracker.blocked_until("graphql") == after(seconds=60)


def test_the_lowest_remaining_of_a_window_counts_until_the_reset_moves():
    tracker = Tracker(StillClock())
    seen = []

    for remaining, reset in [
        (3173, after(minutes=30)),
        (3183, after(minutes=33)),
        (3172, after(minutes=30)),
        (4999, after(minutes=60)),
    ]:
        tracker.observe(answer(remaining=remaining, reset=reset))
        seen.append(tracker.budgets["core"].remaining)

    assert seen == [3173, 3173, 3172, 4999]
    assert tracker.blocks == {}
    assert tracker.budgets["core"] == Budget("core", 5000, 4999, after(minutes=60))


def test_an_empty_bucket_is_not_asked_again():
    tracker = Tracker(StillClock())

    assert tracker.observe(answer(remaining=0, reset=after(minutes=3))) is None

    assert tracker.blocked_until("core") == after(minutes=3, seconds=2)


def test_a_server_without_limits_has_no_budget():
    tracker = Tracker(StillClock())

    tracker.observe(answer())
    tracker.observe(answer(x_ratelimit_limit="many", x_ratelimit_remaining="0"))

    assert tracker.budgets == {}
    tracker.check("core", for_people=True)


def test_points_of_a_graphql_answer_are_a_budget_too():
    tracker = Tracker(StillClock())
    exchange = Exchange(status=200, headers={}, is_graphql=True, received_at=NOW)

    tracker.observe_budget(Budget("graphql", 5000, 0, after(minutes=1)), exchange)

    assert tracker.blocked_until("graphql") == after(minutes=1, seconds=2)


def test_stored_blocks_are_taken_over_and_the_later_time_counts():
    tracker = Tracker(
        StillClock(), blocks=[("core", after(minutes=5)), ("search", after(hours=-1))]
    )

    tracker.add_blocks([("core", after(minutes=1)), ("secondary", after(minutes=2))])

    assert tracker.blocks == {"core": after(minutes=5), "secondary": after(minutes=2)}
    assert tracker.blocked_until("core") == after(minutes=5)
    assert tracker.blocked_until("search") == after(minutes=2)


def test_a_block_from_before_the_clock_was_set_back_ends():
    tracker = Tracker(
        StillClock(), blocks=[("core", after(hours=2)), ("graphql", after(hours=1))]
    )

    assert tracker.blocks == {"graphql": after(hours=1)}
