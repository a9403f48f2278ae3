"""What `prwatch review` says of proofs and times, in words for people."""

import datetime as dt
from collections.abc import Mapping
from typing import Any, Final

from prwatch.cli.output import format_time

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
    """Return what failed, of what (else of which workspace), and what helps."""
    what = failure["reference"] or failure["workspace"]
    told = f"{what}: {failure['message']}" if what else str(failure["message"])
    return f"{told}; {failure['remedy']}" if failure["remedy"] else told
