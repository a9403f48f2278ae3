"""The rows of canonical watches: identity, transitions, merges, compare-and-set."""

from dataclasses import replace

import anyio
import pytest

from prwatch.domain.pull_request import PullRequestState, RepositoryName
from prwatch.domain.reference import Probe
from prwatch.domain.watch import Watermark
from prwatch.errors import WatchNotFound
from prwatch.store import watches
from tests.contract.store_rows import (
    at,
    make_discovered,
    make_watch,
    make_watermark,
)

CLOSED = make_discovered(1, watermark=make_watermark(state=PullRequestState.CLOSED))


class WatchesContract:
    """Runs on every backend over a workspace with two repositories and two tasks."""

    @pytest.mark.parametrize(
        "watch",
        [
            pytest.param(make_watch(), id="searching"),
            pytest.param(make_discovered(), id="everything observed"),
            pytest.param(
                make_discovered(
                    watermark=Watermark(
                        state="OPEN",
                        updated_at=at(0),
                        head_ref_oid="a",
                        observed_at=at(1),
                    )
                ),
                id="nothing observed",
            ),
            pytest.param(
                make_discovered(watermark=make_watermark(review_decision=None)),
                id="no review required",
            ),
            pytest.param(
                make_discovered(branch="", head_repository="me/hello", watermark=None),
                id="link",
            ),
        ],
    )
    async def test_a_watch_comes_back_as_it_was(self, store, watch):
        assert await store.write(watches.add_watch, watch)

        assert await store.read(watches.get_watch, watch.id) == watch
        assert await store.read(watches.list_watches, "w1") == [watch]

    async def test_what_many_rows_repeat_is_held_once(self, store):
        for number in (1, 2):
            await store.write(watches.add_watch, make_discovered(number, number))

        one, other = await store.read(watches.list_watches, "w1")

        assert one.workspace_id is other.workspace_id
        assert one.repository_id is other.repository_id
        assert one.watermark.announced_checks is other.watermark.announced_checks

    async def test_a_row_and_its_probe_hold_one_node_id(self, store):
        number, seconds = 12, 0
        probe = Probe(
            node_id=f"PR_{number}",
            number=number,
            repository=RepositoryName("octo", "hello"),
            fingerprint=f"f{seconds}",
            state=PullRequestState.OPEN,
            updated_at=at(0),
            head_ref_name="fix",
            head_repository_id=None,
            author=None,
            is_busy=False,
        )
        await store.write(watches.add_watch, make_discovered(1, number, seconds))

        (row,) = await store.read(watches.list_watches, "w1")

        assert row.node_id is probe.node_id

    @pytest.mark.parametrize(
        ("rows", "found"),
        [
            pytest.param([], None, id="gone"),
            pytest.param([make_watch(1)], None, id="searching"),
            pytest.param([make_discovered(1)], "p1", id="open"),
            pytest.param([make_discovered(1, watermark=None)], "p1", id="not read yet"),
            pytest.param([CLOSED], None, id="closed"),
            pytest.param([CLOSED, make_discovered(2, 13)], "p2", id="behind another"),
            pytest.param(
                [make_discovered(2, 13), make_discovered(1)], "p1", id="in their order"
            ),
            pytest.param([make_discovered(3)], None, id="not asked for"),
        ],
    )
    async def test_the_first_watch_whose_pull_request_may_be_open_is_found(
        self, store, rows, found
    ):
        for row in rows:
            await store.write(watches.add_watch, row)

        watch = await store.read(watches.find_open, ("p1", "p2"))

        by_id = {row.id: row for row in rows}
        assert watch == (by_id[found] if found else None)

    async def test_a_watch_that_is_not_there_is_named_in_the_error(self, store):
        with pytest.raises(WatchNotFound, match="p9"):
            await store.read(watches.get_watch, "p9")

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            pytest.param(
                make_watch(1, branch="a"), make_watch(2, branch="a"), id="searching"
            ),
            pytest.param(
                make_discovered(1, branch="a"),
                make_discovered(2, branch="b"),
                id="discovered",
            ),
        ],
    )
    async def test_the_second_row_of_an_identity_is_not_added(
        self, store, first, second
    ):
        await store.write(watches.add_watch, first)

        assert not await store.write(watches.add_watch, second)
        assert await store.read(watches.list_watches, "w1") == [first]

    @pytest.mark.parametrize(
        "other",
        [
            pytest.param(make_watch(2, branch="A"), id="case of the branch"),
            pytest.param(make_watch(2, branch="a", task_id="t2"), id="task"),
            pytest.param(
                make_watch(2, branch="a", repository_id="r2"), id="repository"
            ),
            pytest.param(
                make_discovered(2, branch="a"), id="discovered beside searching"
            ),
        ],
    )
    async def test_different_identities_stand_beside_each_other(self, store, other):
        await store.write(watches.add_watch, make_watch(1, branch="a"))

        assert await store.write(watches.add_watch, other)

    async def test_a_hundred_sessions_add_one_row(self, store):
        async def add(number):
            await store.write(watches.add_watch, make_watch(number, branch="a"))

        async with anyio.create_task_group() as group:
            for number in range(100):
                group.start_soon(add, number)

        assert await store.raw("SELECT count(*) AS n FROM pr_watches") == [{"n": 1}]

    async def test_a_hundred_movers_to_one_branch_leave_one_row(self, store):
        rows = [make_watch(number, revision=number) for number in range(100)]
        for row in rows:
            await store.write(watches.add_watch, row)
        answers = []

        async def move(row):
            answers.append(
                await store.write(
                    watches.move_branch,
                    row,
                    branch="new",
                    head_repository="",
                    now=at(5),
                )
            )

        async with anyio.create_task_group() as group:
            for row in rows:
                group.start_soon(move, row)

        left = await store.read(watches.list_watches, "w1")
        assert [(row.branch, row.revision) for row in left] == [("new", 99)]
        assert {answer.id for answer in answers} == {left[0].id}

    async def test_of_a_hundred_movers_of_one_row_one_wins(self, store):
        row = make_watch()
        await store.write(watches.add_watch, row)
        answers = []

        async def move(number):
            answers.append(
                await store.write(
                    watches.move_branch,
                    row,
                    branch=f"new{number}",
                    head_repository="",
                    now=at(5),
                )
            )

        async with anyio.create_task_group() as group:
            for number in range(100):
                group.start_soon(move, number)

        winners = [answer for answer in answers if answer is not None]
        assert winners == await store.read(watches.list_watches, "w1")
        assert len(winners) == 1

    async def test_a_moved_row_keeps_what_is_its_own(self, store):
        row = make_watch(revision=4, branch_head_oid="old")
        await store.write(watches.add_watch, row)

        moved = await store.write(
            watches.move_branch, row, branch="new", head_repository="me/x", now=at(9)
        )

        assert moved == replace(
            row,
            branch="new",
            head_repository="me/x",
            branch_head_oid="",
            searching_since=at(9),
            last_sign_at=at(9),
        )
        assert await store.read(watches.get_watch, "p1") == moved

    async def test_a_row_that_moves_onto_a_sibling_leaves_the_siblings_search(
        self, store
    ):
        row, sibling = make_watch(1), make_watch(2, searching_since=at(-500))
        await store.write(watches.add_watch, row)
        await store.write(watches.add_watch, sibling)

        moved = await store.write(
            watches.move_branch, row, branch="branch2", head_repository="", now=at(9)
        )

        assert moved == replace(sibling, last_sign_at=at(9))
        assert await store.read(watches.list_watches, "w1") == [moved]

    async def test_a_searching_row_is_discovered(self, store):
        row = make_watch(revision=3)
        await store.write(watches.add_watch, row)

        found = await store.write(
            watches.discover, row, repository_id="r2", pr_number=12, node_id="PR_12"
        )

        assert found == replace(row, repository_id="r2", pr_number=12, node_id="PR_12")
        assert await store.read(watches.list_watches, "w1") == [found]

    async def test_a_discovery_merges_into_the_row_that_watches_it(self, store):
        row = make_watch(1, branch="a", head_repository="me/x", revision=9)
        link = make_discovered(2, branch="", revision=2)
        await store.write(watches.add_watch, row)
        await store.write(watches.add_watch, link)

        found = await store.write(
            watches.discover, row, repository_id="r1", pr_number=12, node_id="PR_12"
        )

        assert found == replace(link, branch="a", head_repository="me/x", revision=9)
        assert await store.read(watches.list_watches, "w1") == [found]

    @pytest.mark.parametrize("transition", ["move", "discover", "remove"])
    async def test_whoever_finds_the_row_changed_was_second(self, store, transition):
        row = make_watch()
        await store.write(watches.add_watch, row)
        await store.write(
            watches.move_branch, row, branch="new", head_repository="", now=at(5)
        )

        if transition == "move":
            answer = await store.write(
                watches.move_branch, row, branch="b", head_repository="", now=at(6)
            )
        elif transition == "discover":
            answer = await store.write(
                watches.discover, row, repository_id="r1", pr_number=1, node_id=""
            )
        else:
            answer = await store.write(watches.remove_watch, row) or None

        assert answer is None
        assert [row.branch for row in await store.read(watches.list_watches, "w1")] == [
            "new"
        ]

    async def test_a_final_row_searches_again_with_its_revision(self, store):
        row = make_discovered(revision=7, branch_head_oid="x")
        await store.write(watches.add_watch, row)

        searching = await store.write(
            watches.return_to_searching,
            row,
            repository_id="r2",
            searching_since=at(20),
            last_sign_at=at(21),
        )

        assert searching == make_watch(
            1,
            repository_id="r2",
            revision=7,
            searching_since=at(20),
            last_sign_at=at(21),
        )
        assert await store.read(watches.list_watches, "w1") == [searching]

    async def test_a_final_row_merges_into_a_searching_sibling(self, store):
        row = make_discovered(1, branch="a", revision=7)
        sibling = make_watch(2, branch="a", branch_head_oid="head")
        await store.write(watches.add_watch, row)
        await store.write(watches.add_watch, sibling)

        searching = await store.write(
            watches.return_to_searching,
            row,
            repository_id="r1",
            searching_since=at(20),
            last_sign_at=at(-21),
        )

        assert searching == replace(sibling, revision=7, searching_since=at(20))
        assert await store.read(watches.list_watches, "w1") == [searching]

    async def test_a_returning_row_never_finds_its_own_pull_request_again(self, store):
        row = make_discovered(1, branch="a", revision=0, watermark=None)
        sibling = make_watch(2, branch="a", searching_since=at(-90))
        await store.write(watches.add_watch, row)
        await store.write(watches.add_watch, sibling)

        searching = await store.write(
            watches.return_to_searching,
            row,
            repository_id="r1",
            searching_since=at(20),
            last_sign_at=at(0),
        )

        assert searching == replace(sibling, searching_since=at(20))
        assert await store.read(watches.get_watch, "p2") == searching

    async def test_a_row_with_another_revision_does_not_return(self, store):
        row = make_discovered(revision=7)
        await store.write(watches.add_watch, row)

        answer = await store.write(
            watches.return_to_searching,
            replace(row, revision=6),
            repository_id="r1",
            searching_since=at(20),
            last_sign_at=at(0),
        )

        assert answer is None
        assert await store.read(watches.list_watches, "w1") == [row]

    @pytest.mark.parametrize(
        ("arriving", "standing", "newest"),
        [
            pytest.param(5, 3, "arriving", id="the arriving row is newer"),
            pytest.param(3, 5, "standing", id="the standing row is newer"),
            pytest.param(None, 5, "standing", id="the arriving row was never observed"),
            pytest.param(5, None, "arriving", id="the standing row was never observed"),
        ],
    )
    @pytest.mark.parametrize("revisions", [(2, 9), (9, 2)])
    async def test_a_merge_takes_the_newest_watermark_as_one_set(
        self, store, arriving, standing, newest, revisions
    ):
        def build(number, seconds, revision):
            watermark = None if seconds is None else make_watermark(seconds)
            return make_discovered(
                number, seconds=seconds or 0, watermark=watermark, revision=revision
            )

        comes = build(1, arriving, revisions[0])
        stands = build(2, standing, revisions[1])
        await store.write(watches.add_watch, stands)

        merged = await store.write(watches.put_back, comes)

        source = comes if newest == "arriving" else stands
        assert merged == replace(
            stands,
            # Whoever arrives was found by its branch just now.
            branch=comes.branch,
            revision=9,
            watermark=source.watermark,
            fingerprint=source.fingerprint,
        )
        assert await store.read(watches.list_watches, "w1") == [merged]

    async def test_an_observation_is_committed_whole(self, store):
        before = make_discovered(watermark=None, revision=0, fingerprint="")
        await store.write(watches.add_watch, before)
        after = replace(
            before,
            revision=1,
            fingerprint="f",
            watermark=make_watermark(3),
            node_id="N",
        )

        assert await store.write(watches.commit_observation, before, after)

        assert await store.read(watches.get_watch, "p1") == after

    async def test_of_many_commits_on_one_revision_one_takes_effect(self, store):
        before = make_discovered(revision=3)
        await store.write(watches.add_watch, before)
        answers = []

        async def commit(number):
            after = replace(before, revision=4, watermark=make_watermark(number))
            answers.append(await store.write(watches.commit_observation, before, after))

        async with anyio.create_task_group() as group:
            for number in range(1, 21):
                group.start_soon(commit, number)

        assert sorted(answers) == [False] * 19 + [True]
        assert (await store.read(watches.get_watch, "p1")).revision == 4

    async def test_a_commit_on_another_pull_request_is_refused(self, store):
        row = make_discovered()
        await store.write(watches.add_watch, row)
        other = replace(row, pr_number=13)

        assert not await store.write(
            watches.commit_observation, other, replace(other, revision=2)
        )
        assert await store.read(watches.get_watch, "p1") == row

    async def test_a_row_is_removed_only_as_it_was_seen(self, store):
        row = make_discovered(revision=2)
        await store.write(watches.add_watch, row)

        assert not await store.write(watches.remove_watch, replace(row, revision=1))
        assert not await store.write(watches.remove_watch, replace(row, pr_number=1))
        assert await store.write(watches.remove_watch, row)
        assert not await store.write(watches.remove_watch, row)

    async def test_a_touch_changes_no_revision(self, store):
        row = make_watch()
        await store.write(watches.add_watch, row)
        signs = {
            "branch_head_oid": "new",
            "last_sign_at": at(8),
            "searching_since": at(9),
        }

        assert await store.write(watches.touch_searching, row, **signs)

        assert await store.read(watches.get_watch, "p1") == replace(row, **signs)
        assert await store.rows_written_by(watches.touch_searching, row, **signs) == (
            0,
            False,
        )

    async def test_a_discovered_row_is_not_touched(self, store):
        row = make_discovered()
        await store.write(watches.add_watch, row)

        assert not await store.write(
            watches.touch_searching,
            row,
            branch_head_oid="new",
            last_sign_at=at(8),
            searching_since=None,
        )
        assert await store.read(watches.get_watch, "p1") == row

    async def test_equal_values_are_not_written(self, store):
        row = make_discovered()
        await store.write(watches.add_watch, row)

        assert await store.rows_written_by(watches.add_watch, row) == (0, False)
        assert await store.rows_written_by(watches.commit_observation, row, row) == (
            0,
            False,
        )
