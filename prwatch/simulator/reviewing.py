"""What the reviews of a pull request come to, by GitHub's rules."""

from typing import Final

from prwatch.simulator.entities import PullRequest, Review

OPINIONS: Final = frozenset({"APPROVED", "CHANGES_REQUESTED", "DISMISSED"})


def list_latest_opinions(pull_request: PullRequest) -> tuple[Review, ...]:
    """Return the newest opinion of each reviewer; comments are no opinion."""
    latest: dict[int, Review] = {}
    for review in pull_request.reviews:
        if review.state in OPINIONS:
            latest[id(review.author)] = review
    return tuple(latest.values())


def list_latest_reviews(pull_request: PullRequest) -> tuple[Review, ...]:
    """Return the newest review of each reviewer who is not asked again."""
    latest: dict[int, Review] = {}
    for review in pull_request.reviews:
        latest[id(review.author)] = review
    asked = {id(account) for account in pull_request.requested_reviewers}
    return tuple(review for key, review in latest.items() if key not in asked)


def decide_review(pull_request: PullRequest) -> str | None:
    """Return `reviewDecision`; None where no review is required."""
    if not pull_request.repository.requires_reviews:
        return None
    states = {review.state for review in list_latest_opinions(pull_request)}
    if "CHANGES_REQUESTED" in states:
        return "CHANGES_REQUESTED"
    return "APPROVED" if "APPROVED" in states else "REVIEW_REQUIRED"
