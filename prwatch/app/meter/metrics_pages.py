"""The three pages that a daemon answers over HTTP, made of what its parts know now."""

import json
import socket
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from prwatch.app.health.report import gather_facts, render_reasons
from prwatch.app.meter.metering import (
    put_ages,
    put_budgets,
    put_cleanup,
    put_health,
    put_loops,
    put_reviews,
    put_store,
)
from prwatch.app.meter.metrics_server import MetricsServer, Page
from prwatch.app.meter.sync_metering import put_sync
from prwatch.domain.health import judge
from prwatch.telemetry import metrics
from prwatch.telemetry.meter import Meter
from prwatch.telemetry.process import count_open_files, read_resident_bytes

if TYPE_CHECKING:
    from prwatch.app.daemon.daemon import Daemon

JSON = "application/json"


def build_metrics_server(listening: socket.socket, daemon: "Daemon") -> MetricsServer:
    """Return the service that answers the pages of a daemon on that socket."""
    return MetricsServer(listening, build_pages(daemon))


def build_pages(daemon: "Daemon") -> Mapping[str, Callable[[], Page]]:
    """
    Return the pages by path.

    `/healthz` follows what the systemd watchdog follows: whoever restarts a process
    by it does so when a loop makes no progress, and never for GitHub's sake.
    """
    # The library costs a tenth of a second and some memory: who asks pays.
    from prwatch.telemetry.exposition import CONTENT_TYPE, Exposition  # noqa: PLC0415

    exposition = Exposition(daemon.meter)

    def show_metrics() -> Page:
        refresh(daemon)
        return Page(exposition.render(), CONTENT_TYPE)

    def show_alive() -> Page:
        stalled = daemon.registry.list_stalled()
        return Page(b"stalled\n", status=503) if stalled else Page(b"ok\n")

    def show_ready() -> Page:
        health = judge(gather_facts(daemon))
        hindering = health.list_unready()
        content: dict[str, Any] = {
            "ready": health.is_ready,
            "verdict": health.verdict.value,
            "reasons": render_reasons(hindering or health.reasons),
        }
        status = 200 if health.is_ready else 503
        return Page(json.dumps(content).encode() + b"\n", JSON, status)

    return {"/metrics": show_metrics, "/healthz": show_alive, "/readyz": show_ready}


def refresh(daemon: "Daemon") -> None:
    """Let the meter show what holds now. It asks nobody and waits for nothing."""
    shift, meter = daemon.shift, daemon.meter
    facts = gather_facts(daemon)
    loops = daemon.registry.list_facts()
    daemon.take_totals()
    put_health(meter, facts, judge(facts))
    put_reviews(meter, shift.reviews.queue)
    put_cleanup(meter, shift.cleanup.cleanup)
    put_sync(meter, shift.runtime.sync_memory)
    put_loops(meter, loops)
    put_budgets(meter, shift.runtime)
    put_ages(meter, shift.canary.ages, shift.runtime.clock.now())
    kinds = {relay.name: relay.kind for relay in shift.runtime.relays}
    put_store(meter, shift.gauges.facts, kinds, shift.runtime.clock)
    _put_process(meter)


def _put_process(meter: Meter) -> None:
    for metric, value in (
        (metrics.RESIDENT, read_resident_bytes()),
        (metrics.OPEN_FILES, count_open_files()),
    ):
        meter.put_all(metric, {} if value is None else {(): value})
