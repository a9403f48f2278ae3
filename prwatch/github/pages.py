"""
Follows the connections of one pull request to their end.

A walk that stops making sense (no cursor, the same one again, checks of another
commit, a page that is not what was asked) gives None: an unfinished list proves
nothing. Nor does one that is longer than the cap.
"""

from collections.abc import Callable
from typing import Final, Protocol, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from prwatch.github.graph import Graph
from prwatch.github.omission import study_faults
from prwatch.github.wire import (
    ContextNode,
    Contexts,
    DetailNode,
    Node,
    PageInfo,
    ReviewNode,
    Reviews,
    Rollup,
    ThreadNode,
    Threads,
    decode,
)

MAX_PAGES: Final = 50
T = TypeVar("T")


class _Page(Protocol[T]):
    @property
    def nodes(self) -> list[T | None] | None: ...
    @property
    def page_info(self) -> PageInfo | None: ...


class _More(Node):
    """A pull request of which one connection was asked again."""

    status_check_rollup: Rollup | UnsetType | None = UNSET
    reviews: Reviews | UnsetType | None = UNSET
    review_threads: Threads | UnsetType | None = UNSET


_PLACE: Final = ("node",)
_MORE: Final = msgspec.json.Decoder(_More)


class Pages:
    """The further pages of one pull request, asked for as far as they can be read."""

    def __init__(self, graph: Graph, node: DetailNode, repository: str) -> None:
        self._graph = graph
        self._node = node
        self._repository = repository

    async def read_contexts(self, operation: str) -> tuple[ContextNode, ...] | None:
        """Return every context of the head, or None when they could not all be read."""
        rollup = self._node.status_check_rollup
        if rollup is UNSET or rollup is None:
            return ()
        commit = rollup.commit

        def find(more: _More) -> Contexts | None:
            again = more.status_check_rollup
            if again is UNSET or again is None or again.commit != commit:
                return None
            return again.contexts

        return await self._follow(operation, rollup.contexts, find)

    async def read_reviews(self) -> tuple[ReviewNode, ...] | None:
        """Return every review, or None when they could not all be read."""

        def find(more: _More) -> Reviews | None:
            return more.reviews or None

        reviews = self._node.reviews
        if reviews is UNSET:
            return ()
        return await self._follow("MoreReviews", reviews, find)

    async def read_threads(self) -> tuple[ThreadNode, ...] | None:
        """Return every review thread, or None when they could not all be read."""

        def find(more: _More) -> Threads | None:
            return more.review_threads or None

        threads = self._node.review_threads
        if threads is UNSET:
            return ()
        return await self._follow("MoreThreads", threads, find)

    async def _follow(
        self,
        operation: str,
        page: _Page[T] | None,
        find: Callable[[_More], _Page[T] | None],
    ) -> tuple[T, ...] | None:
        items: list[T] = []
        cursors: set[str] = set()
        for _ in range(MAX_PAGES):
            if page is None or page.nodes is None or None in page.nodes:
                return None
            items.extend(each for each in page.nodes if each is not None)
            if page.page_info is None or not page.page_info.has_next_page:
                return tuple(items)
            cursor = page.page_info.end_cursor
            if not cursor or cursor in cursors:
                return None
            cursors.add(cursor)
            page = await self._ask(operation, cursor, find)
        return None

    async def _ask(
        self,
        operation: str,
        cursor: str,
        find: Callable[[_More], _Page[T] | None],
    ) -> _Page[T] | None:
        answer = await self._graph.ask(
            operation,
            {"id": self._node.id, "after": cursor},
            without=self._graph.capabilities.omit(self._repository),
        )
        if answer.exchange.errors:
            faults = answer.map_faults([_PLACE])
            study_faults(self._graph.capabilities, faults, {_PLACE: self._repository})
            return None
        more = decode(_MORE, answer.get("node"))
        return None if more is None else find(more)
