"""What `prwatch review` says of searches, proofs and times, in words for people."""

import datetime as dt
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from prwatch.cli.output import format_time

if TYPE_CHECKING:
    from prwatch.app.command.review.listing import ReviewRow

WORDS: Final[Mapping[str, str]] = {
    "deleted": "would go",
    "gone": "has a row that nothing needs any more; that would go",
    "open": "stays: the review is not done",
    "reopened": "stays: the review is not done any more",
    "seen_done": "is done",
    "grace": "is done",
    "policy_never": "stays: the policy is never",
    "person_wrote": "stays: a person wrote in it",
    "waits": "stays: it waits for something",
    "archived": "stays: a person put it away",
    "not_a_review_task": "stays: it is a person's",
    "reserved": "has no task yet",
    "unreadable": "stays: what is stored of it cannot be understood",
    "skipped": "was not looked at",
    "failed": "could not be read",
    "changed": "stays: somebody changed it meanwhile",
}
GAPS: Final[Mapping[str, str]] = {
    "over_cap": "more than 1,000 match, and GitHub shows no more; narrow the search",
    "left_out": "GitHub left out a part of what it found",
    "unread": "some of what it found could not be read, or got no task",
}
"""Why a search did not show all; of one that failed the error is told."""


def tell_finding(finding: Mapping[str, Any]) -> str:
    """Return what a dry run found of one review task, and what comes next."""
    verdict, until = finding["verdict"], finding["until"]
    told = f"{finding['task']} in {finding['workspace']}"
    told += f" {WORDS.get(verdict, verdict)}"
    if finding["evidence"]:
        told += f" ({tell_evidence(finding['evidence'])})"
    if verdict in {"skipped", "failed"}:
        told += f": {finding['reason']}"
        return f"{told}; not asked again before {tell_time(until)}" if until else told
    if verdict in {"seen_done", "grace"}:
        after = f" after {tell_time(until)}" if until else ""
        told += f"; it goes when one more look{after} shows the same"
    return told


def tell_evidence(evidence: Mapping[str, Any]) -> str:
    """Return what proves that a review is done, such as `MERGED` with its time."""
    return " ".join(tell_time(str(value)) for value in evidence.values())


def tell_time(text: str) -> str:
    """Return a published time as people read it; what is none stays as it is."""
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        return text
    return format_time(moment) if moment.tzinfo else text


def tell_failure(failure: Mapping[str, Any]) -> str:
    """Return what failed, of what and of which workspace, and what helps."""
    known = (failure["reference"], failure["workspace"])
    what = " in ".join(part for part in known if part)
    told = f"{what}: {failure['message']}" if what else str(failure["message"])
    return f"{told}; {failure['remedy']}" if failure["remedy"] else told


def tell_state(row: "ReviewRow") -> str:
    """Return how searching goes, and where it does not go well why."""
    watch = row.watch
    if watch.last_error or row.state != "incomplete":
        return watch.last_error or row.state
    why = GAPS.get(watch.incomplete_reason or "", "")
    return f"incomplete: {why}" if why else "incomplete"


def tell_search(row: "ReviewRow") -> str:
    """Return what a review watch searches for, and where."""
    settings = row.watch.settings
    what = settings.query or f"requests to {_tell_whom(row)}"
    places = (*settings.repositories, *settings.organisations)
    return f"{what} in {', '.join(places)}" if places else what


def _tell_whom(row: "ReviewRow") -> str:
    settings = row.watch.settings
    whom = settings.target_login or "you"
    if settings.scope.value == "user":
        return whom
    return f"{whom} and {'your' if whom == 'you' else 'their'} teams"
