"""From workspaces in the configuration to accounts that can be polled."""

import datetime as dt
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from prwatch.app.host import find_host
from prwatch.app.refused_fields import restore_refused
from prwatch.app.spending.limit_blocks import choose_blocks, list_blocks
from prwatch.app.walk.cycle import Account
from prwatch.app.wired_accounts import UnusableWorkspace, WiredAccounts
from prwatch.clock import Clock
from prwatch.config.entries import Workspace as WorkspaceEntry
from prwatch.config.model import Poll
from prwatch.config.secrets import SecretReference, SecretSource, read_secret
from prwatch.domain.connection import Connection
from prwatch.domain.ids import build_id
from prwatch.domain.rate_limit import StoredLimits
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
from prwatch.github.limits import Limits
from prwatch.github.tracker_book import TrackerBook
from prwatch.http.client import BoundedClient
from prwatch.store import connections
from prwatch.store.database import Database, Transaction
from prwatch.store.rate_limit import RateLimitBlock


@dataclass(frozen=True, slots=True)
class Wired:
    """A workspace that can be polled, and how it reaches GitHub."""

    entry: WorkspaceEntry
    workspace: Workspace
    connection: Connection
    credential: Credential


async def wire_accounts(
    entries: Sequence[WorkspaceEntry],
    *,
    database: Database,
    http: BoundedClient,
    environ: Mapping[str, str],
    clock: Clock,
    chance: random.Random,
    poll: Poll,
) -> WiredAccounts:
    """
    Store the workspaces and make an account of each credential.

    Workspaces with one source of their token, on one host, share an account and so
    its requests. Accounts for which the same user or installation pays share its
    limits, which begin with what was stored. A workspace whose secret cannot be read
    is told apart.
    """
    stored: dict[str, Workspace] = {}
    unusable: list[UnusableWorkspace] = []
    groups: defaultdict[tuple[str, str], list[Wired]] = defaultdict(list)
    for entry in entries:
        workspace, connection = await _put_workspace(database, entry, clock, chance)
        stored[entry.name] = workspace
        try:
            credential = build_credential(entry, environ, http=http, clock=clock)
        except ConfigError as error:
            message = f"{error}; {error.hint}" if error.hint else str(error)
            unusable.append(UnusableWorkspace(entry.name, message))
            continue
        wired = Wired(entry, workspace, connection, credential)
        groups[entry.api_url, entry.account].append(wired)
    book = TrackerBook(clock, reserve=poll.reserve)
    blocks = await list_blocks(database)
    accounts = tuple(
        _build_account(
            group,
            _build_limits(group, clock, book, blocks),
            http=http,
            clock=clock,
            settle=poll.settle,
        )
        for group in groups.values()
    )
    for account, group in zip(accounts, groups.values(), strict=True):
        owned = [each.connection for each in group]
        account.github.capabilities.restore(await restore_refused(database, owned))
    return WiredAccounts(
        accounts=accounts,
        unusable=tuple(unusable),
        workspaces=stored,
        hosts={entry.name: find_host(entry.api_url) for entry in entries},
    )


def _build_limits(
    group: Sequence[Wired],
    clock: Clock,
    book: TrackerBook,
    blocks: Sequence[RateLimitBlock],
) -> Limits:
    """Return an account's way to its limits, found without asking for its token."""
    owned = [each.connection for each in group]
    payer = next((each.account for each in owned if each.account), "")
    limits = Limits(
        clock,
        book=book,
        host=owned[0].host,
        payer=payer,
        is_fixed=group[0].entry.is_app,
    )
    limits.tracker.add_blocks(choose_blocks(blocks, owned, payer))
    return limits


def _build_account(
    group: Sequence[Wired],
    limits: Limits,
    *,
    http: BoundedClient,
    clock: Clock,
    settle: dt.timedelta,
) -> Account:
    first = group[0]
    entry = first.entry
    github = GitHub(
        http,
        first.credential,
        endpoints=Endpoints(entry.api_url, entry.graphql_url),
        clock=clock,
        settle=settle,
        limits=limits,
    )
    return Account(
        key=f"{entry.api_url}|{entry.account}",
        host=find_host(entry.api_url),
        github=github,
        workspaces=tuple(each.workspace for each in group),
        # Those that ended while nobody ran are among them, and still to be removed.
        stored_limits=StoredLimits(
            limits.payer, frozenset(limits.tracker.known_blocks.ends.items())
        ),
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
) -> tuple[Workspace, Connection]:
    now = clock.now()
    new = Workspace(id=build_id(now, chance), name=entry.name)
    connection_id = build_id(now, chance)
    payer = f"installation/{entry.app.installation}" if entry.app else ""

    async def write(tx: Transaction) -> tuple[Workspace, Connection]:
        await connections.add_workspace(tx, new)
        workspace = await connections.find_workspace(tx, entry.name) or new
        connection = Connection(
            id=connection_id,
            workspace_id=workspace.id,
            source=entry.account,
            host=find_host(entry.api_url),
            account=payer,
        )
        stored = await connections.find_connection(tx, workspace.id)
        if stored is not None:
            connection = _follow_connection(stored, connection)
        await connections.put_connection(tx, connection)
        return workspace, connection

    return await database.transact(write)


def _follow_connection(stored: Connection, configured: Connection) -> Connection:
    """Return the stored connection as the configuration has it now."""
    if (stored.source, stored.host) == (configured.source, configured.host):
        return replace(stored, account=configured.account or stored.account)
    return replace(configured, id=stored.id, generation=stored.generation + 1)
