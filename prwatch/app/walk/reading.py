"""From references to readings: ask in full for what moved, and observe the answers."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from prwatch.app.guard.admission import ask_for, note_found, note_missing
from prwatch.app.walk.cycle import AccountRun
from prwatch.app.walk.observer import Sighting, observe
from prwatch.app.workspace_view import WorkspaceView
from prwatch.domain.observing import Standing
from prwatch.domain.outcome import Found, Outcome
from prwatch.domain.reference import PullRequestReference, Reading
from prwatch.domain.watch import Watch


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """
    A watch that waits for a full reading, with what stands around it.

    `record` is what its circuit is kept by as long as it is no row, '' once it is.
    """

    view: WorkspaceView
    watch: Watch
    standing: Standing
    record: str = ""


Waiting = Mapping[PullRequestReference, Sequence[Watched]]


async def read_details(run: AccountRun, waiting: Waiting) -> int:
    """Read pull requests in full and observe them; return how many commits it made."""
    done = 0
    report = run.cycle.report
    report.references.add_pull_requests(waiting)
    async for answers in run.reader.iter_details(list(waiting)):
        run.progress()
        report.details += len(answers)
        done += await observe_answers(run, waiting, answers)
    return done


async def observe_answers(
    run: AccountRun,
    waiting: Waiting,
    answers: Mapping[PullRequestReference, Outcome[Reading]],
) -> int:
    """Observe what was found for each waiting watch, and report what was not."""
    sightings: list[Sighting] = []
    for reference, outcome in answers.items():
        name = name_reference(reference)
        for watched in waiting[reference]:
            asked = ask_for(
                run.cycle, watched.view, watched.watch, name, record=watched.record
            )
            if isinstance(outcome, Found):
                note_found(run.cycle, [asked])
                sightings.append(
                    Sighting(
                        view=watched.view,
                        watch=watched.watch,
                        reading=outcome.value,
                        standing=watched.standing,
                    )
                )
            else:
                note_missing(run.cycle, asked, outcome)
    return await observe(run.cycle, sightings)


def stand(view: WorkspaceView, watch: Watch) -> Standing:
    """Return what stands around a stored, discovered watch."""
    takes_over = None
    if watch.watermark is None:
        takes_over = view.adopted.find(watch.repository_id, watch.pr_number)
        if takes_over is not None and takes_over.id == watch.id:
            takes_over = None
    search_in, covered_by = view.find_search_place(watch)
    return Standing(
        is_adopted=view.is_adopted(watch),
        search_in=search_in,
        covered_by=covered_by,
        stored=view.find_task_pull_request(watch),
        takes_over=takes_over,
    )


def refer(view: WorkspaceView, watch: Watch) -> PullRequestReference:
    """Return how a discovered watch's pull request is asked for."""
    repository = view.repositories[watch.repository_id]
    return PullRequestReference(
        repository.owner, repository.name, watch.pr_number, watch.node_id
    )


def name_reference(reference: PullRequestReference) -> str:
    """Return `owner/name#number`."""
    return f"{reference.owner}/{reference.name}#{reference.number}"


def mark_asked(run: AccountRun, watch: Watch, now: dt.datetime) -> None:
    """Remember that a watch had its turn."""
    memory = run.cycle.memory.get(watch.id, now=now)
    memory.asked_at = now


def note_good(run: AccountRun, watch: Watch) -> None:
    """Remember that a watch was seen, as it was known."""
    now = run.cycle.now()
    run.cycle.memory.get(watch.id, now=now).good_at = now
