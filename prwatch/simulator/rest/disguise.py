"""The same answers under a fault that shows the world otherwise than it is."""

from collections.abc import Mapping

from prwatch.simulator.faults import Fault
from prwatch.simulator.rest.render import JsonObject


def disguise_pull_request(
    rendered: JsonObject, disguises: Mapping[str, Fault]
) -> JsonObject:
    """Hide the author, the head's repository or the mergeability, as is asked."""
    disguise_author(rendered, disguises)
    if "null_head_repository" in disguises:
        rendered["head"] |= {"repo": None, "user": None, "label": None}
    if "mergeable_unknown" in disguises and "mergeable" in rendered:
        rendered |= {"mergeable": None, "mergeable_state": "unknown"}
    return rendered


def disguise_author(rendered: JsonObject, disguises: Mapping[str, Fault]) -> JsonObject:
    """Hide who wrote it, as is asked."""
    if "null_author" in disguises:
        rendered["user"] = None
    return rendered
