from prwatch.domain.handover import (
    AdoptedWatches,
    Handover,
    plan_handovers,
)
from prwatch.domain.task import Origin
from tests.workspace_rows import (
    ARCHIVED_AT,
    make_snapshot,
    make_task,
    make_watch,
)

NAMED = make_task("named")
ADOPTED = make_task("adopted", external_id="octo/hello#12", origin=Origin.ADOPTED)


def test_an_adopted_task_gives_way_to_the_task_that_somebody_named():
    mine = make_watch("w1", task_id="named", pr_number=12)
    theirs = make_watch("w2", task_id="adopted", pr_number=12)
    snapshot = make_snapshot(tasks=[NAMED, ADOPTED], watches=[theirs, mine])

    planned = plan_handovers(snapshot)

    assert planned == (Handover(task=ADOPTED, source=theirs, destination=mine),)
    assert str(planned[0]) == "hand #12 of octo/hello#12 over to w1"


def test_an_adopted_task_keeps_what_nobody_else_watches():
    snapshot = make_snapshot(
        tasks=[NAMED, ADOPTED, make_task("old", archived_at=ARCHIVED_AT)],
        watches=[
            make_watch("w1", task_id="named", pr_number=13),
            make_watch("w2", task_id="adopted", pr_number=12),
            make_watch("w3", task_id="old", pr_number=12),
            make_watch("w4", task_id="named", branch="fix"),
        ],
    )

    assert plan_handovers(snapshot) == ()


def test_the_watch_that_a_named_task_takes_over_is_found():
    theirs = make_watch("w2", task_id="adopted", pr_number=12)
    snapshot = make_snapshot(
        tasks=[NAMED, ADOPTED],
        watches=[make_watch("w1", task_id="named", pr_number=12), theirs],
    )

    adopted = AdoptedWatches(snapshot)
    assert adopted.find("hello", 12) == theirs
    assert adopted.find("hello", 13) is None
    assert adopted.find("docs", 12) is None


def test_of_several_adopted_watches_the_first_is_taken_over():
    old = make_task("old", origin=Origin.ADOPTED, archived_at=ARCHIVED_AT)
    other = make_task("other", origin=Origin.ADOPTED)
    first = make_watch("w2", task_id="other", pr_number=12)
    snapshot = make_snapshot(
        tasks=[ADOPTED, old, other],
        watches=[
            make_watch("w3", task_id="adopted", pr_number=12),
            make_watch("w1", task_id="old", pr_number=12),
            first,
        ],
    )

    assert AdoptedWatches(snapshot).find("hello", 12) == first
