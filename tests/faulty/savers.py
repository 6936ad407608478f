"""Faulty savers: each is a ReferenceSaver with one fault that a saver over a real backend has had or could have.

The name of a faulty saver is the name of its class, so `tests.faulty.savers:TheName` is a target for the suite. The
docstring's first paragraph is the fault, the second says in which kind of backend it was seen or is at home.

Classes of the group `durability` are providers (`open()`, `reopen()`): their faults show only when the same storage is
opened again. Everything else is a saver class that is called without arguments.

Reads are hooked where a row becomes a tuple, so a fault shows in `get_tuple` and `list` alike, sync and async, unless
it is meant for one path only.
"""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import decimal
import fnmatch
import json
import math
import posixpath
import re
import sqlite3
import threading
import time
import unicodedata
import uuid
import zlib
from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import date, datetime, timezone
from enum import Enum
from itertools import count, islice
from types import TracebackType
from typing import Any, ClassVar, NamedTuple, TypeVar, cast

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    empty_checkpoint,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde import types as serde_types
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT, RESUME
from langgraph.types import Interrupt, Send
from langgraph_reference import ReferenceSaver
from langgraph_reference.saver import EMPTY, StoredCheckpoint, StoredWrite, StoredWrites, Typed, Version, _config, _Row

HANG = 600.0
"""Seconds for which a call that never returns keeps a thread busy: longer than any watchdog, shorter than forever."""

OFFICIAL = "judged FULL by langgraph-checkpoint-conformance 0.0.2"
"""The group of the savers that the official suite calls fully conformant."""

Writes = Sequence[tuple[str, Any]]
History = Mapping[str, Any]
Saver = TypeVar("Saver", bound=type)


@dataclass(frozen=True)
class FaultySaver:
    """A saver that has one fault.

    Attributes:
        name: of the class, which is also its name in this module.
        factory: gives the saver; in the group `durability` a provider that has `open()` and `reopen()`.
        group: the operation or property that is broken.
        source: where the fault was reported, or `own reading`.
        fault: what is wrong, in one sentence.
        caught_by: ids of the rules that must catch it.
    """

    name: str
    factory: Callable[[], Any]
    group: str
    source: str
    fault: str
    caught_by: tuple[str, ...] = ()


FAULTY: dict[str, FaultySaver] = {}


def faulty(group: str, source: str = "own reading") -> Callable[[Saver], Saver]:
    """Register a class as a faulty saver; its docstring's first paragraph is the fault."""

    def register(factory: Saver) -> Saver:
        name = factory.__name__
        assert name not in FAULTY, f"two faults are called {name}"
        assert factory.__doc__, f"{name} does not say what its fault is"
        fault = " ".join(factory.__doc__.split("\n\n")[0].split())
        FAULTY[name] = FaultySaver(name, factory, group, source, fault)
        return factory

    return register


# --- how faults are made ---


class Put(NamedTuple):
    """The arguments of `put`."""

    config: RunnableConfig
    checkpoint: Checkpoint
    metadata: CheckpointMetadata
    new_versions: ChannelVersions


class Batch(NamedTuple):
    """The arguments of `put_writes`."""

    config: RunnableConfig
    writes: Writes
    task_id: str
    task_path: str = ""


class Query(NamedTuple):
    """The arguments of `list`."""

    config: RunnableConfig | None
    filter: dict[str, Any] | None = None
    before: RunnableConfig | None = None
    limit: int | None = None


class Hooked(ReferenceSaver):
    """A ReferenceSaver with a hook at each place where a fault can sit; as it stands, it has none."""

    def __init__(self, *, serde: SerializerProtocol | None = None) -> None:
        super().__init__(serde=serde)
        # What a fault remembers beside the tables. Clones share it, as they share those.
        self.memory: dict[Any, Any] = {}

    def around(self, method: str) -> AbstractContextManager[None]:
        """Surrounds each call of a method; of `list`, the moment before its first item is searched."""
        return nullcontext()

    def putting(self, call: Put) -> Put:
        return call

    def storing(self, call: Put) -> RunnableConfig:
        return super().put(*call)

    def writing(self, call: Batch) -> Batch:
        return call

    def asking(self, query: Query) -> Query:
        return query

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        return found

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        """Each tuple that is read, whichever way."""
        return found

    def search(self, query: Query) -> Iterator[CheckpointTuple]:
        """What a list without a fault finds."""
        return super().list(query.config, filter=query.filter, before=query.before, limit=query.limit)

    def stored(self, config: RunnableConfig, checkpoint_id: str) -> StoredCheckpoint | None:
        thread_id, ns = place_of(config)
        return self.storage.get(thread_id, {}).get(ns, {}).get(checkpoint_id)

    def versions_at(self, thread_id: str, ns: str, checkpoint_id: str | None) -> ChannelVersions:
        stored = self.storage.get(thread_id, {}).get(ns, {}).get(checkpoint_id or "")
        versions: ChannelVersions = self.serde.loads_typed(stored[0])["channel_versions"] if stored else {}
        return versions

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        with self.around("put"):
            return self.storing(self.putting(Put(config, checkpoint, metadata, new_versions)))

    def put_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        with self.around("put_writes"):
            super().put_writes(*self.writing(Batch(config, writes, task_id, task_path)))

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        with self.around("get_tuple"):
            return super().get_tuple(config)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        with self.around("list"):
            query = self.asking(Query(config, filter, before, limit))
        yield from self.listing(query, self.search(query))

    def get_delta_channel_history(self, *, config: RunnableConfig, channels: Sequence[str]) -> History:
        with self.around("get_delta_channel_history"):
            return super().get_delta_channel_history(config=config, channels=channels)

    def delete_thread(self, thread_id: str) -> None:
        with self.around("delete_thread"):
            super().delete_thread(thread_id)

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        with self.around("delete_for_runs"):
            super().delete_for_runs(run_ids)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        with self.around("copy_thread"):
            super().copy_thread(source_thread_id, target_thread_id)

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        with self.around("prune"):
            super().prune(thread_ids, strategy=strategy)

    def _tuple(self, row: _Row) -> CheckpointTuple:
        return self.seen(super()._tuple(row))


def place_of(config: RunnableConfig) -> tuple[str, str]:
    """Thread id and namespace of a config."""
    configurable = config["configurable"]
    return configurable["thread_id"], configurable.get("checkpoint_ns") or ""


def id_of(config: RunnableConfig | None) -> str | None:
    """Checkpoint id of a config, None when it has none."""
    return (config.get("configurable", {}).get("checkpoint_id") or None) if config else None


def row_of(config: RunnableConfig, checkpoint_id: str | None = None) -> tuple[str, str, str]:
    """Thread id, namespace and checkpoint id: of a config, or of another checkpoint beside it."""
    return (*place_of(config), checkpoint_id or id_of(config) or "")


def changed(config: RunnableConfig, **changes: Any) -> RunnableConfig:
    """A config with other configurable keys."""
    return cast(RunnableConfig, {**config, "configurable": {**config["configurable"], **changes}})


def without(config: RunnableConfig, *keys: str) -> RunnableConfig:
    """A config without some configurable keys."""
    kept = {key: value for key, value in config["configurable"].items() if key not in keys}
    return cast(RunnableConfig, {**config, "configurable": kept})


def edited(checkpoint: Any, **fields: Any) -> Any:
    """A checkpoint with other fields."""
    return {**checkpoint, **fields}


def with_values(found: CheckpointTuple, values: Mapping[str, Any]) -> CheckpointTuple:
    """A tuple with other channel values."""
    return found._replace(checkpoint=edited(found.checkpoint, channel_values=dict(values)))


def with_metadata(found: CheckpointTuple, metadata: Mapping[str, Any]) -> CheckpointTuple:
    """A tuple with other metadata."""
    return found._replace(metadata=cast(CheckpointMetadata, dict(metadata)))


def converted(value: Any, convert: Callable[[Any], Any]) -> Any:
    """A value with each of its parts replaced by what `convert` makes of it."""
    value = convert(value)
    if type(value) is dict:
        return {key: converted(member, convert) for key, member in value.items()}
    if type(value) in (list, tuple):
        return type(value)(converted(member, convert) for member in value)
    return value


def as_class(saver: ReferenceSaver, other: type[ReferenceSaver]) -> ReferenceSaver:
    """A clone that shares all with a saver and has the methods of another class."""
    clone: Any = copy.copy(saver)
    clone.__class__ = other
    return cast(ReferenceSaver, clone)


def hang() -> None:
    """What a deadlock looks like from outside."""
    threading.Event().wait(HANG)
    raise TimeoutError("hung")


def like(pattern: str, text: str) -> bool:
    """SQL's LIKE."""
    regex = "".join({"%": ".*", "_": "."}.get(character, re.escape(character)) for character in pattern)
    return re.fullmatch(regex, text, re.DOTALL) is not None


class Converting(Hooked):
    """Values change their type on the way through the backend, in channels and writes."""

    channels = True
    writes_too = True

    def convert(self, value: Any) -> Any:
        raise NotImplementedError

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        if self.channels:
            values = found.checkpoint["channel_values"]
            found = with_values(found, {ch: converted(value, self.convert) for ch, value in values.items()})
        if self.writes_too:
            writes = [(task, ch, converted(value, self.convert)) for task, ch, value in found.pending_writes or ()]
            found = found._replace(pending_writes=writes)
        return found


class Alike(Hooked):
    """Ids that have the same key are one, under the spelling that came first; a single id is not changed by it."""

    def thread_key(self, thread_id: str) -> Any:
        return thread_id

    def ns_key(self, ns: str) -> Any:
        return ns

    def pair_key(self, thread_id: str, ns: str) -> Any:
        return thread_id, ns

    def _first(self, key: Any, spelling: Any, new: bool) -> Any:
        return self.memory.setdefault(key, spelling) if new else self.memory.get(key, spelling)

    def _thread(self, thread_id: str, new: bool = False) -> str:
        return cast(str, self._first(("thread", self.thread_key(thread_id)), thread_id, new))

    def _found(self, config: RunnableConfig, new: bool = False) -> RunnableConfig:
        thread_id = self._thread(config["configurable"]["thread_id"], new)
        ns = config["configurable"].get("checkpoint_ns")
        if ns is None:
            return changed(config, thread_id=thread_id)
        ns = self._first(("ns", thread_id, self.ns_key(ns)), ns, new)
        thread_id, ns = self._first(("pair", self.pair_key(thread_id, ns)), (thread_id, ns), new)
        return changed(config, thread_id=thread_id, checkpoint_ns=ns)

    def storing(self, call: Put) -> RunnableConfig:
        returned = super().storing(call._replace(config=self._found(call.config, True)))
        thread_id, ns = place_of(call.config)
        return changed(returned, thread_id=thread_id, checkpoint_ns=ns)

    def writing(self, call: Batch) -> Batch:
        return call._replace(config=self._found(call.config, True))

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return super().get_tuple(self._found(config))

    def asking(self, query: Query) -> Query:
        return query._replace(config=self._found(query.config)) if query.config else query

    def get_delta_channel_history(self, *, config: RunnableConfig, channels: Sequence[str]) -> History:
        return super().get_delta_channel_history(config=self._found(config), channels=channels)

    def delete_thread(self, thread_id: str) -> None:
        found = self._thread(thread_id)
        super().delete_thread(found)
        for key, first in list(self.memory.items()):
            owner = key[1] if key[0] == "ns" else first if key[0] == "thread" else first[0]
            if owner == found:
                del self.memory[key]

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(self._thread(source_thread_id), self._thread(target_thread_id, True))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        ids = thread_ids if isinstance(thread_ids, str) else [self._thread(thread_id) for thread_id in thread_ids]
        super().prune(ids, strategy=strategy)


class JoinedValueKey(Hooked):
    """Values whose joined keys are equal are one: the later one."""

    def joined(self, thread_id: str, ns: str, channel: str, version: Version) -> Any:
        raise NotImplementedError

    def storing(self, call: Put) -> RunnableConfig:
        returned = super().storing(call)
        for channel, version in call.new_versions.items():
            key = (*place_of(call.config), channel, version)
            self.memory[self.joined(*key)] = key
        return returned

    def _blobs_at(self, thread_id: str, ns: str, places: Mapping[str, Version]) -> dict[str, Typed]:
        found = super()._blobs_at(thread_id, ns, places)
        for channel, version in places.items():
            key = self.memory.get(self.joined(thread_id, ns, channel, version))
            if key in self.blobs:
                found[channel] = self.blobs[key]
        return {channel: blob for channel, blob in found.items() if blob != EMPTY}


class KeyedWrites(Hooked):
    """Writes of one checkpoint whose keys are equal are one."""

    replaces = False
    """Whether the later one stays, instead of the first."""

    def key(self, task_id: str, idx: int, row: StoredWrite) -> Any:
        raise NotImplementedError

    def put_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        with self._lock:
            key = row_of(config)
            before = dict(self.writes.get(key, {}))
            super().put_writes(config, writes, task_id, task_path)
            kept: dict[Any, tuple[tuple[str, int], StoredWrite]] = {}
            rows = self.writes.get(key, {})
            for place, row in (before | rows).items():
                lossy = self.key(*place, row)
                if self.replaces or lossy not in kept:
                    kept[lossy] = (place, row)
            if rows:
                # The caller's dictionary stays the table's: clones and copies go on sharing or not sharing it.
                stays = dict(kept.values())
                rows.clear()
                rows.update(stays)


class Cached(Hooked):
    """What `get_tuple` found is remembered until something is written; rows are cached serialised, so not shared."""

    stale_after: ClassVar[Collection[str]] = ()
    """The methods after which the cache is wrongly kept."""

    reads: ClassVar[Collection[str]] = ("get_tuple", "list", "get_delta_channel_history")

    def key(self, thread_id: str, ns: str, checkpoint_id: str | None) -> Any:
        return thread_id, ns, checkpoint_id

    def keeps(self, row: _Row | None) -> bool:
        return row is not None

    @contextmanager
    def around(self, method: str) -> Iterator[None]:
        with self._lock:
            yield
            if method not in self.reads and method not in self.stale_after:
                self.memory.clear()

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        thread_id, ns = place_of(config)
        key = self.key(thread_id, ns, id_of(config))
        with self._lock:
            if key in self.memory:
                row = self.memory[key]
            else:
                checkpoint_id = id_of(config) or self._latest(thread_id, ns)
                stored = checkpoint_id in self.storage.get(thread_id, {}).get(ns, {})
                row = self._row(thread_id, ns, cast(str, checkpoint_id)) if stored else None
                if self.keeps(row):
                    self.memory[key] = row
        return self._tuple(row._replace(checkpoint=copy.deepcopy(row.checkpoint))) if row else None


class OtherPath(Hooked):
    """One drive has a fault that the other one lacks: that drive's methods run on a clone of another class."""

    twin: ClassVar[type[ReferenceSaver]]

    def as_twin(self) -> ReferenceSaver:
        return as_class(self, self.twin)


