"""A folder of watch files that cannot be read, or holds what it should not."""

import contextlib

import pytest

from prwatch.app.sync.outcome import SyncResult
from prwatch.app.sync.sync_loop import sync_due
from prwatch.errors import StoreError
from prwatch.simulator import DEFAULT_TOKEN, Fault
from tests.followed import (
    FIX,
    HELLO,
    INTERVAL,
    SYNC,
    follow,
    list_active,
    make_team,
    turn,
    write,
)


@pytest.fixture
def world():
    return make_team()


@pytest.mark.parametrize("how", ["hidden", "deleted", "branch"])
async def test_a_repository_that_is_not_seen_takes_nothing_away(tmp_path, world, how):
    write(world, HELLO)
    sync = f'{SYNC}\nbranch = "main"'
    async with follow(tmp_path, world, sync=sync) as product:
        await turn(product)
        match how:
            case "hidden":
                world.set_token(DEFAULT_TOKEN, repositories=("octo/hello",))
            case "deleted":
                world.delete_repository("octo/team")
            case "branch":
                world.delete_branch("octo/team", "main")
        outcome = await turn(product)

        assert (outcome.result, outcome.code) == (SyncResult.FAILED, "resource_gone")
        assert list_active(product) == ["octo/hello#12"]


async def count_requests(product, look):
    """Take a turn; return how many requests it took, and how many were not counted."""
    github = product.runtime.wired.accounts[0].github
    before = github.usage
    await look
    after = github.usage
    return after.rest - before.rest, after.not_modified - before.not_modified


async def test_a_repository_that_moved_is_followed_and_told(tmp_path, world):
    write(world, HELLO)
    async with follow(tmp_path, world) as product:
        await turn(product)
        world.rename_repository("octo/team", "octo/crew")
        moved = await turn(product)
        cost = await count_requests(product, turn(product))
        world.write_file("octo/crew", ".prwatch/a.toml", FIX)
        edited = await turn(product)

        told = "the repository has another name now; write that one in its entry"
        assert moved.warnings == edited.warnings == (told,)
        assert cost == (1, 1)
        assert list_active(product) == ["octo/hello@fix"]

        world.delete_repository("octo/crew")
        gone = await turn(product)
        world.add_repository("octo/team")
        write(world, HELLO)
        anew = await turn(product, gap=7200.0)

        assert gone.code == "resource_gone"
        assert anew.warnings == ()
        assert list_active(product) == ["octo/hello#12"]


async def test_a_folder_that_is_not_there_costs_nothing_either(tmp_path, world):
    async with follow(tmp_path, world) as product:
        first = await turn(product)
        with product.refused_writes():
            cost = await count_requests(product, turn(product))
        world.write_file("octo/team", "other.md", "news")
        changed = await count_requests(product, turn(product))
        write(world, HELLO)
        await turn(product)

        assert first.warnings == ("the folder is not there",)
        assert (cost, changed) == ((1, 1), (1, 0))
        assert list_active(product) == ["octo/hello#12"]


async def test_a_folder_that_fails_is_left_alone_until_its_probe(tmp_path, world):
    write(world, HELLO)
    async with follow(tmp_path, world) as product:
        await turn(product)
        world.set_token(DEFAULT_TOKEN, repositories=("octo/hello",))
        failed = await turn(product)
        requests = product.runtime.wired.accounts[0].github.usage.rest
        with product.refused_writes():
            skipped = await turn(product)

        assert (skipped.result, skipped.reason) == (SyncResult.SKIPPED, "circuit")
        assert skipped.until == failed.until
        assert product.runtime.wired.accounts[0].github.usage.rest == requests

        world.set_token(DEFAULT_TOKEN)
        back = await turn(product, gap=1000.0)

        assert back.result is SyncResult.UNCHANGED
        assert product.ask("SELECT * FROM watch_folder_circuits") == []


