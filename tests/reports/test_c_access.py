"""Reports about access: tokens, organisations, installations, and the way to GitHub."""

import anyio
import pytest
import trio.testing

from prwatch.domain.circuit import CircuitKind
from prwatch.domain.health import REMEDIES, ReasonCode
from prwatch.domain.outcome import FailureClass
from prwatch.simulator import DEFAULT_TOKEN, World
from tests.daemons import make_daemon_world, running_daemon
from tests.product import ALL, ONE, MovedClock, list_changes, open_product
from tests.reports.acts import check, draft, end_faults, fail_from_now, review
from tests.reports.altered_github import AlteredGitHub, walk
from tests.reports.stage import BRANCH_OF_FORK, PATHS, configure, make_stage
from tests.simulation.test_installation_token import Stage as AppStage
from tests.simulation.test_replaced_token import OTHER_TOKEN
from tests.simulation.test_replaced_token import Stage as FileStage

DRAFT = (("is_draft", False, True),)
WATCHES = {"one": ONE, "all": ALL, "branch": BRANCH_OF_FORK}
HOUR = 3_600


def open_circuits(product):
    return {
        (key.kind, circuit.cause.failure_class)
        for key, circuit in product.runtime.circuits.items()
    }


# open-mercato/cezar#969 (C2), tellahq/opensession#212 (C3), spatie/bloom#259 (C4)


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    "watch",
    [
        pytest.param(ONE, id="C2 named"),
        pytest.param(ALL, id="C4 adopted"),
        pytest.param(BRANCH_OF_FORK, id="C4 found by its branch"),
    ],
)
@pytest.mark.parametrize("field", ["CheckRun", "PullRequest.statusCheckRollup"])
async def test_checks_that_may_not_be_read_cost_the_checks_alone(
    tmp_path, field, watch, read_path
):
    world, one = make_stage()
    check(conclusion="SUCCESS")(world, one)
    review("grace")(world, one)
    world.clock.advance(60)
    world.refuse_fields(field)
    options = {"watches": [watch], **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        told = await product.cycles(3)
        (row,) = product.ask("SELECT * FROM task_pull_requests")

    decision = "APPROVED" if read_path == "graphql" else None
    assert list_changes(told) == [(("associated", None, 12),)]
    assert (row["mergeable"], row["review"], row["review_decision"]) == (
        "MERGEABLE",
        "approved",
        decision,
    )
    assert row["checks"] is None


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("hours", [1, 30])
async def test_c3_a_refused_field_is_tried_again_once_a_day(tmp_path, hours, read_path):
    world, one = make_stage()
    check(conclusion="SUCCESS")(world, one)
    world.refuse_fields("CheckRun")
    github = AlteredGitHub(world)
    options = {"transport": github, **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycle()
        await product.cycles(100, gap=hours * 36, is_full=True)

    refused = [each for each in github.asked if "not accessible" in str(each.body)]
    assert len(refused) == 1 + hours // 24


# AikidoSec/firewall-php#411 and its kin

WORDS = {
    "sso": "Resource protected by organization SAML enforcement.",
    "ip_allow_list": "Although you appear to have the correct authorization credentials,"
    " the `ssocorp` organization has an IP allow list enabled.",
    "token_kind_banned": "The 'ssocorp' organization forbids access via a fine-grained"
    " personal access token.",
    "oauth_restricted": "The `ssocorp` organization has enabled OAuth App access"
    " restrictions.",
}


def reword(text):
    """Return an `alter` that gives the refusals of an organisation other words."""

    def alter(answered):
        is_saml = answered.headers.pop("x-github-sso", "") and answered.status == 403
        if is_saml:
            answered.body["message"] = text
        for each in walk(answered.body):
            if each.get("extensions", {}).pop("saml_failure", False):
                each["message"] = text

    return alter


def make_two_organisations():
    world = World(MovedClock())
    watches = []
    for owner in ("ssocorp", "octo"):
        world.add_organization(owner)
        world.add_repository(f"{owner}/hello")
        for number in range(1, 4):
            world.open_pull_request(
                f"{owner}/hello", branch=f"t-{number}", number=number
            )
            watches.append(f'repository = "{owner}/hello"\npull_request = {number}')
    return world, watches


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("code", WORDS)
@pytest.mark.parametrize("is_first", [True, False], ids=["at first", "later"])
async def test_c6_what_an_organisation_refuses_is_its_own_matter(
    tmp_path, is_first, code, read_path
):
    world, watches = make_two_organisations()
    github = AlteredGitHub(world, reword(WORDS[code]))
    options = {"watches": watches, "transport": github, **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        if not is_first:
            await product.cycle()
        world.set_token(DEFAULT_TOKEN, sso_organizations=("ssocorp",))
        if is_first:
            await product.cycle()
        for one in world.pull_requests.values():
            draft(world, one)
        told = await product.cycles(2)
        failures = product.report.failures
        circuits = open_circuits(product)
        kept = product.ask("SELECT id FROM pr_watches")
        world.set_token(DEFAULT_TOKEN)
        later = await product.cycles(3, gap=HOUR)

    assert {e["data"]["repository"]["owner"] for e in told} == {"octo"}
    assert len(list_changes(told)) == 3
    assert {(f.scope, str(f.failure_class), f.code) for f in failures} == {
        ("organisation", "auth", code)
    }
    assert circuits == {(CircuitKind.ORGANISATION, FailureClass.AUTH)}
    assert len(kept) == 6
    assert {e["data"]["repository"]["owner"] for e in later} == {"ssocorp"}


# atlassian/github-for-jira#763, #1152

REFUSALS = [
    ("bad_credentials", "token"),
    ("sso", "single sign-on"),
    ("ip_allow_list", "IP allow list"),
    ("insufficient_scopes", "scope"),
    ("account_suspended", "suspended"),
    ("suspended_installation", "suspended"),
]


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(("kind", "word"), REFUSALS)
async def test_c8_a_refusal_is_told_by_its_class_and_in_words(
    tmp_path, kind, word, read_path
):
    if (kind, read_path) == ("insufficient_scopes", "rest"):
        kind = "bad_credentials"  # a word of GraphQL alone
        word = "token"
    world, watches = make_two_organisations()
    fail_from_now(kind, organization="ssocorp")(world, None)
    options = {"watches": watches, **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycle()
        failures = product.report.failures

    assert failures
    assert {str(each.failure_class) for each in failures} == {"auth"}
    assert all(word in each.message for each in failures)
    assert not any("documentation_url" in each.message for each in failures)


@pytest.mark.parametrize("code", list(ReasonCode))
def test_c8_every_reason_of_health_says_what_helps(code):
    assert len(REMEDIES[code].split()) >= 2


# codecov/shared#334


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    "kind", ["suspended_installation", "account_suspended", "bad_credentials"]
)
async def test_c10_a_suspension_is_learnt_from_the_answer_and_probed_cheaply(
    tmp_path, kind, read_path
):
    world, one = make_stage()
    world.open_many("octo/hello", 30)
    watches = [
        f'repository = "octo/hello"\npull_request = {each.number}'
        for each in world.pull_requests.values()
    ]
    options = {"watches": watches, **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycles(2)
        before = product.watermarks()
        fail_from_now(kind)(world, one)
        world.requests.clear()
        told = await product.cycles(60)
        asked, circuits = len(world.requests), open_circuits(product)
        kept = product.watermarks()
        end_faults(world, one)
        draft(world, one)
        back = await product.cycles(2, gap=HOUR * 1.3)

    assert (told, kept) == ([], before)
    assert circuits == {(CircuitKind.WORKSPACE, FailureClass.AUTH)}
    assert asked <= 15
    assert list_changes(back) == [DRAFT]


# ohdearquant/lionagi#1868


class TestBlindness:
    @pytest.fixture
    def anyio_backend(self):
        return ("trio", {"clock": trio.testing.MockClock(autojump_threshold=0)})

    @pytest.mark.parametrize("watch", WATCHES.values(), ids=WATCHES)
    @pytest.mark.parametrize("at_start", [True, False], ids=["at first", "later"])
    async def test_c11_a_refused_token_is_failing_within_one_cycle(
        self, tmp_path, at_start, watch
    ):
        world = make_daemon_world()
        if at_start:
            world.revoke_token()
        async with running_daemon(tmp_path, world, watches=(watch,)) as running:
            await anyio.sleep(20)
            world.revoke_token()
            await anyio.sleep(80)
            refused = running.health()
            await anyio.sleep(30 * 60)
            still = running.health()

        assert (refused["verdict"], still["verdict"]) == ("failing", "failing")
        assert [each["reason"] for each in refused["reasons"]] == ["token_refused"]


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("watch", WATCHES.values(), ids=WATCHES)
async def test_c11_refused_ten_times_is_not_empty(tmp_path, watch, read_path):
    world, one = make_stage()
    options = {"watches": [watch], **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycles(2)
        before = product.watermarks()
        fail_from_now("bad_credentials")(world, one)
        told = await product.cycles(10, gap=HOUR * 1.3)
        kept = product.watermarks()
        end_faults(world, one)
        draft(world, one)
        back = await product.cycles(2, gap=HOUR * 1.3)

    assert (told, kept) == ([], before)
    assert list_changes(back) == [DRAFT]


# devops-thiago/ThrillhouseBot#624


@pytest.mark.parametrize("operation", ["Details", "MoreReviews", "Probe"])
async def test_c12_a_token_that_dies_between_two_pages_is_minted_anew(
    tmp_path, operation
):
    stage = AppStage(tmp_path)
    world, one = stage.world, stage.pull_request
    for number in range(130):
        world.submit_review(one, f"reader-{number}", "COMMENTED")
    async with stage.run() as runtime:
        first = await stage.cycle(runtime)
        world.submit_review(one, "grace")
        draft(world, one)

        # The token that is in use dies just before that request.
        fault = fail_from_now("bad_credentials", match=operation)
        fault(world, one).times = 1
        second = await stage.cycle(runtime)

    assert (first, second) == ([], [])
    assert len(stage.mints) == 2
    assert b'"is_draft"' in stage.stdout.getvalue() or not stage.stdout.getvalue()


# feldera/feldera#7099


@pytest.mark.parametrize("source", ["file", "credential"])
@pytest.mark.parametrize("seconds", [30, 90, 600])
async def test_c15_a_token_file_that_is_written_later_resets_the_circuit_at_once(
    tmp_path, seconds, source
):
    stage = FileStage(tmp_path, source)
    async with stage.run() as runtime:
        first = await stage.cycle(runtime)
        stage.world.revoke_token(DEFAULT_TOKEN)
        refused = await stage.cycle(runtime)
        stage.world.clock.advance(seconds - 60)
        waiting = await stage.cycle(runtime)
        asked = len(stage.world.requests)
        stage.put(OTHER_TOKEN)
        renewed = await stage.cycle(runtime)

    assert first == []
    assert len(refused) == len(waiting) == 1
    assert renewed == []
    assert len(stage.world.requests) > asked


# manaflow-ai/cmux#8521


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("cycles", [1, 3, 12])
@pytest.mark.parametrize("watch", [ONE, BRANCH_OF_FORK], ids=["one", "branch"])
async def test_c17_not_found_is_no_proof_that_it_is_gone(
    tmp_path, watch, cycles, read_path
):
    world, one = make_stage()
    options = {"watches": [watch], **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycles(2)
        before = product.watermarks()
        world.set_token(DEFAULT_TOKEN, repositories=("octo/other",))
        told = await product.cycles(cycles)
        kept = product.watermarks()
        world.set_token(DEFAULT_TOKEN)
        draft(world, one)
        back = await product.cycles(2, gap=HOUR * 7.6)

    assert (told, kept) == ([], before)
    assert list_changes(back) == [DRAFT]


@pytest.mark.parametrize("read_path", PATHS)
async def test_c17_a_list_that_is_not_found_ends_no_adoption(tmp_path, read_path):
    world, one = make_stage()
    options = {"watches": [ALL], **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycles(2)
        before = product.watermarks()
        world.set_token(DEFAULT_TOKEN, repositories=("octo/other",))
        told = await product.cycles(3)
        kept = product.watermarks()
        world.set_token(DEFAULT_TOKEN)
        draft(world, one)
        back = await product.cycles(2, gap=HOUR * 7.6)

    assert (told, kept) == ([], before)
    assert list_changes(back) == [DRAFT]


# JuliaRegistries/TagBot#298

NOT_ACCESSIBLE = "Resource not accessible by personal access token"
BOTH = [
    ("limit", "API rate limit exceeded for user ID 1.", {"x-ratelimit-remaining": "0"}),
    ("limit", "You have exceeded a secondary rate limit.", {}),
    ("limit", "", {"retry-after": "60"}),
    ("config", NOT_ACCESSIBLE, {}),
    ("config", "Resource not accessible by integration", {"retry-after": "60"}),
    ("config", "Must have admin rights to Repository.", {}),
]


@pytest.mark.parametrize(("expected", "message", "headers"), BOTH)
async def test_c20_two_bodies_of_one_status_are_two_classes(
    tmp_path, expected, message, headers
):
    world, _ = make_stage()

    def alter(answered):
        if answered.path.endswith("/pulls/12"):
            answered.status, answered.body = 403, {"message": message}
            answered.headers |= headers

    github = AlteredGitHub(world)
    options = {"transport": github, **configure("rest")}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycles(2)
        github.alter = alter
        await product.cycle()
        classes = {str(each.failure_class) for each in product.report.failures}

    assert classes == {expected}
