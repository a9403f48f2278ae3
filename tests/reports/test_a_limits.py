"""Reports about quotas: what is asked, when it is asked again, and what is lost."""

import datetime as dt

import anyio
import httpx
import pytest
import trio.testing

from prwatch.app.health.github_facts import list_limits
from tests.daemons import make_daemon_world, running_daemon
from tests.product import ALL, ONE, OUT, list_changes, open_product
from tests.reports.acts import draft, end_faults, fail_from_now
from tests.reports.altered_github import AlteredGitHub, walk
from tests.reports.stage import BRANCH_OF_FORK, PATHS, configure, make_stage

DRAFT = (("is_draft", False, True),)
WATCHES = {"one": ONE, "all": ALL, "branch": BRANCH_OF_FORK}
HOUR = 3_600
SECONDARY = "You have exceeded a secondary rate limit."
PRIMARY = "API rate limit exceeded for user ID 1."


def limits_of(product):
    (account,) = product.runtime.wired.accounts
    return account.github.limits


# sverrirsig/claude-control#5


def list_tasks(count, distinct):
    return "\n".join(
        f'[[workspace.task]]\nid = "T-{n}"\n'
        f'repositories = [{{ repository = "octo/hello", branch = "b-{n % distinct}" }}]'
        for n in range(count)
    )


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("has_pull_requests", [False, True], ids=["branches", "found"])
async def test_a1_sixty_tasks_on_ten_branches_cost_what_ten_cost(
    tmp_path, has_pull_requests, read_path
):
    asked = []
    for count in (10, 60):
        world, _ = make_stage()
        for number in range(10 * has_pull_requests):
            world.open_pull_request("octo/hello", branch=f"b-{number}")
        options = {
            "watches": [],
            "tasks": list_tasks(count, 10),
            **configure(read_path),
        }
        folder = tmp_path / str(count)
        folder.mkdir()
        async with open_product(folder, world, **options) as product:
            await product.cycles(10)
            rows = product.ask("SELECT id FROM pr_watches")
        asked.append(len(world.requests))
        assert len(rows) == count

    assert asked[0] == asked[1] > 0


@pytest.mark.parametrize("read_path", PATHS)
async def test_a1_workspaces_that_share_a_token_share_its_requests(tmp_path, read_path):
    asked = []
    for count in (1, 5):
        world, _ = make_stage()
        more = "\n".join(
            f'[[workspace]]\nname = "w{n}"\ntoken_env = "TOKEN"\n[[workspace.watch]]\n{ONE}'
            for n in range(count - 1)
        )
        options = {"sinks": f"{more}\n{OUT}", **configure(read_path)}
        folder = tmp_path / str(count)
        folder.mkdir()
        async with open_product(folder, world, **options) as product:
            told = await product.cycles(10)
        asked.append(len(world.requests))
        assert len(list_changes(told)) == count

    assert asked[0] == asked[1] > 0


