"""A limit on how long a check may take."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from .errors import TimedOut

AGAIN_SECONDS = 1.0
"""How soon the alarm rings again, for a backend whose own ``except BaseException`` took the first one."""


def can_limit() -> bool:
    """Whether this platform and thread can interrupt a hanging call: alarms reach only the main thread."""
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raise TimedOut in the body when it takes longer than ``seconds``; limits nest, and the inner one rings first.

    An alarm breaks a lock that is never released, a coroutine that never ends and a portal that never answers. Where
    ``can_limit`` is false the body is not limited.
    """
    if not can_limit():
        yield
        return

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise TimedOut(seconds)

    earlier_handler = signal.signal(signal.SIGALRM, ring)
    earlier_delay, earlier_interval = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, earlier_delay, earlier_interval)
        signal.signal(signal.SIGALRM, earlier_handler)
