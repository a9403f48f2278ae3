"""
Reads pull requests whose review is asked of one person, directly by their node ids.

The search's index lags, so nothing is decided by what a search says of its hits.
"""

import contextlib
import datetime as dt
import enum
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import field

from prwatch.domain.outcome import Found, Missing, Outcome, Unreadable
from prwatch.domain.pull_request import PullRequestState
from prwatch.domain.review_hit import Opinion, ReviewFacts
from prwatch.domain.review_watch import ReviewedPullRequest
from prwatch.github.batching import BatchSize, iter_batches
from prwatch.github.graph import NULL, Answer, Graph, is_null
from prwatch.github.normalize import BOT_SUFFIX, parse_login, parse_name
from prwatch.github.probe import STRANGE
from prwatch.github.search import Hits, fetch_hits
from prwatch.github.text import clean_text
from prwatch.github.wire import Actor, Node, RepositoryNode, ReviewNode, Reviews, decode

MAX_NUMBER: Final = 2**31 - 1
"""GraphQL has no greater whole number."""
FACTS_SIZE: Final = 100
"""GitHub takes at most this many ids in one `nodes` field."""
MAX_REQUESTS: Final = 100
"""So many requests of a pull request are read; more may stand."""
INCOMPLETE: Final = Unreadable("a part of it could not be read", "incomplete")


class _Asked(enum.Enum):
    """Whose requests are read and count: nobody's, the person's, those to teams too."""

    UNREAD = enum.auto()
    PERSON = enum.auto()
    TEAMS = enum.auto()


class _Reviewer(Node):
    typename: str = field(default="", name="__typename")
    login: str = ""


class _Request(Node):
    """A request that stands, or the event of one, which has a time."""

    requested_reviewer: _Reviewer | None = None
    created_at: dt.datetime | None = None


class _Requests(Node):
    nodes: list[_Request | None] | None = None


class _Facts(Node, kw_only=True):
    id: str
    number: int
    repository: RepositoryNode
    state: str
    title: str = ""
    url: str = ""
    is_draft: bool = False
    closed_at: dt.datetime | None = None
    merged_at: dt.datetime | None = None
    author: Actor | None = None
    reviews: Reviews | None = None
    review_requests: _Requests | None = None
    timeline_items: _Requests | None = None


_FACTS: Final = msgspec.json.Decoder(_Facts)


