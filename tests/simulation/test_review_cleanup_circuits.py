"""Which call opens, skips and closes which circuit of cleaning up, and what stays."""

import dataclasses
import datetime as dt

import httpx
import pytest

from prwatch.app.cleanup.circuits import CleanupCircuit
from prwatch.app.cleanup.cleanup import ReviewCleanup
from prwatch.app.polling import poll
from prwatch.app.review.queue import ReviewQueue, SearchOrder
from prwatch.domain.outcome import FailureClass
from prwatch.errors import StoreUnavailable
from prwatch.github.client import Endpoints, GitHub
from prwatch.simulator import DEFAULT_TOKEN, Fault, GitHubApp, World
from tests.cleanup import (
    ASKED,
    DRY,
    MINE,
    ask,
    open_found,
    rows,
    sweep,
    sweeps,
    tasks,
    verdicts,
    write,
)
from tests.product import MovedClock, open_product

FORCED = SearchOrder(is_forced=True)
HOUR = 3600.0
SECOND = dt.timedelta(seconds=1)
CORP = (
    '[[workspace]]\nname = "corp"\ntoken_env = "CORP"\n'
    '[[workspace.review]]\nname = "theirs"\nquery = "repo:octo/corp"'
)


@pytest.fixture
def world():
    world = World(MovedClock())
    world.add_repository("octo/hello")
    world.add_repository("octo/corp")
    return world


def opened(cleanup):
    """Return the circuits that hold back: of what, and why."""
    return [
        (kind.value, standing.blow.failure_class.value)
        for kind, _, standing in cleanup.circuits.items()
    ]


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        pytest.param("bad_credentials", ("shared", "auth"), id="401"),
        pytest.param("secondary", ("shared", "limit"), id="secondary limit"),
        pytest.param("rate_limited", ("shared", "limit"), id="primary limit"),
        pytest.param("html502", ("shared", "transient"), id="HTML page"),
        pytest.param("not_json", ("shared", "transient"), id="no JSON"),
        pytest.param("reset", ("shared", "transient"), id="no answer"),
        pytest.param("partial_not_found;numbers=1", ("record", "config"), id="404"),
        pytest.param("forbidden", ("record", "config"), id="not granted"),
        pytest.param("null_alias", ("record", "transient"), id="null"),
    ],
)
async def test_a_failure_opens_its_circuit_and_a_success_closes_it(
    tmp_path, world, fault, expected
):
    ask(world)
    async with open_found(tmp_path, world) as (product, cleanup):
        # A refused token is looked at anew and tried once more by itself.
        times = {"transient": "none", "auth": "2"}.get(expected[1], "1")
        rule = world.faults.add(f"{fault};times={times};match=ReviewEnds")
        await sweep(product, cleanup)
        at_once = opened(cleanup)
        skipped = await sweep(product, cleanup, gap=1.0)
        world.faults.remove(rule)
        good = await sweep(product, cleanup, gap=2 * HOUR)
        closed = opened(cleanup)

    key = (CleanupCircuit(expected[0]), FailureClass(expected[1]))
    assert at_once == [expected]
    assert verdicts(skipped) == {"skipped": 1}
    assert skipped.findings[0].until > product.clock.now() - 2 * HOUR * SECOND
    assert (verdicts(good), closed) == ({"open": 1}, [])
    assert cleanup.circuits.opens == {key: 1}
    assert cleanup.circuits.failures == {key: 1}
    assert cleanup.circuits.skips == {key: 1}
    assert cleanup.circuits.resets == {key: 1}


async def test_polling_and_searching_leave_the_circuit_open_and_it_leaves_theirs(
    tmp_path, world
):
    ask(world)
    async with open_found(tmp_path, world) as (product, cleanup):
        world.faults.add(Fault(kind="bad_credentials", times=2, match="ReviewEnds"))
        await sweep(product, cleanup)
        polled = await poll(product.runtime, is_forced=True)
        found = await ReviewQueue(product.runtime).run_once(FORCED)

        assert (polled.failures, found.failures) == ([], [])
        assert opened(cleanup) == [("shared", "auth")]
        assert len(product.runtime.circuits) == 0


