"""put: what is stored, what it returns, and what a put leaves alone."""

from __future__ import annotations

import copy
import hashlib
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.base.id import uuid6

from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.expect import AtLeast, expect_raises, expect_same, expect_true
from langgraph_conformance.rules import MUST, QUIRK, SHOULD, rule
from langgraph_conformance.session import Subject
from langgraph_conformance.threads import Stored, Thread, address_of, as_read, as_stored, config_of, writes_of

NAMESPACES = pytest.mark.parametrize("ns", ["", "child:abc"], ids=["root", "child"])
OLD: dict[str, Any] = {"str": "old", "int": 1, "list": ["old"], "dict": {"is": "old"}}
NEW: dict[str, Any] = {"str": "new", "int": 2, "list": ["new"], "dict": {"was": "old"}}
"""Values of channels before and after a change: savers may keep plain values and containers in other places, and a key
that is gone from a dict is gone.
"""

TURNING: list[dict[str, Any]] = [
    {"str-list": "text", "list-str": ["list"], "str-none": "text", "list-none": ["list"], "dict-int": {"a": "dict"}},
    {"str-list": ["list"], "list-str": "text", "str-none": None, "list-none": None, "dict-int": 1},
]
"""Values of channels that turn into another kind of value."""

Arguments = tuple[RunnableConfig, dict[str, Any], dict[str, Any], dict[str, Any]]


def arguments_of(made: Stored) -> Arguments:
    """What ``put`` takes for a checkpoint that is not stored yet, as objects of its own."""
    config = config_of(made.thread_id, made.ns, made.parent.id if made.parent else None)
    checkpoint, metadata = copy.deepcopy(dict(made.checkpoint)), copy.deepcopy(dict(made.metadata))
    return config, checkpoint, metadata, dict(made.new_versions)


def values_of(found: CheckpointTuple) -> dict[str, Any]:
    return dict(found.checkpoint["channel_values"])


def state_of(thread: Thread) -> dict[str, Any]:
    """All that can be read of a thread's root namespace."""
    return {
        found.checkpoint["id"]: (values_of(found), dict(found.metadata), writes_of(found))
        for found in [thread.latest(), *thread.saver.list(thread.config())]
    }


def refused(call: Callable[[], object]) -> bool:
    """Whether a call that a saver may refuse raised."""
    try:
        call()
    except Exception:
        return True
    return False


def make_fail(call: Callable[[], object]) -> None:
    """Make a call that should raise; when it does not, what follows a failure cannot be looked at."""
    if not refused(call):
        pytest.skip("put accepts an object that cannot be serialised")


def spoiled(made: Stored, place: str) -> Arguments:
    """The arguments of a put that cannot succeed: the channel ``place`` holds a lock, which cannot be serialised."""
    arguments = arguments_of(made)
    arguments[1]["channel_values"][place] = threading.Lock()
    return arguments


# -- what is stored, and what is returned


@rule(MUST, source="BaseCheckpointSaver.put; pregel/_loop.py reads all of it when a run starts")
@NAMESPACES
def test_a_checkpoint_is_read_back_as_it_was_put(thread: Thread, ns: str) -> None:
    """What `put` stores, `get_tuple` gives back: the checkpoint's id, values and versions, its metadata and address.

    A run goes on from exactly this: what is lost here, the graph has forgotten.
    """
    stored = thread.put({"text": "value", "list": [1, "two"]}, ns=ns)
    found = thread.read(stored)
    parts = ("id", "channel_values", "channel_versions", "versions_seen")
    expect_same(
        ((thread.id, ns, stored.id), {part: stored.checkpoint[part] for part in parts}, AtLeast(stored.metadata)),
        (address_of(found.config), {part: found.checkpoint.get(part) for part in parts}, dict(found.metadata)),
        "address, checkpoint and metadata",
    )


