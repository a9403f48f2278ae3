"""When a review task goes by itself: the decision alone."""

import dataclasses
import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prwatch.domain.pull_request import PullRequestState
from prwatch.domain.review_cleanup import (
    Keep,
    Stand,
    SweptRow,
    SweptTask,
    find_keep,
    is_about,
    is_approved,
    is_as_decided,
    is_gone,
    judge,
    name_reason,
    without_opinion,
)
from prwatch.domain.review_hit import Opinion, ReviewFacts, find_end
from prwatch.domain.review_watch import (
    CleanupPolicy,
    ReviewedPullRequest,
    ReviewSettings,
    ReviewTask,
    ReviewWatch,
)
from prwatch.domain.task import Origin, Task

NOON = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
GRACE = dt.timedelta(minutes=5)
MINUTE = dt.timedelta(minutes=1)
ONE = ReviewedPullRequest(owner="octo", name="hello", number=1, node_id="PR_1")
MERGED = {"state": "MERGED", "merged_at": "2026-11-30T12:00:00.000000Z"}


def make_task(**changes):
    base = Task(
        id="t1",
        workspace_id="w1",
        external_id=ONE.external_id,
        origin=Origin.REVIEW,
        created_at=NOON,
    )
    return dataclasses.replace(base, **changes)


def make_row(row_id="r1", policy="auto", login="", is_watched=True, **changes):
    row = ReviewTask(
        id=row_id,
        workspace_id="w1",
        review_watch_id="v1" if is_watched else "",
        policy=CleanupPolicy(policy),
        pull_request=ONE,
        task_id="t1",
        reserved_at=NOON,
        reserved_by="me",
        created_at=NOON,
    )
    watch = ReviewWatch(
        id="v1",
        workspace_id="w1",
        name="mine",
        settings=ReviewSettings(policy=CleanupPolicy(policy), target_login=login),
        origin=Origin.CONFIG,
        revision=3,
        created_at=NOON,
    )
    row = dataclasses.replace(row, **changes)
    return SweptRow(row=row, watch=watch if is_watched else None)


def make_swept(*rows, task=None, **changes):
    base = SweptTask(
        workspace_id="w1",
        task_id="t1",
        task=task or make_task(),
        rows=rows or (make_row(),),
    )
    return dataclasses.replace(base, **changes)


def make_facts(**changes):
    base = ReviewFacts(
        pull_request=ONE,
        title="",
        url="",
        author=None,
        is_draft=False,
        state=PullRequestState.OPEN,
    )
    return dataclasses.replace(base, **changes)


OPEN = make_facts()
DONE = make_facts(state=PullRequestState.MERGED, merged_at=NOON)
APPROVED = make_facts(opinion=Opinion.APPROVED, submitted_at=NOON)


@pytest.mark.parametrize(
    ("swept", "keep"),
    [
        pytest.param(make_swept(), None, id="nothing"),
        pytest.param(make_swept(is_readable=False), Keep.UNREADABLE, id="a broken row"),
        pytest.param(make_swept(rows=()), Keep.UNREADABLE, id="no row"),
        pytest.param(make_swept(task_id=""), Keep.RESERVED, id="a reservation"),
        pytest.param(make_swept(make_row(policy="never")), Keep.NEVER, id="never"),
        pytest.param(
            make_swept(task=make_task(origin=Origin.COMMAND)),
            Keep.NOT_OURS,
            id="a person's",
        ),
        pytest.param(
            make_swept(task=make_task(person_wrote_at=NOON)),
            Keep.PERSON_WROTE,
            id="a person wrote",
        ),
        pytest.param(
            make_swept(task=make_task(waits_for="an answer")), Keep.WAITS, id="waits"
        ),
        pytest.param(
            make_swept(task=make_task(archived_at=NOON)), Keep.ARCHIVED, id="archived"
        ),
        pytest.param(
            make_swept(
                make_row(policy="always"),
                task=make_task(person_wrote_at=NOON, waits_for="x", archived_at=NOON),
            ),
            None,
            id="always",
        ),
        pytest.param(
            make_swept(make_row(policy="always"), make_row("r2", policy="never")),
            Keep.NEVER,
            id="the more cautious of two",
        ),
        pytest.param(
            make_swept(
                make_row(policy="never", is_watched=False), make_row(policy="always")
            ),
            Keep.NEVER,
            id="what a removed watch said",
        ),
    ],
)
def test_what_keeps_a_task(swept, keep):
    assert find_keep(swept) is keep


