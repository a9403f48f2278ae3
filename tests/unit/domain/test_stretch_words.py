import datetime as dt

import pytest

from prwatch.domain.load import Load
from prwatch.domain.schedule import Activity, Intervals
from prwatch.domain.stretch import Bucket, StretchRules, plan_stretch
from prwatch.domain.stretch_words import count_stretched, describe_stretch

INTERVALS = Intervals()
RULES = StretchRules()
HOUR = "the budget of 5,000 points an hour"


def tell(bucket=None, **counts):
    load = Load(pull_requests={Activity(name): n for name, n in counts.items()})
    bucket = bucket or Bucket(limit=5000)
    stretch = plan_stretch(load, INTERVALS, bucket=bucket, rules=RULES)
    text = describe_stretch(stretch, load, usual=INTERVALS, bucket=bucket, rules=RULES)
    return text, count_stretched(stretch, load, INTERVALS)


@pytest.mark.parametrize(
    ("counts", "text", "count"),
    [
        pytest.param({"idle": 100, "hot": 5}, "", 0, id="nothing"),
        pytest.param(
            {"fresh": 10, "idle": 1, "resting": 4000},
            "1 idle pull request is asked every 5 min,"
            " 4,000 resting pull requests are asked every 15 min:"
            f" {HOUR} does not hold 60 s for 4,011",
            4001,
            id="idle ones",
        ),
        pytest.param(
            {"fresh": 4000},
            "4,000 active pull requests are asked every 90 s:"
            f" {HOUR} does not hold 60 s for 4,000",
            4000,
            id="all that is not hot",
        ),
        pytest.param(
            {"fresh": 50_000},
            "50,000 active pull requests are asked every 5 min, and that does not"
            f" suffice: {HOUR} does not hold 60 s for 50,000",
            50_000,
            id="it does not suffice",
        ),
    ],
)
def test_what_gives_way_is_told_with_its_reason(counts, text, count):
    assert tell(**counts) == (text, count)


def test_a_budget_that_others_use_is_told_so():
    text, _ = tell(Bucket(limit=5000, others=3000), idle=3000)

    assert text.endswith(
        f"{HOUR}, of which others use 3,000, does not hold 60 s for 3,000"
    )


def test_a_budget_that_is_nearly_used_up_is_told_so():
    bucket = Bucket(limit=5000, remaining=1000, resets_in=dt.timedelta(minutes=30))
    text, _ = tell(bucket, idle=3000)

    assert text.endswith(f"what is left (1,000) of {HOUR} does not hold 60 s for 3,000")


def test_without_a_budget_there_is_nothing_to_tell():
    load = Load(pull_requests={Activity.IDLE: 9})
    stretch = plan_stretch(load, INTERVALS, bucket=None, rules=RULES)

    assert (
        describe_stretch(stretch, load, usual=INTERVALS, bucket=None, rules=RULES) == ""
    )
