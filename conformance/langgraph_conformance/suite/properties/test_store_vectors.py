"""Search with a query: laws that hold for any vectors."""

from __future__ import annotations

import contextlib
import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from langgraph.store.base import PutOp

from langgraph_conformance.drive import StoreDrive
from langgraph_conformance.embedders import DIMENSIONS, cosine, vector_text
from langgraph_conformance.errors import Blocked, TimedOut
from langgraph_conformance.expect import expect_same, expect_true
from langgraph_conformance.explore import Explorer
from langgraph_conformance.rules import MUST, SHOULD, rule
from langgraph_conformance.suite.store import test_vectors as vector_rules
from langgraph_conformance.threads import fresh_id

scored = vector_rules.scored
"""The fixture: only stores whose vectors are known are judged, not those with an embedder of their own."""
DOCUMENTED = "BaseStore.search: query; SearchItem.score; SearchOp.limit"
NEAR = 0.02
"""Cosines that are nearer than this may be told apart in either way: vectors may be kept with few bits."""
SHARE = 0.4
"""Of the examples: an approximate index keeps what was deleted for a while, and finds less among it."""

parts = st.sampled_from([0.0, 0.1, -0.1, 0.2, -0.3, 0.35])
lengths = st.sampled_from([1.0, 0.01, 100.0, 3.0])
vectors = st.tuples(st.lists(parts, max_size=5), lengths)
"""How far a vector is from the direction of its example, and its length.

Each example has a direction of its own, and its vectors are nearer to one another than to those of earlier examples,
which an approximate index looks through as well, before it leaves out other namespaces and what was deleted.
"""
Drawn = tuple[Sequence[float], float]
Vector = Sequence[float]


@dataclass(frozen=True)
class Case:
    """What one example puts and asks for."""

    items: Sequence[Drawn]
    query: Drawn
    added: Drawn
    limit: int
    together: bool


cases = st.builds(
    Case,
    items=st.lists(vectors, min_size=1, max_size=9),
    query=vectors,
    added=vectors,
    limit=st.integers(1, 4),
    together=st.booleans(),
)


class Space:
    """A namespace whose items have the vectors of an example.

    Args:
        store: a store with an index.
        explorer: whose example it is.
    """

    def __init__(self, store: StoreDrive, explorer: Explorer) -> None:
        self.store, self._explorer, self.root = store, explorer, fresh_id()
        chance = random.Random(self.root)
        direction = [chance.gauss(0.0, 1.0) for _ in range(DIMENSIONS)]
        self._direction = [number / math.hypot(*direction) for number in direction]
        self.vectors: dict[str, Vector] = {}

    def vector(self, drawn: Drawn) -> Vector:
        parts, length = drawn
        moved = [number + part for number, part in itertools.zip_longest(self._direction, parts, fillvalue=0.0)]
        return [round(number * length, 6) for number in moved]

    def put(self, items: Sequence[Drawn]) -> None:
        for each in items:
            key = f"item {len(self.vectors)}"
            self.vectors[key] = self.vector(each)
            self.store.put((self.root,), key, value_of(self.vectors[key]))

    def put_together(self, items: Sequence[Drawn]) -> None:
        """In one batch; official stores do not take equal texts there."""
        for each in items:
            self.vectors[f"item {len(self.vectors)}"] = self.vector(each)
        self.store.batch([PutOp((self.root,), key, value_of(vector)) for key, vector in self.vectors.items()])

    def found(self, query: Drawn, limit: int) -> list[tuple[str, float]]:
        """Keys and scores."""
        self._explorer.looked()
        hits = self.store.search((self.root,), query=vector_text(*self.vector(query)), limit=limit)
        return [(hit.key, math.nan if hit.score is None else float(hit.score)) for hit in hits]

    def cosines(self, keys: Sequence[str], query: Drawn) -> list[float]:
        return [round(cosine(self.vectors[key], self.vector(query)), 6) for key in keys]

    def clean(self) -> None:
        self.store.calls = []
        if not self.store.broken:
            with contextlib.suppress(Exception, Blocked, TimedOut):
                self.store.batch([PutOp((self.root,), key, None) for key in self.vectors])


