"""Whole runs: what a graph's user finds on a thread afterwards."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypedDict, cast

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage
from langgraph.func import entrypoint
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, Send

from langgraph_conformance.drive import GraphDrive, SaverDrive
from langgraph_conformance.expect import expect_same
from langgraph_conformance.rules import MUST, rule
from langgraph_conformance.suite.graph.builders import DriveGraph, Log, config_of, id_of, logging, steps
from langgraph_conformance.threads import Thread, writes_of


class Person(TypedDict, total=False):
    name: str
    address: str


class Counter(TypedDict):
    count: int


class Chat(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]


def person() -> Any:
    """One node that changes the state."""

    def get_address(state: Person) -> Command[Literal["__end__"]]:
        return Command(update={"name": "pavaneeshwar", "address": "Hyderabad residency"})

    builder = StateGraph(Person)
    builder.add_node("get_address", get_address)
    builder.add_edge(START, "get_address")
    builder.add_edge("get_address", END)
    return builder


def counter() -> Any:
    """One node that adds one."""
    builder = StateGraph(Counter)
    builder.add_node("add_one", lambda state: {"count": state["count"] + 1})
    builder.add_edge(START, "add_one")
    builder.add_edge("add_one", END)
    return builder


def plain_counter() -> Any:
    """One node that adds one to a state that is a number."""
    builder: Any = StateGraph(cast(Any, int))
    builder.add_node("add_one", lambda count: count + 1)
    builder.add_edge(START, "add_one")
    builder.add_edge("add_one", END)
    return builder


# -- checkpoints and history


@rule(MUST, source="pregel/_loop.py: put after each super-step, put_writes of each task")
def test_each_super_step_leaves_one_checkpoint(drive_graph: DriveGraph, saver: SaverDrive, thread: Thread) -> None:
    """A run leaves one checkpoint for its input and one per super-step, each the child of the one before.

    History, time travel and recovery walk along these parents: a step that is missing cannot be gone back to, and a
    chain that is broken hides all that came before.
    """
    graph, config = drive_graph(person()), config_of(thread)
    graph.invoke({}, config)
    history = graph.get_state_history(config)
    ids = [id_of(each.config) for each in history]
    read = [saver.get_tuple(each.config) for each in history]
    expect_same(
        [
            {"step": 1, "source": "loop", "next": (), "parent": ids[1], "writes": []},
            {
                "step": 0,
                "source": "loop",
                "next": ("get_address",),
                "parent": ids[2],
                "writes": [("name", "pavaneeshwar"), ("address", "Hyderabad residency")],
            },
            {
                "step": -1,
                "source": "input",
                "next": ("__start__",),
                "parent": None,
                "writes": [("branch:to:get_address", None)],
            },
        ],
        [
            {
                "step": each.metadata["step"],
                "source": each.metadata["source"],
                "next": each.next,
                "parent": id_of(each.parent_config),
                "writes": [write[1:] for write in writes_of(found)] if found else None,
            }
            for each, found in zip(history, read, strict=True)
        ],
        "the history of a run of one node, newest first",
    )


@rule(MUST, source="pregel/_loop.py; pregel/main.py: get_state")
@pytest.mark.parametrize(
    ("builder", "given", "state"),
    [(counter, lambda count: {"count": count}, lambda count: {"count": count}), (plain_counter, int, int)],
    ids=["dict", "int"],
)
def test_history_keeps_the_state_of_each_run(
    builder: Callable[[], Any],
    given: Callable[[int], Any],
    state: Callable[[int], Any],
    drive_graph: DriveGraph,
    thread: Thread,
) -> None:
    """Three runs on one thread leave three results in its history, newest first, and the last one is the state.

    Whoever looks at a thread sees how it came to be: a result that was overwritten is lost for audit and for undo.
    """
    graph, config = drive_graph(builder()), config_of(thread)
    returned = [graph.invoke(given(count), config) for count in range(3)]
    history = graph.get_state_history(config)
    expect_same([state(1), state(2), state(3)], returned, "what the runs returned")
    expect_same(state(3), graph.get_state(config).values, "the state of the thread")
    expect_same([state(3), state(2), state(1)], [each.values for each in history if not each.next], "the results kept")


@rule(MUST, source="pregel/main.py: get_state of a config with checkpoint_id")
def test_each_snapshot_of_the_history_can_be_read_alone(drive_graph: DriveGraph, thread: Thread) -> None:
    """`get_state` with a config from the history gives that snapshot, not a later one.

    Time travel starts there: a fork from a snapshot that reads otherwise begins with another state than was chosen.
    """
    graph, config = drive_graph(steps("first", "second")), config_of(thread)
    graph.invoke({"log": ["start"]}, config)
    history = graph.get_state_history(config)
    alone = [graph.get_state(each.config) for each in history]
    expect_same(
        [(each.values, each.next, each.metadata, each.created_at) for each in history],
        [(each.values, each.next, each.metadata, each.created_at) for each in alone],
        "the snapshots, each read alone",
    )


@rule(MUST, source="pregel/main.py: get_state_history calls list with filter, before and limit")
@pytest.mark.parametrize(
    ("keywords", "expected"),
    [
        ({}, [6, 5, 4, 3, 2, 1, 0, -1]),
        ({"limit": 3}, [6, 5, 4]),
        ({"filter": {"source": "input"}}, [3, -1]),
        ({"filter": {"source": "loop"}, "limit": 2}, [6, 5]),
        ({"filter": {"step": 4}}, [4]),
        ({"filter": {"source": "input", "step": 4}}, []),
    ],
    ids=["all", "limit", "filter", "filter-and-limit", "step", "none"],
)
def test_history_can_be_narrowed(
    keywords: dict[str, Any], expected: list[int], drive_graph: DriveGraph, thread: Thread
) -> None:
    """`get_state_history` gives the newest snapshots that fit its filter, as many as its limit.

    Long threads are shown page by page and searched by source and step: what is left out here is never seen.
    """
    graph, config = drive_graph(steps("first", "second")), config_of(thread)
    graph.invoke({"log": ["start"]}, config)
    graph.invoke({"log": ["again"]}, config)
    found = graph.get_state_history(config, **keywords)
    expect_same(expected, [each.metadata["step"] for each in found], "the steps in the history")


@rule(MUST, source="pregel/main.py: get_state_history calls list with before")
def test_history_is_paged_with_before(drive_graph: DriveGraph, thread: Thread) -> None:
    """Pages of a history, each before the last snapshot of the one before, give every snapshot exactly once.

    An application that shows a long conversation asks in this way: a repeated or missing snapshot is a wrong page.
    """
    graph, config = drive_graph(steps("first", "second", "third")), config_of(thread)
    graph.invoke({"log": ["start"]}, config)
    first = graph.get_state_history(config, limit=2)
    second = graph.get_state_history(config, limit=2, before=first[-1].config)
    third = graph.get_state_history(config, limit=2, before=second[-1].config)
    expect_same(
        [[3, 2], [1, 0], [-1]],
        [[each.metadata["step"] for each in page] for page in (first, second, third)],
        "the steps on each page",
    )


@rule(MUST, source="BaseCheckpointSaver: get_checkpoint_metadata merges config metadata; pregel/_loop.py")
def test_history_is_found_by_the_metadata_of_the_run(drive_graph: DriveGraph, thread: Thread) -> None:
    """Metadata that the caller gives with a run is kept with its checkpoints, and the history can be filtered by it.

    Applications mark runs with a user, a request or an experiment, and look them up by that.
    """
    graph, config = drive_graph(counter()), config_of(thread)
    graph.invoke({"count": 1}, {**config, "metadata": {"request": "first"}})
    graph.invoke({"count": 10}, {**config, "metadata": {"request": "second"}})
    found = graph.get_state_history(config, filter={"request": "first"})
    expect_same([{"count": 2}, {"count": 1}, {}], [each.values for each in found], "the states of the first run")


@rule(MUST, source="Checkpoint.id: unique and monotonically increasing; Checkpoint.ts: ISO 8601")
def test_checkpoints_of_a_run_sort_by_time(drive_graph: DriveGraph, saver: SaverDrive, thread: Thread) -> None:
    """Checkpoints have ids that sort in the order in which they were made, and a time in the same order.

    The greatest id is the thread's state, and `before` cuts the history there: an id that changes in storage, or is
    replaced by the backend's own, makes an older state the current one.
    """
    drive_graph(steps("first", "second", "third")).invoke({"log": []}, config_of(thread))
    found = sorted(saver.list(thread.config()), key=lambda each: each.checkpoint["id"])
    expect_same([-1, 0, 1, 2, 3], [each.metadata["step"] for each in found], "the steps in the order of the ids")
    times = [each.checkpoint["ts"] for each in found]
    expect_same(sorted(times), times, "the times in the order of the ids")


@rule(MUST, source="pregel/main.py: a graph without a checkpointer")
def test_a_graph_without_a_saver_keeps_nothing(drive_graph: DriveGraph, saver: SaverDrive, thread: Thread) -> None:
    """A graph compiled without a saver keeps nothing, also beside one that has a saver and runs on the same thread.

    A saver belongs to the graphs that it is given to: one that registers itself elsewhere stores what nobody asked for.
    """
    kept, config = drive_graph(counter()), config_of(thread)
    kept.invoke({"count": 1}, config)
    GraphDrive(saver, counter().compile()).invoke({"count": 100}, config)
    expect_same({"count": 2}, kept.get_state(config).values, "the state of the thread")
    expect_same(3, len(kept.get_state_history(config)), "the number of its checkpoints")


# -- state that goes on


@rule(MUST, source="pregel/_loop.py: a run starts from the thread's latest checkpoint")
def test_new_input_builds_on_the_saved_state(drive_graph: DriveGraph, thread: Thread) -> None:
    """New input on a thread, to a new graph object, adds to keys with a reducer, replaces plain ones, keeps the rest.

    That is what makes a conversation: otherwise each message would start from nothing, or repeat what was said.
    """
    config = config_of(thread)
    drive_graph(steps("first")).invoke({"log": ["start"], "topic": "cats"}, config)
    drive_graph(steps("first")).invoke({"log": ["again"]}, config)
    last = drive_graph(steps("first")).invoke({"log": ["once more"], "topic": "dogs"}, config)
    log = ["start", "first", "again", "first", "once more", "first"]
    expect_same({"log": log, "topic": "dogs"}, last, "the result of the third run")
    expect_same({"log": log, "topic": "dogs"}, drive_graph(steps("first")).get_state(config).values, "the saved state")


@rule(MUST, source="graph/message.py: add_messages; BaseCheckpointSaver.serde")
def test_a_conversation_goes_on(drive_graph: DriveGraph, thread: Thread) -> None:
    """Messages come back as messages, with their ids: later runs add, replace and remove them.

    An agent that reads its own messages as dictionaries fails in its next model call; without ids, it repeats them.
    """

    def answer(state: Chat) -> dict[str, list[AnyMessage]]:
        return {"messages": [AIMessage("fine", id=f"answer to {state['messages'][-1].content}")]}

    builder = StateGraph(Chat)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    graph, config = drive_graph(builder), config_of(thread)
    graph.invoke({"messages": [HumanMessage("hello", id="first"), HumanMessage("how are you?", id="second")]}, config)
    graph.invoke({"messages": [RemoveMessage(id="first"), HumanMessage("and you?", id="second")]}, config)
    expect_same(
        [
            (HumanMessage, "and you?", "second"),
            (AIMessage, "fine", "answer to how are you?"),
            (AIMessage, "fine", "answer to fine"),
        ],
        [(type(each), each.content, each.id) for each in graph.get_state(config).values["messages"]],
        "the messages of the thread",
    )


@rule(MUST, source="pregel/_loop.py: checkpoints are addressed by thread")
def test_threads_of_one_graph_do_not_mix(drive_graph: DriveGraph, new_thread: Callable[..., Thread]) -> None:
    """Runs on several threads, taking turns, each see only their own thread; another thread id starts from nothing.

    A thread is one user's conversation: state that crosses over shows one user what another one said.
    """
    graph = drive_graph(steps("first"))
    configs = [config_of(new_thread(hint)) for hint in ("", "0", "/1", "%")]
    for turn in ("start", "again"):
        for position, config in enumerate(configs):
            graph.invoke({"log": [f"{turn} on {position}"]}, config)
    expect_same(
        [{"log": [f"start on {position}", "first", f"again on {position}", "first"]} for position in range(4)],
        [graph.get_state(config).values for config in configs],
        "the states of the threads",
    )
    untouched = graph.get_state(config_of(new_thread()))
    expect_same(({}, (), None), (untouched.values, untouched.next, untouched.created_at), "a thread without runs")


@rule(MUST, source="pregel/_executor.py, pregel/_loop.py: one saver serves all runs of a graph")
def test_threads_run_at_the_same_time(drive_graph: DriveGraph, new_thread: Callable[..., Thread]) -> None:
    """Eight runs at the same time, on threads of their own, each leave a whole history of their own.

    A server runs many users at once over one saver: what is shared between two runs mixes or loses their states.
    """
    graph = drive_graph(steps("first", "second"))
    configs = [config_of(new_thread()) for _ in range(8)]
    graph.batch([{"log": [f"start {number}"]} for number in range(8)], configs)
    expect_same(
        [({"log": [f"start {number}", "first", "second"]}, [2, 1, 0, -1]) for number in range(8)],
        [
            (graph.get_state(config).values, [each.metadata["step"] for each in graph.get_state_history(config)])
            for config in configs
        ],
        "state and steps of each thread",
    )


@rule(MUST, source="pregel/_loop.py, pregel/main.py: the thread id reaches the saver as text")
def test_a_thread_id_that_is_a_number_is_its_text(drive_graph: DriveGraph, new_thread: Callable[..., Thread]) -> None:
    """A thread that was run with the id 12345 is read with 12345 and with "12345".

    Ids often come from a database as numbers and from a web page as text: both mean the same conversation.
    """
    number = uuid.uuid4().int % 10**15
    graph = drive_graph(counter())
    new_thread(id=str(number))
    graph.invoke({"count": 1}, {"configurable": {"thread_id": number}})
    found = [graph.get_state({"configurable": {"thread_id": id}}).values for id in (number, str(number))]
    expect_same([{"count": 2}, {"count": 2}], found, "the state, read with the number and with its text")


# -- durability


@rule(MUST, source="pregel/_loop.py: durability")
@pytest.mark.parametrize(
    ("durability", "expected"),
    [("sync", [2, 1, 0, -1]), ("async", [2, 1, 0, -1]), ("exit", [2])],
    ids=["sync", "async", "exit"],
)
def test_each_durability_leaves_its_checkpoints(
    durability: str, expected: list[int], drive_graph: DriveGraph, thread: Thread
) -> None:
    """Durability `sync` and `async` leave every super-step, `exit` only the last; the state is the same.

    With `exit`, one checkpoint has all channels as new ones and no parent: a saver that relies on the steps before it
    loses values.
    """
    graph, config = drive_graph(steps("first", "second")), config_of(thread)
    graph.invoke({"log": ["start"], "topic": "cats"}, config, durability=durability)
    history = graph.get_state_history(config)
    expect_same(expected, [each.metadata["step"] for each in history], "the steps in the history")
    expected_state = {"log": ["start", "first", "second"], "topic": "cats"}
    expect_same(expected_state, graph.get_state(config).values, "the state")


@rule(MUST, source="pregel/_loop.py: durability exit puts on the checkpoint that the run started from")
def test_runs_with_durability_exit_build_on_each_other(drive_graph: DriveGraph, thread: Thread) -> None:
    """With durability `exit`, the checkpoint of each run is the child of the last run's, and its state goes on.

    The versions of channels jump from one stored checkpoint to the next; values are found by them all the same.
    """
    graph, config = drive_graph(steps("first", "second")), config_of(thread)
    for given in ("start", "again", "once more"):
        graph.invoke({"log": [given]}, config, durability="exit")
    log = ["start", "first", "second", "again", "first", "second", "once more", "first", "second"]
    history = graph.get_state_history(config)
    expect_same([log, log[:6], log[:3]], [each.values["log"] for each in history], "the logs in the history")
    expect_same(
        [*(id_of(each.config) for each in history[1:]), None],
        [id_of(each.parent_config) for each in history],
        "the parents of the checkpoints",
    )


# -- branches, loops, sends


@rule(MUST, source="pregel/_algo.py: apply_writes; pending writes are read in the order of task paths")
def test_the_nodes_of_a_super_step_share_a_checkpoint(drive_graph: DriveGraph, thread: Thread) -> None:
    """Nodes that run in parallel share one checkpoint, and a join waits for the longer branch.

    What the join has seen so far is a set in a channel: a saver that loses it runs the join twice, or never.
    """
    builder = StateGraph(Log)
    for name in ("split", "left", "right", "further_right", "join"):
        builder.add_node(name, logging(name))
    builder.add_edge(START, "split")
    builder.add_edge("split", "left")
    builder.add_edge("split", "right")
    builder.add_edge("right", "further_right")
    builder.add_edge(["left", "further_right"], "join")
    graph, config = drive_graph(builder), config_of(thread)
    # LangGraph hands out the live set of a join: only with sync is it stored before the next super-step adds to it
    graph.invoke({"log": []}, config, durability="sync")
    history = graph.get_state_history(config)[::-1]
    expect_same(
        [("__start__",), ("split",), ("left", "right"), ("further_right",), ("join",), ()],
        [each.next for each in history],
        "what ran next after each checkpoint, oldest first",
    )
    expect_same(["split", "left", "right", "further_right", "join"], history[-1].values["log"], "the log")


@rule(MUST, source="pregel/_algo.py: PUSH tasks by their index; put_writes with task_path")
def test_results_of_sends_come_in_the_order_of_the_sends(drive_graph: DriveGraph, thread: Thread) -> None:
    """Twelve Sends to one node give twelve results in the order in which they were sent, also when read again.

    The order comes from task paths with numbers in them: sorted as bare text, the tenth result comes before the second.
    """
    builder = StateGraph(Log)
    builder.add_node("work", lambda item: {"log": [f"item {item}"]})
    builder.add_conditional_edges(START, lambda state: [Send("work", number) for number in range(12)], ["work"])
    graph, config = drive_graph(builder), config_of(thread)
    expected = [f"item {number}" for number in range(12)]
    expect_same(expected, graph.invoke({"log": []}, config)["log"], "the result")
    expect_same(expected, graph.get_state(config).values["log"], "the saved state")
    [sent] = [each for each in graph.get_state_history(config) if each.next == ("work",) * 12]
    expect_same(
        [{"log": [each]} for each in expected], [task.result for task in sent.tasks], "the results of the tasks"
    )


@rule(MUST, source="graph/state.py: Command(goto) writes branch:to:<node>")
def test_a_loop_leaves_a_checkpoint_for_each_turn(drive_graph: DriveGraph, thread: Thread) -> None:
    """A node that goes back to itself with `Command(goto=...)` leaves a checkpoint for each turn.

    The same channel is written, emptied and written again in each turn: its earlier versions must stay what they were.
    """

    def add_one(state: Counter) -> Command[Literal["add_one", "__end__"]]:
        count = state["count"] + 1
        return Command(update={"count": count}, goto="add_one" if count < 5 else "__end__")

    builder = StateGraph(Counter)
    builder.add_node("add_one", add_one)
    builder.add_edge(START, "add_one")
    graph, config = drive_graph(builder), config_of(thread)
    graph.invoke({"count": 0}, config)
    expect_same(
        [({}, ("__start__",)), *(({"count": count}, ("add_one",)) for count in range(5)), ({"count": 5}, ())],
        [(each.values, each.next) for each in graph.get_state_history(config)][::-1],
        "state and next node after each checkpoint, oldest first",
    )


# -- functional API


@rule(MUST, source="func/__init__.py: entrypoint keeps __previous__")
def test_an_entrypoint_gets_what_its_last_run_saved(saver: SaverDrive, thread: Thread) -> None:
    """An entrypoint gets as `previous` what its last run on the thread saved, which need not be what it returned.

    That is the functional API's only memory between runs.
    """

    @entrypoint(checkpointer=saver.raw)
    def total(number: int, *, previous: Any = None) -> Any:
        return entrypoint.final(value=f"{previous} and {number}", save=[*(previous or []), number])

    graph, config = GraphDrive(saver, total), config_of(thread)
    expect_same(
        ["None and 1", "[1] and 2", "[1, 2] and 3"],
        [graph.invoke(number, config) for number in (1, 2, 3)],
        "what the runs returned",
    )
