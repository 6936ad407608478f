"""Namespaces: each is exactly its labels, in their order; no pattern, no prefix of a text, no path."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pytest
from langgraph.store.base import GetOp, InvalidNamespaceError, ListNamespacesOp, MatchCondition, PutOp, SearchOp

from langgraph_conformance.drive import StoreDrive
from langgraph_conformance.expect import expect_raises, expect_same
from langgraph_conformance.lookalikes import BACKSLASHES, HARSH, LOOKALIKES, NAMES, SURROGATES
from langgraph_conformance.rules import MUST, SHOULD, rule
from langgraph_conformance.suite.saver.test_identity import SEPARATORS, spread
from langgraph_conformance.suite.store.items import contents, kept_or_refused, number_of, outcome_of, storable

Namespace = tuple[str, ...]

IDENTITY = "BaseStore: namespace is a hierarchical path; each label is text of its own"
DECLARED = "BaseStore.put: InvalidNamespaceError; _validate_namespace"


def legal(label: str) -> bool:
    """Whether a label may be stored: the others are refused, which is a rule of its own."""
    return label != "" and "." not in label and "\0" not in label


TABLES: Mapping[str, Sequence[str]] = {**NAMES, "backslashes": BACKSLASHES}
LABELS: Mapping[str, Sequence[str]] = {kind: [each for each in TABLES[kind] if legal(each)] for kind in TABLES}

# Where a label stands among the labels of its namespace. One that others share is put behind the unique one.
PLACES: Mapping[str, Callable[[str, str], Namespace]] = {
    "first": lambda root, label: (f"{root}{label}",),
    "in front": lambda root, label: (f"{label}{root}",),
    "inner": lambda root, label: (root, label, "leaf"),
}

kinds = pytest.mark.parametrize("kind", LABELS)


def placed(root: str, labels: Sequence[str], *places: str) -> dict[Namespace, int]:
    """A namespace for each label in each of these places, with the number that its item holds."""
    namespaces = [PLACES[place](root, label) for place in places for label in labels]
    return {namespace: number for number, namespace in enumerate(namespaces)}


def put_all(store: StoreDrive, numbers: Mapping[Namespace, int]) -> None:
    """An item of the same key in each namespace."""
    for namespace, number in numbers.items():
        store.put(namespace, "key", {"number": number})


def numbers_at(store: StoreDrive, namespaces: Mapping[Namespace, object]) -> dict[Namespace, Any]:
    """The number that `get` finds in each namespace."""
    return {namespace: number_of(store.get(namespace, "key")) for namespace in namespaces}


# --- exact labels


@rule(MUST, source=IDENTITY)
@kinds
def test_labels_are_exact(store: StoreDrive, root: str, kind: str) -> None:
    """A label is no other one that is like it in case, spaces, form, pattern or number: each has its own items.

    Labels are made of what applications have: names, mail addresses, phone numbers, paths. Where two of them meet, one
    user reads and overwrites what is known of another.
    """
    numbers = placed(root, LABELS[kind], "first", "inner")
    put_all(store, numbers)
    expect_same(numbers, numbers_at(store, numbers), "the number in each namespace")


@rule(MUST, source=IDENTITY)
@pytest.mark.parametrize("kind", ["spaces", "case", "accents", "like", "regex", "numbers", "paths"])
def test_labels_are_exact_at_their_start(store: StoreDrive, root: str, kind: str) -> None:
    """Labels that differ only at their start are different, be it by a space or a sign.

    Trimming and patterns that begin with a wildcard make two users one.
    """
    numbers = placed(root, LABELS[kind], "in front")
    put_all(store, numbers)
    expect_same(numbers, numbers_at(store, numbers), "the number in each namespace")


@rule(MUST, source=f"{IDENTITY}; BaseStore.search: namespace_prefix")
@kinds
def test_a_search_prefix_is_exact(store: StoreDrive, root: str, kind: str) -> None:
    """A search finds what is in namespaces that begin with these labels, and nothing of those that look like them.

    A prefix that is taken for a text or a pattern, as by LIKE, GLOB, regular expressions or KEYS, gives a user whose id
    is "1", or "%", the memories of others.
    """
    numbers = placed(root, LABELS[kind], "inner")
    put_all(store, numbers)
    found = {
        namespace: [(each.namespace, number_of(each)) for each in store.search(namespace[:2])] for namespace in numbers
    }
    expect_same({each: [(each, number)] for each, number in numbers.items()}, found, "what is found by each prefix")


@rule(MUST, source=f"{IDENTITY}; BaseStore.search: namespace_prefix")
def test_a_search_prefix_is_of_whole_labels(store: StoreDrive, root: str) -> None:
    """A search finds items in the namespace itself and in those below it, not in one whose label goes on.

    ("user1",) is no prefix of ("user10",): it would be so as a text.
    """
    inside: list[Namespace] = [(root, "foo"), (root, "foo", "x"), (root, "foo", "x", "y"), (root, "foo", "foobar")]
    outside: list[Namespace] = [(root, each) for each in ("foobar", "FOO", "fo", "xfoo")]
    outside += [(root, "x", "foo"), (root,), (f"{root}foo", "x")]
    put_all(store, {namespace: number for number, namespace in enumerate([*inside, *outside])})
    found = {prefix: sorted(each.namespace for each in store.search(prefix)) for prefix in (inside[0], inside[1])}
    expect_same({inside[0]: sorted(inside), inside[1]: sorted(inside[1:3])}, found, "the namespaces found")


@rule(MUST, source=f"{IDENTITY}; BaseStore.list_namespaces: prefix, suffix")
@kinds
def test_conditions_on_namespaces_are_exact(store: StoreDrive, root: str, kind: str) -> None:
    """`list_namespaces` with a prefix or suffix gives the namespaces with these labels, not those that look like them.

    Clean-up jobs list a user's namespaces and delete what is in them.
    """
    numbers = placed(root, LABELS[kind], "inner")
    put_all(store, numbers)
    asked = [namespace for namespace in numbers if "*" not in namespace]  # a label "*" is a wildcard by documentation
    found = {
        **{("prefix", each): store.list_namespaces(prefix=each[:2]) for each in asked},
        **{("suffix", each): store.list_namespaces(prefix=(root,), suffix=each[1:]) for each in asked},
    }
    expect_same(
        {(condition, each): [each] for condition, each in found}, found, "the namespaces listed by each condition"
    )


@rule(MUST, source=f"{IDENTITY}; SearchItem.namespace, BaseStore.list_namespaces")
@kinds
def test_namespaces_come_back_as_they_were_put(store: StoreDrive, root: str, kind: str) -> None:
    """The namespaces that a search or a list gives are tuples of the labels that were put, to the letter.

    What was found is then updated or deleted by its namespace and key: of other labels, it is not found again.
    """
    numbers = placed(root, LABELS[kind], "inner")
    put_all(store, numbers)
    found = {
        "search": sorted(each.namespace for each in store.search((root,), limit=1000)),
        "list": sorted(store.list_namespaces(prefix=(root,), limit=1000)),
    }
    expect_same(dict.fromkeys(found, sorted(numbers)), found, "the namespaces given back")


@rule(MUST, source=IDENTITY)
@pytest.mark.parametrize("kind", LOOKALIKES)
def test_writing_in_a_namespace_leaves_lookalikes(store: StoreDrive, root: str, kind: str) -> None:
    """Replacing and deleting an item leaves those of namespaces that look like its own, and none is read for it.

    A label that is taken for a pattern makes a delete reach other users, and a get find what is theirs.
    """
    label, others = LOOKALIKES[kind]
    if not storable(store, [label]):
        pytest.skip("it refuses control characters")
    written = (root, label.replace(".", "!"), "leaf")
    numbers = placed(root, [each for each in storable(store, others) if legal(each)], "inner")
    put_all(store, {**numbers, written: 100})
    store.put(written, "key", {"number": 101})
    store.delete(written, "key")
    expected = {**numbers, written: None}
    found = numbers_at(store, expected)
    expect_same(expected, found, f"the items after one was replaced and deleted in {label!r}")


@rule(MUST, source=IDENTITY)
@pytest.mark.parametrize("kind", ["control", "very long", "surrogates"])
def test_a_harsh_label_is_exact_or_refused(store: StoreDrive, root: str, kind: str) -> None:
    """A label with control characters or thousands of characters is kept exactly, or refused with an error.

    Cut or cleaned in silence, it is another user's.
    """
    numbers = placed(root, [label for label in HARSH.get(kind, SURROGATES) if legal(label)], "first", "inner")
    taken = {
        each: number
        for each, number in numbers.items()
        if outcome_of(partial(store.put, each, "key", {"number": number})) == "accepted"
    }
    expect_same(taken, numbers_at(store, taken), "the number in each namespace that was taken")
    left = [each for each in numbers if each not in taken]
    found = {each: kept_or_refused(partial(store.get, each, "key")) for each in left}
    expect_same(
        [], [each for each in left if found[each] not in (None, "refused")], "the refused namespaces with an item"
    )


# --- labels and their order


def distinct(patterns: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The patterns whose labels, all but the last text, which is the key, may be stored."""
    return [each for each in dict.fromkeys(patterns) if all(legal(label) for label in each[:-1])]


