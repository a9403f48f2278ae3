from dataclasses import replace

import pytest

from prwatch.domain.event_building import EventNames, build_events, wants
from prwatch.domain.events import (
    Change,
    ChangeField,
    Event,
    EventType,
    Interest,
    Narrowing,
)
from prwatch.domain.pull_request import (
    UNOBSERVED,
    PullRequestState,
    ReviewDecision,
    ReviewState,
)
from tests.readings import (
    FAILURE,
    NOON,
    at,
    make_mark,
    make_observation,
    make_watch,
)

NAMES = EventNames(
    workspace="acme", task_id="T-1", session_id="S-1", source="prwatch:host"
)
FAILED = Change(ChangeField.CHECKS, "pending", "failure", is_feedback=True)
ARCHIVED = Change(ChangeField.ARCHIVED, False, True, is_feedback=False)
ACTIVITY = Change(ChangeField.ACTIVITY, "x", "y", is_feedback=False)

OBSERVATION = make_observation(
    checks=FAILURE,
    review=ReviewState.APPROVED,
    review_decision=ReviewDecision.APPROVED,
    observed_at=at(1),
    comment_mark=make_mark(-9),
    approvals=1,
)

DATA = {
    "workspace": "acme",
    "task_id": "T-1",
    "session_id": "S-1",
    "watch_id": "W-1",
    "revision": 7,
    "repository": {"owner": "octo", "name": "hello", "node_id": "R_1"},
    "pull_request": {
        "number": 12,
        "url": "https://github.com/octo/hello/pull/12",
        "title": "Say hello",
        "head_ref_oid": "a" * 40,
        "state": "OPEN",
        "is_draft": False,
        "checks": "failure",
        "review": "approved",
        "review_decision": "APPROVED",
        "mergeable": "MERGEABLE",
        "merge_queue": False,
        "auto_merge": False,
    },
    "changes": [{"field": "checks", "previous": "pending", "current": "failure"}],
    "observed_at": "2026-11-30T12:00:01.000000Z",
}

TASK_PULL_REQUEST = {
    "number": 12,
    "node_id": "PR_12",
    "state": "OPEN",
    "title": "Say hello",
    "url": "https://github.com/octo/hello/pull/12",
    "author": "mona",
    "is_draft": False,
    "head_ref_oid": "a" * 40,
    "head_ref_name": "topic",
    "base_ref_name": "main",
    "checks": "failure",
    "review": "approved",
    "review_decision": "APPROVED",
    "mergeable": "MERGEABLE",
    "merge_queue": False,
    "auto_merge": False,
    "is_archived": False,
    "merged_by": None,
    "unresolved_threads": 0,
    "requested_reviewers": 0,
    "approvals": 1,
    "created_at": "2026-11-30T11:00:00.000000Z",
    "updated_at": "2026-11-30T11:59:00.000000Z",
    "closed_at": None,
    "merged_at": None,
    "comment_mark": "2026-11-30T11:59:51.000000Z",
}


def build(*changes, observation=OBSERVATION, **options):
    return build_events(
        changes,
        watch=make_watch(),
        observation=observation,
        names=NAMES,
        ids=("feedback-id", "updated-id"),
        now=NOON,
        **options,
    )


def test_a_change_that_is_feedback_makes_one_event_of_each_type():
    feedback, updated = build(FAILED)

    assert feedback == Event(
        id="feedback-id",
        type=EventType.PR_FEEDBACK,
        source="prwatch:host",
        subject="acme/T-1/octo/hello#12",
        time=NOON,
        workspace_id="WS-1",
        task_id="TASK-1",
        repository_id="REPO-1",
        pr_number=12,
        watch_id="W-1",
        revision=7,
        head_ref_oid="a" * 40,
        is_terminal=False,
        data=DATA,
    )
    assert updated == replace(
        feedback,
        id="updated-id",
        type=EventType.TASK_PR_UPDATED,
        data=DATA | {"task_pull_request": TASK_PULL_REQUEST},
    )


def test_all_changes_travel_in_one_event():
    feedback, updated = build(FAILED, ARCHIVED)

    changes = [
        {"field": "checks", "previous": "pending", "current": "failure"},
        {"field": "archived", "previous": False, "current": True},
    ]
    assert feedback.data["changes"] == updated.data["changes"] == changes


def test_the_other_changes_make_an_update_alone():
    assert [event.id for event in build(ARCHIVED)] == ["updated-id"]
    assert [event.id for event in build(ACTIVITY)] == ["updated-id"]


def test_activity_is_feedback_where_that_is_configured():
    events = build(ACTIVITY, feedback_on_activity=True)

    assert [event.id for event in events] == ["feedback-id", "updated-id"]
    assert [event.id for event in build(ARCHIVED, feedback_on_activity=True)] == [
        "updated-id"
    ]


