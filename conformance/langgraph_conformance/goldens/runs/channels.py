"""Runs with channels of special kinds."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict, cast

from langgraph.graph import START, StateGraph

from ..play import Play, golden_run


def _extend(state: Any, writes: Any) -> list[str]:
    return [*(state or []), *(each for write in writes for each in write)]


@golden_run(since="langgraph>=1.2")
def delta_channel(play: Play) -> None:
    """A delta channel stores what was written, and a snapshot of its value at every third update."""
    from langgraph.channels.delta import DeltaChannel

    schema: dict[str, Any] = {"log": Annotated[list[str], DeltaChannel(_extend, snapshot_frequency=3)]}
    builder: Any = StateGraph(cast(Any, TypedDict)("Log", schema))
    builder.add_node("first", lambda state: {"log": [f"first after {len(state['log'])}"]})
    builder.add_node("second", lambda state: {"log": [f"second after {len(state['log'])}"]})
    builder.add_edge(START, "first")
    builder.add_edge("first", "second")
    graph, thread = play.compile(builder), play.thread()
    graph.invoke({"log": ["start"]}, thread)
    graph.invoke({"log": ["again"]}, thread)
    [fork] = [s.config for s in graph.get_state_history(thread) if s.next == ("second",) and len(s.values["log"]) == 2]
    graph.invoke(None, graph.update_state(fork, {"log": ["by hand"]}))
