"""Recording sets of goldens and old threads, with the installed LangGraph or another one in its own environment."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from . import old_threads
from .bank import recorded
from .sets import packaged, writable

OLDEST = "0.6"
"""The oldest LangGraph that golden runs can be played with; threads can be since 0.2."""
OLDEST_THREADS = "0.2"
CHECKPOINT_OF_THEIR_TIME = {
    "0.2": "2.0.10",
    "0.3": "2.0.26",
    "0.4": "2.0.26",
    "0.5": "2.1.0",
    "0.6": "2.1.2",
    "1.0": "3.0.1",
    "1.1": "4.0.0",
}
"""langgraph-checkpoint by minor version of LangGraph: alone, an old one gets a new one. Others get the newest."""
RECORDED = ("graph/test_goldens.py", "saver/test_wire.py")
RECORDING = "known_run or bytes_of_known_values"


class CannotRecord(Exception):
    """Goldens cannot be recorded: what is wrong and what to do, in one sentence.

    Args:
        sentence: for the user.
        code: exit code: 2 for what was given, 4 for what did not work.
    """

    def __init__(self, sentence: str, code: int = 2) -> None:
        super().__init__(sentence)
        self.code = code


def target(folder: str | None, option: str, installed: Any) -> Path:
    """Where to write: the folder that was given, or the fixtures of the checkout.

    Raises:
        CannotRecord: the fixtures lie in an installed package.
    """
    if folder is not None:
        path = Path(folder).resolve()
        if path.exists() and not path.is_dir():
            raise CannotRecord(f"{option}={folder} is no folder")
        return path
    own = writable(installed)
    if own is None:
        raise CannotRecord(f"{installed} lies in an installed package, which is never written to: give {option}=FOLDER")
    return own


def checked_version(text: str, oldest: str) -> Version:
    """A version of LangGraph.

    Raises:
        CannotRecord: it is none, or older than ``oldest``.
    """
    try:
        given = Version(text)
    except InvalidVersion:
        raise CannotRecord(f"{text!r} is no version of LangGraph: expected one such as 1.1.10") from None
    if given < Version(oldest):
        raise CannotRecord(f"LangGraph {text} is older than {oldest}, the oldest that can be recorded")
    return given


def uv() -> str:
    """The uv on the path.

    Raises:
        CannotRecord: there is none.
    """
    found = shutil.which("uv")
    if found is None:
        raise CannotRecord("another version of LangGraph is run through uv, which is not on the PATH: install uv", 4)
    return found


def uv_command(
    program: str, langgraph: Version, checkpoint: str | None, python: str, more: Sequence[str] = ()
) -> list[str]:
    """The command that runs a Python with a LangGraph in an environment of its own.

    Args:
        program: uv.
        langgraph: its version.
        checkpoint: that of langgraph-checkpoint; the one of LangGraph's time when left out.
        python: the version of Python, or its path.
        more: further options of ``uv run``.
    """
    checkpoint = checkpoint or CHECKPOINT_OF_THEIR_TIME.get(f"{langgraph.major}.{langgraph.minor}")
    requirements = [f"langgraph=={langgraph}", *([f"langgraph-checkpoint=={checkpoint}"] if checkpoint else [])]
    options = [part for each in requirements for part in ("--with", each)]
    return [program, "run", "--no-project", "--isolated", "--python", python, *options, *more, "python"]


def with_this_distribution() -> list[str]:
    """The options of ``uv run`` that give an environment this package: the checkout, or the release."""
    own = writable(packaged())
    if own is not None:
        return ["--with-editable", str(own.parents[2])]
    try:
        return ["--with", f"langgraph-conformance=={version('langgraph-conformance')}"]
    except PackageNotFoundError:
        raise CannotRecord("langgraph-conformance is not installed: another version cannot be given it", 4) from None


def record(folder: Path) -> str:
    """Write the set of the installed LangGraph through syrupy's update; gives what pytest printed.

    Raises:
        CannotRecord: the golden runs could not be played.
    """
    folder.mkdir(parents=True, exist_ok=True)
    environment = {key: each for key, each in os.environ.items() if not key.startswith("PYTEST_")}
    with tempfile.TemporaryDirectory() as elsewhere:
        plugins = ["-p", "no:cacheprovider", "-p", "langgraph_conformance.plugin"]
        options = ["--saver=langgraph_reference:ReferenceSaver", "--snapshot-update", f"--golden-dir={folder}"]
        command = [sys.executable, "-m", "pytest", "-q", *plugins, *options, "-k", RECORDING, *RECORDED]
        ended = subprocess.run(command, cwd=elsewhere, env=environment, capture_output=True, text=True)
    if ended.returncode != 0:
        raise CannotRecord(f"the golden runs could not be played:\n{(ended.stdout + ended.stderr).strip()[-3000:]}", 4)
    return ended.stdout


def record_with(langgraph: str, checkpoint: str | None, python: str, folder: Path) -> str:
    """Write the set of another LangGraph; gives what was printed.

    Raises:
        CannotRecord: uv, the network or the version is missing, or the golden runs could not be played.
    """
    command = uv_command(uv(), checked_version(langgraph, OLDEST), checkpoint, python, with_this_distribution())
    return run_uv(
        [*command, "-m", "langgraph_conformance.cli", "goldens", "record", f"--golden-dir={folder}"], langgraph
    )


def record_threads(folder: Path, langgraph: str | None, checkpoint: str | None, python: str) -> list[str]:
    """Write the threads that a LangGraph leaves into the bank; gives the files.

    Raises:
        CannotRecord: uv, the network or the version is missing, or the threads could not be played.
    """
    script = str(Path(old_threads.__file__))
    if langgraph is None:
        printed = json.dumps(old_threads.document())
    else:
        printed = run_uv(
            [*uv_command(uv(), checked_version(langgraph, OLDEST_THREADS), checkpoint, python), script], langgraph
        )
    files = recorded(json.loads(printed))
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
    return list(files)


def run_uv(command: Sequence[str], langgraph: str) -> str:
    """Run a command of uv; gives what it printed.

    Raises:
        CannotRecord: it failed.
    """
    # what lies on this path belongs to another version
    environment = {key: each for key, each in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    if ended.returncode != 0:
        raise CannotRecord(why_uv_failed(ended.stderr, langgraph), 4)
    return ended.stdout


_NO_VERSION = re.compile(r"there is no version of langgraph==|was not found in the package registry")
_UNSATISFIABLE = re.compile(r"no solution found|unsatisfiable", re.IGNORECASE)
_SWITCHED_OFF = re.compile(r"network (was|is) disabled|offline", re.IGNORECASE)
_NO_NETWORK = re.compile(r"error sending request|dns error|connect|timed out|failed to fetch", re.IGNORECASE)


def why_uv_failed(printed: str, langgraph: str) -> str:
    """What uv printed, as one sentence."""
    lines = [line.strip(" ×│╰─▶\t") for line in printed.splitlines() if line.strip()]
    last = lines[-1] if lines else "it printed nothing"
    flat = " ".join(lines)
    if not _SWITCHED_OFF.search(flat):
        if _NO_VERSION.search(flat):
            return f"there is no LangGraph {langgraph} that can be installed here: {last}"
        if _UNSATISFIABLE.search(flat):
            return f"LangGraph {langgraph} cannot be installed together with what was asked for: {last}"
    if _SWITCHED_OFF.search(flat) or _NO_NETWORK.search(flat):
        return f"uv cannot get what LangGraph {langgraph} needs, since it does not reach the network: {last}"
    return f"recording with LangGraph {langgraph} failed: {last}"
