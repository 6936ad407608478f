"""Where a backend's coroutines run: on the main thread, or in a thread of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import ExitStack
from typing import Any, Protocol, TypeVar

from anyio.from_thread import start_blocking_portal

Result = TypeVar("Result")


class Loop(Protocol):
    """Runs coroutines of a backend to completion."""

    def run(self, function: Callable[[], Awaitable[Result]]) -> Result:
        """Call ``function`` inside the loop and return what it gives."""

    def close(self) -> None:
        """End the loop; its tasks are cancelled."""

    def abandon(self) -> None:
        """Leave a loop whose task hangs as it is, and quiet about it."""


class MainLoop:
    """An event loop on the calling thread: 1 µs a call over the bare call."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()

    def run(self, function: Callable[[], Awaitable[Result]]) -> Result:
        async def call() -> Result:
            return await function()

        coroutine: Coroutine[Any, Any, Result] = call()
        return self._loop.run_until_complete(coroutine)

    def close(self) -> None:
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        if tasks:
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    def abandon(self) -> None:
        self._loop.set_exception_handler(lambda _loop, _context: None)


class PortalLoop:
    """An event loop in a thread of its own, so that the main thread may call a backend's sync methods meanwhile."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._portal = self._stack.enter_context(start_blocking_portal("asyncio"))

    def run(self, function: Callable[[], Awaitable[Result]]) -> Result:
        return self._portal.call(function)

    def close(self) -> None:
        self._stack.close()

    def abandon(self) -> None:
        """Its thread goes on; nothing needs to be done."""
