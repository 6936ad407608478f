"""A drive calls a backend's sync or async methods, so that each check is written once, as plain synchronous code."""

from __future__ import annotations

import asyncio
import copy
import inspect
import pickle
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.store.base import BaseStore, Item, Op, SearchItem

from .errors import Blocked, TimedOut
from .loops import Loop
from .target import Opened
from .watchdog import limit

HANGS_UNTIL_BLOCKED = 2
"""How often a method may hang before further checks of it are blocked instead of waiting again."""


@dataclass
class Call:
    """One call that a check made: what a stand-alone script replays.

    Attributes:
        method: name on the backend, such as ``aput``.
        opened: the open backend that was called.
        outcome: ``returned``, ``raised``, ``hung`` or, while it runs, ``running``.
        result: what was returned or raised.
        together: number of the group of calls that ran at the same time; 0 for a call on its own.
        size: bytes of the arguments, as far as known.
        most: after how many items an iteration is abandoned; None if it goes on to the end.
        waits: seconds that pass before it.
    """

    method: str
    _given: Callable[[], tuple[tuple[Any, ...], Mapping[str, Any]]] = field(repr=False)
    opened: Opened
    outcome: str = "running"
    result: Any = None
    together: int = 0
    size: int = 0
    most: int | None = None
    waits: float = 0.0

    @property
    def arguments(self) -> tuple[Any, ...]:
        """As they were when the call began."""
        return self._given()[0]

    @property
    def keywords(self) -> Mapping[str, Any]:
        """As they were when the call began."""
        return self._given()[1]


@dataclass(frozen=True)
class Later:
    """A call that is not made yet, for ``Drive.together``."""

    method: str
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]


class _Laters:
    def __getattr__(self, method: str) -> Callable[..., Later]:
        return lambda *arguments, **keywords: Later(method, arguments, keywords)


def _as_it_was(value: Any) -> tuple[Callable[[], Any], int]:
    """What gives ``value`` as it is now, later, since a check may change it meanwhile; and its size, 0 if not known."""
    try:
        pickled = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except Exception:  # functions, local classes
        copied = _copied(value)
        return (lambda: copied), 0
    return (lambda: pickle.loads(pickled)), len(pickled)


