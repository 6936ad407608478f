"""Any value that JSON can hold, in and out, and filters on any values that official stores compare alike."""

from __future__ import annotations

import copy
import itertools
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from functools import partial
from typing import Any

from hypothesis import strategies as st
from langgraph.store.base import GetOp, PutOp, SearchOp

from langgraph_conformance.drive import StoreDrive
from langgraph_conformance.expect import expect_raises, expect_same, expect_true, same
from langgraph_conformance.explore import Explorer
from langgraph_conformance.fixtures import delete_items
from langgraph_conformance.lookalikes import NAMES
from langgraph_conformance.rules import MUST, SHOULD, rule
from langgraph_conformance.suite.properties.choices import json_values, texts
from langgraph_conformance.suite.store.items import kept_or_refused
from langgraph_conformance.suite.store.test_filter import INJECTIONS
from langgraph_conformance.threads import fresh_id

NUMBERS: Sequence[Any] = [0, 1, -1, 10, 2, 100, 2**31, 0.5, -0.25, 1.5]
DIGITS: Sequence[Any] = [5, 3, 2, 9, 2.5, 1.5, 7, -1]
"""Numbers whose order is the same as text: an official store compares them so."""
KINDS = [*NAMES.values(), ["", "1", "true", "null", "[1]", '{"a": 1}', "a"]]
OPERATIONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
    "$ne": operator.ne,
    "$eq": operator.eq,
}


