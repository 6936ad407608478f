"""search, without vectors."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from langgraph.store.base import Item, PutOp, SearchItem

from langgraph_conformance.drive import StoreDrive
from langgraph_conformance.errors import Blocked
from langgraph_conformance.expect import expect_same, expect_true
from langgraph_conformance.lookalikes import LOOKALIKES
from langgraph_conformance.rules import MUST, QUIRK, SHOULD, rule
from langgraph_conformance.suite.store.items import storable
from langgraph_conformance.threads import fresh_id

OFFICIAL = "InMemoryStore, SqliteStore, PostgresStore"

Name = tuple[str, ...]
Value = dict[str, Any]

WHERE: list[Name] = [(), ("a",), ("b", "c"), ("a", "d"), ("b",)]
"""Labels behind a check's own: its items are spread over these, so that no rule holds for one namespace only."""


def spread(root: str, count: int) -> list[tuple[Name, str, Value]]:
    """``count`` items in several namespaces below ``root``; every second one is red."""
    return [
        ((root, *WHERE[n % len(WHERE)]), f"k{n:03}", {"n": n, "digit": n % 10, "colour": "red" if n % 2 else "blue"})
        for n in range(count)
    ]


def put_each(store: StoreDrive, items: Iterable[tuple[Name, str, Value]]) -> None:
    """Put items one after the other."""
    for namespace, key, value in items:
        store.put(namespace, key, value)


def put_together(store: StoreDrive, items: Iterable[tuple[Name, str, Value]]) -> None:
    """Put items in one batch."""
    store.batch([PutOp(namespace, key, value) for namespace, key, value in items])


def put_in(store: StoreDrive, namespaces: Iterable[Name]) -> None:
    """Put one item in each namespace."""
    put_together(store, [(namespace, "k", {"n": n}) for n, namespace in enumerate(namespaces)])


def keys_of(found: Iterable[Item]) -> list[str]:
    """The keys, in the order found."""
    return [each.key for each in found]


def names_of(found: Iterable[Item]) -> list[Name]:
    """The namespaces, sorted."""
    return sorted(each.namespace for each in found)


# --- what a search gives


@rule(MUST, source="BaseStore.search: list[SearchItem]")
@pytest.mark.parametrize("keywords", [{}, {"filter": {"n": 1}}, {"limit": 1}], ids=["plain", "filter", "limit"])
def test_a_hit_is_a_search_item(store: StoreDrive, root: str, keywords: dict[str, Any]) -> None:
    """`search` gives `SearchItem` objects, with a query and without.

    Code that shows results reads `score` from each of them, and an `Item` or a dict has none.
    """
    store.put((root,), "k", {"n": 1})
    found = store.search((root,), **keywords)
    expect_same([True], [isinstance(each, SearchItem) for each in found], "whether the hits are SearchItem objects")


@rule(MUST, source="SearchItem: score if from a ranked operation")
@pytest.mark.parametrize("keywords", [{}, {"filter": {"n": 1}}], ids=["plain", "filter"])
def test_without_a_query_there_is_no_score(store: StoreDrive, root: str, keywords: dict[str, Any]) -> None:
    """The score of a hit is None when the search had no query.

    Any number would be taken for a measure of relevance: 0.0 is dropped by a threshold, 1.0 is put first.
    """
    put_each(store, [((root,), key, {"n": 1}) for key in ("a", "b")])
    found = store.search((root,), **keywords)
    expect_same([None, None], [getattr(each, "score", None) for each in found], "the scores")


@rule(MUST, source="BaseStore.search; SearchItem")
def test_a_hit_holds_what_get_gives(store: StoreDrive, root: str) -> None:
    """A hit has the namespace, the key, the whole value and the times that `get` gives for the item.

    Applications use hits as they are, without reading each item again, and address the item with what the hit says.
    """
    value = {"text": "x", "list": [1, {"a": None}], "dict": {"a": {"b": True}}, "long": "é" * 5000, "empty": {}}
    store.put((root, "a", "b"), "k", value)
    (read, found) = (store.get((root, "a", "b"), "k"), store.search((root,)))
    fields = ("namespace", "key", "value", "created_at", "updated_at")
    expect_same(
        [{"namespace": (root, "a", "b"), "key": "k", "value": value, **_fields(read, "created_at", "updated_at")}],
        [_fields(each, *fields) for each in found],
        "the hits",
    )


