"""What becomes of a checkpoint's metadata."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timezone
from typing import Any
from uuid import UUID

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.base import CheckpointTuple

from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.errors import Broken
from langgraph_conformance.expect import expect_same, expect_true, same, shown
from langgraph_conformance.rules import MUST, QUIRK, SHOULD, rule
from langgraph_conformance.session import Subject
from langgraph_conformance.threads import Stored, Thread, fresh_id, ids_of

MERGED = "get_checkpoint_metadata in langgraph.checkpoint.base"


def read_of(found: CheckpointTuple, keys: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of a tuple under these keys: a saver may add keys of its own."""
    return {key: found.metadata[key] for key in keys if key in found.metadata}  # type: ignore[literal-required]


def put_with(
    thread: Thread, metadata: Mapping[str, Any], config: Mapping[str, Any], parent: Stored | None = None
) -> Stored:
    """Put a checkpoint with a config that holds more than the address.

    Args:
        thread: where to put it.
        metadata: the ``metadata`` argument of ``put``, as it is.
        config: ``metadata`` and ``configurable`` to add to the config.
        parent: the checkpoint to put it on.
    """
    made = thread.make({"channel": "value"}, parent=parent)
    address = thread.config(checkpoint_id=parent.id if parent else None)
    given: Any = {**config, "configurable": {**config.get("configurable", {}), **address["configurable"]}}
    thread.saver.put(given, dict(made.checkpoint), dict(metadata), dict(made.new_versions))
    return made


# -- what is given to put


@rule(MUST, source="CheckpointMetadata; pregel/_loop.py goes on from metadata['step']")
def test_source_step_and_parents_come_back(saver: SaverDrive, thread: Thread) -> None:
    """`source`, `step` and `parents` come back as they were put, `step` as an int.

    The engine numbers the next step from `step` and finds the parent graphs' checkpoints by `parents`; a `step` that
    comes back as text ends the next run.
    """
    given: list[dict[str, Any]] = [
        {"source": "input", "step": -1, "parents": {}},
        {"source": "loop", "step": 0, "parents": {"": "1ef4f797-8335-6428-8001-8a1503f9b875"}},
        {"source": "update", "step": 7, "parents": {"": "a", "outer:1": "b", "outer:1|inner:2": "c"}},
        {"source": "fork", "step": 1_000_000, "parents": {}},
        {"source": "loop", "step": -2, "parents": {}},
    ]
    stored = [thread.put({"channel": 1}, metadata=each) for each in given]
    expect_same(given, [read_of(thread.read(each), given[0]) for each in stored], "the metadata of each checkpoint")


@rule(MUST, source="CheckpointMetadata.run_id; BaseCheckpointSaver.delete_for_runs")
def test_run_id_comes_back_and_is_found(saver: SaverDrive, thread: Thread) -> None:
    """`run_id` comes back as it was put, and `list` finds the run's checkpoints by it, and no others.

    Platforms find what a run left behind by its id, to show it or to delete it.
    """
    run, other = fresh_id("-run"), fresh_id("-run")
    first = thread.put({"channel": 1}, metadata={"run_id": run})
    second = thread.put({"channel": 2}, parent=first, metadata={"run_id": other})
    third = thread.put({"channel": 3}, parent=second, metadata={"run_id": run})
    expect_same({"run_id": run}, read_of(thread.read(third), {"run_id": run}), "the metadata")
    found = ids_of(saver.list(thread.config(), filter={"run_id": run}))
    expect_same(sorted([first.id, third.id]), sorted(found), "the run's checkpoints")


SCALARS: dict[str, Any] = {
    "none": None,
    "true": True,
    "false": False,
    "one": 1,
    "zero": 0,
    "negative": -5,
    "half": 0.5,
    "tenth": 0.1,
    "text": "value",
    "empty_text": "",
    "text_one": "1",
    "text_true": "true",
    "text_null": "null",
    "text_time": "2024-05-04T06:32:42.235444+00:00",
    "text_json": '{"a": 1}',
    "accents": "Grüße, 世界 👋",
    "decomposed": "cafe\u0301",
    "quotes": "'\" \\ \\u0041 % `",
    "lines": " a\r\n\tb ",
}