@dataclass(frozen=True)
class Case:
    """What one example puts, and asks for. Most of it are numbers that choose: examples are alike, and these spread.

    Attributes:
        kind: of the texts, which are alike.
        start: the first of them.
        items: one number for each, which says what its fields are.
        ranges: an operator and its operand each.
        together: whether the searches are one batch.
    """

    kind: int
    start: int
    items: Sequence[int]
    ranges: Sequence[tuple[str, int]]
    together: bool

    def text(self, number: int) -> str:
        kind = KINDS[self.kind]
        return kind[(self.start + number) % len(kind)]

    def values(self) -> list[dict[str, Any]]:
        """Each field has values of one kind: official stores disagree on whether True is 1, and whether None is there.

        `word`, `digit` and `either` are always there: they disagree on comparisons with what is not.
        """
        return [self.value(place, number) for place, number in enumerate(self.items)]

    def value(self, place: int, number: int) -> dict[str, Any]:
        optional = {
            "text": self.text(number % 3),
            "number": NUMBERS[(number + place) % len(NUMBERS)],
            "flag": bool(number % 2),
            "key": ["key 0", "a", "key 1"][number % 3],
            "namespace": self.text(number % 5),
            "nested": {"text": self.text(place), "lost": 1},
            "with_more-signs": ["a", "A"][number // 2 % 2],
        }
        always = {
            "word": self.text(number // 3 % 4),
            "digit": DIGITS[(number + 3 * place) % len(DIGITS)],
            "either": [self.text(0), 5, True, self.text(1)][number % 4],
        }
        return {**always, **{name: held for bit, (name, held) in enumerate(optional.items()) if not number >> bit & 1}}

    def filters(self, values: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        asked: list[dict[str, Any]] = [{}]
        for value in values[:3]:  # conditions on what is there are the ones that find something
            plain = {name: held for name, held in value.items() if name not in ("nested", "either")}
            asked += [{name: held} for name, held in plain.items()]
            names = list(plain)
            asked += [{name: plain[name] for name in names[at : at + 2]} for at in range(0, len(names), 2)]
        asked += [{"text": self.text(4)}, {"lost": 1}, {"number": 11}, {"flag": False}, {"flag": True}]
        asked += [{"word": {name: self.text(at)}} for at in range(3) for name in ("$ne", "$eq")]
        asked += [{"either": {"$ne": self.text(0)}}]
        digits = [{name: DIGITS[at % len(DIGITS)]} for name, at in self.ranges]
        asked += [{"digit": each} for each in digits]
        for one, other in itertools.pairwise(digits):
            asked += [{"digit": {**one, **other}}, {"digit": one, "word": self.text(0)}]
            asked += [{"word": {"$ne": self.text(0)}, "digit": other}]
        return asked


STRIDE = 7
"""From one kind to the next: examples that Hypothesis draws in a row are often alike."""
cases = st.builds(
    Case,
    kind=st.just(0),
    start=st.integers(0, 15),
    items=st.lists(st.integers(0, 2**10 - 1), min_size=1, max_size=6),
    ranges=st.lists(st.tuples(st.sampled_from(list(OPERATIONS)), st.integers(0, 7)), max_size=6),
    together=st.booleans(),
)


def holds(value: Mapping[str, Any], filter: Mapping[str, Any]) -> bool:
    """Whether a value matches, where each field has values of one kind."""
    return all(name in value and meets(value[name], condition) for name, condition in filter.items())


def meets(value: Any, condition: Any) -> bool:
    if not isinstance(condition, dict):
        return bool(value == condition)
    return all(OPERATIONS[name](value, operand) for name, operand in condition.items())


def clean(store: StoreDrive, namespace: tuple[str, ...], keys: Sequence[str]) -> None:
    """Delete what an example put."""
    delete_items(store, [(namespace, key) for key in keys])


SPECIAL: Sequence[Any] = [
    *(0, 1, -1, 2**31, -(2**31) - 1, 2**53 + 1, 2**63 - 1, -(2**63), 0.1, 1e-7, 1.0, 100.0, 1 / 3, -2.5, 12345678.875),
    *(None, True, False, "", " a ", "a\n", "\ta", "7", "-1.5", "007", "1e5", "true", "null", "None", "NaN", "[1, 2]"),
    *('{"a": 1}', '"quoted"', "2024-05-01T12:00:00Z", "2024-05-01T12:00:00+00:00", "2024-05-01", "e\u0301", "\ufb01"),
    *(
        "\U0001f9f5",
        "\U0001d49c\u00e9",
        "\x01\x1f",
        "\x7f",
        "a\r\nb",
        "it's",
        'say "x"',
        "back\\slash\\n",
        "<b>&amp; &</b>",
    ),
    *("%41%20", "{x}", "$1", "a\u200bb", "\u2028", "A", "\\u00e9", "x" * 300, "x" * 70_000),
    *(
        [],
        {},
        [1],
        ["a"],
        [[]],
        ["a", "a", "b"],
        [1, 1],
        [[1, [2]], [[]]],
        [None, True, 1, "1", 1.5],
        [{"a": 1}, {"b": [{}]}],
    ),
    *({"a": None, "b": {"c": None}}, {"a": [], "b": {}, "c": ""}, {"": 1}, {"a.b": {"c.d": 1}}, {"$set": 1, "_id": 2}),
    *(
        {"A": 1, "a": 2},
        {"key": 1, "namespace": 2, "value": 3},
        {"x": {"p": 1}},
        {"x": {"q": {"r": 2}}, "y": 1},
        {"z": 1},
    ),
    [*range(1200)],
    {"1": {"2": {"3": {"4": {"5": {"6": {"7": {"8": {"9": {"10": [["deep", {"12": 1}]]}}}}}}}}}},
]
"""What careless encodings change: limits of types, look-alikes of other types, escapes, shapes, sizes."""
FIELD_NAMES = [
    *(
        "a",
        "",
        "a.b",
        "$set",
        "_id",
        "A",
        "key",
        "namespace",
        "created_at",
        "updated_at",
        "value",
        "id",
        "score",
        "ttl",
    ),
    *("\u00e9", "a b", "__proto__", "it's", 'q"', "type", "metadata", "prefix", "text", "1", "_score", "$"),
]


@dataclass(frozen=True)
class Document:
    """A value: some that are special, under names that are, and some that Hypothesis makes up."""

    first: int
    name: int
    size: int
    more: dict[str, Any]

    def value(self, turn: int) -> dict[str, Any]:
        """Another one each turn, with fields of the same names."""
        special = {
            FIELD_NAMES[(self.name + number) % len(FIELD_NAMES)]: SPECIAL[
                (self.first + 17 * number + turn) % len(SPECIAL)
            ]
            for number in range(self.size - turn)
        }
        return {**special, **({} if turn else self.more)} or {"a": self.first}


documents = st.builds(
    Document,
    first=st.integers(0, len(SPECIAL) - 1),
    name=st.integers(0, len(FIELD_NAMES) - 1),
    size=st.integers(0, 8),
    more=st.dictionaries(texts, json_values, max_size=2),
)


@rule(MUST, source="BaseStore.put: value")
def test_any_json_comes_back_as_it_was_put(store: StoreDrive, explorer: Explorer) -> None:
    """Whatever JSON can hold comes back from `get` and `search` as it was put: no type, digit, sign or member changes.

    Numbers of up to 64 bits, finite floats, any text but NUL, names of fields of any text, nested to any depth. A put
    over an item leaves nothing of the old value, and `index` does not matter.
    """

    def check(drawn: tuple[list[Document], bool, Any]) -> None:
        made, together, index = drawn
        namespace = (fresh_id(),)
        keys = [f"key {number}" for number in range(len(made))]
        try:
            with explorer.example(store):
                for turn in range(2):
                    values = [each.value(turn) for each in made]
                    if together:
                        store.batch(
                            [PutOp(namespace, key, value, index) for key, value in zip(keys, values, strict=True)]
                        )
                    else:
                        for key, value in zip(keys, values, strict=True):
                            store.put(namespace, key, value, index)
                    for key, value in zip(keys, values, strict=True):
                        found = store.get(namespace, key)
                        explorer.looked()
                        expect_same(value, found and found.value, "the value that get gives")
                    searched = {item.key: item.value for item in store.search(namespace, limit=len(keys))}
                    expect_same(dict(zip(keys, values, strict=True)), searched, "the values that search gives")
        finally:
            clean(store, namespace, keys)

    index = st.sampled_from([None, None, False, ["a"], ["x.p", "text"], []])
    explorer.each(st.tuples(st.lists(documents, min_size=1, max_size=4), st.booleans(), index), check)


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
                put = {key: {"mixed": value, "digit": 5} for key, value in zip(keys, values, strict=True)}
                store.batch([PutOp(namespace, key, value) for key, value in put.items()])
                for value in [*wanted, *values]:
                    found = store.search(namespace, filter={"mixed": value}, limit=100)
                    explorer.looked()
                    expected = [key for key, each in zip(keys, values, strict=True) if same(each, value)]
                    names = sorted(item.key for item in found)
                    expect_same(expected, names, f"the items found with filter={{'mixed': {value!r}}}")
                filter = {"digit": {"$gte": 1, "$lt": 9}, "mixed": wanted}
                kept = copy.deepcopy(filter)
                store.batch([SearchOp(namespace, filter)])
                expect_same(kept, filter, "a filter after the search that it was given to")
                store.put(namespace, "empty", {})
                empty = store.get(namespace, "empty")
                expect_same({}, empty and empty.value, "the empty value that was put")
        finally:
            clean(store, namespace, [*keys, "empty"])

    drawn = (
        st.sampled_from(FAMILIES)
        .map(st.sampled_from)
        .flatmap(lambda one: st.tuples(st.lists(one, min_size=1, max_size=5), st.lists(one, max_size=3)))
    )
    explorer.each(drawn, check)


@rule(MUST, source="BaseStore.search: filter; SearchOp.filter")
def test_any_filter_finds_what_meets_it(store: StoreDrive, explorer: Explorer) -> None:
    """Whatever the items and the filter are, a search finds exactly the items whose values meet all of its conditions.

    Texts of every kind, numbers, booleans, ranges and several fields at once, with items that lack a field, and pages.
    """

    def check(case: Case, kind: int) -> None:
        case = replace(case, kind=kind)
        namespace, values = (fresh_id(),), case.values()
        keys = [f"key {number}" for number in range(len(values))]
        try:
            with explorer.example(store):
                store.batch([PutOp(namespace, key, value) for key, value in zip(keys, values, strict=True)])
                asked = case.filters(values)
                pages = [(100, 0) if number % 3 else (2, number % 4) for number in range(len(asked))]
                if case.together:
                    every = store.batch(
                        [
                            SearchOp(namespace, copy.deepcopy(filter), limit, offset)
                            for filter, (limit, offset) in zip(asked, pages, strict=True)
                        ]
                    )
                else:
                    every = [
                        store.search(namespace, filter=filter, limit=limit, offset=offset)
                        for filter, (limit, offset) in zip(asked, pages, strict=True)
                    ]
                for filter, (limit, offset), found in zip(asked, pages, every, strict=True):
                    explorer.looked()
                    expected = [key for key, value in zip(keys, values, strict=True) if holds(value, filter)]
                    names = sorted(item.key for item in found)
                    what = f"filter={filter}, limit={limit}, offset={offset}"
                    number = max(0, min(limit, len(expected) - offset))
                    expect_same([], sorted(set(names).difference(expected)), f"what does not match {what}")
                    expect_same(number, len(set(names)), f"how many items are found with {what}, of {expected}")
                    expect_same(len(set(names)), len(names), f"how often they are found with {what}")
        finally:
            clean(store, namespace, keys)

    def check_all(drawn: tuple[int, list[Case]]) -> None:
        first, each_case = drawn
        for number, case in enumerate(each_case):
            check(case, (first + STRIDE * number) % len(KINDS))

    explorer.each(st.tuples(st.integers(0, len(KINDS) - 1), st.lists(cases, min_size=1, max_size=4)), check_all)


@rule(SHOULD, source="SearchOp.filter; InMemoryStore, SqliteStore, PostgresStore")
def test_any_unknown_operator_is_refused(store: StoreDrive, explorer: Explorer) -> None:
    """Whatever stands beside it, an operator that does not exist makes a search raise ValueError; the next one works.

    An empty or a full result would be taken for an answer, and operators of the database reach what they must not.
    """

    def check(drawn: tuple[int, bool, Any]) -> None:
        number, beside, operand = drawn
        namespace = (fresh_id(),)
        condition = {OPERATORS[number % len(OPERATORS)]: operand}
        condition = {**({"$gte": 0} if beside else {}), **condition}
        try:
            with explorer.example(store):
                store.put(namespace, "key", {"number": 1})
                what = f"a search with filter={{'number': {condition}}}"
                expect_raises(ValueError, lambda: store.search(namespace, filter={"number": condition}), what)
                found = store.search(namespace, filter={"number": 1})
                explorer.looked()
                expect_same(["key"], [item.key for item in found], "the items found after it")
        finally:
            clean(store, namespace, ["key"])

    drawn = st.tuples(st.integers(0, 2 * len(OPERATORS)), st.booleans(), st.sampled_from([1, "1", None, [1], {"a": 1}]))
    explorer.each(drawn, check, share=0.5)


@rule(MUST, source="CVE-2025-8709: filter keys in the SQL of a store's search")
def test_any_hostile_field_finds_nothing(store: StoreDrive, explorer: Explorer) -> None:
    """Whatever fragment of a query a field of a filter is, it finds no item without that field, and harms nothing.

    Fields come from requests: pasted into a query, one gives everybody's items.
    """

    def check(drawn: tuple[int, str, bool]) -> None:
        number, value, beside = drawn
        namespace, other = (fresh_id(), "a"), (fresh_id(), "b")
        filter = {INJECTIONS[number]: value, **({"text": "a"} if beside else {})}
        try:
            with explorer.example(store):
                store.put(namespace, "key", {"text": "a"})
                store.put(other, "key", {"text": "b"})
                found = kept_or_refused(partial(store.search, namespace, filter=filter))
                found = [] if found == "refused" else found
                explorer.looked()
                expect_same([], [(item.namespace, item.key) for item in found], f"what is found with {filter}")
                expect_same({"text": "b"}, getattr(store.get(other, "key"), "value", None), "another item after it")
        finally:
            clean(store, namespace, ["key"])
            clean(store, other, ["key"])

    texts = st.sampled_from(["a", "a' OR '1'='1", "1"])
    explorer.each(st.tuples(st.integers(0, len(INJECTIONS) - 1), texts, st.booleans()), check)


OPERATORS = ["$nosuch", "$regex", "$exists", "$in", "$nin", "$not", "$and", "$or", "$like", "$GT", "$type", "$contains"]


# -- times

ACTS = ["nothing", "put", "get", "search", "put the same", "delete and put", "put a neighbour", "list", "get by batch"]


@rule(SHOULD, source="Item.created_at, Item.updated_at; InMemoryStore, SqliteStore, PostgresStore")
def test_any_times_are_those_of_puts(store: StoreDrive, explorer: Explorer) -> None:
    """Whatever is done later, an item's times are those of its own puts: each moves `updated_at`, nothing else does.

    `get` and `search` agree on them; what is put after a delete is new. Ages, retention and "what is new" go by them.
    """

    def check(drawn: tuple[int, bool]) -> None:
        start, together = drawn
        root = fresh_id()
        acts = [ACTS[(start + number) % len(ACTS)] for number in range(len(ACTS))]
        places = [((root, f"space {number}"), "key") for number in range(len(acts))]
        try:
            with explorer.example(store):
                for place in places:
                    store.put(*place, {"number": 1})
                before = times_of(store, root)
                store.wait(SECONDS)
                for act, (namespace, key) in zip(acts, places, strict=True):
                    do(store, act, namespace, key, together)
                after = times_of(store, root)
                explorer.looked()
                for act, (namespace, _) in zip(acts, places, strict=True):
                    created, updated = after[namespace]
                    moved = created > before[namespace][0], updated > before[namespace][1]
                    what = f"whether created_at and updated_at of {namespace} have moved after: {act}"
                    if act.startswith("put") and "neighbour" not in act:  # official stores differ in created_at
                        expect_same(True, moved[1], f"whether updated_at of {namespace} has moved after: {act}")
                    else:
                        expect_same((act == "delete and put",) * 2, moved, what)
                    expect_true(
                        created <= updated, f"the times of {namespace}", "no update before it", (created, updated)
                    )
        finally:
            delete_items(store, [(namespace, each) for namespace, _ in places for each in ("key", "near")])

    explorer.each(st.tuples(st.integers(0, len(ACTS) - 1), st.booleans()), check, share=0.03)


SECONDS = 1.1
"""Official stores keep times of whole seconds."""
CLOCKS_DIFFER_BY = timedelta(minutes=15)


def do(store: StoreDrive, act: str, namespace: tuple[str, ...], key: str, together: bool) -> None:
    """What an act is, with an item."""
    if act == "delete and put":
        store.delete(namespace, key)
    if act.startswith(("put", "delete")):
        made = PutOp(namespace, "near" if "neighbour" in act else key, {"number": 1 if "same" in act else 2})
        if together:
            store.batch([made])
        else:
            store.put(*made[:3])
    elif act == "get":
        store.get(namespace, key)
    elif act == "get by batch":
        store.batch([GetOp(namespace, key)])
    elif act == "search":
        store.search(namespace, filter={"number": 1})
    elif act == "list":
        store.list_namespaces(prefix=namespace)


def times_of(store: StoreDrive, root: str) -> dict[tuple[str, ...], tuple[datetime, datetime]]:
    """The times of the item `key` in each namespace, which get and search agree on, and which are about now."""
    found = {item.namespace: item for item in store.search((root,), limit=100) if item.key == "key"}
    now = datetime.now(timezone.utc)
    times = {}
    for namespace, item in found.items():
        got = store.get(namespace, "key")
        pair = (item.created_at, item.updated_at)
        expect_same(got and (got.created_at, got.updated_at), pair, f"the times of {namespace}, by get and by search")
        off = [abs((each if each.tzinfo else each.replace(tzinfo=timezone.utc)) - now) for each in pair]
        expect_true(max(off) < CLOCKS_DIFFER_BY, "how far times are from now", f"less than {CLOCKS_DIFFER_BY}", off)
        times[namespace] = pair
    return times
