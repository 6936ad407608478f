"""Items: put, get and delete, what an item holds, and its times."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from types import MappingProxyType
from typing import Any

import pytest
from langgraph.store.base import GetOp, Item, Op, PutOp, SearchItem, SearchOp

from langgraph_conformance.drive import StoreDrive
from langgraph_conformance.expect import expect_equal, expect_raises, expect_same, expect_true
from langgraph_conformance.rules import MUST, QUIRK, SHOULD, rule
from langgraph_conformance.suite.store.items import contents, let_time_pass, value_of, whole

VALUE = {"field": "value"}
OLD: dict[str, Any] = {"field": "old", "only": 1, "inner": {"a": 1, "b": [1]}, "list": [1, 2]}

Way = Callable[[StoreDrive, tuple[str, ...], str], Any]
DELETES: Mapping[str, Way] = {
    "delete": lambda store, namespace, key: store.delete(namespace, key),
    "batch": lambda store, namespace, key: store.batch([PutOp(namespace, key, None)]),
}
deletes = pytest.mark.parametrize("delete", DELETES.values(), ids=DELETES)


# --- put and get


@rule(MUST, source="BaseStore.put, BaseStore.get")
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_an_item_is_read_as_it_was_put(store: StoreDrive, root: str, depth: int) -> None:
    """`get` gives an `Item` with the namespace, as a tuple, the key and the value that were put.

    It is all that a store promises; nodes and tools read these fields of the object.
    """
    namespace = (root, "a", "b", "c")[:depth]
    store.put(namespace, "key", VALUE)
    expected = {"namespace": namespace, "key": "key", "value": VALUE}
    expect_same(expected, contents(store.get(namespace, "key")), "the item read")


MISSING: Mapping[str, tuple[tuple[str, ...], str]] = {
    "key": (("a", "b"), "other"),
    "shorter-key": (("a", "b"), "ke"),
    "longer-key": (("a", "b"), "key1"),
    "parent": (("a",), "key"),
    "child": (("a", "b", "c"), "key"),
    "sibling": (("a", "c"), "key"),
    "last-label": (("b",), "key"),
    "reversed": (("b", "a"), "key"),
    "nowhere": (("x", "y"), "key"),
}


@rule(MUST, source="BaseStore.get: the retrieved item or None if not found")
@pytest.mark.parametrize("where", MISSING)
def test_what_was_not_put_is_none(store: StoreDrive, root: str, where: str) -> None:
    """`get` gives None for a key or a namespace in which nothing was put, whatever lies beside, above or below it.

    "Do we know this user?" is asked this way: an exception ends the run, another item answers with someone else's data.
    """
    namespace, key = MISSING[where]
    store.put((root, "a", "b"), "key", VALUE)
    expect_same(None, contents(store.get((root, *namespace), key)), f"the item {key} of {namespace}, which was not put")


@rule(SHOULD, source="BaseStore.put, BaseStore.delete: -> None")
def test_put_and_delete_return_none(store: StoreDrive, root: str) -> None:
    """`put` and `delete` return None.

    The base class says so; a number or an item would come to be relied on.
    """
    results = {
        "put": store.put((root,), "key", VALUE),  # type: ignore[func-returns-value]
        "put again": store.put((root,), "key", VALUE),  # type: ignore[func-returns-value]
        "delete": store.delete((root,), "key"),  # type: ignore[func-returns-value]
    }
    expect_same({"put": None, "put again": None, "delete": None}, results, "what is returned")


NEW: Mapping[str, Any] = {
    "other-fields": {"new": 1},
    "fewer-fields": {"field": "new"},
    "fewer-inner-fields": {**OLD, "inner": {"a": 2}},
    "other-types": {"field": ["new"], "only": {"a": 1}, "inner": "text", "list": None},
    "shorter-list": {**OLD, "list": [3], "inner": {"a": 1, "b": []}},
    "none": {"field": None},
}


@rule(MUST, source="BaseStore.put: store or update; SqliteStore, PostgresStore: upsert of the value")
@pytest.mark.parametrize("new", NEW.values(), ids=NEW)
def test_put_replaces_the_whole_value(store: StoreDrive, root: str, new: dict[str, Any]) -> None:
    """A put over an item replaces its value as a whole: nothing of the old one stays, at no depth.

    What an application takes out of a memory ("forget my address") would come back with the next read.
    """
    store.put((root,), "key", OLD)
    store.put((root,), "key", new)
    expect_same({"get": new, "search": [new]}, seen(store, root), "the value after the second put")


def seen(store: StoreDrive, root: str) -> dict[str, Any]:
    """The value of an item by both ways to read it."""
    return {"get": value_of(store.get((root,), "key")), "search": [each.value for each in store.search((root,))]}


@rule(SHOULD, source="BaseStore.put: a dictionary; the empty one is no None")
@pytest.mark.parametrize("over", [False, True], ids=["new", "over-an-item"])
def test_an_empty_value_is_a_value(store: StoreDrive, root: str, over: bool) -> None:
    """`put(..., {})` stores an item whose value is empty.

    It marks that something exists, or clears what it holds; only None deletes.
    """
    store.put((root,), "key", VALUE if over else {})
    store.put((root,), "key", {})
    expect_same({"get": {}, "search": [{}]}, seen(store, root), "the empty value")


@rule(MUST, source="BaseStore.put: index; without an index configuration it has no effect")
@pytest.mark.parametrize("index", [False, ["a"], ["a.b", "missing[*].x"], []], ids=["false", "field", "paths", "none"])
def test_index_does_not_change_what_is_stored(store: StoreDrive, root: str, index: Any) -> None:
    """Whatever `index` says, the whole item is stored and is found by `get` and by a search without a query.

    `index` is about search by meaning only: a node that turns it off for a large document still needs the document.
    """
    value = {"a": {"b": "text"}, "c": 1}
    store.put((root,), "key", value, index=index)
    expect_same({"get": value, "search": [value]}, seen(store, root), f"the item put with index={index!r}")


@rule(MUST, source="PutOp.index: the item remains accessible regardless of indexing", needs="vectors")
@pytest.mark.parametrize("index", [False, ["missing"], []], ids=["false", "missing-field", "none"])
def test_what_is_not_indexed_is_stored(indexed: StoreDrive, root: str, index: Any) -> None:
    """Also in a store with an index, an item without vectors is stored as a whole, and found without a query.

    Rows that need a vector lose what was not to be embedded.
    """
    value = {"text": "text", "other": 1}
    indexed.put((root,), "key", value, index=index)
    expect_same({"get": value, "search": [value]}, seen(indexed, root), f"the item put with index={index!r}")


# Each is a sequence of writes of one item, each read before and after.
HISTORIES: Mapping[str, list[str]] = {
    "put-after-miss": ["put 1"],
    "puts": ["put 1", "put 2", "put 3"],
    "back-and-forth": ["put 1", "put 2", "put 1"],
    "deleted": ["put 1", "delete", "put 2", "delete"],
    "batches": ["put 1", "batch 2", "batch 3"],
    "deleted-in-a-batch": ["put 1", "batch delete", "batch 2", "batch delete"],
    "mixed": ["batch 1", "put 2", "batch delete", "put 3", "delete", "batch 4"],
}


def write(store: StoreDrive, root: str, step: str) -> None:
    """Do one write of a history; a batch writes other items, too."""
    value = None if step.endswith("delete") else {"step": step[-1]}
    if step.startswith("batch"):
        store.batch([PutOp((root,), "before", VALUE), PutOp((root,), "key", value), PutOp((root,), "after", VALUE)])
    elif value is None:
        store.delete((root,), "key")
    else:
        store.put((root,), "key", value)


@rule(MUST, source="BaseStore.get; a run reads what the run before it wrote")
@pytest.mark.parametrize("steps", HISTORIES.values(), ids=HISTORIES)
def test_every_read_gives_what_was_written_last(store: StoreDrive, root: str, steps: list[str]) -> None:
    """A read gives what the last write left, by whichever method it was written and whatever was read before.

    Reads that are remembered too long show a user what was corrected or deleted.
    """
    found = [value_of(store.get((root,), "key"))]
    for step in steps:
        write(store, root, step)
        found.append(value_of(store.get((root,), "key")))
    expected = [None, *(None if step.endswith("delete") else {"step": step[-1]} for step in steps)]
    expect_same(expected, found, f"the value before and after each of: {', '.join(steps)}")


@rule(MUST, source="BaseStore.put; PutOp: namespace and key identify the item")
def test_put_leaves_other_items_as_they_are(store: StoreDrive, root: str) -> None:
    """A put changes its own item only: no other value, and no other time, of the same namespace or another.

    All that an application knows of its users lies side by side.
    """
    others = [((root, "a"), "other"), ((root, "a", "b"), "key"), ((root,), "key"), ((root, "b"), "key")]
    store.put((root, "a"), "key", {"field": "first"})
    for namespace, key in others:
        store.put(namespace, key, VALUE)
    before = {(namespace, key): whole(store.get(namespace, key)) for namespace, key in others}
    let_time_pass(store, root)
    store.put((root, "a"), "key", {"field": "second"})
    store.put((root, "a"), "new", {"field": "second"})
    after = {(namespace, key): whole(store.get(namespace, key)) for namespace, key in others}
    expect_same(before, after, "the items beside the one that was put")


# --- delete


@rule(MUST, source="BaseStore.delete; PutOp.value: None signals that the item should be deleted")
@deletes
def test_a_deleted_item_is_gone(store: StoreDrive, root: str, delete: Way) -> None:
    """What `delete`, or a `PutOp` whose value is None, deletes is not found by `get` nor by `search`.

    People have a right to be forgotten.
    """
    store.put((root, "a"), "key", VALUE)
    store.put((root, "a"), "other", VALUE)
    delete(store, (root, "a"), "key")
    found = {"get": contents(store.get((root, "a"), "key")), "search": [each.key for each in store.search((root, "a"))]}
    expect_same({"get": None, "search": ["other"]}, found, "what is found of the deleted item")


@rule(SHOULD, source="BaseStore.put makes a PutOp; PutOp.value: None signals that the item should be deleted")
def test_put_of_none_deletes(store: StoreDrive, root: str) -> None:
    """`put(namespace, key, None)` deletes the item.

    It does so in every official store; an item with an empty value in its place would still be found and counted.
    """
    store.put((root,), "key", VALUE)
    store.put((root,), "key", None)
    expect_same({"get": None, "search": []}, seen(store, root), "the item put with None")


NEIGHBOURS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "longer-key": (("a",), "key1"),
    "shorter-key": (("a",), "ke"),
    "other-key": (("a",), "other"),
    "parent": ((), "key"),
    "child": (("a", "b"), "key"),
    "grandchild": (("a", "b", "c"), "key"),
    "sibling": (("b",), "key"),
    "longer-label": (("ab",), "key"),
    "named-by-the-key": (("a", "key"), "inner"),
    "below-the-key": (("a", "key", "inner"), "key"),
}


@rule(MUST, source="BaseStore.delete: the item of this namespace and key")
@deletes
def test_delete_leaves_other_items(store: StoreDrive, root: str, delete: Way) -> None:
    """A delete takes one item: no other key, no namespace above or below, nor one that is named by the key.

    A store over paths or prefixes that deletes too much loses what nobody asked it to forget.
    """
    places = {name: ((root, *namespace), key) for name, (namespace, key) in NEIGHBOURS.items()}
    store.put((root, "a"), "key", VALUE)
    for namespace, key in places.values():
        store.put(namespace, key, VALUE)
    delete(store, (root, "a"), "key")
    found = {name: value_of(store.get(namespace, key)) for name, (namespace, key) in places.items()}
    expect_same(dict.fromkeys(NEIGHBOURS, VALUE), found, "the items beside the deleted one")


@rule(SHOULD, source="BaseStore.delete; InMemoryStore, SqliteStore, PostgresStore")
@deletes
@pytest.mark.parametrize("place", ["key", "namespace", "twice"])
def test_deleting_what_is_missing_does_nothing(store: StoreDrive, root: str, delete: Way, place: str) -> None:
    """Deleting an item that is not there, or no longer, raises nothing and changes nothing.

    Two requests delete the same memory, or a node cleans up without knowing what exists.
    """
    store.put((root, "a"), "key", VALUE)
    store.put((root, "a"), "deleted", VALUE)
    store.delete((root, "a"), "deleted")
    namespace, key = {
        "key": ((root, "a"), "missing"),
        "namespace": ((root, "nowhere"), "key"),
        "twice": ((root, "a"), "deleted"),
    }[place]
    delete(store, namespace, key)
    expect_same([(root, "a", "key")], [(*each.namespace, each.key) for each in store.search((root,))], "the items left")


@rule(SHOULD, source="BaseStore.list_namespaces: explore the organization of data; SqliteStore, PostgresStore")
@pytest.mark.parametrize("act", ["get", "search", "delete", "put-and-delete", "all-in-a-batch"])
def test_a_namespace_without_items_is_not_listed(store: StoreDrive, root: str, act: str) -> None:
    """Looking for items in a namespace, or deleting its last one, leaves no namespace behind.

    A user interface would list users who never stored anything, and those who asked to be forgotten.
    """
    store.put((root, "kept"), "key", VALUE)
    operations: dict[str, list[list[Op]]] = {
        "get": [[GetOp((root, "empty"), "key")]],
        "search": [[SearchOp((root, "empty"))]],
        "delete": [[PutOp((root, "empty"), "key", None)]],
        "put-and-delete": [[PutOp((root, "empty"), "key", VALUE)], [PutOp((root, "empty"), "key", None)]],
        "all-in-a-batch": [
            [GetOp((root, "empty"), "key"), SearchOp((root, "empty")), PutOp((root, "empty"), "x", None)]
        ],
    }
    for batch in operations[act]:
        store.batch(batch)
    expect_same([(root, "kept")], sorted(store.list_namespaces(prefix=(root,))), "the namespaces listed")


# --- what an item is


@rule(MUST, source="Item; BaseStore.search: -> list[SearchItem]")
def test_search_and_get_give_the_same_item(store: StoreDrive, root: str) -> None:
    """A search gives a `SearchItem` with the namespace, key, value and times that `get` gives, in the same types.

    Code that found an item goes on with these fields: to update it, to delete it, to show how old it is.
    """
    store.put((root, "a", "b"), "key", {"field": "old"})
    let_time_pass(store, root)
    store.put((root, "a", "b"), "key", VALUE)
    (found,) = store.search((root, "a"))
    expect_same(whole(store.get((root, "a", "b"), "key")), whole(found), "the item found by a search")
    expect_true(isinstance(found, SearchItem), "the type of what a search finds", "SearchItem", type(found).__name__)


@rule(MUST, source="Item.dict")
def test_an_item_can_be_made_a_dict(store: StoreDrive, root: str) -> None:
    """`Item.dict()` gives namespace (a list), key, value and times (ISO texts), and they make an equal item again.

    Servers send items to their clients this way.
    """
    store.put((root, "a"), "key", VALUE)
    item = store.get((root, "a"), "key")
    told = json.loads(json.dumps(item.dict())) if item else {}
    expect_same(
        {"namespace": [root, "a"], "key": "key", "value": VALUE},
        {name: told.get(name) for name in ("namespace", "key", "value")},
        "dict() of the item, through JSON",
    )
    expect_same(whole(item), whole(Item(**told)), "the item made of its dict()")


@rule(MUST, source="Item.__eq__, Item.__hash__")
def test_items_are_equal_if_all_of_them_is(store: StoreDrive, root: str) -> None:
    """Two reads of one item give equal items, which are one in a set; an item of another key or value is another.

    Search results are compared and merged this way.
    """
    for key, value in (("key", VALUE), ("other", VALUE)):
        store.put((root,), key, value)
    one, again, other = (store.get((root,), key) for key in ("key", "key", "other"))
    store.put((root,), "key", {"field": "new"})
    new = store.get((root,), "key")
    found = {"again": one == again, "in a set": len({one, again}), "other": one == other, "changed": one == new}
    expect_same({"again": True, "in a set": 1, "other": False, "changed": False}, found, "the comparisons")


@rule(SHOULD, source="PutOp.value: Mapping[str, Any]")
@pytest.mark.parametrize("way", ["put", "batch"])
def test_any_mapping_is_a_value(store: StoreDrive, root: str, way: str) -> None:
    """A mapping that is no dict, such as a `MappingProxyType`, is stored like one.

    `PutOp.value` is a `Mapping`; configuration and frozen objects come as such.
    """
    value = MappingProxyType({"a": 1})
    ways: dict[str, Callable[[], object]] = {
        "put": lambda: store.put((root,), "key", value),
        "batch": lambda: store.batch([PutOp((root,), "key", value)]),
    }
    ways[way]()
    item = store.get((root,), "key")
    expect_equal({"a": 1}, None if item is None else dict(item.value), "the value read")


@rule(SHOULD, source="PutOp.value: Mapping[str, Any] or None; InMemoryStore, SqliteStore, PostgresStore")
@pytest.mark.parametrize("value", [5, "abc", True, 1.5], ids=["int", "text", "bool", "float"])
def test_what_is_no_mapping_is_refused(store: StoreDrive, root: str, value: Any) -> None:
    """A put of what is no mapping raises, and stores nothing.

    Whoever reads the item would find no fields in it, long after the mistake.
    """
    expect_raises(Exception, lambda: store.put((root,), "key", value), f"put of {value!r}")
    expect_same(None, contents(store.get((root,), "key")), "the item afterwards")


# --- times


def instant(time: Any) -> Any:
    """A time as an aware one, in UTC where it does not say."""
    return time.replace(tzinfo=timezone.utc) if isinstance(time, datetime) and time.tzinfo is None else time


def times(item: Item | None) -> tuple[Any, Any]:
    """When an item was created and updated."""
    return (None, None) if item is None else (item.created_at, item.updated_at)


@rule(MUST, source="Item.created_at, Item.updated_at: datetime")
@pytest.mark.parametrize("read", ["get", "search"])
def test_times_are_datetimes(store: StoreDrive, root: str, read: str) -> None:
    """`created_at` and `updated_at` are `datetime` objects.

    `Item.dict()` and whoever computes an age call their methods.
    """
    store.put((root,), "key", VALUE)
    item = store.get((root,), "key") if read == "get" else store.search((root,))[0]
    kinds = [each if each is None else type(each).__name__ for each in times(item)]
    expect_true(
        all(isinstance(each, datetime) for each in times(item)), "created_at and updated_at", "two datetimes", kinds
    )


@rule(SHOULD, source="Item.created_at; InMemoryStore, PostgresStore: timezone-aware")
@pytest.mark.parametrize("read", ["get", "search"])
def test_times_have_a_time_zone(store: StoreDrive, root: str, read: str) -> None:
    """`created_at` and `updated_at` say their time zone.

    Without it they cannot be compared with `datetime.now(timezone.utc)`, and a client shows them in its own zone.
    """
    store.put((root,), "key", VALUE)
    item = store.get((root,), "key") if read == "get" else store.search((root,))[0]
    offsets = [each.utcoffset() for each in times(item)]
    expect_true(None not in offsets, "the time zones of created_at and updated_at", "one each", times(item))


CLOCKS_DIFFER_BY = timedelta(minutes=15)
"""What a database's clock may be off by; a wrong time zone is at least twice as much."""


