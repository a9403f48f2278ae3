"""The conditional path: whole observations only, tags that vouch for them."""

import datetime as dt
import json
from pathlib import Path

import msgspec
import pytest

from prwatch.domain.outcome import Forbidden, Found, NotFound, Unreadable
from prwatch.domain.pull_request import (
    UNOBSERVED,
    ChecksState,
    Observation,
    PullRequestState,
    RepositoryName,
    ReviewState,
)
from prwatch.domain.reference import Usage
from prwatch.errors import (
    AuthenticationFailed,
    ProtocolViolation,
    ProviderUnavailable,
    RateLimited,
)
from prwatch.github import rest_wire
from prwatch.github.rest import NOT_MODIFIED
from prwatch.github.rest_normalize import RestParts, build_observation
from tests.github_answers import (
    NOW,
    ScriptedHost,
    make_node,
    make_rollup,
    make_run,
    plain,
    reply,
)
from tests.github_rest import (
    COMMENTS,
    ONE,
    PULL,
    REVIEWS,
    RUNS,
    STATUS,
    RestHost,
    make_comment,
    make_pull,
    make_rest_run,
    make_review,
    moved,
)

SAMPLES = Path(__file__).parents[2] / "samples"
EVERY = [PULL, RUNS, STATUS, REVIEWS, COMMENTS]


def connect(rest, **settings):
    return ScriptedHost(rest.answer).connect(**settings)


async def observe(**changes):
    checked = await connect(RestHost(**changes)).check(ONE, tags={})
    return checked.outcome.value.observation


GRAPHQL_ONLY = {
    "review_decision",
    "merge_queue",
    "unresolved_threads",
    "is_base_deleted",
}


@pytest.mark.parametrize(
    ("graphql", "rest"),
    [
        pytest.param({}, {}, id="plain"),
        pytest.param(
            {"author": {"login": "dependabot"}},
            {PULL: make_pull(user={"login": "dependabot[bot]"})},
            id="bot",
        ),
        pytest.param({"author": None}, {PULL: make_pull(user={"login": "ghost"})}, id="ghost"),
        pytest.param({"author": None}, {PULL: make_pull(user=None)}, id="nobody"),
        pytest.param(
            {"headRepository": None},
            {PULL: make_pull(head={"ref": "feature", "sha": "a" * 40, "repo": None})},
            id="deleted fork",
        ),
        pytest.param({"mergeable": "CONFLICTING"}, {PULL: make_pull(mergeable=False)}, id="conflict"),
        pytest.param({"mergeable": "UNKNOWN"}, {PULL: make_pull(mergeable=None)}, id="unknown mergeability"),
        pytest.param({"isDraft": True}, {PULL: make_pull(draft=True)}, id="draft"),
        pytest.param(
            {"autoMergeRequest": {"enabledAt": "2026-11-30T11:00:00Z"}},
            {PULL: make_pull(auto_merge={"merge_method": "squash"})},
            id="auto merge",
        ),
        pytest.param(
            {"state": "MERGED", "closedAt": "2026-11-30T11:40:00Z", "mergedAt": "2026-11-30T11:40:00Z", "mergedBy": {"login": "bob"}},
            {PULL: make_pull(state="closed", closed_at="2026-11-30T11:40:00Z", merged_at="2026-11-30T11:40:00Z", merged_by={"login": "bob"})},
            id="merged",
        ),
        pytest.param(
            {"state": "CLOSED", "closedAt": "2026-11-30T11:40:00Z"},
            {PULL: make_pull(state="closed", closed_at="2026-11-30T11:40:00Z")},
            id="closed",
        ),
        pytest.param(
            {"statusCheckRollup": make_rollup(make_run(), make_run("test", "TIMED_OUT"), state="FAILURE")},
            {RUNS: {"check_runs": [make_rest_run(), make_rest_run("test", "timed_out")]}},
            id="failed",
        ),
        pytest.param(
            {"statusCheckRollup": make_rollup(make_run(conclusion=None), state="PENDING")},
            {RUNS: {"check_runs": [make_rest_run(conclusion=None)]}},
            id="running",
        ),
        pytest.param(
            {"statusCheckRollup": make_rollup(make_run(at="2026-11-30T11:59:55Z"))},
            {RUNS: {"check_runs": [make_rest_run(at="2026-11-30T11:59:55Z")]}},
            id="settling",
        ),
        pytest.param(
            {"statusCheckRollup": make_rollup(make_run(conclusion="FAILURE", at="2026-11-30T10:00:00Z"), make_run(), state="FAILURE")},
            {RUNS: {"check_runs": [make_rest_run(conclusion="failure", at="2026-11-30T10:00:00Z"), make_rest_run()]}},
            id="made again",
        ),
        pytest.param(
            {"statusCheckRollup": make_rollup({"__typename": "StatusContext", "context": "ci", "state": "ERROR", "createdAt": "2026-11-30T11:00:00Z"}, state="ERROR")},
            {RUNS: {"check_runs": []}, STATUS: {"statuses": [{"context": "ci", "state": "error", "created_at": "2026-11-30T11:00:00Z"}]}},
            id="status",
        ),
        pytest.param({"statusCheckRollup": None}, {RUNS: {"check_runs": []}}, id="no checks, though statuses say pending"),
        pytest.param(
            {"reviews": {"nodes": [], "pageInfo": {"hasNextPage": False}}, "reviewRequests": {"totalCount": 2}},
            {REVIEWS: [], PULL: make_pull(requested_reviewers=[{}], requested_teams=[{}])},
            id="asked for a review",
        ),
        pytest.param(
            {
                "reviews": {
                    "nodes": [{"id": "PRR_7", "state": "COMMENTED", "submittedAt": "2026-11-30T11:21:00Z", "author": None}],
                    "pageInfo": {"hasNextPage": False},
                }
            },
            {REVIEWS: [make_review(7, "COMMENTED", None, "2026-11-30T11:21:00Z")]},
            id="review that comments",
        ),
    ],
)  # fmt: skip
async def test_both_paths_read_one_pull_request_alike(graphql, rest):
    host = ScriptedHost(reply({"n0": [make_node(**graphql)]}))
    ours = (await host.connect().details([ONE]))[ONE].value.observation

    theirs = await observe(**rest)

    differing = {
        name
        for name in Observation.__slots__
        if getattr(ours, name) != getattr(theirs, name)
    }
    silent = GRAPHQL_ONLY | ({"auto_merge"} if not ours.auto_merge else set())
    assert differing == silent
    assert {getattr(theirs, name) for name in silent} == {UNOBSERVED}


