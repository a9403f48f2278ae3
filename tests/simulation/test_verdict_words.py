"""
The words that people are shown while a pull request lives, and no event beside them.

The names are reports of what other tools told wrongly, as `owner/name#number`.
"""

import datetime as dt

import pytest

from prwatch.app.command.needs import group_by_need
from prwatch.app.command.watch_listing import list_watches
from prwatch.app.command.workbench import Workbench
from prwatch.app.control.outlook import answer_outlook
from tests.product import MovedClock, list_changes, open_product
from tests.simulation.scenarios import make_world

HOUR = 3600.0


def open_bench(product):
    runtime = product.runtime
    return Workbench(
        config=runtime.config,
        surroundings=runtime.surroundings,
        database=runtime.database,
    )


async def show(product):
    """Return the words that lists and `watch show` have for the pull request."""
    (row,) = (await list_watches(open_bench(product), is_all=True)).watches
    return row.words


async def show_as_status(product):
    """Return them as `status` has them, with what the running process remembers."""
    (row,) = (await list_watches(open_bench(product))).watches
    answer = await answer_outlook(product.runtime, {})
    silent = {
        watch_id: dt.datetime.fromisoformat(since)
        for watch_id, since in answer["mergeable_unknown_since"].items()
    }
    (group,) = group_by_need([row], limit=1, silent=silent)
    return group.rows[0].words


@pytest.fixture
async def play(tmp_path):
    """Open a product that has seen the pull request once; give it with the world."""
    world, one = make_world(MovedClock())
    async with open_product(tmp_path, world) as product:
        await product.cycle()
        yield product, world, one


def green(world, one, **traits):
    world.set_check(one, "test", workflow="CI", conclusion="SUCCESS", **traits)


def approve(world, one):
    world.submit_review(one, "grace")


