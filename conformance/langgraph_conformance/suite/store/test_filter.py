"""search with a filter on values."""

from __future__ import annotations

import copy
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import pytest
from langgraph.store.base import PutOp

from langgraph_conformance.drive import StoreDrive
from langgraph_conformance.embedders import vector_text
from langgraph_conformance.errors import Blocked
from langgraph_conformance.expect import expect_raises, expect_same, expect_true, shown
from langgraph_conformance.lookalikes import LOOKALIKES
from langgraph_conformance.rules import MUST, QUIRK, SHOULD, rule
from langgraph_conformance.suite.store.items import kept_or_refused, outcome_of

DOCUMENTED = "SearchOp.filter: exact matches and comparison operators"
OFFICIAL = "InMemoryStore, SqliteStore, PostgresStore"

Value = dict[str, Any]

COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def put_all(store: StoreDrive, root: str, values: Mapping[str, Value]) -> None:
    """Put values by key, in one namespace and one batch."""
    store.batch([PutOp((root,), key, value) for key, value in values.items()])


def put_fields(store: StoreDrive, root: str, values: Mapping[str, Any]) -> None:
    """Put ``{"k": value}`` by key, in one namespace and one batch."""
    put_all(store, root, {key: {"k": value} for key, value in values.items()})


def found(store: StoreDrive, root: str, filter: Mapping[str, Any], **keywords: Any) -> list[str]:
    """The keys found below ``root``, sorted."""
    return sorted(each.key for each in store.search((root,), filter=filter, **{"limit": 500, **keywords}))


def found_or_refused(store: StoreDrive, root: str, filter: Mapping[str, Any]) -> list[str]:
    """The keys found; none when the store refuses the filter, which is as safe as no match."""
    try:
        return found(store, root, filter)
    except Blocked:
        raise
    except Exception:
        return []


def outcome(store: StoreDrive, root: str, filter: Mapping[str, Any]) -> list[str] | str:
    """The keys found, or the name of what was raised."""
    try:
        return found(store, root, filter)
    except Blocked:
        raise
    except Exception as error:
        return f"raises {type(error).__name__}"


# --- what a filter is


@rule(MUST, source=DOCUMENTED)
@pytest.mark.parametrize("form", ["direct", "$eq"])
@pytest.mark.parametrize(
    "value",
    ["active", "", 7, 0, -7, 2.5, True, False],
    ids=["text", "empty", "int", "zero", "negative", "float", "True", "False"],
)
def test_a_filter_keeps_items_that_have_the_value(store: StoreDrive, root: str, value: object, form: str) -> None:
    """`filter={field: value}`, and `{field: {"$eq": value}}`, find exactly the items with that value in that field.

    A filter that is ignored shows what was excluded, one that never matches shows nothing.
    """
    put_all(
        store, root, {"a": {"k": value}, "b": {"k": "other"}, "c": {"j": value}, "d": {"k": value, "j": 1}, "e": {}}
    )
    filter = {"k": value if form == "direct" else {"$eq": value}}
    expect_same(["a", "d"], found(store, root, filter), f"the keys found with filter={filter}")


@rule(MUST, source=DOCUMENTED)
@pytest.mark.parametrize(
    ("filter", "wanted"),
    [
        ({"a": 1, "b": 1}, ["11"]),
        ({"b": 1, "a": 1}, ["11"]),
        ({"a": 2, "b": 1}, ["21"]),
        ({"a": 2, "b": 2}, []),
        ({"a": 1, "c": 1}, []),
        ({"c": 1, "a": 1}, []),
        ({"a": 1, "t": "x", "b": 2}, ["12"]),
        ({"a": 1, "b": {"$gt": 1}}, ["12"]),
        ({"a": {"$lt": 2}, "b": 2}, ["12"]),
        ({"a": {"$gte": 1}, "b": {"$lt": 2}}, ["11", "21"]),
        ({"a": {"$ne": 1}, "b": {"$ne": 2}}, ["21"]),
        ({"a": {"$eq": 1}, "b": {"$eq": 2}, "t": {"$eq": "y"}}, []),
    ],
    ids=[
        *("both", "other order", "second differs", "no such pair", "last absent", "first absent", "three"),
        *("then operator", "operator first", "operators", "unequal", "third differs"),
    ],
)
def test_all_fields_of_a_filter_must_match(
    store: StoreDrive, root: str, filter: dict[str, Any], wanted: list[str]
) -> None:
    """A filter with several fields finds the items that match all of them, by value or by operator.

    Joined by "or", or cut to the first or the last field, it finds what the user has excluded.
    """
    put_all(store, root, {f"{a}{b}": {"a": a, "b": b, "t": "x"} for a, b in ((1, 1), (1, 2), (2, 1))})
    expect_same(wanted, found(store, root, filter), f"the keys found with filter={filter}")


@rule(MUST, source="BaseStore.search: filter: dict | None")
@pytest.mark.parametrize("filter", [{}, None], ids=["empty", "None"])
def test_an_empty_filter_keeps_all(store: StoreDrive, root: str, filter: dict[str, Any] | None) -> None:
    """`filter={}` and `filter=None` find everything below the prefix.

    A user interface in which no condition is set passes it.
    """
    put_all(store, root, {"a": {"k": 1}, "b": {}, "c": {"k": None}})
    keys = sorted(each.key for each in store.call("search", (root,), filter=filter))
    expect_same(["a", "b", "c"], keys, f"the keys found with filter={filter}")


@rule(MUST, source=DOCUMENTED)
@pytest.mark.parametrize(
    "filter",
    [
        {"k": "nowhere"},
        {"absent": "x"},
        {"absent": 0},
        {"absent": ""},
        {"absent": False},
        {"k": 99},
        {"k": {"$eq": 99}},
    ],
    ids=["value", "field", "absent 0", "absent empty", "absent False", "number", "$eq"],
)
def test_a_filter_that_nothing_matches_finds_nothing(store: StoreDrive, root: str, filter: dict[str, Any]) -> None:
    """A filter on a value or a field that no item has finds nothing and raises nothing.

    Items of one namespace differ: most lack most fields. A missing field is not 0, not empty, not False.
    """
    put_all(store, root, {"a": {"k": 1}, "b": {"k": "x"}, "c": {}})
    expect_same([], found(store, root, filter), f"the keys found with filter={filter}")


