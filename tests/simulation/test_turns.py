"""Each reference is asked at its own interval, whatever else wakes the loop."""

from prwatch.simulator.faults import Fault
from tests.product import BRANCH, GAP, ONE, MovedClock, list_changes, open_product
from tests.simulation.scenarios import make_world


async def count_asked(product, minutes):
    """Return in which of these minutes GitHub was asked anything."""
    asked = []
    for minute in range(1, minutes + 1):
        await product.cycle(gap=GAP, is_forced=False)
        usage = product.report.usage
        if usage.graphql + usage.rest:
            asked.append(minute)
    return asked


async def test_a_closed_pull_request_that_was_named_is_asked_every_15_minutes(tmp_path):
    world, pull_request = make_world(MovedClock())
    async with open_product(tmp_path, world, watches=(ONE,)) as product:
        await product.cycle(is_forced=False)
        world.close(pull_request)
        await product.cycle(is_forced=False)

        asked = await count_asked(product, 50)
        world.reopen(pull_request)
        reopened = await product.cycles(15, is_forced=False)

    assert asked == [1, 16, 31, 46]
    assert list_changes(reopened) == [(("state", "CLOSED", "OPEN"),)]


async def test_a_closed_pull_request_that_is_gone_is_told_and_asked_less(tmp_path):
    world, pull_request = make_world(MovedClock())
    async with open_product(tmp_path, world, watches=(ONE,)) as product:
        await product.cycle()
        world.close(pull_request)
        await product.cycle()
        world.faults.add(Fault(kind="not_found", target="octo/hello#12", times=None))
        asked = []
        for minute in range(60):
            await product.cycle()
            if product.report.references:
                asked.append(minute)
        told = [(one.reference, one.code) for one in product.report.failures]

    assert 2 <= len(asked) <= 4, asked
    assert told == [("octo/hello#12", "not_found")]


async def test_a_branch_is_asked_the_more_seldom_the_longer_nobody_works(tmp_path):
    world, pull_request = make_world(MovedClock())
    world.close(pull_request)
    world.clock.advance(60)
    async with open_product(tmp_path, world, watches=(BRANCH,)) as product:
        first = await count_asked(product, 60)
        second = await count_asked(product, 60)
        await product.cycles(23, gap=3600.0, is_forced=False)
        late = await count_asked(product, 60)

    assert (len(first), len(second), len(late)) == (60, 12, 4)


async def test_places_that_are_paid_for_go_to_those_that_are_due_next(tmp_path):
    world, hot = make_world(MovedClock())
    rows = world.open_many("octo/hello", 120)
    world.set_check(hot, "test", workflow="CI")
    watches = [
        f'repository = "octo/hello"\npull_request = {one.number}'
        for one in (hot, *rows)
    ]
    async with open_product(tmp_path, world, watches=watches) as product:
        await product.cycle(is_forced=False)
        for one in rows:
            world.mark_draft(one)
        told = await product.cycle(gap=15.0, is_forced=False)
        asked = [len(product.report.references), product.report.skipped["not_due"]]
        points = product.report.usage.points
        late = await product.cycle(gap=45.0, is_forced=False)

    assert (len(list_changes(told)), asked) == (99, [100, 120])
    assert points == 1 + 4
    assert len(list_changes(late)) == 120 - 99


async def test_a_branch_is_asked_for_conditionally_through_rest(tmp_path):
    world, _ = make_world(MovedClock())
    branches = ("fix-greeting", "one", "two", "three")
    watches = [BRANCH.replace("fix-greeting", name) for name in branches]
    config = {"watches": watches, "poll": 'read_path = "rest"'}
    async with open_product(tmp_path, world, **config) as product:
        await product.cycle()
        await product.cycle()
        quiet = product.report.usage
        for name in branches[1:]:
            world.open_pull_request("octo/hello", branch=name)
        await product.cycle()
        searched = product.report.usage.rest
        found = product.ask("SELECT count(*) AS found FROM pr_watches WHERE pr_number")

    # The repository and one list a branch, all of them free.
    assert (quiet.rest, quiet.not_modified) == (1 + 4, 1 + 4)
    # And five requests for each of the three found.
    assert (searched, found) == (1 + 4 + 3 * 5, [{"found": 3}])


async def test_a_forks_branch_of_the_same_name_is_not_ours_through_rest(tmp_path):
    world, _ = make_world(MovedClock())
    world.open_many("octo/hello", 120)
    config = {"watches": (BRANCH,), "poll": 'read_path = "rest"'}
    async with open_product(tmp_path, world, **config) as product:
        await product.cycle()
        await product.cycle()
        asked = product.report.usage.rest
        ours = world.open_pull_request("octo/hello", branch="fix-greeting")
        told = await product.cycle()

    assert asked == 1 + 1
    assert list_changes(told) == [(("associated", None, ours.number),)]


async def test_branches_that_are_due_next_take_the_free_places_of_a_look_up(tmp_path):
    world, _ = make_world(MovedClock())
    idle = [BRANCH.replace("fix-greeting", f"idle-{n}") for n in range(60)]
    async with open_product(tmp_path, world, watches=idle) as product:
        await product.cycle(is_forced=False)
        world.clock.advance(7200)
    watches = [*idle, BRANCH.replace("fix-greeting", "fresh")]
    async with open_product(tmp_path, world, watches=watches) as product:
        await product.cycle(is_forced=False)
        await product.cycle(is_forced=False)
        report = product.report

    assert (report.lookups, len(report.references)) == (1, 50)
    assert report.usage.points == 1
