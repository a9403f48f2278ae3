"""Where a plot is played: the simulated GitHub, or an independent stand-in for it."""

import datetime as dt

import httpx

from prwatch.simulator import DEFAULT_TOKEN, GitHubApp, World
from prwatch.simulator.limits import DEFAULT_LIMITS, Budget
from tests.fault.matrix.catalogue import FIRST_WINDOW
from tests.fault.matrix.player import WorldPlayer
from tests.fault.matrix.recorder import Recorder
from tests.product import MovedClock

NAME = "octo/hello"
CHECK = {"name": "test", "workflow": "CI"}
STANDIN_TOKEN = "ghp_matrix"
WAITED = 15.0
"""Seconds that the product waits for an answer that does not come."""
IN_VAIN = {"connect": 2.0, "read": 0.5, "write": 2.0, "pool": 2.0}
"""Bounds in real seconds for answers of which it is known that they never come."""


class SimulatedStage:
    """The plot in a world of our own."""

    token = DEFAULT_TOKEN
    api_url = ""
    is_exact = True
    """Its times are ours to the second."""

    def __init__(self):
        self.clock = MovedClock()
        self.world = World(self.clock)
        self.world.add_organization("octo")
        self.player = WorldPlayer(self.world, NAME)
        reset_at = self.clock.now() + dt.timedelta(seconds=FIRST_WINDOW)
        for bucket, limit in DEFAULT_LIMITS.items():
            self.world.budgets["octocat", bucket] = Budget(limit, reset_at)
        self.recorder = Recorder(httpx.ASGITransport(GitHubApp(self.world)), self.clock)

    def close(self):
        """Nothing is held."""

    def play(self, step):
        self.player.play(step)

    def begin(self, kind):
        """Put a kind of fault into force; return how to end it."""
        fault = self.world.faults.add(kind.line)
        return lambda: self.world.faults.remove(fault)

    def list_breaches(self):
        """List what was asked against GitHub's rules."""
        count = self.world.requests.while_limited
        return [f"{count} calls while a limit forbade them"] if count else []


class StandinStage:
    """The plot on the stand-in, through its control calls."""

    token = STANDIN_TOKEN
    is_exact = False

    def __init__(self, url):
        self.api_url = url
        self._http = httpx.Client(base_url=f"{url}/_control", trust_env=False)
        self._call("POST", "reset", {})
        self._call("POST", f"repo/{NAME}", {"mergeQueue": True})
        for bucket in ("core", "graphql"):
            window = {"resource": bucket, "resetIn": FIRST_WINDOW}
            self._call("POST", "ratelimit", {"token": STANDIN_TOKEN, **window})
        now = self._http.post("clock", json={"advance": 0}).json()["now"]
        start = dt.datetime.fromisoformat(now)
        self.clock = _SharedClock(start, self._advance)
        network = httpx.AsyncHTTPTransport()
        self.recorder = Recorder(network, self.clock, waited=WAITED)
        self._reviews = {}

    def close(self):
        self._call("DELETE", "faults", {})
        self._http.close()

    def play(self, step):
        if step.verb == "open":
            self._open(step)
            return
        for edit in self._list_edits(step):
            self._call("PATCH", f"pr/{NAME}/{step.number}", edit)

    def begin(self, kind):
        """Put a kind of fault into force; return how to end it."""
        if kind.name == "hang":
            self.recorder.patience = IN_VAIN
        rules = self._http.get("faults").json()
        rule = {"fault": kind.standin, "params": kind.standin_parameters}
        if kind.times is not None:
            rule["times"] = kind.times
        self._call("PUT", "faults", {"rules": [*rules, rule]})
        return lambda: self._end(kind.standin)

    def list_breaches(self):
        """List what was asked against GitHub's rules, as the stand-in counted it."""
        stats = self._http.get("stats").json()
        names = ("afterLimit", "retriedTooSoon", "violations")
        found = [f"{name}: {stats[name]}" for name in names if stats[name]]
        return [*found, *map(str, stats["violationSamples"][:3])]

    def _end(self, fault):
        self.recorder.patience = None
        rules = self._http.get("faults").json()
        left = [rule for rule in rules if rule["fault"] != fault]
        self._call("PUT", "faults", {"rules": left})

    def _open(self, step):
        pull_request = {
            "number": step.number,
            "title": f"topic-{step.number}",
            "author": "ada",
            "head": {"ref": f"topic-{step.number}", "oid": step.values["oid"]},
            "reviewDecision": "REVIEW_REQUIRED",
        }
        if step.values["has_ci"]:
            pull_request["checks"] = [{**CHECK, "status": "IN_PROGRESS"}]
        self._call("POST", f"pr/{NAME}", pull_request)

    def _list_edits(self, step):
        """List the edits of a step; the times in them are ours."""
        if step.verb == "push":
            yield {"push": step.values["oid"], "mergeQueue": None}
            if step.values["has_ci"]:
                yield {"checks": [{**CHECK, "status": "IN_PROGRESS"}]}
        elif step.verb in {"approve", "object", "dismiss"}:
            yield self._review(step)
        elif step.verb == "retitle":
            yield {"title": step.values["title"]}
        elif step.verb == "comment":
            yield {"addComment": {"author": "linus"}}
        else:
            yield _EDITS[step.verb]

    def _review(self, step):
        reviews = self._reviews.setdefault(step.number, [])
        if step.verb == "dismiss":
            reviews[:] = [{**one, "state": "DISMISSED"} for one in reviews]
            return {"reviews": reviews, "reviewDecision": "REVIEW_REQUIRED"}
        decision = "APPROVED" if step.verb == "approve" else "CHANGES_REQUESTED"
        at = self.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
        number = 7000 + sum(map(len, self._reviews.values()))
        reviews.append({"author": "grace", "state": decision, "at": at, "id": number})
        return {"reviews": reviews, "reviewDecision": decision, "reviewRequests": []}

    def _advance(self, seconds):
        self._call("POST", "clock", {"advance": seconds})

    def _call(self, method, path, body):
        self._http.request(method, path, json=body).raise_for_status()


_GONE = {"mergeQueue": None, "autoMerge": None}
_EDITS = {
    "start": {"checks": [{**CHECK, "status": "IN_PROGRESS"}]},
    "redden": {"checks": [{**CHECK, "conclusion": "FAILURE"}]},
    "pass": {"checks": [{**CHECK, "conclusion": "SUCCESS"}]},
    "ask": {"reviewRequests": [{"user": "grace"}]},
    "draft": {"draft": True},
    "ready": {"draft": False},
    "conflict": {"mergeable": "CONFLICTING"},
    "agree": {"mergeable": "MERGEABLE"},
    "arm": {"autoMerge": {"enabledBy": "ada", "mergeMethod": "MERGE"}},
    "disarm": {"autoMerge": None},
    "enqueue": {"mergeQueue": {"position": 1, "state": "QUEUED"}},
    "dequeue": {"mergeQueue": None},
    "close": {"state": "CLOSED", **_GONE},
    "merge": {"state": "MERGED", **_GONE},
    "reopen": {"state": "OPEN"},
}


class _SharedClock(MovedClock):
    """Moves the stand-in's clock as well."""

    def __init__(self, start, on_advance):
        super().__init__(start)
        self._on_advance = on_advance

    def advance(self, seconds):
        super().advance(seconds)
        if seconds:
            self._on_advance(seconds)

    async def sleep(self, seconds):
        self.advance(max(0.0, seconds))