async def test_a_failure_of_polling_does_not_hold_cleaning_up_back(tmp_path, world):
    one = ask(world)
    text = 'repository = "octo/hello"\npull_request = 1'
    config = f"{MINE}\n[[workspace.watch]]\n{text}"
    async with open_product(tmp_path, world, watches=(), tasks=config) as product:
        cleanup = ReviewCleanup(product.runtime)
        await ReviewQueue(product.runtime).run_once()
        rule = world.faults.add(
            Fault(kind="html502", times=None, match="PullRequest|Probe|Detail")
        )
        await product.cycle()
        world.faults.remove(rule)
        world.merge(one)
        is_open = len(product.runtime.circuits) > 0
        gone = await sweeps(product, cleanup, 2)

        assert is_open
        assert gone == 1
        assert len(product.runtime.circuits) > 0


async def test_one_inaccessible_pull_request_stops_one_record(tmp_path, world):
    ones = [ask(world, number) for number in range(1, 6)]
    async with open_found(tmp_path, world) as (product, cleanup):
        for one in ones:
            world.merge(one)
        world.faults.add("partial_not_found;numbers=3;times=none")
        gone = await sweeps(product, cleanup, 3)

        assert gone == 4
        assert tasks(product) == ["review:octo/hello#3"]
        assert opened(cleanup) == [("record", "config")]


async def test_changed_settings_reset_the_records_and_polling_does_not(tmp_path, world):
    ask(world)
    async with open_found(tmp_path, world) as (product, cleanup):
        world.faults.add("partial_not_found;numbers=1;match=ReviewEnds")
        await sweep(product, cleanup)
        write(product, "UPDATE review_watches SET last_error = 'x', incomplete_since=1")
        polled = await sweep(product, cleanup, gap=1.0)
        write(product, "UPDATE review_watches SET revision = revision + 1")
        edited = await sweep(product, cleanup, gap=1.0)

    assert verdicts(polled) == {"skipped": 1}
    assert verdicts(edited) == {"open": 1}


async def test_a_changed_connection_closes_the_shared_circuit(tmp_path, world):
    ask(world)
    async with open_found(tmp_path, world) as (product, cleanup):
        world.faults.add(Fault(kind="bad_credentials", times=2, match="ReviewEnds"))
        await sweep(product, cleanup)
        held = await sweep(product, cleanup, gap=1.0)
        write(product, "UPDATE connections SET generation = generation + 1")
        renewed = await sweep(product, cleanup, gap=1.0)

    assert (verdicts(held), verdicts(renewed)) == ({"skipped": 1}, {"open": 1})


async def test_the_circuit_of_a_row_that_is_gone_is_forgotten(tmp_path, world):
    ask(world)
    async with open_found(tmp_path, world) as (product, cleanup):
        world.faults.add("partial_not_found;numbers=1;times=none")
        await sweep(product, cleanup)
        before = opened(cleanup)
        write(product, "DELETE FROM review_tasks")
        await sweep(product, cleanup, gap=1.0)

        assert (before, opened(cleanup)) == ([("record", "config")], [])


async def test_a_restart_discards_the_circuits(tmp_path, world):
    ask(world)
    async with open_found(tmp_path, world) as (product, cleanup):
        world.faults.add("partial_not_found;numbers=1;match=ReviewEnds")
        await sweep(product, cleanup)
    async with open_found(tmp_path, world) as (product, again):
        report = await sweep(product, again, gap=1.0)

    assert (opened(cleanup), verdicts(report)) == ([("record", "config")], {"open": 1})


@pytest.mark.parametrize(
    "fault", ["bad_credentials;times=2", "partial_not_found;numbers=1"]
)
async def test_what_a_person_asks_for_passes_the_circuits(tmp_path, world, fault):
    one = ask(world)
    async with open_found(tmp_path, world) as (product, cleanup):
        world.merge(one)
        await sweep(product, cleanup)
        world.faults.add(f"{fault};match=ReviewEnds")
        await sweep(product, cleanup)
        held = await sweep(product, cleanup, gap=1.0)
        asked = await sweep(product, cleanup, ASKED, gap=1.0)

        assert (verdicts(held), asked.deleted) == ({"skipped": 1}, 1)
        assert opened(cleanup) == []


async def test_the_others_go_on_beside_a_dead_token(tmp_path, world):
    world.set_token("corp", login="octocat")
    one, two = ask(world, 1), ask(world, 2, repository="octo/corp")
    reviews = f'{MINE}\nquery = "repo:octo/hello"\n{CORP}'
    async with open_found(
        tmp_path, world, reviews=reviews, secrets={"CORP": "corp"}
    ) as (product, cleanup):
        world.merge(one)
        world.merge(two)
        world.revoke_token(DEFAULT_TOKEN)
        gone = await sweeps(product, cleanup, 3)

        assert gone == 1
        assert tasks(product) == ["review:octo/hello#1"]
        assert opened(cleanup) == [("shared", "auth")]


