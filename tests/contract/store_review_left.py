"""What review watches left or left undone, and what they keep under another name."""

from dataclasses import replace

import pytest

from prwatch.domain.review_watch import (
    NOBODY,
    CleanupPolicy,
    ReviewScope,
    ReviewSettings,
)
from prwatch.store import review_audit, review_left, review_tasks, review_watches
from tests.contract.store_review import SETTINGS, make_review_task, make_review_watch
from tests.contract.store_review_audit import make_audit
from tests.contract.store_rows import at

MOST_ROWS = 500
"""How many rows one transaction writes at the most."""
ME_OR_MY_TEAMS = ReviewSettings(scope=ReviewScope.USER_AND_TEAMS)


async def leave(store, settings, number=1, task_id="t1"):
    """Remove a watch of those settings that knows a pull request."""
    watch = make_review_watch(number, settings=settings)
    row = make_review_task(id=f"d{number}", review_watch_id=watch.id, task_id=task_id)
    await store.write(review_watches.add_review_watch, watch)
    await store.write(review_tasks.add_review_task, row)
    await store.write(review_watches.remove_review_watch, watch)


async def list_rows(store):
    return await store.read(review_tasks.list_review_tasks, "w1")


class ReviewLeftContract:
    """Runs on every backend."""

    @pytest.fixture
    async def rows(self, store):
        rows = [
            make_review_task(12, task_id="t1", review_watch_id=""),
            make_review_task(13, task_id="t1"),
            make_review_task(14, task_id="t2", review_watch_id=""),
            make_review_task(15),
        ]

        async def put(tx):
            await review_watches.add_review_watch(tx, make_review_watch())
            for row in rows:
                await review_tasks.add_review_task(tx, row)

        await store.write(put)
        return rows

    async def test_the_policy_of_a_task_is_chosen_where_no_watch_has_one(
        self, store, rows
    ):
        put = review_left.put_left_policy
        written = await store.write(put, "w1", "t1", CleanupPolicy.NEVER)
        again = await store.write(put, "w1", "t1", CleanupPolicy.NEVER)
        others = await store.write(put, "w2", "t2", CleanupPolicy.NEVER)

        assert (written, again, others) == (True, False, False)
        assert await store.read(review_tasks.list_review_tasks, "w1") == [
            replace(rows[0], policy=CleanupPolicy.NEVER),
            *rows[1:],
        ]

    async def test_a_reservation_is_forgotten_as_it_was_looked_at(self, store, rows):
        forget = review_left.forget_reservation
        moved = replace(rows[3], reserved_at=at(1))
        others = replace(rows[3], reserved_by="another")

        assert [await store.write(forget, each) for each in (moved, others)] == [
            False,
            False,
        ]
        assert not await store.write(forget, rows[0])  # it has its task
        assert await store.write(forget, rows[3])
        assert not await store.write(forget, rows[3])
        assert await store.read(review_tasks.list_review_tasks, "w1") == rows[:3]

    async def test_what_was_left_of_a_task_is_forgotten_alone(self, store, rows):
        remove = review_left.remove_left

        assert await store.write(remove, "w2", "t1") == 0
        assert await store.write(remove, "w1", "t1") == 1
        assert await store.read(review_tasks.list_review_tasks, "w1") == rows[1:]

    async def test_the_record_of_removed_watches_is_told_newest_first(
        self, store, rows
    ):
        entries = [
            make_audit(1, review_watch_id="gone", acted_at=at(1)),
            make_audit(2, review_watch_id="v1", acted_at=at(2)),
            make_audit(3, review_watch_id="", acted_at=at(3)),
        ]

        async def put(tx):
            for entry in entries:
                await review_audit.add_audit(tx, entry)

        await store.write(put)
        listing = review_left.list_audit_of_removed

        assert await store.read(listing, "w1", limit=5) == [entries[2], entries[0]]
        assert await store.read(listing, "w1", limit=1) == [entries[2]]
        assert await store.read(listing, "w2", limit=5) == []

    async def test_another_name_leaves_all_else_as_it_is(self, store):
        watch, other = make_review_watch(), make_review_watch(2)
        for each in (watch, other):
            await store.write(review_watches.add_review_watch, each)
        rename = review_watches.rename_review_watch
        edited = replace(watch, revision=watch.revision + 1)

        assert not await store.write(rename, watch, other.name)
        assert not await store.write(rename, edited, "ours")
        assert await store.write(rename, watch, "ours")
        assert await store.read(review_watches.list_review_watches, "w1") == [
            other,
            replace(watch, name="ours"),
        ]

    @pytest.mark.parametrize("part", ["policy", "target_login", "scope"])
    async def test_what_a_watch_has_at_its_end_is_left(self, store, part):
        watch = make_review_watch()
        made = make_review_task(task_id="t1")
        edited = replace(watch.settings, **{part: getattr(SETTINGS, part)})
        await store.write(review_watches.add_review_watch, watch)
        await store.write(review_tasks.add_review_task, made)
        await store.write(review_watches.put_review_settings, watch, edited)

        # As it was read before the edit.
        await store.write(review_watches.remove_review_watch, watch)

        left = {"review_watch_id": "", part: getattr(SETTINGS, part)}
        assert await list_rows(store) == [replace(made, **left)]

    @pytest.mark.parametrize(
        ("settings", "part", "left"),
        [
            (
                [
                    ReviewSettings(policy=CleanupPolicy(each))
                    for each in ("always", "never", "auto")
                ],
                "policy",
                CleanupPolicy.NEVER,
            ),
            (
                [ReviewSettings(target_login=each) for each in ("bob", "BOB")],
                "target_login",
                "bob",
            ),
            (
                [ReviewSettings(target_login=each) for each in ("bob", "")],
                "target_login",
                NOBODY,
            ),
            (
                [ReviewSettings(target_login=each) for each in ("", "bob", "")],
                "target_login",
                NOBODY,
            ),
            (
                [ReviewSettings(), ME_OR_MY_TEAMS, ReviewSettings()],
                "scope",
                ReviewScope.USER_AND_TEAMS,
            ),
        ],
    )
    async def test_of_two_removed_watches_the_more_cautious_terms_stay(
        self, store, settings, part, left
    ):
        for number, each in enumerate(settings, 1):
            await leave(store, each, number)

        (row,) = await list_rows(store)
        assert (row.id, getattr(row, part)) == ("d1", left)

    @pytest.mark.parametrize(
        ("tasks_of", "kept"),
        [(("gone", "t1"), "d2"), (("t1", "gone"), "d1"), (("gone", "lost"), "d1")],
    )
    async def test_of_two_rows_the_one_whose_task_is_there_is_left(
        self, store, tasks_of, kept
    ):
        for number, task_id in enumerate(tasks_of, 1):
            await leave(store, ReviewSettings(), number, task_id)

        (row,) = await list_rows(store)
        assert (row.id, row.review_watch_id) == (kept, "")

    async def test_a_row_that_cannot_be_understood_stands_for_another_as_it_is(
        self, store, raw
    ):
        await leave(store, ReviewSettings(), 1)
        await raw("UPDATE review_tasks SET terminal_evidence = '['")

        await leave(store, ReviewSettings(policy=CleanupPolicy.NEVER), 2)

        assert await raw("SELECT id, review_watch_id, policy FROM review_tasks") == [
            {"id": "d1", "review_watch_id": "", "policy": "auto"}
        ]

    async def test_a_part_that_is_left_is_small_though_every_row_joins_another(
        self, store
    ):
        count = review_watches.LEFT_AT_ONCE + 1
        never = ReviewSettings(policy=CleanupPolicy.NEVER)
        watch = make_review_watch(settings=never)

        async def put(tx):
            await review_watches.add_review_watch(tx, watch)
            for number in range(1, count + 1):
                for key in ("", watch.id):
                    row = make_review_task(
                        number,
                        id=f"d{number:04}{key}",
                        review_watch_id=key,
                        task_id="t1",
                    )
                    await review_tasks.add_review_task(tx, row)

        await store.write(put)
        for write in (
            review_watches.shed_review_tasks,
            review_watches.remove_review_watch,
        ):
            written, _ = await store.rows_written_by(write, watch)
            assert 0 < written <= MOST_ROWS

        left = await list_rows(store)
        assert {(each.review_watch_id, each.policy) for each in left} == {
            ("", CleanupPolicy.NEVER)
        }
        assert len(left) == count

    async def test_a_row_of_a_watch_that_is_not_there_is_one_that_was_left(self, store):
        rows = [
            make_review_task(12, task_id="t1", review_watch_id="gone"),
            make_review_task(13, task_id="t1", review_watch_id="v1"),
        ]
        await store.write(review_watches.add_review_watch, make_review_watch())
        for row in rows:
            await store.write(review_tasks.add_review_task, row)
        never = CleanupPolicy.NEVER

        assert await store.write(review_left.put_left_policy, "w1", "t1", never)
        put = await list_rows(store)
        removed = await store.write(review_left.remove_left, "w1", "t1")

        assert put == [replace(rows[0], policy=never), rows[1]]
        assert (removed, await list_rows(store)) == (1, [rows[1]])
