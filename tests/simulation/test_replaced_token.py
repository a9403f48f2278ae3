"""A token file that is replaced while the product runs: the new one counts at once."""

import contextlib
import io
import os
import random

import httpx
import pytest

from prwatch.app.polling import poll, start
from prwatch.app.runtime import Surroundings, open_runtime
from prwatch.config.loader import load_config
from prwatch.simulator import DEFAULT_TOKEN, GitHubApp
from tests.product import MovedClock, write_config
from tests.simulation.scenarios import make_world

OTHER_TOKEN = "ghp_" + "o" * 36


class Stage:
    """A product whose token stands in a file, or in a systemd credential."""

    def __init__(self, folder, source, **config):
        self.world, self.pull_request = make_world(MovedClock())
        self.world.set_token(OTHER_TOKEN, login="grace")
        self.path = folder / "token"
        self.put(DEFAULT_TOKEN)
        self._folder = folder
        named = f'token_file = "{self.path}"'
        if source == "credential":
            named = 'token_credential = "token"'
        self._text = write_config(folder / "state", **config).replace(
            'token_env = "TOKEN"', named
        )

    def put(self, token):
        """Write the file anew, as editors and secret managers do."""
        new = self.path.with_name("new")
        new.write_text(f"{token}\n")
        new.chmod(0o600)
        os.replace(new, self.path)  # noqa: PTH105 - the path stays the old object

    @contextlib.asynccontextmanager
    async def run(self):
        environ = {
            "HOME": str(self._folder),
            "CREDENTIALS_DIRECTORY": str(self._folder),
        }
        surroundings = Surroundings(
            environ=environ,
            clock=self.world.clock,
            chance=random.Random(0),
            stdout=io.BytesIO(),
            transport=httpx.ASGITransport(GitHubApp(self.world)),
            is_inline=True,
        )
        loaded = load_config(self._text, environ=environ)
        async with open_runtime(loaded, surroundings) as runtime:
            await start(runtime)
            yield runtime

    async def cycle(self, runtime):
        self.world.clock.advance(60)
        report = await poll(runtime, is_forced=True)
        return [one.code for one in report.failures]


@pytest.fixture(params=["file", "credential"])
def stage(tmp_path, request):
    return Stage(tmp_path, request.param)


async def test_the_new_token_is_used_from_the_next_cycle_on(stage):
    async with stage.run() as runtime:
        assert await stage.cycle(runtime) == []
        stage.world.revoke_token(DEFAULT_TOKEN)
        refused = await stage.cycle(runtime)
        stage.put(OTHER_TOKEN)
        accepted = await stage.cycle(runtime)

    assert (len(refused), accepted) == (1, [])


async def test_a_refused_token_is_looked_at_anew_within_the_request(stage):
    async with stage.run() as runtime:
        await stage.cycle(runtime)
        (account,) = runtime.wired.accounts
        await account.github.credential.token()
        stage.world.revoke_token(DEFAULT_TOKEN)
        stage.put(OTHER_TOKEN)

        assert (await account.github.viewer()).login == "grace"


async def test_the_limits_of_the_old_token_bind_neither_the_new_one_nor_a_restart(
    stage,
):
    async with stage.run() as runtime:
        await stage.cycle(runtime)
        stage.world.exhaust_rate_limit()
        limited = [await stage.cycle(runtime), await stage.cycle(runtime)]
        stage.put(OTHER_TOKEN)
        renewed = await stage.cycle(runtime)
    async with stage.run() as runtime:
        restarted = await stage.cycle(runtime)

    assert limited == [["rate_limited"], ["rate_limited"]]
    assert (renewed, restarted) == ([], [])


async def test_the_limits_of_an_unchanged_token_bind_a_restart(stage):
    async with stage.run() as runtime:
        stage.world.exhaust_rate_limit()
        await stage.cycle(runtime)
    asked = stage.world.requests.graphql
    async with stage.run() as runtime:
        assert await stage.cycle(runtime) == ["rate_limited"]

    assert stage.world.requests.graphql == asked
