"""The line for `systemctl status`: counts and words, and no names."""

import datetime as dt

import pytest

from prwatch.app.health.status_line import build_status_line
from prwatch.app.walk.cycle_report import CycleReport
from prwatch.domain.health import Health, Reason, ReasonCode, Verdict
from tests.readings import NOON

ZONE = dt.timezone(dt.timedelta(hours=2))
UNTIL = NOON + dt.timedelta(minutes=40, seconds=59)


def line(*reasons, discovered=2410, searching=3, paused=0):
    report = CycleReport(cycle_id="1", started_at=NOON)
    report.watches_discovered, report.watches_searching = discovered, searching
    return build_status_line(report, health(*reasons), paused=paused, zone=ZONE)


def health(*reasons):
    return Health(verdict=Verdict.OK, reasons=reasons, is_ready=True)


def because(code, count=1, until=None):
    return Reason(code=code, verdict=Verdict.DEGRADED, count=count, until=until)


def test_before_the_first_cycle_it_starts():
    assert build_status_line(None, health(), paused=0) == "starting"


@pytest.mark.parametrize(
    ("discovered", "searching", "expected"),
    [
        (2410, 3, "watching 2,410 pull requests, 3 branches"),
        (1, 1, "watching 1 pull request, 1 branch"),
        (0, 0, "watching 0 pull requests"),
    ],
)
def test_what_is_watched_is_counted(discovered, searching, expected):
    assert line(discovered=discovered, searching=searching) == expected


@pytest.mark.parametrize(
    ("reason", "paused", "expected"),
    [
        (because(ReasonCode.LIMIT, until=UNTIL), 1, "1 workspace paused until 14:40 (rate limit)"),
        (because(ReasonCode.LIMIT, until=UNTIL), 4, "4 workspaces paused until 14:40 (rate limit)"),
        (because(ReasonCode.LIMIT), 0, "1 workspace paused (rate limit)"),
        (because(ReasonCode.RESERVE, until=UNTIL), 1, "1 workspace paused until 14:40 (reserve)"),
        (because(ReasonCode.TOKEN_REFUSED), 0, "1 workspace has no valid token"),
        (because(ReasonCode.TOKEN_REFUSED, 2), 0, "2 workspaces have no valid token"),
        (because(ReasonCode.STALE, 1200), 0, "1,200 watches are not looked at"),
        (because(ReasonCode.STORE_UNWRITABLE), 0, "the store cannot be written"),
        (because(ReasonCode.SINK_FAILING, 2), 0, "2 sinks fail"),
    ],
)  # fmt: skip
def test_what_stands_in_the_way_is_told_in_words(reason, paused, expected):
    assert line(reason, paused=paused) == (
        f"watching 2,410 pull requests, 3 branches; {expected}"
    )


def test_several_troubles_stand_in_their_order():
    reasons = (because(ReasonCode.TOKEN_REFUSED), because(ReasonCode.SINK_FAILING))

    assert line(*reasons).split("; ")[1:] == [
        "1 workspace has no valid token",
        "1 sink fails",
    ]


@pytest.mark.parametrize("code", set(ReasonCode) - {ReasonCode.STARTING})
def test_every_reason_has_words(code):
    assert line(because(code)).count("; ") == 1
