"""Rules that concern several keys at once: what excludes, needs or repeats what."""

from collections.abc import Sequence
from pathlib import Path

from prwatch.config.entries import App, Checkout, Session, Task, Watch, Workspace
from prwatch.config.model import Config, Poll
from prwatch.config.problems import Problems, quote, suggest
from prwatch.config.review import check_reviews
from prwatch.config.sink import KEYS_BY_KIND, Sink
from prwatch.config.sync import Sync
from prwatch.config.toml_lines import KeyPath

TOKEN_KEYS = ("token_env", "token_file", "token_credential", "gh", "app")
KEY_KEYS = ("private_key_file", "private_key_env", "private_key_credential")
SECRET_KEYS = ("secret_env", "secret_file", "secret_credential")
PASSWORD_KEYS = (
    "database_password_env",
    "database_password_file",
    "database_password_credential",
)
TARGET_KEYS = ("branch", "pull_request", "all", "author")
_ORDERED_INTERVALS = (
    ("tick", "hot_interval"),
    ("hot_interval", "interval"),
    ("interval", "idle_interval"),
    ("idle_interval", "idle_rest_interval"),
    ("idle_rest_interval", "longest_interval"),
    ("search_interval", "search_idle_interval"),
    ("search_idle_interval", "search_rest_interval"),
)


def check_config(config: Config, problems: Problems) -> None:
    """Note every rule that the configuration breaks, key by key."""
    _check_poll(config.poll, problems)
    _check_one_of((), _list_given(config, PASSWORD_KEYS), problems)
    if config.database_password is not None and not config.database_url:
        key = _list_given(config, PASSWORD_KEYS)[0]
        problems.add((key,), "has no use without database_url")
    names = [workspace.name for workspace in config.workspaces]
    _check_distinct(("workspace",), "name", names, problems)
    for index, workspace in enumerate(config.workspaces):
        _check_workspace(workspace, ("workspace", index), problems)
    for index, checkout in enumerate(config.checkouts):
        _check_checkout(checkout, ("checkout", index), names, problems)
    _check_distinct(("sink",), "name", [s.name for s in config.sinks], problems)
    for index, sink in enumerate(config.sinks):
        _check_sink(sink, ("sink", index), names, problems)
    _check_distinct_files(config.sinks, problems)


def _check_poll(poll: Poll, problems: Problems) -> None:
    for smaller, larger in _ORDERED_INTERVALS:
        if getattr(poll, smaller) > getattr(poll, larger):
            problems.add(("poll", smaller), f"is longer than {larger}; allowed is less")


def _check_workspace(workspace: Workspace, path: KeyPath, problems: Problems) -> None:
    _check_one_of(path, _list_given(workspace, TOKEN_KEYS), problems)
    if workspace.app is not None:
        _check_app(workspace.app, (*path, "app"), problems)
    check_entries(workspace.watches, workspace.tasks, path, problems)
    check_reviews(
        workspace.reviews, (*path, "review"), problems, is_app=workspace.is_app
    )
    _check_syncs(workspace.syncs, (*path, "sync"), problems)


def check_entries(
    watches: Sequence[Watch], tasks: Sequence[Task], path: KeyPath, problems: Problems
) -> None:
    """Note what is wrong with the watches and tasks below `path`, wherever it is."""
    for index, watch in enumerate(watches):
        _check_watch(watch, (*path, "watch", index), problems)
    _check_distinct((*path, "task"), "id", [task.id for task in tasks], problems)
    for index, task in enumerate(tasks):
        _check_task(task, (*path, "task", index), problems)


def _check_syncs(syncs: Sequence[Sync], path: KeyPath, problems: Problems) -> None:
    places = [sync.place for sync in syncs]
    for index, place in enumerate(places):
        if place in places[:index] and not problems.has((*path, index)):
            first = f"{path[-1]}[{places.index(place)}]"
            problems.add((*path, index), f"repeats the folder of {first}")


def _check_app(app: App, path: KeyPath, problems: Problems) -> None:
    given = _list_given(app, KEY_KEYS)
    _check_one_of(path, given, problems)
    if not given and not any(
        problems.has((*path, key)) for key in ("private_key", *KEY_KEYS)
    ):
        problems.add(path, f"names no private key; give one of {_join(KEY_KEYS)}")


def _check_watch(watch: Watch, path: KeyPath, problems: Problems) -> None:
    given = _list_given(watch, TARGET_KEYS)
    refused = any(problems.has((*path, key)) for key in TARGET_KEYS)
    if not given and not refused:
        problems.add(path, f"names nothing to watch; give one of {_join(TARGET_KEYS)}")
    _check_one_of(path, given, problems)
    refused = any(problems.has((*path, key)) for key in ("repository", "author"))
    if not watch.repository and not watch.author and not refused:
        problems.add(
            (*path, "repository"), 'is missing; only author = "@me" goes without it'
        )
    if watch.head and not watch.branch and not problems.has((*path, "branch")):
        problems.add((*path, "head"), "says where a branch lives; give branch as well")


