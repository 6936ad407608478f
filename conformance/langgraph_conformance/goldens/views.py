"""What a run left behind, as text: the logical view, which every saver shows, and the layout in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Interrupt

from ..drive import Hangs, SaverDrive
from ..expect import same
from ..loops import MainLoop
from ..target import Opened
from ..threads import Thread, fresh_id
from .calls import CallsView, NotingSaver
from .names import Names, numbered
from .play import Done, GoldenRun, Play
from .text import Said, Section, is_delta_snapshot, text_of


@dataclass(frozen=True)
class Recording:
    """What one performance of a golden run left behind.

    Attributes:
        logical: what the graph's caller and the saver's reading methods show.
        layout: what lies in memory, where the saver keeps it as InMemorySaver does; None elsewhere.
        calls: how the saver was called, where it notes that; None elsewhere.
    """

    logical: str
    layout: str | None
    calls: str | None = None


def record(run: GoldenRun, saver: SaverDrive, new_thread: Callable[[], Thread]) -> Recording:
    """Play a golden run on a saver and put down what it left behind.

    Args:
        run: the run.
        saver: the saver, through the drive that is to be used.
        new_thread: makes a thread that nobody else uses.
    """
    noting = saver.raw if isinstance(saver.raw, NotingSaver) else None
    play = Play(saver, new_thread, noting.begin if noting else None)
    run.play(play)
    noted = list(noting.noted) if noting else []
    if noting:
        noting.begin("the views")  # which call the saver, too
    names = Names()
    logical = LogicalView(play, names).text()
    layout = None
    if run.layout and keeps_memory_layout(saver.raw):
        layout = LayoutView(saver.raw, [thread.id for thread in play.threads], names).text()
    return Recording(logical, layout, CallsView(noted, names).text() if noting else None)


def record_reference(run: GoldenRun, mode: str) -> Recording:
    """Play a golden run on the reference saver, through the drive ``mode``."""
    loop = MainLoop()
    saver = SaverDrive(Opened(NotingSaver(), loop, None, loop.close), mode, Hangs())
    try:
        return record(run, saver, lambda: Thread(saver, fresh_id()))
    finally:
        saver.opened.close()


class LogicalView:
    """The checkpoints, writes and snapshots of a run, through ``list``, ``get_tuple`` and ``get_state_history``.

    Args:
        play: the run, played.
        names: where names are given.
    """

    def __init__(self, play: Play, names: Names) -> None:
        self._play, self._saver, self._names = play, play.drive, names

    def text(self) -> str:
        threads = Section()
        for thread in self._play.threads:
            self._names.give("thread", thread.id)
        for done in self._play.done:
            for interrupt in done.returned.get("__interrupt__", ()) if isinstance(done.returned, Mapping) else ():
                self._names.give("interrupt", interrupt.id)
        for thread in self._play.threads:
            threads.update(self._thread(thread))
        calls = Section({f"{number} {done.method}": self._call(done) for number, done in enumerate(self._play.done, 1)})
        return text_of(Section({"calls": calls, **threads}), self._names)

    def _call(self, done: Done) -> Section:
        section = Section({"on": Said(_place(done.config)), "given": done.input, **done.keywords})
        if done.raised is not None:
            section["raised"] = done.raised
        elif done.method == "update_state":
            section["returned"] = Said(_place(done.returned))
        else:
            section["returned"] = done.returned
        return section

    def _thread(self, thread: Thread) -> Section:
        listed: defaultdict[str, list[CheckpointTuple]] = defaultdict(list)
        for found in self._saver.list(thread.config(ns=None)):
            listed[found.config["configurable"].get("checkpoint_ns", "")].append(found)
        section = Section()
        waiting = sorted(listed)
        while waiting:
            # a namespace comes after the one whose task it belongs to: that gives the names of tasks in its own
            ns = min(waiting, key=lambda ns: (ns.count("|"), ns != "", self._order(ns)))
            waiting.remove(ns)
            section[f"{thread.id} namespace {ns!r}"] = self._namespace(thread, ns, listed[ns][::-1])
        return section

    def _order(self, ns: str) -> list[tuple[str, int]]:
        parts = [part.partition(":") for part in ns.split("|")]
        return [(name, self._names.rank(task)) for name, _, task in parts]

    def _namespace(self, thread: Thread, ns: str, found: Sequence[CheckpointTuple]) -> Section:
        for each in found:
            self._names.give("checkpoint", each.checkpoint["id"])
        section, numbers, by_id = Section(), dict[str, dict[Any, int]](), dict[str, CheckpointTuple]()
        section["latest"] = Said(_place_in_thread(self._saver.get_tuple(thread.config(ns=ns))))
        snapshots, failed = self._history(thread, ns)
        if failed is not None:
            section["history"] = failed
        for each in found:
            id, parent = each.checkpoint["id"], _id(each.parent_config)
            numbers[id] = numbered(_versions(each.checkpoint), numbers.get(parent, {}))
            section[id] = self._checkpoint(each, by_id.get(parent), snapshots.get(id), numbers[id])
            by_id[id] = each
        return section

    def _history(self, thread: Thread, ns: str) -> tuple[dict[str, Any], Exception | None]:
        """The snapshots of a namespace by checkpoint id; the error if the graph does not know the namespace."""
        assert self._play.graph is not None
        try:
            snapshots = self._play.graph.get_state_history(thread.config(ns=ns))
        except ValueError as error:
            return {}, error
        return {_id(snapshot.config): snapshot for snapshot in snapshots}, None

    def _checkpoint(
        self, found: CheckpointTuple, parent: CheckpointTuple | None, snapshot: Any, numbers: Mapping[Any, int]
    ) -> Section:
        checkpoint: dict[str, Any] = dict(found.checkpoint)
        # not all keys that come back: a saver may add some of its own
        metadata = {key: each for key, each in found.metadata.items() if key in CheckpointMetadata.__annotations__}
        section = Section({"parent": Said(_id(found.parent_config)), "metadata": _lists(metadata)})
        section["ts"] = Said(checkpoint.get("ts"))
        section.update({key: checkpoint[key] for key in ("updated_channels", "v") if key in checkpoint})
        section["channel_versions"] = {name: numbers[each] for name, each in checkpoint["channel_versions"].items()}
        section["versions_seen"] = {
            node: {name: numbers[each] for name, each in seen.items()}
            for node, seen in checkpoint["versions_seen"].items()
        }
        section["channel_values"] = {
            name: value
            for name, value in checkpoint["channel_values"].items()
            # stored with the parent: savers may show it again or not, the engine finds it either way
            if not (is_delta_snapshot(value) and parent and _same_version(name, parent.checkpoint, checkpoint))
        }
        if snapshot is not None:
            for task in snapshot.tasks:
                self._names.give("task", task.id)
                for interrupt in task.interrupts:
                    self._names.give("interrupt", interrupt.id)
        writes = self._writes(found)
        if writes:
            section["writes"] = writes
        if snapshot is not None:
            section["snapshot"] = self._snapshot(snapshot, found)
        again = self._saver.get_tuple(found.config)
        if again is None:
            section["get_tuple gives"] = None
        elif not same(_content(found), _content(again)):
            section["get_tuple gives"] = Said(repr(_content(again)))
        return section

    def _writes(self, found: CheckpointTuple) -> Section:
        """Pending writes by task. Their order among tasks has rules of its own, and old savers give none."""
        by_task: defaultdict[str, list[tuple[str, Any]]] = defaultdict(list)
        for task, channel, value in found.pending_writes or []:
            by_task[task].append((channel, value))
        for task in sorted(by_task, key=lambda task: repr([(name, _nameless(each)) for name, each in by_task[task]])):
            self._names.give("task", task)
        section = Section()
        for task in sorted(by_task, key=self._names.rank):
            section[task] = Section()
            for position, (channel, value) in enumerate(sorted(by_task[task], key=lambda write: _special(write[0]))):
                section[task][f"{position} {channel}"] = value
        return section

    def _snapshot(self, snapshot: Any, found: CheckpointTuple) -> Section:
        section = Section({"values": snapshot.values, "next": snapshot.next})
        if snapshot.tasks:
            section["tasks"] = Section({task.id: self._task(task) for task in snapshot.tasks})
        if snapshot.interrupts:
            section["interrupts"] = snapshot.interrupts
        of_tuple = (found.metadata, found.checkpoint["ts"], _id(found.parent_config))
        of_snapshot = (snapshot.metadata, snapshot.created_at, _id(snapshot.parent_config))
        if not same(of_tuple, of_snapshot):
            section["metadata, created_at, parent"] = of_snapshot
        return section

    def _task(self, task: Any) -> Section:
        section = Section({"name": task.name, "path": task.path})
        for key in ("error", "result"):
            if getattr(task, key) is not None:
                section[key] = getattr(task, key)
        if task.interrupts:
            section["interrupts"] = task.interrupts
        if task.state is not None:
            section["subgraph"] = Said(_place(task.state))
        return section


def _special(channel: str) -> str:
    """Sorts writes to special channels before those to the graph's own, which keep their order."""
    return channel if channel in ("__error__", "__scheduled__", "__interrupt__", "__resume__") else "~"