CASES = [
    pytest.param(
        lambda world, one: world.set_status(one, "ci/lint", "EXPECTED"),
        ("required_not_reported", "required but not reported: ci/lint, as of 0 s ago"),
        ("checks", "none", "pending"),
        id="kunchenguid/gh-axi#71",
    ),
    pytest.param(
        lambda world, one: world.set_check(
            one, "test", workflow="CI", conclusion="ACTION_REQUIRED"
        ),
        ("needs_approval", "1 of 1 needs approval: test"),
        ("checks", "none", "failure"),
        id="apache/magpie#112",
    ),
    pytest.param(
        lambda world, one: world.set_check(
            one, "old", workflow="CI", conclusion="STALE"
        ),
        ("stale", "1 stale: old, as of 0 s ago"),
        ("checks", "none", "pending"),
        id="a stale run",
    ),
    pytest.param(
        lambda world, one: (
            world.set_check(
                one, "job ${{ matrix.x }}", workflow="CI", conclusion="CANCELLED"
            ),
            green(world, one),
        ),
        ("settling", "all 1 passed, settling; 1 ignored (unexpanded matrix name), as of 0 s ago"),
        ("checks", "none", "pending"),
        id="wechuli/allcheckspassed#104",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("act", "words", "change"), CASES)
async def test_a_state_of_the_checks_has_its_word_and_one_event(
    play, act, words, change
):
    product, world, one = play
    product.clock.advance(50)
    act(world, one)

    told = await product.cycle(gap=10)

    assert list_changes(told) == [(change,)]
    assert (await show(product)).checks.as_json() == {
        "word": words[0],
        "text": words[1],
    }


async def test_no_checks_just_after_a_push_are_not_yet_any(play):
    """T0mSIlver/localvoxtral#107: red, because zero checks were read too early."""
    product, world, one = play
    green(world, one)
    await product.cycle()
    old, new = one.head.oid, world.push(one)

    told = await product.cycle(gap=30)
    early = await show(product)
    quiet = await product.cycle(gap=60)
    world.set_check(one, "test", workflow="CI")
    begun = await product.cycle(gap=10)

    assert list_changes(told) == [
        (("checks", "success", "none"), ("head_ref_oid", old, new))
    ]
    assert early.checks.as_json() == {
        "word": "not_yet_registered",
        "text": "not yet registered, after 30 s",
    }
    assert quiet == []
    assert list_changes(begun) == [(("checks", "none", "pending"),)]
    assert (await show(product)).checks.text == "running 1 of 1: test, as of 0 s ago"


async def test_no_checks_mean_not_yet_then_none_and_in_the_end_never(play):
    """Digital-Process-Tools/claude-supertool#586: one word for all of these."""
    product, world, one = play
    words = [(await show(product)).checks]
    told = await product.cycle(gap=2 * HOUR)
    words.append((await show(product)).checks)
    world.close(one)
    closed = await product.cycle()
    words.append((await show(product)).checks)

    assert [each.word.value for each in words] == [
        "not_yet_registered",
        "none_reported",
        "never_reported",
    ]
    assert words[1].text == "no check was reported in 2 h 1 min"
    assert told == []
    assert list_changes(closed) == [(("state", "OPEN", "CLOSED"),)]


async def test_an_armed_merge_that_never_happens_is_stuck_and_no_event(play):
    """ClickHouse/ClickHouse#98574: armed, green, and never enqueued."""
    product, world, one = play
    approve(world, one)
    green(world, one)
    world.arm_auto_merge(one, by="ada")
    await product.cycle()
    early = await show(product)
    with product.refused_writes():
        told = await product.cycles(61)
    late = await show(product)

    assert (early.merge.word, early.need) == ("armed", "green")
    assert told == []
    assert (late.merge.word, late.need) == ("stuck", "stuck")
    assert late.merge.text == (
        "stuck: auto-merge is armed with nothing in its way for 1 h 1 min"
    )
    world.disarm_auto_merge(one)
    assert list_changes(await product.cycle()) == [(("auto_merge", True, False),)]
    assert (await show(product)).need == "green"


async def test_a_comment_does_not_make_a_stuck_merge_wait_anew(play):
    product, world, one = play
    approve(world, one)
    green(world, one)
    world.arm_auto_merge(one, by="ada")
    await product.cycle()
    product.clock.advance(HOUR)
    world.comment(one, "linus", "Why is it not merged?")

    await product.cycle()

    assert (await show(product)).need == "stuck"


async def test_a_queue_that_throws_it_out_is_told_until_something_is_done(play):
    """vanillagreencom/kendex#1177: nine hours unnoticed."""
    product, world, one = play
    approve(world, one)
    green(world, one)
    world.enqueue(one)
    await product.cycle()
    queued = await show(product)
    world.dequeue(one)
    told = await product.cycle()
    product.clock.advance(1200)
    removed = await show(product)
    world.push(one)
    await product.cycle()

    assert (queued.merge.word, queued.need) == ("queued", "queued")
    assert list_changes(told) == [(("merge_queue", True, False),)]
    assert removed.need == "queue_removed"
    assert removed.merge.text == "left the merge queue without a merge, 20 min ago"
    assert (await show(product)).merge.word == "mergeable"


async def test_an_unknown_that_passes_is_no_event_and_a_conflict_is_one(play):
    """netresearch/git-workflow-skill#140 and conda-forge-webservices#67."""
    product, world, one = play
    with product.refused_writes():
        world.set_mergeable(one, "UNKNOWN")
        told = await product.cycle()
        between = await show_as_status(product)
        world.set_mergeable(one, "MERGEABLE")
        told += await product.cycle()
        world.set_mergeable(one, "UNKNOWN")
        told += await product.cycle()
    world.set_mergeable(one, "CONFLICTING")
    conflict = await product.cycle()

    assert told == []
    assert between.merge.word == "mergeable"
    assert list_changes(conflict) == [(("mergeable", "MERGEABLE", "CONFLICTING"),)]
    assert (await show(product)).merge.text == "conflicts with main"


async def test_what_stays_unknown_for_an_hour_is_shown_as_unknown(play):
    """rust-lang/triagebot#2154: UNKNOWN, for good."""
    product, world, one = play
    world.set_mergeable(one, "UNKNOWN")
    with product.refused_writes():
        told = await product.cycles(62)
        silent = await show_as_status(product)
        world.set_mergeable(one, "MERGEABLE")
        told += await product.cycle()
        again = await show_as_status(product)

    assert told == []
    assert silent.merge.as_json() == {
        "word": "unknown",
        "text": "unknown: GitHub has not said in 1 h 1 min whether it can be merged",
    }
    assert again.merge.word == "mergeable"


async def test_what_was_never_known_is_no_conflict(tmp_path):
    """conda-forge/conda-forge-webservices#67: null, told as a conflict."""
    world, one = make_world(MovedClock())
    world.set_mergeable(one, "UNKNOWN")
    async with open_product(tmp_path, world) as product:
        told = await product.cycle()
        early = await show(product)
        told += await product.cycle(gap=HOUR)
        late = await show(product)

    assert list_changes(told) == [(("associated", None, 12),)]
    assert (early.merge.word, late.merge.word) == ("worked_out", "unknown")


async def test_numbers_that_move_alone_are_never_written(play):
    product, world, one = play
    world.set_check(one, "a", workflow="CI")
    await product.cycle()
    watch = product.ask("SELECT id FROM pr_watches")[0]["id"]
    world.set_check(one, "b", workflow="CI")
    world.set_check(one, "c", workflow="CI", conclusion="SUCCESS")

    with product.refused_writes():
        told = await product.cycle()
    product.clock.advance(60)
    answer = await answer_outlook(product.runtime, {"watch": watch})

    assert told == []
    assert (await show(product)).checks.text == ("running 1 of 1: a, as of 2 min ago")
    assert answer["checks_summary"].startswith('{"total":3,"pending":2,')


@pytest.mark.parametrize("read_path", ["auto", "rest"])
async def test_checks_of_an_earlier_token_are_not_told_as_current(tmp_path, read_path):
    world, one = make_world(MovedClock())
    world.set_check(one, "test", workflow="CI", conclusion="FAILURE")
    poll = f'read_path = "{read_path}"'
    async with open_product(tmp_path, world, poll=poll) as product:
        await product.cycle()
        world.refuse_fields("CheckRun")
        told = await product.cycle(is_full=True)
        words = await show(product)

    assert told == []
    assert words.checks.word == "unreadable"
    assert words.checks.text.startswith("unreadable with this token since 2026-11-30")
    assert words.checks.text.endswith("; last known failure, 1 min ago")


@pytest.mark.parametrize("read_path", ["auto", "rest"])
async def test_checks_that_were_never_readable_say_so(tmp_path, read_path):
    """spatie/bloom#259: shown as no pull request, for want of one permission."""
    world, one = make_world(MovedClock())
    world.refuse_fields("CheckRun")
    world.set_check(one, "test", workflow="CI", conclusion="FAILURE")
    approve(world, one)
    poll = f'read_path = "{read_path}"'
    async with open_product(tmp_path, world, poll=poll) as product:
        await product.cycle()
        words = await show(product)
        world.push(one)
        await product.cycle()
        pushed = await show(product)

    assert (words.checks.word, words.review.word) == ("unreadable", "approved")
    assert pushed.checks.word == "unreadable"
