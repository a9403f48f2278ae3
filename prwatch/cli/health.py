"""`prwatch health`: whether the daemon does its work, for people and for monitors."""

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any, Final

import click

from prwatch.cli.options import get_options, global_options, load, run_async
from prwatch.cli.output import (
    format_age,
    format_time,
    print_json,
    print_table,
    print_text,
)

NOT_OK_EXIT = 1
_WORDS: Final = {
    "ok": "The daemon is well.",
    "degraded": "The daemon is degraded: it works, but not all of it.",
    "failing": "The daemon is failing: somebody has to look.",
}


@click.command("health")
@global_options
@click.pass_context
def command(ctx: click.Context) -> None:
    """
    Tell whether the daemon does its work.

    Asks the daemon, in kinds and counts alone: nothing that it prints names anybody's
    work. Exits with 0 when all is well, and with 1 when the daemon is degraded or
    failing, or none runs.
    """
    health = _ask(ctx)
    is_ok = health is not None and bool(health.get("ok"))
    if get_options(ctx).is_json:
        nothing = {"ok": False, "verdict": "failing", "ready": False}
        print_json({"running": health is not None, **(health or nothing)})
    elif health is None:
        print_text("No daemon runs.")
    else:
        print_health(health)
    ctx.exit(0 if is_ok else NOT_OK_EXIT)


def print_health(health: Mapping[str, Any]) -> None:
    """Print the verdict, a row for each reason with what helps, and what is counted."""
    print_text(_WORDS.get(str(health.get("verdict")), "The daemon is not well."))
    print_table(
        ("state", "why", "how many", "what to do"),
        [
            (reason["verdict"], _tell_why(reason), reason["count"], reason["remedy"])
            for reason in health.get("reasons") or ()
        ],
    )
    print_table(
        ("what", "state"),
        [
            ("watches", _join(health.get("watches"))),
            ("oldest observation", _tell_oldest(health.get("observations") or {})),
            ("loops", _join(_count_loops(health.get("loops") or {}))),
            ("failures of the last cycle", _join(health.get("failures"))),
            ("open circuits", _join(_count_circuits(health.get("circuits") or ()))),
            ("failing sinks", _join(health.get("sinks"))),
        ],
    )


def _tell_why(reason: Mapping[str, Any]) -> str:
    until = reason.get("until")
    if not until:
        return str(reason["reason"])
    moment = dt.datetime.fromisoformat(str(until))
    return f"{reason['reason']}: paused until {format_time(moment)}"


def _tell_oldest(observations: Mapping[str, Any]) -> str:
    """Return how old it is, and how many watches are older than they should be."""
    seconds = observations.get("oldest_age_seconds")
    if seconds is None:
        return "none"
    age = format_age(dt.timedelta(seconds=float(seconds)))
    over = _join(observations.get("over_bound"))
    return age if over == "none" else f"{age}; over their bound: {over}"


def _count_loops(loops: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Return how many loops run, and how many of them are not well."""
    return {
        word: sum(loop[key] for loop in loops.values())
        for word, key in (
            ("running", "count"),
            ("failing", "failing"),
            ("stalled", "stalled"),
        )
    }


def _count_circuits(circuits: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    return {f"{each['circuit']} ({each['class']})": each["open"] for each in circuits}


def _join(counts: Mapping[str, int] | None) -> str:
    """Return what is there: `2 auth, 1 config`."""
    found = [f"{count:,} {name}" for name, count in (counts or {}).items() if count]
    return ", ".join(found) or "none"


def _ask(ctx: click.Context) -> Mapping[str, Any] | None:
    from prwatch.app.control.client import ask  # noqa: PLC0415 - heavy
    from prwatch.app.daemon.daemon_lock import read_daemon_lock  # noqa: PLC0415 - goes with it

    loaded = load(ctx)

    async def work() -> Mapping[str, Any] | None:
        return await ask(read_daemon_lock(loaded.config.state_dir), "health")

    return run_async(work)
