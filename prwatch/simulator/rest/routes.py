"""The REST routes below a repository, and what each of them lists."""

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from prwatch.simulator.check_verbs import list_latest_runs
from prwatch.simulator.entities import Commit, PullRequest, Repository
from prwatch.simulator.faults import Fault
from prwatch.simulator.limits import Token
from prwatch.simulator.listing import Wanted, list_pull_requests
from prwatch.simulator.mergeability import judge_mergeable
from prwatch.simulator.rest.contents import find_contents
from prwatch.simulator.rest.disguise import disguise_author, disguise_pull_request
from prwatch.simulator.rest.render import (
    JsonObject,
    judge_statuses,
    render_account,
    render_check_run,
    render_comment,
    render_full_pull_request,
    render_pull_request,
    render_repository,
    render_review,
    render_status,
    render_team,
)
from prwatch.simulator.rollup import build_matrix
from prwatch.simulator.world import World

CHECKS: Final = "PullRequest.statusCheckRollup"
_STATES: Final = {"open": ("OPEN",), "closed": ("CLOSED", "MERGED"), "all": ()}


class Unanswerable(Exception):
    """The call is refused; `status` and `message` are what GitHub says."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass(frozen=True, slots=True)
class Asked:
    """One call below a repository. `below` is the decoded rest of its path."""

    world: World
    token: Token | None
    repository: Repository
    below: str
    query: dict[str, str]
    disguises: Mapping[str, Fault] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Listed:
    """A list that is answered page by page. `wrap` puts a page into its object."""

    items: Sequence[Any]
    render: Callable[[Any], JsonObject | None]
    wrap: Callable[[list[Any]], JsonObject] | None = None


Result = Listed | JsonObject | list[JsonObject]


def answer_route(asked: Asked) -> Result:
    """Return what the route answers. Raises `Unanswerable`."""
    if not asked.below:
        return render_repository(asked.repository, is_full=True)
    for pattern, answer in _ROUTES:
        found = pattern.fullmatch(asked.below)
        if found:
            return answer(asked, found[1] if pattern.groups else "")
    raise Unanswerable(404, "Not Found")


def _show_contents(asked: Asked, path: str) -> Result:
    found = find_contents(asked.repository, path, asked.query.get("ref", ""))
    if found is None:
        raise Unanswerable(404, "Not Found")
    return found


def _list_pulls(asked: Asked, _: str) -> Result:
    """List pull requests. A `head` without a colon is ignored, as on GitHub."""
    query = asked.query
    sort = query.get("sort", "created")
    owner, colon, branch = query.get("head", "").partition(":")
    wanted = Wanted(
        states=_STATES.get(query.get("state", "open"), ("OPEN",)),
        head_ref_name=branch if colon else "",
        base_ref_name=query.get("base", ""),
        order="UPDATED_AT" if sort == "updated" else "CREATED_AT",
        is_descending=query.get("direction", "desc") == "desc",
    )
    found = list_pull_requests(asked.world, asked.repository, wanted)
    if colon:
        found = [one for one in found if _is_from(one, owner)]
    return Listed(
        found,
        lambda one: disguise_pull_request(render_pull_request(one), asked.disguises),
    )


def _is_from(one: PullRequest, owner: str) -> bool:
    head = one.head_repository
    return head is not None and head.owner.login.lower() == owner.lower()


def _get_pull_request(asked: Asked, number: str) -> PullRequest:
    one = asked.repository.pull_requests.get(int(number))
    if one is None:
        raise Unanswerable(404, "Not Found")
    return one


def _show_pull(asked: Asked, number: str) -> Result:
    one = _get_pull_request(asked, number)
    rendered = render_full_pull_request(one, judge_mergeable(one, asked.world.now()))
    return disguise_pull_request(rendered, asked.disguises)


def _list_reviews(asked: Asked, number: str) -> Result:
    _check_permission(asked, "PullRequest.reviews")
    one = _get_pull_request(asked, number)
    return Listed(
        one.reviews,
        lambda review: disguise_author(render_review(review, one), asked.disguises),
    )


def _show_requested_reviewers(asked: Asked, number: str) -> Result:
    one = _get_pull_request(asked, number)
    accounts = one.requested_reviewers
    return {
        "users": [render_account(found) for found in accounts if found.kind != "Team"],
        "teams": [render_team(found) for found in accounts if found.kind == "Team"],
    }


def _list_comments(asked: Asked, number: str) -> Result:
    _check_permission(asked, "PullRequest.comments")
    one = _get_pull_request(asked, number)
    comments: Sequence[Any] = one.comments
    if "since" in asked.query:
        since = _parse_time(asked.query["since"])
        comments = [found for found in comments if found.updated_at >= since]
    return Listed(
        comments,
        lambda comment: disguise_author(render_comment(comment, one), asked.disguises),
    )


def _parse_time(text: str) -> dt.datetime:
    try:
        at = dt.datetime.fromisoformat(text)
    except ValueError as error:
        raise Unanswerable(422, "Validation Failed") from error
    return at if at.tzinfo else at.replace(tzinfo=dt.UTC)


def _get_commit(asked: Asked, ref: str) -> Commit:
    commit = asked.world.commits.get(ref) or asked.repository.branches.get(ref)
    if commit is None:
        raise Unanswerable(422, f"No commit found for SHA: {ref}")
    return commit


def _check_permission(asked: Asked, field: str) -> None:
    """Refuse what the token may not read, by GraphQL's name of it."""
    token, repository = asked.token, asked.repository
    if token is None:
        return
    is_shown = token.may_read(field, repository)
    if field == CHECKS:
        is_shown = is_shown and token.may_read_checks(repository)
    if not is_shown:
        raise Unanswerable(403, "Resource not accessible by personal access token")


def _list_check_runs(asked: Asked, ref: str) -> Result:
    _check_permission(asked, CHECKS)
    commit = _get_commit(asked, ref)
    is_all = asked.query.get("filter") == "all"
    runs = commit.check_runs if is_all else list_latest_runs(commit)
    matrix = asked.disguises.get("many_contexts")
    if matrix is not None:
        runs = build_matrix(commit, matrix.count)
    newest_first = tuple(reversed(runs))
    name = asked.query.get("check_name")
    if name:
        newest_first = tuple(run for run in newest_first if run.name == name)
    total = len(newest_first)
    return Listed(
        newest_first,
        lambda run: render_check_run(run, commit),
        lambda page: {"total_count": total, "check_runs": page},
    )


def _list_statuses(asked: Asked, ref: str) -> Result:
    _check_permission(asked, "StatusContext")
    commit = _get_commit(asked, ref)
    return Listed(
        commit.statuses,
        render_status,
        lambda page: {
            "state": judge_statuses(commit),
            "statuses": page,
            "sha": commit.oid,
            "total_count": len(commit.statuses),
            "repository": render_repository(asked.repository),
        },
    )


_ROUTES: Final[tuple[tuple[re.Pattern[str], Callable[[Asked, str], Result]], ...]] = (
    (re.compile(r"/contents/?(.*)"), _show_contents),
    (re.compile(r"/pulls"), _list_pulls),
    (re.compile(r"/pulls/(\d+)"), _show_pull),
    (re.compile(r"/pulls/(\d+)/reviews"), _list_reviews),
    (re.compile(r"/pulls/(\d+)/requested_reviewers"), _show_requested_reviewers),
    (re.compile(r"/issues/(\d+)/comments"), _list_comments),
    (re.compile(r"/commits/(.+)/check-runs"), _list_check_runs),
    (re.compile(r"/commits/(.+)/status"), _list_statuses),
)
