"""Opening, setting up, closing and opening again."""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT

from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.expect import expect_same, expect_true
from langgraph_conformance.fixtures import remove
from langgraph_conformance.instances import Instances
from langgraph_conformance.rules import MUST, SHOULD, rule
from langgraph_conformance.threads import (
    Stored,
    Thread,
    as_read,
    as_stored,
    by_channel,
    contents_of,
    expect_tuple,
    fresh_id,
    ids_of,
    writes_of,
)

RESTART = "the purpose of a saver: a run goes on after a restart, in another process"


def set_up(saver: SaverDrive) -> None:
    """Call the saver's own `setup()`, where it has one, as it was called when it was opened."""
    setup = getattr(saver.raw, "setup", None)
    if setup is None:
        pytest.skip("the saver has no setup()")
    if saver.opened.loop is None:
        setup()
        return

    async def inside() -> None:
        done = setup()
        if inspect.isawaitable(done):
            await done

    saver.run(inside)


def conversation(thread: Thread) -> list[Stored]:
    """A thread with a fork, a subgraph, inherited values, metadata and pending writes."""
    message = AIMessage("hello", id="m1", tool_calls=[{"name": "f", "args": {"x": 1}, "id": "c1"}])
    first = thread.put({"a": 1, "messages": [message], "none": None}, metadata={"user": {"name": "é"}})
    second = thread.put({**first.values, "a": 2}, parent=first, versions_seen={"node": {"a": "1"}})
    fork = thread.put({**first.values, "a": b"\x00"}, parent=first, updated_channels=["a"])
    inner = thread.put({"b": {1, 2}}, ns="child:1", metadata={"parents": {"": second.id}})
    thread.write(first, [("a", 2), ("messages", [message])], task="t2", path="~1")
    thread.write(first, [("a", 3)], task="t1", path="~2")
    thread.write(fork, [("a", 4), (INTERRUPT, "question")])
    thread.write(inner, [(ERROR, "E"), ("b", b"more")], task="t3")
    return [first, second, fork, inner]


@rule(MUST, source="BaseCheckpointSaver.get_tuple, list, put_writes; pregel/_loop.py")
@pytest.mark.parametrize("method", ["get_tuple", "list", "put_writes"])
def test_any_call_may_be_the_first(instances: Instances, method: str) -> None:
    """Reading, listing and storing writes each work as the first call on a saver that was just opened and set up.

    A server that has just started gets any request first: an operation that counts on another one to have made the
    tables fails until somebody happens to call that.
    """
    saver = instances.open()
    thread = instances.new_thread(saver)
    made = thread.make({"a": 1})
    calls: dict[str, Callable[[], object]] = {
        "get_tuple": lambda: saver.get_tuple(thread.config()),
        "list": lambda: ids_of(saver.list(thread.config(ns=None))) or None,
        "put_writes": lambda: thread.write(made, [("a", 1)]),
    }
    expect_same(None, calls[method](), f"{saver.name_of(method)} as the first call")


@rule(MUST, source="BaseCheckpointSaver.delete_thread", needs="delete_thread")
def test_a_delete_may_be_the_first_call(instances: Instances) -> None:
    """Deleting a thread works as the first call on a saver that was just opened and set up.

    A clean-up job opens a saver to delete threads, and calls nothing else.
    """
    saver = instances.open()
    saver.delete_thread(fresh_id())
    thread = instances.new_thread(saver)
    stored = thread.put({"a": 1})
    expect_tuple(stored, thread.latest(), "what is stored afterwards")


@rule(SHOULD, source="PostgresSaver.setup, SqliteSaver.setup")
def test_setting_up_again_changes_nothing(saver: SaverDrive, thread: Thread) -> None:
    """Calling `setup()` again raises nothing and keeps everything.

    Applications call it whenever they start.
    """
    conversation(thread)
    before = contents_of(saver.list(thread.config(ns=None)))
    set_up(saver)
    set_up(saver)
    expect_same(before, contents_of(saver.list(thread.config(ns=None))), "the thread")


@rule(SHOULD, source="context manager protocol")
def test_closing_one_saver_leaves_another_usable(saver: SaverDrive, thread: Thread, instances: Instances) -> None:
    """Closing a saver closes nothing that another one needs.

    Applications open several, for several graphs: a connection that they share without knowing ends with the first.
    """
    stored = thread.put({"a": [1]})
    other = instances.open()
    instances.new_thread(other).put({"a": 2})
    instances.close()
    after = thread.put({"a": [1], "b": 2}, parent=stored)
    expect_tuple(after, thread.latest(), "what is stored after another saver was closed")


