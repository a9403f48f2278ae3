"""Removing a review watch: what it knows is left first, a part at a time."""

from prwatch.domain.review_watch import ReviewWatch, UnreadableReviewWatch
from prwatch.store import review_watches
from prwatch.store.database import Database, Transaction


async def remove_watch(
    database: Database, watch: ReviewWatch | UnreadableReviewWatch
) -> bool:
    """
    Remove a watch and leave its tasks; return False when it is gone already.

    No transaction holds more rows than the store takes at once. One that is stopped in
    between leaves a watch that is disabled; removing it again ends it.

    Raises:
        StoreError: What was left before stays so.
    """

    async def shed(tx: Transaction) -> bool:
        return await review_watches.shed_review_tasks(tx, watch)

    async def remove(tx: Transaction) -> bool:
        return await review_watches.remove_review_watch(tx, watch)

    while await database.transact(shed):
        pass
    return await database.transact(remove)