@rule(MUST, source=DOCUMENTED)
@pytest.mark.parametrize("filter", [{"k": 1}, {"k": {"$eq": 1}}, {"k": {"$gt": 0}}], ids=["direct", "$eq", "$gt"])
def test_a_filter_stays_below_the_prefix(store: StoreDrive, root: str, filter: dict[str, Any]) -> None:
    """A filter narrows a search below its prefix; what matches elsewhere is not found.

    One user's search would show another user's memories.
    """
    for name in (("mine",), ("mine", "deep"), ("theirs",), ()):
        store.put((root, *name), "-".join(("k", *name)), {"k": 1})
    store.put((root, "mine"), "other", {"k": 0})
    keys = sorted(each.key for each in store.search((root, "mine"), filter=filter))
    expect_same(["k-mine", "k-mine-deep"], keys, f"the keys found below 'mine' with filter={filter}")


@rule(MUST, source=DOCUMENTED)
@pytest.mark.parametrize(
    ("old", "new"),
    [(1, 2), ({"$eq": 1}, {"$eq": 2}), ({"$lt": 2}, {"$gte": 2})],
    ids=["direct", "$eq", "$lt and $gte"],
)
def test_a_filter_sees_the_value_of_the_last_put(store: StoreDrive, root: str, old: object, new: object) -> None:
    """When an item is put again, or deleted, filters go by what is stored now.

    An index that keeps the old values finds the item under what it no longer is, and not under what it is.
    """
    put_all(store, root, {key: {"k": 1, "before": 5} for key in ("kept", "replaced", "deleted")})
    store.put((root,), "replaced", {"k": 2})
    store.delete((root,), "deleted")
    expect_same(
        {"old": ["kept"], "new": ["replaced"], "dropped": ["kept"]},
        {
            "old": found(store, root, {"k": old}),
            "new": found(store, root, {"k": new}),
            "dropped": found(store, root, {"before": 5}),
        },
        "the keys found by the old value, the new value and a field that is gone",
    )


@rule(MUST, source="Item.value: keys are filterable")
def test_a_field_is_one_of_the_value_and_nothing_else(store: StoreDrive, root: str) -> None:
    """A field of a filter is one of the value, whatever its name: not the item's own key, namespace, times or score.

    Values have fields such as `id`, `key` or `type` of their own; a store that keeps its columns under those names
    filters by the wrong thing.
    """
    names = (
        *("key", "namespace", "value", "prefix", "created_at", "updated_at", "score", "id", "_id", "doc_id", "type"),
        *("text", "content", "metadata", "data", "ttl", "expires_at", "ttl_minutes", "vector", "embedding", "store"),
        *("filter", "query", "limit", "index", "payload", "item", "namespace_prefix", "rowid", "pk", "sk", "v"),
    )
    put_all(store, root, {name: {name: "own"} for name in names})
    keys = ("key", "id", "_id", "doc_id", "pk", "sk", "v")
    expect_same(
        {"own": {name: [name] for name in names}, "key": {name: [] for name in keys}},
        {
            "own": {name: found(store, root, {name: "own"}) for name in names},
            "key": {name: found(store, root, {name: name}) for name in keys},
        },
        "the keys found by each field's own value, and by the item's key",
    )


@rule(SHOULD, source=OFFICIAL)
def test_a_field_is_at_the_top_of_the_value(store: StoreDrive, root: str) -> None:
    """A field of a filter is one at the top of the value, not one of that name inside a dict or list.

    A nested value of that name would be found as if it were the item's.
    """
    put_all(store, root, {"dict": {"inside": {"k": "x"}}, "list": {"inside": [{"k": "x"}]}, "top": {"k": "x"}})
    expect_same(["top"], found(store, root, {"k": "x"}), "the keys found with filter={'k': 'x'}")


FIELDS = ("k", "K", "k1", "kk", "k_", "_k", "k-", "k-x", "user_id", "user-id", "userId", "userid", "1", "01", "a1", "-")


@rule(MUST, source="Item.value: keys are filterable")
@pytest.mark.parametrize("form", ["direct", "$eq"])
def test_field_names_are_exact(store: StoreDrive, root: str, form: str) -> None:
    """A field is found by its whole name, in its case: letters, digits, `_` and `-`.

    `user_id`, `userId` and `user-id` are three fields; one taken for another filters by the wrong value.
    """
    put_all(store, root, {name: {name: "x"} for name in FIELDS})
    expect_same(
        {name: [name] for name in FIELDS},
        {name: found(store, root, {name: "x" if form == "direct" else {"$eq": "x"}}) for name in FIELDS},
        "the keys found by each field",
    )


@rule(SHOULD, source="BaseStore.search: filter is the caller's")
def test_a_filter_is_left_as_it_was(store: StoreDrive, root: str) -> None:
    """A search does not change the filter that it was given.

    Callers keep filters as constants; one that is emptied finds everything the next time.
    """
    put_fields(store, root, {"a": 1, "b": 2})
    filter = {"k": {"$gte": 1, "$lt": 2}, "j": {"$ne": [1]}, "i": "x"}
    before = copy.deepcopy(filter)
    kept_or_refused(lambda: store.call("search", (root,), filter=filter))
    expect_same(before, filter, "the filter after the search")


# --- equality


PAIRS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    **LOOKALIKES,
    "very long": ("n" * 3000 + "1", ("n" * 3000 + "2", "n" * 3000)),
}


def texts_of(kinds: Iterable[str]) -> list[str]:
    """The texts of some kinds of lookalikes, each once."""
    return sorted({text for kind in kinds for text in (PAIRS[kind][0], *PAIRS[kind][1])})


