"""The pytest plugin that is registered when ``--saver`` or ``--store`` is given."""

from __future__ import annotations

import traceback
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore

from .capabilities import CAPABILITIES, MODES, Findings, ModeFindings, compare, declared
from .configurations import PLAIN, Configuration
from .drive import Drive, Hangs, SaverDrive, StoreDrive
from .errors import Blocked, Broken, TargetError, TimedOut
from .explore import LIMITS, Explorer
from .probes import Probe, SaverProbe, StoreProbe
from .report import Outcome, Report, RuleOutcome
from .rules import Level, Rule, rule_of
from .script import script_of
from .target import Opened, Target, parse
from .watchdog import limit

SUITE = Path(__file__).parent / "suite"
PROPERTIES = "properties"
"""The folder whose modules are for the kind of backend that their names begin with."""
FOLDERS = {"saver": ("saver", "graph", PROPERTIES), "store": ("store", PROPERTIES)}
KINDS: dict[str, tuple[type, type[Drive], type[Probe]]] = {
    "saver": (BaseCheckpointSaver, SaverDrive, SaverProbe),
    "store": (BaseStore, StoreDrive, StoreProbe),
}
"""Per kind of backend: its base class, its drive, and who tries the first steps."""
NO_MODE = "none"


class Subject:
    """The backend under test: its target, what it offers, and its open instances.

    Args:
        kind: ``saver`` or ``store``.
        text: what the user gave.
        seconds: a check's limit.
    """

    def __init__(self, kind: str, text: str, seconds: float) -> None:
        self.kind, self.seconds = kind, seconds
        base, self._drive_class, self._probe_class = KINDS[kind]
        self.target = Target(parse(kind, text), base, seconds)
        self.hangs = Hangs()
        self.findings = Findings()
        self._opened: dict[str, Opened] = {}
        self._drives: dict[str, Drive] = {}

    def look(self) -> None:
        """Find out what the backend offers.

        Raises:
            TargetError: it cannot be opened, or offers neither drive.
        """
        self.findings = self._probe_class(self.target, self.hangs, self.seconds).find()
        if not self.findings.modes:
            reasons = "; ".join(self.findings.absent[mode] for mode in MODES)
            raise TargetError(f"{self.target.spec.option}={self.target.spec}: there is nothing to test: {reasons}")

    def drive(self, mode: str, instance: str | None = None, configuration: Configuration = PLAIN) -> Any:
        """The drive ``mode`` over an open instance.

        Args:
            mode: ``sync`` or ``async``.
            instance: ``parity`` for the one that takes both drives; each drive has its own when left out.
            configuration: how a store is configured.
        """
        instance = instance or mode
        owner = f"{configuration.name}/{instance}"
        key = f"{owner}/{mode}"
        if key in self._drives and self._drives[key].broken:
            self._throw_away(owner)
        if key not in self._drives:
            if owner not in self._opened:
                self._opened[owner] = self.target.open(instance, settings=configuration.settings)
            missing = self.findings.modes.get(mode, ModeFindings()).missing
            self._drives[key] = self._drive_class(self._opened[owner], mode, self.hangs, missing)
        return self._drives[key]

    def _throw_away(self, owner: str) -> None:
        self._opened.pop(owner).abandon()
        for key in [key for key in self._drives if key.startswith(f"{owner}/")]:
            del self._drives[key]

    def renew(self, drive: Drive) -> None:
        """Close the instance of ``drive``; the next check opens it anew."""
        owner = next((key for key, each in self._drives.items() if each is drive), "").rpartition("/")[0]
        if owner not in self._opened:
            return
        try:
            with limit(self.seconds):
                self._opened[owner].close()
        except (Exception, TimedOut):  # what closing raises is told of the last instance
            self._opened[owner].abandon()
        del self._opened[owner]
        self._drives = {key: each for key, each in self._drives.items() if not key.startswith(f"{owner}/")}

    def close(self) -> list[str]:
        """Close what is open; gives what went wrong, in words."""
        broken = {key.rpartition("/")[0] for key, drive in self._drives.items() if drive.broken}
        errors = []
        if self.target.setup_error:
            errors.append(f"setup() raised {self.target.setup_error}: what was opened was taken to be set up already")
        for owner, opened in self._opened.items():
            if owner in broken:
                opened.abandon()
                continue
            try:
                with limit(self.seconds):
                    opened.close()
            except (Exception, TimedOut) as error:
                errors.append(self.target.redact(f"closing the {self.kind} raised {type(error).__name__}: {error}"))
        self._opened.clear()
        self._drives.clear()
        return errors


