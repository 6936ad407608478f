"""What a saver offers: found by looking and by trying, and compared with what its author declares."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from .drive import Hangs, SaverDrive
from .errors import TargetError, TimedOut
from .target import Target
from .threads import Thread
from .watchdog import limit

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MODES = ("sync", "async")
CORE = ("put", "put_writes", "get_tuple", "list")
OPTIONAL = ("delete_thread", "copy_thread", "prune", "delete_for_runs")
PROVIDED = {
    "reopen": "offer it with a provider class: open() and reopen() (the same storage, a new instance)",
    "rows": "offer it with a provider class: open() and rows() (what is physically stored)",
    "advance": "offer it with a provider class: open() and advance(seconds) (a clock that can be moved)",
}
SAVER_CAPABILITIES = (*MODES, "parity", *OPTIONAL, "delta_history", "reopen", "rows")


@dataclass
class ModeFindings:
    """What one drive of a backend offers.

    Attributes:
        smoke: why the first steps failed, None when they went well.
        missing: methods that are not implemented, under the backend's names.
    """

    smoke: str | None = None
    missing: set[str] = field(default_factory=set)


@dataclass
class Findings:
    """What a backend offers.

    Attributes:
        modes: per drive that is offered.
        absent: capability and why it is not offered.
        close_error: what closing it raised, if anything.
    """

    modes: dict[str, ModeFindings] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    close_error: str | None = None

    def offers(self, capability: str, mode: str | None = None) -> bool:
        """Whether ``capability`` can be tried, in the drive ``mode`` where one is named."""
        if capability in self.absent:
            return False
        return mode is None or f"{capability}[{mode}]" not in self.absent


def _implements(backend: object, base: type, name: str) -> bool:
    own = getattr(type(backend), name, None)
    return own is not None and (own is not getattr(base, name, None) or name in vars(backend))


class SaverProbe:
    """Tries the first steps with a saver, and which methods it has.

    Args:
        target: the saver's target.
        hangs: where hanging methods are noted.
        seconds: how long one step may take.
    """

    def __init__(self, target: Target, hangs: Hangs, seconds: float) -> None:
        self._target, self._hangs, self._seconds = target, hangs, seconds

    def find(self) -> Findings:
        """Open, put, get and close in each drive.

        Raises:
            TargetError: the target cannot be opened.
        """
        findings = Findings()
        for mode in MODES:
            self._try(mode, findings)
        for mode in MODES:
            if mode not in findings.modes:
                names = ", ".join(name if mode == "sync" else f"a{name}" for name in CORE)
                findings.absent[mode] = f"{names} are not all implemented"
        if len(findings.modes) < len(MODES):
            findings.absent["parity"] = "needs both the sync and the async methods"
        for capability in OPTIONAL:
            names = {mode: capability if mode == "sync" else f"a{capability}" for mode in findings.modes}
            lacking = [mode for mode, name in names.items() if name in findings.modes[mode].missing]
            if len(lacking) == len(findings.modes):
                findings.absent[capability] = "not implemented"
            else:
                findings.absent.update({f"{capability}[{mode}]": f"{names[mode]} is not implemented" for mode in lacking})
        if not hasattr(BaseCheckpointSaver, "get_delta_channel_history"):
            findings.absent["delta_history"] = "this version of langgraph-checkpoint has no delta channels"
        findings.absent.update(
            {name: PROVIDED[name] for name in ("reopen", "rows") if name not in self._target.provides}
        )
        return findings

    def _try(self, mode: str, findings: Findings) -> None:
        opened = self._target.open(mode)
        drive = SaverDrive(opened, mode, self._hangs)
        lacking = {
            name for name in CORE if not _implements(drive.raw, BaseCheckpointSaver, drive.name_of(name))
        }
        found = ModeFindings(missing={drive.name_of(name) for name in lacking})
        if not {"put", "get_tuple"} & lacking:
            thread = Thread(drive, f"smoke-{uuid.uuid4().hex[:12]}")
            found.smoke = self._first_steps(drive, thread)
            if found.smoke != "":
                found.smoke = found.smoke and self._target.redact(found.smoke)
                findings.modes[mode] = found
                if found.smoke is None:
                    found.missing |= self._missing(drive, thread)
        if drive.broken:
            return
        try:
            with limit(self._seconds):
                opened.close()
        except (Exception, TimedOut) as error:
            findings.close_error = self._target.redact(f"{type(error).__name__}: {error}")

    def _first_steps(self, drive: SaverDrive, thread: Thread) -> str | None:
        """None when they went well, an empty text when the drive is not implemented after all, else what failed."""
        config = thread.config()
        try:
            with limit(self._seconds):
                stored = thread.put({"channel": "value"})
                config = stored.config
        except NotImplementedError:
            return ""
        except (Exception, TimedOut) as error:
            return _step_failed(drive, "put", error, self._seconds)
        try:
            with limit(self._seconds):
                found = drive.get_tuple(config)
        except NotImplementedError:
            return ""
        except (Exception, TimedOut) as error:
            return _step_failed(drive, "get_tuple", error, self._seconds)
        if found is None:
            return (
                f"{drive.name_of('get_tuple')} gives None for a checkpoint that {drive.name_of('put')} has just "
                "stored: is the storage set up, and shared by all calls of one saver?"
            )
        return None

    def _missing(self, drive: SaverDrive, thread: Thread) -> set[str]:
        nobody = f"smoke-{uuid.uuid4().hex[:12]}"
        unput = thread.config(ns="", checkpoint_id=nobody)
        probes: Mapping[str, Callable[[], Any]] = {
            "put_writes": lambda: drive.put_writes(unput, [("channel", "value")], "task", ""),
            "list": lambda: drive.list(thread.config(), limit=1),
            "copy_thread": lambda: drive.copy_thread(nobody, f"{nobody}-copy"),
            "prune": lambda: drive.prune([nobody]),
            "delete_for_runs": lambda: drive.delete_for_runs([nobody]),
            "delete_thread": lambda: drive.delete_thread(thread.id),
        }
        missing = set()
        for name, probe in probes.items():
            method = drive.name_of(name)
            if not _implements(drive.raw, BaseCheckpointSaver, method):
                missing.add(method)
            elif not drive.broken and _raises_not_implemented(probe, self._seconds):
                missing.add(method)
        return missing


def _raises_not_implemented(probe: Callable[[], Any], seconds: float) -> bool:
    try:
        with limit(seconds):
            probe()
    except NotImplementedError:
        return True
    except (Exception, TimedOut):  # implemented, and judged by the rules
        return False
    return False


def _step_failed(drive: SaverDrive, method: str, error: BaseException, seconds: float) -> str:
    name = drive.name_of(method)
    if isinstance(error, TimedOut):
        return f"{name} did not return within {seconds:g} s"
    return f"{name} raised {type(error).__name__}: {error}"


@dataclass(frozen=True)
class Declared:
    """What the author says of the backend in ``[tool.langgraph-conformance]`` of pyproject.toml.

    Attributes:
        offered: capabilities that must be there.
        absent: capabilities that are left out on purpose.
    """

    offered: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


def declared(root: Path, known: Collection[str]) -> Declared:
    """Read ``offers`` and ``absent`` from ``root``/pyproject.toml.

    Raises:
        TargetError: the file or a name in it is wrong.
    """
    file = root / "pyproject.toml"
    if not file.is_file():
        return Declared()
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8")).get("tool", {}).get("langgraph-conformance", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TargetError(f"pyproject.toml cannot be read: {error}") from error
    lists: dict[str, tuple[str, ...]] = {}
    for key in ("offers", "absent"):
        names = table.get(key, [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise TargetError(f"[tool.langgraph-conformance] {key} in pyproject.toml: expected a list of capabilities")
        unknown = sorted(set(names) - set(known))
        if unknown:
            raise TargetError(
                f"[tool.langgraph-conformance] {key} in pyproject.toml names {', '.join(unknown)}: expected some of "
                f"{', '.join(sorted(known))}"
            )
        lists[key] = tuple(names)
    return Declared(lists["offers"], lists["absent"])


def compare(findings: Findings, said: Declared, capabilities: Collection[str]) -> None:
    """Check what was found against what was declared.

    Raises:
        TargetError: they disagree.
    """
    for name in said.offered:
        if name in capabilities and name in findings.absent:
            raise TargetError(
                f"pyproject.toml says that {name} is offered, but: {findings.absent[name]}; "
                "implement it or take it out of offers"
            )
    for name in said.absent:
        if name in capabilities and name not in findings.absent:
            raise TargetError(f"pyproject.toml says that {name} is absent, but it is implemented: take it out of absent")
