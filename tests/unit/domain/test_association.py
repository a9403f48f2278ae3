import datetime as dt
from dataclasses import replace

import pytest

from prwatch.domain.association import FoundPullRequest, choose_pull_requests
from prwatch.domain.pull_request import PullRequestState, RepositoryName
from prwatch.domain.reference import (
    BranchAnswer,
    BranchPullRequest,
    RepositoryFacts,
)
from tests.workspace_rows import (
    ARCHIVED_AT,
    NOW,
    make_task_pull_request,
    make_watch,
)

LATER = NOW + dt.timedelta(hours=1)
BASE = RepositoryFacts(
    repository=RepositoryName("octo", "hello", "R_hello"),
    default_branch="main",
    is_archived=False,
)
FORK = RepositoryFacts(
    repository=RepositoryName("me", "hello", "R_fork"),
    default_branch="main",
    is_archived=False,
    parent=BASE.repository,
)
SEARCHING = make_watch(branch="fix")


def pull_request(number, state=PullRequestState.OPEN, **values):
    defaults = {
        "node_id": f"PR_{number}",
        "head_repository_id": "R_hello",
        "head_ref_oid": "a",
        "closed_at": None if state is PullRequestState.OPEN else LATER,
        "created_at": NOW,
    }
    return BranchPullRequest(number=number, state=state, **{**defaults, **values})


def answer(*pull_requests, repository=BASE, is_complete=True):
    return BranchAnswer(
        repository=repository, pull_requests=pull_requests, is_complete=is_complete
    )


def numbers(found):
    return [item.pull_request.number for item in found]


def test_the_open_pull_request_of_the_branch_is_found_with_its_repository():
    ours = pull_request(12)

    chosen = choose_pull_requests(SEARCHING, [answer(ours)])

    assert chosen == (FoundPullRequest(repository=BASE, pull_request=ours),)


def test_ours_is_found_behind_those_of_other_forks():
    strangers = [
        pull_request(number, head_repository_id="R_stranger") for number in (1, 2)
    ]

    chosen = choose_pull_requests(SEARCHING, [answer(*strangers, pull_request(3))])

    assert numbers(chosen) == [3]


def test_a_pull_request_whose_head_repository_is_deleted_is_not_ours():
    lost = pull_request(12, head_repository_id=None)

    assert choose_pull_requests(SEARCHING, [answer(lost)]) == ()


def test_a_merged_pull_request_of_a_fork_does_not_hide_our_open_one():
    merged = pull_request(10, PullRequestState.MERGED, head_repository_id="R_fork")

    chosen = choose_pull_requests(SEARCHING, [answer(merged, pull_request(12))])

    assert numbers(chosen) == [12]


def test_every_open_pull_request_with_our_head_is_found():
    answers = [answer(pull_request(13), pull_request(12))]

    assert numbers(choose_pull_requests(SEARCHING, answers)) == [12, 13]


def test_an_open_one_wins_over_one_that_closed():
    closed = pull_request(13, PullRequestState.CLOSED)

    chosen = choose_pull_requests(SEARCHING, [answer(closed, pull_request(12))])

    assert numbers(chosen) == [12]


@pytest.mark.parametrize(
    ("since", "expected"),
    [
        pytest.param(LATER - dt.timedelta(minutes=1), [11], id="closed after"),
        pytest.param(LATER, [], id="closed at that very time"),
        pytest.param(None, [10], id="since the row was made"),
    ],
)
def test_without_an_open_one_the_first_that_closed_since_is_found(since, expected):
    closed = [
        pull_request(
            10, PullRequestState.CLOSED, closed_at=LATER - dt.timedelta(minutes=1)
        ),
        pull_request(11, PullRequestState.MERGED),
        pull_request(9, PullRequestState.CLOSED, closed_at=None),
    ]
    watch = replace(SEARCHING, searching_since=since)

    assert numbers(choose_pull_requests(watch, [answer(*closed)])) == expected


