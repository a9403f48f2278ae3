"""`prwatch review cleanup` and `restore`: review tasks that go, and come back."""

import click

from prwatch.cli.bench import (
    PROVIDER_EXIT,
    STORE_EXIT,
    run_on_bench,
    run_with_config,
    workspace_option,
)
from prwatch.cli.options import get_options, global_options
from prwatch.cli.output import format_count, print_json, print_text
from prwatch.cli.review_words import tell_failure, tell_finding


@click.command("cleanup")
@click.argument("name", metavar="WATCH", required=False, default="")
@click.option("--dry-run", "is_dry", is_flag=True, help="Show what would go.")
@workspace_option
@global_options
@click.pass_context
def cleanup(ctx: click.Context, *, name: str, is_dry: bool, workspace: str) -> None:
    """
    Remove review tasks whose work is done: those of WATCH, or all.

    A running daemon does it. What proves that a task is done is the same as ever.
    Exits with 4 when GitHub did not answer for one, with 3 when the store failed.
    """
    from prwatch.app.command.review.cleanup import clean_reviews  # noqa: PLC0415 - heavy

    answer = run_with_config(
        ctx,
        lambda bench, loaded: clean_reviews(
            bench, loaded, name, workspace=workspace, is_dry=is_dry
        ),
    )
    if get_options(ctx).is_json:
        print_json(answer.as_plan() if is_dry else answer.as_json())
    elif is_dry:
        for finding in answer.findings:
            print_text(tell_finding(finding))
    else:
        print_text(f"{format_count(answer.deleted, 'review task')} removed")
    for failure in answer.failures:
        print_text(tell_failure(failure), err=True)
    code = STORE_EXIT if answer.has_store_failed else PROVIDER_EXIT
    ctx.exit(code if answer.failures else 0)


@click.command("restore")
@click.argument("name", metavar="ID")
@workspace_option
@global_options
@click.pass_context
def restore(ctx: click.Context, *, name: str, workspace: str) -> None:
    """
    Bring back the review task ID, which is yours from then on.

    ID is the task's name, or the id of an entry of the record.
    """
    from prwatch.app.command.review.restore import restore_review  # noqa: PLC0415 - heavy

    restored = run_on_bench(
        ctx, lambda bench: restore_review(bench, name, workspace=workspace)
    )
    if get_options(ctx).is_json:
        print_json(restored.as_json())
    else:
        print_text(f"{restored.external_id} is back in {restored.workspace}")
