"""Resolvers of the query's own fields and of repositories, refs and accounts."""

from dataclasses import dataclass
from typing import Any, Final

from prwatch.simulator.entities import Account, Commit, Repository, build_node_id
from prwatch.simulator.graph.connection import Page, paginate
from prwatch.simulator.graph.execute import Resolver
from prwatch.simulator.graph.problem import FieldError
from prwatch.simulator.graph.reading import Reading
from prwatch.simulator.listing import (
    Wanted,
    can_see,
    list_pull_requests,
    search_pull_requests,
)

SEARCH_CAP = 1000


@dataclass(frozen=True, slots=True)
class Ref:
    """A branch as GraphQL shows it."""

    repository: Repository
    name: str
    target: Commit
    prefix: str = "refs/heads/"

    @property
    def id(self) -> str:
        """Return the node id."""
        return build_node_id("REF", self.target.database_id)


def find_ref(repository: Repository | None, qualified_name: str) -> Ref | None:
    """Return the branch, or None when it (or its repository) is gone."""
    if repository is None or repository.is_deleted:
        return None
    name = qualified_name.removeprefix("refs/heads/")
    commit = repository.branches.get(name)
    return None if commit is None else Ref(repository, name, commit)


def _read_nodes(_: Any, arguments: dict[str, Any], reading: Reading) -> list[Any]:
    found = []
    for node_id in arguments["ids"]:
        try:
            found.append(_read_node(None, {"id": node_id}, reading))
        except FieldError as error:
            found.append(error)
    return found


def _read_node(_: Any, arguments: dict[str, Any], reading: Reading) -> Any:
    node_id = arguments["id"]
    asked_as = f"node with the global id of '{node_id}'"
    thing = reading.world.find_node(node_id)
    if thing is None:
        raise reading.refuse(asked_as)
    return reading.enter(thing, asked_as)


def _read_repository(_: Any, arguments: dict[str, Any], reading: Reading) -> Any:
    name = f"{arguments['owner']}/{arguments['name']}"
    asked_as = f"Repository with the name '{name}'"
    repository = reading.world.find_repository(
        name, follow_renames=arguments["followRenames"]
    )
    if repository is None:
        raise reading.refuse(asked_as)
    return reading.enter(repository, asked_as)


def _read_pull_request(
    repository: Repository, arguments: dict[str, Any], reading: Reading
) -> Any:
    number = arguments["number"]
    asked_as = f"PullRequest with the number of {number}"
    pull_request = repository.pull_requests.get(number)
    if pull_request is None:
        raise reading.refuse(asked_as)
    return reading.enter(pull_request, asked_as)


def _read_pull_requests(
    repository: Repository, arguments: dict[str, Any], reading: Reading
) -> Page:
    order = arguments.get("orderBy") or {}
    wanted = Wanted(
        states=tuple(sorted(arguments.get("states") or ())),
        head_ref_name=arguments.get("headRefName") or "",
        base_ref_name=arguments.get("baseRefName") or "",
        order=order.get("field", "CREATED_AT"),
        is_descending=order.get("direction") == "DESC",
    )
    return paginate(list_pull_requests(reading.world, repository, wanted), arguments)


def _read_own_pull_requests(
    account: Account, arguments: dict[str, Any], reading: Reading
) -> Page:
    states = arguments.get("states") or ()
    found = search_pull_requests(
        reading.world, reading.token, f"author:{account.login}"
    )
    chosen = [one for one in reversed(found) if not states or one.state in states]
    return paginate(chosen, arguments)


def _read_search(_: Any, arguments: dict[str, Any], reading: Reading) -> Page:
    if arguments["type"] != "ISSUE":
        return paginate((), arguments)
    found = search_pull_requests(reading.world, reading.token, arguments["query"])
    return paginate(found[:SEARCH_CAP], arguments, whole=len(found))


def _read_user(_: Any, arguments: dict[str, Any], reading: Reading) -> Account:
    account = reading.world.find_account(arguments["login"])
    if account is None or account.is_deleted or account.kind != "User":
        raise reading.refuse(f"User with the login of '{arguments['login']}'")
    return account


def _read_parent(repository: Repository, _: Any, reading: Reading) -> Repository | None:
    parent = repository.parent
    if parent is None or parent.is_deleted or not can_see(reading.token, parent):
        return None
    return parent


def _build_account_fields(type_name: str) -> dict[tuple[str, str], Resolver]:
    return {
        (type_name, "url"): lambda one, *_: f"https://github.com/{one.login}",
        (type_name, "resourcePath"): lambda one, *_: f"/{one.login}",
        (type_name, "name"): lambda one, *_: one.login,
        (type_name, "avatarUrl"): lambda one, *_: (
            f"https://avatars.githubusercontent.com/u/{one.database_id}?v=4"
        ),
    }


ROOT_FIELDS: Final[dict[tuple[str, str], Resolver]] = {
    ("Query", "node"): _read_node,
    ("Query", "nodes"): _read_nodes,
    ("Query", "repository"): _read_repository,
    ("Query", "search"): _read_search,
    ("Query", "user"): _read_user,
    ("Query", "viewer"): lambda _, __, reading: reading.token.account,
    ("Query", "rateLimit"): lambda _, __, reading: reading,
    ("RateLimit", "cost"): lambda reading, *_: reading.price.cost,
    ("RateLimit", "nodeCount"): lambda reading, *_: reading.price.node_count,
    ("RateLimit", "limit"): lambda reading, *_: reading.budget.limit,
    ("RateLimit", "remaining"): lambda reading, *_: reading.budget.remaining,
    ("RateLimit", "used"): lambda reading, *_: reading.budget.used,
    ("RateLimit", "resetAt"): lambda reading, *_: reading.budget.reset_at,
    ("Repository", "defaultBranchRef"): lambda one, *_: find_ref(
        one, one.default_branch
    ),
    ("Repository", "isFork"): lambda one, *_: one.parent is not None,
    ("Repository", "parent"): _read_parent,
    ("Repository", "pullRequest"): _read_pull_request,
    ("Repository", "pullRequests"): _read_pull_requests,
    ("Repository", "ref"): lambda one, arguments, _: find_ref(
        one, arguments["qualifiedName"]
    ),
    ("User", "pullRequests"): _read_own_pull_requests,
    ("SearchResultItemConnection", "issueCount"): lambda page, *_: page.whole or 0,
    ("SearchResultItemConnection", "repositoryCount"): lambda *_: 0,
    ("SearchResultItemConnection", "userCount"): lambda *_: 0,
    **_build_account_fields("User"),
    **_build_account_fields("Organization"),
    **_build_account_fields("Bot"),
    **_build_account_fields("Mannequin"),
    ("Team", "name"): lambda one, *_: one.login,
    ("Team", "slug"): lambda one, *_: one.login,
    ("Team", "combinedSlug"): lambda one, *_: f"{one.organization}/{one.login}",
    ("Team", "url"): lambda one, *_: (
        f"https://github.com/orgs/{one.organization}/teams/{one.login}"
    ),
}
