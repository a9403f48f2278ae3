"""What signals ask of the daemon: to stop, to stop at once, to reload."""

import signal
from collections.abc import Callable

import anyio
from anyio.abc import TaskStatus


async def receive_signals(
    *,
    on_stop: Callable[[], None],
    on_reload: Callable[[], None],
    task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    """
    Call `on_stop` at SIGTERM or SIGINT, `on_reload` at each SIGHUP before it.

    It returns after the first signal to stop. From then on the kernel's own answer
    holds: a second one ends the process at once, even while the event loop is
    blocked, and a shell sees 143 or 130. SIGHUP is ignored then. It runs in the main
    thread alone.
    """
    with anyio.open_signal_receiver(
        signal.SIGTERM, signal.SIGINT, signal.SIGHUP
    ) as received:
        task_status.started()
        async for number in received:
            if number != signal.SIGHUP:
                break
            on_reload()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    on_stop()
