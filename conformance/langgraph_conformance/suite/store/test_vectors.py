"""Vector search."""

from __future__ import annotations

import itertools
import json
import math
import random
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pytest
from langgraph.store.base import Item, PutOp, SearchItem, SearchOp

from langgraph_conformance.configurations import (
    EMBEDDINGS,
    FIELDS,
    INDEXED,
    INDEXED_ASYNC,
    INDEXED_FUNCTION,
    INDEXED_WHOLE,
    Configuration,
)
from langgraph_conformance.drive import StoreDrive
from langgraph_conformance.embedders import DIMENSIONS, ExactEmbeddings, cosine, embed, vector_text
from langgraph_conformance.errors import Blocked
from langgraph_conformance.expect import expect_same, expect_true, shown
from langgraph_conformance.rules import MUST, QUIRK, SHOULD, rule
from langgraph_conformance.session import Subject
from langgraph_conformance.threads import fresh_id

Configured = Callable[[Configuration], StoreDrive]
Observe = Callable[[object], None]

TOLERANCE = 2e-3
"""How far a score may be from the exact one: vectors may be kept in half precision."""
SECONDS_OF_DELAY = 5.0
"""How long an index may follow a put before it is taken for one that does not find the item at all."""

EAST, NORTH, WEST = vector_text(1), vector_text(0, 1), vector_text(-1)
NORTH_EAST = vector_text(1, 1)
UP = vector_text(0, 0, 1)


def at(degrees: float) -> str:
    """The text whose vector is that many degrees away from EAST."""
    return vector_text(math.cos(math.radians(degrees)), math.sin(math.radians(degrees)))


def keys(found: Iterable[Item]) -> list[str]:
    return [each.key for each in found]


def score_of(found: Iterable[SearchItem], key: str) -> float | None:
    """The score of the item ``key``, None where it has none or was not found."""
    return next((each.score for each in found if each.key == key), None)


def expect_scores(expected: Mapping[str, float], found: Iterable[SearchItem], what: str) -> None:
    """What was found has these scores, by key, within TOLERANCE.

    Raises:
        Broken: it has not.
    """
    actual = {each.key: each.score for each in found}
    close = {
        key: score
        for key, score in expected.items()
        if (came := actual.get(key)) is not None and abs(came - score) <= TOLERANCE
    }
    expect_same(expected, {**actual, **close}, what)


def expect_low(score: float | None, what: str) -> None:
    """A score is that of something unlike the query, or there is none.

    Raises:
        Broken: it is the score of something alike.
    """
    expect_true(score is None or score < 0.5, what, "none, or a low one", score)


# --- whether exact scores can be expected of the store

_Findings = dict[str, str | Exception | None]
_FINDINGS: weakref.WeakKeyDictionary[Subject, _Findings] = weakref.WeakKeyDictionary()


def _why_not_decidable(store: StoreDrive) -> str | Exception | None:
    """Why nothing can be said about this store's vectors, what the first search raised, or None."""
    namespace, text = (fresh_id(),), f"{fresh_id()} {UP}"
    try:
        store.put(namespace, "key", {"text": text})
        found = store.search(namespace, query=text)
    except NotImplementedError:
        return "a search with a query is not implemented"
    except Exception as error:
        return error
    if not any(text in each for each in EMBEDDINGS.seen):
        return "it did not ask the embedder of index= for anything: it has none, or brings its own"
    until = time.monotonic() + SECONDS_OF_DELAY
    if score_of(found, "key") is not None:
        return None
    while time.monotonic() < until:
        store.wait(0.25)
        if score_of(store.search(namespace, query=text), "key") is not None:
            return "its index follows a put with a delay: a search right after it cannot be judged"
    return None


def _finding(store: StoreDrive, subject: Subject) -> str | Exception | None:
    """The same, found out once for each drive."""
    known = _FINDINGS.setdefault(subject, {})
    if store.mode not in known:
        known[store.mode] = _why_not_decidable(store)
    return known[store.mode]


@pytest.fixture
def scored(indexed: StoreDrive, store_subject: Subject) -> StoreDrive:
    """The store under test with an index whose vectors are known, or the check is not tested."""
    finding = _finding(indexed, store_subject)
    if isinstance(finding, Exception):
        raise Blocked("an item cannot be put and searched for with an index, see that rule") from None
    if finding is not None:
        pytest.skip(finding)
    return indexed


@rule(MUST, source="BaseStore.put, BaseStore.search: query", needs="vectors")
def test_a_store_with_an_index_takes_a_query(indexed: StoreDrive, root: str, store_subject: Subject) -> None:
    """A store that is opened with an index takes an item, and a query for its text, which finds it.

    Until this holds, the other rules of vector search are blocked.
    """
    finding = _finding(indexed, store_subject)
    if isinstance(finding, str):
        pytest.skip(finding)
    indexed.put((root,), "key", {"text": EAST})
    expect_same(["key"], keys(indexed.search((root,), query=EAST)), "the keys found for the text of the only item")


# --- order and score

ANGLES = (0, 15, 35, 60, 80, 100, 140, 180)


@rule(MUST, source="BaseStore.search: ranked by similarity; InMemoryStore, SqliteStore, PostgresStore", needs="vectors")
@pytest.mark.parametrize("put_first", ["nearest", "farthest", "neither"])
def test_the_nearest_comes_first(scored: StoreDrive, root: str, put_first: str) -> None:
    """A search with a query lists items from the most similar to the least, whatever order they were put in.

    An agent takes the first few: it would be told what has least to do with the question.
    """
    orders: dict[str, list[int]] = {
        "nearest": sorted(ANGLES),
        "farthest": sorted(ANGLES, reverse=True),
        "neither": [60, 0, 180, 15, 140, 35, 100, 80],
    }
    for angle in orders[put_first]:
        scored.put((root,), str(angle), {"text": at(angle)})
    found = scored.search((root,), query=EAST)
    expect_same([str(angle) for angle in ANGLES], keys(found), "the keys found, named by their angle to the query")


@rule(MUST, source="SearchItem.score: relevance; all official stores", needs="vectors")
def test_the_score_falls_along_the_results(scored: StoreDrive, root: str) -> None:
    """The more similar an item is, the higher its score: scores fall along the results.

    A score that is a distance makes "at least 0.8" keep what is farthest away.
    """
    for angle in ANGLES:
        scored.put((root,), str(angle), {"text": at(angle)})
    scores = [each.score for each in scored.search((root,), query=EAST)]
    expect_true(
        len(scores) == len(ANGLES)
        and all(left is not None and right is not None and left > right for left, right in itertools.pairwise(scores)),
        "the scores of eight items, the nearest first",
        "eight scores, each lower than the one before",
        scores,
    )


