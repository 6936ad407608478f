"""What is special about ReferenceSaver: where it does more than InMemorySaver, and how it stays cheap."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypedDict

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import END, START, StateGraph
from langgraph_reference import ReferenceSaver

Version = str | int | float


def config_of(thread: str = "t", ns: str = "", checkpoint_id: str | None = None, **more: Any) -> RunnableConfig:
    configurable = {"thread_id": thread, "checkpoint_ns": ns, **more}
    if checkpoint_id is not None:
        configurable["checkpoint_id"] = checkpoint_id
    return {"configurable": configurable}


def put(
    saver: ReferenceSaver | InMemorySaver,
    checkpoint_id: str,
    parent: str | None = None,
    values: dict[str, Any] | None = None,
    new: dict[str, Version] | None = None,
    versions: dict[str, Version] | None = None,
    *,
    thread: str = "t",
    ns: str = "",
    **metadata: Any,
) -> RunnableConfig:
    """Put a checkpoint that inherits its parent's versions (or has `versions`), moved on by `new`."""
    if versions is None:
        at = saver.get_tuple(config_of(thread, ns, parent)) if parent else None
        versions = {**at.checkpoint["channel_versions"]} if at else {}
    checkpoint: Any = {
        "v": 4,
        "id": checkpoint_id,
        "ts": "2025-01-01T00:00:00+00:00",
        "channel_values": values or {},
        "channel_versions": {**versions, **(new or {})},
        "versions_seen": {},
        "updated_channels": None,
    }
    return saver.put(config_of(thread, ns, parent), checkpoint, metadata, new or {})  # type: ignore[arg-type]


def values_of(saver: ReferenceSaver, checkpoint_id: str | None = None, thread: str = "t") -> dict[str, Any]:
    found = saver.get_tuple(config_of(thread, checkpoint_id=checkpoint_id))
    assert found is not None
    return found.checkpoint["channel_values"]


def ids_of(saver: ReferenceSaver, config: RunnableConfig | None, **conditions: Any) -> list[str]:
    return [item.checkpoint["id"] for item in saver.list(config, **conditions)]


def history_of(saver: ReferenceSaver, checkpoint_id: str, channels: Sequence[str] = ("m",)) -> dict[str, Any]:
    return dict(saver.get_delta_channel_history(config=config_of(checkpoint_id=checkpoint_id), channels=channels))


class CountingSerializer(JsonPlusSerializer):
    """Counts what is read back."""

    loads = 0

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        self.loads += 1
        return super().loads_typed(data)


# --- layout ---


class State(TypedDict):
    name: str


def test_an_engine_run_leaves_what_in_memory_saver_leaves() -> None:
    """Both savers are given the very same calls, recorded from one run."""
    reference, official = ReferenceSaver(), InMemorySaver()

    class Both(ReferenceSaver):
        def put(self, *args: Any) -> RunnableConfig:
            official.put(*args)
            return reference.put(*args)

        def put_writes(self, *args: Any) -> None:
            official.put_writes(*args)
            reference.put_writes(*args)

        def get_tuple(self, config: RunnableConfig) -> Any:
            return reference.get_tuple(config)

    builder = StateGraph(State)
    builder.add_node("greet", lambda state: {"name": f"hello {state['name']}"})
    builder.add_edge(START, "greet")
    builder.add_edge("greet", END)
    graph = builder.compile(checkpointer=Both())
    for name in ("ada", "bob"):
        graph.invoke({"name": name}, config_of())

    assert len(reference.storage["t"][""]) == 6
    assert reference.storage == official.storage
    assert reference.writes == official.writes
    assert reference.blobs == official.blobs


# --- forks whose versions are plain numbers ---


@pytest.mark.parametrize("numbers", [(1, 2, 3), (1.0, 2.0, 3.0), ("1", "2", "3")], ids=["int", "float", "str"])
def test_forks_and_their_descendants_keep_their_values(numbers: tuple[Version, ...]) -> None:
    first, second, third = numbers
    saver = ReferenceSaver()
    put(saver, "0", None, {"a": "root", "b": "root b"}, {"a": first, "b": first})
    for fork in "xyz":
        put(saver, f"1{fork}", "0", {"a": f"a of {fork}"}, {"a": second})
        put(saver, f"2{fork}", f"1{fork}", {"b": f"b of {fork}"}, {"b": third})
    put(saver, "3y", "2y", {"c": 1}, {"c": third})
    put(saver, "3z", "2z", {}, {"a": third})
    put(saver, "4z", "3z", {"a": "again"}, {"a": second})

    assert values_of(saver, "0") == {"a": "root", "b": "root b"}
    for fork in "xyz":
        assert values_of(saver, f"1{fork}") == {"a": f"a of {fork}", "b": "root b"}
        assert values_of(saver, f"2{fork}") == {"a": f"a of {fork}", "b": f"b of {fork}"}
    assert values_of(saver, "3y") == {"a": "a of y", "b": "b of y", "c": 1}
    assert values_of(saver, "3z") == {"b": "b of z"}
    assert values_of(saver, "4z") == {"a": "again", "b": "b of z"}


