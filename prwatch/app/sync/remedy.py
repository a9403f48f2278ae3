"""What a person can do about a folder of watch files that cannot be read."""

from typing import Final

from prwatch.domain.watch_file import WatchFolder
from prwatch.errors import PermissionDenied, ResourceGone
from prwatch.github.wording import find_hint

_NEEDS: Final = (
    "a fine-grained token or an app needs the permission Contents (read),"
    " a classic token the scope repo"
)


def find_remedy(code: str, message: str, folder: WatchFolder) -> str:
    """Return what helps against a failure of that code, '' where that is not known."""
    repository = folder.repository
    if code == ResourceGone.code:
        where = f" on the branch {folder.branch}" if folder.branch else ""
        if folder.path:
            what = f"{folder.path} is a folder{where}"
        else:
            what = f"it has the branch {folder.branch}" if where else "it is not empty"
        return (
            f"see that {repository} is there, that {what}, and that the token may read"
            f" it: {_NEEDS}"
        )
    if code == PermissionDenied.code:
        return f"let the token read the contents of {repository}: {_NEEDS}"
    return find_hint(message)
