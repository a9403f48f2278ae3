from dataclasses import replace

import pytest

from prwatch.domain.configured_plan import plan_configured
from prwatch.domain.desired import (
    DesiredRepositoryWatch,
    DesiredTask,
    DesiredWorkspace,
)
from prwatch.domain.desired_steps import (
    AddTask,
    ArchiveTask,
    NameTask,
    PutRepositoryWatch,
    RemoveRepositoryWatch,
)
from prwatch.domain.pull_request import RepositoryName
from prwatch.domain.task import Origin
from tests.workspace_rows import (
    ARCHIVED_AT,
    make_repository_watch,
    make_snapshot,
    make_task,
    make_task_pull_request,
)

ORIGINS = frozenset({Origin.CONFIG, Origin.ADOPTED})
TASK = DesiredTask(external_id="t", origin=Origin.WATCH_FILE)
ADOPTION = DesiredRepositoryWatch(owner="octo", name="hello", origin=Origin.WATCH_FILE)
EVERYTHING = DesiredRepositoryWatch(author="@me", origin=Origin.WATCH_FILE)
NOTHING = DesiredWorkspace(name="acme")
FILES = DesiredWorkspace(
    name="acme", tasks=(TASK,), repository_watches=(ADOPTION, EVERYTHING)
)
OURS = make_task("t", origin=Origin.CONFIG)


def plan(desired, stored, *, declared=FILES, is_final=True):
    return plan_configured(
        desired, stored, declared=declared, origins=ORIGINS, is_final=is_final
    ).steps


def test_what_is_named_no_more_goes_to_the_file_that_declares_it():
    stored = make_snapshot(
        tasks=(OURS, make_task("u", origin=Origin.CONFIG)),
        repository_watches=(
            make_repository_watch(origin=Origin.CONFIG),
            make_repository_watch(repository_id="", author="@me", origin=Origin.CONFIG),
        ),
    )

    assert plan(NOTHING, stored) == (
        NameTask(stored.tasks[0], Origin.WATCH_FILE),
        PutRepositoryWatch(
            repository=RepositoryName("octo", "hello", "R_hello"),
            author="",
            origin=Origin.WATCH_FILE,
            written_as=stored.repository_watches[0].written_as,
        ),
        PutRepositoryWatch(
            repository=None,
            author="@me",
            origin=Origin.WATCH_FILE,
            written_as=stored.repository_watches[1].written_as,
        ),
        ArchiveTask(stored.tasks[1]),
    )


@pytest.mark.parametrize(
    "task",
    [
        make_task("t", origin=Origin.COMMAND),
        make_task("t", origin=Origin.WATCH_FILE),
        replace(OURS, archived_at=ARCHIVED_AT),
    ],
)
def test_only_what_is_the_configurations_is_handed_over(task):
    assert plan(NOTHING, make_snapshot(tasks=(task,))) == ()


def test_what_is_still_named_is_not_handed_over():
    wanted = DesiredWorkspace(name="acme", tasks=(DesiredTask(external_id="t"),))

    assert plan(wanted, make_snapshot(tasks=(OURS,))) == ()


def test_nothing_ends_before_the_files_were_read_and_new_entries_begin():
    stored = make_snapshot(
        tasks=(OURS, make_task("found", origin=Origin.ADOPTED)),
        repository_watches=(make_repository_watch(origin=Origin.CONFIG),),
        task_pull_requests=(make_task_pull_request(task_id="found"),),
    )
    wanted = DesiredWorkspace(name="acme", tasks=(DesiredTask(external_id="new"),))
    new = AddTask(external_id="new", origin=Origin.CONFIG)

    waiting = plan(wanted, stored, declared=NOTHING, is_final=False)
    final = plan(wanted, stored, declared=NOTHING)

    assert waiting == (new,)
    assert final == (
        new,
        RemoveRepositoryWatch(stored.repository_watches[0]),
        ArchiveTask(stored.tasks[1]),
        ArchiveTask(stored.tasks[0]),
    )
