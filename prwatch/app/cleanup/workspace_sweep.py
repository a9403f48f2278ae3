"""One workspace's turn in a sweep: what its rows tell, what GitHub says, what goes."""

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Final

from prwatch.app.cleanup.circuits import Blow
from prwatch.app.cleanup.end_reading import OWN, Readings, read_ends
from prwatch.app.cleanup.removal import drop_rows
from prwatch.app.cleanup.settling import settle
from prwatch.app.cleanup.turn import Turn, classify
from prwatch.domain.review_cleanup import (
    SweptTask,
    find_forgotten,
    find_keep,
    is_gone,
    is_let_go,
)
from prwatch.domain.review_watch import AuditAction, ReviewTask
from prwatch.errors import ProviderError, StoreError
from prwatch.store import review_left
from prwatch.store.database import Transaction

SLICE: Final = 100
"""Pull requests that one request reads: each costs a point."""
GONE: Final = "task_gone"
LET_GO: Final = "not_a_review_task"
RESERVED: Final = "reservation_left"


async def settle_locally(turn: Turn, found: Sequence[SweptTask]) -> list[SweptTask]:
    """Settle what the rows tell by themselves, and return what is to be read."""
    left = []
    for swept in found:
        keep, forgotten = find_keep(swept), find_forgotten(swept, turn.now())
        if is_gone(swept):
            await _drop(turn, swept, GONE)
        elif is_let_go(swept):
            await _drop(turn, swept, LET_GO)
        elif forgotten is not None:
            await _forget(turn, swept, forgotten)
        elif keep is not None:
            turn.tell(swept, keep.value)
        else:
            left.append(swept)
    return left


async def _drop(turn: Turn, swept: SweptTask, reason: str) -> None:
    ending = turn.build_ending(swept, AuditAction.RELEASED, reason, {})
    if not turn.sweep.is_dry:
        try:
            is_dropped = await drop_rows(turn.sweep.runtime, ending)
        except StoreError as error:
            turn.fail_store(swept, error)
            return
        turn.sweep.report.dropped += len(swept.rows) if is_dropped else 0
    turn.tell(swept, "gone", reason=reason)


async def _forget(turn: Turn, swept: SweptTask, row: ReviewTask) -> None:
    """Forget a reservation that a crash left: who finds it again reserves anew."""

    async def forget(tx: Transaction) -> bool:
        return await review_left.forget_reservation(tx, row)

    if not turn.sweep.is_dry:
        try:
            is_forgotten = await turn.sweep.runtime.database.transact(forget)
        except StoreError as error:
            turn.fail_store(swept, error)
            return
        turn.sweep.report.dropped += is_forgotten
    turn.tell(swept, "gone", reason=RESERVED)


async def read_and_remove(turn: Turn, tasks: Sequence[SweptTask]) -> SweptTask | None:
    """
    Read tasks in their order and remove what is done.

    Returns the task behind which the next turn begins, because a request failed as a
    whole; None when all were read.
    """
    admitted = [each for each in tasks if _admit_record(turn, each)]
    done = 0
    for part in _slice(admitted):
        readings = Readings(asked_at=turn.now())
        try:
            await read_ends(turn, part, readings)
        except ProviderError as error:
            # What was answered before in smaller requests stands.
            whole = [each for each in part if readings.is_whole(each)]
            await settle(turn, whole, readings)
            _stop(turn, classify(error))
            rest = [*part, *admitted[done + len(part) :]]
            # By identity: tasks are large, and there may be thousands of them.
            settled = {id(each) for each in whole}
            left = [each for each in rest if id(each) not in settled]
            turn.skip(left, str(error), _find_end(turn))
            return _find_last(turn, part, admitted)
        finally:
            turn.sweep.beat()
        await settle(turn, part, readings)
        done += len(part)
    return None


def _stop(turn: Turn, blow: Blow) -> None:
    turn.sweep.circuits.fail(turn.connection_id, blow)
    turn.fail("", blow)


def _find_last(
    turn: Turn, part: Sequence[SweptTask], tasks: Sequence[SweptTask]
) -> SweptTask:
    """Return behind which task the next turn begins, after a part that failed."""
    if OWN in part[0].logins and not turn.sweep.logins.is_known(turn.account):
        # Whose token it is could not be told: that fails for all who need to know it.
        return [each for each in tasks if each.logins == part[0].logins][-1]
    return part[-1]


def _find_end(turn: Turn) -> dt.datetime | None:
    """Return until when a failed request holds back; a dry run holds nothing back."""
    standing = turn.sweep.circuits.find(turn.connection_id)
    return standing.open_until if standing and not turn.sweep.is_dry else None


def _admit_record(turn: Turn, swept: SweptTask) -> bool:
    """Return whether each row of a task may be asked about; all are looked at."""
    circuits, key = turn.sweep.circuits, turn.connection_id
    if turn.is_asked:
        return True
    admitted = [
        circuits.admits_record(key, each.row.id, each.revision) for each in swept.rows
    ]
    if all(admitted):
        return True
    standings = [circuits.find_record(key, each.row.id) for each in swept.rows]
    last = max(
        (each for each in standings if each is not None),
        key=lambda each: each.open_until,
    )
    turn.skip([swept], last.blow.message, last.open_until)
    return False


def _slice(tasks: Sequence[SweptTask]) -> Iterator[Sequence[SweptTask]]:
    """Cut tasks into parts of as many pull requests as one request reads."""
    part: list[SweptTask] = []
    held: set[str] = set()
    for swept in tasks:
        own = {each.row.pull_request.node_id for each in swept.rows}
        is_other = bool(part) and part[-1].logins != swept.logins
        if part and (is_other or len(held | own) > SLICE):
            yield part
            part, held = [], set()
        part.append(swept)
        held |= own
    if part:
        yield part