class AsyncOnly(OtherPath):
    """The async methods are those of `twin`."""

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await self.as_twin().aget_tuple(config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        async for found in self.as_twin().alist(config, filter=filter, before=before, limit=limit):
            yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return await self.as_twin().aput(config, checkpoint, metadata, new_versions)

    async def aput_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        await self.as_twin().aput_writes(config, writes, task_id, task_path)

    async def aget_delta_channel_history(self, *, config: RunnableConfig, channels: Sequence[str]) -> History:
        return await self.as_twin().aget_delta_channel_history(config=config, channels=channels)

    async def adelete_thread(self, thread_id: str) -> None:
        await self.as_twin().adelete_thread(thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        await self.as_twin().adelete_for_runs(run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await self.as_twin().acopy_thread(source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        await self.as_twin().aprune(thread_ids, strategy=strategy)


class SyncOnly(AsyncOnly):
    """The fault is in this class's own sync methods; the async ones are without it."""

    twin = Hooked


# --- judged FULL by the official suite ---


@faulty(OFFICIAL, "redis-developer/langgraph-redis#57")
class BytesComeBackAsText(Converting):
    """bytes come back as str.

    Seen in savers over JSON and Redis clients that decode responses.
    """

    def convert(self, value: Any) -> Any:
        return value.decode("latin-1") if isinstance(value, bytes) else value


@faulty(OFFICIAL, "langchain-ai/langgraphjs#2207")
class DeleteThreadLeavesWrites(Hooked):
    """delete_thread leaves the pending writes behind, so a thread made anew with the same ids has them.

    Seen in Redis savers whose delete pattern did not match the keys of writes.
    """

    def delete_thread(self, thread_id: str) -> None:
        writes = {key: rows for key, rows in self.writes.items() if key[0] == thread_id}
        super().delete_thread(thread_id)
        self.writes.update(writes)


@faulty(OFFICIAL, "langchain-ai/langgraph#8701")
class ParentsDroppedFromMetadata(Hooked):
    """Metadata loses its `parents`.

    At home in savers with one column for each metadata key they know.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        return with_metadata(found, {key: value for key, value in found.metadata.items() if key != "parents"})


@faulty(OFFICIAL, "BetterDB-inc/monitor#117")
class LimitBeforeFilter(Hooked):
    """`limit` is applied before `filter`, so a limited list misses matches.

    At home where the backend limits and the saver filters: DynamoDB, Cassandra, Redis.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        limited = {id_of(each.config) for each in self.search(query._replace(filter=None))}
        return (each for each in found if id_of(each.config) in limited)


class _ListsNoValues(Hooked):
    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        return (with_values(each, {}) for each in found)


@faulty(OFFICIAL, "redis-developer/langgraph-redis#87")
class AlistWithoutChannelValues(AsyncOnly):
    """The tuples of `alist` have no channel values.

    At home in savers with two hand-written paths, of which the async one does not join the table of values.
    """

    twin = _ListsNoValues


class _ListsNoParent(Hooked):
    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        return (each._replace(parent_config=None) for each in found)


@faulty(OFFICIAL, "redis-developer/langgraph-redis#186")
class AlistWithoutParentConfig(AsyncOnly):
    """The tuples of `alist` have no parent.

    Seen in savers whose list selected fewer columns than their get.
    """

    twin = _ListsNoParent


@faulty(OFFICIAL, "langchain-ai/langgraph#8748")
class PutAliasesCallersValues(Hooked):
    """`put` keeps the caller's live objects, so changing them afterwards changes the stored checkpoint.

    Seen in in-memory savers.
    """

    def storing(self, call: Put) -> RunnableConfig:
        returned = super().storing(call)
        values = call.checkpoint["channel_values"]
        live = {ch: values[ch] for ch in call.new_versions if ch in values}
        self.memory[row_of(call.config, call.checkpoint["id"])] = live
        return returned

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        live = self.memory.get(row_of(found.config), {})
        now = {ch: self.serde.loads_typed(self.serde.dumps_typed(value)) for ch, value in live.items()}
        return with_values(found, {**found.checkpoint["channel_values"], **now})


@faulty(OFFICIAL, "redis-developer/langgraph-redis#104")
class DeleteThreadByPrefix(Hooked):
    """Deleting thread `t1` deletes `t10` too.

    Seen in Redis and file savers that delete all keys with the thread's prefix.
    """

    def delete_thread(self, thread_id: str) -> None:
        for each in {thread_id, *self.storage, *(key[0] for key in self.writes)}:
            if each.startswith(thread_id):
                super().delete_thread(each)


@faulty(OFFICIAL, "langchain-ai/langgraph#8382")
class PendingWritesReversed(Hooked):
    """Pending writes come in the reverse order.

    At home in savers whose one index is newest first.
    """

    def _writes_of(self, thread_id: str, ns: str, checkpoint_id: str) -> StoredWrites:
        return super()._writes_of(thread_id, ns, checkpoint_id)[::-1]


@faulty(OFFICIAL, "langchain-ai/langgraph#8722")
class SyncGetTupleRaises(SyncOnly):
    """The sync `get_tuple` raises, while `aget_tuple` works.

    Seen in async savers whose sync methods hand over to a loop that does not run.
    """

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        raise RuntimeError("no running event loop")


@faulty(OFFICIAL, "redis-developer/langgraph-redis@b045e2b")
class VersionsCutToTheirIntegerPart(Hooked):
    """Channel versions come back without the part after the dot.

    At home in savers that keep versions in an integer column.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        def cut(version: Version) -> Version:
            return version.split(".")[0] if isinstance(version, str) else int(version)

        versions = {ch: cut(version) for ch, version in found.checkpoint["channel_versions"].items()}
        return found._replace(checkpoint=edited(found.checkpoint, channel_versions=versions))


@faulty(OFFICIAL, "langchain-ai/langgraph#2399")
class RepeatedWritesReplaceTheFirst(Hooked):
    """A task's repeated writes replace its first ones, also those to ordinary channels.

    Seen in savers that upsert every write.
    """

    def put_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        rows = self.writes.get(row_of(config), {})
        before = dict(rows)
        for idx, (ch, _) in enumerate(writes):
            rows.pop((task_id, WRITES_IDX_MAP.get(ch, idx)), None)
        try:
            super().put_writes(config, writes, task_id, task_path)
        except Exception:
            rows.update(before)
            raise


# --- put: channel values ---


@faulty("put", "langchain-ai/langgraphjs#2334")
class CarriedChannelsAreMissing(Hooked):
    """A channel that was not updated in a step is missing from the step's checkpoint.

    Seen in savers that read only the values stored with the checkpoint itself.
    """

    def _row(self, thread_id: str, ns: str, checkpoint_id: str) -> _Row:
        row = super()._row(thread_id, ns, checkpoint_id)
        old, now = self.versions_at(thread_id, ns, row.parent_id), row.checkpoint["channel_versions"]
        return row._replace(blobs={ch: blob for ch, blob in row.blobs.items() if old.get(ch) != now[ch]})


@faulty("put", "langchain-ai/langgraphjs#577")
class NoNewVersionsMeansNoValues(Hooked):
    """A checkpoint without new versions reads with no channel values at all.

    Seen in savers that skip the table of values when there is nothing to store in it.
    """

    def _row(self, thread_id: str, ns: str, checkpoint_id: str) -> _Row:
        row = super()._row(thread_id, ns, checkpoint_id)
        same = self.versions_at(thread_id, ns, row.parent_id) == row.checkpoint["channel_versions"]
        return row._replace(blobs={}) if same else row


@faulty("put", "tjni/langgraph-checkpoint-mysql@1e8775e")
class NoneValuesDisappear(Hooked):
    """A channel whose value is None is missing on read.

    Seen in SQL savers where a NULL value means no value.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        values = found.checkpoint["channel_values"]
        return with_values(found, {ch: value for ch, value in values.items() if value is not None})


@faulty("put", "tjni/langgraph-checkpoint-mysql@1e8775e")
class FalsyValuesBecomeNone(Hooked):
    """Empty or false channel values (False, 0, '', [], {}) come back as None.

    At home wherever a saver writes `value or None`.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        values = found.checkpoint["channel_values"]
        falsy: tuple[Any, ...] = (False, 0, "", [], {}, b"")
        return with_values(found, {ch: None if value in falsy else value for ch, value in values.items()})


@faulty("put", "langchain-ai/langgraph@d33807b5e")
class EmptiedChannelKeepsItsOldValue(Hooked):
    """A channel that got a new version and no value still has its old value.

    Seen in savers that merge the parent's values into the new checkpoint.
    """

    def putting(self, call: Put) -> Put:
        parent = super().get_tuple(call.config) if id_of(call.config) else None
        old = parent.checkpoint["channel_values"] if parent else {}
        carried = {ch: old[ch] for ch in call.new_versions if ch in old}
        values = {**carried, **call.checkpoint["channel_values"]}
        return call._replace(checkpoint=edited(call.checkpoint, channel_values=values))


@faulty("put", "langchain-ai/langgraph@d33807b5e")
class EmptiedChannelReadsNone(Hooked):
    """A channel that got a new version and no value reads as None instead of being absent.

    At home where an outer join gives NULL.
    """

    def _tuple(self, row: _Row) -> CheckpointTuple:
        empty = {
            ch: None
            for ch, version in row.checkpoint["channel_versions"].items()
            if self.blobs.get((row.thread_id, row.checkpoint_ns, ch, version)) == EMPTY
        }
        found = super()._tuple(row)
        return with_values(found, {**empty, **found.checkpoint["channel_values"]})


@faulty("put", "tjni/langgraph-checkpoint-mysql@0f401a1")
class NamespaceAndChannelJoinedByColon(JoinedValueKey):
    """Channel `b:c` of namespace `a` and channel `c` of namespace `a:b` are stored in one place.

    Seen in key-value savers that join key parts with a colon.
    """

    def joined(self, thread_id: str, ns: str, channel: str, version: Version) -> Any:
        return thread_id, f"{ns}:{channel}:{version}"


@faulty("put", "tjni/langgraph-checkpoint-mysql@0f401a1")
class ChannelNamesIgnoreCase(JoinedValueKey):
    """Channels `Total` and `total` share their values where their versions are equal.

    At home in MySQL and SQL Server, whose default collations ignore case.
    """

    def joined(self, thread_id: str, ns: str, channel: str, version: Version) -> Any:
        return thread_id, ns, channel.casefold(), version


@faulty("put", "tjni/langgraph-checkpoint-mysql#39")
class LongChannelNamesAreCut(JoinedValueKey):
    """Channels whose names agree in the first 150 characters share their values where their versions are equal.

    Seen in MySQL savers, whose key columns were VARCHAR(150).
    """

    def joined(self, thread_id: str, ns: str, channel: str, version: Version) -> Any:
        return thread_id, ns, channel[:150], version


@faulty("put")
class ValuesKeyedWithoutVersion(JoinedValueKey):
    """An old checkpoint reads with the newest values, since there is one place for each channel.

    At home in savers that keep the state of a thread in one document.
    """

    def joined(self, thread_id: str, ns: str, channel: str, version: Version) -> Any:
        return thread_id, ns, channel


@faulty("put")
class ValuesKeyedWithoutNamespace(JoinedValueKey):
    """Channels of the same name and version share their value between the namespaces of a thread.

    At home in savers whose table of values was made before there were subgraphs.
    """

    def joined(self, thread_id: str, ns: str, channel: str, version: Version) -> Any:
        return thread_id, channel, version


@faulty("put")
class ValuesKeyedWithoutThread(JoinedValueKey):
    """Channels of the same namespace, name and version share their value between threads.

    At home in key-value savers that take a version for unique.
    """

    def joined(self, thread_id: str, ns: str, channel: str, version: Version) -> Any:
        return ns, channel, version


@faulty("put", "langchain-ai/langgraphjs#1812")
class ForksShareValues(Hooked):
    """Versions are plain counters and values are kept by channel and version, so forks of a checkpoint share values.

    Seen in savers that left `get_next_version` to the base class.
    """

    def get_next_version(self, current: Any, channel: None) -> Any:
        return int(current or 0) + 1

    def _free_place(self, thread_id: str, ns: str, channel: str, version: Version, value: Typed) -> Version:
        return version


@faulty("put", "aaronsu11/langgraph-checkpoint-dynamodb#3")
class LongValuesAreCut(Converting):
    """Text and bytes of more than 64 KiB are cut.

    Seen in MySQL savers with TEXT and BLOB columns and in DynamoDB savers.
    """

    def convert(self, value: Any) -> Any:
        return value[:65536] if isinstance(value, (str, bytes)) else value


@faulty("put", "aaronsu11/langgraph-checkpoint-dynamodb#3")
class TooLargeCheckpointIsStoredAndRefused(Hooked):
    """A checkpoint of more than 400 KB raises, but is stored nevertheless.

    Seen in DynamoDB savers, which find the limit item by item.
    """

    def storing(self, call: Put) -> RunnableConfig:
        returned = super().storing(call)
        sizes = (len(self.serde.dumps_typed(value)[1]) for value in call.checkpoint["channel_values"].values())
        if sum(sizes) > 400_000:
            raise ValueError("Item size has exceeded the maximum allowed size")
        return returned


@faulty("put", "langchain-ai/langgraph#6456")
class SendsInChannelsBecomeDicts(Converting):
    """A Send in a channel value comes back as a dict.

    Seen in savers that keep the checkpoint as JSON.
    """

    writes_too = False

    def convert(self, value: Any) -> Any:
        return {"node": value.node, "arg": value.arg} if isinstance(value, Send) else value


@faulty("put", "redis-developer/langgraph-redis@c4bc341")
class EnvelopeLikeDictsAreDecoded(Converting):
    """A user's dict that looks like the serialiser's own envelope is taken for an encoded object.

    Seen in Redis savers with a JSON form of their own.
    """

    def convert(self, value: Any) -> Any:
        if isinstance(value, dict) and value.get("lc") in (1, 2) and "kwargs" in value:
            return value["kwargs"]
        return value


@faulty("put", "langchain-ai/langchain-aws#837")
class ReaderRepairsMessages(Hooked):
    """The reader adds an answer to each tool call that has none, so what is read is not what was written.

    Seen in AWS savers.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        def repaired(value: Any) -> Any:
            if not (isinstance(value, list) and value and isinstance(value[-1], AIMessage) and value[-1].tool_calls):
                return value
            calls = value[-1].tool_calls
            return [*value, *(ToolMessage("interrupted", tool_call_id=call["id"] or "") for call in calls)]

        values = found.checkpoint["channel_values"]
        return with_values(found, {ch: repaired(value) for ch, value in values.items()})


@faulty("put", "langchain-ai/langgraph#1878")
class NulInValuesRaises(Hooked):
    """A NUL character in a channel value aborts the put.

    Seen in PostgreSQL savers, which keep text inline as JSON.
    """

    def putting(self, call: Put) -> Put:
        def check(value: Any) -> Any:
            if isinstance(value, str) and "\0" in value:
                raise ValueError("unsupported Unicode escape sequence: \\u0000 cannot be converted to text")
            return value

        converted(call.checkpoint["channel_values"], check)
        return call


@faulty("put")
class InternalChannelsAreNotStored(Hooked):
    """Channels whose names begin with two underscores are taken for internal and not stored.

    At home in savers that apply the rule for metadata keys to channels; `__pregel_tasks` and `__start__` are such.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        values = found.checkpoint["channel_values"]
        return with_values(found, {ch: value for ch, value in values.items() if not ch.startswith("__")})


@faulty("put", "langchain-ai/langgraphjs#2352")
class DotsInChannelNamesAreReplaced(Hooked):
    """A channel `a.b` comes back as `a_b`.

    At home in document databases, whose field names may have no dots.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        return with_values(found, {ch.replace(".", "_"): v for ch, v in found.checkpoint["channel_values"].items()})


@faulty("put", "langchain-ai/langgraphjs#2352")
class DollarChannelsDisappear(Hooked):
    """Channels whose names begin with a dollar sign are lost.

    At home in MongoDB savers that drop what would be an operator.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        values = found.checkpoint["channel_values"]
        return with_values(found, {ch: value for ch, value in values.items() if not ch.startswith("$")})


@faulty("put", "langchain-ai/langgraph#8748")
class ReadersShareValues(Hooked):
    """All readers of a value get the same object, so what one changes in it the next one reads.

    At home in savers with a cache of decoded values.
    """

    def _tuple(self, row: _Row) -> CheckpointTuple:
        found = super()._tuple(row)
        values = found.checkpoint["channel_values"]
        shared = {}
        for ch, value in values.items():
            tag, data = row.blobs[ch]
            shared[ch] = self.memory.setdefault((row.thread_id, row.checkpoint_ns, ch, tag, bytes(data)), value)
        return with_values(found, shared)


# --- put: the checkpoint ---


@faulty("put", "langchain-ai/langgraphjs#1996")
class PutAgainDropsWrites(Hooked):
    """Putting a checkpoint again drops its pending writes.

    Seen in savers that keep a has-writes flag in the checkpoint.
    """

    def putting(self, call: Put) -> Put:
        if self.stored(call.config, call.checkpoint["id"]):
            self.writes.pop(row_of(call.config, call.checkpoint["id"]), None)
        return call


@faulty("put")
class PutAgainIsIgnored(Hooked):
    """Putting a checkpoint again does nothing.

    At home in SQL savers with INSERT OR IGNORE.
    """

    def storing(self, call: Put) -> RunnableConfig:
        if self.stored(call.config, call.checkpoint["id"]):
            return _config(*row_of(call.config, call.checkpoint["id"]))
        return super().storing(call)


@faulty("put")
class PutAgainKeepsTheOldMetadata(Hooked):
    """Putting a checkpoint again keeps its old metadata.

    At home in SQL savers whose ON CONFLICT clause forgets a column.
    """

    def storing(self, call: Put) -> RunnableConfig:
        old = self.stored(call.config, call.checkpoint["id"])
        returned = super().storing(call)
        if old:
            thread_id, ns = place_of(call.config)
            typed, _, parent_id = self.storage[thread_id][ns][call.checkpoint["id"]]
            self.storage[thread_id][ns][call.checkpoint["id"]] = (typed, old[1], parent_id)
        return returned


@faulty("put", "BetterDB-inc/monitor#117")
class ParentIsTheLatest(Hooked):
    """The parent is the thread's latest checkpoint, not the one that the config names, so forks lose their branch.

    At home in savers that chain what they append.
    """

    def putting(self, call: Put) -> Put:
        latest = self._latest(*place_of(call.config))
        if latest and latest != call.checkpoint["id"] and id_of(call.config):
            return call._replace(config=changed(call.config, checkpoint_id=latest))
        return call


@faulty("put", "BetterDB-inc/monitor#117")
class FirstCheckpointIsItsOwnParent(Hooked):
    """A checkpoint without a parent names itself as its parent.

    Seen in savers that write the new id into the config before they read the parent from it.
    """

    def putting(self, call: Put) -> Put:
        if id_of(call.config):
            return call
        return call._replace(config=changed(call.config, checkpoint_id=call.checkpoint["id"]))


@faulty("put", "BetterDB-inc/monitor#117")
class MissingParentIsForgotten(Hooked):
    """A checkpoint whose parent is not stored (yet) has no parent.

    At home in SQL savers with a foreign key to the parent, set to NULL where it fails.
    """

    def putting(self, call: Put) -> Put:
        parent_id = id_of(call.config)
        return (
            call
            if parent_id and self.stored(call.config, parent_id)
            else call._replace(config=without(call.config, "checkpoint_id"))
        )


@faulty("put", "redis-developer/langgraph-redis#186")
class ParentConfigNamesTheRoot(Hooked):
    """In a subgraph's namespace, parent_config names the root namespace.

    At home in savers that build parent_config from the thread id and the parent's id.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        parent = found.parent_config
        return found._replace(parent_config=changed(parent, checkpoint_ns="") if parent else None)


@faulty("put", "BetterDB-inc/monitor#117")
class PutReturnsTheCallersConfig(Hooked):
    """`put` returns the config that it was given, with the id of the parent.

    Seen in savers that return what they were called with.
    """

    def storing(self, call: Put) -> RunnableConfig:
        super().storing(call)
        return call.config


@faulty("put", "BetterDB-inc/monitor#117")
class PutReturnsMoreThanTheAddress(Hooked):
    """The config that `put` returns holds whatever else the caller's config held.

    At home in savers that copy the config and change the id.
    """

    def storing(self, call: Put) -> RunnableConfig:
        returned = super().storing(call)
        return changed(call.config, **returned["configurable"])


@faulty("put", "BetterDB-inc/monitor#117")
class PutReturnsTheRootNamespace(Hooked):
    """The config that `put` returns has an empty namespace, whatever the checkpoint's is.

    At home in savers that take over a default.
    """

    def storing(self, call: Put) -> RunnableConfig:
        return changed(super().storing(call), checkpoint_ns="")


@faulty("put", "moorcheh-ai/memanto#427")
class MissingThreadIdIsNone(Hooked):
    """Configs without a thread id are all stored under one key, the text None.

    Seen in savers that format keys from `config.get("thread_id")`.
    """

    def putting(self, call: Put) -> Put:
        return call._replace(config=changed(call.config, thread_id=str(call.config["configurable"].get("thread_id"))))


@faulty("put", "redis-developer/langgraph-redis@57d031d")
class FailedPutLeavesACheckpoint(Hooked):
    """A put that fails at a value which cannot be serialised leaves the checkpoint without that value.

    At home in savers that write the checkpoint first and its values one by one.
    """

    def storing(self, call: Put) -> RunnableConfig:
        try:
            return super().storing(call)
        except (TypeError, ValueError):
            values = call.checkpoint["channel_values"]
            good = {ch: value for ch, value in values.items() if self._serialises(value)}
            super().storing(call._replace(checkpoint=edited(call.checkpoint, channel_values=good)))
            raise

    def _serialises(self, value: Any) -> bool:
        try:
            self.serde.dumps_typed(value)
        except (TypeError, ValueError):
            return False
        return True


@faulty("put", "redis-developer/langgraph-redis#174")
class PutSwallowsErrors(Hooked):
    """`put` returns as if it had stored a checkpoint that cannot be serialised.

    At home in savers that log errors and go on.
    """

    def storing(self, call: Put) -> RunnableConfig:
        try:
            return super().storing(call)
        except (TypeError, ValueError):
            return _config(*row_of(call.config, call.checkpoint["id"]))


@faulty("put", "langchain-ai/langgraph#5675")
class ErrorsPoisonTheSaver(Hooked):
    """After a call that failed, every later call fails.

    Seen in PostgreSQL savers, whose transaction stays aborted.
    """

    @contextmanager
    def around(self, method: str) -> Iterator[None]:
        if self.memory.get("aborted"):
            raise RuntimeError("current transaction is aborted, commands ignored until end of transaction block")
        try:
            yield
        except (TypeError, ValueError):
            self.memory["aborted"] = True
            raise


@faulty("put")
class VersionsSeenWithoutInternalNodes(Hooked):
    """`versions_seen` loses the nodes whose names begin with two underscores, such as `__interrupt__` and `__input__`.

    At home in savers that strip internal keys from the whole checkpoint.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        kept = {node: seen for node, seen in found.checkpoint["versions_seen"].items() if not node.startswith("__")}
        return found._replace(checkpoint=edited(found.checkpoint, versions_seen=kept))


@faulty("put")
class VersionsSeenIsCarriedFromTheParent(Hooked):
    """A node that is gone from `versions_seen` comes back from the parent's.

    At home in savers that update the row of a thread by merging documents.
    """

    def putting(self, call: Put) -> Put:
        parent = super().get_tuple(call.config) if id_of(call.config) else None
        if parent is None:
            return call
        merged = {**parent.checkpoint["versions_seen"], **call.checkpoint["versions_seen"]}
        return call._replace(checkpoint=edited(call.checkpoint, versions_seen=merged))


@faulty("put", "redis-developer/langgraph-redis@b045e2b")
class IntegerVersionsBecomeText(Hooked):
    """Integer channel versions come back as text.

    Seen in Redis savers.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        versions = {
            ch: str(version) if isinstance(version, int) else version
            for ch, version in found.checkpoint["channel_versions"].items()
        }
        return found._replace(checkpoint=edited(found.checkpoint, channel_versions=versions))


@faulty("put", "redis-developer/langgraph-redis@b045e2b")
class IntegerVersionsSeenBecomeText(Hooked):
    """Integer versions come back as text in `versions_seen` only.

    At home in savers that convert versions in one of the two places.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        seen = {
            node: {ch: str(version) if isinstance(version, int) else version for ch, version in versions.items()}
            for node, versions in found.checkpoint["versions_seen"].items()
        }
        return found._replace(checkpoint=edited(found.checkpoint, versions_seen=seen))


@faulty("put", "redis-developer/langgraph-redis@b045e2b")
class FloatVersionsAreRounded(Hooked):
    """Float channel versions come back as integers.

    At home in SQL savers with an integer column.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        versions = {
            ch: int(version) if isinstance(version, float) else version
            for ch, version in found.checkpoint["channel_versions"].items()
        }
        return found._replace(checkpoint=edited(found.checkpoint, channel_versions=versions))


@faulty("put")
class UpdatedChannelsAreDropped(Hooked):
    """The checkpoint's `updated_channels` comes back as None.

    At home in savers that copy the fields of a checkpoint by name and were written before this one.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        return found._replace(checkpoint=edited(found.checkpoint, updated_channels=None))


@faulty("put")
class UnknownCheckpointFieldsAreDropped(Hooked):
    """Only the checkpoint fields that the saver knows come back, so those of later LangGraph versions are lost.

    At home in savers with one column for each field.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        known = {*Checkpoint.__annotations__, "pending_sends", "v"}
        checkpoint: Any = {key: value for key, value in found.checkpoint.items() if key in known}
        return found._replace(checkpoint=checkpoint)


@faulty("put", "langchain-ai/langchain-mongodb#315")
class TimestampIsTheBackends(Hooked):
    """The checkpoint's `ts` is the time of storing instead of the one it was put with.

    At home in SQL savers with a `created_at` column.
    """

    def putting(self, call: Put) -> Put:
        return call._replace(checkpoint=edited(call.checkpoint, ts=datetime.now(timezone.utc).isoformat()))


@faulty("put", "langchain-ai/langchain-mongodb#315")
class TimestampLosesItsZone(Hooked):
    """The checkpoint's `ts` comes back without its time zone.

    At home in databases with a TIMESTAMP column.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        ts = re.sub(r"(Z|[+-]\d\d:\d\d)$", "", found.checkpoint["ts"])
        return found._replace(checkpoint=edited(found.checkpoint, ts=ts))


@faulty("put")
class FormatVersionIsReset(Hooked):
    """The checkpoint's `v` comes back as 1, so the engine migrates it again.

    At home in savers that build the checkpoint with their own constant.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        return found._replace(checkpoint=edited(found.checkpoint, v=1))


@faulty("put")
class PutEmptiesTheCallersCheckpoint(Hooked):
    """`put` takes the channel values out of the caller's own checkpoint.

    At home in savers that pop what goes into another table.
    """

    def storing(self, call: Put) -> RunnableConfig:
        returned = super().storing(call)
        call.checkpoint["channel_values"].clear()
        return returned


@faulty("put")
class PutChangesTheCallersConfig(Hooked):
    """`put` writes the new checkpoint's id into the caller's own config.

    At home in savers that update the config and return it.
    """

    def storing(self, call: Put) -> RunnableConfig:
        returned = super().storing(call)
        call.config["configurable"]["checkpoint_id"] = call.checkpoint["id"]
        return returned


@faulty("put")
class PutRemovesChildrenOfTheParent(Hooked):
    """A second child of a checkpoint replaces the first.

    At home in savers whose key is thread, namespace and parent, as in a linked list.
    """

    def putting(self, call: Put) -> Put:
        thread_id, ns = place_of(call.config)
        rows = self.storage.get(thread_id, {}).get(ns, {})
        parent_id = id_of(call.config)
        siblings = {key for key, row in rows.items() if parent_id and row[2] == parent_id} - {call.checkpoint["id"]}
        if siblings:
            self._remove(thread_id, ns, siblings)
        return call


@faulty("put")
class OldestCheckpointsAreDropped(Hooked):
    """A namespace keeps its newest 20 checkpoints; older ones go without a word.

    At home in Redis savers over capped lists and streams.
    """

    def storing(self, call: Put) -> RunnableConfig:
        returned = super().storing(call)
        with self._lock:
            thread_id, ns = place_of(call.config)
            if old := self._ids[thread_id, ns][:-20]:
                self._remove(thread_id, ns, old)
        return returned


# --- metadata ---


@faulty("metadata", "langchain-ai/langgraph#3404")
class ConfigKeysAreNotInMetadata(Hooked):
    """The caller's own configurable keys and config metadata are not merged into the stored metadata.

    Seen in MongoDB savers.
    """

    def putting(self, call: Put) -> Put:
        kept = {key: call.config["configurable"].get(key) for key in ("thread_id", "checkpoint_ns", "checkpoint_id")}
        return call._replace(config={"configurable": {key: value for key, value in kept.items() if value is not None}})


@faulty("metadata", "langchain-ai/langgraph#3404")
class InternalKeysLeakIntoMetadata(Hooked):
    """The library's own configurable keys (thread id, `__pregel_…`) are stored in metadata.

    Seen in savers that merge the whole configurable.
    """

    def putting(self, call: Put) -> Put:
        plain = (str, int, float, bool)
        leak = {key: value for key, value in call.config["configurable"].items() if isinstance(value, plain)}
        return call._replace(metadata=cast(CheckpointMetadata, {**leak, **call.metadata}))


@faulty("metadata", "langchain-ai/langgraph#3404")
class ConfigOverridesMetadata(Hooked):
    """A key of the caller's config replaces the metadata's key of the same name.

    At home in savers that merge in the wrong order; a config with `source` changes what a checkpoint says it is.
    """

    def putting(self, call: Put) -> Put:
        keys = {**(call.config.get("metadata") or {}), **call.config["configurable"]}
        override = {key: keys[key] for key in call.metadata if key in keys}
        return call._replace(metadata=cast(CheckpointMetadata, {**call.metadata, **override}))


@faulty("metadata", "langchain-ai/langgraph#8701")
class NestedMetadataBecomesText(Hooked):
    """Dicts inside metadata come back as JSON text.

    Seen in savers with key-value metadata.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        metadata = {
            key: json.dumps(value, default=str) if isinstance(value, dict) and value else value
            for key, value in found.metadata.items()
        }
        return with_metadata(found, metadata)


@faulty("metadata", "langchain-ai/langgraph#8701")
class DeepMetadataIsDropped(Hooked):
    """Metadata deeper than two levels is dropped.

    At home in search indexes with a depth limit.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        def cut(value: Any, depth: int) -> Any:
            if isinstance(value, dict):
                return {key: cut(member, depth - 1) for key, member in value.items()} if depth else {}
            return value

        return with_metadata(found, cut(found.metadata, 2))


@faulty("metadata")
class NoneInMetadataIsDropped(Hooked):
    """Metadata keys whose value is None are lost.

    At home in DynamoDB and Firestore savers that strip empty attributes.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        return with_metadata(found, {key: value for key, value in found.metadata.items() if value is not None})


@faulty("metadata")
class EmptyContainersInMetadataAreDropped(Hooked):
    """Metadata keys whose value is an empty dict or list are lost.

    At home in wide-column stores, where an empty collection is the same as none.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        return with_metadata(found, {key: value for key, value in found.metadata.items() if value not in ({}, [])})


@faulty("metadata", "langchain-ai/langgraph#8701")
class UnknownMetadataIsDropped(Hooked):
    """Only the metadata keys that LangGraph documents come back.

    At home in savers with one column for each key.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        known = ("source", "step", "parents", "run_id", "counters_since_delta_snapshot")
        return with_metadata(found, {key: value for key, value in found.metadata.items() if key in known})


@faulty("metadata")
class MetadataIntegersBecomeFloats(Hooked):
    """Integers in metadata come back as floats, so the engine counts steps in floats.

    At home in backends that know only JSON's or Lua's number.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        metadata = converted(found.metadata, lambda value: float(value) if type(value) is int else value)
        return with_metadata(found, metadata)


@faulty("metadata")
class LongIntegersInMetadataLoseDigits(Hooked):
    """Integers in metadata beyond 2**53 come back rounded.

    At home in backends whose JSON numbers are doubles.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        metadata = converted(found.metadata, lambda value: int(float(value)) if type(value) is int else value)
        return with_metadata(found, metadata)


@faulty("metadata")
class NegativeStepsBecomeZero(Hooked):
    """A negative `step` in metadata comes back as 0; the first checkpoint of a run has -1.

    At home in unsigned columns.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        return with_metadata(found, {**found.metadata, **({"step": 0} if found.metadata.get("step", 0) < 0 else {})})


@faulty("metadata", "langchain-ai/langgraph#1878")
class NulInNestedMetadataRaises(Hooked):
    """A NUL character inside nested metadata aborts the put.

    Seen in PostgreSQL savers.
    """

    def putting(self, call: Put) -> Put:
        def check(value: Any) -> Any:
            if isinstance(value, str) and "\0" in value:
                raise ValueError("unsupported Unicode escape sequence: \\u0000 cannot be converted to text")
            return value

        converted({key: value for key, value in call.metadata.items() if not isinstance(value, str)}, check)
        return call


@faulty("metadata", "langchain-ai/langgraph#1878")
class LongMetadataTextIsCut(Hooked):
    """Text of more than 255 characters in metadata is cut.

    At home in savers with a keyword column for each metadata key.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        def cut(value: Any) -> Any:
            return value[:255] if isinstance(value, str) else value

        return with_metadata(found, converted(found.metadata, cut))


@faulty("metadata", "langchain-ai/langgraph#580")
class NonAsciiMetadataIsEscaped(Hooked):
    """Letters outside of ASCII in metadata come back as escapes.

    At home in savers that encode JSON twice.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        def escaped(value: Any) -> Any:
            return value.encode("ascii", "backslashreplace").decode() if isinstance(value, str) else value

        return with_metadata(found, converted(found.metadata, escaped))


@faulty("metadata", "langchain-ai/langgraphjs#2352")
class DotsInMetadataKeysNest(Hooked):
    """The metadata key `a.b` comes back as a key `b` inside `a`.

    At home in document databases, which read a dot as a path.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        metadata: dict[str, Any] = {}
        for key, value in found.metadata.items():
            head, dot, tail = key.partition(".")
            metadata[head if dot else key] = {tail: value} if dot else value
        return with_metadata(found, metadata)


@faulty("metadata", "langchain-ai/langgraphjs#2352")
class DollarMetadataKeysDisappear(Hooked):
    """Metadata keys that begin with a dollar sign are lost.

    At home in MongoDB savers that drop what would be an operator.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        return with_metadata(found, {key: value for key, value in found.metadata.items() if not key.startswith("$")})


@faulty("metadata", "langchain-ai/langgraph#8748")
class PutAliasesCallersMetadata(Hooked):
    """Metadata is the caller's live dict, so changing it after the put changes history.

    At home in in-memory savers, which serialise values and forget metadata.
    """

    def storing(self, call: Put) -> RunnableConfig:
        returned = super().storing(call)
        self.memory[row_of(call.config, call.checkpoint["id"])] = call.metadata
        return returned

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        live = get_checkpoint_metadata({}, self.memory.get(row_of(found.config), {}))
        now = self.serde.loads_typed(self.serde.dumps_typed(live))
        return with_metadata(found, {**found.metadata, **now})


@faulty("metadata")
class PutCompletesTheCallersMetadata(Hooked):
    """`put` adds the config's keys to the caller's own metadata dict.

    At home in savers that merge in place.
    """

    def storing(self, call: Put) -> RunnableConfig:
        returned = super().storing(call)
        found = ReferenceSaver.get_tuple(self, returned)
        call.metadata.update(found.metadata if found else {})
        return returned


# --- identity of threads, namespaces and checkpoints ---


@faulty("identity", "langchain-ai/langgraphjs#582")
class ThreadIdsIgnoreCase(Alike):
    """Threads `User` and `user` are one.

    At home in MySQL and SQL Server, whose default collations ignore case.
    """

    def thread_key(self, thread_id: str) -> Any:
        return thread_id.casefold()


@faulty("identity", "langchain-ai/langgraphjs#582")
class NamespacesIgnoreCase(Alike):
    """Namespaces `Child` and `child` are one.

    At home in MySQL and SQL Server, whose default collations ignore case.
    """

    def ns_key(self, ns: str) -> Any:
        return ns.casefold()


@faulty("identity")
class TrailingSpacesInThreadIdsAreIgnored(Alike):
    """Threads `a` and `a ` are one.

    At home in SQL databases with padded comparison.
    """

    def thread_key(self, thread_id: str) -> Any:
        return thread_id.rstrip(" ")


@faulty("identity", "tjni/langgraph-checkpoint-mysql#39")
class LongThreadIdsAreCut(Alike):
    """Threads whose ids agree in the first 255 characters are one.

    Seen in MySQL savers and session services.
    """

    def thread_key(self, thread_id: str) -> Any:
        return thread_id[:255]


@faulty("identity", "tjni/langgraph-checkpoint-mysql#39")
class LongNamespacesAreCut(Alike):
    """Namespaces that agree in the first 255 characters are one.

    Seen in MySQL savers; nested subgraphs have namespaces of several hundred characters.
    """

    def ns_key(self, ns: str) -> Any:
        return ns[:255]


@faulty("identity")
class NestedNamespacesAreCutAtTheBar(Alike):
    """A subgraph of a subgraph (`a:1|b:2`) is stored in its parent's namespace (`a:1`).

    At home in savers that split keys at the bar.
    """

    def ns_key(self, ns: str) -> Any:
        return ns.split("|")[0]


@faulty("identity")
class NamespacesLoseTheirTaskIds(Alike):
    """Two calls of one subgraph (`child:1`, `child:2`) share a namespace.

    At home in savers that take the node's name for the namespace.
    """

    def ns_key(self, ns: str) -> Any:
        return re.sub(r":[^|]*", "", ns)


@faulty("identity")
class NumbersInThreadIdsAreOne(Alike):
    """Threads `7`, `07` and `7.0` are one.

    At home in columns with numeric affinity.
    """

    def thread_key(self, thread_id: str) -> Any:
        return float(thread_id) if re.fullmatch(r"\d+(\.\d+)?", thread_id, re.ASCII) else thread_id


@faulty("identity")
class ThreadIdsAreSanitised(Alike):
    """Threads whose ids differ only in characters that a file or key name may not have are one.

    At home in file, S3 and blob savers.
    """

    def thread_key(self, thread_id: str) -> Any:
        return re.sub(r"[^\w-]", "_", thread_id)


@faulty("identity")
class ThreadIdsAreNormalisedPaths(Alike):
    """Threads `a/b` and `a/x/../b` are one.

    At home in file savers that use the id as a path.
    """

    def thread_key(self, thread_id: str) -> Any:
        return posixpath.normpath(thread_id)


@faulty("identity")
class ThreadIdsAreNormalisedText(Alike):
    """Threads whose ids are canonically equal Unicode are one, such as a composed and a decomposed é.

    At home in macOS files and in ICU collations.
    """

    def thread_key(self, thread_id: str) -> Any:
        return unicodedata.normalize("NFC", thread_id)


@faulty("identity", "langchain-ai/langgraphjs#2803")
class ThreadAndNamespaceAreJoined(Alike):
    """Thread `a` with namespace `b:c` and thread `a:b` with namespace `c` are one.

    Seen in key-value savers that join key parts with a colon.
    """

    def pair_key(self, thread_id: str, ns: str) -> Any:
        return f"{thread_id}:{ns}"


@faulty("identity", "langchain-ai/langgraphjs#2350")
class ThreadIdsAreLikePatterns(Hooked):
    """`get_tuple` of thread `a%` finds the newest checkpoint of any thread that begins with an a.

    At home in SQL savers that look ids up with LIKE.
    """

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        thread_id, ns = place_of(config)
        matches = [each for each in self.storage if like(thread_id, each)] if "%" in thread_id else [thread_id]
        newest = max(matches, key=lambda each: self._latest(each, ns) or "", default=thread_id)
        return super().get_tuple(changed(config, thread_id=newest))


@faulty("identity", "langchain-ai/langgraphjs#2350")
class AStarListsAllThreads(Hooked):
    """Listing the thread `*` lists every thread.

    Seen in Redis savers, whose index queries take a star for everything.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        if query.config and query.config["configurable"]["thread_id"] == "*":
            return self.search(query._replace(config=None))
        return found


@faulty("identity")
class CheckpointIdsAreUniqueOverThreads(Hooked):
    """A checkpoint replaces the one of the same id in another thread.

    At home in SQL savers whose primary key is the checkpoint id.
    """

    def owned(self, thread_id: str, checkpoint_id: str) -> Any:
        return checkpoint_id

    def putting(self, call: Put) -> Put:
        with self._lock:
            here, checkpoint_id = place_of(call.config), call.checkpoint["id"]
            thread_id, ns = self.memory.get(self.owned(here[0], checkpoint_id), here)
            if (thread_id, ns) != here and checkpoint_id in self.storage.get(thread_id, {}).get(ns, {}):
                self._remove(thread_id, ns, [checkpoint_id])
            self.memory[self.owned(here[0], checkpoint_id)] = here
        return call


@faulty("identity")
class CheckpointIdsAreUniqueInAThread(CheckpointIdsAreUniqueOverThreads):
    """A checkpoint replaces the one of the same id in another namespace of its thread.

    At home in SQL savers whose primary key lacks the namespace.
    """

    def owned(self, thread_id: str, checkpoint_id: str) -> Any:
        return thread_id, checkpoint_id


@faulty("identity", "langchain-ai/langgraph#8478")
class AnyThreadsCheckpointById(Hooked):
    """`get_tuple` with a checkpoint id gives that checkpoint whichever thread it is of.

    At home in savers that look up by checkpoint id alone; one user reads another's state.
    """

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found = super().get_tuple(config)
        if found is None and id_of(config):
            for thread_id in list(self.storage):
                found = found or super().get_tuple(changed(config, thread_id=thread_id))
        return found


@faulty("identity", "langchain-ai/langgraphjs#582")
class AnyNamespacesCheckpointById(Hooked):
    """`get_tuple` with a checkpoint id gives that checkpoint whichever namespace of the thread it is in.

    At home in savers whose lookup by id leaves the namespace out.
    """

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found = super().get_tuple(config)
        if found is None and id_of(config):
            for ns in list(self.storage.get(place_of(config)[0], {})):
                found = found or super().get_tuple(changed(config, checkpoint_ns=ns))
        return found


@faulty("identity", "redis-developer/langgraph-redis#10")
class MissingNamespaceIsTheTextNone(Hooked):
    """`get_tuple` without a namespace looks in a namespace called None and finds nothing.

    Seen in Redis savers.
    """

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return super().get_tuple(changed(config, checkpoint_ns=str(config["configurable"].get("checkpoint_ns"))))


@faulty("identity", "langchain-ai/langgraph@679a7365d")
class WritesNeedANamespace(Hooked):
    """`put_writes` without a namespace raises.

    Seen in SQL savers that index the config.
    """

    def writing(self, call: Batch) -> Batch:
        call.config["configurable"]["checkpoint_ns"]
        return call


@faulty("identity")
class EmptyCheckpointIdFindsNothing(Hooked):
    """`get_tuple` with an empty checkpoint id finds nothing instead of the latest.

    At home in savers that ask whether the key is there, not whether it says anything.
    """

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        if config["configurable"].get("checkpoint_id") == "":
            return None
        return super().get_tuple(config)


@faulty("identity")
class NoneCheckpointIdFindsNothing(Hooked):
    """`get_tuple` with a checkpoint id of None finds nothing instead of the latest.

    At home in SQL savers, where a comparison with NULL is never true.
    """

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        if config["configurable"].get("checkpoint_id", "") is None:
            return None
        return super().get_tuple(config)


# --- get_tuple ---


@faulty("get_tuple", "redis-developer/langgraph-redis#64")
class GetReturnsTheCallersConfig(Hooked):
    """The config of a tuple is the one it was asked with, without a checkpoint id when only the thread was named.

    Seen in Redis savers.
    """

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found = super().get_tuple(config)
        return found._replace(config=config) if found else None


@faulty("get_tuple", "langchain-ai/langgraph#8810")
class LatestIsTheLastInserted(Hooked):
    """The latest checkpoint is the one that was put last, not the one with the greatest id.

    Seen in savers that order by a row number.
    """

    def storing(self, call: Put) -> RunnableConfig:
        self.memory[place_of(call.config)] = call.checkpoint["id"]
        return super().storing(call)

    def _latest(self, thread_id: str, ns: str) -> str | None:
        last = cast(str, self.memory.get((thread_id, ns)))
        return last if last in self.storage.get(thread_id, {}).get(ns, {}) else super()._latest(thread_id, ns)


@faulty("get_tuple", "langchain-ai/langchain-azure#1057")
class LatestIsTheFirstOfItsSecond(Hooked):
    """The latest checkpoint is the one with the greatest time in seconds; within one second the first wins.

    Seen in savers that order by a timestamp column.
    """

    def storing(self, call: Put) -> RunnableConfig:
        self.memory[row_of(call.config, call.checkpoint["id"])] = call.checkpoint["ts"][:19]
        return super().storing(call)

    def _latest(self, thread_id: str, ns: str) -> str | None:
        ids = self._ids.get((thread_id, ns), [])
        return max(ids, key=lambda each: cast(str, self.memory.get((thread_id, ns, each), "")), default=None)


@faulty("get_tuple")
class LatestIsTheThreads(Hooked):
    """The latest checkpoint of a namespace is searched under the id of the thread's latest, so it is often not found.

    At home in savers with one pointer to the latest for each thread.
    """

    def _latest(self, thread_id: str, ns: str) -> str | None:
        latest = [super()._latest(thread_id, each) or "" for each in self.storage.get(thread_id, {})]
        return max(latest, default=None)


@faulty("get_tuple", "redis-developer/langgraph-redis#104")
class NamespacesMatchByPrefix(Hooked):
    """The latest checkpoint of namespace `a` may be one of `a:1` or `ab`.

    Seen in Redis savers that scan by prefix.
    """

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        thread_id, ns = place_of(config)
        if id_of(config) or not ns:
            return super().get_tuple(config)
        matches = [each for each in self.storage.get(thread_id, {}) if each.startswith(ns)]
        newest = max(matches, key=lambda each: self._latest(thread_id, each) or "", default=ns)
        return super().get_tuple(changed(config, checkpoint_ns=newest))


@faulty("get_tuple", "moorcheh-ai/memanto#478")
class UnknownIdGivesTheLatest(Hooked):
    """An unknown checkpoint id gives the latest checkpoint instead of None.

    Seen in savers with a fallback.
    """

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return super().get_tuple(config) or super().get_tuple(without(config, "checkpoint_id"))


@faulty("get_tuple")
class UnknownIdGivesTheOneBefore(Hooked):
    """An unknown checkpoint id gives the newest checkpoint with a smaller id instead of None.

    At home in savers over ordered keys that seek and do not compare.
    """

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found, asked = super().get_tuple(config), id_of(config)
        older = [each for each in self._ids.get(place_of(config), []) if asked and each < asked]
        return found if found or not older else super().get_tuple(changed(config, checkpoint_id=older[-1]))


@faulty("get_tuple")
class UnknownThreadGivesAnEmptyCheckpoint(Hooked):
    """`get_tuple` of a thread that does not exist gives an empty checkpoint instead of None.

    At home in savers that create what they do not find.
    """

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found = super().get_tuple(config)
        if found or id_of(config):
            return found
        checkpoint = empty_checkpoint()
        return CheckpointTuple(_config(*row_of(config, checkpoint["id"])), checkpoint, {}, None, [])


@faulty("get_tuple")
class UnknownThreadRaises(Hooked):
    """`get_tuple` of a thread that does not exist raises KeyError instead of returning None.

    At home in savers over nested dicts and files.
    """

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        if config["configurable"]["thread_id"] not in self.storage:
            raise KeyError(config["configurable"]["thread_id"])
        return super().get_tuple(config)


@faulty("get_tuple", "redis-developer/langgraph-redis@c425317")
class WritesOnlyWithAnId(Hooked):
    """Pending writes are loaded only if the config names the checkpoint.

    Seen in Redis savers.
    """

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found = super().get_tuple(config)
        return found if found is None or id_of(config) else found._replace(pending_writes=[])


@faulty("get_tuple")
class ParentOnlyWithAnId(Hooked):
    """A checkpoint that was found as the latest has no parent.

    At home in savers whose two queries select different columns.
    """

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found = super().get_tuple(config)
        return found if found is None or id_of(config) else found._replace(parent_config=None)


@faulty("get_tuple")
class ValuesOnlyOfTheLatest(Hooked):
    """A checkpoint that is named by its id reads with no channel values, so there is no time travel.

    At home in savers that keep the values of the latest state only.
    """

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found = super().get_tuple(config)
        latest = self._latest(*place_of(config))
        return found if found is None or id_of(found.config) == latest else with_values(found, {})


@faulty("get_tuple", "langchain-ai/langchain-aws#1297")
class ChannelsBeyondAPageAreLost(Hooked):
    """A checkpoint with more than 100 channels reads with 100 of them.

    Seen in AWS savers, which read one page.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        return with_values(found, dict(islice(found.checkpoint["channel_values"].items(), 100)))


@faulty("get_tuple", "langchain-ai/langchain-aws#1297")
class WritesBeyondAPageAreLost(Hooked):
    """A checkpoint with more than 100 pending writes reads with 100 of them.

    Seen in AWS savers, which read one page.
    """

    def _writes_of(self, thread_id: str, ns: str, checkpoint_id: str) -> StoredWrites:
        return super()._writes_of(thread_id, ns, checkpoint_id)[:100]


@faulty("get_tuple", "langchain-ai/langchain-azure#539")
class WriteIndexesAreText(Hooked):
    """A task's tenth write comes before its second.

    Seen in Azure savers, whose row keys are text.
    """

    def _writes_of(self, thread_id: str, ns: str, checkpoint_id: str) -> StoredWrites:
        rows = self.writes.get((thread_id, ns, checkpoint_id), {})
        ordered = sorted(rows.items(), key=lambda item: (item[1][3], item[0][0], item[0][1] >= 0, str(item[0][1])))
        return [row for _, row in ordered]


@faulty("get_tuple", "langchain-ai/langgraph#8382")
class WritesInTheOrderOfTaskIds(Hooked):
    """Pending writes come in the order of task ids, not of task paths.

    Seen in SQL savers without a column for the task path.
    """

    def _writes_of(self, thread_id: str, ns: str, checkpoint_id: str) -> StoredWrites:
        return [row for _, row in sorted(self.writes.get((thread_id, ns, checkpoint_id), {}).items())]


@faulty("get_tuple", "langchain-ai/langgraph#8382")
class WritesInTheOrderOfArrival(Hooked):
    """Pending writes come in the order in which they were stored.

    Seen in savers over lists and in SQL savers without ORDER BY.
    """

    def _writes_of(self, thread_id: str, ns: str, checkpoint_id: str) -> StoredWrites:
        return list(self.writes.get((thread_id, ns, checkpoint_id), {}).values())


@faulty("get_tuple", "tjni/langgraph-checkpoint-mysql#39")
class LongTaskPathsAreCut(Hooked):
    """Pending writes of tasks whose paths agree in the first 64 characters come in the order of task ids.

    At home in SQL savers with a narrow column for the path.
    """

    def _writes_of(self, thread_id: str, ns: str, checkpoint_id: str) -> StoredWrites:
        rows = self.writes.get((thread_id, ns, checkpoint_id), {})
        return [row for _, row in sorted(rows.items(), key=lambda item: (item[1][3][:64], *item[0]))]


@faulty("get_tuple")
class PendingWritesHaveFourParts(Hooked):
    """Pending writes are tuples of four: the task path is one of their parts.

    At home in savers that hand out their rows.
    """

    def _tuple(self, row: _Row) -> CheckpointTuple:
        found = super()._tuple(row)
        pairs = zip(found.pending_writes or (), row.writes, strict=True)
        writes: Any = [(*write, stored[3]) for write, stored in pairs]
        return found._replace(pending_writes=writes)


@faulty("get_tuple", "langchain-ai/langchain-aws#877")
class CacheOutlivesDeleteThread(Cached):
    """A checkpoint that was read before its thread was deleted can still be read.

    Seen in savers with a cache of their own.
    """

    stale_after = ("delete_thread",)


@faulty("get_tuple")
class CacheOutlivesPutWrites(Cached):
    """A checkpoint that was read before reads without the writes that came since.

    At home in savers whose cache is cleared by `put` only.
    """

    stale_after = ("put_writes",)


@faulty("get_tuple", "langchain-ai/langchain-aws#753")
class CacheOutlivesPut(Cached):
    """The latest checkpoint, once read, stays the latest although newer ones are put.

    Seen in savers that read from a replica or a cache.
    """

    stale_after = ("put",)


@faulty("get_tuple")
class CacheOfMissesOutlivesPut(Cached):
    """A thread that was looked for before its first checkpoint is not found after it.

    At home in savers that cache misses; each new thread of the engine begins with one.
    """

    stale_after = ("put",)

    def keeps(self, row: _Row | None) -> bool:
        return row is None


@faulty("get_tuple")
class CacheIgnoresNamespaces(Cached):
    """The latest checkpoint of a thread is given for each of its namespaces, once it was read.

    At home in savers whose cache was made before there were subgraphs.
    """

    def key(self, thread_id: str, ns: str, checkpoint_id: str | None) -> Any:
        return thread_id, checkpoint_id


@faulty("get_tuple", "langchain-ai/langgraph#7634")
class CacheOutlivesPrune(Cached):
    """Checkpoints that were read before they were pruned can still be read.

    At home in savers with a cache of their own.
    """

    stale_after = ("prune",)


@faulty("get_tuple")
class CacheOutlivesDeleteForRuns(Cached):
    """Checkpoints that were read before their run was deleted can still be read.

    At home in savers with a cache of their own.
    """

    stale_after = ("delete_for_runs",)


# --- list ---


@faulty("list", "langchain-ai/langgraphjs#589")
class ListWithoutPendingWrites(Hooked):
    """Listed tuples have no pending writes.

    Seen in many savers.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        return (each._replace(pending_writes=[]) for each in found)


@faulty("list", "redis-developer/langgraph-redis#186")
class ListedParentsLackTheNamespace(Hooked):
    """The parent_config of a listed tuple has no namespace.

    Seen in Redis savers.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        for each in found:
            parent = each.parent_config
            yield each._replace(parent_config=without(parent, "checkpoint_ns") if parent else None)


@faulty("list")
class ListedConfigsLackTheNamespace(Hooked):
    """The config of a listed tuple has no namespace, so going on from it goes on in the root.

    At home in savers that build the config from the query.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        return (each._replace(config=without(each.config, "checkpoint_ns")) for each in found)


@faulty("list")
class ListedValuesAreTheNewest(Hooked):
    """Each listed checkpoint has the newest channel values of its namespace.

    At home in savers that fetch the values of a list in one query and key them by channel.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        newest: dict[Any, dict[str, Any]] = {}
        for each in found:
            values = newest.setdefault(place_of(each.config), each.checkpoint["channel_values"])
            own = each.checkpoint["channel_values"]
            yield with_values(each, {ch: values.get(ch, value) for ch, value in own.items()})


@faulty("list")
class ListedWritesAreThoseOfTheId(Hooked):
    """A listed tuple has the pending writes of all checkpoints of the thread with its id, in whichever namespace.

    At home in savers that fetch the writes of a list in one query and key them by checkpoint id.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        for each in found:
            thread_id, ns = place_of(each.config)
            others = {key[1] for key in self.writes if key[::2] == (thread_id, id_of(each.config))} - {ns}
            writes = list(each.pending_writes or ())
            for other in sorted(others):
                rows = self._writes_of(thread_id, other, cast(str, id_of(each.config)))
                writes += [(task, ch, self.serde.loads_typed(value)) for task, ch, value, _ in rows]
            yield each._replace(pending_writes=writes)


@faulty("list")
class ListLeavesOutWhatHasNoWrites(Hooked):
    """A checkpoint without pending writes is not listed.

    At home in SQL savers with an inner join.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        every = (each for each in self.search(query._replace(limit=None)) if each.pending_writes)
        return islice(every, None if query.limit is None else max(query.limit, 0))


@faulty("list")
class ListRepeatsCheckpointsWithManyWrites(Hooked):
    """A checkpoint is listed once for each of its pending writes.

    At home in SQL savers with a join.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        every = self.search(query._replace(limit=None))
        rows = (each for each in every for _ in range(max(1, len(each.pending_writes or ()))))
        return islice(rows, None if query.limit is None else max(query.limit, 0))


@faulty("list", "langchain-ai/langchain-aws#1297")
class ListStopsAfterAPage(Hooked):
    """A list without a limit ends after 100 checkpoints.

    Seen in Firestore and AWS savers, which read one page.
    """

    def asking(self, query: Query) -> Query:
        return query._replace(limit=100) if query.limit is None else query


@faulty("list", "langchain-ai/langgraphjs#2504")
class FilterIgnoresUnknownKeys(Hooked):
    """Filter keys other than the documented metadata keys are ignored, so everything is listed.

    Seen in savers with one column for each key.
    """

    def asking(self, query: Query) -> Query:
        known = ("source", "step", "parents", "run_id")
        return query._replace(filter={key: value for key, value in (query.filter or {}).items() if key in known})


class FilterNeverMatches(Hooked):
    """A filter value of some kinds never matches."""

    def never(self, value: Any) -> bool:
        raise NotImplementedError

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        return () if any(map(self.never, (query.filter or {}).values())) else found


@faulty("list", "cloudflare/langchain-cloudflare#50")
class FilterByNoneFindsNothing(FilterNeverMatches):
    """A filter value of None does not match a stored None.

    At home in SQL, where a comparison with NULL is never true.
    """

    def never(self, value: Any) -> bool:
        return value is None


@faulty("list", "cloudflare/langchain-cloudflare#50")
class FilterByBoolFindsNothing(FilterNeverMatches):
    """A filter value of True or False matches nothing.

    Seen in savers that encode it as `True` where JSON has `true`.
    """

    def never(self, value: Any) -> bool:
        return isinstance(value, bool)


@faulty("list", "cloudflare/langchain-cloudflare#50")
class FilterByFloatFindsNothing(FilterNeverMatches):
    """A filter value that is a float matches nothing.

    Seen in savers that compare numbers as text.
    """

    def never(self, value: Any) -> bool:
        return isinstance(value, float)


@faulty("list", "oracle/langchain-oracle#290")
class FilterByDictFindsNothing(FilterNeverMatches):
    """A filter value that is a dict matches nothing, not even an equal one.

    Seen in savers that compare with the text of another serialisation.
    """

    def never(self, value: Any) -> bool:
        return isinstance(value, dict)


@faulty("list", "oracle/langchain-oracle#296")
class FilterByListFindsNothing(FilterNeverMatches):
    """A filter value that is a list matches nothing, not even an equal one.

    Seen in Oracle savers.
    """

    def never(self, value: Any) -> bool:
        return isinstance(value, list)


@faulty("list", "oracle/langchain-oracle#308")
class FilterComparesText(Hooked):
    """A filter for the text `5` finds the number 5, and one for 5 the text.

    Seen in savers whose index holds text.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        def text(value: Any) -> str:
            return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)

        wanted = query.filter or {}
        matches = (
            each
            for each in self.search(query._replace(filter=None, limit=None))
            if all(key in each.metadata and text(dict(each.metadata)[key]) == text(wanted[key]) for key in wanted)
        )
        return islice(matches, None if query.limit is None else max(query.limit, 0))


@faulty("list")
class FilterMatchesAnyKey(Hooked):
    """A filter with two keys finds checkpoints that match one of them.

    At home in savers that join conditions with OR.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        if not query.filter:
            return found
        single = [self.search(query._replace(filter={key: value}, limit=None)) for key, value in query.filter.items()]
        ids = {str(each.config) for found in single for each in found}
        every = self.search(query._replace(filter=None, limit=None))
        matches = (each for each in every if str(each.config) in ids)
        return islice(matches, None if query.limit is None else max(query.limit, 0))


@faulty("list")
class FilterUsesOneKey(Hooked):
    """Of a filter with several keys only the last counts.

    At home in savers whose loop over the keys replaces the condition.
    """

    def asking(self, query: Query) -> Query:
        return query._replace(filter=dict(list(query.filter.items())[-1:])) if query.filter else query


@faulty("list", "langchain-ai/langgraphjs#2350")
class FilterTextIsALikePattern(Hooked):
    """A filter value with a percent sign finds all values that match it as a pattern.

    At home in SQL savers that compare with LIKE.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        wanted = {key: value for key, value in (query.filter or {}).items() if isinstance(value, str) and "%" in value}
        if not wanted:
            return found
        rest = {key: value for key, value in (query.filter or {}).items() if key not in wanted}
        matches = (
            each
            for each in self.search(query._replace(filter=rest, limit=None))
            if all(like(value, str(dict(each.metadata).get(key))) for key, value in wanted.items())
        )
        return islice(matches, None if query.limit is None else max(query.limit, 0))


@faulty("list")
class FilterTextIgnoresCase(Hooked):
    """A filter for `Loop` finds `loop`.

    At home in MySQL savers, and in search indexes that analyse text.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        def folded(value: Any) -> Any:
            return converted(value, lambda part: part.casefold() if isinstance(part, str) else part)

        wanted = {key: folded(value) for key, value in (query.filter or {}).items() if isinstance(value, str)}
        rest = {key: value for key, value in (query.filter or {}).items() if key not in wanted}
        matches = (
            each
            for each in self.search(query._replace(filter=rest, limit=None))
            if all(folded(dict(each.metadata).get(key)) == value for key, value in wanted.items())
        )
        return islice(matches, None if query.limit is None else max(query.limit, 0))


@faulty("list", "langchain-ai/langchain-mongodb#384")
class FilterValuesMayBeOperators(Hooked):
    """A filter value such as `{"$ne": None}` is run as an operator of the backend.

    Seen in MongoDB savers; one user reads another's checkpoints.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        def operators(value: Any) -> bool:
            return isinstance(value, dict) and any(str(key).startswith("$") for key in value)

        plain = {key: value for key, value in (query.filter or {}).items() if not operators(value)}
        return found if plain == (query.filter or {}) else self.search(query._replace(filter=plain))


@faulty("list", "langchain-ai/langgraph#6565")
class FilterKeysAreSql(Hooked):
    """A filter key with a quote in it ends the statement's text, so everything is listed.

    Seen in SQL savers (CVE-2025-67644).
    """

    def asking(self, query: Query) -> Query:
        return query._replace(filter={}) if any("'" in key for key in query.filter or {}) else query


@faulty("list", "cloudflare/langchain-cloudflare#50")
class BeforeIsIgnored(Hooked):
    """`before` is ignored.

    Seen in DynamoDB, Redis and Cloudflare savers.
    """

    def asking(self, query: Query) -> Query:
        return query._replace(before=None)


@faulty("list")
class BeforeIncludesItsCheckpoint(Hooked):
    """The checkpoint that `before` names is listed too.

    At home in key ranges that include their end.
    """

    def asking(self, query: Query) -> Query:
        bound = id_of(query.before)
        return query._replace(before={"configurable": {"checkpoint_id": bound + "\0"}}) if bound else query


@faulty("list", "BetterDB-inc/monitor#117")
class BeforeIsIgnoredWithAFilter(Hooked):
    """`before` is ignored when there is a filter too.

    At home in savers with one query for each combination of arguments.
    """

    def asking(self, query: Query) -> Query:
        return query._replace(before=None) if query.filter else query


@faulty("list")
class BeforeAnUnknownIdFindsNothing(Hooked):
    """`before` with an id that is not stored finds nothing instead of all smaller ids.

    At home in savers that look the bound up first.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        bound = id_of(query.before)
        every = self.search(Query(query.config))
        return found if bound is None or any(id_of(each.config) == bound for each in every) else ()


@faulty("list")
class BeforeMeansStoredEarlier(Hooked):
    """`before` bounds by the order of putting, not by id.

    At home in savers that order by a row number.
    """

    def putting(self, call: Put) -> Put:
        self.memory.setdefault(row_of(call.config, call.checkpoint["id"]), len(self.memory))
        return call

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        bounds = [number for key, number in self.memory.items() if key[2] == id_of(query.before)]
        if not bounds:
            return found
        every = self.search(query._replace(before=None, limit=None))
        earlier = (each for each in every if self.memory.get(row_of(each.config), 0) < max(bounds))
        return islice(earlier, None if query.limit is None else max(query.limit, 0))


@faulty("list", "BetterDB-inc/monitor#117")
class LimitOneIsTheLatest(Hooked):
    """`limit=1` gives the latest checkpoint, whatever filter and before say.

    Seen in savers with a fast path for it.
    """

    def asking(self, query: Query) -> Query:
        return Query(query.config, limit=1) if query.limit == 1 else query


@faulty("list")
class LimitIsPerNamespace(Hooked):
    """`limit` is applied to each namespace by itself.

    At home in savers that run one query for each namespace.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        counts: dict[Any, int] = {}
        for each in self.search(query._replace(limit=None)):
            place = place_of(each.config)
            counts[place] = counts.get(place, 0) + 1
            if query.limit is None or counts[place] <= query.limit:
                yield each


@faulty("list", "langchain-ai/langgraph@297242913")
class LimitZeroIsNoLimit(Hooked):
    """`limit=0` lists everything.

    Seen wherever a saver asks `if limit`.
    """

    def asking(self, query: Query) -> Query:
        return query._replace(limit=query.limit or None)


@faulty("list", "langchain-ai/langgraph@e338a4ec9")
class RootNamespaceListsAll(Hooked):
    """Listing the root namespace lists all namespaces.

    Seen wherever a saver asks `if checkpoint_ns`.
    """

    def asking(self, query: Query) -> Query:
        if query.config and query.config["configurable"].get("checkpoint_ns") == "":
            return query._replace(config=without(query.config, "checkpoint_ns"))
        return query


@faulty("list", "langchain-ai/langgraphjs#582")
class NoNamespaceListsTheRoot(Hooked):
    """Listing a thread without a namespace lists its root namespace only.

    Seen in Redis savers.
    """

    def asking(self, query: Query) -> Query:
        if not query.config:
            return query
        return query._replace(config=changed(query.config, checkpoint_ns=place_of(query.config)[1]))


@faulty("list", "redis-developer/langgraph-redis#104")
class ListedNamespacesMatchByPrefix(Hooked):
    """Listing namespace `a` lists `a:1` and `ab` too.

    Seen in Redis savers that scan by prefix.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        ns = query.config["configurable"].get("checkpoint_ns") if query.config else None
        if not ns:
            return found
        every = self.search(query._replace(config=without(query.config or {}, "checkpoint_ns"), limit=None))
        matches = (each for each in every if place_of(each.config)[1].startswith(ns))
        return islice(matches, None if query.limit is None else max(query.limit, 0))


@faulty("list", "redis-developer/langgraph-redis#106")
class ListIsOldestFirst(Hooked):
    """Checkpoints are listed oldest first.

    Seen in Redis savers.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        return sorted(found, key=lambda each: cast(str, id_of(each.config)))


@faulty("list", "langchain-ai/langgraph#8810")
class ListIsInTheOrderOfPutting(Hooked):
    """Checkpoints are listed in the reverse order of putting, not of their ids.

    At home in savers that order by a row number or a time of storing.
    """

    def putting(self, call: Put) -> Put:
        self.memory.setdefault(row_of(call.config, call.checkpoint["id"]), len(self.memory))
        return call

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        every = sorted(
            self.search(query._replace(limit=None)),
            key=lambda each: cast(int, self.memory.get(row_of(each.config), 0)),
            reverse=True,
        )
        return every if query.limit is None else every[: max(query.limit, 0)]


@faulty("list")
class ListIsOrderedByNamespaceFirst(Hooked):
    """A list over several namespaces gives one namespace after the other instead of the newest first.

    At home in savers that run one query for each namespace, or order by the primary key.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        every = sorted(self.search(query._replace(limit=None)), key=lambda each: place_of(each.config))
        return every if query.limit is None else every[: max(query.limit, 0)]


@faulty("list", "langchain-ai/langgraphjs#576")
class ListOfAllThreadsIsEmpty(Hooked):
    """`list(None)` lists nothing.

    Seen in savers that always bind a thread id.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        return found if query.config else ()


@faulty("list", "langchain-ai/langgraphjs#576")
class ListOfAllThreadsIgnoresTheFilter(Hooked):
    """`list(None, filter=…)` lists everything.

    At home in savers whose conditions hang on the thread's.
    """

    def asking(self, query: Query) -> Query:
        return query if query.config else query._replace(filter=None)


@faulty("list")
class ListOfAllThreadsSeesRootsOnly(Hooked):
    """`list(None)` leaves out the namespaces of subgraphs.

    At home in savers with an index of threads.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        if query.config:
            return found
        roots = (each for each in self.search(query._replace(limit=None)) if not place_of(each.config)[1])
        return islice(roots, None if query.limit is None else max(query.limit, 0))


@faulty("list", "langchain-ai/langgraphjs#584")
class ListOfAnUnknownThreadRaises(Hooked):
    """Listing a thread that does not exist raises.

    Seen in savers over nested dicts and files.
    """

    def asking(self, query: Query) -> Query:
        if query.config and query.config["configurable"]["thread_id"] not in self.storage:
            raise KeyError(query.config["configurable"]["thread_id"])
        return query


@faulty("list", "redis-developer/langgraph-redis#186")
class ListIgnoresTheCheckpointId(Hooked):
    """Listing with a checkpoint id in the config lists the whole thread.

    Seen in Redis savers.
    """

    def asking(self, query: Query) -> Query:
        return query._replace(config=without(query.config, "checkpoint_id")) if query.config else query


@faulty("list", "langchain-ai/langgraph#8558")
class ListBreaksWhenSomethingIsPut(Hooked):
    """Putting a checkpoint while a list is iterated breaks the iteration.

    At home in savers that iterate over a live dict or cursor.
    """

    def putting(self, call: Put) -> Put:
        if not self.stored(call.config, call.checkpoint["id"]):
            self.memory["puts"] = self.memory.get("puts", 0) + 1
        return call

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        puts = self.memory.get("puts")
        for each in found:
            if self.memory.get("puts") != puts:
                raise RuntimeError("dictionary changed size during iteration")
            yield each


@faulty("list", "langchain-ai/langgraph#8558")
class ListSeesWhatIsPutMeanwhile(Hooked):
    """Checkpoints that are put into the thread while a list is iterated are added at its end.

    At home in savers that read page by page with an offset.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        listed: set[str] = set()
        for each in found:
            listed.add(str(each.config))
            yield each
        if query.limit is None:
            yield from (each for each in self.search(query) if str(each.config) not in listed)


@faulty("list", "langchain-ai/langgraph#8558")
class OpenListBlocksWriters(Hooked):
    """While a list is iterated nothing can be put, not even by the iterating thread itself.

    Seen in SQLite savers, which hold a lock that is not reentrant.
    """

    def __init__(self, *, serde: SerializerProtocol | None = None) -> None:
        super().__init__(serde=serde)
        self.gate = threading.Lock()

    @contextmanager
    def around(self, method: str) -> Iterator[None]:
        if method != "put":
            yield
            return
        if not self.gate.acquire(timeout=HANG):
            raise TimeoutError("hung")
        try:
            yield
        finally:
            self.gate.release()

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        if not self.gate.acquire(timeout=HANG):
            raise TimeoutError("hung")
        try:
            yield from found
        finally:
            self.gate.release()


@faulty("list")
class ListIsAList(Hooked):
    """`list` returns a list, so `next(saver.list(config))` raises.

    At home in savers that fetch all rows.
    """

    def list(self, *args: Any, **kwargs: Any) -> Any:
        return [*super().list(*args, **kwargs)]


# --- put_writes ---


@faulty("put_writes", "langchain-ai/langgraphjs#2516")
class SpecialWritesTakeTheirPosition(Hooked):
    """Writes to special channels (error, interrupt, resume, scheduled) are kept by their position in the batch.

    Seen in savers that do not use WRITES_IDX_MAP, so that an interrupt collides with the task's first write.
    """

    def put_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        rows: dict[tuple[str, int], StoredWrite] = {
            (task_id, idx): (task_id, ch, self.serde.dumps_typed(value), task_path)
            for idx, (ch, value) in enumerate(writes)
        }
        stored = self.writes.setdefault(row_of(config), {})
        special = all(ch in WRITES_IDX_MAP for ch, _ in writes)
        stored.update(rows if special else {key: row for key, row in rows.items() if key not in stored})


class StaleSpecialWrites(Hooked):
    """Some writes to special channels are not replaced."""

    def stale(self, channel: str, writes: Writes) -> bool:
        raise NotImplementedError

    def writing(self, call: Batch) -> Batch:
        rows = self.writes.get(row_of(call.config), {})
        writes = list(call.writes)
        for place, (ch, _) in enumerate(writes):
            row = rows.get((call.task_id, WRITES_IDX_MAP.get(ch, -99)))
            if row and self.stale(ch, call.writes):
                writes[place] = (ch, self.serde.loads_typed(row[2]))
        return call._replace(writes=writes)


@faulty("put_writes", "langchain-ai/langgraph#8833")
class MixedBatchKeepsTheStaleSpecialWrite(StaleSpecialWrites):
    """A batch that mixes ordinary and special writes does not replace the special ones.

    Seen in SQL savers, which choose the statement for the whole batch.
    """

    def stale(self, channel: str, writes: Writes) -> bool:
        return not all(ch in WRITES_IDX_MAP for ch, _ in writes)


@faulty("put_writes", "langchain-ai/langgraph#8833")
class SpecialWritesAreNeverReplaced(StaleSpecialWrites):
    """The first error, interrupt or resume of a task stays, whatever comes after it.

    Seen in SQL savers with INSERT OR IGNORE.
    """

    def stale(self, channel: str, writes: Writes) -> bool:
        return True


@faulty("put_writes", "langchain-ai/langgraph#8833")
class ResumeIsNeverReplaced(StaleSpecialWrites):
    """The first resume of a task stays, so a task that is resumed twice gets the first answer twice.

    At home in savers with a list of special channels of their own, made before this one was.
    """

    def stale(self, channel: str, writes: Writes) -> bool:
        return channel == RESUME


@faulty("put_writes")
class ErrorRemovesTheTasksWrites(Hooked):
    """A special write removes the ordinary writes of its task.

    At home in savers that delete a task's writes before they insert.
    """

    def writing(self, call: Batch) -> Batch:
        rows = self.writes.get(row_of(call.config), {})
        if call.writes and all(ch in (ERROR, INTERRUPT) for ch, _ in call.writes):
            for key in [key for key in rows if key[0] == call.task_id and key[1] >= 0]:
                del rows[key]
        return call


@faulty("put_writes", "langchain-ai/langgraphjs#2556")
class EmptyBatchRaises(Hooked):
    """An empty batch of writes raises.

    Seen in SQL savers that build the VALUES clause by hand.
    """

    def writing(self, call: Batch) -> Batch:
        if not call.writes:
            raise ValueError("Invalid Operation: No operations to execute")
        return call


@faulty("put_writes", "langchain-ai/langgraph#6040")
class RepeatedBatchRaises(Hooked):
    """Storing a task's writes again raises a duplicate-key error.

    Seen in MongoDB savers with a unique index.
    """

    def writing(self, call: Batch) -> Batch:
        rows = self.writes.get(row_of(call.config), {})
        if any((call.task_id, idx) in rows for idx, (ch, _) in enumerate(call.writes) if ch not in WRITES_IDX_MAP):
            raise ValueError("E11000 duplicate key error")
        return call


@faulty("put_writes", "langchain-ai/langgraph#1395")
class RepeatedBatchIsAdded(Hooked):
    """Storing a task's writes again stores them twice.

    At home in append-only savers.
    """

    def put_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        rows = self.writes.get(row_of(config), {})
        start = max((key[1] + 1 for key in rows if key[0] == task_id), default=0)
        super().put_writes(config, writes, task_id, task_path)
        if start <= 0:
            return
        rows = self.writes[row_of(config)]
        for idx, (ch, value) in enumerate(writes):
            if ch not in WRITES_IDX_MAP:
                rows[task_id, start + idx] = (task_id, ch, self.serde.dumps_typed(value), task_path)


@faulty("put_writes", "aaronsu11/langgraph-checkpoint-dynamodb#9")
class PutWritesTakesNoTaskPath(Hooked):
    """`put_writes` and `aput_writes` take no `task_path`.

    Seen in DynamoDB and Firestore savers.
    """

    def put_writes(self, config: RunnableConfig, writes: Writes, task_id: str) -> None:  # type: ignore[override]
        super().put_writes(config, writes, task_id)

    async def aput_writes(self, config: RunnableConfig, writes: Writes, task_id: str) -> None:  # type: ignore[override]
        super().put_writes(config, writes, task_id)


@faulty("put_writes", "PostHog/posthog#34648")
class WritesGoToTheLatest(Hooked):
    """Writes are stored with the thread's latest checkpoint, not with the one that the config names.

    Seen in savers that keep the writes of the latest state only.
    """

    def writing(self, call: Batch) -> Batch:
        latest = self._latest(*place_of(call.config))
        return call._replace(config=changed(call.config, checkpoint_id=latest)) if latest else call


@faulty("put_writes", "redis-developer/langgraph-redis#10")
class WritesIgnoreTheNamespace(Hooked):
    """Writes are stored by thread and checkpoint id; each namespace's checkpoint of that id has them all.

    At home in savers whose table of writes has no namespace.
    """

    def writing(self, call: Batch) -> Batch:
        return call._replace(config=changed(call.config, checkpoint_ns=""))

    def _writes_of(self, thread_id: str, ns: str, checkpoint_id: str) -> StoredWrites:
        return super()._writes_of(thread_id, "", checkpoint_id)


@faulty("put_writes", "redis-developer/langgraph-redis#10")
class WritesIgnoreTheThread(Hooked):
    """A checkpoint has the pending writes of the checkpoints of the same namespace and id in other threads too.

    At home in savers whose table of writes is keyed by checkpoint id.
    """

    def _writes_of(self, thread_id: str, ns: str, checkpoint_id: str) -> StoredWrites:
        own = super()._writes_of(thread_id, ns, checkpoint_id)
        others = [each for each in self.writes if each[1:] == (ns, checkpoint_id) and each[0] != thread_id]
        return [*own, *(row for each in others for row in super(WritesIgnoreTheThread, self)._writes_of(*each))]


@faulty("put_writes", "redis-developer/langgraph-redis#57")
class WritesToOneChannelCollapse(KeyedWrites):
    """Of several writes of a task to one channel the last stays.

    Seen in savers that keep a task's writes in a dict by channel.
    """

    replaces = True

    def key(self, task_id: str, idx: int, row: StoredWrite) -> Any:
        return task_id, row[1]


@faulty("put_writes", "langchain-ai/langgraph#1436")
class WritesAreKeyedWithoutTheTask(KeyedWrites):
    """Writes of two tasks at the same position replace one another.

    At home in savers whose key is checkpoint and index.
    """

    def key(self, task_id: str, idx: int, row: StoredWrite) -> Any:
        return idx


@faulty("put_writes", "langchain-ai/langgraphjs#2803")
class TaskAndIndexAreJoined(KeyedWrites):
    """Write 10 of task `a` and write 0 of task `a1` have one key.

    At home in key-value savers that join key parts without a separator.
    """

    def key(self, task_id: str, idx: int, row: StoredWrite) -> Any:
        return f"{task_id}{idx}"


@faulty("put_writes")
class LongTaskIdsAreCut(KeyedWrites):
    """Writes of tasks whose ids agree in the first 36 characters have one key.

    At home in SQL savers that expect a UUID.
    """

    def key(self, task_id: str, idx: int, row: StoredWrite) -> Any:
        return task_id[:36], idx


@faulty("put_writes")
class TaskIdsIgnoreCase(KeyedWrites):
    """Writes of tasks `Task` and `task` have one key.

    At home in MySQL and SQL Server, whose default collations ignore case.
    """

    def key(self, task_id: str, idx: int, row: StoredWrite) -> Any:
        return task_id.casefold(), idx


@faulty("put_writes")
class IndexesBeyondAByteAreOne(KeyedWrites):
    """All writes of a task from the 128th on have one key.

    At home in MySQL savers with a TINYINT column, which clamps.
    """

    def key(self, task_id: str, idx: int, row: StoredWrite) -> Any:
        return task_id, min(idx, 127)


@faulty("put_writes")
class EqualWritesAreOne(KeyedWrites):
    """Of a task's writes of the same value to the same channel one stays.

    At home in savers over sets.
    """

    def key(self, task_id: str, idx: int, row: StoredWrite) -> Any:
        return *row[:2], row[2][0], bytes(row[2][1])


@faulty("put_writes")
class TaskPathIsPartOfTheKey(Hooked):
    """A task's writes that are stored again under another task path are kept twice.

    At home in savers that sort by a composite key.
    """

    def _writes_of(self, thread_id: str, ns: str, checkpoint_id: str) -> StoredWrites:
        again = self.memory.get((thread_id, ns, checkpoint_id), {}).values()
        rows = [*super()._writes_of(thread_id, ns, checkpoint_id), *again]
        return sorted(rows, key=lambda row: (row[3], row[0]))

    def put_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        key = row_of(config)
        before = dict(self.writes.get(row_of(config), {}))
        super().put_writes(config, writes, task_id, task_path)
        for idx, (ch, value) in enumerate(writes):
            old = before.get((task_id, idx))
            if ch not in WRITES_IDX_MAP and old and old[3] != task_path:
                row = (task_id, ch, self.serde.dumps_typed(value), task_path)
                self.memory.setdefault(key, {})[task_id, idx, task_path] = row

    def delete_thread(self, thread_id: str) -> None:
        super().delete_thread(thread_id)
        for key in [key for key in self.memory if key[0] == thread_id]:
            del self.memory[key]


@faulty("put_writes")
class WritesBeforeTheirCheckpointAreLost(Hooked):
    """Writes that are stored before their checkpoint are lost.

    At home in SQL savers with a foreign key; the engine stores both at the same time.
    """

    def writing(self, call: Batch) -> Batch:
        stored = self.stored(call.config, cast(str, id_of(call.config)))
        return call if stored else call._replace(writes=[])


@faulty("put_writes", "redis-developer/langgraph-redis#133")
class ChildTakesTheParentsWritesAway(Hooked):
    """Putting a checkpoint removes the pending writes of its parent.

    Seen in savers that keep the latest state only.
    """

    def putting(self, call: Put) -> Put:
        self.writes.pop(row_of(call.config), None)
        return call


@faulty("put_writes", "langchain-ai/langgraph#8748")
class PutWritesAliasesCallersValues(Hooked):
    """Written values are the caller's live objects, so changing them afterwards changes the stored write.

    At home in in-memory savers.
    """

    def put_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        super().put_writes(config, writes, task_id, task_path)
        rows = self.writes.get(row_of(config), {})
        for idx, (ch, value) in enumerate(writes):
            row = rows[task_id, WRITES_IDX_MAP.get(ch, idx)]
            if row[2] == self.serde.dumps_typed(value):
                self.memory[id(row)] = (row, value)

    def _writes_of(self, thread_id: str, ns: str, checkpoint_id: str) -> StoredWrites:
        def now(row: StoredWrite) -> StoredWrite:
            known, value = self.memory.get(id(row), (None, None))
            return (*row[:2], self.serde.dumps_typed(value), row[3]) if known is row else row

        return [now(row) for row in super()._writes_of(thread_id, ns, checkpoint_id)]


@faulty("put_writes", "tjni/langgraph-checkpoint-mysql@1e8775e")
class NoneWritesAreLost(Hooked):
    """A write whose value is None is lost.

    At home where NULL means no write; the engine's branch channels are written with None.
    """

    def _tuple(self, row: _Row) -> CheckpointTuple:
        found = super()._tuple(row)
        return found._replace(pending_writes=[write for write in found.pending_writes or () if write[2] is not None])


@faulty("put_writes")
class InternalWritesAreLost(Hooked):
    """Writes to channels whose names begin with `__`, special ones apart, are lost.

    At home in savers that store state only; a task that wrote nothing says so with `__no_writes__`.
    """

    def _writes_of(self, thread_id: str, ns: str, checkpoint_id: str) -> StoredWrites:
        rows = super()._writes_of(thread_id, ns, checkpoint_id)
        return [row for row in rows if not row[1].startswith("__") or row[1] in WRITES_IDX_MAP]


@faulty("put_writes", "redis-developer/langgraph-redis#113")
class InterruptsBecomeDicts(Converting):
    """An Interrupt in a pending write comes back as a dict.

    Seen in Redis savers.
    """

    channels = False

    def convert(self, value: Any) -> Any:
        return {"value": value.value, "id": getattr(value, "id", "")} if isinstance(value, Interrupt) else value


@faulty("put_writes", "redis-developer/langgraph-redis#113")
class SendsInWritesBecomeDicts(Converting):
    """A Send in a pending write comes back as a dict.

    Seen in Redis savers.
    """

    channels = False

    def convert(self, value: Any) -> Any:
        return {"node": value.node, "arg": value.arg} if isinstance(value, Send) else value


@faulty("put_writes", "redis-developer/langgraph-redis@57d031d")
class FailedBatchIsHalfStored(Hooked):
    """A batch that fails at a value which cannot be serialised leaves the writes before it.

    At home in savers that insert write by write.
    """

    def put_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        try:
            super().put_writes(config, writes, task_id, task_path)
        except (TypeError, ValueError):
            for length in range(len(writes) - 1, 0, -1):
                try:
                    super().put_writes(config, writes[:length], task_id, task_path)
                except (TypeError, ValueError):
                    continue
                break
            raise


@faulty("put_writes", "redis-developer/langgraph-redis#174")
class PutWritesSwallowsErrors(Hooked):
    """`put_writes` returns as if it had stored writes that cannot be serialised.

    At home in savers that log errors and go on.
    """

    def put_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        try:
            super().put_writes(config, writes, task_id, task_path)
        except (TypeError, ValueError):
            return


# --- delete_thread ---


@faulty("delete_thread", "langchain-ai/langgraphjs#2207")
class DeleteThreadLeavesValues(Hooked):
    """delete_thread leaves the channel values behind, so a thread made anew with the same versions has them.

    Seen in Redis savers.
    """

    def delete_thread(self, thread_id: str) -> None:
        blobs = {key: blob for key, blob in self.blobs.items() if key[0] == thread_id}
        super().delete_thread(thread_id)
        self.blobs.update(blobs)


@faulty("delete_thread", "redis-developer/langgraph-redis#104")
class DeleteThreadLeavesSubgraphs(Hooked):
    """delete_thread deletes the root namespace only.

    Seen in Redis and AWS savers.
    """

    def delete_thread(self, thread_id: str) -> None:
        rows = {ns: dict(each) for ns, each in self.storage.get(thread_id, {}).items() if ns}
        tables: tuple[dict[Any, Any], ...] = (self._ids, self.writes, self.blobs)
        kept = [{key: row for key, row in table.items() if key[0] == thread_id and key[1]} for table in tables]
        super().delete_thread(thread_id)
        for table, rest in zip(tables, kept, strict=True):
            table.update(rest)
        if rows:
            self.storage[thread_id] = rows


@faulty("delete_thread", "langchain-ai/langgraphjs#2350")
class DeleteThreadIsAGlob(Hooked):
    """Deleting the thread `a*` deletes every thread that begins with an a.

    Seen in Redis savers.
    """

    def delete_thread(self, thread_id: str) -> None:
        super().delete_thread(thread_id)
        if any(character in thread_id for character in "*?["):
            for each in fnmatch.filter(list(self.storage), thread_id):
                super().delete_thread(each)


@faulty("delete_thread", "langchain-ai/langgraphjs#2350")
class DeleteThreadIsALikePattern(Hooked):
    """Deleting the thread `a_c` deletes `abc` too.

    At home in SQL savers that delete with LIKE.
    """

    def delete_thread(self, thread_id: str) -> None:
        super().delete_thread(thread_id)
        for each in [each for each in self.storage if like(thread_id, each)]:
            super().delete_thread(each)


@faulty("delete_thread")
class DeleteThreadLeavesOrphanWrites(Hooked):
    """delete_thread leaves the writes whose checkpoint was never put.

    At home in SQL savers that delete writes by way of their checkpoints.
    """

    def delete_thread(self, thread_id: str) -> None:
        orphans = {
            key: rows
            for key, rows in self.writes.items()
            if key[0] == thread_id and key[2] not in self.storage.get(thread_id, {}).get(key[1], {})
        }
        super().delete_thread(thread_id)
        self.writes.update(orphans)


@faulty("delete_thread")
class DeletedThreadStaysDead(Hooked):
    """Nothing can be stored in a thread that was deleted once.

    At home in savers with tombstones.
    """

    def delete_thread(self, thread_id: str) -> None:
        super().delete_thread(thread_id)
        self.memory[thread_id] = "deleted"

    def storing(self, call: Put) -> RunnableConfig:
        returned = super().storing(call)
        thread_id, ns = place_of(call.config)
        if thread_id in self.memory:
            self._remove(thread_id, ns, [call.checkpoint["id"]])
        return returned


@faulty("delete_thread")
class DeleteThreadDeletesTheIdsElsewhere(Hooked):
    """delete_thread deletes the checkpoints of the same ids in other threads too.

    At home in SQL savers that delete by checkpoint id; it hits copies of a thread.
    """

    def delete_thread(self, thread_id: str) -> None:
        ids = {each for rows in self.storage.get(thread_id, {}).values() for each in rows}
        super().delete_thread(thread_id)
        for other, ns in list(self._ids):
            if same := ids & self.storage[other][ns].keys():
                self._remove(other, ns, same)


@faulty("delete_thread", "langchain-ai/langchain-aws#1297")
class DeleteThreadStopsAfterABatch(Hooked):
    """delete_thread deletes the newest 25 checkpoints of each namespace.

    At home in DynamoDB savers, whose batches have 25 items.
    """

    def delete_thread(self, thread_id: str) -> None:
        if all(len(rows) <= 25 for rows in self.storage.get(thread_id, {}).values()):
            super().delete_thread(thread_id)
            return
        for ns in list(self.storage.get(thread_id, {})):
            self._remove(thread_id, ns, self._ids[thread_id, ns][-25:])


@faulty("delete_thread")
class DeletingAnUnknownThreadRaises(Hooked):
    """Deleting a thread that does not exist raises.

    At home in savers over nested dicts and files.
    """

    def delete_thread(self, thread_id: str) -> None:
        if not any(key[0] == thread_id for table in (self._ids, self.writes) for key in table):
            raise KeyError(thread_id)
        super().delete_thread(thread_id)


@faulty("delete_thread")
class DeleteThreadDeletesEverything(Hooked):
    """delete_thread deletes all threads.

    At home in savers over one file or one index.
    """

    def delete_thread(self, thread_id: str) -> None:
        for each in {thread_id, *self.storage, *(key[0] for key in self.writes)}:
            super().delete_thread(each)


# --- copy_thread ---


@faulty("copy_thread", "langchain-ai/langgraph#7634")
class CopySharesWrites(Hooked):
    """The copy of a thread and its source share their pending writes: what is written to one shows in the other.

    At home in in-memory savers that copy one level.
    """

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(source_thread_id, target_thread_id)
        for key in [key for key in self.writes if key[0] == target_thread_id]:
            self.writes[key] = self.writes[source_thread_id, key[1], key[2]]


@faulty("copy_thread", "langchain-ai/langgraph#7634")
class CopySharesCheckpoints(Hooked):
    """What is put into the copy of a thread shows in its source, and the reverse.

    At home in savers that point the copy at the source's rows.
    """

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(source_thread_id, target_thread_id)
        self.memory.setdefault(source_thread_id, set()).add(target_thread_id)
        self.memory.setdefault(target_thread_id, set()).add(source_thread_id)

    def storing(self, call: Put) -> RunnableConfig:
        for other in self.memory.get(call.config["configurable"]["thread_id"], ()):
            if other in self.storage:
                super().storing(call._replace(config=changed(call.config, thread_id=other)))
        return super().storing(call)


@faulty("copy_thread")
class CopyLeavesSubgraphsOut(Hooked):
    """The copy of a thread has the root namespace only.

    At home in savers that list the root.
    """

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(source_thread_id, target_thread_id)
        for ns in [ns for ns in self.storage.get(target_thread_id, {}) if ns and source_thread_id != target_thread_id]:
            self._remove(target_thread_id, ns, list(self._ids[target_thread_id, ns]))


@faulty("copy_thread")
class CopyLeavesWritesOut(Hooked):
    """The copy of a thread has no pending writes, so an interrupt cannot be resumed in it.

    At home in savers that copy one table.
    """

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(source_thread_id, target_thread_id)
        for key in [key for key in self.writes if key[0] == target_thread_id != source_thread_id]:
            del self.writes[key]


@faulty("copy_thread")
class CopyLeavesHistoryOut(Hooked):
    """The copy of a thread has the latest checkpoint of each namespace only.

    At home in savers that copy a state.
    """

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(source_thread_id, target_thread_id)
        for ns in [*self.storage.get(target_thread_id, {})] if source_thread_id != target_thread_id else []:
            self._remove(target_thread_id, ns, self._ids[target_thread_id, ns][:-1])


@faulty("copy_thread")
class CopyLosesParents(Hooked):
    """The checkpoints of a copied thread have no parents.

    At home in savers that put each checkpoint anew.
    """

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(source_thread_id, target_thread_id)
        for rows in self.storage.get(target_thread_id, {}).values() if source_thread_id != target_thread_id else ():
            rows.update({key: (row[0], row[1], None) for key, row in rows.items()})


@faulty("copy_thread")
class CopyChainsCheckpointsInOrder(Hooked):
    """In a copied thread each checkpoint's parent is the one before it, so forks become one line.

    At home in savers that put each checkpoint anew on the one before.
    """

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(source_thread_id, target_thread_id)
        for rows in self.storage.get(target_thread_id, {}).values() if source_thread_id != target_thread_id else ():
            before: str | None = None
            for key in sorted(rows):
                rows[key] = (rows[key][0], rows[key][1], before if rows[key][2] else None)
                before = key


@faulty("copy_thread")
class CopyLosesOldValues(Hooked):
    """In a copied thread only the latest checkpoint of each namespace has all its values.

    At home in savers that copy the values that are in use now.
    """

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(source_thread_id, target_thread_id)
        for ns, rows in self.storage.get(target_thread_id, {}).items() if source_thread_id != target_thread_id else ():
            used = self._places(rows[self._ids[target_thread_id, ns][-1]]).items()
            for key in [key for key in self.blobs if key[:2] == (target_thread_id, ns) and key[2:] not in used]:
                del self.blobs[key]


@faulty("copy_thread", "langchain-ai/langgraph#8382")
class CopyLosesTaskPaths(Hooked):
    """In a copied thread pending writes come in the order of task ids, since their task paths are lost.

    At home in savers that copy by way of `get_tuple` and `put_writes`.
    """

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(source_thread_id, target_thread_id)
        for key in [key for key in self.writes if key[0] == target_thread_id != source_thread_id]:
            self.writes[key] = {place: (*row[:3], "") for place, row in self.writes[key].items()}


@faulty("copy_thread")
class CopyMovesTheThread(Hooked):
    """After a copy the source thread is gone.

    At home in savers that rename keys.
    """

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(source_thread_id, target_thread_id)
        if source_thread_id != target_thread_id:
            self.delete_thread(source_thread_id)


@faulty("copy_thread")
class CopyTakesThreadsWithThePrefixToo(Hooked):
    """Copying thread `a` copies the checkpoints of `ab` into the same target.

    At home in key-value savers that scan by prefix.
    """

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(source_thread_id, target_thread_id)
        for other in [each for each in self.storage if each.startswith(source_thread_id)]:
            if other not in (source_thread_id, target_thread_id):
                for found in list(self.search(Query({"configurable": {"thread_id": other}}))):
                    parent = found.parent_config or without(found.config, "checkpoint_id")
                    config = changed(parent, thread_id=target_thread_id)
                    self.put(config, found.checkpoint, found.metadata, found.checkpoint["channel_versions"])


# --- prune ---


@faulty("prune", "redis-developer/langgraph-redis#186")
class PruningNothingPrunesEverything(Hooked):
    """`prune([])` prunes every thread.

    At home in savers that leave the condition out when there are no ids.
    """

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        super().prune(thread_ids or list(self.storage), strategy=strategy)


@faulty("prune", "langgraph-checkpoint-postgres 3.2.0 (guard added in code)")
class PruneWalksAString(Hooked):
    """A single text given for the thread ids is walked letter by letter.

    Seen in PostgreSQL savers before a guard was added.
    """

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        super().prune(list(thread_ids), strategy=strategy)


@faulty("prune")
class PruneKeepsTheRootOnly(Hooked):
    """`keep_latest` keeps the latest checkpoint of the root namespace and deletes the other namespaces.

    At home in savers that keep one checkpoint for each thread.
    """

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        super().prune(thread_ids, strategy=strategy)
        for thread_id, ns in [key for key in self._ids if key[0] in thread_ids and key[1]]:
            self._remove(thread_id, ns, list(self._ids[thread_id, ns]))


@faulty("prune", "redis-developer/langgraph-redis#159")
class PruneDropsTheKeptWrites(Hooked):
    """`keep_latest` drops the pending writes of the checkpoint that it keeps, so an interrupt cannot be resumed.

    Seen in Redis savers.
    """

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        super().prune(thread_ids, strategy=strategy)
        for key in [key for key in self.writes if key[0] in thread_ids]:
            del self.writes[key]


@faulty("prune", "redis-developer/langgraph-redis#162")
class PruneLeavesWrites(Hooked):
    """Pruned checkpoints leave their pending writes behind.

    Seen in Redis savers.
    """

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        writes = dict(self.writes)
        super().prune(thread_ids, strategy=strategy)
        self.writes.update(writes)


@faulty("prune", "bytedance/deer-flow#5255")
class PruneDropsCarriedValues(Hooked):
    """After `keep_latest` the kept checkpoint has only the values that were new in it.

    At home in savers that delete values together with the checkpoints that brought them.
    """

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        carried = []
        for thread_id, ns in [key for key in self._ids if key[0] in thread_ids]:
            latest = self._ids[thread_id, ns][-1]
            old = self.versions_at(thread_id, ns, self.storage[thread_id][ns][latest][2])
            now = self.versions_at(thread_id, ns, latest)
            carried += [(thread_id, ns, *pair) for pair in now.items() & old.items()]
        super().prune(thread_ids, strategy=strategy)
        for key in carried:
            self.blobs.pop(key, None)


@faulty("prune", "langchain-ai/langgraph#8810")
class PruneKeepsTheLastInserted(Hooked):
    """`keep_latest` keeps the checkpoint that was put last, not the one with the greatest id.

    At home in savers that order by a row number.
    """

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        if isinstance(thread_ids, str) or strategy != "keep_latest":
            super().prune(thread_ids, strategy=strategy)
            return
        for thread_id in thread_ids:
            for ns, rows in list(self.storage.get(thread_id, {}).items()):
                *old, last = rows
                if last == self._ids[thread_id, ns][-1]:
                    continue
                rows[last] = (*rows[last][:2], None)
                self._remove(thread_id, ns, old)
        super().prune(thread_ids, strategy=strategy)


@faulty("prune")
class PruneTakesUnknownStrategiesForDelete(Hooked):
    """An unknown strategy deletes the threads.

    At home in savers that ask for one strategy and else do the other.
    """

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        super().prune(thread_ids, strategy=strategy if strategy == "keep_latest" else "delete")


@faulty("prune")
class PruneDeleteKeepsTheLatest(Hooked):
    """The strategy `delete` keeps the latest checkpoint.

    At home in savers that know one strategy.
    """

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        super().prune(thread_ids, strategy="keep_latest" if strategy == "delete" else strategy)


@faulty("prune")
class PruneDeletesByDefault(Hooked):
    """`prune` without a strategy deletes the threads.

    At home in savers whose default differs from the base class's.
    """

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "delete") -> None:
        super().prune(thread_ids, strategy=strategy)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "delete") -> None:
        self.prune(thread_ids, strategy=strategy)


@faulty("prune")
class PrunePrunesAllThreads(Hooked):
    """`keep_latest` prunes every thread, not only those that are named.

    At home in savers whose statement lacks the condition.
    """

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        if thread_ids and strategy == "keep_latest" and not isinstance(thread_ids, str):
            thread_ids = [*thread_ids, *(each for each in self.storage if each not in thread_ids)]
        super().prune(thread_ids, strategy=strategy)


@faulty("prune")
class PrunePrunesTheFirstThread(Hooked):
    """Of several threads only the first is pruned.

    At home in savers that return from inside the loop.
    """

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        super().prune(thread_ids if isinstance(thread_ids, str) else thread_ids[:1], strategy=strategy)


@faulty("prune", "langchain-ai/langgraph#7634")
class PruneCutsDeltaHistory(Hooked):
    """`keep_latest` deletes the ancestors from which the kept checkpoint's delta channels are rebuilt.

    At home in savers whose prune was written before there were delta channels.
    """

    def _needed_ancestors(self, thread_id: str, ns: str, checkpoint_id: str, channels: Iterable[str]) -> Sequence[str]:
        return []

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        as_class(self, Hooked).delete_for_runs(run_ids)


@faulty("prune", "langchain-ai/langgraph#7634")
class PruneKeepsSnapshotsButNotWrites(Hooked):
    """`keep_latest` keeps the ancestors that delta channels need, but not their writes.

    At home in savers that delete the writes of all but the latest checkpoint.
    """

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        super().prune(thread_ids, strategy=strategy)
        for thread_id, ns in [key for key in self._ids if key[0] in thread_ids]:
            for checkpoint_id in self._ids[thread_id, ns][:-1]:
                self.writes.pop((thread_id, ns, checkpoint_id), None)


# --- delete_for_runs ---


@faulty("delete_for_runs", "bytedance/deer-flow#5255")
class DeleteForRunsDropsCarriedValues(Hooked):
    """Deleting a run drops the values that it brought, also those that remaining checkpoints still have.

    Seen in savers that delete values by run.
    """

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        brought = []
        for (thread_id, ns), ids in self._ids.items() if not isinstance(run_ids, str) else ():
            for checkpoint_id in ids:
                _, metadata, parent_id = self.storage[thread_id][ns][checkpoint_id]
                if self.serde.loads_typed(metadata).get("run_id") in run_ids:
                    old = self.versions_at(thread_id, ns, parent_id).items()
                    new = self.versions_at(thread_id, ns, checkpoint_id).items()
                    brought += [(thread_id, ns, *pair) for pair in new if pair not in old]
        super().delete_for_runs(run_ids)
        for key in brought:
            self.blobs.pop(key, None)


@faulty("delete_for_runs", "redis-developer/langgraph-redis#162")
class DeleteForRunsLeavesWrites(Hooked):
    """The checkpoints of a deleted run leave their pending writes behind.

    At home in savers that delete from one table.
    """

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        writes = dict(self.writes)
        super().delete_for_runs(run_ids)
        self.writes.update(writes)


class DeletesOtherRuns(Hooked):
    """Deleting runs deletes more or fewer runs than were named."""

    def runs(self, run_ids: Sequence[str], known: Collection[str]) -> Sequence[str]:
        raise NotImplementedError

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        rows = (row for spaces in self.storage.values() for each in spaces.values() for row in each.values())
        known = {self.serde.loads_typed(row[1]).get("run_id") for row in rows} - {None}
        super().delete_for_runs(self.runs(run_ids, known))


@faulty("delete_for_runs", "redis-developer/langgraph-redis#104")
class DeleteForRunsByPrefix(DeletesOtherRuns):
    """Deleting run `r1` deletes `r10` too.

    At home in savers that delete by prefix.
    """

    def runs(self, run_ids: Sequence[str], known: Collection[str]) -> Sequence[str]:
        return run_ids if isinstance(run_ids, str) else [run for run in known if run.startswith(tuple(run_ids))]


@faulty("delete_for_runs")
class DeleteForRunsDeletesOne(DeletesOtherRuns):
    """Of several runs only the first is deleted.

    At home in savers that return from inside the loop.
    """

    def runs(self, run_ids: Sequence[str], known: Collection[str]) -> Sequence[str]:
        return run_ids if isinstance(run_ids, str) else run_ids[:1]


@faulty("delete_for_runs", "langgraph-checkpoint-postgres 3.2.0 (guard added in code)")
class DeleteForRunsWalksAString(DeletesOtherRuns):
    """A single text given for the run ids is walked letter by letter.

    At home in savers without a guard.
    """

    def runs(self, run_ids: Sequence[str], known: Collection[str]) -> Sequence[str]:
        return list(run_ids)


@faulty("delete_for_runs")
class DeletingNoRunsDeletesAll(DeletesOtherRuns):
    """`delete_for_runs([])` deletes the checkpoints of all runs.

    At home in savers that leave the condition out when there are no ids.
    """

    def runs(self, run_ids: Sequence[str], known: Collection[str]) -> Sequence[str]:
        return run_ids or list(known)


@faulty("delete_for_runs")
class DeleteForRunsDeletesWholeThreads(Hooked):
    """Deleting a run deletes the threads in which it ran.

    At home in savers that look up the thread of a run.
    """

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        before = {thread_id: sum(map(len, spaces.values())) for thread_id, spaces in self.storage.items()}
        super().delete_for_runs(run_ids)
        for thread_id, number in before.items():
            if sum(map(len, self.storage.get(thread_id, {}).values())) < number:
                self.delete_thread(thread_id)


@faulty("delete_for_runs")
class DeleteForRunsSeesRootsOnly(Hooked):
    """Deleting a run leaves its checkpoints in the namespaces of subgraphs.

    At home in savers that look at the root namespace only.
    """

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        rows = {(thread, ns): dict(self.storage[thread][ns]) for thread, ns in self._ids if ns}
        blobs, writes = dict(self.blobs), dict(self.writes)
        super().delete_for_runs(run_ids)
        for (thread_id, ns), each in rows.items():
            self.storage.setdefault(thread_id, {}).setdefault(ns, {}).update(each)
            self._ids[thread_id, ns] = sorted(each)
        self.blobs.update({key: blob for key, blob in blobs.items() if key[1]})
        self.writes.update({key: each for key, each in writes.items() if key[1]})


@faulty("delete_for_runs")
class DeleteForRunsSeesTheLatestOnly(Hooked):
    """Deleting a run leaves its checkpoints, except where they are the latest of their namespace.

    At home in savers that index runs by the latest state.
    """

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        runs = [] if isinstance(run_ids, str) else run_ids
        for thread_id, ns in list(self._ids):
            latest = self._ids[thread_id, ns][-1]
            if self.serde.loads_typed(self.storage[thread_id][ns][latest][1]).get("run_id") in runs:
                self._remove(thread_id, ns, [latest])
        super().delete_for_runs(run_ids if isinstance(run_ids, str) else [])


@faulty("delete_for_runs", "langchain-ai/langgraph#7634")
class DeleteForRunsCutsDeltaHistory(Hooked):
    """Deleting a run deletes checkpoints from which remaining ones rebuild their delta channels, without a word.

    At home in savers whose delete was written before there were delta channels.
    """

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        ReferenceSaver.delete_for_runs(as_class(self, PruneCutsDeltaHistory), run_ids)


# --- delta history ---


class Delta(Hooked):
    """`get_delta_channel_history` is wrong."""

    def history(self, config: RunnableConfig, channels: Sequence[str]) -> dict[str, Any]:
        """What it must give."""
        return dict(super().get_delta_channel_history(config=config, channels=channels))

    def ancestors(self, config: RunnableConfig) -> list[CheckpointTuple]:
        """The ancestors of a checkpoint, nearest first."""
        chain: list[CheckpointTuple] = []
        found = self.get_tuple(config)
        while found and found.parent_config and len(chain) < 1000:
            found = self.get_tuple(found.parent_config)
            chain += [found] if found else []
        return chain

    def wrong(self, config: RunnableConfig, channels: Sequence[str]) -> History:
        raise NotImplementedError

    def get_delta_channel_history(self, *, config: RunnableConfig, channels: Sequence[str]) -> History:
        return self.wrong(config, channels) if channels else {}


def writes_to(channel: str, found: CheckpointTuple) -> list[Any]:
    """A tuple's pending writes to one channel."""
    return [write for write in found.pending_writes or () if write[1] == channel]


@faulty("delta", "langchain-ai/langgraph#8384")
class DeltaLeavesTheSeedsWritesOut(Delta):
    """The history lacks the writes of the ancestor at which its seed was found.

    Seen in savers that stop one step early.
    """

    def wrong(self, config: RunnableConfig, channels: Sequence[str]) -> History:
        chain, result = self.ancestors(config), self.history(config, channels)
        for ch in [ch for ch in channels if "seed" in result[ch]]:
            holder = next(each for each in chain if ch in each.checkpoint["channel_values"])
            result[ch]["writes"] = result[ch]["writes"][len(writes_to(ch, holder)) :]
        return result


@faulty("delta", "langchain-ai/langgraph#8534")
class DeltaWalksPastPlainSeeds(Delta):
    """A seed that is a plain value and no snapshot is not recognised: the walk goes on to the root.

    Seen in savers with delta channels of their own.
    """

    def wrong(self, config: RunnableConfig, channels: Sequence[str]) -> History:
        snapshot = getattr(serde_types, "_DeltaSnapshot", ())
        result: dict[str, Any] = {}
        for ch in channels:
            result[ch] = {"writes": []}
            for each in self.ancestors(config):
                result[ch]["writes"] = writes_to(ch, each) + result[ch]["writes"]
                if isinstance(each.checkpoint["channel_values"].get(ch), snapshot):
                    result[ch]["seed"] = each.checkpoint["channel_values"][ch]
                    break
        return result


@faulty("delta", "langchain-ai/langgraph#7728")
class DeltaNeedsWrites(Delta):
    """The history of a channel without writes raises KeyError.

    Seen in savers that group rows by channel.
    """

    def wrong(self, config: RunnableConfig, channels: Sequence[str]) -> History:
        result = self.history(config, channels)
        for ch in channels:
            if not result[ch]["writes"] and "seed" in result[ch]:
                raise KeyError(ch)
        return result


@faulty("delta")
class DeltaLeavesUntouchedChannelsOut(Delta):
    """Channels without writes and seed are missing from the result.

    At home in savers that group rows by channel.
    """

    def wrong(self, config: RunnableConfig, channels: Sequence[str]) -> History:
        return {ch: each for ch, each in self.history(config, channels).items() if each["writes"] or "seed" in each}


@faulty("delta", "langchain-ai/langgraph#8382")
class DeltaReplaysByTaskId(Delta):
    """The writes of one ancestor are replayed in the order of task ids, not of task paths.

    Seen in savers before they kept the task path.
    """

    def wrong(self, config: RunnableConfig, channels: Sequence[str]) -> History:
        result = self.history(config, channels)
        for ch in channels:
            rest = result[ch]["writes"]
            replayed: list[Any] = []
            for each in self.ancestors(config):
                number = len(writes_to(ch, each))
                rest, own = (rest[:-number], rest[-number:]) if number else (rest, [])
                replayed = sorted(own, key=lambda write: cast(str, write[0])) + replayed
            result[ch]["writes"] = replayed
        return result


@faulty("delta", "langchain-ai/langgraphjs#2737")
class DeltaMixesSiblingsIn(Delta):
    """The history holds the writes of all older checkpoints of the namespace, also those of other branches.

    Seen in savers that walk by id instead of by parent.
    """

    def wrong(self, config: RunnableConfig, channels: Sequence[str]) -> History:
        target = self.get_tuple(config)
        if target is None:
            return self.history(config, channels)
        older = list(self.search(Query(without(target.config, "checkpoint_id"), before=target.config)))
        result: dict[str, Any] = {}
        for ch in channels:
            result[ch] = {"writes": []}
            for each in older:
                result[ch]["writes"] = writes_to(ch, each) + result[ch]["writes"]
                if ch in each.checkpoint["channel_values"]:
                    result[ch]["seed"] = each.checkpoint["channel_values"][ch]
                    break
        return result


@faulty("delta", "langchain-ai/langgraph@4.3.2 base diff")
class DeltaNeedsACheckpointId(Delta):
    """The history of a config without a checkpoint id is empty.

    Seen in savers before langgraph-checkpoint 4.3.2.
    """

    def wrong(self, config: RunnableConfig, channels: Sequence[str]) -> History:
        return self.history(config, channels) if id_of(config) else {ch: {"writes": []} for ch in channels}


@faulty("delta", "langchain-ai/langgraph#8384")
class DeltaCountsTheTargetsWrites(Delta):
    """The history holds the pending writes of the checkpoint itself.

    Seen in savers whose walk begins one step early.
    """

    def wrong(self, config: RunnableConfig, channels: Sequence[str]) -> History:
        result, target = self.history(config, channels), self.get_tuple(config)
        for ch in channels if target else ():
            result[ch]["writes"] += writes_to(ch, cast(CheckpointTuple, target))
        return result


@faulty("delta", "langchain-ai/langgraph#8384")
class DeltaTakesTheTargetsValueForTheSeed(Delta):
    """The seed is the checkpoint's own value where it has one.

    At home in savers whose walk begins one step early.
    """

    def wrong(self, config: RunnableConfig, channels: Sequence[str]) -> History:
        result, target = self.history(config, channels), self.get_tuple(config)
        for ch in channels:
            if target and ch in target.checkpoint["channel_values"]:
                result[ch] = {"writes": [], "seed": target.checkpoint["channel_values"][ch]}
        return result


@faulty("delta", "langchain-ai/langgraph#7728")
class DeltaOfAnUnknownThreadRaises(Delta):
    """The history of a thread that does not exist raises.

    Seen in savers that do not ask whether the target was found.
    """

    def wrong(self, config: RunnableConfig, channels: Sequence[str]) -> History:
        if self.get_tuple(config) is None:
            raise ValueError("checkpoint not found")
        return self.history(config, channels)


@faulty("delta", "langchain-ai/langgraph#8382")
class DeltaIsNewestFirst(Delta):
    """The writes of the history come newest first.

    At home in savers that forget to turn the walk around.
    """

    def wrong(self, config: RunnableConfig, channels: Sequence[str]) -> History:
        return {ch: {**each, "writes": each["writes"][::-1]} for ch, each in self.history(config, channels).items()}


@faulty("delta")
class DeltaTurnsWritesOfAStepAround(Delta):
    """The steps of the history come oldest first, but the writes of each step in reverse.

    At home in savers that turn the list of steps around and not what is in them.
    """

    def wrong(self, config: RunnableConfig, channels: Sequence[str]) -> History:
        result = self.history(config, channels)
        for ch in channels:
            rest = result[ch]["writes"]
            replayed: list[Any] = []
            for each in self.ancestors(config):
                number = len(writes_to(ch, each))
                rest, own = (rest[:-number], rest[-number:]) if number else (rest, [])
                replayed = own[::-1] + replayed
            result[ch]["writes"] = replayed
        return result


@faulty("delta")
class DeltaTakesANoneSeedForNoSeed(Delta):
    """A seed of None is left out.

    At home in savers that ask `if seed is not None`.
    """

    def wrong(self, config: RunnableConfig, channels: Sequence[str]) -> History:
        result = self.history(config, channels)
        for each in result.values():
            if each.get("seed", 0) is None:
                del each["seed"]
        return result


@faulty("delta")
class DeltaTakesAFalsySeedForNoSeed(Delta):
    """A seed that is empty, such as [], is left out.

    At home in savers that ask `if seed`.
    """

    def wrong(self, config: RunnableConfig, channels: Sequence[str]) -> History:
        result = self.history(config, channels)
        for each in result.values():
            if "seed" in each and each["seed"] is not None and not each["seed"]:
                del each["seed"]
        return result


@faulty("delta")
class DeltaStopsForAllAtTheFirstSeed(Delta):
    """Asked for several channels, the walk ends at the first seed that is found for any of them.

    At home in savers with one walk and one flag.
    """

    def wrong(self, config: RunnableConfig, channels: Sequence[str]) -> History:
        result: dict[str, Any] = {ch: {"writes": []} for ch in channels}
        for each in self.ancestors(config):
            for ch in channels:
                result[ch]["writes"] = writes_to(ch, each) + result[ch]["writes"]
                if ch in each.checkpoint["channel_values"]:
                    result[ch]["seed"] = each.checkpoint["channel_values"][ch]
            if any("seed" in one for one in result.values()):
                break
        return result


@faulty("delta")
class DeltaWalksTheRoot(Delta):
    """The history of a subgraph's checkpoint is searched in the root namespace.

    At home in savers that build the query from thread id and checkpoint id.
    """

    def wrong(self, config: RunnableConfig, channels: Sequence[str]) -> History:
        return self.history(changed(config, checkpoint_ns=""), channels)


@faulty("delta", "langchain-ai/langchain-aws#1297")
class DeltaWalksAHundredSteps(Delta):
    """The history goes back at most 100 checkpoints.

    At home in SQL savers with a recursion limit.
    """

    def wrong(self, config: RunnableConfig, channels: Sequence[str]) -> History:
        result: dict[str, Any] = {ch: {"writes": []} for ch in channels}
        for ch in channels:
            for each in self.ancestors(config)[:100]:
                result[ch]["writes"] = writes_to(ch, each) + result[ch]["writes"]
                if ch in each.checkpoint["channel_values"]:
                    result[ch]["seed"] = each.checkpoint["channel_values"][ch]
                    break
        return result


class _DeltaWithoutSeed(Delta):
    def wrong(self, config: RunnableConfig, channels: Sequence[str]) -> History:
        return {ch: {"writes": each["writes"]} for ch, each in self.history(config, channels).items()}


@faulty("delta")
class AsyncDeltaHasNoSeed(AsyncOnly):
    """`aget_delta_channel_history` gives no seed.

    At home in savers with two hand-written paths.
    """

    twin = _DeltaWithoutSeed


# --- versions ---


@faulty("versions", "redis-developer/langgraph-redis@b045e2b")
class VersionsAreNotPadded(Hooked):
    """Version 10 is smaller than version 9, since versions are text without leading zeros.

    At home in savers that make versions of their own.
    """

    def get_next_version(self, current: Any, channel: None) -> Any:
        head, _, tail = super().get_next_version(current, channel).partition(".")
        return f"{int(head)}.{tail}"


@faulty("versions", "redis-developer/langgraph-redis@b045e2b")
class VersionsAreCutAtThreeDigits(Hooked):
    """Version 1000 is smaller than version 999, since versions are padded to three digits.

    At home in savers that make versions of their own.
    """

    def get_next_version(self, current: Any, channel: None) -> Any:
        head, _, tail = super().get_next_version(current, channel).partition(".")
        return f"{int(head):03}.{tail}"


@faulty("versions", "redis-developer/langgraph-redis@b045e2b")
class VersionsAreSeconds(Hooked):
    """Two versions that are made within one second are equal.

    At home in savers that take the time for the version.
    """

    def get_next_version(self, current: Any, channel: None) -> Any:
        return f"{int(time.time()):032}"


@faulty("versions", "langchain-ai/langgraphjs#1996")
class VersionsCountCalls(Hooked):
    """The next version is a count of calls in this process, whatever the current version is.

    Seen in savers with a counter in memory; after a restart versions go back.
    """

    def get_next_version(self, current: Any, channel: None) -> Any:
        calls = self.memory.setdefault("calls", count(1))
        return f"{next(calls):032}.0"


@faulty("versions", "redis-developer/langgraph-redis@b045e2b")
class VersionsMustBeText(Hooked):
    """The version after an integer or float raises.

    Seen in Redis savers; threads of InMemorySaver's predecessors have integer versions.
    """

    def get_next_version(self, current: Any, channel: None) -> Any:
        if current is not None:
            current.split(".")
        return super().get_next_version(current, channel)


@faulty("versions", "redis-developer/langgraph-redis@b045e2b")
class FirstVersionIsSkipped(Hooked):
    """The first version raises: None is taken for a version.

    At home in savers that add 1 to what they get.
    """

    def get_next_version(self, current: Any, channel: None) -> Any:
        return super().get_next_version(current + type(current)(), channel)


@faulty("versions", "redis-developer/langgraph-redis@b045e2b")
class VersionsStandStill(Hooked):
    """The version after a version is itself, since the fraction alone is made anew, and may be smaller.

    At home in savers that copy InMemorySaver's format and forget its counter.
    """

    def get_next_version(self, current: Any, channel: None) -> Any:
        if not isinstance(current, str):
            return super().get_next_version(current, channel)
        return f"{current.split('.')[0]}.{uuid.uuid4().int % 10**16:016}"


# --- values and the serialiser ---


@faulty("values", "redis-developer/langgraph-redis#87")
class MessagesBecomeDicts(Converting):
    """Messages come back as dicts.

    Seen in Redis savers.
    """

    def convert(self, value: Any) -> Any:
        return value.model_dump() if isinstance(value, BaseMessage) else value


@faulty("values", "redis-developer/langgraph-redis#87")
class MessagesLoseExtraFields(Converting):
    """Messages come back without additional_kwargs and response_metadata.

    At home in savers with a table of messages.
    """

    def convert(self, value: Any) -> Any:
        if not isinstance(value, BaseMessage):
            return value
        return value.model_copy(update={"additional_kwargs": {}, "response_metadata": {}})


@faulty("values", "redis-developer/langgraph-redis#87")
class MessagesLoseTheirIds(Converting):
    """Messages come back without their ids, so the engine adds them again instead of replacing them.

    At home in savers with a table of messages.
    """

    def convert(self, value: Any) -> Any:
        return value.model_copy(update={"id": None}) if isinstance(value, BaseMessage) else value


@faulty("values", "redis-developer/langgraph-redis#198")
class NestedBytesBecomeText(Converting):
    """bytes inside of dicts and lists come back as str; at the top they stay.

    At home in savers that keep bytes in a column of their own and all else as JSON.
    """

    def convert(self, value: Any) -> Any:
        if type(value) is dict:
            return {key: self._text(member) for key, member in value.items()}
        return [self._text(member) for member in value] if type(value) is list else value

    def _text(self, value: Any) -> Any:
        return value.decode("latin-1") if isinstance(value, bytes) else value


@faulty("values", "langchain-ai/langgraph#8185")
class DatetimesLoseTheirZone(Converting):
    """Times with a zone come back without one.

    Seen in MongoDB savers.
    """

    def convert(self, value: Any) -> Any:
        return value.replace(tzinfo=None) if isinstance(value, datetime) else value


@faulty("values", "langchain-ai/langgraph#8185")
class DatetimesLoseMicroseconds(Converting):
    """Times come back cut to milliseconds.

    At home in MongoDB savers.
    """

    def convert(self, value: Any) -> Any:
        return value.replace(microsecond=value.microsecond // 1000 * 1000) if isinstance(value, datetime) else value


@faulty("values", "langchain-ai/langgraph#8185")
class DatesBecomeDatetimes(Converting):
    """A date comes back as a time at midnight.

    At home in BSON.
    """

    def convert(self, value: Any) -> Any:
        return datetime(value.year, value.month, value.day) if type(value) is date else value


@faulty("values", "langchain-ai/langgraph#8185")
class DecimalsBecomeFloats(Converting):
    """A Decimal comes back as a float.

    At home in JSON.
    """

    def convert(self, value: Any) -> Any:
        return float(value) if isinstance(value, decimal.Decimal) else value


@faulty("values", "langchain-ai/langgraph#8185")
class UuidsBecomeText(Converting):
    """A UUID comes back as text.

    At home in JSON with `default=str`.
    """

    def convert(self, value: Any) -> Any:
        return str(value) if isinstance(value, uuid.UUID) else value


@faulty("values", "langchain-ai/langgraph#8185")
class EnumsBecomeTheirValues(Converting):
    """A member of an Enum comes back as its value.

    At home in JSON.
    """

    def convert(self, value: Any) -> Any:
        return value.value if isinstance(value, Enum) else value


@faulty("values", "redis-developer/langgraph-redis#198")
class SetsBecomeLists(Converting):
    """A set comes back as a list.

    At home in JSON and BSON.
    """

    def convert(self, value: Any) -> Any:
        return list(value) if isinstance(value, (set, frozenset)) else value


@faulty("values", "redis-developer/langgraph-redis#198")
class DataclassesBecomeDicts(Converting):
    """A dataclass comes back as a dict.

    At home in JSON.
    """

    def convert(self, value: Any) -> Any:
        # The engine's own packets are another fault.
        if isinstance(value, (Send, Interrupt, type)) or not dataclasses.is_dataclass(value):
            return value
        return dataclasses.asdict(cast(Any, value))


@faulty("values", "redis-developer/langgraph-redis#198")
class PydanticModelsBecomeDicts(Converting):
    """A pydantic model comes back as a dict.

    At home in JSON.
    """

    def convert(self, value: Any) -> Any:
        model = hasattr(value, "model_dump") and not isinstance(value, (BaseMessage, type))
        return value.model_dump() if model else value


@faulty("values", "redis-developer/langgraph-redis#57")
class BytearraysBecomeBytes(Converting):
    """A bytearray comes back as bytes.

    At home in BLOB columns.
    """

    def convert(self, value: Any) -> Any:
        return bytes(value) if isinstance(value, bytearray) else value


@faulty("values")
class IntegerKeysBecomeText(Converting):
    """The dict {1: "a"} comes back as {"1": "a"}.

    At home in JSON.
    """

    def convert(self, value: Any) -> Any:
        if type(value) is not dict:
            return value
        return {str(key) if type(key) is int else key: member for key, member in value.items()}


@faulty("values")
class WholeFloatsBecomeIntegers(Converting):
    """1.0 comes back as 1.

    At home in DynamoDB, whose numbers are decimals, and in Lua.
    """

    def convert(self, value: Any) -> Any:
        return int(value) if type(value) is float and value.is_integer() else value


@faulty("values")
class LongIntegersLoseDigits(Converting):
    """Integers beyond 2**53 come back rounded.

    At home in backends whose JSON numbers are doubles.
    """

    def convert(self, value: Any) -> Any:
        return int(float(value)) if type(value) is int and abs(value) > 2**53 else value


@faulty("values", "langchain-ai/langgraph#8689")
class NansBecomeNone(Converting):
    """NaN and the infinities come back as None.

    At home in JSON as databases have it.
    """

    def convert(self, value: Any) -> Any:
        return None if isinstance(value, float) and not math.isfinite(value) else value


@faulty("values")
class BoolsBecomeIntegers(Converting):
    """True comes back as 1.

    At home in SQLite and MySQL columns.
    """

    def convert(self, value: Any) -> Any:
        return int(value) if isinstance(value, bool) else value


@faulty("values")
class EmptyTextBecomesNone(Converting):
    """The empty text comes back as None.

    At home in Oracle, which has no empty text.
    """

    def convert(self, value: Any) -> Any:
        return None if value == "" and isinstance(value, str) else value


@faulty("values")
class TextIsNormalised(Converting):
    """Text comes back in Unicode's composed form.

    At home in backends and drivers that normalise.
    """

    def convert(self, value: Any) -> Any:
        return unicodedata.normalize("NFC", value) if isinstance(value, str) else value


@faulty("values")
class TextBeyondThreeBytesIsReplaced(Converting):
    """Emoji come back as question marks.

    At home in MySQL's three-byte `utf8`.
    """

    def convert(self, value: Any) -> Any:
        return re.sub("[\U00010000-\U0010ffff]", "?", value) if isinstance(value, str) else value


@faulty("values")
class LinesLoseTheirCarriageReturns(Converting):
    """A carriage return before a line feed is lost.

    At home in file savers in text mode.
    """

    def convert(self, value: Any) -> Any:
        return value.replace("\r\n", "\n") if isinstance(value, str) else value


@faulty("values")
class TextLosesOuterSpaces(Converting):
    """Spaces at the end of a text are lost.

    At home in CHAR columns.
    """

    def convert(self, value: Any) -> Any:
        return value.rstrip(" ") if isinstance(value, str) else value


@faulty("values")
class KeysOfDictsAreSorted(Converting):
    """The keys of a dict come back sorted instead of in their order.

    At home in PostgreSQL's JSONB and in DynamoDB.
    """

    def convert(self, value: Any) -> Any:
        return {key: value[key] for key in sorted(value, key=str)} if type(value) is dict else value


@faulty("values", "redis-developer/langgraph-redis#57")
class BytesInWritesBecomeText(Converting):
    """bytes in pending writes come back as str; in channels they stay.

    At home in savers whose table of writes has a text column.
    """

    channels = False

    def convert(self, value: Any) -> Any:
        return value.decode("latin-1") if isinstance(value, bytes) else value


@faulty("values", "redis-developer/langgraph-redis#87")
class ListedSetsAreLists(Hooked):
    """A set comes back as a list from `list`; from `get_tuple` as a set.

    At home in savers whose list goes by way of an index document.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        def plain(value: Any) -> Any:
            return list(value) if isinstance(value, (set, frozenset)) else value

        for each in found:
            values = each.checkpoint["channel_values"]
            yield with_values(each, {ch: converted(value, plain) for ch, value in values.items()})


class Split:
    """A serialiser that keeps some objects from another one and marks them, so that it can read them again.

    Args:
        given: the serialiser that the saver was given.
        mine: whether an object is kept from it.
    """

    own: ClassVar[SerializerProtocol] = JsonPlusSerializer()

    def __init__(self, given: SerializerProtocol, mine: Callable[[Any], bool]) -> None:
        self.given, self.mine = given, mine

    def dumps_typed(self, obj: Any) -> Typed:
        if not self.mine(obj):
            return self.given.dumps_typed(obj)
        tag, data = self.own.dumps_typed(obj)
        return f"own {tag}", data

    def loads_typed(self, data: Typed) -> Any:
        tag, own = data[0].removeprefix("own "), data[0].startswith("own ")
        return self.own.loads_typed((tag, data[1])) if own else self.given.loads_typed(data)


class OwnSerialiser(Hooked):
    """Some data goes through a serialiser of the saver's own, whatever `serde` it was given."""

    def split(self, mine: Callable[[Any], bool] = lambda obj: False) -> ReferenceSaver:
        clone = as_class(self, ReferenceSaver)
        clone.serde = Split(self.serde, mine)
        return clone

    def _tuple(self, row: _Row) -> CheckpointTuple:
        return self.split()._tuple(row)

    def get_delta_channel_history(self, *, config: RunnableConfig, channels: Sequence[str]) -> History:
        return self.split().get_delta_channel_history(config=config, channels=channels)

    def _delta_channels(self, thread_id: str, ns: str) -> set[str]:
        return self.split()._delta_channels(thread_id, ns)


@faulty("serde", "langchain-ai/langgraph#1699")
class WritesIgnoreTheSerialiser(OwnSerialiser):
    """Pending writes go through the default serialiser, not the one that the saver was given.

    Seen in savers that were given an encrypting serialiser and stored writes in clear.
    """

    def put_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        self.split(lambda obj: True).put_writes(config, writes, task_id, task_path)


@faulty("serde", "langchain-ai/langgraph#1699")
class ValuesIgnoreTheSerialiser(OwnSerialiser):
    """Channel values go through the default serialiser, not the one that the saver was given.

    Seen in savers that were given an encrypting serialiser and stored values in clear.
    """

    def storing(self, call: Put) -> RunnableConfig:
        values = list(call.checkpoint["channel_values"].values())
        return self.split(lambda obj: any(obj is value for value in values)).put(*call)


@faulty("serde", "langchain-ai/langgraph#1699, langchain-ai/langgraph#8116")
class PlainValuesIgnoreTheSerialiser(OwnSerialiser):
    """Text and numbers in channels are stored as they are; only other values go through the saver's serialiser.

    Seen in SQL savers that keep plain values inline; with an encrypting serialiser they are stored in clear.
    """

    def storing(self, call: Put) -> RunnableConfig:
        return self.split(lambda obj: isinstance(obj, (str, int, float))).put(*call)


@faulty("serde")
class TypeTagsAreLost(Hooked):
    """The serialiser's type tag is not stored: whatever is read is taken for msgpack.

    At home in savers with one column for the bytes; a serialiser with tags of its own cannot read its data.
    """

    def _tuple(self, row: _Row) -> CheckpointTuple:
        def untagged(blob: Typed) -> Typed:
            # These tags differ from msgpack's in what the bytes mean; the default serialiser's cannot be mistaken.
            return blob if blob[0] in ("msgpack", "null", "bytes", "bytearray") else ("msgpack", blob[1])

        blobs = {ch: untagged(blob) for ch, blob in row.blobs.items()}
        return super()._tuple(row._replace(blobs=blobs))


@faulty("serde")
class SerialiserIsTheFirstOne(Hooked):
    """A serialiser that is set later, as `with_allowlist` does on a clone, is ignored.

    At home in savers that hand their serialiser to a helper object when they are made.
    """

    def __init__(self, *, serde: SerializerProtocol | None = None) -> None:
        super().__init__(serde=serde)
        self.first = self.serde

    def _tuple(self, row: _Row) -> CheckpointTuple:
        clone = copy.copy(self)
        clone.serde = self.first
        return ReferenceSaver._tuple(clone, row)


@faulty("serde")
class CloneHasNoStorage(Hooked):
    """A clone, such as `with_allowlist` gives, begins with an empty storage.

    At home in savers that make a new connection or new dicts when they are copied.
    """

    def __copy__(self) -> CloneHasNoStorage:
        return type(self)(serde=self.serde)


@faulty("serde")
class AllowlistChangesTheSaver(Hooked):
    """`with_allowlist` changes the saver itself instead of giving a clone.

    At home in savers that cannot be copied.
    """

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> AllowlistChangesTheSaver:
        self.serde = super().with_allowlist(extra_allowlist).serde
        return self


@faulty("serde")
class SaverCannotBeCopied(Hooked):
    """`copy.copy` of the saver, and so `with_allowlist`, raises.

    At home in savers whose attributes are slots or locks that are pickled.
    """

    def __copy__(self) -> SaverCannotBeCopied:
        raise TypeError("cannot pickle '_thread.RLock' object")


# --- one drive only ---


class _RawMessages(Converting):
    def convert(self, value: Any) -> Any:
        return value.model_dump() if isinstance(value, BaseMessage) else value


@faulty("parity", "redis-developer/langgraph-redis#87")
class AsyncReadsGiveRawMessages(AsyncOnly):
    """The async reads give messages as dicts, the sync ones as messages.

    Seen in Redis savers.
    """

    twin = _RawMessages


class _ForgetsParent(Hooked):
    def putting(self, call: Put) -> Put:
        return call._replace(config=without(call.config, "checkpoint_id"))


@faulty("parity", "BetterDB-inc/monitor#117")
class AputForgetsTheParent(AsyncOnly):
    """`aput` stores no parent.

    At home in savers with two hand-written paths.
    """

    twin = _ForgetsParent


class _IgnoresFilter(Hooked):
    def asking(self, query: Query) -> Query:
        return query._replace(filter=None)


@faulty("parity", "langchain-ai/langgraphjs#2504")
class AlistIgnoresTheFilter(AsyncOnly):
    """`alist` ignores the filter.

    Seen in Redis savers.
    """

    twin = _IgnoresFilter


@faulty("parity", "cloudflare/langchain-cloudflare#50")
class AlistIgnoresBefore(AsyncOnly):
    """`alist` ignores `before`.

    At home in savers with two hand-written paths.
    """

    twin = BeforeIsIgnored


@faulty("parity", "langchain-ai/langgraph#2399")
class AsyncRepeatedWritesReplaceTheFirst(AsyncOnly):
    """A task's repeated writes replace its first ones in `aput_writes`, and not in `put_writes`.

    At home in savers with two hand-written paths.
    """

    twin = RepeatedWritesReplaceTheFirst


class _NoWritesInGet(Hooked):
    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found = super().get_tuple(config)
        return found._replace(pending_writes=[]) if found else None


@faulty("parity", "skamalj/langgraph_checkpoint_firestore#9")
class AgetTupleWithoutWrites(AsyncOnly):
    """`aget_tuple` gives no pending writes.

    Seen in Firestore savers.
    """

    twin = _NoWritesInGet


@faulty("parity", "aaronsu11/langgraph-checkpoint-dynamodb#9")
class AputWritesTakesNoTaskPath(Hooked):
    """`aput_writes` takes no `task_path`, while `put_writes` does.

    Seen in savers that added it to one path.
    """

    async def aput_writes(self, config: RunnableConfig, writes: Writes, task_id: str) -> None:  # type: ignore[override]
        self.put_writes(config, writes, task_id)


@faulty("parity", "skamalj/langgraph_checkpoint_firestore#4")
class AlistNamesItsFilterOtherwise(Hooked):
    """`alist` calls its filter `filters`, so the keyword of the base class raises.

    Seen in Firestore and DynamoDB savers.
    """

    async def alist(  # type: ignore[override]
        self,
        config: RunnableConfig | None,
        *,
        filters: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        for found in self.list(config, filter=filters, before=before, limit=limit):
            yield found


@faulty("parity", "skamalj/langgraph_checkpoint_firestore#4")
class AlistMustBeAwaited(Hooked):
    """`alist` is a coroutine that gives a list, not an async iterator.

    At home in savers that run the sync list in a thread.
    """

    async def alist(  # type: ignore[override]
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Sequence[CheckpointTuple]:
        return [*self.list(config, filter=filter, before=before, limit=limit)]


@faulty("parity", "BetterDB-inc/monitor#117")
class AputReturnsNothing(Hooked):
    """`aput` returns None.

    At home in savers that forget to return what they awaited.
    """

    async def aput(  # type: ignore[override]
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> None:
        self.put(config, checkpoint, metadata, new_versions)


@faulty("parity", "langchain-ai/langgraph#8722")
class AsyncMethodsHaveAStoreOfTheirOwn(OtherPath):
    """What is put with `put` is found with `get_tuple` and not with `aget_tuple`, and the reverse.

    At home in savers with a sync and an async client whose prefixes differ.
    """

    def __init__(self, *, serde: SerializerProtocol | None = None) -> None:
        super().__init__(serde=serde)
        self.other = Hooked(serde=serde)

    def as_twin(self) -> ReferenceSaver:
        clone = copy.copy(self.other)
        clone.serde = self.serde
        return clone

    aget_tuple = AsyncOnly.aget_tuple
    alist = AsyncOnly.alist
    aput = AsyncOnly.aput
    aput_writes = AsyncOnly.aput_writes
    aget_delta_channel_history = AsyncOnly.aget_delta_channel_history
    adelete_thread = AsyncOnly.adelete_thread
    adelete_for_runs = AsyncOnly.adelete_for_runs
    acopy_thread = AsyncOnly.acopy_thread
    aprune = AsyncOnly.aprune


@faulty("parity", "redis-developer/langgraph-redis#51")
class AdeleteThreadDoesNothing(Hooked):
    """`adelete_thread` deletes nothing.

    At home in savers that forget to await.
    """

    async def adelete_thread(self, thread_id: str) -> None:
        return None


@faulty("parity", "langchain-ai/langgraph#8722")
class AdeleteThreadIsNotImplemented(Hooked):
    """`adelete_thread` raises NotImplementedError, while `delete_thread` works.

    Seen in Redis and MongoDB savers.
    """

    async def adelete_thread(self, thread_id: str) -> None:
        raise NotImplementedError


@faulty("parity", "redis-developer/langgraph-redis#51")
class DeleteThreadDoesNothingInSync(SyncOnly):
    """`delete_thread` deletes nothing, while `adelete_thread` does.

    At home in async savers.
    """

    def delete_thread(self, thread_id: str) -> None:
        return None


@faulty("parity", "langchain-ai/langgraph#8722")
class SyncListIgnoresTheLimit(SyncOnly):
    """`list` ignores the limit, while `alist` does not.

    At home in async savers that collect the async iterator for the sync one.
    """

    def asking(self, query: Query) -> Query:
        return query._replace(limit=None)


@faulty("parity")
class AcopyThreadDoesNothing(Hooked):
    """`acopy_thread` copies nothing.

    At home in savers that forget to await.
    """

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        return None


@faulty("parity")
class AdeleteForRunsDoesNothing(Hooked):
    """`adelete_for_runs` deletes nothing.

    At home in savers that forget to await.
    """

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        return None


@faulty("parity")
class ApruneTakesNoStrategy(Hooked):
    """`aprune` ignores its strategy and keeps the latest.

    At home in savers with two hand-written paths.
    """

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        self.prune(thread_ids)


@faulty("parity")
class AputWritesReturnsBeforeItStored(Hooked):
    """`aput_writes` returns before the writes are stored.

    At home in savers that start a task and do not await it.
    """

    async def aput_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        later = asyncio.get_running_loop().call_later
        later(0.01, lambda: self.put_writes(config, writes, task_id, task_path))


@faulty("parity")
class AputReturnsBeforeItStored(Hooked):
    """`aput` returns before the checkpoint is stored.

    At home in savers that start a task and do not await it.
    """

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        later = asyncio.get_running_loop().call_later
        later(0.01, lambda: self.put(config, checkpoint, metadata, new_versions))
        return _config(*row_of(config, checkpoint["id"]))


# --- concurrency ---


@faulty("concurrency", "langchain-ai/langgraph#8796")
class ConcurrentPutsLoseACheckpoint(Hooked):
    """Of two checkpoints that are put into a namespace at the same time one is lost.

    At home in savers that read a thread's document, change it and write it back.
    """

    def storing(self, call: Put) -> RunnableConfig:
        thread_id, ns = place_of(call.config)
        before = {*self._ids.get((thread_id, ns), ()), call.checkpoint["id"]}
        time.sleep(0.002)
        with self._lock:
            returned = super().storing(call)
            # What was put while this call was under way is not in what it writes back.
            if lost := set(self._ids[thread_id, ns]) - before:
                self._remove(thread_id, ns, lost)
        return returned


@faulty("concurrency")
class ConcurrentBatchesLoseWrites(Hooked):
    """Of the writes that two tasks store at the same time those of one are lost.

    At home in savers that keep the writes of a checkpoint in one document.
    """

    def put_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        key = row_of(config)
        before = set(self.writes.get(key, {}))
        time.sleep(0.002)
        with self._lock:
            super().put_writes(config, writes, task_id, task_path)
            rows = self.writes.get(key, {})
            for lost in [each for each in rows if each not in before and each[0] != task_id]:
                del rows[lost]


@faulty("concurrency")
class ConcurrentAsyncBatchesLoseWrites(Hooked):
    """Of the writes that two tasks store at the same time with `aput_writes` those of one are lost.

    At home in async savers that keep the writes of a checkpoint in one document.
    """

    async def aput_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        key = row_of(config)
        before = set(self.writes.get(key, {}))
        await asyncio.sleep(0)
        self.put_writes(config, writes, task_id, task_path)
        rows = self.writes.get(key, {})
        for lost in [each for each in rows if each not in before and each[0] != task_id]:
            del rows[lost]


@faulty("concurrency")
class ConcurrentReadsSwapThreads(Hooked):
    """Of two reads at the same time in two threads one gets the checkpoint of the other.

    At home in savers that keep the query in an attribute; one user reads another's state.
    """

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        self.memory["query"] = config
        time.sleep(0.001)
        return super().get_tuple(self.memory["query"])


@faulty("concurrency")
class ConcurrentAsyncReadsSwapThreads(Hooked):
    """Of two `aget_tuple` calls at the same time one gets the checkpoint of the other.

    At home in savers that keep the query in an attribute; one user reads another's state.
    """

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        self.memory["query"] = config
        await asyncio.sleep(0)
        return self.get_tuple(self.memory["query"])


class _TornPut(Hooked):
    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        for value in checkpoint["channel_values"].values():
            self.serde.dumps_typed(value)
        self.put(config, edited(checkpoint, channel_values={}), metadata, new_versions)
        await asyncio.sleep(0)
        return self.put(config, checkpoint, metadata, new_versions)


@faulty("concurrency", "redis-developer/langgraph-redis@57d031d")
class CancelledAputLeavesHalfACheckpoint(AsyncOnly):
    """An `aput` that is cancelled midway leaves a checkpoint without its values.

    Seen in Redis savers, whose put was a sequence of commands.
    """

    twin = _TornPut


@faulty("concurrency", "redis-developer/langgraph-redis@57d031d")
class CancelledBatchIsHalfStored(Hooked):
    """An `aput_writes` that is cancelled midway leaves the first write of its batch.

    At home in savers that insert write by write.
    """

    async def aput_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        for _, value in writes:
            self.serde.dumps_typed(value)
        self.put_writes(config, writes[:1], task_id, task_path)
        await asyncio.sleep(0)
        self.put_writes(config, writes, task_id, task_path)


@faulty("concurrency", "langchain-ai/langgraph#5503")
class CancelledAputLocksTheSaver(Hooked):
    """After an `aput` was cancelled every later `aput` hangs.

    At home in savers that release a lock without `finally`.
    """

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        gate: asyncio.Lock = self.memory.setdefault(asyncio.get_running_loop(), asyncio.Lock())
        await gate.acquire()
        try:
            await asyncio.sleep(0)
        except Exception:
            gate.release()
            raise
        try:
            return self.put(config, checkpoint, metadata, new_versions)
        finally:
            gate.release()


@faulty("concurrency", "langchain-ai/langchain-aws#754")
class AlistBlocksTheLoop(Hooked):
    """`alist` over 100 checkpoints or more blocks the event loop for a second.

    Seen in AWS savers, whose client is synchronous.
    """

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        found = [*self.list(config, filter=filter, before=before, limit=limit)]
        if len(found) >= 100:
            time.sleep(1)
        for each in found:
            yield each


@faulty("concurrency", "langchain-ai/langgraph#8722")
class OnlyTheMakersThreadMayCall(Hooked):
    """Calls from another thread than the one in which the saver was made raise.

    At home in SQLite savers with the driver's default; the engine puts from threads of its own.
    """

    def __init__(self, *, serde: SerializerProtocol | None = None) -> None:
        super().__init__(serde=serde)
        self.maker = threading.get_ident()

    @contextmanager
    def around(self, method: str) -> Iterator[None]:
        if threading.get_ident() != self.maker:
            raise sqlite3.ProgrammingError("SQLite objects created in a thread can only be used in that same thread")
        yield


@faulty("concurrency")
class ListOfAllThreadsHangs(Hooked):
    """`list(None)` never returns.

    At home in savers that scan with a cursor which they do not advance.
    """

    def asking(self, query: Query) -> Query:
        if not query.config:
            hang()
        return query


@faulty("concurrency")
class CopyThreadHangs(Hooked):
    """`copy_thread` never returns when there is something to copy.

    At home in savers that take a lock twice.
    """

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        if source_thread_id in self.storage and source_thread_id != target_thread_id:
            hang()
        super().copy_thread(source_thread_id, target_thread_id)


@faulty("concurrency")
class AgetTupleOfAnUnknownThreadHangs(Hooked):
    """`aget_tuple` of a thread that does not exist never returns.

    At home in savers that wait for the row to come.
    """

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found = self.get_tuple(config)
        if found is None and config["configurable"]["thread_id"] not in self.storage:
            await asyncio.Event().wait()
        return found


@faulty("concurrency")
class ParallelAsyncPutsHang(Hooked):
    """Two `aput` calls at the same time wait for one another.

    At home in savers with a pool of one connection of which each call takes two.
    """

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        self.memory["busy"] = self.memory.get("busy", 0) + 1
        try:
            await asyncio.sleep(0)
            if self.memory["busy"] > 1:
                await asyncio.Event().wait()
            return self.put(config, checkpoint, metadata, new_versions)
        finally:
            self.memory["busy"] -= 1


# --- lifecycle ---


@faulty("lifecycle", "langchain-ai/langgraph#6367")
class CloseRaises(Hooked):
    """Leaving the context raises.

    At home in savers that close what is closed already.
    """

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        super().__exit__(exc_type, exc, traceback)
        raise RuntimeError("the connection is closed")


@faulty("lifecycle")
class CloseSwallowsErrors(Hooked):
    """An error inside the saver's context is swallowed.

    At home in savers whose exit returns something true.
    """

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        super().__exit__(exc_type, exc, traceback)
        return True


@faulty("lifecycle", "langchain-ai/langgraph#6367")
class CloseLeavesAThread(Hooked):
    """A thread of the saver goes on after its context was left.

    Seen in savers with a sweeper.
    """

    def __enter__(self) -> ReferenceSaver:
        threading.Thread(target=threading.Event().wait, args=(HANG,), name="saver-sweeper", daemon=True).start()
        return super().__enter__()


@faulty("lifecycle", "langchain-ai/langgraph#6367")
class CloseLeavesATask(Hooked):
    """A task of the saver goes on after its async context was left.

    Seen in savers with a background flusher.
    """

    async def __aenter__(self) -> ReferenceSaver:
        self.memory["flusher"] = asyncio.get_running_loop().create_task(asyncio.sleep(HANG), name="saver-flusher")
        return self.__enter__()


# --- durability: providers, whose storage is opened again ---


class Disk:
    """A provider over one storage that outlives the savers on it; as it stands, it has no fault."""

    saver: ClassVar[type[ReferenceSaver]] = Hooked
    survives: ClassVar[Collection[str]] = ("storage", "writes", "blobs", "_ids")

    def __init__(self) -> None:
        self.last: ReferenceSaver | None = None

    def open(self) -> ReferenceSaver:
        """A saver over a new storage."""
        self.last = self.saver()
        return self.last

    def reopen(self) -> ReferenceSaver:
        """A new saver over the storage of the last one."""
        opened = self.saver()
        for table in self.survives:
            setattr(opened, table, getattr(self.last, table))
        self.last = opened
        return opened


@faulty("durability", "langchain-ai/langgraph#3762")
class CheckpointsAreNotCommitted(Disk):
    """Checkpoints are seen by the saver that put them and lost when it is gone.

    Seen in SQL savers that do not commit.
    """

    survives = ("writes",)


@faulty("durability", "langchain-ai/langgraph#3762")
class WritesAreNotCommitted(Disk):
    """Pending writes are seen by the saver that stored them and lost when it is gone.

    Seen in async SQLite savers.
    """

    survives = ("storage", "blobs", "_ids")


@faulty("durability", "langchain-ai/langgraph#8039")
class ValuesAreNotCommitted(Disk):
    """Channel values are lost when the saver is gone, while the checkpoints stay.

    At home in savers that keep large values in another place.
    """

    survives = ("storage", "writes", "_ids")


class _ForgetsDeletes(Hooked):
    def delete_thread(self, thread_id: str) -> None:
        tables = ("storage", "writes", "blobs", "_ids")
        self.memory["deleted"] = copy.deepcopy({table: getattr(self, table) for table in tables})
        super().delete_thread(thread_id)


@faulty("durability", "langchain-ai/langgraph#3762")
class DeletesAreNotCommitted(Disk):
    """A deleted thread is back when the storage is opened again.

    At home in SQL savers that commit after put only.
    """

    saver = _ForgetsDeletes

    def reopen(self) -> ReferenceSaver:
        old = cast(_ForgetsDeletes, self.last).memory.get("deleted", {})
        opened = super().reopen()
        for table, rows in old.items():
            for key, row in rows.items():
                getattr(opened, table).setdefault(key, row)
        return opened


class _NeedsFlags(Hooked):
    def writing(self, call: Batch) -> Batch:
        self.memory[row_of(call.config)] = "has writes"
        return call

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(source_thread_id, target_thread_id)
        copied = [key for key in self.memory if key[0] == source_thread_id]
        self.memory.update({(target_thread_id, *key[1:]): "has writes" for key in copied})

    def _writes_of(self, thread_id: str, ns: str, checkpoint_id: str) -> StoredWrites:
        flagged = (thread_id, ns, checkpoint_id) in self.memory
        return super()._writes_of(thread_id, ns, checkpoint_id) if flagged else []


@faulty("durability", "langchain-ai/langgraphjs#1996")
class WritesNeedAFlagInMemory(Disk):
    """Writes are read only for checkpoints that this instance knows to have some.

    Seen in Redis savers, whose flags were kept in the process.
    """

    saver = _NeedsFlags


class _NeedsLatest(Hooked):
    def putting(self, call: Put) -> Put:
        self.memory[place_of(call.config)] = "known"
        return call

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(source_thread_id, target_thread_id)
        copied = [key for key in self.memory if key[0] == source_thread_id]
        self.memory.update({(target_thread_id, key[1]): "known" for key in copied})

    def _latest(self, thread_id: str, ns: str) -> str | None:
        rows = self.storage.get(thread_id, {}).get(ns, {})
        known = self.memory.get((thread_id, ns))
        if known is None and rows:
            return next(iter(rows))
        return super()._latest(thread_id, ns)


@faulty("durability", "langchain-ai/langgraphjs#1996")
class LatestIsInMemory(Disk):
    """A saver that is opened anew takes the first checkpoint of a thread for the latest.

    At home in savers that keep the pointer to the latest in the process.
    """

    saver = _NeedsLatest


class _LiveTypes(Hooked):
    def putting(self, call: Put) -> Put:
        self.memory["typed"] = True
        return call

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        if self.memory.get("typed"):
            return found

        def plain(value: Any) -> Any:
            return list(value) if isinstance(value, (set, frozenset)) else value

        values = found.checkpoint["channel_values"]
        return with_values(found, {ch: converted(value, plain) for ch, value in values.items()})


@faulty("durability", "langchain-ai/langgraphjs#1996")
class TypesAreInMemory(Disk):
    """Sets come back as lists from a saver that is opened anew.

    At home in savers that register types when they first write them.
    """

    saver = _LiveTypes


@faulty("durability")
class OpeningEmptiesTheStorage(Disk):
    """Opening a storage empties it.

    At home in savers whose setup drops and creates tables.
    """

    survives = ()


class _CommitsLate(Hooked):
    def storing(self, call: Put) -> RunnableConfig:
        tables = ("storage", "writes", "blobs", "_ids")
        self.memory["committed"] = copy.deepcopy({table: getattr(self, table) for table in tables})
        return super().storing(call)


@faulty("durability", "langchain-ai/langgraph#3762")
class LastCheckpointIsNotCommitted(Disk):
    """The last checkpoint is lost when its saver is gone: each put commits the one before.

    At home in savers that batch.
    """

    saver = _CommitsLate

    def reopen(self) -> ReferenceSaver:
        committed = cast(_CommitsLate, self.last).memory.get("committed", {})
        opened = super().reopen()
        for table, rows in committed.items():
            setattr(opened, table, rows)
        return opened


# --- what the engine and its callers look at before they call


@faulty("engine")
class IsFalseWhileEmpty(Hooked):
    """The saver has a length, so it is false while it holds nothing.

    At home in savers that present themselves as collections.
    """

    def __len__(self) -> int:
        return len(self.storage)


@faulty("engine")
class EqualsAnything(Hooked):
    """The saver equals None, True and False.

    At home in savers that compare by a connection that both sides lack.
    """

    __hash__ = Hooked.__hash__

    def __eq__(self, other: object) -> bool:
        return True


@faulty("engine")
class ConfigSpecsAreNone(Hooked):
    """`config_specs` is None.

    At home in savers that override it for their own settings.
    """

    @property
    def config_specs(self) -> Any:
        return None


@faulty("put_writes")
class PutWritesReturnsTheConfig(Hooked):
    """`put_writes` returns a config, as `put` does.

    At home in savers whose methods share a decorator.
    """

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> Any:
        super().put_writes(config, writes, task_id, task_path)
        return config


@faulty("put_writes")
class WritesAreAppliedToTheCheckpoint(Hooked):
    """A pending write shows as the channel's value at once.

    At home in savers that keep one state document for each thread.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        values = found.checkpoint["channel_values"]
        values.update({channel: value for _, channel, value in found.pending_writes or [] if channel in values})
        return found


@faulty("parity")
class SyncHalfReadsOnly(Hooked):
    """The sync half lists, but neither puts nor gets.

    At home in async savers that have a sync listing for scripts.
    """

    def put(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def get_tuple(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    async def aput(self, *args: Any, **kwargs: Any) -> Any:
        return ReferenceSaver.put(self, *args, **kwargs)

    async def aget_tuple(self, *args: Any, **kwargs: Any) -> Any:
        return ReferenceSaver.get_tuple(self, *args, **kwargs)


@faulty("parity")
class MissingHalfRaisesItsOwnError(Hooked):
    """The sync half is missing, but says so with an error of its own.

    At home in async savers that want to be helpful.
    """

    def put(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def get_tuple(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def list(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("use the async methods")

    async def aput(self, *args: Any, **kwargs: Any) -> Any:
        return ReferenceSaver.put(self, *args, **kwargs)

    async def aget_tuple(self, *args: Any, **kwargs: Any) -> Any:
        return ReferenceSaver.get_tuple(self, *args, **kwargs)

    async def alist(self, *args: Any, **kwargs: Any) -> Any:
        for found in ReferenceSaver.list(self, *args, **kwargs):
            yield found


@faulty("lifecycle")
class ClosingFails(Hooked):
    """Leaving the context manager raises.

    At home in savers that close a connection twice.
    """

    def __exit__(self, *args: Any) -> None:
        raise RuntimeError("the connection is closed")


@faulty("versions")
class FirstVersionsAreOfAnotherType(Hooked):
    """The first version is a float, and all later ones are texts.

    At home in savers that were moved from numbers to texts.
    """

    def get_next_version(self, current: Any, channel: Any) -> Any:
        return 0.5 if current is None else super().get_next_version(int(float(str(current)[:32])), channel)


@faulty("versions")
class NextVersionIsACoroutine(Hooked):
    """`get_next_version` is a coroutine function.

    At home in async savers that count versions in the database.
    """

    async def get_next_version(self, current: Any, channel: Any) -> Any:  # type: ignore[override]
        return super().get_next_version(current, channel)


@faulty("versions")
class FirstVersionIsNull(Hooked):
    """Versions are integers that begin at 0, which is the null version.

    At home in savers that count from zero.
    """

    def get_next_version(self, current: Any, channel: Any) -> Any:
        return 0 if current is None else int(current) + 1


# --- faults of strangers: kinds that were thought of without looking at the rules ---


def without_falsy(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a mapping whose values are true."""
    return {key: value for key, value in mapping.items() if value}


@faulty("list")
class FalsyFilterValuesAreIgnored(Hooked):
    """A filter value that is false (0, "", False, None) does not count: everything else in the filter does.

    At home in savers that build their query with `if value`.
    """

    def asking(self, query: Query) -> Query:
        return query._replace(filter=without_falsy(query.filter or {}))


@faulty("list")
class NegativeFilterValuesNegate(Hooked):
    """A filter for step -1 lists all checkpoints but those of step 1.

    At home in savers over a search engine, whose queries take a minus for a negation.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        negative = {
            key: value
            for key, value in (query.filter or {}).items()
            if isinstance(value, int) and not isinstance(value, bool) and value < 0
        }
        if not negative:
            return found
        rest = {key: value for key, value in (query.filter or {}).items() if key not in negative}
        wider = self.search(query._replace(filter=rest, limit=None))
        kept = (
            each
            for each in wider
            if all(cast(Any, each.metadata).get(key) != -value for key, value in negative.items())
        )
        return islice(kept, query.limit)


@faulty("list")
class FilterTextIsTokenised(Hooked):
    """A filter for the text `a-b` finds `a b` and `A.B`, too, since texts are compared by their words.

    At home in savers over a full-text index.
    """

    def words(self, value: Any) -> Any:
        return re.findall(r"\w+", value.lower()) if isinstance(value, str) else None

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        texts = {key: self.words(value) for key, value in (query.filter or {}).items() if self.words(value)}
        if not texts:
            return found
        rest = {key: value for key, value in (query.filter or {}).items() if key not in texts}
        wider = self.search(query._replace(filter=rest, limit=None))
        kept = (
            each
            for each in wider
            if all(self.words(cast(Any, each.metadata).get(key)) == w for key, w in texts.items())
        )
        return islice(kept, query.limit)


@faulty("list")
class FilterSeesTheNewestFifty(Hooked):
    """A filtered list looks at the newest 50 checkpoints of a thread only.

    At home in savers that fetch a page and filter it in Python.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        if not query.filter:
            return found
        page = {row_of(each.config) for each in islice(self.search(query._replace(filter=None, limit=None)), 50)}
        return (each for each in found if row_of(each.config) in page)


@faulty("list")
class FilterIsIgnoredWithACheckpointId(Hooked):
    """A list with a checkpoint id in the config ignores the filter.

    At home in savers with a fast path for one id.
    """

    def asking(self, query: Query) -> Query:
        return query._replace(filter=None) if id_of(query.config) else query


@faulty("list")
class BeforeNeedsALimit(Hooked):
    """`before` counts only together with `limit`.

    At home in savers that took both for one feature, paging.
    """

    def asking(self, query: Query) -> Query:
        return query if query.limit is not None else query._replace(before=None)


@faulty("list")
class BeforeBoundsItsOwnThreadOnly(Hooked):
    """`before` with another thread or namespace in its config finds nothing.

    At home in savers that look up the row of `before`.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        before = (query.before or {}).get("configurable", {})
        for each in found:
            own = each.config["configurable"]
            if all(before.get(key, own[key]) == own[key] for key in ("thread_id", "checkpoint_ns")):
                yield each


@faulty("list")
class BeforeComparesTimes(Hooked):
    """`before` bounds by the time of the checkpoint that it names, not by its id.

    At home in savers whose tables are ordered by a timestamp.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        bound = id_of(query.before)
        wider = list(self.search(query._replace(before=None, limit=None)))
        times = [each.checkpoint["ts"] for each in wider if each.checkpoint["id"] == bound]
        if bound is None or not times:
            return found
        return islice((each for each in wider if each.checkpoint["ts"] < times[0]), query.limit)


@faulty("list")
class LimitCountsTheBound(Hooked):
    """With `before`, a limit gives one checkpoint less, since the one that `before` names is counted.

    At home in savers that page with an inclusive range.
    """

    def asking(self, query: Query) -> Query:
        if query.limit and id_of(query.before):
            return query._replace(limit=query.limit - 1)
        return query


@faulty("list")
class ListOfAllThreadsIgnoresTheLimit(Hooked):
    """`list(None, limit=…)` lists everything.

    At home in savers with a path of its own for all threads.
    """

    def asking(self, query: Query) -> Query:
        return query._replace(limit=None) if query.config is None else query


@faulty("list")
class ListOfAllThreadsIgnoresBefore(Hooked):
    """`list(None, before=…)` ignores the bound.

    At home in savers with a path of its own for all threads.
    """

    def asking(self, query: Query) -> Query:
        return query._replace(before=None) if query.config is None else query


@faulty("list")
class NoneNamespaceIsATextInLists(Hooked):
    """Listing with `checkpoint_ns` None lists the namespace called None.

    At home in savers that format their keys.
    """

    def asking(self, query: Query) -> Query:
        configurable = (query.config or {}).get("configurable", {})
        if query.config and "checkpoint_ns" in configurable and configurable["checkpoint_ns"] is None:
            return query._replace(config=changed(query.config, checkpoint_ns="None"))
        return query


@faulty("list")
class ListRepeatsWhatHasSeveralChildren(Hooked):
    """A checkpoint with two children is listed twice.

    At home in SQL savers that join children to find the heads.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        repeated: list[CheckpointTuple] = []
        for each in found:
            thread_id, ns, checkpoint_id = row_of(each.config)
            rows = self.storage[thread_id][ns].values()
            repeated += [each] * max(1, sum(parent == checkpoint_id for _, _, parent in rows))
        return islice(repeated, query.limit)


@faulty("list")
class PagesSkipEqualIds(Hooked):
    """A list over several namespaces gives each checkpoint id once.

    At home in savers that page by the last id seen.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        last = None
        kept = []
        for each in self.search(query._replace(limit=None)):
            if each.checkpoint["id"] != last:
                kept.append(each)
            last = each.checkpoint["id"]
        return islice(kept, query.limit)


@faulty("list")
class PagesRepeatTheirLastItem(Hooked):
    """A list of more than 30 checkpoints repeats every thirtieth.

    At home in savers that fetch pages with an inclusive bound.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        def every() -> Iterator[CheckpointTuple]:
            for number, each in enumerate(found, 1):
                yield each
                if number % 30 == 0:
                    yield each

        return islice(every(), query.limit)


@faulty("list")
class ListIsByStep(Hooked):
    """Checkpoints are listed by their step, the highest first.

    At home in savers that use the step as sort key.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        every = sorted(
            self.search(query._replace(limit=None)), key=lambda each: -(cast(Any, each.metadata).get("step") or 0)
        )
        return islice(every, query.limit)


@faulty("list")
class ListIsByTime(Hooked):
    """Checkpoints are listed by their `ts`, the latest first.

    At home in savers that index the time.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        every = sorted(self.search(query._replace(limit=None)), key=lambda each: each.checkpoint["ts"], reverse=True)
        return islice(every, query.limit)


@faulty("list")
class ListTakesItsFilterApart(Hooked):
    """`list` pops `source` out of the caller's filter.

    At home in savers with a column for the source.
    """

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        source = filter.pop("source", None) if filter else None
        for each in super().list(config, filter=filter, before=before):
            if source is None or each.metadata.get("source") == source:
                if limit is not None and limit <= 0:
                    return
                limit = None if limit is None else limit - 1
                yield each


@faulty("get_tuple")
class LatestIsByStep(Hooked):
    """The latest checkpoint is the one with the highest step, so a fork from an early step is never the latest.

    At home in savers that use the step as sort key.
    """

    def _latest(self, thread_id: str, ns: str) -> str | None:
        rows = self.storage.get(thread_id, {}).get(ns, {})

        def rank(checkpoint_id: str) -> Any:
            return self.serde.loads_typed(rows[checkpoint_id][1]).get("step") or 0, checkpoint_id

        return max(rows, key=rank, default=None)


@faulty("get_tuple")
class LatestIsByTime(Hooked):
    """The latest checkpoint is the one with the latest `ts`, not the one with the greatest id.

    At home in savers that index the time.
    """

    def _latest(self, thread_id: str, ns: str) -> str | None:
        rows = self.storage.get(thread_id, {}).get(ns, {})
        return max(rows, key=lambda id: (self.serde.loads_typed(rows[id][0]).get("ts") or "", id), default=None)


@faulty("get_tuple")
class LatestHasNoChildren(Hooked):
    """The latest checkpoint is the first that is no other's parent, oldest first, so after a fork it is the old branch.

    At home in savers that walk from the root to a leaf.
    """

    def _latest(self, thread_id: str, ns: str) -> str | None:
        rows = self.storage.get(thread_id, {}).get(ns, {})
        parents = {parent for _, _, parent in rows.values()}
        leaves = sorted(id for id in rows if id not in parents)
        return leaves[0] if leaves else None


@faulty("get_tuple")
class GetTupleCompletesTheConfig(Hooked):
    """`get_tuple` writes the id that it found into the caller's config.

    At home in savers that resolve the config in place.
    """

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found = super().get_tuple(config)
        config["configurable"].setdefault("checkpoint_ns", "")
        if found:
            config["configurable"]["checkpoint_id"] = found.checkpoint["id"]
        return found


@faulty("get_tuple")
class OlderCheckpointsHaveNoWrites(Hooked):
    """Only the latest checkpoint of a namespace is read with its pending writes.

    At home in savers that keep the writes of the current step only.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        thread_id, ns, checkpoint_id = row_of(found.config)
        return found if checkpoint_id == self._latest(thread_id, ns) else found._replace(pending_writes=[])


@faulty("get_tuple")
class ReadersShareVersionsSeen(Hooked):
    """All readers of a checkpoint get the same `versions_seen`, so what one run notes there another one reads.

    At home in savers that cache decoded checkpoints and copy them at the top.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        stored = self.storage[found.config["configurable"]["thread_id"]][found.config["configurable"]["checkpoint_ns"]]
        key = ("seen", stored[found.checkpoint["id"]][0])
        shared = self.memory.setdefault(key, found.checkpoint["versions_seen"])
        return found._replace(checkpoint=edited(found.checkpoint, versions_seen=shared))


@faulty("get_tuple")
class ReadersShareNestedMetadata(Hooked):
    """All readers of a checkpoint get the same nested dicts in metadata.

    At home in savers that cache decoded rows and copy them at the top.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        thread_id, ns, checkpoint_id = row_of(found.config)
        key = ("metadata", self.storage[thread_id][ns][checkpoint_id])
        return with_metadata(found, self.memory.setdefault(key, dict(found.metadata)))


@faulty("put")
class StepsAreUnique(Hooked):
    """A checkpoint replaces the one of the same step in its namespace, so a fork removes the branch that it left.

    At home in savers whose key is thread, namespace and step.
    """

    def storing(self, call: Put) -> RunnableConfig:
        step = cast(Any, call.metadata).get("step")
        thread_id, ns = place_of(call.config)
        for checkpoint_id, row in list(self.storage.get(thread_id, {}).get(ns, {}).items()):
            parent = row[2]
            same_step = self.serde.loads_typed(row[1]).get("step") == step
            if same_step and checkpoint_id != call.checkpoint["id"] and parent == id_of(call.config):
                del self.storage[thread_id][ns][checkpoint_id]
                self._ids[thread_id, ns].remove(checkpoint_id)
        return super().storing(call)


@faulty("put")
class TimesAreUnique(Hooked):
    """Of two checkpoints of a namespace with the same `ts` the later replaces the earlier.

    At home in savers whose sort key is the time.
    """

    def storing(self, call: Put) -> RunnableConfig:
        thread_id, ns = place_of(call.config)
        for checkpoint_id, row in list(self.storage.get(thread_id, {}).get(ns, {}).items()):
            same_time = self.serde.loads_typed(row[0]).get("ts") == call.checkpoint["ts"]
            if same_time and checkpoint_id != call.checkpoint["id"]:
                del self.storage[thread_id][ns][checkpoint_id]
                self._ids[thread_id, ns].remove(checkpoint_id)
        return super().storing(call)


@faulty("put")
class EqualValuesAreNotStoredAgain(Hooked):
    """A channel whose new value equals its old one keeps the old one: True stays 1, and 1.0 stays 1.

    At home in savers that skip what did not change, by `==`.
    """

    def putting(self, call: Put) -> Put:
        before = super().get_tuple(call.config) if id_of(call.config) else None
        held = before.checkpoint["channel_values"] if before else {}
        values = dict(call.checkpoint["channel_values"])
        for channel in values.keys() & held.keys() & call.new_versions.keys():
            plain = isinstance(values[channel], (bool, int, float))
            if plain and isinstance(held[channel], (bool, int, float)) and values[channel] == held[channel]:
                values[channel] = held[channel]
        return call._replace(checkpoint=edited(call.checkpoint, channel_values=values))


@faulty("put")
class CarriedValuesAreTheLatest(Hooked):
    """Channels that did not change have the value of the namespace's latest checkpoint, not the parent's.

    At home in savers that complete a put from the current state.
    """

    def storing(self, call: Put) -> RunnableConfig:
        latest = super().get_tuple(without(call.config, "checkpoint_id"))
        returned = super().storing(call)
        if latest:
            carried = {
                channel: value
                for channel, value in latest.checkpoint["channel_values"].items()
                if channel not in call.new_versions and channel in call.checkpoint["channel_values"]
            }
            self.memory[row_of(returned)] = carried
        return returned

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        carried = copy.deepcopy(self.memory.get(row_of(found.config), {}))
        return with_values(found, {**found.checkpoint["channel_values"], **carried})


@faulty("put")
class GoneChannelsComeBack(Hooked):
    """A channel that a checkpoint no longer has comes back with its parent's value and version.

    At home in savers that merge each checkpoint over its parent.
    """

    def putting(self, call: Put) -> Put:
        thread_id, ns = place_of(call.config)
        versions = self.versions_at(thread_id, ns, id_of(call.config))
        merged = {**versions, **call.checkpoint["channel_versions"]}
        return call._replace(checkpoint=edited(call.checkpoint, channel_versions=merged))


@faulty("put")
class OnlyNewVersionsAreKept(Hooked):
    """`channel_versions` come back with the step's new versions alone, while the values are complete.

    At home in savers that store `new_versions` in the column of the versions.
    """

    def storing(self, call: Put) -> RunnableConfig:
        returned = super().storing(call)
        self.memory[row_of(returned)] = dict(call.new_versions)
        return returned

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        versions = self.memory.get(row_of(found.config))
        return found._replace(checkpoint=edited(found.checkpoint, channel_versions=versions)) if versions else found


@faulty("put")
class EmptyVersionsSeenAreDropped(Hooked):
    """Nodes that have seen nothing yet are lost from `versions_seen`.

    At home in savers with a row for each node and channel.
    """

    def putting(self, call: Put) -> Put:
        return call._replace(
            checkpoint=edited(call.checkpoint, versions_seen=without_falsy(call.checkpoint["versions_seen"]))
        )


@faulty("put")
class UpdatedChannelsAreASet(Hooked):
    """`updated_channels` come back as a set.

    At home in savers over a document database.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        updated: Any = cast(Any, found.checkpoint).get("updated_channels")
        return found._replace(checkpoint=edited(found.checkpoint, updated_channels=updated and set(updated)))


@faulty("put")
class ChannelsLieBesideTheFields(Hooked):
    """A channel called `id`, `ts` or `v` takes the place of the checkpoint's own field.

    At home in savers that keep a checkpoint as one flat document.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        values = found.checkpoint["channel_values"]
        named = {key: values[key] for key in ("id", "ts", "v") if key in values}
        return found._replace(checkpoint=edited(found.checkpoint, **named))


@faulty("put")
class PutAgainMergesMetadata(Hooked):
    """Putting a checkpoint again adds the new metadata to the old.

    At home in savers whose upsert merges documents.
    """

    def putting(self, call: Put) -> Put:
        stored = self.stored(call.config, call.checkpoint["id"])
        old = self.serde.loads_typed(stored[1]) if stored else {}
        return call._replace(metadata=cast(CheckpointMetadata, {**old, **call.metadata}))


@faulty("put")
class PutAgainMergesValues(Hooked):
    """Putting a checkpoint again keeps the channels that only its first version had.

    At home in savers whose upsert merges documents.
    """

    def putting(self, call: Put) -> Put:
        thread_id, ns = place_of(call.config)
        old = self.versions_at(thread_id, ns, call.checkpoint["id"])
        merged = {**old, **call.checkpoint["channel_versions"]}
        return call._replace(checkpoint=edited(call.checkpoint, channel_versions=merged))


@faulty("put")
class PutAgainAddsARow(Hooked):
    """A checkpoint that was put twice is listed twice.

    At home in savers that append rows and read the last one.
    """

    def storing(self, call: Put) -> RunnableConfig:
        again = self.stored(call.config, call.checkpoint["id"]) is not None
        returned = super().storing(call)
        self.memory[row_of(returned)] = again
        return returned

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        for each in found:
            yield each
            if self.memory.get(row_of(each.config)):
                yield each


@faulty("put")
class MetadataIsInherited(Hooked):
    """Metadata keys of the parent that a checkpoint does not have come down to it.

    At home in savers that keep metadata in the thread's document.
    """

    def putting(self, call: Put) -> Put:
        stored = self.stored(call.config, id_of(call.config) or "")
        old = self.serde.loads_typed(stored[1]) if stored else {}
        return call._replace(metadata=cast(CheckpointMetadata, {**old, **call.metadata}))


@faulty("metadata")
class ObjectsOfTheConfigAreInMetadata(Hooked):
    """Objects and functions in the caller's config are kept in metadata as their text.

    At home in savers that use `json.dumps(default=str)`.
    """

    def putting(self, call: Put) -> Put:
        more = {**(call.config.get("metadata") or {}), **call.config["configurable"]}
        shown = {
            key: str(value)
            for key, value in more.items()
            if not isinstance(value, (str, int, float, bool)) and not key.startswith("__") and key != "checkpoint_map"
        }
        return call._replace(metadata=cast(CheckpointMetadata, {**shown, **call.metadata}))


@faulty("metadata")
class MetadataNeedsASource(Hooked):
    """A checkpoint whose metadata has no `source` raises.

    At home in SQL savers with a column for it.
    """

    def putting(self, call: Put) -> Put:
        call.metadata["source"]
        return call


@faulty("metadata")
class NumbersAsTextBecomeNumbersInMetadata(Hooked):
    """The text "7" in metadata comes back as the number 7.

    At home in savers over a hash of texts, which guess the types.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        def guessed(value: Any) -> Any:
            return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value

        return with_metadata(found, {key: converted(value, guessed) for key, value in found.metadata.items()})


@faulty("metadata")
class ListsInMetadataAreSets(Hooked):
    """Lists in metadata lose their repetitions and come back sorted.

    At home in savers over a database with sets.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        def unique(value: Any) -> Any:
            if isinstance(value, list) and all(isinstance(each, str) for each in value):
                return sorted(set(value))
            return value

        return with_metadata(found, {key: converted(value, unique) for key, value in found.metadata.items()})


@faulty("engine")
class ConfigMustBeJson(Hooked):
    """`put` and `put_writes` raise when the config holds what JSON cannot say, such as the engine's own objects.

    At home in savers that store the whole config.
    """

    def putting(self, call: Put) -> Put:
        json.dumps(call.config)
        return call

    def writing(self, call: Batch) -> Batch:
        json.dumps(call.config)
        return call


@faulty("engine")
class UnknownConfigKeysRaise(Hooked):
    """A config with keys that the saver does not know raises.

    At home in savers that validate the config with a model.
    """

    def check(self, config: RunnableConfig | None) -> None:
        known = {"thread_id", "checkpoint_ns", "checkpoint_id"}
        if config and not config["configurable"].keys() <= known:
            raise ValueError("unknown keys in configurable")

    def putting(self, call: Put) -> Put:
        self.check(call.config)
        return call

    def writing(self, call: Batch) -> Batch:
        self.check(call.config)
        return call

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        self.check(config)
        return super().get_tuple(config)

    def asking(self, query: Query) -> Query:
        self.check(query.config)
        return query


@faulty("put")
class ParentMustExist(Hooked):
    """A checkpoint whose parent is not stored raises.

    At home in SQL savers with a foreign key.
    """

    def putting(self, call: Put) -> Put:
        parent = id_of(call.config)
        if parent and not self.stored(call.config, parent):
            raise LookupError(parent)
        return call


@faulty("put_writes")
class WritesBeforeTheirCheckpointRaise(Hooked):
    """Writes whose checkpoint is not stored yet raise.

    At home in SQL savers with a foreign key.
    """

    def writing(self, call: Batch) -> Batch:
        if not self.stored(call.config, id_of(call.config) or ""):
            raise LookupError("no such checkpoint")
        return call


@faulty("put")
class IdsOfOtherNamespacesRaise(Hooked):
    """A checkpoint whose id is taken in another namespace or thread raises.

    At home in SQL savers whose primary key is the checkpoint id.
    """

    def putting(self, call: Put) -> Put:
        for thread_id, namespaces in self.storage.items():
            for ns, rows in namespaces.items():
                if call.checkpoint["id"] in rows and (thread_id, ns) != place_of(call.config):
                    raise ValueError("duplicate key")
        return call


@faulty("put")
class PutTakesNewVersionsApart(Hooked):
    """`put` empties the caller's `new_versions`.

    At home in savers that pop what they have stored.
    """

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        returned = super().put(config, checkpoint, metadata, dict(new_versions))
        new_versions.clear()
        return returned


@faulty("put_writes")
class PutWritesTakesTheBatchApart(Hooked):
    """`put_writes` empties the caller's list of writes.

    At home in savers that pop what they have stored.
    """

    def put_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        super().put_writes(config, list(writes), task_id, task_path)
        if isinstance(writes, list):
            writes.clear()


@faulty("put_writes")
class SecondBatchOfATaskIsIgnored(Hooked):
    """A task that has stored writes can store no more: neither an error after its writes nor a longer batch.

    At home in savers that check for a task's writes before they store any.
    """

    def put_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        with self._lock:
            if not any(task == task_id for task, _ in self.writes.get(row_of(config), {})):
                super().put_writes(config, writes, task_id, task_path)


@faulty("put_writes")
class SpecialWritesComeLast(Hooked):
    """The special writes of a task come after its ordinary ones.

    At home in savers whose column for the index is unsigned.
    """

    def _writes_of(self, thread_id: str, ns: str, checkpoint_id: str) -> StoredWrites:
        rows = self.writes.get((thread_id, ns, checkpoint_id), {})
        return [row for (_, idx), row in sorted(rows.items(), key=lambda it: (it[1][3], it[0][0], it[0][1] % 2**32))]


@faulty("put_writes")
class ScheduledIsOrdinary(Hooked):
    """Writes to the channel `__scheduled__` are kept by position, as ordinary ones are.

    At home in savers with a list of special channels of their own.
    """

    def put_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        with self._lock:
            rows = self.writes.setdefault(row_of(config), {})
            for idx, (channel, value) in enumerate(writes):
                special = WRITES_IDX_MAP.get(channel) if channel != "__scheduled__" else None
                key = (task_id, idx if special is None else special)
                if special is not None or key not in rows:
                    rows[key] = (task_id, channel, self.serde.dumps_typed(value), task_path)


@faulty("put_writes")
class ResumeValuesAccumulate(Hooked):
    """A task's resume value is added to its earlier one instead of replacing it.

    At home in savers that append to a list in the row.
    """

    def put_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        with self._lock:
            key = (task_id, WRITES_IDX_MAP[RESUME])
            old = self.writes.get(row_of(config), {}).get(key)
            before = self.serde.loads_typed(old[2]) if old else None
            both = [
                (
                    ch,
                    [*before, *value]
                    if ch == RESUME and isinstance(before, list) and isinstance(value, list)
                    else value,
                )
                for ch, value in writes
            ]
            super().put_writes(config, both, task_id, task_path)


@faulty("put_writes")
class WritesOfTheNullTaskAreLost(Hooked):
    """Writes of the task whose id is all zeros are lost.

    At home in savers that take the zero id for none. The engine stores the resume values of a run under it.
    """

    def put_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        if task_id.strip("0-"):
            super().put_writes(config, writes, task_id, task_path)


@faulty("put_writes")
class MissingTaskPathsDoNotSort(Hooked):
    """A checkpoint whose writes have a task path in part only cannot be read.

    At home in savers that keep a missing path as None and sort in Python.
    """

    def _writes_of(self, thread_id: str, ns: str, checkpoint_id: str) -> StoredWrites:
        rows = self.writes.get((thread_id, ns, checkpoint_id), {})
        return [row for _, row in sorted(rows.items(), key=lambda item: (item[1][3] or cast(Any, None), *item[0]))]


@faulty("put_writes")
class TaskPathsSortWithoutCase(Hooked):
    """Pending writes are ordered by task path and id without regard to case.

    At home in SQL savers with a collation for people.
    """

    def _writes_of(self, thread_id: str, ns: str, checkpoint_id: str) -> StoredWrites:
        rows = self.writes.get((thread_id, ns, checkpoint_id), {})

        def key(item: tuple[tuple[str, int], StoredWrite]) -> Any:
            (task_id, idx), row = item
            return row[3].lower(), task_id.lower(), idx

        return [row for _, row in sorted(rows.items(), key=key)]


@faulty("put_writes")
class TaskPathsSortByNumber(Hooked):
    """Numbers in task paths are compared as numbers, so path 10 comes after 9.

    At home in savers that sort naturally, or parse the path.
    """

    def _writes_of(self, thread_id: str, ns: str, checkpoint_id: str) -> StoredWrites:
        rows = self.writes.get((thread_id, ns, checkpoint_id), {})

        def natural(text: str) -> Any:
            return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", text)]

        return [row for _, row in sorted(rows.items(), key=lambda item: (natural(item[1][3]), *item[0]))]


@faulty("put_writes")
class LaterTaskPathReplacesTheFirst(Hooked):
    """A task's repeated write moves its first one to the path of the second, so the order changes.

    At home in savers whose upsert updates all columns but the value.
    """

    def put_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        with self._lock:
            super().put_writes(config, writes, task_id, task_path)
            rows = self.writes.get(row_of(config), {})
            for key, row in rows.items():
                if key[0] == task_id:
                    rows[key] = (*row[:3], task_path)


@faulty("put_writes")
class WritesBeyondFiveHundredAreLost(Hooked):
    """Of a batch of more than 500 writes the first 500 are stored.

    At home in savers over a service that takes batches of that size.
    """

    def writing(self, call: Batch) -> Batch:
        return call._replace(writes=list(call.writes)[:500])


@faulty("put_writes")
class PutClearsTheNamespacesWrites(Hooked):
    """Putting a checkpoint removes the pending writes of all earlier ones of its namespace.

    At home in savers that keep the writes of the current step only.
    """

    def storing(self, call: Put) -> RunnableConfig:
        thread_id, ns = place_of(call.config)
        for key in [key for key in self.writes if key[:2] == (thread_id, ns)]:
            if key[2] < call.checkpoint["id"]:
                del self.writes[key]
        return super().storing(call)


@faulty("put_writes")
class SendsAreNotStored(Hooked):
    """Writes to the tasks channel are lost: a Send is taken for something of the engine's.

    At home in savers with a list of internal channels.
    """

    def writing(self, call: Batch) -> Batch:
        return call._replace(writes=[each for each in call.writes if each[0] != "__pregel_tasks"])


@faulty("put_writes")
class NoWritesMarkersAreDropped(Hooked):
    """The mark of a task that wrote nothing is not stored, so the task runs again.

    At home in savers that skip what has no value.
    """

    def writing(self, call: Batch) -> Batch:
        return call._replace(writes=[each for each in call.writes if each[0] != "__no_writes__"])


@faulty("put_writes")
class InterruptsLoseTheirIds(Converting):
    """An Interrupt comes back with another id.

    At home in savers that store its value and make it anew.
    """

    def convert(self, value: Any) -> Any:
        return Interrupt(value=value.value) if isinstance(value, Interrupt) else value


@faulty("values")
class JsonTextIsParsed(Converting):
    """Text that is JSON comes back parsed.

    At home in savers over a JSON column, whose driver decodes once more.
    """

    def convert(self, value: Any) -> Any:
        if isinstance(value, str) and value[:1] in ("{", "["):
            try:
                return json.loads(value)
            except ValueError:
                return value
        return value


@faulty("values")
class MarkedTextBecomesBytes(Converting):
    """Text that begins with `base64:` comes back as bytes.

    At home in savers over JSON that mark bytes in this way.
    """

    def convert(self, value: Any) -> Any:
        return value[7:].encode() if isinstance(value, str) and value.startswith("base64:") else value


@faulty("values")
class CompressedBytesAreUnpacked(Converting):
    """bytes that are a zlib stream come back unpacked.

    At home in savers that compress large values and know them by their first bytes.
    """

    def convert(self, value: Any) -> Any:
        if isinstance(value, bytes):
            try:
                return zlib.decompress(value)
            except zlib.error:
                return value
        return value


@faulty("values")
class NestedNonesAreDropped(Converting):
    """Keys of dicts inside values are lost when they are None.

    At home in savers that exclude None when they dump.
    """

    def convert(self, value: Any) -> Any:
        return {key: each for key, each in value.items() if each is not None} if type(value) is dict else value


@faulty("values")
class ChunksAreOrderedAsText(Converting):
    """A text or bytes of more than ten chunks of 100 kB comes back with its chunks in another order.

    At home in savers over a database with a limit for each record.
    """

    def convert(self, value: Any) -> Any:
        if not isinstance(value, (str, bytes)) or len(value) <= 1_000_000:
            return value
        chunks = [value[start : start + 100_000] for start in range(0, len(value), 100_000)]
        ordered = [chunks[number] for number in sorted(range(len(chunks)), key=str)]
        return value[:0].join(cast(Any, ordered))


@faulty("values")
class DeepValuesBecomeText(Converting):
    """What lies deeper than 30 levels in a value comes back as text.

    At home in savers whose encoder guards against cycles.
    """

    def convert(self, value: Any) -> Any:
        return value

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        def cut(value: Any, depth: int = 0) -> Any:
            if depth > 30:
                return repr(value)
            if type(value) is dict:
                return {key: cut(each, depth + 1) for key, each in value.items()}
            return [cut(each, depth + 1) for each in value] if type(value) is list else value

        values = found.checkpoint["channel_values"]
        return with_values(found, {ch: cut(value) for ch, value in values.items()})


@faulty("values")
class LineSeparatorsBecomeNewlines(Converting):
    """The Unicode line separators in a text come back as line feeds.

    At home in savers over files of lines.
    """

    def convert(self, value: Any) -> Any:
        return re.sub("[\u2028\u2029\x85]", "\n", value) if isinstance(value, str) else value


@faulty("values")
class TimesMoveToUtc(Converting):
    """A time with a zone comes back as the same moment in UTC.

    At home in SQL savers with a column of the type timestamp with time zone.
    """

    def convert(self, value: Any) -> Any:
        return value.astimezone(timezone.utc) if isinstance(value, datetime) and value.tzinfo else value


@faulty("values")
class MessagesAreDeduplicated(Converting):
    """Of the messages of one id in a list the last stays.

    At home in savers that help the reducer.
    """

    def convert(self, value: Any) -> Any:
        if isinstance(value, list) and value and all(isinstance(each, BaseMessage) for each in value):
            return list({each.id or number: each for number, each in enumerate(value)}.values())
        return value


@faulty("values")
class MessageContentBecomesText(Converting):
    """The content of a message that is a list of blocks comes back as text.

    At home in savers that store messages in columns.
    """

    def convert(self, value: Any) -> Any:
        if isinstance(value, BaseMessage) and isinstance(value.content, list):
            return value.model_copy(update={"content": str(value.content)})
        return value


@faulty("values")
class NestedNansBecomeNone(Converting):
    """NaN and the infinities inside of lists and dicts come back as None; at the top they stay.

    At home in savers that use JSON for containers.
    """

    def convert(self, value: Any) -> Any:
        def clean(each: Any) -> Any:
            return None if isinstance(each, float) and not math.isfinite(each) else each

        if type(value) is dict:
            return {key: clean(each) for key, each in value.items()}
        return [clean(each) for each in value] if type(value) is list else value


@faulty("values")
class BranchChannelsAreNotStored(Hooked):
    """Channels called `branch:…` are taken for the engine's and not stored.

    At home in savers that store the user's state only.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        values = found.checkpoint["channel_values"]
        return with_values(found, {ch: value for ch, value in values.items() if not ch.startswith("branch:")})


@faulty("delete_thread")
class DeletedIdsStayDead(Hooked):
    """A checkpoint id that was deleted once cannot be stored again: the put is without effect.

    At home in savers that mark rows as deleted.
    """

    def delete_thread(self, thread_id: str) -> None:
        for ns, rows in self.storage.get(thread_id, {}).items():
            for checkpoint_id in rows:
                self.memory[thread_id, ns, checkpoint_id] = "deleted"
        super().delete_thread(thread_id)

    def storing(self, call: Put) -> RunnableConfig:
        thread_id, ns = place_of(call.config)
        if (thread_id, ns, call.checkpoint["id"]) in self.memory:
            return _config(thread_id, ns, call.checkpoint["id"])
        return super().storing(call)


@faulty("delete_thread")
class DeleteThreadLeavesTheLatestPointer(Hooked):
    """After a thread was deleted the pointer to its latest checkpoint stays, and a thread made anew is not found.

    At home in savers that keep a pointer to the latest.
    """

    def storing(self, call: Put) -> RunnableConfig:
        returned = super().storing(call)
        place = place_of(call.config)
        self.memory[place] = max(self.memory.get(place, ""), call.checkpoint["id"])
        return returned

    def _latest(self, thread_id: str, ns: str) -> str | None:
        return self.memory.get((thread_id, ns)) or super()._latest(thread_id, ns)


@faulty("delete_thread")
class ContentIsNotCounted(Hooked):
    """Equal values are stored once for all threads, and deleting one of the threads deletes them.

    At home in savers that store by content and do not count who uses it.
    """

    def delete_thread(self, thread_id: str) -> None:
        gone = {blob for key, blob in self.blobs.items() if key[0] == thread_id and blob != EMPTY}
        super().delete_thread(thread_id)
        for key, blob in list(self.blobs.items()):
            if blob in gone:
                del self.blobs[key]


@faulty("delete_thread")
class DeleteThreadTrimsItsId(Hooked):
    """Deleting the thread `a ` deletes the thread `a`.

    At home in savers that trim what they are given.
    """

    def delete_thread(self, thread_id: str) -> None:
        super().delete_thread(thread_id.strip())


@faulty("copy_thread")
class CopySharesValues(Hooked):
    """The values of a copied thread are those of its source, and go when it is deleted.

    At home in savers that copy rows and leave values where they are.
    """

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(source_thread_id, target_thread_id)
        self.memory.setdefault(source_thread_id, []).append(target_thread_id)

    def delete_thread(self, thread_id: str) -> None:
        keys = {key[1:] for key in self.blobs if key[0] == thread_id}
        super().delete_thread(thread_id)
        for copied in self.memory.get(thread_id, []):
            for key in [key for key in self.blobs if key[0] == copied and key[1:] in keys]:
                del self.blobs[key]


@faulty("copy_thread")
class CopyStoresWritesOneByOne(Hooked):
    """A copied thread has the first write of each task only.

    At home in savers that copy with one `put_writes` for each write.
    """

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(source_thread_id, target_thread_id)
        for key, rows in self.writes.items():
            if key[0] == target_thread_id:
                kept = {task: (task, idx) for task, idx in sorted(rows, reverse=True)}
                for place in [place for place in rows if place[1] >= 0 and kept[place[0]] != place]:
                    del rows[place]


@faulty("copy_thread")
class CopyLosesMetadata(Hooked):
    """The checkpoints of a copied thread have the documented metadata keys only.

    At home in savers that copy column by column.
    """

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(source_thread_id, target_thread_id)
        for rows in self.storage.get(target_thread_id, {}).values():
            for checkpoint_id, (checkpoint, metadata, parent) in rows.items():
                known = {
                    key: value
                    for key, value in self.serde.loads_typed(metadata).items()
                    if key in ("source", "step", "parents", "run_id")
                }
                rows[checkpoint_id] = (checkpoint, self.serde.dumps_typed(known), parent)


@faulty("copy_thread")
class CopyTakesRowsOfEarlierCopies(Hooked):
    """Copying a thread moves the checkpoints of its earlier copies, which have the same ids, to the new one.

    At home in SQL savers that copy by checkpoint id.
    """

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        ids = {(ns, id) for ns, rows in self.storage.get(source_thread_id, {}).items() for id in rows}
        super().copy_thread(source_thread_id, target_thread_id)
        for thread_id in [each for each in self.storage if each not in (source_thread_id, target_thread_id)]:
            rows = {(ns, id) for ns, rows in self.storage[thread_id].items() for id in rows}
            if rows & ids:
                self.delete_thread(thread_id)


@faulty("copy_thread")
class CopyReplacesTheThreadBeside(Hooked):
    """Copying to thread `b` deletes the threads whose ids begin with `b` first.

    At home in savers that clear the target by a prefix.
    """

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        for thread_id in [each for each in self.storage if each.startswith(target_thread_id)]:
            if thread_id not in (source_thread_id, target_thread_id):
                self.delete_thread(thread_id)
        super().copy_thread(source_thread_id, target_thread_id)


@faulty("prune")
class PruneKeepsOneOfTheThread(Hooked):
    """`keep_latest` keeps one checkpoint of a thread, the newest of all its namespaces.

    At home in SQL savers that group by thread.
    """

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        super().prune(thread_ids, strategy=strategy)
        for thread_id in thread_ids:
            namespaces = self.storage.get(thread_id, {})
            newest = max((id for rows in namespaces.values() for id in rows), default=None)
            for ns in list(namespaces):
                self._remove(thread_id, ns, [id for id in namespaces[ns] if newest not in namespaces[ns]])


@faulty("prune")
class PruneByStep(Hooked):
    """`keep_latest` keeps the checkpoint with the highest step, not the one with the greatest id.

    At home in savers that use the step as sort key.
    """

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        if strategy != "keep_latest" or isinstance(thread_ids, str):
            super().prune(thread_ids, strategy=strategy)
            return
        for thread_id in thread_ids:
            for ns, rows in list(self.storage.get(thread_id, {}).items()):
                if self._delta_channels(thread_id, ns):
                    super().prune([thread_id])
                    break
                steps = {id: self.serde.loads_typed(row[1]).get("step") or 0 for id, row in rows.items()}
                latest = max(steps, key=lambda id: (steps[id], id))
                self._remove(thread_id, ns, [id for id in rows if id != latest])
                rows[latest] = (*rows[latest][:2], None)


@faulty("delete_for_runs")
class DeleteForRunsSearchesTheText(Hooked):
    """Deleting a run deletes the checkpoints in whose metadata its id stands anywhere.

    At home in SQL savers that search the text of the metadata.
    """

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        super().delete_for_runs(run_ids)
        for thread_id, namespaces in list(self.storage.items()):
            for ns, rows in list(namespaces.items()):
                gone = [
                    id for id, row in rows.items() if any(run in str(self.serde.loads_typed(row[1])) for run in run_ids)
                ]
                self._remove(thread_id, ns, gone)


@faulty("delete_for_runs")
class DeleteForRunsDeletesDescendants(Hooked):
    """Deleting a run deletes also the checkpoints of later runs that were put on its own.

    At home in SQL savers with a cascade on the parent.
    """

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        doomed = {
            (thread_id, ns, id)
            for thread_id, namespaces in self.storage.items()
            for ns, rows in namespaces.items()
            for id, row in rows.items()
            if self.serde.loads_typed(row[1]).get("run_id") in list(run_ids)
        }
        super().delete_for_runs(run_ids)
        while doomed:
            gone = {
                (thread_id, ns, id)
                for thread_id, ns, parent in doomed
                for id, row in self.storage.get(thread_id, {}).get(ns, {}).items()
                if row[2] == parent
            }
            for thread_id, ns, id in gone:
                self._remove(thread_id, ns, [id])
            doomed = gone


@faulty("delta")
class DeltaStopsWhereNothingWasWritten(Delta):
    """The walk ends at the first ancestor without writes to the channel.

    At home in savers that join ancestors and writes.
    """

    def wrong(self, config: RunnableConfig, channels: Sequence[str]) -> History:
        result = self.history(config, channels)
        for ch in channels:
            writes: list[Any] = []
            for each in self.ancestors(config):
                if not writes_to(ch, each):
                    result[ch].pop("seed", None)
                    break
                writes = writes_to(ch, each) + writes
                if ch in each.checkpoint["channel_values"]:
                    break
            result[ch]["writes"] = writes
        return result


@faulty("delta")
class DeltaDropsRepetitions(Delta):
    """Equal writes are replayed once.

    At home in SQL savers that select distinct rows.
    """

    def wrong(self, config: RunnableConfig, channels: Sequence[str]) -> History:
        result = self.history(config, channels)
        for each in result.values():
            unique: list[Any] = []
            for write in each["writes"]:
                if write[2] not in [other[2] for other in unique]:
                    unique.append(write)
            each["writes"] = unique
        return result


@faulty("delta")
class DeltaOfNoChannelsRaises(Hooked):
    """The history of no channels raises.

    At home in SQL savers with a list of parameters in their query.
    """

    def get_delta_channel_history(self, *, config: RunnableConfig, channels: Sequence[str]) -> History:
        if not channels:
            raise ValueError("syntax error near ')'")
        return super().get_delta_channel_history(config=config, channels=channels)


@faulty("delta")
class DeltaSeesWritesOfOtherNamespaces(Delta):
    """The history has the writes of checkpoints of the same id in other namespaces.

    At home in savers whose writes are found by checkpoint id.
    """

    def wrong(self, config: RunnableConfig, channels: Sequence[str]) -> History:
        result = self.history(config, channels)
        thread_id, ns = place_of(config)
        ids = {each.checkpoint["id"] for each in self.ancestors(config)}
        for key, rows in self.writes.items():
            if key[0] == thread_id and key[1] != ns and key[2] in ids:
                for task_id, channel, value, _ in rows.values():
                    if channel in result:
                        result[channel]["writes"].append((task_id, channel, self.serde.loads_typed(value)))
        return result


@faulty("versions")
class VersionsAreRandom(Hooked):
    """Versions are random texts without an order.

    At home in savers that took a version for an id.
    """

    def get_next_version(self, current: Any, channel: Any) -> Any:
        return uuid.uuid4().hex


@faulty("versions")
class VersionsAreTheClock(Hooked):
    """Versions are the time, so after one that another machine made in the future they go back.

    At home in savers that order by time.
    """

    def get_next_version(self, current: Any, channel: Any) -> Any:
        return f"{time.time_ns():032}.{next(_COUNTER):016}"


_COUNTER = count()


class _ForgetsTaskPaths(Hooked):
    def writing(self, call: Batch) -> Batch:
        return call._replace(task_path="")


@faulty("parity")
class AputWritesForgetsTheTaskPath(AsyncOnly):
    """`aput_writes` takes a task path and forgets it, while `put_writes` keeps it.

    At home in savers whose async half was written later.
    """

    twin = _ForgetsTaskPaths


class _IgnoresIds(Hooked):
    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return super().get_tuple(without(config, "checkpoint_id"))


@faulty("parity")
class AgetTupleIgnoresTheId(AsyncOnly):
    """`aget_tuple` gives the latest checkpoint, whichever id is asked for.

    At home in savers whose async half was written later.
    """

    twin = _IgnoresIds


class _LeavesWrites(Hooked):
    def delete_thread(self, thread_id: str) -> None:
        writes = {key: rows for key, rows in self.writes.items() if key[0] == thread_id}
        super().delete_thread(thread_id)
        self.writes.update(writes)


@faulty("parity")
class AdeleteThreadLeavesWrites(AsyncOnly):
    """`adelete_thread` leaves the pending writes behind, while `delete_thread` does not.

    At home in savers whose async half was written later.
    """

    twin = _LeavesWrites


@faulty("concurrency")
class AbandonedListKeepsTheLock(Hooked):
    """When an iteration of `list` is abandoned, later puts hang.

    At home in savers that give the connection back at the end of the iteration.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        self.memory["open"] = self.memory.get("open", 0) + 1
        yield from found
        self.memory["open"] -= 1

    def putting(self, call: Put) -> Put:
        if self.memory.get("open"):
            hang()
        return call


@faulty("concurrency")
class EachThreadHasItsOwnStorage(Hooked):
    """What a call in one thread stores is not seen in another one.

    At home in savers over `:memory:` with a connection for each thread.
    """

    def _mine(self) -> Hooked:
        mine: Hooked = self.memory.setdefault(threading.get_ident(), Hooked(serde=self.serde))
        return mine

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return self._mine().put(config, checkpoint, metadata, new_versions)

    def put_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        self._mine().put_writes(config, writes, task_id, task_path)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self._mine().get_tuple(config)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        return self._mine().list(config, filter=filter, before=before, limit=limit)

    def get_delta_channel_history(self, *, config: RunnableConfig, channels: Sequence[str]) -> History:
        return self._mine().get_delta_channel_history(config=config, channels=channels)

    def delete_thread(self, thread_id: str) -> None:
        self._mine().delete_thread(thread_id)

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        self._mine().delete_for_runs(run_ids)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        self._mine().copy_thread(source_thread_id, target_thread_id)

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        self._mine().prune(thread_ids, strategy=strategy)


@faulty("lifecycle")
class SetupEmptiesTheTables(Hooked):
    """`setup` empties the storage when it is called again.

    At home in savers whose setup drops and creates tables.
    """

    def setup(self) -> None:
        for table in (self.storage, self.writes, self.blobs, self._ids):
            cast("dict[Any, Any]", table).clear()


@faulty("lifecycle")
class SetupTwiceRaises(Hooked):
    """A second `setup` raises.

    At home in savers that create tables without looking whether they exist.
    """

    def setup(self) -> None:
        if self.memory.setdefault("setup", 0):
            raise RuntimeError("table checkpoints already exists")
        self.memory["setup"] = 1


@faulty("get_tuple")
class CacheOutlivesCopyThread(Cached):
    """A thread that was looked for before something was copied to it is not found after it.

    At home in savers that remember what is not there.
    """

    stale_after = ("copy_thread",)

    def keeps(self, row: _Row | None) -> bool:
        return True


@faulty("get_tuple")
class CacheOutlivesPutAgain(Cached):
    """A checkpoint that was read before it was put again reads as it was.

    At home in savers that take checkpoints for immutable and cache them by id.
    """

    stale_after = ("put",)

    def keeps(self, row: _Row | None) -> bool:
        return row is not None

    def storing(self, call: Put) -> RunnableConfig:
        thread_id, ns = place_of(call.config)
        self.memory.pop((thread_id, ns, None), None)
        return super().storing(call)


@faulty("list")
class ListServesACachedPage(Hooked):
    """A list that was read once is given again, although checkpoints were put since.

    At home in savers that cache pages of history.
    """

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        key = repr((config, filter, before, limit))
        if key not in self.memory or config is None:
            self.memory[key] = list(super().list(config, filter=filter, before=before, limit=limit))
        yield from copy.deepcopy(self.memory[key])

    def put_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        super().put_writes(config, writes, task_id, task_path)
        self.memory.clear()

    @contextmanager
    def around(self, method: str) -> Iterator[None]:
        yield
        if method in ("delete_thread", "prune", "delete_for_runs", "copy_thread"):
            self.memory.clear()


@faulty("list")
class ListServesWritesOfTheFirstLook(Hooked):
    """A listed checkpoint shows the pending writes that it had when it was first listed.

    At home in savers that cache pages of history.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        for each in found:
            writes = self.memory.setdefault(row_of(each.config), each.pending_writes)
            yield each._replace(pending_writes=copy.deepcopy(writes))

    def delete_thread(self, thread_id: str) -> None:
        super().delete_thread(thread_id)
        for key in [key for key in self.memory if key[0] == thread_id]:
            del self.memory[key]


@faulty("identity")
class SharpAndSlashEndAnId(Alike):
    """Thread ids that agree up to a `#`, `?` or `/` at their end are one.

    At home in savers over HTTP, which put ids into an address.
    """

    def thread_key(self, thread_id: str) -> Any:
        return re.split(r"[#?]", thread_id)[0].rstrip("/")


@faulty("identity")
class IdsOfDigitsAreNumbers(Alike):
    """Thread ids of more than 15 digits that agree as floats are one.

    At home in savers whose ids go through JSON numbers.
    """

    def thread_key(self, thread_id: str) -> Any:
        return float(thread_id) if thread_id.isascii() and thread_id.isdigit() else thread_id


@faulty("identity")
class WildcardThreadsListMore(Hooked):
    """Listing the thread `?` or `_` lists every thread whose id is one letter.

    At home in savers that search with LIKE or GLOB.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        if not query.config:
            return found
        wanted = query.config["configurable"]["thread_id"].replace("?", "_").replace("*", "%")
        ids = [each for each in self.storage if like(wanted, each)]
        every = [each for id in ids for each in self.search(query._replace(config=changed(query.config, thread_id=id)))]
        return islice(sorted(every, key=lambda each: each.checkpoint["id"], reverse=True), query.limit)


@faulty("identity")
class TaskIdsAreTrimmed(KeyedWrites):
    """Writes of the tasks `t` and `t ` have one key.

    At home in SQL savers with a column of fixed width.
    """

    def key(self, task_id: str, idx: int, row: StoredWrite) -> Any:
        return task_id.strip(), idx


@faulty("identity")
class RootIsCalledDefault(Alike):
    """The root and a namespace called `default` are one.

    At home in savers that need a name for the root.
    """

    def ns_key(self, ns: str) -> Any:
        return ns or "default"


@faulty("serializer")
class ValuesArePickled(Hooked):
    """Values that the serialiser refuses are pickled, so a storage that others can write to runs their code.

    At home in savers that want to store everything.
    """

    def __init__(self, *, serde: SerializerProtocol | None = None) -> None:
        super().__init__(serde=serde or JsonPlusSerializer(pickle_fallback=True))


@faulty("serializer")
class WhatCannotBeSerialisedBecomesText(Hooked):
    """A value that cannot be serialised is stored as its text.

    At home in savers that use `json.dumps(default=str)`.
    """

    def putting(self, call: Put) -> Put:
        values = {ch: self.storable(value) for ch, value in call.checkpoint["channel_values"].items()}
        return call._replace(checkpoint=edited(call.checkpoint, channel_values=values))

    def writing(self, call: Batch) -> Batch:
        return call._replace(writes=[(ch, self.storable(value)) for ch, value in call.writes])

    def storable(self, value: Any) -> Any:
        try:
            self.serde.dumps_typed(value)
        except Exception:
            return str(value)
        return value


@faulty("get_tuple", "moorcheh-ai/memanto#427")
class MissingThreadIdMeansAnyThread(Hooked):
    """A config without a thread id finds the newest checkpoint of all threads.

    At home in savers that add a condition for each key that is there.
    """

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        if config.get("configurable", {}).get("thread_id") is None:
            return next(self.search(Query(None, limit=1)), None)
        return super().get_tuple(config)


@faulty("identity")
class ChannelAndVersionAreJoined(JoinedValueKey):
    """Version 11 of channel `a` and version 1 of channel `a1` are stored in one place.

    At home in key-value savers that join keys without a separator.
    """

    def joined(self, thread_id: str, ns: str, channel: str, version: Version) -> Any:
        return thread_id, ns, f"{channel}{version}"


class _KnowsNamespaces(Hooked):
    def putting(self, call: Put) -> Put:
        self.memory[place_of(call.config)] = "known"
        return call

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(source_thread_id, target_thread_id)
        self.memory.update({(target_thread_id, ns): "known" for ns in self.storage.get(target_thread_id, {})})

    def delete_thread(self, thread_id: str) -> None:
        unknown = {
            ns: rows for ns, rows in self.storage.get(thread_id, {}).items() if (thread_id, ns) not in self.memory
        }
        blobs = {key: blob for key, blob in self.blobs.items() if key[0] == thread_id and key[1] in unknown}
        super().delete_thread(thread_id)
        if unknown:
            self.storage[thread_id] = unknown
            self.blobs.update(blobs)
            self._ids.update({(thread_id, ns): sorted(rows) for ns, rows in unknown.items()})


@faulty("durability")
class DeleteNeedsToKnowTheNamespaces(Disk):
    """delete_thread deletes the namespaces that this process has written to, and leaves those of earlier ones.

    At home in savers that note a thread's namespaces in memory.
    """

    saver = _KnowsNamespaces


class Counted(Disk):
    """A provider that can count what its storage holds; as it stands, it has no fault."""

    def rows(self) -> list[Any]:
        """All that is stored."""
        saver = cast(Hooked, self.last)
        checkpoints = [(*key, id) for key, ids in saver._ids.items() for id in ids]
        writes = [(*key, *row) for key, rows in saver.writes.items() for row in rows]
        return [*checkpoints, *writes, *saver.blobs, *saver.memory.get("left", ())]


class _LeavesRowsOfThreads(Hooked):
    def delete_thread(self, thread_id: str) -> None:
        self.memory.setdefault("left", []).extend(key for key in self.blobs if key[0] == thread_id)
        super().delete_thread(thread_id)


@faulty("durability", "redis-developer/langgraph-redis#162")
class DeletedThreadsLeaveRows(Counted):
    """Rows of a deleted thread stay in the storage, where nothing reads them.

    Seen in Redis savers, whose delete missed some kinds of keys.
    """

    saver = _LeavesRowsOfThreads


class _LeavesPrunedRows(Hooked):
    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        before = set(self.blobs)
        super().prune(thread_ids, strategy=strategy)
        self.memory.setdefault("left", []).extend(before - set(self.blobs))


@faulty("durability", "redis-developer/langgraph-redis#164")
class PrunedRowsStay(Counted):
    """The values of pruned checkpoints stay in the storage, where nothing reads them.

    Seen in Redis savers, whose values were kept beside the checkpoints.
    """

    saver = _LeavesPrunedRows


class _LeavesRowsOfRuns(Hooked):
    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        before = set(self.blobs)
        super().delete_for_runs(run_ids)
        self.memory.setdefault("left", []).extend(before - set(self.blobs))


@faulty("durability", "bytedance/deer-flow#5255")
class RowsOfDeletedRunsStay(Counted):
    """The values of a deleted run's checkpoints stay in the storage, where nothing reads them.

    At home in savers that delete from one table.
    """

    saver = _LeavesRowsOfRuns


@faulty("parity", "langchain-ai/langgraph#1800")
class SyncReadsWaitForTheLoop(Hooked):
    """A sync read waits for the event loop of the saver, and hangs when it is made inside that loop.

    At home in async savers whose sync half uses `run_coroutine_threadsafe`.
    """

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return ReferenceSaver.put(self, config, checkpoint, metadata, new_versions)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return ReferenceSaver.get_tuple(self, config)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return super().get_tuple(config)
        hang()
        return None


@faulty("put")
class MissingNamespaceIsTheTextNoneInPut(Hooked):
    """`put` without a namespace stores in a namespace called None.

    At home in savers that format their keys.
    """

    def putting(self, call: Put) -> Put:
        ns = call.config["configurable"].get("checkpoint_ns")
        return call._replace(config=changed(call.config, checkpoint_ns=str(ns)))


@faulty("versions")
class VersionsAreDecimals(Hooked):
    """Versions are Decimals.

    At home in savers over a database with such numbers.
    """

    def get_next_version(self, current: Any, channel: Any) -> Any:
        return decimal.Decimal(int(current or 0) + 1)


@faulty("list")
class ListPagesByPosition(Hooked):
    """A list that goes on in pages counts positions anew, so a checkpoint that is put meanwhile repeats one.

    At home in SQL savers that page with OFFSET.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        if query.limit is not None:
            yield from found
            return
        position = 0
        while page := list(islice(self.search(query), position, position + 2)):
            yield from page
            position += len(page)


@faulty("metadata")
class StepsStartAtZero(Hooked):
    """A `step` of -1 in metadata comes back as None.

    At home in savers that take negative numbers for missing ones.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        step = found.metadata.get("step")
        return with_metadata(found, {**found.metadata, "step": None if step == -1 else step})


@faulty("put_writes")
class LongWritesAreLost(Hooked):
    """A pending write of more than 400 kB is lost without a word.

    At home in savers over a service with a limit for each item, which log what it refuses.
    """

    def writing(self, call: Batch) -> Batch:
        def fits(value: Any) -> bool:
            return not isinstance(value, (str, bytes)) or len(value) < 400_000

        return call._replace(writes=[each for each in call.writes if fits(each[1])])


@faulty("put_writes")
class ErrorsAreJoinedWithInterrupts(Hooked):
    """An interrupt replaces the error of its task and the reverse, since both have one place.

    At home in savers with one column for how a task ended.
    """

    def put_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        super().put_writes(config, writes, task_id, task_path)
        rows = self.writes.get(row_of(config), {})
        channels = [channel for channel, _ in writes if channel in (ERROR, INTERRUPT)]
        if channels:
            other = {ERROR: INTERRUPT, INTERRUPT: ERROR}[channels[-1]]
            rows.pop((task_id, WRITES_IDX_MAP[other]), None)


@faulty("put_writes")
class InterruptRemovesTheResume(Hooked):
    """When a task asks its second question, the answer to its first is removed, so it asks that one again.

    At home in savers that reset a task when it is interrupted.
    """

    def put_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        super().put_writes(config, writes, task_id, task_path)
        if any(channel == INTERRUPT for channel, _ in writes):
            self.writes.get(row_of(config), {}).pop((task_id, WRITES_IDX_MAP[RESUME]), None)


@faulty("get_tuple")
class WritesOfTheSameIdInForks(Hooked):
    """A checkpoint shows also the pending writes of its siblings.

    At home in savers that keep writes by parent and step.
    """

    def _writes_of(self, thread_id: str, ns: str, checkpoint_id: str) -> StoredWrites:
        rows = self.storage.get(thread_id, {}).get(ns, {})
        own = super()._writes_of(thread_id, ns, checkpoint_id)
        if checkpoint_id not in rows or rows[checkpoint_id][2] is None:
            return own
        siblings = [id for id, row in rows.items() if row[2] == rows[checkpoint_id][2] and id != checkpoint_id]
        return [*own, *(each for id in siblings for each in super(Hooked, self)._writes_of(thread_id, ns, id))]


@faulty("delete_thread")
class DeleteThreadIgnoresCase(Hooked):
    """Deleting the thread `User` deletes `user` too.

    At home in SQL savers with a collation for people.
    """

    def delete_thread(self, thread_id: str) -> None:
        for each in [each for each in self.storage if each.lower() == thread_id.lower()]:
            super().delete_thread(each)
        super().delete_thread(thread_id)


@faulty("copy_thread")
class CopyKeepsTheTargetsLatest(Hooked):
    """The latest checkpoint of a copied thread is the one that was copied last, not the one with the greatest id.

    At home in savers that keep a pointer to the latest, and copy newest first.
    """

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(source_thread_id, target_thread_id)
        for ns, rows in self.storage.get(target_thread_id, {}).items():
            self.memory[target_thread_id, ns] = min(rows)

    def storing(self, call: Put) -> RunnableConfig:
        self.memory.pop(place_of(call.config), None)
        return super().storing(call)

    def _latest(self, thread_id: str, ns: str) -> str | None:
        return self.memory.get((thread_id, ns)) or super()._latest(thread_id, ns)


@faulty("put")
class VersionsOfUnchangedChannelsRise(Hooked):
    """The versions of channels that did not change come back as those of the step, so nodes run again.

    At home in savers that stamp a checkpoint with one version.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        versions = found.checkpoint["channel_versions"]
        newest = max(versions.values(), default=None)
        return found._replace(checkpoint=edited(found.checkpoint, channel_versions=dict.fromkeys(versions, newest)))


@faulty("concurrency")
class ReadsDuringAPutRaise(Hooked):
    """A read of a namespace raises while something is put to it.

    At home in savers over files, which are replaced.
    """

    def storing(self, call: Put) -> RunnableConfig:
        self.memory[place_of(call.config)] = True
        try:
            time.sleep(0.001)
            return super().storing(call)
        finally:
            self.memory.pop(place_of(call.config), None)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        if self.memory.get(place_of(config)):
            raise OSError("the file is being written")
        return super().get_tuple(config)


@faulty("concurrency")
class AnswersSlipAfterARefusal(Hooked):
    """After a call that was refused because of a text that is no Unicode, each read gives the answer of the one before.

    At home in savers whose driver leaves half a request on the connection.
    """

    def storing(self, call: Put) -> RunnableConfig:
        try:
            said = [call.config["configurable"], call.checkpoint["channel_values"]]
            json.dumps(said, ensure_ascii=False, default=str).encode()
        except UnicodeEncodeError:
            self.memory["slipped"] = True
            raise
        return super().storing(call)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found = super().get_tuple(config)
        if "slipped" not in self.memory:
            return found
        before = self.memory.get("answer")
        self.memory["answer"] = found
        return cast("CheckpointTuple | None", before)


class _OlderFormats(Hooked):
    def v(self, found: CheckpointTuple) -> int:
        return int(found.checkpoint.get("v") or 0)


@faulty("put", "langchain-ai/langgraphjs#2853")
class OlderFormatsAreRaised(_OlderFormats):
    """A checkpoint of an older format comes back as one of the newest, so the engine does not migrate it.

    At home in savers that build a checkpoint anew when they read it.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        return found._replace(checkpoint=edited(found.checkpoint, v=4)) if self.v(found) < 4 else found


@faulty("put", "redis-developer/langgraph-redis#192")
class OlderFormatsLoseTheirSends(_OlderFormats):
    """A checkpoint of an older format loses the Sends that its parent left as pending writes.

    Seen in Redis savers.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        if self.v(found) >= 4:
            return found
        writes = [each for each in found.pending_writes or () if each[1] != "__pregel_tasks"]
        return found._replace(pending_writes=writes)


@faulty("put", "langchain-ai/langgraphjs#2566")
class OlderFormatsLoseTheirValues(_OlderFormats):
    """A checkpoint of an older format is read without channel values.

    At home in savers that look for values in the new place alone.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        return with_values(found, {}) if self.v(found) < 4 else found


@faulty("list")
class LimitBeforeNamespace(Hooked):
    """`limit` is applied to all of the thread before its namespace is looked at.

    At home in savers that filter namespaces in Python.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        if not query.config or query.limit is None or "checkpoint_ns" not in query.config["configurable"]:
            return found
        wider = self.search(query._replace(config=without(query.config, "checkpoint_ns")))
        return [each for each in wider if place_of(each.config) == place_of(cast(RunnableConfig, query.config))]


@faulty("list")
class LimitBeforeTheBound(Hooked):
    """`limit` is applied before `before` is looked at.

    At home in savers that page and then cut.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        bound = id_of(query.before)
        if bound is None or query.limit is None:
            return found
        return [each for each in self.search(query._replace(before=None)) if each.checkpoint["id"] < bound]


@faulty("list")
class FilterKeysIgnoreCase(Hooked):
    """A filter for the key `User` finds checkpoints whose metadata has `user`.

    At home in savers with a column for each key.
    """

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        wanted = {key.lower(): value for key, value in (query.filter or {}).items()}
        if not wanted:
            return found

        def matches(each: CheckpointTuple) -> bool:
            held = [(key.lower(), value) for key, value in each.metadata.items()]
            return all((key, value) in held for key, value in wanted.items())

        return islice(filter(matches, self.search(query._replace(filter=None, limit=None))), query.limit)


@faulty("list")
class FilterComparesThirtyTwoLetters(Hooked):
    """A filter finds texts that agree with its value in the first 32 characters.

    At home in savers with an index over the start of a text.
    """

    def cut(self, value: Any) -> Any:
        return value[:32] if isinstance(value, str) else value

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        long = {key: value for key, value in (query.filter or {}).items() if isinstance(value, str) and len(value) > 32}
        if not long:
            return found
        rest = {key: value for key, value in (query.filter or {}).items() if key not in long}
        wider = self.search(query._replace(filter=rest, limit=None))

        def matches(each: CheckpointTuple) -> bool:
            metadata = cast("dict[str, Any]", each.metadata)
            return all(self.cut(metadata.get(key)) == self.cut(value) for key, value in long.items())

        return islice(filter(matches, wider), query.limit)


@faulty("put_writes")
class WritesMakeTheirCheckpointTheLatest(Hooked):
    """The latest checkpoint is the one that was last put or written to.

    At home in savers that order by the time of the last change.
    """

    def writing(self, call: Batch) -> Batch:
        self.memory[place_of(call.config)] = id_of(call.config)
        return call

    def storing(self, call: Put) -> RunnableConfig:
        self.memory.pop(place_of(call.config), None)
        return super().storing(call)

    def _latest(self, thread_id: str, ns: str) -> str | None:
        touched = self.memory.get((thread_id, ns))
        return touched if touched in self.storage.get(thread_id, {}).get(ns, {}) else super()._latest(thread_id, ns)


@faulty("delete_thread")
class DeleteNeedsARoot(Hooked):
    """A thread that has no checkpoint in the root namespace is not deleted.

    At home in savers that look for the thread first.
    """

    def delete_thread(self, thread_id: str) -> None:
        if "" in self.storage.get(thread_id, {}) or not self.storage.get(thread_id):
            super().delete_thread(thread_id)


@faulty("delete_thread")
class DeletedThreadsAreListed(Hooked):
    """`list(None)` goes on listing the checkpoints of threads that were deleted.

    At home in savers with an index over all threads.
    """

    def delete_thread(self, thread_id: str) -> None:
        gone = list(self.search(Query({"configurable": {"thread_id": thread_id}})))
        self.memory.setdefault("gone", []).extend(gone)
        super().delete_thread(thread_id)

    def listing(self, query: Query, found: Iterator[CheckpointTuple]) -> Iterable[CheckpointTuple]:
        if query.config is not None:
            return found
        wanted = (query.filter or {}).items()
        gone = [each for each in self.memory.get("gone", []) if all(each.metadata.get(k) == v for k, v in wanted)]
        return islice([*found, *copy.deepcopy(gone)], query.limit)


@faulty("copy_thread")
class CopiedConfigsNameTheSource(Hooked):
    """The configs of a copied thread's checkpoints name the source.

    At home in savers that keep the config in the row.
    """

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(source_thread_id, target_thread_id)
        for ns, rows in self.storage.get(target_thread_id, {}).items():
            self.memory.update({(target_thread_id, ns, id): source_thread_id for id in rows})

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        source = self.memory.get(row_of(found.config))
        return found._replace(config=changed(found.config, thread_id=source)) if source else found


@faulty("prune")
class PruneDeleteLeavesWrites(Hooked):
    """The strategy `delete` leaves the pending writes behind.

    At home in savers that delete from one table.
    """

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        writes = {key: rows for key, rows in self.writes.items() if key[0] in list(thread_ids)}
        super().prune(thread_ids, strategy=strategy)
        if strategy == "delete":
            self.writes.update(writes)


@faulty("prune")
class PruneDeleteLeavesSubgraphs(Hooked):
    """The strategy `delete` deletes the root namespace only.

    At home in savers that prune each namespace by itself.
    """

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        if strategy != "delete" or isinstance(thread_ids, str):
            super().prune(thread_ids, strategy=strategy)
            return
        for thread_id in thread_ids:
            rows = self.storage.get(thread_id, {}).get("")
            if rows:
                self._remove(thread_id, "", list(rows))


@faulty("delta")
class DeltaHistoryIsCached(Delta):
    """The history of a checkpoint that was asked for once lacks the writes that its ancestors got since.

    At home in savers that take the past for immutable.
    """

    def wrong(self, config: RunnableConfig, channels: Sequence[str]) -> History:
        key = ("history", *row_of(config), tuple(channels))
        if not id_of(config):
            return self.history(config, channels)
        result: History = copy.deepcopy(self.memory.setdefault(key, self.history(config, channels)))
        return result


@faulty("delta")
class DeltaSeedIsShared(Delta):
    """The seed is one object for all who ask, so what one run appends to it the next one starts from.

    At home in savers that cache decoded values.
    """

    def wrong(self, config: RunnableConfig, channels: Sequence[str]) -> History:
        result = self.history(config, channels)
        for channel, each in result.items():
            if "seed" in each:
                each["seed"] = self.memory.setdefault(("seed", *row_of(config), channel), each["seed"])
        return result


@faulty("concurrency")
class MoreThanEightAtOnceRaise(Hooked):
    """The ninth call at the same time raises.

    At home in savers over a pool that does not wait.
    """

    @contextmanager
    def around(self, method: str) -> Iterator[None]:
        with self._lock:
            self.memory["calls"] = self.memory.get("calls", 0) + 1
        try:
            if self.memory["calls"] > 8:
                raise RuntimeError("the pool is exhausted")
            time.sleep(0.0005)
            yield
        finally:
            with self._lock:
                self.memory["calls"] -= 1


@faulty("get_tuple")
class GetGivesTheValues(Hooked):
    """`get` gives the channel values instead of the checkpoint.

    At home in savers that took the name for what it says.
    """

    def get(self, config: RunnableConfig) -> Any:
        found = self.get_tuple(config)
        return found and found.checkpoint["channel_values"]


@faulty("metadata")
class SourceIsOneOfThree(Hooked):
    """A checkpoint whose source is `fork` raises.

    At home in savers with an enumeration from an older LangGraph.
    """

    def putting(self, call: Put) -> Put:
        if call.metadata.get("source") == "fork":
            raise ValueError("unknown source")
        return call


@faulty("metadata")
class ParentsKeepOneNamespace(Hooked):
    """Of the `parents` in metadata only the root's comes back.

    At home in savers with a column for the parent graph's checkpoint.
    """

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        parents = found.metadata.get("parents") or {}
        return with_metadata(found, {**found.metadata, "parents": {ns: id for ns, id in parents.items() if ns == ""}})


@faulty("put")
class ForksReplaceTheSibling(Hooked):
    """A fork whose parent has a child already is stored, and the child's parent becomes the fork.

    At home in savers that keep a linked list.
    """

    def storing(self, call: Put) -> RunnableConfig:
        thread_id, ns = place_of(call.config)
        parent = id_of(call.config)
        returned = super().storing(call)
        rows = self.storage[thread_id][ns]
        for checkpoint_id, row in list(rows.items()):
            if parent and row[2] == parent and checkpoint_id != call.checkpoint["id"]:
                rows[checkpoint_id] = (row[0], row[1], call.checkpoint["id"])
        return returned


@faulty("values")
class ListsOfEqualTypesBecomeArrays(Converting):
    """A list of numbers comes back as numbers of one type: [1, 2.5] as [1.0, 2.5].

    At home in savers over columns of arrays.
    """

    def convert(self, value: Any) -> Any:
        if type(value) is list and value and all(type(each) in (int, float) for each in value):
            return [float(each) for each in value] if any(type(each) is float for each in value) else value
        return value


@faulty("values")
class DictsAreMergedWithTheFormer(Hooked):
    """A dict in a channel keeps the keys that it had before and were taken out.

    At home in savers over documents, whose updates merge.
    """

    def putting(self, call: Put) -> Put:
        before = super().get_tuple(call.config) if id_of(call.config) else None
        held = before.checkpoint["channel_values"] if before else {}
        values = {
            channel: {**held[channel], **value} if type(value) is dict and type(held.get(channel)) is dict else value
            for channel, value in call.checkpoint["channel_values"].items()
        }
        return call._replace(checkpoint=edited(call.checkpoint, channel_values=values))


@faulty("put")
class TheReturnedConfigIsKept(Hooked):
    """The config that `put` returns is the object that later reads give, so what a caller changes in it goes there.

    At home in savers that keep the config with the row.
    """

    def storing(self, call: Put) -> RunnableConfig:
        returned = super().storing(call)
        self.memory[row_of(returned)] = returned
        return returned

    def seen(self, found: CheckpointTuple) -> CheckpointTuple:
        return found._replace(config=self.memory.get(row_of(found.config), found.config))


# at the end, since they are made of the faults above
from faulty.upgrades import PendingSendsAreDropped as PendingSendsAreDropped  # noqa: E402
from faulty.upgrades import PlainValuesLieInClear as PlainValuesLieInClear  # noqa: E402
from faulty.upgrades import ValuesLieInClear as ValuesLieInClear  # noqa: E402
from faulty.upgrades import WritesLieInClear as WritesLieInClear  # noqa: E402
