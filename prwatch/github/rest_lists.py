"""
Reads the lists that a verdict is made of through REST, each to its end.

A list that the token may not read is learnt as such, and not asked for again while
that is believed: see `capabilities`.
"""

import datetime as dt
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar
from urllib.parse import quote

import msgspec

from prwatch.domain.capability import CHECKS, COMMENTS, REVIEWS
from prwatch.domain.outcome import Forbidden, Missing
from prwatch.errors import ProviderError
from prwatch.github import rest_wire as wire
from prwatch.github.capabilities import Capabilities
from prwatch.github.path_errors import outcome_of
from prwatch.github.rest_client import RestAnswer, RestClient
from prwatch.github.rest_normalize import RestParts
from prwatch.github.wire import decode

PAGE_SIZE: Final = 100
MAX_PAGES: Final = 50
COMMENT_WINDOW: Final = dt.timedelta(minutes=2)
NEWEST_COMMENTS: Final = 20
_FIELDS: Final = {
    "checks": CHECKS,
    "statuses": CHECKS,
    "reviews": REVIEWS,
    "comments": COMMENTS,
}
"""What cannot be read of a pull request without a list."""
_MARKS: Final = {
    CHECKS: ("/check-runs?", "/status?"),
    REVIEWS: ("/reviews?",),
    COMMENTS: ("/comments?",),
}
"""What stands in the addresses of a field's lists."""

S = TypeVar("S")
T = TypeVar("T")


@dataclass(slots=True)
class RestWalk:
    """One reading under way: the tags gathered, and what could not be read."""

    place: str
    """The repository, as it was asked for."""
    omitted: frozenset[str] = frozenset()
    """The fields that are not asked for."""
    tags: dict[str, str] = field(default_factory=dict)
    is_vouched: bool = True
    """Whether the tags speak for everything that was read."""
    is_whole: bool = True
    """Whether everything was read that this token may read."""
    notes: list[str] = field(default_factory=list)
    refusals: dict[str, str] = field(default_factory=dict)
    """Why this token may not read a list, by what the list holds."""

    def keep(self, answer: RestAnswer, *, is_vouching: bool = True) -> None:
        """Keep the answer's tag."""
        if answer.tag and is_vouching:
            self.tags[answer.path] = answer.tag
        else:
            self.is_vouched = False

    def lose(self, note: str) -> None:
        """Note that a list could not be read this time."""
        self.is_whole = False
        self.notes.append(note)

    def refuse(self, what: str, meaning: Missing) -> None:
        """Note that this token may not read a list, nor what goes with it."""
        self.omitted |= {_FIELDS[what]}
        marks = _MARKS[_FIELDS[what]]
        self.tags = {
            path: tag
            for path, tag in self.tags.items()
            if not any(mark in path for mark in marks)
        }
        note = f"{what} cannot be read with this token: {meaning.reason}"
        if note not in self.notes:
            self.notes.append(note)
        self.refusals[what] = meaning.reason


def is_vouching(tags: Iterable[str], omitted: frozenset[str]) -> bool:
    """Return whether tags speak for just the lists that would be read now."""
    return all(
        any(mark in path for path in tags) is (name not in omitted)
        for name, marks in _MARKS.items()
        for mark in marks
    )


class RestLists:
    """Reads the lists beside a pull request with one credential."""

    def __init__(self, client: RestClient, capabilities: Capabilities) -> None:
        self._client = client
        self._capabilities = capabilities

    async def read_parts(
        self,
        walk: RestWalk,
        pull_request: wire.PullRequest,
        since: dt.datetime | None,
    ) -> RestParts:
        """
        Read everything beside a pull request that may be read.

        Raises:
            ProviderError: the failure is about more than one list.
        """
        owner, _, name = pull_request.base.repo.full_name.partition("/")
        base = f"/repos/{quote_part(owner)}/{quote_part(name)}"
        pulls = f"{base}/pulls/{pull_request.number}"
        commit = f"{base}/commits/{quote_part(pull_request.head.sha)}"
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
        walk: RestWalk,
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
        walk: RestWalk,
        path: str,
        decoder: "msgspec.json.Decoder[S]",
        get_items: Callable[[S], Sequence[T]],
        what: str,
        *,
        first_page: int = 1,
    ) -> list[T] | None:
        """Read a list to its end; None, with a note, where that is not possible."""
        field_name = _FIELDS[what]
        if field_name in walk.omitted:
            if what != "statuses":  # the checks have said so
                walk.refuse(what, self._capabilities.explain(field_name, walk.place))
            return None
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
                self._note_lost(walk, error, what)
                return None
            page = decode(decoder, answer.body)
            if page is None:
                walk.lose(f"GitHub's list of {what} is not understood")
                return None
            self._capabilities.give(frozenset({field_name}), walk.place)
            found = get_items(page)
            items.extend(found)
            is_open_end = not answer.next_path and len(found) >= PAGE_SIZE
            walk.keep(answer, is_vouching=not is_open_end)
            address = answer.next_path
        if address:
            walk.lose(f"the list of {what} does not end")
            return None
        return items

    def _note_lost(self, walk: RestWalk, error: ProviderError, what: str) -> None:
        """
        Note why the list is not there.

        Raises:
            ProviderError: the failure is about more than this list.
        """
        outcome = outcome_of(error)
        if outcome is None:
            raise error
        if isinstance(outcome, Forbidden):
            self._capabilities.refuse(_FIELDS[what], walk.place, outcome)
            walk.refuse(what, outcome)
        else:
            walk.lose(f"{what} cannot be read with this token: {outcome.reason}")


def _get_all(page: list[T]) -> list[T]:
    return page


def _get_runs(page: wire.CheckRuns) -> list[wire.CheckRun]:
    return page.check_runs


def _get_statuses(page: wire.CombinedStatus) -> list[wire.Status]:
    return page.statuses


def quote_part(part: str) -> str:
    """Return a part of a path with everything encoded that has a meaning in one."""
    return quote(part, safe="")
