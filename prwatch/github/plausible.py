"""
What we take from an answer: numbers, ids and times that the rest can live with.

Whoever answers in GitHub's name may send anything. A number that no database holds, an
id with a NUL or a time at the end of the calendar would fail much later, for all that
is read with it, and once stored at every start; so it is refused where it is decoded.
"""

import datetime as dt
import functools
from typing import Annotated, Final, TypeAlias

import msgspec

FIRST_YEAR: Final = 1970
LAST_YEAR: Final = 2999

Number: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]
"""The number of a pull request."""
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
"""How many there are of something."""
NodeId: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^[!-~]{1,500}\Z")]
"""An opaque id; GitHub's have up to about a hundred letters, digits and signs."""
FullName: TypeAlias = Annotated[
    str, msgspec.Meta(pattern=r"^[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}\Z")
]
"""A repository as owner/name, which becomes part of addresses."""
ObjectId: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^[!-~]{0,500}\Z")]
"""The name of a commit, or ''."""


class Timed(msgspec.Struct):
    """
    The base of what may hold times.

    A time that cannot be believed is left out where it may be missing; where it may
    not, the whole is refused.
    """

    def __post_init__(self) -> None:
        """Raise ValueError, which the decoder makes its own error of."""
        for name, is_required in _list_times(type(self)):
            moment = getattr(self, name)
            if not isinstance(moment, dt.datetime) or is_plausible(moment):
                continue
            if is_required:
                raise ValueError(f"{name} is no time that can be believed")
            setattr(self, name, None)


def is_plausible(moment: dt.datetime) -> bool:
    """Tell whether it has a zone and sums with it stay inside the calendar."""
    return moment.tzinfo is not None and FIRST_YEAR <= moment.year <= LAST_YEAR


@functools.cache
def _list_times(kind: type[Timed]) -> tuple[tuple[str, bool], ...]:
    return tuple(
        (field.name, field.required)
        for field in msgspec.structs.fields(kind)
        if "datetime" in str(field.type)
    )
