"""The verdict on facts, its reasons, and whether work gets on."""

import datetime as dt

import pytest

from prwatch.domain.circuit import CircuitKind
from prwatch.domain.health import (
    REMEDIES,
    SPACE_NEEDED,
    HealthFacts,
    LimitHealth,
    LoopHealth,
    Reason,
    ReasonCode,
    Verdict,
    judge,
)
from prwatch.domain.outcome import FailureClass
from tests.readings import NOON

OK, DEGRADED, FAILING = Verdict
AUTH, CONFIG, TRANSIENT, LIMIT = FailureClass
LATER = NOON + dt.timedelta(minutes=40)


def limit(bucket="graphql", *, is_reserve=False, accounts=1, until=LATER):
    return LimitHealth(
        bucket=bucket, is_reserve=is_reserve, accounts=accounts, until=until
    )


def told(**facts):
    """Return the reasons of these facts, each as its word, its weight and its count."""
    return [
        (reason.code.value, reason.verdict, reason.count)
        for reason in judge(HealthFacts(**facts)).reasons
    ]


def test_without_a_reason_all_is_well():
    health = judge(HealthFacts())

    assert (health.verdict, health.reasons, health.is_ready) == (OK, (), True)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param({"has_polled": False}, [("starting", DEGRADED, 1)], id="starting"),
        pytest.param(
            {"loops": {"relay": LoopHealth(count=3, stalled=2, is_vital=True)}},
            [("loop_stalled", FAILING, 2)],
            id="stalled loops",
        ),
        pytest.param(
            {
                "loops": {
                    "relay": LoopHealth(count=3, failing=2, is_vital=True),
                    "control": LoopHealth(count=1, failing=1),
                }
            },
            [("loop_failing", FAILING, 2)],
            id="failing loops that watch or tell",
        ),
        pytest.param(
            {"loops": {"control": LoopHealth(count=1, failing=1)}},
            [("loop_failing", DEGRADED, 1)],
            id="failing loop that does neither",
        ),
        pytest.param(
            {"is_writable": False}, [("store_unwritable", FAILING, 1)], id="store"
        ),
        pytest.param(
            {"free_bytes": SPACE_NEEDED - 1}, [("space_low", DEGRADED, 1)], id="disk"
        ),
        pytest.param({"free_bytes": SPACE_NEEDED}, [], id="disk with room"),
        pytest.param({"free_bytes": None}, [], id="disk that says nothing"),
        pytest.param(
            {"failures": {CONFIG: 7, TRANSIENT: 2}}, [], id="single references alone"
        ),
        pytest.param(
            {"lost_workspaces": {AUTH: 2}, "failures": {AUTH: 2}},
            [("token_refused", FAILING, 2)],
            id="refused tokens",
        ),
        pytest.param(
            {"lost_workspaces": {TRANSIENT: 2, CONFIG: 1}},
            [("github_unreachable", DEGRADED, 3)],
            id="unreachable and untrusted hosts",
        ),
        pytest.param(
            {"lost_organisations": 1},
            [("organisation_refused", DEGRADED, 1)],
            id="organisation",
        ),
        pytest.param(
            {
                "open_circuits": {
                    (CircuitKind.HOST, TRANSIENT): 1,
                    (CircuitKind.RECORD, CONFIG): 9,
                }
            },
            [("circuit_open", DEGRADED, 1)],
            id="circuit that no failure tells",
        ),
        pytest.param(
            {"open_circuits": {(CircuitKind.RECORD, CONFIG): 9}}, [], id="records alone"
        ),
        pytest.param(
            {
                "open_circuits": {(CircuitKind.WORKSPACE, AUTH): 1},
                "lost_workspaces": {AUTH: 1},
            },
            [("token_refused", FAILING, 1)],
            id="circuit and its failure",
        ),
        pytest.param(
            {"limits": (limit(), limit("core", accounts=3))},
            [("limit", DEGRADED, 3)],
            id="limits",
        ),
        pytest.param(
            {"limits": (limit(is_reserve=True),)},
            [("reserve", DEGRADED, 1)],
            id="reserve",
        ),
        pytest.param(
            {"lost_workspaces": {LIMIT: 2}}, [("limit", DEGRADED, 2)], id="ended limit"
        ),
        pytest.param(
            {"lost_workspaces": {LIMIT: 2}, "limits": (limit(),)},
            [("limit", DEGRADED, 1)],
            id="limit and what it stopped",
        ),
        pytest.param(
            {"failing_sinks": {"webhook": 2, "command": 1}},
            [("sink_failing", DEGRADED, 3)],
            id="sinks",
        ),
        pytest.param({"unexplained_stale": 4}, [("stale", FAILING, 4)], id="stale"),
        pytest.param(
            {"is_reload_refused": True}, [("reload_refused", DEGRADED, 1)], id="reload"
        ),
        pytest.param(
            {"unreadable_reviews": 2},
            [("review_watches_unreadable", DEGRADED, 2)],
            id="review watches",
        ),
        pytest.param(
            {"stretched": 1800, "refused_fields": 1},
            [("stretched", OK, 1800), ("fields_refused", OK, 1)],
            id="what is only worth to be known",
        ),
    ],
)
def test_each_fact_gives_its_reason(facts, expected):
    assert told(**facts) == expected


