import random
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prwatch.domain.reconcile import Plan, plan
from prwatch.domain.targets import Target, Targets, resolve_targets
from tests.workspace_rows import (
    make_checkout,
    make_link,
    make_repository,
    make_session,
    make_snapshot,
    make_task,
    make_task_pull_request,
    make_watch,
)

TASKS = ("t", "t2", "gone")
REPOSITORIES = ("hello", "docs", "fork")
BRANCHES = ("a", "b", "c", "d")
SESSIONS = ("", "s1", "s2", "s3")
HEADS = ("", "me/hello")
ROWS = (
    make_repository(),
    make_repository("docs"),
    make_repository("fork", owner="me", name="hello", parent_node_id="R_hello"),
)

LAW = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@st.composite
def watches(draw):
    searching = draw(
        st.sets(
            st.tuples(
                st.sampled_from(TASKS),
                st.sampled_from(REPOSITORIES),
                st.sampled_from(BRANCHES),
            )
        )
    )
    discovered = draw(
        st.sets(
            st.tuples(
                st.sampled_from(TASKS),
                st.sampled_from(REPOSITORIES),
                st.integers(1, 3),
            ),
            max_size=6,
        )
    )
    keys = [(*key, 0) for key in sorted(searching)]
    keys += [
        (task, repository, draw(st.sampled_from(("", *BRANCHES))), number)
        for task, repository, number in sorted(discovered)
    ]
    ids = draw(st.permutations(range(len(keys))))
    return [
        make_watch(
            f"w{row_id:02}",
            task_id=task,
            repository_id=repository,
            branch=branch,
            pr_number=number,
            session_id=draw(st.sampled_from(SESSIONS)),
            head_repository=draw(st.sampled_from(HEADS)),
        )
        for row_id, (task, repository, branch, number) in zip(ids, keys, strict=True)
    ]


@st.composite
def targets(draw):
    keys = draw(
        st.sets(
            st.tuples(
                st.sampled_from(TASKS[:2]),
                st.sampled_from(REPOSITORIES[:2]),
                st.sampled_from(BRANCHES),
            )
        )
    )
    held = draw(
        st.sets(
            st.tuples(st.sampled_from(TASKS[:2]), st.sampled_from(REPOSITORIES[:2]))
        )
    )
    return Targets(
        targets=frozenset(
            Target(
                task_id=task,
                repository_id=repository,
                branch=branch,
                head_repository=draw(st.sampled_from(HEADS)),
                session_ids=tuple(sorted(draw(st.sets(st.sampled_from(SESSIONS[1:]))))),
            )
            for task, repository, branch in sorted(keys)
        ),
        held=frozenset(held),
    )


@st.composite
def snapshots(draw):
    keys = st.tuples(
        st.sampled_from(TASKS), st.sampled_from(REPOSITORIES[:2]), st.integers(1, 3)
    )
    return make_snapshot(
        repositories=ROWS,
        tasks=[make_task("t"), make_task("t2")],
        watches=draw(watches()),
        links=[
            make_link(number, task_id=task, repository_id=repository)
            for task, repository, number in sorted(draw(st.sets(keys, max_size=4)))
        ],
        task_pull_requests=[
            make_task_pull_request(
                number,
                task_id=task,
                repository_id=repository,
                head_ref_name=draw(st.sampled_from(BRANCHES)),
            )
            for task, repository, number in sorted(draw(st.sets(keys, max_size=4)))
        ],
    )


def apply(planned: Plan, snapshot):
    """Do what a plan says, as the store does: moves onto a sibling merge into it."""
    rows = {watch.id: watch for watch in snapshot.watches}
    for removal in planned.removes:
        del rows[removal.watch.id]
    for move in planned.moves:
        row = rows.pop(move.watch.id)
        if not move.merges_into:
            rows[row.id] = replace(
                row, branch=move.branch, head_repository=move.head_repository
            )
    for number, new in enumerate(planned.creates):
        row = make_watch(
            f"x{number:02}",
            task_id=new.task_id,
            repository_id=new.repository_id,
            branch=new.branch,
            head_repository=new.head_repository,
            session_id=new.session_id,
            pr_number=new.pr_number,
        )
        rows[row.id] = row
    return replace(snapshot, watches=tuple(rows.values()))


