"""TTL without sleeping for minutes: every schedule runs on one timeline.

A store's clock cannot be moved from outside, so expiry can only be seen by waiting. A *schedule* says what happens to a
few items and when ("put with a TTL of 3 s, read at 2.2 s, look at 4.5 s"). All schedules, in every configuration and
through both drives, run merged by time: a few seconds for all of them. Each rule then judges what its own schedules
recorded. Where a provider offers ``advance``, which must move the clock of every store it opened, the same schedules
take no time.

A schedule is judged by what really happened: a look counts only if, going by the times measured, the item had to be
there or had to be gone, with a margin around its deadline. What came too late to tell is not tested, never failed.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import enum
import heapq
import inspect
import math
import os
import time
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from langgraph.store.base import GetOp, PutOp, SearchOp

from .configurations import INDEXED, PLAIN, TTL, Configuration
from .drive import Call, StoreDrive
from .embedders import vector_text
from .errors import Blocked, Broken, TargetError, TimedOut
from .guard import UNINTERRUPTIBLE
from .session import Subject
from .threads import fresh_id
from .watchdog import limit

EARLY = 0.4
"""Seconds before a deadline from which on nothing is judged."""
EARLY_IN_WHOLE_SECONDS = 1.1
"""The same for a store that is seen to round its times down to whole seconds."""
LATE = 1.15
"""Seconds after a deadline up to which nothing is judged: a store may keep whole seconds."""
SPREAD = 0.6
"""Seconds over which the schedules begin at least, so that not all calls fall on the same moment."""
GOLDEN = (math.sqrt(5) - 1) / 2
"""Multiples of it, without their whole part, are spread evenly, however many they are."""
LOAD = 0.5
"""Share of the time that calls may take before the timeline is stretched."""
MOST_STRETCHED = 4
"""How much longer than usual the timeline may get for a slow store."""
MOST_LATE = 0.3
"""Share of the schedules that may come too late to be judged before the timeline is stretched for another try."""
MOST_TRIES = 3
"""How often what came too late is tried."""
SWEPT_JUST_NOW = 0.1
"""Seconds within which one sweep does for all looks; LATE is longer than whole seconds by more than this."""
MOST_HANGS = 2
"""How many stores may hang before the rest is not tried again."""
A_MINUTE = 60.0
"""Seconds; a store may keep whole minutes for its refreshes."""
SECONDS_TO_HANG = 10.0
"""After how many seconds a step is taken for a hang, where a check's limit is not shorter."""


class LeftOut(enum.Enum):
    """Stands for an argument that is not given."""

    LEFT_OUT = enum.auto()


LEFT_OUT = LeftOut.LEFT_OUT
Seconds = float | None | LeftOut
"""A TTL in seconds, None for none, or left out."""


@dataclass(frozen=True, eq=False)
class Setup:
    """How the store of a schedule is configured.

    Attributes:
        name: as in output.
        ttl: its ``ttl`` configuration without the default; None for none at all.
        default: its default TTL in seconds.
        index: whether it has an index.
        falls_back: whether a target that takes no ``ttl`` is used without.
        alone: whether its schedules can tell something only while nobody else sweeps the same storage.
        together: whether its schedules mind each other's sweeps, so that they must begin at about the same time.
    """

    name: str
    ttl: Mapping[str, Any] | None = None
    default: float | None = None
    index: bool = False
    falls_back: bool = False
    alone: bool = False
    together: bool = False

    def configuration(self, stretch: float) -> Configuration:
        """The configuration, with the default TTL in minutes."""
        if self is REFRESHING:
            return TTL
        if self is UNCONFIGURED:
            return PLAIN
        settings: dict[str, Any] = {"ttl": dict(self.ttl or {})}
        if self.default is not None:
            settings["ttl"]["default_ttl"] = self.default * stretch / 60
        if self.index:
            settings.update(INDEXED.settings)
        return Configuration(f"{self.name}, {stretch}", settings)


REFRESHING = Setup("refresh_on_read=True", TTL.settings["ttl"], falls_back=True)
UNCONFIGURED = Setup("no TTL configuration")


