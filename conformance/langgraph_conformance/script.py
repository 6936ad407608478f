"""A stand-alone script of the calls that a check made, to see a failure without pytest."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import itertools
import pprint
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .drive import Call
from .target import Opened, Target

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
    opened = [calls[0].opened, *(call.opened for before, call in itertools.pairwise(calls) if _differ(before, call))]
    if len({id(each.backend) for each in opened}) < len(opened) or not all(each.reopened for each in opened[1:]):
        return None  # several at the same time
    imports: set[str] = set()
    opens_in_loop = target.form in ("async context", "async generator", "awaitable") or target.sets_up == "async"
    asynchronous = any(_is_async(target, call.method) for call in calls)
    portal = opens_in_loop and not asynchronous
    lines = [f"provider = {_made(target)}"] if target.is_provider() else []
    for number, each in enumerate(opened):
        own = [call for call in calls if call.opened.backend is each.backend]
        body = [_line_of(target, call, call is calls[-1], asynchronous, imports) for call in own]
        opening, depth = _opening(target, each, portal, imports, again=number > 0)
        lines += [*opening, *(_indented(line, depth) for line in body)]
        lines += [_indented(f"# {note}", depth)] if number == len(opened) - 1 else []
    imports.add(f"from {target.spec.module} import {target.spec.path[0]}")
    if asynchronous:
        imports.add("import asyncio")
        lines = ["async def main():", *(_indented(line, 1) for line in lines), "", "asyncio.run(main())"]
    text = "\n".join([*sorted(imports, key=lambda line: (line.startswith("from"), line)), "", *lines])
    return text if text.count("\n") <= MOST_LINES else None


def _differ(before: Call, call: Call) -> bool:
    return before.opened.backend is not call.opened.backend


def _line_of(target: Target, call: Call, last: bool, asynchronous: bool, imports: set[str]) -> str:
    """A call, what came of it, and the time that passed before it."""
    text = _line(target.spec.kind, call, _is_async(target, call.method), asynchronous, imports)
    if last and call.outcome == "returned" and call.most is None:
        text = f"print({text})"
    if call.outcome == "raised":
        text += f"  # raises {type(call.result).__name__}"
    elif call.outcome in ("hung", "running"):
        text += "  # does not return"
    return f"{_waiting(call, asynchronous, imports)}{text}"


def _waiting(call: Call, asynchronous: bool, imports: set[str]) -> str:
    if not call.waits:
        return ""
    if callable(getattr(call.opened.provider, "advance", None)):
        return f"provider.advance({call.waits:g})\n"
    if asynchronous:
        return f"await asyncio.sleep({call.waits:g})\n"
    imports.add("import time")
    return f"time.sleep({call.waits:g})\n"


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


def _made(target: Target) -> str:
    """The target's object, called if it is called."""
    spec = target.spec
    made = str(spec).partition(":")[2] if spec.call else ".".join(spec.path)
    return made if spec.call or target.form == "instance" else f"{made}()"


def _opening(target: Target, opened: Opened, portal: bool, imports: set[str], *, again: bool) -> tuple[list[str], int]:
    """The lines that open the backend, or its storage again, and how deep what follows them is indented.

    With ``portal`` the backend's loop runs in another thread, since its sync methods are called in this one.
    """
    kind, form, made = target.spec.kind, target.form, _made(target)
    if form == "instance":
        return [f"{kind} = {made}"], 0
    if target.is_provider():
        made = f"provider.{'reopen' if again else 'open'}()"
    if opened.settings:
        settings = {name: source_of(_named(value, imports), imports) for name, value in opened.settings.items()}
        given = ", ".join(f"{name}={text}" for name, text in settings.items())
        made = f"{made[:-1]}{'' if made.endswith('()') else ', '}{given})"
    if form in ("generator", "async generator"):
        wrapper = "contextmanager" if form == "generator" else "asynccontextmanager"
        imports.add(f"from contextlib import {wrapper}")
        function, arguments = made.split("(", 1)
        made = f"{wrapper}({function})({arguments}"
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


class _Name:
    """A function in a source text."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


def _named(settings: Mapping[str, Any], imports: set[str]) -> dict[str, Any]:
    """Settings whose functions are named; what names them is added to ``imports``."""
    functions = {name: value for name, value in settings.items() if inspect.isfunction(value)}
    imports.update(f"from {each.__module__} import {each.__name__}" for each in functions.values())
    return {**settings, **{name: _Name(each.__name__) for name, each in functions.items()}}


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
    elif kind.__module__ != "builtins" and not isinstance(value, (enum.Enum, _Name)):
        imports.add(f"from {kind.__module__} import {kind.__qualname__.split('.')[0]}")
