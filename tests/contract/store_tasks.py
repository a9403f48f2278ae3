"""Rows of workspaces, connections, tasks and what hangs on them; the snapshot."""

from dataclasses import replace

import pytest

from prwatch.domain.connection import Connection
from prwatch.domain.snapshot import Snapshot
from prwatch.domain.task import (
    Checkout,
    Origin,
    PullRequestLink,
    RepositoryWatch,
    TaskRepository,
    Workspace,
)
from prwatch.errors import NotFound
from prwatch.store import (
    connections,
    events,
    outbox,
    rate_limit,
    sessions,
    targets,
    task_pull_requests,
    tasks,
    watches,
)
from prwatch.store.rate_limit import RateLimitBlock
from tests.contract.store_rows import (
    WORKSPACE,
    at,
    make_discovered,
    make_event,
    make_repository,
    make_session,
    make_task,
    make_task_pull_request,
    make_watch,
)

CONNECTION = Connection(id="c1", workspace_id="w1", source="env", host="github.com")
ENTRY = TaskRepository(task_id="t1", repository_id="r1", position=1, branch="a")
LINK = PullRequestLink(task_id="t1", repository_id="r1", pr_number=12)
CHECKOUT = Checkout(
    session_id="s1",
    repository_id="r1",
    branch="a",
    worktree_path="/w",
    head_repository="m/h",
)
ADOPTION = RepositoryWatch(
    workspace_id="w1", repository_id="", author="me", origin=Origin.CONFIG
)
NOTHING_WRITTEN = (0, False)


async def fill(tx, task_id="t1", number=1):
    """Hang one of everything on a task."""
    session = make_session(number, task_id=task_id)
    await sessions.put_session(tx, session)
    await sessions.put_checkout(tx, replace(CHECKOUT, session_id=session.id))
    await targets.put_task_repository(tx, replace(ENTRY, task_id=task_id))
    await targets.put_link(tx, replace(LINK, task_id=task_id))
    await watches.add_watch(tx, make_watch(number, task_id=task_id))
    await task_pull_requests.put_task_pull_request(
        tx, make_task_pull_request(task_id=task_id)
    )


