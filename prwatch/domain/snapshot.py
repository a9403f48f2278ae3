"""Everything that is stored about one workspace, as one value."""

from dataclasses import dataclass

from prwatch.domain.connection import Connection
from prwatch.domain.task import (
    Checkout,
    PullRequestLink,
    Repository,
    RepositoryWatch,
    Session,
    Task,
    TaskPullRequest,
    TaskRepository,
    Workspace,
)
from prwatch.domain.watch import Watch


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """
    The rows of one workspace, read in one transaction, each in order of its key.

    `tasks` are the active ones unless the snapshot was asked to hold archived ones
    too; what hangs on a task is there exactly when the task is. `watches` are all
    of the workspace, so that a plan can remove those whose task is gone.
    """

    workspace: Workspace
    connection: Connection | None = None
    repositories: tuple[Repository, ...] = ()
    tasks: tuple[Task, ...] = ()
    task_repositories: tuple[TaskRepository, ...] = ()
    links: tuple[PullRequestLink, ...] = ()
    sessions: tuple[Session, ...] = ()
    checkouts: tuple[Checkout, ...] = ()
    repository_watches: tuple[RepositoryWatch, ...] = ()
    watches: tuple[Watch, ...] = ()
    task_pull_requests: tuple[TaskPullRequest, ...] = ()


def list_worked_in(stored: Snapshot) -> frozenset[str]:
    """
    Return the ids of the tasks that somebody works in.

    Such a task has a session, a person wrote in it, or it waits for something.
    """
    told = (
        task.id
        for task in stored.tasks
        if task.person_wrote_at is not None or task.waits_for
    )
    return frozenset((*told, *(session.task_id for session in stored.sessions)))
