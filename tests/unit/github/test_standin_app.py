"""An installation of an app against an independent model of GitHub."""

import datetime as dt
import os
from pathlib import Path

import anyio
import httpx
import pytest

from prwatch.clock import SystemClock
from prwatch.domain.outcome import Found
from prwatch.domain.reference import PullRequestReference
from prwatch.errors import AuthenticationFailed
from prwatch.github.app_auth import Installation, InstallationCredential
from prwatch.github.client import Endpoints, GitHub
from prwatch.github.credentials import TokenCredential
from prwatch.http.client import create_http_client
from prwatch.telemetry.secret import Secret

URL = os.environ.get("PRWATCH_STANDIN_URL", "")
pytestmark = [
    pytest.mark.standin,
    pytest.mark.skipif(not URL, reason="PRWATCH_STANDIN_URL is not set"),
    pytest.mark.xdist_group("standin"),
]
PULL_REQUEST = PullRequestReference(owner="acme", name="widgets", number=1)


class ShiftedClock(SystemClock):
    """The machine's clock, wrong by some seconds."""

    def __init__(self, seconds):
        self._shift = dt.timedelta(seconds=seconds)
        self._passed = 0.0

    def now(self):
        return super().now() + self._shift

    def monotonic(self):
        return super().monotonic() + self._passed

    def pass_by(self, seconds):
        """Let time pass that nobody has to wait for."""
        self._passed += seconds


class Standin:
    """The stand-in's control and key, and clients that sign in with it."""

    def __init__(self, http, control, registration):
        self.http, self.control, self.registration = http, control, registration

    def connect(self, installation=777, *, app="", base=URL, graphql="/graphql", by=0):
        clock = ShiftedClock(by)
        key = Path(self.registration["private_key_file"]).read_text(encoding="utf-8")
        credential = InstallationCredential(
            Installation(app or str(self.registration["app_id"]), installation, base),
            key=TokenCredential(Secret(key), source="test"),
            http=self.http,
            clock=clock,
        )
        return GitHub(
            self.http,
            credential,
            endpoints=Endpoints(base, f"{URL}{graphql}"),
            clock=clock,
            settle=dt.timedelta(seconds=20),
        )

    async def call(self, path, body):
        answer = await self.control.post(f"{URL}/_control/{path}", json=body)
        answer.raise_for_status()

    async def list_mints(self):
        """Return the statuses of what was asked for tokens, and all violations."""
        log = (await self.control.get(f"{URL}/_control/requests")).json()
        mints = [each["status"] for each in log if "access_tokens" in each["path"]]
        return mints, [each for each in log if each.get("violations")]


@pytest.fixture
async def standin():
    async with create_http_client() as http, httpx.AsyncClient(trust_env=False) as ctl:
        registration = (await ctl.get(f"{URL}/_control/appkey")).json()
        world = Standin(http, ctl, registration)
        await world.call("reset", {})
        await ctl.request("DELETE", f"{URL}/_control/faults")
        yield world
        await world.call("reset", {})


async def read(github):
    (outcome,) = (await github.details([PULL_REQUEST])).values()
    assert isinstance(outcome, Found)
    return outcome.value.observation.title


@pytest.mark.parametrize(
    ("base", "graphql"),
    [
        pytest.param(URL, "/graphql", id="github.com"),
        pytest.param(f"{URL}/api/v3", "/api/graphql", id="enterprise"),
    ],
)
async def test_a_pull_request_is_read_with_one_token(standin, base, graphql):
    github = standin.connect(base=base, graphql=graphql)

    titles = [await read(github) for _ in range(2)]
    checked = await github.check(PULL_REQUEST, tags={})

    assert titles == ["Plain open PR, all green"] * 2
    assert isinstance(checked.outcome, Found)
    mints, violations = await standin.list_mints()
    assert (mints[-1], violations) == (201, [])
    assert len((await github.credential.token()).reveal()) == 520


async def test_a_client_id_names_the_app(standin):
    github = standin.connect(app=standin.registration["client_id"])

    assert await read(github) == "Plain open PR, all green"


@pytest.mark.parametrize("by", [-3600, -120, 45, 1200])
async def test_a_clock_that_is_wrong_is_made_up_for(standin, by):
    assert await read(standin.connect(by=by)) == "Plain open PR, all green"


async def test_twenty_questions_at_once_fetch_one_token(standin):
    github = standin.connect()
    before, _ = await standin.list_mints()

    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(github.credential.token)

    after, _ = await standin.list_mints()
    assert after[len(before) :] == [201]


async def test_a_revoked_token_is_fetched_again_within_the_request(standin):
    github = standin.connect()
    first = await github.credential.token()
    await standin.call("tokens", {first.reveal(): None})
    github.credential._clock.pass_by(60)

    assert await read(github) == "Plain open PR, all green"
    assert await github.credential.token() != first


@pytest.mark.parametrize(
    ("place", "said"),
    [
        pytest.param(
            {"installation": 778}, "the app's installation is suspended", id="suspended"
        ),
        pytest.param(
            {"installation": 1},
            "the app has no such installation, or not any more",
            id="removed",
        ),
        pytest.param({"app": "1"}, "GitHub does not know the app", id="another app"),
    ],
)
async def test_a_refusal_is_one_of_the_installation(standin, place, said):
    with pytest.raises(AuthenticationFailed) as caught:
        await standin.connect(**place).viewer()

    assert (str(caught.value), caught.value.scope) == (said, "installation")
