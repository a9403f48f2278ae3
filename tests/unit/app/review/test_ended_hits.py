"""What is remembered of hits that need no task, and for how long."""

import datetime as dt
from dataclasses import replace

from prwatch.app.review import ended_hits
from prwatch.app.review.ended_hits import KEPT, MAX_REMEMBERED, SETTLED, EndedHits
from prwatch.domain.review_hit import HitVerdict
from prwatch.github.search import Hit
from tests.unit.app.review.test_turns import NOON, SECOND, make_watch

ENDED = HitVerdict.ENDED
HIT = Hit(node_id="PR_1", reference="octo/hello#1", updated_at=NOON - SETTLED)


def remember(hit=HIT, **changes):
    ended, watch = EndedHits(), make_watch(**changes)
    ended.note(watch, "ada", hit, ENDED, NOON)
    return ended, watch


def test_what_did_not_change_is_known():
    ended, watch = remember()

    assert ended.recall(watch, "ada", HIT, NOON) is ENDED
    assert ended.recall(watch, "ada", HIT, NOON + KEPT - SECOND) is ENDED


def test_what_may_have_changed_is_read_again():
    ended, watch = remember()
    moved = replace(HIT, updated_at=HIT.updated_at + SECOND)

    assert ended.recall(watch, "ada", moved, NOON) is None
    assert ended.recall(watch, "ada", replace(HIT, updated_at=None), NOON) is None
    assert ended.recall(watch, "bob", HIT, NOON) is None
    assert ended.recall(replace(watch, revision=2), "ada", HIT, NOON) is None
    assert ended.recall(replace(watch, id="v2"), "ada", HIT, NOON) is None
    assert ended.recall(watch, "ada", HIT, NOON + KEPT) is None
    assert ended.recall(watch, "ada", HIT, NOON - SECOND) is None


def test_what_changed_just_now_or_has_no_time_is_not_remembered():
    young = replace(HIT, updated_at=HIT.updated_at + SECOND)
    for hit in (young, replace(HIT, updated_at=None)):
        ended, watch = remember(hit)

        assert ended.recall(watch, "ada", hit, NOON) is None
        assert len(ended) == 0


def test_what_changed_is_forgotten_where_it_is_not_remembered_anew():
    ended, watch = remember()
    ended.note(watch, "ada", replace(HIT, updated_at=NOON), ENDED, NOON)

    assert ended.recall(watch, "ada", HIT, NOON) is None


def test_the_oldest_goes_where_there_are_too_many():
    ended, watch = remember()
    later = NOON + dt.timedelta(seconds=1)
    for number in range(2, MAX_REMEMBERED + 2):
        ended.note(watch, "ada", replace(HIT, node_id=f"PR_{number}"), ENDED, later)

    assert len(ended) == ended_hits.MAX_REMEMBERED
    assert ended.recall(watch, "ada", HIT, later) is None
    assert ended.recall(watch, "ada", replace(HIT, node_id="PR_2"), later) is ENDED