@rule(MUST, source=DOCUMENTED)
@pytest.mark.parametrize("form", ["direct", "$eq"])
def test_text_is_compared_exactly(store: StoreDrive, root: str, form: str) -> None:
    """A text in a filter is that text: no pattern, no part of it, no other case, accents, width, spaces or length.

    Values come from users. A filter in which `user-1` finds `user-10`, or `%` anything, finds other people's items.
    """
    texts = texts_of(PAIRS)
    put_fields(store, root, {f"{n:03}": text for n, text in enumerate(texts)})
    filters = {kind: {"k": name if form == "direct" else {form: name}} for kind, (name, _) in PAIRS.items()}
    expect_same(
        {kind: [name] for kind, (name, _) in PAIRS.items()},
        {kind: [texts[int(key)] for key in found(store, root, filter)] for kind, filter in filters.items()},
        "the texts found, by kind",
    )


@rule(MUST, source="SearchOp.filter: $ne")
def test_ne_is_the_exact_opposite(store: StoreDrive, root: str) -> None:
    """`$ne` with a text leaves out that text alone: none that is like it by case, spaces, length or as a pattern.

    What is left out too much is never seen again by whoever asks for "all but this one".
    """
    kinds = ("prefix", "percent", "underscore", "case", "accents", "space-after", "number", "quote", "statement")
    texts = texts_of(kinds)
    put_fields(store, root, {f"{n:03}": text for n, text in enumerate(texts)})
    expect_same(
        {kind: [text for text in texts if text != PAIRS[kind][0]] for kind in kinds},
        {kind: [texts[int(key)] for key in found(store, root, {"k": {"$ne": PAIRS[kind][0]}})] for kind in kinds},
        "the texts found, by kind",
    )


KINDS: Mapping[str, Any] = {
    "three": 3,
    "text 3": "3",
    "text 3.0": "3.0",
    "list 3": [3],
    "list text 3": ["3"],
    "true": True,
    "false": False,
    "text true": "true",
    "text True": "True",
    "text false": "false",
    "null": None,
    "text null": "null",
    "text None": "None",
    "empty": "",
    "text quotes": '""',
    "text quoted": '"3"',
    "half": 0.5,
    "text half": "0.5",
}


@rule(SHOULD, source=OFFICIAL)
@pytest.mark.parametrize("form", ["direct", "$eq"])
def test_values_of_different_types_differ(store: StoreDrive, root: str, form: str) -> None:
    """A value matches only values of its own type: 3 is not "3" and not [3], True is not "true", None is not "null".

    A text that a user typed would find numbers, flags and missing values, and the other way round.
    """
    put_fields(store, root, KINDS)
    operands = {name: value for name, value in KINDS.items() if not isinstance(value, list)}
    expect_same(
        {name: [name] for name in operands},
        {
            name: found(store, root, {"k": value if form == "direct" else {"$eq": value}})
            for name, value in operands.items()
        },
        "the keys found by each value",
    )


@rule(SHOULD, source=OFFICIAL)
@pytest.mark.parametrize("text", ["[1,2]", "[1, 2]", '["a"]', "[]"])
def test_a_text_is_no_list(store: StoreDrive, root: str, text: str) -> None:
    """A text does not match a list that is written the same way.

    A store that compares values as JSON text takes one for the other.
    """
    put_fields(store, root, {"numbers": [1, 2], "texts": ["a"], "empty": [], "text": text})
    expect_same(["text"], found(store, root, {"k": text}), f"the keys found by the text {text!r}")


@rule(SHOULD, source=OFFICIAL)
@pytest.mark.parametrize("form", ["direct", "$eq"])
def test_a_whole_float_equals_its_int(store: StoreDrive, root: str, form: str) -> None:
    """1.0 matches 1 and 1 matches 1.0, as in JSON and in Python.

    A number that went through JavaScript comes back as the other one.
    """
    values = {"int": 1, "float": 1.0, "zero": 0, "minus": -1, "minus float": -1.0, "near": 1.0000001}
    put_fields(store, root, values)
    operands = {"1": 1, "1.0": 1.0, "-1": -1, "-1.0": -1.0}
    expect_same(
        {
            "1": ["float", "int"],
            "1.0": ["float", "int"],
            "-1": ["minus", "minus float"],
            "-1.0": ["minus", "minus float"],
        },
        {
            name: found(store, root, {"k": value if form == "direct" else {form: value}})
            for name, value in operands.items()
        },
        "the keys found by each number",
    )


@rule(SHOULD, source=OFFICIAL)
@pytest.mark.parametrize("form", ["direct", "$eq"])
def test_floats_are_compared_exactly(store: StoreDrive, root: str, form: str) -> None:
    """A float matches the same float alone, however near another is, and however large or small.

    Numbers that are kept in single precision, or as rounded text, match neighbours or no longer themselves.
    """
    values = {repr(value): value for value in (0.1, 0.3, 0.1 + 0.2, 1e-7, 1.5e300, 1e16, 123456.789, 123456.788, -0.1)}
    put_fields(store, root, values)
    expect_same(
        {name: [name] for name in values},
        {
            name: found(store, root, {"k": value if form == "direct" else {form: value}})
            for name, value in values.items()
        },
        "the keys found by each float",
    )


BIG = {"2**53": 2**53, "2**53+1": 2**53 + 1, "2**53+2": 2**53 + 2, "-2**53-1": -(2**53) - 1, "2**63-1": 2**63 - 1}


@rule(SHOULD, source="Item.value: JSON integers")
@pytest.mark.parametrize("form", ["direct", "$eq"])
def test_large_integers_are_compared_exactly(store: StoreDrive, root: str, form: str) -> None:
    """An integer above 2**53 matches itself and not its neighbour.

    Ids of other systems are such numbers: compared as floats, one finds the item of another, or nothing.
    """
    put_fields(store, root, BIG)
    expect_same(
        {name: [name] for name in BIG},
        {name: found(store, root, {"k": value if form == "direct" else {form: value}}) for name, value in BIG.items()},
        "the keys found by each integer",
    )


