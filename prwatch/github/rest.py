"""
Reads one pull request through REST, asking only for what changed since last time.

Each address has its own tag. When every address answers that nothing changed, so
does the whole; when one changed, the others are read again without their tags, for
an observation is made of whole answers only. A tag vouches for bytes, and a last
page that is full says nothing of a page behind it: such a page gets no tag.
"""

import datetime as dt
import enum
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias, TypeVar
from urllib.parse import quote

import msgspec

from prwatch.clock import Clock
from prwatch.domain.explanation import Explanation
from prwatch.domain.outcome import Forbidden, Found, Outcome, Unreadable
from prwatch.domain.reference import PullRequestReference, Reading, Usage
from prwatch.errors import ProviderError
from prwatch.github import rest_wire as wire
from prwatch.github.limits import Limits
from prwatch.github.path_errors import outcome_of
from prwatch.github.rest_client import RestAnswer, RestClient
from prwatch.github.rest_normalize import (
    RestParts,
    build_explanation,
    build_observation,
    list_asked,
)
from prwatch.github.sender import Sender
from prwatch.github.wire import decode

PAGE_SIZE: Final = 100
MAX_PAGES: Final = 50
COMMENT_WINDOW: Final = dt.timedelta(minutes=2)
NEWEST_COMMENTS: Final = 20
UNKNOWN: Final = Unreadable("GitHub's answer is not understood", "strange_answer")

S = TypeVar("S")
T = TypeVar("T")


class NotModified(enum.Enum):
    """The type of the one value that says that nothing changed since the tags."""

    NOT_MODIFIED = "not modified"


NOT_MODIFIED: Final = NotModified.NOT_MODIFIED
CheckOutcome: TypeAlias = Outcome[Reading] | NotModified


@dataclass(frozen=True, slots=True)
class Checked:
    """
    What a check found, and the tags to send next time.

    The tags vouch for the reading that they came with: keep both or neither. They
    are empty while a verdict settles, and belong to one credential. `verified_at`
    is GitHub's time when nothing had changed, else None.
    """

    outcome: CheckOutcome
    tags: Mapping[str, str] = field(default_factory=dict)
    verified_at: dt.datetime | None = None


@dataclass(slots=True)
class _Walk:
    """One reading under way: the tags gathered, and what could not be read."""

    tags: dict[str, str] = field(default_factory=dict)
    is_vouched: bool = True
    """Whether the tags speak for everything that was read."""
    notes: list[str] = field(default_factory=list)
    refusals: dict[str, str] = field(default_factory=dict)
    """Why this token may not read a list, by what the list holds."""


