"""
What other tools were reported to tell wrongly: one story, one list of what is told.

The names are the reports, as `owner/name#number` on GitHub.
"""

import datetime as dt

import pytest

from prwatch.simulator.faults import Fault
from tests.product import ALL, BRANCH, MovedClock, list_changes, open_product
from tests.simulation.scenarios import make_world

FAILURE = [("checks", "none", "failure")]


def set_check(conclusion=None, name="test", **traits):
    return lambda world, one: world.set_check(
        one, name, conclusion=conclusion, **{"workflow": "CI", **traits}
    )


def fail_many(world, one):
    for number in range(200):
        world.set_check(one, f"job-{number}", workflow="CI", conclusion="FAILURE")


def lag_behind(world, one):
    world.push(one)
    world.lag_head(one, for_=dt.timedelta(minutes=3))


def comment(author="linus", late=0):
    def act(world, one):
        at = world.now() - dt.timedelta(seconds=late)
        world.comment(one, author, created_at=at)

    return act


def review_late(world, one):
    at = world.now() - dt.timedelta(seconds=90)
    world.submit_review(one, "late", "COMMENTED", submitted_at=at)


def toggle_thrice(world, one):
    world.mark_draft(one)
    world.mark_ready(one)
    world.mark_draft(one)


def delete_base(world, one):
    world.delete_branch(one.repository, one.base_ref_name)


def force_push(world, one):
    world.push(one, oid="f" * 40)


def outage(world, _):
    world.go_down(dt.timedelta(hours=1))


def fail_from_now(kind, **traits):
    return lambda world, _: world.faults.add(Fault(kind=kind, times=None, **traits))


def end_faults(world, _):
    world.faults.clear()


def merge(world, one):
    world.merge(one)


def everything(world, one):
    world.submit_review(one, "grace", "CHANGES_REQUESTED")
    world.set_check(one, "test", workflow="CI", conclusion="FAILURE")
    world.merge(one)


def nothing(*_):
    pass


STORIES = [
    (
        "framework/the-agency#363 the same failure each minute",
        [set_check("FAILURE")],
        [FAILURE],
        20,
    ),
    (
        "Untrivial-ai/agent-orchestrator#5089 another run, the same failure",
        [set_check("FAILURE"), set_check("FAILURE"), set_check("FAILURE")],
        [FAILURE],
        5,
    ),
    ("desktop/desktop#15422 two hundred checks fail", [fail_many], [FAILURE], 5),
    (
        "T0mSIlver/localvoxtral#107 no check just after a push",
        [nothing, nothing, set_check("SUCCESS")],
        [[("checks", "none", "success")]],
        5,
    ),
    (
        "packit/packit-service#3015 the old commit's result after a push",
        [set_check("SUCCESS"), lag_behind],
        [[("checks", "none", "success")], ["checks", "head_ref_oid"]],
        6,
    ),
    (
        "telia-oss/github-pr-resource#171 a force push",
        [force_push],
        [["head_ref_oid"]],
        3,
    ),
    (
        "cubeplexai/cubeplex#109 a second comment in the same second",
        [comment(), comment(late=70)],
        [["comments"]] * 2,
        3,
    ),
    (
        "kubernetes/test-infra#7672 a comment that appears late",
        [comment(), comment(late=78)],
        [["comments"]] * 2,
        3,
    ),
    (
        "gabrielkoerich/orch#2095 a review that appears late",
        [comment(), review_late],
        [["comments"]] * 2,
        3,
    ),
    (
        "microsoft/vscode-github-triage-actions#114 toggled thrice",
        [toggle_thrice],
        [[("is_draft", False, True)]],
        3,
    ),
    (
        "netresearch/git-workflow-skill#140 mergeability comes and goes",
        [
            lambda world, one: world.set_mergeable(one, "UNKNOWN"),
            lambda world, one: world.set_mergeable(one, "MERGEABLE"),
            lambda world, one: world.set_mergeable(one, "UNKNOWN"),
            lambda world, one: world.set_mergeable(one, "CONFLICTING"),
        ],
        [[("mergeable", "MERGEABLE", "CONFLICTING")]],
        3,
    ),
    (
        "chdsbd/kodiak#899 an hour of outage",
        [outage, set_check("FAILURE")],
        [FAILURE],
        65,
    ),
    (
        "getpaseo/paseo#3587 the quota is gone",
        [fail_from_now("rate_limited"), nothing, end_faults],
        [],
        65,
    ),
    (
        "vellum-ai/vellum-assistant#26924 the connection breaks three times",
        [fail_from_now("reset"), nothing, nothing, end_faults, set_check("FAILURE")],
        [FAILURE],
        3,
    ),
    (
        "manaflow-ai/cmux#8521 not found for three cycles",
        [
            fail_from_now("not_found", target="octo/hello#12"),
            nothing,
            nothing,
            end_faults,
            set_check("FAILURE"),
        ],
        [FAILURE],
        3,
    ),
    (
        "kubernetes/test-infra#16643 merged is final",
        [merge],
        [[("state", "OPEN", "MERGED")]],
        20,
    ),
]