NESTED: dict[str, Any] = {
    "list": [1, "two", None, False, 0.5, [], {}],
    "dict": {"a": {"b": [1, {"c": None}], "d": {}}, "e": ""},
    "empty_list": [],
    "empty_dict": {},
    "list_of_dicts": [{"id": 1, "tags": ["x"]}, {"id": 2, "tags": []}],
    "look_alikes": [1, True, "1", "true", None, "null", 0, False],
    "dotted": {"a.b": {"c.d": 1}, "a": {"b": 2}},
    "number_like_keys": {"1": "a", "10": "b", "01": "c"},
}

KEYS: dict[str, Any] = {
    "a.b": 1,
    "a": {"b": 2},
    "with space": 3,
    "dash-ed": 4,
    "$set": 5,
    "_id": 6,
    "__proto__": 7,
    "__class__": 8,
    "quote'\"": 9,
    "schlüssel": 10,
    "UPPER": 11,
    "upper": 12,
    "id": 13,
    "type": "t",
    "thread": 14,
    "value": {"key": "value"},
    "percent%": 15,
    "back\\slash": 16,
    "1": 17,
    "ns": "ns",
}


@rule(MUST, source="BaseCheckpointSaver.put: metadata; CheckpointMetadata")
@pytest.mark.parametrize("given", [SCALARS, NESTED], ids=["scalars", "nested"])
def test_keys_of_users_come_back(saver: SaverDrive, thread: Thread, given: dict[str, Any]) -> None:
    """What JSON can hold comes back from metadata as it was put, at any depth, under keys of the user.

    Applications keep who asked, tags and scores there, and read them in the history; flattened, made text or dropped,
    they are lost, and filters no longer find the checkpoint.
    """
    stored = thread.put({"channel": 1}, metadata=given)
    expect_same(given, read_of(thread.read(stored), given), "the metadata")


@rule(SHOULD, source="BaseCheckpointSaver.put: metadata")
def test_keys_may_have_any_name(saver: SaverDrive, thread: Thread) -> None:
    """A key of metadata may hold any characters and may be a word that databases reserve.

    Names come from applications: taken for a path, an operator or a column they fail or overwrite one another.
    """
    stored = thread.put({"channel": 1}, metadata=KEYS)
    expect_same(KEYS, read_of(thread.read(stored), KEYS), "the metadata")


@rule(SHOULD, source="BaseCheckpointSaver.put: metadata")
def test_numbers_keep_type_and_digits(saver: SaverDrive, thread: Thread) -> None:
    """Integers of 64 bits and floats, whole ones too, come back from metadata in type and exactly.

    Ids that went through a double become other ids; a score of 1.0 that comes back as 1 fails a validation.
    """
    given = {"large": 2**53 + 1, "largest": 2**63 - 1, "least": -(2**63), "whole": 1.0, "zero": 0.0, "third": 1 / 3}
    stored = thread.put({"channel": 1}, metadata=given)
    expect_same(given, read_of(thread.read(stored), given), "the metadata")


@rule(SHOULD, source="BaseCheckpointSaver.put: metadata")
def test_long_metadata_is_whole(saver: SaverDrive, thread: Thread) -> None:
    """Text of 100 kB, and lists of 500 members, come back from metadata whole.

    Prompts and traces are kept there; columns with a limit cut them.
    """
    given = {"long": "é" * 50_000, "many": [f"tag {number}" for number in range(500)]}
    stored = thread.put({"channel": 1}, metadata=given)
    expect_same(given, read_of(thread.read(stored), given), "the metadata")


@rule(SHOULD, source="BaseCheckpointSaver.put: metadata")
def test_empty_metadata_is_empty(saver: SaverDrive, thread: Thread) -> None:
    """Empty metadata comes back without any of the engine's keys.

    Nothing is made up: neither None in place of the metadata, nor a step that nobody took.
    """
    stored = put_with(thread, {}, {})
    engines = {"source": "", "step": 0, "parents": {}, "run_id": ""}
    expect_same({}, read_of(thread.read(stored), engines), "the engine's keys in the metadata")


@rule(
    SHOULD,
    source="CheckpointMetadata.counters_since_delta_snapshot; pregel/_loop.py",
    since="langgraph-checkpoint>=4.1",
)
def test_counters_of_delta_channels_come_back(saver: SaverDrive, thread: Thread) -> None:
    """`counters_since_delta_snapshot` comes back with a pair of ints for each channel, as tuples or as lists.

    The engine counts on from them to decide when a delta channel is stored whole: without them it never is, and
    reading the channel becomes slower with every step.
    """
    given = {"counters_since_delta_snapshot": {"messages": (3, 7), "files": (0, 1)}}
    read = read_of(thread.read(thread.put({"channel": 1}, metadata=given)), given)
    pairs = {name: list(pair) for name, pair in read.get("counters_since_delta_snapshot", {}).items()}
    expect_same({"messages": [3, 7], "files": [0, 1]}, pairs, "the counters")


