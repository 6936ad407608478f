"""The timeline of TTL schedules: it judges what happened, and nothing that came too late."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from langgraph.store.base import BaseStore
from langgraph_conformance.errors import Blocked, Broken
from langgraph_conformance.session import Subject
from langgraph_conformance.suite.store.test_ttl import (
    BY_DEFAULT,
    COUNT,
    EXPIRES,
    FOREVER,
    LASTING,
    LASTS,
    READING,
    REFRESHED,
    SPARES,
    SWEEPER,
    TIMELINE,
)
from langgraph_conformance.timeline import (
    REFRESHING,
    Played,
    Record,
    Run,
    Schedule,
    _time_zone,
    get,
    gone,
    over,
    put,
    search,
    sweep,
    there,
    timed,
)
from langgraph_reference import ReferenceStore

A_MINUTE = timedelta(minutes=1)
FOUND = {"item": "an item"}
NOTHING: Mapping[str, Any] = {"item": None}


def played(*steps: tuple[Any, float, Any], stretch: float = 1) -> Played:
    """A schedule whose steps were done at these times, with these results; each took no time."""
    schedule = Schedule("a schedule", REFRESHING, tuple(step for step, _, _ in steps))
    return Played(schedule, [Record(step, at, at, result) for step, at, result in steps], True, stretch)


PUT = (put(0, "item", ttl=3), 0.0, None)


@pytest.mark.parametrize(
    ("at", "result", "holds"),
    [(1.0, FOUND, True), (2.6, FOUND, True), (2.7, FOUND, None), (1.0, NOTHING, False), (2.7, NOTHING, None)],
)
def test_an_item_must_be_there_until_shortly_before_its_deadline(at: float, result: Any, holds: bool | None) -> None:
    verdict = played(PUT, (there(1, "item"), at, result)).verdict()
    assert (verdict.bad, verdict.untold is not None) == (holds is False, holds is None)


@pytest.mark.parametrize(
    ("at", "result", "holds"),
    [(4.2, NOTHING, True), (4.1, FOUND, None), (2.0, FOUND, None), (4.2, FOUND, False), (2.0, NOTHING, None)],
)
def test_an_item_must_be_gone_some_time_after_its_deadline(at: float, result: Any, holds: bool | None) -> None:
    verdict = played(PUT, (gone(4.5, "item"), at, result)).verdict()
    assert (verdict.bad, verdict.untold is not None) == (holds is False, holds is None)


def test_a_read_starts_the_timer_from_when_it_really_was() -> None:
    steps = (PUT, (get(2.2, "item"), 2.5, FOUND))
    assert played(*steps, (there(4.5, "item"), 5.0, NOTHING)).verdict().bad
    assert played(*steps, (there(4.5, "item"), 5.2, NOTHING)).verdict().untold
    assert played(*steps, (gone(7, "item"), 6.6, FOUND)).verdict().untold
    assert played(*steps, (gone(7, "item"), 6.7, FOUND)).verdict().bad


def test_after_a_read_that_came_too_late_nothing_is_told() -> None:
    late = (PUT, (get(2.2, "item"), 2.7, FOUND))
    assert played(*late, (there(4.5, "item"), 4.5, NOTHING)).verdict().untold
    assert played(*late, (gone(9, "item"), 9.0, FOUND)).verdict().untold


def test_a_search_refreshes_what_it_found() -> None:
    items = (put(0, "item", "other", ttl=3), 0.0, None)
    page = (search(2.2, limit=1), 2.2, FOUND)
    both = {"item": "an item", "other": "another"}
    assert not played(items, page, (timed(4.5, "item", "other"), 4.5, FOUND)).verdict().bad
    assert played(items, page, (timed(4.5, "item", "other"), 4.5, both)).verdict().bad
    assert played(items, page, (timed(4.5, "item", "other"), 4.5, {})).verdict().bad
    assert not played(items, page, (over(4.5, "item", "other"), 4.5, {})).verdict().bad
    assert played(items, page, (over(4.5, "item", "other"), 4.5, both)).verdict().bad


def test_what_a_read_must_find_is_judged_too() -> None:
    assert played(PUT, (search(1, starts=("item",)), 1.0, {})).verdict().bad
    assert not played(PUT, (search(1), 1.0, {})).verdict().bad


def test_a_stretched_schedule_has_stretched_ttls() -> None:
    assert played(PUT, (there(1, "item"), 5.0, NOTHING), stretch=2).verdict().bad
    assert not played(PUT, (there(1, "item"), 5.0, NOTHING), stretch=1).verdict().bad


@pytest.mark.parametrize("at", [2.4, 2.5, 4.25])
def test_a_schedule_is_judged_where_it_is_clear_by_the_moments_of_its_steps(at: float) -> None:
    steps = (put(0, "item", ttl=3), timed(at, "item", "none"), search(at), timed(9, "item", "none"))
    first, last = Played.in_time(Schedule("a schedule", REFRESHING, steps), ["item"]).decidable(0.15)[1::2]
    assert first == last == (("item", "none") if at == 2.4 else ("none",))


@pytest.mark.parametrize(
    ("at", "count", "holds"), [(4.5, 1, True), (4.5, 0, False), (4.5, None, False), (3.5, 0, None)]
)
def test_a_sweep_counts_what_is_surely_over(at: float, count: int | None, holds: bool | None) -> None:
    verdict = played(PUT, (sweep(4.5, counts=1, of=("item",)), at, count)).verdict()
    assert (verdict.bad, verdict.untold is not None) == (holds is False, holds is None)


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="this platform has no tzset")
def test_a_time_zone_is_put_back() -> None:
    before = (os.environ.get("TZ"), time.timezone)
    with _time_zone("EAST-9"):
        assert time.timezone == -9 * 3600
    assert (os.environ.get("TZ"), time.timezone) == before


# --- on stores whose clock is moved


class Clocked:
    """A provider; the tests set ``made``."""

    made: Any = ReferenceStore

    def __init__(self) -> None:
        self.now = datetime.now(timezone.utc)

    def open(self, index: Any = None, ttl: Any = None) -> BaseStore:
        store: BaseStore = self.made(index=index, ttl=ttl, clock=lambda: self.now)
        return store

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Run]]:
    """Runs the suite's timeline on a store class."""
    subjects: list[Subject] = []

    def on(made: Any, seconds: float = 20.0) -> Run:
        monkeypatch.setattr(Clocked, "made", staticmethod(made))
        subjects.append(Subject("store", f"{__name__}:Clocked", seconds))
        subjects[-1].look()
        return Run(TIMELINE, subjects[-1])

    yield on
    for subject in subjects:
        subject.close()


