"""Reports about mergeability, merge queues, and servers that lack a field."""

import pytest

from tests.product import ALL, ONE, list_changes, open_product
from tests.reports.acts import check, mergeable, nothing, push, review
from tests.reports.altered_github import AlteredGitHub, walk
from tests.reports.stage import (
    BRANCH_OF_FORK,
    PATHS,
    configure,
    make_stage,
    read_row,
    tell,
)

CONFLICT = ("mergeable", "MERGEABLE", "CONFLICTING")
SOLVED = ("mergeable", "CONFLICTING", "MERGEABLE")

SERIES = [
    # netresearch/git-workflow-skill#140, bendrucker/claude#763
    ("H5 comes and goes", "UNKNOWN MERGEABLE", []),
    ("H5 comes and goes thrice", "UNKNOWN MERGEABLE " * 3, []),
    ("H5 a conflict after it", "UNKNOWN CONFLICTING", [CONFLICT]),
    ("H5 stays and then a conflict", "UNKNOWN UNKNOWN UNKNOWN CONFLICTING", [CONFLICT]),
    (
        "H5 a conflict that is solved across it",
        "CONFLICTING UNKNOWN MERGEABLE",
        [CONFLICT, SOLVED],
    ),
    ("H5 a conflict that it interrupts", "CONFLICTING UNKNOWN CONFLICTING", [CONFLICT]),
    # conda-forge/conda-forge-webservices#67
    ("H7 only ever null", "UNKNOWN", []),
    ("H7 a word of tomorrow", "PONDERING", []),
]


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    ("words", "told"), [pytest.param(*each[1:], id=each[0]) for each in SERIES]
)
async def test_mergeability_that_is_not_known_yet_is_no_news(
    tmp_path, words, told, read_path
):
    if read_path == "rest":
        words = words.replace("PONDERING", "UNKNOWN")  # its answers have no words

    changes = await tell(tmp_path, *map(mergeable, words.split()), read_path=read_path)

    assert changes == [(each,) for each in told]


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("word", ["UNKNOWN", "CONFLICTING", "MERGEABLE"])
async def test_h7_a_first_reading_without_it_is_no_baseline(tmp_path, word, read_path):
    row, _ = await read_row(tmp_path, mergeable(word), read_path=read_path)

    assert row["mergeable"] == (None if word == "UNKNOWN" else word)


@pytest.mark.parametrize("read_path", PATHS)
async def test_h7_unknown_at_first_and_then_known_is_no_news(tmp_path, read_path):
    world, one = make_stage()
    world.set_mergeable(one, "UNKNOWN")
    async with open_product(tmp_path, world, **configure(read_path)) as product:
        await product.cycle()
        world.set_mergeable(one, "MERGEABLE")
        known = await product.cycles(2, is_full=True)
        world.set_mergeable(one, "CONFLICTING")
        told = await product.cycles(2)

    assert known == []
    assert list_changes(told) == [(CONFLICT,)]


@pytest.mark.parametrize("read_path", PATHS)
async def test_h5_after_a_push_it_is_worked_out_anew_without_news(tmp_path, read_path):
    told = await tell(tmp_path, push(), nothing, nothing, read_path=read_path)

    assert [[c[0] for c in event] for event in told] == [["head_ref_oid"]]


# kubernetes/test-infra#16643


