"""Calls that are made at the same time, in threads or in tasks."""

from __future__ import annotations

import asyncio
import sys
import types
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from typing import Any

import pytest
from langgraph.checkpoint.serde.types import INTERRUPT

from langgraph_conformance.drive import Later, SaverDrive
from langgraph_conformance.expect import expect_no_errors, expect_same, expect_true
from langgraph_conformance.rules import MUST, QUIRK, SHOULD, rule
from langgraph_conformance.threads import (
    Stored,
    Thread,
    as_read,
    as_stored,
    by_channel,
    config_of,
    expect_tuple,
    ids_of,
    writes_of,
)

POOL = "pregel/_loop.py, pregel/_executor.py: pool threads or tasks store checkpoints and writes in the background"


@pytest.fixture(autouse=True)
def eager_switches() -> Iterator[None]:
    """Threads take turns often, so that a gap between two steps of a backend is met."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def put_later(saver: SaverDrive, made: Stored) -> Later:
    """The put of a made checkpoint, to be done together with other calls."""
    config = config_of(made.thread_id, made.ns, made.parent.id if made.parent else None)
    later: Later = saver.later.put(config, dict(made.checkpoint), dict(made.metadata), dict(made.new_versions))
    return later


def copy_of(made: Stored) -> Any:
    """A made checkpoint as an argument of put."""
    return dict(made.checkpoint)


def write_later(saver: SaverDrive, stored: Stored, writes: Sequence[tuple[str, Any]], task: str) -> Later:
    """The storing of a task's writes, to be done together with other calls."""
    later: Later = saver.later.put_writes(stored.config, list(writes), task, *saver.path_arguments(f"~{task}"))
    return later


@rule(MUST, source=POOL)
def test_puts_to_many_threads_at_once_all_land(saver: SaverDrive, new_thread: Callable[..., Thread]) -> None:
    """Checkpoints that are put to different threads at the same time are all stored, each in its own thread.

    One saver serves all requests of an application: a conversation that gets another one's state, or loses its own
    under load, is the worst that can happen to a user.
    """
    parents = [new_thread().put({"a": [count], "b": "b"}) for count in range(12)]
    made = [Thread(saver, each.thread_id).make({"a": [each.thread_id], "b": "b"}, parent=each) for each in parents]
    results = saver.together([put_later(saver, each) for each in made])
    expect_no_errors(results, "puts to different threads at once")
    found = {each.thread_id: saver.get_tuple(config_of(each.thread_id)) for each in made}
    expect_same(
        {each.thread_id: as_stored(each) for each in made},
        {id: each and as_read(each) for id, each in found.items()},
        "the latest checkpoint by thread",
    )


@rule(MUST, source=f"{POOL}; a graph and its subgraphs put to one thread at once")
@pytest.mark.parametrize("ids", ["same-id", "own-ids"])
def test_puts_to_many_namespaces_at_once_all_land(saver: SaverDrive, thread: Thread, ids: str) -> None:
    """Checkpoints that are put to different namespaces of one thread at the same time are all stored.

    Subgraphs that run in parallel put their checkpoints independently of one another and of their parent: a thread that
    is kept as one document, read, changed and written back, loses some of them.
    """
    thread.put({"a": ["root"]}, id=f"{thread.id}-0")
    namespaces = ["", *(f"child:{count}" for count in range(6)), "child:0|grand:1", "child:1|grand:1"]
    same = {"same-id": f"{thread.id}-1", "own-ids": None}[ids]
    made = [thread.make({"a": [ns], "b": "b"}, ns=ns, id=same) for ns in namespaces]
    results = saver.together([put_later(saver, each) for each in made])
    expect_no_errors(results, "puts to different namespaces at once")
    found = {each.ns: saver.get_tuple(each.config) for each in made}
    expect_same(
        {each.ns: as_stored(each) for each in made},
        {ns: each and as_read(each) for ns, each in found.items()},
        "the checkpoint by namespace",
    )


