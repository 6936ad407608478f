"""Runs from earlier checkpoints: forks, replays, updates by hand."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph

from ..play import Play, PlayedGraph, golden_run


class Log(TypedDict):
    log: Annotated[list[str], operator.add]
    topic: str


def _three_steps() -> Any:
    builder = StateGraph(Log)
    for name in ("first", "second", "third"):
        builder.add_node(name, lambda state, name=name: {"log": [f"{name} about {state['topic']}"]})
    builder.add_edge(START, "first")
    builder.add_edge("first", "second")
    builder.add_edge("second", "third")
    builder.add_edge("third", END)
    return builder


def _before(graph: PlayedGraph, thread: RunnableConfig, node: str) -> RunnableConfig:
    """The config of the only checkpoint from which ``node`` runs next."""
    [found] = [snapshot.config for snapshot in graph.get_state_history(thread) if snapshot.next == (node,)]
    config: RunnableConfig = found
    return config


@golden_run()
def update_state_and_fork(play: Play) -> None:
    """An update of an earlier checkpoint makes a branch; a run on it leaves the first branch as it was."""
    graph, thread = play.compile(_three_steps()), play.thread()
    graph.invoke({"log": [], "topic": "cats"}, thread)
    forked = graph.update_state(_before(graph, thread, "second"), {"topic": "dogs"})
    graph.invoke(None, forked)


@golden_run()
def update_state_as_a_node(play: Play) -> None:
    """An update in the name of a node makes the run go on after that node; on a new thread it is the beginning."""
    graph, thread = play.compile(_three_steps()), play.thread()
    graph.update_state(thread, {"log": ["second by hand"], "topic": "cats"}, as_node="second")
    graph.invoke(None, thread)


@golden_run()
def replay_from_the_middle(play: Play) -> None:
    """A run from a middle checkpoint does its nodes again and makes a branch; the earlier one stays."""
    graph, thread = play.compile(_three_steps()), play.thread()
    graph.invoke({"log": [], "topic": "cats"}, thread)
    graph.invoke(None, _before(graph, thread, "second"))
