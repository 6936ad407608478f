"""list_namespaces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import pytest
from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp

from langgraph_conformance.drive import StoreDrive
from langgraph_conformance.errors import Blocked
from langgraph_conformance.expect import expect_same
from langgraph_conformance.lookalikes import LOOKALIKES
from langgraph_conformance.rules import MUST, QUIRK, SHOULD, rule
from langgraph_conformance.suite.store.items import storable
from langgraph_conformance.threads import fresh_id

DOCUMENTED = "BaseStore.list_namespaces; ListNamespacesOp"
OFFICIAL = "InMemoryStore, SqliteStore, PostgresStore"

Name = tuple[str, ...]

MANY = 10_000
"""A limit above what a store holds, where a check cannot ask for its own namespaces alone."""


def put_in(store: StoreDrive, namespaces: Iterable[Name], keys: Sequence[str] = ("k",)) -> None:
    """Put an item in each namespace, or several, in one batch."""
    store.batch([PutOp(namespace, key, {"n": 1}) for namespace in namespaces for key in keys])


def below(root: str, *labels: str) -> list[Name]:
    """Namespaces of one label each below ``root``."""
    return [(root, label) for label in labels]


# --- an independent reading of what is documented


def fits(name: Name, pattern: Name) -> bool:
    """Whether as many labels match a pattern as it has, ``*`` being any one."""
    return len(name) == len(pattern) and all(
        wanted in (label, "*") for wanted, label in zip(pattern, name, strict=True)
    )


def selected(
    names: Iterable[Name], prefix: Name | None = None, suffix: Name | None = None, max_depth: int | None = None
) -> list[Name]:
    """What is listed of ``names``, sorted."""
    chosen = set()
    for name in names:
        starts = prefix is None or fits(name[: len(prefix)], prefix)
        ends = suffix is None or fits(name[len(name) - len(suffix) :] if len(suffix) <= len(name) else (), suffix)
        if starts and ends:
            chosen.add(name if max_depth is None else name[:max_depth])
    return sorted(chosen)


TREE: Sequence[Name] = [
    ("a",),
    ("a", "b"),
    ("a", "b", "c"),
    ("a", "b", "d", "e"),
    ("a", "b", "d", "i"),
    ("a", "c", "f"),
    ("b",),
    ("b", "a", "b"),
    ("c", "b", "a", "b"),
    ("c", "b", "c"),
    ("ab",),
    ("ab", "b"),
    ("a", "ab"),
    ("1", "a", "b", "a", "b"),
]
"""Labels behind a check's own: shared labels, gaps (nothing is stored in ``c``), one label that begins another."""
PREFIXES: Sequence[Name] = [(), ("a",), ("a", "b"), ("*", "b"), ("a", "*"), ("*", "*", "c"), ("c", "b"), ("z",)]
SUFFIXES: Sequence[Name | None] = [None, ("b",), ("a", "b"), ("*",), ("*", "b"), ("b", "*"), ("a", "*", "b"), ("z",)]


def cases(root: str) -> dict[str, tuple[Name, Name | None]]:
    """All pairs of prefix and suffix, by what they are called in a report."""
    return {
        f"prefix {'/'.join(('<root>', *prefix))}, suffix {'/'.join(suffix or ('none',))}": ((root, *prefix), suffix)
        for prefix, suffix in product(PREFIXES, SUFFIXES)
    }


def listed(store: StoreDrive, **keywords: Any) -> list[Name]:
    """The namespaces listed, sorted; what is listed twice is there twice."""
    return sorted(store.list_namespaces(**keywords))


@rule(MUST, source="MatchCondition; NamespacePath: '*' is any one label")
def test_prefix_and_suffix_select_by_whole_labels(store: StoreDrive, root: str) -> None:
    """Listed is what begins with the prefix and ends with the suffix, label by label; `*` is any one label.

    Both must hold, and they may overlap. Users' data is found that way (`("users", "*", "profile")`): what is left out
    is never exported nor cleaned up, what is too much belongs to someone else.
    """
    names = [(root, *name) for name in TREE]
    put_in(store, names)
    expect_same(
        {what: selected(names, prefix, suffix) for what, (prefix, suffix) in cases(root).items()},
        {what: listed(store, prefix=prefix, suffix=suffix) for what, (prefix, suffix) in cases(root).items()},
        "the namespaces listed",
    )


