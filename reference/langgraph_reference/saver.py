"""ReferenceSaver: the contract of `BaseCheckpointSaver` as running code.

It keeps everything in memory, in the same dictionaries as LangGraph's `InMemorySaver` (and a database saver's tables):

- `storage`: thread id -> checkpoint namespace -> checkpoint id -> (typed checkpoint, typed metadata, parent id or None)
- `writes`: (thread id, namespace, checkpoint id) -> (task id, index) -> (task id, channel, typed value, task path)
- `blobs`: (thread id, namespace, channel, version) -> typed value

A *typed* value is what the serialiser makes of it: (type tag, bytes). Values go in serialised and are read back into
new objects each time, so no object is ever shared with a caller.
"""

from __future__ import annotations

import heapq
import random
from bisect import bisect_left, insort
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import count
from operator import itemgetter
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde import types as serde_types
from langgraph.checkpoint.serde.base import SerializerProtocol

if TYPE_CHECKING:
    from langgraph.checkpoint.base import DeltaChannelHistory

Typed = tuple[str, bytes]
StoredCheckpoint = tuple[Typed, Typed, "str | None"]
StoredWrite = tuple[str, str, Typed, str]
StoredWrites = Sequence[StoredWrite]
Version = str | int | float
Ids = Sequence[str]

EMPTY: Typed = ("empty", b"")
"""What is stored for a channel that got a new version and has no value: it was consumed or emptied."""

# Versions of langgraph-checkpoint that know no DeltaChannel have no snapshots either.
_DELTA_SNAPSHOT: tuple[type, ...] = tuple(filter(None, [getattr(serde_types, "_DeltaSnapshot", None)]))


class _Row(NamedTuple):
    """All that is stored of one checkpoint, read at one moment, its values still serialised."""

    thread_id: str
    checkpoint_ns: str
    checkpoint_id: str
    checkpoint: dict[str, Any]
    metadata: Typed
    parent_id: str | None
    blobs: dict[str, Typed]
    writes: StoredWrites


