"""Rows of review watches, of what they know, and of what became of it."""

import dataclasses
import datetime as dt
from dataclasses import replace

import anyio
import pytest

from prwatch.domain.review_watch import (
    RESERVED_FOR,
    CleanupPolicy,
    IncompleteReason,
    ReviewedPullRequest,
    ReviewScope,
    ReviewSettings,
    ReviewTask,
    ReviewWatch,
)
from prwatch.domain.task import Origin, Workspace
from prwatch.store import connections, review_tasks, review_watches, tasks
from tests.contract.store_backends import NOW
from tests.contract.store_rows import at

SETTINGS = ReviewSettings(
    scope=ReviewScope.USER_AND_TEAMS,
    repositories=("octo/hello", "octo/naïve"),
    organisations=("octo",),
    query='is:pr label:"it\'s"',
    target_login="ada",
    interval=dt.timedelta(minutes=7),
    policy=CleanupPolicy.ALWAYS,
    is_enabled=False,
)


def make_review_watch(number=1, **changes):
    values = {
        "id": f"v{number}",
        "workspace_id": "w1",
        "name": f"mine{number}",
        "origin": Origin.COMMAND,
        "created_at": NOW,
        **changes,
    }
    return ReviewWatch(**values)


def make_pull_request(number=12):
    return ReviewedPullRequest(
        owner="octo",
        name="hello",
        number=number,
        node_id=f"PR_{number}",
        repository_node_id="R_1",
    )


def make_review_task(number=12, **changes):
    values = {
        "id": f"d{number}",
        "workspace_id": "w1",
        "review_watch_id": "v1",
        "policy": CleanupPolicy.AUTO,
        "pull_request": make_pull_request(number),
        "reserved_at": NOW,
        "reserved_by": "poller",
        "created_at": NOW,
        **changes,
    }
    return ReviewTask(**values)