@rule(SHOULD, source=OFFICIAL)
@pytest.mark.parametrize("form", ["direct", "$eq"])
def test_none_matches_a_stored_none(store: StoreDrive, root: str, form: str) -> None:
    """`{field: None}` finds items whose field is None, and no other value: not 0, not empty, not False.

    None is how an application marks what is not set yet.
    """
    others = {"zero": 0, "empty": "", "false": False, "list": [], "text": "None", "null": "null", "nested": {"k": None}}
    put_fields(store, root, {"none": None, **others})
    filter = {"k": None if form == "direct" else {"$eq": None}}
    expect_same(["none"], found(store, root, filter), f"the keys found with filter={filter}")


LISTS: Mapping[str, Any] = {
    "ab": ["a", "b"],
    "ba": ["b", "a"],
    "a": ["a"],
    "aa": ["a", "a"],
    "abc": ["a", "b", "c"],
    "joined": ["ab"],
    "comma": ["a,b"],
    "empty": [],
    "numbers": [1, 2],
    "texts": ["1", "2"],
    "nested": [["a"], ["b"]],
    "none": [None],
    "unicode": ["é", '"'],
    "text": "a",
    "dicts": [{"a": 1}],
}


@rule(SHOULD, source=OFFICIAL)
@pytest.mark.parametrize("form", ["direct", "$eq", "$ne"])
def test_a_list_is_compared_as_a_whole(store: StoreDrive, root: str, form: str) -> None:
    """A list matches a list of the same members in the same order: not a part, not a longer one, not "one of these".

    A filter on a route or a set of tags means exactly that one; `$ne` means all the others.
    """
    put_fields(store, root, LISTS)
    operands = {name: value for name, value in LISTS.items() if name not in ("text", "dicts")}
    expect_same(
        {name: sorted(set(LISTS) - {name}) if form == "$ne" else [name] for name in operands},
        {
            name: found(store, root, {"k": value if form == "direct" else {form: value}})
            for name, value in operands.items()
        },
        "the keys found by each list",
    )


@rule(SHOULD, source=OFFICIAL)
@pytest.mark.parametrize("form", ["direct", "$eq"])
@pytest.mark.parametrize("value", ["a", 1, "", None, True], ids=["text", "number", "empty", "None", "True"])
def test_a_plain_value_does_not_match_a_list_that_has_it(
    store: StoreDrive, root: str, value: object, form: str
) -> None:
    """A text or number matches a field that is equal to it, not a list that contains it.

    A filter on the owner of an item would find items that others share with that person.
    """
    put_fields(store, root, {"plain": value, "one": [value], "several": ["x", value], "dict": {"a": value}})
    filter = {"k": value if form == "direct" else {"$eq": value}}
    expect_same(["plain"], found(store, root, filter), f"the keys found with filter={filter}")


@rule(SHOULD, source=OFFICIAL)
def test_a_tuple_matches_its_list(store: StoreDrive, root: str) -> None:
    """A tuple in a filter, or in a value that was put, counts as a list.

    JSON has only lists; Python code has both.
    """
    put_fields(store, root, {"list": ["a", 1], "tuple": ("a", 1), "other": ["a"]})
    expect_same(
        {"by tuple": ["list", "tuple"], "by list": ["list", "tuple"]},
        {"by tuple": found(store, root, {"k": ("a", 1)}), "by list": found(store, root, {"k": ["a", 1]})},
        "the keys found",
    )


@rule(SHOULD, source="SearchOp.filter: $eq is the same as direct value comparison")
def test_eq_compares_dicts(store: StoreDrive, root: str) -> None:
    """`{"$eq": {...}}` finds items whose field is an equal dict, in any order of its keys, and no other.

    It is the only way to ask for a dict: as a direct value, one may be taken for operators.
    """
    values: dict[str, Any] = {
        "a": {"a": 1},
        "b": {"a": 2},
        "ab": {"a": 1, "b": 1},
        "deep": {"a": {"a": 1}},
        "list": [1],
    }
    put_fields(store, root, values)
    operands = {**{name: values[name] for name in ("a", "b", "ab", "deep")}, "ab turned": {"b": 1, "a": 1}}
    expect_same(
        {name: [name.split()[0]] for name in operands},
        {name: found(store, root, {"k": {"$eq": value}}) for name, value in operands.items()},
        "the keys found by each dict",
    )


@rule(MUST, source="SearchOp.filter: $ne")
@pytest.mark.parametrize("value", ["a", 1, 2.5, True], ids=["text", "int", "float", "bool"])
def test_ne_keeps_other_values(store: StoreDrive, root: str, value: object) -> None:
    """`$ne` finds the items whose field has another value, of any type but None, and not those that have this one.

    "All but the archived ones" is asked that way.
    """
    values = {"same": value, "again": value, "text": "other", "number": 7, "float": 0.25, "empty": "", "list": ["a"]}
    put_fields(store, root, values)
    expect_same(
        ["empty", "float", "list", "number", "text"],
        found(store, root, {"k": {"$ne": value}}),
        f"the keys found with $ne {value!r}",
    )


@rule(SHOULD, source=OFFICIAL)
def test_ne_none_keeps_what_is_set(store: StoreDrive, root: str) -> None:
    """`{"$ne": None}` finds the items whose field has a value, and not those whose field is None.

    "All that are assigned" is asked that way; 0, empty and False are values.
    """
    put_fields(store, root, {"none": None, "zero": 0, "empty": "", "false": False, "list": [], "text": "null"})
    expect_same(
        ["empty", "false", "list", "text", "zero"],
        found(store, root, {"k": {"$ne": None}}),
        "the keys found with $ne None",
    )


# --- order


@rule(MUST, source=DOCUMENTED)
@pytest.mark.parametrize("name", list(COMPARE))
def test_an_operator_compares_numbers(store: StoreDrive, root: str, name: str) -> None:
    """`$gt`, `$gte`, `$lt` and `$lte` find the items whose number is greater, or less, or equal where it says so.

    A bound that is off by its own value shows an item too many, or one too few.
    """
    values = {"1": 1, "3": 3, "4.5": 4.5, "5": 5, "7": 7}
    put_fields(store, root, values)
    expect_same(
        {
            repr(bound): [key for key, value in values.items() if COMPARE[name](value, bound)]
            for bound in (0, 3, 4.5, 6, 8)
        },
        {repr(bound): found(store, root, {"k": {name: bound}}) for bound in (0, 3, 4.5, 6, 8)},
        f"the keys found with {name}, by its bound",
    )