@rule(MUST, source=f"{IDENTITY}; PutOp: namespace and key identify the item")
@pytest.mark.parametrize("separators", SEPARATORS.values(), ids=SEPARATORS)
def test_labels_and_keys_are_no_joined_text(store: StoreDrive, root: str, separators: Sequence[str]) -> None:
    """Labels and the key are apart: a sign within one of them is no border between two.

    ("a", "b:c") and ("a:b", "c") are two namespaces; key "b/c" of ("a",) and key "c" of ("a", "b") are two items.
    Joined into one text, one user overwrites what is known of another.
    """
    joined = [("a:b", "c"), ("a", "b:c"), ("a", "b", "c"), ("a:b:c",), ("a:", "b"), ("a", ":b"), ("a::b",), ("a",)]
    patterns = [(*each, "key") for each in joined] + joined
    possible = distinct(spread(storable(store, separators), *patterns))
    items = {each: number for number, each in enumerate(possible)}
    for each, number in items.items():
        store.put((root, *each[:-1]), each[-1], {"number": number})
    found = {each: number_of(store.get((root, *each[:-1]), each[-1])) for each in items}
    expect_same(items, found, "the number of each item, by its labels and its key")


@rule(MUST, source=f"{IDENTITY}; PutOp: namespace and key identify the item")
@pytest.mark.parametrize("separators", SEPARATORS.values(), ids=SEPARATORS)
def test_a_joined_lookalike_is_not_read(store: StoreDrive, root: str, separators: Sequence[str]) -> None:
    """`get` gives None where nothing was put, though an item elsewhere has the same labels and key when joined.

    A user about whom nothing is known must not be answered with what is known of another.
    """
    patterns = [("a:b", "c", "d"), ("a", "b:c", "d"), ("a", "b", "c:d"), ("a", "b:c:d")]
    groups = [distinct(spread([separator], *patterns)) for separator in storable(store, separators)]
    branches = {each: (root, str(number)) for number, each in enumerate(each for group in groups for each in group)}
    for each, branch in branches.items():
        store.put((*branch, *each[:-1]), each[-1], {"number": 1})
    places = [(each, other) for group in groups for each in group for other in group if other != each]
    found = {(each, other): number_of(store.get((*branches[each], *other[:-1]), other[-1])) for each, other in places}
    expect_same(dict.fromkeys(places), found, "what is read of the second place where an item is in the first")


