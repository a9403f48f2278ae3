"""Settling review tasks that were read: what is noted of them, and what goes."""

from collections.abc import Sequence
from typing import Final

from prwatch.app.cleanup.circuits import Blow
from prwatch.app.cleanup.end_reading import OWN, Readings
from prwatch.app.cleanup.removal import CHUNK, remove_done
from prwatch.app.cleanup.turn import Turn, classify_missing
from prwatch.domain.outcome import Found, Unreadable
from prwatch.domain.review_cleanup import (
    Judgement,
    Noted,
    Stand,
    SweptTask,
    is_about,
    judge,
    name_reason,
    wait_longer,
)
from prwatch.domain.review_hit import ReviewFacts
from prwatch.domain.review_watch import AuditAction
from prwatch.errors import StoreError
from prwatch.store import review_tasks
from prwatch.store.database import Transaction

ANOTHER: Final = Unreadable("GitHub answered with another one", "strange_node")
REPLACED: Final = "the token was replaced while GitHub answered"


async def settle(turn: Turn, part: Sequence[SweptTask], found: Readings) -> None:
    """
    Judge each task that was read, note what is new, remove what is done.

    Nothing is concluded from what the approvals of a token's owner say, once it is
    another token.
    """
    if not found.is_of_owner(turn):
        turn.skip([each for each in part if OWN in each.logins], REPLACED)
        part = [each for each in part if OWN not in each.logins]
    sweep = turn.sweep
    judged: list[tuple[SweptTask, Judgement]] = []
    for swept in part:
        facts = _gather(turn, swept, found)
        if facts is None:
            continue
        grace = sweep.runtime.config.review.grace
        judgement = judge(
            swept, facts, asked_at=found.asked_at, read_at=turn.now(), grace=grace
        )
        rest = sweep.sights.find_rest(swept, grace)
        if judgement.stand is Stand.DONE and rest:
            judgement = wait_longer(judgement, turn.now() + rest)
        judged.append((swept, judgement))
    lost = None if sweep.is_dry else await _note(turn, judged)
    for swept, judgement in judged:
        if lost is not None and judgement.rows:
            turn.fail_store(swept, lost)
            continue
        if judgement.stand is Stand.DONE:
            await _remove(turn, swept, judgement, found)
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
    found: Readings,
) -> dict[str, ReviewFacts] | None:
    """Return a reading of each row, or None: one that failed decides nothing."""
    circuits, key = turn.sweep.circuits, turn.connection_id
    readings: dict[str, ReviewFacts] = {}
    failed: Blow | None = None
    for each in swept.rows:
        outcome = found.find(each)
        if isinstance(outcome, Found) and not is_about(each.row, outcome.value):
            outcome = ANOTHER
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
    until = None if turn.sweep.is_dry else max(ends, default=None)
    turn.tell(swept, "failed", reason=failed.message, until=until)
    return None


async def _note(
    turn: Turn, judged: Sequence[tuple[SweptTask, Judgement]]
) -> StoreError | None:
    """
    Write what was seen first, or is no longer so; nothing when all is as before.

    Returns why it could not be written: the next reading is the first then.
    """
    noted = [row for _, judgement in judged for row in judgement.rows]
    seen = {
        each.row.id: each.row.terminal_seen_at
        for swept, _ in judged
        for each in swept.rows
    } | {row_id: seen_at for row_id, seen_at, _ in noted}
    known = {row_id: seen_at for row_id, seen_at in seen.items() if seen_at is not None}
    turn.sweep.sights.note(turn.workspace.id, known)
    if not noted:
        return None

    # Many watches may know each: no transaction holds more rows than the store takes.
    for start in range(0, len(noted), CHUNK):
        some = noted[start : start + CHUNK]

        async def write(tx: Transaction, some: Sequence[Noted] = some) -> None:
            for row_id, seen_at, proof in some:
                await review_tasks.put_terminal(tx, row_id, seen_at, proof)

        try:
            await turn.sweep.runtime.database.transact(write)
        except StoreError as error:
            return error
    return None


async def _remove(
    turn: Turn, swept: SweptTask, judgement: Judgement, found: Readings
) -> None:
    reason = name_reason(judgement.done.values())
    evidence = judgement.done[swept.rows[0].row.id]
    ending = turn.build_ending(swept, AuditAction.DELETED, reason, judgement.done)
    if not turn.sweep.is_dry:
        try:
            is_removed = await remove_done(
                turn.sweep.runtime, ending, is_allowed=lambda: found.is_of_owner(turn)
            )
        except StoreError as error:
            # It stays as it was, is told, and holds up no other task.
            turn.fail_store(swept, error)
            return
        if not is_removed:
            turn.tell(swept, "changed", reason="somebody changed it meanwhile")
            return
        turn.sweep.report.deleted += 1
    turn.tell(swept, "deleted", reason=reason, evidence=evidence)
