"""
Finds pull requests everywhere, such as somebody's open ones: a search, then a read.

The search's index lags: it may show a pull request open hours after its merge. What
it finds is therefore asked again by node id, and only what is open then counts.
"""

import datetime as dt
from dataclasses import dataclass
from typing import Final

import msgspec

from prwatch.domain.outcome import Found
from prwatch.domain.pull_request import PullRequestState
from prwatch.domain.reference import Probe, PullRequestReference
from prwatch.domain.review_watch import IncompleteReason
from prwatch.github.batching import BatchSize
from prwatch.github.graph import Answer, Graph, is_null
from prwatch.github.probe import ProbeMemory, iter_probes
from prwatch.github.text import clean_text
from prwatch.github.wire import Node, PageInfo, decode

MAX_PAGES: Final = 10
MAX_HITS: Final = 1000
"""GitHub shows no more of a search, and says that nothing follows them."""


@dataclass(frozen=True, slots=True)
class OwnPullRequests:
    """
    Somebody's open pull requests, each read directly.

    `is_complete` is false when the search or a direct read left something out;
    then the lack of a pull request proves nothing.
    """

    probes: tuple[Probe, ...]
    is_complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """
    A pull request that a search found.

    `reference` is how people know it, '' where that was not shown; `updated_at` is when
    anything of it changed last.
    """

    node_id: str
    reference: str = ""
    updated_at: dt.datetime | None = None


@dataclass(frozen=True, slots=True)
class Hits:
    """
    The pull requests that a search found, each once and in its order.

    `gap` is why something was left out: beyond GitHub's cap, or what it could not show.
    Then the lack of a pull request proves nothing. None when nothing was.
    """

    found: tuple[Hit, ...]
    gap: IncompleteReason | None = None

    @property
    def node_ids(self) -> tuple[str, ...]:
        """Return their node ids alone."""
        return tuple(hit.node_id for hit in self.found)


class _Place(Node):
    name_with_owner: str = ""


class _Hit(Node):
    id: str | None = None
    number: int = 0
    updated_at: dt.datetime | None = None
    repository: _Place | None = None


class _Hits(Node):
    issue_count: int = 0
    nodes: list[_Hit | None] | None = None
    page_info: PageInfo | None = None


_HITS: Final = msgspec.json.Decoder(_Hits)


async def fetch_own_pull_requests(
    graph: Graph, memory: ProbeMemory, login: str, *, size: BatchSize
) -> OwnPullRequests:
    """
    Return the open pull requests of the login; '' is the credential's own account.

    Raises:
        ProviderError: a request failed as a whole.
    """
    hits = await _search(graph, login)
    node_ids, is_complete = hits.node_ids, hits.gap is None
    references = [
        # Only the node id is asked; what the answer says stands in the probe.
        PullRequestReference(owner="", name="", number=0, node_id=node_id)
        for node_id in node_ids
    ]
    probes: list[Probe] = []
    async for outcomes in iter_probes(graph, memory, references, size=size):
        for outcome in outcomes.values():
            if not isinstance(outcome, Found):
                is_complete = False
            elif outcome.value.state is PullRequestState.OPEN:
                probes.append(outcome.value)
    return OwnPullRequests(tuple(probes), is_complete)


async def fetch_hits(graph: Graph, query: str) -> Hits:
    """
    Return what a search finds, by the page up to GitHub's cap.

    Raises:
        ProviderError: a request failed as a whole.
    """
    return await _list_hits(graph, "ReviewHits", query)


async def _search(graph: Graph, login: str) -> Hits:
    query = f"is:pr is:open archived:false author:{_quote(login) or '@me'}"
    return await _list_hits(graph, "OwnPullRequests", query)


async def _list_hits(graph: Graph, operation: str, query: str) -> Hits:
    found: dict[str, Hit] = {}
    is_capped = is_patchy = False
    after: str | None = None
    for _ in range(MAX_PAGES):
        answer = await graph.ask(operation, {"query": query, "after": after})
        page = _read_hits(answer)
        if page is None or page.page_info is None:
            is_patchy = True
            break
        is_capped = is_capped or page.issue_count > MAX_HITS
        nodes = page.nodes or []
        is_patchy = is_patchy or None in nodes or bool(answer.exchange.errors)
        found |= {
            hit.id: _build_hit(hit) for hit in nodes if hit is not None and hit.id
        }
        info = page.page_info
        if not info.has_next_page:
            break
        if info.end_cursor in {None, after}:
            is_patchy = True
            break
        after = info.end_cursor
    else:
        is_capped = True
    return Hits(tuple(found.values()), _name_gap(is_capped, is_patchy))


def _build_hit(hit: _Hit) -> Hit:
    place = clean_text(hit.repository.name_with_owner) if hit.repository else ""
    return Hit(
        node_id=hit.id or "",
        reference=f"{place}#{hit.number}" if place and hit.number > 0 else "",
        updated_at=hit.updated_at,
    )


def _name_gap(is_capped: bool, is_patchy: bool) -> IncompleteReason | None:
    if is_capped:
        return IncompleteReason.OVER_CAP
    return IncompleteReason.LEFT_OUT if is_patchy else None


def _read_hits(answer: Answer) -> _Hits | None:
    raw = answer.get("search")
    return None if is_null(raw) else decode(_HITS, raw)


def _quote(login: str) -> str:
    """Return the login without anything that could end the search's term."""
    return "".join(each for each in login if each.isalnum() or each in "-_/@")