@rule(MUST, source=f"{IDENTITY}; BaseStore.search: namespace_prefix, BaseStore.list_namespaces")
@pytest.mark.parametrize("separators", SEPARATORS.values(), ids=SEPARATORS)
def test_labels_are_no_joined_text_in_searches_and_lists(
    store: StoreDrive, root: str, separators: Sequence[str]
) -> None:
    """Searches and lists tell labels apart, too: a prefix ends with a label, not at a sign within one.

    A search below ("a",) that finds ("a/b",) gives one user the memories of another; a list that splits it shows
    namespaces that do not exist.
    """
    patterns = [("a:b", "c"), ("a", "b:c"), ("a", "b", "c"), ("a:b:c",), ("a:b",), ("a", "b"), ("a",)]
    joined = spread(storable(store, separators), *patterns)
    namespaces = [(root, *labels) for labels in joined if all(legal(label) for label in labels)]
    put_all(store, {namespace: number for number, namespace in enumerate(namespaces)})
    expected = {each: sorted(other for other in namespaces if other[: len(each)] == each) for each in namespaces}
    searched = {each: sorted(item.namespace for item in store.search(each, limit=1000)) for each in namespaces}
    listed = {each: sorted(store.list_namespaces(prefix=each, limit=1000)) for each in namespaces}
    expect_same(expected, searched, "the namespaces found by each prefix")
    expect_same(expected, listed, "the namespaces listed by each prefix")


