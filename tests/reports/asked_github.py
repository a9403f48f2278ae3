"""The simulated GitHub, with what it was asked for as it came in."""

import httpx

from prwatch.simulator import GitHubApp


class AskedGitHub(httpx.AsyncBaseTransport):
    """
    Answers as the world does, and keeps the text of each request.

    What is answered with 304 is left out: GitHub does not count it.
    """

    def __init__(self, world):
        self._world = httpx.ASGITransport(GitHubApp(world))
        self._asked = []

    async def handle_async_request(self, request):
        answer = await self._world.handle_async_request(request)
        if answer.status_code != 304:
            self._asked.append(f"{request.url.path} {request.content.decode()}")
        return answer

    def take(self):
        """Return what was asked since the last call, each once."""
        asked, self._asked = set(self._asked), []
        return asked
