"""`prwatch budget`: what watching costs, what it promises, and what more would cost."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from prwatch.cli.bench import run_with_config
from prwatch.cli.options import get_options, global_options
from prwatch.cli.output import format_count, print_json, print_table, print_text

if TYPE_CHECKING:
    from prwatch.app.command.workbench import Workbench
    from prwatch.config.loader import LoadedConfig

BAR = 20
"""Signs of a full bar."""
_PARTS = {
    "probes": "probes",
    "full_reads": "full readings",
    "lists": "lists and searches",
    "branches": "look-ups of branches",
    "closed": "closed pull requests",
}


@click.command("budget")
@click.option(
    "--watches",
    type=click.IntRange(0, 1_000_000),
    metavar="N",
    help="Forecast for so many pull requests.",
)
@click.option(
    "--live", "is_live", is_flag=True, help="Without a daemon: ask what is left."
)
@global_options
@click.pass_context
def command(ctx: click.Context, *, watches: int | None, is_live: bool) -> None:
    """
    Tell what an hour of watching costs, and how old a change may become.

    Also what more pull requests would cost, and where the budget ends. A running
    daemon answers; without one GitHub is asked for nothing.
    """
    from prwatch.app.command.budget import read_budget_report  # noqa: PLC0415 - heavy

    async def work(bench: "Workbench", loaded: "LoadedConfig") -> Mapping[str, Any]:
        return await read_budget_report(bench, loaded, watches=watches, is_live=is_live)

    report = run_with_config(ctx, work)
    if get_options(ctx).is_json:
        print_json(report)
        return
    if not report["running"]:
        print_text("No daemon runs; this follows from the store and the configuration.")
    for account in report["accounts"]:
        print_account(account)


def print_account(account: Mapping[str, Any]) -> None:
    """Print the forecast of one account that pays."""
    print_text("\n".join(_tell_account(account)))
    hour = account["hour"]
    rows = [
        (words, _number(part["points"]), _number(part["requests"]))
        for name, words in _PARTS.items()
        if (part := hour["parts"][name])["points"]
    ]
    total = ("an hour", _number(hour["points"]), _number(hour["requests"]))
    print_table(("for", "points", "requests"), [*rows, total])
    print_table(
        ("pull requests", "points an hour", "of the budget", "a change is at most"),
        [_tell_growth(each) for each in account["more"]],
    )
    print_text("\n".join(_tell_limits(account)))


def _tell_account(account: Mapping[str, Any]) -> Iterator[str]:
    who = account["login"] or account["account"] or "account not known yet"
    yield f"{account['host']}, {who}: {', '.join(account['workspaces'])}"
    if account["problem"]:
        yield f"  what is left cannot be told: {account['problem']}"
    watches = account["watches"]
    counts = ", ".join(
        f"{watches[name]:,} {name}"
        for name in ("hot", "fresh", "idle", "resting", "archived")
        if watches[name]
    )
    noun = "pull request" if watches["pull_requests"] == 1 else "pull requests"
    yield f"  {watches['pull_requests']:,} {noun}" + (f" ({counts})" if counts else "")
    for bucket in account["buckets"]:
        if bucket["limit"]:
            yield f"  {_tell_bucket(bucket)}"
    cycle = account["cycle"]
    points = format_count(round(cycle["points"]), "point")
    requests = format_count(round(cycle["requests"]), "request")
    yield f"  a quiet cycle costs {points} in {requests}"
    yield (
        f"  no change is older than {_span(account['bound_seconds'])}; what only a "
        f"full reading shows, {_span(account['full_read_bound_seconds'])}"
    )
    if account["stretch"]["words"]:
        yield f"  {account['stretch']['words']}"


def _tell_bucket(bucket: Mapping[str, Any]) -> str:
    text = f"{bucket['bucket']}: {bucket['remaining']:,} of {bucket['limit']:,} left"
    if bucket["reset_at"]:
        text += f", reset at {_clock_time(bucket['reset_at'])}"
    if bucket["reserve"]:
        text += f"; {bucket['reserve']:,} are kept for people"
    return text


def _tell_growth(growth: Mapping[str, Any]) -> tuple[str, str, str, str]:
    share = growth["share"]
    bar = "no limits" if share is None else f"{draw_bar(share)} {share:.0%}"
    stretched = "" if growth["level"] == "none" else f" ({growth['level']})"
    return (
        f"{growth['pull_requests']:,}",
        f"{growth['points']:,}",
        bar,
        f"{_span(growth['bound_seconds'])} old{stretched}",
    )


def draw_bar(share: float) -> str:
    """Return a bar that is full at the whole budget."""
    full = min(BAR, round(share * BAR))
    return "█" * full + "░" * (BAR - full)


def _tell_limits(account: Mapping[str, Any]) -> Iterator[str]:
    budget = account["budget"]
    if budget is None:
        yield "This server has no limits, or unchanged answers cost nothing."
        return
    assumed = " (assumed)" if budget["assumed"] else ""
    yield (
        f"Of {budget['points']:,} points an hour{assumed} {budget['reserve']:,} are "
        f"kept for people, and others use {budget['others']:,}."
    )
    start, end = account["stretches_from"], account["ends_at"]
    if start is not None:
        yield f"Idle ones are asked less often from {start:,} pull requests on."
    if end is not None:
        yield f"The budget ends at {end:,}, with the longest intervals."


def _number(value: float) -> str:
    return f"{round(value):,}"


def _clock_time(text: str) -> str:
    import datetime as dt  # noqa: PLC0415 - only where a bucket is known

    return dt.datetime.fromisoformat(text).astimezone().strftime("%H:%M:%S")


def _span(seconds: float) -> str:
    import datetime as dt  # noqa: PLC0415 - as above

    from prwatch.domain.timestamp import format_age  # noqa: PLC0415 - goes with it

    return (
        f"{seconds:g} s" if seconds < 120 else format_age(dt.timedelta(seconds=seconds))
    )
