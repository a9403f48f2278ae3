"""GitHub's answers for tests: builders with defaults, and a scripted host."""

import datetime as dt
import json
from email.utils import format_datetime

import httpx

from prwatch.github.client import Endpoints, GitHub
from prwatch.github.credentials import TokenCredential
from prwatch.http.client import create_http_client
from prwatch.telemetry.secret import Secret

NOW = dt.datetime(2026, 11, 30, 12, 0, tzinfo=dt.UTC)
API = "https://api.github.example"
GITHUB_COM = Endpoints("https://api.github.com", "https://api.github.com/graphql")
TOKEN = "ghp_never_to_be_seen"
HEAD = "a" * 40
REPOSITORY = {"id": "R_1", "nameWithOwner": "octo/hello", "isArchived": False}
LAST_PAGE = {"hasNextPage": False, "endCursor": None}


class StillClock:
    """A clock that moves only when it is told to, or slept on."""

    def __init__(self, now=NOW):
        self.time = now
        self.slept = []

    def now(self):
        return self.time

    def monotonic(self):
        return self.time.timestamp()

    async def sleep(self, seconds):
        self.slept.append(seconds)
        self.time += dt.timedelta(seconds=seconds)


class ScriptedHost:
    """
    Answers requests one after the other from a script, and keeps what was asked.

    A step is a response, an exception, or a function of the request. The last step
    stays.
    """

    def __init__(self, *steps):
        self.steps = list(steps)
        self.requests = []
        self.clock = StillClock()

    def answer(self, request):
        self.requests.append(request)
        step = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
        if callable(step):
            step = step(request)
        if isinstance(step, Exception):
            raise step
        return step

    @property
    def bodies(self):
        return [json.loads(each.content) for each in self.requests]

    def connect(self, credential=None, settle=dt.timedelta(seconds=20), limits=None):
        """Return a client of this host."""
        http = create_http_client(transport=httpx.MockTransport(self.answer))
        return GitHub(
            http,
            credential or TokenCredential(Secret(TOKEN), source="test"),
            endpoints=Endpoints(API, f"{API}/graphql"),
            clock=self.clock,
            settle=settle,
            limits=limits,
        )


def reply(data=None, *, errors=None, status=200, **headers):
    """Return a GraphQL answer."""
    body = {}
    if data is not None:
        body["data"] = data
    if errors is not None:
        body["errors"] = errors
    return plain(body, status=status, **headers)


def plain(body, *, status=200, **headers):
    """Return an answer with any JSON body; header names are given with underscores."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    base = {
        "date": format_datetime(NOW, usegmt=True),
        "x-github-request-id": "AAAA:1",
        "content-type": "application/json",
    }
    return httpx.Response(status, content=content, headers={**base, **named})


def make_run(name="build", conclusion="SUCCESS", at="2026-11-30T11:00:00Z", **changes):
    """Return a GraphQL `CheckRun`."""
    return {
        "__typename": "CheckRun",
        "name": name,
        "status": "COMPLETED" if conclusion else "IN_PROGRESS",
        "conclusion": conclusion,
        "startedAt": at,
        "completedAt": at if conclusion else None,
        "checkSuite": {
            "id": "CS_1",
            "app": {"slug": "github-actions"},
            "workflowRun": {"event": "push", "workflow": {"name": "CI"}},
        },
        **changes,
    }


def make_rollup(*nodes, state="SUCCESS", oid=HEAD, page_info=None):
    """Return a rollup with counts and one page of contexts."""
    counts = {}
    for node in nodes:
        word = node.get("conclusion") or node.get("status") or "PENDING"
        counts[word] = counts.get(word, 0) + 1
    return {
        "state": state,
        "commit": {"oid": oid},
        "contexts": {
            "checkRunCountsByState": [
                {"state": word, "count": count} for word, count in counts.items()
            ],
            "statusContextCountsByState": [],
            "nodes": list(nodes),
            "pageInfo": page_info or LAST_PAGE,
        },
    }


def make_node(number=1, **changes):
    """Return a pull request as the details ask for it; a probe reads less of it."""
    return {
        "id": f"PR_{number}",
        "number": number,
        "repository": REPOSITORY,
        "state": "OPEN",
        "isDraft": False,
        "updatedAt": "2026-11-30T11:30:00Z",
        "headRefOid": HEAD,
        "headRefName": "feature",
        "headRepository": {"id": "R_1"},
        "author": {"login": "alice"},
        "mergeable": "MERGEABLE",
        "reviewDecision": None,
        "totalCommentsCount": 1,
        "isInMergeQueue": False,
        "autoMergeRequest": None,
        "statusCheckRollup": make_rollup(make_run()),
        "title": "Say hello",
        "url": f"https://github.example/octo/hello/pull/{number}",
        "createdAt": "2026-11-30T10:00:00Z",
        "closedAt": None,
        "mergedAt": None,
        "mergedBy": None,
        "baseRefName": "main",
        "baseRef": {"id": "REF_1"},
        "reviews": {
            "nodes": [
                {
                    "id": "PRR_1",
                    "state": "APPROVED",
                    "submittedAt": "2026-11-30T11:10:00Z",
                    "author": {"login": "bob"},
                }
            ],
            "pageInfo": LAST_PAGE,
        },
        "reviewRequests": {"totalCount": 0},
        "reviewThreads": {"nodes": [{"isResolved": False}], "pageInfo": LAST_PAGE},
        "comments": {"nodes": [{"id": "IC_1", "createdAt": "2026-11-30T11:20:00Z"}]},
        **changes,
    }
