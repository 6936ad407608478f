"""Any value of the plain kinds, in a channel and in a write, in and out."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from langgraph_conformance.drive import SaverDrive
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


@rule(MUST, source="BaseCheckpointSaver.serde; JsonPlusSerializer")
def test_any_plain_value_comes_back_as_it_was_put(saver: SaverDrive, explorer: Explorer) -> None:
    """Whatever plain values channels, writes and metadata hold, they come back: no type, digit, sign or member changes.

    Integers of 64 bits, finite floats, any text but NUL, bytes, times, ids and sets, nested to any depth.
    """

    def check(drawn: tuple[dict[str, Any], dict[str, Any], Any]) -> None:
        put, written, described = drawn
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
        finally:
            remove(saver, [thread])

    explorer.each(st.tuples(channels, channels, st.one_of(st.none(), st.lists(texts, max_size=3))), check)