@rule(MUST, source="BaseCheckpointSaver.put: parent; two runs on one thread")
def test_puts_on_one_parent_at_once_are_forks(saver: SaverDrive, thread: Thread) -> None:
    """Checkpoints put on the same parent at the same time are all kept, and the latest is the one with the greatest id.

    A user who sends twice starts two runs on one thread: both histories must stay whole, or neither can be made sense
    of afterwards.
    """
    parent = thread.put({"a": [0], "b": "b"})
    made = [thread.make({"a": [count], "b": "b"}, parent=parent) for count in range(6)]
    results = saver.together([put_later(saver, each) for each in made])
    expect_no_errors(results, "puts on one parent at once")
    expect_same(
        {each.id: as_stored(each) for each in made},
        {each.id: as_read(thread.read(each)) for each in made},
        "the forks by id",
    )
    expect_same(max(each.id for each in made), thread.latest().checkpoint["id"], "the id of the latest checkpoint")


@rule(MUST, source=f"{POOL}; BaseCheckpointSaver.put_writes")
def test_writes_of_many_tasks_at_once_all_land(saver: SaverDrive, thread: Thread) -> None:
    """Pending writes that different tasks of one checkpoint store at the same time are all kept.

    Parallel nodes end at the same time. A task whose writes are lost runs again when the thread is resumed, with all of
    its side effects.
    """
    stored = thread.put({"a": 0})
    tasks = [f"task-{count:02}" for count in range(16)]
    writes = [("a", 1), ("b", [2]), ("a", 3), (INTERRUPT, "question")]
    results = saver.together([write_later(saver, stored, writes, task) for task in tasks])
    expect_no_errors(results, "put_writes of different tasks at once")
    expected = [(task, channel, value) for task in tasks for channel, value in writes]
    expect_same(by_channel(expected), by_channel(writes_of(thread.read(stored))), "the pending writes")


@rule(MUST, source=f"{POOL}; BaseCheckpointSaver.put_writes")
def test_the_same_writes_stored_at_once_are_stored_once(saver: SaverDrive, thread: Thread) -> None:
    """When a task's writes are stored several times at once, one of them wins at each position, for good.

    A task that is retried, or run by two workers, stores its writes twice: duplicates would be applied twice, and a
    winner that changes later would rewrite history.
    """
    stored = thread.put({"a": 0})
    results = saver.together([write_later(saver, stored, [("a", count), ("b", count)], "task") for count in range(8)])
    expect_no_errors(results, "put_writes of one task at once")
    found = by_channel(writes_of(thread.read(stored)))
    thread.write(stored, [("a", "late"), ("b", "late")], path="~task")
    expect_same([("task", "a"), ("task", "b")], [write[:2] for write in found], "the pending writes without values")
    expect_true(all(write[2] in range(8) for write in found), "their values", "some of those written", found)
    again = by_channel(writes_of(thread.read(stored)))
    expect_same(found, again, "the pending writes after they were stored once more")


@rule(MUST, source=f"{POOL}; BaseCheckpointSaver.put_writes: WRITES_IDX_MAP")
def test_interrupts_stored_at_once_leave_one(saver: SaverDrive, thread: Thread) -> None:
    """When a task's interrupt is stored several times at once, one of them is kept.

    Two open questions of one task could not be answered: each task has one place for its interrupt.
    """
    stored = thread.put({"a": 0})
    results = saver.together([write_later(saver, stored, [(INTERRUPT, count)], "task") for count in range(8)])
    expect_no_errors(results, "put_writes of one task's interrupt at once")
    found = writes_of(thread.read(stored))
    expect_same([("task", INTERRUPT)], [write[:2] for write in found], "the pending writes without values")
    expect_true(found[0][2] in range(8), "its value", "one of those written", found)


