"""Reports about the verdict on checks: one state of the commit, one verdict."""

import datetime as dt

import pytest

from tests.product import GAP, list_changes, open_product
from tests.reports.acts import (
    check,
    checks,
    nothing,
    push,
    push_and_lag,
    status,
    together,
)
from tests.reports.altered_github import AlteredGitHub, walk
from tests.reports.stage import (
    PATHS,
    configure,
    explain,
    make_stage,
    name_fields,
    read_row,
    tell,
)

UNEXPANDED = "build ${{ matrix.python }}"
GREEN = ("checks", "none", "success")
RED = ("checks", "none", "failure")
GAP_TIME = dt.timedelta(seconds=GAP)

VERDICTS = [
    # microsoft/microsoft-ui-reactor#1050, grafana/wait-for-github#144
    ("F1 a green run and no status at all", "success", [check(conclusion="SUCCESS")]),
    ("F1 a green status and no run at all", "success", [status("ci", "SUCCESS")]),
    ("F1 a skipped run and no status at all", "success", [check(conclusion="SKIPPED")]),
    ("F1 a running run and no status at all", "pending", [check()]),
    ("F1 neither runs nor statuses", "none", []),
    # misospace/pr-reviewer-action#135
    ("F3 queued", "pending", [check(status="QUEUED")]),
    ("F3 in progress", "pending", [check(status="IN_PROGRESS")]),
    ("F3 waiting", "pending", [check(status="WAITING")]),
    ("F3 requested", "pending", [check(status="REQUESTED")]),
    ("F3 pending", "pending", [check(status="PENDING")]),
    ("F3 a word of tomorrow", "pending", [check(status="DREAMING")]),
    (
        "F3 waiting beside green ones",
        "pending",
        [checks(5), check("last", status="WAITING")],
    ),
    (
        "F3 a failure wins over what waits",
        "failure",
        [check("a", status="QUEUED"), check("b", "FAILURE")],
    ),
    # rjmurillo/ai-agents#3978
    (
        "F4 red, then green in the same suite",
        "success",
        [check(conclusion="FAILURE"), check(conclusion="SUCCESS")],
    ),
    (
        "F4 red, then green in a suite of its own",
        "success",
        [check(conclusion="FAILURE"), check(conclusion="SUCCESS", is_new_suite=True)],
    ),
    (
        "F4 red twice, then green",
        "success",
        [check(conclusion="FAILURE")] * 2 + [check(conclusion="SUCCESS")],
    ),
    (
        "F4 green, then red",
        "failure",
        [check(conclusion="SUCCESS"), check(conclusion="FAILURE")],
    ),
    ("F4 red, then running", "pending", [check(conclusion="FAILURE"), check()]),
    (
        "F4 a red status, then a green one",
        "success",
        [status("ci", "FAILURE"), status("ci", "SUCCESS")],
    ),
    (
        "F4 only one of two was made again",
        "failure",
        [check("a", "FAILURE"), check("b", "FAILURE"), check("a", "SUCCESS")],
    ),
    # kurone-kito/idd-skill#1483
    (
        "F5 two apps use one name, the first fails",
        "failure",
        [
            check(conclusion="FAILURE", app="one", workflow=""),
            check(conclusion="SUCCESS", app="two", workflow=""),
        ],
    ),
    (
        "F5 two apps use one name, the last fails",
        "failure",
        [
            check(conclusion="SUCCESS", app="one", workflow=""),
            check(conclusion="FAILURE", app="two", workflow=""),
        ],
    ),
    (
        "F5 a run and a status use one name",
        "failure",
        [check(conclusion="SUCCESS"), status("test", "FAILURE")],
    ),
    (
        "F5 three apps, one still runs",
        "pending",
        [
            check(conclusion="SUCCESS", app="one", workflow=""),
            check(app="two", workflow=""),
            check(conclusion="SUCCESS", app="three", workflow=""),
        ],
    ),
    # wechuli/allcheckspassed#104
    (
        "F6 a cancelled job that was never expanded",
        "success",
        [check(UNEXPANDED, "CANCELLED"), check("build 3.11", "SUCCESS")],
    ),
    (
        "F6 a skipped job that was never expanded",
        "success",
        [check(UNEXPANDED, "SKIPPED"), check("build 3.11", "SUCCESS")],
    ),
    (
        "F6 a failed job that was never expanded",
        "failure",
        [check(UNEXPANDED, "FAILURE"), check("build 3.11", "SUCCESS")],
    ),
    (
        "F6 nothing but a job that was never expanded",
        "none",
        [check(UNEXPANDED, "CANCELLED")],
    ),
    # superset-sh/superset#5668, #6613
    (
        "F7 cancelled beside green",
        "failure",
        [check("lint", "CANCELLED"), check("test", "SUCCESS")],
    ),
    ("F7 cancelled alone", "failure", [check(conclusion="CANCELLED")]),
    (
        "F7 cancelled beside running",
        "failure",
        [check("lint", "CANCELLED"), check("test")],
    ),
    (
        "F7 cancelled, then made again",
        "success",
        [check(conclusion="CANCELLED"), check(conclusion="SUCCESS")],
    ),
    # microsoft/vscode-pull-request-github#2580
    (
        "F8 skipped and neutral beside green",
        "success",
        [check("a", "SKIPPED"), check("b", "NEUTRAL"), check("c", "SUCCESS")],
    ),
    ("F8 skipped alone", "success", [check(conclusion="SKIPPED")]),
    ("F8 neutral alone", "success", [check(conclusion="NEUTRAL")]),
    (
        "F8 skipped beside red",
        "failure",
        [check("a", "SKIPPED"), check("b", "FAILURE")],
    ),
    ("F8 neutral beside running", "pending", [check("a", "NEUTRAL"), check("b")]),
    # kurone-kito/idd-skill#1324
    ("F9 a status of ERROR", "failure", [status("ci", "ERROR")]),
    ("F9 a status of FAILURE", "failure", [status("ci", "FAILURE")]),
    (
        "F9 ERROR beside green",
        "failure",
        [status("ci", "ERROR"), check(conclusion="SUCCESS"), status("b", "SUCCESS")],
    ),
    ("F9 a status of PENDING", "pending", [status("ci", "PENDING")]),
    ("F9 a status of tomorrow", "pending", [status("ci", "PONDERING")]),
    ("F9 timed out", "failure", [check(conclusion="TIMED_OUT")]),
    ("F9 never started", "failure", [check(conclusion="STARTUP_FAILURE")]),
    ("F9 a conclusion of tomorrow", "pending", [check(conclusion="PONDERED")]),
    # kunchenguid/gh-axi#71
    ("F10 expected", "pending", [status("ci", "EXPECTED", is_required=True)]),
    (
        "F10 expected beside green",
        "pending",
        [status("ci", "EXPECTED", is_required=True), check(conclusion="SUCCESS")],
    ),
    (
        "F10 expected beside red",
        "failure",
        [status("ci", "EXPECTED"), check(conclusion="FAILURE")],
    ),
    ("F10 stale", "pending", [check(conclusion="STALE")]),
    # apache/magpie#112, meridianlabs-ai/inspect_scout#539
    ("F11 waits for approval", "failure", [check(conclusion="ACTION_REQUIRED")]),
    (
        "F11 waits for approval beside green",
        "failure",
        [check("a", "ACTION_REQUIRED"), check("b", "SUCCESS")],
    ),
    (
        "F11 waits for approval beside running",
        "failure",
        [check("a", "ACTION_REQUIRED"), check("b")],
    ),
]


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    ("verdict", "acts"), [pytest.param(*each[1:], id=each[0]) for each in VERDICTS]
)
async def test_a_state_of_the_commit_has_one_verdict(
    tmp_path, verdict, acts, read_path
):
    row, report = await read_row(tmp_path, *acts, read_path=read_path)

    assert row["checks"] == verdict
    assert report.failures == []


