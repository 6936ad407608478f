"""Subgraphs: graphs within graphs, each with a namespace of its own on the same thread."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from langgraph_conformance.drive import GraphDrive, SaverDrive
from langgraph_conformance.expect import expect_same
from langgraph_conformance.graphs import in_context
from langgraph_conformance.rules import MUST, rule
from langgraph_conformance.suite.graph.builders import DriveGraph, Log, before, config_of, id_of, logging, steps
from langgraph_conformance.threads import Thread


class Notes(TypedDict):
    notes: Annotated[list[str], operator.add]


def asking(question: str) -> Callable[..., Any]:
    return in_context(lambda state: {"log": [interrupt(question)]})


def nested(depth: int, innermost: Any) -> Any:
    """A builder with ``depth`` graphs around ``innermost``: the outer ones' only node is the next inner one."""
    builder = innermost
    for level in reversed(range(depth)):
        outer = StateGraph(Log)
        outer.add_node(f"level{level + 1}", builder.compile())
        outer.add_edge(START, f"level{level + 1}")
        builder = outer
    return builder


def noting(checkpointer: bool | None) -> Any:
    """A graph that notes what it is given and counts its notes."""
    builder = StateGraph(Notes)
    builder.add_node("note", lambda state: {"notes": [f"{len(state['notes'])} so far"]})
    builder.add_edge(START, "note")
    return builder.compile(checkpointer=checkpointer)


def calling(inner: Any) -> Callable[..., Any]:
    """A node that calls a graph and logs its notes."""

    def call(state: Log, config: RunnableConfig) -> dict[str, list[str]]:
        return {"log": [" ".join(inner.invoke({"notes": [f"{len(state['log'])}"]}, config)["notes"])]}

    return call


def namespaces(saver: SaverDrive, thread: Thread) -> list[str]:
    """The namespaces of a thread."""
    return sorted({found.config["configurable"]["checkpoint_ns"] for found in saver.list(thread.config(ns=None))})


def task_of(graph: GraphDrive, thread: Thread, node: str) -> str:
    """The id of the only task that ran ``node``."""
    history = graph.get_state_history(config_of(thread))
    [found] = {task.id for snapshot in history for task in snapshot.tasks if task.name == node}
    return str(found)


@rule(MUST, source="pregel/_algo.py: checkpoint_ns is <node>:<task id>; metadata parents")
def test_a_subgraph_has_a_namespace_of_its_task(drive_graph: DriveGraph, saver: SaverDrive, thread: Thread) -> None:
    """A subgraph's checkpoints are in the namespace `<node>:<task id>`; their metadata names the parent's checkpoint.

    By these two a parent finds its subgraph's state again. A saver that mixes namespaces shows the inner state as the
    outer one.
    """
    graph = drive_graph(nested(1, steps("first", "second")))
    graph.invoke({"log": ["start"]}, config_of(thread))
    ns = f"level1:{task_of(graph, thread, 'level1')}"
    expect_same(["", ns], namespaces(saver, thread), "the namespaces of the thread")
    parent = id_of(before(graph, config_of(thread), "level1"))
    expect_same(
        [({"": parent}, step, log) for step, log in ((2, 3), (1, 2), (0, 1), (-1, 0))],
        [
            (found.metadata["parents"], found.metadata["step"], len(found.checkpoint["channel_values"].get("log", [])))
            for found in saver.list(thread.config(ns=ns))
        ],
        "parents, step and length of the log of the subgraph's checkpoints, newest first",
    )
    outer = [{"log": ["start", "start", "first", "second"]}, {"log": ["start"]}, {"log": []}]
    found_outer = [each.values for each in graph.get_state_history(config_of(thread))]
    expect_same(outer, found_outer, "the parent's states, newest first")


@rule(MUST, source="pregel/_loop.py: a subgraph loads its own checkpoint by checkpoint_map and namespace")
@pytest.mark.parametrize("depth", [1, 2, 3], ids=["one-level", "two-levels", "three-levels"])
def test_a_question_inside_is_answered_at_any_depth(depth: int, drive_graph: DriveGraph, thread: Thread) -> None:
    """A question inside of nested graphs is answered from outside; what ran before it inside does not run again.

    Each level has a checkpoint of its own, in a namespace that contains the outer ones': all must be found again.
    """
    runs: list[str] = []

    def prepare(state: Log) -> dict[str, list[str]]:
        runs.append("prepare")
        return {"log": ["prepared"]}

    inner = steps("prepare", "ask", "finish", prepare=prepare, ask=asking("shall I?"))
    config = config_of(thread)
    drive_graph(nested(depth, inner)).invoke({"log": []}, config)
    later = drive_graph(nested(depth, inner))
    expect_same(["shall I?"], [each.value for each in later.get_state(config).interrupts], "the questions that wait")
    result = later.invoke(Command(resume="yes"), config)
    expect_same({"log": ["prepared", "yes", "finish"]}, result, "the result")
    expect_same(["prepare"], runs, "the runs of the node before the question")


