"""Runs the suite on faulty backends, in one process, and tells which rules each breaks.

``python -m faulty.run savers [NAME ...]`` with the folder of the tests on the path writes what is found into
``expected_savers.json``: for each faulty backend the rules that it breaks, the one that is most about its fault first.
``--part 1/2`` takes every second one, so that two processes can share the work.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from langgraph_conformance.capabilities import MODES
from langgraph_conformance.session import mode_of

SECONDS = 15.0
"""Limit of one check: the reference needs far less, also on a busy machine, and a faulty backend may hang."""
COUNTED = ("failed", "advice")
WITHOUT_PROPERTIES = "--deselect=properties/"
"""What random examples find is not the same in each run: tests of their own judge the properties."""
SLOW = ("AsyncBlocksTheLoop", "AsyncCancelledCallerStopsAll", "ErrorKeepsTheLock", "ListNamespacesHangs")
"""Faulty backends of which call after call hangs or waits: not for each commit."""
FOLDER = Path(__file__).parent
STORE_MODULES: Mapping[str, tuple[str, ...]] = {
    "labels": ("labels", "list_namespaces"),
    "keys": ("keys",),
    "values": ("values",),
    "put": ("items",),
    "get": ("items",),
    "delete": ("items",),
    "items": ("items",),
    "search": ("search", "runtime"),
    "filter": ("filter",),
    "namespaces": ("list_namespaces", "labels"),
    "vector": ("vectors",),
    "batch": ("batch",),
    "async": ("parity", "runtime", "vectors"),
    "threads": ("parity", "runtime"),
    "aliasing": ("sharing",),
    "lifecycle": ("lifecycle", "parity"),
    "durability": ("lifecycle",),
}
"""Group of faulty stores, and the modules of the suite that are about it."""
TTL_TOO = ("async", "durability")
"""Groups in which some faults are about TTL."""
BOTH_DRIVES = ("async", "threads")
"""Groups whose faults are about one drive, or show in each in its own way."""


class _OneDrive:
    """Keeps the session in this process, since these backends hang but do not kill it, and to one drive."""

    def __init__(self, mode: str | None) -> None:
        self._mode = mode

    def pytest_configure(self, config: pytest.Config) -> None:
        config.option.tbstyle = "native"  # tracebacks are not looked at here, and any other style is slow

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self._mode is not None:
            items[:] = [item for item in items if mode_of(item) in (None, self._mode)]


def judge(kind: str, name: str, *arguments: str, mode: str | None = None) -> dict[str, Any]:
    """The report of the suite on a faulty backend.

    Args:
        kind: ``saver`` or ``store``.
        name: of the class in ``faulty.savers`` or ``faulty.stores``, or a call of a provider there.
        arguments: for pytest, such as a module of the suite.
        mode: the drive to try; both when left out.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [
            f"--{kind}=faulty.{kind}s:{name}",
            f"--conformance-timeout={SECONDS}",
            f"--conformance-report={report}",
            f"--rootdir={folder}",
            *("-c", "/dev/null", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist", "-p", "no:logging"),
            *("-p", "no:langsmith_plugin", "-p", "no:terminal", "-p", "no:unraisableexception"),
            *arguments,
        ]
        with (
            contextlib.redirect_stdout(io.StringIO()) as output,
            contextlib.redirect_stderr(output),
            pytest.MonkeyPatch.context() as patch,
        ):
            patch.delenv("PYTEST_XDIST_WORKER", raising=False)  # of the tests that judge, not of this run
            code = pytest.main(command, plugins=[_OneDrive(mode)])
        if not report.exists():
            raise RuntimeError(f"no report on {name} (exit code {code}): {output.getvalue()[-2000:]}")
        document: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
        return document


def broken(kind: str, name: str) -> list[str]:
    """The MUST and SHOULD rules that a faulty backend breaks.

    Most faults are in both drives, and one tells it all: the async one is tried where the sync one shows nothing.
    """
    for target, arguments, mode in _tries(kind, name):
        report = judge(kind, target, *arguments, mode=mode)
        found = sorted(each["id"] for each in report["rules"] if each["outcome"] in COUNTED)
        if found:
            return found
    return []


def _tries(kind: str, name: str) -> Iterator[tuple[str, tuple[str, ...], str | None]]:
    """Target, arguments and drive (None for both) to judge a faulty backend with, until something shows.

    For a store the modules about its fault come first, and TTL, which takes real seconds, last, if it can be told. A
    store whose fault is about TTL is tried with a clock that is moved before it is tried with one that is not.
    """
    if kind == "saver":
        yield from ((name, (WITHOUT_PROPERTIES,), mode) for mode in MODES)
        return
    group = importlib.import_module("faulty.stores").FAULTY[name].group
    if group == "ttl":
        yield from ((f'Moved("{name}", "{mode}")', ("store/test_ttl.py",), mode) for mode in MODES)
    modules = tuple(f"store/test_{module}.py" for module in ("smoke", *STORE_MODULES.get(group, ())))
    modes = (None,) if group in BOTH_DRIVES else MODES
    yield from ((name, modules, mode) for mode in modes)
    rest: list[tuple[str, ...]] = [(WITHOUT_PROPERTIES, "--deselect=store/test_ttl.py"), ("store/test_ttl.py",)]
    for arguments in reversed(rest) if group in TTL_TOO else rest:
        yield from ((name, arguments, mode) for mode in MODES)


def expected(kinds: str) -> dict[str, list[str]]:
    """Faulty backend and the rules that it breaks, as recorded."""
    file = FOLDER / f"expected_{kinds}.json"
    found: dict[str, list[str]] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return found


def tried_on_each_commit(kinds: str) -> list[str]:
    """Faulty backends that the tests try anew: together they break every rule, and all that each breaks is recorded."""
    file = FOLDER / f"each_commit_{kinds}.json"
    names: list[str] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    return names


def record(kinds: str, found: dict[str, list[str]]) -> None:
    """Write what was found, the rule that fewest other faults break first."""
    every = {**expected(kinds), **found}
    registry = importlib.import_module(f"faulty.{kinds}").FAULTY
    often = Counter(rule for rules in every.values() for rule in rules)
    sorted_rules = {
        name: sorted(every[name], key=lambda rule: (often[rule], rule)) for name in registry if name in every
    }
    text = json.dumps(sorted_rules, indent=1) + "\n"
    (FOLDER / f"expected_{kinds}.json").write_text(text, encoding="utf-8")


def cover(found: dict[str, list[str]], always: Iterable[str]) -> list[str]:
    """Few faulty backends that break every rule that any of them breaks: the ones to run on each commit.

    Args:
        found: faulty backend and the rules that it breaks.
        always: faulty backends that are among them in any case.
    """
    chosen = [name for name in always if name in found]
    open_rules = {rule for rules in found.values() for rule in rules} - {
        rule for name in chosen for rule in found[name]
    }
    while open_rules:
        best = max(found, key=lambda name: (len(open_rules.intersection(found[name])), -len(found[name])))
        chosen.append(best)
        open_rules.difference_update(found[best])
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", choices=("savers", "stores"))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--out", type=Path, help="write there, to be merged with --merge; what it holds is kept")
    parser.add_argument("--merge", type=Path, nargs="*", help="record what these files hold, and judge nothing")
    parser.add_argument(
        "--each-commit", action="store_true", help="and try those of them on each commit that are needed for every rule"
    )
    options = parser.parse_args()
    found: dict[str, list[str]] = {}
    if options.merge:
        for path in options.merge:
            found |= json.loads(path.read_text(encoding="utf-8"))
        record(options.kinds, found)
        if options.each_commit:
            quick = {name: broken_rules for name, broken_rules in found.items() if name not in SLOW}
            text = json.dumps(cover(quick, []), indent=1) + "\n"
            (FOLDER / f"each_commit_{options.kinds}.json").write_text(text, encoding="utf-8")
        return
    number, parts = map(int, options.part.split("/"))
    names = options.names or list(importlib.import_module(f"faulty.{options.kinds}").FAULTY)
    if options.out and options.out.exists():
        found = json.loads(options.out.read_text(encoding="utf-8"))
    for name in names[number - 1 :: parts]:
        if name in found:
            continue
        found[name] = broken(options.kinds[:-1], name)
        if options.out:
            options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if not options.out:
        record(options.kinds, found)


if __name__ == "__main__":
    main()
