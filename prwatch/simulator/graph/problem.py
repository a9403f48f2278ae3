"""An error at one field of a GraphQL answer, which leaves its siblings whole."""

from typing import Any


class FieldError(Exception):
    """
    What is wrong with one field or one item of a list.

    A resolver raises it, or puts it in the place of the item. `kind` is GitHub's
    `type`, '' for an error without one. `below` is appended to the path.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        extensions: dict[str, Any] | None = None,
        below: tuple[str | int, ...] = (),
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.extensions = extensions
        self.below = below

    def render(
        self, path: tuple[str | int, ...], location: dict[str, int]
    ) -> dict[str, Any]:
        """Return the entry of `errors` for this problem at that path."""
        rendered: dict[str, Any] = {"type": self.kind} if self.kind else {}
        rendered["path"] = [*path, *self.below]
        if self.extensions:
            rendered["extensions"] = self.extensions
        rendered["locations"] = [location]
        rendered["message"] = self.message
        return rendered
