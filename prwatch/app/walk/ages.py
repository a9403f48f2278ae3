"""Looking how long ago each watch was last seen well, and why some were not lately."""

from collections.abc import Iterator, Sequence
from typing import Final

from prwatch.app.guard.admission import host_key, wait_until, workspace_key
from prwatch.app.spending.stretching import adapt_settings
from prwatch.app.walk.cycle import Account, Cycle, find_pause
from prwatch.app.walk.turns import build_turn
from prwatch.app.workspace_view import WorkspaceView
from prwatch.domain.freshness import (
    SHORTEST_BOUND,
    SLACK,
    AgeReport,
    Seen,
    StaleReason,
    measure_ages,
)
from prwatch.domain.schedule import choose_interval, is_resting
from prwatch.domain.watch import Watch

_SHORT: Final = SHORTEST_BOUND / SLACK


async def scan_ages(cycle: Cycle, accounts: Sequence[Account]) -> AgeReport:
    """Measure all watches that are asked at all. What rests is not."""
    seen: list[Seen] = []
    for account in accounts:
        for workspace in account.workspaces:
            view = await cycle.mirror.view(workspace)
            seen.extend(_iter_seen(cycle, account, view))
    return measure_ages(seen, now=cycle.now())


def _iter_seen(cycle: Cycle, account: Account, view: WorkspaceView) -> Iterator[Seen]:
    now = cycle.now()
    intervals = adapt_settings(cycle.settings, account).intervals
    obstacle = _find_obstacle(cycle, account, view)
    for watch in view.snapshot.watches:
        known = cycle.memory.get(watch.id, now=now)
        if known.good_at is not None and now - known.good_at <= SHORTEST_BOUND:
            # Within every bound, so whatever its interval is: nearly all are.
            yield Seen(good_at=known.good_at, interval=_SHORT)
            continue
        turn = build_turn(cycle.memory, view, watch, now=now)
        if is_resting(turn, now=now, intervals=intervals):
            continue
        # Who was never seen by this process waits since it began, or since it is there.
        begun_at = max(watch.created_at, cycle.memory.begun_at or now)
        yield Seen(
            good_at=known.good_at or min(begun_at, now),
            interval=choose_interval(turn, intervals),
            obstacle=obstacle or _find_own_obstacle(cycle, view, watch),
        )


def _find_obstacle(
    cycle: Cycle, account: Account, view: WorkspaceView
) -> StaleReason | None:
    """Return what keeps a whole workspace from being asked, if anything does."""
    keys = (host_key(account.host), workspace_key(view.workspace))
    if any(cycle.circuits.find(key) for key in keys):
        return StaleReason.CIRCUIT
    if find_pause(account, cycle.settings.read_path) is not None:
        return StaleReason.LIMIT
    return None


def _find_own_obstacle(cycle: Cycle, view: WorkspaceView, watch: Watch) -> StaleReason:
    is_open = wait_until(cycle.circuits, view, watch) is not None
    return StaleReason.CIRCUIT if is_open else StaleReason.UNEXPLAINED
