"""The scripted story, watched through the product's own client and comparison."""

import datetime as dt

import httpx
import pytest

from prwatch.domain.compare import advance, compare
from prwatch.domain.events import ChangeField
from prwatch.domain.outcome import Found
from prwatch.domain.reference import PullRequestReference
from prwatch.github.client import GitHub
from prwatch.github.credentials import TokenCredential
from prwatch.http.client import create_http_client
from prwatch.simulator import DEFAULT_TOKEN, GitHubApp, World
from prwatch.simulator.story import STEP_GAP, STORY, VARIES, set_the_stage
from prwatch.telemetry.secret import Secret
from tests.github_answers import GITHUB_COM
from tests.unit.simulator.stage import MovedClock

SETTLE = dt.timedelta(seconds=20)


def blur(change):
    """Return the change as the story tells it, without what only the world knows."""
    previous, current = change.previous, change.current
    field = change.field.value
    if field in {"head_ref_oid", "activity"}:
        previous = current = VARIES
    if field == "comments":
        current = VARIES
    return field, previous, current


@pytest.fixture
async def watched():
    """A world with its stage set, its pull request, and a client that reads it."""
    world = World(MovedClock())
    pull_request = set_the_stage(world)
    credential = TokenCredential(Secret(DEFAULT_TOKEN), source="test")
    transport = httpx.ASGITransport(GitHubApp(world))
    async with create_http_client(transport=transport) as http:
        github = GitHub(
            http, credential, endpoints=GITHUB_COM, clock=world.clock, settle=SETTLE
        )
        yield world, pull_request, github


async def test_a_watcher_sees_exactly_what_the_story_tells(watched):
    world, pull_request, github = watched
    reference = PullRequestReference(
        owner="octo", name="hello", number=12, node_id=pull_request.id
    )
    watermark, seen = None, []

    for step in STORY:
        step.play(world, pull_request)
        world.clock.advance(STEP_GAP.total_seconds())
        found = (await github.details([reference]))[reference]
        assert isinstance(found, Found), step.name
        observation = found.value.observation
        changes = compare(watermark, observation, settle=SETTLE)
        watermark = advance(watermark, observation, changes)
        seen.append((step.name, tuple(blur(change) for change in changes)))

    assert seen == [(step.name, step.expected) for step in STORY]


async def test_every_step_that_the_probe_can_see_moves_its_fingerprint(watched):
    world, pull_request, github = watched
    reference = PullRequestReference(
        owner="octo", name="hello", number=12, node_id=pull_request.id
    )
    unmoved, before = [], ""

    for step in STORY:
        step.play(world, pull_request)
        world.clock.advance(STEP_GAP.total_seconds())
        probe = (await github.probe([reference]))[reference].value
        if probe.fingerprint == before:
            unmoved.append(step.name)
        before = probe.fingerprint

    quiet = [step.name for step in STORY if not step.expected]
    assert set(unmoved) <= set(quiet)


def test_every_kind_of_change_happens_in_the_story():
    told = {field for step in STORY for field, _, _ in step.expected}

    assert told == {field.value for field in ChangeField}


def test_every_step_has_a_name_of_its_own_and_words():
    assert len({step.name for step in STORY}) == len(STORY)
    assert all(step.words.endswith(".") for step in STORY)
