"""A backend may kill its process; the guard runs the session in a child and still gives a verdict.

The child writes a journal: which check it began, and the reports of each check that ended. When the child dies, the
guard starts another one, which replays the journal, reports the check that killed its predecessor as failed, and goes
on with the rest. pytest's own reporters need not know.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

JOURNAL_VARIABLE = "LANGGRAPH_CONFORMANCE_JOURNAL"
FIRST_STEPS = "the first steps (open, put, get_tuple, close)"
MOST_DEATHS = 5
"""A backend that kills this many processes gets its verdict without the remaining checks."""
SECONDS_TO_EXIT = 5.0
"""How long a child that has its verdict may take to end: a backend's thread may keep it from ending."""
UNINTERRUPTIBLE = 3.0
"""A check that runs for this many limits cannot be interrupted from inside: its process is killed."""


class Journal:
    """What became of each check, kept outside of the process that a backend may kill."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.reports: dict[str, list[dict[str, Any]]] = {}
        self.begun: str | None = None
        self.deaths: dict[str, str] = {}
        self.exit_code: int | None = None
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
            self._take(json.loads(line))

    def _take(self, entry: dict[str, Any]) -> None:
        if "begin" in entry:
            self.begun = entry["begin"]
        elif "end" in entry:
            self.reports[entry["end"]] = entry["reports"]
            self.begun = None
        elif "death" in entry:
            self.deaths[entry["death"]] = entry["how"]
            self.begun = None
        elif "exit" in entry:
            self.exit_code = entry["exit"]

    def write(self, **entry: Any) -> None:
        """Append an entry, on disk before this returns to a process that may die next."""
        self._take(entry)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


def journal_of(config: pytest.Config) -> Journal | None:
    """The journal that a guard asks this process to write, if one does."""
    path = os.environ.get(JOURNAL_VARIABLE)
    return Journal(Path(path)) if path and not hasattr(config, "workerinput") else None


def should_guard(config: pytest.Config) -> bool:
    """Whether this process should only watch over a child that runs the session."""
    option = config.option
    return (
        JOURNAL_VARIABLE not in os.environ
        and not config.invocation_params.plugins
        and not option.collectonly
        and not option.usepdb
        and not getattr(option, "trace", False)
        and not getattr(option, "numprocesses", None)
        and not getattr(option, "version", 0)
        and not getattr(option, "help", False)
        and not hasattr(config, "workerinput")
    )


def watch(config: pytest.Config, seconds: float) -> int:
    """Run the session in child processes until one comes to its end; gives its exit code.

    Args:
        config: the session's configuration; its arguments are used again.
        seconds: a check's limit.
    """
    command = [sys.executable, "-m", "pytest", *map(str, config.invocation_params.args)]
    with tempfile.TemporaryDirectory(prefix="langgraph-conformance-") as folder:
        path = Path(folder) / "journal.jsonl"
        while True:
            code = _run(command, config.invocation_params.dir, path, seconds)
            journal = Journal(path)
            if journal.exit_code is not None:
                return journal.exit_code
            if journal.begun is None and code == pytest.ExitCode.USAGE_ERROR:
                return code
            how = _how(code)
            if journal.begun in (None, FIRST_STEPS):
                _say(f"the process died in {journal.begun or 'no check'} ({how}): there is no verdict")
                return int(pytest.ExitCode.TESTS_FAILED)
            _say(f"the process died in {journal.begun} ({how}); going on with the other checks in a new one")
            journal.write(death=journal.begun, how=how)


def _run(command: list[str], folder: Path, path: Path, seconds: float) -> int:
    child = subprocess.Popen(command, cwd=folder, env={**os.environ, JOURNAL_VARIABLE: str(path)})
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the child gets it too, and ends the session
    seen, since = 0, time.monotonic()
    try:
        while True:
            try:
                return child.wait(timeout=1.0)
            except subprocess.TimeoutExpired:
                size = path.stat().st_size if path.exists() else 0
            if size != seen:
                seen, since = size, time.monotonic()
            silent = time.monotonic() - since
            if not size or silent < SECONDS_TO_EXIT:
                continue
            journal = Journal(path)
            if journal.exit_code is not None or (
                journal.begun and silent > UNINTERRUPTIBLE * seconds + SECONDS_TO_EXIT
            ):
                child.kill()
                return child.wait()
    except BaseException:
        child.kill()
        raise
    finally:
        signal.signal(signal.SIGINT, handler)


def _how(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _say(text: str) -> None:
    print(f"\nlanggraph-conformance: {text}", file=sys.stderr, flush=True)


class Journalist:
    """In the child: writes the journal, and replays what earlier children came to.

    Args:
        journal: the journal.
        explain: makes the failed report of a check that killed its process.
    """

    def __init__(self, journal: Journal, explain: Any) -> None:
        self._journal, self._explain = journal, explain
        self._reports: list[dict[str, Any]] = []
        self._replaying = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        journal, name = self._journal, item.nodeid
        reports: list[Any]
        if name in journal.reports:
            reports = [
                item.config.hook.pytest_report_from_serializable(config=item.config, data=data)
                for data in journal.reports[name]
            ]
        elif name in journal.deaths:
            reports = [self._explain(item, journal.deaths[name], tried=True)]
        elif len(journal.deaths) >= MOST_DEATHS:
            reports = [self._explain(item, f"{MOST_DEATHS} earlier checks killed the process", tried=False)]
        else:
            self._reports = []
            journal.write(begin=name)
            return None
        self._replaying = True
        item.ihook.pytest_runtest_logstart(nodeid=name, location=item.location)
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=name, location=item.location)
        self._replaying = False
        return True

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not self._replaying:
            data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
            self._reports.append(data)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        if not self._replaying:
            self._journal.write(end=nodeid, reports=self._reports)

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._session, self._config = session, session.config

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        self._journal.write(exit=int(self._session.exitstatus))
