"""`prwatch watch`: what is watched."""

from typing import TYPE_CHECKING, Any

import click

from prwatch.cli.bench import (
    IDENTIFIER,
    PROVIDER_EXIT,
    REFERENCE,
    run_on_bench,
    run_with_config,
    workspace_option,
)
from prwatch.cli.options import get_options, global_options
from prwatch.cli.output import (
    format_age,
    format_count,
    format_time,
    print_json,
    print_lines,
    print_table,
    print_text,
)

if TYPE_CHECKING:
    import datetime as dt

    from prwatch.app.command.check import CheckReport
    from prwatch.app.command.watch_commands import Added
    from prwatch.app.command.watch_row import WatchList, WatchRow
    from prwatch.app.command.workbench import Workbench
    from prwatch.config.loader import LoadedConfig


@click.group("watch")
@global_options
def command() -> None:
    """
    Manage what is watched.

    REF is a pull request's URL, owner/repo#123, owner/repo@branch (of a fork:
    owner/repo@me/fork:branch), owner/repo for all open pull requests, or the id of a
    watch or its beginning. Without REF the branch of the current folder is meant.
    """


@command.command("add")
@click.argument("ref", type=REFERENCE, required=False)
@click.option(
    "--all", "is_all", is_flag=True, help="Every open pull request of the repository."
)
@click.option("--task", type=IDENTIFIER, metavar="ID", help="The task it is for.")
@workspace_option
@global_options
@click.pass_context
def add(
    ctx: click.Context, *, ref: Any, is_all: bool, task: str | None, workspace: str
) -> None:
    """Watch a pull request, a branch, or a repository."""
    from prwatch.app.command.references import NamedRepository, NamedWatch  # noqa: PLC0415 - heavy
    from prwatch.app.command.watch_commands import add_adoption, add_watch  # noqa: PLC0415 - heavy

    if isinstance(ref, NamedWatch):
        raise click.UsageError("the id of a watch names what is watched already", ctx)

    async def work(bench: "Workbench") -> "Added":
        named = ref or await _find_current(ctx, bench, workspace)
        if is_all or isinstance(named, NamedRepository):
            if task:
                raise click.UsageError("each pull request gets a task of its own", ctx)
            place = NamedRepository(owner=named.owner, name=named.name, host=named.host)
            return await add_adoption(bench, place, workspace=workspace)
        return await add_watch(bench, named, workspace=workspace, task=task or "")

    added = run_on_bench(ctx, work)
    if get_options(ctx).is_json:
        print_json(added.as_json())
        return
    words = "now watched" if added.is_new else "watched already"
    print_text(f"{added.reference} is {words} in {added.workspace}")
    if added.note:
        print_text(added.note)


@command.command("list")
@click.option(
    "--all", "is_all", is_flag=True, help="Also what is finished, detached, archived."
)
@workspace_option
@global_options
@click.pass_context
def list_(ctx: click.Context, *, is_all: bool, workspace: str) -> None:
    """List what is watched, with its state."""
    from prwatch.app.command.watch_listing import list_watches  # noqa: PLC0415 - heavy

    async def work(bench: "Workbench") -> "tuple[WatchList, dt.datetime]":
        listed = await list_watches(bench, workspace=workspace, is_all=is_all)
        return listed, bench.surroundings.clock.now()

    listed, now = run_on_bench(ctx, work)
    if get_options(ctx).is_json:
        print_json(listed.as_json())
        return
    columns = ("reference", "state", "checks", "review", "title", "task", "last change")
    print_table(
        columns,
        [
            (
                row.reference,
                tell_state(row),
                words and words.checks.short,
                words and words.review.short,
                row.read("title"),
                row.task,
                tell_age(row.observed_at, now),
            )
            for row, words in ((row, row.words) for row in listed.watches)
        ],
        empty="Nothing is watched; `prwatch watch add` watches the current branch.",
    )
    for adoption in listed.adoptions:
        print_text(f"all open pull requests of {adoption.reference} are watched")


@command.command("show")
@click.argument("ref", type=REFERENCE, required=False)
@workspace_option
@global_options
@click.pass_context
def show(ctx: click.Context, *, ref: Any, workspace: str) -> None:
    """Show one watch: its state, its verdicts and how old they are."""

    async def work(bench: "Workbench") -> "tuple[tuple[WatchRow, ...], dt.datetime]":
        rows = await _find(ctx, bench, ref, workspace)
        return rows, bench.surroundings.clock.now()

    rows, now = run_on_bench(ctx, work)
    if get_options(ctx).is_json:
        print_json({"watches": [row.as_json() for row in rows]})
        return
    for index, row in enumerate(rows):
        print_lines([""] * bool(index) + _describe(row, now))


@command.command("check")
@click.argument("ref", type=REFERENCE, required=False)
@click.option(
    "--direct", "is_direct", is_flag=True, help="Look from here, also beside a daemon."
)
@workspace_option
@global_options
@click.pass_context
def check(ctx: click.Context, *, ref: Any, is_direct: bool, workspace: str) -> None:
    """
    Look at one watch now, and tell what changed.

    A running daemon does it; without one it is done here, deliveries included. Exits
    with 4 when GitHub did not answer.
    """

    async def work(bench: "Workbench", loaded: "LoadedConfig") -> Any:
        rows = await _find(ctx, bench, ref, workspace)
        reports = await _check(bench, loaded, rows, is_direct=is_direct)
        return reports, await _find(ctx, bench, ref, workspace)

    reports, rows = run_with_config(ctx, work)
    failures = [failure for report in reports for failure in report.failures]
    if get_options(ctx).is_json:
        print_json(
            {
                "checks": [report.as_json() for report in reports],
                "watches": [row.as_json() for row in rows],
            }
        )
    else:
        _print_check(reports, rows)
    ctx.exit(PROVIDER_EXIT if failures else 0)