@rule(MUST, source="BaseCheckpointSaver.put; pregel/main.py (update_state returns it to the user)")
@NAMESPACES
@pytest.mark.parametrize("position", [0, 1], ids=["first", "second"])
def test_put_returns_the_address_of_the_new_checkpoint(thread: Thread, ns: str, position: int) -> None:
    """`put` returns a config with the thread id and namespace it was given and the id of the new checkpoint.

    `update_state` hands it to the user as the place where the update is: with the parent's id, or without one, the
    user goes on from another state than the one just written.
    """
    stored = thread.chain(2, ns=ns)[position]
    expect_same((thread.id, ns, stored.id), address_of(stored.returned), "the config that put returned")


@rule(
    SHOULD,
    source="InMemorySaver.put, SqliteSaver.put, PostgresSaver.put",
    aliases=("saver.put.put_returns_nothing_but_the_address",),
)
def test_put_returns_the_address_and_nothing_of_the_callers(saver: SaverDrive, thread: Thread) -> None:
    """The config that `put` returns holds thread_id, checkpoint_ns and checkpoint_id, and nothing of the caller's.

    Callers keep this config, and send or store it: the caller's callbacks, user keys and engine objects in it are
    carried along into whatever is called with it next.
    """
    made = thread.make({"channel": "value"})
    config, *rest = arguments_of(made)
    callers = {"user": "someone", "__pregel_task_id": "task"}
    config["configurable"].update(callers)
    returned = saver.put({**config, "tags": ["tag"], "metadata": {"key": "value"}}, *rest)
    expect_same(
        (address_of(made.config), []),
        (address_of(returned), sorted({*callers, "tags", "metadata"} & {*returned, *returned["configurable"]})),
        "the address in the config that put returned, and the caller's keys in it",
    )


@rule(MUST, source="pregel/main.py (update_state reads, puts and writes with it)")
def test_what_put_returns_can_be_used_at_once(saver: SaverDrive, thread: Thread) -> None:
    """The config that `put` returns finds the new checkpoint, and takes its pending writes.

    `bulk_update_state` goes on from it step by step, and `update_state` stores the writes of Sends with it.
    """
    stored = thread.put({"channel": 1})
    returned = stored.returned
    saver.put_writes(returned, [("channel", "written")], "task")
    thread.put({"channel": 2}, parent=stored)
    found = saver.get_tuple(returned)
    expect_same(
        {"values": {"channel": 1}, "writes": [("task", "channel", "written")]},
        {"values": found and values_of(found), "writes": found and writes_of(found)},
        "what is found with the returned config",
    )


@rule(SHOULD, source="Checkpoint is a TypedDict that has grown: pending_sends, updated_channels")
def test_unknown_keys_of_a_checkpoint_are_kept(thread: Thread) -> None:
    """Top-level keys of a checkpoint that the saver does not know are stored like the others.

    Each LangGraph version may add some (`pending_sends` and `updated_channels` came that way): a saver with fixed
    columns loses them without a word.
    """
    extra = {"pending_sends": [["node", 1]], "some_future_key": {"nested": [1, None]}}
    stored = thread.put({"channel": "value"}, extra=extra)
    found = thread.read(stored)
    expect_same(extra, {key: found.checkpoint.get(key) for key in extra}, "the unknown keys of the checkpoint")


# -- parents


@rule(MUST, source="BaseCheckpointSaver.put (config); pregel/_loop.py; get_state_history shows it")
@NAMESPACES
def test_the_parent_is_the_checkpoint_in_the_config(thread: Thread, ns: str) -> None:
    """A checkpoint's parent is the one whose id is in the config given to `put`, in the same thread and namespace.

    It need not be the newest: a fork is put on an older one. Time travel, and channels that are rebuilt from the writes
    of earlier steps, follow these links.
    """
    first, second, third = thread.chain(3, ns=ns)
    fork = thread.put({"count": "forked"}, parent=first, ns=ns)
    everything = {"first": first, "second": second, "third": third, "fork": fork}
    expect_same(
        {
            "first": None,
            "second": (thread.id, ns, first.id),
            "third": (thread.id, ns, second.id),
            "fork": (thread.id, ns, first.id),
        },
        {name: address_of(thread.read(each).parent_config) for name, each in everything.items()},
        "the parents",
    )


