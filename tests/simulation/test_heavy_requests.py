"""One pull request that GitHub cannot answer hides no change of the others."""

import httpx
import pytest

from prwatch.simulator import GitHubApp, World
from tests.product import MovedClock, list_changes, open_product

NUMBERS = range(1, 61)


class PoisonedTransport(httpx.ASGITransport):
    """Answers 502 to every GraphQL request of that operation that names `poison`."""

    def __init__(self, app, operation):
        super().__init__(app)
        self.operation = operation
        self.poison = b""

    async def handle_async_request(self, request):
        body = await request.aread()
        if self.poison and self.operation in body and self.poison in body:
            return httpx.Response(502, html="<html>bad gateway</html>")
        return await super().handle_async_request(request)


@pytest.mark.parametrize(
    "operation", [pytest.param(b"query Probe", id="probe"), b"query Details"]
)
async def test_a_poisoned_member_of_a_batch_costs_no_other(tmp_path, operation):
    world = World(MovedClock())
    world.add_repository("octo/hello")
    rows = world.open_many("octo/hello", len(NUMBERS))
    transport = PoisonedTransport(GitHubApp(world), operation)
    watches = [
        f'repository = "octo/hello"\npull_request = {number}' for number in NUMBERS
    ]
    async with open_product(
        tmp_path, world, transport=transport, watches=watches
    ) as product:
        await product.cycle()
        transport.poison = rows[20].node_id.encode()
        for row in rows:
            world.mark_draft(row)
        told = await product.cycles(3)
        failures = product.report.failures
        transport.poison = b""
        late = await product.cycle()

    draft = (("is_draft", False, True),)
    assert list_changes(told) == [draft] * (len(NUMBERS) - 1)
    assert [(one.scope, one.reference) for one in failures] == [
        ("record", f"octo/hello#{rows[20].number}")
    ]
    assert list_changes(late) == [draft]
