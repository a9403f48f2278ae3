"""How an answer travels: late, packed, in two halves, broken off, or not at all."""

import gzip
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any, TypeAlias

from prwatch.clock import Clock
from prwatch.simulator.answer import Answer
from prwatch.simulator.faults import Fault

Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]

HANG_SECONDS = 3600.0
SLOW_SECONDS = 1.0


class ConnectionBroken(ConnectionResetError):
    """The server closes the connection without an answer, or in its middle."""


async def hold_back(faults: Sequence[Fault], clock: Clock) -> None:
    """
    Wait as long as the faults say, before anything is answered.

    Raises:
        ConnectionBroken: one of them breaks the line instead.
    """
    for fault in faults:
        if fault.kind == "slow":
            await clock.sleep(_read_seconds(fault, SLOW_SECONDS))
        if fault.kind == "hang":
            await clock.sleep(_read_seconds(fault, HANG_SECONDS))
        if fault.kind == "reset":
            raise ConnectionBroken("the simulated connection was reset")


def change_body(answer: Answer, faults: Sequence[Fault]) -> Answer:
    """Spoil the text of the answer as the faults say."""
    for fault in faults:
        if fault.kind == "cut_json":
            answer.body = answer.body[: len(answer.body) // 2]
        if fault.kind == "lone_surrogate":
            mark = b'"title":"'
            answer.body = answer.body.replace(mark, mark + b"\\ud83d", 1)
    return answer


def pack(answer: Answer, faults: Sequence[Fault], accepted: str) -> Answer:
    """Compress the answer if a fault says so and the client accepts it."""
    is_wanted = any(fault.kind == "gzip" for fault in faults) and "gzip" in accepted
    if is_wanted and answer.body:
        # Without a time in it, equal answers stay equal.
        answer.body = gzip.compress(answer.body, mtime=0)
        answer.headers["content-encoding"] = "gzip"
    return answer


async def carry(
    send: Send,
    answer: Answer,
    headers: MutableMapping[str, str],
    faults: Sequence[Fault],
    clock: Clock,
) -> None:
    """
    Send the answer.

    Raises:
        ConnectionBroken: a fault ends it in the middle of the body.
    """
    kinds = {fault.kind: fault for fault in faults}
    await send(
        {
            "type": "http.response.start",
            "status": answer.status,
            "headers": [(k.encode(), v.encode("latin-1")) for k, v in headers.items()],
        }
    )
    body, middle = answer.body, len(answer.body) // 2
    if "truncate" in kinds or "slow_body" in kinds:
        first = {"type": "http.response.body", "body": body[:middle], "more_body": True}
        await send(first)
        body = body[middle:]
    if "truncate" in kinds:
        raise ConnectionBroken("the simulated connection ended within the answer")
    if "slow_body" in kinds:
        await clock.sleep(_read_seconds(kinds["slow_body"], SLOW_SECONDS))
    await send({"type": "http.response.body", "body": body})


def _read_seconds(fault: Fault, default: float) -> float:
    return default if fault.seconds is None else fault.seconds
