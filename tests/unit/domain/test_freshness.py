import datetime as dt

import pytest

from prwatch.domain.freshness import (
    AgeReport,
    Seen,
    StaleReason,
    get_bound,
    measure_ages,
)
from prwatch.telemetry.labels import STALE_REASONS
from tests.readings import NOON, at

MINUTE = dt.timedelta(minutes=1)


@pytest.mark.parametrize(
    ("interval", "bound"),
    [
        pytest.param(MINUTE / 4, 5 * MINUTE, id="hot"),
        pytest.param(MINUTE, 5 * MINUTE, id="usual"),
        pytest.param(15 * MINUTE, 45 * MINUTE, id="stretched"),
    ],
)
def test_a_watch_may_miss_two_of_its_turns_and_no_more(interval, bound):
    assert get_bound(interval) == bound


def test_the_oldest_counts_and_those_beyond_their_bound_by_reason():
    seen = [
        Seen(at(-300), MINUTE),
        Seen(at(-301), MINUTE),
        Seen(at(-400), MINUTE, StaleReason.LIMIT),
        Seen(at(-2000), 15 * MINUTE),
        Seen(at(-500), MINUTE, StaleReason.CIRCUIT),
    ]

    assert measure_ages(seen, now=NOON) == AgeReport(
        measured_at=NOON,
        oldest_at=at(-2000),
        watches=5,
        overdue={
            StaleReason.UNEXPLAINED: 1,
            StaleReason.LIMIT: 1,
            StaleReason.CIRCUIT: 1,
        },
    )


def test_without_watches_there_is_no_age():
    assert measure_ages([], now=NOON) == AgeReport(measured_at=NOON)


def test_the_reasons_are_those_that_metrics_know():
    assert tuple(StaleReason) == STALE_REASONS