@rule(MUST, source="SearchOp.filter: {'score': {'$gt': 4.99}}")
@pytest.mark.parametrize("name", list(COMPARE))
def test_numbers_are_compared_as_numbers(store: StoreDrive, root: str, name: str) -> None:
    """Numbers are compared by size, whatever their number of digits, sign, fraction or exponent.

    Compared as text, 10 is less than 9 and -5 greater than -10: a filter on a price or an age gives nonsense.
    """
    numbers = (9, 10, 100, 2.5, 0, -3, -20, -2.5, 0.001, 9.99, 1e6, 12345678901, 1e-7)
    values = {repr(number): number for number in numbers}
    bounds = (9, 10, 9.5, 99.5, 0, -3, -10, 2.5, 1000, 1000000, 0.0005, -20.5)
    put_fields(store, root, values)
    expect_same(
        {repr(bound): sorted(key for key, value in values.items() if COMPARE[name](value, bound)) for bound in bounds},
        {repr(bound): found(store, root, {"k": {name: bound}}) for bound in bounds},
        f"the keys found with {name}, by its bound",
    )


@rule(SHOULD, source="Item.value: JSON integers")
@pytest.mark.parametrize("name", list(COMPARE))
def test_large_integers_are_ordered_exactly(store: StoreDrive, root: str, name: str) -> None:
    """Integers above 2**53 are ordered exactly, or refused.

    Turned into floats, neighbours are equal: paging by an id or a time in nanoseconds loses items.
    """
    put_fields(store, root, BIG)
    results = {what: kept_or_refused(partial(found, store, root, {"k": {name: BIG[what]}})) for what in BIG}
    taken = {what: keys for what, keys in results.items() if keys != "refused"}
    expect_same(
        {what: sorted(key for key, value in BIG.items() if COMPARE[name](value, BIG[what])) for what in taken},
        taken,
        f"the keys found with {name}, by its bound",
    )


@rule(SHOULD, source="SqliteStore, PostgresStore")
@pytest.mark.parametrize("name", list(COMPARE))
def test_texts_are_compared_as_texts(store: StoreDrive, root: str, name: str) -> None:
    """`$gt`, `$gte`, `$lt` and `$lte` compare texts with texts, from the left; digits in a text are characters.

    Dates and times in ISO form are compared that way, and so are version names and codes.
    """
    texts = ("a", "ab", "b", "ba", "", "2024-01-09", "2024-01-10", "2023-12-31", "10", "9", "100")
    bounds = ("a", "aa", "b", "2024-01-09", "2024-01-10T00:00", "10", "9", "2024")
    put_fields(store, root, {f"text {text}": text for text in texts})
    expect_same(
        {bound: sorted(f"text {text}" for text in texts if COMPARE[name](text, bound)) for bound in bounds},
        {bound: found(store, root, {"k": {name: bound}}) for bound in bounds},
        f"the keys found with {name}, by its bound",
    )


@rule(SHOULD, source="SqliteStore, PostgresStore")
@pytest.mark.parametrize("odd", ["missing", "None"])
@pytest.mark.parametrize("name", list(COMPARE))
def test_what_has_no_value_does_not_match_a_comparison(store: StoreDrive, root: str, name: str, odd: str) -> None:
    """An item without the field, or with None in it, does not match a comparison and does not make it fail.

    One such item among thousands would make every search of that kind raise, or turn up in all of them as if it were 0.
    """
    put_all(store, root, {"1": {"k": 1}, "5": {"k": 5}, "odd": {"j": 1} if odd == "missing" else {"k": None}})
    expect_same(
        {repr(bound): [key for key in ("1", "5") if COMPARE[name](int(key), bound)] for bound in (-1, 0, 3, 9)},
        {repr(bound): outcome(store, root, {"k": {name: bound}}) for bound in (-1, 0, 3, 9)},
        f"the keys found with {name}, by its bound",
    )


@rule(SHOULD, source="SearchOp.filter: greater than, less than")
@pytest.mark.parametrize("name", list(COMPARE))
@pytest.mark.parametrize("bound", ["number", "text"])
def test_values_of_other_types_do_not_match_a_comparison(store: StoreDrive, root: str, name: str, bound: str) -> None:
    """A number is compared with numbers and a text with texts: any other value does not match, and raises nothing.

    Values of one field differ when an application has changed: one text among numbers would make every search raise, or
    count as 0.
    """
    numbers = {"number 1": 1, "number 5": 5, "number 50": 50}
    texts = {"text abc": "abc", "text 1": "1", "text 50": "50", "text empty": "", "text x": "x"}
    others = {"list": [1], "long list": [50, 50], "texts": ["abc"], "dict": {"a": 1}, "empty": {}}
    put_fields(store, root, {**numbers, **texts, **others})
    candidates: Mapping[str, Any] = numbers if bound == "number" else texts
    bounds: Sequence[Any] = (-1, 5, 100) if bound == "number" else ("", "2", "b")
    expect_same(
        {repr(each): sorted(key for key, value in candidates.items() if COMPARE[name](value, each)) for each in bounds},
        {repr(each): outcome(store, root, {"k": {name: each}}) for each in bounds},
        f"the keys found with {name}, by its bound",
    )


