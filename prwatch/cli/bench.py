"""What the commands share that work on the store: opening it, and typed references."""

import functools
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from prwatch.cli.options import get_options, load, run_async

if TYPE_CHECKING:
    from prwatch.app.command.workbench import Workbench
    from prwatch.config.loader import LoadedConfig

T = TypeVar("T")
PROVIDER_EXIT: Final = 4
"""The exit code of what GitHub did not answer, or not in full."""
CONFIG_EXIT: Final = 2
STORE_EXIT: Final = 3

workspace_option = click.option(
    "--workspace", default="", metavar="NAME", help="The workspace that is meant."
)


class Typed(click.ParamType[Any]):
    """A value that is read by one of the product's parsers, imported when needed."""

    def __init__(self, name: str, kind: str) -> None:
        self.name = name
        self._kind = kind

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        """Return what was read, or end with a usage error that says what is allowed."""
        if not isinstance(value, str):
            return value
        try:
            return _find_parser(self._kind)(value)
        except ValueError as error:
            return self.fail(str(error), param, ctx)


REFERENCE = Typed("reference", "reference")
PULL_REQUEST = Typed("pull request", "pull_request")
BRANCH = Typed("branch", "branch")
IDENTIFIER = Typed("id", "id")
TITLE = Typed("title", "title")
REASON = Typed("reason", "reason")
DURATION = Typed("duration", "duration")


def _find_parser(kind: str) -> Callable[[str], Any]:
    from prwatch.app.command import references, task_edit  # noqa: PLC0415 - heavy
    from prwatch.config.durations import parse_duration  # noqa: PLC0415 - goes with it

    parsers: dict[str, Callable[[str], Any]] = {
        "reference": references.parse_reference,
        "pull_request": references.parse_pull_request,
        "branch": references.parse_branch,
        "id": task_edit.check_id,
        "title": task_edit.check_title,
        "reason": task_edit.check_reason,
        "duration": parse_duration,
    }
    return parsers[kind]


def run_on_bench(ctx: click.Context, work: "Callable[[Workbench], Awaitable[T]]") -> T:
    """Open the configured store, do the work, and return its result."""
    return run_with_config(ctx, lambda bench, _: work(bench))


def run_with_config(
    ctx: click.Context,
    work: "Callable[[Workbench, LoadedConfig], Awaitable[T]]",
    *,
    level: str = "warning",
) -> T:
    """
    Do the same for work that also needs the whole configuration.

    Logs go to stderr, from `level` on; '' is what the configuration says. Sinks of
    kind stdout write there too under `--json`, so that the object stands alone.
    """
    import sys  # noqa: PLC0415 - goes with the rest

    from prwatch.app.command.workbench import open_workbench  # noqa: PLC0415 - heavy
    from prwatch.cli.logs import start_logging  # noqa: PLC0415 - heavy
    from prwatch.cli.surroundings import build_surroundings  # noqa: PLC0415 - heavy

    loaded = load(ctx)
    start_logging(ctx, loaded, level=level)
    stdout = sys.stderr.buffer if get_options(ctx).is_json else None
    surroundings = build_surroundings(ctx, stdout=stdout)

    async def run() -> T:
        async with open_workbench(loaded, surroundings) as bench:
            return await work(bench, loaded)

    return run_async(functools.partial(run))
