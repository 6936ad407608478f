"""put_writes: the pending writes of tasks."""

from __future__ import annotations

import copy
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT, RESUME, SCHEDULED, TASKS
from langgraph.types import Interrupt, Send

from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.errors import Blocked
from langgraph_conformance.expect import expect_raises, expect_same, shown
from langgraph_conformance.rules import MUST, QUIRK, SHOULD, rule
from langgraph_conformance.session import Subject
from langgraph_conformance.threads import Stored, Thread, as_read, by_channel, writes_of

NewThread = Callable[..., Thread]
Batch = Sequence[tuple[str, Any]]

DOCUMENTED = "BaseCheckpointSaver.put_writes"
MAPPING = "WRITES_IDX_MAP: each saver should use this mapping in put_writes"
SPECIAL = {"error": ERROR, "scheduled": SCHEDULED, "interrupt": INTERRUPT, "resume": RESUME}
special = pytest.mark.parametrize("channel", SPECIAL.values(), ids=SPECIAL)


def of_task(found: CheckpointTuple, task: str = "task") -> list[tuple[Any, Any]]:
    """The channels and values that a task wrote, in the order read."""
    return [(channel, value) for task_id, channel, value in writes_of(found) if task_id == task]


def by_task(found: CheckpointTuple) -> dict[Any, list[tuple[Any, Any]]]:
    """The channels and values that each task wrote, in the order read."""
    return {task: of_task(found, task) for task, _, _ in writes_of(found)}


def read_by(thread: Thread, stored: Stored, way: str) -> list[CheckpointTuple]:
    """The only checkpoint of a thread, read by its id, as the latest, or from a list."""
    if way == "list":
        return thread.saver.list(thread.config())
    return [thread.read(stored) if way == "by id" else thread.latest()]


# --- kept whole


@rule(MUST, source=f"{DOCUMENTED}; pregel/_loop.py reads pending_writes when a run goes on")
@pytest.mark.parametrize("read", ["by id", "latest", "list"])
def test_what_a_task_wrote_is_read_with_its_checkpoint(thread: Thread, read: str) -> None:
    """Writes come back in `pending_writes` as (task id, channel, value), however the checkpoint is read.

    When one task of a step fails, the writes of the others are why they do not run again: lost, finished work (mails,
    payments, model calls) is done twice.
    """
    stored = thread.put({"count": 0})
    thread.write(stored, [("a", 1), ("b", "two")], task="task 1")
    found = read_by(thread, stored, read)
    expect_same(
        [[("task 1", "a", 1), ("task 1", "b", "two")]], [writes_of(each) for each in found], "the pending writes"
    )


@rule(MUST, source=f"{DOCUMENTED}; pregel/_algo.py applies writes in their order")
def test_every_write_of_a_batch_is_kept_in_order(thread: Thread) -> None:
    """All writes of a batch are kept in their order, several to one channel and equal ones too.

    A task may write to a channel many times, as with Send: collapsed or reordered, a list in the state loses members.
    """
    batch = [("a", 1), ("b", 2), ("a", 3), ("a", 1), ("a", 1), ("b", 0)]
    stored = thread.put({})
    thread.write(stored, batch)
    expect_same(batch, of_task(thread.read(stored)), "the writes of the task")


@rule(MUST, source=f"{DOCUMENTED}; pregel/_algo.py applies writes in their order")
@pytest.mark.parametrize("number", [12, 120])
def test_more_than_ten_writes_keep_their_order(thread: Thread, number: int) -> None:
    """The order of a task's writes is that of their numbers: the tenth comes behind the second.

    Indices that are sorted as text put 10 before 2: a list built by many writes is shuffled after a restart.
    """
    batch = [("a", index) for index in range(number)]
    stored = thread.put({})
    thread.write(stored, batch)
    expect_same(batch, of_task(thread.read(stored)), f"the {number} writes of the task")


@rule(MUST, source=f"{DOCUMENTED}; pregel/_loop.py: each task of a step saves its own writes")
@pytest.mark.parametrize("number", [2, 40])
def test_tasks_keep_their_writes_apart(thread: Thread, number: int) -> None:
    """Several tasks may write the same channels at the same positions: each has its own writes.

    The tasks of one step run in parallel and usually write the same keys: results would overwrite one another.
    """
    stored = thread.put({})
    for index in range(number):
        thread.write(stored, [("a", index), ("b", -index)], task=f"task {index}")
    expect_same(
        {f"task {index}": [("a", index), ("b", -index)] for index in range(number)},
        by_task(thread.read(stored)),
        f"the writes of {number} tasks",
    )


@rule(MUST, source=f"{DOCUMENTED}: task_path has a default")
@pytest.mark.parametrize("path", [None, "", "~__pregel_pull, node"], ids=["left out", "empty", "path"])
def test_the_task_path_is_optional(thread: Thread, path: str | None) -> None:
    """`put_writes` takes a task path as fourth argument, and works without one.

    The engine passes it where the saver's signature has it; input, updates and older callers have none.
    """
    stored = thread.put({})
    thread.write(stored, [("a", 1)], path=path)
    expect_same([("task", "a", 1)], writes_of(thread.read(stored)), "the pending writes")


FALSY: Mapping[str, Any] = {
    "None": None,
    "False": False,
    "0": 0,
    "0.0": 0.0,
    "text": "",
    "bytes": b"",
    "list": [],
    "dict": {},
    "set": set(),
}