@rule(MUST, source="BaseCheckpointSaver.put (config)")
def test_a_checkpoint_put_on_no_other_has_no_parent(thread: Thread) -> None:
    """Without a `checkpoint_id` in the config given to `put` there is no parent, also when the thread has checkpoints.

    A saver that fills in the latest one links histories that have nothing to do with each other.
    """
    thread.chain(2)
    alone = thread.put({"count": "alone"})
    expect_same(None, thread.read(alone).parent_config, "parent_config")


@rule(MUST, source="pregel/main.py (update_state as '__copy__' puts with checkpoint_id None)")
def test_a_checkpoint_id_of_none_is_no_parent(saver: SaverDrive, thread: Thread) -> None:
    """`checkpoint_id: None` in the config given to `put` is the same as none.

    LangGraph copies a thread's first checkpoint this way. A parent called "None" is nowhere to be found.
    """
    thread.put({"channel": "earlier"})
    alone = thread.make({"channel": "alone"})
    config, *rest = arguments_of(alone)
    config["configurable"]["checkpoint_id"] = None
    saver.put(config, *rest)
    expect_same(None, thread.read(alone).parent_config, "parent_config")


@rule(SHOULD, source="get_checkpoint_id; InMemorySaver.put, SqliteSaver.put, PostgresSaver.put")
def test_an_empty_checkpoint_id_is_no_parent(saver: SaverDrive, thread: Thread) -> None:
    """An empty `checkpoint_id` in the config given to `put` is the same as none."""
    thread.put({"channel": "earlier"})
    alone = thread.make({"channel": "alone"})
    saver.put(thread.config(checkpoint_id=""), *arguments_of(alone)[1:])
    expect_same(None, thread.read(alone).parent_config, "parent_config")


@rule(SHOULD, source="InMemorySaver.put, SqliteSaver.put, PostgresSaver.put")
def test_a_parent_that_is_not_stored_is_kept(thread: Thread) -> None:
    """The parent's id is kept as given also when no such checkpoint is stored.

    Parents are pruned, stored elsewhere, or not yet there: the link is the caller's, and no reason to refuse a state.
    """
    missing = thread.make({"channel": "never put"})
    child = thread.put({"channel": "value"}, parent=missing)
    expect_same(address_of(missing.config), address_of(thread.read(child).parent_config), "the address of the parent")


# -- channel values


@rule(MUST, source="pregel/_utils.py get_new_channel_versions; pregel/_loop.py _put_checkpoint")
def test_a_channel_that_did_not_change_keeps_its_value(thread: Thread) -> None:
    """A checkpoint has the values of the channels that did not change, from the one before, beside those that did.

    `new_versions` names only the channels that changed in this step. A saver that stores those alone, and does not find
    the others again by their version, drops the rest of the state at the next start.
    """
    first = thread.put({**OLD, "moving": ["first"]})
    second = thread.put({**OLD, "moving": ["second"]}, parent=first)
    third = thread.put({**OLD, "moving": ["second"], "added": ["third"]}, parent=second)
    read = {name: values_of(thread.read(each)) for name, each in (("second", second), ("third", third))}
    expect_same({"second": second.values, "third": third.values}, read, "the channel values")


@rule(MUST, source="BaseCheckpointSaver.put (new_versions)")
def test_a_channel_that_changed_has_its_new_value(thread: Thread) -> None:
    """A checkpoint has the new values of the channels that changed, also where the kind of value is another.

    A text may become a list, and a field that a user cleared None: what was there before must not show through.
    """
    first = thread.put({**OLD, **TURNING[0]})
    second = thread.put({**NEW, **TURNING[1]}, parent=first)
    third = thread.put({**NEW, **TURNING[0]}, parent=second)
    read = {"second": values_of(thread.read(second)), "third": values_of(thread.read(third))}
    expect_same({"second": second.values, "third": third.values}, read, "the channel values")


