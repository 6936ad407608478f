"""The calls that the engine makes of a saver in a golden run: what a version of LangGraph demands."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph_reference import ReferenceSaver

from .names import Names
from .text import Said, Section, text_of

READS = ("get_tuple", "list", "get_delta_channel_history")
ADDRESS = ("thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint_map")
"""What a saver reads of a config; all else that lies in it is the engine's own."""


@dataclass(frozen=True)
class SaverCall:
    """One call of a saver.

    Attributes:
        method: its sync name, whichever was called.
        arguments: by the names of its parameters, as they were; those left out are missing.
    """

    method: str
    arguments: Mapping[str, Any]

    @property
    def place(self) -> tuple[str, str]:
        """Thread and namespace."""
        configurable = self.arguments["config"]["configurable"]
        return str(configurable["thread_id"]), configurable.get("checkpoint_ns", "")

    @property
    def checkpoint_id(self) -> str:
        """The checkpoint that is put, or under which writes are stored."""
        put = self.arguments.get("checkpoint")
        return str(put["id"] if put else self.arguments["config"]["configurable"].get("checkpoint_id"))


@dataclass
class CallsOfOne:
    """The calls of a saver during one call of a graph.

    Attributes:
        title: the graph's method.
        calls: in the order in which they began.
        versions: the arguments of ``get_next_version``.
    """

    title: str
    calls: list[SaverCall] = field(default_factory=list)
    versions: list[tuple[Any, Any]] = field(default_factory=list)


class NotingSaver(ReferenceSaver):
    """A reference saver that notes how it is called. Its async methods call the sync ones, so that both are noted."""

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[CallsOfOne] = []

    def begin(self, title: str) -> None:
        """Another call of a graph begins."""
        self.noted.append(CallsOfOne(title))

    def _note(self, method: str, **arguments: Any) -> None:
        given = {name: copy.deepcopy(each) for name, each in arguments.items() if name != "config" and each is not None}
        config: RunnableConfig | None = arguments["config"]
        address = {key: each for key, each in (config or {}).get("configurable", {}).items() if key in ADDRESS}
        self.noted[-1].calls.append(SaverCall(method, {"config": {"configurable": copy.deepcopy(address)}, **given}))

    def get_next_version(self, current: str | int | float | None, channel: None) -> str:
        self.noted[-1].versions.append((current, channel))
        return super().get_next_version(current, channel)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        self._note("put", config=config, checkpoint=checkpoint, metadata=metadata, new_versions=new_versions)
        return super().put(config, checkpoint, metadata, new_versions)

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        self._note("put_writes", config=config, writes=list(writes), task_id=task_id, task_path=task_path)
        super().put_writes(config, writes, task_id, task_path)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        self._note("get_tuple", config=config)
        return super().get_tuple(config)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        at = before and {key: each for key, each in before["configurable"].items() if key in ADDRESS}
        self._note("list", config=config, filter=filter, before=at, limit=limit)
        return super().list(config, filter=filter, before=before, limit=limit)

    def get_delta_channel_history(self, *, config: RunnableConfig, channels: Sequence[str]) -> Any:
        self._note("get_delta_channel_history", config=config, channels=sorted(channels))
        return super().get_delta_channel_history(config=config, channels=channels)


class CallsView:
    """The calls of a saver, for each call of a graph, thread and namespace.

    What the engine does in the background has no fixed order. So the writes between two reads are given in the order
    of the checkpoints that they are about: a checkpoint, and then what its tasks wrote.

    Args:
        noted: what was noted.
        names: the names given by the other views.
    """

    def __init__(self, noted: Sequence[CallsOfOne], names: Names) -> None:
        self._noted, self._names = noted, names

    def text(self) -> str:
        section = Section()
        for number, each in enumerate(self._noted, 1):
            section[f"{number} {each.title}"] = self._of_one(each)
        return text_of(section, self._names)

    def _of_one(self, noted: CallsOfOne) -> Section:
        by_place: dict[tuple[str, str], list[SaverCall]] = {}
        for call in noted.calls:
            by_place.setdefault(call.place, []).append(call)
        section = Section()
        for thread, ns in sorted(by_place, key=lambda place: (self._names.rank(place[0]), self._names.say(place[1]))):
            calls = self._in_order(by_place[thread, ns])
            section[f"{thread} namespace {ns!r}"] = Section(
                {f"{number} {call.method}": self._arguments(call) for number, call in enumerate(calls, 1)}
            )
        if noted.versions:
            counters = sorted((_counter(current) for current, _ in noted.versions), key=lambda each: each or 0)
            channels = sorted({repr(channel) for _, channel in noted.versions})
            section["get_next_version"] = Section({"current": counters, "channel": Said(", ".join(channels))})
        return section

    def _in_order(self, calls: Sequence[SaverCall]) -> list[SaverCall]:
        ordered: list[SaverCall] = []
        writes: list[SaverCall] = []
        for call in calls:
            if call.method in READS:
                ordered += [*sorted(writes, key=self._rank), call]
                writes = []
            else:
                writes.append(call)
        return [*ordered, *sorted(writes, key=self._rank)]

    def _rank(self, call: SaverCall) -> tuple[Any, ...]:
        return (call.checkpoint_id, call.method, self._names.rank(str(call.arguments.get("task_id"))))

    def _arguments(self, call: SaverCall) -> Section:
        section = Section({"config": call.arguments["config"]["configurable"]})
        for name, value in call.arguments.items():
            if name == "new_versions":
                section[name] = self._versions(value)
            elif name == "checkpoint":
                section[name] = self._checkpoint(value)
            elif name != "config":
                section[name] = Said(value) if name == "task_id" else value
        return section

    def _checkpoint(self, checkpoint: Mapping[str, Any]) -> Section:
        section = Section(
            {key: Said(each) if key in ("id", "ts") else each for key, each in sorted(checkpoint.items())}
        )
        section["channel_versions"] = self._versions(checkpoint["channel_versions"])
        section["versions_seen"] = {
            node: self._versions(seen) for node, seen in sorted(checkpoint["versions_seen"].items())
        }
        return section

    def _versions(self, versions: Mapping[str, Any]) -> dict[str, Said]:
        return {name: Said(self._names.say_version(version)) for name, version in sorted(versions.items())}


def _counter(version: Any) -> int | None:
    return None if version is None else int(str(version).partition(".")[0])