class ReviewWatchesContract:
    """Runs on every backend."""

    @pytest.fixture
    async def watch(self, store):
        watch = make_review_watch()
        await store.write(review_watches.add_review_watch, watch)
        return watch

    async def test_watches_come_back_as_they_were_by_name(self, store, watch):
        full = make_review_watch(
            2,
            name="Mine",
            settings=SETTINGS,
            origin=Origin.WATCH_FILE,
            written_as=".prwatch/a.toml",
            revision=3,
            last_error="no such team",
            incomplete_since=at(1),
            incomplete_reason=IncompleteReason.OVER_CAP,
            backlog_done_at=at(2),
        )
        assert await store.write(review_watches.add_review_watch, full)

        found = await store.read(review_watches.list_review_watches, "w1")

        assert found == [full, watch]
        assert await store.read(review_watches.list_review_watches, "w2") == []

    async def test_a_name_is_taken_once_in_a_workspace(self, store, watch):
        await store.write(connections.add_workspace, Workspace(id="w2", name="two"))
        same = make_review_watch(2, name=watch.name)

        assert not await store.write(review_watches.add_review_watch, same)
        other = replace(same, workspace_id="w2")
        assert await store.write(review_watches.add_review_watch, other)

        find = review_watches.find_review_watch
        assert await store.read(find, "w1", watch.name) == watch
        assert await store.read(find, "w2", watch.name) == other
        assert await store.read(find, "w1", "nothing") is None

    @pytest.mark.parametrize(
        "part",
        [each.name for each in dataclasses.fields(ReviewSettings)],
    )
    async def test_each_edit_is_a_revision_and_an_equal_one_is_none(
        self, store, watch, part
    ):
        edited = replace(watch.settings, **{part: getattr(SETTINGS, part)})

        assert await store.write(review_watches.put_review_settings, watch, edited)
        written = await store.rows_written_by(
            review_watches.put_review_settings, replace(watch, revision=2), edited
        )

        found = await store.read(review_watches.find_review_watch, "w1", watch.name)
        assert found == replace(watch, settings=edited, revision=2)
        assert written == (0, False)

    async def test_an_edit_of_what_others_changed_meanwhile_is_none(self, store, watch):
        put = review_watches.put_review_settings
        first = replace(watch.settings, query="is:open")
        await store.write(put, watch, first)

        assert not await store.write(put, watch, SETTINGS)

        found = await store.read(review_watches.find_review_watch, "w1", watch.name)
        assert (found.settings, found.revision) == (first, 2)

    async def test_another_owner_is_no_edit(self, store, watch):
        values = ("v1", Origin.WATCH_FILE, "a.toml")

        assert await store.write(review_watches.put_review_owner, *values)
        written = await store.rows_written_by(review_watches.put_review_owner, *values)

        found = await store.read(review_watches.find_review_watch, "w1", watch.name)
        owned = {"origin": Origin.WATCH_FILE, "written_as": "a.toml"}
        assert found == replace(watch, **owned)
        assert written == (0, False)

    async def test_how_a_search_went_is_written_on_a_change_alone(self, store, watch):
        put = review_watches.put_review_finding
        finding = {
            "last_error": "gone",
            "incomplete_since": at(1),
            "incomplete_reason": IncompleteReason.FAILED,
        }

        assert await store.write(put, watch, **finding)
        assert await store.rows_written_by(put, watch, **finding) == (0, False)
        found = await store.read(review_watches.find_review_watch, "w1", watch.name)
        well = {"last_error": "", "incomplete_since": None}
        assert await store.write(put, watch, **well)
        assert await store.rows_written_by(put, watch, **well) == (0, False)

        assert found == replace(watch, **finding)

    async def test_an_entry_mends_what_its_origin_made_and_nothing_else(
        self, store, watch
    ):
        entry = replace(watch, id="new", settings=SETTINGS, written_as="a.toml")
        mend = review_watches.mend_review_watch
        stranger = replace(entry, origin=Origin.CONFIG)

        assert not await store.write(mend, stranger)
        assert await store.write(mend, entry)
        assert await store.rows_written_by(mend, entry) == (0, False)

        found = await store.read(review_watches.find_review_watch, "w1", watch.name)
        changes = {"settings": SETTINGS, "written_as": "a.toml", "revision": 2}
        assert found == replace(watch, **changes)

    async def test_a_row_with_an_unknown_word_hides_no_other(self, store, watch):
        bobs = ReviewSettings(target_login="bob")
        odd = make_review_watch(2, origin="nowhere", settings=bobs)
        await store.write(review_watches.add_review_watch, odd)
        await store.write(
            review_tasks.add_review_task,
            make_review_task(review_watch_id="v2", task_id="t1"),
        )

        read = review_watches.read_review_watches
        watches, (broken,) = await store.read(read, "w1")
        assert await store.read(review_watches.list_review_watches, "w1") == [watch]
        assert await store.read(review_watches.find_review_watch, "w1", "mine2") is None
        remove = review_watches.remove_review_watch
        assert await store.write(remove, broken)
        assert not await store.write(remove, broken)

        (left,) = await store.read(review_tasks.list_review_tasks, "w1")
        assert (watches, broken.id, broken.name) == ([watch], "v2", "mine2")
        assert (left.review_watch_id, left.policy) == ("", CleanupPolicy.NEVER)
        # A person may choose another policy: then the safe ones of these count.
        assert (left.target_login, left.scope) == ("bob", ReviewScope.USER_AND_TEAMS)
        assert await store.read(read, "w1") == ([watch], [])

    async def test_the_search_of_other_settings_says_nothing(self, store, watch):
        await store.write(review_watches.put_review_settings, watch, SETTINGS)
        put = review_watches.put_review_finding

        written = await store.write(put, watch, last_error="x", incomplete_since=at(1))

        found = await store.read(review_watches.find_review_watch, "w1", watch.name)
        assert not written
        assert found == replace(watch, settings=SETTINGS, revision=2)

    async def test_the_backlog_is_done_once(self, store, watch):
        edited = replace(watch, revision=2)
        put = review_watches.put_backlog_done
        assert not await store.write(put, edited, at(1))
        assert await store.write(put, watch, at(1))
        again = await store.rows_written_by(put, watch, at(2))

        found = await store.read(review_watches.find_review_watch, "w1", watch.name)
        assert found == replace(watch, backlog_done_at=at(1))
        assert again == (0, False)

    async def test_a_removed_watch_leaves_its_tasks_and_no_reservation(
        self, store, watch
    ):
        always = replace(watch.settings, policy=CleanupPolicy.ALWAYS)
        watch = replace(watch, settings=always)
        await store.write(review_watches.put_review_settings, watch, always)
        await store.write(review_tasks.add_review_task, make_review_task(1))
        made = make_review_task(2, task_id="t1")
        await store.write(review_tasks.add_review_task, made)

        assert await store.write(review_watches.remove_review_watch, watch)

        assert await store.read(review_tasks.list_review_tasks, "w1") == [
            replace(made, review_watch_id="", policy=CleanupPolicy.ALWAYS)
        ]
        assert not await store.write(review_watches.remove_review_watch, watch)

    async def test_what_a_watch_knows_is_left_a_part_at_a_time(self, store, watch):
        count = review_watches.LEFT_AT_ONCE + 1
        for number in range(1, count + 1):
            row = make_review_task(number, id=f"d{number:04}", task_id=f"t{number}")
            await store.write(review_tasks.add_review_task, row)
        shed, find = review_watches.shed_review_tasks, review_watches.find_review_watch

        written, _ = await store.rows_written_by(shed, watch)
        held = await store.read(find, "w1", watch.name)

        assert written == review_watches.LEFT_AT_ONCE + 1
        assert not await store.write(shed, watch)
        assert not held.settings.is_enabled
        assert await store.write(review_watches.remove_review_watch, watch)
        left = await store.read(review_tasks.list_review_tasks, "w1", "")
        assert {row.review_watch_id for row in left} == {""}
        assert len(left) == count
        assert not await store.write(shed, watch)


