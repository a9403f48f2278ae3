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
    ArchiveTask,
    Disown,
    EndSession,
    NameTask,
    PutCheckout,
    PutLink,
    PutRepositoryWatch,
    PutSession,
    PutTaskRepository,
    RemoveCheckout,
    RemoveLink,
    RemoveRepositoryWatch,
    RemoveTaskRepository,
    RetitleTask,
    TaskPlan,
    UnarchiveTask,
)
from prwatch.domain.pull_request import PullRequestState, RepositoryName
from prwatch.domain.task import Origin
from tests.workspace_rows import (
    ARCHIVED_AT,
    make_checkout,
    make_link,
    make_repository_watch,
    make_session,
    make_snapshot,
    make_task,
    make_task_pull_request,
    make_task_repository,
)

HELLO = RepositoryName("octo", "hello", "R_hello")
WRITTEN = "octo/hello"
CONFIG = frozenset({Origin.CONFIG, Origin.ADOPTED})
OWN = make_task(origin=Origin.CONFIG)
FIX = DesiredRepository(owner="octo", name="hello", branch="fix")


def tasks(*desired, watches=()):
    return DesiredWorkspace(name="acme", tasks=desired, repository_watches=watches)


def plan(desired, stored, *, origins=CONFIG, login=""):
    return plan_tasks(desired, stored, origins=origins, login=login).steps


def test_a_first_start_adds_everything_once():
    hello = RepositoryName("octo", "hello")
    desired = tasks(
        DesiredTask(
            external_id="T-1",
            title="Fix the login",
            repositories=(FIX,),
            sessions=(
                DesiredSession(
                    id="S-1",
                    checkouts=(
                        DesiredCheckout(owner="octo", name="Hello", branch="fix"),
                    ),
                ),
            ),
        ),
        DesiredTask(
            external_id="octo/hello#12",
            repositories=(
                DesiredRepository(owner="octo", name="hello", pull_request=12),
            ),
        ),
        watches=(
            DesiredRepositoryWatch(owner="octo", name="docs"),
            DesiredRepositoryWatch(author="@me"),
        ),
    )

    planned = plan_tasks(
        desired, make_snapshot(repositories=[], tasks=[]), origins=CONFIG
    )

    assert planned.steps == (
        AddRepository(hello),
        AddRepository(RepositoryName("octo", "docs")),
        AddTask(external_id="T-1", origin=Origin.CONFIG, title="Fix the login"),
        PutTaskRepository(
            task="T-1",
            repository=hello,
            position=0,
            branch="fix",
            written_as="octo/hello",
        ),
        PutSession(task="T-1", session="S-1"),
        PutCheckout(
            task="T-1",
            session="S-1",
            repository=RepositoryName("octo", "Hello"),
            branch="fix",
            written_as="octo/Hello",
        ),
        AddTask(external_id="octo/hello#12", origin=Origin.CONFIG),
        PutLink(
            task="octo/hello#12",
            repository=hello,
            pr_number=12,
            written_as="octo/hello",
        ),
        PutRepositoryWatch(
            repository=RepositoryName("octo", "docs"),
            author="",
            origin=Origin.CONFIG,
            written_as="octo/docs",
        ),
        PutRepositoryWatch(repository=None, author="@me", origin=Origin.CONFIG),
    )
    assert str(planned).splitlines() == [
        "add repository octo/hello",
        "add repository octo/docs",
        "add task T-1",
        "put octo/hello fix in task T-1",
        "put session S-1 of task T-1",
        "put checkout octo/Hello fix of session S-1",
        "add task octo/hello#12",
        "link octo/hello#12 to task octo/hello#12",
        "adopt from octo/docs",
        "adopt from everything @me",
    ]


def test_what_is_stored_already_plans_nothing():
    session = DesiredSession(
        id="s", checkouts=(DesiredCheckout(owner="Octo", name="hello", branch="fix"),)
    )
    twelve = DesiredRepository(owner="octo", name="hello", pull_request=12)
    desired = tasks(
        DesiredTask(external_id="t", repositories=(FIX, twelve), sessions=(session,)),
        watches=(DesiredRepositoryWatch(owner="octo", name="hello", author="mona"),),
    )
    stored = make_snapshot(
        tasks=[OWN],
        task_repositories=[make_task_repository("fix", written_as=WRITTEN)],
        links=[make_link(12, written_as=WRITTEN)],
        sessions=[make_session()],
        checkouts=[make_checkout(branch="fix", written_as=WRITTEN)],
        repository_watches=[make_repository_watch(author="mona", written_as=WRITTEN)],
    )

    planned = plan_tasks(desired, stored, origins=CONFIG)

    assert planned == TaskPlan()
    assert planned.is_empty
    assert str(planned) == "nothing to do"


