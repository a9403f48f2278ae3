"""One pull request's life through the product, on the simulator and the stand-in."""

import os

import pytest

from prwatch.simulator import World
from prwatch.simulator.story import STORY, VARIES, set_the_stage
from tests.product import MovedClock, list_changes, open_product
from tests.simulation.standin_story import TOKEN, StandinStory

STANDIN_URL = os.environ.get("PRWATCH_STANDIN_URL", "")
ARCHIVED_GAP = 86_460.0
"""An archived repository is asked once a day."""
UNREADABLE_BY_REST = frozenset({"review_decision", "merge_queue"})
OBSERVED = (
    "state, is_draft, checks, review, review_decision, mergeable, merge_queue,"
    " auto_merge, is_archived, requested_reviewers, approvals, unresolved_threads,"
    " title, author, head_ref_name, base_ref_name, merged_by"
)


class SimulatorStory:
    """Plays the story's steps in a world of our own."""

    def __init__(self):
        self.clock = MovedClock()
        self.world = World(self.clock)
        self._steps = {step.name: step for step in STORY}
        self._pull_request = None

    def set_the_stage(self):
        self._pull_request = set_the_stage(self.world)

    def play(self, name):
        self._steps[name].play(self.world, self._pull_request)


def blur(changes):
    """Return changes as the story tells them, without what only a world knows."""
    blurred = []
    for field, previous, current in changes:
        if field in {"head_ref_oid", "activity"}:
            blurred.append((field, VARIES, VARIES))
        elif field == "comments":
            blurred.append((field, previous, VARIES))
        else:
            blurred.append((field, previous, current))
    return tuple(blurred)


async def watch(story, product):
    """Play the story; return what was told and what is stored after each step."""
    told, stored = [], []
    for step in STORY:
        story.play(step.name)
        gap = ARCHIVED_GAP if step.name == "unarchived" else 60.0
        events = await product.cycle(gap=gap)
        events += await product.cycle()
        told.append((step.name, [blur(one) for one in list_changes(events)]))
        stored.append((step.name, product.ask(f"SELECT {OBSERVED} FROM {TABLE}")))
    return told, stored


TABLE = "task_pull_requests"


async def watch_simulator(folder, **poll):
    story = SimulatorStory()
    story.set_the_stage()
    async with open_product(folder, story.world, **poll) as product:
        return await watch(story, product)


def expect_story(read_path="graphql"):
    expected = []
    for step in STORY:
        changes = step.expected
        if read_path == "rest":
            changes = tuple(c for c in changes if c[0] not in UNREADABLE_BY_REST)
            is_disarmed = step.name == "auto_merge_disarmed"
            if is_disarmed or (step.expected and not changes):
                changes = (("activity", VARIES, VARIES),)
        expected.append((step.name, [changes] if changes else []))
    return expected


@pytest.mark.parametrize("read_path", ["graphql", "rest"])
async def test_the_product_tells_the_whole_story_and_nothing_else(tmp_path, read_path):
    poll = f'read_path = "{read_path}"'

    told, _ = await watch_simulator(tmp_path, poll=poll)

    assert told == expect_story(read_path)


@pytest.mark.standin
@pytest.mark.skipif(not STANDIN_URL, reason="PRWATCH_STANDIN_URL is not set")
@pytest.mark.xdist_group("standin")
@pytest.mark.parametrize("read_path", ["graphql", "rest"])
async def test_the_stand_in_tells_the_same_story_with_the_same_observations(
    tmp_path, read_path
):
    poll = f'read_path = "{read_path}"'
    (tmp_path / "ours").mkdir()
    (tmp_path / "theirs").mkdir()
    ours = await watch_simulator(tmp_path / "ours", poll=poll)
    story = StandinStory(STANDIN_URL)
    story.set_the_stage()

    options = {"clock": story.clock, "token": TOKEN, "api_url": STANDIN_URL}
    async with open_product(tmp_path / "theirs", poll=poll, **options) as product:
        theirs = await watch(story, product)
    stats = story.stats()
    story.close()

    assert theirs == ours
    assert stats["violations"] == 0
