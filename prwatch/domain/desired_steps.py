"""The steps that lead from stored tasks to desired ones: plain data that prints."""

from dataclasses import dataclass
from typing import TypeAlias

from prwatch.domain.pull_request import RepositoryName
from prwatch.domain.task import (
    Checkout,
    Origin,
    PullRequestLink,
    RepositoryWatch,
    Session,
    Task,
    TaskRepository,
)


@dataclass(frozen=True, slots=True)
class AddRepository:
    """A repository that the workspace has no row for."""

    repository: RepositoryName

    def __str__(self) -> str:
        return f"add repository {self.repository.name_with_owner}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AddTask:
    """A task to add under its external id."""

    external_id: str
    origin: Origin
    title: str = ""

    def __str__(self) -> str:
        return f"add task {self.external_id}"


@dataclass(frozen=True, slots=True)
class UnarchiveTask:
    """A task whose entry came back: it adopts afresh."""

    task: Task

    def __str__(self) -> str:
        return f"unarchive task {self.task.external_id}"


@dataclass(frozen=True, slots=True)
class NameTask:
    """A task that an entry or a person names: it is theirs from now on."""

    task: Task
    origin: Origin

    def __str__(self) -> str:
        return f"name task {self.task.external_id} as of {self.origin}"


@dataclass(frozen=True, slots=True)
class RetitleTask:
    """A new title for a task."""

    task: Task
    title: str

    def __str__(self) -> str:
        return f"retitle task {self.task.external_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PutTaskRepository:
    """A repository that a task works in, with its place and branch."""

    task: str
    repository: RepositoryName
    position: int
    branch: str = ""
    head_repository: str = ""
    written_as: str = ""

    def __str__(self) -> str:
        name = self.repository.name_with_owner
        return f"put {name} {self.branch} in task {self.task}"


@dataclass(frozen=True, slots=True)
class RemoveTaskRepository:
    """A repository that a task works in no longer."""

    row: TaskRepository

    def __str__(self) -> str:
        return f"remove repository {self.row.repository_id} of {self.row.task_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PutLink:
    """A pull request that a task names; when it was detached, it comes back."""

    task: str
    repository: RepositoryName
    pr_number: int
    written_as: str = ""

    def __str__(self) -> str:
        name = self.repository.name_with_owner
        return f"link {name}#{self.pr_number} to task {self.task}"


@dataclass(frozen=True, slots=True)
class RemoveLink:
    """A link that its entry names no longer, in a task of the entry's own."""

    row: PullRequestLink

    def __str__(self) -> str:
        return f"unlink #{self.row.pr_number} from {self.row.task_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PutSession:
    """A session of a task that runs."""

    task: str
    session: str

    def __str__(self) -> str:
        return f"put session {self.session} of task {self.task}"


@dataclass(frozen=True, slots=True)
class EndSession:
    """A session that its source names no longer."""

    session: Session

    def __str__(self) -> str:
        return f"end session {self.session.external_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PutCheckout:
    """What a session has checked out in a repository."""

    task: str
    session: str
    repository: RepositoryName
    branch: str = ""
    worktree_path: str = ""
    head_repository: str = ""
    written_as: str = ""

    def __str__(self) -> str:
        name = self.repository.name_with_owner
        what = self.branch or self.worktree_path
        return f"put checkout {name} {what} of session {self.session}"


@dataclass(frozen=True, slots=True)
class RemoveCheckout:
    """A checkout that its source names no longer."""

    checkout: Checkout

    def __str__(self) -> str:
        checkout = self.checkout
        what = checkout.branch or checkout.worktree_path
        return f"remove checkout {what} of session {checkout.session_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PutRepositoryWatch:
    """A standing adoption; without a repository it is for every one."""

    repository: RepositoryName | None
    author: str
    origin: Origin
    written_as: str = ""

    def __str__(self) -> str:
        name = self.repository.name_with_owner if self.repository else "everything"
        return f"adopt from {name} {self.author}".rstrip()


@dataclass(frozen=True, slots=True)
class RemoveRepositoryWatch:
    """A standing adoption that ends."""

    row: RepositoryWatch

    def __str__(self) -> str:
        return f"stop adopting from {self.row.repository_id or 'everything'}"


@dataclass(frozen=True, slots=True)
class Disown:
    """A row that its entry names no longer: it stays, as somebody else's."""

    row: TaskRepository | PullRequestLink | Checkout | RepositoryWatch

    def __str__(self) -> str:
        return f"leave {self.row.written_as} to whoever else asked for it"


@dataclass(frozen=True, slots=True)
class ArchiveTask:
    """A task that nobody asks for any more: watches go, its history stays."""

    task: Task

    def __str__(self) -> str:
        return f"archive task {self.task.external_id}"


Step: TypeAlias = (
    AddRepository
    | AddTask
    | UnarchiveTask
    | NameTask
    | RetitleTask
    | PutTaskRepository
    | RemoveTaskRepository
    | PutLink
    | RemoveLink
    | PutSession
    | EndSession
    | PutCheckout
    | RemoveCheckout
    | PutRepositoryWatch
    | RemoveRepositoryWatch
    | Disown
    | ArchiveTask
)


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """
    The steps in the order in which they are to be applied.

    Rows that may not exist yet are named: tasks and sessions by external id,
    repositories by owner and name, as the store spells them when it has them, then
    with the node id that it knows.
    """

    steps: tuple[Step, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to do."""
        return not self.steps

    def __str__(self) -> str:
        return "\n".join(map(str, self.steps)) or "nothing to do"
