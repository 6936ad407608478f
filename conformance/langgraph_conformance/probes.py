"""The first steps with a backend: does it open, store and read, and which methods has it?"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from .capabilities import ABILITIES, CAPABILITIES, MODES, Findings, ModeFindings
from .configurations import INDEXED, PLAIN, TTL
from .drive import Drive, Hangs, SaverDrive, StoreDrive
from .errors import TargetError, TimedOut
from .goldens.views import keeps_memory_layout
from .target import Opened, Target
from .threads import Thread
from .watchdog import limit

SAVER_CORE = ("put", "put_writes", "get_tuple", "list")
SAVER_OPTIONAL = ("delete_thread", "copy_thread", "prune", "delete_for_runs")


class Probe:
    """Tries the first steps with a backend.

    Args:
        target: where it comes from.
        hangs: where hanging methods are noted.
        seconds: how long one step may take.
    """

    def __init__(self, target: Target, hangs: Hangs, seconds: float) -> None:
        self._target, self._hangs, self._seconds = target, hangs, seconds

    def find(self) -> Findings:
        """Open, put, get and close in each drive, and look for what is offered beyond that.

        Raises:
            TargetError: the target cannot be opened.
        """
        findings = Findings()
        for mode in MODES:
            opened = self._target.open(mode, settings=self._settings())
            if not self._try(opened, mode, findings):
                opened.abandon()
                continue
            try:
                with limit(self._seconds):
                    opened.close()
            except (Exception, TimedOut) as error:
                findings.close_error = self._target.redact(f"{type(error).__name__}: {error}")
        for mode in MODES:
            if mode not in findings.modes:
                findings.absent[mode] = self._absent_mode(mode)
        if len(findings.modes) < len(MODES):
            findings.absent["parity"] = "needs both the sync and the async methods"
        lacking = [
            name for name in CAPABILITIES[self._target.spec.kind] if name in set(ABILITIES) - self._target.provides
        ]
        findings.absent.update({name: ABILITIES[name] for name in lacking})
        self._look_further(findings)
        return findings

    def _settings(self) -> Mapping[str, Any]:
        return {}

    def _try(self, opened: Opened, mode: str, findings: Findings) -> bool:
        """Note in ``findings`` what the drive ``mode`` offers; False when a call hung."""
        raise NotImplementedError

    def _absent_mode(self, mode: str) -> str:
        raise NotImplementedError

    def _look_further(self, findings: Findings) -> None:
        raise NotImplementedError

    def _steps(self, drive: Drive, steps: Mapping[str, Callable[[], object]]) -> str | None:
        """None when all steps went well, an empty text when one is not implemented, else what failed."""
        for name, step in steps.items():
            try:
                with limit(self._seconds):
                    read = step()
            except NotImplementedError:
                return ""
            except TimedOut:
                return f"{name} did not return within {self._seconds:g} s"
            except Exception as error:
                return self._target.redact(f"{name} raised {type(error).__name__}: {error}") + self._of_setup()
        if read is None:
            return (
                f"{name} gives None for what {drive.name_of('put')} has just stored: is the storage set up, and shared "
                f"by all calls of one {self._target.spec.kind}?"
            ) + self._of_setup()
        return None

    def _of_setup(self) -> str:
        return f" (before, setup() raised {self._target.setup_error})" if self._target.setup_error else ""

    def _raises_not_implemented(self, probe: Callable[[], object]) -> bool:
        try:
            with limit(self._seconds):
                probe()
        except NotImplementedError:
            return True
        except (Exception, TimedOut):  # implemented, and judged by the rules
            return False
        return False


class SaverProbe(Probe):
    """Tries the first steps with a saver, and which methods it has."""

    def _try(self, opened: Opened, mode: str, findings: Findings) -> bool:
        drive = SaverDrive(opened, mode, self._hangs)
        self._memory_layout = keeps_memory_layout(drive.raw)
        lacking = {name for name in SAVER_CORE if not _implements(drive.raw, drive.name_of(name))}
        if {"put", "get_tuple"} & lacking:
            return True
        thread = Thread(drive, f"smoke-{uuid.uuid4().hex[:12]}")
        config = thread.config(checkpoint_id=str(uuid.uuid4()))
        steps: Mapping[str, Callable[[], object]] = {
            "get_next_version": lambda: drive.get_next_version(None),
            drive.name_of("put"): lambda: thread.put({"channel": "value"}, id=config["configurable"]["checkpoint_id"]),
            drive.name_of("get_tuple"): lambda: drive.get_tuple(config),
        }
        smoke = self._steps(drive, steps)
        if smoke != "":
            found = ModeFindings(smoke, {drive.name_of(name) for name in lacking})
            if smoke is None:
                found.missing |= self._missing(drive, thread)
            findings.modes[mode] = found
        return not drive.broken

    def _missing(self, drive: SaverDrive, thread: Thread) -> set[str]:
        nobody = f"smoke-{uuid.uuid4().hex[:12]}"
        unput = thread.config(checkpoint_id=nobody)
        probes: Mapping[str, Callable[[], object]] = {
            "put_writes": lambda: drive.put_writes(unput, [("channel", "value")], "task"),
            "list": lambda: drive.list(thread.config(), limit=1),
            "copy_thread": lambda: drive.copy_thread(nobody, f"{nobody}-copy"),
            "prune": lambda: drive.prune([nobody]),
            "delete_for_runs": lambda: drive.delete_for_runs([nobody]),
            "delete_thread": lambda: drive.delete_thread(thread.id),
        }
        return {
            drive.name_of(name)
            for name, probe in probes.items()
            if not _implements(drive.raw, drive.name_of(name))
            or (not drive.broken and self._raises_not_implemented(probe))
        }

    def _absent_mode(self, mode: str) -> str:
        return "put and get_tuple are not implemented" if mode == "sync" else "aput and aget_tuple are not implemented"

    def _look_further(self, findings: Findings) -> None:
        for capability in SAVER_OPTIONAL:
            named = {mode: capability if mode == "sync" else f"a{capability}" for mode in findings.modes}
            lacking = [mode for mode, name in named.items() if name in findings.modes[mode].missing]
            if len(lacking) == len(findings.modes):
                findings.absent[capability] = "not implemented"
            else:
                findings.absent.update({f"{capability}[{mode}]": "not implemented" for mode in lacking})
        if not hasattr(BaseCheckpointSaver, "get_delta_channel_history"):
            findings.absent["delta_history"] = "this version of langgraph-checkpoint has no delta channels"
        if not self._memory_layout:
            findings.absent["memory_layout"] = "storage, writes and blobs are not dictionaries as InMemorySaver's are"


def _implements(saver: object, method: str) -> bool:
    own = getattr(type(saver), method, None)
    return own is not None and (own is not getattr(BaseCheckpointSaver, method, None) or method in vars(saver))


class StoreProbe(Probe):
    """Tries the first steps with a store, and whether it searches by meaning and expires items."""

    def _try(self, opened: Opened, mode: str, findings: Findings) -> bool:
        drive = StoreDrive(opened, mode, self._hangs)
        namespace = (f"smoke-{uuid.uuid4().hex[:12]}",)
        steps: Mapping[str, Callable[[], object]] = {
            drive.name_of("put"): lambda: drive.put(namespace, "key", {"field": "value"}),
            drive.name_of("get"): lambda: drive.get(namespace, "key"),
        }
        smoke = self._steps(drive, steps)
        if smoke != "":
            findings.modes[mode] = found = ModeFindings(smoke)
            if smoke is None:
                self._raises_not_implemented(lambda: drive.delete(namespace, "key"))
                found.missing |= self._missing(drive, namespace)
        self._supports_ttl = bool(drive.raw.supports_ttl)
        return not drive.broken

    def _missing(self, drive: StoreDrive, namespace: tuple[str, ...]) -> set[str]:
        probes: Mapping[str, Callable[[], object]] = {
            "search": lambda: drive.search(namespace),
            "list_namespaces": lambda: drive.list_namespaces(prefix=namespace),
        }
        return {
            drive.name_of(name)
            for name, probe in probes.items()
            if not drive.broken and self._raises_not_implemented(probe)
        }

    def _settings(self) -> Mapping[str, Any]:
        return PLAIN.settings

    def _absent_mode(self, mode: str) -> str:
        return "batch is not implemented" if mode == "sync" else "abatch is not implemented"

    def _look_further(self, findings: Findings) -> None:
        if not self._target.takes("index"):
            findings.absent["vectors"] = "let the class or factory take index=, as the official stores do"
        elif reason := self._fails_to_open(INDEXED.settings, findings):
            findings.absent["vectors"] = f"opening it with index= failed: {reason}"
        if not self._target.takes("ttl"):
            if not self._supports_ttl:
                findings.absent["ttl"] = "supports_ttl is False, and the class or factory takes no ttl="
        elif reason := self._fails_to_open(TTL.settings, findings):
            findings.absent["ttl"] = f"opening it with ttl= failed: {reason}"
        if "ttl" in findings.absent:
            findings.absent["sweep"] = "nothing expires"

    def _fails_to_open(self, settings: Mapping[str, Any], findings: Findings) -> str | None:
        for mode in findings.modes:
            try:
                opened = self._target.open(mode, settings=settings)
            except TargetError as error:
                return str(error).partition(": ")[2]
            try:
                with limit(self._seconds):
                    if settings is TTL.settings and not callable(getattr(opened.backend, "sweep_ttl", None)):
                        findings.absent["sweep"] = "it has no sweep_ttl()"
                    opened.close()
            except (Exception, TimedOut) as error:
                findings.close_error = self._target.redact(f"{type(error).__name__}: {error}")
        return None