@rule(MUST, source="BaseStore.list_namespaces: max_depth; namespaces deeper than this level are truncated")
@pytest.mark.parametrize("max_depth", [1, 2, 3, 9])
def test_max_depth_cuts_what_is_selected(store: StoreDrive, root: str, max_depth: int) -> None:
    """`max_depth` cuts each namespace that was selected to that many labels, and gives what is then equal once.

    Prefix and suffix are matched with the whole namespace. Tools that show the data level by level ask that way.
    """
    names = [(root, *name) for name in TREE]
    put_in(store, names)
    expect_same(
        {what: selected(names, prefix, suffix, max_depth) for what, (prefix, suffix) in cases(root).items()},
        {
            what: listed(store, prefix=prefix, suffix=suffix, max_depth=max_depth)
            for what, (prefix, suffix) in cases(root).items()
        },
        f"the namespaces listed with max_depth={max_depth}",
    )


PAGES: Sequence[tuple[int, int]] = [(1, 0), (2, 0), (2, 1), (3, 2), (1, 3), (5, 3), (100, 0), (100, 2), (2, 100)]


@rule(MUST, source="ListNamespacesOp.limit, offset: of the namespaces returned")
@pytest.mark.parametrize("max_depth", [None, 2, 3, 4])
def test_limit_and_offset_count_what_is_listed(store: StoreDrive, root: str, max_depth: int | None) -> None:
    """`limit` and `offset` count namespaces as they are listed: selected, cut, and each once.

    Counted before that, a page of ten is short or empty although there is more, and paging ends too soon.
    """
    names = [(root, *name) for name in TREE]
    put_in(store, names, keys=("k", "l", "m"))
    matches: Mapping[str, tuple[Name, Name | None]] = {
        "root": ((root,), None),
        "prefix": ((root, "a"), None),
        "suffix": ((root,), ("b",)),
        "wildcards": ((root, "*", "b"), ("*",)),
    }
    whole = {
        what: store.list_namespaces(prefix=prefix, **_given(suffix=suffix, max_depth=max_depth))
        for what, (prefix, suffix) in matches.items()
    }
    expect_same(
        {
            "whole": {what: selected(names, *match, max_depth) for what, match in matches.items()},
            "pages": {
                (what, limit, offset): whole[what][offset : offset + limit]
                for what, (limit, offset) in product(matches, PAGES)
            },
        },
        {
            "whole": {what: sorted(each) for what, each in whole.items()},
            "pages": {
                (what, limit, offset): store.list_namespaces(
                    prefix=matches[what][0],
                    limit=limit,
                    offset=offset,
                    **_given(suffix=matches[what][1], max_depth=max_depth),
                )
                for what, (limit, offset) in product(matches, PAGES)
            },
        },
        "the namespaces listed, whole and by (match, limit, offset)",
    )


def _given(**keywords: Any) -> dict[str, Any]:
    return {name: value for name, value in keywords.items() if value is not None}


@rule(MUST, source="BaseStore.list_namespaces: its example")
def test_the_documented_example_holds(store: StoreDrive, root: str) -> None:
    """The example in the documentation of `list_namespaces` gives what it says there.

    It is what every reader tries first.
    """
    names = ("a b c", "a b d e", "a b d i", "a b f", "a c f")
    put_in(store, [(f"{root}{first}", *rest) for first, *rest in map(str.split, names)])
    expect_same(
        [(f"{root}a", "b", last) for last in "cdf"],
        listed(store, prefix=(f"{root}a", "b"), max_depth=3),
        "the namespaces listed with prefix=('a', 'b'), max_depth=3",
    )


# --- which namespaces there are


@rule(MUST, source="BaseStore.list_namespaces: list[tuple[str, ...]]")
def test_namespaces_are_tuples_of_texts(store: StoreDrive, root: str) -> None:
    """`list_namespaces` gives a list of tuples of texts, cut or not, which can be passed on to `search` and `get`.

    A list cannot be a dict's key, and `get` refuses it; a joined text is no namespace.
    """
    put_in(store, [(root, "a", "b")])
    whole = store.list_namespaces(prefix=(root,))
    cut = store.list_namespaces(prefix=(root,), max_depth=2)
    expect_same({"whole": [(root, "a", "b")], "cut": [(root, "a")]}, {"whole": whole, "cut": cut}, "what is listed")


