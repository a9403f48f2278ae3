"""When one pass says that a workspace's reviews or watch files were not to be had."""

import pytest

from prwatch.app.sync.failures import list_sync_failures
from prwatch.app.sync.outcome import SyncResult
from prwatch.simulator import World
from tests.benches import ONE, get_pull_request, make_stage
from tests.cleanup import ask, open_found, sweep
from tests.followed import SYNC as FOLLOWED
from tests.followed import follow, make_team, turn
from tests.product import MovedClock

MINE = '[[workspace.review]]\nname = "mine"\npolicy = "always"'
OTHER = '[[workspace.review]]\nname = "other"\nquery = "is:pr label:none"'
SYNC = '[[workspace.sync]]\nrepository = "octo/team"\npath = "lists"'
GONE = '[[workspace.sync]]\nrepository = "octo/none"'
MORE = '[[workspace.sync]]\nrepository = "octo/hello"\npath = "lists"'
PLACES = f'{MINE}\nrepositories = ["octo/hello", "octo/team", "octo/none"]'
OFTEN = FOLLOWED.replace("5m", "1m")
ALL = f"{MINE}\n{SYNC}"
SEARCH, SWEEP, FILES = "ReviewHits", "ReviewEnds", "GET /repos/octo/team"
GENERAL = [
    pytest.param("bad_credentials", "auth", id="401"),
    pytest.param("html502", "transient", id="502"),
    pytest.param("secondary", "limit", id="limit"),
]


async def run(tmp_path, *faults, text=ALL):
    """Run a quiet cycle and one with faults; return that one's report."""
    stage = make_stage(tmp_path, f"{ONE}\n{text}")
    stage.world.add_repository("octo/team")
    stage.world.write_file("octo/team", "lists/a.toml", "")
    stage.world.request_review(get_pull_request(stage.world), "octocat")
    quiet = await stage.cycle()
    assert quiet.unserved_workspaces == quiet.failed_workspaces == frozenset()
    for fault in faults:
        stage.world.faults.add(fault)
    return stage, await stage.cycle()


def classes(report):
    return {each.failure_class.value for each in report.failures}


@pytest.mark.parametrize("match", [SEARCH, SWEEP, FILES])
@pytest.mark.parametrize(("fault", "failure_class"), GENERAL)
async def test_what_fails_as_a_whole_is_told(tmp_path, match, fault, failure_class):
    _, report = await run(tmp_path, f"{fault};times=none;match={match}")

    assert report.unserved_workspaces == {"acme"}
    assert classes(report) == {failure_class}
    assert report.failed_workspaces == frozenset()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        pytest.param(f"{MINE}\n{OTHER}", f"html502;match={SEARCH}", id="one watch"),
        pytest.param(PLACES, f"html502;skip=1;match={SEARCH}", id="one place"),
        pytest.param(MINE, f"sso;times=none;match={SEARCH}", id="an organisation"),
        pytest.param(
            MINE, f"partial_not_found;numbers=12;match={SWEEP}", id="a review task"
        ),
        pytest.param(MINE, f"null_alias;match={SWEEP}", id="half of a review task"),
        pytest.param(
            f"{SYNC}\n{MORE}", f"html502;times=none;match={FILES}", id="one folder"
        ),
        pytest.param(SYNC, f"sso;times=none;match={FILES}", id="its organisation"),
        pytest.param(SYNC, f"no_repository;times=none;match={FILES}", id="gone"),
    ],
)
async def test_what_concerns_a_part_is_listed_alone(tmp_path, text, fault):
    _, report = await run(tmp_path, fault, text=text)

    assert report.failures
    assert report.unserved_workspaces == frozenset()


async def test_an_entry_that_is_wrong_does_not_hide_that_nothing_was_served(tmp_path):
    stage = make_stage(tmp_path, f"{ONE}\n{SYNC}\n{GONE}")
    stage.world.add_repository("octo/team")
    stage.world.faults.add(f"html502;times=none;match={FILES}")

    report = await stage.cycle()

    assert report.unserved_workspaces == {"acme"}


async def test_an_answer_without_a_hit_is_an_answer(tmp_path):
    text = MINE + '\nrepositories = ["octo/team", "octo/none"]'
    (tmp_path / "b").mkdir()
    _, report = await run(
        tmp_path, f"html502;skip=1;times=none;match={SEARCH}", text=text
    )
    _, silent = await run(
        tmp_path / "b", f"html502;times=none;match={SEARCH}", text=text
    )

    assert (len(report.failures), report.unserved_workspaces) == (1, frozenset())
    assert silent.unserved_workspaces == {"acme"}


@pytest.mark.parametrize(
    ("fault", "code", "reason"),
    [
        ("bad_credentials", "authentication_failed", "circuit"),
        ("rate_limited", "rate_limited", "limit"),
    ],
)
async def test_what_is_held_back_is_told_like_what_holds_it(
    tmp_path, fault, code, reason
):
    world = make_team()
    async with follow(tmp_path, world, sync=OFTEN) as product:
        world.faults.add(f"{fault};times=none;match={FILES}")
        await turn(product, 60)
        held = await turn(product, 60)
        (failure,) = await list_sync_failures(product.runtime, [held])

    assert (held.result, held.reason) == (SyncResult.SKIPPED, reason)
    assert (failure.code, failure.is_whole) == (code, True)


async def test_a_limit_that_is_known_keeps_from_sweeping(tmp_path):
    world = World(MovedClock())
    world.add_repository("octo/hello")
    ask(world)
    async with open_found(tmp_path, world) as (product, cleanup):
        world.faults.add(f"rate_limited;match={SWEEP}")
        await sweep(product, cleanup)
        report = await sweep(product, cleanup, gap=1.0)

    (failure,) = report.failures
    assert (failure.failure_class.value, failure.is_whole) == ("limit", True)


async def test_the_other_workspace_is_served(tmp_path):
    other = '[[workspace]]\nname = "corp"\ntoken_env = "ACME_TOKEN"'
    text = f"{MINE}\n{other}\n{OTHER}"
    _, report = await run(tmp_path, f"html502;match={SEARCH}", text=text)

    (failure,) = report.failures
    assert report.unserved_workspaces == {failure.workspace}
