"""What an answer must say, and of whom, before a review task goes for it."""

import json

import httpx
import pytest

from prwatch.simulator import GitHubApp, World
from tests.cleanup import ME, MINE, ask, open_found, rows, sweep, sweeps, tasks, write
from tests.product import MovedClock

NAME = "review:octo/hello#1"
NOON = "2026-11-30T12:00:00Z"
HEADERS = {"content-type": "application/json"}


@pytest.fixture
def world():
    world = World(MovedClock())
    world.add_repository("octo/hello")
    return world


class Bent(httpx.ASGITransport):
    """Bends what GitHub answers to the readings of cleaning up; None is as it is."""

    def __init__(self, world):
        super().__init__(GitHubApp(world))
        self.bend = None

    async def handle_async_request(self, request):
        response = await super().handle_async_request(request)
        if self.bend is None or b"query Review" not in request.content:
            return response
        bent = self.bend(json.loads(await response.aread()))
        if isinstance(bent, httpx.Response):
            return bent
        return httpx.Response(200, json=bent, headers=HEADERS)


def each(**changes):
    """Return what changes members of each pull request."""

    def bend(body):
        body["data"]["nodes"] = [node | changes for node in body["data"]["nodes"]]
        return body

    return bend


def nodes(value):
    return lambda body: {"data": {**body["data"], "nodes": value}}


def beside(**error):
    error = {"message": "Something went wrong", **error}
    return lambda body: {**body, "errors": [error]}


def status(code, **options):
    return lambda _: httpx.Response(code, **options)


def approved(author, state="APPROVED"):
    login = {"login": author} if author else None
    review = {"id": "V", "state": state, "submittedAt": NOON, "author": login}
    return each(
        state="OPEN",
        mergedAt=None,
        closedAt=None,
        reviews={"nodes": [review]},
        reviewRequests={"nodes": []},
    )


@pytest.mark.parametrize(
    "bend",
    [
        pytest.param(each(mergedAt=None, closedAt=None), id="a state without a time"),
        pytest.param(each(state="OPEN"), id="a time without a state"),
        pytest.param(each(state="CLOSED", closedAt=None), id="another time"),
        pytest.param(each(state=None), id="no state"),
        pytest.param(each(state="MELTED"), id="an unknown state"),
        pytest.param(each(number=99), id="another number"),
        pytest.param(each(id="PR_9", repository={"id": "R", "nameWithOwner": "o/r"}),
                     id="another pull request"),
        pytest.param(each(repository=None), id="no repository"),
        pytest.param(each(reviews=None), id="no reviews"),
        pytest.param(each(reviews={"nodes": None}), id="no list of reviews"),
        pytest.param(each(reviews={"nodes": [None]}), id="a null review"),
        pytest.param(nodes([{}]), id="an issue"),
        pytest.param(nodes([None]), id="a null"),
        pytest.param(nodes([]), id="no nodes"),
        pytest.param(nodes(None), id="a null list"),
        pytest.param(nodes("x"), id="no list"),
        pytest.param(approved(None), id="approved by one who is gone"),
        pytest.param(approved("ghost"), id="approved by a ghost"),
        pytest.param(approved("bob"), id="approved by somebody else"),
        pytest.param(approved(ME, "DISMISSED"), id="dismissed"),
        pytest.param(approved(ME, "CHANGES_REQUESTED"), id="changes requested"),
        pytest.param(approved(ME, "ODD"), id="an unknown opinion"),
        pytest.param(beside(), id="an error without a place"),
        pytest.param(beside(type="INTERNAL", path=["nodes"]), id="an error of all"),
        pytest.param(beside(type="NOT_FOUND", path=["nodes", 0]), id="an error of it"),
        pytest.param(beside(path=["nodes", 0, "reviews"]), id="an error in it"),
        pytest.param(lambda _: {}, id="an empty object"),
        pytest.param(lambda _: [], id="a list"),
        pytest.param(lambda _: {"data": None}, id="no data"),
        pytest.param(lambda _: {"data": {}}, id="empty data"),
        pytest.param(status(200, text="<html>"), id="200 with a page"),
        pytest.param(status(204), id="204"),
        pytest.param(status(301, headers={"location": "https://x/"}), id="301"),
        pytest.param(status(403, json={"message": "Forbidden"}), id="403"),
        pytest.param(status(404, json={"message": "Not Found"}), id="404"),
        pytest.param(status(404, text="<html>"), id="404 with a page"),
        pytest.param(status(410, json={"message": "Gone"}), id="410"),
        pytest.param(status(451, json={"message": "DMCA"}), id="451"),
    ],
)  # fmt: skip
async def test_what_proves_nothing_removes_nothing_however_often(tmp_path, world, bend):
    one = ask(world)
    transport = Bent(world)
    async with open_found(tmp_path, world, policy="always", transport=transport) as (
        product,
        cleanup,
    ):
        world.merge(one)
        transport.bend = bend
        gone = await sweeps(product, cleanup, 12)
        kept = tasks(product)
        transport.bend = None
        for _ in range(4):
            await sweep(product, cleanup, gap=3600.0)

        assert (gone, kept) == (0, [NAME])
        assert tasks(product) == []


