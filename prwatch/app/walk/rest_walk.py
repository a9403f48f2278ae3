"""Reading one pull request on demand, conditionally: the single-watch path."""

import datetime as dt
from collections.abc import Sequence

from prwatch.app.walk.cycle import AccountRun
from prwatch.app.walk.poll_memory import NO_TAGS
from prwatch.app.walk.probe_walk import Pairs
from prwatch.app.walk.reading import Watched, note_good, observe_answers, stand
from prwatch.domain.outcome import Found
from prwatch.domain.pull_request import UNOBSERVED
from prwatch.domain.reference import PullRequestReference
from prwatch.domain.watch import Watch
from prwatch.github.rest import NotModified


async def check_reference(
    run: AccountRun, reference: PullRequestReference, pairs: Sequence[Watched] | Pairs
) -> bool:
    """
    Read one pull request through REST for all who watch it.

    Returns whether GitHub answered. The entity tags of a reading are remembered only
    with it: while a verdict waits for settling there are none, nor for one that was
    dropped as stale or came second.
    """
    waiting = [
        pair
        if isinstance(pair, Watched)
        else Watched(view=pair[0], watch=pair[1], standing=stand(*pair))
        for pair in pairs
    ]
    first = waiting[0].watch
    report, now = run.cycle.report, run.cycle.now()
    memory = run.cycle.memory.get(first.id, now=now)
    report.references.add_pull_requests([reference])
    rejected = report.rejected_commits
    checked = await run.account.github.check(
        reference, tags=memory.tags, since=_newest_comment(first)
    )
    run.progress()
    if isinstance(checked.outcome, NotModified):
        for one in waiting:
            note_good(run, one.watch)
        return True
    await observe_answers(run, {reference: waiting}, {reference: checked.outcome})
    memories = [run.cycle.memory.get(one.watch.id, now=now) for one in waiting]
    is_kept = report.rejected_commits == rejected and not any(
        one.due_at or one.stale for one in memories
    )
    memory.tags = dict(checked.tags) if is_kept else NO_TAGS
    return isinstance(checked.outcome, Found)


def _newest_comment(watch: Watch) -> dt.datetime | None:
    mark = watch.watermark.comment_mark if watch.watermark else UNOBSERVED
    return None if mark is UNOBSERVED else mark.newest_at
