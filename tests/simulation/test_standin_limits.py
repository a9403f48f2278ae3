"""Within the limits of an independent model of GitHub, its clock moved with ours."""

import os

import pytest

from tests.product import open_product
from tests.simulation.standin_story import TOKEN, StandinStory

URL = os.environ.get("PRWATCH_STANDIN_URL", "")
pytestmark = [
    pytest.mark.standin,
    pytest.mark.skipif(not URL, reason="PRWATCH_STANDIN_URL is not set"),
    pytest.mark.xdist_group("standin"),
]
GAP = 15
CYCLES = 60
LIMITS = {
    "primary": ("rate_limited", {"reset": 120}),
    "other spelling": ("rate_limited", {"reset": 120, "type": "RATE_LIMIT"}),
    "primary as 429": ("rate_limited", {"reset": 300, "status": 429}),
    "secondary": ("secondary", {"after": 90}),
    "secondary held": ("secondary", {"hold": 1}),
    "secondary held long": ("secondary", {"hold": 1, "after": 200}),
    "secondary in a 200": ("secondary", {"hold": 1, "status": 200}),
    "secondary as 429": ("secondary", {"hold": 1, "status": 429}),
    "secondary unnamed": ("secondary", {"hold": 1, "after": "none"}),
    "the old wording": ("abuse", {}),
}


def list_cases():
    for title, (name, params) in LIMITS.items():
        yield pytest.param(name, params, "graphql", id=f"{title}-graphql")
        if params.get("status") != 200:  # only GraphQL refuses so
            yield pytest.param(name, params, "rest", id=f"{title}-rest")


@pytest.fixture
def story():
    story = StandinStory(URL)
    story.set_the_stage()
    yield story
    # Others compare its clock with the machine's.
    story._call("POST", "clock", {"advance": -story.clock.monotonic()})
    story._call("POST", "reset", {})
    story.close()


def limit_next(story, name, **params):
    rule = {"match": {}, "fault": name, "params": params, "times": 1}
    story._call("POST", "faults", {"rules": [rule]})


def list_asked(story):
    stats = story.stats()
    return stats["afterLimit"], stats["retriedTooSoon"], stats["violations"]


@pytest.mark.parametrize(("name", "params", "read_path"), list(list_cases()))
async def test_nothing_is_asked_while_a_limit_forbids_it(
    tmp_path, story, name, params, read_path
):
    options = {"clock": story.clock, "token": TOKEN, "api_url": URL}
    poll = f'read_path = "{read_path}"'
    async with open_product(tmp_path, poll=poll, **options) as product:
        await product.cycle(gap=GAP)
        limit_next(story, name, **params)
        await product.cycles(4, gap=GAP)
        assert [each.code for each in product.report.failures] == ["rate_limited"]
    async with open_product(tmp_path, poll=poll, **options) as product:
        story.play("retitled")
        told = await product.cycles(CYCLES, gap=GAP)

        assert product.report.failures == []
        assert product.ask("SELECT * FROM rate_limit_blocks") == []
    assert list_asked(story) == (0, 0, 0)
    assert [each["type"] for each in told] == ["GitHubTaskPRUpdated"]


async def test_a_limit_that_is_met_again_at_once_is_waited_for_again(tmp_path, story):
    options = {"clock": story.clock, "token": TOKEN, "api_url": URL}
    async with open_product(tmp_path, **options) as product:
        await product.cycle(gap=GAP)
        rules = [
            {"match": {}, "fault": "secondary", "times": 4, "params": {"hold": 1, "after": "none"}},
            {"match": {}, "fault": "rate_limited", "skip": 4, "times": 2, "params": {"reset": 90}},
        ]  # fmt: skip
        story._call("POST", "faults", {"rules": rules})
        await product.cycles(120, gap=GAP)

        assert product.report.failures == []
    assert list_asked(story) == (0, 0, 0)


async def test_a_small_budget_is_left_to_people_and_never_runs_dry(tmp_path, story):
    story._call("POST", "config", {"window": 600})
    limits = {"token": TOKEN, "resource": "graphql", "limit": 10, "used": 0}
    story._call(
        "POST",
        "tokens",
        {TOKEN: {"login": "octocat", "scopes": ["repo"], "limits": {"graphql": 10}}},
    )
    story._call("POST", "ratelimit", {**limits, "resetIn": 600})
    options = {"clock": story.clock, "token": TOKEN, "api_url": URL}
    async with open_product(tmp_path, poll="reserve = 0.2", **options) as product:
        codes = set()
        for _ in range(90):
            await product.cycle(gap=GAP)
            codes |= {each.code for each in product.report.failures}

    assert codes == {"reserve_kept"}
    assert list_asked(story) == (0, 0, 0)