def test_a_fork_may_empty_a_channel_that_its_sibling_set() -> None:
    saver = ReferenceSaver()
    put(saver, "0", None, {"a": "root"}, {"a": 1})
    put(saver, "1x", "0", {"a": "x"}, {"a": 2})
    put(saver, "1y", "0", {}, {"a": 2})
    put(saver, "2y", "1y", {}, {})
    assert values_of(saver, "1x") == {"a": "x"}
    assert values_of(saver, "1y") == values_of(saver, "2y") == {}


def test_equal_values_of_forks_share_one_blob() -> None:
    saver = ReferenceSaver()
    put(saver, "0", None, {"a": "root"}, {"a": 1})
    put(saver, "1x", "0", {"a": "same"}, {"a": 2})
    put(saver, "1y", "0", {"a": "same"}, {"a": 2})
    assert [key[3] for key in saver.blobs] == [1, 2]


def test_a_made_up_version_does_not_hide_a_real_one() -> None:
    saver = ReferenceSaver()
    put(saver, "0", None, {"a": "root"}, {"a": "1"})
    put(saver, "1x", None, {"a": "x"}, {"a": "1"})
    put(saver, "1y", None, {"a": "y"}, {"a": "1#1"})
    assert [values_of(saver, i)["a"] for i in ("0", "1x", "1y")] == ["root", "x", "y"]


def test_the_forks_survive_each_other_and_are_copied() -> None:
    saver = ReferenceSaver()
    put(saver, "0", None, {"a": "root"}, {"a": 1})
    put(saver, "1x", "0", {"a": "x"}, {"a": 2}, run_id="x")
    put(saver, "1y", "0", {"a": "y"}, {"a": 2}, run_id="y")
    put(saver, "2y", "1y", {}, {})
    saver.copy_thread("t", "copy")
    saver.delete_for_runs(["x", "y"])
    assert values_of(saver, "2y") == {"a": "y"}
    assert ids_of(saver, config_of("t")) == ["2y", "0"]
    put(saver, "1z", "0", {"a": "z"}, {"a": 2})
    assert values_of(saver, "2y") == {"a": "y"}
    assert values_of(saver, "1z") == {"a": "z"}


def test_putting_an_id_again_replaces_all_but_its_writes_and_leaves_its_children() -> None:
    saver = ReferenceSaver()
    put(saver, "0", None, {"a": "old"}, {"a": 1}, step=0)
    saver.put_writes(config_of(checkpoint_id="0"), [("a", 1)], "task")
    put(saver, "1", "0", {}, {})
    put(saver, "0", "9", {"a": "new"}, {"a": 1}, step=7)
    again = saver.get_tuple(config_of(checkpoint_id="0"))
    assert again is not None
    assert again.checkpoint["channel_values"] == {"a": "new"}
    assert again.metadata["step"] == 7
    assert again.parent_config == config_of(checkpoint_id="9")
    assert again.pending_writes == [("task", "a", 1)]
    assert values_of(saver, "1") == {"a": "old"}


def test_putting_an_id_again_and_again_leaves_one_blob() -> None:
    saver = ReferenceSaver()
    for n in range(5):
        put(saver, "0", None, {"a": n}, {"a": 1})
        put(saver, "0", None, {"a": n}, {"a": n + 2})
    assert values_of(saver) == {"a": 4}
    assert len(saver.blobs) == 1


# --- deleting ---


