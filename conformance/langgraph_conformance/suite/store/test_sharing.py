"""Nothing is shared: an item cannot be changed from outside, through what was given or through what was read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from langgraph.store.base import GetOp, Item, Op, PutOp, SearchOp

from langgraph_conformance.drive import StoreDrive
from langgraph_conformance.expect import expect_no_errors, expect_same
from langgraph_conformance.rules import SHOULD, rule
from langgraph_conformance.suite.store.items import contents, value_of

STORES = "BaseStore: an item changes by put and delete only; SqliteStore, PostgresStore"


def value() -> dict[str, Any]:
    """A value with every kind of part that can be changed in place."""
    return {"text": "text", "list": [1, [2]], "dict": {"a": 1, "inner": {"b": [1]}}, "dicts": [{"c": 1}]}


def change_fields(changed: dict[str, Any]) -> None:
    changed["text"] = "changed"
    changed["added"] = "changed"
    del changed["list"]


def change_list(changed: dict[str, Any]) -> None:
    changed["list"].append("changed")


def change_inner_list(changed: dict[str, Any]) -> None:
    changed["list"][1].append("changed")


def change_dict(changed: dict[str, Any]) -> None:
    changed["dict"]["a"] = "changed"
    changed["dict"]["added"] = "changed"


def change_inner_dict(changed: dict[str, Any]) -> None:
    changed["dict"]["inner"]["b"].append("changed")
    changed["dicts"][0]["c"] = "changed"


CHANGES = {
    "fields": change_fields,
    "list": change_list,
    "inner-list": change_inner_list,
    "dict": change_dict,
    "inner-dict": change_inner_dict,
}
changes = pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)


def seen(store: StoreDrive, root: str) -> dict[str, Any]:
    """The value of an item by both ways to read it."""
    return {"get": value_of(store.get((root,), "key")), "search": [each.value for each in store.search((root,))]}


def unchanged() -> dict[str, Any]:
    """What must be seen."""
    return {"get": value(), "search": [value()]}


@rule(SHOULD, source=STORES)
@changes
@pytest.mark.parametrize("way", ["put", "batch"])
def test_changing_what_was_put_changes_nothing_stored(
    store: StoreDrive, root: str, change: Callable[[dict[str, Any]], None], way: str
) -> None:
    """What the caller does to the value after `put` does not reach the item, at any depth.

    Nodes go on with the dict that they stored: the store would hold what was never put, until the process ends.
    """
    given = value()
    ways: dict[str, Callable[[], object]] = {
        "put": lambda: store.put((root,), "key", given),
        "batch": lambda: store.batch([PutOp((root,), "key", given)]),
    }
    ways[way]()
    change(given)
    expect_same(unchanged(), seen(store, root), "the item after changing the value given to put")


def first(items: list[Any]) -> Any:
    """The only one of the items found."""
    return items[0]


READS: Mapping[str, Callable[[StoreDrive, str], Any]] = {
    "get": lambda store, root: store.get((root,), "key"),
    "search": lambda store, root: first(store.search((root,))),
    "filtered-search": lambda store, root: first(store.search((root,), filter={"text": "text"})),
    "batch-get": lambda store, root: store.batch([GetOp((root,), "key"), GetOp((root,), "missing")])[0],
    "batch-search": lambda store, root: first(store.batch([SearchOp((root,))])[0]),
}
reads = pytest.mark.parametrize("read", READS.values(), ids=READS)


@rule(SHOULD, source=STORES)
@changes
@reads
def test_changing_what_was_read_changes_nothing_stored(
    store: StoreDrive, root: str, change: Callable[[dict[str, Any]], None], read: Callable[[StoreDrive, str], Item]
) -> None:
    """What the caller does to the value of an item that was read or found does not reach the stored one.

    A node that prepares a memory for a prompt would change it for every later run, without a put.
    """
    store.put((root,), "key", value())
    change(read(store, root).value)
    expect_same(unchanged(), seen(store, root), "the item after changing what was read")


@rule(SHOULD, source=STORES)
@reads
def test_changing_an_item_changes_nothing_stored(
    store: StoreDrive, root: str, read: Callable[[StoreDrive, str], Item]
) -> None:
    """Setting the fields of an `Item` that was read changes that object only.

    Its value, key and namespace are plain attributes.
    """
    store.put((root,), "key", value())
    item = read(store, root)
    item.value, item.key, item.namespace = {"changed": True}, "changed", (root, "changed")
    found = {"get": contents(store.get((root,), "key")), "search": [contents(each) for each in store.search((root,))]}
    expected = {"namespace": (root,), "key": "key", "value": value()}
    expect_same({"get": expected, "search": [expected]}, found, "the item after changing the one that was read")


@rule(SHOULD, source=STORES)
@changes
@pytest.mark.parametrize("operation", ["GetOp", "SearchOp"])
def test_results_of_a_batch_share_nothing(
    store: StoreDrive, root: str, change: Callable[[dict[str, Any]], None], operation: str
) -> None:
    """Two operations of a batch that read one item give two objects.

    Each is handed to another node or tool, which changes it.
    """
    store.put((root,), "key", value())
    operations: dict[str, Op] = {"GetOp": GetOp((root,), "key"), "SearchOp": SearchOp((root,))}
    one, other = (each[0] if isinstance(each, list) else each for each in store.batch([operations[operation]] * 2))
    change(one.value)
    expect_same(value(), other.value, "the other result of the batch")


@rule(SHOULD, source=f"{STORES}; AsyncBatchedBaseStore makes one operation of equal ones")
@pytest.mark.parametrize("method", ["get", "search"])
def test_calls_at_the_same_time_share_nothing(store: StoreDrive, root: str, method: str) -> None:
    """Equal reads that are made at the same time, in threads or tasks, give an object each.

    Parallel nodes read one profile and each change their own copy, as they believe.
    """
    store.put((root,), "key", value())
    later = {"get": store.later.get((root,), "key"), "search": store.later.search((root,))}[method]
    results = store.together([later] * 4)
    expect_no_errors(results, "reads at the same time")
    items = [each[0] if isinstance(each, list) else each for each in results]
    change_inner_dict(items[0].value)
    items[0].value["text"] = items[0].key = "changed"
    expected = {"namespace": (root,), "key": "key", "value": value()}
    expect_same([expected] * 3, [contents(each) for each in items[1:]], "the results of the other calls")
