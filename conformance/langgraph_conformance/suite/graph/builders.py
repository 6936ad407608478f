"""Small graphs and configs that several rules use."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp
from langgraph.graph import END, START, StateGraph

from langgraph_conformance.drive import GraphDrive
from langgraph_conformance.threads import Thread

DriveGraph = Callable[[Any], GraphDrive]


class Killed(GraphBubbleUp):
    """Raised by a node as if its process ended there: LangGraph stores nothing of what the task did, nor an error."""


class Log(TypedDict, total=False):
    """A log that grows, and a plain key."""

    log: Annotated[list[str], operator.add]
    topic: str


def config_of(thread: Thread) -> RunnableConfig:
    """The config that a graph's user gives."""
    return {"configurable": {"thread_id": thread.id}}


def one_by_one(config: RunnableConfig) -> RunnableConfig:
    """Run the tasks of a super-step in their order, so that one is finished before another fails."""
    return {**config, "max_concurrency": 1}


def logging(name: str) -> Any:
    """A node that logs its name."""
    return lambda state: {"log": [name]}


def steps(*names: str, **nodes: Callable[..., Any]) -> Any:
    """Nodes one after the other, which log their names unless another function is given for them."""
    builder = StateGraph(Log)
    for name in names:
        builder.add_node(name, nodes.get(name, logging(name)))
    for before, after in zip((START, *names), (*names, END), strict=True):
        builder.add_edge(before, after)
    return builder


def side_by_side(**nodes: Callable[..., Any]) -> Any:
    """Nodes that run in one super-step."""
    builder = StateGraph(Log)
    for name, node in nodes.items():
        builder.add_node(name, node)
    # not plain edges: LangGraph keeps these in a set, and starts the nodes in the set's order
    builder.add_conditional_edges(START, lambda state: list(nodes), list(nodes))
    return builder


def id_of(config: RunnableConfig | None) -> Any:
    """The checkpoint id in a config, None where there is no config."""
    return config["configurable"].get("checkpoint_id") if config else None


def before(graph: GraphDrive, config: RunnableConfig, *nodes: str) -> RunnableConfig:
    """The config of the oldest checkpoint from which exactly these nodes run next."""
    found: RunnableConfig = [each.config for each in graph.get_state_history(config) if each.next == nodes][-1]
    return found
