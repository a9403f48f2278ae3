"""One workspace's turn in a sweep: what its rows tell, what GitHub says, what goes."""

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from prwatch.app.review.cleanup_circuits import Blow
from prwatch.app.review.cleanup_turn import Turn, classify, classify_missing
from prwatch.app.review.logins import Unfit
from prwatch.app.review.removal import drop_rows, remove_done
from prwatch.domain.outcome import Found, Outcome, Unreadable
from prwatch.domain.review_cleanup import (
    NOBODY,
    Judgement,
    Stand,
    SweptTask,
    find_keep,
    is_approved,
    is_gone,
    judge,
    name_reason,
    without_opinion,
)
from prwatch.domain.review_hit import ReviewFacts
from prwatch.domain.review_watch import AuditAction
from prwatch.errors import (
    AuthenticationFailed,
    ConfigError,
    ProviderError,
    StoreError,
)
from prwatch.store import review_tasks
from prwatch.store.database import Transaction

SLICE: Final = 100
"""Pull requests that one request reads: each costs a point."""
GONE: Final = "task_gone"

_Readings: TypeAlias = dict[tuple[str, str], Outcome[ReviewFacts]]
"""By the login that counts, '' for the token's own, and the node id."""


async def settle_locally(turn: Turn, found: Sequence[SweptTask]) -> list[SweptTask]:
    """
    Settle what the rows tell by themselves, and return what is to be read.

    Raises:
        StoreError: Rows could not be dropped.
    """
    left = []
    for swept in found:
        keep = find_keep(swept)
        if keep is not None:
            turn.tell(swept, keep.value)
        elif not is_gone(swept):
            left.append(swept)
        else:
            turn.tell(swept, "gone", reason=GONE)
            ending = turn.build_ending(swept, AuditAction.RELEASED, GONE, {})
            if not turn.sweep.is_dry and await drop_rows(turn.sweep.runtime, ending):
                turn.sweep.report.dropped += len(swept.rows)
    return left


async def read_and_remove(turn: Turn, tasks: Sequence[SweptTask]) -> SweptTask | None:
    """
    Read tasks in their order and remove what is done.

    Returns the task behind which the next turn begins, because a request failed as a
    whole; None when all were read.

    Raises:
        StoreError: What was seen could not be noted.
    """
    admitted = [each for each in tasks if _admit_record(turn, each)]
    done = 0
    for part in _slice(admitted):
        found: _Readings = {}
        try:
            await _read(turn, part, found)
        except ProviderError as error:
            # What was answered before in smaller requests stands.
            whole = [each for each in part if _is_whole(each, found)]
            await _settle(turn, whole, found)
            _stop(turn, classify(error))
            rest = [*part, *admitted[done + len(part) :]]
            left = [each for each in rest if each not in whole]
            turn.skip(left, str(error), _find_end(turn))
            return part[-1]
        finally:
            turn.sweep.beat()
        await _settle(turn, part, found)
        done += len(part)
    return None


def _stop(turn: Turn, blow: Blow) -> None:
    turn.sweep.circuits.fail(turn.connection_id, blow)
    turn.fail("", blow)


def _is_whole(swept: SweptTask, found: _Readings) -> bool:
    """Return whether each row of a task was answered for."""
    return all(
        (each.login, each.row.pull_request.node_id) in found for each in swept.rows
    )


def _find_end(turn: Turn) -> dt.datetime | None:
    standing = turn.sweep.circuits.find(turn.connection_id)
    return standing.open_until if standing else None


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


async def _read(turn: Turn, part: Sequence[SweptTask], found: _Readings) -> None:
    """
    Read the pull requests of a part, each as each login that counts stands to it.

    Raises:
        ProviderError: A request failed as a whole; `found` has what came before.
    """
    for login in part[0].logins:
        node_ids = dict.fromkeys(
            each.row.pull_request.node_id
            for swept in part
            for each in swept.rows
            if each.login == login
        )
        try:
            who = login or await _read_login(turn)
            approved = await _read_ends(turn, login, who, tuple(node_ids), found)
            if approved:
                await _read_approved(turn, login, who, approved, found)
        except ConfigError as error:
            # The source of the token went bad while we ran.
            raise AuthenticationFailed(f"{error}; {error.hint}") from error


