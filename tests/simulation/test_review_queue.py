"""Pull requests that ask for review: one task and one event of each."""

import anyio
import httpx
import pytest

from prwatch.app.review.queue import ReviewQueue, SearchOrder
from prwatch.domain.review_watch import (
    RESERVED_FOR,
    IncompleteReason,
    ReviewedPullRequest,
    ReviewScope,
    ReviewSettings,
    ReviewTask,
    ReviewWatch,
)
from prwatch.domain.task import Origin
from prwatch.simulator import GitHubApp, World
from prwatch.store import review_tasks, review_watches
from tests.product import MovedClock, open_product

MINE = '[[workspace.review]]\nname = "mine"'
TEAMS = '[[workspace.review]]\nname = "teams"\nscope = "user_and_teams"'
ME = "octocat"
INTERVAL = 300.0


@pytest.fixture
def world():
    world = World(MovedClock())
    world.add_repository("octo/hello")
    return world


def ask(world, number, reviewer=ME, repository="octo/hello", **options):
    """Open a pull request that asks for somebody's review."""
    one = world.open_pull_request(
        repository, branch=f"topic-{number}", title=f"Topic {number}", number=number
    )
    world.request_review(one, reviewer, **options)
    return one


def open_queue(tmp_path, world, *, reviews=MINE, **options):
    return open_product(tmp_path, world, watches=(), tasks=reviews, **options)


async def turn(product, queue=None, *, gap=INTERVAL, **options):
    """Let time pass, search what is due and deliver; return the events."""
    product.clock.advance(gap)
    queue = queue or ReviewQueue(product.runtime)
    report = await queue.run_once(**options)
    for relay in product.runtime.relays:
        await relay.run_once()
    assert product.take_events() == []
    told, product.notices[:] = list(product.notices), []
    return report, told


def list_tasks(product):
    return product.ask(
        "SELECT tasks.external_id, tasks.origin, tasks.title, review_tasks.pr_number"
        " FROM review_tasks LEFT JOIN tasks ON tasks.id = review_tasks.task_id"
        " ORDER BY review_tasks.id"
    )


def numbers(told):
    return [each["data"]["pull_request"]["number"] for each in told]


async def read_watch(product, name="mine"):
    (workspace,) = product.runtime.wired.workspaces.values()

    async def read(tx):
        return await review_watches.find_review_watch(tx, workspace.id, name)

    return await product.runtime.database.read(read)


async def test_a_request_becomes_a_task_and_an_event_once(tmp_path, world):
    one = ask(world, 12)
    async with open_queue(tmp_path, world) as product:
        queue = ReviewQueue(product.runtime)
        _, (event,) = await turn(product, queue)
        watch = await read_watch(product)
        with product.refused_writes():
            for _ in range(3):
                assert (await turn(product, queue))[1] == []
        tasks = list_tasks(product)
        watches = product.ask("SELECT * FROM pr_watches")

    assert tasks == [
        {
            "external_id": "review:octo/hello#12",
            "origin": "review",
            "title": "Topic 12",
            "pr_number": 12,
        }
    ]
    assert watches == []
    assert (event["type"], event["subject"]) == (
        "GitHubPRReviewRequested",
        "acme/review:octo/hello#12",
    )
    assert event["data"] == {
        "workspace": "acme",
        "task_id": "review:octo/hello#12",
        "review_watch": {"id": watch.id, "name": "mine"},
        "repository": {
            "owner": "octo",
            "name": "hello",
            "node_id": one.repository.id,
        },
        "pull_request": {
            "number": 12,
            "node_id": one.id,
            "url": one.url,
            "title": "Topic 12",
            "author": one.author.login,
            "state": "OPEN",
            "is_draft": False,
        },
        "requested": ME,
        "backlog": True,
        "superseded": False,
    }


class TickingClock(MovedClock):
    """Moves on whenever it is read, as the machine's does."""

    def now(self):
        self.advance(1e-6)
        return super().now()


