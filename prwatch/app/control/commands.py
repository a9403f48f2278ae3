"""What the daemon answers on its control socket."""

import functools
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from prwatch import __version__
from prwatch.app.command.budget import answer_budget
from prwatch.app.command.check import answer_check
from prwatch.app.command.circuits import list_circuits, reset_circuits
from prwatch.app.command.review.cleanup import answer_cleanup, answer_skips
from prwatch.app.command.review.commands import answer_poll
from prwatch.app.command.review.turns import answer_turns
from prwatch.app.command.sync import answer_sync
from prwatch.app.control.outlook import answer_outlook
from prwatch.app.control.server import Command
from prwatch.app.daemon.attendance import answer_attend
from prwatch.app.daemon.daemon import Daemon
from prwatch.app.health.github_facts import list_stretch_words
from prwatch.app.health.report import describe_health
from prwatch.app.runtime import Runtime
from prwatch.domain.timestamp import format_optional_time, format_time


def build_commands(daemon: Daemon) -> Mapping[str, Command]:
    """Return the commands by name, as the control socket knows them."""

    async def status(_: dict[str, Any]) -> dict[str, Any]:
        return describe_daemon(daemon)

    async def health(_: dict[str, Any]) -> dict[str, Any]:
        return describe_health(daemon)

    async def nudge(_: dict[str, Any]) -> dict[str, Any]:
        daemon.shift.loop.notify()
        daemon.shift.reviews.notify()
        daemon.shift.runtime.notify_relays()
        return {}

    async def circuits(_: dict[str, Any]) -> dict[str, Any]:
        shift = daemon.shift
        rows = await list_circuits(shift.runtime, shift.cleanup.cleanup)
        return {"circuits": [row.as_json() for row in rows]}

    async def circuit_reset(arguments: dict[str, Any]) -> dict[str, Any]:
        workspace = str(arguments.get("workspace", ""))
        shift = daemon.shift
        closed = await reset_circuits(shift.runtime, shift.cleanup.cleanup, workspace)
        shift.loop.notify(is_forced=True)
        return {"closed": closed}

    async def sync(arguments: dict[str, Any]) -> dict[str, Any]:
        answer = await answer_sync(daemon.shift.runtime, arguments)
        daemon.shift.loop.notify()
        return answer

    async def reload(_: dict[str, Any]) -> dict[str, Any]:
        await daemon.reloader.reload()
        return {}

    return {
        "status": status,
        "health": health,
        "check": _ask_runtime(daemon, answer_check),
        "outlook": _ask_runtime(daemon, answer_outlook),
        "attend": functools.partial(answer_attend, daemon),
        "budget": _ask_runtime(daemon, answer_budget),
        "nudge": nudge,
        "circuits": circuits,
        "circuit reset": circuit_reset,
        "sync": sync,
        "review poll": functools.partial(_poll_reviews, daemon),
        "review turns": functools.partial(_tell_turns, daemon),
        "review cleanup": functools.partial(_clean_reviews, daemon),
        "review skips": functools.partial(_tell_skips, daemon),
        "reload": reload,
    }


def _ask_runtime(
    daemon: Daemon,
    answer: Callable[[Runtime, Mapping[str, Any]], Awaitable[dict[str, Any]]],
) -> Command:
    """Return the command that whatever runtime is at work then answers."""

    async def command(arguments: dict[str, Any]) -> dict[str, Any]:
        return await answer(daemon.shift.runtime, arguments)

    return command


async def _poll_reviews(daemon: Daemon, arguments: dict[str, Any]) -> dict[str, Any]:
    shift = daemon.shift
    return await answer_poll(shift.runtime, shift.reviews.queue, arguments)


async def _tell_turns(daemon: Daemon, _: dict[str, Any]) -> dict[str, Any]:
    return await answer_turns(daemon.shift.runtime, daemon.shift.reviews.queue)


async def _clean_reviews(daemon: Daemon, arguments: dict[str, Any]) -> dict[str, Any]:
    shift = daemon.shift
    return await answer_cleanup(shift.runtime, shift.cleanup.cleanup, arguments)


async def _tell_skips(daemon: Daemon, _: dict[str, Any]) -> dict[str, Any]:
    return answer_skips(daemon.shift.cleanup.cleanup)


def describe_daemon(daemon: Daemon) -> dict[str, Any]:
    """Return what the daemon knows of itself, as plain JSON values."""
    shift = daemon.shift
    limits = {
        account.host: {
            bucket: format_time(until)
            for bucket, until in account.github.limits.blocks.items()
        }
        for account in shift.runtime.wired.accounts
        if account.github.limits.blocks
    }
    report = shift.loop.last_report
    return {
        "pid": os.getpid(),
        "version": __version__,
        "started_at": format_time(daemon.started_at),
        "loops": _render_loops(daemon),
        "last_cycle": report
        and {
            **report.as_json(),
            "finished_at": format_optional_time(shift.loop.last_finished_at),
        },
        "blocked_until": limits,
        "worktree_problems": list(shift.runtime.worktrees.problems),
        "stretched": list_stretch_words(shift.runtime.wired.accounts),
    }


def _render_loops(daemon: Daemon) -> dict[str, dict[str, Any]]:
    """Return the loops, those that have circuits with the open ones by class."""
    loops, shift = daemon.registry.as_json(), daemon.shift
    for name, counts in (
        (shift.loop.name, shift.runtime.circuits.count_open()),
        (shift.cleanup.name, shift.cleanup.cleanup.circuits.count_open()),
    ):
        if name in loops:
            by_class: Counter[str] = Counter()
            for (_, cause), count in counts.items():
                by_class[cause.value] += count
            loops[name]["open_circuits"] = dict(by_class)
    return loops
