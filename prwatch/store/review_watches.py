"""
Rows of review watches: what people choose, and apart from it how searching went.

Polling and people write different columns, so neither undoes what the other wrote.
"""

import contextlib
import datetime as dt
from typing import Final

from prwatch.domain.review_watch import (
    CleanupPolicy,
    IncompleteReason,
    ReviewScope,
    ReviewSettings,
    ReviewWatch,
    UnreadableReviewWatch,
)
from prwatch.domain.task import Origin
from prwatch.store import review_left
from prwatch.store.columns import (
    from_json,
    from_microseconds,
    from_optional_microseconds,
    to_json,
    to_microseconds,
    to_optional_microseconds,
)
from prwatch.store.database import Row, Transaction, Value
from prwatch.store.query import load_queries

LEFT_AT_ONCE: Final = 249
"""
How many pull requests one transaction leaves of a watch.

Each writes up to two rows, and the watch itself may be one more: 500 at the most.
"""

_QUERIES = load_queries("review_watches")


async def list_review_watches(tx: Transaction, workspace_id: str) -> list[ReviewWatch]:
    """Return the review watches of a workspace that can be read, by name."""
    return (await read_review_watches(tx, workspace_id))[0]


async def read_review_watches(
    tx: Transaction, workspace_id: str
) -> tuple[list[ReviewWatch], list[UnreadableReviewWatch]]:
    """
    Return the review watches of a workspace, and those that cannot be read, by name.

    A row that cannot be understood keeps no other from being read.
    """
    rows = await tx.fetch(_QUERIES["list_review_watches"], workspace_id=workspace_id)
    watches, unreadable = [], []
    for row in rows:
        try:
            watches.append(to_review_watch(row))
        except ValueError as error:
            problem = f"its row cannot be read: {error}"
            unreadable.append(
                UnreadableReviewWatch(row["id"], workspace_id, row["name"], problem)
            )
    return watches, unreadable


async def find_review_watch(
    tx: Transaction, workspace_id: str, name: str
) -> ReviewWatch | None:
    """Return the review watch of that name, or None; one that is unreadable is none."""
    rows = await tx.fetch(
        _QUERIES["find_review_watch"], workspace_id=workspace_id, name=name
    )
    with contextlib.suppress(ValueError):
        return to_review_watch(rows[0]) if rows else None
    return None


async def add_review_watch(tx: Transaction, watch: ReviewWatch) -> bool:
    """Add a review watch; return False, and write nothing, when the name is taken."""
    written = await tx.execute(
        _QUERIES["add_review_watch"],
        id=watch.id,
        workspace_id=watch.workspace_id,
        name=watch.name,
        **_from_settings(watch.settings),
        origin=watch.origin,
        written_as=watch.written_as,
        revision=watch.revision,
        last_error=watch.last_error,
        incomplete_since=to_optional_microseconds(watch.incomplete_since),
        incomplete_reason=watch.incomplete_reason or "",
        backlog_done_at=to_optional_microseconds(watch.backlog_done_at),
        created_at=to_microseconds(watch.created_at),
    )
    return written == 1


async def put_review_settings(
    tx: Transaction, watch: ReviewWatch, settings: ReviewSettings
) -> bool:
    """
    Choose anew what a watch searches for and how; its revision grows by one.

    Returns False, and writes nothing, when it is as wished, or was edited or removed
    since `watch` was read.
    """
    written = await tx.execute(
        _QUERIES["put_settings"],
        id=watch.id,
        revision=watch.revision,
        **_from_settings(settings),
    )
    return written == 1


async def mend_review_watch(tx: Transaction, watch: ReviewWatch) -> bool:
    """
    Let the row of the name and origin of `watch` hold its settings; it stays itself.

    Returns False, and writes nothing, when it does already, or is another origin's.
    """
    values = _from_settings(watch.settings)
    written = await tx.execute(
        _QUERIES["mend_settings"],
        workspace_id=watch.workspace_id,
        name=watch.name,
        origin=watch.origin,
        written_as=watch.written_as,
        **values,
    )
    return written == 1


async def rename_review_watch(tx: Transaction, watch: ReviewWatch, name: str) -> bool:
    """
    Give a watch another name; what it knows stays its own.

    Returns False, and writes nothing, when somebody has that name, or edited or
    removed the watch since it was read.
    """
    written = await tx.execute(
        _QUERIES["rename"],
        id=watch.id,
        revision=watch.revision,
        workspace_id=watch.workspace_id,
        name=name,
    )
    return written == 1


async def put_review_owner(
    tx: Transaction, watch_id: str, origin: Origin, written_as: str = ""
) -> bool:
    """Let a watch be somebody else's; return False when it is that one's already."""
    values = {"id": watch_id, "origin": origin, "written_as": written_as}
    return await tx.execute(_QUERIES["put_owner"], **values) == 1


