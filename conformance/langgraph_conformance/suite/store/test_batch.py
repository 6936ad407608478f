"""Batches: a result for each operation, in their order, from the state before the batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, Op, PutOp, SearchOp

from langgraph_conformance.drive import StoreDrive
from langgraph_conformance.expect import expect_no_errors, expect_same
from langgraph_conformance.rules import MUST, QUIRK, SHOULD, rule
from langgraph_conformance.suite.store.items import number_of, outcome_of

ORDER = "BaseStore.batch: a list of results, where each result corresponds to an operation in the input"
BEFORE = "InMemoryStore, SqliteStore, PostgresStore: reads of a batch are done before its puts"


def under(root: str, *labels: str) -> ListNamespacesOp:
    """Lists the namespaces below these labels."""
    return ListNamespacesOp((MatchCondition("prefix", (root, *labels)),))


def read(result: Any) -> Any:
    """A result in a form that can be compared: items as their numbers."""
    if isinstance(result, list):
        return [each if isinstance(each, tuple) else number_of(each) for each in result]
    return None if result is None else number_of(result)


def fill(store: StoreDrive, root: str) -> None:
    """Three items, in two namespaces."""
    for number, (label, key) in enumerate([("a", "one"), ("a", "two"), ("b", "one")]):
        store.put((root, label), key, {"number": number})


def mixed(root: str) -> dict[str, tuple[Op, Any]]:
    """Operations of every kind, each with what it gives for ``fill``."""
    return {
        "get": (GetOp((root, "a"), "one"), 0),
        "get of another key": (GetOp((root, "a"), "two"), 1),
        "get elsewhere": (GetOp((root, "b"), "one"), 2),
        "get of nothing": (GetOp((root, "a"), "none"), None),
        "search": (SearchOp((root, "b")), [2]),
        "search for a number": (SearchOp((root, "a"), filter={"number": 1}), [1]),
        "search for another": (SearchOp((root, "a"), filter={"number": 0}), [0]),
        "search for nothing": (SearchOp((root, "c")), []),
        "list": (under(root, "a"), [(root, "a")]),
        "list of another": (under(root, "b"), [(root, "b")]),
        "list of nothing": (under(root, "c"), []),
        "put": (PutOp((root, "new"), "new", {"number": 9}), None),
        "delete": (PutOp((root, "new"), "old", None), None),
    }


ORDERS: Mapping[str, Callable[[list[str]], list[str]]] = {
    "by-kind": lambda names: names,
    "backwards": lambda names: names[::-1],
    "puts-first": lambda names: names[-2:] + names[:-2],
    "interleaved": lambda names: [*names[::4], *names[1::4], *names[2::4], *names[3::4]],
    "repeated": lambda names: [*names[:3], *names[:3], names[4], names[0], names[4], *names[-2:]],
    "gets": lambda names: [names[3], names[2], names[3], names[0], names[1], names[0]],
    "searches": lambda names: [*names[4:8][::-1], *names[5:7]],
    "puts-and-gets": lambda names: [names[-1], names[3], names[-2], names[0]],
}


@rule(MUST, source=ORDER)
@pytest.mark.parametrize("order", ORDERS)
def test_each_operation_has_its_result_in_its_place(store: StoreDrive, root: str, order: str) -> None:
    """A batch gives one result for each operation, in their order: what a get, search or list finds, None for a put.

    Callers take the results apart by position: one that is left out or moved gives a user another one's memories.
    """
    fill(store, root)
    operations = mixed(root)
    names = ORDERS[order](list(operations))
    results = store.batch([operations[name][0] for name in names])
    expected = [(name, operations[name][1]) for name in names]
    found = [(name, read(result)) for name, result in zip(names, results, strict=False)]
    expect_same(expected, found, "the result of each operation")
    expect_same(len(names), len(results), "how many results there are")


@rule(MUST, source="BaseStore.batch: execute multiple operations")
def test_all_puts_and_deletes_of_a_batch_are_done(store: StoreDrive, root: str) -> None:
    """Each put and delete of a batch is done, whatever stands beside it: reads, the same key elsewhere, other values.

    What is silently left out is forgotten.
    """
    fill(store, root)
    puts = [PutOp((root, label), key, {"number": 10}) for label in ("a", "c", "d") for key in ("one", "three")]
    deletes = [PutOp((root, "b"), "one", None), PutOp((root, "a"), "two", None)]
    store.batch([GetOp((root, "a"), "one"), *puts, deletes[0], SearchOp((root,)), deletes[1]])
    found = {(each.namespace[1], each.key): number_of(each) for each in store.search((root,))}
    expect_same({(put.namespace[1], put.key): 10 for put in puts}, found, "the items after the batch")


@rule(SHOULD, source=BEFORE)
@pytest.mark.parametrize("first", ["puts", "reads"])
def test_reads_of_a_batch_see_the_state_before_it(store: StoreDrive, root: str, first: str) -> None:
    """Gets, searches and lists of a batch see what was there before its puts, wherever they stand in it.

    One batch collects calls that were made at once: what they read must not depend on how they happen to be ordered.
    """
    fill(store, root)
    puts = [
        PutOp((root, "a"), "one", {"number": 10}),
        PutOp((root, "a"), "two", None),
        PutOp((root, "a"), "new", {"number": 11}),
        PutOp((root, "new"), "new", {"number": 12}),
        PutOp((root, "b"), "one", None),
    ]
    reads: list[Op] = [
        GetOp((root, "a"), "one"),
        GetOp((root, "a"), "two"),
        GetOp((root, "a"), "new"),
        SearchOp((root, "a"), filter={"number": 10}),
        SearchOp((root, "b")),
        under(root, "new"),
        under(root, "b"),
    ]
    results = store.batch([*puts, *reads] if first == "puts" else [*reads, *puts])
    found = [read(each) for each in (results[len(puts) :] if first == "puts" else results[: len(reads)])]
    expect_same([0, 1, None, [], [2], [], [(root, "b")]], found, "what the reads of the batch gave")


WRITES: Mapping[str, tuple[Sequence[int | None], int | None]] = {
    "two-puts": ([1, 2], 2),
    "back-and-forth": ([1, 2, 1], 1),
    "put-and-delete": ([1, None], None),
    "delete-and-put": ([None, 1], 1),
    "put-delete-put": ([1, None, 2], 2),
    "delete-put-delete": ([None, 1, None], None),
}


@rule(SHOULD, source="InMemoryStore, SqliteStore, PostgresStore: the last put of an item in a batch wins")
@pytest.mark.parametrize("writes", WRITES)
@pytest.mark.parametrize("over", [False, True], ids=["new", "over-an-item"])
@pytest.mark.parametrize("between", [False, True], ids=["", "others-between"])
def test_the_last_write_of_an_item_in_a_batch_wins(
    store: StoreDrive, root: str, writes: str, over: bool, between: bool
) -> None:
    """Of several puts and deletes of one item in a batch the last counts, and none of them raises.

    Batches are collected from tasks: the caller does not know what else is in them.
    """
    numbers, last = WRITES[writes]
    store.put((root, "a"), "key" if over else "before", {"number": 0})
    operations: list[Op] = []
    for number in numbers:
        operations.append(PutOp((root, "a"), "key", None if number is None else {"number": number}))
        operations += [PutOp((root, "b"), "key", {"number": 100})] if between else []
    store.batch(operations)
    expect_same(last, number_of(store.get((root, "a"), "key")), "the item after the batch")
    found = [number_of(each) for each in store.search((root, "a")) if each.key == "key"]
    expect_same([] if last is None else [last], found, "what a search finds of it")


SHAPES: Mapping[str, Callable[[list[Op]], Any]] = {
    "tuple": tuple,
    "generator": lambda operations: (each for each in operations),
    "iterator": iter,
    "map": lambda operations: map(lambda each: each, operations),
}


@rule(SHOULD, source="BaseStore.batch: ops: Iterable[Op]")
@pytest.mark.parametrize("shape", SHAPES)
def test_any_iterable_is_a_batch(store: StoreDrive, root: str, shape: str) -> None:
    """A batch may be any iterable, also one that can be looked through only once.

    Looked through twice, a generator is empty the second time: nothing is stored, and no one is told.
    """
    fill(store, root)
    put = PutOp((root, "a"), "three", {"number": 3})
    operations: list[Op] = [GetOp((root, "a"), "one"), put, SearchOp((root, "b"))]
    results = store.batch(SHAPES[shape](operations))
    stored = number_of(store.get((root, "a"), "three"))
    store.delete((root, "a"), "three")
    expect_same({"results": [0, None, [2]], "put": 3}, {"results": [*map(read, results)], "put": stored}, "a batch")


@rule(SHOULD, source="InMemoryStore, SqliteStore, PostgresStore")
@pytest.mark.parametrize("shape", [list, tuple, iter], ids=["list", "tuple", "iterator"])
def test_an_empty_batch_gives_nothing(store: StoreDrive, shape: Callable[[list[Op]], Any]) -> None:
    """A batch without operations gives an empty list.

    Batches are built from what happens to be there.
    """
    expect_same([], store.batch(shape([])), "the results")


MANY = 600


@rule(SHOULD, source="SqliteStore, PostgresStore: limits of a statement or of a request are the store's to mind")
@pytest.mark.parametrize("keys", ["one-namespace", "many-namespaces"])
def test_a_large_batch_is_done_as_a_whole(store: StoreDrive, root: str, keys: str) -> None:
    """Hundreds of puts in one batch are all stored, and hundreds of gets all answered.

    Databases limit the parameters of a statement and the members of a request; what is beyond is lost, or raises in
    production only.
    """
    spaces = {"one-namespace": 1, "many-namespaces": 50}[keys]
    places = [((root, str(number % spaces)), f"key {number}") for number in range(MANY)]
    store.batch([PutOp(namespace, key, {"number": number}) for number, (namespace, key) in enumerate(places)])
    results = store.batch([GetOp(namespace, key) for namespace, key in places])
    expect_same([*range(MANY)], [number_of(each) for each in results], "the numbers read")
    expect_same([0, MANY - 1], [number_of(store.get(*places[number])) for number in (0, -1)], "the first and the last")


@rule(MUST, source=ORDER)
def test_gets_of_one_key_in_many_namespaces_are_apart(store: StoreDrive, root: str) -> None:
    """Gets of a batch are answered by namespace and key, each of them, repeated and missing ones included.

    A store that reads by one query and matches rows by key alone gives one user's profile to all.
    """
    labels = ["a", "b", "ab", "c", "a/b"]
    for number, label in enumerate(labels):
        store.put((root, label), "key", {"number": number})
    store.put((root,), "key", {"number": 100})
    asked = [(root, label) for label in ("c", "a", "x", "ab", "a", "b", "a/b")] + [(root,), (root, "a", "b")]
    results = store.batch([GetOp(namespace, "key") for namespace in asked])
    expect_same([3, 0, None, 2, 0, 1, 4, 100, None], [number_of(each) for each in results], f"the items of {asked}")


@rule(MUST, source=ORDER)
def test_searches_and_lists_of_a_batch_are_apart(store: StoreDrive, root: str) -> None:
    """Searches and lists of a batch each have their own prefix, filter, limit, offset and depth.

    Those that several nodes make at once are batched; one answered with another's conditions is wrong unnoticed.
    """
    for number in range(6):
        store.put((root, "ab"[number % 2], "deep"), str(number), {"number": number, "even": number % 2 == 0})
    operations: dict[str, tuple[Op, Any]] = {
        "all": (SearchOp((root,)), [0, 1, 2, 3, 4, 5]),
        "even": (SearchOp((root,), filter={"even": True}), [0, 2, 4]),
        "odd": (SearchOp((root,), filter={"even": False}), [1, 3, 5]),
        "a": (SearchOp((root, "a")), [0, 2, 4]),
        "odd in a": (SearchOp((root, "a"), filter={"even": False}), []),
        "one": (SearchOp((root,), filter={"number": 1}), [1]),
        "none": (SearchOp((root,), limit=0), []),
        "beyond": (SearchOp((root,), offset=6), []),
        "deep": (under(root), [(root, "a", "deep"), (root, "b", "deep")]),
        "cut": (under(root)._replace(max_depth=2), [(root, "a"), (root, "b")]),
        "first": (under(root)._replace(limit=1), [(root, "a", "deep")]),
        "second": (under(root)._replace(limit=1, offset=1), [(root, "b", "deep")]),
    }
    results = store.batch([operation for operation, _ in operations.values()])
    found = {name: sorted(read(result)) for name, result in zip(operations, results, strict=True)}
    expect_same({name: expected for name, (_, expected) in operations.items()}, found, "the result of each operation")


class Unstorable:
    """What only a store that keeps objects as they are can hold."""


FAILING: Mapping[str, Callable[[str], Any]] = {
    "value": lambda root: PutOp((root, "bad"), "bad", {"field": Unstorable()}),
    "inner-value": lambda root: PutOp((root, "bad"), "bad", {"field": [{"inner": Unstorable()}]}),
    "no-mapping": lambda root: PutOp((root, "bad"), "bad", 5),  # type: ignore[arg-type]
    "surrogate": lambda root: PutOp((root, "bad"), "bad", {"field": "a\ud800b"}),
    "key": lambda root: PutOp((root, "bad"), "a\ud800b", {"field": 1}),
    "text-with-nul": lambda root: PutOp((root, "bad"), "bad", {"field": "a\0b"}),
    "label": lambda root: PutOp((root, "b.ad"), "bad", {"field": 1}),
}


@rule(SHOULD, source="BaseStore.batch: one call; InMemoryStore")
@pytest.mark.parametrize("failing", FAILING.values(), ids=FAILING)
@pytest.mark.parametrize("place", ["last", "first", "between"])
def test_a_batch_that_fails_changes_nothing(
    store: StoreDrive, root: str, failing: Callable[[str], Any], place: str
) -> None:
    """If one operation makes a batch raise, none of it is done, before or after that operation.

    Whoever catches the exception does not know what was stored; one of two items that belong together is no use.
    """
    fill(store, root)
    good = [
        PutOp((root, "a"), "one", {"number": 10}),
        PutOp((root, "new"), "new", {"number": 11}),
        PutOp((root, "b"), "one", None),
    ]
    at = {"last": 3, "first": 0, "between": 2}[place]
    refused = outcome_of(lambda: store.batch([*good[:at], failing(root), *good[at:]])) != "accepted"
    items = [each for each in store.search((root,)) if each.namespace[1] not in ("bad", "b.ad")]
    store.delete((root, "new"), "new")
    before = {("a", "one"): 0, ("a", "two"): 1, ("b", "one"): 2}
    after = {("a", "one"): 10, ("a", "two"): 1, ("new", "new"): 11}
    what = "the items after the batch, which raised" if refused else "the items after the batch, which was taken"
    found = {(*each.namespace[1:], each.key): number_of(each) for each in items}
    expect_same(before if refused else after, found, what)


@rule(MUST, source="BaseStore.batch")
@pytest.mark.parametrize("failing", FAILING.values(), ids=FAILING)
def test_a_store_is_usable_after_a_failing_batch(store: StoreDrive, root: str, failing: Callable[[str], Any]) -> None:
    """After a batch that raised, the next calls work, alone and several at once.

    A lock that is kept, or a transaction that is left open, ends the application for everyone.
    """
    outcome_of(lambda: store.batch([failing(root)]))
    namespace = (root, "next")
    store.put(namespace, "key", {"number": 1})
    calls = [store.later.get(namespace, "key"), store.later.search(namespace), store.later.get(namespace, "none")]
    results = store.together(calls)
    expect_no_errors(results, "calls after a batch that failed")
    expect_same([1, [1], None], [read(each) for each in results], "what they gave")
    batch = store.batch([GetOp(namespace, "key"), GetOp(namespace, "none")])
    expect_same([1, None], [read(each) for each in batch], "what a batch gave")


@rule(
    QUIRK,
    source="BaseStore.batch",
    officials={"InMemoryStore": "ValueError", "SqliteStore": "accepted", "PostgresStore": "accepted"},
)
def test_an_unknown_operation(store: StoreDrive, observe: Callable[[object], None]) -> None:
    """What a batch does with an operation of a kind that it does not know: raise, or take it without doing anything."""
    observe(outcome_of(lambda: store.batch(["no operation"])))  # type: ignore[list-item]