# getpaseo/paseo#3587


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("watch", WATCHES.values(), ids=WATCHES)
@pytest.mark.parametrize("kind", ["rate_limited", "secondary", "abuse"])
async def test_a2_a_limit_loses_no_link_and_says_until_when(
    tmp_path, kind, watch, read_path
):
    world, one = make_stage()
    options = {"watches": [watch], **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycles(2)
        before = product.watermarks()
        fail_from_now(kind)(world, one)
        draft(world, one)
        told = await product.cycles(5)
        (wait, *_) = list_limits(product.runtime.wired.accounts)
        kept = product.watermarks()
        end_faults(world, one)
        back = await product.cycles(2, gap=HOUR)

    assert told == []
    assert kept == before
    assert wait.until > world.clock.now() - dt.timedelta(hours=2)
    assert list_changes(back) == [DRAFT]


# microsoft/vscode-pull-request-github#4671 (A12)
# jenkinsci/github-branch-source-plugin#237 (A13)

SERIES = [
    ("A12 up and down", [(3173, 1800), (3183, 1800), (3172, 1800), (3190, 1800)]),
    ("A12 other counters far apart", [(4999, 1800), (1100, 1800), (4998, 1800)]),
    (
        "A13 the reset moves back and forth",
        [(3000, 1800), (3000, 1980), (3000, 1620)] * 4,
    ),
    ("A13 both move", [(3173, 1800), (4000, 1980), (3172, 1620), (3900, 1800)] * 3),
]


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("told", [pytest.param(s[1], id=s[0]) for s in SERIES])
async def test_counters_that_disagree_stop_nothing_and_alarm_nobody(
    tmp_path, told, read_path
):
    world, _ = make_stage()
    begin = world.clock.now()
    answers = iter(told * 50)

    def alter(answered):
        remaining, seconds = next(answers)
        at = begin + dt.timedelta(seconds=seconds)
        answered.headers["x-ratelimit-remaining"] = str(remaining)
        answered.headers["x-ratelimit-reset"] = str(int(at.timestamp()))
        for each in walk(answered.body):
            if "resetAt" in each:
                each["remaining"] = remaining
                each["resetAt"] = at.strftime("%Y-%m-%dT%H:%M:%SZ")

    github = AlteredGitHub(world, alter)
    options = {"transport": github, "watches": [ONE], **configure(read_path)}
    seen = []
    async with open_product(tmp_path, world, **options) as product:
        for _ in range(10):
            asked = len(github.asked)
            await product.cycle(gap=30)
            seen += [
                limits_of(product).budgets[b].remaining for b in _bucket(read_path)
            ]
            assert len(github.asked) > asked
            assert product.report.failures == []

    assert seen == sorted(seen, reverse=True)
    assert product.notices == []


def _bucket(read_path):
    return ["graphql" if read_path == "graphql" else "core"]


# yanyongyu/githubkit#272 (A15), eclipse-csi/otterdog#752 (A16)

SPELLINGS = [
    {"type": "RATE_LIMITED"},
    {"type": "RATE_LIMIT"},
    {"type": "rate_limited"},
    {"type": "rate_limit"},
    {"extensions": {"code": "graphql_rate_limit"}},
    {"message": SECONDARY},
]


def spell(error):
    return {"message": "API rate limit already exceeded", **error}


@pytest.mark.parametrize("error", SPELLINGS, ids=str)
@pytest.mark.parametrize("data", [None, {}], ids=["null", "empty"])
async def test_a15_every_spelling_of_a_limit_is_one(tmp_path, data, error):
    world, one = make_stage()

    def alter(answered):
        answered.body = {"errors": [spell(error)]}
        if data is None:
            answered.body["data"] = None

    github = AlteredGitHub(world)
    async with open_product(tmp_path, world, transport=github) as product:
        await product.cycles(2)
        github.alter = alter
        draft(world, one)
        await product.cycle()
        codes = [each.code for each in product.report.failures]
        asked = len(github.asked)
        await product.cycle(gap=1)
        silent = len(github.asked) == asked
        github.alter = None
        told = await product.cycles(2, gap=2 * HOUR)

    assert codes == ["rate_limited"]
    assert silent
    assert list_changes(told) == [DRAFT]


@pytest.mark.parametrize("error", SPELLINGS, ids=str)
@pytest.mark.parametrize("position", [0, 3, 9], ids=["first", "middle", "last"])
@pytest.mark.parametrize("has_path", [True, False], ids=["placed", "without a place"])
async def test_a16_what_was_answered_beside_a_limit_is_used(
    tmp_path, has_path, position, error
):
    world, _ = make_stage()
    opened = world.open_many("octo/hello", 9)
    numbers = [12, *(one.number for one in opened)]
    watches = [f'repository = "octo/hello"\npull_request = {n}' for n in numbers]

    def alter(answered):
        if not answered.operation.startswith("Details"):
            return
        name, nodes = next(
            (k, v) for k, v in answered.body["data"].items() if isinstance(v, list)
        )
        nodes[position] = None
        placed = {"path": [name, position]} if has_path else {}
        answered.body["errors"] = [spell(error) | placed]

    github = AlteredGitHub(world)
    async with open_product(
        tmp_path, world, transport=github, watches=watches
    ) as product:
        await product.cycles(2)
        github.alter = alter
        for one in world.pull_requests.values():
            world.mark_draft(one)
        told = await product.cycle()
        limited = limits_of(product).blocked_until("graphql")
        asked = len(github.asked)
        await product.cycle(gap=1)
        silent = len(github.asked) == asked
        github.alter = None
        later = await product.cycles(2, gap=2 * HOUR)

    assert list_changes(told) == [DRAFT] * 9
    assert limited is not None
    assert silent
    assert list_changes(later) == [DRAFT]


# argoproj/argo-cd#21887


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    ("kind", "event"),
    [
        ("secondary", "GitHubRateLimitChanged"),
        ("rate_limited", "GitHubRateLimitChanged"),
        ("json502", "ProviderCircuitOpened"),
        ("html503", "ProviderCircuitOpened"),
        ("bad_credentials", "ProviderCircuitOpened"),
    ],
)
async def test_a18_a_hundred_failures_with_words_of_their_own_are_one_change(
    tmp_path, kind, event, read_path
):
    world, one = make_stage()
    async with open_product(tmp_path, world, **configure(read_path)) as product:
        await product.cycles(2)
        fail_from_now(kind)(world, one)
        told = await product.cycles(100, gap=59)

    assert told == []
    assert [each["type"] for each in product.notices] == [event]


