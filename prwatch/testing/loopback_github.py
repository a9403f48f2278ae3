"""A simulated GitHub that answers on the loopback, for a program in any process."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from anyio.from_thread import start_blocking_portal

from prwatch.simulator import DEFAULT_TOKEN, GitHubApp, World, serve


@dataclass(frozen=True, slots=True)
class LoopbackGitHub:
    """
    A world at an address. Whoever holds it moves `world`; everybody may ask `url`.

    It is answered from a thread of its own: a verb that is called while nothing is
    asked has taken effect when it returns.
    """

    world: World
    url: str
    token: str = DEFAULT_TOKEN

    @property
    def api_url(self) -> str:
        """Return what stands as `api_url` in a configuration."""
        return f"{self.url}/api/v3"


@contextlib.contextmanager
def open_loopback_github(world: World) -> Iterator[LoopbackGitHub]:
    """Answer for the world as long as the block runs."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serve(GitHubApp(world))) as url,
    ):
        yield LoopbackGitHub(world, url)