def _fields(item: Item | None, *names: str) -> dict[str, Any]:
    return {name: getattr(item, name) for name in names}


@rule(MUST, source="SearchItem.dict")
def test_a_hit_can_be_written_as_json(store: StoreDrive, root: str) -> None:
    """`SearchItem.dict()` works: namespace as a list, key, value, ISO times and score, all of it JSON.

    Servers send hits to browsers that way.
    """
    store.put((root, "a"), "k", {"n": 1})
    (found,) = store.search((root,))
    described = json.loads(json.dumps(found.dict()))
    expect_same(
        {
            "namespace": [root, "a"],
            "key": "k",
            "value": {"n": 1},
            "created_at": found.created_at.isoformat(),
            "updated_at": found.updated_at.isoformat(),
            "score": None,
        },
        described,
        "the hit's dict()",
    )


@rule(MUST, source="BaseStore.search: list[SearchItem]")
def test_what_was_found_is_a_list_of_its_own(store: StoreDrive, root: str) -> None:
    """`search` returns a list that is complete: what happens to the store afterwards does not change it.

    A lazy result reads the database later, after other writes or when the connection is closed.
    """
    put_each(store, [((root,), key, {"n": 1}) for key in ("a", "b")])
    found = store.search((root,))
    is_list = isinstance(found, list)
    store.delete((root,), "a")
    store.put((root,), "c", {"n": 1})
    store.put((root,), "b", {"n": 2})
    expect_same(
        {"is a list": True, "items": [("a", {"n": 1}), ("b", {"n": 1})]},
        {"is a list": is_list, "items": sorted((each.key, each.value) for each in found)},
        "what was found before items were deleted, added and changed",
    )


@rule(SHOULD, source="BaseStore: a store keeps what was put; SqliteStore, PostgresStore")
@pytest.mark.parametrize("part", ["value", "inside", "list"])
@pytest.mark.parametrize("reader", ["get", "search"])
def test_changing_a_hit_changes_nothing_stored(store: StoreDrive, root: str, part: str, reader: str) -> None:
    """A hit's value belongs to the caller: changing it changes neither the store nor later hits.

    A node that edits what it found, for a prompt, would edit the memory of all users of the item.
    """
    value: Value = {"n": 1, "inside": {"a": 1}, "list": [1]}
    store.put((root,), "k", copy.deepcopy(value))
    (found,) = store.search((root,))
    changes: dict[str, Callable[[], object]] = {
        "value": lambda: found.value.update(n=2),
        "inside": lambda: found.value["inside"].update(a=2),
        "list": lambda: found.value["list"].append(2),
    }
    changes[part]()
    item = store.get((root,), "k") if reader == "get" else store.search((root,))[0]
    expect_same(value, item.value if item else None, f"the value that {reader} gives after a hit was changed")


@rule(MUST, source="BaseStore.put, BaseStore.delete, BaseStore.search")
def test_a_search_sees_the_last_puts_and_deletes(store: StoreDrive, root: str) -> None:
    """A search finds what is stored now: a replaced item once, with its new value, and no deleted one.

    An index or a cache beside the data that is not kept up to date shows what users have corrected or deleted.
    """
    put_each(store, [((root,), key, {"n": 1, "old": True}) for key in ("kept", "replaced", "deleted", "revived")])
    store.search((root,))
    store.put((root,), "replaced", {"n": 2})
    store.delete((root,), "deleted")
    store.delete((root,), "revived")
    store.put((root,), "revived", {"n": 3})
    store.put((root,), "added", {"n": 4})
    expect_same(
        [("added", {"n": 4}), ("kept", {"n": 1, "old": True}), ("replaced", {"n": 2}), ("revived", {"n": 3})],
        sorted((each.key, each.value) for each in store.search((root,))),
        "the items found",
    )


@rule(MUST, source="PutOp: namespace and key identify the item")
def test_items_of_one_key_are_all_found(store: StoreDrive, root: str) -> None:
    """Items that have the same key in several namespaces are all found, each with its own namespace and value.

    Every user's profile is called `profile`: a search over all users must give all of them.
    """
    names = [(root,), (root, "a"), (root, "a", "b"), (root, "c")]
    put_in(store, names)
    expect_same(
        [(name, {"n": n}) for n, name in enumerate(names)],
        sorted((each.namespace, each.value) for each in store.search((root,))),
        "the namespaces and values of the items called 'k'",
    )


# --- limit and offset


