"""Values: JSON comes back exactly; what is not JSON comes back equal or is refused."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from datetime import date, datetime, timezone
from decimal import Decimal
from enum import Enum
from typing import Any

import pytest

from langgraph_conformance.drive import StoreDrive
from langgraph_conformance.expect import expect_same, expect_true, same
from langgraph_conformance.rules import MUST, QUIRK, SHOULD, rule
from langgraph_conformance.suite.saver import values
from langgraph_conformance.suite.store.items import kept_or_refused, outcome_of, value_of

JSON = "PutOp.value: string keys and JSON-serializable values"


def of_json(table: Mapping[str, Any]) -> dict[str, Any]:
    """What of a table is JSON, keys included."""
    return {name: value for name, value in table.items() if _is_json(value)}


def _is_json(value: Any) -> bool:
    try:
        return same(value, json.loads(json.dumps(value, allow_nan=False)))
    except (TypeError, ValueError):
        return False


def everywhere(table: Mapping[str, Any]) -> dict[str, Any]:
    """A value that holds those of the table as fields, in a list, and in containers within containers."""
    members = list(table.values())
    return {**table, "listed": members, "nested": {"inner": dict(table), "lists": [members, {"one": members}]}}


def expect_exact(store: StoreDrive, root: str, put: dict[str, Any]) -> None:
    """A value comes back as it was put, by both ways to read it."""
    store.put((root,), "key", put)
    read = {"get": value_of(store.get((root,), "key")), "search": value_of(next(iter(store.search((root,))), None))}
    expect_same({"get": put, "search": put}, read, "the value read")


# --- JSON

INTS = {name: number for name, number in of_json(values.INTS).items() if -(2**63) <= number < 2**63}
BOOLS = {"true": True, "false": False, "one": 1, "zero": 0, "text_true": "true", "text_one": "1", "whole": 1.0}
EMPTY: dict[str, Any] = {
    "none": None,
    "text": "",
    "list": [],
    "dict": {},
    "list_of_none": [None],
    "list_of_lists": [[], [[]], [{}]],
}
LISTS = {
    "one": [1],
    "one_text": ["a"],
    "one_list": [["a"]],
    "one_dict": [{"a": 1}],
    "repeated": ["a", "a", 1, 1, True, 1.0, None, None],
    "repeated_texts": ["a", "b", "a"],
    "repeated_numbers": [1, 2, 1],
    "unsorted": [3, 1, 2, "b", "a"],
    "lists": [[1, [2, [3]]], [], [[4]]],
    "mixed": [1, "two", None, 4.5, False, {"five": [6]}],
    "pairs": [["a", 1], ["b", 2]],
    "dicts": [{"a": 1}, {"a": 1}, {"b": 2}, {}],
}


@rule(MUST, source=JSON)
def test_ints_stay_ints(store: StoreDrive, root: str) -> None:
    """Integers of up to 64 bits come back exactly, as integers.

    Ids of databases and of chats are beyond 2**53, where a float, and JavaScript, lose the last digits.
    """
    expect_exact(store, root, everywhere(INTS))


@rule(MUST, source=JSON)
def test_floats_stay_floats(store: StoreDrive, root: str) -> None:
    """A float comes back with its exact value, as a float, also when it is whole.

    Scores and prices that are rounded, or become integers, compare and print otherwise.
    """
    expect_exact(store, root, everywhere(of_json(values.FLOATS)))


@rule(SHOULD, source=f"{JSON}; InMemoryStore, SqliteStore")
def test_extreme_floats_stay_floats(store: StoreDrive, root: str) -> None:
    """The greatest and least floats, whole ones from 1e16 on, and -0.0 come back as they were.

    Columns of JSON make integers of large whole floats and drop the sign of zero.
    """
    expect_exact(store, root, everywhere(of_json(values.SPECIAL_FLOATS)))


@rule(MUST, source=JSON)
def test_booleans_are_no_numbers(store: StoreDrive, root: str) -> None:
    """True and False come back as booleans, and 1, 0, "true" and "1" as what they are.

    Settings and filters tell them apart.
    """
    expect_exact(store, root, everywhere(BOOLS))


@rule(MUST, source=JSON)
def test_none_and_empty_values_stay(store: StoreDrive, root: str) -> None:
    """None, the empty text, list and dict come back as what they are, wherever they stand.

    "Asked, and nothing known" is not "never asked": fields that vanish raise KeyError in the node that reads them.
    """
    expect_exact(store, root, everywhere(EMPTY))


@rule(MUST, source=JSON)
def test_text_is_exact(store: StoreDrive, root: str) -> None:
    """Text comes back character by character, whatever script it is in, whatever it looks like.

    Stores that trim, normalise, escape twice or guess types change it: "0012" becomes 12, a quoted piece of JSON
    a dict, a date in the words of the user another text.
    """
    expect_exact(store, root, everywhere(of_json(values.TEXT)))


TEXTS = {
    "html": "<b>\"5 < 6\" & '7' > 2</b> &amp; &lt; &#39;",
    "times": "2024-01-01 2024-01-01T00:00:00Z 2024-01-01 00:00:00+00:00",
    "time": "2024-01-01T00:00:00Z",
    "time_with_offset": "2024-06-01T12:30:00.500+02:00",
    "date": "2024-01-01",
    "json_list": "[1, 2]",
    "json_text": '"a"',
    "json_number": "7",
    "json_float": "7.50",
    "signed": "+7",
    "spaced": " 7 ",
    "words": "None True False nan inf",
    "template": "{a} {{b}} ${c} %(d)s $1 :name @p ?",
    "sql": "a' OR '1'='1'; DROP TABLE store; --",
    "carriage_returns": "a\r\nb\rc\n",
    "vertical": "a\x0b\x0cb",
    "astral": "\U0001f600\U00020000",
    "byte_order_mark": "\ufeffa",
}


@rule(MUST, source=JSON)
def test_text_that_looks_like_something_else_is_text(store: StoreDrive, root: str) -> None:
    """Text in the form of a number, a time, JSON, HTML, a template or a statement comes back as that text.

    What users and models write is full of it; a store that interprets it gives back something that nobody said.
    """
    expect_exact(store, root, everywhere(TEXTS))


@rule(MUST, source=JSON)
def test_lists_and_dicts_keep_their_members(store: StoreDrive, root: str) -> None:
    """Lists come back with all members in order, repetitions included, lists within lists, and lists of one.

    Backends with list or set types of their own flatten, sort or unwrap them.
    """
    expect_exact(store, root, everywhere({**LISTS, **of_json(values.CONTAINERS)}))


NAMES: Mapping[str, list[str]] = {
    "empty": ["", " ", "a"],
    "dots": ["a.b", "a", ".", "a.b.c", ".a", "a.", "a..b"],
    "dollars": ["$set", "$", "$eq", "a$b", "$gt", "$ref", "$id", "$oid", "$date", "$numberLong"],
    "operators": ["a[0]", "a[*]", "*", "a*", "%", "a/b", "#a", "@a", ":a", "?", "!a", "~", "a|b", "(a)", "^", "&"],
    "reserved": ["_id", "__proto__", "constructor", "__class__", "_", "__v", "_rev", "lc", "type", "id", "py/object"],
    "of-items": ["key", "namespace", "value", "created_at", "updated_at", "score", "expires_at", "ttl", "ttl_minutes"],
    "of-backends": ["prefix", "path", "data", "text", "embedding", "vector", "index", "doc", "payload", "pk", "sk"],
    "of-python": ["None", "self", "op", "item", "field", "name", "items", "get", "dict", "True", "1", "01"],
    "case": ["name", "Name", "NAME", "nAME"],
    "unicode": ["\u00e9", "e\u0301", "\u0130", "i", "\U0001f600", "\u65e5\u672c", "\u200b", "a\u00a0"],
    "quotes": ["a'b", 'a"b', "a`b", "a\\b", "'; --", "a\\u0041", "a\nb", "a\tb", " a", "a "],
    "long": ["n" * 300, "n" * 299],
}


@rule(MUST, source=JSON)
@pytest.mark.parametrize("kind", NAMES)
def test_names_of_fields_are_exact(store: StoreDrive, root: str, kind: str) -> None:
    """Any text is the name of a field, at the top and inside, and no other one: dots, dollars, the store's own names.

    Fields that a backend takes for paths, operators or its columns are lost, or overwrite what is known of the item.
    """
    put = {name: f"{number} {name}" for number, name in enumerate(NAMES[kind])}
    expect_exact(store, root, {**put, "inner container": put, "containers": [put, [put]]})


@rule(MUST, source=JSON)
@pytest.mark.parametrize("kind", NAMES)
def test_the_only_field_may_have_any_name(store: StoreDrive, root: str, kind: str) -> None:
    """A value, or a part of it, with one field comes back with it, whatever its name is.

    A document with one field in dollars, or with the name of a column, is taken for an instruction or for the column.
    """
    put = {name: {name: {name: number}} for number, name in enumerate(NAMES[kind])}
    for number, name in enumerate(put):
        store.put((root,), str(number), put[name])
    read = {name: value_of(store.get((root,), str(number))) for number, name in enumerate(put)}
    expect_same(put, read, "the value with each field")


@rule(MUST, source=JSON)
@pytest.mark.parametrize("name", of_json(values.ENVELOPES))
@pytest.mark.parametrize("inside", [False, True], ids=["whole", "inside"])
def test_values_that_look_like_envelopes_stay(store: StoreDrive, root: str, name: str, inside: bool) -> None:
    """A value in the form in which serializers or databases wrap others comes back as it was put.

    Applications store what they got from LangChain, MongoDB or DynamoDB; unwrapped, it is another value, or code runs.
    """
    value = values.ENVELOPES[name]
    expect_exact(store, root, {"field": value, "list": [value]} if inside or not isinstance(value, dict) else value)


INNER: Mapping[str, Any] = {"dict": {"a": 1}, "text": "text", "json": '{"a": 1}', "none": None, "list": []}


@rule(MUST, source=JSON)
@pytest.mark.parametrize("field", ["value", "data", "payload", "json", "_"])
@pytest.mark.parametrize("inner", INNER.values(), ids=INNER)
def test_a_value_of_one_field_stays(store: StoreDrive, root: str, field: str, inner: Any) -> None:
    """A value with one field comes back with it, also if it is called like the one in which a backend keeps values.

    Unwrapped once too often, an item loses a level.
    """
    expect_exact(store, root, {field: inner})


@rule(MUST, source=JSON)
def test_deep_values_are_exact(store: StoreDrive, root: str) -> None:
    """Twenty levels of dicts and lists come back as such.

    Tool arguments, HTML and JSON schemas are deep; cut or turned to text at some level, they cannot be used.
    """
    value: Any = {"leaf": [1, "text", None, True]}
    for level in range(10):
        value = {"level": level, "list": [value, level]}
    expect_exact(store, root, value)


LARGE: Mapping[str, Callable[[], dict[str, Any]]] = {
    "text": lambda: {"text": "0123456789" * 20_000, "end": "end"},
    "wide-characters": lambda: {"text": "\u65e5\u672c\U0001f600" * 7_000 + "end"},
    "list": lambda: {"list": list(range(5_000)), "texts": [f"text {number}" for number in range(3_000)]},
    "fields": lambda: {f"field {number}": number for number in range(3_000)},
}


@rule(MUST, source=JSON)
@pytest.mark.parametrize("kind", LARGE)
def test_large_values_are_exact(store: StoreDrive, root: str, kind: str) -> None:
    """A value of two hundred kilobytes comes back whole.

    Documents, transcripts and long lists are what a store is for. Cut, they look as if they were all.
    """
    expect_exact(store, root, LARGE[kind]())


# --- other values


class Colour(Enum):
    RED = "red"


class Custom:
    """What nothing knows how to store."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Custom)

    def __hash__(self) -> int:
        return 1

    def __str__(self) -> str:
        return "custom"


