"""Reports about events, restarts and loops: each change once, whatever lies between."""

import pytest

from prwatch.simulator import World
from tests.product import (
    ALL,
    OUT,
    MovedClock,
    list_changes,
    open_product,
)
from tests.reports.acts import (
    check,
    checks,
    close,
    comment,
    draft,
    end_faults,
    fail_from_now,
    merge,
    nothing,
    push,
    review,
    together,
)
from tests.reports.altered_github import AlteredGitHub
from tests.reports.stage import (
    BRANCH_OF_FORK,
    PATHS,
    configure,
    make_stage,
    name_fields,
    tell,
)

RED = (("checks", "none", "failure"),)
FEEDBACK = "GitHubPRFeedback"
COUNT = 40
HOUR = 3_600


def make_forty():
    world = World(MovedClock())
    world.add_repository("octo/hello")
    world.open_many("octo/hello", COUNT, prefix="topic-")
    return world


def by_number(world):
    return [
        f'repository = "octo/hello"\npull_request = {one.number}'
        for one in world.pull_requests.values()
    ]


def by_branch(world):
    return [
        f'repository = "octo/hello"\nbranch = "{one.head_ref_name}"'
        for one in world.pull_requests.values()
    ]


WAYS = [
    pytest.param(by_number, id="named"),
    pytest.param(by_branch, id="by branch"),
    pytest.param(lambda _: [ALL], id="adopted"),
]


# framework/the-framework#1624

