"""The same pull request as REST tells it, and a host that serves it with tags."""

import hashlib
import json

import httpx

from prwatch.domain.reference import PullRequestReference
from tests.github_answers import API, HEAD, plain

ONE = PullRequestReference(owner="octo", name="hello", number=1, node_id="PR_1")
PULL = "/repos/octo/hello/pulls/1"
RUNS = f"/repos/octo/hello/commits/{HEAD}/check-runs"
STATUS = f"/repos/octo/hello/commits/{HEAD}/status"
REVIEWS = "/repos/octo/hello/pulls/1/reviews"
COMMENTS = "/repos/octo/hello/issues/1/comments"


def make_pull(**changes):
    """Return `make_node()` of the GraphQL answers as REST tells it."""
    repository = {"node_id": "R_1", "full_name": "octo/hello", "archived": False}
    return {
        "number": 1,
        "node_id": "PR_1",
        "state": "open",
        "title": "Say hello",
        "html_url": "https://github.example/octo/hello/pull/1",
        "created_at": "2026-11-30T10:00:00Z",
        "updated_at": "2026-11-30T11:30:00Z",
        "closed_at": None,
        "merged_at": None,
        "merged_by": None,
        "user": {"login": "alice"},
        "draft": False,
        "head": {"ref": "feature", "sha": HEAD, "repo": repository},
        "base": {"ref": "main", "repo": repository},
        "mergeable": True,
        "auto_merge": None,
        "requested_reviewers": [],
        "requested_teams": [],
        "comments": 1,
        **changes,
    }


def make_rest_run(
    name="build", conclusion="success", at="2026-11-30T11:00:00Z", **changes
):
    return {
        "id": 9_000_000_000,
        "name": name,
        "status": "completed" if conclusion else "in_progress",
        "conclusion": conclusion,
        "started_at": at,
        "completed_at": at if conclusion else None,
        "app": {"slug": "github-actions"},
        "check_suite": {"id": 8_000_000_000},
        **changes,
    }


def make_review(number=1, state="APPROVED", login="bob", at="2026-11-30T11:10:00Z"):
    return {
        "node_id": f"PRR_{number}",
        "state": state,
        "user": login and {"login": login},
        "submitted_at": at,
    }


def make_comment(number=1, at="2026-11-30T11:20:00Z"):
    return {"node_id": f"IC_{number}", "created_at": at}


class RestHost:
    """
    Serves bodies by path, a hundred items a page, with a tag for each.

    A body that is a response is sent as it is. `asked` are the paths, with "304"
    in front where nothing had changed.
    """

    def __init__(self, **changes):
        self.bodies = {
            PULL: make_pull(),
            RUNS: {"total_count": 1, "check_runs": [make_rest_run()]},
            STATUS: {"state": "pending", "statuses": []},
            REVIEWS: [make_review()],
            COMMENTS: [make_comment()],
        }
        self.bodies |= changes
        self.asked = []

    def answer(self, request):
        path = request.url.path
        body = self.bodies.get(path)
        self.asked.append(path)
        if body is None:
            return plain({"message": "Not Found"}, status=404)
        if isinstance(body, httpx.Response):
            return body
        body, link = self._cut(body, request.url)
        content = json.dumps(body).encode()
        tag = f'"{hashlib.sha256(content).hexdigest()}"'
        if request.headers.get("if-none-match") == tag:
            self.asked[-1] = f"304 {path}"
            return plain(b"", status=304, etag=tag)
        return plain(content, etag=f"W/{tag}", **link)

    @staticmethod
    def _cut(body, url):
        key = "check_runs" if "check_runs" in body else None
        items = body[key] if key else body
        if not isinstance(items, list):
            return body, {}
        page = int(url.params.get("page", 1))
        cut = items[(page - 1) * 100 : page * 100]
        link = {}
        if len(items) > page * 100:
            following = url.copy_merge_params({"page": page + 1})
            link = {"link": f'<{following}>; rel="next"'}
        return ({**body, key: cut} if key else cut), link


def moved(path):
    """Return the answer of a repository that has another address now."""
    return plain({"message": "Moved Permanently"}, status=301, location=f"{API}{path}")