def test_no_changes_make_no_events():
    assert build() == ()


def test_a_reason_is_told():
    change = Change(
        ChangeField.STATE, "OPEN", "CLOSED", is_feedback=True, reason="base_deleted"
    )

    assert build(change)[0].data["changes"] == [
        {
            "field": "state",
            "previous": "OPEN",
            "current": "CLOSED",
            "reason": "base_deleted",
        }
    ]


@pytest.mark.parametrize("state", ["CLOSED", "MERGED"])
def test_events_of_a_final_state_are_terminal(state):
    final = replace(
        OBSERVATION,
        state=PullRequestState(state),
        closed_at=at(0),
        merged_at=at(0),
        merged_by="mona",
    )

    feedback, updated = build(FAILED, observation=final)

    assert (feedback.is_terminal, updated.is_terminal) == (True, True)
    assert updated.data["task_pull_request"] == TASK_PULL_REQUEST | {
        "state": state,
        "closed_at": "2026-11-30T12:00:00.000000Z",
        "merged_at": "2026-11-30T12:00:00.000000Z",
        "merged_by": "mona",
    }


def test_what_was_never_read_is_null():
    unread = replace(
        OBSERVATION,
        checks=UNOBSERVED,
        mergeable=UNOBSERVED,
        comment_mark=UNOBSERVED,
        approvals=UNOBSERVED,
    )

    feedback, updated = build(FAILED, observation=unread)

    assert feedback.data["pull_request"] == DATA["pull_request"] | {
        "checks": None,
        "mergeable": None,
    }
    assert updated.data["task_pull_request"] == TASK_PULL_REQUEST | {
        "checks": None,
        "mergeable": None,
        "comment_mark": None,
        "approvals": None,
    }


@pytest.mark.parametrize(
    ("interest", "expected"),
    [
        pytest.param({}, True, id="no filter wants all"),
        pytest.param({"events": {"GitHubPRFeedback"}}, True, id="its type"),
        pytest.param({"events": {"GitHubTaskPRUpdated"}}, False, id="another type"),
        pytest.param({"workspaces": {"acme", "other"}}, True, id="its workspace"),
        pytest.param({"workspaces": {"other"}}, False, id="another workspace"),
        pytest.param({"repositories": {"octo/hello"}}, True, id="its repository"),
        pytest.param({"repositories": {"octo/other"}}, False, id="another repository"),
        pytest.param({"fields": {"checks", "state"}}, True, id="one of its fields"),
        pytest.param({"fields": {"state"}}, False, id="none of its fields"),
        pytest.param(
            {"events": {"GitHubPRFeedback"}, "fields": {"state"}},
            False,
            id="every filter must match",
        ),
    ],
)
def test_a_sink_wants_what_all_its_filters_match(interest, expected):
    filters = {name: frozenset(values) for name, values in interest.items()}

    assert wants(Interest(sink="out", **filters), build(FAILED)[0]) is expected


@pytest.mark.parametrize(
    ("workspace", "events", "expected"),
    [
        pytest.param("acme", {"GitHubTaskPRUpdated"}, False, id="taken away"),
        pytest.param("acme", {"GitHubPRFeedback"}, True, id="left"),
        pytest.param("corp", {"GitHubTaskPRUpdated"}, True, id="of another workspace"),
    ],
)
def test_a_workspace_narrows_its_own_events_alone(workspace, events, expected):
    feedback = build(FAILED)[0]
    narrowing = Narrowing(workspace=workspace, sink="out", events=frozenset(events))

    assert wants(Interest(sink="out", narrowings=(narrowing,)), feedback) is expected


def test_a_narrowing_adds_nothing():
    interest = Interest(
        sink="out",
        events=frozenset({"GitHubTaskPRUpdated"}),
        narrowings=(Narrowing(workspace="acme", sink="out"),),
    )

    assert not wants(interest, build(FAILED)[0])


def test_repositories_are_compared_without_case():
    shouted = replace(
        OBSERVATION, repository=replace(OBSERVATION.repository, owner="OCTO")
    )
    interest = Interest(sink="out", repositories=frozenset({"octo/hello"}))

    assert wants(interest, build(FAILED, observation=shouted)[0])


@pytest.mark.parametrize("name", ["workspaces", "repositories", "fields"])
def test_an_event_about_no_pull_request_matches_no_filter_of_one(name):
    bare = replace(build(FAILED)[0], data={})

    assert wants(Interest(sink="out"), bare)
    assert not wants(Interest(sink="out", **{name: frozenset({"x"})}), bare)
