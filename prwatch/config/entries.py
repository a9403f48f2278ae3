"""The entries of the configuration that say what is watched, and with which token."""

from pathlib import Path
from typing import Annotated, Final, Literal

from msgspec import Struct, field

from prwatch.config.addresses import GITHUB_API_URL
from prwatch.config.forms import (
    API_URL,
    APP_ID,
    BRANCH,
    CREDENTIAL_NAME,
    ENVIRONMENT_NAME,
    FLAG,
    IDENTIFIER,
    NAME,
    PATH,
    REPOSITORY,
    TASK_ID,
    TEXT,
    one_of,
    whole_number,
)
from prwatch.config.review import Review
from prwatch.config.secrets import SecretReference, SecretSource
from prwatch.config.sync import Sync

DEFAULT_TOKEN_ENV: Final = "GITHUB_TOKEN"  # noqa: S105 - a variable's name
_NUMBER = whole_number(1, 2**31 - 1)
_INSTALLATION = whole_number(1, 2**53 - 1)


class Watch(Struct, frozen=True, kw_only=True):
    """
    A branch, one pull request, or every open pull request of a repository.

    Exactly one of `branch`, `pull_request`, `all` and `author` is given.
    """

    repository: Annotated[str, REPOSITORY] = ""
    """The repository that holds the pull requests, as owner/name. Required unless
    `author` is given."""
    branch: Annotated[str, BRANCH] = ""
    """The branch whose pull request is watched, from before it is opened."""
    pull_request: Annotated[int, _NUMBER] = 0
    """The number of one pull request."""
    all: Annotated[bool, FLAG] = False
    """Whether every open pull request of the repository is watched."""
    author: Annotated[Literal["", "@me"], one_of(("@me",))] = ""
    """Whose open pull requests are watched: the account behind the token. Without
    `repository` in every repository."""
    head: Annotated[str, REPOSITORY] = ""
    """The fork that holds `branch`, as owner/name."""


class TaskRepository(Struct, frozen=True, kw_only=True):
    """A repository that a task works in."""

    repository: Annotated[str, REPOSITORY]
    """The repository, as owner/name."""
    branch: Annotated[str, BRANCH] = ""
    """The branch of the task in it; without one, sessions say it."""
    head: Annotated[str, REPOSITORY] = ""
    """The fork that holds `branch`, as owner/name."""


class SessionCheckout(Struct, frozen=True, kw_only=True):
    """What a session has checked out. `branch`, `worktree` or both are given."""

    repository: Annotated[str, REPOSITORY]
    """The repository, as owner/name."""
    branch: Annotated[str, BRANCH] = ""
    """The branch; without one it is read from `worktree` each cycle."""
    worktree: Annotated[Path | None, PATH] = None
    """The folder of the local worktree."""
    head: Annotated[str, REPOSITORY] = ""
    """The fork that holds `branch`, as owner/name."""


class Session(Struct, frozen=True, kw_only=True):
    """One run of work on a task."""

    id: Annotated[str, IDENTIFIER]
    """The session's own id, distinct inside its task."""
    checkouts: tuple[SessionCheckout, ...] = ()
    """What the session has checked out."""


class Task(Struct, frozen=True, kw_only=True):
    """A piece of work with an id of its own, perhaps over several repositories."""

    id: Annotated[str, TASK_ID]
    """The task's own id, distinct inside its workspace."""
    title: Annotated[str, TEXT] = ""
    """A line for people."""
    repositories: tuple[TaskRepository, ...] = ()
    """The repositories it works in."""
    sessions: tuple[Session, ...] = ()
    """The runs of work on it."""


class App(Struct, frozen=True, kw_only=True):
    """
    The installation of a GitHub App that a workspace signs in as.

    Exactly one of `private_key_file`, `private_key_env` and `private_key_credential`
    is given.
    """

    id: Annotated[str, APP_ID]
    """The number or the client id of the app, as its settings page says."""
    installation: Annotated[int, _INSTALLATION]
    """The number of the installation: the end of the address of its settings page."""
    private_key_file: Annotated[Path | None, PATH] = None
    """The file, readable by its owner alone, that holds the app's private key (PEM)."""
    private_key_env: Annotated[str, ENVIRONMENT_NAME] = ""
    """The environment variable that holds the app's private key."""
    private_key_credential: Annotated[str, CREDENTIAL_NAME] = ""
    """The systemd credential that holds the app's private key."""

    @property
    def private_key(self) -> SecretReference:
        """Return where the private key of the app is."""
        if self.private_key_file is not None:
            source, name = SecretSource.FILE, str(self.private_key_file)
        elif self.private_key_env:
            source, name = SecretSource.ENV, self.private_key_env
        else:
            source, name = SecretSource.CREDENTIAL, self.private_key_credential
        return SecretReference(source, name, is_key=True)


class Workspace(Struct, frozen=True, kw_only=True):
    """
    A set of tasks with one credential; nothing crosses workspaces.

    At most one of `token_env`, `token_file`, `token_credential`, `gh` and `app` is
    given; without any, `token_env` is `GITHUB_TOKEN`.
    """

    name: Annotated[str, NAME]
    """The workspace's name."""
    token_env: Annotated[str, ENVIRONMENT_NAME] = ""
    """The environment variable that holds the token."""
    token_file: Annotated[Path | None, PATH] = None
    """The file, readable by its owner alone, that holds the token."""
    token_credential: Annotated[str, CREDENTIAL_NAME] = ""
    """The systemd credential that holds the token."""
    gh: Annotated[bool, FLAG] = False
    """Whether the token of the GitHub command line tool is used."""
    app: App | None = None
    """The installation of a GitHub App whose tokens are used."""
    api_url: Annotated[str, API_URL] = GITHUB_API_URL
    """GitHub's REST interface; of an Enterprise Server, https://HOST/api/v3."""
    graphql_url: Annotated[str, API_URL] = ""
    """GitHub's GraphQL interface; without one it follows from `api_url`."""
    watches: tuple[Watch, ...] = field(name="watch", default=())
    tasks: tuple[Task, ...] = field(name="task", default=())
    reviews: tuple[Review, ...] = field(name="review", default=())
    syncs: tuple[Sync, ...] = field(name="sync", default=())

    @property
    def token(self) -> SecretReference:
        """Return where the token of this workspace is, or the key that gets one."""
        if self.app is not None:
            return self.app.private_key
        if self.gh:
            return SecretReference(SecretSource.GH)
        if self.token_file is not None:
            return SecretReference(SecretSource.FILE, str(self.token_file))
        if self.token_credential:
            return SecretReference(SecretSource.CREDENTIAL, self.token_credential)
        return SecretReference(SecretSource.ENV, self.token_env or DEFAULT_TOKEN_ENV)

    @property
    def is_app(self) -> bool:
        """Return whether it signs in as the installation of an app, no person."""
        return self.app is not None

    @property
    def account(self) -> str:
        """Return by what the workspace signs in; it is told to people and stored."""
        if self.app is None:
            return str(self.token)
        return f"app {self.app.id}, installation {self.app.installation}"


class Checkout(Struct, frozen=True, kw_only=True):
    """Local discovery: each worktree below the roots becomes a task."""

    workspace: Annotated[str, NAME] = ""
    """The workspace of those tasks; it may be left out when there is only one."""
    roots: tuple[Annotated[Path, PATH], ...]
    """The folders that are searched, four levels deep."""