@rule(SHOULD, source="context manager protocol")
def test_closed_savers_leave_no_threads_behind(instances: Instances) -> None:
    """Operating-system threads that a saver starts end when it is closed.

    A server that opens a saver for each request collects them until it stops, and a script does not end.
    """
    use(instances)  # starts what all savers of a process share
    before = threading.active_count()
    for _ in range(3):
        use(instances)
    ended = settles(lambda: threading.active_count() <= before + 2)
    expect_true(ended, "the threads after three more savers", f"no more than before ({before})", threading.enumerate())


def use(instances: Instances) -> None:
    """Open a saver, store and read something, close it."""
    saver = instances.open()
    thread = Thread(saver, fresh_id())
    thread.put({"a": 1})
    thread.latest()
    remove(saver, [thread])
    instances.close()


def settles(holds: Callable[[], bool], seconds: float = 5.0) -> bool:
    """Whether something holds at once or within a while."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture
def in_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Sets the local time zone of this process."""

    def move(zone: str) -> None:
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield move
    monkeypatch.undo()
    time.tzset()


@rule(MUST, source="Checkpoint.ts; StateSnapshot.created_at")
@pytest.mark.skipif(not hasattr(time, "tzset"), reason="this platform cannot change the time zone of a process")
def test_times_do_not_depend_on_the_local_time_zone(
    saver: SaverDrive, thread: Thread, in_zone: Callable[[str], None]
) -> None:
    """A checkpoint's time comes back as it was put, wherever the processes that store and read it are.

    It is shown as the time of each step. Read in one zone and written in another, it would be off by hours, and
    checkpoints of one thread would seem to be out of order.
    """
    times = ["2026-01-31T23:59:59.123456+00:00", "2026-07-01T00:00:00+09:00"]
    in_zone("Asia/Tokyo")
    stored = [thread.put({"a": text}, extra={"ts": text}) for text in times]
    in_zone("America/New_York")
    expect_same(times, [thread.read(each).checkpoint["ts"] for each in stored], "the times read")


@rule(MUST, source=RESTART, needs="reopen")
def test_a_reopened_saver_gives_the_same_tuples(instances: Instances) -> None:
    """After a restart everything reads as before: checkpoints, values, metadata, parents, pending writes, their order.

    What a saver keeps in its own memory (counters, flags, caches) is gone: a state that needs it is another one in the
    next process.
    """
    thread = instances.new_thread(instances.open())
    stored = conversation(thread)
    before = contents_of(thread.saver.list(thread.config(ns=None)))
    thread.saver = instances.restart()
    expect_same(before, contents_of(thread.saver.list(thread.config(ns=None))), "the thread after a restart")
    found = [as_read(thread.read(each)) for each in stored]
    expect_same([as_stored(each) for each in stored], found, "each checkpoint after a restart")
    expect_same(stored[2].id, thread.latest().checkpoint["id"], "the id of the latest checkpoint")


@rule(MUST, source=RESTART, needs="reopen")
def test_a_thread_is_gone_on_with_after_a_restart(instances: Instances) -> None:
    """After a restart new checkpoints inherit the values stored before, and versions go on growing.

    A run resumes from the last checkpoint and stores only what it changes, under versions that must be greater than
    all before: a counter that starts again hides the updates from the nodes that wait for them.
    """
    thread = instances.new_thread(instances.open())
    first = thread.put({"a": [1], "b": "b"})
    second = thread.put({"a": [2], "b": "b"}, parent=first)
    newest = max(second.checkpoint["channel_versions"].values())
    thread.saver = instances.restart()
    version = thread.saver.get_next_version(newest)
    after = thread.put({"a": [3], "b": "b"}, parent=second)
    expect_true(version > newest, "the next version after a restart", f"greater than {newest!r}", version)
    expect_same(as_stored(after), as_read(thread.latest()), "the checkpoint put after the restart")
    expect_same([after.id, second.id, first.id], thread.listed_ids(), "the ids listed")


