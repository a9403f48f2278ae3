import pytest

from prwatch.domain.pull_request import PullRequestState
from prwatch.domain.reconcile import (
    Move,
    NewWatch,
    Plan,
    Removal,
    list_finished_links,
    plan,
)
from prwatch.domain.targets import Target, Targets
from prwatch.domain.task import Origin
from tests.workspace_rows import (
    ARCHIVED_AT,
    make_link,
    make_repository,
    make_snapshot,
    make_task,
    make_task_pull_request,
    make_watch,
    make_watermark,
)

FORK = make_repository(
    "fork",
    owner="me",
    name="hello",
    parent_node_id="R_hello",
    parent_name_with_owner="octo/hello",
)
GONE = "the branch is no longer targeted"


def on(*branches, held=(), session=(), head_repository=""):
    return Targets(
        targets=frozenset(
            Target(
                task_id="t",
                repository_id="hello",
                branch=branch,
                head_repository=head_repository,
                session_ids=tuple(session),
            )
            for branch in branches
        ),
        held=frozenset(held),
    )


def new(branch="", **values):
    return NewWatch(task_id="t", repository_id="hello", branch=branch, **values)


def test_a_new_target_gets_a_searching_watch():
    planned = plan(on("fix", session=["s1", "s2"]), make_snapshot())

    assert planned == Plan(creates=(new("fix", session_id="s1"),))


def test_an_unchanged_workspace_plans_nothing():
    snapshot = make_snapshot(watches=[make_watch(branch="fix")])

    planned = plan(on("fix"), snapshot)

    assert planned == Plan()
    assert planned.is_empty
    assert str(planned) == "nothing to do"


def test_a_renamed_branch_moves_its_watch():
    row = make_watch(branch="fix")

    planned = plan(on("fix-2"), make_snapshot(watches=[row]))

    assert planned == Plan(moves=(Move(watch=row, branch="fix-2"),))


def test_two_worktrees_that_swap_branches_plan_nothing():
    snapshot = make_snapshot(
        watches=[
            make_watch("w1", branch="a", session_id="s1"),
            make_watch("w2", branch="b", session_id="s2"),
        ]
    )
    swapped = Targets(
        targets=on("a", session=["s2"]).targets | on("b", session=["s1"]).targets
    )

    assert plan(swapped, snapshot) == Plan()


def test_moves_pair_by_session_first_and_then_in_order_of_id():
    first, second, third = (
        make_watch("w1", branch="a", session_id="s9"),
        make_watch("w2", branch="b", session_id="s1"),
        make_watch("w3", branch="c", session_id="s2"),
    )
    targets = Targets(
        targets=on("x", session=["s2"]).targets
        | on("y", session=["s1"]).targets
        | on("z").targets
    )

    planned = plan(targets, make_snapshot(watches=[third, first, second]))

    assert planned == Plan(
        moves=(
            Move(watch=second, branch="y"),
            Move(watch=third, branch="x"),
            Move(watch=first, branch="z"),
        )
    )


def test_a_watch_whose_session_came_to_a_watched_branch_merges_there():
    row = make_watch("w1", branch="a", session_id="s1")
    sibling = make_watch("w2", branch="b", session_id="s2")

    planned = plan(on("b", session=["s1", "s2"]), make_snapshot(watches=[row, sibling]))

    assert planned == Plan(moves=(Move(watch=row, branch="b", merges_into="w2"),))


def test_a_watch_that_is_no_longer_targeted_goes():
    row = make_watch(branch="fix")

    planned = plan(Targets(), make_snapshot(watches=[row]))

    assert planned == Plan(removes=(Removal(watch=row, reason=GONE),))


def test_what_is_left_over_after_moves_is_removed_or_created():
    old = [make_watch("w1", branch="a"), make_watch("w2", branch="b")]

    assert plan(on("c"), make_snapshot(watches=old)) == Plan(
        moves=(Move(watch=old[0], branch="c"),),
        removes=(Removal(watch=old[1], reason=GONE),),
    )
    assert plan(on("c", "d"), make_snapshot(watches=old[:1])) == Plan(
        moves=(Move(watch=old[0], branch="c"),), creates=(new("d"),)
    )


