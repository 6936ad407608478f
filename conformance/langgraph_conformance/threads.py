"""Threads of checkpoints, built as the engine builds them."""

from __future__ import annotations

import copy
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.base.id import uuid6

from .drive import SaverDrive
from .errors import Broken
from .expect import AtLeast, expect_same, same

FORMAT = 4
"""The checkpoint format ``v`` that LangGraph writes since 0.5."""
FIELDS = ("v", "id", "ts", "channel_values", "channel_versions", "versions_seen", "updated_channels")
"""The keys of a checkpoint that the engine reads. It takes a missing ``updated_channels`` for None."""


def config_of(thread_id: str, ns: str | None = "", checkpoint_id: str | None = None, **extra: Any) -> RunnableConfig:
    """A config that addresses a thread, a namespace (None: left out) and a checkpoint (None: left out)."""
    configurable: dict[str, Any] = {"thread_id": thread_id}
    if ns is not None:
        configurable["checkpoint_ns"] = ns
    if checkpoint_id is not None:
        configurable["checkpoint_id"] = checkpoint_id
    return {"configurable": {**configurable, **extra}}


@dataclass(frozen=True)
class Stored:
    """A checkpoint that was put, and what a saver must give back for it.

    Attributes:
        thread_id, ns: where it was put.
        checkpoint: as it must be read.
        metadata: as it must be read.
        parent: the checkpoint that it was put on, if any.
        new_versions: the versions given to ``put``.
        returned: what ``put`` returned.
    """

    thread_id: str
    ns: str
    checkpoint: Mapping[str, Any]
    metadata: Mapping[str, Any]
    parent: Stored | None
    new_versions: Mapping[str, Any]
    returned: Any = field(repr=False, default=None)

    @property
    def id(self) -> str:
        """The checkpoint's id."""
        return str(self.checkpoint["id"])

    @property
    def config(self) -> RunnableConfig:
        """The config that addresses exactly this checkpoint."""
        return config_of(self.thread_id, self.ns, self.id)

    @property
    def values(self) -> Mapping[str, Any]:
        """The channel values."""
        values: Mapping[str, Any] = self.checkpoint["channel_values"]
        return values


