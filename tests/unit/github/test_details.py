"""Full readings through GraphQL: values, pages, and what a refused part touches."""

import datetime as dt

import pytest

from prwatch.domain.outcome import Forbidden, Found, NotFound, Retry, Unreadable
from prwatch.domain.pull_request import (
    UNOBSERVED,
    ChecksState,
    CommentItem,
    CommentMark,
    Mergeable,
    Observation,
    PullRequestState,
    RepositoryName,
    ReviewDecision,
    ReviewState,
)
from prwatch.domain.reference import PullRequestReference
from tests.github_answers import (
    HEAD,
    LAST_PAGE,
    NOW,
    ScriptedHost,
    make_node,
    make_rollup,
    make_run,
    plain,
    reply,
)

ONE = PullRequestReference(owner="octo", name="hello", number=1, node_id="PR_1")
BY_NUMBER = PullRequestReference(owner="octo", name="hello", number=1)


def at(hour, minute):
    return dt.datetime(2026, 11, 30, hour, minute, tzinfo=dt.UTC)


async def read(*nodes, errors=None, further=()):
    host = ScriptedHost(reply({"n0": list(nodes)}, errors=errors), *further)
    references = [
        PullRequestReference(
            owner="octo", name="hello", number=each, node_id=f"PR_{each}"
        )
        for each in range(1, len(nodes) + 1)
    ]
    return list((await host.connect().details(references)).values())


async def read_one(**changes):
    (outcome,) = await read(make_node(**changes))
    return outcome.value


async def test_a_full_reading_has_every_value():
    reading = await read_one()

    assert reading.observation == Observation(
        repository=RepositoryName("octo", "hello", "R_1"),
        number=1,
        node_id="PR_1",
        observed_at=NOW,
        checks_notes=reading.observation.checks_notes,
        state=PullRequestState.OPEN,
        updated_at=at(11, 30),
        created_at=at(10, 0),
        title="Say hello",
        url="https://github.example/octo/hello/pull/1",
        head_ref_oid=HEAD,
        head_ref_name="feature",
        base_ref_name="main",
        head_repository_id="R_1",
        author="alice",
        merged_by=None,
        is_archived=False,
        is_base_deleted=False,
        checks=ChecksState.SUCCESS,
        review=ReviewState.APPROVED,
        review_decision=None,
        mergeable=Mergeable.MERGEABLE,
        merge_queue=False,
        auto_merge=False,
        unresolved_threads=1,
        requested_reviewers=0,
        approvals=1,
        comment_mark=CommentMark((CommentItem(at(11, 20), "IC_1"),)),
    )


async def test_the_fingerprint_is_the_one_that_a_probe_would_have():
    reading = await read_one()

    github = ScriptedHost(reply({"n0": [make_node()]})).connect()
    probe = (await github.probe([ONE]))[ONE].value

    assert reading.fingerprint == probe.fingerprint


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        pytest.param({"headRepository": None}, "head_repository_id", None, id="deleted fork"),
        pytest.param({"author": None}, "author", None, id="ghost author"),
        pytest.param({"mergedBy": {"login": "bors[bot]"}}, "merged_by", "bors", id="bot"),
        pytest.param({"baseRef": None}, "is_base_deleted", True, id="base deleted"),
        pytest.param({"mergeable": "UNKNOWN"}, "mergeable", UNOBSERVED, id="unknown mergeability"),
        pytest.param({"mergeable": "CONFLICTING"}, "mergeable", Mergeable.CONFLICTING, id="conflict"),
        pytest.param({"reviewDecision": "APPROVED"}, "review_decision", ReviewDecision.APPROVED, id="decision"),
        pytest.param({"reviewDecision": "NEW_WORD"}, "review_decision", UNOBSERVED, id="decision of tomorrow"),
        pytest.param({"autoMergeRequest": {"enabledAt": None}}, "auto_merge", True, id="auto merge"),
        pytest.param({"statusCheckRollup": None}, "checks", ChecksState.NONE, id="nothing reported"),
        pytest.param({"title": "a\0b\ud800"}, "title", "ab\ufffd", id="title with rubbish"),
        pytest.param({"comments": {"nodes": []}}, "comment_mark", CommentMark(), id="no comments"),
        pytest.param(
            {"statusCheckRollup": make_rollup(state="EXPECTED")},
            "checks",
            ChecksState.PENDING,
            id="only expected checks",
        ),
        pytest.param(
            {"statusCheckRollup": make_rollup(make_run(), state="EXPECTED")},
            "checks",
            ChecksState.PENDING,
            id="green beside expected",
        ),
        pytest.param(
            {"statusCheckRollup": make_rollup(make_run(conclusion="FAILURE", at="2026-11-30T10:00:00Z"), make_run(), state="FAILURE")},
            "checks",
            ChecksState.SUCCESS,
            id="red rollup whose failure was made again",
        ),
        pytest.param(
            {"statusCheckRollup": make_rollup({"__typename": "StatusContext", "context": "ci", "state": "ERROR", "createdAt": None})},
            "checks",
            ChecksState.FAILURE,
            id="status context",
        ),
        pytest.param({"statusCheckRollup": make_rollup(make_run(conclusion=""))}, "checks", ChecksState.PENDING, id="empty conclusion"),
    ],
)  # fmt: skip
async def test_odd_values_are_read_for_what_they_are(changes, field, value):
    reading = await read_one(**changes)

    assert getattr(reading.observation, field) == value


