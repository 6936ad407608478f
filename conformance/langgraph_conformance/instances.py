"""Instances of a backend that one check has for itself: opened, closed and opened again while it runs."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar

from .drive import Call, Drive, SaverDrive, StoreDrive
from .session import Subject
from .threads import Thread, fresh_id

AnyDrive = TypeVar("AnyDrive", bound=Drive)


class _Instances(Generic[AnyDrive]):
    """Opens instances of the backend under test for one check.

    Args:
        subject: the backend under test.
        mode: the drive.
        calls: where their calls are noted, to be shown if the check fails.
    """

    _drive: ClassVar[type[Drive]]

    def __init__(self, subject: Subject, mode: str, calls: list[Call]) -> None:
        self._subject, self._mode, self._calls = subject, mode, calls
        self._open: list[AnyDrive] = []

    def open(self, settings: Mapping[str, Any] | None = None) -> AnyDrive:
        """A backend that was just opened and set up, and not called yet.

        Args:
            settings: keywords for the factory, such as a store's ``index``.
        """
        return self._take(reopen=False, settings=settings)

    def reopen(self) -> AnyDrive:
        """One more instance, on the storage that was opened last (providers only)."""
        return self._take(reopen=True)

    def restart(self) -> AnyDrive:
        """Close the instances and open the storage again, as when a process ends and another goes on."""
        self.close()
        return self.reopen()

    def rows(self) -> list[Any]:
        """What is physically stored now, as the provider tells it."""
        instance = self._open[-1]
        rows = instance.opened.provider.rows() if instance.opened.provider is not None else ()
        return list(instance.run(lambda: rows) if inspect.isawaitable(rows) else rows)

    def last(self) -> AnyDrive | None:
        """The instance that was opened last, if it is still open."""
        return self._open[-1] if self._open else None

    def close(self) -> None:
        """Close the instances, the last one first; raises what they raise."""
        while self._open:
            drive = self._open.pop()
            if drive.broken:
                drive.opened.abandon()
            else:
                drive.opened.close()

    def _take(self, *, reopen: bool, settings: Mapping[str, Any] | None = None) -> AnyDrive:
        target, modes = self._subject.target, self._subject.findings.modes
        opened = target.reopen(self._mode) if reopen else target.open(self._mode, settings=settings)
        drive: Any = self._drive(opened, self._mode, self._subject.hangs, modes[self._mode].missing)
        drive.calls = self._calls
        self._open.append(drive)
        made: AnyDrive = drive
        return made


class Instances(_Instances[SaverDrive]):
    """Opens instances of the saver under test for one check."""

    _drive = SaverDrive

    def __init__(self, subject: Subject, mode: str, calls: list[Call]) -> None:
        super().__init__(subject, mode, calls)
        self.threads: list[Thread] = []
        """The threads to be removed when the check ends."""

    def new_thread(self, saver: SaverDrive) -> Thread:
        """A thread with an id that nobody else uses, removed when the check ends."""
        self.threads.append(Thread(saver, fresh_id()))
        return self.threads[-1]


class StoreInstances(_Instances[StoreDrive]):
    """Opens instances of the store under test, without an index or TTL unless settings say so, for one check."""

    _drive = StoreDrive