TUPLE = {"pair": (1, "two"), "nested": [(1, (2,))], "empty": ()}


@rule(SHOULD, source=f"{JSON}; InMemoryStore, SqliteStore, PostgresStore")
def test_tuples_are_sequences(store: StoreDrive, root: str) -> None:
    """A tuple comes back as a tuple, or as a list of the same members.

    JSON knows no tuples; their members must not be lost.
    """
    store.put((root,), "key", TUPLE)
    read = json.loads(json.dumps(value_of(store.get((root,), "key"))))
    expect_same({"pair": [1, "two"], "nested": [[1, [2]]], "empty": []}, read, "the value read, its tuples as lists")


def kept(store: StoreDrive, root: str, value: Any) -> str:
    """What happens to a value within an item: ``kept``, ``refused`` or ``changed``."""
    put = {"field": value, "list": [value], "inner": {"field": value}}
    if kept_or_refused(lambda: store.put((root,), "key", put)) == "refused":
        return "refused"
    read = kept_or_refused(lambda: value_of(store.get((root,), "key")))
    return "kept" if same(put, read) else f"changed to {read!r}"[:200]


def told(store: StoreDrive, root: str, table: Mapping[str, Any]) -> str:
    """What happens to each of these values, in a few words, the word ``changed`` without what to."""
    outcomes = {name: kept(store, root, value).split(" ")[0] for name, value in table.items()}
    return ", ".join(f"{name} {outcome}" for name, outcome in outcomes.items())


