"""The store's suites on SQLite, in the calling thread."""

from tests.contract.store_backends import InlineBackend
from tests.contract.store_database import DatabaseContract
from tests.contract.store_gauges import GaugesContract
from tests.contract.store_outbox import OutboxContract
from tests.contract.store_refused_fields import RefusedFieldsContract
from tests.contract.store_repositories import RepositoriesContract
from tests.contract.store_review import (
    ReviewTasksContract,
    ReviewWatchesContract,
)
from tests.contract.store_review_audit import ReviewAuditContract
from tests.contract.store_review_left import ReviewLeftContract
from tests.contract.store_review_sweep import ReviewSweepContract
from tests.contract.store_task_pull_requests import TaskPullRequestsContract
from tests.contract.store_tasks import TasksContract
from tests.contract.store_watch_files import WatchFilesContract
from tests.contract.store_watches import WatchesContract


class TestInlineDatabase(InlineBackend, DatabaseContract):
    pass


class TestInlineGauges(InlineBackend, GaugesContract):
    pass


class TestInlineOutbox(InlineBackend, OutboxContract):
    pass


class TestInlineRefusedFields(InlineBackend, RefusedFieldsContract):
    pass


class TestInlineRepositories(InlineBackend, RepositoriesContract):
    pass


class TestInlineReviewAudit(InlineBackend, ReviewAuditContract):
    pass


class TestInlineReviewLeft(InlineBackend, ReviewLeftContract):
    pass


class TestInlineReviewSweep(InlineBackend, ReviewSweepContract):
    pass


class TestInlineReviewTasks(InlineBackend, ReviewTasksContract):
    pass


class TestInlineReviewWatches(InlineBackend, ReviewWatchesContract):
    pass


class TestInlineTaskPullRequests(InlineBackend, TaskPullRequestsContract):
    pass


class TestInlineTasks(InlineBackend, TasksContract):
    pass


class TestInlineWatchFiles(InlineBackend, WatchFilesContract):
    pass


class TestInlineWatches(InlineBackend, WatchesContract):
    pass
