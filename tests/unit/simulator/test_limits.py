"""Tokens, budgets and limits: who is refused, with which words and headers."""

import datetime as dt

import pytest

from prwatch.simulator import DEFAULT_TOKEN
from tests.unit.simulator.stage import NOON, get, make_world, open_client

VIEWER = "{ viewer { login } }"
MINUTE = dt.timedelta(minutes=1)
HELLO = "/repos/octo/hello"


async def post(world, query=VIEWER, token=DEFAULT_TOKEN):
    async with open_client(world, token) as client:
        return await client.post("/graphql", json={"query": query})


def exhaust(bucket):
    return lambda world: world.exhaust_rate_limit(bucket, for_=MINUTE)


async def test_a_revoked_token_is_refused_without_rate_headers():
    world = make_world()

    world.revoke_token()

    response = await post(world)
    assert (response.status_code, response.json()) == (
        401,
        {
            "message": "Bad credentials",
            "documentation_url": "https://docs.github.com/rest",
            "status": "401",
        },
    )
    assert "x-ratelimit-limit" not in response.headers


@pytest.mark.parametrize(
    ("token", "status"),
    [
        pytest.param("ghp_unknown", 401, id="unknown"),
        pytest.param("", 401, id="none"),
        pytest.param(DEFAULT_TOKEN, 200, id="known"),
    ],
)
async def test_graphql_wants_a_token_that_is_known(token, status):
    assert (await post(make_world(), token=token)).status_code == status


async def test_rest_answers_anybody_sixty_times_an_hour():
    world = make_world()

    statuses = [(await get(world, HELLO, "")).status_code for _ in range(61)]

    assert statuses == [200] * 60 + [403]


async def test_a_token_ends_at_its_time_and_says_so_before():
    world = make_world()
    world.set_token("ghp_short", login="ada", expires_at=NOON + MINUTE, scopes=None)

    before = await post(world, token="ghp_short")
    world.clock.advance(60)
    after = await post(world, token="ghp_short")

    assert before.json() == {"data": {"viewer": {"login": "ada"}}}
    assert before.headers["github-authentication-token-expiration"] == (
        "2026-11-30 12:01:00 UTC"
    )
    assert "x-oauth-scopes" not in before.headers
    assert after.status_code == 401


async def test_all_tokens_of_one_account_share_its_budget():
    world = make_world()
    world.set_token("ghp_second")

    await post(world)
    response = await post(world, token="ghp_second")

    assert response.headers["x-ratelimit-used"] == "2"


async def test_an_exhausted_graphql_budget_refuses_with_status_200():
    world = make_world()
    number = world.tokens[DEFAULT_TOKEN].account.database_id

    world.exhaust_rate_limit(for_=MINUTE)

    refused = await post(world)
    assert (refused.status_code, refused.json()) == (
        200,
        {
            "errors": [
                {
                    "type": "RATE_LIMITED",
                    "message": f"API rate limit exceeded for user ID {number}.",
                }
            ]
        },
    )
    assert refused.headers["x-ratelimit-remaining"] == "0"
    assert refused.headers["x-ratelimit-reset"] == str(int(NOON.timestamp()) + 60)
    assert world.requests.while_limited == 1
    world.clock.advance(60)
    assert (await post(world)).json() == {"data": {"viewer": {"login": "octocat"}}}


async def test_an_exhausted_rest_budget_refuses_with_403_but_not_graphql():
    world = make_world()

    world.exhaust_rate_limit("core")

    refused = await get(world, HELLO)
    assert (refused.status_code, refused.headers["x-ratelimit-remaining"]) == (403, "0")
    assert (await get(world, "/rate_limit")).json()["resources"]["core"] == {
        "limit": 5000,
        "used": 5000,
        "remaining": 0,
        "reset": int(NOON.timestamp()) + 3600,
    }
    assert (await post(world)).status_code == 200


async def test_a_secondary_limit_refuses_everything_though_the_budget_is_full():
    world = make_world()

    world.secondary_limit(MINUTE)

    refused = await post(world)
    assert refused.status_code == 403
    assert refused.json()["message"].startswith("You have exceeded a secondary rate")
    assert refused.headers["retry-after"] == "60"
    assert refused.headers["x-ratelimit-remaining"] == "5000"
    assert (await get(world, HELLO)).status_code == 403
    assert world.requests.while_limited == 2
    world.clock.advance(60)
    assert (await post(world)).status_code == 200


async def test_an_outage_answers_html_until_it_is_over():
    world = make_world()

    world.go_down(MINUTE)

    response = await post(world)
    assert (response.status_code, response.headers["content-type"]) == (
        502,
        "text/html; charset=utf-8",
    )
    world.come_back()
    assert (await post(world)).status_code == 200


async def test_a_single_sign_on_refuses_one_organisation_alone():
    world = make_world()
    world.add_organization("corp")
    world.add_repository("corp/app")
    world.set_token("ghp_sso", sso_organizations=("corp",))
    query = """{ a: repository(owner: "corp", name: "app") { id }
      b: repository(owner: "octo", name: "hello") { name } }"""

    body = (await post(world, query, "ghp_sso")).json()
    rest = await get(world, "/repos/corp/app", "ghp_sso")

    assert body["data"] == {"a": None, "b": {"name": "hello"}}
    assert [
        (error["type"], error["path"], error["extensions"]) for error in body["errors"]
    ] == [("FORBIDDEN", ["a"], {"saml_failure": True})]
    assert rest.status_code == 403
    assert rest.headers["x-github-sso"] == (
        "required; url=https://github.com/orgs/corp/sso"
    )


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        pytest.param(DEFAULT_TOKEN, 200, id="all"),
        pytest.param("github_pat_other", 404, id="other"),
        pytest.param("", 404, id="nobody"),
    ],
)
async def test_what_a_token_may_not_see_does_not_exist(token, expected):
    world = make_world(is_private=True)
    world.set_token("github_pat_other", repositories=("octo/other",))

    assert (await get(world, HELLO, token)).status_code == expected


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        pytest.param({"user_agent": ""}, 403, id="nameless"),
        pytest.param({"x_github_api_version": "2020-01-01"}, 400, id="version"),
        pytest.param({"x_github_api_version": "2022-11-28"}, 200, id="good"),
    ],
)
async def test_callers_must_say_who_they_are_and_what_they_speak(headers, expected):
    assert (await get(make_world(), HELLO, **headers)).status_code == expected
