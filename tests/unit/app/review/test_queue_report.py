"""What turns of the review queue are counted as."""

from collections import Counter

from prwatch.app.meter.metering import follow_reviews, put_reviews
from prwatch.app.review.poll_outcome import PollOutcome
from prwatch.app.review.queue_report import QueueCounts, QueueReport
from prwatch.domain.review_watch import IncompleteReason
from prwatch.errors import ProviderUnavailable
from prwatch.telemetry import metrics
from prwatch.telemetry.meter import Meter, RunningTotals


def make_report():
    failed = PollOutcome(created=1)
    failed.lose(IncompleteReason.UNREAD)
    failed.fail(ProviderUnavailable("down"))
    failed.lose(IncompleteReason.OVER_CAP)
    partial = PollOutcome(joined=2, ended=3, unasked=7, unread=1, refused=8)
    partial.lose(IncompleteReason.UNREAD)
    whole = PollOutcome(created=4, cleaned=5, left=6)
    return QueueReport(
        outcomes={("w", "a"): failed, ("w", "b"): partial, ("w", "c"): whole},
        skipped=Counter(limit=7),
    )


class Queue:
    def __init__(self):
        self.counts = QueueCounts()


def test_each_search_and_each_hit_is_counted_by_how_it_ended():
    queue, meter = Queue(), Meter()
    totals = RunningTotals(meter)
    queue.counts.add(make_report())
    follow_reviews(totals, queue)
    queue.counts.add(QueueReport(outcomes={("w", "c"): PollOutcome(created=1)}))
    queue.counts.watches = Counter(enabled=3, disabled=0, unreadable=1)
    follow_reviews(totals, queue)
    put_reviews(meter, queue)

    def read(metric, *words):
        return [meter.get(metric, word) for word in words]

    assert read(metrics.REVIEW_SEARCHES, "complete", "incomplete", "failed") == [
        2,
        1,
        1,
    ]
    assert read(
        metrics.REVIEW_HITS,
        *("created", "joined", "ended", "unasked", "cleaned", "left", "unread"),
        "refused",
    ) == [6, 2, 3, 7, 5, 6, 1, 8]
    assert read(metrics.REVIEW_SKIPS, "limit", "account") == [7, 0]
    assert read(metrics.REVIEW_WATCHES, "enabled", "disabled", "unreadable") == [
        3,
        0,
        1,
    ]


def test_the_first_reason_in_order_is_the_one_that_is_told():
    outcomes = make_report().outcomes

    assert [each.reason for each in outcomes.values()] == [
        IncompleteReason.FAILED,
        IncompleteReason.UNREAD,
        None,
    ]