SHAPES: Mapping[str, Sequence[Namespace]] = {
    "order": [("a", "b", "c"), ("c", "b", "a"), ("b", "a", "c"), ("a", "c", "b"), ("b", "a"), ("a", "b")],
    "repetition": [("a",), ("a", "a"), ("a", "a", "a"), ("a", "b", "a"), ("a", "b"), ("b", "a", "b"), ("b", "b", "a")],
    "depth": [tuple("abcdefghijkl"[:depth]) for depth in range(1, 13)],
    "last-of-many": [(*"abcdefghijk", end) for end in ("x", "y")] + [(*"abcdefghijk", "x", "y")],
    "parts": [("a",), ("b",), ("b", "c"), ("a", "c"), ("c",), ("a", "b", "c")],
    "numbers": [("1", "2"), ("12",), ("1", "2", "3"), ("12", "3"), ("1", "23"), ("123",)],
}


@rule(MUST, source=IDENTITY)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_namespace_is_all_of_its_labels_in_order(store: StoreDrive, root: str, shape: str) -> None:
    """Namespaces differ by the order, the number and the repetition of their labels, and by each of them, at any depth.

    ("user", "team") and ("team", "user") are two places; so are a place and the one below it.
    """
    numbers = {(root, *labels): number for number, labels in enumerate(SHAPES[shape])}
    put_all(store, numbers)
    expect_same(numbers, numbers_at(store, numbers), "the number in each namespace")
    listed = store.list_namespaces(prefix=(root,), limit=1000)
    expect_same(sorted(numbers), sorted(listed), "the namespaces listed")


ELSEWHERE: Sequence[Namespace] = [
    ("a",),
    ("a", "b", "c"),
    ("a", "x"),
    ("x", "b"),
    ("x", "y"),
    ("b",),
    ("b", "a"),
    ("a", "bb"),
    ("aa", "b"),
    ("a", "a", "b"),
]


@rule(MUST, source="PutOp: namespace and key identify the item")
@pytest.mark.parametrize("act", ["put", "replace", "delete"])
def test_the_same_key_elsewhere_is_another_item(store: StoreDrive, root: str, act: str) -> None:
    """One key may be used in any number of namespaces: each has its own item.

    Applications use the same few keys ("profile", "preferences") for every user.
    """
    here, others = (root, "a", "b"), {(root, *labels): number for number, labels in enumerate(ELSEWHERE)}
    put_all(store, {**others, here: 100})
    acts: dict[str, Callable[[], None]] = {
        "put": lambda: None,
        "replace": lambda: store.put(here, "key", {"number": 101}),
        "delete": lambda: store.delete(here, "key"),
    }
    acts[act]()
    expected = {**others, here: {"put": 100, "replace": 101, "delete": None}[act]}
    expect_same(expected, numbers_at(store, expected), f"the number in each namespace, after {act} in {here[1:]}")


# --- what is refused

