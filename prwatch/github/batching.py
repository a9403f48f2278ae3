"""
Cuts what is asked into requests as large as GitHub can answer.

GitHub gives up on a GraphQL request after ten seconds, with 502 or 504, and answers a
heavy one only in part. The size of a request halves then and grows back slowly. What
failed is cut in two and asked again, so that one member that GitHub cannot answer
costs its neighbours nothing. Everything else that fails as a whole ends the walk.
"""

import itertools
from collections import deque
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Hashable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import httpx

from prwatch.domain.outcome import Outcome, Retry
from prwatch.errors import ProviderUnavailable
from prwatch.github.app_answer import OPERATION as TOKEN_OPERATION
from prwatch.github.path_errors import RESOURCE_LIMITS, retry_of

MAX_HALVINGS: Final = 4
MAX_FAILURES: Final = 3
"""So many requests running that fail are no matter of size."""
MAX_LONELY: Final = 100
GROWTH: Final = 1.25
_TOO_HEAVY: Final = frozenset({200, 502, 504})
"""200 is an answer without data: "this may be the result of a timeout"."""

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BatchSize:
    """
    How many members one request of a kind holds now, for one credential.

    `lonely` are members that no request could be answered with: they are asked last
    and each for itself, until GitHub answers.
    """

    def __init__(self, full: int) -> None:
        self.lonely: set[Hashable] = set()
        self._full = full
        self._size = float(full)

    @property
    def current(self) -> int:
        """Return the number of members."""
        return int(self._size)

    def halve(self, tried: int) -> None:
        """Note that a request with that many members was too heavy."""
        self._size = max(1.0, min(self._size, tried) / 2)

    def grow(self) -> None:
        """Note that a request was answered."""
        self._size = min(float(self._full), self._size * GROWTH)

    def blame(self, member: Hashable, *, was: int) -> None:
        """Note that it was this member and no matter of size, which is as it was."""
        if len(self.lonely) < MAX_LONELY:
            self.lonely.add(member)
        self._size = max(self._size, float(was))


@dataclass(frozen=True, slots=True)
class _Part(Generic[K]):
    members: tuple[K, ...]
    halvings: int = 0

    @property
    def can_halve(self) -> bool:
        return len(self.members) > 1 and self.halvings < MAX_HALVINGS

    def halve(self) -> Iterator["_Part[K]"]:
        middle = len(self.members) // 2
        for members in (self.members[:middle], self.members[middle:]):
            yield _Part(members, self.halvings + 1)


class _Walk(Generic[K, V]):
    """What is still to be asked, and what became of what was."""

    def __init__(self, members: Sequence[K], size: BatchSize) -> None:
        self._size = size
        self._size_before = size.current
        self._rest = iter([each for each in members if each not in size.lonely])
        self._lonely = deque(each for each in members if each in size.lonely)
        self._again: deque[_Part[K]] = deque()
        self._failures = 0
        self._has_answer = False
        self._lost: dict[K, ProviderUnavailable] = {}

    def take(self) -> _Part[K] | None:
        """Return what is asked next: no part is larger than is answered now."""
        while self._again:
            part = self._again.popleft()
            if len(part.members) <= self._size.current or not part.can_halve:
                return part
            self._again.extendleft(reversed([*part.halve()]))
        taken = tuple(itertools.islice(self._rest, self._size.current))
        if taken:
            return _Part(taken)
        return _Part((self._lonely.popleft(),)) if self._lonely else None

    def fail(self, part: _Part[K], error: ProviderUnavailable) -> None:
        """
        Ask the halves of what failed, or give it up.

        Raises:
            ProviderUnavailable: it is no matter of size.
        """
        if not _is_too_heavy(error):
            raise error
        is_lonely = part.members[0] in self._size.lonely
        self._failures += not is_lonely
        if self._failures == MAX_FAILURES:
            raise error
        if part.can_halve:
            self._size.halve(len(part.members))
            self._again.extend(part.halve())
        else:
            self._lost |= dict.fromkeys(part.members, error)

    def answer(
        self, part: _Part[K], outcomes: Mapping[K, Outcome[V]]
    ) -> Mapping[K, Outcome[V]]:
        """Return what was answered; what was left out is asked again in less."""
        self._failures, self._has_answer = 0, True
        self._size.lonely.difference_update(part.members)
        left = tuple(
            key
            for key, value in outcomes.items()
            if isinstance(value, Retry) and value.code == RESOURCE_LIMITS
        )
        if not left:
            self._size.grow()
            return outcomes
        self._size.halve(len(part.members))
        if not part.can_halve:
            return outcomes
        if len(left) < len(outcomes):
            self._again.append(_Part(left, part.halvings + 1))
        else:
            self._again.extend(part.halve())
        return {key: value for key, value in outcomes.items() if key not in left}

    def end(self) -> Mapping[K, Outcome[V]]:
        """
        Return what stays unanswered.

        Raises:
            ProviderUnavailable: nothing was answered, and that is news.
        """
        for member, error in self._lost.items():
            if not self._has_answer and member not in self._size.lonely:
                raise error
            self._size.blame(member, was=self._size_before)
        return {member: retry_of(error) for member, error in self._lost.items()}


async def iter_batches(
    members: Sequence[K],
    size: BatchSize,
    ask: Callable[[Sequence[K]], Awaitable[Mapping[K, Outcome[V]]]],
) -> AsyncGenerator[Mapping[K, Outcome[V]], None]:
    """
    Ask all members, as many a request as `size` says, and yield each answer.

    `ask` sends one request and returns an outcome of each member. One that is too
    heavy is halved, at most four times, and what then still fails is a `Retry` of its
    members alone if anything else was answered.

    Raises:
        ProviderError: a request failed for another reason, or the third one running
            did, or all that were asked. What was yielded stands.
    """
    walk: _Walk[K, V] = _Walk(members, size)
    while part := walk.take():
        try:
            outcomes = await ask(part.members)
        except ProviderUnavailable as error:
            walk.fail(part, error)
        else:
            yield walk.answer(part, outcomes)
    unanswered = walk.end()
    if unanswered:
        yield unanswered


def _is_too_heavy(error: ProviderUnavailable) -> bool:
    if error.operation == TOKEN_OPERATION:
        return False  # nothing was asked yet: there is no token to ask with
    if error.status:
        return error.status in _TOO_HEAVY
    cause = error.__cause__
    # A connection that does not come about says nothing of what is asked.
    is_unconnected = isinstance(cause, httpx.ConnectTimeout | httpx.PoolTimeout)
    return isinstance(cause, TimeoutError | httpx.TimeoutException) and (
        not is_unconnected
    )
