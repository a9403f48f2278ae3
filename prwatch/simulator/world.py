"""
A small model of GitHub, moved with the verbs a person would use.

The verbs live beside their things; this class is all of them over one state. It
is answered over HTTP by `github_app.GitHubApp`.
"""

from prwatch.clock import Clock
from prwatch.simulator.check_verbs import CheckVerbs
from prwatch.simulator.faults import Faults
from prwatch.simulator.file_verbs import FileVerbs
from prwatch.simulator.installations import InstallationVerbs
from prwatch.simulator.limits import DEFAULT_LIMITS, DEFAULT_TOKEN
from prwatch.simulator.pull_request_verbs import MergeVerbs, PullRequestVerbs
from prwatch.simulator.request_log import RequestLog
from prwatch.simulator.review_verbs import ReviewVerbs

__all__ = ["DEFAULT_TOKEN", "World"]


class World(
    PullRequestVerbs,
    MergeVerbs,
    ReviewVerbs,
    CheckVerbs,
    FileVerbs,
    InstallationVerbs,
):
    """
    A GitHub of one's own. It reads the time from `clock` and nothing else.

    One token is known from the start: `DEFAULT_TOKEN` of the user octocat. Equal
    seeds and equal stories give equal ids and oids.
    """

    def __init__(self, clock: Clock, *, seed: int = 0) -> None:
        super().__init__(clock, seed=seed)
        self.tokens = {}
        self.budgets = {}
        self.registrations = []
        self.installations = {}
        self.limits = dict(DEFAULT_LIMITS)
        self.secondary_until = None
        self.down_until = None
        self.faults = Faults()
        self.requests = RequestLog()
        self.set_token(DEFAULT_TOKEN)
