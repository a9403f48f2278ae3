"""Reports about reviews and comments: who has said what, and what is news of it."""

import pytest

from tests.reports.acts import (
    comment,
    delete_user,
    dismiss,
    draft,
    nothing,
    ready,
    request,
    review,
    reviews,
    together,
)
from tests.reports.stage import PATHS, name_fields, read_row, tell

CHANGES = "CHANGES_REQUESTED"

VERDICTS = [
    # bredebjorhovd/comet-board#411
    ("G1 a refusal is dismissed", "none", [review("grace", CHANGES), dismiss(0)]),
    (
        "G1 one of two refusals is dismissed",
        "changes_requested",
        [review("grace", CHANGES), review("linus", CHANGES), dismiss(0)],
    ),
    (
        "G1 a refusal is dismissed beside an approval",
        "approved",
        [review("grace", CHANGES), review("linus"), dismiss(0)],
    ),
    (
        "G1 the reviewer is asked again after the dismissal",
        "pending",
        [review("grace", CHANGES), dismiss(0), request("grace")],
    ),
    # sipyourdrink-ltd/bernstein#6015
    (
        "G2 a dismissed approval wakes no older refusal",
        "none",
        [review("grace", CHANGES), review("grace"), dismiss(1)],
    ),
    (
        "G2 of three opinions the last is dismissed",
        "none",
        [review("grace"), review("grace", CHANGES), review("grace"), dismiss(2)],
    ),
    (
        "G2 what others said stands",
        "changes_requested",
        [review("linus", CHANGES), review("grace"), dismiss(1)],
    ),
    # palantir/policy-bot#119
    (
        "G3 a dismissed refusal wakes no older approval",
        "none",
        [review("grace"), review("grace", CHANGES), dismiss(1)],
    ),
    (
        "G3 an older dismissal changes nothing",
        "approved",
        [review("grace", CHANGES), review("grace"), dismiss(0)],
    ),
    # evergreen-ci/evergreen#6208, pascalgn/automerge-action#190
    ("G10 the approval is number 37", "approved", [reviews(36)]),
    ("G10 the approval is number 101", "approved", [reviews(100)]),
    (
        "G10 the refusal is number 231",
        "changes_requested",
        [reviews(230, last=CHANGES)],
    ),
    ("G10 none but comments", "none", [reviews(37, last="COMMENTED")]),
    # the words around them: who counts, and who does not
    ("G2 one refusal wins", "changes_requested", [review("a", CHANGES), review("b")]),
    ("G3 a comment is no opinion", "approved", [review("a"), review("a", "COMMENTED")]),
    ("G1 a team is asked", "pending", [request("core", "Team")]),
    (
        "G1 who is asked again keeps the opinion",
        "approved",
        [review("a"), request("a")],
    ),
]


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    ("verdict", "acts"), [pytest.param(*each[1:], id=each[0]) for each in VERDICTS]
)
async def test_all_reviews_have_one_verdict(tmp_path, verdict, acts, read_path):
    row, report = await read_row(tmp_path, *acts, read_path=read_path)

    assert row["review"] == verdict
    assert report.failures == []


DISMISSALS = [
    # bredebjorhovd/comet-board#411
    (
        "G1",
        [review("grace", CHANGES), dismiss(0)],
        [("none", "changes_requested"), ("changes_requested", "none")],
    ),
    # sipyourdrink-ltd/bernstein#6015
    (
        "G2",
        [review("grace", CHANGES), review("grace"), dismiss(1)],
        [
            ("none", "changes_requested"),
            ("changes_requested", "approved"),
            ("approved", "none"),
        ],
    ),
    # palantir/policy-bot#119
    (
        "G3",
        [review("grace"), review("grace", CHANGES), dismiss(1)],
        [
            ("none", "approved"),
            ("approved", "changes_requested"),
            ("changes_requested", "none"),
        ],
    ),
]


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    ("acts", "moves"), [pytest.param(*each[1:], id=each[0]) for each in DISMISSALS]
)
async def test_a_dismissal_is_told_although_nothing_is_appended(
    tmp_path, acts, moves, read_path
):
    told = await tell(tmp_path, *acts, read_path=read_path)

    assert [c[1:] for event in told for c in event if c[0] == "review"] == moves


LATE_SECONDS = [
    pytest.param(late, id=f"{row} {late} s late")
    for row, seconds in (("G6", (30, 90, 120)), ("G7", (0, 1, 70)))
    for late in seconds
]


# gabrielkoerich/orch#2095: the second is older than the first that was seen
# cubeplexai/cubeplex#109, arul28/ADE#183: both have the same second


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("late", LATE_SECONDS)
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(comment, id="comments"),
        pytest.param(
            lambda author, late=0: review(author, "COMMENTED", late=late),
            id="commenting reviews",
        ),
    ],
)
async def test_what_a_list_shows_late_is_told_once(tmp_path, make, late, read_path):
    told = await tell(
        tmp_path, make("linus"), make("ada", late=late), quiet=5, read_path=read_path
    )

    assert name_fields(told) == [("comments",), ("comments",)]


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("count", [2, 5, 19])
async def test_g7_many_comments_of_one_second_are_each_seen(tmp_path, count, read_path):
    """The first is seen alone; all others of that second appear after the look."""
    at = []

    def comment_then(world, one):
        at.append(at[0] if at else world.now())
        world.comment(one, f"reader-{len(at)}", created_at=at[0])

    told = await tell(
        tmp_path,
        comment_then,
        together(*[comment_then] * (count - 1)),
        read_path=read_path,
    )

    assert name_fields(told) == [("comments",), ("comments",)]


@pytest.mark.parametrize("read_path", PATHS)
async def test_g6_a_late_opinion_counts_by_its_own_time(tmp_path, read_path):
    """A refusal that appears after a newer approval of the same person is overtaken."""
    told = await tell(
        tmp_path,
        review("grace"),
        review("grace", CHANGES, late=80),
        read_path=read_path,
    )

    words = [c[2] for event in told for c in event if c[0] == "review"]
    assert words == ["approved"]


# microsoft/vscode-github-triage-actions#114


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    ("acts", "told"),
    [
        pytest.param([draft, ready, draft], [(False, True)], id="ends as a draft"),
        pytest.param([draft, ready, draft, ready], [], id="ends as it began"),
        pytest.param([draft] * 3, [(False, True)], id="said thrice"),
    ],
)
async def test_g11_what_toggles_between_two_looks_is_told_by_its_last_state(
    tmp_path, acts, told, read_path
):
    changes = await tell(tmp_path, together(*acts), read_path=read_path)

    moves = [c[1:] for event in changes for c in event if c[0] == "is_draft"]
    assert moves == told
    assert len(changes) == 1


async def test_g11_each_look_that_shows_another_state_tells_it(tmp_path):
    told = await tell(tmp_path, draft, ready, nothing, draft)

    assert [event[0][2] for event in told] == [True, False, True]


# an account that is deleted later takes no opinion with it


@pytest.mark.parametrize("read_path", PATHS)
async def test_g10_opinions_of_deleted_accounts_are_one_reviewer(tmp_path, read_path):
    row, _ = await read_row(
        tmp_path,
        review("grace"),
        review("linus", CHANGES),
        together(delete_user("grace"), delete_user("linus")),
        read_path=read_path,
    )

    assert row["review"] == "changes_requested"
    assert row["approvals"] == 0
