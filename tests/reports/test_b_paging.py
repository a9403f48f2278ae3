"""Reports about the size and shape of answers: too big, cut, paged, never ending."""

import pytest

from prwatch.simulator import World
from tests.product import ALL, MovedClock, list_changes, open_product
from tests.reports.acts import check, checks, reviews
from tests.reports.altered_github import AlteredGitHub, walk
from tests.reports.stage import BRANCH_OF_FORK, PATHS, configure, make_stage, read_row

DRAFT = (("is_draft", False, True),)


# Skydio/revup#271


class SmallServer:
    """Refuses what asks for more than `most` things, as `refuse` says."""

    def __init__(self, most, refuse):
        self._most = most
        self._refuse = refuse
        self.sizes = []
        self.refused = 0

    def __call__(self, answered):
        if not answered.is_graphql:
            return
        names = [each for each in answered.variables if each.startswith("b")]
        lists = [each for each in answered.variables.values() if isinstance(each, list)]
        size = len(names) + sum(map(len, lists))
        self.sizes.append(size)
        if size > self._most:
            self.refused += 1
            self._refuse(answered)


def say_too_heavy(answered):
    text = "Resource limits for this query exceeded."
    error = {"type": "RESOURCE_LIMITS_EXCEEDED", "message": text}
    answered.body = {"data": None, "errors": [error]}


def say_timeout(answered):
    text = "Something went wrong while executing your query."
    answered.body = {"data": None, "errors": [{"message": text}]}


def say_nothing(answered):
    answered.body = {"data": None}


def say(status):
    def refuse(answered):
        answered.status, answered.body = status, b"<html>Unicorn!</html>"

    return refuse


REFUSALS = [
    pytest.param(say_too_heavy, id="RESOURCE_LIMITS_EXCEEDED"),
    pytest.param(say_timeout, id="a timeout in a 200"),
    pytest.param(say_nothing, id="no data"),
    pytest.param(say(502), id="502"),
    pytest.param(say(504), id="504"),
]


def make_many(count):
    world = World(MovedClock())
    world.add_repository("octo/hello")
    opened = world.open_many("octo/hello", count, prefix="topic-")
    return world, opened


@pytest.mark.parametrize("refuse", REFUSALS)
@pytest.mark.parametrize("most", [40, 7])
async def test_b2_a_look_up_that_is_too_big_is_halved_and_that_is_remembered(
    tmp_path, refuse, most
):
    world, _ = make_many(80)
    watches = [
        f'repository = "octo/hello"\nbranch = "topic-{n + 1}"' for n in range(80)
    ]
    server = SmallServer(most, refuse)
    github = AlteredGitHub(world, server)
    async with open_product(
        tmp_path, world, watches=watches, transport=github
    ) as product:
        told = await product.cycles(2)
        for one in world.pull_requests.values():
            world.close(one)
        told += await product.cycles(4)

    associated = [each for each in list_changes(told) if each[0][0] == "associated"]
    assert len(associated) == 80
    assert product.report.failures == []
    # A refused size is not asked at once again: it grows back a quarter at a time.
    assert server.refused <= len(server.sizes) / 2


@pytest.mark.parametrize("refuse", REFUSALS)
async def test_b2_after_the_trouble_the_size_grows_back_slowly(tmp_path, refuse):
    world, opened = make_many(300)
    server = SmallServer(1_000, refuse)
    github = AlteredGitHub(world, server)
    async with open_product(
        tmp_path, world, watches=[ALL], transport=github
    ) as product:
        await product.cycles(2)
        watches = [
            f'repository = "octo/hello"\npull_request = {o.number}' for o in opened
        ]
    async with open_product(
        tmp_path, world, watches=watches, transport=github
    ) as product:
        await product.cycles(2)
        server.sizes.clear()
        server._most = 40
        # Three failures running end a cycle; what they taught is not forgotten.
        await product.cycles(4)
        small, server.sizes = server.sizes, []
        server._most = 1_000
        await product.cycles(15)

    assert server.refused >= 1
    assert small[-1] <= 40
    assert server.sizes[0] <= 50
    assert max(server.sizes) == 300
    assert server.sizes.index(300) >= 8


# backstage/community-plugins#9776


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("is_small", [False, True], ids=["well", "split"])
async def test_b5_many_repositories_are_never_asked_all_at_once(
    tmp_path, is_small, read_path
):
    count = 200 if read_path == "graphql" else 30
    world = World(MovedClock())
    for number in range(count):
        world.add_repository(f"octo/r{number}")
        world.open_pull_request(f"octo/r{number}", branch="topic", number=1)
    watches = [f'repository = "octo/r{n}"\nbranch = "topic"' for n in range(count)]
    server = SmallServer(5 if is_small else 1_000, say_too_heavy)
    github = AlteredGitHub(world, server)
    options = {"watches": watches, "transport": github, **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        told = await product.cycles(3)

    assert len(list_changes(told)) == count
    assert world.requests.max_in_flight <= (1 if read_path == "graphql" else 8)


# flowglad/onton#380 and rjmurillo/ai-agents#4112: how many, and which of them fails

LISTS = [
    ("B9", 100, {}, "success"),
    ("B9", 101, {}, "success"),
    ("B9", 102, {}, "success"),
    ("B9", 250, {}, "success"),
    ("B9", 102, {"running": {101}}, "pending"),
    ("B10", 120, {"failing": {115}}, "failure"),
    ("B10", 120, {"failing": {119}}, "failure"),
    ("B10", 101, {"failing": {100}}, "failure"),
    ("B10", 101, {"failing": {99}}, "failure"),
    ("B10", 250, {"failing": {201}, "running": {3}}, "failure"),
]


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    ("count", "odd", "verdict"),
    [
        pytest.param(*each[1:], id=f"{each[0]} {each[1]} {each[2] or 'green'}")
        for each in LISTS
    ],
)
async def test_every_page_of_checks_counts(tmp_path, count, odd, verdict, read_path):
    row, report = await read_row(
        tmp_path, checks(count, **odd), read_path=read_path, seconds=60
    )

    assert row["checks"] == verdict
    assert report.failures == []


