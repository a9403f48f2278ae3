"""REST answers: routes, tags, pages, redirects, and the shapes of real ones."""

import json
from pathlib import Path

import pytest

from prwatch.simulator import DEFAULT_TOKEN
from tests.unit.simulator.stage import get, make_world

SAMPLES = Path(__file__).parents[2] / "samples"
HELLO = "/repos/octo/hello"


def load_sample(name):
    sample = json.loads((SAMPLES / name).read_text())
    return sample["response"]["body"]


def list_differences(ours, real, place=""):
    """Return where our value has a member or a type that the real one has not."""
    if ours is None or real is None:
        return []
    if isinstance(ours, dict) and isinstance(real, dict):
        found = [f"{place}.{key}" for key in ours if key not in real]
        for key in ours.keys() & real.keys():
            found += list_differences(ours[key], real[key], f"{place}.{key}")
        return found
    if isinstance(ours, list) and isinstance(real, list):
        return list_differences(ours[0], real[0], f"{place}[]") if ours and real else []
    return [] if type(ours) is type(real) else [f"{place}: {type(ours)}"]


def make_full():
    world = make_world()
    one = world.open_pull_request("octo/hello", branch="fix", author="ada")
    world.request_review(one, "linus")
    world.request_review(one, "core", kind="Team")
    world.submit_review(one, "grace")
    world.comment(one, "linus", "first")
    world.clock.advance(300)
    world.comment(one, "grace", "second")
    world.set_check(one, "test", conclusion="SUCCESS")
    world.set_status(one, "coverage", "SUCCESS")
    return world, one


@pytest.mark.parametrize(
    ("path", "read", "expected"),
    [
        pytest.param(
            HELLO,
            lambda body: (body["full_name"], body["fork"], body["archived"]),
            ("octo/hello", False, False),
            id="repository",
        ),
        pytest.param(
            f"{HELLO}/pulls/1",
            lambda body: (body["state"], body["mergeable"], body["mergeable_state"]),
            ("open", True, "clean"),
            id="pull",
        ),
        pytest.param(
            f"{HELLO}/pulls/1/reviews",
            lambda body: [(each["user"]["login"], each["state"]) for each in body],
            [("grace", "APPROVED")],
            id="reviews",
        ),
        pytest.param(
            f"{HELLO}/pulls/1/requested_reviewers",
            lambda body: [
                [each["login"] for each in body["users"]],
                [each["slug"] for each in body["teams"]],
            ],
            [["linus"], ["core"]],
            id="requested",
        ),
        pytest.param(
            f"{HELLO}/issues/1/comments",
            lambda body: [each["body"] for each in body],
            ["first", "second"],
            id="comments",
        ),
        pytest.param(
            f"{HELLO}/issues/1/comments?since=2026-11-30T12:01:00Z",
            lambda body: [each["body"] for each in body],
            ["second"],
            id="comments-since",
        ),
        pytest.param(
            f"{HELLO}/commits/fix/check-runs",
            lambda body: [
                (each["name"], each["status"], each["conclusion"])
                for each in body["check_runs"]
            ],
            [("test", "completed", "success")],
            id="check-runs",
        ),
        pytest.param(
            f"{HELLO}/commits/fix/status",
            lambda body: (body["state"], [one["context"] for one in body["statuses"]]),
            ("success", ["coverage"]),
            id="status",
        ),
        pytest.param(
            "/user",
            lambda body: (body["login"], body["type"]),
            ("octocat", "User"),
            id="user",
        ),
        pytest.param(
            f"/api/v3{HELLO}/pulls?head=octo:fix",
            lambda body: [each["number"] for each in body],
            [1],
            id="enterprise",
        ),
    ],
)
async def test_a_route_answers_from_the_world(path, read, expected):
    world, _ = make_full()

    response = await get(world, path)

    assert (response.status_code, read(response.json())) == (200, expected)


@pytest.mark.parametrize(
    ("path", "sample"),
    [
        pytest.param(f"{HELLO}/pulls/1", "pull_request_merged.json", id="pull"),
        pytest.param(f"{HELLO}/issues/1/comments", "issue_comments.json", id="comment"),
        pytest.param(f"{HELLO}/commits/fix/check-runs", "check_runs.json", id="runs"),
        pytest.param(f"{HELLO}/nothing", "not_found.json", id="not-found"),
    ],
)
async def test_an_answer_has_members_and_types_of_a_recorded_one(path, sample):
    world, _ = make_full()
    younger = {".requested_teams[]", ".auto_merge", ".status", ".disabled"}

    ours = (await get(world, path)).json()

    found = list_differences(ours, load_sample(sample))
    assert [each for each in found if not any(map(each.endswith, younger))] == []