def shorten(changes, expected):
    """Return changes as the expectation has them: whole, or by their fields alone."""
    if expected and isinstance(expected[0], str):
        return [field for field, _, _ in changes]
    return list(changes)


@pytest.mark.parametrize(
    ("acts", "expected", "quiet"), [pytest.param(*s[1:], id=s[0]) for s in STORIES]
)
async def test_a_reported_story_is_told_rightly(tmp_path, acts, expected, quiet):
    world, pull_request = make_world(MovedClock())
    told = []
    async with open_product(tmp_path, world) as product:
        await product.cycle()
        for act in acts:
            world.clock.advance(10)
            act(world, pull_request)
            told += await product.cycle()
        told += await product.cycles(quiet)

    changes = list_changes(told)
    assert len(changes) == len(expected)
    pairs = zip(changes, expected, strict=True)
    assert [shorten(*pair) for pair in pairs] == expected


async def test_a_flapping_check_is_told_twice_at_most(tmp_path):
    """Untrivial-ai/agent-orchestrator#1409: the same failure, again and again."""
    world, pull_request = make_world(MovedClock())
    feedback = []
    async with open_product(tmp_path, world) as product:
        await product.cycle()
        for _ in range(5):
            set_check("FAILURE")(world, pull_request)
            feedback += await product.cycle(gap=5)
            set_check()(world, pull_request)
            feedback += await product.cycle(gap=5)
        set_check("FAILURE")(world, pull_request)
        feedback += await product.cycles(10, gap=30)

    states = [changes[0][2] for changes in list_changes(feedback, "GitHubPRFeedback")]
    assert states[:2] == ["failure", "pending"]
    assert states[2:] in ([], ["failure"])


async def test_a_base_branch_that_goes_is_the_reason_of_the_close(tmp_path):
    """gyrinx-app/gyrinx#2315."""
    world, pull_request = make_world(MovedClock())
    async with open_product(tmp_path, world) as product:
        await product.cycle()
        delete_base(world, pull_request)
        told = await product.cycle()

    (change,) = told[0]["data"]["changes"]
    assert change == {
        "field": "state",
        "previous": "OPEN",
        "current": "CLOSED",
        "reason": "base_deleted",
    }


async def test_a_closed_one_that_was_reopened_and_merged_at_once_is_told(tmp_path):
    world, pull_request = make_world(MovedClock())
    async with open_product(tmp_path, world) as product:
        await product.cycle()
        world.close(pull_request)
        closed = await product.cycle()
        world.reopen(pull_request)
        world.merge(pull_request)
        merged = await product.cycle()
        after = await product.cycles(3)
        watches = product.ask("SELECT id FROM pr_watches")

    assert list_changes(closed) == [(("state", "OPEN", "CLOSED"),)]
    assert list_changes(merged) == [(("state", "CLOSED", "MERGED"),)]
    assert (after, watches) == ([], [])


async def test_all_that_happened_meanwhile_is_told_once_after_a_restart(tmp_path):
    """bors-ng/bors-ng#187, channable/hoff#307."""
    world, pull_request = make_world(MovedClock())
    async with open_product(tmp_path, world) as product:
        await product.cycle()
    everything(world, pull_request)
    async with open_product(tmp_path, world, seed=1) as product:
        told = await product.cycle()
        after = await product.cycles(5)

    assert [[field for field, _, _ in c] for c in list_changes(told)] == [
        ["state", "checks", "review", "review_decision"]
    ]
    assert after == []


async def test_a_pull_request_that_one_list_leaves_out_was_not_closed(tmp_path):
    """ptsochantaris/trailer#447."""
    world, pull_request = make_world(MovedClock())
    async with open_product(tmp_path, world, watches=[ALL]) as product:
        await product.cycle()
        listed = pull_request.repository.pull_requests.pop(12)
        pull_request.repository.version += 1
        missing = await product.cycles(2)
        pull_request.repository.pull_requests[12] = listed
        pull_request.repository.version += 1
        back = await product.cycles(2)

    assert (missing, back) == ([], [])