EXACT = {"same": EAST, "near": at(30), "diagonal": NORTH_EAST, "right angle": UP, "behind": at(120), "opposite": WEST}


@rule(SHOULD, source="InMemoryStore, SqliteStore, PostgresStore: cosine similarity by default", needs="vectors")
def test_the_score_is_the_cosine(scored: StoreDrive, root: str) -> None:
    """The score is the cosine of the angle between the query's vector and the item's: 1 for the same, -1 for opposite.

    Thresholds that were found with one store do not hold in another that scales its scores.
    """
    for key, text in EXACT.items():
        scored.put((root,), key, {"text": text})
    expected = {key: cosine(embed([text])[0], embed([EAST])[0]) for key, text in EXACT.items()}
    expect_scores(expected, scored.search((root,), query=EAST), "the scores")


NARROWED: Mapping[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "prefix": (("b",), {}),
    "filter": ((), {"filter": {"kind": "b"}}),
    "filter $ne": ((), {"filter": {"kind": {"$ne": "a"}}}),
    "page": ((), {"limit": 3, "offset": 2}),
}


@rule(SHOULD, source="InMemoryStore, SqliteStore, PostgresStore: the score of query and item", needs="vectors")
@pytest.mark.parametrize("by", NARROWED)
def test_a_score_does_not_depend_on_what_is_left_out(scored: StoreDrive, root: str, by: str) -> None:
    """An item has the score in a search with a filter, a prefix or a page that it has in one of everything.

    Scores that are told apart from the items, and joined by their place, are those of others after a filter.
    """
    for number in range(6):
        kind = "ab"[number % 2]
        scored.put((root, kind), str(number), {"text": at(5 + 25 * number), "kind": kind})
    every = {each.key: each.score for each in scored.search((root,), query=EAST)}
    labels, keywords = NARROWED[by]
    found = scored.search((root, *labels), query=EAST, **keywords)
    expect_scores({each.key: every.get(each.key) or 0.0 for each in found}, found, f"the scores with a {by}")


@rule(SHOULD, source="SearchOp.offset: pagination needs an order that stays", needs="vectors")
def test_equal_scores_stay_in_order(scored: StoreDrive, root: str) -> None:
    """The same search with a query gives the same order as long as nothing is written, also where scores are equal.

    Pages overlap otherwise, and leave items out that no page shows.
    """
    for number in range(12):
        scored.put((root,), str(number), {"text": at(60 * (number % 2))})
    first = keys(scored.search((root,), query=EAST, limit=12))
    again = [keys(scored.search((root,), query=EAST, limit=12)) for _ in range(2)]
    expect_same([first, first], again, "the keys found by the second and third of three equal searches")


@rule(MUST, source="InMemoryStore, SqliteStore, PostgresStore: cosine similarity by default", needs="vectors")
def test_the_length_of_a_vector_does_not_matter(scored: StoreDrive, root: str) -> None:
    """A long vector is not nearer than a short one that points to where the query does.

    Embedders that do not give unit vectors would always bring the same few items to the top.
    """
    lengths = {"tiny": 0.01, "short": 0.5, "long": 50.0}
    for key, length in lengths.items():
        scored.put((root,), key, {"text": vector_text(length)})
    scored.put((root,), "long and off", {"text": vector_text(90, 40)})
    scored.put((root,), "short and off", {"text": vector_text(0.09, 0.04)})
    found = scored.search((root,), query=vector_text(3))
    expect_same(sorted(lengths), sorted(keys(found)[:3]), "the first three of five keys found")
    expect_scores(
        {key: 1.0 for key in lengths},
        [each for each in found if each.key in lengths],
        "the scores of what points the same way as the query",
    )


@rule(SHOULD, source="SearchItem.score: float | None", needs="vectors")
def test_a_score_is_a_float(scored: StoreDrive, root: str) -> None:
    """A score is a plain float.

    `SearchItem.dict()` is for JSON, which knows no number of a numeric library nor of a database's driver.
    """
    scored.put((root,), "key", {"text": EAST})
    expect_same([float], [type(each.score) for each in scored.search((root,), query=EAST)], "the types of the scores")


@rule(SHOULD, source="SearchItem.score: None if not from a ranked search", needs="vectors")
@pytest.mark.parametrize("query", [None, ""], ids=["left out", "empty"])
def test_without_a_query_nothing_is_scored(scored: StoreDrive, root: str, query: str | None) -> None:
    """A search without a query, or with an empty one, finds everything and gives no score.

    A form that is sent without a search term lists everything; what is not ranked must not look as if it was.
    """
    for key, text in {"a": EAST, "b": NORTH}.items():
        scored.put((root,), key, {"text": text})
    keywords = {} if query is None else {"query": query}
    found = scored.search((root,), **keywords)
    expect_same({"a": None, "b": None}, {each.key: each.score for each in found}, "the scores")


@rule(MUST, source="BaseStore.search: query, natural language", needs="vectors")
@pytest.mark.parametrize(
    ("query", "nearest"),
    [("What are my food preferences?", "foods"), ("What is my favorite sport?", "sports")],
    ids=["food", "sport"],
)
def test_a_question_finds_its_answer(scored: StoreDrive, root: str, query: str, nearest: str) -> None:
    """The item that has most to do with a question is found with `limit=1`.

    It is what long-term memory is for.
    """
    namespace = (root, "profile", "interests")
    scored.put(namespace, "foods", {"text": "I love eating spicy Sichuan food."})
    scored.put(namespace, "sports", {"text": "My favorite sport is swimming."})
    expect_same([nearest], keys(scored.search(namespace, query=query, limit=1)), f"the keys found for {query!r}")


@rule(MUST, source="SearchItem; BaseStore.search", needs="vectors")
def test_what_is_found_is_the_stored_item(scored: StoreDrive, root: str) -> None:
    """A search with a query gives items as get does: namespace, key, value and times.

    An agent goes on with what it found, and updates it under its namespace and key.
    """
    value = {"text": EAST, "parts": [{"text": NORTH, "n": 1}], "kept": {"deep": [1, None, "ü"]}}
    scored.put((root, "inner", "most"), "key", value)
    stored = scored.get((root, "inner", "most"), "key")
    found = scored.search((root,), query=EAST)
    expect_same([_without_score(stored)], [_without_score(each) for each in found], "the items found")
    expect_same([SearchItem], [type(each) for each in found], "the types of the items found")