def identity(watch):
    kind = watch.pr_number or watch.branch
    return (watch.task_id, watch.repository_id, kind)


@LAW
@given(snapshots(), targets())
def test_an_applied_plan_leaves_nothing_to_plan(snapshot, wanted):
    after = apply(plan(wanted, snapshot), snapshot)

    assert plan(wanted, after) == Plan()


@LAW
@given(snapshots(), targets())
def test_no_two_watches_have_one_identity_after_a_plan(snapshot, wanted):
    after = apply(plan(wanted, snapshot), snapshot)

    identities = [identity(watch) for watch in after.watches]
    assert len(identities) == len(set(identities))


@LAW
@given(snapshots(), targets(), st.integers())
def test_a_plan_does_not_depend_on_the_order_of_rows(snapshot, wanted, seed):
    chance = random.Random(seed)
    shuffled = {
        name: tuple(chance.sample(rows, len(rows)))
        for name in ("watches", "tasks", "links", "repositories", "task_pull_requests")
        for rows in [getattr(snapshot, name)]
    }

    assert plan(wanted, replace(snapshot, **shuffled)) == plan(wanted, snapshot)


@LAW
@given(snapshots(), targets())
def test_a_held_place_loses_and_moves_nothing(snapshot, wanted):
    planned = plan(wanted, snapshot)

    touched = {
        (step.watch.task_id, step.watch.repository_id)
        for step in (*planned.removes, *planned.moves)
        if step.watch.task_id != "gone"
    }
    assert not touched & wanted.held


@LAW
@given(snapshots(), targets())
def test_a_watch_on_a_targeted_branch_stays_on_it(snapshot, wanted):
    planned = plan(wanted, snapshot)

    keys = {target.key for target in wanted.targets}
    leaving = {
        (step.watch.task_id, step.watch.repository_id, step.watch.branch)
        for step in (
            *planned.removes,
            *(move for move in planned.moves if move.branch != move.watch.branch),
        )
        if step.watch.is_searching
    }
    assert not leaving & keys


@LAW
@given(snapshots(), targets())
def test_discovered_watches_of_active_tasks_are_never_touched(snapshot, wanted):
    after = apply(plan(wanted, snapshot), snapshot)

    kept = [
        watch
        for watch in snapshot.watches
        if not watch.is_searching and watch.task_id != "gone"
    ]
    assert set(kept) <= set(after.watches)


@LAW
@given(snapshots(), targets())
def test_every_target_is_watched_after_a_plan(snapshot, wanted):
    after = apply(plan(wanted, snapshot), snapshot)

    unwatched = [
        target
        for target in wanted.targets
        if not any(
            watch.task_id == target.task_id
            and (
                watch.pr_number or (watch.repository_id, watch.branch) == target.key[1:]
            )
            for watch in after.watches
        )
    ]
    assert unwatched == []


@LAW
@given(st.permutations([(f"w{n}", BRANCHES[n], f"s{n}") for n in range(4)]))
def test_sessions_that_exchange_their_branches_plan_nothing(rows):
    snapshot = make_snapshot(
        watches=[
            make_watch(f"w{n}", branch=BRANCHES[n], session_id=f"s{n}")
            for n in range(4)
        ]
    )
    exchanged = Targets(
        targets=frozenset(
            Target(
                task_id="t",
                repository_id="hello",
                branch=branch,
                session_ids=(rows[number][2],),
            )
            for number, branch in enumerate(BRANCHES)
        )
    )

    assert plan(exchanged, snapshot) == Plan()


@LAW
@given(
    st.lists(st.sampled_from(BRANCHES), min_size=1, max_size=60),
    st.integers(),
)
def test_any_number_of_sessions_collapses_to_the_set_of_their_branches(branches, seed):
    sessions = [make_session(f"s{number}") for number in range(len(branches))]
    checkouts = [
        make_checkout(f"s{number}", branch=branch)
        for number, branch in enumerate(branches)
    ]
    snapshot = make_snapshot(sessions=sessions, checkouts=checkouts)
    random.Random(seed).shuffle(checkouts)
    shuffled = make_snapshot(sessions=sessions[::-1], checkouts=checkouts)

    resolved = resolve_targets(snapshot, {})

    assert sorted(target.branch for target in resolved.targets) == sorted(set(branches))
    assert resolve_targets(shuffled, {}) == resolved
