"""
Judges the parts of a partial answer: which reference or field each error touches.

Faults stay as small as they are. An error whose path ends at a reference decides
that reference; one that goes deeper decides a field of it; a reference that is null
without any error proves nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from prwatch.domain.outcome import Forbidden, Missing, NotFound, Retry, Unreadable
from prwatch.errors import (
    AuthenticationFailed,
    PermissionDenied,
    ProviderError,
    ProviderUnavailable,
    RateLimited,
    ResourceGone,
)
from prwatch.github.classify import is_limit
from prwatch.github.exchange import GraphQLError, PathStep
from prwatch.github.wording import SSO, find_code, find_refusal

RESOURCE_LIMITS: Final = "resource_limits"
"""The code of what was cut off because the request as a whole was too heavy."""
NULL_WITHOUT_ERROR: Final = Unreadable("GitHub answered null without a reason", "null")
_TRANSIENT: Final = frozenset({"", "SERVICE_UNAVAILABLE", "INTERNAL", "TIMEOUT"})


@dataclass(frozen=True, slots=True)
class FieldFault:
    """An error inside one reference: the fields that lead to it, and what it means."""

    fields: tuple[PathStep, ...]
    meaning: Missing


@dataclass(frozen=True, slots=True)
class FaultMap:
    """
    The errors of one answer, by what they touch.

    `references` holds what was decided for a whole reference, by the path that the
    caller asked under; `fields` what was lost inside of one. `unplaced` is the
    first error without a path: it explains the nulls that no other explains.
    """

    references: Mapping[tuple[PathStep, ...], Missing] = field(default_factory=dict)
    fields: Mapping[tuple[PathStep, ...], tuple[FieldFault, ...]] = field(
        default_factory=dict
    )
    unplaced: Missing | None = None

    def explain_null(self, place: tuple[PathStep, ...]) -> Missing:
        """Return why the reference at `place` is null."""
        known = self.references.get(place)
        if known is not None:
            return known
        inside = self.fields.get(place)
        if inside:
            return inside[0].meaning
        return self.unplaced or NULL_WITHOUT_ERROR


def map_faults(
    errors: Iterable[GraphQLError], places: Iterable[tuple[PathStep, ...]]
) -> FaultMap:
    """
    Sort the errors by the references that were asked at `places`.

    Places may be of different depths; an error above a place (a repository alias
    that is null) touches every place below it.
    """
    known = set(places)
    references: dict[tuple[PathStep, ...], Missing] = {}
    fields: dict[tuple[PathStep, ...], tuple[FieldFault, ...]] = {}
    unplaced: Missing | None = None
    for error in errors:
        meaning = judge_error(error)
        place = _longest_place(error.path, known)
        if place is not None and len(place) < len(error.path):
            fault = FieldFault(error.path[len(place) :], meaning)
            fields[place] = (*fields.get(place, ()), fault)
        elif place is not None:
            references.setdefault(place, meaning)
        elif error.path:
            for each in known:
                if each[: len(error.path)] == error.path:
                    references.setdefault(each, meaning)
        else:
            unplaced = unplaced or meaning
    return FaultMap(references, fields, unplaced)


def _longest_place(
    path: tuple[PathStep, ...], known: set[tuple[PathStep, ...]]
) -> tuple[PathStep, ...] | None:
    for length in range(len(path), 0, -1):
        if path[:length] in known:
            return path[:length]
    return None


def judge_error(error: GraphQLError) -> Missing:  # noqa: PLR0911 - one table row each
    """Return what one error says about the thing that its path names."""
    if is_limit(error):
        return Retry("a rate limit is reached", code="rate_limited")
    refusal = SSO if error.is_saml else find_refusal(error.message)
    if refusal is not None:
        return Forbidden(refusal.said, refusal.scope, refusal.code)
    if error.type == "NOT_FOUND":
        return NotFound("GitHub does not know it, or this token may not see it")
    if error.type == "FORBIDDEN":
        return Forbidden("this token may not read it")
    if error.type == "INSUFFICIENT_SCOPES":
        return Forbidden("the token lacks a scope", code="insufficient_scopes")
    if error.type == "RESOURCE_LIMITS_EXCEEDED":
        return Retry("the request was too heavy for GitHub", code=RESOURCE_LIMITS)
    if error.type in _TRANSIENT:
        return Retry("GitHub could not read it this time", code="transient")
    return Unreadable("GitHub could not read it", error.type.lower())


def outcome_of(error: ProviderError) -> Missing | None:  # noqa: PLR0911 - a table
    """
    Return what a failed request for one reference says about it.

    None means that the failure is about more than this reference, and is raised.
    """
    match error:
        case ResourceGone(status=451):
            return Forbidden("blocked for legal reasons", "repository", "blocked")
        case ResourceGone(status=410):
            return NotFound("GitHub says that it is gone")
        case ResourceGone():
            return NotFound("GitHub does not know it, or this token may not see it")
        case PermissionDenied(scope="token"):
            return None
        case PermissionDenied():
            return Forbidden(error.message, error.scope)
        case AuthenticationFailed(scope="organisation"):
            return Forbidden(error.message, error.scope, find_code(error.message))
        case _:
            return None


def retry_of(error: ProviderError) -> Retry:
    """Return the outcome of a reference whose further pages could not be read."""
    match error:
        case RateLimited():
            return Retry("a rate limit is reached", code="rate_limited")
        case ProviderUnavailable():
            return Retry("GitHub could not read it this time", code="transient")
        case _:
            return Retry(error.message, code=error.code)
