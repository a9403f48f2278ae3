"""What fails is asked less and less, and leaves everything else alone."""

import contextlib
import ssl

import httpx
import pytest

from prwatch.app.command.check import check_watch
from prwatch.app.polling import poll
from prwatch.domain.circuit import CircuitKind, CircuitState
from prwatch.domain.outcome import FailureClass
from prwatch.simulator import DEFAULT_TOKEN, GitHubApp, World
from prwatch.simulator.faults import Fault
from tests.product import ALL, BRANCH, ONE, MovedClock, open_product

WORKSPACES = 10
MINUTE = 60
DRAFTED = "is_draft"


def make_world():
    world = World(MovedClock())
    world.add_repository("octo/hello")
    world.add_repository("walled/garden")
    return world


def add_one(world, name="octo/hello", number=12):
    return world.open_pull_request(name, branch=f"topic-{number}", number=number)


def wall_up(world, *organizations):
    """Let these organisations ask for single sign-on with the token."""
    world.set_token(DEFAULT_TOKEN, sso_organizations=organizations)


def list_states(product):
    return {
        (key.kind, key.name): circuit.state
        for key, circuit in product.runtime.circuits.items()
    }


def tell(product):
    """Return the notices so far: type, subject and class."""
    product.take_events()
    return [
        (notice["type"], notice["subject"], notice["data"].get("class"))
        for notice in product.notices
    ]


OPENED, CLOSED = "ProviderCircuitOpened", "ProviderCircuitClosed"


async def test_a_dead_token_costs_at_most_fifteen_requests_in_an_hour(tmp_path):
    world = make_world()
    add_one(world)
    async with open_product(tmp_path, world) as product:
        await product.cycle()
        world.faults.add(Fault(kind="bad_credentials", times=None))
        before = len(world.requests)
        for _ in range(60):
            await product.cycle()
        asked = len(world.requests) - before
        failed = product.report.failed_workspaces

    assert 2 <= asked <= 15
    assert failed == {"acme"}
    assert tell(product) == [(OPENED, "acme/circuit/workspace", "auth")]


async def test_a_stray_refusal_between_good_answers_opens_nothing(tmp_path):
    world = make_world()
    add_one(world)
    async with open_product(tmp_path, world) as product:
        await product.cycle()
        world.faults.add(Fault(kind="bad_credentials", times=1))
        await product.cycle()
        failures = product.report.failures

    assert (failures, list_states(product), tell(product)) == ([], {}, [])


async def test_what_is_left_out_is_counted_and_no_credential_is_asked_for_it(tmp_path):
    world = make_world()
    add_one(world)
    async with open_product(tmp_path, world) as product:
        await product.cycle()
        world.faults.add(Fault(kind="bad_credentials", times=None))
        await product.cycle()
        (account,) = product.runtime.wired.accounts
        account.github.credential.token = None  # asking for it would fail loudly
        await product.cycle()

    assert product.report.skipped["circuit"] == 1
    assert product.runtime.circuits.skips == {
        (CircuitKind.WORKSPACE, FailureClass.AUTH): 1
    }


async def test_an_organisation_that_refuses_stops_only_its_own(tmp_path):
    world = make_world()
    one, other = add_one(world), add_one(world, "walled/garden", 7)
    watches = [ONE, 'repository = "walled/garden"\npull_request = 7']
    async with open_product(tmp_path, world, watches=watches) as product:
        await product.cycle()
        wall_up(world, "walled")
        await product.cycle()
        states = list_states(product)
        world.mark_draft(one)
        world.mark_draft(other)
        told = await product.cycles(3)
        skipped = product.report.skipped["circuit"]
        wall_up(world)
        later = await product.cycle(gap=7 * MINUTE)

    assert states == {(CircuitKind.ORGANISATION, "walled"): CircuitState.OPEN}
    assert [e["subject"] for e in told if "Updated" in e["type"]] == [
        "acme/octo/hello#12/octo/hello#12"
    ]
    assert skipped == 1
    assert len(later) == 2
    assert tell(product) == [
        (OPENED, "acme/circuit/organisation/walled", "auth"),
        (CLOSED, "acme/circuit/organisation/walled", None),
    ]


async def test_one_probe_of_an_organisation_goes_before_the_others(tmp_path):
    world = make_world()
    watches = []
    for number in (1, 2, 3):
        add_one(world, "walled/garden", number)
        watches.append(f'repository = "walled/garden"\npull_request = {number}')
    async with open_product(tmp_path, world, watches=watches) as product:
        await product.cycle()
        wall_up(world, "walled")
        await product.cycle()
        await product.cycle(gap=7 * MINUTE)

    assert len(product.report.references) == 1
    assert product.report.skipped["circuit"] == 2


