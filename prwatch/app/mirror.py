"""
The stored rows of all workspaces, held in memory between cycles.

Reading ten thousand watches costs as much as asking GitHub for them, so the store
is read again only when somebody committed since.
"""

from prwatch.app.workspace_view import WorkspaceView
from prwatch.domain.task import Workspace
from prwatch.store import tasks
from prwatch.store.database import Database, Transaction


class Mirror:
    """A cache of workspace views that knows when it is out of date."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._token: int | None = None
        self._views: dict[str, WorkspaceView] = {}

    async def refresh(self) -> None:
        """Forget every view if the store was written since it was read."""
        token = await self._database.change_token()
        if token != self._token:
            self._token = token
            self._views.clear()

    def forget(self) -> None:
        """Forget every view, whatever the store says."""
        self._token = None
        self._views.clear()

    async def view(self, workspace: Workspace) -> WorkspaceView:
        """Return the workspace as it was at the last refresh, or newer."""
        found = self._views.get(workspace.id)
        if found is None:

            async def load(tx: Transaction) -> WorkspaceView:
                return WorkspaceView(
                    await tasks.load_snapshot(tx, workspace.id, is_for_polling=True)
                )

            found = await self._database.read(load)
            self._views[workspace.id] = found
        return found
