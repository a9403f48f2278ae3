import pytest

from prwatch.domain.checks_summary import ChecksSummary
from prwatch.domain.phrase import Known
from prwatch.domain.pull_request import UNOBSERVED, PullRequestState
from prwatch.domain.unobserved import UnobservedField, list_unobserved
from tests.readings import at, make_observation

BY_REST = dict.fromkeys(
    ("review_decision", "merge_queue", "auto_merge", "unresolved_threads"), UNOBSERVED
)
OLD = "the way it was read does not tell it: REST, or an old server"


def list_words(unreadable=None, **fields):
    known = Known(
        observation=make_observation(**fields),
        now=at(0),
        unreadable=unreadable or {},
    )
    return [(each.words, each.reason) for each in list_unobserved(known)]


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        pytest.param({}, [], id="everything was read"),
        pytest.param(
            BY_REST,
            [
                ("review decision", OLD),
                ("merge queue", OLD),
                ("auto merge", "REST tells nothing where it is not armed"),
                ("unresolved threads", OLD),
            ],
            id="rest",
        ),
        pytest.param(
            {"mergeable": UNOBSERVED},
            [("mergeable", "GitHub has not told yet")],
            id="mergeability",
        ),
        pytest.param(
            {"mergeable": UNOBSERVED, "state": PullRequestState.CLOSED},
            [("mergeable", "it is closed")],
            id="mergeability of a closed one",
        ),
        pytest.param(
            {
                "checks": UNOBSERVED,
                "checks_summary": ChecksSummary(unread="another commit's"),
            },
            [("checks", "another commit's")],
            id="checks of another commit",
        ),
        pytest.param({"checks": UNOBSERVED}, [("checks", OLD)], id="checks"),
        pytest.param(
            {"checks": UNOBSERVED, "unreadable": {"checks": "refused"}},
            [("checks", "refused")],
            id="refused",
        ),
        pytest.param(
            {"merged_by": UNOBSERVED, "state": PullRequestState.MERGED},
            [("merged by", OLD)],
            id="who merged",
        ),
        pytest.param({"merged_by": UNOBSERVED}, [], id="nobody merged"),
    ],
)
def test_what_was_not_read_is_listed_with_its_reason(fields, told):
    assert list_words(**fields) == told


def test_a_field_has_the_name_that_it_has_in_events():
    known = Known(observation=make_observation(is_archived=UNOBSERVED), now=at(0))

    assert list_unobserved(known) == (UnobservedField("is_archived", OLD),)
    assert list_unobserved(known)[0].words == "archived"