@rule(MUST, source=f"{POOL}; writes may be stored before their checkpoint is")
def test_a_checkpoint_and_its_writes_can_be_stored_at_once(saver: SaverDrive, thread: Thread) -> None:
    """A checkpoint and the pending writes of its tasks, stored at the same time, are all kept.

    Both are sent to the background, and either may arrive first: no reference between them may be demanded, and none of
    the two may wipe out the other.
    """
    made = thread.make({"a": [0], "b": "b"}, parent=thread.put({"a": [1], "b": "b"}))
    tasks = [f"task-{count}" for count in range(6)]
    writes = [write_later(saver, made, [("a", 1), ("b", 2)], task) for task in tasks]
    results = saver.together([*writes[:3], put_later(saver, made), *writes[3:]])
    expect_no_errors(results, "put and put_writes of one checkpoint at once")
    found = thread.read(made)
    expect_tuple(made, found, "the checkpoint")
    expected = [(task, channel, value) for task in tasks for channel, value in (("a", 1), ("b", 2))]
    expect_same(expected, by_channel(writes_of(found)), "its pending writes")


@rule(MUST, source="BaseCheckpointSaver.list; pregel/main.py: get_state_history")
def test_a_list_is_whole_while_others_write(saver: SaverDrive, thread: Thread) -> None:
    """A list that is read while others write has every checkpoint that was there before, once and in order, whole.

    History is shown while runs go on: a list that reads in pages by position repeats and skips checkpoints when new
    ones push the old ones on.
    """
    stored = thread.chain(8)
    made = [thread.make({"count": count}, parent=stored[-1]) for count in range(6)]
    lists = [saver.later.list(thread.config()) for _ in range(4)]
    writes = [write_later(saver, stored[0], [("count", 1)], f"task-{count}") for count in range(4)]
    puts = [put_later(saver, each) for each in made]
    results = saver.together([lists[0], *puts[:3], lists[1], *writes, lists[2], *puts[3:], lists[3]])
    expect_no_errors(results, "list, put and put_writes at once")
    listed = [found for found in results if isinstance(found, list)]
    ids = [ids_of(found) for found in listed]
    lacking = [[each.id for each in stored if each.id not in one] for one in ids]
    known = {each.id: as_stored(each) for each in [*stored, *made]}
    expect_same([sorted(set(one), reverse=True) for one in ids], ids, "the ids that each list gives")
    expect_same([[]] * len(lists), lacking, "the checkpoints from before that each list lacks")
    expect_same([[known[id] for id in one] for one in ids], [[*map(as_read, found)] for found in listed], "the items")


@rule(SHOULD, source="SqliteSaver.list, PostgresSaver.list: what one statement finds; InMemorySaver.list")
def test_a_list_goes_on_when_others_put_meanwhile(saver: SaverDrive, thread: Thread) -> None:
    """A list that is being gone through comes to its end, each checkpoint once and in order, when another one is put.

    A history may be shown slowly, item by item, while runs go on in other threads and tasks: a live dict or cursor
    breaks off, or gives a new checkpoint after older ones. A saver may let the put wait until the list has ended.
    """
    stored = thread.chain(4)
    late = thread.make({"count": 4}, parent=stored[-1])
    listed = listed_while(saver, thread, put_later(saver, late))
    older = [each.id for each in reversed(stored)]
    expect_same(sorted(set(listed), reverse=True), listed, "the ids listed, beside their order without repetitions")
    expect_same(older, [id for id in listed if id != late.id], "the ids listed of what was there before")
    expect_tuple(late, thread.latest(), "what was put meanwhile")


WAITED = 0.2
"""Seconds that a list waits after its first item for the call made meanwhile, which a saver may keep waiting."""


def listed_while(saver: SaverDrive, thread: Thread, later: Later) -> list[str]:
    """The ids that a list gives during whose iteration, after its first item, another thread or task makes a call."""
    return (
        saver.run(lambda: in_tasks(saver, thread, later)) if saver.mode == "async" else in_threads(saver, thread, later)
    )


def in_threads(saver: SaverDrive, thread: Thread, later: Later) -> list[str]:
    with ThreadPoolExecutor(1) as pool:
        items = iter(saver.raw.list(thread.config()))
        ids = [next(items).checkpoint["id"]]
        made = pool.submit(getattr(saver.raw, later.method), *later.arguments)
        wait([made], WAITED)
        ids += [each.checkpoint["id"] for each in items]
        made.result()
    return ids


