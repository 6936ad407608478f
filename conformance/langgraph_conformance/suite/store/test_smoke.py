"""The first steps: what fails here is about how the store is made, and nothing else can be tried."""

from __future__ import annotations

from langgraph_conformance.drive import StoreDrive
from langgraph_conformance.errors import Broken
from langgraph_conformance.expect import expect_same
from langgraph_conformance.rules import MUST, rule
from langgraph_conformance.session import Subject


@rule(MUST, source="BaseStore.put, BaseStore.get")
def test_a_fresh_store_stores_and_reads_an_item(store: StoreDrive, store_subject: Subject) -> None:
    """A store that was just opened and set up stores an item and gives it back.

    Until this holds, the other rules are blocked: look at how the store is opened, at its connection and its set-up.
    """
    smoke = store_subject.findings.modes[store.mode].smoke
    if smoke is not None:
        raise Broken("opening, put, get", "an item stored and read", smoke)


@rule(MUST, source="context manager protocol")
def test_closing_raises_nothing(store_subject: Subject) -> None:
    """Leaving the store's context manager after use raises nothing.

    An application that shuts down cleanly would end with an error, and pending work may be lost.
    """
    expect_same(None, store_subject.findings.close_error, "what closing the store raised")
