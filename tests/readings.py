"""Readings of one pull request, its watermark and its watch, with plain defaults."""

import datetime as dt
from dataclasses import replace

from prwatch.domain.advance import advance
from prwatch.domain.compare import compare
from prwatch.domain.pull_request import (
    ChecksState,
    CommentItem,
    CommentMark,
    Mergeable,
    Observation,
    PullRequestState,
    RepositoryName,
    ReviewState,
)
from prwatch.domain.watch import Watch

NOON = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
SETTLE = dt.timedelta(seconds=20)

NONE = ChecksState.NONE
PENDING = ChecksState.PENDING
SUCCESS = ChecksState.SUCCESS
FAILURE = ChecksState.FAILURE


def at(seconds):
    return NOON + dt.timedelta(seconds=seconds)


def make_comment(seconds, node_id=None):
    return CommentItem(at(seconds), node_id or f"IC_{seconds}")


def make_mark(*seconds):
    return CommentMark(tuple(make_comment(second) for second in seconds))


def make_observation(**fields):
    values = {
        "repository": RepositoryName("octo", "hello", "R_1"),
        "number": 12,
        "node_id": "PR_12",
        "observed_at": NOON,
        "state": PullRequestState.OPEN,
        "updated_at": at(-60),
        "created_at": at(-3600),
        "title": "Say hello",
        "url": "https://github.com/octo/hello/pull/12",
        "head_ref_oid": "a" * 40,
        "head_ref_name": "topic",
        "base_ref_name": "main",
        "head_repository_id": "R_1",
        "author": "mona",
        "is_archived": False,
        "checks": PENDING,
        "review": ReviewState.NONE,
        "review_decision": None,
        "mergeable": Mergeable.MERGEABLE,
        "merge_queue": False,
        "auto_merge": False,
        "unresolved_threads": 0,
        "requested_reviewers": 0,
        "approvals": 0,
        "comment_mark": CommentMark(),
    }
    return Observation(**(values | fields))


def make_watermark(**fields):
    return advance(None, make_observation(**fields), ())


def make_watch(**fields):
    values = {
        "id": "W-1",
        "workspace_id": "WS-1",
        "task_id": "TASK-1",
        "repository_id": "REPO-1",
        "branch": "topic",
        "pr_number": 12,
        "node_id": "PR_12",
        "revision": 7,
        "last_sign_at": NOON,
        "created_at": NOON,
    }
    return Watch(**(values | fields))


class Story:
    """Readings one after the other, each compared with what the last one left."""

    def __init__(self, *, settle=SETTLE, **first):
        self.settle = settle
        self.observation = make_observation(**first)
        self.watermark = advance(None, self.observation, ())

    def read(self, seconds, **fields):
        """Read the pull request that late, with these fields moved from now on."""
        self.observation = replace(self.observation, observed_at=at(seconds), **fields)
        changes = compare(self.watermark, self.observation, settle=self.settle)
        self.watermark = advance(self.watermark, self.observation, changes)
        return changes
