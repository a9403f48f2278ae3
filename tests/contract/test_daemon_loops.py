"""The watch loop and the relays keep to the contract of a service."""

import pytest

from prwatch.app.daemon.cleanup_loop import CleanupLoop
from prwatch.app.daemon.daemon import RelayService
from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.daemon.review_loop import ReviewLoop
from prwatch.app.daemon.watch_loop import WatchLoop
from prwatch.app.meter.gauges import Gauges
from prwatch.app.polling import poll
from prwatch.app.sync.sync_loop import SyncLoop
from prwatch.simulator import World
from tests.contract.service import ServiceContract
from tests.product import LoopClock, open_product


class OnAProduct(ServiceContract):
    """Over a real SQLite file that runs in the loop's own thread."""

    @pytest.fixture
    async def product(self, tmp_path):
        clock = LoopClock()
        world = World(clock)
        world.add_repository("octo/hello")
        world.open_pull_request(
            "octo/hello", branch="fix-greeting", title="Greet", number=12
        )
        world.add_repository("octo/team")
        sync = '[[workspace.sync]]\nrepository = "octo/team"'
        async with open_product(tmp_path, world, clock=clock, tasks=sync) as product:
            yield product

    @pytest.fixture
    def leftovers(self, product):
        """No delivery may still be held by a relay that was cancelled."""
        return lambda: product.ask("SELECT * FROM deliveries WHERE state = 'acquired'")


class TestWatchLoop(OnAProduct):
    @pytest.fixture
    async def service(self, product):
        registry = LoopRegistry(product.clock)
        registry.begin_run(WatchLoop.name, None)
        return WatchLoop(product.runtime, registry)


class TestGauges(OnAProduct):
    @pytest.fixture
    async def service(self, product):
        registry = LoopRegistry(product.clock)
        registry.begin_run(Gauges.name, None)
        return Gauges(product.runtime, registry)


class TestReviewLoop(OnAProduct):
    @pytest.fixture
    async def service(self, product):
        registry = LoopRegistry(product.clock)
        registry.begin_run(ReviewLoop.name, None)
        return ReviewLoop(product.runtime, registry)


class TestCleanupLoop(OnAProduct):
    @pytest.fixture
    async def service(self, product):
        registry = LoopRegistry(product.clock)
        registry.begin_run(CleanupLoop.name, None)
        return CleanupLoop(product.runtime, registry)


class TestRelayService(OnAProduct):
    @pytest.fixture
    async def service(self, product):
        await poll(product.runtime, is_forced=True)
        return RelayService(product.runtime.relays[0])


class TestSyncLoop(OnAProduct):
    @pytest.fixture
    async def service(self, product):
        registry = LoopRegistry(product.clock)
        registry.begin_run(SyncLoop.name, None)
        return SyncLoop(product.runtime, registry)