def value_of(vector: Vector) -> dict[str, Any]:
    return {"text": vector_text(*vector)}


@contextlib.contextmanager
def space_of(case: Case, store: StoreDrive, explorer: Explorer) -> Iterator[Space]:
    """A space that holds the items of an example, for the time of it."""
    space = Space(store, explorer)
    try:
        with explorer.example(store):
            if case.together and len({str(space.vector(each)) for each in case.items}) == len(case.items):
                space.put_together(case.items)
            else:
                space.put(case.items)
            yield space
    finally:
        space.clean()


def expect_falling(space: Space, keys: Sequence[str], query: Drawn, what: str) -> None:
    """The cosines of these hits do not rise, but for what is too near to be told apart."""
    cosines = space.cosines(keys, query)
    falls = all(later <= earlier + NEAR for earlier, later in itertools.pairwise(cosines))
    expect_true(falls, what, "cosines that fall", list(zip(keys, cosines, strict=True)))


@rule(MUST, source=DOCUMENTED, needs="vectors")
def test_any_vectors_are_found_in_the_order_of_their_cosines(scored: StoreDrive, explorer: Explorer) -> None:
    """Whatever the vectors are, a search with a query gives the more similar items first, and scores that fall.

    Neither length, duplicates nor ties may change what is near: the first hits are what a model gets to read.
    """

    def check(case: Case) -> None:
        with space_of(case, scored, explorer) as space:
            hits = space.found(case.query, len(space.vectors) + 5)
            keys = [key for key, _ in hits]
            strange = sorted(key for key in keys if key not in space.vectors or keys.count(key) > 1)
            expect_same([], strange, "items found that are not there, or twice")
            expect_falling(space, keys, case.query, "the items found by the query, in their order")
            scores = [score for _, score in hits]
            falls = all(later <= earlier + 1e-6 for earlier, later in itertools.pairwise(scores))
            expect_true(falls, "the scores along the items found", "scores that do not rise", scores)

    explorer.each(cases, check, share=SHARE)


@rule(SHOULD, source=f"{DOCUMENTED}; InMemoryStore, SqliteStore, PostgresStore", needs="vectors")
def test_any_limit_gives_the_head_of_the_whole_result(scored: StoreDrive, explorer: Explorer) -> None:
    """Whatever the vectors are, all items are found, and `limit=k` gives the k most similar ones of all.

    An index that looks through a part of the items only, or cuts before it sorts, gives others. An approximate one may
    miss some now and then.
    """

    def check(case: Case) -> None:
        with space_of(case, scored, explorer) as space:
            whole = [key for key, _ in space.found(case.query, len(space.vectors) + 5)]
            expect_same(sorted(space.vectors), sorted(whole), "the items found by the query")
            head = [key for key, _ in space.found(case.query, case.limit)]
            expect_same(min(case.limit, len(whole)), len(set(head)), f"how many items limit={case.limit} gives")
            least = min(space.cosines(whole[: case.limit], case.query))
            worse = [key for key in head if space.cosines([key], case.query)[0] < least - NEAR]
            expect_same([], worse, f"items found with limit={case.limit} that are farther than those of the whole")

    explorer.each(cases, check, share=SHARE)


@rule(SHOULD, source=f"{DOCUMENTED}; InMemoryStore, SqliteStore, PostgresStore", needs="vectors")
def test_any_score_is_the_cosine_and_its_own(scored: StoreDrive, explorer: Explorer) -> None:
    """Whatever the vectors are, a score is the cosine of the item's and the query's, and no further item changes it.

    Applications cut by score: one that depends on what else is stored, or on the length of a text's vector, cuts
    anywhere.
    """

    def check(case: Case) -> None:
        with space_of(case, scored, explorer) as space:
            before = dict(space.found(case.query, len(space.vectors) + 5))
            space.put([case.added])
            after = dict(space.found(case.query, len(space.vectors) + 5))
            for key in before.keys() & after.keys():
                scores = before[key], after[key]
                expected = space.cosines([key], case.query)[0]
                near = all(abs(score - expected) <= NEAR for score in scores)
                expect_true(near, f"the score of {key}, before and after a put", f"{expected}", scores)

    explorer.each(cases, check, share=SHARE)
