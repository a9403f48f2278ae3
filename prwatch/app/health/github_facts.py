"""What the accounts know of GitHub, over all of them: limits, budgets, refusals."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from prwatch.app.spending.stretch_report import StretchReport
from prwatch.app.walk.cycle import Account, find_pause
from prwatch.domain.health import LimitHealth
from prwatch.domain.rate_limit import BlockReason, BucketState
from prwatch.domain.stretch import StretchLevel
from prwatch.telemetry.labels import BUCKETS, OTHER

_WAITS: Final = frozenset(
    {BlockReason.LIMIT, BlockReason.SECONDARY, BlockReason.RESERVE}
)


@dataclass(frozen=True, slots=True)
class SmallestBudget:
    """A bucket of the account that has the smallest part of it left."""

    bucket: str
    limit: int
    remaining: int


def iter_buckets(accounts: Iterable[Account]) -> Iterator[BucketState]:
    """Yield the buckets of all that pay, those of a shared payer once."""
    seen: set[int] = set()
    for account in accounts:
        limits = account.github.limits
        if id(limits.tracker) in seen:
            continue
        seen.add(id(limits.tracker))
        yield from limits.describe()


def list_limits(accounts: Iterable[Account]) -> tuple[LimitHealth, ...]:
    """List the waits that hold, by bucket, those for a reserve apart."""
    waits: defaultdict[tuple[str, bool], list[BucketState]] = defaultdict(list)
    for state in iter_buckets(accounts):
        if state.reason in _WAITS and state.blocked_until is not None:
            is_reserve = state.reason is BlockReason.RESERVE
            waits[_name(state.bucket), is_reserve].append(state)
    return tuple(
        LimitHealth(
            bucket=bucket,
            is_reserve=is_reserve,
            accounts=len(states),
            until=max(state.blocked_until for state in states if state.blocked_until),
        )
        for (bucket, is_reserve), states in sorted(waits.items())
    )


def count_paused(accounts: Iterable[Account], read_path: str) -> int:
    """Count the workspaces that are not polled while a limit or a reserve holds."""
    return sum(
        len(account.workspaces)
        for account in accounts
        if find_pause(account, read_path) is not None
    )


def list_smallest(accounts: Iterable[Account]) -> list[SmallestBudget]:
    """List each bucket of which something is known, as whoever has least has it."""
    found: dict[str, SmallestBudget] = {}
    for state in iter_buckets(accounts):
        if not state.limit or state.remaining is None:
            continue
        bucket = _name(state.bucket)
        known = found.get(bucket)
        own = SmallestBudget(bucket, state.limit, state.remaining)
        if known is None or own.remaining / own.limit < known.remaining / known.limit:
            found[bucket] = own
    return [found[bucket] for bucket in sorted(found)]


def count_stretched(accounts: Iterable[Account]) -> int:
    """Count the watches that are asked less often to save a budget."""
    return sum(report.stretched for report in _iter_stretches(accounts))


def list_stretch_words(accounts: Iterable[Account]) -> list[str]:
    """List what is asked less often and why, for each budget that is short."""
    return [report.words for report in _iter_stretches(accounts) if report.words]


def find_stretch_level(accounts: Iterable[Account]) -> int:
    """Return how far intervals have given way, 0 for not at all; the most of all."""
    order = list(StretchLevel)
    levels = [order.index(report.level) for report in _iter_stretches(accounts)]
    return max(levels, default=0)


def _iter_stretches(accounts: Iterable[Account]) -> Iterator[StretchReport]:
    """Yield the plan of each that pays once: all its tokens have the same."""
    seen: set[int] = set()
    for account in accounts:
        report = account.stretch
        if report is not None and id(report) not in seen:
            seen.add(id(report))
            yield report


def count_refused(accounts: Iterable[Account]) -> int:
    """Count the fields that a token or a server does not give, for each account."""
    return sum(
        len({refused.field for refused in account.github.capabilities.refused})
        for account in accounts
    )


def _name(bucket: str) -> str:
    """Return a bucket's name, or `other` for one that a server made up."""
    return bucket if bucket in BUCKETS else OTHER