# -- which checkpoint it belongs to


def by_id(saver: SaverDrive, thread: Thread, stored: Stored) -> CheckpointTuple:
    """Through ``get_tuple`` with the id."""
    return thread.read(stored)


def by_thread(saver: SaverDrive, thread: Thread, stored: Stored) -> CheckpointTuple:
    """Through ``get_tuple`` without an id."""
    return thread.latest()


def found_in(listed: Iterable[CheckpointTuple], stored: Stored) -> CheckpointTuple:
    """The tuple of a checkpoint in a list."""
    for found in listed:
        if found.checkpoint["id"] == stored.id:
            return found
    raise Broken("list", f"the checkpoint {stored.id} among what it gives", "a list without it")


def by_list(saver: SaverDrive, thread: Thread, stored: Stored) -> CheckpointTuple:
    """Through ``list``."""
    return found_in(saver.list(thread.config()), stored)


def by_filter(saver: SaverDrive, thread: Thread, stored: Stored) -> CheckpointTuple:
    """Through ``list`` with a filter."""
    return found_in(saver.list(thread.config(), filter={"text": stored.metadata["text"]}), stored)


@rule(MUST, source="BaseCheckpointSaver.get_tuple, list")
@pytest.mark.parametrize("way", [by_thread, by_list, by_filter], ids=["latest", "list", "filtered"])
def test_every_way_of_reading_gives_the_same_metadata(
    saver: SaverDrive, thread: Thread, way: Callable[[SaverDrive, Thread, Stored], CheckpointTuple]
) -> None:
    """`get_tuple` without an id and `list`, filtered or not, give metadata as `get_tuple` with the id does.

    `get_state_history` shows what `list` gives; the engine goes on from what `get_tuple` gives.
    """
    given = {"source": "loop", "step": 3, "parents": {"": "x"}, **SCALARS, **NESTED}
    stored = thread.put({"channel": 1}, metadata=given)
    by_id = read_of(thread.read(stored), given)
    found = way(saver, thread, stored)
    expect_same(by_id, read_of(found, given), "the metadata, as get_tuple with the id gives it")


@rule(MUST, source="BaseCheckpointSaver.put: metadata")
@pytest.mark.parametrize("way", [by_id, by_list], ids=["get_tuple", "list"])
def test_each_checkpoint_has_its_own_metadata(
    saver: SaverDrive, thread: Thread, way: Callable[[SaverDrive, Thread, Stored], CheckpointTuple]
) -> None:
    """Each checkpoint of a thread keeps the metadata that was put with it, and inherits none.

    Kept once for a thread, or merged with the former one's, all of the history shows the last step and the wrong user.
    """
    keys = {"user": "", "only_first": 0, "only_second": 0}
    first = thread.put({"channel": 1}, metadata={"user": "ann", "only_first": 1})
    second = thread.put({"channel": 2}, parent=first, metadata={"user": "bob", "only_second": 2})
    third = thread.put({"channel": 3}, parent=second, metadata={"user": "cid"})
    stored = [first, second, third]
    expected = [{key: value for key, value in each.metadata.items() if key in keys} for each in stored]
    expect_same(
        expected, [read_of(way(saver, thread, each), keys) for each in stored], "the metadata of each checkpoint"
    )


@rule(MUST, source="BaseCheckpointSaver.put: metadata")
def test_namespaces_do_not_share_metadata(saver: SaverDrive, thread: Thread) -> None:
    """Checkpoints with one id in two namespaces of a thread keep their own metadata.

    A subgraph counts its own steps: with the root graph's step it would go on at the wrong one.
    """
    root = thread.put({"channel": 1}, metadata={"where": "root"})
    inner = thread.put({"channel": 1}, ns="inner:1", id=root.id, metadata={"where": "inner"})
    keys = {"where": ""}
    expect_same(
        [{"where": "root"}, {"where": "inner"}],
        [read_of(thread.read(root), keys), read_of(thread.read(inner), keys)],
        "the metadata in the root's namespace and in the subgraph's",
    )


# -- what comes from the config


