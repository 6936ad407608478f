"""Search with a query: laws that hold for any vectors."""

from __future__ import annotations

import contextlib
import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st
from langgraph.store.base import PutOp, SearchItem, SearchOp

from langgraph_conformance.configurations import EMBEDDINGS
from langgraph_conformance.drive import StoreDrive
from langgraph_conformance.embedders import DIMENSIONS, cosine, embed, vector_text
from langgraph_conformance.expect import expect_raises, expect_same, expect_true
from langgraph_conformance.explore import Explorer
from langgraph_conformance.fixtures import delete_items
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
Place = tuple[tuple[str, ...], str]


@dataclass(frozen=True)
class Case:
    """What one example puts and asks for."""

    items: Sequence[Drawn]
    query: Drawn
    added: Drawn
    limit: int
    together: bool


opposed = st.tuples(st.lists(parts, max_size=5), st.sampled_from([1.0, -1.0, 0.01, -100.0]))
"""Some in the opposite direction: an approximate index need not find those, but they are not the nearest."""


def cases_of(vectors: st.SearchStrategy[Drawn]) -> st.SearchStrategy[Case]:
    return st.builds(
        Case,
        items=st.lists(vectors, min_size=1, max_size=9),
        query=vectors,
        added=vectors,
        limit=st.integers(1, 4),
        together=st.booleans(),
    )


cases = cases_of(vectors)


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
        delete_items(self.store, [((self.root,), key) for key in self.vectors])


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

    explorer.each(cases_of(opposed), check, share=SHARE)


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


# -- which texts are an item's vectors


@dataclass(frozen=True)
class Kind:
    """A form of items.

    Attributes:
        value: from three texts.
        index: of the put.
        embedded: which of the texts.
    """

    value: Callable[[str, str, str], dict[str, Any]]
    index: Any
    embedded: Sequence[int]


FORMS: Sequence[Kind] = [
    Kind(lambda a, b, c: {"text": a}, None, [0]),
    Kind(lambda a, b, c: {"text": a}, False, []),
    Kind(lambda a, b, c: {"parts": [{"text": a}]}, None, [0]),
    Kind(lambda a, b, c: {"text": a, "title": b}, ["title"], [1]),
    Kind(lambda a, b, c: {"title": a, "body": b, "text": c}, ["title", "body"], [0, 1]),
    Kind(lambda a, b, c: {"tags": [a, b, c], "text": b}, ["tags[*]"], [0, 1, 2]),
    Kind(lambda a, b, c: {"tags": [a, b, c], "text": a}, ["tags[-1]"], [2]),
    Kind(lambda a, b, c: {"tags": [a, b, c], "text": a}, ["tags[1]"], [1]),
    Kind(lambda a, b, c: {"meta": {"title": a, "more": {"name": b}}, "text": c}, ["meta.title"], [0]),
    Kind(lambda a, b, c: {"meta": {"title": a, "more": {"name": b}}, "text": c}, ["meta.{title,more.name}"], [0, 1]),
    Kind(
        lambda a, b, c: {"list": [{"inner": [{"text": a}, {"text": b}]}, {"inner": []}]},
        ["list[*].inner[*].text"],
        [0, 1],
    ),
    Kind(lambda a, b, c: {"none": None, "list": [], "title": a, "text": b}, ["missing", "none", "a.b", "title"], [0]),
    Kind(lambda a, b, c: {"text": a, "title": b}, ["text"], [0]),
]
SINGLE = 4
"""How many of the first have at most one vector."""
CROWD = 24
"""More items than some indexes look at."""
SPREAD = 0.75


@dataclass(frozen=True)
class Use:
    """What one example puts, puts again, deletes and asks for.

    Attributes:
        items: a number for each: its form, its place, and what it is like.
        again: bits that say which are put again.
        deleted: bits that say which are deleted.
        queries: a number for each: what is like it, where, with which filter and page.
        ways: bits that say what is done at once.
    """

    items: Sequence[int]
    again: int
    deleted: int
    queries: Sequence[int]
    ways: int

    def way(self, number: int) -> bool:
        return bool(self.ways >> number & 1)


uses = st.builds(
    Use,
    items=st.lists(st.integers(0, 10**5), min_size=1, max_size=8),
    again=st.integers(0, 255),
    deleted=st.integers(0, 255),
    queries=st.lists(st.integers(0, 10**4), min_size=1, max_size=4),
    ways=st.integers(0, 2**7 - 1),
)


@dataclass(frozen=True)
class Entry:
    """An item that is there: what was put, and the texts of its vectors."""

    value: dict[str, Any]
    texts: Sequence[str]


