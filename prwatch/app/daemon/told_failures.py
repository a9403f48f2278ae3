"""Which failures of cleaning up were told, so that each is told once and taken back."""

from typing import Final

from prwatch.app.cleanup.report import CleanupReport
from prwatch.app.walk.cycle_report import Failure
from prwatch.domain.outcome import FailureClass
from prwatch.domain.review_cleanup import Stand

READ: Final = frozenset({"deleted", "changed", *Stand})
"""The verdicts of what GitHub answered for."""
FAILED: Final = "failed"
SKIPPED: Final = "skipped"


class ToldFailures:
    """
    What fails as far as it was told: a task by its reference, a workspace by ''.

    A sweep that leaves something out says nothing of it: it neither recovered nor
    fails anew. Limits are told elsewhere.
    """

    def __init__(self) -> None:
        self._standing: dict[tuple[str, str], Failure] = {}

    def take(self, report: CleanupReport) -> tuple[list[Failure], list[Failure]]:
        """Return what fails newly or for another reason, and what recovered."""
        failing = {
            (each.workspace, each.reference): each
            for each in report.failures
            if each.failure_class is not FailureClass.LIMIT
        }
        begun = [
            each
            for key, each in failing.items()
            if key not in self._standing or self._standing[key].code != each.code
        ]
        verdicts = _list_verdicts(report)
        ended: list[Failure] = []
        for key, failure in list(self._standing.items()):
            if key in failing or (key[0] and key[0] not in report.swept):
                continue
            found = verdicts.get(key, set())
            # A single one that could not be read shows that GitHub answers.
            if found & READ or (not key[1] and FAILED in found):
                ended.append(failure)
            elif SKIPPED in found:
                continue
            del self._standing[key]  # also of what is gone, or kept by a person now
        self._standing |= failing
        return begun, ended

    def keep_workspaces(self, names: set[str]) -> None:
        """Forget what belongs to workspaces that are gone."""
        for key in [each for each in self._standing if each[0] not in {"", *names}]:
            del self._standing[key]


def _list_verdicts(report: CleanupReport) -> dict[tuple[str, str], set[str]]:
    """Return how tasks were found, by task and reference, and all of a workspace."""
    verdicts: dict[tuple[str, str], set[str]] = {}
    for each in report.findings:
        for name in ("", each.task, each.reference):
            verdicts.setdefault((each.workspace, name), set()).add(each.verdict)
    return verdicts
