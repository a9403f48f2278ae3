"""Reads pull requests in full: by node id, or by number where no id is known."""

import datetime as dt
import functools
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Final

import msgspec

from prwatch.domain.outcome import Found, Missing, Outcome, Unreadable
from prwatch.domain.reference import PullRequestReference, Reading
from prwatch.errors import ProviderError
from prwatch.github.batching import BatchSize, iter_batches
from prwatch.github.graph import NULL, Answer, Graph, is_null
from prwatch.github.normalize import Detail, build_reading
from prwatch.github.pages import read_contexts, read_reviews, read_threads
from prwatch.github.path_errors import FaultMap, retry_of
from prwatch.github.probe import STRANGE, build_nodes_query, group_by_id, spread
from prwatch.github.wire import DETAIL, decode

DETAIL_SIZE: Final = 25
"""Pull requests in one request: with five connections each they cost one point."""

UNKNOWN_STATE: Final = Unreadable(
    "its state is a word that we do not know", "unknown_state"
)

Readings = Mapping[PullRequestReference, Outcome[Reading]]
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
    by_number = by_id.pop("", [])

    async def ask(batch: Sequence[str]) -> dict[str, Outcome[Reading]]:
        answer = await graph.ask(
            build_nodes_query("Details", "DetailFields", 1), {"ids0": list(batch)}
        )
        nodes = answer.get_list("n0")
        places: list[tuple[str | int, ...]] = [
            ("n0", index) for index in range(len(batch))
        ]
        raws = [nodes[at] if at < len(nodes) else NULL for at in range(len(batch))]
        outcomes = await _read_all(graph, answer, places, raws, settle)
        return dict(zip(batch, outcomes, strict=True))

    async def ask_by_number(batch: Sequence[PullRequestReference]) -> Readings:
        answer = await graph.ask(
            build_number_query(len(batch)), _build_variables(batch)
        )
        places = [(f"r{index}", "pullRequest") for index in range(len(batch))]
        raws = [_dig(answer, index) for index in range(len(batch))]
        outcomes = await _read_all(graph, answer, places, raws, settle)
        return dict(zip(batch, outcomes, strict=True))

    async for outcomes in iter_batches(list(by_id), size, ask):
        yield spread(outcomes, by_id)
    async for readings in iter_batches(by_number, size, ask_by_number):
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


async def _read_all(
    graph: Graph,
    answer: Answer,
    places: Sequence[tuple[str | int, ...]],
    raws: Sequence[msgspec.Raw],
    settle: dt.timedelta,
) -> list[Outcome[Reading]]:
    faults = answer.map_faults(places)
    outcomes: list[Outcome[Reading]] = []
    for place, raw in zip(places, raws, strict=True):
        if is_null(raw):
            outcomes.append(faults.explain_null(place))
        else:
            lost = name_lost(faults, place)
            outcomes.append(await _read_one(graph, answer, raw, lost, settle))
    return outcomes


def name_lost(faults: FaultMap, place: tuple[str | int, ...]) -> dict[str, Missing]:
    """Return the fields of the pull request at `place` that errors took, and why."""
    lost: dict[str, Missing] = {}
    for fault in faults.fields.get(place, ()):
        lost.setdefault(str(fault.fields[0]), fault.meaning)
    return lost


async def _read_one(
    graph: Graph,
    answer: Answer,
    raw: msgspec.Raw,
    lost: Mapping[str, Missing],
    settle: dt.timedelta,
) -> Outcome[Reading]:
    detail = await read_detail(graph, raw, lost)
    if not isinstance(detail, Detail):
        return detail
    try:
        reading = build_reading(detail, observed_at=answer.observed_at, settle=settle)
    except ValueError:
        return UNKNOWN_STATE
    return Found(reading)


async def read_detail(
    graph: Graph,
    raw: msgspec.Raw,
    lost: Mapping[str, Missing],
    *,
    more_contexts: str = "MoreContexts",
) -> Detail | Missing:
    """
    Decode a pull request and read its further pages, or return why it cannot be.

    `more_contexts` is the operation that asks for further pages of contexts.
    """
    node = decode(DETAIL, raw)
    if node is None:
        return next(iter(lost.values()), STRANGE)
    try:
        return Detail(
            node=node,
            contexts=()
            if "statusCheckRollup" in lost
            else await read_contexts(graph, node, operation=more_contexts),
            reviews=() if "reviews" in lost else await read_reviews(graph, node),
            threads=() if "reviewThreads" in lost else await read_threads(graph, node),
            lost=lost,
        )
    except ProviderError as error:
        return retry_of(error)