@rule(SHOULD, source=DOCUMENTED)
@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        ({"$gte": 2, "$lt": 4}, ["2", "3"]),
        ({"$lt": 4, "$gte": 2}, ["2", "3"]),
        ({"$gt": 1, "$lte": 4, "$ne": 3}, ["2", "4"]),
        ({"$ne": 3, "$gt": 1}, ["2", "4", "5"]),
        ({"$gt": 4, "$lt": 2}, []),
        ({"$eq": 3, "$gt": 3}, []),
        ({"$gt": 3, "$eq": 3}, []),
        ({"$eq": 3, "$lte": 3}, ["3"]),
    ],
    ids=["range", "turned", "three", "unequal", "none", "second fails", "first fails", "both hold"],
)
def test_all_operators_of_a_field_must_hold(
    store: StoreDrive, root: str, condition: dict[str, Any], wanted: list[str]
) -> None:
    """Several operators on one field must all hold, in whatever order they are given.

    A range is two of them: with one left out, it is open on that side.
    """
    put_fields(store, root, {str(n): n for n in range(1, 6)})
    expect_same(wanted, found(store, root, {"k": condition}), f"the keys found with {condition}")


@rule(SHOULD, source="SearchOp.filter")
@pytest.mark.parametrize("bound", [math.inf, -math.inf, math.nan], ids=["inf", "-inf", "nan"])
@pytest.mark.parametrize("name", ["direct", *COMPARE])
def test_an_infinite_bound_is_no_finite_number(store: StoreDrive, root: str, name: str, bound: float) -> None:
    """Infinity is beyond every number and NaN matches nothing; a store may refuse them, but not take them for others.

    They come from a computation that had no data: as JSON they become null, and match what has no value.
    """
    values = {"-1": -1, "1e308": 1e308, "0": 0, "none": None, "absent": None}
    put_all(store, root, {key: {} if key == "absent" else {"k": value} for key, value in values.items()})
    wanted = sorted(
        key
        for key, value in values.items()
        if isinstance(value, (int, float)) and name in COMPARE and COMPARE[name](value, bound)
    )
    seen = outcome(store, root, {"k": bound if name == "direct" else {name: bound}})
    expect_true(
        isinstance(seen, str) or seen == wanted,
        f"the keys found with {name} {bound}",
        f"{wanted}, or to be refused",
        seen,
    )


# --- operators that there are not


UNKNOWN: Sequence[str] = [
    "$nosuch",
    "$",
    "$$eq",
    "$EQ",
    "$eq ",
    "$gt'",
    "$eqx",
    "$g",
    "$ne') OR 1=1 --",
    "$gt 0 OR 1=1 --",
]


@rule(MUST, source=DOCUMENTED)
@pytest.mark.parametrize("beside", [{}, {"$gte": 1}], ids=["alone", "beside another"])
@pytest.mark.parametrize("value", [1, "x"], ids=["number", "text"])
def test_an_unknown_operator_is_not_passed_over(
    store: StoreDrive, root: str, value: object, beside: dict[str, Any]
) -> None:
    """A condition with an operator that does not exist finds nothing, or is refused: it is not left out.

    A misspelled condition that is dropped finds what it should exclude, and nobody notices.
    """
    put_fields(store, root, {"1": 1, "2": 2, "x": "x"})
    expect_same(
        {name: [] for name in UNKNOWN},
        {name: found_or_refused(store, root, {"k": {**beside, name: value}}) for name in UNKNOWN},
        "the keys found with each operator",
    )


@rule(SHOULD, source=OFFICIAL)
@pytest.mark.parametrize(
    "condition",
    [{"$nosuch": 1}, {"$gt": 0, "$nosuch": 1}, {"$nosuch": 1, "$gt": 0}, {"$nosuch": None}],
    ids=["alone", "after another", "before another", "None"],
)
def test_an_unknown_operator_is_refused(store: StoreDrive, root: str, condition: dict[str, Any]) -> None:
    """A search with an operator that does not exist raises ValueError.

    An empty result would be taken for an answer.
    """
    put_fields(store, root, {"1": 1})
    expect_raises(
        ValueError, lambda: store.search((root,), filter={"k": condition}), f"a search with filter={{'k': {condition}}}"
    )


NATIVE: Mapping[str, Any] = {
    "$regex": "^u",
    "$where": "true",
    "$expr": True,
    "$type": "string",
    "$not": {"$eq": "nobody"},
    "$mod": [1, 0],
    "$text": {"$search": "u1"},
    "$like": "u%",
    "$options": "i",
}


@rule(SHOULD, source=DOCUMENTED)
@pytest.mark.parametrize("field", ["user", "n"])
def test_operators_of_a_database_are_not_handed_on(store: StoreDrive, root: str, field: str) -> None:
    """Operators that a database has beyond the documented ones find nothing, or are refused.

    A condition often comes from a request: `$where` runs code, `$regex` can be made to run for hours.
    """
    put_all(store, root, {"a": {"user": "u1", "n": 1}, "b": {"user": "u2", "n": 2}})
    expect_same(
        {name: [] for name in NATIVE},
        {name: found_or_refused(store, root, {field: {name: operand}}) for name, operand in NATIVE.items()},
        "the keys found with each operator",
    )


# --- what must never be taken for more than data


INJECTIONS: Sequence[str] = [
    "x' OR 1=1 --",
    "x') OR 1=1 --",
    "x')) OR 1=1 --",
    "x') IS NULL OR ('1'='1",
    "user') IS NOT NULL OR ('1'='1",
    "x' IS NULL OR '1",
    "x' = 'x' OR key != '",
    "x'::jsonb OR TRUE --",
    "x' OR prefix LIKE '%",
    'x" OR 1=1 --',
    'x") OR 1=1 --',
    'user" IS NOT NULL OR "1"="1',
    "x` OR 1=1 --",
    "x OR 1=1",
    "1=1 OR x",
    "x'; DELETE FROM store; --",
    "x'); DROP TABLE store; --",
    "x' UNION SELECT * FROM store --",
    "x'\nOR 1=1\n--",
    "x' /*",
    "*) | (@user:*",
    "user:* OR x",
    "*",
    ".*",
    "$**",
    "$.*",
    "$[*]",
    "**.user",
    "#>>'{}'",
    "user' || '",
    "user%",
    "use_",
    "$where",
    "$expr",
    "$or",
    "$",
    "",
]


