"""What the rules about stores look at, and how they let time pass."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from langgraph.store.base import Item

from langgraph_conformance.drive import StoreDrive
from langgraph_conformance.errors import Blocked
from langgraph_conformance.threads import fresh_id

LONGEST_TICK = 1.5
"""Seconds after which a clock counts as standing still; the coarsest clock of an official store moves every second."""


def contents(item: Any) -> Any:
    """Namespace, key and value of an item; what is no item, as it is."""
    if not isinstance(item, Item):
        return item
    return {"namespace": item.namespace, "key": item.key, "value": item.value}


def whole(item: Any) -> Any:
    """All of an item, but for a search's score; what is no item, as it is."""
    if not isinstance(item, Item):
        return item
    return {**contents(item), "created_at": item.created_at, "updated_at": item.updated_at}


def value_of(item: Item | None) -> Any:
    """An item's value, None for no item."""
    return None if item is None else item.value


def number_of(item: Item | None) -> Any:
    """The number that an item holds, None for no item."""
    return None if item is None else item.value.get("number")


def numbers_of(items: Iterable[Item]) -> list[Any]:
    """The numbers that items hold, sorted."""
    return sorted(number_of(item) for item in items)


def let_time_pass(store: StoreDrive, root: str) -> None:
    """Wait until the store's clock has moved: what is put from now on has later times than what was put before."""

    def now() -> Any:
        key = fresh_id()
        store.put(("clock", root), key, {"field": "value"})
        item = store.get(("clock", root), key)
        return item and item.created_at

    begin, until = now(), time.monotonic() + LONGEST_TICK
    store.wait(0.005)
    while now() == begin and time.monotonic() < until:
        store.wait(0.05)


def kept_or_refused(call: Callable[[], Any]) -> Any:
    """What the call gives; the text ``refused`` when the store raises."""
    try:
        return call()
    except Blocked:
        raise
    except Exception:
        return "refused"


CONTROLS = "\x08\x1e\x1f"
"""Characters that a store may refuse in labels and keys, so long as it says so."""


def storable(store: StoreDrive, texts: Iterable[str]) -> list[str]:
    """Those of ``texts`` that can be labels and keys of this store: not those with control characters it refuses."""
    texts = list(texts)
    root, asked = fresh_id(), sorted({sign for text in texts for sign in text if sign in CONTROLS})
    accepted = {sign: outcome_of(partial(store.put, (root, f"a{sign}"), f"a{sign}", {})) for sign in asked}
    return [text for text in texts if all(accepted.get(sign, "accepted") == "accepted" for sign in text)]


def outcome_of(call: Callable[[], Any]) -> str:
    """``accepted``, or the name of what the call raises."""
    try:
        call()
    except Blocked:
        raise
    except Exception as error:
        return type(error).__name__
    return "accepted"
