"""What the loop of polling says of a cycle."""

import pytest

from prwatch.app.daemon.watch_loop import find_recovered
from prwatch.app.walk.cycle_report import Failure
from prwatch.domain.outcome import FailureClass


def fail(reference="", *, workspace="acme", scope="host", message="GitHub is down"):
    return Failure(
        workspace=workspace,
        scope=scope,
        reference=reference,
        failure_class=FailureClass.TRANSIENT,
        code="provider_unavailable",
        message=message,
    )


ONE = fail("octo/hello#1", scope="record")
TWO = fail("octo/hello#2", scope="record")


@pytest.mark.parametrize(
    ("before", "after", "recovered"),
    [
        pytest.param({TWO, ONE}, set(), [ONE, TWO], id="all is well"),
        pytest.param({ONE, TWO}, {TWO}, [ONE], id="one of two"),
        pytest.param(
            {fail()}, {fail(message="the token is refused")}, [], id="another reason"
        ),
        pytest.param({ONE}, {fail()}, [], id="nothing can be polled"),
        pytest.param({ONE}, {fail(workspace="corp")}, [ONE], id="of another workspace"),
    ],
)
def test_only_what_fails_no_more_has_recovered(before, after, recovered):
    assert find_recovered(frozenset(before), frozenset(after)) == recovered