@rule(SHOULD, source="Item.created_at: timestamp of item creation")
def test_times_are_about_now(store: StoreDrive, root: str) -> None:
    """`created_at` and `updated_at` of an item that was just put are now, within a quarter of an hour.

    Ages and retention are computed from them. Times without a zone are taken for UTC.
    """
    store.put((root,), "key", VALUE)
    now = datetime.now(timezone.utc)
    off = [abs(instant(each) - now) for each in times(store.get((root,), "key"))]
    expect_true(max(off) < CLOCKS_DIFFER_BY, "how far the times are from now", f"less than {CLOCKS_DIFFER_BY}", off)


@rule(SHOULD, source="Item.created_at, Item.updated_at; InMemoryStore, SqliteStore, PostgresStore")
def test_a_new_item_was_not_updated_before_it_was_created(store: StoreDrive, root: str) -> None:
    """`updated_at` of a new item is not before its `created_at`.

    A negative age of the last change sorts it wrongly, and breaks what subtracts the two.
    """
    store.put((root,), "key", VALUE)
    created, updated = times(store.get((root,), "key"))
    expect_true(created <= updated, "times of a new item", "created_at not after updated_at", (created, updated))


@rule(
    QUIRK,
    source="Item.updated_at",
    officials={
        "InMemoryStore": "finer than a second",
        "SqliteStore": "whole seconds",
        "PostgresStore": "finer than a second",
    },
)
def test_resolution_of_times(store: StoreDrive, root: str, observe: Callable[[object], None]) -> None:
    """How fine the times are: in whole seconds, what is put in one second cannot be ordered by them."""
    for number in range(4):
        store.put((root,), str(number), VALUE)
    found = [times(item) for item in store.search((root,))]
    fine = any(time.microsecond for pair in found for time in pair)
    observe("finer than a second" if fine else "whole seconds")


