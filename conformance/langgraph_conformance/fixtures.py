"""Fixtures of the suite."""

from __future__ import annotations

import contextlib
import time
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from langgraph.store.base import PutOp

from .capabilities import MODES
from .configurations import INDEXED, Configuration
from .drive import Call, Drive, GraphDrive, SaverDrive, StoreDrive
from .errors import Blocked, TimedOut
from .explore import PROFILES, Explorer, chosen_seed
from .instances import Instances, StoreInstances
from .session import CALLS, EXPLORER, OBSERVED, ConformanceSession, Subject
from .threads import Thread, fresh_id


def _session(request: pytest.FixtureRequest) -> ConformanceSession:
    session = request.config.pluginmanager.get_plugin("langgraph_conformance.session")
    assert isinstance(session, ConformanceSession)  # these fixtures are registered together with it
    return session


@pytest.fixture
def subject(request: pytest.FixtureRequest) -> Subject:
    """The saver under test: target, findings, open instances."""
    return _session(request).subjects["saver"]


@pytest.fixture
def saver(request: pytest.FixtureRequest, subject: Subject) -> Iterator[SaverDrive]:
    """The saver under test, through one of its drives."""
    drive: SaverDrive = subject.drive(request.param)
    drive.calls = []
    request.node.stash[CALLS] = drive.calls
    yield drive
    drive.calls = []
    _throw_away_if_spoilt(request, drive, lambda: stores_a_checkpoint(drive))


@pytest.fixture
def parity(request: pytest.FixtureRequest, subject: Subject) -> Iterator[dict[str, SaverDrive]]:
    """One instance of the saver under test through both drives, by name: ``sync`` and ``async``."""
    drives: dict[str, SaverDrive] = {mode: subject.drive(mode, "parity") for mode in MODES}
    calls: list[Call] = []
    request.node.stash[CALLS] = calls
    for drive in drives.values():
        drive.calls = calls
    yield drives
    for drive in drives.values():
        drive.calls = []


@pytest.fixture
def new_thread(request: pytest.FixtureRequest, saver: SaverDrive) -> Iterator[Callable[..., Thread]]:
    """Makes threads with ids that nobody else uses, and removes them afterwards: ``new_thread("hint at the end")``."""
    made: list[Thread] = []

    def make(hint: str = "", *, id: str | None = None) -> Thread:
        thread = Thread(saver, id if id is not None else fresh_id(hint))
        made.append(thread)
        return thread

    yield make
    remove(saver, made)


@pytest.fixture
def thread(new_thread: Callable[..., Thread]) -> Thread:
    """A thread of the saver under test."""
    return new_thread()


@pytest.fixture
def store_subject(request: pytest.FixtureRequest) -> Subject:
    """The store under test: target, findings, open instances."""
    return _session(request).subjects["store"]


@pytest.fixture
def root() -> str:
    """A first label that nobody else uses: a check's namespaces begin with it."""
    return fresh_id()


def _throw_away_if_spoilt(request: pytest.FixtureRequest, drive: Drive, works: Callable[[], bool]) -> None:
    """After a call that raised: is the connection still in order? If not, the next check gets a new instance.

    One fault would otherwise fail every check that comes after it.
    """
    if drive.broken or not any(call.outcome == "raised" for call in request.node.stash.get(CALLS, [])):
        return
    try:
        drive.broken = not works()
    except (Exception, TimedOut):
        drive.broken = True
    drive.calls = []


def stores_a_checkpoint(drive: SaverDrive) -> bool:
    thread = Thread(drive, fresh_id())
    stored = thread.put({"channel": "value"})
    found = drive.get_tuple(stored.config)
    remove(drive, [thread])
    return found is not None and found.checkpoint["id"] == stored.id


