"""The file that a database was opened from, and whether it still stands there."""

from pathlib import Path

from prwatch.errors import StoreUnavailable


class SQLiteFile:
    """
    Remembers which file stood at a path.

    SQLite goes on with a file that was removed or replaced: what it commits then is
    seen by nobody else and is gone when the process ends.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._identity = self._look()

    def check(self) -> None:
        """
        See that the same file is still there.

        Raises:
            StoreUnavailable: It was removed, replaced, or may not be looked at.
        """
        if self._look() != self._identity:
            raise _refuse("another file stands in the place of the open database")

    def _look(self) -> tuple[int, int]:
        try:
            found = self._path.stat()
        except FileNotFoundError:
            raise _refuse("the file of the open database was removed") from None
        except OSError as error:
            raise _refuse(
                f"the file of the open database cannot be seen: {error.strerror}"
            ) from error
        return found.st_dev, found.st_ino


def _refuse(message: str) -> StoreUnavailable:
    return StoreUnavailable(message, hint="put the file back, or restart prwatch")
