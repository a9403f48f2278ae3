"""Rows of repositories, and two rows that turn out to be one repository."""

from dataclasses import replace

import anyio
import pytest

from prwatch.domain.task import (
    Checkout,
    Origin,
    PullRequestLink,
    RepositoryWatch,
    TaskRepository,
    Workspace,
)
from prwatch.errors import StoreConflict
from prwatch.store import (
    connections,
    events,
    outbox,
    repositories,
    sessions,
    targets,
    task_pull_requests,
    watches,
)
from tests.contract.store_rows import (
    at,
    make_discovered,
    make_event,
    make_observation,
    make_repository,
    make_session,
    make_task_pull_request,
    make_watch,
)

OLD_NAME = make_repository(3, name="old", node_id="")
"""A row that has not been asked about; GitHub will say that it is repository 1."""

ENTRY = TaskRepository(task_id="t1", repository_id="r3")
CHECKOUT = Checkout(session_id="s1", repository_id="r3")
LINK = PullRequestLink(task_id="t1", repository_id="r3", pr_number=4)
ADOPTION = RepositoryWatch(
    workspace_id="w1", repository_id="r3", author="", origin=Origin.CONFIG
)
PUTS = (
    targets.put_task_repository,
    sessions.put_checkout,
    targets.put_link,
    targets.put_repository_watch,
)
LISTS = (
    targets.list_task_repositories,
    sessions.list_checkouts,
    targets.list_links,
    targets.list_repository_watches,
)


