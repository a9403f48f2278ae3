"""`prwatch demo` as a person or a program starts it."""

import json

import pytest

from prwatch.simulator.story import STORY

pytestmark = pytest.mark.e2e


def test_the_demo_tells_the_story_and_leaves_nothing_behind(prwatch):
    result = prwatch.run("demo", TMPDIR=str(prwatch.folder))

    assert (result.returncode, result.stderr) == (0, "")
    for number, step in enumerate(STORY, start=1):
        assert f"{number:>2}. {step.words}\n" in result.stdout
    assert "        checks: pending → failure\n" in result.stdout
    assert [each.name for each in prwatch.folder.iterdir()] == ["home"]


def test_a_program_gets_its_events_one_a_line(prwatch):
    result = prwatch.run("demo", "--fast", "--json")

    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert {event["specversion"] for event in events} == {"1.0"}
    assert events[0]["data"]["changes"] == [
        {"field": "associated", "previous": None, "current": 12}
    ]
    assert events[-1]["data"]["changes"] == [
        {"field": "state", "previous": "OPEN", "current": "MERGED"}
    ]
