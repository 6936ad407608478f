"""get_delta_channel_history."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde import types

from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.expect import expect_same
from langgraph_conformance.rules import MUST, QUIRK, SHOULD, rule
from langgraph_conformance.threads import Stored, Thread, config_of, fresh_id

SOURCE = "BaseCheckpointSaver.get_delta_channel_history"
NEEDS = "delta_history"
EMPTY: Mapping[str, Any] = {"writes": []}


def history_of(saver: SaverDrive, config: Any, *channels: str) -> dict[str, dict[str, Any]]:
    """The history of channels, its writes as tuples in lists."""
    return plain(saver.get_delta_channel_history(config, list(channels)))


def plain(history: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """A history as plain dicts, lists and tuples."""
    return {
        channel: {**entry, "writes": [tuple(write) for write in entry["writes"]]} for channel, entry in history.items()
    }


def step(thread: Thread, parent: Stored | None, writes: Sequence[Any] = (), **settings: Any) -> Stored:
    """A checkpoint of a delta channel ``log``, which has a new version and no value unless one is given."""
    values = settings.pop("values", {})
    stored = thread.put(values, parent=parent, changed=["log", *values], **settings)
    if writes:
        thread.write(stored, [("log", value) for value in writes])
    return stored


def written(*values: Any, task: str = "task", channel: str = "log") -> list[tuple[str, str, Any]]:
    """Writes as they must come back."""
    return [(task, channel, value) for value in values]


@rule(MUST, source=SOURCE, needs=NEEDS)
def test_writes_come_oldest_first_from_the_root_on(saver: SaverDrive, thread: Thread) -> None:
    """Without a stored value the history has all writes of the ancestors, oldest first, and no seed.

    The engine starts the channel empty and replays the writes in that order: in another order, or without some of them,
    the conversation comes back jumbled or shorter.
    """
    first = step(thread, None, [1, 2])
    second = step(thread, first, [])
    third = step(thread, second, [3])
    head = step(thread, third)
    expect_same({"log": {"writes": written(1, 2, 3)}}, history_of(saver, head.config, "log"), "the history")


@rule(MUST, source=SOURCE, needs=NEEDS)
def test_the_checkpoints_own_value_and_writes_are_left_out(saver: SaverDrive, thread: Thread) -> None:
    """The history is that of the ancestors: the checkpoint's own value and its pending writes are not in it.

    The pending writes of a checkpoint belong to the step that comes next: replayed here they count twice.
    """
    first = step(thread, None, [1])
    head = step(thread, first, ["pending"], values={"log": ["own"]})
    expect_same({"log": {"writes": written(1)}}, history_of(saver, head.config, "log"), "the history")


@rule(MUST, source=SOURCE, needs=NEEDS)
@pytest.mark.parametrize("position", [0, 1, 2], ids=["root", "middle", "parent"])
@pytest.mark.parametrize("kind", ["snapshot", "snapshot-of-none", "list", "text"])
def test_the_seed_is_the_nearest_stored_value(saver: SaverDrive, thread: Thread, kind: str, position: int) -> None:
    """The seed is the value stored at the nearest ancestor that has one, be it a snapshot or a plain value.

    The walk must end there: older writes are in that value already and would count twice, and a thread that began with
    an ordinary channel has a plain value in its past.
    """
    seeds = {"snapshot": types._DeltaSnapshot(["seed"]), "snapshot-of-none": types._DeltaSnapshot(None)}
    seed = {**seeds, "list": ["seed"], "text": "seed"}[kind]
    values: list[dict[str, Any]] = [{}, {}, {}]
    values[position] = {"log": seed}
    stored: list[Stored] = []
    for count in range(3):
        stored.append(step(thread, stored[-1] if stored else None, values=values[count]))
    thread.write(stored[2], [("log", "last")])
    thread.write(stored[0], [("log", "first")])
    head = step(thread, stored[2])
    found = history_of(saver, head.config, "log")["log"]
    expect_same((True, seed), ("seed" in found, found.get("seed")), "the seed")


@rule(MUST, source=SOURCE, needs=NEEDS)
def test_the_nearest_of_several_values_is_the_seed(saver: SaverDrive, thread: Thread) -> None:
    """Of several stored values the nearest one is the seed, and what is older than it is left out.

    A seed that is too old, with the writes from there on, gives a state that the run never had.
    """
    first = step(thread, None, ["too old"], values={"log": ["too old"]})
    second = step(thread, first, ["too old"])
    third = step(thread, second, values={"log": ["seed"]})
    fourth = step(thread, third, ["after"])
    head = step(thread, fourth)
    expected = {"log": {"seed": ["seed"], "writes": written("after")}}
    expect_same(expected, history_of(saver, head.config, "log"), "the history")


@rule(MUST, source=SOURCE, since="langgraph-checkpoint>=4.2", needs=NEEDS)
@pytest.mark.parametrize("kind", ["snapshot", "plain"])
def test_the_writes_of_the_seeds_checkpoint_are_replayed(saver: SaverDrive, thread: Thread, kind: str) -> None:
    """Writes stored under the checkpoint that holds the seed come first: they were made after that value.

    A value is the state as its step began: without that step's own writes its update is lost.
    """
    seed = {"snapshot": types._DeltaSnapshot(["seed"]), "plain": ["seed"]}[kind]
    first = step(thread, step(thread, None, ["too old"]), ["at seed"], values={"log": seed})
    head = step(thread, step(thread, first, ["after"]))
    expected = {"log": {"seed": seed, "writes": written("at seed", "after")}}
    expect_same(expected, history_of(saver, head.config, "log"), "the history")


@rule(MUST, source=SOURCE, needs=NEEDS)
@pytest.mark.parametrize(
    "seed",
    [0, False, "", [], {}, b"", 0.0, True, 1],
    ids=["zero", "false", "text", "list", "dict", "bytes", "float", "true", "one"],
)
def test_any_value_is_a_seed(saver: SaverDrive, thread: Thread, seed: Any) -> None:
    """A stored value that Python takes for false, or that looks like a marker, is a seed like any other.

    An emptied list or a counter at zero is a state: walking past it brings back what had been removed.
    """
    first = step(thread, None, ["too old"], values={"log": ["too old"]})
    second = step(thread, first, values={"log": seed})
    head = step(thread, step(thread, second))
    expect_same({"log": {"seed": seed, "writes": []}}, history_of(saver, head.config, "log"), "the history")


@rule(MUST, source=SOURCE, needs=NEEDS)
def test_none_is_a_seed(saver: SaverDrive, thread: Thread) -> None:
    """A stored None is a seed like any other value.

    A channel that was set to None is not one that never had a value: walking past it brings back what was removed.
    """
    first = step(thread, None, ["too old"], values={"log": ["too old"]})
    second = step(thread, first, values={"log": None})
    head = step(thread, step(thread, second))
    expect_same({"log": {"seed": None, "writes": []}}, history_of(saver, head.config, "log"), "the history")


@rule(MUST, source=f"{SOURCE}; BaseCheckpointSaver.put: new_versions", needs=NEEDS)
def test_an_inherited_value_is_the_seed(saver: SaverDrive, thread: Thread) -> None:
    """A value that an ancestor inherits, under the version that an older one stored it with, counts at that ancestor.

    A channel that did not change is stored once: its value is the state at every checkpoint that names the version.
    """
    first = step(thread, None, ["too old"], values={"log": ["seed"]})
    second = thread.put({"log": ["seed"]}, parent=first)
    thread.write(second, [("log", "after")])
    head = step(thread, step(thread, second))
    expected = {"seed": ["seed"]}
    found = history_of(saver, head.config, "log")["log"]
    expect_same(expected, {"seed": found.get("seed")}, "the seed")
    expect_same(False, ("task", "log", "too old") in found["writes"], "whether a write older than the seed is in it")


@rule(MUST, source=SOURCE, needs=NEEDS)
def test_a_value_that_was_emptied_is_no_seed(saver: SaverDrive, thread: Thread) -> None:
    """An ancestor where the channel has a new version and no value has no seed: the walk goes on to the next one.

    Between two snapshots a delta channel is stored as emptied at every step.
    """
    first = step(thread, None, values={"log": ["seed"]})
    second = step(thread, first, [1])
    third = step(thread, second, [2])
    head = step(thread, third)
    expected = {"log": {"seed": ["seed"], "writes": written(1, 2)}}
    expect_same(expected, history_of(saver, head.config, "log"), "the history")


@rule(MUST, source=SOURCE, needs=NEEDS)
def test_a_channel_without_a_version_is_walked_all_the_same(saver: SaverDrive, thread: Thread) -> None:
    """Writes count at ancestors that do not name the channel in their versions, too.

    The first writes to a channel stand under a checkpoint that does not know it yet.
    """
    first = thread.put({"other": 1})
    thread.write(first, [("log", 1)])
    second = thread.put({"other": 2}, parent=first)
    thread.write(second, [("log", 2)])
    head = step(thread, second)
    expect_same({"log": {"writes": written(1, 2)}}, history_of(saver, head.config, "log"), "the history")


@rule(MUST, source=SOURCE, needs=NEEDS)
def test_each_channel_ends_at_its_own_seed(saver: SaverDrive, thread: Thread) -> None:
    """Channels asked for together are independent: each has its own seed, and its writes from there on.

    A graph asks for all of its delta channels at once, and each has its snapshots at other steps.
    """
    first = thread.put({"near": ["too old"], "far": ["far seed"]}, changed=["near", "far", "none", "empty"])
    thread.write(first, [("near", 0), ("none", 0)])
    second = thread.put({}, parent=first, changed=["near", "far", "none"])
    thread.write(second, [("near", 1), ("far", 1), ("none", 1)])
    third = thread.put({"near": ["near seed"]}, parent=second, changed=["near", "far", "none"])
    fourth = thread.put({}, parent=third, changed=["near", "far", "none"])
    thread.write(fourth, [("far", 2), ("near", 2), ("none", 2)])
    head = thread.put({}, parent=fourth, changed=["near", "far", "none"])
    expected = {
        "near": {"seed": ["near seed"], "writes": written(2, channel="near")},
        "far": {"seed": ["far seed"], "writes": written(1, 2, channel="far")},
        "none": {"writes": written(0, 1, 2, channel="none")},
        "empty": EMPTY,
        "unknown": EMPTY,
    }
    expect_same(expected, history_of(saver, head.config, *expected), "the histories")


@rule(MUST, source=SOURCE, needs=NEEDS)
def test_a_seed_without_writes_has_an_empty_list(saver: SaverDrive, thread: Thread) -> None:
    """Every channel that was asked for has an entry with `writes`, an empty list where there are none.

    The engine reads `writes` of each entry: a missing one ends the run with a KeyError.
    """
    head = step(thread, step(thread, None, values={"log": ["seed"]}))
    expected = {"log": {"seed": ["seed"], "writes": []}, "other": EMPTY}
    expect_same(expected, history_of(saver, head.config, "log", "other"), "the histories")


@rule(MUST, source=SOURCE, needs=NEEDS)
def test_no_channels_give_no_history(saver: SaverDrive, thread: Thread) -> None:
    """Asked for no channels, the history is empty.

    The base class says so, and a query that is built from an empty list of names is often an invalid one.
    """
    head = step(thread, step(thread, None, [1]))
    expect_same({}, history_of(saver, head.config), "the history of no channels")


@rule(MUST, source=f"{SOURCE}: parent chain, not list(before=...)", needs=NEEDS)
def test_other_branches_are_left_out(saver: SaverDrive, thread: Thread) -> None:
    """In a forked thread only the checkpoint's own ancestors count, not those of another branch.

    After time travel two conversations share their beginning: messages of one must not turn up in the other.
    """
    root = step(thread, None, ["root"])
    left = step(thread, root, ["left"])
    right = step(thread, root, ["right"], values={"log": ["right"]})
    left_head = step(thread, left)
    right_head = step(thread, right)
    expected = {"left": {"writes": written("root", "left")}, "right": {"seed": ["right"], "writes": written("right")}}
    found = {
        "left": history_of(saver, left_head.config, "log")["log"],
        "right": history_of(saver, right_head.config, "log")["log"],
    }
    expect_same(expected, found, "the histories of the two branches")


@rule(MUST, source=f"{SOURCE}: parent chain, not list(before=...)", needs=NEEDS)
def test_parents_are_followed_whatever_their_ids(saver: SaverDrive, thread: Thread) -> None:
    """The walk follows parents, also to one whose id sorts above that of its child.

    Ids are made on the machine that runs: after a move to another one, or when a clock is set back, a child's id can
    sort below its parent's, and everything before it would be lost.
    """
    root = step(thread, None, ["root"], id="5")
    parent = step(thread, root, ["parent"], id="9")
    head = step(thread, parent, id="7")
    expect_same({"log": {"writes": written("root", "parent")}}, history_of(saver, head.config, "log"), "the history")


@rule(MUST, source=SOURCE, needs=NEEDS)
def test_other_threads_and_namespaces_are_left_out(
    saver: SaverDrive, thread: Thread, new_thread: Callable[..., Thread]
) -> None:
    """Checkpoints with the same ids in another thread or namespace do not count.

    A copied conversation has the ids of the original: it must not be rebuilt from both.
    """
    other = new_thread()
    for place, ns, value in ((thread, "", "mine"), (other, "", "other thread"), (thread, "child:1", "other namespace")):
        root = step(place, None, [value], ns=ns, id="1")
        step(place, root, ns=ns, id="2")
    found = {ns: history_of(saver, config_of(thread.id, ns, "2"), "log")["log"]["writes"] for ns in ("", "child:1")}
    expect_same({"": written("mine"), "child:1": written("other namespace")}, found, "the writes by namespace")


@rule(MUST, source=SOURCE, needs=NEEDS)
def test_writes_of_a_task_keep_their_order(saver: SaverDrive, thread: Thread) -> None:
    """The writes of one task come in the order in which it made them, also more than ten of them.

    A node that appends twelve messages must find them in that order after a restart, not as 1, 10, 11, 2.
    """
    root = step(thread, None, range(12))
    head = step(thread, root)
    expect_same({"log": {"writes": written(*range(12))}}, history_of(saver, head.config, "log"), "the history")


@rule(MUST, source=f"{SOURCE}; pregel/_loop.py stores writes of a step while the next ones run", needs=NEEDS)
def test_writes_that_came_since_are_seen(saver: SaverDrive, thread: Thread) -> None:
    """A history that was read before has the writes that its checkpoints got since.

    Tasks may store their writes late: a history that is remembered leaves them out for ever.
    """
    first = step(thread, None, ["early"])
    head = step(thread, first)
    history_of(saver, head.config, "log")
    thread.write(first, [("log", "late")], task="task2")
    writes = [*written("early"), *written("late", task="task2")]
    expect_same({"log": {"writes": writes}}, history_of(saver, head.config, "log"), "the history")


@rule(
    MUST, source="pregel/_checkpoint.py rebuilds the channel from the seed, which its reducer may change", needs=NEEDS
)
def test_each_history_has_objects_of_its_own(saver: SaverDrive, thread: Thread) -> None:
    """What the caller does to a history changes neither what is stored nor the next history.

    A reducer appends to the seed in place: shared, each run would begin with what the run before added.
    """
    first = step(thread, None, [["written"]], values={"log": ["seed"]})
    head = step(thread, first)
    expected = {"log": {"seed": ["seed"], "writes": written(["written"])}}
    for entry in saver.get_delta_channel_history(head.config, ["log"]).values():
        entry["seed"].append("added")
        entry["writes"][0][2].append("added")
    expect_same(expected, history_of(saver, head.config, "log"), "the history after another one was changed")


@rule(MUST, source=SOURCE, needs=NEEDS)
def test_equal_writes_all_count(saver: SaverDrive, thread: Thread) -> None:
    """Writes of equal values are all replayed: of one task, of two tasks, and of two steps.

    A user may say "yes" twice: what selects distinct rows makes a conversation shorter.
    """
    first = step(thread, None, ["yes", "yes"])
    thread.write(first, [("log", "yes")], task="task2")
    second = step(thread, first, ["yes"])
    head = step(thread, second)
    writes = [*written("yes", "yes"), *written("yes", task="task2"), *written("yes")]
    expect_same({"log": {"writes": writes}}, history_of(saver, head.config, "log"), "the history")


@rule(SHOULD, source=f"{SOURCE}; DeltaChannelHistory; writes_sort_key", since="langgraph-checkpoint>=4.3", needs=NEEDS)
def test_parallel_tasks_are_replayed_by_their_path(saver: SaverDrive, thread: Thread) -> None:
    """Within a checkpoint writes are ordered by task path, then task id; writes without a path come first.

    The engine applied them in that order. Task ids are hashes: by them, the messages of parallel nodes change places
    when the conversation is loaded again.
    """
    root = step(thread, None)
    thread.write(root, [("log", "third")], task="a", path="~__pregel_pull, y")
    thread.write(root, [("log", "second")], task="z", path="~__pregel_pull, x")
    thread.write(root, [("log", "fourth")], task="b", path="~__pregel_pull, y")
    thread.write(root, [("log", "first")], task="y")
    head = step(thread, root)
    values = [write[2] for write in history_of(saver, head.config, "log")["log"]["writes"]]
    expect_same(["first", "second", "third", "fourth"], values, "the values written, in order")


@rule(MUST, source=SOURCE, needs=NEEDS)
def test_a_long_chain_is_walked_to_its_root(saver: SaverDrive, thread: Thread) -> None:
    """The walk reaches a seed that is many checkpoints away.

    Snapshots are thousands of steps apart where a channel is seldom written to: a walk that ends after a page, or at a
    limit for recursion, loses the rest without a word.
    """
    head = step(thread, None, values={"log": ["seed"]})
    for count in range(120):
        head = step(thread, head, [count] if count % 10 == 0 else [])
    head = step(thread, head)
    expected = {"log": {"seed": ["seed"], "writes": written(*range(0, 120, 10))}}
    expect_same(expected, history_of(saver, head.config, "log"), "the history")


@rule(MUST, source=SOURCE, needs=NEEDS)
def test_an_override_gives_what_the_base_class_gives(saver: SaverDrive, thread: Thread) -> None:
    """A saver's own walk gives the same histories as the base class's, which follows `get_tuple` and parents.

    The base class fixes what is returned: its walk is overridden for speed alone.
    """
    root = step(thread, None, ["root"], values={"log": ["too old"], "plain": 1, "zero": 0})
    thread.write(root, [("other", "root"), ("plain", 2)], task="second")
    seeded = step(thread, root, ["at seed"], values={"log": types._DeltaSnapshot({"a": [1]})})
    fork = step(thread, root, ["fork"], values={"zero": 5})
    thread.write(seeded, [("other", "x"), ("zero", 1), ("other", "y")], task="second")
    after = step(thread, seeded, ["after", {"b": 2}])
    heads = [root, seeded, fork, after, step(thread, after), step(thread, fork)]
    channels = ["log", "other", "plain", "zero", "unknown"]
    expected = {head.id: plain(base_walk(saver, head, channels)) for head in heads}
    found = {head.id: history_of(saver, head.config, *channels) for head in heads}
    expect_same(expected, found, "the histories by checkpoint id")


def base_walk(saver: SaverDrive, head: Stored, channels: list[str]) -> Mapping[str, Any]:
    """The history by the base class's walk over this saver."""
    arguments: dict[str, Any] = {"config": head.config, "channels": channels}
    if saver.mode == "sync":
        return BaseCheckpointSaver.get_delta_channel_history(saver.raw, **arguments)
    found: Mapping[str, Any] = saver.run(lambda: BaseCheckpointSaver.aget_delta_channel_history(saver.raw, **arguments))
    return found


