"""
What people and machines do in a reported story, each as a move of the world.

An act takes the world and the one pull request that is looked at.
"""

import datetime as dt

from prwatch.simulator.faults import Fault


def check(name="test", conclusion=None, **traits):
    """Report a run of a workflow; `workflow=""` is an app's own run."""
    return lambda world, one: world.set_check(
        one, name, conclusion=conclusion, **{"workflow": "CI", **traits}
    )


def checks(count, *, failing=(), running=()):
    """Report that many runs, the numbered ones red or unfinished."""

    def act(world, one):
        for number in range(count):
            conclusion = "FAILURE" if number in failing else "SUCCESS"
            if number in running:
                conclusion = None
            world.set_check(one, f"job-{number}", workflow="CI", conclusion=conclusion)

    return act


def status(context, state, **traits):
    return lambda world, one: world.set_status(one, context, state, **traits)


def push(oid=""):
    return lambda world, one: world.push(one, oid=oid)


def push_and_lag(minutes):
    """Push, while the checks of the commit before are answered beside the new head."""

    def act(world, one):
        world.push(one)
        world.lag_head(one, for_=dt.timedelta(minutes=minutes))

    return act


def review(author, state="APPROVED", *, late=0):
    """Review; `late` seconds ago, as one that a list shows late."""

    def act(world, one):
        at = world.now() - dt.timedelta(seconds=late)
        world.submit_review(one, author, state, submitted_at=at)

    return act


def reviews(count, author="grace", last="APPROVED"):
    """Let that many people comment, and one give an opinion at the end."""

    def act(world, one):
        for number in range(count):
            world.submit_review(one, f"reader-{number}", "COMMENTED")
        world.submit_review(one, author, last)

    return act


def dismiss(position):
    return lambda world, one: world.dismiss_review(one, one.reviews[position])


def request(name, kind="User"):
    return lambda world, one: world.request_review(one, name, kind=kind)


def comment(author="linus", *, late=0):
    def act(world, one):
        at = world.now() - dt.timedelta(seconds=late)
        world.comment(one, author, created_at=at)

    return act


def delete_user(login):
    return lambda world, _: world.delete_user(login)


def delete_fork(name):
    return lambda world, _: world.delete_fork(name)


def mergeable(state):
    return lambda world, one: world.set_mergeable(one, state)


def draft(world, one):
    world.mark_draft(one)


def ready(world, one):
    world.mark_ready(one)


def merge(world, one):
    world.merge(one)


def close(world, one):
    world.close(one)


def fail_from_now(kind, **traits):
    return lambda world, _: world.faults.add(Fault(kind=kind, times=None, **traits))


def end_faults(world, _):
    world.faults.clear()


def nothing(*_):
    pass


def together(*acts):
    """Do all of it between two looks."""

    def act(world, one):
        for each in acts:
            each(world, one)

    return act
