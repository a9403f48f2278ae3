"""Rows of repositories; two rows that turn out to be one repository become one."""

from dataclasses import replace

from prwatch.domain.task import Repository
from prwatch.errors import StoreConflict
from prwatch.store.database import Row, Transaction, Value
from prwatch.store.query import load_queries
from prwatch.store.task_pull_requests import merge_into_repository
from prwatch.store.watches import put_back, take_watches_of_repository

_QUERIES = load_queries("repositories")

# Each is copied where the survivor has no row of its own, then removed.
_HANGING = ("task_repositories", "links", "checkouts", "repository_watches")


async def list_repositories(tx: Transaction, workspace_id: str) -> list[Repository]:
    """Return the repositories of a workspace, by id."""
    rows = await tx.fetch(_QUERIES["list_repositories"], workspace_id=workspace_id)
    return [_to_repository(row) for row in rows]


async def find_repository(
    tx: Transaction, workspace_id: str, owner: str, name: str
) -> Repository | None:
    """
    Return the repository of that name, whatever its case, or None.

    Of several (names move) the one whose node id is known comes first, then the
    newest.
    """
    rows = await tx.fetch(
        _QUERIES["find_by_name"], workspace_id=workspace_id, owner=owner, name=name
    )
    return _to_repository(rows[0]) if rows else None


async def find_repository_by_node_id(
    tx: Transaction, workspace_id: str, node_id: str
) -> Repository | None:
    """Return the repository with that identity of GitHub's, or None; '' is nobody's."""
    rows = await tx.fetch(
        _QUERIES["find_by_node_id"], workspace_id=workspace_id, node_id=node_id
    )
    return _to_repository(rows[0]) if rows else None


async def find_repository_by_id(
    tx: Transaction, repository_id: str
) -> Repository | None:
    """Return the repository with our id, or None when it was merged away."""
    rows = await tx.fetch(_QUERIES["get_repository"], id=repository_id)
    return _to_repository(rows[0]) if rows else None


async def add_repository(tx: Transaction, repository: Repository) -> bool:
    """
    Add a repository.

    Returns False, and writes nothing, when the workspace has that node id, or has
    the name and one of the two has no node id.
    """
    values = _from_repository(repository)
    return await tx.execute(_QUERIES["add_repository"], **values) == 1


async def put_repository_facts(tx: Transaction, repository: Repository) -> Repository:
    """
    Write what GitHub says about the repository with that id, and return its row.

    An equal row is not written. A row without node id receives it; when another row
    of the workspace has it, this row and all that hangs on it are merged into that
    one, which is returned. A node id is never taken away or exchanged: facts of
    another repository change nothing. When the row is gone (merged away by somebody)
    the one of that node id, or else of that name, takes the facts.

    Raises:
        StoreConflict: The row is gone, and there is no other to take its place.
    """
    stored = await find_repository_by_id(tx, repository.id)
    if stored is None or (repository.node_id and not stored.node_id):
        await tx.fetch(_QUERIES["lock_workspace"], workspace_id=repository.workspace_id)
        owner = await find_repository_by_node_id(
            tx, repository.workspace_id, repository.node_id
        )
        if stored is not None and owner is not None:
            present = repository.name_with_owner
            await _merge(tx, survivor=owner.id, loser=stored.id, present=present)
        stored = owner or stored or await _get_by_name(tx, repository)
    if _is_another(stored, repository):
        return stored
    facts = replace(
        repository, id=stored.id, node_id=repository.node_id or stored.node_id
    )
    await tx.execute(_QUERIES["put_facts"], **_facts(facts))
    return facts


def _is_another(stored: Repository, shown: Repository) -> bool:
    return bool(stored.node_id and shown.node_id) and stored.node_id != shown.node_id


async def _get_by_name(tx: Transaction, repository: Repository) -> Repository:
    found = await find_repository(
        tx, repository.workspace_id, repository.owner, repository.name
    )
    if found is None or _is_another(found, repository):
        raise StoreConflict(f"the repository {repository.id} is gone")
    return found


async def _merge(tx: Transaction, *, survivor: str, loser: str, present: str) -> None:
    for table in _HANGING:
        copy, remove = _QUERIES[f"copy_{table}"], _QUERIES[f"remove_{table}"]
        await tx.execute(copy, survivor=survivor, loser=loser, present=present)
        await tx.execute(remove, loser=loser)
    for watch in await take_watches_of_repository(tx, loser):
        await put_back(tx, replace(watch, repository_id=survivor))
    await merge_into_repository(tx, survivor=survivor, loser=loser)
    await tx.execute(_QUERIES["move_events"], survivor=survivor, loser=loser)
    await tx.execute(_QUERIES["move_deliveries"], survivor=survivor, loser=loser)
    await tx.execute(_QUERIES["remove_repository"], id=loser)


def _facts(repository: Repository) -> dict[str, Value]:
    values = _from_repository(repository)
    del values["workspace_id"]
    return values


def _from_repository(repository: Repository) -> dict[str, Value]:
    return {
        "id": repository.id,
        "workspace_id": repository.workspace_id,
        "host": repository.host,
        "owner": repository.owner,
        "name": repository.name,
        "node_id": repository.node_id,
        "default_branch": repository.default_branch,
        "parent_node_id": repository.parent_node_id,
        "parent_name_with_owner": repository.parent_name_with_owner,
        "is_archived": repository.is_archived,
    }


def _to_repository(row: Row) -> Repository:
    return Repository(
        id=row["id"],
        workspace_id=row["workspace_id"],
        host=row["host"],
        owner=row["owner"],
        name=row["name"],
        node_id=row["node_id"],
        default_branch=row["default_branch"],
        parent_node_id=row["parent_node_id"],
        parent_name_with_owner=row["parent_name_with_owner"],
        is_archived=bool(row["is_archived"]),
    )
