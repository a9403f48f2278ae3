"""What watching costs: the daemon says it, else store and configuration do."""

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from prwatch.app.command.budget_report import Payer, describe_budget, sort_budgets
from prwatch.app.command.workbench import Workbench
from prwatch.app.host import find_host
from prwatch.app.mirror import Mirror
from prwatch.app.runtime import Runtime, open_runtime
from prwatch.app.spending.bucket import ASSUMED_LIMIT, read_bucket
from prwatch.app.spending.load import count_load
from prwatch.app.spending.stretching import group_by_payer
from prwatch.app.walk.cycle import Account, is_read_by_rest
from prwatch.app.walk.poll_memory import PollMemory
from prwatch.app.walk.poll_settings import PollSettings, build_poll_settings
from prwatch.app.workspace_view import WorkspaceView
from prwatch.config.desired import list_desired
from prwatch.config.loader import LoadedConfig
from prwatch.domain.budget import MOST, Terms
from prwatch.domain.desired import DesiredWorkspace
from prwatch.domain.load import Load, resize
from prwatch.domain.schedule import Activity
from prwatch.domain.stretch import Bucket
from prwatch.domain.timestamp import format_time
from prwatch.errors import DaemonError, PrwatchError

ASSUMED: Final = Bucket(limit=ASSUMED_LIMIT, is_assumed=True)


async def read_budget_report(
    bench: Workbench, loaded: LoadedConfig, *, watches: int | None, is_live: bool
) -> Mapping[str, Any]:
    """
    Return the forecast of each account that pays, the dearest first.

    A daemon is asked if one runs: it knows what is left from its last answer. Else
    GitHub is asked for nothing, unless `is_live`: then for what is left, once for each
    token. `watches` is how many pull requests are forecast for, None for those there
    are.

    Raises:
        DaemonError, StoreError: The daemon or the store could not be read.
    """
    arguments = {} if watches is None else {"watches": watches}
    answer = await bench.ask_daemon("budget", **arguments)
    if answer is not None:
        return {"running": True, **answer}
    at = format_time(bench.surroundings.clock.now())
    if is_live:
        async with open_runtime(loaded, bench.surroundings) as runtime:
            found = [each async for each in _iter_live(bench, runtime, watches)]
    else:
        found = [each async for each in _iter_stored(bench, watches)]
    return {"running": False, "at": at, "accounts": sort_budgets(found)}