class Thread:
    """One thread of the saver under test, with an id that nobody else uses.

    Args:
        saver: the drive to put with.
        id: thread id.
    """

    def __init__(self, saver: SaverDrive, id: str) -> None:
        self.saver, self.id = saver, id

    def config(self, *, ns: str | None = "", checkpoint_id: str | None = None, **extra: Any) -> RunnableConfig:
        """A config of this thread; ``ns=None`` and ``checkpoint_id=None`` leave the key out."""
        return config_of(self.id, ns, checkpoint_id, **extra)

    def make(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        parent: Stored | None = None,
        ns: str | None = None,
        id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        versions: Mapping[str, Any] | None = None,
        changed: Iterable[str] | None = None,
        versions_seen: Mapping[str, Any] | None = None,
        updated_channels: Sequence[str] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Stored:
        """A checkpoint that is not stored yet.

        Args:
            values: all channel values; what differs from the parent's is changed and gets a new version.
            parent: the checkpoint that this one follows.
            ns: namespace; the parent's, or the root's, when left out.
            id: checkpoint id; a new one that sorts after all earlier ones when left out.
            metadata: added to source, step and parents.
            versions: channel versions in full, in place of the saver's own next ones.
            changed: channels that get a new version, in place of what differs from the parent.
            versions_seen, updated_channels: as in a checkpoint.
            extra: further top-level keys of the checkpoint.
        """
        values = dict(values or {})
        ns = ns if ns is not None else parent.ns if parent else ""
        before: Mapping[str, Any] = parent.checkpoint["channel_versions"] if parent else {}
        held: Mapping[str, Any] = parent.values if parent else {}
        if changed is None:
            changed = [name for name in values if name not in held or not same(held[name], values[name])]
            changed += [name for name in held if name not in values]
        changed = list(changed)
        if versions is None:
            newest = self.saver.get_next_version(max(before.values(), default=None), None) if changed else None
            versions = {**before, **{name: newest for name in changed}}
        new_versions = {name: versions[name] for name in changed if name in versions}
        step = int(parent.metadata["step"]) + 1 if parent else -1
        checkpoint = {
            "v": FORMAT,
            "id": id or str(uuid6(clock_seq=step)),
            "ts": datetime.now(timezone.utc).isoformat(),
            "channel_values": values,
            "channel_versions": dict(versions),
            "versions_seen": dict(versions_seen or {}),
            "updated_channels": list(updated_channels) if updated_channels is not None else None,
            **(extra or {}),
        }
        described = {"source": "loop" if parent else "input", "step": step, "parents": {}, **(metadata or {})}
        return Stored(self.id, ns, checkpoint, described, parent, new_versions)

    def store(self, made: Stored, **configurable: Any) -> Stored:
        """Put a made checkpoint on its parent; ``configurable`` is added to the config."""
        config = config_of(made.thread_id, made.ns, made.parent.id if made.parent else None, **configurable)
        returned = self.saver.put(
            config, copy.deepcopy(dict(made.checkpoint)), copy.deepcopy(dict(made.metadata)), dict(made.new_versions)
        )
        return Stored(made.thread_id, made.ns, made.checkpoint, made.metadata, made.parent, made.new_versions, returned)

    def put(self, values: Mapping[str, Any] | None = None, **settings: Any) -> Stored:
        """Make a checkpoint (see ``make`` for the settings) and put it."""
        return self.store(self.make(values, **settings))

    def chain(self, length: int, *, ns: str = "", channel: str = "count") -> list[Stored]:
        """``length`` checkpoints, each the parent of the next; ``channel`` counts from 0."""
        stored: list[Stored] = []
        for count in range(length):
            stored.append(self.put({channel: count}, parent=stored[-1] if stored else None, ns=ns))
        return stored

    def write(
        self, stored: Stored, writes: Sequence[tuple[str, Any]], *, task: str = "task", path: str | None = None
    ) -> None:
        """Store pending writes of ``task`` under a checkpoint; without ``path`` the argument is left out.

        ``writes`` is copied: checks share theirs, and a saver that takes one apart must not spoil the others.
        """
        self.saver.put_writes(stored.config, copy.copy(writes), task, path)

    def read(self, stored: Stored) -> CheckpointTuple:
        """The tuple of exactly this checkpoint.

        Raises:
            Broken: there is none.
        """
        found = self.saver.get_tuple(stored.config)
        if found is None:
            raise Broken("get_tuple of a checkpoint that was put", f"the checkpoint {stored.id}", "None")
        return found

    def latest(self, *, ns: str = "") -> CheckpointTuple:
        """The tuple of the namespace's latest checkpoint.

        Raises:
            Broken: there is none.
        """
        found = self.saver.get_tuple(self.config(ns=ns))
        if found is None:
            raise Broken("get_tuple of a thread that has checkpoints", "its latest checkpoint", "None")
        return found

    def listed_ids(self, *, ns: str | None = "", **keywords: Any) -> list[str]:
        """The checkpoint ids that ``list`` gives for this thread, in its order."""
        return ids_of(self.saver.list(self.config(ns=ns), **keywords))


def fresh_id(hint: str = "") -> str:
    """A text that nobody else uses, with ``hint`` at its end."""
    return f"{uuid.uuid4().hex[:12]}{hint}"


def ids_of(tuples: Iterable[CheckpointTuple]) -> list[str]:
    """The checkpoint ids of tuples."""
    return [each.checkpoint["id"] for each in tuples]


def address_of(config: RunnableConfig | None) -> tuple[Any, Any, Any] | None:
    """Thread id, namespace and checkpoint id of a config; a namespace that is left out is the root's."""
    if config is None:
        return None
    configurable = config.get("configurable", {})
    return (
        configurable.get("thread_id"),
        configurable.get("checkpoint_ns", ""),
        configurable.get("checkpoint_id"),
    )


def writes_of(found: CheckpointTuple) -> list[tuple[Any, ...]]:
    """The pending writes of a tuple as a list of tuples; None counts as none."""
    return [tuple(write) for write in found.pending_writes or []]


def by_channel(writes: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Writes by task and channel, for checks that are not about their order."""
    return sorted(writes, key=lambda write: (write[0], write[1]))


def expect_tuple(stored: Stored, found: CheckpointTuple | None, what: str = "the tuple read") -> None:
    """``found`` is what was put: address, checkpoint, metadata and parent. Pending writes are not looked at.

    Raises:
        Broken: they differ.
    """
    expect_same(as_stored(stored), None if found is None else as_read(found), what)


def fields_of(checkpoint: Mapping[str, Any]) -> dict[str, Any]:
    """What the engine reads of a checkpoint: savers and older formats have further keys, such as ``pending_sends``."""
    return {key: checkpoint.get(key) for key in FIELDS}


def as_stored(stored: Stored) -> dict[str, Any]:
    """What a saver must give back for a checkpoint that was put."""
    return {
        "address": (stored.thread_id, stored.ns, stored.id),
        "checkpoint": fields_of(stored.checkpoint),
        "metadata": AtLeast(stored.metadata),
        "parent": (stored.thread_id, stored.ns, stored.parent.id) if stored.parent else None,
    }


def as_read(found: CheckpointTuple) -> dict[str, Any]:
    """A tuple in the same form as ``as_stored``."""
    return {
        "address": address_of(found.config),
        "checkpoint": fields_of(found.checkpoint),
        "metadata": dict(found.metadata),
        "parent": address_of(found.parent_config),
    }


def contents_of(tuples: Iterable[CheckpointTuple]) -> dict[tuple[Any, Any], dict[str, Any]]:
    """All that tuples hold but the thread's id, by namespace and checkpoint id: to compare threads or moments."""
    contents = {}
    for found in tuples:
        read = {**as_read(found), "pending_writes": writes_of(found)}
        address, parent = read.pop("address"), read["parent"]
        metadata = {key: value for key, value in read["metadata"].items() if key != "thread_id"}  # old savers add it
        contents[address[1:]] = {**read, "metadata": metadata, "parent": parent and parent[1:]}
    return contents
