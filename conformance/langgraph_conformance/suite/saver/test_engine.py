"""What LangGraph's engine does with a saver beside plain reads and writes: how it looks at it, and in what order."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypedDict

import pytest
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.graph import END, START, StateGraph

from langgraph_conformance.drive import GraphDrive, SaverDrive
from langgraph_conformance.expect import expect_raises, expect_same, expect_true
from langgraph_conformance.rules import MUST, SHOULD, rule
from langgraph_conformance.threads import Stored, Thread, writes_of


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


@rule(MUST, source="pregel/_loop.py and _internal/_replay.py pass on the whole config of the run")
@pytest.mark.parametrize("read", ["get_tuple", "list"])
def test_engine_objects_in_the_config_of_a_read_are_accepted(saver: SaverDrive, thread: Thread, read: str) -> None:
    """A read finds its checkpoint also when the config holds functions, locks and other objects beside the address.

    The engine reads with the config of its run. A saver that copies it in depth, hashes or logs it as JSON ends the run
    before it began.
    """
    stored = thread.put({"channel": "value"})
    config: Any = thread.config(
        checkpoint_id=stored.id,
        checkpoint_map={"": stored.id},
        __pregel_send=lambda writes: None,
        __pregel_scratchpad=threading.Lock(),
        __pregel_runtime=object(),
        __pregel_task_id="task",
        user_object=object(),
        user_function=lambda: None,
    )
    config.update(callbacks=[object()], tags=["tag"], recursion_limit=25, metadata={"user": "me"})
    found = saver.list(config) if read == "list" else [saver.get_tuple(config)]
    expect_same([{"channel": "value"}], [values_of(each) for each in found], "the channel values that are found")


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


@rule(MUST, source="pregel/_loop.py and pregel/main.py read what they have just written")
def test_every_read_sees_the_writes_before_it(thread: Thread) -> None:
    """When `put` or `put_writes` has returned, the next read in any way sees what it stored.

    A run reads at its start what the one before left, without waiting in between. A cache, a read replica or a write
    that is only queued shows it the state before.
    """
    seen: list[Any] = []
    stored: Stored | None = None
    for count in range(1, 11):
        made = thread.make({"count": count}, parent=stored)
        seen.append(thread.saver.get_tuple(made.config))
        stored = thread.store(made)
        seen.append([(values_of(found), writes_of(found)) for found in every_way(thread, stored)])
        thread.write(stored, [("count", count)])
        seen.append([(values_of(found), writes_of(found)) for found in every_way(thread, stored)])
    expected: list[Any] = []
    for count in range(1, 11):
        values, write = {"count": count}, ("task", "count", count)
        expected += [None, [(values, [])] * 3, [(values, [write])] * 3]
    expect_same(expected, seen, "before a put, after it and after put_writes, in each of 10 steps: values and writes")


def every_way(thread: Thread, stored: Stored) -> list[CheckpointTuple]:
    """The newest checkpoint as the latest, by its id and listed."""
    return [thread.latest(), thread.read(stored), *thread.saver.list(thread.config(), limit=1)]


# -- errors


def put_a_lock(saver: SaverDrive, thread: Thread) -> None:
    made = thread.make({"channel": threading.Lock()})
    saver.put(thread.config(), dict(made.checkpoint), dict(made.metadata), dict(made.new_versions))


def write_a_lock(saver: SaverDrive, thread: Thread) -> None:
    made = thread.make({"channel": 1})
    saver.put_writes(made.config, [("channel", threading.Lock())], "task")


FAILING: Mapping[str, Callable[[SaverDrive, Thread], None]] = {"put": put_a_lock, "put_writes": write_a_lock}


@rule(MUST, source="pregel/_loop.py: the futures of put raise what it raised")
def test_errors_reach_the_caller(saver: SaverDrive, thread: Thread) -> None:
    """`put` raises when it cannot store what it was given, here a lock as a value.

    A run ends with the error. When it is only logged, the user learns of the lost state at the next start.
    """
    expect_raises(Exception, lambda: put_a_lock(saver, thread), "put of a lock, which cannot be serialised")


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
