"""The token of an installation, fetched from the simulated GitHub."""

import datetime as dt
from contextlib import asynccontextmanager

import anyio
import httpx
import pytest

from prwatch.domain.reference import PullRequestReference
from prwatch.errors import AuthenticationFailed, ProviderUnavailable, RateLimited
from prwatch.github.app_auth import Installation, InstallationCredential
from prwatch.github.client import GitHub
from prwatch.github.credentials import FileCredential, TokenCredential
from prwatch.http.client import create_http_client
from prwatch.simulator import Fault, GitHubApp, World
from prwatch.telemetry.secret import Secret
from tests.app_keys import make_key
from tests.github_answers import GITHUB_COM
from tests.product import NOON, MovedClock

APP, INSTALLATION = 4242, 777
MINTING = "POST /app/installations"
HOUR = 3600


class Stage:
    """A world with an app, and a credential of its installation."""

    def __init__(self, http, world, clock, key):
        self.world, self.clock, self.key = world, clock, key
        place = Installation(str(APP), INSTALLATION, GITHUB_COM.api_url)
        self.credential = InstallationCredential(place, key=key, http=http, clock=clock)
        self.github = GitHub(
            http,
            self.credential,
            endpoints=GITHUB_COM,
            clock=clock,
            settle=dt.timedelta(0),
        )

    def advance(self, seconds):
        """Let time pass here and at GitHub."""
        for clock in {self.clock, self.world.clock}:
            clock.advance(seconds)

    @property
    def mints(self):
        log = self.world.requests.entries
        return [each.status for each in log if each.path.startswith("/app/")]

    def break_minting(self, kind, **traits):
        self.world.faults.add(Fault(kind=kind, match=MINTING, **traits))


@asynccontextmanager
async def open_stage(*, ahead=0.0, key=None):
    """Open a stage; our clock is so many seconds ahead of GitHub's."""
    private, public = make_key()
    clock = MovedClock()
    world = World(clock)
    world.install_app(
        INSTALLATION, world.register_app(APP, public_key=public, client_id="Iv1.app")
    )
    if ahead:
        clock = MovedClock(NOON + dt.timedelta(seconds=ahead))
    key = key or TokenCredential(Secret(private), source="env:KEY")
    transport = httpx.ASGITransport(GitHubApp(world))
    async with create_http_client(transport=transport) as http:
        yield Stage(http, world, clock, key)


@pytest.fixture
async def stage():
    async with open_stage() as opened:
        yield opened


async def test_a_token_is_fetched_once_and_used_for_all_requests(stage):
    logins = [(await stage.github.viewer()).login for _ in range(3)]

    assert logins == ["app-4242[bot]"] * 3
    assert stage.mints == [201]
    assert len((await stage.credential.token()).reveal()) == 520
    assert stage.credential.source == "app 4242, installation 777"


async def test_the_client_id_names_the_app_as_well(stage):
    stage.credential._installation = Installation(
        "Iv1.app", INSTALLATION, GITHUB_COM.api_url
    )

    assert (await stage.credential.token()).reveal().startswith("ghs_4242_")


async def test_however_many_ask_one_token_is_fetched(stage):
    found = set()

    async def ask():
        found.add((await stage.credential.token()).reveal())

    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(ask)

    assert (len(found), stage.mints) == (1, [201])


async def test_those_who_wait_share_a_failure_and_the_next_one_tries_again(stage):
    stage.break_minting("html502")
    failures = []

    async def ask():
        try:
            await stage.credential.token()
        except ProviderUnavailable as error:
            failures.append(error)

    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(ask)

    assert (len(failures), stage.mints) == (20, [502])
    await stage.credential.token()
    assert stage.mints == [502, 201]


@pytest.mark.parametrize("kind", ["html502", "html504", "json500"])
async def test_a_token_that_does_not_come_is_no_matter_of_size(stage, kind):
    stage.world.add_repository("octo/hello")
    references = [
        PullRequestReference(owner="octo", name="hello", number=number)
        for number in range(1, 9)
    ]
    stage.break_minting(kind, times=None)

    with pytest.raises(ProviderUnavailable):
        await stage.github.details(references)

    assert len(stage.mints) == 1


async def test_a_caller_that_is_cancelled_leaves_the_others_their_token(stage):
    stage.break_minting("slow", seconds=0.0)

    async with anyio.create_task_group() as tasks:
        scope = anyio.CancelScope()

        async def ask_and_leave():
            with scope:
                await stage.credential.token()

        tasks.start_soon(ask_and_leave)
        await anyio.lowlevel.checkpoint()
        tasks.start_soon(stage.credential.token)
        scope.cancel()

    await stage.credential.token()
    assert stage.mints[-1:] == [201]
    assert stage.mints.count(201) == 1


@pytest.mark.parametrize(
    ("seconds", "mints"),
    [
        pytest.param(HOUR - 301, [201], id="before the last five minutes"),
        pytest.param(HOUR - 300, [201, 201], id="in the last five minutes"),
    ],
)
async def test_a_token_is_renewed_five_minutes_before_it_ends(stage, seconds, mints):
    await stage.github.viewer()
    stage.advance(seconds)
    await stage.github.viewer()

    assert stage.mints == mints
    assert stage.world.requests.graphql == 2


