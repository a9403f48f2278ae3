"""A silent host, on a clock that jumps: every call ends within its bound."""

import anyio
import pytest
import trio.testing

from prwatch.errors import ProviderUnavailable
from prwatch.http.client import TOTAL_SECONDS
from tests.github_answers import ScriptedHost


@pytest.fixture
def anyio_backend():
    return "trio", {"clock": trio.testing.MockClock(autojump_threshold=0)}


async def test_a_host_that_stays_silent_is_left_after_thirty_seconds():
    async def answer(_):
        await anyio.sleep_forever()

    host = ScriptedHost(None)
    host.answer = answer
    began = anyio.current_time()

    with pytest.raises(ProviderUnavailable, match="in time"):
        await host.connect().viewer()

    assert anyio.current_time() - began == pytest.approx(TOTAL_SECONDS)