@command.command("remove")
@click.argument("ref", type=REFERENCE, required=False)
@workspace_option
@global_options
@click.pass_context
def remove(ctx: click.Context, *, ref: Any, workspace: str) -> None:
    """Stop watching a pull request, a branch or a repository."""
    from prwatch.app.command.watch_commands import remove_watch  # noqa: PLC0415 - heavy

    async def work(bench: "Workbench") -> Any:
        named = ref or await _find_current(ctx, bench, workspace)
        return await remove_watch(bench, named, workspace=workspace)

    removed = run_on_bench(ctx, work)
    if get_options(ctx).is_json:
        print_json(removed.as_json())
    else:
        print_text("\n".join(removed.done))


def tell_state(row: "WatchRow") -> str:
    """Return the state in a word or two."""
    if row.is_archived:
        return f"{row.state}, task archived"
    return "draft" if row.state == "OPEN" and row.read("is_draft") else row.state


def tell_age(moment: "dt.datetime | None", now: "dt.datetime") -> str | None:
    """Return how long ago it was."""
    return f"{format_age(now - moment)} ago" if moment else None


async def _find_current(ctx: click.Context, bench: "Workbench", workspace: str) -> Any:
    from prwatch.app.command.current_checkout import find_current_branch  # noqa: PLC0415 - heavy

    chosen = await bench.get_workspace(workspace)
    host, options = bench.get_host(chosen.name), get_options(ctx)
    return await find_current_branch(options.cwd, host, options.environ)


async def _find(
    ctx: click.Context, bench: "Workbench", ref: Any, workspace: str
) -> "tuple[WatchRow, ...]":
    from prwatch.app.command.watch_listing import find_watches  # noqa: PLC0415 - heavy

    named = ref or await _find_current(ctx, bench, workspace)
    return await find_watches(bench, named, workspace=workspace)


async def _check(
    bench: "Workbench",
    loaded: "LoadedConfig",
    rows: "tuple[WatchRow, ...]",
    *,
    is_direct: bool,
) -> "tuple[CheckReport, ...]":
    from prwatch.app.command.check import check_and_deliver, request_check  # noqa: PLC0415 - heavy
    from prwatch.app.runtime import open_runtime  # noqa: PLC0415 - heavy

    ids = [row.id for row in rows if row.id]
    if not is_direct and bench.find_daemon() is not None:
        asked = [await request_check(bench, each) for each in ids]
        answered = tuple(report for report in asked if report is not None)
        if len(answered) == len(ids):
            return answered
    async with open_runtime(loaded, bench.surroundings) as runtime:
        return await check_and_deliver(runtime, ids)


def _print_check(
    reports: "tuple[CheckReport, ...]", rows: "tuple[WatchRow, ...]"
) -> None:
    events = sum(sum(report.events.values()) for report in reports)
    requests = sum(report.requests for report in reports)
    changed = f"wrote {format_count(events, 'event')}" if events else "nothing changed"
    print_text(f"{changed}; asked GitHub {format_count(requests, 'time')}")
    for row in rows:
        words, told = row.words, [tell_state(row)]
        if words is not None:
            told += [f"checks {words.checks.short}", f"review {words.review.short}"]
        print_text(f"{row.reference}: {', '.join(told)}")
    for report in reports:
        for failure in report.failures:
            print_text(f"{failure['reference']}: {failure['message']}", err=True)


def _describe(row: "WatchRow", now: "dt.datetime") -> list[str]:
    head, words = str(row.read("head_ref_oid") or ""), row.words
    facts: list[tuple[str, object]] = [
        ("watch", row.id or "none any more"),
        ("workspace", row.workspace),
        ("task", f"{row.task} ({row.origin.value})"),
        ("state", tell_state(row)),
        ("title", row.read("title")),
        ("url", row.read("url")),
        ("branch", row.branch or row.read("head_ref_name")),
        ("head", head[:10]),
        ("checks", row.read("checks")),
        ("", words and words.checks.text),
        *(("", note) for note in row.notes),
        ("review", row.read("review")),
        ("", words and words.review.text),
        ("decision", row.read("review_decision")),
        ("mergeable", row.read("mergeable")),
        ("", words and words.merge.text),
        ("last change", _tell_moment(row.observed_at, now)),
        ("last sign", _tell_moment(row.last_sign_at, now)),
        ("revision", row.revision or None),
    ]
    lines = [row.reference]
    lines += [f"  {name:<12}{value}" for name, value in facts if value]
    if row.companions:
        others = ", ".join(f"#{number}" for number in row.companions)
        lines.append(f"  this branch has several pull requests: also {others}")
    if row.state == "resting":
        lines.append("  it rests until something moves; `prwatch watch check` wakes it")
    return lines


def _tell_moment(moment: "dt.datetime | None", now: "dt.datetime") -> str | None:
    return f"{format_time(moment)}, {tell_age(moment, now)}" if moment else None
