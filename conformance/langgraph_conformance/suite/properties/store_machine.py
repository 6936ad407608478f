"""A state machine that uses a store as its users do, and compares it with the reference after each read.

It stays where the contract is clear: what official stores do in different ways is neither tried nor looked at. The
`wide` domain adds what is advice only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    SearchItem,
    SearchOp,
)
from langgraph_reference import ReferenceStore

from langgraph_conformance.drive import StoreDrive
from langgraph_conformance.expect import expect_raises, expect_same, expect_true
from langgraph_conformance.explore import Machine, World
from langgraph_conformance.fixtures import delete_items
from langgraph_conformance.lookalikes import BACKSLASHES, NAMES
from langgraph_conformance.suite.properties.choices import JSON, SEPARATORS, TEXTS, pick, picks, some_of
from langgraph_conformance.threads import fresh_id

Namespace = tuple[str, ...]
Place = tuple[Namespace, str]
"""A namespace and a key."""

FIELDS = {"text": TEXTS, "more": ["a", "b"], "data": JSON}
DIGITS = list(range(1, 10))
"""Numbers whose order is the same as text: an official store compares them so."""

values = st.tuples(some_of(**FIELDS), st.sampled_from(DIGITS), st.booleans()).map(
    lambda drawn: {"digit": drawn[1], "flag": drawn[2], **drawn[0]}
)
conditions = st.tuples(st.sampled_from(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]), st.sampled_from(DIGITS)).map(
    lambda drawn: {"digit": {drawn[0]: drawn[1]}}
)
filters = st.one_of(
    st.none(),
    some_of(text=TEXTS, digit=DIGITS),
    some_of(more=["a", "b", "c"], flag=[True, False]),
    conditions,
    st.tuples(conditions, some_of(flag=[True, False])).map(lambda drawn: {**drawn[0], **drawn[1]}),
    st.sampled_from(["a", "é", "%"]).map(lambda text: {"flag": True, "digit": {"$gte": 1}, "text": text}),
)
paths = st.lists(picks, max_size=3) | st.lists(picks, max_size=3) | st.lists(picks, min_size=6, max_size=7)


class StoreMachine(Machine[StoreDrive]):
    """One example: a store in use."""

    def __init__(self, world: World[StoreDrive]) -> None:
        super().__init__(world)
        self.model = ReferenceStore()
        self.stored: dict[Place, None] = {}
        """Where there is an item, the last put last."""
        self.together: set[Place] = set()
        """What was put in one batch: a store may order such items anew for each page."""
        self.emptied: set[Namespace] = set()
        """Namespaces that were asked for or emptied: whether one without items is listed is not clear."""
        self.times: dict[Place, tuple[Any, Any]] = {}
        self.used: set[Place] = set()
        self.unique = fresh_id()
        self.roots = [self.unique]
        self.labels, self.keys = ["a"], ["a"]

    @property
    def store(self) -> StoreDrive:
        """The drive for the next call."""
        return self.next_drive()

    @initialize(
        kind=st.sampled_from(["case", *(kind for kind in NAMES if kind != "case"), "joined", "backslashes"]),
        chosen=st.tuples(st.integers(0, 15), picks, picks),
        turns=st.lists(st.integers(0, 1), min_size=1, max_size=6),
    )
    def begin(self, kind: str, chosen: tuple[int, ...], turns: list[int]) -> None:
        self._turns = turns
        if kind == "joined":
            separator = pick(SEPARATORS, chosen[0])
            texts = [f"a{separator}b", "a", "b", f"b{separator}c", "c"]
        else:
            every = BACKSLASHES if kind == "backslashes" else NAMES[kind]
            steps = (0, 1, chosen[1] + 2, chosen[2] + 3)  # neighbours are those that are alike
            texts = [every[(chosen[0] + step) % len(every)] for step in steps]
            texts.insert(2, f"{texts[0]}1")  # what begins like another one is never far
        self.keys = list(dict.fromkeys([*texts, "a"]))
        # a label has no period, and a star stands for any label where namespaces are listed
        self.labels = [text for text in self.keys if text and "." not in text and text != "*"]
        self.roots = [self.unique, *(f"{self.unique}{label}" for label in self.labels[:2])]

    # -- what there is to choose from

    def namespace(self, path: Sequence[int]) -> Namespace:
        """A namespace: the first number is for its root."""
        root, *rest = path or [0]
        return (pick(self.roots, root), *(pick(self.labels, each) for each in rest))

    def prefix(self, path: Sequence[int]) -> Namespace:
        """A namespace to look below: mostly one that has something, or one above it."""
        if not self.stored or len(path) > 3:
            return self.namespace(path)
        namespace = self.last(sum(path))[0]
        return namespace[: 1 + len(path) % len(namespace)]

    def pattern(self, path: Sequence[int]) -> tuple[str, ...]:
        """Labels of a condition, some of them stars."""
        return tuple("*" if each == 7 else pick(self.labels, each) for each in path)

    def place(self, path: Sequence[int], key: int) -> Place:
        return self.namespace(path), pick(self.keys, key)

    def last(self, number: int) -> Place:
        """A place that has an item."""
        return pick(list(reversed(self.stored)), number)

    # -- comparing

    def compare_item(self, place: Place, model: Item | None, found: Item | None, what: str) -> None:
        self.world.explorer.looked()
        expect_same(form(model), form(found), what)
        if found is not None:
            times = (found.created_at, found.updated_at)
            expect_true(all(isinstance(each, datetime) for each in times), f"the times of {what}", "datetimes", times)
        if found is not None and self.world.wide:
            expect_true(times[0] <= times[1], f"created_at and updated_at of {what}", "no update before it", times)
            expect_same(self.times.setdefault(place, times), times, f"the times of {place} since its last put, {what}")

    def compare_found(self, model: Sequence[Item], found: Sequence[Item], limit: int, offset: int, what: str) -> None:
        """Found items: in no order that is promised, so a page holds as many as it must, of those that match."""
        expected = {(item.namespace, item.key): item for item in model}
        places = [(item.namespace, item.key) for item in found]
        number = max(0, min(limit, len(expected) - offset))
        strange = sorted({place for place in places if place not in expected or places.count(place) > 1})
        self.world.explorer.looked()
        expect_same([], strange, f"what does not match or comes twice in {what}")
        expect_same(number, len(found), f"how many items are in {what}, of {len(expected)} that match")
        for item in found:
            kept = isinstance(item, SearchItem) and item.score is None
            expect_true(kept, f"what {what} gives without a query", "a SearchItem whose score is None", item)
            place = (item.namespace, item.key)
            self.compare_item(place, expected[place], item, f"the item {place} in {what}")

    def compare_listed(
        self, found: list[Namespace], model: Callable[[int, int], Any], limit: int, offset: int, what: str
    ) -> None:
        certain = set(model(10_000, 0))
        self.world.explorer.looked()
        expect_true(len(set(found)) == len(found), what, "each namespace once", found)
        possible = certain | {name[:depth] for name in self.emptied for depth in range(1, len(name) + 1)}
        strange = sorted(set(found) - possible)
        expect_same([], strange, f"namespaces without items in {what}")
        if not self.emptied:
            expect_same(max(0, min(limit, len(certain) - offset)), len(found), f"how many namespaces are in {what}")
        elif offset == 0 and len(found) < limit:
            expect_same([], sorted(certain - set(found)), f"namespaces that are missing in {what}")

    def everything_below(self, prefix: Namespace, filter: dict[str, Any] | None) -> list[Any]:
        return self.model.search(prefix, filter=filter, limit=10_000)

    # -- writing

    @rule(path=paths, key=picks, value=values)
    def put(self, path: list[int], key: int, value: dict[str, Any]) -> None:
        namespace, name = self.place(path, key)
        self.store.put(namespace, name, value)
        self.model.put(namespace, name, value)
        self.note_put(namespace, name)

    @rule(path=paths)
    def put_many(self, path: list[int]) -> None:
        """More items than a search gives by default."""
        namespace = self.namespace(path)
        for each in range(11):
            self.store.put(namespace, f"many {each}", {"digit": 1 + each % 9, "flag": True})
            self.model.put(namespace, f"many {each}", {"digit": 1 + each % 9, "flag": True})
            self.note_put(namespace, f"many {each}")

    @precondition(lambda self: self.stored)
    @rule(which=picks, value=values)
    def put_again(self, which: int, value: dict[str, Any]) -> None:
        namespace, name = self.last(which)
        self.store.put(namespace, name, value)
        self.model.put(namespace, name, value)
        self.note_put(namespace, name)

    def note_put(self, namespace: Namespace, key: str) -> None:
        self.stored.pop((namespace, key), None)
        self.stored[namespace, key] = None
        self.used.add((namespace, key))
        self.together.discard((namespace, key))
        self.times.pop((namespace, key), None)
        self.emptied.discard(namespace)

    @rule(path=paths, label=st.sampled_from(["a.b", "", ".", "a.", None]))
    def put_refused(self, path: list[int], label: Any) -> None:
        """An invalid label: no call after it may suffer."""
        namespace = (*self.namespace(path), label)
        what = f"put in {namespace}"
        expect_raises(InvalidNamespaceError, partial(self.store.put, namespace, "a", {"digit": 1}), what)
        if self.stored:
            place = self.last(0)
            self.compare_item(
                place, self.model.get(*place), self.store.get(*place), f"get of {place} after a refused put"
            )

    @precondition(lambda self: self.world.wide)
    @rule(path=paths, key=picks)
    def put_unusual(self, path: list[int], key: int) -> None:
        """Two puts of an item in a batch that can be looked through once, an empty batch, a query with no index."""
        namespace, name = self.place(path, key)
        operations = [PutOp(namespace, name, {"digit": number}) for number in (3, 2)]
        self.store.batch(each for each in operations)
        self.model.batch(operations)
        self.note_put(namespace, name)
        expect_same([], self.store.batch([]), "the results of an empty batch")
        found = self.store.search(namespace, query="a", limit=100)
        self.compare_found(self.everything_below(namespace, None), found, 100, 0, f"search of {namespace} for a query")

    @precondition(lambda self: self.stored)
    @rule(which=picks)
    def delete(self, which: int) -> None:
        namespace, name = self.last(which)
        self.store.delete(namespace, name)
        self.model.delete(namespace, name)
        self.note_delete(namespace, name)

    @precondition(lambda self: self.world.wide)
    @rule(path=paths, key=picks)
    def delete_any(self, path: list[int], key: int) -> None:
        """Of what need not be there."""
        namespace, name = self.place(path, key)
        self.store.delete(namespace, name)
        self.model.delete(namespace, name)
        self.note_delete(namespace, name)

    def note_delete(self, namespace: Namespace, key: str) -> None:
        self.stored.pop((namespace, key), None)
        self.times.pop((namespace, key), None)
        if not any(place[0] == namespace for place in self.stored):
            self.emptied.add(namespace)

    def note_read(self, namespace: Namespace) -> None:
        if not any(place[0] == namespace for place in self.stored):
            self.emptied.add(namespace)

    # -- reading

    @rule(path=paths, key=picks, there=st.booleans())
    def get(self, path: list[int], key: int, there: bool) -> None:
        place = self.last(key) if there and self.stored else self.place(path, key)
        found = self.store.get(*place)
        self.note_read(place[0])
        self.compare_item(place, self.model.get(*place), found, f"get of {place}")

    @rule(
        path=paths,
        filter=filters,
        limit=st.sampled_from([10, 1, 2, 3, 100]),
        offset=st.sampled_from([0, 0, 1, 2, 50]),
        like=st.integers(-4, 3),
    )
    def search(self, path: list[int], filter: dict[str, Any] | None, limit: int, offset: int, like: int) -> None:
        prefix = self.prefix(path)
        item = self.model.get(*self.last(limit)) if like >= 0 and self.stored else None
        if item is not None:  # a filter that something meets
            name = pick([name for name in ("digit", "flag", "text", "more") if name in item.value], like)
            filter = {**(filter or {}), name: item.value[name]}
        given: dict[str, Any] = {} if filter is None else {"filter": filter}
        given |= {} if limit == 10 else {"limit": limit}
        given |= {"offset": offset} if offset else {}
        found = self.store.search(prefix, **given)
        self.compare_found(self.everything_below(prefix, filter), found, limit, offset, f"search of {prefix}, {given}")

    @rule(path=paths, filter=filters, size=st.integers(1, 3))
    def pages(self, path: list[int], filter: dict[str, Any] | None, size: int) -> None:
        """All pages of a search hold each match once."""
        prefix, found, what = self.prefix(path), [], ""
        expected = self.everything_below(prefix, filter)
        if self.together & {(item.namespace, item.key) for item in expected}:
            return
        for offset in range(0, len(expected) + 1, size):
            found += self.store.search(prefix, filter=filter, limit=size, offset=offset)
        what = f"the pages of {size} of a search of {prefix} with filter={filter}"
        self.compare_found(expected, found, 10_000, 0, what)

    @rule(
        path=paths,
        suffix=st.lists(picks, max_size=2),
        depth=st.sampled_from([None, 1, 2, 3]),
        limit=st.sampled_from([100, 1, 2]),
        offset=st.sampled_from([0, 0, 1, 2]),
    )
    def list_namespaces(self, path: list[int], suffix: list[int], depth: int | None, limit: int, offset: int) -> None:
        root, *rest = path or [0]
        given: dict[str, Any] = {"prefix": self.prefix(path)}
        if 7 in rest:
            given["prefix"] = (pick(self.roots, root), *self.pattern(rest))
        given |= {"suffix": self.pattern(suffix)} if suffix else {}
        given |= {} if depth is None else {"max_depth": depth}
        if len(given["prefix"]) > 1 and not self.world.wide:
            given.pop("suffix", None)  # what is longer than a namespace does not match it, but that is advice
        page: dict[str, Any] = {} if limit == 100 else {"limit": limit}
        page |= {"offset": offset} if offset else {}
        found = self.store.list_namespaces(**given, **page)
        self.compare_listed(found, self.listing(**given), limit, offset, f"list_namespaces({given | page})")

    def listing(self, **given: Any) -> Callable[[int, int], list[Namespace]]:
        """Gives a page of what the model lists."""
        return lambda limit, offset: self.model.list_namespaces(**given, limit=limit, offset=offset)

    @rule(
        operations=st.lists(
            st.tuples(st.sampled_from(["put", "get", "search", "delete", "list"]), paths, picks, values),
            min_size=1,
            max_size=6,
        )
    )
    def batch(self, operations: list[tuple[str, list[int], int, dict[str, Any]]]) -> None:
        """Several operations at once; in the narrow domain none is about what another one writes."""
        made: list[Op] = []
        written: set[Place] = set()
        for kind, path, key, value in operations:
            place = self.last(key) if self.stored and not path else self.place(path, key)
            if kind in ("put", "delete"):
                if (place in written and not self.world.wide) or (kind == "delete" and place not in self.stored):
                    continue
                written.add(place)
                made.append(PutOp(*place, value if kind == "put" else None))
            elif kind == "get":
                made.append(GetOp(*place))
            elif kind == "search":
                made.append(SearchOp(place[0], limit=100))
            else:
                made.append(ListNamespacesOp((MatchCondition("prefix", place[0]),), limit=100))
        if not self.world.wide:
            made = [each for each in made if isinstance(each, PutOp) or not touches(each, written)]
        if not made:
            return
        found = self.store.batch(made)
        for each in made:
            if isinstance(each, GetOp):
                self.note_read(each.namespace)
        emptied = set(self.emptied)
        expected = self.model.batch(made)
        self.world.explorer.looked()
        expect_same(len(made), len(found), "how many results a batch has")
        for operation, model, result in zip(made, expected, found, strict=True):
            self.compare_result(operation, model, result, emptied)
        for each in made:
            if isinstance(each, PutOp):
                (self.note_delete if each.value is None else self.note_put)(each.namespace, each.key)
        self.together |= {(each.namespace, each.key) for each in made if isinstance(each, PutOp)}

    def compare_result(self, operation: Op, model: Any, result: Any, emptied: set[Namespace]) -> None:
        what = f"the result of {operation} in a batch"
        if isinstance(operation, GetOp):
            self.compare_item((operation.namespace, operation.key), model, result, what)
        elif isinstance(operation, SearchOp):
            self.compare_found(model, result, 100, 0, what)
        elif isinstance(operation, ListNamespacesOp):
            expect_same(sorted(set(model) - emptied), sorted(set(result) - emptied), what)
        else:
            expect_same(None, result, what)

    # -- the end of an example

    def finish(self) -> None:
        for root in self.roots:
            with self.shown_if_it_fails():
                found = self.store.search((root,), limit=1000)
                expected = self.everything_below((root,), None)
                self.compare_found(expected, found, 1000, 0, f"all below {root!r}")
            with self.shown_if_it_fails():
                listed = self.store.list_namespaces(prefix=(root,), limit=1000)
                self.compare_listed(listed, self.listing(prefix=(root,)), 1000, 0, f"all namespaces below {root!r}")
        for place in sorted(self.used):
            with self.shown_if_it_fails():
                self.compare_item(place, self.model.get(*place), self.store.get(*place), f"get of {place}")

    def clean(self) -> None:
        delete_items(self._drives[0], self.stored)


def form(item: Item | None) -> Any:
    """What is looked at of an item; its times are judged apart."""
    return None if item is None else {"namespace": item.namespace, "key": item.key, "value": item.value}


def touches(operation: Op, written: set[Place]) -> bool:
    """Whether a read is about something that is written in the same batch."""
    if isinstance(operation, GetOp):
        return (operation.namespace, operation.key) in written
    prefix = operation.namespace_prefix if isinstance(operation, SearchOp) else operation.match_conditions[0].path  # type: ignore[union-attr,index]
    return any(namespace[: len(prefix)] == tuple(prefix) for namespace, _ in written)