def _nameless(value: Any) -> Any:
    """``value`` without ids that change from run to run, to sort by."""
    if isinstance(value, (list, tuple)):
        return [_nameless(member) for member in value]
    return value.value if isinstance(value, Interrupt) else value


def _content(found: CheckpointTuple) -> tuple[Any, ...]:
    return (found.checkpoint, found.metadata, _id(found.parent_config), list(found.pending_writes or []))


def _versions(checkpoint: Mapping[str, Any]) -> list[Any]:
    seen = [version for each in checkpoint["versions_seen"].values() for version in each.values()]
    return [*checkpoint["channel_versions"].values(), *seen]


def _same_version(channel: str, *checkpoints: Mapping[str, Any]) -> bool:
    return len({checkpoint["channel_versions"].get(channel) for checkpoint in checkpoints}) == 1


def _lists(value: Any) -> Any:
    """Tuples made lists: metadata goes through JSON in databases."""
    if isinstance(value, Mapping):
        return {key: _lists(member) for key, member in value.items()}
    return [_lists(member) for member in value] if isinstance(value, (list, tuple)) else value


def _id(config: RunnableConfig | None) -> str:
    return str(config["configurable"].get("checkpoint_id")) if config else "None"


def _place(config: RunnableConfig) -> str:
    configurable = config["configurable"]
    ns, id = configurable.get("checkpoint_ns"), configurable.get("checkpoint_id")
    return f"{configurable['thread_id']}" + (f" namespace {ns!r}" if ns else "") + (f" {id}" if id else "")