async def test_a_watch_is_due_on_a_clock_that_never_stands_still(tmp_path, world):
    ask(world, 1)
    async with open_queue(tmp_path, world, clock=TickingClock()) as product:
        queue = ReviewQueue(product.runtime)
        _, first = await turn(product, queue)
        ask(world, 2)
        _, second = await turn(product, queue)

    assert (numbers(first), numbers(second)) == ([1], [2])


async def test_what_waited_at_the_first_search_is_backlog_and_later_requests_are_not(
    tmp_path, world
):
    ask(world, 1)
    async with open_queue(tmp_path, world) as product:
        _, first = await turn(product)
        ask(world, 2)
        _, second = await turn(product)

    assert [(*numbers([e]), e["data"]["backlog"]) for e in first + second] == [
        (1, True),
        (2, False),
    ]


async def test_a_restart_makes_nothing_again(tmp_path, world):
    ask(world, 1)
    async with open_queue(tmp_path, world) as product:
        await turn(product)
    async with open_queue(tmp_path, world) as product:
        with product.refused_writes():
            _, told = await turn(product)

    assert told == []


async def test_pollers_and_a_person_at_once_make_one_task_and_one_event(
    tmp_path, world
):
    for number in range(1, 6):
        ask(world, number)
    async with open_queue(tmp_path, world) as product:
        queues = [ReviewQueue(product.runtime) for _ in range(2)]
        async with anyio.create_task_group() as group:
            for queue in queues:
                group.start_soon(queue.run_once)
            group.start_soon(queues[0].run_once, SearchOrder(is_forced=True))
        _, told = await turn(product)

        assert sorted(numbers(told)) == [1, 2, 3, 4, 5]
        assert len(list_tasks(product)) == 5


@pytest.mark.parametrize(
    ("reviews", "found"),
    [
        pytest.param(MINE, [1], id="person"),
        pytest.param(TEAMS, [1, 2], id="person and teams"),
        pytest.param(f'{MINE}\ntarget_login = "bob"', [3], id="somebody else"),
        pytest.param(f'{MINE}\nrepositories = ["octo/other"]', [], id="elsewhere"),
        pytest.param(
            f'{TEAMS}\nrepositories = ["octo/hello", "octo/gone"]',
            [1, 2],
            id="repositories",
        ),
        pytest.param(f'{MINE}\norganisations = ["octo"]', [1], id="organisation"),
        pytest.param(f'{MINE}\nquery = "head:topic-3"', [3], id="own query"),
        pytest.param(f"{MINE}\nenabled = false", [], id="disabled"),
    ],
)
async def test_a_watch_finds_what_it_is_made_for(tmp_path, world, reviews, found):
    world.join_team("reviewers", ME)
    world.add_repository("octo/other")
    ask(world, 1)
    ask(world, 2, "reviewers", kind="Team")
    ask(world, 3, "bob")
    async with open_queue(tmp_path, world, reviews=reviews) as product:
        _, told = await turn(product)

    assert sorted(numbers(told)) == found


def approve(world, one):
    world.submit_review(one, ME)


def ask_again(world, one):
    approve(world, one)
    world.request_review(one, ME)


def dismiss(world, one):
    world.dismiss_review(one, world.submit_review(one, ME))


def change_mind(world, one):
    approve(world, one)
    world.submit_review(one, ME, "CHANGES_REQUESTED")


@pytest.mark.parametrize(
    ("act", "found"),
    [
        pytest.param(lambda world, one: world.merge(one), [], id="merged"),
        pytest.param(lambda world, one: world.close(one), [], id="closed"),
        pytest.param(approve, [], id="approved by me"),
        pytest.param(ask_again, [1], id="asked again"),
        pytest.param(dismiss, [1], id="dismissed"),
        pytest.param(change_mind, [1], id="changes requested"),
        pytest.param(
            lambda world, one: world.submit_review(one, "bob"), [1], id="approved"
        ),
    ],
)
async def test_a_hit_whose_review_is_done_creates_nothing(tmp_path, world, act, found):
    act(world, ask(world, 1))
    reviews = f'{MINE}\nquery = "repo:octo/hello"'
    async with open_queue(tmp_path, world, reviews=reviews) as product:
        _, told = await turn(product)

        assert numbers(told) == found
        assert len(list_tasks(product)) == len(found)


