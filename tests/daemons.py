"""A whole daemon over the simulated GitHub, on the time of its event loop."""

import contextlib
import dataclasses
import io
import json
import random

import anyio
import httpx

from prwatch.app.daemon.daemon import Daemon, open_shift
from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.health.report import describe_health
from prwatch.app.meter.metrics_pages import build_pages
from prwatch.app.surroundings import Surroundings
from prwatch.config.loader import load_config
from prwatch.simulator import DEFAULT_TOKEN, GitHubApp, World
from prwatch.telemetry.meter import Meter
from prwatch.telemetry.systemd import SystemdNotifier
from tests.product import LoopClock, write_config


@dataclasses.dataclass
class RunningDaemon:
    """A daemon that runs, and what a test wants to see of it."""

    daemon: Daemon
    world: World
    text: str
    """The configuration that the next reload reads."""

    @property
    def runtime(self):
        return self.daemon.shift.runtime

    def health(self):
        """Return what `prwatch health --json` would print."""
        return describe_health(self.daemon)

    def reasons(self):
        return [each["reason"] for each in self.health()["reasons"]]

    def page(self, path):
        """Return the status and the text of one of the pages."""
        page = build_pages(self.daemon)[path]()
        return page.status, page.content.decode()

    def metric(self, name, **labels):
        """Return the present value of a metric, None while it is not there."""
        wanted = ",".join(f'{key}="{value}"' for key, value in sorted(labels.items()))
        line = f"{name}{{{wanted}}} " if wanted else f"{name} "
        for each in self.page("/metrics")[1].splitlines():
            if each.startswith(line):
                return float(each.removeprefix(line))
        return None

    def ready(self):
        status, text = self.page("/readyz")
        return status, json.loads(text)


def make_daemon_world():
    """Return a world on the loop's time, with pull request 12 of octo/hello."""
    world = World(LoopClock())
    world.add_repository("octo/hello")
    world.open_pull_request("octo/hello", branch="fix", title="Greet", number=12)
    return world


@contextlib.asynccontextmanager
async def running_daemon(
    state_dir, world, *, transport=None, out=None, environ=None, notifier=None, **config
):
    """Run a daemon until the block ends, then stop it in good order."""
    clock = world.clock
    environ = {"HOME": str(state_dir), "TOKEN": DEFAULT_TOKEN, **(environ or {})}
    surroundings = Surroundings(
        environ=environ,
        clock=clock,
        chance=random.Random(5),
        stdout=out or io.BytesIO(),
        transport=transport or httpx.ASGITransport(GitHubApp(world)),
        is_inline=True,
    )
    running = RunningDaemon(None, world, write_config(state_dir, **config))

    def load():
        return load_config(running.text, environ=environ)

    registry, meter = LoopRegistry(clock), Meter()
    shift = await open_shift(load(), surroundings, registry, meter)
    running.daemon = Daemon(
        shift,
        load,
        registry=registry,
        meter=meter,
        notifier=notifier or SystemdNotifier(""),
    )
    async with anyio.create_task_group() as group:
        group.start_soon(running.daemon.run, ())
        while not running.daemon.has_started:
            await anyio.lowlevel.checkpoint()
        yield running
        running.daemon.request_stop()
