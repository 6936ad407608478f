"""Runs a property's examples: within a time budget, and with one short failing example to show for them.

Hypothesis draws the examples and shrinks a failing one. What it does not know is that a backend may be far away, hang,
or spoil its own connection; that is what this module adds.
"""

from __future__ import annotations

import contextlib
import random
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.errors import HypothesisException
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test
from hypothesis.statistics import collector, describe_statistics
from hypothesis.strategies import SearchStrategy

from .drive import Call, Drive
from .errors import Blocked, Broken, TimedOut
from .watchdog import limit

Value = TypeVar("Value")
AnyDrive = TypeVar("AnyDrive", bound=Drive)


@dataclass(frozen=True)
class Profile:
    """How much a property tries.

    Attributes:
        examples: at most.
        steps: of one example of a state machine.
        seconds: after which no further example is begun.
    """

    examples: int
    steps: int
    seconds: float


PROFILES = {
    "quick": Profile(15, 12, 1.0),
    "default": Profile(60, 16, 4.0),
    "deep": Profile(2000, 40, 36.0),
}
LIMITS = 2.0
"""How many times the limit of a check a property may take as a whole; each of its examples has that limit alone."""
EXPLORING = 1.2
"""Within how many limits examples are drawn at most."""
SHRINKING = 1.7
"""Until how many limits from the beginning a failing example is made shorter at most."""
SHRINKING_SECONDS = 12.0
"""How long a failing example is made shorter at most."""
ROUND = 9
"""Examples of one run of Hypothesis.

After ten it takes up to five of six from an earlier one, with a part of it twice; in few examples that finds less than
as many new ones.
"""
SUMS = {"duration-seconds", "test-cases", "distinct-failures", "shrinks-successful"}
"""What Hypothesis counts in each phase of a round."""
SHORT = 12
"""Calls of an example that a script shows well."""
SMALLER_SECONDS = 12.0
"""How long a smaller example is looked for where the failing one is not short."""
LONGEST = 0.7
"""Share of the limit after which an example of a slow backend is cut short: what it tried counts."""


class OutOfTime(KeyboardInterrupt):
    """The budget is used. Hypothesis stops at once, and saves nothing, for a KeyboardInterrupt alone."""


@dataclass
class Failure:
    """A failing example.

    Attributes:
        error: what it raised.
        calls: what it called on the backend.
        number: of the example, from 1.
    """

    error: Exception
    calls: list[Call]
    number: int

    def is_like(self, other: Failure) -> bool:
        """Whether both show the same fault, going by what was looked at and what was raised."""
        return _kind(self.error) == _kind(other.error)


_UNNAMED = re.compile(r"[^\d({\[\"']*")
"""What was looked at, up to the first name or number: ids are other ones in each example."""


def _kind(error: Exception) -> tuple[object, ...]:
    match = _UNNAMED.match(error.what) if isinstance(error, Broken) else None
    return (type(error), match and match[0])


class _Calls(list[Call]):
    """The calls of an example; before each one that is on its own ``check`` may end the example."""

    def __init__(self, check: Callable[[], None]) -> None:
        super().__init__()
        self._check = check

    def append(self, call: Call) -> None:
        if not call.together:
            self._check()
        super().append(call)


@dataclass(frozen=True)
class Round:
    """One run of Hypothesis.

    Attributes:
        seed: of its examples.
        settings: of Hypothesis.
    """

    seed: int | str
    settings: settings

    def call(self, values: SearchStrategy[Value], body: Callable[[Value], None]) -> None:
        """Call ``body`` with each value that is drawn."""

        def test(value: Value) -> None:
            body(value)

        self.settings(given(values)(seed(self.seed)(test)))()


