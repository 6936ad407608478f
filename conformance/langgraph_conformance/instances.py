"""Instances of a backend that one check has for itself: opened, closed and opened again while it runs."""

from __future__ import annotations

import inspect
from typing import Any

from .drive import Drive, SaverDrive
from .session import Subject


class Instances:
    """Opens instances of the saver under test for one check.

    Args:
        subject: the saver under test.
        mode: the drive.
    """

    def __init__(self, subject: Subject, mode: str) -> None:
        self._subject, self._mode = subject, mode
        self._open: list[Drive] = []

    def open(self) -> SaverDrive:
        """A saver that was just opened and set up, and not called yet."""
        return self._take(reopen=False)

    def reopen(self) -> SaverDrive:
        """One more instance, on the storage that was opened last (providers only)."""
        return self._take(reopen=True)

    def restart(self) -> SaverDrive:
        """Close the instances and open the storage again, as when a process ends and another goes on."""
        self.close()
        return self.reopen()

    def rows(self) -> list[Any]:
        """What is physically stored now, as the provider tells it."""
        instance = self._open[-1]
        rows = instance.opened.provider.rows() if instance.opened.provider is not None else ()
        return list(instance.run(lambda: rows) if inspect.isawaitable(rows) else rows)

    def close(self) -> None:
        """Close the instances, the last one first; raises what they raise."""
        while self._open:
            drive = self._open.pop()
            if drive.broken:
                drive.opened.abandon()
            else:
                drive.opened.close()

    def _take(self, *, reopen: bool) -> SaverDrive:
        target, modes = self._subject.target, self._subject.findings.modes
        opened = target.reopen(self._mode) if reopen else target.open(self._mode)
        drive = SaverDrive(opened, self._mode, self._subject.hangs, modes[self._mode].missing)
        self._open.append(drive)
        return drive