@rule(MUST, source=DOCUMENTED)
@pytest.mark.parametrize("how", ["batch", "one by one", "again"])
def test_a_namespace_is_listed_once(store: StoreDrive, root: str, how: str) -> None:
    """A namespace with several items is listed once, and one whose items were put again too.

    Whoever walks through all namespaces would do everything as many times as there are items.
    """
    names = below(root, "a", "b")
    keys = ["k", "l", "m"] if how != "again" else ["k"]
    if how == "batch":
        put_in(store, names, keys)
    else:
        for name, key in product(names, keys * 2):
            store.put(name, key, {"n": 1})
    expect_same(names, listed(store, prefix=(root,)), "the namespaces listed")


@rule(MUST, source=DOCUMENTED)
def test_a_namespace_above_others_is_not_listed_without_items(store: StoreDrive, root: str) -> None:
    """Only namespaces that hold items are listed, not those that merely lie above them.

    `("users",)` has no items itself: listed, it would be taken for a user.
    """
    put_in(store, [(root, "a", "b", "c"), (root, "d")])
    expect_same([(root, "a", "b", "c"), (root, "d")], listed(store, prefix=(root,)), "the namespaces listed")


READS: Mapping[str, Callable[[StoreDrive, Name], object]] = {
    "get": lambda store, name: store.get(name, "k"),
    "search": lambda store, name: store.search(name),
    "filtered search": lambda store, name: store.search(name, filter={"n": 1}),
    "delete": lambda store, name: store.delete(name, "k"),
    "list": lambda store, name: store.list_namespaces(prefix=name),
    "batch": lambda store, name: store.batch([GetOp(name, "k"), PutOp(name, "l", None)]),
}


@rule(SHOULD, source="SqliteStore, PostgresStore; ListNamespacesOp: exploring the organization of data")
@pytest.mark.parametrize("reader", list(READS))
def test_reading_creates_no_namespace(store: StoreDrive, root: str, reader: str) -> None:
    """Reading or deleting what is not there leaves no namespace behind.

    Every user who was ever asked about would be listed as one who has memories.
    """
    put_in(store, below(root, "a"))
    READS[reader](store, (root, "b"))
    expect_same(below(root, "a"), listed(store, prefix=(root,)), f"the namespaces listed after {reader} of another")


@rule(SHOULD, source="SqliteStore, PostgresStore; ListNamespacesOp: exploring the organization of data")
@pytest.mark.parametrize("how", ["delete", "batch", "None", "put again"])
def test_an_emptied_namespace_is_not_listed(store: StoreDrive, root: str, how: str) -> None:
    """A namespace is no longer listed when its last item is deleted, and listed again when one is put.

    A user whose data was removed would still be named by it.
    """
    put_in(store, below(root, "a", "b"), keys=("k", "l"))
    if how == "batch":
        store.batch([PutOp((root, "b"), key, None) for key in ("k", "l")])
    elif how == "None":
        store.batch([PutOp((root, "b"), "k", None)])
        store.batch([PutOp((root, "b"), "l", None)])
    else:
        store.delete((root, "b"), "k")
        store.delete((root, "b"), "l")
    if how == "put again":
        store.put((root, "b"), "k", {"n": 2})
    wanted = ("a", "b") if how == "put again" else ("a",)
    expect_same(
        {"whole": below(root, *wanted), "suffix": below(root, "b") if "b" in wanted else [], "cut": [(root,)]},
        {
            "whole": listed(store, prefix=(root,)),
            "suffix": listed(store, prefix=(root,), suffix=("b",)),
            "cut": listed(store, prefix=(root,), max_depth=1),
        },
        "the namespaces listed",
    )


@rule(MUST, source=DOCUMENTED)
def test_a_namespace_stays_while_it_has_items(store: StoreDrive, root: str) -> None:
    """A namespace is listed as long as one item is left in it, whatever was deleted there and around it.

    What is not listed is not found by those who export or clean up.
    """
    put_in(store, [(root,), (root, "a"), (root, "a", "b"), (root, "c")], keys=("k", "l"))
    store.delete((root, "a"), "k")
    store.delete((root, "a", "b"), "l")
    store.delete((root,), "k")
    store.delete((root,), "l")
    store.delete((root, "c"), "k")
    store.put((root, "c"), "m", {"n": 1})
    store.delete((root, "c"), "l")
    # an emptied namespace is judged by another rule
    expect_same(
        [(root, "a"), (root, "a", "b"), (root, "c")],
        [name for name in listed(store, prefix=(root,)) if name != (root,)],
        "the namespaces listed",
    )