FIRST_READINGS = [
    *("html502", "bad_credentials", "null_data", "not_json", "rate_limited", "reset"),
]


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("make_watches", WAYS)
@pytest.mark.parametrize("kind", FIRST_READINGS)
async def test_i1_a_failed_first_reading_is_no_baseline(
    tmp_path, kind, make_watches, read_path
):
    world = make_forty()
    act, first = fail_from_now(kind), next(iter(world.pull_requests.values()))
    act(world, first)
    options = {"watches": make_watches(world), **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        failed = await product.cycles(2)
        end_faults(world, first)
        told = await product.cycle(gap=2 * HOUR)
        after = await product.cycles(2)

    assert failed == []
    assert {changes[0][:2] for changes in list_changes(told)} == {("associated", None)}
    assert len(list_changes(told)) == COUNT
    assert list_changes(told, FEEDBACK) == []
    assert after == []


async def test_i1_an_empty_list_beside_an_error_is_no_baseline(tmp_path):
    world = make_forty()

    def empty(answered):
        answered.body = {
            "data": None,
            "errors": [{"type": "INTERNAL", "message": "[]"}],
        }

    github = AlteredGitHub(world, empty)
    async with open_product(
        tmp_path, world, watches=[ALL], transport=github
    ) as product:
        failed = await product.cycles(2)
        github.alter = None
        told = await product.cycle(gap=2 * HOUR)

    assert failed == []
    assert len(list_changes(told)) == COUNT
    assert list_changes(told, FEEDBACK) == []


# Buildbot, run beside this


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("make_watches", WAYS)
async def test_i2_a_fresh_store_rings_nobody(tmp_path, make_watches, read_path):
    world = make_forty()
    for position, one in enumerate(list(world.pull_requests.values())):
        acts = [check(conclusion="FAILURE"), review("grace"), comment(), draft, nothing]
        acts[position % len(acts)](world, one)
    world.clock.advance(HOUR)
    options = {"watches": make_watches(world), **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        told = await product.cycles(3)

    assert {event["type"] for event in told} == {"GitHubTaskPRUpdated"}
    assert {tuple(f) for f in name_fields(list_changes(told))} == {("associated",)}
    assert len(told) == COUNT


# the-agency-ai/the-agency#363 (I3), Untrivial-ai/agent-orchestrator#5089 (I4)

LEVELS = [
    ("I3 a red check", [check(conclusion="FAILURE")], [RED]),
    (
        "I3 a green check",
        [check(conclusion="SUCCESS")],
        [(("checks", "none", "success"),)],
    ),
    (
        "I3 a conflict",
        [lambda w, o: w.set_mergeable(o, "CONFLICTING")],
        [("mergeable",)],
    ),
    (
        "I3 a refusal",
        [review("grace", "CHANGES_REQUESTED")],
        [("review", "review_decision")],
    ),
    ("I3 a merge", [merge], [("state",)]),
    ("I3 a close", [close], [("state",)]),
    ("I4 another run of it", [check(conclusion="FAILURE")] * 4, [RED]),
    (
        "I4 another suite of it",
        [check(conclusion="FAILURE")]
        + [check(conclusion="FAILURE", is_new_suite=True)] * 3,
        [RED],
    ),
    (
        "I4 another check fails too",
        [check("a", "FAILURE"), check("b", "FAILURE"), check("c", "TIMED_OUT")],
        [RED],
    ),
    (
        "I4 it fails in another way",
        [check(conclusion="FAILURE"), check(conclusion="TIMED_OUT")],
        [RED],
    ),
]


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    ("acts", "expected"), [pytest.param(*each[1:], id=each[0]) for each in LEVELS]
)
async def test_a_state_is_told_once_however_often_it_is_seen(
    tmp_path, acts, expected, read_path
):
    told = await tell(tmp_path, *acts, quiet=20, read_path=read_path)

    if read_path == "rest":  # it has no word of the decision
        expected = [
            tuple(f for f in each if f != "review_decision") for each in expected
        ]
    is_named = bool(expected) and isinstance(expected[0][0], str)
    assert (name_fields(told) if is_named else told) == expected


# Untrivial-ai/agent-orchestrator#1409


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("times", [2, 5, 9])
@pytest.mark.parametrize("gap", [5, 15])
async def test_i5_a_check_that_flaps_on_one_commit_rings_once(
    tmp_path, gap, times, read_path
):
    world, one = make_stage()
    feedback = []
    async with open_product(tmp_path, world, **configure(read_path)) as product:
        await product.cycle()
        for _ in range(times):
            check(conclusion="FAILURE")(world, one)
            feedback += await product.cycle(gap=gap)
            check()(world, one)
            feedback += await product.cycle(gap=gap)
        check(conclusion="FAILURE")(world, one)
        feedback += await product.cycles(10, gap=30)

    states = [changes[0][2] for changes in list_changes(feedback, FEEDBACK)]
    # The failure once, that it runs again once, and at most one more "still failing".
    assert states in (["failure", "pending"], ["failure", "pending", "failure"])


# ptsochantaris/trailer#447


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("looks", [1, 2, 5])
@pytest.mark.parametrize("watch", [ALL, BRANCH_OF_FORK], ids=["list", "branch"])
async def test_i6_what_an_answer_leaves_out_was_not_closed(
    tmp_path, watch, looks, read_path
):
    world, one = make_stage()
    home = one.repository
    options = {"watches": [watch], **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycle()
        by_branch, home.by_branch = home.by_branch, {}
        rows = home.pull_requests.pop(12)
        home.version += 1
        missing = await product.cycles(looks)
        home.pull_requests[12], home.by_branch = rows, by_branch
        home.version += 1
        back = await product.cycles(2)
        draft(world, one)
        told = await product.cycles(2, gap=HOUR)

    assert (missing, back) == ([], [])
    assert name_fields(list_changes(told)) == [("is_draft",)]


# desktop/desktop#15422


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("count", [1, 100, 200])
async def test_i7_many_checks_that_fail_together_ring_once(tmp_path, count, read_path):
    told = await tell(
        tmp_path, checks(count, failing=range(count)), read_path=read_path
    )

    assert told == [RED]


async def test_i7_checks_that_fail_one_after_the_other_ring_once(tmp_path):
    acts = [check(f"job-{n}", "FAILURE") for n in range(12)]

    assert await tell(tmp_path, *acts) == [RED]


# bors-ng/bors-ng#187, channable/hoff#307, SnapInteractive/mergeatron#28

MEANWHILE = [
    pytest.param([merge], ["state"], id="merged"),
    pytest.param([check(conclusion="FAILURE")], ["checks"], id="failed"),
    pytest.param([review("grace")], ["review"], id="reviewed"),
    pytest.param([push()], ["head_ref_oid"], id="pushed"),
    pytest.param([comment()], ["comments"], id="commented"),
    pytest.param([draft, close], ["state", "is_draft"], id="a draft, closed"),
    pytest.param(
        [review("grace"), check(conclusion="FAILURE"), merge],
        ["state", "checks", "review"],
        id="all of it",
    ),
]


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("hours", [0, 30])
@pytest.mark.parametrize(("acts", "fields"), MEANWHILE)
async def test_i8_what_happened_while_down_is_told_once_in_one_event(
    tmp_path, acts, fields, hours, read_path
):
    world, one = make_stage()
    options = configure(read_path)
    async with open_product(tmp_path, world, **options) as product:
        await product.cycle()
    for act in acts:
        world.clock.advance(10 + hours * HOUR)
        act(world, one)
    world.clock.advance(60)
    async with open_product(tmp_path, world, seed=1, **options) as product:
        told = await product.cycle()
    async with open_product(tmp_path, world, seed=2, **options) as product:
        after = await product.cycles(5)

    told = [
        tuple(f for f in e if f != "review_decision")
        for e in name_fields(list_changes(told))
    ]
    assert told == [tuple(fields)]
    assert after == []


# kubernetes/test-infra#7672


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("late", [1, 8, 60, 110])
async def test_i9_what_was_stamped_before_the_mark_and_appears_late_is_seen(
    tmp_path, late, read_path
):
    told = await tell(
        tmp_path,
        comment("linus"),
        comment("ada", late=70 + late % 50),
        read_path=read_path,
    )

    assert name_fields(told) == [("comments",), ("comments",)]


# renovatebot/renovate#15292


@pytest.mark.parametrize("tag", ['"{0}"', 'W/"{0}"', ""])
async def test_i13_another_tag_for_the_same_body_is_no_news(tmp_path, tag):
    world, one = make_stage()
    together(check(conclusion="FAILURE"), comment())(world, one)
    count = 0

    def alter(answered):
        nonlocal count
        count += 1
        if answered.status == 200:
            answered.headers["etag"] = tag.format(count)

    github = AlteredGitHub(world, alter)
    options = {"transport": github, **configure("rest")}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycles(2)
        told = await product.cycles(20)
        written = {report.rows_written for report in product.reports[3:]}

    assert (told, written) == ([], {0})


# intent-hq/intent#5079


@pytest.mark.parametrize("read_path", PATHS)
async def test_i17_a_session_that_ends_takes_no_watch_with_it(tmp_path, read_path):
    session = (
        '[[workspace.task]]\nid = "T-1"\n'
        'repositories = [{{ repository = "octo/hello", branch = "fix-greeting",'
        ' head = "ada/hello" }}]\n{session}'
    )
    alive = '[[workspace.task.sessions]]\nid = "S-1"\n'
    world, one = make_stage()
    options = {"watches": [], **configure(read_path)}
    async with open_product(
        tmp_path, world, tasks=session.format(session=alive), **options
    ) as product:
        told = await product.cycle()
        before = product.ask("SELECT id, pr_number FROM pr_watches")
    draft(world, one)
    async with open_product(
        tmp_path, world, tasks=session.format(session=""), **options
    ) as product:
        later = await product.cycle()
        after = product.ask("SELECT id, pr_number FROM pr_watches")
        sessions = product.ask("SELECT ended_at FROM sessions")

    assert name_fields(list_changes(later)) == [("is_draft",)]
    assert after == before
    assert [row["ended_at"] is not None for row in sessions] == [True]
    assert list_changes(told) == [(("associated", None, 12),)]


# Untrivial-ai/agent-orchestrator#1122

SINKS = [
    pytest.param(OUT, [True, False], id="marked"),
    pytest.param(f'{OUT}\nsuperseded = "drop"', [False], id="dropped"),
]


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(("sinks", "flags"), SINKS)
@pytest.mark.parametrize(
    "act",
    [check(conclusion="FAILURE"), review("grace"), comment()],
    ids=["a check", "a review", "a comment"],
)
async def test_i23_what_waits_for_its_delivery_is_marked_when_the_head_moved(
    tmp_path, act, sinks, flags, read_path
):
    world, one = make_stage()
    options = {"sinks": sinks, **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycle()
        relays, product.runtime.relays = product.runtime.relays, ()
        act(world, one)
        await product.cycle()
        push()(world, one)
        await product.cycle()
        product.runtime.relays = relays
        told = await product.cycle()

    feedback = [e for e in told if e["type"] == FEEDBACK]
    assert [event["data"]["superseded"] for event in feedback] == flags


async def test_i23_a_final_state_is_never_superseded(tmp_path):
    world, one = make_stage()
    sinks = f'{OUT}\nsuperseded = "drop"'
    async with open_product(tmp_path, world, sinks=sinks) as product:
        await product.cycle()
        relays, product.runtime.relays = product.runtime.relays, ()
        push()(world, one)
        merge(world, one)
        await product.cycle()
        product.runtime.relays = relays
        told = await product.cycle()

    assert [e["data"]["superseded"] for e in told if e["type"] == FEEDBACK] == [False]
