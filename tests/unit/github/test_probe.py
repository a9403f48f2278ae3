import json

import pytest

from prwatch.domain.outcome import Forbidden, Found, NotFound, Retry, Unreadable
from prwatch.domain.pull_request import PullRequestState, RepositoryName
from prwatch.domain.reference import Probe, PullRequestReference, Usage
from prwatch.errors import ProviderUnavailable
from prwatch.github.probe import (
    FIELD_SIZE,
    NO_NODE_ID,
    STRANGE,
    ProbeMemory,
    group_by_id,
)
from tests.github_answers import (
    ScriptedHost,
    make_node,
    make_rollup,
    make_run,
    plain,
    reply,
)


def refer(*numbers):
    return [
        PullRequestReference(
            owner="octo", name="hello", number=each, node_id=f"PR_{each}"
        )
        for each in numbers
    ]


def answering(*nodes, errors=None):
    return ScriptedHost(lambda _: reply({"n0": list(nodes)}, errors=errors))


async def test_a_probe_says_what_decides_about_reading_more():
    github = answering(make_node(1)).connect()

    (outcome,) = (await github.probe(refer(1))).values()

    assert outcome == Found(
        Probe(
            node_id="PR_1",
            number=1,
            repository=RepositoryName("octo", "hello", "R_1"),
            fingerprint=outcome.value.fingerprint,
            state=PullRequestState.OPEN,
            updated_at=outcome.value.updated_at,
            head_ref_name="feature",
            head_repository_id="R_1",
            author="alice",
            is_busy=False,
            is_mergeable_known=True,
        )
    )
    assert len(outcome.value.fingerprint) == 15


async def test_unknown_mergeability_is_no_word_of_the_fingerprint():
    unread = make_node()
    del unread["mergeable"]

    unknown = await answering(make_node(mergeable="UNKNOWN")).connect().probe(refer(1))
    absent = await answering(unread).connect().probe(refer(1))

    assert unknown == absent


def make_checks(*conclusions, **facts):
    runs = [
        make_run(f"job {at}", conclusion) for at, conclusion in enumerate(conclusions)
    ]
    return make_rollup(*runs, **facts)


@pytest.mark.parametrize(
    ("changes", "is_same"),
    [
        pytest.param({"title": "Another"}, True, id="a title, which the probe does not read"),
        pytest.param({"statusCheckRollup": make_checks("SUCCESS", "SKIPPED")}, True, id="passed"),
        pytest.param({"statusCheckRollup": make_checks("FAILURE", state="FAILURE")}, False, id="failed"),
        pytest.param({"statusCheckRollup": make_checks("SUCCESS", None)}, False, id="running"),
        pytest.param({"statusCheckRollup": None}, False, id="no checks"),
        pytest.param({"statusCheckRollup": make_checks("SUCCESS", oid="b" * 40)}, False, id="other commit"),
        pytest.param({"headRefOid": "c" * 40}, False, id="push"),
        pytest.param({"updatedAt": "2026-11-30T11:31:00Z"}, False, id="update"),
        pytest.param({"isDraft": True}, False, id="draft"),
        pytest.param({"state": "MERGED"}, False, id="merged"),
        pytest.param({"mergeable": "CONFLICTING"}, False, id="conflict"),
        pytest.param({"reviewDecision": "APPROVED"}, False, id="decision"),
        pytest.param({"totalCommentsCount": 2}, False, id="comment"),
        pytest.param({"isInMergeQueue": True}, False, id="queue"),
        pytest.param({"autoMergeRequest": {"enabledAt": "2026-11-30T11:00:00Z"}}, False, id="auto merge"),
        pytest.param(
            {"repository": {"id": "R_1", "nameWithOwner": "octo/new", "isArchived": False}},
            False,
            id="rename",
        ),
    ],
)  # fmt: skip
async def test_the_fingerprint_moves_with_what_a_probe_sees(changes, is_same):
    before = await answering(make_node()).connect().probe(refer(1))
    after = await answering(make_node(**changes)).connect().probe(refer(1))

    fingerprints = [each[refer(1)[0]].value.fingerprint for each in (before, after)]
    assert (fingerprints[0] == fingerprints[1]) is is_same


