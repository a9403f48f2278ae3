"""When each review watch was searched, when it is due, and what holds it back."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from prwatch.app.review.account_search import BUCKET, find_host_block
from prwatch.app.review.queue import ReviewQueue
from prwatch.app.runtime import Runtime
from prwatch.app.walk.cycle import Account

HOST = "host"
LIMIT = "limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """
    Why an account is not asked: `limit`, `auth`, `config`, `transient` or `host`.

    `host` is the circuit of polling for a host that answers nobody.
    """

    reason: str
    message: str
    until: dt.datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchStanding:
    """
    How a watch stands in the queue of this process.

    `searched_at` is None until a search was answered. `due_at` is when it is searched
    next, not before what holds it back ends.
    """

    searched_at: dt.datetime | None
    due_at: dt.datetime
    held: Held | None = None


async def list_standings(
    runtime: Runtime, queue: ReviewQueue
) -> Mapping[str, WatchStanding]:
    """
    Return how each enabled watch stands, by its id.

    Raises:
        StoreError: The watches could not be read.
    """
    now = runtime.clock.now()
    found: dict[str, WatchStanding] = {}
    for account, watches in await queue.list_enabled():
        held = _find_held(runtime, queue, account)
        for watch in watches:
            turn = queue.memory.turns.find_turn(watch.id)
            due_at = queue.memory.turns.find_due(watch, now)
            found[watch.id] = WatchStanding(
                searched_at=turn.searched_at if turn else None,
                due_at=max(due_at, held.until) if held else due_at,
                held=held,
            )
    return found


def _find_held(runtime: Runtime, queue: ReviewQueue, account: Account) -> Held | None:
    if (circuit := find_host_block(runtime, account)) is not None:
        message = circuit.cause.message
        return Held(reason=HOST, message=message, until=circuit.open_until)
    if (hold := queue.find_hold(account)) is not None:
        reason = hold.failure_class.value
        return Held(reason=reason, message=hold.message, until=hold.until)
    until = account.github.limits.blocked_until(BUCKET)
    if until is None:
        return None
    return Held(reason=LIMIT, message="a rate limit forbids it", until=until)
