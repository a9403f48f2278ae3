"""Reads pull requests in full: by node id, or by number where no id is known."""

import datetime as dt
import functools
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

import msgspec
from msgspec import UNSET

from prwatch.domain.capability import CHECKS, WORKFLOWS
from prwatch.domain.outcome import Forbidden, Found, Missing, Outcome, Unreadable
from prwatch.domain.reference import PullRequestReference, Reading
from prwatch.errors import ProviderError
from prwatch.github.batching import BatchSize, iter_batches
from prwatch.github.document_types import find_field, find_leavable
from prwatch.github.graph import NULL, Answer, Graph, is_null
from prwatch.github.normalize import Detail, build_reading
from prwatch.github.omission import (
    explain_omitted,
    group_alike,
    sort_alike,
    study_faults,
)
from prwatch.github.pages import Pages
from prwatch.github.path_errors import FaultMap, retry_of
from prwatch.github.probe import (
    STRANGE,
    build_nodes_query,
    group_by_id,
    name_places,
    spread,
)
from prwatch.github.wire import DETAIL, DetailNode, decode

DETAIL_SIZE: Final = 25
"""Pull requests in one request: with five connections each they cost one point."""

UNKNOWN_STATE: Final = Unreadable(
    "its state is a word that we do not know", "unknown_state"
)

Readings = Mapping[PullRequestReference, Outcome[Reading]]
T = TypeVar("T")
_MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


async def iter_details(
    graph: Graph,
    references: Sequence[PullRequestReference],
    *,
    size: BatchSize,
    settle: dt.timedelta,
) -> AsyncIterator[Readings]:
    """
    Ask some at a time and yield the outcomes of each request as soon as it is read.

    Every reference is in exactly one of the yielded mappings unless a request fails
    as a whole; its error then ends the walk, and what was yielded stands. Further
    pages that cannot be read now make a `Retry` of their pull request alone.
    """
    by_id = group_by_id(references)
    by_number = by_id.pop("", ())
    reader = _Reader(graph, settle)
    by_place = name_places(by_id)
    numbered = {each: each.place for each in by_number}

    async def ask(batch: Sequence[str]) -> dict[str, Outcome[Reading]]:
        outcomes: dict[str, Outcome[Reading]] = {}
        for without, alike in reader.group(batch, by_place):
            answer = await graph.ask(
                build_nodes_query("Details", "DetailFields", 1),
                {"ids0": alike},
                without=without,
            )
            nodes = answer.get_list("n0")
            asked = [
                _Asked(
                    ("n0", at), by_place[one], nodes[at] if at < len(nodes) else NULL
                )
                for at, one in enumerate(alike)
            ]
            read = await reader.read_all(answer, asked)
            outcomes |= zip(alike, read, strict=True)
        return outcomes

    async def ask_by_number(batch: Sequence[PullRequestReference]) -> Readings:
        outcomes: dict[PullRequestReference, Outcome[Reading]] = {}
        for without, alike in reader.group(batch, numbered):
            answer = await graph.ask(
                build_number_query(len(alike)), _build_variables(alike), without=without
            )
            asked = [
                _Asked((f"r{at}", "pullRequest"), one.place, _dig(answer, at))
                for at, one in enumerate(alike)
            ]
            read = await reader.read_all(answer, asked)
            outcomes |= zip(alike, read, strict=True)
        return outcomes

    ordered = sort_alike(graph.capabilities, list(by_id), by_place)
    async for outcomes in iter_batches(ordered, size, ask):
        yield spread(outcomes, by_id)
    ordered_numbers = sort_alike(graph.capabilities, by_number, numbered)
    async for readings in iter_batches(ordered_numbers, size, ask_by_number):
        yield readings


@functools.lru_cache(maxsize=DETAIL_SIZE)
def build_number_query(size: int) -> str:
    """Return the text that asks `size` pull requests by repository and number."""
    variables = ", ".join(
        f"$o{at}: String!, $n{at}: String!, $p{at}: Int!" for at in range(size)
    )
    asked = " ".join(
        f"r{at}: repository(owner: $o{at}, name: $n{at}) "
        f"{{ pullRequest(number: $p{at}) {{ ...DetailFields }} }}"
        for at in range(size)
    )
    return f"query DetailsByNumber({variables}) {{ {asked} ...Budget }}"


def _build_variables(references: Sequence[PullRequestReference]) -> dict[str, object]:
    variables: dict[str, object] = {}
    for at, each in enumerate(references):
        variables |= {f"o{at}": each.owner, f"n{at}": each.name, f"p{at}": each.number}
    return variables


def _dig(answer: Answer, at: int) -> msgspec.Raw:
    members = decode(_MEMBERS, answer.get(f"r{at}"))
    return members.get("pullRequest", NULL) if members else NULL


@dataclass(frozen=True, slots=True)
class _Asked:
    """One pull request of an answer: where it stands, its repository, and its bytes."""

    path: tuple[str | int, ...]
    repository: str
    raw: msgspec.Raw


