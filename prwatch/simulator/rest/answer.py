"""
Answers REST calls: finds the route, pages the list, compares the entity tag.

A tag belongs to the credential that it was given to:
<https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api>.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode

from prwatch.simulator.answer import Answer, build_failure, build_json
from prwatch.simulator.entities import Repository
from prwatch.simulator.fault_answers import NOT_ACCESSIBLE_TEXT, SAML_TEXT
from prwatch.simulator.faults import DISGUISING, Fault
from prwatch.simulator.limits import DEFAULT_LIMITS, Token
from prwatch.simulator.listing import can_see
from prwatch.simulator.rest.render import render_account
from prwatch.simulator.rest.routes import Asked, Listed, Unanswerable, answer_route
from prwatch.simulator.world import World

_NAMED = re.compile(r"/repos/([^/]+)/([^/]+)(/.*)?")
_PULL_REQUEST = re.compile(r"/(?:pulls|issues)/(\d+)")
_NUMBERED = re.compile(r"/repositories/(\d+)(/.*)?")
DEFAULT_PAGE = 30
MAX_PAGE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A REST call as the gate hands it on. `path` is still percent-encoded."""

    method: str
    path: str
    query: str
    base_url: str
    tag: str
    credential: str
    accept: str
    faults: tuple[Fault, ...] = ()


def answer_rest(world: World, token: Token | None, call: Call) -> Answer:
    """Return the answer; 304 where the caller has it already."""
    if call.method not in {"GET", "HEAD"}:
        return build_failure(404, "Not Found")
    try:
        answer = _route(world, token, call)
    except Unanswerable as refused:
        return build_failure(refused.status, refused.message)
    if answer.status != 200:
        return answer
    digest = hashlib.sha256(f"{call.credential}:{call.accept}:".encode())
    digest.update(answer.body)
    tag = f'"{digest.hexdigest()}"'
    answer.headers["etag"] = tag
    answer.headers["cache-control"] = "private, max-age=60, s-maxage=60"
    answer.headers["vary"] = "Accept, Authorization, Cookie, X-GitHub-OTP"
    if call.tag and tag in {
        one.strip().removeprefix("W/") for one in call.tag.split(",")
    }:
        answer.status, answer.body = 304, b""
    return answer


def _route(world: World, token: Token | None, call: Call) -> Answer:
    if call.path == "/rate_limit":
        return _answer_rate_limit(world, token)
    if call.path == "/user":
        if token is None:
            return build_failure(401, "Requires authentication")
        return build_json(200, render_account(token.account))
    return _answer_below(world, token, call)


def _answer_below(world: World, token: Token | None, call: Call) -> Answer:
    """Answer what lies below a repository, by its name or its number."""
    repository, name, below = _find_repository(world, call.path)
    if repository is None or repository.is_deleted or not can_see(token, repository):
        return build_failure(404, "Not Found")
    if token and repository.owner.login.lower() in token.sso_organizations:
        return _refuse_without_sso(repository)
    if name and name.lower() != repository.name_with_owner.lower():
        return _redirect(repository, below, call)
    refusal = _spoil(repository, unquote(below), call)
    if refusal is not None:
        return refusal
    query = dict(parse_qsl(call.query))
    disguises = {each.kind: each for each in call.faults if each.kind in DISGUISING}
    asked = Asked(world, token, repository, unquote(below), query, disguises)
    result = answer_route(asked)
    if isinstance(result, Listed):
        return _answer_page(repository, below, call, asked, result)
    return build_json(200, result)


def _spoil(repository: Repository, below: str, call: Call) -> Answer | None:
    """Refuse a single thing, where GraphQL would refuse it within its answer."""
    asked = _PULL_REQUEST.match(below)
    one = repository.pull_requests.get(int(asked[1])) if asked else None
    names = {"", repository.id, repository.name_with_owner}
    if one is not None:
        names |= {one.id, f"{repository.name_with_owner}#{one.number}"}
    for fault in call.faults:
        is_met = fault.target in names
        if fault.kind == "partial_not_found":
            is_met = one is not None and fault.hides(one.number, one.id)
        if is_met and fault.kind in {"not_found", "partial_not_found"}:
            return build_failure(404, "Not Found")
        if is_met and fault.kind == "forbidden":
            return build_failure(403, NOT_ACCESSIBLE_TEXT)
    return None


def _find_repository(world: World, path: str) -> tuple[Repository | None, str, str]:
    """Return the repository, the name it was asked under, and the rest of the path."""
    named = _NAMED.fullmatch(path)
    if named:
        name = f"{unquote(named[1])}/{unquote(named[2])}"
        return world.find_repository(name), name, named[3] or ""
    numbered = _NUMBERED.fullmatch(path)
    if numbered:
        found = world.repositories_by_id.get(int(numbered[1]))
        return found, "", numbered[2] or ""
    return None, "", ""


def _answer_page(
    repository: Repository, below: str, call: Call, asked: Asked, listed: Listed
) -> Answer:
    size = min(_read_number(asked, "per_page", DEFAULT_PAGE), MAX_PAGE)
    page = _read_number(asked, "page", 1)
    last = max(1, -(-len(listed.items) // size))
    chosen = listed.items[(page - 1) * size : page * size]
    rendered = [listed.render(item) for item in chosen]
    answer = build_json(200, listed.wrap(rendered) if listed.wrap else rendered)
    links = _build_links(page, last)
    url = f"{call.base_url}/repositories/{repository.database_id}{below}"
    if links:
        answer.headers["link"] = ", ".join(
            f'<{url}?{urlencode({**asked.query, "page": number})}>; rel="{rel}"'
            for rel, number in links
        )
    return answer


def _build_links(page: int, last: int) -> Sequence[tuple[str, int]]:
    links = []
    if page > 1:
        links.append(("prev", min(page - 1, last)))
    if page < last:
        links += [("next", page + 1), ("last", last)]
    if page > 1:
        links.append(("first", 1))
    return links


def _read_number(asked: Asked, name: str, default: int) -> int:
    text = asked.query.get(name, "")
    return max(1, int(text)) if text.isdecimal() else default


def _redirect(repository: Repository, below: str, call: Call) -> Answer:
    query = f"?{call.query}" if call.query else ""
    url = f"{call.base_url}/repositories/{repository.database_id}{below}{query}"
    body = {"message": "Moved Permanently", "url": url}
    return build_json(301, body, location=url)


def _refuse_without_sso(repository: Repository) -> Answer:
    owner = repository.owner.login
    return build_failure(
        403,
        SAML_TEXT,
        x_github_sso=f"required; url=https://github.com/orgs/{owner}/sso",
    )


def _answer_rate_limit(world: World, token: Token | None) -> Answer:
    login = token.account.login if token else ""
    resources: dict[str, Any] = {}
    for bucket in DEFAULT_LIMITS:
        budget = world.get_budget(login, bucket)
        resources[bucket] = {
            "limit": budget.limit,
            "used": budget.used,
            "remaining": budget.remaining,
            "reset": int(budget.reset_at.timestamp()),
        }
    return build_json(200, {"resources": resources, "rate": resources["core"]})