async def test_a_thousand_hits_are_paged_and_more_are_incomplete(tmp_path, world):
    for number in range(1, 1001):
        ask(world, number)
    async with open_queue(tmp_path, world) as product:
        queue = ReviewQueue(product.runtime)
        report, told = await turn(product, queue)
        whole = await read_watch(product)
        ask(world, 1001)
        await turn(product, queue)
        over = await read_watch(product)

    (outcome,) = report.outcomes.values()
    assert (outcome.hits, outcome.created, len(told)) == (1000, 1000, 1000)
    assert outcome.is_complete
    assert (whole.incomplete_since, whole.backlog_done_at is not None) == (None, True)
    assert over.incomplete_since is not None
    assert over.incomplete_reason is IncompleteReason.OVER_CAP
    assert whole.incomplete_reason is None


class BrokenPlace(httpx.ASGITransport):
    """Cannot search one place."""

    def __init__(self, world, place):
        super().__init__(GitHubApp(world))
        self.place = place
        self.is_broken = True

    async def handle_async_request(self, request):
        if self.is_broken and self.place in request.content:
            return httpx.Response(502, request=request)
        return await super().handle_async_request(request)


async def test_an_incomplete_search_takes_up_what_it_shows_and_concludes_nothing(
    tmp_path, world
):
    ask(world, 1)
    reviews = f'{MINE}\nrepositories = ["octo/hello", "octo/other"]'
    world.add_repository("octo/other")
    ask(world, 2, repository="octo/other")
    transport = BrokenPlace(world, b"octo/other")
    async with open_queue(
        tmp_path, world, reviews=reviews, transport=transport
    ) as product:
        queue = ReviewQueue(product.runtime)
        report, first = await turn(product, queue)
        broken = await read_watch(product)
        with product.refused_writes():
            await turn(product, queue)
        transport.is_broken = False
        _, second = await turn(product, queue)
        whole = await read_watch(product)

    assert (numbers(first), numbers(second)) == ([1], [2])
    assert [e["data"]["backlog"] for e in first + second] == [True, True]
    assert (broken.backlog_done_at, bool(broken.last_error)) == (None, True)
    assert broken.incomplete_since is not None
    assert [f.reference for f in report.failures] == ["mine"]
    assert (whole.last_error, whole.incomplete_since) == ("", None)
    assert whole.backlog_done_at is not None


async def test_each_watch_is_searched_at_its_own_interval(tmp_path, world):
    reviews = f'{MINE}\ninterval = "60s"\n{TEAMS}\ninterval = "10m"'
    searched = []
    async with open_queue(tmp_path, world, reviews=reviews) as product:
        queue = ReviewQueue(product.runtime)
        for _ in range(11):
            report, _ = await turn(product, queue, gap=60.0)
            searched.append([name for _, name in report.outcomes])

    assert searched == [["mine", "teams"], *([["mine"]] * 9), ["mine", "teams"]]


async def test_a_limit_leaves_out_searches_before_a_token_is_asked_for(tmp_path, world):
    ask(world, 1)
    async with open_queue(tmp_path, world) as product:
        queue = ReviewQueue(product.runtime)
        await turn(product, queue)
        (account,) = product.runtime.wired.accounts
        world.exhaust_rate_limit()
        await turn(product, queue)
        before = len(world.requests)
        report, _ = await turn(product, queue)
        watch = await read_watch(product)

    assert account.github.limits.blocked_until("graphql") is not None
    assert (report.outcomes, report.skipped) == ({}, {"limit": 1})
    assert len(world.requests) == before
    assert watch.last_error == ""


async def test_a_dead_token_opens_no_circuit_of_polling(tmp_path, world):
    async with open_queue(tmp_path, world, token="dead") as product:
        report, _ = await turn(product)
        watch = await read_watch(product)

        assert len(product.runtime.circuits) == 0
    assert [f.failure_class.value for f in report.failures] == ["auth"]
    assert watch.last_error