@rule(MUST, source=DOCUMENTED)
@pytest.mark.parametrize("max_depth", [None, 1], ids=["whole", "cut"])
def test_without_a_condition_all_are_listed(store: StoreDrive, root: str, max_depth: int | None) -> None:
    """`list_namespaces()` covers the whole store, whatever the first label and the depth.

    It is the first call of whoever wants to know what is in a store.
    """
    other = fresh_id()
    put_in(store, [(root,), (root, "a", "b", "c"), (other, "d")])
    names = listed(store, limit=MANY, **_given(max_depth=max_depth))
    expect_same(
        sorted([(root,), (other,)] if max_depth else [(root,), (root, "a", "b", "c"), (other, "d")]),
        [name for name in names if name[0] in (root, other)],
        "the check's own among the namespaces listed",
    )


@rule(MUST, source=DOCUMENTED, needs="vectors")
def test_an_index_changes_nothing_about_what_is_listed(indexed: StoreDrive, root: str) -> None:
    """In a store with an index namespaces are listed whether or not their items have vectors, and once each.

    A list made from the vectors leaves out what was put with `index=False` or has no text, or repeats the rest.
    """
    indexed.put((root, "indexed"), "k", {"text": "a", "parts": [{"text": "b"}, {"text": "c"}]})
    indexed.put((root, "unindexed"), "k", {"text": "a"}, index=False)
    indexed.put((root, "without"), "k", {"n": 1})
    expect_same(
        below(root, "indexed", "unindexed", "without"), listed(indexed, prefix=(root,)), "the namespaces listed"
    )


@rule(MUST, source="BaseStore.list_namespaces: suffix")
@pytest.mark.parametrize("max_depth", [None, 2], ids=["whole", "cut"])
def test_a_suffix_alone_is_enough(store: StoreDrive, root: str, max_depth: int | None) -> None:
    """A suffix without a prefix looks through the whole store.

    "All namespaces that end in `v1`" is an example of the documentation.
    """
    last = fresh_id()
    names = [(root, last), (root, "a", last), (last,), (fresh_id(), "a", "b", last)]
    put_in(store, [*names, (root, last, "a"), (root, f"a{last}"), (root, f"{last}a")])
    expect_same(
        selected(names, max_depth=max_depth),
        listed(store, suffix=(last,), **_given(max_depth=max_depth)),
        "the namespaces listed",
    )


@rule(MUST, source=DOCUMENTED)
@pytest.mark.parametrize(
    ("prefix", "suffix"),
    [((), None), (("b",), None), (("*", "x"), None), ((), ("b",)), (("a",), ("b",)), ((), ("x", "*"))],
    ids=["root", "prefix", "star", "suffix", "both", "suffix star"],
)
@pytest.mark.parametrize("max_depth", [None, 1], ids=["whole", "cut"])
def test_what_matches_nothing_lists_nothing(
    store: StoreDrive, root: str, prefix: Name, suffix: Name | None, max_depth: int | None
) -> None:
    """A prefix or suffix that no namespace has gives an empty list and raises nothing.

    A new user has no namespaces.
    """
    put_in(store, below(root, "a"))
    start = (root, *prefix) if prefix or suffix else (fresh_id(),)
    found = store.list_namespaces(prefix=start, **_given(suffix=suffix, max_depth=max_depth))
    expect_same([], found, "the namespaces listed")


# --- prefix and suffix


@rule(SHOULD, source=OFFICIAL)
@pytest.mark.parametrize("wild", [False, True], ids=["labels", "stars"])
def test_what_is_longer_than_a_namespace_does_not_match_it(store: StoreDrive, root: str, wild: bool) -> None:
    """A prefix or suffix with more labels than a namespace has does not match it, not even of stars alone.

    Each `*` is one label, which must be there.
    """
    put_in(store, [(root,), (root, "a"), (root, "a", "b"), (root, "a", "b", "c")])
    more = ("*", "*") if wild else ("a", "b")
    expect_same(
        {"prefix": [(root, "a", "b"), (root, "a", "b", "c")], "suffix": [], "overlong": [], "long suffix": []},
        {
            "prefix": listed(store, prefix=(root, *more)),
            "suffix": listed(store, prefix=(root, *more), suffix=(root, *more, "*", "*")),
            "overlong": listed(store, prefix=(root, *more, "*", "*")),
            "long suffix": listed(store, prefix=(root,), suffix=(*more, "*", "*", "*")),
        },
        "the namespaces listed",
    )


