"""Rows of limits that were hit, so that a restart does not run into them again."""

import datetime as dt
from dataclasses import dataclass

from prwatch.store.columns import from_microseconds, to_microseconds
from prwatch.store.database import Transaction
from prwatch.store.query import load_queries

_QUERIES = load_queries("rate_limit")


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimitBlock:
    """One account may not use one bucket until then."""

    account: str
    bucket: str
    blocked_until: dt.datetime


async def put_block(
    tx: Transaction, account: str, bucket: str, blocked_until: dt.datetime
) -> bool:
    """
    Remember that an account may not use a bucket until then.

    Returns False, and writes nothing, when just that is stored.
    """
    written = await tx.execute(
        _QUERIES["put_block"],
        account=account,
        bucket=bucket,
        blocked_until=to_microseconds(blocked_until),
    )
    return written == 1


async def list_blocks(tx: Transaction, now: dt.datetime) -> list[RateLimitBlock]:
    """Return the blocks that still hold at `now`, by account and bucket."""
    rows = await tx.fetch(_QUERIES["list_blocks"], now=to_microseconds(now))
    return [
        RateLimitBlock(
            account=row["account"],
            bucket=row["bucket"],
            blocked_until=from_microseconds(row["blocked_until"]),
        )
        for row in rows
    ]


async def remove_ended_blocks(tx: Transaction, now: dt.datetime) -> int:
    """Remove the blocks that no longer hold at `now`; return how many."""
    return await tx.execute(_QUERIES["remove_ended_blocks"], now=to_microseconds(now))


async def remove_blocks(tx: Transaction, account: str) -> int:
    """Remove all blocks that are kept under a name; return how many."""
    return await tx.execute(_QUERIES["remove_blocks"], account=account)
