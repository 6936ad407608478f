"""Runs from start to end: checkpoints per super-step, state, branches and loops."""

from __future__ import annotations

import operator
from typing import Annotated, Any, Literal, TypedDict, cast

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, Send

from ..play import Play, golden_run


class Person(TypedDict, total=False):
    name: str
    address: str


class Counter(TypedDict):
    count: int


class Log(TypedDict):
    log: Annotated[list[str], operator.add]


class Chat(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]


@golden_run()
def three_checkpoints(play: Play) -> None:
    """One node makes three checkpoints: the input arrived, it was routed to the node, the node changed the state."""

    def get_address(state: Person) -> Command[Literal["__end__"]]:
        return Command(update={"name": "pavaneeshwar", "address": "Hyderabad residency"})

    builder = StateGraph(Person)
    builder.add_node("get_address", get_address)
    builder.add_edge(START, "get_address")
    builder.add_edge("get_address", END)
    play.compile(builder, store=InMemoryStore()).invoke({}, play.thread())


@golden_run()
def counter(play: Play) -> None:
    """Three runs on one thread, whose node adds one, leave three states one after the other: count 1, 2 and 3."""
    builder = StateGraph(Counter)
    builder.add_node("add_one", lambda state: {"count": state["count"] + 1})
    builder.add_edge(START, "add_one")
    builder.add_edge("add_one", END)
    graph, thread = play.compile(builder), play.thread()
    for count in range(3):
        graph.invoke({"count": count}, thread)


@golden_run()
def plain_int(play: Play) -> None:
    """A state that is a number and no dictionary is kept in the channel `__root__`."""
    builder: Any = StateGraph(cast(Any, int))
    builder.add_node("add_one", lambda count: count + 1)
    builder.add_edge(START, "add_one")
    builder.add_edge("add_one", END)
    graph, thread = play.compile(builder), play.thread()
    graph.invoke(1, thread)
    graph.invoke(2, thread)


@golden_run()
def fan_out_and_join(play: Play) -> None:
    """The nodes of one super-step share a checkpoint, and a join waits for the longer branch."""
    builder = StateGraph(Log)
    for name in ("split", "left", "right", "further_right", "join"):
        builder.add_node(name, lambda state, name=name: {"log": [name]})
    builder.add_edge(START, "split")
    # not two plain edges: LangGraph keeps edges in a set, and writes in the set's order
    builder.add_conditional_edges("split", lambda state: ["left", "right"], ["left", "right"])
    builder.add_edge("right", "further_right")
    builder.add_edge(["left", "further_right"], "join")
    builder.add_edge("join", END)
    # not the durability async: the join's set is stored in the background while the next super-step adds to it
    play.compile(builder).invoke({"log": ["start"]}, play.thread(), durability="sync")


@golden_run(layout=False)  # a message's bytes depend on the version of langchain-core
def messages(play: Play) -> None:
    """New input on a thread adds to a channel with a reducer; a message with a known id replaces the earlier one."""

    def answer(state: Chat) -> dict[str, list[AnyMessage]]:
        return {"messages": [AIMessage("you are welcome", id=f"answer to {len(state['messages'])}")]}

    builder = StateGraph(Chat)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    graph, thread = play.compile(builder), play.thread()
    graph.invoke({"messages": [HumanMessage("thank you", id="first")]}, thread)
    again = [HumanMessage("thank you very much", id="first"), HumanMessage("bye", id="last")]
    graph.invoke({"messages": again}, thread)


@golden_run()
def sends(play: Play) -> None:
    """Three Sends to one node make three tasks, kept in the channel `__pregel_tasks`; results come in their order."""
    builder = StateGraph(Log)
    builder.add_node("plan", lambda state: {"log": ["plan"]})
    builder.add_node("work", lambda item: {"log": [f"work on {item['item']}"]})
    builder.add_edge(START, "plan")
    builder.add_conditional_edges("plan", lambda state: [Send("work", {"item": item}) for item in "abc"], ["work"])
    builder.add_edge("work", END)
    play.compile(builder).invoke({"log": []}, play.thread())


@golden_run()
def loop_with_goto(play: Play) -> None:
    """A node goes back to itself with `Command(goto=...)` until the count is 3, a checkpoint each time."""

    def add_one(state: Counter) -> Command[Literal["add_one", "done"]]:
        count = state["count"] + 1
        return Command(update={"count": count}, goto="add_one" if count < 3 else "done")

    builder = StateGraph(Counter)
    builder.add_node("add_one", add_one)
    builder.add_node("done", lambda state: {"count": -state["count"]})
    builder.add_edge(START, "add_one")
    play.compile(builder).invoke({"count": 0}, play.thread())