class SuiteModule(pytest.Module):
    """A module of the suite: whatever the project's own naming options say, its ``test_`` functions are its rules."""

    def funcnamefilter(self, name: str) -> bool:
        return name.startswith("test_")

    def classnamefilter(self, name: str) -> bool:
        return False


@dataclass(frozen=True)
class Left:
    """A rule that is not tried, and why."""

    rule: Rule
    outcome: Outcome
    reason: str


def suite_files(kinds: Mapping[str, object]) -> list[Path]:
    """The modules of the suite for these kinds of backend."""
    files = [
        file
        for kind in kinds
        for folder in FOLDERS[kind]
        for file in sorted((SUITE / folder).glob("test_*.py"))
        if _is_about(file, kind)
    ]
    return sorted(files, key=lambda file: file.parent.name == PROPERTIES)  # which are slower and say less


def _is_about(file: Path, kind: str) -> bool:
    return file.parent.name != PROPERTIES or file.name.startswith(f"test_{kind}")


class ConformanceSession:
    """Collects the suite, runs its checks under a limit, and gives the verdict.

    Args:
        config: pytest's configuration.
        subjects: kind and backend.
    """

    def __init__(self, config: pytest.Config, subjects: Mapping[str, Subject]) -> None:
        self.config, self.subjects = config, subjects
        self.strict: bool = config.getoption("conformance_strict")
        self.seconds: float = config.getoption("conformance_timeout")
        self.report = Report()
        self._narrowed = False
        self._explained_rules: set[str] = set()
        self._begin()

    def _begin(self) -> None:
        found = getattr(self.config, "workerinput", {}).get("conformance")
        said = declared(self.config.rootpath)
        for kind, subject in self.subjects.items():
            if found is not None:
                subject.findings = Findings.from_json(found[kind])
            else:
                subject.look()
                compare(subject.findings, said, CAPABILITIES[kind])
            self.report.describe(kind, subject.target, subject.findings)

    def choose_arguments(self) -> None:
        """Make pytest collect the suite, and the paths that the user gave, where some were given."""
        config, files = self.config, [str(file) for file in suite_files(self.subjects)]
        given = config.args_source == pytest.Config.ArgsSource.ARGS
        if not given:
            config.args = files
            return
        named = [self._in_suite(argument) for argument in config.args]
        config.args = [path or argument for path, argument in zip(named, config.args, strict=True)]
        self._narrowed = any(named)
        if not any(argument.startswith(str(SUITE)) for argument in config.args):
            config.args = [*config.args, *files]

    def _in_suite(self, argument: str) -> str | None:
        """The path of an id such as ``saver/test_list.py::test_…`` that names a part of the suite, else None."""
        path, colons, rest = argument.partition("::")
        if (self.config.invocation_params.dir / path).exists() or not (SUITE / path).exists():
            return None
        folder = Path(path).parts[:1]
        needed = [
            kind
            for kind, folders in FOLDERS.items()
            if folder and folder[0] in folders and _is_about(SUITE / path, kind)
        ]
        for kind in needed:
            if not self.subjects.keys() & set(needed):
                raise TargetError(f"{argument} is a part of the suite for a {kind}: give --{kind}=module:object, too")
        return f"{SUITE / path}{colons}{rest}"

    # -- collection

    def pytest_report_header(self) -> list[str]:
        return self.report.header()

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Of the properties, those for the other kind of backend."""
        if collection_path.parent != SUITE / PROPERTIES or not collection_path.name.startswith("test_"):
            return None
        return None if any(_is_about(collection_path, kind) for kind in self.subjects) else True

    def pytest_pycollect_makemodule(self, module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
        if not module_path.is_relative_to(SUITE):
            return None
        relative = module_path.relative_to(SUITE).as_posix()
        module: pytest.Module = SuiteModule.from_parent(parent, path=module_path, nodeid=relative)
        return module

    @pytest.hookimpl(tryfirst=True)
    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        rule = rule_of(metafunc.function)
        kind = kind_of(rule) if rule else ""
        if rule is None or kind not in metafunc.fixturenames:
            return
        modes = [mode for mode in MODES if self._why_not(rule, mode) is None]
        metafunc.parametrize(kind, modes or [NO_MODE], ids=modes or [NO_MODE], indirect=True)

    def _why_not(self, rule: Rule, mode: str | None = None) -> str | None:
        """Why ``rule`` cannot be tried (in the drive ``mode``), or None."""
        if unmet := rule.unmet_version():
            return f"holds for {unmet}"
        findings = self.subjects[kind_of(rule)].findings
        for need in [mode, *rule.needs] if mode else rule.needs:
            reason = findings.why_absent(need, mode)
            if reason:
                return f"{need}: {reason}"
        return None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        kept: list[pytest.Item] = []
        for item in items:
            rule = rule_of(getattr(item, "function", None))
            if rule is None:
                kept.append(item)
                continue
            self.report.know(rule, kind_of(rule))
            item.add_marker(pytest.mark.filterwarnings("default"))  # a warning is no broken rule
            left = self._left(item, rule)
            if left is None:
                kept.append(item)
            else:
                self.report.leave(left.rule, left.outcome, left.reason)
        items[:] = kept

    def _left(self, item: pytest.Item, rule: Rule) -> Left | None:
        mode = mode_of(item)
        reason = self._why_not(rule, None if mode == NO_MODE else mode)
        if mode == NO_MODE or reason is not None:
            return Left(rule, Outcome.NOT_TESTED, reason or self._why_in_no_mode(rule))
        if ".smoke." in rule.id:
            return None
        smokes = self.subjects[kind_of(rule)].findings.modes
        for each in [mode] if mode else list(smokes):
            if smokes[each].smoke is not None:
                return Left(rule, Outcome.BLOCKED, f"the first steps failed in the {each} drive")
        return None

    def _why_in_no_mode(self, rule: Rule) -> str:
        reasons = [self._why_not(rule, mode) for mode in MODES]
        return next(reason for reason in reasons if reason is not None)

    def pytest_deselected(self) -> None:
        self._narrowed = True

    # -- running

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, object, object]:
        with self._limit(item):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        with self._limit(item):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        with self._limit(item):
            return (yield)

    def _limit(self, item: pytest.Item) -> AbstractContextManager[None]:
        rule = rule_of(getattr(item, "function", None))
        if rule is None:
            return nullcontext()
        return limit(self.seconds * LIMITS if rule.id.startswith(f"{PROPERTIES}.") else self.seconds)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        rule = rule_of(getattr(item, "function", None))
        if rule is None:
            return report
        outcome, message = self._judge(rule, call, item)
        if call.when == "teardown":
            item.stash[CALLS] = []  # the arguments of every check's calls would stay in memory until the end
        if call.when != "call" and outcome is Outcome.PASSED:
            return report
        self._mark(report, item, rule, outcome, message)
        return report

    def _mark(self, report: pytest.TestReport, item: pytest.Item, rule: Rule, outcome: Outcome, message: str) -> None:
        mode = mode_of(item) or "both"
        told = [("rule", rule.id), ("level", rule.level.value), ("outcome", outcome.value)]
        report.user_properties += told
        item.user_properties += told  # JUnit takes those of the teardown's report
        entry = RuleOutcome(rule.id, outcome, mode, report.duration, message)
        report.__dict__["conformance"] = entry.as_json()
        if outcome is Outcome.FAILED:
            report.outcome, report.longrepr = "failed", message
        elif outcome is Outcome.ADVICE:
            report.outcome, report.longrepr = "skipped", message
            report.__dict__["wasxfail"] = f"advice: {message}"
        elif outcome in (Outcome.BLOCKED, Outcome.NOT_TESTED):
            report.outcome, report.longrepr = "skipped", (str(item.path), 0, f"{outcome.value}: {message}")
        else:
            report.outcome, report.longrepr = "passed", None

    def _judge(self, rule: Rule, call: pytest.CallInfo[None], item: pytest.Item) -> tuple[Outcome, str]:
        raised = call.excinfo
        if raised is None:
            if rule.level is Level.QUIRK and call.when == "call":
                return Outcome.QUIRK, str(item.stash.get(OBSERVED, "nothing was observed"))
            explorer = item.stash.get(EXPLORER, None)
            return Outcome.PASSED, explorer.summary() if explorer and call.when == "call" else ""
        error = raised.value
        redact = self.subjects[kind_of(rule)].target.redact
        if isinstance(error, Blocked):
            return Outcome.BLOCKED, redact(str(error))
        if isinstance(error, TargetError):
            return Outcome.BLOCKED, redact(f"opening it again failed: {error}")
        if isinstance(error, pytest.skip.Exception):
            return Outcome.NOT_TESTED, redact(str(error))
        if rule.level is Level.QUIRK:
            return Outcome.QUIRK, redact(_in_words(error).splitlines()[0])
        outcome = Outcome.FAILED if rule.level is Level.MUST or self.strict else Outcome.ADVICE
        return outcome, redact(self._explained(rule, error, item))

    def _explained(self, rule: Rule, error: BaseException, item: pytest.Item) -> str:
        mode = mode_of(item)
        subject = self.subjects[kind_of(rule)]
        calls = item.stash.get(CALLS, [])
        found = _in_words(error, [call.method for call in calls if call.outcome == "hung"])
        lines = [f"{rule.level.value} {rule.id}" + (f" [{mode}]" if mode else ""), f"  {rule.sentence}", ""]
        lines += [f"  {line}" for line in found.splitlines()]
        if not isinstance(error, (Broken, TimedOut)):
            lines += ["", *(f"  {line}" for line in _backend_frames(error))]
        if rule.id not in self._explained_rules:
            self._explained_rules.add(rule.id)
            if rule.why:
                lines += ["", "  Why it matters:", *(f"  {line}" for line in rule.why.splitlines())]
            lines += ["", f"  Source: {rule.source}"]
            script = script_of(subject.target, calls, found.splitlines()[0])
            if script:
                lines += ["", "  Without pytest:", *(f"    {line}" for line in script.splitlines())]
        explorer = item.stash.get(EXPLORER, None)
        lines += ["", *(f"  {note}" for note in explorer.notes)] if explorer and explorer.notes else []
        lines += ["", f"  Again: pytest {subject.target.spec.option}='{subject.target.spec}' '{item.nodeid}'"]
        return "\n".join(line.rstrip() for line in lines)

    def died(self, item: pytest.Item, how: str, *, tried: bool) -> pytest.TestReport:
        """The report of a check that killed its process, or that was given up after too many deaths."""
        rule = rule_of(getattr(item, "function", None))
        text = f"the process died: {how}" if tried else f"given up: {how}"
        report = pytest.TestReport(
            item.nodeid, item.location, {}, "failed", text, "call", duration=0.0, start=0.0, stop=0.0
        )
        if rule is not None:
            if tried:
                error = Broken("calling the backend", "a result or an exception", f"the end of the process ({how})")
                self._mark(report, item, rule, Outcome.FAILED, self._explained(rule, error, item))
            else:
                self._mark(report, item, rule, Outcome.BLOCKED, text)
        return report

    # -- reporting

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        entry = report.__dict__.get("conformance")
        if entry is not None and not hasattr(self.config, "workerinput"):
            self.report.add(RuleOutcome.from_json(entry))

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, Any] | None:
        entry = getattr(report, "conformance", None)
        if entry is None:
            return None
        return Outcome(entry["outcome"]).status()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["conformance"] = {kind: each.findings.as_json() for kind, each in self.subjects.items()}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        left = getattr(node, "workeroutput", {}).get("conformance")
        if left is not None:
            self.report.merge(left)
            self._narrowed = self._narrowed or left["narrowed"]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        for subject in self.subjects.values():
            self.report.notes += subject.close()
        output = getattr(self.config, "workeroutput", None)
        if output is not None:
            output["conformance"] = {**self.report.as_left(), "narrowed": self._narrowed}
            return
        ended = session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        self.report.conclude(narrowed=self._narrowed, complete=bool(ended) and not session.shouldstop)
        if session.exitstatus == pytest.ExitCode.OK and self.report.problems:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        path = self.config.getoption("conformance_report")
        if path:
            try:
                self.report.write(Path(path))
            except TargetError as error:
                self.report.notes.append(str(error))
                session.exitstatus = session.exitstatus or pytest.ExitCode.USAGE_ERROR

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        self.report.summarise(terminalreporter)


CALLS: pytest.StashKey[list[Any]] = pytest.StashKey()
EXPLORER: pytest.StashKey[Explorer] = pytest.StashKey()
OBSERVED: pytest.StashKey[str] = pytest.StashKey()


def mode_of(item: pytest.Item) -> str | None:
    """The drive that a check runs through, None for one that needs no particular drive."""
    callspec = getattr(item, "callspec", None)
    params = callspec.params if callspec is not None else {}
    mode = params.get("saver", params.get("store"))
    return str(mode) if mode is not None else None


def kind_of(rule: Rule) -> str:
    """``saver`` or ``store``: what a rule is about. Graph runs are about the saver."""
    return "store" if rule.id.startswith(("store.", f"{PROPERTIES}.store")) else "saver"


def _in_words(error: BaseException, hung: list[str] = []) -> str:  # noqa: B006 - never changed
    if isinstance(error, Broken):
        return str(error)
    if isinstance(error, TimedOut):
        return f"{hung[-1] if hung else 'the check'} did not return within {error.seconds:g} s"
    return f"a call raised {type(error).__name__}: {error}"


def _backend_frames(error: BaseException, most: int = 3) -> list[str]:
    """The last frames of a traceback that are neither ours nor the event loop's."""
    here = str(Path(__file__).parent)
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(here)
        and "/asyncio/" not in frame.filename
        and "/anyio/" not in frame.filename
        and "/pluggy/" not in frame.filename
        and "/_pytest/" not in frame.filename
    ]
    return [f"{frame.filename}:{frame.lineno}: in {frame.name}: {frame.line}" for frame in frames[-most:]]
