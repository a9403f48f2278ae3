"""
A pull request's life in one scripted story that touches every kind of change.

The demo tells it to people and the tests hold the product to it: each step says
what it does in the world and which changes a watcher must report for it.
"""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from prwatch.domain.events import Scalar
from prwatch.simulator.entities import PullRequest
from prwatch.simulator.world import World

VARIES: Final = "varies"
"""Stands for an oid or a time, which only the world knows."""
STEP_GAP: Final = dt.timedelta(seconds=60)
"""The world's time between two steps: checks settle and mergeability is known."""
REPOSITORY: Final = "octo/hello"
BRANCH: Final = "fix-greeting"


@dataclass(frozen=True, slots=True)
class Step:
    """
    One thing that happens. `words` tell it to a person.

    `expected` are the changes as (field, previous, current), in the order in which
    one event lists them; () is a step that must make no noise.
    """

    name: str
    words: str
    play: Callable[[World, PullRequest], object]
    expected: tuple[tuple[str, Scalar, Scalar], ...] = ()


def set_the_stage(world: World) -> PullRequest:
    """Make the repository, a fork, the people, and the pull request; return it."""
    world.add_repository(REPOSITORY, requires_reviews=True, has_merge_queue=True)
    world.add_repository("ada/hello", fork_of=REPOSITORY)
    return world.open_pull_request(
        REPOSITORY,
        branch=BRANCH,
        title="Greet everybody by name",
        author="ada",
        head_repository="ada/hello",
        number=12,
    )


def _start_checks(world: World, pull_request: PullRequest) -> None:
    world.set_check(pull_request, "test", workflow="CI")
    world.set_status(pull_request, "coverage", "SUCCESS")


def _fail_test(world: World, pull_request: PullRequest) -> None:
    world.set_check(pull_request, "test", workflow="CI", conclusion="FAILURE")


def _rerun_test(world: World, pull_request: PullRequest) -> None:
    world.set_check(pull_request, "test", workflow="CI")
    world.set_check(pull_request, "test", workflow="CI", conclusion="SUCCESS")


def _dismiss_approval(world: World, pull_request: PullRequest) -> None:
    world.dismiss_review(pull_request, pull_request.reviews[-1])


def _rename(world: World, pull_request: PullRequest) -> None:
    world.rename_repository(pull_request.repository, "octo/greeting")


STORY: Final[tuple[Step, ...]] = (
    Step(
        "opened",
        "Ada opens a pull request from her fork.",
        lambda _, __: None,
        (("associated", None, 12),),
    ),
    Step(
        "checks_started",
        "Its checks start.",
        _start_checks,
        (("checks", "none", "pending"),),
    ),
    Step(
        "checks_red",
        "The test fails.",
        _fail_test,
        (("checks", "pending", "failure"),),
    ),
    Step(
        "checks_green",
        "It was a flaky test: the re-run passes.",
        _rerun_test,
        (("checks", "failure", "success"),),
    ),
    Step(
        "review_requested",
        "Ada asks Grace for a review.",
        lambda world, pull_request: world.request_review(pull_request, "grace"),
        (("review", "none", "pending"),),
    ),
    Step(
        "approved",
        "Grace approves.",
        lambda world, pull_request: world.submit_review(pull_request, "grace"),
        (
            ("review", "pending", "approved"),
            ("review_decision", "REVIEW_REQUIRED", "APPROVED"),
        ),
    ),
    Step(
        "review_dismissed",
        "Grace's approval is dismissed.",
        _dismiss_approval,
        (
            ("review", "approved", "none"),
            ("review_decision", "APPROVED", "REVIEW_REQUIRED"),
        ),
    ),
    Step(
        "changes_requested",
        "Grace asks for changes instead.",
        lambda world, pull_request: world.submit_review(
            pull_request, "grace", "CHANGES_REQUESTED"
        ),
        (
            ("review", "none", "changes_requested"),
            ("review_decision", "REVIEW_REQUIRED", "CHANGES_REQUESTED"),
        ),
    ),
    Step(
        "commented",
        "Linus comments.",
        lambda world, pull_request: world.comment(pull_request, "linus", "Nice!"),
        (("comments", None, VARIES),),
    ),
    Step(
        "pushed",
        "Ada pushes a new commit; nothing was checked on it yet.",
        lambda world, pull_request: world.push(pull_request),
        (("checks", "success", "none"), ("head_ref_oid", VARIES, VARIES)),
    ),
    Step(
        "drafted",
        "Ada turns it into a draft.",
        lambda world, pull_request: world.mark_draft(pull_request),
        (("is_draft", False, True),),
    ),
    Step(
        "ready",
        "It is ready for review again.",
        lambda world, pull_request: world.mark_ready(pull_request),
        (("is_draft", True, False),),
    ),
    Step(
        "conflicting",
        "Somebody else's merge brings a conflict.",
        lambda world, pull_request: world.set_mergeable(pull_request, "CONFLICTING"),
        (("mergeable", "MERGEABLE", "CONFLICTING"),),
    ),
    Step(
        "mergeability_unknown",
        "GitHub works out anew whether it can be merged.",
        lambda world, pull_request: world.set_mergeable(pull_request, "UNKNOWN"),
    ),
    Step(
        "mergeable",
        "The conflict is gone.",
        lambda world, pull_request: world.set_mergeable(pull_request, "MERGEABLE"),
        (("mergeable", "CONFLICTING", "MERGEABLE"),),
    ),
    Step(
        "auto_merge_armed",
        "Ada arms auto-merge.",
        lambda world, pull_request: world.arm_auto_merge(pull_request, by="ada"),
        (("auto_merge", False, True),),
    ),
    Step(
        "auto_merge_disarmed",
        "She takes it back.",
        lambda world, pull_request: world.disarm_auto_merge(pull_request),
        (("auto_merge", True, False),),
    ),
    Step(
        "enqueued",
        "It enters the merge queue.",
        lambda world, pull_request: world.enqueue(pull_request),
        (("merge_queue", False, True),),
    ),
    Step(
        "dequeued",
        "The queue throws it out.",
        lambda world, pull_request: world.dequeue(pull_request),
        (("merge_queue", True, False),),
    ),
    Step(
        "retitled",
        "Ada edits the title: activity, and nothing that needs anybody.",
        lambda world, pull_request: world.retitle(pull_request, "Greet by name"),
        (("activity", VARIES, VARIES),),
    ),
    Step(
        "closed",
        "It is closed without a merge.",
        lambda world, pull_request: world.close(pull_request),
        (("state", "OPEN", "CLOSED"),),
    ),
    Step(
        "reopened",
        "And opened again.",
        lambda world, pull_request: world.reopen(pull_request),
        (("state", "CLOSED", "OPEN"),),
    ),
    Step("renamed", "The repository gets a new name. Nothing is lost.", _rename),
    Step(
        "archived",
        "The repository is archived.",
        lambda world, pull_request: world.archive_repository(pull_request.repository),
        (("archived", False, True),),
    ),
    Step(
        "unarchived",
        "That was a mistake.",
        lambda world, pull_request: world.unarchive_repository(pull_request.repository),
        (("archived", True, False),),
    ),
    Step(
        "fork_deleted",
        "Ada deletes her fork.",
        lambda world, _: world.delete_fork("ada/hello"),
    ),
    Step(
        "author_deleted",
        "And then her account: the author is a ghost now.",
        lambda world, _: world.delete_user("ada"),
    ),
    Step(
        "merged",
        "Grace merges it. That is the end.",
        lambda world, pull_request: world.merge(pull_request, by="grace"),
        (("state", "OPEN", "MERGED"),),
    ),
)
