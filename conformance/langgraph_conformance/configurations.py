"""The configurations in which one store is opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .embedders import DIMENSIONS, ExactEmbeddings, aembed, embed


@dataclass(frozen=True)
class Configuration:
    """Keywords for a store's class or factory, in the shapes of the official constructors.

    Attributes:
        name: what it is called in output and as a key.
        settings: ``index`` and/or ``ttl``.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)


FIELDS = ["text", "parts[*].text"]
"""What is embedded of an item, unless it says otherwise."""
EMBEDDINGS = ExactEmbeddings()

PLAIN = Configuration("plain")
INDEXED = Configuration("indexed", {"index": {"dims": DIMENSIONS, "embed": EMBEDDINGS, "fields": FIELDS}})
INDEXED_WHOLE = Configuration("indexed-whole", {"index": {"dims": DIMENSIONS, "embed": EMBEDDINGS}})
INDEXED_FUNCTION = Configuration("indexed-function", {"index": {"dims": DIMENSIONS, "embed": embed, "fields": FIELDS}})
INDEXED_ASYNC = Configuration("indexed-async", {"index": {"dims": DIMENSIONS, "embed": aembed, "fields": FIELDS}})
TTL = Configuration("ttl", {"ttl": {"refresh_on_read": True}})
