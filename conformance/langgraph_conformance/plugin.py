"""The pytest plugin. Without ``--saver`` and ``--store`` it adds its options, and does and imports nothing else."""

from __future__ import annotations

import sys

import pytest

DEFAULT_SECONDS = 30.0
EXAMPLES = {
    "saver": 'langgraph.checkpoint.sqlite:SqliteSaver.from_conn_string(":memory:")',
    "store": "langgraph.store.memory:InMemoryStore",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("langgraph-conformance", "conformance of LangGraph savers and stores")
    for kind, example in EXAMPLES.items():
        group.addoption(
            f"--{kind}",
            metavar="MODULE:OBJECT",
            help=f"judge this {kind}: an instance, class, function, (async) context manager or generator, provider "
            f"class, or a call with literals, such as '{example}'",
        )
    group.addoption("--conformance-strict", action="store_true", help="SHOULD rules that do not hold fail the run, too")
    group.addoption(
        "--conformance-profile",
        choices=("quick", "default", "deep"),
        default="default",
        help="how many examples property checks try",
    )
    group.addoption(
        "--conformance-timeout",
        type=_seconds,
        default=DEFAULT_SECONDS,
        metavar="SECONDS",
        help="limit of one check (default: %(default)g)",
    )
    group.addoption("--conformance-report", metavar="PATH.json", help="write the run's report there")
    group.addoption(
        "--golden-dir",
        metavar="FOLDER",
        help="compare golden runs with the sets in this folder instead of the packaged ones; with --snapshot-update, "
        "write the set of the installed LangGraph there",
    )


def _seconds(text: str) -> float:
    import argparse

    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return seconds


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    if not _given(config):
        return None
    from . import guard

    if not guard.should_guard(config):
        return None
    return guard.watch(config, config.getoption("conformance_timeout"))


def pytest_configure(config: pytest.Config) -> None:
    given = _given(config)
    if not given or config.getoption("help", False):
        return
    folder = str(config.invocation_params.dir)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    _check_report_folder(config)
    from . import fixtures
    from .errors import TargetError
    from .goldens import plugin as goldens
    from .guard import FIRST_STEPS, Journalist, journal_of
    from .session import ConformanceSession, Subject

    seconds: float = config.getoption("conformance_timeout")
    journal = journal_of(config)
    if journal:
        journal.write(begin=FIRST_STEPS)
    try:
        session = ConformanceSession(config, {kind: Subject(kind, text, seconds) for kind, text in given.items()})
        session.choose_arguments()
    except TargetError as error:
        if journal:
            journal.write(end=FIRST_STEPS, reports=[])
        raise pytest.UsageError(str(error)) from error
    if journal:
        journal.write(end=FIRST_STEPS, reports=[])
        config.pluginmanager.register(Journalist(journal, session.died), "langgraph_conformance.journalist")
    config.pluginmanager.register(session, "langgraph_conformance.session")
    config.pluginmanager.register(fixtures, "langgraph_conformance.fixtures")
    config.pluginmanager.register(goldens, "langgraph_conformance.goldens")


def _given(config: pytest.Config) -> dict[str, str]:
    """Kind of backend and target, as far as given."""
    texts = {kind: config.getoption(kind) for kind in EXAMPLES}
    return {kind: text for kind, text in texts.items() if text is not None}


def _check_report_folder(config: pytest.Config) -> None:
    from pathlib import Path

    path = config.getoption("conformance_report")
    if path and not Path(path).resolve().parent.is_dir():
        raise pytest.UsageError(
            f"--conformance-report={path}: its folder does not exist; give a path in a folder that does"
        )
