"""Forks: two checkpoints on one parent. Neither branch ever changes the other, nor what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from langgraph.checkpoint.base.id import uuid6

from langgraph_conformance.expect import expect_same
from langgraph_conformance.rules import MUST, QUIRK, rule
from langgraph_conformance.threads import Stored, Thread, ids_of, writes_of

Values = dict[str, Any]

TRUNK: Values = {
    "str": "trunk",
    "list": ["trunk"],
    "emptied-left": ["trunk"],
    "emptied-right": ["trunk"],
    "list-and-str": ["trunk"],
    "str-and-list": "trunk",
}
LEFT: Values = {
    "str": "left",
    "list": ["left"],
    "emptied-right": ["left"],
    "list-and-str": ["left"],
    "str-and-list": "left",
}
RIGHT: Values = {
    "str": "right",
    "list": ["right"],
    "emptied-left": ["right"],
    "list-and-str": "right",
    "str-and-list": ["right"],
}
"""What two branches make of the channels where they part: savers may keep plain values and containers apart."""


@dataclass
class Tree:
    """Checkpoints of one thread, by name, with values that are found by their versions.

    Args:
        thread: where they are put.
        apart: whether every version is greater than all before it, on whatever branch. Otherwise it is the next one
            after the parent's greatest, as the engine makes it.
    """

    thread: Thread
    apart: bool
    stored: dict[str, Stored] = field(default_factory=dict)
    newest: Any = None

    def put(self, name: str, values: Values, parent: str | None = None, ns: str = "") -> None:
        """Put a checkpoint in which those channels change whose values differ from the parent's."""
        before = self.stored[parent] if parent else None
        versions = dict(before.checkpoint["channel_versions"]) if before else {}
        held = dict(before.values) if before else {}
        current = self.newest if self.apart else max(versions.values(), default=None)
        changed = [each for each in {**held, **values} if held.get(each, self) != values.get(each, self)]
        self.newest = self.thread.saver.get_next_version(current, None)
        versions.update(dict.fromkeys(changed, self.newest))
        self.stored[name] = self.thread.put(values, parent=before, ns=ns, versions=versions, changed=changed)

    def read(self) -> dict[str, Values]:
        """The channel values that are read of each checkpoint."""
        return {name: dict(self.thread.read(each).checkpoint["channel_values"]) for name, each in self.stored.items()}

    def as_put(self) -> dict[str, Values]:
        """The channel values of each checkpoint as they were put."""
        return {name: dict(each.values) for name, each in self.stored.items()}


def fork(tree: Tree) -> None:
    tree.put("trunk", TRUNK)
    tree.put("left", LEFT, "trunk")
    tree.put("right", RIGHT, "trunk")


def fork_in_a_subgraph(tree: Tree) -> None:
    tree.put("trunk", TRUNK, ns="child:1")
    tree.put("left", LEFT, "trunk", ns="child:1")
    tree.put("right", RIGHT, "trunk", ns="child:1")


def two_firsts(tree: Tree) -> None:
    tree.put("left", LEFT)
    tree.put("right", RIGHT)


def grandchildren(tree: Tree) -> None:
    fork(tree)
    for child, values in (("left", LEFT), ("right", RIGHT)):
        tree.put(f"{child}'s child", {**values, "other": 1}, child)
        tree.put(f"{child}'s grandchild", {**values, "other": [2]}, f"{child}'s child")


def several_in_turns(tree: Tree) -> None:
    fork(tree)
    tree.put("third", {**TRUNK, "str": "third", "list": ["third"]}, "trunk")
    tree.put("right, later", {**RIGHT, "str": "right, later", "list": ["right, later"]}, "right")
    tree.put("left, later", {**LEFT, "str": "left, later", "list": ["left, later"]}, "left")
    tree.put("third, later", {**TRUNK, "str": "third, later", "list": ["third"]}, "third")


def changed_copy(tree: Tree) -> None:
    tree.put("trunk", TRUNK)
    tree.put("left", LEFT, "trunk")
    versions = tree.stored["trunk"].checkpoint["channel_versions"]
    tree.stored["copy"] = tree.thread.put(TRUNK, versions=versions, changed=[])
    tree.put("right", RIGHT, "copy")