@rule(MUST, source="SearchOp.limit: 10, SearchOp.offset: 0")
@pytest.mark.parametrize("filter", [None, {"colour": "red"}], ids=["", "filter"])
def test_without_a_limit_ten_are_found(store: StoreDrive, root: str, filter: dict[str, Any] | None) -> None:
    """A search without a limit gives at most ten items, and all of them when there are no more.

    Callers that page rely on it; one that gets everything fills its prompt with a whole database.
    """
    put_together(store, spread(root, 25))
    few = fresh_id()
    put_together(store, spread(few, 9))
    keywords = {"filter": filter} if filter else {}
    expect_same(
        {"many": 10, "few": 4 if filter else 9},
        {"many": len(store.search((root,), **keywords)), "few": len(store.search((few,), **keywords))},
        "how many are found without a limit",
    )


@rule(MUST, source="SearchOp.limit: maximum number of items to return")
@pytest.mark.parametrize("limit", [1, 4, 5, 6, 100])
@pytest.mark.parametrize("filter", [None, {"kept": True}], ids=["", "filter"])
def test_a_limit_is_kept(store: StoreDrive, root: str, limit: int, filter: dict[str, Any] | None) -> None:
    """`limit` gives at most that many items, and that many when there are more.

    Too many break the caller's budget, too few look like the end of the data.
    """
    put_together(store, [(name, key, {**value, "kept": True}) for name, key, value in spread(root, 5)])
    found = keys_of(store.search((root,), limit=limit, **({"filter": filter} if filter else {})))
    expect_same(
        {"found": min(limit, 5), "different": min(limit, 5)},
        {"found": len(found), "different": len(set(found))},
        f"how many of five are found with limit={limit}",
    )


@rule(MUST, source="SearchOp.limit: maximum number of items to return")
@pytest.mark.parametrize(
    ("count", "limits", "size"),
    [(30, (25, 30), 0), (260, (120, 255, 1000), 0), (30, (30,), 50_000)],
    ids=["30", "260", "long values"],
)
def test_a_high_limit_is_met(store: StoreDrive, root: str, count: int, limits: Sequence[int], size: int) -> None:
    """A limit above what the database gives at once, by number or by size, is met all the same.

    Databases answer in pages (10, 100, 250 rows, 1 MB): a store that takes only the first drops the rest unnoticed.
    """
    items = [(name, key, {**value, "long": "x" * size}) for name, key, value in spread(root, count)]
    put_together(store, items)
    found = {limit: keys_of(store.search((root,), limit=limit)) for limit in limits}
    expect_same(
        {limit: {"found": min(limit, count), "different": min(limit, count)} for limit in limits},
        {limit: {"found": len(keys), "different": len(set(keys))} for limit, keys in found.items()},
        f"how many of {count} are found, by the limit",
    )


@rule(SHOULD, source=OFFICIAL)
@pytest.mark.parametrize("keywords", [{}, {"filter": {"colour": "red"}}, {"offset": 1}], ids=["", "filter", "offset"])
def test_limit_0_gives_nothing(store: StoreDrive, root: str, keywords: dict[str, Any]) -> None:
    """`limit=0` gives no items: it does not mean "no limit" and not the default.

    A caller whose budget is used up asks for none.
    """
    put_together(store, spread(root, 3))
    expect_same([], keys_of(store.search((root,), limit=0, **keywords)), "the keys found with limit=0")


@rule(MUST, source="SearchOp.offset: number of matching items to skip for pagination")
@pytest.mark.parametrize("filter", [None, {"colour": "red"}, {"digit": {"$gte": 5}}], ids=["", "equal", "operator"])
@pytest.mark.parametrize("size", [1, 4, 10])
def test_pages_give_every_item_once(store: StoreDrive, root: str, size: int, filter: dict[str, Any] | None) -> None:
    """Pages by limit and offset give every matching item exactly once, and full pages up to the last.

    Whoever exports or shows a collection page by page misses what falls between two pages and gets others twice.
    """
    items = spread(root, 10 if size == 1 else 25)
    put_each(store, items)
    wanted = [
        key
        for _, key, value in items
        if filter is None or filter.get("colour") == value["colour"] or ("digit" in filter and value["digit"] >= 5)
    ]
    pages = [
        keys_of(store.search((root,), limit=size, offset=offset, **({"filter": filter} if filter else {})))
        for offset in range(0, len(items) + size, size)
    ]
    expect_same(
        {
            "keys": wanted,
            "sizes": [max(0, min(size, len(wanted) - start)) for start in range(0, size * len(pages), size)],
        },
        {"keys": sorted(key for page in pages for key in page), "sizes": [len(page) for page in pages]},
        f"what pages of {size} gave",
    )


