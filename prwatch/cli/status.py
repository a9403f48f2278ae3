"""`prwatch status`: how things stand, and how old what is shown is."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from prwatch.cli.bench import run_on_bench
from prwatch.cli.options import get_options, global_options
from prwatch.cli.output import (
    format_age,
    format_time,
    print_json,
    print_table,
    print_text,
)

if TYPE_CHECKING:
    from prwatch.app.command.status import Status, WorkspaceStatus

DELIVERY_STATES = ("pending", "acquired", "delivered", "dropped", "dead")


@click.command("status")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="How many pull requests of each kind are named.",
)
@global_options
@click.pass_context
def command(ctx: click.Context, *, limit: int) -> None:
    """
    Show what pull requests need, watches, failures and deliveries.

    What needs a person comes first, and what has waited longest. Asks the daemon when
    one runs; without one it shows what the store knows.
    """
    from prwatch.app.command.status import read_status  # noqa: PLC0415 - heavy

    status = run_on_bench(ctx, lambda bench: read_status(bench, limit=limit))
    if get_options(ctx).is_json:
        print_json(status.as_json())
    else:
        print_status(status)


def print_status(status: "Status") -> None:
    """Print the daemon, the workspaces, the sinks, and what is wrong."""
    print_text("\n".join(_tell_daemon(status)))
    print_table(
        ("workspace", "watches", "checks", "review", "last change"),
        [
            (
                each.name if each.is_configured else f"{each.name} (not configured)",
                _tell_watches(each),
                _join(each.checks),
                _join(each.review),
                each.observed_at,
            )
            for each in status.workspaces
        ],
        empty="No workspace is configured; `prwatch init` writes a configuration.",
    )
    _print_needs(status)
    print_table(
        ("sink", *DELIVERY_STATES),
        [
            (
                each.name if each.is_configured else f"{each.name} (not configured)",
                *(each.as_json()[state] for state in DELIVERY_STATES),
            )
            for each in status.sinks
        ],
    )
    for block in status.blocks:
        until = format_time(block.blocked_until)
        print_text(
            f"GitHub refuses calls to its {block.bucket} interface until {until}"
        )
    for workspace in status.workspaces:
        for each in workspace.unreadable:
            print_text(f"{workspace.name}: {each.text}; {each.remedy}")
    for line in _tell_failures(status):
        print_text(line)


def _print_needs(status: "Status") -> None:
    """Print the pull requests by what they need, and how many are not named."""
    print_table(
        ("status", "pull request", "because", "for", "title"),
        [
            (
                group.need.value.replace("_", " "),
                row.reference,
                row.words.reason,
                row.observed_at and format_age(status.at - row.observed_at),
                row.title,
            )
            for group in status.needs
            for row in group.rows
        ],
    )
    more = [
        f"{left} {group.need.value.replace('_', ' ')}"
        for group in status.needs
        if (left := group.count - len(group.rows))
    ]
    if more:
        print_text(f"And {', '.join(more)}; `prwatch watch list` names all.")


def _tell_daemon(status: "Status") -> Iterator[str]:
    daemon = status.daemon
    if daemon is None:
        yield "No daemon runs."
        if status.known_at is None:
            yield "The store knows of no change yet."
        else:
            age = format_age(status.at - status.known_at)
            yield f"This is what the store knows; its newest fact is {age} old."
        return
    yield f"The daemon runs with pid {daemon.pid}."
    if daemon.facts is None:
        yield f"It does not answer ({daemon.problem}); this is what the store knows."
        return
    cycle = daemon.facts.get("last_cycle")
    if isinstance(cycle, Mapping) and cycle.get("finished_at"):
        yield f"Its last cycle ended {_tell_time(cycle['finished_at'], status)}."
    for name, loop in _items(daemon.facts.get("loops")):
        state = loop.get("state", "")
        failures = loop.get("consecutive_failures")
        if state not in {"running", "starting"} or failures:
            error = loop.get("last_error") or {}
            reason = error.get("message", "") if isinstance(error, Mapping) else error
            yield f"  loop {name}: {state}, failures in a row: {failures} {reason}"


def _tell_time(text: object, status: "Status") -> str:
    import datetime as dt  # noqa: PLC0415 - only where a daemon answers

    moment = dt.datetime.fromisoformat(str(text))
    return f"{format_age(status.at - moment)} ago"


def _tell_failures(status: "Status") -> Iterator[str]:
    facts = status.daemon.facts if status.daemon else None
    cycle = facts.get("last_cycle") if facts else None
    failures = cycle.get("failures") if isinstance(cycle, Mapping) else None
    yield from (facts or {}).get("worktree_problems", ())
    yield from (facts or {}).get("stretched", ())
    for failure in failures or ():
        reference = failure.get("reference") or failure.get("scope")
        remedy = failure.get("remedy")
        text = f"{failure['workspace']}: {reference}: {failure['message']}"
        yield f"{text}; {remedy}" if remedy else text


def _tell_watches(workspace: "WorkspaceStatus") -> str:
    words = {state.lower(): count for state, count in workspace.watches.items()}
    if workspace.adoptions:
        words["repositories"] = workspace.adoptions
    return _join(words)


def _join(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count)


def _items(value: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            if isinstance(each, Mapping):
                yield str(name), each
