"""Open pull requests by what they need, so that a person sees first what waits."""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from prwatch.app.command.watch_row import WatchRow
from prwatch.domain.timestamp import format_optional_time
from prwatch.domain.verdict_words import Need, Words, tell

_NEVER: Final = dt.datetime.min.replace(tzinfo=dt.UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedRow:
    """One pull request: its words, and since when it has been as it is."""

    workspace: str
    reference: str
    title: str
    url: str
    words: Words
    observed_at: dt.datetime | None

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        return {
            "workspace": self.workspace,
            "reference": self.reference,
            "title": self.title,
            "url": self.url,
            "words": self.words.as_json(),
            "last_change_at": format_optional_time(self.observed_at),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedGroup:
    """All that need one thing: how many, and those that have waited longest."""

    need: Need
    count: int
    rows: tuple[NeedRow, ...]

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        return {
            "needs": self.need.value,
            "count": self.count,
            "pull_requests": [row.as_json() for row in self.rows],
        }


def group_by_need(
    rows: Iterable[WatchRow],
    *,
    limit: int,
    silent: Mapping[str, dt.datetime] | None = None,
) -> tuple[NeedGroup, ...]:
    """
    Return what open pull requests need, the most urgent first, without empty groups.

    One that several tasks watch counts once. `silent` tells of watches since when
    GitHub does not say whether they can be merged. Each group names up to `limit`.
    """
    groups: dict[Need, dict[tuple[str, str], tuple[WatchRow, Words]]] = {}
    for row in rows:
        if row.known is None or row.known.observation.is_final:
            continue
        known = row.known
        if silent and row.id in silent:
            known = replace(known, mergeable_unknown_since=silent[row.id])
        words = tell(known)
        same = groups.setdefault(words.need, {})
        same.setdefault((row.workspace, row.reference), (row, words))
    return tuple(
        NeedGroup(
            need=need,
            count=len(groups[need]),
            rows=_choose(groups[need].values(), limit),
        )
        for need in Need
        if need in groups
    )


def _choose(pairs: Iterable[tuple[WatchRow, Words]], limit: int) -> tuple[NeedRow, ...]:
    """Return those that have waited longest, in that order."""
    longest = sorted(
        pairs, key=lambda pair: (pair[0].observed_at or _NEVER, pair[0].reference)
    )
    return tuple(
        NeedRow(
            workspace=row.workspace,
            reference=row.reference,
            title=str(row.read("title") or ""),
            url=str(row.read("url") or ""),
            words=words,
            observed_at=row.observed_at,
        )
        for row, words in longest[:limit]
    )
