"""A stand-alone script of the calls that a check made, to see a failure without pytest."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import pprint
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .drive import Call
from .target import Target

MOST_CALLS = 40
"""A longer script shows less than the command that runs the check again."""
MOST_BYTES = 20_000
MOST_LINES = 120
WIDTH = 100
"""Characters in a line."""


def script_of(target: Target, calls: Sequence[Call], note: str) -> str | None:
    """The calls as a script, or None when it would be too long to read.

    Args:
        target: where the backend came from.
        calls: what the check called, in order.
        note: what the last line should have shown.
    """
    if not calls or len(calls) > MOST_CALLS or sum(call.size for call in calls) > MOST_BYTES:
        return None
    imports: set[str] = set()
    opens_in_loop = target.form in ("async context", "async generator", "awaitable") or target.sets_up == "async"
    asynchronous = any(_is_async(target, call.method) for call in calls)
    portal = opens_in_loop and not asynchronous
    kind = target.spec.kind
    body = []
    for position, call in enumerate(calls):
        last = position == len(calls) - 1
        line = _line(kind, call, _is_async(target, call.method), asynchronous, imports)
        body.append(f"print({line})" if last and call.outcome == "returned" and call.most is None else line)
        if call.outcome == "raised":
            body[-1] += f"  # raises {type(call.result).__name__}"
        elif call.outcome in ("hung", "running"):
            body[-1] += "  # does not return"
    opening, depth = _opening(target, portal, imports)
    lines = [*opening, *(_indented(line, depth) for line in body), _indented(f"# {note}", depth)]
    if asynchronous:
        imports.add("import asyncio")
        lines = ["async def main():", *(_indented(line, 1) for line in lines), "", "asyncio.run(main())"]
    text = "\n".join([*sorted(imports, key=lambda line: (line.startswith("from"), line)), "", *lines])
    return text if text.count("\n") <= MOST_LINES else None


def _is_async(target: Target, method: str) -> bool:
    return inspect.isfunction(getattr(target.base, method, None)) and (
        inspect.iscoroutinefunction(getattr(target.base, method))
        or inspect.isasyncgenfunction(getattr(target.base, method))
    )


def _indented(text: str, depth: int) -> str:
    return "\n".join("    " * depth + line for line in text.split("\n"))


def _line(kind: str, call: Call, awaited: bool, in_loop: bool, imports: set[str]) -> str:
    """A call as source; sync methods of a backend that was opened in a loop are called outside of it, in a thread."""
    arguments = [source_of(value, imports) for value in call.arguments]
    arguments += [f"{name}={source_of(value, imports)}" for name, value in call.keywords.items()]
    text = f"{kind}.{call.method}({', '.join(arguments)})"
    if "\n" in text or len(text) > WIDTH:
        text = "\n".join([f"{kind}.{call.method}(", *(_indented(f"{each},", 1) for each in arguments), ")"])
    if call.method == "alist":
        left = call.most is not None
        return f"async for item in {text}:\n    break" if left else f"[item async for item in {text}]"
    if call.method == "list" and call.most is not None:
        imports.add("import itertools")
        text = f"list(itertools.islice({text}, {call.most}))"
    elif call.method == "list":
        text = f"list({text})"
    if awaited:
        return f"await {text}"
    return f"await asyncio.to_thread(lambda: {text})" if in_loop else text


def _opening(target: Target, portal: bool, imports: set[str]) -> tuple[list[str], int]:
    """The lines that open the backend, and how deep what follows them is indented.

    With ``portal`` the backend's loop runs in another thread, since its sync methods are called in this one.
    """
    spec = target.spec
    imports.add(f"from {spec.module} import {spec.path[0]}")
    name = ".".join(spec.path)
    made = str(spec).partition(":")[2] if spec.call else name
    kind, form = spec.kind, target.form
    if form == "instance":
        return [f"{kind} = {made}"], 0
    if not spec.call:
        made += "()"
    if form == "provider":
        made = f"{made}.open()"
    if form in ("generator", "async generator"):
        wrapper = "contextmanager" if form == "generator" else "asynccontextmanager"
        imports.add(f"from contextlib import {wrapper}")
        made = f"{wrapper}({name})({made.partition('(')[2]}"
        form = "context" if form == "generator" else "async context"
    lines, depth = [], 0
    if portal:
        imports.add("from anyio.from_thread import start_blocking_portal")
        lines, depth = ["with start_blocking_portal() as portal:"], 1
    if form == "context":
        opening = f"with {made} as {kind}:"
    elif form == "async context":
        opening = (
            f"with portal.wrap_async_context_manager({made}) as {kind}:" if portal else f"async with {made} as {kind}:"
        )
    elif form == "awaitable":
        opening = f"{kind} = portal.call(lambda: {made})" if portal else f"{kind} = await {made}"
    else:
        opening = f"{kind} = {made}"
    lines.append(_indented(opening, depth))
    depth += opening.endswith(":")
    if target.sets_up:
        setting_up = f"{kind}.setup()"
        if target.sets_up == "async":
            setting_up = f"portal.call({kind}.setup)" if portal else f"await {setting_up}"
        lines.append(_indented(setting_up, depth))
    return lines, depth


def source_of(value: Any, imports: set[str]) -> str:
    """``value`` as Python source; the modules that it needs are added to ``imports``."""
    _import_types(value, imports, set())
    return pprint.pformat(value, width=WIDTH, compact=True, sort_dicts=False)


def _import_types(value: Any, imports: set[str], seen: set[int]) -> None:
    if id(value) in seen:
        return
    seen.add(id(value))
    members: Iterable[Any] = ()
    if isinstance(value, Mapping):
        members = [*value.keys(), *value.values()]
    elif isinstance(value, (list, tuple, set, frozenset)):
        members = value
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        members = [getattr(value, each.name, None) for each in dataclasses.fields(value)]
    for member in members:
        _import_types(member, imports, seen)
    kind = type(value)
    if kind.__module__ == "datetime":  # whose repr names the module
        imports.add("import datetime")
    elif kind.__module__ != "builtins" and not isinstance(value, enum.Enum):
        imports.add(f"from {kind.__module__} import {kind.__qualname__.split('.')[0]}")