@rule(MUST, source="NamespacePath: '*' is any one label")
@pytest.mark.parametrize(
    ("prefix", "suffix", "wanted"),
    [
        (("*",), None, ["a", "a b", "a b c", "d"]),
        (("*", "b"), None, ["a b", "a b c"]),
        (("a", "*"), None, ["a b", "a b c"]),
        (("a", "*", "c"), None, ["a b c"]),
        (("*", "c"), None, []),
        (("*", "*", "*"), None, ["a b c"]),
        ((), ("*", "c"), ["a b c"]),
        ((), ("a", "*"), ["a b"]),
        ((), ("a", "*", "c"), ["a b c"]),
        ((), ("b", "*"), ["a b c"]),
    ],
    ids=[
        "any",
        "in front",
        "at the end",
        "between",
        "not two",
        "three",
        "suffix",
        "its end",
        "between in suffix",
        "last",
    ],
)
def test_a_star_is_exactly_one_label(
    store: StoreDrive, root: str, prefix: Name, suffix: Name | None, wanted: list[str]
) -> None:
    """`*` stands for one label, not for none and not for several, at every place of a prefix or suffix.

    `("users", "*", "profile")` must not find what lies deeper, nor `("users", "profile")`.
    """
    put_in(store, [(root, *text.split()) for text in ("a", "a b", "a b c", "d")])
    expect_same(
        [(root, *text.split()) for text in wanted],
        listed(store, prefix=(root, *prefix), **_given(suffix=suffix)),
        "the namespaces listed",
    )


@rule(MUST, source="NamespacePath: '*' is any one label")
def test_a_star_stands_for_any_text(store: StoreDrive, root: str) -> None:
    """`*` stands for a label of any characters, length and script.

    A pattern of letters and digits leaves out the users with other names.
    """
    labels = [
        "a",
        "a b",
        "é",
        "日本語",
        "a-b",
        "a_b",
        "a/b",
        "a:b",
        "a|b",
        "*",
        "%",
        "'",
        '"',
        "\\",
        "a\nb",
        "\n",
        " ",
        "x" * 100,
    ]
    put_in(store, [(root, label, "z") for label in labels])
    put_in(store, below(root, "z"))
    expect_same(
        {"prefix": sorted(labels), "suffix": sorted(labels)},
        {
            "prefix": sorted(name[1] for name in store.list_namespaces(prefix=(root, "*", "z"))),
            "suffix": sorted(name[1] for name in store.list_namespaces(suffix=(root, "*", "z"))),
        },
        "the labels for which a star stands",
    )


LABELS: dict[str, tuple[str, tuple[str, ...]]] = {
    **{
        kind: (name, tuple(other for other in others if other and "." not in other))
        for kind, (name, others) in LOOKALIKES.items()
        if "." not in name
    },
    **{f"lone {sign}": (sign, ("a", "ab", f"{sign}a", f"a{sign}", sign * 2)) for sign in "%_?#+>^$|\\~@!-"},
}
"""The lookalikes that can be labels, and signs that stand for anything in some language of patterns, but for `*`."""
TEXTS = sorted({text for name, others in LABELS.values() for text in (name, *others)})

WAYS: Mapping[str, Callable[[str, str], tuple[Name, dict[str, Any]]]] = {
    "prefix": lambda root, text: ((root, text), {"prefix": (root, text)}),
    "prefix, deeper": lambda root, text: ((root, text, "z"), {"prefix": (root, text)}),
    "prefix with a star": lambda root, text: ((root, "x", text, "z"), {"prefix": (root, "*", text)}),
    "suffix": lambda root, text: ((root, text), {"prefix": (root,), "suffix": (text,)}),
    "suffix, first": lambda root, text: ((root, text, "z"), {"prefix": (root,), "suffix": (text, "z")}),
}


@rule(MUST, source=DOCUMENTED)
@pytest.mark.parametrize("way", list(WAYS))
def test_labels_are_whole_and_literal(store: StoreDrive, root: str, way: str) -> None:
    """But for a lone `*`, a label in a prefix or suffix is that label: no pattern, no part, no other case or spaces.

    Labels are user ids and names that people choose: one that is taken for a pattern lists other people's namespaces.
    """
    texts = storable(store, TEXTS)
    names = {kind: name for kind, (name, _) in LABELS.items() if name in texts}
    put_in(store, [WAYS[way](root, text)[0] for text in texts])
    expect_same(
        {kind: [WAYS[way](root, name)[0]] for kind, name in names.items()},
        {kind: listed(store, **WAYS[way](root, name)[1]) for kind, name in names.items()},
        "the namespaces listed, by the kind of label",
    )