def test_every_schedule_holds_on_the_reference(run: Callable[..., Run]) -> None:
    judged = run(ReferenceStore)
    for mode in ("sync", "async"):
        for schedule in TIMELINE.schedules:
            judged.judge(mode, schedule)


class NeverRefreshed(ReferenceStore):
    """Reads never start a timer again."""

    def _get(self, op: Any, now: datetime) -> Any:
        return super()._get(op._replace(refresh_ttl=False), now)


def test_a_fault_breaks_the_schedules_that_are_about_it(run: Callable[..., Run]) -> None:
    judged = run(NeverRefreshed)
    with pytest.raises(Broken, match="expected a/item to be there, came back a/item is gone") as raised:
        judged.judge("sync", READING["get"])
    assert "get a/item, a/other: there a/item, a/other" in str(raised.value)
    judged.judge("sync", READING["search"])
    judged.judge("async", EXPIRES)


class Seconds(ReferenceStore):
    """Takes a TTL for seconds."""

    def _planned_put(self, op: Any) -> Any:
        planned = super()._planned_put(op)
        if planned.lifetime is not None:
            planned.lifetime /= 60
        return planned


def test_what_builds_on_a_broken_basic_is_blocked(run: Callable[..., Run]) -> None:
    judged = run(Seconds)
    with pytest.raises(Broken):
        judged.judge("sync", LASTS)
    with pytest.raises(Blocked, match="gone before their TTL is over"):
        judged.judge("sync", READING["get"])
    judged.judge("sync", SPARES)


class WholeMinutes(ReferenceStore):
    """Keeps whole minutes for its refreshes: an item with a shorter TTL ends when it is read."""

    def _get(self, op: Any, now: datetime) -> Any:
        item = super()._get(op, now)
        record = self._spaces[op.namespace].records.get(op.key) if op.namespace in self._spaces else None
        if op.refresh_ttl and record is not None and record.lifetime is not None and record.lifetime < A_MINUTE:
            record.expires_at = now
        return item


def test_where_a_refresh_ends_an_item_only_longer_lives_are_judged_with_it(run: Callable[..., Run]) -> None:
    judged = run(WholeMinutes)
    with pytest.raises(Broken):
        judged.judge("sync", REFRESHED["get"])
    with pytest.raises(pytest.skip.Exception, match="a get that refreshes ends an item with a short TTL"):
        judged.judge("sync", READING["get"])
    judged.judge("sync", READING["search"])
    judged.judge("sync", LASTING["a minute"])
    judged.judge("sync", FOREVER["read"])


class Hanging(ReferenceStore):
    """Sweeping the store that only has a default TTL never returns."""

    def sweep_ttl(self) -> int:
        if set(self.ttl_config or {}) == {"default_ttl"}:
            threading.Event().wait()
        return super().sweep_ttl()


def test_a_call_that_hangs_costs_only_its_own_store(run: Callable[..., Run]) -> None:
    judged = run(Hanging, seconds=1.0)
    hung = [each for each in TIMELINE.schedules if each.setup is BY_DEFAULT]
    outcomes = []
    for schedule in hung:
        with pytest.raises((Broken, Blocked)) as raised:
            judged.judge("sync", schedule)
        outcomes.append(raised.type)
    assert outcomes.count(Broken) == 1
    judged.judge("sync", EXPIRES)


def test_counting_needs_a_storage_of_its_own(run: Callable[..., Run]) -> None:
    kept: list[ReferenceStore] = []

    def same(index: Any, ttl: Any, clock: Any) -> ReferenceStore:
        if not kept:
            kept.append(ReferenceStore(index=index, ttl=ttl, clock=clock))
        return kept[0]

    judged = run(same)
    for schedule in (COUNT, SWEEPER):
        with pytest.raises(pytest.skip.Exception, match="share one storage"):
            judged.judge("sync", schedule)
    judged.judge("sync", EXPIRES)