async def in_tasks(saver: SaverDrive, thread: Thread, later: Later) -> list[str]:
    items = aiter(saver.raw.alist(thread.config()))
    ids = [(await anext(items)).checkpoint["id"]]
    made = asyncio.ensure_future(getattr(saver.raw, f"a{later.method}")(*later.arguments))
    await asyncio.wait([made], timeout=WAITED)
    ids += [each.checkpoint["id"] async for each in items]
    await made
    return ids


@rule(MUST, source="BaseCheckpointSaver.get_tuple; pregel/_loop.py: what a run starts from")
def test_a_read_is_whole_while_others_write(saver: SaverDrive, thread: Thread) -> None:
    """A checkpoint that is read while others are put is one that was put, whole: never one with values missing.

    A run that starts at that moment would take the missing values for empty channels, and store that.
    """
    first = thread.put({"a": [0], "b": "b"})
    made = [thread.make({"a": [count], "b": f"b{count}", "c": {"c": count}}, parent=first) for count in range(8)]
    calls = [call for each in made for call in (put_later(saver, each), saver.later.get_tuple(thread.config()))]
    results = saver.together(calls)
    expect_no_errors(results, "put and get_tuple at once")
    known = {each.id: as_stored(each) for each in [first, *made]}
    found = [as_read(each) for each in results[1::2]]
    expect_same([known[each["checkpoint"]["id"]] for each in found], found, "the checkpoints read meanwhile")


@rule(MUST, source=POOL)
def test_reads_at_once_get_their_own_answers(saver: SaverDrive, new_thread: Callable[..., Thread]) -> None:
    """Reads of different threads at the same time give each caller what it asked for.

    One saver serves all requests of an application: answers that change places show one user the conversation of
    another.
    """
    stored = [new_thread().put({"a": [count]}) for count in range(8)]
    tuples = saver.together([saver.later.get_tuple(config_of(each.thread_id)) for each in stored])
    lists = saver.together([saver.later.list(config_of(each.thread_id)) for each in stored])
    expect_no_errors([*tuples, *lists], "get_tuple and list at once")
    expected = [as_stored(each) for each in stored]
    expect_same(expected, [each and as_read(each) for each in tuples], "what get_tuple gave")
    expect_same([[each] for each in expected], [[*map(as_read, found)] for found in lists], "what list gave")


@rule(MUST, source=f"{POOL}; BaseCheckpointSaver.delete_thread", needs="delete_thread")
def test_a_delete_leaves_what_others_store_meanwhile(saver: SaverDrive, new_thread: Callable[..., Thread]) -> None:
    """While one thread is deleted, puts and writes to other threads go on and are kept.

    Clean-up runs beside live conversations.
    """
    doomed, others, begun = new_thread(), [new_thread() for _ in range(4)], [new_thread() for _ in range(4)]
    old = doomed.chain(4)
    parents = [each.put({"a": [0]}) for each in others]
    made = [each.make({"a": [1]}, parent=parent) for each, parent in zip(others, parents, strict=True)]
    made += [each.make({"a": [2]}) for each in begun]
    puts = [put_later(saver, each) for each in made]
    writes = [write_later(saver, each, [("a", 2)], "task") for each in parents]
    results = saver.together([saver.later.delete_thread(doomed.id), *puts[::2], *writes, *puts[1::2]])
    expect_no_errors(results, "delete_thread, put and put_writes at once")
    latest = [as_read(each.latest()) for each in (*others, *begun)]
    expect_same([as_stored(each) for each in made], latest, "the latest checkpoints of the other threads")
    found = [writes_of(Thread(saver, each.thread_id).read(each)) for each in parents]
    expect_same([[("task", "a", 2)]] * 4, found, "the other threads' pending writes")
    expect_same([], [each.id for each in old if saver.get_tuple(each.config)], "what is left of the deleted thread")


