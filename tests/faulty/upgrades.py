"""Faulty savers of what lies in a storage: in clear in spite of an encrypting serialiser, or from before an upgrade.

``faulty.savers`` imports their names, so that they are targets like its own.
"""

from __future__ import annotations

from typing import Any, ClassVar

from langgraph_reference import ReferenceSaver

from faulty.savers import (
    Hooked,
    PlainValuesIgnoreTheSerialiser,
    Put,
    ValuesIgnoreTheSerialiser,
    WritesIgnoreTheSerialiser,
    faulty,
)


class Rows:
    """A provider of a saver that also gives what is stored."""

    saver: ClassVar[type[ReferenceSaver]] = ReferenceSaver

    def __init__(self) -> None:
        self.last = self.saver()

    def open(self) -> ReferenceSaver:
        """A saver over a new storage."""
        self.last = self.saver()
        return self.last

    def rows(self) -> list[Any]:
        """Every row of the last saver."""
        saver = self.last
        checkpoints = [
            (thread, ns, id, row)
            for thread, namespaces in saver.storage.items()
            for ns, rows in namespaces.items()
            for id, row in rows.items()
        ]
        writes = [(key, place, row) for key, rows in saver.writes.items() for place, row in rows.items()]
        return [*checkpoints, *writes, *saver.blobs.items()]


@faulty("serde", "langchain-ai/langgraph#1699")
class WritesLieInClear(Rows):
    """With an encrypting serialiser, what tasks write lies in the storage in clear.

    Seen in savers that encrypt the checkpoint alone.
    """

    saver = WritesIgnoreTheSerialiser


@faulty("serde", "langchain-ai/langgraph#1699")
class ValuesLieInClear(Rows):
    """With an encrypting serialiser, the values of channels lie in the storage in clear.

    Seen in savers with a table of values of its own.
    """

    saver = ValuesIgnoreTheSerialiser


@faulty("serde", "langchain-ai/langgraph#1699, langchain-ai/langgraph#8116")
class PlainValuesLieInClear(Rows):
    """With an encrypting serialiser, texts and numbers in channels lie in the storage in clear.

    Seen in SQL savers that keep plain values inline.
    """

    saver = PlainValuesIgnoreTheSerialiser


@faulty("put")
class PendingSendsAreDropped(Hooked):
    """Sends that were pending beside a checkpoint of an older format are not stored, nor found in its parent's writes.

    At home in savers with one column for each field of today's checkpoints.
    """

    def putting(self, call: Put) -> Put:
        checkpoint: Any = {key: value for key, value in call.checkpoint.items() if key != "pending_sends"}
        return call._replace(checkpoint=checkpoint)