@rule(MUST, source="pregel/_algo.py: branch:to:* triggers are written as None")
@pytest.mark.parametrize("value", FALSY.values(), ids=FALSY)
def test_an_empty_value_is_a_value(thread: Thread, value: object) -> None:
    """None, False, 0 and empty texts and containers are written values like any other.

    The engine starts nodes by writing None to their trigger: dropped, the next node never runs.
    """
    stored = thread.put({})
    thread.write(stored, [("a", value), ("b", 1), ("c", value)])
    expect_same([("a", value), ("b", 1), ("c", value)], of_task(thread.read(stored)), "the writes of the task")


@rule(MUST, source="pregel/_loop.py and pregel/_algo.py test isinstance(value, Send) and read Interrupt.value")
@pytest.mark.parametrize(
    ("channel", "value"),
    [
        (INTERRUPT, [Interrupt(value={"q": "ok?"})]),
        (INTERRUPT, [Interrupt(value="ok?", id="6f1d")]),
        (TASKS, Send("node", {"x": [1, 2]})),
        (RESUME, ["yes", None]),
    ],
    ids=["Interrupt", "Interrupt with an id", "Send", "resume"],
)
def test_what_the_engine_writes_keeps_its_type(thread: Thread, channel: str, value: object) -> None:
    """Interrupts, Sends and resume values that are written come back as such.

    As dicts they break the resume: no interrupt is shown, no sent task is started. By its id an interrupt is answered.
    """
    stored = thread.put({})
    thread.write(stored, [(channel, value)])
    expect_same([(channel, value)], of_task(thread.read(stored)), "the writes of the task")


@rule(MUST, source=f"{DOCUMENTED}: list of writes to store, of any length")
def test_a_very_long_batch_is_kept_whole(thread: Thread, subject: Subject) -> None:
    """1200 writes of one call are all kept, in order.

    A fan-out over a long list is one such call: limits on parameters of a statement, on batches or on pages cut it.
    """
    batch = [(f"channel {index % 7}", index) for index in range(1200)]
    try_shorter(thread, subject, batch)
    stored = thread.put({})
    thread.write(stored, batch)
    expect_same(batch, of_task(thread.read(stored)), "the 1200 writes of the task")


