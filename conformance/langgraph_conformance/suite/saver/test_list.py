"""list."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph_reference import ReferenceSaver

from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.expect import expect_same, shown
from langgraph_conformance.rules import MUST, QUIRK, SHOULD, rule
from langgraph_conformance.threads import Stored, Thread, address_of, as_read, config_of, fresh_id, ids_of, writes_of

NewThread = Callable[..., Thread]

# --- order


@rule(MUST, source="Checkpoint.id; pregel/_internal/_replay.py reads the first item as the newest")
@pytest.mark.parametrize("condition", ["none", "filter", "before", "limit"])
def test_the_newest_checkpoint_comes_first(thread: Thread, condition: str) -> None:
    """A list of a namespace starts with the greatest checkpoint id and goes down, whatever order they were put in.

    `get_state_history` hands this order to users, and a replayed subgraph takes the first item as its state.
    Checkpoints of a thread can arrive out of order: retries, several workers, a copy from another database.
    """
    made = [thread.make({"count": count}, metadata={"kept": "yes"}) for count in range(5)]
    for position in (2, 0, 4, 1, 3):
        thread.store(made[position])
    keywords: dict[str, dict[str, Any]] = {
        "none": {},
        "filter": {"filter": {"kept": "yes"}},
        "before": {"before": made[3].config},
        "limit": {"limit": 3},
    }
    falling = [each.id for each in reversed(made)]
    wanted = {"before": falling[2:], "limit": falling[:3]}.get(condition, falling)
    what = "the ids listed of five that were put as third, first, fifth, second, fourth"
    expect_same(wanted, thread.listed_ids(**keywords[condition]), what)


@rule(MUST, source="Checkpoint.id: unique and monotonically increasing, so can be used for sorting")
@pytest.mark.parametrize("against", ["equal times", "falling times", "falling steps", "values"])
def test_the_order_is_that_of_the_ids_and_of_nothing_else(thread: Thread, against: str) -> None:
    """The order of a list is that of the ids: not of `ts`, of the step, or of what the channels hold.

    Several checkpoints share a second or a millisecond, a clock is set back while ids go on rising, and a fork from an
    old checkpoint starts at a lower step: sorted by those, the history is shuffled and "latest" is wrong.
    """
    stored = []
    for count in range(4):
        down = 9 - count
        settings: dict[str, dict[str, Any]] = {
            "equal times": {"extra": {"ts": "2024-05-04T06:32:42.235444+00:00"}},
            "falling times": {"extra": {"ts": f"2024-05-0{down}T06:32:42.235444+00:00"}},
            "falling steps": {"metadata": {"step": down}},
            "values": {},
        }
        stored.append(thread.put({"count": down}, **settings[against]))
    expect_same([each.id for each in reversed(stored)], thread.listed_ids(), "the ids listed")


@rule(SHOULD, source="BaseCheckpointSaver.list: limit; SqliteSaver.list, PostgresSaver.list")
@pytest.mark.parametrize("limit", [None, 3], ids=["all", "limit"])
@pytest.mark.parametrize("span", ["namespaces", "threads"])
def test_the_newest_comes_first_across_namespaces_and_threads(
    saver: SaverDrive, new_thread: NewThread, span: str, limit: int | None
) -> None:
    """A list over several namespaces or threads is in one order, newest first, so that a limit keeps the newest.

    Whoever shows "the last ten checkpoints of this conversation", subgraphs included, would miss the newest ones.
    """
    first, second = new_thread(), new_thread()
    mark = fresh_id()
    stored: list[Stored] = []
    for count in range(3):
        for thread, ns in ((second, "b"), (first, "a"), (second, "a"), (first, "b")):
            if span == "threads" or thread is first:
                stored.append(thread.put({"count": count}, ns=ns, metadata={"mark": mark}))
    config = None if span == "threads" else first.config(ns=None)
    listed = saver.list(config, filter={"mark": mark}, limit=limit)
    expect_same([each.id for each in reversed(stored)][:limit], ids_of(listed), f"the ids listed over several {span}")


# --- which checkpoints


@rule(MUST, source="BaseCheckpointSaver.list; pregel/main.py: get_state_history is read between the runs of a thread")
def test_a_list_shows_what_came_since_it_was_read_before(saver: SaverDrive, thread: Thread) -> None:
    """A list that is read again shows the checkpoints and pending writes that came since it was read first.

    A history that is remembered hides the newest state, and the question that waits for an answer.
    """
    first = thread.put({"count": 0})
    seen = [thread.listed_ids()]
    second = thread.put({"count": 1}, parent=first)
    seen.append(thread.listed_ids())
    thread.write(second, [("count", 2)])
    written = [writes_of(each) for each in saver.list(thread.config())]
    expect_same(
        ([[first.id], [second.id, first.id]], [[("task", "count", 2)], []]),
        (seen, written),
        "the ids listed after each of two puts, and the pending writes listed after one was stored",
    )


@rule(MUST, source="BaseCheckpointSaver.list: checkpoints that match; BaseCheckpointSaver.copy_thread keeps ids")
@pytest.mark.parametrize("span", ["threads", "namespaces"])
def test_checkpoints_of_one_id_are_all_listed(saver: SaverDrive, new_thread: NewThread, span: str) -> None:
    """Where several threads or namespaces have a checkpoint of the same id, a list over them gives each of them, once.

    A copy of a thread has the ids of its source: a list that pages by the last id seen, or joins by ids, skips or
    multiplies them.
    """
    mark, first, second = fresh_id(), new_thread(), new_thread()
    ids = [first.make().id for _ in range(2)]
    places = [(first, ""), (second, "")] if span == "threads" else [(first, ""), (first, "child"), (first, "child:1")]
    for id in ids:
        for thread, ns in places:
            thread.put({"count": 0}, id=id, ns=ns, metadata={"mark": mark})
    listed = saver.list(None if span == "threads" else first.config(ns=None), filter={"mark": mark})
    expect_same(
        sorted((thread.id, ns, id) for thread, ns in places for id in ids),
        sorted(address_of(each.config) or () for each in listed),
        f"what is listed over {span} with checkpoints of equal ids",
    )


@rule(MUST, source="BaseCheckpointSaver.list")
def test_a_thread_lists_its_own_checkpoints(new_thread: NewThread) -> None:
    """A list with a thread id gives every checkpoint of that thread, once, and none of another thread.

    One conversation's history would show another's.
    """
    first, second = new_thread(), new_thread()
    ours, theirs = first.chain(3), second.chain(2)
    expect_same(
        {"first": [each.id for each in reversed(ours)], "second": [each.id for each in reversed(theirs)]},
        {"first": first.listed_ids(), "second": second.listed_ids()},
        "the ids listed of two threads",
    )


@rule(MUST, source="pregel/main.py: get_state_history always names the namespace; pregel/_internal/_replay.py")
@pytest.mark.parametrize("ns", ["", "child", "child:1", "child:1|inner:2"], ids=["root", "child", "task", "nested"])
def test_a_namespace_restricts_the_list_to_it(thread: Thread, ns: str) -> None:
    """A config with a namespace lists that namespace alone; the empty one is the root graph's, not "any".

    The history of a graph would be mixed with that of its subgraphs, and a replay could load a parent's state into a
    subgraph.
    """
    stored: dict[str, list[str]] = {"": [], "child": [], "child:1": [], "child:1|inner:2": [], "other": []}
    for count in range(2):
        for each, ids in stored.items():
            ids.insert(0, thread.put({"count": count}, ns=each).id)
    expect_same(stored[ns], thread.listed_ids(ns=ns), f"the ids listed of the namespace {ns!r}")


@rule(MUST, source="BaseCheckpointSaver.list: config is what to filter by; all official savers")
@pytest.mark.parametrize("absent", ["left out", "None"])
def test_without_a_namespace_all_of_the_thread_are_listed(saver: SaverDrive, thread: Thread, absent: str) -> None:
    """A config without a namespace lists the checkpoints of all namespaces of the thread.

    Tools that show, copy or clean up a whole conversation miss the state of its subgraphs.
    """
    stored = [thread.put({"count": 0}, ns=ns) for ns in ("", "child", "child:1|inner:2")]
    config = thread.config(ns=None)
    if absent == "None":
        config["configurable"]["checkpoint_ns"] = None
    expect_same(
        sorted((each.ns, each.id) for each in stored),
        sorted((each.config["configurable"]["checkpoint_ns"], each.checkpoint["id"]) for each in saver.list(config)),
        "the namespaces and ids listed",
    )


@rule(MUST, source="BaseCheckpointSaver.list: config may be None")
@pytest.mark.parametrize("limit", [None, 2, 100], ids=["no limit", "limit", "high limit"])
@pytest.mark.parametrize("before", [False, True], ids=["", "before"])
def test_without_a_config_all_threads_are_listed(
    saver: SaverDrive, new_thread: NewThread, before: bool, limit: int | None
) -> None:
    """`list(None)` lists over all threads and namespaces; filter, before and limit hold as ever.

    Listing conversations, for an overview or a clean-up, starts with this call.
    """
    mark = fresh_id()
    stored = [
        thread.put({"count": 0}, ns=ns, metadata={"mark": mark})
        for thread in (new_thread(), new_thread())
        for ns in ("", "child")
    ]
    new_thread().put({"count": 0}, metadata={"mark": fresh_id()})
    wanted = stored[:-1] if before else stored
    listed = saver.list(None, filter={"mark": mark}, limit=limit, before=stored[-1].config if before else None)
    expect_same(
        {"number": len(wanted[:limit]), "others": []},
        {"number": len(listed), "others": sorted(set(ids_of(listed)) - {each.id for each in wanted})},
        "what list(None) gave of four checkpoints in two threads and two namespaces",
    )


@rule(MUST, source="BaseCheckpointSaver.list; pregel/main.py: the history of a thread that never ran is empty")
@pytest.mark.parametrize("unknown", ["thread", "namespace"])
def test_what_is_not_there_lists_nothing(saver: SaverDrive, thread: Thread, unknown: str) -> None:
    """A list of a thread or a namespace that does not exist is empty and raises nothing.

    `get_state_history` of a new conversation is such a call.
    """
    thread.chain(2)
    configs = {
        "thread": config_of(fresh_id(), ""),
        "namespace": thread.config(ns="nowhere"),
    }
    expect_same([], ids_of(saver.list(configs[unknown])), f"the ids listed of an unknown {unknown}")


@rule(MUST, source="BaseCheckpointSaver.list: config filters checkpoints; pregel/main.py: get_state_history")
@pytest.mark.parametrize("case", ["own namespace", "namespace left out", "another namespace", "unknown id"])
def test_a_checkpoint_id_restricts_the_list_to_it(saver: SaverDrive, thread: Thread, case: str) -> None:
    """A config with a checkpoint id lists that checkpoint alone, in the namespace given or in any when none is.

    `get_state_history` with the config of one state hands the id through: users get the whole history in place of it.
    """
    stored = thread.chain(3)
    thread.chain(2, ns="child")
    config, expected = {
        "own namespace": (thread.config(checkpoint_id=stored[1].id), [stored[1].id]),
        "namespace left out": (thread.config(ns=None, checkpoint_id=stored[1].id), [stored[1].id]),
        "another namespace": (thread.config(ns="child", checkpoint_id=stored[1].id), []),
        "unknown id": (thread.config(checkpoint_id="1ef4f797-8335-6428-8001-8a1503f9b875"), []),
    }[case]
    expect_same(expected, ids_of(saver.list(config)), f"the ids listed with a checkpoint id: {case}")


# --- before


@rule(MUST, source="BaseCheckpointSaver.list; pregel/_internal/_replay.py reads the first item")
def test_before_excludes_the_checkpoint_it_names(saver: SaverDrive, thread: Thread) -> None:
    """A list with `before` gives only checkpoints whose id is smaller than the one it names.

    `get_state_history` pages with it and a replayed subgraph takes the first item as its state: a list that includes
    the named checkpoint repeats it on every page.
    """
    first, second, third = thread.chain(3)
    listed = saver.list(thread.config(), before=third.config)
    expect_same([second.id, first.id], ids_of(listed), "the ids listed before the third checkpoint")


@rule(MUST, source="BaseCheckpointSaver.list; pregel/_internal/_replay.py passes the id of a checkpoint of the parent")
@pytest.mark.parametrize(
    "named", ["first", "between", "of another namespace", "of another thread", "lowest", "highest"]
)
def test_before_needs_no_checkpoint_of_that_id_in_the_list(
    saver: SaverDrive, thread: Thread, new_thread: NewThread, named: str
) -> None:
    """`before` is a bound on ids: the checkpoint that it names may be elsewhere, or nowhere.

    When a run is replayed, each subgraph is asked for its newest checkpoint before one of the parent graph: a saver
    that looks that id up in the subgraph's namespace finds nothing, and the subgraph starts from an empty state.
    """
    other = new_thread()
    stored = []
    bounds: dict[str, Stored | str] = {}
    for count in range(4):
        stored.append(thread.put({"count": count}))
        if count == 1:
            bounds["of another namespace"] = thread.put({}, ns="child")
            bounds["of another thread"] = other.put({})
            bounds["between"] = thread.make({})
    bounds["first"] = stored[0]
    bounds["lowest"] = "00000000-0000-6000-8000-000000000000"
    bounds["highest"] = "ffffffff-ffff-6fff-bfff-ffffffffffff"
    bound = bounds[named]
    before = bound.config if isinstance(bound, Stored) else thread.config(checkpoint_id=bound)
    wanted = {"first": [], "lowest": [], "highest": stored}.get(named, stored[:2])
    expect_same(
        [each.id for each in reversed(wanted)],
        ids_of(saver.list(thread.config(), before=before)),
        f"the ids listed before one {named}" if "another" in named else f"the ids listed before the {named} id",
    )


@rule(MUST, source="pregel/_internal/_replay.py: before has a checkpoint id and nothing else")
def test_before_needs_only_a_checkpoint_id(saver: SaverDrive, thread: Thread) -> None:
    """`before` may hold a checkpoint id alone, without thread and namespace.

    That is how the engine passes it when a subgraph is replayed.
    """
    stored = thread.chain(3)
    before: RunnableConfig = {"configurable": {"checkpoint_id": stored[2].id}}
    expect_same(
        [stored[1].id, stored[0].id],
        ids_of(saver.list(thread.config(), before=before)),
        "the ids listed before the third",
    )


@rule(
    QUIRK,
    source="InMemorySaver.list, SqliteSaver.list, PostgresSaver.list",
    officials={"InMemorySaver": "bounds nothing", "SqliteSaver": "lists nothing", "PostgresSaver": "lists nothing"},
)
def test_before_without_a_checkpoint_id(saver: SaverDrive, thread: Thread, observe: Callable[[object], None]) -> None:
    """What a `before` that names a thread and no checkpoint does."""
    thread.chain(2)
    try:
        listed = saver.list(thread.config(), before=thread.config())
    except (KeyError, ValueError, TypeError) as error:
        observe(f"raises {type(error).__name__}")
    else:
        observe({0: "lists nothing", 2: "bounds nothing"}.get(len(listed), f"lists {len(listed)} of 2"))


# --- limit


@rule(MUST, source="BaseCheckpointSaver.list: maximum number of checkpoints; pregel/_internal/_replay.py: limit=1")
@pytest.mark.parametrize("limit", [1, 2, 4, 5, 100])
def test_a_limit_keeps_the_newest(thread: Thread, limit: int) -> None:
    """`limit` gives at most that many checkpoints, the newest ones.

    Pages of a history would be too long, or would start in the past.
    """
    stored = thread.chain(4)
    expect_same(
        [each.id for each in reversed(stored)][:limit],
        thread.listed_ids(limit=limit),
        f"the ids listed with limit={limit}",
    )


@rule(MUST, source="BaseCheckpointSaver.list: maximum number of checkpoints to return")
@pytest.mark.parametrize("condition", ["filter", "before", "both", "namespace"])
def test_a_limit_counts_what_meets_the_other_conditions(saver: SaverDrive, thread: Thread, condition: str) -> None:
    """`limit` counts after filter, before and namespace: what they leave out takes no place.

    A page would come back empty or short although there is more, and "the last checkpoint with source=input" not be
    found because a newer one has another source.
    """
    stored = [
        thread.put({"count": count}, metadata={"colour": "red" if count in (0, 1, 3) else "blue"}) for count in range(6)
    ]
    thread.chain(3, ns="child")
    keywords: dict[str, tuple[dict[str, Any], list[int]]] = {
        "filter": ({"filter": {"colour": "red"}}, [3, 1]),
        "before": ({"before": stored[3].config}, [2, 1]),
        "both": ({"filter": {"colour": "red"}, "before": stored[3].config}, [1, 0]),
        "namespace": ({}, [5, 4]),
    }
    given, wanted = keywords[condition]
    expect_same(
        [stored[position].id for position in wanted],
        ids_of(saver.list(thread.config(), limit=2, **given)),
        f"the ids listed with limit=2 and a {condition}",
    )


@rule(SHOULD, source="BaseCheckpointSaver.list: maximum number of checkpoints; all official savers")
def test_limit_zero_lists_nothing(thread: Thread) -> None:
    """`limit=0` gives no checkpoint.

    0 is not "no limit": who computes a limit gets the whole history in place of nothing.
    """
    thread.chain(2)
    expect_same([], thread.listed_ids(limit=0), "the ids listed with limit=0")


@rule(
    QUIRK,
    source="InMemorySaver.list, SqliteSaver.list, PostgresSaver.list",
    officials={"InMemorySaver": "lists nothing", "SqliteSaver": "lists all", "PostgresSaver": "raises"},
)
def test_a_negative_limit(thread: Thread, observe: Callable[[object], None]) -> None:
    """What a negative `limit` does."""
    thread.chain(2)
    try:
        listed = thread.listed_ids(limit=-1)
    except Exception:  # each driver has its own error
        observe("raises")
    else:
        observe({0: "lists nothing", 2: "lists all"}.get(len(listed), f"lists {len(listed)} of 2"))


# --- all conditions at once

FILTERS: Mapping[str, dict[str, Any] | None] = {
    "none": None,
    "empty": {},
    "one key": {"source": "loop"},
    "two keys": {"source": "loop", "colour": "red"},
}
LIMITS = (None, 1, 2, 100)


@dataclass(frozen=True)
class World:
    """Twelve checkpoints in two threads and two namespaces, put in turn, and the same ones in the reference.

    Attributes:
        first, second, unknown: thread ids; nothing was put in the last.
        mark: in the metadata of all.
        names: a short name of each checkpoint by its address.
        befores: what is given as ``before``, by name.
    """

    first: str
    second: str
    unknown: str
    mark: str
    reference: ReferenceSaver
    names: Mapping[Any, str]
    befores: Mapping[str, RunnableConfig | None]
    inside: Stored
    elsewhere: Stored

    def named(self, tuples: Iterable[CheckpointTuple]) -> list[str]:
        """The names of tuples, in their order."""
        return [self.names.get(address_of(each.config), f"{address_of(each.config)}") for each in tuples]


@pytest.fixture
def world(new_thread: NewThread) -> World:
    """What the lists with several conditions are of."""
    threads = {"first": new_thread(), "second": new_thread()}
    mark = fresh_id()
    reference = ReferenceSaver()
    stored: dict[tuple[str, str, int], Stored] = {}
    for count in range(3):
        for name, ns in product(threads, ("", "child")):
            stored[name, ns, count] = put = threads[name].put(
                {"count": count},
                parent=stored.get((name, ns, count - 1)),
                ns=ns,
                metadata={"mark": mark, "colour": ("red", "blue", "red")[count]},
            )
            on = config_of(put.thread_id, ns, put.parent.id if put.parent else None)
            reference.put(on, copy.deepcopy(put.checkpoint), dict(put.metadata), dict(put.new_versions))  # type: ignore[arg-type]
    return World(
        threads["first"].id,
        threads["second"].id,
        fresh_id(),
        mark,
        reference,
        {
            (put.thread_id, put.ns, put.id): f"{name} {ns or 'root'} {count}"
            for (name, ns, count), put in stored.items()
        },
        {
            "none": None,
            "its oldest": stored["first", "", 0].config,
            "second child 1": stored["second", "child", 1].config,
            "first root 2": stored["first", "", 2].config,
        },
        stored["first", "", 1],
        stored["second", "child", 1],
    )


def combined(
    world: World, saver: SaverDrive, config: RunnableConfig | None, limits: Iterable[int | None] = LIMITS
) -> tuple[dict[str, list[CheckpointTuple]], dict[str, list[CheckpointTuple]]]:
    """What the reference and the saver list for every filter, before and limit."""
    expected, actual = {}, {}
    for (filtered, filter), (named, before), limit in product(FILTERS.items(), world.befores.items(), limits):
        if config is None:
            filter = {**(filter or {}), "mark": world.mark}
        case = f"filter: {filtered}, before: {named}, limit: {limit}"
        expected[case] = list(world.reference.list(config, filter=filter, before=before, limit=limit))
        actual[case] = saver.list(config, filter=filter, before=before, limit=limit)
    return expected, actual


@rule(MUST, source="BaseCheckpointSaver.list: checkpoints that match the given criteria")
@pytest.mark.parametrize("ns", ["", "child", "nowhere"], ids=["root", "child", "no namespace"])
@pytest.mark.parametrize("thread_id", ["first", "second", "unknown"])
def test_conditions_combine_within_a_namespace(saver: SaverDrive, world: World, thread_id: str, ns: str) -> None:
    """Thread, namespace, filter, before and limit hold together: what is listed meets all of them, in order.

    Fast paths for one condition forget another: `limit=1` without the filter, a filter that drops the bound.
    """
    expected, actual = combined(world, saver, config_of(getattr(world, thread_id), ns))
    expect_same(
        {case: world.named(tuples) for case, tuples in expected.items()},
        {case: world.named(tuples) for case, tuples in actual.items()},
        f"the checkpoints listed of the namespace {ns!r} of the {thread_id} thread",
    )


@rule(MUST, source="BaseCheckpointSaver.list: checkpoints that match the given criteria")
@pytest.mark.parametrize("span", ["first", "second", "unknown", "all threads"])
def test_conditions_combine_across_namespaces_and_threads(saver: SaverDrive, world: World, span: str) -> None:
    """Filter, before and limit hold together, too, when no namespace or no thread is given.

    Each namespace gives its newest ones first; which namespaces a limit takes them from is judged by another rule.
    """
    config = None if span == "all threads" else config_of(getattr(world, span), None)
    expected, actual = combined(world, saver, config)
    unlimited = {case.rpartition(",")[0]: world.named(tuples) for case, tuples in expected.items() if "None" in case}
    wanted = {}
    for case, tuples in actual.items():
        # as many as the limit lets through, of each namespace the newest of those that meet the conditions
        found, all_of_them = by_namespace(world.named(tuples)), by_namespace(unlimited[case.rpartition(",")[0]])
        kept = {ns: all_of_them.get(ns, [])[: len(names)] for ns, names in found.items()}
        wanted[case] = {"number": len(expected[case]), **kept}
    expect_same(
        wanted,
        {case: {"number": len(tuples), **by_namespace(world.named(tuples))} for case, tuples in actual.items()},
        "the checkpoints listed of all namespaces" + (f" of the {span} thread" if config else ""),
    )


def by_namespace(names: Iterable[str]) -> dict[str, list[str]]:
    """The names of checkpoints by thread and namespace."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(name.rpartition(" ")[0], []).append(name)
    return found