class ReviewTasksContract:
    """Runs on every backend over one review watch."""

    @pytest.fixture
    async def watch(self, store):
        watch = make_review_watch()
        await store.write(review_watches.add_review_watch, watch)
        return watch

    async def reserve(self, store, row, watch):
        return await store.write(
            review_tasks.reserve_review_task,
            row,
            watch,
            stale_before=row.reserved_at - RESERVED_FOR,
        )

    async def test_rows_come_back_as_they_were(self, store, watch):
        row = make_review_task(
            task_id="t1",
            terminal_seen_at=at(1),
            terminal_evidence={"state": "MERGED"},
        )
        other = make_review_task(13, review_watch_id="v2")
        assert await store.write(review_tasks.add_review_task, row)
        assert await store.write(review_tasks.add_review_task, other)
        assert not await store.write(
            review_tasks.add_review_task, replace(row, id="again")
        )

        assert await store.read(review_tasks.list_review_tasks, "w1") == [row, other]
        assert await store.read(review_tasks.list_review_tasks, "w1", "v1") == [row]
        find = review_tasks.find_review_task
        assert await store.read(find, "w1", "v1", "PR_12") == row
        assert await store.read(find, "w1", "v1", "PR_13") is None

    async def test_exactly_one_of_many_concurrent_pollers_reserves(self, store, watch):
        won = []

        async def reserve(number):
            row = make_review_task(id=f"d{number}", reserved_by=f"poller{number}")
            if await self.reserve(store, row, watch):
                won.append(row)

        async with anyio.create_task_group() as group:
            for number in range(8):
                group.start_soon(reserve, number)

        assert await store.read(review_tasks.list_review_tasks, "w1") == won

    async def test_a_reservation_is_assigned_once_and_then_not_released(
        self, store, watch
    ):
        row = make_review_task()
        await self.reserve(store, row, watch)
        stranger = replace(row, reserved_by="other")

        assert not await store.write(review_tasks.assign_review_task, stranger, "t2")
        assert not await store.write(review_tasks.release_review_task, stranger)
        assert await store.write(review_tasks.assign_review_task, row, "t1")
        assert not await store.write(review_tasks.assign_review_task, row, "t2")
        assert not await store.write(review_tasks.release_review_task, row)

        assert await store.read(review_tasks.list_review_tasks, "w1") == [
            replace(row, task_id="t1")
        ]

    async def test_a_released_reservation_is_free_again(self, store, watch):
        row = make_review_task()
        await self.reserve(store, row, watch)

        assert await store.write(review_tasks.release_review_task, row)

        assert await self.reserve(store, replace(row, reserved_by="other"), watch)

    async def test_a_reservation_left_by_a_crash_is_taken_over_after_its_time(
        self, store, watch
    ):
        row = make_review_task()
        await self.reserve(store, row, watch)
        early = NOW + RESERVED_FOR - dt.timedelta(seconds=1)
        late = NOW + RESERVED_FOR

        def claim(now):
            return replace(row, id="new", reserved_at=now, reserved_by="other")

        assert not await self.reserve(store, claim(early), watch)
        assert await self.reserve(store, claim(late), watch)
        assert not await store.write(review_tasks.assign_review_task, row, "t1")
        assert await store.write(review_tasks.assign_review_task, claim(late), "t2")
        assert not await self.reserve(store, claim(late + RESERVED_FOR), watch)

    async def test_what_is_taken_over_is_of_the_watch_as_it_is_now(self, store, watch):
        await self.reserve(store, make_review_task(), watch)
        await store.write(
            review_watches.put_review_settings,
            watch,
            replace(SETTINGS, is_enabled=True),
        )
        late = make_review_task(reserved_at=NOW + RESERVED_FOR, reserved_by="other")

        assert await self.reserve(store, late, replace(watch, revision=2))

        (row,) = await store.read(review_tasks.list_review_tasks, "w1")
        found = (row.policy, row.target_login, row.scope, row.reserved_by)
        chosen = (SETTINGS.policy, SETTINGS.target_login, SETTINGS.scope)
        assert found == (*chosen, "other")

    async def test_a_reservation_from_a_far_future_is_taken_over(self, store, watch):
        row = make_review_task()
        await self.reserve(store, row, watch)

        def claim(back):
            then = NOW - back
            return replace(row, id="new", reserved_at=then, reserved_by="other")

        a_bit = dt.timedelta(seconds=1)
        assert not await self.reserve(store, claim(RESERVED_FOR - a_bit), watch)
        assert await self.reserve(store, claim(RESERVED_FOR), watch)

    async def test_a_task_is_found_by_its_pull_request(self, store, watch):
        await store.write(review_tasks.add_review_task, make_review_task(12))
        find, known = review_tasks.find_task_of, review_tasks.list_known
        reserved = await store.read(find, "w1", "PR_12")
        assert await store.read(known, "w1", "v1") == set()
        other = make_review_task(12, id="o", review_watch_id="v2", task_id="t1")
        await store.write(review_tasks.add_review_task, other)

        found = await store.read(find, "w1", "PR_12")

        assert (reserved, found.id) == (None, "t1")
        assert await store.read(find, "w1", "PR_13") is None
        assert await store.read(known, "w1", "v2") == {"PR_12"}
        assert not await store.read(review_tasks.is_of_another, "t1", "PR_12")
        assert await store.read(review_tasks.is_of_another, "t1", "PR_13")

    @pytest.mark.parametrize("change", ["edited", "disabled", "removed"])
    @pytest.mark.parametrize("is_stale", [False, True])
    async def test_a_watch_that_changed_meanwhile_reserves_nothing(
        self, store, watch, change, is_stale
    ):
        if is_stale:
            await self.reserve(store, make_review_task(), watch)
        settings = replace(watch.settings, query="is:pr")
        if change == "disabled":
            settings = replace(watch.settings, is_enabled=False)
        if change == "removed":
            await store.write(review_watches.remove_review_watch, watch)
        else:
            await store.write(review_watches.put_review_settings, watch, settings)
        if change == "disabled":
            watch = replace(watch, revision=2)

        late = make_review_task(reserved_at=NOW + RESERVED_FOR, reserved_by="other")
        assert not await self.reserve(store, late, watch)
        left = await store.read(review_tasks.list_review_tasks, "w1")
        is_kept = is_stale and change != "removed"
        assert left == ([make_review_task()] if is_kept else [])

    async def test_what_was_seen_done_is_written_on_a_change_alone(self, store, watch):
        await store.write(review_tasks.add_review_task, make_review_task())
        seen = ("d12", at(1), {"state": "CLOSED"})

        assert await store.write(review_tasks.put_terminal, *seen)
        again = await store.rows_written_by(review_tasks.put_terminal, *seen)
        (row,) = await store.read(review_tasks.list_review_tasks, "w1")
        assert await store.write(review_tasks.put_terminal, "d12", None, {})

        assert (row.terminal_seen_at, row.terminal_evidence) == seen[1:]
        assert again == (0, False)
        assert await store.read(review_tasks.list_review_tasks, "w1") == [
            make_review_task()
        ]

    async def test_a_removed_row_is_gone(self, store, watch):
        await store.write(review_tasks.add_review_task, make_review_task())

        assert await store.write(review_tasks.remove_review_task, "d12")
        assert not await store.write(review_tasks.remove_review_task, "d12")

        assert await store.read(review_tasks.list_review_tasks, "w1") == []

    async def test_a_task_says_who_wrote_and_what_it_waits_for(self, store):
        put, wait = tasks.put_person_wrote, tasks.put_waits_for

        assert await store.write(put, "t1", at(2))
        assert not await store.write(put, "t1", at(1))
        assert await store.write(wait, "t1", "an answer")
        again = await store.rows_written_by(wait, "t1", "an answer")

        found = await store.read(tasks.find_task, "w1", "T-1")
        assert (found.person_wrote_at, found.waits_for) == (at(2), "an answer")
        assert again == (0, False)
