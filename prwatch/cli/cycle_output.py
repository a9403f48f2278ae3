"""What one pass did, in a few lines for people or in one object for programs."""

from collections.abc import Iterator

from prwatch.app.walk.cycle_report import CycleReport
from prwatch.cli.output import format_count, print_json, print_table, print_text
from prwatch.config.model import Config


def print_report(report: CycleReport, config: Config, *, is_json: bool) -> None:
    """
    Print a report to stdout.

    Where events go to stdout, words for people go to stderr: a program that reads
    the events shall meet nothing else.
    """
    if is_json:
        print_json(report.as_json())
        return
    err = any(sink.kind == "stdout" for sink in config.sinks)
    print_text("\n".join(_list_lines(report, config)), err=err)
    if report.failures:
        print_table(
            ("workspace", "what", "scope", "code", "reason"),
            [
                (
                    failure.workspace,
                    failure.reference,
                    failure.scope,
                    failure.code,
                    failure.text,
                )
                for failure in report.failures
            ],
            err=err,
        )


def _list_lines(report: CycleReport, config: Config) -> Iterator[str]:
    if not config.workspaces:
        yield "Nothing is configured; `prwatch init` writes a configuration."
        return
    usage = report.usage
    found = format_count(report.watches_discovered, "pull request")
    searching = format_count(report.watches_searching, "branch", "branches")
    yield f"Watching {found} and looking for those of {searching}."
    yield (
        f"Asked GitHub {format_count(usage.graphql + usage.rest, 'time')} for"
        f" {format_count(usage.points, 'point')} in {report.duration_ms / 1000:.1f} s."
    )
    kinds = ", ".join(
        f"{number} {kind}" for kind, number in sorted(report.events_by_type.items())
    )
    if kinds:
        yield f"Told {kinds}; delivered {report.delivered}."
    elif report.delivered:
        yield f"Nothing changed; delivered {report.delivered} from before."
    else:
        yield "Nothing changed."
    skipped = ", ".join(
        f"{number} ({reason.replace('_', ' ')})"
        for reason, number in sorted(report.skipped.items())
        if number
    )
    if skipped:
        yield f"Left out: {skipped}."
    if report.failures:
        yield f"{format_count(len(report.failures), 'failure')}:"