@pytest.mark.parametrize(
    ("changes", "is_busy"),
    [
        pytest.param({"statusCheckRollup": make_checks("SUCCESS", None)}, True, id="check runs"),
        pytest.param({"statusCheckRollup": make_checks(state="EXPECTED")}, True, id="expected"),
        pytest.param({"statusCheckRollup": make_checks("SUCCESS", oid="b" * 40)}, True, id="checks lag"),
        pytest.param({"isInMergeQueue": True}, True, id="queued"),
        pytest.param({"statusCheckRollup": None}, False, id="no checks"),
        pytest.param(
            {"state": "MERGED", "statusCheckRollup": make_checks(None)}, False, id="merged"
        ),
    ],
)  # fmt: skip
async def test_what_changes_soon_is_busy(changes, is_busy):
    found = await answering(make_node(**changes)).connect().probe(refer(1))

    assert found[refer(1)[0]].value.is_busy is is_busy


async def test_an_answer_of_the_same_bytes_is_not_decoded():
    github = answering(make_node(1), make_node(2)).connect()

    first = await github.probe(refer(1, 2))
    second = await github.probe(refer(1, 2), decode={"PR_2"})

    one, two = refer(1, 2)
    assert second[one].value is first[one].value
    assert second[two].value is not first[two].value
    assert second == first


async def test_of_a_list_in_which_one_moved_the_others_are_the_same():
    nodes = [make_node(1), make_node(2)]
    github = ScriptedHost(lambda _: reply({"n0": nodes})).connect()
    one, two = refer(1, 2)

    first = await github.probe([one, two])
    again = await github.probe([one, two])
    nodes[1] = make_node(2, isDraft=True)
    moved = await github.probe([one, two])

    assert again[one].value is first[one].value
    assert again[two].value is first[two].value
    assert moved[one].value is first[one].value
    assert moved[two].value.fingerprint != first[two].value.fingerprint


async def test_a_list_that_was_answered_in_part_is_looked_at_again():
    fault = {"type": "NOT_FOUND", "path": ["n0", 1]}
    github = answering(make_node(1), None, errors=[fault]).connect()

    await github.probe(refer(1, 2))
    again = await github.probe(refer(1, 3))

    assert [type(each) for each in again.values()] == [Found, NotFound]


def test_whole_lists_are_remembered_for_the_newest_alone():
    memory = ProbeMemory(size=2 * FIELD_SIZE)
    for number in range(3):
        memory.keep_part([f"PR_{number}"], b"digest", [])

    kept = [memory.recall_part([f"PR_{number}"], b"digest") for number in range(3)]

    assert kept == [None, [], []]
    assert memory.recall_part(["PR_1", "PR_2"], b"digest") is None
    assert memory.recall_part(["PR_1"], b"other") is None


async def test_five_hundred_travel_in_one_request():
    def answer(request):
        asked = json.loads(request.content)["variables"]
        return reply(
            {
                f"n{at}": [make_node(int(each[3:])) for each in asked[f"ids{at}"]]
                for at in range(len(asked))
            }
        )

    host = ScriptedHost(answer)
    references = refer(*range(1, 621))

    found = await host.connect().probe(references)

    sizes = [[len(ids) for ids in each["variables"].values()] for each in host.bodies]
    assert sizes == [[100] * 5, [100, 20]]
    assert [found[each].value.number for each in references] == list(range(1, 621))


async def test_every_reference_has_its_own_outcome():
    github = answering(
        make_node(1),
        None,
        None,
        {},
        make_node(5, state="HALF"),
        make_node(6) | {"number": "six"},
        None,
        errors=[
            {"type": "NOT_FOUND", "path": ["n0", 1]},
            {"type": "FORBIDDEN", "path": ["n0", 6, "repository"]},
        ],
    ).connect()
    references = [*refer(1, 2, 3, 4, 5, 6, 7, 8)]

    found = await github.probe(references)

    assert [type(each) for each in found.values()] == [
        Found, NotFound, Unreadable, Unreadable, Unreadable, Unreadable, Forbidden, Unreadable,
    ]  # fmt: skip
    assert found[references[2]].code == "null"
    assert found[references[3]] == STRANGE


async def test_two_references_of_one_pull_request_cost_one():
    host = answering(make_node(1))
    renamed = PullRequestReference(owner="octo", name="new", number=1, node_id="PR_1")

    found = await host.connect().probe([*refer(1), renamed, *refer(1)])

    assert host.bodies[0]["variables"] == {"ids0": ["PR_1"]}
    assert found[renamed] is found[refer(1)[0]]