def _without_score(item: Item | None) -> dict[str, Any] | None:
    if item is None:
        return None
    named = ("namespace", "key", "value", "created_at", "updated_at")
    return {name: getattr(item, name) for name in named}


def sent(mark: str, texts: Iterable[str]) -> list[str]:
    """The texts with ``mark`` at their beginning among those sent to the embedder.

    Of a whole value in JSON it is the field: whether only fields are sent is for a rule of its own.
    """
    found = [text for text in texts if mark in text]
    return [json.loads(text)["text"] if text.startswith("{") else text for text in found]


HOSTILE = {
    "quotes": 'it\'s "quoted" and `ticked`',
    "percent": "100% of _all_ %s {0} {text}",
    "SQL": "'; DROP TABLE store; --",
    "non-ASCII": "żółć 日本語 🦜 é",
    "long": "word " * 2000,
    "lines": "one\ntwo\ttabbed\r\n",
    "blank": "   ",
    "number": "12345",
    "JSON": '{"text": ["a", null]}',
}


@rule(MUST, source="BaseStore.search: query", needs="vectors")
@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_can_be_put_and_asked_for(scored: StoreDrive, root: str, text: str) -> None:
    """Any text is embedded as it is, stored or asked for, and finds itself.

    Text is what users type.
    """
    mark = fresh_id()
    written = f"{mark} {HOSTILE[text]}{NORTH}"
    scored.put((root,), "same", {"text": written})
    scored.put((root,), "other", {"text": EAST})
    scored.search((root,), query=EAST)
    expect_same({written}, {*sent(mark, EMBEDDINGS.seen)}, "what was embedded of the text that was put")
    expect_same(["same"], keys(scored.search((root,), query=written, limit=1)), "the key found")


# --- what is embedded

DOCUMENT = {
    "text": vector_text(0, 0, 0, 0, 0, 0, 1),
    "title": vector_text(1),
    "meta": {"title": vector_text(0, 1), "author": {"name": vector_text(0, 0, 1)}},
    "parts": [{"text": vector_text(0, 0, 0, 1)}, {"text": vector_text(0, 0, 0, 0, 1)}],
    "tags": [vector_text(0, 0, 0, 0, 0, 1), vector_text(0, 0, 0, 0, 0, 0, 0, 1)],
    "list": [{"inner": [{"text": vector_text(*[0] * 8, 1)}, {"text": vector_text(*[0] * 9, 1)}]}],
}
AXES = 10
PATHS: dict[str, list[int]] = {
    "title": [0],
    "meta.title": [1],
    "meta.author.name": [2],
    "parts[0].text": [3],
    "parts[-1].text": [4],
    "parts[*].text": [3, 4],
    "tags[*]": [5, 7],
    "tags[1]": [7],
    "list[*].inner[*].text": [8, 9],
    "list[0].inner[-1].text": [9],
}
"""Path, and the axes along which the vectors of DOCUMENT lie that it names."""


def axes_found(store: StoreDrive, namespace: tuple[str, ...], key: str) -> list[int]:
    """The axes along which the item has a vector."""
    queries = [vector_text(*[0] * axis, 1) for axis in range(AXES)]
    results = [store.search(namespace, query=query) for query in queries]
    scores = [score_of(found, key) or 0.0 for found in results]
    return [axis for axis, score in enumerate(scores) if score > 0.9]


@rule(MUST, source="PutOp.index: path syntax", needs="vectors")
@pytest.mark.parametrize("path", PATHS)
def test_a_put_chooses_what_is_embedded(scored: StoreDrive, root: str, path: str) -> None:
    """`index=[path]` embeds what the path names, each element on its own, in place of the configured fields.

    A path that is taken for a plain key finds nothing; the item can then never be found.
    """
    scored.put((root,), "key", DOCUMENT, [path])
    expect_same(PATHS[path], axes_found(scored, (root,), "key"), f"the axes of the vectors, index=[{path!r}]")


@rule(SHOULD, source="langgraph.store.base.get_text_at_path: multi-field selection", needs="vectors")
@pytest.mark.parametrize(
    ("path", "axes"), [("meta.{title,author.name}", [1, 2]), ("{title,meta.title}", [0, 1])], ids=["nested", "flat"]
)
def test_a_path_may_name_several_fields(scored: StoreDrive, root: str, path: str, axes: list[int]) -> None:
    """`{one,other}` in a path names several fields, each with a vector of its own.

    It is a part of LangGraph's path syntax; where it is a name like any other, the item is never found.
    """
    scored.put((root,), "key", DOCUMENT, [path])
    expect_same(axes, axes_found(scored, (root,), "key"), f"the axes of the vectors, index=[{path!r}]")


@rule(SHOULD, source="InMemoryStore, SqliteStore, PostgresStore: embed_documents", needs="vectors")
def test_items_are_embedded_as_documents(scored: StoreDrive, root: str) -> None:
    """The texts of items are embedded as documents, by `embed_documents` or `aembed_documents`.

    Many embedders treat a question and a text that may answer it otherwise; and one call is enough for many texts.
    """
    mark = fresh_id()
    scored.put((root,), "key", {"text": f"{mark}{EAST}"})
    scored.search((root,), query=NORTH)
    expect_same({f"{mark}{EAST}"}, {*sent(mark, EMBEDDINGS.documents)}, "what was embedded as a document")


@rule(SHOULD, source="Embeddings.aembed_documents, aembed_query", needs=("vectors", "async"))
def test_async_calls_do_not_wait_for_a_sync_embedder(scored: StoreDrive, root: str) -> None:
    """The async methods call the embedder's async methods, or its sync ones in another thread.

    A sync call to somebody else's service, within the event loop, makes every user of a server wait for it.
    """
    if scored.mode == "sync":
        pytest.skip("it is about the async methods")
    text, question = f"{fresh_id()}{EAST}", f"{fresh_id()}{NORTH}"
    scored.put((root,), "key", {"text": text})
    scored.search((root,), query=question)
    waited = [each for each in EMBEDDINGS.blocking if each in (text, question)]
    expect_same([], waited, "what the loop waited for")


@rule(MUST, source="IndexConfig.fields", needs="vectors")
def test_the_configured_fields_are_embedded(scored: StoreDrive, root: str) -> None:
    """Without `index` the configured fields are embedded, each element on its own, and nothing else.

    An item is found for words that stand in a field which was left out on purpose, or not found at all.
    """
    scored.put((root,), "key", DOCUMENT)
    expect_same([3, 4, 6], axes_found(scored, (root,), "key"), f"the axes of the vectors, fields={FIELDS}")