@pytest.mark.parametrize("policy", ["auto", "always", "never"])
def test_rows_go_whose_task_is_gone_unless_they_cannot_be_understood(policy):
    swept = make_swept(make_row(policy=policy))
    gone = dataclasses.replace(swept, task=None)

    assert is_gone(gone)
    assert not is_gone(swept)
    assert not is_gone(dataclasses.replace(gone, is_readable=False))
    assert not is_gone(dataclasses.replace(gone, task_id=""))


def test_a_row_is_swept_under_its_watch_or_by_itself():
    rows = (
        make_row(login="ada", target_login="old"),
        make_row("r2", is_watched=False),
        make_row("r3", is_watched=False, target_login="bob"),
    )

    assert [(r.login, r.revision) for r in rows] == [("ada", 3), ("", 0), ("bob", 0)]
    assert make_swept(*rows).logins == ("", "ada", "bob")


def judge_one(facts, *, at=0, took=0, seen=None, proof=None, grace=GRACE):
    row = make_row(
        terminal_seen_at=None if seen is None else NOON + dt.timedelta(minutes=seen),
        terminal_evidence=proof or {},
    )
    asked_at = NOON + dt.timedelta(minutes=at)
    return judge(
        make_swept(row),
        {"r1": facts},
        asked_at=asked_at,
        read_at=asked_at + dt.timedelta(minutes=took),
        grace=grace,
    )


@pytest.mark.parametrize(
    ("options", "stand"),
    [
        pytest.param({"facts": OPEN}, Stand.OPEN, id="open"),
        pytest.param(
            {"facts": make_facts(state=PullRequestState.MERGED)},
            Stand.OPEN,
            id="a state without its time",
        ),
        pytest.param({"facts": DONE}, Stand.SEEN, id="first"),
        pytest.param(
            {"facts": DONE, "seen": 0, "proof": MERGED, "at": 4.9},
            Stand.WAITS,
            id="too soon",
        ),
        pytest.param(
            {"facts": DONE, "seen": 0, "proof": MERGED, "at": 5}, Stand.DONE, id="again"
        ),
        pytest.param(
            {"facts": APPROVED, "seen": 0, "proof": MERGED, "at": 9},
            Stand.SEEN,
            id="another proof",
        ),
        pytest.param(
            {"facts": DONE, "seen": 9, "proof": MERGED, "at": 5},
            Stand.SEEN,
            id="the clock was set back",
        ),
        pytest.param(
            {"facts": OPEN, "seen": 0, "proof": MERGED, "at": 9},
            Stand.REOPENED,
            id="no longer",
        ),
        pytest.param(
            {"facts": DONE, "seen": 0, "proof": MERGED, "grace": dt.timedelta(0)},
            Stand.WAITS,
            id="one look counts once",
        ),
    ],
)
def test_one_reading_of_one_row(options, stand):
    assert judge_one(**options).stand is stand


def test_what_is_noted_and_until_when():
    seen = judge_one(DONE, at=1)
    waits = judge_one(DONE, seen=0, proof=MERGED, at=1)
    reopened = judge_one(OPEN, seen=0, proof=MERGED, at=1)
    done = judge_one(DONE, seen=0, proof=MERGED, at=5)

    at = NOON + dt.timedelta(minutes=1)
    assert (seen.rows, seen.until) == ((("r1", at, MERGED),), at + GRACE)
    assert (waits.rows, waits.until) == ((), NOON + GRACE)
    assert (reopened.rows, reopened.until) == ((("r1", None, {}),), None)
    assert (done.rows, done.done, done.until) == ((), {"r1": MERGED}, None)


