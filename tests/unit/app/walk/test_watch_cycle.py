"""A cycle whose rows change under it looks anew, and says so when that never ends."""

import pytest

from prwatch.errors import StoreConflict
from prwatch.simulator import World
from tests.product import BRANCH, MovedClock, list_changes, open_product


class Contested:
    """A database in which somebody else is first, the given number of times."""

    def __init__(self, database, times):
        self._database = database
        self.times = times

    def __getattr__(self, name):
        return getattr(self._database, name)

    async def transact(self, fn):
        if self.times:
            self.times -= 1
            raise StoreConflict("somebody was first")
        return await self._database.transact(fn)


@pytest.fixture
async def product(tmp_path):
    world = World(MovedClock())
    world.add_repository("octo/hello")
    world.open_pull_request("octo/hello", branch="fix-greeting", number=12)
    async with open_product(tmp_path, world, watches=(BRANCH,)) as opened:
        yield opened


@pytest.mark.parametrize("times", [0, 1, 2])
async def test_rows_that_somebody_else_changed_are_looked_at_anew(product, times):
    database = product.runtime.database
    product.runtime.database = Contested(database, times)
    contested = await product.cycle(is_forced=False)
    product.runtime.database = database

    assert product.report.failures == []
    assert list_changes(contested) == [(("associated", None, 12),)]


async def test_a_contest_without_an_end_is_reported_and_not_raised(product):
    database = product.runtime.database
    product.runtime.database = Contested(database, 99)
    contested = await product.cycle(is_forced=False)
    failures = [failure.as_json() for failure in product.report.failures]
    product.runtime.database = database
    later = await product.cycle(is_forced=False)

    assert (contested, [failure["code"] for failure in failures]) == (
        [],
        ["store_conflict"],
    )
    assert list_changes(later) == [(("associated", None, 12),)]