async def test_a_pull_request_that_is_not_there_is_asked_less_and_less(tmp_path):
    world = make_world()
    add_one(world)
    watches = [ONE, 'repository = "octo/hello"\npull_request = 404']
    async with open_product(tmp_path, world, watches=watches) as product:
        await product.cycle(gap=3 * MINUTE)
        asked = []
        for _ in range(60):
            await product.cycle()
            asked.append(len(product.report.references) == 2)
        shown = [failure.reference for failure in product.report.failures]

    assert 2 <= sum(asked) <= 4
    assert shown == ["octo/hello#404"]
    assert tell(product) == []


@pytest.mark.parametrize(
    "watch", [pytest.param(ALL, id="of a list"), pytest.param(BRANCH, id="of a branch")]
)
async def test_what_is_found_and_cannot_be_read_is_asked_less_and_less(tmp_path, watch):
    world = make_world()
    for number in (12, 13):
        world.open_pull_request("octo/hello", branch="fix-greeting", number=number)
        refused = f"octo/hello#{number}"
        world.faults.add(
            Fault(kind="forbidden", target=refused, match="Details", times=None)
        )
    async with open_product(tmp_path, world, watches=[watch]) as product:
        details = []
        for _ in range(30):
            await product.cycle()
            details.append(product.report.details)
        states = list_states(product)
        world.faults.clear()
        await product.cycle(gap=30 * MINUTE)
        await product.cycle(gap=9 * 60 * MINUTE)

    assert 1 <= sum(map(bool, details)) <= 4
    assert len(states) == 2
    assert list_states(product) == {}
    assert len(product.ask("SELECT id FROM pr_watches WHERE pr_number > 0")) == 2


async def test_a_person_who_checks_closes_the_circuit_of_a_record(tmp_path):
    world = make_world()
    add_one(world)
    async with open_product(tmp_path, world) as product:
        await product.cycle()
        fault = Fault(kind="not_found", target="octo/hello#12", times=None)
        world.faults.add(fault)
        await product.cycle()
        opened = list_states(product)
        world.faults.clear()
        (row,) = product.ask("SELECT id FROM pr_watches")
        await check_watch(product.runtime, row["id"])

    assert list(opened.values()) == [CircuitState.OPEN]
    assert list_states(product) == {}


async def test_an_edited_task_is_asked_at_once(tmp_path):
    world = make_world()
    add_one(world)
    async with open_product(tmp_path, world) as product:
        await product.cycle()
        fault = Fault(kind="not_found", target="octo/hello#12", times=None)
        world.faults.add(fault)
        await product.cycle()
        world.faults.clear()
        with contextlib.closing(product.connect()) as connection:
            connection.execute("UPDATE tasks SET title = 'Fix the greeting'")
        await product.cycle()

    assert (product.report.failures, list_states(product)) == ([], {})


async def test_a_host_that_does_not_answer_is_one_circuit(tmp_path):
    world = make_world()
    add_one(world)
    async with open_product(tmp_path, world) as product:
        await product.cycle()
        world.faults.add(Fault(kind="reset", times=None))
        for _ in range(5):
            await product.cycle(gap=15)
        states = list_states(product)
        world.faults.clear()
        await product.cycle(gap=11 * MINUTE)

    assert states == {(CircuitKind.HOST, "github.com"): CircuitState.OPEN}
    assert list_states(product) == {}
    assert tell(product) == [
        (OPENED, "acme/circuit/host/github.com", "transient"),
        (CLOSED, "acme/circuit/host/github.com", None),
    ]


async def test_a_person_who_checks_closes_the_circuit_of_the_host(tmp_path):
    world = make_world()
    add_one(world)
    async with open_product(tmp_path, world) as product:
        await product.cycle()
        world.faults.add(Fault(kind="reset", times=None))
        await product.cycle()
        opened = list_states(product)
        world.faults.clear()
        (row,) = product.ask("SELECT id FROM pr_watches")
        await check_watch(product.runtime, row["id"])

    assert opened == {(CircuitKind.HOST, "github.com"): CircuitState.OPEN}
    assert list_states(product) == {}