def stores_an_item(drive: StoreDrive) -> bool:
    namespace = (fresh_id(),)
    drive.put(namespace, "key", {"field": "value"})
    found = drive.get(namespace, "key")
    if drive.name_of("search") not in drive.missing:
        drive.search(namespace)  # which may come across what another check has put, and fail
    drive.delete(namespace, "key")
    return found is not None


def _store(request: pytest.FixtureRequest, drive: StoreDrive, subject: Subject) -> Iterator[StoreDrive]:
    drive.calls = request.node.stash.setdefault(CALLS, [])
    yield drive
    calls, drive.calls = drive.calls, []
    clear(drive, calls)
    _throw_away_if_spoilt(request, drive, lambda: stores_an_item(drive))
    if not drive.broken:
        _renew_if_slow(drive, subject)


LOOK_EVERY = 40
"""How many checks a store serves between two looks at how long a search takes."""
SLOWER = 5
"""How many times as long as at first it may take."""
SLOW = 0.02
"""Seconds below which it is never too long."""


@dataclass
class _Pace:
    checks: int = 0
    seconds: float = 0.0


_PACES: weakref.WeakKeyDictionary[StoreDrive, _Pace] = weakref.WeakKeyDictionary()


def _renew_if_slow(drive: StoreDrive, subject: Subject) -> None:
    """Have a store opened anew whose searches take much longer than at first.

    Some keep what was deleted: each call looks through all that earlier checks have put, and a run would take hours.
    """
    pace = _PACES.setdefault(drive, _Pace())
    pace.checks += 1
    if pace.checks % LOOK_EVERY != 1:
        return
    seconds = []
    with contextlib.suppress(Exception, Blocked, TimedOut):
        for _ in range(2):
            began = time.monotonic()
            drive.search((fresh_id(),))
            seconds.append(time.monotonic() - began)
    drive.calls = []
    pace.seconds = pace.seconds or min(seconds, default=0.0)
    if not drive.broken and min(seconds, default=0.0) > max(SLOW, SLOWER * pace.seconds):
        subject.renew(drive)


@pytest.fixture
def store(request: pytest.FixtureRequest, store_subject: Subject) -> Iterator[StoreDrive]:
    """The store under test without an index or TTL, through one of its drives; what a check puts is deleted."""
    yield from _store(request, store_subject.drive(request.param), store_subject)


@pytest.fixture
def configured(
    request: pytest.FixtureRequest, store: StoreDrive, store_subject: Subject
) -> Iterator[Callable[[Configuration], StoreDrive]]:
    """Opens the store under test in a configuration, through the drive of the check: ``configured(INDEXED)``."""
    with contextlib.ExitStack() as stack:
        opened = contextlib.contextmanager(_store)
        yield lambda configuration: stack.enter_context(
            opened(request, store_subject.drive(store.mode, configuration=configuration), store_subject)
        )


@pytest.fixture
def indexed(configured: Callable[[Configuration], StoreDrive]) -> StoreDrive:
    """The store under test with an index."""
    return configured(INDEXED)


@pytest.fixture
def store_parity(request: pytest.FixtureRequest, store_subject: Subject) -> Iterator[dict[str, StoreDrive]]:
    """One instance of the store under test through both drives, by name: ``sync`` and ``async``."""
    drives: dict[str, StoreDrive] = {mode: store_subject.drive(mode, "parity") for mode in MODES}
    calls: list[Call] = []
    request.node.stash[CALLS] = calls
    for drive in drives.values():
        drive.calls = calls
    yield drives
    for drive in drives.values():
        drive.calls = []
    clear(drives["sync"], calls)


def clear(store: StoreDrive, calls: Iterable[Call]) -> None:
    """Delete the items that these calls put."""
    items: set[tuple[tuple[str, ...], str]] = set()
    for call in calls:
        if call.outcome == "raised":
            continue
        if call.method in ("put", "aput") and len(call.arguments) > 1:
            items.add((call.arguments[0], str(call.arguments[1])))
        elif call.method in ("batch", "abatch") and call.arguments and isinstance(call.arguments[0], list):
            puts = [each for each in call.arguments[0] if isinstance(each, PutOp) and each.value is not None]
            items.update((each.namespace, each.key) for each in puts)
    delete_items(store, items)


