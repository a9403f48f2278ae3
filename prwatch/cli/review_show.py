"""`prwatch review show`: one review watch with its tasks, or what removed ones left."""

from typing import TYPE_CHECKING

import click

from prwatch.cli.bench import run_on_bench, workspace_option
from prwatch.cli.options import get_options, global_options
from prwatch.cli.output import format_count, format_time, print_json, print_lines
from prwatch.cli.review_turn import describe_turn
from prwatch.cli.review_words import GAPS, tell_evidence, tell_search, tell_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prwatch.app.command.review.listing import ReviewRow, ReviewTaskRow
    from prwatch.app.command.review.removed import LeftReviews
    from prwatch.domain.review_watch import ReviewAudit


@click.command("show")
@click.argument("name", metavar="NAME", required=False, default="")
@click.option("--removed", is_flag=True, help="Show what removed ones left instead.")
@workspace_option
@global_options
@click.pass_context
def show(ctx: click.Context, *, name: str, removed: bool, workspace: str) -> None:
    """Show one review watch with its tasks, or what removed ones left."""
    from prwatch.app.command.review.listing import show_review  # noqa: PLC0415 - heavy
    from prwatch.app.command.review.removed import list_left  # noqa: PLC0415 - heavy

    if removed == bool(name):
        raise click.UsageError("give either NAME or --removed", ctx)
    if removed:
        left = run_on_bench(ctx, lambda bench: list_left(bench, workspace=workspace))
        if get_options(ctx).is_json:
            print_json({"removed": [each.as_json() for each in left]})
        else:
            print_lines(_describe_left(left))
        return
    row = run_on_bench(ctx, lambda bench: show_review(bench, name, workspace=workspace))
    if get_options(ctx).is_json:
        print_json(row.as_json())
    else:
        print_lines(_describe(row))


def _describe(row: "ReviewRow") -> "Iterator[str]":
    watch, settings = row.watch, row.watch.settings
    yield f"{watch.name}  {tell_search(row)}"
    origin = watch.written_as or watch.origin.value
    yield f"  workspace {row.workspace}, from {origin}, {row.state}"
    seconds = int(settings.interval.total_seconds())
    yield f"  searched every {seconds} s, cleaned up {settings.policy.value}"
    yield from describe_turn(row.turn)
    if watch.last_error:
        yield f"  {watch.last_error}"
    if watch.incomplete_since:
        since = format_time(watch.incomplete_since)
        why = GAPS.get(watch.incomplete_reason or "", "")
        yield f"  not complete since {since}" + (f": {why}" if why else "")
    if row.unreadable:
        yield f"  {format_count(row.unreadable, 'row')} of its tasks cannot be read"
    for task in row.tasks:
        yield f"  {task.id} {_tell_task(task)} {task.title}".rstrip()
    yield from map(_tell_entry, row.audit)


def _describe_left(left: "Sequence[LeftReviews]") -> "Iterator[str]":
    if not left:
        yield "No removed review watch left a task."
    for one in left:
        yield f"removed review watches in {one.workspace}"
        if one.unreadable:
            yield f"  {format_count(one.unreadable, 'row')} of theirs cannot be read"
        for each in one.tasks:
            told = _tell_task(each.task, policy=each.policy.value)
            yield f"  {each.task.id} {told} {each.task.title}".rstrip()
        yield from map(_tell_entry, one.audit)


def _tell_entry(entry: "ReviewAudit") -> str:
    moment = format_time(entry.acted_at)
    told = f"  {moment} {entry.external_id} {entry.action.value}: {entry.reason}"
    if entry.undo_until:
        told += f", can be restored until {format_time(entry.undo_until)}"
    return told


def _tell_task(task: "ReviewTaskRow", *, policy: str = "") -> str:
    told = [task.state, policy] if policy else [task.state]
    if task.person_wrote_at:
        told.append("a person wrote in it")
    if task.waits_for:
        told.append(f"waits for {task.waits_for}")
    elif task.kept and not task.person_wrote_at:
        until = f" until {tell_time(task.kept_until)}" if task.kept_until else ""
        told.append(f"kept: {task.kept.replace('_', ' ')}{until}")
    if task.evidence:
        told.append(tell_evidence(task.evidence))
    return f"({', '.join(told)})"
