"""
What questions to GitHub cost, in points and requests, before they are asked.

A point is a hundred connections, rounded, and a request costs at least one. Source:
GitHub's "Rate limits and query limits for the GraphQL API".
"""

import functools
import math
from dataclasses import dataclass
from typing import Final

CONNECTIONS_A_POINT: Final = 100
PROBES_A_REQUEST: Final = 500
PROBES_A_POINT: Final = 100
"""A probe asks for one connection: the counts of the checks."""
READS_A_REQUEST: Final = 25
READ_CONNECTIONS: Final = 5
BRANCHES_A_REQUEST: Final = 50
BRANCH_CONNECTIONS: Final = 2
"""The open pull requests of a branch, and the closed ones."""
PAGE_SIZE: Final = 100
"""Pull requests on one page of a list or a search: one point."""


@dataclass(frozen=True, slots=True)
class Price:
    """What something costs. Parts of a point or a request are averages."""

    points: float = 0.0
    requests: float = 0.0

    def __add__(self, other: "Price") -> "Price":
        return Price(self.points + other.points, self.requests + other.requests)

    def __mul__(self, times: float) -> "Price":
        return Price(self.points * times, self.requests * times)


def price_probes(count: int) -> Price:
    """Return what probing that many pull requests at once costs."""
    return _price(count, PROBES_A_REQUEST, connections=1)


def price_branches(count: int) -> Price:
    """Return what looking up that many branches at once costs."""
    return _price(count, BRANCHES_A_REQUEST, connections=BRANCH_CONNECTIONS)


def price_pages(count: int) -> Price:
    """Return what a list, or a search, of that many pull requests costs to its end."""
    pages = max(1, math.ceil(count / PAGE_SIZE))
    return Price(pages, pages)


def price_reads(count: int) -> Price:
    """Return what reading that many pull requests in full costs."""
    return _price(count, READS_A_REQUEST, connections=READ_CONNECTIONS)


def round_half_up(value: float) -> int:
    """Return the nearest whole number, as GitHub rounds."""
    return math.floor(value + 0.5)


@functools.lru_cache(maxsize=4096)
def _price(count: int, size: int, *, connections: int) -> Price:
    # A forecast for a million asks the same a million times.
    full, rest = divmod(count, size)
    price = _price_request(size, connections) * full
    return price + _price_request(rest, connections) if rest else price


def _price_request(count: int, connections: int) -> Price:
    points = round_half_up(count * connections / CONNECTIONS_A_POINT)
    return Price(max(1, points), 1)