async def answer_budget(
    runtime: Runtime, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """
    Answer what a command asks of the daemon, from what it knows now.

    Raises:
        DaemonError: A forecast for so many would hold everything else up.
    """
    watches = _read_watches(arguments.get("watches"))
    now = runtime.clock.now()
    await runtime.mirror.refresh()
    found = []
    for group in group_by_payer(runtime.wired.accounts):
        views = [
            await runtime.mirror.view(workspace)
            for account in group
            for workspace in account.workspaces
        ]
        load = count_load(
            runtime.memory, views, now=now, intervals=runtime.settings.intervals
        )
        terms = _build_terms(runtime.settings, _find_bucket(runtime, group))
        found.append(describe_budget(_name(group), _fit(load, watches), terms))
    return {"at": format_time(now), "accounts": sort_budgets(found)}


def _read_watches(value: object) -> int | None:
    if value is None or (type(value) is int and 0 <= value <= MOST):
        return value
    raise DaemonError(f"watches is a whole number up to {MOST}", reason="malformed")


def _find_bucket(runtime: Runtime, group: Sequence[Account]) -> Bucket | None:
    if is_read_by_rest(group[0], runtime.settings.read_path):
        return None
    return read_bucket(group, runtime.clock.now())


async def _iter_live(
    bench: Workbench, runtime: Runtime, watches: int | None
) -> AsyncIterator[dict[str, Any]]:
    problems: dict[str, str] = {}
    for account in runtime.wired.accounts:
        try:
            account.viewer = await account.github.viewer()
        except PrwatchError as error:
            problems[account.key] = str(error)
    for group in group_by_payer(runtime.wired.accounts):
        names = [each.name for account in group for each in account.workspaces]
        problem = next((problems[a.key] for a in group if a.key in problems), "")
        load = await _count_stored(bench, names)
        terms = _build_terms(runtime.settings, _find_bucket(runtime, group))
        payer = _name(group, problem)
        yield describe_budget(payer, _fit(load, watches), terms)


async def _iter_stored(
    bench: Workbench, watches: int | None
) -> AsyncIterator[dict[str, Any]]:
    settings = build_poll_settings(bench.config.poll)
    bucket = None if settings.read_path == "rest" else ASSUMED
    groups: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    mirror = Mirror(bench.database)
    stored = {row.name: row for row in await bench.list_workspaces()}
    for entry in bench.config.workspaces:
        account = ""
        if entry.name in stored:
            view = await mirror.view(stored[entry.name])
            connection = view.snapshot.connection
            account = connection.account if connection else ""
        key = (find_host(entry.api_url), account or entry.account)
        groups[key].append(entry.name)
    for (host, account), names in groups.items():
        load = await _count_stored(bench, names)
        payer = Payer(host=host, account=account, workspaces=tuple(names))
        terms = _build_terms(settings, bucket)
        yield describe_budget(payer, _fit(load, watches), terms)


async def _count_stored(bench: Workbench, names: Iterable[str]) -> Load:
    """Return what the store has, and what the configuration adds to it."""
    wanted = set(names)
    mirror = Mirror(bench.database)
    views = {
        row.name: await mirror.view(row)
        for row in await bench.list_workspaces()
        if row.name in wanted
    }
    load = count_load(
        PollMemory(full_read=bench.config.poll.full_read),
        views.values(),
        now=bench.surroundings.clock.now(),
        intervals=build_poll_settings(bench.config.poll).intervals,
    )
    for desired in list_desired(bench.config):
        if desired.name in wanted:
            load += _count_new(desired, views.get(desired.name))
    return load


def _count_new(desired: DesiredWorkspace, view: WorkspaceView | None) -> Load:
    """Count what a configuration asks for that the store does not know yet."""
    tasks = {row.external_id for row in view.tasks.values()} if view else set()
    new = [task for task in desired.tasks if task.external_id not in tasks]
    places = [place for task in new for place in task.repositories]
    checkouts = [c for task in new for s in task.sessions for c in s.checkouts]
    known = set(_iter_lists(view)) if view else set()
    lists = [
        row
        for row in desired.repository_watches
        if (row.owner.lower(), row.name.lower(), row.author) not in known
    ]
    return Load(
        pull_requests={Activity.IDLE: sum(p.pull_request > 0 for p in places)},
        branches={
            Activity.FRESH: sum(p.branch != "" for p in places)
            + len({(c.owner, c.name, c.branch, c.worktree_path) for c in checkouts})
        },
        lists=(0,) * sum(row.name != "" for row in lists),
        searches=(0,) * sum(row.name == "" for row in lists),
    )


def _iter_lists(view: WorkspaceView) -> Iterator[tuple[str, str, str]]:
    for row in view.snapshot.repository_watches:
        repository = view.repositories.get(row.repository_id)
        owner, name = (repository.owner, repository.name) if repository else ("", "")
        yield owner.lower(), name.lower(), row.author


def _fit(load: Load, watches: int | None) -> Load:
    return load if watches is None else resize(load, watches)


def _build_terms(settings: PollSettings, bucket: Bucket | None) -> Terms:
    return Terms(
        intervals=settings.intervals,
        bucket=bucket,
        rules=settings.rules,
        tick=settings.tick,
    )


def _name(group: Sequence[Account], problem: str = "") -> Payer:
    first = group[0]
    viewer = next((each.viewer for each in group if each.viewer), None)
    return Payer(
        host=first.host,
        login=viewer.login if viewer else "",
        account=first.github.limits.payer,
        workspaces=tuple(each.name for a in group for each in a.workspaces),
        buckets=first.github.limits.describe(),
        problem=problem,
    )
