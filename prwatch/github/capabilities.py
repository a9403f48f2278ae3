"""
Keeps what one credential cannot read on one host, and so what is not asked for.

A refusal is learnt from the answer that carries it, at no cost, and believed for a
day; then the first full reading tries again. It is believed of the repository in
which it was met: a token may read checks in one and not in another. Only when three
refuse and none gives the field, it is believed of all. A field that the server's
schema lacks is left out everywhere until the server has another version.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final

from prwatch.clock import Clock
from prwatch.domain.capability import (
    GRAPHQL,
    WIDE_AFTER,
    RefusalReason,
    RefusedField,
)
from prwatch.domain.outcome import Forbidden, Missing
from prwatch.github.document_types import find_leavable
from prwatch.github.exchange import Exchange

VERSION_HEADER: Final = "x-github-enterprise-version"
_BELIEVED: Final = frozenset({"forbidden", "insufficient_scopes"})
"""Codes of refusals that are the token's own, whatever is asked."""
_MEANINGS: Final[Mapping[RefusalReason, Forbidden]] = {
    RefusalReason.TOKEN: Forbidden("this token may not read it"),
    RefusalReason.SCHEMA: Forbidden(
        "the server does not know them", code="unknown_field"
    ),
    RefusalReason.ORGANISATION: Forbidden(
        "the organisation refuses it", "organisation", "refused"
    ),
}


class Capabilities:
    """
    The refusals that hold now. `has_news` says that they changed since `take_news`.

    Everything that is left out of a question is told by `omit`.
    """

    def __init__(self, clock: Clock) -> None:
        self.has_news = False
        self._clock = clock
        self._refused: dict[tuple[str, str], RefusedField] = {}
        self._omitted: dict[str, frozenset[str]] = {}
        self._version = ""
        # Only what this process has seen widens a refusal.
        self._refusing: defaultdict[str, set[str]] = defaultdict(set)
        self._given: set[str] = set()

    @property
    def refused(self) -> tuple[RefusedField, ...]:
        """Return what is believed to be refused, by field and repository."""
        return tuple(self._refused[key] for key in sorted(self._refused))

    @property
    def has_graphql(self) -> bool:
        """Return whether the host has a GraphQL interface that can be used."""
        return (GRAPHQL, "") not in self._refused

    def restore(self, stored: Iterable[RefusedField]) -> None:
        """Believe what an earlier process has learnt."""
        self._omitted.clear()
        for each in stored:
            self._refused.setdefault((each.field, each.repository), each)
            self._version = self._version or each.version

    def take_news(self) -> bool:
        """Return whether anything changed since the last call."""
        has_news, self.has_news = self.has_news, False
        return has_news

    def forget_token(self) -> None:
        """Ask for everything again that another token may read."""
        self._refusing.clear()
        self._given.clear()
        self._drop(lambda each: each.reason is not RefusalReason.SCHEMA)

    def see_version(self, exchange: Exchange) -> None:
        """Ask again for what an older version of the server did not know."""
        version = exchange.headers.get(VERSION_HEADER, "")
        if version in ("", self._version):
            return  # what stands in front of the server says no version
        if self._version:
            self._drop(lambda each: each.reason is RefusalReason.SCHEMA)
        self._version = version

    def refuse_unknown(self, field: str) -> str:
        """
        Learn that the server does not know a field; return what to do without.

        '' says that no observation can do without it. Then a server that tells its
        version has no interface that can be used.
        """
        leavable = find_leavable(field)
        if field and not leavable and self._version:
            self.refuse_graphql()
        known = self._refused.get((leavable, ""))
        if leavable and (known is None or known.reason is not RefusalReason.SCHEMA):
            self._put(self._refuse(leavable, RefusalReason.SCHEMA))
        return leavable

    def refuse_graphql(self) -> None:
        """Note that the host, by its version an Enterprise Server, has no GraphQL."""
        self._put(self._refuse(GRAPHQL, RefusalReason.SCHEMA))

    def omit(self, repository: str = "", *, is_test: bool = False) -> frozenset[str]:
        """
        Return what is not asked for in a repository; '' is none in particular.

        With `is_test` a refusal that is a day old is asked again.
        """
        if not self._refused:
            return frozenset()
        place = repository.lower()
        omitted = self._omitted.get(place)
        if omitted is None:
            omitted = self._omitted[place] = frozenset(
                each.field for each in self._list_refused(place)
            )
        if not is_test or not omitted:
            return omitted
        now = self._clock.now()
        return omitted.difference(
            each.field for each in self._list_refused(place) if each.is_test_due(now)
        )

    def explain(self, field: str, repository: str) -> Missing:
        """Return why a field is not asked for in a repository."""
        for each in self._list_refused(repository.lower()):
            if each.field == field:
                return _MEANINGS[each.reason]
        return _MEANINGS[RefusalReason.TOKEN]

    def _list_refused(self, place: str) -> Iterator[RefusedField]:
        for each in self._refused.values():
            if each.repository in ("", place) and each.field != GRAPHQL:
                yield each

    def refuse(self, field: str, repository: str, meaning: Missing) -> None:
        """Learn that a field was refused in a repository, if that is what it means."""
        reason, place = _find_reason(meaning), repository.lower()
        if not field or not place or reason is None:
            return
        for where in ("", place):
            known = self._refused.get((field, where))
            if known is not None:
                if known.is_test_due(self._clock.now()):
                    self._put(replace(known, learnt_at=self._clock.now()))
                return
        self._put(self._refuse(field, reason, place))
        if reason is RefusalReason.TOKEN:
            self._refusing[field].add(place)
            self._widen(field)

    def give(self, fields: AbstractSet[str], repository: str) -> None:
        """Learn that fields could be read in a repository."""
        self._given |= fields
        if self._refused:
            place = repository.lower()
            self._drop(
                lambda each: (
                    each.field in fields
                    and each.repository in ("", place)
                    and each.reason is not RefusalReason.SCHEMA
                )
            )

    def _widen(self, field: str) -> None:
        if field in self._given or len(self._refusing[field]) < WIDE_AFTER:
            return
        self._drop(lambda each: each.field == field)
        self._put(self._refuse(field, RefusalReason.TOKEN))

    def _refuse(
        self, field: str, reason: RefusalReason, repository: str = ""
    ) -> RefusedField:
        is_schema = reason is RefusalReason.SCHEMA
        return RefusedField(
            field=field,
            reason=reason,
            learnt_at=self._clock.now(),
            repository=repository,
            version=self._version if is_schema else "",
        )

    def _put(self, refused: RefusedField) -> None:
        self._refused[refused.field, refused.repository] = refused
        self._change()

    def _drop(self, is_dropped: Callable[[RefusedField], bool]) -> None:
        kept = {
            key: each for key, each in self._refused.items() if not is_dropped(each)
        }
        if len(kept) < len(self._refused):
            self._refused = kept
            self._change()

    def _change(self) -> None:
        self._omitted.clear()
        self.has_news = True


def _find_reason(meaning: Missing) -> RefusalReason | None:
    """Return who refuses, None for what is no lasting refusal of a field."""
    if not isinstance(meaning, Forbidden):
        return None
    if meaning.scope == "organisation":
        return RefusalReason.ORGANISATION
    return RefusalReason.TOKEN if meaning.code in _BELIEVED else None
