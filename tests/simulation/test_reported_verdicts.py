"""
What other tools were reported to read wrongly: one state of the world, one verdict.

The names are the reports, as `owner/name#number` on GitHub. Both read paths.
"""

import datetime as dt

import pytest

from tests.product import MovedClock, open_product
from tests.simulation.scenarios import make_world


def check(name="test", conclusion=None, **traits):
    return lambda world, one: world.set_check(
        one, name, conclusion=conclusion, **{"workflow": "CI", **traits}
    )


def status(context, state):
    return lambda world, one: world.set_status(one, context, state)


def review(author, state):
    return lambda world, one: world.submit_review(one, author, state)


def dismiss(position):
    return lambda world, one: world.dismiss_review(one, one.reviews[position])


def request(name, kind="User"):
    return lambda world, one: world.request_review(one, name, kind=kind)


def many_checks(count, *failing):
    def act(world, one):
        for number in range(count):
            conclusion = "FAILURE" if number in failing else "SUCCESS"
            world.set_check(one, f"job-{number}", workflow="CI", conclusion=conclusion)

    return act


def many_reviews(count):
    def act(world, one):
        for number in range(count):
            world.submit_review(one, f"reader-{number}", "COMMENTED")
        world.submit_review(one, "grace", "APPROVED")

    return act


def lag(world, one):
    world.set_check(one, "test", workflow="CI", conclusion="SUCCESS")
    world.push(one)
    world.lag_head(one, for_=dt.timedelta(hours=1))


def ghost_reviews(world, one):
    world.submit_review(one, "grace", "APPROVED")
    world.delete_user("grace")


CASES = [
    ("flowglad/onton#380", "checks", "success", [many_checks(102)]),
    ("rjmurillo/ai-agents#4112", "checks", "failure", [many_checks(120, 115)]),
    (
        "pvcnt/mergeable#190",
        "checks",
        "success",
        [check(conclusion="FAILURE"), check(conclusion="SUCCESS", is_new_suite=True)],
    ),
    ("grafana/wait-for-github#144", "checks", "success", [check(conclusion="SUCCESS")]),
    ("no check yet", "checks", "none", []),
    (
        "misospace/pr-reviewer-action#135 queued",
        "checks",
        "pending",
        [check(status="QUEUED")],
    ),
    (
        "misospace/pr-reviewer-action#135 waiting",
        "checks",
        "pending",
        [check(status="WAITING")],
    ),
    (
        "misospace/pr-reviewer-action#135 requested",
        "checks",
        "pending",
        [check(status="REQUESTED")],
    ),
    (
        "rjmurillo/ai-agents#3978",
        "checks",
        "success",
        [check(conclusion="FAILURE"), check(), check(conclusion="SUCCESS")],
    ),
    (
        "kurone-kito/idd-skill#1483",
        "checks",
        "failure",
        [
            check(conclusion="FAILURE", app="one", workflow=""),
            check(conclusion="SUCCESS", app="two", workflow=""),
        ],
    ),
    (
        "wechuli/allcheckspassed#104",
        "checks",
        "success",
        [
            check("build ${{ matrix.x }}", "CANCELLED"),
            check("build 3.11", "SUCCESS"),
        ],
    ),
    (
        "superset-sh/superset#5668",
        "checks",
        "failure",
        [check("lint", "CANCELLED"), check("test", "SUCCESS")],
    ),
    (
        "microsoft/vscode-pull-request-github#2580",
        "checks",
        "success",
        [check("a", "SKIPPED"), check("b", "NEUTRAL"), check("c", "SUCCESS")],
    ),
    ("kurone-kito/idd-skill#1324", "checks", "failure", [status("ci", "ERROR")]),
    ("kunchenguid/gh-axi#71", "checks", "pending", [status("ci", "EXPECTED")]),
    ("apache/magpie#112", "checks", "failure", [check(conclusion="ACTION_REQUIRED")]),
    ("a stale run", "checks", "pending", [check(conclusion="STALE")]),
    ("a run that timed out", "checks", "failure", [check(conclusion="TIMED_OUT")]),
    (
        "a run that never started",
        "checks",
        "failure",
        [check(conclusion="STARTUP_FAILURE")],
    ),
    (
        "one green, one running",
        "checks",
        "pending",
        [check("a", "SUCCESS"), check("b")],
    ),
    (
        "diggerhq/digger#2674",
        "review",
        "approved",
        [many_reviews(36)],
    ),
    ("pages of reviews", "review", "approved", [many_reviews(130)]),
    (
        "bredebjorhovd/comet-board#411",
        "review",
        "none",
        [review("grace", "CHANGES_REQUESTED"), dismiss(0)],
    ),
    (
        "sipyourdrink-ltd/bernstein#6015",
        "review",
        "none",
        [
            review("grace", "CHANGES_REQUESTED"),
            review("grace", "APPROVED"),
            dismiss(1),
        ],
    ),
    (
        "palantir/policy-bot#119",
        "review",
        "none",
        [
            review("grace", "APPROVED"),
            review("grace", "CHANGES_REQUESTED"),
            dismiss(1),
        ],
    ),
    (
        "a comment is no opinion",
        "review",
        "approved",
        [review("grace", "APPROVED"), review("grace", "COMMENTED")],
    ),
    (
        "one refusal wins",
        "review",
        "changes_requested",
        [review("grace", "CHANGES_REQUESTED"), review("linus", "APPROVED")],
    ),
    ("a team is asked", "review", "pending", [request("core", "Team")]),
    (
        "who is asked again keeps the opinion",
        "review",
        "approved",
        [review("grace", "APPROVED"), request("grace")],
    ),
    ("slapperwan/gh4a#1102", "review", "approved", [ghost_reviews]),
    (
        "anthropics/claude-code-action#1489",
        "author",
        "",
        [lambda world, _: world.delete_user("ada")],
    ),
    (
        "desktop/desktop#3022",
        "head_repository_id",
        "",
        [lambda world, _: world.delete_fork("ada/hello")],
    ),
    (
        "a conflict",
        "mergeable",
        "CONFLICTING",
        [lambda world, one: world.set_mergeable(one, "CONFLICTING")],
    ),
    (
        "rust-lang/triagebot#2154",
        "mergeable",
        None,
        [lambda world, one: world.set_mergeable(one, "UNKNOWN")],
    ),
]


@pytest.mark.parametrize("read_path", ["graphql", "rest"])
@pytest.mark.parametrize(
    ("column", "verdict", "acts"),
    [pytest.param(*case[1:], id=case[0]) for case in CASES],
)
async def test_a_state_of_the_world_has_one_verdict(
    tmp_path, column, verdict, acts, read_path
):
    world, pull_request = make_world(MovedClock())
    for act in acts:
        world.clock.advance(1)
        act(world, pull_request)

    poll = f'read_path = "{read_path}"'
    async with open_product(tmp_path, world, poll=poll) as product:
        await product.cycle()
        (row,) = product.ask(f"SELECT {column} FROM task_pull_requests")

    assert row[column] == verdict
    assert product.report.failures == []


async def test_the_checks_of_the_commit_before_are_not_the_head_s(tmp_path):
    """T0mSIlver/localvoxtral#339: a new head beside the old commit's green checks."""
    world, pull_request = make_world(MovedClock())
    lag(world, pull_request)

    async with open_product(tmp_path, world) as product:
        await product.cycle()
        (row,) = product.ask("SELECT checks FROM task_pull_requests")

    assert row["checks"] is None
