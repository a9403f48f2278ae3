"""What review watches left or left undone, and what they keep under another name."""

from dataclasses import replace

import pytest

from prwatch.domain.review_watch import CleanupPolicy
from prwatch.store import review_audit, review_left, review_tasks, review_watches
from tests.contract.store_review import make_review_task, make_review_watch
from tests.contract.store_review_audit import make_audit
from tests.contract.store_rows import at


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