@rule(MUST, source="CVE-2025-8709: filter keys in the SQL of a store's search")
@pytest.mark.parametrize("form", ["direct", "$eq", "$gt", "number"])
def test_a_hostile_field_never_widens_a_search(store: StoreDrive, root: str, form: str) -> None:
    """A field of a filter is data: one that holds a fragment of a query finds nothing or is refused, and harms nothing.

    Fields often come from a request. Pasted into a query, one gives an attacker everybody's items, or deletes them.
    """
    put_all(store, root, {"a": {"user": "y"}, "b": {"user": "z", "n": 1}})
    condition: object = {"direct": "y", "number": 1}.get(form, {form: "a"})
    absent = found_or_refused(store, root, {"absent": condition})  # a rule of its own
    expect_same(
        {**{field: [] for field in INJECTIONS}, "afterwards": ["a", "b"]},
        {
            **{
                field: [key for key in found_or_refused(store, root, {field: condition}) if key not in absent]
                for field in INJECTIONS
            },
            "afterwards": sorted(each.key for each in store.search((root,))),
        },
        "the keys found by each field, but not by one that is merely absent",
    )


@rule(MUST, source="CVE-2025-8709: filter keys in the SQL of a store's search")
@pytest.mark.parametrize("what", ["field", "condition"])
@pytest.mark.parametrize("position", ["first", "last"])
def test_a_hostile_field_does_not_undo_the_rest(store: StoreDrive, root: str, position: str, what: str) -> None:
    """A hostile field sets neither the other conditions nor the prefix aside.

    The application adds the user's own namespace or id: that must hold whatever else the request brings.
    """
    store.put((root, "theirs"), "a", {"user": "u1"})
    store.put((root, "mine"), "b", {"user": "u2"})
    mine: dict[str, Any] = {"user": "me" if what == "field" else {"$eq": "me"}}
    expect_same(
        {field: [] for field in INJECTIONS},
        {
            field: sorted(
                each
                for each in found_or_refused_in(
                    store, (root, "mine"), {field: "y", **mine} if position == "first" else {**mine, field: "y"}
                )
            )
            for field in INJECTIONS
        },
        "the keys found by each field beside a condition that nothing meets",
    )


def found_or_refused_in(store: StoreDrive, namespace: tuple[str, ...], filter: Mapping[str, Any]) -> list[str]:
    """The keys found below a namespace; none when the store refuses the filter."""
    try:
        return [each.key for each in store.search(namespace, filter=filter)]
    except Blocked:
        raise
    except Exception:
        return []


@rule(MUST, source=DOCUMENTED)
@pytest.mark.parametrize("form", ["direct", "$eq", "list"])
def test_a_hostile_value_never_widens_a_search(store: StoreDrive, root: str, form: str) -> None:
    """A value in a filter is data: one that holds a fragment of a query finds the items that have it, and no others.

    Values come from users: pasted into a query, one finds everybody's items, or deletes them.
    """
    texts = {"a": "y", "b": "z", "hostile": "x') OR 1=1 --"}
    values: dict[str, Any] = {key: [text] if form == "list" else text for key, text in texts.items()}
    put_all(store, root, {key: {"user": value} for key, value in values.items()})
    conditions: dict[str, Any] = {
        text: {"direct": text, "$eq": {"$eq": text}, "list": [text]}[form] for text in INJECTIONS
    }
    expect_same(
        {
            **{text: ["hostile"] if text == texts["hostile"] else [] for text in INJECTIONS},
            "afterwards": ["a", "b", "hostile"],
        },
        {
            **{text: found(store, root, {"user": condition}) for text, condition in conditions.items()},
            "afterwards": sorted(each.key for each in store.search((root,))),
        },
        "the keys found by each value",
    )


@rule(SHOULD, source="BaseStore.search: filter")
@pytest.mark.parametrize(
    "odd",
    [math.nan, math.inf, "\ud800", "a\0b", {"a": "b\0"}, {"a.b": {"$c": 1}}, {"": ""}, "{", "[", 2**70, 1e308],
    ids=["nan", "inf", "surrogate", "nul", "nested nul", "odd keys", "empty key", "brace", "bracket", "2**70", "1e308"],
)
@pytest.mark.parametrize("filter", [{"user": "u1"}, {"n": {"$gt": 0}}], ids=["direct", "$gt"])
def test_odd_values_do_not_stop_filters(store: StoreDrive, root: str, odd: object, filter: dict[str, Any]) -> None:
    """When an item with an odd value was taken, filters on other items go on working; or it is refused.

    One such value would make every filtered search of the whole database raise, for all users.
    """
    store.put((root,), "sound", {"user": "u1", "n": 1})
    put_or_refused(store, root, {"odd": odd, "user": "u2", "n": -1})
    expect_same(["sound"], found(store, root, filter), f"the keys found beside an item with {shown(odd)}")


def put_or_refused(store: StoreDrive, root: str, value: Value) -> None:
    """Put an item, or be refused, which is judged by other rules."""
    try:
        store.put((root,), "odd", value)
    except Blocked:
        raise
    except Exception:
        return


# --- with limit, offset and a query


@rule(MUST, source="SearchOp.offset: number of matching items to skip for pagination")
@pytest.mark.parametrize(
    ("filter", "wanted"),
    [
        ({"k": "x"}, "124578"),
        ({"k": {"$eq": "y"}}, "0369"),
        ({"k": {"$ne": "y"}}, "124578"),
        ({"n": {"$gte": 5}}, "56789"),
        ({"k": "x", "n": {"$lt": 8}}, "12457"),
    ],
    ids=["direct", "$eq", "$ne", "$gte", "both"],
)
def test_a_filter_pages(store: StoreDrive, root: str, filter: dict[str, Any], wanted: str) -> None:
    """Pages of a filtered search give every match exactly once, and are full up to the last.

    A filter that is applied to each page after it was cut gives short pages, and callers stop at the first empty one.
    """
    for n in range(10):
        store.put((root,), f"{n}", {"k": "x" if n % 3 else "y", "n": n})
    pages = [
        [each.key for each in store.search((root,), filter=filter, limit=2, offset=offset)]
        for offset in range(0, 10, 2)
    ]
    expect_same(
        {"keys": list(wanted), "sizes": [max(0, min(2, len(wanted) - start)) for start in range(0, 10, 2)]},
        {"keys": sorted(key for page in pages for key in page), "sizes": [len(page) for page in pages]},
        "what pages of 2 gave",
    )