async def test_nothing_new_is_told_without_reading_anything():
    rest = RestHost()
    github = connect(rest)
    first = await github.check(ONE, tags={})

    second = await github.check(ONE, tags=first.tags)

    assert second.outcome is NOT_MODIFIED
    assert second.tags == first.tags
    assert rest.asked == EVERY + [f"304 {path}" for path in EVERY]
    assert github.usage == Usage(
        rest=10, not_modified=5, body_bytes=github.usage.body_bytes
    )


@pytest.mark.parametrize(
    ("path", "body"),
    [
        pytest.param(PULL, make_pull(title="Other"), id="pull request"),
        pytest.param(RUNS, {"check_runs": [make_rest_run(conclusion=None)]}, id="runs"),
        pytest.param(REVIEWS, [], id="reviews"),
        pytest.param(COMMENTS, [make_comment(2)], id="comments"),
    ],
)
async def test_one_change_reads_everything_anew(path, body):
    rest = RestHost()
    github = connect(rest)
    first = await github.check(ONE, tags={})
    rest.bodies[path] = body

    second = await github.check(ONE, tags=first.tags)

    assert second.outcome.value != first.outcome.value
    assert rest.asked[-5:] == EVERY


async def test_no_tag_vouches_for_a_verdict_that_settles():
    fresh = {"check_runs": [make_rest_run(at="2026-11-30T11:59:55Z")]}

    checked = await connect(RestHost(**{RUNS: fresh})).check(ONE, tags={})

    assert checked.outcome.value.observation.settles_at is not None
    assert checked.tags == {}


async def test_no_tag_vouches_for_a_last_page_that_is_full():
    full = [make_review(each) for each in range(100)]

    checked = await connect(RestHost(**{REVIEWS: full})).check(ONE, tags={})

    assert isinstance(checked.outcome, Found)
    assert checked.tags == {}