@rule(MUST, source="IndexConfig.fields: specific fields only", needs="vectors")
@pytest.mark.parametrize("index", [None, False, ["title"]], ids=["configured", "False", "per put"])
def test_the_embedder_sees_only_what_is_indexed(scored: StoreDrive, root: str, index: Any) -> None:
    """Only the fields to embed are sent to the embedder.

    It is a service of somebody else: what was left out, such as personal data, must not reach it. It is paid by length.
    """
    secret, wanted = fresh_id(), fresh_id()
    texts = {"text": f"text {secret}", "title": f"title {secret}"}
    name = {"None": "text", "False": None}.get(str(index), "title")
    value = {**texts, **({name: wanted} if name else {}), "secret": secret, "deep": {"secret": [secret]}}
    scored.put((root,), "key", value, index)
    sent = [text for text in EMBEDDINGS.seen if secret in text]
    expect_same([], sent, "texts with the field that is not indexed, sent to the embedder")
    expect_same([wanted] if name else [], [text for text in EMBEDDINGS.seen if wanted in text], "what was embedded")


@rule(MUST, source="IndexConfig.fields: ['$'], the entire object, is the default", needs="vectors")
def test_without_fields_the_whole_value_is_embedded(scored: StoreDrive, configured: Configured, root: str) -> None:
    """An index without `fields` embeds the whole value.

    It is the configuration that most people begin with.
    """
    store = configured(INDEXED_WHOLE)
    store.put((root,), "east", {"anything": EAST})
    store.put((root,), "north", {"else": {"deep": [NORTH]}})
    expect_scores({"east": 0.0, "north": 1.0}, store.search((root,), query=NORTH), "the scores")


@rule(SHOULD, source="IndexConfig.fields, PutOp.index: '$' is the whole value", needs="vectors")
def test_a_put_may_embed_the_whole_value(scored: StoreDrive, root: str) -> None:
    """`index=["$"]` embeds the whole value, also where fields are configured.

    The item would have no vector at all, without any error.
    """
    scored.put((root,), "key", {"anything": {"deep": NORTH}}, ["$"])
    expect_scores({"key": 1.0}, scored.search((root,), query=NORTH), "the score of an item with index=['$']")


@rule(MUST, source="InMemoryStore, SqliteStore, PostgresStore: the best vector of an item counts", needs="vectors")
@pytest.mark.parametrize("index", [None, ["title", "body"], ["tags[*]"]], ids=["configured", "fields", "elements"])
def test_the_best_vector_of_an_item_counts_once(scored: StoreDrive, root: str, index: Any) -> None:
    """An item with several vectors is found once, with the score of the nearest.

    The same item several times over fills the page; the average, or the first, hides what it says in one place.
    """
    many = {"text": NORTH, "parts": [{"text": EAST}, {"text": WEST}, {"text": at(10)}]}
    many |= {"title": NORTH, "body": EAST, "tags": [WEST, EAST, NORTH]}
    scored.put((root,), "many", many, index)
    scored.put((root,), "single", {"text": at(40)})
    found = scored.search((root,), query=EAST)
    expect_same(["many", "single"], keys(found), "the keys found")
    expect_scores({"many": 1.0, "single": math.cos(math.radians(40))}, found, "the scores")


NOT_TEXT = {
    "missing": {},
    "None": {"text": None},
    "number": {"text": 5},
    "float": {"text": 1.5},
    "boolean": {"text": True},
    "object": {"text": {"a": 1}},
    "list": {"text": ["a", "b"]},
    "empty list": {"text": []},
    "empty text": {"text": ""},
    "parts without text": {"parts": [{"other": "a"}, {"text": None}, 5, None]},
    "parts that are no list": {"parts": "text"},
}


@rule(MUST, source="IndexConfig.fields: fields missing from a document are skipped", needs="vectors")
@pytest.mark.parametrize("value", NOT_TEXT)
def test_a_field_that_is_no_text_does_no_harm(scored: StoreDrive, root: str, value: str) -> None:
    """An item whose indexed field is missing, or no text, is stored and read like any other, and disturbs no search.

    Values come from models: a field is forgotten, or is a list for once. A put that fails loses the memory.
    """
    scored.put((root,), "odd", NOT_TEXT[value])
    scored.put((root,), "even", {"text": EAST})
    stored = scored.get((root,), "odd")
    expect_same(NOT_TEXT[value], stored and stored.value, "the value read")
    expect_scores(
        {"even": 1.0}, [each for each in scored.search((root,), query=EAST) if each.key == "even"], "the other's score"
    )


# --- without a vector


@rule(MUST, source="PutOp.index: False disables indexing for this item", needs="vectors")
@pytest.mark.parametrize("way", ["put", "batch"])
def test_an_unindexed_item_is_never_scored(scored: StoreDrive, root: str, way: str) -> None:
    """An item put with `index=False` has no score, and is read by get and by a search without a query as ever.

    What was to be kept out of the search is found by it.
    """
    value = {"text": EAST}
    ways: dict[str, Callable[[], object]] = {
        "put": lambda: scored.put((root,), "out", value, False),
        "batch": lambda: scored.batch([PutOp((root,), "out", value, index=False)]),
    }
    ways[way]()
    scored.put((root,), "in", {"text": NORTH})
    expect_same(None, score_of(scored.search((root,), query=EAST), "out"), "the score of the unindexed item")
    got = scored.get((root,), "out")
    expect_same(
        {"get": value, "search": ["in", "out"]},
        {"get": got and got.value, "search": sorted(keys(scored.search((root,))))},
        "what reads it",
    )


@rule(
    QUIRK,
    source="InMemoryStore.batch, SqliteStore.batch, PostgresStore.batch",
    needs="vectors",
    officials={
        "InMemoryStore": "after the others, without a score",
        "SqliteStore": "left out",
        "PostgresStore": "left out",
    },
)
def test_unindexed_items_in_a_search_with_a_query(scored: StoreDrive, root: str, observe: Observe) -> None:
    """Items without a vector may be left out of a search with a query, or follow the others without a score.

    Official stores differ.
    """
    scored.put((root,), "in", {"text": NORTH})
    scored.put((root,), "out", {"text": EAST}, False)
    found = keys(scored.search((root,), query=EAST))
    told = {("in",): "left out", ("in", "out"): "after the others, without a score"}
    observe(told.get(tuple(found), f"found in this order: {', '.join(found)}"))