async def test_a_restart_keeps_the_circuit_and_lets_one_probe_through(tmp_path, world):
    world.set_token(DEFAULT_TOKEN, repositories=("octo/hello",))
    async with follow(tmp_path, world) as product:
        await turn(product)
        before = product.ask("SELECT * FROM watch_folder_circuits")
    async with follow(tmp_path, world) as product:
        probe = await turn(product, gap=1)
        (row,) = product.ask("SELECT * FROM watch_folder_circuits")
        skipped = await turn(product)

        assert (before[0]["failures"], row["failures"]) == (1, 2)
        assert probe.result is SyncResult.FAILED
        assert row["opened_at"] == before[0]["opened_at"]
        assert skipped.result is SyncResult.SKIPPED


async def test_an_edited_entry_begins_with_a_closed_circuit(tmp_path, world):
    world.set_token(DEFAULT_TOKEN, repositories=("octo/hello",))
    async with follow(tmp_path, world) as product:
        await turn(product)
    sync = SYNC.replace("5m", "6m")
    async with follow(tmp_path, world, sync=sync) as product:
        await turn(product, gap=1)
        (row,) = product.ask("SELECT * FROM watch_folder_circuits")

        assert row["failures"] == 1


async def test_a_connection_that_changes_during_the_fetch_stores_nothing(
    tmp_path, world
):
    write(world, HELLO)
    async with follow(tmp_path, world) as product:

        def renew():
            with contextlib.closing(product.connect()) as rows:
                rows.execute("UPDATE connections SET generation = generation + 1")

        product.clock.advance(INTERVAL)
        (outcome,) = await sync_due(product.runtime, progress=renew)

        assert outcome.code == "access_changed"
        assert product.ask("SELECT * FROM watch_files") == []
        assert list_active(product) == []

        assert (await turn(product)).result is SyncResult.CHANGED


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        pytest.param("a.toml", "#" * 70_000, "longer than 65536 bytes", id="huge"),
        pytest.param("a.toml", "a = " + "[" * 9000, "too deep", id="deep TOML"),
        pytest.param("a.yaml", "a: " + "[" * 90, "8 deep", id="deep YAML"),
        pytest.param("a.yaml", "a: &x [1]\nb: [*x, *x]", "anchor", id="aliases"),
        pytest.param("a.toml", 'a = "\0"', "control character", id="NUL"),
        pytest.param("a.yml", b"a: \xff", "not UTF-8", id="not UTF-8"),
        pytest.param("..toml", HELLO, "cannot be used", id="hidden"),
        pytest.param("a\x1b[3m.toml", HELLO, "cannot be used", id="steering"),
        pytest.param("a\ufffd.toml", HELLO, "cannot be used", id="no UTF-8 name"),
        pytest.param(f"{'x' * 200}.toml", HELLO, "cannot be used", id="long name"),
        pytest.param(
            "a.toml", f"{HELLO}# ghp_{'a' * 36}", "looks like a secret", id="secret"
        ),
        pytest.param(
            "a.toml",
            '[[task]]\nid = "T"\n[[task.sessions]]\nid = "S"',
            "sessions: is not a key here",
            id="sessions",
        ),
    ],
)
async def test_a_hostile_file_is_a_warning_beside_a_good_one(
    tmp_path, world, name, content, told
):
    world.write_file("octo/team", f".prwatch/{name}", content)
    write(world, HELLO, "good.toml")
    async with follow(tmp_path, world) as product:
        outcome = await turn(product)

        assert told in str(outcome.warnings)
        assert list_active(product) == ["octo/hello#12"]


async def test_a_new_file_that_is_never_read_keeps_nothing_that_is_gone(
    tmp_path, world
):
    write(world, HELLO)
    async with follow(tmp_path, world) as product:
        await turn(product)
        world.remove_file("octo/team", ".prwatch/a.toml")
        write(world, "#" * 70_000, "long.toml")
        outcome = await turn(product)

        assert outcome.warnings == ("long.toml: is longer than 65536 bytes",)
        assert list_active(product) == []


