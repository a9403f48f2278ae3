"""
What other clients ask for the same knowledge, one pull request after the other.

Beside a quiet cycle of ours run the loop that users of PyGithub write, and the two
documents that a command-line client sends for a view and for the checks of one pull
request. All ask the independent stand-in, which counts.
"""

import functools
import time
from dataclasses import dataclass

import anyio
import httpx

from benchmarks.github import find_standin, open_standin
from benchmarks.quiet_cycle import measure
from benchmarks.result import Bar, Result
from benchmarks.size import REPOSITORY

SAMPLE = 100
"""Pull requests that the loops ask for: their cost is that of each one."""
LEAST_TIMES = 50
"""Times our requests that a loop over single pull requests sends, at least."""

VIEW = """
query View($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      number title state isDraft updatedAt headRefOid mergeable reviewDecision
      reviews(first: 100) { nodes { author { login } state submittedAt } }
      comments(first: 100) { nodes { id author { login } createdAt } }
    }
  }
}"""
CHECKS = """
query Checks($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      commits(last: 1) { nodes { commit { oid statusCheckRollup {
        state
        contexts(first: 100) {
          nodes {
            __typename
            ... on CheckRun { name status conclusion startedAt completedAt }
            ... on StatusContext { context state createdAt }
          }
          pageInfo { hasNextPage endCursor }
        }
      } } } }
    }
  }
}"""


@dataclass(frozen=True)
class _Cost:
    """What knowing so many pull requests took."""

    name: str
    pulls: int
    requests: int
    points: int
    cpu_ms: float

    def per_hundred(self, value):
        return value * 100 / self.pulls

    def __str__(self):
        return (
            f"  {self.name:28}{self.per_hundred(self.requests):10.1f}"
            f"{self.per_hundred(self.points):9.1f}{self.per_hundred(self.cpu_ms):9.1f}"
        )

    def as_json(self):
        return {
            "pulls": self.pulls,
            "requests": self.requests,
            "points": self.points,
            "cpu_ms": self.cpu_ms,
        }


def run_peers(size):
    """Compare, where the stand-in answers; without it there is nothing to compare."""
    if not find_standin():
        yield Result("peers", ["  skipped: PRWATCH_STANDIN_URL names no stand-in"], {})
        return
    with open_standin(size) as github:
        ours = anyio.run(measure, github, size).figures["newest"]
        costs = [
            _Cost(
                "prwatch, a quiet cycle",
                size.pull_requests,
                ours["requests"],
                ours["points"],
                ours["cpu_ms"],
            )
        ]
        costs.append(_time("a view and its checks each", github, _view))
        pygithub = _import_pygithub()
        if pygithub is not None:
            loop = functools.partial(_loop, pygithub)
            costs.append(_time("PyGithub, five reads each", github, loop))
    yield _compare(costs, is_complete=pygithub is not None)


def _compare(costs, *, is_complete):
    ours, *theirs = costs
    bars = [
        Bar(
            f"times our requests, {one.name}",
            one.per_hundred(one.requests) / ours.per_hundred(ours.requests),
            LEAST_TIMES,
            is_least=True,
        )
        for one in theirs
    ]
    lines = [
        "  for 100 pull requests           requests   points   CPU ms",
        *map(str, costs),
    ]
    if not is_complete:
        lines.append("  PyGithub is not installed: make setup-bench")
    figures = {one.name: one.as_json() for one in costs}
    return Result("peers, the same knowledge from the stand-in", lines, figures, bars)


def _time(name, github, loop):
    github.take_counts()
    before = time.process_time()
    loop(github, REPOSITORY)
    cpu_ms = (time.process_time() - before) * 1000
    counts = github.take_counts()
    requests = counts["graphql"] + counts["rest"]
    points = counts["points"] + counts["rest"]
    return _Cost(name, SAMPLE, requests, points, cpu_ms)


def _view(github, name_with_owner):
    owner, name = name_with_owner.split("/")
    headers = {"authorization": f"bearer {github.token}", "user-agent": "bench"}
    with httpx.Client(headers=headers, trust_env=False, timeout=60) as client:
        for number in range(1, SAMPLE + 1):
            variables = {"owner": owner, "name": name, "number": number}
            for query in (VIEW, CHECKS):
                body = {"query": query, "variables": variables}
                answer = client.post(f"{github.url}/graphql", json=body).json()
                if "errors" in answer:
                    raise RuntimeError(answer["errors"])


def _import_pygithub():
    try:
        import github  # noqa: PLC0415 -- a peer, and no part of the environment
    except ImportError:
        return None
    return github


def _loop(pygithub, github, name_with_owner):
    """Read what a verdict is made of, as a user of the library would write it."""
    settings = {
        "auth": pygithub.Auth.Token(github.token),
        "base_url": f"{github.url}/api/v3",
        "seconds_between_requests": 0,
        "retry": None,
    }
    repository = pygithub.Github(**settings).get_repo(name_with_owner)
    # The commit itself is not asked for, only what stands below it.
    commits = pygithub.Github(**settings, lazy=True).get_repo(name_with_owner)
    for number in range(1, SAMPLE + 1):
        pull = repository.get_pull(number)
        commit = commits.get_commit(pull.head.sha)
        for found in (
            pull.get_reviews(),
            commit.get_check_runs(),
            pull.get_issue_comments(),
        ):
            list(found)
        commit.get_combined_status()
