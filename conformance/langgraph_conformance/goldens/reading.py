"""Goldens read back: their sections, and the values in them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Union

OPENING, CLOSING = "[({", "])}"


class UnreadableGolden(Exception):
    """A golden that cannot be read: which, in which line, and what was expected there."""


Tree = dict[str, Union[str, "Tree"]]
"""Sections by heading; the text of a value under its key."""


def sections(text: str, origin: str) -> Tree:
    """The sections of a golden.

    Args:
        text: what ``text_of`` gave.
        origin: where it comes from, for the error.

    Raises:
        UnreadableGolden: it has another form.
    """
    root: Tree = {}
    open_sections = [root]
    lines = enumerate(text.splitlines(), 1)
    for number, line in lines:
        where = f"{origin}, line {number}"
        indent = len(line) - len(line.lstrip(" "))
        if indent % 2 or indent // 2 >= len(open_sections):
            raise UnreadableGolden(f"{where}: expected a key that is indented like those around it")
        del open_sections[indent // 2 + 1 :]
        key, colon, value = line.strip().partition(": ")
        if colon and value:
            if value[-1] in OPENING:
                value = "\n".join([value, *_until_closed(lines, indent, where)])
            open_sections[-1][key] = value
        elif key.endswith(":"):
            section: Tree = {}
            open_sections[-1][key[:-1]] = section
            open_sections.append(section)
        else:
            raise UnreadableGolden(f"{where}: expected 'key: value' or 'heading:', found {line.strip()[:60]!r}")
    return root


def _until_closed(lines: Iterator[tuple[int, str]], indent: int, where: str) -> Iterator[str]:
    for _, line in lines:
        yield line
        if len(line) - len(line.lstrip(" ")) <= indent:
            if line.strip()[:1] in tuple(CLOSING):
                return
            break
    raise UnreadableGolden(f"{where}: a bracket is opened and not closed")


@dataclass(frozen=True)
class Word:
    """What stands for itself in a golden: a name, a version, a sentence."""

    text: str


@dataclass(frozen=True)
class Made:
    """An object in a golden, such as ``Send(node='work', arg=1)``; members without a name are numbered."""

    name: str
    members: dict[str, Any]


_NAMED = re.compile(
    r"(?P<literal>b?'(?:[^'\\\n]|\\.)*'|b?\"(?:[^\"\\\n]|\\.)*\")|(?P<word>(?:\d{20,}\.)?<[^<>\n]*>)", re.DOTALL
)


def value_of(text: str) -> Any:
    """The value that stands in a golden: dicts, lists (of sets, too), literals, ``Made`` and ``Word``.

    What has no such form is one ``Word``: a sentence, for example.
    """
    source = _NAMED.sub(lambda found: found["literal"] or f"_word({found['word']!r})", text)
    try:
        return _value(ast.parse(source.strip(), mode="eval").body)
    except (SyntaxError, ValueError, TypeError):
        return Word(" ".join(text.split()))


def _value(node: ast.expr) -> Any:
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return [_value(member) for member in node.elts]
    if isinstance(node, ast.Dict):
        return {_key(key): _value(value) for key, value in zip(node.keys, node.values, strict=True)}
    if isinstance(node, ast.Name):
        return Word(node.id)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id == "_word":
            return Word(ast.literal_eval(node.args[0]))
        named = {str(each.arg): _value(each.value) for each in node.keywords}
        return Made(node.func.id, {**{str(at): _value(each) for at, each in enumerate(node.args)}, **named})
    return ast.literal_eval(node)


def _key(node: ast.expr | None) -> Any:
    key = _value(node) if node is not None else None
    return key.text if isinstance(key, Word) else key if isinstance(key, (str, bytes)) else repr(key)
