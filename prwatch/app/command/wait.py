"""Waiting until checks, review or merge of one pull request are decided."""

import datetime as dt
import enum
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import anyio

from prwatch.app.command.attend import request_attendance
from prwatch.app.command.check import check_and_deliver, request_check
from prwatch.app.command.missing import build_missing_error
from prwatch.app.command.references import NamedPullRequest
from prwatch.app.command.watch_listing import find_watches
from prwatch.app.command.watch_row import WatchRow
from prwatch.app.command.workbench import Workbench
from prwatch.app.runtime import Runtime, open_runtime
from prwatch.config.loader import LoadedConfig
from prwatch.domain.event_building import build_task_pull_request
from prwatch.domain.outcome import Found
from prwatch.domain.phrase import Known, refresh
from prwatch.domain.reference import PullRequestReference
from prwatch.domain.verdict_words import Words, tell
from prwatch.errors import (
    AuthenticationFailed,
    PermissionDenied,
    ProviderUnavailable,
    PrwatchError,
    ResourceGone,
    WatchNotFound,
)
from prwatch.github.rest import NotModified

GLANCE: Final = dt.timedelta(seconds=1)
"""How often the store is asked whether a daemon has written to it."""

PATIENCE: Final = dt.timedelta(minutes=1)
"""After which it is told that the daemon does not see the pull request."""

PullRequest: TypeAlias = Mapping[str, object]


class Goal(enum.StrEnum):
    """What is waited for."""

    CHECKS = "checks"
    REVIEW = "review"
    MERGED = "merged"


_WANTED: Final[Mapping[Goal, tuple[str, str]]] = {
    Goal.CHECKS: ("checks", "success"),
    Goal.REVIEW: ("review", "approved"),
}


class Verdict(enum.StrEnum):
    """How far it is. A timeout is no verdict on the pull request, but on us."""

    WAITING = "waiting"
    REACHED = "reached"
    FAILED = "failed"
    TIMED_OUT = "timed_out"


@dataclass(frozen=True, slots=True)
class Sight:
    """What one look has shown: the pull request as in the events, and in words."""

    pull_request: PullRequest
    words: Words


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitResult:
    """
    How the wait ended.

    `seen` is what was read last, or None when nothing was. `problem` is why nothing
    could be read at the end, or ''.
    """

    reference: str
    goal: Goal
    verdict: Verdict
    seen: Sight | None
    waited: dt.timedelta
    problem: str = ""

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        return {
            "reference": self.reference,
            "for": self.goal.value,
            "verdict": self.verdict.value,
            "waited_seconds": round(self.waited.total_seconds(), 3),
            "problem": self.problem or None,
            "words": self.seen.words.as_json() if self.seen else None,
            "pull_request": self.seen.pull_request if self.seen else None,
        }


def decide(goal: Goal, pull_request: PullRequest) -> Verdict:
    """
    Return whether a pull request has come to what is waited for.

    No checks at all are not yet any, unless it is merged. One that was closed without
    a merge has failed, and one that is merged has passed its review.
    """
    state = pull_request["state"]
    if state == "CLOSED":
        return Verdict.FAILED
    is_merged = state == "MERGED"
    if goal is Goal.CHECKS and pull_request["checks"] == "failure":
        return Verdict.FAILED
    is_refused = pull_request["review"] == "changes_requested"
    if goal is Goal.REVIEW and is_refused and not is_merged:
        return Verdict.FAILED
    is_reached = is_merged or _WANTED.get(goal, ("", "")) in pull_request.items()
    return Verdict.REACHED if is_reached else Verdict.WAITING


@dataclass(slots=True, kw_only=True)
class Waiter:
    """
    One wait. `on_look` is told what was read each time, or what was in the way.

    Between two looks at most `pause` passes; where a daemon runs, a look follows each
    change of the store, because that may be the one.
    """

    bench: Workbench
    look: Callable[[], Awaitable[Sight]]
    reference: str
    goal: Goal
    pause: dt.timedelta
    on_look: Callable[[Sight | None, str], None] = lambda _, __: None

    async def run(self, limit: dt.timedelta) -> WaitResult:
        """
        Look until it is decided or the time is over.

        What may pass by itself (GitHub is down, a limit) is waited for too.

        Raises:
            PrwatchError: Nothing could be read, and waiting does not help.
        """
        clock = self.bench.surroundings.clock
        started = clock.monotonic()
        seen: Sight | None = None
        problem = ""
        while True:
            waited = dt.timedelta(seconds=clock.monotonic() - started)
            left = limit - waited
            verdict = Verdict.TIMED_OUT
            token = await self.bench.database.change_token()
            with anyio.move_on_after(max(left, GLANCE).total_seconds()):
                seen, problem = await self._look(seen)
                verdict = Verdict.WAITING
            if verdict is Verdict.WAITING and seen is not None and not problem:
                verdict = decide(self.goal, seen.pull_request)
            if verdict is Verdict.WAITING and left <= dt.timedelta(0):
                verdict = Verdict.TIMED_OUT
            if verdict is not Verdict.WAITING:
                return WaitResult(
                    reference=self.reference,
                    goal=self.goal,
                    verdict=verdict,
                    seen=seen,
                    waited=dt.timedelta(seconds=clock.monotonic() - started),
                    problem=problem,
                )
            await self._rest(token, min(self.pause, left))

    async def _look(self, before: Sight | None) -> tuple[Sight | None, str]:
        try:
            seen = await self.look()
        except PrwatchError as error:
            if not error.retryable:
                raise
            self.on_look(None, str(error))
            return before, str(error)
        self.on_look(seen, "")
        return seen, ""

    async def _rest(self, token: int, rest: dt.timedelta) -> None:
        clock = self.bench.surroundings.clock
        until = clock.monotonic() + rest.total_seconds()
        has_daemon = self.bench.find_daemon() is not None
        while (left := until - clock.monotonic()) > 0:
            await clock.sleep(min(left, GLANCE.total_seconds()))
            if has_daemon and await self.bench.database.change_token() != token:
                return


