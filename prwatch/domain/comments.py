"""
How far comments were seen, and which of them are new.

A comment may show up after a newer one did, because GitHub's answers lag and its
times are whole seconds. So the mark keeps the ids of two minutes, not one time.
"""

import datetime as dt
from collections.abc import Iterable
from typing import Final

from prwatch.domain.pull_request import CommentItem, CommentMark

COMMENT_WINDOW: Final = dt.timedelta(minutes=2)
"""How much later than a newer comment an older one may still appear."""

COMMENT_LIMIT: Final = 20
"""How many comments a mark holds at most."""


def build_comment_mark(items: Iterable[CommentItem]) -> CommentMark:
    """Return the newest item and those of the two minutes before it, at most 20."""
    ordered = sorted(set(items))
    if not ordered:
        return CommentMark()
    oldest_at = ordered[-1].created_at - COMMENT_WINDOW
    recent = [item for item in ordered if item.created_at >= oldest_at]
    return CommentMark(tuple(recent[-COMMENT_LIMIT:]))


def list_new_comments(seen: CommentMark, read: CommentMark) -> tuple[CommentItem, ...]:
    """
    Return the items that are new, oldest first.

    New is what the mark lacks inside its two minutes or after them. Behind the
    oldest item of a full mark nothing is new: it may have been cut off there.
    """
    if not seen.items:
        return read.items
    known = {item.node_id for item in seen.items}
    oldest_at = seen.items[-1].created_at - COMMENT_WINDOW
    cut = seen.items[0] if len(seen.items) >= COMMENT_LIMIT else None
    return tuple(
        item
        for item in read.items
        if item.node_id not in known
        and item.created_at >= oldest_at
        and (cut is None or item > cut)
    )


def merge_comment_marks(one: CommentMark, other: CommentMark) -> CommentMark:
    """Return the mark that has seen what both have seen."""
    return build_comment_mark((*one.items, *other.items))
