"""`prwatch events`: what was said, and what became of it."""

from typing import TYPE_CHECKING

import click

from prwatch.cli.bench import run_on_bench, workspace_option
from prwatch.cli.options import get_options, global_options
from prwatch.cli.output import (
    format_count,
    format_time,
    print_json,
    print_table,
    print_text,
)
from prwatch.domain.events import EventType

if TYPE_CHECKING:
    from prwatch.app.command.workbench import Workbench
    from prwatch.store.events import EventRecord

TYPES = tuple(each.value for each in EventType)


@click.group("events")
@global_options
def command() -> None:
    """Show events, and send dead ones again."""


@command.command("tail")
@click.option(
    "--follow", "-f", "is_following", is_flag=True, help="Go on with what comes."
)
@click.option("--type", "event_type", type=click.Choice(TYPES), help="Only this type.")
@click.option(
    "--limit",
    type=click.IntRange(0, 10_000),
    default=20,
    show_default=True,
    help="How many of those that are there.",
)
@workspace_option
@global_options
@click.pass_context
def tail(
    ctx: click.Context,
    *,
    is_following: bool,
    event_type: str | None,
    limit: int,
    workspace: str,
) -> None:
    """
    Print the newest events, oldest first.

    With --json each is a line of its own, as sinks get it.
    """
    from prwatch.app.command import event_commands  # noqa: PLC0415 - heavy

    which = event_commands.TailFilter(workspace=workspace, type=event_type or "")
    is_json = get_options(ctx).is_json

    async def work(bench: "Workbench") -> None:
        last = await event_commands.find_last_position(bench)
        records = await event_commands.list_recent(bench, which, limit=limit)
        for record in records:
            _print_event(record, is_json=is_json)
        if not records and not is_following and not is_json:
            print_text("There is no event yet.")
        after = max([last, *(record.position for record in records)])
        if is_following:
            async for record in event_commands.follow(bench, which, after=after):
                _print_event(record, is_json=is_json)

    run_on_bench(ctx, work)


@command.command("show")
@click.argument("event", metavar="ID")
@global_options
@click.pass_context
def show(ctx: click.Context, *, event: str) -> None:
    """Show one event, and where it stands at each sink."""
    from prwatch.app.command import event_commands  # noqa: PLC0415 - heavy

    record = run_on_bench(ctx, lambda bench: event_commands.show_event(bench, event))
    if get_options(ctx).is_json:
        deliveries = [event_commands.describe_delivery(d) for d in record.deliveries]
        print_json(
            {
                "event": event_commands.describe_event(record),
                "deliveries": deliveries,
            }
        )
        return
    print_text(f"{record.event.id}\n{record.event.subject}")
    print_text(f"{record.event.type.value}, {format_time(record.event.time)}")
    for line in event_commands.list_changes(record):
        print_text(f"  {line}")
    print_table(
        ("sink", "state", "attempts", "due", "error"),
        [
            (each.sink, each.state.value, each.attempt, each.due_at, each.error)
            for each in record.deliveries
        ],
        empty="No sink wants it.",
    )


@command.command("retry")
@click.argument("event", metavar="ID", required=False)
@click.option("--sink", default="", metavar="NAME", help="Only the delivery to it.")
@click.option("--dead", "is_dead", is_flag=True, help="All dead deliveries.")
@global_options
@click.pass_context
def retry(ctx: click.Context, *, event: str | None, sink: str, is_dead: bool) -> None:
    """
    Send dead deliveries again, of one event or with --dead of all.

    They go with the next delivery, under the ids that they had.
    """
    from prwatch.app.command import event_commands  # noqa: PLC0415 - heavy

    if (event is None) != is_dead:
        raise click.UsageError("give the id of an event, or --dead", ctx)

    async def work(bench: "Workbench") -> int:
        if event is None:
            return await event_commands.retry_dead(bench, sink=sink)
        return await event_commands.retry_event(bench, event, sink=sink)

    count = run_on_bench(ctx, work)
    if get_options(ctx).is_json:
        print_json({"retried": count})
    elif count:
        dead = format_count(count, "dead delivery", "dead deliveries")
        print_text(f"{dead} will be sent again")
    else:
        print_text("no delivery is dead")


def _print_event(record: "EventRecord", *, is_json: bool) -> None:
    from prwatch.app.command.event_commands import describe_event, list_changes  # noqa: PLC0415 - heavy

    if is_json:
        print_json(describe_event(record))
        return
    event = record.event
    changes = "; ".join(list_changes(record))
    print_text(f"{format_time(event.time)}  {event.type.value}  {event.subject}")
    print_text(f"  {changes}  ({event.id})")
