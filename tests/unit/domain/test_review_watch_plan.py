"""Entries of review watches against what is stored."""

import datetime as dt
from dataclasses import replace

from prwatch.domain.review_watch import ReviewSettings, ReviewWatch
from prwatch.domain.review_watch_plan import (
    AddReviewWatch,
    DesiredReviewWatch,
    PutReviewWatch,
    RemoveReviewWatch,
    list_taken,
    plan_review_watches,
)
from prwatch.domain.task import Origin

NOON = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
WANTED = DesiredReviewWatch(name="mine")
EDITED = DesiredReviewWatch(name="mine", settings=ReviewSettings(query="is:pr"))
STORED = ReviewWatch(
    id="v1", workspace_id="w1", name="mine", origin=Origin.CONFIG, created_at=NOON
)
PERSONS = replace(STORED, origin=Origin.COMMAND)


def plan(desired, *stored, origin=Origin.CONFIG):
    return plan_review_watches(desired, stored, origin=origin)


def test_a_new_entry_is_added_and_an_equal_one_is_quiet():
    assert plan([WANTED]) == (AddReviewWatch(WANTED, Origin.CONFIG),)
    assert plan([WANTED], STORED) == ()


def test_an_edited_entry_and_one_that_moved_between_files_are_put():
    moved = replace(WANTED, written_as="b.toml")
    of_file = replace(STORED, origin=Origin.WATCH_FILE, written_as="a.toml")

    assert plan([EDITED], STORED) == (PutReviewWatch(STORED, EDITED),)
    assert plan([moved], of_file, origin=Origin.WATCH_FILE) == (
        PutReviewWatch(of_file, moved),
    )


def test_an_entry_that_is_gone_takes_its_watch_along_and_nobody_elses():
    of_file = replace(STORED, name="theirs", origin=Origin.WATCH_FILE)
    persons = replace(PERSONS, name="own")

    assert plan([], STORED, of_file, persons) == (RemoveReviewWatch(STORED),)


def test_a_name_that_a_person_took_stays_the_persons():
    assert plan([EDITED], PERSONS) == ()
    assert list_taken([EDITED], [PERSONS], origin=Origin.CONFIG) == ("mine",)
    assert list_taken([EDITED], [STORED], origin=Origin.CONFIG) == ()