@rule(MUST, source="Item.created_at: timestamp of item creation")
@pytest.mark.parametrize("way", ["put", "batch"])
def test_created_at_stays_when_an_item_is_put_again(store: StoreDrive, root: str, way: str) -> None:
    """A put over an item keeps `created_at`.

    It tells since when something is known; reset, it is a second `updated_at`, and what is old looks new.
    """
    store.put((root,), "key", VALUE)
    created, _ = times(store.get((root,), "key"))
    let_time_pass(store, root)
    put_again(store, root, way)
    found = [store.get((root,), "key"), *store.search((root,))]
    expect_same([created] * 2, [times(each)[0] for each in found], "created_at, by get and by search")


@rule(MUST, source="Item.updated_at: timestamp of last update")
@pytest.mark.parametrize("way", ["put", "batch"])
def test_updated_at_moves_when_an_item_is_put_again(store: StoreDrive, root: str, way: str) -> None:
    """A put over an item moves `updated_at`.

    What was learned last goes first into a prompt, and what was not touched for long is cleaned up.
    """
    expect_updated(store, root, way)


@rule(SHOULD, source="InMemoryStore, SqliteStore, PostgresStore")
def test_updated_at_moves_when_the_same_value_is_put_again(store: StoreDrive, root: str) -> None:
    """A put over an item moves `updated_at` also when the value is the same.

    A fact that was confirmed today would be cleaned up as one that nobody has touched for a year.
    """
    expect_updated(store, root, "same-value")


