"""
Reads one pull request through REST, asking only for what changed since last time.

Each address has its own tag. When every address answers that nothing changed, so
does the whole; when one changed, the others are read again without their tags, for
an observation is made of whole answers only. A tag vouches for bytes, and a last
page that is full says nothing of a page behind it: such a page gets no tag.
"""

import datetime as dt
import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from prwatch.clock import Clock
from prwatch.domain.explanation import Explanation
from prwatch.domain.outcome import Found, Outcome, Unreadable
from prwatch.domain.reference import PullRequestReference, Reading, Usage
from prwatch.errors import ProviderError
from prwatch.github import rest_wire as wire
from prwatch.github.capabilities import Capabilities
from prwatch.github.limits import Limits
from prwatch.github.omission import omit_by_rest
from prwatch.github.path_errors import outcome_of
from prwatch.github.rest_client import RestAnswer, RestClient
from prwatch.github.rest_lists import (
    RestLists,
    RestWalk,
    is_vouching,
    quote_part,
)
from prwatch.github.rest_normalize import (
    build_explanation,
    build_observation,
    list_asked,
)
from prwatch.github.sender import Sender
from prwatch.github.wire import decode

UNKNOWN: Final = Unreadable("GitHub's answer is not understood", "strange_answer")


class NotModified(enum.Enum):
    """The type of the one value that says that nothing changed since the tags."""

    NOT_MODIFIED = "not modified"


NOT_MODIFIED: Final = NotModified.NOT_MODIFIED
CheckOutcome: TypeAlias = Outcome[Reading] | NotModified


@dataclass(frozen=True, slots=True)
class Checked:
    """
    What a check found, and the tags to send next time.

    The tags vouch for the reading that they came with: keep both or neither. They
    are empty while a verdict settles, and belong to one credential. `verified_at`
    is GitHub's time when nothing had changed, else None.
    """

    outcome: CheckOutcome
    tags: Mapping[str, str] = field(default_factory=dict)
    verified_at: dt.datetime | None = None


class Rest:
    """Reads single pull requests with one credential."""

    def __init__(
        self,
        sender: Sender,
        api_url: str,
        *,
        clock: Clock,
        limits: Limits,
        capabilities: Capabilities,
        settle: dt.timedelta,
    ) -> None:
        self._client = RestClient(
            sender, api_url, clock=clock, limits=limits, see=capabilities.see_version
        )
        self._capabilities = capabilities
        self._lists = RestLists(self._client, capabilities)
        self._settle = settle

    @property
    def client(self) -> RestClient:
        """Return the client that the readings go through."""
        return self._client

    @property
    def usage(self) -> Usage:
        """Return what was asked so far."""
        return self._client.usage

    async def check(
        self,
        reference: PullRequestReference,
        *,
        tags: Mapping[str, str],
        since: dt.datetime | None = None,
    ) -> Checked:
        """
        Return the reading, or that nothing changed since `tags` were given.

        Raises:
            ProviderError: the failure is about more than this pull request.
        """
        walk = self._begin(reference)
        # What is tried again, or may be read now, is vouched for by no tag.
        if is_vouching(tags, walk.omitted):
            verified_at = await self._verify(tags)
            if verified_at is not None:
                return Checked(NOT_MODIFIED, dict(tags), verified_at)
        try:
            return await self._read(reference, walk, since)
        except ProviderError as error:
            outcome = outcome_of(error)
            if outcome is None:
                raise
            return Checked(outcome)

    async def explain(self, reference: PullRequestReference) -> Outcome[Explanation]:
        """
        Read the whole pull request now and return what its verdicts are made of.

        Raises:
            ProviderError: the failure is about more than this pull request.
        """
        try:
            answer, pull_request = await self._get_pull_request(reference)
            if pull_request is None:
                return UNKNOWN
            parts = await self._lists.read_parts(
                self._begin(reference), pull_request, None
            )
        except ProviderError as error:
            outcome = outcome_of(error)
            if outcome is None:
                raise
            return outcome
        try:
            return Found(
                build_explanation(
                    parts, observed_at=answer.observed_at, settle=self._settle
                )
            )
        except ValueError:
            return UNKNOWN

    async def list_asked(
        self, reference: PullRequestReference
    ) -> tuple[str, ...] | None:
        """
        Return the logins and teams whose review is asked for; None if unreadable.

        Raises:
            ProviderError: the failure is about more than this pull request.
        """
        try:
            _, pull_request = await self._get_pull_request(reference)
        except ProviderError as error:
            if outcome_of(error) is None:
                raise
            return None
        return None if pull_request is None else list_asked(pull_request)

    def _begin(self, reference: PullRequestReference) -> RestWalk:
        place = reference.place
        return RestWalk(place, omit_by_rest(self._capabilities, place))

    async def _get_pull_request(
        self, reference: PullRequestReference
    ) -> tuple[RestAnswer, wire.PullRequest | None]:
        """Return the answer, and the pull request unless it is not understood."""
        base = f"/repos/{quote_part(reference.owner)}/{quote_part(reference.name)}"
        path = f"{base}/pulls/{reference.number}"
        answer = await self._client.get(path, operation="pull request")
        return answer, decode(wire.PULL_REQUEST, answer.body)

    async def _verify(self, tags: Mapping[str, str]) -> dt.datetime | None:
        """Return when GitHub began to say that nothing changed, None if anything."""
        began_at = None
        for path, tag in tags.items():
            try:
                answer = await self._client.get(path, operation="verify", tag=tag)
            except ProviderError as error:
                if outcome_of(error) is None:
                    raise
                return None
            if answer.body is not None:
                return None
            began_at = began_at or answer.observed_at
        return began_at

    async def _read(
        self,
        reference: PullRequestReference,
        walk: RestWalk,
        since: dt.datetime | None,
    ) -> Checked:
        answer, pull_request = await self._get_pull_request(reference)
        if pull_request is None:
            return Checked(UNKNOWN)
        walk.keep(answer)
        parts = await self._lists.read_parts(walk, pull_request, since)
        try:
            observation = build_observation(
                parts, observed_at=answer.observed_at, settle=self._settle
            )
        except ValueError:
            return Checked(UNKNOWN)
        is_last_word = (
            walk.is_vouched and walk.is_whole and observation.settles_at is None
        )
        reading = Reading(
            observation=observation,
            has_null_auto_merge=pull_request.auto_merge is None,
        )
        return Checked(Found(reading), walk.tags if is_last_word else {})
