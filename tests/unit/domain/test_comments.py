import pytest

from prwatch.domain.comments import (
    build_comment_mark,
    list_new_comments,
    merge_comment_marks,
)
from prwatch.domain.pull_request import CommentMark
from tests.readings import make_comment, make_mark


def test_a_mark_holds_the_newest_item_and_the_two_minutes_before_it():
    items = [make_comment(second) for second in (300, 0, 180, 179, 300)]

    assert build_comment_mark(items) == make_mark(180, 300)


def test_a_mark_holds_at_most_twenty_items():
    items = [make_comment(second) for second in range(50)]

    assert build_comment_mark(items) == make_mark(*range(30, 50))


def test_no_items_make_an_empty_mark():
    assert build_comment_mark([]) == CommentMark()
    assert build_comment_mark([]).newest_at is None


FULL = make_mark(*range(100, 120))


@pytest.mark.parametrize(
    ("seen", "read", "new"),
    [
        pytest.param(make_mark(), make_mark(), (), id="none and none"),
        pytest.param(make_mark(), make_mark(1), (1,), id="the first comment"),
        pytest.param(make_mark(1), make_mark(1), (), id="the same"),
        pytest.param(make_mark(1), make_mark(), (), id="deleted"),
        pytest.param(make_mark(1), make_mark(1, 9), (9,), id="a newer one"),
        pytest.param(make_mark(9), make_mark(1, 9), (1,), id="I9 one that came late"),
        pytest.param(
            make_mark(200), make_mark(80, 200), (80,), id="at the edge of two minutes"
        ),
        pytest.param(make_mark(200), make_mark(79), (), id="behind the two minutes"),
        pytest.param(FULL, make_mark(99), (), id="behind a full mark's oldest"),
        pytest.param(FULL, make_mark(*range(100, 121)), (120,), id="after a full mark"),
    ],
)
def test_what_the_mark_lacks_is_new(seen, read, new):
    assert list_new_comments(seen, read) == tuple(make_comment(n) for n in new)


def test_two_comments_of_one_second_are_told_apart_by_id():
    """G7: the second one appears only after the poll."""
    five, six = make_comment(0, "IC_5"), make_comment(0, "IC_6")

    assert list_new_comments(CommentMark((five,)), CommentMark((five, six))) == (six,)


def test_nothing_is_new_once_marks_are_merged():
    seen, read = make_mark(0, 60, 100), make_mark(150, 190)

    merged = merge_comment_marks(seen, read)

    assert merged == make_mark(100, 150, 190)
    assert list_new_comments(merged, seen) == ()
    assert list_new_comments(merged, read) == ()
