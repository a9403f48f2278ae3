"""
The review queue: each review watch at its own interval, the accounts side by side.

When a watch was last searched is held in memory alone. A failure here opens no circuit
of polling, what a limit forbids is left out before a token is asked for, and nobody
waits for an account that is slow.
"""

import contextlib
import datetime as dt
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import anyio

from prwatch.app.guard.stragglers import Stragglers, run_beside
from prwatch.app.review.account_search import (
    AccountSearch,
    QueueMemory,
    find_host_block,
)
from prwatch.app.review.queue_report import QueueCounts, QueueReport
from prwatch.app.review.search_failure import Due
from prwatch.app.review.turns import Hold
from prwatch.app.runtime import Runtime
from prwatch.app.walk.cycle import Account
from prwatch.app.walk.watch_cycle import ACCOUNTS_AT_ONCE
from prwatch.domain.outcome import FailureClass
from prwatch.domain.review_watch import (
    ReviewWatch,
    UnreadableReviewWatch,
)
from prwatch.github.reserve import keep_reserve
from prwatch.store import review_watches
from prwatch.store.database import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOrder:
    """
    Which watches are searched: by default those that are due.

    One that `is_forced` searches all that are enabled, with what polling leaves of a
    budget. `workspace` and `name` are '' for any.
    """

    workspace: str = ""
    name: str = ""
    is_forced: bool = False

    def takes(self, due: Due) -> bool:
        """Return whether a watch is meant."""
        return self.workspace in ("", due.key[0]) and self.name in ("", due.key[1])


DUE = SearchOrder()
Late: TypeAlias = Stragglers[QueueReport]


@dataclass(frozen=True, slots=True)
class _Stored:
    watches: list[ReviewWatch]
    unreadable: list[UnreadableReviewWatch]


