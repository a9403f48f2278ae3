"""What a token may not read is found once, left out for a day, and touches no other."""

import datetime as dt

import httpx
import pytest

from prwatch.app.polling import poll
from prwatch.app.refused_fields import list_capabilities, read_refused
from prwatch.domain.capability import CHECKS, WORKFLOWS
from prwatch.simulator import GitHubApp, World
from tests.product import MovedClock, list_changes, open_product
from tests.simulation.test_replaced_token import OTHER_TOKEN, Stage

DAY = 86_400.0
MINE = 'repository = "octo/hello"\npull_request = 1'
ALL = 'repository = "octo/hello"\nall = true'
BRANCH = 'repository = "octo/hello"\nbranch = "topic-1"'
WATCHES = {"probe": MINE, "list": ALL, "branch": BRANCH}


class Counter:
    """A host that counts the answers in which anything is refused."""

    def __init__(self, world):
        self.world = world
        self.inner = httpx.ASGITransport(GitHubApp(world))
        self.refusals = 0
        self.asked = []

    async def handle_async_request(self, request):
        response = await self.inner.handle_async_request(request)
        body = await response.aread()
        is_refused = b"not accessible by" in body
        self.refusals += is_refused
        text = request.content.decode() if request.content else request.url.path
        self.asked.append(text)
        return response

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        pass

    async def aclose(self):
        pass

    def take(self):
        """Return what was asked since the last call."""
        asked, self.asked = self.asked, []
        return asked


@pytest.fixture
def world():
    world = World(MovedClock())
    for name in ("octo/hello", "octo/other"):
        world.add_repository(name)
        one = world.open_pull_request(name, branch="topic-1", title="One", number=1)
        world.set_check(one, "build", conclusion="SUCCESS", workflow="CI")
        world.submit_review(one, "bob", "APPROVED")
        world.comment(one, "bob", "fine")
    return world


def one_of(world, name="octo/hello"):
    return world.get_repository(name).pull_requests[1]


def rows(product):
    return product.ask("SELECT * FROM refused_fields ORDER BY field, repository")


def task_row(product):
    (row,) = product.ask("SELECT * FROM task_pull_requests")
    return row


@pytest.mark.parametrize("watch", sorted(WATCHES))
@pytest.mark.parametrize("path", ["auto", "rest"])
@pytest.mark.parametrize(
    ("field", "columns", "is_told_by_rest"),
    [
        pytest.param("CheckRun", {"checks"}, True, id="check runs"),
        pytest.param("PullRequest.statusCheckRollup", {"checks"}, True, id="rollup"),
        pytest.param("PullRequest.reviews", {"review", "approvals"}, True, id="reviews"),
        pytest.param("PullRequest.comments", {"comment_mark"}, True, id="comments"),
        pytest.param("PullRequest.reviewThreads", {"unresolved_threads"}, False, id="threads"),
        pytest.param("PullRequest.reviewDecision", {"review_decision"}, False, id="decision"),
        pytest.param("PullRequest.mergedBy", {"merged_by"}, False, id="merged by"),
    ],
)  # fmt: skip
async def test_a_refused_field_is_asked_once_and_leaves_the_rest(
    world, tmp_path, watch, path, field, columns, is_told_by_rest
):
    if path == "rest" and not is_told_by_rest:
        pytest.skip("REST has no such field")
    world.requires_reviews = True
    host = Counter(world)
    world.refuse_fields(field)
    options = {"watches": (WATCHES[watch],), "poll": f'read_path = "{path}"'}
    async with open_product(tmp_path, world, transport=host, **options) as product:
        await product.cycles(5)
    async with open_product(tmp_path, world, transport=host, **options) as product:
        await product.cycles(5, is_full=True)
        row, refused = task_row(product), rows(product)

    assert host.refusals == 1
    assert (row["title"], row["state"], row["mergeable"]) == (
        "One",
        "OPEN",
        "MERGEABLE",
    )
    assert {name for name in columns if row[name] is not None} == set()
    assert row["checks" if "checks" not in columns else "review"] is not None
    assert [(each["reason"], each["repository"]) for each in refused] == [
        ("token", "octo/hello")
    ]


async def test_a_hundred_cycles_ask_once(world, tmp_path):
    host = Counter(world)
    world.refuse_fields("CheckRun")
    async with open_product(
        tmp_path, world, transport=host, watches=(MINE,)
    ) as product:
        await product.cycles(60)
        await product.cycles(40, is_full=True)

    assert host.refusals == 1


async def test_a_quiet_cycle_without_the_field_writes_nothing(world, tmp_path):
    world.refuse_fields("CheckRun")
    async with open_product(tmp_path, world, watches=(MINE,)) as product:
        await product.cycles(3)
        with product.refused_writes():
            await product.cycles(5)

        assert product.report.usage.graphql == 1
        assert product.report.details == 0


@pytest.mark.parametrize("path", ["auto", "rest"])
async def test_a_day_later_it_is_tried_again_once(world, tmp_path, path):
    host = Counter(world)
    world.refuse_fields("CheckRun")
    poll = f'read_path = "{path}"'
    async with open_product(
        tmp_path, world, transport=host, watches=(MINE,), poll=poll
    ) as product:
        await product.cycles(3)
        (before,) = rows(product)
        await product.cycle(gap=DAY)
        await product.cycles(30)
        (after,) = rows(product)
        assert host.refusals == 2
        assert after["learnt_at"] > before["learnt_at"]

        world.refuse_fields()
        await product.cycle(gap=DAY)
        await product.cycles(2)

        assert host.refusals == 2
        assert rows(product) == []
        assert task_row(product)["checks"] == "success"


