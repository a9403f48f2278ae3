"""A GitHub whose good answers a test changes on their way: odd shapes and headers."""

import json
from dataclasses import dataclass, field

import httpx

from prwatch.simulator import GitHubApp


@dataclass
class Answered:
    """One answer that is about to leave, with what was asked for."""

    method: str
    path: str
    query: str
    operation: str
    variables: dict
    status: int
    headers: dict
    body: object = field(repr=False)

    @property
    def is_graphql(self):
        return self.path.endswith("graphql")


class AlteredGitHub(httpx.AsyncBaseTransport):
    """
    Answers as the world does; `alter` may change each `Answered` in place.

    `asked` are all answers so far, as they left.
    """

    def __init__(self, world, alter=None):
        self._world = httpx.ASGITransport(GitHubApp(world))
        self.alter = alter
        self.asked = []

    async def handle_async_request(self, request):
        answer = await self._world.handle_async_request(request)
        content = await answer.aread()
        posted = json.loads(request.content) if request.content else {}
        answered = Answered(
            method=request.method,
            path=request.url.path,
            query=request.url.query.decode(),
            operation=posted.get("operationName", ""),
            variables=posted.get("variables", {}),
            status=answer.status_code,
            headers=dict(answer.headers),
            body=json.loads(content) if content.startswith((b"{", b"[")) else content,
        )
        self.asked.append(answered)
        if self.alter is not None:
            self.alter(answered)
        if not isinstance(answered.body, bytes):
            content = json.dumps(answered.body).encode()
        headers = {**answered.headers, "content-length": str(len(content))}
        if answered.status == 304:
            del headers["content-length"]
        return httpx.Response(answered.status, headers=headers, content=content)


def walk(value):
    """Yield every object inside a JSON value, the outer ones first."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from walk(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from walk(inner)


def put_everywhere(name, value):
    """Return an `alter` that sets a member wherever it stands; None removes nothing."""

    def alter(answered):
        for each in walk(answered.body):
            if name in each:
                each[name] = value

    return alter


def drop_everywhere(*names):
    """Return an `alter` that takes members out wherever they stand."""

    def alter(answered):
        for each in walk(answered.body):
            for name in names:
                each.pop(name, None)

    return alter
