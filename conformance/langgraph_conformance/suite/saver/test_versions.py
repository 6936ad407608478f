"""get_next_version, and the versions that a checkpoint holds."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.expect import expect_same, expect_true, shown
from langgraph_conformance.rules import MUST, QUIRK, SHOULD, rule
from langgraph_conformance.threads import Stored, Thread

FOREIGN: Mapping[str, list[Any]] = {
    "int": [1, 2, 10, 2**53 + 1],
    "float": [0.5, 1.25, 10.75],
    "str": ["00000000000000000000000000000001.0.1", "00000000000000000000000000000001.0.10", "1", "1.0", "1e3", "é"],
}
"""Versions of each type that ``ChannelVersions`` allows, rising; the texts differ only as text."""


def successive(saver: SaverDrive, count: int) -> list[Any]:
    """The saver's first ``count`` versions, each made from the one before."""
    versions: list[Any] = [saver.get_next_version(None, None)]
    while len(versions) < count:
        versions.append(saver.get_next_version(versions[-1], None))
    return versions


# -- get_next_version


@rule(MUST, source="pregel/_utils.py get_new_channel_versions; pregel/_algo.py compares with type(version)()")
def test_every_version_is_greater_than_the_null_version(saver: SaverDrive) -> None:
    """The first version is greater than the null version: `type(version)()`, which is 0, 0.0 or the empty text.

    The engine takes it for the version that a node or a checkpoint has of a channel it never saw. A first version that
    is not greater is no change: the node does not run, and the channel's value is not stored.
    """
    first = saver.get_next_version(None, None)
    expect_true(type(first)() < first, "the first version", f"one greater than {shown(type(first)())}", first)


@rule(MUST, source="BaseCheckpointSaver.get_next_version (must be increasing); pregel/_algo.py")
def test_versions_rise_strictly(saver: SaverDrive) -> None:
    """Each next version is greater than the one it was made from, for thousands of steps.

    Nodes are triggered by versions greater than the one they have seen. Where 10 comes before 9, because a counter is
    compared as text, or two calls within a tick give the same, a long conversation stops in the middle.
    """
    versions = successive(saver, 1200)
    falls = [(before, after) for before, after in itertools.pairwise(versions) if not after > before]
    expect_same([], falls, "pairs of a version and a next one that is not greater")


@rule(MUST, source="pregel/_algo.py takes max() of a checkpoint's channel_versions")
def test_versions_are_of_one_type(saver: SaverDrive) -> None:
    """All versions that the saver makes are of one type: int, float or str.

    The engine takes the greatest of a checkpoint's versions, and versions of different types cannot be compared.
    """
    types = {type(version) for version in successive(saver, 5)}
    expect_true(
        len(types) == 1 and types <= {int, float, str},
        "the types of five successive versions",
        "one of int, float and str",
        sorted(each.__name__ for each in types),
    )


@rule(MUST, source="pregel/_loop.py and pregel/_algo.py call it without await, in async runs too")
def test_get_next_version_is_a_plain_method(saver: SaverDrive) -> None:
    """`get_next_version` is no coroutine function: it gives the version itself, also inside a running event loop.

    The engine has no awaitable form of it. A version that is a coroutine ends up in the checkpoint.
    """
    version = saver.get_next_version(None, None)
    expect_true(
        not inspect.isawaitable(version) and isinstance(version, (int, float, str)),
        "what get_next_version gives",
        "an int, float or str",
        version,
    )


@rule(SHOULD, source="BaseCheckpointSaver.get_next_version (channel is deprecated)")
@pytest.mark.parametrize("channel", [None, "channel", object()], ids=["None", "str", "object"])
def test_the_channel_argument_is_ignored(saver: SaverDrive, channel: Any) -> None:
    """The second argument of `get_next_version` may be anything: None today, a channel in older versions."""
    current = saver.get_next_version(None, channel)
    following = saver.get_next_version(current, channel)
    expect_true(following > current, "the next version", f"one greater than {shown(current)}", following)


