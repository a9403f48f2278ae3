"""Asking a repository for its default branch, where a target waits for that alone."""

from prwatch.app.guard.admission import (
    Asked,
    admit,
    name_repository,
    note_found,
    note_missing,
)
from prwatch.app.walk.cycle import AccountRun
from prwatch.app.walk.repository_rows import put_facts
from prwatch.domain.outcome import Found


async def walk_unsettled(run: AccountRun) -> None:
    """
    Ask once for each repository in which only held targets wait.

    The targets are resolved with the answer in the next cycle.
    """
    for view in run.views:
        for repository_id in sorted(view.targets.unsettled):
            repository = view.repositories.get(repository_id)
            done = run.account.asked_repositories
            if repository is None or repository_id in done:
                continue
            record = name_repository(repository_id)
            if not admit(run.cycle, view, record, repository.owner):
                continue
            done.add(repository_id)
            asked = Asked(
                view=view, reference=repository.name_with_owner, record=record
            )
            run.cycle.report.references.add(repository.name_with_owner.lower())
            outcome = await run.reader.repository(repository.owner, repository.name)
            run.progress()
            if isinstance(outcome, Found):
                note_found(run.cycle, [asked])
                await put_facts(
                    run.cycle, view, repository.name_with_owner, outcome.value
                )
            else:
                done.discard(repository_id)
                note_missing(run.cycle, asked, outcome)
