"""
The words for the checks of a pull request: what the verdict on them comes from.

They say more than the verdict and never something else: each word belongs to one
state, as `STATES` lists them.
"""

import datetime as dt
import enum
from collections.abc import Mapping, Sequence
from typing import Final

from prwatch.domain.checks_summary import ChecksSummary, NamedCheck
from prwatch.domain.phrase import Known, Phrase
from prwatch.domain.pull_request import UNOBSERVED, ChecksState

GRACE: Final = dt.timedelta(minutes=10)
"""How long a head may stand without checks before that is more than «not yet»."""

_NAMES: Final = 3
"""How many checks a text names."""

_EMPTY: Final = ChecksSummary()


class ChecksWord(enum.StrEnum):
    """What the checks come to, from the verdict and what it rests on."""

    UNREADABLE = "unreadable"
    """This token may not read them."""
    NOT_READ = "not_read"
    """They were not read, for another reason."""
    NOT_REGISTERED = "not_yet_registered"
    """The head is so young that none may have been registered."""
    NONE_REPORTED = "none_reported"
    """None was reported for longer than that; whether one comes is unknown."""
    NEVER_REPORTED = "never_reported"
    """The pull request is closed: none will come."""
    FAILED = "failed"
    NEEDS_APPROVAL = "needs_approval"
    """Nothing failed but runs that somebody must let run."""
    RUNNING = "running"
    OPTIONAL_RUNNING = "optional_running"
    """Everything required has passed, and something else runs."""
    NOT_REPORTED = "required_not_reported"
    """Nothing runs, and a required check has not reported."""
    STALE = "stale"
    """Nothing runs, and GitHub gave a run up."""
    SETTLING = "settling"
    """Everything passed, too lately to be a success."""
    PASSED = "passed"


_UNDECIDED: Final = frozenset({UNOBSERVED, ChecksState.NONE})
_PENDING: Final = frozenset({ChecksState.PENDING})
_FAILURE: Final = frozenset({ChecksState.FAILURE})
_NONE: Final = frozenset({ChecksState.NONE})

STATES: Final[Mapping[ChecksWord, frozenset[object]]] = {
    # What an earlier token read stays the verdict.
    ChecksWord.UNREADABLE: frozenset({UNOBSERVED, *ChecksState}),
    ChecksWord.NOT_READ: _UNDECIDED,
    ChecksWord.NOT_REGISTERED: _NONE,
    ChecksWord.NONE_REPORTED: _NONE,
    ChecksWord.NEVER_REPORTED: _NONE,
    ChecksWord.FAILED: _FAILURE,
    ChecksWord.NEEDS_APPROVAL: _FAILURE,
    ChecksWord.RUNNING: _PENDING,
    ChecksWord.OPTIONAL_RUNNING: _PENDING,
    ChecksWord.NOT_REPORTED: _PENDING,
    ChecksWord.STALE: _PENDING,
    ChecksWord.SETTLING: _PENDING,
    ChecksWord.PASSED: frozenset({ChecksState.SUCCESS}),
}
"""The verdicts that a word may stand beside."""

RULES: Final[Mapping[ChecksState, str]] = {
    ChecksState.FAILURE: "any failure wins, whatever else passed or runs",
    ChecksState.PENDING: "nothing failed, and not everything has come to its end",
    ChecksState.SUCCESS: "everything that counts has passed",
    ChecksState.NONE: "without any check there is neither failure nor success",
}
"""The rule that made a verdict."""


def tell_checks(known: Known) -> Phrase:
    """Return the words for the checks. Stored numbers are told with their age."""
    seen = known.observation
    summary = seen.checks_summary or _EMPTY
    is_undecided = seen.checks in _UNDECIDED
    refusal = known.unreadable.get("checks", "")
    if not refusal and summary.is_refused and is_undecided:
        refusal = f"unreadable with this token: {summary.unread}"
    if refusal:
        return Phrase(word=ChecksWord.UNREADABLE, text=_tell_refusal(known, refusal))
    if seen.checks is UNOBSERVED:
        return Phrase(word=ChecksWord.NOT_READ, text=summary.unread or "not read")
    if seen.checks is ChecksState.NONE:
        return _tell_none(known, summary)
    if seen.checks is ChecksState.FAILURE:
        return _tell_failure(summary)
    if seen.checks is ChecksState.PENDING:
        return _tell_pending(known, summary)
    words = f"all {summary.total} passed" if summary.total else "passed"
    return Phrase(word=ChecksWord.PASSED, text=words + _tell_ignored(summary))