class ReviewReader:
    """Searches and reads for reviews with one credential."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._size = BatchSize(FACTS_SIZE)
        self._ends_size = BatchSize(FACTS_SIZE)

    async def search(self, query: str) -> Hits:
        """
        Return what a search for pull requests finds, by node id.

        Raises:
            ProviderError: a request failed as a whole.
        """
        return await fetch_hits(self._graph, query)

    async def iter_facts(
        self, node_ids: Sequence[str], login: str, *, counts_teams: bool = False
    ) -> AsyncGenerator[Mapping[str, Outcome[ReviewFacts]], None]:
        """
        Yield each request's outcomes by node id, as `login` stands to them.

        Every id gets an outcome unless a request fails as a whole. One of which only a
        part could be read is `Unreadable`: half of the facts decide nothing. An error
        that names no place touches all. With `counts_teams` a review counts as asked
        for also when a team was asked after the person's last word, whichever team it
        is.
        """
        operation = "ReviewTeamFacts" if counts_teams else "ReviewFacts"
        async with contextlib.aclosing(
            self._iter(operation, node_ids, login, self._size)
        ) as batches:
            async for outcomes in batches:
                yield outcomes

    async def iter_ends(
        self, node_ids: Sequence[str], login: str
    ) -> AsyncGenerator[Mapping[str, Outcome[ReviewFacts]], None]:
        """
        Yield the same at half the price, for who wants to know of ends alone.

        Whether a review is asked for, the title, the author and whether it is a draft
        are not read: an approval shows no end by itself.
        """
        async with contextlib.aclosing(
            self._iter("ReviewEnds", node_ids, login, self._ends_size)
        ) as batches:
            async for outcomes in batches:
                yield outcomes

    def _iter(
        self, operation: str, node_ids: Sequence[str], login: str, size: BatchSize
    ) -> AsyncGenerator[Mapping[str, Outcome[ReviewFacts]], None]:
        asked = {"ReviewFacts": _Asked.PERSON, "ReviewTeamFacts": _Asked.TEAMS}
        counted = asked.get(operation, _Asked.UNREAD)

        async def ask(batch: Sequence[str]) -> dict[str, Outcome[ReviewFacts]]:
            variables = {"ids": list(batch), "login": login}
            answer = await self._graph.ask(operation, variables)
            return _read_answer(answer, batch, login, counted)

        return iter_batches(node_ids, size, ask)


def _read_answer(
    answer: Answer, node_ids: Sequence[str], login: str, counted: _Asked
) -> dict[str, Outcome[ReviewFacts]]:
    places = [("nodes", place) for place in range(len(node_ids))]
    faults = answer.map_faults(places)
    nodes = answer.get_list("nodes")
    found: dict[str, Outcome[ReviewFacts]] = {}
    for place, node_id in enumerate(node_ids):
        key = ("nodes", place)
        raw = nodes[place] if place < len(nodes) else NULL
        # Of what an error touches, or may touch, nothing is concluded.
        if is_null(raw) or key in faults.references or faults.fields.get(key):
            found[node_id] = faults.explain_null(key)
        elif faults.unplaced is not None:
            found[node_id] = faults.unplaced
        else:
            found[node_id] = _read_node(raw, login, counted)
    return found


def _read_node(
    raw: msgspec.Raw, login: str, counted: _Asked
) -> Found[ReviewFacts] | Missing:
    node = decode(_FACTS, raw)
    if node is None:
        return STRANGE
    requests = node.review_requests.nodes if node.review_requests else None
    if counted is _Asked.UNREAD:
        requests = []
    reviews = node.reviews.nodes if node.reviews else None
    if requests is None or reviews is None or None in reviews:
        return INCOMPLETE
    if not 0 < node.number <= MAX_NUMBER:
        return STRANGE
    name = parse_name(node.repository)
    # A server that answers with somebody else's review says nothing of this person's.
    last = next((each for each in reversed(reviews) if _is_by(each, login)), None)
    try:
        facts = ReviewFacts(
            pull_request=ReviewedPullRequest(
                owner=name.owner,
                name=name.name,
                number=node.number,
                node_id=node.id,
                repository_node_id=name.node_id,
            ),
            title=clean_text(node.title),
            url=clean_text(node.url),
            author=parse_login(node.author),
            is_draft=node.is_draft,
            state=PullRequestState(node.state),
            closed_at=node.closed_at,
            merged_at=node.merged_at,
            opinion=Opinion(last.state) if last else None,
            submitted_at=last.submitted_at if last else None,
            is_asked=any(_is_asked(each, login) for each in requests)
            or _is_team_asked(node, last.submitted_at if last else None),
            is_requested=len(requests) >= MAX_REQUESTS
            or any(_may_mean(each, login, counted) for each in requests),
        )
    except ValueError:
        return Unreadable("a state is a word that we do not know", "unknown_state")
    return Found(facts)


def _may_mean(request: _Request | None, login: str, counted: _Asked) -> bool:
    """Return whether a request may be the person's; whose is not shown may be."""
    asked = request.requested_reviewer if request else None
    if asked is None:
        return True
    if asked.typename == "Team":
        return counted is _Asked.TEAMS
    return asked.login.lower() == login.lower() or asked.typename != "User"


def _is_team_asked(node: _Facts, since: dt.datetime | None) -> bool:
    """Return whether a team is asked now, and was so after that time."""
    standing = node.review_requests.nodes if node.review_requests else None
    events = node.timeline_items.nodes if node.timeline_items else None
    if since is None or not any(map(_is_of_team, standing or ())):
        return False
    return any(
        _is_of_team(event)
        for event in events or ()
        if event is not None and event.created_at and event.created_at > since
    )


def _is_of_team(request: _Request | None) -> bool:
    asked = request.requested_reviewer if request else None
    return asked is not None and asked.typename == "Team"


def _is_by(review: ReviewNode | None, login: str) -> bool:
    author = parse_login(review.author) if review else None
    wanted = login.removesuffix(BOT_SUFFIX)
    return author is not None and author.lower() == wanted.lower()


def _is_asked(request: _Request | None, login: str) -> bool:
    asked = request.requested_reviewer if request else None
    return asked is not None and asked.login.lower() == login.lower()