async def test_a_test_that_proves_nothing_leaves_quiet_cycles_quiet(world, tmp_path):
    world.refuse_fields("CheckRun")
    async with open_product(tmp_path, world, watches=(MINE,)) as product:
        await product.cycles(2)
        one = one_of(world)
        world.push(one)
        world.set_status(one, "ci", "SUCCESS")
        await product.cycles(2, gap=DAY)
        with product.refused_writes():
            await product.cycles(3)

        assert product.report.details == 0
        # Nothing was refused this time: what the statuses say is all there is.
        assert task_row(product)["checks"] == "success"


@pytest.mark.parametrize("path", ["auto", "rest"])
async def test_a_new_token_is_tried_at_once(tmp_path, path):
    stage = Stage(tmp_path, "file", poll=f'read_path = "{path}"')
    stage.world.set_check(stage.pull_request, "build", conclusion="SUCCESS")
    stage.world.refuse_fields("CheckRun")
    async with stage.run() as runtime:

        async def cycle():
            stage.world.clock.advance(60)
            await poll(runtime, is_forced=True)
            (account,) = runtime.wired.accounts
            return await read_refused(runtime.database, account.workspaces[0])

        await cycle()
        assert [each.field for each in await cycle()] == [CHECKS]
        stage.put(OTHER_TOKEN)

        assert await cycle() == ()
        view = await runtime.mirror.view(runtime.wired.workspaces["acme"])
        (known,) = view.snapshot.task_pull_requests
        assert known.observation.checks == "success"


async def test_an_earlier_value_stays_and_no_change_is_told(world, tmp_path):
    async with open_product(tmp_path, world, watches=(MINE,)) as product:
        await product.cycles(3)
        world.refuse_fields("CheckRun")
        world.set_check(one_of(world), "build", conclusion="FAILURE", workflow="CI")

        told = await product.cycles(5)

        assert list_changes(told) == []
        assert task_row(product)["checks"] == "success"


@pytest.mark.parametrize("path", ["auto", "rest"])
async def test_a_token_that_reads_checks_elsewhere_is_asked_for_them_there(
    world, tmp_path, path
):
    host = Counter(world)
    world.refuse_fields("CheckRun", repositories=("octo/hello",))
    other = MINE.replace("hello", "other")
    async with open_product(
        tmp_path,
        world,
        transport=host,
        watches=(MINE, other),
        poll=f'read_path = "{path}"',
    ) as product:
        await product.cycles(5)
        world.set_check(
            one_of(world, "octo/other"), "lint", conclusion="FAILURE", workflow="CI"
        )
        told = await product.cycles(3)

        assert host.refusals == 1
        assert [each["repository"] for each in rows(product)] == ["octo/hello"]
        assert ("checks", "success", "failure") in [
            change for changes in list_changes(told) for change in changes
        ]


async def test_three_repositories_that_refuse_are_all_of_them(world, tmp_path):
    names = [f"octo/r{number}" for number in range(6)]
    for name in names:
        world.add_repository(name)
        one = world.open_pull_request(name, branch="b", title="x", number=1)
        world.set_check(one, "build", conclusion="SUCCESS")
    host = Counter(world)
    world.refuse_fields("CheckRun")
    watches = [MINE.replace("octo/hello", name) for name in names]
    async with open_product(
        tmp_path, world, transport=host, watches=watches
    ) as product:
        await product.cycles(5)

        assert host.refusals == 1
        assert [each["repository"] for each in rows(product)] == [""]


async def test_a_check_without_its_workflow_is_still_a_check(world, tmp_path):
    host = Counter(world)
    world.refuse_fields(WORKFLOWS)
    async with open_product(
        tmp_path, world, transport=host, watches=(MINE,)
    ) as product:
        await product.cycles(10, is_full=True)

        assert host.refusals == 1
        assert task_row(product)["checks"] == "success"
        assert [each["field"] for each in rows(product)] == [WORKFLOWS]


async def test_a_branch_that_may_not_be_read_costs_one_refusal(world, tmp_path):
    host = Counter(world)
    world.refuse_fields("Repository.ref")
    unknown = 'repository = "octo/hello"\nbranch = "nothing-yet"'
    async with open_product(
        tmp_path, world, transport=host, watches=(unknown,)
    ) as product:
        await product.cycles(20)

        assert host.refusals == 1
        assert [each["field"] for each in rows(product)] == ["Repository.ref"]
        assert product.report.failures == []


async def test_what_is_learnt_is_told_in_words(world, tmp_path):
    world.refuse_fields("CheckRun")
    async with open_product(tmp_path, world, watches=(MINE,)) as product:
        await product.cycles(2)
        (account,) = product.runtime.wired.accounts
        (told,) = list_capabilities(account)

    assert told.text == "checks cannot be read with this token in octo/hello"
    assert told.test_at - told.since == dt.timedelta(days=1)
    assert told.remedy.startswith("give the token the permission `Checks: read`")


async def test_one_that_gives_it_keeps_any_number_from_speaking_for_all(
    world, tmp_path
):
    names = [f"octo/r{number}" for number in range(5)]
    for name in names:
        world.add_repository(name)
        one = world.open_pull_request(name, branch="b", title="x", number=1)
        world.set_check(one, "build", conclusion="SUCCESS")
    host = Counter(world)
    world.refuse_fields("CheckRun", repositories=tuple(names[:4]))
    watches = [MINE.replace("octo/hello", name) for name in names]
    async with open_product(
        tmp_path, world, transport=host, watches=watches
    ) as product:
        await product.cycles(3)
        await product.cycles(2, is_full=True)

        assert host.refusals == 1
        assert [each["repository"] for each in rows(product)] == names[:4]
