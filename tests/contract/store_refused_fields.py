"""Rows of what a connection cannot read."""

from dataclasses import replace

from prwatch.domain.capability import CHECKS, REVIEWS, RefusalReason, RefusedField
from prwatch.domain.connection import Connection
from prwatch.domain.task import Workspace
from prwatch.store import connections, refused_fields
from tests.contract.store_rows import at

CONNECTION = Connection(id="c1", workspace_id="w1", source="env", host="github.com")
OTHER = Connection(id="c2", workspace_id="w2", source="env", host="github.com")
EVERYWHERE = RefusedField(field=CHECKS, reason=RefusalReason.TOKEN, learnt_at=at(1))
THERE = RefusedField(
    field=REVIEWS,
    reason=RefusalReason.ORGANISATION,
    learnt_at=at(2),
    repository="octo/hello",
)
OLD = RefusedField(
    field="PullRequest.isInMergeQueue",
    reason=RefusalReason.SCHEMA,
    learnt_at=at(3),
    version="3.9.1",
)


class RefusedFieldsContract:
    """Runs on every backend over two workspaces with a connection each."""

    async def put_connections(self, store):
        await store.write(connections.add_workspace, Workspace(id="w2", name="two"))
        for each in (CONNECTION, OTHER):
            await store.write(connections.put_connection, each)

    async def test_refusals_come_back_as_they_were(self, store):
        await self.put_connections(store)

        await store.write(
            refused_fields.replace_refused, CONNECTION, [THERE, OLD, EVERYWHERE]
        )

        found = await store.read(refused_fields.list_refused, CONNECTION)
        assert found == (OLD, THERE, EVERYWHERE)
        assert await store.read(refused_fields.list_refused, OTHER) == ()

    async def test_just_what_is_refused_now_is_kept(self, store):
        await self.put_connections(store)
        await store.write(refused_fields.replace_refused, CONNECTION, [THERE, OLD])
        later = replace(THERE, learnt_at=at(9))

        await store.write(refused_fields.replace_refused, CONNECTION, [later])

        found = await store.read(refused_fields.list_refused, CONNECTION)
        assert found == (later,)

    async def test_equal_refusals_are_not_written(self, store):
        await self.put_connections(store)
        values = (CONNECTION, [THERE, OLD])
        await store.write(refused_fields.replace_refused, *values)

        written = await store.rows_written_by(refused_fields.replace_refused, *values)

        assert written == (0, False)

    async def test_another_state_of_the_connection_knows_nothing_of_them(self, store):
        await self.put_connections(store)
        await store.write(refused_fields.replace_refused, CONNECTION, [THERE])
        renewed = replace(CONNECTION, generation=2)

        assert await store.read(refused_fields.list_refused, renewed) == ()
        await store.write(refused_fields.replace_refused, renewed, [OLD])

        assert await store.read(refused_fields.list_refused, renewed) == (OLD,)
        assert await store.read(refused_fields.list_refused, CONNECTION) == ()