@pytest.mark.parametrize(
    "bend",
    [
        pytest.param(approved("OctoCat"), id="a login in another case"),
        pytest.param(each(id="PR_9"), id="an id of another form"),
    ],
)
async def test_what_is_the_same_though_spelt_otherwise_counts(tmp_path, world, bend):
    one = ask(world)
    transport = Bent(world)
    async with open_found(tmp_path, world, transport=transport) as (product, cleanup):
        world.merge(one)
        transport.bend = bend

        assert await sweeps(product, cleanup, 2) == 1


@pytest.mark.parametrize("is_watched", [True, False], ids=["watched", "left"])
@pytest.mark.parametrize(("who", "gone"), [(ME, 0), ("bob", 1)])
async def test_the_approval_counts_of_whom_the_watch_is_for_also_once_it_is_removed(
    tmp_path, world, who, gone, is_watched
):
    one = ask(world, reviewer="bob")
    reviews = f'{MINE}\ntarget_login = "bob"'
    async with open_found(tmp_path, world, reviews=reviews) as (product, cleanup):
        if not is_watched:
            write(product, "DELETE FROM review_watches")
            write(product, "UPDATE review_tasks SET review_watch_id = ''")
        world.submit_review(one, who)

        assert await sweeps(product, cleanup) == gone


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE review_tasks SET policy = '?'",
        "UPDATE review_tasks SET terminal_evidence = '{'",
        "UPDATE review_tasks SET terminal_evidence = '[1]'",
        "UPDATE review_tasks SET terminal_evidence = '5'",
        "UPDATE review_tasks SET terminal_seen_at = 9000000000000000000",
        "UPDATE review_tasks SET created_at = -9000000000000000000",
        "UPDATE tasks SET origin = '?'",
        "UPDATE tasks SET person_wrote_at = 9000000000000000000",
        "UPDATE review_watches SET repositories = '5'",
        "UPDATE review_watches SET interval_seconds = 9000000000000000000",
    ],
)
async def test_a_row_that_cannot_be_understood_is_kept_and_the_others_go(
    tmp_path, world, statement
):
    one, two = ask(world, 1), ask(world, 2)
    reviews = (
        f'{MINE}\nquery = "1"\npolicy = "always"\n'
        '[[workspace.review]]\nname = "other"\nquery = "2"'
    )
    async with open_found(tmp_path, world, policy="always", reviews=reviews) as (
        product,
        cleanup,
    ):
        world.merge(one)
        world.merge(two)
        await sweep(product, cleanup)
        # Of each table the row of the first pull request, or of its watch.
        write(product, f"{statement} WHERE id = (SELECT min(id) FROM"
              f" {statement.split()[1]})")  # fmt: skip
        gone = await sweeps(product, cleanup)

        assert (gone, len(tasks(product)), len(rows(product))) == (1, 1, 1)
