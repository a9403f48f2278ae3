import datetime as dt

import pytest

from prwatch.domain.outlook import explain_turn
from prwatch.domain.schedule import Intervals, ReferenceKind, Turn
from tests.readings import NOON, at

DAY = 86_400
BRANCH, FINISHED = ReferenceKind.SEARCHING, ReferenceKind.FINISHED


def explain(kind=ReferenceKind.DISCOVERED, *, intervals=None, **fields):
    turn = Turn(kind=kind, last_asked_at=NOON, **fields)
    return explain_turn(turn, intervals or Intervals(), now=at(10))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        pytest.param(
            {"is_busy": True},
            "every 15 s: checks run, a merge is queued, or a verdict settles",
            id="hot",
        ),
        pytest.param(
            {"last_sign_at": at(-60)},
            "every 1 min: it moved within the last hour",
            id="fresh",
        ),
        pytest.param(
            {"last_sign_at": at(-7200)},
            "every 1 min: nothing moved for an hour",
            id="idle",
        ),
        pytest.param(
            {
                "last_sign_at": at(-2 * DAY),
                "intervals": Intervals(idle_rest=dt.timedelta(minutes=15)),
            },
            "every 15 min: nothing moved for a day",
            id="stretched",
        ),
        pytest.param(
            {"is_archived": True},
            "every 1 d: its repository is archived",
            id="archived",
        ),
        pytest.param(
            {"kind": BRANCH, "last_sign_at": at(-60)},
            "every 1 min: somebody works on the branch",
            id="branch",
        ),
        pytest.param(
            {"kind": BRANCH, "last_sign_at": at(-7200)},
            "every 5 min: the last sign of life is an hour old",
            id="quiet branch",
        ),
        pytest.param(
            {"kind": BRANCH, "last_sign_at": at(-2 * DAY)},
            "every 15 min: the last sign of life is a day old",
            id="silent branch",
        ),
        pytest.param(
            {"kind": BRANCH, "last_sign_at": at(-40 * DAY)},
            "never: it rests until somebody or something wakes it",
            id="resting branch",
        ),
        pytest.param(
            {"kind": FINISHED, "closed_at": at(-60)},
            "every 15 min: it is closed, and may be opened again",
            id="closed",
        ),
    ],
)
def test_a_turn_is_told_with_its_reason(fields, words):
    assert explain(**fields) == words