@rule(SHOULD, source="InMemorySaver.list, SqliteSaver.list, PostgresSaver.list")
@pytest.mark.parametrize("ns", ["", "child", None], ids=["root", "child", "all namespaces"])
@pytest.mark.parametrize("thread_id", ["first", "second"])
@pytest.mark.parametrize("named", ["inside", "elsewhere"])
def test_conditions_combine_with_a_checkpoint_id(
    saver: SaverDrive, world: World, thread_id: str, ns: str | None, named: str
) -> None:
    """A checkpoint id in the config holds together with filter, before and limit.

    The id is looked up by a path of its own in many savers, which forgets the rest.
    """
    config = config_of(getattr(world, thread_id), ns, getattr(world, named).id)
    expected, actual = combined(world, saver, config, limits=(None, 1))
    expect_same(
        {case: world.named(tuples) for case, tuples in expected.items()},
        {case: world.named(tuples) for case, tuples in actual.items()},
        f"the checkpoints listed with a checkpoint id in the namespace {ns!r} of the {thread_id} thread",
    )


# --- what an item holds


@rule(MUST, source="BaseCheckpointSaver.list: checkpoint tuples; pregel/main.py makes a StateSnapshot of each item")
@pytest.mark.parametrize("condition", ["namespace", "thread", "filter"])
@pytest.mark.parametrize("part", ["address", "checkpoint", "metadata", "parent", "pending writes"])
def test_an_item_holds_what_get_tuple_gives(saver: SaverDrive, thread: Thread, part: str, condition: str) -> None:
    """A listed tuple is the one that `get_tuple` gives for its config: address, checkpoint, metadata, parent, writes.

    A history without pending writes shows no interrupts and no tasks; one without parents or values cannot be forked.
    """
    first = thread.put({"kept": ["a"], "count": 0, "consumed": "x"}, ns="child")
    second = thread.put({"kept": ["a"], "count": None}, parent=first, metadata={"user": "u"})
    third = thread.put({"kept": ["a"], "count": 2, "late": {"k": 1}}, parent=second, metadata={"user": "u"})
    thread.write(first, [("count", 1)], task="t")
    thread.write(second, [(f"channel {index}", index) for index in range(12)], task="t1")
    thread.write(second, [("count", [2]), ("kept", "b")], task="t2")
    stored = [third, second] if condition == "filter" else [third, second, first]
    keywords: dict[str, Any] = {"filter": {"user": "u"}} if condition == "filter" else {}
    listed = saver.list(thread.config(ns=None if condition == "thread" else "child"), **keywords)
    expect_same(
        {each.id: part_of(thread.read(each), part) for each in stored},
        {each.checkpoint["id"]: part_of(each, part) for each in listed},
        f"the {part} of the items, beside what get_tuple gives",
    )


