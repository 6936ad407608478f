"""`ReferenceStore` against the contract that its docstring states."""

from __future__ import annotations

import asyncio
import gc
import math
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from enum import Enum, IntEnum
from types import MappingProxyType
from typing import Any

import pytest
from langchain_core.embeddings import Embeddings
from langgraph.store.base import (
    NOT_PROVIDED,
    BaseStore,
    GetOp,
    IndexConfig,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    SearchItem,
    SearchOp,
    TTLConfig,
)
from langgraph_reference.store import ReferenceStore

NS = ("users", "ann")


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2024, 2, 29, 23, 59, tzinfo=timezone.utc)

    def __call__(self) -> datetime:
        return self.now

    def move(self, *, seconds: float = 0, minutes: float = 0) -> None:
        self.now += timedelta(seconds=seconds, minutes=minutes)


VECTORS = {
    "east": [1.0, 0.0],
    "far east": [250.0, 0.0],
    "north": [0.0, 1.0],
    "north-east": [1.0, 1.0],
    "3-4": [3.0, 4.0],
    "west": [-1.0, 0.0],
    "nowhere": [0.0, 0.0],
}
"""Cosines with east: 1, 1, 0, 1/sqrt(2), 0.6, -1 and 0."""


class Compass(Embeddings):
    """Embeds the words of `VECTORS`, and remembers what it was asked and by which method."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str]]] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.asked.append(("documents", list(texts)))
        return [VECTORS[text] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        self.asked.append(("query", [text]))
        return VECTORS[text]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        self.asked.append(("adocuments", list(texts)))
        return [VECTORS[text] for text in texts]

    async def aembed_query(self, text: str) -> list[float]:
        self.asked.append(("aquery", [text]))
        return VECTORS[text]


def compass_store(fields: list[str] | None = None, clock: Clock | None = None) -> ReferenceStore:
    return ReferenceStore(index={"dims": 2, "embed": Compass(), "fields": fields or ["text"]}, clock=clock)


def keys(items: Sequence[Item]) -> list[str]:
    return [item.key for item in items]


def scores(store: BaseStore, query: str, **options: Any) -> dict[str, float | None]:
    return {item.key: item.score for item in store.search((), query=query, **options)}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(clock: Clock) -> ReferenceStore:
    return ReferenceStore(clock=clock)


class TestItems:
    def test_put_then_get(self, store: ReferenceStore, clock: Clock) -> None:
        store.put(NS, "a", {"x": 1})
        assert store.get(NS, "a") == Item(
            value={"x": 1}, key="a", namespace=NS, created_at=clock.now, updated_at=clock.now
        )
        assert store.get(NS, "b") is None
        assert store.get(NS[:1], "a") is None
        assert store.get((*NS, "deeper"), "a") is None

    def test_put_replaces_the_whole_value(self, store: ReferenceStore) -> None:
        store.put(NS, "a", {"x": 1, "y": 2})
        store.put(NS, "a", {"z": 3})
        item = store.get(NS, "a")
        assert item is not None and item.value == {"z": 3}

    def test_times(self, store: ReferenceStore, clock: Clock) -> None:
        created = clock.now
        store.put(NS, "a", {})
        clock.move(seconds=0.05)
        store.put(NS, "a", {})
        updated = clock.now
        clock.move(seconds=5)
        store.search(())
        item = store.get(NS, "a")
        assert item is not None
        assert (item.created_at, item.updated_at) == (created, updated)
        store.delete(NS, "a")
        store.put(NS, "a", {})
        item = store.get(NS, "a")
        assert item is not None and item.created_at == clock.now

    def test_times_of_the_real_clock_are_utc(self) -> None:
        store = ReferenceStore()
        store.put(NS, "a", {})
        item = store.get(NS, "a")
        assert item is not None and item.created_at.tzinfo is timezone.utc
        assert abs(datetime.now(timezone.utc) - item.created_at) < timedelta(seconds=5)

    def test_delete(self, store: ReferenceStore) -> None:
        store.put(NS, "a", {})
        store.delete(NS, "a")
        store.delete(NS, "a")
        store.delete(("never", "was"), "a")
        assert store.get(NS, "a") is None
        assert store.list_namespaces() == []

    @pytest.mark.parametrize("key", ["", ".", "/", "%", "_", "*", "'\"", "é", "e\u0301", "👋", " ", "\n", "A" * 5000])
    def test_keys_are_exact(self, store: ReferenceStore, key: str) -> None:
        store.put(NS, "other", {"own": False})
        store.put(NS, key, {"own": True})
        item = store.get(NS, key)
        assert item is not None and item.key == key and item.value == {"own": True}

    def test_keys_that_are_no_text(self, store: ReferenceStore) -> None:
        key: Any = 7
        store.put(NS, key, {})
        store.batch([PutOp(NS, 8, {})])  # type: ignore[arg-type]
        assert store.get(NS, "7") == store.get(NS, key)
        assert store.get(NS, "8") is not None
        assert store.batch([GetOp(NS, 8)]) == [store.get(NS, "8")]  # type: ignore[arg-type]
        store.delete(NS, key)
        assert keys(store.search(())) == ["8"]


class TestValues:
    @pytest.mark.parametrize(
        "value",
        [
            None, True, 0, -1, 2**70, 10**5000, 1.5, 1e22, math.inf, "", "\x00\x1f\ud800é", [], {}, [[], {"": {}}],
            {"z": 1, "a": 2}, "x" * 200_000,
        ],
        ids=lambda value: type(value).__name__,
    )  # fmt: skip
    def test_json_values_round_trip(self, store: ReferenceStore, value: Any) -> None:
        store.put(NS, "a", {"v": value})
        item = store.get(NS, "a")
        assert item is not None and item.value == {"v": value}
        assert type(item.value["v"]) is type(value)

    def test_floats_stay_what_they_are(self, store: ReferenceStore) -> None:
        store.put(NS, "a", {"zero": -0.0, "nan": math.nan})
        item = store.get(NS, "a")
        assert item is not None
        assert math.copysign(1, item.value["zero"]) == -1
        assert math.isnan(item.value["nan"])

    def test_subclasses_become_plain(self, store: ReferenceStore) -> None:
        class Colour(str, Enum):
            RED = "red"

        class Size(IntEnum):
            BIG = 3

        store.put(
            NS, "a", MappingProxyType({"t": (1, (2,)), "c": Colour.RED, "s": Size.BIG, "m": MappingProxyType({})})
        )
        item = store.get(NS, "a")
        assert item is not None and item.value == {"t": [1, [2]], "c": "red", "s": 3, "m": {}}
        assert [type(value) for value in item.value.values()] == [list, str, int, dict]

    @pytest.mark.parametrize(
        "value",
        [5, "abc", [], {"v": {1}}, {"v": b""}, {"v": object()}, {"v": [{1: 2}]}, {None: 1}, {"v": datetime.max}],
        ids=lambda value: type(value).__name__,
    )
    def test_others_are_rejected_and_the_old_value_stays(self, store: ReferenceStore, value: Any) -> None:
        store.put(NS, "a", {"old": True})
        with pytest.raises(TypeError):
            store.put(NS, "a", value)
        item = store.get(NS, "a")
        assert item is not None and item.value == {"old": True}

    def test_nothing_is_shared_with_callers(self, store: ReferenceStore) -> None:
        given: dict[str, Any] = {"list": [1], "dict": {"x": 1}}
        store.put(NS, "a", given)
        given["list"].append(2)
        given["dict"]["y"] = 2
        got = store.get(NS, "a")
        (found,) = store.search(())
        for item in (got, found):
            assert item is not None
            item.value["list"].append(3)
            item.value["new"] = 1
            item.key = "b"
        again = store.get(NS, "a")
        assert again is not None and again.value == {"list": [1], "dict": {"x": 1}}


BAD_LABELS: list[Any] = [("",), ("a", ""), ("a.b",), ("a", 1), (None,), ("a\x00",)]


class TestNamespaces:
    @pytest.mark.parametrize("namespace", [(), ("langgraph",), ("langgraph", "a"), *BAD_LABELS], ids=repr)
    def test_put_rejects(self, store: ReferenceStore, namespace: Any) -> None:
        with pytest.raises(InvalidNamespaceError):
            store.put(namespace, "a", {})
        with pytest.raises(InvalidNamespaceError):
            asyncio.run(store.aput(namespace, "a", {}))
        assert store.list_namespaces() == []

    @pytest.mark.parametrize("namespace", BAD_LABELS, ids=repr)
    def test_bad_labels_are_rejected_everywhere(self, store: ReferenceStore, namespace: Any) -> None:
        condition = MatchCondition("suffix", namespace)
        calls: list[Callable[[], object]] = [
            lambda: store.get(namespace, "a"),
            lambda: store.delete(namespace, "a"),
            lambda: store.search(namespace),
            lambda: store.list_namespaces(prefix=namespace),
            lambda: store.list_namespaces(suffix=namespace),
            lambda: store.batch([GetOp(namespace, "a")]),
            lambda: store.batch([PutOp(namespace, "a", {})]),
            lambda: store.batch([SearchOp(namespace)]),
            lambda: store.batch([ListNamespacesOp((condition,))]),
        ]
        for call in calls:
            with pytest.raises(InvalidNamespaceError):
                call()

    def test_langgraph_below_the_root_and_reads_of_anything(self, store: ReferenceStore) -> None:
        store.put(("a", "langgraph"), "k", {})
        assert store.get(("langgraph",), "k") is None
        assert store.get((), "k") is None
        assert keys(store.search(())) == ["k"]

    def test_a_namespace_is_a_tuple(self, store: ReferenceStore) -> None:
        with pytest.raises(TypeError):
            store.put(["a"], "k", {})  # type: ignore[arg-type]

    def test_a_prefix_is_of_whole_labels(self, store: ReferenceStore) -> None:
        for name in [("foo",), ("foo", "x"), ("foobar",), ("FOO",), ("x", "foo"), ("f%",), ("*",)]:
            store.put(name, "/".join(name), {})
        assert set(keys(store.search(("foo",)))) == {"foo", "foo/x"}
        assert keys(store.search(("*",))) == ["*"]
        assert keys(store.search(("f%",))) == ["f%"]
        assert store.search(("fo",)) == []

    def test_only_those_with_items_are_listed(self, store: ReferenceStore) -> None:
        store.put(("a",), "k", {})
        store.put(("b",), "k", {})
        store.delete(("b",), "k")
        store.get(("c",), "k")
        store.search(("d",))
        assert store.list_namespaces() == [("a",)]

    def test_documented_example_of_depth(self, store: ReferenceStore) -> None:
        for path in ["abc", "abde", "abdi", "abf", "acf"]:
            store.put(tuple(path), "k", {})
        assert store.list_namespaces(prefix=("a", "b"), max_depth=3) == [("a", "b", c) for c in "cdf"]
        assert store.list_namespaces(prefix=("a", "b"), max_depth=3, limit=1, offset=1) == [("a", "b", "d")]
        assert store.list_namespaces(max_depth=1) == [("a",)]

    @pytest.mark.parametrize(
        ("prefix", "suffix", "expected"),
        [
            (("a", "*"), None, ["ax", "axv", "ayv"]),
            (("*", "x"), None, ["ax", "axv", "bx"]),
            (None, ("*", "v"), ["axv", "ayv"]),
            (None, ("x",), ["ax", "bx"]),
            (("a",), ("v",), ["axv", "ayv"]),
            (("*",) * 3, None, ["axv", "ayv"]),
            (("a", "x", "v", "w"), None, []),
            ((), (), ["ax", "axv", "ayv", "bx"]),
        ],
    )
    def test_prefix_suffix_and_wildcards(
        self,
        store: ReferenceStore,
        prefix: tuple[str, ...] | None,
        suffix: tuple[str, ...] | None,
        expected: list[str],
    ) -> None:
        for path in ["bx", "ayv", "axv", "ax"]:
            store.put(tuple(path), "k", {})
        assert ["".join(name) for name in store.list_namespaces(prefix=prefix, suffix=suffix)] == expected

    def test_pages_are_sorted_by_label(self, store: ReferenceStore) -> None:
        names = [("a!",), ("a", "x"), ("b",), ("a",)]
        for name in names:
            store.put(name, "k", {})
        pages = [store.list_namespaces(limit=1, offset=offset) for offset in range(5)]
        assert [name for page in pages for name in page] == sorted(names)
        assert store.list_namespaces(limit=0) == []

    def test_bad_arguments(self, store: ReferenceStore) -> None:
        wrong: list[dict[str, Any]] = [{"limit": -1}, {"offset": -1}, {"max_depth": -1}]
        for options in wrong:
            with pytest.raises(ValueError, match="negative"):
                store.list_namespaces(**options)
        with pytest.raises(ValueError, match="match type"):
            store.batch([ListNamespacesOp((MatchCondition("infix", ("a",)),))])  # type: ignore[arg-type]


VALUES: dict[str, dict[str, Any]] = {
    "int": {"v": 1},
    "float": {"v": 1.0},
    "true": {"v": True},
    "text": {"v": "1"},
    "big": {"v": 2**53 + 1},
    "none": {"v": None},
    "list": {"v": [1, {"x": None}]},
    "dict": {"v": {"$a": 1, "b": [2]}},
    "nan": {"v": math.nan},
    "dotted": {"v.x": 1},
    "missing": {},
}


class TestFilters:
    @pytest.mark.parametrize(
        ("filter", "expected"),
        [
            ({"v": 1}, "int float"),
            ({"v": True}, "true"),
            ({"v": "1"}, "text"),
            ({"v": 2**53}, ""),
            ({"v": 2**53 + 1}, "big"),
            ({"v": None}, "none"),
            ({"v": (1, {"x": None})}, "list"),
            ({"v": [1, {}]}, ""),
            ({"v": {"$eq": [1, {"x": None}]}}, "list"),
            ({"v": {"$eq": {"$a": 1, "b": [2]}}}, "dict"),
            ({"v": {"b": [2]}}, ""),
            ({"v": {}}, ""),
            ({"v": math.nan}, ""),
            ({"v": {"$ne": 1}}, "true text big none list dict nan"),
            ({"v": {"$gt": 0}}, "int float big"),
            ({"v": {"$gt": float(2**53)}}, "big"),
            ({"v": {"$gte": 1, "$lt": 2}}, "int float"),
            ({"v": {"$lte": 0.5}}, ""),
            ({"v": {"$gt": ""}}, "text"),
            ({"v": {"$lt": None}}, ""),
            ({"v": {"$lt": [9]}}, ""),
            ({"v": {"$lte": True}}, ""),
            ({"v.x": 1}, "dotted"),
            ({"v": 1, "w": 1}, ""),
            ({"nope": {"$gt": 1}}, ""),
            ({"v": {1, 2}}, ""),
            ({}, " ".join(VALUES)),
            (None, " ".join(VALUES)),
        ],
        ids=str,
    )
    def test_filter(self, store: ReferenceStore, filter: dict[str, Any] | None, expected: str) -> None:
        for key, value in VALUES.items():
            store.put(NS, key, value)
        assert set(keys(store.search((), filter=filter, limit=100))) == set(expected.split())

    def test_numbers_are_not_compared_as_text(self, store: ReferenceStore) -> None:
        for number in (9, 10, 100, 2.5):
            store.put(NS, str(number), {"score": number})
        assert set(keys(store.search((), filter={"score": {"$gt": 9.5}}))) == {"10", "100"}

    @pytest.mark.parametrize("condition", [{"$foo": 1}, {"$gt": 1, "plain": 2}], ids=str)
    def test_an_unknown_operator_raises_even_in_an_empty_store(
        self, store: ReferenceStore, condition: dict[str, int]
    ) -> None:
        with pytest.raises(ValueError, match="unknown filter operator"):
            store.search((), filter={"a": condition})


class TestSearch:
    def test_without_a_query(self, store: ReferenceStore, clock: Clock) -> None:
        for key in "abc":
            store.put(NS, key, {})
            clock.move(seconds=1)
        store.put(NS, "a", {})
        items = store.search(NS, query="ignored without an index")
        assert keys(items) == ["a", "c", "b"]
        assert all(type(item) is SearchItem and item.score is None for item in items)

    def test_pages_are_complete(self, store: ReferenceStore) -> None:
        for i in range(25):
            store.put(("n", str(i % 3)), str(i), {"even": i % 2 == 0})
        assert len(store.search(())) == 10
        for filter, count in ((None, 25), ({"even": True}, 13)):
            pages = [store.search((), filter=filter, limit=4, offset=offset) for offset in range(0, 28, 4)]
            everything = [item.key for page in pages for item in page]
            assert len(everything) == len(set(everything)) == count
            assert everything == keys(store.search((), filter=filter, limit=100))

    def test_puts_of_one_instant_come_last_put_first(self, store: ReferenceStore) -> None:
        store.batch([PutOp(NS, key, {}) for key in "abca"])
        assert keys(store.search(())) == ["a", "c", "b"]

    def test_edges(self, store: ReferenceStore) -> None:
        store.put(NS, "a", {})
        assert store.search((), limit=0) == []
        assert store.search((), offset=1) == []
        assert store.search(("unknown",)) == []
        wrong: list[dict[str, Any]] = [{"limit": -1}, {"offset": -1}]
        for options in wrong:
            with pytest.raises(ValueError, match="negative"):
                store.search((), **options)


class TestVectors:
    def test_scores_are_cosines_in_falling_order(self) -> None:
        store = compass_store()
        for text in VECTORS:
            store.put(NS, text, {"text": text})
        items = store.search((), query="east")
        assert [(item.key, item.score) for item in items] == [
            ("east", 1.0),
            ("far east", 1.0),
            ("north-east", pytest.approx(1 / math.sqrt(2))),
            ("3-4", 0.6),
            ("north", 0.0),
            ("nowhere", 0.0),
            ("west", -1.0),
        ]
        assert all(type(item.score) is float for item in items)
        assert set(scores(store, "nowhere").values()) == {0.0}

    def test_ties_by_namespace_then_key_whatever_the_order_of_puts(self) -> None:
        store = compass_store()
        names = [(("b",), "1"), (("a", "z"), "2"), (("a",), "9"), (("a",), "10")]
        store.batch([PutOp(namespace, key, {"text": "east"}) for namespace, key in names])
        expected = sorted(names)
        for limit in range(1, 5):
            found = store.search((), query="north-east", limit=limit)
            assert [(item.namespace, item.key) for item in found] == expected[:limit]

    def test_pages_are_complete_and_an_item_with_many_vectors_is_one(self) -> None:
        store = compass_store(fields=["texts[*]"])
        store.put(NS, "many", {"texts": ["east"] * 15 + ["north"] * 5})
        for i in range(30):
            store.put(("n", str(i % 4)), str(i), {"texts": ["north-east", "west"]})
        pages = [store.search((), query="east", limit=5, offset=offset) for offset in range(0, 35, 5)]
        everything = [item.key for page in pages for item in page]
        assert everything[0] == "many"
        assert len(everything) == len(set(everything)) == 31
        assert {item.score for page in pages for item in page} == {1.0, round(1 / math.sqrt(2), 12)}

    def test_prefix_and_filter_come_before_the_limit(self) -> None:
        store = compass_store()
        for i in range(20):
            store.put(("noise",), str(i), {"text": "east", "ok": False})
        store.put(("a", "b"), "far", {"text": "west", "ok": True})
        store.put(("a",), "near", {"text": "3-4", "ok": False})
        assert scores(store, "east", filter={"ok": True}, limit=1) == {"far": -1.0}
        assert keys(store.search(("a",), query="east", limit=5)) == ["near", "far"]

    def test_unindexed_items_have_no_score(self) -> None:
        store = compass_store()
        store.put(NS, "no", {"text": "east"}, index=False)
        store.put(NS, "none", {"text": None})
        store.put(NS, "other", {})
        store.put(NS, "empty", {"text": "east"}, index=[])
        assert store.search((), query="east") == []
        assert len(store.search(())) == 4

    @pytest.mark.parametrize(
        ("value", "index"),
        [
            ({"text": "east"}, False),
            ({"other": "east"}, None),
            ({"text": "east", "other": "west"}, ["other"]),
            ({"text": "west"}, None),
        ],
    )
    def test_no_vector_survives_a_put(self, value: dict[str, Any], index: Any) -> None:
        store = compass_store(fields=["text", "more[*]"])
        store.put(NS, "a", {"text": "east", "more": ["far east", "east"]})
        store.put(NS, "b", {"text": "north"})
        store.put(NS, "a", value, index=index)
        found = scores(store, "east")
        assert found.pop("b") == 0.0
        assert found in ({}, {"a": -1.0})

    def test_no_vector_survives_a_delete_or_an_expiry(self, clock: Clock) -> None:
        store = compass_store(clock=clock)
        store.put(NS, "deleted", {"text": "east"})
        store.put(NS, "expired", {"text": "east"}, ttl=1)
        store.put(NS, "stays", {"text": "3-4"})
        store.delete(NS, "deleted")
        clock.move(minutes=1)
        assert scores(store, "east", limit=1) == {"stays": 0.6}
        store.put(NS, "deleted", {"text": "east"}, index=False)
        store.put(NS, "expired", {"text": "east"}, index=False)
        assert scores(store, "east") == {"stays": 0.6}

    def test_vectors_stay_with_their_items_through_many_changes(self) -> None:
        store = compass_store(fields=["texts[*]"])
        words = [word for word in VECTORS if word != "nowhere"]
        expected: dict[str, list[str]] = {}
        for step in range(300):
            key = str(step * 7 % 23)
            texts = [words[(step + i) % len(words)] for i in range(step * 5 % 4)]
            if step % 5 == 0:
                store.delete(NS, key)
                expected.pop(key, None)
            else:
                store.put(NS, key, {"texts": texts})
                expected[key] = texts
        cosines = {"east": 1, "far east": 1, "north": 0, "north-east": 1 / math.sqrt(2), "3-4": 0.6, "west": -1}
        assert scores(store, "east", limit=100) == {
            key: pytest.approx(max(cosines[text] for text in texts)) for key, texts in expected.items() if texts
        }

    def test_paths_of_a_put(self) -> None:
        store = compass_store()
        store.put(NS, "a", {"text": "west", "a": {"b": [{"c": "east"}, {"c": "north"}]}}, index=["a.b[*].c"])
        assert scores(store, "east") == {"a": 1.0}
        assert scores(store, "north") == {"a": 1.0}

    def test_a_text_is_no_list_of_paths(self) -> None:
        store = compass_store()
        with pytest.raises(TypeError, match="list of paths"):
            store.put(NS, "a", {"text": "east"}, index="text")  # type: ignore[arg-type]
        assert store.search(()) == []

    @pytest.mark.parametrize("whole", ["put", "config"])
    def test_the_whole_value(self, whole: str) -> None:
        embedded: list[str] = []

        def embed(texts: Sequence[str]) -> list[list[float]]:
            embedded.extend(texts)
            return [[1.0] for _ in texts]

        store = ReferenceStore(index={"dims": 1, "embed": embed, "fields": ["text"] if whole == "put" else None})
        store.put(NS, "a", {"text": "é", "n": [1]}, index=["$"] if whole == "put" else None)
        assert embedded == ['{"n": [1], "text": "é"}']

    def test_only_the_fields_are_embedded_and_each_text_once(self) -> None:
        store = compass_store()
        ops = [
            PutOp(NS, key, {"text": text, "secret": "s"})
            for key, text in zip("abc", ["east", "west", "east"], strict=True)
        ]
        store.batch([PutOp(NS, "a", {"text": "north"}), *ops])
        assert isinstance(store.embeddings, Compass)
        assert store.embeddings.asked == [("documents", ["east", "west"])]
        assert scores(store, "east") == {"a": 1.0, "c": 1.0, "b": -1.0}

    def test_searches_in_a_batch_keep_their_own_results(self) -> None:
        store = compass_store()
        store.put(NS, "e", {"text": "east"})
        store.put(NS, "n", {"text": "north"})
        found: list[Any] = store.batch(
            [SearchOp((), query=query, limit=1) for query in ("north", "east", "north", None, "")]
        )
        assert [[(item.key, item.score) for item in items] for items in found] == [
            [("n", 1.0)], [("e", 1.0)], [("n", 1.0)], [("n", None)], [("n", None)],
        ]  # fmt: skip

    def test_async_calls_use_the_async_embedder(self) -> None:
        store = compass_store()

        async def run() -> list[SearchItem]:
            await store.aput(NS, "a", {"text": "east"})
            return await store.asearch((), query="east")

        assert [item.score for item in asyncio.run(run())] == [1.0]
        assert isinstance(store.embeddings, Compass)
        assert [method for method, _ in store.embeddings.asked] == ["adocuments", "aquery"]

    def test_async_function(self) -> None:
        async def embed(texts: Sequence[str]) -> list[list[float]]:
            await asyncio.sleep(0)
            return [VECTORS[text] for text in texts]

        store = ReferenceStore(index={"dims": 2, "embed": embed, "fields": ["text"]})

        async def run() -> list[SearchItem]:
            await asyncio.gather(*(store.aput(NS, text, {"text": text}) for text in VECTORS))
            return await store.asearch((), query="3-4", limit=1)

        assert keys(asyncio.run(run())) == ["3-4"]
        with pytest.raises(ValueError):
            store.put(NS, "sync", {"text": "east"})
        assert store.get(NS, "sync") is None

    @pytest.mark.parametrize(
        "output",
        [[], [[1.0]], [[1.0, 2.0, 3.0]], [[1.0, 2.0], [1.0, 2.0]], [[math.nan, 1.0]], [[math.inf, 1.0]], [1.0, 2.0]],
        ids=str,
    )
    def test_a_wrong_embedding_stores_nothing(self, output: Any) -> None:
        store = ReferenceStore(index={"dims": 2, "embed": lambda texts: output})
        with pytest.raises(ValueError):
            store.batch([PutOp(NS, "plain", {}, index=False), PutOp(NS, "a", {"x": 1})])
        assert store.search(()) == []

    def test_a_failing_embedder_stores_nothing(self) -> None:
        store = compass_store()
        store.put(NS, "a", {"text": "east"})
        with pytest.raises(KeyError):
            store.put(NS, "a", {"text": "word that it does not know"})
        assert scores(store, "east") == {"a": 1.0}

    def test_extreme_sizes(self) -> None:
        sizes = {"huge": [1e300, 1e300], "tiny": [5e-324, 5e-324]}
        store = ReferenceStore(index={"dims": 2, "embed": lambda texts: [sizes[t] for t in texts], "fields": ["t"]})
        for key in sizes:
            store.put(NS, key, {"t": key})
        assert scores(store, "huge") == {"huge": 1.0, "tiny": 1.0}

    @pytest.mark.parametrize(
        "index",
        [{"dims": 2}, {"embed": Compass()}, {"dims": 0, "embed": Compass()}],
        ids=["no embed", "no dims", "no dimensions"],
    )
    def test_incomplete_config(self, index: IndexConfig) -> None:
        with pytest.raises(ValueError):
            ReferenceStore(index=index)


class TestBatches:
    def test_results_are_in_order_and_reads_come_before_puts(self, store: ReferenceStore) -> None:
        store.put(NS, "a", {"v": 0})
        ops: list[Op] = [
            GetOp(NS, "a"),
            PutOp(NS, "a", {"v": 1}),
            PutOp(("new",), "b", {}),
            GetOp(NS, "a"),
            SearchOp(()),
            ListNamespacesOp(),
            GetOp(("new",), "b"),
        ]
        results: list[Any] = store.batch(op for op in ops)
        assert [getattr(results[i], "value", None) for i in range(4)] == [{"v": 0}, None, None, {"v": 0}]
        assert results[0] is not results[3]
        assert keys(results[4]) == ["a"]
        assert results[5:] == [[NS], None]
        assert store.batch([]) == []

    def test_the_last_put_of_an_item_wins(self, store: ReferenceStore) -> None:
        store.batch(
            [
                PutOp(NS, "a", {"v": 1}),
                PutOp(NS, "b", {"v": 1}),
                PutOp(NS, "c", None),
                PutOp(NS, "a", {"v": 2}),
                PutOp(NS, "b", None),
                PutOp(NS, "c", {"v": 2}),
            ]
        )
        assert {item.key: item.value for item in store.search(())} == {"a": {"v": 2}, "c": {"v": 2}}

    @pytest.mark.parametrize(
        "bad",
        [
            PutOp(NS, "bad", {"v": {1}}),
            PutOp(("a.b",), "bad", {}),
            PutOp(NS, "bad", {}, ttl=math.nan),
            PutOp(NS, "bad", {}, ttl="1"),  # type: ignore[arg-type]
            SearchOp((), filter={"v": {"$foo": 1}}),
            "no operation",
        ],
        ids=str,
    )
    @pytest.mark.parametrize("first", [True, False])
    def test_all_or_nothing(self, store: ReferenceStore, bad: Any, first: bool) -> None:
        store.put(NS, "old", {"v": 1})
        good = [PutOp(NS, "new", {}), PutOp(NS, "old", None)]
        ops = [bad, *good] if first else [*good, bad]
        with pytest.raises((TypeError, ValueError)):
            store.batch(ops)
        with pytest.raises((TypeError, ValueError)):
            asyncio.run(store.abatch(ops))
        assert keys(store.search(())) == ["old"]

    def test_a_failing_batch_refreshes_nothing(self, clock: Clock) -> None:
        store = ReferenceStore(clock=clock)
        store.put(NS, "a", {}, ttl=1)
        clock.move(seconds=30)
        with pytest.raises(TypeError):
            store.batch([GetOp(NS, "a"), PutOp(NS, "b", {"v": {1}})])
        clock.move(seconds=30)
        assert store.get(NS, "a") is None


class TestTTL:
    def test_minutes_exactly(self, store: ReferenceStore, clock: Clock) -> None:
        store.put(NS, "a", {}, ttl=0.02)
        clock.move(seconds=1.199999)
        assert store.get(NS, "a", refresh_ttl=False) is not None
        clock.move(seconds=0.000001)
        assert store.get(NS, "a") is None

    def test_an_expired_item_is_nowhere(self, store: ReferenceStore, clock: Clock) -> None:
        store.put(("short",), "a", {}, ttl=1)
        store.put(("long",), "a", {}, ttl=3)
        clock.move(minutes=1)
        assert store.get(("short",), "a") is None
        assert [item.namespace for item in store.search(())] == [("long",)]
        assert store.list_namespaces() == [("long",)]
        assert store.sweep_ttl() == 1
        assert store.sweep_ttl() == 0
        assert store.list_namespaces() == [("long",)]

    def test_reads_refresh_with_the_item_s_own_ttl(self, store: ReferenceStore, clock: Clock) -> None:
        store.put(NS, "a", {}, ttl=0.5)
        store.put(NS, "b", {}, ttl=2)
        for _ in range(6):
            clock.move(seconds=20)
            assert store.get(NS, "a") is not None
        assert keys(store.search((), filter={})) == ["a"]
        clock.move(seconds=29)
        assert keys(store.search(())) == ["a"]
        clock.move(seconds=29)
        assert store.get(NS, "a") is not None
        clock.move(seconds=30)
        assert store.get(NS, "a") is None

    @pytest.mark.parametrize("config", [None, True, False])
    @pytest.mark.parametrize("call", [None, True, False])
    @pytest.mark.parametrize("read", ["get", "search", "aget", "asearch"])
    def test_the_call_s_word_on_refresh_goes_before_the_store_s(
        self, clock: Clock, config: bool | None, call: bool | None, read: str
    ) -> None:
        ttl: TTLConfig = {} if config is None else {"refresh_on_read": config}
        store = ReferenceStore(clock=clock, ttl=ttl)
        store.put(NS, "a", {}, ttl=1)
        clock.move(seconds=59)
        reads: dict[str, Callable[[], object]] = {
            "get": lambda: store.get(NS, "a", refresh_ttl=call),
            "search": lambda: store.search(NS, refresh_ttl=call),
            "aget": lambda: asyncio.run(store.aget(NS, "a", refresh_ttl=call)),
            "asearch": lambda: asyncio.run(store.asearch(NS, refresh_ttl=call)),
        }
        assert reads[read]()
        clock.move(seconds=59)
        refreshed = call if call is not None else config is not False
        assert (store.get(NS, "a") is not None) is refreshed

    @pytest.mark.parametrize("query", [None, "east"])
    def test_a_search_refreshes_only_what_it_returns(self, clock: Clock, query: str | None) -> None:
        store = compass_store(clock=clock)
        for key in "abcd":
            store.put(NS, key, {"text": "east", "c": key == "c"}, ttl=1)
        order = keys(store.search((), query=query))
        clock.move(seconds=59)
        store.search((), query=query, limit=1, offset=1)
        store.search((), query=query, filter={"c": True}, limit=0)
        clock.move(seconds=59)
        assert keys(store.search((), query=query)) == [order[1]]

    def test_each_get_of_a_batch_has_its_own_refresh(self, store: ReferenceStore, clock: Clock) -> None:
        store.put(NS, "a", {}, ttl=1)
        store.put(NS, "b", {}, ttl=1)
        clock.move(seconds=59)
        store.batch([GetOp(NS, "a", refresh_ttl=True), GetOp(NS, "b", refresh_ttl=False)])
        clock.move(seconds=59)
        assert keys(store.search(())) == ["a"]

    def test_default_ttl(self, clock: Clock) -> None:
        store = ReferenceStore(clock=clock, ttl={"default_ttl": 1, "refresh_on_read": False})
        store.put(NS, "default", {})
        store.put(NS, "longer", {}, ttl=10)
        store.put(NS, "forever", {}, ttl=None)
        store.batch(
            [
                PutOp(NS, "operation", {}),
                PutOp(NS, "operation not provided", {}, ttl=NOT_PROVIDED),  # type: ignore[arg-type]
            ]
        )
        clock.move(minutes=1)
        assert set(keys(store.search(()))) == {"longer", "forever", "operation"}
        clock.move(minutes=9)
        assert set(keys(store.search(()))) == {"forever", "operation"}
        assert store.sweep_ttl() == 3

    def test_a_put_starts_the_life_of_its_own_ttl(self, store: ReferenceStore, clock: Clock) -> None:
        for key in ("none", "not given", "again"):
            store.put(NS, key, {}, ttl=1)
        clock.move(seconds=59)
        store.put(NS, "none", {}, ttl=None)
        store.put(NS, "not given", {})
        store.put(NS, "again", {}, ttl=2)
        clock.move(seconds=119)
        assert len(store.search((), refresh_ttl=False)) == 3
        clock.move(seconds=1)
        assert set(keys(store.search(()))) == {"none", "not given"}

    def test_a_put_after_expiry_is_a_new_item(self, store: ReferenceStore, clock: Clock) -> None:
        store.put(NS, "a", {}, ttl=1)
        clock.move(minutes=1)
        store.put(NS, "a", {}, ttl=1)
        item = store.get(NS, "a")
        assert item is not None and item.created_at == clock.now
        assert store.sweep_ttl() == 0

    @pytest.mark.parametrize("ttl", [0, -1, -1e300, -math.inf])
    def test_over_at_once(self, store: ReferenceStore, ttl: float) -> None:
        store.put(NS, "a", {}, ttl=ttl)
        assert store.get(NS, "a") is None
        assert store.list_namespaces() == []
        assert store.sweep_ttl() == 1

    @pytest.mark.parametrize("ttl", [1e9, 1e300, math.inf])
    def test_longer_than_a_calendar(self, store: ReferenceStore, clock: Clock, ttl: float) -> None:
        store.put(NS, "a", {}, ttl=ttl)
        clock.move(minutes=1e8)
        assert store.get(NS, "a") is not None

    def test_clocks_of_other_zones(self, clock: Clock) -> None:
        zones = iter(timezone(timedelta(hours=hours)) for hours in (9, 0, -11, 5))
        store = ReferenceStore(clock=lambda: clock().astimezone(next(zones)))
        store.put(NS, "a", {}, ttl=1)
        item = store.get(NS, "a")
        assert item is not None and item.created_at.isoformat() == "2024-02-29T23:59:00+00:00"
        clock.move(minutes=1)
        assert store.get(NS, "a") is None


def sweepers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "ttl-sweeper"]


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < end, "it did not happen within 5 seconds"
        time.sleep(0.005)


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
class TestSweeper:
    def test_it_sweeps_starts_once_and_stops(self, clock: Clock) -> None:
        store = ReferenceStore(clock=clock, ttl={"sweep_interval_minutes": 60})
        store.put(NS, "a", {}, ttl=1)
        clock.move(minutes=1)
        future = store.start_ttl_sweeper(0.0001)
        store.start_ttl_sweeper(0.0001)
        assert len(sweepers()) == 1
        wait_until(lambda: not store._spaces)
        assert store.stop_ttl_sweeper(timeout=5) is True
        assert future.result(timeout=0) is None
        assert store.stop_ttl_sweeper() is True
        assert sweepers() == []
        assert store.start_ttl_sweeper() is not future
        store.close()
        assert sweepers() == []

    def test_the_context_stops_it(self) -> None:
        with ReferenceStore(ttl={}) as store:
            store.start_ttl_sweeper()
            assert len(sweepers()) == 1
        assert sweepers() == []

        async def run() -> None:
            async with ReferenceStore(ttl={}) as store:
                store.start_ttl_sweeper()
                assert len(sweepers()) == 1

        asyncio.run(run())
        assert sweepers() == []

    def test_cancelling_its_future_stops_it(self) -> None:
        store = ReferenceStore(ttl={})
        future = store.start_ttl_sweeper()
        assert future.cancel()
        # At once, while the cancelled thread may not have noticed yet.
        assert not store.start_ttl_sweeper().done()
        store.close()
        wait_until(lambda: sweepers() == [])

    @pytest.mark.parametrize(("interval", "sweeps"), [(5, 0), (0.0001, 1)])
    def test_it_does_not_keep_its_store_alive(self, interval: float, sweeps: int) -> None:
        swept: list[datetime] = []

        def clock() -> datetime:
            swept.append(datetime.now(timezone.utc))
            return swept[-1]

        store = ReferenceStore(ttl={}, clock=clock)
        store.start_ttl_sweeper(interval)
        wait_until(lambda: len(swept) >= sweeps)
        reference = weakref.ref(store)
        del store
        gc.collect()
        wait_until(lambda: reference() is None)
        wait_until(lambda: sweepers() == [])

    def test_an_error_ends_it_and_is_in_the_future(self) -> None:
        def broken() -> datetime:
            raise OSError("no clock")

        store = ReferenceStore(ttl={}, clock=broken)
        with pytest.raises(OSError, match="no clock"):
            store.start_ttl_sweeper(0.0001).result(timeout=5)

    def test_without_ttl_config_there_is_none(self) -> None:
        assert ReferenceStore().start_ttl_sweeper(1).result(timeout=0) is None
        assert sweepers() == []

    @pytest.mark.parametrize("interval", [0, -1])
    def test_a_wrong_interval(self, interval: float) -> None:
        with pytest.raises(ValueError, match="interval"):
            ReferenceStore(ttl={}).start_ttl_sweeper(interval)


class TestConcurrency:
    def test_threads(self) -> None:
        store = compass_store()
        words = list(VECTORS)

        def work(worker: int) -> None:
            for i in range(40):
                key = f"{worker}-{i}"
                store.put(("shared", str(i % 2)), key, {"text": words[i % len(words)]})
                assert store.get(("shared", str(i % 2)), key) is not None
                store.search((), query="east", limit=3)
                store.list_namespaces()
                if i % 4 == 0:
                    store.delete(("shared", str(i % 2)), key)
                store.sweep_ttl()

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
        assert len(store.search((), limit=1000)) == 8 * 30
        assert len(scores(store, "east", limit=1000)) == 8 * 30

    def test_a_batch_is_one_step_for_other_threads(self) -> None:
        store = ReferenceStore()
        done = threading.Event()
        seen: set[tuple[int, ...]] = set()

        def watch() -> None:
            while not done.is_set():
                seen.add(tuple({item.value["v"] for item in store.search(NS)}))

        with ThreadPoolExecutor(1) as pool:
            watching = pool.submit(watch)
            for version in range(200):
                store.batch([PutOp(NS, key, {"v": version}) for key in "abcd"])
            done.set()
            watching.result()
        assert all(len(values) <= 1 for values in seen)

    def test_a_slow_embedder_does_not_hold_up_others(self) -> None:
        started, release = threading.Event(), threading.Event()

        def embed(texts: Sequence[str]) -> list[list[float]]:
            started.set()
            assert release.wait(5)
            return [[1.0] for _ in texts]

        store = ReferenceStore(index={"dims": 1, "embed": embed})
        with ThreadPoolExecutor(1) as pool:
            slow = pool.submit(store.put, NS, "slow", {"x": 1})
            assert started.wait(5)
            store.put(NS, "quick", {}, index=False)
            assert keys(store.search(())) == ["quick"]
            release.set()
            slow.result()
        assert set(keys(store.search(()))) == {"quick", "slow"}

    def test_async_equals_sync(self, clock: Clock) -> None:
        store = ReferenceStore(clock=clock)

        async def run() -> None:
            await store.aput(NS, "a", {"v": 1})
            assert await store.aget(NS, "a") == store.get(NS, "a")
            assert await store.asearch((), filter={"v": 1}) == store.search((), filter={"v": 1})
            assert await store.asearch((), filter={"v": True}) == []
            assert await store.alist_namespaces() == [NS]
            await store.adelete(NS, "a")
            assert store.get(NS, "a") is None

        asyncio.run(run())