class Shelf:
    """What an example of `Use` stores, and what a search of it must find."""

    def __init__(self, store: StoreDrive, explorer: Explorer) -> None:
        self.store, self._explorer, self.root = store, explorer, fresh_id()
        chance = random.Random(self.root)
        axes = [[chance.gauss(0.0, 1.0) for _ in range(DIMENSIONS)] for _ in range(4)]
        one, *others = ([number / math.hypot(*axis) for number in axis] for axis in axes)
        self._palette = [one]
        for axis in others:
            for share in (SPREAD, -SPREAD / 2, SPREAD / 2):
                self._palette.append([number + share * other for number, other in zip(one, axis, strict=True)])
        self.entries: dict[Place, Entry] = {}
        self.used: set[Place] = set()
        self._texts = 0

    def text(self, number: int) -> str:
        """A text of its own, like others of the same number but for the length of its vector."""
        self._texts += 1
        length = (1.0, 0.01, 100.0)[self._texts % 3]
        vector = [round(each * length, 6) for each in self._palette[number % len(self._palette)]]
        long = "word " * 80 if self._texts % 4 == 3 else ""
        return f"{self.root} N\u00ba {self._texts} {long}{vector_text(*vector)}"

    def place(self, number: int, place: int) -> Place:
        """Two numbers share a key, but no place: another form there may leave vectors of the one before."""
        below: Sequence[tuple[str, ...]] = [(), ("a",), ("a", "b"), ("ab",)]
        return (self.root, *below[2 * (place % 2) + number % 2]), f"item {number // 2}"

    def put(self, numbers: Mapping[int, int], together: bool, forms: int = len(FORMS)) -> None:
        """Put items; what they are follows from their numbers."""
        made: dict[Place, PutOp] = {}
        for number, drawn in numbers.items():
            rest, form = divmod(drawn, forms)
            rest, place = divmod(rest, 4)
            texts = [self.text(rest + 3 * each) for each in range(3)]
            kind = FORMS[form]
            value = {**kind.value(texts[0], texts[1], texts[2]), "kind": "ab"[rest % 2]}
            at = self.place(number, place)
            made[at] = PutOp(*at, value, kind.index)
            self.entries[at] = Entry(value, [texts[each] for each in kind.embedded])
        self.used |= set(made)
        before = len(EMBEDDINGS.seen)
        if together:
            self.store.batch(list(made.values()))
        else:
            for put in made.values():
                self.store.put(*put[:4])
        self._expect_embedded(made, EMBEDDINGS.seen[before:])
        asked = [text for text in EMBEDDINGS.seen[before:] if self.root in text and text not in EMBEDDINGS.documents]
        expect_same([], asked, "texts of items that were not embedded as documents")

    def _expect_embedded(self, made: Mapping[Place, PutOp], seen: Sequence[str]) -> None:
        """Where a put says what to embed, that is what the embedder was given."""
        own = [text for text in seen if self.root in text]
        for place, put in made.items():
            if put.index is not None:
                expected = set(self.entries[place].texts)
                parts = [text for text in _texts_in(put.value) if self.root in text]
                given = {text for text in own if any(part in text for part in parts)}
                expect_same(sorted(expected), sorted(given), f"what was embedded of {place}, index={put.index}")

    def delete(self, places: Sequence[Place], together: bool) -> None:
        for place in places:
            self.entries.pop(place)
        if together:
            self.store.batch([PutOp(*place, None) for place in places])
        else:
            for place in places:
                self.store.delete(*place)

    def question(self, number: int) -> Question:
        rest, like = divmod(number, len(self._palette))
        rest, where = divmod(rest, 4)
        rest, kind = divmod(rest, 3)
        prefix = (self.root, *(("a",), ("a", "b"), (), ("zz",))[where])
        single = all(len(entry.texts) < 2 for entry in self.entries.values())
        # official stores look at a multiple of the limit only, before they group vectors by item and page
        limit, offset = [(100, 0), (3, 0), (3, 3), (2, 1)][rest % 4] if single else (100, 0)
        return Question(self.text(like), prefix, {"kind": "ab"[kind]} if kind < 2 else None, limit, offset)

    def expected(self, question: Question) -> list[tuple[float, Place]]:
        """What has a vector, with the cosine of the best one, the nearest first."""
        asked = embed([question.query])[0]
        found = [
            (max(cosine(each, asked) for each in embed(entry.texts)), place)
            for place, entry in self.entries.items()
            if entry.texts and question.selects(place, entry)
        ]
        return sorted(found, reverse=True)

    def expect_found(self, question: Question, found: Sequence[SearchItem]) -> None:
        self._explorer.looked()
        expected = self.expected(question)
        cosines = {place: score for score, place in expected}
        places = [(item.namespace, item.key) for item in found]
        what = f"{question}, in the order in which they are found"
        strange = [
            place
            for place in places
            if place not in self.entries or not question.selects(place, self.entries[place]) or places.count(place) > 1
        ]
        expect_same([], strange, f"what does not match or is there twice, of {what}")
        for place, item in zip(places, found, strict=True):
            expect_same(self.entries[place].value, item.value, f"the value of {place}, found by a query")
            unscored = self.entries[place].texts or item.score is None
            expect_true(bool(unscored), f"the score of {place}, which has no vector", "None", item.score)
        scored = [(place, item.score) for place, item in zip(places, found, strict=True) if place in cosines]
        wanted = expected[question.offset : question.offset + question.limit]
        expect_same(len(wanted), len(scored), f"how many items with vectors are there, of {what}")
        for (best, _), (place, score) in zip(wanted, scored, strict=True):
            near = isinstance(score, float) and abs(score - cosines[place]) <= NEAR
            expect_true(near, f"the score of {place}, of {what}", f"{cosines[place]:.3f}", score)
            expect_true(cosines[place] >= best - NEAR, f"{place}, of {what}", f"one of {best:.3f}", cosines[place])

    def clean(self) -> None:
        delete_items(self.store, self.used)


