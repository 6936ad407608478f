"""Assertions that explain themselves: what was expected, what came back, and where the two differ."""

from __future__ import annotations

import dataclasses
import io
import math
import pickle
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, time
from decimal import Decimal
from typing import Any, TypeVar

from pydantic import BaseModel

from .errors import Blocked, Broken

MOST_LINES = 12
"""How many differences are shown."""
MOST_CHARACTERS = 200
"""How much of a value is shown."""

Error = TypeVar("Error", bound=BaseException)


class AtLeast(dict[Any, Any]):
    """An expected dict: what came back may have further keys, such as a saver's own in metadata."""


def shown(value: object) -> str:
    """``value`` as text, short."""
    try:
        text = repr(value)
    except Exception as error:  # a value whose own repr fails must not hide the finding
        text = f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
    if len(text) > MOST_CHARACTERS:
        text = f"{text[: MOST_CHARACTERS - 40]}… ({len(text)} characters)"
    return text


def same(expected: object, actual: object) -> bool:
    """Whether two values are equal in type and content at every depth.

    1 is not True and not 1.0, a tuple is not a list, -0.0 is not 0.0, and NaN is NaN. Dicts are compared without their
    order; where ``expected`` is ``AtLeast``, ``actual`` may have further keys.
    """
    return _plainly_same(expected, actual) or not difference(expected, actual)


def _plainly_same(expected: object, actual: object) -> bool:
    """Whether two values have the same bytes and nothing but built-in types, as most have; False says nothing."""
    plain = _bytes_of(expected)
    return plain is not None and plain == _bytes_of(actual)


def _bytes_of(value: object) -> bytes | None:
    written = io.BytesIO()
    pickler = pickle.Pickler(written, 5)
    pickler.fast = True  # what is shared within a value makes no difference
    try:
        pickler.dump(value)
    except Exception:  # locks, cycles
        return None
    found = written.getvalue()
    return None if pickle.STACK_GLOBAL in found else found


def difference(expected: object, actual: object, path: str = "") -> list[str]:
    """Lines that say where ``actual`` is not the same as ``expected``; empty when it is."""
    here = path or "value"
    if type(expected) is not type(actual):
        if isinstance(expected, Mapping) and isinstance(actual, Mapping):
            pass
        else:
            return [
                f"{here}: expected {shown(expected)} ({type(expected).__name__}), "
                f"came back {shown(actual)} ({type(actual).__name__})"
            ]
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        lines = []
        actual_keys = {_key(key): key for key in actual}
        expected_keys = {_key(key): key for key in expected}
        for mark, key in expected_keys.items():
            if mark not in actual_keys:
                lines.append(f"{path}[{shown(key)}]: expected {shown(expected[key])}, is missing")
            else:
                lines += difference(expected[key], actual[actual_keys[mark]], f"{path}[{shown(key)}]")
        lines += [
            f"{path}[{shown(key)}]: not expected, came back {shown(actual[key])}"
            for mark, key in actual_keys.items()
            if mark not in expected_keys and not isinstance(expected, AtLeast)
        ]
        return lines
    if isinstance(expected, (list, tuple)) and isinstance(actual, (list, tuple)):
        lines = []
        for index, (left, right) in enumerate(zip(expected, actual, strict=False)):
            lines += difference(left, right, f"{path}[{index}]")
        if len(expected) > len(actual):
            lines.append(
                f"{here}: expected {len(expected)} members, came back {len(actual)}; missing from "
                f"[{len(actual)}] on: {shown(expected[len(actual) :])}"
            )
        elif len(actual) > len(expected):
            lines.append(
                f"{here}: expected {len(expected)} members, came back {len(actual)}; too many from "
                f"[{len(expected)}] on: {shown(actual[len(expected) :])}"
            )
        return lines
    if isinstance(expected, float) and isinstance(actual, float):
        equal = (math.isnan(expected) and math.isnan(actual)) or (
            expected == actual and math.copysign(1, expected) == math.copysign(1, actual)
        )
        return [] if equal else [f"{here}: expected {expected!r}, came back {actual!r}"]
    if isinstance(expected, (set, frozenset)) and isinstance(actual, (set, frozenset)):
        left, right = {_key(member) for member in expected}, {_key(member) for member in actual}
        return [] if left == right else [f"{here}: expected {shown(expected)}, came back {shown(actual)}"]
    if dataclasses.is_dataclass(expected) and not isinstance(expected, type) and not hasattr(expected, "__array__"):
        lines = []
        for each in dataclasses.fields(expected):
            left, right = getattr(expected, each.name, None), getattr(actual, each.name, None)
            lines += difference(left, right, f"{path}.{each.name}")
        return lines
    if hasattr(expected, "dtype") and hasattr(actual, "dtype"):
        import numpy

        equal = expected.dtype == actual.dtype and numpy.array_equal(expected, actual, equal_nan=_has_nan(expected))
        return [] if equal else [f"{here}: expected {shown(expected)}, came back {shown(actual)}"]
    if isinstance(expected, BaseException):
        return (
            [] if repr(expected) == repr(actual) else [f"{here}: expected {shown(expected)}, came back {shown(actual)}"]
        )
    if isinstance(expected, deque) and isinstance(actual, deque):
        return difference(list(expected), list(actual), path)
    if isinstance(expected, BaseModel) and isinstance(actual, BaseModel):
        return difference(_fields(expected), _fields(actual), path)
    if not _equal(expected, actual):
        return [f"{here}: expected {shown(expected)}, came back {shown(actual)}"]
    return []


