"""What `prwatch doctor` finds out about the reach of tokens, and of webhooks."""

import pytest

from prwatch.app.command.access_check import examine_access
from prwatch.app.command.doctor import examine
from prwatch.app.command.explain import explain_live
from prwatch.app.command.finding import Finding, Health
from prwatch.app.command.load_check import judge_load
from prwatch.app.command.references import NamedPullRequest
from prwatch.app.command.sink_check import examine_sinks
from prwatch.app.command.status import read_status
from prwatch.app.command.watch_commands import add_watch
from prwatch.simulator import DEFAULT_TOKEN
from tests.benches import ONE, make_stage
from tests.webhook_receiver import open_webhook_receiver

PULL_REQUEST = NamedPullRequest(owner="octo", name="hello", number=12)


async def find(findings):
    return [(each.health, each.text, each.remedy) async for each in findings]


@pytest.fixture
async def stage(tmp_path):
    """A workspace that watches a pull request with a check, and has read it."""
    stage = make_stage(tmp_path)
    (one,) = stage.world.pull_requests.values()
    stage.world.set_check(one, "build", conclusion="SUCCESS", workflow="CI")
    async with stage.bench() as bench:
        await add_watch(bench, PULL_REQUEST)
    await stage.cycle()
    return stage


async def test_a_token_that_reads_everything_is_said_to(stage):
    found = await find(examine_access(stage.loaded, stage.surroundings))

    assert found == [
        (Health.OK, "it can read everything of a watched pull request", "")
    ]


@pytest.mark.parametrize("has_graphql", [True, False])
async def test_what_the_token_cannot_read_is_found_at_once(stage, has_graphql):
    stage.world.has_graphql = has_graphql
    stage.world.enterprise_version = "" if has_graphql else "2.9.0"
    stage.world.refuse_fields("CheckRun")

    found = await find(examine_access(stage.loaded, stage.surroundings))

    text = "checks cannot be read with this token in octo/hello"
    remedies = {text: remedy for _, text, remedy in found}
    assert remedies[text].startswith("give the token the permission `Checks: read`")
    assert [text for health, text, _ in found if health is Health.WARNING] == [text]
    assert len(found) == (1 if has_graphql else 2)


async def test_what_the_daemon_knows_is_told_with_its_next_test(stage):
    stage.world.refuse_fields("CheckRun")
    (one,) = stage.world.pull_requests.values()
    stage.world.set_check(one, "lint", conclusion="FAILURE", workflow="CI")
    await stage.cycle()

    ((health, text, _),) = await find(examine_access(stage.loaded, stage.surroundings))
    async with stage.bench() as bench:
        (workspace,) = (await read_status(bench)).workspaces

    assert health is Health.WARNING
    assert "; it is tried again after 2026-12-01 12:02 UTC" in text
    assert [each.as_json()["field"] for each in workspace.unreadable] == ["checks"]


@pytest.mark.parametrize(
    ("organization", "said", "remedy"),
    [
        pytest.param(
            "octo",
            "octo on github.com: the organisation asks for single sign-on with this"
            " token",
            "authorise the token for the organisation: github.com/settings/tokens",
            id="single sign-on",
        ),
    ],
)
async def test_an_organisation_that_refuses_is_named_with_what_to_do(
    stage, organization, said, remedy
):
    stage.world.set_token(DEFAULT_TOKEN, sso_organizations=(organization,))

    found = await find(examine_access(stage.loaded, stage.surroundings))

    assert found == [(Health.WARNING, said, remedy)]


async def test_a_repository_that_may_not_be_read_is_named(stage):
    stage.world.set_token(DEFAULT_TOKEN, repositories=("octo/other",))

    found = await find(examine_access(stage.loaded, stage.surroundings))

    assert found == [
        (
            Health.WARNING,
            "GitHub does not show octo/hello#12",
            "see that they exist, and that the token may see their repositories",
        )
    ]


async def test_a_workspace_that_watches_nothing_has_nothing_to_be_tried(tmp_path):
    stage = make_stage(tmp_path)

    assert await find(examine_access(stage.loaded, stage.surroundings)) == []


