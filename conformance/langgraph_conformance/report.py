"""What a run came to: one JSON document, and from it the summary in the terminal."""

from __future__ import annotations

import enum
import json
import platform
from collections import Counter
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from . import __version__
from .capabilities import CAPABILITIES, Findings
from .errors import TargetError
from .rules import Level, Rule
from .target import Target

SCHEMA_VERSION = 1
PACKAGES = ("langgraph", "langgraph-checkpoint")


class Outcome(str, enum.Enum):
    """What became of a check, worst first."""

    FAILED = "failed"
    BLOCKED = "blocked"
    WAIVED = "waived"
    ADVICE = "advice"
    QUIRK = "quirk"
    PASSED = "passed"
    NOT_TESTED = "not_tested"

    def status(self) -> tuple[str, str, Any]:
        """pytest's category, letter and word."""
        return {
            Outcome.FAILED: ("failed", "F", "FAILED"),
            Outcome.BLOCKED: ("blocked", "b", ("BLOCKED", {"yellow": True})),
            Outcome.WAIVED: ("waived", "w", ("WAIVED", {"yellow": True})),
            Outcome.ADVICE: ("advice", "a", ("ADVICE", {"yellow": True})),
            Outcome.QUIRK: ("quirk", "q", ("QUIRK", {"cyan": True})),
            Outcome.PASSED: ("passed", ".", "PASSED"),
            Outcome.NOT_TESTED: ("not tested", "s", ("NOT TESTED", {"yellow": True})),
        }[self]


WORST_FIRST = list(Outcome)


@dataclass(frozen=True)
class RuleOutcome:
    """What became of one check of a rule.

    Attributes:
        rule: the rule's id.
        outcome: see Outcome.
        drive: ``sync``, ``async`` or ``both``.
        seconds: how long it took.
        message: what was found.
    """

    rule: str
    outcome: Outcome
    drive: str
    seconds: float
    message: str

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "outcome": self.outcome.value}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> RuleOutcome:
        return cls(**{**data, "outcome": Outcome(data["outcome"])})


@dataclass(frozen=True)
class Described:
    """What is tested.

    Attributes:
        name: the target, without secrets.
        findings: what it offers.
    """

    name: str
    findings: Findings


