"""Any schedule of puts, reads and sweeps, laid beside many others on one timeline of a few seconds."""

from __future__ import annotations

import dataclasses
import itertools
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import pytest
from hypothesis import strategies as st
from langgraph.store.base import PutOp

from langgraph_conformance.drive import StoreDrive
from langgraph_conformance.errors import Blocked
from langgraph_conformance.explore import Explorer
from langgraph_conformance.rules import MUST, rule
from langgraph_conformance.session import Subject
from langgraph_conformance.suite.store.test_ttl import BASICS, BY_DEFAULT, FIXED, HOUR, LIFE
from langgraph_conformance.timeline import (
    EARLY,
    LATE,
    LEFT_OUT,
    REFRESHING,
    Place,
    Played,
    Run,
    Schedule,
    Seconds,
    Setup,
    Step,
    Timeline,
    abroad,
    delete,
    get,
    list_namespaces,
    put,
    put_together,
    search,
    sweep,
    timed,
)

ITEMS = ("a/key", "a/other", "ab/key", "b/a/key")
ALONE = ("ab/key", "b/a/key")
"""Items that have a namespace for themselves: whether it is listed tells whether they are there."""
MANY = tuple(f"many/{number}" for number in range(12))
EVERY = (*ITEMS, *MANY)
WITHIN = ("", "a", "ab", "b", "b/a")
VALUES = {item: {"kind": item[0]} for item in EVERY}
GAPS = (0.2, 0.0, 0.5, 0.9, 1.8)
"""Seconds between two steps that are not about each other."""
LONGEST = 6.9
"""Seconds that a schedule takes at most."""
SLACK = 0.15
"""Seconds by which a step may come late before a look at the items is not judged any more."""
BEFORE, AFTER = EARLY + SLACK + 0.05, LATE + SLACK + 0.05
"""Seconds before the end of a timer, when the item is there, and after it, when it is gone."""
AT_ONCE = 4
"""How many times as many schedules as examples of other properties: they take the same seconds together."""
MOST = 400
"""Schedules of one timeline at most."""
FEWER = 3
"""How many times fewer schedules are tried where a store is too slow for all of them."""
MOST_SHORTER = 150
"""Schedules of few steps that are tried at the same time to show what a failing one shows."""
MOST_AGAIN = 10
"""Failing schedules that are tried again as a whole."""
MOST_TIMES_SHORTER = 2
"""How often parts of a shorter one are tried: it takes real seconds."""
ZONES = ("JST-9", "EST5")
DEFAULTED = Setup("refresh_on_read=True and default_ttl", {"refresh_on_read": True}, default=LIFE)
SETUPS = (REFRESHING, DEFAULTED, REFRESHING, DEFAULTED, FIXED, BY_DEFAULT)
REFRESHES: Mapping[Setup, Sequence[bool | None]] = {
    REFRESHING: [None, True, False],
    DEFAULTED: [None, True, False],
    FIXED: [None, False],
    BY_DEFAULT: [False],
}
"""What a read is told about refreshing: official stores do not agree where the configuration says another thing."""
TTLS = st.sampled_from([LIFE, LIFE, LIFE, 4.0, 4.0, 2.0, HOUR, 30 * 24 * HOUR, None, LEFT_OUT, LEFT_OUT])
some_items = st.lists(st.sampled_from(ITEMS), min_size=1, max_size=3, unique=True)


def put_each(at: float, items: Sequence[str], ttl: Seconds) -> Step:
    """Put items, each with a value of its own."""

    def act(place: Place) -> None:
        for item in items:
            place.put(item, ttl, VALUES[item], None)

    return dataclasses.replace(put(at, *items, ttl=ttl), act=act)


def put_all(at: float, pairs: Sequence[tuple[str, float | None]]) -> Step:
    """Put items in one batch, each with a value of its own."""

    def act(place: Place) -> None:
        place.used.update(item for item, _ in pairs)
        place.batch([PutOp(*place.address(item), VALUES[item], ttl=place.minutes(ttl)) for item, ttl in pairs])

    return dataclasses.replace(put_together(at, *pairs), act=act)


def puts(at: float) -> st.SearchStrategy[Step]:
    return st.builds(lambda items, ttl: put_each(at, items, ttl), some_items, TTLS)


def batches(at: float) -> st.SearchStrategy[Step]:
    each = st.tuples(st.sampled_from(ITEMS), st.sampled_from([LIFE, 4.0, HOUR, None]))
    batch = st.lists(each, min_size=1, max_size=3, unique_by=lambda pair: pair[0])
    many = st.just([(item, LIFE) for item in MANY])
    return st.one_of(batch, batch, many).map(lambda pairs: put_all(at, pairs))