@rule(MUST, source="BaseCheckpointSaver.put; get_state_history and time travel read older checkpoints")
def test_a_change_leaves_earlier_checkpoints_alone(thread: Thread) -> None:
    """When channels change, earlier checkpoints keep the values they were put with.

    Otherwise history shows, and a replay runs from, a state that never was.
    """
    first = thread.put(OLD)
    second = thread.put(NEW, parent=first)
    thread.put(OLD, parent=second)
    read = {"first": values_of(thread.read(first)), "second": values_of(thread.read(second))}
    expect_same({"first": OLD, "second": NEW}, read, "the channel values")


@rule(MUST, source="pregel/_utils.py get_new_channel_versions; pregel/_loop.py _put_checkpoint")
def test_a_value_is_found_again_many_steps_later(thread: Thread) -> None:
    """A channel that changed once, in the first of many steps, still has its value in the last.

    A saver that looks only at the parent, or at the last few checkpoints, forgets a conversation's oldest facts.
    """
    stored = thread.put({**OLD, "count": 0})
    for count in range(1, 12):
        stored = thread.put({**OLD, "count": count}, parent=stored)
    expect_same({**OLD, "count": 11}, values_of(thread.read(stored)), "the channel values")


@rule(MUST, source="pregel/main.py (update_state as '__copy__' puts new_versions={})")
def test_a_put_without_new_versions_keeps_all_values(thread: Thread) -> None:
    """A checkpoint in which no channel changed has the values that its channels had before.

    Steps in which no channel changes are ordinary, and copies of a checkpoint are put this way.
    """
    first = thread.put(OLD)
    second = thread.put(OLD, parent=first, changed=[])
    expect_same(OLD, values_of(thread.read(second)), "the channel values")


@rule(MUST, source="Checkpoint.channel_versions; langgraph-checkpoint-conformance put_channel_removed")
def test_a_channel_without_a_version_has_no_value(thread: Thread) -> None:
    """A channel that a checkpoint no longer has, neither a value nor a version, is not read back.

    A state whose definition lost a key would get it back from an older checkpoint.
    """
    first = thread.put({**OLD, "stays": 1})
    versions = {"stays": thread.saver.get_next_version(first.checkpoint["channel_versions"]["stays"], None)}
    second = thread.put({"stays": 2}, parent=first, versions=versions, changed=["stays"])
    expect_same({"stays": 2}, values_of(thread.read(second)), "the channel values")


@rule(MUST, source="BaseCheckpointSaver.put (new_versions); pregel/_algo.py consumes channels that were read")
def test_an_emptied_channel_has_no_value(thread: Thread) -> None:
    """A channel with a new version and no value is empty: its key is absent, in this checkpoint and those after it.

    Triggers are emptied when they have been used. When the old value, or None, comes back, nodes run again that
    have already run.
    """
    first = thread.put({**OLD, "other": 1})
    second = thread.put({"other": 2}, parent=first)
    third = thread.put({"other": 3}, parent=second)
    read = {"emptied": values_of(thread.read(second)), "one later": values_of(thread.read(third))}
    expect_same({"emptied": {"other": 2}, "one later": {"other": 3}}, read, "the channel values")


@rule(MUST, source="BaseCheckpointSaver.put (new_versions)")
def test_emptying_a_channel_leaves_earlier_checkpoints_alone(thread: Thread) -> None:
    """Emptying channels, and filling them again, changes no earlier checkpoint.

    Otherwise history shows, and a replay runs from, a state that never was.
    """
    full = thread.put(OLD)
    empty = thread.put({}, parent=full)
    refilled = thread.put(NEW, parent=empty)
    stored = {"full": full, "empty": empty, "refilled": refilled}
    expect_same(
        {"full": OLD, "empty": {}, "refilled": NEW},
        {name: values_of(thread.read(each)) for name, each in stored.items()},
        "the channel values of each checkpoint",
    )


@rule(MUST, source="graph/state.py: branch:to:* triggers hold None")
def test_none_is_a_value(thread: Thread) -> None:
    """A channel whose value is None is there, with None.

    The triggers between nodes hold None: without the key the next node never runs.
    """
    stored = thread.put({"branch:to:node": None, "other": 1})
    expect_same({"branch:to:node": None, "other": 1}, values_of(thread.read(stored)), "the channel values")


