"""delete_thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT, RESUME

from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.expect import expect_same
from langgraph_conformance.lookalikes import LOOKALIKES
from langgraph_conformance.rules import MUST, SHOULD, rule
from langgraph_conformance.threads import Stored, Thread, config_of, contents_of, fresh_id, ids_of, writes_of

SOURCE = "BaseCheckpointSaver.delete_thread"
READS: dict[str, Callable[[SaverDrive, Stored], Any]] = {
    "latest": lambda saver, stored: saver.get_tuple(config_of(stored.thread_id, None)),
    "by-id": lambda saver, stored: saver.get_tuple(stored.config),
    "parent": lambda saver, stored: stored.parent and saver.get_tuple(stored.parent.config),
    "get": lambda saver, stored: saver.get(stored.config),
    "list": lambda saver, stored: ids_of(saver.list(config_of(stored.thread_id, None))) or None,
    "list-one": lambda saver, stored: ids_of(saver.list(stored.config)) or None,
    "list-filtered": lambda saver, stored: (
        ids_of(saver.list(config_of(stored.thread_id), filter={"source": "loop"}, limit=1)) or None
    ),
}
"""Ways to read a thread that give None when it is not there."""


@rule(MUST, source=SOURCE, needs="delete_thread")
@pytest.mark.parametrize("read", READS)
def test_no_read_finds_a_deleted_thread(saver: SaverDrive, thread: Thread, read: str) -> None:
    """Nothing of a thread can be read after it was deleted, also what was read before.

    Applications delete a conversation because its user asked them to. A read path of its own (a pointer to the latest
    checkpoint, an index, a cache) that still answers gives the conversation back.
    """
    stored = thread.chain(3)[-1]
    READS[read](saver, stored)  # fills the caches that there may be
    saver.delete_thread(thread.id)
    expect_same(None, READS[read](saver, stored), "what is read of the deleted thread")


@rule(MUST, source=SOURCE, needs="delete_thread")
def test_a_list_of_all_threads_lacks_a_deleted_one(saver: SaverDrive, thread: Thread) -> None:
    """A list over all threads gives nothing of a thread that was deleted.

    Dashboards and clean-up jobs walk over all threads: an index over them that keeps the thread shows a conversation
    that its user had deleted.
    """
    thread.put({"a": 1}, metadata={"marker": thread.id})
    saver.delete_thread(thread.id)
    expect_same([], ids_of(saver.list(None, filter={"marker": thread.id})), "the ids listed over all threads")


@rule(MUST, source=SOURCE, needs="delete_thread")
@pytest.mark.parametrize(
    "namespaces",
    [("", "child", "child:1|grand:2", "a%", "child "), ("child",), ("outer:1|inner:2", "outer:1")],
    ids=["root-and-subgraphs", "one-subgraph", "subgraphs"],
)
def test_every_namespace_is_deleted(saver: SaverDrive, thread: Thread, namespaces: tuple[str, ...]) -> None:
    """A thread's checkpoints are deleted in all of its namespaces, whether or not it has any in the root's.

    Each subgraph keeps its state in a namespace of its own: what stays there is read again by the next run that enters
    the subgraph, and is personal data that was to be deleted.
    """
    stored = [thread.put({"a": 1}, ns=ns) for ns in namespaces]
    saver.delete_thread(thread.id)
    left = {each.ns: saver.get_tuple(each.config) for each in stored}
    expect_same(dict.fromkeys(namespaces), left, "what is left in each namespace")


@rule(MUST, source=f"{SOURCE}; pregel/_loop.py reads pending writes at the start of a run", needs="delete_thread")
@pytest.mark.parametrize(
    "writes",
    [[("a", 1), ("b", 2)], [(ERROR, "E")], [(INTERRUPT, "question")], [(RESUME, ["answer"])], [("a", 1), (ERROR, "E")]],
    ids=["regular", "error", "interrupt", "resume", "mixed"],
)
@pytest.mark.parametrize(("ns", "path"), [("", None), ("child:1", "~__pregel_pull, a")], ids=["root", "subgraph"])
def test_pending_writes_are_deleted(
    saver: SaverDrive, thread: Thread, writes: list[tuple[str, Any]], ns: str, path: str | None
) -> None:
    """Pending writes go with their thread: a checkpoint that is put anew under an old id has none.

    The engine takes pending writes for the results of tasks that have run already: left-over ones would skip a node,
    or answer an interrupt with what somebody said in the deleted conversation.
    """
    stored = thread.put({"a": 0}, ns=ns)
    thread.write(stored, writes, path=path)
    saver.delete_thread(thread.id)
    thread.store(stored)
    expect_same([], writes_of(thread.read(stored)), "the pending writes of the checkpoint put anew")


@rule(MUST, source=f"{SOURCE}; pregel/_loop.py: writes may arrive before their checkpoint", needs="delete_thread")
@pytest.mark.parametrize("others", [0, 2], ids=["alone", "beside-checkpoints"])
def test_writes_whose_checkpoint_was_never_put_are_deleted(saver: SaverDrive, thread: Thread, others: int) -> None:
    """Pending writes of a checkpoint that was never put go with their thread, also when it has no checkpoint at all.

    The engine stores writes and checkpoints in the background, so that a crash can leave writes alone. A delete that
    finds its rows by way of the checkpoints leaves these behind for ever.
    """
    made = thread.make({"a": 0}, ns="child")
    thread.write(made, [("a", 1), (ERROR, "E")])
    thread.chain(others)
    saver.delete_thread(thread.id)
    thread.store(made)
    expect_same([], writes_of(thread.read(made)), "the pending writes of the checkpoint put after the delete")


@rule(MUST, source=f"{SOURCE}; BaseCheckpointSaver.put: new_versions", needs="delete_thread")
@pytest.mark.parametrize("ns", ["", "child:1"], ids=["root", "subgraph"])
@pytest.mark.parametrize("same_id", [True, False], ids=["old-id", "new-id"])
def test_channel_values_are_deleted(saver: SaverDrive, thread: Thread, ns: str, same_id: bool) -> None:
    """Channel values go with their thread: a checkpoint that names an old version and brings no value reads none.

    Savers keep values apart from checkpoints, by channel and version. Values that stay are personal data that was to be
    deleted, and grow the storage for ever, since nothing refers to them any more.
    """
    stored = thread.put({"text": "secret", "list": ["secret"], "large": "s" * 5000}, ns=ns)
    saver.delete_thread(thread.id)
    versions = stored.checkpoint["channel_versions"]
    again = thread.put({}, ns=ns, id=stored.id if same_id else None, versions=versions, changed=())
    expect_same({}, thread.read(again).checkpoint["channel_values"], "the values under the deleted thread's versions")


@rule(MUST, source=SOURCE, needs="delete_thread")
def test_a_long_thread_is_deleted_to_its_end(saver: SaverDrive, thread: Thread) -> None:
    """A thread with many checkpoints and pending writes is deleted to the last of them.

    Backends delete in batches and read in pages: one that stops after the first leaves most of a long conversation.
    """
    stored = thread.chain(30)
    for each in stored:
        thread.write(each, [("a", 1), ("b", 2)])
    saver.delete_thread(thread.id)
    left = thread.listed_ids(ns=None)
    for each in stored:
        thread.store(each)
    writes = {each.id: writes_of(thread.read(each)) for each in stored}
    expect_same([], left, "the ids listed after the delete")
    expect_same({each.id: [] for each in stored}, writes, "the pending writes of the checkpoints put anew")


@rule(MUST, source=SOURCE, needs="delete_thread")
def test_another_thread_with_the_same_ids_and_values_is_kept(
    saver: SaverDrive, thread: Thread, new_thread: Callable[..., Thread]
) -> None:
    """Deleting a thread leaves all of another one, also where both have the same checkpoint ids, versions and values.

    A copied conversation shares its ids and values with the original: a delete that does not look at the thread, or
    that removes a value which both refer to, breaks the other conversation.
    """
    other = new_thread()
    first = thread.put({"a": [1], "b": "text"}, ns="child", metadata={"run_id": thread.id})
    second = thread.put({"a": [1], "b": "new"}, parent=first)
    twin_first = other.put(
        first.values, ns="child", id=first.id, metadata=first.metadata, versions=first.checkpoint["channel_versions"]
    )
    twin_second = other.put(
        second.values, parent=twin_first, id=second.id, versions=second.checkpoint["channel_versions"], changed=["b"]
    )
    thread.write(second, [("a", [2]), (INTERRUPT, "question")])
    other.write(twin_second, [("a", [2]), (INTERRUPT, "question")])
    before = contents_of(saver.list(other.config(ns=None)))
    saver.delete_thread(thread.id)
    expect_same(before, contents_of(saver.list(other.config(ns=None))), "the other thread")


@rule(MUST, source=SOURCE, needs="delete_thread")
@pytest.mark.parametrize("kind", LOOKALIKES)
def test_the_id_is_taken_literally(saver: SaverDrive, new_thread: Callable[..., Thread], kind: str) -> None:
    """Deleting a thread deletes the one with exactly that id, and no thread whose id looks like it.

    An id that is used as a pattern, a prefix or in another spelling deletes conversations of other users, and nothing
    can bring them back.
    """
    unique = fresh_id("-")
    name, others = LOOKALIKES[kind]
    threads = {each: new_thread(id=unique + each) for each in (name, *others)}
    stored = {each: thread.put({"a": 1}) for each, thread in threads.items()}
    saver.delete_thread(threads[name].id)
    kept = [each for each in threads if saver.get_tuple(stored[each].config) is not None]
    expect_same(list(others), kept, f"the threads that are left after deleting {name!r}, without their first part")


@rule(MUST, source=SOURCE, needs="delete_thread")
def test_only_the_named_one_of_two_ids_that_end_alike_is_deleted(
    saver: SaverDrive, new_thread: Callable[..., Thread]
) -> None:
    """Deleting a thread leaves another whose id ends in the same text, also where the ids begin with wildcards.

    An id that is searched for anywhere in a key deletes conversations of other users.
    """
    unique = fresh_id()
    threads = {front: new_thread(id=f"{front}{unique}") for front in ("", "%", "*", "?", "_", "x", "thread:")}
    stored = {front: thread.put({"a": 1}) for front, thread in threads.items()}
    saver.delete_thread(threads[""].id)
    kept = [front for front in threads if saver.get_tuple(stored[front].config) is not None]
    expect_same(["%", "*", "?", "_", "x", "thread:"], kept, "what the ids that are left begin with")


@rule(MUST, source=SOURCE, needs="delete_thread")
def test_deleting_an_unknown_thread_does_nothing(saver: SaverDrive, thread: Thread) -> None:
    """Deleting a thread that does not exist, or was deleted already, raises nothing and changes nothing.

    Clean-up jobs repeat themselves and meet threads that never got a checkpoint: an exception ends the job half-way.
    """
    stored = thread.put({"a": 1})
    gone = fresh_id()
    saver.delete_thread(gone)
    saver.delete_thread(gone)
    expect_same(stored.id, thread.latest().checkpoint["id"], "the latest checkpoint of a thread that exists")


@rule(MUST, source=f"{SOURCE}; pregel/_loop.py starts a thread without checkpoints anew", needs="delete_thread")
def test_a_deleted_thread_can_be_used_again(saver: SaverDrive, thread: Thread) -> None:
    """A deleted thread starts anew: its new checkpoints, also ones whose ids sort below the old ones, are all it has.

    An application deletes a conversation and begins it again under the same id. A remembered latest checkpoint, chain
    or version of the old one would mix the two.
    """
    old = thread.put({"a": 1, "b": 2}, parent=thread.put({"a": 0}, id="5-old"), id="6-old")
    thread.latest()
    saver.delete_thread(thread.id)
    first = thread.put({"a": "new"}, id="1-new")
    second = thread.put({"a": "newer"}, parent=first, id="2-new")
    read = {
        "latest": thread.latest().checkpoint["id"],
        "ids": thread.listed_ids(),
        "old": saver.get_tuple(old.config),
        "values": thread.latest().checkpoint["channel_values"],
    }
    expected = {"latest": second.id, "ids": [second.id, first.id], "old": None, "values": {"a": "newer"}}
    expect_same(expected, read, "the thread that began anew")


@rule(SHOULD, source="BaseCheckpointSaver.put_writes: writes belong to a checkpoint", needs="delete_thread")
def test_a_late_write_does_not_bring_a_thread_back(saver: SaverDrive, thread: Thread) -> None:
    """Pending writes that arrive after their thread was deleted make no checkpoint appear.

    A run that is still going when its thread is deleted stores its last writes afterwards: the conversation must not
    come back because of that.
    """
    stored = thread.put({"a": 1})
    saver.delete_thread(thread.id)
    thread.write(stored, [("a", 2)])
    left = {"latest": saver.get_tuple(thread.config()), "by id": saver.get_tuple(stored.config)}
    expect_same({"latest": None, "by id": None, "ids": []}, {**left, "ids": thread.listed_ids(ns=None)}, "the thread")