class TasksContract:
    """Runs on every backend over a workspace with two repositories and two tasks."""

    async def test_workspaces_are_found_by_name(self, store):
        second = Workspace(id="w2", name="aa")

        assert await store.write(connections.add_workspace, second)
        assert not await store.write(
            connections.add_workspace, Workspace(id="w3", name="aa")
        )
        assert await store.read(connections.list_workspaces) == [second, WORKSPACE]
        assert await store.read(connections.find_workspace, "acme") == WORKSPACE
        assert await store.read(connections.find_workspace, "none") is None

    async def test_a_workspace_has_one_connection(self, store):
        assert await store.read(connections.find_connection, "w1") is None
        assert await store.write(connections.put_connection, CONNECTION)
        changed = replace(CONNECTION, id="c9", account="user/7", generation=2)
        await store.write(connections.put_connection, changed)

        assert await store.read(connections.find_connection, "w1") == replace(
            changed, id="c1"
        )

    async def test_who_pays_is_noted_for_the_token_that_was_asked(self, store):
        await store.write(connections.put_connection, CONNECTION)
        put, paid = connections.put_account, replace(CONNECTION, account="user/7")

        assert await store.write(put, CONNECTION, "user/7")
        assert await store.rows_written_by(put, paid, "user/7") == NOTHING_WRITTEN
        replaced = replace(CONNECTION, generation=2)
        assert await store.rows_written_by(put, replaced, "user/8") == NOTHING_WRITTEN
        assert await store.read(connections.find_connection, "w1") == paid

    async def test_a_task_comes_back_as_it_was(self, store):
        task = make_task(3, title="naïve", origin=Origin.ADOPTED, archived_at=at(3))

        assert await store.write(tasks.add_task, task)

        assert await store.read(tasks.find_task, "w1", "T-3") == task
        assert await store.read(tasks.find_task, "w1", "T-4") is None
        assert await store.read(tasks.list_tasks, "w1") == [make_task(1), make_task(2)]
        assert await store.read(tasks.list_tasks, "w1", include_archived=True) == [
            make_task(1),
            make_task(2),
            task,
        ]

    async def test_a_name_is_taken_once(self, store):
        assert not await store.write(tasks.add_task, make_task(9, external_id="T-1"))

    async def test_a_title_is_put(self, store):
        assert await store.write(tasks.put_task_title, "t1", "new")
        assert await store.read(tasks.find_task, "w1", "T-1") == make_task(
            1, title="new"
        )

    async def test_archiving_ends_the_watches_and_keeps_the_history(self, store):
        await store.write(fill)
        await store.write(fill, "t2", 2)
        await store.write(watches.add_watch, make_discovered(3))

        assert await store.write(tasks.archive_task, "t1", at(5))
        assert not await store.write(tasks.archive_task, "t1", at(6))

        assert await store.read(tasks.find_task, "w1", "T-1") == make_task(
            1, archived_at=at(5)
        )
        assert [row.id for row in await store.read(watches.list_watches, "w1")] == [
            "p2"
        ]
        assert await store.read(
            task_pull_requests.list_task_pull_requests, task_id="t1"
        ) == [make_task_pull_request(is_past=True)]
        assert await store.read(
            task_pull_requests.list_task_pull_requests, task_id="t2"
        ) == [make_task_pull_request(task_id="t2")]

    async def test_an_unarchived_task_leaves_the_past_past(self, store):
        await store.write(fill)
        await store.write(tasks.archive_task, "t1", at(5))

        assert await store.write(tasks.unarchive_task, "t1")
        assert not await store.write(tasks.unarchive_task, "t1")

        assert await store.read(tasks.find_task, "w1", "T-1") == make_task(1)
        rows = await store.read(
            task_pull_requests.list_task_pull_requests, workspace_id="w1"
        )
        assert rows == [make_task_pull_request(is_past=True)]

    async def test_a_session_keeps_its_first_id(self, store):
        await store.write(sessions.put_session, make_session(1))
        await store.write(
            sessions.put_session, make_session(1, id="s9", state="waiting")
        )

        assert await store.read(sessions.list_sessions, "w1") == [
            make_session(1, state="waiting")
        ]

    async def test_a_session_ends_once(self, store):
        await store.write(sessions.put_session, make_session(1))

        assert await store.write(sessions.end_session, "s1", at(9))
        assert not await store.write(sessions.end_session, "s1", at(10))
        assert await store.read(sessions.list_sessions, "w1") == [
            make_session(1, state="ended", ended_at=at(9))
        ]

    @pytest.mark.parametrize(
        ("put", "list_all", "remove", "first", "second"),
        [
            pytest.param(
                targets.put_task_repository,
                targets.list_task_repositories,
                lambda tx, row: targets.remove_task_repository(
                    tx, row.task_id, row.repository_id
                ),
                ENTRY,
                replace(
                    ENTRY,
                    branch="b",
                    head_repository="me/x",
                    position=0,
                    written_as="octo/old",
                ),
                id="task repository",
            ),
            pytest.param(
                sessions.put_checkout,
                sessions.list_checkouts,
                sessions.remove_checkout,
                CHECKOUT,
                replace(CHECKOUT, branch="", head_repository=""),
                id="checkout",
            ),
            pytest.param(
                sessions.put_checkout,
                sessions.list_checkouts,
                sessions.remove_checkout,
                CHECKOUT,
                replace(CHECKOUT, written_as="octo/old"),
                id="checkout under another name",
            ),
            pytest.param(
                targets.put_repository_watch,
                targets.list_repository_watches,
                targets.remove_repository_watch,
                ADOPTION,
                replace(ADOPTION, origin=Origin.COMMAND),
                id="repository watch",
            ),
            pytest.param(
                targets.put_repository_watch,
                targets.list_repository_watches,
                targets.remove_repository_watch,
                ADOPTION,
                replace(ADOPTION, written_as="octo/old"),
                id="repository watch under another name",
            ),
            pytest.param(
                targets.put_link,
                targets.list_links,
                targets.remove_link,
                LINK,
                LINK,
                id="link",
            ),
            pytest.param(
                targets.put_link,
                targets.list_links,
                targets.remove_link,
                LINK,
                replace(LINK, written_as="octo/old"),
                id="link under another name",
            ),
        ],
    )
    async def test_a_row_is_put_replaced_and_removed(
        self, store, put, list_all, remove, first, second
    ):
        await store.write(sessions.put_session, make_session(1))

        assert await store.write(put, first)
        assert await store.read(list_all, "w1") == [first]
        assert await store.rows_written_by(put, first) == NOTHING_WRITTEN
        assert await store.write(put, second) == (second != first)
        assert await store.read(list_all, "w1") == [second]
        assert await store.write(remove, second)
        assert not await store.write(remove, second)
        assert await store.read(list_all, "w1") == []

    async def test_a_persons_link_is_released_and_an_of_an_entry_stays(self, store):
        await store.write(targets.put_link, LINK)
        of_an_entry = replace(LINK, pr_number=13, written_as="octo/old")
        await store.write(targets.put_link, of_an_entry)

        released = [
            await store.write(targets.release_link, link)
            for link in (LINK, LINK, of_an_entry)
        ]

        assert released == [True, False, False]
        assert await store.read(targets.list_links, "w1") == [of_an_entry]

    async def test_repositories_of_a_task_are_in_their_own_order(self, store):
        second = replace(ENTRY, repository_id="r2", position=0)
        await store.write(targets.put_task_repository, ENTRY)
        await store.write(targets.put_task_repository, second)

        assert await store.read(targets.list_task_repositories, "w1") == [second, ENTRY]

    @pytest.mark.parametrize(
        ("ended", "branch", "found"),
        [
            pytest.param(0, "a", "S-2", id="the newest"),
            pytest.param(2, "a", "S-1", id="the newest that has not ended"),
            pytest.param(0, "b", "", id="nobody on that branch"),
        ],
    )
    async def test_the_session_of_a_branch_is_found(self, store, ended, branch, found):
        for number in (1, 2):
            await store.write(sessions.put_session, make_session(number))
            await store.write(
                sessions.put_checkout, replace(CHECKOUT, session_id=f"s{number}")
            )
        await store.write(sessions.end_session, f"s{ended}", at(50))

        assert (
            await store.read(
                tasks.find_current_session,
                task_id="t1",
                repository_id="r1",
                branch=branch,
            )
            == found
        )

    async def test_a_snapshot_holds_what_active_tasks_have(self, store):
        await store.write(fill)
        await store.write(fill, "t2", 2)
        await store.write(targets.put_repository_watch, ADOPTION)
        await store.write(tasks.archive_task, "t2", at(5))

        snapshot = await store.read(tasks.load_snapshot, "w1")

        assert snapshot == Snapshot(
            workspace=WORKSPACE,
            repositories=(make_repository(1), make_repository(2)),
            tasks=(make_task(1),),
            task_repositories=(ENTRY,),
            links=(LINK,),
            sessions=(make_session(1),),
            checkouts=(CHECKOUT,),
            repository_watches=(ADOPTION,),
            watches=(make_watch(1),),
            task_pull_requests=(make_task_pull_request(),),
        )

    async def test_a_snapshot_may_hold_archived_tasks_too(self, store):
        await store.write(fill, "t2", 2)
        await store.write(tasks.archive_task, "t2", at(5))

        snapshot = await store.read(
            tasks.load_snapshot, WORKSPACE, include_archived=True
        )

        assert snapshot.tasks == (make_task(1), make_task(2, archived_at=at(5)))
        assert snapshot.sessions == (make_session(2, task_id="t2"),)
        assert snapshot.links == (replace(LINK, task_id="t2"),)

    async def test_a_snapshot_of_nobody_is_an_error(self, store):
        with pytest.raises(NotFound):
            await store.read(tasks.load_snapshot, "w9")

    async def test_nothing_crosses_workspaces(self, store):
        await store.write(connections.add_workspace, Workspace(id="w2", name="two"))
        await store.write(fill)

        assert await store.read(tasks.load_snapshot, "w2") == Snapshot(
            workspace=Workspace(id="w2", name="two")
        )

    async def test_what_is_equal_is_not_written(self, store):
        await store.write(fill)
        await store.write(connections.put_connection, CONNECTION)

        assert await store.rows_written_by(fill) == NOTHING_WRITTEN
        for function, values in (
            (connections.put_connection, (CONNECTION,)),
            (connections.add_workspace, (WORKSPACE,)),
            (tasks.add_task, (make_task(1),)),
            (tasks.put_task_title, ("t1", "")),
            (tasks.unarchive_task, ("t1",)),
            (tasks.archive_task, ("t9", at(0))),
        ):
            written = await store.rows_written_by(function, *values)
            assert (function.__name__, written) == (function.__name__, NOTHING_WRITTEN)

    async def test_a_limit_is_remembered_until_it_ends(self, store):
        await store.write(rate_limit.put_block, "user/1", "core", at(10))
        await store.write(rate_limit.put_block, "user/1", "core", at(20))
        await store.write(rate_limit.put_block, "user/1", "search", at(5))

        assert (
            await store.rows_written_by(rate_limit.put_block, "user/1", "core", at(20))
            == NOTHING_WRITTEN
        )
        assert await store.read(rate_limit.list_blocks, at(5)) == [
            RateLimitBlock(account="user/1", bucket="core", blocked_until=at(20))
        ]
        assert await store.write(rate_limit.remove_ended_blocks, at(5)) == 1
        assert await store.write(rate_limit.remove_ended_blocks, at(5)) == 0
        assert await store.write(rate_limit.remove_blocks, "user/2") == 0
        assert await store.write(rate_limit.remove_blocks, "user/1") == 1

    async def test_events_survive_their_task(self, store):
        await store.write(outbox.add_events, [make_event()], {}, at(0))
        await store.write(tasks.archive_task, "t1", at(5))

        record = await store.read(events.get_event, "e1")
        assert record.event == make_event()
