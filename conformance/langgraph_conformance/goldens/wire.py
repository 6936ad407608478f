"""What the serializer makes of values: type tag, bytes, and the bytes decoded into a form that people can read."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ormsgpack

from .names import AsTheyAre
from .reading import Tree, UnreadableGolden, sections
from .sets import GoldenSet
from .text import Said, Section, text_of

WIRE_VIEW = "wire"

KINDS = (
    "one_argument",
    "arguments",
    "named_arguments",
    "method",
    "pydantic_1",
    "pydantic",
    "numpy",
    "delta_snapshot",
)
"""What LangGraph's extension types of msgpack hold, by their number."""


@dataclass(frozen=True)
class Ext:
    """An extension type of msgpack.

    Attributes:
        holds: what is made again of it, see ``KINDS``.
        of: what it holds, decoded.
    """

    holds: str
    of: Any


def text_of_wire(typed: Mapping[str, tuple[str, bytes]]) -> str:
    """The golden of named type tags and bytes."""
    return text_of(Section({name: typed_section(each) for name, each in typed.items()}), AsTheyAre())


def recorded_wire(golden_set: GoldenSet) -> dict[str, dict[str, tuple[str, bytes]]]:
    """Type tag and bytes of every value of a set, by kind and name.

    Raises:
        UnreadableGolden: a golden has another form.
    """
    recorded = {}
    for kind in sorted(golden_set.names(WIRE_VIEW)):
        origin = f"{WIRE_VIEW}/{kind}.txt of the set {golden_set.minor}"
        tree = sections(golden_set.read(WIRE_VIEW, kind) or "", origin)
        recorded[kind] = {name: typed_in(section, f"{origin}, {name}") for name, section in tree.items()}
    return recorded


def typed_section(typed: tuple[str, bytes]) -> Section:
    """A type tag and bytes, with the decoded form beside them."""
    tag, payload = typed
    return Section({"tag": Said(tag), "bytes": bytes(payload), "holds": decoded(typed)})


def typed_in(section: Any, origin: str) -> tuple[str, bytes]:
    """The type tag and bytes of such a section.

    Raises:
        UnreadableGolden: they are not there.
    """
    try:
        payload = ast.literal_eval(section["bytes"])
        tag = section["tag"]
    except (KeyError, TypeError, ValueError, SyntaxError) as error:
        raise UnreadableGolden(f"{origin}: expected a tag and bytes") from error
    if not isinstance(payload, bytes) or not isinstance(tag, str):
        raise UnreadableGolden(f"{origin}: expected a tag and bytes")
    return tag, payload


def decoded(typed: tuple[str, bytes]) -> Any:
    """What bytes hold, without any class that they name: extension types are shown as such."""
    tag, payload = typed
    if tag == "msgpack":
        return _unpacked(bytes(payload))
    if tag == "json":
        return json.loads(payload)
    return Said({"null": "None", "bytes": "the bytes themselves", "bytearray": "the bytes themselves"}.get(tag, "?"))


def _unpacked(payload: bytes) -> Any:
    return ormsgpack.unpackb(payload, ext_hook=_extension, option=ormsgpack.OPT_NON_STR_KEYS)


def _extension(code: int, payload: bytes) -> Ext:
    return Ext(KINDS[code] if code < len(KINDS) else f"type {code}", _unpacked(payload))


def section_at(tree: Mapping[str, Any], key: str, origin: str) -> Tree:
    """The section under a heading.

    Raises:
        UnreadableGolden: there is none.
    """
    section = tree.get(key)
    if not isinstance(section, dict):
        raise UnreadableGolden(f"{origin}: expected a section {key!r}")
    return section
