"""From workspaces in the configuration to accounts that can be polled."""

import datetime as dt
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from prwatch.app.host import find_host
from prwatch.app.walk.cycle import Account
from prwatch.app.wired_accounts import UnusableWorkspace, WiredAccounts
from prwatch.clock import Clock
from prwatch.config.entries import Workspace as WorkspaceEntry
from prwatch.config.secrets import SecretReference, SecretSource, read_secret
from prwatch.domain.connection import Connection
from prwatch.domain.ids import build_id
from prwatch.domain.task import Workspace
from prwatch.errors import ConfigError
from prwatch.github.app_auth import Installation, InstallationCredential
from prwatch.github.app_jwt import require_extra
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
            credential = build_credential(entry, environ, http=http, clock=clock)
        except ConfigError as error:
            message = f"{error}; {error.hint}" if error.hint else str(error)
            unusable.append(UnusableWorkspace(entry.name, message))
            continue
        key = (entry.api_url, entry.account)
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
    entry: WorkspaceEntry,
    environ: Mapping[str, str],
    *,
    http: BoundedClient,
    clock: Clock,
) -> Credential:
    """
    Return the credential of a workspace, looked at once.

    Raises:
        ConfigError: The entry gives nothing that can be used.
    """
    if entry.token.source is SecretSource.GH:
        return GhCredential(find_host(entry.api_url))
    kept = _build_kept(entry.token, environ)
    if entry.app is None:
        return kept
    require_extra()
    installation = Installation(entry.app.id, entry.app.installation, entry.api_url)
    return InstallationCredential(installation, key=kept, http=http, clock=clock)


def _build_kept(
    reference: SecretReference, environ: Mapping[str, str]
) -> TokenCredential | FileCredential:
    """Return the token, or the key of an app, that is kept where it is named."""
    secret = read_secret(reference, environ)
    if reference.source is SecretSource.ENV:
        return TokenCredential(secret, source=f"env:{reference.name}")
    if reference.source is SecretSource.FILE:
        return FileCredential(Path(reference.name))
    folder = environ.get("CREDENTIALS_DIRECTORY", "")
    return FileCredential(Path(folder, reference.name), is_private=False)


async def _put_workspace(
    database: Database, entry: WorkspaceEntry, clock: Clock, chance: random.Random
) -> Workspace:
    now = clock.now()
    new = Workspace(id=build_id(now, chance), name=entry.name)
    connection_id = build_id(now, chance)
    source, host = entry.account, find_host(entry.api_url)

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
