"""Accounts that pay, their limits, and what a restart or a person does within them."""

import contextlib
import datetime as dt

import pytest
from structlog.testing import capture_logs

from prwatch.app.command.check import check_watch
from prwatch.app.spending.limit_blocks import store_limits
from prwatch.errors import RateLimited, StoreError
from tests.product import ONE, OUT, MovedClock, open_product
from tests.simulation.scenarios import make_world

SAME_USER = "ghp_" + "s" * 36
OTHER_USER = "ghp_" + "o" * 36
SECOND = f"""
[[workspace]]
name = "second"
token_env = "SECOND"
[[workspace.watch]]
{ONE}
"""
HOUR = dt.timedelta(hours=1)


@pytest.fixture
def world():
    world, _ = make_world(MovedClock())
    world.set_token(SAME_USER)
    world.set_token(OTHER_USER, login="grace")
    return world


def open_two(folder, world, *, second=SAME_USER, **config):
    """Open a product with two workspaces, each with a token of its own."""
    secrets = {"SECOND": second}
    return open_product(folder, world, secrets=secrets, sinks=SECOND + OUT, **config)


def limits_of(product):
    return [account.github.limits for account in product.runtime.wired.accounts]


def stored(product):
    sql = "SELECT account, bucket FROM rate_limit_blocks ORDER BY 1, 2"
    return [tuple(row.values()) for row in product.ask(sql)]


def name_user(world, login="octocat"):
    return f"user/{world.find_account(login).database_id}"


def list_states(notices):
    return [
        (each["data"]["workspace"], each["data"]["bucket"], each["data"]["state"])
        for each in notices
    ]


async def test_two_tokens_of_one_user_share_one_budget_and_another_user_has_its_own(
    tmp_path, world
):
    for folder, token, is_shared in (
        (tmp_path / "same", SAME_USER, True),
        (tmp_path / "other", OTHER_USER, False),
    ):
        async with open_two(folder, world, second=token) as product:
            await product.cycle()
            first, second = limits_of(product)

            assert (first.tracker is second.tracker) is is_shared
            assert first.payer == name_user(world)
            left = world.get_budget("octocat", "graphql").remaining
            assert first.budgets["graphql"].remaining == left


async def test_who_pays_is_learnt_once_and_kept_with_the_connection(tmp_path, world):
    sql = "SELECT account, generation FROM connections"
    async with open_two(tmp_path, world) as product:
        await product.cycle()
        await product.cycle()
        with product.refused_writes():
            await product.cycle()
        assert product.ask(sql) == [{"account": name_user(world), "generation": 1}] * 2
    asked = len(world.requests)

    async with open_two(tmp_path, world) as product:
        first, second = limits_of(product)

        assert first.tracker is second.tracker
        assert (first.payer, len(world.requests)) == (name_user(world), asked)


async def test_a_limit_that_one_token_meets_holds_the_other_back(tmp_path, world):
    async with open_two(tmp_path, world) as product:
        await product.cycles(2)
        first, second = limits_of(product)
        world.exhaust_rate_limit(for_=HOUR)
        with pytest.raises(RateLimited):
            await product.runtime.wired.accounts[0].github.viewer()
        world.requests.clear()

        await product.cycles(59)
        assert len(world.requests) == 0
        assert [each.code for each in product.report.failures] == ["rate_limited"] * 2

        world.exhaust_rate_limit(for_=HOUR)
        await product.cycle()
        await product.cycle()
        assert world.requests.while_limited == 1  # one probe for both

        await product.cycles(61)
        assert product.report.failures == []
        assert world.requests.while_limited == 1
        assert first.blocks == second.blocks == {}


@pytest.mark.parametrize("kind", ["primary", "secondary"])
async def test_a_restart_asks_nothing_while_a_limit_forbids_it(tmp_path, world, kind):
    async with open_two(tmp_path, world) as product:
        await product.cycle()
        if kind == "primary":
            world.exhaust_rate_limit()
        else:
            world.secondary_limit(dt.timedelta(minutes=30))
        await product.cycle()
        bucket = {"primary": "graphql"}.get(kind, kind)
        assert stored(product) == [(f"github.com/{name_user(world)}", bucket)]
    asked = len(world.requests)

    for _ in range(3):
        async with open_two(tmp_path, world) as product:
            await product.cycles(3)
    assert len(world.requests) == asked

    world.clock.advance(HOUR.total_seconds())
    async with open_two(tmp_path, world) as product:
        await product.cycle()
        assert product.report.failures == []
        assert len(world.requests) > asked
        assert stored(product) == []


async def test_before_anybody_knows_who_pays_a_limit_is_kept_by_connection(
    tmp_path, world
):
    sql = """
        SELECT connections.id FROM connections JOIN workspaces
        ON workspaces.id = connections.workspace_id ORDER BY workspaces.name
    """
    world.exhaust_rate_limit()
    async with open_two(tmp_path, world) as product:
        await product.cycle()
        names = [f"connection/{row['id']}/1" for row in product.ask(sql)]
        assert stored(product) == sorted((name, "graphql") for name in names)
    asked = len(world.requests)
    async with open_two(tmp_path, world) as product:
        await product.cycle()
        assert len(world.requests) == asked

        account = product.runtime.wired.accounts[0]
        account.github.limits.learn_payer("user/5")
        await store_limits(product.runtime.database, world.clock, account)

        kept = [(names[1], "graphql"), ("github.com/user/5", "graphql")]
        assert stored(product) == kept


