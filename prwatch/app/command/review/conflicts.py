"""Review watches that are declared under a name which another one has."""

from collections.abc import Sequence

from prwatch.app.command.workbench import Workbench
from prwatch.app.review.declared import warn_of_taken
from prwatch.app.sync.declared import load_folders, unite_rows
from prwatch.config.review import list_desired_reviews
from prwatch.domain.review_watch_plan import DesiredReviewWatch, list_taken
from prwatch.domain.task import Origin, Workspace
from prwatch.errors import ConfigError
from prwatch.store import review_watches
from prwatch.store.database import Transaction


async def list_review_conflicts(
    bench: Workbench, *, workspace: str = ""
) -> tuple[str, ...]:
    """
    Return a warning for each declared name that another one has, with what to do.

    Raises:
        NotFound: There is no such workspace.
    """
    configured = list_desired_reviews(bench.config)
    warnings: list[str] = []
    for one in await bench.list_workspaces(workspace):
        ours = configured.get(one.name, ())
        warnings += await _list_taken(bench, one, ours, Origin.CONFIG)
        rows = await load_folders(bench.database, one)
        try:
            declared = unite_rows(bench.config, one, rows).reviews
        except ConfigError as error:
            warnings += error.problems
            continue
        warnings += await list_declared_conflicts(bench, one, declared)
    return tuple(dict.fromkeys(warnings))


async def list_declared_conflicts(
    bench: Workbench, workspace: Workspace, declared: Sequence[DesiredReviewWatch]
) -> list[str]:
    """Return a warning for each name in watch files that another source's watch has."""
    return await _list_taken(bench, workspace, declared, Origin.WATCH_FILE)


async def _list_taken(
    bench: Workbench,
    workspace: Workspace,
    declared: Sequence[DesiredReviewWatch],
    origin: Origin,
) -> list[str]:
    if not declared:
        return []

    async def read(tx: Transaction) -> list[str]:
        stored = await review_watches.list_review_watches(tx, workspace.id)
        return [
            warn_of_taken(each) for each in list_taken(declared, stored, origin=origin)
        ]

    return await bench.database.read(read)