def _place_in_thread(found: CheckpointTuple | None) -> str:
    return "None" if found is None else str(found.checkpoint["id"])


def keeps_memory_layout(saver: Any) -> bool:
    """Whether a saver has ``storage``, ``writes`` and ``blobs`` in memory, with LangGraph's own serialiser."""
    parts = [getattr(saver, name, None) for name in ("storage", "writes", "blobs")]
    serde = getattr(saver, "serde", None)
    return all(isinstance(part, Mapping) for part in parts) and type(serde) is JsonPlusSerializer


class LayoutView:
    """What a saver with InMemorySaver's layout holds of some threads, bytes included.

    Args:
        saver: the saver.
        threads: thread ids.
        names: the names given by the logical view.
    """

    def __init__(self, saver: Any, threads: Sequence[str], names: Names) -> None:
        self._saver, self._threads, self._names = saver, threads, names

    def text(self) -> str:
        section = Section({"storage": self._storage(), "writes": self._writes(), "blobs": self._blobs()})
        return text_of(section, self._names)

    def _storage(self) -> Section:
        section = Section()
        for thread in self._threads:
            namespaces = self._saver.storage.get(thread, {})
            for ns in sorted(namespaces, key=self._names.say):
                for id, row in sorted(namespaces[ns].items()):
                    section[f"{thread} {ns!r} {id}"] = self._row(*row)
        return section

    def _row(self, checkpoint: tuple[str, bytes], metadata: tuple[str, bytes], parent: str | None) -> Section:
        loads = self._saver.serde.loads_typed
        section = Section({"parent": Said(parent), f"metadata {metadata[0]}": loads(metadata)})
        held = loads(checkpoint)
        typed = section[f"checkpoint {checkpoint[0]}"] = Section()
        for key in sorted(held):
            typed[key] = Said(held[key]) if key in ("id", "ts") else held[key]
        typed["channel_versions"] = self._versions(held["channel_versions"])
        typed["versions_seen"] = {node: self._versions(seen) for node, seen in sorted(held["versions_seen"].items())}
        return section

    def _versions(self, versions: Mapping[str, Any]) -> dict[str, Said]:
        return {name: Said(self._names.say_version(version)) for name, version in sorted(versions.items())}

    def _writes(self) -> Section:
        section = Section()
        mine = [key for key in self._saver.writes if key[0] in self._threads and self._saver.writes[key]]
        for key in sorted(mine, key=lambda key: (self._threads.index(key[0]), self._names.say(key[1]), key[2])):
            rows = self._saver.writes[key]
            thread, ns, id = key
            section[f"{thread} {ns!r} {id}"] = Section(
                {
                    f"{task} {index}": (Said(row[0]), row[1], self._typed(row[2]), row[3])
                    for (task, index), row in sorted(rows.items(), key=lambda item: self._write_order(*item))
                }
            )
        return section

    def _typed(self, typed: tuple[str, bytes]) -> tuple[str, Any]:
        value = self._saver.serde.loads_typed(typed) if typed[0] == "msgpack" else None
        # the members of a set lie in the order of their hashes, which is another one in each process
        return (typed[0], value) if isinstance(value, set) else typed

    def _write_order(self, key: tuple[str, int], row: Sequence[Any]) -> tuple[Any, ...]:
        return (self._names.rank(key[0]), row[3], key[1], row[1], repr(row[2]))

    def _blobs(self) -> Section:
        section = Section()
        mine = [key for key in self._saver.blobs if key[0] in self._threads]
        named = {
            key: (self._threads.index(key[0]), self._names.say(key[1]), key[2], self._names.say_version(key[3]))
            for key in sorted(mine, key=lambda key: (key[2], str(key[3]).split(".")[0]))
        }
        for thread, ns, channel, version in sorted(mine, key=named.__getitem__):
            typed = self._typed(self._saver.blobs[thread, ns, channel, version])
            section[f"{thread} {ns!r} {channel} {self._names.say_version(version)}"] = typed
        return section