@rule(MUST, source="BaseCheckpointSaver.get_next_version counts from 1 in every namespace of every thread")
def test_equal_versions_elsewhere_share_no_value(new_thread: Callable[..., Thread]) -> None:
    """A channel's value belongs to its thread and namespace: equal channels and versions elsewhere are others.

    With the base class's versions each subgraph counts from 1 again, so that equal versions are the rule. A value found
    by channel and version alone is another user's.
    """
    here, there = new_thread(), new_thread()
    versions = dict.fromkeys(("text", "list"), here.saver.get_next_version(None, None))
    stored = {
        name: thread.put({"text": name, "list": [name]}, ns=ns, versions=versions)
        for name, thread, ns in (
            ("earlier, another thread", there, ""),
            ("earlier, another namespace", here, "child:1"),
            ("here", here, ""),
            ("later, another thread", there, "child:1"),
            ("later, another namespace", here, "child:2"),
        )
    }
    expect_same(
        {name: {"text": name, "list": [name]} for name in stored},
        {name: values_of(here.read(each)) for name, each in stored.items()},
        "the channel values here and elsewhere",
    )


@rule(
    QUIRK,
    source="BaseCheckpointSaver.put (its own example gives new_versions={})",
    officials={
        "InMemorySaver": "drops them",
        "SqliteSaver": "keeps them",
        "PostgresSaver": "keeps str, int, float, bool and None, drops the rest",
    },
)
def test_values_that_new_versions_never_named(thread: Thread, observe: Callable[[object], None]) -> None:
    """What becomes of channel values that no `new_versions` has named.

    LangGraph names each channel when it changes, so that its runs do not meet this; hand-made checkpoints do.
    """
    version = thread.saver.get_next_version(None, None)
    stored = thread.put({"text": "value", "list": [1]}, versions={"text": version, "list": version}, changed=[])
    kept = tuple(sorted(values_of(thread.read(stored))))
    words = {
        (): "drops them",
        ("text",): "keeps str, int, float, bool and None, drops the rest",
        ("list", "text"): "keeps them",
    }
    observe(words.get(kept, f"keeps {kept}"))


@rule(
    QUIRK,
    source="BaseCheckpointSaver.put (channel_values, channel_versions)",
    officials={
        "InMemorySaver": "comes back",
        "SqliteSaver": "stays away",
        "PostgresSaver": "stays away, but containers come back",
    },
)
def test_a_value_that_was_left_out_with_its_version_unchanged(
    thread: Thread, observe: Callable[[object], None]
) -> None:
    """What becomes of a value that a checkpoint leaves out while it keeps the version.

    LangGraph gives a channel that it empties a new version, so that its runs do not meet this.
    """
    first = thread.put({"text": "value", "list": [1]})
    versions = first.checkpoint["channel_versions"]
    second = thread.put({}, parent=first, versions=versions, changed=[])
    back = tuple(sorted(values_of(thread.read(second))))
    words = {
        ("list", "text"): "comes back",
        (): "stays away",
        ("list",): "stays away, but containers come back",
    }
    observe(words.get(back, f"{back} come back"))


# -- putting an id again


@rule(SHOULD, source="InMemorySaver.put, SqliteSaver.put, PostgresSaver.put")
def test_putting_an_id_again_replaces_the_checkpoint(thread: Thread) -> None:
    """A second put of a checkpoint id replaces the values and the metadata, whole, also where it was read before.

    Put is retried after a lost answer, and mended checkpoints are put back: what was put last is the truth.
    """
    first = thread.put({"text": "first", "list": ["first"], "gone": 1}, metadata={"note": "first", "gone": 1})
    thread.read(first)  # what was read before is no reason to go on showing it
    values = {"text": "again", "list": ["again"]}
    newer = dict.fromkeys(
        values, thread.saver.get_next_version(max(first.checkpoint["channel_versions"].values()), None)
    )
    again = thread.make(values, id=first.id, versions=newer, metadata={"note": "again"})
    thread.saver.put(thread.config(), *arguments_of(again)[1:])
    found = thread.read(first)
    expect_same(
        (as_stored(again), values, False),
        (as_read(found), values_of(thread.latest()), "gone" in found.metadata),
        "the checkpoint, its values when found as the latest, and whether metadata of the first put is still there",
    )


