"""
One turn of a workspace: look at its folders, then apply what all of them declare.

The folders of a workspace speak together, so they are looked at one after the other and
by one only. Where one changed the others are looked at too before anything ends: what
left one file may stand in another now.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from prwatch.app.configured import put_configured
from prwatch.app.runtime import Runtime
from prwatch.app.sync.declared import Applied, apply_declared
from prwatch.app.sync.folder_rows import has_access, list_stored_folders
from prwatch.app.sync.folder_sync import ACCESS_CHANGED, FolderLook, look_at_folder
from prwatch.app.sync.memory import Followed
from prwatch.app.sync.next_look import end_look, list_doubtful, list_unread
from prwatch.app.sync.outcome import SyncResult
from prwatch.domain.task import Workspace
from prwatch.domain.watch_file_plan import warn_of_held

EVERY_FILE: Final = ("each watch file",)
"""What is waited for where no folder is, in words."""


async def sync_workspace(
    runtime: Runtime,
    meant: Sequence[Followed],
    *,
    is_forced: bool = False,
    progress: Callable[[], None] = lambda: None,
) -> list[FolderLook]:
    """
    Look at folders of one workspace, and let what its files declare be watched.

    With `is_forced` no open circuit holds the folders that are meant back, and the
    tasks are compared although no file changed. What that took, and what does not
    count, stands at the last folder that changed, or was read.

    Raises:
        StoreError: The store failed.
    """
    workspace = meant[0].workspace
    async with runtime.sync_memory.locks[workspace.id]:
        looks = [
            await look_at_folder(runtime, each, is_forced=is_forced, progress=progress)
            for each in meant
        ]
        if _is_changed(looks):
            looks += [
                await look_at_folder(runtime, each, progress=progress)
                for each in _list_others(runtime, meant)
            ]
        held = await _settle_configured(runtime, workspace, looks)
        looks = await _apply(runtime, workspace, looks, held, is_forced=is_forced)
        # What ended before this line is taken up again soon.
        for look in looks:
            end_look(
                runtime.sync_memory,
                look.followed,
                look.outcome,
                now=runtime.clock.now(),
            )
        return looks


async def _apply(
    runtime: Runtime,
    workspace: Workspace,
    looks: list[FolderLook],
    held: tuple[str, ...],
    *,
    is_forced: bool,
) -> list[FolderLook]:
    """
    Let the tasks be what the files declare; return the looks with what it took.

    `held` are warnings of what waits for a folder; they stand beside those of the
    files, or at the last look that failed.
    """
    read = [index for index, look in enumerate(looks) if look.connection]
    if not read:
        return _attach_to_failed(looks, held)
    if not is_forced and await _is_applied(runtime, workspace):
        return [
            _keep_warnings(runtime, look) if look.connection else look for look in looks
        ]
    if not await _is_allowed(runtime, workspace, looks):
        return [_refuse(look) for look in looks]
    applied = await apply_declared(runtime, workspace)
    applied = replace(applied, warnings=(*applied.warnings, *held))
    changed = [index for index in read if _is_changed([looks[index]])]
    last = (changed or read)[-1]
    _remember_warnings(runtime, looks[last].followed, applied)
    looks[last] = _attach(looks[last], applied)
    return looks


def _is_changed(looks: Iterable[FolderLook]) -> bool:
    return any(look.outcome.result is SyncResult.CHANGED for look in looks)


def _list_others(runtime: Runtime, meant: Sequence[Followed]) -> list[Followed]:
    """List the other folders of the workspace that are looked at by themselves."""
    known = {each.folder.id for each in meant}
    return [
        each
        for each in runtime.sync_memory.followed
        if each.workspace == meant[0].workspace
        and each.folder.id not in known
        and each.entry.poll_enabled
    ]


async def _settle_configured(
    runtime: Runtime, workspace: Workspace, looks: Iterable[FolderLook]
) -> tuple[str, ...]:
    """
    End what the configuration names no more, once all files were read without mistakes.

    It may be meant to stand there. Until then what a file that was read declares is
    that one's; return the warnings of the rest.
    """
    memory = runtime.sync_memory
    is_all_skipped = all(each.outcome.result is SyncResult.SKIPPED for each in looks)
    if workspace.id not in memory.unsettled or is_all_skipped:
        return ()
    unread = list_unread(memory, workspace.id) or list_doubtful(memory, workspace.id)
    held = await put_configured(runtime, workspace, is_final=not unread)
    if not list_unread(memory, workspace.id) and not held:
        memory.unsettled.discard(workspace.id)
        memory.applied.pop(workspace.id, None)
    # Where each folder was read, a stored file is in the way, and told by itself.
    return tuple(warn_of_held(what, unread or EVERY_FILE) for what in held)


async def _is_applied(runtime: Runtime, workspace: Workspace) -> bool:
    """Return whether tasks are in line with the files, whoever stored those."""
    applied = runtime.sync_memory.applied.get(workspace.id)
    return applied == await list_stored_folders(runtime, workspace)


async def _is_allowed(
    runtime: Runtime, workspace: Workspace, looks: Iterable[FolderLook]
) -> bool:
    for look in looks:
        if look.connection is not None:
            return await has_access(runtime, workspace, look.connection)
    return False


def _keep_warnings(runtime: Runtime, look: FolderLook) -> FolderLook:
    """Return the look with what was warned of when the files were applied."""
    kept = runtime.sync_memory.warnings.get(look.followed.folder.id, ())
    warnings = (*look.outcome.warnings, *kept)
    return replace(look, outcome=replace(look.outcome, warnings=warnings))


def _refuse(look: FolderLook) -> FolderLook:
    if look.connection is None:
        return look
    return replace(look, outcome=replace(look.outcome, **ACCESS_CHANGED))


def _remember_warnings(runtime: Runtime, at: Followed, applied: Applied) -> None:
    """Keep what was warned of at that folder, and nothing at others beside it."""
    memory = runtime.sync_memory
    for each in memory.followed:
        if each.workspace == at.workspace:
            memory.warnings.pop(each.folder.id, None)
    memory.warnings[at.folder.id] = applied.warnings


def _attach_to_failed(
    looks: list[FolderLook], warnings: tuple[str, ...]
) -> list[FolderLook]:
    """Return the looks, the last that failed with warnings; `_apply` read none."""
    failed = [each for each in looks if each.outcome.result is SyncResult.FAILED]
    return [
        replace(each, outcome=replace(each.outcome, warnings=warnings))
        if each in failed[-1:]
        else each
        for each in looks
    ]


def _attach(look: FolderLook, applied: Applied) -> FolderLook:
    warnings = (*look.outcome.warnings, *applied.warnings)
    outcome = replace(look.outcome, steps=applied.steps, warnings=warnings)
    return replace(look, outcome=outcome)
