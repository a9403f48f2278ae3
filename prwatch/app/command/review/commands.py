"""What `prwatch review` does: review watches as people make, change and search them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from prwatch.app.command.review.listing import (
    FoundReview,
    ReviewRow,
    find_reviews,
    show_review,
)
from prwatch.app.command.review.unreadable import find_unreadable, refuse_unreadable
from prwatch.app.command.workbench import Workbench
from prwatch.app.control.client import ANSWER_SECONDS
from prwatch.app.outbox_relay import deliver_once
from prwatch.app.polling import start
from prwatch.app.review.leaving import remove_watch
from prwatch.app.review.poll_outcome import PollOutcome
from prwatch.app.review.queue import ReviewQueue, SearchOrder
from prwatch.app.runtime import Runtime, open_runtime
from prwatch.app.walk.cycle_report import Failure
from prwatch.config.forms import NAME
from prwatch.config.loader import LoadedConfig
from prwatch.domain.ids import build_id
from prwatch.domain.review_search import list_problems
from prwatch.domain.review_watch import ReviewSettings, ReviewWatch
from prwatch.domain.task import Origin, Workspace
from prwatch.errors import ConfigError, NotFound, PrwatchError, StoreConflict
from prwatch.store import review_watches
from prwatch.store.database import Transaction

POLL_SECONDS = ANSWER_SECONDS * 10
MAX_SHOWN = 20
"""Of so many hits it is told why they could not be read."""
TRIES = 5
"""How often an edit is made when others change the same watch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewPoll:
    """What searching review watches at once came to, as plain JSON values."""

    watches: tuple[Mapping[str, Any], ...]
    failures: tuple[Mapping[str, Any], ...]

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints and the daemon answers."""
        return {"watches": list(self.watches), "failures": list(self.failures)}


async def add_review(
    bench: Workbench, name: str, settings: ReviewSettings, *, workspace: str = ""
) -> ReviewRow:
    """
    Make a review watch; a running daemon searches it at once.

    Raises:
        ConfigError: It cannot be searched, is badly named, or needs a workspace.
        PrwatchError: The workspace has one of that name.
    """
    try:
        NAME.read(name)
    except ValueError as error:
        raise ConfigError(f"the name of a review watch is {NAME.allowed}") from error
    chosen = await bench.get_workspace(workspace)
    _refuse_problems(bench, chosen, settings)
    now = bench.surroundings.clock.now()
    watch = ReviewWatch(
        id=build_id(now, bench.surroundings.chance),
        workspace_id=chosen.id,
        name=name,
        settings=settings,
        origin=Origin.COMMAND,
        created_at=now,
    )

    async def write(tx: Transaction) -> bool:
        return await review_watches.add_review_watch(tx, watch)

    if not await bench.database.transact(write):
        raise PrwatchError(
            f"there is a review watch {name} in {chosen.name}",
            hint="`prwatch review edit` changes it",
        )
    await bench.nudge()
    return await show_review(bench, name, workspace=chosen.name)


async def edit_review(
    bench: Workbench, name: str, changes: Mapping[str, Any], *, workspace: str = ""
) -> ReviewRow:
    """
    Change settings of a person's review watch; `changes` are those of `ReviewSettings`.

    Raises:
        NotFound: There is no such review watch.
        ConfigError: It could not be searched any more.
        PrwatchError: An entry declares it.
        StoreConflict: Others changed it again and again; nothing is written.
    """
    for _ in range(TRIES):
        # Read anew each time: what somebody else changed meanwhile stays.
        found = await _get_review(bench, name, workspace)
        _refuse_declared(found)
        watch = found.watch
        settings = replace(watch.settings, **changes)
        _refuse_problems(bench, found.workspace, settings)

        async def write(
            tx: Transaction,
            watch: ReviewWatch = watch,
            settings: ReviewSettings = settings,
        ) -> bool:
            return await review_watches.put_review_settings(tx, watch, settings)

        if await bench.database.transact(write) or settings == watch.settings:
            await bench.nudge()
            return await show_review(bench, name, workspace=found.workspace.name)
    raise StoreConflict(
        f"the review watch {name} was changed by others each time",
        hint="give the command again",
    )


async def remove_review(bench: Workbench, name: str, *, workspace: str = "") -> None:
    """
    Remove a person's review watch; the tasks that it made stay.

    One whose row cannot be read may be removed whoever declared it.

    Raises:
        NotFound: There is no such review watch.
        PrwatchError: An entry declares it.
    """
    broken = await find_unreadable(bench, name, workspace)
    if broken is not None:
        others = await find_reviews(bench, workspace)
        if any(each.watch.name == name for each in others):
            raise ConfigError("several workspaces have one; choose with --workspace")
        await remove_watch(bench.database, broken.watch)
    else:
        found = await _get_review(bench, name, workspace)
        _refuse_declared(found)
        await remove_watch(bench.database, found.watch)
    await bench.nudge()


async def poll_reviews(
    bench: Workbench, loaded: LoadedConfig, name: str = "", *, workspace: str = ""
) -> ReviewPoll:
    """
    Search review watches now, whatever their turn: one by its name, or all.

    A running daemon does it. Circuits and reserves of polling hold nothing back.

    Raises:
        NotFound: There is no such review watch.
        PrwatchError: It is disabled, or the daemon could not do it.
    """
    answer = None
    if bench.find_daemon() is not None:
        arguments = await _choose(bench, name, workspace)
        answer = await bench.ask_daemon(
            "review poll", seconds=POLL_SECONDS, **arguments
        )
    if answer is None:
        if name and not _is_declared(bench, name, workspace):
            await _choose(bench, name, workspace)
        async with open_runtime(loaded, bench.surroundings) as runtime:
            # What the configuration declares may not be stored yet.
            await start(runtime)
            arguments = await _choose(bench, name, workspace)
            answer = await answer_poll(runtime, ReviewQueue(runtime), arguments)
            await deliver_once(runtime.relays)
    return ReviewPoll(
        watches=tuple(answer.get("watches", ())),
        failures=tuple(answer.get("failures", ())),
    )


def _is_declared(bench: Workbench, name: str, workspace: str) -> bool:
    return any(
        review.name == name
        for entry in bench.config.workspaces
        if workspace in ("", entry.name)
        for review in entry.reviews
    )


async def _choose(bench: Workbench, name: str, workspace: str) -> dict[str, str]:
    """Return what is to be searched, as the daemon is told; '' is all."""
    if not name:
        await bench.list_workspaces(workspace)
        return {"workspace": workspace, "name": ""}
    found = await _get_review(bench, name, workspace)
    if not found.watch.settings.is_enabled:
        raise PrwatchError(
            f"the review watch {name} is disabled",
            hint="`prwatch review edit --enable` lets it be searched again",
        )
    return {"workspace": found.workspace.name, "name": name}


async def answer_poll(
    runtime: Runtime, queue: ReviewQueue, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """
    Do what a command asks of the daemon: search `name` in `workspace`; '' is all.

    Raises:
        StoreError: The store failed; what was taken up before stays.
    """
    workspace = str(arguments.get("workspace", ""))
    name = str(arguments.get("name", ""))
    order = SearchOrder(workspace=workspace, name=name, is_forced=True)
    report = await queue.run_once(order, beat=runtime.on_progress)
    if report.error is not None:
        raise report.error
    return ReviewPoll(
        watches=tuple(
            _render(key, outcome) for key, outcome in sorted(report.outcomes.items())
        ),
        failures=tuple(_list_failures(report.failures)),
    ).as_json()


def _list_failures(failures: list[Failure]) -> list[Mapping[str, Any]]:
    return [failure.as_json() for failure in failures]


def _render(key: tuple[str, str], outcome: PollOutcome) -> Mapping[str, Any]:
    return {
        "workspace": key[0],
        "name": key[1],
        "hits": outcome.hits,
        "created": outcome.created,
        "joined": outcome.joined,
        "ended": outcome.ended,
        "unasked": outcome.unasked,
        "cleaned": outcome.cleaned,
        "left": outcome.left,
        "unread": outcome.unread,
        "refused": outcome.refused,
        "is_complete": outcome.is_complete,
        "incomplete_reason": outcome.reason.value if outcome.reason else "",
        "problems": outcome.problems[:MAX_SHOWN],
    }


async def _get_review(bench: Workbench, name: str, workspace: str) -> FoundReview:
    found = [
        each for each in await find_reviews(bench, workspace) if each.watch.name == name
    ]
    if not found:
        await refuse_unreadable(bench, name, workspace)
        raise NotFound(
            f"there is no review watch {name}", hint="`prwatch review list` names them"
        )
    if len(found) > 1:
        names = ", ".join(each.workspace.name for each in found)
        raise ConfigError(f"choose one with --workspace: {names}")
    return found[0]


def _refuse_declared(found: FoundReview) -> None:
    watch = found.watch
    if watch.origin in {Origin.CONFIG, Origin.WATCH_FILE}:
        where = watch.written_as or "the configuration"
        raise PrwatchError(
            f"the review watch {watch.name} is declared by {where}",
            hint="edit or remove its entry instead",
        )


def _refuse_problems(
    bench: Workbench, workspace: Workspace, settings: ReviewSettings
) -> None:
    is_app = bench.config.is_app(workspace.name)
    problems = [f"{key} {text}" for key, text in list_problems(settings, is_app=is_app)]
    if problems:
        raise ConfigError(
            f"the review watch cannot be searched: {problems[0]}",
            problems=tuple(problems),
        )