def test_the_worst_reason_is_the_verdict_and_comes_first():
    health = judge(
        HealthFacts(
            stretched=1,
            limits=(limit(),),
            lost_workspaces={AUTH: 1},
            failing_sinks={"webhook": 1},
        )
    )

    assert health.verdict is FAILING
    assert [reason.code.value for reason in health.reasons] == [
        "token_refused",
        "limit",
        "sink_failing",
        "stretched",
    ]


def test_a_limit_says_until_when():
    early = limit("core", until=NOON)
    (reason,) = judge(HealthFacts(limits=(limit(), early))).reasons

    assert reason == Reason(
        code=ReasonCode.LIMIT, verdict=DEGRADED, count=1, until=LATER
    )


@pytest.mark.parametrize("code", ReasonCode)
def test_every_reason_has_a_remedy_in_plain_words(code):
    remedy = Reason(code=code, verdict=OK).remedy

    assert remedy == REMEDIES[code]
    assert remedy.strip() == remedy != ""


@pytest.mark.parametrize(
    ("facts", "hindering"),
    [
        pytest.param({}, [], id="well"),
        pytest.param({"limits": (limit(),), "has_polled": False}, [], id="limited"),
        pytest.param({"lost_workspaces": {AUTH: 1}}, [], id="token refused"),
        pytest.param({"failing_sinks": {"webhook": 1}}, [], id="sink"),
        pytest.param({"unexplained_stale": 4}, [], id="stale"),
        pytest.param(
            {"loops": {"control": LoopHealth(count=1, failing=1)}},
            [],
            id="a loop that is not needed",
        ),
        pytest.param({"is_writable": False}, ["store_unwritable"], id="store"),
        pytest.param(
            {"loops": {"relay": LoopHealth(count=1, stalled=1, is_vital=True)}},
            ["loop_stalled"],
            id="stalled",
        ),
        pytest.param(
            {"loops": {"watch_cycle": LoopHealth(count=1, failing=1, is_vital=True)}},
            ["loop_failing"],
            id="failing",
        ),
    ],
)
def test_ready_is_whoever_gets_on_whatever_github_and_sinks_do(facts, hindering):
    health = judge(HealthFacts(**facts))

    assert health.is_ready is (hindering == [])
    assert [reason.code.value for reason in health.list_unready()] == hindering


def test_nobody_is_ready_before_every_loop_was_started():
    health = judge(HealthFacts(has_started=False))

    assert (health.is_ready, health.verdict) == (False, DEGRADED)