def test_a_branch_used_again_after_a_merge_finds_the_new_pull_request_alone():
    merged = pull_request(10, PullRequestState.MERGED)
    watch = replace(SEARCHING, searching_since=LATER)

    chosen = choose_pull_requests(watch, [answer(merged, pull_request(12))])

    assert numbers(chosen) == [12]
    assert choose_pull_requests(watch, [answer(merged)]) == ()


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        pytest.param(
            make_task_pull_request(12, detached_at=ARCHIVED_AT), [], id="detached"
        ),
        pytest.param(
            make_task_pull_request(12, state=PullRequestState.CLOSED),
            [],
            id="this end is known",
        ),
        pytest.param(
            make_task_pull_request(12, state=PullRequestState.CLOSED, is_past=True),
            [12],
            id="known before the task was archived",
        ),
        pytest.param(make_task_pull_request(12), [12], id="known as open"),
        pytest.param(
            make_task_pull_request(99, detached_at=ARCHIVED_AT), [12], id="another"
        ),
    ],
)
def test_what_is_settled_is_passed_over(row, expected):
    closed = pull_request(12, PullRequestState.CLOSED)

    chosen = choose_pull_requests(SEARCHING, [answer(closed)], task_pull_requests=[row])

    assert numbers(chosen) == expected


def test_a_pull_request_that_was_reopened_is_found_again():
    known = make_task_pull_request(12, state=PullRequestState.CLOSED)

    chosen = choose_pull_requests(
        SEARCHING, [answer(pull_request(12))], task_pull_requests=[known]
    )

    assert numbers(chosen) == [12]


def test_the_default_branch_has_no_pull_requests():
    watch = replace(SEARCHING, branch="main")

    assert choose_pull_requests(watch, [answer(pull_request(12))]) == ()


def test_a_default_branch_that_was_named_with_its_fork_has_them():
    watch = replace(SEARCHING, branch="main", head_repository="Me/Hello")
    ours = pull_request(12, head_repository_id="R_fork")

    chosen = choose_pull_requests(watch, [answer(ours), answer(repository=FORK)])

    assert numbers(chosen) == [12]


def test_the_fork_is_a_second_place():
    watch = replace(SEARCHING, head_repository="me/hello")
    inside = pull_request(3, head_repository_id="R_fork")
    outside = pull_request(12, head_repository_id="R_fork")

    chosen = choose_pull_requests(
        watch,
        [answer(outside, pull_request(13)), answer(inside, repository=FORK)],
    )

    assert chosen == (
        FoundPullRequest(repository=FORK, pull_request=inside),
        FoundPullRequest(repository=BASE, pull_request=outside),
    )


def test_a_given_head_needs_no_answer_of_its_own():
    watch = replace(SEARCHING, head_repository="me/old-name")
    ours = pull_request(12, head_repository_id="R_fork")

    assert choose_pull_requests(watch, [answer(ours)]) == ()
    assert numbers(
        choose_pull_requests(watch, [answer(ours)], head_repository_id="R_fork")
    ) == [12]


def test_a_fork_that_was_renamed_is_the_head_all_the_same():
    watch = replace(SEARCHING, head_repository="me/old-name")
    ours = pull_request(12, head_repository_id="R_fork")

    chosen = choose_pull_requests(watch, [answer(ours), answer(repository=FORK)])

    assert numbers(chosen) == [12]


@pytest.mark.parametrize("answers", [[], [None], [None, answer(pull_request(12))]])
def test_without_the_heads_identity_nothing_is_ours(answers):
    assert choose_pull_requests(SEARCHING, answers) == ()


@pytest.mark.parametrize(
    "second",
    [
        pytest.param(None, id="no answer"),
        pytest.param(
            answer(pull_request(99), repository=FORK, is_complete=False),
            id="incomplete answer",
        ),
    ],
)
def test_a_missing_place_concludes_nothing_about_closed_ones(second):
    closed = pull_request(12, PullRequestState.CLOSED)
    first_open = answer(pull_request(13), closed)

    assert choose_pull_requests(SEARCHING, [answer(closed), second]) == ()
    assert numbers(choose_pull_requests(SEARCHING, [first_open, second])) == [13]


def test_an_incomplete_answer_concludes_nothing():
    partial = answer(pull_request(12), is_complete=False)

    assert choose_pull_requests(SEARCHING, [partial]) == ()
