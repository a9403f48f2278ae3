"""
The same questions as through GraphQL, asked through REST: one request a thing.

For hosts without a usable GraphQL interface, and for who wants conditional requests
alone. There are no probes: each pull request is checked with the entity tags of its
last reading, which is given out again when nothing changed.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias
from urllib.parse import quote

import msgspec

from prwatch.domain.outcome import Found, Outcome, Unreadable
from prwatch.domain.pull_request import PullRequestState, RepositoryName
from prwatch.domain.reference import (
    BranchAnswer,
    BranchPullRequest,
    BranchReference,
    OpenPullRequests,
    Probe,
    PullRequestReference,
    Reading,
    RepositoryFacts,
    Viewer,
)
from prwatch.errors import ProviderError, ProviderUnavailable
from prwatch.github import rest_wire as wire
from prwatch.github.branches import Group, group_branches
from prwatch.github.path_errors import outcome_of
from prwatch.github.plausible import FullName, NodeId
from prwatch.github.rate_facts import name_user
from prwatch.github.rest import Checked, NotModified, Rest
from prwatch.github.rest_client import RestClient
from prwatch.github.rest_normalize import parse_login
from prwatch.github.search import OwnPullRequests
from prwatch.github.text import clean_text
from prwatch.github.wire import decode

MAX_PAGES: Final = 50
STRANGE: Final = Unreadable("GitHub's answer is not understood", "strange_answer")

BranchOutcome: TypeAlias = Outcome[BranchAnswer]
Probes: TypeAlias = Mapping[PullRequestReference, Outcome[Probe]]


class _Parent(msgspec.Struct):
    full_name: FullName
    node_id: NodeId


class _Repository(msgspec.Struct):
    full_name: FullName
    node_id: NodeId
    default_branch: str = ""
    archived: bool = False
    parent: _Parent | None = None


_REPOSITORY: Final = msgspec.json.Decoder(_Repository)
_PULLS: Final = msgspec.json.Decoder(list[wire.PullRequest])


class _User(msgspec.Struct):
    login: str
    id: int = 0


_USER: Final = msgspec.json.Decoder(_User)


@dataclass(frozen=True, slots=True)
class _Remembered:
    """A reading and the tags that vouch for it, for this credential."""

    tags: Mapping[str, str]
    reading: Reading


class RestReader:
    """Answers what the walk asks, through REST alone."""

    has_probes = False

    def __init__(self, client: RestClient, rest: Rest) -> None:
        self._client = client
        self._rest = rest
        self._readings: dict[str, _Remembered] = {}
        self._branches: dict[str, tuple[str, tuple[BranchPullRequest, ...]]] = {}
        self._facts: dict[str, tuple[str, RepositoryFacts]] = {}

    async def viewer(self) -> Viewer:
        """
        Return the account behind the credential.

        Raises:
            ProviderError: GitHub did not say.
        """
        answer = await self._client.get("/user", operation="viewer")
        node = decode(_USER, answer.body)
        if node is None:
            raise ProviderUnavailable("GitHub did not say whose token it is")
        self._client.limits.learn_payer(name_user(node.id))
        return Viewer(login=clean_text(node.login), database_id=node.id)

    async def own_pull_requests(self, login: str = "") -> OwnPullRequests:
        """Return nothing, incomplete: the search is asked through GraphQL alone."""
        del login
        return OwnPullRequests(probes=(), is_complete=False)

    async def iter_probe(
        self, references: Sequence[PullRequestReference]
    ) -> AsyncIterator[Probes]:
        """Yield each pull request's own reading as a probe that always has moved."""
        async for outcomes in self.iter_details(references):
            yield {
                reference: Found(_probe_of(outcome.value))
                if isinstance(outcome, Found)
                else outcome
                for reference, outcome in outcomes.items()
            }

    async def iter_details(
        self, references: Sequence[PullRequestReference]
    ) -> AsyncIterator[Mapping[PullRequestReference, Outcome[Reading]]]:
        """Read pull requests one by one, each as far as it changed."""
        for reference in references:
            known = self._readings.get(_key(reference))
            checked = await self._rest.check(
                reference, tags=known.tags if known else {}
            )
            yield {reference: self._remember(reference, checked, known)}

    async def iter_branches(
        self, references: Sequence[BranchReference]
    ) -> AsyncIterator[Mapping[BranchReference, Outcome[BranchAnswer]]]:
        """Ask for the pull requests of branches, one repository after the other."""
        for group in group_branches(references):
            yield await self._find_branches(group)

    async def repository(self, owner: str, name: str) -> Outcome[RepositoryFacts]:
        """Return what GitHub says about a repository, asked conditionally."""
        path = f"/repos/{_quote(owner)}/{_quote(name)}"
        tag, known = self._facts.get(path, ("", None))
        try:
            answer = await self._client.get(path, operation="repository", tag=tag)
        except ProviderError as error:
            outcome = outcome_of(error)
            if outcome is None:
                raise
            return outcome
        if answer.body is None and known is not None:
            return Found(known)
        node = decode(_REPOSITORY, answer.body)
        if node is None:
            return STRANGE
        facts = _build_facts(node)
        self._facts[path] = (answer.tag, facts)
        return Found(facts)

    async def iter_open_pull_requests(
        self, owner: str, name: str, *, is_known: Callable[[Probe], bool] | None
    ) -> AsyncIterator[Outcome[OpenPullRequests]]:
        """Yield a repository's open pull requests by the page, newest update first."""
        facts = await self.repository(owner, name)
        if not isinstance(facts, Found):
            yield facts
            return
        shown = facts.value.repository
        path = _pulls_path(shown, "state=open&sort=updated&direction=desc")
        for _ in range(MAX_PAGES):
            answer = await self._client.get(path, operation="pull requests")
            rows = decode(_PULLS, answer.body)
            if rows is None:
                yield STRANGE
                return
            probes = tuple(_build_probe(row, shown) for row in rows)
            is_last = not answer.next_path
            yield Found(
                OpenPullRequests(
                    repository=facts.value, probes=probes, is_complete=is_last
                )
            )
            if is_last or (is_known is not None and any(map(is_known, probes))):
                return
            path = answer.next_path

    async def _find_branches(
        self, group: Group
    ) -> dict[BranchReference, BranchOutcome]:
        facts = await self.repository(group.owner, group.name)
        if not isinstance(facts, Found):
            return dict.fromkeys(group.references, facts)
        return {
            reference: await self._find_branch(reference, facts.value)
            for reference in group.references
        }

    async def _find_branch(
        self, reference: BranchReference, facts: RepositoryFacts
    ) -> BranchOutcome:
        """
        Return the pull requests of one branch, asked conditionally.

        GitHub ignores a `head` without an owner and then lists everything.
        """
        owner = reference.head_owner or facts.repository.owner
        head = f"{_quote(owner)}:{_quote(reference.branch)}"
        path = first = _pulls_path(facts.repository, f"state=all&head={head}")
        tag, known = self._branches.get(first, ("", ()))
        rows: list[BranchPullRequest] = []
        for _ in range(MAX_PAGES):
            answer = await self._client.get(path, operation="branch", tag=tag)
            if answer.body is None:
                rows = list(known)
                break
            page = decode(_PULLS, answer.body)
            if page is None:
                return STRANGE
            rows.extend(_build_branch_row(row) for row in page)
            if path == first:
                self._branches.pop(first, None)
                if not answer.next_path and answer.tag:
                    self._branches[first] = (answer.tag, tuple(rows))
            path, tag = answer.next_path, ""
            if not path:
                break
        return Found(
            BranchAnswer(
                repository=facts,
                pull_requests=tuple(rows),
                is_complete=path in {"", first},
            )
        )

    def _remember(
        self,
        reference: PullRequestReference,
        checked: Checked,
        known: _Remembered | None,
    ) -> Outcome[Reading]:
        if isinstance(checked.outcome, NotModified):
            return _see_again(known.reading, checked) if known else STRANGE
        if isinstance(checked.outcome, Found) and checked.tags:
            remembered = _Remembered(checked.tags, checked.outcome.value)
            self._readings[_key(reference)] = remembered
        else:
            self._readings.pop(_key(reference), None)
        return checked.outcome


