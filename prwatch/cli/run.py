"""`prwatch run`: watch until stopped."""

import os
from typing import TYPE_CHECKING

import click

from prwatch.cli.options import get_options, global_options, load, run_async

if TYPE_CHECKING:
    from prwatch.app.surroundings import Surroundings
    from prwatch.config.loader import LoadedConfig
    from prwatch.telemetry.redaction import Redactor


@click.command("run")
@click.option(
    "--metrics-listen",
    metavar="HOST:PORT",
    default="",
    help="Answer /metrics, /healthz and /readyz at this address of this machine.",
)
@global_options
@click.pass_context
def command(ctx: click.Context, *, metrics_listen: str) -> None:
    """
    Watch until stopped.

    Asks GitHub when something is due, and delivers what changed. SIGTERM and SIGINT
    stop it, a second one at once; SIGHUP reads the configuration again. Under
    systemd it tells when it is ready and that it lives.
    """
    from prwatch.cli.logs import start_logging  # noqa: PLC0415 - heavy
    from prwatch.cli.surroundings import build_surroundings  # noqa: PLC0415 - heavy

    get_options(ctx).metrics_listen = metrics_listen
    loaded = load(ctx)
    redactor = start_logging(ctx, loaded)
    surroundings = build_surroundings(ctx)
    run_async(lambda: _run(ctx, loaded, surroundings, redactor))


async def _run(
    ctx: click.Context,
    loaded: "LoadedConfig",
    surroundings: "Surroundings",
    redactor: "Redactor",
) -> None:
    from prwatch.app.control.socket_place import choose_socket_path  # noqa: PLC0415 - heavy
    from prwatch.app.daemon.daemon import Daemon, open_shift  # noqa: PLC0415 - heavy
    from prwatch.app.daemon.daemon_lock import acquire_daemon_lock  # noqa: PLC0415 - heavy
    from prwatch.app.daemon.loop_registry import LoopRegistry  # noqa: PLC0415 - heavy
    from prwatch.app.daemon.standing import build_standing  # noqa: PLC0415 - heavy
    from prwatch.app.meter.metrics_listener import (  # noqa: PLC0415 - heavy
        open_metrics_listener,
    )
    from prwatch.cli.logs import read_secrets  # noqa: PLC0415 - heavy
    from prwatch.config.places import prepare_state_dir  # noqa: PLC0415 - heavy
    from prwatch.telemetry.meter import Meter  # noqa: PLC0415 - heavy
    from prwatch.telemetry.systemd import (  # noqa: PLC0415 - heavy
        SystemdNotifier,
        read_notify_settings,
    )

    options = get_options(ctx)
    environ = options.environ
    if loaded.path is not None:
        # A file that is missing just now, because somebody writes it anew, must not
        # make an empty configuration or another file's take its place.
        options.config_file = str(loaded.path)

    def reload() -> "LoadedConfig":
        again = load(ctx)
        for secret in read_secrets(again.config, environ):
            redactor.register(secret)
        return again

    state_dir = prepare_state_dir(loaded.config.state_dir)
    socket_path = choose_socket_path(environ, state_dir)
    settings = read_notify_settings(environ, pid=os.getpid())
    registry, meter = LoopRegistry(surroundings.clock, redact=redactor.redact), Meter()
    with (
        SystemdNotifier(settings.address) as notifier,
        acquire_daemon_lock(state_dir, socket_path=socket_path),
        open_metrics_listener(loaded.config.daemon.metrics_listen) as listening,
    ):
        shift = await open_shift(loaded, surroundings, registry, meter)
        daemon = Daemon(
            shift, reload, registry=registry, meter=meter, notifier=notifier
        )
        standing = build_standing(
            daemon,
            socket_path=socket_path,
            notifier=notifier,
            watchdog_interval=settings.watchdog,
            listening=listening,
        )
        await daemon.run(standing)
