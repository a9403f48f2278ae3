import datetime as dt
from dataclasses import replace

import pytest

from prwatch.domain.rate_limit import BucketState, Budget
from prwatch.errors import RateLimited, ReserveKept
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


def reserved(remaining=750, reset=None, clock=None, share=0.15):
    tracker = Tracker(clock or StillClock(), reserve=share)
    tracker.observe(answer(remaining=remaining, reset=reset or after(minutes=30)))
    return tracker


@pytest.mark.parametrize(
    ("remaining", "share", "is_paused"),
    [
        pytest.param(751, 0.15, False, id="above"),
        pytest.param(750, 0.15, True, id="at the reserve"),
        pytest.param(1, 0.15, True, id="below"),
        pytest.param(1, 0.0, False, id="no reserve"),
        pytest.param(4500, 0.9, True, id="a large one"),
    ],
)
def test_polling_pauses_at_the_reserve_and_people_go_on(remaining, share, is_paused):
    tracker = reserved(remaining, share=share)

    tracker.check("core", for_people=True)
    tracker.check("graphql", for_people=False)
    if is_paused:
        with pytest.raises(ReserveKept) as caught:
            tracker.check("core", for_people=False)
        assert caught.value.retry_at == after(minutes=30, seconds=2)
    else:
        tracker.check("core", for_people=False)
    until = after(minutes=30, seconds=2) if is_paused else None
    assert tracker.blocked_until("core") == until
    assert tracker.blocks == {}
    assert tracker.standing == {}


def test_the_pause_of_a_reserve_ends_with_the_reset_and_one_probe():
    clock = StillClock()
    tracker = reserved(clock=clock)
    with pytest.raises(ReserveKept):
        tracker.check("core", for_people=False)
    clock.time = after(minutes=30, seconds=2)

    tracker.check("core", for_people=False)

    assert tracker.needs_probe("core")
    tracker.observe(answer(date=clock.time, remaining=4999, reset=after(minutes=90)))
    assert not tracker.needs_probe("core")
    assert tracker.blocked_until("core") is None


def test_a_reserve_of_before_the_clock_was_set_back_pauses_nothing():
    clock = StillClock()
    tracker = reserved(clock=clock, reset=after(minutes=50))
    clock.time = after(hours=-1)

    tracker.check("core", for_people=False)


def test_a_bucket_without_a_limit_has_no_reserve():
    tracker = Tracker(StillClock(), reserve=0.15)

    tracker.observe_budget(Budget("core", 0, 0, after(minutes=5)), answer())

    tracker.check("core", for_people=False)


def test_a_block_from_before_the_clock_was_set_back_gives_way_to_a_new_one():
    tracker = Tracker(StillClock(), blocks=[("core", after(hours=2))])

    tracker.add_blocks([("core", after(minutes=1))])

    assert tracker.blocks == {"core": after(minutes=1)}


def test_a_bucket_is_described_with_what_forbids_it_most():
    clock = StillClock()
    tracker = reserved(clock=clock)
    tracker.observe(
        answer(
            remaining=0, reset=after(minutes=1), date=NOW, x_ratelimit_resource="search"
        )
    )
    told = {"limit": 5000, "reset_at": after(minutes=30), "reserve": 750}
    search = {
        "limit": 5000,
        "remaining": 0,
        "reset_at": after(minutes=1),
        "reserve": 750,
    }
    until = after(minutes=30, seconds=2)
    core = BucketState(
        bucket="core", remaining=750, blocked_until=until, reason="reserve", **told
    )
    ended = BucketState(
        bucket="search",
        blocked_until=after(minutes=1, seconds=2),
        reason="limit",
        **search,
    )

    assert tracker.describe() == (core, ended)

    tracker.observe(answer(403, SECONDARY, retry_after="600"))
    until = after(minutes=10)
    assert tracker.describe() == (
        replace(core, blocked_until=until, reason="secondary"),
        replace(ended, blocked_until=until, reason="secondary"),
        BucketState(bucket="secondary", blocked_until=until, reason="secondary"),
    )

    clock.time = after(minutes=40)
    assert tracker.describe()[0] == BucketState(
        bucket="core", limit=5000, remaining=5000, reserve=750
    )


