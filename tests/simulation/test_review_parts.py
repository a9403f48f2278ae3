"""Searches of which a part fails: the rest keeps its pace, and nobody else is blamed."""

import dataclasses
import itertools

import anyio
import anyio.lowlevel
import pytest

from prwatch.app.review.queue import ReviewQueue
from prwatch.domain.outcome import FailureClass
from prwatch.simulator import DEFAULT_TOKEN, World
from prwatch.simulator.faults import Fault
from tests.product import MovedClock
from tests.simulation.test_review_owner import BOB, Acting
from tests.simulation.test_review_queue import (
    MINE,
    ask,
    numbers,
    open_queue,
    read_watch,
    turn,
)
from tests.simulation.test_review_retries import BAD, SSO, Broken

MINUTE = 'interval = "60s"'
BOTH = f'{MINE}\n{MINUTE}\nrepositories = ["octo/other", "octo/hello"]'
STEP = 15.0
LOGINS = "".join(
    f'[[workspace.review]]\nname = "{name}"\ntarget_login = "{name}"\n'
    for name in ("hubot", "octocat", "monalisa")
)


@pytest.fixture
def world():
    world = World(MovedClock())
    for name in ("octo/hello", "octo/other"):
        world.add_repository(name)
    return world


async def list_gaps(product, *, hours=4):
    """Return the seconds between the searches of some hours."""
    queue, times = ReviewQueue(product.runtime), []
    for _ in range(int(hours * 3600 / STEP)):
        product.clock.advance(STEP)
        if (await queue.run_once()).outcomes:
            times.append(product.clock.monotonic())
    return [after - before for before, after in itertools.pairwise(times)]


@pytest.mark.parametrize("answer", [SSO, BAD], ids=["refused", "broken"])
async def test_a_part_that_fails_does_not_slow_the_rest(tmp_path, world, answer):
    transport = Broken(world, answer, word=b"octo/other")
    async with open_queue(
        tmp_path, world, reviews=BOTH, transport=transport
    ) as product:
        gaps = await list_gaps(product)

    assert max(gaps) == 60.0
    # What passes is asked for a little sooner at first; a refusal never is.
    assert sum(gap < 60.0 for gap in gaps) <= (2 if answer is BAD else 0)


@pytest.mark.parametrize("answer", [SSO, BAD], ids=["refused", "broken"])
async def test_a_part_that_fails_costs_no_day_where_time_helps(tmp_path, world, answer):
    transport = Broken(world, answer, word=b"octo/other")
    reviews = BOTH.replace("60s", "24h")
    async with open_queue(
        tmp_path, world, reviews=reviews, transport=transport
    ) as product:
        gaps = await list_gaps(product, hours=1)

    assert (len(gaps) > 5) is (answer is BAD)


@pytest.mark.parametrize("is_dead", [True, False], ids=["dead token", "broken"])
async def test_what_answers_nothing_is_not_asked_each_minute(tmp_path, world, is_dead):
    transport = Broken(world, BAD)
    if is_dead:
        transport.is_broken = False
        world.tokens.pop(DEFAULT_TOKEN)
    async with open_queue(
        tmp_path, world, reviews=BOTH, transport=transport
    ) as product:
        gaps = await list_gaps(product)

    assert gaps[-1] >= (45 if is_dead else 7) * 60.0


async def test_a_refused_place_before_dead_ones_is_not_why_the_account_waits(
    tmp_path, world
):
    places = ", ".join(f'"octo/r{number}"' for number in range(4))
    reviews = f"{MINE}\nrepositories = [{places}]\n{MINE.replace('mine', 'next')}"
    world.faults.add(Fault(kind="sso", times=1, match="ReviewHits"))
    world.faults.add(Fault(kind="html502", times=None, skip=1, match="ReviewHits"))
    async with open_queue(tmp_path, world, reviews=reviews) as product:
        queue = ReviewQueue(product.runtime)
        report, _ = await turn(product, queue)
        hold = queue.find_hold(product.runtime.wired.accounts[0])
        own, other = await read_watch(product), await read_watch(product, "next")

    assert hold.failure_class is FailureClass.TRANSIENT
    assert "sign-on" in own.last_error
    assert other.last_error == ""
    told = {each.reference: each for each in report.failures}
    assert (told["next"].code, told["next"].failure_class) == (
        "provider_unavailable",
        FailureClass.TRANSIENT,
    )


@pytest.mark.parametrize("kind", ["secondary", "bad_credentials"])
@pytest.mark.parametrize("answered", [0, 1, 2])
async def test_nothing_ends_all_searches_of_a_workspace_that_got_an_answer(
    tmp_path, world, kind, answered
):
    world.faults.add(Fault(kind=kind, times=None, skip=answered, match="ReviewHits"))
    async with open_queue(tmp_path, world, reviews=LOGINS) as product:
        report, _ = await turn(product)

    assert len(report.failures) == 3 - answered
    assert {each.is_whole for each in report.failures} == {answered == 0}


async def test_an_answer_to_somebody_else_is_none_of_a_search(tmp_path, world):
    one = ask(world, 1)
    world.faults.add(Fault(kind="html502", times=None, match="ReviewHits"))
    transport, answers = Acting(world), []
    async with (
        open_queue(tmp_path, world, reviews=BOTH, transport=transport) as product,
        anyio.create_task_group() as group,
    ):
        (account,) = product.runtime.wired.accounts

        async def read_beside():
            facts = account.github.review_reader.iter_facts([one.id], "octocat")
            answers.extend([each async for each in facts])

        async def begin_beside():
            group.start_soon(read_beside)
            await anyio.lowlevel.checkpoint()

        # It gets its answer between the first search, which fails, and the second.
        transport.before = {b"ReviewHits": begin_beside}
        report, _ = await turn(product)
        in_time = len(answers)

    assert in_time == 1
    assert [each.is_whole for each in report.failures] == [True]


class SwappingDatabase:
    """Lets something happen once, right after a task was made."""

    def __init__(self, database, act):
        self._database = database
        self._act = act

    async def transact(self, fn):
        done = await self._database.transact(fn)
        act = self._act
        if act is not None and fn.__qualname__.startswith("_create_once"):
            self._act = None
            await act()
        return done

    def __getattr__(self, name):
        return getattr(self._database, name)


async def test_nothing_more_is_taken_up_for_whom_the_token_is_no_longer(
    tmp_path, world
):
    for number in (1, 2, 3):
        ask(world, number)
    world.set_token(BOB, login="bob")
    ask(world, 4, "bob")
    path = tmp_path / "token"
    path.write_text(DEFAULT_TOKEN)
    path.chmod(0o600)
    reviews = f'[[workspace]]\nname = "two"\ntoken_file = "{path}"\n{MINE}'
    async with open_queue(
        tmp_path / "state", world, reviews=reviews, token="dead"
    ) as product:
        (account,) = [
            each
            for each in product.runtime.wired.accounts
            if each.workspaces[0].name == "two"
        ]

        async def swap():
            path.write_text(BOB)
            await account.github.credential.reload()

        swapping = SwappingDatabase(product.runtime.database, swap)
        queue = ReviewQueue(dataclasses.replace(product.runtime, database=swapping))
        _, first = await turn(product, queue)
        _, second = await turn(product, queue)

    assert len(first) == 1
    assert [each["data"]["requested"] for each in first] == ["octocat"]
    assert numbers(second) == [4]