SHAPES: Mapping[str, Callable[[Tree], None]] = {
    "fork": fork,
    "fork-in-a-subgraph": fork_in_a_subgraph,
    "two-firsts": two_firsts,
    "grandchildren": grandchildren,
    "several-in-turns": several_in_turns,
    "changed-copy": changed_copy,
}
EVERY_SHAPE = pytest.mark.parametrize("shape", SHAPES)


# -- values


@rule(MUST, source="BaseCheckpointSaver.put; update_state on an older checkpoint, replay from it")
@EVERY_SHAPE
def test_branches_with_versions_of_their_own_keep_their_values(thread: Thread, shape: str) -> None:
    """Branches whose versions all differ each keep their own values, and what they have in common keeps its.

    Time travel leaves the old branch to come back to. A saver that keeps one value for a channel, or the newest, or
    that of the parent, shows the values of another branch there.
    """
    tree = Tree(thread, apart=True)
    SHAPES[shape](tree)
    expect_same(tree.as_put(), tree.read(), "the channel values of each checkpoint")


@rule(MUST, source="pregel/_algo.py: get_next_version(max(channel_versions)) on both branches")
@EVERY_SHAPE
def test_a_fork_never_changes_the_branch_it_left(thread: Thread, shape: str) -> None:
    """Branches that take their versions from the saver's `get_next_version`, as runs do, keep their own values.

    Both start from the same greatest version. With versions that count, as the base class's do, both get the same
    next one: a saver that files values by channel and version then has one place for two values, and a fork made with
    `update_state` rewrites the run it was forked from. Either make versions unique (the official savers add a random
    fraction) or file values by checkpoint.
    """
    tree = Tree(thread, apart=False)
    SHAPES[shape](tree)
    expect_same(tree.as_put(), tree.read(), "the channel values of each checkpoint")


@rule(MUST, source="BaseCheckpointSaver.put (config)")
def test_a_fork_leaves_other_namespaces_alone(thread: Thread) -> None:
    """A fork in one namespace changes nothing in another that has equal channels and versions.

    The graph and its subgraphs count their versions separately, and have channels of the same names.
    """
    root = thread.put({"text": "root", "list": ["root"]})
    child = thread.put({"text": "child", "list": ["child"]}, ns="child:1", versions=root.checkpoint["channel_versions"])
    left = thread.put({"text": "child's left", "list": ["child's left"]}, parent=child)
    versions = left.checkpoint["channel_versions"]
    root_left = thread.put({"text": "root's left", "list": ["root's left"]}, parent=root, versions=versions)
    everything = {"root": root, "child": child, "child's left": left, "root's left": root_left}
    expect_same(
        {name: dict(each.values) for name, each in everything.items()},
        {name: dict(thread.read(each).checkpoint["channel_values"]) for name, each in everything.items()},
        "the channel values of each checkpoint",
    )


@rule(MUST, source="pregel/main.py (update_state as '__copy__': the parent is the original's, new_versions={})")
@pytest.mark.parametrize("position", [0, 1], ids=["of-the-first", "of-a-later-one"])
def test_a_copy_beside_a_checkpoint_has_its_values(thread: Thread, position: int) -> None:
    """A copy of a checkpoint, put on the same parent with the same versions and nothing new, has the same values.

    LangGraph clones a checkpoint this way before a fork. The values belong to the versions: they are not those of the
    parent that the copy is put on.
    """
    first = thread.put({"text": "first", "list": ["first"]})
    second = thread.put({"text": "second", "list": ["second"]}, parent=first)
    original = (first, second)[position]
    versions = original.checkpoint["channel_versions"]
    copy = thread.read(thread.put(original.values, parent=original.parent, versions=versions, changed=[]))
    expect_same(dict(original.values), dict(copy.checkpoint["channel_values"]), "the copy's channel values")