@rule(SHOULD, source="SearchOp.offset: number of matching items to skip for pagination")
@pytest.mark.parametrize("size", [4, 10])
def test_pages_of_what_was_put_together_give_every_item_once(store: StoreDrive, root: str, size: int) -> None:
    """Pages are as complete for items that were put in one batch.

    They share a time: a store that sorts by it alone may give equal ones in another order on each page.
    """
    items = [((root,), f"k{n * 7 % 60:03}", {"n": n}) for n in range(60)]
    put_together(store, items)
    pages = [keys_of(store.search((root,), limit=size, offset=offset)) for offset in range(0, 60, size)]
    expect_same(
        sorted(key for _, key, _ in items),
        sorted(key for page in pages for key in page),
        f"the keys that pages of {size} gave",
    )


@rule(MUST, source="SearchOp.offset: number of matching items to skip for pagination")
@pytest.mark.parametrize(
    ("keywords", "number"),
    [
        ({"offset": 0}, 7),
        ({"offset": 5}, 2),
        ({"offset": 6}, 1),
        ({"offset": 7}, 0),
        ({"offset": 8}, 0),
        ({"offset": 1000}, 0),
        ({"offset": 5, "limit": 100}, 2),
        ({"offset": 7, "limit": 1}, 0),
        ({"offset": 2, "filter": {"colour": "red"}}, 1),
        ({"offset": 3, "filter": {"colour": "red"}}, 0),
    ],
    ids=["0", "5", "last", "end", "past", "far", "high limit", "low limit", "filter", "filter end"],
)
def test_an_offset_skips_that_many(store: StoreDrive, root: str, keywords: dict[str, Any], number: int) -> None:
    """`offset` leaves out that many of the matching items, and past the end there is nothing.

    A loop over pages ends when one is empty: a store that starts anew, or raises, never lets it end.
    """
    put_together(store, spread(root, 7))
    expect_same(number, len(store.search((root,), **keywords)), f"how many of seven are found with {keywords}")


@rule(MUST, source="SearchOp.limit, SearchOp.offset: matching items")
@pytest.mark.parametrize("position", ["first", "middle", "last"])
@pytest.mark.parametrize("by", ["filter", "operator", "prefix", "both"])
def test_limit_and_offset_count_what_matches(store: StoreDrive, root: str, by: str, position: str) -> None:
    """`limit` and `offset` count items that match prefix and filter: others take no place.

    A search for something rare would come back empty because the first ten items of the database are something else.
    """
    start = {"first": 0, "middle": 18, "last": 37}[position]
    items = []
    for n in range(40):
        rare = start <= n < start + 3
        namespace = (root, "rare" if rare and by in ("prefix", "both") else "often")
        items.append((namespace, f"k{n:03}", {"colour": "red" if rare else "blue", "n": 5 if rare else 1}))
    put_together(store, items)
    prefix = (root, "rare") if by in ("prefix", "both") else (root,)
    filters: dict[str, dict[str, Any]] = {
        "filter": {"filter": {"colour": "red"}},
        "operator": {"filter": {"n": {"$gt": 3}}},
        "prefix": {},
        "both": {"filter": {"colour": "red"}},
    }
    wanted = {f"k{n:03}" for n in range(start, start + 3)}
    pages = [{"limit": 2}, {"limit": 5}, {"limit": 2, "offset": 2}]
    found = {str(page): set(keys_of(store.search(prefix, **filters[by], **page))) for page in pages}
    expect_same(
        {str(page): {"found": number, "others": []} for page, number in zip(pages, (2, 3, 1), strict=True)},
        {page: {"found": len(keys), "others": sorted(keys - wanted)} for page, keys in found.items()},
        "what is found of three among forty",
    )


