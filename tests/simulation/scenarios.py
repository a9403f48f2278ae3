"""
What can happen to a watched pull request, and exactly what a watcher must tell.

A change is (field, previous, current). Values that only the world knows stand as
names: OLD_HEAD, NEW_HEAD, OLD_UPDATED, NEW_UPDATED.
"""

from collections.abc import Callable
from dataclasses import dataclass

from prwatch.domain.timestamp import format_time
from prwatch.simulator import World

ACTIVITY = ("activity", "OLD_UPDATED", "NEW_UPDATED")
QUIET_FIELDS = frozenset({"associated", "activity", "archived"})


@dataclass(frozen=True)
class Scenario:
    """
    `before` happens unobserved by the assertions, `act` is what is looked at.

    `told` are the changes through GraphQL; `told_by_rest` those through REST, where
    they differ; () is silence. `gap` are the seconds until the next cycle.
    """

    name: str
    act: Callable
    told: tuple
    before: tuple = ()
    told_by_rest: tuple | None = None
    gap: float = 60.0

    def expected(self, read_path):
        if read_path == "rest" and self.told_by_rest is not None:
            return self.told_by_rest
        return self.told


def make_world(clock):
    world = World(clock)
    world.add_repository("octo/hello", requires_reviews=True, has_merge_queue=True)
    world.add_repository("ada/hello", fork_of="octo/hello")
    pull_request = world.open_pull_request(
        "octo/hello",
        branch="fix-greeting",
        title="Greet everybody by name",
        author="ada",
        head_repository="ada/hello",
        number=12,
    )
    return world, pull_request


def snap(pull_request):
    return pull_request.head.oid, format_time(pull_request.updated_at)


def name_values(changes, old, new):
    """Return the changes with the world's values in place of their names."""
    values = {
        "OLD_HEAD": old[0],
        "NEW_HEAD": new[0],
        "OLD_UPDATED": old[1],
        "NEW_UPDATED": new[1],
    }
    return tuple(
        (field, values.get(previous, previous), values.get(current, current))
        for field, previous, current in changes
    )


def start_checks(world, pull_request):
    world.set_check(pull_request, "test", workflow="CI")


def finish_checks(conclusion):
    def act(world, pull_request):
        world.set_check(pull_request, "test", workflow="CI", conclusion=conclusion)

    return act


def rerun_green(world, pull_request):
    start_checks(world, pull_request)
    world.set_check(pull_request, "test", workflow="CI", conclusion="SUCCESS")


def approve(world, pull_request):
    world.submit_review(pull_request, "grace")


def dismiss(world, pull_request):
    world.dismiss_review(pull_request, pull_request.reviews[-1])


def push(world, pull_request):
    world.push(pull_request)


def become_ghost(world, pull_request):
    world.delete_user("ada")