def _tell_refusal(known: Known, words: str) -> str:
    seen = known.observation
    if seen.checks is UNOBSERVED or seen.checks is ChecksState.NONE:
        return words
    age = known.tell_age(seen.observed_at)
    return f"{words}; last known {seen.checks.value}, {age} ago"


def _tell_none(known: Known, summary: ChecksSummary) -> Phrase:
    if summary.unread:
        return Phrase(word=ChecksWord.NOT_READ, text=summary.unread)
    if known.observation.is_final:
        words = "no check was ever reported"
        return Phrase(word=ChecksWord.NEVER_REPORTED, text=words)
    since = known.bare_since or known.observation.observed_at
    age = known.tell_age(since)
    if known.now - since < GRACE:
        words = f"not yet registered, after {age}"
        return Phrase(word=ChecksWord.NOT_REGISTERED, text=words)
    words = f"no check was reported in {age}"
    return Phrase(word=ChecksWord.NONE_REPORTED, text=words)


def _tell_failure(summary: ChecksSummary) -> Phrase:
    if summary.failing and summary.unapproved == summary.failing:
        verb = "needs" if summary.failing == 1 else "need"
        words = f"{summary.failing} of {summary.total} {verb} approval"
        word = ChecksWord.NEEDS_APPROVAL
    elif summary.failing:
        word, words = ChecksWord.FAILED, f"{summary.failing} of {summary.total} failed"
    else:
        return Phrase(word=ChecksWord.FAILED, text="failed")
    parts = [words + _tell_names(summary, ChecksState.FAILURE, summary.failing)]
    if word is ChecksWord.FAILED and summary.unapproved:
        parts.append(f"{summary.unapproved} of them for want of approval")
    if summary.required is not None:
        parts.append(f"{summary.required_failing or 'none'} of them required")
    if summary.running > 0:
        parts.append(f"{summary.running} running")
    return Phrase(word=word, text="; ".join(parts) + _tell_ignored(summary))


def _tell_pending(known: Known, summary: ChecksSummary) -> Phrase:
    counted_at = known.counted_at or known.observation.observed_at
    age = "" if known.is_live else known.tell_age(counted_at)
    names = _tell_names(summary, ChecksState.PENDING, summary.pending)
    if summary.running > 0 and _is_required_green(summary):
        word = ChecksWord.OPTIONAL_RUNNING
        words = f"required green, {summary.running} optional running{names}"
    elif summary.running > 0:
        word = ChecksWord.RUNNING
        words = f"running {summary.running} of {summary.total}{names}"
    elif summary.unreported or summary.is_expecting:
        word, words = ChecksWord.NOT_REPORTED, f"required but not reported{names}"
    elif summary.stale > 0:
        word, words = ChecksWord.STALE, f"{summary.stale} stale{names}"
    elif summary.has_passed:
        word, words = ChecksWord.SETTLING, f"all {summary.total} passed, settling"
    else:
        word, words = ChecksWord.RUNNING, "running"
    words += _tell_ignored(summary)
    return Phrase(word=word, text=f"{words}, as of {age} ago" if age else words)


def _is_required_green(summary: ChecksSummary) -> bool:
    is_awaited = summary.required_pending or summary.unreported or summary.is_expecting
    return bool(summary.required) and not is_awaited


def _tell_names(summary: ChecksSummary, state: ChecksState, count: int) -> str:
    """Return `: build, lint and 3 more`, or nothing where no name is kept."""
    checks = [each for each in summary.named if each.state is state]
    return _join(checks[:_NAMES], count)


def _join(checks: Sequence[NamedCheck], count: int) -> str:
    if not checks:
        return ""
    names = ", ".join(each.name for each in checks)
    more = count - len(checks)
    return f": {names} and {more} more" if more > 0 else f": {names}"


def _tell_ignored(summary: ChecksSummary) -> str:
    if not summary.ignored:
        return ""
    return f"; {summary.ignored} ignored (unexpanded matrix name)"
