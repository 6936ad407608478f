"""Fixtures of the suite."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from .drive import GraphDrive, SaverDrive
from .errors import Blocked, TimedOut
from .session import CALLS, OBSERVED, ConformanceSession, Subject
from .threads import Thread, fresh_id


def _session(request: pytest.FixtureRequest) -> ConformanceSession:
    session: ConformanceSession = request.config.pluginmanager.get_plugin("langgraph_conformance.session")
    return session


@pytest.fixture
def subject(request: pytest.FixtureRequest) -> Subject:
    """The saver under test: target, findings, open instances."""
    return _session(request).subjects["saver"]


@pytest.fixture
def saver(request: pytest.FixtureRequest, subject: Subject) -> Iterator[SaverDrive]:
    """The saver under test, through one of its drives."""
    drive = subject.drive(request.param)
    drive.calls = []
    request.node.stash[CALLS] = drive.calls
    yield drive
    drive.calls = []


@pytest.fixture
def parity(request: pytest.FixtureRequest, subject: Subject) -> Iterator[dict[str, SaverDrive]]:
    """One instance of the saver under test through both drives, by name: ``sync`` and ``async``."""
    drives = {mode: subject.drive(mode, "parity") for mode in ("sync", "async")}
    calls: list[Any] = []
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


def remove(saver: SaverDrive, threads: list[Thread]) -> None:
    """Delete what a check stored, where the saver can; whether it can is judged by rules of its own."""
    saver.calls = []
    for thread in threads:
        if saver.broken or saver.name_of("delete_thread") in saver.missing:
            return
        with contextlib.suppress(Exception, Blocked, TimedOut):
            saver.delete_thread(thread.id)


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