@rule(
    QUIRK,
    source=f"SearchOp.limit, SearchOp.offset; {OFFICIAL}",
    officials={
        "InMemoryStore": "limit=-1 gives 2 of 3, offset=-1 gives 1 of 3",
        "SqliteStore": "limit=-1 gives 3 of 3, offset=-1 gives 3 of 3",
        "PostgresStore": "limit=-1 raises, offset=-1 raises",
    },
)
def test_a_negative_limit_or_offset(store: StoreDrive, root: str, observe: Callable[[object], None]) -> None:
    """What a negative limit and a negative offset do."""
    put_each(store, [((root,), key, {}) for key in "abc"])
    seen = [f"{name}=-1 {number_found(store, root, **{name: -1})}" for name in ("limit", "offset")]
    observe(", ".join(seen))


def number_found(store: StoreDrive, root: str, **keywords: Any) -> str:
    """How many of three items are found, in words."""
    try:
        return f"gives {len(store.search((root,), **keywords))} of 3"
    except Blocked:
        raise
    except Exception:
        return "raises"


# --- order


@rule(MUST, source="SearchOp.offset: pagination needs an order that stays")
@pytest.mark.parametrize("keywords", [{}, {"filter": {"colour": "red"}}, {"limit": 25}], ids=["", "filter", "limit"])
def test_equal_searches_give_the_same_order(store: StoreDrive, root: str, keywords: dict[str, Any]) -> None:
    """The same search gives the same items in the same order as long as nothing is written.

    Pages build on it, and so does a list on a screen that is drawn again.
    """
    items = spread(root, 25)
    put_each(store, [items[n * 7 % 25] for n in range(25)])
    first = keys_of(store.search((root,), **keywords))
    store.get((root,), "k000")
    expect_same(
        [first, first],
        [keys_of(store.search((root,), **keywords)) for _ in range(2)],
        "the keys found by the second and third of three equal searches",
    )


@rule(
    QUIRK,
    source=OFFICIAL,
    officials={
        "InMemoryStore": "order of creation",
        "SqliteStore": "newest first, equal times in any order",
        "PostgresStore": "newest first",
    },
)
def test_the_order_without_a_query(store: StoreDrive, root: str, observe: Callable[[object], None]) -> None:
    """Which order items come in when there is no query."""
    for key in ("b", "a", "c", "a"):
        store.put((root,), key, {})
    items = store.search((root,))
    keys, times = "".join(keys_of(items)), [each.updated_at for each in items]
    orders = {"bac": "order of creation", "bca": "oldest first", "abc": "order of keys"}
    if keys == "bac" or times != sorted(times, reverse=True):
        observe(orders.get(keys, "another order"))
    else:
        observe("newest first" if len(set(times)) == len(times) else "newest first, equal times in any order")


# --- prefix


TREE: list[Name] = [
    *(
        (),
        ("a",),
        ("a", "b"),
        ("a", "c"),
        ("a", "b", "d"),
        ("a", "b", "c", "d"),
        ("a", "b", "c", "e"),
        ("a", "b", "d", "d"),
    ),
    *(("b",), ("b", "a"), ("c", "a", "b"), ("c", "b", "b"), ("ab",)),
]
"""Labels behind a check's own: siblings at every depth, gaps, one label that begins another."""


@rule(MUST, source="BaseStore.search: hierarchical path prefix; SearchOp.namespace_prefix")
@pytest.mark.parametrize(
    "prefix",
    [
        (),
        ("a",),
        ("a", "b"),
        ("a", "b", "c"),
        ("a", "b", "c", "d"),
        ("a", "b", "c", "d", "e"),
        ("c",),
        ("b", "a"),
        ("d",),
    ],
    ids=lambda prefix: "/".join(("root", *prefix)),
)
def test_a_prefix_finds_its_namespace_and_all_below(store: StoreDrive, root: str, prefix: Name) -> None:
    """A search finds the items of the namespace given and of all that begin with it, at any depth, and no others.

    `("users",)` is how an application looks through all users' memories; it has no items itself. One user's prefix must
    not find another's items, nor what lies above it.
    """
    put_together(store, [((root, *name), "k", {"kept": True}) for name in TREE])
    put_in(store, [(fresh_id(), root, *prefix)])
    ways: dict[str, dict[str, Any]] = {"prefix": {}, "prefix and filter": {"filter": {"kept": True}}}
    expect_same(
        dict.fromkeys(ways, sorted((root, *name) for name in TREE if name[: len(prefix)] == prefix)),
        {way: names_of(store.search((root, *prefix), limit=50, **keywords)) for way, keywords in ways.items()},
        f"the namespaces of the items found below {('<root>', *prefix)}",
    )


