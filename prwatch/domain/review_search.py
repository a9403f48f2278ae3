"""Which searches a review watch makes, and which settings cannot be searched with."""

import re
from collections.abc import Iterator
from typing import Final

from prwatch.domain.review_watch import (
    LONGEST_INTERVAL,
    SHORTEST_INTERVAL,
    ReviewScope,
    ReviewSettings,
)

MAX_QUERY: Final = 256
"""GitHub refuses a longer search."""
MAX_FILTERS: Final = 50
"""Each repository or organisation is a search of its own."""

_QUALIFIERS: Final = {
    ReviewScope.USER: "user-review-requested",
    ReviewScope.USER_AND_TEAMS: "review-requested",
}
# A login is a part of the search: nothing in it may end the term.
_LOGIN: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}[A-Za-z0-9_])?")
_REPOSITORY: Final = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}"
)
_ISSUES: Final = re.compile(r"(?:is|type):issue", re.IGNORECASE)
_PULL_REQUESTS: Final = re.compile(r"(?:is|type):(?:pr|pull-request)", re.IGNORECASE)
_PLACES: Final = re.compile(r"(?:repo|org|user):", re.IGNORECASE)


def build_searches(settings: ReviewSettings, login: str) -> tuple[str, ...]:
    """
    Return what is searched for, one text for each repository or organisation.

    Each search has a cap of its own, and one that fails says nothing of the others.
    `login` is whose requests are meant.
    """
    base = settings.query.strip()
    if base:
        base = base if _has_term(base, _PULL_REQUESTS) else f"is:pr {base}"
    else:
        qualifier = _QUALIFIERS[settings.scope]
        base = f"is:pr is:open archived:false {qualifier}:{login}"
    places = (
        *(f"repo:{each}" for each in settings.repositories),
        *(f"org:{each}" for each in settings.organisations),
    )
    return tuple(f"{base} {place}" for place in places) or (base,)


def list_problems(
    settings: ReviewSettings, *, is_app: bool = False
) -> Iterator[tuple[str, str]]:
    """
    Yield for each setting that cannot be searched with its name, and why.

    `is_app` says that the workspace signs in as the installation of an app.
    """
    yield from _list_place_problems(settings)
    if settings.target_login and _LOGIN.fullmatch(settings.target_login) is None:
        yield "target_login", f"{settings.target_login!r} is no login"
    if is_app and not settings.target_login:
        yield "target_login", "is missing; an app is no person whose review is asked"
    if not SHORTEST_INTERVAL <= settings.interval <= LONGEST_INTERVAL:
        yield "interval", "is too short or too long; allowed is 60s to 24h"
    if settings.query and (problem := _find_query_problem(settings)):
        yield "query", problem


def _list_place_problems(settings: ReviewSettings) -> Iterator[tuple[str, str]]:
    if settings.repositories and settings.organisations:
        yield "organisations", "excludes repositories; give one of the two"
    for key in ("repositories", "organisations"):
        if len(getattr(settings, key)) > MAX_FILTERS:
            yield key, f"has more than {MAX_FILTERS} entries, each a search of its own"
    for each in settings.repositories:
        if _REPOSITORY.fullmatch(each) is None:
            yield "repositories", f"{each!r} is no repository as owner/name"
    for each in settings.organisations:
        if _LOGIN.fullmatch(each) is None:
            yield "organisations", f"{each!r} is no organisation's login"


def _find_query_problem(settings: ReviewSettings) -> str:
    query = settings.query
    if not query.strip() or not query.isprintable():
        return "is no single line of text"
    if query.count('"') % 2:
        return "has a quotation mark that is not closed"
    if _has_term(query, _ISSUES):
        return "searches for issues; a review watch searches for pull requests"
    places = (*settings.repositories, *settings.organisations)
    if places and _has_term(query, _PLACES):
        return "names places itself; give them here or apart, not both"
    if max(map(len, build_searches(settings, ""))) > MAX_QUERY:
        return f"is too long; GitHub takes {MAX_QUERY} characters in all"
    return ""


def _has_term(query: str, term: re.Pattern[str]) -> bool:
    """Return whether a term begins like that, outside quotation marks."""
    outside = "".join(query.split('"')[::2])
    return any(term.match(each) for each in outside.split())
