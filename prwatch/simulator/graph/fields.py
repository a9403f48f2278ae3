"""Resolvers of pull requests and of what hangs off them. The rest is attributes."""

from dataclasses import replace
from typing import Any, Final

from prwatch.simulator.entities import (
    Account,
    CheckRun,
    CheckSuite,
    Commit,
    PullRequest,
    Repository,
    Review,
    build_node_id,
)
from prwatch.simulator.fault_answers import NOT_ACCESSIBLE_TEXT
from prwatch.simulator.graph.connection import Page, paginate
from prwatch.simulator.graph.execute import Resolver
from prwatch.simulator.graph.problem import FieldError
from prwatch.simulator.graph.reading import NO_TEXT, Reading, read_actor
from prwatch.simulator.graph.roots import ROOT_FIELDS, find_ref
from prwatch.simulator.mergeability import judge_merge_state, judge_mergeable
from prwatch.simulator.reviewing import (
    decide_review,
    list_latest_opinions,
    list_latest_reviews,
)
from prwatch.simulator.rollup import Rollup, build_matrix, find_rollup

NO_OID = "0" * 40
_NODE_PREFIXES: Final = {
    "AutoMergeRequest": "AMR",
    "MergeQueueEntry": "MQE",
    "PullRequestReview": "PRR",
    "PullRequestReviewThread": "PRRT",
    "ReviewRequestedEvent": "RRE",
    "PullRequestReviewComment": "PRRC",
    "IssueComment": "IC",
    "CheckRun": "CR",
    "CheckSuite": "CS",
    "WorkflowRun": "WFR",
    "Workflow": "W",
    "StatusContext": "SC",
    "App": "A",
    "Commit": "C",
}


def _read_mergeable(one: PullRequest, _: Any, reading: Reading) -> str:
    if "mergeable_unknown" in reading.disguises:
        return "UNKNOWN"
    return judge_mergeable(one, reading.now)


def _read_merge_state(one: PullRequest, _: Any, reading: Reading) -> str:
    rollup = find_rollup(reading.world.get_checked_commit(one))
    return judge_merge_state(one, _read_mergeable(one, _, reading), rollup)


def _read_head_repository(
    one: PullRequest, _: Any, reading: Reading
) -> Repository | None:
    if "null_head_repository" in reading.disguises:
        return None
    return one.head_repository


def _read_head_owner(one: PullRequest, _: Any, reading: Reading) -> Account | None:
    head = _read_head_repository(one, _, reading)
    return None if head is None else head.owner


def _read_author(one: Any, _: Any, reading: Reading) -> Account | None:
    return None if "null_author" in reading.disguises else read_actor(one.author)


def _read_rollup(one: PullRequest, _: Any, reading: Reading) -> Rollup | None:
    if one.database_id in reading.broken_rollups:
        raise FieldError("", NO_TEXT, below=("contexts", "nodes", 0))
    matrix = reading.disguises.get("many_contexts")
    if matrix is not None:
        return Rollup(one.head, build_matrix(one.head, matrix.count), ())
    is_late = one.checks_lag_until is not None
    commit = reading.world.get_checked_commit(one) if is_late else one.head
    rollup = find_rollup(commit)
    return None if rollup is None else replace(rollup, repository=one.repository)


def _read_contexts(rollup: Rollup, arguments: dict[str, Any], reading: Reading) -> Page:
    contexts: tuple[Any, ...] = rollup.contexts
    repository = rollup.repository
    if repository is not None and not reading.token.may_read_checks(repository):
        refused = FieldError("FORBIDDEN", NOT_ACCESSIBLE_TEXT)
        contexts = tuple(
            refused if isinstance(one, CheckRun) else one for one in contexts
        )
    return paginate(contexts, arguments, whole=rollup)


def _read_reviews(one: PullRequest, arguments: dict[str, Any], _: Any) -> Page:
    states, author = arguments.get("states"), arguments.get("author")
    found = [
        review
        for review in one.reviews
        if (not states or review.state in states)
        and (
            not author or (review.author is not None and review.author.login == author)
        )
    ]
    return paginate(found, arguments)


