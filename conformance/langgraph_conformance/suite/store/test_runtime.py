"""The store as nodes meet it: LangGraph hands it to them, and calls nothing of it by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.config import get_store
from langgraph.func import entrypoint
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore, PutOp
from langgraph.types import Send

from langgraph_conformance.drive import GraphDrive, StoreDrive
from langgraph_conformance.expect import expect_same, expect_true
from langgraph_conformance.rules import MUST, rule
from langgraph_conformance.suite.store.items import number_of

ENGINE = "pregel/main.py: Pregel(store=...); runtime.py: Runtime.store"


@dataclass
class Context:
    """What a run is told of its user."""

    user_id: str


class State(TypedDict, total=False):
    said: str
    found: Any
    log: Annotated[list[Any], lambda old, new: old + new]


def nodes_of(store: StoreDrive, root: str) -> Callable[..., Any]:
    """A node for the mode of the drive: it finds what is known of the run's user, and remembers what is said."""

    def remember(state: State, runtime: Runtime[Context]) -> State:
        namespace = (root, runtime.context.user_id)
        assert runtime.store is not None
        known = runtime.store.get(namespace, "said")
        runtime.store.put(namespace, "said", {"text": state["said"]})
        searched = [item.value["text"] for item in runtime.store.search(namespace)]
        return {"found": [known.value["text"] if known else None, searched]}

    async def aremember(state: State, runtime: Runtime[Context]) -> State:
        namespace = (root, runtime.context.user_id)
        assert runtime.store is not None
        known = await runtime.store.aget(namespace, "said")
        await runtime.store.aput(namespace, "said", {"text": state["said"]})
        searched = [item.value["text"] for item in await runtime.store.asearch(namespace)]
        return {"found": [known.value["text"] if known else None, searched]}

    return aremember if store.mode == "async" else remember


def clean(store: StoreDrive, root: str) -> None:
    """Delete what nodes stored."""
    store.batch([PutOp(each.namespace, each.key, None) for each in store.search((root,), limit=1000)])


def compiled(store: StoreDrive, *nodes: Any) -> GraphDrive:
    """A graph of these nodes, one after the other, with the store under test."""
    builder = StateGraph(State, context_schema=Context)
    builder.add_sequence([(f"node{number}", node) for number, node in enumerate(nodes)])
    builder.add_edge(START, "node0")
    return GraphDrive(store, builder.compile(store=store.raw))


@rule(MUST, source=ENGINE)
def test_nodes_reach_the_store_through_the_runtime(store: StoreDrive, root: str) -> None:
    """A node puts, gets and searches through `runtime.store`, under the user id of the run's context.

    It is how agents remember: between runs of one user, and never between users.
    """
    graph = compiled(store, nodes_of(store, root))
    runs = [("alice", "tea"), ("bob", "rain"), ("alice", "coffee"), ("bob", "sun")]
    found = [graph.invoke({"said": said}, {}, context=Context(user))["found"] for user, said in runs]
    kept = {user: [each.value for each in store.search((root, user))] for user in ("alice", "bob")}
    clean(store, root)
    expected = [[None, ["tea"]], [None, ["rain"]], ["tea", ["coffee"]], ["rain", ["sun"]]]
    expect_same(expected, found, "what each run found")
    expect_same({"alice": [{"text": "coffee"}], "bob": [{"text": "sun"}]}, kept, "what is stored after the runs")


@rule(MUST, source=ENGINE)
def test_nodes_get_the_store_itself(store: StoreDrive) -> None:
    """What nodes get is the store that the graph was compiled with, by the runtime and by `get_store`.

    Methods of its own, beside those of the base class, can be called there.
    """
    met: list[Any] = []

    def node(state: State, runtime: Runtime[Context]) -> State:
        met.append(runtime.store)
        return {"found": 1}

    async def anode(state: State, runtime: Runtime[Context]) -> State:
        met.append(runtime.store)
        return {"found": 1}

    compiled(store, anode if store.mode == "async" else node).invoke({"said": ""}, {}, context=Context("alice"))
    expect_true(len(met) == 1 and met[0] is store.raw, "the store that the node got", "the one given to compile", met)


