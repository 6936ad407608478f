"""A store that several threads or tasks use at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from langgraph.store.base import Item

from langgraph_conformance.drive import Later, StoreDrive
from langgraph_conformance.expect import expect_no_errors
from langgraph_conformance.explore import Explorer
from langgraph_conformance.fixtures import delete_items
from langgraph_conformance.rules import MUST, rule
from langgraph_conformance.suite.properties.histories import Event, explain
from langgraph_conformance.threads import fresh_id

THERE = ["a", "b"]
"""Keys of items that are there in the beginning."""
KEYS = [*THERE, "c", "other a"]
"""The last one stands for the key of the first in another namespace."""
Step = tuple[str, str]
"""What a call does, and the key."""

steps = st.tuples(st.sampled_from(["put", "get", "search", "delete"]), st.sampled_from(KEYS))
programs = st.lists(st.lists(steps, min_size=2, max_size=3), min_size=1, max_size=4)


def whose(namespace: tuple[str, ...], key: str) -> tuple[tuple[str, ...], str]:
    """Where the item of a key is."""
    return ((*namespace, "other"), key.removeprefix("other ")) if key.startswith("other ") else (namespace, key)


def key_of(namespace: tuple[str, ...], item: Item) -> str:
    return item.key if item.namespace == namespace else f"other {item.key}"


def later(store: StoreDrive, namespace: tuple[str, ...], step: Step, number: int) -> Later:
    """The call of a step; each put has a value of its own."""
    kind, key = step
    made: Later
    namespace, key = whose(namespace, key)
    if kind == "put":
        made = store.later.put(namespace, key, {"number": number})
    elif kind == "get":
        made = store.later.get(namespace, key)
    elif kind == "delete":
        made = store.later.delete(namespace, key)
    else:
        made = store.later.search(namespace[:1])
    return made


def event_of(namespace: tuple[str, ...], step: Step, number: int, result: Any, key: str) -> Event | None:
    """The call as far as it is about ``key``; an item's state is its number, None for no item."""
    kind, own = step
    if kind == "search":
        saw = {key_of(namespace, item): item.value["number"] for item in result}.get(key)
        return Event(f"search saw {saw}", reads=True, saw=saw)
    if own != key:
        return None
    if kind == "put":
        return Event(f"put {number}", step=lambda _: number)
    if kind == "delete":
        return Event("delete", step=lambda _: None)
    saw = result and result.value["number"]
    return Event(f"get saw {saw}", reads=True, saw=saw)


def once(program: Sequence[Sequence[Step]]) -> list[list[Step]]:
    """The program without deletes of what is not there, or not any more: that is another matter."""
    deleted = {key for key in KEYS if key not in THERE}
    rounds: list[list[Step]] = []
    for each in program:
        rounds.append([])
        for kind, key in each:
            rounds[-1].append(("get" if kind == "delete" and key in deleted else kind, key))
            deleted |= {key} if kind == "delete" else set()
    return rounds


@rule(MUST, source="BaseStore; pregel/_runner.py: the tasks of a step run in threads or asyncio tasks")
def test_some_order_of_calls_at_the_same_time_explains_them(store: StoreDrive, explorer: Explorer) -> None:
    """Whatever several threads or tasks put, get, search and delete at once, each item is as if they had taken turns.

    The tasks of a step run at the same time: a read that gives an old item after a new one was seen, or an item that
    comes back after its delete, is a memory that an agent cannot rely on.
    """

    def check(drawn: list[list[Step]]) -> None:
        namespace = (fresh_id(),)
        program = once(drawn)
        try:
            with explorer.example(store):
                for key in THERE:
                    store.put(namespace, key, {"number": 0})
                rounds: list[list[tuple[Step, int, Any]]] = []
                number = 0
                for each in program:
                    numbers = list(range(number + 1, number + 1 + len(each)))
                    number += len(each)
                    calls = [later(store, namespace, step, own) for step, own in zip(each, numbers, strict=True)]
                    results = store.together(calls)
                    expect_no_errors(results, "calls at the same time")
                    rounds.append(list(zip(each, numbers, results, strict=True)))
                rounds.append([(("get", key), 0, store.get(*whose(namespace, key))) for key in KEYS])
                for key in KEYS:
                    events = [[event for call in each if (event := event_of(namespace, *call, key))] for each in rounds]
                    explorer.looked()
                    explain(0 if key in THERE else None, events, f"the item {key!r}")
        finally:
            delete_items(store, [whose(namespace, key) for key in KEYS])

    explorer.each(programs, check)
