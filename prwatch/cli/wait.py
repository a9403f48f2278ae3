"""`prwatch wait`: blocks until checks, review or merge are decided."""

import datetime as dt
import sys
from typing import TYPE_CHECKING, Any

import click

from prwatch.cli.bench import DURATION, PULL_REQUEST, run_with_config, workspace_option
from prwatch.cli.options import get_options, global_options
from prwatch.cli.output import format_age, is_terminal, print_json, print_text

if TYPE_CHECKING:
    from prwatch.app.command.wait import Sight, WaitResult
    from prwatch.app.command.workbench import Workbench
    from prwatch.config.loader import LoadedConfig

GOALS = ("checks", "review", "merged")
EXIT_CODES = {"reached": 0, "failed": 1, "timed_out": 124}
"""124 is what timeout(1) of the GNU coreutils ends with."""


@click.command("wait")
@click.argument("pull_request", type=PULL_REQUEST, metavar="PR")
@click.option(
    "--for",
    "goal",
    type=click.Choice(GOALS),
    default="checks",
    show_default=True,
    help="What is to be decided.",
)
@click.option(
    "--timeout",
    "limit",
    type=DURATION,
    default="30m",
    show_default=True,
    help="How long at most.",
)
@workspace_option
@global_options
@click.pass_context
def command(
    ctx: click.Context,
    *,
    pull_request: Any,
    goal: str,
    limit: dt.timedelta,
    workspace: str,
) -> None:
    """
    Block until checks, review or merge of a pull request are decided.

    Exits with 0 when it succeeded, 1 when it failed or was closed without a merge,
    and 124 when the time is over. What is not watched is read, and not stored.
    """
    from prwatch.app.command.wait import Goal, open_waiter  # noqa: PLC0415 - heavy

    teller = _Teller(goal)

    async def work(bench: "Workbench", loaded: "LoadedConfig") -> "WaitResult":
        async with open_waiter(
            bench, loaded, pull_request, Goal(goal), workspace=workspace
        ) as waiter:
            waiter.on_look = teller.tell
            return await waiter.run(limit)

    # What is seen on the way is logged at info where nobody watches a terminal.
    result = run_with_config(ctx, work, level="")
    if get_options(ctx).is_json:
        print_json(result.as_json())
    else:
        print_text(_summarise(result))
    ctx.exit(EXIT_CODES[result.verdict.value])


class _Teller:
    """Says on stderr what was seen: each time it is news."""

    def __init__(self, goal: str) -> None:
        self._goal = goal
        self._told = ""

    def tell(self, seen: "Sight | None", problem: str) -> None:
        """Tell what one look has shown, unless the last one showed the same."""
        text = problem
        if seen is not None:
            text = _tell(seen)
        if text == self._told:
            return
        self._told = text
        if is_terminal(sys.stderr):
            print_text(f"waiting for {self._goal}: {text}", err=True)
        else:
            import structlog  # noqa: PLC0415 - heavy

            structlog.get_logger().info("wait.observed", goal=self._goal, seen=text)


def _tell(seen: "Sight") -> str:
    words, state = seen.words, seen.pull_request["state"]
    return f"{state}, checks {words.checks.short}, review {words.review.short}"


def _summarise(result: "WaitResult") -> str:
    words = {
        "reached": f"{result.goal.value} decided: good",
        "failed": f"{result.goal.value} decided: failed",
        "timed_out": f"{result.goal.value} not decided in time",
    }[result.verdict.value]
    seen = f" ({_tell(result.seen)})" if result.seen else ""
    problem = f"; {result.problem}" if result.problem else ""
    waited = format_age(result.waited)
    return f"{result.reference}: {words} after {waited}{seen}{problem}"
