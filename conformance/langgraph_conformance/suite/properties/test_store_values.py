"""Any value that JSON can hold, in and out, and filters on any values that official stores compare alike."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st
from langgraph.store.base import PutOp

from langgraph_conformance.drive import StoreDrive
from langgraph_conformance.errors import Blocked, TimedOut
from langgraph_conformance.expect import expect_same, same
from langgraph_conformance.explore import Explorer
from langgraph_conformance.lookalikes import NAMES
from langgraph_conformance.rules import MUST, SHOULD, rule
from langgraph_conformance.suite.properties.choices import json_values, some_of, texts
from langgraph_conformance.threads import fresh_id

LOOKALIKES = [text for kind in NAMES.values() for text in kind]
FIELDS: Mapping[str, Sequence[Any]] = {
    "text": [*LOOKALIKES[::5], "", "1", "true", "null", "[1]", '{"a": 1}'],
    "name": LOOKALIKES[1::7],
    "number": [0, 1, -1, 10, 2, 100, 2**31, 0.5, -0.25, 1.5],
    "flag": [True, False],
    "key": ["a", "key", "value"],
    "with_more-signs": ["a", "A"],
}
"""Each field has values of one kind: official stores disagree on whether True is 1, and whether None is there."""
ALWAYS: Mapping[str, Sequence[Any]] = {"digit": list(range(1, 10)), "word": ["a", "b", "ab", "B", "é"]}
"""Fields that every item has: official stores disagree on comparisons with what is not there."""

stored = st.tuples(some_of(**FIELDS), *(st.sampled_from(each) for each in ALWAYS.values())).map(
    lambda drawn: {**dict(zip(ALWAYS, drawn[1:], strict=True)), **drawn[0]}
)
comparisons = st.one_of(
    st.tuples(st.just("digit"), st.sampled_from(["$gt", "$gte", "$lt", "$lte", "$ne", "$eq"]), st.integers(1, 9)),
    st.tuples(st.just("word"), st.sampled_from(["$ne", "$eq"]), st.sampled_from(ALWAYS["word"])),
).map(lambda drawn: {drawn[0]: {drawn[1]: drawn[2]}})
ranges = st.tuples(st.integers(1, 9), st.integers(1, 9)).map(
    lambda drawn: {"digit": {"$gte": min(drawn), "$lte": max(drawn)}}
)
filters = st.one_of(
    some_of(**FIELDS),
    comparisons,
    ranges,
    st.tuples(comparisons, some_of(**FIELDS)).map(lambda drawn: {**drawn[1], **drawn[0]}),
)


def holds(value: Mapping[str, Any], filter: Mapping[str, Any]) -> bool:
    """Whether a value matches, where each field has values of one kind."""
    return all(name in value and meets(value[name], condition) for name, condition in filter.items())


def meets(value: Any, condition: Any) -> bool:
    if not isinstance(condition, dict):
        return bool(value == condition)
    comparisons = {
        "$eq": value.__eq__,
        "$ne": value.__ne__,
        "$gt": value.__gt__,
        "$gte": value.__ge__,
        "$lt": value.__lt__,
        "$lte": value.__le__,
    }
    return all(comparisons[operator](operand) is True for operator, operand in condition.items())


def clean(store: StoreDrive, namespace: tuple[str, ...], keys: Sequence[str]) -> None:
    """Delete what an example put."""
    store.calls = []
    if not store.broken:
        with contextlib.suppress(Exception, Blocked, TimedOut):
            store.batch([PutOp(namespace, key, None) for key in keys])


@rule(MUST, source="BaseStore.put: value")
def test_any_json_comes_back_as_it_was_put(store: StoreDrive, explorer: Explorer) -> None:
    """Whatever JSON can hold comes back from `get` and `search` as it was put: no type, digit, sign or member changes.

    Numbers of up to 64 bits, finite floats, any text but NUL, names of fields of any text, nested to any depth.
    """

    def check(drawn: list[dict[str, Any]]) -> None:
        namespace = (fresh_id(),)
        keys = [f"key {number}" for number in range(len(drawn))]
        try:
            with explorer.example(store):
                for key, value in zip(keys, drawn, strict=True):
                    store.put(namespace, key, value)
                for key, value in zip(keys, drawn, strict=True):
                    found = store.get(namespace, key)
                    explorer.looked()
                    expect_same(value, found and found.value, "the value that get gives")
                searched = {item.key: item.value for item in store.search(namespace, limit=len(keys))}
                expect_same(dict(zip(keys, drawn, strict=True)), searched, "the values that search gives")
        finally:
            clean(store, namespace, keys)

    explorer.each(st.lists(st.dictionaries(texts, json_values, min_size=1, max_size=4), min_size=1, max_size=3), check)


FAMILIES: Sequence[Sequence[Any]] = [
    [5, "5", 50, -5, "05", [5]],
    [5.5, "5.5", 6, [5.5]],
    [[1, 2], [2, 1], [1], ["1", "2"], 1, 2],
    [True, "true", "True", False, "false"],
    ["six", "", ["six"], [""], "SIX"],
]
"""Values that are not equal, whatever a database makes of them; official stores differ on numbers and booleans."""


@rule(SHOULD, source="BaseStore.search: filter; InMemoryStore, SqliteStore, PostgresStore")
def test_any_filter_tells_types_apart(store: StoreDrive, explorer: Explorer) -> None:
    """Whatever kinds of values a field has in different items, a filter finds those that are equal in value and type.

    A number that matches its text, a list its members or another order of them: other people's items are found.
    """

    def check(drawn: tuple[list[Any], list[Any]]) -> None:
        values, wanted = drawn
        namespace = (fresh_id(),)
        keys = [f"key {number}" for number in range(len(values))]
        try:
            with explorer.example(store):
                store.batch([PutOp(namespace, key, {"mixed": value}) for key, value in zip(keys, values, strict=True)])
                for value in [*wanted, *values]:
                    found = store.search(namespace, filter={"mixed": value}, limit=100)
                    explorer.looked()
                    expected = [key for key, each in zip(keys, values, strict=True) if same(each, value)]
                    names = sorted(item.key for item in found)
                    expect_same(expected, names, f"the items found with filter={{'mixed': {value!r}}}")
        finally:
            clean(store, namespace, keys)

    drawn = (
        st.sampled_from(FAMILIES)
        .map(st.sampled_from)
        .flatmap(lambda one: st.tuples(st.lists(one, min_size=1, max_size=5), st.lists(one, max_size=3)))
    )
    explorer.each(drawn, check)


@rule(MUST, source="BaseStore.search: filter; SearchOp.filter")
def test_any_filter_finds_what_meets_it(store: StoreDrive, explorer: Explorer) -> None:
    """Whatever the items and the filter are, a search finds exactly the items whose values meet all of its conditions.

    Texts of every kind, numbers, booleans, ranges and several fields at once, with items that lack a field.
    """

    def check(drawn: tuple[list[dict[str, Any]], list[dict[str, Any]]]) -> None:
        values, conditions = drawn
        namespace = (fresh_id(),)
        keys = [f"key {number}" for number in range(len(values))]
        try:
            with explorer.example(store):
                store.batch([PutOp(namespace, key, value) for key, value in zip(keys, values, strict=True)])
                # conditions on what is there are the ones that find something
                own = [dict(list(value.items())[:3]) for value in values[:2]]
                for filter in [*conditions, *own]:
                    found = store.search(namespace, filter=filter, limit=100)
                    explorer.looked()
                    expected = [key for key, value in zip(keys, values, strict=True) if holds(value, filter)]
                    expect_same(expected, sorted(item.key for item in found), f"the items found with filter={filter}")
        finally:
            clean(store, namespace, keys)

    explorer.each(st.tuples(st.lists(stored, min_size=1, max_size=5), st.lists(filters, min_size=1, max_size=4)), check)
