"""What GitHub says of a folder and its files, and what proves that one is gone."""

import datetime as dt

import httpx
import pytest

from prwatch.domain.watch_file import WatchFolder
from prwatch.errors import PermissionDenied, ProviderUnavailable, ResourceGone
from prwatch.github.client import Endpoints, GitHub
from prwatch.github.credentials import TokenCredential
from prwatch.simulator import DEFAULT_TOKEN, GitHubApp, World
from prwatch.telemetry.secret import Secret
from tests.github_answers import ScriptedHost, plain
from tests.product import MovedClock

FOLDER = WatchFolder(
    id="f1", workspace_id="w1", repository="octo/team", path="lists/prwatch"
)
TEXT = "[[watch]]\nrepository = 'octo/hello'\n"


@pytest.fixture
def world():
    world = World(MovedClock())
    world.add_repository("octo/team")
    world.write_file("octo/team", "README.md", "hello")
    world.write_file("octo/team", "lists/prwatch/a.toml", TEXT)
    return world


@pytest.fixture
async def contents(world):
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(GitHubApp(world))
    ) as http:
        yield GitHub(
            http,
            TokenCredential(Secret(DEFAULT_TOKEN), source="test"),
            endpoints=Endpoints(
                "https://api.github.com", "https://api.github.com/graphql"
            ),
            clock=world.clock,
            settle=dt.timedelta(0),
        ).contents


async def test_a_folder_and_its_files_are_read(world, contents):
    world.write_file("octo/team", "lists/prwatch/below/c.toml", "deeper")

    found = await contents.list_folder(FOLDER)
    read = await contents.fetch_file(FOLDER, "a.toml")

    assert [(each.name, each.is_file) for each in found.files] == [
        ("a.toml", True),
        ("below", False),
    ]
    assert read.content.decode() == TEXT
    assert read.blob == found.files[0].blob


async def test_an_unchanged_folder_is_told_by_its_tag_and_a_changed_one_not(
    world, contents
):
    first = await contents.list_folder(FOLDER)

    assert (await contents.list_folder(FOLDER, tag=first.tag)).files is None

    world.write_file("octo/team", "lists/prwatch/a.toml", "other")
    assert (await contents.list_folder(FOLDER, tag=first.tag)).files is not None


async def test_another_branch_is_read_where_it_is_named(world, contents):
    there = WatchFolder(
        id="f", workspace_id="w", repository="octo/team", branch="a b", path=""
    )
    world.write_file("octo/team", "é&x.yml", "new", branch="a b")

    assert [each.name for each in (await contents.list_folder(there)).files] == [
        "é&x.yml"
    ]
    assert (await contents.fetch_file(there, "é&x.yml")).content == b"new"


@pytest.mark.parametrize("depth", ["whole", "part"])
async def test_a_folder_is_gone_where_the_one_above_lacks_it(world, contents, depth):
    if depth == "part":
        world.write_file("octo/team", "lists/other", "kept")
    world.remove_file("octo/team", "lists/prwatch/a.toml")

    found = await contents.list_folder(FOLDER)

    assert (found.files, found.is_there, found.tag) == ((), False, "")


@pytest.mark.parametrize("path", ["", "lists/prwatch"])
async def test_a_repository_that_is_not_seen_proves_nothing(world, contents, path):
    world.set_token(DEFAULT_TOKEN, repositories=())
    folder = WatchFolder(id="f", workspace_id="w", repository="octo/team", path=path)

    with pytest.raises(ResourceGone):
        await contents.list_folder(folder)


async def test_a_branch_that_is_not_there_proves_nothing(contents):
    folder = WatchFolder(
        id="f", workspace_id="w", repository="octo/team", branch="gone", path="lists"
    )

    with pytest.raises(ResourceGone):
        await contents.list_folder(folder)


@pytest.mark.parametrize("path", ["README.md", "README.md/below"])
async def test_a_file_where_the_folder_should_be_proves_nothing(contents, path):
    folder = WatchFolder(id="f", workspace_id="w", repository="octo/team", path=path)

    with pytest.raises(ResourceGone):
        await contents.list_folder(folder)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        pytest.param(plain(b"[][]"), ProviderUnavailable, id="no JSON"),
        pytest.param(plain({"message": "x"}), ProviderUnavailable, id="no list"),
        pytest.param(
            plain([{"name": f"{number}"} for number in range(1000)]),
            ProviderUnavailable,
            id="cut off",
        ),
        pytest.param(
            plain(
                {"message": "Resource not accessible by personal access token"},
                status=403,
            ),
            PermissionDenied,
            id="forbidden",
        ),
    ],
)
async def test_a_list_that_is_none_is_an_error(answer, error):
    github = ScriptedHost(answer).connect()

    with pytest.raises(error):
        await github.contents.list_folder(FOLDER)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"name": "a", "encoding": "none", "content": ""}, id="too long"),
        pytest.param({"name": "a", "encoding": "base64", "content": "a"}, id="broken"),
        pytest.param({"size": "x"}, id="strange"),
    ],
)
async def test_a_file_that_is_none_is_an_error(body):
    github = ScriptedHost(plain(body)).connect()

    with pytest.raises(ProviderUnavailable):
        await github.contents.fetch_file(FOLDER, "a.toml")