def _equal(expected: object, actual: object) -> bool:
    if isinstance(expected, (datetime, time)) and isinstance(actual, (datetime, time)):
        # aware times of one instant are equal, whatever their offsets
        return expected == actual and expected.utcoffset() == actual.utcoffset()
    if isinstance(expected, Decimal) and isinstance(actual, Decimal):
        return str(expected) == str(actual)  # 1.10 is not 1.1, and NaN is NaN
    return bool(expected == actual)


def _fields(model: BaseModel) -> dict[str, object]:
    return {**vars(model), **(model.__pydantic_extra__ or {})}


def _has_nan(array: Any) -> bool:
    return bool(array.dtype.kind in "fc")


def _key(value: object) -> object:
    """A stand-in that tells 1, True and 1.0 apart in a set or as a dict's key."""
    if isinstance(value, tuple):
        return tuple(_key(member) for member in value)
    if isinstance(value, frozenset):
        return frozenset(_key(member) for member in value)
    if isinstance(value, float) and math.isnan(value):
        return (float, "nan")
    return (type(value), value)


def expect_same(expected: object, actual: object, what: str) -> None:
    """``actual`` is ``expected``, in type and content at every depth (see ``same``).

    Args:
        expected: what the rule asks for.
        actual: what came back.
        what: what is looked at, such as ``the channel values``.

    Raises:
        Broken: they differ.
    """
    lines = [] if _plainly_same(expected, actual) else difference(expected, actual)
    if lines:
        more = [f"… and {len(lines) - MOST_LINES} more differences"] if len(lines) > MOST_LINES else []
        raise Broken(what, shown(expected), shown(actual), tuple(lines[:MOST_LINES] + more))


def expect_equal(expected: object, actual: object, what: str) -> None:
    """``actual == expected``, for what need not have the same type, such as list and tuple.

    Raises:
        Broken: they differ.
    """
    if not bool(expected == actual):
        raise Broken(what, shown(expected), shown(actual), tuple(difference(expected, actual)[:MOST_LINES]))


def expect_true(holds: bool, what: str, expected: str, actual: object) -> None:
    """``holds``, for what no comparison of two values says.

    Args:
        holds: whether the rule holds.
        what: what is looked at.
        expected: what the rule asks for, in words.
        actual: what came back.

    Raises:
        Broken: it does not hold.
    """
    if not holds:
        raise Broken(what, expected, actual if isinstance(actual, str) else shown(actual))


def expect_raises(
    errors: type[Error] | tuple[type[Error], ...], call: Callable[[], object], what: str, *, expected: str = ""
) -> Error:
    """``call`` raises one of ``errors``; gives the exception.

    Raises:
        Broken: it returns, or raises something else.
    """
    names = " or ".join(each.__name__ for each in (errors if isinstance(errors, tuple) else (errors,)))
    wanted = expected or f"{names} to be raised"
    try:
        result = call()
    except errors as error:
        return error
    except Exception as error:
        raise Broken(what, wanted, f"{type(error).__name__}: {error}") from error
    raise Broken(what, wanted, f"no exception but {shown(result)}")


def expect_no_errors(results: Sequence[object], what: str) -> None:
    """None of the results of calls that were made together is an exception.

    Raises:
        Broken: one is; it is the cause.
        Blocked: one is that.
    """
    failed = [result for result in results if isinstance(result, BaseException)]
    blocked = next((result for result in failed if isinstance(result, Blocked)), None)
    if blocked is not None:
        raise blocked
    if failed:
        raise Broken(
            what,
            f"{len(results)} calls to succeed",
            f"{len(failed)} that raised, first {type(failed[0]).__name__}: {failed[0]}",
        ) from failed[0]
