"""Reads a repository itself, and walks its open pull requests, newest update first."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Final

import msgspec

from prwatch.domain.outcome import Found, Outcome, Unreadable
from prwatch.domain.reference import OpenPullRequests, Probe, RepositoryFacts
from prwatch.github.graph import Answer, Graph, is_null
from prwatch.github.normalize import parse_name
from prwatch.github.omission import REPOSITORY, study_faults
from prwatch.github.path_errors import FaultMap
from prwatch.github.probe import ProbeMemory, read_probe
from prwatch.github.text import clean_text
from prwatch.github.wire import Node, PageInfo, RepositoryFactsNode, decode

MAX_PAGES: Final = 100
_PLACE: Final = ("repository",)
_FACTS: Final = msgspec.json.Decoder(RepositoryFactsNode)

IsKnown = Callable[[Probe], bool]


class _Rows(Node):
    nodes: list[msgspec.Raw] | None = None
    page_info: PageInfo | None = None


class _Listing(RepositoryFactsNode):
    pull_requests: _Rows | None = None


_LISTING: Final = msgspec.json.Decoder(_Listing)


def build_facts(node: RepositoryFactsNode) -> RepositoryFacts:
    """Return the repository in the domain's words."""
    branch = node.default_branch_ref
    return RepositoryFacts(
        repository=parse_name(node),
        default_branch=clean_text(branch.name) if branch else "",
        is_archived=node.is_archived is True,
        parent=parse_name(node.parent) if node.parent else None,
    )


async def fetch_repository(
    graph: Graph, owner: str, name: str
) -> Outcome[RepositoryFacts]:
    """
    Return what GitHub says about the repository, under its present name.

    Raises:
        ProviderError: the request failed as a whole.
    """
    place = f"{owner}/{name}"
    answer = await graph.ask(
        "Repository",
        {"owner": owner, "name": name},
        without=graph.capabilities.omit(place),
    )
    raw = answer.get("repository")
    faults = answer.map_faults([_PLACE])
    if is_null(raw):
        return faults.explain_null(_PLACE)
    study_faults(graph.capabilities, faults, {_PLACE: place}, REPOSITORY)
    node = decode(_FACTS, raw)
    if node is None:
        return Unreadable("GitHub's answer about the repository is not understood")
    return Found(build_facts(node))


async def iter_open_pull_requests(
    graph: Graph,
    memory: ProbeMemory,
    owner: str,
    name: str,
    *,
    is_known: IsKnown | None,
) -> AsyncIterator[Outcome[OpenPullRequests]]:
    """
    Yield the open pull requests page by page, a hundred each.

    The walk stops after the first page that holds a row for which `is_known` is
    true; with None it goes to the end. Only the page that reaches the end is
    complete, and a walk that was cut short anywhere never is. What is not `Found`
    ends the walk.

    Raises:
        ProviderError: a request failed as a whole; what was yielded stands.
    """
    variables: dict[str, str | None] = {"owner": owner, "name": name, "after": None}
    cursors: set[str] = set()
    is_whole = True
    for _ in range(MAX_PAGES):
        place = f"{owner}/{name}"
        without = graph.capabilities.omit(place)
        answer = await graph.ask("OpenPullRequests", variables, without=without)
        faults = answer.map_faults([_PLACE])
        study_faults(graph.capabilities, faults, {_PLACE: place}, REPOSITORY)
        page = _read_page(answer, faults, memory)
        if not isinstance(page, _Page):
            yield page
            return
        is_whole = is_whole and page.is_whole
        cursor = page.cursor
        yield Found(
            OpenPullRequests(
                repository=page.repository,
                probes=page.probes,
                is_complete=is_whole and page.is_last,
            )
        )
        if page.is_last or cursor is None or cursor in cursors:
            return
        if is_known is not None and any(is_known(each) for each in page.probes):
            return
        cursors.add(cursor)
        variables = {**variables, "after": cursor}


@dataclass(frozen=True, slots=True)
class _Page:
    """`is_whole` says that every row could be read."""

    repository: RepositoryFacts
    probes: tuple[Probe, ...]
    is_whole: bool
    is_last: bool
    cursor: str | None


def _read_page(
    answer: Answer, faults: FaultMap, memory: ProbeMemory
) -> _Page | Outcome[OpenPullRequests]:
    raw = answer.get("repository")
    if is_null(raw):
        return faults.explain_null(_PLACE)
    listing = decode(_LISTING, raw)
    if listing is None:
        return Unreadable("GitHub's answer about the repository is not understood")
    rows = listing.pull_requests
    if rows is None or rows.nodes is None:
        return faults.explain_null(_PLACE)
    probes = [
        outcome.value
        for row in rows.nodes
        if not is_null(row) and isinstance(outcome := read_probe(row, memory), Found)
    ]
    page_info = rows.page_info or PageInfo(has_next_page=True)
    return _Page(
        repository=build_facts(listing),
        probes=tuple(probes),
        is_whole=len(probes) == len(rows.nodes),
        is_last=not page_info.has_next_page,
        cursor=page_info.end_cursor,
    )
