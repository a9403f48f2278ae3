"""Why a reference is asked for as often as it is: the words for its next turn."""

import datetime as dt
from collections.abc import Mapping
from typing import Final

from prwatch.domain.schedule import (
    Activity,
    Intervals,
    ReferenceKind,
    Turn,
    choose_interval,
    is_resting,
    judge_activity,
)
from prwatch.domain.timestamp import format_age

_PULL_REQUEST: Final[Mapping[Activity, str]] = {
    Activity.HOT: "checks run, a merge is queued, or a verdict settles",
    Activity.FRESH: "it moved within the last hour",
    Activity.IDLE: "nothing moved for an hour",
    Activity.RESTING: "nothing moved for a day",
}
_BRANCH: Final[Mapping[Activity, str]] = {
    Activity.HOT: "somebody works on the branch",
    Activity.FRESH: "somebody works on the branch",
    Activity.IDLE: "the last sign of life is an hour old",
    Activity.RESTING: "the last sign of life is a day old",
}


def explain_turn(turn: Turn, intervals: Intervals, *, now: dt.datetime) -> str:
    """
    Return how often it is asked for and why: `every 15 s: checks run, …`.

    `intervals` are those that hold now, so that the words tell of stretched ones too.
    """
    if is_resting(turn, now=now, intervals=intervals):
        return "never: it rests until somebody or something wakes it"
    often = f"every {format_age(choose_interval(turn, intervals))}"
    if turn.is_archived:
        return f"{often}: its repository is archived"
    match turn.kind:
        case ReferenceKind.FINISHED:
            return f"{often}: it is closed, and may be opened again"
        case ReferenceKind.SEARCHING:
            return f"{often}: {_BRANCH[judge_activity(turn)]}"
        case _:
            return f"{often}: {_PULL_REQUEST[judge_activity(turn)]}"
