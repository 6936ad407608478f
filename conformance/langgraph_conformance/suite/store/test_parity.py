"""The sync and the async methods of one store, and calls that are made at the same time."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from typing import Any

import pytest
from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, Op, PutOp, SearchOp
from langgraph.store.base.batch import AsyncBatchedBaseStore

from langgraph_conformance.capabilities import MODES
from langgraph_conformance.drive import StoreDrive
from langgraph_conformance.errors import Blocked
from langgraph_conformance.expect import expect_no_errors, expect_same, expect_true
from langgraph_conformance.rules import MUST, SHOULD, rule
from langgraph_conformance.session import Subject
from langgraph_conformance.suite.store.items import kept_or_refused, number_of, numbers_of, outcome_of, value_of, whole

NODES = "BaseStore: a sync node calls the sync methods, an async node the async ones"
TOGETHER = "nodes of one step, and the runs of all users, call one store at the same time"
BOTH_WAYS = pytest.mark.parametrize(
    ("writer", "reader"), [("sync", "async"), ("async", "sync")], ids=["sync-to-async", "async-to-sync"]
)


# --- what is offered

OPERATIONS: Mapping[str, Op] = {
    "GetOp": GetOp(("nowhere",), "key"),
    "SearchOp": SearchOp(("nowhere",)),
    "PutOp": PutOp(("nowhere",), "key", None),
    "ListNamespacesOp": ListNamespacesOp((MatchCondition("prefix", ("nowhere",)),)),
}


@rule(MUST, source=NODES)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_mode_that_is_offered_is_complete(store: StoreDrive, operation: str) -> None:
    """In a mode that a store offers, sync or async, it does every kind of operation.

    What is missing raises NotImplementedError in the node that needs it first.
    """
    expect_same("accepted", outcome_of(lambda: store.batch([OPERATIONS[operation]])), f"a batch with a {operation}")


@rule(SHOULD, source="SqliteStore.abatch: NotImplementedError")
def test_a_mode_that_is_not_offered_raises_not_implemented(store_subject: Subject) -> None:
    """In a mode that a store does not offer, its methods raise NotImplementedError, at once.

    A hang, or an error of the database, sends the caller looking for a fault elsewhere.
    """
    missing = [mode for mode in MODES if mode not in store_subject.findings.modes]
    outcomes = {mode: outcome_of(partial(store_subject.drive(mode).get, ("nowhere",), "key")) for mode in missing}
    expect_same(dict.fromkeys(missing, "NotImplementedError"), outcomes, "what get does in the mode that is missing")


CALLS: Mapping[str, Callable[[StoreDrive, str], Any]] = {
    "put": lambda store, root: store.call("put", namespace=(root,), key="new", value={"number": 2}, index=False),
    "get": lambda store, root: store.call("get", namespace=(root,), key="key", refresh_ttl=False),
    "search": lambda store, root: store.call(
        "search", (root,), query=None, filter={"number": 1}, limit=5, offset=0, refresh_ttl=False
    ),
    "delete": lambda store, root: store.call("delete", namespace=(root,), key="new"),
    "list_namespaces": lambda store, root: store.call(
        "list_namespaces", prefix=(root,), suffix=(root,), max_depth=1, limit=5, offset=0
    ),
    "batch": lambda store, root: store.call("batch", ops=[GetOp(namespace=(root,), key="key", refresh_ttl=False)]),
}


@rule(MUST, source="the signatures of BaseStore")
@pytest.mark.parametrize("method", CALLS)
def test_arguments_can_be_given_by_name(store: StoreDrive, root: str, method: str) -> None:
    """Every argument can be given by the name that it has in the base class, in the async methods as in the sync ones.

    Callers, and tools that work with any store, rely on the base class's signatures.
    """
    store.put((root,), "key", {"number": 1})
    outcome = outcome_of(lambda: CALLS[method](store, root))
    store.delete((root,), "new")
    expect_same("accepted", outcome, f"{store.name_of(method)} with its arguments by name")


# --- one instance, both modes


@rule(MUST, source=NODES, needs="parity")
@BOTH_WAYS
def test_what_one_mode_stores_the_other_reads(
    store_parity: dict[str, StoreDrive], root: str, writer: str, reader: str
) -> None:
    """An item, its replacement and its deletion are seen by the other mode at once, also if it had read it before.

    What a sync tool remembers is read by an async node of the same run; a cache or a connection of its own shows it the
    past.
    """
    one, other = store_parity[writer], store_parity[reader]
    seen = [value_of(other.get((root, "a"), "key"))]
    for number in (1, 2):
        one.put((root, "a"), "key", {"number": number, "text": "é"})
        seen.append(value_of(other.get((root, "a"), "key")))
    one.delete((root, "a"), "key")
    seen.append(value_of(other.get((root, "a"), "key")))
    expected = [None, {"number": 1, "text": "é"}, {"number": 2, "text": "é"}, None]
    expect_same(expected, seen, f"what {reader} reads before and after what {writer} writes")


ALIKE: Mapping[str, Callable[[StoreDrive, str], Any]] = {
    "get": lambda store, root: whole(store.get((root, "a"), "0")),
    "get-of-nothing": lambda store, root: store.get((root, "a"), "none"),
    "search": lambda store, root: [whole(each) for each in store.search((root,))],
    "filter": lambda store, root: [whole(each) for each in store.search((root,), filter={"even": True})],
    "filter-and-page": lambda store, root: [
        whole(each) for each in store.search((root,), filter={"even": True}, limit=2, offset=1)
    ],
    "limit": lambda store, root: [whole(each) for each in store.search((root,), limit=3)],
    "offset": lambda store, root: [whole(each) for each in store.search((root,), limit=3, offset=4)],
    "list": lambda store, root: store.list_namespaces(prefix=(root,)),
    "list-cut": lambda store, root: store.list_namespaces(prefix=(root,), max_depth=2),
    "list-suffix": lambda store, root: store.list_namespaces(prefix=(root,), suffix=("deep",)),
    "list-page": lambda store, root: store.list_namespaces(prefix=(root,), limit=1, offset=1),
    "batch": lambda store, root: [
        [whole(item) for item in each] if isinstance(each, list) else whole(each)
        for each in store.batch([SearchOp((root, "b")), GetOp((root, "a"), "2"), GetOp((root, "a"), "none")])
    ],
}


@rule(MUST, source=NODES, needs="parity")
@pytest.mark.parametrize("call", ALIKE)
def test_both_modes_read_the_same(store_parity: dict[str, StoreDrive], root: str, call: str) -> None:
    """Each async method gives what the sync one gives for the same arguments: items, order, pages, times.

    The two are often written twice, and one of them forgets a condition.
    """
    for number in range(8):
        namespace = (root, "a") if number % 2 == 0 else (root, "b", "deep")
        store_parity["sync"].put(namespace, str(number), {"number": number, "even": number % 3 == 0})
    read = {mode: ALIKE[call](store, root) for mode, store in store_parity.items()}
    expect_same(read["sync"], read["async"], f"what the async {call} gives, beside what the sync one gives")


@rule(MUST, source=NODES, needs="parity")
@BOTH_WAYS
def test_both_modes_write_the_same(store_parity: dict[str, StoreDrive], root: str, writer: str, reader: str) -> None:
    """Batches of one mode are seen by the other: puts, replacements and deletes.

    A batch that only one of the two commits is lost to the other.
    """
    one, other = store_parity[writer], store_parity[reader]
    for number in range(3):
        other.put((root,), str(number), {"number": number})
    puts = [PutOp((root,), "1", {"number": 10}), PutOp((root, "new"), "3", {"number": 3})]
    one.batch([PutOp((root,), "0", None), *puts])
    expect_same([2, 3, 10], numbers_of(other.search((root,))), f"what {reader} finds after a batch by {writer}")


@rule(MUST, source=NODES, needs="parity")
@BOTH_WAYS
def test_an_exception_in_one_mode_leaves_the_other_usable(
    store_parity: dict[str, StoreDrive], root: str, writer: str, reader: str
) -> None:
    """After a put that failed in one mode the other mode stores and reads as before.

    Both work on one connection: a transaction left open by one would block the other.
    """
    outcome_of(lambda: store_parity[writer].put((root, "bad"), "bad", {"field": object()}))
    store_parity[reader].put((root,), "key", {"number": 1})
    expect_same(1, number_of(store_parity[reader].get((root,), "key")), "what the other mode stored afterwards")
    outcome_of(lambda: store_parity[reader].delete((root, "bad"), "bad"))


@rule(SHOULD, source="AsyncSqliteStore, AsyncPostgresStore: InvalidStateError", needs=("async", "parity"))
@pytest.mark.parametrize("method", ["get", "put", "search", "batch"])
def test_a_sync_call_inside_the_loop_does_not_hang(store_subject: Subject, root: str, method: str) -> None:
    """A sync call that is made inside the event loop returns or raises, and does not wait for the loop for ever.

    A sync tool in an async application makes it by mistake: an exception says so, a deadlock stops the whole server.
    """
    store: StoreDrive = store_subject.drive("async")
    calls: dict[str, Callable[[], object]] = {
        "get": lambda: store.raw.get((root,), "key"),
        "put": lambda: store.raw.put((root,), "key", {"number": 1}),
        "search": lambda: store.raw.search((root,)),
        "batch": lambda: store.raw.batch([GetOp((root,), "key")]),
    }

    async def inside() -> object:
        return calls[method]()

    def attempt() -> None:
        with contextlib.suppress(Exception):
            store.run(inside)

    expect_same(False, store.hangs_in(attempt, 5.0), f"whether {method} inside the event loop hangs")
    with contextlib.suppress(Exception, Blocked):
        store_subject.drive("async").delete((root,), "key")


@rule(SHOULD, source="BaseStore, InMemoryStore, PostgresStore: no event loop is named", needs=("async", "parity"))
def test_a_store_made_outside_of_loops_works_in_several(store_subject: Subject, root: str) -> None:
    """A store that was made without an event loop works in each of several, one after the other.

    Scripts, tests and task queues call `asyncio.run` for each run, with one global store.
    """
    store: StoreDrive = store_subject.drive("sync")
    if store.opened.loop is not None or isinstance(store.raw, AsyncBatchedBaseStore):
        pytest.skip("the store is made inside an event loop and belongs to it")

    async def use(number: int) -> Any:
        await store.raw.aput((root,), "key", {"number": number})
        return number_of(await store.raw.aget((root,), "key"))

    found = [kept_or_refused(partial(asyncio.run, use(number))) for number in range(3)]
    store.delete((root,), "key")
    expect_same([0, 1, 2], found, "what was put and read in one loop after another")


# --- at the same time

MANY = 100


@rule(MUST, source=TOGETHER)
@pytest.mark.parametrize("places", ["one-namespace", "many-namespaces", "one-key"])
def test_puts_at_the_same_time_all_land(store: StoreDrive, root: str, places: str) -> None:
    """A hundred puts that are made at the same time, in threads or tasks, are all stored, each in its place.

    A namespace that is read, changed and written back as one document loses some of them.
    """
    shapes: dict[str, list[tuple[tuple[str, ...], str]]] = {
        "one-namespace": [((root,), str(number)) for number in range(MANY)],
        "many-namespaces": [((root, str(number % 10)), str(number)) for number in range(MANY)],
        "one-key": [((root, str(number)), "key") for number in range(MANY)],
    }
    where = shapes[places]
    results = store.together([store.later.put(*place, {"number": number}) for number, place in enumerate(where)])
    expect_no_errors(results, "puts at the same time")
    found = {(item.namespace, item.key): number_of(item) for item in store.search((root,), limit=2 * MANY)}
    expect_same({place: number for number, place in enumerate(where)}, found, "the number in each place")


@rule(MUST, source=TOGETHER)
def test_gets_at_the_same_time_are_answered_each(store: StoreDrive, root: str) -> None:
    """A hundred gets that are made at the same time each give their own item, those of a missing one None.

    Answers that are handed to the wrong caller show one user what is known of another.
    """
    where = [((root, str(number % 7)), str(number % 5)) for number in range(MANY)]
    items = {place: number for number, place in enumerate(dict.fromkeys(where)) if number % 3}
    for place, number in items.items():
        store.put(*place, {"number": number})
    results = store.together([store.later.get(*place) for place in where])
    expect_no_errors(results, "gets at the same time")
    expected = [items.get(place) for place in where]
    expect_same(expected, [number_of(each) for each in results], "the number that each get gave")


@rule(MUST, source=TOGETHER)
def test_puts_of_one_item_at_the_same_time_leave_one_of_them(store: StoreDrive, root: str) -> None:
    """Several puts of one new item at the same time all succeed, and one of them is what is stored, once.

    Two runs of a user remember the same thing: INSERT without an upsert lets one of them fail.
    """
    values = [{"number": number, "same": number} for number in range(20)]
    results = store.together([store.later.put((root,), "key", value) for value in values])
    expect_no_errors(results, "puts of one item at the same time")
    found = [each.value for each in store.search((root,))]
    expect_true(len(found) == 1 and found[0] in values, "the items found", "one of those that were put", found)


@rule(MUST, source=TOGETHER)
def test_different_calls_at_the_same_time_are_answered_each(store: StoreDrive, root: str) -> None:
    """Gets, searches and lists that are made at the same time as writes each give their own kind of result.

    A cursor that is shared by callers hands the rows of one to another. What is written here is there already.
    """
    for number in range(6):
        store.put((root, "ab"[number % 2]), str(number), {"number": number})
    store.put((root, "c"), "put", {"number": 100})
    calls = {
        "get 0": (store.later.get((root, "a"), "0"), 0),
        "get 5": (store.later.get((root, "b"), "5"), 5),
        "get nothing": (store.later.get((root, "b"), "0"), None),
        "search a": (store.later.search((root, "a")), [0, 2, 4]),
        "search b": (store.later.search((root, "b")), [1, 3, 5]),
        "search 3": (store.later.search((root,), filter={"number": 3}), [3]),
        "list": (store.later.list_namespaces(prefix=(root,), suffix=("a",)), [(root, "a")]),
        "list b": (store.later.list_namespaces(prefix=(root, "b")), [(root, "b")]),
        "put": (store.later.put((root, "c"), "put", {"number": 100}), None),
        "delete": (store.later.delete((root, "c"), "none"), None),
    }
    results = store.together([call for call, _ in calls.values()] * 5)
    expect_no_errors(results, "calls at the same time")
    found = [(name, summary(result)) for name, result in zip([*calls] * 5, results, strict=True)]
    expect_same([(name, expected) for name, (_, expected) in calls.items()] * 5, found, "what each call gave")


def summary(result: Any) -> Any:
    """A result in a form that can be compared: items as their numbers, sorted."""
    if isinstance(result, list):
        return sorted(each if isinstance(each, tuple) else number_of(each) for each in result)
    return number_of(result)


LIKE: Mapping[str, tuple[Any, Any]] = {
    "true-and-1": (True, 1),
    "false-and-0": (False, 0),
}


@rule(SHOULD, source="BaseStore.asearch; AsyncBatchedBaseStore takes equal calls for one, and True equals 1")
@pytest.mark.parametrize("pair", LIKE)
def test_equal_looking_calls_at_the_same_time_are_apart(store: StoreDrive, root: str, pair: str) -> None:
    """Searches for True and for 1 that are made at the same time give what each gives on its own.

    Calls that are collected and compared by equality are answered by one of them: so does LangGraph's
    AsyncBatchedBaseStore, and each store that is derived from it.
    """
    for key, value in zip("ab", LIKE[pair], strict=True):
        store.put((root,), key, {"field": value})
    filters = [{"field": value} for value in LIKE[pair]]
    alone = [sorted(each.key for each in store.search((root,), filter=filter)) for filter in filters]
    for order in (filters, filters[::-1]):
        results = store.together([store.later.search((root,), filter=filter) for filter in order])
        expect_no_errors(results, "searches at the same time")
        found = [sorted(each.key for each in result) for result in results]
        expect_same(alone if order is filters else alone[::-1], found, f"the keys found by each of {order}")


@rule(SHOULD, source="AsyncBatchedBaseStore collects unrelated calls")
@pytest.mark.parametrize("place", [0, 1, 3])
@pytest.mark.parametrize("bad", [{"field": object()}, 5], ids=["value", "no-mapping"])
def test_a_failing_call_does_not_fail_others_at_the_same_time(
    store: StoreDrive, root: str, place: int, bad: Any
) -> None:
    """A put that cannot be stored raises for its own caller, and not for those who call at the same time.

    One user's odd value would end the runs of others.
    """
    for key in ("key", "new", "bad"):
        store.put((root,), key, {"number": 1})
    later = store.later
    good = [later.put((root,), "new", {"number": 2}), later.get((root,), "key"), later.search((root, "x"))]
    results = store.together([*good[:place], later.put((root,), "bad", bad), *good[place:]])
    expect_no_errors(results[:place] + results[place + 1 :], "the calls beside the failing one")
    expect_same(2, number_of(store.get((root,), "new")), "what was put at the same time")


# --- what only tasks can do


@pytest.fixture
def async_store(store_subject: Subject, root: str) -> Iterator[StoreDrive]:
    """The store under test through its async drive; what is put below ``root`` is deleted.

    A store that is broken by a check is thrown away, so that the next one does not meet it.
    """
    store: StoreDrive = store_subject.drive("async")
    yield store
    try:
        store.batch([PutOp(each.namespace, each.key, None) for each in store.search((root,), limit=1000)])
    except Exception:
        store.broken = True


async def cancelled_after(ticks: int, call: Awaitable[Any]) -> None:
    """Begin a call as a task, let the loop go round a number of times, cancel it, and wait for its end."""
    task = asyncio.ensure_future(call)
    for _ in range(ticks):
        await asyncio.sleep(0)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError, Exception):
        await task


@rule(MUST, source="asyncio: tasks are cancelled by timeouts and by users who leave", needs="async")
@pytest.mark.parametrize("ticks", [0, 1, 2, 3, 8])
@pytest.mark.parametrize("method", ["get", "put", "search", "batch"])
def test_a_cancelled_caller_does_not_break_later_calls(
    async_store: StoreDrive, root: str, method: str, ticks: int
) -> None:
    """After a call was cancelled, at whatever moment, later calls return what they should.

    A background worker that dies with the caller who was cancelled, or a lock that he keeps, lets all later calls hang.
    """
    store = async_store.raw
    calls: dict[str, Callable[[], Awaitable[Any]]] = {
        "get": lambda: store.aget((root,), "key"),
        "put": lambda: store.aput((root,), "key", {"number": 1}),
        "search": lambda: store.asearch((root,)),
        "batch": lambda: store.abatch([GetOp((root,), "key"), PutOp((root,), "other", {"number": 1})]),
    }

    async def cancel() -> None:
        await cancelled_after(ticks, calls[method]())

    async_store.run(cancel)
    async_store.put((root,), "key", {"number": 2})
    expect_same(2, number_of(async_store.get((root,), "key")), "the item put after a call was cancelled")


@rule(MUST, source="asyncio: tasks are cancelled by timeouts and by users who leave", needs="async")
@pytest.mark.parametrize("ticks", [0, 1, 2, 3])
def test_a_cancelled_caller_does_not_take_others_along(async_store: StoreDrive, root: str, ticks: int) -> None:
    """Calls that wait at the same time as one that is cancelled are answered.

    They may be collected into one request: the others still want their part of it.
    """
    async_store.put((root,), "key", {"number": 1})
    store = async_store.raw

    async def cancel_one_of_three() -> list[Any]:
        others = [asyncio.ensure_future(store.aget((root,), "key"))]
        cancelled = asyncio.ensure_future(cancelled_after(ticks, store.aget((root,), "key")))
        others.append(asyncio.ensure_future(store.aput((root,), "other", {"number": 2})))
        others.append(asyncio.ensure_future(store.aget((root,), "key")))
        await cancelled
        return list(await asyncio.gather(*others))

    results = async_store.run(cancel_one_of_three)
    expect_same([1, None, 1], [number_of(each) for each in results], "what the calls beside the cancelled one gave")
    expect_same(2, number_of(async_store.get((root,), "other")), "what was put at the same time")


@rule(MUST, source="async methods are coroutines: what they promise is done when they return", needs="async")
@pytest.mark.parametrize("write", ["put", "replace", "delete", "batch"])
def test_an_awaited_write_is_done(async_store: StoreDrive, root: str, write: str) -> None:
    """What was awaited is seen by the next call of the same task, without waiting any longer.

    A node stores, and the next one reads; a write that goes on in the background is missed, or lost with the process.
    """
    async_store.put((root,), "key", {"number": 0})
    store = async_store.raw
    writes: dict[str, Callable[[], Awaitable[Any]]] = {
        "put": lambda: store.aput((root,), "new", {"number": 1}),
        "replace": lambda: store.aput((root,), "key", {"number": 1}),
        "delete": lambda: store.adelete((root,), "key"),
        "batch": lambda: store.abatch([PutOp((root,), "new", {"number": 1}), PutOp((root,), "key", None)]),
    }

    async def write_and_read() -> list[Any]:
        await writes[write]()
        return [number_of(await store.aget((root,), key)) for key in ("key", "new")]

    expected = {"put": [0, 1], "replace": [1, None], "delete": [None, None], "batch": [None, 1]}[write]
    expect_same(expected, async_store.run(write_and_read), "the items old and new, read by the same task")


TRIES = 8
BLOCKED = 0.015
"""Seconds for which a loop that stands still counts as blocked: in memory a call takes far less, and no other waits."""


@rule(SHOULD, source="async methods: the loop serves others while a call waits for the backend", needs="async")
@pytest.mark.parametrize("method", ["get", "put", "search"])
def test_a_waiting_call_does_not_block_the_loop(async_store: StoreDrive, root: str, method: str) -> None:
    """While an async call waits for the backend, other tasks of the loop go on.

    A sync client within an async method makes every user of a server wait for each of them. What is measured is the
    shortest standstill of several tries, so that a busy machine does no harm.
    """
    store = async_store.raw
    calls: dict[str, Callable[[], Awaitable[Any]]] = {
        "get": lambda: store.aget((root,), "key"),
        "put": lambda: store.aput((root,), "key", {"number": 1}),
        "search": lambda: store.asearch((root,)),
    }

    async def longest_standstill() -> float:
        call = asyncio.ensure_future(calls[method]())
        longest, last = 0.0, time.perf_counter()
        while not call.done():
            await asyncio.sleep(0.001)  # a loop that never sleeps keeps threads, in which the call may run, from theirs
            now = time.perf_counter()
            longest, last = max(longest, now - last), now
        await call
        return longest

    shortest = min(async_store.run(longest_standstill) for _ in range(TRIES))
    expect_true(
        shortest < BLOCKED,
        f"how long the loop stands still during each of {TRIES} calls of a{method}",
        f"less than {BLOCKED * 1000:g} ms in one of them",
        f"at least {shortest * 1000:.1f} ms in all",
    )