class UntrustedTransport(httpx.ASGITransport):
    """Refuses the server's certificate while `is_refusing`, and counts how often."""

    is_refusing = False
    refused = 0

    async def handle_async_request(self, request):
        if not self.is_refusing:
            return await super().handle_async_request(request)
        self.refused += 1
        cause = ssl.SSLCertVerificationError("self-signed certificate")
        raise httpx.ConnectError("untrusted") from cause


async def test_a_certificate_that_is_still_refused_is_tried_once_for_all(tmp_path):
    world = make_world()
    add_one(world)
    secrets, tables = write_workspaces(world)
    transport = UntrustedTransport(GitHubApp(world))
    async with open_product(
        tmp_path, world, secrets=secrets, tasks=tables, transport=transport
    ) as product:
        await product.cycle()
        transport.is_refusing = True
        await product.cycle()
        first = transport.refused
        await product.cycle(gap=13 * MINUTE)
        again = transport.refused - first
        transport.is_refusing = False
        await product.cycle(gap=26 * MINUTE)

    assert (first, again) == (WORKSPACES, 1)
    assert list_states(product) == {}


def write_workspaces(world):
    """Return secrets and tables of nine more workspaces, each with its own token."""
    secrets, tables = {}, []
    for number in range(1, WORKSPACES):
        token = f"ghp_{number}" + "x" * 35
        world.set_token(token, login=f"user-{number}")
        secrets[f"TOKEN_{number}"] = token
        tables.append(
            f'[[workspace]]\nname = "w{number}"\ntoken_env = "TOKEN_{number}"\n\n'
            f"[[workspace.watch]]\n{ONE}"
        )
    return secrets, "\n\n".join(tables)


async def run_ten(folder, *faults):
    """Run ten workspaces for half an hour; return what is told by workspace."""
    world = make_world()
    one = add_one(world)
    secrets, tables = write_workspaces(world)
    told = {}
    async with open_product(folder, world, secrets=secrets, tasks=tables) as product:
        await product.cycle()
        for fault in faults:
            world.faults.add(fault)
        for minute in range(30):
            if minute % 7 == 3:
                world.mark_ready(one) if one.is_draft else world.mark_draft(one)
            for event in await product.cycle():
                changes = event["data"]["changes"]
                told.setdefault(event["data"]["workspace"], []).append(changes)
        requests = {
            account.workspaces[0].name: account.github.usage
            for account in product.runtime.wired.accounts
        }
        rows = product.ask(
            "SELECT w.name, p.revision, p.is_draft, p.checks FROM pr_watches p"
            " JOIN workspaces w ON w.id = p.workspace_id ORDER BY w.name"
        )
        states = list_states(product)
    return told, requests, rows, states


@pytest.mark.parametrize(
    "kind",
    ["bad_credentials", "account_suspended", "html502", "reset", "secondary"],
)
async def test_one_dead_workspace_among_ten_changes_nothing_for_nine(tmp_path, kind):
    token = DEFAULT_TOKEN
    dead = Fault(kind=kind, token=token, times=None)

    told, requests, rows, states = await run_ten(tmp_path / "one", dead)
    healthy = await run_ten(tmp_path / "none")

    assert {name: told.get(name) for name in healthy[0] if name != "acme"} == {
        name: changes for name, changes in healthy[0].items() if name != "acme"
    }
    assert "acme" not in told
    assert [row for row in rows if row["name"] != "acme"] == [
        row for row in healthy[2] if row["name"] != "acme"
    ]
    assert requests.pop("acme") != healthy[1].pop("acme")
    assert requests == healthy[1]
    assert all(kind is not CircuitKind.HOST for kind, _ in states)


async def test_a_restart_tells_nothing_twice_and_a_recovery_once(tmp_path):
    world = make_world()
    add_one(world)
    subjects = []
    for is_dead in (True, True, False, False):
        world.faults.clear()
        if is_dead:
            world.faults.add(Fault(kind="bad_credentials", times=None))
        async with open_product(tmp_path, world) as product:
            await product.cycle()
            subjects.append([notice for notice, _, _ in tell(product)])

    assert subjects == [[OPENED], [], [CLOSED], []]


async def test_a_rate_limit_opens_no_circuit(tmp_path):
    world = make_world()
    add_one(world)
    async with open_product(tmp_path, world) as product:
        await product.cycle()
        world.faults.add(Fault(kind="secondary"))
        await product.cycle()
        states = list_states(product)
        report = await poll(product.runtime, is_forced=True)

    assert states == {}
    assert report.skipped["limit"] == 1
