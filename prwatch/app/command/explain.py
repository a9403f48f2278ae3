"""Why pull requests are judged as they are: from the store, or read now."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from prwatch.app.command.explained import Explained
from prwatch.app.command.missing import build_missing_error
from prwatch.app.command.outlook import find_outlook, find_stored_obstacles
from prwatch.app.command.references import NamedPullRequest, Reference
from prwatch.app.command.watch_listing import find_watches
from prwatch.app.command.watch_row import WatchRow
from prwatch.app.command.workbench import Workbench
from prwatch.app.refused_fields import read_refused
from prwatch.app.runtime import Runtime, open_runtime
from prwatch.app.walk.cycle import Account, is_read_by_rest
from prwatch.config.loader import LoadedConfig
from prwatch.domain.capability import find_unreadable
from prwatch.domain.events import EventType
from prwatch.domain.explanation import Explanation
from prwatch.domain.outcome import Found, Outcome
from prwatch.domain.phrase import catch_up, refresh
from prwatch.domain.reference import PullRequestReference
from prwatch.errors import AuthenticationFailed, ProtocolViolation, WatchNotFound
from prwatch.store import events

MOST_CHANGES: Final = 10
"""How many of the last changes are told."""
MOST_IN_FULL: Final = 50
"""Of how many pull requests a daemon and the record of events are asked."""


async def explain_stored(
    bench: Workbench, reference: Reference, *, workspace: str = ""
) -> tuple[Explained, ...]:
    """
    Return what the store knows of all that a reference means, and a daemon besides.

    Of more than fifty pull requests the rest is told without what a daemon says and
    without past changes.

    Raises:
        WatchNotFound: It means nothing that is watched, or was.
    """
    rows = await find_watches(bench, reference, workspace=workspace)
    groups: dict[tuple[str, str], list[WatchRow]] = {}
    for row in rows:
        groups.setdefault((row.workspace, row.reference), []).append(row)
    now = bench.surroundings.clock.now()
    grouped = [_group(same, now) for same in groups.values()]
    told = [await _tell_more(bench, each) for each in grouped[:MOST_IN_FULL]]
    return (*told, *grouped[MOST_IN_FULL:])


async def explain_live(
    bench: Workbench,
    loaded: LoadedConfig,
    reference: Reference,
    *,
    workspace: str = "",
) -> tuple[Explained, ...]:
    """
    Return the same with one full reading of each pull request, made now.

    A pull request that nobody watches is read too. Nothing that is read is stored.

    Raises:
        WatchNotFound: It means nothing that is watched, and is no pull request.
        AuthenticationFailed: The workspace has no token that can be used.
        ProviderError: GitHub did not give it.
    """
    try:
        explained = await explain_stored(bench, reference, workspace=workspace)
    except WatchNotFound:
        if not isinstance(reference, NamedPullRequest):
            raise
        explained = (await _begin(bench, reference, workspace),)
    if not any(each.number for each in explained):
        return explained
    async with open_runtime(loaded, bench.surroundings) as runtime:
        read = [await _read(runtime, each) for each in explained]
    return tuple([await _explain_losses(bench, each) for each in read])


async def _begin(
    bench: Workbench, named: NamedPullRequest, workspace: str
) -> Explained:
    chosen = await bench.get_workspace(workspace, host=named.host)
    return Explained(
        reference=f"{named.owner}/{named.name}#{named.number}",
        repository=f"{named.owner}/{named.name}",
        number=named.number,
        workspace=chosen.name,
        tasks=(),
        at=bench.surroundings.clock.now(),
    )


def _group(rows: Sequence[WatchRow], now: dt.datetime) -> Explained:
    epoch = dt.datetime.min.replace(tzinfo=dt.UTC)
    newest = max(rows, key=lambda row: row.observed_at or epoch)
    return Explained(
        reference=newest.reference,
        repository=newest.repository,
        number=newest.number,
        workspace=newest.workspace,
        tasks=tuple(row.task for row in rows),
        at=now,
        stored=newest,
        known=newest.known,
    )


async def _tell_more(bench: Workbench, explained: Explained) -> Explained:
    """Add what a daemon says of it, what is in the way, and its last changes."""
    row = explained.stored
    if row is None:
        return explained
    outlook = None
    if row.id:
        outlook = await find_outlook(bench, row.id, workspace=row.workspace)
    known = explained.known
    if outlook is not None and known is not None:
        known = catch_up(
            known,
            summary=outlook.summary,
            counted_at=outlook.good_at,
            mergeable_unknown_since=outlook.mergeable_unknown_since,
        )
    obstacles = outlook.obstacles if outlook else ()
    if outlook is None and row.id:
        (workspace,) = await bench.list_workspaces(explained.workspace)
        obstacles = await find_stored_obstacles(bench, workspace)
    changes = await bench.database.read(
        lambda tx: events.list_newest_of_pull_request(
            tx,
            row.repository_id,
            row.number,
            event_type=EventType.TASK_PR_UPDATED,
            limit=MOST_CHANGES,
        )
    )
    return replace(
        explained,
        known=known,
        outlook=outlook,
        obstacles=obstacles,
        changes=tuple(changes),
    )


async def _read(runtime: Runtime, explained: Explained) -> Explained:
    if not explained.number:
        return explained
    name = explained.workspace
    accounts = [
        account
        for account in runtime.wired.accounts
        if any(workspace.name == name for workspace in account.workspaces)
    ]
    if not accounts:
        raise AuthenticationFailed(f"the workspace {name} has no token to be used")
    account = accounts[0]
    owner, _, repository = explained.repository.partition("/")
    reference = PullRequestReference(
        owner=owner, name=repository, number=explained.number
    )
    outcome = await _ask(runtime, account, reference)
    if not isinstance(outcome, Found):
        raise build_missing_error(explained.reference, outcome)
    now = runtime.clock.now()
    known = refresh(outcome.value.observation, now=now, stored=explained.known)
    return replace(explained, live=outcome.value, known=known, at=now)


async def _ask(
    runtime: Runtime, account: Account, reference: PullRequestReference
) -> Outcome[Explanation]:
    """Read through GraphQL, or through REST where that is not to be had."""
    explainer, read_path = account.github.explainer, runtime.settings.read_path
    if not is_read_by_rest(account, read_path):
        try:
            return await explainer.explain(reference)
        except ProtocolViolation:
            if not is_read_by_rest(account, read_path):
                raise
    return await explainer.explain_by_rest(reference)


async def _explain_losses(bench: Workbench, explained: Explained) -> Explained:
    """Add why a field could not be read now, as far as that was found before."""
    known = explained.known
    if known is None or explained.stored is not None or not explained.unobserved:
        return explained
    (workspace,) = await bench.list_workspaces(explained.workspace)
    found = find_unreadable(
        await read_refused(bench.database, workspace), explained.repository
    )
    lost = {each.field for each in explained.unobserved}
    unreadable = {name: why for name, why in found.items() if name in lost}
    return replace(explained, known=replace(known, unreadable=unreadable))