def _read_timeline(one: PullRequest, arguments: dict[str, Any], _: Any) -> Page:
    """Return the only kind of event that is kept, where it is among those asked for."""
    kinds = arguments.get("itemTypes")
    is_asked = not kinds or "REVIEW_REQUESTED_EVENT" in kinds
    return paginate(one.review_requested_events if is_asked else (), arguments)


def _read_comments(one: PullRequest, arguments: dict[str, Any], _: Any) -> Page:
    found = one.comments
    order = arguments.get("orderBy")
    if order:
        found = tuple(
            sorted(
                found,
                key=lambda comment: comment.updated_at,
                reverse=order["direction"] == "DESC",
            )
        )
    return paginate(found, arguments)


def count_comments(one: PullRequest) -> int:
    """Return how many comments stand in the conversation and in threads."""
    return len(one.comments) + sum(
        len(thread.comments) for thread in one.review_threads
    )


def _read_workflow_run(suite: CheckSuite, *_: Any) -> CheckSuite | None:
    return suite if suite.workflow else None


def _review_url(review: Review, *_: Any) -> str:
    return f"https://github.com/reviews/{review.database_id}"


def _read_id(prefix: str) -> Resolver:
    return lambda one, *_: build_node_id(prefix, one.database_id)


def _read_list(attribute: str) -> Resolver:
    return lambda one, arguments, _: paginate(getattr(one, attribute), arguments)


def _read_checks_url(run: CheckRun, *_: Any) -> str:
    return f"https://github.com/checks/{run.database_id}"


def _read_commits(one: PullRequest, arguments: dict[str, Any], _: Any) -> Page:
    commits = [found for found in (one.previous_head, one.head) if found is not None]
    return paginate(commits, arguments)


def _read_commit_rollup(commit: Commit, *_: Any) -> Rollup | None:
    return find_rollup(commit)


