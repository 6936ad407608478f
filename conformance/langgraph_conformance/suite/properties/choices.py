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
]
TEXTS = ["", "a", "A", "ab", "a%", "%", "a'b", "é", "1", "true", "null", '"', "a\\b", "a b", "[1]"]
"""Texts that careless comparisons take for one another, for a pattern or for another type."""
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
