"""Runs of graphs within graphs: each has a namespace of its own."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from ...graphs import in_context
from ..play import Play, golden_run


class Log(TypedDict):
    log: Annotated[list[str], operator.add]


class Notes(TypedDict):
    notes: Annotated[list[str], operator.add]


def _inner(*, checkpointer: bool | None = None) -> Any:
    """A graph with a state of its own, which counts its notes."""
    builder = StateGraph(Notes)
    builder.add_node("note", lambda state: {"notes": [f"note {len(state['notes'])}"]})
    builder.add_edge(START, "note")
    return builder.compile(checkpointer=checkpointer)


def _calling(inner: Any) -> Any:
    """A node that calls a graph. It passes the config on, as an async run before Python 3.11 needs."""

    def call(state: Log, config: RunnableConfig) -> dict[str, Any]:
        return {"log": inner.invoke({"notes": ["begin"]}, config)["notes"]}

    return call


@golden_run()
def subgraph(play: Play) -> None:
    """A graph that is a node has the namespace `child:<task>`, and `parents` names its parent's checkpoint."""
    child = StateGraph(Log)
    child.add_node("first", lambda state: {"log": ["first"]})
    child.add_node("ask", in_context(lambda state: {"log": [interrupt("question")]}))
    child.add_edge(START, "first")
    child.add_edge("first", "ask")
    builder = StateGraph(Log)
    builder.add_node("child", child.compile())
    builder.add_edge(START, "child")
    graph, thread = play.compile(builder), play.thread()
    graph.invoke({"log": ["start"]}, thread)
    graph.invoke(Command(resume="answer"), thread)


@golden_run()
def nested_twice(play: Play) -> None:
    """A graph within a graph within a graph: namespaces join with `|`, and `parents` names both ancestors."""
    grandchild = StateGraph(Log)
    grandchild.add_node("deepest", lambda state: {"log": ["deepest"]})
    grandchild.add_edge(START, "deepest")
    child = StateGraph(Log)
    child.add_node("grandchild", grandchild.compile())
    child.add_edge(START, "grandchild")
    builder = StateGraph(Log)
    builder.add_node("child", child.compile())
    builder.add_edge(START, "child")
    play.compile(builder).invoke({"log": ["start"]}, play.thread())


@golden_run()
def stateless_subgraph(play: Play) -> None:
    """A graph called by a node starts from nothing in each run of its parent: two runs, two namespaces."""
    inner = _inner()
    builder = StateGraph(Log)
    builder.add_node("child", _calling(inner))
    builder.add_edge(START, "child")
    graph, thread = play.compile(builder), play.thread()
    graph.invoke({"log": []}, thread)
    graph.invoke({"log": []}, thread)


@golden_run()
def stateful_subgraph(play: Play) -> None:
    """A graph compiled with `checkpointer=True` goes on from its own last state: two runs, one namespace."""
    inner = _inner(checkpointer=True)
    builder = StateGraph(Log)
    builder.add_node("child", _calling(inner))
    builder.add_edge(START, "child")
    graph, thread = play.compile(builder), play.thread()
    graph.invoke({"log": []}, thread)
    graph.invoke({"log": []}, thread)
