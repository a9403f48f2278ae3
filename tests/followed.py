"""A product that follows a folder of watch files of a simulated repository."""

import contextlib

from prwatch.app.sync.sync_loop import sync_due
from prwatch.simulator import World
from tests.product import MovedClock, open_product

SYNC = '[[workspace.sync]]\nrepository = "octo/team"\ninterval = "5m"'
HELLO = '[[watch]]\nrepository = "octo/hello"\npull_request = 12\n'
FIX = '[[watch]]\nrepository = "octo/hello"\nbranch = "fix"\n'
BROKEN = '[[watch]]\nrepository = "octo/hello"\nbrnch = "fix"\n'
TASK = (
    '[[task]]\nid = "T-1"\ntitle = "One"\n'
    '[[task.repositories]]\nrepository = "octo/hello"\nbranch = "fix"\n'
)
INTERVAL = 300.0


def make_team():
    """Return a world with octo/hello#12, and octo/team that holds no list yet."""
    world = World(MovedClock())
    world.add_repository("octo/hello")
    world.add_repository("octo/team")
    world.write_file("octo/team", "README.md", "ours")
    world.open_pull_request("octo/hello", branch="greet", title="Greet", number=12)
    return world


@contextlib.asynccontextmanager
async def follow(tmp_path, world, *, sync=SYNC, **config):
    """Open a product that follows octo/team; opening it again is a restart."""
    config = {"watches": (), "tasks": sync, **config}
    async with open_product(tmp_path, world, **config) as product:
        yield product


async def turn(product, gap=INTERVAL):
    """Let an interval pass and look at what is due; return the one outcome."""
    product.clock.advance(gap)
    (outcome,) = await sync_due(product.runtime)
    return outcome


def list_active(product):
    """Return the ids of the tasks that are not archived, in their order."""
    rows = product.ask(
        "SELECT external_id FROM tasks WHERE archived_at IS NULL ORDER BY external_id"
    )
    return [row["external_id"] for row in rows]


def write(world, text, name="a.toml"):
    """Write a file of the followed folder."""
    world.write_file("octo/team", f".prwatch/{name}", text)
