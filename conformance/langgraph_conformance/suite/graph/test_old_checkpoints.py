"""Threads that were left by earlier versions of LangGraph: what a team still has in its storage after an upgrade."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

import pytest
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.types import Command
from packaging.version import Version

from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.expect import expect_same
from langgraph_conformance.goldens.bank import OldCheckpoint, OldThreadFile, hand_over, old_threads
from langgraph_conformance.goldens.old_threads import THREADS, World
from langgraph_conformance.graphs import in_context
from langgraph_conformance.rules import MUST, QUIRK, SHOULD, rule, unmet
from langgraph_conformance.suite.graph.builders import DriveGraph, config_of
from langgraph_conformance.threads import Stored, Thread, address_of, by_channel, writes_of

BANK = [each for each in old_threads() if Version(each.made_with[0]) <= Version(version("langgraph"))]
SENDS_BESIDE = [each for each in BANK if each.name == "sends" and Version(each.made_with[0]) < Version("0.5")]
"""Before 0.5 (format 4) Sends lay beside the checkpoint, since then in a channel of it."""
# an engine before 1.2 fails on how 0.2 stored interrupts, whatever the saver
NOT_RESUMED = [
    each
    for each in BANK
    if each.name in ("interrupted", "subgraph")
    and Version(each.made_with[0]) < Version("0.3")
    and unmet("langgraph>=1.2")
]
GOING_ON = [each for each in BANK if each not in (*SENDS_BESIDE, *NOT_RESUMED)]
READ = [each for each in BANK if each.name in ("sends", "interrupted", "subgraph")]

INPUTS: Mapping[str, Any] = {
    "finished": {"log": ["more"], "count": 100},
    "interrupted": Command(resume="yes"),
    "subgraph": Command(resume="yes"),
}
RESULTS: Mapping[str, Mapping[str, Any]] = {
    "finished": {
        "log": ["start", "first", "second", "more", "first", "second"],
        "count": 102,
    },
    "between_nodes": {"log": ["start", "choose", "left"], "count": 2},
    "sends": {"log": ["start", "plan", "work on a", "work on b", "work on c"], "count": 1},
    "interrupted": {"log": ["start", "prepare", "ask: yes"], "count": 1},
    "failed": {"log": ["start", "finishes", "then_fails"], "count": 1},
    "subgraph": {"log": ["start", "start", "prepare", "ask: yes"], "count": 1},
}
RUNS: Mapping[str, list[str]] = {
    "finished": ["first", "second"],
    "between_nodes": ["left"],
    "sends": ["work on a", "work on b", "work on c"],
    "interrupted": ["ask"],
    "failed": ["then_fails"],
    "subgraph": ["ask"],
}
# the installed engine gives the tasks of 0.2 other ids, since it renames the channels that trigger them
RUNS_AFTER_0_2: Mapping[str, list[str]] = {
    **RUNS,
    "failed": ["finishes", "then_fails"],
    "subgraph": ["prepare", "ask"],
}


def labels(bank: list[OldThreadFile]) -> list[str]:
    return [each.label for each in bank]


def goes_on(old: OldThreadFile, thread: Thread, drive_graph: DriveGraph) -> tuple[Any, list[str]]:
    """Go on with a thread that was handed over; gives the result, and the nodes that ran."""
    world = World(in_order=True, wrapped=in_context)
    graph = drive_graph(THREADS[old.name].build(world))
    result = graph.invoke(INPUTS.get(old.name), config_of(thread))
    return result, sorted(world.ran)


def expected_of(old: OldThreadFile) -> tuple[Any, list[str]]:
    runs = RUNS_AFTER_0_2 if Version(old.made_with[0]) < Version("0.3") else RUNS
    return dict(RESULTS[old.name]), sorted(runs[old.name])


@rule(MUST, source="BaseCheckpointSaver.put, put_writes, get_tuple, list; formats 1 to 4 of checkpoints")
@pytest.mark.parametrize("old", READ, ids=labels(READ))
def test_an_old_checkpoint_is_read_as_it_was(old: OldThreadFile, saver: SaverDrive, thread: Thread) -> None:
    """Checkpoints and writes in the formats of earlier versions of LangGraph are read as they were put.

    Conversations live longer than a version: after an upgrade a storage holds all formats that it was ever given, with
    other channel names, other metadata and other fields. A saver that knows only the newest cannot read its own data.
    """
    checkpoints = old.checkpoints()
    stored = hand_over(checkpoints, thread)
    namespaces = dict.fromkeys(each.ns for each in checkpoints)
    listed = {each.checkpoint["id"]: each for ns in namespaces for each in saver.list(thread.config(ns=ns))}
    put, by_id, in_list = {}, {}, {}
    for left, each in zip(checkpoints, stored, strict=True):
        what = f"step {each.metadata['step']} in {each.ns!r}"
        put[what] = as_put(each, left)
        by_id[what] = as_read(each, saver.get_tuple(each.config))
        in_list[what] = as_read(each, listed.get(each.id))
    expect_same(put, by_id, "the old checkpoints, by id")
    expect_same(put, in_list, "the old checkpoints, listed")


def as_put(stored: Stored, left: OldCheckpoint) -> dict[str, Any]:
    """What must be read of an old checkpoint."""
    writes = [(write.task, write.channel, write.value) for write in left.writes]
    return {
        "checkpoint": dict(stored.checkpoint),
        "metadata": kept_metadata(stored.metadata),
        "parent": stored.parent.id if stored.parent else None,
        "writes": by_channel(writes),
    }


def as_read(stored: Stored, found: CheckpointTuple | None) -> dict[str, Any] | None:
    """A tuple in the same form. What a saver adds is not looked at: some put pending Sends into a channel."""
    if found is None:
        return None
    address = address_of(found.parent_config)
    checkpoint: dict[str, Any] = dict(found.checkpoint)
    for key in ("channel_values", "channel_versions"):
        checkpoint[key] = {name: each for name, each in checkpoint[key].items() if name in stored.checkpoint[key]}
    return {
        "checkpoint": {key: value for key, value in checkpoint.items() if key in stored.checkpoint},
        "metadata": kept_metadata({key: value for key, value in found.metadata.items() if key in stored.metadata}),
        "parent": address and address[2],
        "writes": by_channel(writes_of(found)),
    }


def kept_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata without `writes`, which savers leave out since LangGraph puts it no longer."""
    return {key: value for key, value in metadata.items() if key != "writes"}


