"""The demo is the product: it tells exactly what the story expects."""

import datetime as dt

import pytest

from prwatch.app.command.demo import ASLEEP, play_story
from prwatch.simulator.story import STEP_GAP, STORY, VARIES

NOON = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
UNKNOWN_BEFOREHAND = {"head_ref_oid", "activity"}


def blur(change):
    """Return the change as the story tells it, without what only the world knows."""
    field, previous, current = change["field"], change["previous"], change["current"]
    if field in UNKNOWN_BEFOREHAND:
        previous = current = VARIES
    return field, previous, VARIES if field == "comments" else current


@pytest.fixture
async def scenes(tmp_path):
    return [scene async for scene in play_story(tmp_path, begin=NOON)]


def changes_of(scene):
    """Return the changes that each event of the scene lists, which are the same."""
    listed = {
        tuple(blur(change) for change in event["data"]["changes"])
        for event in scene.events
    }
    return listed or {()}


async def test_every_change_of_the_story_is_told_and_nothing_else(scenes):
    assert [(scene.step.name, changes_of(scene)) for scene in scenes] == [
        (step.name, {step.expected}) for step in STORY
    ]


async def test_no_event_is_told_twice(scenes):
    ids = [event["id"] for scene in scenes for event in scene.events]

    assert len(ids) == len(set(ids))


async def test_a_day_passes_where_the_repository_is_archived(scenes):
    long = [(scene.step.name, scene.gap) for scene in scenes if scene.gap != STEP_GAP]

    assert long == [("unarchived", ASLEEP + STEP_GAP)]


async def test_looking_costs_little(scenes):
    assert max(scene.requests for scene in scenes) <= 4
    quiet = [scene for scene in scenes if scene.step.name == "mergeability_unknown"]
    assert [(scene.requests, scene.rows_written) for scene in quiet] == [(2, 0)]