def test_delete_for_runs_leaves_no_garbage_and_no_gap() -> None:
    saver = ReferenceSaver()
    put(saver, "0", None, {"a": 0, "b": 0}, {"a": "1", "b": "1"}, run_id="first")
    put(saver, "1", "0", {"a": 1}, {"a": "2"}, run_id="second")
    put(saver, "2", "1", {"a": 2}, {"a": "3"}, run_id="third")
    put(saver, "0", None, {"a": 5}, {"a": "9"}, ns="sub", run_id="first")
    put(saver, "0", None, {"a": 7}, {"a": "1"}, thread="other")
    for ns, checkpoint_id in (("", "0"), ("", "2"), ("sub", "0"), ("", "not yet put")):
        saver.put_writes(config_of("t", ns, checkpoint_id), [("a", 1)], "task")
    saver.delete_for_runs(["first", "second", "unknown"])

    assert ids_of(saver, None) == ["2", "0"]
    assert values_of(saver) == {"a": 2, "b": 0}
    assert set(saver.blobs) == {("t", "", "b", "1"), ("t", "", "a", "3"), ("other", "", "a", "1")}
    assert set(saver.writes) == {("t", "", "2"), ("t", "", "not yet put")}
    assert saver.storage.keys() == {"t", "other"}
    assert saver.storage["t"].keys() == {""}


@pytest.mark.parametrize("run_id", [None, 1, "", [], {}])
def test_delete_for_runs_takes_a_run_id_as_it_is(run_id: Any) -> None:
    saver = ReferenceSaver()
    put(saver, "0", None)
    put(saver, "1", None, run_id="1")
    put(saver, "2", None, run_id=run_id)
    saver.delete_for_runs([run_id])
    assert ids_of(saver, None) == ["1", "0"]


def test_delete_thread_leaves_nothing() -> None:
    saver = ReferenceSaver()
    put(saver, "0", None, {"a": 1}, {"a": "1"}, ns="sub")
    saver.put_writes(config_of(checkpoint_id="never put"), [("a", 1)], "task")
    saver.delete_thread("t")
    assert (saver.storage, saver.writes, saver.blobs, saver._ids) == ({}, {}, {}, {})


def delta_thread() -> ReferenceSaver:
    """Checkpoints "0" to "5" of a DeltaChannel `m` with its value at "2", and a plain channel `p`."""
    saver = ReferenceSaver()
    for n in range(6):
        values = {"p": n, **({"m": ["seed"]} if n == 2 else {})}
        counters: dict[str, Any] = {} if n == 2 else {"counters_since_delta_snapshot": {"m": [n, n]}}
        put(saver, str(n), str(n - 1) if n else None, values, {"m": n + 1, "p": n + 1}, run_id=f"run {n}", **counters)
        saver.put_writes(config_of(checkpoint_id=str(n)), [("m", n), ("p", n)], "task")
    return saver


def test_prune_keeps_what_a_delta_channel_is_rebuilt_from() -> None:
    saver = delta_thread()
    before = saver.get_tuple(config_of())
    history = history_of(saver, "5")
    assert history == {"m": {"seed": ["seed"], "writes": [("task", "m", n) for n in (2, 3, 4)]}}
    saver.prune(["t", "t", "unknown"])
    assert ids_of(saver, config_of()) == ["5", "4", "3", "2"]
    assert saver.get_tuple(config_of()) == before
    assert history_of(saver, "5") == history
    oldest = saver.get_tuple(config_of(checkpoint_id="2"))
    assert oldest is not None
    assert oldest.parent_config is None


def test_prune_keeps_one_checkpoint_of_each_namespace_without_delta_channels() -> None:
    saver = ReferenceSaver()
    for ns in ("", "sub:1"):
        for n in range(3):
            put(saver, str(n), str(n - 1) if n else None, {"a": n}, {"a": n}, ns=ns)
            saver.put_writes(config_of("t", ns, str(n)), [("a", n)], "task")
    saver.prune(["t"])
    kept = list(saver.list(config_of("t", None)))  # type: ignore[arg-type]
    assert [(k.checkpoint["channel_values"], k.parent_config, k.pending_writes) for k in kept] == [
        ({"a": 2}, None, [("task", "a", 2)])
    ] * 2
    assert len(saver.blobs) == len(saver.writes) == 2


def test_delete_for_runs_refuses_to_cut_a_delta_history() -> None:
    saver = delta_thread()
    storage, writes, blobs = (copy.deepcopy(part) for part in (saver.storage, saver.writes, saver.blobs))
    with pytest.raises(NotImplementedError, match="DeltaChannel"):
        saver.delete_for_runs(["run 3"])
    assert (saver.storage, saver.writes, saver.blobs) == (storage, writes, blobs)
    history = history_of(saver, "5")
    saver.delete_for_runs(["run 5"])
    saver.delete_for_runs([f"run {n}" for n in range(5)])
    assert history["m"]["writes"]
    assert (saver.storage, saver.blobs) == ({}, {})