async def test_nothing_to_ask_sends_nothing():
    host = answering()

    assert await host.connect().probe([]) == {}
    nameless = PullRequestReference(owner="octo", name="hello", number=1)
    assert await host.connect().probe([nameless]) == {nameless: NO_NODE_ID}
    assert host.requests == []


async def test_a_limit_in_a_half_filled_answer_keeps_the_filled_half():
    github = answering(
        make_node(1), None, errors=[{"type": "RATE_LIMITED", "path": ["n0", 1]}]
    ).connect()

    found = await github.probe(refer(1, 2))

    assert [type(each) for each in found.values()] == [Found, Retry]
    assert github.limits.blocked_until("graphql") is not None


async def test_a_later_failure_loses_no_earlier_answer():
    host = ScriptedHost(
        lambda request: reply({f"n{at}": [None] * 100 for at in range(5)}),
        plain(b"<html>", status=503),
    )
    yielded = []

    async def walk():
        async for outcomes in host.connect().iter_probe(refer(*range(1, 502))):
            yielded.append(outcomes)  # noqa: PERF401 - the loop ends in an error

    with pytest.raises(ProviderUnavailable):
        await walk()

    assert [len(each) for each in yielded] == [500]


async def test_a_lone_surrogate_sinks_no_other():
    body = b'{"data":{"n0":[%s,%s]}}'
    nodes = [json.dumps(make_node(at, headRefName="x")).encode() for at in (1, 2)]
    nodes[1] = nodes[1].replace(
        b'"headRefName": "x"', b'"headRefName": "x\\ud800\\u0000"'
    )
    host = ScriptedHost(plain(body % tuple(nodes)))
    github = host.connect()

    found = await github.probe(refer(1, 2))

    assert [each.value.head_ref_name for each in found.values()] == ["x", "x\ufffd"]
    assert github._graph._transport.repaired_bodies == 1


async def test_asking_is_counted():
    body = {
        "n0": [make_node()],
        "rateLimit": {
            "cost": 3,
            "limit": 5000,
            "remaining": 12,
            "resetAt": "2026-11-30T12:30:00Z",
        },
    }
    github = ScriptedHost(lambda _: reply(body)).connect()

    await github.probe(refer(1))
    await github.probe(refer(1))

    usage = github.usage
    size = usage.body_bytes
    assert usage == Usage(graphql=2, points=6, body_bytes=size, equal_bytes=1)
    assert usage.body_bytes > 2_000
    assert github.limits.budgets["graphql"].remaining == 12


async def test_a_strange_budget_loses_no_answer():
    body = {"n0": [make_node()], "rateLimit": {"cost": "dear"}}

    found = await ScriptedHost(reply(body)).connect().probe(refer(1))

    assert isinstance(found[refer(1)[0]], Found)


async def test_a_rollup_without_contexts_is_probed_by_its_state():
    rollup = make_checks(state="PENDING") | {"contexts": None}

    found = (
        await answering(make_node(statusCheckRollup=rollup)).connect().probe(refer(1))
    )

    assert found[refer(1)[0]].value.is_busy


def test_the_memory_is_bounded_and_forgets_the_oldest():
    memory = ProbeMemory(size=2)
    found = [
        Found(
            Probe(
                node_id=f"PR_{at}",
                number=at,
                repository=RepositoryName("o", "n"),
                fingerprint="",
                state=PullRequestState.OPEN,
                updated_at=None,
                head_ref_name="",
                head_repository_id=None,
                author=None,
                is_busy=False,
            )
        )
        for at in range(3)
    ]

    for at, each in enumerate(found):
        memory.keep(bytes([at]), each)

    assert [memory.recall(bytes([at])) for at in range(3)] == [None, *found[1:]]


def test_thousands_without_a_node_id_are_grouped_without_comparing_all_of_them():
    without = [
        PullRequestReference(owner="octo", name="hello", number=number)
        for number in range(1, 30_001)
    ]
    known = PullRequestReference(owner="octo", name="hello", number=1, node_id="PR_1")
    moved = PullRequestReference(owner="octo", name="moved", number=1, node_id="PR_1")

    groups = group_by_id([*without, known, moved, known, *without])

    assert groups == {"PR_1": (known, moved), "": tuple(without)}
