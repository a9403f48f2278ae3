"""Looks at everything that prwatch needs and says what to do about the rest."""

import contextlib
import datetime as dt
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from prwatch.app.command.access_check import examine_access
from prwatch.app.command.finding import Finding, Health
from prwatch.app.command.load_check import examine_load
from prwatch.app.command.sink_check import examine_sinks
from prwatch.app.command.token_status import TokenStatus, read_token_statuses
from prwatch.app.daemon.unit_check import examine_units
from prwatch.app.store_place import find_database
from prwatch.app.surroundings import Surroundings
from prwatch.config.loader import LoadedConfig
from prwatch.config.model import Config
from prwatch.domain.rate_limit import Budget
from prwatch.errors import ConfigError, PrwatchError, StoreError
from prwatch.store.examination import examine_database

MOST_DRIFT: Final = dt.timedelta(seconds=5)
"""GitHub's Date header has whole seconds, and an answer takes a moment."""
SOON: Final = dt.timedelta(days=7)
_PRIVATE_SCOPE: Final = "repo"
_PUBLIC_SCOPE: Final = "public_repo"
_PROXIES: Final = ("https_proxy", "http_proxy", "all_proxy", "no_proxy")


async def examine(
    loaded: LoadedConfig, surroundings: Surroundings
) -> AsyncIterator[Finding]:
    """
    Yield what is found as soon as it is found.

    Nothing is changed: a database that does not exist yet is not made.
    """
    store = await _examine_store(loaded.config, surroundings)
    for finding in (
        _examine_sources(loaded),
        *_examine_proxies(surroundings.environ),
        store.finding,
    ):
        yield finding
    try:
        statuses = await read_token_statuses(loaded.config, surroundings)
    except ConfigError as error:
        yield Finding("tls", Health.BROKEN, str(error), error.hint)
        statuses = ()
    now = surroundings.clock.now()
    for status in statuses:
        for finding in _judge_token(status, now):
            yield finding
    if store.is_ready and statuses:
        async for finding in _examine_watches(loaded, surroundings):
            yield finding
    drifts = [status.drift for status in statuses if status.drift is not None]
    if drifts:
        yield _judge_clock(max(drifts, key=abs))
    with contextlib.suppress(ConfigError):  # it has been said of the TLS settings
        async for finding in examine_sinks(loaded.config):
            yield finding
    async for finding in examine_units(surroundings.environ):
        yield finding


async def _examine_watches(
    loaded: LoadedConfig, surroundings: Surroundings
) -> AsyncIterator[Finding]:
    """Yield what the tokens cannot read of what is watched, and what that costs."""
    async for finding in examine_access(loaded, surroundings):
        yield finding
    # A daemon that does not answer is no matter of the budget.
    with contextlib.suppress(PrwatchError):
        async for finding in examine_load(loaded, surroundings):
            yield finding


def describe_broken_config(error: PrwatchError) -> Iterator[Finding]:
    """Yield a finding for each problem of a configuration that cannot be used."""
    problems = error.problems if isinstance(error, ConfigError) else ()
    remedy = "mend it, then run `prwatch config check`"
    for text in problems or (str(error),):
        yield Finding("configuration", Health.BROKEN, text, error.hint or remedy)


def _examine_sources(loaded: LoadedConfig) -> Finding:
    count = len(loaded.config.workspaces)
    where = str(loaded.path) if loaded.path else "no file, defaults alone"
    if not count:
        return Finding(
            "configuration",
            Health.WARNING,
            f"{where}: no workspace is configured, so nothing is watched",
            "`prwatch init` writes a configuration",
        )
    workspaces = "one workspace" if count == 1 else f"{count} workspaces"
    return Finding("configuration", Health.OK, f"{where}: {workspaces}")


def _examine_proxies(environ: Mapping[str, str]) -> Iterator[Finding]:
    for name in _PROXIES:
        for spelling in (name, name.upper()):
            if value := environ.get(spelling):
                yield Finding("proxy", Health.OK, f"{spelling} is {_hide(value)}")


def _hide(value: str) -> str:
    """Return a proxy's address without the name and password in it."""
    scheme, separator, rest = value.partition("://")
    if not separator:
        return value.rpartition("@")[2]
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"


@dataclass(frozen=True, slots=True)
class _Store:
    """What was found of the store. `is_ready` says that reading changes nothing."""

    finding: Finding
    is_ready: bool = False


