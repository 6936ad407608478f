"""Which place is which, and what lists and searches select among them: laws that hold for any namespaces and keys."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from hypothesis import strategies as st
from langgraph.store.base import GetOp, InvalidNamespaceError, Op, PutOp

from langgraph_conformance.drive import StoreDrive
from langgraph_conformance.expect import expect_raises, expect_same
from langgraph_conformance.explore import Explorer
from langgraph_conformance.fixtures import delete_items
from langgraph_conformance.lookalikes import BACKSLASHES, EMPTY, NAMES
from langgraph_conformance.rules import MUST, SHOULD, rule
from langgraph_conformance.suite.properties.choices import SEPARATORS
from langgraph_conformance.threads import fresh_id

Namespace = tuple[str, ...]
Place = tuple[Namespace, str]
"""A namespace and a key."""
DOCUMENTED = "BaseStore.list_namespaces, BaseStore.search: namespace_prefix; MatchCondition"
OFFICIAL = "InMemoryStore, SqliteStore, PostgresStore"
ALL = 1000
"""A limit above what an example puts."""


class Room:
    """What one example puts into a store, below a root of its own.

    Args:
        store: where.
        explorer: whose example it is.
    """

    def __init__(self, store: StoreDrive, explorer: Explorer) -> None:
        self.store, self._explorer, self.root = store, explorer, fresh_id()
        self.numbers: dict[Place, int] = {}
        """What is there: each item has a number of its own."""
        self._used: set[Place] = set()
        self._last = 0

    def write(self, places: Sequence[Place], together: bool, deleted: Collection[Place] = ()) -> None:
        """Put new numbers at these places, or delete what is at them, in one batch or one by one."""
        made: list[PutOp] = []
        for place in places:
            self._last += 1
            made.append(PutOp(*place, None if place in deleted else {"number": self._last, "mark": self.root}))
            self.numbers.pop(place, None)
            self.numbers |= {} if place in deleted else {place: self._last}
        self._used |= set(places)
        if together:
            self.store.batch(made)
            return
        for each in made:
            if each.value is None:
                self.store.delete(each.namespace, each.key)
            else:
                self.store.put(each.namespace, each.key, each.value)

    def expect_got(self, places: Sequence[Place], together: bool) -> None:
        """Each of these places has the item that was put there, if any."""
        if together:
            items = self.store.batch([GetOp(*place) for place in places])
        else:
            items = [self.store.get(*place) for place in places]
        self._explorer.looked()
        expect_same(len(places), len(items), "how many results a batch of gets has")
        expected = {place: self.numbers.get(place) for place in places}
        found = {place: item and item.value["number"] for place, item in zip(places, items, strict=True)}
        expect_same(expected, found, "the numbers of the items that get gives, by place")
        own = [(item.namespace, item.key) for item in items if item is not None]
        expect_same([place for place in places if place in self.numbers], own, "the places that the items name")

    def expect_found(self, prefix: Namespace, **keywords: Any) -> None:
        """A search finds what is below a prefix, each item once."""
        found = self.store.search(prefix, limit=ALL, **keywords)
        self._explorer.looked()
        expected = sorted(
            (place, number) for place, number in self.numbers.items() if place[0][: len(prefix)] == prefix
        )
        numbers = sorted(((item.namespace, item.key), item.value["number"]) for item in found)
        expect_same(expected, numbers, f"places and numbers of what a search of {prefix} finds")

    def expect_listed(self, given: Mapping[str, Any]) -> list[Namespace]:
        """A list gives the namespaces that its conditions select, each once; gives them in their order."""
        found = self.store.list_namespaces(**given, limit=ALL)
        self._explorer.looked()
        expect_same(selected(self.namespaces(), **given), sorted(found), f"what list_namespaces({given}) gives, sorted")
        return found

    def namespaces(self) -> list[Namespace]:
        """Those that have an item."""
        return sorted({namespace for namespace, _ in self.numbers})

    def clean(self) -> None:
        delete_items(self.store, self._used)


@contextlib.contextmanager
def room(store: StoreDrive, explorer: Explorer) -> Iterator[Room]:
    """A room, for the time of an example."""
    opened = Room(store, explorer)
    try:
        with explorer.example(store):
            yield opened
    finally:
        opened.clean()


# -- an independent reading of what is documented


def fits(labels: Namespace, pattern: Namespace) -> bool:
    """Whether as many labels match a pattern as it has, a star being any one."""
    return len(labels) == len(pattern) and all(
        wanted in (label, "*") for wanted, label in zip(pattern, labels, strict=True)
    )


def selected(
    names: Iterable[Namespace], prefix: Namespace = (), suffix: Namespace = (), max_depth: int | None = None
) -> list[Namespace]:
    """What is listed of ``names``, sorted."""
    chosen = {
        name[:max_depth]
        for name in names
        if fits(name[: len(prefix)], prefix) and fits(name[max(0, len(name) - len(suffix)) :], suffix)
    }
    return sorted(chosen)


# -- places

JOINS = [*SEPARATORS, "#", " ", "::", "*", "%"]
SHAPES = "shapes"
KINDS: Mapping[str, Sequence[str]] = {
    SHAPES: [],
    **{f"joined by {by!r}": [f"a{by}b", "a", "b", f"b{by}c", "c", f"a{by}", f"{by}a"] for by in JOINS},
    **NAMES,
    "longer": [f"{'x' * length}{end}" for length in (64, 63) for end in ("1", "2", "", "3")],
    "backslashes": BACKSLASHES,
    "like nothing": [name for name in EMPTY if name],
}
SHAPED: Sequence[Sequence[str]] = [
    "ab",
    "ba",
    "aa",
    "a",
    "b",
    "aab",
    "aba",
    "baa",
    "abcdefg",
    "abcdefh",
    "gfedcba",
    "bc",
]
"""Labels in another order, repeated, and one label too many for a table with a column for each."""


@dataclass(frozen=True)
class Case:
    """What one example writes and reads.

    Attributes:
        start: which of the kind is the first.
        count: how many of them.
        there: bits that say where there is something in the beginning.
        changed: bits that say what is written later.
        ways: bits that say what is done at once.
    """

    start: int
    count: int
    there: int
    changed: int
    ways: int

    def places(self, kind: str, root: str) -> list[Place]:
        if kind == SHAPES:
            return [((root, *labels), key) for labels in SHAPED[: 2 * self.count] for key in ("a", "b")]
        every = KINDS[kind]
        names = [every[(self.start + number) % len(every)] for number in range(min(self.count, len(every)))]
        labels = [name for name in names if name and "." not in name]
        pairs = list(zip(labels, [*labels[1:], *labels[:1]], strict=True))
        places = [
            *(((root,), name) for name in names),
            *(((root, label), "a") for label in labels),
            *(((f"{root}{label}",), "a") for label in labels),
            *(((f"{root}x", root, label), "a") for label in labels),
            *(((root, *pair), pair[0]) for pair in pairs),
            *(((root, second, first), "a") for first, second in pairs),
            *(((root, "x", label), name) for label, name in zip(labels, reversed(names), strict=False)),
        ]
        return list(dict.fromkeys(places))

    def chosen(self, places: Sequence[Place], bits: int) -> list[Place]:
        """Those whose bit is set; the bits are used again and again."""
        return [place for number, place in enumerate(places) if bits >> (number % 11) & 1]

    def way(self, number: int) -> bool:
        return bool(self.ways >> number & 1)


STRIDE = 7
"""From one kind to the next: examples that Hypothesis draws in a row are often alike."""
cases = st.builds(
    Case,
    start=st.integers(0, 15),
    count=st.integers(2, 12),
    there=st.integers(1, 2**11 - 1),
    changed=st.integers(0, 2**11 - 1),
    ways=st.integers(0, 2**6 - 1),
)


@rule(MUST, source="PutOp: namespace and key identify the item; BaseStore.get, search, delete, list_namespaces")
def test_any_two_places_are_apart(store: StoreDrive, explorer: Explorer) -> None:
    """Whatever two namespaces and keys look like, what is written under one is neither seen nor changed by the other.

    Names come from users: folded, trimmed, cut, globbed, or joined to one text, two of them share their memories.
    """

    def check(drawn: tuple[int, list[Case]]) -> None:
        first, each_case = drawn
        for number, case in enumerate(each_case):
            kind = list(KINDS)[(first + STRIDE * number) % len(KINDS)]
            with room(store, explorer) as own:
                check_places(own, case.places(kind, own.root), case)

    explorer.each(st.tuples(st.integers(0, len(KINDS) - 1), st.lists(cases, min_size=1, max_size=6)), check)


def check_places(own: Room, places: Sequence[Place], case: Case) -> None:
    """Write at some of these places, read all, write at some again, and read all again."""
    own.write(case.chosen(places, case.there), together=case.way(0))
    own.expect_listed({"prefix": (own.root,)})
    asked = dict.fromkeys(name[1] for name, _ in places if len(name) > 1 and name[1] != "*")
    for label in list(asked)[:4]:
        own.expect_listed({"prefix": (own.root, label)})
        own.expect_listed({"prefix": (own.root,), "suffix": (label,)})
    for label in (*asked, "*"):
        own.expect_found((own.root, label))
    own.expect_got(places, together=case.way(1))
    changed = case.chosen(places, case.changed)
    if case.way(2):  # official stores differ in what a delete of nothing leaves
        changed = [place for place in changed if place in own.numbers]
    own.write(changed, together=case.way(3), deleted=changed[case.way(5) :: 2] if case.way(2) else ())
    own.expect_found((own.root,))
    own.expect_got(places, together=case.way(4))


# -- lists

LABELS = ["a", "b", "ab", "c"]
"""One begins and ends like others."""


def path(number: int, choice: Sequence[str], shortest: int) -> Namespace:
    """Labels: how many is the remainder by 4, which ones the digits of the rest."""
    rest, length = divmod(number, 4)
    labels = []
    for _ in range(shortest + length):
        rest, one = divmod(rest, len(choice))
        labels.append(choice[one])
    return tuple(labels)


@dataclass(frozen=True)
class Listing:
    """Conditions of a list, as numbers to be read."""

    prefix: int
    suffix: int
    depth: int
    size: int

    def given(self, root: str) -> dict[str, Any]:
        wild = [*LABELS[:2], "*", *LABELS[2:]]
        given: dict[str, Any] = {"prefix": (root, *path(self.prefix, wild, 0)[:2])}
        suffix = path(self.suffix, wild, 0)
        given |= {"suffix": suffix} if suffix else {}
        return given | ({"max_depth": self.depth} if self.depth else {})


trees = st.lists(st.integers(0, 4**5 - 1), min_size=1, max_size=16, unique=True)
listings = st.lists(
    st.builds(
        Listing,
        prefix=st.integers(0, 4 * 5**2 - 1),
        suffix=st.integers(0, 4 * 5**3 - 1),
        depth=st.integers(0, 5),
        size=st.integers(2, 5),
    ),
    min_size=1,
    max_size=6,
)


def explore_lists(store: StoreDrive, explorer: Explorer, shortest: int, more: Callable[[Room, Any], None]) -> None:
    """Lists and searches of trees whose namespaces have at least ``shortest`` labels below the root."""

    def check(drawn: tuple[list[int], list[Listing], bool]) -> None:
        tree, conditions, together = drawn
        with room(store, explorer) as own:
            names = [(own.root, *path(each, LABELS, shortest)) for each in tree]
            own.write([(name, key) for name in dict.fromkeys(names) for key in "kl"], together)
            own.write([((f"{own.root}a", "a"), "k")], together=False)
            for condition in conditions:
                given = condition.given(own.root)
                if shortest and len(given.get("suffix", ())) > shortest + 1:
                    given.pop("suffix")  # what is longer than a namespace does not match it, but that is advice
                whole = own.expect_listed(given)
                starts = range(0, len(whole) + 1, condition.size)
                pages = [store.list_namespaces(**given, limit=condition.size, offset=start) for start in starts]
                what = f"the pages of {condition.size} of list_namespaces({given})"
                sizes = [len(whole[start : start + condition.size]) for start in starts]
                expect_same(sizes, [len(page) for page in pages], f"how many are on {what}")
                expect_same(sorted(whole), sorted(name for page in pages for name in page), f"what is on {what}")
                own.expect_found(given["prefix"][: (*given["prefix"], "*").index("*")])
                more(own, given)

    explorer.each(st.tuples(trees, listings, st.booleans()), check, share=1.5)


@rule(MUST, source=DOCUMENTED)
def test_any_list_gives_the_namespaces_that_its_conditions_select(store: StoreDrive, explorer: Explorer) -> None:
    """Whatever is stored, a list gives what its prefix, suffix, stars and depth select, and its pages are the whole.

    A search of a prefix finds what is in the namespaces that are listed for it. Whoever exports or deletes what belongs
    to a user goes by such a list.
    """
    explore_lists(store, explorer, 2, lambda own, given: None)


@rule(SHOULD, source=f"{OFFICIAL}; {DOCUMENTED}")
def test_any_list_and_search_of_short_names_stay_the_same(store: StoreDrive, explorer: Explorer) -> None:
    """Namespaces that are shorter than a condition are left out, and a list or search that is repeated gives the same.

    A limit of 0 gives nothing; the whole store is searched with `()`. Pages overlap where the order changes.
    """

    def more(own: Room, given: Mapping[str, Any]) -> None:
        expect_same(
            store.list_namespaces(**given, limit=ALL),
            store.list_namespaces(**given, limit=ALL),
            f"list_namespaces({given}), once more",
        )
        expect_same([], store.list_namespaces(**given, limit=0), f"list_namespaces({given}) with limit=0")
        own.expect_found((), filter={"mark": own.root})
        found = [store.search((own.root,), limit=ALL) for _ in range(2)]
        expect_same(found[0], found[1], "a search, once more")
        expect_same([], store.search((own.root,), limit=0), "what a search with limit=0 finds")

    explore_lists(store, explorer, 0, more)


# -- many


@dataclass(frozen=True)
class Crowd:
    """Many items: how many, in how many namespaces."""

    items: int
    spaces: int
    size: int
    together: bool


crowds = st.builds(
    Crowd,
    items=st.sampled_from([130, 260, 26, 101, 60, 21, 11]),
    spaces=st.sampled_from([1, 13, 10**6, 2]),
    size=st.sampled_from([7, 10, 50, 3]),
    together=st.booleans(),
)


@rule(SHOULD, source=f"SearchOp.limit; ListNamespacesOp.limit; {OFFICIAL}")
def test_any_number_of_items_is_stored_found_and_listed(store: StoreDrive, explorer: Explorer) -> None:
    """However many items there are, all are stored, a limit gives as many as it says, and pages give each once.

    What stops at 25, at 100 or at the default page works in every test and fails with the first real user.
    """

    def check(crowd: Crowd) -> None:
        with room(store, explorer) as own:
            single = not crowd.together and crowd.items <= 60
            places = [((own.root, f"space {number % crowd.spaces}"), f"key {number}") for number in range(crowd.items)]
            own.write(places, together=not single)
            names = own.expect_listed({"prefix": (own.root,)})
            expect_same(names[:100], store.list_namespaces(prefix=(own.root,)), "a list without a limit")
            starts = range(0, len(names) + 1, crowd.size)
            pages = [store.list_namespaces(prefix=(own.root,), limit=crowd.size, offset=start) for start in starts]
            expect_same([names[start : start + crowd.size] for start in starts], pages, f"pages of {crowd.size}")
            for limit in (None, 1, 20, 50, 100, 101, 120):
                found = store.search((own.root,), **({} if limit is None else {"limit": limit}))
                expected = min(10 if limit is None else limit, crowd.items)
                expect_same(expected, len(found), f"how many of {crowd.items} items limit={limit} gives")
            own.expect_found((own.root,))
            own.expect_got(places[::-1], together=True)
            if single:  # official stores may order what was put together anew for each page
                found = [
                    item
                    for start in range(0, crowd.items + 1, crowd.size)
                    for item in store.search((own.root,), limit=crowd.size, offset=start)
                ]
                keys = sorted(item.key for item in found)
                expect_same(sorted(key for _, key in places), keys, f"the keys on pages of {crowd.size}")
            own.write(places[1:], together=not single, deleted=places)
            own.expect_found((own.root,))

    explorer.each(crowds, check, share=0.15)


# -- what is refused


INVALID: Sequence[Callable[[str], tuple[Any, ...]]] = [
    lambda root: (root, "a.b"),
    lambda root: (root, "a", ""),
    lambda root: (root, "", "a"),
    lambda root: (root, "a", "."),
    lambda root: (root, ".a"),
    lambda root: (f"{root}.a", "b"),
    lambda root: (root, "a", 1),
    lambda root: (root, None),
    lambda root: (root, "a", True),
    lambda root: (root, b"a"),
    lambda root: (),
    lambda root: ("langgraph",),
    lambda root: ("langgraph", root, "a"),
]
UNUSUAL: Sequence[Callable[[str], Namespace]] = [
    lambda root: (f"langgraph{root}", "a"),
    lambda root: (root, "langgraph"),
    lambda root: ("LangGraph", root),
    lambda root: (f"Langgraph-{root}",),
    lambda root: (root, "__a", "$b", "_id"),
]


@rule(MUST, source="langgraph.store.base: InvalidNamespaceError, _validate_namespace; BaseStore.put")
def test_any_put_in_an_invalid_namespace_is_refused(store: StoreDrive, explorer: Explorer) -> None:
    """Whatever is invalid in a namespace, a put there is refused, reaches no other place, and spoils no later call.

    Labels with periods, empty ones, other types and the reserved root: what is mended silently is read by others.
    """

    def check(drawn: tuple[list[Callable[[str], Any]], list[Callable[[str], Namespace]], int]) -> None:
        refused, taken, way = drawn
        with room(store, explorer) as own:
            neighbours: list[Place] = [
                ((own.root, "a", "b"), "k"),
                ((own.root, "a"), "k"),
                ((own.root,), "k"),
                ((own.root, "1"), "k"),
                ((own.root, "b"), "k"),
            ]
            own.write(neighbours[way % 3 :: 2], together=bool(way & 1))
            for make in refused:
                name = make(own.root)
                expect_raises(InvalidNamespaceError, partial(store.put, name, "k", {"number": 0}), f"put in {name}")
                own.expect_got(neighbours, together=False)
                if any(isinstance(label, str) and label.count(".") for label in name):
                    for call in reads(store, name):
                        found: Any = None
                        with contextlib.suppress(ValueError):
                            found = call()
                        expect_same(None, found or None, f"what is read in {name}")
                own.expect_found((own.root,))
            for other in taken:
                own.write([(other(own.root), "k")], together=bool(way & 2))
            own.expect_got([*own.numbers], together=bool(way & 1))

    explorer.each(
        st.tuples(
            st.lists(st.sampled_from(INVALID), min_size=1, max_size=4, unique=True),
            st.lists(st.sampled_from(UNUSUAL), max_size=3, unique=True),
            st.integers(0, 7),
        ),
        check,
        share=0.5,
    )


def reads(store: StoreDrive, namespace: Any) -> list[Callable[[], Any]]:
    """Calls that must give nothing of what is in another namespace, if they give anything."""

    def batch(operation: Op) -> Any:
        return store.batch([operation])[0]

    return [
        lambda: store.get(namespace, "k"),
        lambda: store.search(namespace),
        lambda: batch(GetOp(namespace, "k")),
        lambda: batch(PutOp(namespace, "k", None)),
    ]