@rule(MUST, source="SearchOp.namespace_prefix: () searches the entire store")
@pytest.mark.parametrize("mark", ["equal", "operator"])
def test_an_empty_prefix_covers_everything(store: StoreDrive, root: str, mark: str) -> None:
    """`search(())` looks through all namespaces of the store, whatever their first label and depth.

    Maintenance and export start with it.
    """
    marker = fresh_id()
    names = [(root,), (root, "a", "b"), (fresh_id(),), (fresh_id(), "c")]
    put_together(store, [(name, "k", {"mark": marker}) for name in names])
    filter = {"mark": marker if mark == "equal" else {"$eq": marker}}
    expect_same(sorted(names), names_of(store.search((), filter=filter)), "the namespaces of the items found")


LABELS: dict[str, tuple[str, tuple[str, ...]]] = {
    **{
        kind: (name, tuple(other for other in others if other and "." not in other))
        for kind, (name, others) in LOOKALIKES.items()
        if "." not in name
    },
    **{f"lone {sign}": (sign, ("a", "ab", f"{sign}a", f"a{sign}", sign * 2)) for sign in "*%_?#+>^$|\\~@!-"},
}
"""The lookalikes that can be labels, and signs that stand for anything in some language of patterns."""


@rule(MUST, source="BaseStore.search: labels of a prefix are literal and whole")
@pytest.mark.parametrize("position", ["first", "last", "between"])
def test_a_prefix_is_made_of_whole_and_literal_labels(store: StoreDrive, root: str, position: str) -> None:
    """A prefix finds its labels as they are: no pattern, no part of a label, no other case, accents or spaces.

    Labels are user ids and names that people choose. A search that takes `user-1` for the beginning of `user-10`, or
    `%` for anything, hands one user's memories to another.
    """
    texts = storable(store, sorted({text for name, others in LABELS.values() for text in (name, *others)}))
    names = {kind: name for kind, (name, _) in LABELS.items() if name in texts}
    shapes: dict[str, Callable[[str], Name]] = {
        "first": lambda text: (f"{root}{text}",),
        "last": lambda text: (root, text),
        "between": lambda text: (root, text, "z"),
    }
    shape = shapes[position]
    put_in(store, [shape(text) for text in texts])
    expect_same(
        {kind: [shape(name)] for kind, name in names.items()},
        {kind: names_of(store.search(shape(name), limit=50)) for kind, name in names.items()},
        "the namespaces of the items found, by the kind of label",
    )


SEPARATORS = ["", "/", ":", "::", "|", ",", "-", "_", "__", " ", "\t", "\n", "\x1f", "#", "\\", "%", ";", '","', "', '"]
"""What labels may be joined with."""


@rule(MUST, source="BaseStore.search: a namespace is a tuple of labels")
def test_labels_are_not_joined(store: StoreDrive, root: str) -> None:
    """A prefix of one label does not find a namespace of two that read the same when joined, nor the reverse.

    A store that keeps a namespace as one text, joined with something that a label may contain, mixes up whole branches.
    """
    single = {separator: (root, f"a{separator}b") for separator in storable(store, SEPARATORS)}
    double = (root, "a", "b")
    put_in(store, [double, *single.values()])
    expect_same(
        {"a": [double], **{repr(separator): [name] for separator, name in single.items()}},
        {
            "a": names_of(store.search((root, "a"), limit=50)),
            **{repr(separator): names_of(store.search(name, limit=50)) for separator, name in single.items()},
        },
        "the namespaces of the items found, by what joins the label",
    )


@rule(MUST, source="BaseStore.search: a prefix is one of namespaces, not of keys")
def test_a_prefix_does_not_reach_into_keys(store: StoreDrive, root: str) -> None:
    """A prefix is matched with namespaces alone: an item whose key reads like a further label is not found by it.

    A store that keeps namespace and key as one path takes the key `b/c` of `("a",)` for the key `c` of `("a", "b")`.
    """
    separators = storable(store, SEPARATORS)
    put_together(store, [((root, "a"), f"b{separator}c", {}) for separator in (*separators, ".")])
    store.put((root, "a"), "b", {})
    labels = ["b", *(f"b{separator}c" for separator in separators)]
    expect_same(
        {label: [] for label in labels},
        {label: names_of(store.search((root, "a", label))) for label in labels},
        "the namespaces of the items found, by the last label of the prefix",
    )