async def _examine_store(config: Config, surroundings: Surroundings) -> _Store:
    try:
        target = find_database(config, surroundings.environ)
        if isinstance(target, Path) and not target.exists():
            return _Store(_examine_folder(config.state_dir))
        facts = await examine_database(target)
    except PrwatchError as error:
        remedy = error.hint or "mend it, then run `prwatch doctor` again"
        return _Store(Finding("store", Health.BROKEN, str(error), remedy))
    if isinstance(target, Path) and not _is_writable(target):
        finding = Finding(
            "store",
            Health.BROKEN,
            f"{target} cannot be written",
            "check the owner and mode of the file and of its folder",
        )
        return _Store(finding)
    place = target if isinstance(target, Path) else _name_server(target)
    text = f"{place} is whole, schema {facts.schema}, {facts.size:,} bytes"
    if facts.schema < facts.newest:
        text += f"; the next start brings it to schema {facts.newest}"
    is_ready = facts.schema == facts.newest
    return _Store(Finding("store", Health.OK, text), is_ready)


def _is_writable(path: Path) -> bool:
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK | os.X_OK)


def _name_server(url: str) -> str:
    return f"PostgreSQL on {urlsplit(url).hostname or 'localhost'}"


def _examine_folder(state_dir: Path) -> Finding:
    present = next(each for each in (state_dir, *state_dir.parents) if each.exists())
    if present.is_dir() and os.access(present, os.W_OK | os.X_OK):
        return Finding(
            "store", Health.OK, f"no database yet; the first start makes {state_dir}"
        )
    error = StoreError(f"{state_dir} cannot be made: {present} is not writable")
    remedy = "set state_dir, PRWATCH_STATE_DIR or --state-dir to a folder of yours"
    return Finding("store", Health.BROKEN, str(error), remedy)


def _judge_token(status: TokenStatus, now: dt.datetime) -> Iterator[Finding]:
    subject = f"token of {status.workspace}"
    if status.viewer is None:
        text = status.problem
        if not text.startswith(status.source):
            text = f"{status.source}: {text}"
        yield Finding(subject, Health.BROKEN, text, status.remedy)
        return
    login, kind = status.viewer.login, status.kind
    text = f"{status.source} is a token of {login} on {status.host} ({kind})"
    scopes = status.viewer.scopes
    if scopes is not None:
        text += f", scopes {', '.join(scopes) or 'none'}"
    yield Finding(subject, Health.OK, text)
    yield from _judge_scopes(subject, scopes)
    if not status.is_renewed:
        yield from _judge_end(subject, status.viewer.token_expires_at, now)
    for budget in status.budgets:
        yield _judge_budget(subject, budget)


def _judge_scopes(subject: str, scopes: tuple[str, ...] | None) -> Iterator[Finding]:
    if scopes is None or _PRIVATE_SCOPE in scopes:
        return
    sees = "public repositories alone"
    if _PUBLIC_SCOPE not in scopes:
        sees = "what everybody sees"
    yield Finding(
        subject,
        Health.WARNING,
        f"without the scope {_PRIVATE_SCOPE} it can read {sees}",
        f"add the scope {_PRIVATE_SCOPE} if private repositories are watched",
    )


def _judge_end(
    subject: str, end: dt.datetime | None, now: dt.datetime
) -> Iterator[Finding]:
    if end is None:
        return
    text = f"it expires on {end.astimezone():%Y-%m-%d %H:%M %Z}".rstrip()
    if end - now < SOON:
        yield Finding(subject, Health.WARNING, text, "renew it before that")
    else:
        yield Finding(subject, Health.OK, text)


def _judge_budget(subject: str, budget: Budget) -> Finding:
    text = f"{budget.remaining} of {budget.limit} left in the bucket {budget.bucket}"
    if budget.remaining * 10 < budget.limit:
        return Finding(
            subject, Health.WARNING, text, "see what else uses the same account"
        )
    return Finding(subject, Health.OK, text)


def _judge_clock(drift: dt.timedelta) -> Finding:
    seconds = drift.total_seconds()
    if abs(drift) <= MOST_DRIFT:
        return Finding("clock", Health.OK, "it agrees with GitHub's")
    side = "ahead of" if seconds > 0 else "behind"
    return Finding(
        "clock",
        Health.WARNING,
        f"it is {abs(seconds):.0f} s {side} GitHub's",
        "let systemd-timesyncd, chrony or ntpd set it",
    )
