"""What happens to the files of repositories, as far as somebody reads them."""

from prwatch.simulator.entities import Repository
from prwatch.simulator.state import WorldState


class FileVerbs(WorldState):
    """The moves of those who push files."""

    def write_file(
        self,
        repository: Repository | str,
        path: str,
        content: str | bytes,
        *,
        branch: str = "",
    ) -> None:
        """Write a file on a branch; without one, on the default branch."""
        data = content.encode() if isinstance(content, str) else content
        self._get_files(repository, branch)[path] = data

    def remove_file(
        self, repository: Repository | str, path: str, *, branch: str = ""
    ) -> None:
        """Remove a file of a branch. A folder without files is gone, as in git."""
        self._get_files(repository, branch).pop(path)

    def rename_file(
        self, repository: Repository | str, path: str, new: str, *, branch: str = ""
    ) -> None:
        """Give a file of a branch another path."""
        files = self._get_files(repository, branch)
        files[new] = files.pop(path)

    def _get_files(self, repository: Repository | str, branch: str) -> dict[str, bytes]:
        found = self.get_repository(repository)
        name = branch or found.default_branch
        found.branches[name] = self.build_commit()
        return found.files.setdefault(name, {})