class ReviewQueue:
    """Searches the review watches of an open product, and remembers their turns."""

    def __init__(self, runtime: Runtime) -> None:
        self.counts = QueueCounts()
        self.unreadable: tuple[UnreadableReviewWatch, ...] = ()
        """The watches that could not be read at the last look."""
        self._runtime = runtime
        self.memory = QueueMemory()

    async def run_once(
        self,
        order: SearchOrder = DUE,
        *,
        beat: Callable[[], None] = lambda: None,
        stragglers: Late | None = None,
    ) -> QueueReport:
        """
        Search what is due or asked for, account beside account.

        A failure of one account leaves the others alone. With `stragglers` none is
        waited for that is slow: what it did stands in a later report.

        Raises:
            StoreError: The watches could not be read.
        """
        stored = await self._read()
        report = QueueReport(
            unreadable=self.unreadable, enabled=self._name_enabled(stored)
        )
        accounts = {
            account.key: (account, due)
            for account in self._runtime.wired.accounts
            if not (stragglers and stragglers.is_walking(account))
            and (order.is_forced or not self._is_held_back(account))
            and (due := self._list_due(account, stored.watches, order))
        }
        # One account alone keeps nobody waiting.
        beside = stragglers if len(self._runtime.wired.accounts) > 1 else None
        limiter = anyio.CapacityLimiter(ACCOUNTS_AT_ONCE)
        is_over = False

        async def search_one(account: Account) -> None:
            own = QueueReport()
            async with limiter:
                search = self._begin(account, order, own, beat)
                with contextlib.nullcontext() if order.is_forced else keep_reserve():
                    await search.run(accounts[account.key][1])
            if is_over and beside is not None:
                beside.hand_in(own)
            else:
                report.absorb(own)

        await run_beside([each for each, _ in accounts.values()], search_one, beside)
        is_over = True
        for late in stragglers.take_reports() if stragglers else ():
            report.absorb(late)
        self.counts.add(report)
        return report

    async def next_due_at(self, stragglers: Late | None = None) -> dt.datetime | None:
        """Return when an account is due next; None without an enabled watch."""
        stored, now = await self._read(), self._runtime.clock.now()
        found = []
        for account in self._runtime.wired.accounts:
            if stragglers and stragglers.is_walking(account):
                continue  # the loop is woken when it ends
            ends = [
                self.memory.turns.find_due(watch, now)
                for watch in _list_enabled(account, stored.watches)
            ]
            if ends:
                found.append(max(min(ends), self._find_end_of_hold(account)))
        return min(found, default=None)

    def find_hold(self, account: Account) -> Hold | None:
        """Return what was met that keeps an account from being asked, or None."""
        return self.memory.turns.find_hold(
            account.key,
            self._runtime.clock.now(),
            account.github.credential.generation,
        )

    def _is_held_back(self, account: Account) -> bool:
        # What a limit forbids is looked at anew: it may have ended before its time.
        hold = self.find_hold(account)
        return hold is not None and hold.failure_class is not FailureClass.LIMIT

    def _find_end_of_hold(self, account: Account) -> dt.datetime:
        hold, now = self.find_hold(account), self._runtime.clock.now()
        circuit = find_host_block(self._runtime, account)
        return max(hold.until if hold else now, circuit.open_until if circuit else now)

    async def list_enabled(self) -> list[tuple[Account, list[ReviewWatch]]]:
        """
        List what is searched, by account.

        Raises:
            StoreError: The watches could not be read.
        """
        stored = await self._read()
        return [
            (account, _list_enabled(account, stored.watches))
            for account in self._runtime.wired.accounts
        ]

    def _name_enabled(self, stored: _Stored) -> frozenset[tuple[str, str]]:
        return frozenset(
            (workspace.name, watch.name)
            for account in self._runtime.wired.accounts
            for workspace in account.workspaces
            for watch in _list_enabled(account, stored.watches)
            if watch.workspace_id == workspace.id
        )

    async def _read(self) -> _Stored:
        workspaces = [
            workspace
            for account in self._runtime.wired.accounts
            for workspace in account.workspaces
        ]

        async def read(tx: Transaction) -> _Stored:
            stored = _Stored([], [])
            for workspace in workspaces:
                found = await review_watches.read_review_watches(tx, workspace.id)
                stored.watches.extend(found[0])
                stored.unreadable.extend(found[1])
            return stored

        stored = await self._runtime.database.read(read)
        self.unreadable = tuple(stored.unreadable)
        enabled = sum(each.settings.is_enabled for each in stored.watches)
        self.counts.watches = Counter(
            enabled=enabled,
            disabled=len(stored.watches) - enabled,
            unreadable=len(stored.unreadable),
        )
        keys = [account.key for account in self._runtime.wired.accounts]
        self.memory.turns.keep_only(stored.watches, keys)
        return stored

    def _list_due(
        self, account: Account, watches: Sequence[ReviewWatch], order: SearchOrder
    ) -> list[Due]:
        now = self._runtime.clock.now()
        by_id = {workspace.id: workspace for workspace in account.workspaces}
        ends = {
            watch.id: self.memory.turns.find_due(watch, now)
            for watch in _list_enabled(account, watches)
        }
        due = [
            Due(by_id[watch.workspace_id], watch)
            for watch in watches
            if watch.id in ends and (order.is_forced or ends[watch.id] <= now)
        ]
        wanted = [each for each in due if order.takes(each)]
        # One that fails each time must not keep those back that are good or new.
        return sorted(
            wanted,
            key=lambda each: (
                self.memory.turns.has_failed(each.watch),
                ends[each.watch.id],
                each.watch.id,
            ),
        )

    def _begin(
        self,
        account: Account,
        order: SearchOrder,
        report: QueueReport,
        beat: Callable[[], None],
    ) -> AccountSearch:
        return AccountSearch(
            runtime=self._runtime,
            account=account,
            memory=self.memory,
            report=report,
            beat=beat,
            is_forced=order.is_forced,
        )


def _list_enabled(
    account: Account, watches: Sequence[ReviewWatch]
) -> list[ReviewWatch]:
    ids = {workspace.id for workspace in account.workspaces}
    return [
        watch
        for watch in watches
        if watch.workspace_id in ids and watch.settings.is_enabled
    ]
