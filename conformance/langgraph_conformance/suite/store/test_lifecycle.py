"""Setting up, closing, opening again: what was stored is there, what was deleted is not."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from langgraph.store.base import PutOp

from langgraph_conformance.configurations import INDEXED
from langgraph_conformance.drive import StoreDrive
from langgraph_conformance.embedders import vector_text
from langgraph_conformance.errors import Blocked
from langgraph_conformance.expect import expect_same
from langgraph_conformance.instances import StoreInstances
from langgraph_conformance.rules import MUST, QUIRK, SHOULD, rule
from langgraph_conformance.suite.store.items import let_time_pass, number_of, numbers_of, outcome_of, value_of, whole

DURABLE = "BaseStore: persistent key-value stores; what a call stored is stored when it returns"


@rule(SHOULD, source="SqliteStore.setup, PostgresStore.setup: can be called on each start")
def test_setup_can_be_called_again(store: StoreDrive, root: str) -> None:
    """`setup()` may be called on a storage that is set up: it raises nothing and keeps what is stored.

    Applications call it on every start, from every process.
    """
    if not hasattr(store.raw, "setup"):
        pytest.skip("the store has no setup()")
    store.put((root,), "key", {"number": 1})
    outcomes = [outcome_of(lambda: store.call_either("setup")) for _ in range(2)]
    expect_same(["accepted"] * 2, outcomes, "setup() of a store that is set up")
    expect_same(1, number_of(store.get((root,), "key")), "the item stored before")


class Left(Exception):
    """What an application raises within its `with` block."""


@rule(SHOULD, source="context manager protocol")
def test_an_error_within_the_context_is_not_swallowed(store_instances: StoreInstances) -> None:
    """An exception that is raised within `with store:` or `async with store:` leaves it.

    The application would go on as if it had done its work.
    """
    instance = store_instances.open()
    opened: Any = instance.raw
    enter = "__aenter__" if instance.mode == "async" else "__enter__"
    if not hasattr(type(instance.raw), enter):
        pytest.skip(f"the store has no {enter}")

    async def within_async() -> None:
        async with opened:
            raise Left

    def within() -> None:
        with opened:
            raise Left

    outcome = outcome_of(lambda: instance.run(within_async) if instance.mode == "async" else within())
    with contextlib.suppress(Exception):  # it is closed already, and need not bear that twice
        instance.opened.close()
    instance.broken = True
    expect_same("Left", outcome, f"an exception within the store's {enter}")


# --- opened again


@pytest.fixture
def emptied(store_instances: StoreInstances, root: str) -> Iterator[StoreInstances]:
    """Instances whose items below ``root`` are deleted in the end."""
    yield store_instances
    with contextlib.suppress(Exception, Blocked):
        last = store_instances.reopen()
        last.batch([PutOp(each.namespace, each.key, None) for each in last.search((root,), limit=1000)])


VALUE: Mapping[str, Any] = {
    "text": "é\U0001f600'\"\\ 7",
    "digits": "0012",
    "int": 2**53 + 1,
    "float": 1.0,
    "tenth": 0.1,
    "true": True,
    "none": None,
    "list": [1, [2, {"a": []}]],
    "dict": {"a.b": {"$c": ""}},
}
ITEMS: Mapping[tuple[tuple[str, ...], str], Mapping[str, Any]] = {
    (("a",), "key"): VALUE,
    (("a", "b"), "key"): {"number": 1},
    (("a/b",), "key"): {"number": 2},
    (("a:b", "c|d"), "k/e:y.json"): {"number": 3},
    (("A", " é "), ""): {"number": 4},
    (("%", "*"), "_"): {"number": 5},
    (("1", "01"), "1"): {"number": 6},
}


def everything(store: StoreDrive, root: str) -> dict[str, Any]:
    """All that a store tells of the items below ``root``."""
    places = [((root, *labels), key) for labels, key in ITEMS]
    found = store.search((root,), limit=1000)
    return {
        "get": {place: whole(store.get(*place)) for place in places},
        "search": {(each.namespace, each.key): whole(each) for each in found},
        "list": sorted(store.list_namespaces(prefix=(root,), limit=1000)),
    }


@rule(MUST, source=DURABLE, needs="reopen")
def test_items_are_the_same_after_opening_again(emptied: StoreInstances, root: str) -> None:
    """A store that is closed and opened again gives the same items: namespaces, keys, values and times.

    It is what a store is for: what is known of a user outlives the process.
    """
    store = emptied.open()
    for (labels, key), value in ITEMS.items():
        store.put((root, *labels), key, value)
    let_time_pass(store, root)
    store.put((root, "a", "b"), "key", {"number": 10})
    before = everything(store, root)
    expect_same(before, everything(emptied.restart(), root), "what the store tells after it was opened again")


def delete_and_put(store: StoreDrive, root: str) -> None:
    store.delete((root,), "1")
    store.put((root,), "1", {"number": 9})


# Each writes last, and leaves items with these numbers.
LAST: Mapping[str, tuple[Callable[[StoreDrive, str], Any], list[int]]] = {
    "put": (lambda store, root: store.put((root,), "new", {"number": 9}), [0, 1, 2, 9]),
    "replace": (lambda store, root: store.put((root,), "1", {"number": 9}), [0, 2, 9]),
    "delete": (lambda store, root: store.delete((root,), "1"), [0, 2]),
    "batch": (
        lambda store, root: store.batch(
            [
                *(PutOp((root, "new"), str(number), {"number": number}) for number in (7, 8, 9)),
                PutOp((root,), "0", None),
            ]
        ),
        [1, 2, 7, 8, 9],
    ),
    "delete-all": (lambda store, root: store.batch([PutOp((root,), str(number), None) for number in range(3)]), []),
    "delete-and-put": (delete_and_put, [0, 2, 9]),
}


@rule(MUST, source=DURABLE, needs="reopen")
@pytest.mark.parametrize("write", LAST)
@pytest.mark.parametrize("seen", ["closed", "beside"])
def test_the_last_write_is_seen_by_the_next_instance(emptied: StoreInstances, root: str, write: str, seen: str) -> None:
    """What was put, replaced or deleted last is so for an instance that is opened after the call returned.

    A write that is not committed shows only to the connection that made it: all is lost with the process, and what was
    deleted is back.
    """
    store = emptied.open()
    for number in range(3):
        store.put((root,), str(number), {"number": number})
    act, numbers = LAST[write]
    act(store, root)
    found = (emptied.restart() if seen == "closed" else emptied.reopen()).search((root,), limit=1000)
    expect_same(numbers, numbers_of(found), f"the numbers that the next instance finds after {write}")


@rule(MUST, source=DURABLE, needs="reopen")
def test_two_instances_see_each_other(emptied: StoreInstances, root: str) -> None:
    """Two open instances of one storage see each other's puts, replacements and deletes, whatever they read before.

    Applications run in several processes, and each user's requests come to any of them.
    """
    one = emptied.open()
    other = emptied.reopen()
    seen: list[Any] = [number_of(other.get((root,), "key"))]
    for writer, reader, number in ((one, other, 1), (other, one, 2), (one, other, 3)):
        writer.put((root,), "key", {"number": number})
        seen.append((number_of(reader.get((root,), "key")), numbers_of(reader.search((root,)))))
    one.delete((root,), "key")
    seen.append((value_of(other.get((root,), "key")), numbers_of(other.search((root,)))))
    expect_same([None, (1, [1]), (2, [2]), (3, [3]), (None, [])], seen, "what each sees of the other's writes")


@rule(MUST, source="Item.created_at: timestamp of item creation", needs="reopen")
def test_created_at_survives_opening_again(emptied: StoreInstances, root: str) -> None:
    """After the storage was opened again, a put over an item still keeps its `created_at`.

    A time that only the process knew makes everything look as if it was learned since the last deployment.
    """
    store = emptied.open()
    store.put((root,), "key", {"number": 1})
    first = store.get((root,), "key")
    let_time_pass(store, root)
    again = emptied.restart()
    again.put((root,), "key", {"number": 2})
    last = again.get((root,), "key")
    expect_same(first and first.created_at, last and last.created_at, "created_at after a put by the next instance")


@rule(MUST, source=DURABLE, needs=("reopen", "vectors"))
def test_vectors_are_kept_when_opening_again(emptied: StoreInstances, root: str) -> None:
    """What was indexed is found by a query after the storage was opened again, with the same score.

    An index that lives in the process is empty after each deployment, and agents remember nothing.
    """
    store = emptied.open(INDEXED.settings)
    store.put((root,), "near", {"text": vector_text(1, 0)})
    store.put((root,), "far", {"text": vector_text(0, 1)})
    store.put((root,), "none", {"text": vector_text(1, 0)}, index=False)
    before, after = ranks(store, root), ranks(emptied.restart(), root)
    expect_same(before, after, "keys and scores, before and after")
    expect_same([("near", 1.0), ("far", 0.0)], after, "keys and scores, of the items that were indexed")


def ranks(store: StoreDrive, root: str) -> list[tuple[str, float]]:
    """Key and score, rounded, of what a query finds by its vector."""
    found = store.search((root,), query=vector_text(1, 0))
    return [(each.key, abs(round(each.score, 3))) for each in found if each.score is not None]


@rule(SHOULD, source="BaseStore.delete; the right to be forgotten", needs="rows")
def test_deleting_leaves_no_rows(store_instances: StoreInstances, root: str) -> None:
    """What is deleted leaves nothing in the storage: no row, index entry or vector that holds its text.

    It was to be forgotten; what stays also grows for ever.
    """
    store = store_instances.open()
    store.put((root, "kept"), "key", {"text": "kept"})
    before = len(store_instances.rows())
    for number in range(3):
        store.put((root, "gone"), str(number), {"text": f"secret of {root}", "list": [number]})
        store.put((root, "gone"), str(number), {"text": f"newer secret of {root}"})
    for number in range(3):
        store.delete((root, "gone"), str(number))
    rows = store_instances.rows()
    left = [row for row in rows if f"secret of {root}" in repr(row)]
    store.delete((root, "kept"), "key")
    expect_same(
        {"rows": before, "with the text": []}, {"rows": len(rows), "with the text": left}, "the rows afterwards"
    )


@rule(QUIRK, source="how the target is opened", officials={"InMemoryStore": "separate"})
def test_what_two_instances_share(
    store: StoreDrive, store_instances: StoreInstances, root: str, observe: Callable[[object], None]
) -> None:
    """Whether two stores that were opened one after the other in the same way hold the same items.

    Over one database they do; stores in memory must not, or one test, or tenant, sees what another stored.
    """
    store.put((root,), "key", {"number": 1})
    observe("separate" if store_instances.open().get((root,), "key") is None else "shared")