def test_a_held_place_keeps_its_watches_and_takes_new_ones():
    snapshot = make_snapshot(watches=[make_watch(branch="a")])

    planned = plan(on("b", held=[("t", "hello")]), snapshot)

    assert planned == Plan(creates=(new("b"),))


def test_a_watch_follows_its_branch_to_another_head_repository():
    row = make_watch(branch="fix")

    planned = plan(on("fix", head_repository="me/hello"), make_snapshot(watches=[row]))

    assert planned == Plan(
        moves=(Move(watch=row, branch="fix", head_repository="me/hello"),)
    )


def test_the_spelling_of_a_head_repository_is_no_change():
    row = make_watch(branch="fix", head_repository="Me/Hello")

    planned = plan(on("fix", head_repository="me/hello"), make_snapshot(watches=[row]))

    assert planned == Plan()


def test_the_watches_of_a_task_that_is_not_active_go():
    searching = make_watch("w1", branch="fix")
    discovered = make_watch("w2", pr_number=12)
    orphan = make_watch("w3", task_id="gone", pr_number=12)

    planned = plan(
        Targets(),
        make_snapshot(
            tasks=[make_task(archived_at=ARCHIVED_AT)],
            watches=[orphan, discovered, searching],
        ),
    )

    assert planned == Plan(
        removes=tuple(
            Removal(watch=row, reason="the task is not active")
            for row in (searching, discovered, orphan)
        )
    )


def test_a_discovered_watch_is_not_pointed_at_another_branch():
    row = make_watch(branch="fix", pr_number=12)

    planned = plan(on("fix-2"), make_snapshot(watches=[row]))

    assert planned == Plan(creates=(new("fix-2"),))


@pytest.mark.parametrize(
    ("row", "is_covered"),
    [
        pytest.param(make_watch(branch="fix", pr_number=12), True, id="not read yet"),
        pytest.param(
            make_watch(branch="fix", pr_number=12, watermark=make_watermark()),
            True,
            id="open",
        ),
        pytest.param(
            make_watch(
                branch="fix",
                pr_number=12,
                watermark=make_watermark(PullRequestState.CLOSED),
            ),
            False,
            id="closed",
        ),
        pytest.param(
            make_watch(branch="fix", pr_number=12, head_repository="me/hello"),
            False,
            id="another head",
        ),
        pytest.param(
            make_watch(branch="other", pr_number=12), False, id="other branch"
        ),
    ],
)
def test_an_open_discovered_watch_of_a_branch_covers_it(row, is_covered):
    planned = plan(on("fix"), make_snapshot(watches=[row]))

    assert planned == (Plan() if is_covered else Plan(creates=(new("fix"),)))


def test_a_linked_pull_request_covers_the_branch_that_it_has_as_head():
    snapshot = make_snapshot(
        watches=[make_watch(pr_number=12)],
        task_pull_requests=[make_task_pull_request(12, head_ref_name="fix")],
    )

    assert plan(on("fix"), snapshot) == Plan()


@pytest.mark.parametrize(
    "values",
    [
        pytest.param({"head_ref_name": "other"}, id="other branch"),
        pytest.param({"head_repository_id": "R_stranger"}, id="other head"),
        pytest.param({"head_repository_id": None}, id="deleted head"),
        pytest.param({"is_past": True}, id="archived since"),
    ],
)
def test_a_linked_pull_request_of_another_head_covers_nothing(values):
    snapshot = make_snapshot(
        watches=[make_watch(pr_number=12)],
        task_pull_requests=[make_task_pull_request(12, **values)],
    )

    assert plan(on("fix"), snapshot) == Plan(creates=(new("fix"),))


def test_a_pull_request_inside_the_fork_covers_the_branch():
    snapshot = make_snapshot(
        repositories=[make_repository(), FORK],
        watches=[
            make_watch(
                repository_id="fork",
                branch="fix",
                head_repository="me/hello",
                pr_number=3,
            )
        ],
    )

    assert plan(on("fix", head_repository="me/hello"), snapshot) == Plan()


