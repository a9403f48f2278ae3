"""What of a question is left out, for whom, and what an answer teaches about that."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, TypeVar

from prwatch.domain.capability import RefusalReason
from prwatch.domain.outcome import Missing
from prwatch.github.capabilities import Capabilities
from prwatch.github.document_types import find_field, find_leavable
from prwatch.github.path_errors import FaultMap

PULL_REQUEST: Final = "PullRequest"
REPOSITORY: Final = "Repository"
NOTHING_GIVEN: Final[Mapping[str, AbstractSet[str]]] = {}

T = TypeVar("T")


def group_alike(
    known: Capabilities,
    items: Sequence[T],
    places: Mapping[T, str],
    *,
    is_test: bool = False,
) -> Iterator[tuple[frozenset[str], list[T]]]:
    """
    Yield the items that are asked alike together, with what is left out.

    `places` are their repositories. With `is_test` a refusal that is a day old is
    asked again.
    """
    if not known.refused:
        yield frozenset(), list(items)
        return
    groups: dict[frozenset[str], list[T]] = {}
    for item in items:
        without = known.omit(places[item], is_test=is_test)
        groups.setdefault(without, []).append(item)
    yield from groups.items()


def sort_alike(
    known: Capabilities, items: Sequence[T], places: Mapping[T, str]
) -> list[T]:
    """Return the items with those together that are asked alike."""
    return [one for _, same in group_alike(known, items, places) for one in same]


def omit_by_rest(known: Capabilities, repository: str) -> frozenset[str]:
    """
    Return what is not asked for through REST, where the schema has no say.

    A refusal that is a day old is asked again.
    """
    unknown = (
        each.field for each in known.refused if each.reason is RefusalReason.SCHEMA
    )
    return known.omit(repository, is_test=True).difference(unknown)


def explain_omitted(
    known: Capabilities, without: AbstractSet[str], repository: str
) -> dict[str, Missing]:
    """Return why fields of a pull request were left out, by their own names."""
    lost: dict[str, Missing] = {}
    for field in without:
        type_name, _, name = field.partition(".")
        if type_name == PULL_REQUEST:
            lost[name] = known.explain(field, repository)
    return lost


def study_faults(
    known: Capabilities,
    faults: FaultMap,
    places: Mapping[tuple[str | int, ...], str],
    root: str = PULL_REQUEST,
    *,
    given: Mapping[str, AbstractSet[str]] = NOTHING_GIVEN,
) -> None:
    """
    Learn which fields were refused of the things at places, each by repository.

    What another thing of the repository has `given` in the same answer is no matter of
    the token.
    """
    for place, repository in places.items():
        for fault in faults.fields.get(place, ()):
            field = find_leavable(find_field(root, fault.fields))
            if field in given.get(repository, ()):
                continue
            known.refuse(field, repository, fault.meaning)
