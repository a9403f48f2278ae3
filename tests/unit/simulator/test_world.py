"""Each verb, as GraphQL and REST show what it did."""

import pytest

from prwatch.errors import NotFound
from tests.unit.simulator.stage import ask, get, make_world, read

PULLS = "/repos/octo/hello/pulls"


def make_pull_request(**traits):
    world = make_world()
    return world, world.open_pull_request("octo/hello", branch="fix", **traits)


def act(name, *arguments, **options):
    return lambda world, one: getattr(world, name)(one, *arguments, **options)


def act_after(first, then):
    def play(world, one):
        first(world, one)
        then(world, one)

    return play


def dismiss(world, one):
    world.dismiss_review(one, world.submit_review(one, "grace"))


def edit(world, one):
    world.edit_comment(one, world.comment(one, "grace", "a"), "b")


LATER = "2026-11-30T12:01:00Z"
NOON = "2026-11-30T12:00:00Z"


@pytest.mark.parametrize(
    ("play", "fields", "expected"),
    [
        pytest.param(act("mark_draft"), "isDraft", {"isDraft": True}, id="draft"),
        pytest.param(
            act_after(act("mark_draft"), act("mark_ready")),
            "isDraft",
            {"isDraft": False},
            id="ready",
        ),
        pytest.param(act("retitle", "New"), "title", {"title": "New"}, id="title"),
        pytest.param(
            act("close"),
            "state closed closedAt mergedAt",
            {"state": "CLOSED", "closed": True, "closedAt": LATER, "mergedAt": None},
            id="close",
        ),
        pytest.param(
            act_after(act("close"), act("reopen")),
            "state closedAt",
            {"state": "OPEN", "closedAt": None},
            id="reopen",
        ),
        pytest.param(
            act("merge", by="grace"),
            "state merged mergedAt mergedBy{login} mergeable",
            {
                "state": "MERGED",
                "merged": True,
                "mergedAt": LATER,
                "mergedBy": {"login": "grace"},
                "mergeable": "UNKNOWN",
            },
            id="merge",
        ),
        pytest.param(
            act("enqueue", position=3),
            "isInMergeQueue mergeQueueEntry{position state enqueuedAt}",
            {
                "isInMergeQueue": True,
                "mergeQueueEntry": {
                    "position": 3,
                    "state": "QUEUED",
                    "enqueuedAt": LATER,
                },
            },
            id="queue",
        ),
        pytest.param(
            act_after(act("enqueue"), act("dequeue")),
            "isInMergeQueue mergeQueueEntry{position}",
            {"isInMergeQueue": False, "mergeQueueEntry": None},
            id="out-of-queue",
        ),
        pytest.param(
            act("arm_auto_merge", by="grace", method="SQUASH"),
            "autoMergeRequest{enabledAt mergeMethod enabledBy{login}}",
            {
                "autoMergeRequest": {
                    "enabledAt": LATER,
                    "mergeMethod": "SQUASH",
                    "enabledBy": {"login": "grace"},
                }
            },
            id="auto-merge",
        ),
        pytest.param(
            act_after(act("arm_auto_merge"), act("disarm_auto_merge")),
            "autoMergeRequest{enabledAt}",
            {"autoMergeRequest": None},
            id="no-auto-merge",
        ),
        pytest.param(
            act("submit_review", "grace"),
            "reviews(first:9){totalCount nodes{state submittedAt author{login}}}",
            {
                "reviews": {
                    "totalCount": 1,
                    "nodes": [
                        {
                            "state": "APPROVED",
                            "submittedAt": LATER,
                            "author": {"login": "grace"},
                        }
                    ],
                }
            },
            id="review",
        ),
        pytest.param(
            dismiss,
            "latestOpinionatedReviews(first:9){nodes{state}}",
            {"latestOpinionatedReviews": {"nodes": [{"state": "DISMISSED"}]}},
            id="dismissal",
        ),
        pytest.param(
            act_after(
                act("request_review", "grace"),
                act("request_review", "core", kind="Team"),
            ),
            "reviewRequests(first:9){nodes{requestedReviewer{__typename"
            " ... on User{login} ... on Team{slug}}}}",
            {
                "reviewRequests": {
                    "nodes": [
                        {"requestedReviewer": {"__typename": "User", "login": "grace"}},
                        {"requestedReviewer": {"__typename": "Team", "slug": "core"}},
                    ]
                }
            },
            id="request",
        ),
        pytest.param(
            act_after(
                act("request_review", "grace"), act("withdraw_review_request", "grace")
            ),
            "reviewRequests(first:9){totalCount}",
            {"reviewRequests": {"totalCount": 0}},
            id="withdrawn-request",
        ),
        pytest.param(
            act_after(act("request_review", "grace"), act("submit_review", "grace")),
            "reviewRequests(first:9){totalCount}",
            {"reviewRequests": {"totalCount": 0}},
            id="answered-request",
        ),
        pytest.param(
            edit,
            "totalCommentsCount comments(last:9){nodes{body createdAt author{login}}}",
            {
                "totalCommentsCount": 1,
                "comments": {
                    "nodes": [
                        {"body": "b", "createdAt": LATER, "author": {"login": "grace"}}
                    ]
                },
            },
            id="comment",
        ),
    ],
)
async def test_a_verb_shows_in_graphql_and_moves_the_update_time(
    play, fields, expected
):
    world, one = make_pull_request()
    world.clock.advance(60)

    play(world, one)

    found = await read(world, one.number, f"updatedAt {fields}")
    assert found == {"updatedAt": LATER, **expected}