def part_of(found: CheckpointTuple, part: str) -> object:
    """A part of a tuple: a key of ``as_read``, or its pending writes."""
    return writes_of(found) if part == "pending writes" else as_read(found)[part]


# --- length and pages


@rule(MUST, source="BaseCheckpointSaver.list; pregel/main.py: get_state_history reads all of it")
def test_a_long_thread_is_listed_whole(thread: Thread) -> None:
    """A list is complete however long the thread is: it goes on behind the first page of the database.

    Databases answer in pages (100 rows, one megabyte): a saver that reads one page loses the beginning of long
    conversations, and finds no match for a filter when the first page has none.
    """
    stored: list[Stored] = []
    for count in range(105):
        parent = stored[-1] if stored else None
        stored.append(thread.put({"count": count, "text": f"{count:04}" * 2700}, parent=parent))
    ids = [each.id for each in reversed(stored)]
    expect_same(
        {"all": ids, "limit=103": ids[:103], "filter": ids[-1:], "filter and limit=1": ids[-1:], "before": ids[1:]},
        {
            "all": thread.listed_ids(),
            "limit=103": thread.listed_ids(limit=103),
            "filter": thread.listed_ids(filter={"source": "input"}),
            "filter and limit=1": thread.listed_ids(filter={"source": "input"}, limit=1),
            "before": thread.listed_ids(before=stored[-1].config),
        },
        "the ids listed of 105 checkpoints",
    )


