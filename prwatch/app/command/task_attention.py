"""What people say of a task that keeps it from being cleaned away by itself."""

from prwatch.app.command.task_edit import change_task, get_active, get_task
from prwatch.app.command.workbench import Workbench
from prwatch.store import tasks
from prwatch.store.database import Transaction


async def note_person(
    bench: Workbench, external_id: str, *, workspace: str = ""
) -> bool:
    """
    Note that a person wrote in an active task now; False when later words are known.

    Raises:
        TaskNotFound: There is no such task, or none any more.
        PrwatchError: It is archived.
    """
    found = get_active(await get_task(bench, external_id, workspace=workspace))
    now = bench.surroundings.clock.now()

    async def write(tx: Transaction) -> bool:
        return await tasks.put_person_wrote(tx, found.task.id, now)

    return await change_task(bench, found, write)


async def wait_for(
    bench: Workbench, external_id: str, what: str, *, workspace: str = ""
) -> bool:
    """
    Say what an active task waits for; '' is nothing. False when it says so already.

    Raises:
        TaskNotFound: There is no such task, or none any more.
        PrwatchError: It is archived.
    """
    found = get_active(await get_task(bench, external_id, workspace=workspace))

    async def write(tx: Transaction) -> bool:
        return await tasks.put_waits_for(tx, found.task.id, what)

    return await change_task(bench, found, write)
