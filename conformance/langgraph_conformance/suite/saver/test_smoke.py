"""The first steps: what fails here is about how the saver is made, and nothing else can be tried."""

from __future__ import annotations

from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.errors import Broken
from langgraph_conformance.expect import expect_same
from langgraph_conformance.rules import MUST, rule
from langgraph_conformance.session import Subject


@rule(MUST, source="BaseCheckpointSaver.put, BaseCheckpointSaver.get_tuple")
def test_a_fresh_saver_stores_and_reads_a_checkpoint(saver: SaverDrive, subject: Subject) -> None:
    """A saver that was just opened and set up stores a checkpoint and gives it back.

    Until this holds, the other rules are blocked: look at how the saver is opened, at its connection and its set-up.
    """
    smoke = subject.findings.modes[saver.mode].smoke
    if smoke is not None:
        raise Broken("opening, put, get_tuple", "a checkpoint stored and read", smoke)


@rule(MUST, source="context manager protocol")
def test_closing_raises_nothing(subject: Subject) -> None:
    """Leaving the saver's context manager after use raises nothing.

    An application that shuts down cleanly would end with an error, and pending work may be lost.
    """
    expect_same(None, subject.findings.close_error, "what closing the saver raised")
