"""
Asks GraphQL questions one after the other, within the limits, and counts their cost.

Overlapping requests of one token draw the secondary limit, so each waits for the one
before it and then looks at the limits again. A field that an old server does not know
is left out for that host, and the question is asked again without it. What the token
may not read is not asked for (see `capabilities`).
"""

import datetime as dt
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec
from gql import Client
from gql.client import AsyncClientSession

from prwatch.clock import Clock
from prwatch.domain.reference import Usage
from prwatch.errors import ProviderUnavailable, RateLimited
from prwatch.github.capabilities import Capabilities
from prwatch.github.classify import NoGraphQL, UnknownField
from prwatch.github.documents import Document, DocumentBook
from prwatch.github.exchange import Exchange
from prwatch.github.limits import Limits
from prwatch.github.path_errors import FaultMap, map_faults
from prwatch.github.pruning import find_field_at
from prwatch.github.rate_facts import read_payer, read_points
from prwatch.github.sender import Sender
from prwatch.github.transport import GitHubTransport, PrintedRequest

GRAPHQL: Final = "graphql"
VIEWER: Final = "Query.viewer"
ASKS_VIEWER: Final = "Viewer"
NULL: Final = msgspec.Raw(b"null")
_LIST: Final = msgspec.json.Decoder(list[msgspec.Raw])


@dataclass(frozen=True, slots=True)
class Answer:
    """
    The members of an answer's data, undecoded, and what stood beside them.

    `without` are the fields that were not asked for.
    """

    members: Mapping[str, msgspec.Raw]
    exchange: Exchange
    observed_at: dt.datetime
    without: frozenset[str] = frozenset()

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
        self,
        sender: Sender,
        url: str,
        *,
        clock: Clock,
        limits: Limits,
        capabilities: Capabilities,
    ) -> None:
        self.capabilities = capabilities
        self._documents = DocumentBook()
        self._clock = clock
        self._limits = limits
        self._transport = GitHubTransport(
            sender,
            url,
            clock=clock,
            check=functools.partial(limits.check, GRAPHQL),
            observe=self._observe,
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

    async def ask(
        self,
        operation: str,
        variables: Mapping[str, Any],
        *,
        without: frozenset[str] | None = None,
    ) -> Answer:
        """
        Ask an operation, given by name or as text, and return what can be read.

        `without` are the fields that are not asked for; None is what no repository
        gives.

        Raises:
            RateLimited: a limit forbids the call, or the answer says so.
            ProviderError: nothing of the answer can be read.
        """
        left_out = self.capabilities.omit() if without is None else without
        if self._limits.is_fixed and operation != ASKS_VIEWER:
            # Who pays is known, and an installation has no viewer to speak of.
            left_out |= {VIEWER}
        async with self._limits.requests:
            # Each turn leaves out one field more, and few can be left out.
            while True:
                document = self._documents.document(operation, left_out)
                try:
                    answer = await self._ask_once(document, variables)
                except NoGraphQL:
                    self.capabilities.refuse_graphql()
                    raise
                except UnknownField as error:
                    field = error.field or find_field_at(document.tree, error.path)
                    # Others may have learnt of it since this question was put together.
                    known = self.capabilities.refuse_unknown(field)
                    if known in ("", *left_out):
                        raise
                    left_out |= {known}
                else:
                    return replace(answer, without=left_out)

    def _observe(
        self, exchange: Exchange, members: Mapping[str, msgspec.Raw]
    ) -> RateLimited | None:
        self.capabilities.see_version(exchange)
        return self._limits.observe(exchange, read_payer(members.get("viewer", NULL)))

    async def _ask_once(
        self, document: Document, variables: Mapping[str, Any]
    ) -> Answer:
        request = PrintedRequest(document, variables)
        async with self._limits.passage(GRAPHQL, document.name):
            self._usage = replace(self._usage, graphql=self._usage.graphql + 1)
            result = await self._session.execute(request, get_execution_result=True)
        exchange: Exchange = (result.extensions or {})["exchange"]
        answer = Answer(
            members=result.data or {},
            exchange=exchange,
            observed_at=exchange.date or self._clock.now(),
        )
        self._count(answer)
        return answer

    def _count(self, answer: Answer) -> None:
        told = read_points(answer.get("rateLimit"))
        if told is None:
            return
        self._usage = replace(self._usage, points=self._usage.points + told.cost)
        if told.budget is not None:
            self._limits.tracker.observe_budget(told.budget, answer.exchange)