HARMFUL: Mapping[str, Any] = {
    "int of 64 bits": 2**64 - 1,
    "int of 70 bits": 2**70,
    "negative int of 70 bits": -(2**70),
    "nul inside": "before\0after",
    "nul first": "\0x",
    "nul last": "x\0",
    "surrogate": "a\ud800b",
    "bytes": b"\xff\x00",
    "bytes of text": b"text",
    "set": {1, 2},
    "frozenset": frozenset({"a"}),
    "decimal": Decimal("1.10"),
    "complex": 1j,
    "object": Custom(),
    "class": Custom,
    "exception": ValueError("text"),
}


@rule(SHOULD, source=f"{JSON}; InMemoryStore, SqliteStore, PostgresStore")
@pytest.mark.parametrize("name", HARMFUL)
def test_what_is_not_json_is_kept_or_refused(store: StoreDrive, root: str, name: str) -> None:
    """What JSON, or a database, cannot hold comes back equal and of its type, or the put raises.

    Cut at a NUL, wrapped around, or turned to some text, it is found out when it is needed.
    """
    outcome = kept(store, root, HARMFUL[name])
    expect_true(outcome in ("kept", "refused"), f"{name} in a value", "kept or refused", outcome)


@rule(
    QUIRK,
    source=JSON,
    officials={
        "InMemoryStore": "nan kept, infinity kept, -infinity kept",
        "SqliteStore": "nan changed, infinity changed, -infinity changed",
        "PostgresStore": "nan refused, infinity refused, -infinity refused",
    },
)
def test_numbers_that_are_not_finite(store: StoreDrive, root: str, observe: Callable[[object], None]) -> None:
    """What becomes of NaN and the infinities, which are no JSON: a change in silence, as to null, is worth knowing."""
    table = {"nan": float("nan"), "infinity": float("inf"), "-infinity": float("-inf")}
    observe(told(store, root, table))


