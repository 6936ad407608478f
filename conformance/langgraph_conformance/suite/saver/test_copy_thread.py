"""copy_thread."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace

import pytest
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT

from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.expect import expect_same
from langgraph_conformance.lookalikes import LOOKALIKES
from langgraph_conformance.rules import MUST, rule
from langgraph_conformance.threads import (
    Stored,
    Thread,
    address_of,
    config_of,
    contents_of,
    fresh_id,
    ids_of,
    writes_of,
)

SOURCE = "BaseCheckpointSaver.copy_thread"


def conversation(thread: Thread) -> list[Stored]:
    """A thread with a fork, a subgraph, inherited values, metadata and pending writes."""
    first = thread.put({"a": 1, "list": ["x"], "none": None}, metadata={"user": {"name": "é"}, "run_id": thread.id})
    second = thread.put({"a": 2, "list": ["x"], "none": None}, parent=first)
    fork = thread.put({"a": 3, "list": ["x", "y"]}, parent=first)
    inner = thread.put({"b": b"bytes"}, ns="child:1", metadata={"parents": {"": second.id}})
    deep = thread.put({"c": {1, 2}}, ns="child:1|grand:2")
    thread.write(first, [("a", 2), ("a", 3)], task="t2", path="~1")
    thread.write(first, [("list", "y")], task="t1", path="~2")
    thread.write(fork, [("a", 4), (INTERRUPT, "question")])
    thread.write(inner, [(ERROR, "E"), ("b", b"more")], task="t3")
    return [first, second, fork, inner, deep]


@rule(MUST, source=SOURCE, needs="copy_thread")
def test_the_copy_holds_all_that_the_source_holds(
    saver: SaverDrive, thread: Thread, new_thread: Callable[..., Thread]
) -> None:
    """A copied thread has every checkpoint of the source: values, versions, metadata, parents and pending writes.

    A copy is made to go on with a conversation without touching the original. Without the whole chain there is no
    history and no time travel in it, and delta channels cannot be rebuilt.
    """
    conversation(thread)
    copy = new_thread()
    saver.copy_thread(thread.id, copy.id)
    source = contents_of(saver.list(thread.config(ns=None)))
    expect_same(source, contents_of(saver.list(copy.config(ns=None))), "the copy, by namespace and checkpoint id")


@rule(MUST, source=f"{SOURCE}; BaseCheckpointSaver.get_tuple: greatest id", needs="copy_thread")
@pytest.mark.parametrize("ns", ["", "child:1"], ids=["root", "subgraph"])
def test_the_latest_of_the_copy_is_that_of_the_source(
    saver: SaverDrive, thread: Thread, new_thread: Callable[..., Thread], ns: str
) -> None:
    """The latest checkpoint of a copy is the source's, with its values, whatever the order in which they were put.

    The next run of the copy starts from it: a pointer that is left on what was copied last is an older state.
    """
    made = [thread.make({"count": count}, ns=ns) for count in range(4)]
    for position in (2, 0, 3, 1):
        thread.store(made[position])
    copy = new_thread()
    saver.copy_thread(thread.id, copy.id)
    latest = copy.latest(ns=ns)
    expect_same(
        (made[3].id, {"count": 3}, made[3].id),
        (latest.checkpoint["id"], latest.checkpoint["channel_values"], copy.listed_ids(ns=ns, limit=1)[0]),
        "the copy's latest checkpoint, its values, and the first one listed",
    )


@rule(MUST, source=SOURCE, needs="copy_thread")
def test_a_thread_that_was_read_before_has_the_copy(
    saver: SaverDrive, thread: Thread, new_thread: Callable[..., Thread]
) -> None:
    """What is copied to a thread is found there also when the thread was looked for before, and was not there.

    Applications ask whether an id is free before they copy to it: a saver that remembers "nothing there" hides the
    copy from its own process.
    """
    stored, copy = thread.put({"a": 1}), new_thread()
    by_id = copy.config(checkpoint_id=stored.id)
    for config in (copy.config(), by_id):
        saver.get_tuple(config)
        saver.list(config)
    saver.copy_thread(thread.id, copy.id)
    found = {"latest": saver.get_tuple(copy.config()), "by id": saver.get_tuple(by_id)}
    expect_same(
        {"latest": stored.id, "by id": stored.id, "listed": [stored.id]},
        {**{way: each and each.checkpoint["id"] for way, each in found.items()}, "listed": copy.listed_ids()},
        "the ids found in the copy",
    )


@rule(MUST, source=SOURCE, needs="copy_thread")
@pytest.mark.parametrize("ns", ["", "child:1", "child:1|grand:2"], ids=["root", "subgraph", "nested"])
def test_every_namespace_is_copied(
    saver: SaverDrive, thread: Thread, new_thread: Callable[..., Thread], ns: str
) -> None:
    """Checkpoints are copied into the namespace that they have in the source, and are found there.

    Each subgraph keeps its state in a namespace of its own: a copy of the root alone starts its subgraphs from nothing.
    """
    stored = thread.put({"a": 1}, ns=ns)
    copy = new_thread()
    saver.copy_thread(thread.id, copy.id)
    found = saver.get_tuple(copy.config(ns=ns))
    expect_same((copy.id, ns, stored.id), found and address_of(found.config), "the latest checkpoint of the copy")


@rule(MUST, source=SOURCE, needs="copy_thread")
def test_parents_are_in_the_copy(saver: SaverDrive, thread: Thread, new_thread: Callable[..., Thread]) -> None:
    """The parent of a copied checkpoint is the copy of its parent, not the original.

    Time travel and delta channels follow parents: a chain that leads back into the source breaks when that is deleted,
    and mixes two conversations until then.
    """
    stored = thread.chain(3)
    copy = new_thread()
    saver.copy_thread(thread.id, copy.id)
    parents = [address_of(found.parent_config) for found in saver.list(copy.config())]
    expect_same([(copy.id, "", stored[1].id), (copy.id, "", stored[0].id), None], parents, "the parents in the copy")


@rule(MUST, source=SOURCE, needs="copy_thread")
def test_a_long_thread_is_copied_to_its_end(
    saver: SaverDrive, thread: Thread, new_thread: Callable[..., Thread]
) -> None:
    """A thread with many checkpoints and pending writes is copied to the last of them, in the same order.

    Backends copy in batches and read in pages: one that stops after the first loses the beginning of a conversation.
    """
    stored = thread.chain(30)
    for each in stored:
        thread.write(each, [("a", 1), ("b", 2)])
    copy = new_thread()
    saver.copy_thread(thread.id, copy.id)
    found = saver.list(copy.config())
    expect_same([each.id for each in reversed(stored)], ids_of(found), "the ids listed in the copy")
    expect_same([2] * 30, [len(writes_of(each)) for each in found], "how many pending writes each has")


@rule(MUST, source=SOURCE, needs="copy_thread")
def test_the_source_stays_as_it_is(saver: SaverDrive, thread: Thread, new_thread: Callable[..., Thread]) -> None:
    """Copying changes nothing in the source.

    A copy is made to leave the original alone: one that moves rows, or rewrites them, loses the conversation copied.
    """
    conversation(thread)
    before = contents_of(saver.list(thread.config(ns=None)))
    saver.copy_thread(thread.id, new_thread().id)
    expect_same(before, contents_of(saver.list(thread.config(ns=None))), "the source after it was copied")


@rule(MUST, source=SOURCE, needs="copy_thread")
@pytest.mark.parametrize("changed", ["source", "copy"])
@pytest.mark.parametrize(
    "change",
    [
        lambda thread, stored: thread.put({"a": 9, "list": ["z"]}, parent=stored[1]),
        lambda thread, stored: thread.put({"a": 9}, ns="child:1", id=stored[3].id, metadata={"changed": True}),
        lambda thread, stored: thread.write(stored[2], [("a", 5), (INTERRUPT, "another"), ("b", 6)]),
        lambda thread, stored: thread.write(stored[1], [("a", 5)], task="other"),
    ],
    ids=["put", "put-again", "put-writes-again", "put-writes"],
)
def test_what_is_stored_in_one_does_not_show_in_the_other(
    saver: SaverDrive,
    thread: Thread,
    new_thread: Callable[..., Thread],
    changed: str,
    change: Callable[[Thread, list[Stored]], object],
) -> None:
    """The copy and the source are independent: what is stored in one afterwards does not show in the other.

    Two conversations that share rows overwrite each other's state as soon as both go on.
    """
    stored = conversation(thread)
    copy = new_thread()
    saver.copy_thread(thread.id, copy.id)
    one, other = (thread, copy) if changed == "source" else (copy, thread)
    before = contents_of(saver.list(other.config(ns=None)))
    change(one, [replace(each, thread_id=one.id) for each in stored])
    expect_same(before, contents_of(saver.list(other.config(ns=None))), "the thread in which nothing was stored")


@rule(MUST, source=f"{SOURCE}; BaseCheckpointSaver.delete_thread", needs=("copy_thread", "delete_thread"))
@pytest.mark.parametrize("deleted", ["source", "copy"])
def test_deleting_one_leaves_the_other_whole(
    saver: SaverDrive, thread: Thread, new_thread: Callable[..., Thread], deleted: str
) -> None:
    """After the source or the copy is deleted, the other one still has everything, values and pending writes included.

    Values that both threads refer to must live as long as either does: else deleting an old conversation empties the
    one that was made from it.
    """
    conversation(thread)
    copy = new_thread()
    saver.copy_thread(thread.id, copy.id)
    one, other = (thread, copy) if deleted == "source" else (copy, thread)
    before = contents_of(saver.list(other.config(ns=None)))
    saver.delete_thread(one.id)
    expect_same(before, contents_of(saver.list(other.config(ns=None))), "the thread that was not deleted")


@rule(MUST, source=f"{SOURCE}; BaseCheckpointSaver.put: new_versions", needs="copy_thread")
def test_a_copy_can_be_gone_on_with(saver: SaverDrive, thread: Thread, new_thread: Callable[..., Thread]) -> None:
    """A checkpoint put on the copy that brings only a changed channel reads the other channels from the copy.

    A run goes on with the copy as with any thread, and stores only what it changed: the values stored before must be
    found under their versions in the copy as well.
    """
    head = thread.put({"a": 2, "b": ["x"]}, parent=thread.put({"a": 1, "b": ["x"]}))
    copy = new_thread()
    saver.copy_thread(thread.id, copy.id)
    after = copy.put({"a": 3, "b": ["x"]}, parent=head)
    expect_same({"a": 3, "b": ["x"]}, copy.read(after).checkpoint["channel_values"], "the values on top of the copy")
    expect_same([after.id, head.id], copy.listed_ids(limit=2), "the newest ids listed in the copy")


@rule(MUST, source=SOURCE, needs="copy_thread")
@pytest.mark.parametrize("kind", ["prefix", "percent", "underscore", "star", "case", "quote", "space-after"])
def test_ids_are_taken_literally(saver: SaverDrive, new_thread: Callable[..., Thread], kind: str) -> None:
    """A copy holds the thread with exactly the source's id, and lands in the thread with exactly the target's id.

    An id used as a pattern or prefix copies other users' conversations, or puts the copy among them.
    """
    unique, target = fresh_id("-"), fresh_id("-")
    name, others = LOOKALIKES[kind]
    source = new_thread(id=unique + name).put({"a": 1})
    for each in others:
        new_thread(id=unique + each).put({"a": 2})
    copies = {each: new_thread(id=target + each) for each in (name, *others)}
    # every second one has a checkpoint already, which must stay
    held = {each: [copies[each].put({"a": 3}).id] for each in others[::2]}
    saver.copy_thread(source.thread_id, copies[name].id)
    listed = {each: copy.listed_ids() for each, copy in copies.items()}
    expected = {each: [source.id] if each == name else held.get(each, []) for each in copies}
    expect_same(expected, listed, "the ids listed in the target and in those that look like it")


@rule(MUST, source=SOURCE, needs="copy_thread")
def test_copying_an_unknown_thread_makes_nothing(
    saver: SaverDrive, thread: Thread, new_thread: Callable[..., Thread]
) -> None:
    """Copying a thread that does not exist leaves the target without checkpoints, whether or not it raises.

    A target with something in it would be taken for a conversation.
    """
    thread.put({"a": 1})
    copy = new_thread()
    with contextlib.suppress(Exception):
        saver.copy_thread(fresh_id(), copy.id)
    expect_same([], copy.listed_ids(ns=None), "the ids listed in the target")
    expect_same(None, saver.get_tuple(copy.config()), "the latest checkpoint of the target")


@rule(MUST, source=SOURCE, needs="copy_thread")
def test_other_threads_stay_as_they_are(saver: SaverDrive, thread: Thread, new_thread: Callable[..., Thread]) -> None:
    """Copying a thread changes no third one, also one with the same checkpoint ids.

    Threads that were copied before share their ids with the source: they belong to other conversations.
    """
    stored = thread.put({"a": 1})
    other = new_thread()
    twin = other.put({"a": 2}, id=stored.id)
    other.write(twin, [("a", 3)])
    before = contents_of(saver.list(other.config(ns=None)))
    saver.copy_thread(thread.id, new_thread().id)
    expect_same(before, contents_of(saver.list(other.config(ns=None))), "the third thread")


@rule(
    MUST,
    source="BaseCheckpointSaver.copy_thread: complete parent chain for DeltaChannel",
    needs=("copy_thread", "delta_history"),
)
def test_delta_channels_are_rebuilt_in_the_copy(
    saver: SaverDrive, thread: Thread, new_thread: Callable[..., Thread]
) -> None:
    """The history of a delta channel is the same in the copy as in the source.

    A delta channel is rebuilt from a stored value and the pending writes of the checkpoints since: a copy that lacks
    some of them silently gives a shorter conversation.
    """
    stored = [thread.put({"log": ["seed"]})]
    for step in range(1, 5):
        thread.write(stored[-1], [("log", [step])])
        stored.append(thread.put({}, parent=stored[-1], changed=["log"]))
    copy = new_thread()
    saver.copy_thread(thread.id, copy.id)
    head = config_of(copy.id, "", stored[-1].id)
    found = saver.get_delta_channel_history(head, ["log"])["log"]
    values = [write[2] for write in found["writes"]]
    expect_same((["seed"], [[1], [2], [3], [4]]), (found.get("seed"), values), "seed and writes in the copy")