@rule(SHOULD, source="BaseStore.search: offset", needs="vectors")
def test_no_item_is_on_two_pages(scored: StoreDrive, root: str) -> None:
    """Paging through a search with a query shows no item twice, those without a vector included.

    A loop over pages handles an item again and again, or never ends.
    """
    for number in range(4):
        scored.put((root,), f"in{number}", {"text": at(10 * number)})
        scored.put((root,), f"out{number}", {"text": EAST}, False)
    pages = [scored.search((root,), query=EAST, limit=3, offset=offset) for offset in range(0, 12, 3)]
    shown_keys = [key for page in pages for key in keys(page)]
    expect_same(sorted(set(shown_keys)), sorted(shown_keys), "the keys on four pages of three")


@rule(MUST, source="BaseStore.search: a list of items", needs="vectors")
@pytest.mark.parametrize("there", ["nothing", "unindexed", "deleted", "elsewhere"])
def test_a_search_among_no_vectors_is_empty_or_unscored(scored: StoreDrive, root: str, there: str) -> None:
    """A search with a query where nothing has a vector raises nothing and gives no score.

    The first question to an empty memory must not end the conversation.
    """
    if there == "unindexed":
        scored.put((root, "here"), "key", {"text": EAST}, False)
    elif there == "deleted":
        scored.put((root, "here"), "key", {"text": EAST})
        scored.delete((root, "here"), "key")
    elif there == "elsewhere":
        scored.put((root, "there"), "key", {"text": EAST})
    found = scored.search((root, "here"), query=EAST)
    expect_same(
        {key: None for key in (["key"] if there == "unindexed" and found else [])},
        {each.key: each.score for each in found},
        "the scores",
    )


# --- put again, delete


@rule(MUST, source="BaseStore.put: stores or updates an item", needs="vectors")
@pytest.mark.parametrize("way", ["put", "batch", "twice in a batch", "after a delete"])
def test_a_put_replaces_the_vector(scored: StoreDrive, root: str, way: str) -> None:
    """An item that is put again is found by its new text, and not by its old one.

    A corrected memory keeps answering for what it said before.
    """
    old, new = {"text": EAST}, {"text": NORTH}
    if way == "twice in a batch":
        scored.batch([PutOp((root,), "key", old), PutOp((root,), "key", new)])
    else:
        scored.put((root,), "key", old)
    if way == "after a delete":
        scored.delete((root,), "key")
    if way == "batch":
        scored.batch([PutOp((root,), "key", new)])
    else:
        scored.put((root,), "key", new)
    expect_scores({"key": 0.0}, scored.search((root,), query=EAST), "the score for the old text")
    expect_scores({"key": 1.0}, scored.search((root,), query=NORTH), "the score for the new text")


STALE: dict[str, tuple[dict[str, Any], Any, dict[str, Any], Any]] = {
    "index=False": ({"text": EAST}, None, {"text": EAST}, False),
    "index=False, other text": ({"text": EAST}, None, {"text": NORTH}, False),
    "no field": ({"text": EAST}, None, {"other": EAST}, None),
    "None": ({"text": EAST}, None, {"text": None}, None),
    "shorter list": (
        {"parts": [{"text": NORTH}, {"text": UP}, {"text": EAST}]}, None, {"parts": [{"text": NORTH}]}, None,
    ),
    "no list": ({"text": NORTH, "parts": [{"text": EAST}]}, None, {"text": NORTH}, None),
    "fewer paths": ({"a": NORTH, "b": EAST}, ["a", "b"], {"a": NORTH, "b": EAST}, ["a"]),
    "other path": ({"a": EAST, "b": NORTH}, ["a"], {"a": EAST, "b": NORTH}, ["b"]),
    "configured again": ({"text": NORTH, "a": EAST}, ["a"], {"text": NORTH, "a": EAST}, None),
}  # fmt: skip


@rule(MUST, source="PutOp.index: False disables indexing for this item; PutOp replaces the item", needs="vectors")
@pytest.mark.parametrize("change", STALE)
@pytest.mark.parametrize("deleted", [False, True], ids=["put again", "deleted and put again"])
def test_no_vector_of_an_earlier_put_stays(scored: StoreDrive, root: str, change: str, deleted: bool) -> None:
    """An item has the vectors of its last put only: those that this one does not make are gone, as after a delete.

    An item is found for words that it does not contain any more, and that may have been removed on purpose.
    """
    before, before_index, after, after_index = STALE[change]
    scored.put((root,), "key", before, before_index)
    if deleted:
        scored.delete((root,), "key")
    scored.put((root,), "key", after, after_index)
    expect_low(score_of(scored.search((root,), query=EAST), "key"), "the score for a text that is not indexed any more")


@rule(MUST, source="BaseStore.delete", needs="vectors")
@pytest.mark.parametrize("way", ["delete", "batch"])
def test_a_deleted_item_is_not_found(scored: StoreDrive, root: str, way: str) -> None:
    """A deleted item is not found by a search with a query, and takes no place on its page.

    Personal data that was to be erased answers questions, or hides what is there.
    """
    names = [f"gone{number}" for number in range(8)]
    scored.batch([PutOp((root,), name, {"text": at(number)}) for number, name in enumerate(names)])
    scored.put((root,), "kept", {"text": at(30)})
    if way == "delete":
        for name in names:
            scored.delete((root,), name)
    else:
        scored.batch([PutOp((root,), name, None) for name in names])
    expect_same(["kept"], keys(scored.search((root,), query=EAST, limit=2)), "the keys found")


@rule(MUST, source="BaseStore: an item is identified by its namespace and key", needs="vectors")
@pytest.mark.parametrize("change", ["none", "put", "delete"])
def test_vectors_belong_to_one_item(scored: StoreDrive, root: str, change: str) -> None:
    """Items with the same key in other namespaces, or names that join to the same text, have vectors of their own.

    One user's memory is found for another user's words, or vanishes with it.
    """
    addresses = [
        ((root, "a"), "b:c"), ((root, "a", "b"), "c"), ((root, "a:b"), "c"), ((root, "a"), "b/c"), ((root, "a/b"), "c"),
        ((root, "a"), "key"), ((root, "b"), "key"), ((root, "a"), "Key"),
    ]  # fmt: skip
    for axis, (namespace, key) in enumerate(addresses):
        scored.put(namespace, key, {"text": vector_text(*[0] * axis, 1)})
    first = addresses[0]
    if change == "put":
        scored.put(*first, {"text": vector_text(*[0] * 12, 1)})
    elif change == "delete":
        scored.delete(*first)
    wanted, actual = {}, {}
    for axis, address in enumerate(addresses):
        found = scored.search((root,), query=vector_text(*[0] * axis, 1))
        wanted[address] = [] if address == first and change != "none" else [address]
        actual[address] = [(each.namespace, each.key) for each in found if (each.score or 0) > 0.9]
    expect_same(wanted, actual, "who is found for each item's text")


