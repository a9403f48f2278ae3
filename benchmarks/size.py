"""How much is watched: repositories, and the open pull requests of each."""

from dataclasses import dataclass

REPOSITORY = "bench/hello"


@dataclass(frozen=True)
class Size:
    repositories: int
    pulls_each: int

    @property
    def pull_requests(self):
        return self.repositories * self.pulls_each

    @property
    def most_requests(self):
        """A request for a hundred pull requests, and one for each repository watch."""
        return -(-self.pull_requests // 100) + self.repositories

    def list_repositories(self):
        if self.repositories == 1:
            return [REPOSITORY]
        return [f"{REPOSITORY}-{number}" for number in range(self.repositories)]

    def list_watches(self):
        return [f'repository = "{one}"\nall = true' for one in self.list_repositories()]

    def __str__(self):
        watches = "repository watch" if self.repositories == 1 else "repository watches"
        pulls = f"{self.pull_requests:,} pull requests"
        return f"{pulls} of {self.repositories} {watches}"
