"""list."""

from __future__ import annotations

from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.expect import expect_same
from langgraph_conformance.rules import MUST, rule
from langgraph_conformance.threads import Thread, ids_of


@rule(MUST, source="BaseCheckpointSaver.list; pregel/_internal/_replay.py reads the first item")
def test_before_excludes_the_checkpoint_it_names(saver: SaverDrive, thread: Thread) -> None:
    """A list with `before` gives only checkpoints whose id is smaller than the one it names.

    `get_state_history` pages with it and a replayed subgraph takes the first item as its state: a list that includes
    the named checkpoint repeats it on every page.
    """
    first, second, third = thread.chain(3)
    listed = saver.list(thread.config(), before=third.config)
    expect_same([second.id, first.id], ids_of(listed), "the ids listed before the third checkpoint")