# --- prefix, filter, limit, offset

BETTER = 30


@rule(MUST, source="BaseStore.search: namespace_prefix, filter", needs="vectors")
@pytest.mark.parametrize("by", ["prefix", "filter", "filter $ne", "both"])
def test_what_is_not_asked_for_takes_no_place(scored: StoreDrive, root: str, by: str) -> None:
    """Prefix and filter choose first; of what is left the nearest are found, however many better ones lie outside.

    Where the nearest are taken first and filtered then, one user's search is empty as soon as others have more to say.
    """
    outside = {"prefix": (root, "user10"), "filter": (root, "user1"), "both": (root, "user10")}.get(by, (root, "user1"))
    scored.batch(
        [PutOp(outside, f"better{number}", {"text": at(number / 10), "kind": "other"}) for number in range(BETTER)]
    )
    scored.batch(
        [PutOp((root, "user1"), f"ours{number}", {"text": at(20 + 5 * number), "kind": "ours"}) for number in range(5)]
    )
    filters: dict[str, Any] = {
        "prefix": None,
        "filter": {"kind": "ours"},
        "filter $ne": {"kind": {"$ne": "other"}},
        "both": {"kind": "ours"},
    }
    search = partial(scored.search, (root, "user1"), query=EAST, filter=filters[by])
    expect_same(
        {limit: [f"ours{number}" for number in range(5)][:limit] for limit in (1, 3, 10)},
        {limit: keys(search(limit=limit)) for limit in (1, 3, 10)},
        f"the keys found by {by}, by the limit",
    )


@rule(MUST, source="BaseStore.search: limit and offset", needs="vectors")
@pytest.mark.parametrize(("items", "page"), [(30, 5), (25, 10), (12, 1)], ids=["30 by 5", "25 by 10", "12 by 1"])
def test_pages_show_every_item(scored: StoreDrive, root: str, items: int, page: int) -> None:
    """Paging with limit and offset shows every item once, in the order of one long page.

    Where only the nearest few times `limit` are looked at, later pages are empty: most of a memory cannot be reached.
    """
    scored.batch([PutOp((root,), f"{number:02}", {"text": at(3 * number)}) for number in range(items)])
    offsets = range(0, items + page, page)
    pages = [keys(scored.search((root,), query=EAST, limit=page, offset=offset)) for offset in offsets]
    expect_same(
        [f"{number:02}" for number in range(items)],
        [key for each in pages for key in each],
        f"the keys on {len(pages)} pages",
    )


@rule(MUST, source="BaseStore.search: limit", needs="vectors")
def test_a_limit_is_filled_and_kept(scored: StoreDrive, root: str) -> None:
    """A search with a query gives the nearest `limit` items, or all where there are fewer.

    A page that is too long does not fit a model's context; one that is too short lacks what was asked for.
    """
    scored.batch([PutOp((root,), f"{number:02}", {"text": at(3 * number)}) for number in range(40)])
    limits = (1, 3, 10, 50)
    expect_same(
        {limit: [f"{number:02}" for number in range(40)][:limit] for limit in limits},
        {limit: keys(scored.search((root,), query=EAST, limit=limit)) for limit in limits},
        "the keys found, by the limit",
    )


@rule(SHOULD, source="BaseStore.search: limit is a number of items", needs="vectors")
@pytest.mark.parametrize("limit", [1, 3, 5])
def test_an_item_with_many_vectors_crowds_out_nothing(scored: StoreDrive, root: str, limit: int) -> None:
    """An item with many vectors takes one place on a page.

    One long document whose every paragraph is near the question would be all that is ever found.
    """
    many = {"parts": [{"text": at(number / 10)} for number in range(40)]}
    scored.put((root,), "many", many, ["parts[*].text"])
    for number in range(4):
        scored.put((root,), f"single{number}", {"text": at(30 + number)})
    found = scored.search((root,), query=EAST, limit=limit)
    expect_same(["many", "single0", "single1", "single2", "single3"][:limit], keys(found), "the keys found")


@rule(SHOULD, source="BaseStore.search: offset", needs="vectors")
def test_an_offset_behind_the_end_finds_nothing(scored: StoreDrive, root: str) -> None:
    """An offset behind the last item gives an empty page.

    It is how a loop over pages ends.
    """
    for number in range(3):
        scored.put((root,), str(number), {"text": at(10 * number)})
    expect_same([], keys(scored.search((root,), query=EAST, limit=5, offset=3)), "the keys on a page behind the last")


@rule(MUST, source="BaseStore.search", needs="vectors")
def test_the_nearest_is_found_among_many(scored: StoreDrive, root: str) -> None:
    """The one item that says what was asked for is found first among 200 others.

    A memory that has grown must not forget.
    """
    draw = random.Random(1)
    noise = [[draw.gauss(0, 1) for _ in range(DIMENSIONS)] for _ in range(200)]
    wanted = [draw.gauss(0, 1) for _ in range(DIMENSIONS)]
    operations = [PutOp((root,), f"noise{number}", {"text": vector_text(*each)}) for number, each in enumerate(noise)]
    scored.batch([*operations[:120], PutOp((root,), "wanted", {"text": vector_text(*wanted)}), *operations[120:]])
    found = scored.search((root,), query=vector_text(*wanted), limit=3)
    expect_same("wanted", next(iter(keys(found)), None), "the first key found")


@rule(
    QUIRK,
    source="approximate indexes",
    needs="vectors",
    officials={
        "InMemoryStore": "10 of the 10 nearest",
        "SqliteStore": "10 of the 10 nearest",
        "PostgresStore": "10 of the 10 nearest",
    },
)
def test_how_many_of_the_nearest_are_found_among_a_thousand(scored: StoreDrive, root: str, observe: Observe) -> None:
    """An approximate index may miss some of the nearest among many items.

    It is a choice of speed over completeness that users should know of.
    """
    draw = random.Random(2)
    vectors = [[draw.gauss(0, 1) for _ in range(DIMENSIONS)] for _ in range(1000)]
    query = [draw.gauss(0, 1) for _ in range(DIMENSIONS)]
    for start in range(0, 1000, 250):
        scored.batch(
            [
                PutOp((root,), str(number), {"text": vector_text(*vectors[number])})
                for number in range(start, start + 250)
            ]
        )
    nearest = sorted(range(1000), key=lambda number: -cosine(vectors[number], query))[:10]
    found = keys(scored.search((root,), query=vector_text(*query), limit=10))
    observe(f"{len(set(found) & set(map(str, nearest)))} of the 10 nearest")


