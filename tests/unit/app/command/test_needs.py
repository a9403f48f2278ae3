"""Open pull requests by what they need."""

import datetime as dt

from prwatch.app.command.needs import group_by_need
from prwatch.app.command.watch_row import WatchRow
from prwatch.domain.phrase import Known
from prwatch.domain.pull_request import PullRequestState, ReviewState
from prwatch.domain.task import Origin
from tests.readings import FAILURE, NOON, SUCCESS, at, make_observation


def make_row(number, *, hours=0, task="T-1", **fields):
    seen = make_observation(number=number, **fields)
    return WatchRow(
        id=f"W-{number}",
        workspace="acme",
        task=task,
        origin=Origin.COMMAND,
        is_archived=False,
        repository="octo/hello",
        repository_id="R",
        number=number,
        branch="",
        head_repository="",
        state=seen.state.value,
        known=Known(observation=seen, now=NOON),
        observed_at=NOON - dt.timedelta(hours=hours),
    )


def summarise(groups):
    return [
        (group.need.value, group.count, [row.reference for row in group.rows])
        for group in groups
    ]


def test_the_most_urgent_comes_first_and_then_who_has_waited_longest():
    rows = [
        make_row(1, checks=SUCCESS),
        make_row(2, checks=FAILURE, hours=1),
        make_row(3, checks=FAILURE, hours=2),
        make_row(4, checks=SUCCESS, review=ReviewState.PENDING),
        make_row(5, checks=FAILURE),
    ]

    assert summarise(group_by_need(rows, limit=2)) == [
        ("failing", 3, ["octo/hello#3", "octo/hello#2"]),
        ("waiting_for_review", 1, ["octo/hello#4"]),
        ("green", 1, ["octo/hello#1"]),
    ]


def test_what_several_tasks_watch_counts_once():
    rows = [make_row(1, checks=FAILURE), make_row(1, task="T-2", checks=FAILURE)]

    assert summarise(group_by_need(rows, limit=9)) == [("failing", 1, ["octo/hello#1"])]


def test_what_has_ended_or_was_never_read_needs_nothing():
    ended = make_row(1, state=PullRequestState.MERGED)

    assert group_by_need([ended], limit=9) == ()


def test_without_room_there_is_only_the_count():
    (group,) = group_by_need([make_row(1, checks=FAILURE)], limit=0)

    assert group.as_json() == {"needs": "failing", "count": 1, "pull_requests": []}


def test_what_github_does_not_say_for_an_hour_is_told_as_unknown():
    silent = {"W-1": at(-7200)}

    (group,) = group_by_need([make_row(1, checks=SUCCESS)], limit=1, silent=silent)

    assert group.as_json()["pull_requests"][0]["words"]["merge"] == {
        "word": "unknown",
        "text": "unknown: GitHub has not said in 2 h whether it can be merged",
    }
