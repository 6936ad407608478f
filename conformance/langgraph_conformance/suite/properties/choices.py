"""What the examples of properties choose from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

Member = TypeVar("Member")

JSON: Sequence[Any] = [
    None,
    True,
    0,
    -1,
    0.5,
    "",
    "é✓ %'",
    [],
    {},
    [1, "1", None, [True]],
    {"a": {"b": [1, {"c": None}]}, "d.e": ""},
    {"a": {"z": "<b>&amp;"}},
]
TEXTS = ["", "a", "A", "ab", "a%", "%", "a'b", "é", "1", "true", "null", '"', "a\\b", "a b", "[1]"]
"""Texts that careless comparisons take for one another, for a pattern or for another type."""
SEPARATORS = [":", "|", "/", "_", "-", "", ","]
"""With which careless keys are joined from names."""
_ABSENT = object()

# few choices make an example: drawing them takes half of the time, and shrinking most of it
picks = st.integers(0, 7)
"""Chooses among what there is: 0 is the first."""


def pick(members: Sequence[Member], number: int) -> Member:
    """One of ``members``, whatever the number."""
    return members[number % len(members)]


def some_of(**members: Sequence[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Dicts with some of these keys, each with one of its values."""
    return st.tuples(*(st.sampled_from([_ABSENT, _ABSENT, *each]) for each in members.values())).map(
        lambda values: {name: value for name, value in zip(members, values, strict=True) if value is not _ABSENT}
    )


# -- values that Hypothesis makes up

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
"""Any text that UTF-8 can hold, but for NUL, which official backends refuse."""
_floats = st.floats(1e-9, 1e12, allow_subnormal=False)
floats = st.one_of(_floats, _floats.map(lambda number: -number), st.sampled_from([0.0, 0.5, 1.0, 100.0, -3.0]))
"""Floats within what every official backend keeps exactly."""
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), floats, texts),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=10,
)
"""What JSON can hold."""
