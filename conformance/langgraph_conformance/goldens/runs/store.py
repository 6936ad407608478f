"""Runs with a store beside the saver, and a context whose user id is a part of the namespace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict, cast

from langgraph.channels.last_value import LastValue
from langgraph.graph import START, StateGraph
from langgraph.pregel import NodeBuilder, Pregel
from langgraph.runtime import Runtime
from langgraph.store.memory import InMemoryStore

from ..play import Play, golden_run


@dataclass
class Context:
    user_id: str


class Talk(TypedDict, total=False):
    said: str
    remembered: str


@golden_run()
def store_and_context(play: Play) -> None:
    """A node remembers in the store under the user id of the run's context: neither is a part of the checkpoints."""

    def remember(state: Talk, runtime: Runtime[Context]) -> dict[str, Any]:
        namespace = ("memories", runtime.context.user_id)
        assert runtime.store is not None
        known = runtime.store.get(namespace, "said")
        runtime.store.put(namespace, "said", {"text": state["said"]})
        return {"remembered": known.value["text"] if known else "nothing"}

    builder = StateGraph(Talk, context_schema=Context)
    builder.add_node("remember", remember)
    builder.add_edge(START, "remember")
    graph = play.compile(builder, store=InMemoryStore())
    graph.invoke({"said": "I like tea"}, play.thread(), context=Context("alice"))
    graph.invoke({"said": "I like rain"}, play.thread(), context=Context("bob"))
    graph.invoke({"said": "what do I like?"}, play.thread(), context=Context("alice"))


@golden_run()
def pregel_by_hand(play: Play) -> None:
    """A Pregel built from nodes and channels, without a graph builder, is persisted in the same way."""

    def remember(said: str, runtime: Runtime[Context]) -> str:
        namespace = ("memories", runtime.context.user_id)
        assert runtime.store is not None
        known = runtime.store.get(namespace, "said")
        runtime.store.put(namespace, "said", {"text": said})
        return known.value["text"] if known else "nothing"

    pregel: Pregel[Any, Any, Any, Any] = Pregel(
        nodes={"remember": NodeBuilder().subscribe_only("said").do(cast(Any, remember)).write_to("remembered")},
        channels={"said": LastValue(str), "remembered": LastValue(str)},
        input_channels="said",
        output_channels="remembered",
        context_schema=Context,
        checkpointer=play.saver,
        store=InMemoryStore(),
    )
    graph, thread = play.take(pregel), play.thread()
    graph.invoke("I like tea", thread, context=Context("alice"))
    graph.invoke("what do I like?", thread, context=Context("alice"))
