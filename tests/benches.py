"""A workbench over a real database and a simulated GitHub, for tests of commands."""

import contextlib
import dataclasses
import io
import random

import httpx

from prwatch.app.command.workbench import open_workbench
from prwatch.app.polling import run_everything_once
from prwatch.app.runtime import open_runtime
from prwatch.app.surroundings import Surroundings
from prwatch.config.loader import load_config
from prwatch.simulator import DEFAULT_TOKEN, GitHubApp, World
from tests.unit.simulator.stage import MovedClock

ONE = """
[[workspace]]
name = "acme"
token_env = "ACME_TOKEN"
"""
TWO = f"""{ONE}
[[workspace]]
name = "corp"
token_env = "ACME_TOKEN"
api_url = "https://github.corp.example/api/v3"
"""


@dataclasses.dataclass
class Stage:
    """A world, the configuration that watches it, and what the product is given."""

    world: World
    loaded: object
    surroundings: Surroundings

    @property
    def clock(self):
        return self.world.clock

    @contextlib.asynccontextmanager
    async def bench(self):
        async with open_workbench(self.loaded, self.surroundings) as bench:
            yield bench

    async def cycle(self, *, seconds=60):
        """Let time pass and run one cycle of the whole product."""
        self.clock.advance(seconds)
        async with open_runtime(self.loaded, self.surroundings) as runtime:
            return await run_everything_once(runtime)


def make_stage(folder, text=ONE, *, seed=1):
    """Build a stage whose world has octo/hello with pull request 12 on branch `fix`."""
    environ = {"HOME": str(folder), "ACME_TOKEN": DEFAULT_TOKEN}
    file = folder / "prwatch.toml"
    file.write_text(f'state_dir = "{folder}/state"\n{text}')
    world = World(MovedClock())
    world.add_repository("octo/hello")
    world.open_pull_request("octo/hello", branch="fix", title="Fix it", number=12)
    surroundings = Surroundings(
        environ=environ,
        clock=world.clock,
        chance=random.Random(seed),
        stdout=io.BytesIO(),
        transport=httpx.ASGITransport(GitHubApp(world)),
    )
    return Stage(world, load_config(file, environ=environ, cwd=folder), surroundings)


def get_pull_request(world, number=12):
    """Return a pull request of octo/hello."""
    return next(each for each in world.pull_requests.values() if each.number == number)