def _check_task(task: Task, path: KeyPath, problems: Problems) -> None:
    names = [entry.repository.lower() for entry in task.repositories]
    _check_distinct((*path, "repositories"), "repository", names, problems)
    for index, repository in enumerate(task.repositories):
        if repository.head and not repository.branch:
            key = (*path, "repositories", index, "head")
            problems.add(key, "says where a branch lives; give branch as well")
    ids = [session.id for session in task.sessions]
    _check_distinct((*path, "sessions"), "id", ids, problems)
    for index, session in enumerate(task.sessions):
        _check_session(session, (*path, "sessions", index), problems)


def _check_session(session: Session, path: KeyPath, problems: Problems) -> None:
    seen: set[tuple[str, Path | None]] = set()
    for index, checkout in enumerate(session.checkouts):
        key = (*path, "checkouts", index)
        place = checkout.repository.lower(), checkout.worktree
        if place in seen and not problems.has(key):
            problems.add(key, "repeats a repository; give each its own worktree")
        seen.add(place)
        if checkout.branch or checkout.worktree:
            continue
        if not any(problems.has((*key, name)) for name in ("branch", "worktree")):
            problems.add(key, "names no branch; give branch, worktree or both")


def _check_checkout(
    checkout: Checkout, path: KeyPath, names: Sequence[str], problems: Problems
) -> None:
    key = (*path, "workspace")
    if checkout.workspace and checkout.workspace not in names:
        text = f"found {quote(checkout.workspace)}; there is no such workspace"
        problems.add(key, f"{text}{_suggest_workspace(checkout.workspace, names)}")
    elif not checkout.workspace and len(names) != 1:
        problems.add(key, "is missing; allowed is the name of a workspace")
    if not checkout.roots and not problems.has((*path, "roots")):
        problems.add((*path, "roots"), "is empty; name at least one folder")


def _check_sink(
    sink: Sink, path: KeyPath, names: Sequence[str], problems: Problems
) -> None:
    _check_one_of(path, _list_given(sink, SECRET_KEYS), problems)
    if not problems.has((*path, "kind")):
        _check_kind(sink, path, problems)
    for index, name in enumerate(sink.workspaces):
        if name not in names:
            text = f"found {quote(name)}; there is no such workspace"
            key = (*path, "workspaces", index)
            problems.add(key, f"{text}{_suggest_workspace(name, names)}")


def _check_kind(sink: Sink, path: KeyPath, problems: Problems) -> None:
    default = Sink(name=sink.name)
    own = KEYS_BY_KIND[sink.kind]
    for key in sorted(frozenset().union(*KEYS_BY_KIND.values()) - own):
        if getattr(sink, key) != getattr(default, key):
            kinds = _join([kind for kind, keys in KEYS_BY_KIND.items() if key in keys])
            problems.add((*path, key), f"is a key of {kinds}, not of {sink.kind}")
    required = {"webhook": "url", "command": "argv"}.get(sink.kind, "name")
    if not getattr(sink, required) and not problems.has((*path, required)):
        problems.add((*path, required), f"is missing; a {sink.kind} sink needs it")


def _check_distinct_files(sinks: Sequence[Sink], problems: Problems) -> None:
    seen: dict[Path, str] = {}
    for index, sink in enumerate(sinks):
        if sink.kind != "jsonl" or sink.path is None:
            continue
        if sink.path in seen:
            text = f"sink {seen[sink.path]} writes to the same file"
            problems.add(("sink", index, "path"), text)
        seen.setdefault(sink.path, sink.name)


def _check_distinct(
    path: KeyPath, key: str, values: Sequence[str], problems: Problems
) -> None:
    for index, value in enumerate(values):
        if value and value in values[:index]:
            first = f"{path[-1]}[{values.index(value)}]"
            problems.add(
                (*path, index, key), f"found {quote(value)}, the {key} of {first} too"
            )


def _check_one_of(path: KeyPath, given: Sequence[str], problems: Problems) -> None:
    for key in given[1:]:
        problems.add((*path, key), f"excludes {given[0]}; give one of the two")


def _list_given(value: object, keys: Sequence[str]) -> list[str]:
    return [key for key in keys if getattr(value, key)]


def _suggest_workspace(name: str, names: Sequence[str]) -> str:
    known = [each for each in names if each]
    return f"; {suggest(name, known)}" if known else ""


def _join(words: Sequence[str]) -> str:
    return ", ".join(words)