class Sweeps:
    """When each open store was swept last.

    Args:
        now: seconds of the timeline.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._last: dict[int, tuple[float, Call]] = {}

    def sweep(self, drive: StoreDrive) -> int:
        begin = self._now()
        swept = drive.sweep_ttl()
        self._last[id(drive)] = (begin, drive.calls[-1])
        return swept

    def sweep_if_due(self, drive: StoreDrive) -> None:
        """Sweep unless this was just done, as when many schedules look at the same moment."""
        begin, call = self._last.get(id(drive), (-math.inf, None))
        if call is None or self._now() - begin > SWEPT_JUST_NOW:
            self.sweep(drive)
        else:
            drive.calls.append(call)


class Place:
    """The namespaces of one schedule in one open store. An item is named by its labels and key: ``a/b/key``."""

    def __init__(self, drive: StoreDrive, root: str, stretch: float, sweeps: Sweeps) -> None:
        self.drive, self.root, self.stretch, self._sweeps = drive, root, stretch, sweeps
        self.used: set[str] = set()
        self.swept = False
        """Whether a background sweeper was started."""

    @property
    def sweeps(self) -> bool:
        """Whether the store has ``sweep_ttl``."""
        return callable(getattr(self.drive.raw, "sweep_ttl", None))

    def address(self, item: str) -> tuple[tuple[str, ...], str]:
        """The namespace and key of an item; no other schedule uses such a key, so that none minds another's reads."""
        *labels, key = item.split("/")
        return (self.root, *labels), f"{key}-{self.root}"

    def name(self, namespace: Sequence[str], key: str) -> str:
        """The item at a namespace and key."""
        return "/".join([*namespace[1:], key.removesuffix(f"-{self.root}")])

    def minutes(self, seconds: float | None) -> float | None:
        return None if seconds is None else seconds * self.stretch / 60

    def put(self, item: str, ttl: Seconds, value: Mapping[str, Any], index: Any) -> None:
        self.used.add(item)
        keywords: dict[str, Any] = {} if ttl is LEFT_OUT else {"ttl": self.minutes(ttl)}
        namespace, key = self.address(item)
        self.drive.put(namespace, key, dict(value), index, **keywords)

    def batch(self, operations: Sequence[Any]) -> list[Any]:
        return self.drive.batch(list(operations))

    def get(self, items: Sequence[str], **keywords: Any) -> dict[str, Any]:
        return {item: self.drive.get(*self.address(item), **keywords) for item in items}

    def search(self, within: str, **keywords: Any) -> dict[str, Any]:
        labels = within.split("/") if within else []
        found = self.drive.search((self.root, *labels), **{"limit": 1000, **keywords})
        return {self.name(each.namespace, each.key): each for each in found}

    def namespaces(self, items: Sequence[str]) -> dict[str, Any]:
        listed = set(self.drive.list_namespaces(prefix=(self.root,), limit=1000))
        return {item: self.address(item)[0] if self.address(item)[0] in listed else None for item in items}

    def sweep(self) -> int | None:
        """Sweep, if the store can; gives what it reports."""
        return self._sweeps.sweep(self.drive) if self.sweeps else None

    def sweep_if_due(self) -> None:
        """Sweep, if the store can, unless this was just done."""
        if self.sweeps:
            self._sweeps.sweep_if_due(self.drive)

    def start_sweeper(self, seconds: float) -> None:
        self.swept = True
        minutes, raw = self.minutes(seconds), self.drive.raw

        async def within() -> None:
            started = getattr(raw, "start_ttl_sweeper")(minutes)  # noqa: B009 - not a method of the base class
            if inspect.iscoroutine(started):  # a task, which some give at once, does not end
                await started

        if self.drive.opened.loop is None:
            getattr(raw, "start_ttl_sweeper")(minutes)  # noqa: B009
        else:
            self.drive.opened.loop.run(within)

    def stop_sweeper(self) -> None:
        self.drive.call_either("stop_ttl_sweeper")

    def clean(self) -> None:
        """Delete what the schedule put, and stop what it started."""
        if self.swept:
            self.stop_sweeper()
        self.drive.batch([PutOp(*self.address(item), None) for item in sorted(self.used)])


Found = Mapping[str, Any]
"""Per item looked for, what was found: None when it was not there."""


@dataclass(frozen=True)
class Step:
    """What a schedule does at one moment.

    Attributes:
        at: seconds after the schedule's beginning.
        says: the same in words.
        act: does it; what it gives is recorded.
        calls: how many calls that takes.
        puts: item and TTL in seconds.
        removes: items that it deletes.
        starts: items that it reads and whose timer starts again, or ``found`` for those that ``act`` found.
        by: ``get`` or ``search``, where it starts timers again.
        there, gone: items that must be among what ``act`` found, and that must not be.
        timed: items that must be found if their time is not over, and must not be if it is.
        over: items that must not be found if their time is over.
        counts: number that ``act`` must give, and the items that it counts.
        waits: real seconds to let pass before it, where the clock is moved.
        zone: the process's time zone meanwhile.
    """

    at: float
    says: str
    act: Callable[[Place], Any]
    calls: int = 1
    puts: Mapping[str, Seconds] = field(default_factory=dict)
    removes: tuple[str, ...] = ()
    starts: tuple[str, ...] | Literal["found"] = ()
    by: Literal["", "get", "search"] = ""
    there: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    timed: tuple[str, ...] = ()
    over: tuple[str, ...] = ()
    counts: tuple[int, tuple[str, ...]] | None = None
    waits: float = 0.0
    zone: str | None = None


VALUE = {"field": "value"}


def put(at: float, *items: str, ttl: Seconds, value: Mapping[str, Any] = VALUE, index: Any = None) -> Step:
    """Put ``items``, one call each."""

    def act(place: Place) -> None:
        for item in items:
            place.put(item, ttl, value, index)

    return Step(at, f"put {', '.join(items)}{_told(ttl)}", act, len(items), puts=dict.fromkeys(items, ttl))


def put_together(at: float, *items: tuple[str, float | None], value: Mapping[str, Any] = VALUE) -> Step:
    """Put items and their TTLs in one batch of operations."""

    def act(place: Place) -> None:
        place.used.update(item for item, _ in items)
        place.batch([PutOp(*place.address(item), dict(value), ttl=place.minutes(ttl)) for item, ttl in items])

    said = ", ".join(f"{item}{_told(ttl)}" for item, ttl in items[:6])
    return Step(at, f"batch of puts: {said}{' and more' if len(items) > 6 else ''}", act, puts=dict(items))


def delete(at: float, item: str) -> Step:
    return Step(at, f"delete {item}", lambda place: place.drive.delete(*place.address(item)), removes=(item,))


def get(at: float, *items: str, refresh: bool | None = None, starts: bool = True) -> Step:
    """Read ``items`` by key; with ``starts`` their timers must start again."""
    keywords = {} if refresh is None else {"refresh_ttl": refresh}
    return Step(
        at,
        f"get {', '.join(items)}{_keywords(keywords)}",
        lambda place: place.get(items, **keywords),
        len(items),
        starts=items if starts else (),
        by="get",
    )


