"""The scripted story, played on the independent stand-in through its control calls."""

import datetime as dt
from email.utils import parsedate_to_datetime

import httpx

from tests.product import MovedClock

TOKEN = "ghp_story"
COVERAGE = {"type": "StatusContext", "context": "coverage", "state": "SUCCESS"}
TEST = {"name": "test", "workflow": "CI"}
OWNED = "octo/hello"
RENAMED = "octo/greeting"


def checks(**test):
    return {"checks": [{**TEST, **test}, COVERAGE]}


def review(state, decision):
    return {
        "addReview": {"author": "grace", "state": state},
        "reviewRequests": [],
        "reviewDecision": decision,
    }


EDITS = {
    "checks_started": checks(status="IN_PROGRESS"),
    "checks_red": checks(conclusion="FAILURE"),
    "checks_green": checks(conclusion="SUCCESS"),
    "review_requested": {"reviewRequests": [{"user": "grace"}]},
    "approved": review("APPROVED", "APPROVED"),
    "changes_requested": review("CHANGES_REQUESTED", "CHANGES_REQUESTED"),
    "commented": {"addComment": {"author": "linus", "body": "Nice!"}},
    "pushed": {"push": True},
    "drafted": {"draft": True},
    "ready": {"draft": False},
    "conflicting": {"mergeable": "CONFLICTING"},
    "mergeability_unknown": {"mergeable": "UNKNOWN"},
    "mergeable": {"mergeable": "MERGEABLE"},
    "auto_merge_armed": {"autoMerge": {"enabledBy": "ada", "mergeMethod": "MERGE"}},
    "auto_merge_disarmed": {"autoMerge": None},
    "enqueued": {"mergeQueue": {"position": 1, "state": "QUEUED"}},
    "dequeued": {"mergeQueue": None},
    "retitled": {"title": "Greet by name"},
    "closed": {"state": "CLOSED"},
    "reopened": {"state": "OPEN"},
    "fork_deleted": {"head": {"repo": None}, "noTouch": True},
    "author_deleted": {"author": None, "noTouch": True},
    "merged": {"state": "MERGED", "mergedBy": "grace"},
}
REPOSITORY_EDITS = {
    "renamed": {"renameTo": RENAMED},
    "archived": {"archived": True},
    "unarchived": {"archived": False},
}


class StandinStory:
    """Plays steps by their names. Its clock and the product's move together."""

    def __init__(self, url):
        self._http = httpx.Client(base_url=f"{url}/_control", trust_env=False)
        self._name = OWNED
        self.clock = None

    def close(self):
        self._http.close()

    def set_the_stage(self):
        self._call("POST", "reset", {})
        self._call("DELETE", "faults", {})
        self._call("POST", f"repo/{OWNED}", {"mergeQueue": True})
        self._call("POST", "repo/ada/hello", {"parent": OWNED})
        self._call(
            "POST",
            f"pr/{OWNED}",
            {
                "number": 12,
                "title": "Greet everybody by name",
                "author": "ada",
                "head": {"repo": "ada/hello", "ref": "fix-greeting"},
                "reviewDecision": "REVIEW_REQUIRED",
            },
        )
        response = self._http.get("health")
        now = response.headers["date"]
        self.clock = _StoryClock(parsedate_to_datetime(now), self._advance)

    def play(self, name):
        if name == "review_dismissed":
            self._dismiss()
        elif name in REPOSITORY_EDITS:
            self._call("PATCH", f"repo/{self._name}", REPOSITORY_EDITS[name])
            if name == "renamed":
                self._name = RENAMED
        elif name in EDITS:
            self._call("PATCH", f"pr/{self._name}/12", EDITS[name])

    def stats(self):
        return self._http.get("stats").json()

    def _dismiss(self):
        body = self._http.get(f"pr/{self._name}/12").json()
        reviews = [{**one, "state": "DISMISSED"} for one in body["reviews"]]
        edit = {"reviews": reviews, "reviewDecision": "REVIEW_REQUIRED"}
        self._call("PATCH", f"pr/{self._name}/12", edit)

    def _advance(self, seconds):
        self._call("POST", "clock", {"advance": seconds})

    def _call(self, method, path, body):
        self._http.request(method, path, json=body).raise_for_status()


class _StoryClock(MovedClock):
    def __init__(self, start, on_advance):
        super().__init__(start.astimezone(dt.UTC))
        self._on_advance = on_advance

    def advance(self, seconds):
        super().advance(seconds)
        self._on_advance(seconds)
