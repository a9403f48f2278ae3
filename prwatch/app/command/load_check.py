"""Compares what watching costs with what the accounts that pay are allowed."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

from prwatch.app.command.budget import read_budget_report
from prwatch.app.command.finding import Finding, Health
from prwatch.app.command.workbench import open_workbench
from prwatch.app.surroundings import Surroundings
from prwatch.config.loader import LoadedConfig


async def examine_load(
    loaded: LoadedConfig, surroundings: Surroundings
) -> AsyncIterator[Finding]:
    """
    Yield for each account that pays whether its budget holds the configured load.

    GitHub is asked for nothing. An account that watches nothing is not spoken of.

    Raises:
        DaemonError, StoreError: The daemon or the store could not be read.
    """
    async with open_workbench(loaded, surroundings) as bench:
        report = await read_budget_report(bench, loaded, watches=None, is_live=False)
    for account in report["accounts"]:
        finding = judge_load(account)
        if finding is not None:
            yield finding


def judge_load(account: Mapping[str, Any]) -> Finding | None:
    """Return whether a forecast fits its budget; None where there is none to fit."""
    points, budget = account["hour"]["points"], account["budget"]
    if not points or budget is None:
        return None
    subject = f"budget of {', '.join(account['workspaces'])}"
    text = f"watching costs {points:,.0f} of {budget['points']:,} points an hour"
    if budget["assumed"]:
        text += ", which is what GitHub usually gives"
    words = account["stretch"]["words"]
    if not words:
        return Finding(subject, Health.OK, text)
    remedy = "watch less, or use an account of its own; see `prwatch budget`"
    return Finding(subject, Health.WARNING, f"{text}: {words}", remedy)