def get_together(at: float, *items: tuple[str, bool]) -> Step:
    """Read items in one batch, each with its own ``refresh_ttl``."""

    def act(place: Place) -> Found:
        found = place.batch([GetOp(*place.address(item), refresh_ttl=refresh) for item, refresh in items])
        return {item: each for (item, _), each in zip(items, found, strict=True)}

    said = ", ".join(f"{item} with refresh_ttl={refresh}" for item, refresh in items)
    return Step(at, f"batch of gets: {said}", act, starts=tuple(item for item, refresh in items if refresh), by="get")


def search(
    at: float, within: str = "", *, starts: tuple[str, ...] | Literal["found"] = "found", **keywords: Any
) -> Step:
    """Search; the timers of ``starts``, or else of what it returns, must start again."""
    return Step(
        at,
        f"search in {within or 'the root'}{_keywords(keywords)}",
        lambda place: place.search(within, **keywords),
        starts=starts,
        by="search",
    )


def search_together(at: float, *searches: tuple[str, bool]) -> Step:
    """Search several namespaces in one batch, each with its own ``refresh_ttl``."""

    def act(place: Place) -> Found:
        prefixes = [(place.root, *within.split("/")) for within, _ in searches]
        operations = [
            SearchOp(prefix, refresh_ttl=refresh) for prefix, (_, refresh) in zip(prefixes, searches, strict=True)
        ]
        results = zip(place.batch(operations), searches, strict=True)
        refreshed = [each for found, (_, refresh) in results if refresh for each in found]
        return {place.name(each.namespace, each.key): each for each in refreshed}

    said = ", ".join(f"{within} with refresh_ttl={refresh}" for within, refresh in searches)
    return Step(at, f"batch of searches: {said}", act, starts="found", by="search")


def list_namespaces(at: float) -> Step:
    return Step(at, "list_namespaces", lambda place: place.namespaces(()))


def glance(at: float, *items: str) -> Step:
    """Get ``items`` without a refresh, and without a sweep before; what comes back is only recorded."""
    return Step(at, f"get {', '.join(items)}", lambda place: place.get(items, refresh_ttl=False), len(items))


Way = Literal["get", "search", "list_namespaces", "query"]
QUERY = vector_text(1)


def look(place: Place, items: Sequence[str], by: Way) -> Found:
    """What there is of ``items``, without starting their timers again."""
    if by == "get" and len(items) > 1:
        found = place.batch([GetOp(*place.address(item), refresh_ttl=False) for item in items])
        return dict(zip(items, found, strict=True))
    if by == "get":
        return place.get(items, refresh_ttl=False)
    if by == "list_namespaces":
        return place.namespaces(items)
    query = {"query": QUERY} if by == "query" else {}
    listed = place.search("", refresh_ttl=False, **query)
    return {item: listed.get(item) for item in items}


def _looking(at: float, items: tuple[str, ...], by: Way, sweep: bool) -> Step:
    def act(place: Place) -> Found:
        if sweep:
            place.sweep_if_due()
        return look(place, items, by)

    says = f"{'sweep_ttl, then ' if sweep else ''}{by}: {', '.join(items[:6])}{' and more' if len(items) > 6 else ''}"
    return Step(at, says, act)


def there(at: float, *items: str, by: Way = "get", sweep: bool = True) -> Step:
    """Sweep where the store can, then look: ``items`` must be there."""
    return dataclasses.replace(_looking(at, items, by, sweep), there=items)


def gone(at: float, *items: str, by: Way = "get", sweep: bool = True) -> Step:
    """Sweep where the store can, then look: ``items`` must be gone."""
    return dataclasses.replace(_looking(at, items, by, sweep), gone=items)


def timed(at: float, *items: str, by: Way = "get") -> Step:
    """Sweep where the store can, then look: of ``items`` must be there what lives by its timer, and nothing else."""
    return dataclasses.replace(_looking(at, items, by, True), timed=items)


def over(at: float, *items: str, by: Way = "get") -> Step:
    """Sweep where the store can, then look: what is over by its timer must be gone; what lives is not judged."""
    return dataclasses.replace(_looking(at, items, by, True), over=items)


def sweep(at: float, counts: int | None = None, of: tuple[str, ...] = ()) -> Step:
    """Sweep; with ``counts`` that many must be reported, if the time of ``of`` is over."""
    return Step(at, "sweep_ttl", lambda place: place.sweep(), counts=None if counts is None else (counts, of))


def start_sweeper(at: float, every: float) -> Step:
    return Step(at, f"start_ttl_sweeper, every {every:g} s", lambda place: place.start_sweeper(every))


def stop_sweeper(at: float) -> Step:
    return Step(at, "stop_ttl_sweeper", lambda place: place.stop_sweeper())


def abroad(zone: str, *steps: Step) -> tuple[Step, ...]:
    """``steps`` in a process whose time zone is ``zone``, as the variable TZ has it."""
    return tuple(dataclasses.replace(step, says=f"{step.says} [TZ={zone}]", zone=zone) for step in steps)


def after_waiting(seconds: float, step: Step) -> Step:
    """``step``, before which this much real time passes where the clock is moved: for threads that wait for real."""
    return dataclasses.replace(step, waits=seconds)


def _told(ttl: Seconds) -> str:
    if ttl is LEFT_OUT:
        return ""
    return " with ttl=None" if ttl is None else f" with a TTL of {ttl:.10g} s"


