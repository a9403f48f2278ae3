from dataclasses import replace

import pytest

from prwatch.domain.desired import (
    DesiredRepository,
    DesiredRepositoryWatch,
    DesiredTask,
    DesiredWorkspace,
)
from prwatch.domain.desired_plan import plan_tasks
from prwatch.domain.desired_steps import (
    AddTask,
    ArchiveTask,
    Disown,
    NameTask,
    PutRepositoryWatch,
    PutTaskRepository,
    RemoveRepositoryWatch,
    RemoveTaskRepository,
    UnarchiveTask,
)
from prwatch.domain.events import Interest, Narrowing
from prwatch.domain.pull_request import RepositoryName
from prwatch.domain.task import Origin
from prwatch.domain.watch_file_plan import (
    Declaration,
    narrow_interests,
    plan_watch_files,
    unite,
)
from tests.workspace_rows import (
    ARCHIVED_AT,
    make_repository_watch,
    make_session,
    make_snapshot,
    make_task,
    make_task_pull_request,
    make_task_repository,
)

HELLO = RepositoryName("octo", "hello", "R_hello")
CONFIG = frozenset({Origin.CONFIG, Origin.ADOPTED})
FILE = Origin.WATCH_FILE
TASK = DesiredTask(external_id="t", origin=FILE)
ADOPTION = DesiredRepositoryWatch(owner="octo", name="hello", origin=FILE)


def desire(*tasks, watches=()):
    return DesiredWorkspace(name="acme", tasks=tasks, repository_watches=watches)


def declare(place, *tasks, watches=(), narrowings=()):
    desired = desire(*tasks, watches=watches)
    return Declaration(place=place, desired=desired, narrowings=narrowings)


def test_the_first_file_that_names_a_task_or_a_sink_wins_and_the_second_is_told():
    other = DesiredTask(external_id="t", title="other")
    mine = Narrowing(workspace="acme", sink="out", events=frozenset({"a"}))
    yours = Narrowing(workspace="acme", sink="out")

    united = unite(
        "acme",
        [
            declare("a", TASK, watches=(ADOPTION,), narrowings=(mine,)),
            declare("b", other, watches=(ADOPTION,), narrowings=(yours,)),
        ],
        {"out"},
    )

    assert united.desired == desire(TASK, watches=(ADOPTION,))
    assert united.narrowings == (mine,)
    assert united.warnings == (
        "b: task t is declared by a, which wins",
        "b: sink out is declared by a, which wins",
    )


def test_a_sink_that_is_not_configured_is_told():
    narrowing = Narrowing(workspace="acme", sink="gone")

    united = unite("acme", [declare("a", narrowings=(narrowing,))], {"out"})

    assert united.warnings == (
        "a: sink gone is not configured, so nothing is narrowed",
    )


def test_a_declared_task_is_made_and_ends_with_its_file():
    made = plan_watch_files(desire(TASK), make_snapshot(tasks=[]))
    own = make_task(origin=FILE)
    ended = plan_watch_files(desire(), make_snapshot(tasks=[own]))

    assert made.plan.steps == (AddTask(external_id="t", origin=FILE),)
    assert ended.plan.steps == (ArchiveTask(own),)
    assert made.warnings == ended.warnings == ()


@pytest.mark.parametrize(
    ("origin", "whose"),
    [
        (Origin.CONFIG, "configuration, which declares it"),
        (Origin.COMMAND, "person who made it"),
        (Origin.API, "program that made it"),
        (Origin.WORKTREE, "worktree that it comes from"),
        (Origin.REVIEW, "review queue, which made it"),
        (Origin.IMPORT, "import that made it"),
    ],
)
def test_what_somebody_else_made_stays_theirs(origin, whose):
    task = make_task(origin=origin)
    stored = make_snapshot(tasks=[task])
    wanted = DesiredTask(external_id="t", origin=FILE, title="New")

    found = plan_watch_files(desire(wanted), stored)

    assert found.plan.steps == ()
    assert found.warnings == (f"task t is left to the {whose}",)
    assert plan_watch_files(desire(), stored).plan.steps == ()


@pytest.mark.parametrize("origin", [FILE, Origin.ADOPTED])
@pytest.mark.parametrize("work", ["session", "ended session", "message"])
def test_what_a_person_works_in_is_kept(origin, work):
    wrote_at = ARCHIVED_AT if work == "message" else None
    task = make_task(origin=origin, person_wrote_at=wrote_at)
    ended_at = ARCHIVED_AT if work == "ended session" else None
    stored = make_snapshot(
        tasks=[task],
        sessions=[] if work == "message" else [make_session(ended_at=ended_at)],
        task_pull_requests=[make_task_pull_request()],
    )

    found = plan_watch_files(desire(), stored)

    assert [step for step in found.plan.steps if isinstance(step, ArchiveTask)] == []
    assert found.warnings == (
        "task t is declared no more, and kept: somebody works in it",
    )


@pytest.mark.parametrize("origin", [Origin.CONFIG, Origin.COMMAND, Origin.ADOPTED])
def test_a_file_revives_what_was_archived_as_its_own(origin):
    task = make_task(origin=origin, archived_at=ARCHIVED_AT)
    row = make_task_repository("old")
    stored = make_snapshot(tasks=[task], task_repositories=[row])

    found = plan_watch_files(desire(TASK), stored)

    taken = () if origin is Origin.ADOPTED else (RemoveTaskRepository(row),)
    assert found.plan.steps[:2] == (UnarchiveTask(task), NameTask(task, FILE))
    assert found.plan.steps[2:] == taken


