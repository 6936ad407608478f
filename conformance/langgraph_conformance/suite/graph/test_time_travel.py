"""Time travel: runs and updates from earlier checkpoints make branches, and change nothing that was."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.types import Command, StateUpdate, interrupt

from langgraph_conformance.drive import GraphDrive
from langgraph_conformance.expect import expect_same, expect_true
from langgraph_conformance.graphs import in_context
from langgraph_conformance.rules import MUST, rule
from langgraph_conformance.suite.graph.builders import DriveGraph, before, config_of, id_of, steps
from langgraph_conformance.threads import Thread


def telling(name: str, runs: list[str]) -> Any:
    """A node that logs its name and the topic, and notes that it ran."""

    def tell(state: Any) -> dict[str, list[str]]:
        runs.append(name)
        return {"log": [f"{name} about {state['topic']}"]}

    return tell


def three_steps(runs: list[str]) -> Any:
    names = ("first", "second", "third")
    return steps(*names, **{name: telling(name, runs) for name in names})


def kept(graph: GraphDrive, thread: Thread) -> dict[str, Any]:
    """What every snapshot of the thread shows, by checkpoint id."""
    return {
        id_of(each.config): (each.values, each.next, each.metadata, id_of(each.parent_config))
        for each in graph.get_state_history(config_of(thread))
    }


def ancestors(graph: GraphDrive, thread: Thread) -> list[str]:
    """The ids of the latest checkpoint's ancestors, nearest first."""
    parents = {id: parent for id, (_, _, _, parent) in kept(graph, thread).items()}
    line = [parents[id_of(graph.get_state(config_of(thread)).config)]]
    while line[-1] is not None:
        line.append(parents[line[-1]])
    return line[:-1]


# earlier versions apply the writes of the given checkpoint's finished tasks first
@rule(MUST, source="pregel/main.py: update_state puts on the given checkpoint", since="langgraph>=1.0.10")
def test_an_update_of_an_earlier_checkpoint_makes_a_branch(drive_graph: DriveGraph, thread: Thread) -> None:
    """An update of an earlier checkpoint makes a branch that a run goes on with; the first branch stays as it was.

    "What if the agent had been told something else?" A fork that changes the original destroys the record of what was.
    """
    runs: list[str] = []
    graph, config = drive_graph(three_steps(runs)), config_of(thread)
    first = graph.invoke({"log": [], "topic": "cats"}, config)
    original, middle = kept(graph, thread), before(graph, config, "second")
    forked = graph.update_state(middle, {"topic": "dogs"}, as_node="first")
    state = graph.get_state(forked)
    expect_same(
        ({"log": ["first about cats"], "topic": "dogs"}, ("second",), id_of(middle), "update"),
        (state.values, state.next, id_of(state.parent_config), state.metadata["source"]),
        "state, next node, parent and source of the fork",
    )
    result = graph.invoke(None, forked)
    log = ["first about cats", "second about dogs", "third about dogs"]
    expect_same({"log": log, "topic": "dogs"}, result, "the result on the branch")
    expect_same(result, graph.get_state(config).values, "the state of the thread, whose latest branch this is")
    expect_same(original, {id: each for id, each in kept(graph, thread).items() if id in original}, "the first branch")
    expect_same(["first", "second", "third", "second", "third"], runs, "the nodes that ran")
    expect_same(first["topic"], "cats", "the topic of the first branch")


@rule(MUST, source="pregel/main.py: update_state; forks give a channel one version each")
def test_two_branches_of_one_checkpoint_keep_their_values(drive_graph: DriveGraph, thread: Thread) -> None:
    """Two updates of one checkpoint make two branches, each with its own values, also for the same channel.

    Both give the channel the next version. A saver that keys values by channel and a plain number shows one branch
    the other's state.
    """
    graph, config = drive_graph(three_steps([])), config_of(thread)
    graph.invoke({"log": [], "topic": "cats"}, config)
    middle = before(graph, config, "second")
    forks = {topic: graph.update_state(middle, {"topic": topic}, as_node="first") for topic in ("dogs", "birds")}
    results = {topic: graph.invoke(None, fork)["log"][-1] for topic, fork in forks.items()}
    expect_same({"dogs": "third about dogs", "birds": "third about birds"}, results, "the last word of each branch")
    expect_same(
        {"dogs": "dogs", "birds": "birds"},
        {topic: graph.get_state(fork).values["topic"] for topic, fork in forks.items()},
        "the topic of each branch, read again",
    )
    expect_same("cats", graph.get_state(middle).values["topic"], "the topic of the checkpoint they started from")


