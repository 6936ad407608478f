"""Histories of calls made at the same time: is there an order of the calls that explains what they gave?

A history has rounds. The calls of one round are made at the same time, by threads or tasks, and a round begins when the
one before it has ended: so calls of different rounds are ordered, and each thread's own are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph_conformance.errors import Broken
from langgraph_conformance.expect import shown

State = Hashable
"""What one object (an item, a thread's latest checkpoint) may hold."""


@dataclass(frozen=True)
class Event:
    """A call and what it gave, as far as it is about one object.

    Attributes:
        says: in words.
        step: gives the state after the call, from the one before.
        saw: what it saw of the object, or None for a call that only writes.
        sees: what it must see, from the state.
    """

    says: str
    step: Callable[[Any], State] = lambda state: state
    reads: bool = False
    saw: Any = None
    sees: Callable[[Any], Any] = lambda state: state


def explain(initial: State, rounds: Sequence[Sequence[Event]], what: str) -> None:
    """There is an order of the events of each round in which every read saw what was there.

    Args:
        initial: what the object holds in the beginning.
        rounds: the events about it.
        what: the object.

    Raises:
        Broken: there is none; the history is in the message.
    """
    possible: set[State] = {initial}
    for number, events in enumerate(rounds):
        following = _after(possible, events)
        if not following:
            told = [
                f"round {count + 1}, at the same time: {'; '.join(event.says for event in each) or 'nothing'}"
                for count, each in enumerate(rounds[: number + 1])
            ]
            raise Broken(
                f"what calls at the same time gave of {what}",
                "results that some order of the calls explains",
                f"results that none does, from {shown(sorted(map(str, possible)))} on",
                tuple(told),
            )
        possible = following


def _after(states: set[State], events: Sequence[Event]) -> set[State]:
    """The states in which the events may end, in any order in which each read sees what it saw."""
    # by which events were made: far fewer than there are orders
    reached: dict[frozenset[int], set[State]] = {frozenset(): states}
    for _ in events:
        following: dict[frozenset[int], set[State]] = {}
        for made, before in reached.items():
            for number, event in enumerate(events):
                if number not in made:
                    after = {event.step(state) for state in before if not event.reads or event.sees(state) == event.saw}
                    if after:
                        following.setdefault(made | {number}, set()).update(after)
        reached = following
    return {state for after in reached.values() for state in after}