async def test_a_known_tag_is_answered_with_304_and_costs_nothing():
    world, one = make_full()
    first = await get(world, f"{HELLO}/pulls/1")

    again = await get(world, f"{HELLO}/pulls/1", if_none_match=first.headers["etag"])

    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["x-ratelimit-used"] == first.headers["x-ratelimit-used"] == "1"
    assert world.requests.not_modified == 1
    world.retitle(one, "New")
    fresh = await get(world, f"{HELLO}/pulls/1", if_none_match=first.headers["etag"])
    assert (fresh.status_code, fresh.headers["x-ratelimit-used"]) == (200, "2")


async def test_a_tag_belongs_to_the_token_it_was_given_to():
    world, _ = make_full()
    world.set_token("ghp_second")
    tag = (await get(world, HELLO)).headers["etag"]

    response = await get(world, HELLO, "ghp_second", if_none_match=tag)

    assert response.status_code == 200


async def test_a_weak_tag_in_a_list_is_recognised():
    world, _ = make_full()
    tag = (await get(world, HELLO)).headers["etag"]

    response = await get(world, HELLO, if_none_match=f'"other", W/{tag}')

    assert response.status_code == 304


async def test_links_lead_through_the_pages_of_a_list():
    world = make_world()
    world.open_many("octo/hello", 5)
    number = world.repositories["octo/hello"].database_id
    base = f"https://api.github.com/repositories/{number}/pulls?per_page=2"

    response = await get(world, f"{HELLO}/pulls?per_page=2&page=2")
    last = await get(world, f"{base.removeprefix('https://api.github.com')}&page=3")

    assert [each["number"] for each in response.json()] == [3, 2]
    assert response.headers["link"] == ", ".join(
        (
            f'<{base}&page=1>; rel="prev"',
            f'<{base}&page=3>; rel="next"',
            f'<{base}&page=3>; rel="last"',
            f'<{base}&page=1>; rel="first"',
        )
    )
    assert [each["number"] for each in last.json()] == [1]


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        pytest.param("", [3, 1], id="open"),
        pytest.param("state=all", [3, 2, 1], id="all"),
        pytest.param("state=closed", [2], id="closed"),
        pytest.param("state=all&direction=asc", [1, 2, 3], id="ascending"),
        pytest.param("state=all&sort=updated", [1, 3, 2], id="updated"),
        pytest.param("head=octo:b", [], id="closed-head"),
        pytest.param("state=all&head=ada:c", [3], id="fork-head"),
        pytest.param("head=c", [3, 1], id="head-without-owner-is-ignored"),
        pytest.param("base=next", [], id="base"),
    ],
)
async def test_a_list_of_pull_requests_is_filtered_and_ordered(query, numbers):
    world = make_world()
    world.add_repository("ada/hello", fork_of="octo/hello")
    first = world.open_pull_request("octo/hello", branch="a")
    world.close(world.open_pull_request("octo/hello", branch="b"))
    world.open_pull_request("octo/hello", branch="c", head_repository="ada/hello")
    world.clock.advance(60)
    world.comment(first, "grace")

    response = await get(world, f"{HELLO}/pulls?{query}")

    assert [each["number"] for each in response.json()] == numbers


async def test_an_old_name_is_redirected_to_the_number():
    world, one = make_full()
    world.rename_repository("octo/hello", "new/name")

    moved = await get(world, f"{HELLO}/pulls/1?x=y")

    path = f"/repositories/{one.repository.database_id}/pulls/1?x=y"
    url = f"https://api.github.com{path}"
    assert (moved.status_code, moved.headers["location"]) == (301, url)
    followed = (await get(world, path)).json()
    assert followed["base"]["repo"]["full_name"] == "new/name"


@pytest.mark.parametrize(
    ("path", "token", "status"),
    [
        pytest.param("/repos/octo/nothing", DEFAULT_TOKEN, 404, id="repository"),
        pytest.param("/repositories/9", DEFAULT_TOKEN, 404, id="number"),
        pytest.param(f"{HELLO}/pulls/9", DEFAULT_TOKEN, 404, id="pull"),
        pytest.param(f"{HELLO}/commits/no/status", DEFAULT_TOKEN, 422, id="commit"),
        pytest.param(
            f"{HELLO}/issues/1/comments?since=soon", DEFAULT_TOKEN, 422, id="time"
        ),
        pytest.param("/user", "", 401, id="nobody"),
        pytest.param("/teapot", DEFAULT_TOKEN, 404, id="route"),
    ],
)
async def test_what_is_not_there_is_refused(path, token, status):
    world, _ = make_full()

    assert (await get(world, path, token)).status_code == status


async def test_the_log_keeps_what_was_asked_and_what_it_cost():
    world, _ = make_full()

    await get(world, HELLO)
    await get(world, "/rate_limit")

    log = world.requests
    assert [
        (each.method, each.path, each.status, each.cost) for each in log.entries
    ] == [("GET", HELLO, 200, 1), ("GET", "/rate_limit", 200, 0)]
    assert (log.rest, log.graphql, log.points, len(log)) == (2, 0, 0, 2)
    log.clear()
    assert (log.rest, len(log.entries)) == (0, 0)