@rule(MUST, source=f"{RESTART}; BaseCheckpointSaver.put_writes", needs="reopen")
def test_writes_repeated_after_a_restart_are_the_same_writes(instances: Instances) -> None:
    """Pending writes that are stored again after a restart keep the first regular value and take the last interrupt.

    A run that was cut off stores the writes of its tasks again when it resumes: twice the same write would be applied
    twice.
    """
    thread = instances.new_thread(instances.open())
    stored = thread.put({"a": 0})
    thread.write(stored, [("a", "first"), ("b", "first")])
    thread.write(stored, [(INTERRUPT, "first")])
    thread.saver = instances.restart()
    thread.write(stored, [("a", "second"), ("b", "second"), ("c", "second")])
    thread.write(stored, [(INTERRUPT, "second")])
    expected = [("task", INTERRUPT, "second"), ("task", "a", "first"), ("task", "b", "first"), ("task", "c", "second")]
    expect_same(expected, by_channel(writes_of(thread.read(stored))), "the pending writes")


@rule(MUST, source=f"{RESTART}; BaseCheckpointSaver.delete_thread", needs=("reopen", "delete_thread"))
def test_a_deleted_thread_is_gone_after_a_restart(instances: Instances) -> None:
    """A thread that was deleted is still gone after a restart.

    A delete that only empties a cache, or is never committed, gives the conversation back in the next process.
    """
    thread = instances.new_thread(instances.open())
    stored = conversation(thread)
    thread.saver.delete_thread(thread.id)
    thread.saver = instances.restart()
    expect_same(([], [({}, [])] * len(stored)), left_of(thread, stored), "ids listed, and values and writes put anew")


@rule(MUST, source=f"{RESTART}; BaseCheckpointSaver.delete_thread", needs=("reopen", "delete_thread"))
def test_a_delete_after_a_restart_removes_what_was_stored_before(instances: Instances) -> None:
    """A delete removes all of a thread that an earlier process stored.

    What a saver knows only from its own memory, such as a thread's namespaces, it cannot delete in the next process.
    """
    thread = instances.new_thread(instances.open())
    stored = conversation(thread)
    thread.saver = instances.restart()
    thread.saver.delete_thread(thread.id)
    expect_same(([], [({}, [])] * len(stored)), left_of(thread, stored), "ids listed, and values and writes put anew")


def left_of(thread: Thread, stored: list[Stored]) -> tuple[list[str], list[tuple[Any, Any]]]:
    """The ids listed, and what checkpoints put anew under the old ids and versions find of values and writes."""
    listed = thread.listed_ids(ns=None)
    for each in stored:
        thread.put({}, ns=each.ns, id=each.id, versions=each.checkpoint["channel_versions"], changed=())
    found = [thread.read(each) for each in stored]
    return listed, [(each.checkpoint["channel_values"], writes_of(each)) for each in found]


@rule(MUST, source=f"{RESTART}; several processes serve one thread in turn", needs="reopen")
def test_another_instance_sees_at_once_what_one_stores(instances: Instances) -> None:
    """What one instance stores, another one on the same storage reads as soon as the call has returned.

    Servers run in several processes: the next request of a conversation may reach another one, which must not go on
    from an older state. What only the writing connection can see is lost when its process ends.
    """
    one = instances.new_thread(instances.open())
    other = Thread(instances.reopen(), one.id)
    other.saver.get_tuple(other.config())
    stored: list[Stored] = []
    seen: list[Any] = []
    for count in range(3):
        stored.append(one.put({"a": [count], "b": "b"}, parent=stored[-1] if stored else None))
        one.write(stored[-1], [("a", count)])
        seen.append((as_read(other.latest()), writes_of(other.latest()), other.listed_ids(limit=1)))
    expected = [(as_stored(each), [("task", "a", count)], [each.id]) for count, each in enumerate(stored)]
    expect_same(expected, seen, "latest checkpoint, pending writes and first id listed, after each put")


@rule(MUST, source=f"{RESTART}; several processes serve one thread in turn", needs="reopen")
def test_two_instances_can_build_one_chain(instances: Instances) -> None:
    """Checkpoints that two instances put in turn form one chain, with the values that each inherits from the other.

    Servers run in several processes: the requests of one conversation reach them in turn.
    """
    one = instances.new_thread(instances.open())
    other = Thread(instances.reopen(), one.id)
    first = one.put({"a": [1], "b": "b"})
    second = other.put({"a": [1], "b": "new"}, parent=first)
    third = one.put({"a": [1], "b": "new", "c": 3}, parent=second)
    expect_same([[third.id, second.id, first.id]] * 2, [one.listed_ids(), other.listed_ids()], "the ids listed")
    expect_same([as_stored(third)] * 2, [as_read(one.latest()), as_read(other.latest())], "the latest checkpoint")


