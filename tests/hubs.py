"""A simulated GitHub on the loopback, for commands that run in the test's process."""

import contextlib

from anyio.from_thread import start_blocking_portal

from prwatch.clock import SystemClock
from prwatch.simulator import DEFAULT_TOKEN, GitHubApp, World, serve


@contextlib.contextmanager
def open_hub():
    """Serve a world with pull request 12 of octo/hello; give it and its address."""
    world = World(SystemClock())
    world.add_repository("octo/hello")
    world.open_pull_request("octo/hello", branch="fix", title="Fix it", number=12)
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serve(GitHubApp(world))) as url,
    ):
        yield world, f"{url}/api/v3"


def write_config(api_url, state_dir, more=""):
    """Return a configuration that watches nothing yet, and announces at once."""
    return f"""
state_dir = "{state_dir}"

[poll]
settle = "0s"
tick = "100ms"
hot_interval = "1s"

[[workspace]]
name = "acme"
token_env = "ACME_TOKEN"
api_url = "{api_url}"
{more}
"""


def get_environ():
    """Return the variables that such a configuration names."""
    return {"ACME_TOKEN": DEFAULT_TOKEN}
