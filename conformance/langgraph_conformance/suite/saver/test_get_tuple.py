"""get_tuple and get: which checkpoint is found, and that it is the same whichever way it was found."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.serde.types import INTERRUPT, TASKS
from langgraph.types import Send

from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.expect import expect_same
from langgraph_conformance.rules import MUST, QUIRK, SHOULD, rule
from langgraph_conformance.threads import Stored, Thread, address_of, as_read, config_of, fields_of, fresh_id, writes_of

Ways = Mapping[str, Callable[[Thread, Stored], CheckpointTuple | None]]

WAYS: Ways = {
    "the latest": lambda thread, stored: thread.saver.get_tuple(thread.config(ns=stored.ns)),
    "by its id": lambda thread, stored: thread.saver.get_tuple(stored.config),
    "listed": lambda thread, stored: next(iter(thread.saver.list(thread.config(ns=stored.ns))), None),
}


def everything(found: CheckpointTuple | None) -> dict[str, Any] | None:
    """All of a tuple but its pending writes."""
    return found and as_read(found)


def full(thread: Thread, ns: str) -> Stored:
    """A checkpoint with a parent and something of everything."""
    first = thread.put({"text": "old", "kept": {"list": [1]}}, ns=ns)
    return thread.put(
        {"text": "new", "kept": {"list": [1]}, "none": None, "bytes": b"\x00\xff"},
        parent=first,
        metadata={"none": None, "nested": {"list": [1, {"deep": None}]}, "user": "someone"},
        versions_seen={"__input__": {}, "node": {"text": first.checkpoint["channel_versions"]["text"]}},
        updated_channels=["bytes", "none", "text"],
    )


def whole(thread: Thread) -> list[Any]:
    """All that can be read of a thread's root namespace, in list's order."""
    return [(as_read(found), writes_of(found)) for found in thread.saver.list(thread.config())]


# -- what is not there


@rule(MUST, source="BaseCheckpointSaver.get_tuple (None if not found)")
@pytest.mark.parametrize("given", ["no-id", "an-id"])
def test_an_unknown_thread_gives_none(saver: SaverDrive, given: str) -> None:
    """A thread that has no checkpoints gives None.

    Every new conversation starts with this read: an error, or another thread's state, ends or spoils its first run.
    """
    checkpoint_id = {"no-id": None, "an-id": str(uuid6())}[given]
    expect_same(None, saver.get_tuple(config_of(fresh_id(), "", checkpoint_id)), "get_tuple of an unknown thread")


@rule(MUST, source="BaseCheckpointSaver.get_tuple (None if not found)")
@pytest.mark.parametrize("given", ["no-id", "an-id"])
def test_an_unknown_namespace_gives_none(saver: SaverDrive, thread: Thread, given: str) -> None:
    """A namespace that has no checkpoints gives None, also in a thread that has some.

    A subgraph that runs for the first time starts with this read.
    """
    thread.put({"channel": "value"})
    checkpoint_id = {"no-id": None, "an-id": str(uuid6())}[given]
    expect_same(
        None,
        saver.get_tuple(thread.config(ns="child:1", checkpoint_id=checkpoint_id)),
        "get_tuple of an unknown namespace",
    )


@rule(MUST, source="BaseCheckpointSaver.get_tuple (None if not found)")
def test_an_unknown_checkpoint_id_gives_none(saver: SaverDrive, thread: Thread) -> None:
    """A checkpoint id that is not stored gives None: not the latest, the nearest, or one that begins alike.

    Time travel to a checkpoint that was deleted would otherwise run from another state without a word.
    """
    ids = [str(uuid6(clock_seq=number)) for number in range(5)]
    thread.put({"channel": 1}, id=ids[1])
    thread.put({"channel": 2}, id=ids[3])
    unknown = {"smaller": ids[0], "between": ids[2], "greater": ids[4], "cut off": ids[3][:-1], "longer": f"{ids[3]}0"}
    found = {which: saver.get_tuple(thread.config(checkpoint_id=each)) for which, each in unknown.items()}
    expect_same(
        dict.fromkeys(unknown),
        {which: each and each.checkpoint["id"] for which, each in found.items()},
        "what is found",
    )


@rule(MUST, source="BaseCheckpointSaver.get_tuple; a namespace is a graph of its own")
def test_a_checkpoint_of_another_namespace_is_not_found(saver: SaverDrive, thread: Thread) -> None:
    """The id of a checkpoint in another namespace of the thread gives None.

    A subgraph would be handed its parent's state, or the parent a subgraph's, whose channels it does not have.
    """
    stored = {ns: thread.put({"channel": ns}, ns=ns) for ns in ("", "child:1", "child:2")}
    pairs = [(asked, ns) for asked in stored for ns in stored if asked != ns]
    found = {pair: saver.get_tuple(thread.config(ns=pair[0], checkpoint_id=stored[pair[1]].id)) for pair in pairs}
    expect_same(
        dict.fromkeys(pairs),
        {pair: each and each.checkpoint["id"] for pair, each in found.items()},
        "what is found, by the namespace asked and the one that has the id",
    )


@rule(MUST, source="BaseCheckpointSaver.get_tuple")
def test_a_checkpoint_of_another_thread_is_not_found(new_thread: Callable[..., Thread]) -> None:
    """The id of a checkpoint in another thread gives None.

    A checkpoint id is no secret: with it alone a user would read the state of another one.
    """
    mine, another = new_thread(), new_thread()
    stored = another.put({"channel": "secret"})
    mine.put({"channel": "value"})
    expect_same(None, mine.saver.get_tuple(mine.config(checkpoint_id=stored.id)), "get_tuple in the other thread")


@rule(MUST, source="BaseCheckpointSaver.get_tuple; pregel/_loop.py")
@pytest.mark.parametrize("order", [1, -1], ids=["parents-first", "children-first"])
def test_the_latest_checkpoint_is_that_of_the_namespace(thread: Thread, order: int) -> None:
    """The latest checkpoint is looked for in exactly the namespace that is asked for.

    Subgraphs run after their parent's step was stored, so that theirs are the newest checkpoints of the thread: a
    parent that resumes from one of them has lost its own state.
    """
    namespaces = ["", "child", "child:1", "child:10", "child:1|leaf:2"][::order]
    stored = {ns: thread.put({"channel": ns}, ns=ns) for ns in namespaces}
    expect_same(
        {ns: each.id for ns, each in stored.items()},
        {ns: thread.latest(ns=ns).checkpoint["id"] for ns in namespaces},
        "the id of the latest checkpoint in each namespace",
    )


@rule(
    MUST, source="BaseCheckpointSaver.get_tuple: greatest id; pregel/_loop.py writes to older checkpoints in a replay"
)
def test_writes_to_an_older_checkpoint_do_not_make_it_the_latest(thread: Thread) -> None:
    """The latest checkpoint stays the latest when an older one gets pending writes.

    A replay writes to old checkpoints, and late tasks of a step to the one before: going by the last change, the thread
    falls back to them.
    """
    first, second = thread.chain(2)
    thread.write(first, [("count", 5), (INTERRUPT, "question")], task="late")
    expect_same(
        {"latest": second.id, "listed": [second.id, first.id]},
        {"latest": thread.latest().checkpoint["id"], "listed": thread.listed_ids()},
        "the ids found after writes to the first of two checkpoints",
    )


# -- the same whichever way it was found


@rule(MUST, source="BaseCheckpointSaver.get_tuple, list; get_state and get_state_history show the same checkpoint")
@pytest.mark.parametrize("ns", ["", "child:abc"], ids=["root", "child"])
def test_a_checkpoint_is_the_same_whichever_way_it_is_found(thread: Thread, ns: str) -> None:
    """A checkpoint found as the latest, by its id and in a list has the same address, content, metadata and parent.

    A run starts from the latest, time travel from an id, history from a list: what one of them leaves out is missing
    just there.
    """
    stored = full(thread, ns)
    expect_same(
        dict.fromkeys(WAYS, everything(thread.read(stored))),
        {way: everything(find(thread, stored)) for way, find in WAYS.items()},
        "the checkpoint, by the way it was found, beside what it is when found by its id",
    )


@rule(MUST, source="CheckpointTuple.pending_writes; pregel/_loop.py reads them from get_tuple, history from list")
@pytest.mark.parametrize("ns", ["", "child:abc"], ids=["root", "child"])
def test_pending_writes_come_on_every_way(thread: Thread, ns: str) -> None:
    """A checkpoint has its pending writes when it is found as the latest, by its id and in a list.

    A resume reads the latest and skips the tasks that have ended. Without their writes they run, and act, again.
    """
    stored = full(thread, ns)
    thread.write(stored, [("text", "written"), ("kept", {"list": [2]})], task="task1", path="~1")
    thread.write(stored, [(INTERRUPT, ["question"])], task="task2", path="~2")
    writes = [("task1", "text", "written"), ("task1", "kept", {"list": [2]}), ("task2", INTERRUPT, ["question"])]
    found = {way: find(thread, stored) for way, find in WAYS.items()}
    expect_same(
        dict.fromkeys(WAYS, writes),
        {way: each and writes_of(each) for way, each in found.items()},
        "the pending writes, by the way the checkpoint was found",
    )


@rule(MUST, source="BaseCheckpointSaver.get_tuple, list")
def test_an_older_checkpoint_is_read_as_it_was(thread: Thread) -> None:
    """A checkpoint that has descendants is read by its id as it was put, with the values it had then.

    History and time travel show each step as it was, not as the thread is now.
    """
    chain = thread.chain(4)
    expect_same(
        [(each.id, dict(each.values)) for each in chain],
        [(found.checkpoint["id"], dict(found.checkpoint["channel_values"])) for found in map(thread.read, chain)],
        "ids and channel values of the checkpoints",
    )


@rule(MUST, source="pregel/_loop.py and pregel/main.py merge saved.config over their own")
def test_the_config_found_without_an_id_leads_back(saver: SaverDrive, thread: Thread) -> None:
    """The config of a tuple that was found without an id names its thread and checkpoint, and finds it again.

    The engine puts the next checkpoint on it, and users keep it as the place to come back to.
    """
    stored = thread.chain(2)[-1]
    found = thread.latest()
    thread.put({"count": "later"}, parent=stored)
    again = saver.get_tuple(found.config)
    expect_same(
        {"thread": thread.id, "id": stored.id, "found again": stored.id},
        {
            "thread": found.config["configurable"].get("thread_id"),
            "id": found.config["configurable"].get("checkpoint_id"),
            "found again": again and again.checkpoint["id"],
        },
        "the config of the latest checkpoint",
    )


@rule(
    SHOULD,
    source="InMemorySaver, SqliteSaver and PostgresSaver: get_tuple, list",
    aliases=("saver.get_tuple.configs_hold_the_address_and_nothing_else",),
)
@pytest.mark.parametrize("ns", ["", "child:abc"], ids=["root", "child"])
def test_configs_hold_the_address_and_nothing_of_the_callers(saver: SaverDrive, thread: Thread, ns: str) -> None:
    """The configs that a read makes have thread_id, checkpoint_ns and checkpoint_id, and nothing of the caller's.

    These are the config of a tuple found without an id or in a list, and every parent_config. They are stored and
    handed to users: one user's keys, or the engine's objects, have no place in them.
    """
    stored = thread.chain(2, ns=ns)[-1]
    parent = stored.parent.config if stored.parent else None
    callers: dict[str, Any] = {"user": "someone", "__pregel_task_id": "task"}
    latest = saver.get_tuple(thread.config(ns=ns, **callers))
    by_id = saver.get_tuple(stored.config)
    listed = next(iter(saver.list(thread.config(ns=ns, **callers))), None)
    configs = {
        "latest": latest and latest.config,
        "latest's parent": latest and latest.parent_config,
        "listed": listed and listed.config,
        "listed's parent": listed and listed.parent_config,
        "parent by id": by_id and by_id.parent_config,
    }
    addresses = [stored.config, parent, stored.config, parent, parent]
    expect_same(
        {name: (address_of(address), []) for name, address in zip(configs, addresses, strict=True)},
        {
            name: (address_of(config), sorted(callers.keys() & (config or {}).get("configurable", {}).keys()))
            for name, config in configs.items()
        },
        "the address in each config, and the caller's keys in it",
    )


@rule(
    QUIRK,
    source="InMemorySaver, SqliteSaver and PostgresSaver: get_tuple",
    officials={
        "InMemorySaver": "the config that was asked with",
        "SqliteSaver": "the config that was asked with",
        "PostgresSaver": "thread id, namespace and checkpoint id only",
    },
)
def test_the_config_of_a_tuple_found_by_its_id(
    saver: SaverDrive, thread: Thread, observe: Callable[[object], None]
) -> None:
    """Which config a tuple has that was found by its id, when the config asked with holds more than the address."""
    stored = thread.put({"channel": "value"})
    asked = thread.config(checkpoint_id=stored.id, user="someone")
    found = saver.get_tuple(asked)
    words = {True: "the config that was asked with", False: "thread id, namespace and checkpoint id only"}
    observe(words[found is not None and "user" in found.config["configurable"]])


# -- configs that say little


@rule(MUST, source="pregel/_checkpoint.py checkpoint_superseded asks with checkpoint_id None")
def test_a_checkpoint_id_of_none_means_the_latest(saver: SaverDrive, thread: Thread) -> None:
    """`checkpoint_id: None` is the same as none: the latest checkpoint.

    The engine asks this way whether a thread has moved on since the checkpoint a run was started from.
    """
    stored = thread.chain(2)[-1]
    found = saver.get_tuple({"configurable": {**thread.config()["configurable"], "checkpoint_id": None}})
    expect_same(stored.id, found and found.checkpoint["id"], "the id of the checkpoint found")


@rule(SHOULD, source="get_checkpoint_id; InMemorySaver, SqliteSaver and PostgresSaver: get_tuple")
def test_an_empty_checkpoint_id_means_the_latest(saver: SaverDrive, thread: Thread) -> None:
    """An empty `checkpoint_id` is the same as none: the latest checkpoint."""
    stored = thread.chain(2)[-1]
    found = saver.get_tuple(thread.config(checkpoint_id=""))
    expect_same(stored.id, found and found.checkpoint["id"], "the id of the checkpoint found")


@rule(MUST, source="pregel/main.py get_state passes the user's config, which may have no checkpoint_ns")
@pytest.mark.parametrize("by", ["latest", "id"])
def test_a_config_without_a_namespace_means_the_root(saver: SaverDrive, thread: Thread, by: str) -> None:
    """A config without `checkpoint_ns` finds the root's checkpoints, and no subgraph's.

    `graph.get_state({"configurable": {"thread_id": ...}})` is how everybody asks for a state.
    """
    stored = thread.put({"channel": "root"})
    thread.put({"channel": "child"}, ns="child:1")
    found = saver.get_tuple(thread.config(ns=None, checkpoint_id={"latest": None, "id": stored.id}[by]))
    expect_same(stored.id, found and found.checkpoint["id"], "the id of the checkpoint found")


@rule(SHOULD, source="InMemorySaver, SqliteSaver and PostgresSaver raise KeyError")
@pytest.mark.parametrize("config", [{"configurable": {"checkpoint_ns": ""}}, {}], ids=["no-thread-id", "nothing"])
def test_a_config_without_a_thread_id_finds_nothing(saver: SaverDrive, thread: Thread, config: Any) -> None:
    """A config without `thread_id` raises, and by no means finds a checkpoint of some thread.

    A server that forgets the id would show one user the state of another.
    """
    thread.put({"channel": "value"})
    expect_same(None, found_or_error(saver, config), "what get_tuple without a thread id finds")


def found_or_error(saver: SaverDrive, config: Any) -> CheckpointTuple | None:
    """What is found; an error is as good as nothing."""
    try:
        return saver.get_tuple(config)
    except Exception:
        return None


# -- get


@rule(MUST, source="BaseCheckpointSaver.get")
@pytest.mark.parametrize("by", ["latest", "id"])
def test_get_gives_the_checkpoint_of_the_tuple(saver: SaverDrive, thread: Thread, by: str) -> None:
    """`get` gives the checkpoint of the tuple that `get_tuple` gives."""
    stored = thread.chain(2)[-1]
    config = thread.config(checkpoint_id={"latest": None, "id": stored.id}[by])
    found = saver.get_tuple(config)
    expect_same(found and fields_of(found.checkpoint), fields_of(saver.get(config)), "what get gives, beside get_tuple")


@rule(MUST, source="BaseCheckpointSaver.get (None if not found)")
def test_get_of_an_unknown_thread_gives_none(saver: SaverDrive) -> None:
    """`get` of a thread that has no checkpoints gives None."""
    expect_same(None, saver.get(config_of(fresh_id())), "what get gives")


# -- pending writes


@rule(MUST, source="CheckpointTuple.pending_writes; pregel/_loop.py unpacks (task id, channel, value)")
def test_pending_writes_are_triples(thread: Thread) -> None:
    """`pending_writes` is a sequence of (task id, channel, value), empty or None when there are no writes.

    The engine unpacks each of them into exactly these three.
    """
    none = thread.put({"channel": "value"})
    some = thread.put({"channel": "value"}, parent=none)
    thread.write(some, [("channel", {"a": 1}), ("other", None)], task="task", path="~path")
    expect_same(
        {"without": [], "with": [("task", "channel", {"a": 1}), ("task", "other", None)]},
        {"without": writes_of(thread.read(none)), "with": writes_of(thread.read(some))},
        "pending_writes",
    )


# -- reads change nothing


@rule(MUST, source="pregel/_loop.py and pregel/main.py use the config afterwards")
@pytest.mark.parametrize("method", ["get_tuple", "get"])
def test_a_read_does_not_change_its_config(saver: SaverDrive, thread: Thread, method: str) -> None:
    """`get_tuple` and `get` leave the config that they were given as it was.

    The engine merges what it found into it and goes on with it: a key taken out is missing in every later call.
    """
    stored = thread.put({"channel": "value"})
    configs = [thread.config(user="someone", checkpoint_map={"": "id"}), thread.config(ns=None), stored.config]
    before = copy.deepcopy(configs)
    for config in configs:
        saver.call(method, config)
    expect_same(before, configs, "the configs after the reads")


@rule(MUST, source="BaseCheckpointSaver.get_tuple, list, get; get_state is called at any time")
def test_reading_changes_nothing(saver: SaverDrive, thread: Thread) -> None:
    """A thread reads the same after it was read in every way.

    A read that uses up pending writes, moves a pointer or writes back what it mended changes what a run does next,
    only because somebody looked.
    """
    first = full(thread, "")
    second = thread.put({"text": "newest"}, parent=first)
    thread.write(first, [("text", "written")])
    thread.write(second, [("text", "written"), (INTERRUPT, ["question"])])
    before = whole(thread)
    for config in (thread.config(), first.config, second.config, thread.config(ns="child:1")):
        saver.get_tuple(config)
        saver.get(config)
        saver.list(config)
    expect_same(before, whole(thread), "the thread, listed")


@rule(SHOULD, source="InMemorySaver, SqliteSaver and PostgresSaver")
def test_reading_an_unknown_thread_leaves_no_trace(saver: SaverDrive, thread: Thread) -> None:
    """A thread or namespace that was only read is still not there: no checkpoint is made for it, and none is listed.

    A server that looks up whatever ids it is asked for would fill its database with them.
    """
    thread.put({"channel": "value"})
    unknown = fresh_id()
    configs = [config_of(unknown), config_of(unknown, "child:1"), config_of(unknown, "", str(uuid6()))]
    for config in [*configs, thread.config(ns="child:1")]:
        saver.get_tuple(config)
    expect_same(
        {"the thread": [], "the namespace": [], "found": None},
        {
            "the thread": [address_of(found.config) for found in saver.list(config_of(unknown, None))],
            "the namespace": thread.listed_ids(ns="child:1"),
            "found": saver.get_tuple(configs[0]),
        },
        "what is there after the reads",
    )


# -- older formats


@rule(MUST, source="Checkpoint.v; pregel/main.py migrates what it loads")
@pytest.mark.parametrize("v", [1, 3, 5])
def test_checkpoints_of_other_formats_are_read(thread: Thread, v: int) -> None:
    """A checkpoint of another format `v` than today's is read back with its `v` and values.

    Threads outlive LangGraph's versions. The engine migrates what it loads, by its `v`.
    """
    parent = thread.put({"channel": ["old"]}, extra={"v": v})
    stored = thread.put({"channel": ["new"]}, parent=parent, extra={"v": v})
    checkpoint = thread.read(stored).checkpoint
    expected = {"v": v if checkpoint["v"] != 4 else 4, "channel_values": {"channel": ["new"]}}  # 4: it was migrated
    expect_same(expected, {name: checkpoint.get(name) for name in expected}, "the checkpoint's v and channel values")


@rule(
    QUIRK,
    source="PostgresSaver migrates pending sends of checkpoints with v < 4",
    officials={
        "InMemorySaver": "stay pending writes of the parent",
        "SqliteSaver": "stay pending writes of the parent",
        "PostgresSaver": "are a channel of the child",
    },
)
def test_the_pending_sends_of_an_older_checkpoint(thread: Thread, observe: Callable[[object], None]) -> None:
    """Where the Sends are that a checkpoint of a format before 4 left as pending writes of its parent.

    LangGraph 0.4 and earlier kept them there. A thread that was stored then goes on only where they are found.
    """
    parent = thread.put({"channel": 1}, extra={"v": 3})
    thread.write(parent, [(TASKS, Send("node", 1))])
    child = thread.put({"channel": 2}, parent=parent, extra={"v": 3})
    values = thread.read(child).checkpoint["channel_values"]
    words = {True: "are a channel of the child", False: "stay pending writes of the parent"}
    observe(words[values.get(TASKS) == [Send("node", 1)]])