def reads(at: float, setup: Setup) -> st.SearchStrategy[Step]:
    """Gets and searches of any part of the items."""

    def starts(given: bool | None) -> bool:
        return setup in (REFRESHING, DEFAULTED) and given is not False

    def getting(items: list[str], given: bool | None) -> Step:
        return get(at, *items, refresh=given, starts=starts(given))

    def searching(within: str, kind: str | None, limit: int | None, given: bool | None) -> Step:
        below = [item for item in EVERY if not within or item.startswith(f"{within}/")]
        found = tuple(item for item in below if kind in (None, item[0]))
        keywords: dict[str, Any] = {} if given is None else {"refresh_ttl": given}
        keywords |= {} if kind is None else {"filter": {"kind": kind}}
        keywords |= {} if limit is None else {"limit": limit}
        expected: tuple[str, ...] | Literal["found"] = found if limit is None else "found"
        return search(at, within, starts=expected if starts(given) else (), **keywords)

    given = st.sampled_from(REFRESHES[setup])
    kinds, limits = st.sampled_from([None, None, "a", "b"]), st.sampled_from([None, None, 1, 2])
    return st.one_of(
        st.builds(getting, some_items, given),
        st.builds(searching, st.sampled_from(WITHIN), kinds, limits, given),
    )


def looks(at: float, before: Sequence[Step]) -> st.SearchStrategy[Step]:
    """Looks at what there may be after these steps."""
    put = {item for step in before for item in step.puts}
    items = ITEMS + MANY if put.intersection(MANY) else ITEMS
    by_key = timed(at, *items)
    return st.sampled_from([by_key, by_key, timed(at, *items, by="search"), timed(at, *ALONE, by="list_namespaces")])


def ends(steps: Sequence[Step], setup: Setup) -> list[float]:
    """When timers end, if one begins with each step, whether it should or not."""
    lives = {ttl for step in steps for ttl in step.puts.values() if isinstance(ttl, float) and ttl < LONGEST}
    lives |= set() if setup.default is None else {setup.default}
    return sorted({step.at + life for step in steps for life in lives})


@st.composite
def schedules(draw: st.DrawFn) -> Schedule | None:
    """A schedule, or None where nothing that it looks at can be told.

    It shows most when a timer is shortly before its end, and when what an item had before is surely gone.
    """
    setup, zone = draw(st.sampled_from(SETUPS)), draw(st.sampled_from([None, None, None, *ZONES]))
    steps, at = [put_each(0.0, ITEMS, draw(TTLS)), *draw(st.lists(puts(0.0), max_size=2))], 0.0
    for _ in range(draw(st.integers(1, 3))):
        turns = [end - BEFORE for end in ends(steps, setup)]
        moments = [*turns * 4, *(at + gap for gap in GAPS)]
        at = round(draw(st.sampled_from([moment for moment in moments if at <= moment])), 2)
        others = [delete(at, draw(st.sampled_from(ITEMS))), sweep(at), list_namespaces(at)]
        read, look = reads(at, setup), looks(at, steps)
        step = draw(st.one_of(read, read, read, puts(at), puts(at), batches(at), look, st.sampled_from(others)))
        steps += abroad(zone, step) if zone and draw(st.booleans()) else [step]
    turns = [end + AFTER for end in ends(steps, setup)]
    steps += [draw(looks(round(turn, 2), steps)) for turn in [*turns, LONGEST] if turn > at and draw(st.booleans())]
    return decidable(setup, [step for step in steps if step.at <= LONGEST])


def decidable(setup: Setup, steps: Sequence[Step]) -> Schedule | None:
    """The steps as a schedule that is judged where it can be told what is there, going by the moments of the steps."""
    schedule = Schedule("", setup, tuple(steps))
    # which items a page holds is not known
    full, empty = (Played.in_time(schedule, found).decidable(SLACK) for found in (EVERY, ()))
    judged = [
        dataclasses.replace(step, timed=tuple(item for item in step.timed if item in one and item in other))
        for step, one, other in zip(steps, full, empty, strict=True)
    ]
    while judged and not judged[-1].timed:
        judged.pop()
    return Schedule(f"a schedule of {len(judged)} steps", setup, tuple(judged), in_part=True) if judged else None