@rule(MUST, source="pregel/_loop.py: the config given to put carries the engine's objects")
def test_engine_objects_in_the_config_are_accepted(saver: SaverDrive, thread: Thread) -> None:
    """A config that holds functions and other objects, as the engine's does, is accepted by put and put_writes.

    The engine keeps its runtime, callbacks and functions under `__pregel_…` keys of each config: a saver that stores
    all of the config fails at the first step of every run.
    """
    objects = {"__pregel_send": lambda: 0, "__pregel_runtime": object(), "__pregel_scratchpad": {"a": object()}}
    users = {"tool": object(), "callback": print}
    config = {"configurable": {**objects, **users}, "metadata": {"object": object()}, "callbacks": [object()]}
    stored = put_with(thread, {"source": "loop", "step": 1, "parents": {}, "user": "ann"}, config)
    address: Any = {**config, "configurable": {**config["configurable"], **stored.config["configurable"]}}  # type: ignore[dict-item]
    saver.put_writes(address, [("channel", 1)], "task")
    expect_same({"user": "ann"}, read_of(thread.read(stored), {"user": "ann"}), "the metadata")


@rule(SHOULD, source=MERGED)
def test_simple_values_of_the_config_are_merged_in(saver: SaverDrive, thread: Thread) -> None:
    """Text, numbers and booleans in the config's `metadata` and `configurable` become keys of the metadata.

    Applications put the user's id into the config and find the checkpoints by it afterwards.
    """
    metadata = {"user": "u-1", "tier": 2, "ratio": 0.5, "beta": False, "zero": 0, "empty": ""}
    configurable = {"user_id": "u-1", "level": 3, "share": 0.25, "alpha": True, "no_level": 0, "blank": ""}
    config = {"metadata": metadata, "configurable": configurable}
    stored = put_with(thread, {"source": "loop", "step": 1, "parents": {}}, config)
    simple = {**metadata, **configurable}
    expect_same(simple, read_of(thread.read(stored), simple), "the metadata from the config")


@rule(SHOULD, source=MERGED)
def test_other_values_of_the_config_are_left_out(saver: SaverDrive, thread: Thread) -> None:
    """Lists, dicts, None and objects in the config's `metadata` and `configurable` do not become metadata.

    They are often large, secret, or cannot be stored at all.
    """
    other: dict[str, Any] = {"list": [1], "dict": {"a": 1}, "nothing": None, "object": object(), "bytes": b"x"}
    config = {"metadata": other, "configurable": {f"{name}_too": value for name, value in other.items()}}
    stored = put_with(thread, {"source": "loop", "step": 1, "parents": {}}, config)
    keys = {**config["metadata"], **config["configurable"]}
    expect_same({}, read_of(thread.read(stored), keys), "the metadata from the config")


@rule(SHOULD, source=f"{MERGED}; EXCLUDED_METADATA_KEYS")
def test_keys_of_the_engine_are_left_out(saver: SaverDrive, thread: Thread) -> None:
    """Addresses, `langgraph_…` keys and keys that begin with two underscores do not go from the config to the metadata.

    They describe the engine's call, not the checkpoint: kept, they make equal checkpoints differ, and filters on
    user's keys of such names find the engine's values.
    """
    engine: dict[str, Any] = {
        "thread_id": "t",
        "checkpoint_ns": "n",
        "checkpoint_id": "c",
        "checkpoint_map": "m",
        "langgraph_step": 3,
        "langgraph_node": "node",
        "langgraph_triggers": "x",
        "langgraph_path": "p",
        "langgraph_checkpoint_ns": "n:1",
        "__pregel_task_id": "id",
        "__pregel_resuming": True,
        "__private": 1,
    }
    config = {"metadata": engine, "configurable": engine}
    stored = put_with(thread, {"source": "loop", "step": 1, "parents": {}}, config)
    expect_same({}, read_of(thread.read(stored), engine), "the metadata from the config")


@rule(SHOULD, source=MERGED)
def test_explicit_metadata_wins_over_the_configs(saver: SaverDrive, thread: Thread) -> None:
    """A key of `put`'s metadata wins over the config's `metadata`, and that over `configurable`.

    The engine's own `source` and `step` would otherwise be replaced by whatever a user calls so.
    """
    stored = put_with(
        thread,
        {"source": "loop", "step": 1, "parents": {}, "all": "explicit"},
        {
            "metadata": {"all": "metadata", "both": "metadata", "source": "metadata"},
            "configurable": {"all": "configurable", "both": "configurable", "one": "configurable", "source": "x"},
        },
    )
    expected = {"source": "loop", "all": "explicit", "both": "metadata", "one": "configurable"}
    expect_same(expected, read_of(thread.read(stored), expected), "the metadata")