@rule(MUST, source="pregel/main.py: get_state(subgraphs=True)")
def test_the_state_inside_is_seen_from_outside(drive_graph: DriveGraph, thread: Thread) -> None:
    """`get_state` with `subgraphs=True` shows the state of a waiting subgraph, at each level.

    An operator looks there for what an agent inside of another is doing.
    """
    graph = drive_graph(nested(2, steps("first", "ask", ask=asking("shall I?"))))
    graph.invoke({"log": ["start"]}, config_of(thread))
    outer = graph.get_state(config_of(thread), subgraphs=True)
    middle = outer.tasks[0].state
    inner = middle.tasks[0].state
    expect_same(
        [({"log": ["start"]}, ("level1",)), ({"log": ["start"]}, ("level2",)), ({"log": ["start", "first"]}, ("ask",))],
        [(each.values, each.next) for each in (outer, middle, inner)],
        "state and next node of each level",
    )


@rule(MUST, source="pregel/main.py: update_state of a subgraph's config")
def test_the_state_inside_may_be_changed_from_outside(drive_graph: DriveGraph, thread: Thread) -> None:
    """`update_state` with the config of a waiting subgraph changes its state, and the resume goes on with that.

    The checkpoint goes to the subgraph's namespace: in another one, the correction is lost.
    """
    ask = in_context(lambda state: {"log": [f"{interrupt('shall I?')} about {state['topic']}"]})
    graph, config = drive_graph(nested(1, steps("first", "ask", ask=ask))), config_of(thread)
    graph.invoke({"log": [], "topic": "cats"}, config)
    inside = graph.get_state(config, subgraphs=True).tasks[0].state.config
    graph.update_state(inside, {"topic": "dogs"}, as_node="first")
    state = graph.get_state(config, subgraphs=True).tasks[0].state
    expect_same(("dogs", ("ask",)), (state.values["topic"], state.next), "topic and next node inside")
    expect_same("cats", graph.get_state(config).values["topic"], "the topic outside")


@rule(MUST, source="pregel/_algo.py: the namespace of a stateless subgraph has the task id")
def test_a_stateless_subgraph_begins_with_nothing(drive_graph: DriveGraph, thread: Thread) -> None:
    """A graph that is called by a node begins with nothing in each run of its parent.

    Each call has a namespace of its own: a saver that looks for the newest checkpoint of the thread, or of a namespace
    with the same beginning, gives it the state of another call.
    """
    builder = StateGraph(Log)
    builder.add_node("call", calling(noting(None)))
    builder.add_edge(START, "call")
    graph, config = drive_graph(builder), config_of(thread)
    for _ in range(3):
        result = graph.invoke({"log": ["in"]}, config)
    expect_same(["in", "1 1 so far", "in", "3 1 so far", "in", "5 1 so far"], result["log"], "the log of three runs")


@rule(MUST, source="pregel/_algo.py: the namespace of a stateful subgraph is the node's name")
def test_a_stateful_subgraph_goes_on(drive_graph: DriveGraph, thread: Thread, new_thread: Callable[[], Thread]) -> None:
    """A graph compiled with `checkpointer=True` goes on from its last state in each run of its parent, on each thread.

    It is an agent with a memory of its own: its namespace is the same in each run.
    """
    builder = StateGraph(Log)
    builder.add_node("call", calling(noting(True)))
    builder.add_edge(START, "call")
    graph = drive_graph(builder)
    for _ in range(3):
        result = graph.invoke({"log": ["in"]}, config_of(thread))
    expect_same(
        ["in", "1 1 so far", "in", "1 1 so far 3 3 so far", "in", "1 1 so far 3 3 so far 5 5 so far"],
        result["log"],
        "the log of three runs",
    )
    other = graph.invoke({"log": ["in"]}, config_of(new_thread()))
    expect_same(["in", "1 1 so far"], other["log"], "the log of a run on another thread")


@rule(MUST, source="pregel/_algo.py: namespaces by node name")
def test_two_stateful_subgraphs_do_not_mix(drive_graph: DriveGraph, thread: Thread) -> None:
    """Two nodes with stateful graphs, whose names begin alike, each go on from their own state.

    Two agents share a thread: one's memory must not become the other's.
    """
    builder = StateGraph(Log)
    builder.add_node("call", calling(noting(True)))
    builder.add_node("call2", calling(noting(True)))
    builder.add_edge(START, "call")
    builder.add_edge("call", "call2")
    graph, config = drive_graph(builder), config_of(thread)
    for _ in range(2):
        result = graph.invoke({"log": ["in"]}, config)
    expect_same(
        ["in", "1 1 so far", "2 1 so far", "in", "1 1 so far 4 3 so far", "2 1 so far 5 3 so far"],
        result["log"],
        "the log of two runs",
    )


