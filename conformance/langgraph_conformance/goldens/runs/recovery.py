"""Runs that stop: interrupts, failures, and what each durability leaves."""

from __future__ import annotations

import operator
from contextlib import suppress
from typing import Annotated, Any, Literal, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from ...graphs import in_context
from ..play import Play, golden_run


class Log(TypedDict):
    log: Annotated[list[str], operator.add]


def _one_by_one(thread: RunnableConfig) -> RunnableConfig:
    """Run the tasks of a super-step in their order, so that one is finished before another fails."""
    return {**thread, "max_concurrency": 1}


@golden_run()
def interrupt_and_resume(play: Play) -> None:
    """A question waits in its task's writes; the answer is stored before the node runs again from its beginning."""
    builder = StateGraph(Log)
    builder.add_node("prepare", lambda state: {"log": ["prepare"]})
    builder.add_node("ask", in_context(lambda state: {"log": [interrupt("question")]}))
    builder.add_edge(START, "prepare")
    builder.add_edge("prepare", "ask")
    builder.add_edge("ask", END)
    graph, thread = play.compile(builder), play.thread()
    graph.invoke({"log": ["start"]}, thread)
    graph.invoke(Command(resume="answer"), thread)


@golden_run()
def two_interrupts_resumed_by_id(play: Play) -> None:
    """Two tasks of one super-step wait at once; a map from interrupt ids to answers resumes both."""
    builder = StateGraph(Log)
    for name in ("left", "right"):
        builder.add_node(name, _asking(name))
    _start_in_order(builder, ["left", "right"])
    graph, thread = play.compile(builder), play.thread()
    graph.invoke({"log": []}, _one_by_one(thread))
    waiting = graph.get_state(thread).interrupts
    graph.invoke(Command(resume={each.id: f"answer to {each.value}" for each in waiting}), thread)


@golden_run()
def failure_beside_a_finished_task(play: Play) -> None:
    """One task of a super-step fails, the other's writes stay: the resume runs only the failed one again."""
    attempts: list[str] = []

    def finishes(state: Log) -> dict[str, list[str]]:
        attempts.append("finishes")
        return {"log": [f"finishes, attempt {attempts.count('finishes')}"]}

    def then_fails(state: Log) -> dict[str, list[str]]:
        attempts.append("then_fails")
        if attempts.count("then_fails") == 1:
            raise RuntimeError("no connection")
        return {"log": [f"then_fails, attempt {attempts.count('then_fails')}"]}

    builder = StateGraph(Log)
    builder.add_node("finishes", finishes)
    builder.add_node("then_fails", then_fails)
    _start_in_order(builder, ["finishes", "then_fails"])
    graph, thread = play.compile(builder), play.thread()
    with suppress(RuntimeError):
        graph.invoke({"log": []}, _one_by_one(thread))
    graph.invoke(None, thread)


@golden_run()
def error_in_the_first_node(play: Play) -> None:
    """The first node fails: the input is kept, and the error among the writes of the node's task."""

    def fails(state: Log) -> dict[str, list[str]]:
        raise RuntimeError("no connection")

    builder = StateGraph(Log)
    builder.add_node("fails", fails)
    builder.add_edge(START, "fails")
    with suppress(RuntimeError):
        play.compile(builder).invoke({"log": ["start"]}, play.thread())


@golden_run()
def durability_sync(play: Play) -> None:
    """Durability `sync`: each super-step's checkpoint is stored before the next begins."""
    _two_steps(play, "sync")


@golden_run()
def durability_async(play: Play) -> None:
    """Durability `async`: each super-step's checkpoint is stored while the next runs; in the end all are there."""
    _two_steps(play, "async")


@golden_run()
def durability_exit(play: Play) -> None:
    """Durability `exit`: only the last super-step's checkpoint is stored, on the run's end."""
    _two_steps(play, "exit")


@golden_run()
def durability_exit_with_an_interrupt(play: Play) -> None:
    """Durability `exit`: a run that stops at an interrupt stores its checkpoint and what its tasks have written."""

    builder = StateGraph(Log)
    builder.add_node("prepare", lambda state: {"log": ["prepare"]})
    builder.add_node("ask", in_context(lambda state: {"log": [interrupt("question")]}))
    builder.add_edge(START, "prepare")
    builder.add_edge("prepare", "ask")
    graph, thread = play.compile(builder), play.thread()
    graph.invoke({"log": ["start"]}, thread, durability="exit")
    graph.invoke(Command(resume="answer"), thread, durability="exit")


def _asking(name: str) -> Any:
    """A node that asks whether it is this one."""
    return in_context(lambda state: {"log": [f"{name}: {interrupt(f'{name}?')}"]})


def _start_in_order(builder: Any, nodes: list[str]) -> None:
    """Begin with several nodes. Not by plain edges: LangGraph keeps these in a set, and writes in the set's order."""
    builder.add_conditional_edges(START, lambda state: nodes, nodes)


def _two_steps(play: Play, durability: Literal["sync", "async", "exit"]) -> None:
    builder = StateGraph(Log)
    builder.add_node("first", lambda state: {"log": ["first"]})
    builder.add_node("second", lambda state: {"log": ["second"]})
    builder.add_edge(START, "first")
    builder.add_edge("first", "second")
    builder.add_edge("second", END)
    play.compile(builder).invoke({"log": ["start"]}, play.thread(), durability=durability)