def _keywords(keywords: Mapping[str, Any]) -> str:
    return f" with {', '.join(f'{name}={value!r}' for name, value in keywords.items())}" if keywords else ""


@dataclass(frozen=True, eq=False)
class Schedule:
    """What happens to a few items, and when.

    Attributes:
        name: as in output.
        setup: the store's configuration.
        steps: in the order of their times.
        methods: methods of the store, beyond the base class's, without which it makes no sense.
        given: other schedules that must have held.
        stretches: whether it takes longer on a slow store.
        in_part: whether it is of use, too, if only some of its looks came in time to be judged.
    """

    name: str
    setup: Setup
    steps: tuple[Step, ...]
    methods: tuple[str, ...] = ()
    given: tuple[Schedule, ...] = ()
    stretches: bool = True
    in_part: bool = False

    def refreshes(self, by: str) -> bool:
        """Whether a step, by get or by search, starts the timer of an item again whose TTL is a part of a minute."""
        return any(
            step.by == by and any(self._is_short(item) for item in self._started_by(step)) for step in self.steps
        )

    def _started_by(self, step: Step) -> tuple[str, ...]:
        return tuple(self._ttls()) if step.starts == "found" else step.starts

    def _is_short(self, item: str) -> bool:
        return any(ttl is not None and 0 < ttl < A_MINUTE for ttl in self._ttls().get(item, ()))

    def _ttls(self) -> dict[str, list[float | None]]:
        """Items, and the TTLs in seconds that they are put with."""
        ttls: dict[str, list[float | None]] = {}
        for step in self.steps:
            for item, ttl in step.puts.items():
                ttls.setdefault(item, []).append(self.setup.default if ttl is LEFT_OUT else ttl)
        return ttls

    @property
    def calls(self) -> int:
        return sum(step.calls for step in self.steps)


@dataclass(frozen=True)
class Basics:
    """What must hold before anything else about TTL can be told, and what to say when it does not.

    Attributes:
        phases: shows whether the store rounds its times down to whole seconds.
        spares: a sweep spares what lives.
        lasts: an item lives for its TTL.
        refreshes: a refresh, by get or by search, does not end an item.
        expires: an item is gone after its TTL, or, as the last step shows, some time later.
    """

    phases: Schedule
    spares: Schedule
    lasts: Schedule
    refreshes: Mapping[str, Schedule]
    expires: Schedule

    @property
    def schedules(self) -> list[Schedule]:
        return [self.phases, self.spares, self.lasts, *self.refreshes.values(), self.expires]

    def before(self, schedule: Schedule) -> list[tuple[Schedule, str]]:
        """The basics that ``schedule`` builds upon."""
        spares = (self.spares, "a sweep deletes items whose time is not over")
        lasts = (self.lasts, "items are gone before their TTL is over")
        expires = (self.expires, "items do not expire")
        if schedule in (self.spares, self.expires):
            return []
        if schedule is self.lasts:
            return [spares]
        if schedule in self.refreshes.values():
            return [spares, lasts]
        read = [each for by, each in self.refreshes.items() if schedule.refreshes(by)]
        refreshes = [(each, f"{each.name} fails") for each in read]
        given = [(each, f"{each.name} did not go well") for each in schedule.given]
        return [spares, lasts, *refreshes, expires, *given]


class Timeline:
    """The schedules that run together."""

    def __init__(self) -> None:
        self.schedules: list[Schedule] = []
        self.basics: Basics | None = None

    def schedule(
        self,
        name: str,
        setup: Setup,
        *steps: Step,
        methods: tuple[str, ...] = (),
        given: tuple[Schedule, ...] = (),
        stretches: bool = True,
    ) -> Schedule:
        """Add a schedule."""
        made = Schedule(name, setup, tuple(sorted(steps, key=lambda step: step.at)), methods, given, stretches)
        self.schedules.append(made)
        return made

    @property
    def seconds(self) -> float:
        """How long it takes."""
        return SPREAD + max(step.at for schedule in self.schedules for step in schedule.steps)


@dataclass
class Record:
    """A step that was done: when it began and ended, in seconds of the timeline, what came of it, and its calls."""

    step: Step
    begin: float
    end: float
    result: Any = None
    error: BaseException | None = None
    calls: list[Call] = field(default_factory=list)


@dataclass
class Life:
    """The time that an item has: its TTL in seconds (None: forever), and when its timer was started last."""

    ttl: float | None
    begin: float
    end: float
    certain: bool = True

    def at(self, record: Record, early: float) -> bool | None:
        """Whether it must be there (True) or gone (False) for a look, None if that cannot be told."""
        if not self.certain:
            return None
        if self.ttl is None:
            return True
        if self.ttl <= 0:
            return False if record.begin - self.end >= LATE else None
        if record.end - self.begin <= self.ttl - early:
            return True
        return False if record.begin - self.end >= self.ttl + LATE else None


@dataclass(frozen=True)
class Verdict:
    """What a schedule's records say.

    Attributes:
        broken: expected and actual, where the rule does not hold.
        error: what a call raised.
        untold: why some of it, or all, cannot be told.
        told: how many looks for an item were judged.
        log: what happened, line by line.
    """

    broken: tuple[str, str] | None = None
    error: BaseException | None = None
    untold: str | None = None
    told: int = 0
    log: tuple[str, ...] = ()

    @property
    def bad(self) -> bool:
        return self.broken is not None or self.error is not None