async def test_a_limit_keeps_a_folder_from_being_asked_for(tmp_path, world):
    async with follow(tmp_path, world) as product:
        await turn(product)
        world.exhaust_rate_limit("core")
        limited = await turn(product)
        requests = product.runtime.wired.accounts[0].github.usage.rest
        skipped = await turn(product, gap=INTERVAL)

        assert limited.code == "rate_limited"
        assert (skipped.result, skipped.reason) == (SyncResult.SKIPPED, "limit")
        assert product.runtime.wired.accounts[0].github.usage.rest == requests
        assert product.ask("SELECT * FROM watch_folder_circuits") == []


async def test_a_store_that_fails_loses_no_edit(tmp_path, world):
    async with follow(tmp_path, world) as product:
        await turn(product)
        write(world, HELLO)
        with product.refused_writes(), pytest.raises(StoreError):
            await turn(product)
        outcome = await turn(product)

        assert outcome.result is SyncResult.CHANGED
        assert list_active(product) == ["octo/hello#12"]


async def test_tasks_that_could_not_be_written_are_written_in_the_next_turn(
    tmp_path, world
):
    async with follow(tmp_path, world) as product:
        await turn(product)
        write(world, HELLO)
        with contextlib.closing(product.connect()) as rows:
            rows.execute(
                "CREATE TRIGGER full BEFORE INSERT ON tasks"
                " BEGIN SELECT RAISE(ABORT, 'full'); END"
            )
            with pytest.raises(StoreError):
                await turn(product)
            rows.execute("DROP TRIGGER full")
        outcome = await turn(product)

        assert (outcome.result, outcome.steps) == (SyncResult.UNCHANGED, 3)
        assert list_active(product) == ["octo/hello#12"]


async def test_a_file_that_cannot_be_fetched_is_tried_again(tmp_path, world):
    write(world, HELLO)
    async with follow(tmp_path, world) as product:
        await turn(product)
        write(world, FIX)
        world.faults.add(Fault(kind="gone410", match=r"contents/\.prwatch/a\.toml"))
        outcome = await turn(product)
        kept = list_active(product)
        await turn(product)

        assert outcome.warnings == ("a.toml: could not be fetched: gone",)
        assert kept == ["octo/hello#12"]
        assert list_active(product) == ["octo/hello@fix"]


@pytest.mark.parametrize(
    ("kind", "match"),
    [
        *((kind, "contents") for kind in ("html502", "json500", "cut_json", "reset")),
        *((kind, "contents") for kind in ("not_json", "empty200", "gone410")),
        *((kind, "contents") for kind in ("bad_credentials", "secondary", "dmca451")),
        ("bad_credentials", r"a\.toml"),
        ("secondary", r"a\.toml"),
    ],
)
async def test_a_bad_answer_takes_nothing_away(tmp_path, world, kind, match):
    write(world, HELLO)
    async with follow(tmp_path, world) as product:
        await turn(product)
        write(world, FIX)
        fault = world.faults.add(Fault(kind=kind, match=match, times=None))
        outcome = await turn(product)
        kept = list_active(product)
        world.faults.remove(fault)
        back = await turn(product, gap=7200.0)

        assert outcome.result is SyncResult.FAILED
        assert kept == ["octo/hello#12"]
        assert back.result is SyncResult.CHANGED
        assert list_active(product) == ["octo/hello@fix"]


async def test_a_workspace_without_a_token_keeps_what_it_has(tmp_path, world):
    write(world, HELLO)
    other = f'[[workspace]]\nname = "corp"\ntoken_env = "GONE"\n{SYNC}'
    async with follow(tmp_path, world, tasks=f"{SYNC}\n{other}") as product:
        product.clock.advance(INTERVAL)
        good, bad = await sync_due(product.runtime)

        assert good.result is SyncResult.CHANGED
        assert (bad.result, bad.reason) == (SyncResult.SKIPPED, "no_token")
        assert {row["name"] for row in product.ask("SELECT name FROM watch_files")} == {
            "a.toml"
        }