@rule(MUST, source="SearchOp: filter and query hold together", needs="vectors")
@pytest.mark.parametrize(
    "filter",
    [{"k": "x"}, {"k": {"$eq": "x"}}, {"k": {"$ne": "y"}}, {"n": {"$gt": 2}}, {"k": "x", "n": {"$lt": 5}}],
    ids=["direct", "$eq", "$ne", "$gt", "both"],
)
def test_a_filter_means_the_same_with_a_query(indexed: StoreDrive, root: str, filter: dict[str, Any]) -> None:
    """A filter leaves the same items out of a search with a query as out of one without.

    A condition such as the user's own id must hold in both.
    """
    for n in range(6):
        value = {"text": vector_text(1, n), "k": "x" if n % 2 else "y", "n": n}
        indexed.put((root,), f"{n}", value)
    if outcome_of(lambda: indexed.search((root,), query=vector_text(1, 0))) == "NotImplementedError":
        pytest.skip("a search with a query is not implemented")
    expect_same(
        found(indexed, root, filter, limit=50),
        found(indexed, root, filter, limit=50, query=vector_text(1, 0)),
        f"the keys found with a query and filter={filter}",
    )


# --- where official stores differ


def matches(store: StoreDrive, root: str, held: Value, filter: Mapping[str, Any]) -> str:
    """Whether a filter finds an item with that value: ``matches``, ``no match`` or ``refused``."""
    store.put((root, "quirk"), "k", held)
    try:
        items = store.search((root, "quirk"), filter=filter)
    except Blocked:
        raise
    except Exception:
        return "refused"
    return "matches" if items else "no match"


@rule(
    QUIRK,
    source=OFFICIAL,
    officials={
        "InMemoryStore": "direct matches, $eq matches",
        "SqliteStore": "direct matches, $eq matches",
        "PostgresStore": "direct no match, $eq no match",
    },
)
def test_none_for_a_missing_field(store: StoreDrive, root: str, observe: Callable[[object], None]) -> None:
    """Whether None matches an item that lacks the field."""
    observe(f"direct {matches(store, root, {}, {'k': None})}, $eq {matches(store, root, {}, {'k': {'$eq': None}})}")


@rule(
    QUIRK,
    source=OFFICIAL,
    officials={
        "InMemoryStore": "missing matches, None matches",
        "SqliteStore": "missing no match, None no match",
        "PostgresStore": "missing no match, None matches",
    },
)
def test_ne_for_what_has_no_value(store: StoreDrive, root: str, observe: Callable[[object], None]) -> None:
    """Whether `$ne` finds an item that lacks the field, and one that has None in it."""
    filter = {"k": {"$ne": 1}}
    observe(f"missing {matches(store, root, {}, filter)}, None {matches(store, root, {'k': None}, filter)}")


@rule(
    QUIRK,
    source=OFFICIAL,
    officials={
        "InMemoryStore": "1 matches, 0 matches, True matches",
        "SqliteStore": "1 matches, 0 matches, True matches",
        "PostgresStore": "1 no match, 0 no match, True no match",
    },
)
def test_a_number_for_a_bool(store: StoreDrive, root: str, observe: Callable[[object], None]) -> None:
    """Whether 1 matches True, 0 matches False, and True matches 1."""
    observe(
        f"1 {matches(store, root, {'k': True}, {'k': 1})}, 0 {matches(store, root, {'k': False}, {'k': 0})}, "
        f"True {matches(store, root, {'k': 1}, {'k': True})}"
    )


@rule(
    QUIRK,
    source=OFFICIAL,
    officials={
        "InMemoryStore": "equal matches, a part matches, empty matches",
        "SqliteStore": "equal refused, a part refused, empty matches",
        "PostgresStore": "equal refused, a part refused, empty matches",
    },
)
def test_a_dict_as_a_direct_value(store: StoreDrive, root: str, observe: Callable[[object], None]) -> None:
    """What a dict without operators matches: an equal one, one with further keys, and what `{}` matches."""
    held = {"k": {"a": 1, "b": 2}}
    observe(
        f"equal {matches(store, root, held, {'k': {'a': 1, 'b': 2}})}, "
        f"a part {matches(store, root, held, {'k': {'a': 1}})}, empty {matches(store, root, held, {'k': {}})}"
    )


@rule(
    QUIRK,
    source=OFFICIAL,
    officials={
        "InMemoryStore": "literal matches, path no match",
        "SqliteStore": "literal no match, path matches",
        "PostgresStore": "literal matches, path no match",
    },
)
def test_a_dot_in_a_field(store: StoreDrive, root: str, observe: Callable[[object], None]) -> None:
    """Whether a dot in a field is a part of it, or leads into a dict."""
    literal = matches(store, root, {"a.b": "x"}, {"a.b": "x"})
    observe(f"literal {literal}, path {matches(store, root, {'a': {'b': 'x'}}, {'a.b': 'x'})}")


@rule(
    QUIRK,
    source=OFFICIAL,
    officials={
        "InMemoryStore": "all match",
        "SqliteStore": "refused: 'user id', 'é', 'a/b', \"it's\", 'a\"b', '$x', 'a[0]', '%', ''",
        "PostgresStore": "all match",
    },
)
def test_other_characters_in_a_field(store: StoreDrive, root: str, observe: Callable[[object], None]) -> None:
    """Which fields with other characters than letters, digits, `_` and `-` find their value."""
    seen: dict[str, list[str]] = {}
    for field in ("user id", "é", "a/b", "it's", 'a"b', "$x", "a[0]", "%", ""):
        seen.setdefault(matches(store, root, {field: "x"}, {field: "x"}), []).append(repr(field))
    unmatched = {what: fields for what, fields in seen.items() if what != "matches"}
    observe("; ".join(f"{what}: {', '.join(fields)}" for what, fields in unmatched.items()) or "all match")
