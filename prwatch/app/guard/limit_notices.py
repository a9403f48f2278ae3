"""Telling workspaces that a limit of the account that pays was reached, or is over."""

from collections.abc import Sequence

import structlog

from prwatch.app.guard.notices import write_notices
from prwatch.app.walk.cycle import Account, Cycle
from prwatch.domain.events import EventType
from prwatch.domain.notice import LimitNotice
from prwatch.domain.rate_limit import LimitChange
from prwatch.store import notices as rows
from prwatch.store.database import Database, Transaction

_log = structlog.get_logger()


async def tell_limits(cycle: Cycle, accounts: Sequence[Account]) -> None:
    """
    Write the events of limits that were reached or are over since the last call.

    That a server names ends which cannot be believed is logged once.
    """
    notices = [
        LimitNotice(
            workspace=workspace,
            bucket=news.bucket,
            blocked_until=news.blocked_until,
        )
        for account in accounts
        for news in account.github.limits.take_transitions()
        for workspace in account.workspaces
    ]
    await write_notices(cycle, notices)
    for account in accounts:
        limits = account.github.limits
        if limits.tracker.clamped_resets and not limits.has_told_clamps:
            limits.has_told_clamps = True
            _log.warning("rate_limit.end_clamped", host=account.host)


async def remember_told_limits(database: Database, accounts: Sequence[Account]) -> None:
    """
    Let each account know what was last told about its limits.

    So a restart tells nothing twice, and the end of what ended meanwhile once.
    """
    for account in accounts:

        async def read(tx: Transaction, account: Account = account) -> list[str]:
            return [
                str(event.data.get("bucket", ""))
                for workspace in account.workspaces
                for event in await rows.list_last_notices(tx, workspace.id)
                if event.type is EventType.RATE_LIMIT_CHANGED
                and event.data.get("state") == LimitChange.EXHAUSTED
            ]

        account.github.limits.remember_told(await database.read(read))
