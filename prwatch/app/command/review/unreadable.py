"""Review watches whose rows cannot be understood: told, and removed on request."""

from dataclasses import dataclass
from typing import Any

from prwatch.app.command.workbench import Workbench
from prwatch.domain.review_watch import UnreadableReviewWatch
from prwatch.domain.task import Workspace
from prwatch.errors import ConfigError, PrwatchError
from prwatch.store import review_watches
from prwatch.store.database import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableRow:
    """A review watch whose row cannot be understood, as people see it."""

    workspace: str
    watch: UnreadableReviewWatch

    def as_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        return {
            "id": self.watch.id,
            "name": self.watch.name,
            "workspace": self.workspace,
            "state": "unreadable",
            "last_error": self.watch.problem,
        }


async def list_unreadable(
    bench: Workbench, *, workspace: str = ""
) -> list[UnreadableRow]:
    """
    List the review watches that cannot be read, by workspace and name.

    Raises:
        NotFound: There is no such workspace.
    """
    rows: list[UnreadableRow] = []
    for one in await bench.list_workspaces(workspace):

        async def read(
            tx: Transaction, one: Workspace = one
        ) -> list[UnreadableReviewWatch]:
            return (await review_watches.read_review_watches(tx, one.id))[1]

        rows += [
            UnreadableRow(workspace=one.name, watch=watch)
            for watch in await bench.database.read(read)
        ]
    return rows


async def find_unreadable(
    bench: Workbench, name: str, workspace: str
) -> UnreadableRow | None:
    """
    Return the unreadable review watch of that name, or None.

    Raises:
        ConfigError: Several workspaces have one.
    """
    rows = await list_unreadable(bench, workspace=workspace)
    named = [row for row in rows if row.watch.name == name]
    if len(named) > 1:
        names = ", ".join(row.workspace for row in named)
        raise ConfigError(f"choose one with --workspace: {names}")
    return named[0] if named else None


async def refuse_unreadable(bench: Workbench, name: str, workspace: str) -> None:
    """
    Refuse what needs to know a review watch whose row cannot be read.

    Raises:
        PrwatchError: It is one.
        ConfigError: Several workspaces have one.
    """
    row = await find_unreadable(bench, name, workspace)
    if row is not None:
        raise PrwatchError(
            f"the review watch {name} in {row.workspace}: {row.watch.problem}",
            hint="`prwatch review remove` removes it; the tasks that it made stay",
        )
