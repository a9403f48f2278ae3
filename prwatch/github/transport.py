"""
Posts GraphQL documents on our HTTP client: gql's own extension point.

Beside the data it keeps status, headers and errors, and partial data is never lost.
The printed text of a document is sent as it is; the data is split to raw members
only, so that what did not change needs no decoding. gql's stock transport prints the
document anew on each call and shares one set of headers between requests.
"""

import functools
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import httpx
import msgspec
from gql import GraphQLRequest
from gql.transport.async_transport import AsyncTransport
from graphql import ExecutionResult

from prwatch.clock import Clock
from prwatch.errors import RateLimited
from prwatch.github.classify import judge
from prwatch.github.documents import Document
from prwatch.github.exchange import Exchange, GraphQLError, parse_errors
from prwatch.github.sender import Sender, Sending
from prwatch.github.text import clean_text, repair_json

_HEADERS: Final = {
    "Accept": "application/json",
    "Content-Type": "application/json",
}


class PrintedRequest(GraphQLRequest):
    """A request whose document was printed before."""

    def __init__(self, document: Document, variables: Mapping[str, Any]) -> None:
        # A field that is left out takes its variables with it.
        declared = {
            name: value
            for name, value in variables.items()
            if name in document.variables
        }
        super().__init__(document.tree, variable_values=declared)
        self.printed = document

    @property
    def payload(self) -> dict[str, Any]:
        """Return the members of the body, without printing the document again."""
        return {
            "query": self.printed.text,
            "operationName": self.printed.name,
            "variables": self.variable_values,
        }


class _Envelope(msgspec.Struct):
    data: msgspec.Raw = msgspec.Raw(b"null")
    errors: msgspec.Raw = msgspec.Raw(b"null")
    message: msgspec.Raw = msgspec.Raw(b"null")


_ENVELOPE: Final = msgspec.json.Decoder(_Envelope)
_MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ENCODE: Final = msgspec.json.Encoder().encode


class GitHubTransport(AsyncTransport):
    """
    Asks one GraphQL endpoint.

    The result's `data` is a dict of raw members, its `extensions["exchange"]` the
    `Exchange`, and its `errors` are always None: they stand in the exchange. Every
    answer is shown to `observe`, with its members, before it is judged. `check` is
    called with the operation when a request is about to be sent, and may refuse it.
    """

    def __init__(
        self,
        sender: Sender,
        url: str,
        *,
        clock: Clock,
        check: Callable[[str], None],
        observe: Callable[[Exchange, Mapping[str, msgspec.Raw]], RateLimited | None],
    ) -> None:
        self.repaired_bodies = 0
        """Bodies that only the slow decoder could read."""
        self.body_bytes = 0
        self._sender = sender
        self._url = url
        self._clock = clock
        self._check = check
        self._observe = observe

    async def connect(self) -> None:
        """Do nothing: the HTTP client belongs to the caller."""

    async def close(self) -> None:
        """Do nothing: the HTTP client belongs to the caller."""

    async def execute(self, request: GraphQLRequest) -> ExecutionResult:
        """
        Ask once and return data that can be read, in full or in part.

        Raises:
            ProviderError: the answer as a whole says so, or none came.
        """
        payload = request.payload
        operation = payload.get("operationName", "")
        sending = Sending(
            "POST",
            self._url,
            operation,
            _HEADERS,
            _ENCODE(payload),
            check=functools.partial(self._check, operation),
        )
        response = await self._sender.send(sending)
        self.body_bytes += len(response.content)
        data, exchange = self._read(response, operation)
        limit = self._observe(exchange, data)
        error = judge(exchange)
        if error is not None:
            raise limit or error
        return ExecutionResult(data, None, {"exchange": exchange})

    def subscribe(
        self,
        request: GraphQLRequest,  # noqa: ARG002 - gql's signature
    ) -> AsyncGenerator[ExecutionResult, None]:
        """
        Refuse: GitHub has no subscriptions.

        Raises:
            TypeError: always.
        """
        raise TypeError("GitHub's GraphQL interface has no subscriptions")

    def _read(
        self, response: httpx.Response, operation: str
    ) -> tuple[dict[str, msgspec.Raw], Exchange]:
        parts = self._decode(response.content)
        members = parts.members if parts else None
        exchange = Exchange(
            status=response.status_code,
            headers=response.headers,
            operation=operation,
            is_graphql=True,
            is_json=parts is not None,
            has_data=members is not None,
            message=parts.message if parts else "",
            errors=parts.errors if parts else (),
            received_at=self._clock.now(),
            asked_bucket="graphql",
        )
        return members or {}, exchange

    def _decode(self, body: bytes) -> "_Parts | None":
        """Split the body, the slow way if need be; None when it is no envelope."""
        try:
            return _split(body)
        except (msgspec.ValidationError, RecursionError):
            return None
        except (msgspec.DecodeError, UnicodeDecodeError):
            pass
        try:
            parts = _split(repair_json(body))
        except (ValueError, msgspec.MsgspecError, RecursionError):
            return None
        self.repaired_bodies += 1
        return parts


@dataclass(frozen=True, slots=True)
class _Parts:
    """A body taken apart. `members` is None when its data is no object."""

    members: dict[str, msgspec.Raw] | None
    errors: tuple[GraphQLError, ...]
    message: str


def _split(body: bytes) -> _Parts:
    envelope = _ENVELOPE.decode(body)
    has_members = memoryview(envelope.data)[0] == ord("{")
    said = msgspec.json.decode(envelope.message)
    return _Parts(
        members=_MEMBERS.decode(envelope.data) if has_members else None,
        errors=parse_errors(msgspec.json.decode(envelope.errors)),
        message=clean_text(said) if isinstance(said, str) else "",
    )
