"""Reports about nulls and odd values: they cost their own field, and nobody else's."""

import pytest

from prwatch.simulator import World
from tests.product import ALL, ONE, MovedClock, list_changes, open_product
from tests.reports.acts import (
    check,
    comment,
    delete_fork,
    delete_user,
    review,
    together,
)
from tests.reports.altered_github import AlteredGitHub, drop_everywhere, walk
from tests.reports.asked_github import AskedGitHub
from tests.reports.stage import (
    BRANCH_OF_FORK,
    PATHS,
    configure,
    make_stage,
    name_fields,
    read_row,
    tell,
)

COUNT = 40
DAY = 86_400


def open_forty(*, spoiled):
    """Return a world with forty pull requests, of which one's fork is gone."""
    world = World(MovedClock())
    world.add_repository("octo/hello")
    world.add_repository("ada/hello", fork_of="octo/hello")
    for number in range(1, COUNT + 1):
        fork = "ada/hello" if number == spoiled else None
        world.open_pull_request(
            "octo/hello", branch=f"topic-{number}", number=number, head_repository=fork
        )
    world.delete_fork("ada/hello")
    return world


# desktop/desktop#3022, anomalyco/opencode#19214, atom/github#1828


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("spoiled", [1, 3, COUNT])
async def test_e1_one_deleted_fork_among_forty_hides_none_of_them(
    tmp_path, spoiled, read_path
):
    world = open_forty(spoiled=spoiled)
    options = {"watches": [ALL], **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        told = await product.cycle()
        rows = product.ask(
            "SELECT pr_number, head_repository_id FROM task_pull_requests"
        )
        for one in world.pull_requests.values():
            world.mark_draft(one)
        later = await product.cycle()

    gone = [row["pr_number"] for row in rows if not row["head_repository_id"]]
    assert len(list_changes(told)) == COUNT
    assert gone == [spoiled]
    assert list_changes(later) == [(("is_draft", False, True),)] * COUNT
    assert product.report.failures == []


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    "watch", [ONE, ALL, BRANCH_OF_FORK], ids=["named", "adopted", "found by branch"]
)
async def test_e1_a_fork_that_goes_later_is_no_news_and_ends_no_watch(
    tmp_path, watch, read_path
):
    told = await tell(
        tmp_path,
        delete_fork("ada/hello"),
        check(conclusion="FAILURE"),
        watches=[watch],
        read_path=read_path,
    )

    assert told == [(("checks", "none", "failure"),)]


