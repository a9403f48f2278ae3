"""`prwatch task`: pieces of work, their sessions and their pull requests."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from prwatch.cli.bench import (
    BRANCH,
    IDENTIFIER,
    PULL_REQUEST,
    REASON,
    TITLE,
    run_on_bench,
    workspace_option,
)
from prwatch.cli.options import get_options, global_options
from prwatch.cli.output import (
    format_time,
    print_json,
    print_lines,
    print_table,
    print_text,
)
from prwatch.cli.watch import tell_state

if TYPE_CHECKING:
    from prwatch.app.command.task_listing import TaskRow
    from prwatch.app.command.workbench import Workbench


@click.group("task")
@global_options
def command() -> None:
    """Manage pieces of work and what they are about."""


@command.command("add")
@click.argument("task", type=IDENTIFIER, metavar="ID")
@click.option("--title", type=TITLE, help="A line for people.")
@click.option(
    "--repository",
    "repositories",
    type=BRANCH,
    multiple=True,
    metavar="OWNER/REPO[@BRANCH]",
    help="A repository that it works in; may be given again.",
)
@click.option("--session", type=IDENTIFIER, metavar="ID", help="A run of work on it.")
@click.option(
    "--link",
    "links",
    type=PULL_REQUEST,
    multiple=True,
    metavar="PR",
    help="A pull request of it; may be given again.",
)
@workspace_option
@global_options
@click.pass_context
def add(
    ctx: click.Context,
    *,
    task: str,
    title: str | None,
    repositories: tuple[Any, ...],
    session: str | None,
    links: tuple[Any, ...],
    workspace: str,
) -> None:
    """Add a task, or add to the one of that id."""
    from prwatch.app.command.task_commands import NewTask, add_task  # noqa: PLC0415 - heavy

    new = NewTask(
        id=task,
        title=title or "",
        repositories=repositories,
        session=session or "",
        links=links,
    )
    _run(ctx, lambda bench: add_task(bench, new, workspace=workspace), "is in place")


@command.command("list")
@click.option("--all", "is_all", is_flag=True, help="Also archived ones.")
@workspace_option
@global_options
@click.pass_context
def list_(ctx: click.Context, *, is_all: bool, workspace: str) -> None:
    """List tasks."""
    from prwatch.app.command.task_listing import list_tasks  # noqa: PLC0415 - heavy

    rows = run_on_bench(
        ctx, lambda bench: list_tasks(bench, workspace=workspace, is_all=is_all)
    )
    if get_options(ctx).is_json:
        print_json({"tasks": [row.as_json() for row in rows]})
        return
    print_table(
        ("task", "workspace", "title", "from", "pull requests", "archived"),
        [
            (
                row.id,
                row.workspace,
                row.title,
                row.origin.value,
                ", ".join(f"{w.reference} {tell_state(w)}" for w in row.watches),
                row.archived_at,
            )
            for row in rows
        ],
        empty="There is no task; `prwatch task add` makes one.",
    )


@command.command("show")
@click.argument("task", metavar="TASK")
@workspace_option
@global_options
@click.pass_context
def show(ctx: click.Context, *, task: str, workspace: str) -> None:
    """Show one task with its sessions and pull requests."""
    from prwatch.app.command.task_listing import show_task  # noqa: PLC0415 - heavy

    row = run_on_bench(ctx, lambda bench: show_task(bench, task, workspace=workspace))
    if get_options(ctx).is_json:
        print_json(row.as_json())
    else:
        print_lines(_describe(row))


@command.command("link")
@click.argument("task", metavar="TASK")
@click.argument("pull_request", type=PULL_REQUEST, metavar="PR")
@workspace_option
@global_options
@click.pass_context
def link(ctx: click.Context, *, task: str, pull_request: Any, workspace: str) -> None:
    """Attach a pull request to a task."""
    from prwatch.app.command.task_commands import link_pull_request  # noqa: PLC0415 - heavy

    _run(
        ctx,
        lambda bench: link_pull_request(bench, task, pull_request, workspace=workspace),
        f"has {pull_request}",
    )


@command.command("detach")
@click.argument("task", metavar="TASK")
@click.argument("pull_request", type=PULL_REQUEST, metavar="PR")
@workspace_option
@global_options
@click.pass_context
def detach(ctx: click.Context, *, task: str, pull_request: Any, workspace: str) -> None:
    """Take a pull request off a task; only `link` brings it back."""
    from prwatch.app.command.task_commands import detach_pull_request  # noqa: PLC0415 - heavy

    async def work(bench: "Workbench") -> bool:
        await detach_pull_request(bench, task, pull_request, workspace=workspace)
        return True

    _run_change(ctx, work, task, (f"no longer has {pull_request}", ""))


@command.command("archive")
@click.argument("task", metavar="TASK")
@workspace_option
@global_options
@click.pass_context
def archive(ctx: click.Context, *, task: str, workspace: str) -> None:
    """Archive a task: it watches nothing any more, its history stays."""
    from prwatch.app.command.task_commands import archive_task  # noqa: PLC0415 - heavy

    _run_change(
        ctx,
        lambda bench: archive_task(bench, task, workspace=workspace),
        task,
        ("is archived now", "was archived already"),
    )


@command.command("unarchive")
@click.argument("task", metavar="TASK")
@workspace_option
@global_options
@click.pass_context
def unarchive(ctx: click.Context, *, task: str, workspace: str) -> None:
    """Take an archived task up again."""
    from prwatch.app.command.task_commands import unarchive_task  # noqa: PLC0415 - heavy

    _run_change(
        ctx,
        lambda bench: unarchive_task(bench, task, workspace=workspace),
        task,
        ("is active again", "was active already"),
    )


@command.command("note")
@click.argument("task", metavar="TASK")
@workspace_option
@global_options
@click.pass_context
def note(ctx: click.Context, *, task: str, workspace: str) -> None:
    """Note that a person wrote in a task: it is not cleaned away by itself."""
    from prwatch.app.command.task_attention import note_person  # noqa: PLC0415 - heavy

    _run_change(
        ctx,
        lambda bench: note_person(bench, task, workspace=workspace),
        task,
        ("has a person's words now", "has words of a person that are no older"),
    )


@command.command("wait")
@click.argument("task", metavar="TASK")
@click.argument("what", type=REASON, metavar="WHAT", default="a prompt")
@workspace_option
@global_options
@click.pass_context
def wait(ctx: click.Context, *, task: str, what: str, workspace: str) -> None:
    """Say that a task waits for WHAT: it is not cleaned away by itself."""
    from prwatch.app.command.task_attention import wait_for  # noqa: PLC0415 - heavy

    _run_change(
        ctx,
        lambda bench: wait_for(bench, task, what, workspace=workspace),
        task,
        (f"waits for {what}", f"waits for {what} already"),
    )


@command.command("resume")
@click.argument("task", metavar="TASK")
@workspace_option
@global_options
@click.pass_context
def resume(ctx: click.Context, *, task: str, workspace: str) -> None:
    """Say that a task waits no longer."""
    from prwatch.app.command.task_attention import wait_for  # noqa: PLC0415 - heavy

    _run_change(
        ctx,
        lambda bench: wait_for(bench, task, "", workspace=workspace),
        task,
        ("waits no longer", "did not wait"),
    )


@command.group("session")
@global_options
def session_group() -> None:
    """Start and end runs of work on a task."""


@session_group.command("start")
@click.argument("task", metavar="TASK")
@click.argument("session", type=IDENTIFIER, metavar="SESSION")
@click.option(
    "--repository",
    type=BRANCH,
    metavar="OWNER/REPO@BRANCH",
    help="The branch that it has checked out.",
)
@click.option(
    "--worktree",
    type=click.Path(path_type=Path),
    help="The folder that it works in; its branch is read each cycle.",
)
@workspace_option
@global_options
@click.pass_context
def start(
    ctx: click.Context,
    *,
    task: str,
    session: str,
    repository: Any,
    worktree: Path | None,
    workspace: str,
) -> None:
    """Start a session of a task, or start it again."""
    from prwatch.app.command.references import NamedRepository  # noqa: PLC0415 - heavy
    from prwatch.app.command.task_commands import start_session  # noqa: PLC0415 - heavy

    if repository is not None and worktree is not None:
        raise click.UsageError("--repository and --worktree exclude each other", ctx)
    if isinstance(repository, NamedRepository):
        raise click.UsageError("--repository needs a branch: owner/repo@branch", ctx)
    folder = get_options(ctx).cwd / worktree if worktree is not None else None
    _run(
        ctx,
        lambda bench: start_session(
            bench, task, session, checkout=repository or folder, workspace=workspace
        ),
        f"has the running session {session}",
    )


@session_group.command("end")
@click.argument("task", metavar="TASK")
@click.argument("session", metavar="SESSION")
@workspace_option
@global_options
@click.pass_context
def end(ctx: click.Context, *, task: str, session: str, workspace: str) -> None:
    """End a session. What it had checked out stays watched."""
    from prwatch.app.command.task_commands import end_session  # noqa: PLC0415 - heavy

    _run_change(
        ctx,
        lambda bench: end_session(bench, task, session, workspace=workspace),
        task,
        (f"has ended its session {session}", f"had ended its session {session}"),
    )


def _run(
    ctx: click.Context,
    work: "Callable[[Workbench], Awaitable[TaskRow]]",
    words: str,
) -> None:
    """Do something to a task and say what it has now."""
    row = run_on_bench(ctx, work)
    if get_options(ctx).is_json:
        print_json(row.as_json())
    else:
        print_text(f"the task {row.id} {words}")


def _run_change(
    ctx: click.Context,
    work: "Callable[[Workbench], Awaitable[bool]]",
    task: str,
    words: tuple[str, str],
) -> None:
    """Do something to a task and say whether it was news."""
    is_done = run_on_bench(ctx, work)
    if get_options(ctx).is_json:
        print_json({"task": task, "changed": is_done})
    else:
        print_text(f"the task {task} {words[0] if is_done else words[1]}")


def _describe(row: "TaskRow") -> list[str]:
    lines = [f"{row.id}  {row.title}".rstrip()]
    lines.append(f"  workspace {row.workspace}, from {row.origin.value}")
    if row.archived_at:
        lines.append(f"  archived {format_time(row.archived_at)}")
    if row.person_wrote_at:
        lines.append(f"  a person wrote in it {format_time(row.person_wrote_at)}")
    if row.waits_for:
        lines.append(f"  waits for {row.waits_for}")
    lines += [f"  works in {name}" for name in row.repositories]
    lines += [f"  is linked to {name}" for name in row.links]
    for session in row.sessions:
        state = f"ended {format_time(session.ended_at)}" if session.ended_at else "runs"
        where = f" on {', '.join(session.checkouts)}" if session.checkouts else ""
        lines.append(f"  session {session.id} {state}{where}")
    for watch in row.watches:
        title = watch.read("title") or ""
        lines.append(f"  {watch.reference} {tell_state(watch)} {title}".rstrip())
    return lines