def test_grace_runs_from_an_answer_to_the_next_question():
    slow = judge_one(DONE, at=0, took=3)
    back = judge_one(DONE, at=0, took=-60)
    early = judge_one(DONE, at=7.9, took=9, seen=3, proof=MERGED)

    assert slow.rows[0][1] == NOON + dt.timedelta(minutes=3)
    assert back.rows[0][1] == NOON
    assert early.stand is Stand.WAITS


@pytest.mark.parametrize(
    ("changes", "is_same"),
    [
        pytest.param({}, True, id="the same"),
        pytest.param({"owner": "new", "name": "home"}, True, id="renamed"),
        pytest.param({"repository_node_id": "R_2"}, True, id="a moved repository"),
        pytest.param({"node_id": "new"}, True, id="another form of id"),
        pytest.param({"number": 2}, False, id="another number"),
        pytest.param(
            {"node_id": "PR_2", "repository_node_id": "R_2"}, False, id="elsewhere"
        ),
        pytest.param(
            {"node_id": "PR_2", "repository_node_id": ""}, False, id="without a place"
        ),
    ],
)
def test_whose_reading_it_is(changes, is_same):
    pull_request = dataclasses.replace(ONE, repository_node_id="R_1")
    read = dataclasses.replace(pull_request, **changes)
    facts = dataclasses.replace(OPEN, pull_request=read)

    assert is_about(make_row(pull_request=pull_request).row, facts) == is_same
    if not changes.get("repository_node_id"):
        unplaced = dataclasses.replace(pull_request, repository_node_id="")
        same = is_same and "node_id" not in changes
        assert is_about(make_row(pull_request=unplaced).row, facts) == same


def test_a_task_is_done_when_each_of_its_rows_is():
    rows = (
        make_row("r1", terminal_seen_at=NOON, terminal_evidence=MERGED),
        make_row("r2"),
    )
    both = {"r1": DONE, "r2": DONE}
    now = NOON + GRACE

    judgement = judge(make_swept(*rows), both, asked_at=now, read_at=now, grace=GRACE)

    assert (judgement.stand, judgement.done) == (Stand.SEEN, {})
    assert [row[0] for row in judgement.rows] == ["r2"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([OPEN, DONE, APPROVED]),
            st.sampled_from([None, 0, 4, 9]),
            st.sampled_from([MERGED, {}, find_end(APPROVED)]),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_done_is_what_has_a_proof_of_each_row_seen_before(drawn):
    rows = [
        make_row(
            f"r{place}",
            terminal_seen_at=None if seen is None else NOON + seen * MINUTE,
            terminal_evidence=proof,
        )
        for place, (_, seen, proof) in enumerate(drawn)
    ]
    facts = {f"r{place}": each for place, (each, _, _) in enumerate(drawn)}
    now = NOON + 9 * MINUTE

    judgement = judge(make_swept(*rows), facts, asked_at=now, read_at=now, grace=GRACE)

    is_done = all(
        find_end(each) and find_end(each) == proof and seen in {0, 4}
        for each, seen, proof in drawn
    )
    assert (judgement.stand is Stand.DONE) == is_done
    assert judgement.done == (
        {key: find_end(each) for key, each in facts.items()} if is_done else {}
    )


def test_the_reason_follows_the_proof():
    approved = {"review": "APPROVED"}

    assert name_reason([MERGED, MERGED]) == "pr_merged_or_closed"
    assert name_reason([MERGED, approved]) == "pr_approved_by_user"
    assert is_approved(APPROVED)
    assert not is_approved(DONE)
    assert not is_approved(without_opinion(APPROVED))


def test_what_polling_notes_is_no_change_of_what_was_decided_on():
    before = make_swept()
    (row,) = before.rows
    polled = dataclasses.replace(row.watch, last_error="x", incomplete_since=NOON)
    edited = dataclasses.replace(row.watch, revision=4)

    def swap(watch):
        return make_swept(dataclasses.replace(row, watch=watch))

    assert is_as_decided(before, swap(polled))
    assert not is_as_decided(before, swap(edited))
    assert not is_as_decided(before, make_swept(task=make_task(title="x")))
    assert not is_as_decided(before, None)