class EditingTransport(httpx.ASGITransport):
    """Does something while a search is on its way."""

    def __init__(self, world, act):
        super().__init__(GitHubApp(world))
        self.act = act

    async def handle_async_request(self, request):
        response = await super().handle_async_request(request)
        if b"ReviewHits" in request.content:
            await self.act()
        return response


@pytest.mark.parametrize("edit", ["edited", "disabled", "removed"])
async def test_an_edit_during_a_search_survives_and_its_hits_make_nothing(
    tmp_path, world, edit
):
    one = ask(world, 1)
    edited = ReviewSettings(scope=ReviewScope.USER_AND_TEAMS, is_enabled=False)

    async def act():
        transport.act = nothing
        (database, watch) = product.runtime.database, await read_watch(product)

        async def write(tx):
            if edit == "removed":
                await review_watches.remove_review_watch(tx, watch)
            else:
                await review_watches.put_review_settings(tx, watch, edited)

        await database.transact(write)

    async def nothing():
        pass

    transport = EditingTransport(world, act)
    async with open_queue(tmp_path, world, transport=transport) as product:
        _, told = await turn(product)
        watch = await read_watch(product)

        assert list_tasks(product) == []
    assert told == []
    assert one.state == "OPEN"
    if edit == "removed":
        assert watch is None
    else:
        assert (watch.settings, watch.revision) == (edited, 2)
        assert (watch.last_error, watch.backlog_done_at) == ("", None)


async def test_two_watches_of_one_pull_request_share_its_task(tmp_path, world):
    ask(world, 1)
    async with open_queue(tmp_path, world, reviews=f"{MINE}\n{TEAMS}") as product:
        _, told = await turn(product)
        tasks = product.ask("SELECT id FROM tasks")
        rows = product.ask("SELECT task_id FROM review_tasks")

    assert numbers(told) == [1]
    assert [row["task_id"] for row in rows] == [tasks[0]["id"]] * 2


async def test_a_reservation_left_by_a_crash_is_taken_over_after_its_time(
    tmp_path, world
):
    one = ask(world, 1)
    async with open_queue(tmp_path, world) as product:
        watch = await read_watch(product)
        row = ReviewTask(
            id="left",
            workspace_id=watch.workspace_id,
            review_watch_id=watch.id,
            policy=watch.settings.policy,
            pull_request=ReviewedPullRequest(
                owner="octo", name="hello", number=1, node_id=one.id
            ),
            reserved_at=product.clock.now(),
            reserved_by="gone",
            created_at=product.clock.now(),
        )
        await product.runtime.database.transact(
            lambda tx: review_tasks.add_review_task(tx, row)
        )
        _, early = await turn(product)
        _, late = await turn(product, gap=RESERVED_FOR.total_seconds() - INTERVAL)

    assert (numbers(early), numbers(late)) == ([], [1])


async def test_entries_come_and_go_and_a_persons_watch_stays(tmp_path, world):
    ask(world, 1)
    async with open_queue(tmp_path, world) as product:
        await turn(product)
        first = await read_watch(product)
        persons = ReviewWatch(
            id="p",
            workspace_id=first.workspace_id,
            name="own",
            origin=Origin.COMMAND,
            created_at=product.clock.now(),
        )
        await product.runtime.database.transact(
            lambda tx: review_watches.add_review_watch(tx, persons)
        )
    edited = f'{MINE}\npolicy = "never"'
    async with open_queue(tmp_path, world, reviews=edited) as product:
        second = await read_watch(product)
    async with open_queue(tmp_path, world, reviews="") as product:
        rows = product.ask("SELECT name FROM review_watches")
        left = product.ask("SELECT review_watch_id, policy FROM review_tasks")
        tasks = product.ask("SELECT archived_at FROM tasks")

    assert (second.id, second.revision) == (first.id, 2)
    assert second.settings.policy.value == "never"
    assert rows == [{"name": "own"}]
    assert left == [{"review_watch_id": "", "policy": "never"}]
    assert tasks == [{"archived_at": None}]