NOTES = [
    # wechuli/allcheckspassed#104
    (
        "F6",
        [check(UNEXPANDED, "CANCELLED"), check("build 3.11", "SUCCESS")],
        f"ignored, never expanded: {UNEXPANDED}",
    ),
    # kunchenguid/gh-axi#71
    ("F10", [status("ci/deploy", "EXPECTED")], "not reported yet: ci/deploy"),
    # apache/magpie#112
    ("F11", [check(conclusion="ACTION_REQUIRED")], "needs approval: test"),
    # misospace/pr-reviewer-action#135
    ("F3", [check(status="DREAMING")], "unknown word DREAMING: test"),
]


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    ("acts", "note"), [pytest.param(*each[1:], id=each[0]) for each in NOTES]
)
async def test_what_is_no_plain_word_is_said_beside_the_verdict(
    tmp_path, acts, note, read_path
):
    row, _ = await read_row(tmp_path, *acts, read_path=read_path)

    assert note in row["checks_notes"]


@pytest.mark.parametrize(
    "acts",
    [
        pytest.param(each[2], id=each[0])
        for each in VERDICTS
        if each[0].startswith(("F4", "F5", "F6", "F7", "F11"))
    ],
)
async def test_the_explanation_and_the_stored_verdict_are_one_judgement(tmp_path, acts):
    world, one = make_stage()
    for act in acts:
        world.clock.advance(1)
        act(world, one)
    async with open_product(tmp_path, world) as product:
        await product.cycle()
        (row,) = product.ask("SELECT checks FROM task_pull_requests")
        explained = await explain(product)

    counted = {each.state for each in explained.checks if each.counts}
    assert explained.observation.checks == row["checks"]
    worst = [word for word in ("failure", "pending", "success") if word in counted]
    assert (worst or ["none"])[0] == row["checks"]


