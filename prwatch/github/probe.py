"""
Asks many known pull requests for the few values that decide whether to read more.

An answer that is byte for byte the last one is not decoded: the probe that was made
of it is given out again, the same object.
"""

import functools
import hashlib
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import msgspec

from prwatch.domain.outcome import Found, Missing, Outcome, Unreadable
from prwatch.domain.pull_request import PullRequestState, RepositoryName
from prwatch.domain.reference import Probe, PullRequestReference
from prwatch.github.batching import BatchSize, iter_batches
from prwatch.github.fingerprint import build_fingerprint, is_busy
from prwatch.github.graph import Answer, Graph, is_null
from prwatch.github.normalize import parse_login, parse_name
from prwatch.github.omission import group_alike, sort_alike, study_faults
from prwatch.github.path_errors import FaultMap
from prwatch.github.text import clean_text
from prwatch.github.wire import PROBE, PullRequestNode, decode

FIELD_SIZE: Final = 100
"""GitHub takes at most this many ids in one `nodes` field."""
MAX_FIELDS: Final = 5
"""Fields in one request: each costs one point."""
BATCH_SIZE: Final = FIELD_SIZE * MAX_FIELDS
"""Pull requests in one request."""
REMEMBERED: Final = 100_000

T = TypeVar("T")
V = TypeVar("V")

NO_NODE_ID: Final = Unreadable("its node id is not known yet", "no_node_id")
STRANGE: Final = Unreadable("GitHub answered with something else", "strange_node")


@dataclass(frozen=True, slots=True)
class _Part:
    """A list of ids, the digest of its answer, and what each of them was."""

    ids: Sequence[str]
    digest: bytes
    found: Sequence[Found[Probe]]


class ProbeMemory:
    """The probes of the last answers, found by a digest of the bytes they came in."""

    def __init__(self, size: int = REMEMBERED) -> None:
        self.hits = 0
        """Answers that needed no decoding since this was made."""
        self._size = size
        self._found: dict[bytes, Found[Probe]] = {}
        self._digests: dict[str, bytes] = {}
        self._parts: dict[str, _Part] = {}

    def recall(self, digest: bytes) -> Found[Probe] | None:
        """Return the outcome that was made of these bytes, or None."""
        return self._found.get(digest)

    def keep(self, digest: bytes, found: Found[Probe]) -> None:
        """Remember the outcome in place of the pull request's last one."""
        node_id = found.value.node_id
        self.forget(node_id)
        while len(self._digests) >= self._size:
            self.forget(next(iter(self._digests)))
        self._digests[node_id] = digest
        self._found[digest] = found

    def recall_part(
        self, ids: Sequence[str], digest: bytes
    ) -> Sequence[Found[Probe]] | None:
        """Return what these bytes meant when the same ids were asked last, or None."""
        part = self._parts.get(ids[0])
        if part is None or part.digest != digest or part.ids != ids:
            return None
        self.hits += len(part.found)
        return part.found

    def keep_part(
        self, ids: Sequence[str], digest: bytes, found: Sequence[Found[Probe]]
    ) -> None:
        """Remember what a whole list of ids was answered with."""
        self._parts.pop(ids[0], None)
        while len(self._parts) >= self._size // FIELD_SIZE:
            del self._parts[next(iter(self._parts))]
        self._parts[ids[0]] = _Part(ids, digest, found)

    def forget(self, node_id: str) -> None:
        """Decode the pull request's next answer, whatever its bytes."""
        digest = self._digests.pop(node_id, None)
        if digest is not None:
            self._found.pop(digest, None)


def build_digest(raw: msgspec.Raw) -> bytes:
    """Return the digest of a raw value's bytes; one byte more takes 16 in memory."""
    return hashlib.sha256(raw).digest()[:15]