@pytest.mark.parametrize(
    "play",
    [
        pytest.param(act("set_mergeable", "CONFLICTING"), id="mergeable"),
        pytest.param(act("set_check", "test", conclusion="FAILURE"), id="check"),
        pytest.param(act("set_status", "ci", "FAILURE"), id="status"),
        pytest.param(
            lambda world, one: world.archive_repository("octo/hello"), id="archive"
        ),
        pytest.param(
            lambda world, one: world.rename_repository("octo/hello", "octo/hello"),
            id="rename",
        ),
    ],
)
async def test_what_hangs_off_elsewhere_does_not_move_the_update_time(play):
    world, one = make_pull_request()
    world.clock.advance(60)

    play(world, one)

    assert await read(world, one.number, "updatedAt") == {"updatedAt": NOON}


async def test_a_resolved_thread_does_not_move_the_update_time():
    world, one = make_pull_request()
    thread = world.open_thread(one, "grace")
    world.clock.advance(60)

    world.resolve_thread(thread)

    found = await read(
        world, one.number, "updatedAt reviewThreads(first:9){nodes{isResolved}}"
    )
    assert found == {
        "updatedAt": NOON,
        "reviewThreads": {"nodes": [{"isResolved": True}]},
    }


async def test_a_push_empties_the_rollup_and_hides_mergeability_for_a_moment():
    world, one = make_pull_request()
    world.set_check(one, "test", conclusion="SUCCESS")
    fields = "headRefOid mergeable statusCheckRollup{state}"

    oid = world.push(one)

    assert await read(world, one.number, fields) == {
        "headRefOid": oid,
        "mergeable": "UNKNOWN",
        "statusCheckRollup": None,
    }
    world.clock.advance(1)
    assert await read(world, one.number, "mergeable") == {"mergeable": "MERGEABLE"}


async def test_lagging_checks_stand_next_to_the_commit_before_the_head():
    world, one = make_pull_request()
    world.set_check(one, "test", conclusion="SUCCESS")
    before = one.head_ref_oid
    head = world.push(one)

    world.lag_head(one, for_=world.clock.now() - world.clock.now().replace(hour=11))

    fields = "headRefOid statusCheckRollup{state commit{oid}}"
    assert await read(world, one.number, fields) == {
        "headRefOid": head,
        "statusCheckRollup": {"state": "SUCCESS", "commit": {"oid": before}},
    }
    world.clock.advance(3600)
    assert await read(world, one.number, fields) == {
        "headRefOid": head,
        "statusCheckRollup": None,
    }


@pytest.mark.parametrize(
    ("reviews", "decision"),
    [
        pytest.param([], "REVIEW_REQUIRED", id="none"),
        pytest.param([("a", "COMMENTED")], "REVIEW_REQUIRED", id="comment"),
        pytest.param([("a", "APPROVED")], "APPROVED", id="approval"),
        pytest.param(
            [("a", "APPROVED"), ("b", "CHANGES_REQUESTED")],
            "CHANGES_REQUESTED",
            id="one-against",
        ),
        pytest.param(
            [("a", "CHANGES_REQUESTED"), ("a", "APPROVED")],
            "APPROVED",
            id="changed-mind",
        ),
    ],
)
async def test_the_review_decision_follows_the_last_opinions(reviews, decision):
    world = make_world(requires_reviews=True)
    one = world.open_pull_request("octo/hello", branch="fix")

    for author, state in reviews:
        world.submit_review(one, author, state)

    assert await read(world, 1, "reviewDecision") == {"reviewDecision": decision}