async def test_a_token_that_is_refused_is_left_to_the_other_findings(stage):
    stage.world.revoke_token()

    assert await find(examine_access(stage.loaded, stage.surroundings)) == []


async def test_nothing_that_is_tried_is_stored(stage):
    stage.world.refuse_fields("CheckRun")

    subjects = [
        each.subject async for each in examine(stage.loaded, stage.surroundings)
    ]

    assert "token of acme" in subjects
    async with stage.bench() as bench:
        (workspace,) = (await read_status(bench)).workspaces
    assert workspace.unreadable == ()


async def test_a_webhook_is_reached_and_sent_nothing(tmp_path):
    async with open_webhook_receiver() as receiver:
        sink = f'[[sink]]\nname = "hook"\nkind = "webhook"\nurl = "{receiver.url}"\n'
        stage = make_stage(tmp_path, ONE + sink)
        found = [each async for each in examine_sinks(stage.loaded.config)]

    (finding,) = found
    assert (finding.subject, finding.health) == ("sink hook", Health.OK)
    assert finding.text == f"127.0.0.1:{receiver.port} can be reached"
    assert receiver.requests == []


async def test_a_webhook_that_takes_no_connection_is_named_without_its_secret(tmp_path):
    sink = (
        '[[sink]]\nname = "hook"\nkind = "webhook"\nurl = "http://127.0.0.1:1/geheim"'
    )
    stage = make_stage(tmp_path, ONE + sink)

    (finding,) = [
        each
        async for each in examine(stage.loaded, stage.surroundings)
        if each.subject == "sink hook"
    ]

    assert finding.health is Health.WARNING
    assert finding.text == "127.0.0.1:1 takes no connection"
    assert finding.remedy == "start the receiver, or correct the sink's url"


async def test_behind_a_proxy_only_the_proxy_is_tried(tmp_path, monkeypatch):
    async with open_webhook_receiver() as receiver:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{receiver.port}")
        sink = '[[sink]]\nname = "hook"\nkind = "webhook"\nurl = "https://a.example/x"'
        stage = make_stage(tmp_path, ONE + sink)
        (finding,) = [each async for each in examine_sinks(stage.loaded.config)]

    assert finding.text == (
        f"proxy 127.0.0.1:{receiver.port} can be reached; what is behind it was not"
        " tried"
    )


async def test_what_watching_costs_is_compared_with_the_budget(stage):
    found = [each async for each in examine(stage.loaded, stage.surroundings)]

    (finding,) = [each for each in found if each.subject == "budget of acme"]
    assert finding.health is Health.OK
    assert finding.text.endswith(
        "of 5,000 points an hour, which is what GitHub usually gives"
    )


@pytest.mark.parametrize(
    ("account", "finding"),
    [
        pytest.param({"hour": {"points": 0}, "budget": {}}, None, id="nothing watched"),
        pytest.param({"hour": {"points": 5}, "budget": None}, None, id="no limits"),
        pytest.param(
            {
                "hour": {"points": 2_400.4},
                "budget": {"points": 5_000, "assumed": False},
                "workspaces": ["acme", "corp"],
                "stretch": {"words": "idle ones are asked every 5 minutes"},
            },
            Finding(
                "budget of acme, corp",
                Health.WARNING,
                "watching costs 2,400 of 5,000 points an hour: idle ones are asked every"
                " 5 minutes",
                "watch less, or use an account of its own; see `prwatch budget`",
            ),
            id="stretched",
        ),
    ],
)
def test_a_budget_that_does_not_hold_the_load_is_warned_of(account, finding):
    assert judge_load(account) == finding


async def test_a_host_without_graphql_still_says_whose_token_it_is(stage):
    stage.world.has_graphql, stage.world.enterprise_version = False, "2.9.0"

    findings = [each async for each in examine(stage.loaded, stage.surroundings)]
    async with stage.bench() as bench:
        (explained,) = await explain_live(bench, stage.loaded, PULL_REQUEST)

    (token, *_) = [each for each in findings if each.subject == "token of acme"]
    assert token.health is Health.OK
    assert "a token of octocat" in token.text
    assert explained.live.observation.checks == "success"
