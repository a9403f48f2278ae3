import pytest

from prwatch.config import list_desired, load_config
from prwatch.domain.desired import (
    DesiredCheckout,
    DesiredRepository,
    DesiredRepositoryWatch,
    DesiredSession,
    DesiredTask,
    DesiredWorkspace,
)

ACME = '[[workspace]]\nname = "acme"\n'


def build(entries):
    [workspace] = list_desired(
        load_config(f"{ACME}{entries}", environ={"HOME": "/home/me"}).config
    )
    return workspace


def make_repository(**changes):
    return DesiredRepository(**{"owner": "octo", "name": "hello", **changes})


@pytest.mark.parametrize(
    ("entry", "external_id", "repository"),
    [
        pytest.param(
            'repository = "octo/hello"\nbranch = "fix/login"',
            "octo/hello@fix/login",
            make_repository(branch="fix/login"),
            id="branch",
        ),
        pytest.param(
            'repository = "octo/hello"\nbranch = "B"\nhead = "me/hello"',
            "octo/hello@me/hello:B",
            make_repository(branch="B", head_repository="me/hello"),
            id="branch of a fork",
        ),
        pytest.param(
            'repository = "octo/hello"\nbranch = "B"\nhead = "Octo/Hello"',
            "octo/hello@B",
            make_repository(branch="B"),
            id="fork that is the repository itself",
        ),
        pytest.param(
            'repository = "octo/hello"\npull_request = 12',
            "octo/hello#12",
            make_repository(pull_request=12),
            id="pull request",
        ),
        pytest.param(
            'repository = "Octo/Hello"\nbranch = "B"',
            "octo/hello@B",
            make_repository(owner="Octo", name="Hello", branch="B"),
            id="other case",
        ),
    ],
)
def test_a_watch_of_one_thing_is_a_task(entry, external_id, repository):
    assert build(f"[[workspace.watch]]\n{entry}\n") == DesiredWorkspace(
        name="acme",
        tasks=(DesiredTask(external_id=external_id, repositories=(repository,)),),
    )


@pytest.mark.parametrize(
    ("entry", "watch"),
    [
        pytest.param(
            'repository = "octo/hello"\nall = true',
            DesiredRepositoryWatch(owner="octo", name="hello"),
            id="all of a repository",
        ),
        pytest.param(
            'repository = "octo/hello"\nauthor = "@me"',
            DesiredRepositoryWatch(owner="octo", name="hello", author="@me"),
            id="own ones of a repository",
        ),
        pytest.param(
            'author = "@me"', DesiredRepositoryWatch(author="@me"), id="own ones"
        ),
    ],
)
def test_a_watch_of_many_things_is_a_standing_adoption(entry, watch):
    assert build(f"[[workspace.watch]]\n{entry}\n") == DesiredWorkspace(
        name="acme", repository_watches=(watch,)
    )


def test_a_task_has_its_repositories_and_those_of_its_sessions():
    workspace = build(
        '[[workspace.task]]\nid = "T-1"\ntitle = "Fix the login"\n'
        'repositories = [{ repository = "octo/hello", branch = "fix/login" }]\n'
        '[[workspace.task.sessions]]\nid = "S-1"\ncheckouts = [\n'
        '  { repository = "octo/hello", branch = "fix/login" },\n'
        '  { repository = "octo/docs", worktree = "~/docs", head = "me/docs" },\n'
        "]\n"
    )

    assert workspace.tasks == (
        DesiredTask(
            external_id="T-1",
            title="Fix the login",
            repositories=(
                make_repository(branch="fix/login"),
                DesiredRepository(owner="octo", name="docs"),
            ),
            sessions=(
                DesiredSession(
                    id="S-1",
                    checkouts=(
                        DesiredCheckout(owner="octo", name="hello", branch="fix/login"),
                        DesiredCheckout(
                            owner="octo",
                            name="docs",
                            worktree_path="/home/me/docs",
                            head_repository="me/docs",
                        ),
                    ),
                ),
            ),
        ),
    )


def test_entries_with_one_id_are_one_task():
    workspace = build(
        '[[workspace.watch]]\nrepository = "octo/hello"\nbranch = "B"\n'
        '[[workspace.watch]]\nrepository = "OCTO/hello"\nbranch = "B"\n'
        '[[workspace.task]]\nid = "octo/hello@B"\ntitle = "Fix"\n'
        'repositories = [{ repository = "octo/docs", branch = "B" }]\n'
        'sessions = [{ id = "S-1" }]\n'
    )

    assert workspace.tasks == (
        DesiredTask(
            external_id="octo/hello@B",
            title="Fix",
            repositories=(
                DesiredRepository(owner="octo", name="docs", branch="B"),
                make_repository(branch="B"),
            ),
            sessions=(DesiredSession(id="S-1"),),
        ),
    )


def test_one_standing_adoption_is_asked_for_once():
    workspace = build(
        '[[workspace.watch]]\nrepository = "octo/hello"\nall = true\n'
        '[[workspace.watch]]\nrepository = "octo/hello"\nall = true\n'
    )

    assert workspace.repository_watches == (
        DesiredRepositoryWatch(owner="octo", name="hello"),
    )


def test_branches_that_differ_in_case_are_two_tasks():
    workspace = build(
        '[[workspace.watch]]\nrepository = "octo/hello"\nbranch = "b"\n'
        '[[workspace.watch]]\nrepository = "octo/hello"\nbranch = "B"\n'
    )

    assert [task.external_id for task in workspace.tasks] == [
        "octo/hello@b",
        "octo/hello@B",
    ]