async def test_a_cycle_that_dies_after_a_refusal_has_stored_it(tmp_path, world):
    """The block is stored with the walk of its account, before anything else."""
    async with open_two(tmp_path, world) as product:
        await product.cycle()
        connection = product.connect()
        connection.execute(
            "CREATE TRIGGER broken BEFORE INSERT ON events"
            " BEGIN SELECT RAISE(ABORT, 'killed'); END"
        )
        connection.close()
        world.exhaust_rate_limit()

        with pytest.raises(StoreError):
            await product.cycle()

        assert stored(product) == [(f"github.com/{name_user(world)}", "graphql")]


async def test_a_check_by_a_person_that_is_refused_is_stored_too(tmp_path, world):
    async with open_two(tmp_path, world) as product:
        await product.cycle()
        world.exhaust_rate_limit("core")
        (watch, *_) = product.ask("SELECT id FROM pr_watches")

        with pytest.raises(RateLimited):
            await check_watch(product.runtime, watch["id"])

        assert stored(product) == [(f"github.com/{name_user(world)}", "core")]
        await product.cycle()
        assert product.report.failures == []  # the other bucket goes on


async def test_polling_leaves_the_reserve_to_people(tmp_path, world):
    world.limits["graphql"] = 20
    async with open_two(tmp_path, world, poll="reserve = 0.5") as product:
        await product.cycles(30)

        budget = world.get_budget("octocat", "graphql")
        assert budget.remaining == 10
        assert {each.code for each in product.report.failures} == {"reserve_kept"}
        assert stored(product) == []
        assert product.notices == []
        (state,) = limits_of(product)[0].describe()
        assert (state.reserve, state.remaining, state.reason) == (10, 10, "reserve")

        await product.runtime.wired.accounts[0].github.viewer()
        assert budget.remaining == 9

        await product.cycles(32)
        assert product.report.failures == []
        assert world.requests.while_limited == 0


async def test_a_limit_is_told_once_and_its_end_once_to_each_workspace(tmp_path, world):
    async with open_two(tmp_path, world) as product:
        await product.cycle()
        world.exhaust_rate_limit()
        await product.cycles(3)
        exhausted = list_states(product.notices)
    async with open_two(tmp_path, world) as product:
        await product.cycles(3)
        again = list_states(product.notices)
        await product.cycles(60)
        recovered = list_states(product.notices)

    names = ("acme", "second")
    assert sorted(exhausted) == [(name, "graphql", "exhausted") for name in names]
    assert again == []
    assert sorted(recovered) == [(name, "graphql", "recovered") for name in names]


async def test_a_limit_that_ended_while_nobody_ran_is_told_to_be_over_once(
    tmp_path, world
):
    async with open_two(tmp_path, world) as product:
        await product.cycle()
        world.secondary_limit(HOUR)
        await product.cycle()
    world.clock.advance(HOUR.total_seconds())
    told = []
    for _ in range(2):
        async with open_two(tmp_path, world) as product:
            await product.cycles(2)
            told += list_states(product.notices)

    assert sorted(told) == [
        ("acme", "secondary", "recovered"),
        ("second", "secondary", "recovered"),
    ]


async def test_refusals_one_after_the_other_are_one_change(tmp_path, world):
    async with open_two(tmp_path, world) as product:
        await product.cycle()
        world.secondary_limit(HOUR)
        for _ in range(40):
            await product.cycle(gap=90)
            world.secondary_limit(HOUR)

    assert {state for _, _, state in list_states(product.notices)} == {"exhausted"}
    assert len(product.notices) == 2


async def test_a_token_of_another_user_finds_the_limit_of_the_old_one_behind_it(
    tmp_path, world
):
    """Replaced while nobody ran: the next answer says whose it is now."""
    async with open_two(tmp_path, world) as product:
        await product.cycle()
    async with open_two(tmp_path, world, second=OTHER_USER) as product:
        first, second = limits_of(product)
        before = first.tracker.budgets
        assert second.tracker is first.tracker

        await product.runtime.wired.accounts[1].github.viewer()
        assert second.payer == name_user(world, "grace")
        assert first.tracker.budgets == before

        world.exhaust_rate_limit()
        await product.cycle()
        assert [each.workspace for each in product.report.failures] == ["acme"]


async def test_ends_that_cannot_be_believed_are_logged_once(tmp_path, world):
    world.exhaust_rate_limit(for_=dt.timedelta(days=90))
    async with open_product(tmp_path, world) as product:
        with capture_logs() as logs:
            await product.cycles(3)

    told = [each for each in logs if each["event"] == "rate_limit.end_clamped"]
    assert [each["host"] for each in told] == ["github.com"]


async def test_a_refusal_that_cannot_be_stored_at_the_end_breaks_nothing(
    tmp_path, world
):
    async with open_product(tmp_path, world) as product:
        await product.cycle()
        with contextlib.closing(product.connect()) as connection:
            connection.execute(
                "CREATE TRIGGER full BEFORE INSERT ON rate_limit_blocks"
                " BEGIN SELECT RAISE(ABORT, 'full'); END"
            )
        world.exhaust_rate_limit()
        with pytest.raises(RateLimited):
            await product.runtime.wired.accounts[0].github.viewer()

    assert stored(product) == []


async def test_what_a_person_asked_for_last_is_stored_at_the_end(tmp_path, world):
    async with open_product(tmp_path, world) as product:
        await product.cycle()
        world.exhaust_rate_limit()
        with pytest.raises(RateLimited):
            await product.runtime.wired.accounts[0].github.viewer()

    assert stored(product) == [(f"github.com/{name_user(world)}", "graphql")]