@rule(MUST, source=f"{POOL}; an exception of one call is raised to its caller")
def test_a_call_that_fails_harms_no_other(saver: SaverDrive, new_thread: Callable[..., Thread]) -> None:
    """When one of several calls fails, because its value cannot be serialised, the others succeed.

    Calls that share a transaction or a pipeline with it would fail as well, or be rolled back without a word.
    """
    threads = [new_thread() for _ in range(6)]
    made = [each.make({"a": [each.id]}) for each in threads]
    # a generator, which no serialiser takes
    bad = [new_thread().make({"a": (each for each in range(1))}) for _ in range(2)]
    calls = [put_later(saver, each) for each in (*made[:3], bad[0], *made[3:], bad[1])]
    results = saver.together(calls)
    expect_no_errors([*results[:3], *results[4:7]], "the puts beside those that fail")
    expect_same([as_stored(each) for each in made], [as_read(each.latest()) for each in threads], "what they stored")
    after = threads[0].put({"a": ["after"]}, parent=made[0])
    expect_tuple(after, threads[0].latest(), "what is stored afterwards")


@rule(MUST, source="pregel/_algo.py: versions are made while writes are stored in the background")
def test_versions_can_be_made_in_many_threads(saver: SaverDrive, thread: Thread) -> None:
    """`get_next_version` gives a greater version to each of many threads that call it at the same time.

    Runs on all threads of an application share the saver: a version that does not grow hides an update from the nodes
    that wait for it.
    """
    current = saver.get_next_version(saver.get_next_version(None))
    with ThreadPoolExecutor(8) as pool:
        versions = list(pool.map(lambda _: saver.raw.get_next_version(current, None), range(80)))
    expect_same([], [each for each in versions if not each > current], f"the versions not greater than {current!r}")


SUSPENSIONS = (0, 1, 2, 3, 5, 8, 13)
"""At which of its waits a call is cancelled, from 0 on."""


@rule(MUST, source="BaseCheckpointSaver.aput; pregel/_loop.py: a cancelled run", needs="async")
def test_a_cancelled_put_is_whole_or_absent(async_saver: SaverDrive, async_thread: Thread) -> None:
    """A checkpoint whose put was cancelled at any point is either complete or not there at all.

    A request that is aborted cancels its run wherever it is: half a checkpoint would be the latest of the thread, and
    each later run would start from it.
    """
    parent = async_thread.put({"a": [0], "b": "b"})
    values = {"a": [1], "b": "b", "c": {"c": "c" * 200}}
    made = [async_thread.make(values, parent=parent) for _ in SUSPENSIONS]
    left = list(made)
    raw: Any = async_saver.raw

    def put() -> Awaitable[object]:
        config = config_of(parent.thread_id, parent.ns, parent.id)
        one = left[0]
        result: Awaitable[object] = raw.aput(config, copy_of(one), dict(one.metadata), dict(one.new_versions))
        return result

    def look() -> None:
        cancelled_one = left.pop(0)
        found = async_saver.get_tuple(cancelled_one.config)
        expect_same(
            found and as_stored(cancelled_one), found and as_read(found), "the checkpoint whose put was cancelled"
        )
        expect_tuple(parent, async_thread.read(parent), "its parent")
        latest = async_thread.latest().checkpoint["id"]
        known = [parent.id, *(each.id for each in made)]
        expect_true(latest in known, "the latest checkpoint", "a cancelled one or its parent", latest)

    cancel_and_go_on(async_saver, put, look)


