from dataclasses import replace
from functools import singledispatch

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prwatch.domain import desired_steps as steps
from prwatch.domain.desired import (
    DesiredCheckout,
    DesiredRepository,
    DesiredRepositoryWatch,
    DesiredSession,
    DesiredTask,
    DesiredWorkspace,
)
from prwatch.domain.desired_plan import plan_tasks
from prwatch.domain.task import Checkout, Origin, PullRequestLink, TaskRepository
from tests.workspace_rows import (
    ARCHIVED_AT,
    make_repository,
    make_repository_watch,
    make_session,
    make_snapshot,
    make_task,
    make_task_pull_request,
)

OWN = frozenset({Origin.CONFIG, Origin.ADOPTED})
NAMES = st.sampled_from(("hello", "docs", "Hello", "old"))
BRANCHES = st.sampled_from(("", "a", "b"))
REPOSITORIES = st.one_of(
    st.builds(DesiredRepository, owner=st.just("octo"), name=NAMES, branch=BRANCHES),
    st.builds(
        DesiredRepository,
        owner=st.just("octo"),
        name=NAMES,
        pull_request=st.integers(1, 2),
    ),
)
CHECKOUTS = st.builds(
    DesiredCheckout,
    owner=st.just("octo"),
    name=NAMES,
    branch=BRANCHES,
    worktree_path=st.sampled_from(("", "/src/a")),
)
SESSIONS = st.builds(
    DesiredSession,
    id=st.sampled_from(("s1", "s2")),
    checkouts=st.lists(CHECKOUTS, max_size=3).map(tuple),
)
TASKS = st.builds(
    DesiredTask,
    external_id=st.sampled_from(("T-1", "T-9", "octo/hello@a", "octo/hello#1")),
    title=st.sampled_from(("", "Fix")),
    repositories=st.lists(REPOSITORIES, max_size=3).map(tuple),
    sessions=st.lists(SESSIONS, max_size=2, unique_by=lambda s: s.id).map(tuple),
)
WATCHES = st.builds(
    DesiredRepositoryWatch,
    owner=st.just("octo"),
    name=NAMES,
    author=st.sampled_from(("", "@me")),
)
WORKSPACES = st.builds(
    DesiredWorkspace,
    name=st.just("acme"),
    tasks=st.lists(TASKS, max_size=3, unique_by=lambda t: t.external_id).map(tuple),
    repository_watches=st.lists(WATCHES, max_size=2).map(tuple),
)

LAW = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


class Rows:
    """A model of the store: the rows by their keys."""

    def __init__(self) -> None:
        adopted = make_task("octo/hello#1", origin=Origin.ADOPTED)
        person = make_task("T-9", origin=Origin.COMMAND)
        self.repositories = {}
        self.tasks = {"octo/hello#1": adopted, "T-9": person}
        self.task_repositories = {}
        self.links = {}
        self.sessions = {}
        self.checkouts = {}
        self.repository_watches = {}
        self.find(steps.RepositoryName("octo", "hello"))

    def find(self, repository):
        known = {row.name_with_owner.lower(): row for row in self.repositories.values()}
        row = known.get(repository.name_with_owner.lower())
        if row is None:
            key = f"{len(self.repositories)}-{repository.name.lower()}"
            row = self.repositories[key] = make_repository(key, name=repository.name)
        return row.id

    def rename(self, before, after):
        for key, row in self.repositories.items():
            if row.name.lower() == before:
                self.repositories[key] = replace(row, name=after)

    def snapshot(self):
        return make_snapshot(
            task_pull_requests=[
                make_task_pull_request(
                    1, task_id="octo/hello#1", repository_id="0-hello"
                )
            ],
            **{name: rows.values() for name, rows in vars(self).items()},
        )


@singledispatch
def apply(step, rows):
    raise AssertionError(f"no such step: {step}")


@apply.register
def _(step: steps.AddRepository, rows):
    before = len(rows.repositories)
    rows.find(step.repository)
    assert len(rows.repositories) == before + 1


@apply.register
def _(step: steps.AddTask, rows):
    assert step.external_id not in rows.tasks
    rows.tasks[step.external_id] = make_task(
        step.external_id, origin=step.origin, title=step.title
    )


@apply.register
def _(step: steps.UnarchiveTask, rows):
    task = rows.tasks[step.task.external_id]
    rows.tasks[task.external_id] = replace(task, archived_at=None)


