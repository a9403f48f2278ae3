"""
When a folder of watch files is looked at again.

That is after its interval, and before it once what made a look fail is over: the
circuit, the limit, or the wait of a file. A look that was cut off, or whose reading
could not be stored or applied, is taken again soon. A folder that is held back is left
alone until then, but no longer than its interval: the connection may be another one.
"""

import datetime as dt
from typing import Final

from prwatch.app.sync.memory import Followed, SyncMemory
from prwatch.app.sync.outcome import FolderOutcome, SyncResult
from prwatch.domain.schedule import has_passed

RETRY: Final = dt.timedelta(minutes=1)
"""Where nothing else says when; as long as the shortest interval."""


def is_due(memory: SyncMemory, followed: Followed, *, now: dt.datetime) -> bool:
    """Return whether a folder is to be looked at, if nothing holds it back."""
    key = followed.folder.id
    held_until = memory.held_until.get(key)
    # What is further off than an interval was noted before the clock was set back.
    if held_until and dt.timedelta() < held_until - now <= followed.entry.interval:
        return False
    retry_at = memory.retry_at.get(key)
    if retry_at is not None and now >= retry_at:
        return True
    return has_passed(memory.looked_at.get(key), followed.entry.interval, now=now)


def begin_look(memory: SyncMemory, followed: Followed, *, now: dt.datetime) -> bool:
    """Note that a look begins; return whether it is the first of this process."""
    key = followed.folder.id
    is_first = key not in memory.looked_at
    memory.looked_at[key] = now
    memory.retry_at[key] = now + RETRY
    memory.held_until.pop(key, None)
    return is_first


def end_look(
    memory: SyncMemory, followed: Followed, outcome: FolderOutcome, *, now: dt.datetime
) -> None:
    """Note what a look came to, once what it read is applied."""
    key = followed.folder.id
    if outcome.result is SyncResult.SKIPPED:
        longest = now + followed.entry.interval
        memory.held_until[key] = min(outcome.until or now + RETRY, longest)
        return
    if outcome.result is SyncResult.FAILED:
        memory.retry_at[key] = outcome.until or now + RETRY
        return
    waits = memory.tags[key].waits.values() if key in memory.tags else ()
    until = min((each.until for each in waits), default=None)
    if until is None:
        memory.retry_at.pop(key, None)
    else:
        memory.retry_at[key] = until


def list_doubtful(memory: SyncMemory, workspace_id: str) -> tuple[str, ...]:
    """List the places of folders of which a file may say more once it is mended."""
    return tuple(
        each.folder.place
        for each in memory.followed
        if each.workspace.id == workspace_id and each.folder.id in memory.doubtful
    )


def list_unread(memory: SyncMemory, workspace_id: str) -> tuple[str, ...]:
    """
    List the places of folders that may declare what is not known here.

    One that is looked at by hand alone counts as it was read last.
    """
    return tuple(
        each.folder.place
        for each in memory.followed
        if each.workspace.id == workspace_id
        and each.folder.id not in memory.whole
        and (each.entry.poll_enabled or each.folder.id in memory.looked_at)
    )
