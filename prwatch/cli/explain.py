"""`prwatch explain`: what decided the verdict on a pull request."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from prwatch.cli.bench import REFERENCE, run_with_config, workspace_option
from prwatch.cli.options import get_options, global_options
from prwatch.cli.output import (
    format_age,
    format_time,
    print_json,
    print_table,
    print_text,
)

if TYPE_CHECKING:
    from prwatch.app.command.explain import Explained
    from prwatch.app.command.workbench import Workbench
    from prwatch.config.loader import LoadedConfig
    from prwatch.domain.explanation import ExplainedCheck, Explanation

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

    Shows what is stored and how old it is. With --live one full reading lists every
    check and every reviewer; it is not stored. Exits with 4 when GitHub did not
    answer.
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
    """Print the facts of one pull request, then its checks and reviewers if read."""
    found = explained.pull_request
    facts: list[tuple[str, object]] = [
        ("workspace", explained.workspace),
        ("tasks", ", ".join(explained.tasks) or "not watched"),
        ("read", _tell_age(explained)),
    ]
    if found is None:
        state = explained.stored.state if explained.stored else ""
        facts.append(("state", f"{state}: there is nothing to explain yet"))
    else:
        facts += _tell_state(found)
        facts += [
            ("checks" * (not i), x) for i, x in enumerate(_tell_checks(explained))
        ]
        facts += _tell_review(found)
        facts += _tell_merge(found)
    print_text("\n".join(f"  {name:<12}{value}" for name, value in facts))
    if explained.live is not None:
        _print_live(explained.live)
    elif found is not None:
        print_text("  Single checks and reviewers are not stored; --live reads them.")


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


def _tell_age(explained: "Explained") -> str:
    if explained.live is not None:
        return f"{format_time(explained.live.observation.observed_at)}, now"
    moment = explained.stored.observed_at if explained.stored else None
    if moment is None:
        return "never"
    age = format_age(explained.at - moment)
    return f"stored; its last change is of {format_time(moment)}, {age} ago"


def _tell_state(found: Mapping[str, object]) -> list[tuple[str, object]]:
    draft = ", a draft" if found["is_draft"] else ""
    return [
        ("title", found["title"]),
        ("url", found["url"]),
        ("state", f"{found['state']}{draft}"),
        ("head", str(found["head_ref_oid"])[:10]),
    ]


def _tell_checks(explained: "Explained") -> Iterator[str]:
    found, live = explained.pull_request or {}, explained.live
    state = str(found.get("checks") or NOT_READ)
    if state == "none":
        state = "none: nothing is registered for this head yet"
    if live is None:
        yield state
        yield from explained.stored.notes if explained.stored else ()
        return
    counted = [each for each in live.checks or () if each.counts]
    running = sum(each.is_running for each in counted)
    yield f"{state}, running {running} of {len(counted)}" if running else state
    settles_at = live.observation.settles_at
    if settles_at is not None:
        yield f"all passed; a success from {format_time(settles_at)}, if all stays so"
    names = {each.name for each in live.checks or ()}
    for note in live.observation.checks_notes:
        # The others repeat what the table says of a check.
        if note.partition(": ")[2] not in names:
            yield note


def _tell_review(found: Mapping[str, object]) -> list[tuple[str, object]]:
    counts = [
        f"{found[name]} {words}"
        for name, words in (
            ("approvals", "approved"),
            ("requested_reviewers", "asked"),
            ("unresolved_threads", "threads unresolved"),
        )
        if found[name]
    ]
    words = ", ".join([str(found["review"] or NOT_READ), *counts])
    decision = found["review_decision"]
    return [("review", words), *([("decision", decision)] if decision else [])]


def _tell_merge(found: Mapping[str, object]) -> list[tuple[str, object]]:
    return [
        ("mergeable", found["mergeable"] or "GitHub has not told yet"),
        ("merge queue", _tell_flag(found["merge_queue"])),
        ("auto-merge", _tell_flag(found["auto_merge"])),
    ]


def _tell_flag(value: object) -> str:
    return NOT_READ if value is None else "yes" if value else "no"


def _tell_check(check: "ExplainedCheck") -> str:
    if check.counts:
        return check.said
    return f"{check.said} ({check.standing.value}: {check.reason})"


def _say(word: str) -> str:
    return word.lower().replace("_", " ")