BRANCH_OF_FORK = f'{BRANCH}\nhead = "ada/hello"'


async def test_ours_is_found_among_the_forks_with_the_same_branch(tmp_path):
    """pingdotgg/t3code#3900, openchamber/openchamber#2929."""
    world, _ = make_world(MovedClock())
    for owner in ("bob", "eve"):
        world.add_repository(f"{owner}/hello", fork_of="octo/hello")
        other = world.open_pull_request(
            "octo/hello", branch="fix-greeting", head_repository=f"{owner}/hello"
        )
        if owner == "bob":
            world.merge(other)
    async with open_product(tmp_path, world, watches=[BRANCH_OF_FORK]) as product:
        told = await product.cycles(3)

    assert list_changes(told) == [(("associated", None, 12),)]


async def test_a_foreign_branch_of_the_same_name_is_not_ours(tmp_path):
    """A branch of the repository itself is searched, a fork has one by that name."""
    world, _ = make_world(MovedClock())
    async with open_product(tmp_path, world, watches=[BRANCH]) as product:
        told = await product.cycles(3)

    assert told == []


async def test_a_branch_that_is_used_again_moves_to_its_new_pull_request(tmp_path):
    """Intrect-io/OpenSwarm#531, Untrivial-ai/agent-orchestrator#2879."""
    world, first = make_world(MovedClock())
    async with open_product(tmp_path, world, watches=[BRANCH_OF_FORK]) as product:
        told = await product.cycle()
        world.merge(first)
        told += await product.cycles(3)
        second = world.open_pull_request(
            "octo/hello", branch="fix-greeting", head_repository="ada/hello"
        )
        told += await product.cycles(3)
        kept = product.ask("SELECT pr_number FROM task_pull_requests ORDER BY 1")

    assert list_changes(told) == [
        (("associated", None, 12),),
        (("state", "OPEN", "MERGED"),),
        (("associated", None, second.number),),
    ]
    assert [row["pr_number"] for row in kept] == [12, second.number]


async def test_both_names_of_a_renamed_repository_are_one_row(tmp_path):
    """NEAR-DevHub/race-of-sloths#205."""
    world, one = make_world(MovedClock())
    world.rename_repository("octo/hello", "octo/greeting")
    names = ("octo/hello", "octo/greeting")
    watches = [f'repository = "{name}"\npull_request = 12' for name in names]
    async with open_product(tmp_path, world, watches=watches) as product:
        told = await product.cycles(3)
        repositories = product.ask("SELECT owner, name FROM repositories")
        world.mark_draft(one)
        later = await product.cycles(3)

    assert repositories == [{"owner": "octo", "name": "greeting"}]
    assert set(list_changes(told)) == {(("associated", None, 12),)}
    assert set(list_changes(later)) == {(("is_draft", False, True),)}


async def test_a_restart_asks_what_was_asked_before(tmp_path):
    """Untrivial-ai/agent-orchestrator#2509."""
    world, _ = make_world(MovedClock())
    async with open_product(tmp_path, world) as product:
        await product.cycles(2)
        asked = len(product.report.references), product.report.usage.graphql
    async with open_product(tmp_path, world) as product:
        told = await product.cycle()
        again = len(product.report.references), product.report.usage.graphql

    assert asked == again
    assert (told, product.report.rows_written) == ([], 0)


async def test_nothing_watched_asks_nothing(tmp_path):
    """kubernetes/test-infra#12055."""
    world, _ = make_world(MovedClock())
    async with open_product(tmp_path, world, watches=[]) as product:
        told = await product.cycles(3)

    assert told == []
    assert len(world.requests) == 0


async def test_sixty_watches_of_ten_branches_cost_what_ten_cost(tmp_path):
    """sverrirsig/claude-control#5."""
    world, _ = make_world(MovedClock())
    tasks = "\n".join(
        f'[[workspace.task]]\nid = "T-{n}"\n'
        f'repositories = [{{ repository = "octo/hello", branch = "b-{n % 10}" }}]'
        for n in range(60)
    )
    async with open_product(tmp_path, world, watches=[], tasks=tasks) as product:
        await product.cycles(10)

    assert [len(report.references) for report in product.reports] == [10] * 10
    assert world.requests.graphql == 10
