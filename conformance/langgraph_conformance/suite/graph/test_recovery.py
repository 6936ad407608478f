"""Recovery: a run that failed or died goes on from its last checkpoint, and finished work is not done again."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from langgraph.func import entrypoint, task
from langgraph.graph import START, StateGraph
from langgraph.types import Send

from langgraph_conformance.drive import GraphDrive, SaverDrive
from langgraph_conformance.expect import expect_same, expect_true
from langgraph_conformance.graphs import in_context
from langgraph_conformance.rules import MUST, rule
from langgraph_conformance.suite.graph.builders import (
    DriveGraph,
    Killed,
    Log,
    config_of,
    id_of,
    logging,
    one_by_one,
    side_by_side,
    steps,
)
from langgraph_conformance.threads import Thread


class Failing:
    """A node that counts its runs and fails in the first ones.

    Args:
        name: what it logs.
        errors: raised in its first runs, in order.
    """

    def __init__(self, name: str, *errors: Exception) -> None:
        self.name, self.runs, self._errors = name, 0, list(errors)

    def __call__(self, state: Any) -> dict[str, list[str]]:
        self.runs += 1
        if self._errors:
            raise self._errors.pop(0)
        return {"log": [self.name]}


ENDS = pytest.mark.parametrize("error", [RuntimeError("no connection"), Killed("lights out")], ids=["error", "death"])


@rule(MUST, source="pregel/_loop.py: a run without input goes on from the latest checkpoint")
@ENDS
@pytest.mark.parametrize("durability", ["sync", "async"])
def test_finished_steps_do_not_run_again(
    durability: str, error: Exception, drive_graph: DriveGraph, thread: Thread
) -> None:
    """A run that ends after the checkpoint of its second step goes on with the third; the first two do not run again.

    Their side effects, mails and payments and model calls, happen once: that is what a checkpointer is for.
    """
    nodes: dict[str, Any] = {"first": Failing("first"), "second": Failing("second"), "third": Failing("third", error)}
    config = config_of(thread)
    with suppress(RuntimeError, Killed):
        drive_graph(steps("first", "second", "third", **nodes)).invoke(
            {"log": ["start"]}, config, durability=durability
        )
    later = drive_graph(steps("first", "second", "third", **nodes))
    state = later.get_state(config)
    expect_same((["start", "first", "second"], ("third",)), (state.values["log"], state.next), "what was kept")
    result = later.invoke(None, config)
    expect_same({"log": ["start", "first", "second", "third"]}, result, "the result after going on")
    expect_same({"first": 1, "second": 1, "third": 2}, {name: node.runs for name, node in nodes.items()}, "the runs")


@rule(MUST, source="pregel/_loop.py: durability exit saves on an error, too")
def test_a_failed_run_is_kept_with_durability_exit(drive_graph: DriveGraph, thread: Thread) -> None:
    """With durability `exit`, a run that fails stores its last checkpoint, and goes on from there.

    It is the only time that the run stores anything: without it all its steps run again.
    """
    nodes: dict[str, Any] = {"first": Failing("first"), "second": Failing("second", RuntimeError("no connection"))}
    graph, config = drive_graph(steps("first", "second", **nodes)), config_of(thread)
    with suppress(RuntimeError):
        graph.invoke({"log": ["start"]}, config, durability="exit")
    result = graph.invoke(None, config, durability="exit")
    expect_same({"log": ["start", "first", "second"]}, result, "the result after going on")
    expect_same({"first": 1, "second": 2}, {name: node.runs for name, node in nodes.items()}, "the runs")


@rule(MUST, source="pregel/_loop.py: put_writes saves the writes of each task that finished")
@ENDS
def test_a_finished_task_beside_a_failed_one_does_not_run_again(
    error: Exception, drive_graph: DriveGraph, thread: Thread
) -> None:
    """When one task of a super-step ends early, those that finished keep their writes: only that one runs again.

    No checkpoint was stored for this step, only writes under the one before: a saver that loses them repeats the work
    of every task beside the failed one.
    """
    finishes, fails = Failing("finishes"), Failing("fails", error)
    graph, config = drive_graph(side_by_side(finishes=finishes, then_fails=fails)), config_of(thread)
    with suppress(RuntimeError, Killed):
        graph.invoke({"log": ["start"]}, one_by_one(config))
    kept = [(each.name, each.result) for each in graph.get_state(config).tasks if each.result]
    expect_same([("finishes", {"log": ["finishes"]})], kept, "the results that were kept")
    result = graph.invoke(None, config)
    expect_same({"log": ["start", "finishes", "fails"]}, result, "the result after going on")
    expect_same((1, 2), (finishes.runs, fails.runs), "the runs of the task that finished and of the one that did not")


@rule(MUST, source="pregel/_algo.py: PUSH tasks are matched with their writes by task id")
def test_sends_that_finished_do_not_run_again(drive_graph: DriveGraph, thread: Thread) -> None:
    """When one of several Sends to one node fails, only that one runs again, and results keep their order.

    The tasks differ in nothing but their ids: a saver that mixes them up runs the wrong ones, or gives one's result to
    another.
    """
    runs: list[int] = []

    def work(number: int) -> dict[str, list[str]]:
        runs.append(number)
        if number == 3 and runs.count(3) == 1:
            raise RuntimeError("no connection")
        return {"log": [f"item {number}"]}

    builder: Any = StateGraph(Log)
    builder.add_node("work", work)
    builder.add_conditional_edges(START, lambda state: [Send("work", number) for number in range(4)], ["work"])
    graph, config = drive_graph(builder), config_of(thread)
    with suppress(RuntimeError):
        graph.invoke({"log": []}, one_by_one(config))
    result = graph.invoke(None, config)
    expect_same({"log": ["item 0", "item 1", "item 2", "item 3"]}, result, "the result after going on")
    expect_same([0, 1, 2, 3, 3], sorted(runs), "the runs")


@rule(MUST, source="pregel/_runner.py: the error is a write of the task; pregel/debug.py shows it")
def test_the_error_of_a_failed_task_is_shown(drive_graph: DriveGraph, thread: Thread) -> None:
    """The first node fails: the input is kept, and the snapshot shows the node as next, with the error of its last run.

    That is how an operator finds out why a thread stands still.
    """
    fails = Failing("fails", RuntimeError("no connection"), RuntimeError("access denied"))
    graph, config = drive_graph(steps("fails", fails=fails)), config_of(thread)
    shown = []
    for given in ({"log": ["start"], "topic": "cats"}, None):
        with suppress(RuntimeError):
            graph.invoke(given, config)
        state = graph.get_state(config)
        shown.append((state.values, state.next, [str(each.error) for each in state.tasks]))
    kept = ({"log": ["start"], "topic": "cats"}, ("fails",))
    expect_same(
        [(*kept, [repr(RuntimeError("no connection"))]), (*kept, [repr(RuntimeError("access denied"))])],
        shown,
        "state, next node and errors after each run",
    )
    expect_same(["start", "fails"], graph.invoke(None, config)["log"], "the log after the third run")


@rule(MUST, source="pregel/_loop.py: a finished thread has no task left")
def test_going_on_with_a_finished_thread_runs_nothing(drive_graph: DriveGraph, thread: Thread) -> None:
    """A run without input on a finished thread runs no node and stores no checkpoint.

    Schedulers retry blindly. What has run is told by `versions_seen` alone: a saver that loses it runs nodes again.
    """
    node = Failing("first")
    graph, config = drive_graph(steps("first", "second", first=node)), config_of(thread)
    result = graph.invoke({"log": ["start"]}, config)
    before = id_of(graph.get_state(config).config)
    expect_same(result, graph.invoke(None, config), "the result of going on")
    expect_same((1, before), (node.runs, id_of(graph.get_state(config).config)), "runs and latest checkpoint")


@rule(MUST, source="pregel/_loop.py: put_writes saves the writes of each task that finished")
def test_a_failed_run_leaves_its_checkpoints_as_they_were(drive_graph: DriveGraph, thread: Thread) -> None:
    """A run that fails and goes on leaves the checkpoints before the failure as they were.

    History is a record: a checkpoint that changes afterwards shows what never was.
    """
    fails = Failing("second", RuntimeError("no connection"))
    graph, config = drive_graph(steps("first", "second", "third", second=fails)), config_of(thread)
    with suppress(RuntimeError):
        graph.invoke({"log": ["start"]}, config)
    before = [(id_of(each.config), each.values, each.metadata, each.next) for each in graph.get_state_history(config)]
    graph.invoke(None, config)
    after = [(id_of(each.config), each.values, each.metadata, each.next) for each in graph.get_state_history(config)]
    expect_same(before, after[-len(before) :], "the checkpoints before the failure")
    expect_true(len(after) == len(before) + 2, "the checkpoints after it", "two more", len(after) - len(before))


@rule(MUST, source="func/__init__.py: task results are RETURN writes of the tasks")
def test_finished_tasks_of_an_entrypoint_that_failed_do_not_run_again(saver: SaverDrive, thread: Thread) -> None:
    """Tasks that an entrypoint finished before it failed do not run again when it goes on.

    Only their stored results keep the work from being done, and paid for, twice.
    """
    runs: list[int] = []
    failures = ["no connection"]

    @task
    def double(number: int) -> int:
        runs.append(number)
        return 2 * number

    @entrypoint(checkpointer=saver.raw)
    @in_context
    def main(number: int) -> list[int]:
        results = [double(each).result() for each in range(number)]
        if failures:
            raise RuntimeError(failures.pop())
        return results

    graph, config = GraphDrive(saver, main), config_of(thread)
    with suppress(RuntimeError):
        graph.invoke(3, config)
    expect_same([0, 2, 4], graph.invoke(None, config), "the result after going on")
    expect_same([0, 1, 2], sorted(runs), "the runs of the task")


@rule(MUST, source="pregel/_loop.py: a run with input starts a new super-step on the latest checkpoint")
def test_new_input_after_a_failure_starts_again(drive_graph: DriveGraph, thread: Thread) -> None:
    """New input on a thread whose last run failed is added to what was kept, and the run starts from the beginning.

    The user simply asks again: the conversation before must be there, and writes of the failed step must not be.
    """
    nodes: dict[str, Any] = {"finishes": logging("finishes"), "then_fails": Failing("fails", RuntimeError("down"))}
    graph, config = drive_graph(side_by_side(**nodes)), config_of(thread)
    with suppress(RuntimeError):
        graph.invoke({"log": ["start"]}, one_by_one(config))
    result = graph.invoke({"log": ["again"]}, config)
    expect_same({"log": ["start", "again", "finishes", "fails"]}, result, "the result of the second run")