@rule(
    QUIRK,
    source="BaseCheckpointSaver.get_next_version (integers) on a saver that makes other versions itself",
    officials={
        "InMemorySaver": "both branches read the later one's values",
        "SqliteSaver": "each branch keeps its values",
        "PostgresSaver": "containers: both branches read the earlier one's values; "
        "others: each branch keeps its values",
    },
)
def test_branches_with_equal_integer_versions(thread: Thread, observe: Callable[[object], None]) -> None:
    """What two branches read whose versions are equal integers, whatever versions the saver itself makes.

    Where `get_next_version` is the saver's own and never repeats, runs do not meet this. Threads of a saver that
    counts, copied into this one, may.
    """
    trunk = thread.put({"list": ["trunk"], "text": "trunk"}, versions={"list": 1, "text": 1}, changed=["list", "text"])
    versions = {"list": 2, "text": 2}
    left = thread.put({"list": ["left"], "text": "left"}, parent=trunk, versions=versions, changed=list(versions))
    right = thread.put({"list": ["right"], "text": "right"}, parent=trunk, versions=versions, changed=list(versions))
    found = [thread.read(each).checkpoint["channel_values"] for each in (left, right)]
    words = {
        "left right": "each branch keeps its values",
        "right right": "both branches read the later one's values",
        "left left": "both branches read the earlier one's values",
    }
    lists = " ".join(str((values.get("list") or [None])[0]) for values in found)
    texts = " ".join(str(values.get("text")) for values in found)
    containers, others = words.get(lists, lists), words.get(texts, texts)
    observe({others: others}.get(containers, f"containers: {containers}; others: {others}"))


# -- everything else


@rule(MUST, source="BaseCheckpointSaver.put; get_state_history shows both branches")
def test_a_fork_removes_nothing(thread: Thread) -> None:
    """After a fork the checkpoints of the branch it left are still there.

    A saver that takes a fork for a rewind has thrown away the run that users come back to.
    """
    chain = thread.chain(4)
    fork = thread.put({"count": "forked"}, parent=chain[1])
    everything = [*chain, fork]
    expect_same(
        {"listed": [each.id for each in reversed(everything)], "found by id": [each.id for each in everything]},
        {"listed": thread.listed_ids(), "found by id": [thread.read(each).checkpoint["id"] for each in everything]},
        "the ids",
    )


@rule(MUST, source="Checkpoint.id; update_state on an older checkpoint makes it the thread's state")
def test_a_fork_is_the_latest_checkpoint(thread: Thread) -> None:
    """A fork of an older checkpoint, being put last with the greatest id, is the latest.

    The thread goes on from it, however many steps the other branch has more.
    """
    chain = thread.chain(4)
    fork = thread.put({"count": "forked"}, parent=chain[0])
    expect_same(fork.id, thread.latest().checkpoint["id"], "the latest checkpoint's id")


@rule(MUST, source="pregel/_algo.py: the writes of a checkpoint make its child")
def test_a_fork_leaves_pending_writes_where_they_are(thread: Thread) -> None:
    """A fork takes no pending writes along, and the checkpoint it left keeps its own.

    With the writes of the branch it left a fork would go on with results that its own state never led to.
    """
    trunk = thread.put({"channel": "trunk"})
    thread.write(trunk, [("channel", "written to the trunk")])
    left = thread.put({"channel": "left"}, parent=trunk)
    thread.write(left, [("channel", "written to the left")])
    right = thread.put({"channel": "right"}, parent=trunk)
    everything = {"trunk": trunk, "left": left, "right": right}
    expect_same(
        {"trunk": ["written to the trunk"], "left": ["written to the left"], "right": []},
        {name: [value for _, _, value in writes_of(thread.read(each))] for name, each in everything.items()},
        "the values of the pending writes",
    )


@rule(MUST, source="Checkpoint.id; BaseCheckpointSaver.list")
def test_branches_that_grow_in_turns_are_listed_by_id(thread: Thread) -> None:
    """Checkpoints of two branches that grow in turns are listed by id, whichever branch they are on.

    The order of history is that of the ids, and no checkpoint is left out because its branch is not the newest.
    """
    ids = [str(uuid6(clock_seq=number)) for number in range(7)]
    trunk = thread.put({"channel": 0}, id=ids[0])
    left = right = trunk
    for number in (1, 3, 5):
        left = thread.put({"channel": f"left {number}"}, parent=left, id=ids[number])
        right = thread.put({"channel": f"right {number}"}, parent=right, id=ids[number + 1])
    expect_same(ids[::-1], ids_of(thread.saver.list(thread.config())), "the ids listed")