class CountedCredential:
    """Counts how often its token is asked for."""

    def __init__(self, inner):
        self._inner = inner
        self.asked = 0

    @property
    def source(self):
        return self._inner.source

    @property
    def generation(self):
        return self._inner.generation

    async def token(self):
        self.asked += 1
        return await self._inner.token()

    async def reload(self, *, was_refused=False):
        return await self._inner.reload(was_refused=was_refused)


def count_tokens(runtime, world):
    """Return the runtime with credentials that count, and these."""
    http = httpx.AsyncClient(transport=httpx.ASGITransport(GitHubApp(world)))
    counted, accounts = [], []
    for account in runtime.wired.accounts:
        credential = CountedCredential(account.github.credential)
        counted.append(credential)
        github = GitHub(
            http,
            credential,
            endpoints=Endpoints(
                "https://api.github.com", "https://api.github.com/graphql"
            ),
            clock=runtime.clock,
            settle=runtime.settings.settle,
            limits=account.github.limits,
        )
        accounts.append(dataclasses.replace(account, github=github))
    wired = dataclasses.replace(runtime.wired, accounts=tuple(accounts))
    return dataclasses.replace(runtime, wired=wired), counted


@pytest.mark.parametrize("bucket", ["core", "graphql"])
async def test_no_token_is_asked_for_while_a_limit_or_a_circuit_forbids_it(
    tmp_path, world, bucket
):
    ask(world)
    async with open_found(tmp_path, world) as (product, _):
        runtime, (credential,) = count_tokens(product.runtime, world)
        cleanup = ReviewCleanup(runtime)
        await sweep(product, cleanup)
        used = credential.asked
        blocks = runtime.wired.accounts[0].github.limits.tracker
        blocks.add_blocks([(bucket, product.clock.now() + HOUR * SECOND)])
        limited = await sweep(product, cleanup)
        after_limit = credential.asked
        await sweep(product, cleanup, gap=HOUR)
        world.faults.add(Fault(kind="bad_credentials", times=2, match="ReviewEnds"))
        await sweep(product, cleanup)
        before = credential.asked
        held = await sweep(product, cleanup, gap=1.0)
        skips = cleanup.circuits.skips

        assert used > 0
        assert (verdicts(limited), after_limit) == ({"skipped": 1}, used)
        assert (verdicts(held), credential.asked) == ({"skipped": 1}, before)
        assert skips == {
            (CleanupCircuit.SHARED, FailureClass.LIMIT): 1,
            (CleanupCircuit.SHARED, FailureClass.AUTH): 1,
        }


async def test_the_next_turn_begins_behind_what_a_request_failed_with(tmp_path, world):
    for number in range(1, 251):
        ask(world, number)
    async with open_found(tmp_path, world) as (product, cleanup):
        world.faults.add(Fault(kind="secondary", match="ReviewEnds", retry_after=60))
        first = await sweep(product, cleanup)
        second = await sweep(product, cleanup)

        assert verdicts(first) == {"skipped": 250}
        assert verdicts(second) == {"open": 250}
        order = [f"review:octo/hello#{row['pr_number']}" for row in rows(product)]
        places = [each.task for each in second.findings]
        assert places == order[100:] + order[:100]


class StoreOfOneTask:
    """Fails to remove one task, so many times."""

    def __init__(self, database, times):
        self._database = database
        self.times = times

    async def transact(self, fn):
        if fn.__qualname__.startswith("remove_done") and self.times:
            self.times -= 1
            raise StoreUnavailable("the database is locked")
        return await self._database.transact(fn)

    def __getattr__(self, name):
        return getattr(self._database, name)


async def test_a_removal_that_fails_is_told_and_tried_again_and_holds_up_no_other(
    tmp_path, world
):
    ones = [ask(world, number) for number in range(1, 4)]
    async with open_found(tmp_path, world) as (product, _):
        database = StoreOfOneTask(product.runtime.database, 3)
        cleanup = ReviewCleanup(dataclasses.replace(product.runtime, database=database))
        for one in ones:
            world.merge(one)
        await sweep(product, cleanup)
        first = await sweep(product, cleanup)
        second = await sweep(product, cleanup)

        assert (verdicts(first), first.deleted) == ({"failed": 3}, 0)
        assert [each.code for each in first.failures] == ["store_unavailable"] * 3
        assert first.error is not None
        assert (verdicts(second), tasks(product)) == ({"deleted": 3}, [])


