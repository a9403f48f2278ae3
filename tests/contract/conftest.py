"""Fixtures that are shared by all suites of this folder."""

import pytest

from tests.contract.store_backends import open_schema
from tests.contract.store_rows import GroundedStore, put_ground


@pytest.fixture(scope="session")
def postgres_schema():
    with open_schema() as url:
        yield url


@pytest.fixture
async def store(database, raw):
    await database.transact(put_ground)
    return GroundedStore(database, raw)
