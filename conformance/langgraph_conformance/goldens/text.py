"""Values and sections as text that people can read and compare line by line."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Union

from langchain_core.messages import BaseMessage
from langgraph.types import Command, Interrupt, Send

from .names import Names

WIDTH = 110
"""A value that fits on a line of that many characters is not broken into several."""


class Section(dict[str, Any]):
    """Keys and values, or further sections, each on lines of its own under an indented heading."""


class Said(str):
    """A text that stands for itself: it is shown without quotes."""


@dataclasses.dataclass(frozen=True)
class Group:
    """A value with members, which are put on lines of their own where one line is too short."""

    open: str
    members: list[tuple[str, Node]]
    close: str
    separator: str = ", "


Node = Union[str, Group]  # noqa: UP007 - the name is used by the class above


def text_of(section: Section, names: Names) -> str:
    """The text of a section; no line is much longer than ``WIDTH``."""
    return "\n".join(_section_lines(section, names, "")) + "\n"


def _section_lines(section: Section, names: Names, indent: str) -> list[str]:
    lines = []
    for key, value in section.items():
        heading = f"{indent}{names.say(key)}:"
        if isinstance(value, Section):
            lines += [heading, *_section_lines(value, names, indent + "  ")]
        else:
            lines += _laid_out(f"{heading} ", node_of(value, names), "", indent)
    return lines


def _laid_out(prefix: str, node: Node, suffix: str, indent: str) -> list[str]:
    line = f"{prefix}{_on_one_line(node)}{suffix}"
    if isinstance(node, str) or not node.members or len(line) <= WIDTH:
        return [line]
    lines = [f"{prefix}{node.open}"]
    for key, member in node.members:
        lines += _laid_out(f"{indent}  {key}", member, node.separator.rstrip(), indent + "  ")
    return [*lines, f"{indent}{node.close}{suffix}"]


def _on_one_line(node: Node) -> str:
    if isinstance(node, str):
        return node
    members = (f"{key}{_on_one_line(member)}" for key, member in node.members)
    return f"{node.open}{node.separator.join(members)}{node.close}"


def node_of(value: Any, names: Names) -> Node:
    """``value`` as its literal, with names in place of ids, and without what differs from version to version.

    A tuple is shown as a list: a saver's serialiser may make one of the other. Of a message only type, content and id
    are shown.

    Raises:
        TypeError: there is no stable text for a value of this type.
    """
    if isinstance(value, Said):
        return names.say(value)
    if isinstance(value, str):
        return _in_pieces(names.say(value))
    if isinstance(value, (bytes, bytearray)):
        named = names.say(value.decode("latin-1")).encode("latin-1")
        return _in_pieces(named) if isinstance(value, bytes) else f"bytearray({named!r})"
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    if isinstance(value, Mapping):
        members = [(f"{_on_one_line(node_of(key, names))}: ", node_of(member, names)) for key, member in value.items()]
        return Group("{", sorted(members, key=lambda member: member[0]), "}")
    if isinstance(value, (list, tuple)) and not is_delta_snapshot(value):
        return Group("[", [("", node_of(member, names)) for member in value], "]")
    if isinstance(value, (set, frozenset)):
        if not value:
            return "set()"
        members = sorted(("", _on_one_line(node_of(member, names))) for member in value)
        return Group("{", list(members), "}")
    return _object_node(value, names)


def is_delta_snapshot(value: Any) -> bool:
    """Whether this is what a delta channel stores of its whole value. LangGraph before 1.2 has no such class."""
    return type(value).__name__ == "_DeltaSnapshot"


def _object_node(value: Any, names: Names) -> Node:
    fields: dict[str, Any]
    if isinstance(value, Interrupt):
        fields = {"value": value.value, "id": value.id}
    elif isinstance(value, Send):
        fields = {"node": value.node, "arg": value.arg}
    elif isinstance(value, Command):
        fields = {name: getattr(value, name) for name in ("graph", "update", "resume", "goto")}
        fields = {name: given for name, given in fields.items() if given not in (None, ())}
    elif isinstance(value, BaseMessage):
        fields = {"content": value.content, "id": value.id}
    elif isinstance(value, BaseException):
        return Group(f"{type(value).__name__}(", [("", node_of(each, names)) for each in value.args], ")")
    elif is_delta_snapshot(value):
        fields = {"value": value.value}
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    else:
        raise TypeError(f"a golden cannot show a {type(value).__name__}: {value!r}")
    members = [(f"{name}=", node_of(member, names)) for name, member in fields.items()]
    return Group(f"{type(value).__name__.lstrip('_')}(", members, ")")


def _in_pieces(value: str | bytes) -> Node:
    text = repr(value)
    if len(text) <= WIDTH:
        return text
    size = WIDTH // 2 if isinstance(value, str) else WIDTH // 4
    pieces = [repr(value[start : start + size]) for start in range(0, len(value), size)]
    return Group("(", [("", piece) for piece in pieces], ")", separator=" ")
