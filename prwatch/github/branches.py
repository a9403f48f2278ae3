"""
Asks which pull requests have a branch as their head: many branches in one request.

Branches are grouped by the repository that is asked; owner, name and branch travel
as variables. The open ones are read to their end; of the closed ones the twenty
that were touched last, for a pull request that closed lately is among those.
"""

import datetime as dt
import functools
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from prwatch.domain.capability import BRANCH_HEADS
from prwatch.domain.outcome import Found, Outcome, Unreadable
from prwatch.domain.pull_request import PullRequestState
from prwatch.domain.reference import (
    BranchAnswer,
    BranchPullRequest,
    BranchReference,
    RepositoryFacts,
)
from prwatch.errors import ProviderError
from prwatch.github.batching import BatchSize, iter_batches
from prwatch.github.graph import Answer, Graph, is_null
from prwatch.github.omission import REPOSITORY, group_alike, sort_alike, study_faults
from prwatch.github.path_errors import FaultMap, retry_of
from prwatch.github.plausible import NodeId, Number, ObjectId
from prwatch.github.repositories import build_facts
from prwatch.github.wire import (
    Commit,
    IdNode,
    Node,
    PageInfo,
    RepositoryFactsNode,
    decode,
)

BATCH_SIZE: Final = 50
"""Branches in one request: two connections each, so fifty cost one point."""
MAX_PAGES: Final = 20

Answers = Mapping[BranchReference, Outcome[BranchAnswer]]


class _PullRequest(Node):
    id: NodeId
    number: Number
    state: PullRequestState
    head_ref_oid: ObjectId
    created_at: dt.datetime
    head_repository: IdNode | None = None
    closed_at: dt.datetime | None = None


class _PullRequests(Node):
    nodes: list[_PullRequest | None] | None = None
    page_info: PageInfo | None = None


class _Ref(Node):
    target: Commit | None = None


class _More(Node):
    pull_requests: _PullRequests | None = None


_MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_FACTS: Final = msgspec.json.Decoder(RepositoryFactsNode)
_LIST: Final = msgspec.json.Decoder(_PullRequests)
_REF: Final = msgspec.json.Decoder(_Ref | None)
_MORE: Final = msgspec.json.Decoder(_More)


@dataclass(frozen=True, slots=True)
class Group:
    """The branches that are asked in one repository."""

    owner: str
    name: str
    references: tuple[BranchReference, ...]


async def iter_branches(
    graph: Graph, references: Sequence[BranchReference], *, size: BatchSize
) -> AsyncIterator[Answers]:
    """
    Ask some branches at a time and yield each request's answers when it is read.

    Every reference is in exactly one of the yielded mappings unless a request fails
    as a whole; its error then ends the walk, and what was yielded stands.
    """
    ordered = [
        each for group in group_branches(references) for each in group.references
    ]

    places = {each: f"{each.owner}/{each.name}" for each in ordered}

    async def ask(batch: Sequence[BranchReference]) -> Answers:
        outcomes: dict[BranchReference, Outcome[BranchAnswer]] = {}
        # A branch's head is no detail that is read again later: it is tried here.
        for without, alike in group_alike(
            graph.capabilities, batch, places, is_test=True
        ):
            groups = group_branches(alike)
            shape = tuple(len(each.references) for each in groups)
            answer = await graph.ask(
                build_query(shape), build_variables(groups), without=without
            )
            for at, group in enumerate(groups):
                outcomes |= await _read_group(graph, answer, at, group)
        return outcomes

    ordered = sort_alike(graph.capabilities, ordered, places)
    async for outcomes in iter_batches(ordered, size, ask):
        yield outcomes


def group_branches(references: Sequence[BranchReference]) -> list[Group]:
    """Group the references by repository, whose names are compared without case."""
    groups: dict[tuple[str, str], dict[BranchReference, None]] = {}
    for each in references:
        key = (each.owner.lower(), each.name.lower())
        groups.setdefault(key, {})[each] = None
    return [
        Group(next(iter(group)).owner, next(iter(group)).name, tuple(group))
        for group in groups.values()
    ]


@functools.lru_cache(maxsize=64)
def build_query(shape: tuple[int, ...]) -> str:
    """Return the text for that many branches in each of the repositories."""
    variables: list[str] = []
    asked: list[str] = []
    for at, size in enumerate(shape):
        variables.append(f"$o{at}: String!, $n{at}: String!")
        inner = " ".join(_ask_branch(f"{at}_{index}") for index in range(size))
        asked.append(
            f"r{at}: repository(owner: $o{at}, name: $n{at}) "
            f"{{ ...RepositoryFields {inner} }}"
        )
        variables.extend(
            f"$b{at}_{index}: String!, $q{at}_{index}: String!" for index in range(size)
        )
    return f"query Branches({', '.join(variables)}) {{ {' '.join(asked)} ...Budget }}"


def _ask_branch(key: str) -> str:
    closed = "states: [CLOSED, MERGED], first: 20, "
    newest = "orderBy: { field: UPDATED_AT, direction: DESC }"
    return (
        f"f{key}: ref(qualifiedName: $q{key}) {{ target {{ oid }} }} "
        f"o{key}: pullRequests(headRefName: $b{key}, states: OPEN, first: 20) "
        f"{{ ...BranchPage }} "
        f"c{key}: pullRequests(headRefName: $b{key}, {closed}{newest}) "
        f"{{ ...BranchPage }}"
    )


