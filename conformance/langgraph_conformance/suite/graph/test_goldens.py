"""Golden runs: what LangGraph persists in known runs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.goldens import RUNS, GoldenRun
from langgraph_conformance.goldens.plugin import Golden
from langgraph_conformance.rules import MUST, SHOULD, rule
from langgraph_conformance.threads import Thread

PLAYABLE = [run for run in RUNS.values() if run.holds()]
LAID_OUT = [run for run in PLAYABLE if run.layout]


@rule(MUST, source="pregel/_loop.py; StateGraph, entrypoint and Pregel on InMemorySaver")
@pytest.mark.parametrize("run", PLAYABLE, ids=[run.name for run in PLAYABLE])
def test_a_known_run_leaves_what_its_golden_shows(
    run: GoldenRun, saver: SaverDrive, new_thread: Callable[[], Thread], golden: Golden
) -> None:
    """A known graph run leaves the same checkpoints, writes and snapshots on every saver.

    The golden was written down on the reference saver. Where a saver shows something else, users find another state
    after a restart, history and time travel show what never was, or a resume runs the wrong tasks.
    """
    golden.compare("logical", run, saver, new_thread)


@rule(SHOULD, source="InMemorySaver.storage, writes and blobs", needs="memory_layout")
@pytest.mark.parametrize("run", LAID_OUT, ids=[run.name for run in LAID_OUT])
def test_a_known_run_lies_in_memory_as_its_golden_shows(
    run: GoldenRun, saver: SaverDrive, new_thread: Callable[[], Thread], golden: Golden
) -> None:
    """A saver with `storage`, `writes` and `blobs` as InMemorySaver has them keeps the same bytes under the same keys.

    Debugging tools and migrations read these dictionaries: they see each checkpoint once, each value once per version.
    """
    golden.compare("layout", run, saver, new_thread)
