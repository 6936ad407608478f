"""What LangGraph's engine does with a saver beside plain reads and writes: how it looks at it, and in what order."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypedDict

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.checkpoint.base.id import uuid6
from langgraph.graph import END, START, StateGraph

from langgraph_conformance.drive import GraphDrive, SaverDrive
from langgraph_conformance.expect import expect_no_errors, expect_raises, expect_same, expect_true
from langgraph_conformance.rules import MUST, QUIRK, SHOULD, rule
from langgraph_conformance.threads import Stored, Thread, ids_of, writes_of

CALLS_MAY_TAKE = 10
"""Seconds after which a few calls of a check are taken for ones that never end."""


def values_of(found: CheckpointTuple | None) -> Any:
    return None if found is None else dict(found.checkpoint["channel_values"])


# -- how the engine looks at a saver


class State(TypedDict):
    count: int


def counting() -> StateGraph[Any]:
    """A graph that adds one."""
    builder: Any = StateGraph(State)
    builder.add_node("add_one", lambda state: {"count": state["count"] + 1})
    builder.add_edge(START, "add_one")
    builder.add_edge("add_one", END)
    graph: StateGraph[Any] = builder
    return graph


@rule(MUST, source="langgraph/types.py ensure_valid_checkpointer; StateGraph.compile")
def test_a_graph_compiles_and_runs_with_the_saver(thread: Thread, drive_graph: Callable[[Any], GraphDrive]) -> None:
    """A graph compiles with the saver, runs, and has a state afterwards.

    `compile` takes only instances of BaseCheckpointSaver, and is the first thing that a user does with a saver.
    """
    graph = drive_graph(counting())
    graph.invoke({"count": 1}, thread.config())
    expect_same({"count": 2}, graph.get_state(thread.config()).values, "the state after the run")


@rule(MUST, source="langgraph/types.py ensure_valid_checkpointer")
def test_a_saver_is_a_base_checkpoint_saver(saver: SaverDrive) -> None:
    """A saver is an instance of BaseCheckpointSaver: `compile` refuses anything else."""
    expect_true(
        isinstance(saver.raw, BaseCheckpointSaver), "the saver's type", "a BaseCheckpointSaver", type(saver.raw).__mro__
    )


@rule(MUST, source="pregel/_loop.py (if not self.checkpointer)")
def test_a_saver_is_true(saver: SaverDrive) -> None:
    """`bool(saver)` is True, also while it holds nothing: a saver has no length, or says itself that it is true.

    The engine asks `if not self.checkpointer`. A saver with a `__len__` is false while it is empty, so that the first
    run of an application stores nothing, without an error.
    """
    expect_same(True, bool(saver.raw), "bool(saver)")
    expect_true(
        hasattr(type(saver.raw), "__bool__") or not hasattr(type(saver.raw), "__len__"),
        "bool(saver) of an empty saver",
        "True: no __len__ without a __bool__",
        "a __len__ and no __bool__",
    )


@rule(MUST, source="langgraph/types.py ensure_valid_checkpointer (checkpointer not in (None, True, False))")
@pytest.mark.parametrize("other", [None, True, False])
def test_a_saver_equals_nothing_else(saver: SaverDrive, other: object) -> None:
    """A saver is not equal to None, True or False, which have a meaning of their own to `compile`.

    `checkpointer=False` switches checkpoints off: a saver that compares equal to it is one that is not used.
    """
    expect_same((False, True), (saver.raw == other, saver.raw != other), f"saver == {other} and saver != {other}")


@rule(MUST, source="pregel/_checkpoint.py put_writes_accepts_task_path")
def test_put_writes_shows_its_task_path(saver: SaverDrive) -> None:
    """The signature of `put_writes` has a parameter `task_path`, also through whatever wraps the method.

    The engine looks at the signature, and does not give the path to a method that shows none, such as one behind a
    decorator with `*args, **kwargs`. Without paths the writes of parallel tasks are put in another order than they had.
    """
    name = saver.name_of("put_writes")
    names = list(inspect.signature(getattr(saver.raw, name)).parameters)
    expect_true("task_path" in names, f"the parameters of {name}", "task_path among them", names)


@rule(SHOULD, source="BaseCheckpointSaver.config_specs")
def test_config_specs_is_a_list(saver: SaverDrive) -> None:
    """`config_specs` is a list, empty where the saver asks for nothing in a config.

    A graph's own specs are made with it.
    """
    expect_true(isinstance(saver.raw.config_specs, list), "config_specs", "a list", saver.raw.config_specs)


# -- the configs that the engine passes

CALLS: Mapping[str, Callable[[SaverDrive, Stored, Any], object]] = {
    "put": lambda saver, stored, config: saver.put(
        config, {**stored.checkpoint, "id": str(uuid6())}, dict(stored.metadata), dict(stored.new_versions)
    ),
    "put_writes": lambda saver, stored, config: saver.put_writes(config, [("channel", "written")], "task", "~path"),
    "get_tuple": lambda saver, stored, config: saver.get_tuple(config),
    "list": lambda saver, stored, config: saver.list(config),
}


@rule(MUST, source="pregel/_loop.py checkpoint_config: the whole config of the run is passed on")
@pytest.mark.parametrize("call", CALLS)
def test_engine_objects_in_the_config_are_accepted(saver: SaverDrive, thread: Thread, call: str) -> None:
    """The config holds the engine's own objects and the user's beside the address: functions, locks, the saver itself.

    They are passed to every call, and cannot be serialised. A saver that stores or hashes the config as it is ends each
    run with an error.
    """
    stored = thread.put({"channel": "value"})
    config: Any = thread.config(
        checkpoint_id=stored.id,
        checkpoint_map={"": stored.id},
        __pregel_send=lambda writes: None,
        __pregel_read=lambda *names: None,
        __pregel_checkpointer=saver.raw,
        __pregel_scratchpad=threading.Lock(),
        __pregel_runtime=object(),
        __pregel_task_id="task",
        user_object=object(),
        user_function=lambda: None,
    )
    config.update(callbacks=[object()], tags=["tag"], recursion_limit=25, metadata={"object": object(), "user": "me"})
    CALLS[call](saver, stored, config)
    expect_same({"channel": "value"}, values_of(saver.get_tuple(stored.config)), "the checkpoint after the call")


@rule(MUST, source="pregel/_algo.py task_checkpoint_ns: node:task id, levels joined by |")
def test_the_namespaces_of_nested_subgraphs_are_apart(thread: Thread) -> None:
    """The root, a subgraph, a subgraph in it and a second call of that one each have their own checkpoints.

    Their namespaces begin alike: each level adds a node's name and a task's id.
    """
    outer, inner, again = (f"{name}:{uuid6()}" for name in ("outer", "inner", "inner"))
    namespaces = ["", outer, f"{outer}|{inner}", f"{outer}|{again}", f"{outer}|{inner}|1", "outer", "outer|inner"]
    for number, ns in enumerate(namespaces):
        thread.put({"channel": number}, ns=ns)
    expect_same(
        {ns: {"channel": number} for number, ns in enumerate(namespaces)},
        {ns: values_of(thread.saver.get_tuple(thread.config(ns=ns))) for ns in namespaces},
        "the latest values of each namespace",
    )


# -- what must come back exactly

FIELDS: Mapping[str, list[tuple[str, Any]]] = {
    "id": [("id", "1f1ec000-0000-6001-bfff-0123456789ab"), ("id", "1f1ec000-0000-6001-8000-0000000000ff")],
    "ts": [("ts", "2026-01-02T03:04:05.678901+00:00"), ("ts", "2026-01-02T03:04:05+00:00")],
    "v": [("v", 3), ("v", 4)],
    "updated_channels": [
        ("updated_channels", None),
        ("updated_channels", []),
        ("updated_channels", ["b", "a", "c"]),
    ],
}


@rule(MUST, source="pregel/_algo.py makes task ids from id; pregel/_loop.py reads updated_channels; StateSnapshot")
@pytest.mark.parametrize("field", FIELDS)
def test_fields_of_a_checkpoint_come_back_exactly(thread: Thread, field: str) -> None:
    """`id`, `ts`, `v` and `updated_channels` of a checkpoint come back as they were put, character by character.

    Task ids are made from the checkpoint's id, and writes are found by them: another spelling is another task, which
    runs again. `updated_channels` says which nodes may have to run; None means that nobody knows.
    """
    made = [
        thread.make({"channel": 1}, ns=f"{number}", extra={name: value})
        for number, (name, value) in enumerate(FIELDS[field])
    ]
    for each in made:
        thread.store(each)
    expect_same(
        [value for _, value in FIELDS[field]],
        [thread.read(each).checkpoint.get(field) for each in made],
        f"{field} of each checkpoint",
    )


@rule(MUST, source="pregel/_loop.py: metadata['step'] + 1")
def test_steps_are_integers(thread: Thread) -> None:
    """`step` in the metadata comes back as the integer it was, negative ones and 0 included.

    A run goes on with this step plus one: as a text, a float, or when it is missing, no run starts any more.
    """
    steps = [-2, -1, 0, 1, 10, 10**6]
    stored = [thread.put({"channel": 1}, metadata={"step": step}) for step in steps]
    listed = {found.checkpoint["id"]: found.metadata.get("step") for found in thread.saver.list(thread.config())}
    expect_same(
        {"get_tuple": steps, "list": steps},
        {
            "get_tuple": [thread.read(each).metadata.get("step") for each in stored],
            "list": [listed.get(each.id) for each in stored],
        },
        "the steps",
    )


# -- order of calls


@rule(MUST, source="pregel/_loop.py: put_writes and put are submitted in the background")
def test_writes_may_come_before_their_checkpoint(thread: Thread) -> None:
    """`put_writes` for a checkpoint that is not yet put succeeds, and the writes are there when it is.

    Both are stored in the background, and a quick task's writes arrive first. A foreign key, or a put that clears what
    it finds, loses them: the task runs again after a crash.
    """
    made = thread.make({"channel": "value"})
    thread.write(made, [("channel", "early"), ("other", ["early"])], task="early", path="~1")
    thread.store(made)
    thread.write(made, [("channel", "late")], task="late", path="~2")
    expect_same(
        [("early", "channel", "early"), ("early", "other", ["early"]), ("late", "channel", "late")],
        writes_of(thread.read(made)),
        "the pending writes",
    )


@rule(MUST, source="pregel/_loop.py and pregel/main.py read what they have just written")
def test_every_read_sees_the_writes_before_it(thread: Thread) -> None:
    """When `put` or `put_writes` has returned, the next read in any way sees what it stored.

    A run reads at its start what the one before left, without waiting in between. A cache, a read replica or a write
    that is only queued shows it the state before.
    """
    seen, expected, stored = [], [], None
    for count in range(20):
        stored = thread.put({"count": count}, parent=stored)
        thread.write(stored, [("count", count)])
        listed = thread.saver.list(thread.config(), limit=1)
        for found in (thread.latest(), thread.read(stored), *listed):
            seen.append((values_of(found), writes_of(found)))
        expected += [({"count": count}, [("task", "count", count)])] * 3
    expect_same(expected, seen, "values and writes of the latest, by id and listed, after each of 20 steps")


@rule(MUST, source="pregel/_loop.py: a graph and its subgraphs put at the same time, on one thread")
def test_puts_in_several_namespaces_at_the_same_time_are_all_stored(saver: SaverDrive, thread: Thread) -> None:
    """Checkpoints that are put at the same time in several namespaces of a thread are all stored, each in its own.

    A graph and its parallel subgraphs put from threads, or tasks, of their own. One connection that all of them use at
    once, or a put that reads the thread and writes it back, loses some.
    """
    namespaces = ["", "a:1", "b:2", "b:2|c:3"]
    chains: dict[str, list[Stored]] = {ns: [] for ns in namespaces}
    for count in range(5):
        made = {
            ns: thread.make({"count": [ns, count]}, ns=ns, parent=chain[-1] if chain else None)
            for ns, chain in chains.items()
        }
        results = saver.together(
            [
                saver.later.put(
                    thread.config(ns=ns, checkpoint_id=each.parent.id if each.parent else None),
                    dict(each.checkpoint),
                    dict(each.metadata),
                    dict(each.new_versions),
                )
                for ns, each in made.items()
            ]
        )
        expect_no_errors(results, "puts at the same time")
        for ns, each in made.items():
            chains[ns].append(each)
    expect_same(
        {ns: [(each.id, dict(each.values)) for each in reversed(chain)] for ns, chain in chains.items()},
        {
            ns: [(found.checkpoint["id"], values_of(found)) for found in saver.list(thread.config(ns=ns))]
            for ns in namespaces
        },
        "id and values of the checkpoints listed in each namespace",
    )


@rule(MUST, source="pregel/_loop.py: put and put_writes are submitted in the background")
def test_a_put_and_the_writes_of_its_tasks_at_the_same_time_are_all_stored(saver: SaverDrive, thread: Thread) -> None:
    """A checkpoint and the writes of the tasks that run from it, stored at the same time, are all there.

    The engine waits for neither before it starts the other.
    """
    made = thread.make({"channel": "value"})
    writes = [(f"task{number}", f"~{number}") for number in range(6)]
    results = saver.together(
        [
            saver.later.put(thread.config(), dict(made.checkpoint), dict(made.metadata), dict(made.new_versions)),
            *(saver.later.put_writes(made.config, [("channel", task)], task, path) for task, path in writes),
        ]
    )
    expect_no_errors(results, "a put and six put_writes at the same time")
    found = thread.read(made)
    expect_same(
        ({"channel": "value"}, {(task, "channel", task) for task, _ in writes}),
        (values_of(found), set(writes_of(found))),
        "values and pending writes",
    )


# -- errors


def put_a_lock(saver: SaverDrive, thread: Thread) -> None:
    made = thread.make({"channel": threading.Lock()})
    saver.put(thread.config(), dict(made.checkpoint), dict(made.metadata), dict(made.new_versions))


def write_a_lock(saver: SaverDrive, thread: Thread) -> None:
    made = thread.make({"channel": 1})
    saver.put_writes(made.config, [("channel", threading.Lock())], "task")


FAILING: Mapping[str, Callable[[SaverDrive, Thread], None]] = {"put": put_a_lock, "put_writes": write_a_lock}


@rule(MUST, source="pregel/_loop.py: futures of put and put_writes raise what these raised")
@pytest.mark.parametrize("call", FAILING)
def test_errors_reach_the_caller(saver: SaverDrive, thread: Thread, call: str) -> None:
    """`put` and `put_writes` raise when they cannot store what they were given, here a lock as a value.

    A run ends with the error. When it is only logged, the user learns of the lost state at the next start.
    """
    expect_raises(Exception, lambda: FAILING[call](saver, thread), f"{call} of a lock, which cannot be serialised")


@rule(MUST, source="pregel/_loop.py: other runs go on with the same saver")
@pytest.mark.parametrize("call", FAILING)
def test_the_saver_works_after_an_error(saver: SaverDrive, thread: Thread, call: str) -> None:
    """After a call that raised, all others work: `put`, `put_writes`, `get_tuple` and `list`.

    One saver serves all runs. A transaction or a lock that an error leaves open would end them all.
    """
    first = thread.put({"channel": "before"})
    raised(lambda: FAILING[call](saver, thread))
    second = thread.put({"channel": "after"}, parent=first)
    thread.write(second, [("channel", "written")])
    found = thread.latest()
    expect_same(
        ({"channel": "after"}, [("task", "channel", "written")], [second.id, first.id]),
        (values_of(found), writes_of(found), thread.listed_ids()),
        "the latest values and writes, and the ids listed",
    )


def raised(call: Callable[[], object]) -> bool:
    """Whether a call raised; that it does is for another rule to say."""
    try:
        call()
    except Exception:
        return True
    return False


# -- lists that are not read to their end


@rule(MUST, source="_internal/_replay.py returns from within the loop over list")
def test_a_list_may_be_left_after_its_first_item(saver: SaverDrive, thread: Thread) -> None:
    """When a `list` is left after its first item, every other call still works.

    A replayed subgraph takes the first item and leaves. A lock, cursor or connection that the iterator still holds
    stops the application there.
    """
    first, second, third = thread.chain(3)
    seen: dict[str, Any] = {}

    def calls() -> None:
        seen["first"] = ids_of(saver.first(thread.config()))
        seen["first before"] = ids_of(saver.first(thread.config(), before=third.config, limit=1))
        seen["get_tuple"] = values_of(saver.get_tuple(first.config))
        thread.write(third, [("count", "written")])
        fourth = thread.put({"count": 3}, parent=third)
        seen["latest"] = thread.latest().checkpoint["id"] == fourth.id
        seen["listed"] = len(thread.listed_ids())

    hung = saver.hangs_in(calls, CALLS_MAY_TAKE)
    expect_true(
        not hung, "calls after a list that was left", "them to return", f"none within {CALLS_MAY_TAKE} s: {seen}"
    )
    expect_same(
        {
            "first": [third.id],
            "first before": [second.id],
            "get_tuple": {"count": 0},
            "latest": True,
            "listed": 4,
        },
        seen,
        "what the calls gave",
    )


def call_within_a_list(saver: SaverDrive, stored: Stored, done: list[str]) -> None:
    """Read and write in a loop over ``list``; notes in ``done`` what returned."""
    config = stored.config

    async def asynchronously() -> None:
        async for _ in saver.raw.alist(config):
            await saver.raw.aget_tuple(config)
            done.append("read")
            await saver.raw.aput_writes(config, [("channel", 1)], "task")
            done.append("written")

    def synchronously() -> None:
        for _ in saver.raw.list(config):
            saver.raw.get_tuple(config)
            done.append("read")
            saver.raw.put_writes(config, [("channel", 1)], "task")
            done.append("written")

    if saver.mode == "async":
        saver.run(asynchronously)
    else:
        synchronously()


@rule(
    QUIRK,
    source="pregel/main.py reads list to its end first, so as not to hold the cursor",
    officials={
        "InMemorySaver": "reads and writes work",
        "SqliteSaver": "reads never return",
        "PostgresSaver": "reads never return",
    },
)
def test_calls_inside_a_loop_over_a_list(saver: SaverDrive, thread: Thread, observe: Callable[[object], None]) -> None:
    """What becomes of reads and writes inside a loop over `list`.

    LangGraph never makes them. Users do, and their application stands still: `list(saver.list(...))` avoids it.
    """
    stored = thread.put({"channel": 1})
    done: list[str] = []
    hung = saver.hangs_in(lambda: call_within_a_list(saver, stored, done), 2)
    words = {(): "reads never return", ("read",): "reads work, writes never return"}
    observe(words.get(tuple(done), "the list never ends") if hung else "reads and writes work")
