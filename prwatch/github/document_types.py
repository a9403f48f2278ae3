"""
What the fields in our documents are of, and which of them can be done without.

A test compares both with the schema that GitHub publishes. Without a field of the
third kind an observation would have to guess, so a server that lacks one has no
GraphQL interface that we can use.
"""

from collections.abc import Iterable, Mapping
from typing import Final

TYPES: Final[Mapping[str, str]] = {
    "CheckRun.checkSuite": "CheckSuite",
    "CheckSuite.app": "App",
    "CheckSuite.workflowRun": "WorkflowRun",
    "IssueCommentConnection.nodes": "IssueComment",
    "PullRequest.author": "Actor",
    "PullRequest.autoMergeRequest": "AutoMergeRequest",
    "PullRequest.baseRef": "Ref",
    "PullRequest.comments": "IssueCommentConnection",
    "PullRequest.headRepository": "Repository",
    "PullRequest.mergedBy": "Actor",
    "PullRequest.repository": "Repository",
    "PullRequest.reviewRequests": "ReviewRequestConnection",
    "PullRequest.reviewThreads": "PullRequestReviewThreadConnection",
    "PullRequest.reviews": "PullRequestReviewConnection",
    "PullRequest.statusCheckRollup": "StatusCheckRollup",
    "PullRequest.timelineItems": "PullRequestTimelineItemsConnection",
    "PullRequestConnection.nodes": "PullRequest",
    "PullRequestConnection.pageInfo": "PageInfo",
    "PullRequestReview.author": "Actor",
    "PullRequestReviewConnection.nodes": "PullRequestReview",
    "PullRequestReviewConnection.pageInfo": "PageInfo",
    "PullRequestReviewThreadConnection.nodes": "PullRequestReviewThread",
    "PullRequestReviewThreadConnection.pageInfo": "PageInfo",
    "PullRequestTimelineItemsConnection.nodes": "PullRequestTimelineItems",
    "ReviewRequest.requestedReviewer": "RequestedReviewer",
    "ReviewRequestConnection.nodes": "ReviewRequest",
    "ReviewRequestedEvent.requestedReviewer": "RequestedReviewer",
    "Query.node": "Node",
    "Query.nodes": "Node",
    "Query.rateLimit": "RateLimit",
    "Query.repository": "Repository",
    "Query.search": "SearchResultItemConnection",
    "Query.viewer": "User",
    "Ref.target": "GitObject",
    "Repository.defaultBranchRef": "Ref",
    "Repository.parent": "Repository",
    "Repository.pullRequest": "PullRequest",
    "Repository.pullRequests": "PullRequestConnection",
    "Repository.ref": "Ref",
    "SearchResultItemConnection.nodes": "SearchResultItem",
    "SearchResultItemConnection.pageInfo": "PageInfo",
    "StatusCheckRollup.commit": "Commit",
    "StatusCheckRollup.contexts": "StatusCheckRollupContextConnection",
    "StatusCheckRollupContext.checkSuite": "CheckSuite",
    "StatusCheckRollupContextConnection.checkRunCountsByState": "CheckRunStateCount",
    "StatusCheckRollupContextConnection.nodes": "StatusCheckRollupContext",
    "StatusCheckRollupContextConnection.pageInfo": "PageInfo",
    "StatusCheckRollupContextConnection.statusContextCountsByState": (
        "StatusContextStateCount"
    ),
    "WorkflowRun.workflow": "Workflow",
}
"""The types of the fields that have fields of their own. A list is of its items."""

_ROLLUP: Final = "PullRequest.statusCheckRollup"
_COUNTS: Final = "StatusCheckRollupContextConnection"

LEAVABLE: Final = frozenset(
    {
        "CheckRun.detailsUrl",
        "CheckRun.isRequired",
        "CheckSuite.workflowRun",
        "PullRequest.autoMergeRequest",
        "PullRequest.baseRef",
        "PullRequest.comments",
        "PullRequest.isInMergeQueue",
        "PullRequest.mergeable",
        "PullRequest.mergedBy",
        "PullRequest.reviewDecision",
        "PullRequest.reviewRequests",
        "PullRequest.reviewThreads",
        "PullRequest.reviews",
        "PullRequest.timelineItems",
        "PullRequest.totalCommentsCount",
        "Query.rateLimit",
        "Query.search",
        "Query.viewer",
        "RateLimit.cost",
        "RateLimit.limit",
        "RateLimit.remaining",
        "RateLimit.resetAt",
        "Repository.defaultBranchRef",
        "Repository.isArchived",
        "Repository.parent",
        "Repository.ref",
        "StatusContext.isRequired",
        "StatusContext.targetUrl",
        "User.databaseId",
        _ROLLUP,
        f"{_COUNTS}.checkRunCountsByState",
        f"{_COUNTS}.statusContextCountsByState",
    }
)
"""What is unobserved, or not shown, when it alone is left out."""

_NEEDED_BY: Final[Mapping[str, str]] = {
    # Without the name of a check, its result, its times or its commit the verdict
    # would be a guess: then there is none. Workflows are no part of that: REST has
    # none either, and the suites tell runs apart.
    "App": _ROLLUP,
    "CheckRun": _ROLLUP,
    "CheckSuite": _ROLLUP,
    "Commit": _ROLLUP,
    "StatusCheckRollup": _ROLLUP,
    "StatusCheckRollupContext": _ROLLUP,
    _COUNTS: _ROLLUP,
    "StatusContext": _ROLLUP,
    "Workflow": "CheckSuite.workflowRun",
    "WorkflowRun": "CheckSuite.workflowRun",
    "CheckRunStateCount": f"{_COUNTS}.checkRunCountsByState",
    "StatusContextStateCount": f"{_COUNTS}.statusContextCountsByState",
    "AutoMergeRequest": "PullRequest.autoMergeRequest",
    "PullRequestReview": "PullRequest.reviews",
    "PullRequestReviewConnection": "PullRequest.reviews",
    "PullRequestReviewThread": "PullRequest.reviewThreads",
    "PullRequestReviewThreadConnection": "PullRequest.reviewThreads",
    "ReviewRequest": "PullRequest.reviewRequests",
    "ReviewRequestConnection": "PullRequest.reviewRequests",
    "ReviewRequestedEvent": "PullRequest.timelineItems",
    "PullRequestTimelineItemsConnection": "PullRequest.timelineItems",
    "IssueComment": "PullRequest.comments",
    "IssueCommentConnection": "PullRequest.comments",
    "SearchResultItemConnection": "Query.search",
    "User": "Query.viewer",
    "GitObject": "Repository.ref",
    "Ref.id": "PullRequest.baseRef",
    "Ref.name": "Repository.defaultBranchRef",
    "Ref.target": "Repository.ref",
}
"""Whose values mean nothing without it, by type or by field."""


def find_leavable(field: str) -> str:
    """Return what has to be left out for want of a field; '' when nothing can be."""
    if field in LEAVABLE:
        return field
    type_name = field.partition(".")[0]
    return _NEEDED_BY.get(field) or _NEEDED_BY.get(type_name, "")


def find_field(root: str, path: Iterable[str | int]) -> str:
    """
    Return the `Type.field` at the end of an answer's path, from a thing of type `root`.

    Places in lists are skipped: a refused item is its list's.
    """
    field, type_name = "", root
    for step in path:
        if isinstance(step, int):
            continue
        field = f"{type_name}.{step}"
        type_name = TYPES.get(field, "")
    return field
