"""The stored rows of repositories, following what GitHub says about them."""

from prwatch.app.walk.cycle import Cycle
from prwatch.app.workspace_view import WorkspaceView
from prwatch.domain.ids import build_id
from prwatch.domain.pull_request import Observation, RepositoryName
from prwatch.domain.reference import RepositoryFacts
from prwatch.domain.repository_facts import follow_facts, follow_name
from prwatch.domain.task import Repository
from prwatch.store import repositories
from prwatch.store.database import Transaction


class ViewOutdated(Exception):
    """Two rows turned out to be one repository: the cycle must look anew."""


async def put_facts(
    cycle: Cycle, view: WorkspaceView, asked: str, facts: RepositoryFacts
) -> None:
    """
    Write what an answer says about a repository, when that is news.

    `asked` is the `owner/name` that was asked for: GitHub may answer under another,
    because the repository was renamed. The view learns it too, so that one cycle
    writes it once.

    Raises:
        ViewOutdated: The workspace has that repository under both names.
    """
    stored = view.find_repository(RepositoryName(*asked.split("/", 1)))
    stored = stored or view.find_repository(facts.repository)
    if stored is None:
        return
    followed = follow_facts(stored, facts)
    if followed == stored:
        return
    view.learn_repository(await _write(cycle, followed))


async def follow_observation(
    cycle: Cycle, view: WorkspaceView, stored: Repository, seen: Observation
) -> None:
    """Let a stored repository follow what a reading of its pull request shows."""
    followed = follow_name(stored, seen.repository, is_archived=seen.is_archived)
    if followed != stored:
        view.learn_repository(await _write(cycle, followed))


async def put_repository(
    cycle: Cycle, view: WorkspaceView, shown: RepositoryName
) -> Repository:
    """Return the workspace's row of a repository, added when there is none."""
    found = view.find_repository(shown)
    if found is not None:
        return found
    new = Repository(
        id=build_id(cycle.now(), cycle.chance),
        workspace_id=view.workspace.id,
        host=view.host,
        owner=shown.owner,
        name=shown.name,
        node_id=shown.node_id,
    )

    async def write(tx: Transaction) -> Repository:
        if await repositories.add_repository(tx, new):
            return new
        return await repositories.put_repository_facts(tx, new)

    row = await cycle.database.transact(write)
    view.learn_repository(row)
    return row


async def _write(cycle: Cycle, followed: Repository) -> Repository:
    async def write(tx: Transaction) -> Repository:
        return await repositories.put_repository_facts(tx, followed)

    row = await cycle.database.transact(write)
    if row.id != followed.id:
        cycle.mirror.forget()
        raise ViewOutdated(followed.name_with_owner)
    return row