def test_a_file_that_returns_revives_its_own_task():
    task = make_task(origin=FILE, archived_at=ARCHIVED_AT)

    found = plan_watch_files(desire(TASK), make_snapshot(tasks=[task]))

    assert found.plan.steps == (UnarchiveTask(task),)


def test_the_configuration_takes_over_what_a_file_declared():
    task = make_task(origin=FILE)
    entry = DesiredTask(
        external_id="t",
        repositories=(DesiredRepository(owner="octo", name="hello", branch="fix"),),
    )

    plan = plan_tasks(desire(entry), make_snapshot(tasks=[task]), origins=CONFIG)

    assert plan.steps == (
        NameTask(task, Origin.CONFIG),
        PutTaskRepository(
            task="t",
            repository=HELLO,
            position=0,
            branch="fix",
            written_as="octo/hello",
        ),
    )


def test_the_configuration_leaves_alone_what_files_declare():
    stored = make_snapshot(
        tasks=[make_task(origin=FILE)],
        repository_watches=[make_repository_watch(origin=FILE)],
    )

    assert plan_tasks(desire(), stored, origins=CONFIG).steps == ()


def test_the_configuration_takes_over_an_adoption_of_a_file():
    row = make_repository_watch(origin=FILE)
    wanted = DesiredRepositoryWatch(owner="octo", name="hello")

    plan = plan_tasks(
        desire(watches=(wanted,)),
        make_snapshot(tasks=[], repository_watches=[row]),
        origins=CONFIG,
    )

    assert plan.steps == (
        PutRepositoryWatch(
            repository=HELLO,
            author="",
            origin=Origin.CONFIG,
            written_as="octo/hello",
        ),
    )


@pytest.mark.parametrize("origin", [Origin.CONFIG, Origin.COMMAND])
def test_a_file_adds_nothing_to_an_adoption_of_somebody_else(origin):
    row = make_repository_watch(origin=origin, written_as="")
    stored = make_snapshot(tasks=[], repository_watches=[row])

    assert plan_watch_files(desire(watches=(ADOPTION,)), stored).plan.steps == ()
    assert plan_watch_files(desire(), stored).plan.steps == ()


def test_an_adoption_of_a_file_begins_and_ends_with_it():
    row = make_repository_watch(origin=FILE)

    made = plan_watch_files(desire(watches=(ADOPTION,)), make_snapshot(tasks=[]))
    ended = plan_watch_files(
        desire(), make_snapshot(tasks=[], repository_watches=[row])
    )

    assert [step.origin for step in made.plan.steps] == [FILE]
    assert ended.plan.steps == (RemoveRepositoryWatch(row),)


def test_interests_have_just_the_narrowings_of_each_workspace():
    acme = Narrowing(workspace="acme", sink="out")
    corp = Narrowing(workspace="corp", sink="out")
    other = Narrowing(workspace="acme", sink="hook")
    interests = (Interest(sink="out", narrowings=(corp, acme)), Interest(sink="hook"))

    out, hook = narrow_interests(interests, "acme", [other])

    assert (out.narrowings, hook.narrowings) == ((corp,), (other,))


def test_interests_lose_nothing_while_a_folder_is_not_read():
    old = Narrowing(workspace="acme", sink="out", events=frozenset({"a"}))
    new = Narrowing(workspace="acme", sink="hook")
    other = replace(new, events=frozenset({"b"}))
    interests = (
        Interest(sink="out", narrowings=(old,)),
        Interest(sink="hook", narrowings=(other,)),
    )

    out, hook = narrow_interests(interests, "acme", [new], is_final=False)

    assert (out.narrowings, hook.narrowings) == ((old,), (new,))


def test_nothing_ends_while_a_folder_is_not_read_and_what_is_new_begins():
    tasks = [
        make_task("1", external_id="old", origin=FILE),
        make_task("2", external_id="found", origin=Origin.ADOPTED),
    ]
    rows = [
        make_repository_watch(origin=FILE),
        make_repository_watch(origin=FILE, repository_id="", author="hubot"),
    ]
    stored = make_snapshot(tasks=tasks, repository_watches=rows)

    found = plan_watch_files(desire(TASK), stored, unread=("octo/team:lists",))

    until = "is declared no more, and kept until octo/team:lists is read as a whole"
    assert found.plan.steps == (AddTask(external_id="t", origin=FILE),)
    assert sorted(found.warnings) == [
        f"task old {until}",
        f"the watch on all by hubot {until}",
        f"the watch on all of octo/hello {until}",
    ]


def test_a_person_keeps_an_adoption_that_the_configuration_names_no_more():
    row = make_repository_watch(origin=Origin.COMMAND, written_as="octo/hello")
    stored = make_snapshot(tasks=[], repository_watches=[row])

    assert plan_tasks(desire(), stored, origins=CONFIG).steps == (Disown(row),)


def test_what_is_only_found_takes_nothing_over():
    task = make_task(origin=Origin.ADOPTED)
    found = DesiredTask(external_id="t", origin=Origin.ADOPTED)

    plan = plan_tasks(desire(found), make_snapshot(tasks=[task]), origins=frozenset())

    assert plan.steps == ()