INVALID: Mapping[str, Callable[[str], Any]] = {
    "empty-label": lambda root: (root, ""),
    "empty-first-label": lambda root: ("", root),
    "period": lambda root: (root, "a.b"),
    "only-a-period": lambda root: (root, "."),
    "period-in-front": lambda root: (f"{root}.a", "b"),
    "number": lambda root: (root, 1),
    "none": lambda root: (root, None),
    "bytes": lambda root: (root, b"a"),
    "bool": lambda root: (root, True),
}
ROOTS: Mapping[str, Callable[[str], Any]] = {
    "no-label": lambda root: (),
    "reserved": lambda root: ("langgraph",),
    "below-reserved": lambda root: ("langgraph", root),
}


def refusals(root: str, call: Callable[[Any], Any], namespaces: Mapping[str, Callable[[str], Any]]) -> dict[str, str]:
    """What a call does with each of these namespaces: the name of the exception, or ``accepted``."""
    return {name: outcome_of(partial(call, make(root))) for name, make in namespaces.items()}


def all_refused(namespaces: Mapping[str, object]) -> dict[str, str]:
    """What must be done with them."""
    return dict.fromkeys(namespaces, InvalidNamespaceError.__name__)


@rule(MUST, source=DECLARED)
def test_put_refuses_invalid_labels(store: StoreDrive, root: str) -> None:
    """`put` raises InvalidNamespaceError for a label that is empty, has a period, or is no text.

    Stores join labels with periods; one that lets them through stores in the place of another namespace.
    """
    outcomes = refusals(root, lambda namespace: store.put(namespace, root, {"number": 1}), INVALID)
    expect_same(all_refused(INVALID), outcomes, "what put does with these namespaces")


@rule(MUST, source=DECLARED)
def test_put_refuses_no_label_and_the_reserved_root(store: StoreDrive, root: str) -> None:
    """`put` raises InvalidNamespaceError for a namespace without labels, and below "langgraph", which is reserved.

    An item that is nowhere is everyone's; what lies below "langgraph" may be LangGraph's own one day.
    """
    outcomes = refusals(root, lambda namespace: store.put(namespace, root, {"number": 1}), ROOTS)
    expect_same(all_refused(ROOTS), outcomes, "what put does with these namespaces")


@rule(MUST, source=DECLARED, since="langgraph-checkpoint>=4.3")
def test_put_refuses_nul_in_a_label(store: StoreDrive, root: str) -> None:
    """`put` raises InvalidNamespaceError for a label with a NUL character.

    Databases cut a text there, or use it to join labels.
    """
    expect_raises(
        InvalidNamespaceError, lambda: store.put((root, "a\0b"), "key", {"number": 1}), "put in a label with NUL"
    )


VALID: Mapping[str, Callable[[str], Namespace]] = {
    "langgraph-deeper": lambda root: (root, "langgraph"),
    "langgraph-and-more": lambda root: (f"langgraph{root}",),
    "langgraph-in-capitals": lambda root: ("LangGraph", root),
}


@rule(MUST, source=DECLARED)
@pytest.mark.parametrize("namespace", VALID)
def test_only_the_root_langgraph_is_reserved(store: StoreDrive, root: str, namespace: str) -> None:
    """ "langgraph" is reserved as the first label, to the letter: deeper, or as a part of a label, it may be used.

    It is a word that applications of LangGraph use.
    """
    numbers = {VALID[namespace](root): 1}
    put_all(store, numbers)
    expect_same(numbers, numbers_at(store, numbers), "the number in the namespace")


READS: Mapping[str, Callable[[StoreDrive, Namespace], Any]] = {
    "get": lambda store, namespace: store.get(namespace, "key"),
    "search": lambda store, namespace: store.search(namespace),
    "delete": lambda store, namespace: store.delete(namespace, "key"),
    "list-prefix": lambda store, namespace: store.list_namespaces(prefix=namespace),
    "list-suffix": lambda store, namespace: store.list_namespaces(suffix=namespace),
}