class Played:
    """A schedule that was run on one store.

    Args:
        schedule: the schedule.
        records: its steps, as far as they were done.
        sweeps: whether the store has ``sweep_ttl``.
        stretch: how much longer than written the schedule was.
    """

    def __init__(self, schedule: Schedule, records: Sequence[Record], sweeps: bool, stretch: float) -> None:
        self.schedule, self.records, self.sweeps, self.stretch = schedule, records, sweeps, stretch

    def result(self, position: int) -> Any:
        """What the step at ``position`` gave."""
        return self.records[position].result

    @classmethod
    def in_time(cls, schedule: Schedule, found: Sequence[str]) -> Played:
        """As if each step were done at its moment and took no time; a search gives back what is ``found``."""
        result = dict.fromkeys(found, True)
        return cls(schedule, [Record(step, step.at, step.at, result) for step in schedule.steps], True, 1)

    def decidable(self, slack: float) -> list[tuple[str, ...]]:
        """Of each step the items among its ``timed`` ones of which it can be told whether they are there.

        Args:
            slack: seconds by which it must be farther from a deadline than what is judged.
        """
        lives: dict[str, Life | None] = {}
        decided: list[tuple[str, ...]] = []
        for record in self.records:
            early, later = EARLY + slack, dataclasses.replace(record, begin=record.begin - slack)
            told = [(item, self._expected(lives.get(item), record, early)) for item in record.step.timed]
            told = [(item, there or self._expected(lives.get(item), later, early)) for item, there in told]
            decided.append(tuple(item for item, there in told if there is not None))
            self._note(record, lives, early)
        return decided

    def verdict(self, early: float = EARLY) -> Verdict:
        """Judge each look by the timers as they were really started."""
        lives: dict[str, Life | None] = {}
        untold: list[str] = []
        broken: tuple[str, str] | None = None
        told = 0
        log: list[str] = []
        for record in self.records:
            log.append(_line(record))
            if record.error is not None:
                return Verdict(error=record.error, log=tuple(log))
            for item, expected in self._looked_for(record, lives, early):
                if expected is None:
                    untold.append(f"{record.step.says} at {record.begin:.2f} s came too near to a deadline or too late")
                    continue
                told += 1
                actual = _is_there(record.result, item)
                if actual != expected and broken is None:
                    words = ("gone", "there")
                    broken = (f"{item} to be {words[expected]}", f"{item} is {words[actual]}")
                    log[-1] += f"  <- {item} is {words[actual]}, expected {words[expected]}"
            if record.step.counts is not None:
                wanted, of = record.step.counts
                if any(self._expected(lives.get(item), record, early) is not False for item in of):
                    untold.append(f"{record.step.says} at {record.begin:.2f} s came too late to count")
                elif record.result != wanted and broken is None:
                    broken = (f"sweep_ttl to report {wanted}", repr(record.result))
                    log[-1] += f"  <- expected {wanted}"
            self._note(record, lives, early)
        return Verdict(broken=broken, untold=untold[0] if untold else None, told=told, log=tuple(log))

    def _expected(self, life: Life | None, record: Record, early: float) -> bool | None:
        return False if life is None else life.at(record, early)

    def _looked_for(
        self, record: Record, lives: Mapping[str, Life | None], early: float
    ) -> list[tuple[str, bool | None]]:
        step = record.step
        read = step.starts if step.starts != "found" else ()
        items = (*step.there, *step.gone, *step.timed, *step.over, *read)
        told = {item: self._expected(lives.get(item), record, early) for item in items}
        stated: list[tuple[str, bool | None]] = [(item, True if told[item] is True else None) for item in step.there]
        stated += [(item, False if told[item] is False else None) for item in step.gone]
        stated += [(item, told[item]) for item in step.over if told[item] is not True]
        stated += [(item, True) for item in read if told[item]]
        return stated + [(item, told[item]) for item in step.timed]

    def _note(self, record: Record, lives: dict[str, Life | None], early: float) -> None:
        step = record.step
        for item, ttl in step.puts.items():
            seconds = self.schedule.setup.default if ttl is LEFT_OUT else ttl
            lives[item] = Life(None if seconds is None else seconds * self.stretch, record.begin, record.end)
        lives.update(dict.fromkeys(step.removes))
        started = step.starts
        if started == "found":
            started = tuple(item for item, found in record.result.items() if found is not None)
        for item in started:
            life = lives.get(item)
            if life is not None:
                in_time = life.at(record, early) is True
                lives[item] = Life(life.ttl, record.begin, record.end, certain=life.certain and in_time)


def _is_there(result: Any, item: str) -> bool:
    return isinstance(result, Mapping) and result.get(item) is not None


def _line(record: Record) -> str:
    return f"{record.begin:6.2f} s  {record.step.says}: {_summary(record)}"


def _summary(record: Record) -> str:
    if record.error is not None:
        return f"raised {type(record.error).__name__}"
    if isinstance(record.result, Mapping):
        there = [item for item, found in record.result.items() if found is not None]
        return f"there {', '.join(there[:8])}" if there else "nothing there"
    return "done" if record.result is None else repr(record.result)


@contextlib.contextmanager
def _time_zone(name: str | None) -> Iterator[None]:
    """The process's time zone, where the platform lets it be set; None leaves it."""
    if name is None or not hasattr(time, "tzset"):
        yield
        return
    earlier = os.environ.get("TZ")
    os.environ["TZ"] = name
    time.tzset()
    try:
        yield
    finally:
        if earlier is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = earlier
        time.tzset()


