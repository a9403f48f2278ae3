"""What the product takes from the process that it runs in."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from prwatch.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """
    What the product takes from outside.

    `transport` answers in place of the network, for the simulator. `is_inline` runs
    SQLite in the calling thread, for event loops that its driver does not know.
    """

    environ: Mapping[str, str]
    clock: Clock
    chance: random.Random
    stdout: BinaryIO
    transport: Any = None
    is_inline: bool = False
