"""`prwatch explain`: what decided the verdict on a pull request."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from prwatch.cli.bench import REFERENCE, run_with_config, workspace_option
from prwatch.cli.options import get_options, global_options
from prwatch.cli.output import (
    format_age,
    format_time,
    is_terminal,
    print_json,
    print_table,
    print_text,
)

if TYPE_CHECKING:
    from prwatch.app.command.explained import Explained
    from prwatch.app.command.workbench import Workbench
    from prwatch.config.loader import LoadedConfig
    from prwatch.domain.explanation import ExplainedCheck, Explanation
    from prwatch.domain.verdict_words import Words

BAR_WIDTH = 8
NOT_READ = "not read"


@click.command("explain")
@click.argument("ref", type=REFERENCE, required=False)
@click.option(
    "--live", "is_live", is_flag=True, help="Read it now, every check and review."
)
@workspace_option
@global_options
@click.pass_context
def command(ctx: click.Context, *, ref: Any, is_live: bool, workspace: str) -> None:
    """
    Tell what decided the verdict on a pull request.

    Shows what is stored and how old it is, which checks decided, what was not read and
    why, what is in the way, when it is looked at next, and its last changes. With
    --live one full reading lists every check and every reviewer; it is not stored.
    Exits with 4 when GitHub did not answer.
    """
    from prwatch.app.command.explain import explain_live, explain_stored  # noqa: PLC0415 - heavy

    async def work(bench: "Workbench", loaded: "LoadedConfig") -> Any:
        named = ref or await _find_current(ctx, bench, workspace)
        if is_live:
            return await explain_live(bench, loaded, named, workspace=workspace)
        return await explain_stored(bench, named, workspace=workspace)

    explained = run_with_config(ctx, work)
    if get_options(ctx).is_json:
        print_json({"explanations": [each.as_json() for each in explained]})
        return
    for index, each in enumerate(explained):
        print_text("\n" * bool(index) + each.reference)
        print_explained(each)


async def _find_current(ctx: click.Context, bench: "Workbench", workspace: str) -> Any:
    from prwatch.app.command.current_checkout import find_current_branch  # noqa: PLC0415 - heavy

    chosen = await bench.get_workspace(workspace)
    host, options = bench.get_host(chosen.name), get_options(ctx)
    return await find_current_branch(options.cwd, host, options.environ)


def print_explained(explained: "Explained") -> None:
    """Print the facts of one pull request, then its checks, reviewers and changes."""
    words, found = explained.words, explained.pull_request
    facts: list[tuple[str, object]] = [
        ("workspace", explained.workspace),
        ("tasks", ", ".join(explained.tasks) or "not watched"),
        ("read", _tell_age(explained)),
    ]
    if words is None or found is None:
        state = explained.stored.state if explained.stored else ""
        facts.append(("state", f"{state}: there is nothing to explain yet"))
    else:
        facts += _tell_state(found)
        facts.append(("status", words.need.value.replace("_", " ")))
        checks = tell_checks(explained, words, is_drawn=is_terminal())
        facts += _name("checks", checks)
        facts += _name("review", _tell_review(found, words))
        facts += _tell_merge(found, words)
        facts += _name("not read", _tell_losses(explained))
    facts += _name("in the way", _tell_obstacles(explained))
    facts += _name("next look", _tell_outlook(explained))
    print_text("\n".join(f"  {name:<12}{value}" for name, value in facts))
    if explained.live is not None:
        _print_live(explained.live)
    elif words is not None:
        _print_deciding(explained)
    _print_changes(explained)


def render_bar(done: int, total: int) -> str:
    """Return how many of all are done as a picture: `██████░░ 6 of 8`."""
    filled = BAR_WIDTH * done // total
    return f"{'█' * filled}{'░' * (BAR_WIDTH - filled)} {done} of {total}"


def _name(name: str, lines: Iterator[str]) -> list[tuple[str, object]]:
    """Put a name before the first of some lines."""
    return [(name * (not index), line) for index, line in enumerate(lines)]


def _print_deciding(explained: "Explained") -> None:
    summary = explained.summary
    print_table(
        ("check", "app", "says", "required", "since"),
        [
            (each.name, each.app, each.said, each.is_required, each.since)
            for each in (summary.named if summary else ())
        ],
    )
    print_text(
        "  The rest of its checks and its reviewers are not stored; --live reads"
    )
    print_text("  them, and which of them are required.")


def _print_live(live: "Explanation") -> None:
    print_table(
        ("check", "app", "workflow", "says", "required", "since", "url"),
        [
            (
                each.name,
                each.app,
                each.workflow,
                _tell_check(each),
                each.is_required,
                each.since,
                each.url,
            )
            for each in live.checks or ()
        ],
    )
    asked = [(name, "asked", None) for name in live.asked or ()]
    opinions = [
        (each.author or "a deleted account", _say(each.state), each.submitted_at)
        for each in live.opinions or ()
    ]
    print_table(("reviewer", "says", "since"), [*opinions, *asked])


def _print_changes(explained: "Explained") -> None:
    from prwatch.app.command.event_commands import list_changes  # noqa: PLC0415 - heavy

    print_table(
        ("when", "what changed"),
        [
            (each.event.time, "; ".join(list_changes(each)))
            for each in explained.changes
        ],
    )


def _tell_age(explained: "Explained") -> str:
    if explained.live is not None:
        return f"{format_time(explained.live.observation.observed_at)}, now"
    moment = explained.stored.observed_at if explained.stored else None
    if moment is None:
        return "never"
    age = format_age(explained.at - moment)
    told = f"stored; its last change is of {format_time(moment)}, {age} ago"
    seen_at = explained.outlook.good_at if explained.outlook else None
    if seen_at is not None:
        told += f"; seen to be so {format_age(explained.at - seen_at)} ago"
    return told


def _tell_state(found: Mapping[str, object]) -> list[tuple[str, object]]:
    draft = ", a draft" if found["is_draft"] else ""
    return [
        ("title", found["title"]),
        ("url", found["url"]),
        ("state", f"{found['state']}{draft}"),
        ("head", str(found["head_ref_oid"])[:10]),
    ]


def tell_checks(
    explained: "Explained", words: "Words", *, is_drawn: bool
) -> Iterator[str]:
    """Yield what is told of the checks, with a picture of them if it is drawn."""
    found, live, summary = explained.pull_request, explained.live, explained.summary
    yield str((found or {}).get("checks") or NOT_READ)
    yield words.checks.text
    if summary is not None and summary.total and is_drawn:
        passed = summary.total - summary.failing - summary.pending
        yield render_bar(passed, summary.total)
    if explained.rule:
        yield explained.rule
    settles_at = live.observation.settles_at if live else None
    if settles_at is not None:
        yield f"a success from {format_time(settles_at)}, if all stays so"
    yield from _list_notes(explained)


def _list_notes(explained: "Explained") -> Iterator[str]:
    """Yield the notes that neither the table nor the words repeat."""
    known, summary = explained.known, explained.summary
    names = {each.name for each in (summary.named if summary else ())}
    if explained.live is not None:
        names |= {each.name for each in explained.live.checks or ()}
    for note in known.observation.checks_notes if known else ():
        is_told = summary is not None and summary.unread in note and summary.unread
        if note.partition(": ")[2] not in names and not is_told:
            yield note


def _tell_review(found: Mapping[str, object], words: "Words") -> Iterator[str]:
    yield str(found["review"] or NOT_READ)
    if words.review.text != found["review"]:
        yield words.review.text
    if found["review_decision"]:
        yield f"GitHub's decision: {found['review_decision']}"


def _tell_merge(
    found: Mapping[str, object], words: "Words"
) -> list[tuple[str, object]]:
    return [
        ("merge", words.merge.text),
        ("mergeable", found["mergeable"] or "GitHub has not told yet"),
        ("merge queue", _tell_flag(found["merge_queue"])),
        ("auto-merge", _tell_flag(found["auto_merge"])),
    ]


def _tell_flag(value: object) -> str:
    return NOT_READ if value is None else "yes" if value else "no"


def _tell_losses(explained: "Explained") -> Iterator[str]:
    """Yield the other fields that were not read, those with one reason together."""
    groups: dict[str, list[str]] = {}
    for each in explained.unobserved:
        if each.field == "checks":
            continue
        groups.setdefault(each.reason, []).append(each.words)
    for reason, names in groups.items():
        yield f"{', '.join(names)}: {reason}"


def _tell_obstacles(explained: "Explained") -> Iterator[str]:
    for each in explained.obstacles:
        yield f"{each.kind}: {each.message}; until {format_time(each.until)}"


def _tell_outlook(explained: "Explained") -> Iterator[str]:
    outlook = explained.outlook
    if outlook is None:
        if explained.stored is not None and explained.stored.id:
            yield "with the next cycle; no daemon tells when that is"
        return
    if outlook.due_at is None:
        yield outlook.why
    else:
        wait = outlook.due_at - explained.at
        moment = "now" if wait.total_seconds() <= 0 else f"in {format_age(wait)}"
        yield f"{moment}; {outlook.why}"
    if outlook.stretched:
        yield outlook.stretched


def _tell_check(check: "ExplainedCheck") -> str:
    if check.counts:
        return check.said
    return f"{check.said} ({check.standing.value}: {check.reason})"


def _say(word: str) -> str:
    return word.lower().replace("_", " ")