def expect_updated(store: StoreDrive, root: str, way: str) -> None:
    """A second put moves ``updated_at``.

    Raises:
        Broken: it does not.
    """
    store.put((root,), "key", VALUE)
    _, first = times(store.get((root,), "key"))
    let_time_pass(store, root)
    put_again(store, root, way)
    item = store.get((root,), "key")
    expect_true(times(item)[1] > first, "updated_at after the second put", f"later than {first}", times(item)[1])


def put_again(store: StoreDrive, root: str, way: str) -> None:
    """Put an item over another, on its own or in a batch."""
    new = VALUE if way == "same-value" else {"field": "new"}
    if way == "batch":
        store.batch([PutOp((root, "other"), "key", new), PutOp((root,), "key", new)])
        store.delete((root, "other"), "key")
    else:
        store.put((root,), "key", new)


@rule(SHOULD, source="Item.created_at; InMemoryStore, SqliteStore, PostgresStore")
@deletes
def test_an_item_that_is_put_after_a_delete_is_new(store: StoreDrive, root: str, delete: Way) -> None:
    """After a delete, the next put under the same key creates an item: its `created_at` is new.

    The deleted item would still show through, with the date of what was to be forgotten.
    """
    store.put((root,), "key", VALUE)
    first, _ = times(store.get((root,), "key"))
    let_time_pass(store, root)
    delete(store, (root,), "key")
    store.put((root,), "key", VALUE)
    created, _ = times(store.get((root,), "key"))
    expect_true(created > first, "created_at after delete and put", f"later than {first}", created)


@rule(SHOULD, source="Item.updated_at: timestamp of last update; InMemoryStore, SqliteStore, PostgresStore")
@pytest.mark.parametrize("read", ["get", "search", "filtered-search", "list_namespaces"])
def test_reads_do_not_move_times(store: StoreDrive, root: str, read: str) -> None:
    """Reading an item changes none of its times.

    What is read often would look as if it was just learned, and never be cleaned up.
    """
    reads: dict[str, Callable[[], object]] = {
        "get": lambda: store.get((root,), "key"),
        "search": lambda: store.search((root,)),
        "filtered-search": lambda: store.search((root,), filter=VALUE, limit=5),
        "list_namespaces": lambda: store.list_namespaces(prefix=(root,)),
    }
    store.put((root,), "key", VALUE)
    before = times(store.get((root,), "key"))
    let_time_pass(store, root)
    reads[read]()
    expect_same(before, times(store.get((root,), "key")), "created_at and updated_at after reads")
