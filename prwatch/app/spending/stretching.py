"""Planning what gives way when the budget of an account that pays is short."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from prwatch.app.spending.bucket import read_bucket
from prwatch.app.spending.load import count_load
from prwatch.app.spending.stretch_report import StretchReport
from prwatch.app.walk.cycle import Account, Cycle, is_read_by_rest
from prwatch.app.walk.poll_settings import PollSettings
from prwatch.domain.load import Load
from prwatch.domain.schedule import allow_for_jitter, has_passed
from prwatch.domain.stretch import Bucket, plan_stretch


async def plan_stretches(cycle: Cycle, accounts: Sequence[Account]) -> None:
    """
    Plan anew, at most once an interval, for the tokens of each account together.

    A plan that was made before GitHub told the budget does not hold for so long.
    """
    now, settings = cycle.now(), cycle.settings
    for group in group_by_payer(accounts):
        planned_at = None if is_guessed(group[0]) else group[0].planned_at
        if not has_passed(planned_at, settings.intervals.base, now=now):
            continue
        load = Load()
        for account in group:
            views = [await cycle.mirror.view(each) for each in account.workspaces]
            load += count_load(
                cycle.memory, views, now=now, intervals=settings.intervals
            )
        is_rest = is_read_by_rest(group[0], settings.read_path)
        # Through REST an unchanged answer costs nothing.
        bucket = None if is_rest else read_bucket(group, now)
        report = build_report(load, bucket, settings)
        for account in group:
            account.stretch, account.planned_at = report, now


def is_guessed(account: Account) -> bool:
    """Return whether the budget was not known yet when it was planned last."""
    report = account.stretch
    return report is None or (report.bucket is not None and report.bucket.is_assumed)


def build_report(
    load: Load, bucket: Bucket | None, settings: PollSettings
) -> StretchReport:
    """Return what gives way under that load, and what it costs then."""
    stretch = plan_stretch(
        load, settings.intervals, bucket=bucket, rules=settings.rules
    )
    return StretchReport(
        stretch=stretch,
        load=load,
        bucket=bucket,
        usual=settings.intervals,
        rules=settings.rules,
    )


def group_by_payer(accounts: Sequence[Account]) -> list[list[Account]]:
    """Group the tokens by the account that pays for them, in order."""
    groups: defaultdict[int, list[Account]] = defaultdict(list)
    for account in accounts:
        # Tokens that are known to be one account's share its tracker.
        groups[id(account.github.limits.tracker)].append(account)
    return list(groups.values())


def adapt_settings(settings: PollSettings, account: Account) -> PollSettings:
    """Return the settings with the intervals that hold for an account now."""
    report = account.stretch
    if report is None:
        return settings
    return replace(settings, intervals=report.stretch.intervals)


def allow_for_early_wake(settings: PollSettings, usual: PollSettings) -> PollSettings:
    """Return the settings for a loop whose wake-ups jitter around `usual` intervals."""
    intervals = allow_for_jitter(
        settings.intervals, jitter=usual.jitter, longest=usual.intervals.base
    )
    return replace(settings, intervals=intervals)