class _Reader:
    """Reads the pull requests of answers, and learns what they refuse."""

    def __init__(self, graph: Graph, settle: dt.timedelta) -> None:
        self._graph = graph
        self._settle = settle

    def group(
        self, items: Sequence[T], places: Mapping[T, str]
    ) -> Iterator[tuple[frozenset[str], list[T]]]:
        """Yield the items that are asked alike together, with what is left out."""
        # Later requests of a walk rest on what the ones before have learnt.
        return group_alike(self._graph.capabilities, items, places, is_test=True)

    async def read_all(
        self, answer: Answer, asked: Sequence[_Asked]
    ) -> list[Outcome[Reading]]:
        """Return the outcome of each pull request, with its further pages."""
        faults = answer.map_faults([each.path for each in asked])
        nodes = [
            None if is_null(each.raw) else decode(DETAIL, each.raw) for each in asked
        ]
        capabilities = self._graph.capabilities
        given: defaultdict[str, set[str]] = defaultdict(set)
        for each, node in zip(asked, nodes, strict=True):
            if node is not None:
                here = list_given(node) - list_refused(faults, each.path)
                given[each.repository] |= here
                capabilities.give(here, each.repository)
        places = {each.path: each.repository for each in asked}
        study_faults(capabilities, faults, places, given=given)
        outcomes: list[Outcome[Reading]] = []
        for each, node in zip(asked, nodes, strict=True):
            if is_null(each.raw):
                outcomes.append(faults.explain_null(each.path))
                continue
            lost = explain_omitted(capabilities, answer.without, each.repository)
            lost |= name_lost(faults, each.path)
            outcomes.append(await self._read_one(answer, each, node, lost))
        return outcomes

    async def _read_one(
        self,
        answer: Answer,
        asked: _Asked,
        node: DetailNode | None,
        lost: Mapping[str, Missing],
    ) -> Outcome[Reading]:
        detail = await read_detail(self._graph, node, lost, repository=asked.repository)
        if not isinstance(detail, Detail):
            return detail
        # Where no check run shows whether they may be read, probes leave them out.
        is_probed = CHECKS not in self._graph.capabilities.omit(asked.repository)
        detail = replace(detail, is_probed_with_checks=is_probed)
        try:
            reading = build_reading(
                detail, observed_at=answer.observed_at, settle=self._settle
            )
        except ValueError:
            return UNKNOWN_STATE
        return Found(reading)


def list_given(node: DetailNode) -> frozenset[str]:
    """Return the fields of a pull request that the answer shows to be readable."""
    rollup = node.status_check_rollup
    contexts = rollup.contexts.nodes if rollup and rollup.contexts else None
    runs = [each for each in contexts or () if each and each.typename == "CheckRun"]
    # Statuses are shown to tokens that may not read checks.
    given = {CHECKS} if runs else set()
    if any(run.check_suite and run.check_suite.workflow_run for run in runs):
        given.add(WORKFLOWS)
    for field, value in (
        ("reviews", node.reviews),
        ("reviewRequests", node.review_requests),
        ("reviewThreads", node.review_threads),
        ("comments", node.comments),
        ("reviewDecision", node.review_decision),
        ("mergeable", node.mergeable),
        ("isInMergeQueue", node.is_in_merge_queue),
        ("totalCommentsCount", node.total_comments_count),
        ("autoMergeRequest", node.auto_merge_request),
        ("mergedBy", node.merged_by),
        ("baseRef", node.base_ref),
    ):
        if value is not UNSET:  # null without an error is an answer
            given.add(f"PullRequest.{field}")
    return frozenset(given)


def list_refused(faults: FaultMap, place: tuple[str | int, ...]) -> frozenset[str]:
    """Return the fields of the pull request at `place` that any error touches."""
    return frozenset(
        find_leavable(find_field("PullRequest", fault.fields))
        for fault in faults.fields.get(place, ())
    )


def name_lost(faults: FaultMap, place: tuple[str | int, ...]) -> dict[str, Missing]:
    """
    Return the fields of the pull request at `place` that errors took, and why.

    What is refused for good and can be left out by itself takes no more with it: a
    check without its workflow is still a check.
    """
    lost: dict[str, Missing] = {}
    for fault in faults.fields.get(place, ()):
        leavable = find_leavable(find_field("PullRequest", fault.fields))
        is_refused = isinstance(fault.meaning, Forbidden)
        if is_refused and leavable and not leavable.startswith("PullRequest."):
            continue
        lost.setdefault(str(fault.fields[0]), fault.meaning)
    return lost


async def read_detail(
    graph: Graph,
    node: DetailNode | None,
    lost: Mapping[str, Missing],
    *,
    repository: str,
    more_contexts: str = "MoreContexts",
) -> Detail | Missing:
    """
    Read the further pages of a pull request, or return why it cannot be read.

    `node` is None when it is not what was asked for. `more_contexts` is the operation
    that asks for further pages of contexts.
    """
    if node is None:
        return next(iter(lost.values()), STRANGE)
    pages = Pages(graph, node, repository)
    try:
        return Detail(
            node=node,
            contexts=()
            if "statusCheckRollup" in lost
            else await pages.read_contexts(more_contexts),
            reviews=() if "reviews" in lost else await pages.read_reviews(),
            threads=() if "reviewThreads" in lost else await pages.read_threads(),
            lost=lost,
        )
    except ProviderError as error:
        return retry_of(error)
