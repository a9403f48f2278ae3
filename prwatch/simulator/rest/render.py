"""The JSON objects of GitHub's REST API, as far as the world backs them."""

import datetime as dt
from typing import Any

from prwatch.simulator.entities import (
    Account,
    CheckRun,
    Comment,
    Commit,
    PullRequest,
    Repository,
    Review,
    StatusContext,
    build_node_id,
)
from prwatch.simulator.mergeability import judge_merge_state
from prwatch.simulator.rollup import find_rollup

JsonObject = dict[str, Any]
GHOST = Account(10137, "ghost")
"""The account that REST shows as the author of what deleted accounts wrote."""


def render_time(at: dt.datetime | None) -> str | None:
    """Return the time as GitHub writes it: UTC, whole seconds."""
    return None if at is None else f"{at.isoformat()[:19]}Z"


def render_account(account: Account | None) -> JsonObject | None:
    """Return a simple user; bots have `[bot]` behind their login."""
    if account is None or account.is_deleted:
        return None
    is_bot = account.kind == "Bot"
    login = f"{account.login}[bot]" if is_bot else account.login
    return {
        "login": login,
        "id": account.database_id,
        "node_id": account.id,
        "url": f"https://api.github.com/users/{login}",
        "html_url": f"https://github.com/{login}",
        "type": account.kind,
        "site_admin": False,
    }


def render_team(team: Account) -> JsonObject:
    """Return a simple team."""
    return {
        "id": team.database_id,
        "node_id": team.id,
        "name": team.login,
        "slug": team.login,
        "html_url": f"https://github.com/orgs/{team.organization}/teams/{team.login}",
    }


def render_repository(repository: Repository, *, is_full: bool = False) -> JsonObject:
    """Return a repository; the full one names what it was forked from."""
    rendered = {
        "id": repository.database_id,
        "node_id": repository.id,
        "name": repository.name,
        "full_name": repository.name_with_owner,
        "private": repository.is_private,
        "owner": render_account(repository.owner),
        "html_url": repository.url,
        "fork": repository.parent is not None,
        "url": f"https://api.github.com/repos/{repository.name_with_owner}",
        "created_at": render_time(repository.created_at),
        "updated_at": render_time(repository.updated_at),
        "archived": repository.is_archived,
        "disabled": False,
        "default_branch": repository.default_branch,
    }
    if is_full and repository.parent is not None:
        rendered["parent"] = render_repository(repository.parent)
        rendered["source"] = rendered["parent"]
    return rendered


def render_pull_request(one: PullRequest) -> JsonObject:
    """Return a pull request as lists show it."""
    requested = one.requested_reviewers
    auto_merge = one.auto_merge_request
    return {
        "url": _build_url(one),
        "id": one.database_id,
        "node_id": one.id,
        "html_url": one.url,
        "number": one.number,
        "state": "open" if one.state == "OPEN" else "closed",
        "locked": False,
        "title": one.title,
        "user": render_account(one.author) or render_account(GHOST),
        "body": None,
        "created_at": render_time(one.created_at),
        "updated_at": render_time(one.updated_at),
        "closed_at": render_time(one.closed_at),
        "merged_at": render_time(one.merged_at),
        "requested_reviewers": [
            render_account(account) for account in requested if account.kind != "Team"
        ],
        "requested_teams": [
            render_team(account) for account in requested if account.kind == "Team"
        ],
        "draft": one.is_draft,
        "head": _render_branch(one.head_repository, one.head_ref_name, one.head.oid),
        "base": _render_branch(
            one.repository, one.base_ref_name, _find_base_oid(one) or "0" * 40
        ),
        "author_association": "CONTRIBUTOR",
        "auto_merge": None
        if auto_merge is None
        else {
            "enabled_by": render_account(auto_merge.enabled_by),
            "merge_method": auto_merge.merge_method.lower(),
        },
    }


