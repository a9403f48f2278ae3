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


def plan(desired, *stored, origin=Origin.CONFIG, **options):
    return plan_review_watches(desired, stored, origin=origin, **options)


def test_a_new_entry_is_added_and_an_equal_one_is_quiet():
    assert plan([WANTED]) == (AddReviewWatch(WANTED, Origin.CONFIG),)
    assert plan([WANTED], STORED) == ()


def test_an_edited_entry_and_one_that_moved_between_files_are_put():
    moved = replace(WANTED, written_as="b.toml")
    of_file = replace(STORED, origin=Origin.WATCH_FILE, written_as="a.toml")

    assert plan([EDITED], STORED) == (PutReviewWatch(STORED, EDITED, Origin.CONFIG),)
    assert plan([moved], of_file, origin=Origin.WATCH_FILE) == (
        PutReviewWatch(of_file, moved, Origin.WATCH_FILE),
    )


def test_an_entry_that_is_gone_takes_its_watch_along_and_nobody_elses():
    of_file = replace(STORED, name="theirs", origin=Origin.WATCH_FILE)
    persons = replace(PERSONS, name="own")

    assert plan([], STORED, of_file, persons) == (RemoveReviewWatch(STORED),)


def test_a_name_that_a_person_took_stays_the_persons():
    assert plan([EDITED], PERSONS) == ()
    assert list_taken([EDITED], [PERSONS], origin=Origin.CONFIG) == (PERSONS,)
    assert list_taken([EDITED], [STORED], origin=Origin.CONFIG) == ()


def test_the_configuration_goes_before_a_file_and_not_the_other_way():
    of_file = replace(STORED, origin=Origin.WATCH_FILE, written_as="a.toml")

    assert plan([WANTED], of_file) == (PutReviewWatch(of_file, WANTED, Origin.CONFIG),)
    assert list_taken([WANTED], [of_file], origin=Origin.CONFIG) == ()
    assert plan([WANTED], STORED, origin=Origin.WATCH_FILE) == ()
    assert list_taken([WANTED], [STORED], origin=Origin.WATCH_FILE) == (STORED,)


def test_what_the_configuration_names_no_more_goes_to_the_file_that_does():
    heir = replace(EDITED, written_as="a.toml")

    assert plan([], STORED, heirs=[heir]) == (
        PutReviewWatch(STORED, heir, Origin.WATCH_FILE),
    )
    assert plan([], PERSONS, heirs=[heir]) == ()


def test_nothing_is_removed_before_the_files_were_read():
    assert plan([], STORED, is_final=False) == ()
    assert plan([EDITED], STORED, is_final=False) == plan([EDITED], STORED)