SCENARIOS = (
    Scenario("nothing", lambda *_: None, ()),
    Scenario("checks start", start_checks, (("checks", "none", "pending"),)),
    Scenario(
        "a check turns red",
        finish_checks("FAILURE"),
        (("checks", "pending", "failure"),),
        before=(start_checks,),
    ),
    Scenario(
        "green after a re-run with an unmoved update time",
        rerun_green,
        (("checks", "failure", "success"),),
        before=(start_checks, finish_checks("FAILURE")),
    ),
    Scenario(
        "the same failure under another run id",
        finish_checks("FAILURE"),
        (),
        before=(start_checks, finish_checks("FAILURE")),
    ),
    Scenario(
        "approval",
        approve,
        (
            ("review", "none", "approved"),
            ("review_decision", "REVIEW_REQUIRED", "APPROVED"),
        ),
        told_by_rest=(("review", "none", "approved"),),
    ),
    Scenario(
        "an approval is dismissed",
        dismiss,
        (
            ("review", "approved", "none"),
            ("review_decision", "APPROVED", "REVIEW_REQUIRED"),
        ),
        before=(approve,),
        told_by_rest=(("review", "approved", "none"),),
    ),
    Scenario(
        "a push: the old commit's checks do not count",
        push,
        (("checks", "success", "none"), ("head_ref_oid", "OLD_HEAD", "NEW_HEAD")),
        before=(start_checks, finish_checks("SUCCESS")),
    ),
    Scenario(
        "a comment",
        lambda world, one: world.comment(one, "linus", "Nice!"),
        (("comments", None, "NEW_UPDATED"),),
    ),
    Scenario(
        "an edited comment",
        lambda world, one: world.edit_comment(one, one.comments[-1], "Nicer!"),
        (ACTIVITY,),
        before=(lambda world, one: world.comment(one, "linus", "Nice!"),),
    ),
    Scenario(
        "a draft",
        lambda world, one: world.mark_draft(one),
        (("is_draft", False, True),),
    ),
    Scenario(
        "ready for review",
        lambda world, one: world.mark_ready(one),
        (("is_draft", True, False),),
        before=(lambda world, one: world.mark_draft(one),),
    ),
    Scenario(
        "a merge",
        lambda world, one: world.merge(one),
        (("state", "OPEN", "MERGED"),),
    ),
    Scenario(
        "a close",
        lambda world, one: world.close(one),
        (("state", "OPEN", "CLOSED"),),
    ),
    Scenario(
        "a reopening",
        lambda world, one: world.reopen(one),
        (("state", "CLOSED", "OPEN"),),
        before=(lambda world, one: world.close(one),),
    ),
    Scenario(
        "into the merge queue",
        lambda world, one: world.enqueue(one),
        (("merge_queue", False, True),),
        told_by_rest=(ACTIVITY,),
    ),
    Scenario(
        "out of the merge queue",
        lambda world, one: world.dequeue(one),
        (("merge_queue", True, False),),
        before=(lambda world, one: world.enqueue(one),),
        told_by_rest=(ACTIVITY,),
    ),
    Scenario(
        "auto-merge armed",
        lambda world, one: world.arm_auto_merge(one),
        (("auto_merge", False, True),),
    ),
    Scenario(
        "auto-merge disarmed",
        lambda world, one: world.disarm_auto_merge(one),
        (("auto_merge", True, False),),
        before=(lambda world, one: world.arm_auto_merge(one),),
        told_by_rest=(ACTIVITY,),
    ),
    Scenario(
        "a conflict appears",
        lambda world, one: world.set_mergeable(one, "CONFLICTING"),
        (("mergeable", "MERGEABLE", "CONFLICTING"),),
    ),
    Scenario(
        "mergeability becomes unknown",
        lambda world, one: world.set_mergeable(one, "UNKNOWN"),
        (),
    ),
    Scenario(
        "a conflict goes",
        lambda world, one: world.set_mergeable(one, "MERGEABLE"),
        (("mergeable", "CONFLICTING", "MERGEABLE"),),
        before=(lambda world, one: world.set_mergeable(one, "CONFLICTING"),),
    ),
    Scenario(
        "the repository is renamed",
        lambda world, one: world.rename_repository(one.repository, "octo/greeting"),
        (),
    ),
    Scenario(
        "the repository is archived",
        lambda world, one: world.archive_repository(one.repository),
        (("archived", False, True),),
    ),
    Scenario(
        "the repository is unarchived",
        lambda world, one: world.unarchive_repository(one.repository),
        (("archived", True, False),),
        before=(lambda world, one: world.archive_repository(one.repository),),
        gap=86_460.0,
    ),
    Scenario(
        "the fork is deleted", lambda world, one: world.delete_fork("ada/hello"), ()
    ),
    Scenario("the author becomes a ghost", become_ghost, ()),
    Scenario(
        "a title is edited",
        lambda world, one: world.retitle(one, "Greet by name"),
        (ACTIVITY,),
    ),
)
