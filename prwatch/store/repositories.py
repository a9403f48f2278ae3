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

    An equal row is not written. When another row of the workspace has that node id,
    this row and all that hangs on it are merged into that one, which is returned: it
    has the older right to the identity. So is the row of that node id when this one
    was merged away before.

    Raises:
        StoreConflict: The row is gone, and no other has that node id.
    """
    stored = await find_repository_by_id(tx, repository.id)
    if stored is None or stored.node_id != repository.node_id:
        await tx.fetch(_QUERIES["lock_workspace"], workspace_id=repository.workspace_id)
        owner = await _find_by_node_id(tx, repository)
        if owner is not None and owner.id != repository.id:
            await _merge(tx, survivor=owner.id, loser=repository.id)
            repository = replace(repository, id=owner.id)
        elif stored is None:
            raise StoreConflict(f"the repository {repository.id} is gone")
    await tx.execute(_QUERIES["put_facts"], **_facts(repository))
    return repository


async def _find_by_node_id(
    tx: Transaction, repository: Repository
) -> Repository | None:
    rows = await tx.fetch(
        _QUERIES["find_by_node_id"],
        workspace_id=repository.workspace_id,
        node_id=repository.node_id,
    )
    return _to_repository(rows[0]) if rows else None


async def _merge(tx: Transaction, *, survivor: str, loser: str) -> None:
    for table in _HANGING:
        copy, remove = _QUERIES[f"copy_{table}"], _QUERIES[f"remove_{table}"]
        await tx.execute(copy, survivor=survivor, loser=loser)
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
