"""From workspaces in the configuration to accounts that can be polled."""

import datetime as dt
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from prwatch.app.cycle import Account
from prwatch.app.host import find_host
from prwatch.app.wired_accounts import UnusableWorkspace, WiredAccounts
from prwatch.clock import Clock
from prwatch.config.entries import Workspace as WorkspaceEntry
from prwatch.config.secrets import SecretReference, SecretSource, read_secret
from prwatch.domain.connection import Connection
from prwatch.domain.ids import build_id
from prwatch.domain.task import Workspace
from prwatch.errors import ConfigError
from prwatch.github.client import Endpoints, GitHub
from prwatch.github.credentials import (
    Credential,
    FileCredential,
    GhCredential,
    TokenCredential,
)
from prwatch.http.client import BoundedClient
from prwatch.store import connections
from prwatch.store.database import Database, Transaction


async def wire_accounts(
    entries: Sequence[WorkspaceEntry],
    *,
    database: Database,
    http: BoundedClient,
    environ: Mapping[str, str],
    clock: Clock,
    chance: random.Random,
    settle: dt.timedelta,
) -> WiredAccounts:
    """
    Store the workspaces and make an account of each credential.

    Workspaces with one source of their token, on one host, share an account and so
    its requests. A workspace whose secret cannot be read is told apart.
    """
    stored: dict[str, Workspace] = {}
    unusable: list[UnusableWorkspace] = []
    groups: defaultdict[tuple[str, str], list[Workspace]] = defaultdict(list)
    clients: dict[tuple[str, str], GitHub] = {}
    for entry in entries:
        workspace = await _put_workspace(database, entry, clock, chance)
        stored[entry.name] = workspace
        try:
            credential = build_credential(entry.token, entry, environ)
        except ConfigError as error:
            message = f"{error}; {error.hint}" if error.hint else str(error)
            unusable.append(UnusableWorkspace(entry.name, message))
            continue
        key = (entry.api_url, str(entry.token))
        groups[key].append(workspace)
        if key not in clients:
            clients[key] = GitHub(
                http,
                credential,
                endpoints=Endpoints(entry.api_url, entry.graphql_url),
                clock=clock,
                settle=settle,
            )
    accounts = tuple(
        Account(
            key="|".join(key),
            host=find_host(key[0]),
            github=clients[key],
            workspaces=tuple(workspaces),
        )
        for key, workspaces in groups.items()
    )
    return WiredAccounts(
        accounts=accounts,
        unusable=tuple(unusable),
        workspaces=stored,
        hosts={entry.name: find_host(entry.api_url) for entry in entries},
    )


def build_credential(
    reference: SecretReference, entry: WorkspaceEntry, environ: Mapping[str, str]
) -> Credential:
    """
    Return the credential of a workspace, looked at once.

    Raises:
        ConfigError: The reference gives nothing that can be used.
    """
    match reference.source:
        case SecretSource.GH:
            return GhCredential(find_host(entry.api_url))
        case SecretSource.ENV:
            secret = read_secret(reference, environ)
            return TokenCredential(secret, source=f"env:{reference.name}")
        case SecretSource.FILE:
            read_secret(reference, environ)
            return FileCredential(Path(reference.name))
        case SecretSource.CREDENTIAL:
            read_secret(reference, environ)
            folder = environ.get("CREDENTIALS_DIRECTORY", "")
            return FileCredential(Path(folder, reference.name), is_private=False)


async def _put_workspace(
    database: Database, entry: WorkspaceEntry, clock: Clock, chance: random.Random
) -> Workspace:
    now = clock.now()
    new = Workspace(id=build_id(now, chance), name=entry.name)
    connection_id = build_id(now, chance)
    source, host = str(entry.token), find_host(entry.api_url)

    async def write(tx: Transaction) -> Workspace:
        await connections.add_workspace(tx, new)
        workspace = await connections.find_workspace(tx, entry.name) or new
        stored = await connections.find_connection(tx, workspace.id)
        if stored is None or (stored.source, stored.host) != (source, host):
            connection = Connection(
                id=stored.id if stored else connection_id,
                workspace_id=workspace.id,
                source=source,
                host=host,
                generation=stored.generation + 1 if stored else 1,
            )
            await connections.put_connection(tx, connection)
        return workspace

    return await database.transact(write)