@rule(MUST, source="pregel/_loop.py: a config with checkpoint_id is a replay")
def test_a_replay_from_the_middle_makes_a_branch(drive_graph: DriveGraph, thread: Thread) -> None:
    """A run from a middle checkpoint does the nodes after it again; the new branch descends from it, the old one stays.

    Replays repeat a part of a run to see it again or after a change of code: they must start from the state of then.
    """
    runs: list[str] = []
    graph, config = drive_graph(three_steps(runs)), config_of(thread)
    first = graph.invoke({"log": [], "topic": "cats"}, config)
    original, middle = kept(graph, thread), before(graph, config, "second")
    runs.clear()
    result = graph.invoke(None, middle)
    expect_same((first, ["second", "third"]), (result, runs), "the result of the replay and the nodes that ran")
    expect_same(original, {id: each for id, each in kept(graph, thread).items() if id in original}, "the first branch")
    latest = id_of(graph.get_state(config).config)
    expect_true(latest not in original, "the latest checkpoint", "one of the new branch", latest)
    expect_true(id_of(middle) in ancestors(graph, thread), "the ancestors of the latest", "the replayed one", latest)


@rule(MUST, source="pregel/_loop.py: a replayed checkpoint that is the last one has no task left")
def test_a_replay_from_the_end_runs_nothing(drive_graph: DriveGraph, thread: Thread) -> None:
    """A run without input from the last checkpoint, named by its id, runs no node.

    It reads `versions_seen` as it was stored: a saver that loses it runs the whole graph again.
    """
    runs: list[str] = []
    graph, config = drive_graph(three_steps(runs)), config_of(thread)
    first = graph.invoke({"log": [], "topic": "cats"}, config)
    result = graph.invoke(None, graph.get_state(config).config)
    expect_same((first, ["first", "second", "third"]), (result, runs), "the result and the nodes that ran in all")


@rule(MUST, source="pregel/_loop.py: new input on a config with checkpoint_id")
def test_new_input_on_an_earlier_checkpoint_builds_on_its_state(drive_graph: DriveGraph, thread: Thread) -> None:
    """New input on an earlier checkpoint builds on the state of then, not on the latest.

    "Edit this message and try again": what came after it must not be there.
    """
    graph, config = drive_graph(steps("first")), config_of(thread)
    graph.invoke({"log": ["one"]}, config)
    earlier = graph.get_state(config).config
    graph.invoke({"log": ["two"]}, config)
    result = graph.invoke({"log": ["another two"]}, earlier)
    expect_same(["one", "first", "another two", "first"], result["log"], "the log of the new branch")
    expect_same(result, graph.get_state(config).values, "the state of the thread")


@rule(MUST, source="pregel/main.py: update_state without a checkpoint")
def test_an_update_of_a_new_thread_is_its_beginning(drive_graph: DriveGraph, thread: Thread) -> None:
    """An update of a thread that has no checkpoint, in the name of a node, makes the run go on after that node.

    Applications start threads from imported conversations in this way.
    """
    runs: list[str] = []
    graph, config = drive_graph(three_steps(runs)), config_of(thread)
    updated = graph.update_state(config, {"log": ["by hand"], "topic": "cats"}, as_node="second")
    state = graph.get_state(updated)
    expect_same(
        ({"log": ["by hand"], "topic": "cats"}, ("third",), None, "update"),
        (state.values, state.next, state.parent_config, state.metadata["source"]),
        "state, next node, parent and source",
    )
    expect_same(["by hand", "third about cats"], graph.invoke(None, config)["log"], "the log after going on")
    expect_same(["third"], runs, "the nodes that ran")