async def test_lists_are_read_to_their_end():
    reviews = [make_review(each, "COMMENTED") for each in range(136)]
    reviews.append(make_review(999, "APPROVED"))
    runs = [make_rest_run(f"job {each}") for each in range(119)]
    runs.append(make_rest_run("late", "failure"))

    observation = await observe(**{REVIEWS: reviews, RUNS: {"check_runs": runs}})

    assert observation.review is ReviewState.APPROVED
    assert observation.checks is ChecksState.FAILURE


async def test_only_the_newest_pages_of_comments_are_read():
    start = dt.datetime(2026, 11, 1, tzinfo=dt.UTC)
    comments = [
        make_comment(each, (start + dt.timedelta(seconds=each)).isoformat())
        for each in range(205)
    ]
    rest = RestHost(**{COMMENTS: comments, PULL: make_pull(comments=205)})

    checked = await connect(rest).check(ONE, tags={})

    mark = checked.outcome.value.observation.comment_mark
    assert [each.node_id for each in mark.items] == [f"IC_{n}" for n in range(185, 205)]
    assert rest.asked.count(COMMENTS) == 3


async def test_only_comments_around_the_known_one_are_asked_for():
    host = ScriptedHost(RestHost().answer)

    await host.connect().check(ONE, tags={}, since=NOW)

    (asked,) = [each.url for each in host.requests if each.url.path == COMMENTS]
    assert asked.params["since"] == "2026-11-30T11:58:00Z"


async def test_a_moved_repository_is_followed_once_under_its_new_name():
    new = {"node_id": "R_1", "full_name": "octo/new", "archived": True}
    rest = RestHost(
        **{
            PULL: moved("/repositories/7/pulls/1"),
            "/repositories/7/pulls/1": make_pull(base={"ref": "main", "repo": new}),
            f"/repos/octo/new/commits/{'a' * 40}/check-runs": {"check_runs": []},
            f"/repos/octo/new/commits/{'a' * 40}/status": {"statuses": []},
            "/repos/octo/new/pulls/1/reviews": [],
            "/repos/octo/new/issues/1/comments": [],
        }
    )
    github = connect(rest)

    checked = await github.check(ONE, tags={})

    observation = checked.outcome.value.observation
    assert observation.repository == RepositoryName("octo", "new", "R_1")
    assert observation.is_archived is True
    assert (await github.check(ONE, tags=checked.tags)).outcome is NOT_MODIFIED


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(
            plain({"message": "Not Found"}, status=404),
            NotFound("GitHub does not know it, or this token may not see it"),
            id="404",
        ),
        pytest.param(
            moved("/repositories/7/pulls/1"), NotFound, id="moved out of sight"
        ),
        pytest.param(plain({}, status=451), Forbidden, id="451"),
        pytest.param(
            plain({"message": "Resource not accessible by integration"}, status=403),
            Forbidden("this token may not read it"),
            id="403",
        ),
        pytest.param(plain({"number": "one"}), Unreadable, id="strange"),
        pytest.param(make_pull(state="half"), Unreadable, id="unknown state"),
    ],
)
async def test_a_failure_about_one_pull_request_is_its_outcome(body, expected):
    checked = await connect(RestHost(**{PULL: body})).check(ONE, tags={})

    if isinstance(expected, type):
        assert isinstance(checked.outcome, expected)
    else:
        assert checked.outcome == expected
    assert checked.tags == {}


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        pytest.param(RUNS, {"checks"}, id="runs"),
        pytest.param(STATUS, {"checks"}, id="statuses"),
        pytest.param(REVIEWS, {"review", "approvals", "comment_mark"}, id="reviews"),
        pytest.param(COMMENTS, {"comment_mark"}, id="comments"),
    ],
)
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            plain({"message": "Resource not accessible by personal access token"}, status=403),
            id="refused",
        ),
        pytest.param(plain({"unexpected": 1}), id="strange"),
        pytest.param(
            plain(
                {"check_runs": [], "statuses": []},
                link='<https://api.github.example/elsewhere>; rel="next"',
            ),
            id="does not end well",
        ),
    ],
)  # fmt: skip
async def test_a_part_that_cannot_be_read_is_unobserved_with_a_note(path, fields, body):
    whole = await observe()

    checked = await connect(RestHost(**{path: body})).check(ONE, tags={})

    observation = checked.outcome.value.observation
    differing = {
        name
        for name in Observation.__slots__
        if getattr(whole, name) != getattr(observation, name)
    }
    assert differing - {"checks_summary"} == fields | {"checks_notes"}
    # A list that is refused is not asked for: the others' tags vouch for the rest.
    is_refused = body.status_code == 403
    assert bool(checked.tags) is is_refused
    assert not any(path in address for address in checked.tags)


