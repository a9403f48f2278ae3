"""Tries what the tokens can read of the pull requests that are watched."""

import datetime as dt
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from prwatch.app.accounts import build_credential
from prwatch.app.command.finding import Finding, Health
from prwatch.app.command.workbench import Workbench, open_workbench
from prwatch.app.host import find_host
from prwatch.app.refused_fields import read_refused
from prwatch.app.surroundings import Surroundings
from prwatch.app.workspace_view import WorkspaceView
from prwatch.config.entries import Workspace as WorkspaceEntry
from prwatch.config.loader import LoadedConfig
from prwatch.domain.capability import (
    Capability,
    RefusalReason,
    RefusedField,
    tell,
)
from prwatch.domain.outcome import Forbidden, Found, Outcome
from prwatch.domain.reference import PullRequestReference, Reading
from prwatch.errors import ConfigError, ProtocolViolation, ProviderError
from prwatch.github.client import Endpoints, GitHub
from prwatch.github.wording import find_hint
from prwatch.http.client import BoundedClient, create_http_client

MOST_TRIED: Final = 25
"""Pull requests that are read of one workspace: one request, one point."""
_NAMED: Final = 3

Outcomes = Mapping[PullRequestReference, Outcome[Reading]]


@dataclass(frozen=True, slots=True)
class _Tried:
    """What reading some pull requests of a workspace has shown."""

    outcomes: Outcomes
    refused: tuple[RefusedField, ...]


async def examine_access(
    loaded: LoadedConfig, surroundings: Surroundings
) -> AsyncIterator[Finding]:
    """
    Yield for each workspace what its token cannot read of what is watched.

    One pull request of each repository is read in full, some more where there are
    few. Whatever is found is not stored. A workspace that watches nothing yet has
    nothing to be tried with.
    """
    client = create_http_client(
        ca_file=str(loaded.config.http.ca_file or ""),
        transport=surroundings.transport,
    )
    async with client, open_workbench(loaded, surroundings) as bench:
        for entry in loaded.config.workspaces:
            references = await _choose(bench, entry.name)
            if not references:
                continue
            try:
                tried = await _read(entry, references, client, surroundings)
            except (ConfigError, ProviderError):
                continue  # what is wrong with the token is said elsewhere
            for finding in await _judge(bench, entry, tried):
                yield finding


async def _choose(bench: Workbench, name: str) -> list[PullRequestReference]:
    """Return pull requests of a workspace, one of each repository first."""
    ranked: list[tuple[int, PullRequestReference]] = []
    for workspace in await bench.list_workspaces(name):
        view = WorkspaceView(await bench.load_snapshot(workspace))
        counts: dict[str, int] = {}
        for watch in view.discovered:
            repository = view.repositories[watch.repository_id]
            rank = counts.get(repository.id, 0)
            counts[repository.id] = rank + 1
            reference = PullRequestReference(
                owner=repository.owner, name=repository.name, number=watch.pr_number
            )
            ranked.append((rank, reference))
    ranked.sort(key=lambda each: each[0])
    return [reference for _, reference in ranked[:MOST_TRIED]]


async def _read(
    entry: WorkspaceEntry,
    references: Sequence[PullRequestReference],
    client: BoundedClient,
    surroundings: Surroundings,
) -> _Tried:
    clock = surroundings.clock
    credential = build_credential(entry, surroundings.environ, http=client, clock=clock)
    github = GitHub(
        client,
        credential,
        endpoints=Endpoints(entry.api_url, entry.graphql_url),
        clock=clock,
        settle=dt.timedelta(0),
    )
    try:
        outcomes: Outcomes = await github.details(references)
    except ProtocolViolation:
        if github.capabilities.has_graphql:
            raise
        outcomes = {}
        async for some in github.rest_reader.iter_details(references):
            outcomes = {**outcomes, **some}
    return _Tried(outcomes, github.capabilities.refused)


async def _judge(
    bench: Workbench, entry: WorkspaceEntry, tried: _Tried
) -> list[Finding]:
    subject = f"token of {entry.name}"
    tests = await _list_tests(bench, entry.name)
    findings = [
        *_tell_refusals(subject, find_host(entry.api_url), tried.outcomes),
        *_tell_missing(subject, tried.outcomes),
        *(_tell_field(subject, each, tests) for each in tell(tried.refused)),
    ]
    if any(each.health is not Health.OK for each in findings):
        return findings
    count = len(tried.outcomes)
    what = "a watched pull request" if count == 1 else f"{count} watched pull requests"
    good = Finding(subject, Health.OK, f"it can read everything of {what}")
    return findings or [good]


def _tell_refusals(subject: str, host: str, outcomes: Outcomes) -> Iterator[Finding]:
    """Yield a finding for each owner that refuses, and each reason."""
    refusals = {
        (reference.owner, outcome.reason): None
        for reference, outcome in outcomes.items()
        if isinstance(outcome, Forbidden)
    }
    for owner, reason in refusals:
        remedy = find_hint(reason) or "see that the token may read the repository"
        yield Finding(subject, Health.WARNING, f"{owner} on {host}: {reason}", remedy)


def _tell_missing(subject: str, outcomes: Outcomes) -> Iterator[Finding]:
    lost = [
        f"{reference.place}#{reference.number}"
        for reference, outcome in outcomes.items()
        if not isinstance(outcome, Found | Forbidden)
    ]
    if lost:
        more = f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
        yield Finding(
            subject,
            Health.WARNING,
            f"GitHub does not show {', '.join(lost[:_NAMED])}{more}",
            "see that they exist, and that the token may see their repositories",
        )


def _tell_field(subject: str, told: Capability, tests: Mapping[str, str]) -> Finding:
    is_old = told.reason is RefusalReason.SCHEMA
    health = Health.OK if is_old else Health.WARNING
    text = told.text + tests.get(told.field, "")
    return Finding(subject, health, text, told.remedy)


async def _list_tests(bench: Workbench, name: str) -> dict[str, str]:
    """Return when the daemon tries again what it knows to be refused, by field."""
    known: list[Capability] = []
    for workspace in await bench.list_workspaces(name):
        known += tell(await read_refused(bench.database, workspace))
    return {
        each.field: f"; it is tried again after {each.test_at:%Y-%m-%d %H:%M} UTC"
        for each in known
        if each.test_at is not None
    }
