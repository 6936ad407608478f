"""Any value of the plain kinds, in a channel and in a write, in and out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.errors import Blocked
from langgraph_conformance.expect import expect_same
from langgraph_conformance.explore import Explorer
from langgraph_conformance.fixtures import remove
from langgraph_conformance.rules import MUST, rule
from langgraph_conformance.suite.properties.choices import floats, texts
from langgraph_conformance.suite.saver import values as pools
from langgraph_conformance.suite.saver.values import expect_kept
from langgraph_conformance.threads import Thread, fresh_id, writes_of

leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    floats,
    texts,
    st.binary(max_size=8),
    st.datetimes(),
    st.dates(),
    st.timedeltas(),
    st.uuids(),
    st.sets(st.integers(-5, 300) | texts, max_size=3),
)
known = st.sampled_from([value for kind in pools.KINDS.values() for value in kind.values()])
"""Messages, models, records and the like, which every saver keeps."""
values = st.recursive(
    leaves | known,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts | st.integers(-5, 300), inner, max_size=4),
    max_leaves=10,
)
channels = st.dictionaries(st.text("abcXYZ_:/ é", min_size=1, max_size=6), values, min_size=1, max_size=4)
DEPTH = 60
"""Of the deepest values."""


def deep(value: Any) -> Any:
    """``value`` within many containers."""
    for level in range(DEPTH):
        value = [level, value] if level % 2 else {"level": level, "next": value}
    return value


HOLDERS: dict[str, Callable[[Any], Any]] = {
    "alone": lambda value: value,
    "list": lambda value: [0, value],
    "dict": lambda value: {"key": value},
    "deep": deep,
}
whole_kinds = st.tuples(st.sampled_from([None, *pools.KINDS]), st.sampled_from([*HOLDERS]))
"""All values of a kind at once, each a channel of its own: one of them alone would come too seldom."""
sizes = st.sampled_from([0, 0, 0, 0, 0, 70_000, 500_000, 1_300_000])
"""Characters or bytes of a large value: beyond what columns, rows, documents and messages of some databases hold."""
descriptions = st.one_of(
    st.none(),
    st.lists(texts, max_size=3),
    st.dictionaries(st.text("abc_", min_size=1, max_size=3), st.lists(texts | st.booleans(), max_size=2), max_size=2),
)


@rule(MUST, source="BaseCheckpointSaver.serde; JsonPlusSerializer")
def test_any_plain_value_comes_back_as_it_was_put(saver: SaverDrive, explorer: Explorer) -> None:
    """Whatever plain values channels, writes and metadata hold, they come back: no type, digit, sign or member changes.

    Integers of 64 bits, finite floats, any text but NUL, bytes, times, ids and sets, nested to any depth.
    """

    def check(drawn: tuple[dict[str, Any], dict[str, Any], Any, tuple[str | None, str], int]) -> None:
        put, written, described, (kind, holder), size = drawn
        if kind is not None:
            of_kind = {f"{kind} {name}": HOLDERS[holder](value) for name, value in pools.KINDS[kind].items()}
            put, written = {**put, **of_kind}, {**written, **of_kind}
        thread = Thread(saver, fresh_id())
        try:
            with explorer.example(saver):
                first = thread.put(put, metadata={"about": described})
                second = thread.put({**put, **written}, parent=first)
                thread.write(second, list(written.items()))
                explorer.looked()
                found = thread.read(second)
                expect_kept(saver, {**put, **written}, found.checkpoint["channel_values"], "the channel values")
                expect_same([*written], [channel for _, channel, _ in writes_of(found)], "the channels a task wrote to")
                expect_kept(saver, written, {name: value for _, name, value in writes_of(found)}, "what a task wrote")
                listed = saver.list(thread.config(), before=second.config)
                expect_same(1, len(listed), "how many checkpoints are before the second")
                expect_kept(saver, put, listed[0].checkpoint["channel_values"], "the values of the parent")
                about: Any = [dict(each.metadata).get("about") for each in listed]
                expect_same([described], about, "the metadata of the parent")
                if size:
                    text = "".join(f"{number:07}," for number in range(size // 8))
                    for large in (text, text.encode()):
                        expect_whole_or_refused(saver, thread, large)
        finally:
            remove(saver, [thread])

    explorer.each(st.tuples(channels, channels, descriptions, whole_kinds, sizes), check)


def expect_whole_or_refused(saver: SaverDrive, thread: Thread, large: str | bytes) -> None:
    """A large value comes back whole from a channel and from a write, or its call raises and nothing of it is there."""
    made = thread.make({"large": large, "small": 1})
    try:
        thread.store(made)
    except Blocked:
        raise
    except Exception:
        expect_same(None, saver.get_tuple(made.config), "a checkpoint that was refused")
        return
    try:
        thread.write(made, [("small", 1), ("large", large)])
    except Blocked:
        raise
    except Exception:
        written: list[Any] = []
    else:
        written = [1, large]
    found = thread.read(made)
    expect_same(dict(made.values), found.checkpoint["channel_values"], f"the values beside {len(large)} characters")
    if written:
        expect_same(written, [value for _, _, value in writes_of(found)], f"the writes of {len(large)} characters")
