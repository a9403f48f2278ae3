import pytest

from prwatch.domain.targets import (
    OnBranch,
    Target,
    Targets,
    UnknownBranch,
    list_readings,
    resolve_targets,
)
from tests.workspace_rows import (
    ARCHIVED_AT,
    make_checkout,
    make_repository,
    make_session,
    make_snapshot,
    make_task,
    make_task_repository,
)

PLACE = ("t", "hello")
TREE = ("s", "hello", "/src/a")
OTHER_TREE = ("s2", "hello", "/src/b")


def target(branch="fix", *sessions, head_repository=""):
    return Target(
        task_id="t",
        repository_id="hello",
        branch=branch,
        head_repository=head_repository,
        session_ids=sessions,
    )


def two_worktrees(**rows):
    return make_snapshot(
        sessions=[make_session("s"), make_session("s2")],
        checkouts=[
            make_checkout("s", worktree_path="/src/a"),
            make_checkout("s2", worktree_path="/src/b"),
        ],
        **rows,
    )


def test_the_recorded_branch_of_a_session_wins_over_all_else():
    snapshot = make_snapshot(
        task_repositories=[make_task_repository("other")],
        sessions=[make_session("s"), make_session("s2")],
        checkouts=[
            make_checkout("s", branch="fix"),
            make_checkout("s2", worktree_path="/src/b"),
        ],
    )

    resolved = resolve_targets(snapshot, {OTHER_TREE: OnBranch("third")})

    assert resolved == Targets(targets=frozenset({target("fix", "s")}))
    assert list_readings(snapshot) == ()


def test_an_ended_session_counts():
    snapshot = make_snapshot(
        sessions=[make_session("s", ended_at=ARCHIVED_AT)],
        checkouts=[make_checkout("s", branch="fix")],
    )

    assert resolve_targets(snapshot, {}).targets == {target("fix", "s")}


def test_a_task_without_sessions_is_watched_on_its_repositorys_branch():
    snapshot = make_snapshot(task_repositories=[make_task_repository("fix")])

    assert resolve_targets(snapshot, {}) == Targets(targets=frozenset({target("fix")}))


def test_worktrees_are_read_live_when_no_branch_is_recorded():
    snapshot = two_worktrees(task_repositories=[make_task_repository("")])
    readings = {TREE: OnBranch("fix"), OTHER_TREE: OnBranch("more", "me/hello")}

    resolved = resolve_targets(snapshot, readings)

    assert list_readings(snapshot) == (TREE, OTHER_TREE)
    assert resolved == Targets(
        targets=frozenset(
            {target("fix", "s"), target("more", "s2", head_repository="me/hello")}
        )
    )


def test_a_remote_that_keeps_a_former_name_is_no_fork():
    snapshot = make_snapshot(
        sessions=[make_session("s")],
        checkouts=[make_checkout("s", worktree_path="/src/a", written_as="octo/old")],
    )
    readings = {TREE: OnBranch("fix", "Octo/Old")}

    assert resolve_targets(snapshot, readings) == Targets(
        targets=frozenset({target("fix", "s")})
    )


def test_a_worktree_of_another_repository_is_never_used():
    snapshot = make_snapshot(
        repositories=[make_repository(), make_repository("docs")],
        task_repositories=[make_task_repository()],
        sessions=[make_session("s")],
        checkouts=[make_checkout("s", repository_id="docs", worktree_path="/src/a")],
    )
    reading = {("s", "docs", "/src/a"): OnBranch("fix")}

    resolved = resolve_targets(snapshot, reading)

    assert {target.repository_id for target in resolved.targets} == {"docs"}


def test_fifty_sessions_on_one_branch_are_one_target():
    names = [f"s{number:02}" for number in range(50)]
    snapshot = make_snapshot(
        sessions=[make_session(name) for name in names],
        checkouts=[make_checkout(name, branch="fix") for name in names],
    )

    resolved = resolve_targets(snapshot, {})

    assert resolved.targets == {target("fix", *names)}
    assert next(iter(resolved.targets)).session_id == "s00"


