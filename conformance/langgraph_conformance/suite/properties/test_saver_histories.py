"""A saver that several threads or tasks use at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from langgraph.checkpoint.base import CheckpointTuple

from langgraph_conformance.drive import Later, SaverDrive
from langgraph_conformance.expect import expect_no_errors, expect_same
from langgraph_conformance.explore import Explorer
from langgraph_conformance.fixtures import remove
from langgraph_conformance.rules import MUST, rule
from langgraph_conformance.suite.properties.histories import Event, explain
from langgraph_conformance.threads import Stored, Thread, fresh_id, writes_of

TASKS = ["t", "u"]
CALLS = ["put", "latest", "write", "read", "list"]
steps = st.tuples(st.integers(0, 1), st.sampled_from(CALLS), st.sampled_from(TASKS))
"""Which of two threads, what is called, and for which task."""
rounds_of_calls = st.one_of(st.lists(steps, min_size=2, max_size=3), st.lists(steps, min_size=2, max_size=12))
programs = st.lists(rounds_of_calls, min_size=1, max_size=4)


class Program:
    """One example: a thread whose latest checkpoint moves, and whose first one gets pending writes."""

    def __init__(self, saver: SaverDrive) -> None:
        self.saver = saver
        self.thread = Thread(saver, fresh_id())
        self.first = self.thread.put({"number": 0, "list": [0]})
        self.put: dict[int, Stored] = {0: self.first}

    def explain(self, rounds: list[list[tuple[str, str, int, Any]]]) -> None:
        """What the calls of each round gave, and what is there in the end."""
        config = self.thread.config()
        end: dict[str, Any] = {"latest": self.saver.get_tuple(config), "read": self.saver.get_tuple(self.first.config)}
        end["whole list"] = self.saver.list(config)
        every = [*rounds, [(kind, "", 0, result) for kind, result in end.items()]]
        latest = [[event for call in each if (event := self.latest_event(*call))] for each in every]
        writes = [[event for call in each if (event := self.write_event(*call))] for each in every]
        explain(frozenset({0}), latest, "the latest checkpoint")
        explain(frozenset(), writes, "the pending writes")

    def later(self, kind: str, task: str, number: int) -> Later:
        """A call; each put and each write has a number of its own."""
        made: Later
        if kind == "put":
            stored = self.thread.make({"number": number, "list": [number]}, parent=self.first)
            self.put[number] = stored
            versions = dict(stored.new_versions)
            made = self.saver.later.put(self.first.config, dict(stored.checkpoint), dict(stored.metadata), versions)
        elif kind == "write":
            made = self.saver.later.put_writes(self.first.config, [("channel", number)], task)
        elif kind == "latest":
            made = self.saver.later.get_tuple(self.thread.config())
        elif kind == "list":
            made = self.saver.later.list(self.thread.config())
        else:
            made = self.saver.later.get_tuple(self.first.config)
        return made

    def number_of(self, found: CheckpointTuple | None) -> Any:
        """The number of a checkpoint that was put, whole; else what was found instead."""
        if found is None:
            return None
        id, values = found.checkpoint["id"], found.checkpoint["channel_values"]
        whole = [number for number, own in self.put.items() if own.id == id and dict(own.values) == values]
        return whole[0] if whole else f"{id} with {values}"

    def latest_event(self, kind: str, task: str, number: int, result: Any) -> Event | None:
        """The call as far as it is about the latest checkpoint; the state is which ones there are."""
        if kind == "put":
            return Event(f"put {number}", step=lambda there: there | {number})
        if kind == "latest":
            saw = self.number_of(result)
            return Event(f"get_tuple saw {saw}", reads=True, saw=saw, sees=self.greatest)
        if kind == "whole list":
            numbers = [self.number_of(each) for each in result]
            return Event(f"list saw {numbers}", reads=True, saw=numbers, sees=self.newest_first)
        return None

    def newest_first(self, there: frozenset[int]) -> list[int]:
        return sorted(there, key=lambda number: self.put[number].id, reverse=True)

    def expect_each_once(self, listed: Sequence[CheckpointTuple]) -> None:
        """Puts at the same time may show in a list or not; each checkpoint is whole, and comes once and in order."""
        numbers = [self.number_of(each) for each in listed]
        strange = [number for number in numbers if number not in self.put]
        expect_same([], strange, "the checkpoints in a list that were not put so")
        expect_same(self.newest_first(frozenset(numbers)), numbers, "the checkpoints in a list, newest first")

    def greatest(self, there: frozenset[int]) -> int:
        return max(there, key=lambda number: self.put[number].id)

    def write_event(self, kind: str, task: str, number: int, result: Any) -> Event | None:
        """The call as far as it is about the writes; the state is which number each task has: the first one stays."""
        if kind == "write":
            return Event(
                f"{task} wrote {number}",
                step=lambda there: there if task in dict(there) else frozenset({*there, (task, number)}),
            )
        if kind == "read":
            saw = frozenset((name, value) for name, _, value in writes_of(result)) if result else None
            told = "nothing" if saw is None else f"the writes {sorted(saw)}"
            return Event(f"get_tuple saw {told}", reads=True, saw=saw)
        return None


@rule(MUST, source="pregel/_loop.py saves checkpoints and writes in the background; BaseCheckpointSaver.put_writes")
def test_some_order_of_calls_at_the_same_time_explains_them(saver: SaverDrive, explorer: Explorer) -> None:
    """Whatever several threads or tasks put, write and read at once, the thread is as if they had taken turns.

    The engine saves checkpoints and the writes of parallel tasks in the background: a latest checkpoint that goes back
    to an older one, or a write that is lost or replaced by a later one, makes finished work run again.
    """

    def check(drawn: list[list[tuple[int, str, str]]]) -> None:
        threads: list[Thread] = []
        try:
            with explorer.example(saver):
                programs = [Program(saver), Program(saver)]
                threads += [program.thread for program in programs]
                rounds: list[list[tuple[int, str, str, int, Any]]] = []
                number = 0
                for each in drawn:
                    numbered = [(*step, number + place) for place, step in enumerate(each, 1)]
                    number += len(each)
                    results = saver.together(
                        [programs[which].later(kind, task, own) for which, kind, task, own in numbered]
                    )
                    expect_no_errors(results, "calls at the same time")
                    for (which, kind, _, _), result in zip(numbered, results, strict=True):
                        if kind == "list":
                            programs[which].expect_each_once(result)
                    rounds.append([(*call, given) for call, given in zip(numbered, results, strict=True)])
                explorer.looked()
                for which, program in enumerate(programs):
                    program.explain([[call[1:] for call in each if call[0] == which] for each in rounds])
        finally:
            remove(saver, threads)

    explorer.each(programs, check)
