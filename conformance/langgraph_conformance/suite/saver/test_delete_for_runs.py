"""delete_for_runs."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.serde.types import INTERRUPT

from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.expect import expect_same
from langgraph_conformance.lookalikes import LOOKALIKES
from langgraph_conformance.rules import MUST, SHOULD, rule
from langgraph_conformance.threads import Stored, Thread, by_channel, contents_of, fresh_id, writes_of

SOURCE = "BaseCheckpointSaver.delete_for_runs"


def run_of(thread: Thread, run_id: str | None, parent: Stored | None = None, ns: str = "", **values: Any) -> Stored:
    """A checkpoint that a run made (None: that names no run), with a pending write."""
    metadata = {} if run_id is None else {"run_id": run_id}
    stored = thread.put({**(parent.values if parent else {}), **values}, parent=parent, ns=ns, metadata=metadata)
    thread.write(stored, [("a", 1), (INTERRUPT, "question")])
    return stored


def left_of(saver: SaverDrive, stored: dict[str, Stored]) -> list[str]:
    """The names of the checkpoints that are still there."""
    return [name for name, each in stored.items() if saver.get_tuple(each.config) is not None]


@rule(MUST, source=SOURCE, needs="delete_for_runs")
@pytest.mark.parametrize(
    ("deleted", "left"),
    [
        (["1"], ["2", "3", "none"]),
        (["2"], ["1", "3", "none"]),
        (["1", "3"], ["2", "none"]),
        (["1", "2", "3"], ["none"]),
    ],
    ids=["one", "in-the-middle", "two", "all"],
)
def test_the_checkpoints_of_the_named_runs_go_and_no_others(
    saver: SaverDrive, thread: Thread, deleted: list[str], left: list[str]
) -> None:
    """Exactly the checkpoints whose metadata names one of the runs are deleted, and no others of their thread.

    A run is taken back, because it failed or its data must go, without losing the rest of the conversation.
    """
    unique = fresh_id("-")
    stored: dict[str, Stored] = {}
    for name, run_id in [("1", unique + "1"), ("2", unique + "2"), ("none", None), ("3", unique + "3")]:
        stored[name] = run_of(thread, run_id, parent=next(reversed(stored.values()), None), a=name)
    saver.delete_for_runs([unique + each for each in deleted])
    found = left_of(saver, stored)
    expect_same(sorted(left), sorted(found), "the runs whose checkpoints can be read")
    expect_same([stored[name].id for name in reversed(stored) if name in left], thread.listed_ids(), "the ids listed")


@rule(MUST, source=SOURCE, needs="delete_for_runs")
def test_all_checkpoints_of_a_run_go(saver: SaverDrive, thread: Thread, new_thread: Callable[..., Thread]) -> None:
    """All checkpoints of a run are deleted: every step, in every namespace and in every thread.

    A run makes a checkpoint a step, those of its subgraphs in their namespaces, and may have written to several
    threads: what stays is data that was to be deleted.
    """
    run, other = fresh_id(), new_thread()
    first = run_of(thread, run, a=1)
    stored = {
        "first": first,
        "second": run_of(thread, run, parent=first, a=2),
        "subgraph": run_of(thread, run, ns="child:1", a=3),
        "nested": run_of(thread, run, ns="child:1|grand:2", a=3),
        "other thread": run_of(other, run, a=4),
    }
    saver.delete_for_runs([run])
    expect_same([], left_of(saver, stored), "what is left of the run")


@rule(MUST, source=SOURCE, needs="delete_for_runs")
@pytest.mark.parametrize("ns", ["", "child:1"], ids=["root", "subgraph"])
def test_pending_writes_of_the_run_go(saver: SaverDrive, thread: Thread, ns: str) -> None:
    """The pending writes of a run's checkpoints go with them: put anew under its id, a checkpoint has none.

    The engine takes pending writes for the results of tasks that have run already.
    """
    run = fresh_id()
    stored = run_of(thread, run, ns=ns, a=1)
    saver.delete_for_runs([run])
    thread.store(stored)
    expect_same([], writes_of(thread.read(stored)), "the pending writes of the checkpoint put anew")


@rule(MUST, source=f"{SOURCE}; BaseCheckpointSaver.put: new_versions", needs="delete_for_runs")
@pytest.mark.parametrize("deleted", [[0], [1], [2], [0, 1], [0, 2], [1, 2]], ids=str)
def test_what_is_left_keeps_its_values_and_writes(saver: SaverDrive, thread: Thread, deleted: list[int]) -> None:
    """Checkpoints of other runs keep their values, also those that a deleted run had stored, and their pending writes.

    Only changed channels are stored with a checkpoint: a later run's state rests on values that an earlier run stored,
    and is lost if these go with it.
    """
    runs = [fresh_id() for _ in range(3)]
    first = run_of(thread, runs[0], a=["first"], b=["first"], c="first")
    second = run_of(thread, runs[1], parent=first, b=["second"])
    third = run_of(thread, runs[2], parent=second, c="third")
    left = [each for position, each in enumerate([first, second, third]) if position not in deleted]
    saver.delete_for_runs([runs[position] for position in deleted])
    read = {each.id: thread.read(each) for each in left}
    found = {id: (each.checkpoint["channel_values"], by_channel(writes_of(each))) for id, each in read.items()}
    writes = [("task", INTERRUPT, "question"), ("task", "a", 1)]
    expected = {each.id: (dict(each.values), writes) for each in left}
    expect_same(expected, found, "values and pending writes of the other runs")


@rule(MUST, source=SOURCE, needs="delete_for_runs")
def test_a_thread_can_be_gone_on_with(saver: SaverDrive, thread: Thread) -> None:
    """After its last run was deleted a thread's latest checkpoint is that of the run before, and can be gone on with.

    Taking back the last run is what the operation is for: a remembered latest checkpoint would point at nothing.
    """
    first = run_of(thread, fresh_id(), a=1, b=["b"])
    run = fresh_id()
    run_of(thread, run, parent=first, a=2)
    thread.latest()
    saver.delete_for_runs([run])
    expect_same(first.id, thread.latest().checkpoint["id"], "the latest checkpoint")
    after = thread.put({"a": 3, "b": ["b"]}, parent=first)
    expect_same({"a": 3, "b": ["b"]}, thread.read(after).checkpoint["channel_values"], "the values put on top of it")


@rule(MUST, source=SOURCE, needs="delete_for_runs")
def test_what_was_read_before_is_deleted_all_the_same(saver: SaverDrive, thread: Thread) -> None:
    """A checkpoint that was read before its run was deleted cannot be read afterwards, by its id or in a list.

    A cache in the saver's process would go on serving what was to be deleted.
    """
    run = fresh_id()
    first = run_of(thread, fresh_id(), a=1)
    second = run_of(thread, run, parent=first, a=2)
    for config in (thread.config(), first.config, second.config):
        saver.get_tuple(config)
        saver.list(config)
    saver.delete_for_runs([run])
    found = [saver.get_tuple(each.config) for each in (first, second)]
    expect_same(
        {"by id": [first.id, None], "listed": [first.id]},
        {"by id": [each and each.checkpoint["id"] for each in found], "listed": thread.listed_ids()},
        "the ids found of two checkpoints that were read before, after the second one's run was deleted",
    )


@rule(MUST, source=SOURCE, needs="delete_for_runs")
@pytest.mark.parametrize("ids", [(), ("unknown",)], ids=["no-ids", "unknown-id"])
def test_deleting_no_run_does_nothing(saver: SaverDrive, thread: Thread, ids: tuple[str, ...]) -> None:
    """Deleting no runs, or one that does not exist, raises nothing and changes nothing.

    A clean-up job that finds nothing to do must not fail, and least of all delete everything.
    """
    run_of(thread, None, parent=run_of(thread, fresh_id(), a=1), b=2)
    before = contents_of(saver.list(thread.config(ns=None)))
    saver.delete_for_runs([fresh_id(each) for each in ids])
    expect_same(before, contents_of(saver.list(thread.config(ns=None))), "a thread that no named run wrote to")


@rule(MUST, source=SOURCE, needs="delete_for_runs")
@pytest.mark.parametrize("kind", ["prefix", "percent", "underscore", "star", "case", "quote", "space-after", "number"])
def test_run_ids_are_taken_literally(saver: SaverDrive, thread: Thread, kind: str) -> None:
    """The runs with exactly the given ids are deleted, and none whose id looks like one of them.

    An id used as a pattern or prefix deletes the work of other runs, and nothing can bring it back.
    """
    unique = fresh_id("-")
    name, others = LOOKALIKES[kind]
    stored = {each: run_of(thread, unique + each, a=each) for each in (name, *others)}
    saver.delete_for_runs([unique + name])
    expect_same(list(others), left_of(saver, stored), f"the runs that are left after deleting {name!r}, shortened")


@rule(MUST, source=SOURCE, needs="delete_for_runs")
def test_only_the_run_id_decides(saver: SaverDrive, thread: Thread) -> None:
    """What a checkpoint says elsewhere does not make it one of a run: only `run_id` in its metadata does.

    A thread, a checkpoint, a value or another entry of metadata may hold the same text as a run's id.
    """
    run = thread.id
    stored = {
        "thread id": thread.put({"a": 1}),
        "checkpoint id": thread.put({"a": 1}, id=f"{run}-1"),
        "value": thread.put({"run_id": run}),
        "another key": thread.put({"a": 1}, metadata={"parent_run_id": run, "run": run}),
        "nested": thread.put({"a": 1}, metadata={"nested": {"run_id": run}, "run_id": f"other-{run}"}),
        "namespace": thread.put({"a": 1}, ns=run),
    }
    saver.delete_for_runs([run])
    expect_same(list(stored), left_of(saver, stored), "the checkpoints that are left")


@rule(SHOULD, source=SOURCE, needs="delete_for_runs")
def test_a_single_text_is_not_taken_for_many_ids(saver: SaverDrive, thread: Thread) -> None:
    """A text in place of the sequence of run ids does not delete the runs that its letters name.

    `delete_for_runs("abc")` is an easy mistake: runs named a, b and c belong to somebody else.
    """
    # private characters of Unicode, drawn anew: nobody has runs with these names
    letters = [chr(random.randrange(0xF0000, 0xFFFFE)), chr(random.randrange(0x100000, 0x10FFFE))]
    stored = {letter: run_of(thread, letter, a=1) for letter in letters}
    with contextlib.suppress(TypeError):
        saver.delete_for_runs("".join(letters))
    expect_same(letters, left_of(saver, stored), "the runs that are left")