def test_a_limit_under_a_strange_name_binds_the_question_that_met_it():
    tracker = Tracker(StillClock())
    exchange = replace(
        answer(429, "API rate limit exceeded", x_ratelimit_resource="integration"),
        asked_bucket="search",
    )

    tracker.observe(exchange)

    assert set(tracker.blocks) == {"search"}


def test_a_limit_of_another_bucket_binds_the_one_that_was_asked_too():
    tracker = Tracker(StillClock())
    exchange = replace(
        answer(429, "API rate limit exceeded", x_ratelimit_resource="search"),
        asked_bucket="core",
    )

    tracker.observe(exchange)

    assert set(tracker.blocks) == {"core", "search"}


def test_a_reset_that_stays_in_the_past_is_not_tried_again_and_again():
    clock = StillClock()
    tracker = Tracker(clock)
    waits = []

    for _ in range(4):
        past = clock.time - SECOND * 10
        refused = answer(
            403,
            "API rate limit exceeded",
            date=clock.time,
            x_ratelimit_reset=str(int(past.timestamp())),
        )
        until = tracker.observe(refused).retry_at
        waits.append((until - clock.time).total_seconds())
        clock.time = until

    assert waits == [1, 60, 120, 240]


@pytest.mark.parametrize(
    ("status", "is_proof"),
    [
        pytest.param(200, True, id="good"),
        pytest.param(304, True, id="not modified"),
        pytest.param(404, True, id="not found"),
        pytest.param(401, False, id="a token that is not known"),
        pytest.param(502, False, id="a gateway"),
    ],
)
def test_a_wait_needs_a_probe_until_something_is_answered(status, is_proof):
    clock = StillClock()
    tracker = Tracker(clock, blocks=[("secondary", after(minutes=1))])
    clock.time = after(minutes=1)
    assert tracker.needs_probe("core")

    tracker.observe(answer(status, date=clock.time))

    assert tracker.needs_probe("core") is not is_proof
    assert dict(tracker.standing) == (
        {} if is_proof else {"secondary": after(minutes=1)}
    )


def test_a_named_end_is_believed_and_a_guessed_one_needs_an_answer():
    clock = StillClock()
    tracker = Tracker(clock)
    named = answer(403, "API rate limit exceeded", remaining=0, reset=after(minutes=1))
    guessed = replace(answer(403, "API rate limit exceeded"), asked_bucket="search")
    tracker.observe(named)
    tracker.observe(guessed)
    assert set(tracker.standing) == {"core", "search"}

    clock.time = after(minutes=2)

    assert set(tracker.standing) == {"search"}
    tracker.observe(replace(answer(date=clock.time), asked_bucket="search"))
    assert tracker.standing == {}


def test_one_tracker_absorbs_another_and_the_stricter_fact_counts():
    clock = StillClock()
    ours, theirs = Tracker(clock), Tracker(clock)
    ours.observe(answer(remaining=90, reset=after(minutes=30)))
    ours.add_blocks([("search", after(minutes=9))])
    theirs.observe(answer(remaining=70, reset=after(minutes=30)))
    theirs.add_blocks([("search", after(minutes=5)), ("graphql", after(minutes=2))])
    theirs.observe(answer(403, SECONDARY))

    ours.absorb(theirs)
    ours.absorb(Tracker(clock))

    assert ours.budgets["core"].remaining == 70
    assert ours.blocks == {
        "search": after(minutes=9),
        "graphql": after(minutes=2),
        "secondary": after(minutes=1),
    }
    clock.time = after(minutes=1)
    again = ours.observe(answer(403, SECONDARY, date=clock.time)).retry_at
    assert again == after(minutes=3)