@rule(MUST, source="pregel/_loop.py: parallel subgraphs put on one thread at the same time")
def test_subgraphs_side_by_side_do_not_mix(drive_graph: DriveGraph, saver: SaverDrive, thread: Thread) -> None:
    """Subgraphs that run side by side each wait with their own state, and finish with the answers meant for them.

    They store into one thread at the same time, in namespaces of their own.
    """
    names = [f"agent{number}" for number in range(4)]
    builder = StateGraph(Log)
    for name in names:
        inner = steps("work", "ask", work=logging(f"{name} works"), ask=asking(f"{name}?"))
        builder.add_node(name, inner.compile())
        builder.add_edge(START, name)
    graph, config = drive_graph(builder), config_of(thread)
    graph.invoke({"log": []}, config)
    expect_same(
        {name: [f"{name} works"] for name in names},
        {task.name: task.state.values["log"] for task in graph.get_state(config, subgraphs=True).tasks},
        "the states inside",
    )
    found = graph.get_state(config).interrupts
    result = graph.invoke(Command(resume={each.id: f"to {each.value}" for each in found}), config)
    expected = [entry for name in names for entry in (f"{name} works", f"to {name}?")]
    expect_same(expected, result["log"], "the log")
    expect_same(1 + len(names), len(namespaces(saver, thread)), "the number of namespaces")


@rule(MUST, source="pregel/_internal/_replay.py: list(before, limit=1) within the namespace", since="langgraph>=1.1")
def test_a_replay_gives_a_stateful_subgraph_its_state_of_then(drive_graph: DriveGraph, thread: Thread) -> None:
    """In a replay of an earlier run, a stateful subgraph goes on from its state before that run, not from its latest.

    The engine takes the first of its checkpoints that `list` gives before the replayed one. A saver that ignores
    `before`, the namespace or the order puts memories of later runs into the replay.
    """
    builder = StateGraph(Log)
    builder.add_node("call", calling(noting(True)))
    builder.add_edge(START, "call")
    graph, config = drive_graph(builder), config_of(thread)
    for _ in range(3):
        graph.invoke({"log": ["in"]}, config)
    second = graph.get_state_history(config, filter={"source": "input"})[1]
    result = graph.invoke(None, second.config)
    expect_same(
        ["in", "1 1 so far", "in", "1 1 so far 3 3 so far"],
        result["log"],
        "the log of the replay of the second run",
    )


@rule(MUST, source="pregel/_internal/_replay.py; pregel/_loop.py", since="langgraph>=1.1.10")
def test_a_replay_from_before_a_question_inside_asks_again(drive_graph: DriveGraph, thread: Thread) -> None:
    """A run from the parent's checkpoint before a question inside of a subgraph asks it again, and takes a new answer.

    The subgraph must begin anew: its finished checkpoints of the first time are newer, and belong to the old branch.
    """
    graph = drive_graph(nested(1, steps("prepare", "ask", ask=asking("shall I?"))))
    config = config_of(thread)
    graph.invoke({"log": ["start"]}, config)
    graph.invoke(Command(resume="yes"), config)
    graph.invoke(None, before(graph, config, "level1"))
    asked = [each.value for each in graph.get_state(config).interrupts]
    expect_same(["shall I?"], asked, "the questions that wait after the replay")
    result = graph.invoke(Command(resume="no"), config)
    expect_same(["start", "start", "prepare", "no"], result["log"], "the log after another answer")


@rule(MUST, source="types.Command(graph=PARENT)")
def test_a_command_to_the_parent_changes_the_parents_state(drive_graph: DriveGraph, thread: Thread) -> None:
    """A node inside of a subgraph sends the parent to another node with an update: both are kept with the parent.

    That is how one agent hands over to another.
    """

    def hand_over(state: Log) -> Command[Any]:
        return Command(graph=Command.PARENT, goto="other", update={"topic": "handed over", "log": ["from inside"]})

    child = StateGraph(Log)
    child.add_node("hand_over", hand_over)
    child.add_edge(START, "hand_over")
    builder = StateGraph(Log)
    builder.add_node("child", child.compile(), destinations=("other",))
    builder.add_node("other", logging("other"))
    builder.add_edge(START, "child")
    graph, config = drive_graph(builder), config_of(thread)
    result = graph.invoke({"log": ["start"]}, config)
    expect_same({"log": ["start", "from inside", "other"], "topic": "handed over"}, result, "the result")
    expect_same(
        [("__start__",), ("child",), ("other",), ()],
        [each.next for each in graph.get_state_history(config)][::-1],
        "what ran next after each of the parent's checkpoints, oldest first",
    )