@dataclass(frozen=True)
class Question:
    """A search with a query."""

    query: str
    prefix: tuple[str, ...]
    filter: dict[str, Any] | None
    limit: int
    offset: int

    def selects(self, place: Place, entry: Entry) -> bool:
        below = place[0][: len(self.prefix)] == self.prefix
        return below and (self.filter is None or entry.value["kind"] == self.filter["kind"])

    def operation(self) -> SearchOp:
        return SearchOp(self.prefix, self.filter, self.limit, self.offset, self.query)

    def __str__(self) -> str:
        asked = {"filter": self.filter, "limit": self.limit, "offset": self.offset}
        return f"the items below {self.prefix} for a query, {asked}"


def _texts_in(value: Any) -> list[str]:
    """All texts in a JSON value."""
    if isinstance(value, str):
        return [value]
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for member in members for text in _texts_in(member)]


@rule(SHOULD, source=f"PutOp.index; {DOCUMENTED}; InMemoryStore, SqliteStore, PostgresStore", needs="vectors")
def test_any_index_is_of_the_texts_that_its_paths_name(scored: StoreDrive, explorer: Explorer) -> None:
    """Whatever paths items are indexed by, each is found by its best text, with the score of that.

    Nested paths, elements, several fields, `False`, texts that are put again and deleted; with prefix, filter and page,
    and several queries in a batch. What is not named is neither found nor sent to the embedder.
    """

    def check(use: Use) -> None:
        shelf = Shelf(scored, explorer)
        try:
            with explorer.example(scored):
                use_shelf(shelf, use)
        finally:
            shelf.clean()

    explorer.each(uses, check, share=SHARE)


def use_shelf(shelf: Shelf, use: Use) -> None:
    store = shelf.store
    numbers = dict(enumerate(use.items))
    forms = len(FORMS) if use.way(6) else SINGLE
    shelf.put(numbers, use.way(0), forms)
    if use.way(1):
        crowd = {100 + 2 * number: forms * number for number in range(CROWD)}
        shelf.put(crowd, True, forms)
    # the same form in the same place: official stores keep vectors of paths that a new value lacks
    again = {number: drawn + forms * 4 for number, drawn in numbers.items() if use.again >> number & 1}
    if use.way(2):
        shelf.put(again, use.way(3), forms)
    if use.way(4):
        places = [place for number, place in enumerate(shelf.entries) if use.deleted >> number & 1]
        shelf.delete(places[:8], together=use.way(3))
    questions = [shelf.question(number) for number in use.queries]
    if use.way(5):
        results = store.batch([each.operation() for each in questions])
    else:
        results = [
            store.search(each.prefix, query=each.query, filter=each.filter, limit=each.limit, offset=each.offset)
            for each in questions
        ]
    for question, found in zip(questions, results, strict=True):
        shelf.expect_found(question, found)
    everywhere = replace(questions[0], prefix=(shelf.root,), filter=None, limit=100, offset=0)
    found = store.search((shelf.root,), query=everywhere.query, limit=100)
    shelf.expect_found(everywhere, found)
    expect_same(found, store.search((shelf.root,), query=everywhere.query, limit=100), "a search, repeated")
    plain = store.search((shelf.root,), query="", limit=100)
    unscored = {(item.namespace, item.key): (item.value, item.score) for item in plain}
    everything = {place: (entry.value, None) for place, entry in shelf.entries.items()}
    expect_same(everything, unscored, "what a search with an empty query gives")
    expect_same(
        sorted({namespace for namespace, _ in shelf.entries}),
        sorted(
            name for name in store.list_namespaces(prefix=(shelf.root,)) if any(name == at for at, _ in shelf.entries)
        ),
        "the namespaces listed, of those that have items",
    )
    expect_failure(shelf)


def expect_failure(shelf: Shelf) -> None:
    """A put whose text cannot be embedded raises, and stores nothing."""
    text = f"unembeddable {shelf.text(0)}"
    EMBEDDINGS.failing.add(text)
    try:
        expect_raises(
            Exception,
            lambda: shelf.store.put((shelf.root,), "failing", {"title": text}, ["title"]),
            "a put that cannot be embedded",
        )
    finally:
        EMBEDDINGS.failing.discard(text)
    shelf.used.add(((shelf.root,), "failing"))
    expect_same(None, shelf.store.get((shelf.root,), "failing"), "the item whose put raised")
