"""Reports about words for checks and merges: what people are shown beside the verdict."""

import pytest

from prwatch.domain.phrase import Known
from prwatch.domain.verdict_words import tell
from tests.product import list_changes, open_product
from tests.reports.acts import check, close, merge, nothing, push, status, together
from tests.reports.stage import PATHS, configure, explain, make_stage
from tests.simulation.test_verdict_words import green, show, show_as_status

HOUR = 3_600.0


def required(name, conclusion=None):
    return check(name, conclusion, is_required=True)


# kunchenguid/gh-axi#71 (F10), apache/magpie#112 (F11)

WORDS = [
    ("F10 expected", [status("ci", "EXPECTED")], "required_not_reported"),
    (
        "F10 expected beside green",
        [status("ci", "EXPECTED"), check(conclusion="SUCCESS")],
        "required_not_reported",
    ),
    ("F10 stale is another word", [check(conclusion="STALE")], "stale"),
    ("F11 waits for approval", [check(conclusion="ACTION_REQUIRED")], "needs_approval"),
    (
        "F11 waits for approval beside green",
        [check("a", "ACTION_REQUIRED"), check("b", "SUCCESS")],
        "needs_approval",
    ),
    (
        "F11 something failed as well",
        [together(check("a", "ACTION_REQUIRED"), check("b", "FAILURE"))],
        "failed",
    ),
    ("F15 just pushed", [check(conclusion="FAILURE"), push()], "not_yet_registered"),
    ("F17 just opened", [nothing], "not_yet_registered"),
    ("F17 closed", [close], "never_reported"),
    ("F17 merged", [merge], "never_reported"),
]


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    ("acts", "word"), [pytest.param(*each[1:], id=each[0]) for each in WORDS]
)
async def test_a_state_has_its_word_for_people(tmp_path, acts, word, read_path):
    world, one = make_stage()
    async with open_product(tmp_path, world, **configure(read_path)) as product:
        await product.cycle()
        for act in acts:
            world.clock.advance(10)
            act(world, one)
            await product.cycle(gap=30)
        words = await show(product)

    assert words.checks.word == word


# Digital-Process-Tools/claude-supertool#586


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    ("seconds", "word"),
    [
        (60, "not_yet_registered"),
        (500, "not_yet_registered"),
        (700, "none_reported"),
        (86_400, "none_reported"),
    ],
)
async def test_f17_not_yet_and_never_are_two_words(tmp_path, seconds, word, read_path):
    world, _ = make_stage()
    async with open_product(tmp_path, world, **configure(read_path)) as product:
        told = await product.cycle(gap=30)
        told += await product.cycle(gap=seconds)
        words = await show(product)

    assert words.checks.word == word
    assert list_changes(told) == [(("associated", None, 12),)]


# netresearch/git-workflow-skill#143


@pytest.mark.parametrize(
    ("acts", "word"),
    [
        pytest.param(
            [required("a", "SUCCESS"), check("b")], "optional_running", id="one runs"
        ),
        pytest.param(
            [required("a", "SUCCESS"), check("b"), check("c"), check("d", "SUCCESS")],
            "optional_running",
            id="two run",
        ),
        pytest.param(
            [required("a", "SUCCESS"), required("b")],
            "running",
            id="a required one runs",
        ),
        pytest.param(
            [check("a", "SUCCESS"), check("b")], "running", id="none required"
        ),
        pytest.param(
            [required("a", "FAILURE"), check("b")],
            "failed",
            id="the required one is red",
        ),
        pytest.param(
            [required("a", "SUCCESS"), check("b", "FAILURE")],
            "failed",
            id="an optional one is red",
        ),
    ],
)
async def test_f12_optional_checks_that_run_are_not_called_red(tmp_path, acts, word):
    world, one = make_stage()
    for act in acts:
        act(world, one)
    world.clock.advance(120)
    async with open_product(tmp_path, world) as product:
        told = await product.cycles(3)
        live = await explain(product)
        known = Known(observation=live.observation, now=world.clock.now(), is_live=True)
        words = tell(known)

    assert words.checks.word == word
    assert list_changes(told) == [(("associated", None, 12),)]


# ClickHouse/ClickHouse#98574


def arm(world, one):
    world.arm_auto_merge(one, by="ada")


def make_ready(world, one):
    world.submit_review(one, "grace")
    green(world, one)
    arm(world, one)


STUCK = [
    ("ready and armed for an hour", make_ready, nothing, 62, "stuck"),
    ("ready and armed for half an hour", make_ready, nothing, 30, "armed"),
    ("in the queue", make_ready, lambda w, o: w.enqueue(o), 62, "queued"),
    (
        "in conflict",
        make_ready,
        lambda w, o: w.set_mergeable(o, "CONFLICTING"),
        62,
        "conflicting",
    ),
    ("a check runs", make_ready, check("more"), 62, "armed"),
    ("a check is red", make_ready, check("more", "FAILURE"), 62, "armed"),
    ("disarmed", make_ready, lambda w, o: w.disarm_auto_merge(o), 62, "mergeable"),
    ("merged after all", make_ready, merge, 62, "merged"),
    ("a draft", make_ready, lambda w, o: w.mark_draft(o), 62, "armed"),
    ("no review yet", lambda w, o: (green(w, o), arm(w, o)), nothing, 62, "armed"),
]


@pytest.mark.parametrize(
    ("begin", "act", "minutes", "word"),
    [pytest.param(*each[1:], id=f"H3 {each[0]}") for each in STUCK],
)
async def test_what_is_armed_and_never_merged_is_stuck_and_no_event(
    tmp_path, begin, act, minutes, word
):
    world, one = make_stage()
    async with open_product(tmp_path, world) as product:
        await product.cycle()
        begin(world, one)
        await product.cycles(2)
        act(world, one)
        await product.cycles(2)
        later = await product.cycles(minutes)
        words = await show(product)

    assert words.merge.word == word
    assert later == []


# rust-lang/triagebot#2154


@pytest.mark.parametrize("read_path", PATHS)
async def test_h6_what_stays_unknown_is_shown_so_and_asked_no_oftener(
    tmp_path, read_path
):
    costs, words = [], []
    for state in ("MERGEABLE", "UNKNOWN"):
        world, one = make_stage()
        folder = tmp_path / state
        folder.mkdir()
        async with open_product(folder, world, **configure(read_path)) as product:
            await product.cycles(2)
            world.set_mergeable(one, state)
            world.requests.clear()
            told = await product.cycles(90, is_forced=False)
            costs.append(len(world.requests))
            words.append((await show_as_status(product)).merge.word)
        assert told == []

    assert words == ["mergeable", "unknown"]
    # Through REST the answer without it is another one, once.
    assert costs[1] <= costs[0] + 1