@rule(MUST, source="BaseStore.list_namespaces: max_depth")
def test_labels_come_back_as_they_are(store: StoreDrive, root: str) -> None:
    """Namespaces are listed with their labels as they were put, cut or not, and none is taken for another.

    A label that is split, trimmed or folded names a namespace that does not exist.
    """
    names = [(root, text, "z") for text in storable(store, TEXTS)]
    put_in(store, names)
    depths = (None, 2, 1)
    expect_same(
        {depth: selected(names, max_depth=depth) for depth in depths},
        {depth: listed(store, prefix=(root,), limit=1000, **_given(max_depth=depth)) for depth in depths},
        "the namespaces listed, by max_depth",
    )


@rule(SHOULD, source=f"ListNamespacesOp.match_conditions: an empty path constrains nothing; {OFFICIAL}")
@pytest.mark.parametrize("match_type", ["prefix", "suffix"])
@pytest.mark.parametrize("by", ["argument", "operation"])
def test_an_empty_path_constrains_nothing(store: StoreDrive, root: str, by: str, match_type: str) -> None:
    """An empty prefix or suffix leaves nothing out.

    Code that builds the path from what a user has chosen passes it when nothing is chosen.
    """
    put_in(store, [(root,), (root, "a")])
    if by == "argument":
        start = {"prefix": ()} if match_type == "prefix" else {"prefix": (root,), "suffix": ()}
        names = store.list_namespaces(limit=MANY, **start)
    else:
        conditions = (MatchCondition("prefix", (root,)), MatchCondition(match_type, ()))  # type: ignore[arg-type]
        (names,) = store.batch([ListNamespacesOp(conditions)])
    expect_same([(root,), (root, "a")], sorted(name for name in names if name[0] == root), "the namespaces listed")


@rule(SHOULD, source="ListNamespacesOp.match_conditions: all of them")
@pytest.mark.parametrize(
    ("conditions", "wanted"),
    [
        ([("prefix", ("*", "b"))], ["a b", "a b c", "c b c"]),
        ([("suffix", ("c",)), ("suffix", ("b", "c"))], ["a b c", "c b c"]),
        ([("suffix", ("b", "c")), ("suffix", ("c",))], ["a b c", "c b c"]),
        ([("suffix", ("a", "*", "*")), ("suffix", ("b", "c"))], ["a b c"]),
        ([("suffix", ("c",)), ("prefix", ("*", "*", "c"))], ["a b c", "a d c", "c b c"]),
        ([("suffix", ("b",)), ("suffix", ("c",))], []),
    ],
    ids=["two prefixes", "suffixes", "other order", "with stars", "three", "contrary"],
)
def test_all_conditions_of_an_operation_hold(
    store: StoreDrive, root: str, conditions: list[tuple[Any, Name]], wanted: list[str]
) -> None:
    """A `ListNamespacesOp` may have several conditions of one type, in any order: all of them hold.

    Kept by type in a dict, only the last one counts.
    """
    put_in(store, [(root, *text.split()) for text in ("a b c", "a d c", "c b c", "a b", "c")])
    paths = [(match_type, (root, *path) if match_type == "prefix" else path) for match_type, path in conditions]
    conditions_of = (*(MatchCondition(*each) for each in paths), MatchCondition("prefix", (root,)))
    (names,) = store.batch([ListNamespacesOp(conditions_of)])
    expect_same([(root, *text.split()) for text in wanted], sorted(names), "the namespaces listed")


# --- limit and offset


@rule(SHOULD, source="ListNamespacesOp.limit: 100")
@pytest.mark.parametrize("max_depth", [None, 2], ids=["whole", "cut"])
def test_without_a_limit_a_hundred_are_listed(store: StoreDrive, root: str, max_depth: int | None) -> None:
    """Without a limit at most a hundred namespaces are listed, and that many when there are more.

    Callers that page rely on it.
    """
    put_in(store, [(root, f"n{n:03}", "z") for n in range(105)])
    names = store.list_namespaces(prefix=(root,), **_given(max_depth=max_depth))
    expect_same(
        {"listed": 100, "different": 100}, {"listed": len(names), "different": len(set(names))}, "how many of 105"
    )


