"""Errors of the suite, each with the sentence that its reader needs."""

from __future__ import annotations


class TargetError(Exception):
    """The target cannot be opened as the user gave it: what was given, what is expected, how to mend it."""


class Broken(AssertionError):
    """A rule does not hold.

    Args:
        what: what was looked at, such as ``the ids listed``.
        expected: what the rule asks for, in words or as a value's text.
        actual: what came back.
        difference: lines that name where the two differ.
    """

    def __init__(self, what: str, expected: str, actual: str, difference: tuple[str, ...] = ()) -> None:
        self.what, self.expected, self.actual, self.difference = what, expected, actual, difference
        lines = [f"{what}: expected {expected}, came back {actual}", *difference]
        super().__init__("\n".join(lines))


class Blocked(Exception):
    """A check could not be tried because of an earlier failure; it is neither passed nor failed."""


class TimedOut(BaseException):
    """A check did not end within its limit.

    It is no ``Exception``, so that neither a backend's ``except Exception`` nor Hypothesis, which would shrink a hang
    for an hour, can take it.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(f"no end within {seconds:g} s")