@rule(SHOULD, source=SOURCE, needs=NEEDS)
@pytest.mark.parametrize("missing", ["thread", "checkpoint", "namespace", "parent"])
def test_what_is_not_stored_has_an_empty_history(saver: SaverDrive, thread: Thread, missing: str) -> None:
    """An unknown thread, checkpoint or namespace, and a parent that is gone, give entries without writes or seed.

    A new thread, or one whose beginning was pruned, starts empty: the engine expects no exception here.
    """
    orphan = thread.put({}, parent=thread.make({"log": 1}), changed=["log"])
    config = {
        "thread": config_of(fresh_id(), "", orphan.id),
        "checkpoint": thread.config(checkpoint_id=fresh_id()),
        "namespace": config_of(thread.id, "child", orphan.id),
        "parent": orphan.config,
    }[missing]
    expect_same({"log": EMPTY, "other": EMPTY}, history_of(saver, config, "log", "other"), "the histories")


@rule(SHOULD, source=SOURCE, since="langgraph-checkpoint>=4.3", needs=NEEDS)
@pytest.mark.parametrize(
    "extra", [{}, {"checkpoint_id": ""}, {"checkpoint_id": None}], ids=["left-out", "empty", "none"]
)
def test_without_an_id_the_latest_checkpoint_is_meant(
    saver: SaverDrive, thread: Thread, extra: Mapping[str, Any]
) -> None:
    """Without a checkpoint id the history is that of the latest checkpoint, as it is in `get_tuple`.

    `get_state` is asked for a thread without an id: an empty history would show an empty conversation.
    """
    root = step(thread, None, [1], values={"log": ["seed"]})
    step(thread, step(thread, root, [2]))
    expected = {"log": {"seed": ["seed"], "writes": written(1, 2)}}
    expect_same(expected, history_of(saver, config_of(thread.id, "", **extra), "log"), "the history")


@rule(SHOULD, source=SOURCE, needs=NEEDS)
def test_without_a_namespace_the_root_is_meant(saver: SaverDrive, thread: Thread) -> None:
    """Without a namespace the history is that of the checkpoint in the root's, as it is in `get_tuple`.

    Users address a thread by its id alone.
    """
    head = step(thread, step(thread, None, [1]))
    config = thread.config(ns=None, checkpoint_id=head.id)
    expect_same({"log": {"writes": written(1)}}, history_of(saver, config, "log"), "the history")


@rule(
    QUIRK,
    source=SOURCE,
    needs=NEEDS,
    officials={"InMemorySaver": "once", "SqliteSaver": "twice", "PostgresSaver": "twice"},
)
def test_how_often_writes_come_when_a_channel_is_named_twice(
    saver: SaverDrive, thread: Thread, observe: Callable[[object], None]
) -> None:
    """How often a write comes back when its channel is asked for twice."""
    head = step(thread, step(thread, None, [1]))
    count = len(history_of(saver, head.config, "log", "log")["log"]["writes"])
    observe({1: "once", 2: "twice"}.get(count, f"{count} times"))
