"""Interrupts: a run that waits for a person goes on where it stopped, in any process."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from langgraph.func import entrypoint, task
from langgraph.types import Command, interrupt

from langgraph_conformance.drive import GraphDrive, SaverDrive
from langgraph_conformance.expect import expect_same
from langgraph_conformance.graphs import in_context
from langgraph_conformance.rules import MUST, rule
from langgraph_conformance.suite.graph.builders import (
    DriveGraph,
    Killed,
    Log,
    config_of,
    logging,
    side_by_side,
    steps,
)
from langgraph_conformance.threads import Thread, writes_of


def asking(*questions: str) -> Callable[..., Any]:
    """A node that asks these questions and logs the answers."""
    return in_context(lambda state: {"log": [interrupt(question) for question in questions]})


def waiting(graph: GraphDrive, thread: Thread) -> list[Any]:
    """The questions that wait for an answer."""
    return [each.value for each in graph.get_state(config_of(thread)).interrupts]


@rule(MUST, source="types.interrupt; pregel/_algo.py: the task's RESUME write answers it")
def test_a_run_waits_at_an_interrupt_until_it_is_answered(drive_graph: DriveGraph, thread: Thread) -> None:
    """A question waits with the thread; a new graph object that gets the answer goes on in the node that asked.

    People answer after hours, another process takes their answer: a question that is lost stops the work for good, and
    a node that ran before and runs again sends its mail twice.
    """
    runs: list[str] = []

    def prepare(state: Log) -> dict[str, list[str]]:
        runs.append("prepare")
        return {"log": ["prepared"]}

    def build() -> Any:
        return steps("prepare", "ask", "finish", prepare=prepare, ask=asking("shall I?"))

    config = config_of(thread)
    drive_graph(build()).invoke({"log": ["start"]}, config)
    later = drive_graph(build())
    state = later.get_state(config)
    expect_same((["shall I?"], ("ask",)), ([each.value for each in state.interrupts], state.next), "what waits")
    expect_same({"log": ["start", "prepared"]}, state.values, "the state while it waits")
    result = later.invoke(Command(resume="yes"), config)
    expect_same({"log": ["start", "prepared", "yes", "finish"]}, result, "the result of the resume")
    expect_same(["prepare"], runs, "the runs of the node before the question")
    expect_same(((), []), (later.get_state(config).next, waiting(later, thread)), "what is left to do")


@rule(MUST, source="types.interrupt; BaseCheckpointSaver.put_writes of __resume__")
@pytest.mark.parametrize(
    "answer",
    [False, 0, "", [], {"approved": True, "by": ["ann", 7]}, b"\x00\xff", "née\n"],
    ids=["false", "zero", "empty-text", "empty-list", "dict", "bytes", "text"],
)
def test_an_answer_arrives_as_it_was_given(answer: Any, drive_graph: DriveGraph, thread: Thread) -> None:
    """An answer reaches the node with its value and type, also when it is false, empty or bytes.

    "No" is an answer: a saver that drops it asks again, or approves what was refused.
    """
    graph, config = drive_graph(steps("ask", ask=asking("shall I?"))), config_of(thread)
    graph.invoke({"log": []}, config)
    expect_same([answer], graph.invoke(Command(resume=answer), config)["log"], "the answer in the result")
    expect_same([answer], graph.get_state(config).values["log"], "the answer in the saved state")


@rule(MUST, source="pregel/_algo.py: RESUME writes are a list per task; INTERRUPT is replaced")
def test_a_node_may_ask_twice(drive_graph: DriveGraph, thread: Thread) -> None:
    """A node that asks two questions gets each answer once: the second question replaces the first.

    The first answer must still be there when the node runs the third time, or the person is asked again.
    """
    graph, config = drive_graph(steps("ask", ask=asking("first?", "second?"))), config_of(thread)
    graph.invoke({"log": []}, config)
    questions = [waiting(graph, thread)]
    graph.invoke(Command(resume="A"), config)
    questions.append(waiting(graph, thread))
    [answers] = [write[2] for write in writes_of(thread.latest()) if write[1] == "__resume__" and write[2] != "A"]
    result = graph.invoke(Command(resume="B"), config)
    expect_same([["first?"], ["second?"]], questions, "the questions that waited, one after the other")
    expect_same(["A"], answers, "the answers that were stored for the task after the first one")
    expect_same({"log": ["A", "B"]}, result, "the result")


@rule(MUST, source="types.Command(resume=map of interrupt ids)")
def test_two_questions_at_once_are_answered_by_id(drive_graph: DriveGraph, thread: Thread) -> None:
    """Two nodes of a super-step that wait at once are answered with a map from interrupt ids to answers.

    Ids come from task ids, and these from the checkpoint's id: if any of them changes in storage, no answer fits.
    """
    graph, config = drive_graph(side_by_side(left=asking("left?"), right=asking("right?"))), config_of(thread)
    graph.invoke({"log": []}, config)
    found = graph.get_state(config).interrupts
    expect_same(["left?", "right?"], sorted(each.value for each in found), "the questions that wait")
    result = graph.invoke(Command(resume={each.id: f"to {each.value}" for each in found}), config)
    expect_same({"log": ["to left?", "to right?"]}, result, "the result")


@rule(MUST, source="pregel/_loop.py: a resume map answers only the tasks that it names")
def test_one_of_two_questions_is_answered_and_the_other_waits(drive_graph: DriveGraph, thread: Thread) -> None:
    """When one of two waiting nodes is answered, it finishes once, and the other goes on waiting.

    Two people approve two things at different times: the first answer must neither be lost nor given to the other.
    """
    runs: list[str] = []

    def ask_left(state: Log) -> dict[str, list[str]]:
        answer = interrupt("left?")
        runs.append("left")
        return {"log": [answer]}

    graph = drive_graph(side_by_side(left=in_context(ask_left), right=asking("right?")))
    config = config_of(thread)
    graph.invoke({"log": []}, config)
    [left] = [each for each in graph.get_state(config).interrupts if each.value == "left?"]
    graph.invoke(Command(resume={left.id: "to left"}), config)
    still = [task.interrupts[0].value for task in graph.get_state(config).tasks if not task.result and task.interrupts]
    expect_same(["right?"], still, "the questions that still wait")
    [right] = [each for each in graph.get_state(config).interrupts if each.value == "right?"]
    result = graph.invoke(Command(resume={right.id: "to right"}), config)
    expect_same({"log": ["to left", "to right"]}, result, "the result")
    expect_same(["left"], runs, "how often the node that was answered first got past its question")


@rule(MUST, source="pregel/_loop.py: put_writes saves the writes of each task that finished")
def test_a_finished_node_beside_a_waiting_one_does_not_run_again(drive_graph: DriveGraph, thread: Thread) -> None:
    """When one node of a super-step waits for an answer, the others that finished do not run again on resume.

    Their side effects, mails and payments and model calls, would happen twice.
    """
    runs: list[str] = []

    def works(state: Log) -> dict[str, list[str]]:
        runs.append("works")
        return {"log": ["worked"]}

    graph, config = drive_graph(side_by_side(ask=asking("shall I?"), works=works)), config_of(thread)
    graph.invoke({"log": []}, config)
    result = graph.invoke(Command(resume="yes"), config)
    expect_same({"log": ["yes", "worked"]}, result, "the result")
    expect_same(["works"], runs, "the runs of the node that had finished")


@rule(MUST, source="pregel/main.py: interrupt_before, interrupt_after; versions_seen[__interrupt__]")
def test_a_run_stops_before_and_after_the_named_nodes(drive_graph: DriveGraph, thread: Thread) -> None:
    """A run with breakpoints stops before and after the named nodes, and goes on from there with no input.

    Where it stopped is only in `versions_seen`: a saver that loses it stops again at the same place, forever.
    """
    builder = steps("first", "second", "third")
    graph = drive_graph(builder)
    stops, config = {"interrupt_before": ["second"], "interrupt_after": ["second"]}, config_of(thread)
    seen = []
    for given in ({"log": ["start"]}, None, None):
        graph.invoke(given, config, **stops)
        state = drive_graph(builder).get_state(config)
        seen.append((state.values["log"], state.next))
    expect_same(
        [
            (["start", "first"], ("second",)),
            (["start", "first", "second"], ("third",)),
            (["start", "first", "second", "third"], ()),
        ],
        seen,
        "state and next node after each call",
    )


@rule(MUST, source="types.Command(resume, update); pregel/_loop.py saves both under the null task")
def test_an_answer_may_come_with_an_update(drive_graph: DriveGraph, thread: Thread) -> None:
    """`Command(resume=..., update=...)` answers the question and changes the state, once.

    The update is one of the writes beside the answer: it must be there when the node runs, and not twice afterwards.
    """
    graph, config = drive_graph(steps("ask", "finish", ask=asking("shall I?"))), config_of(thread)
    graph.invoke({"log": [], "topic": "cats"}, config)
    result = graph.invoke(Command(resume="yes", update={"topic": "dogs", "log": ["by hand"]}), config)
    expect_same({"log": ["by hand", "yes", "finish"], "topic": "dogs"}, result, "the result")
    expect_same(result, graph.get_state(config).values, "the saved state")


@rule(MUST, source="pregel/_loop.py: durability exit saves pending writes with the last checkpoint")
@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_question_waits_in_each_durability(durability: str, drive_graph: DriveGraph, thread: Thread) -> None:
    """A question waits and is answered in each durability, also when only the end of a run is stored.

    With `exit`, checkpoint and writes are stored together at the end: a saver that needs them one after the other
    loses the question.
    """
    graph, config = drive_graph(steps("first", "ask", "last", ask=asking("shall I?"))), config_of(thread)
    graph.invoke({"log": []}, config, durability=durability)
    expect_same(["shall I?"], waiting(graph, thread), "the questions that wait")
    result = graph.invoke(Command(resume="yes"), config, durability=durability)
    expect_same({"log": ["first", "yes", "last"]}, result, "the result")


@rule(MUST, source="pregel/_loop.py: RESUME of the null task is replaced by a later one")
def test_the_last_answer_counts_after_a_resume_that_died(drive_graph: DriveGraph, thread: Thread) -> None:
    """When a process dies after an answer was stored, going on without input uses that answer, not an older one.

    The answers "approve" to one question and "refuse" to the next come from a person. After a crash nobody gives them
    again: the stored one is taken, and if it is the older one, what was refused is approved.
    """
    deaths = ["in the second resume"]

    def ask(state: Log) -> dict[str, list[str]]:
        answers = [interrupt("first?"), interrupt("second?")]
        if deaths:
            raise Killed(deaths.pop())
        return {"log": answers}

    graph, config = drive_graph(steps("ask", ask=in_context(ask))), config_of(thread)
    graph.invoke({"log": [], "topic": "cats"}, config)
    graph.invoke(Command(resume="approve"), config)
    with suppress(Killed):
        graph.invoke(Command(resume="refuse", update={"topic": "dogs"}), config)
    result = graph.invoke(None, config)
    expect_same({"log": ["approve", "refuse"], "topic": "dogs"}, result, "the result after the resume that died")


@rule(MUST, source="func/__init__.py: task results are RETURN writes; interrupt in an entrypoint")
def test_finished_tasks_of_an_entrypoint_do_not_run_again(saver: SaverDrive, thread: Thread) -> None:
    """Tasks that an entrypoint finished before it asked do not run again on resume; their results are read.

    The functional API runs the entrypoint from its beginning on each resume: only stored results keep the work before
    the question from being done, and paid for, twice.
    """
    runs: list[int] = []

    @task
    def double(number: int) -> int:
        runs.append(number)
        return 2 * number

    @entrypoint(checkpointer=saver.raw)
    @in_context
    def main(number: int) -> list[Any]:
        results = [double(each).result() for each in range(number)]
        return [*results, interrupt("shall I?")]

    graph, config = GraphDrive(saver, main), config_of(thread)
    graph.invoke(3, config)
    expect_same([0, 2, 4, "yes"], graph.invoke(Command(resume="yes"), config), "the result")
    expect_same([0, 1, 2], sorted(runs), "the runs of the task")


@rule(MUST, source="pregel/main.py: update_state on a waiting thread")
def test_the_state_may_be_changed_while_a_question_waits(drive_graph: DriveGraph, thread: Thread) -> None:
    """`update_state` while a question waits changes the state, and the node asks again with the new state.

    A person corrects what the agent has prepared before answering: the correction must not be lost.
    """
    topic = in_context(lambda state: {"log": [f"{interrupt('about ' + state['topic'])} about {state['topic']}"]})
    graph, config = drive_graph(steps("prepare", "ask", prepare=logging("prepared"), ask=topic)), config_of(thread)
    graph.invoke({"log": [], "topic": "cats"}, config)
    graph.update_state(config, {"topic": "dogs"}, as_node="prepare")
    graph.invoke(None, config)
    expect_same(["about dogs"], waiting(graph, thread), "the questions that wait after the correction")
    result = graph.invoke(Command(resume="yes"), config)
    expect_same({"log": ["prepared", "yes about dogs"], "topic": "dogs"}, result, "the result")
