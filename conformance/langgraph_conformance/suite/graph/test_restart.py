"""Restarts: another process goes on with what the first one left."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from langgraph.types import Command, interrupt

from langgraph_conformance.drive import GraphDrive, SaverDrive
from langgraph_conformance.expect import expect_same
from langgraph_conformance.graphs import in_context
from langgraph_conformance.instances import Instances
from langgraph_conformance.rules import MUST, rule
from langgraph_conformance.suite.graph.builders import Killed, Log, config_of, steps

AGAIN = pytest.mark.parametrize("again", [Instances.restart, Instances.reopen], ids=["restarted", "second"])
"""The storage is opened again after the first instance was closed, or by a second instance beside it."""

Again = Callable[[Instances], SaverDrive]


def on(saver: SaverDrive, builder: Any) -> GraphDrive:
    """A graph compiled with this instance."""
    return GraphDrive(saver, builder.compile(checkpointer=saver.raw))


@rule(MUST, source="the purpose of a checkpointer: human approval after the process has ended", needs="reopen")
@AGAIN
def test_a_question_is_answered_in_another_process(again: Again, instances: Instances) -> None:
    """A run that waits for a person is resumed by another instance on the same storage, on this machine or another.

    People answer after hours; the process that asked is long gone by then, through a deployment or a crash.
    """
    builder = steps("first", "ask", "last", ask=in_context(lambda state: {"log": [interrupt("shall I?")]}))
    saver = instances.open()
    config = config_of(instances.new_thread(saver))
    on(saver, builder).invoke({"log": ["start"], "topic": "cats"}, config)
    graph = on(again(instances), builder)
    expect_same(["shall I?"], [each.value for each in graph.get_state(config).interrupts], "the questions that wait")
    result = graph.invoke(Command(resume="yes"), config)
    expect_same({"log": ["start", "first", "yes", "last"], "topic": "cats"}, result, "the result")


@rule(MUST, source="the purpose of a checkpointer: a run goes on after its process died", needs="reopen")
@AGAIN
def test_a_run_that_died_goes_on_in_another_process(again: Again, instances: Instances) -> None:
    """A run that ends after the checkpoint of its second step is gone on with by another instance, from the third.

    Step 1 and 2 do not run again: their mails, payments and model calls happen once.
    """
    runs: list[str] = []

    def noted(name: str) -> Callable[[Log], dict[str, list[str]]]:
        def node(state: Log) -> dict[str, list[str]]:
            runs.append(name)
            if runs == ["first", "second", "third"]:
                raise Killed
            return {"log": [name]}

        return node

    builder = steps("first", "second", "third", **{name: noted(name) for name in ("first", "second", "third")})
    saver = instances.open()
    config = config_of(instances.new_thread(saver))
    with suppress(Killed):
        on(saver, builder).invoke({"log": ["start"]}, config)
    result = on(again(instances), builder).invoke(None, config)
    expect_same({"log": ["start", "first", "second", "third"]}, result, "the result")
    expect_same(["first", "second", "third", "third"], runs, "the nodes that ran")
