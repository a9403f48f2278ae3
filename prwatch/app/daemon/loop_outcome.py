"""How a loop's turns end for the store: every failure is counted, and told once."""

import structlog

from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.errors import StoreError

_log = structlog.get_logger()


class LoopOutcome:
    """
    Notes how the turns of one loop end, in the registry and in the log.

    A failure is logged once as long as its code stays, and so is its end.
    """

    def __init__(self, registry: LoopRegistry, name: str) -> None:
        self._registry = registry
        self._name = name
        self._code = ""

    def fail(self, error: StoreError) -> None:
        """Note that the store failed in a turn."""
        self._registry.fail(self._name, error)
        if error.code != self._code:
            event = f"{self._name}.failed"
            _log.warning(event, code=error.code, message=str(error))
        self._code = error.code

    def succeed(self) -> None:
        """Note that a turn went well."""
        self._registry.succeed(self._name)
        if self._code:
            _log.info(f"{self._name}.works_again", code=self._code)
        self._code = ""
