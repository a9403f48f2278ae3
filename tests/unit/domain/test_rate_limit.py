import datetime as dt

import pytest

from prwatch.domain.rate_limit import (
    Budget,
    LimitChange,
    LimitTransition,
    get_reserve,
    list_transitions,
    merge_budgets,
)

NOW = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)


def budget(remaining, **wait):
    return Budget("core", 5000, remaining, NOW + dt.timedelta(**wait))


@pytest.mark.parametrize(
    ("known", "told", "expected"),
    [
        pytest.param(None, budget(9, minutes=5), budget(9, minutes=5), id="the first"),
        pytest.param(
            budget(9, minutes=5), budget(8, minutes=5), budget(8, minutes=5), id="less"
        ),
        pytest.param(
            budget(8, minutes=5), budget(9, minutes=5), budget(8, minutes=5), id="more"
        ),
        pytest.param(
            budget(8, minutes=33), budget(9, minutes=30), budget(8, minutes=33), id="back"
        ),
        pytest.param(
            budget(8, minutes=30), budget(9, minutes=33), budget(8, minutes=33), id="forth"
        ),
        pytest.param(
            budget(0, minutes=1), budget(5000, minutes=61), budget(5000, minutes=61), id="a new window"
        ),
        pytest.param(
            budget(0, seconds=0), budget(30, seconds=60), budget(30, seconds=60), id="a short window is over"
        ),
        pytest.param(
            budget(4990, minutes=60), budget(1, seconds=1), budget(4990, minutes=60), id="late from the window before"
        ),
        pytest.param(
            budget(4990, minutes=60), budget(7, minutes=20), budget(7, minutes=20), id="a lower counter"
        ),
        pytest.param(
            budget(6, minutes=60), budget(7, minutes=20), budget(6, minutes=60), id="a higher counter"
        ),
    ],
)  # fmt: skip
def test_the_lowest_count_of_a_window_counts_until_the_reset_moves(
    known, told, expected
):
    assert merge_budgets(known, told, now=NOW) == expected


@pytest.mark.parametrize(
    ("limit", "share", "reserve"),
    [
        pytest.param(5000, 0.15, 750, id="the usual"),
        pytest.param(30, 0.15, 4, id="rounded down"),
        pytest.param(6, 0.15, 0, id="too small for one"),
        pytest.param(100, 0.29, 29, id="not lost to the float"),
        pytest.param(5000, 0.0, 0, id="none"),
        pytest.param(0, 0.9, 0, id="nothing at all"),
    ],
)
def test_a_reserve_is_a_share_rounded_down(limit, share, reserve):
    assert get_reserve(limit, share) == reserve


def test_what_is_told_already_is_no_news():
    until = NOW + dt.timedelta(minutes=5)

    news = list_transitions({"core", "graphql"}, {"graphql": until, "search": until})

    assert news == [
        LimitTransition("core", LimitChange.RECOVERED),
        LimitTransition("search", LimitChange.EXHAUSTED, until),
    ]