@rule(SHOULD, source="InMemorySaver, SqliteSaver and PostgresSaver: get_next_version")
@pytest.mark.parametrize("current", [1, 9, 99, 12345])
def test_integer_versions_can_be_followed(saver: SaverDrive, current: int) -> None:
    """From an integer version, the base class's kind, the saver's versions go on above it.

    Threads that were stored by an older version, or by a saver that counts, keep going: versions made of the text alone
    raise for them, or begin again at 1.
    """
    versions = [saver.get_next_version(current, None)]
    versions.append(saver.get_next_version(versions[0], None))
    higher = saver.get_next_version(current + 1, None)
    expect_true(
        versions[1] > versions[0] and higher > versions[0],
        f"versions after {current}",
        "rising, and above those after smaller ones",
        [*versions, higher],
    )


NUMBER = re.compile(r"\d{8,}(?=\.)")
"""The counter of a version in the official savers' form."""


def later_than(version: Any) -> Any:
    """A version like this one that is a million steps later."""
    if isinstance(version, str):
        if not NUMBER.match(version):
            pytest.skip(f"how a later version than {shown(version)} looks is not known")
        return NUMBER.sub(lambda counter: "1000000".zfill(len(counter[0])), version, count=1)
    return version + 1_000_000


@rule(MUST, source="pregel/_algo.py: a run goes on from the versions of the checkpoint it loaded")
def test_versions_go_on_from_the_one_given(saver: SaverDrive) -> None:
    """The next version is greater than the current one also when this saver object did not make that one.

    Every start of the application makes a new saver, and threads go on. Versions that come from a counter in memory
    begin again at 1: channels that change get versions smaller than those that nodes have seen, and nothing runs.
    """
    later = later_than(saver.get_next_version(None, None))
    following = saver.get_next_version(later, None)
    expect_true(following > later, f"the version after {shown(later)}", "a greater one", following)


@rule(
    QUIRK,
    source="BaseCheckpointSaver.get_next_version counts; the official savers add a random fraction",
    officials={
        "InMemorySaver": "str, another one each time",
        "SqliteSaver": "str, another one each time",
        "PostgresSaver": "str, another one each time",
    },
)
def test_the_form_of_a_version(saver: SaverDrive, observe: Callable[[object], None]) -> None:
    """What versions look like, and whether the version after another one is always the same.

    Versions that repeat give different values of two forks the same version: see the rules on forks.
    """
    current = saver.get_next_version(None, None)
    following = [saver.get_next_version(current, None) for _ in range(3)]
    repeats = {True: "the same one each time", False: "another one each time"}
    observe(f"{type(current).__name__}, {repeats[following[0] == following[1] == following[2]]}")


# -- versions in a checkpoint


@rule(MUST, source="Checkpoint.channel_versions; pregel/_algo.py compares them")
def test_channel_versions_are_read_back_exactly(thread: Thread) -> None:
    """`channel_versions` comes back with every channel, and each with its own version to the last character.

    Also those of channels without a value. A version that comes back shorter, rounded or as another type is smaller or
    greater than the ones nodes have seen: nodes run twice, or never.
    """
    first = thread.put({"a": 1, "b": [1], "gone": 1})
    second = thread.put({"a": 2, "b": [1]}, parent=first)
    third = thread.put({"a": 2, "b": [1], "c": None}, parent=second)
    expect_same(
        [dict(each.checkpoint["channel_versions"]) for each in (first, second, third)],
        [dict(thread.read(each).checkpoint["channel_versions"]) for each in (first, second, third)],
        "the channel_versions of three checkpoints",
    )


SEEN: Mapping[str, Callable[[Any], dict[str, dict[str, Any]]]] = {
    "nothing": lambda version: {},
    "an-input": lambda version: {"__input__": {}},
    "nodes": lambda version: {
        "__input__": {},
        "__start__": {"__start__": version},
        "node": {"branch:to:node": version, "other": version},
    },
    "an-interrupt": lambda version: {"__input__": {}, "__interrupt__": {"a": version, "b": version}},
    "bumps": lambda version: {"__snapshot_bumps__": {"messages": version}, "node": {"messages": version}},
    "many": lambda version: {f"node{number}": {f"channel{number}": version} for number in range(100)},
}