@pytest.mark.parametrize(
    "fork",
    [
        pytest.param(FORK, id="by node id"),
        pytest.param(
            make_repository(
                "fork", owner="me", name="hello", parent_name_with_owner="Octo/Hello"
            ),
            id="by name",
        ),
    ],
)
def test_a_pull_request_in_the_parent_covers_a_branch_of_the_fork(fork):
    targets = Targets(
        targets=frozenset({Target(task_id="t", repository_id="fork", branch="fix")})
    )
    snapshot = make_snapshot(
        repositories=[make_repository(), fork],
        watches=[make_watch(branch="fix", pr_number=12)],
    )

    assert plan(targets, snapshot) == Plan()


def test_a_pull_request_in_an_unrelated_repository_covers_nothing():
    snapshot = make_snapshot(
        repositories=[make_repository(), make_repository("docs")],
        watches=[make_watch(repository_id="docs", branch="fix", pr_number=12)],
    )

    assert plan(on("fix"), snapshot) == Plan(creates=(new("fix"),))


@pytest.mark.parametrize(
    ("rows", "creates"),
    [
        pytest.param({}, (new(pr_number=12),), id="never read"),
        pytest.param(
            {"task_pull_requests": [make_task_pull_request(12)]},
            (new(pr_number=12),),
            id="open",
        ),
        pytest.param(
            {
                "task_pull_requests": [
                    make_task_pull_request(
                        12, state=PullRequestState.MERGED, is_past=True
                    )
                ]
            },
            (new(pr_number=12),),
            id="merged before the task was archived",
        ),
        pytest.param({"watches": [make_watch(pr_number=12)]}, (), id="watched"),
        pytest.param(
            {
                "task_pull_requests": [
                    make_task_pull_request(12, state=PullRequestState.MERGED)
                ]
            },
            (),
            id="merged",
        ),
        pytest.param(
            {
                "task_pull_requests": [
                    make_task_pull_request(12, state=PullRequestState.CLOSED)
                ]
            },
            (),
            id="closed",
        ),
        pytest.param(
            {
                "task_pull_requests": [
                    make_task_pull_request(12, detached_at=ARCHIVED_AT)
                ]
            },
            (),
            id="detached",
        ),
    ],
)
def test_a_link_begins_discovered_unless_it_is_settled(rows, creates):
    snapshot = make_snapshot(links=[make_link(12)], **rows)

    assert plan(Targets(), snapshot) == Plan(creates=creates)


def test_the_link_of_an_archived_task_plans_nothing():
    snapshot = make_snapshot(
        tasks=[make_task(archived_at=ARCHIVED_AT)], links=[make_link(12)]
    )

    assert plan(Targets(), snapshot) == Plan()


def test_a_plan_prints_its_steps():
    row = make_watch("w1", branch="a", session_id="s1")
    steps = Plan(
        removes=(Removal(watch=make_watch("w2", pr_number=7), reason="gone"),),
        moves=(
            Move(watch=row, branch="b", head_repository="me/hello"),
            Move(watch=row, branch="b", merges_into="w3"),
        ),
        creates=(new("fix"), new(pr_number=12)),
    )

    assert str(steps).splitlines() == [
        "remove w2, #7: gone",
        "move w1 from a to me/hello:b",
        "move w1 from a to b, merge into w3",
        "create fix in (t, hello)",
        "create #12 in (t, hello)",
    ]


def test_closed_links_are_listed_for_reading_again():
    closed = PullRequestState.CLOSED
    rows = [
        make_task_pull_request(1, state=closed),
        make_task_pull_request(2, state=PullRequestState.MERGED),
        make_task_pull_request(3),
        make_task_pull_request(4, state=closed, detached_at=ARCHIVED_AT),
        make_task_pull_request(5, state=closed, is_past=True),
        make_task_pull_request(6, state=closed),
        make_task_pull_request(7, task_id="old", state=closed),
        make_task_pull_request(8, task_id="adopted", state=closed),
    ]
    snapshot = make_snapshot(
        tasks=[
            make_task(),
            make_task("old", archived_at=ARCHIVED_AT),
            make_task("adopted", origin=Origin.ADOPTED),
        ],
        links=[
            *(make_link(number) for number in (1, 2, 3, 4, 5)),
            make_link(7, task_id="old"),
            make_link(8, task_id="adopted"),
        ],
        task_pull_requests=rows,
    )

    assert list_finished_links(snapshot) == (rows[0],)
