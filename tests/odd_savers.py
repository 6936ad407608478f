"""Savers and objects that are wrong in a way that pytest itself, or the one who opens them, meets."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from langgraph_reference import ReferenceSaver, ReferenceStore

SECRET = "hunter2-geheim"
DSN = f"postgresql://user:{SECRET}@host/db"


class HangsInPut(ReferenceSaver):
    def put(self, *args: Any, **kwargs: Any) -> Any:
        time.sleep(1000)

    async def aput(self, *args: Any, **kwargs: Any) -> Any:
        await asyncio.sleep(1000)


class HangsOnlyInAlist(ReferenceSaver):
    async def alist(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        await asyncio.sleep(1000)
        yield


class ExitsInList(ReferenceSaver):
    def list(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("before"):
            os._exit(0)
        return super().list(*args, **kwargs)


class ExitsInPut(ReferenceSaver):
    def put(self, *args: Any, **kwargs: Any) -> Any:
        os._exit(0)


class CloseRaises(ReferenceSaver):
    def __exit__(self, *args: Any) -> None:
        raise RuntimeError(f"cannot close {DSN}")

    async def __aexit__(self, *args: Any) -> None:
        raise RuntimeError(f"cannot close {DSN}")


class SetupRaises(ReferenceSaver):
    def setup(self) -> None:
        raise RuntimeError("no such table: checkpoints")


class SetupHangs(ReferenceSaver):
    def setup(self) -> None:
        time.sleep(1000)


class OnlyAsync(ReferenceSaver):
    """Has the async half alone: as in the base class, the sync methods are not implemented."""

    def _none(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    put = put_writes = get_tuple = list = delete_thread = copy_thread = prune = delete_for_runs = _none

    async def aput(self, *args: Any, **kwargs: Any) -> Any:
        return ReferenceSaver.put(self, *args, **kwargs)

    async def aput_writes(self, *args: Any, **kwargs: Any) -> None:
        ReferenceSaver.put_writes(self, *args, **kwargs)

    async def aget_tuple(self, *args: Any, **kwargs: Any) -> Any:
        return ReferenceSaver.get_tuple(self, *args, **kwargs)

    async def alist(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        for item in ReferenceSaver.list(self, *args, **kwargs):
            yield item

    async def adelete_thread(self, thread_id: str) -> None:
        ReferenceSaver.delete_thread(self, thread_id)


class WithoutAlist(ReferenceSaver):
    async def alist(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        raise NotImplementedError
        yield


class PutReturnsNone(ReferenceSaver):
    def put(self, *args: Any, **kwargs: Any) -> Any:
        super().put(*args, **kwargs)


class PrintsItsPassword(ReferenceSaver):
    def __init__(self, dsn: str = DSN) -> None:
        super().__init__()
        self.dsn = dsn

    def __repr__(self) -> str:
        return f"PrintsItsPassword(dsn={self.dsn!r}, password={SECRET})"

    def list(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{self!r} has no connection to {self.dsn}")


class ForgetsEverything(ReferenceSaver):
    def get_tuple(self, *args: Any, **kwargs: Any) -> Any:
        return None


class IgnoresBefore(ReferenceSaver):
    def list(self, config: Any, *, filter: Any = None, before: Any = None, limit: Any = None) -> Any:
        return super().list(config, filter=filter, limit=limit)


class NeedsArguments(ReferenceSaver):
    def __init__(self, connection: object, table: str) -> None:
        super().__init__()


class Nothing(ReferenceSaver):
    """Implements neither half."""

    def _none(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    async def _anone(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    put = get_tuple = _none
    aput = aget_tuple = _anone


class NeedsALoop(ReferenceSaver):
    def __init__(self) -> None:
        asyncio.get_running_loop()
        super().__init__()


class Provider:
    def __init__(self) -> None:
        self.saver = ReferenceSaver()

    def open(self) -> ReferenceSaver:
        return self.saver

    def reopen(self) -> ReferenceSaver:
        return self.saver


instance = ReferenceSaver()
number = 3


def function() -> ReferenceSaver:
    return ReferenceSaver()


async def coroutine_function() -> ReferenceSaver:
    return ReferenceSaver()


@contextmanager
def context() -> Iterator[ReferenceSaver]:
    yield ReferenceSaver()


@asynccontextmanager
async def async_context() -> AsyncIterator[ReferenceSaver]:
    yield ReferenceSaver()


@asynccontextmanager
async def ignores_before_in_a_loop() -> AsyncIterator[ReferenceSaver]:
    yield IgnoresBefore()


def generator() -> Iterator[ReferenceSaver]:
    yield ReferenceSaver()


async def async_generator() -> AsyncIterator[ReferenceSaver]:
    yield ReferenceSaver()


def is_set_up_already() -> ReferenceSaver:
    return SetupRaises()


def gives_a_dict() -> dict[str, str]:
    return {}


def gives_the_class() -> type:
    return ReferenceSaver


def gives_a_store() -> ReferenceStore:
    return ReferenceStore()


def raises() -> ReferenceSaver:
    raise ConnectionError(f"could not connect to {DSN}")


def exits() -> ReferenceSaver:
    raise SystemExit(0)


class HasNoFirstVersion(ReferenceSaver):
    def get_next_version(self, current: Any, channel: Any) -> Any:
        return current + 1
