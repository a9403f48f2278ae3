"""What a cycle's account says of failures, and which of them end a workspace."""

import datetime as dt
import weakref

import pytest

from prwatch.app.walk.cycle_report import CycleReport, Failure, References
from prwatch.domain.outcome import FailureClass
from prwatch.domain.reference import PullRequestReference
from prwatch.github.exchange import GraphQLError
from prwatch.github.path_errors import judge_error


def make_failure(scope, message="it was refused"):
    return Failure(
        workspace="acme",
        scope=scope,
        reference="octo/hello#12",
        failure_class=FailureClass.AUTH,
        code="no_token",
        message=message,
    )


@pytest.mark.parametrize(
    ("scope", "failed"),
    [
        pytest.param("host", {"acme"}, id="host"),
        pytest.param("token", {"acme"}, id="token"),
        pytest.param("installation", {"acme"}, id="installation"),
        pytest.param("organisation", set(), id="organisation"),
        pytest.param("repository", set(), id="repository"),
        pytest.param("record", set(), id="record"),
    ],
)
def test_only_the_widest_failures_keep_a_workspace_from_being_polled(scope, failed):
    report = CycleReport(
        cycle_id="c", started_at=dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
    )

    report.add_failure(make_failure(scope))
    report.add_failure(make_failure(scope))

    assert report.failed_workspaces == failed
    assert report.as_json()["failures"] == [
        {
            "workspace": "acme",
            "scope": scope,
            "reference": "octo/hello#12",
            "class": "auth",
            "code": "no_token",
            "message": "it was refused",
            "remedy": "",
        }
    ]


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        pytest.param(
            "Resource protected by organization SAML enforcement.",
            "authorise the token for the organisation: github.com/settings/tokens",
            id="single sign-on",
        ),
        pytest.param(
            "the `acme` organization has an IP allow list enabled",
            "ask an owner of the organisation to add this machine's address",
            id="addresses",
        ),
        pytest.param(
            "`acme` forbids access via a personal access token (classic).",
            "use a token of a kind that the organisation allows",
            id="kinds of tokens",
        ),
        pytest.param(
            "`acme` has enabled OAuth App access restrictions",
            "ask an owner of the organisation to approve the app",
            id="apps",
        ),
    ],
)
def test_a_refusal_is_reported_with_what_helps(said, remedy):
    refused = judge_error(GraphQLError(type="FORBIDDEN", message=said))

    failure = make_failure("organisation", message=refused.reason)

    assert failure.remedy == remedy
    assert failure.text == f"{refused.reason}; {remedy}"
    assert failure.as_json()["remedy"] == remedy


def test_a_failure_that_many_places_met_is_told_once_and_in_order():
    report = CycleReport(
        cycle_id="c", started_at=dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
    )
    for scope in ("token", "host", "token", "record", "host"):
        report.add_failure(make_failure(scope))

    assert [each.scope for each in report.failures] == ["token", "host", "record"]


def refer(number, owner="octo"):
    return PullRequestReference(owner, "hello", number, f"PR_{number}")


def test_what_was_asked_for_is_counted_once_whoever_asked():
    ours, theirs = References(), References()
    ours.add("octo/hello")
    ours.add_pull_requests([refer(1), refer(1, owner="renamed"), refer(2)])
    theirs.add_pull_requests([refer(2), refer(3), PullRequestReference("o", "n", 4)])

    ours.absorb(theirs)

    assert len(ours) == 5


def test_the_number_of_references_outlives_them():
    class Reference:
        """A thing that can be found gone."""

    references, asked = References(), Reference()
    references.add(asked)
    asked = weakref.ref(asked)

    references.close()

    assert asked() is None
    assert len(references) == 1
