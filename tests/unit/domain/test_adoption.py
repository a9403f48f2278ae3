import pytest

from prwatch.domain.adoption import Adoption, Adoptions, Reopening, plan_adoptions
from prwatch.domain.pull_request import PullRequestState, RepositoryName
from prwatch.domain.reference import Probe
from prwatch.domain.task import Origin
from tests.workspace_rows import (
    ARCHIVED_AT,
    NOW,
    make_link,
    make_repository,
    make_repository_watch,
    make_snapshot,
    make_task,
    make_task_pull_request,
    make_watch,
)

ALL = make_repository_watch()
ADOPTED = make_task(external_id="octo/hello#12", origin=Origin.ADOPTED)


def make_probe(number=12, **values):
    defaults = {
        "node_id": f"PR_{number}",
        "repository": RepositoryName("octo", "hello", "R_hello"),
        "fingerprint": "f",
        "state": PullRequestState.OPEN,
        "head_ref_name": "fix",
        "head_repository_id": "R_hello",
        "author": "mona",
        "is_busy": False,
    }
    return Probe(number=number, updated_at=NOW, **{**defaults, **values})


def adoption(probe, external_id="octo/hello#12", repository_id="hello"):
    return Adoptions(
        adopts=(
            Adoption(external_id=external_id, repository_id=repository_id, probe=probe),
        )
    )


def test_an_open_pull_request_becomes_a_task():
    probe = make_probe()

    planned = plan_adoptions(ALL, [probe, probe], make_snapshot(tasks=[]))

    assert planned == adoption(probe)
    assert str(planned) == "adopt octo/hello#12"


def test_a_listing_without_news_plans_nothing():
    planned = plan_adoptions(ALL, [], make_snapshot())

    assert planned.is_empty
    assert str(planned) == "nothing to do"


def test_a_pull_request_that_is_not_open_is_not_adopted():
    probe = make_probe(state=PullRequestState.CLOSED)

    assert plan_adoptions(ALL, [probe], make_snapshot()) == Adoptions()


@pytest.mark.parametrize(
    ("wanted", "author", "is_adopted"),
    [
        pytest.param("Mona", "mona", True, id="ignores case"),
        pytest.param("mona", "hubot", False, id="somebody else"),
        pytest.param("@me", "octocat", True, id="me"),
        pytest.param("@me", "mona", False, id="not me"),
        pytest.param("mona", None, False, id="deleted account"),
        pytest.param("", None, True, id="everybody"),
    ],
)
def test_only_the_wanted_author_is_adopted(wanted, author, is_adopted):
    probe = make_probe(author=author)

    planned = plan_adoptions(
        make_repository_watch(author=wanted),
        [probe],
        make_snapshot(tasks=[]),
        login="OctoCat",
    )

    assert planned == (adoption(probe) if is_adopted else Adoptions())


def test_without_a_login_nobody_is_me():
    planned = plan_adoptions(
        make_repository_watch(author="@me"), [make_probe(author=None)], make_snapshot()
    )

    assert planned == Adoptions()


@pytest.mark.parametrize(
    ("repositories", "repository_id"),
    [
        pytest.param([], "", id="no row"),
        pytest.param([make_repository(node_id="")], "hello", id="by name"),
        pytest.param([make_repository(name="old")], "hello", id="renamed"),
        pytest.param([make_repository(node_id="R_other")], "", id="name was reused"),
    ],
)
def test_the_repository_is_found_by_node_id_first(repositories, repository_id):
    probe = make_probe()
    everywhere = make_repository_watch(repository_id="")

    planned = plan_adoptions(
        everywhere, [probe], make_snapshot(repositories=repositories, tasks=[])
    )

    assert planned == adoption(probe, repository_id=repository_id)