def _see_again(reading: Reading, checked: Checked) -> Found[Reading]:
    """Return the same reading as seen just now: it may be the second look at a flap."""
    observation = reading.observation
    seen_at = checked.verified_at or observation.observed_at
    return Found(
        replace(reading, observation=replace(observation, observed_at=seen_at))
    )


def _key(reference: PullRequestReference) -> str:
    # Without the node id, which the first reading brings.
    return f"{reference.owner}/{reference.name}#{reference.number}".lower()


def _build_facts(node: _Repository) -> RepositoryFacts:
    return RepositoryFacts(
        repository=_name(node.full_name, node.node_id),
        default_branch=clean_text(node.default_branch),
        is_archived=node.archived,
        parent=_name(node.parent.full_name, node.parent.node_id)
        if node.parent
        else None,
    )


def _name(full_name: str, node_id: str) -> RepositoryName:
    owner, _, name = clean_text(full_name).partition("/")
    return RepositoryName(owner, name, node_id)


def _state(row: wire.PullRequest) -> PullRequestState:
    if row.merged_at is not None:
        return PullRequestState.MERGED
    is_open = row.state.lower() == "open"
    return PullRequestState.OPEN if is_open else PullRequestState.CLOSED


def _build_branch_row(row: wire.PullRequest) -> BranchPullRequest:
    return BranchPullRequest(
        node_id=row.node_id,
        number=row.number,
        state=_state(row),
        head_repository_id=row.head.repo.node_id if row.head.repo else None,
        head_ref_oid=row.head.sha,
        closed_at=row.closed_at,
        created_at=row.created_at,
    )


def _build_probe(row: wire.PullRequest, repository: RepositoryName) -> Probe:
    return Probe(
        node_id=row.node_id,
        number=row.number,
        repository=repository,
        fingerprint="",
        state=_state(row),
        updated_at=row.updated_at,
        head_ref_name=clean_text(row.head.ref),
        head_repository_id=row.head.repo.node_id if row.head.repo else None,
        author=parse_login(row.user),
        is_busy=False,
    )


def _probe_of(reading: Reading) -> Probe:
    seen = reading.observation
    return Probe(
        node_id=seen.node_id,
        number=seen.number,
        repository=seen.repository,
        fingerprint="",
        state=seen.state,
        updated_at=seen.updated_at,
        head_ref_name=seen.head_ref_name,
        head_repository_id=seen.head_repository_id,
        author=seen.author,
        is_busy=False,
    )


def _pulls_path(repository: RepositoryName, query: str) -> str:
    owner, name = _quote(repository.owner), _quote(repository.name)
    return f"/repos/{owner}/{name}/pulls?{query}&per_page=100"


def _quote(part: str) -> str:
    return quote(part, safe="")