@pytest.mark.parametrize(
    ("missing", "field"),
    [
        pytest.param("isInMergeQueue", "merge_queue", id="merge queue"),
        pytest.param("autoMergeRequest", "auto_merge", id="auto merge"),
        pytest.param("statusCheckRollup", "checks", id="rollup"),
        pytest.param("mergeable", "mergeable", id="mergeable"),
        pytest.param("reviewDecision", "review_decision", id="decision"),
        pytest.param("reviews", "review", id="reviews"),
        pytest.param("reviewRequests", "requested_reviewers", id="requests"),
        pytest.param("reviewThreads", "unresolved_threads", id="threads"),
        pytest.param("comments", "comment_mark", id="comments"),
        pytest.param("mergedBy", "merged_by", id="merged by"),
        pytest.param("baseRef", "is_base_deleted", id="base"),
    ],
)
async def test_a_field_that_an_old_server_lacks_is_unobserved(missing, field):
    node = make_node()
    del node[missing]

    (outcome,) = await read(node)

    assert getattr(outcome.value.observation, field) is UNOBSERVED
    assert outcome.value.fingerprint


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        pytest.param(["statusCheckRollup", "contexts", "nodes", 0], {"checks"}, id="check"),
        pytest.param(["reviews"], {"review", "approvals", "comment_mark"}, id="reviews"),
        pytest.param(["reviewRequests"], {"review", "approvals", "requested_reviewers"}, id="requests"),
        pytest.param(["reviewThreads"], {"unresolved_threads"}, id="threads"),
        pytest.param(["comments"], {"comment_mark"}, id="comments"),
        pytest.param(["isInMergeQueue"], {"merge_queue"}, id="queue"),
        pytest.param(["autoMergeRequest"], {"auto_merge"}, id="auto merge"),
        pytest.param(["reviewDecision"], {"review_decision"}, id="decision"),
        pytest.param(["mergedBy"], {"merged_by"}, id="merged by"),
        pytest.param(["baseRef"], {"is_base_deleted"}, id="base"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    ("kind", "is_last_word"),
    [
        pytest.param("FORBIDDEN", True, id="refused"),
        pytest.param("SERVICE_UNAVAILABLE", False, id="not now"),
    ],
)
async def test_a_lost_field_is_unobserved_and_touches_no_other(
    path, fields, kind, is_last_word
):
    whole, other = await read(make_node(1), make_node(2))
    lost, untouched = await read(
        make_node(1), make_node(2), errors=[{"type": kind, "path": ["n0", 0, *path]}]
    )

    differing = {
        name
        for name in Observation.__slots__
        if getattr(lost.value.observation, name)
        != getattr(whole.value.observation, name)
    }
    assert differing - {"checks_notes", "checks_summary"} == fields
    assert untouched == other
    assert bool(lost.value.fingerprint) is is_last_word


async def test_refused_checks_say_so():
    (outcome,) = await read(
        make_node(),
        errors=[{"type": "FORBIDDEN", "path": ["n0", 0, "statusCheckRollup"]}],
    )

    assert outcome.value.observation.checks_notes == (
        "checks are refused to this token: this token may not read it",
    )


async def test_checks_of_another_commit_are_dropped():
    reading = await read_one(statusCheckRollup=make_rollup(make_run(), oid="b" * 40))

    assert reading.observation.checks is UNOBSERVED
    assert reading.fingerprint == ""


async def test_a_verdict_that_settles_leaves_no_fingerprint():
    fresh = make_run(at="2026-11-30T11:59:50Z")

    reading = await read_one(statusCheckRollup=make_rollup(fresh))

    assert reading.observation.checks is ChecksState.PENDING
    assert reading.observation.settles_at == NOW + dt.timedelta(seconds=10)
    assert reading.fingerprint == ""


async def test_every_reference_has_its_own_outcome():
    outcomes = await read(
        make_node(1),
        None,
        None,
        {},
        make_node(5, state="HALF"),
        errors=[{"type": "NOT_FOUND", "path": ["n0", 1]}],
    )

    assert [type(each) for each in outcomes] == [
        Found, NotFound, Unreadable, Unreadable, Unreadable,
    ]  # fmt: skip