@rule(MUST, source="pregel/main.py: get_state_history(limit, before)")
@pytest.mark.parametrize("filter", [None, {"colour": "red"}], ids=["", "filter"])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_pages_hold_every_checkpoint_once(thread: Thread, size: int, filter: dict[str, Any] | None) -> None:
    """Pages of `limit` items, each `before` the last item of the page ahead of it, hold every checkpoint exactly once.

    This is how a history is shown page by page: one that repeats or skips a checkpoint never ends or has holes.
    """
    stored = [thread.put({"count": n}, metadata={"colour": "red" if n % 3 else "blue"}) for n in range(7)]
    wanted = [each.id for each in reversed(stored) if filter is None or each.metadata["colour"] == "red"]
    expect_same(wanted, paged(thread, size, filter, most=len(wanted) + 1), f"the ids of all pages of {size}")


def paged(thread: Thread, size: int, filter: dict[str, Any] | None, *, most: int) -> list[str]:
    """The ids of the pages of a thread's root namespace, of at most ``most`` pages."""
    ids: list[str] = []
    before: RunnableConfig | None = None
    for _ in range(most):
        page = thread.saver.list(thread.config(), filter=filter, before=before, limit=size)
        if not page:
            break
        ids += ids_of(page)
        before = page[-1].config
    return ids


