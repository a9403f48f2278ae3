"""Entries of review watches against what is stored."""

import datetime as dt
from dataclasses import replace

from prwatch.domain.review_watch import ReviewSettings, ReviewWatch
from prwatch.domain.review_watch_plan import (
    AddReviewWatch,
    DesiredReviewWatch,
    PutReviewWatch,
    RemoveReviewWatch,
    RenameReviewWatch,
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


def test_an_entry_with_another_name_is_the_same_watch():
    renamed = replace(WANTED, name="ours")
    of_file = replace(STORED, origin=Origin.WATCH_FILE, written_as="a.toml")
    moved = replace(renamed, written_as="b.toml")

    assert plan([renamed], STORED) == (
        RenameReviewWatch(STORED, renamed, Origin.CONFIG),
    )
    assert plan([moved], of_file, origin=Origin.WATCH_FILE) == (
        RenameReviewWatch(of_file, moved, Origin.WATCH_FILE),
    )


def test_a_new_name_waits_while_the_old_one_may_stand_elsewhere():
    renamed = replace(WANTED, name="ours")

    assert plan([renamed], STORED, is_final=False) == ()
    assert plan([renamed], STORED, heirs=[WANTED]) == (
        AddReviewWatch(renamed, Origin.CONFIG),
        PutReviewWatch(STORED, WANTED, Origin.WATCH_FILE),
    )


def test_another_name_with_other_settings_is_another_watch():
    other = replace(EDITED, name="ours")

    assert plan([other], STORED) == (
        AddReviewWatch(other, Origin.CONFIG),
        RemoveReviewWatch(STORED),
    )
    assert plan([replace(WANTED, name="ours")], PERSONS) == (
        AddReviewWatch(replace(WANTED, name="ours"), Origin.CONFIG),
    )


def test_where_two_could_be_meant_none_is_renamed():
    one, two = (replace(WANTED, name=name) for name in ("one", "two"))
    again = replace(STORED, id="v2", name="again")

    assert plan([one, two], STORED) == (
        AddReviewWatch(one, Origin.CONFIG),
        AddReviewWatch(two, Origin.CONFIG),
        RemoveReviewWatch(STORED),
    )
    assert plan([one], STORED, again) == (
        AddReviewWatch(one, Origin.CONFIG),
        RemoveReviewWatch(STORED),
        RemoveReviewWatch(again),
    )


def test_no_watch_is_renamed_to_a_name_whose_row_cannot_be_read():
    ours = replace(WANTED, name="ours")

    assert plan([ours], STORED, unreadable={"ours"}) == (
        AddReviewWatch(ours, Origin.CONFIG),
        RemoveReviewWatch(STORED),
    )