@pytest.mark.parametrize(("arguments", "error"), [(("t",), TypeError), ((["t"], "newest"), ValueError)])
def test_prune_checks_its_arguments_first(arguments: tuple[Any, ...], error: type[Exception]) -> None:
    saver = ReferenceSaver()
    put(saver, "0")
    put(saver, "1")
    with pytest.raises(error):
        saver.prune(arguments[0], **({"strategy": arguments[1]} if arguments[1:] else {}))
    assert ids_of(saver, None) == ["1", "0"]


def test_a_copy_is_independent_and_never_overwrites() -> None:
    saver = ReferenceSaver()
    put(saver, "0", None, {"a": 0}, {"a": 1})
    saver.put_writes(config_of(checkpoint_id="0"), [("a", 1)], "task")
    saver.copy_thread("unknown", "copy")
    saver.copy_thread("t", "copy")
    saver.copy_thread("t", "t")
    with pytest.raises(ValueError, match="not empty"):
        saver.copy_thread("t", "copy")
    put(saver, "1", "0", {"a": 9}, {"a": 2}, thread="copy")
    saver.put_writes(config_of("copy", checkpoint_id="0"), [("a", 1), ("b", 2)], "task")
    assert ids_of(saver, config_of()) == ["0"]
    original = saver.get_tuple(config_of())
    assert original is not None
    assert original.pending_writes == [("task", "a", 1)]
    saver.delete_thread("t")
    assert ids_of(saver, config_of("copy")) == ["1", "0"]
    assert values_of(saver, thread="copy") == {"a": 9}


# --- delta history ---


def test_delta_history_ends_in_a_ring() -> None:
    saver = ReferenceSaver()
    for checkpoint_id, parent in (("0", None), ("1", "0"), ("2", "1"), ("0", "2"), ("7", "7")):
        put(saver, checkpoint_id, parent)
        saver.put_writes(config_of(checkpoint_id=checkpoint_id), [("m", checkpoint_id)], "task")
    assert [w[2] for w in history_of(saver, "2")["m"]["writes"]] == ["0", "1"]
    assert history_of(saver, "7") == {"m": {"writes": []}}


@pytest.mark.parametrize("seed", [None, 0, False, "", [], {}])
def test_a_falsy_seed_is_a_seed_and_a_repeated_name_changes_nothing(seed: Any) -> None:
    saver = ReferenceSaver()
    put(saver, "0", None, {"m": seed}, {"m": 1})
    put(saver, "1", "0", {}, {"m": 2})
    saver.put_writes(config_of(checkpoint_id="0"), [("m", "write")], "task")
    assert history_of(saver, "1", ["m", "m"]) == {"m": {"seed": seed, "writes": [("task", "m", "write")]}}


# --- list and get_tuple ---


def test_list_is_ordered_and_limited_over_all_threads_and_namespaces() -> None:
    saver = ReferenceSaver()
    addresses = [("3", "b", ""), ("1", "b", "x"), ("3", "a", "x"), ("2", "a", ""), ("3", "a", ""), ("10", "c", "")]
    for checkpoint_id, thread, ns in addresses:
        put(saver, checkpoint_id, thread=thread, ns=ns)
    expected = [("3", "a", ""), ("3", "a", "x"), ("3", "b", ""), ("2", "a", ""), ("10", "c", ""), ("1", "b", "x")]
    for limit in (None, 0, 1, 4, 9):
        found = [c.config["configurable"] for c in saver.list(None, limit=limit)]
        assert [(c["checkpoint_id"], c["thread_id"], c["checkpoint_ns"]) for c in found] == expected[:limit]
    assert ids_of(saver, {}, before=config_of(checkpoint_id="2")) == ["10", "1"]
    assert ids_of(saver, {"configurable": {"thread_id": "a", "checkpoint_id": "3"}}) == ["3", "3"]
    assert ids_of(saver, {"configurable": {"thread_id": "a"}}, before={"configurable": {}}) == ["3", "3", "2"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"x": 1}, ["int", "float"]),
        ({"x": True}, ["bool"]),
        ({"x": None}, ["null"]),
        ({"x": [1.0, {"y": 0}]}, ["deep"]),
        ({"x": [1, {"y": False}]}, []),
        ({"absent": None}, []),
        ({"x": 1, "absent": 1}, []),
    ],
)
def test_filters_compare_values_and_json_types(wanted: dict[str, Any], found: list[str]) -> None:
    saver = ReferenceSaver()
    stored = {"int": 1, "float": 1.0, "bool": True, "null": None, "text": "1", "deep": (1, {"y": 0})}
    for name, value in stored.items():
        put(saver, name, x=value)
    assert sorted(ids_of(saver, None, filter=wanted)) == sorted(found)


