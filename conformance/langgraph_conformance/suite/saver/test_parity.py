"""The sync and the async methods of one saver."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.serde.types import INTERRUPT

from langgraph_conformance.capabilities import MODES
from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.expect import expect_same, expect_true
from langgraph_conformance.rules import MUST, SHOULD, rule
from langgraph_conformance.session import Subject
from langgraph_conformance.threads import (
    Stored,
    Thread,
    as_read,
    as_stored,
    by_channel,
    config_of,
    contents_of,
    fresh_id,
    ids_of,
    writes_of,
)

ENGINE = "pregel/_loop.py: a sync run calls the sync methods, an async run the async ones"
CORE = ("put", "put_writes", "get_tuple", "list")
BOTH_WAYS = pytest.mark.parametrize(
    ("writer", "reader"), [("sync", "async"), ("async", "sync")], ids=["sync-to-async", "async-to-sync"]
)
VALUES: Mapping[str, Any] = {
    "text": "é",
    "number": 1.5,
    "none": None,
    "bytes": b"\x00\xff",
    "set": {1, 2},
    "time": datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=timezone.utc),
    "messages": [AIMessage("hello", id="m1", tool_calls=[{"name": "f", "args": {"x": 1}, "id": "c1"}])],
}


@rule(MUST, source=ENGINE)
@pytest.mark.parametrize("method", [*CORE, "delete_thread"])
def test_a_mode_that_is_offered_is_complete(saver: SaverDrive, method: str) -> None:
    """A saver that stores and reads in a mode, sync or async, implements the other operations in it as well.

    A graph that is invoked in this mode calls them all: one that is missing, or raises NotImplementedError, ends the
    run half-way. Deleting a thread is what applications need when a user asks for it.
    """
    name = saver.name_of(method)
    expect_true(name not in saver.missing, name, "an implementation", "NotImplementedError")


@rule(SHOULD, source=ENGINE)
def test_a_mode_is_offered_as_a_whole_or_not_at_all(subject: Subject) -> None:
    """In a mode in which a saver does not both store and read checkpoints, none of its operations works.

    Half a mode is found out late: a graph that is invoked in it starts, stores something, and ends with an exception.
    """
    working = {
        mode: [name for name in CORE if outcome(call_of(subject, mode, name)) == "works"]
        for mode in MODES
        if mode not in subject.findings.modes
    }
    nothing: dict[str, list[str]] = {mode: [] for mode in working}
    expect_same(nothing, working, "the operations that work in a mode without put or get_tuple")


@rule(SHOULD, source="BaseCheckpointSaver: methods that are not implemented raise NotImplementedError")
def test_a_mode_that_is_not_offered_raises_not_implemented(subject: Subject) -> None:
    """In a mode that a saver does not offer its methods raise NotImplementedError, at once.

    That is how the base class says that a mode is missing, and what callers look for. A hang, or an error of the
    database, sends them looking for a fault elsewhere.
    """
    outcomes = {
        f"{mode} {name}": outcome(call_of(subject, mode, name))
        for mode in MODES
        if mode not in subject.findings.modes
        for name in (*CORE, "delete_thread")
    }
    expect_same(dict.fromkeys(outcomes, "NotImplementedError"), outcomes, "what the methods of the missing mode do")


def call_of(subject: Subject, mode: str, method: str) -> Callable[[], object]:
    """A call of ``method`` in a mode that is not offered."""
    saver: SaverDrive = subject.drive(mode)
    made = Thread(saver, fresh_id()).make({"a": 1})
    config = config_of(made.thread_id, "")
    calls: dict[str, Callable[[], object]] = {
        "put": lambda: saver.put(config, made.checkpoint, made.metadata, made.new_versions),
        "put_writes": lambda: saver.put_writes(made.config, [("a", 1)], "task"),
        "get_tuple": lambda: saver.get_tuple(config),
        "list": lambda: saver.list(config),
        "delete_thread": lambda: saver.delete_thread(made.thread_id),
    }
    return calls[method]


def outcome(call: Callable[[], object]) -> str:
    """``works``, or the name of the exception that the call raises."""
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return "works"


@rule(MUST, source="the signatures of BaseCheckpointSaver")
@pytest.mark.parametrize("method", ["put", "put_writes", "get_tuple", "get", "list"])
def test_arguments_can_be_given_by_name(saver: SaverDrive, thread: Thread, method: str) -> None:
    """Every argument can be given by the name that it has in the base class, in the async methods as in the sync ones.

    Callers rely on the base class's signatures: the engine passes the conditions of a list by name, and tools that work
    with any saver do so everywhere.
    """
    made = thread.make({"a": 1})
    config = config_of(thread.id, "")
    calls: dict[str, Callable[[], object]] = {
        "put": lambda: saver.call(
            "put",
            config=config,
            checkpoint=dict(made.checkpoint),
            metadata=dict(made.metadata),
            new_versions=dict(made.new_versions),
        ),
        "put_writes": lambda: saver.call(
            "put_writes", config=made.config, writes=[("a", 1)], task_id="task", task_path="path"
        ),
        "get_tuple": lambda: saver.call("get_tuple", config=config),
        "get": lambda: saver.call("get", config=config),
        "list": lambda: saver.collect(
            "list", config=config, filter={"step": 1}, before=config_of(thread.id, "", made.id), limit=1
        ),
    }
    expect_same("works", outcome(calls[method]), f"{saver.name_of(method)} with its arguments by name")


@rule(MUST, source="the signatures of BaseCheckpointSaver", needs="delete_thread")
def test_the_thread_to_delete_can_be_given_by_name(saver: SaverDrive, thread: Thread) -> None:
    """`delete_thread` takes its argument as `thread_id`.

    Callers rely on the base class's signatures.
    """
    stored = thread.put({"a": 1})
    saver.call("delete_thread", thread_id=thread.id)
    expect_same(None, saver.get_tuple(stored.config), "the thread deleted by name")


@rule(MUST, source=ENGINE, needs="parity")
@BOTH_WAYS
@pytest.mark.parametrize("read", ["latest", "by-id", "list"])
def test_what_one_mode_stores_the_other_reads(
    parity_threads: dict[str, Thread], writer: str, reader: str, read: str
) -> None:
    """A checkpoint with its pending writes reads the same in the mode that did not store it, objects included.

    A conversation that one request began with `ainvoke` goes on with `invoke` in the next, or is looked at by
    `get_state` in a sync handler.
    """
    first = parity_threads[writer].put(VALUES, metadata={"user": "u"})
    stored = parity_threads[writer].put({**VALUES, "text": "new"}, parent=first)
    writes = [("messages", VALUES["messages"]), ("set", {3})]
    parity_threads[writer].write(stored, [*writes, (INTERRUPT, "question")], path="~1")
    saver, thread = parity_threads[reader].saver, parity_threads[reader]
    reads: dict[str, Callable[[], Any]] = {
        "latest": thread.latest,
        "by-id": lambda: thread.read(stored),
        "list": lambda: saver.list(thread.config())[0],
    }
    found = reads[read]()
    expected = by_channel([("task", INTERRUPT, "question"), *(("task", channel, value) for channel, value in writes)])
    expect_same(as_stored(stored), as_read(found), f"what {writer} put and {reader} reads")
    expect_same(expected, by_channel(writes_of(found)), f"the pending writes that {writer} put and {reader} reads")


@rule(MUST, source=ENGINE, needs="parity")
@BOTH_WAYS
def test_one_mode_sees_at_once_what_the_other_stored(
    parity_threads: dict[str, Thread], writer: str, reader: str
) -> None:
    """What a mode has read before does not keep it from seeing what the other one stores afterwards.

    The two modes work on one storage: a cache of their own would make one of them go on from an old state.
    """
    one, other = parity_threads[writer], parity_threads[reader]
    seen: list[Any] = []
    stored: list[Stored] = []
    other.saver.get_tuple(other.config())
    for count in range(3):
        stored.append(one.put({"a": count}, parent=stored[-1] if stored else None))
        one.write(stored[-1], [("a", count)])
        latest = other.latest()
        seen.append((latest.checkpoint["id"], writes_of(latest), other.listed_ids(limit=1)))
    expected = [(each.id, [("task", "a", count)], [each.id]) for count, each in enumerate(stored)]
    expect_same(expected, seen, f"latest id, pending writes and first id listed by {reader} after each put by {writer}")


@rule(MUST, source=ENGINE, needs="parity")
@BOTH_WAYS
def test_both_modes_can_build_one_chain(parity_threads: dict[str, Thread], writer: str, reader: str) -> None:
    """Checkpoints that the two modes put in turn form one chain, with the values that each inherits from the other.

    Channel values are stored once, by the mode that changed them, and inherited under their version.
    """
    one, other = parity_threads[writer], parity_threads[reader]
    first = one.put({"a": [1], "b": "b"})
    second = other.put({"a": [1], "b": "new"}, parent=first)
    third = one.put({"a": [1], "b": "new", "c": 3}, parent=second)
    expected = {(each.ns, each.id): as_stored(each)["checkpoint"] for each in (third, second, first)}
    found = {key: each["checkpoint"] for key, each in contents_of(other.saver.list(other.config())).items()}
    expect_same(expected, found, "the chain")
    expect_same([third.id, second.id, first.id], other.listed_ids(), "the ids listed")


@rule(MUST, source=f"{ENGINE}; BaseCheckpointSaver.put_writes", needs="parity")
@BOTH_WAYS
def test_repeated_writes_meet_across_modes(parity_threads: dict[str, Thread], writer: str, reader: str) -> None:
    """Pending writes that the other mode repeats are the same writes: regular ones stay, an interrupt is replaced.

    A run that failed under `ainvoke` is resumed by `invoke`, and stores the writes of its tasks again.
    """
    stored = parity_threads[writer].put({"a": 0})
    parity_threads[writer].write(stored, [("a", "first"), ("b", "first")])
    parity_threads[writer].write(stored, [(INTERRUPT, "first")])
    parity_threads[reader].write(stored, [("a", "second"), ("b", "second"), ("c", "second")])
    parity_threads[reader].write(stored, [(INTERRUPT, "second")])
    expected = [("task", INTERRUPT, "second"), ("task", "a", "first"), ("task", "b", "first"), ("task", "c", "second")]
    expect_same(expected, by_channel(writes_of(parity_threads[writer].read(stored))), "the pending writes")


@rule(MUST, source="BaseCheckpointSaver.delete_thread, adelete_thread", needs=("parity", "delete_thread"))
@BOTH_WAYS
def test_what_one_mode_deletes_the_other_does_not_find(
    parity_threads: dict[str, Thread], writer: str, reader: str
) -> None:
    """A thread that one mode deletes is gone for the other one as well, also if that had read it before.

    Deleting happens in another part of an application than running: one mode that still answers gives the conversation
    back.
    """
    stored = parity_threads[reader].put({"a": 1})
    parity_threads[reader].write(stored, [("a", 2)])
    parity_threads[reader].read(stored)
    parity_threads[writer].saver.delete_thread(stored.thread_id)
    saver = parity_threads[reader].saver
    found = {
        "by id": saver.get_tuple(stored.config),
        "latest": saver.get_tuple(config_of(stored.thread_id)),
        "ids": ids_of(saver.list(config_of(stored.thread_id, None))),
    }
    expect_same({"by id": None, "latest": None, "ids": []}, found, f"what {reader} reads of the deleted thread")


@rule(MUST, source=ENGINE, needs="parity")
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"limit": 2},
        {"limit": 0},
        {"filter": {"even": True}},
        {"filter": {"even": True}, "limit": 1},
        {"filter": {"source": "nothing"}},
        {"before": 3},
        {"before": 3, "filter": {"even": True}, "limit": 1},
        {"ns": None},
        {"ns": "child"},
        {"ns": "", "checkpoint_id": 2},
    ],
    ids=lambda arguments: "-".join(f"{key}={value}" for key, value in arguments.items()) or "all",
)
def test_both_modes_list_the_same(parity_threads: dict[str, Thread], arguments: Mapping[str, Any]) -> None:
    """`list` and `alist` give the same checkpoints in the same order for the same conditions.

    The two are often written twice, and one of them forgets a condition: history pages and clean-up jobs then differ
    with the mode they happen to run in.
    """
    stored: list[Stored] = []
    for count in range(5):
        parent = stored[-1] if stored else None
        stored.append(parity_threads["sync"].put({"a": count}, parent=parent, metadata={"even": count % 2 == 0}))
    parity_threads["sync"].put({"a": 9}, ns="child")
    conditions = {key: arguments[key] for key in ("filter", "limit") if key in arguments}
    before = {"before": stored[arguments["before"]].config} if "before" in arguments else {}
    chosen = {"checkpoint_id": stored[arguments["checkpoint_id"]].id} if "checkpoint_id" in arguments else {}
    ids = {
        mode: ids_of(thread.saver.list(thread.config(ns=arguments.get("ns", ""), **chosen), **conditions, **before))
        for mode, thread in parity_threads.items()
    }
    expect_same(ids["sync"], ids["async"], "the ids that alist gives, beside those that list gives")


@rule(MUST, source="BaseCheckpointSaver.get_delta_channel_history", needs=("parity", "delta_history"))
@BOTH_WAYS
def test_both_modes_rebuild_delta_channels_alike(parity_threads: dict[str, Thread], writer: str, reader: str) -> None:
    """The history of a delta channel is the same in both modes.

    The state of the channel is rebuilt from it: a difference shows as another conversation in the other mode.
    """
    thread = parity_threads[writer]
    stored = [thread.put({"log": ["seed"]})]
    for step in range(3):
        thread.write(stored[-1], [("log", [step])])
        stored.append(thread.put({}, parent=stored[-1], changed=["log"]))
    found = parity_threads[reader].saver.get_delta_channel_history(stored[-1].config, ["log"])["log"]
    expected = {"seed": ["seed"], "values": [[0], [1], [2]]}
    expect_same(expected, {"seed": found.get("seed"), "values": [each[2] for each in found["writes"]]}, "the history")


@rule(MUST, source=ENGINE, needs="parity")
@BOTH_WAYS
def test_an_exception_in_one_mode_leaves_the_other_usable(
    parity_threads: dict[str, Thread], writer: str, reader: str
) -> None:
    """After a put that failed in one mode the other mode stores and reads as before.

    Both work on one connection: a transaction left open by one would block the other.
    """
    thread = parity_threads[reader]
    made = parity_threads[writer].make({"a": unstorable()})
    with contextlib.suppress(Exception):
        parity_threads[writer].saver.put(thread.config(), made.checkpoint, made.metadata, made.new_versions)
    stored = thread.put({"a": 1})
    expect_same(as_stored(stored), as_read(thread.latest()), "what the other mode stored afterwards")


def unstorable() -> object:
    """A value that no serialiser takes."""
    return (each for each in range(1))


@rule(SHOULD, source="AsyncSqliteSaver, AsyncPostgresSaver: sync calls from the loop's own thread", needs="parity")
def test_a_sync_read_inside_the_loop_does_not_hang(async_saver: SaverDrive, async_thread: Thread) -> None:
    """A sync read that is made inside the event loop returns or raises, and does not wait for the loop for ever.

    A sync node or helper in an async application may call it by mistake: an exception says so, a deadlock stops the
    whole server.
    """
    stored = async_thread.put({"a": 1})

    async def inside() -> object:
        return async_saver.raw.get_tuple(stored.config)

    def attempt() -> None:
        with contextlib.suppress(Exception):
            async_saver.run(inside)

    expect_same(False, async_saver.hangs_in(attempt, 5.0), "whether get_tuple inside the event loop hangs")