def timeline_of(made: Sequence[Schedule]) -> Timeline:
    """A timeline with these schedules, and with those that say what everything about TTL builds upon."""
    timeline = Timeline()
    timeline.basics = BASICS
    timeline.schedules = [*BASICS.schedules, *made]
    return timeline


def run(made: Sequence[Schedule], subject: Subject, modes: Sequence[str] | None = None) -> tuple[Run, list[Schedule]]:
    """Run these schedules, or the first ones of them where the store is too slow for all."""
    played = Run(timeline_of(made), subject, modes, slowly=False)
    while played.too_slow and made:
        made = made[: len(made) // FEWER]
        played = Run(timeline_of(made), subject, modes, slowly=not made)
    return played, list(made)


RUNS: weakref.WeakKeyDictionary[Subject, tuple[Run, list[Schedule], int | str | None]] = weakref.WeakKeyDictionary()
"""The random schedules of each store: one timeline is for both of its drives."""


@rule(MUST, source="PutOp.ttl; GetOp.refresh_ttl; SearchOp.refresh_ttl; TTLConfig", needs="ttl")
def test_any_item_lives_as_long_as_its_timer(store: StoreDrive, store_subject: Subject, explorer: Explorer) -> None:
    """Whatever was put, read, deleted and swept when, an item is there until its time is over, and then no more.

    Many random schedules run beside each other; of one that fails the shortest part that fails, too, is shown. What is
    near to a deadline is not judged.
    """
    if store_subject not in RUNS:
        drawn = explorer.draw(schedules(), min(MOST, AT_ONCE * explorer.profile.examples))
        RUNS[store_subject] = (*run([each for each in drawn if each], store_subject), explorer.seed)
    played, made, explorer.seed = RUNS[store_subject]
    made = [BASICS.spares, BASICS.lasts, BASICS.expires, *made]
    failing: list[tuple[Schedule, Exception]] = []
    untold: list[str] = []
    blocked: Blocked | None = None
    for schedule in made:
        try:
            explorer.done += played.judge_in_part(store.mode, schedule).told > 0
        except Blocked as error:
            blocked = error
        except pytest.skip.Exception as skipped:
            untold.append(str(skipped))
        except Exception as error:
            failing.append((schedule, error))
    if failing:
        raise shortest(failing, store, store_subject, explorer)
    if blocked:
        raise blocked
    if not explorer.done:
        pytest.skip(untold[0] if untold else "no schedule came in time to be judged")


def shortest(
    failing: Sequence[tuple[Schedule, Exception]], store: StoreDrive, subject: Subject, explorer: Explorer
) -> Exception:
    """What the shortest schedule shows that fails when it is tried again: all parts of one run beside each other.

    Raises:
        pytest.skip.Exception: none of them fails again, as when the machine stood still for a while.
    """
    begun = time.monotonic()
    whole = sorted((schedule for schedule, _ in failing), key=lambda schedule: len(schedule.steps))[:MOST_AGAIN]
    found = next(broken([*parts_of(whole[0]), *whole], store, subject), None)
    if found is None:
        pytest.skip(f"{len(failing)} random schedules failed once, and did not when they were tried again")
    for _ in range(MOST_TIMES_SHORTER):
        late = time.monotonic() - begun > explorer.limit / 2
        shorter = None if late else next(broken(parts_of(found[0]), store, subject), None)
        if shorter is None:
            break
        found = shorter
    explorer.notes.append(
        f"{len(failing)} random schedules failed{explorer.again}; shown is the shortest part that failed again."
    )
    return found[1]


def broken(parts: Sequence[Schedule], store: StoreDrive, subject: Subject) -> Iterator[tuple[Schedule, Exception]]:
    """Which of these schedules fail, and how."""
    played, tried = run(parts, subject, [store.mode])
    for part in tried:
        try:
            played.judge_in_part(store.mode, part)
        except (Blocked, pytest.skip.Exception):
            continue
        except Exception as error:
            yield part, error


def parts_of(schedule: Schedule) -> list[Schedule]:
    """Shorter schedules, the shortest first: some have few of the steps, others all but some in a row."""
    steps = schedule.steps
    runs = itertools.combinations(range(len(steps) + 1), 2)
    few = [part for size in (2, 3) for part in itertools.combinations(steps, size)]
    most = [steps[:begin] + steps[end:] for begin, end in runs if end - begin < len(steps)]
    parts = {tuple(map(id, part)): decidable(schedule.setup, part) for part in [*few[:MOST_SHORTER], *most]}
    found = [part for part in parts.values() if part is not None and len(part.steps) < len(steps)]
    return sorted(found, key=lambda part: len(part.steps))
