"""Embedders for vector search: deterministic, offline, and with scores that can be computed by hand."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import math
import re
from collections.abc import Sequence

from langchain_core.embeddings import Embeddings

DIMENSIONS = 16
"""How many numbers a vector has."""
_VECTOR = re.compile(r"vector:(?P<numbers>[-+.\deE,]+)")
_WORD = re.compile(r"[a-z]+")
_EMPTY = {"a", "an", "the", "i", "my", "is", "are", "what"}
"""Words that say nothing of what a text is about."""
_RELATED = {"foods": "food", "eating": "food", "love": "like", "preferences": "like", "favorite": "like"}


def vector_text(*numbers: float) -> str:
    """The text whose vector is ``numbers``, followed by zeros."""
    return "vector:" + ",".join(repr(float(number)) for number in numbers)


def embed(texts: Sequence[str]) -> list[list[float]]:
    """The vectors of ``texts``.

    A text written by ``vector_text`` has the numbers written in it. Any other text has one direction per word, so that
    texts with words in common are near each other.
    """
    return [_embed(text) for text in texts]


def _embed(text: str) -> list[float]:
    written = _VECTOR.search(text)
    if written:
        numbers = [float(number) for number in written["numbers"].split(",")]
        return numbers + [0.0] * (DIMENSIONS - len(numbers))
    vector = [0.0] * DIMENSIONS
    for word in _WORD.findall(text.lower()):
        if word in _EMPTY:
            continue
        for position, share in _direction(_RELATED.get(word, word)):
            vector[position] += share
    return vector if any(vector) else [1.0] + [0.0] * (DIMENSIONS - 1)


def _direction(word: str) -> list[tuple[int, float]]:
    digest = hashlib.sha256(word.encode()).digest()
    return [(position, digest[position] / 127.5 - 1.0) for position in range(DIMENSIONS)]


async def aembed(texts: Sequence[str]) -> list[list[float]]:
    """The vectors of ``texts``, for a store that takes an async function."""
    return embed(texts)


class ExactEmbeddings(Embeddings):
    """The same vectors as an ``Embeddings`` object; keeps what it was asked for.

    Attributes:
        seen: every text that was embedded, in order.
        documents: those of them that it was asked for as documents.
        blocking: those that a sync method was asked for where an event loop was running, which then had to wait.
        failing: texts that make it raise.
    """

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.documents: list[str] = []
        self.blocking: list[str] = []
        self.failing: set[str] = set()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def _all(self, texts: Sequence[str]) -> list[list[float]]:
        self.seen += texts
        for text in texts:
            if any(each in text for each in self.failing):
                raise ValueError("this text cannot be embedded")
        return embed(texts)

    def _note_blocking(self, texts: Sequence[str]) -> None:
        with contextlib.suppress(RuntimeError):
            asyncio.get_running_loop()
            self.blocking += texts

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self._note_blocking(texts)
        self.documents += texts
        return self._all(texts)

    def embed_query(self, text: str) -> list[float]:
        self._note_blocking([text])
        return self._all([text])[0]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        self.documents += texts
        return self._all(texts)

    async def aembed_query(self, text: str) -> list[float]:
        return self._all([text])[0]


def cosine(left: Sequence[float], right: Sequence[float]) -> float:
    """The cosine of the angle between two vectors; 0 where one has no length."""
    length = math.hypot(*left) * math.hypot(*right)
    return sum(a * b for a, b in zip(left, right, strict=True)) / length if length else 0.0