async def test_a_token_that_still_holds_is_used_while_none_can_be_fetched(stage):
    first = await stage.credential.token()
    stage.advance(HOUR - 300)
    stage.break_minting("html502", times=2)

    held = [await stage.credential.token() for _ in range(3)]
    stage.advance(30)
    held.append(await stage.credential.token())
    stage.advance(30)
    renewed = await stage.credential.token()

    assert held == [first] * 4
    assert renewed != first
    assert stage.mints == [201, 502, 502, 201]


async def test_a_token_that_has_ended_is_not_used(stage):
    await stage.credential.token()
    stage.advance(HOUR)
    stage.break_minting("html502")

    with pytest.raises(ProviderUnavailable):
        await stage.credential.token()


async def test_a_refused_token_is_fetched_anew_within_the_request(stage):
    first = await stage.credential.token()
    stage.advance(60)
    stage.world.revoke_token(first.reveal())

    assert (await stage.github.viewer()).login == "app-4242[bot]"
    assert stage.mints == [201, 201]
    assert stage.credential.generation == 1


async def test_many_refusals_of_one_token_fetch_one(stage):
    first = await stage.credential.token()
    stage.advance(60)
    stage.world.revoke_token(first.reveal())

    for _ in range(5):
        await stage.credential.reload(was_refused=True)
        await stage.credential.token()

    assert stage.mints == [201, 201]


async def test_an_answer_that_stays_a_refusal_is_told_after_one_new_token(stage):
    await stage.credential.token()
    stage.advance(60)
    stage.world.faults.add(Fault(kind="bad_credentials", times=None, match="graphql"))

    with pytest.raises(AuthenticationFailed):
        await stage.github.viewer()

    assert stage.mints == [201, 201]


@pytest.mark.parametrize("ahead", [-7200.0, -90.0, 30.0, 90.0, 700.0, 90_000.0])
async def test_a_clock_that_is_wrong_is_made_up_for(ahead):
    async with open_stage(ahead=ahead) as stage:
        await stage.github.viewer()
        stage.advance(HOUR - 301)
        await stage.github.viewer()
        assert stage.mints.count(201) == 1

        stage.advance(2)
        await stage.github.viewer()
        assert stage.mints[-1] == 201
        assert stage.mints.count(201) == 2
        assert len(stage.mints) <= 3


@pytest.mark.parametrize(
    ("spoil", "status", "said"),
    [
        pytest.param(
            lambda world: world.suspend_installation(INSTALLATION),
            403,
            "the app's installation is suspended",
            id="suspended",
        ),
        pytest.param(
            lambda world: world.remove_installation(INSTALLATION),
            404,
            "the app has no such installation, or not any more",
            id="removed",
        ),
        pytest.param(
            lambda world: world.registrations.clear(),
            401,
            "GitHub does not know the app",
            id="another app",
        ),
        pytest.param(
            lambda world: setattr(
                world.registrations[0], "public_key", make_key("other")[1]
            ),
            401,
            "GitHub does not accept the signature of the app",
            id="another key",
        ),
    ],
)
@pytest.mark.parametrize("has_token", [False, True], ids=["at once", "later"])
async def test_an_installation_that_is_refused_says_so(
    stage, spoil, status, said, has_token
):
    if has_token:
        first = await stage.credential.token()
        stage.advance(60)
        stage.world.revoke_token(first.reveal())
    spoil(stage.world)

    with pytest.raises(AuthenticationFailed) as caught:
        await stage.github.viewer()

    error = caught.value
    assert (str(error), error.scope, error.status) == (said, "installation", status)
    assert error.hint
    assert stage.mints[-1] == status


async def test_a_token_of_a_suspended_installation_says_so(stage):
    await stage.github.viewer()
    stage.world.suspend_installation(INSTALLATION)

    with pytest.raises(AuthenticationFailed) as caught:
        await stage.github.viewer()

    assert (str(caught.value), caught.value.scope) == (
        "the app's installation is suspended",
        "installation",
    )


async def test_no_token_is_asked_for_while_a_limit_forbids_it(stage):
    stage.break_minting("secondary", retry_after=100)

    for _ in range(3):
        with pytest.raises(RateLimited):
            await stage.credential.token()
    stage.advance(101)
    await stage.credential.token()

    assert stage.mints == [403, 201]


async def test_a_key_file_that_is_replaced_is_used_without_a_restart(tmp_path):
    path = tmp_path / "app.pem"
    path.write_text(make_key("other")[0])
    path.chmod(0o600)
    async with open_stage(key=FileCredential(path)) as stage:
        with pytest.raises(AuthenticationFailed, match="signature"):
            await stage.credential.token()
        path.write_text(make_key()[0] + "\n")

        assert await stage.credential.reload()
        assert stage.credential.generation == 2
        assert (await stage.github.viewer()).login == "app-4242[bot]"


async def test_neither_token_nor_key_is_shown(stage):
    token = (await stage.credential.token()).reveal()
    key = make_key()[0]

    shown = repr(vars(stage.credential)) + repr(vars(stage.key))

    assert token not in shown
    assert key not in shown
    assert "PRIVATE KEY" not in shown
