"""A loop's trouble with the store is told once, and so is its end."""

import pytest
from structlog.testing import capture_logs

from prwatch.app.daemon.loop_outcome import LoopOutcome
from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.errors import StoreCorrupt, StoreUnavailable
from prwatch.testing.moved_clock import MovedClock


@pytest.fixture
def outcome():
    registry = LoopRegistry(MovedClock())
    registry.begin_run("sync", None)
    return LoopOutcome(registry, "sync")


def test_a_failure_and_its_end_are_told_once(outcome):
    with capture_logs() as logs:
        outcome.succeed()
        for _ in range(3):
            outcome.fail(StoreUnavailable("gone"))
        for _ in range(2):
            outcome.succeed()

    assert [(each["event"], each["log_level"]) for each in logs] == [
        ("sync.failed", "warning"),
        ("sync.works_again", "info"),
    ]


def test_another_failure_is_news_and_so_is_one_that_comes_back(outcome):
    with capture_logs() as logs:
        outcome.fail(StoreUnavailable("gone"))
        outcome.fail(StoreCorrupt("a check failed"))
        outcome.succeed()
        outcome.fail(StoreCorrupt("a check failed"))

    codes = [each["code"] for each in logs if each["event"] == "sync.failed"]
    assert codes == [StoreUnavailable.code, StoreCorrupt.code, StoreCorrupt.code]