async def _read_ends(
    turn: Turn, login: str, who: str, node_ids: Sequence[str], found: _Readings
) -> list[str]:
    """Read states and opinions; return what is approved, which is no end by itself."""
    approved: list[str] = []
    reading = turn.account.github.review_reader.iter_ends(node_ids, who)
    async for outcomes in reading:
        turn.sweep.circuits.succeed(turn.connection_id)
        for node_id, outcome in outcomes.items():
            seen = _see(outcome, who)
            if isinstance(seen, Found) and is_approved(seen.value):
                approved.append(node_id)
            else:
                found[login, node_id] = seen
    return approved


async def _read_approved(
    turn: Turn, login: str, who: str, node_ids: Sequence[str], found: _Readings
) -> None:
    """Read whether the review of what is approved is asked for again."""
    reading = turn.account.github.review_reader.iter_facts(node_ids, who)
    async for outcomes in reading:
        for node_id, outcome in outcomes.items():
            found[login, node_id] = outcome


async def _read_login(turn: Turn) -> str:
    try:
        return await turn.sweep.logins.read(turn.account)
    except Unfit:
        return NOBODY


def _see(outcome: Outcome[ReviewFacts], who: str) -> Outcome[ReviewFacts]:
    if who == NOBODY and isinstance(outcome, Found):
        return Found(without_opinion(outcome.value))
    return outcome


async def _settle(
    turn: Turn,
    part: Sequence[SweptTask],
    found: _Readings,
) -> None:
    """Judge each task that was read, note what is new, remove what is done."""
    sweep = turn.sweep
    judged: list[tuple[SweptTask, Judgement]] = []
    for swept in part:
        readings = _gather(turn, swept, found)
        if readings is None:
            continue
        grace = sweep.runtime.config.review.grace
        judgement = judge(swept, readings, now=sweep.started_at, grace=grace)
        judged.append((swept, judgement))
    if not sweep.is_dry:
        await _note(turn, [judgement for _, judgement in judged])
    for swept, judgement in judged:
        if judgement.stand is Stand.DONE:
            await _remove(turn, swept, judgement)
            sweep.beat()
            continue
        proofs = [proof for _, seen_at, proof in judgement.rows if seen_at]
        proofs += [each.row.terminal_evidence for each in swept.rows]
        is_open = judgement.stand in {Stand.OPEN, Stand.REOPENED}
        turn.tell(
            swept,
            judgement.stand.value,
            evidence={} if is_open else proofs[0],
            until=judgement.until,
        )


def _gather(
    turn: Turn,
    swept: SweptTask,
    found: _Readings,
) -> dict[str, ReviewFacts] | None:
    """Return a reading of each row, or None: one that failed decides nothing."""
    circuits, key = turn.sweep.circuits, turn.connection_id
    readings: dict[str, ReviewFacts] = {}
    failed: Blow | None = None
    for each in swept.rows:
        outcome = found.get(
            (each.login, each.row.pull_request.node_id),
            Unreadable("GitHub left it out", "left_out"),
        )
        if isinstance(outcome, Found):
            readings[each.row.id] = outcome.value
            circuits.succeed_record(key, each.row.id)
        else:
            failed = classify_missing(outcome)
            circuits.fail_record(key, each.row.id, failed, each.revision)
    if failed is None:
        return readings
    one = swept.rows[0].row.pull_request
    turn.fail(f"{one.owner}/{one.name}#{one.number}", failed)
    standings = [circuits.find_record(key, each.row.id) for each in swept.rows]
    ends = [each.open_until for each in standings if each is not None]
    turn.tell(swept, "failed", reason=failed.message, until=max(ends, default=None))
    return None


async def _note(turn: Turn, judgements: Sequence[Judgement]) -> None:
    """Write what was seen first, or is no longer so; nothing when all is as before."""
    noted = [row for judgement in judgements for row in judgement.rows]
    if not noted:
        return

    async def write(tx: Transaction) -> None:
        for row_id, seen_at, proof in noted:
            await review_tasks.put_terminal(tx, row_id, seen_at, proof)

    await turn.sweep.runtime.database.transact(write)


async def _remove(turn: Turn, swept: SweptTask, judgement: Judgement) -> None:
    reason = name_reason(judgement.done.values())
    evidence = judgement.done[swept.rows[0].row.id]
    ending = turn.build_ending(swept, AuditAction.DELETED, reason, judgement.done)
    if not turn.sweep.is_dry:
        try:
            is_removed = await remove_done(turn.sweep.runtime, ending)
        except StoreError as error:
            # It stays as it was, is told, and holds up no other task.
            turn.fail_store(swept, error)
            return
        if not is_removed:
            turn.tell(swept, "changed", reason="somebody changed it meanwhile")
            return
        turn.sweep.report.deleted += 1
    turn.tell(swept, "deleted", reason=reason, evidence=evidence)