class Rest:
    """Reads single pull requests with one credential."""

    def __init__(
        self,
        sender: Sender,
        api_url: str,
        *,
        clock: Clock,
        limits: Limits,
        settle: dt.timedelta,
    ) -> None:
        self._client = RestClient(sender, api_url, clock=clock, limits=limits)
        self._settle = settle

    @property
    def client(self) -> RestClient:
        """Return the client that the readings go through."""
        return self._client

    @property
    def usage(self) -> Usage:
        """Return what was asked so far."""
        return self._client.usage

    async def check(
        self,
        reference: PullRequestReference,
        *,
        tags: Mapping[str, str],
        since: dt.datetime | None = None,
    ) -> Checked:
        """
        Return the reading, or that nothing changed since `tags` were given.

        Raises:
            ProviderError: the failure is about more than this pull request.
        """
        verified_at = await self._verify(tags)
        if verified_at is not None:
            return Checked(NOT_MODIFIED, dict(tags), verified_at)
        walk = _Walk()
        try:
            return await self._read(reference, walk, since)
        except ProviderError as error:
            outcome = outcome_of(error)
            if outcome is None:
                raise
            return Checked(outcome)

    async def explain(self, reference: PullRequestReference) -> Outcome[Explanation]:
        """
        Read the whole pull request now and return what its verdicts are made of.

        Raises:
            ProviderError: the failure is about more than this pull request.
        """
        try:
            answer, pull_request = await self._get_pull_request(reference)
            if pull_request is None:
                return UNKNOWN
            parts = await self._read_parts(_Walk(), pull_request, None)
        except ProviderError as error:
            outcome = outcome_of(error)
            if outcome is None:
                raise
            return outcome
        try:
            return Found(
                build_explanation(
                    parts, observed_at=answer.observed_at, settle=self._settle
                )
            )
        except ValueError:
            return UNKNOWN

    async def list_asked(
        self, reference: PullRequestReference
    ) -> tuple[str, ...] | None:
        """
        Return the logins and teams whose review is asked for; None if unreadable.

        Raises:
            ProviderError: the failure is about more than this pull request.
        """
        try:
            _, pull_request = await self._get_pull_request(reference)
        except ProviderError as error:
            if outcome_of(error) is None:
                raise
            return None
        return None if pull_request is None else list_asked(pull_request)

    async def _get_pull_request(
        self, reference: PullRequestReference
    ) -> tuple[RestAnswer, wire.PullRequest | None]:
        """Return the answer, and the pull request unless it is not understood."""
        base = f"/repos/{_quote(reference.owner)}/{_quote(reference.name)}"
        path = f"{base}/pulls/{reference.number}"
        answer = await self._client.get(path, operation="pull request")
        return answer, decode(wire.PULL_REQUEST, answer.body)

    async def _verify(self, tags: Mapping[str, str]) -> dt.datetime | None:
        """Return when GitHub began to say that nothing changed, None if anything."""
        began_at = None
        for path, tag in tags.items():
            try:
                answer = await self._client.get(path, operation="verify", tag=tag)
            except ProviderError as error:
                if outcome_of(error) is None:
                    raise
                return None
            if answer.body is not None:
                return None
            began_at = began_at or answer.observed_at
        return began_at

    async def _read(
        self,
        reference: PullRequestReference,
        walk: _Walk,
        since: dt.datetime | None,
    ) -> Checked:
        answer, pull_request = await self._get_pull_request(reference)
        if pull_request is None:
            return Checked(UNKNOWN)
        _keep(walk, answer)
        parts = await self._read_parts(walk, pull_request, since)
        try:
            observation = build_observation(
                parts, observed_at=answer.observed_at, settle=self._settle
            )
        except ValueError:
            return Checked(UNKNOWN)
        lists = (parts.check_runs, parts.statuses, parts.reviews, parts.comments)
        is_last_word = (
            walk.is_vouched and observation.settles_at is None and None not in lists
        )
        reading = Reading(
            observation=observation,
            has_null_auto_merge=pull_request.auto_merge is None,
        )
        return Checked(Found(reading), walk.tags if is_last_word else {})

    async def _read_parts(
        self,
        walk: _Walk,
        pull_request: wire.PullRequest,
        since: dt.datetime | None,
    ) -> RestParts:
        owner, _, name = pull_request.base.repo.full_name.partition("/")
        base = f"/repos/{_quote(owner)}/{_quote(name)}"
        pulls = f"{base}/pulls/{pull_request.number}"
        commit = f"{base}/commits/{_quote(pull_request.head.sha)}"
        runs = await self._read_list(
            walk,
            f"{commit}/check-runs?filter=all",
            wire.CHECK_RUNS,
            _get_runs,
            "checks",
        )
        statuses = await self._read_list(
            walk, f"{commit}/status", wire.STATUSES, _get_statuses, "statuses"
        )
        reviews = await self._read_list(
            walk, f"{pulls}/reviews", wire.REVIEWS, _get_all, "reviews"
        )
        comments = await self._read_comments(walk, base, pull_request, since)
        return RestParts(
            pull_request=pull_request,
            reviews=reviews,
            check_runs=runs,
            statuses=statuses,
            comments=comments,
            notes=tuple(walk.notes),
            refusal=walk.refusals.get("checks") or walk.refusals.get("statuses", ""),
        )

    async def _read_comments(
        self,
        walk: _Walk,
        base: str,
        pull_request: wire.PullRequest,
        since: dt.datetime | None,
    ) -> list[wire.Comment] | None:
        """Read the newest comments: those since a time, else the last page or two."""
        path = f"{base}/issues/{pull_request.number}/comments"
        what = "comments"
        if since is not None:
            start = (since - COMMENT_WINDOW).astimezone(dt.UTC)
            path = f"{path}?since={start.strftime('%Y-%m-%dT%H:%M:%SZ')}"
            return await self._read_list(walk, path, wire.COMMENTS, _get_all, what)
        last = max(1, math.ceil(pull_request.comments / PAGE_SIZE))
        items = await self._read_list(
            walk, path, wire.COMMENTS, _get_all, what, first_page=last
        )
        if items is None or last == 1 or len(items) >= NEWEST_COMMENTS:
            return items
        earlier = await self._read_list(
            walk, path, wire.COMMENTS, _get_all, what, first_page=last - 1
        )
        return None if earlier is None else [*earlier, *items]

    async def _read_list(
        self,
        walk: _Walk,
        path: str,
        decoder: "msgspec.json.Decoder[S]",
        get_items: Callable[[S], Sequence[T]],
        what: str,
        *,
        first_page: int = 1,
    ) -> list[T] | None:
        """Read a list to its end; None, with a note, where that is not possible."""
        separator = "&" if "?" in path else "?"
        address = f"{path}{separator}per_page={PAGE_SIZE}"
        if first_page > 1:
            address = f"{address}&page={first_page}"
        items: list[T] = []
        seen: set[str] = set()
        while address and address not in seen and len(seen) < MAX_PAGES:
            seen.add(address)
            try:
                answer = await self._client.get(address, operation=what)
            except ProviderError as error:
                _note_lost(walk, error, what)
                return None
            page = decode(decoder, answer.body)
            if page is None:
                walk.notes.append(f"GitHub's list of {what} is not understood")
                return None
            found = get_items(page)
            items.extend(found)
            is_open_end = not answer.next_path and len(found) >= PAGE_SIZE
            _keep(walk, answer, is_vouching=not is_open_end)
            address = answer.next_path
        if address:
            walk.notes.append(f"the list of {what} does not end")
            return None
        return items


def _keep(walk: _Walk, answer: RestAnswer, *, is_vouching: bool = True) -> None:
    if answer.tag and is_vouching:
        walk.tags[answer.path] = answer.tag
    else:
        walk.is_vouched = False


def _note_lost(walk: _Walk, error: ProviderError, what: str) -> None:
    """
    Note why the list is not there.

    Raises:
        ProviderError: the failure is about more than this list.
    """
    outcome = outcome_of(error)
    if outcome is None:
        raise error
    walk.notes.append(f"{what} cannot be read with this token: {outcome.reason}")
    if isinstance(outcome, Forbidden):
        walk.refusals[what] = outcome.reason


def _get_all(page: list[T]) -> list[T]:
    return page


def _get_runs(page: wire.CheckRuns) -> list[wire.CheckRun]:
    return page.check_runs


def _get_statuses(page: wire.CombinedStatus) -> list[wire.Status]:
    return page.statuses


def _quote(part: str) -> str:
    return quote(part, safe="")
