"""Delta channels: state that is stored as what was written, and put together again when it is read."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict, cast

import pytest
from langgraph.graph import START, StateGraph

from langgraph_conformance.expect import expect_same
from langgraph_conformance.rules import MUST, rule
from langgraph_conformance.suite.graph.builders import DriveGraph, before, config_of
from langgraph_conformance.threads import Thread

DURABILITIES = pytest.mark.parametrize("durability", ["sync", "async", "exit"])
SINCE = "langgraph>=1.2"


def extend(state: Any, writes: Any) -> list[str]:
    """Adds what was written to a list."""
    return [*(state or []), *(each for write in writes for each in write)]


def two_steps() -> Any:
    """Two nodes that log how long the log is; a snapshot of it is stored at every third update."""
    from langgraph.channels.delta import DeltaChannel

    schema: dict[str, Any] = {"log": Annotated[list[str], DeltaChannel(extend, snapshot_frequency=3)]}
    builder: Any = StateGraph(cast(Any, TypedDict)("DeltaLog", schema))
    for name in ("first", "second"):
        builder.add_node(name, lambda state, name=name: {"log": [f"{name} after {len(state['log'])}"]})
    builder.add_edge(START, "first")
    builder.add_edge("first", "second")
    return builder


@rule(MUST, source="pregel/_checkpoint.py: get_delta_channel_history puts the value together", since=SINCE)
@DURABILITIES
def test_a_delta_channel_goes_on_from_run_to_run(durability: str, drive_graph: DriveGraph, thread: Thread) -> None:
    """Runs on one thread, each by a new graph object, each see the whole value of a delta channel, in each durability.

    The value is nowhere as a whole: it is the last snapshot and all writes after it, oldest first. One write that is
    missing, doubled or out of order is a message that the agent never saw, or saw twice.
    """
    config = config_of(thread)
    results = [
        drive_graph(two_steps()).invoke({"log": [given]}, config, durability=durability)["log"]
        for given in ("one", "two", "three")
    ]
    log = ["one", "first after 1", "second after 2", "two", "first after 4", "second after 5"]
    log += ["three", "first after 7", "second after 8"]
    expect_same([log[:3], log[:6], log], results, "the logs after each run")
    expect_same(log, drive_graph(two_steps()).get_state(config).values["log"], "the saved log")


@rule(MUST, source="pregel/main.py: get_state_history puts the value of each checkpoint together", since=SINCE)
def test_history_has_the_whole_value_of_a_delta_channel(drive_graph: DriveGraph, thread: Thread) -> None:
    """Each snapshot of the history shows the value that a delta channel had then.

    It stops at the writes before that checkpoint: with later ones, history shows what had not been said yet.
    """
    graph, config = drive_graph(two_steps()), config_of(thread)
    graph.invoke({"log": ["one"]}, config)
    graph.invoke({"log": ["two"]}, config)
    log = ["one", "first after 1", "second after 2", "two", "first after 4", "second after 5"]
    expect_same(
        [log[:length] for length in (6, 5, 4, 3, 3, 2, 1, 0)],
        [each.values["log"] for each in graph.get_state_history(config)],
        "the logs in the history, newest first",
    )


# the engine applied the writes of the forked checkpoint's tasks, too, before
@rule(MUST, source="pregel/main.py: update_state; pregel/_checkpoint.py", since="langgraph>=1.2.24")
def test_a_fork_has_its_own_value_of_a_delta_channel(drive_graph: DriveGraph, thread: Thread) -> None:
    """A fork from a middle checkpoint goes on with the value of then; the first branch keeps its own.

    Writes are found along parents. A saver that takes all writes of the thread gives each branch what the other said.
    """
    graph, config = drive_graph(two_steps()), config_of(thread)
    graph.invoke({"log": ["one"]}, config)
    graph.invoke({"log": ["two"]}, config)
    original = [each.values for each in graph.get_state_history(config)]
    fork = graph.update_state(before(graph, config, "second"), {"log": ["by hand"]}, as_node="first")
    expect_same(["one", "first after 1", "by hand"], graph.get_state(fork).values["log"], "the log of the fork")
    result = graph.invoke(None, fork)
    expect_same(["one", "first after 1", "by hand", "second after 3"], result["log"], "the log of its run")
    expect_same(original, [each.values for each in graph.get_state_history(config)][2:], "the states of before")
