"""GitHub as the rest of the product sees it: questions in, outcomes out."""

import datetime as dt
import functools
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

import httpx
import msgspec

from prwatch.clock import Clock
from prwatch.domain.outcome import Outcome
from prwatch.domain.reference import (
    BranchAnswer,
    BranchReference,
    OpenPullRequests,
    Probe,
    PullRequestReference,
    Reading,
    RepositoryFacts,
    Usage,
    Viewer,
)
from prwatch.errors import ProviderUnavailable
from prwatch.github import (
    branches,
    details,
    probe,
    repositories,
    search,
)
from prwatch.github.batching import BatchSize
from prwatch.github.capabilities import Capabilities
from prwatch.github.contents import Contents
from prwatch.github.credentials import Credential
from prwatch.github.explain import Explainer
from prwatch.github.graph import Graph
from prwatch.github.limits import Limits
from prwatch.github.rest import Checked, Rest
from prwatch.github.rest_reader import RestReader
from prwatch.github.review_facts import ReviewReader
from prwatch.github.search import OwnPullRequests
from prwatch.github.sender import Sender
from prwatch.github.token_facts import EXPIRATION_HEADER, parse_expiration
from prwatch.github.wire import Node, decode


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Where a host answers. Neither ends in a slash."""

    api_url: str
    graphql_url: str


class _Viewer(Node):
    login: str
    database_id: int | None = None


_VIEWER: Final = msgspec.json.Decoder(_Viewer)


class GitHub:
    """
    One credential's way to one host.

    What fails as a whole raises a `ProviderError`; what can be told of a single
    reference is its outcome. Every reference that is asked gets one. The `iter_`
    forms yield each request's outcomes as soon as they are read, so that a later
    failure loses nothing; the others gather them. `capabilities` knows what the
    token may not read and the host's schema lacks.
    """

    has_probes = True

    def __init__(
        self,
        http: httpx.AsyncClient,
        credential: Credential,
        *,
        endpoints: Endpoints,
        clock: Clock,
        settle: dt.timedelta,
        limits: Limits | None = None,
    ) -> None:
        self.limits = limits or Limits(clock)
        self.credential = credential
        self.capabilities = Capabilities(clock)
        self._settle = settle
        sender = self.sender = Sender(http, credential, clock)
        self._graph = Graph(
            sender,
            endpoints.graphql_url,
            clock=clock,
            limits=self.limits,
            capabilities=self.capabilities,
        )
        self._rest = Rest(
            sender,
            endpoints.api_url,
            clock=clock,
            limits=self.limits,
            capabilities=self.capabilities,
            settle=settle,
        )
        self._memory = probe.ProbeMemory()
        self._probe_size = BatchSize(probe.BATCH_SIZE)
        self.iter_probe_by_id = functools.partial(
            probe.iter_probes_by_id, self._graph, self._memory, size=self._probe_size
        )
        """Probes distinct node ids, beside the names of their repositories."""
        self._detail_size = BatchSize(details.DETAIL_SIZE)
        self._branch_size = BatchSize(branches.BATCH_SIZE)
        self.rest_reader = RestReader(self._rest.client, self._rest)
        """The same questions, asked through REST alone."""
        self.contents = Contents(self._rest.client)
        """Folders and files of repositories."""
        self.explainer = Explainer(self._graph, self._rest, settle=settle)
        """Single pull requests, with all that their verdicts are made of."""
        self.review_reader = ReviewReader(self._graph)
        """Pull requests whose review is asked of somebody."""

    @property
    def usage(self) -> Usage:
        """Return what asking has cost since this object was made."""
        graph, rest = self._graph.usage, self._rest.usage
        return Usage(
            graphql=graph.graphql,
            rest=rest.rest,
            not_modified=rest.not_modified,
            points=graph.points,
            body_bytes=graph.body_bytes + rest.body_bytes,
            equal_bytes=self._memory.hits,
        )

    async def viewer(self) -> Viewer:
        """Return the account behind the credential."""
        answer = await self._graph.ask("Viewer", {})
        node = decode(_VIEWER, answer.get("viewer"))
        if node is None:
            raise ProviderUnavailable("GitHub did not say whose token it is")
        scopes = answer.exchange.headers.get("x-oauth-scopes")
        return Viewer(
            login=node.login,
            database_id=node.database_id or 0,
            scopes=None
            if scopes is None
            else tuple(each.strip() for each in scopes.split(",") if each.strip()),
            token_expires_at=parse_expiration(
                answer.exchange.headers.get(EXPIRATION_HEADER, "")
            ),
            answered_at=answer.observed_at,
        )

    def iter_probe(
        self,
        references: Sequence[PullRequestReference],
        *,
        decode: AbstractSet[str] = frozenset(),
    ) -> AsyncIterator[Mapping[PullRequestReference, Outcome[Probe]]]:
        """
        Probe references whose node id is known, at most 500 a request.

        The probe of an answer that is byte for byte the last one is the same
        object again, unless its node id is in `decode`.
        """
        return probe.iter_probes(
            self._graph,
            self._memory,
            references,
            size=self._probe_size,
            decode_again=decode,
        )

    async def probe(
        self,
        references: Sequence[PullRequestReference],
        *,
        decode: AbstractSet[str] = frozenset(),
    ) -> dict[PullRequestReference, Outcome[Probe]]:
        """Probe and gather; see `iter_probe`."""
        found: dict[PullRequestReference, Outcome[Probe]] = {}
        async for outcomes in self.iter_probe(references, decode=decode):
            found.update(outcomes)
        return found

    def iter_details(
        self, references: Sequence[PullRequestReference]
    ) -> AsyncIterator[Mapping[PullRequestReference, Outcome[Reading]]]:
        """Read in full, at most 25 a request, by node id or else by number."""
        return details.iter_details(
            self._graph, references, size=self._detail_size, settle=self._settle
        )

    async def details(
        self, references: Sequence[PullRequestReference]
    ) -> dict[PullRequestReference, Outcome[Reading]]:
        """Read in full and gather; see `iter_details`."""
        found: dict[PullRequestReference, Outcome[Reading]] = {}
        async for outcomes in self.iter_details(references):
            found.update(outcomes)
        return found

    def iter_branches(
        self, references: Sequence[BranchReference]
    ) -> AsyncIterator[Mapping[BranchReference, Outcome[BranchAnswer]]]:
        """Ask for the pull requests of branches, at most fifty a request."""
        return branches.iter_branches(self._graph, references, size=self._branch_size)

    async def branches(
        self, references: Sequence[BranchReference]
    ) -> dict[BranchReference, Outcome[BranchAnswer]]:
        """Ask for branches and gather; see `iter_branches`."""
        found: dict[BranchReference, Outcome[BranchAnswer]] = {}
        async for outcomes in self.iter_branches(references):
            found.update(outcomes)
        return found

    async def repository(self, owner: str, name: str) -> Outcome[RepositoryFacts]:
        """Return what GitHub says about a repository, under its present name."""
        return await repositories.fetch_repository(self._graph, owner, name)

    def iter_open_pull_requests(
        self, owner: str, name: str, *, is_known: Callable[[Probe], bool] | None
    ) -> AsyncIterator[Outcome[OpenPullRequests]]:
        """
        Yield a repository's open pull requests by the page, newest update first.

        The walk stops after the page on which `is_known` is true for a row; None
        walks to the end, and only the last page of such a walk is complete.
        """
        return repositories.iter_open_pull_requests(
            self._graph, self._memory, owner, name, is_known=is_known
        )

    async def own_pull_requests(self, login: str = "") -> OwnPullRequests:
        """Return somebody's open pull requests; '' is the credential's account."""
        return await search.fetch_own_pull_requests(
            self._graph, self._memory, login, size=self._probe_size
        )

    async def check(
        self,
        reference: PullRequestReference,
        *,
        tags: Mapping[str, str],
        since: dt.datetime | None = None,
    ) -> Checked:
        """
        Read one pull request through REST, conditionally.

        `tags` are the ones that an earlier call gave, kept by the caller with the
        observation that they vouch for and only for this credential. With `since`
        (the time of the newest comment known) only comments from two minutes
        before it are read.
        """
        return await self._rest.check(reference, tags=tags, since=since)
