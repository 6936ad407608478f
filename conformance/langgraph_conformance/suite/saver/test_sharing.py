"""Nothing is shared: what is stored cannot be changed from outside, through what was given or through what was read."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.base import CheckpointTuple

from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.expect import expect_same, same
from langgraph_conformance.rules import MUST, rule
from langgraph_conformance.threads import Stored, Thread, address_of, writes_of

SOURCE = "pregel/_loop.py and pregel/_algo.py go on with the objects that they put, and change those that they read"


def values() -> dict[str, Any]:
    """Values of every kind that can be changed in place, and one that cannot."""
    return {
        "list": [1, 2],
        "dict": {"key": "value"},
        "set": {1, 2},
        "nested": {"deep": [{"deeper": [1]}]},
        "message": AIMessage("hello", id="1", additional_kwargs={"key": ["value"]}),
        "text": "text",
    }


def change_values(values: dict[str, Any]) -> None:
    """Change each of the values in place."""
    values["list"].append("changed")
    values["dict"]["key"] = "changed"
    values["set"].add(3)
    values["nested"]["deep"][0]["deeper"].append("changed")
    values["message"].content = "changed"
    values["message"].additional_kwargs["key"].append("changed")


def change_names(values: dict[str, Any]) -> None:
    """Replace one of the values, take one away, and add one."""
    values["text"] = "changed"
    del values["list"]
    values["added"] = "changed"


def change_checkpoint(checkpoint: Any) -> None:
    """Change all of a checkpoint but its values."""
    checkpoint["channel_versions"].clear()
    checkpoint["versions_seen"].get("node", {}).clear()
    checkpoint["versions_seen"]["added"] = {}
    (checkpoint.get("updated_channels") or []).append("changed")
    checkpoint.update(id="changed", ts="changed", v=0)


def change_metadata(metadata: Any) -> None:
    metadata["nested"]["list"].append("changed")
    metadata["parents"].clear()
    metadata.update(step=1000, added=1)


def change_config(config: Any) -> None:
    config["configurable"].update(thread_id="changed", checkpoint_ns="changed", checkpoint_id="changed")


CHANGES = pytest.mark.parametrize("change", [change_values, change_names], ids=["values", "names"])


def made(thread: Thread) -> tuple[Stored, tuple[Any, Any, Any, Any]]:
    """A checkpoint with something of everything, and objects of its own to put it with."""
    parent = thread.put({"text": "old"})
    version = parent.checkpoint["channel_versions"]["text"]
    checkpoint = thread.make(
        values(),
        parent=parent,
        metadata={"nested": {"list": [1]}, "parents": {"": "parent"}},
        versions_seen={"node": {"text": version}},
        updated_channels=["list", "text"],
    )
    arguments = (parent.config, dict(checkpoint.checkpoint), dict(checkpoint.metadata), dict(checkpoint.new_versions))
    return checkpoint, copy.deepcopy(arguments)


def stored_with_writes(thread: Thread) -> Stored:
    """The same, stored, with pending writes."""
    checkpoint, arguments = made(thread)
    thread.saver.put(*arguments)
    thread.write(checkpoint, list(values().items()))
    return checkpoint


def everything(found: CheckpointTuple) -> dict[str, Any]:
    """All of a tuple."""
    return {
        "address": address_of(found.config),
        "checkpoint": dict(found.checkpoint),
        "metadata": dict(found.metadata),
        "parent": address_of(found.parent_config),
        "pending writes": writes_of(found),
    }


def relative(stored: Stored, found: CheckpointTuple) -> dict[str, Any]:
    """What two checkpoints of the same content have in common, and whether the rest is each one's own."""
    own = {"id", "ts", "channel_versions", "versions_seen"}
    parent = stored.parent and address_of(stored.parent.config)
    return {
        "checkpoint": {key: found.checkpoint.get(key) for key in stored.checkpoint if key not in own},
        "its own": {key: same(stored.checkpoint[key], found.checkpoint.get(key)) for key in own},
        "metadata": {key: value for key, value in found.metadata.items() if key != "thread_id"},
        "its own parent": parent == address_of(found.parent_config),
    }


def listed(thread: Thread, stored: Stored) -> CheckpointTuple:
    """The tuple of a checkpoint in a list of its thread."""
    return next(found for found in thread.saver.list(thread.config()) if found.checkpoint["id"] == stored.id)


WAYS: Mapping[str, Callable[[Thread, Stored], CheckpointTuple]] = {"get_tuple": Thread.read, "list": listed}


# -- what was given


@rule(MUST, source=SOURCE)
@CHANGES
def test_changing_values_after_put_changes_nothing_stored(
    new_thread: Callable[..., Thread], change: Callable[[dict[str, Any]], None]
) -> None:
    """What the caller does to the channel values after `put` does not reach what is stored.

    Nodes and reducers go on with the same lists and messages: history would show the present everywhere.
    """
    thread, twin = new_thread(), new_thread()
    stored, arguments = made(thread)
    thread.saver.put(*arguments)
    change(arguments[1]["channel_values"])
    unchanged = twin.read(twin.put(values()))
    expect_same(
        dict(unchanged.checkpoint["channel_values"]),
        dict(thread.read(stored).checkpoint["channel_values"]),
        "the channel values, beside those of a checkpoint whose values nobody changed",
    )