# T0mSIlver/localvoxtral#339


@pytest.mark.parametrize("conclusion", ["SUCCESS", "FAILURE", None])
async def test_f14_the_first_reading_takes_no_checks_of_the_commit_before(
    tmp_path, conclusion
):
    row, _ = await read_row(
        tmp_path, check(conclusion=conclusion), push_and_lag(60), seconds=60
    )

    assert row["checks"] is None


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("SUCCESS", "FAILURE", id="green then red"),
        pytest.param("FAILURE", "SUCCESS", id="red then green"),
        pytest.param("SUCCESS", "SUCCESS", id="green twice"),
    ],
)
async def test_f14_a_new_head_never_has_the_checks_of_the_old_one(
    tmp_path, before, after, read_path
):
    told = await tell(
        tmp_path,
        check(conclusion=before),
        push_and_lag(3),
        nothing,
        nothing,
        check(conclusion=after),
        read_path=read_path,
    )

    states = [c[2] for event in told for c in event if c[0] == "checks"]
    assert states == [before.lower(), "none", after.lower()]


# T0mSIlver/localvoxtral#107


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    ("acts", "told"),
    [
        pytest.param(
            [nothing, nothing, check(conclusion="SUCCESS")], [GREEN], id="green"
        ),
        pytest.param([nothing, check(conclusion="FAILURE")], [RED], id="red"),
        pytest.param([nothing] * 5, [], id="never any"),
        pytest.param(
            [nothing, status("ci", "SUCCESS")], [GREEN], id="a status in the end"
        ),
    ],
)
async def test_f15_no_check_after_a_push_is_neither_failure_nor_success(
    tmp_path, acts, told, read_path
):
    assert await tell(tmp_path, *acts, read_path=read_path) == [(one,) for one in told]


@pytest.mark.parametrize("read_path", PATHS)
async def test_f15_after_a_later_push_none_is_part_of_the_push(tmp_path, read_path):
    told = await tell(
        tmp_path,
        check(conclusion="SUCCESS"),
        push(),
        nothing,
        check(conclusion="SUCCESS"),
        read_path=read_path,
    )

    assert name_fields(told) == [("checks",), ("checks", "head_ref_oid"), ("checks",)]
    assert [event[0] for event in told] == [
        GREEN,
        ("checks", "success", "none"),
        GREEN,
    ]


