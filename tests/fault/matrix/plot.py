"""
What happens to the pull requests of a run, and so what is true of them at any time.

The plot knows the truth without asking any GitHub: each step says what it changes. A
stage then plays the same step on the simulated GitHub, or on another model of it.
"""

import copy
import hashlib
import random
from dataclasses import dataclass, field

DECISIONS = {
    "none": "REVIEW_REQUIRED",
    "pending": "REVIEW_REQUIRED",
    "approved": "APPROVED",
    "changes_requested": "CHANGES_REQUESTED",
}
FIELDS = (
    "state",
    "is_draft",
    "head_ref_oid",
    "checks",
    "review",
    "review_decision",
    "mergeable",
    "merge_queue",
    "auto_merge",
    "title",
)


@dataclass
class Facts:
    """What is true of one pull request, in the words of its row."""

    number: int
    head_ref_oid: str
    title: str
    state: str = "OPEN"
    is_draft: bool = False
    checks: str = "none"
    review: str = "none"
    mergeable: str = "MERGEABLE"
    merge_queue: bool = False
    auto_merge: bool = False
    comments: int = 0

    @property
    def review_decision(self):
        return DECISIONS[self.review]

    def as_row(self):
        return {name: getattr(self, name) for name in FIELDS}


@dataclass(frozen=True)
class Step:
    """One verb on one pull request. `values` are what the verb needs to be played."""

    verb: str
    number: int
    values: dict = field(default_factory=dict)


class Plot:
    """
    A seeded sequence of steps. `facts` is what is true now, by number.

    With `has_ci` checks run on every commit from its first moment on. Those in
    `reopened` may be opened again after they were closed.
    """

    def __init__(self, seed, *, count=6, has_ci=False, reopened=()):
        self.chance = random.Random(seed)
        self.facts = {}
        self._seed = seed
        self._has_ci = has_ci
        self._reopened = frozenset(reopened)
        self._oids = 0
        self.prologue = [self._open(number) for number in range(1, count + 1)]

    def truth(self):
        """Return a copy of all facts as they are now."""
        return copy.deepcopy(self.facts)

    def next_step(self):
        """Choose what happens now, and let it be true."""
        if self.chance.random() < 0.04:
            return self._open(len(self.facts) + 1)
        living = [one for one in self.facts.values() if self._list_verbs(one)]
        if not living:
            return self._open(len(self.facts) + 1)
        facts = self.chance.choice(living)
        verb = self.chance.choice(self._list_verbs(facts))
        return Step(verb, facts.number, getattr(self, f"_{verb}")(facts))

    def _list_verbs(self, facts):
        if facts.state == "CLOSED":
            return ["reopen"] if facts.number in self._reopened else []
        if facts.state == "MERGED":
            return []
        verbs = ["push", "start", "comment", "retitle", "approve", "object"] * 2
        verbs += ["redden", "pass"] * 3 if facts.checks != "none" else []
        verbs += ["ready"] if facts.is_draft else ["draft"]
        verbs += ["ask"] if facts.review == "none" else []
        verbs += (
            ["dismiss"] if facts.review in {"approved", "changes_requested"} else []
        )
        verbs += ["conflict"] if facts.mergeable == "MERGEABLE" else ["agree"]
        verbs += ["disarm"] if facts.auto_merge else ["arm"]
        verbs += ["dequeue"] if facts.merge_queue else ["enqueue"]
        return [*verbs, self.chance.choice(["close", "merge", "comment", "comment"])]

    def _open(self, number):
        facts = Facts(number, self._build_oid(), f"topic-{number}")
        facts.checks = "pending" if self._has_ci else "none"
        self.facts[number] = facts
        return Step("open", number, {"oid": facts.head_ref_oid, "has_ci": self._has_ci})

    def _build_oid(self):
        self._oids += 1
        return hashlib.sha1(f"{self._seed}/{self._oids}".encode()).hexdigest()

    def _push(self, facts):
        facts.head_ref_oid = self._build_oid()
        facts.checks = "pending" if self._has_ci else "none"
        facts.merge_queue = False
        return {"oid": facts.head_ref_oid, "has_ci": self._has_ci}

    def _start(self, facts):
        facts.checks = "pending"
        return {}

    def _redden(self, facts):
        facts.checks = "failure"
        return {}

    def _pass(self, facts):
        facts.checks = "success"
        return {}

    def _comment(self, facts):
        facts.comments += 1
        return {}

    def _retitle(self, facts):
        facts.title = f"topic-{facts.number} of {self.chance.randint(0, 999)}"
        return {"title": facts.title}

    def _ask(self, facts):
        facts.review = "pending"
        return {}

    def _approve(self, facts):
        facts.review = "approved"
        return {}

    def _object(self, facts):
        facts.review = "changes_requested"
        return {}

    def _dismiss(self, facts):
        facts.review = "none"
        return {}

    def _draft(self, facts):
        facts.is_draft = True
        return {}

    def _ready(self, facts):
        facts.is_draft = False
        return {}

    def _conflict(self, facts):
        facts.mergeable = "CONFLICTING"
        return {}

    def _agree(self, facts):
        facts.mergeable = "MERGEABLE"
        return {}

    def _arm(self, facts):
        facts.auto_merge = True
        return {}

    def _disarm(self, facts):
        facts.auto_merge = False
        return {}

    def _enqueue(self, facts):
        facts.merge_queue = True
        return {}

    def _dequeue(self, facts):
        facts.merge_queue = False
        return {}

    def _close(self, facts):
        facts.state = "CLOSED"
        facts.merge_queue = facts.auto_merge = False
        return {}

    def _merge(self, facts):
        facts.state = "MERGED"
        facts.merge_queue = facts.auto_merge = False
        return {}

    def _reopen(self, facts):
        facts.state = "OPEN"
        return {}
