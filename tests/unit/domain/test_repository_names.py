"""Entries that follow the repository which they first resolved to."""

from dataclasses import replace

import pytest

from prwatch.domain.desired import (
    DesiredCheckout,
    DesiredRepository,
    DesiredRepositoryWatch,
    DesiredSession,
    DesiredTask,
    DesiredWorkspace,
)
from prwatch.domain.desired_plan import plan_tasks
from prwatch.domain.desired_steps import (
    AddRepository,
    AddTask,
    Disown,
    PutLink,
    PutRepositoryWatch,
    PutTaskRepository,
    RemoveLink,
    RemoveRepositoryWatch,
    RemoveTaskRepository,
    UnarchiveTask,
)
from prwatch.domain.pull_request import RepositoryName
from prwatch.domain.repository_names import RepositoryNames, choose_written
from prwatch.domain.task import Origin
from tests.workspace_rows import (
    ARCHIVED_AT,
    make_checkout,
    make_link,
    make_repository,
    make_repository_watch,
    make_session,
    make_snapshot,
    make_task,
    make_task_repository,
)

CONFIG = frozenset({Origin.CONFIG, Origin.ADOPTED})
OWN = make_task(origin=Origin.CONFIG)
OLD = "octo/old"
RENAMED = RepositoryName("octo", "hello", "R_hello")
"""What was called `octo/old` when the entries were first read."""
STRANGER = make_repository("stranger", name="old")
"""The repository that took over the name."""
TAKEN_OVER = RepositoryName("octo", "old", "R_stranger")
FIX = DesiredRepository(owner="octo", name="old", branch="fix")
TWELVE = DesiredRepository(owner="Octo", name="Old", pull_request=12)
SESSION = DesiredSession(
    id="s", checkouts=(DesiredCheckout(owner="octo", name="old", worktree_path="/a"),)
)
ALL = DesiredRepositoryWatch(owner="octo", name="old")


def plan(*tasks, stored, watches=(), origins=CONFIG):
    desired = DesiredWorkspace(name="acme", tasks=tasks, repository_watches=watches)
    return plan_tasks(desired, stored, origins=origins).steps


def task(*repositories, sessions=(), external_id="t"):
    return DesiredTask(
        external_id=external_id, repositories=repositories, sessions=sessions
    )


def make_stored(*, is_taken_over=True, **rows):
    repositories = [make_repository(), *([STRANGER] if is_taken_over else [])]
    return make_snapshot(repositories=repositories, **{"tasks": [OWN], **rows})


@pytest.mark.parametrize("is_taken_over", [False, True])
@pytest.mark.parametrize(
    ("wanted", "rows"),
    [
        pytest.param(
            {"tasks": [task(FIX)]},
            {"task_repositories": [make_task_repository("fix", written_as=OLD)]},
            id="branch",
        ),
        pytest.param(
            {"tasks": [task(TWELVE)]},
            {"links": [make_link(12, written_as=OLD)]},
            id="pull request",
        ),
        pytest.param(
            {"tasks": [task(sessions=(SESSION,))]},
            {
                "sessions": [make_session()],
                "checkouts": [make_checkout(worktree_path="/a", written_as=OLD)],
            },
            id="checkout",
        ),
        pytest.param(
            {"watches": (ALL,)},
            {
                "tasks": [],
                "repository_watches": [make_repository_watch(written_as=OLD)],
            },
            id="every open pull request",
        ),
        pytest.param(
            {"watches": (replace(ALL, author="mona"),)},
            {
                "tasks": [],
                "repository_watches": [
                    make_repository_watch(author="mona", written_as=OLD)
                ],
            },
            id="an author's pull requests",
        ),
    ],
)
def test_after_a_rename_an_entry_plans_nothing(wanted, rows, is_taken_over):
    stored = make_stored(is_taken_over=is_taken_over, **rows)

    tasks, watches = wanted.get("tasks", ()), wanted.get("watches", ())
    assert plan(*tasks, stored=stored, watches=watches) == ()


def test_a_new_entry_means_who_has_the_name_now():
    stored = make_stored(
        task_repositories=[make_task_repository("fix", written_as=OLD)],
        repository_watches=[make_repository_watch(author="mona", written_as=OLD)],
    )
    new = replace(FIX, branch="other")

    steps = plan(
        task(FIX),
        task(new, external_id="octo/old@other"),
        stored=stored,
        watches=(replace(ALL, author="mona"), ALL),
    )

    assert steps == (
        AddTask(external_id="octo/old@other", origin=Origin.CONFIG),
        PutTaskRepository(
            task="octo/old@other",
            repository=TAKEN_OVER,
            position=0,
            branch="other",
            written_as=OLD,
        ),
        PutRepositoryWatch(
            repository=TAKEN_OVER, author="", origin=Origin.CONFIG, written_as=OLD
        ),
    )


def test_a_new_entry_under_a_name_that_nobody_has_asks_for_a_repository():
    stored = make_stored(
        is_taken_over=False,
        task_repositories=[make_task_repository("fix", written_as=OLD)],
    )

    steps = plan(
        task(FIX), task(replace(FIX, branch="x"), external_id="n"), stored=stored
    )

    assert steps[0] == AddRepository(RepositoryName("octo", "old"))


