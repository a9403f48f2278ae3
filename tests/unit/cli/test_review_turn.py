"""When a review watch is searched next, in words."""

import pytest

from prwatch.app.command.review.turns import UNKNOWN, SearchTurn
from prwatch.cli.review_turn import describe_turn, tell_next

NOON, LATER = "2026-11-30T12:00:00.000001Z", "2026-11-30T12:05:00.000001Z"
SHOWN_NOON, SHOWN_LATER = "2026-11-30 12:00:00 UTC", "2026-11-30 12:05:00 UTC"
LIMIT = "a rate limit (the message)"
DUE = SearchTurn(searched_at=NOON, due_at=LATER)
NEW = SearchTurn(due_at=NOON)


@pytest.fixture(autouse=True)
def zone(monkeypatch):
    monkeypatch.setenv("TZ", "UTC")


def make_held(reason, **changes):
    values = {"due_at": LATER, "held_by": reason, "held_until": LATER}
    return SearchTurn(**values, held_message="the message", **changes)


@pytest.mark.parametrize(
    ("turn", "lines"),
    [
        pytest.param(UNKNOWN, [], id="no daemon"),
        pytest.param(
            DUE,
            ["  searched last 2026-11-30 12:00:00 UTC; next 2026-11-30 12:05:00 UTC"],
            id="searched",
        ),
        pytest.param(
            NEW,
            ["  not searched since the daemon began; next 2026-11-30 12:00:00 UTC"],
            id="new",
        ),
        pytest.param(
            make_held("limit", searched_at=NOON),
            [
                f"  searched last {SHOWN_NOON}; not before {SHOWN_LATER}: {LIMIT}",
            ],
            id="held",
        ),
    ],
)
def test_a_watch_tells_when_it_was_and_will_be_searched(turn, lines):
    assert list(describe_turn(turn)) == lines


@pytest.mark.parametrize("reason", ["limit", "auth", "host", "transient", "config"])
def test_each_reason_has_words(reason):
    told = tell_next(make_held(reason))

    assert told.startswith("not before 2026-11-30 12:05:00")
    assert len(told.partition(": ")[2]) > len("a rate")


def test_a_watch_that_is_due_after_the_hold_tells_when_it_is_due():
    turn = SearchTurn(due_at=LATER, held_by="limit", held_until=NOON)

    assert tell_next(turn) == f"not before {SHOWN_LATER}: a rate limit"


def test_a_reason_of_another_version_is_told_as_it_is():
    assert tell_next(make_held("moon")).endswith(": moon")
    assert tell_next(UNKNOWN) == ""