@rule(SHOULD, source="InMemorySaver.put, SqliteSaver.put, PostgresSaver.put")
def test_putting_an_id_again_lists_it_once(thread: Thread) -> None:
    """A checkpoint id that was put twice is listed once.

    A retried put must not show in history as a step of its own.
    """
    first, second = thread.chain(2)
    for _ in range(2):
        thread.saver.put(*arguments_of(first))
    expect_same([second.id, first.id], thread.listed_ids(), "the ids listed")


@rule(MUST, source="Checkpoint.id (can be used for sorting checkpoints from first to last)")
def test_putting_an_older_id_again_does_not_make_it_the_latest(thread: Thread) -> None:
    """The latest checkpoint is the one with the greatest id, also after an older one was put again.

    A saver that keeps a pointer to what was put last would send a thread back to an old state.
    """
    first, second = thread.chain(2)
    thread.saver.put(*arguments_of(first))
    expect_same(second.id, thread.latest().checkpoint["id"], "the latest checkpoint's id")


@rule(
    QUIRK,
    source="InMemorySaver.put, SqliteSaver.put, PostgresSaver.put",
    officials={
        "InMemorySaver": "the parent of the last put",
        "SqliteSaver": "the parent of the last put",
        "PostgresSaver": "the parent of the first put",
    },
)
def test_the_parent_of_an_id_that_is_put_again(thread: Thread, observe: Callable[[object], None]) -> None:
    """Which parent a checkpoint has that is put again on another one."""
    one, two = thread.put({"channel": 1}), thread.put({"channel": 2})
    child = thread.put({"channel": 3}, parent=one)
    thread.saver.put(two.config, *arguments_of(child)[1:])
    words = {
        address_of(one.config): "the parent of the first put",
        address_of(two.config): "the parent of the last put",
    }
    observe(words.get(address_of(thread.read(child).parent_config), "another parent, or none"))


@rule(
    QUIRK,
    source="InMemorySaver.put, SqliteSaver.put, PostgresSaver.put",
    officials={
        "InMemorySaver": "the value of the last put",
        "SqliteSaver": "the value of the last put",
        "PostgresSaver": "the value of the first put for containers, of the last one for plain values",
    },
)
def test_another_value_under_a_version_that_is_stored(thread: Thread, observe: Callable[[object], None]) -> None:
    """What is read when an id is put again with other values under the same versions.

    A version stands for one value: LangGraph never does this on one branch of a thread.
    """
    first = thread.put({"text": "first", "list": ["first"]})
    versions = first.checkpoint["channel_versions"]
    last = thread.make({"text": "last", "list": ["last"]}, id=first.id, versions=versions, changed=list(versions))
    thread.saver.put(*arguments_of(last))
    values = values_of(thread.read(first))
    words: Mapping[Any, str] = {
        ("last", ("last",)): "the value of the last put",
        ("first", ("first",)): "the value of the first put",
        ("last", ("first",)): "the value of the first put for containers, of the last one for plain values",
    }
    observe(words.get((values.get("text"), tuple(values.get("list", ()))), f"{values}"))


# -- order