@rule(SHOULD, source=MERGED)
def test_put_leaves_the_callers_metadata_alone(saver: SaverDrive, thread: Thread) -> None:
    """`put` does not add the config's keys to the dict that the caller gave as metadata, nor change the config.

    The engine uses both for its next step: what one put adds would stay in all later checkpoints.
    """
    given: dict[str, Any] = {"source": "loop", "step": 1, "parents": {}}
    config: Any = thread.config(user_id="u-1")
    config["metadata"] = {"tier": 2}
    made = thread.make({"channel": 1})
    saver.put(config, dict(made.checkpoint), given, dict(made.new_versions))
    expect_same(
        {"source": "loop", "step": 1, "parents": {}, "config": {"tier": 2}},
        {**given, "config": config["metadata"]},
        "the caller's dicts after put",
    )


# -- what JSON cannot hold


@rule(SHOULD, source=f"{MERGED} removes NUL from text")
@pytest.mark.parametrize("part", ["given", "metadata", "configurable"])
def test_text_with_nul_is_stored_without_it_or_with_it(saver: SaverDrive, thread: Thread, part: str) -> None:
    """Text with a NUL character in metadata, given or merged in, is stored: with the NUL or without it.

    Such text comes from users; a database that refuses it must not end their run.
    """
    text = {"text": "a\x00b", "after": "c"}
    given = {"source": "loop", "step": 1, "parents": {}, **(text if part == "given" else {})}
    stored = put_with(thread, given, {} if part == "given" else {part: text})
    read = read_of(thread.read(stored), text)
    unmerged: list[dict[str, str]] = [] if part == "given" else [{}]  # whether it is merged in is another rule
    accepted = [{"text": "ab", "after": "c"}, text, *unmerged]
    expect_true(read in accepted, "text with NUL", "'a\\x00b' or 'ab'", read)


OTHER_TYPES: dict[str, Any] = {
    "datetime": datetime(2024, 1, 1, tzinfo=timezone.utc),
    "uuid": UUID(int=7),
    "set": {1, 2},
    "bytes": b"\xff",
    "message": AIMessage("hi", id="m1"),
}


def refused(call: Callable[[], object]) -> bool:
    """Whether ``call`` raises."""
    try:
        call()
    except Exception:
        return True
    return False


def fate(thread: Thread, value: Any, key: str = "key") -> str:
    """What becomes of a value in metadata, in words."""
    made = thread.make({"channel": 1}, metadata={key: value})
    if refused(lambda: thread.store(made)):
        return "refused"
    read = read_of(thread.read(made), {key: value})
    if key not in read:
        return "dropped"
    return "kept" if same(value, read[key]) else f"comes back as {shown(read[key])}"


@rule(SHOULD, source="BaseCheckpointSaver.put: metadata")
def test_other_types_are_kept_or_refused(saver: SaverDrive, thread: Thread) -> None:
    """Metadata that JSON cannot hold is kept in its type, or put raises: it is never changed without a word.

    An application that reads a time back as text, or does not find it, fails far from the cause.
    """
    fates = {name: fate(thread, value) for name, value in OTHER_TYPES.items()}
    fitting = {name: came if came in ("kept", "refused") else "kept or refused" for name, came in fates.items()}
    expect_same(fitting, fates, "what became of values in metadata")


@rule(SHOULD, source="BaseCheckpointSaver.list: filter", needs="delete_thread")
@pytest.mark.skipif("PYTEST_XDIST_WORKER" in os.environ, reason="other workers may be listing the same database")
def test_odd_numbers_do_not_break_filters(saver: SaverDrive, subject: Subject) -> None:
    """After metadata with NaN or infinity was put, or refused, filtered lists of the thread still work.

    Stored as broken JSON, one such row makes every filtered list of the whole database raise, for all users.
    """
    apart: SaverDrive = subject.drive(saver.mode, "metadata")  # such a row would break other checks of this instance
    thread = Thread(apart, fresh_id())
    try:
        stored = thread.put({"channel": 1}, metadata={"user": "ann"})
        for number in (float("nan"), float("inf")):
            refused(lambda number=number: thread.put({"channel": 2}, metadata={"score": number}))  # type: ignore[misc]
        expect_same([stored.id], ids_of(apart.list(thread.config(), filter={"user": "ann"})), "the checkpoints found")
    finally:
        apart.delete_thread(thread.id)