@pytest.mark.parametrize(
    ("origin", "origins", "is_archived"),
    [
        pytest.param(Origin.CONFIG, CONFIG, True, id="the file's own"),
        pytest.param(
            Origin.WORKTREE, frozenset({Origin.WORKTREE}), True, id="a worktree"
        ),
        pytest.param(Origin.WORKTREE, CONFIG, False, id="of another source"),
        pytest.param(Origin.COMMAND, CONFIG, False, id="a person's"),
        pytest.param(
            Origin.API, frozenset({Origin.API}), False, id="cannot vanish by itself"
        ),
    ],
)
def test_only_what_the_source_made_vanishes_with_its_entry(
    origin, origins, is_archived
):
    task = make_task(origin=origin)

    planned = plan(tasks(), make_snapshot(tasks=[task]), origins=origins)

    assert planned == ((ArchiveTask(task),) if is_archived else ())


def test_an_archived_task_is_not_archived_again():
    task = make_task(origin=Origin.CONFIG, archived_at=ARCHIVED_AT)

    assert plan(tasks(), make_snapshot(tasks=[task])) == ()


def test_an_entry_that_returns_unarchives_its_task():
    task = make_task(origin=Origin.CONFIG, archived_at=ARCHIVED_AT)

    planned = plan(tasks(DesiredTask(external_id="t")), make_snapshot(tasks=[task]))

    assert planned == (UnarchiveTask(task),)


@pytest.mark.parametrize(
    ("origin", "before", "after", "is_retitled"),
    [
        pytest.param(Origin.CONFIG, "Old", "New", True, id="own"),
        pytest.param(Origin.CONFIG, "Old", "", True, id="own, taken away"),
        pytest.param(Origin.COMMAND, "Old", "New", True, id="a person's"),
        pytest.param(Origin.COMMAND, "Old", "", False, id="a person's, not named"),
        pytest.param(Origin.CONFIG, "Old", "Old", False, id="equal"),
    ],
)
def test_a_title_follows_its_entry(origin, before, after, is_retitled):
    task = make_task(origin=origin, title=before)

    planned = plan(
        tasks(DesiredTask(external_id="t", title=after)), make_snapshot(tasks=[task])
    )

    assert planned == ((RetitleTask(task, after),) if is_retitled else ())


@pytest.mark.parametrize(
    ("task", "is_removed"),
    [
        pytest.param(OWN, True, id="the file's own"),
        pytest.param(make_task(), False, id="a person's"),
    ],
)
def test_rows_that_an_entry_dropped_go_only_from_the_sources_own_task(task, is_removed):
    repository = make_task_repository("fix")
    session = make_session()
    checkout = make_checkout(branch="fix")
    stored = make_snapshot(
        tasks=[task],
        task_repositories=[repository],
        links=[make_link(12)],
        sessions=[session, make_session("s2", ended_at=ARCHIVED_AT)],
        checkouts=[checkout],
    )

    planned = plan(tasks(DesiredTask(external_id="t")), stored)

    removed = (
        RemoveTaskRepository(repository),
        RemoveCheckout(checkout),
        EndSession(session),
    )
    assert planned == (removed if is_removed else ())


def test_a_changed_branch_is_put_again():
    stored = make_snapshot(
        tasks=[OWN],
        task_repositories=[make_task_repository("old")],
        sessions=[make_session()],
        checkouts=[make_checkout(branch="old"), make_checkout(worktree_path="/gone")],
    )
    checkout = DesiredCheckout(
        owner="octo", name="hello", branch="fix", head_repository="me/hello"
    )
    desired = DesiredTask(
        external_id="t",
        repositories=(FIX, FIX),
        sessions=(DesiredSession(id="s", checkouts=(checkout, checkout)),),
    )

    assert plan(tasks(desired), stored) == (
        PutTaskRepository(
            task="t", repository=HELLO, position=0, branch="fix", written_as=WRITTEN
        ),
        PutCheckout(
            task="t",
            session="s",
            repository=HELLO,
            branch="fix",
            head_repository="me/hello",
            written_as=WRITTEN,
        ),
        RemoveCheckout(make_checkout(worktree_path="/gone")),
    )


@pytest.mark.parametrize(
    ("checkouts", "runs_again"),
    [
        pytest.param([], True, id="its source had dropped it"),
        pytest.param(
            [make_checkout(branch="fix", written_as=WRITTEN)],
            False,
            id="somebody ended it",
        ),
    ],
)
def test_an_ended_session_runs_again_only_if_its_source_had_dropped_it(
    checkouts, runs_again
):
    session = DesiredSession(
        id="s", checkouts=(DesiredCheckout(owner="octo", name="hello", branch="fix"),)
    )
    stored = make_snapshot(
        tasks=[OWN],
        sessions=[make_session(ended_at=ARCHIVED_AT)],
        checkouts=checkouts,
    )

    planned = plan(tasks(DesiredTask(external_id="t", sessions=(session,))), stored)

    put = (
        PutSession(task="t", session="s"),
        PutCheckout(
            task="t", session="s", repository=HELLO, branch="fix", written_as=WRITTEN
        ),
    )
    assert planned == (put if runs_again else ())