def build_probe(node: PullRequestNode) -> Probe:
    """
    Return the probe that the answer shows.

    Raises:
        ValueError: the state is a word that we do not know.
    """
    head = node.head_repository
    return Probe(
        node_id=node.id,
        number=node.number,
        repository=_share_name(parse_name(node.repository)),
        fingerprint=build_fingerprint(node),
        state=PullRequestState(node.state),
        updated_at=node.updated_at,
        head_ref_name=clean_text(node.head_ref_name),
        head_repository_id=sys.intern(head.id) if head else None,
        author=_share_text(parse_login(node.author)),
        is_busy=is_busy(node),
        is_mergeable_known=node.mergeable in {"MERGEABLE", "CONFLICTING"},
    )


@functools.lru_cache(maxsize=4096)
def _share_name(name: RepositoryName) -> RepositoryName:
    """Return the same name again: thousands of probes are of one repository."""
    return name


def _share_text(text: str | None) -> str | None:
    return None if text is None else sys.intern(text)


def read_probe(
    raw: msgspec.Raw,
    memory: ProbeMemory,
    *,
    decode_again: AbstractSet[str] = frozenset(),
) -> Outcome[Probe]:
    """Return what one raw pull request says, from memory when its bytes are known."""
    digest = build_digest(raw)
    known = memory.recall(digest)
    if known is not None and (
        not decode_again or known.value.node_id not in decode_again
    ):
        memory.hits += 1
        return known
    node = decode(PROBE, raw)
    if node is None:
        return STRANGE
    try:
        found = Found(build_probe(node))
    except ValueError:
        return Unreadable("its state is a word that we do not know", "unknown_state")
    memory.keep(digest, found)
    return found


async def iter_probes(
    graph: Graph,
    memory: ProbeMemory,
    references: Sequence[PullRequestReference],
    *,
    size: BatchSize,
    decode_again: AbstractSet[str] = frozenset(),
) -> AsyncIterator[Mapping[PullRequestReference, Outcome[Probe]]]:
    """
    Ask in full requests and yield the outcomes of each as soon as it is answered.

    Every reference is in exactly one of the yielded mappings unless a request fails
    as a whole; its error then ends the walk, and what was yielded stands.
    """
    by_id = group_by_id(references)
    unknown = by_id.pop("", ())
    if unknown:
        yield dict.fromkeys(unknown, NO_NODE_ID)
    async for outcomes in iter_probes_by_id(
        graph,
        memory,
        list(by_id),
        name_places(by_id),
        size=size,
        decode_again=decode_again,
    ):
        yield spread(outcomes, by_id)


async def iter_probes_by_id(
    graph: Graph,
    memory: ProbeMemory,
    node_ids: Sequence[str],
    places: Mapping[str, str],
    *,
    size: BatchSize,
    decode_again: AbstractSet[str] = frozenset(),
) -> AsyncIterator[Mapping[str, Outcome[Probe]]]:
    """
    Ask for distinct node ids in the same way; `places` name their repositories.

    For thousands this is cheaper than references, of which nobody asks the rest.
    """

    async def ask(batch: Sequence[str]) -> dict[str, Outcome[Probe]]:
        outcomes: dict[str, Outcome[Probe]] = {}
        for without, alike in group_alike(graph.capabilities, batch, places):
            parts = list(cut(alike, FIELD_SIZE))
            answer = await graph.ask(
                build_nodes_query("Probe", "ProbeFields", len(parts)),
                {f"ids{index}": part for index, part in enumerate(parts)},
                without=without,
            )
            _study(graph, answer, parts, places)
            outcomes |= _read_answer(answer, parts, memory, decode_again)
        return outcomes

    ordered = sort_alike(graph.capabilities, node_ids, places)
    async for outcomes in iter_batches(ordered, size, ask):
        yield outcomes


def _study(
    graph: Graph,
    answer: Answer,
    parts: Sequence[Sequence[str]],
    places: Mapping[str, str],
) -> None:
    """Learn which fields the answer refuses."""
    if answer.exchange.errors:
        asked = build_places(parts)
        ids = (node_id for part in parts for node_id in part)
        where = dict(zip(asked, (places[each] for each in ids), strict=True))
        study_faults(graph.capabilities, answer.map_faults(asked), where)


