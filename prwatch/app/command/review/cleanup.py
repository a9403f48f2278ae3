"""What `prwatch review cleanup` and `restore` do, and what a person sees of both."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from prwatch.app.cleanup.circuits import CleanupCircuit
from prwatch.app.cleanup.cleanup import ReviewCleanup
from prwatch.app.cleanup.sweep_order import SweepOrder
from prwatch.app.command.review.unreadable import refuse_unreadable
from prwatch.app.command.workbench import Workbench
from prwatch.app.control.client import ANSWER_SECONDS
from prwatch.app.outbox_relay import deliver_once
from prwatch.app.runtime import Runtime, open_runtime
from prwatch.config.loader import LoadedConfig
from prwatch.domain.review_watch import AuditActor
from prwatch.domain.timestamp import format_time
from prwatch.errors import ConfigError, NotFound
from prwatch.store import review_watches
from prwatch.store.database import Transaction

CLEANUP_SECONDS: Final = ANSWER_SECONDS * 10


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanupAnswer:
    """
    What cleaning up by hand came to, as plain JSON values.

    `findings` are what a dry run shows; in one nothing was deleted. `has_store_failed`
    says that a failure is the store's.
    """

    deleted: int
    findings: tuple[Mapping[str, Any], ...]
    failures: tuple[Mapping[str, Any], ...]
    has_store_failed: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints and an API answers."""
        return {"deleted": self.deleted}

    def as_plan(self) -> dict[str, Any]:
        """Return the object that `--dry-run --json` prints."""
        return {"plan": list(self.findings)}


async def clean_reviews(
    bench: Workbench,
    loaded: LoadedConfig,
    name: str = "",
    *,
    workspace: str = "",
    is_dry: bool = False,
) -> CleanupAnswer:
    """
    Sweep review tasks now: those of the watch of that name, or all.

    A running daemon does it. Circuits hold nothing back; what proves that a task is
    done is the same as ever.

    Raises:
        NotFound: There is no such workspace or review watch.
        ConfigError: Several workspaces have one.
        PrwatchError: The daemon could not do it.
    """
    if name:
        workspace = await _find_workspace(bench, name, workspace)
    else:
        await bench.list_workspaces(workspace)
    arguments = {"workspace": workspace, "name": name, "is_dry": is_dry}
    answer = await bench.ask_daemon(
        "review cleanup", seconds=CLEANUP_SECONDS, **arguments
    )
    if answer is None:
        async with open_runtime(loaded, bench.surroundings) as runtime:
            answer = await answer_cleanup(runtime, ReviewCleanup(runtime), arguments)
            if not is_dry:
                await deliver_once(runtime.relays)
    return CleanupAnswer(
        deleted=int(answer.get("deleted", 0)),
        findings=tuple(answer.get("findings", ())),
        failures=tuple(answer.get("failures", ())),
        has_store_failed=bool(answer.get("has_store_failed", False)),
    )


async def answer_cleanup(
    runtime: Runtime, cleanup: ReviewCleanup, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """
    Do what a command asks of the daemon: sweep `workspace` and `name`; '' is all.

    What the store could not do is a failure among the others: what went is told.

    Raises:
        StoreError: The store could not be read at all.
    """
    order = SweepOrder(
        workspace=str(arguments.get("workspace", "")),
        name=str(arguments.get("name", "")),
        by=AuditActor.PERSON,
        is_dry=bool(arguments.get("is_dry", False)),
    )
    report = await cleanup.run_once(order, beat=runtime.on_progress)
    return {
        "deleted": report.deleted,
        "findings": [each.as_json() for each in report.findings if order.is_dry],
        "failures": [each.as_json() for each in report.failures],
        "has_store_failed": report.error is not None,
    }


def answer_skips(cleanup: ReviewCleanup) -> dict[str, Any]:
    """Return what circuits of cleaning up hold back: rows and connections, by id."""
    found: dict[str, dict[str, Any]] = {"rows": {}, "connections": {}}
    for kind, key, standing in cleanup.circuits.items():
        group = "connections" if kind is CleanupCircuit.SHARED else "rows"
        found[group][key] = {
            "class": standing.blow.failure_class.value,
            "code": standing.blow.code,
            "message": standing.blow.message,
            "until": format_time(standing.open_until),
        }
    return found


async def _find_workspace(bench: Workbench, name: str, workspace: str) -> str:
    """Return the one workspace that has a review watch of that name."""
    stored = await bench.list_workspaces(workspace)

    async def read(tx: Transaction) -> list[str]:
        return [
            each.name
            for each in stored
            if await review_watches.find_review_watch(tx, each.id, name) is not None
        ]

    found = await bench.database.read(read)
    if len(found) > 1:
        raise ConfigError(f"choose one with --workspace: {', '.join(found)}")
    if not found:
        await refuse_unreadable(bench, name, workspace)
        raise NotFound(
            f"there is no review watch {name}", hint="`prwatch review list` names them"
        )
    return found[0]
