"""A store in use, compared with the reference after each read."""

from __future__ import annotations

from langgraph_conformance.capabilities import MODES
from langgraph_conformance.drive import StoreDrive
from langgraph_conformance.explore import Explorer, World
from langgraph_conformance.instances import StoreInstances
from langgraph_conformance.rules import MUST, SHOULD, rule
from langgraph_conformance.session import Subject
from langgraph_conformance.suite.properties.store_machine import StoreMachine

SOURCE = "BaseStore; langgraph_reference.ReferenceStore is the oracle"


@rule(MUST, source=SOURCE)
def test_a_store_in_use_reads_as_the_reference(store: StoreDrive, store_subject: Subject, explorer: Explorer) -> None:
    """Whatever a store was used for before, what it reads is what the reference reads after the same calls.

    Puts, deletes, filters, pages, namespaces and batches meet in ways that no list of cases has. The calls shown are
    the shortest ones found after which a read differs.
    """
    World(explorer, lambda: [store_subject.drive(store.mode)]).explore(StoreMachine)


@rule(MUST, source=SOURCE, needs="parity")
def test_both_drives_in_use_read_as_the_reference(
    store_parity: dict[str, StoreDrive], store_subject: Subject, explorer: Explorer
) -> None:
    """A store that is used through its sync and its async methods in turns reads as the reference does.

    An async graph and sync code around it use one store: what the one writes or deletes, the other sees at once.
    """
    World(explorer, lambda: [store_subject.drive(mode, "parity") for mode in MODES]).explore(StoreMachine)


@rule(MUST, source=SOURCE, needs="reopen")
def test_a_store_that_is_opened_again_reads_as_the_reference(
    store: StoreDrive, store_instances: StoreInstances, explorer: Explorer
) -> None:
    """A store whose storage is opened again between calls reads as the reference does.

    What is kept in the memory of a process, or written down later, is gone or wrong after a restart.
    """
    store_instances.open()
    World(
        explorer,
        lambda: [each for each in [store_instances.last()] if each is not None],
        restart=lambda: [store_instances.restart()],
    ).explore(StoreMachine)


@rule(SHOULD, source=f"InMemoryStore, SqliteStore, PostgresStore; {SOURCE}")
def test_a_store_in_unusual_use_reads_as_the_reference(
    store: StoreDrive, store_subject: Subject, explorer: Explorer
) -> None:
    """What official stores agree on, though the base class does not say it, is as in the reference as well.

    Deletes of what is not there, batches that read what they write, times that only a put moves.
    """
    World(explorer, lambda: [store_subject.drive(store.mode)], wide=True).explore(StoreMachine)
