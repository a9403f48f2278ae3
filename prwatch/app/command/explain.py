"""Why pull requests are judged as they are: from the store, or read now."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from prwatch.app.command.missing import build_missing_error
from prwatch.app.command.references import NamedPullRequest, Reference
from prwatch.app.command.watch_listing import WatchRow, find_watches
from prwatch.app.command.workbench import Workbench
from prwatch.app.runtime import Runtime, open_runtime
from prwatch.config.loader import LoadedConfig
from prwatch.domain.event_building import build_task_pull_request
from prwatch.domain.explanation import ExplainedCheck, Explanation
from prwatch.domain.outcome import Found
from prwatch.domain.reference import PullRequestReference
from prwatch.domain.timestamp import format_optional_time, format_time
from prwatch.errors import AuthenticationFailed, WatchNotFound


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """
    One pull request, or a branch that has none yet.

    `number` is 0 for such a branch. `stored` is the row that changed last, None where
    nobody watches. `live` is None unless it was read now. `at` is our time.
    """

    reference: str
    repository: str
    number: int
    workspace: str
    tasks: tuple[str, ...]
    at: dt.datetime
    stored: WatchRow | None = None
    live: Explanation | None = None

    @property
    def pull_request(self) -> Mapping[str, object] | None:
        """Return what was read last, as in the events."""
        if self.live is not None:
            return build_task_pull_request(self.live.observation)
        return self.stored.pull_request if self.stored else None

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        return {
            "reference": self.reference,
            "workspace": self.workspace,
            "tasks": list(self.tasks),
            "at": format_time(self.at),
            "stored": _render_stored(self.stored) if self.stored else None,
            "live": _render_live(self.live) if self.live else None,
        }


async def explain_stored(
    bench: Workbench, reference: Reference, *, workspace: str = ""
) -> tuple[Explained, ...]:
    """
    Return what the store knows of all that a reference means.

    Raises:
        WatchNotFound: It means nothing that is watched, or was.
    """
    rows = await find_watches(bench, reference, workspace=workspace)
    groups: dict[tuple[str, str], list[WatchRow]] = {}
    for row in rows:
        groups.setdefault((row.workspace, row.reference), []).append(row)
    now = bench.surroundings.clock.now()
    return tuple(_group(same, now) for same in groups.values())


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
        return tuple([await _read(runtime, each) for each in explained])


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
    explainer = accounts[0].github.explainer
    owner, _, repository = explained.repository.partition("/")
    reference = PullRequestReference(
        owner=owner, name=repository, number=explained.number
    )
    is_rest = runtime.settings.read_path == "rest"
    read = explainer.explain_by_rest if is_rest else explainer.explain
    outcome = await read(reference)
    if not isinstance(outcome, Found):
        raise build_missing_error(explained.reference, outcome)
    return replace(explained, live=outcome.value, at=runtime.clock.now())


def _render_stored(row: WatchRow) -> dict[str, object]:
    return {
        "watch": row.id or None,
        "state": row.state,
        "observed_at": format_optional_time(row.observed_at),
        "checks_notes": list(row.notes),
        "pull_request": row.pull_request,
    }


def _render_live(live: Explanation) -> dict[str, object]:
    observation, checks = live.observation, live.checks
    return {
        "observed_at": format_time(observation.observed_at),
        "settles_at": format_optional_time(observation.settles_at),
        "checks_notes": list(observation.checks_notes),
        "pull_request": build_task_pull_request(observation),
        "checks": None if checks is None else [_render_check(each) for each in checks],
        "opinions": None
        if live.opinions is None
        else [
            {
                "author": each.author,
                "state": each.state,
                "submitted_at": format_optional_time(each.submitted_at),
            }
            for each in live.opinions
        ],
        "asked": None if live.asked is None else list(live.asked),
    }


def _render_check(check: ExplainedCheck) -> dict[str, object]:
    return {
        "kind": check.kind.value,
        "name": check.name,
        "app": check.app or None,
        "workflow": check.workflow or None,
        "event": check.event or None,
        "word": check.word,
        "said": check.said,
        "state": check.state.value,
        "standing": check.standing.value,
        "reason": check.reason or None,
        "since": format_optional_time(check.since),
        "required": check.is_required,
        "url": check.url or None,
    }