@dataclass
class Report:
    """Everything that a run came to.

    Attributes:
        targets: per kind: name, drives, what it offers.
        rules: the rules that were collected, by id.
        outcomes: what became of each check.
        left: per rule, the outcome and reason of checks that were not tried.
        notes: remarks for the summary.
        problems: why the run is no pass although no check failed.
        narrowed: whether the user selected a part of the suite.
        complete: whether the run came to its end.
    """

    targets: dict[str, Described] = field(default_factory=dict)
    rules: dict[str, dict[str, Any]] = field(default_factory=dict)
    outcomes: list[RuleOutcome] = field(default_factory=list)
    left: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    narrowed: bool = False
    complete: bool = False

    def describe(self, kind: str, target: Target, findings: Findings) -> None:
        """Note what is tested."""
        self.targets[kind] = Described(str(target.spec), findings)

    def know(self, rule: Rule, kind: str) -> None:
        """Note a rule that was collected."""
        self.rules.setdefault(
            rule.id,
            {
                "kind": kind,
                "level": rule.level.value,
                "source": rule.source,
                "sentence": rule.sentence,
                "needs": list(rule.needs),
                "officials": dict(rule.officials),
            },
        )

    def leave(self, rule: Rule, outcome: Outcome, reason: str) -> None:
        """Note a check that is not tried."""
        self.left.setdefault(rule.id, set()).add((outcome.value, reason))

    def add(self, outcome: RuleOutcome) -> None:
        """Note what became of a check."""
        self.outcomes.append(outcome)

    def as_left(self) -> dict[str, Any]:
        """What a worker tells its controller, beside the reports of checks."""
        return {
            "rules": self.rules,
            "left": {name: sorted(map(list, entries)) for name, entries in self.left.items()},
            "notes": self.notes,
        }

    def merge(self, told: dict[str, Any]) -> None:
        """Take over what a worker told."""
        self.rules.update(told["rules"])
        for name, entries in told["left"].items():
            self.left.setdefault(name, set()).update((outcome, reason) for outcome, reason in entries)
        self.notes += [note for note in told["notes"] if note not in self.notes]

    def conclude(self, *, narrowed: bool, complete: bool) -> None:
        """Say whether what was executed is enough for a verdict."""
        self.narrowed, self.complete = narrowed, complete
        judged = self.judged()
        executed = [each for each in judged if each["outcome"] not in ("not_tested", "blocked")]
        if not any(each["level"] == Level.MUST.value for each in executed):
            self.problems.append("no MUST rule was executed: nothing is known about this backend")
        blocked = [each["id"] for each in judged if each["outcome"] == "blocked"]
        if blocked:
            self.problems.append(f"{len(blocked)} rules are blocked: their verdict is missing")
        if not narrowed and complete:
            self.problems += [
                f"{capability} is offered, but no MUST rule of it was executed"
                for capability in self._unexecuted(executed)
            ]

    def _unexecuted(self, executed: list[dict[str, Any]]) -> list[str]:
        must = {name: each for name, each in self.rules.items() if each["level"] == Level.MUST.value}
        done = {each["id"] for each in executed}
        return [
            f"{kind} {capability}"
            for kind, target in self.targets.items()
            for capability in CAPABILITIES[kind]
            if target.findings.why_absent(capability) is None
            and (about := [name for name, each in must.items() if each["kind"] == kind and capability in each["needs"]])
            and not done.intersection(about)
        ]

    def judged(self) -> list[dict[str, Any]]:
        """Each rule with its worst outcome over drives and parameters."""
        by_rule: dict[str, list[RuleOutcome]] = {}
        for each in self.outcomes:
            by_rule.setdefault(each.rule, []).append(each)
        return [self._judge(name, by_rule.get(name, [])) for name in sorted(self.rules)]

    def _judge(self, name: str, checks: list[RuleOutcome]) -> dict[str, Any]:
        left = self.left.get(name, set())
        outcomes = [check.outcome for check in checks] + [Outcome(outcome) for outcome, _ in left]
        outcome = min(outcomes, key=WORST_FIRST.index, default=Outcome.NOT_TESTED)
        messages = dict.fromkeys(check.message for check in checks if check.outcome is outcome and check.message)
        if outcome in (Outcome.BLOCKED, Outcome.NOT_TESTED):
            messages.update(dict.fromkeys(reason for each, reason in sorted(left) if each == outcome.value))
        drives: dict[str, str] = {}
        for check in checks:
            worst = min((Outcome(drives.get(check.drive, check.outcome.value)), check.outcome), key=WORST_FIRST.index)
            drives[check.drive] = worst.value
        rule = self.rules[name]
        return {
            "id": name,
            "level": rule["level"],
            "outcome": outcome.value,
            "drives": drives,
            "seconds": round(sum(check.seconds for check in checks), 4),
            "message": "\n".join(messages) or ("not selected" if not checks and not left else ""),
            "source": rule["source"],
        }

    def as_json(self) -> dict[str, Any]:
        """The document that ``--conformance-report`` writes."""
        judged = self.judged()
        return {
            "schema_version": SCHEMA_VERSION,
            "complete": self.complete and not self.narrowed,
            "target": {kind: each.name for kind, each in self.targets.items()},
            "versions": versions(),
            "capabilities": {
                kind: {name: _offered(each.findings, name) for name in CAPABILITIES[kind]}
                for kind, each in self.targets.items()
            },
            "counts": {
                level.value: dict(Counter(each["outcome"] for each in judged if each["level"] == level.value))
                for level in Level
            },
            "problems": self.problems,
            "rules": judged,
        }

    def write(self, path: Path) -> None:
        """Write the document, whole or not at all.

        Raises:
            TargetError: the file cannot be written.
        """
        text = json.dumps(self.as_json(), indent=2, ensure_ascii=False) + "\n"
        part = path.with_name(f"{path.name}.part")
        try:
            if path.exists() and not path.is_file():  # a device or a pipe cannot be replaced
                path.write_text(text, encoding="utf-8")
            else:
                part.write_text(text, encoding="utf-8")
                part.replace(path)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise TargetError(
                f"--conformance-report={path}: the report cannot be written: {error.strerror}; give a path in a "
                "folder that exists and has room"
            ) from error

    # -- for people

    def header(self) -> list[str]:
        """Lines for the session's header."""
        return [
            f"conformance: {kind} {each.name} ({', '.join(each.findings.modes)}); suite {__version__}, "
            + ", ".join(f"{name} {number}" for name, number in versions().items() if name in PACKAGES)
            for kind, each in self.targets.items()
        ]

    def summarise(self, terminal: Any) -> None:
        """Write the summary."""
        judged = self.judged()
        advice = [each for each in judged if each["outcome"] == "advice"]
        if advice:
            terminal.section("ADVICE (SHOULD rules that do not hold)", sep="-", yellow=True)
            for each in advice:
                terminal.write_line(_finding(each["message"], each["id"]))
        quirks = [each for each in judged if each["outcome"] == "quirk"]
        if quirks and terminal.config.option.verbose > 0:
            terminal.section("QUIRKS (official backends differ)", sep="-", cyan=True)
            for each in quirks:
                told = "; ".join(f"{name}: {does}" for name, does in self.rules[each["id"]]["officials"].items())
                terminal.write_line(f"{each['id']}: {each['message']} ({told})")
        for kind, target in self.targets.items():
            terminal.section(f"conformance of {kind} {target.name}", sep="=")
            of_kind = [each for each in judged if self.rules[each["id"]]["kind"] == kind]
            for name, text in self._lines(kind, of_kind, terminal.config.option.verbose > 0):
                terminal.write_line(f"{name:<11} {text}")
            terminal.write_line(self._verdict(of_kind), bold=True, **self._colour(of_kind))

    def _lines(self, kind: str, judged: list[dict[str, Any]], verbose: bool) -> list[tuple[str, str]]:
        findings = self.targets[kind].findings
        lines = [
            ("versions", ", ".join(f"{name} {number}" for name, number in versions().items())),
            ("drives", ", ".join(findings.modes)),
        ]
        for level in Level:
            counts = Counter(each["outcome"] for each in judged if each["level"] == level.value)
            shown = [f"{counts[each.value]} {each.value.replace('_', ' ')}" for each in Outcome if counts[each.value]]
            hidden = " (shown with -v)" if level is Level.QUIRK and shown and not verbose else ""
            lines.append((level.value, (", ".join(shown) or "none") + hidden))
        untested = self._reasons(kind, Outcome.NOT_TESTED)
        for name, reason in findings.absent.items():
            if "[" not in name:
                untested.setdefault(f"{name}: {reason}", 0)
        lines += [("not tested", reason) for reason in _counted(untested)]
        lines += [("blocked", reason) for reason in _counted(self._reasons(kind, Outcome.BLOCKED))]
        if self.narrowed:
            lines.append(("note", "a part of the suite was selected: this is no verdict on the whole"))
        return lines + [("note", note) for note in self.notes]

    def _reasons(self, kind: str, outcome: Outcome) -> dict[str, int]:
        """Why rules came to ``outcome``, and how many each reason holds for."""
        pairs = {
            (name, reason) for name, entries in self.left.items() for each, reason in entries if each == outcome.value
        }
        pairs |= {(check.rule, check.message) for check in self.outcomes if check.outcome is outcome}
        return dict(Counter(reason for name, reason in pairs if self.rules[name]["kind"] == kind))

    def _verdict(self, judged: list[dict[str, Any]]) -> str:
        failed = [each for each in judged if each["outcome"] == "failed"]
        if failed:
            musts = sum(each["level"] == Level.MUST.value for each in failed)
            parts = [f"{musts} MUST"] if musts else []
            parts += [f"{len(failed) - musts} SHOULD"] if len(failed) > musts else []
            return f"FAILS {' and '.join(parts)} rule{'s' if len(failed) > 1 else ''}" + "".join(
                f"\n  {each['id']}" for each in failed
            )
        if self.problems:
            return "NO VERDICT: " + "; ".join(self.problems)
        if not self.complete:
            return "NO VERDICT: the run did not come to its end"
        must = sum(each["level"] == Level.MUST.value and each["outcome"] == "passed" for each in judged)
        if self.narrowed:
            return f"The selected rules hold ({must} MUST)"
        return f"CONFORMS: all {must} MUST rules hold"

    def _colour(self, judged: list[dict[str, Any]]) -> dict[str, bool]:
        bad = self.problems or not self.complete or any(each["outcome"] == "failed" for each in judged)
        return {"red": True} if bad else {"green": True}


def _counted(reasons: dict[str, int]) -> list[str]:
    return [
        reason + (f" ({number} rule{'s' if number > 1 else ''})" if number else "")
        for reason, number in sorted(reasons.items())
    ]


def _offered(findings: Findings, capability: str) -> str:
    reason = findings.why_absent(capability)
    return "offered" if reason is None else f"absent: {reason}"


def _finding(message: str, name: str) -> str:
    """The lines of a message that say what was found."""
    lines = message.splitlines()
    found = [line.strip() for line in lines[1:4] if line.strip()]
    return f"{name}: " + "\n    ".join(found[:2])


def versions() -> dict[str, str]:
    """Versions of what decides a verdict."""
    told = {"langgraph-conformance": __version__}
    for name in PACKAGES:
        try:
            told[name] = version(name)
        except PackageNotFoundError:
            told[name] = "not installed"
    return {**told, "python": platform.python_version()}
