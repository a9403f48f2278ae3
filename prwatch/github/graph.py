"""
Asks GraphQL questions one after the other, within the limits, and counts their cost.

Overlapping requests of one token draw the secondary limit, so each waits for the one
before it and then looks at the limits again. A field that an old server does not know
is left out for that host, and the question is asked again without it.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec
from gql import Client
from gql.client import AsyncClientSession

from prwatch.clock import Clock
from prwatch.domain.reference import Usage
from prwatch.errors import ProtocolViolation, ProviderUnavailable
from prwatch.github.classify import UnknownField
from prwatch.github.documents import DocumentBook
from prwatch.github.exchange import Exchange
from prwatch.github.limits import Limits
from prwatch.github.path_errors import FaultMap, map_faults
from prwatch.github.plausible import Timed
from prwatch.github.sender import Sender
from prwatch.github.transport import GitHubTransport, PrintedRequest

GRAPHQL: Final = "graphql"
MAX_UNKNOWN_FIELDS: Final = 20
NULL: Final = msgspec.Raw(b"null")
_LIST: Final = msgspec.json.Decoder(list[msgspec.Raw])


class _RateLimit(Timed, rename="camel"):
    cost: int = 1
    limit: int | None = None
    remaining: int | None = None
    reset_at: dt.datetime | None = None


_RATE_LIMIT: Final = msgspec.json.Decoder(_RateLimit)


@dataclass(frozen=True, slots=True)
class Answer:
    """The members of an answer's data, undecoded, and what stood beside them."""

    members: Mapping[str, msgspec.Raw]
    exchange: Exchange
    observed_at: dt.datetime

    def get(self, name: str) -> msgspec.Raw:
        """Return a member; one that is missing is null."""
        return self.members.get(name, NULL)

    def get_list(self, name: str) -> list[msgspec.Raw]:
        """
        Return the items of a member that is a list; null is no items.

        Raises:
            ProviderUnavailable: the member is something else.
        """
        raw = self.get(name)
        if is_null(raw):
            return []
        try:
            return _LIST.decode(raw)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise ProviderUnavailable(
                "GitHub answered with something that is no list",
                operation=self.exchange.operation,
                request_id=self.exchange.request_id,
                scope="host",
                status=self.exchange.status,
            ) from error

    def map_faults(self, places: Sequence[tuple[str | int, ...]]) -> FaultMap:
        """Return which of the places each error of the answer touches."""
        return map_faults(self.exchange.errors, places)


def is_null(raw: msgspec.Raw) -> bool:
    """Tell whether a raw value is JSON's null."""
    return raw == NULL


class Graph:
    """One credential's way to the GraphQL endpoint."""

    def __init__(
        self, sender: Sender, url: str, *, clock: Clock, limits: Limits
    ) -> None:
        self.documents = DocumentBook()
        self._clock = clock
        self._limits = limits
        self._transport = GitHubTransport(
            sender, url, clock=clock, observe=limits.observe
        )
        self._session = AsyncClientSession(
            # Without a schema gql checks nothing; our tests do, against GitHub's own.
            Client(transport=self._transport, execute_timeout=None)
        )
        self._usage = Usage()

    @property
    def usage(self) -> Usage:
        """Return what was asked so far."""
        return replace(self._usage, body_bytes=self._transport.body_bytes)

    async def ask(self, operation: str, variables: Mapping[str, Any]) -> Answer:
        """
        Ask an operation, given by name or as text, and return what can be read.

        Raises:
            RateLimited: a limit forbids the call, or the answer says so.
            ProviderError: nothing of the answer can be read.
        """
        async with self._limits.requests:
            for _ in range(MAX_UNKNOWN_FIELDS):
                try:
                    return await self._ask_once(operation, variables)
                except UnknownField as error:
                    if not self.documents.refuse(error.path):
                        raise
        raise ProtocolViolation(
            "the server does not know too many of the fields that we ask for",
            operation=operation,
            scope="host",
        )

    async def _ask_once(self, operation: str, variables: Mapping[str, Any]) -> Answer:
        document = self.documents.document(operation)
        self._limits.check(GRAPHQL, document.name)
        self._usage = replace(self._usage, graphql=self._usage.graphql + 1)
        result = await self._session.execute(
            PrintedRequest(document, variables), get_execution_result=True
        )
        exchange: Exchange = (result.extensions or {})["exchange"]
        version = exchange.headers.get("x-github-enterprise-version", "")
        self.documents.see_version(version)
        answer = Answer(
            members=result.data or {},
            exchange=exchange,
            observed_at=exchange.date or self._clock.now(),
        )
        self._count(answer)
        return answer

    def _count(self, answer: Answer) -> None:
        raw = answer.get("rateLimit")
        if is_null(raw):
            return
        try:
            told = _RATE_LIMIT.decode(raw)
        except (msgspec.MsgspecError, RecursionError):
            return  # a strange budget is no reason to lose the answer
        self._usage = replace(self._usage, points=self._usage.points + told.cost)
        if told.limit is None or told.remaining is None or told.reset_at is None:
            return
        self._limits.observe_points(
            told.limit, told.remaining, told.reset_at, answer.exchange
        )