def test_reads_leave_no_trace() -> None:
    saver = ReferenceSaver()
    put(saver, "0")
    parts = copy.deepcopy((saver.storage, saver.writes, saver.blobs, saver._ids))
    for config in (config_of("no"), config_of("t", "no"), config_of("t", "", "no"), config_of("no", "no", "no")):
        assert saver.get_tuple(config) is None
        assert list(saver.list(config)) == []
        assert saver.get_delta_channel_history(config=config, channels=["m"]) == {"m": {"writes": []}}
        saver.put_writes(config_of("t", "", "0"), [], "task")
    saver.delete_thread("no")
    saver.copy_thread("no", "t")
    saver.prune(["no"])
    assert (saver.storage, saver.writes, saver.blobs, saver._ids) == parts


def test_a_list_shows_the_moment_of_its_first_step_and_holds_no_lock() -> None:
    saver = ReferenceSaver()
    for n in range(3):
        put(saver, str(n), None, {"a": n}, {"a": n})
    items = saver.list(config_of())
    seen = [next(items)]
    with ThreadPoolExecutor(1) as pool:
        pool.submit(saver.delete_thread, "t").result(timeout=10)
    seen += items
    assert [item.checkpoint["channel_values"] for item in seen] == [{"a": 2}, {"a": 1}, {"a": 0}]


# --- put and put_writes ---


@pytest.mark.parametrize("place", ["value", "metadata", "checkpoint"])
def test_a_failed_put_stores_nothing(place: str) -> None:
    saver = ReferenceSaver()
    put(saver, "0", None, {"a": 0}, {"a": 1})
    parts = copy.deepcopy((saver.storage, saver.writes, saver.blobs, saver._ids))
    bad = 2**70
    with pytest.raises(TypeError):
        put(
            saver,
            "1",
            "0",
            {"a": 1, "b": bad if place == "value" else 1},
            {"a": 2, "b": bad if place == "checkpoint" else 2},
            x=bad if place == "metadata" else 1,
        )
    assert (saver.storage, saver.writes, saver.blobs, saver._ids) == parts


def test_put_writes_is_all_or_nothing_and_judges_each_write() -> None:
    saver = ReferenceSaver()
    put(saver, "0")
    config = config_of(checkpoint_id="0")
    saver.put_writes(config, [("a", 1), ("__resume__", "old")], "task")
    with pytest.raises(TypeError):
        saver.put_writes(config, [("__resume__", "lost"), ("a", 2), ("a", 2**70)], "task")
    saver.put_writes(config, [("a", 10), ("__resume__", "new"), ("b", 3)], "task")
    stored = saver.get_tuple(config)
    assert stored is not None
    assert stored.pending_writes == [("task", "__resume__", "new"), ("task", "a", 1), ("task", "b", 3)]


@pytest.mark.parametrize("missing", ["thread_id", "checkpoint_ns", "checkpoint_id"])
def test_an_incomplete_config_raises_key_error(missing: str) -> None:
    saver = ReferenceSaver()
    config: Any = config_of(checkpoint_id="0")
    del config["configurable"][missing]
    checkpoint: Any = {"id": "0", "channel_values": {}, "channel_versions": {}}
    if missing != "checkpoint_id":
        with pytest.raises(KeyError, match=missing):
            saver.put(config, checkpoint, {}, {})
    if missing != "checkpoint_ns":
        with pytest.raises(KeyError, match=missing):
            saver.put_writes(config, [("a", 1)], "task")
    if missing == "thread_id":
        for read in (saver.get_tuple, lambda c: list(saver.list(c))):
            with pytest.raises(KeyError, match=missing):
                read(config)
    assert (saver.storage, saver.writes, saver.blobs) == ({}, {}, {})


@pytest.mark.parametrize("current", [None, 0, 7, 7.0, "7", "7.123", "00000000000000000000000000000007.5"])
def test_next_version_goes_on_from_any_kind_of_version(current: Any) -> None:
    whole, _, fraction = ReferenceSaver().get_next_version(current, None).partition(".")
    assert whole == f"{8 if current else 1:032}"
    assert float(f"0.{fraction.removeprefix('0.')}") < 1


