"""Keys: each is exactly the text that it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pytest
from langgraph.store.base import GetOp, PutOp

from langgraph_conformance.drive import StoreDrive
from langgraph_conformance.expect import expect_same
from langgraph_conformance.lookalikes import BACKSLASHES, EMPTY, HARSH, LOOKALIKES, NAMES, SURROGATES
from langgraph_conformance.rules import MUST, SHOULD, rule
from langgraph_conformance.suite.store.items import kept_or_refused, number_of, outcome_of, storable, value_of

IDENTITY = "PutOp.key: unique identifier within its namespace"
KEYS: Mapping[str, Sequence[str]] = {
    **NAMES,
    "backslashes": BACKSLASHES,
    "spaces in front": [f"{space}a" for space in ("", " ", "\n", "\t", "\u00a0")],
    "files": ["a.txt", "a.json", "a", "a.", ".a", "a.tar.gz", "a_txt", "a-txt", "a:txt", "con", "a?", "a/txt", "a|b"],
}


def put_all(store: StoreDrive, root: str, keys: Sequence[str]) -> dict[str, int]:
    """An item for each key; gives the numbers that they hold."""
    numbers = {key: number for number, key in enumerate(keys)}
    for key, number in numbers.items():
        store.put((root,), key, {"number": number})
    return numbers


@rule(MUST, source=IDENTITY)
@pytest.mark.parametrize("kind", KEYS)
def test_keys_are_exact(store: StoreDrive, root: str, kind: str) -> None:
    """A key is no other one that is like it in case, spaces, form, pattern or number: each has its own item.

    Keys are what users and models choose: titles, paths, addresses. Where two meet, one memory replaces another.
    """
    numbers = put_all(store, root, KEYS[kind])
    found = {
        "get": {key: number_of(store.get((root,), key)) for key in numbers},
        "search": {item.key: number_of(item) for item in store.search((root,), limit=1000)},
    }
    expect_same(dict.fromkeys(found, numbers), found, "the number under each key, and by the keys that a search gives")


@rule(MUST, source=IDENTITY)
@pytest.mark.parametrize("kind", KEYS)
def test_every_key_can_be_deleted(store: StoreDrive, root: str, kind: str) -> None:
    """An item can be deleted whatever signs are in its key, and no other one goes with it.

    What cannot be deleted cannot be forgotten.
    """
    numbers = put_all(store, root, KEYS[kind])
    deleted = list(numbers)[::2]
    for key in deleted:
        store.delete((root,), key)
    found = {item.key: number_of(item) for item in store.search((root,), limit=1000)}
    left = {key: number for key, number in numbers.items() if key not in deleted}
    expect_same(left, found, f"the items after deleting {deleted}")


@rule(MUST, source=IDENTITY)
@pytest.mark.parametrize("kind", LOOKALIKES)
def test_writing_under_a_key_leaves_lookalikes(store: StoreDrive, root: str, kind: str) -> None:
    """Replacing and deleting an item leaves the items whose keys look like its own, and none of them is read for it.

    A key that is taken for a pattern makes a delete reach other memories, and a get find them.
    """
    key, others = LOOKALIKES[kind]
    if not storable(store, [key]):
        pytest.skip("it refuses control characters")
    numbers = put_all(store, root, [each for each in storable(store, others) if each])
    store.put((root,), key, {"number": 100})
    store.put((root,), key, {"number": 101})
    store.delete((root,), key)
    found = {each: number_of(store.get((root,), each)) for each in (*numbers, key)}
    expect_same({**numbers, key: None}, found, f"the items after one was replaced and deleted under {key!r}")


@rule(SHOULD, source=f"{IDENTITY}; InMemoryStore, SqliteStore, PostgresStore")
def test_the_empty_key_is_a_key(store: StoreDrive, root: str) -> None:
    """The empty text is a key as any other: it can be put, found and deleted, and is no stand-in for it.

    An application that has one thing to remember in a namespace may well leave the key empty.
    """
    numbers = put_all(store, root, EMPTY)
    found = {key: number_of(store.get((root,), key)) for key in numbers}
    searched = {item.key: number_of(item) for item in store.search((root,), limit=1000)}
    store.delete((root,), "")
    after = {key: number_of(store.get((root,), key)) for key in numbers}
    expect_same(numbers, found, "the number under each key")
    expect_same(numbers, searched, "the number under each key, found by a search")
    expect_same({**numbers, "": None}, after, "the number under each key, after deleting the empty one")


@rule(MUST, source=IDENTITY)
@pytest.mark.parametrize("kind", [*HARSH, "surrogates"])
def test_a_harsh_key_is_exact_or_refused(store: StoreDrive, root: str, kind: str) -> None:
    """A key with NUL, control characters or thousands of characters is kept exactly, or refused with an error.

    Cut or cleaned in silence, it is another item's.
    """
    keys = HARSH.get(kind, SURROGATES)
    outcomes = [outcome_of(partial(store.put, (root,), key, {"number": number})) for number, key in enumerate(keys)]
    taken = {key: number for number, key in enumerate(keys) if outcomes[number] == "accepted"}
    found = {key: number_of(store.get((root,), key)) for key in taken}
    expect_same(taken, found, "the number under each key that was taken")
    left = {key: kept_or_refused(partial(store.get, (root,), key)) for key in keys if key not in taken}
    expect_same([], [key for key in left if left[key] not in (None, "refused")], "the refused keys with an item")


NUMBERS: Mapping[str, Any] = {"int": 1, "negative": -5, "large": 2**40, "float": 2.5}


@rule(SHOULD, source="BaseStore.get, put, delete: str(key)")
@pytest.mark.parametrize("key", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("reader", ["number", "text"])
def test_a_key_that_is_no_text_is_its_text(store: StoreDrive, root: str, key: Any, reader: str) -> None:
    """A key that is a number is stored, found and deleted as its text, by `put`, `get` and `delete` alike.

    The base class makes text of keys: ids of users are numbers in many an application, and texts in its URLs.
    """
    read = key if reader == "number" else str(key)
    store.put((root,), key, {"number": 1})
    item = store.get((root,), read)
    store.delete((root,), key)
    found = {"key": item and item.key, "number": number_of(item), "deleted": value_of(store.get((root,), str(key)))}
    expect_same({"key": str(key), "number": 1, "deleted": None}, found, f"the item put under {key!r}, read by {read!r}")


@rule(MUST, source="BaseStore.batch; PutOp.key, GetOp.key")
@pytest.mark.parametrize("kind", ["case", "spaces", "accents", "like", "quotes", "numbers", "reserved"])
def test_keys_are_exact_in_a_batch(store: StoreDrive, root: str, kind: str) -> None:
    """Keys are told apart in a batch as in single calls.

    Backends read many keys with one query, and match its rows to the keys in code of its own.
    """
    keys = KEYS[kind]
    store.batch([PutOp((root,), key, {"number": number}) for number, key in enumerate(keys)])
    found = store.batch([GetOp((root,), key) for key in reversed(keys)])
    expect_same([*reversed(range(len(keys)))], [number_of(each) for each in found], f"the numbers of {keys}, backwards")