@rule(MUST, source="pregel/_loop.py: a cancelled run leaves the saver to the next", needs="async")
@pytest.mark.parametrize("method", ["aput", "aput_writes", "aget_tuple", "alist", "adelete_thread"])
def test_a_saver_works_on_after_a_cancelled_call(async_saver: SaverDrive, async_thread: Thread, method: str) -> None:
    """After a call was cancelled at any point the saver stores and reads as before.

    A request that is aborted cancels its run wherever it is. A lock that stays locked or a connection that is left in
    the middle of a command stops every other conversation of the server.
    """
    stored = async_thread.chain(3)[-1]
    made = async_thread.make({"count": 3}, parent=stored)
    raw: Any = async_saver.raw
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "aput": lambda: raw.aput(stored.config, copy_of(made), dict(made.metadata), dict(made.new_versions)),
        "aput_writes": lambda: raw.aput_writes(stored.config, [("count", 1), ("count", 2)], "cancelled"),
        "aget_tuple": lambda: raw.aget_tuple(async_thread.config()),
        "alist": lambda: listed(raw.alist(async_thread.config())),
        "adelete_thread": lambda: raw.adelete_thread(f"{async_thread.id}-unknown"),
    }

    def go_on() -> None:
        after = async_thread.put({"count": "after"}, parent=stored)
        async_thread.write(after, [("count", "after")])
        found = async_thread.latest()
        expect_tuple(after, found, f"what is stored after {method} was cancelled")
        expect_same([("task", "count", "after")], writes_of(found), "its pending writes")

    cancel_and_go_on(async_saver, calls[method], go_on)


def cancel_and_go_on(saver: SaverDrive, call: Callable[[], Awaitable[object]], go_on: Callable[[], None]) -> None:
    """Cancel a call at each of its waits in turn, and go on each time; a saver that this breaks is thrown away."""

    def attempt() -> None:
        for suspension in SUSPENSIONS:
            saver.run(partial(cancelled, call, suspension))
            go_on()

    try:
        hangs = saver.hangs_in(attempt, 10.0)
        expect_true(not hangs, "the calls after one that was cancelled", "an answer", "none within 10 s")
    except BaseException:
        saver.broken = True
        raise


async def listed(items: Any) -> list[Any]:
    """The items of an async iterator."""
    return [item async for item in items]


async def cancelled(call: Callable[[], Awaitable[object]], suspension: int = sys.maxsize) -> int:
    """Make a call in a task that is cancelled when it waits for the ``suspension``-th time, from 0 on, if it does.

    Returns:
        How often it waited.
    """
    waits: list[object] = []
    await asyncio.gather(asyncio.ensure_future(_task(call, suspension, waits)), return_exceptions=True)
    return len(waits)


async def _task(call: Callable[[], Awaitable[object]], suspension: int, waits: list[object]) -> None:
    async def whole() -> None:
        await call()

    await _stepped(whole(), suspension, waits)


@types.coroutine
def _stepped(call: Coroutine[Any, Any, None], suspension: int, waits: list[object]) -> Generator[Any, Any, None]:
    resume: Callable[[], Any] = partial(call.send, None)
    while True:
        try:
            waits.append(resume())
        except StopIteration:
            return
        task = asyncio.current_task()
        if len(waits) == suspension + 1 and task is not None:
            task.cancel()
        try:
            yield waits[-1]
            resume = partial(call.send, None)
        except BaseException as error:  # goes to the call, which may wait once more
            resume = partial(call.throw, error)


@rule(
    QUIRK,
    source="asyncio: one loop serves all requests of an application",
    needs="async",
    officials={
        "InMemorySaver": "never waits",
        "AsyncSqliteSaver": "waits in each call",
        "AsyncPostgresSaver": "waits in each call",
    },
)
def test_whether_async_calls_let_other_tasks_run(
    async_saver: SaverDrive, async_thread: Thread, observe: Callable[[object], None]
) -> None:
    """Whether the async methods let other tasks run while they work, or keep the event loop to themselves."""
    stored = async_thread.put({"a": 1})
    made = async_thread.make({"a": 2}, parent=stored)
    raw: Any = async_saver.raw
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "aput": lambda: raw.aput(stored.config, copy_of(made), dict(made.metadata), dict(made.new_versions)),
        "aput_writes": lambda: raw.aput_writes(stored.config, [("a", 1)], "task"),
        "aget_tuple": lambda: raw.aget_tuple(async_thread.config()),
        "alist": lambda: listed(raw.alist(async_thread.config())),
    }
    waits = {name: async_saver.run(partial(cancelled, call)) for name, call in calls.items()}
    blocking = [name for name, count in waits.items() if not count]
    some = f"never waits in {', '.join(blocking)}" if blocking else "waits in each call"
    observe("never waits" if len(blocking) == len(calls) else some)
