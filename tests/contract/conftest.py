"""Fixtures that are shared by all suites of this folder."""

import pytest

from tests.contract.store_backends import open_schema


@pytest.fixture(scope="session")
def postgres_schema():
    with open_schema() as url:
        yield url