def test_a_repository_watch_that_its_entry_dropped_goes():
    own = make_repository_watch()
    command = make_repository_watch(author="mona", origin=Origin.COMMAND)
    stored = make_snapshot(tasks=[], repository_watches=[own, command])

    planned = plan_tasks(tasks(), stored, origins=CONFIG)

    assert planned.steps == (RemoveRepositoryWatch(own),)
    assert str(planned) == "stop adopting from hello"
    assert plan(tasks(), stored, origins=frozenset({Origin.WORKTREE})) == ()


@pytest.mark.parametrize(
    ("watch", "login", "is_archived"),
    [
        pytest.param(None, "", True, id="no repository watch is left"),
        pytest.param(
            DesiredRepositoryWatch(owner="octo", name="docs"), "", True, id="another"
        ),
        pytest.param(
            DesiredRepositoryWatch(owner="octo", name="hello"), "", False, id="its own"
        ),
        pytest.param(
            DesiredRepositoryWatch(author="Mona"), "", False, id="the author's"
        ),
        pytest.param(
            DesiredRepositoryWatch(author="hubot"), "", True, id="another author's"
        ),
        pytest.param(
            DesiredRepositoryWatch(author="@me"), "mona", False, id="its author is me"
        ),
        pytest.param(
            DesiredRepositoryWatch(author="@me"), "hubot", True, id="I am another"
        ),
        pytest.param(
            DesiredRepositoryWatch(author="@me"), "", False, id="who I am is unknown"
        ),
    ],
)
def test_an_adopted_task_ends_with_its_last_repository_watch(watch, login, is_archived):
    task = make_task(external_id="octo/hello#12", origin=Origin.ADOPTED)
    stored = make_snapshot(tasks=[task], task_pull_requests=[make_task_pull_request()])
    desired = tasks(watches=(watch,) if watch else ())

    steps = plan(desired, stored, login=login)

    archived = [step for step in steps if isinstance(step, ArchiveTask)]
    assert archived == ([ArchiveTask(task)] if is_archived else [])


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(
            {
                "repository_watches": [
                    make_repository_watch(origin=Origin.COMMAND, repository_id="")
                ]
            },
            id="a person's repository watch",
        ),
        pytest.param({"task_pull_requests": []}, id="not read yet"),
    ],
)
def test_an_adopted_task_that_something_else_holds_stays(rows):
    task = make_task(external_id="octo/hello#12", origin=Origin.ADOPTED)
    stored = make_snapshot(
        tasks=[task],
        **{"task_pull_requests": [make_task_pull_request(author=None)], **rows},
    )

    assert plan(tasks(), stored) == ()


def test_an_adopted_task_that_an_entry_names_is_the_entrys_from_now_on():
    task = make_task(external_id="octo/hello#12", origin=Origin.ADOPTED)
    stored = make_snapshot(
        tasks=[task],
        task_repositories=[make_task_repository()],
        task_pull_requests=[make_task_pull_request()],
    )
    entry = DesiredTask(
        external_id="octo/hello#12",
        repositories=(DesiredRepository(owner="octo", name="hello", pull_request=12),),
    )

    assert plan(tasks(entry), stored) == (
        NameTask(task, Origin.CONFIG),
        PutLink(
            task="octo/hello#12", repository=HELLO, pr_number=12, written_as=WRITTEN
        ),
    )


def test_an_adopted_task_that_ended_with_its_merge_is_not_begun_again():
    task = make_task(
        external_id="octo/hello#12", origin=Origin.ADOPTED, archived_at=ARCHIVED_AT
    )
    merged = make_task_pull_request(state=PullRequestState.MERGED, is_past=True)
    entry = DesiredTask(
        external_id="octo/hello#12",
        repositories=(DesiredRepository(owner="octo", name="hello", pull_request=12),),
    )
    stored = make_snapshot(tasks=[task], task_pull_requests=[merged])

    assert plan(tasks(entry), stored) == ()


def test_the_steps_that_take_away_print_too():
    planned = TaskPlan(
        (
            UnarchiveTask(OWN),
            NameTask(OWN, Origin.CONFIG),
            RetitleTask(OWN, "New"),
            RemoveTaskRepository(make_task_repository("fix")),
            EndSession(make_session()),
            RemoveCheckout(make_checkout(worktree_path="/src/a")),
            RemoveLink(make_link(12)),
            Disown(make_link(12, written_as=WRITTEN)),
            ArchiveTask(OWN),
        )
    )

    assert str(planned).splitlines() == [
        "unarchive task t",
        "name task t as of config",
        "retitle task t",
        "remove repository hello of t",
        "end session s",
        "remove checkout /src/a of session s",
        "unlink #12 from t",
        "leave octo/hello to whoever else asked for it",
        "archive task t",
    ]
