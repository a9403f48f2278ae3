"""What a command hands to the product from the process that it runs in."""

import random
import sys
from typing import BinaryIO

import click

from prwatch.app.surroundings import Surroundings
from prwatch.cli.options import get_options
from prwatch.clock import SystemClock


def build_surroundings(
    ctx: click.Context, *, stdout: BinaryIO | None = None
) -> Surroundings:
    """Return the machine's clock, chance and environment, and the process's output."""
    return Surroundings(
        environ=get_options(ctx).environ,
        clock=SystemClock(),
        chance=random.SystemRandom(),
        stdout=sys.stdout.buffer if stdout is None else stdout,
    )
