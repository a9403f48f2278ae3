"""What GitHub says of a folder and its files, and what proves that one is gone."""

import datetime as dt

import httpx
import pytest

from prwatch.domain.watch_file import WatchFolder
from prwatch.errors import (
    PermissionDenied,
    ProtocolViolation,
    ProviderUnavailable,
    ResourceGone,
)
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

    assert (found.files, found.tag) == ((), "")
    assert found.absence.path == ("lists" if depth == "part" else "")


async def test_a_folder_that_stays_away_is_proven_by_one_tag(world, contents):
    world.remove_file("octo/team", "lists/prwatch/a.toml")
    first = await contents.list_folder(FOLDER)

    quiet = await contents.list_folder(FOLDER, absence=first.absence)
    world.write_file("octo/team", "lists/other", "new")
    nearer = await contents.list_folder(FOLDER, absence=quiet.absence)
    world.remove_file("octo/team", "lists/other")
    farther = await contents.list_folder(FOLDER, absence=nearer.absence)
    world.write_file("octo/team", "lists/prwatch/a.toml", TEXT)
    back = await contents.list_folder(FOLDER, absence=farther.absence)

    assert quiet.absence is first.absence
    assert (nearer.absence.path, farther.absence.path) == ("lists", "")
    assert (back.absence, len(back.files)) == (None, 1)


@pytest.mark.parametrize(
    ("entry", "is_file", "is_link"),
    [
        ({"type": "file"}, True, False),
        ({"type": "file", "download_url": "https://x"}, True, False),
        ({"type": "file", "download_url": None}, True, True),
        ({"type": "symlink", "download_url": "https://x"}, False, True),
        ({"type": "submodule", "download_url": None}, False, True),
        ({"type": "dir", "download_url": None}, False, False),
    ],
)
async def test_a_link_is_told_from_a_file(entry, is_file, is_link):
    answer = plain([{"name": "a.toml", "sha": "1", "size": 0, **entry}])

    listed = await ScriptedHost(answer).connect().contents.list_folder(FOLDER)

    (found,) = listed.files
    assert (found.is_file, found.is_link) == (is_file, is_link)


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
            ProtocolViolation,
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
        pytest.param(
            {"name": "a", "encoding": "base64", "content": "", "size": 9}, id="empty"
        ),
        pytest.param(
            {"name": "a", "encoding": "base64", "content": "YWE=", "size": 9}, id="part"
        ),
    ],
)
async def test_a_file_that_is_none_is_an_error(body):
    github = ScriptedHost(plain(body)).connect()

    with pytest.raises(ProviderUnavailable):
        await github.contents.fetch_file(FOLDER, "a.toml")
