"""Values for the store's suites, with defaults for what a test does not care about."""

import datetime as dt

from prwatch.domain.events import Event, EventType
from prwatch.domain.pull_request import (
    ChecksState,
    CommentItem,
    CommentMark,
    Mergeable,
    Observation,
    PullRequestState,
    RepositoryName,
    ReviewDecision,
    ReviewState,
)
from prwatch.domain.task import (
    Origin,
    Repository,
    Session,
    Task,
    TaskPullRequest,
    Workspace,
)
from prwatch.domain.watch import Watch, Watermark
from prwatch.store import connections, repositories, tasks
from tests.contract.store_backends import NOW

WORKSPACE = Workspace(id="w1", name="acme")


def at(seconds):
    """Return the time so many seconds after the suites' now."""
    return NOW + dt.timedelta(seconds=seconds)


def make_repository(number=1, **changes):
    values = {
        "id": f"r{number}",
        "workspace_id": "w1",
        "host": "github.com",
        "owner": "octo",
        "name": f"hello{number}",
        "node_id": f"R_{number}",
        **changes,
    }
    return Repository(**values)


def make_task(number=1, **changes):
    values = {
        "id": f"t{number}",
        "workspace_id": "w1",
        "external_id": f"T-{number}",
        "origin": Origin.COMMAND,
        "created_at": NOW,
        **changes,
    }
    return Task(**values)


def make_session(number=1, **changes):
    values = {
        "id": f"s{number}",
        "task_id": "t1",
        "external_id": f"S-{number}",
        "started_at": at(number),
        **changes,
    }
    return Session(**values)


def make_watch(number=1, **changes):
    values = {
        "id": f"p{number}",
        "workspace_id": "w1",
        "task_id": "t1",
        "repository_id": "r1",
        "branch": f"branch{number}",
        "session_id": f"S-{number}",
        "searching_since": NOW,
        "last_sign_at": NOW,
        "created_at": NOW,
        **changes,
    }
    return Watch(**values)


def make_watermark(seconds=0, **changes):
    """Return a watermark in which every field holds a value of its own."""
    values = {
        "state": PullRequestState.OPEN,
        "updated_at": at(seconds - 10),
        "head_ref_oid": f"oid{seconds}",
        "observed_at": at(seconds),
        "is_draft": True,
        "checks": ChecksState.FAILURE,
        "review": ReviewState.APPROVED,
        "review_decision": ReviewDecision.APPROVED,
        "mergeable": Mergeable.MERGEABLE,
        "merge_queue": True,
        "auto_merge": False,
        "is_archived": False,
        "comment_mark": CommentMark((CommentItem(at(-5), "IC_1"),)),
        "announced_checks": (ChecksState.PENDING, ChecksState.FAILURE),
        "checks_since": at(-3),
        **changes,
    }
    return Watermark(**values)


def make_discovered(number=1, pr_number=12, seconds=0, **changes):
    values = {
        "pr_number": pr_number,
        "node_id": f"PR_{pr_number}",
        "fingerprint": f"f{seconds}",
        "watermark": make_watermark(seconds),
        "revision": 1,
        **changes,
    }
    return make_watch(number, **values)


def make_observation(number=12, seconds=0, **changes):
    values = {
        "repository": RepositoryName("octo", "hello1", "R_1"),
        "number": number,
        "node_id": f"PR_{number}",
        "observed_at": at(seconds),
        "state": PullRequestState.OPEN,
        "updated_at": at(-10),
        "created_at": at(-1000),
        **changes,
    }
    return Observation(**values)


def make_task_pull_request(number=12, seconds=0, observation=None, **changes):
    values = {
        "task_id": "t1",
        "repository_id": "r1",
        "pr_number": number,
        "observation": observation or make_observation(number, seconds),
        "observed_at": at(seconds),
        **changes,
    }
    return TaskPullRequest(**values)


def make_event(number=1, **changes):
    values = {
        "id": f"e{number}",
        "type": EventType.TASK_PR_UPDATED,
        "source": "prwatch:test",
        "subject": "acme/T-1/octo/hello1#12",
        "time": at(number),
        "workspace_id": "w1",
        "task_id": "t1",
        "repository_id": "r1",
        "pr_number": 12,
        "watch_id": "p1",
        "revision": number,
        "head_ref_oid": "oid0",
        "is_terminal": False,
        "data": {"revision": number, "title": "naïve \U0001f600"},
        **changes,
    }
    return Event(**values)


async def put_ground(tx):
    """Write one workspace with two repositories and two tasks."""
    await connections.add_workspace(tx, WORKSPACE)
    for number in (1, 2):
        await repositories.add_repository(tx, make_repository(number))
        await tasks.add_task(tx, make_task(number))


class GroundedStore:
    """Short ways to run one row function in a transaction of its own."""

    def __init__(self, database, raw):
        self.database = database
        self.raw = raw

    async def write(self, function, *values, **named):
        async def run(tx):
            return await function(tx, *values, **named)

        return await self.database.transact(run)

    async def read(self, function, *values, **named):
        async def run(tx):
            return await function(tx, *values, **named)

        return await self.database.read(run)

    async def rows_written_by(self, function, *values, **named):
        """Return how many rows that call wrote, and whether others see a change."""
        before = self.database.rows_written
        token = await self.database.change_token()
        await self.write(function, *values, **named)
        changed = await self.database.change_token() != token
        return self.database.rows_written - before, changed
