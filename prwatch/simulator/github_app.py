"""
The ASGI application that the simulated GitHub is.

It is the gate: who asks, which limits and faults stand in the way, what is
counted. What is behind the gate is in `graph` and `rest`.
"""

import datetime as dt
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import unquote

import msgspec

from prwatch.simulator.answer import (
    UNICORN,
    Answer,
    build_failure,
    build_primary,
    build_rate_headers,
    build_secondary,
    render_http_date,
)
from prwatch.simulator.carriage import (
    ConnectionBroken,
    Send,
    carry,
    change_body,
    hold_back,
    pack,
)
from prwatch.simulator.fault_answers import build_replacement
from prwatch.simulator.faults import REPLACING, Fault
from prwatch.simulator.graph.answer import answer_graphql, find_operation_name
from prwatch.simulator.installations import (
    SUSPENDED,
    answer_access_token,
    find_installation,
)
from prwatch.simulator.limits import Token
from prwatch.simulator.request_log import Request
from prwatch.simulator.rest.answer import Call, answer_rest
from prwatch.simulator.world import World

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]

__all__ = ["ConnectionBroken", "GitHubApp"]

MAX_BODY_BYTES = 4 << 20
API_VERSIONS = frozenset({"", "2022-11-28", "2026-03-10"})


@dataclass(slots=True, kw_only=True)
class _Incoming:
    """A request as far as the gate reads it. `path` has no Enterprise prefix."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes
    payload: Any
    operation: str
    request_id: str
    base_url: str

    @property
    def is_graphql(self) -> bool:
        return self.path == "/graphql"

    @property
    def bucket(self) -> str:
        if self.is_graphql:
            return "graphql"
        return "search" if self.path.startswith("/search/") else "core"

    @property
    def credential(self) -> str:
        scheme, _, value = self.headers.get("authorization", "").partition(" ")
        return value.strip() if scheme.lower() in {"bearer", "token"} else ""


class GitHubApp:
    """Answers for one world, at `/` as github.com and at `/api/…` as Enterprise."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._count = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request. Raises `ConnectionBroken` to break the line."""
        if scope["type"] != "http":
            raise ValueError(f"{scope['type']} is not answered here")
        incoming = await self._read(scope, receive)
        log = self.world.requests
        log.in_flight += 1
        log.max_in_flight = max(log.max_in_flight, log.in_flight)
        line = f"{incoming.method} {unquote(incoming.path)} {incoming.operation}"
        faults = self.world.faults.take(line, incoming.credential)
        try:
            answer = await self._answer(incoming, faults)
        finally:
            log.in_flight -= 1
        answer = pack(answer, faults, incoming.headers.get("accept-encoding", ""))
        self._record(incoming, answer)
        headers = self._finish(incoming, answer)
        await carry(send, answer, headers, faults, self.world.clock)

    async def _read(self, scope: Scope, receive: Receive) -> _Incoming:
        body = b""
        while len(body) <= MAX_BODY_BYTES:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body", False):
                break
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        raw_path = scope.get("raw_path") or scope["path"].encode()
        path = raw_path.decode("latin-1").partition("?")[0]
        host = headers.get("host", "api.github.com")
        base_url = f"{scope.get('scheme', 'http')}://{host}"
        if path.startswith("/api/v3"):
            base_url += "/api/v3"
            path = path.removeprefix("/api/v3")
        path = "/graphql" if path in {"/api/graphql", "/graphql/"} else path
        self._count += 1
        payload = _parse_payload(body) if path == "/graphql" else None
        return _Incoming(
            method=scope["method"],
            path=path,
            query=scope.get("query_string", b"").decode("latin-1"),
            headers=headers,
            body=body,
            payload=payload,
            operation=find_operation_name(payload),
            request_id=f"C0DE:{self._count:04X}:{self._count:06X}:5EED:C10C",
            base_url=base_url,
        )

    async def _answer(self, incoming: _Incoming, faults: list[Fault]) -> Answer:
        world = self.world
        await hold_back(faults, world.clock)
        replacing = [fault for fault in faults if fault.kind in REPLACING]
        if world.down_until is not None and world.now() < world.down_until:
            return Answer(502, UNICORN, content_type="text/html; charset=utf-8")
        if replacing and replacing[0].kind not in {"cut_json", "rate_limited"}:
            return self._replace(incoming, replacing[0])
        return change_body(self._pass_gate(incoming, faults), faults)

    def _replace(self, incoming: _Incoming, fault: Fault) -> Answer:
        if fault.kind == "secondary" and fault.is_held:
            wait = dt.timedelta(seconds=fault.retry_after or 60)
            self.world.faults.holds[incoming.credential] = self.world.now() + wait
        return build_replacement(
            fault, incoming.request_id, is_graphql=incoming.is_graphql
        )

    def _pass_gate(self, incoming: _Incoming, faults: list[Fault]) -> Answer:
        world = self.world
        token = world.find_token(incoming.credential)
        installation = find_installation(incoming.method, incoming.path)
        refusal = _check_manners(incoming)
        if installation is None:
            refusal = refusal or self._check_credential(incoming, token)
        if refusal is not None:
            return refusal
        held_until = world.faults.holds.get(incoming.credential)
        for until in (world.secondary_until, held_until):
            if until is not None and world.now() < until:
                world.requests.while_limited += 1
                left = int((until - world.now()).total_seconds())
                return build_secondary(incoming.request_id, left)
        for fault in faults:
            if fault.kind == "rate_limited":
                return self._use_up(incoming, token, fault)
        if installation is not None:
            return answer_access_token(world, installation, incoming.credential)
        if incoming.is_graphql and token is not None:
            return answer_graphql(world, token, incoming.payload, faults)
        return self._answer_rest(incoming, token, faults)

    def _use_up(self, incoming: _Incoming, token: Token | None, fault: Fault) -> Answer:
        login, number = _identify(token)
        budget = self.world.get_budget(login, incoming.bucket)
        budget.used = budget.limit
        if fault.seconds is not None:
            budget.reset_at = self.world.now() + dt.timedelta(seconds=fault.seconds)
        return build_primary(
            login, number, is_graphql=incoming.is_graphql, status=fault.status or 403
        )

    def _check_credential(
        self, incoming: _Incoming, token: Token | None
    ) -> Answer | None:
        if token is None and incoming.credential:
            return build_failure(401, "Bad credentials")
        if token is None and incoming.is_graphql:
            return build_failure(401, "This endpoint requires you to be authenticated.")
        if token is not None and self.world.is_suspended(token.installation):
            return build_failure(403, SUSPENDED)
        return None

    def _answer_rest(
        self, incoming: _Incoming, token: Token | None, faults: list[Fault]
    ) -> Answer:
        world = self.world
        login, number = _identify(token)
        budget = world.get_budget(login, incoming.bucket)
        is_free = incoming.path == "/rate_limit"
        if budget.remaining == 0 and not is_free:
            world.requests.while_limited += 1
            return build_primary(login, number, is_graphql=False)
        call = Call(
            method=incoming.method,
            path=incoming.path,
            query=incoming.query,
            base_url=incoming.base_url,
            tag=incoming.headers.get("if-none-match", ""),
            credential=incoming.credential,
            accept=incoming.headers.get("accept", ""),
            faults=tuple(faults),
        )
        answer = answer_rest(world, token, call)
        if not is_free and not (answer.status == 304 and token is not None):
            answer.cost = 1
            budget.used += 1
        return answer

    def _finish(self, incoming: _Incoming, answer: Answer) -> dict[str, str]:
        """Return all headers, in which each answer says what is left."""
        world = self.world
        headers = {
            "date": render_http_date(world.now()),
            "content-type": answer.content_type,
            "content-length": str(len(answer.body)),
            "server": "github.com",
            "x-github-request-id": incoming.request_id,
            **answer.headers,
        }
        if answer.status == 304:
            del headers["content-length"]
        if answer.status == 401 or answer.content_type.startswith("text/html"):
            return headers
        token = world.find_token(incoming.credential)
        login, _ = _identify(token)
        budget = world.get_budget(login, incoming.bucket)
        headers.update(build_rate_headers(budget, incoming.bucket))
        if world.enterprise_version:
            headers["x-github-enterprise-version"] = world.enterprise_version
        version = "v4" if incoming.is_graphql else "v3"
        headers["x-github-media-type"] = f"github.{version}; format=json"
        if token is not None and token.scopes is not None:
            headers["x-oauth-scopes"] = ", ".join(token.scopes)
        if token is not None and token.expires_at is not None:
            expires = f"{token.expires_at:%Y-%m-%d %H:%M:%S} UTC"
            headers["github-authentication-token-expiration"] = expires
        return headers

    def _record(self, incoming: _Incoming, answer: Answer) -> None:
        request = Request(
            method=incoming.method,
            path=incoming.path,
            operation=incoming.operation,
            status=answer.status,
            cost=answer.cost,
            ids_count=answer.ids_count,
            body_bytes=len(answer.body),
        )
        self.world.requests.add(request, is_graphql=incoming.is_graphql)


def _parse_payload(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _identify(token: Token | None) -> tuple[str, int]:
    """Return who pays: the account's login and number."""
    if token is None:
        return "", 0
    return token.account.login, token.account.database_id


def _check_manners(incoming: _Incoming) -> Answer | None:
    """Refuse what GitHub refuses of anybody: no name, an unknown API version."""
    if not incoming.headers.get("user-agent"):
        text = "Request forbidden by administrative rules. Please make sure your "
        return build_failure(403, f"{text}request has a User-Agent header.")
    version = incoming.headers.get("x-github-api-version", "")
    if version not in API_VERSIONS:
        return build_failure(400, f'"{version}" is not a supported API version.')
    return None