class Looker:
    """
    Reads one pull request: from the daemon's looks, else as a watch, else on its own.

    Where a daemon watches it GitHub is not asked: the daemon looks often, for all who
    wait, and what counts is what it saw after the wait began. Without one, what is
    watched is committed and told as in any check. What is not watched stays so: it is
    read and nothing is stored.
    """

    def __init__(
        self,
        bench: Workbench,
        named: NamedPullRequest,
        *,
        workspace: str,
        open_product: Callable[[], Awaitable[Runtime]],
    ) -> None:
        self._bench = bench
        self._named = named
        self._workspace = workspace
        self._open_product = open_product
        self._tags: Mapping[str, str] = {}
        self._last: Known | None = None
        self._since: dt.datetime | None = None

    async def look(self) -> Sight:
        """
        Read it now.

        Raises:
            ProviderError: GitHub did not give it.
            StoreError: The store could not be read or written.
        """
        row = await self._find()
        if row is not None and row.id:
            await self._check(row)
            row = await self._find()
        is_kept = row is not None and (row.id != "" or row.state == "MERGED")
        if is_kept and row is not None and row.known is not None:
            return _sight(row.known)
        return _sight(await self._read())

    async def _find(self) -> WatchRow | None:
        try:
            rows = await find_watches(
                self._bench, self._named, workspace=self._workspace
            )
        except WatchNotFound:
            return None
        epoch = dt.datetime.min.replace(tzinfo=dt.UTC)
        return max(rows, key=lambda row: (bool(row.id), row.observed_at or epoch))

    async def _check(self, row: WatchRow) -> None:
        if await self._attend(row):
            return
        report = await request_check(self._bench, row.id)
        if report is None:
            product = await self._open_product()
            report = (await check_and_deliver(product, [row.id]))[0]
        for failure in report.failures:
            raise _build_error(failure)

    async def _attend(self, row: WatchRow) -> bool:
        """Wait until the daemon has looked since we began; False when none runs."""
        clock = self._bench.surroundings.clock
        until = clock.monotonic() + PATIENCE.total_seconds()
        while True:
            answer = await request_attendance(self._bench, row.id)
            if answer is None:
                return False
            self._since = self._since or answer.now
            for failure in answer.failures:
                raise _build_error(failure)
            if answer.good_at is not None and answer.good_at >= self._since:
                return True
            if clock.monotonic() >= until:
                raise ProviderUnavailable("the daemon has not seen it lately")
            await clock.sleep(GLANCE.total_seconds())

    async def _read(self) -> Known:
        product = await self._open_product()
        named = self._named
        chosen = await self._bench.get_workspace(self._workspace, host=named.host)
        accounts = [a for a in product.wired.accounts if chosen in a.workspaces]
        if not accounts:
            raise AuthenticationFailed(
                f"the workspace {chosen.name} has no token that can be used"
            )
        reference = PullRequestReference(
            owner=named.owner, name=named.name, number=named.number
        )
        checked = await accounts[0].github.check(reference, tags=self._tags)
        outcome = checked.outcome
        if isinstance(outcome, NotModified) and self._last is not None:
            return self._last
        if isinstance(outcome, Found):
            observation = outcome.value.observation
            self._tags = {} if observation.settles_at else checked.tags
            self._last = refresh(
                observation,
                now=self._bench.surroundings.clock.now(),
                stored=self._last,
            )
            return self._last
        if isinstance(outcome, NotModified):
            raise ProviderUnavailable(f"{named}: GitHub answered without a reading")
        raise build_missing_error(str(named), outcome)


def _sight(known: Known) -> Sight:
    return Sight(build_task_pull_request(known.observation), tell(known))


def _build_error(failure: Mapping[str, str]) -> PrwatchError:
    text = f"{failure['reference']}: {failure['message']}"
    if failure["class"] == "transient":
        return ProviderUnavailable(text)
    if failure["code"] == "not_found":
        return ResourceGone(text)
    return PermissionDenied(text)


@asynccontextmanager
async def open_waiter(
    bench: Workbench,
    loaded: LoadedConfig,
    named: NamedPullRequest,
    goal: Goal,
    *,
    workspace: str = "",
) -> AsyncIterator[Waiter]:
    """Prepare a wait. The whole product is opened only where no daemon answers."""
    async with AsyncExitStack() as stack:
        opened: list[Runtime] = []

        async def open_product() -> Runtime:
            if not opened:
                context: Any = open_runtime(loaded, bench.surroundings)
                opened.append(await stack.enter_async_context(context))
            return opened[0]

        looker = Looker(bench, named, workspace=workspace, open_product=open_product)
        yield Waiter(
            bench=bench,
            look=looker.look,
            reference=str(named),
            goal=goal,
            pause=bench.config.poll.hot_interval,
        )