def try_shorter(thread: Thread, subject: Subject, batch: Sequence[tuple[str, Any]]) -> None:
    """Store a twentieth of the batch; skip when the whole of it would not be stored and read in time."""
    began, short = time.monotonic(), batch[: len(batch) // 20]
    stored = thread.put({})
    thread.write(stored, short)
    thread.read(stored)
    took = time.monotonic() - began
    if took > subject.seconds / 60:
        pytest.skip(f"{len(short)} writes took {took:.1f} s: {len(batch)} would take too long to try")


@rule(MUST, source=f"{DOCUMENTED}: values of any size")
@pytest.mark.parametrize(("number", "size"), [(1, 300_000), (150, 10_000)], ids=["one", "many"])
def test_large_writes_are_kept_whole(thread: Thread, number: int, size: int) -> None:
    """A write of 300 kB is kept, and so are 150 writes of 10 kB, which are more than a page of some databases.

    Documents and model answers are that large.
    """
    batch = [("a", f"{index:06}" * (size // 6)) for index in range(number)]
    stored = thread.put({})
    thread.write(stored, batch)
    expect_same(batch, of_task(thread.read(stored)), "the writes of the task")


@rule(MUST, source="pregel/_loop.py: writes and checkpoint are told apart")
def test_writes_do_not_change_the_checkpoint(thread: Thread) -> None:
    """Pending writes change neither values, versions, metadata nor parent of their checkpoint.

    They are applied by the engine, in the next step: applied by the saver, too, they would count twice.
    """
    first = thread.put({"a": 0})
    stored = thread.put({"a": 1}, parent=first)
    before = as_read(thread.read(stored))
    thread.write(stored, [("a", 2), ("b", 3), (ERROR, "e"), (INTERRUPT, "i")])
    expect_same(before, as_read(thread.read(stored)), "the checkpoint after writes to it")


# --- first write wins, but for the special channels

NULL_TASK = "00000000-0000-0000-0000-000000000000"

REPEATED: Mapping[str, tuple[Sequence[Batch], Batch]] = {
    "other value": ([[("a", 1)], [("a", 2)]], [("a", 1)]),
    "other channel": ([[("a", 1)], [("b", 2)]], [("a", 1)]),
    "longer": ([[("a", 1), ("b", 2)], [("a", 10), ("b", 20), ("c", 30)]], [("a", 1), ("b", 2), ("c", 30)]),
    "shorter": ([[("a", 1), ("b", 2)], [("a", 10)]], [("a", 1), ("b", 2)]),
    "swapped": ([[("a", 1), ("b", 2)], [("b", 2), ("a", 1)]], [("a", 1), ("b", 2)]),
    "one channel": ([[("a", 1), ("a", 2)], [("a", 3), ("a", 4), ("a", 5)]], [("a", 1), ("a", 2), ("a", 5)]),
    "None first": ([[("a", None)], [("a", 2)]], [("a", None)]),
    "empty first": ([[("a", "")], [("a", "x")]], [("a", "")]),
    "larger": ([[("a", 1)], [("a", "x" * 9000)]], [("a", 1)]),
    "three times": ([[("a", 1)], [("a", 2), ("b", 2)], [("a", 3), ("b", 3), ("c", 3)]], [("a", 1), ("b", 2), ("c", 3)]),
    "equal": ([[("a", 1), ("b", 2)]] * 3, [("a", 1), ("b", 2)]),
}


@rule(MUST, source=f"{MAPPING}; InMemorySaver.put_writes, SqliteSaver.put_writes, PostgresSaver.put_writes")
@pytest.mark.parametrize("case", REPEATED)
def test_a_regular_write_that_is_stored_stays(thread: Thread, case: str) -> None:
    """What a task wrote at a position stays when the task writes again: only further positions are added.

    A task that is run twice, by a retry or by two workers, must count once, with its first result: never twice, and
    never half of one attempt over half of the other.
    """
    batches, expected = REPEATED[case]
    stored = thread.put({})
    for batch in batches:
        thread.write(stored, batch)
    expect_same(expected, of_task(thread.read(stored)), f"the writes of the task after {shown(batches)}")


@rule(MUST, source=MAPPING)
@special
@pytest.mark.parametrize(
    "values",
    [("first", "second", "third"), (["yes"], ["yes", "no"]), ({"a": 1}, {"b": 2})],
    ids=["text", "list", "dict"],
)
def test_a_special_write_replaces_the_one_stored(thread: Thread, channel: str, values: Sequence[object]) -> None:
    """An error, interrupt, resume or scheduled mark takes the place of the task's earlier one.

    A node that interrupts twice, or fails twice, shows its last question or error; the answer to the second interrupt
    must not be the first one's.
    """
    stored = thread.put({})
    for value in values:
        thread.write(stored, [(channel, value)])
    expect_same(
        [(channel, values[-1])], of_task(thread.read(stored)), "the writes of the task after several to one channel"
    )


@rule(SHOULD, source="InMemorySaver.put_writes, SqliteSaver.put_writes, PostgresSaver.put_writes; pregel/_loop.py")
@special
def test_of_special_writes_in_one_batch_the_last_counts(thread: Thread, channel: str) -> None:
    """Of several writes to one special channel in a batch of special writes the last one is kept.

    There is one place for it: the engine keeps the last one itself before it calls the saver.
    """
    stored = thread.put({})
    thread.write(stored, [(channel, 1), (channel, 2)])
    expect_same([(channel, 2)], of_task(thread.read(stored)), "the writes of the task")


@rule(MUST, source="pregel/_loop.py stores resume values and updates of a run under the task id that is all zeros")
def test_the_task_of_all_zeros_is_a_task(thread: Thread) -> None:
    """Writes of the task `00000000-0000-0000-0000-000000000000` are kept as those of any other.

    The engine stores under it what is given to a run with a Command: taken for "no task", the answer to an interrupt is
    lost when the process ends.
    """
    stored = thread.put({})
    for task in (NULL_TASK, "6b0d1e7a-3e4f-5d0c-9a55-2d1a4c3b2f10"):
        thread.write(stored, [("a", 1), (RESUME, "old")], task=task)
        thread.write(stored, [(RESUME, "new")], task=task)
    found = [
        (channel, value) for task, channel, value in by_channel(writes_of(thread.read(stored))) if task == NULL_TASK
    ]
    expect_same([(RESUME, "new"), ("a", 1)], found, "the writes of the task of all zeros")


@rule(MUST, source=MAPPING)
@pytest.mark.parametrize("together", [True, False], ids=["one batch", "one by one"])
def test_each_special_channel_has_its_own_place(thread: Thread, together: bool) -> None:
    """Error, scheduled, interrupt and resume writes of one task stand beside one another.

    A task that was resumed and then interrupts again has both: without the answers given so far its node asks the first
    question again.
    """
    batch = [(channel, name) for name, channel in SPECIAL.items()]
    stored = thread.put({})
    for part in [batch] if together else [[write] for write in batch]:
        thread.write(stored, part)
    thread.write(stored, [(INTERRUPT, "again")])
    expect_same(
        {ERROR: "error", SCHEDULED: "scheduled", INTERRUPT: "again", RESUME: "resume", "number": 4},
        {**dict(of_task(thread.read(stored))), "number": len(of_task(thread.read(stored)))},
        "the special writes of the task",
    )


@rule(MUST, source=MAPPING)
@special
@pytest.mark.parametrize("first", ["regular", "special"])
def test_special_writes_stand_beside_regular_ones(thread: Thread, channel: str, first: str) -> None:
    """A special write takes no position of the regular ones, whichever comes first.

    A task's result at position 0 and its error or interrupt would overwrite each other.
    """
    batches: list[Batch] = [[("a", 1), ("b", 2)], [(channel, "s")]]
    stored = thread.put({})
    for batch in batches if first == "regular" else reversed(batches):
        thread.write(stored, batch)
    expect_same([(channel, "s"), ("a", 1), ("b", 2)], specials_first(thread.read(stored)), "the writes of the task")


def specials_first(found: CheckpointTuple, task: str = "task") -> list[tuple[Any, Any]]:
    """A task's writes, the special ones ahead: where they stand is judged by a rule of its own."""
    return sorted(of_task(found, task), key=lambda write: write[0] not in SPECIAL.values())


@rule(MUST, source=MAPPING)
@special
def test_a_mixed_batch_is_kept_whole(thread: Thread, channel: str) -> None:
    """A batch that mixes special and regular writes is kept whole.

    The engine saves such batches: an answer together with an update, an error together with the failed node's name.
    """
    stored = thread.put({})
    thread.write(stored, [("a", 1), (channel, "s"), ("b", 2)])
    expect_same([(channel, "s"), ("a", 1), ("b", 2)], specials_first(thread.read(stored)), "the writes of the task")


MIXED: Mapping[str, Callable[[str], tuple[Sequence[Batch], Batch]]] = {
    "special last": lambda s: ([[("a", 1), (s, "old")], [("a", 1), (s, "new")]], [(s, "new"), ("a", 1)]),
    "special first": lambda s: ([[(s, "old"), ("a", 1)], [(s, "new"), ("a", 1)]], [(s, "new"), ("a", 1)]),
    "longer": lambda s: ([[("a", 1), (s, "old")], [("a", 1), ("b", 2), (s, "new")]], [(s, "new"), ("a", 1), ("b", 2)]),
    "special before": lambda s: ([[(s, "old")], [("a", 1), (s, "new")]], [(s, "new"), ("a", 1)]),
    "three times": lambda s: (
        [[("a", 1), (s, "old")], [("a", 1), (s, "new")], [("a", 1), (s, "newest")]],
        [(s, "newest"), ("a", 1)],
    ),
    "other special": lambda s: (
        [[("a", 1), (s, "old"), (other_than(s), "kept")], [("a", 1), (s, "new")]],
        [(s, "new"), (other_than(s), "kept"), ("a", 1)],
    ),
}


def other_than(channel: str) -> str:
    """A special channel that is not this one."""
    return ERROR if channel != ERROR else RESUME


@rule(MUST, source=f"{MAPPING}; pregel/_loop.py saves Command(resume=, update=) as one batch")
@special
def test_a_special_write_in_a_mixed_batch_replaces_the_one_stored(thread: Thread, channel: str) -> None:
    """In a batch that also holds regular writes, too, a special write takes the place of the earlier one.

    `Command(resume=, update=)` is saved so: when the process dies after the second answer was stored, a saver that kept
    the first one answers the second question with it.
    """
    stored = thread.put({})
    cases = {name: make(channel) for name, make in MIXED.items()}
    for name, (batches, _) in cases.items():
        for batch in batches:
            thread.write(stored, batch, task=name)
    found = thread.read(stored)
    expect_same(
        {name: sorted(expected, key=str) for name, (_, expected) in cases.items()},
        {name: sorted(of_task(found, name), key=str) for name in cases},
        "the writes of a task for each case",
    )


@rule(MUST, source=MAPPING)
@special
def test_a_special_write_alone_replaces_one_of_a_mixed_batch(thread: Thread, channel: str) -> None:
    """A special write that comes alone takes the place of one that came with regular writes; those stay.

    A node that wrote, interrupted, and interrupts again shows the last question and keeps what it wrote.
    """
    stored = thread.put({})
    thread.write(stored, [("a", 1), (channel, "old"), ("b", 2)])
    thread.write(stored, [(channel, "new")])
    expect_same([(channel, "new"), ("a", 1), ("b", 2)], specials_first(thread.read(stored)), "the writes of the task")


@rule(MUST, source=MAPPING)
@special
def test_a_regular_write_in_a_mixed_batch_does_not_replace(thread: Thread, channel: str) -> None:
    """In a batch that also holds a special write, too, a regular write leaves the one that is stored.

    A retried task would count with another result because it also left an error.
    """
    stored = thread.put({})
    thread.write(stored, [("a", 1), ("b", 2)])
    thread.write(stored, [("a", 10), ("b", 20), ("c", 30), (channel, "s")])
    regular = [write for write in of_task(thread.read(stored)) if write[0] != channel]
    expect_same([("a", 1), ("b", 2), ("c", 30)], regular, "the regular writes of the task")


@rule(SHOULD, source="InMemorySaver.put_writes, SqliteSaver.put_writes, PostgresSaver.put_writes")
def test_special_writes_count_in_the_positions_of_a_batch(thread: Thread) -> None:
    """The position of a regular write is its place in the whole batch, special writes counted.

    Savers that count otherwise keep other writes than the engine expects when a batch is saved again.
    """
    stored = thread.put({})
    thread.write(stored, [(RESUME, "r"), ("second", 1)])
    thread.write(stored, [("first", 0), ("late", 2)])
    expect_same(
        [("first", 0), ("second", 1)],
        sorted(write for write in of_task(thread.read(stored)) if write[0] != RESUME),
        "the regular writes of the task: one at position 1, then one at 0 and one more at 1, which comes too late",
    )


@rule(MUST, source=f"{MAPPING}: it names four channels")
@pytest.mark.parametrize(
    "channel",
    [TASKS, "__error_source_node__", "__return__", "__no_writes__", "__start__", "error", "__resume", "__Interrupt__"],
)
def test_only_four_channels_are_special(thread: Thread, channel: str) -> None:
    """All channels but error, scheduled, interrupt and resume are regular, whatever their names look like.

    A task sends several Sends to `__pregel_tasks`: taken for special because of its name, only the last one is run.
    """
    stored = thread.put({})
    thread.write(stored, [(channel, 1), (channel, 2)])
    thread.write(stored, [(channel, 3), (channel, 4), (channel, 5)])
    expect_same(
        [(channel, 1), (channel, 2), (channel, 5)],
        of_task(thread.read(stored)),
        f"the writes of the task to {channel!r}",
    )


@rule(MUST, source=f"{DOCUMENTED}; a run that goes on saves the same writes again")
@pytest.mark.parametrize(
    "batch",
    [[("a", 1), ("a", 1)], [(ERROR, "e")], [("a", 1), (RESUME, "r")], [(INTERRUPT, "i"), (RESUME, "r")]],
    ids=["regular", "special", "mixed", "specials"],
)
def test_the_same_call_again_changes_nothing(thread: Thread, batch: Batch) -> None:
    """Repeated calls with the same writes leave one copy and raise nothing.

    After a lost answer or a restart the same writes are stored again: counted twice, or refused as duplicates, they
    spoil the run that they should save.
    """
    stored = thread.put({})
    thread.write(stored, batch)
    once = of_task(thread.read(stored))
    thread.write(stored, batch)
    thread.write(stored, batch)
    expect_same(
        {"number": len(batch), "after one": once},
        {"number": len(once), "after one": of_task(thread.read(stored))},
        "the writes of the task after one call, and after three",
    )


# --- where writes belong


def in_two_places(thread: Thread, new_thread: NewThread, apart: str) -> tuple[tuple[Stored, str], tuple[Stored, str]]:
    """Two places for writes, each a checkpoint and a task id, that differ in one respect."""
    id = thread.make({}).id
    here = thread.put({}, id=id)
    there = {
        "task": lambda: here,
        "child": lambda: thread.put({}, parent=here),
        "sibling": lambda: thread.put({}),
        "namespace": lambda: thread.put({}, ns="child", id=id),
        "nested namespace": lambda: thread.put({}, ns="child:1|inner:2", id=id),
        "thread": lambda: new_thread().put({}, id=id),
    }[apart]()
    return (here, "task"), (there, "other" if apart == "task" else "task")


PLACES = ["task", "child", "sibling", "namespace", "nested namespace", "thread"]


@rule(MUST, source=f"{DOCUMENTED}: writes are linked to a checkpoint")
@pytest.mark.parametrize("order", ["first", "second"])
@pytest.mark.parametrize("apart", PLACES)
def test_writes_belong_to_one_place(thread: Thread, new_thread: NewThread, apart: str, order: str) -> None:
    """Writes belong to one task at one checkpoint in one namespace of one thread, and appear nowhere else.

    The next step would start with the writes of the one before, a subgraph with its parent's, a user with another's.
    """
    here, there = in_two_places(thread, new_thread, apart)
    written, empty = (here, there) if order == "first" else (there, here)
    thread.write(written[0], [("a", 1), (RESUME, "r")], task=written[1])
    expect_same(
        {"written to": [("a", 1), (RESUME, "r")], "not": []},
        {
            "written to": sorted(of_task(thread.read(written[0]), written[1]), key=str, reverse=True),
            "not": of_task(thread.read(empty[0]), empty[1]),
        },
        f"the writes of two places with another {apart}",
    )


@rule(MUST, source=MAPPING)
@pytest.mark.parametrize("apart", PLACES)
def test_writes_in_one_place_do_not_touch_those_in_another(thread: Thread, new_thread: NewThread, apart: str) -> None:
    """Writes at the same position or to the same special channel elsewhere neither replace nor hinder these.

    The first write wins and the special one replaces within one task at one checkpoint, not beyond.
    """
    (here, task), (there, other) = in_two_places(thread, new_thread, apart)
    thread.write(here, [("a", 1), ("b", 2)], task=task)
    thread.write(here, [(ERROR, "e1")], task=task)
    thread.write(there, [("a", 10)], task=other)
    thread.write(there, [(ERROR, "e10")], task=other)
    thread.write(here, [(ERROR, "e2")], task=task)
    expect_same(
        {"first": [(ERROR, "e2"), ("a", 1), ("b", 2)], "second": [(ERROR, "e10"), ("a", 10)]},
        {"first": specials_first(thread.read(here), task), "second": specials_first(thread.read(there), other)},
        f"the writes of two places with another {apart}",
    )


@rule(MUST, source="pregel/_loop.py: writes of a step are saved under the checkpoint that it started from")
def test_writes_stay_when_newer_checkpoints_come(thread: Thread) -> None:
    """Writes stay with their checkpoint when children are put on it, and late ones still go there.

    Replay from an older checkpoint needs the writes that were made from it; the newest must not get them.
    """
    first = thread.put({"a": 0})
    thread.write(first, [("a", 1)], task="early")
    second = thread.put({"a": 1}, parent=first)
    third = thread.put({"a": 2}, parent=second)
    thread.write(first, [("a", 2)], task="late")
    expect_same(
        {"first": {"early": [("a", 1)], "late": [("a", 2)]}, "second": {}, "third": {}},
        {
            "first": by_task(thread.read(first)),
            "second": by_task(thread.read(second)),
            "third": by_task(thread.read(third)),
        },
        "the writes of three checkpoints",
    )


@rule(MUST, source="pregel/_loop.py submits put and put_writes in the background, in no fixed order")
@pytest.mark.parametrize("number", [1, 12])
@pytest.mark.parametrize("ns", ["", "child:1"], ids=["root", "child"])
def test_writes_may_come_before_their_checkpoint(thread: Thread, ns: str, number: int) -> None:
    """Writes for a checkpoint that is not put yet are taken, and are there once it is put.

    The engine saves both in the background: fast tasks finish before the checkpoint that they started from is stored.
    """
    first = thread.put({"a": 0}, ns=ns)
    made = thread.make({"a": 1}, parent=first)
    batch = [("a", index) for index in range(number)]
    thread.write(made, batch)
    thread.write(made, [(INTERRUPT, "i")], task="other")
    thread.store(made)
    expect_same(
        {"task": batch, "other": [(INTERRUPT, "i")]}, by_task(thread.read(made)), "the writes that came before the put"
    )


@rule(MUST, source="pregel/_loop.py: a run starts from a checkpoint, not from writes")
def test_writes_alone_make_no_checkpoint(saver: SaverDrive, thread: Thread) -> None:
    """Writes for a checkpoint that was never put are not seen as one, and do not hide the latest.

    A process that dies between the two leaves such writes: the thread must go on from the last whole checkpoint.
    """
    made = thread.make({"a": 0})
    thread.write(made, [("a", 1)])
    alone = (saver.get_tuple(made.config), saver.get_tuple(thread.config()), thread.listed_ids())
    first = thread.put({"a": 0})
    second = thread.make({"a": 1}, parent=first)
    thread.write(second, [("a", 2)])
    expect_same(
        {"alone": (None, None, []), "latest": first.id, "by id": None, "listed": [first.id]},
        {
            "alone": alone,
            "latest": thread.latest().checkpoint["id"],
            "by id": saver.get_tuple(second.config),
            "listed": thread.listed_ids(),
        },
        "what is read when only writes are there, and when they are for a checkpoint after the latest",
    )


@rule(SHOULD, source="InMemorySaver.put, SqliteSaver.put, PostgresSaver.put")
def test_writes_stay_when_their_checkpoint_is_put_again(thread: Thread) -> None:
    """A checkpoint that is put again keeps its pending writes.

    `put` replaces a checkpoint, not what tasks wrote from it: a retried put would make finished tasks run again.
    """
    made = thread.make({"a": 0})
    thread.store(made)
    thread.write(made, [("a", 1), ("b", 2), (INTERRUPT, "i")])
    thread.store(made)
    expect_same(
        [(INTERRUPT, "i"), ("a", 1), ("b", 2)], specials_first(thread.read(made)), "the writes after a second put"
    )


# --- order of all pending writes

ORDERS: Mapping[str, Sequence[tuple[str, str]]] = {
    "path against id": [("z", "~a"), ("a", "~b"), ("m", "~ab")],
    "equal paths": [("b", "~p"), ("c", "~p"), ("a", "~p")],
    "no path first": [("z", ""), ("a", "~p"), ("y", "")],
    "case": [("b", ""), ("B", ""), ("a", ""), ("A", ""), ("_", ""), ("C", "")],
    "case of paths": [("1", "~b"), ("2", "~B"), ("3", "~a"), ("4", "~A")],
    "numbers as text": [("9", ""), ("10", ""), ("1", ""), ("-1", ""), ("02", "")],
    "numbers in paths": [("1", "~push, 9"), ("2", "~push, 10"), ("3", "~push, 0000000002")],
    "prefixes": [("ab", ""), ("a", ""), ("a-b", ""), ("a b", ""), ("a:b", ""), ("abc", "")],
    "unicode": [("é", ""), ("z", ""), ("e\u0301", ""), ("\uff5e", ""), ("\U0001f600", ""), ("日", ""), ("Z", "")],
    "unicode in paths": [("1", "é"), ("2", "z"), ("3", "\uff5e"), ("4", "\U0001f600"), ("5", "e\u0301"), ("6", "Z")],
}


@rule(
    MUST,
    source="BaseCheckpointSaver.get_tuple: pending_writes must be in writes_sort_key order",
    since="langgraph-checkpoint>=4.3",
)
@pytest.mark.parametrize("order", ORDERS)
def test_tasks_are_in_the_order_of_path_and_id(thread: Thread, order: str) -> None:
    """Pending writes are ordered by task path, then task id, then position; both texts by code point.

    It is the order in which a live run applies them: in another one, a list in the state is rebuilt shuffled.
    """
    stored = thread.put({})
    for task, path in ORDERS[order]:
        thread.write(stored, [("a", 0), ("a", 1)], task=task, path=path)
    ordered = [task for path, task in sorted((path, task) for task, path in ORDERS[order])]
    expect_same(
        [(task, index) for task in ordered for index in (0, 1)],
        [(task, value) for task, _, value in writes_of(thread.read(stored))],
        f"the tasks and positions of the writes with (task id, path) {ORDERS[order]!r}",
    )


@rule(
    MUST,
    source="BaseCheckpointSaver.get_tuple: pending_writes must be in writes_sort_key order",
    since="langgraph-checkpoint>=4.3",
)
@pytest.mark.parametrize("length", [40, 64, 150, 255])
def test_long_task_paths_count_to_their_end(thread: Thread, length: int) -> None:
    """Task paths that differ only after many characters order their tasks, too.

    A path names the node, which may be long, and for a task that another one started, the path of that one: cut to a
    column's width, parallel tasks are ordered by their random ids.
    """
    stored = thread.put({})
    for task, end in (("1", "c"), ("2", "b"), ("3", "a")):
        thread.write(stored, [("a", end)], task=task, path=f"~{'n' * length}, {end}")
    expect_same(
        [("3", "a"), ("2", "b"), ("1", "c")],
        [(task, value) for task, _, value in writes_of(thread.read(stored))],
        f"the tasks and values of writes whose paths differ after {length} characters",
    )


@rule(
    MUST,
    source="BaseCheckpointSaver.get_tuple: pending_writes must be in writes_sort_key order",
    since="langgraph-checkpoint>=4.3",
)
@pytest.mark.parametrize("read", ["by id", "latest", "list"])
def test_order_is_the_same_however_writes_are_read(thread: Thread, read: str) -> None:
    """Pending writes have one order whichever way their checkpoint is read, over many tasks and positions.

    What is shown in a history, and what a resumed run applies, would be different lists.
    """
    stored = thread.put({})
    for number in (3, 1, 2):
        thread.write(stored, [("a", index) for index in range(12)], task=f"{9 - number}", path=f"~p, {number}")
    found = read_by(thread, stored, read)
    expect_same(
        [[(f"{9 - number}", index) for number in (1, 2, 3) for index in range(12)]],
        [[(task, value) for task, _, value in writes_of(each)] for each in found],
        "the tasks and positions of the writes",
    )


@rule(
    MUST,
    source="BaseCheckpointSaver.get_tuple: pending_writes must be in writes_sort_key order; WRITES_IDX_MAP",
    since="langgraph-checkpoint>=4.3",
)
def test_special_writes_come_first_within_their_task(thread: Thread) -> None:
    """Within a task, special writes come first, by their fixed positions: resume, interrupt, scheduled, error.

    They have negative positions: stored as text, or as positions behind the regular ones, they move.
    """
    stored = thread.put({})
    thread.write(stored, [("a", 0), (ERROR, -1), ("b", 2)], task="2")
    thread.write(stored, [(SCHEDULED, -2), (RESUME, -4), (INTERRUPT, -3)], task="2")
    thread.write(stored, [("a", 0)], task="1")
    expect_same(
        [
            ("1", "a", 0),
            ("2", RESUME, -4),
            ("2", INTERRUPT, -3),
            ("2", SCHEDULED, -2),
            ("2", ERROR, -1),
            ("2", "a", 0),
            ("2", "b", 2),
        ],
        writes_of(thread.read(stored)),
        "the pending writes",
    )


@rule(
    QUIRK,
    source="InMemorySaver.put_writes, SqliteSaver.put_writes, PostgresSaver.put_writes",
    since="langgraph-checkpoint>=4.3",
    officials={
        "InMemorySaver": "takes the new path",
        "SqliteSaver": "takes the new path",
        "PostgresSaver": "keeps the old path",
    },
)
def test_a_special_write_repeated_with_another_path(thread: Thread, observe: Callable[[object], None]) -> None:
    """Which path, and so which place in the order, a special write has that was written with two."""
    stored = thread.put({})
    thread.write(stored, [(ERROR, "e")], task="moved", path="~z")
    thread.write(stored, [(ERROR, "e")], task="other", path="~m")
    thread.write(stored, [(ERROR, "e")], task="moved", path="~a")
    tasks = [task for task, _, _ in writes_of(thread.read(stored))]
    observe(
        {"moved": "takes the new path", "other": "keeps the old path"}[tasks[0]]
        if len(tasks) == 2
        else f"keeps {tasks}"
    )


# --- the call itself


@rule(SHOULD, source="InMemorySaver.put_writes, SqliteSaver.put_writes, PostgresSaver.put_writes")
@pytest.mark.parametrize("earlier", [[], [("a", 1), (ERROR, "e")]], ids=["none before", "some before"])
def test_an_empty_batch_changes_nothing(thread: Thread, earlier: Batch) -> None:
    """`put_writes` with no writes raises nothing and leaves what is stored.

    A node that returns nothing must not end the run with an error of the database.
    """
    stored = thread.put({})
    for batch in [earlier] if earlier else []:
        thread.write(stored, batch)
    before = writes_of(thread.read(stored))
    thread.write(stored, [])
    expect_same(before, writes_of(thread.read(stored)), "the pending writes after an empty batch")


@rule(MUST, source="pregel/_loop.py passes a task's deque of writes, or a list")
@pytest.mark.parametrize("kind", [list, tuple, deque], ids=["list", "tuple", "deque"])
def test_writes_may_be_any_sequence(thread: Thread, kind: Callable[[Batch], Any]) -> None:
    """The writes may be a list, a tuple or a deque.

    The engine hands over a task's own deque; one that is read twice, sliced or serialised as it is must bear it.
    """
    stored = thread.put({})
    thread.write(stored, kind([("a", 1), ("b", 2), ("a", 3)]))
    expect_same([("a", 1), ("b", 2), ("a", 3)], of_task(thread.read(stored)), "the writes of the task")


@rule(SHOULD, source=f"{DOCUMENTED}: returns None")
def test_it_returns_none(saver: SaverDrive, thread: Thread) -> None:
    """`put_writes` returns None.

    Its signature says so.
    """
    stored = thread.put({})
    expect_same(None, saver.call("put_writes", stored.config, [("a", 1)], "task"), "what put_writes returned")


@rule(MUST, source="pregel/_loop.py: the config of a run holds the engine's objects")
def test_the_engines_keys_in_the_config_are_ignored(saver: SaverDrive, thread: Thread) -> None:
    """Keys of the config that name neither thread, namespace nor checkpoint are accepted and ignored.

    The config of a run carries functions, callbacks and the runtime: trying to store or to serialise them fails.
    """
    stored = thread.put({})
    config = thread.config(
        checkpoint_id=stored.id, __pregel_send=lambda writes: None, __pregel_runtime=object(), user_id="u", task_id="x"
    )
    config.update({"metadata": {"m": object()}, "tags": ["t"], "callbacks": [], "recursion_limit": 25})
    saver.put_writes(config, [("a", 1)], "task", "~p")
    expect_same([("task", "a", 1)], writes_of(thread.read(stored)), "the pending writes")


@rule(MUST, source="pregel/_loop.py goes on using the writes and the config")
def test_its_arguments_stay_as_they_are(saver: SaverDrive, thread: Thread) -> None:
    """`put_writes` changes neither the config nor the writes.

    The engine applies the same list of writes afterwards.
    """
    stored = thread.put({})
    given: tuple[Any, Any] = (
        thread.config(checkpoint_id=stored.id, user_id="u"),
        [("a", {"k": [1]}), (ERROR, "e"), ("a", 2)],
    )
    expected = copy.deepcopy(given)
    saver.put_writes(*given, "task", "~p")
    expect_same(expected, given, "the config and the writes after the call")


@rule(SHOULD, source="InMemorySaver.put_writes, SqliteSaver.put_writes, PostgresSaver.put_writes")
@pytest.mark.parametrize("missing", ["checkpoint_id", "thread_id"])
def test_a_config_that_names_no_checkpoint_is_refused(saver: SaverDrive, thread: Thread, missing: str) -> None:
    """`put_writes` raises when the config has no checkpoint id or no thread id.

    Stored under "none", the writes of all such callers would meet in one place.
    """
    config = thread.put({}).config
    del config["configurable"][missing]
    expect_raises(Exception, lambda: saver.put_writes(config, [("a", 1)], "task"), f"put_writes without {missing}")


@rule(
    QUIRK,
    source="InMemorySaver.put_writes, SqliteSaver.put_writes, PostgresSaver.put_writes",
    officials={
        "InMemorySaver": "takes the root's",
        "SqliteSaver": "raises KeyError",
        "PostgresSaver": "raises KeyError",
    },
)
def test_a_config_without_a_namespace(saver: SaverDrive, thread: Thread, observe: Callable[[object], None]) -> None:
    """What `put_writes` does when the config has no namespace."""
    stored = thread.put({})
    try:
        saver.put_writes(thread.config(ns=None, checkpoint_id=stored.id), [("a", 1)], "task")
    except (KeyError, ValueError, TypeError) as error:
        observe(f"raises {type(error).__name__}")
    else:
        observe("takes the root's" if writes_of(thread.read(stored)) else "takes another one")


# --- failures


@rule(MUST, source="pregel/_loop.py: the futures of put_writes raise in the run")
def test_a_value_that_cannot_be_stored_is_an_error(saver: SaverDrive, thread: Thread) -> None:
    """`put_writes` raises when a value cannot be serialised.

    An error that is only logged looks like success: the work of the task is gone after a restart.
    """
    stored = thread.put({})
    unserialisable = iter(())
    expect_raises(
        Exception, lambda: saver.put_writes(stored.config, [("a", unserialisable)], "task"), "put_writes of a generator"
    )


@rule(SHOULD, source=f"{DOCUMENTED}: stores the writes of a task")
def test_a_batch_that_fails_leaves_nothing(saver: SaverDrive, thread: Thread) -> None:
    """When a value of a batch cannot be serialised, none of the batch is stored.

    Half of a task's writes look like a task that is finished: it does not run again, and the other half is lost.
    """
    stored = thread.put({})
    thread.write(stored, [("a", 0)], task="other")
    unserialisable = iter(())
    expect_raises(
        Exception,
        lambda: saver.put_writes(stored.config, [("a", 1), ("b", unserialisable), ("c", 3)], "task"),
        "put_writes with a generator among the values",
    )
    expect_same({"other": [("a", 0)]}, by_task(thread.read(stored)), "the pending writes after a failed batch")


@rule(SHOULD, source=f"{DOCUMENTED}: stores the writes of a task")
@pytest.mark.parametrize("odd", ["\ud800", "a\0"], ids=["surrogate", "nul"])
def test_a_batch_that_is_refused_half_way_leaves_nothing(saver: SaverDrive, thread: Thread, odd: str) -> None:
    """When the database refuses one write of a batch, such as one to a channel with an odd name, none is stored.

    Writes sent one by one, or committed although the batch failed, leave half of what a task did.
    """
    stored = thread.put({})
    batch = [("a", 1), (odd, 2), ("c", 3)]
    try:
        saver.put_writes(stored.config, batch, "task")
    except Blocked:
        raise
    except Exception:
        batch = []
        saver.broken = True  # a connection may be out of step now, which must not fail other checks
    expect_same(len(batch), len(of_task(thread.read(stored))), "the number of writes stored")
