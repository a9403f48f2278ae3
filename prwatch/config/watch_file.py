"""
The watch file: what a file in a repository may say of what is watched.

It is written by whoever may write to that repository. So it is read with the forms and
rules of the configuration, and has only keys that stay within its workspace: no
secrets, no addresses, no paths of this machine, and of sinks only what they leave out.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Final

from msgspec import Struct, field

from prwatch.config.checks import check_entries
from prwatch.config.desired import build_desired
from prwatch.config.entries import Task, TaskRepository, Watch
from prwatch.config.forms import NAME, REPOSITORY, TASK_ID, TEXT, one_of
from prwatch.config.inline_secrets import REASON, list_secret_lines
from prwatch.config.problems import Problems, quote
from prwatch.config.reader import read_struct
from prwatch.config.review import Review, build_settings, check_reviews
from prwatch.config.watch_document import decode_text, read_toml
from prwatch.config.yaml_document import read_yaml
from prwatch.domain.desired import DesiredWorkspace
from prwatch.domain.events import ChangeField, EventType, Narrowing
from prwatch.domain.review_watch_plan import DesiredReviewWatch
from prwatch.domain.task import Origin
from prwatch.domain.watch_file import MAX_FILE_BYTES
from prwatch.domain.watch_file_plan import Declaration
from prwatch.errors import ConfigError

MAX_ENTRIES: Final = 1000
"""Watches, review watches and tasks of one file."""
MAX_PROBLEMS: Final = 20
"""Problems of one file that are told."""


class DeclaredTask(Struct, frozen=True, kw_only=True):
    """A piece of work; the sessions of it are said elsewhere."""

    id: Annotated[str, TASK_ID]
    """The task's own id, distinct inside its workspace."""
    title: Annotated[str, TEXT] = ""
    """A line for people."""
    repositories: tuple[TaskRepository, ...] = ()
    """The repositories it works in."""


class DeclaredSink(Struct, frozen=True, kw_only=True):
    """Which events of this workspace a sink of the configuration still gets."""

    name: Annotated[str, NAME]
    """The sink's name in the configuration."""
    events: tuple[Annotated[str, one_of(EventType)], ...] = ()
    """Only these types of events; empty for all that the configuration lets pass."""
    fields: tuple[Annotated[str, one_of(ChangeField)], ...] = ()
    """Only events in which one of these fields changed; empty for all."""
    repositories: tuple[Annotated[str, REPOSITORY], ...] = ()
    """Only events of these repositories, as owner/name; empty for all."""


class WatchFileContent(Struct, frozen=True, kw_only=True):
    """The whole file."""

    watches: tuple[Watch, ...] = field(name="watch", default=())
    tasks: tuple[DeclaredTask, ...] = field(name="task", default=())
    reviews: tuple[Review, ...] = field(name="review", default=())
    sinks: tuple[DeclaredSink, ...] = field(name="sink", default=())


def parse_watch_file(
    content: bytes, *, name: str, place: str, workspace: str, is_app: bool = False
) -> Declaration:
    """
    Return what a file declares for a workspace.

    `name` is the file's, whose end says its language; messages begin with it. `place`
    is how people know the file among those of all folders. `is_app` says that the
    workspace signs in as an app, which has no reviews of its own.

    Raises:
        ConfigError: Something is wrong; `problems` has a line for each, with the line
            and the column of its place.
    """
    text = decode_text(content[: MAX_FILE_BYTES + 1], name)
    if len(content) > MAX_FILE_BYTES:
        _raise(name, [f"{name}:1:1: is longer than {MAX_FILE_BYTES} bytes"])
    is_toml = name.lower().endswith(".toml")
    document = read_toml(text, name) if is_toml else read_yaml(text, name)
    places = document.places
    problems = Problems(name, places.lines, columns=places.columns or {(): 1})
    read = read_struct(WatchFileContent, document.table, (), problems)
    tasks = [_build_task(task) for task in read.tasks]
    check_entries(read.watches, tasks, (), problems)
    check_reviews(read.reviews, ("review",), problems, is_app=is_app)
    _check_sinks(read.sinks, problems)
    if len(read.watches) + len(tasks) + len(read.reviews) > MAX_ENTRIES:
        problems.add_line(1, f"more than {MAX_ENTRIES} watches, reviews and tasks")
    for line in list_secret_lines(text):
        problems.add_line(line, f"something that looks like a secret: {REASON}")
    _raise(name, problems.render())
    return Declaration(
        place=place,
        desired=_mark_origin(build_desired(workspace, read.watches, tasks)),
        reviews=tuple(
            DesiredReviewWatch(
                name=each.name, settings=build_settings(each), written_as=place
            )
            for each in read.reviews
        ),
        narrowings=tuple(_build_narrowing(sink, workspace) for sink in read.sinks),
    )


def _raise(name: str, problems: Iterable[str]) -> None:
    lines = tuple(problems)
    more = len(lines) - MAX_PROBLEMS
    if more > 0:
        lines = (*lines[:MAX_PROBLEMS], f"{name}: and {more} more")
    if lines:
        raise ConfigError(f"{name} cannot be read", problems=lines)


def _check_sinks(sinks: Iterable[DeclaredSink], problems: Problems) -> None:
    seen: set[str] = set()
    for index, sink in enumerate(sinks):
        if sink.name in seen:
            text = f"found {quote(sink.name)}, which stands above too"
            problems.add(("sink", index, "name"), text)
        seen.add(sink.name)


def _build_task(task: DeclaredTask) -> Task:
    return Task(id=task.id, title=task.title, repositories=task.repositories)


def _mark_origin(desired: DesiredWorkspace) -> DesiredWorkspace:
    return replace(
        desired,
        tasks=tuple(replace(each, origin=Origin.WATCH_FILE) for each in desired.tasks),
        repository_watches=tuple(
            replace(each, origin=Origin.WATCH_FILE)
            for each in desired.repository_watches
        ),
    )


def _build_narrowing(sink: DeclaredSink, workspace: str) -> Narrowing:
    return Narrowing(
        workspace=workspace,
        sink=sink.name,
        events=frozenset(sink.events),
        fields=frozenset(sink.fields),
        repositories=frozenset(name.lower() for name in sink.repositories),
    )