# diggerhq/digger#2674, github/github-mcp-server#2367


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("count", [29, 30, 36, 99, 100, 210])
async def test_b13_every_page_of_reviews_counts(tmp_path, count, read_path):
    row, report = await read_row(tmp_path, reviews(count), read_path=read_path)

    assert row["review"] == "approved"
    assert report.failures == []


# max-sixty/tend#999


def repeat_cursor(info):
    info |= {"hasNextPage": True, "endCursor": info["endCursor"] or "Y3Vyc29yOjE="}


def drop_cursor(info):
    info |= {"hasNextPage": True, "endCursor": None}


def empty_cursor(info):
    info |= {"hasNextPage": True, "endCursor": ""}


def spoil(connection, change):
    """Return an `alter` that spoils each page of one connection."""

    def alter(answered):
        for each in walk(answered.body):
            page = each.get(connection)
            if isinstance(page, dict) and page.get("pageInfo"):
                change(page["pageInfo"])

    return alter


@pytest.mark.parametrize("change", [repeat_cursor, drop_cursor, empty_cursor])
@pytest.mark.parametrize(
    ("connection", "column"),
    [
        ("contexts", "checks"),
        ("reviews", "review"),
        ("reviewThreads", "unresolved_threads"),
    ],
)
async def test_b11_a_list_that_never_ends_is_incomplete_and_proves_nothing(
    tmp_path, connection, column, change
):
    world, one = make_stage()
    checks(3)(world, one)
    world.submit_review(one, "grace")
    world.open_thread(one, "linus")
    world.clock.advance(60)
    github = AlteredGitHub(world, spoil(connection, change))
    async with open_product(tmp_path, world, transport=github) as product:
        await product.cycle()
        asked, (row,) = (
            len(github.asked),
            product.ask("SELECT * FROM task_pull_requests"),
        )
        github.alter = None
        await product.cycles(2, is_full=True)
        (later,) = product.ask("SELECT * FROM task_pull_requests")

    known = {"checks": "success", "review": "approved", "unresolved_threads": 1}
    assert row[column] is None
    assert {name: row[name] for name in known if name != column} == {
        name: value for name, value in known.items() if name != column
    }
    assert asked <= 4
    # A count of threads is no news: the row shows it with the next change.
    assert (later["checks"], later["review"]) == ("success", "approved")


@pytest.mark.parametrize("change", [repeat_cursor, drop_cursor, empty_cursor])
@pytest.mark.parametrize("watch", [ALL, BRANCH_OF_FORK], ids=["list", "branch"])
async def test_b11_a_list_of_pull_requests_that_never_ends_ends_no_watch(
    tmp_path, watch, change
):
    world, one = make_stage()
    github = AlteredGitHub(world, _spoil_lists(change))
    async with open_product(
        tmp_path, world, watches=[watch], transport=github
    ) as product:
        told = await product.cycle()
        asked = len(github.asked)
        github.alter = None
        told += await product.cycle()
        github.alter = _spoil_lists(change)
        world.mark_draft(one)
        told += await product.cycles(2)

    assert asked <= 6
    assert list_changes(told) == [(("associated", None, 12),), DRAFT]


def _spoil_lists(change):
    """Spoil every connection that lists pull requests, under whatever alias."""

    def alter(answered):
        if answered.operation.startswith(
            ("OpenPullRequests", "Branches", "MoreBranch")
        ):
            for each in walk(answered.body):
                if "hasNextPage" in each:
                    change(each)

    return alter


# pvcnt/mergeable#190


@pytest.mark.parametrize("words", ["FAILURE", "SUCCESS", "FAILURE SUCCESS", "ERROR"])
async def test_b12_the_rollups_own_word_moves_no_verdict(tmp_path, words):
    """A replaced run is red, what counts is green; the word says one or the other."""
    world, one = make_stage()
    check(conclusion="FAILURE")(world, one)
    count = 0

    def alter(answered):
        nonlocal count
        for each in walk(answered.body):
            if each.get("statusCheckRollup"):
                count += 1
                chosen = words.split()[count % len(words.split())]
                each["statusCheckRollup"]["state"] = chosen

    github = AlteredGitHub(world)
    async with open_product(tmp_path, world, transport=github) as product:
        await product.cycle()
        world.clock.advance(60)
        check(conclusion="SUCCESS", is_new_suite=True)(world, one)
        github.alter = alter
        told = await product.cycles(20)

    assert [e for e in list_changes(told) if e[0][2] != "pending"] == [
        (("checks", "failure", "success"),)
    ] or list_changes(told) == [
        (("checks", "failure", "pending"),),
        (("checks", "pending", "success"),),
    ]
