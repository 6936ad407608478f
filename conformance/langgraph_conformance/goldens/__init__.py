"""Golden runs: graphs whose persisted state is written down, per minor version of LangGraph.

A golden run (``runs``) is a function that plays a graph on a saver. What it leaves behind is put down as text
(``views``, ``text``) with stable names for all that differs from run to run (``names``), and compared with the golden
of the newest fitting set (``sets``) through syrupy (``plugin``).
"""

from __future__ import annotations

from . import runs as runs  # registers them
from .play import RUNS, GoldenRun, Play, golden_run
from .views import Recording, record

__all__ = ["RUNS", "GoldenRun", "Play", "Recording", "golden_run", "record"]