def delete_items(store: StoreDrive, items: Collection[tuple[tuple[str, ...], str]]) -> None:
    """Delete the items at these namespaces and keys, where the store can; whether it can is judged by rules."""
    store.calls = []
    if items and not store.broken:
        with contextlib.suppress(Exception, Blocked, TimedOut):
            store.batch([PutOp(namespace, key, None) for namespace, key in items])
        store.calls = []


def remove(saver: SaverDrive, threads: list[Thread]) -> None:
    """Delete what a check stored, where the saver can; whether it can is judged by rules of its own."""
    saver.calls = []
    for thread in threads:
        if saver.broken or saver.name_of("delete_thread") in saver.missing:
            return
        with contextlib.suppress(Exception, Blocked, TimedOut):
            saver.delete_thread(thread.id)


@pytest.fixture
def parity_threads(parity: dict[str, SaverDrive]) -> Iterator[dict[str, Thread]]:
    """One thread of the saver under test, by the drive that is used on it: ``sync`` and ``async``."""
    id = fresh_id()
    threads = {mode: Thread(drive, id) for mode, drive in parity.items()}
    yield threads
    remove(parity["sync"], [threads["sync"]])


@pytest.fixture
def async_saver(request: pytest.FixtureRequest, subject: Subject) -> Iterator[SaverDrive]:
    """The saver under test through its async drive, for what only tasks can do: the rule needs ``async``."""
    drive: SaverDrive = subject.drive("async")
    drive.calls = []
    request.node.stash[CALLS] = drive.calls
    yield drive
    drive.calls = []


@pytest.fixture
def async_thread(async_saver: SaverDrive) -> Iterator[Thread]:
    """A thread of the saver under test through its async drive."""
    thread = Thread(async_saver, fresh_id())
    yield thread
    remove(async_saver, [thread])


@pytest.fixture
def instances(request: pytest.FixtureRequest, saver: SaverDrive, subject: Subject) -> Iterator[Instances]:
    """Opens instances of the saver under test for one check, and closes them afterwards."""
    made = Instances(subject, saver.mode, request.node.stash[CALLS])
    yield made
    remove(made.last() or saver, made.threads)
    made.close()


@pytest.fixture
def store_instances(
    request: pytest.FixtureRequest, store: StoreDrive, store_subject: Subject
) -> Iterator[StoreInstances]:
    """Opens instances of the store under test for one check, and closes them afterwards."""
    made = StoreInstances(store_subject, store.mode, request.node.stash[CALLS])
    yield made
    made.close()


@pytest.fixture
def explorer(request: pytest.FixtureRequest) -> Explorer:
    """Tries a property's examples, as many as the profile says; what is shown of a failing one are its calls."""
    profile = PROFILES[request.config.getoption("conformance_profile")]
    node = request.node

    def show(calls: list[Call]) -> None:
        node.stash[CALLS] = calls

    made = Explorer(profile, _session(request).seconds, chosen_seed(request.config), show, node)
    node.stash[EXPLORER] = made
    return made


@pytest.fixture
def observe(request: pytest.FixtureRequest) -> Callable[[object], None]:
    """Notes what a QUIRK's check saw: ``observe("ignored")``."""

    def note(seen: object) -> None:
        request.node.stash[OBSERVED] = str(seen)

    return note


@pytest.fixture
def drive_graph(saver: SaverDrive) -> Callable[[Any], GraphDrive]:
    """Compiles a graph with the saver under test and drives it: ``drive_graph(builder)``."""

    def compile(builder: Any, **settings: Any) -> GraphDrive:
        return GraphDrive(saver, builder.compile(checkpointer=saver.raw, **settings))

    return compile
