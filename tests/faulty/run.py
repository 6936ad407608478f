"""Runs the suite on faulty backends, in one process, and tells which rules each breaks.

``python -m faulty.run savers out.json [NAME ...]`` with the folder of the tests on the path.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

SECONDS = 2.0
"""Limit of one check: the reference needs far less, and a faulty backend may hang."""
COUNTED = ("failed", "advice")


class _Plugin:
    """Its presence keeps the session in this process: these backends hang, but do not kill it."""


def judge(kind: str, name: str, *arguments: str) -> dict[str, Any]:
    """The report of the suite on a faulty backend.

    Args:
        kind: ``saver`` or ``store``.
        name: of the class in ``faulty.savers`` or ``faulty.stores``.
        arguments: for pytest, such as a module of the suite.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [
            f"--{kind}=faulty.{kind}s:{name}",
            f"--conformance-timeout={SECONDS}",
            f"--conformance-report={report}",
            f"--rootdir={folder}",
            *("-c", "/dev/null", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist"),
            *("-p", "no:langsmith_plugin", "-p", "no:terminal"),
            *arguments,
        ]
        with contextlib.redirect_stdout(io.StringIO()) as output, contextlib.redirect_stderr(output):
            code = pytest.main(command, plugins=[_Plugin()])
        if not report.exists():
            raise RuntimeError(f"no report on {name} (exit code {code}): {output.getvalue()[-2000:]}")
        document: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
        return document


def broken(report: dict[str, Any]) -> list[str]:
    """The MUST and SHOULD rules that do not hold in a report."""
    return sorted(each["id"] for each in report["rules"] if each["outcome"] in COUNTED)


def main(kinds: str, out: str, *names: str) -> None:
    """Judge the named faulty backends, or all, and write name and broken rules to ``out``."""
    registry = importlib.import_module(f"faulty.{kinds}").FAULTY
    found: dict[str, list[str]] = {}
    for name in names or registry:
        found[name] = broken(judge(kinds[:-1], name))
        Path(out).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