class RepositoriesContract:
    """Runs on every backend over a workspace with two repositories and two tasks."""

    async def test_a_repository_comes_back_as_it_was(self, store):
        repository = make_repository(
            3,
            host="ghe.example",
            default_branch="trunk",
            parent_node_id="R_9",
            parent_name_with_owner="up/stream",
            is_archived=True,
        )

        assert await store.write(repositories.add_repository, repository)

        assert await store.read(repositories.find_repository_by_id, "r3") == repository
        assert await store.read(repositories.list_repositories, "w1") == [
            make_repository(1),
            make_repository(2),
            repository,
        ]

    @pytest.mark.parametrize(
        ("owner", "name", "found"),
        [
            pytest.param("octo", "hello1", "r1", id="as it is spelled"),
            pytest.param("OCTO", "Hello1", "r1", id="in another case"),
            pytest.param("octo", "hello", None, id="another name"),
        ],
    )
    async def test_a_repository_is_found_by_name(self, store, owner, name, found):
        row = await store.read(repositories.find_repository, "w1", owner, name)

        assert (row.id if row else None) == found

    async def test_of_two_with_a_name_the_known_one_is_found(self, store):
        first = make_repository(3, name="both", node_id="")
        await store.write(repositories.add_repository, first)
        second = make_repository(4, name="other", node_id="R_4")
        await store.write(repositories.add_repository, second)
        await store.write(
            repositories.put_repository_facts, replace(second, name="both")
        )

        row = await store.read(repositories.find_repository, "w1", "octo", "both")

        assert row == replace(second, name="both")

    @pytest.mark.parametrize(
        ("repository", "is_added"),
        [
            pytest.param(make_repository(3), True, id="new"),
            pytest.param(make_repository(3, node_id="R_1"), False, id="known node id"),
            pytest.param(
                make_repository(3, name="HELLO1", node_id=""), False, id="known name"
            ),
            pytest.param(
                make_repository(3, name="hello1"), True, id="another one took the name"
            ),
            pytest.param(make_repository(3, workspace_id="w2"), True, id="elsewhere"),
        ],
    )
    async def test_a_repository_is_added_once(self, store, repository, is_added):
        await store.write(connections.add_workspace, Workspace(id="w2", name="two"))

        assert await store.write(repositories.add_repository, repository) == is_added

    async def test_facts_are_written_once(self, store):
        known = make_repository(
            1, name="renamed", default_branch="main", is_archived=True
        )

        assert await store.write(repositories.put_repository_facts, known) == known
        assert await store.rows_written_by(
            repositories.put_repository_facts, known
        ) == (
            0,
            False,
        )
        assert await store.read(repositories.find_repository_by_id, "r1") == known

    async def test_the_first_answer_gives_the_node_id(self, store):
        await store.write(repositories.add_repository, OLD_NAME)
        known = replace(OLD_NAME, node_id="R_3", owner="Octo")

        assert await store.write(repositories.put_repository_facts, known) == known
        assert await store.read(repositories.find_repository_by_id, "r3") == known

    @pytest.mark.parametrize(
        "answer",
        [
            pytest.param(make_repository(1, node_id="R_2", name="x"), id="known"),
            pytest.param(make_repository(1, node_id="R_8", name="x"), id="unknown"),
        ],
    )
    async def test_facts_of_another_repository_change_nothing(self, store, answer):
        row = await store.write(repositories.put_repository_facts, answer)

        assert row == make_repository(1)
        assert await store.read(repositories.list_repositories, "w1") == [
            make_repository(1),
            make_repository(2),
        ]

    async def test_a_node_id_is_never_taken_away(self, store):
        answer = make_repository(1, node_id="", default_branch="main")

        row = await store.write(repositories.put_repository_facts, answer)

        assert row == make_repository(1, default_branch="main")
        assert await store.read(repositories.find_repository_by_id, "r1") == row

    @pytest.mark.parametrize("node_id", ["R_3", ""])
    async def test_facts_of_a_row_that_is_gone_reach_its_name(self, store, node_id):
        await store.write(repositories.add_repository, OLD_NAME)
        answer = make_repository(9, name="OLD", node_id=node_id)

        row = await store.write(repositories.put_repository_facts, answer)

        assert row == replace(answer, id="r3")
        assert await store.read(repositories.find_repository_by_id, "r3") == row

    @pytest.mark.parametrize("name", ["hello1", "nowhere"])
    async def test_a_repository_that_is_gone_is_a_conflict(self, store, name):
        answer = make_repository(9, name=name)

        with pytest.raises(StoreConflict):
            await store.write(repositories.put_repository_facts, answer)

    async def merge(self, store):
        return await store.write(
            repositories.put_repository_facts,
            replace(make_repository(1), id="r3", default_branch="main"),
        )

    async def test_two_names_of_one_repository_become_one_row(self, store):
        await store.write(repositories.add_repository, OLD_NAME)

        survivor = await self.merge(store)

        assert survivor == make_repository(1, default_branch="main")
        assert await store.read(repositories.list_repositories, "w1") == [
            survivor,
            make_repository(2),
        ]
        assert await self.merge(store) == survivor

    async def test_a_merge_takes_along_what_hangs_on_the_row(self, store):
        await store.write(repositories.add_repository, OLD_NAME)
        await store.write(sessions.put_session, make_session(1))
        before = (
            replace(ENTRY, branch="a", written_as="octo/old"),
            replace(CHECKOUT, branch="a", written_as="octo/old"),
            replace(LINK, written_as="octo/old"),
            replace(ADOPTION, written_as="octo/old"),
        )
        for put, row in zip(PUTS, before, strict=True):
            await store.write(put, row)
        await store.write(watches.add_watch, make_watch(1, repository_id="r3"))
        pull_request = make_task_pull_request(repository_id="r3")
        await store.write(task_pull_requests.put_task_pull_request, pull_request)

        await self.merge(store)

        after = [(await store.read(list_all, "w1"))[0] for list_all in LISTS]
        assert after == [replace(row, repository_id="r1") for row in before]
        assert await store.read(watches.list_watches, "w1") == [make_watch(1)]
        assert await store.read(
            task_pull_requests.list_task_pull_requests, workspace_id="w1"
        ) == [make_task_pull_request()]

    async def test_a_merge_resolves_what_both_have(self, store):
        await store.write(repositories.add_repository, OLD_NAME)
        mine = TaskRepository(task_id="t1", repository_id="r1", branch="")
        await store.write(targets.put_task_repository, mine)
        await store.write(
            targets.put_task_repository, replace(mine, repository_id="r3", branch="b")
        )
        older, newer = make_discovered(1, seconds=1), make_discovered(2, seconds=9)
        await store.write(watches.add_watch, replace(older, revision=5))
        await store.write(watches.add_watch, replace(newer, repository_id="r3"))
        for key, seconds in (("r1", 1), ("r3", 9)):
            row = make_task_pull_request(
                repository_id=key,
                observed_at=at(seconds),
                observation=make_observation(seconds=seconds, title=f"{seconds}"),
            )
            await store.write(task_pull_requests.put_task_pull_request, row)

        await self.merge(store)

        assert await store.read(targets.list_task_repositories, "w1") == [
            replace(mine, branch="b")
        ]
        assert await store.read(watches.list_watches, "w1") == [
            replace(
                older,
                revision=5,
                branch=newer.branch,
                watermark=newer.watermark,
                fingerprint=newer.fingerprint,
            )
        ]
        rows = await store.read(
            task_pull_requests.list_task_pull_requests, workspace_id="w1"
        )
        assert [row.observation.title for row in rows] == ["9"]

    @pytest.mark.parametrize(
        ("survivors", "losers", "kept"),
        [
            pytest.param("octo/older", "octo/old", "octo/older", id="both former"),
            pytest.param("Octo/Hello1", "octo/old", "octo/old", id="a present one"),
            pytest.param("octo/old", "octo/hello1", "octo/old", id="the other's"),
            pytest.param("", "octo/old", "octo/old", id="the only one"),
            pytest.param("octo/hello1", "", "octo/hello1", id="nobody's"),
        ],
    )
    async def test_a_merge_keeps_the_written_name_that_is_no_longer_the_present_one(
        self, store, survivors, losers, kept
    ):
        await store.write(repositories.add_repository, OLD_NAME)
        await store.write(sessions.put_session, make_session(1))
        rows = (ENTRY, CHECKOUT, LINK, ADOPTION)
        for put, row in zip(PUTS, rows, strict=True):
            await store.write(put, replace(row, written_as=losers))
            await store.write(
                put, replace(row, repository_id="r1", written_as=survivors)
            )

        await self.merge(store)

        after = [await store.read(list_all, "w1") for list_all in LISTS]
        assert after == [
            [replace(row, repository_id="r1", written_as=kept)] for row in rows
        ]

    async def test_a_repository_is_found_by_its_node_id(self, store):
        async def find(node_id, workspace_id="w1"):
            return await store.read(
                repositories.find_repository_by_node_id, workspace_id, node_id
            )

        await store.write(repositories.add_repository, OLD_NAME)

        found = [await find("R_2"), await find("R_9"), await find("")]
        assert found == [make_repository(2), None, None]
        assert await find("R_2", "w2") is None

    async def test_a_merge_keeps_deliveries_in_their_order(self, store):
        await store.write(repositories.add_repository, OLD_NAME)
        for number, key in ((1, "r3"), (2, "r1")):
            event = make_event(number, repository_id=key)
            await store.write(outbox.add_events, [event], {event.id: ["hook"]}, at(0))

        await self.merge(store)

        taken = await store.write(
            outbox.acquire_deliveries,
            sink="hook",
            now=at(1),
            lease_until=at(60),
            lease_token="l1",
            limit=10,
        )
        assert [delivery.event.id for delivery in taken] == ["e1"]
        record = await store.read(events.get_event, "e1")
        assert record.event.repository_id == "r1"

    async def test_two_answers_at_once_leave_one_row(self, store):
        for number in (3, 4):
            await store.write(
                repositories.add_repository,
                make_repository(number, name=f"name{number}", node_id=""),
            )
        answers = []

        async def answer(number):
            facts = make_repository(number, name="same", node_id="R_same")
            answers.append(await store.write(repositories.put_repository_facts, facts))

        async with anyio.create_task_group() as group:
            group.start_soon(answer, 3)
            group.start_soon(answer, 4)

        assert answers[0] == answers[1]
        rows = await store.read(repositories.list_repositories, "w1")
        assert [row.node_id for row in rows] == ["R_1", "R_2", "R_same"]
