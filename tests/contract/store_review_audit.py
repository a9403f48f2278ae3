"""Rows of what became of review tasks."""

from dataclasses import replace

from prwatch.domain.review_watch import AuditAction, AuditActor, ReviewAudit
from prwatch.store import review_audit, review_watches
from tests.contract.store_review import make_pull_request, make_review_watch
from tests.contract.store_rows import at


def make_audit(number=1, **changes):
    values = {
        "id": f"a{number}",
        "workspace_id": "w1",
        "review_watch_id": "v1",
        "pull_request": replace(make_pull_request(), repository_node_id=""),
        "external_id": "review:octo/hello#12",
        "action": AuditAction.DELETED,
        "reason": "merged",
        "evidence": {"state": "MERGED", "merged_at": "2026-11-30T00:00:00Z"},
        "acted_at": at(number),
        "acted_by": AuditActor.SCHEDULE,
        "snapshot": {"title": "naïve"},
        "undo_until": at(number + 100),
        **changes,
    }
    return ReviewAudit(**values)


class ReviewAuditContract:
    """Runs on every backend."""

    async def test_entries_come_back_as_they_were_newest_first(self, store):
        first = make_audit(1)
        second = make_audit(
            2, action=AuditAction.RESTORED, snapshot={}, undo_until=None
        )
        other = make_audit(3, review_watch_id="v2", external_id="other")
        for entry in (second, first, other, replace(first, reason="again")):
            await store.write(review_audit.add_audit, entry)

        list_audit = review_audit.list_audit_of_watch
        listed = await store.read(list_audit, "w1", "v1", limit=2)
        of_task = await store.read(
            review_audit.list_audit_of_task, "w1", "review:octo/hello#12"
        )
        find = review_audit.find_last_audit
        assert listed == [second, first]
        assert await store.read(list_audit, "w1", "v1", limit=1) == [second]
        assert await store.read(list_audit, "w1", "v2", limit=2) == [other]
        assert of_task == [second, first]
        assert await store.read(find, "w1", "v1", "PR_12") == second
        assert await store.read(find, "w1", "v1", "PR_13") is None

    async def test_what_can_no_longer_be_undone_is_forgotten(self, store):
        old, young = make_audit(1), make_audit(2)
        for entry in (old, young):
            await store.write(review_audit.add_audit, entry)

        forget = review_audit.forget_snapshots
        forgotten = await store.write(forget, at(102), limit=9)

        assert forgotten == 1
        assert await store.rows_written_by(forget, at(102), limit=9) == (0, 0)
        assert await store.read(
            review_audit.list_audit_of_watch, "w1", "v1", limit=9
        ) == [
            young,
            replace(old, snapshot={}, undo_until=None),
        ]

    async def test_what_is_forgotten_is_forgotten_a_part_at_a_time(self, store):
        for number in range(1, 6):
            await store.write(review_audit.add_audit, make_audit(number))

        forget = review_audit.forget_snapshots
        parts = [
            (await store.rows_written_by(forget, at(200), limit=2))[0] for _ in range(4)
        ]

        assert parts == [2, 2, 1, 0]

    async def test_old_entries_go_but_for_what_is_needed_still(self, store):
        approved = {"reason": "pr_approved_by_user", "undo_until": None}
        kept = [
            make_audit(1),
            make_audit(2, **approved),
            make_audit(9, undo_until=None),
        ]
        gone = [
            make_audit(3, undo_until=None),
            make_audit(4, undo_until=at(5)),
            make_audit(5, **approved, pull_request=make_pull_request(13)),
            make_audit(6, **approved, review_watch_id="gone"),
            make_audit(7, **approved, action=AuditAction.RELEASED),
        ]
        last = make_audit(8, **approved, pull_request=make_pull_request(13))
        kept[1] = replace(kept[1], pull_request=make_pull_request(14))
        await store.write(review_watches.add_review_watch, make_review_watch())
        for entry in (*kept, *gone, last):
            await store.write(review_audit.add_audit, entry)

        async def prune(limit):
            return await store.write(
                lambda tx: review_audit.prune_audit(
                    tx, before=at(9), now=at(50), limit=limit
                )
            )

        removed = [await prune(3), await prune(3), await prune(3)]

        left = await store.read(review_audit.list_audit_of_watch, "w1", "v1", limit=20)
        assert removed == [3, 2, 0]
        assert {each.id for each in left} == {"a1", "a2", "a8", "a9"}
