"""`prwatch review`: searches for pull requests that ask for review, and their tasks."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from prwatch.cli.bench import (
    CONFIG_EXIT,
    DURATION,
    PROVIDER_EXIT,
    TITLE,
    run_on_bench,
    run_with_config,
    workspace_option,
)
from prwatch.cli.options import get_options, global_options
from prwatch.cli.output import (
    format_count,
    print_json,
    print_table,
    print_text,
)
from prwatch.cli.review_cleanup import cleanup, restore
from prwatch.cli.review_removed import policy, release
from prwatch.cli.review_show import show
from prwatch.cli.review_turn import tell_next
from prwatch.cli.review_words import GAPS, tell_failure, tell_search, tell_state

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prwatch.app.command.review.listing import ReviewRow
    from prwatch.app.command.review.removed import LeftReviews
    from prwatch.app.command.review.unreadable import UnreadableRow
    from prwatch.app.command.workbench import Workbench

NAME = click.argument("name", metavar="NAME")


@click.group("review")
@global_options
def command() -> None:
    """Find pull requests that ask for review."""


command.add_command(cleanup)
command.add_command(restore)
command.add_command(show)
command.add_command(policy)
command.add_command(release)


def _settings_options(function: "Callable[..., None]") -> "Callable[..., None]":
    """Add the options that choose what a review watch searches for, and how."""
    for option in (
        click.option(
            "--scope",
            type=click.Choice(["user", "user_and_teams"]),
            help="Requests to the person, or to their teams too.",
        ),
        click.option(
            "--repository",
            "repositories",
            multiple=True,
            metavar="OWNER/REPO",
            help="Search only there; may be given again.",
        ),
        click.option(
            "--organisation",
            "organisations",
            multiple=True,
            metavar="LOGIN",
            help="Search only there; may be given again.",
        ),
        click.option(
            "--query", type=TITLE, metavar="QUERY", help="A search of your own."
        ),
        click.option(
            "--login", "target_login", metavar="LOGIN", help="Whose review is asked."
        ),
        click.option(
            "--interval",
            type=DURATION,
            metavar="DURATION",
            help="How often it is searched; 60s at the least.",
        ),
        click.option(
            "--policy",
            type=click.Choice(["auto", "always", "never"]),
            help="When the task of a review that is done goes by itself.",
        ),
        click.option(
            "--enable/--disable", "is_enabled", default=None, help="Search it, or not."
        ),
    ):
        function = option(function)
    return function


@command.command("add")
@NAME
@_settings_options
@workspace_option
@global_options
@click.pass_context
def add(ctx: click.Context, /, *, name: str, workspace: str, **chosen: Any) -> None:
    """Make a review watch."""
    from prwatch.app.command.review.commands import add_review  # noqa: PLC0415 - heavy
    from prwatch.domain.review_watch import ReviewSettings  # noqa: PLC0415 - with it

    settings = ReviewSettings(**_read_changes(chosen))
    row = run_on_bench(
        ctx, lambda bench: add_review(bench, name, settings, workspace=workspace)
    )
    _print_changed(ctx, row, "was added to")


@command.command("edit")
@NAME
@click.option("--anywhere", is_flag=True, help="Search everywhere again.")
@_settings_options
@workspace_option
@global_options
@click.pass_context
def edit(
    ctx: click.Context, /, *, name: str, anywhere: bool, workspace: str, **chosen: Any
) -> None:
    """Change a review watch; what is not given stays."""
    from prwatch.app.command.review.commands import edit_review  # noqa: PLC0415 - heavy

    changes = _read_changes(chosen)
    if anywhere or not {"repositories", "organisations"}.isdisjoint(changes):
        changes = {"repositories": (), "organisations": (), **changes}
    if not changes:
        raise click.UsageError("name at least one thing to change", ctx)
    row = run_on_bench(
        ctx, lambda bench: edit_review(bench, name, changes, workspace=workspace)
    )
    _print_changed(ctx, row, "now has these settings in")


@command.command("remove")
@NAME
@workspace_option
@global_options
@click.pass_context
def remove(ctx: click.Context, *, name: str, workspace: str) -> None:
    """Remove a review watch; the tasks that it made stay."""
    from prwatch.app.command.review.commands import remove_review  # noqa: PLC0415 - heavy

    run_on_bench(ctx, lambda bench: remove_review(bench, name, workspace=workspace))
    if get_options(ctx).is_json:
        print_json({"name": name, "removed": True})
    else:
        print_text(f"the review watch {name} is removed; its tasks stay")


@command.command("list")
@workspace_option
@global_options
@click.pass_context
def list_(ctx: click.Context, *, workspace: str) -> None:
    """List review watches."""
    rows, unreadable, warnings, left = run_on_bench(
        ctx, lambda bench: _read_all(bench, workspace)
    )
    if get_options(ctx).is_json:
        listed = [row.as_json() for row in rows]
        listed += [row.as_json() for row in unreadable]
        print_json(
            {
                "review_watches": listed,
                "removed": [each.as_json() for each in left],
                "warnings": list(warnings),
            }
        )
        return
    _print_all(rows, unreadable)
    for each in left:
        if count := len(each.tasks) + each.unreadable:
            what = f"{format_count(count, 'task')} of removed review watches"
            print_text(f"{each.workspace}: {what}; `prwatch review show --removed`")
    for warning in warnings:
        print_text(warning, err=True)


async def _read_all(
    bench: "Workbench", workspace: str
) -> "tuple[list[ReviewRow], list[UnreadableRow], tuple[str, ...], list[LeftReviews]]":
    from prwatch.app.command.review.conflicts import list_review_conflicts  # noqa: PLC0415 - heavy
    from prwatch.app.command.review.listing import list_reviews  # noqa: PLC0415 - heavy
    from prwatch.app.command.review.removed import list_left  # noqa: PLC0415 - heavy
    from prwatch.app.command.review.unreadable import list_unreadable  # noqa: PLC0415 - heavy

    return (
        await list_reviews(bench, workspace=workspace),
        await list_unreadable(bench, workspace=workspace),
        await list_review_conflicts(bench, workspace=workspace),
        await list_left(bench, workspace=workspace),
    )


def _print_all(
    rows: "Sequence[ReviewRow]", unreadable: "Sequence[UnreadableRow]"
) -> None:
    print_table(
        (
            "name",
            "workspace",
            "from",
            "searches for",
            "policy",
            "tasks",
            "next search",
            "state",
        ),
        [
            (
                row.watch.name,
                row.workspace,
                row.watch.origin.value,
                tell_search(row),
                row.watch.settings.policy.value,
                str(len(row.tasks)),
                tell_next(row.turn),
                tell_state(row),
            )
            for row in rows
        ]
        + [
            (each.watch.name, each.workspace, "", "", "", "", "", each.watch.problem)
            for each in unreadable
        ],
        empty="There is no review watch; `prwatch review add` makes one.",
    )


@command.command("poll")
@click.argument("name", metavar="NAME", required=False, default="")
@workspace_option
@global_options
@click.pass_context
def poll(ctx: click.Context, *, name: str, workspace: str) -> None:
    """
    Search the review watch NAME, or all, now.

    A running daemon does it. Exits with 4 when GitHub did not answer for one, and with
    2 when settings alone are why one was not searched.
    """
    from prwatch.app.command.review.commands import poll_reviews  # noqa: PLC0415 - heavy

    found = run_with_config(
        ctx,
        lambda bench, loaded: poll_reviews(bench, loaded, name, workspace=workspace),
    )
    if get_options(ctx).is_json:
        print_json(found.as_json())
    else:
        if not (found.watches or found.failures):
            print_text("There is no review watch that is searched.")
        for each in found.watches:
            print_text(_tell_poll(each))
            for problem in each["problems"]:
                print_text(f"  {problem}")
        for failure in found.failures:
            print_text(tell_failure(failure), err=True)
    ctx.exit(_find_exit(found.failures))


def _find_exit(failures: "Sequence[Mapping[str, Any]]") -> int:
    # What the settings of a watch or of its account forbid, GitHub was never asked.
    if all(failure["code"] == "config_invalid" for failure in failures):
        return CONFIG_EXIT if failures else 0
    return PROVIDER_EXIT


def _read_changes(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given, as settings have it."""
    from prwatch.domain.review_watch import CleanupPolicy, ReviewScope  # noqa: PLC0415 - heavy

    kinds: dict[str, Callable[[Any], Any]] = {
        "scope": ReviewScope,
        "policy": CleanupPolicy,
    }
    given = {key: each for key, each in chosen.items() if each not in (None, ())}
    return {key: kinds.get(key, lambda x: x)(each) for key, each in given.items()}


def _print_changed(ctx: click.Context, row: "ReviewRow", words: str) -> None:
    if get_options(ctx).is_json:
        print_json(row.as_json())
    else:
        print_text(f"the review watch {row.watch.name} {words} {row.workspace}")


def _tell_poll(outcome: Mapping[str, Any]) -> str:
    parts = [format_count(outcome["hits"], "hit")]
    parts.append(f"{format_count(outcome['created'], 'new task')}")
    if outcome["ended"]:
        parts.append(f"{outcome['ended']} done already")
    if outcome["unasked"]:
        parts.append(f"{outcome['unasked']} not asked for any more")
    if outcome["left"]:
        parts.append(f"{outcome['left']} left to somebody else or to an edit")
    if not outcome["is_complete"]:
        reason = GAPS.get(outcome["incomplete_reason"], "")
        parts.append(f"not complete: {reason}" if reason else "not complete")
    return f"{outcome['name']} in {outcome['workspace']}: {', '.join(parts)}"