@rule(
    QUIRK,
    source="json.dumps, JSONB and JsonPlusSerializer",
    officials={
        "InMemorySaver": "-0.0 kept, 1e22 kept, 2**64 refused",
        "SqliteSaver": "-0.0 kept, 1e22 kept, 2**64 kept",
        "PostgresSaver": "-0.0 comes back as 0.0, 1e22 comes back as 10000000000000000000000, 2**64 kept",
    },
)
def test_extreme_numbers(saver: SaverDrive, thread: Thread, observe: Callable[[object], None]) -> None:
    """-0.0, large whole floats and integers of more than 64 bits in metadata are kept, changed or refused.

    Users who need them keep text.
    """
    extreme = {"-0.0": -0.0, "1e22": 1e22, "2**64": 2**64}
    observe(", ".join(f"{name} {fate(thread, value)}" for name, value in extreme.items()))


@rule(
    QUIRK,
    source="json.dumps and JsonPlusSerializer",
    officials={
        "InMemorySaver": "datetime kept, uuid kept, set kept, bytes kept, message kept",
        "SqliteSaver": "datetime refused, uuid refused, set refused, bytes refused, message refused",
        "PostgresSaver": "datetime refused, uuid refused, set refused, bytes refused, message refused",
    },
)
def test_types_beyond_json(saver: SaverDrive, thread: Thread, observe: Callable[[object], None]) -> None:
    """Times, ids, sets, bytes and messages in metadata are kept or refused.

    Only what JSON can hold is safe with every backend.
    """
    observe(", ".join(f"{name} {fate(thread, value)}" for name, value in OTHER_TYPES.items()))


@rule(
    QUIRK,
    source="json.dumps and JsonPlusSerializer",
    officials={
        "InMemorySaver": "kept",
        "SqliteSaver": "comes back as {'1': 'one'}",
        "PostgresSaver": "comes back as {'1': 'one'}",
    },
)
def test_number_keys(saver: SaverDrive, thread: Thread, observe: Callable[[object], None]) -> None:
    """Number keys of a dict in metadata stay numbers or become text.

    Text is safe with every backend.
    """
    observe(fate(thread, {1: "one"}))


@rule(
    QUIRK,
    source="json.dumps and JsonPlusSerializer",
    officials={
        "InMemorySaver": "comes back as [1, 2]",
        "SqliteSaver": "comes back as [1, 2]",
        "PostgresSaver": "comes back as [1, 2]",
    },
)
def test_tuples(saver: SaverDrive, thread: Thread, observe: Callable[[object], None]) -> None:
    """A tuple in metadata comes back as a list or as a tuple.

    Neither JSON nor msgpack has tuples.
    """
    observe(fate(thread, (1, 2)))


@rule(
    QUIRK,
    source="get_serializable_checkpoint_metadata in langgraph.checkpoint.base",
    officials={"InMemorySaver": "kept", "SqliteSaver": "kept", "PostgresSaver": "dropped"},
)
def test_the_key_writes(saver: SaverDrive, thread: Thread, observe: Callable[[object], None]) -> None:
    """A key `writes` of metadata is kept or dropped.

    LangGraph kept the writes of a step there before 0.5.
    """
    observe(fate(thread, {"node": {"a": 1}}, key="writes"))


@rule(
    QUIRK,
    source="get_checkpoint_metadata in langgraph.checkpoint.base looks at the top level only",
    officials={
        "InMemorySaver": "text kept, key kept",
        "SqliteSaver": "text kept, key kept",
        "PostgresSaver": "text refused, key refused",
    },
)
def test_nul_at_depth_and_in_keys(saver: SaverDrive, thread: Thread, observe: Callable[[object], None]) -> None:
    """NUL in text at depth, or in a key of metadata, is kept, removed or refused.

    The base removes it only from text at the top level.
    """
    text, key = fate(thread, {"text": "a\x00b"}), fate(thread, 1, key="a\x00b")
    observe(f"text {text}, key {key}")


@rule(
    QUIRK,
    source="encoders of the official backends",
    officials={"InMemorySaver": "comes back as 'x?y'", "SqliteSaver": "comes back as 'xy'", "PostgresSaver": "refused"},
)
def test_lone_surrogates(saver: SaverDrive, thread: Thread, observe: Callable[[object], None]) -> None:
    """Text with a lone surrogate in metadata is kept, replaced, cut or refused.

    It is no Unicode text.
    """
    observe(fate(thread, "x\ud800y"))
