"""The numbers of `[poll]`, as the walk obeys them."""

import datetime as dt
from dataclasses import dataclass

from prwatch.config.model import Poll
from prwatch.domain.schedule import Intervals
from prwatch.domain.stretch import StretchRules


@dataclass(frozen=True, slots=True, kw_only=True)
class PollSettings:
    """The numbers of `[poll]` that the walk obeys."""

    settle: dt.timedelta
    full_read: dt.timedelta
    search_for: dt.timedelta
    progress_deadline: dt.timedelta
    read_path: str
    feedback_on_activity: bool
    intervals: Intervals
    rules: StretchRules
    """How far intervals may give way when a budget is short."""
    tick: dt.timedelta
    jitter: float


def build_poll_settings(poll: Poll) -> PollSettings:
    """Return the numbers of the walk from the configuration's section."""
    return PollSettings(
        settle=poll.settle,
        full_read=poll.full_read,
        search_for=poll.search_for,
        progress_deadline=poll.progress_deadline,
        read_path=poll.read_path,
        feedback_on_activity=poll.feedback_on_activity,
        intervals=Intervals(
            base=poll.interval,
            hot=poll.hot_interval,
            search=poll.search_interval,
            search_idle=poll.search_idle_interval,
            search_rest=poll.search_rest_interval,
            search_for=poll.search_for,
            full_read=poll.full_read,
        ),
        rules=StretchRules(
            idle=poll.idle_interval,
            idle_rest=poll.idle_rest_interval,
            longest=poll.longest_interval,
            above=poll.stretch_above,
            reserve=poll.reserve,
        ),
        tick=poll.tick,
        jitter=poll.jitter,
    )