FIELDS: Final[dict[tuple[str, str], Resolver]] = {
    **ROOT_FIELDS,
    **{(name, "id"): _read_id(prefix) for name, prefix in _NODE_PREFIXES.items()},
    **{
        (name, "author"): _read_author
        for name in (
            "PullRequest",
            "PullRequestReview",
            "PullRequestReviewComment",
            "IssueComment",
        )
    },
    ("PullRequest", "baseRef"): lambda one, *_: find_ref(
        one.repository, one.base_ref_name
    ),
    ("PullRequest", "baseRefOid"): lambda one, *_: getattr(
        one.repository.branches.get(one.base_ref_name), "oid", NO_OID
    ),
    ("PullRequest", "baseRepository"): lambda one, *_: one.repository,
    ("PullRequest", "closed"): lambda one, *_: one.state != "OPEN",
    ("PullRequest", "comments"): _read_comments,
    ("PullRequest", "commits"): _read_commits,
    ("PullRequest", "fullDatabaseId"): lambda one, *_: str(one.database_id),
    ("PullRequest", "headRef"): lambda one, *_: find_ref(
        one.head_repository, one.head_ref_name
    ),
    ("PullRequest", "headRepository"): _read_head_repository,
    ("PullRequest", "headRepositoryOwner"): _read_head_owner,
    ("PullRequest", "isCrossRepository"): lambda one, *_: (
        one.head_repository is not one.repository
    ),
    ("PullRequest", "isInMergeQueue"): lambda one, *_: (
        one.merge_queue_entry is not None
    ),
    ("PullRequest", "isMergeQueueEnabled"): lambda one, *_: (
        one.repository.is_merge_queue_enabled
    ),
    ("PullRequest", "latestOpinionatedReviews"): lambda one, arguments, _: paginate(
        list_latest_opinions(one), arguments
    ),
    ("PullRequest", "latestReviews"): lambda one, arguments, _: paginate(
        list_latest_reviews(one), arguments
    ),
    ("PullRequest", "mergeStateStatus"): _read_merge_state,
    ("PullRequest", "mergeable"): _read_mergeable,
    ("PullRequest", "merged"): lambda one, *_: one.state == "MERGED",
    ("PullRequest", "mergedBy"): lambda one, *_: read_actor(one.merged_by),
    ("PullRequest", "permalink"): lambda one, *_: one.url,
    ("PullRequest", "reviewDecision"): lambda one, *_: decide_review(one),
    ("PullRequest", "reviewRequests"): _read_list("requested_reviewers"),
    ("PullRequest", "reviewThreads"): _read_list("review_threads"),
    ("PullRequest", "reviews"): _read_reviews,
    ("PullRequest", "statusCheckRollup"): _read_rollup,
    ("PullRequest", "timelineItems"): _read_timeline,
    ("PullRequest", "totalCommentsCount"): lambda one, *_: count_comments(one),
    ("PullRequestCommit", "id"): _read_id("PRC"),
    ("PullRequestCommit", "commit"): lambda commit, *_: commit,
    ("Commit", "abbreviatedOid"): lambda commit, *_: commit.oid[:7],
    ("Commit", "statusCheckRollup"): _read_commit_rollup,
    ("AutoMergeRequest", "enabledBy"): lambda one, *_: read_actor(one.enabled_by),
    ("MergeQueueEntry", "estimatedTimeToMerge"): lambda *_: None,
    ("PullRequestReview", "bodyText"): lambda one, *_: one.body,
    ("PullRequestReview", "createdAt"): lambda one, *_: one.submitted_at,
    ("PullRequestReview", "url"): _review_url,
    ("ReviewRequest", "id"): _read_id("RR"),
    ("ReviewRequest", "asCodeOwner"): lambda *_: False,
    ("ReviewRequest", "requestedReviewer"): lambda one, *_: read_actor(one),
    ("ReviewRequestedEvent", "requestedReviewer"): lambda one, *_: read_actor(
        one.requested_reviewer
    ),
    ("PullRequestReviewThread", "comments"): _read_list("comments"),
    ("PullRequestReviewThread", "resolvedBy"): lambda one, *_: read_actor(
        one.resolved_by
    ),
    ("PullRequestReviewComment", "url"): lambda one, *_: (
        f"https://github.com/review-comments/{one.database_id}"
    ),
    ("IssueComment", "bodyText"): lambda one, *_: one.body,
    ("IssueComment", "url"): lambda one, *_: (
        f"https://github.com/comments/{one.database_id}"
    ),
    ("StatusCheckRollup", "contexts"): _read_contexts,
    ("StatusCheckRollupContextConnection", "checkRunCount"): lambda page, *_: len(
        page.whole.check_runs
    ),
    ("StatusCheckRollupContextConnection", "statusContextCount"): lambda page, *_: len(
        page.whole.statuses
    ),
    ("StatusCheckRollupContextConnection", "checkRunCountsByState"): lambda page, *_: (
        page.whole.count_runs()
    ),
    (
        "StatusCheckRollupContextConnection",
        "statusContextCountsByState",
    ): lambda page, *_: page.whole.count_statuses(),
    ("CheckRun", "detailsUrl"): _read_checks_url,
    ("CheckRun", "url"): _read_checks_url,
    ("CheckRun", "isRequired"): lambda one, *_: one.is_required,
    ("CheckSuite", "workflowRun"): _read_workflow_run,
    ("WorkflowRun", "workflow"): lambda suite, *_: suite,
    ("WorkflowRun", "runNumber"): lambda *_: 1,
    ("WorkflowRun", "url"): lambda suite, *_: (
        f"https://github.com/actions/runs/{suite.database_id}"
    ),
    ("Workflow", "name"): lambda suite, *_: suite.workflow,
    ("StatusContext", "description"): lambda *_: None,
    ("StatusContext", "targetUrl"): lambda *_: None,
    ("StatusContext", "isRequired"): lambda one, *_: one.is_required,
}