@rule(MUST, source="ListNamespacesOp.limit: maximum number of namespaces to return")
@pytest.mark.parametrize(("count", "limits"), [(105, (104, 105)), (260, (120, 255, 1000))], ids=["105", "260"])
def test_a_high_limit_is_met(store: StoreDrive, root: str, count: int, limits: Sequence[int]) -> None:
    """A limit above what the database gives at once is met all the same.

    A store that takes only the first page of its database's answer drops the rest unnoticed.
    """
    put_in(store, [(root, f"n{n:03}") for n in range(count)])
    found = {limit: store.list_namespaces(prefix=(root,), limit=limit) for limit in limits}
    expect_same(
        {limit: {"listed": min(count, limit), "different": min(count, limit)} for limit in limits},
        {limit: {"listed": len(names), "different": len(set(names))} for limit, names in found.items()},
        f"how many of {count} are listed, by the limit",
    )


@rule(MUST, source="ListNamespacesOp.limit: maximum number of namespaces to return")
def test_a_limit_does_not_count_items(store: StoreDrive, root: str) -> None:
    """`limit` counts namespaces, not the items in them.

    A store that looks at the first hundred items finds one busy namespace and none of the others.
    """
    names = below(root, "a", "b", "c")
    put_in(store, names[:1], keys=[f"k{n}" for n in range(260)])
    put_in(store, names[1:])
    limits = (None, 2, 3)
    found = {limit: store.list_namespaces(prefix=(root,), **_given(limit=limit)) for limit in limits}
    expect_same(
        {limit: {"listed": limit or 3, "others": []} for limit in limits},
        {limit: {"listed": len(each), "others": sorted(set(each) - set(names))} for limit, each in found.items()},
        "how many of three namespaces are listed, one of them with 260 items",
    )


@rule(SHOULD, source=OFFICIAL)
@pytest.mark.parametrize("keywords", [{}, {"offset": 1}, {"max_depth": 1}], ids=["", "offset", "cut"])
def test_limit_0_lists_nothing(store: StoreDrive, root: str, keywords: dict[str, Any]) -> None:
    """`limit=0` lists nothing: it does not mean "no limit" and not the default.

    A caller whose budget is used up asks for none.
    """
    put_in(store, below(root, "a", "b"))
    expect_same([], store.list_namespaces(prefix=(root,), limit=0, **keywords), "the namespaces listed with limit=0")


@rule(MUST, source="ListNamespacesOp.offset: number of namespaces to skip for pagination")
@pytest.mark.parametrize("size", [1, 4, 10])
@pytest.mark.parametrize("max_depth", [None, 2], ids=["whole", "cut"])
def test_pages_give_every_namespace_once(store: StoreDrive, root: str, max_depth: int | None, size: int) -> None:
    """Pages by limit and offset give every namespace exactly once, and full pages up to the last.

    Whoever walks through all users' data page by page misses some and does others twice.
    """
    count = 23 if size > 1 else 6
    names = [(root, f"n{n * 7 % count:02}", last) for n in range(count) for last in ("y", "z")]
    put_in(store, names, keys=("k", "l"))
    wanted = selected(names, max_depth=max_depth)
    starts = range(0, len(wanted) + size, size)
    pages = [
        store.list_namespaces(prefix=(root,), limit=size, offset=start, **_given(max_depth=max_depth))
        for start in starts
    ]
    expect_same(
        {"names": wanted, "sizes": [max(0, min(size, len(wanted) - start)) for start in starts]},
        {"names": sorted(name for page in pages for name in page), "sizes": [len(page) for page in pages]},
        f"what pages of {size} gave",
    )


@rule(SHOULD, source=OFFICIAL)
def test_namespaces_are_sorted(store: StoreDrive, root: str) -> None:
    """Namespaces of one depth, with plain labels, are listed in the order of their labels.

    People look for a name in a list, and a page of it means something only when it is sorted.
    """
    order = ("delta", "alpha", "echo", "bravo", "foxtrot", "charlie")
    for label in order:
        store.put((root, label), "k", {"n": 1})
    expect_same(below(root, *sorted(order)), store.list_namespaces(prefix=(root,)), "the namespaces listed")


