"""A saver in use, compared with the reference after each read."""

from __future__ import annotations

from collections.abc import Callable

from langgraph_conformance.capabilities import MODES
from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.explore import Explorer, World
from langgraph_conformance.instances import Instances
from langgraph_conformance.rules import MUST, SHOULD, rule
from langgraph_conformance.session import Subject
from langgraph_conformance.suite.properties.saver_machine import SaverMachine

OPTIONAL = ("delete_thread", "copy_thread", "prune", "delete_for_runs", "delta_history")
SOURCE = "BaseCheckpointSaver; langgraph_reference.ReferenceSaver is the oracle"


def offers(subject: Subject, *modes: str) -> frozenset[str]:
    """The optional operations that all of these drives have."""
    findings = subject.findings
    return frozenset(name for name in OPTIONAL if all(findings.why_absent(name, mode) is None for mode in modes))


@rule(MUST, source=SOURCE)
def test_a_saver_in_use_reads_as_the_reference(saver: SaverDrive, subject: Subject, explorer: Explorer) -> None:
    """Whatever a saver was used for before, what it reads is what the reference reads after the same calls.

    Puts in and out of order, forks, pending writes, lists, deletes and copies meet in ways that no list of cases has.
    The calls shown are the shortest ones found after which a read differs.
    """
    World(explorer, lambda: [subject.drive(saver.mode)], offers(subject, saver.mode)).explore(SaverMachine)


@rule(MUST, source=SOURCE, needs="parity")
def test_both_drives_in_use_read_as_the_reference(
    parity: dict[str, SaverDrive], subject: Subject, explorer: Explorer
) -> None:
    """A saver that is used through its sync and its async methods in turns reads as the reference does.

    A graph that runs async is looked at by sync code: what the one stores or deletes, the other must see at once.
    """
    World(explorer, lambda: [subject.drive(mode, "parity") for mode in MODES], offers(subject, *MODES)).explore(
        SaverMachine
    )


@rule(MUST, source=SOURCE, needs="reopen")
def test_a_saver_that_is_opened_again_reads_as_the_reference(
    saver: SaverDrive, subject: Subject, instances: Instances, explorer: Explorer
) -> None:
    """A saver whose storage is opened again between calls reads as the reference does.

    What is kept in the memory of a process, or written down later, is gone or wrong after a restart.
    """
    instances.open()
    last: Callable[[], list[SaverDrive]] = lambda: [each for each in [instances.last()] if each is not None]  # noqa: E731
    World(explorer, last, offers(subject, saver.mode), restart=lambda: [instances.restart()]).explore(SaverMachine)


@rule(SHOULD, source=f"InMemorySaver, SqliteSaver, PostgresSaver; {SOURCE}")
def test_a_saver_in_unusual_use_reads_as_the_reference(saver: SaverDrive, subject: Subject, explorer: Explorer) -> None:
    """What official savers agree on, though the base class does not say it, is as in the reference as well.

    Checkpoints that are put again, parents that are not stored, ids of any text, keys of the config that become
    metadata, special writes anywhere in a batch.
    """
    World(explorer, lambda: [subject.drive(saver.mode)], offers(subject, saver.mode), wide=True).explore(SaverMachine)