class _Clock:
    """Real time, in seconds since the timeline began."""

    moved = False

    def __init__(self) -> None:
        self._start = time.monotonic()

    def now(self) -> float:
        return time.monotonic() - self._start

    def wait_until(self, moment: float, ticking: StoreDrive | None) -> None:
        """Wait; meanwhile the loop of ``ticking`` runs."""
        seconds = moment - self.now()
        if seconds > 0 and ticking is not None:
            ticking.wait(seconds)
        elif seconds > 0:
            time.sleep(seconds)


class _MovedClock(_Clock):
    """The clock of a provider that offers ``advance``."""

    moved = True

    def __init__(self, provider: Any) -> None:
        self._provider, self._now = provider, 0.0

    def now(self) -> float:
        return self._now

    def wait_until(self, moment: float, ticking: StoreDrive | None) -> None:
        if moment <= self._now:
            return
        advanced = self._provider.advance(moment - self._now)
        if inspect.isawaitable(advanced):

            async def within() -> None:
                await advanced

            asyncio.run(within())
        self._now = moment


def clock_of(store: StoreDrive) -> _Clock:
    """A clock that begins now: the provider's, where that can be moved, else real time."""
    provider = store.opened.provider
    return _MovedClock(provider) if callable(getattr(provider, "advance", None)) else _Clock()


class _Hung(Exception):
    def __init__(self, store: tuple[str, Setup]) -> None:
        self.store = store


