"""What becomes of the values that users keep in state and that tasks write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import pytest
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT, RESUME, TASKS
from langgraph.types import Interrupt, Send

from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.errors import Broken
from langgraph_conformance.expect import expect_equal, expect_same, expect_true, same, shown
from langgraph_conformance.rules import MUST, QUIRK, SHOULD, rule
from langgraph_conformance.suite.saver import values
from langgraph_conformance.suite.saver.values import alone_and_nested, expect_kept, in_containers
from langgraph_conformance.threads import Stored, Thread, writes_of

SERIALIZER = "BaseCheckpointSaver.serde; JsonPlusSerializer"

Place = Callable[[Thread, Mapping[str, Any]], Mapping[str, Any]]
"""Stores values and reads them: what came back, by the same names."""


def as_channels(thread: Thread, put: Mapping[str, Any]) -> Mapping[str, Any]:
    """Each value in a channel of its own."""
    channel_values: Mapping[str, Any] = thread.read(thread.put(put)).checkpoint["channel_values"]
    return channel_values


def as_writes(thread: Thread, put: Mapping[str, Any]) -> Mapping[str, Any]:
    """Each value as a pending write to a channel of its own, all by one task."""
    stored = thread.put()
    thread.write(stored, list(put.items()))
    return written(thread, stored)


def written(thread: Thread, stored: Stored) -> dict[str, Any]:
    """The pending writes of a checkpoint, by channel."""
    return {channel: value for _, channel, value in writes_of(thread.read(stored))}


def refusal(call: Callable[[], object]) -> Exception | None:
    """What ``call`` raises, or None."""
    try:
        call()
    except Exception as error:
        return error
    return None


Attempt = Callable[[Thread, Stored, str, Any], tuple[Any, Any]]
"""Tries to store a value: what must be found then, None when it was refused, and what is found."""


def try_to_put(thread: Thread, earlier: Stored, name: str, value: Any) -> tuple[Any, Any]:
    """With a checkpoint."""
    made = thread.make({name: value}, parent=earlier)
    refused = refusal(lambda: thread.store(made))
    found = thread.saver.get_tuple(made.config)
    return None if refused else value, found and found.checkpoint["channel_values"].get(name)


def try_to_write(thread: Thread, earlier: Stored, name: str, value: Any) -> tuple[Any, Any]:
    """With a pending write."""
    refused = refusal(lambda: thread.write(earlier, [(name, value)], task=name))
    return None if refused else value, written(thread, earlier).get(name)


def expect_kept_or_refused(thread: Thread, attempt: Attempt, put: Mapping[str, Any]) -> None:
    """Each value is found exactly, or was refused and is not found."""
    earlier = thread.put()
    tried = {name: attempt(thread, earlier, name, value) for name, value in put.items()}
    expected = {name: wanted for name, (wanted, _) in tried.items()}
    expect_same(expected, {name: read for name, (_, read) in tried.items()}, "what was not refused")


in_both_ways = pytest.mark.parametrize("attempt", [try_to_put, try_to_write], ids=["put", "put_writes"])
in_both_places = pytest.mark.parametrize("place", [as_channels, as_writes], ids=["channel", "write"])


# -- kinds of values in channels


@rule(MUST, source=SERIALIZER)
def test_empty_values_are_values(saver: SaverDrive, thread: Thread) -> None:
    """None, False, 0 and everything that is empty come back from a channel as what they were.

    Savers that test a value for truth lose them: a flag that was set to False, or a list that was emptied, would be
    missing from the state or keep its old value.
    """
    put = alone_and_nested(values.EMPTY)
    expect_kept(saver, put, as_channels(thread, put), "the channel values")


@rule(MUST, source=SERIALIZER)
def test_values_that_look_alike_stay_apart(saver: SaverDrive, thread: Thread) -> None:
    """1, True, 1.0, "1", b"1" and their like come back from a channel in their own type.

    Savers that store values as text, or that share one stored value between all that compare as equal, mix them up:
    nodes that look at the type, or validate it, then fail on a state that was resumed.
    """
    put = alone_and_nested(values.LOOK_ALIKES)
    expect_kept(saver, put, as_channels(thread, put), "the channel values")


@rule(MUST, source=SERIALIZER)
def test_integers_are_exact(saver: SaverDrive, thread: Thread) -> None:
    """An integer from -2**63 to 2**64 - 1 comes back from a channel exactly.

    Savers that go through doubles or signed columns change large ones: ids and amounts in the state become others.
    """
    put = alone_and_nested(values.INTS)
    expect_kept(saver, put, as_channels(thread, put), "the channel values")


@rule(MUST, source=SERIALIZER)
def test_floats_stay_floats(saver: SaverDrive, thread: Thread) -> None:
    """A float comes back from a channel with its exact value, as a float, also when it is whole.

    Savers that go through JSON or decimal columns round it or make it an int: sums drift after each resume.
    """
    put = alone_and_nested(values.FLOATS)
    expect_kept(saver, put, as_channels(thread, put), "the channel values")


@rule(SHOULD, source=SERIALIZER)
def test_extreme_floats_stay_floats(saver: SaverDrive, thread: Thread) -> None:
    """The greatest and least floats, whole ones from 1e16 on, and -0.0 come back from a channel as they were.

    JSON columns make integers of large whole floats and drop the sign of zero.
    """
    put = alone_and_nested(values.SPECIAL_FLOATS)
    expect_kept(saver, put, as_channels(thread, put), "the channel values")


@rule(SHOULD, source=SERIALIZER)
def test_nan_and_infinity_are_values(saver: SaverDrive, thread: Thread) -> None:
    """NaN and the infinities come back from a channel as floats.

    JSON knows none of them: a score that a node could not compute would end the run, or become null.
    """
    put = alone_and_nested(values.NOT_FINITE)
    expect_kept(saver, put, as_channels(thread, put), "the channel values")


@rule(MUST, source=SERIALIZER)
def test_text_is_exact(saver: SaverDrive, thread: Thread) -> None:
    """Text comes back from a channel character by character, whatever script it is in or looks like.

    Savers that trim, normalise, escape twice or guess types change it: "0012" becomes 12, and composed and decomposed
    letters become the same.
    """
    put = alone_and_nested(values.TEXT)
    expect_kept(saver, put, as_channels(thread, put), "the channel values")


@rule(SHOULD, source=SERIALIZER)
def test_text_with_nul_is_exact(saver: SaverDrive, thread: Thread) -> None:
    """Text that has a NUL character comes back from a channel as it was.

    Models and scraped pages do give such text; text columns refuse it, and C interfaces cut it off there.
    """
    put = alone_and_nested(values.TEXT_WITH_NUL)
    expect_kept(saver, put, as_channels(thread, put), "the channel values")


@rule(MUST, source=SERIALIZER)
def test_bytes_stay_bytes(saver: SaverDrive, thread: Thread) -> None:
    """Bytes come back from a channel as bytes: not as text, base64 or a memoryview.

    Images and files in the state would no longer open, and only after a resume.
    """
    put = alone_and_nested(values.BYTES)
    expect_kept(saver, put, as_channels(thread, put), "the channel values")


@rule(MUST, source=SERIALIZER)
def test_lists_and_dicts_keep_members_and_keys(saver: SaverDrive, thread: Thread) -> None:
    """Lists and dicts come back from a channel with all members, in order, and with keys of any type and name.

    JSON makes text of number keys, documents forbid keys with dots and dollars, and lookups then fail after a resume.
    """
    put = alone_and_nested(values.CONTAINERS)
    expect_kept(saver, put, as_channels(thread, put), "the channel values")


@rule(SHOULD, source=SERIALIZER)
@in_both_places
def test_dicts_keep_their_order(saver: SaverDrive, thread: Thread, place: Place) -> None:
    """The keys of a dict come back in the order in which they were put.

    Python programs rely on it, for example for steps of a plan; JSON columns and maps of databases sort them anew.
    """
    ordered = {"zulu": 1, "alpha": 2, "Mike": 3, "b": 4, "aa": 5, "10": 6, "9": 7}
    read = place(thread, {"alone": ordered, "nested": in_containers(ordered)})
    orders = str(read).count(str(ordered))
    expect_true(orders == 4, "the keys of a dict", f"the order {list(ordered)} each time", f"in {shown(read)}")


@rule(SHOULD, source=SERIALIZER)
@in_both_places
def test_kinds_of_dict_come_back_as_mappings(saver: SaverDrive, thread: Thread, place: Place) -> None:
    """OrderedDict, defaultdict and Counter come back as dicts with the same members.

    The serializer makes plain dicts of them; a saver that serializes on its own may refuse them or lose their keys.
    """
    put = alone_and_nested(values.DICT_SUBCLASSES)
    expect_kept(saver, put, place(thread, put), "the values")


@rule(MUST, source=SERIALIZER)
def test_values_shaped_like_envelopes_stay_as_they_are(saver: SaverDrive, thread: Thread) -> None:
    """A user's dict, list or text that looks like a serializer's or a database's own encoding comes back unchanged.

    Taken for an encoded object it is turned into something else, or code that the user's data names is called.
    """
    put = alone_and_nested(values.ENVELOPES)
    expect_kept(saver, put, as_channels(thread, put), "the channel values")


@rule(MUST, source=SERIALIZER)
def test_sets_and_deques_keep_their_type(saver: SaverDrive, thread: Thread) -> None:
    """Sets, frozensets and deques come back from a channel in their type, with their members' types.

    Nodes that add to a set fail on the list that JSON makes of it, or count members twice.
    """
    put = alone_and_nested(values.SETS)
    expect_kept(saver, put, as_channels(thread, put), "the channel values")


@rule(MUST, source=SERIALIZER)
def test_times_keep_type_precision_and_offset(saver: SaverDrive, thread: Thread) -> None:
    """Dates, times, durations and time zones come back from a channel in their type, to the microsecond and offset.

    A naive time that comes back aware, or one that was rounded to milliseconds, no longer compares with its own kind.
    """
    put = alone_and_nested(values.TIMES)
    expect_kept(saver, put, as_channels(thread, put), "the channel values")


@rule(MUST, source=SERIALIZER)
def test_ids_decimals_paths_and_addresses_keep_their_type(saver: SaverDrive, thread: Thread) -> None:
    """UUID, Decimal, Path, Pattern, IP address and secret come back from a channel in their type.

    As text they lose their methods and no longer equal what the program compares them with; a Decimal loses its digits.
    """
    put = alone_and_nested(values.SCALARS)
    expect_kept(saver, put, as_channels(thread, put), "the channel values")


@rule(MUST, source=SERIALIZER)
def test_enums_keep_their_type(saver: SaverDrive, thread: Thread) -> None:
    """A member of an Enum comes back from a channel as that member.

    A route that compares with `Colour.RED` takes the wrong branch when only the value "red" comes back.
    """
    put = alone_and_nested(values.ENUMS)
    expect_kept(saver, put, as_channels(thread, put), "the channel values")


@rule(SHOULD, source=SERIALIZER)
def test_enums_of_numbers_and_text_keep_their_type(saver: SaverDrive, thread: Thread) -> None:
    """A member of an IntEnum or of an Enum of text comes back from a channel as that member, not as its value.

    It is an instance of int or str, so a saver that treats those by themselves forgets the type: `.name` then fails.
    """
    put = alone_and_nested(values.PRIMITIVE_ENUMS)
    expect_kept(saver, put, as_channels(thread, put), "the channel values")


@rule(MUST, source=SERIALIZER)
def test_dataclasses_and_named_tuples_keep_their_type(saver: SaverDrive, thread: Thread) -> None:
    """Instances of dataclasses and named tuples come back from a channel in their type, with their fields' types.

    State kept in such classes comes back as dicts otherwise, and attribute access fails after a resume.
    """
    put = alone_and_nested(values.RECORDS)
    expect_kept(saver, put, as_channels(thread, put), "the channel values")


@rule(MUST, source=SERIALIZER)
def test_pydantic_models_keep_their_type(saver: SaverDrive, thread: Thread) -> None:
    """Instances of pydantic models come back from a channel in their type, with their fields' types.

    State kept in models comes back as dicts otherwise, and attribute access fails after a resume.
    """
    put = alone_and_nested(values.MODELS)
    expect_kept(saver, put, as_channels(thread, put), "the channel values")


@rule(MUST, source=SERIALIZER)
def test_messages_keep_their_type_and_all_fields(saver: SaverDrive, thread: Thread) -> None:
    """Messages and documents come back from a channel in their class, with ids, tool calls and all other fields.

    As dicts they break the next model call; without its tool calls an assistant's message makes the tool results
    that follow it invalid; without ids the reducer of messages adds instead of replacing.
    """
    put = alone_and_nested(values.MESSAGES)
    expect_kept(saver, put, as_channels(thread, put), "the channel values")


@rule(MUST, source="BaseCheckpointSaver.get_tuple")
@in_both_places
def test_conversations_are_not_repaired(saver: SaverDrive, thread: Thread, place: Place) -> None:
    """A list of messages comes back as it was put: unanswered tool calls, repetitions, odd order and all.

    A reader that adds the missing tool result or sorts the list changes the state behind the engine's back: the tool
    that is about to run finds its answer already there.
    """
    system, human, assistant, tool = values.CONVERSATION
    put = {
        "unanswered": [human, assistant],
        "answer_first": [tool, assistant, human, system],
        "repeated": [human, human, assistant, assistant],
        "lone_answer": [tool],
        "nested": {"messages": [human, assistant]},
    }
    expect_kept(saver, put, place(thread, put), "the messages")


@rule(MUST, source="langgraph.types; pregel/_algo.py, pregel/_loop.py")
def test_objects_of_the_engine_keep_their_type(saver: SaverDrive, thread: Thread) -> None:
    """Send, Interrupt, Command and Item come back from a channel in their type, with what they carry.

    The engine keeps Sends in the checkpoint and runs the tasks that they name; as dicts they end the run.
    """
    put = alone_and_nested(values.ENGINE_OBJECTS)
    expect_kept(saver, put, as_channels(thread, put), "the channel values")


@rule(MUST, source="pregel/_algo.py, pregel/_loop.py: TASKS, INTERRUPT, RESUME, ERROR")
def test_the_engines_own_channels_keep_its_objects(saver: SaverDrive, thread: Thread) -> None:
    """Sends in the tasks channel, interrupts and resume values come back as the engine put them.

    They are what a run needs to go on: the tasks of the next step, the question that was asked, and the answer to it.
    """
    sends = [Send("node", {"x": b"\xff"}), Send("node", {"x": {1}})]
    interrupt = Interrupt(value={"question": "Go on?"}, id="0123456789abcdef0123456789abcdef")
    stored = thread.put({TASKS: sends})
    thread.write(stored, [(TASKS, sends[0])], task="pushes")
    thread.write(stored, [(INTERRUPT, [interrupt])], task="asks")
    thread.write(stored, [(RESUME, [{"answer": (True, b"\x00")}])], task="goes_on")
    found = thread.read(stored)
    expect_kept(
        saver,
        {
            f"channel {TASKS}": sends,
            f"write {TASKS}": sends[0],
            f"write {INTERRUPT}": [interrupt],
            f"write {RESUME}": [{"answer": (True, b"\x00")}],
        },
        {
            f"channel {TASKS}": found.checkpoint["channel_values"].get(TASKS),
            **{f"write {channel}": value for _, channel, value in writes_of(found)},
        },
        "what the engine keeps in its own channels",
    )


@rule(SHOULD, source="pregel/_runner.py: ERROR; JsonPlusSerializer")
def test_exceptions_come_back_as_their_text(saver: SaverDrive, thread: Thread) -> None:
    """An exception that a task wrote comes back as its repr, or as an exception with the same repr.

    `get_state` shows it as the task's error; a saver that refuses exceptions hides why a task failed.
    """
    stored = thread.put()
    thread.write(stored, [(ERROR, ValueError("no 'such' file"))])
    expect_kept(saver, {ERROR: ValueError("no 'such' file")}, written(thread, stored), "the pending writes")


@rule(MUST, source=SERIALIZER)
def test_arrays_keep_shape_and_type(saver: SaverDrive, thread: Thread) -> None:
    """numpy arrays come back from a channel as arrays of the same shape, element type and elements.

    As lists they lose their methods, and embeddings in the state become many times larger.
    """
    put = alone_and_nested(values.ARRAYS)
    expect_kept(saver, put, as_channels(thread, put), "the channel values")


@rule(MUST, source="langgraph.checkpoint.serde.types._DeltaSnapshot", since="langgraph-checkpoint>=4.1")
def test_delta_snapshots_keep_their_type(saver: SaverDrive, thread: Thread) -> None:
    """A snapshot of a delta channel comes back from a channel as a snapshot, and a plain True beside it as True.

    The engine tells by the type whether it reads a value or a snapshot to build upon: unwrapped, a delta channel loses
    what it had gathered.
    """
    snapshot = values.DeltaSnapshot
    put = {"list": snapshot([1, b"\xff"]), "none": snapshot(None), "true": snapshot(True), "plain": True, "one": 1}
    stored = thread.put(put)
    expect_kept(saver, put, thread.read(stored).checkpoint["channel_values"], "the channel values read")
    expect_kept(saver, put, from_list(saver, thread, stored), "the channel values listed")


# -- pending writes


@rule(MUST, source=f"BaseCheckpointSaver.put_writes; {SERIALIZER}")
@pytest.mark.parametrize("kind", values.KINDS)
def test_pending_writes_keep_every_kind_of_value(saver: SaverDrive, thread: Thread, kind: str) -> None:
    """What a task wrote comes back as it was, whatever kind of value it is.

    Pending writes are a finished task's result: after a crash the engine applies them to the state in place of running
    the task again, so a type that is lost here is lost in the state.
    """
    put = alone_and_nested(values.KINDS[kind])
    expect_kept(saver, put, as_writes(thread, put), f"the pending writes of {kind}")


@rule(SHOULD, source=f"BaseCheckpointSaver.put_writes; {SERIALIZER}")
@pytest.mark.parametrize(
    "special",
    [values.SPECIAL_FLOATS, values.NOT_FINITE, values.TEXT_WITH_NUL, values.PRIMITIVE_ENUMS],
    ids=["extreme_floats", "not_finite", "nul", "primitive_enums"],
)
def test_pending_writes_keep_special_values(saver: SaverDrive, thread: Thread, special: Mapping[str, Any]) -> None:
    """Extreme floats, NaN, text with NUL, and enums of numbers and text come back from pending writes as they were.

    They are refused or changed where values go through JSON or a text column.
    """
    put = alone_and_nested(special)
    expect_kept(saver, put, as_writes(thread, put), "the pending writes")


# -- ways of reading


def from_get(saver: SaverDrive, thread: Thread, stored: Stored) -> Mapping[str, Any]:
    """Through ``get``."""
    return saver.get(stored.config)["channel_values"]  # type: ignore[no-any-return]


def from_latest(saver: SaverDrive, thread: Thread, stored: Stored) -> Mapping[str, Any]:
    """Through ``get_tuple`` without an id."""
    return thread.latest().checkpoint["channel_values"]


def from_list(saver: SaverDrive, thread: Thread, stored: Stored) -> Mapping[str, Any]:
    """Through ``list``."""
    return newest_listed(saver, thread).checkpoint["channel_values"]


def newest_listed(saver: SaverDrive, thread: Thread) -> CheckpointTuple:
    """The first tuple that ``list`` gives."""
    listed = saver.list(thread.config())
    if not listed:
        raise Broken("list of a thread that has a checkpoint", "the checkpoint", "nothing")
    return listed[0]


def from_next(saver: SaverDrive, thread: Thread, stored: Stored) -> Mapping[str, Any]:
    """From a later checkpoint that carries the values over."""
    later = thread.put({**stored.values, "other": 1}, parent=stored, changed=["other"])
    read = dict(thread.read(later).checkpoint["channel_values"])
    return {name: value for name, value in read.items() if name != "other"}


@rule(MUST, source="BaseCheckpointSaver.get, get_tuple, list")
@pytest.mark.parametrize("way", [from_get, from_latest, from_list, from_next], ids=["get", "latest", "list", "carried"])
def test_every_way_of_reading_gives_the_same_values(
    saver: SaverDrive, thread: Thread, way: Callable[[SaverDrive, Thread, Stored], Mapping[str, Any]]
) -> None:
    """`get`, `get_tuple` without an id, `list`, and a later checkpoint give a value as `get_tuple` with the id does.

    A second way of decoding is easily forgotten: history would show, and a fork would run from, values of other types.
    """
    stored = thread.put(values.ONE_OF_EACH)
    by_id = dict(thread.read(stored).checkpoint["channel_values"])
    expect_same(by_id, dict(way(saver, thread, stored)), "the channel values, as get_tuple with the id gives them")


@rule(MUST, source="BaseCheckpointSaver.get_tuple, list")
@pytest.mark.parametrize("way", ["latest", "list"])
def test_every_way_of_reading_gives_the_same_writes(saver: SaverDrive, thread: Thread, way: str) -> None:
    """`get_tuple` without an id and `list` give pending writes as `get_tuple` with the id does.

    A run resumes from the latest checkpoint: there the writes of finished tasks must have their types.
    """
    stored = thread.put()
    thread.write(stored, list(values.ONE_OF_EACH.items()))
    found = thread.latest() if way == "latest" else newest_listed(saver, thread)
    by_id = writes_of(thread.read(stored))
    expect_same(by_id, writes_of(found), "the pending writes, as get_tuple with the id gives them")


@rule(MUST, source="BaseCheckpointSaver.put: new_versions")
def test_a_value_that_equals_the_former_one_replaces_it(saver: SaverDrive, thread: Thread) -> None:
    """A channel that changes from 1 to True and back has at each checkpoint the value that was put with it.

    They compare as equal: a saver that stores only what differs from the former value by `==` keeps the wrong type.
    """
    history: list[Any] = [1, True, 1, [1], [True], {"key": 1}, {"key": True}, 0, False, 0]
    stored = [thread.put({"channel": history[0]})]
    for value in history[1:]:
        stored.append(thread.put({"channel": value}, parent=stored[-1]))
    read = [thread.read(each).checkpoint["channel_values"].get("channel") for each in stored]
    expect_same(history, read, "the channel's value at each checkpoint")


# -- size


@rule(MUST, source="BaseCheckpointSaver.put, put_writes: no limit is documented")
@in_both_places
@pytest.mark.parametrize("large", [bytes(range(256)) * 1172, "é" * 150_000], ids=["300_kB_of_bytes", "300_kB_of_text"])
def test_values_of_300_kilobytes_are_whole(saver: SaverDrive, thread: Thread, large: Any, place: Place) -> None:
    """A value of 300 kB comes back whole.

    A document or a long conversation is that large. Columns and items with a limit cut it or refuse it, which is
    noticed only when a run cannot be resumed.
    """
    read = place(thread, {"large": large, "many": list(range(2000))})
    expect_same({"large": large, "many": list(range(2000))}, dict(read), "the values")


@rule(MUST, source="BaseCheckpointSaver.put_writes")
def test_larger_writes_are_whole_or_refused(saver: SaverDrive, thread: Thread) -> None:
    """A write of 1.6 MB comes back whole, or `put_writes` raises and it is not there: it is never cut.

    Databases have limits; what is cut can no longer be decoded, and takes the whole thread with it.
    """
    expect_kept_or_refused(thread, try_to_write, {"large": "0123456789abcdef" * 100_000})


@rule(MUST, source=SERIALIZER)
@in_both_places
def test_deep_values_are_whole(saver: SaverDrive, thread: Thread, place: Place) -> None:
    """A value nested 100 levels deep comes back whole.

    Trees and parsed documents are that deep; databases of documents allow less when a value is stored as a document.
    """
    deep: Any = "bottom"
    for level in range(100):
        deep = [level, deep] if level % 2 else {"level": level, "next": deep}
    expect_kept(saver, {"deep": deep}, place(thread, {"deep": deep}), "the values")


@rule(MUST, source="BaseCheckpointSaver.put")
def test_many_channels_are_whole(saver: SaverDrive, thread: Thread) -> None:
    """A checkpoint of 300 channels comes back with all of them, read and listed.

    Reads that stop at a page's end give a state with holes.
    """
    put: dict[str, Any] = {f"channel_{number}": [number, "x" * 100] for number in range(300)}
    stored = thread.put(put)
    expect_same(put, dict(thread.read(stored).checkpoint["channel_values"]), "the channel values read")
    expect_same(put, dict(from_list(saver, thread, stored)), "the channel values listed")


# -- what cannot be stored


def nothing() -> None:
    """A function: no saver can store it."""


UNSUPPORTED: dict[str, Any] = {
    "int_of_65_bits": 2**64,
    "negative_int_of_65_bits": -(2**63) - 1,
    "complex": 1 + 2j,
    "fraction": Fraction(1, 3),
    "range": range(3),
    "function": nothing,
}


@rule(MUST, source="pregel/_loop.py raises what the futures of put and put_writes raise; JsonPlusSerializer")
@in_both_ways
def test_what_cannot_be_stored_is_refused_or_kept(saver: SaverDrive, thread: Thread, attempt: Attempt) -> None:
    """A value that cannot be stored makes the call raise, or comes back exactly: it is never changed without a word.

    A run whose state cannot be saved must end with an error. Turned into text or None, the value is noticed to be
    wrong only when the thread is resumed, when the original is gone.
    """
    expect_kept_or_refused(thread, attempt, alone_and_nested(UNSUPPORTED))


@rule(MUST, source="pregel/_loop.py raises what the futures of put raise")
def test_a_refused_checkpoint_is_not_there(saver: SaverDrive, thread: Thread) -> None:
    """After a put that raised, the thread's latest checkpoint is the one before it, with its values.

    Half a checkpoint that is listed but cannot be read, or that lacks the value, blocks the thread or loses the state.
    """
    earlier = thread.put({"first": [1], "second": [1]})
    made = thread.make({"first": [2], "second": nothing}, parent=earlier)
    refused = refusal(lambda: thread.store(made))
    expected = (made.id, made.values) if refused is None else (earlier.id, earlier.values)
    found = thread.latest()
    expect_same(
        expected, (found.checkpoint["id"], dict(found.checkpoint["channel_values"])), "the thread's latest checkpoint"
    )


# -- where official backends differ


def fate(thread: Thread, value: Any) -> str:
    """What becomes of a value in a channel, in words."""
    stored = thread.make({"value": value})
    if refusal(lambda: thread.store(stored)):
        return "refused"
    came = thread.read(stored).checkpoint["channel_values"].get("value")
    return "kept" if same(value, came) else f"comes back as {shown(came)}"


@rule(
    QUIRK,
    source="JsonPlusSerializer: ormsgpack replaces surrogates",
    officials={
        "InMemorySaver": "comes back as 'x?y'",
        "SqliteSaver": "comes back as 'x?y'",
        "PostgresSaver": "refused",
    },
)
def test_text_with_lone_surrogates(saver: SaverDrive, thread: Thread, observe: Callable[[object], None]) -> None:
    """Text with a lone surrogate, which is no Unicode text, is kept, replaced or refused.

    It comes from text that was cut between the halves of a character.
    """
    observe(fate(thread, "x\ud800y"))


@rule(
    QUIRK,
    source="JsonPlusSerializer has a tag for a bytearray that is serialized by itself",
    officials={
        "InMemorySaver": "kept",
        "SqliteSaver": "comes back as b'\\xffa'",
        "PostgresSaver": "kept",
    },
)
def test_bytearrays(saver: SaverDrive, thread: Thread, observe: Callable[[object], None]) -> None:
    """A bytearray in a channel comes back as a bytearray, or as bytes where the checkpoint is serialized as a whole.

    Only code that changes it in place notices.
    """
    observe(fate(thread, bytearray(b"\xffa")))


@rule(SHOULD, source=SERIALIZER)
def test_memoryviews_keep_their_content(saver: SaverDrive, thread: Thread) -> None:
    """A memoryview that a task wrote comes back as bytes, or as a memoryview, with the same content.

    It points into memory that is gone after a restart: what it shows must be stored.
    """
    stored = thread.put()
    thread.write(stored, [("view", memoryview(b"\x00\xffa"))])
    expect_equal(b"\x00\xffa", written(thread, stored).get("view"), "the memoryview written")


@rule(
    QUIRK,
    source="JsonPlusSerializer: msgpack has no tuples",
    officials={
        "InMemorySaver": "comes back as [1, [2]]",
        "SqliteSaver": "comes back as [1, [2]]",
        "PostgresSaver": "comes back as [1, [2]]",
    },
)
def test_tuples(saver: SaverDrive, thread: Thread, observe: Callable[[object], None]) -> None:
    """A tuple comes back as a list, or as a tuple where a saver keeps more than the default serializer does.

    Users who need a tuple keep a named one.
    """
    observe(fate(thread, (1, (2,))))


@rule(
    QUIRK,
    source="JsonPlusSerializer: msgpack has no tuples",
    officials={
        "InMemorySaver": "comes back as [[1, 2]]",
        "SqliteSaver": "comes back as [[1, 2]]",
        "PostgresSaver": "comes back as [[1, 2]]",
    },
)
def test_sets_of_tuples(saver: SaverDrive, thread: Thread, observe: Callable[[object], None]) -> None:
    """A set of tuples comes back as a list of lists where tuples become lists, which no set can hold.

    Users who need one keep a set of frozensets or of named values.
    """
    observe(fate(thread, {(1, 2)}))


@rule(
    QUIRK,
    source="JsonPlusSerializer: msgpack has integers of 64 bits",
    officials={"InMemorySaver": "refused", "SqliteSaver": "refused", "PostgresSaver": "kept"},
)
def test_integers_of_more_than_64_bits(saver: SaverDrive, thread: Thread, observe: Callable[[object], None]) -> None:
    """An integer of more than 64 bits is refused, or kept where numbers do not go through the serializer.

    Users who need one keep it as text.
    """
    observe(fate(thread, 2**64))