async def test_without_required_reviews_there_is_no_decision():
    world, one = make_pull_request()

    world.submit_review(one, "grace")

    assert await read(world, 1, "reviewDecision") == {"reviewDecision": None}


async def test_a_deleted_account_answers_null_and_a_ghost_in_rest():
    world, _ = make_pull_request(author="ada")

    world.delete_user("ada")

    assert await read(world, 1, "author{login}") == {"author": None}
    shown = (await get(world, f"{PULLS}/1")).json()
    assert shown["user"]["login"] == "ghost"


async def test_a_deleted_fork_leaves_the_pull_request_without_its_head():
    world = make_world()
    world.add_repository("ada/hello", fork_of="octo/hello")
    one = world.open_pull_request(
        "octo/hello", branch="fix", head_repository="ada/hello"
    )

    world.delete_fork("ada/hello")

    fields = "headRefName headRefOid headRef{id} headRepository{id} isCrossRepository"
    assert await read(world, 1, fields) == {
        "headRefName": "fix",
        "headRefOid": one.head_ref_oid,
        "headRef": None,
        "headRepository": None,
        "isCrossRepository": True,
    }
    head = (await get(world, f"{PULLS}/1")).json()["head"]
    assert head == {
        "label": None,
        "ref": "fix",
        "sha": one.head_ref_oid,
        "user": None,
        "repo": None,
    }


async def test_a_deleted_base_branch_closes_its_pull_requests():
    world = make_world()
    world.open_pull_request("octo/hello", branch="fix", base="next")

    world.delete_branch("octo/hello", "next")

    assert await read(world, 1, "state baseRef{name} baseRefName") == {
        "state": "CLOSED",
        "baseRef": None,
        "baseRefName": "next",
    }


async def test_a_renamed_repository_keeps_its_ids_and_its_old_name_leads_to_it():
    world, one = make_pull_request()
    query = """query($ids: [ID!]!, $follow: Boolean!) {
      nodes(ids: $ids) { id ... on PullRequest { repository { id nameWithOwner } } }
      repository(owner: "octo", name: "hello", followRenames: $follow) { id }
    }"""
    ids = [one.id, one.repository.id]

    world.rename_repository("octo/hello", "new/name")

    repository = {"id": ids[1], "nameWithOwner": "new/name"}
    nodes = [{"id": ids[0], "repository": repository}, {"id": ids[1]}]
    assert await ask(world, query, ids=ids, follow=True) == {
        "data": {"nodes": nodes, "repository": {"id": ids[1]}}
    }
    refused = await ask(world, query, ids=ids, follow=False)
    assert refused["data"] == {"nodes": nodes, "repository": None}


async def test_bots_have_their_mark_in_rest_alone():
    world = make_world()
    world.add_bot("renovate[bot]")
    world.open_pull_request("octo/hello", branch="fix", author="renovate")

    found = await read(world, 1, "author{__typename login}")

    assert found == {"author": {"__typename": "Bot", "login": "renovate"}}
    user = (await get(world, f"{PULLS}/1")).json()["user"]
    assert (user["login"], user["type"]) == ("renovate[bot]", "Bot")


def test_a_merged_pull_request_is_never_reopened():
    world, one = make_pull_request()
    world.merge(one)

    with pytest.raises(ValueError, match="is merged"):
        world.reopen(one)
    with pytest.raises(ValueError, match="is not open"):
        world.merge(one)


def test_an_unknown_repository_is_said_to_be_unknown():
    with pytest.raises(NotFound, match="no repository octo/nothing"):
        make_world().open_pull_request("octo/nothing", branch="fix")


def test_equal_seeds_and_stories_give_equal_ids():
    first, second = make_pull_request()[1], make_pull_request()[1]

    assert (first.id, first.head_ref_oid) == (second.id, second.head_ref_oid)
