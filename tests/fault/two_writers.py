"""What one writer does in the very instant of another one's transaction."""

import threading

import anyio
import asyncpg

from prwatch.errors import StoreError

ENOUGH = [False] * 3
"""Locks are held to the end: who came too late three times running comes too late."""


class Between:
    """
    Lets others act, each on a connection of its own, before a statement of transactions.

    Those of the functions of that `name` are meant. `acted` is whether the others could;
    who waits for the transaction longer than a moment could not.
    """

    def __init__(self, database, name, act, place):
        self.count = 0
        self.acted = None
        self._database = database
        self._name = name
        self._act = act
        self._place = place

    def __getattr__(self, name):
        return getattr(self._database, name)

    async def transact(self, fn):
        if not fn.__qualname__.startswith(self._name):
            return await self._database.transact(fn)
        return await self._database.transact(lambda tx: fn(_Statements(tx, self)))

    def come_by(self):
        self.count += 1
        if self.count == self._place:
            thread = threading.Thread(target=self._run)
            thread.start()
            # The transaction's own loop stands still meanwhile: that is the instant.
            thread.join()

    def _run(self):
        try:
            anyio.run(self._act)
        except (asyncpg.LockNotAvailableError, StoreError):
            self.acted = False
        else:
            self.acted = True


class _Statements:
    def __init__(self, tx, between):
        self._tx = tx
        self._between = between

    def fetch(self, *arguments, **parameters):
        self._between.come_by()
        return self._tx.fetch(*arguments, **parameters)

    def execute(self, *arguments, **parameters):
        self._between.come_by()
        return self._tx.execute(*arguments, **parameters)

    def execute_many(self, *arguments, **parameters):
        self._between.come_by()
        return self._tx.execute_many(*arguments, **parameters)


def statement(url, sql):
    """Return an act: one statement, which waits for locks no longer than a moment."""

    async def act():
        connection = await asyncpg.connect(f"{url}&lock_timeout=50")
        try:
            await connection.execute(sql)
        finally:
            await connection.close()

    return act


async def read(url, sql):
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetch(sql)
    finally:
        await connection.close()