@rule(MUST, source="Checkpoint.versions_seen; pregel/_algo.py decides from it which nodes run")
@pytest.mark.parametrize("case", SEEN)
def test_versions_seen_is_read_back_exactly(thread: Thread, case: str) -> None:
    """`versions_seen` comes back as it was: each node, LangGraph's own entries, and those that are empty.

    What is lost here has not been seen: nodes that have run are run again.
    """
    seen = SEEN[case](thread.saver.get_next_version(None, None))
    stored = thread.put({"channel": 1}, versions_seen=seen)
    expect_same(seen, thread.read(stored).checkpoint["versions_seen"], "versions_seen")


@rule(MUST, source="Checkpoint.versions_seen")
def test_versions_seen_is_that_of_each_checkpoint(thread: Thread) -> None:
    """Each checkpoint has the `versions_seen` it was put with, not what its descendants have seen since."""
    first = thread.put({"channel": 1})
    version = first.checkpoint["channel_versions"]["channel"]
    second = thread.put({"channel": 1}, parent=first, versions_seen={"a": {"channel": version}})
    third = thread.put({"channel": 1}, parent=second, versions_seen={"b": {"channel": version}})
    expect_same(
        [{}, {"a": {"channel": version}}, {"b": {"channel": version}}],
        [thread.read(each).checkpoint["versions_seen"] for each in (first, second, third)],
        "the versions_seen of three checkpoints",
    )


@rule(MUST, source="ChannelVersions = dict[str, str | int | float]")
@pytest.mark.parametrize("kind", FOREIGN)
def test_versions_of_every_type_are_read_back_exactly(thread: Thread, kind: str) -> None:
    """Integer, float and text versions come back with their type and value, in channel_versions and versions_seen.

    Threads may hold versions that the saver did not make itself. As text, 10 is smaller than 9; as a float, a long
    number is another one.
    """
    versions = {f"channel{number}": version for number, version in enumerate(FOREIGN[kind])}
    stored = thread.put(dict.fromkeys(versions, 1), versions=versions, versions_seen={"node": versions})
    checkpoint = thread.read(stored).checkpoint
    expect_same(
        {"channel_versions": versions, "versions_seen": {"node": versions}},
        {"channel_versions": checkpoint["channel_versions"], "versions_seen": checkpoint["versions_seen"]},
        "the versions",
    )


@rule(MUST, source="ChannelVersions = dict[str, str | int | float]")
@pytest.mark.parametrize("kind", FOREIGN)
def test_values_are_found_by_versions_of_every_type(thread: Thread, kind: str) -> None:
    """Under integer, float and text versions each checkpoint keeps its own value, and one that did not change.

    A saver that files values under a version it changed on the way (rounded, as a number, cut off) does not find them
    again, or finds those of another step.
    """
    versions = FOREIGN[kind]
    stored: list[Stored] = []
    for number, version in enumerate(versions):
        values = {"steady": [0], "list": [number], "text": f"{number}"}
        given = {"steady": versions[0], "list": version, "text": version}
        stored.append(thread.put(values, parent=stored[-1] if stored else None, versions=given))
    expect_same(
        [{"steady": [0], "list": [number], "text": f"{number}"} for number in range(len(versions))],
        [dict(thread.read(each).checkpoint["channel_values"]) for each in stored],
        "the channel values of each checkpoint",
    )


@rule(SHOULD, source="BaseCheckpointSaver.get_next_version (int, float or str)")
def test_values_are_found_by_whole_float_versions(thread: Thread) -> None:
    """Under a float version without a fraction, such as 1.0, a value is found as well.

    1.0 that is written as 1 in one place and as 1.0 in another is not found again: the channel is empty.
    """
    values = {"list": ["value"], "text": "value"}
    first = thread.put(values, versions={"list": 1.0, "text": 1.0})
    second = thread.put({**values, "other": 1}, parent=first, versions={"list": 1.0, "text": 1.0, "other": 2.0})
    expect_same(
        [values, {**values, "other": 1}],
        [dict(thread.read(each).checkpoint["channel_values"]) for each in (first, second)],
        "the channel values",
    )