@dataclass
class Explorer:
    """Tries the examples of one property.

    Attributes:
        profile: how much to try.
        limit: seconds that one example may take.
        seed: of the examples; None where Hypothesis is set to draw the same ones each time.
        show: takes the calls of the example to be shown.
        item: pytest's, for Hypothesis's statistics.
        done: examples that were tried.
        notes: lines that say how a failing example was found.
    """

    profile: Profile
    limit: float
    seed: int | str | None
    show: Callable[[list[Call]], None]
    item: pytest.Item
    done: int = 0
    notes: list[str] = field(default_factory=list)
    _failure: Failure | None = None
    _blocked: Blocked | None = None
    _begun: float = field(default_factory=time.monotonic)
    _failed_at: float = 0.0
    _example_begun: float = 0.0
    _looks: int = 0
    _until: float | None = None
    _statistics: Any = field(default_factory=dict)

    # -- within an example

    @contextlib.contextmanager
    def example(self, *drives: Drive) -> Iterator[None]:
        """Everything that one example does; the calls of ``drives`` are noted from here on.

        Raises:
            OutOfTime: the budget is used.
        """
        self._check_budget()
        calls = _Calls(self._check_example)
        for drive in drives:
            drive.calls = calls
        number = self.done + 1
        self._example_begun, self._looks = time.monotonic(), 0
        try:
            with limit(self.limit):
                yield
        except TimedOut:
            self._show(calls, number, "")
            raise
        except OutOfTime:
            self.done += self._looks > 0
            raise
        except HypothesisException:
            raise
        except Blocked as error:
            self._blocked = error
            raise OutOfTime from error
        except Exception as error:
            self._note_failure(Failure(error, list(calls), number))
            raise
        if not self._failure:
            self.done += self._looks > 0

    def looked(self) -> None:
        """Say that something was compared: an example in which nothing was does not count.

        Raises:
            OutOfTime: the example takes too long; what was compared so far holds.
        """
        self._looks += 1
        self._check_example()

    def _check_example(self) -> None:
        if time.monotonic() - self._example_begun > LONGEST * self.limit:
            raise OutOfTime

    def _note_failure(self, failure: Failure) -> None:
        if self._failure is None:
            self._failure, self._failed_at = failure, time.monotonic()
        elif failure.is_like(self._failure) and len(failure.calls) <= len(self._failure.calls):
            failure.number = self._failure.number
            self._failure = failure

    def _check_budget(self) -> None:
        now = time.monotonic()
        since = now - self._begun
        if self._until is not None:
            used = now > self._until
        elif self._failure:
            used = since > SHRINKING * self.limit or now - self._failed_at > SHRINKING_SECONDS
        else:
            used = self.done > 0 and since > min(self.profile.seconds, EXPLORING * self.limit)
            used = used or since > EXPLORING * self.limit
        if used:
            raise OutOfTime

    # -- all examples

    def machine(
        self, make: Callable[[], RuleBasedStateMachine], make_small: Callable[[], RuleBasedStateMachine]
    ) -> None:
        """Run a state machine's examples; each is one object that ``make`` gives.

        Args:
            make: gives an example.
            make_small: gives one without operations of many calls, to show what a long one has shown.

        Raises:
            Exception: what the shortest failing example raised.
        """

        def run(made: Callable[[], RuleBasedStateMachine], round: Round) -> None:
            run_state_machine_as_test(seed(round.seed)(lambda: made()), settings=round.settings)  # type: ignore[arg-type]

        self._explore(partial(run, make), 1.0, partial(run, make_small))

    def each(self, values: SearchStrategy[Value], body: Callable[[Value], None], *, share: float = 1.0) -> None:
        """Call ``body``, which opens an ``example``, with values that are drawn.

        Args:
            values: what is drawn.
            body: tries one.
            share: of the profile's examples, where these cost more.

        Raises:
            Exception: what the shortest failing example raised.
        """
        self._explore(lambda round: round.call(values, body), share)

    def draw(self, values: SearchStrategy[Value], number: int) -> list[Value]:
        """Values that are tried together, later."""
        drawn: list[Value] = []
        for round in self._rounds(number):
            only = settings(round.settings, phases=[Phase.generate], database=None)
            replace(round, settings=only).call(values, drawn.append)
        return drawn

    def _explore(
        self, run: Callable[[Round], None], share: float, run_small: Callable[[Round], None] | None = None
    ) -> None:
        try:
            with collector.with_value(self._note_statistics):  # type: ignore[arg-type]
                for round in self._rounds(max(1, int(self.profile.examples * share))):
                    run(round)
        except OutOfTime:
            pass
        except BaseException:
            # of a failing example the shortest one is shown, which need not be the last one that Hypothesis tried
            if self._failure is None:
                raise
        if self._failure is not None:
            if run_small is not None and len(self._failure.calls) > SHORT:
                self._failure = self._smaller(self._failure, run_small)
            self._show(self._failure.calls, self._failure.number, "; shown is the shortest one found after it")
            raise self._failure.error
        if self._blocked is not None:
            raise self._blocked
        if self.done == 0:
            pytest.skip("no example came to its end within the time: nothing is known")

    def _smaller(self, failure: Failure, run: Callable[[Round], None]) -> Failure:
        """A failing example of few calls, where one is found soon; else the one that there is."""
        self._until = min(time.monotonic() + SMALLER_SECONDS, self._begun + SHRINKING * self.limit)
        self._failure = None
        with contextlib.suppress(OutOfTime, TimedOut, Blocked, Exception):
            for round in self._rounds(self.profile.examples):
                run(round)
        found = self._failure
        if found is None or len(found.calls) >= len(failure.calls):
            return failure
        return replace(found, number=failure.number)

    def _rounds(self, examples: int) -> Iterator[Round]:
        """Runs of Hypothesis with so many examples in all."""
        for number, begin in enumerate(range(0, examples, ROUND)):
            # the examples that failed before are tried once
            phases = [phase for phase in self._phases() if number == 0 or phase is not Phase.reuse]
            chosen = 0 if self.seed is None else self.seed
            yield Round(
                chosen if number == 0 else f"{chosen} {number}",
                settings(self._settings(), max_examples=min(ROUND, examples - begin), phases=phases),
            )

    @staticmethod
    def _phases() -> list[Phase]:
        return [phase for phase in _parent().phases if phase is not Phase.explain]

    def _note_statistics(self, statistics: Any) -> None:
        """Add what Hypothesis counted in a round to what it counted before."""
        for name, found in statistics.items():
            known = self._statistics.setdefault(name, found)
            if isinstance(found, dict) and known is not found:
                known.update({key: known[key] + value for key, value in found.items() if key in SUMS & known.keys()})
        self._statistics["nodeid"] = self.item.nodeid
        self.item.__dict__["hypothesis_statistics"] = describe_statistics(self._statistics)

    def _settings(self) -> settings:
        verbosity = _parent().verbosity
        return settings(
            stateful_step_count=self.profile.steps,
            deadline=None,
            report_multiple_bugs=False,
            print_blob=False,
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet if verbosity is Verbosity.normal else verbosity,
        )

    def _show(self, calls: list[Call], number: int, shrunk: str) -> None:
        self.show(calls)
        self.notes.append(f"Found by example {number}{self.again}{shrunk}.")

    @property
    def again(self) -> str:
        """How the same examples are had again."""
        return "" if self.seed is None else f" with --hypothesis-seed={self.seed}"

    def summary(self) -> str:
        """How much was tried, in words."""
        return f"{self.done} examples in {time.monotonic() - self._begun:.1f} s"