def render_full_pull_request(one: PullRequest, mergeable: str) -> JsonObject:
    """Return a single pull request, which says more than a list."""
    return {
        **render_pull_request(one),
        "merged": one.state == "MERGED",
        "mergeable": {"MERGEABLE": True, "CONFLICTING": False}.get(mergeable),
        "mergeable_state": judge_merge_state(
            one, mergeable, find_rollup(one.head)
        ).lower(),
        "merged_by": render_account(one.merged_by),
        "comments": len(one.comments),
        "review_comments": sum(len(found.comments) for found in one.review_threads),
        "commits": 1,
    }


def render_review(review: Review, one: PullRequest) -> JsonObject:
    """Return a review. Its author is null once the account is gone."""
    return {
        "id": review.database_id,
        "node_id": build_node_id("PRR", review.database_id),
        "user": render_account(review.author),
        "body": review.body,
        "state": review.state,
        "html_url": f"{one.url}#pullrequestreview-{review.database_id}",
        "pull_request_url": _build_url(one),
        "author_association": "CONTRIBUTOR",
        "submitted_at": render_time(review.submitted_at),
        "commit_id": review.commit.oid,
    }


def render_comment(comment: Comment, one: PullRequest) -> JsonObject:
    """Return a comment of the conversation."""
    return {
        "id": comment.database_id,
        "node_id": build_node_id("IC", comment.database_id),
        "html_url": f"{one.url}#issuecomment-{comment.database_id}",
        "body": comment.body,
        "user": render_account(comment.author) or render_account(GHOST),
        "created_at": render_time(comment.created_at),
        "updated_at": render_time(comment.updated_at),
        "author_association": "CONTRIBUTOR",
    }


def render_check_run(run: CheckRun, commit: Commit) -> JsonObject:
    """Return a check run; REST names no workflow."""
    app = run.check_suite.app
    return {
        "id": run.database_id,
        "node_id": build_node_id("CR", run.database_id),
        "name": run.name,
        "head_sha": commit.oid,
        "external_id": "",
        "html_url": f"https://github.com/checks/{run.database_id}",
        "details_url": f"https://github.com/checks/{run.database_id}",
        "status": run.status.lower(),
        "conclusion": None if run.conclusion is None else run.conclusion.lower(),
        "started_at": render_time(run.started_at),
        "completed_at": render_time(run.completed_at),
        "check_suite": {"id": run.check_suite.database_id},
        "app": {
            "id": app.database_id,
            "slug": app.slug,
            "node_id": build_node_id("A", app.database_id),
            "name": app.name,
        },
        "pull_requests": [],
    }


def render_status(status: StatusContext) -> JsonObject:
    """Return a commit status."""
    return {
        "id": status.database_id,
        "node_id": build_node_id("SC", status.database_id),
        "state": status.state.lower(),
        "description": None,
        "target_url": None,
        "context": status.context,
        "created_at": render_time(status.created_at),
        "updated_at": render_time(status.created_at),
    }


def judge_statuses(commit: Commit) -> str:
    """Return the combined state, which is pending where there is no status."""
    states = {status.state for status in commit.statuses}
    if states & {"ERROR", "FAILURE"}:
        return "failure"
    return "success" if states == {"SUCCESS"} else "pending"


def _render_branch(repository: Repository | None, name: str, oid: str) -> JsonObject:
    owner = None if repository is None else repository.owner
    return {
        "label": None if owner is None else f"{owner.login}:{name}",
        "ref": name,
        "sha": oid,
        "user": render_account(owner),
        "repo": None if repository is None else render_repository(repository),
    }


def _find_base_oid(one: PullRequest) -> str | None:
    commit = one.repository.branches.get(one.base_ref_name)
    return None if commit is None else commit.oid


def _build_url(one: PullRequest) -> str:
    name = one.repository.name_with_owner
    return f"https://api.github.com/repos/{name}/pulls/{one.number}"