@rule(MUST, source=ENGINE)
def test_a_node_sees_what_the_one_before_it_stored(store: StoreDrive, root: str) -> None:
    """Within one run, a node reads what an earlier node put, replaced or deleted.

    Nodes hand large things to each other through the store rather than through the state.
    """

    def write(state: State, runtime: Runtime[Context]) -> State:
        assert runtime.store is not None
        runtime.store.put((root,), "one", {"number": 1})
        runtime.store.put((root,), "two", {"number": 2})
        runtime.store.delete((root,), "one")
        return {"found": None}

    async def awrite(state: State, runtime: Runtime[Context]) -> State:
        assert runtime.store is not None
        await runtime.store.aput((root,), "one", {"number": 1})
        await runtime.store.aput((root,), "two", {"number": 2})
        await runtime.store.adelete((root,), "one")
        return {"found": None}

    def read(state: State, runtime: Runtime[Context]) -> State:
        assert runtime.store is not None
        return {"found": [number_of(runtime.store.get((root,), key)) for key in ("one", "two")]}

    async def aread(state: State, runtime: Runtime[Context]) -> State:
        assert runtime.store is not None
        return {"found": [number_of(await runtime.store.aget((root,), key)) for key in ("one", "two")]}

    nodes = (awrite, aread) if store.mode == "async" else (write, read)
    found = compiled(store, *nodes).invoke({"said": ""}, {}, context=Context("alice"))["found"]
    clean(store, root)
    expect_same([None, 2], found, "the numbers that the second node read")


@rule(MUST, source="pregel/_executor.py, pregel/_runner.py: tasks of one step run at the same time")
def test_parallel_nodes_may_all_use_the_store(store: StoreDrive, root: str) -> None:
    """Tasks of one step put and get at the same time, in threads or asyncio tasks; each meets its own items.

    A fan-out over documents remembers something of each of them.
    """
    count = 20

    def work(number: int, runtime: Runtime[Context]) -> State:
        assert runtime.store is not None
        runtime.store.put((root, "parallel"), str(number), {"number": number})
        return {"log": [number_of(runtime.store.get((root, "parallel"), str(number)))]}

    async def awork(number: int, runtime: Runtime[Context]) -> State:
        assert runtime.store is not None
        await runtime.store.aput((root, "parallel"), str(number), {"number": number})
        return {"log": [number_of(await runtime.store.aget((root, "parallel"), str(number)))]}

    builder = StateGraph(State, context_schema=Context)
    node: Any = awork if store.mode == "async" else work
    builder.add_node("work", node)
    builder.add_conditional_edges(START, lambda state: [Send("work", number) for number in range(count)], ["work"])
    graph = GraphDrive(store, builder.compile(store=store.raw))
    log = graph.invoke({"said": "", "log": []}, {}, context=Context("alice"))["log"]
    kept = sorted(number_of(each) for each in store.search((root, "parallel"), limit=1000))
    clean(store, root)
    expect_same([*range(count)], sorted(log), "the numbers that the tasks read")
    expect_same([*range(count)], kept, "the numbers stored")


@rule(MUST, source="langgraph.config.get_store; langgraph.func.entrypoint(store=...)")
@pytest.mark.parametrize("way", ["argument", "get_store"])
def test_functions_reach_the_store(store: StoreDrive, root: str, way: str) -> None:
    """An entrypoint of the functional API gets the store as the argument `store`, and by `get_store` in sync code.

    Tools reach it in the same ways.
    """
    if way == "get_store" and store.mode == "async":
        pytest.skip("before Python 3.11 async code has no context to take it from")

    @entrypoint(store=store.raw)
    def flow(number: int, *, store: BaseStore) -> Any:
        used = get_store() if way == "get_store" else store
        used.put((root,), "key", {"number": number})
        return number_of(used.get((root,), "key"))

    @entrypoint(store=store.raw)
    async def aflow(number: int, *, store: BaseStore) -> Any:
        await store.aput((root,), "key", {"number": number})
        return number_of(await store.aget((root,), "key"))

    found = GraphDrive(store, aflow if store.mode == "async" else flow).invoke(7, {})
    clean(store, root)
    expect_same(7, found, "the number that the function read")


@rule(MUST, source=ENGINE)
def test_a_run_uses_the_store_only_where_its_nodes_do(store: StoreDrive, root: str) -> None:
    """A run whose nodes do not use the store leaves it as it was, also if the run ends with an exception.

    The engine keeps nothing of its own there; what a node stored before an exception stays: it is no part of the state.
    """
    store.put((root,), "key", {"number": 1})

    def fail(state: State) -> State:
        raise ValueError(state["said"])

    async def afail(state: State) -> State:
        raise ValueError(state["said"])

    graph = compiled(store, nodes_of(store, root), afail if store.mode == "async" else fail)
    raised = ""
    try:
        graph.invoke({"said": "tea"}, {}, context=Context("alice"))
    except ValueError as error:
        raised = str(error)
    found = sorted((*each.namespace[1:], each.key) for each in store.search((root,)))
    clean(store, root)
    expected = {"raised": "tea", "items": [("alice", "said"), ("key",)]}
    expect_same(expected, {"raised": raised, "items": found}, "what the run raised, and the items after it")
