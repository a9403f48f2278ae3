"""Bringing stored tasks in line with what a source asks for: file or worktrees."""

import contextlib
import random
from collections.abc import Callable, Sequence

from prwatch.app.task_steps import StepContext, apply_steps
from prwatch.clock import Clock
from prwatch.domain.desired import DesiredWorkspace
from prwatch.domain.desired_plan import plan_tasks
from prwatch.domain.desired_steps import Step, TaskPlan
from prwatch.domain.ids import build_id
from prwatch.domain.snapshot import Snapshot
from prwatch.domain.task import Origin, Workspace
from prwatch.errors import StoreConflict
from prwatch.store import tasks
from prwatch.store.database import Database, Transaction

ATTEMPTS = 3
CHUNK = 150
"""Steps in one transaction: archiving one task takes several rows with it."""

FILE_ORIGINS = frozenset({Origin.CONFIG, Origin.ADOPTED})
WORKTREE_ORIGINS = frozenset({Origin.WORKTREE})


class TaskSync:
    """Applies the wishes of a source to one database."""

    def __init__(
        self, database: Database, *, clock: Clock, chance: random.Random
    ) -> None:
        self._database = database
        self._clock = clock
        self._chance = chance

    async def put_desired(
        self,
        workspace: Workspace,
        desired: DesiredWorkspace,
        *,
        host: str,
        origins: frozenset[Origin],
        login: str = "",
    ) -> TaskPlan:
        """
        Plan and apply what the source asks for, and return the plan.

        `origins` are those that the source speaks for: what they made and it names
        no longer is archived. `login` is who `@me` is; while it is '' that may be
        anybody. Nothing is written when nothing differs. What another process
        changes meanwhile is planned with anew.

        Raises:
            StoreConflict: Others changed the rows all the time.
        """

        def build(stored: Snapshot) -> TaskPlan:
            return plan_tasks(desired, stored, origins=origins, login=login)

        return await self.put_planned(workspace, build, host=host)

    async def put_planned(
        self,
        workspace: Workspace,
        build: Callable[[Snapshot], TaskPlan],
        *,
        host: str,
    ) -> TaskPlan:
        """
        Apply what `build` plans from what is stored, and return that plan.

        `build` is called anew when another process changes the rows meanwhile. Its
        snapshot holds the archived tasks too.

        Raises:
            StoreConflict: Others changed the rows all the time.
        """
        for _ in range(ATTEMPTS - 1):
            with contextlib.suppress(StoreConflict):
                return await self._plan_and_apply(workspace, build, host)
        return await self._plan_and_apply(workspace, build, host)

    async def _plan_and_apply(
        self, workspace: Workspace, build: Callable[[Snapshot], TaskPlan], host: str
    ) -> TaskPlan:

        async def load(tx: Transaction) -> Snapshot:
            return await tasks.load_snapshot(tx, workspace, include_archived=True)

        stored = await self._database.read(load)
        plan = build(stored)
        context = StepContext(workspace=workspace, host=host, now=self._clock.now())
        steps = [(step, build_id(context.now, self._chance)) for step in plan.steps]
        for start in range(0, len(steps), CHUNK):
            await self._apply(steps[start : start + CHUNK], context)
        return plan

    async def _apply(
        self, chunk: Sequence[tuple[Step, str]], context: StepContext
    ) -> None:
        async def write(tx: Transaction) -> None:
            await apply_steps(tx, chunk, context)

        await self._database.transact(write)