# Mergifyio/mergify#331


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("kind", ["html502", "html503", "html504", "json500", "reset"])
async def test_a19_errors_of_the_server_burn_no_budget(tmp_path, kind, read_path):
    world, one = make_stage()
    world.open_many("octo/hello", 40)
    watches = [
        f'repository = "octo/hello"\npull_request = {each.number}'
        for each in world.pull_requests.values()
    ]
    options = {"watches": watches, **configure(read_path)}
    github = AlteredGitHub(world)
    async with open_product(tmp_path, world, transport=github, **options) as product:
        await product.cycles(2)
        if kind == "reset":
            github.alter = _break_line
        else:
            fail_from_now(kind)(world, one)
        asked = []
        for _ in range(200):
            before = len(github.asked)
            await product.cycle(is_forced=False)
            asked.append(len(github.asked) - before)

    # 30 s doubling to ten minutes: in 200 minutes a few probes, not one a cycle.
    assert max(asked) <= 6
    assert sum(asked) <= 100


def _break_line(answered):
    raise httpx.ReadError("the line broke")


# hojinzs/github-symphony#450


@pytest.mark.parametrize("count", [2, 8])
@pytest.mark.parametrize("is_over", [True, False], ids=["over", "limited again"])
async def test_a22_after_a_wait_one_goes_first_and_the_others_see(
    tmp_path, count, is_over
):
    """Through REST alone nobody learns that the tokens are one person's."""
    world, _ = make_stage()
    secrets = {f"T{n}": f"ghp_{n}" + "s" * 35 for n in range(count - 1)}
    for token in secrets.values():
        world.set_token(token)
    more = "\n".join(
        f'[[workspace]]\nname = "w{n}"\ntoken_env = "{n}"\n[[workspace.watch]]\n{ONE}'
        for n in secrets
    )
    flight = Flight(world)
    async with open_product(
        tmp_path, world, transport=flight, secrets=secrets, sinks=f"{more}\n{OUT}"
    ) as product:
        await product.cycles(2)
        world.exhaust_rate_limit(for_=dt.timedelta(minutes=5))
        await product.cycle(gap=1)
        world.requests.clear()
        if not is_over:
            world.exhaust_rate_limit(for_=dt.timedelta(minutes=15))
        flight.begin()
        await product.cycle(gap=310)
        asked = len(world.requests)

    if is_over:
        assert flight.before_first_answer == 1
        assert asked >= count
        assert product.report.failures == []
    else:
        assert (asked, world.requests.while_limited) == (1, 1)


class Flight(AlteredGitHub):
    """Counts how many requests were sent before the first one was answered."""

    before_first_answer = 0
    _has_answer = True

    def begin(self):
        self.before_first_answer, self._has_answer = 0, False

    async def handle_async_request(self, request):
        if not self._has_answer:
            self.before_first_answer += 1
            for _ in range(50):  # let whoever is ready go too
                await anyio.lowlevel.checkpoint()
        response = await super().handle_async_request(request)
        self._has_answer = True
        return response


# kubernetes/test-infra#12055


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    "tasks",
    [
        pytest.param("", id="nothing"),
        pytest.param(
            '[[workspace.task]]\nid = "T-1"', id="a task without a repository"
        ),
        pytest.param(
            '[[workspace.task]]\nid = "T-1"\nrepositories = []', id="an empty list"
        ),
    ],
)
async def test_a23_nothing_watched_asks_nothing(tmp_path, tasks, read_path):
    world, _ = make_stage()
    options = {"watches": [], "tasks": tasks, **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        told = await product.cycles(3)

    assert told == []
    assert len(world.requests) == 0


# home-assistant/core#63146


class TestBoot:
    @pytest.fixture
    def anyio_backend(self):
        return ("trio", {"clock": trio.testing.MockClock(autojump_threshold=0)})

    @pytest.mark.parametrize(
        ("fault", "verdict"),
        [
            ("rate_limited", "degraded"),
            ("secondary", "degraded"),
            ("html502", "degraded"),
            ("reset", "degraded"),
            ("bad_credentials", "failing"),
        ],
    )
    async def test_a24_a_github_that_refuses_at_boot_holds_no_daemon_up(
        self, tmp_path, fault, verdict
    ):
        world = make_daemon_world()
        fail_from_now(fault)(world, None)
        async with running_daemon(tmp_path, world) as running:
            await anyio.sleep(5)
            ready, health = running.ready(), running.health()
            end_faults(world, None)
            await anyio.sleep(2 * HOUR)
            after = running.health()

        assert (health["ready"], health["verdict"]) == (True, verdict)
        assert ready[0] == 200
        assert after["verdict"] == "ok"
        assert after["watches"]["discovered"] == 1
