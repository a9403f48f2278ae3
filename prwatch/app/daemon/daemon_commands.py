"""What the daemon answers on its control socket."""

import os
from collections.abc import Mapping
from typing import Any

from prwatch import __version__
from prwatch.app.command.check import answer_check
from prwatch.app.daemon.control_server import Command
from prwatch.app.daemon.daemon import Daemon
from prwatch.domain.timestamp import format_optional_time, format_time


def build_commands(daemon: Daemon) -> Mapping[str, Command]:
    """Return the commands by name: status, health, check, nudge and reload."""

    async def status(_: dict[str, Any]) -> dict[str, Any]:
        return describe_daemon(daemon)

    async def health(_: dict[str, Any]) -> dict[str, Any]:
        return describe_health(daemon)

    async def check(arguments: dict[str, Any]) -> dict[str, Any]:
        return dict(await answer_check(daemon.shift.runtime, arguments))

    async def nudge(_: dict[str, Any]) -> dict[str, Any]:
        daemon.shift.loop.notify()
        daemon.shift.runtime.notify_relays()
        return {}

    async def reload(_: dict[str, Any]) -> dict[str, Any]:
        await daemon.reloader.reload()
        return {}

    return {
        "status": status,
        "health": health,
        "check": check,
        "nudge": nudge,
        "reload": reload,
    }


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
        "loops": daemon.registry.as_json(),
        "last_cycle": report
        and {
            **report.as_json(),
            "finished_at": format_optional_time(shift.loop.last_finished_at),
        },
        "blocked_until": limits,
        "worktree_problems": list(shift.runtime.worktrees.problems),
    }


def describe_health(daemon: Daemon) -> dict[str, Any]:
    """Return whether all goes well, in counts alone: no names of anybody's work."""
    loops = daemon.registry.as_json()
    failing = sorted(name for name, loop in loops.items() if _is_failing(loop))
    stalled = daemon.registry.list_stalled()
    report = daemon.shift.loop.last_report
    failures: dict[str, int] = {}
    for failure in report.failures if report else ():
        name = failure.failure_class.value
        failures[name] = failures.get(name, 0) + 1
    return {
        "ok": not (failing or stalled or (report and report.failed_workspaces)),
        "stalled": [_kind(name) for name in stalled],
        "failing_loops": [_kind(name) for name in failing],
        "failures": failures,
    }


def _is_failing(loop: Mapping[str, Any]) -> bool:
    return bool(loop["consecutive_failures"])


def _kind(name: str) -> str:
    """Return a loop's kind: a relay's name holds that of a sink."""
    return name.split(" ", 1)[0]