# --- the call itself


@rule(MUST, source="pregel/main.py: get_state_history passes before, limit and filter, also when they are None")
def test_none_is_no_condition(saver: SaverDrive, thread: Thread) -> None:
    """`filter=None, before=None, limit=None` are as if left out.

    `get_state_history` always passes all three.
    """
    stored = thread.chain(2)
    listed = saver.collect("list", thread.config(), filter=None, before=None, limit=None)
    expect_same([stored[1].id, stored[0].id], ids_of(listed), "the ids listed")


@rule(MUST, source="pregel/_internal/_replay.py hands the whole config of a run to list")
def test_other_keys_of_the_config_are_no_conditions(saver: SaverDrive, thread: Thread) -> None:
    """Keys of the config that name neither thread, namespace nor checkpoint restrict nothing and raise nothing.

    The config of a run carries the user's own keys and the engine's objects: callbacks, functions, the runtime.
    """
    stored = thread.chain(2)
    config = thread.config(user_id="u", __pregel_send=lambda writes: None, checkpoint_map={"": "x"}, source="input")
    config.update({"metadata": {"step": 7}, "tags": ["t"], "recursion_limit": 25})
    expect_same([stored[1].id, stored[0].id], ids_of(saver.list(config)), "the ids listed")


@rule(MUST, source="pregel/main.py and pregel/_internal/_replay.py use the config afterwards")
def test_its_arguments_stay_as_they_are(saver: SaverDrive, thread: Thread) -> None:
    """`list` changes neither config, filter nor before.

    The caller goes on using them: the next call would be about something else.
    """
    stored = thread.chain(2)
    given: dict[str, Any] = {
        "config": thread.config(user_id="u"),
        "filter": {"source": "input", "parents": {}},
        "before": stored[1].config,
    }
    expected = copy.deepcopy(given)
    saver.collect("list", given["config"], filter=given["filter"], before=given["before"], limit=1)
    expect_same(expected, given, "the arguments after the call")