class Run:
    """The timeline on the store under test.

    Args:
        timeline: the schedules.
        subject: the store under test.
        modes: the drives, where not all that work are asked for.
        slowly: whether a slow store gets more time, rather than being too slow.
    """

    def __init__(
        self, timeline: Timeline, subject: Subject, modes: Collection[str] | None = None, *, slowly: bool = True
    ) -> None:
        assert timeline.basics is not None  # the suite's timeline names them
        self._timeline, self._subject, self._basics = timeline, subject, timeline.basics
        working = [mode for mode, each in subject.findings.modes.items() if each.smoke is None]
        self._modes = working if modes is None else [mode for mode in working if mode in modes]
        self._stores: dict[tuple[str, Setup], StoreDrive] = {}
        self._left: dict[tuple[str, Setup], str] = {}
        self._played: dict[tuple[str, Schedule], Played] = {}
        self._hung: dict[tuple[str, Setup], tuple[Schedule, str]] = {}
        self._moved = "advance" in subject.target.provides
        self._stretch, self._spent = 1, 0.0
        self.too_slow = self._measure(MOST_STRETCHED if slowly else 1)
        """Why the store is too slow for these schedules; None where it is not."""
        if self.too_slow is None:
            self._run()

    def _run(self) -> None:
        entries = [(mode, schedule) for schedule in self._timeline.schedules for mode in self._modes]
        asked = entries
        for _ in range(MOST_TRIES):
            self._open()
            self._play(asked)
            coarse = self._stretch == 1 and any(self._is_coarse(mode) for mode in self._modes)
            asked = entries if coarse else [entry for entry in entries if self._is_late(*entry)]
            stretch = self._stretch * (2 if len(asked) > MOST_LATE * len(entries) else 1)
            if not asked or not self._may_take(stretch):
                return
            self._stretch = stretch

    def _is_late(self, mode: str, schedule: Schedule) -> bool:
        """Whether something of it came too late to be judged."""
        played = self._played.get((mode, schedule))
        verdict = Verdict() if played is None else played.verdict(self._early(mode, schedule))
        enough = schedule.in_part and verdict.told > 0
        return verdict.untold is not None and not verdict.bad and not enough

    def _is_coarse(self, mode: str) -> bool:
        """Whether the store lets items live a little longer than is allowed for, as one that rounds twice does."""
        played = self._played.get((mode, self._basics.expires))
        if played is None or played.verdict().broken is None:
            return False
        last = played.records[-1]
        return not any(_is_there(last.result, item) for item in last.step.gone)

    # -- preparing

    def _measure(self, most: int) -> str | None:
        """Stretch the timeline for a slow store; gives why even that would not do, or None."""
        if self._moved:
            return None
        seconds = self._timeline.seconds
        schedules = [each for each in self._timeline.schedules if self._why_not(each.setup) is None]
        load = sum(self._latency(mode) for mode in self._modes) * sum(schedule.calls for schedule in schedules)
        if load > seconds * most:
            return f"the store is too slow: the TTL schedules make {load:.0f} s of calls in {seconds:.0f} s"
        while self._stretch < most and load > LOAD * seconds * self._stretch:
            self._stretch += 1
        if not self._may_take(self._stretch):
            return f"the TTL schedules take {self._stretch * seconds:.0f} s: raise --conformance-timeout"
        return None

    def _may_take(self, stretch: int) -> bool:
        """Whether one more timeline, stretched so much, ends before the guard takes it for a hang."""
        most = 0.5 * UNINTERRUPTIBLE * self._subject.seconds
        in_time = self._moved or self._spent + stretch * self._timeline.seconds <= most
        return stretch <= MOST_STRETCHED and in_time

    def _latency(self, mode: str) -> float:
        """Seconds that a call takes, when nothing else keeps it waiting."""
        drive, namespace, rounds = self._subject.drive(mode), (fresh_id(),), []
        shown, drive.calls = drive.calls, []
        with contextlib.suppress(Exception, TimedOut), limit(self._subject.seconds):
            for _ in range(4):
                began = time.monotonic()
                drive.put(namespace, "key", VALUE)
                drive.get(namespace, "key")
                drive.delete(namespace, "key")
                rounds.append((time.monotonic() - began) / 3)
        drive.calls = shown
        return min(rounds, default=0.0)

    def _open(self) -> None:
        for mode in self._modes:
            for setup in dict.fromkeys(schedule.setup for schedule in self._timeline.schedules):
                if (mode, setup) in self._hung:
                    continue
                reason = self._why_not(setup)
                configuration = setup.configuration(self._stretch)
                if not self._subject.target.takes("ttl") and reason is None:
                    settings = {key: value for key, value in configuration.settings.items() if key != "ttl"}
                    own = bool(settings) or setup.alone
                    configuration = Configuration(f"{setup.name}, without", settings) if own else PLAIN
                if reason is None:
                    try:
                        self._stores[mode, setup] = self._subject.drive(mode, configuration=configuration)
                    except TargetError as error:
                        reason = str(error).partition(": ")[2]
                if reason is not None:
                    self._left[mode, setup] = reason
        if any(setup.alone for _, setup in self._stores) and self._share_storage():
            for mode, setup in [store for store in self._stores if store[1].alone]:
                del self._stores[mode, setup]
                self._left[mode, setup] = "all stores that this target opens share one storage, so others sweep there"

    def _why_not(self, setup: Setup) -> str | None:
        target = self._subject.target
        if setup.ttl is not None and not setup.falls_back and not target.takes("ttl"):
            return "let the class or factory take ttl=, as the official stores do"
        return self._subject.findings.why_absent("vectors") if setup.index else None

    def _share_storage(self) -> bool:
        drives = list({id(drive): drive for drive in self._stores.values()}.values())
        namespace = (fresh_id(),)
        try:
            with limit(self._subject.seconds):
                drives[0].put(namespace, "key", VALUE)
                others = [drive for drive in drives[1:] if drive.raw is not drives[0].raw]
                shared = any(drive.get(namespace, "key") is not None for drive in others)
                drives[0].delete(namespace, "key")
        except (Exception, TimedOut):  # found out, and told, by the schedules
            return False
        return shared or len({id(drive.raw) for drive in drives}) < len(drives)

    # -- running

    def _play(self, asked: Sequence[tuple[str, Schedule]]) -> None:
        for _ in range(MOST_HANGS + 1):
            self._spent += self._timeline.seconds * self._stretch
            try:
                self._played.update(self._play_once(asked))
            except _Hung as hung:
                # Everything after the hang came too late: the others get a timeline without it.
                del self._stores[hung.store]
                if not self._may_take(self._stretch):
                    break
            except TimedOut as error:
                self.too_slow = f"the TTL schedules did not end within {error.seconds:g} s"
                return
            else:
                return
        self._left.update(dict.fromkeys(self._stores, "calls of other stores did not return again and again"))
        self._stores.clear()

    def _play_once(self, asked: Sequence[tuple[str, Schedule]]) -> dict[tuple[str, Schedule], Played]:
        provider = next((drive.opened.provider for drive in self._stores.values()), None)
        clock = _MovedClock(provider) if self._moved else _Clock()
        swept = {schedule.setup for schedule in self._timeline.schedules if "start_ttl_sweeper" in schedule.methods}
        loops = [each for (mode, setup), each in self._stores.items() if mode == "async" and setup in swept]
        ticking = loops[0] if loops else None
        places: list[Place] = []
        calls = {id(drive): drive.calls for drive in self._stores.values()}
        try:
            with limit(self._timeline.seconds * self._stretch + 2 * self._subject.seconds):
                return self._merge(asked, clock, ticking, places)
        finally:
            for place in places:
                if not place.drive.broken:
                    with contextlib.suppress(Exception, TimedOut), limit(self._subject.seconds):
                        place.clean()
            for drive in self._stores.values():
                drive.calls = calls[id(drive)]

    def _merge(
        self, asked: Sequence[tuple[str, Schedule]], clock: _Clock, ticking: StoreDrive | None, places: list[Place]
    ) -> dict[tuple[str, Schedule], Played]:
        sweeps = Sweeps(clock.now)
        queue: list[tuple[float, int, int]] = []
        entries: list[tuple[str, Schedule, Place, list[Record]]] = []
        for mode, schedule in asked:
            drive = self._stores.get((mode, schedule.setup))
            if drive is None or not all(callable(getattr(drive.raw, name, None)) for name in schedule.methods):
                continue
            drive.calls = []
            places.append(Place(drive, fresh_id(), self._stretch if schedule.stretches else 1, sweeps))
            entries.append((mode, schedule, places[-1], []))
        for position, (_, schedule, place, _) in enumerate(entries):
            # One that ends early may begin late: the calls are spread over all of the time that there is.
            free = SPREAD if schedule.setup.together else self._timeline.seconds - schedule.steps[-1].at
            begin = free * (position * GOLDEN % 1) + schedule.steps[0].at
            heapq.heappush(queue, (begin * place.stretch, position, 0))
        began = [0.0] * len(entries)
        while queue:
            moment, position, number = heapq.heappop(queue)
            mode, schedule, place, records = entries[position]
            step = schedule.steps[number]
            clock.wait_until(moment, ticking)
            if clock.moved and step.waits:
                place.drive.wait(step.waits)
            record = self._do(mode, schedule, step, place, clock)
            records.append(record)
            if number == 0:
                began[position] = record.begin - step.at * place.stretch
            if record.error is None and number + 1 < len(schedule.steps):
                due = began[position] + schedule.steps[number + 1].at * place.stretch
                heapq.heappush(queue, (due, position, number + 1))
        return {
            (mode, schedule): Played(schedule, records, place.sweeps, place.stretch)
            for mode, schedule, place, records in entries
        }

    def _do(self, mode: str, schedule: Schedule, step: Step, place: Place, clock: _Clock) -> Record:
        record = Record(step, clock.now(), 0.0)
        place.drive.calls = record.calls
        try:
            # a store that hangs is left alone from then on, and others may well answer
            with (
                place.drive.hangs.uncounted(),
                limit(min(self._subject.seconds, SECONDS_TO_HANG)),
                _time_zone(step.zone),
            ):
                record.result = step.act(place)
        except TimedOut as error:
            store = (mode, schedule.setup)
            self._hung[store] = (schedule, f"{step.says} did not return within {error.seconds:g} s")
            raise _Hung(store) from error
        except Exception as error:
            record.error = error
        record.end = clock.now()
        return record

    # -- judging

    def judge(self, mode: str, schedule: Schedule) -> Played:
        """Give a verdict on ``schedule`` in the drive ``mode``; what was recorded is returned when it held.

        Raises:
            Broken: it does not hold.
            Blocked: something more basic does not hold.
            pytest.skip.Exception: it could not be told.
        """
        verdict = self.judge_in_part(mode, schedule)
        if verdict.untold:
            pytest.skip(f"not decidable on this run: {verdict.untold}")
        return self._played[mode, schedule]

    def judge_in_part(self, mode: str, schedule: Schedule) -> Verdict:
        """As ``judge`` does, but give the verdict also where a part of it could not be told.

        Raises:
            Broken: it does not hold.
            Blocked: something more basic does not hold.
            pytest.skip.Exception: nothing could be told.
        """
        self._told(mode, schedule)
        for basic, words in self._basics.before(schedule):
            try:
                verdict = self._verdict(mode, basic)
            except Broken as hung:
                raise Blocked(str(hung)) from None
            if verdict.broken and basic in self._basics.refreshes.values():
                pytest.skip(f"{basic.name} ends an item with a short TTL, see that rule: nothing else can be seen")
            if verdict.bad:
                raise Blocked(f"{words}, see that rule")
            if verdict.untold:
                pytest.skip(verdict.untold)
        verdict = self._verdict(mode, schedule)
        if verdict.bad:
            self._show(mode, schedule)
        if verdict.error is not None:
            raise verdict.error
        if verdict.broken is not None:
            expected, actual = verdict.broken
            what = f"{schedule.name} ({schedule.setup.name})"
            raise Broken(what, expected, actual, ("What happened:", *verdict.log))
        return verdict

    def _show(self, mode: str, schedule: Schedule) -> None:
        """Let the check that is judging show the calls of this schedule."""
        shown: list[Call] = []
        done: float | None = None
        for record in self._played[mode, schedule].records:
            for call in record.calls:
                waits = 0.0 if done is None else max(0.0, round(record.begin - done, 1))
                shown.append(dataclasses.replace(call, waits=waits))
                done = record.begin
        self._subject.drive(mode).calls[:] = shown

    def require(self, mode: str, schedule: Schedule) -> None:
        """Go on only if ``schedule`` held; whether it did is judged by a rule of its own.

        Raises:
            Blocked: it did not.
            pytest.skip.Exception: it could not be told.
        """
        try:
            self.judge(mode, schedule)
        except Exception as error:
            raise Blocked(f"{schedule.name} did not go well, see that rule") from error

    def _told(self, mode: str, schedule: Schedule) -> Played:
        store = (mode, schedule.setup)
        if self.too_slow is not None:
            pytest.skip(self.too_slow)
        if store in self._hung:
            hung, words = self._hung[store]
            if schedule is hung:
                raise Broken(f"{schedule.name} ({schedule.setup.name})", "every call to return", words)
            raise Blocked(words)
        if store in self._left:
            pytest.skip(self._left[store])
        if (mode, schedule) not in self._played:
            pytest.skip(f"the store has no {'() or no '.join(schedule.methods)}()")
        return self._played[mode, schedule]

    def _verdict(self, mode: str, schedule: Schedule) -> Verdict:
        played = self._told(mode, schedule)
        basics = self._basics
        verdict = played.verdict(self._early(mode, schedule))
        if schedule is not basics.expires:
            return verdict
        raw = self._stores[mode, schedule.setup].raw
        if isinstance(verdict.error, NotImplementedError) and not raw.supports_ttl:
            return Verdict(untold="supports_ttl is False in this drive, and put refuses a TTL")
        if verdict.broken and not played.sweeps and not self._moved:
            return Verdict(
                untold=f"it has no sweep_ttl(), and a read still returns an item {LATE:g} s after its deadline: its "
                "database may delete it later, by itself; a provider with advance(seconds) would show it"
            )
        return verdict

    def _early(self, mode: str, schedule: Schedule) -> float:
        """Seconds before a deadline from which on nothing is judged."""
        basics = self._basics
        if schedule is basics.phases:
            return EARLY
        phases = self._played.get((mode, basics.phases))
        rounds_down = phases is not None and phases.verdict().bad
        return EARLY_IN_WHOLE_SECONDS if rounds_down or schedule is basics.lasts else EARLY


_RUNS: weakref.WeakKeyDictionary[Subject, dict[int, Run]] = weakref.WeakKeyDictionary()


def run_of(timeline: Timeline, subject: Subject) -> Run:
    """The timeline's run on ``subject``; the first call takes its time."""
    runs = _RUNS.setdefault(subject, {})
    if id(timeline) not in runs:
        runs[id(timeline)] = Run(timeline, subject)
    return runs[id(timeline)]
