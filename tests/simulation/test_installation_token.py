"""A product that signs in as a GitHub App, over some hours and what happens in them."""

import contextlib
import io
import random

import httpx
import pytest

from prwatch.app.polling import poll, start
from prwatch.app.runtime import Surroundings, open_runtime
from prwatch.config.loader import load_config
from prwatch.errors import ConfigError
from prwatch.simulator import GitHubApp
from tests.app_keys import make_key
from tests.product import MovedClock, write_config
from tests.simulation.scenarios import make_world

APP = 'app = { id = 4242, installation = 777, private_key_env = "KEY" }'


class Stage:
    """A product whose only credential is the key of an app."""

    def __init__(self, folder):
        private, public = make_key()
        self.world, self.pull_request = make_world(MovedClock())
        self.world.install_app(777, self.world.register_app(4242, public_key=public))
        self.environ = {"HOME": str(folder), "KEY": private}
        self.stdout = io.BytesIO()
        self._text = write_config(folder / "state").replace('token_env = "TOKEN"', APP)

    @contextlib.asynccontextmanager
    async def run(self):
        surroundings = Surroundings(
            environ=self.environ,
            clock=self.world.clock,
            chance=random.Random(0),
            stdout=self.stdout,
            transport=httpx.ASGITransport(GitHubApp(self.world)),
            is_inline=True,
        )
        loaded = load_config(self._text, environ=self.environ)
        async with open_runtime(loaded, surroundings) as runtime:
            await start(runtime)
            yield runtime

    async def cycle(self, runtime):
        self.world.clock.advance(60)
        report = await poll(runtime, is_forced=True)
        return [(one.code, one.message) for one in report.failures]

    @property
    def mints(self):
        log = self.world.requests.entries
        return [each.status for each in log if each.path.startswith("/app/")]


@pytest.fixture
def stage(tmp_path):
    return Stage(tmp_path)


async def test_two_hours_take_three_tokens_and_lose_no_cycle(stage):
    async with stage.run() as runtime:
        failures = [await stage.cycle(runtime) for _ in range(120)]

    assert failures == [[]] * 120
    assert stage.mints == [201, 201, 201]


async def test_a_renewed_token_forgets_nothing(stage):
    async with stage.run() as runtime:
        for _ in range(120):
            await stage.cycle(runtime)
        (account,) = runtime.wired.accounts

        assert (account.generation, account.key) == (
            1,
            "https://api.github.com|app 4242, installation 777",
        )


async def test_an_installation_pays_for_itself_from_the_first_start_on(stage):
    async with stage.run() as runtime:
        (account,) = runtime.wired.accounts
        assert account.github.limits.payer == "installation/777"
        await stage.cycle(runtime)
        await account.github.viewer()  # a bot's number says nothing about who pays

        assert account.github.limits.payer == "installation/777"
        view = await runtime.mirror.view(account.workspaces[0])
        assert view.snapshot.connection.account == "installation/777"


async def test_a_suspended_installation_is_told_and_comes_back_by_itself(stage):
    async with stage.run() as runtime:
        assert await stage.cycle(runtime) == []
        stage.world.suspend_installation(777)
        refused = await stage.cycle(runtime)
        stage.world.installations[777].is_suspended = False
        stage.world.clock.advance(6.25 * 60)  # the longest first wait of its circuit
        returned = await stage.cycle(runtime)

    assert refused == [("authentication_failed", "the app's installation is suspended")]
    assert returned == []


async def test_neither_the_key_nor_a_token_is_in_what_is_kept_or_told(stage, tmp_path):
    async with stage.run() as runtime:
        await stage.cycle(runtime)
        (account,) = runtime.wired.accounts
        token = (await account.github.credential.token()).reveal()

    kept = [path.read_bytes() for path in (tmp_path / "state").iterdir()]
    told = b"".join([*kept, stage.stdout.getvalue()])
    assert b"acme" in told
    assert token.encode() not in told
    assert stage.environ["KEY"].splitlines()[1].encode() not in told


async def test_a_key_that_is_none_leaves_no_workspace_that_can_be_used(stage):
    stage.environ["KEY"] = "ghp_" + "0" * 36

    with pytest.raises(ConfigError) as caught:
        async with stage.run():
            pass

    (problem,) = caught.value.problems
    assert "environment variable KEY holds no private key" in problem
    assert "ghp_" not in problem + repr(caught.value)
