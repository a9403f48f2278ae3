"""What a cycle's account says of failures, and which of them end a workspace."""

import datetime as dt

import pytest

from prwatch.app.walk.cycle_report import CycleReport, Failure
from prwatch.domain.outcome import FailureClass


def make_failure(scope):
    return Failure(
        workspace="acme",
        scope=scope,
        reference="octo/hello#12",
        failure_class=FailureClass.AUTH,
        code="no_token",
        message="it was refused",
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
