from prwatch.domain.load import Load, grow, multiply, resize
from prwatch.domain.schedule import Activity

HOT, FRESH, IDLE, RESTING = Activity

LOAD = Load(
    pull_requests={HOT: 1, IDLE: 3},
    branches={FRESH: 2},
    archived=1,
    finished=5,
    lists=(40,),
    searches=(7,),
)


def test_what_two_tokens_of_one_account_watch_is_added():
    other = Load(pull_requests={HOT: 2, RESTING: 4}, branches={IDLE: 1}, lists=(3,))

    assert LOAD + other == Load(
        pull_requests={HOT: 3, IDLE: 3, RESTING: 4},
        branches={FRESH: 2, IDLE: 1},
        archived=1,
        finished=5,
        lists=(40, 3),
        searches=(7,),
    )
    assert (LOAD.watched, LOAD.count(HOT), LOAD.count(RESTING)) == (5, 1, 0)


def test_more_watches_are_as_active_as_those_that_there_are():
    assert grow(LOAD, 4).pull_requests == {HOT: 2, IDLE: 6}
    assert grow(LOAD, 2).pull_requests == {HOT: 1, IDLE: 5}
    assert grow(LOAD, 2).lists == LOAD.lists


def test_where_nothing_is_watched_more_watches_rest():
    assert grow(Load(lists=(0,)), 9) == Load(pull_requests={RESTING: 9}, lists=(0,))


def test_so_many_times_as_much_is_that_of_everything():
    assert multiply(LOAD, 3) == LOAD + LOAD + LOAD


def test_a_load_is_made_larger_or_smaller():
    assert resize(LOAD, 9) == grow(LOAD, 4)
    smaller = resize(LOAD, 2)

    assert (smaller.watched, smaller.lists, smaller.archived) == (2, (), 0)
    assert smaller.branches == LOAD.branches
    assert resize(Load(), 0) == Load(pull_requests={RESTING: 0})