# --- batches


@rule(MUST, source="BaseStore.batch", needs="vectors")
def test_every_item_of_a_batch_has_its_own_vector(scored: StoreDrive, root: str) -> None:
    """Items that are put in one batch, some with several vectors and some with none, each have their own.

    A list of texts and a list of items that are joined by position go apart at the first item without a text.
    """
    scored.batch(
        [
            PutOp((root,), "a", {"x": at(10)}, index=["x"]),
            PutOp((root,), "none", {"x": EAST}, index=["y"]),
            PutOp((root,), "b", {"x": at(30)}, index=["x"]),
            PutOp((root,), "out", {"x": EAST}, index=False),
            PutOp((root,), "many", {"x": at(170), "y": [at(160), at(50)]}, index=["x", "y[*]"]),
            PutOp((root, "inner"), "c", {"x": at(70)}, index=["x"]),
        ]
    )
    found = [each for each in scored.search((root,), query=EAST) if each.score is not None]
    angles = {"a": 10, "b": 30, "many": 50, "c": 70}
    expect_scores({key: math.cos(math.radians(angle)) for key, angle in angles.items()}, found, "the scores")


@rule(SHOULD, source="SqliteStore.batch, PostgresStore.batch", needs="vectors")
@pytest.mark.parametrize("where", ["items", "fields", "elements"])
def test_equal_texts_are_no_trouble(scored: StoreDrive, root: str, where: str) -> None:
    """Equal texts in one batch, in fields of one item or in elements of one list are put, each to its own item.

    "Yes", "ok" and empty summaries repeat all the time.
    """
    batches: dict[str, list[PutOp]] = {
        "items": [PutOp((root,), key, {"text": text}) for key, text in (("a", EAST), ("b", NORTH), ("c", EAST))],
        "fields": [PutOp((root,), "a", {"x": EAST, "y": EAST}, index=["x", "y"]), PutOp((root,), "b", {"text": NORTH})],
        "elements": [
            PutOp((root,), "a", {"parts": [{"text": EAST}, {"text": EAST}]}),
            PutOp((root,), "b", {"text": NORTH, "parts": [{"text": NORTH}]}),
        ],
    }
    scored.batch(batches[where])
    expected = {"a": 1.0, "b": 0.0, **({"c": 1.0} if where == "items" else {})}
    expect_scores(expected, scored.search((root,), query=EAST), "the scores")


@rule(SHOULD, source="BaseStore.batch: results in the order of the operations", needs="vectors")
def test_searches_of_a_batch_keep_their_results(scored: StoreDrive, root: str) -> None:
    """Several searches in one batch, with other queries, none, other prefixes and limits, each have their own results.

    Async stores collect the searches of many tasks into one batch: one user would get another's answers.
    """
    scored.put((root, "a"), "east", {"text": EAST})
    scored.put((root, "a"), "north", {"text": NORTH})
    scored.put((root, "b"), "up", {"text": UP})
    searches = [
        SearchOp((root, "a"), query=NORTH, limit=1),
        SearchOp((root, "b")),
        SearchOp((root,), query=EAST, limit=1),
        SearchOp((root, "a"), query=NORTH, limit=1, offset=1),
        SearchOp((root,), query=UP, limit=1),
        SearchOp((root, "nowhere"), query=UP),
        SearchOp((root, "a"), limit=10),
        SearchOp((root, "a"), query=NORTH, limit=1),
    ]
    results = [sorted(keys(found)) for found in scored.batch(searches)]
    expected = [["north"], ["up"], ["east"], ["east"], ["up"], [], ["east", "north"], ["north"]]
    expect_same(expected, results, "the keys found by each search of the batch")


@rule(MUST, source="BaseStore.search, BaseStore.asearch", needs="vectors")
def test_searches_at_the_same_time_keep_their_results(scored: StoreDrive, root: str) -> None:
    """Searches that threads or tasks make at the same time each get the answer to their own query.

    One store serves all users of an application.
    """
    for axis in range(8):
        scored.put((root,), str(axis), {"text": vector_text(*[0] * axis, 1)})
    searches = [scored.later.search((root,), query=vector_text(*[0] * axis, 1), limit=1) for axis in range(8)]
    results = [each if isinstance(each, BaseException) else keys(each) for each in scored.together(searches)]
    expect_same([[str(axis)] for axis in range(8)], results, "the keys found by eight searches")


# --- the embedder

FORMS = {"function": INDEXED_FUNCTION, "object": INDEXED}


@rule(MUST, source="IndexConfig.embed", needs="vectors")
@pytest.mark.parametrize("form", FORMS)
def test_the_embedder_may_be_a_function_or_an_object(
    scored: StoreDrive, configured: Configured, root: str, form: str
) -> None:
    """`embed` may be an `Embeddings` object or a function, in both drives.

    The base class documents both.
    """
    store = configured(FORMS[form])
    store.put((root,), "east", {"text": EAST})
    store.put((root,), "north", {"text": NORTH})
    expect_scores({"east": 0.0, "north": 1.0}, store.search((root,), query=NORTH), f"the scores with embed a {form}")


@pytest.fixture
def failing() -> Iterator[str]:
    """A text that cannot be embedded."""
    text = f"unembeddable {fresh_id()}"
    EMBEDDINGS.failing.add(text)
    yield text
    EMBEDDINGS.failing.discard(text)


