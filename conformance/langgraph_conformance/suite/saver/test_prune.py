"""prune."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from langgraph.checkpoint.serde import types
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT

from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.expect import expect_raises, expect_same
from langgraph_conformance.lookalikes import LOOKALIKES
from langgraph_conformance.rules import MUST, QUIRK, SHOULD, rule
from langgraph_conformance.threads import (
    Stored,
    Thread,
    as_read,
    as_stored,
    contents_of,
    fresh_id,
    ids_of,
    writes_of,
)

SOURCE = "BaseCheckpointSaver.prune"


def forked(thread: Thread, ns: str = "") -> list[Stored]:
    """A thread whose latest checkpoint does not descend from a fork: root, fork, parent, latest."""
    root = thread.put({"a": 0, "kept": ["value"]}, ns=ns)
    fork = thread.put({"a": 1, "kept": ["value"]}, parent=root)
    parent = thread.put({"a": 2, "kept": ["value"]}, parent=root)
    latest = thread.put({"a": 3, "kept": ["value"]}, parent=parent)
    return [root, fork, parent, latest]


def survivor(stored: Stored) -> Mapping[str, Any]:
    """A kept checkpoint but its parent, which may be gone."""
    return {key: value for key, value in as_stored(stored).items() if key != "parent"}


def kept(thread: Thread, stored: Stored) -> Mapping[str, Any]:
    """What is read of a kept checkpoint but its parent."""
    return {key: value for key, value in as_read(thread.read(stored)).items() if key != "parent"}


@rule(MUST, source=SOURCE, needs="prune")
@pytest.mark.parametrize("ns", ["", "child"], ids=["root", "subgraph"])
@pytest.mark.parametrize("keywords", [{}, {"strategy": "keep_latest"}], ids=["by-default", "keep-latest"])
def test_the_latest_checkpoint_stays_whole(
    saver: SaverDrive, thread: Thread, ns: str, keywords: Mapping[str, str]
) -> None:
    """Pruning to the latest checkpoint leaves it as it is, with the values that were stored with earlier ones.

    Only changed channels are stored with a checkpoint: the values that the latest one inherits must outlive the
    checkpoints that brought them, or the next run starts without them.
    """
    latest = forked(thread, ns)[-1]
    saver.prune([thread.id], **keywords)
    expect_same(survivor(latest), kept(thread, latest), "the latest checkpoint")
    expect_same(latest.id, thread.latest(ns=ns).checkpoint["id"], "the id of the latest checkpoint")


@rule(MUST, source=SOURCE, needs="prune")
def test_checkpoints_beside_the_latest_ones_chain_go(saver: SaverDrive, thread: Thread) -> None:
    """Pruning to the latest checkpoint deletes what that one does not descend from.

    Pruning is how storage is kept from growing: an abandoned fork serves nobody, not even a delta channel.
    """
    _, fork, _, latest = forked(thread)
    saver.prune([thread.id])
    found = {"fork": saver.get_tuple(fork.config), "listed": fork.id in thread.listed_ids()}
    expect_same({"fork": None, "listed": False}, found, "the fork that the latest checkpoint does not descend from")
    expect_same([latest.id], thread.listed_ids(limit=1), "the id listed first")


@rule(SHOULD, source=SOURCE, needs="prune")
def test_only_the_latest_checkpoint_stays(saver: SaverDrive, thread: Thread) -> None:
    """Pruning a thread without delta channels to its latest checkpoint deletes all earlier ones.

    The base class says that only the most recent checkpoint per namespace is retained. Ancestors are needed for delta
    channels alone: a saver that keeps them all hardly prunes an ordinary conversation.
    """
    latest = forked(thread)[-1]
    inner = thread.chain(2, ns="child")[-1]
    saver.prune([thread.id])
    left = [thread.listed_ids(), thread.listed_ids(ns="child")]
    expect_same([[latest.id], [inner.id]], left, "the ids that are left in the two namespaces")


@rule(MUST, source=SOURCE, needs="prune")
def test_each_namespace_keeps_its_latest_checkpoint(saver: SaverDrive, thread: Thread) -> None:
    """Pruning keeps the latest checkpoint of every namespace, not the latest of the thread.

    A subgraph's state lives in its own namespace, and may be older than the root's latest checkpoint: without it the
    subgraph forgets everything, or the run that waits in it cannot be resumed.
    """
    latest = {ns: thread.chain(2, ns=ns)[-1] for ns in ("child", "child|inner", "")}
    saver.prune([thread.id])
    expect_same(
        {ns: survivor(each) for ns, each in latest.items()},
        {ns: kept(thread, each) for ns, each in latest.items()},
        "the latest checkpoint by namespace",
    )


@rule(MUST, source=f"{SOURCE}; BaseCheckpointSaver.get_tuple: greatest id", needs="prune")
def test_the_latest_is_the_one_with_the_greatest_id(saver: SaverDrive, thread: Thread) -> None:
    """Pruning keeps the checkpoint that `get_tuple` gives as the latest, whatever the order in which they were put.

    The state that the next run would load must be the one that is kept.
    """
    stored = {id: thread.put({"a": [id]}, id=f"{thread.id}-{id}") for id in ("3", "5", "1", "4")}
    saver.prune([thread.id])
    expect_same(survivor(stored["5"]), kept(thread, stored["5"]), "the checkpoint with the greatest id")
    expect_same([stored["5"].id], thread.listed_ids(), "the ids that are left of checkpoints without parents")


@rule(MUST, source=f"{SOURCE}; pregel/_loop.py resumes from pending writes", needs="prune")
@pytest.mark.parametrize(
    "writes",
    [[("a", 1), ("b", [2])], [(INTERRUPT, "question")], [("a", 1), (ERROR, "E")]],
    ids=["regular", "interrupt", "mixed"],
)
def test_pending_writes_of_the_latest_checkpoint_stay(
    saver: SaverDrive, thread: Thread, writes: list[tuple[str, Any]]
) -> None:
    """Pruning keeps the pending writes of a checkpoint that it keeps: finished tasks, errors and open interrupts.

    They are what a run that failed or waits for an answer is resumed from: without them finished nodes run twice and
    the question that a human was asked is lost.
    """
    root, _, parent, latest = forked(thread)
    thread.write(root, [("a", 9), (ERROR, "old")])
    thread.write(parent, [("a", 8), (INTERRUPT, "old")])
    thread.write(latest, writes)
    before = writes_of(thread.read(latest))
    saver.prune([thread.id])
    expect_same(before, writes_of(thread.read(latest)), "the pending writes of the latest checkpoint")


@rule(MUST, source=f"{SOURCE}; BaseCheckpointSaver.get_tuple: greatest id", needs="prune")
def test_a_fork_that_is_the_latest_stays(saver: SaverDrive, thread: Thread) -> None:
    """Pruning keeps a fork that was put last, although its step is lower than that of the branch that it left.

    After time travel the conversation goes on from the fork: what is kept must be that, not the longest branch.
    """
    first, second, third, fourth = thread.chain(4)
    fork = thread.put({"count": "fork"}, parent=first)
    saver.prune([thread.id])
    left = [each.id for each in (second, third, fourth) if saver.get_tuple(each.config)]
    expect_same(
        {"latest": fork.id, "left of the other branch": []},
        {"latest": thread.latest().checkpoint["id"], "left of the other branch": left},
        "what is found after pruning",
    )


@rule(MUST, source=SOURCE, needs="prune")
@pytest.mark.parametrize("strategy", ["keep_latest", "delete"])
def test_what_was_read_before_is_pruned_all_the_same(
    saver: SaverDrive, new_thread: Callable[[], Thread], strategy: str
) -> None:
    """After pruning, a thread whose checkpoints were read before shows what one that nobody had read shows.

    A cache in the saver's process would go on serving what was deleted, and only there: a run on another server sees
    another thread.
    """
    read, unread = new_thread(), new_thread()
    stored, twins = read.chain(3), unread.chain(3)
    for config in (read.config(), *(each.config for each in stored)):
        saver.get_tuple(config)
        saver.list(config)
    saver.prune([read.id, unread.id], strategy=strategy)
    expect_same(
        left_of(unread, twins), left_of(read, stored), "what is left of three checkpoints that were read before pruning"
    )


def left_of(thread: Thread, stored: Sequence[Stored]) -> dict[str, Any]:
    """Which checkpoints, by their position, each way to read shows."""
    positions = {each.id: position for position, each in enumerate(stored)}
    by_id = [thread.saver.get_tuple(each.config) for each in stored]
    latest = thread.saver.get_tuple(thread.config())
    return {
        "by id": [position for position, found in enumerate(by_id) if found is not None],
        "latest": latest and positions[latest.checkpoint["id"]],
        "listed": [positions[id] for id in thread.listed_ids()],
    }


@rule(MUST, source=SOURCE, needs="prune")
def test_pending_writes_of_deleted_checkpoints_go(saver: SaverDrive, thread: Thread) -> None:
    """The pending writes of a checkpoint that was pruned away go with it: put anew under its id, it has none.

    Writes without a checkpoint can be reached by nothing and grow the storage for ever.
    """
    _, fork, _, _ = forked(thread)
    thread.write(fork, [("a", 1), (INTERRUPT, "question")])
    saver.prune([thread.id])
    thread.store(fork)
    expect_same([], writes_of(thread.read(fork)), "the pending writes of the checkpoint put anew")


@rule(MUST, source=f"{SOURCE}; BaseCheckpointSaver.put: new_versions", needs="prune")
def test_a_pruned_thread_can_be_gone_on_with(saver: SaverDrive, thread: Thread) -> None:
    """A checkpoint put on top of the latest one after pruning inherits its values.

    A run goes on with the thread as before and stores only what it changed.
    """
    latest = forked(thread)[-1]
    saver.prune([thread.id])
    after = thread.put({"a": 4, "kept": ["value"]}, parent=latest)
    expect_same(as_stored(after), as_read(thread.read(after)), "the checkpoint put after pruning")
    expect_same(after.id, thread.latest().checkpoint["id"], "the id of the latest checkpoint")


@rule(MUST, source=SOURCE, needs="prune")
def test_a_thread_of_one_checkpoint_stays(saver: SaverDrive, thread: Thread) -> None:
    """Pruning twice, or a thread that has one checkpoint, changes nothing more.

    Pruning runs at intervals: most threads have been pruned before.
    """
    thread.write(thread.put({"a": 1}), [("a", 2)])
    before = contents_of(saver.list(thread.config(ns=None)))
    saver.prune([thread.id])
    saver.prune([thread.id])
    expect_same(before, contents_of(saver.list(thread.config(ns=None))), "the thread")


@rule(MUST, source=SOURCE, needs="prune")
@pytest.mark.parametrize("strategy", ["keep_latest", "delete"])
def test_every_named_thread_is_pruned(saver: SaverDrive, new_thread: Callable[..., Thread], strategy: str) -> None:
    """Pruning several threads prunes each of them, and unknown ids among them do no harm.

    Clean-up jobs name many threads at once, some of which were deleted meanwhile.
    """
    threads = [new_thread() for _ in range(3)]
    forks = [forked(thread)[1] for thread in threads]
    saver.prune([threads[0].id, fresh_id(), threads[1].id, threads[2].id], strategy=strategy)
    left = [thread.id for thread, fork in zip(threads, forks, strict=True) if saver.get_tuple(fork.config) is not None]
    expect_same([], left, "the threads whose fork is left")


@rule(MUST, source=SOURCE, needs="prune")
@pytest.mark.parametrize("strategy", ["keep_latest", "delete"])
def test_other_threads_stay_as_they_are(
    saver: SaverDrive, thread: Thread, new_thread: Callable[..., Thread], strategy: str
) -> None:
    """Pruning a thread leaves all of another one, also where both have the same checkpoint ids, versions and values.

    Pruning deletes for good: a conversation that was not named must not lose its history.
    """
    other = new_thread()
    twin = None
    for stored in thread.chain(3):
        versions = stored.checkpoint["channel_versions"]
        twin = other.put(stored.values, parent=twin, id=stored.id, versions=versions)
        other.write(twin, [("a", 1), (INTERRUPT, "question")])
    before = contents_of(saver.list(other.config(ns=None)))
    saver.prune([thread.id], strategy=strategy)
    expect_same(before, contents_of(saver.list(other.config(ns=None))), "the thread that was not named")


@rule(MUST, source=SOURCE, needs="prune")
@pytest.mark.parametrize("strategy", ["keep_latest", "delete"])
@pytest.mark.parametrize("kind", ["prefix", "percent", "underscore", "star", "case", "quote", "space-after"])
def test_ids_are_taken_literally(
    saver: SaverDrive, new_thread: Callable[..., Thread], kind: str, strategy: str
) -> None:
    """Pruning prunes the thread with exactly the given id, and none whose id looks like it.

    An id used as a pattern or prefix deletes other users' history, and nothing can bring it back.
    """
    unique = fresh_id("-")
    name, others = LOOKALIKES[kind]
    forks = {each: forked(new_thread(id=unique + each))[1] for each in (name, *others)}
    saver.prune([unique + name], strategy=strategy)
    left = [each for each, fork in forks.items() if saver.get_tuple(fork.config) is not None]
    expect_same(list(others), left, f"the threads that are not pruned after pruning {name!r}, without their first part")


@rule(MUST, source=SOURCE, needs="prune")
@pytest.mark.parametrize("strategy", ["keep_latest", "delete"])
@pytest.mark.parametrize("ids", [(), ("unknown",)], ids=["no-ids", "unknown-id"])
def test_pruning_nothing_does_nothing(saver: SaverDrive, thread: Thread, ids: tuple[str, ...], strategy: str) -> None:
    """Pruning no threads, or one that does not exist, raises nothing and changes nothing.

    A clean-up job that finds nothing to do must not fail, and least of all prune everything.
    """
    forked(thread)
    before = contents_of(saver.list(thread.config(ns=None)))
    saver.prune([fresh_id(each) for each in ids], strategy=strategy)
    expect_same(before, contents_of(saver.list(thread.config(ns=None))), "a thread that was not named")


@rule(MUST, source=SOURCE, needs="prune")
def test_the_delete_strategy_deletes_everything(saver: SaverDrive, thread: Thread) -> None:
    """Pruning with the strategy `delete` leaves no checkpoint, pending write or value of the thread.

    It is the way to delete many threads at once, and must leave as little as `delete_thread`.
    """
    stored = thread.put({"a": [1], "b": 2})
    inner = thread.put({"a": 1}, ns="child:1")
    thread.write(stored, [("a", 1), (INTERRUPT, "question")])
    saver.prune([thread.id], strategy="delete")
    left = ids_of(saver.list(thread.config(ns=None)))
    thread.put({}, id=stored.id, versions=stored.checkpoint["channel_versions"], changed=())
    again = thread.read(stored)
    found = {
        "ids": left,
        "subgraph": saver.get_tuple(inner.config),
        "writes": writes_of(again),
        "values": again.checkpoint["channel_values"],
    }
    expect_same({"ids": [], "subgraph": None, "writes": [], "values": {}}, found, "what is left of the thread")


@rule(SHOULD, source=f"{SOURCE}; PostgresSaver.prune", needs="prune")
def test_an_unknown_strategy_is_refused(saver: SaverDrive, thread: Thread) -> None:
    """A strategy that does not exist raises ValueError, and nothing is deleted.

    A misspelt strategy that is taken for another one deletes what was to be kept.
    """
    forked(thread)
    before = contents_of(saver.list(thread.config()))
    expect_raises(ValueError, lambda: saver.prune([thread.id], strategy="keep-latest"), "prune(strategy='keep-latest')")
    expect_same(before, contents_of(saver.list(thread.config())), "the thread")


@rule(SHOULD, source=f"{SOURCE}; PostgresSaver.prune", needs="prune")
def test_a_single_text_is_not_taken_for_many_ids(saver: SaverDrive, new_thread: Callable[..., Thread]) -> None:
    """A text in place of the sequence of thread ids does not prune the threads that its letters name.

    `prune("abc")` is an easy mistake: threads named a, b and c belong to somebody else.
    """
    # private characters of Unicode, drawn anew: nobody has threads with these names
    letters = [chr(random.randrange(0xF0000, 0xFFFFE)), chr(random.randrange(0x100000, 0x10FFFE))]
    forks = [forked(new_thread(id=letter))[1] for letter in letters]
    with contextlib.suppress(TypeError):
        saver.prune("".join(letters))
    left = [fork.thread_id for fork in forks if saver.get_tuple(fork.config) is not None]
    expect_same(letters, left, "the threads that are not pruned")


@rule(
    QUIRK,
    source=SOURCE,
    needs="prune",
    officials={
        "InMemorySaver": "cannot prune",
        "SqliteSaver": "cannot prune",
        "PostgresSaver": "has no parent",
    },
)
def test_the_parent_of_the_latest_checkpoint_after_pruning(
    saver: SaverDrive, thread: Thread, observe: Callable[[object], None]
) -> None:
    """Whether a checkpoint that was kept still names its parent."""
    latest = forked(thread)[-1]
    saver.prune([thread.id])
    parent = thread.read(latest).parent_config
    names = "has its parent" if parent and saver.get_tuple(parent) else "names a parent that is gone"
    observe(names if parent else "has no parent")


@rule(MUST, source="BaseCheckpointSaver.prune: DeltaChannel", needs=("prune", "delta_history"))
@pytest.mark.parametrize("seed", ["plain", "snapshot", "none"])
def test_delta_channels_can_still_be_rebuilt(saver: SaverDrive, thread: Thread, seed: str) -> None:
    """Pruning a thread with a delta channel leaves its history complete, or is refused with nothing pruned.

    A delta channel is rebuilt from a stored value and the pending writes of the checkpoints since: without them the
    conversation silently comes back shorter, or empty.
    """
    snapshot = types._DeltaSnapshot(["seed"])
    first: dict[str, dict[str, Any]] = {"plain": {"log": ["seed"]}, "snapshot": {"log": snapshot}, "none": {}}
    stored = [thread.put(first[seed], changed=["log"])]
    for step in range(1, 5):
        thread.write(stored[-1], [("log", [step])])
        counters = {"counters_since_delta_snapshot": {"log": [step, step]}}
        stored.append(thread.put({}, parent=stored[-1], changed=["log"], metadata=counters))
    before = saver.get_delta_channel_history(stored[-1].config, ["log"])
    with contextlib.suppress(NotImplementedError):
        saver.prune([thread.id])
    expect_same(before, saver.get_delta_channel_history(stored[-1].config, ["log"]), "the history of the delta channel")
    expect_same(stored[-1].id, thread.latest().checkpoint["id"], "the id of the latest checkpoint")
