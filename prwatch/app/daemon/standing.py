"""The services that stand as long as the process, whatever the configuration says."""

import datetime as dt
import socket
from pathlib import Path

from prwatch.app.control.commands import build_commands
from prwatch.app.control.server import ControlServer
from prwatch.app.daemon.daemon import Daemon
from prwatch.app.daemon.service import Service
from prwatch.app.daemon.watchdog import Watchdog
from prwatch.telemetry.systemd import SystemdNotifier


def build_standing(
    daemon: Daemon,
    *,
    socket_path: Path,
    notifier: SystemdNotifier,
    watchdog_interval: dt.timedelta | None,
    listening: socket.socket | None,
) -> tuple[Service, ...]:
    """Return control socket, watchdog and, where somebody may listen, the metrics."""
    watchdog = Watchdog(
        notifier=notifier,
        registry=daemon.registry,
        clock=daemon.shift.runtime.clock,
        interval=watchdog_interval,
        describe=daemon.describe,
    )
    control = ControlServer(socket_path, build_commands(daemon))
    if listening is None:
        return control, watchdog
    # The library of metrics costs a tenth of a second: who asks pays.
    from prwatch.app.meter.metrics_pages import (  # noqa: PLC0415 - as above
        build_metrics_server,
    )

    return control, watchdog, build_metrics_server(listening, daemon)
