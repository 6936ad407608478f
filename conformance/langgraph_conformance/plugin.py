"""The pytest plugin. Without ``--saver`` it adds its options and does nothing else, and imports nothing of LangGraph."""

from __future__ import annotations

import sys

import pytest

DEFAULT_SECONDS = 30.0


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("langgraph-conformance", "conformance of LangGraph savers and stores")
    group.addoption(
        "--saver",
        metavar="MODULE:OBJECT",
        help="judge this checkpoint saver: an instance, class, function, (async) context manager or generator, provider "
        'class, or a call with literals, such as \'langgraph.checkpoint.sqlite:SqliteSaver.from_conn_string(":memory:")\'',
    )
    group.addoption(
        "--conformance-strict", action="store_true", help="SHOULD rules that do not hold fail the run, too"
    )
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
    if config.getoption("saver") is None:
        return None
    from . import guard

    if not guard.should_guard(config):
        return None
    return guard.watch(config, config.getoption("conformance_timeout"))


def pytest_configure(config: pytest.Config) -> None:
    text = config.getoption("saver")
    if text is None or config.getoption("help", False):
        return
    folder = str(config.invocation_params.dir)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    _check_report_folder(config)
    from . import fixtures
    from .errors import TargetError
    from .session import ConformanceSession, Subject

    seconds: float = config.getoption("conformance_timeout")
    try:
        session = ConformanceSession(config, {"saver": Subject("saver", text, seconds)})
    except TargetError as error:
        raise pytest.UsageError(str(error)) from error
    session.choose_arguments()
    config.pluginmanager.register(session, "langgraph_conformance.session")
    config.pluginmanager.register(fixtures, "langgraph_conformance.fixtures")
    _write_journal(config, session)


def _check_report_folder(config: pytest.Config) -> None:
    from pathlib import Path

    path = config.getoption("conformance_report")
    if path and not Path(path).resolve().parent.is_dir():
        raise pytest.UsageError(
            f"--conformance-report={path}: its folder does not exist; give a path in a folder that does"
        )


def _write_journal(config: pytest.Config, session: object) -> None:
    import os
    from pathlib import Path

    from .guard import JOURNAL_VARIABLE, Journal, Journalist
    from .session import ConformanceSession

    path = os.environ.get(JOURNAL_VARIABLE)
    if path and isinstance(session, ConformanceSession) and not hasattr(config, "workerinput"):
        journalist = Journalist(Journal(Path(path)), session.died)
        config.pluginmanager.register(journalist, "langgraph_conformance.journalist")