@rule(SHOULD, source="BaseStore.list_namespaces: list")
def test_what_is_listed_is_a_list_of_its_own(store: StoreDrive, root: str) -> None:
    """The list returned is the caller's: changing it changes nothing, and neither does the store change it later.

    A cached list that callers share fills with what one of them has added.
    """
    put_in(store, below(root, "a", "b"))
    first = store.list_namespaces(prefix=(root,))
    is_list = isinstance(first, list)
    put_in(store, below(root, "c"))
    kept = sorted(first)
    list(first).clear()
    first.clear()
    expect_same(
        {"is a list": True, "first": below(root, "a", "b"), "second": below(root, "a", "b", "c")},
        {"is a list": is_list, "first": kept, "second": listed(store, prefix=(root,))},
        "what was listed before and after a put",
    )


# --- where official stores differ


def seen(store: StoreDrive, root: str, **keywords: Any) -> str:
    """What is listed below ``root`` without it, or that it raises."""
    try:
        names = store.list_namespaces(prefix=(root,), **keywords)
    except Blocked:
        raise
    except Exception:
        return "raises"
    return f"{len(names)} listed" if all(name[:1] == (root,) for name in names) else repr(names)


@rule(
    QUIRK,
    source=OFFICIAL,
    officials={
        "InMemoryStore": "0: [()], -1: 3 listed",
        "SqliteStore": "0: [('',)], -1: 0 listed",
        "PostgresStore": "0: raises, -1: raises",
    },
)
def test_a_depth_below_1(store: StoreDrive, root: str, observe: Callable[[object], None]) -> None:
    """What `max_depth=0` and `max_depth=-1` list of three namespaces."""
    put_in(store, [(root, "a", "b"), (root, "c"), (root, "d", "e", "f")])
    observe(f"0: {seen(store, root, max_depth=0)}, -1: {seen(store, root, max_depth=-1)}")


@rule(
    QUIRK,
    source=OFFICIAL,
    officials={
        "InMemoryStore": "limit=-1: 2 listed, offset=-1: 1 listed",
        "SqliteStore": "limit=-1: 3 listed, offset=-1: 3 listed",
        "PostgresStore": "limit=-1: raises, offset=-1: raises",
    },
)
def test_a_negative_limit_or_offset(store: StoreDrive, root: str, observe: Callable[[object], None]) -> None:
    """What a negative limit and a negative offset list of three namespaces."""
    put_in(store, below(root, "a", "b", "c"))
    observe(f"limit=-1: {seen(store, root, limit=-1)}, offset=-1: {seen(store, root, offset=-1)}")


@rule(
    QUIRK,
    source=OFFICIAL,
    officials={"InMemoryStore": "raises ValueError", "SqliteStore": "ignored", "PostgresStore": "ignored"},
)
def test_an_unknown_match_type(store: StoreDrive, root: str, observe: Callable[[object], None]) -> None:
    """What a condition of an unknown type does."""
    put_in(store, below(root, "a"))
    conditions = (MatchCondition("prefix", (root,)), MatchCondition("infix", ("z",)))  # type: ignore[arg-type]
    try:
        (names,) = store.batch([ListNamespacesOp(conditions)])
    except Blocked:
        raise
    except Exception as error:
        observe(f"raises {type(error).__name__}")
    else:
        observe("ignored" if names else "matches nothing")


@rule(
    QUIRK,
    source=OFFICIAL,
    officials={
        "InMemoryStore": "any label",
        "SqliteStore": "any label",
        "PostgresStore": "any label",
    },
)
def test_a_label_that_is_a_star(store: StoreDrive, root: str, observe: Callable[[object], None]) -> None:
    """What `*` in a prefix lists where there is a label `*`."""
    put_in(store, below(root, "*", "a"))
    names = store.list_namespaces(prefix=(root, "*"))
    observe({1: "the label alone", 2: "any label"}.get(len(names), f"{len(names)} of 2"))


@rule(
    QUIRK,
    source=OFFICIAL,
    officials={
        "InMemoryStore": "by label",
        "SqliteStore": "by joined text",
        "PostgresStore": "by joined text",
    },
)
def test_the_order_of_labels_with_signs(store: StoreDrive, root: str, observe: Callable[[object], None]) -> None:
    """Whether `("a", "x")` comes before `("a!",)`."""
    put_in(store, [(root, "a", "x"), (root, "a!")])
    names = store.list_namespaces(prefix=(root,))
    observe("by label" if names == [(root, "a", "x"), (root, "a!")] else "by joined text")