@rule(MUST, source="BaseStore.search: items within a namespace prefix; an empty store has none")
@pytest.mark.parametrize(
    "keywords",
    [{}, {"filter": {"n": 1}}, {"filter": {"n": {"$gt": 0}}}, {"limit": 5, "offset": 2}],
    ids=["plain", "filter", "operator", "page"],
)
@pytest.mark.parametrize("prefix", ["root", "below"])
def test_an_unknown_prefix_finds_nothing(store: StoreDrive, root: str, prefix: str, keywords: dict[str, Any]) -> None:
    """A search below a namespace that has no items gives an empty list and raises nothing.

    A user's first message is answered with a search through memories that do not exist yet.
    """
    store.put((root, "a"), "k", {"n": 1})
    unknown = (fresh_id(),) if prefix == "root" else (root, "b")
    expect_same([], store.search(unknown, **keywords), "what is found below an unknown prefix")


# --- query without an index


TEXTS: dict[str, Value] = {
    "a": {"text": "apples and pears"},
    "b": {"text": "trains"},
    "c": {"text": "rain"},
    "d": {"n": 1, "text": "x"},
}


@rule(SHOULD, source="BaseStore: without an index a query is ignored")
@pytest.mark.parametrize(
    ("keywords", "wanted"),
    [({}, 4), ({"limit": 2}, 2), ({"filter": {"n": 1}}, 1), ({"limit": 4, "offset": 3}, 1)],
    ids=["plain", "limit", "filter", "offset"],
)
def test_a_query_without_an_index_leaves_nothing_out(
    store: StoreDrive, root: str, keywords: dict[str, Any], wanted: int
) -> None:
    """A search with a query in a store that was opened without an index finds what it finds without the query.

    Graphs pass a query whether or not the store of this deployment can use it; limit, offset and filter hold as ever.
    """
    put_together(store, [((root,), key, value) for key, value in TEXTS.items()])
    if any(getattr(each, "score", None) is not None for each in store.search((root,), query="apples")):
        pytest.skip("it has a search of its own, which may leave out what has nothing to do with the query")
    found = keys_of(store.search((root,), query="apples", **keywords))
    expect_same(
        {"found": wanted, "different": wanted},
        {"found": len(found), "different": len(set(found))},
        f"how many of four are found with a query and {keywords}",
    )


@rule(SHOULD, source="SearchItem: score if from a ranked operation")
def test_a_query_without_an_index_gives_no_made_up_score(store: StoreDrive, root: str) -> None:
    """In a store that was opened without an index a hit has no score even with a query, unless it was ranked.

    A store with a search of its own may rank. One number for all hits is not a measure of anything.
    """
    put_each(store, [((root,), key, value) for key, value in TEXTS.items()])
    scores = [getattr(each, "score", None) for each in store.search((root,), query="apples and pears")]
    numbers = [score for score in scores if score is not None]
    ranked = len(set(numbers)) > min(1, len(numbers) - 1) and numbers == sorted(numbers, reverse=True)
    expect_true(not numbers or ranked, "the scores", "None, or falling ones of a ranking", scores)


@rule(SHOULD, source=OFFICIAL)
@pytest.mark.parametrize("keywords", [{}, {"limit": 2}], ids=["plain", "limit"])
def test_an_empty_query_is_no_query(store: StoreDrive, root: str, keywords: dict[str, Any]) -> None:
    """`query=""` searches like no query at all.

    A search field that is still empty passes it.
    """
    put_each(store, [((root,), key, value) for key, value in TEXTS.items()])
    plain = store.search((root,), **keywords)
    expect_same(
        [(each.key, each.value, None) for each in plain],
        [(each.key, each.value, getattr(each, "score", None)) for each in store.search((root,), query="", **keywords)],
        "the keys, values and scores found with query=''",
    )


@rule(SHOULD, source=OFFICIAL, needs="vectors")
def test_an_empty_query_is_no_query_with_an_index(indexed: StoreDrive, root: str) -> None:
    """`query=""` in a store with an index finds all items, those without a vector too, and gives no score.

    There is nothing to rank by: an embedded empty text orders items by chance.
    """
    put_each(indexed, [((root,), key, value) for key, value in TEXTS.items()])
    indexed.put((root,), "e", {"text": "apples"}, index=False)
    expect_same(
        [(key, None) for key in "abcde"],
        sorted((each.key, getattr(each, "score", None)) for each in indexed.search((root,), query="")),
        "the keys and scores found with query=''",
    )
