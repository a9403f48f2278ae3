"""`prwatch demo`: a pull request's life, as prwatch tells it."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from prwatch.cli.options import get_options, global_options, run_async
from prwatch.cli.output import is_terminal, print_json, print_text

if TYPE_CHECKING:
    from prwatch.app.command.demo import Scene

PAUSE_SECONDS = 1.5
"""Between two steps on a terminal: time to read, and the story under a minute."""


@click.command("demo")
@click.option("--fast", "is_fast", is_flag=True, help="Do not pause between steps.")
@global_options
@click.pass_context
def command(ctx: click.Context, *, is_fast: bool) -> None:
    """
    Play a story against a simulated GitHub.

    Needs no token and no network. The story runs through the same code that
    watches real pull requests; --json prints its events alone, one a line.
    """
    from prwatch.app.command.demo import load_demo_config, play_story  # noqa: PLC0415 - heavy
    from prwatch.cli.logs import start_logging  # noqa: PLC0415 - heavy
    from prwatch.clock import SystemClock  # noqa: PLC0415 - heavy

    is_json = get_options(ctx).is_json
    clock = SystemClock()
    pause = PAUSE_SECONDS if is_terminal() and not is_fast and not is_json else 0.0

    async def play(folder: Path) -> "list[Scene]":
        scenes = []
        # Closed here also when nobody reads any more: it holds the database open.
        async with aclosing(play_story(folder, begin=clock.now())) as story:
            async for scene in story:
                show = _print_events if is_json else _print_scene
                show(scene)
                scenes.append(scene)
                if pause:
                    await clock.sleep(pause)
        return scenes

    with tempfile.TemporaryDirectory(prefix="prwatch-demo-") as name:
        folder = Path(name)
        start_logging(ctx, load_demo_config(folder), level="warning")
        if not is_json:
            print_text(_OPENING)
        scenes = run_async(lambda: play(folder))
    if not is_json:
        print_text("\n".join(_list_closing(scenes)))


_OPENING = """\
This is a GitHub of our own, with one pull request: octo/hello#12. prwatch looks at
it once a minute, and tells what really changed.
"""


def _print_events(scene: "Scene") -> None:
    for event in scene.events:
        print_json(event)


def _print_scene(scene: "Scene") -> None:
    print_text(f"{scene.number:>2}. {scene.step.words}")
    if scene.gap.days:
        print_text("    (a day passes: an archived repository is asked once a day)")
    if not scene.events:
        print_text("      nothing that anybody has to know")
    for changes, types in _group(scene.events).items():
        print_text(f"      {' and '.join(types)}")
        for change in changes:
            print_text(f"        {change}")


def _group(events: Iterable[Mapping[str, Any]]) -> dict[tuple[str, ...], list[str]]:
    """Return the types of the events by the changes that they tell."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for event in events:
        changes = tuple(_describe(change) for change in event["data"]["changes"])
        groups.setdefault(changes, []).append(event["type"])
    return groups


def _describe(change: Mapping[str, Any]) -> str:
    previous, current = _show(change["previous"]), _show(change["current"])
    return f"{change['field']}: {previous} → {current}"


def _show(value: object) -> str:
    if value is None:
        return "(nothing)"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = str(value)
    # The name of a commit is as long as nobody reads it.
    return text[:10] if len(text) == 40 and text.isalnum() else text


def _list_closing(scenes: "list[Scene]") -> Iterator[str]:
    events = sum(len(scene.events) for scene in scenes)
    requests = sum(scene.requests for scene in scenes)
    yield ""
    yield (
        f"{len(scenes)} steps, {events} events, {requests} requests to GitHub."
        " Each event was committed together with what it reports, and delivered once."
    )
    yield "Next: `prwatch init` writes a configuration for your own pull requests."