@rule(
    QUIRK,
    source=JSON,
    officials={
        "InMemoryStore": "datetime kept, date kept, uuid kept, enum kept",
        "SqliteStore": "datetime changed, date changed, uuid changed, enum changed",
        "PostgresStore": "datetime refused, date refused, uuid refused, enum refused",
    },
)
def test_times_uuids_and_enums(store: StoreDrive, root: str, observe: Callable[[object], None]) -> None:
    """What becomes of datetime, date, UUID and Enum: kept, refused, or changed to a text that is read as a text."""
    table = {
        "datetime": datetime(2024, 2, 29, 12, tzinfo=timezone.utc),
        "date": date(2024, 2, 29),
        "uuid": uuid.UUID("1ef4f797-8335-6428-8001-8a1503f9b875"),
        "enum": Colour.RED,
    }
    observe(told(store, root, table))


@rule(
    QUIRK,
    source=JSON,
    officials={
        "InMemoryStore": "int key kept, none key kept",
        "SqliteStore": "int key refused, none key refused",
        "PostgresStore": "int key changed, none key changed",
    },
)
def test_names_of_fields_that_are_no_text(store: StoreDrive, root: str, observe: Callable[[object], None]) -> None:
    """What becomes of names of fields that are numbers or None: kept, refused, or changed to text."""
    observe(told(store, root, {"int key": {1: "one"}, "none key": {None: "none"}}))


BAD: Mapping[str, Any] = {
    "object": {"field": Custom()},
    "nul": {"field": "a\0b"},
    "surrogate": {"field": "a\ud800b"},
    "no-mapping": 5,
}


@rule(SHOULD, source="BaseStore.put: what raises has not happened")
@pytest.mark.parametrize("bad", BAD)
def test_a_refused_put_changes_nothing(store: StoreDrive, root: str, bad: str) -> None:
    """A put that raises leaves the old item, and the store can be used as before.

    One answer of a model that cannot be stored must not cost what was known, nor the connection of everyone else.
    """
    store.put((root,), "key", {"field": "old"})
    refused = outcome_of(lambda: store.put((root,), "key", BAD[bad])) != "accepted"
    held = value_of(store.get((root,), "key"))
    store.put((root,), "other", {"field": "new"})
    found = {"old": held if refused else None, "next": value_of(store.get((root,), "other"))}
    expect_same({"old": {"field": "old"} if refused else None, "next": {"field": "new"}}, found, "the items afterwards")


@rule(SHOULD, source="BaseStore.search, BaseStore.list_namespaces")
@pytest.mark.parametrize("name", HARMFUL)
def test_a_value_that_was_taken_can_be_found(store: StoreDrive, root: str, name: str) -> None:
    """What `put` took does not make later searches and lists of its namespace raise.

    One item that cannot be read would hide all that lies beside it.
    """
    store.put((root,), "beside", {"field": "beside"})
    kept_or_refused(lambda: store.put((root,), "key", {"field": HARMFUL[name]}))
    found = {
        "search": "beside" in [each.key for each in store.search((root,))],
        "filter": [each.key for each in store.search((root,), filter={"field": "beside"})],
        "list": store.list_namespaces(prefix=(root,)),
    }
    expect_same({"search": True, "filter": ["beside"], "list": [(root,)]}, found, "what is found beside it")