@rule(SHOULD, source="SqliteStore.batch, PostgresStore.batch: in a transaction; InMemoryStore.batch", needs="vectors")
@pytest.mark.parametrize("way", ["put", "batch", "put again"])
def test_a_failing_embedder_stores_nothing(scored: StoreDrive, root: str, failing: str, way: str) -> None:
    """When the embedder raises, the put raises, nothing of it or its batch is stored, and the store goes on working.

    Embedders are services with limits. An item that is stored without its vector is never found, and nobody is told.
    """
    scored.put((root,), "kept", {"text": EAST, "round": 1})
    ways: dict[str, Callable[[], object]] = {
        "put": lambda: scored.put((root,), "new", {"text": failing}),
        "batch": lambda: scored.batch(
            [PutOp((root,), "new", {"text": NORTH}), PutOp((root,), "too", {"text": failing})]
        ),
        "put again": lambda: scored.put((root,), "kept", {"text": failing, "round": 2}),
    }
    raised = _raised(ways[way])
    expect_true(raised is not None, "a put whose text cannot be embedded", "an exception", "none was raised")
    stored = {each.key: each.value.get("round") for each in scored.search((root,))}
    expect_same({"kept": 1}, stored, "what is stored after it")
    expect_scores({"kept": 1.0}, scored.search((root,), query=EAST), "the scores after it")
    scored.put((root,), "later", {"text": NORTH})
    expect_same(["later"], keys(scored.search((root,), query=NORTH, limit=1)), "the key found of a later put")


def _raised(call: Callable[[], object]) -> Exception | None:
    try:
        call()
    except Exception as error:
        return error
    return None


@rule(SHOULD, source="BaseStore.search", needs="vectors")
def test_a_query_that_cannot_be_embedded_raises(scored: StoreDrive, root: str, failing: str) -> None:
    """When the embedder raises for a query, the search raises, and the store goes on working.

    An empty answer looks as if nothing was known.
    """
    scored.put((root,), "key", {"text": EAST})
    raised = _raised(lambda: scored.search((root,), query=failing))
    expect_true(raised is not None, "a search whose query cannot be embedded", "an exception", "none was raised")
    expect_same(["key"], keys(scored.search((root,), query=EAST)), "the keys found by a later search")


@rule(SHOULD, source="IndexConfig.dims", needs="vectors")
@pytest.mark.parametrize("numbers", [DIMENSIONS + 1, DIMENSIONS * 2], ids=["one more", "twice as many"])
def test_a_vector_of_other_dimensions_is_refused(scored: StoreDrive, root: str, numbers: int) -> None:
    """A put whose embedding has not `dims` numbers raises, stores nothing and harms no later search.

    Another model was configured: every search of the namespace fails, or compares what cannot be compared.
    """
    scored.put((root,), "fits", {"text": EAST})
    raised = _raised(lambda: scored.put((root,), "odd", {"text": vector_text(*[1.0] * numbers)}))
    found = _answer(lambda: scored.search((root,), query=EAST))
    expect_same(
        {"put": "raised", "found": ["fits"]},
        {"put": "raised" if raised else "accepted", "found": found},
        f"a put whose vector has {numbers} numbers where dims is {DIMENSIONS}, and a search after it",
    )


def _answer(call: Callable[[], Sequence[Item]]) -> object:
    try:
        return keys(call())
    except Exception as error:
        return f"{type(error).__name__} raised"


class _Asked(ExactEmbeddings):
    """Notes which of its methods are called."""

    def __init__(self) -> None:
        super().__init__()
        self.methods: set[str] = set()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.methods.add("embed_documents")
        return super().embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        self.methods.add("embed_query")
        return super().embed_query(text)

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        self.methods.add("aembed_documents")
        return await super().aembed_documents(texts)

    async def aembed_query(self, text: str) -> list[float]:
        self.methods.add("aembed_query")
        return await super().aembed_query(text)


_ASKED = _Asked()
ASKED = Configuration("indexed-asked", {"index": {"dims": DIMENSIONS, "embed": _ASKED, "fields": FIELDS}})


def _embeds_asynchronously(store: StoreDrive) -> bool:
    """Whether a store that is configured as ASKED only asks its embedder asynchronously."""
    _ASKED.methods.clear()
    namespace = (fresh_id(),)
    store.put(namespace, "key", {"text": EAST})
    store.search(namespace, query=EAST)
    return all(method.startswith("a") for method in _ASKED.methods)


@rule(MUST, source="IndexConfig.embed: an asynchronous embedding function", needs=("vectors", "async"))
def test_the_embedder_may_be_an_async_function(scored: StoreDrive, configured: Configured, root: str) -> None:
    """`embed` may be an async function, for the async methods.

    The base class documents it.
    """
    if scored.mode == "sync":
        pytest.skip("an async function embeds for the async methods only")
    if not _embeds_asynchronously(configured(ASKED)):
        pytest.skip("its async methods embed synchronously, in a thread")
    store = configured(INDEXED_ASYNC)
    store.put((root,), "east", {"text": EAST})
    store.put((root,), "north", {"text": NORTH})
    expect_scores({"east": 0.0, "north": 1.0}, store.search((root,), query=NORTH), "the scores")


@rule(
    QUIRK,
    source="InMemoryStore.abatch, AsyncSqliteStore.abatch, AsyncPostgresStore.abatch",
    needs=("vectors", "async"),
    officials={
        "InMemoryStore": "asynchronously",
        "AsyncSqliteStore": "asynchronously",
        "AsyncPostgresStore": "asynchronously",
        "PostgresStore": "synchronously",
    },
)
def test_how_the_async_methods_embed(scored: StoreDrive, configured: Configured, observe: Observe) -> None:
    """The async methods ask the embedder asynchronously, or may do it in a thread.

    A synchronous request to a service in the event loop stops every other task meanwhile.
    """
    if scored.mode == "sync":
        pytest.skip("it is about the async methods")
    observe("asynchronously" if _embeds_asynchronously(configured(ASKED)) else "synchronously")


# --- without an index


@rule(MUST, source="BaseStore: without an index configuration, index arguments have no effect")
@pytest.mark.parametrize("index", [False, ["text"], ["a.b[*].c"], ["$"]], ids=["False", "field", "path", "whole"])
def test_without_an_index_the_argument_has_no_effect(store: StoreDrive, root: str, index: Any) -> None:
    """A store without an index takes `index=` of a put and stores the item as ever.

    Code that is written for a store with an index runs with another in tests.
    """
    store.put((root,), "key", {"text": "words"}, index)
    stored = store.get((root,), "key")
    expect_same({"text": "words"}, stored and stored.value, f"the value put with index={shown(index)}")


@rule(SHOULD, source="InMemoryStore, SqliteStore, PostgresStore without an index")
def test_without_an_index_a_query_is_taken(store: StoreDrive, root: str) -> None:
    """A store without an index takes a query, and finds what prefix and filter choose.

    An agent's search tool always sends one.
    """
    store.put((root,), "key", {"text": "words", "kind": "a"})
    store.put((root,), "other", {"text": "words", "kind": "b"})
    expect_same(["key"], keys(store.search((root,), query="words", filter={"kind": "a"})), "the keys found")
