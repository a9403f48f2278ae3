from prwatch.domain.coverage import Coverage
from prwatch.domain.targets import Target
from tests.workspace_rows import make_repository, make_snapshot, make_watch


def test_a_finished_watch_goes_back_to_the_target_that_it_stood_for():
    fork = make_repository("fork", owner="me", name="hello", parent_node_id="R_hello")
    watch = make_watch(branch="fix", pr_number=12)
    coverage = Coverage(make_snapshot(repositories=[make_repository(), fork]))
    in_fork = Target(task_id="t", repository_id="fork", branch="fix")
    in_base = Target(task_id="t", repository_id="hello", branch="fix")
    elsewhere = Target(task_id="t2", repository_id="hello", branch="fix")
    other = Target(task_id="t", repository_id="hello", branch="fix-2")

    assert coverage.find_target(watch, [in_fork, elsewhere, other]) == in_fork
    assert coverage.find_target(watch, [in_base, in_fork]) == in_fork
    assert coverage.find_target(watch, [elsewhere, other]) is None
