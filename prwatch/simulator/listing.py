"""Lists of pull requests: by branch, by state, in an order, and by a search."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from prwatch.simulator.entities import Account, PullRequest, Repository
from prwatch.simulator.limits import Token
from prwatch.simulator.state import WorldState

KEPT_LISTINGS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which pull requests of a repository, and in which order. () means all states."""

    states: tuple[str, ...] = ()
    head_ref_name: str = ""
    base_ref_name: str = ""
    order: str = "CREATED_AT"
    is_descending: bool = False


def list_pull_requests(
    world: WorldState, repository: Repository, wanted: Wanted
) -> Sequence[PullRequest]:
    """Return them. A list is remembered until something in the repository moves."""
    if wanted.head_ref_name:
        found = repository.by_branch.get(wanted.head_ref_name, ())
        return _order(_filter(found, wanted), wanted)
    key = (repository.database_id, wanted)
    remembered = world.listings.get(key)
    if remembered is not None and remembered[0] == repository.version:
        return remembered[1]
    listed = _order(_filter(repository.pull_requests.values(), wanted), wanted)
    if len(world.listings) >= KEPT_LISTINGS:
        world.listings.clear()
    world.listings[key] = (repository.version, listed)
    return listed


def _filter(found: Iterable[PullRequest], wanted: Wanted) -> list[PullRequest]:
    states, base = wanted.states, wanted.base_ref_name
    return [
        pull_request
        for pull_request in found
        if (not states or pull_request.state in states)
        and (not base or pull_request.base_ref_name == base)
    ]


def _order(found: list[PullRequest], wanted: Wanted) -> list[PullRequest]:
    if wanted.order == "UPDATED_AT":
        found.sort(key=lambda one: (one.updated_at, one.database_id))
    elif wanted.order == "COMMENTS":
        found.sort(key=lambda one: (len(one.comments), one.database_id))
    else:
        found.sort(key=lambda one: one.database_id)
    if wanted.is_descending:
        found.reverse()
    return found


def can_see(token: Token | None, repository: Repository) -> bool:
    """Return whether the token may know that the repository exists."""
    if token is None:
        return not repository.is_private
    names = token.repositories
    return names is None or repository.name_with_owner.lower() in names


def search_pull_requests(
    world: WorldState, token: Token, query: str
) -> list[PullRequest]:
    """
    Return what a search finds, newest first.

    It knows `is:`, `state:`, `draft:`, `author:`, `repo:`, `org:`, `user:`,
    `head:`, `base:`, `review-requested:` (also of teams), `user-review-requested:`
    and `reviewed-by:`, with `@me`; other words must stand in the title.
    Repositories behind a single sign-on are left out without a word, as GitHub does.
    """
    terms = [term.partition(":") for term in query.split()]
    return sorted(
        (
            one
            for one in world.pull_requests.values()
            if can_see(token, one.repository)
            and not one.repository.is_deleted
            and one.repository.owner.login.lower() not in token.sso_organizations
            and all(_meets(one, key, value, token) for key, _, value in terms)
        ),
        key=lambda one: one.database_id,
        reverse=True,
    )


def _meets(one: PullRequest, key: str, value: str, token: Token) -> bool:
    if not value:
        return key.lower() in one.title.lower()
    login = token.account.login if value == "@me" else value
    if key in {"is", "state", "type"}:
        return _is(one, value.lower())
    if key == "author":
        return _is_login(one.author, login)
    if key in {"review-requested", "user-review-requested"}:
        return any(
            _is_login(asked, login)
            if asked.kind != "Team"
            else key == "review-requested" and login.lower() in asked.members
            for asked in one.requested_reviewers
        )
    if key == "reviewed-by":
        return any(_is_login(review.author, login) for review in one.reviews)
    owner = one.repository.owner.login
    facts = {
        "repo": one.repository.name_with_owner,
        "org": owner,
        "user": owner,
        "head": one.head_ref_name,
        "base": one.base_ref_name,
        "draft": str(one.is_draft),
        "archived": str(one.repository.is_archived),
        "sort": value,
    }
    return facts.get(key, "").lower() == login.lower()


def _is(one: PullRequest, word: str) -> bool:
    if word == "closed":
        return one.state != "OPEN"
    if word == "draft":
        return one.is_draft
    return word in {"pr", one.state.lower()}


def _is_login(account: Account | None, login: str) -> bool:
    return (
        account is not None
        and not account.is_deleted
        and account.login.lower() == login.lower().removeprefix("app/")
    )