def test_an_edited_entry_resolves_anew():
    row = make_task_repository("fix", written_as=OLD)
    watch = make_repository_watch(written_as=OLD)
    stored = make_stored(task_repositories=[row], repository_watches=[watch])

    present = plan(
        task(replace(FIX, name="hello")),
        stored=stored,
        watches=(replace(ALL, name="hello"),),
    )
    elsewhere = plan(
        task(replace(FIX, name="new")),
        stored=stored,
        watches=(replace(ALL, name="new"),),
    )

    assert present == (
        PutTaskRepository(
            task="t",
            repository=RENAMED,
            position=0,
            branch="fix",
            written_as="octo/hello",
        ),
        PutRepositoryWatch(
            repository=RENAMED,
            author="",
            origin=Origin.CONFIG,
            written_as="octo/hello",
        ),
    )
    assert RemoveTaskRepository(row) in elsewhere
    assert RemoveRepositoryWatch(watch) in elsewhere


def test_an_entry_that_was_gone_means_who_has_the_name_now():
    gone = replace(OWN, archived_at=ARCHIVED_AT)
    row, link = make_task_repository("fix", written_as=OLD), make_link(written_as=OLD)
    stored = make_stored(tasks=[gone], task_repositories=[row], links=[link])

    assert plan(task(FIX, TWELVE), stored=stored) == (
        UnarchiveTask(gone),
        PutTaskRepository(
            task="t", repository=TAKEN_OVER, position=0, branch="fix", written_as=OLD
        ),
        RemoveTaskRepository(row),
        PutLink(task="t", repository=TAKEN_OVER, pr_number=12, written_as="Octo/Old"),
        RemoveLink(link),
    )


def test_both_names_of_a_repository_in_one_entry_plan_nothing():
    both = (replace(FIX, name="hello"), FIX)
    stored = make_stored(
        is_taken_over=False,
        task_repositories=[make_task_repository("fix", written_as=OLD)],
        repository_watches=[make_repository_watch(written_as=OLD)],
    )

    assert (
        plan(task(*both), stored=stored, watches=(replace(ALL, name="hello"), ALL))
        == ()
    )


def test_a_command_means_who_has_the_name_now_and_leaves_the_entrys_name():
    stored = make_stored(
        task_repositories=[make_task_repository("fix", written_as=OLD)],
        links=[make_link(12, written_as=OLD)],
    )
    hello = replace(FIX, name="hello", branch="next")
    twelve = replace(TWELVE, name="hello")

    theirs = plan(task(FIX), stored=stored, origins=frozenset())
    own = plan(task(hello, twelve), stored=stored, origins=frozenset())

    assert theirs == (
        PutTaskRepository(task="t", repository=TAKEN_OVER, position=0, branch="fix"),
    )
    assert own == (
        PutTaskRepository(
            task="t", repository=RENAMED, position=0, branch="next", written_as=OLD
        ),
    )


def test_what_an_entry_asked_of_a_persons_task_is_left_to_the_person():
    person = make_task()
    entry = make_task_repository("fix", written_as=OLD)
    link = make_link(12, written_as=OLD)
    checkout = make_checkout(branch="fix", written_as=OLD)
    watch = make_repository_watch(origin=Origin.COMMAND, written_as=OLD)
    stored = make_stored(
        tasks=[person],
        task_repositories=[entry],
        links=[link, make_link(13)],
        sessions=[make_session()],
        checkouts=[checkout],
        repository_watches=[watch],
    )

    dropped = plan(stored=stored)
    edited = plan(task(), stored=stored)

    left = tuple(map(Disown, (entry, link, checkout, watch)))
    assert (dropped, edited) == (left, left)
    assert plan(stored=stored, origins=frozenset({Origin.WORKTREE})) == ()


def test_an_entry_names_what_a_person_made():
    stored = make_stored(
        is_taken_over=False,
        tasks=[make_task()],
        links=[make_link(12)],
        repository_watches=[make_repository_watch(origin=Origin.COMMAND)],
    )

    steps = plan(
        task(replace(TWELVE, name="hello")),
        stored=stored,
        watches=(replace(ALL, name="hello"),),
    )

    assert steps == (
        PutLink(task="t", repository=RENAMED, pr_number=12, written_as="Octo/hello"),
        PutRepositoryWatch(
            repository=RENAMED,
            author="",
            origin=Origin.COMMAND,
            written_as="octo/hello",
        ),
    )


def test_of_two_rows_with_one_name_the_known_one_is_meant_then_the_newest():
    known = make_repository("a", name="same")
    unknown = make_repository("b", name="same", node_id="")
    newer = make_repository("c", name="Same")

    def find(*rows):
        return RepositoryNames(make_snapshot(repositories=rows)).find("octo", "same")

    assert (find(known, unknown), find(known, unknown, newer)) == (known, newer)


@pytest.mark.parametrize(
    ("stored", "wanted", "chosen"),
    [
        pytest.param("octo/a", ("octo/b", "OCTO/A"), "octo/a", id="still written"),
        pytest.param("octo/c", ("octo/b", "octo/a"), "octo/b", id="no longer"),
        pytest.param("octo/c", (), "", id="by nobody"),
        pytest.param("", ("",), "", id="no name"),
    ],
)
def test_the_stored_name_is_kept_while_an_entry_writes_it(stored, wanted, chosen):
    assert choose_written(stored, wanted) == chosen