async def test_a_list_that_turns_in_a_circle_is_cut():
    def answer(request):
        if request.url.path != REVIEWS:
            return RestHost().answer(request)
        return plain([make_review()], link=f'<{request.url}>; rel="next"')

    checked = await ScriptedHost(answer).connect().check(ONE, tags={})

    assert checked.outcome.value.observation.review is UNOBSERVED


@pytest.mark.parametrize(
    ("body", "error"),
    [
        pytest.param(plain({}, status=401), AuthenticationFailed, id="401"),
        pytest.param(plain(b"<html>", status=502), ProviderUnavailable, id="502"),
        pytest.param(plain(b"<html>"), ProviderUnavailable, id="html"),
        pytest.param(plain(b"", status=304), ProviderUnavailable, id="304 unasked"),
        pytest.param(
            plain({"message": "secondary rate limit"}, status=403, retry_after="60"),
            RateLimited,
            id="limit",
        ),
    ],
)
@pytest.mark.parametrize("path", [pytest.param(PULL, id="pull"), pytest.param(RUNS, id="runs")])  # fmt: skip
async def test_a_failure_about_more_is_raised(path, body, error):
    with pytest.raises(error):
        await connect(RestHost(**{path: body})).check(ONE, tags={})


async def test_a_tag_whose_address_is_gone_leads_to_a_full_reading():
    checked = await connect(RestHost()).check(ONE, tags={"/repos/octo/gone": '"x"'})

    assert isinstance(checked.outcome, Found)


async def test_a_failure_while_verifying_tags_is_raised():
    rest = RestHost(**{PULL: plain(b"", status=502)})

    with pytest.raises(ProviderUnavailable):
        await connect(rest).check(ONE, tags={PULL: '"x"'})


async def test_a_move_may_be_told_without_the_host():
    here = plain({}, status=301, location="/repositories/7/pulls/1")
    rest = RestHost(**{PULL: here, "/repositories/7/pulls/1": make_pull()})

    checked = await connect(rest).check(ONE, tags={})

    assert isinstance(checked.outcome, Found)


async def test_a_server_without_teams_counts_the_people_that_are_asked():
    pull = make_pull(requested_reviewers=[{}])
    del pull["requested_teams"]

    assert (await observe(**{PULL: pull})).requested_reviewers == 1


async def test_a_redirect_to_another_host_is_not_followed():
    away = plain({}, status=301, location="https://evil.example/x")
    host = ScriptedHost(away)

    with pytest.raises(ProtocolViolation, match="301"):
        await host.connect().check(ONE, tags={})

    assert len(host.requests) == 1


def recorded(name):
    return json.loads((SAMPLES / f"{name}.json").read_text())["response"]["body"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param(
            "pull_request_merged",
            (278, PullRequestState.MERGED, "lachmanfrantisek"),
            id="merged",
        ),
        pytest.param(
            "pull_request_of_fork",
            (1, PullRequestState.OPEN, "mfocko"),
            id="fork",
        ),
    ],
)
def test_recorded_pull_requests_are_read(name, expected):
    pull_request = msgspec.convert(recorded(name), rest_wire.PullRequest, strict=False)

    observation = build_observation(
        RestParts(
            pull_request=pull_request,
            reviews=[],
            check_runs=[],
            statuses=[],
            comments=[],
        ),
        observed_at=NOW,
        settle=dt.timedelta(0),
    )

    assert (observation.number, observation.state, observation.author) == expected
    assert observation.review_decision is UNOBSERVED


def test_recorded_lists_are_read():
    runs = msgspec.convert(recorded("check_runs"), rest_wire.CheckRuns)
    comments = msgspec.convert(recorded("issue_comments"), list[rest_wire.Comment])

    assert {run.status for run in runs.check_runs} == {"completed", "queued"}
    assert len(comments) == 6