@rule(MUST, source=SOURCE)
@pytest.mark.parametrize("argument", ["config", "checkpoint", "metadata", "new-versions"])
def test_changing_arguments_after_put_changes_nothing_stored(new_thread: Callable[..., Thread], argument: str) -> None:
    """What the caller does to config, checkpoint, metadata and versions after `put` does not reach what is stored.

    The engine changes `versions_seen` and `channel_versions` in place in the next step.
    """
    thread, twin = new_thread(), new_thread()
    stored, (config, checkpoint, metadata, new_versions) = made(thread)
    thread.saver.put(config, checkpoint, metadata, new_versions)
    change = {
        "config": lambda: change_config(config),
        "checkpoint": lambda: change_checkpoint(checkpoint),
        "metadata": lambda: change_metadata(metadata),
        "new-versions": new_versions.clear,
    }[argument]
    change()
    unchanged, arguments = made(twin)
    twin.saver.put(*arguments)
    expect_same(
        relative(unchanged, twin.read(unchanged)),
        relative(stored, thread.read(stored)),
        "the checkpoint, beside one whose arguments nobody changed",
    )


@rule(MUST, source=SOURCE)
def test_changing_values_after_put_writes_changes_nothing_stored(new_thread: Callable[..., Thread]) -> None:
    """What the caller does to the values, and to the list of writes, after `put_writes` does not reach what is stored.

    What a node returned is handed on to reducers and other nodes. A resume must get what the task had written.
    """
    thread, twin = new_thread(), new_thread()
    stored, unchanged = thread.put({"channel": 1}), twin.put({"channel": 1})
    given = values()
    writes: list[tuple[str, Any]] = list(given.items())
    thread.saver.put_writes(stored.config, writes, "task")
    change_values(given)
    writes.clear()
    twin.write(unchanged, list(values().items()))
    expect_same(
        writes_of(twin.read(unchanged)),
        writes_of(thread.read(stored)),
        "the pending writes, beside those of a checkpoint whose writes nobody changed",
    )


@rule(MUST, source="pregel/main.py (update_state merges what put returned)")
def test_changing_the_returned_config_changes_nothing_stored(saver: SaverDrive, thread: Thread) -> None:
    """What the caller does to the config that `put` returned does not reach what is stored."""
    stored, arguments = made(thread)
    change_config(saver.put(*arguments))
    found = saver.get_tuple(stored.config)
    expect_same(
        {"found": stored.id, "the latest": stored.id},
        {"found": found and found.checkpoint["id"], "the latest": thread.latest().checkpoint["id"]},
        "the ids",
    )


# -- what was read


def change_writes(found: CheckpointTuple) -> None:
    """Change the values of the pending writes, and the list, which the engine filters."""
    change_values({channel: value for _, channel, value in writes_of(found)})
    if isinstance(found.pending_writes, list):
        found.pending_writes.clear()


def change_configs(found: CheckpointTuple) -> None:
    change_config(found.config)
    change_config(found.parent_config)


def change_content(found: CheckpointTuple) -> None:
    change_values(found.checkpoint["channel_values"])
    change_names(found.checkpoint["channel_values"])
    change_checkpoint(found.checkpoint)
    change_metadata(found.metadata)


READ: Mapping[str, Callable[[CheckpointTuple], None]] = {
    "content": change_content,
    "configs": change_configs,
    "writes": change_writes,
}
"""Changes to what was read."""


@rule(MUST, source=SOURCE)
@pytest.mark.parametrize("part", READ)
@pytest.mark.parametrize("way", WAYS)
def test_changing_what_was_read_changes_nothing_stored(thread: Thread, way: str, part: str) -> None:
    """What the caller does to any part of a tuple that `get_tuple` or `list` gave does not reach what is stored.

    The engine changes what it reads in place at once: it marks versions as seen and drops pending writes. A second
    reader, or the same one after an error, must find the checkpoint as it was.
    """
    stored = stored_with_writes(thread)
    before = {name: copy.deepcopy(everything(read(thread, stored))) for name, read in WAYS.items()}
    READ[part](WAYS[way](thread, stored))
    expect_same(
        before, {name: everything(read(thread, stored)) for name, read in WAYS.items()}, "the checkpoint, read again"
    )


@rule(MUST, source=SOURCE)
@pytest.mark.parametrize("part", READ)
@pytest.mark.parametrize("way", WAYS)
def test_two_reads_give_objects_of_their_own(thread: Thread, way: str, part: str) -> None:
    """What the caller does to one tuple does not reach another one of the same checkpoint that was read before.

    Two runs that start from one checkpoint at the same time would change each other's state while they run.
    """
    stored = stored_with_writes(thread)
    others = {name: read(thread, stored) for name, read in WAYS.items()}
    before = copy.deepcopy({name: everything(found) for name, found in others.items()})
    READ[part](WAYS[way](thread, stored))
    expect_same(before, {name: everything(found) for name, found in others.items()}, "what was read before the change")