@rule(MUST, source="Checkpoint.id (can be used for sorting); pregel/_checkpoint.py checkpoint_superseded")
@pytest.mark.parametrize(
    "order",
    [(2, 1, 0), (2, 0, 1), (1, 2, 0)],
    ids=["reversed", "greatest-first", "smallest-last"],
)
def test_the_latest_checkpoint_is_the_one_with_the_greatest_id(thread: Thread, order: Sequence[int]) -> None:
    """Without a checkpoint id `get_tuple` gives the one with the greatest id, in whatever order they were put.

    Not the one put last, nor the one with the newest `ts` or the highest step: writers on other machines, retries and
    restored backups put out of order, and a thread must not go on from an old state.
    """
    ids = [str(uuid6(clock_seq=number)) for number in range(3)]
    for step, position in enumerate(order):
        thread.put({"channel": position}, id=ids[position], metadata={"step": step})
    expect_same(ids[2], thread.latest().checkpoint["id"], "the latest checkpoint's id")


@rule(MUST, source="Checkpoint.id (monotonically increasing)")
def test_puts_in_quick_succession_stay_in_order(thread: Thread) -> None:
    """Of 20 checkpoints that are put in a tight loop the last one is the latest.

    A short graph makes several steps within a millisecond. Where the order comes from timestamps of a second or a
    millisecond, an older state wins.
    """
    stored = thread.chain(20)
    expect_same(stored[-1].id, thread.latest().checkpoint["id"], "the latest checkpoint's id")


# -- what a put leaves alone


@rule(MUST, source="pregel/_loop.py uses config, metadata and versions after the put; pregel/main.py")
def test_put_does_not_change_its_arguments(saver: SaverDrive, thread: Thread) -> None:
    """`put` leaves the config, checkpoint, metadata and new_versions that it was given as they were.

    The engine goes on with the very same objects while the put runs in the background.
    """
    first = thread.put({"text": "value", "list": [1]}, versions_seen={"node": {"text": "1"}})
    made = thread.make({"text": "new", "list": [2], "none": None}, parent=first, metadata={"nested": {"list": [1]}})
    arguments = arguments_of(made)
    arguments[0].update({"tags": ["tag"], "metadata": {"user": "someone"}})
    arguments[0]["configurable"].update({"checkpoint_map": {"": first.id}, "user": "someone"})
    before = copy.deepcopy(arguments)
    saver.put(*arguments)
    expect_same(before, arguments, "config, checkpoint, metadata and new_versions after the put")


@rule(MUST, source="pregel/_loop.py (a failed put ends the run; the next run reads the thread)")
@pytest.mark.parametrize("place", ["a", "z"], ids=["first-channel", "last-channel"])
def test_a_failed_put_leaves_nothing(saver: SaverDrive, thread: Thread, place: str) -> None:
    """After a put that raised, here for a value that cannot be serialised, the thread reads as before.

    Half a checkpoint is worse than none: it is the latest, and it cannot be loaded, or lacks a part of the state.
    """
    first = thread.put({"a": ["kept"], "m": ["kept"], "z": ["kept"]})
    thread.write(first, [("a", "written")])
    before = state_of(thread)
    bad = thread.make({"a": ["new"], "m": ["new"], "z": ["new"]}, parent=first)
    make_fail(lambda: saver.put(*spoiled(bad, place)))
    found = saver.get_tuple(bad.config)
    expect_same(
        {"found by its id": False, "the thread": before},
        {"found by its id": found is not None and found.checkpoint["id"] == bad.id, "the thread": state_of(thread)},
        "what can be read after the failed put",
    )


@rule(MUST, source="pregel/_loop.py (the node is run again, and its checkpoint put again)")
@pytest.mark.parametrize("place", ["a", "z"], ids=["first-channel", "last-channel"])
def test_a_failed_put_can_be_repeated(saver: SaverDrive, thread: Thread, place: str) -> None:
    """A put that raised can be made again with values that can be stored, and all of them are read.

    What the failed attempt left behind must not block the id or its versions.
    """
    first = thread.put({"a": ["kept"], "m": ["kept"], "z": ["kept"]})
    good = thread.make({"a": ["new"], "m": ["new"], "z": ["new"]}, parent=first)
    make_fail(lambda: saver.put(*spoiled(good, place)))
    saver.put(*arguments_of(good))
    expect_same(dict(good.values), values_of(thread.read(good)), "the channel values")


@cache
def random_bytes(size: int) -> bytes:
    """Bytes that no compression makes smaller."""
    return random.Random(size).randbytes(size)