async def test_a_pull_request_without_node_id_is_asked_by_number():
    host = ScriptedHost(
        reply(
            {
                "r0": {"pullRequest": make_node()},
                "r1": None,
                "r2": {"pullRequest": None},
            },
            errors=[
                {"type": "FORBIDDEN", "path": ["r1"]},
                {"type": "NOT_FOUND", "path": ["r2", "pullRequest"]},
            ],
        )
    )
    others = [
        PullRequestReference(owner="walled", name="vault", number=7),
        PullRequestReference(owner="octo", name="hello", number=99),
    ]

    found = await host.connect().details([BY_NUMBER, *others])

    assert found[BY_NUMBER].value.observation.node_id == "PR_1"
    assert found[others[0]] == Forbidden("this token may not read it")
    assert isinstance(found[others[1]], NotFound)
    assert host.bodies[0]["variables"] == {
        "o0": "octo", "n0": "hello", "p0": 1,
        "o1": "walled", "n1": "vault", "p1": 7,
        "o2": "octo", "n2": "hello", "p2": 99,
    }  # fmt: skip


MORE = {"hasNextPage": True, "endCursor": "c1"}


def contexts(*nodes, page_info=LAST_PAGE, oid=HEAD):
    rollup = {
        "commit": {"oid": oid},
        "contexts": {"nodes": list(nodes), "pageInfo": page_info},
    }
    return reply({"node": {"statusCheckRollup": rollup}})


async def test_a_failure_on_the_second_page_of_contexts_is_seen():
    first = make_rollup(make_run(), page_info=MORE)

    (outcome,) = await read(
        make_node(statusCheckRollup=first),
        further=[contexts(make_run("late", "FAILURE"))],
    )

    assert outcome.value.observation.checks is ChecksState.FAILURE


async def test_an_approval_on_the_second_page_of_reviews_is_seen():
    review = {"id": "PRR_9", "state": "APPROVED", "submittedAt": "2026-11-30T11:00:00Z", "author": None}  # fmt: skip
    page = {"nodes": [review], "pageInfo": LAST_PAGE}
    threads = {"nodes": [{"isResolved": False}], "pageInfo": LAST_PAGE}

    (outcome,) = await read(
        make_node(
            reviews={"nodes": [], "pageInfo": MORE},
            reviewThreads={"nodes": [{"isResolved": True}], "pageInfo": MORE},
        ),
        further=[
            reply({"node": {"reviews": page}}),
            reply({"node": {"reviewThreads": threads}}),
        ],
    )

    assert outcome.value.observation.review is ReviewState.APPROVED
    assert outcome.value.observation.unresolved_threads == 1


@pytest.mark.parametrize(
    ("first", "further"),
    [
        pytest.param({"hasNextPage": True, "endCursor": None}, [], id="no cursor"),
        pytest.param(MORE, [contexts(make_run(), page_info=MORE)], id="the same cursor again"),
        pytest.param(MORE, [contexts(make_run(), oid="b" * 40)], id="another commit"),
        pytest.param(MORE, [contexts(None)], id="a null in it"),
        pytest.param(MORE, [reply({"node": None})], id="nothing"),
        pytest.param(
            MORE,
            [reply({"node": {"statusCheckRollup": None}}, errors=[{"type": "INTERNAL"}])],
            id="an error",
        ),
    ],
)  # fmt: skip
async def test_contexts_that_do_not_end_are_unobserved(first, further):
    rollup = make_rollup(make_run(), page_info=first)

    (outcome,) = await read(
        make_node(statusCheckRollup=rollup), further=further or [reply({})]
    )

    assert outcome.value.observation.checks is UNOBSERVED
    assert outcome.value.fingerprint == ""


async def test_a_further_page_that_fails_touches_only_its_pull_request():
    rollup = make_rollup(make_run(), page_info=MORE)

    outcomes = await read(
        make_node(1),
        make_node(2, statusCheckRollup=rollup),
        make_node(3),
        further=[plain(b"<html>", status=502)],
    )

    assert [type(each) for each in outcomes] == [Found, Retry, Found]


async def test_twenty_five_travel_in_one_request():
    host = ScriptedHost(lambda _: reply({"n0": []}))
    references = [
        PullRequestReference(owner="o", name="n", number=each, node_id=f"PR_{each}")
        for each in range(60)
    ]

    found = await host.connect().details(references)

    assert [len(each["variables"]["ids0"]) for each in host.bodies] == [25, 25, 10]
    assert len(found) == 60


async def test_contexts_without_an_end_are_cut():
    cursors = iter(range(100))
    rollup = make_rollup(make_run(), page_info=MORE)

    def answer(_):
        info = {"hasNextPage": True, "endCursor": f"d{next(cursors)}"}
        return contexts(make_run(), page_info=info)

    (outcome,) = await read(make_node(statusCheckRollup=rollup), further=[answer])

    assert outcome.value.observation.checks is UNOBSERVED
    assert next(cursors) == 50


async def test_bytes_that_are_no_text_touch_only_a_letter():
    whole = reply({"n0": [make_node(title="x?"), make_node(2)]}).content
    host = ScriptedHost(plain(whole.replace(b"x?", b"x\xff")))
    two = PullRequestReference(owner="o", name="n", number=2, node_id="PR_2")

    found = await host.connect().details([ONE, two])

    titles = [each.value.observation.title for each in found.values()]
    assert titles == ["x\ufffd", "Say hello"]
