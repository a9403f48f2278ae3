"""
Whether the product does its work: a verdict, its reasons, and what helps.

Everything here is kinds and counts. Nothing names a workspace, a repository or a sink,
so that the whole of it may be shown to whoever watches the machine.
"""

import datetime as dt
import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from prwatch.domain.circuit import CircuitKind
from prwatch.domain.outcome import FailureClass

SPACE_NEEDED: Final = 64 * 1024 * 1024
"""With less room than this the store may not take the next events."""


class Verdict(enum.StrEnum):
    """
    How it stands, from good to bad.

    `degraded` passes by itself or touches a part; `failing` means that something is
    not watched or not told, and only a person changes that.
    """

    OK = "ok"
    DEGRADED = "degraded"
    FAILING = "failing"


class ReasonCode(enum.StrEnum):
    """Why the verdict is not simply `ok`. Words are only ever added."""

    STARTING = "starting"
    LOOP_STALLED = "loop_stalled"
    LOOP_FAILING = "loop_failing"
    STORE_UNWRITABLE = "store_unwritable"
    SPACE_LOW = "space_low"
    TOKEN_REFUSED = "token_refused"  # noqa: S105 - a word for people
    STALE = "stale"
    ORGANISATION_REFUSED = "organisation_refused"
    GITHUB_UNREACHABLE = "github_unreachable"
    CIRCUIT_OPEN = "circuit_open"
    LIMIT = "limit"
    RESERVE = "reserve"
    SINK_FAILING = "sink_failing"
    RELOAD_REFUSED = "reload_refused"
    STRETCHED = "stretched"
    FIELDS_REFUSED = "fields_refused"
    REVIEW_WATCHES_UNREADABLE = "review_watches_unreadable"


REMEDIES: Final[Mapping[ReasonCode, str]] = {
    ReasonCode.STARTING: "wait for the first cycle to end",
    ReasonCode.LOOP_STALLED: "restart prwatch; with systemd its watchdog does that",
    ReasonCode.LOOP_FAILING: "read its error in the log or in `prwatch status`",
    ReasonCode.STORE_UNWRITABLE: (
        "make the database writable and give its disk room; nothing is lost meanwhile"
    ),
    ReasonCode.SPACE_LOW: "give the disk of the state folder room",
    ReasonCode.TOKEN_REFUSED: (
        "replace the token; `prwatch doctor` names its workspace and what is wrong"
    ),
    ReasonCode.STALE: (
        "restart prwatch, and report it: watches are not looked at, and nothing says"
        " why"
    ),
    ReasonCode.ORGANISATION_REFUSED: (
        "let the organisation admit the token (single sign-on, allowed addresses,"
        " kinds of tokens); `prwatch doctor` says which"
    ),
    ReasonCode.GITHUB_UNREACHABLE: (
        "nothing, if GitHub has an outage; else check network, proxy and certificates"
    ),
    ReasonCode.CIRCUIT_OPEN: "see `prwatch status`: what failed is tried again later",
    ReasonCode.LIMIT: "nothing: polling goes on when GitHub's limit ends",
    ReasonCode.RESERVE: (
        "nothing: the rest of the budget is kept for people; lower `poll.reserve` to"
        " use it"
    ),
    ReasonCode.SINK_FAILING: (
        "see `prwatch status`: events are kept and sent when the sink takes them"
    ),
    ReasonCode.RELOAD_REFUSED: (
        "correct the file (`prwatch config check`) and reload; the old one is in use"
    ),
    ReasonCode.STRETCHED: (
        "nothing, or watch less or with more accounts: see `prwatch budget`"
    ),
    ReasonCode.FIELDS_REFUSED: (
        "give the token the permission that `prwatch doctor` names, if you want them"
    ),
    ReasonCode.REVIEW_WATCHES_UNREADABLE: (
        "see `prwatch review list`: remove the review watch and make it anew"
    ),
}
"""What a person can do, for each reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One reason: how much it weighs, how many things it concerns, and until when."""

    code: ReasonCode
    verdict: Verdict
    count: int = 1
    until: dt.datetime | None = None

    @property
    def remedy(self) -> str:
        """Return what a person can do."""
        return REMEDIES[self.code]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopHealth:
    """The loops of one kind, and how many of them are not well."""

    count: int
    failing: int = 0
    stalled: int = 0
    is_vital: bool = False
    """Whether nothing is watched or told without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitHealth:
    """Accounts that do not call with a bucket, why, and until when the last of them."""

    bucket: str
    is_reserve: bool
    accounts: int
    until: dt.datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthFacts:
    """What the verdict is made of. What is not known yet counts as well."""

    has_started: bool = True
    """Whether every loop was started: what systemd calls ready."""
    has_polled: bool = True
    """Whether a cycle has ended since."""
    loops: Mapping[str, LoopHealth] = field(default_factory=dict)
    is_writable: bool = True
    free_bytes: int | None = None
    failures: Mapping[FailureClass, int] = field(default_factory=dict)
    """Of the last cycle, single references included."""
    lost_workspaces: Mapping[FailureClass, int] = field(default_factory=dict)
    """Workspaces that could not be polled in it, by why."""
    lost_organisations: int = 0
    open_circuits: Mapping[tuple[CircuitKind, FailureClass], int] = field(
        default_factory=dict
    )
    limits: tuple[LimitHealth, ...] = ()
    paused_workspaces: int = 0
    """Workspaces that wait for one of these."""
    failing_sinks: Mapping[str, int] = field(default_factory=dict)
    """By kind."""
    unexplained_stale: int = 0
    """Watches that were not looked at for no reason, in two looks running."""
    is_reload_refused: bool = False
    stretched: int = 0
    refused_fields: int = 0
    unreadable_reviews: int = 0
    """Review watches whose rows cannot be understood: they are not searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """
    A verdict with its reasons, the worst first.

    `is_ready` says whether work gets on here, whatever GitHub and the sinks do.
    """

    verdict: Verdict
    reasons: tuple[Reason, ...]
    is_ready: bool

    def list_unready(self) -> tuple[Reason, ...]:
        """List the reasons why it is not ready."""
        return tuple(each for each in self.reasons if _hinders(each))


