"""
Rows of canonical watches and their transitions.

Every transition names the state that it starts from; finding another one it does
nothing and says so. One that meets a sibling of the same identity merges into it, by
the database's own unique indexes, so that any number of concurrent transitions to one
target leave one row.
"""

import datetime as dt
from collections.abc import Iterable
from dataclasses import replace

from prwatch.domain.pull_request import PullRequestState
from prwatch.domain.watch import Watch
from prwatch.errors import WatchNotFound
from prwatch.store.columns import to_microseconds, to_optional_microseconds
from prwatch.store.database import Row, Transaction
from prwatch.store.query import load_queries
from prwatch.store.watch_rows import from_observed_part, from_watch, to_watch

_QUERIES = load_queries("watches")
_OPEN = PullRequestState.OPEN


async def list_watches(tx: Transaction, workspace_id: str) -> list[Watch]:
    """Return all watches of a workspace, by id."""
    query = _QUERIES["list_watches"]
    return await tx.fetch_as(query, to_watch, workspace_id=workspace_id)


async def get_watch(tx: Transaction, watch_id: str) -> Watch:
    """
    Return one watch.

    Raises:
        WatchNotFound: No row has that id.
    """
    rows = await tx.fetch(_QUERIES["get_watch"], id=watch_id)
    if not rows:
        raise WatchNotFound(f"no watch {watch_id}")
    return to_watch(rows[0])


async def find_open(tx: Transaction, watch_ids: Iterable[str]) -> Watch | None:
    """Find the first of these watches whose pull request may be open, or None."""
    for watch_id in watch_ids:
        for row in await tx.fetch(_QUERIES["get_watch"], id=watch_id):
            watch = to_watch(row)
            mark = watch.watermark
            if not watch.is_searching and (mark is None or mark.state is _OPEN):
                return watch
    return None


async def add_watch(tx: Transaction, watch: Watch) -> bool:
    """Add a watch; return False, and write nothing, when its target has one."""
    name = "add_searching" if watch.is_searching else "add_discovered"
    return await tx.execute(_QUERIES[name], **from_watch(watch)) == 1


async def move_branch(
    tx: Transaction,
    watch: Watch,
    *,
    branch: str,
    head_repository: str,
    now: dt.datetime,
) -> Watch | None:
    """
    Let a searching row search for another branch, or merge into the row that does.

    The move is a sign of life. Returns the row that is there now, or None when the
    row no longer was what the caller saw.
    """
    taken = await _take_searching(tx, watch)
    if taken is None:
        return None
    moved = replace(
        taken,
        branch=branch,
        head_repository=head_repository,
        searching_since=now,
        branch_head_oid="",
        last_sign_at=now,
    )
    return await put_back(tx, moved)


async def discover(
    tx: Transaction, watch: Watch, *, repository_id: str, pr_number: int, node_id: str
) -> Watch | None:
    """
    Turn a searching row into the discovered row of a pull request, or merge it.

    `repository_id` is the pull request's base. Returns the row that is there now, or
    None when the row no longer was what the caller saw.
    """
    taken = await _take_searching(tx, watch)
    if taken is None:
        return None
    found = replace(
        taken, repository_id=repository_id, pr_number=pr_number, node_id=node_id
    )
    return await put_back(tx, found)


async def return_to_searching(
    tx: Transaction,
    watch: Watch,
    *,
    repository_id: str,
    searching_since: dt.datetime,
    last_sign_at: dt.datetime,
) -> Watch | None:
    """
    Let a discovered row search for its branch again, or merge into the row that does.

    Watermark and fingerprint are gone, the revision stays. What closed before
    `searching_since` will not be found again. Returns the row that is there now, or
    None when the row no longer was what the caller saw.
    """
    rows = await tx.fetch(
        _QUERIES["take_discovered"],
        id=watch.id,
        pr_number=watch.pr_number,
        revision=watch.revision,
    )
    if not rows:
        return None
    searching = replace(
        to_watch(rows[0]),
        repository_id=repository_id,
        pr_number=0,
        node_id="",
        fingerprint="",
        watermark=None,
        searching_since=searching_since,
        branch_head_oid="",
        last_sign_at=last_sign_at,
    )
    row = await put_back(tx, searching)
    since = to_microseconds(searching_since)
    query = _QUERIES["search_later"]
    if await tx.execute(query, id=row.id, searching_since=since):
        return replace(row, searching_since=searching_since)
    return row


async def remove_watch(tx: Transaction, watch: Watch) -> bool:
    """
    Remove a watch; return False when it no longer was what the caller saw.

    A searching row must search for the same branch, a discovered one must have the
    same number and revision.
    """
    if watch.is_searching:
        return await _take_searching(tx, watch) is not None
    rows = await tx.fetch(
        _QUERIES["take_discovered"],
        id=watch.id,
        pr_number=watch.pr_number,
        revision=watch.revision,
    )
    return bool(rows)


async def commit_observation(tx: Transaction, before: Watch, after: Watch) -> bool:
    """
    Write what an observation changed, if the row still is the one it was compared with.

    Compares id, revision and number, and writes node id, revision, fingerprint,
    `searching_since` and the whole watermark. Returns False, and writes nothing, to
    the loser, which drops its observation. Equal values are not written.
    """
    if from_observed_part(before) == from_observed_part(after):
        return True
    written = await tx.execute(
        _QUERIES["commit_observation"],
        id=before.id,
        before_revision=before.revision,
        before_pr_number=before.pr_number,
        **from_observed_part(after),
    )
    return written == 1


async def touch_searching(
    tx: Transaction,
    watch: Watch,
    *,
    branch_head_oid: str,
    last_sign_at: dt.datetime,
    searching_since: dt.datetime | None,
) -> bool:
    """
    Write what a searching row keeps beside its target, without a revision.

    Returns False, and writes nothing, when it is equal or the row searches no more.
    """
    written = await tx.execute(
        _QUERIES["touch_searching"],
        id=watch.id,
        branch_head_oid=branch_head_oid,
        last_sign_at=to_microseconds(last_sign_at),
        searching_since=to_optional_microseconds(searching_since),
    )
    return written == 1


async def take_watches_of_repository(
    tx: Transaction, repository_id: str
) -> list[Watch]:
    """Take every watch of a repository out, to be put back elsewhere."""
    rows = await tx.fetch(
        _QUERIES["take_all_of_repository"], repository_id=repository_id
    )
    return [to_watch(row) for row in rows]


async def put_back(tx: Transaction, watch: Watch) -> Watch:
    """
    Insert a row that was taken out, or merge it into the row of that identity.

    A merge keeps the id that is there, the higher revision, and the watermark of the
    row that was observed last, as one set. Returns the row that is there now.
    """
    name = "put_back_searching" if watch.is_searching else "put_back_discovered"
    rows = await tx.fetch(_QUERIES[name], **from_watch(watch))
    return to_watch(rows[0])


async def _take_searching(tx: Transaction, watch: Watch) -> Watch | None:
    rows: list[Row] = list(
        await tx.fetch(
            _QUERIES["take_searching"],
            id=watch.id,
            repository_id=watch.repository_id,
            branch=watch.branch,
        )
    )
    return to_watch(rows[0]) if rows else None