def build_variables(groups: Sequence[Group]) -> dict[str, str]:
    """Return the values of `build_query`'s variables."""
    variables: dict[str, str] = {}
    for at, group in enumerate(groups):
        variables |= {f"o{at}": group.owner, f"n{at}": group.name}
        for index, each in enumerate(group.references):
            variables[f"b{at}_{index}"] = each.branch
            variables[f"q{at}_{index}"] = f"refs/heads/{each.branch}"
    return variables


async def _read_group(
    graph: Graph, answer: Answer, at: int, group: Group
) -> dict[BranchReference, Outcome[BranchAnswer]]:
    place = (f"r{at}",)
    places = [place, *((place[0], f"{kind}{key}") for kind, key in _keys(at, group))]
    faults = answer.map_faults(places)
    raw = answer.get(place[0])
    if is_null(raw):
        return dict.fromkeys(group.references, faults.explain_null(place))
    members = decode(_MEMBERS, raw)
    facts = decode(_FACTS, raw)
    if members is None or facts is None:
        strange = Unreadable("GitHub's answer about the repository is not understood")
        return dict.fromkeys(group.references, strange)
    repository = build_facts(facts)
    _study(graph, faults, at, group)
    return {
        reference: await _read_branch(
            graph,
            _Asked(reference, f"{at}_{index}", place[0]),
            members,
            faults,
            repository,
        )
        for index, reference in enumerate(group.references)
    }


def _study(graph: Graph, faults: FaultMap, at: int, group: Group) -> None:
    """Learn what of a repository is refused: its facts, or the heads of branches."""
    capabilities = graph.capabilities
    place = f"{group.owner}/{group.name}"
    study_faults(capabilities, faults, {(f"r{at}",): place}, REPOSITORY)
    for kind, key in _keys(at, group):
        refusal = faults.references.get((f"r{at}", f"{kind}{key}"))
        if kind == "f" and refusal is not None:
            capabilities.refuse(BRANCH_HEADS, place, refusal)


def _keys(at: int, group: Group) -> Iterator[tuple[str, str]]:
    for index in range(len(group.references)):
        for kind in "foc":
            yield kind, f"{at}_{index}"


@dataclass(frozen=True, slots=True)
class _Asked:
    reference: BranchReference
    key: str
    alias: str


async def _read_branch(
    graph: Graph,
    asked: _Asked,
    members: Mapping[str, msgspec.Raw],
    faults: FaultMap,
    repository: RepositoryFacts,
) -> Outcome[BranchAnswer]:
    found: list[BranchPullRequest] = []
    is_complete = True
    for kind in "oc":
        name = f"{kind}{asked.key}"
        raw = members.get(name)
        if raw is None or is_null(raw):
            return faults.explain_null((asked.alias, name))
        page = decode(_LIST, raw)
        if page is None:
            return Unreadable("GitHub's answer about the branch is not understood")
        if kind == "o":
            try:
                rows, is_whole = await _read_open(graph, asked.reference, page)
            except ProviderError as error:
                return retry_of(error)
        else:
            rows, is_whole = _read_rows(page)
        has_fault = bool(faults.fields.get((asked.alias, name)))
        is_complete = is_complete and is_whole and not has_fault
        found.extend(rows)
    ref = decode(_REF, members.get(f"f{asked.key}", b"null"))
    if ref is not None:
        place = f"{asked.reference.owner}/{asked.reference.name}"
        graph.capabilities.give(frozenset({BRANCH_HEADS}), place)
    return Found(
        BranchAnswer(
            repository=repository,
            pull_requests=tuple(found),
            is_complete=is_complete,
            head_ref_oid=ref.target.oid if ref and ref.target else "",
        )
    )


def _read_rows(page: _PullRequests) -> tuple[list[BranchPullRequest], bool]:
    """Return the page's rows, and whether every one of them could be read."""
    nodes = page.nodes or []
    rows = [
        BranchPullRequest(
            node_id=each.id,
            number=each.number,
            state=each.state,
            head_repository_id=each.head_repository.id
            if each.head_repository
            else None,
            head_ref_oid=each.head_ref_oid,
            closed_at=each.closed_at,
            created_at=each.created_at,
        )
        for each in nodes
        if each is not None
    ]
    return rows, page.nodes is not None and len(rows) == len(nodes)


async def _read_open(
    graph: Graph, reference: BranchReference, page: _PullRequests
) -> tuple[list[BranchPullRequest], bool]:
    """Return every open one; false when the list could not be read to its end."""
    rows, is_whole = _read_rows(page)
    cursors: set[str] = set()
    for _ in range(MAX_PAGES):
        if page.page_info is None:
            return rows, False
        if not page.page_info.has_next_page:
            return rows, is_whole
        cursor = page.page_info.end_cursor
        if not cursor or cursor in cursors:
            return rows, False
        cursors.add(cursor)
        variables = {
            "owner": reference.owner,
            "name": reference.name,
            "branch": reference.branch,
            "after": cursor,
        }
        answer = await graph.ask("MoreBranch", variables)
        more = decode(_MORE, answer.get("repository"))
        if more is None or more.pull_requests is None or answer.exchange.errors:
            return rows, False
        page = more.pull_requests
        further, has_all = _read_rows(page)
        rows, is_whole = [*rows, *further], is_whole and has_all
    return rows, False