# packit/packit-service#3015


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("late", ["SUCCESS", "FAILURE", "CANCELLED"])
async def test_f19_a_result_of_the_commit_before_is_no_news(tmp_path, late, read_path):
    def finish_the_old_one(world, one):
        (run,) = one.previous_head.check_runs
        run.status, run.conclusion = "COMPLETED", late
        run.completed_at = world.now()

    told = await tell(
        tmp_path, check(), push(), finish_the_old_one, quiet=20, read_path=read_path
    )

    assert name_fields(told) == [("checks",), ("checks", "head_ref_oid")]
    assert told[1][0] == ("checks", "pending", "none")


# koala73/worldmonitor#5482


class LateLists:
    """Answers the checks in full as they were, until `ends_at` (the world's time)."""

    def __init__(self, world):
        self._world = world
        self._kept = {}
        self.ends_at = None

    def __call__(self, answered):
        for each in walk(answered.body):
            # A probe has no reviews: it shows already what the full reading lacks.
            if "statusCheckRollup" in each and "reviews" in each:
                rollup = each["statusCheckRollup"]
                each["statusCheckRollup"] = self._delay(each["id"], rollup)
        if "check-runs" in answered.path:
            found = answered.body if answered.status == 200 else None
            answered.body = self._delay(answered.path, found)
            answered.status = 200 if answered.body else answered.status
            answered.headers.pop("etag", None)

    def _delay(self, key, value):
        is_late = self.ends_at is not None and self._world.clock.now() < self.ends_at
        if is_late or value is None:
            return self._kept[key]
        self._kept[key] = value
        return value


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("seconds", [70, 130, 190])
async def test_f22_a_list_that_lags_is_put_right_by_the_next_look(
    tmp_path, seconds, read_path
):
    world, one = make_stage()
    lists = LateLists(world)
    github = AlteredGitHub(world, lists)
    check()(world, one)
    told = []
    async with open_product(
        tmp_path, world, transport=github, **configure(read_path)
    ) as product:
        await product.cycles(2)
        check(conclusion="SUCCESS")(world, one)
        lists.ends_at = world.clock.now() + dt.timedelta(seconds=seconds)
        while world.clock.now() + GAP_TIME < lists.ends_at:
            told += await product.cycle(is_forced=False)
        late, told = told, await product.cycles(2, is_forced=False)

    assert late == []
    assert list_changes(told) == [(("checks", "pending", "success"),)]


# telia-oss/github-pr-resource#171


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    "moved", [pytest.param(0, id="the same time"), pytest.param(1, id="a later one")]
)
async def test_f25_another_commit_with_an_old_date_is_a_push(
    tmp_path, moved, read_path
):
    def force_push(world, one):
        before = one.updated_at
        world.push(one, oid="f" * 40)
        one.updated_at = before + dt.timedelta(seconds=moved)

    told = await tell(tmp_path, force_push, read_path=read_path)

    assert name_fields(told) == [("head_ref_oid",)]


async def test_f25_a_force_push_back_to_the_first_commit_is_told_again(tmp_path):
    first = []

    def push_away(world, one):
        first.append(one.head)
        world.push(one, oid="f" * 40)

    def push_back(world, one):
        one.previous_head, one.head = one.head, first[0]
        world.touch(one)

    told = await tell(tmp_path, push_away, push_back)

    assert name_fields(told) == [("head_ref_oid",)] * 2
    assert told[1][0][2] == told[0][0][1]


# many at once, in one look: the verdict is of the last state


async def test_f4_all_of_a_rerun_between_two_looks_is_one_verdict(tmp_path):
    told = await tell(
        tmp_path,
        together(checks(30, failing=range(30)), checks(30)),
    )

    assert told == [(GREEN,)]
