"""Runs of the functional API: entrypoint, task, previous."""

from __future__ import annotations

from typing import Any

from langgraph.func import entrypoint, task
from langgraph.types import Command, interrupt

from ...graphs import in_context
from ..play import Play, golden_run


@golden_run()
def entrypoint_previous_and_save(play: Play) -> None:
    """An entrypoint gets what its last run on the thread saved, which need not be what it returned."""

    @entrypoint(checkpointer=play.saver)
    def total(number: int, *, previous: Any = None) -> Any:
        before = previous or 0
        return entrypoint.final(value=f"{before} + {number}", save=before + number)

    graph, thread = play.take(total), play.thread()
    for number in (1, 2, 3):
        graph.invoke(number, thread)


@golden_run()
def tasks_before_an_interrupt(play: Play) -> None:
    """Results of tasks are stored as writes: on resume the finished tasks do not run again."""
    runs: list[int] = []

    @task
    def double(number: int) -> int:
        runs.append(number)
        return 2 * number

    @entrypoint(checkpointer=play.saver)
    @in_context
    def main(number: int) -> dict[str, Any]:
        first = double(number).result()
        second = double(first).result()
        answer = interrupt(f"is {second} right?")
        return {"second": second, "answer": answer, "runs of the task": list(runs)}

    graph, thread = play.take(main), play.thread()
    graph.invoke(1, thread)
    graph.invoke(Command(resume="yes"), thread)
