"""The store's suites on PostgreSQL."""

from tests.contract.store_backends import PostgresBackend
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


class TestPostgresDatabase(PostgresBackend, DatabaseContract):
    pass


class TestPostgresGauges(PostgresBackend, GaugesContract):
    pass


class TestPostgresOutbox(PostgresBackend, OutboxContract):
    pass


class TestPostgresRefusedFields(PostgresBackend, RefusedFieldsContract):
    pass


class TestPostgresRepositories(PostgresBackend, RepositoriesContract):
    pass


class TestPostgresReviewAudit(PostgresBackend, ReviewAuditContract):
    pass


class TestPostgresReviewLeft(PostgresBackend, ReviewLeftContract):
    pass


class TestPostgresReviewSweep(PostgresBackend, ReviewSweepContract):
    pass


class TestPostgresReviewTasks(PostgresBackend, ReviewTasksContract):
    pass


class TestPostgresReviewWatches(PostgresBackend, ReviewWatchesContract):
    pass


class TestPostgresTaskPullRequests(PostgresBackend, TaskPullRequestsContract):
    pass


class TestPostgresTasks(PostgresBackend, TasksContract):
    pass


class TestPostgresWatchFiles(PostgresBackend, WatchFilesContract):
    pass


class TestPostgresWatches(PostgresBackend, WatchesContract):
    pass