async def put_review_finding(
    tx: Transaction,
    watch: ReviewWatch,
    *,
    last_error: str,
    incomplete_since: dt.datetime | None,
    incomplete_reason: IncompleteReason | None = None,
) -> bool:
    """
    Note how the last search of a watch went.

    Returns False, and writes nothing, when that is noted already, or when somebody
    edited the watch since it was read: the search was another one's.
    """
    written = await tx.execute(
        _QUERIES["put_finding"],
        id=watch.id,
        revision=watch.revision,
        last_error=last_error,
        incomplete_since=to_optional_microseconds(incomplete_since),
        incomplete_reason=incomplete_reason or "",
    )
    return written == 1


async def put_backlog_done(
    tx: Transaction, watch: ReviewWatch, now: dt.datetime
) -> bool:
    """
    Note that the first complete search of a watch is worked through.

    Returns False, and writes nothing, when that is noted already, or when somebody
    edited the watch since it was read.
    """
    written = await tx.execute(
        _QUERIES["put_backlog_done"],
        id=watch.id,
        revision=watch.revision,
        now=to_microseconds(now),
    )
    return written == 1


async def shed_review_tasks(
    tx: Transaction, watch: ReviewWatch | UnreadableReviewWatch
) -> bool:
    """
    Leave some of what a watch knows that is to be removed; True while there is more.

    It is disabled first where there is, so that it finds nothing in between. Each call
    has a transaction of its own.
    """
    await review_left.hold_leaving(tx, watch.workspace_id)
    held = await tx.fetch(_QUERIES["hold_review_watch"], id=watch.id)
    if not held:
        return False
    settings, limit = _find_settings(held[0]), LEFT_AT_ONCE
    leave = review_left.leave_review_tasks
    if await leave(tx, watch.workspace_id, watch.id, settings, limit=limit) < limit:
        return False
    if isinstance(watch, ReviewWatch):
        await tx.execute(_QUERIES["disable_review_watch"], id=watch.id)
    return True


async def remove_review_watch(
    tx: Transaction, watch: ReviewWatch | UnreadableReviewWatch
) -> bool:
    """
    Remove a watch; the review tasks that it made stay, under the settings that it has.

    A reservation goes with it, so that nothing is made of it any more. Of one whose row
    cannot be read nobody knows the policy: what it made stays until a person chooses.
    Returns False, and writes nothing more, when the watch is gone. `shed_review_tasks`
    goes before where it may know many.
    """
    await review_left.hold_leaving(tx, watch.workspace_id)
    removed = await tx.fetch(_QUERIES["remove_review_watch"], id=watch.id)
    if not removed:
        return False
    # As it is stored: somebody may have edited it since it was read.
    settings = _find_settings(removed[0])
    await review_left.leave_review_tasks(tx, watch.workspace_id, watch.id, settings)
    return True


def _find_settings(row: Row) -> ReviewSettings:
    """Return under what a watch leaves its tasks; of a broken row, what is safe."""
    try:
        return to_review_watch(row).settings
    except ValueError:
        return ReviewSettings(
            scope=ReviewScope.USER_AND_TEAMS,
            target_login=row["target_login"],
            policy=CleanupPolicy.NEVER,
        )


def _from_settings(settings: ReviewSettings) -> dict[str, Value]:
    return {
        "scope": settings.scope,
        "repositories": to_json(list(settings.repositories)),
        "organisations": to_json(list(settings.organisations)),
        "search_query": settings.query,
        "target_login": settings.target_login,
        "interval_seconds": int(settings.interval.total_seconds()),
        "policy": settings.policy,
        "is_enabled": settings.is_enabled,
    }


def to_review_watch(row: Row) -> ReviewWatch:
    """
    Return what a row says.

    Raises:
        ValueError: It holds a word that we do not know, no JSON, or a time too far off.
    """
    try:
        return _read_row(row)
    except (TypeError, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from error


def _read_row(row: Row) -> ReviewWatch:
    return ReviewWatch(
        id=row["id"],
        workspace_id=row["workspace_id"],
        name=row["name"],
        settings=ReviewSettings(
            scope=ReviewScope(row["scope"]),
            repositories=_read_names(row["repositories"]),
            organisations=_read_names(row["organisations"]),
            query=row["query"],
            target_login=row["target_login"],
            interval=dt.timedelta(seconds=row["interval_seconds"]),
            policy=CleanupPolicy(row["policy"]),
            is_enabled=bool(row["is_enabled"]),
        ),
        origin=Origin(row["origin"]),
        written_as=row["written_as"],
        revision=row["revision"],
        last_error=row["last_error"],
        incomplete_since=from_optional_microseconds(row["incomplete_since"]),
        incomplete_reason=_read_reason(row["incomplete_reason"]),
        backlog_done_at=from_optional_microseconds(row["backlog_done_at"]),
        created_at=from_microseconds(row["created_at"]),
    )


def _read_names(text: str) -> tuple[str, ...]:
    names = from_json(text)
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise ValueError("places are no list of names")
    return tuple(names)


def _read_reason(word: str) -> IncompleteReason | None:
    return IncompleteReason(word) if word else None
