"""Threads that were left by another LangGraph: their graphs, and the script that plays them with any since 0.2.

It imports nothing but LangGraph, so that it runs where this package cannot be installed:

    python old_threads.py

prints what the threads hold, as JSON. ``recorded`` makes the files of the bank of it, ``bank`` reads them.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable
from importlib.metadata import version
from inspect import signature
from typing import Annotated, Any, NamedTuple, TypedDict

from langgraph.checkpoint.memory import MemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import END, START, StateGraph

THREAD = "old thread"
PACKAGES = ("langgraph", "langgraph-checkpoint")


class Log(TypedDict):
    log: Annotated[list[str], operator.add]
    count: int


def _plain(node: Callable[[Any], Any]) -> Callable[..., Any]:
    return node


class World:
    """What the nodes of a thread's graph see and leave behind outside of its state.

    Args:
        in_order: whether what fails has been mended.
        wrapped: wraps nodes that interrupt.
    """

    def __init__(self, *, in_order: bool, wrapped: Callable[..., Callable[..., Any]] = _plain) -> None:
        self.in_order, self.wrapped = in_order, wrapped
        self.ran: list[str] = []

    def node(self, name: str) -> Callable[[Any], Any]:
        """A node that logs its name and counts."""

        def node(state: Any) -> Any:
            self.ran.append(name)
            return {"log": [name], "count": state.get("count", 0) + 1}

        return node

    def asks(self, name: str) -> Callable[..., Any]:
        """A node that asks, and logs the answer."""

        def node(state: Any) -> Any:
            from langgraph.types import interrupt

            self.ran.append(name)
            return {"log": [f"{name}: {interrupt(f'{name}?')}"]}

        return self.wrapped(node)

    def fails(self, name: str) -> Callable[[Any], Any]:
        """A node that fails as long as the world is not in order."""

        def node(state: Any) -> Any:
            self.ran.append(name)
            if not self.in_order:
                raise RuntimeError("no connection")
            return {"log": [name]}

        return node


def finished(world: World) -> Any:
    builder: Any = StateGraph(Log)
    builder.add_node("first", world.node("first"))
    builder.add_node("second", world.node("second"))
    builder.add_edge(START, "first")
    builder.add_edge("first", "second")
    builder.add_edge("second", END)
    return builder


def between_nodes(world: World) -> Any:
    builder: Any = StateGraph(Log)
    builder.add_node("choose", world.node("choose"))
    builder.add_node("left", world.node("left"))
    builder.add_node("right", world.node("right"))
    builder.add_edge(START, "choose")
    builder.add_conditional_edges("choose", lambda state: "left" if state["count"] else "right", ["left", "right"])
    builder.add_edge("left", END)
    builder.add_edge("right", END)
    return builder


def sends(world: World) -> Any:
    from langgraph.types import Send

    def work(item: Any) -> Any:
        world.ran.append(f"work on {item['item']}")
        return {"log": [f"work on {item['item']}"]}

    builder: Any = StateGraph(Log)
    builder.add_node("plan", world.node("plan"))
    builder.add_node("work", work)
    builder.add_edge(START, "plan")
    builder.add_conditional_edges("plan", lambda state: [Send("work", {"item": item}) for item in "abc"], ["work"])
    builder.add_edge("work", END)
    return builder


def interrupted(world: World) -> Any:
    builder: Any = StateGraph(Log)
    builder.add_node("prepare", world.node("prepare"))
    builder.add_node("ask", world.asks("ask"))
    builder.add_edge(START, "prepare")
    builder.add_edge("prepare", "ask")
    builder.add_edge("ask", END)
    return builder


def failed(world: World) -> Any:
    builder: Any = StateGraph(Log)
    builder.add_node("finishes", world.node("finishes"))
    builder.add_node("then_fails", world.fails("then_fails"))
    # not two plain edges: LangGraph keeps edges in a set, and writes in the set's order
    builder.add_conditional_edges(START, lambda state: ["finishes", "then_fails"], ["finishes", "then_fails"])
    return builder


def subgraph(world: World) -> Any:
    inner: Any = StateGraph(Log)
    inner.add_node("prepare", world.node("prepare"))
    inner.add_node("ask", world.asks("ask"))
    inner.add_edge(START, "prepare")
    inner.add_edge("prepare", "ask")
    builder: Any = StateGraph(Log)
    builder.add_node("child", inner.compile())
    builder.add_edge(START, "child")
    return builder


class OldThread(NamedTuple):
    """A thread of the bank.

    Attributes:
        shows: what it holds, in words.
        build: its graph's builder.
        inputs: what the graph was given, one after the other.
        stops_before: the node before which the run stopped.
    """

    shows: str
    build: Callable[[World], Any]
    inputs: list[dict[str, Any]]
    stops_before: tuple[str, ...] = ()


START_INPUT: dict[str, Any] = {"log": ["start"], "count": 0}
THREADS: dict[str, OldThread] = {
    "finished": OldThread("A run that came to its end.", finished, [START_INPUT]),
    "between_nodes": OldThread(
        "A run that was stopped after a conditional edge.", between_nodes, [START_INPUT], ("left",)
    ),
    "sends": OldThread("A run that was stopped when three Sends were pending.", sends, [START_INPUT], ("work",)),
    "interrupted": OldThread("A run that waits for an answer.", interrupted, [START_INPUT]),
    "failed": OldThread("A run of which one task failed beside a finished one.", failed, [START_INPUT]),
    "subgraph": OldThread("A run whose subgraph waits for an answer.", subgraph, [START_INPUT]),
}


class Noting(MemorySaver):
    """A saver that notes which versions are new with each checkpoint, and the writes of tasks."""

    def __init__(self) -> None:
        super().__init__()
        self.new: dict[str, Any] = {}
        self.noted: list[Any] = []

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        self.new[checkpoint["id"]] = dict(new_versions)
        return super().put(config, checkpoint, metadata, new_versions)

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        # LangGraph gives the path to savers whose signature has it; the oldest ones keep none
        self.noted.append((config["configurable"]["checkpoint_id"], list(writes), task_id, task_path))
        takes_path = "task_path" in signature(MemorySaver.put_writes).parameters
        super().put_writes(config, writes, task_id, *([task_path] if takes_path else []))


def play(thread: OldThread) -> Noting:
    """Play a thread with the installed LangGraph; gives the saver that holds it."""
    saver = Noting()
    graph = thread.build(World(in_order=False)).compile(checkpointer=saver, interrupt_before=list(thread.stops_before))
    # one task after the other, so that one is finished before another fails
    config: Any = {"configurable": {"thread_id": THREAD}, "max_concurrency": 1}
    for each in thread.inputs:
        try:
            graph.invoke(each, config)
        except RuntimeError:
            continue
    return saver


def held(saver: Noting) -> list[Any]:
    """All that a saver holds, each checkpoint after its parent."""
    serializer = JsonPlusSerializer()

    def typed(value: Any) -> list[str]:
        tag, payload = serializer.dumps_typed(value)
        return [tag, payload.hex()]

    checkpoints = []
    namespaces = sorted({found.config["configurable"]["checkpoint_ns"] for found in saver.list(_config(None))})
    for ns in namespaces:
        for found in reversed(list(saver.list(_config(ns)))):
            id = found.checkpoint["id"]
            parent = (found.parent_config or {"configurable": {}})["configurable"].get("checkpoint_id")
            writes = [
                {"task": task, "path": path, "channel": channel, "value": typed(value)}
                for at, written, task, path in saver.noted
                if at == id
                for channel, value in written
            ]
            checkpoints.append(
                {
                    "ns": ns,
                    "id": id,
                    "parent": parent,
                    "checkpoint": typed(found.checkpoint),
                    "metadata": typed(found.metadata),
                    "new_versions": saver.new[id],
                    "writes": writes,
                }
            )
    return checkpoints


def _config(ns: Any) -> Any:
    return {"configurable": {"thread_id": THREAD, **({} if ns is None else {"checkpoint_ns": ns})}}


def document() -> dict[str, Any]:
    """What the threads hold, and the versions that made them."""
    made_with = {package: version(package) for package in PACKAGES}
    return {"made_with": made_with, "threads": {name: held(play(thread)) for name, thread in THREADS.items()}}


if __name__ == "__main__":
    print(json.dumps(document()))
