"""The walk without GraphQL: one watch at a time, conditionally."""

import datetime as dt
from collections.abc import Sequence

from prwatch.app.cycle import AccountRun
from prwatch.app.probe_walk import Pairs, group_by_reference
from prwatch.app.reading import Watched, mark_asked, observe_answers, stand
from prwatch.app.turns import take_turns
from prwatch.domain.outcome import Found
from prwatch.domain.pull_request import UNOBSERVED
from prwatch.domain.reference import PullRequestReference
from prwatch.domain.watch import Watch
from prwatch.github.rest import NotModified


async def walk_with_rest(run: AccountRun) -> None:
    """Read the discovered watches whose turn it is, each with its own requests."""
    pairs: Pairs = []
    now = run.cycle.now()
    for view in run.views:
        for watch in take_turns(run.cycle, view, view.discovered):
            mark_asked(run, watch, now)
            pairs.append((view, watch))
    for reference, watchers in group_by_reference(pairs).items():
        await check_reference(run, reference, watchers)


async def check_reference(
    run: AccountRun, reference: PullRequestReference, pairs: Sequence[Watched] | Pairs
) -> bool:
    """
    Read one pull request through REST for all who watch it.

    Returns whether GitHub answered. The entity tags of a reading are remembered only
    with it: while a verdict waits for settling there are none.
    """
    waiting = [
        pair
        if isinstance(pair, Watched)
        else Watched(view=pair[0], watch=pair[1], standing=stand(*pair))
        for pair in pairs
    ]
    first = waiting[0].watch
    memory = run.cycle.memory.get(first.id, now=run.cycle.now())
    run.cycle.report.references.add(reference)
    checked = await run.account.github.check(
        reference, tags=memory.tags, since=_newest_comment(first)
    )
    run.progress()
    if isinstance(checked.outcome, NotModified):
        memory.good_at = run.cycle.now()
        return True
    await observe_answers(run, {reference: waiting}, {reference: checked.outcome})
    memory.tags = {} if memory.due_at else dict(checked.tags)
    return isinstance(checked.outcome, Found)


def _newest_comment(watch: Watch) -> dt.datetime | None:
    mark = watch.watermark.comment_mark if watch.watermark else UNOBSERVED
    return None if mark is UNOBSERVED else mark.newest_at