def _parent() -> settings:
    """What the user has set for all of Hypothesis."""
    return settings.default or settings()


def chosen_seed(config: pytest.Config) -> int | str | None:
    """The seed of a property's examples: what the user gave, or a random one; None for the same ones each time."""
    given_seed: str | None = config.getoption("--hypothesis-seed", None)
    if given_seed is not None:
        return int(given_seed) if given_seed.isdecimal() else given_seed
    if _parent().derandomize:
        return None
    return random.SystemRandom().getrandbits(32)


@dataclass(frozen=True)
class World(Generic[AnyDrive]):
    """Where the examples of one property take place.

    Attributes:
        explorer: whose examples these are.
        drives: gives the drives over the open backend, anew where it was thrown away.
        offers: optional operations that the backend has.
        wide: whether advice is looked at, too.
        small: whether operations of many calls are left out.
        restart: closes the backend, opens its storage again, and gives the new drives.
    """

    explorer: Explorer
    drives: Callable[[], Sequence[AnyDrive]]
    offers: frozenset[str] = frozenset()
    wide: bool = False
    small: bool = False
    restart: Callable[[], Sequence[AnyDrive]] | None = None

    def explore(self, machine: Callable[[World[AnyDrive]], Machine[AnyDrive]]) -> None:
        """Try the examples; each is one ``machine``."""
        self.explorer.machine(lambda: machine(self), lambda: machine(replace(self, small=True)))


class Machine(RuleBasedStateMachine, Generic[AnyDrive]):
    """A state machine whose life is one example.

    Args:
        world: where it takes place.
    """

    def __init__(self, world: World[AnyDrive]) -> None:
        self.world = world
        self._drives = list(world.drives())
        self._turns, self._turn = [0], 0
        self._example: AbstractContextManager[None] = world.explorer.example(*self._drives)
        self._example.__enter__()
        super().__init__()

    def next_drive(self) -> AnyDrive:
        """The drive for the next call."""
        self._turn += 1
        return self._drives[self._turns[self._turn % len(self._turns)] % len(self._drives)]

    @precondition(lambda self: self.world.restart is not None)
    @rule()
    def restart(self) -> None:
        """The process ends, and another one goes on with the storage."""
        calls = self._drives[0].calls
        assert self.world.restart is not None  # the precondition
        self._drives = list(self.world.restart())
        for drive in self._drives:
            drive.calls = calls

    @contextlib.contextmanager
    def shown_if_it_fails(self) -> Iterator[None]:
        """A read that shows nothing: a script of the calls is shorter without it."""
        calls = self._drives[0].calls
        before = len(calls)
        yield
        del calls[before:]

    def finish(self) -> None:
        """Look at everything once more, at the end of an example in which nothing was wrong so far."""

    def clean(self) -> None:
        """Remove what the example stored."""

    def teardown(self) -> None:
        kind, error, traceback = sys.exc_info()
        try:
            if error is None:
                self.finish()
        except BaseException:
            kind, error, traceback = sys.exc_info()
            raise
        finally:
            self._example.__exit__(kind, error, traceback)
            self.clean()
