"""Rows that cleaning up looks at, and tasks that go for good and come back."""

import dataclasses

import pytest

from prwatch.domain.review_watch import CleanupPolicy
from prwatch.domain.task import Checkout, Origin, PullRequestLink, TaskRepository
from prwatch.store import review_sweep, review_tasks, review_watches, tasks
from prwatch.store.task_removal import (
    add_bundle,
    find_bundle,
    parse_bundle,
    remove_task,
)
from prwatch.store.watches import add_watch
from tests.contract.store_review import make_review_task, make_review_watch
from tests.contract.store_rows import (
    at,
    make_session,
    make_task,
    make_watch,
)

TASK = make_task(9, external_id="review:octo/hello#12", origin=Origin.REVIEW)


class ReviewSweepContract:
    """Runs on every backend."""

    @pytest.fixture
    async def rows(self, store):
        rows = [
            make_review_task(12, task_id=TASK.id),
            make_review_task(13, task_id=TASK.id, review_watch_id=""),
            make_review_task(14),
        ]

        async def put(tx):
            await review_watches.add_review_watch(tx, make_review_watch())
            await tasks.add_task(tx, TASK)
            for row in rows:
                await review_tasks.add_review_task(tx, row)

        await store.write(put)
        return rows

    async def test_rows_of_one_task_stand_together_with_their_watches(
        self, store, rows
    ):
        found = await store.read(review_sweep.list_swept, "w1")
        one = await store.read(review_sweep.find_swept, "w1", TASK.id)

        assert [swept.task for swept in found] == [TASK, None]
        assert [each.row for each in found[0].rows] == rows[:2]
        assert [each.watch for each in found[0].rows] == [make_review_watch(), None]
        assert one == found[0]
        assert all(swept.is_readable for swept in found)
        assert await store.read(review_sweep.find_swept, "w1", "nothing") is None
        assert await store.read(review_sweep.list_swept, "w2") == []

    @pytest.mark.parametrize(
        ("act", "auto", "always"),
        [
            pytest.param(None, True, True, id="untouched"),
            pytest.param(
                lambda tx: tasks.put_person_wrote(tx, TASK.id, at(1)),
                False,
                True,
                id="a person wrote",
            ),
            pytest.param(
                lambda tx: tasks.put_waits_for(tx, TASK.id, "x"),
                False,
                True,
                id="waits",
            ),
            pytest.param(
                lambda tx: tasks.archive_task(tx, TASK.id, at(1)),
                False,
                True,
                id="archived",
            ),
            pytest.param(
                lambda tx: tasks.put_task_origin(tx, TASK.id, Origin.COMMAND),
                False,
                False,
                id="a person's",
            ),
        ],
    )
    async def test_a_task_is_held_as_it_was_decided_on(
        self, store, rows, act, auto, always
    ):
        if act is not None:
            await store.write(act)

        hold = review_sweep.hold_task
        assert await store.write(hold, "w1", TASK.id, CleanupPolicy.AUTO) == auto
        assert await store.write(hold, "w1", TASK.id, CleanupPolicy.ALWAYS) == always

    async def test_a_task_goes_with_all_and_comes_back_with_what_people_gave_it(
        self, store, rows
    ):
        session = make_session(9, task_id=TASK.id)
        place = TaskRepository(task_id=TASK.id, repository_id="r1", branch="fix")
        link = PullRequestLink(task_id=TASK.id, repository_id="r1", pr_number=12)
        checkout = Checkout(session_id=session.id, repository_id="r1", branch="fix")

        async def hang(tx):
            await tasks.put_task_repository(tx, place)
            await tasks.put_link(tx, link)
            await tasks.put_session(tx, session)
            await tasks.put_checkout(tx, checkout)
            await add_watch(tx, make_watch(9, task_id=TASK.id))

        await store.write(hang)
        bundle = await store.read(find_bundle, TASK)
        read = parse_bundle(bundle.as_json())
        gone = await store.write(remove_task, TASK.id)
        again = await store.write(remove_task, TASK.id)
        lost = dataclasses.replace(link, repository_id="gone")
        back = dataclasses.replace(read, links=(*read.links, lost))

        assert (gone, again) == (True, False)
        assert read == bundle
        assert (bundle.sessions, bundle.checkouts) == ((session,), (checkout,))
        assert (bundle.repositories, bundle.links) == ((place,), (link,))
        assert await store.write(add_bundle, back)
        assert not await store.write(add_bundle, back)
        assert await store.read(find_bundle, TASK) == bundle
