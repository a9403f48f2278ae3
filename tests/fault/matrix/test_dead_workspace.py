"""One workspace of ten that GitHub does not answer changes nothing for nine."""

import anyio
import httpx
import pytest

from prwatch.simulator import DEFAULT_TOKEN, GitHubApp, World
from tests.fault.matrix.player import WorldPlayer
from tests.fault.matrix.plot import Plot
from tests.fault.matrix.recorder import Recorder
from tests.product import MovedClock, open_product

ALIVE = tuple(range(9))
DEAD = 9
DEAD_TOKEN = f"ghp_{DEAD}"
TICK = 15.0
TURNS = 32
DIES_AT = 6
"""The turn from which on the dead workspace gets no good answer any more."""
MOST_OF_THE_DEAD = 30
"""Requests of a workspace that lives for a minute and a half, and then tries."""
POLL = 'full_read = "24h"'
"""When a full reading is due depends on ids, which are made by chance."""
ROWS = """
SELECT repositories.owner, pr_number, task_pull_requests.state, is_draft, checks, review,
  mergeable, title, head_ref_oid
FROM task_pull_requests JOIN repositories ON repositories.id = repository_id
WHERE repositories.owner <> ? ORDER BY 1, 2"""
WAYS = {
    "401": "bad_credentials",
    "404s": "no_repository",
    "SAML": f"sso;org=octo-{DEAD}",
    "primary limit": "rate_limited",
    "secondary limit": "secondary;after=7200;hold",
    "5xx": "html502",
    "hang": "",
    "DNS": "",
}


def get_token(number):
    return DEFAULT_TOKEN if number == 0 else f"ghp_{number}"


class TenWorkspaces:
    """Ten tokens of ten users, each with a repository in which much happens."""

    def __init__(self):
        self.clock = MovedClock()
        self.world = World(self.clock)
        self.recorder = Recorder(httpx.ASGITransport(GitHubApp(self.world)), self.clock)
        self.scenes = []
        for number in (*ALIVE, DEAD):
            self.world.set_token(get_token(number), login=f"user-{number}")
            self.world.add_organization(f"octo-{number}")
            player = WorldPlayer(self.world, f"octo-{number}/hello")
            plot = Plot(number, count=2)
            self.scenes.append((player, plot))
            for step in plot.prologue:
                player.play(step)

    def die(self, way):
        if way == "DNS":
            self.recorder.refused.add(DEAD_TOKEN)
        elif way == "hang":
            self.recorder.hung.add(DEAD_TOKEN)
        else:
            self.world.faults.add(f"{WAYS[way]};token={DEAD_TOKEN};times=none")

    def configure(self, *, has_dead):
        others = [*ALIVE[1:], DEAD] if has_dead else ALIVE[1:]
        tables = [_build_workspace(number) for number in others]
        return {
            "clock": self.clock,
            "transport": self.recorder,
            "watches": (_watch(0),),
            "tasks": "\n".join(tables),
            "secrets": {f"TOKEN_{number}": get_token(number) for number in others},
            "poll": POLL,
        }


def _watch(number):
    return f'repository = "octo-{number}/hello"\nall = true'


def _build_workspace(number):
    return (
        f'[[workspace]]\nname = "w{number}"\ntoken_env = "TOKEN_{number}"\n'
        f"[[workspace.watch]]\n{_watch(number)}\n"
    )


async def run(folder, way=""):
    """Return what nine workspaces were told, asked and stored, and the failures."""
    ten = TenWorkspaces()
    told = []
    async with open_product(folder, **ten.configure(has_dead=bool(way))) as product:
        for turn in range(TURNS):
            if way and turn == DIES_AT:
                ten.die(way)
            for player, plot in ten.scenes[turn % 3 :: 3]:
                player.play(plot.next_step())
            events = await product.cycle(gap=TICK, is_forced=False)
            told += [(turn, *describe(event)) for event in events]
        rows = product.ask(ROWS, f"octo-{DEAD}")
        failures = product.report.failures
    asked = {number: ten.recorder.list_of(get_token(number)) for number in ALIVE}
    nine = sorted(each for each in told if each[1] != f"octo-{DEAD}")
    return {"told": nine, "asked": asked, "rows": rows}, failures, ten.recorder


def describe(event):
    data = event["data"]
    changes = [(c["field"], c["previous"], c["current"]) for c in data["changes"]]
    owner = data["repository"]["owner"]
    return owner, data["pull_request"]["number"], event["type"], str(changes)


@pytest.fixture(scope="module")
def nine(tmp_path_factory):
    """What becomes of the nine where there is no tenth workspace."""
    found, failures, _ = anyio.run(run, tmp_path_factory.mktemp("nine"))
    assert failures == []
    return found


@pytest.mark.parametrize("way", WAYS)
async def test_a_dead_workspace_changes_nothing_for_the_nine_others(
    tmp_path, nine, way
):
    found, failures, recorder = await run(tmp_path, way)

    assert found == nine
    assert {failure.workspace for failure in failures} == {f"w{DEAD}"}
    assert len(nine["told"]) > 100
    assert recorder.list_early() == []
    assert len(recorder.list_of(DEAD_TOKEN)) <= MOST_OF_THE_DEAD
