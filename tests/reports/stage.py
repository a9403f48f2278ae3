"""A world with pull request 12 of octo/hello, and what a product makes of its life."""

from prwatch.domain.reference import PullRequestReference
from tests.product import MovedClock, list_changes, open_product
from tests.simulation.scenarios import make_world

PATHS = ("graphql", "rest")
BRANCH_OF_FORK = (
    'repository = "octo/hello"\nbranch = "fix-greeting"\nhead = "ada/hello"'
)


def make_stage():
    """Return a world on a clock of its own, and the pull request from ada's fork."""
    return make_world(MovedClock())


def configure(read_path="graphql", settle="20s"):
    """Return the options of a product that reads on that path."""
    return {"poll": f'read_path = "{read_path}"\nsettle = "{settle}"'}


async def read_row(tmp_path, *acts, read_path="graphql", settle="20s", seconds=1):
    """Do all acts, then look once: return the task's row and the report."""
    world, one = make_stage()
    for act in acts:
        world.clock.advance(seconds)
        act(world, one)
    async with open_product(tmp_path, world, **configure(read_path, settle)) as product:
        await product.cycle()
        (row,) = product.ask("SELECT * FROM task_pull_requests")
    return row, product.report


async def tell(tmp_path, *acts, quiet=3, read_path="graphql", settle="20s", **options):
    """
    Look once, then after each act, then `quiet` times; return all that was told.

    A change is (field, previous, current), and each tuple of them one event.
    """
    world, one = make_stage()
    settings = {**configure(read_path, settle), **options}
    told = []
    async with open_product(tmp_path, world, **settings) as product:
        await product.cycle()
        for act in acts:
            world.clock.advance(10)
            act(world, one)
            told += await product.cycle()
        told += await product.cycles(quiet)
    return list_changes(told)


def name_fields(changes):
    """Return the fields of each event's changes alone."""
    return [tuple(field for field, _, _ in each) for each in changes]


async def explain(product, number=12):
    """Return everything that the verdicts on a pull request are made of, read now."""
    (account,) = product.runtime.wired.accounts
    reference = PullRequestReference(owner="octo", name="hello", number=number)
    return (await account.github.explainer.explain(reference)).value
