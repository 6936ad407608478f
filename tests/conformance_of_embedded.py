"""Runs the suite on every embedded backend and compares what fails with the known deviations."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import officials
from langgraph_fixtures import deviating_rules


def main() -> int:
    lines, unexpected = [], False
    with tempfile.TemporaryDirectory() as folder:
        for kind, targets in officials.EMBEDDED.items():
            for name, target in targets.items():
                report = Path(folder) / f"{name}.json"
                command = [sys.executable, "-m", "pytest", f"--{kind}={target}", f"--conformance-report={report}"]
                code = subprocess.run([*command, "-q", "--no-header", "--tb=no"], cwd=folder, check=False).returncode
                line, wrong = _line(name, report, code)
                lines.append(line)
                unexpected = unexpected or wrong
    print("\n".join(["", "embedded backends", *lines]))
    return int(unexpected)


def _line(name: str, report: Path, code: int) -> tuple[str, bool]:
    """A row of the table, and whether something came out that is no known deviation."""
    if not report.exists():
        return f"{name:<18} no report (exit code {code})", True
    rules = json.loads(report.read_text(encoding="utf-8"))["rules"]
    outcomes = {outcome: {each["id"] for each in rules if each["outcome"] == outcome} for outcome in _SHOWN}
    unknown = (outcomes["failed"] | outcomes["advice"]) - deviating_rules(name)
    shown = ", ".join(f"{len(found)} {outcome}" for outcome, found in outcomes.items() if found)
    known = "; all of it known deviations" if outcomes["failed"] | outcomes["advice"] else ""
    return f"{name:<18} {shown}" + (f"; NEW: {', '.join(sorted(unknown))}" if unknown else known), bool(unknown)


_SHOWN = ("passed", "failed", "advice", "quirk", "blocked")

if __name__ == "__main__":
    sys.exit(main())