def _copied(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except Exception:  # locks, modules, generators: shown as they are
        return value


@dataclass
class Hangs:
    """Which methods of a backend did not return, over all of its instances."""

    counts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def refuse(self, method: str) -> None:
        """Raise Blocked when ``method`` hung too often to be tried again."""
        if self.counts[method] >= HANGS_UNTIL_BLOCKED:
            raise Blocked(f"{method} did not return within {self.seconds:g} s in {HANGS_UNTIL_BLOCKED} earlier checks")

    @contextmanager
    def uncounted(self) -> Iterator[None]:
        """What hangs in here is tried again all the same."""
        counts = self.counts.copy()
        try:
            yield
        except TimedOut:
            self.counts = counts
            raise

    def note(self, method: str, seconds: float) -> None:
        self.counts[method] += 1
        self.seconds = seconds


class Drive:
    """Calls one open backend through its sync or its async methods.

    Args:
        opened: the open backend.
        mode: ``sync`` or ``async``.
        hangs: shared by all drives of one target.
        missing: methods, under the backend's names, that it does not implement: checks that need one are blocked.
    """

    def __init__(self, opened: Opened, mode: str, hangs: Hangs, missing: Collection[str] = ()) -> None:
        self.opened, self.mode, self.hangs, self.missing = opened, mode, hangs, missing
        self.broken = False
        """Whether a call hung, so that this instance must be thrown away."""
        self.calls: list[Call] = []
        self.later = _Laters()
        """Calls for ``together``: ``saver.later.put(...)``."""
        self._groups = 0

    def __repr__(self) -> str:
        return f"<{self.mode} drive>"

    @property
    def raw(self) -> Any:
        """The backend itself."""
        return self.opened.backend

    def name_of(self, method: str) -> str:
        """The backend's name for ``method`` in this drive, such as ``aput``."""
        return f"a{method}" if self.mode == "async" else method

    @contextmanager
    def _noted(
        self, method: str, arguments: tuple[Any, ...], keywords: Mapping[str, Any], group: int = 0
    ) -> Iterator[Call]:
        self.hangs.refuse(method)
        if method in self.missing:
            raise Blocked(f"{method} is not implemented")
        given, size = _as_it_was((arguments, keywords))
        call = Call(method, given, self.opened, together=group, size=size)
        self.calls.append(call)
        try:
            yield call
        except TimedOut as error:
            call.outcome = "hung"
            self.broken = True
            self.hangs.note(method, error.seconds)
            raise
        except BaseException as error:
            call.outcome, call.result = "raised", error
            raise
        call.outcome = "returned"

    def run(self, function: Callable[[], Any]) -> Any:
        """Await what ``function`` gives, in the loop of the backend.

        For what the named calls do not cover: tasks, cancellation, waiting while the backend's own tasks go on.
        """
        return self._loop().run(function)

    def _loop(self) -> Loop:
        if self.opened.loop is None:
            raise Blocked("this backend was opened outside of any loop")
        return self.opened.loop

    def call(self, method: str, *arguments: Any, **keywords: Any) -> Any:
        """Call ``method`` (its sync name) of the backend and return its result."""
        name = self.name_of(method)
        with self._noted(name, arguments, keywords) as call:
            if self.mode == "async":
                call.result = self._loop().run(lambda: getattr(self.raw, name)(*arguments, **keywords))
            else:
                call.result = getattr(self.raw, name)(*arguments, **keywords)
            return call.result

    def collect(self, method: str, *arguments: Any, most: int | None = None, **keywords: Any) -> list[Any]:
        """The items of an iterator method; with ``most`` the iteration is abandoned after that many."""
        name = self.name_of(method)
        with self._noted(name, arguments, keywords) as call:
            call.most = most
            if self.mode == "async":
                call.result = self._loop().run(lambda: self._acollect(name, arguments, keywords, most))
            else:
                items: list[Any] = []
                for item in getattr(self.raw, name)(*arguments, **keywords):
                    items.append(item)
                    if most is not None and len(items) >= most:
                        break
                call.result = items
            return list(call.result)

    async def _acollect(
        self, name: str, arguments: tuple[Any, ...], keywords: Mapping[str, Any], most: int | None = None
    ) -> list[Any]:
        items: list[Any] = []
        async for item in getattr(self.raw, name)(*arguments, **keywords):
            items.append(item)
            if most is not None and len(items) >= most:
                break
        return items

    def together(self, calls: Sequence[Later]) -> list[Any]:
        """Make ``calls`` at the same time, in threads or in tasks; gives each one's result or exception, in order."""
        self._groups += 1
        group = self._groups
        return self._gather(calls, group) if self.mode == "async" else self._thread(calls, group)

    def _gather(self, calls: Sequence[Later], group: int) -> list[Any]:
        async def one(later: Later) -> Any:
            name = self.name_of(later.method)
            with self._noted(name, later.arguments, later.keywords, group) as call:
                if later.method == "list":
                    call.result = await self._acollect(name, later.arguments, later.keywords)
                else:
                    call.result = await getattr(self.raw, name)(*later.arguments, **later.keywords)
                return call.result

        async def every() -> list[Any]:
            return await asyncio.gather(*(one(later) for later in calls), return_exceptions=True)

        return self._limited(lambda: self._loop().run(every), calls)

    def _thread(self, calls: Sequence[Later], group: int) -> list[Any]:
        results: list[Any] = [None] * len(calls)
        start = threading.Barrier(len(calls))

        def one(position: int, later: Later) -> None:
            name = self.name_of(later.method)
            start.wait()
            try:
                with self._noted(name, later.arguments, later.keywords, group) as call:
                    result = getattr(self.raw, name)(*later.arguments, **later.keywords)
                    call.result = list(result) if later.method == "list" else result
                results[position] = call.result
            except BaseException as error:
                results[position] = error

        # daemons: a backend that deadlocks must not keep the process from ending
        threads = [threading.Thread(target=one, args=each, daemon=True) for each in enumerate(calls)]

        def every() -> list[Any]:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            return results

        return self._limited(every, calls)

    def _limited(self, every: Callable[[], list[Any]], calls: Sequence[Later]) -> list[Any]:
        try:
            return every()
        except TimedOut as error:
            self.broken = True
            for method in {self.name_of(later.method) for later in calls}:
                self.hangs.note(method, error.seconds)
            raise

    def wait(self, seconds: float) -> None:
        """Let ``seconds`` pass; the backend's own tasks go on."""
        if self.opened.loop is None:
            threading.Event().wait(seconds)
        else:
            self.opened.loop.run(lambda: asyncio.sleep(seconds))

    def hangs_in(self, function: Callable[[], Any], seconds: float) -> bool:
        """Whether ``function`` does not end within ``seconds``; the backend's instance is thrown away if so.

        For what a QUIRK looks at: it does not count as a hang of a method.
        """
        try:
            with self.hangs.uncounted(), limit(seconds):
                function()
        except TimedOut:
            self.broken = True
            return True
        return False


class SaverDrive(Drive):
    """A saver's methods under their sync names, through the sync or the async ones."""

    @property
    def raw(self) -> BaseCheckpointSaver[Any]:
        """The saver itself."""
        backend: BaseCheckpointSaver[Any] = self.opened.backend
        return backend

    def put(self, config: RunnableConfig, checkpoint: Any, metadata: Any, new_versions: Any) -> RunnableConfig:
        result: RunnableConfig = self.call("put", config, checkpoint, metadata, new_versions)
        return result

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str | None = None
    ) -> None:
        """Store pending writes; without ``task_path`` the argument is left out."""
        result: None = self.call("put_writes", config, writes, task_id, *self.path_arguments(task_path))
        return result

    def path_arguments(self, task_path: str | None) -> tuple[str, ...]:
        """The argument ``task_path`` of ``put_writes``; none for a saver that cannot take it, as the engine does."""
        method = getattr(self.raw, self.name_of("put_writes"))
        try:
            inspect.signature(method).bind({}, [], "task", "path")
        except (TypeError, ValueError):
            return ()
        return () if task_path is None else (task_path,)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        result: CheckpointTuple | None = self.call("get_tuple", config)
        return result

    def get(self, config: RunnableConfig) -> Any:
        return self.call("get", config)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: Mapping[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> list[CheckpointTuple]:
        """All that ``list`` gives; an argument that is None is left out, as callers do.

        ``filter`` is copied: checks share theirs, and a saver that takes one apart must not spoil the others.
        """
        copied = None if filter is None else dict(filter)
        return self.collect("list", config, **_given(filter=copied, before=before, limit=limit))

    def first(self, config: RunnableConfig | None, **keywords: Any) -> Sequence[CheckpointTuple]:
        """The first item of ``list``, whose iteration is then abandoned, as the engine does in a replay."""
        return self.collect("list", config, most=1, **_given(**keywords))

    def delete_thread(self, thread_id: str) -> None:
        result: None = self.call("delete_thread", thread_id)
        return result

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        result: None = self.call("delete_for_runs", run_ids)
        return result

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        result: None = self.call("copy_thread", source_thread_id, target_thread_id)
        return result

    def prune(self, thread_ids: Sequence[str], **keywords: Any) -> None:
        result: None = self.call("prune", thread_ids, **keywords)
        return result

    def get_delta_channel_history(self, config: RunnableConfig, channels: Collection[str]) -> Mapping[str, Any]:
        result: Mapping[str, Any] = self.call("get_delta_channel_history", config=config, channels=channels)
        return result

    def get_next_version(self, current: Any, channel: Any = None) -> Any:
        """The saver's next version: a plain sync method in both drives, called inside the loop in the async one."""
        if self.mode == "async":

            async def call() -> Any:
                return self.raw.get_next_version(current, channel)

            return self._loop().run(call)
        return self.raw.get_next_version(current, channel)


class StoreDrive(Drive):
    """A store's methods under their sync names, through the sync or the async ones."""

    @property
    def raw(self) -> BaseStore:
        """The store itself."""
        backend: BaseStore = self.opened.backend
        return backend

    def put(self, namespace: tuple[str, ...], key: str, value: Any, index: Any = None, **keywords: Any) -> None:
        """Store an item; ``index`` is left out when it is None, and ``ttl`` (minutes) when it is not given."""
        result: None = self.call("put", namespace, key, value, **_given(index=index), **keywords)
        return result

    def get(self, namespace: tuple[str, ...], key: str, **keywords: Any) -> Item | None:
        result: Item | None = self.call("get", namespace, key, **keywords)
        return result

    def search(self, namespace_prefix: tuple[str, ...], **keywords: Any) -> list[SearchItem]:
        """What ``search`` finds. ``filter`` is copied: checks share theirs, and a store may take one apart."""
        if "filter" in keywords:
            keywords["filter"] = copy.deepcopy(keywords["filter"])
        result: list[SearchItem] = self.call("search", namespace_prefix, **keywords)
        return result

    def delete(self, namespace: tuple[str, ...], key: str) -> None:
        result: None = self.call("delete", namespace, key)
        return result

    def list_namespaces(self, **keywords: Any) -> list[tuple[str, ...]]:
        result: list[tuple[str, ...]] = self.call("list_namespaces", **keywords)
        return result

    def batch(self, operations: Iterable[Op]) -> list[Any]:
        result: list[Any] = self.call("batch", operations)
        return result

    def sweep_ttl(self) -> int:
        """Delete what has expired; gives how many. The method has no async twin: async stores make it a coroutine."""
        swept: int = self.call_either("sweep_ttl")
        return swept

    def call_either(self, method: str, *arguments: Any, **keywords: Any) -> Any:
        """Call a method that has one name in sync and async stores, and await what it gives where that is needed."""
        with self._noted(method, arguments, keywords) as call:

            async def within() -> Any:
                result = getattr(self.raw, method)(*arguments, **keywords)
                return await result if inspect.isawaitable(result) else result

            if self.opened.loop is None:
                call.result = getattr(self.raw, method)(*arguments, **keywords)
            else:
                call.result = self.opened.loop.run(within)
            return call.result


def _given(**keywords: Any) -> dict[str, Any]:
    return {name: value for name, value in keywords.items() if value is not None}


class GraphDrive:
    """A compiled graph's methods under their sync names, through the sync or the async ones.

    Args:
        drive: the drive whose mode and loop are used.
        graph: a compiled graph that has the drive's backend.
    """

    def __init__(self, drive: Drive, graph: Any) -> None:
        self._drive, self.graph = drive, graph
        # what the graph calls is not noted, and a script of the check's own calls alone would show nothing
        drive.calls = []

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except TimedOut:
            self._drive.broken = True
            raise

    def _call(self, method: str, *arguments: Any, **keywords: Any) -> Any:
        name = self._drive.name_of(method)
        with self._watched():
            if self._drive.mode == "async":
                return self._drive.run(lambda: getattr(self.graph, name)(*arguments, **keywords))
            return getattr(self.graph, name)(*arguments, **keywords)

    def _collect(self, method: str, *arguments: Any, **keywords: Any) -> list[Any]:
        with self._watched():
            if self._drive.mode == "async":

                async def collect() -> list[Any]:
                    items = getattr(self.graph, self._drive.name_of(method))(*arguments, **keywords)
                    return [item async for item in items]

                collected: list[Any] = self._drive.run(collect)
                return collected
            return list(getattr(self.graph, method)(*arguments, **keywords))

    def invoke(self, input: Any, config: RunnableConfig, **keywords: Any) -> Any:
        return self._call("invoke", input, config, **keywords)

    def get_state(self, config: RunnableConfig, **keywords: Any) -> Any:
        return self._call("get_state", config, **keywords)

    def get_state_history(self, config: RunnableConfig, **keywords: Any) -> list[Any]:
        # a backend may change what it is given, and checks share it
        return self._collect("get_state_history", config, **copy.deepcopy(keywords))

    def update_state(self, config: RunnableConfig, values: Any, **keywords: Any) -> RunnableConfig:
        updated: RunnableConfig = self._call("update_state", config, values, **keywords)
        return updated

    def bulk_update_state(self, config: RunnableConfig, supersteps: Any) -> RunnableConfig:
        updated: RunnableConfig = self._call("bulk_update_state", config, supersteps)
        return updated

    def stream(self, input: Any, config: RunnableConfig, **keywords: Any) -> list[Any]:
        return self._collect("stream", input, config, **keywords)

    def batch(self, inputs: list[Any], configs: list[RunnableConfig]) -> list[Any]:
        """Runs at the same time, in threads or tasks; gives each one's result, in order."""
        results: list[Any] = self._call("batch", inputs, configs)
        return results
