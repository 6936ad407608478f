"""Histories of calls made at the same time: is there an order of the calls that explains what they gave?

A history has rounds. The calls of one round are made at the same time, by threads or tasks, and a round begins when the
one before it has ended: so calls of different rounds are ordered, and each thread's own are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
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
        following = {end for state in possible for order in permutations(events) for end in _ends(state, order)}
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


def _ends(state: Any, order: Iterable[Event]) -> list[State]:
    for event in order:
        if event.reads and event.sees(state) != event.saw:
            return []
        state = event.step(state)
    return [state]