class LateLists:
    """Answers every list of pull requests as it was, while `is_on`."""

    def __init__(self):
        self.is_on = False
        self._kept = {}

    def __call__(self, answered):
        is_one = answered.operation.startswith(("Probe", "Details"))
        is_list = answered.path.endswith("/pulls") or answered.operation
        if is_one or not is_list or answered.status not in {200, 304}:
            return
        asked = answered.path, answered.query, answered.operation
        if self.is_on:
            answered.status, answered.body = 200, self._kept[asked]
            answered.headers.pop("etag", None)
        elif answered.status == 200:
            self._kept.setdefault(asked, answered.body)


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    "watches",
    [
        pytest.param([ALL], id="adopted"),
        pytest.param([ALL, ONE], id="named too"),
        pytest.param([BRANCH_OF_FORK], id="found by its branch"),
        pytest.param([ALL, BRANCH_OF_FORK], id="found by its branch too"),
    ],
)
async def test_h8_what_was_merged_stays_merged_whatever_a_list_shows(
    tmp_path, watches, read_path
):
    world, one = make_stage()
    late = LateLists()
    github = AlteredGitHub(world, late)
    options = {"watches": watches, "transport": github, **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycle()
        world.merge(one)
        late.is_on = True
        told = await product.cycles(30)
        late.is_on = False
        told += await product.cycles(3)
        rows = product.ask("SELECT DISTINCT state FROM task_pull_requests")

    tasks = len({event["data"]["task_id"] for event in told})
    assert list_changes(told) == [(("state", "OPEN", "MERGED"),)] * tasks
    assert tasks >= 1
    assert rows == [{"state": "MERGED"}]


# facebook/sapling#906, ejoffe/spr#356; cli/cli#6006; runatlantis/atlantis#5038

FIELDS = {
    "PullRequest.isInMergeQueue": "merge_queue",
    "PullRequest.reviewDecision": "review_decision",
    "PullRequest.statusCheckRollup": "checks",
    "PullRequest.autoMergeRequest": "auto_merge",
    "PullRequest.mergeable": "mergeable",
    "PullRequest.totalCommentsCount": "",
    "Repository.isArchived": "",
    "CheckSuite.workflowRun": "",
    "StatusCheckRollupContextConnection.checkRunCountsByState": "",
    "StatusCheckRollupContextConnection.statusContextCountsByState": "",
}
"""What old servers lack, and the column that cannot be read without it."""
LACKING = [
    *(
        pytest.param((name,), id=f"{'H11' if 'workflowRun' in name else 'H9'} {name}")
        for name in FIELDS
    ),
    pytest.param(tuple(FIELDS)[:4], id="H9 four at once"),
    pytest.param(tuple(FIELDS), id="H9+H10+H11 all at once"),
]


def make_old_server(names):
    world, one = make_stage()
    check(conclusion="SUCCESS")(world, one)
    review("grace")(world, one)
    world.clock.advance(120)
    for name in names:
        world.remove_field(*name.split("."))
    return world, one


@pytest.mark.parametrize(
    "watch", [ONE, ALL, BRANCH_OF_FORK], ids=["one", "all", "branch"]
)
@pytest.mark.parametrize("names", LACKING)
async def test_a_field_that_the_server_lacks_costs_that_field_alone(
    tmp_path, names, watch
):
    world, one = make_old_server(names)
    async with open_product(tmp_path, world, watches=[watch]) as product:
        told = await product.cycles(2)
        (row,) = product.ask("SELECT * FROM task_pull_requests")
        world.mark_draft(one)
        later = await product.cycles(2)

    lost = {FIELDS[name] for name in names} - {""}
    whole = {
        "checks": "success",
        "review": "approved",
        "review_decision": "APPROVED",
        "mergeable": "MERGEABLE",
        "merge_queue": 0,
        "auto_merge": 0,
    }
    expected = {k: None if k in lost else v for k, v in whole.items()}
    assert {name: row[name] for name in whole} == expected
    assert list_changes(told) == [(("associated", None, 12),)]
    assert list_changes(later) == [(("is_draft", False, True),)]
    assert product.report.failures == []


async def test_h10_a_decision_that_cannot_be_read_is_not_a_refusal(tmp_path):
    """It was known, goes away with the field, and comes back: no word of that."""
    world, _ = make_old_server(())
    async with open_product(tmp_path, world) as product:
        await product.cycles(2)
    world.remove_field("PullRequest", "reviewDecision")
    async with open_product(tmp_path, world) as product:
        gone = await product.cycles(2, is_full=True)
        (row,) = product.ask("SELECT review_decision FROM task_pull_requests")
    world.removed_fields = frozenset()
    async with open_product(tmp_path, world) as product:
        back = await product.cycles(2, is_full=True)

    assert (gone, back) == ([], [])
    assert row["review_decision"] == "APPROVED"


@pytest.mark.parametrize(
    ("member", "column", "known", "missing"),
    [
        ("isInMergeQueue", "merge_queue", 1, "absent"),
        ("isInMergeQueue", "merge_queue", 1, "null"),
        ("mergeable", "mergeable", "MERGEABLE", "absent"),
        ("mergeable", "mergeable", "MERGEABLE", "null"),
        # Its null is a word of GitHub's: no review is required.
        ("reviewDecision", "review_decision", "APPROVED", "absent"),
    ],
)
async def test_h10_a_member_that_an_answer_lacks_is_unknown(
    tmp_path, member, column, known, missing
):
    world, one = make_old_server(())
    world.enqueue(one)

    def alter(answered):
        for each in walk(answered.body):
            if member in each and missing == "absent":
                del each[member]
            elif member in each:
                each[member] = None

    github = AlteredGitHub(world)
    async with open_product(tmp_path, world, transport=github) as product:
        await product.cycles(2)
        github.alter = alter
        told = await product.cycles(3, is_full=True)
        (row,) = product.ask(f"SELECT {column} FROM task_pull_requests")

    assert told == []
    assert row[column] == known
