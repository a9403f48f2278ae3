"""`prwatch init`: a configuration to begin with, or systemd units."""

import sys
from pathlib import Path

import click

from prwatch.cli.options import get_options, global_options, run_async
from prwatch.cli.output import print_json, print_text

SYSTEM_FOLDER = Path("/etc/systemd/system")


@click.command("init")
@click.option("--force", "is_forced", is_flag=True, help="Replace what is there.")
@click.option(
    "--systemd", "is_systemd", is_flag=True, help="Write a systemd unit instead."
)
@click.option(
    "--user",
    "is_of_user",
    is_flag=True,
    help="With --systemd: a unit of your own, not of the system.",
)
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="With --systemd: the folder of the unit.",
)
@global_options
@click.pass_context
def command(
    ctx: click.Context,
    *,
    is_forced: bool,
    is_systemd: bool,
    is_of_user: bool,
    folder: Path | None,
) -> None:
    """
    Write a configuration file or systemd units.

    Asks nothing: it looks for a token in GITHUB_TOKEN or GH_TOKEN, for gh, and for
    the repository of this folder. The file is the one of --config, else
    ~/.config/prwatch/prwatch.toml. What is there is kept unless --force is given.
    """
    if not is_systemd:
        if is_of_user or folder:
            raise click.UsageError("--user and --to go with --systemd", ctx)
        _write_config(ctx, is_forced=is_forced)
        return
    _write_unit(ctx, is_forced=is_forced, is_of_user=is_of_user, folder=folder)


def _write_config(ctx: click.Context, *, is_forced: bool) -> None:
    from prwatch.app.command.initialise import detect, render_config, write_file  # noqa: PLC0415 - heavy
    from prwatch.config.places import find_config  # noqa: PLC0415 - heavy

    options = get_options(ctx)
    path = _choose_path(ctx)
    detected = run_async(lambda: detect(options.environ, options.cwd))
    is_written = write_file(path, render_config(detected), is_forced=is_forced)
    warnings = []
    used = find_config(options.config, options.environ, options.cwd)
    if used is not None and used != path:
        warnings.append(f"in this folder {used} is used before it")
    steps = [
        "prwatch doctor      # is everything there that it needs?",
        "prwatch --cycle     # one pass",
        "prwatch run         # watch until stopped",
    ]
    if not detected.token_env and not detected.has_gh:
        variable = "export GITHUB_TOKEN=…"
        steps.insert(0, f"{variable}  # https://github.com/settings/tokens")
    _tell(ctx, path, is_written=is_written, warnings=warnings, steps=steps)


def _choose_path(ctx: click.Context) -> Path:
    from prwatch.config.places import expand_home, list_places  # noqa: PLC0415 - heavy

    options = get_options(ctx)
    variable = options.environ.get("PRWATCH_CONFIG", "")
    named = options.config or (Path(variable) if variable else None)
    if named is not None:
        return options.cwd / expand_home(named, options.environ)
    # The folder itself comes first and /etc last; a person's own is between them.
    places = list_places(options.environ, options.cwd)
    return places[1] if len(places) > 2 else places[0]


def _write_unit(
    ctx: click.Context, *, is_forced: bool, is_of_user: bool, folder: Path | None
) -> None:
    from prwatch.app.command.initialise import (  # noqa: PLC0415 - heavy
        find_program,
        list_unit_warnings,
        render_unit,
        write_file,
    )
    from prwatch.app.daemon.unit_check import UNIT, get_user_folder  # noqa: PLC0415 - heavy

    options = get_options(ctx)
    usual = get_user_folder(options.environ) if is_of_user else SYSTEM_FOLDER
    target = options.cwd / (folder or usual or Path())
    program = find_program(sys.argv[0], options.environ)
    name = "prwatch-user.service" if is_of_user else UNIT
    path = target / UNIT
    is_written = write_file(path, render_unit(name, program), is_forced=is_forced)
    _tell(
        ctx,
        path,
        is_written=is_written,
        warnings=[] if is_of_user else list(list_unit_warnings(program)),
        steps=_USER_STEPS if is_of_user else _SYSTEM_STEPS,
    )


_SYSTEM_STEPS = [
    "prwatch init --config /etc/prwatch/prwatch.toml    # unless it is there",
    "install -m 600 /dev/stdin /etc/prwatch/github-token   # and enter the token",
    'write token_credential = "github-token" into the workspace',
    "take the comment off LoadCredential= in the unit",
    "systemctl daemon-reload && systemctl enable --now prwatch",
]
_USER_STEPS = [
    "prwatch init    # unless there is a configuration",
    "systemctl --user daemon-reload && systemctl --user enable --now prwatch",
    "loginctl enable-linger    # to keep it running after logging out",
]


def _tell(
    ctx: click.Context,
    path: Path,
    *,
    is_written: bool,
    warnings: list[str],
    steps: list[str],
) -> None:
    if get_options(ctx).is_json:
        told = {"path": str(path), "written": is_written}
        print_json({**told, "warnings": warnings, "next": steps})
        return
    print_text(f"Wrote {path}." if is_written else f"{path} is as it should be.")
    for warning in warnings:
        print_text(f"Warning: {warning}.", err=True)
    print_text("Next:")
    for step in steps:
        print_text(f"  {step}")