def _read_answer(
    answer: Answer,
    parts: Sequence[Sequence[str]],
    memory: ProbeMemory,
    decode_again: AbstractSet[str],
) -> Iterator[tuple[str, Outcome[Probe]]]:
    for index, ids in enumerate(parts):
        digest = build_digest(answer.get(f"n{index}"))
        known = None if decode_again else memory.recall_part(ids, digest)
        if known is not None:
            yield from zip(ids, known, strict=True)
            continue
        found: list[Found[Probe]] = []
        for node_id, raw in walk_nodes(answer, parts, only=index):
            outcome: Outcome[Probe] = (
                read_probe(raw, memory, decode_again=decode_again)
                if isinstance(raw, msgspec.Raw)
                else raw
            )
            if isinstance(outcome, Found):
                found.append(outcome)
            yield node_id, outcome
        if len(found) == len(ids):
            memory.keep_part(ids, digest, found)


def walk_nodes(
    answer: Answer, parts: Sequence[Sequence[str]], *, only: int
) -> Iterator[tuple[str, msgspec.Raw | Missing]]:
    """Yield for each id of one part its raw node, or why there is none."""
    faults: FaultMap | None = None
    name = f"n{only}"
    nodes = answer.get_list(name)
    for place, node_id in enumerate(parts[only]):
        raw = nodes[place] if place < len(nodes) else None
        if raw is not None and not is_null(raw):
            yield node_id, raw
            continue
        faults = faults or answer.map_faults(build_places(parts))
        yield node_id, faults.explain_null((name, place))


def build_places(parts: Sequence[Sequence[str]]) -> list[tuple[str | int, ...]]:
    """Return the path of every id that was asked."""
    return [
        (f"n{index}", place)
        for index, part in enumerate(parts)
        for place in range(len(part))
    ]


@functools.cache
def build_nodes_query(name: str, fragment: str, fields: int) -> str:
    """Return the text that asks `fields` lists of ids, `$ids0` and so on, at once."""
    variables = ", ".join(f"$ids{index}: [ID!]!" for index in range(fields))
    asked = " ".join(
        f"n{index}: nodes(ids: $ids{index}) {{ ...{fragment} }}"
        for index in range(fields)
    )
    return f"query {name}({variables}) {{ {asked} ...Budget }}"


class Places(Mapping[str, str], Generic[V]):
    """Repositories by node id, named on demand: of thousands it is seldom asked."""

    def __init__(self, by_id: Mapping[str, V], name: Callable[[V], str]) -> None:
        self._by_id = by_id
        self._name = name

    def __getitem__(self, node_id: str) -> str:
        return self._name(self._by_id[node_id])

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_id)

    def __len__(self) -> int:
        return len(self._by_id)


def name_places(
    by_id: Mapping[str, Sequence[PullRequestReference]],
) -> Mapping[str, str]:
    """Return the repository of each node id, '' where the reference names none."""
    return Places(by_id, lambda group: group[0].place)


def group_by_id(
    references: Sequence[PullRequestReference],
) -> dict[str, tuple[PullRequestReference, ...]]:
    """Group the references by node id, in order; '' holds those without one."""
    by_id: dict[str, tuple[PullRequestReference, ...]] = {}
    without_id: dict[PullRequestReference, None] = {}
    for reference in references:
        if not reference.node_id:
            # Of these there may be thousands in their one group.
            without_id[reference] = None
            continue
        group = by_id.setdefault(reference.node_id, (reference,))
        if reference not in group:
            by_id[reference.node_id] = (*group, reference)
    return {**by_id, "": tuple(without_id)} if without_id else by_id


def spread(
    outcomes: Mapping[str, Outcome[T]],
    by_id: Mapping[str, Sequence[PullRequestReference]],
) -> dict[PullRequestReference, Outcome[T]]:
    """Give the outcome of each node id to all of its references."""
    return {
        reference: outcome
        for node_id, outcome in outcomes.items()
        for reference in by_id[node_id]
    }


def cut(items: Sequence[str], size: int) -> Iterator[list[str]]:
    """Yield the items in lists of at most `size`."""
    for start in range(0, len(items), size):
        yield list(items[start : start + size])