def digests(values: Mapping[str, Any]) -> dict[str, tuple[str, int, str]]:
    """Types, sizes and digests: large values would drown a message."""
    return {name: (type(value).__name__, len(value), digest(value)) for name, value in values.items()}


def digest(value: Any) -> str:
    return hashlib.sha256(value if isinstance(value, bytes) else repr(value).encode()).hexdigest()


@contextmanager
def contained(saver: SaverDrive) -> Iterator[None]:
    """Keep from other checks a connection that large values ended, and from a script the megabytes."""
    try:
        yield
    except Exception:
        saver.broken = True
        raise
    finally:
        saver.calls.clear()


def try_smaller(thread: Thread, subject: Subject, size: int) -> None:
    """Put ever larger values up to ``size``; skip when one of that size would not be stored in time."""
    tried = 10_000
    while tried < size:
        began = time.monotonic()
        refused(partial(thread.put, {"channel": random_bytes(tried)}))
        took, larger = time.monotonic() - began, min(tried * 20, size)
        if took * larger / tried > subject.seconds / 6:
            pytest.skip(f"storing {tried} bytes took {took:.1f} s: {size} bytes would take too long to try")
        tried = larger


@rule(MUST, source="BaseCheckpointSaver.put; databases have limits: 64 KiB, 400 KB, 1 MB, 16 MB")
@pytest.mark.parametrize(
    ("channels", "size"),
    [(1, 70_000), (1, 500_000), (1, 3_000_000), (1, 17_000_000), (200, 10_000)],
    ids=["70KB", "500KB", "3MB", "17MB", "200x10KB"],
)
def test_a_large_checkpoint_is_stored_whole_or_refused(
    saver: SaverDrive, thread: Thread, subject: Subject, channels: int, size: int
) -> None:
    """A checkpoint beyond what the backend can hold is refused with an error, and the thread reads as before.

    Cut off, or stored in part, it is a thread that can never be loaded again. An error tells the user in time.
    """
    value = random_bytes(size)
    with contained(saver):
        try_smaller(thread, subject, channels * size)
        before = thread.put({f"channel{number}": b"small" for number in range(channels)})
        made = thread.make({f"channel{number}": value for number in range(channels)}, parent=before)
        expected = before if refused(lambda: thread.store(made)) else made
        found = thread.latest()
    expect_same(
        (expected.id, digests(expected.values)),
        (found.checkpoint["id"], digests(values_of(found))),
        "the latest checkpoint's id, and the size and digest of its values",
    )


# -- configs that say too little


@rule(SHOULD, source="InMemorySaver.put, SqliteSaver.put, PostgresSaver.put raise KeyError")
@pytest.mark.parametrize("config", [{"configurable": {"checkpoint_ns": ""}}, {}], ids=["no-thread-id", "nothing"])
def test_put_without_a_thread_id_raises(saver: SaverDrive, thread: Thread, config: Any) -> None:
    """`put` with a config that has no `thread_id` raises.

    Filed under a default name, the states of all callers that forgot it would be one thread, readable by each.
    """
    made = thread.make({"channel": "value"})
    expect_raises(Exception, lambda: saver.put(config, *arguments_of(made)[1:]), "put without a thread id")


@rule(SHOULD, source="InMemorySaver.put, SqliteSaver.put, PostgresSaver.put raise KeyError")
def test_put_without_a_namespace_raises_or_means_the_root(saver: SaverDrive, thread: Thread) -> None:
    """`put` with a config that has no `checkpoint_ns` raises, or stores in the root namespace.

    The official savers raise. A namespace of another name, such as "None", is one that no read ever looks into.
    """
    made = thread.make({"channel": "value"}, parent=thread.put({"channel": "earlier"}))
    raised = refused(lambda: saver.put(thread.config(ns=None), *arguments_of(made)[1:]))
    latest = thread.latest().checkpoint["id"]
    expect_true(raised or latest == made.id, "the root's latest after put without a namespace", made.id, latest)
