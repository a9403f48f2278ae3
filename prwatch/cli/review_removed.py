"""`prwatch review policy` and `release`: tasks whose review watch is removed."""

import click

from prwatch.cli.bench import run_on_bench, workspace_option
from prwatch.cli.options import get_options, global_options
from prwatch.cli.output import print_json, print_text


@click.command("policy")
@click.argument("name", metavar="ID")
@click.argument(
    "wanted", metavar="POLICY", type=click.Choice(["auto", "always", "never"])
)
@workspace_option
@global_options
@click.pass_context
def policy(ctx: click.Context, *, name: str, wanted: str, workspace: str) -> None:
    """
    Choose anew when the task ID goes, which a removed review watch left.

    Review watches that are there and have it too still say what they say: the most
    cautious counts.
    """
    from prwatch.app.command.review.removed import put_policy  # noqa: PLC0415 - heavy
    from prwatch.domain.review_watch import CleanupPolicy  # noqa: PLC0415 - with it

    left = run_on_bench(
        ctx,
        lambda bench: put_policy(
            bench, name, CleanupPolicy(wanted), workspace=workspace
        ),
    )
    if get_options(ctx).is_json:
        print_json(left.as_json())
    else:
        print_text(f"{name} in {left.workspace} is cleaned up {left.policy.value}")


@click.command("release")
@click.argument("name", metavar="ID")
@workspace_option
@global_options
@click.pass_context
def release(ctx: click.Context, *, name: str, workspace: str) -> None:
    """
    Take over the task ID, which a removed review watch left.

    It is yours from then on: cleaning up leaves it alone.
    """
    from prwatch.app.command.review.removed import release_task  # noqa: PLC0415 - heavy

    place = run_on_bench(
        ctx, lambda bench: release_task(bench, name, workspace=workspace)
    )
    if get_options(ctx).is_json:
        print_json({"id": name, "workspace": place, "released": True})
    else:
        print_text(f"{name} in {place} is yours; cleaning up leaves it alone")