@rule(MUST, source="pregel/main.py: update_state as __copy__ puts the same values with no new versions")
def test_a_copy_of_an_earlier_checkpoint_has_its_state(drive_graph: DriveGraph, thread: Thread) -> None:
    """An update as `__copy__` makes a sibling of an earlier checkpoint with the same state, from which a run goes on.

    It is put with no new versions at all: a saver that stores only what is new must find all values all the same.
    """
    runs: list[str] = []
    graph, config = drive_graph(three_steps(runs)), config_of(thread)
    graph.invoke({"log": [], "topic": "cats"}, config)
    middle = graph.get_state(before(graph, config, "second"))
    copied = graph.get_state(graph.update_state(middle.config, None, as_node="__copy__"))
    expect_same(
        (middle.values, middle.next, id_of(middle.parent_config), "fork"),
        (copied.values, copied.next, id_of(copied.parent_config), copied.metadata["source"]),
        "state, next node, parent and source of the copy",
    )
    runs.clear()
    result = graph.invoke(None, copied.config)
    log = ["first about cats", "second about cats", "third about cats"]
    expect_same((log, ["second", "third"]), (result["log"], runs), "the log and the nodes that ran from the copy")


@rule(MUST, source="pregel/main.py: bulk_update_state puts a checkpoint per super-step")
def test_updates_in_bulk_leave_a_checkpoint_each(drive_graph: DriveGraph, thread: Thread) -> None:
    """`bulk_update_state` leaves one checkpoint per super-step that was given, each on the one before.

    Imported histories arrive in this way: a step that is missing cannot be gone back to.
    """
    graph, config = drive_graph(three_steps([])), config_of(thread)
    updates = [
        [StateUpdate({"log": ["one"], "topic": "cats"}, "first")],
        [StateUpdate({"log": ["two"]}, "second")],
    ]
    graph.bulk_update_state(config, updates)
    history = graph.get_state_history(config)
    expect_same(
        [
            (["one", "two"], ("third",), "update", id_of(history[-1].config)),
            (["one"], ("second",), "update", None),
        ],
        [(each.values["log"], each.next, each.metadata["source"], id_of(each.parent_config)) for each in history],
        "log, next node, source and parent of each checkpoint, newest first",
    )


@rule(MUST, source="pregel/_loop.py: a replay from before an interrupt asks again")
def test_a_replay_from_before_a_question_asks_again(drive_graph: DriveGraph, thread: Thread) -> None:
    """A run from the checkpoint before an answered question asks it again; another answer makes another branch.

    "What if I had refused?" The old answer belongs to the old branch and must not be taken for the new one.
    """
    ask = in_context(lambda state: {"log": [interrupt("shall I?")]})
    graph, config = drive_graph(steps("first", "ask", "last", ask=ask)), config_of(thread)
    graph.invoke({"log": []}, config)
    graph.invoke(Command(resume="yes"), config)
    original = kept(graph, thread)
    graph.invoke(None, before(graph, config, "first"))
    asked = [each.value for each in graph.get_state(config).interrupts]
    expect_same(["shall I?"], asked, "the questions that wait after the replay")
    result = graph.invoke(Command(resume="no"), config)
    expect_same(["first", "no", "last"], result["log"], "the log after another answer")
    expect_same(original, {id: each for id, each in kept(graph, thread).items() if id in original}, "the first branch")


@rule(MUST, source="pregel/main.py: update_state of the latest checkpoint")
@pytest.mark.parametrize("times", [1, 5], ids=["once", "five-times"])
def test_updates_of_a_finished_thread_are_kept(times: int, drive_graph: DriveGraph, thread: Thread) -> None:
    """Updates of a finished thread are checkpoints on its latest one, and the next run sees the last of them.

    Corrections by hand are part of the history: who changed what, and when, stays visible.
    """
    graph, config = drive_graph(three_steps([])), config_of(thread)
    graph.invoke({"log": [], "topic": "cats"}, config)
    for number in range(times):
        graph.update_state(config, {"topic": f"topic {number}"}, as_node="third")
    history = graph.get_state_history(config, limit=times + 1)
    expect_same(
        [*(f"topic {number}" for number in reversed(range(times))), "cats"],
        [each.values["topic"] for each in history],
        "the topics in the history, newest first",
    )
    last = graph.invoke({"log": ["again"]}, config)["log"][-1]
    expect_same(f"third about topic {times - 1}", last, "the last word of the next run")