@rule(MUST, source=f"{RESTART}; BaseCheckpointSaver.delete_thread", needs=("reopen", "delete_thread"))
def test_another_instance_does_not_find_what_one_deleted(instances: Instances) -> None:
    """A thread that one instance deletes is gone for another one as well, also if that had read it before.

    Clean-up runs in a process of its own: a server that still answers from a cache gives the conversation back.
    """
    one = instances.new_thread(instances.open())
    stored = one.put({"a": 1})
    one.write(stored, [("a", 2)])
    other = Thread(instances.reopen(), one.id)
    other.latest()
    other.listed_ids()
    one.saver.delete_thread(one.id)
    found = {"by id": other.saver.get_tuple(stored.config), "latest": other.saver.get_tuple(other.config())}
    expect_same({"by id": None, "latest": None, "ids": []}, {**found, "ids": other.listed_ids()}, "the deleted thread")


@rule(MUST, source=RESTART, needs=("reopen", "delta_history"))
def test_delta_channels_are_rebuilt_after_a_restart(instances: Instances) -> None:
    """The history of a delta channel is the same after a restart.

    Its state is rebuilt from the history: what is missing there is missing from the conversation.
    """
    thread = instances.new_thread(instances.open())
    stored = [thread.put({"log": ["seed"]})]
    for step in range(3):
        thread.write(stored[-1], [("log", [step])])
        stored.append(thread.put({}, parent=stored[-1], changed=["log"]))
    thread.saver = instances.restart()
    found = thread.saver.get_delta_channel_history(stored[-1].config, ["log"])["log"]
    values = [write[2] for write in found["writes"]]
    expect_same((["seed"], [[0], [1], [2]]), (found.get("seed"), values), "seed and writes")


@rule(MUST, source="BaseCheckpointSaver.delete_thread", needs=("rows", "delete_thread"))
def test_a_deleted_thread_leaves_nothing_in_the_storage(instances: Instances) -> None:
    """After a thread was deleted the storage holds as many rows as before it was made.

    Rows that nothing refers to can be read by nobody but whoever gets hold of the storage, and grow it for ever.
    """
    thread = instances.new_thread(instances.open())
    Thread(thread.saver, fresh_id()).put({"a": 1})
    before = len(instances.rows())
    conversation(thread)
    thread.write(thread.make({"a": 1}, ns="never:put"), [("a", 1)])
    thread.saver.delete_thread(thread.id)
    expect_same(before, len(instances.rows()), "how many rows the storage holds")


@rule(SHOULD, source="BaseCheckpointSaver.prune", needs=("rows", "prune"))
def test_pruning_shrinks_the_storage(instances: Instances) -> None:
    """After pruning the storage holds no rows of the checkpoints that were deleted: as many as one checkpoint needs.

    Pruning is how storage is kept from growing: values and writes that stay behind make it useless.
    """
    saver = instances.open()
    long, short = instances.new_thread(saver), instances.new_thread(saver)
    empty = len(instances.rows())
    short.put({"count": 0})
    one = len(instances.rows()) - empty
    for stored in long.chain(5)[:-1]:
        long.write(stored, [("count", 1)])
    saver.prune([long.id])
    expect_same(empty + 2 * one, len(instances.rows()), "how many rows the storage holds")


@rule(SHOULD, source="BaseCheckpointSaver.delete_for_runs", needs=("rows", "delete_for_runs"))
def test_deleting_all_runs_leaves_nothing_in_the_storage(instances: Instances) -> None:
    """After all runs of a thread were deleted the storage holds as many rows as before it was made.

    Rows that nothing refers to grow the storage for ever.
    """
    saver = instances.open()
    thread, run = instances.new_thread(saver), fresh_id()
    before = len(instances.rows())
    first = thread.put({"a": [1]}, metadata={"run_id": run})
    thread.write(first, [("a", [2])])
    thread.put({"a": [2]}, parent=first, metadata={"run_id": run})
    saver.delete_for_runs([run])
    expect_same(before, len(instances.rows()), "how many rows the storage holds")
