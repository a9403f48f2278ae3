import datetime as dt

import pytest

from prwatch.domain.verdict import (
    CheckRun,
    ChecksVerdict,
    StatusContext,
    decide_checks,
)
from tests.readings import FAILURE, NONE, PENDING, SETTLE, SUCCESS, at

LONG_AGO = -3600


def make_run(conclusion="SUCCESS", name="build", **fields):
    values = {
        "name": name,
        "app": "actions",
        "workflow": "CI",
        "event": "push",
        "status": "COMPLETED",
        "started_at": at(LONG_AGO),
        "completed_at": at(LONG_AGO),
    }
    return CheckRun(conclusion=conclusion, **(values | fields))


def make_status(state="SUCCESS", context="ci", created_at=None):
    return StatusContext(
        context=context, state=state, created_at=created_at or at(LONG_AGO)
    )


def decide(*items, settle=SETTLE):
    return decide_checks(
        [item for item in items if isinstance(item, CheckRun)],
        [item for item in items if isinstance(item, StatusContext)],
        observed_at=at(0),
        settle=settle,
    )


@pytest.mark.parametrize(
    ("conclusion", "verdict"),
    [
        pytest.param("SUCCESS", ChecksVerdict(state=SUCCESS), id="success"),
        pytest.param("NEUTRAL", ChecksVerdict(state=SUCCESS), id="F8 neutral passes"),
        pytest.param("SKIPPED", ChecksVerdict(state=SUCCESS), id="F8 skipped passes"),
        pytest.param(
            "FAILURE",
            ChecksVerdict(state=FAILURE, notes=("failed: build",)),
            id="failure",
        ),
        pytest.param(
            "TIMED_OUT",
            ChecksVerdict(state=FAILURE, notes=("timed out: build",)),
            id="timed out",
        ),
        pytest.param(
            "CANCELLED",
            ChecksVerdict(state=FAILURE, notes=("cancelled: build",)),
            id="F7 cancelled is not green",
        ),
        pytest.param(
            "ACTION_REQUIRED",
            ChecksVerdict(state=FAILURE, notes=("needs approval: build",)),
            id="F11 waiting for approval says so",
        ),
        pytest.param(
            "STARTUP_FAILURE",
            ChecksVerdict(state=FAILURE, notes=("failed to start: build",)),
            id="startup failure",
        ),
        pytest.param(
            "STALE", ChecksVerdict(state=PENDING, notes=("stale: build",)), id="stale"
        ),
        pytest.param("", ChecksVerdict(state=PENDING), id="E4 empty is running"),
        pytest.param(None, ChecksVerdict(state=PENDING), id="E4 null is running"),
        pytest.param(
            "SURPRISE",
            ChecksVerdict(
                state=PENDING,
                notes=("unknown word SURPRISE: build",),
                unknown_words=("SURPRISE",),
            ),
            id="an unknown word is pending and reported",
        ),
    ],
)
def test_a_conclusion_means_one_thing(conclusion, verdict):
    assert decide(make_run(conclusion)) == verdict


@pytest.mark.parametrize(
    "status", ["QUEUED", "IN_PROGRESS", "WAITING", "REQUESTED", "PENDING", "COMPLETED"]
)
def test_a_run_without_conclusion_is_pending_whatever_its_status(status):
    """F3: no status is taken for an unknown one."""
    run = make_run(None, status=status, completed_at=None)

    assert decide(run) == ChecksVerdict(state=PENDING)


def test_a_conclusion_is_terminal_although_the_status_says_in_progress():
    run = make_run("FAILURE", status="IN_PROGRESS")

    assert decide(run) == ChecksVerdict(state=FAILURE, notes=("failed: build",))


def test_an_unknown_status_is_pending_and_reported():
    assert decide(make_run(None, status="DREAMING")) == ChecksVerdict(
        state=PENDING,
        notes=("unknown word DREAMING: build",),
        unknown_words=("DREAMING",),
    )


@pytest.mark.parametrize(
    ("state", "verdict"),
    [
        pytest.param("SUCCESS", ChecksVerdict(state=SUCCESS), id="success"),
        pytest.param(
            "FAILURE", ChecksVerdict(state=FAILURE, notes=("failed: ci",)), id="failure"
        ),
        pytest.param(
            "ERROR", ChecksVerdict(state=FAILURE, notes=("failed: ci",)), id="F9 error"
        ),
        pytest.param("PENDING", ChecksVerdict(state=PENDING), id="pending"),
        pytest.param(
            "EXPECTED",
            ChecksVerdict(state=PENDING, notes=("not reported yet: ci",)),
            id="F10 expected is pending",
        ),
        pytest.param(
            "ODD",
            ChecksVerdict(
                state=PENDING, notes=("unknown word ODD: ci",), unknown_words=("ODD",)
            ),
            id="unknown",
        ),
    ],
)
def test_a_status_state_means_one_thing(state, verdict):
    assert decide(make_status(state)) == verdict


