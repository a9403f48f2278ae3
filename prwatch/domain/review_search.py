"""Which searches a review watch makes, and which settings cannot be searched with."""

import datetime as dt
import itertools
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
_KINDS: Final = frozenset({"is", "type"})
_ISSUES: Final = frozenset({"issue", "issues"})
_PULL_REQUESTS: Final = frozenset({"pr", "pull-request", "pullrequest"})
_PLACES: Final = frozenset({"repo", "org", "user", "owner", "enterprise"})
_TERM: Final = re.compile(r"""(?:"[^"]*"|[^"\s])+""")


def build_searches(settings: ReviewSettings, login: str) -> tuple[str, ...]:
    """
    Return what is searched for, one text for each repository or organisation.

    Each search has a cap of its own, and one that fails says nothing of the others.
    `login` is whose requests are meant.
    """
    base = settings.query.strip()
    if base:
        base = base if _names_kind(base, _PULL_REQUESTS) else f"is:pr {base}"
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
        yield "interval", _describe_interval(settings.interval)
    if settings.query and (problem := _find_query_problem(settings)):
        yield "query", problem


def _describe_interval(interval: dt.timedelta) -> str:
    is_short = interval < SHORTEST_INTERVAL
    seconds = int(interval.total_seconds())
    return f"{seconds}s is too {'short' if is_short else 'long'}; allowed is 60s to 24h"


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
    if query.count('"') % 2 or '\\"' in query:
        return "has a quotation mark that is not closed, or with a backslash before it"
    if problem := _find_logic_problem(query):
        return problem
    places = (*settings.repositories, *settings.organisations)
    if places and any(key in _PLACES for key, _ in _list_qualifiers(query)):
        return "names places itself; give them here or apart, not both"
    if max(map(len, build_searches(settings, ""))) > MAX_QUERY:
        return f"is too long; GitHub takes {MAX_QUERY} characters in all"
    return ""


def _find_logic_problem(query: str) -> str:
    """
    Return what lets a query find more than pull requests, or leave the given places.

    What is put before and behind a query holds for one side of an OR alone.
    """
    terms = _list_terms(query)
    if any(word.upper() == "OR" for word in terms):
        return (
            "has OR outside quotation marks, so one side of it would find issues, and"
            " in any place; make a review watch for each side"
        )
    if any("(" in term or ")" in term for term in map(_drop_quoted, terms)):
        return (
            "has parentheses outside quotation marks, which may hide what it finds;"
            " write it without them"
        )
    if _names_kind(query, _ISSUES):
        return "searches for issues; a review watch searches for pull requests"
    negated = [term.lstrip("-") for term in terms if term.startswith("-")]
    negated += [
        term for word, term in itertools.pairwise(terms) if word.upper() == "NOT"
    ]
    if any(_names_kind(term, _PULL_REQUESTS) for term in negated):
        return "leaves out pull requests; a review watch searches for them"
    return ""


def _list_terms(query: str) -> list[str]:
    """Return the terms of a query; what is in quotation marks is not divided."""
    return _TERM.findall(query)


def _drop_quoted(term: str) -> str:
    return "".join(term.split('"')[::2])


def _list_qualifiers(query: str) -> Iterator[tuple[str, str]]:
    """Yield the qualifiers that are not negated, in lower case: key and value."""
    for term in _list_terms(query):
        key, colon, value = term.partition(":")
        if colon and '"' not in key:
            yield key.lower(), value.replace('"', "").lower()


def _names_kind(query: str, kinds: frozenset[str]) -> bool:
    """Return whether a query asks for one of those kinds of things."""
    return any(
        key in _KINDS and not kinds.isdisjoint(value.split(","))
        for key, value in _list_qualifiers(query)
    )
