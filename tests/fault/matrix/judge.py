"""Compares what was told and what is stored with what was true at that time."""

from collections import defaultdict

BY_GRAPHQL_ALONE = frozenset({"review_decision", "merge_queue", "auto_merge"})
"""REST tells nothing of the first two, and not when the last one ends."""
NEVER_JUDGED = frozenset({"activity", "archived"})
VOID = frozenset({"mergeable"})
"""What may not be known any more of a pull request that is closed or merged."""


class Judge:
    """
    Holds what was told against the plot, and remembers what it finds wrong.

    `touched` are the fields that a fault in force shows otherwise than they are,
    `kept` those of which what it showed may stay until something else changes.
    """

    def __init__(self, plot, *, read_path):
        self.findings = []
        self.touched = frozenset()
        self.kept = frozenset()
        self._plot = plot
        self._unreadable = BY_GRAPHQL_ALONE if read_path == "rest" else frozenset()
        self._told = defaultdict(dict)
        self._baseline = {}
        self._last_words = {}
        """What was disguised when the end of a pull request was read: it stays so."""
        self._revisions = defaultdict(list)
        self._ids = set()

    def hear(self, events, at):
        """Judge what one cycle told. Whatever is told as new must be true now."""
        for event in events:
            if event["id"] in self._ids:
                self._find(at, f"event {event['id']} came twice")
            self._ids.add(event["id"])
            if event["type"] == "GitHubTaskPRUpdated":
                self._hear_update(event["data"], at)

    def list_stale(self, rows):
        """List how the stored rows differ from the truth."""
        stored = {row["pr_number"]: row for row in rows}
        stale = []
        for number, facts in self._plot.facts.items():
            row = stored.get(number)
            if row is None:
                if facts.state == "OPEN" or number in self._baseline:
                    stale.append(f"#{number} is not stored")
                continue
            for name, true in self._expect(facts):
                value = bool(row[name]) if isinstance(true, bool) else row[name]
                if value != true:
                    stale.append(f"#{number} {name} is stored as {value}, not {true}")
        return stale

    def conclude(self, rows, at):
        """Judge the end: nothing is lost, and nothing is stored that is not so."""
        for line in self.list_stale(rows):
            self._find(at, line)
        for number, facts in self._plot.facts.items():
            if number not in self._baseline:
                continue
            for name, true in self._expect(facts):
                if name == "title":
                    continue
                told = self._told[number].get(name, self._baseline[number].get(name))
                if told != true:
                    self._find(at, f"#{number} {name} was told as {told}, not {true}")
        for watch, revisions in self._revisions.items():
            first = revisions[0]
            if revisions != list(range(first, first + len(revisions))):
                self._find(at, f"revisions of {watch} are {revisions}")

    def _hear_update(self, data, at):
        number = data["pull_request"]["number"]
        self._revisions[data["watch_id"]].append(data["revision"])
        facts = self._plot.facts[number]
        fields = {change["field"] for change in data["changes"]}
        for change in data["changes"]:
            name, current = change["field"], change["current"]
            if name == "associated":
                self._baseline.setdefault(number, facts.as_row())
                continue
            if name in NEVER_JUDGED or name == "comments":
                continue
            before = self._told[number].get(name, self._baseline[number].get(name))
            self._told[number][name] = current
            if name == "state":
                self._last_words[number] = self.touched
            if name == "checks":
                # They may be told late, so that they stay what they were in between.
                before = change["previous"]
            if change["previous"] != before and name not in self.touched:
                self._find(at, f"#{number} {change} does not follow {before}")
            if not self._is_true(facts, name, current, fields):
                true = getattr(facts, name)
                self._find(at, f"#{number} {change} was told, and {true} is so")

    def _is_true(self, facts, name, current, fields):
        if getattr(facts, name) == current or name in self.touched:
            return True
        if name != "checks":
            return False
        # Green counts only once it has stayed green for a while.
        is_settling = current == "pending" and facts.checks == "success"
        # A new head has no verdict of its own until one was read.
        return is_settling or (current == "none" and "head_ref_oid" in fields)

    def _expect(self, facts):
        left_out = self._unreadable | self.kept
        if facts.state != "OPEN":
            left_out |= VOID | self._last_words.get(facts.number, frozenset())
        for name, true in facts.as_row().items():
            if name not in left_out:
                yield name, true

    def _find(self, at, text):
        self.findings.append(f"{at:%d %H:%M:%S} {text}")