@rule(MUST, source="pregel/_internal/_replay.py returns out of the loop over list")
def test_a_list_may_be_left_after_its_first_item(saver: SaverDrive, thread: Thread) -> None:
    """When the iteration is abandoned after the first item, every later call works.

    A replayed subgraph reads one item and leaves: a lock or cursor that stays open stops the whole application.
    """
    stored = thread.chain(3)
    left = saver.first(thread.config())
    read = thread.read(stored[0])
    thread.write(stored[2], [("count", 1)])
    newest = thread.put({"count": 3}, parent=stored[2])
    expect_same(
        {"left": [stored[2].id], "read": stored[0].id, "listed": [newest.id, *[each.id for each in reversed(stored)]]},
        {"left": ids_of(left), "read": read.checkpoint["id"], "listed": thread.listed_ids()},
        "the item after which the list was left, and what get_tuple and list gave afterwards",
    )


@rule(
    QUIRK,
    source="pregel/main.py consumes list at once, so as not to hold up a cursor",
    officials={"InMemorySaver": "works", "SqliteSaver": "deadlocks", "PostgresSaver": "deadlocks"},
)
@pytest.mark.parametrize("call", ["get_tuple", "put"])
def test_calls_inside_a_loop_over_list(
    saver: SaverDrive, thread: Thread, call: str, observe: Callable[[object], None]
) -> None:
    """Whether the saver can be called while the items of a list are gone through."""
    stored = thread.chain(3)
    made = [thread.make({"count": count}, parent=stored[-1]) for count in range(2)]

    def arguments(position: int) -> tuple[Any, ...]:
        one = made[position % 2]
        on = config_of(one.thread_id, one.ns, stored[-1].id)
        putting = (on, dict(one.checkpoint), dict(one.metadata), dict(one.new_versions))
        return putting if call == "put" else (stored[0].config,)

    def loop() -> list[str]:
        return saver.run(lambda: aloop(saver.raw)) if saver.mode == "async" else sync_loop(saver.raw)

    def sync_loop(raw: BaseCheckpointSaver[Any]) -> list[str]:
        seen = []
        for position, each in enumerate(raw.list(thread.config())):
            seen.append(each.checkpoint["id"])
            getattr(raw, call)(*arguments(position))
        return seen

    async def aloop(raw: BaseCheckpointSaver[Any]) -> list[str]:
        seen, position = [], 0
        async for each in raw.alist(thread.config()):
            seen.append(each.checkpoint["id"])
            await getattr(raw, f"a{call}")(*arguments(position))
            position += 1
        return seen

    seen: list[str] = []
    if saver.hangs_in(lambda: seen.extend(loop()), 2.0):
        observe("deadlocks")
        return
    wanted = [each.id for each in reversed(stored)]
    observe("works" if seen == wanted else f"lists {shown(seen)} instead of {shown(wanted)}")