_HINDRANCES: Final = frozenset(
    {ReasonCode.LOOP_STALLED, ReasonCode.LOOP_FAILING, ReasonCode.STORE_UNWRITABLE}
)
_ORDER: Final = tuple(Verdict)
_UNREACHABLE: Final = (FailureClass.TRANSIENT, FailureClass.CONFIG)
"""Classes of what keeps a whole workspace from being polled but its token."""


def judge(facts: HealthFacts) -> Health:
    """Return the verdict on these facts: that of the worst reason."""
    reasons = sorted(
        (*_list_own(facts), *_list_foreign(facts), *_list_notes(facts)),
        key=lambda reason: _ORDER.index(reason.verdict),
        reverse=True,
    )
    verdict = reasons[0].verdict if reasons else Verdict.OK
    return Health(
        verdict=verdict,
        reasons=tuple(reasons),
        is_ready=facts.has_started and not any(map(_hinders, reasons)),
    )


def _hinders(reason: Reason) -> bool:
    return reason.code in _HINDRANCES and reason.verdict is Verdict.FAILING


def _list_own(facts: HealthFacts) -> Iterator[Reason]:
    """Yield what is wrong with this process and its machine."""
    if not (facts.has_started and facts.has_polled):
        yield Reason(code=ReasonCode.STARTING, verdict=Verdict.DEGRADED)
    if stalled := sum(loop.stalled for loop in facts.loops.values()):
        yield _fail(ReasonCode.LOOP_STALLED, stalled)
    if vital := sum(loop.failing for loop in facts.loops.values() if loop.is_vital):
        yield _fail(ReasonCode.LOOP_FAILING, vital)
    elif failing := sum(loop.failing for loop in facts.loops.values()):
        yield _degrade(ReasonCode.LOOP_FAILING, failing)
    if not facts.is_writable:
        yield _fail(ReasonCode.STORE_UNWRITABLE)
    if facts.free_bytes is not None and facts.free_bytes < SPACE_NEEDED:
        yield _degrade(ReasonCode.SPACE_LOW)
    if facts.unexplained_stale:
        yield _fail(ReasonCode.STALE, facts.unexplained_stale)
    if facts.is_reload_refused:
        yield _degrade(ReasonCode.RELOAD_REFUSED)
    if facts.unreadable_reviews:
        yield _degrade(ReasonCode.REVIEW_WATCHES_UNREADABLE, facts.unreadable_reviews)


def _list_foreign(facts: HealthFacts) -> Iterator[Reason]:
    """Yield what GitHub and the sinks do to us."""
    lost = facts.lost_workspaces
    refused = lost.get(FailureClass.AUTH, 0)
    unreachable = sum(lost.get(each, 0) for each in _UNREACHABLE)
    if refused:
        yield _fail(ReasonCode.TOKEN_REFUSED, refused)
    if facts.lost_organisations:
        yield _degrade(ReasonCode.ORGANISATION_REFUSED, facts.lost_organisations)
    if unreachable:
        yield _degrade(ReasonCode.GITHUB_UNREACHABLE, unreachable)
    if not (refused or unreachable or facts.lost_organisations):
        yield from _list_circuits(facts)
    yield from _list_limits(facts)
    if failing := sum(facts.failing_sinks.values()):
        yield _degrade(ReasonCode.SINK_FAILING, failing)


def _list_circuits(facts: HealthFacts) -> Iterator[Reason]:
    """Yield the circuits above single records, where no failure tells them already."""
    wide = sum(
        count
        for (kind, _), count in facts.open_circuits.items()
        if kind is not CircuitKind.RECORD
    )
    if wide:
        yield _degrade(ReasonCode.CIRCUIT_OPEN, wide)


def _list_limits(facts: HealthFacts) -> Iterator[Reason]:
    for code, is_reserve in ((ReasonCode.LIMIT, False), (ReasonCode.RESERVE, True)):
        found = [limit for limit in facts.limits if limit.is_reserve is is_reserve]
        if found:
            yield Reason(
                code=code,
                verdict=Verdict.DEGRADED,
                count=max(limit.accounts for limit in found),
                until=max(limit.until for limit in found),
            )
    limited = facts.lost_workspaces.get(FailureClass.LIMIT, 0)
    if limited and not facts.limits:
        # The wait is over, and the next cycle will show it.
        yield _degrade(ReasonCode.LIMIT, limited)


def _list_notes(facts: HealthFacts) -> Iterator[Reason]:
    """Yield what is as it was asked for, and worth to be known."""
    if facts.stretched:
        yield Reason(
            code=ReasonCode.STRETCHED, verdict=Verdict.OK, count=facts.stretched
        )
    if facts.refused_fields:
        yield Reason(
            code=ReasonCode.FIELDS_REFUSED,
            verdict=Verdict.OK,
            count=facts.refused_fields,
        )


def _fail(code: ReasonCode, count: int = 1) -> Reason:
    return Reason(code=code, verdict=Verdict.FAILING, count=count)


def _degrade(code: ReasonCode, count: int = 1) -> Reason:
    return Reason(code=code, verdict=Verdict.DEGRADED, count=count)