@pytest.mark.parametrize(
    ("node_id", "is_adopted"),
    [
        pytest.param("R_hello", True, id="it is that repository"),
        pytest.param("", True, id="it was never asked"),
        pytest.param("R_other", False, id="its name was taken over"),
    ],
)
def test_only_the_watched_repository_is_adopted_from(node_id, is_adopted):
    probe = make_probe()
    snapshot = make_snapshot(repositories=[make_repository(node_id=node_id)], tasks=[])

    planned = plan_adoptions(ALL, [probe], snapshot)

    assert planned == (adoption(probe) if is_adopted else Adoptions())


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param({"watches": [make_watch(pr_number=12)]}, id="watched"),
        pytest.param({"links": [make_link(12)]}, id="linked"),
        pytest.param({"watches": [make_watch(branch="fix")]}, id="searched for"),
        pytest.param(
            {
                "repositories": [make_repository(node_id="")],
                "watches": [make_watch(branch="fix")],
            },
            id="searched for before the repository was asked",
        ),
        pytest.param(
            {"tasks": [make_task(external_id="Octo/Hello#12")]},
            id="a named task has that id",
        ),
        pytest.param(
            {
                "tasks": [ADOPTED],
                "task_pull_requests": [
                    make_task_pull_request(12, detached_at=ARCHIVED_AT)
                ],
            },
            id="detached from its adopted task",
        ),
    ],
)
def test_a_pull_request_of_a_live_task_is_not_adopted(rows):
    assert plan_adoptions(ALL, [make_probe()], make_snapshot(**rows)) == Adoptions()


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param({"watches": [make_watch(pr_number=13)]}, id="another number"),
        pytest.param(
            {"watches": [make_watch(branch="fix", repository_id="docs")]},
            id="searched for elsewhere",
        ),
        pytest.param(
            {"watches": [make_watch(branch="fix", head_repository="me/hello")]},
            id="searched for in a fork",
        ),
        pytest.param(
            {
                "tasks": [make_task(archived_at=ARCHIVED_AT)],
                "watches": [make_watch("w1", branch="fix"), make_watch(pr_number=12)],
                "links": [make_link(12)],
                "task_pull_requests": [make_task_pull_request(12)],
            },
            id="its task is archived",
        ),
        pytest.param(
            {"task_pull_requests": [make_task_pull_request(12)]},
            id="a named task had it once",
        ),
        pytest.param(
            {
                "tasks": [ADOPTED],
                "task_pull_requests": [make_task_pull_request(12, is_past=True)],
            },
            id="adopted before",
        ),
    ],
)
def test_a_pull_request_that_no_live_task_has_is_adopted(rows):
    probe = make_probe()

    assert plan_adoptions(ALL, [probe], make_snapshot(**rows)) == adoption(probe)


@pytest.mark.parametrize(
    ("head_repository_id", "is_taken"),
    [
        pytest.param("R_fork", True, id="from a fork"),
        pytest.param("R_hello", False, id="from the repository itself"),
    ],
)
def test_a_fork_that_was_never_asked_may_hold_the_branch(head_repository_id, is_taken):
    snapshot = make_snapshot(
        watches=[make_watch(branch="fix", head_repository="me/hello")]
    )
    probe = make_probe(head_repository_id=head_repository_id)

    planned = plan_adoptions(ALL, [probe], snapshot)

    assert planned == (Adoptions() if is_taken else adoption(probe))


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param({"tasks": [ADOPTED]}, id="adopted"),
        pytest.param({"links": [make_link(12)]}, id="linked"),
    ],
)
def test_a_reopened_pull_request_is_watched_again_by_its_task(rows):
    known = make_task_pull_request(12, state=PullRequestState.CLOSED)
    snapshot = make_snapshot(**rows, task_pull_requests=[known])
    probe = make_probe()

    planned = plan_adoptions(ALL, [probe], snapshot)

    task = snapshot.tasks[0]
    assert planned == Adoptions(
        reopens=(Reopening(task=task, known=known, probe=probe),)
    )
    assert str(planned) == f"watch #12 of {task.external_id} again"


def test_a_watched_pull_request_of_an_adopted_task_is_left_alone():
    snapshot = make_snapshot(
        tasks=[ADOPTED],
        watches=[make_watch(pr_number=12)],
        task_pull_requests=[make_task_pull_request(12)],
    )

    assert plan_adoptions(ALL, [make_probe()], snapshot) == Adoptions()
