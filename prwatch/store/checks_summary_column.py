"""How the summary of a commit's checks lies in a JSON column, NULL where none is."""

import functools
from typing import Final

from prwatch.domain.checks_summary import ChecksSummary, NamedCheck
from prwatch.domain.pull_request import ChecksState
from prwatch.store.columns import (
    from_json,
    from_optional_microseconds,
    to_json,
    to_optional_microseconds,
)

_COUNTS: Final = (
    "total",
    "failing",
    "pending",
    "unapproved",
    "stale",
    "unreported",
    "ignored",
    "required",
    "required_failing",
    "required_pending",
    "is_expecting",
    "unread",
    "is_refused",
)
_DEFAULT: Final = ChecksSummary()


def to_checks_summary(summary: ChecksSummary | None) -> str | None:
    """Return the column. A member that says nothing is left out."""
    if summary is None:
        return None
    members: dict[str, object] = {
        name: getattr(summary, name)
        for name in _COUNTS
        if getattr(summary, name) != getattr(_DEFAULT, name)
    }
    if summary.named:
        members["named"] = [
            [
                each.name,
                each.said,
                each.state.value,
                each.app,
                to_optional_microseconds(each.since),
                each.is_required,
            ]
            for each in summary.named
        ]
    return to_json(members)


# Thousands of rows say that all of three passed: they are read once, and share it.
@functools.lru_cache(maxsize=512)
def from_checks_summary(value: str | None) -> ChecksSummary | None:
    """Return the summary of a column; one text always gives an equal value."""
    if value is None:
        return None
    members = from_json(value)
    named = tuple(
        NamedCheck(
            name=name,
            said=said,
            state=ChecksState(state),
            app=app,
            since=from_optional_microseconds(since),
            is_required=is_required,
        )
        for name, said, state, app, since, is_required in members.pop("named", ())
    )
    return ChecksSummary(**members, named=named)