@rule(
    MUST,
    source="BaseStore.get, search, delete, list_namespaces: _validate_namespace_labels",
    since="langgraph-checkpoint>=4.3",
)
@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_other_calls_refuse_invalid_labels(
    store: StoreDrive, root: str, read: Callable[[StoreDrive, Namespace], Any]
) -> None:
    """`get`, `search`, `delete` and `list_namespaces` raise InvalidNamespaceError for labels that cannot exist.

    A label with a period would reach into another namespace of a store that joins labels with periods.
    """
    outcomes = refusals(root, lambda namespace: read(store, namespace), INVALID)
    expect_same(all_refused(INVALID), outcomes, "what the call does with these namespaces")


@rule(MUST, source="BaseStore.search: (): search entire store; _validate_namespace is for put alone")
@pytest.mark.parametrize("namespace", [(), ("langgraph",), ("langgraph", "x")], ids=["empty", "reserved", "below"])
def test_reads_may_name_any_root(store: StoreDrive, root: str, namespace: Namespace) -> None:
    """A search or list may be of the whole store, and reads may ask below "langgraph": they find what is there.

    `()` is how all namespaces are looked through.
    """
    store.put((root,), "key", {"marker": root})
    found = {
        "search": [each.namespace for each in store.search(namespace, filter={"marker": root})],
        "prefix and suffix": store.list_namespaces(prefix=namespace, suffix=(root,)),
    }
    expect_same(dict.fromkeys(found, [] if namespace else [(root,)]), found, f"what is found below {namespace}")


# only texts: a store that let a number in could not sort its namespaces any more, for whoever lists them next
INVALID_TEXTS = {name: make for name, make in INVALID.items() if all(isinstance(label, str) for label in make("root"))}
OPERATIONS: Mapping[str, Callable[[Any], Any]] = {
    "PutOp": lambda namespace: PutOp(namespace, "key", {"number": 1}),
    "PutOp-None": lambda namespace: PutOp(namespace, "key", None),
    "GetOp": lambda namespace: GetOp(namespace, "key"),
    "SearchOp": lambda namespace: SearchOp(namespace),
    "ListNamespacesOp": lambda namespace: ListNamespacesOp((MatchCondition("prefix", namespace),)),
}


@rule(
    SHOULD,
    source="langgraph.store.base.validate_op_namespace; SqliteStore, PostgresStore",
    since="langgraph-checkpoint>=4.3",
)
@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_batch_refuses_invalid_labels(store: StoreDrive, root: str, operation: Callable[[Any], Any]) -> None:
    """`batch` checks the labels of its operations, too, for each kind of operation.

    It is called by those who have many operations; what the single methods refuse must not get in, or out, this way.
    """
    outcomes = refusals(root, lambda namespace: store.batch([operation(namespace)]), INVALID_TEXTS)
    taken = [name for name, outcome in outcomes.items() if outcome == "accepted"]
    expect_same([], taken, "the namespaces that a batch of one operation takes")


@rule(MUST, source="langgraph.store.base.validate_op_namespace: a.b cannot address the namespace (a, b)")
@pytest.mark.parametrize("way", ["put", "batch", "get", "delete", "search"])
def test_a_label_with_a_period_reaches_no_other_namespace(store: StoreDrive, root: str, way: str) -> None:
    """Whatever a call with the label "a.b" does, it neither changes nor gives what is in ("a", "b").

    User names have periods: "jo.hn" must not read the memories of user "jo" about "hn".
    """
    store.put((root, "a", "b"), "key", {"number": 1})
    wrong = (root, "a.b")
    ways: dict[str, Callable[[], Any]] = {
        "put": lambda: store.put(wrong, "key", {"number": 2}),
        "batch": lambda: store.batch([PutOp(wrong, "key", {"number": 2})])[0],
        "get": lambda: contents(store.get(wrong, "key")),
        "delete": lambda: store.delete(wrong, "key"),
        "search": lambda: [contents(each) for each in store.search(wrong)] or None,
    }
    given = kept_or_refused(ways[way])
    expect_same(None, None if given == "refused" else given, "what the call gave")
    expect_same(1, number_of(store.get((root, "a", "b"), "key")), "the item of the other namespace")