@rule(MUST, source="StateGraph and Pregel migrate checkpoints of earlier formats that they read")
@pytest.mark.parametrize("old", GOING_ON, ids=labels(GOING_ON))
def test_the_installed_engine_goes_on_with_an_old_thread(
    old: OldThreadFile, thread: Thread, drive_graph: DriveGraph
) -> None:
    """The installed LangGraph goes on with what an earlier version left: to the right result, through the right nodes.

    A run that waits for an answer waits for days, and the upgrade comes meanwhile. The engine finds the next nodes from
    channel versions, and what is done from pending writes: changed or lost, steps run again, or the thread has ended.
    """
    hand_over(old.checkpoints(), thread)
    expect_same(expected_of(old), goes_on(old, thread, drive_graph), "the result, and the nodes that ran")


@rule(
    SHOULD,
    source="Pregel takes pending_sends from checkpoints before format 4; PostgresSaver from their parent's writes",
)
@pytest.mark.parametrize("old", SENDS_BESIDE, ids=labels(SENDS_BESIDE))
def test_sends_that_were_pending_beside_an_old_checkpoint_are_run(
    old: OldThreadFile, new_thread: Callable[[], Thread], drive_graph: DriveGraph
) -> None:
    """Sends that an earlier version left pending are run, from the checkpoint or from the writes of its parent.

    Before format 4 they lay in a field `pending_sends`, which engines read and savers took from the parent's writes. A
    saver that keeps neither drops the tasks without a word: the thread looks finished. Either of the two is enough.
    """
    in_writes, with_field = new_thread(), new_thread()
    hand_over(old.checkpoints(), in_writes)
    result = goes_on(old, in_writes, drive_graph)
    if result != expected_of(old):
        hand_over(old.checkpoints(), with_field, with_pending_sends=True)
        result = goes_on(old, with_field, drive_graph)
    expect_same(expected_of(old), result, "the result, and the nodes that ran")


@rule(
    QUIRK,
    source="PostgresSaver takes the Sends of checkpoints before format 4 from their parent's writes",
    officials={"InMemorySaver": "lost", "SqliteSaver": "lost", "PostgresSaver": "run"},
)
def test_sends_in_the_writes_of_an_old_checkpoints_parent(
    thread: Thread, drive_graph: DriveGraph, observe: Callable[[object], None]
) -> None:
    """Sends that an earlier version left in the writes of a checkpoint's parent alone are run, or lost.

    Savers before format 4 stored them only there. Those that nobody used then need not know.
    """
    old = SENDS_BESIDE[-1]
    hand_over(old.checkpoints(), thread)
    observe("run" if goes_on(old, thread, drive_graph) == expected_of(old) else "lost")
