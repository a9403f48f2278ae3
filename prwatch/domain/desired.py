"""What a source of tasks asks for: tasks, their branches and standing adoptions."""

from dataclasses import dataclass

from prwatch.domain.task import Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredRepository:
    """
    A repository that a task works in.

    `branch` is '' when none is named, `head_repository` is the `owner/name` of the
    fork that holds the branch or ''. `pull_request` is the number of a pull request
    that was named itself, or 0; then `branch` is ''.
    """

    owner: str
    name: str
    branch: str = ""
    head_repository: str = ""
    pull_request: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredCheckout:
    """The branch of a session in one repository; `worktree_path` is absolute or ''."""

    owner: str
    name: str
    branch: str = ""
    worktree_path: str = ""
    head_repository: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredSession:
    """One run of work on a task, with what it has checked out."""

    id: str
    checkouts: tuple[DesiredCheckout, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredTask:
    """
    A piece of work under the id that its source gives it.

    The id depends only on what the entry means, so an entry that moves inside its
    file stays the same task.
    """

    external_id: str
    origin: Origin = Origin.CONFIG
    title: str = ""
    repositories: tuple[DesiredRepository, ...] = ()
    sessions: tuple[DesiredSession, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredRepositoryWatch:
    """
    A standing adoption of open pull requests.

    `owner` and `name` are '' for every repository; `author` is '' for everybody or
    `@me` for the login behind the workspace's credential.
    """

    owner: str = ""
    name: str = ""
    author: str = ""
    origin: Origin = Origin.CONFIG


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredWorkspace:
    """All that one source asks for in one workspace; tasks have distinct ids."""

    name: str
    tasks: tuple[DesiredTask, ...] = ()
    repository_watches: tuple[DesiredRepositoryWatch, ...] = ()
