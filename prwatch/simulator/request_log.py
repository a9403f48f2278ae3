"""What was asked of the simulated GitHub, and what it cost."""

from collections import deque
from dataclasses import dataclass

KEPT = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request. `ids_count` counts node ids; `cost` is points or REST calls."""

    method: str
    path: str
    operation: str = ""
    status: int = 0
    cost: int = 0
    ids_count: int = 0
    body_bytes: int = 0


class RequestLog:
    """The newest requests, and totals over all of them."""

    def __init__(self) -> None:
        self.entries: deque[Request] = deque(maxlen=KEPT)
        self.graphql = 0
        self.points = 0
        self.rest = 0
        self.not_modified = 0
        self.while_limited = 0
        """Requests that came although a limit forbade them."""
        self.in_flight = 0
        self.max_in_flight = 0

    def __len__(self) -> int:
        return self.graphql + self.rest

    def add(self, request: Request, *, is_graphql: bool) -> None:
        """Count a request that was answered."""
        self.entries.append(request)
        if is_graphql:
            self.graphql += 1
            self.points += request.cost
        else:
            self.rest += 1
            self.not_modified += request.status == 304

    def clear(self) -> None:
        """Begin to count at zero."""
        self.__init__()  # type: ignore[misc]  # the same object, as it was made