@apply.register
def _(step: steps.NameTask, rows):
    task = rows.tasks[step.task.external_id]
    rows.tasks[task.external_id] = replace(task, origin=step.origin)


@apply.register
def _(step: steps.ArchiveTask, rows):
    task = rows.tasks[step.task.external_id]
    assert task.archived_at is None
    rows.tasks[task.external_id] = replace(task, archived_at=ARCHIVED_AT)


@apply.register
def _(step: steps.RetitleTask, rows):
    task = rows.tasks[step.task.external_id]
    rows.tasks[task.external_id] = replace(task, title=step.title)


@apply.register
def _(step: steps.PutTaskRepository, rows):
    repository_id = rows.find(step.repository)
    rows.task_repositories[step.task, repository_id] = TaskRepository(
        task_id=step.task,
        repository_id=repository_id,
        position=step.position,
        branch=step.branch,
        head_repository=step.head_repository,
        written_as=step.written_as,
    )


@apply.register
def _(step: steps.RemoveTaskRepository, rows):
    del rows.task_repositories[step.row.task_id, step.row.repository_id]


@apply.register
def _(step: steps.PutLink, rows):
    key = (step.task, rows.find(step.repository), step.pr_number)
    rows.links[key] = PullRequestLink(
        task_id=key[0],
        repository_id=key[1],
        pr_number=key[2],
        written_as=step.written_as,
    )


@apply.register
def _(step: steps.RemoveLink, rows):
    row = step.row
    del rows.links[row.task_id, row.repository_id, row.pr_number]


@apply.register
def _(step: steps.Disown, rows):
    for table in (
        rows.task_repositories,
        rows.links,
        rows.checkouts,
        rows.repository_watches,
    ):
        for key, row in table.items():
            if row == step.row:
                table[key] = replace(row, written_as="")


@apply.register
def _(step: steps.PutSession, rows):
    key = f"{step.task}/{step.session}"
    rows.sessions[key] = make_session(key, task_id=step.task, external_id=step.session)


@apply.register
def _(step: steps.EndSession, rows):
    rows.sessions[step.session.id] = replace(step.session, ended_at=ARCHIVED_AT)


@apply.register
def _(step: steps.PutCheckout, rows):
    session_id = f"{step.task}/{step.session}"
    assert session_id in rows.sessions
    key = (session_id, rows.find(step.repository), step.worktree_path)
    rows.checkouts[key] = Checkout(
        session_id=session_id,
        repository_id=key[1],
        branch=step.branch,
        worktree_path=step.worktree_path,
        head_repository=step.head_repository,
        written_as=step.written_as,
    )


@apply.register
def _(step: steps.RemoveCheckout, rows):
    row = step.checkout
    del rows.checkouts[row.session_id, row.repository_id, row.worktree_path]


@apply.register
def _(step: steps.PutRepositoryWatch, rows):
    repository_id = rows.find(step.repository)
    rows.repository_watches[repository_id, step.author] = make_repository_watch(
        repository_id=repository_id,
        author=step.author,
        origin=step.origin,
        written_as=step.written_as,
    )


@apply.register
def _(step: steps.RemoveRepositoryWatch, rows):
    del rows.repository_watches[step.row.repository_id, step.row.author]


def plan(desired, rows):
    return plan_tasks(desired, rows.snapshot(), origins=OWN)


@LAW
@given(st.lists(WORKSPACES, min_size=1, max_size=4))
def test_an_applied_plan_leaves_nothing_to_plan(edits):
    rows = Rows()

    for desired in edits:
        for step in plan(desired, rows).steps:
            apply(step, rows)

        assert plan(desired, rows).steps == ()


@LAW
@given(
    desired=WORKSPACES,
    moves=st.lists(
        st.tuples(st.sampled_from(("hello", "docs")), st.booleans()), max_size=3
    ),
)
def test_no_rename_moves_an_entry_and_no_stranger_gets_it(desired, moves):
    rows = Rows()
    for step in plan(desired, rows).steps:
        apply(step, rows)

    for number, (name, is_taken_over) in enumerate(moves):
        rows.rename(name, f"moved-{number}")
        if is_taken_over:
            rows.find(steps.RepositoryName("octo", name))

        assert plan(desired, rows).steps == ()


@LAW
@given(st.lists(WORKSPACES, min_size=1, max_size=4))
def test_a_persons_task_is_never_archived(edits):
    rows = Rows()

    for desired in edits:
        for step in plan(desired, rows).steps:
            apply(step, rows)

    assert rows.tasks["T-9"].archived_at is None
