"""Plays the steps of a plot in a world of our own."""


class WorldPlayer:
    """Plays in one repository, which it makes."""

    def __init__(self, world, name):
        self.world = world
        self.repository = world.add_repository(
            name, requires_reviews=True, has_merge_queue=True
        )

    def play(self, step):
        one = self.repository.pull_requests.get(step.number)
        getattr(self, f"_{step.verb}")(one, step)

    def _check(self, one, **conclusion):
        self.world.set_check(one, "test", workflow="CI", **conclusion)

    def _open(self, _, step):
        branch = f"topic-{step.number}"
        self.repository.branches[branch] = self.world.build_commit(step.values["oid"])
        one = self.world.open_pull_request(
            self.repository, branch=branch, number=step.number, author="ada"
        )
        if step.values["has_ci"]:
            self._check(one)

    def _push(self, one, step):
        self.world.push(one, oid=step.values["oid"])
        if step.values["has_ci"]:
            self._check(one)

    def _start(self, one, _):
        self._check(one)

    def _redden(self, one, _):
        self._check(one, conclusion="FAILURE")

    def _pass(self, one, _):
        self._check(one, conclusion="SUCCESS")

    def _comment(self, one, _):
        self.world.comment(one, "linus")

    def _retitle(self, one, step):
        self.world.retitle(one, step.values["title"])

    def _ask(self, one, _):
        self.world.request_review(one, "grace")

    def _approve(self, one, _):
        self.world.submit_review(one, "grace")

    def _object(self, one, _):
        self.world.submit_review(one, "grace", "CHANGES_REQUESTED")

    def _dismiss(self, one, _):
        for review in one.reviews:
            self.world.dismiss_review(one, review)

    def _draft(self, one, _):
        self.world.mark_draft(one)

    def _ready(self, one, _):
        self.world.mark_ready(one)

    def _conflict(self, one, _):
        self.world.set_mergeable(one, "CONFLICTING")

    def _agree(self, one, _):
        self.world.set_mergeable(one, "MERGEABLE")

    def _arm(self, one, _):
        self.world.arm_auto_merge(one)

    def _disarm(self, one, _):
        self.world.disarm_auto_merge(one)

    def _enqueue(self, one, _):
        self.world.enqueue(one)

    def _dequeue(self, one, _):
        self.world.dequeue(one)

    def _close(self, one, _):
        self.world.close(one)

    def _merge(self, one, _):
        self.world.merge(one)

    def _reopen(self, one, _):
        self.world.reopen(one)