class ReferenceSaver(BaseCheckpointSaver[str]):
    """An in-memory saver that keeps the whole contract, all optional operations included.

    Safe to use from any number of threads and tasks. Clones (`copy.copy`, `with_allowlist`) share its storage. Like
    `InMemorySaver` it is a sync and async context manager, which closes what was pushed on `stack` and keeps the data.

    Args:
        serde: Serialiser of checkpoints, metadata, channel values and writes; LangGraph's default if None.

    Every operation raises `KeyError` when its config lacks a `thread_id`, and whatever `serde` raises for a value that
    it cannot serialise; nothing is stored then.
    """

    def __init__(self, *, serde: SerializerProtocol | None = None) -> None:
        super().__init__(serde=serde)
        # Plain dictionaries, changed in place and never replaced: a read adds no entry, and clones go on sharing them.
        self.storage: dict[str, dict[str, dict[str, StoredCheckpoint]]] = {}
        self.writes: dict[tuple[str, str, str], dict[tuple[str, int], StoredWrite]] = {}
        self.blobs: dict[tuple[str, str, str, Version], Typed] = {}
        self.stack = ExitStack()
        # (thread id, namespace) -> its checkpoint ids, ascending: the newest is found without looking at the others.
        self._ids: dict[tuple[str, str], list[str]] = {}
        # Held for one operation, never while a caller's code runs between two items of a list.
        self._lock = RLock()

    def __enter__(self) -> ReferenceSaver:
        self.stack.__enter__()
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        return self.stack.__exit__(exc_type, exc, traceback)

    async def __aenter__(self) -> ReferenceSaver:
        return self.__enter__()

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        return self.__exit__(exc_type, exc, traceback)

    # --- versions ---

    def get_next_version(self, current: str | int | float | None, channel: None) -> str:
        """The version after `current` (None: the first one).

        Returns:
            A counter of 32 digits, a dot, and a random fraction, so that two forks of one checkpoint never give
            different values of a channel the same version. Versions compare as text.
        """
        if current is None:
            counter = 0
        elif isinstance(current, str):
            counter = int(current.split(".")[0])
        else:
            counter = int(current)
        return f"{counter + 1:032}.{random.random():016}"

    # --- writing ---

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint under its own id, as a child of the checkpoint that `config` names (if any).

        Of `checkpoint["channel_values"]` only the channels in `new_versions` are stored; the others were stored before,
        under the version in `channel_versions`. Putting an id again replaces all but its pending writes.

        Returns:
            The config of the new checkpoint: thread id, namespace, checkpoint id, nothing else.

        Raises:
            KeyError: `config` has no `thread_id` or no `checkpoint_ns`.
        """
        configurable = config["configurable"]
        thread_id, ns = configurable["thread_id"], configurable["checkpoint_ns"] or ""
        parent_id = configurable.get("checkpoint_id") or None
        checkpoint_id = checkpoint["id"]
        values = checkpoint["channel_values"]
        typed_values = {ch: self.serde.dumps_typed(values[ch]) if ch in values else EMPTY for ch in new_versions}
        typed_metadata = self.serde.dumps_typed(get_checkpoint_metadata(config, metadata))
        payload: dict[str, Any] = {key: value for key, value in checkpoint.items() if key != "channel_values"}
        versions: ChannelVersions = payload.get("channel_versions") or {}

        with self._lock:
            # A value's place is normally its channel and version. Two forks that count with plain numbers give the same
            # version to different values; a fork must change neither the branch it left nor its sibling. So a value
            # that finds its place taken by another one goes to a place of its own, a made-up version, and the stored
            # checkpoint notes it where its values were: `channel_values` = {channel: place}. Descendants that did not
            # change the channel take over the note from their parent. With versions that are unique, as
            # `get_next_version` makes them, there are no notes, and the layout is InMemorySaver's to the byte.
            inherited = self._notes(thread_id, ns, parent_id, versions)
            notes = {ch: place for ch, place in inherited.items() if ch not in new_versions}
            places: dict[str, Version] = {}
            for ch, version in new_versions.items():
                places[ch] = self._free_place(thread_id, ns, ch, version, typed_values[ch])
                if places[ch] != version and versions.get(ch) == version:
                    notes[ch] = places[ch]
            if notes:
                payload["channel_values"] = notes
            typed_checkpoint = self.serde.dumps_typed(payload)
            replaced = self.storage.get(thread_id, {}).get(ns, {}).get(checkpoint_id)
            left = self._places(replaced).items() - _places(payload).items() if replaced else ()

            # Nothing below can fail, so a checkpoint is stored whole or not at all.
            for ch, place in places.items():
                self.blobs[thread_id, ns, ch, place] = typed_values[ch]
            checkpoints = self.storage.setdefault(thread_id, {}).setdefault(ns, {})
            checkpoints[checkpoint_id] = (typed_checkpoint, typed_metadata, parent_id)
            if replaced is None:
                insort(self._ids.setdefault((thread_id, ns), []), checkpoint_id)
            if left:
                self._drop_unused_blobs(thread_id, ns)
        return _config(thread_id, ns, checkpoint_id)

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store the writes of a task that ran from the checkpoint that `config` names, which may be put later.

        Each write is judged by itself: one to a special channel (error, interrupt, resume, scheduled) replaces the
        task's earlier one; any other is kept by its position, and the first one stored there stays.

        Raises:
            KeyError: `config` has no `thread_id` or no `checkpoint_id`.
        """
        thread_id, ns, checkpoint_id = _address(config)
        if checkpoint_id is None:
            raise KeyError("checkpoint_id")
        rows: dict[tuple[str, int], StoredWrite] = {
            (task_id, WRITES_IDX_MAP.get(ch, idx)): (task_id, ch, self.serde.dumps_typed(value), task_path)
            for idx, (ch, value) in enumerate(writes)
        }
        if not rows:
            return
        with self._lock:
            stored = self.writes.setdefault((thread_id, ns, checkpoint_id), {})
            for key, row in rows.items():
                if key[1] < 0 or key not in stored:
                    stored[key] = row

    # --- reading ---

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that `config` names, or the one with the greatest id; None if there is none.

        A missing namespace means the root's. Pending writes are in the order in which the engine applies them: by task
        path, task id and index.
        """
        thread_id, ns, checkpoint_id = _address(config)
        with self._lock:
            checkpoint_id = checkpoint_id or self._latest(thread_id, ns)
            if checkpoint_id is None or checkpoint_id not in self.storage.get(thread_id, {}).get(ns, {}):
                return None
            row = self._row(thread_id, ns, checkpoint_id)
        return self._tuple(row)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """The matching checkpoints as they are at the first step of the iterator, newest (greatest id) first.

        Args:
            config: Its thread, its namespace (missing or None: all of them) and its checkpoint id (missing: all). None
                or {}: all threads. Checkpoints with one id are ordered by thread id, then by namespace.
            filter: What metadata must contain: equal by value and JSON type, so 5.0 equals 5, and True is not 1.
            before: Only ids smaller than the checkpoint id in it; without an id it bounds nothing.
            limit: At most that many, counted after all other conditions.
        """
        configurable = config["configurable"] if config else {}
        only_id = configurable.get("checkpoint_id") or None
        before_id = before.get("configurable", {}).get("checkpoint_id") if before else None
        with self._lock:
            threads = [configurable["thread_id"]] if config else self.storage
            only_ns = configurable.get("checkpoint_ns")
            namespaces = [
                (thread_id, ns)
                for thread_id in threads
                for ns in (self.storage.get(thread_id, {}) if only_ns is None else [only_ns])
            ]
            rows: list[_Row] = []
            for checkpoint_id, thread_id, ns in self._newest_first(namespaces, only_id, before_id or None):
                if limit is not None and len(rows) >= limit:
                    break
                stored = self.storage[thread_id][ns][checkpoint_id]
                if filter and not _matches(self.serde.loads_typed(stored[1]), filter):
                    continue
                rows.append(self._row(thread_id, ns, checkpoint_id))
        for row in rows:
            yield self._tuple(row)

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """What the ancestors of a checkpoint (its parent, its parent's parent, ...) did to each channel.

        Returns:
            For each channel `writes`, oldest first, and `seed`, the value stored at the nearest ancestor that has one
            (None is a value too), without the key if there is none. Writes older than the seed are left out; those
            stored under the seed's checkpoint came after it and are in. The checkpoint's own value and writes are not.
            The walk ends at an ancestor that is not stored or that was met before.
        """
        if not channels:
            return {}
        thread_id, ns, checkpoint_id = _address(config)
        newest_first: dict[str, list[tuple[str, str, Any]]] = {ch: [] for ch in channels}
        seeds: dict[str, Any] = {}
        with self._lock:
            target = checkpoint_id or self._latest(thread_id, ns)
            for _, writes, blobs in self._ancestors(thread_id, ns, target, channels):
                for task_id, ch, value, _ in reversed(writes):
                    newest_first[ch].append((task_id, ch, self.serde.loads_typed(value)))
                for ch, blob in blobs.items():
                    seeds[ch] = self.serde.loads_typed(blob)
        histories: dict[str, DeltaChannelHistory] = {}
        for ch, found in newest_first.items():
            histories[ch] = {"writes": found[::-1]}
            if ch in seeds:
                histories[ch]["seed"] = seeds[ch]
        return histories

    # --- deleting and copying ---

    def delete_thread(self, thread_id: str) -> None:
        """Delete all checkpoints, values and writes of a thread, also writes whose checkpoint was never put."""
        with self._lock:
            self.storage.pop(thread_id, None)
            tables: tuple[dict[Any, Any], ...] = (self._ids, self.writes, self.blobs)
            for table in tables:
                for key in [key for key in table if key[0] == thread_id]:
                    del table[key]

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints whose metadata has one of the run ids, with their writes and the values only they use.

        All other checkpoints stay as they are, each with all its values; a parent may no longer be there.

        Raises:
            TypeError: `run_ids` is a single string.
            NotImplementedError: A checkpoint that stays rebuilds a DeltaChannel from one that would go. Only the engine
                knows how to turn those writes into a value, so nothing is deleted at all.
        """
        if isinstance(run_ids, str):
            raise TypeError("run_ids must be a sequence of run ids, not a str")
        runs = list(run_ids)
        with self._lock:
            doomed: dict[tuple[str, str], set[str]] = {}
            for thread_id, namespaces in self.storage.items():
                for ns, checkpoints in namespaces.items():
                    for checkpoint_id, (_, metadata, _) in checkpoints.items():
                        if self.serde.loads_typed(metadata).get("run_id", _MISSING) in runs:
                            doomed.setdefault((thread_id, ns), set()).add(checkpoint_id)
            for (thread_id, ns), ids in doomed.items():
                if channels := self._delta_channels(thread_id, ns):
                    for survivor in set(self.storage[thread_id][ns]) - ids:
                        if ids.intersection(self._needed_ancestors(thread_id, ns, survivor, channels)):
                            raise NotImplementedError(
                                f"checkpoint {survivor!r} of thread {thread_id!r} rebuilds a DeltaChannel from the "
                                "checkpoints of a run to be deleted; nothing was deleted"
                            )
            for (thread_id, ns), ids in doomed.items():
                self._remove(thread_id, ns, ids)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread with all its namespaces, checkpoints, values and writes; nothing if there is no such thread.

        Raises:
            ValueError: The target thread already holds data, which a copy would overwrite or mix with its own.
        """
        if source_thread_id == target_thread_id:
            return
        with self._lock:
            tables: tuple[dict[Any, Any], ...] = (self._ids, self.writes, self.blobs)
            found = [[(key, row) for key, row in table.items() if key[0] == source_thread_id] for table in tables]
            if not any(found):
                return
            if any(key[0] == target_thread_id for table in tables for key in table):
                raise ValueError(f"thread {target_thread_id!r} is not empty")
            for table, rows in zip(tables, found, strict=True):
                for key, row in rows:
                    # A blob is immutable; the ids and the writes are containers that the copy must not share.
                    copied_key = (target_thread_id, *key[1:])
                    table[copied_key] = row if isinstance(row, tuple) else row.copy()
            for ns, checkpoints in self.storage.get(source_thread_id, {}).items():
                self.storage.setdefault(target_thread_id, {})[ns] = checkpoints.copy()

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete what is no longer needed of some threads.

        `"keep_latest"` keeps the latest checkpoint of each namespace with its values and writes, and the ancestors from
        which its DeltaChannels are rebuilt: `get_delta_channel_history` of it stays the same. A kept checkpoint whose
        parent goes has no parent any more. Writes that wait for their checkpoint stay. `"delete"` deletes the threads.

        Raises:
            TypeError: `thread_ids` is a single string.
            ValueError: `strategy` is unknown.
        """
        if isinstance(thread_ids, str):
            raise TypeError("thread_ids must be a sequence of thread ids, not a str")
        if strategy not in ("keep_latest", "delete"):
            raise ValueError(f"unknown prune strategy: {strategy!r}")
        with self._lock:
            for thread_id in thread_ids:
                if strategy == "delete":
                    self.delete_thread(thread_id)
                    continue
                for ns, checkpoints in self.storage.get(thread_id, {}).items():
                    latest = self._ids[thread_id, ns][-1]
                    needed = self._needed_ancestors(thread_id, ns, latest, self._delta_channels(thread_id, ns))
                    kept = {latest, *needed}
                    gone = checkpoints.keys() - kept
                    for checkpoint_id in kept:
                        checkpoint, metadata, parent_id = checkpoints[checkpoint_id]
                        if parent_id in gone:
                            checkpoints[checkpoint_id] = (checkpoint, metadata, None)
                    self._remove(thread_id, ns, gone)

    # --- async: memory is never waited for, so these call the sync methods in the event loop's own thread ---

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """See `get_tuple`."""
        return self.get_tuple(config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """See `list`."""
        for item in self.list(config, filter=filter, before=before, limit=limit):
            yield item

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """See `put`."""
        return self.put(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """See `put_writes`."""
        self.put_writes(config, writes, task_id, task_path)

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """See `get_delta_channel_history`."""
        return self.get_delta_channel_history(config=config, channels=channels)

    async def adelete_thread(self, thread_id: str) -> None:
        """See `delete_thread`."""
        self.delete_thread(thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """See `delete_for_runs`."""
        self.delete_for_runs(run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """See `copy_thread`."""
        self.copy_thread(source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """See `prune`."""
        self.prune(thread_ids, strategy=strategy)

    # --- rows (the lock is held) ---

    def _latest(self, thread_id: str, ns: str) -> str | None:
        ids = self._ids.get((thread_id, ns))
        return ids[-1] if ids else None

    def _row(self, thread_id: str, ns: str, checkpoint_id: str) -> _Row:
        stored = self.storage[thread_id][ns][checkpoint_id]
        checkpoint = self.serde.loads_typed(stored[0])
        blobs = self._blobs_at(thread_id, ns, _places(checkpoint))
        writes = self._writes_of(thread_id, ns, checkpoint_id)
        return _Row(thread_id, ns, checkpoint_id, checkpoint, stored[1], stored[2], blobs, writes)

    def _writes_of(self, thread_id: str, ns: str, checkpoint_id: str) -> StoredWrites:
        stored = self.writes.get((thread_id, ns, checkpoint_id), {})
        return [row for _, row in sorted(stored.items(), key=lambda item: (item[1][3], *item[0]))]

    def _newest_first(
        self, namespaces: Iterable[tuple[str, str]], only_id: str | None, before_id: str | None
    ) -> Iterator[tuple[str, str, str]]:
        def newest_first(thread_id: str, ns: str) -> Iterator[tuple[str, str, str]]:
            ids = self._ids.get((thread_id, ns), [])
            if only_id is not None:
                start = bisect_left(ids, only_id)
                ids = ids[start : start + 1] if only_id in self.storage.get(thread_id, {}).get(ns, {}) else []
            for i in range(len(ids) if before_id is None else bisect_left(ids, before_id), 0, -1):
                yield ids[i - 1], thread_id, ns

        # A merge takes equal ids in the order of its inputs. Only the engine promises that thread ids are strings.
        ordered = sorted(namespaces, key=lambda key: (str(key[0]), key[1]))
        return heapq.merge(*(newest_first(*key) for key in ordered), key=itemgetter(0), reverse=True)

    def _ancestors(
        self, thread_id: str, ns: str, checkpoint_id: str | None, channels: Iterable[str]
    ) -> Iterator[tuple[str, StoredWrites, dict[str, Typed]]]:
        """Each ancestor, nearest first: its id, writes and values, for the channels whose seed is not yet found."""
        checkpoints = self.storage.get(thread_id, {}).get(ns, {})
        wanted, seen = set(channels), {checkpoint_id}
        stored = checkpoints.get(checkpoint_id or "")
        while wanted and stored is not None:
            parent_id = stored[2]
            # An id that is put again under one of its descendants closes the chain to a ring.
            if parent_id is None or parent_id in seen:
                return
            seen.add(parent_id)
            stored = checkpoints.get(parent_id)
            if stored is None:
                return
            places = {ch: place for ch, place in self._places(stored).items() if ch in wanted}
            blobs = self._blobs_at(thread_id, ns, places)
            yield parent_id, [w for w in self._writes_of(thread_id, ns, parent_id) if w[1] in wanted], blobs
            wanted -= blobs.keys()

    def _needed_ancestors(self, thread_id: str, ns: str, checkpoint_id: str, channels: Iterable[str]) -> Ids:
        """The ancestors without which the delta history of a checkpoint would be another."""
        chain: list[str] = []
        needed = 0
        for ancestor_id, writes, blobs in self._ancestors(thread_id, ns, checkpoint_id, channels):
            chain.append(ancestor_id)
            if writes or blobs:
                needed = len(chain)
        return chain[:needed]

    def _delta_channels(self, thread_id: str, ns: str) -> set[str]:
        """The channels of a namespace that are rebuilt from writes: they leave counters in metadata, or snapshots."""
        channels: set[str] = set()
        for _, metadata, _ in self.storage[thread_id][ns].values():
            channels.update(self.serde.loads_typed(metadata).get("counters_since_delta_snapshot") or ())
        for (thread, namespace, ch, _), blob in self.blobs.items():
            here = (thread, namespace) == (thread_id, ns) and blob[0] != "empty"
            if here and isinstance(self.serde.loads_typed(blob), _DELTA_SNAPSHOT):
                channels.add(ch)
        return channels

    def _remove(self, thread_id: str, ns: str, checkpoint_ids: Iterable[str]) -> None:
        checkpoints = self.storage[thread_id][ns]
        for checkpoint_id in checkpoint_ids:
            del checkpoints[checkpoint_id]
            self.writes.pop((thread_id, ns, checkpoint_id), None)
        self._drop_unused_blobs(thread_id, ns)
        self._ids[thread_id, ns] = sorted(checkpoints)
        if not checkpoints:
            del self._ids[thread_id, ns], self.storage[thread_id][ns]
            if not self.storage[thread_id]:
                del self.storage[thread_id]

    # --- places: where the values of a checkpoint are (the lock is held) ---

    def _places(self, stored: StoredCheckpoint) -> dict[str, Version]:
        return _places(self.serde.loads_typed(stored[0]))

    def _notes(self, thread_id: str, ns: str, parent_id: str | None, versions: ChannelVersions) -> dict[str, Version]:
        """The parent's notes for the channels that still have the version they have there."""
        stored = self.storage.get(thread_id, {}).get(ns, {}).get(parent_id or "")
        if stored is None:
            return {}
        parent = self.serde.loads_typed(stored[0])
        notes = parent.get("channel_values") or {}
        return {ch: place for ch, place in notes.items() if versions.get(ch) == parent["channel_versions"][ch]}

    def _free_place(self, thread_id: str, ns: str, channel: str, version: Version, value: Typed) -> Version:
        """The channel's version, or if another value is stored there, the first made-up one that is free."""
        for n in count():
            place = f"{version}#{n}" if n else version
            if self.blobs.get((thread_id, ns, channel, place), value) == value:
                return place
        raise AssertionError("unreachable: counting does not end")

    def _blobs_at(self, thread_id: str, ns: str, places: Mapping[str, Version]) -> dict[str, Typed]:
        found = {ch: self.blobs.get((thread_id, ns, ch, place), EMPTY) for ch, place in places.items()}
        return {ch: blob for ch, blob in found.items() if blob[0] != "empty"}

    def _drop_unused_blobs(self, thread_id: str, ns: str) -> None:
        used = {place for stored in self.storage[thread_id][ns].values() for place in self._places(stored).items()}
        for key in [key for key in self.blobs if key[:2] == (thread_id, ns) and key[2:] not in used]:
            del self.blobs[key]

    # --- from a row to what callers get (the lock is not held) ---

    def _tuple(self, row: _Row) -> CheckpointTuple:
        loads = self.serde.loads_typed
        values = {ch: loads(blob) for ch, blob in row.blobs.items()}
        checkpoint: Any = {**row.checkpoint, "channel_values": values}
        return CheckpointTuple(
            config=_config(row.thread_id, row.checkpoint_ns, row.checkpoint_id),
            checkpoint=checkpoint,
            metadata=loads(row.metadata),
            parent_config=_config(row.thread_id, row.checkpoint_ns, row.parent_id) if row.parent_id else None,
            pending_writes=[(task_id, ch, loads(value)) for task_id, ch, value, _ in row.writes],
        )


_MISSING = object()


def _config(thread_id: str, checkpoint_ns: str, checkpoint_id: str) -> RunnableConfig:
    configurable = {"thread_id": thread_id, "checkpoint_ns": checkpoint_ns, "checkpoint_id": checkpoint_id}
    return {"configurable": configurable}


def _address(config: RunnableConfig) -> tuple[str, str, str | None]:
    """Thread id, namespace and checkpoint id of a config; an empty or None checkpoint id is none."""
    configurable = config["configurable"]
    return configurable["thread_id"], configurable.get("checkpoint_ns") or "", configurable.get("checkpoint_id") or None


def _places(checkpoint: Mapping[str, Any]) -> dict[str, Version]:
    """Channel -> the version under which its value is stored: its own, or the one that is noted (see `put`)."""
    return {**(checkpoint.get("channel_versions") or {}), **(checkpoint.get("channel_values") or {})}


def _matches(metadata: Mapping[str, Any], filter: Mapping[str, Any]) -> bool:
    return all(key in metadata and _equal(metadata[key], wanted) for key, wanted in filter.items())


def _equal(a: Any, b: Any) -> bool:
    """Equal by value and JSON type: in Python, True == 1, and [1] != (1,) though both are one JSON array."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(value, b[key]) for key, value in a.items())
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_equal, a, b))
    return bool(a == b)
