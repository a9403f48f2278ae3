"""Sweeping the review tasks of a product over the simulated GitHub, in tests."""

import contextlib

from prwatch.app.cleanup.cleanup import ReviewCleanup
from prwatch.app.cleanup.sweep_order import SweepOrder
from prwatch.app.review.queue import ReviewQueue
from prwatch.domain.review_watch import AuditActor
from tests.product import open_product

ME = "octocat"
CYCLE = 300.0
MINE = '[[workspace.review]]\nname = "mine"'
ASKED = SweepOrder(by=AuditActor.PERSON)
DRY = SweepOrder(by=AuditActor.PERSON, is_dry=True)


def ask(world, number=1, reviewer=ME, repository="octo/hello"):
    """Open a pull request that asks for somebody's review."""
    one = world.open_pull_request(repository, branch=f"topic-{number}", number=number)
    world.request_review(one, reviewer)
    return one


@contextlib.asynccontextmanager
async def open_found(tmp_path, world, *, policy="auto", reviews=MINE, **options):
    """Open a product whose queue has found what asks for review."""
    text = f'{reviews}\npolicy = "{policy}"'
    async with open_product(
        tmp_path, world, watches=(), tasks=text, **options
    ) as product:
        await ReviewQueue(product.runtime).run_once()
        for relay in product.runtime.relays:
            await relay.run_once()
        product.take_events()
        product.notices.clear()
        yield product, ReviewCleanup(product.runtime)


async def sweep(product, cleanup, *orders, gap=CYCLE):
    """Let a cycle's time pass and sweep once."""
    product.clock.advance(gap)
    return await cleanup.run_once(*orders)


async def sweeps(product, cleanup, count=4):
    """Sweep so many times, a cycle apart; return how many tasks went."""
    reports = [await sweep(product, cleanup) for _ in range(count)]
    return sum(report.deleted for report in reports)


def tasks(product):
    return [row["external_id"] for row in product.ask("SELECT * FROM tasks")]


def rows(product):
    return product.ask("SELECT * FROM review_tasks ORDER BY id")


def verdicts(report):
    return dict(report.verdicts)


def write(product, sql, *values):
    """Change rows beside the product, as somebody else would."""
    with contextlib.closing(product.connect()) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        assert connection.execute(sql, values).rowcount == 1