# --- clones, threads, cost ---


def test_clones_share_storage() -> None:
    saver = ReferenceSaver()
    clone = copy.copy(saver)
    clone.serde = JsonPlusSerializer()
    put(clone, "0", None, {"a": 1}, {"a": 1})
    put(saver, "1", "0")
    assert ids_of(clone, None) == ids_of(saver, None) == ["1", "0"]
    clone.prune(["t"])
    put(saver, "2", "1")
    assert ids_of(clone, None) == ids_of(saver, None) == ["2", "1"]
    saver.delete_thread("t")
    assert ids_of(clone, None) == []


def test_eight_threads_do_not_disturb_each_other() -> None:
    saver = ReferenceSaver()
    put(saver, "shared")

    def work(worker: int) -> None:
        own = f"thread {worker}"
        for n in range(20):
            for thread in (own, "together"):
                name = f"{n:03} {worker}"
                put(saver, name, None, {"a": name}, {"a": f"{n} {worker}"}, thread=thread)
                assert values_of(saver, name, thread) == {"a": name}
            saver.put_writes(config_of(checkpoint_id="shared"), [("a", n)], f"{worker} {n}")
            assert len(ids_of(saver, None, limit=5)) >= 2
            saver.copy_thread(own, f"copy {own} {n}")
            saver.delete_thread(f"copy {own} {n}")
        saver.prune([own])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))

    assert ids_of(saver, config_of("together")) == sorted(
        (f"{n:03} {w}" for n in range(20) for w in range(8)), reverse=True
    )
    assert all(
        item.checkpoint["channel_values"] == {"a": item.checkpoint["id"]} for item in saver.list(config_of("together"))
    )
    shared = saver.get_tuple(config_of(checkpoint_id="shared"))
    assert shared is not None
    assert len(shared.pending_writes or ()) == 160
    assert saver.storage.keys() == {"t", "together", *(f"thread {w}" for w in range(8))}


def test_a_long_thread_costs_no_more_reads_than_a_short_one() -> None:
    def cost(length: int) -> dict[str, int]:
        serde = CountingSerializer()
        saver = ReferenceSaver(serde=serde)
        for n in range(length):
            put(saver, f"{n:05}", f"{n - 1:05}" if n else None, {"a": n}, {"a": n}, versions={})
        middle = config_of(checkpoint_id=f"{length // 2:05}")
        actions: dict[str, Callable[[], object]] = {
            "put": lambda: put(saver, "99999", f"{length - 1:05}", {"a": 0}, {"a": length}, versions={}),
            "latest": lambda: saver.get_tuple(config_of()),
            "by id": lambda: saver.get_tuple(middle),
            "list": lambda: list(saver.list(config_of(), limit=3)),
            "list before": lambda: list(saver.list(config_of(), before=middle, limit=3)),
        }
        counts = {}
        for name, act in actions.items():
            serde.loads = 0
            act()
            counts[name] = serde.loads
        return counts

    assert cost(400) == cost(10) == {"put": 1, "latest": 3, "by id": 3, "list": 9, "list before": 9}


# --- async ---


def test_the_async_methods_are_the_sync_ones() -> None:
    saver = ReferenceSaver()

    async def scenario() -> None:
        async with saver:
            checkpoint: Any = {"id": "0", "channel_values": {"a": 1}, "channel_versions": {"a": 1}}
            stored = await saver.aput(config_of(), checkpoint, {"run_id": "r"}, {"a": 1})
            await saver.aput_writes(stored, [("m", 1)], "task")
            assert await saver.aget_tuple(config_of()) == saver.get_tuple(config_of())
            assert [item async for item in saver.alist(None)] == list(saver.list(None))
            put(saver, "1", "0")
            arguments: dict[str, Any] = {"config": config_of(), "channels": ["m"]}
            assert await saver.aget_delta_channel_history(**arguments) == saver.get_delta_channel_history(**arguments)
            await saver.acopy_thread("t", "copy")
            await saver.adelete_for_runs(["r"])
            assert ids_of(saver, config_of()) == ["1"]
            await saver.aprune(["copy"])
            assert ids_of(saver, config_of("copy")) == ["1"]
            await saver.adelete_thread("t")
            assert saver.storage.keys() == {"copy"}

    asyncio.run(scenario())
