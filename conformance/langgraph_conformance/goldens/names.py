"""Stable names for what differs from run to run: ids, times, the fractions of versions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

NO_TASK = "00000000-0000-0000-0000-000000000000"
"""The task id under which LangGraph stores writes that belong to no task, such as a resume value."""

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_HEX = r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f.])"
_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?"
_CHANGING = re.compile(f"(?P<id>{_UUID}|{_HEX})|(?P<time>{_TIME})")
_VERSION = re.compile(r"(\d{32})\.([\d.e-]+)")


class Names:
    """Names in the order in which things are first named: ``<checkpoint 1>``, ``<task 1>``, ``<checkpoint 2>``.

    What was given a name is replaced by it wherever it occurs in a text, inside of namespaces and bytes, too, so that
    a golden keeps which id is which. An id that was given none becomes ``<id 1>``.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {NO_TASK: "<no task>"}
        self._counts: Counter[str] = Counter()
        self._ranks: dict[str, int] = {}
        self._unlike_ids: list[str] = []
        self._fractions: dict[str, str] = {}

    def give(self, kind: str, text: str) -> str:
        """The name of ``text``, a new one of this kind if it has none."""
        if text not in self._names:
            self._counts[kind] += 1
            self._names[text] = f"<{kind} {self._counts[kind]}>"
            self._ranks[text] = len(self._ranks)
            if not _CHANGING.fullmatch(text):
                self._unlike_ids.append(text)
        return self._names[text]

    def knows(self, text: str) -> bool:
        """Whether ``text`` has a name."""
        return text in self._names

    def rank(self, text: str) -> int:
        """The place of ``text`` in the order in which names were given; after all of them if it has none."""
        return self._ranks.get(text, len(self._ranks))

    def say(self, text: str) -> str:
        """``text`` with names in place of ids and times."""
        for each in self._unlike_ids:
            text = text.replace(each, self._names[each])
        return _CHANGING.sub(lambda found: self.give(str(found.lastgroup), found[0]), text)

    def say_version(self, version: object) -> str:
        """A version with its random fraction replaced; one that has none is given in full."""
        found = _VERSION.fullmatch(version) if isinstance(version, str) else None
        if found is None:
            return repr(version)
        return f"{found[1]}.{self._fractions.setdefault(found[2], f'<fraction {len(self._fractions) + 1}>')}"


class AsTheyAre(Names):
    """No names: for goldens that are read back, whose ids must stay as they are."""

    def say(self, text: str) -> str:
        return text


def numbered(versions: Iterable[Any], before: Mapping[Any, int]) -> dict[Any, int]:
    """Numbers of ``versions``, counted up in their order after those ``before``.

    Savers may count with whatever they like, as long as versions grow: their order is what all savers have in common.

    Args:
        versions: what a checkpoint holds.
        before: the numbers of its parent's versions.
    """
    numbers = dict(before)
    new = sorted({version for version in versions if version not in before}, key=lambda each: (str(type(each)), each))
    for version in new:
        numbers[version] = max(numbers.values(), default=0) + 1
    return numbers
