"""Any history of transitions leaves the rows that a simple model has."""

import tempfile
from dataclasses import replace
from pathlib import Path

from anyio.from_thread import start_blocking_portal
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from prwatch.store import watches
from prwatch.store.opening import open_database
from tests.contract.store_backends import NOW
from tests.contract.store_rows import at, make_watch, make_watermark, put_ground

BRANCHES = st.sampled_from(["a", "b", "c"])
NUMBERS = st.sampled_from([1, 2])
REPOSITORIES = st.sampled_from(["r1", "r2"])
PICKS = st.integers(0, 9)
SECONDS = st.integers(1, 50)


class Model:
    """The rows as plain values, merged by the rules as they are told to people."""

    def __init__(self):
        self.rows = {}

    def find(self, watch):
        """Return the row of the same identity, or None."""

        def identity(row):
            return (row.repository_id, row.pr_number or row.branch)

        same = [row for row in self.rows.values() if identity(row) == identity(watch)]
        return same[0] if same else None

    def put_back(self, watch):
        there = self.find(watch)
        if there is None:
            self.rows[watch.id] = watch
            return watch
        merged = replace(
            there,
            revision=max(there.revision, watch.revision),
            last_sign_at=max(there.last_sign_at, watch.last_sign_at),
            node_id=there.node_id or watch.node_id,
        )
        if watch.branch:
            merged = replace(
                merged, branch=watch.branch, head_repository=watch.head_repository
            )
        if self.is_newer(watch, there):
            merged = replace(
                merged,
                watermark=watch.watermark,
                fingerprint=watch.fingerprint,
                searching_since=watch.searching_since,
            )
        self.rows[there.id] = merged
        return merged

    @staticmethod
    def is_newer(watch, there):
        def age(row, arrived):
            if row.watermark is None:
                return (0, NOW, row.revision, -arrived, row.id)
            return (1, row.watermark.observed_at, row.revision, 0, row.id)

        return age(watch, 1) > age(there, 0)


class WatchRows(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.model = Model()
        self.made = 0
        self.folder = tempfile.TemporaryDirectory()
        self.portal_context = start_blocking_portal()
        self.portal = self.portal_context.__enter__()
        path = Path(self.folder.name) / "prwatch.db"
        self.opened = self.portal.wrap_async_context_manager(
            open_database(path, now=NOW, inline=True)
        )
        self.database = self.opened.__enter__()
        self.portal.call(self.database.transact, put_ground)

    def teardown(self):
        self.opened.__exit__(None, None, None)
        self.portal_context.__exit__(None, None, None)
        self.folder.cleanup()

    def write(self, function, *values, **named):
        return self.portal.call(
            self.database.transact, lambda tx: function(tx, *values, **named)
        )

    def pick(self, number, *, searching):
        rows = [
            row for row in self.model.rows.values() if row.is_searching == searching
        ]
        return rows[number % len(rows)] if rows else None

    @rule(branch=BRANCHES, repository=REPOSITORIES, number=st.sampled_from([0, 1, 2]))
    def add(self, branch, repository, number):
        self.made += 1
        watch = make_watch(
            self.made,
            branch="" if number == 1 else branch,
            repository_id=repository,
            pr_number=number,
        )

        added = self.write(watches.add_watch, watch)

        assert added == (self.model.find(watch) is None)
        if added:
            self.model.rows[watch.id] = watch

    @rule(pick=PICKS, branch=BRANCHES, seconds=SECONDS)
    def move(self, pick, branch, seconds):
        watch = self.pick(pick, searching=True)
        if watch is None:
            return
        moment = at(seconds)

        moved = self.write(
            watches.move_branch, watch, branch=branch, head_repository="", now=moment
        )

        del self.model.rows[watch.id]
        expected = self.model.put_back(
            replace(
                watch,
                branch=branch,
                branch_head_oid="",
                searching_since=moment,
                last_sign_at=moment,
            )
        )
        assert moved == expected

    @rule(pick=PICKS, number=NUMBERS, repository=REPOSITORIES)
    def discover(self, pick, number, repository):
        watch = self.pick(pick, searching=True)
        if watch is None:
            return
        target = {"repository_id": repository, "pr_number": number, "node_id": "N"}

        found = self.write(watches.discover, watch, **target)

        del self.model.rows[watch.id]
        assert found == self.model.put_back(replace(watch, **target))

    @rule(pick=PICKS, seconds=SECONDS, behind=st.sampled_from([0, 0, 1]))
    def commit(self, pick, seconds, behind):
        watch = self.pick(pick, searching=False)
        if watch is None:
            return
        before = replace(watch, revision=watch.revision - behind)
        after = replace(
            before,
            revision=before.revision + 1,
            fingerprint=f"f{seconds}",
            watermark=make_watermark(seconds),
        )

        committed = self.write(watches.commit_observation, before, after)

        assert committed == (behind == 0)
        if committed:
            self.model.rows[watch.id] = after

    @rule(pick=PICKS, seconds=SECONDS)
    def search_again(self, pick, seconds):
        watch = self.pick(pick, searching=False)
        if watch is None or not watch.branch:
            return
        times = {"searching_since": at(seconds), "last_sign_at": at(seconds)}

        row = self.write(
            watches.return_to_searching, watch, repository_id="r1", **times
        )

        del self.model.rows[watch.id]
        expected = self.model.put_back(
            replace(
                watch,
                repository_id="r1",
                pr_number=0,
                node_id="",
                fingerprint="",
                watermark=None,
                branch_head_oid="",
                **times,
            )
        )
        if expected.searching_since < at(seconds):
            expected = replace(expected, searching_since=at(seconds))
            self.model.rows[expected.id] = expected
        assert row == expected

    @rule(pick=PICKS, searching=st.booleans())
    def remove(self, pick, searching):
        watch = self.pick(pick, searching=searching)
        if watch is None:
            return

        assert self.write(watches.remove_watch, watch)
        assert not self.write(watches.remove_watch, watch)

        del self.model.rows[watch.id]

    @rule(loser=REPOSITORIES)
    def readdress(self, loser):
        survivor = "r1" if loser == "r2" else "r2"

        async def merge(tx):
            taken = await watches.take_watches_of_repository(tx, loser)
            taken.sort(key=lambda row: row.id)
            for row in taken:
                await watches.put_back(tx, replace(row, repository_id=survivor))

        self.write(merge)

        rows = [row for row in self.model.rows.values() if row.repository_id == loser]
        for row in sorted(rows, key=lambda row: row.id):
            del self.model.rows[row.id]
        for row in sorted(rows, key=lambda row: row.id):
            self.model.put_back(replace(row, repository_id=survivor))

    @invariant()
    def rows_are_those_of_the_model(self):
        rows = self.portal.call(
            self.database.read, lambda tx: watches.list_watches(tx, "w1")
        )
        assert rows == sorted(self.model.rows.values(), key=lambda row: row.id)


TestWatchRows = WatchRows.TestCase
TestWatchRows.settings = settings(
    max_examples=25, stateful_step_count=25, deadline=None
)
