"""What stays of a review task that goes, and what brings it back."""

import dataclasses
import datetime as dt

import pytest

from prwatch.domain.events import EventType
from prwatch.domain.review_ending import Ending, build_audit, build_review_deleted
from prwatch.domain.review_undo import build_restored, build_restored_row, find_undo
from prwatch.domain.review_watch import AuditAction, AuditActor
from prwatch.domain.task import Origin, Workspace
from tests.unit.domain.test_review_cleanup import (
    MERGED,
    NOON,
    make_row,
    make_swept,
    make_task,
)

DAY = dt.timedelta(days=1)


def make_ending(**changes):
    base = Ending(
        workspace=Workspace(id="w1", name="acme"),
        swept=make_swept(make_row("r1"), make_row("r2", is_watched=False)),
        action=AuditAction.DELETED,
        reason="pr_merged_or_closed",
        proofs={"r1": MERGED, "r2": MERGED},
        acted_at=NOON,
        acted_by=AuditActor.SCHEDULE,
        undo_until=NOON + DAY,
    )
    return dataclasses.replace(base, **changes)


def test_each_row_has_its_entry_and_the_first_restores():
    first, second = build_audit(make_ending(), ["a1", "a2"], {"task": 1})

    assert (first.id, first.review_watch_id) == ("a1", "v1")
    assert (first.snapshot, first.undo_until) == ({"task": 1}, NOON + DAY)
    assert (second.id, second.review_watch_id) == ("a2", "")
    assert (second.snapshot, second.undo_until) == ({}, None)
    assert first.evidence == second.evidence == MERGED


def test_nothing_is_deleted_without_a_proof_of_each_row():
    ending = make_ending(proofs={"r1": MERGED})
    gone = dataclasses.replace(ending, action=AuditAction.RELEASED, proofs={})

    with pytest.raises(KeyError):
        build_audit(ending, ["a1", "a2"], {})
    assert [each.evidence for each in build_audit(gone, ["a1", "a2"], {})] == [{}, {}]


def test_what_is_told_of_it():
    event = build_review_deleted(make_ending(), event_id="e1", source="prwatch:test")

    assert event.type is EventType.PR_REVIEW_TASK_DELETED
    assert (event.subject, event.task_id) == ("acme/review:octo/hello#1", "t1")
    assert event.data == {
        "workspace": "acme",
        "task_id": "review:octo/hello#1",
        "review_watches": [{"id": "v1", "name": "mine"}],
        "repository": {"owner": "octo", "name": "hello", "node_id": ""},
        "pull_request": {"number": 1, "node_id": "PR_1"},
        "reason": "pr_merged_or_closed",
        "evidence": MERGED,
        "by": "schedule",
        "undo_until": "2026-12-01T12:00:00.000000Z",
    }


def test_a_task_that_is_gone_has_the_name_that_it_had():
    swept = dataclasses.replace(make_swept(), task=None)

    assert make_ending(swept=swept).external_id == "review:octo/hello#1"


@pytest.mark.parametrize(
    ("changes", "is_found"),
    [
        ({}, True),
        ({"undo_until": NOON}, True),
        ({"undo_until": NOON - DAY}, False),
        ({"undo_until": None}, False),
        ({"snapshot": {}}, False),
        ({"action": AuditAction.RELEASED}, False),
    ],
)
def test_which_entry_undoes(changes, is_found):
    (one, _) = build_audit(make_ending(), ["a1", "a2"], {"task": 1})
    entry = dataclasses.replace(one, **changes)

    assert (find_undo([entry], NOON) is entry) == is_found


def test_a_restored_task_is_the_persons_and_was_never_seen_done():
    task = build_restored(make_task(), NOON)
    row = make_row(terminal_seen_at=NOON, terminal_evidence=MERGED).row
    with_watch = build_restored_row(row, {"v1"})
    without = build_restored_row(row, set())

    assert (task.origin, task.person_wrote_at) == (Origin.COMMAND, NOON)
    assert (with_watch.review_watch_id, without.review_watch_id) == ("v1", "")
    assert (with_watch.terminal_seen_at, with_watch.terminal_evidence) == (None, {})
