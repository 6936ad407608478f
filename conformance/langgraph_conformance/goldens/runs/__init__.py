"""The golden runs, by subject. Each is a function that states the graph and its input, and what the run shows."""

from __future__ import annotations

from . import channels, flow, functional, recovery, store, subgraphs, time_travel

__all__ = ["channels", "flow", "functional", "recovery", "store", "subgraphs", "time_travel"]
