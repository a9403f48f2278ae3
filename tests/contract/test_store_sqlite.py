"""The store's suites on SQLite, in the driver's worker threads."""

from tests.contract.store_backends import SQLiteBackend
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


class TestSQLiteDatabase(SQLiteBackend, DatabaseContract):
    pass


class TestSQLiteGauges(SQLiteBackend, GaugesContract):
    pass


class TestSQLiteOutbox(SQLiteBackend, OutboxContract):
    pass


class TestSQLiteRefusedFields(SQLiteBackend, RefusedFieldsContract):
    pass


class TestSQLiteRepositories(SQLiteBackend, RepositoriesContract):
    pass


class TestSQLiteReviewAudit(SQLiteBackend, ReviewAuditContract):
    pass


class TestSQLiteReviewLeft(SQLiteBackend, ReviewLeftContract):
    pass


class TestSQLiteReviewSweep(SQLiteBackend, ReviewSweepContract):
    pass


class TestSQLiteReviewTasks(SQLiteBackend, ReviewTasksContract):
    pass


class TestSQLiteReviewWatches(SQLiteBackend, ReviewWatchesContract):
    pass


class TestSQLiteTaskPullRequests(SQLiteBackend, TaskPullRequestsContract):
    pass


class TestSQLiteTasks(SQLiteBackend, TasksContract):
    pass


class TestSQLiteWatchFiles(SQLiteBackend, WatchFilesContract):
    pass


class TestSQLiteWatches(SQLiteBackend, WatchesContract):
    pass