@pytest.mark.parametrize(
    ("items", "state"),
    [
        pytest.param([], NONE, id="F15 nothing yet is none"),
        pytest.param([make_run()], SUCCESS, id="F1 no statuses beside green runs"),
        pytest.param(
            [make_run(), make_status("FAILURE")], FAILURE, id="a failing status wins"
        ),
        pytest.param(
            [make_run("FAILURE"), make_run(None, name="lint")],
            FAILURE,
            id="failure wins over pending",
        ),
        pytest.param(
            [make_run(), make_run(None, name="lint")],
            PENDING,
            id="pending wins over success",
        ),
        pytest.param(
            [make_run("CANCELLED"), make_run(name="lint")],
            FAILURE,
            id="F7 cancelled beside success",
        ),
        pytest.param(
            [make_run("FAILURE", started_at=at(-9000)), make_run()],
            SUCCESS,
            id="F4 a green re-run",
        ),
        pytest.param(
            [make_run("FAILURE", app="a"), make_run(app="b")],
            FAILURE,
            id="F5 the same name from two apps",
        ),
    ],
)
def test_failure_wins_then_pending_then_success(items, state):
    assert decide(*items).state is state


@pytest.mark.parametrize("conclusion", ["CANCELLED", "SKIPPED"])
def test_a_matrix_job_that_was_never_expanded_is_ignored(conclusion):
    """F6: such a run is left behind when its workflow is cancelled."""
    ghost = make_run(conclusion, name="test (${{ matrix.python }})")

    assert decide(ghost, make_run()) == ChecksVerdict(
        state=SUCCESS, notes=("ignored, never expanded: test (${{ matrix.python }})",)
    )
    assert decide(ghost).state is NONE


def test_a_matrix_name_that_was_never_expanded_but_failed_counts():
    assert decide(make_run("FAILURE", name="${{ x }}")).state is FAILURE


@pytest.mark.parametrize(
    ("newest", "verdict"),
    [
        pytest.param(
            make_run(completed_at=at(-5)),
            ChecksVerdict(state=PENDING, settles_at=at(15)),
            id="a run that has just ended",
        ),
        pytest.param(
            make_run(started_at=at(-5)),
            ChecksVerdict(state=PENDING, settles_at=at(15)),
            id="a run that has just begun",
        ),
        pytest.param(
            make_status(created_at=at(-5)),
            ChecksVerdict(state=PENDING, settles_at=at(15)),
            id="a status that was just made",
        ),
        pytest.param(
            make_run(completed_at=at(-20)),
            ChecksVerdict(state=SUCCESS),
            id="exactly settled",
        ),
        pytest.param(
            make_run(completed_at=at(2)),
            ChecksVerdict(state=PENDING, settles_at=at(22)),
            id="a clock a little ahead",
        ),
        pytest.param(
            make_run(completed_at=at(301)),
            ChecksVerdict(state=SUCCESS),
            id="a clock far ahead holds nothing up",
        ),
        pytest.param(
            make_run(started_at=None, completed_at=None),
            ChecksVerdict(state=SUCCESS),
            id="no times at all",
        ),
    ],
)
def test_a_success_counts_once_it_has_settled(newest, verdict):
    assert decide(newest, make_run(name="lint")) == verdict


def test_a_run_that_was_replaced_still_moves_the_settle_window():
    replaced = make_run(started_at=at(-9000), completed_at=at(-5))

    assert decide(replaced, make_run()) == ChecksVerdict(
        state=PENDING, settles_at=at(15)
    )


def test_without_a_settle_window_a_success_counts_at_once():
    run = make_run(completed_at=at(0))

    assert decide(run, settle=dt.timedelta(0)) == ChecksVerdict(state=SUCCESS)


def test_a_failure_does_not_wait_for_settling():
    assert decide(make_run("FAILURE", completed_at=at(0))) == ChecksVerdict(
        state=FAILURE, notes=("failed: build",)
    )


def test_notes_are_bounded():
    verdict = decide(*(make_run("FAILURE", name=f"job {n:03}") for n in range(200)))

    assert verdict == ChecksVerdict(
        state=FAILURE, notes=tuple(f"failed: job {n:03}" for n in range(20))
    )
