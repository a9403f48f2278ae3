"""Apps of the simulated GitHub: who gets a token, and what it is good for."""

import jwt
import pytest

from tests.app_keys import make_key
from tests.unit.simulator.stage import NOON, get, make_world, open_client

PATH = "/app/installations/{}/access_tokens"


@pytest.fixture
def world():
    world = make_world()
    world.add_repository("octo/other")
    app = world.register_app(1, public_key=make_key()[1], client_id="Iv1.one")
    world.install_app(10, app, repositories=("octo/hello",))
    return world


def sign(key=None, **claims):
    noon = int(NOON.timestamp())
    claims = {"iss": "1", "iat": noon - 60, "exp": noon + 540} | claims
    return jwt.encode(claims, key or make_key()[0], algorithm="RS256")


async def post(world, signed, number=10):
    async with open_client(world, signed) as client:
        return await client.post(PATH.format(number))


@pytest.mark.parametrize("issuer", ["1", "Iv1.one"])
async def test_an_app_gets_a_token_that_lasts_an_hour(world, issuer):
    response = await post(world, sign(iss=issuer))

    body = response.json()
    assert response.status_code == 201
    assert body["expires_at"] == "2026-11-30T13:00:00Z"
    assert (len(body["token"]), body["token"].count(".")) == (520, 2)


async def test_a_token_sees_the_repositories_of_its_installation(world):
    token = (await post(world, sign())).json()["token"]

    seen = [
        (await get(world, f"/repos/octo/{name}", token)).status_code
        for name in ("hello", "other")
    ]
    world.clock.advance(3600)
    ended = await get(world, "/repos/octo/hello", token)

    assert (seen, ended.status_code) == ([200, 404], 401)


@pytest.mark.parametrize(
    ("signed", "words"),
    [
        pytest.param("ghp_simulator", "could not be decoded", id="a token"),
        pytest.param("", "could not be decoded", id="nothing"),
        pytest.param(
            sign(make_key("other")[0]), "could not be decoded", id="another key"
        ),
        pytest.param(sign(iss="2"), "Integration not found", id="another app"),
        pytest.param(
            sign(exp=int(NOON.timestamp())), "the future time", id="after its end"
        ),
        pytest.param(
            sign(exp=int(NOON.timestamp()) + 601), "too far", id="for too long"
        ),
        pytest.param(
            sign(iat=int(NOON.timestamp()) + 1), "'iat'", id="before its begin"
        ),
    ],
)
async def test_a_signature_that_is_not_right_is_refused(world, signed, words):
    response = await post(world, signed)

    assert response.status_code == 401
    assert words in response.json()["message"]


async def test_a_suspended_installation_gets_no_token_and_its_tokens_rest(world):
    token = (await post(world, sign())).json()["token"]
    world.suspend_installation(10)

    answers = [await post(world, sign()), await get(world, "/user", token)]

    assert [(each.status_code, each.json()["message"]) for each in answers] == [
        (403, "This installation has been suspended")
    ] * 2


async def test_a_removed_installation_is_not_found_and_its_tokens_end(world):
    token = (await post(world, sign())).json()["token"]
    world.remove_installation(10)

    answers = [await post(world, sign()), await get(world, "/user", token)]

    assert [each.status_code for each in answers] == [404, 401]


async def test_an_installation_of_another_app_is_not_found(world):
    world.install_app(20, world.register_app(2, public_key=make_key("two")[1]))

    assert (await post(world, sign(), number=20)).status_code == 404