@pytest.mark.parametrize(
    "readings",
    [
        pytest.param({TREE: OnBranch("fix")}, id="not read"),
        pytest.param(
            {TREE: OnBranch("fix"), OTHER_TREE: UnknownBranch("rebase")}, id="rebase"
        ),
        pytest.param(
            {TREE: OnBranch("fix"), OTHER_TREE: OnBranch("main")}, id="default branch"
        ),
    ],
)
def test_an_unknown_worktree_gives_no_target_and_holds_its_repository(readings):
    resolved = resolve_targets(two_worktrees(), readings)

    assert resolved == Targets(
        targets=frozenset({target("fix", "s")}), held=frozenset({PLACE})
    )


@pytest.mark.parametrize("branch", ["main", "master"])
def test_the_usual_default_branches_are_held_until_the_real_one_is_known(branch):
    snapshot = make_snapshot(
        repositories=[make_repository(default_branch="")],
        task_repositories=[make_task_repository(branch)],
    )

    assert resolve_targets(snapshot, {}) == Targets(
        held=frozenset({PLACE}), unsettled=frozenset({"hello"})
    )


def test_an_unknown_default_branch_does_not_hold_other_branches():
    snapshot = make_snapshot(
        repositories=[], task_repositories=[make_task_repository("fix")]
    )

    assert resolve_targets(snapshot, {}) == Targets(targets=frozenset({target("fix")}))


def test_main_is_a_branch_like_any_other_where_the_default_is_another():
    snapshot = make_snapshot(
        repositories=[make_repository(default_branch="develop")],
        task_repositories=[make_task_repository("main")],
    )

    assert resolve_targets(snapshot, {}).targets == {target("main")}


def test_a_default_branch_recorded_with_its_fork_is_a_target():
    snapshot = make_snapshot(
        task_repositories=[make_task_repository("main", head_repository="me/hello")]
    )

    assert resolve_targets(snapshot, {}) == Targets(
        targets=frozenset({target("main", head_repository="me/hello")})
    )


def test_a_recorded_default_branch_holds_and_the_next_source_is_asked():
    snapshot = make_snapshot(
        task_repositories=[make_task_repository("fix")],
        sessions=[make_session("s")],
        checkouts=[make_checkout("s", branch="main")],
    )

    assert resolve_targets(snapshot, {}) == Targets(
        targets=frozenset({target("fix")}), held=frozenset({PLACE})
    )


def test_a_head_that_is_the_repository_itself_is_not_a_fork():
    snapshot = make_snapshot(
        task_repositories=[make_task_repository("fix", head_repository="Octo/Hello")]
    )

    assert resolve_targets(snapshot, {}).targets == {target("fix")}


def test_a_named_fork_wins_over_none_when_sources_collapse():
    snapshot = make_snapshot(
        sessions=[make_session("s"), make_session("s2")],
        checkouts=[
            make_checkout("s2", branch="fix", head_repository="me/hello"),
            make_checkout("s", branch="fix"),
        ],
    )

    assert resolve_targets(snapshot, {}).targets == {
        target("fix", "s", "s2", head_repository="me/hello")
    }


def test_archived_tasks_and_rows_without_a_task_give_nothing():
    snapshot = make_snapshot(
        tasks=[make_task(archived_at=ARCHIVED_AT)],
        task_repositories=[
            make_task_repository("fix"),
            make_task_repository("fix", task_id="gone"),
        ],
        sessions=[make_session("s"), make_session("s2", task_id="gone")],
        checkouts=[
            make_checkout("s", branch="fix", worktree_path="/src/a"),
            make_checkout("nobody", branch="fix"),
        ],
    )

    assert resolve_targets(snapshot, {}) == Targets()
    assert list_readings(snapshot) == ()