@pytest.mark.parametrize("read_path", PATHS)
async def test_e1_while_searching_a_head_that_is_gone_is_nobody_s(tmp_path, read_path):
    world, _ = make_stage()
    world.delete_fork("ada/hello")
    options = {"watches": [BRANCH_OF_FORK], **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        told = await product.cycles(3)

    assert told == []


# anthropics/claude-code-action#1489, adelbeke/donna#10, getsentry/craft#559
# slapperwan/gh4a#1102 (E3: the same through REST)


def merge_by_grace(world, one):
    world.merge(one, by="grace")


GHOSTS = [
    pytest.param([delete_user("ada")], {"author": ""}, id="author"),
    pytest.param(
        [review("grace"), delete_user("grace")], {"review": "approved"}, id="reviewer"
    ),
    pytest.param(
        [review("grace", "CHANGES_REQUESTED"), delete_user("grace")],
        {"review": "changes_requested"},
        id="refusing reviewer",
    ),
    pytest.param(
        [comment("linus"), delete_user("linus")], {"author": "ada"}, id="commenter"
    ),
    pytest.param(
        [merge_by_grace, delete_user("grace")],
        {"state": "MERGED", "merged_by": ""},
        id="who merged",
    ),
    pytest.param(
        [
            review("grace"),
            comment("linus"),
            merge_by_grace,
            together(*map(delete_user, ("ada", "grace", "linus"))),
        ],
        {"author": "", "review": "approved", "state": "MERGED"},
        id="everybody",
    ),
]


@pytest.mark.parametrize(
    "read_path", [pytest.param("graphql", id="E2"), pytest.param("rest", id="E3")]
)
@pytest.mark.parametrize(("acts", "expected"), GHOSTS)
async def test_a_ghost_is_read_as_anybody_else(tmp_path, acts, expected, read_path):
    row, report = await read_row(tmp_path, *acts, read_path=read_path)

    assert {name: row[name] for name in expected} == expected
    assert report.failures == []


@pytest.mark.parametrize(
    "read_path", [pytest.param("graphql", id="E2"), pytest.param("rest", id="E3")]
)
async def test_that_somebody_becomes_a_ghost_is_no_news(tmp_path, read_path):
    told = await tell(
        tmp_path,
        together(review("grace"), comment("linus")),
        together(*map(delete_user, ("ada", "grace", "linus"))),
        quiet=20,
        read_path=read_path,
    )

    assert len(told) == 1


# melodic-software/claude-code-plugins#1436


def conclude(value):
    """Return an `alter` that gives every running check this conclusion."""

    def alter(answered):
        for each in walk(answered.body):
            if each.get("conclusion", 0) is None:
                each["conclusion"] = value

    return alter


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    ("alter", "verdict"),
    [
        pytest.param(None, "pending", id="null"),
        pytest.param(conclude(""), "pending", id="empty"),
        pytest.param(drop_everywhere("conclusion"), "pending", id="missing"),
        pytest.param(conclude("success"), "success", id="set beside IN_PROGRESS"),
        pytest.param(conclude("FAILURE"), "failure", id="red beside IN_PROGRESS"),
        pytest.param(conclude("wondering"), "pending", id="a word of tomorrow"),
    ],
)
async def test_e4_a_check_without_a_conclusion_runs(
    tmp_path, alter, verdict, read_path
):
    world, one = make_stage()
    check()(world, one)
    world.clock.advance(60)
    github = AlteredGitHub(world, alter)
    options = {"transport": github, **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycle()
        (row,) = product.ask("SELECT checks FROM task_pull_requests")

    assert row["checks"] == verdict
    assert product.report.failures == []


# change-metrics/monocle#86, erichbehrens/pull-request-monitor#37, Mergifyio/mergify#3990


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("watch", [ONE, ALL, BRANCH_OF_FORK], ids=["E5", "E6", "E5+E6"])
async def test_an_archived_repository_is_told_once_and_then_left_alone(
    tmp_path, watch, read_path
):
    world, one = make_stage()
    github = AskedGitHub(world)
    options = {"watches": [watch], "transport": github, **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycles(2)
        tasks = product.ask("SELECT id, archived_at FROM tasks")
        world.archive_repository("octo/hello")
        told = await product.cycles(10, is_forced=False)
        github.take()
        told += await product.cycles(10, is_forced=False)
        asked = github.take()
        kept = product.ask("SELECT id, archived_at FROM tasks")
        watches = product.ask("SELECT id FROM pr_watches WHERE pr_number = 12")
        world.unarchive_repository("octo/hello")
        awake = await product.cycles(2, gap=DAY + 60, is_forced=False)
        world.mark_draft(one)
        later = await product.cycles(2, is_forced=False)

    assert list_changes(told) == [(("archived", False, True),)]
    assert {event["type"] for event in told} == {"GitHubTaskPRUpdated"}
    assert [e for e in asked if one.node_id in e or "/pulls/12" in e] == []
    assert (kept, len(watches)) == (tasks, 1)
    assert list_changes(awake) == [(("archived", True, False),)]
    assert name_fields(list_changes(later)) == [("is_draft",)]


# kunchenguid/no-mistakes#1065


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    "name", ["octo/greeting", "mona/hello", "mona/greeting"], ids=str
)
async def test_e7_a_rename_in_the_middle_of_a_cycle_spoils_nothing(
    tmp_path, name, read_path
):
    world, one = make_stage()

    def rename_once(answered):
        """Rename after the first answer of a cycle: the rest is asked by then."""
        github.alter = None
        world.rename_repository("octo/hello", name)

    github = AlteredGitHub(world)
    options = {"transport": github, **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycles(2)
        before = product.ask("SELECT id FROM pr_watches")
        world.mark_draft(one)
        github.alter = rename_once
        told = await product.cycles(3)
        (stored,) = product.ask("SELECT owner, name FROM repositories")
        after = product.ask("SELECT id FROM pr_watches")

    assert list_changes(told) == [(("is_draft", False, True),)]
    assert f"{stored['owner']}/{stored['name']}" == name
    assert after == before
