"""
What machines say about a commit: check runs and statuses.

GitHub's rules: <https://docs.github.com/en/rest/checks/runs>. Nothing here moves a
pull request's update time.
"""

import datetime as dt

from prwatch.simulator.entities import (
    App,
    CheckRun,
    CheckSuite,
    Commit,
    PullRequest,
    StatusContext,
)
from prwatch.simulator.state import WorldState

DEFAULT_APP = "github-actions"


class CheckVerbs(WorldState):
    """The moves of continuous integration."""

    def set_check(  # noqa: PLR0913 -- a check is described by naming its traits
        self,
        pull_request: PullRequest,
        name: str,
        *,
        status: str = "",
        conclusion: str | None = None,
        app: str = DEFAULT_APP,
        workflow: str = "",
        event: str = "pull_request",
        is_new_suite: bool = False,
        is_required: bool = False,
    ) -> CheckRun:
        """
        Report a check run for the head commit.

        A run that has not completed moves on; after its end the same name is a
        re-run, with a new id in the same suite. `is_new_suite` starts the suite
        again, as a second run of the workflow does: both runs are listed then.
        Without `status` a run with a conclusion is COMPLETED, else IN_PROGRESS.
        """
        commit, now = pull_request.head, self.now()
        suite = None if is_new_suite else _find_suite(commit, app, workflow, event)
        suite = suite or CheckSuite(
            self.next_id(), self._put_app(app), workflow, event, now
        )
        run = _find_unfinished(commit, suite, name)
        if run is None:
            run = CheckRun(
                self.next_id(), suite, name, "QUEUED", None, None, None, is_required
            )
            commit.check_runs += (run,)
        run.status = status or ("COMPLETED" if conclusion else "IN_PROGRESS")
        run.conclusion = conclusion
        if run.status != "QUEUED":
            run.started_at = run.started_at or now
        if conclusion:
            run.completed_at = now
        return run

    def set_status(
        self,
        pull_request: PullRequest,
        context: str,
        state: str,
        *,
        is_required: bool = False,
    ) -> StatusContext:
        """Report a commit status for the head commit; the newest of a context holds."""
        status = StatusContext(
            self.next_id(), context, state, self.now(), is_required=is_required
        )
        commit = pull_request.head
        kept = tuple(old for old in commit.statuses if old.context != context)
        commit.statuses = (*kept, status)
        return status

    def lag_head(self, pull_request: PullRequest, *, for_: dt.timedelta) -> None:
        """Answer the checks of the commit before the head, for a while."""
        pull_request.checks_lag_until = self.now() + for_

    def get_checked_commit(self, pull_request: PullRequest) -> Commit:
        """Return the commit whose checks are answered now."""
        until, previous = pull_request.checks_lag_until, pull_request.previous_head
        if until is not None and previous is not None and self.now() < until:
            return previous
        return pull_request.head

    def _put_app(self, slug: str) -> App:
        app = self.apps.get(slug)
        if app is None:
            app = App(self.next_id(), slug, slug.replace("-", " ").title())
            self.apps[slug] = app
        return app


def list_latest_runs(commit: Commit) -> tuple[CheckRun, ...]:
    """Return the newest run of each name in each suite, as GitHub lists them."""
    latest: dict[tuple[int, str], CheckRun] = {}
    for run in commit.check_runs:
        latest[run.check_suite.database_id, run.name] = run
    return tuple(latest.values())


def _find_suite(
    commit: Commit, app: str, workflow: str, event: str
) -> CheckSuite | None:
    for run in reversed(commit.check_runs):
        suite = run.check_suite
        if (suite.app.slug, suite.workflow, suite.event) == (app, workflow, event):
            return suite
    return None


def _find_unfinished(commit: Commit, suite: CheckSuite, name: str) -> CheckRun | None:
    for run in reversed(commit.check_runs):
        if run.check_suite is suite and run.name == name:
            return run if run.conclusion is None else None
    return None