async def test_rows_of_a_watch_that_cannot_be_read_are_left_and_others_go(
    tmp_path, world
):
    one, two = ask(world, 1), ask(world, 2, repository="octo/corp")
    reviews = (
        f'{MINE}\nquery = "repo:octo/hello"\n'
        '[[workspace.review]]\nname = "b"\nquery = "repo:octo/corp"'
    )
    async with open_found(tmp_path, world, reviews=reviews) as (product, cleanup):
        world.merge(one)
        world.merge(two)
        write(product, "UPDATE review_watches SET policy = '?' WHERE name = 'mine'")
        report = await sweep(product, cleanup)
        gone = await sweeps(product, cleanup)

        assert verdicts(report) == {"unreadable": 1, "seen_done": 1}
        assert (gone, tasks(product)) == (1, ["review:octo/hello#1"])


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE review_tasks SET policy = '?'",
        "UPDATE review_tasks SET terminal_evidence = '{'",
        "UPDATE tasks SET origin = '?'",
    ],
)
async def test_a_row_that_cannot_be_understood_removes_nothing(
    tmp_path, world, statement
):
    one = ask(world)
    async with open_found(tmp_path, world, policy="always") as (product, cleanup):
        world.merge(one)
        await sweep(product, cleanup)
        write(product, statement)
        report = await sweep(product, cleanup)

        assert verdicts(report) == {"unreadable": 1}
        assert (len(tasks(product)), len(rows(product))) == (1, 1)


@pytest.mark.parametrize("kind", ["html502", "bad_credentials", "secondary"])
async def test_a_dry_run_opens_closes_and_counts_nothing(tmp_path, world, kind):
    one = ask(world)
    async with open_found(tmp_path, world) as (product, cleanup):
        world.merge(one)
        rule = world.faults.add(Fault(kind=kind, match="ReviewEnds", times=None))
        with product.refused_writes():
            dry = await sweep(product, cleanup, DRY)
        world.faults.remove(rule)
        counts = cleanup.circuits
        assert not any([counts.skips, counts.opens, counts.resets, counts.failures])
        assert verdicts(dry) == {"skipped": 1}
        assert dry.findings[0].until is None
        product.clock.advance(90.0)  # a limit is everybody's, and no circuit
        assert verdicts(await sweep(product, cleanup, gap=1.0)) == {"seen_done": 1}


async def test_a_dry_run_closes_no_circuit_and_moves_no_turn(tmp_path, world):
    for number in range(1, 103):
        ask(world, number)
    async with open_found(tmp_path, world) as (product, cleanup):
        rule = world.faults.add(Fault(kind="html502", match="ReviewEnds", times=None))
        failed = await sweep(product, cleanup)
        world.faults.remove(rule)
        standing = list(cleanup.circuits.items())
        with product.refused_writes():
            dry = await sweep(product, cleanup, DRY, gap=1.0)
        assert verdicts(dry) == {"open": 102}
        assert standing
        assert list(cleanup.circuits.items()) == standing
        # The turn begins where it would have begun without the dry run.
        world.faults.add(Fault(kind="html502", match="ReviewEnds", times=None))
        report = await sweep(product, cleanup)
        assert report.findings[0].reference == failed.findings[100].reference


async def test_one_sweep_leaves_the_reserve_to_people(tmp_path, world):
    logins = [f"person-{number}" for number in range(1, 16)]
    for number, login in enumerate(logins, 1):
        ask(world, number, reviewer=login)
    reviews = "\n".join(
        f'[[workspace.review]]\nname = "{each}"\ntarget_login = "{each}"'
        for each in logins
    )
    async with open_found(tmp_path, world, reviews=reviews, poll="reserve = 0.5") as (
        product,
        cleanup,
    ):
        world.limits["graphql"] = 20
        report = await sweep(product, cleanup, gap=HOUR)
        kept = world.get_budget("octocat", "graphql").remaining
        asked = await sweep(product, cleanup, ASKED, gap=0.0)
        used = world.get_budget("octocat", "graphql").remaining

    assert (kept, [each.code for each in report.failures]) == (10, ["reserve_kept"])
    assert verdicts(report) == {"open": 10, "skipped": 5}
    assert used < kept
    assert verdicts(asked)["open"] > 0
