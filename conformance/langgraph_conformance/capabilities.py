"""What a backend offers, and how that compares with what its author declares."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import TargetError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MODES = ("sync", "async")
CAPABILITIES = {
    "saver": (
        *MODES,
        "parity",
        "delete_thread",
        "copy_thread",
        "prune",
        "delete_for_runs",
        "delta_history",
        "memory_layout",
        "reopen",
        "rows",
    ),
    "store": (*MODES, "parity", "vectors", "ttl", "sweep", "reopen", "rows", "advance"),
}
"""Per kind of backend, what it may offer; declarable in pyproject.toml."""
ABILITIES = {
    "reopen": "offer it with a provider class: open() and reopen() (the same storage, a new instance)",
    "rows": "offer it with a provider class: open() and rows() (what is physically stored)",
    "advance": "offer it with a provider class: open() and advance(seconds) (a clock that can be moved)",
}
"""What only a provider class can offer, and how."""


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
        absent: what is not offered and why; ``prune[async]`` for what only one drive lacks.
        close_error: what closing it raised, if anything.
    """

    modes: dict[str, ModeFindings] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    close_error: str | None = None

    def why_absent(self, capability: str, mode: str | None = None) -> str | None:
        """Why ``capability`` cannot be tried (in the drive ``mode``, where one is named), or None if it can."""
        if capability in self.absent:
            return self.absent[capability]
        return self.absent.get(f"{capability}[{mode}]") if mode else None

    def as_json(self) -> dict[str, Any]:
        """For a worker process."""
        modes = {mode: {"smoke": each.smoke, "missing": sorted(each.missing)} for mode, each in self.modes.items()}
        return {"modes": modes, "absent": self.absent, "close_error": self.close_error}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Findings:
        modes = {mode: ModeFindings(each["smoke"], set(each["missing"])) for mode, each in data["modes"].items()}
        return cls(modes, dict(data["absent"]), data["close_error"])


@dataclass(frozen=True)
class Declared:
    """What the author says of the backend in ``[tool.langgraph-conformance]`` of pyproject.toml.

    Attributes:
        offered: capabilities that must be there.
        absent: capabilities that are left out on purpose.
    """

    offered: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


def declared(root: Path) -> Declared:
    """Read ``offers`` and ``absent`` from ``root``/pyproject.toml.

    Raises:
        TargetError: the file or a name in it is wrong.
    """
    file = root / "pyproject.toml"
    if not file.is_file():
        return Declared()
    known = {name for names in CAPABILITIES.values() for name in names}
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8")).get("tool", {}).get("langgraph-conformance", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise TargetError(f"pyproject.toml cannot be read: {error}") from error
    lists: dict[str, tuple[str, ...]] = {}
    for key in ("offers", "absent"):
        names = table.get(key, [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise TargetError(f"[tool.langgraph-conformance] {key} in pyproject.toml: expected a list of capabilities")
        unknown = sorted(set(names) - known)
        if unknown:
            raise TargetError(
                f"[tool.langgraph-conformance] {key} in pyproject.toml names {', '.join(unknown)}: expected some of "
                f"{', '.join(sorted(known))}"
            )
        lists[key] = tuple(names)
    return Declared(lists["offers"], lists["absent"])


def compare(found: Findings, said: Declared, capabilities: Collection[str]) -> None:
    """Check what was found against what was declared.

    Raises:
        TargetError: they disagree.
    """
    for name in said.offered:
        if name in capabilities and name in found.absent:
            raise TargetError(
                f"pyproject.toml says that {name} is offered, but: {found.absent[name]}; "
                "implement it or take it out of offers"
            )
    for name in said.absent:
        if name in capabilities and name not in found.absent:
            raise TargetError(f"pyproject.toml says that {name} is absent, but it is there: take it out of absent")
