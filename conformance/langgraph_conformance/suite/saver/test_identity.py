"""Thread ids, namespaces, checkpoint ids, task ids and channel names: each is exactly the text that it is."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from uuid import uuid4

import pytest
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.types import ERROR

from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.errors import Blocked
from langgraph_conformance.expect import expect_same
from langgraph_conformance.lookalikes import BACKSLASHES, EMPTY, HARSH, NAMES, SURROGATES, texts
from langgraph_conformance.rules import MUST, QUIRK, SHOULD, rule
from langgraph_conformance.threads import (
    FIELDS,
    Stored,
    Thread,
    as_read,
    as_stored,
    config_of,
    fresh_id,
    writes_of,
)

NewThread = Callable[..., Thread]

OPAQUE = "BaseCheckpointSaver: thread_id is a primary key"


SEPARATORS: Mapping[str, Sequence[str]] = {
    "none": [""],
    "usual": [":", "|", "/", "-", "_", "."],
    "rare": [",", "#", "$", "~", "@", "%", "&", ";", "="],
    "blank": [" ", "\n", "\t", "\x1f", ", "],
    "doubled": ["::", "__", "--", "||", "->", '","'],
}

kinds = pytest.mark.parametrize("kind", NAMES)
separators = pytest.mark.parametrize("separators", SEPARATORS.values(), ids=SEPARATORS)


def spread(separators: Sequence[str], *patterns: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Each pattern with each separator in place of its ``:``, without repetitions."""
    spreading = [tuple(part.replace(":", each) for part in pattern) for each in separators for pattern in patterns]
    return list(dict.fromkeys(spreading))


def one(thread: Thread, number: int, version: Any, *, ns: str = "", id: str | None = None) -> Stored:
    """A checkpoint that holds a number, with one pending write that holds it, too.

    The channel, its version, the task and often the id are the same in all of them: what is filed under too short a key
    overwrites one another.
    """
    stored = thread.put({"number": number}, ns=ns, id=id, versions={"number": version})
    thread.write(stored, [("number", number)])
    return stored


def held(found: CheckpointTuple | None) -> tuple[Any, list[Any]] | None:
    """The number that a checkpoint holds, and those in its pending writes."""
    if found is None:
        return None
    return found.checkpoint["channel_values"].get("number"), [value for _, _, value in writes_of(found)]


def paths(saver: SaverDrive, stored: Stored) -> dict[str, Any]:
    """What each way to read the only checkpoint of a namespace sees, and which numbers of others on any of them.

    What a list or the latest lacks is no sign of a mistaken identity, so it is left to other rules.
    """
    root, own = config_of(stored.thread_id, stored.ns), stored.values["number"]
    latest, listed = held(saver.get_tuple(root)), [held(each) for each in saver.list(root)]
    numbers = {number for each in (latest, *listed) if each for number in (each[0], *each[1])}
    return {
        "by id": held(saver.get_tuple(stored.config)),
        "latest": latest and latest[0],
        "listed": len(listed),
        "of others": sorted(numbers - {None, own}),
    }


def expected_paths(stored: Stored) -> dict[str, Any]:
    """What each way to read must see."""
    number = stored.values["number"]
    return {"by id": (number, [number]), "latest": number, "listed": 1, "of others": []}


def expect_apart(saver: SaverDrive, stored: Mapping[str, Stored], what: str) -> None:
    """Each of the checkpoints, the only one of its namespace, is seen on every path."""
    expect_same(
        {name: expected_paths(each) for name, each in stored.items()},
        {name: paths(saver, each) for name, each in stored.items()},
        f"the numbers held and written, as each way to read sees them, of checkpoints in {what}",
    )


# --- thread ids


@rule(MUST, source=f"{OPAQUE}; applications choose it")
@pytest.mark.parametrize("kind", [*NAMES, "spaces in front"])
def test_thread_ids_are_exact(saver: SaverDrive, new_thread: NewThread, kind: str) -> None:
    """A thread id names one thread: no other one whose id is like it in case, spaces, form, pattern or number.

    Thread ids are made of what applications have: names, mail addresses, phone numbers, paths. Where two of them meet,
    one user reads and continues another user's conversation.
    """
    unique, version = fresh_id(), saver.get_next_version(None)
    id = Thread(saver, unique).make().id
    in_front = kind.endswith("in front")
    names = [f"{name}{unique}" if in_front else f"{unique}{name}" for name in NAMES[kind.removesuffix(" in front")]]
    stored = {name: one(new_thread(id=name), number, version, id=id) for number, name in enumerate(names)}
    expect_apart(saver, stored, "threads with these ids")


@rule(MUST, source=f"{OPAQUE}; applications choose it")
@pytest.mark.parametrize("kind", ["number", "uuid"])
def test_thread_ids_that_look_like_something_else_are_texts(
    saver: SaverDrive, new_thread: NewThread, kind: str
) -> None:
    """A thread id that looks like a number or a UUID is a text: "7" is not "07", a UUID not the same in capitals.

    Phone numbers and customer numbers are thread ids. A column of another type, or a driver that converts what looks
    so, makes two of them one.
    """
    number, uuid = str(random.randrange(10**11, 10**12)), str(uuid4())
    names = {
        "number": [
            *(
                number,
                f"0{number}",
                f"00{number}",
                f"+{number}",
                f"-{number}",
                f"{number}.0",
                f"{number}.",
                f"{number}e0",
            ),
            *(f" {number}", f"{number} ", f"{number}0", f"{number[:6]}_{number[6:]}", hex(int(number)), f"{number}n"),
        ],
        "uuid": [uuid, uuid.upper(), uuid.replace("-", ""), f"{{{uuid}}}", f"urn:uuid:{uuid}", f" {uuid}", f"{uuid}0"],
    }[kind]
    version = saver.get_next_version(None)
    id = Thread(saver, number).make().id
    stored = {name: one(new_thread(id=name), index, version, id=id) for index, name in enumerate(names)}
    expect_apart(saver, stored, "threads with these ids")


@rule(MUST, source=f"{OPAQUE}; it comes from outside in many applications")
@pytest.mark.parametrize("pattern", ["*", "%", "_", "?", ".", ".*", "[0-9a-f]*", "**", "%%", "", "None", "()", "-x"])
def test_a_thread_id_that_is_a_pattern_finds_no_other_thread(saver: SaverDrive, thread: Thread, pattern: str) -> None:
    """A thread id that is nothing but a pattern, or empty, gives no checkpoint of another thread.

    Thread ids come in with requests: whoever asks for the thread `*` must not get the conversations of all others.
    """
    mark = fresh_id()
    stored = thread.put({"number": 1}, metadata={"mark": mark})
    # as many single-character wildcards as the other thread's id has characters
    asked = pattern * len(thread.id) if pattern in ("_", "?", ".") else pattern
    config = config_of(asked, "")
    latest = kept_or_refused(saver, saver.get_tuple, config)
    filtered = kept_or_refused(saver, saver.list, config, filter={"mark": mark}) or []
    newest = kept_or_refused(saver, saver.list, config_of(asked, None), limit=3) or []
    found = [each.checkpoint["id"] for each in [latest, *filtered, *newest] if each]
    expect_same([], [id for id in found if id == stored.id], f"what is found of another thread with the id {asked!r}")


@rule(MUST, source=OPAQUE)
def test_backslashes_in_thread_ids_are_backslashes(saver: SaverDrive, new_thread: NewThread) -> None:
    """A backslash in a thread id stands for itself.

    Taken for an escape, it makes two ids one, or a thread unreadable.
    """
    unique, version = fresh_id(), saver.get_next_version(None)
    stored = {name: one(new_thread(id=f"{unique}{name}"), number, version) for number, name in enumerate(BACKSLASHES)}
    expect_apart(saver, stored, "threads whose ids end so")


@rule(MUST, source=OPAQUE)
@pytest.mark.parametrize("kind", HARSH)
def test_a_harsh_thread_id_is_exact_or_refused(saver: SaverDrive, new_thread: NewThread, kind: str) -> None:
    """A thread id with NUL, control characters or thousands of characters is kept exactly, or refused with an error.

    Cut or cleaned in silence, it is another thread's.
    """
    unique, version = fresh_id(), saver.get_next_version(None)
    id = Thread(saver, unique).make().id
    made = {
        name: kept_or_refused(saver, one, new_thread(id=f"{unique}{name}"), number, version, id=id)
        for number, name in enumerate(HARSH[kind])
    }
    expect_same(
        {name: expected_paths(stored) for name, stored in made.items() if stored},
        {name: paths(saver, stored) for name, stored in made.items() if stored},
        "what is seen in the threads that were taken",
    )
    refused = [f"{unique}{name}" for name, stored in made.items() if stored is None]
    expect_same(
        {name: None for name in refused},
        {name: held(kept_or_refused(saver, saver.get_tuple, config_of(name, ""))) for name in refused},
        "what is seen in the threads that were refused",
    )


def kept_or_refused(saver: SaverDrive, call: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """What the call gives; None when the saver refuses it with an error."""
    try:
        return call(*arguments, **keywords)
    except Blocked:
        raise
    except Exception:
        saver.broken = True  # a connection may be out of step now, which must not fail other checks
        return None


@rule(
    QUIRK,
    source="InMemorySaver, SqliteSaver, PostgresSaver; the engine always passes text",
    officials={
        "InMemorySaver": "found by the number",
        "SqliteSaver": "found by the number and the text",
        "PostgresSaver": "found by the text",
    },
)
def test_a_number_as_thread_id(saver: SaverDrive, new_thread: NewThread, observe: Callable[[object], None]) -> None:
    """Whether a thread that was put under a number is found by the number, by its text, or both."""
    number = random.randrange(10**12, 10**13)
    thread = new_thread(id=number)
    if kept_or_refused(saver, thread.put, {"number": 1}) is None:
        observe("refused")
        return
    found = {
        "the number": kept_or_refused(saver, saver.get_tuple, thread.config()),
        "the text": kept_or_refused(saver, saver.get_tuple, config_of(str(number), "")),
    }
    observe(f"found by {' and '.join(name for name, each in found.items() if each) or 'neither'}")


# --- namespaces


@rule(MUST, source="pregel/_loop.py: a subgraph's namespace is made of node names and task ids")
@kinds
def test_namespaces_are_exact(saver: SaverDrive, thread: Thread, kind: str) -> None:
    """A namespace is one subgraph's: no other one whose name is like it in case, spaces, form, pattern or number.

    Namespaces hold the names of nodes, which authors choose: a subgraph would go on from another one's state.
    """
    id, version = thread.make().id, saver.get_next_version(None)
    stored = {ns: one(thread, number, version, ns=ns, id=id) for number, ns in enumerate(NAMES[kind])}
    expect_apart(saver, stored, "namespaces of one thread")


@rule(MUST, source="pregel/_loop.py: the root graph's namespace is empty")
def test_the_root_namespace_is_no_named_one(saver: SaverDrive, thread: Thread) -> None:
    """The empty namespace is no other: not that of a stand-in which a database needs for an empty key.

    A subgraph in a node that happens to be called like the stand-in would overwrite the root graph.
    """
    id, version = thread.make().id, saver.get_next_version(None)
    stored = {ns: one(thread, number, version, ns=ns, id=id) for number, ns in enumerate(EMPTY)}
    expect_apart(saver, stored, "namespaces of one thread")


@rule(MUST, source="pregel/_loop.py: nested subgraphs have namespaces joined with | and :")
def test_long_namespaces_are_exact(saver: SaverDrive, thread: Thread) -> None:
    """Namespaces of deeply nested subgraphs are kept whole, also when they differ only at their end.

    Each level adds a node's name and a task id: five levels are over 200 characters. Cut, inner subgraphs share one
    state.
    """
    level = "some_node:5f0e1c9a-77ab-4c3e-9d0f-2f6f1b7d7a10|"
    names = [f"{level * depth}leaf:{end}" for depth in (1, 2, 3, 5, 8, 11) for end in ("1", "2")]
    id, version = thread.make().id, saver.get_next_version(None)
    stored = {ns: one(thread, number, version, ns=ns, id=id) for number, ns in enumerate(names)}
    expect_apart(saver, stored, "namespaces of one thread")


@rule(MUST, source="pregel/_loop.py: a subgraph's namespace is made of node names and task ids")
def test_backslashes_in_namespaces_are_backslashes(saver: SaverDrive, thread: Thread) -> None:
    """A backslash in a namespace stands for itself.

    Taken for an escape, it makes two subgraphs one, or one unreadable.
    """
    id, version = thread.make().id, saver.get_next_version(None)
    stored = {ns: one(thread, number, version, ns=ns, id=id) for number, ns in enumerate(BACKSLASHES)}
    expect_apart(saver, stored, "namespaces of one thread")


@rule(MUST, source="pregel/_loop.py: a subgraph's namespace is made of node names and task ids")
@pytest.mark.parametrize("kind", HARSH)
def test_a_harsh_namespace_is_exact_or_refused(saver: SaverDrive, thread: Thread, kind: str) -> None:
    """A namespace with NUL, control characters or thousands of characters is kept exactly, or refused with an error.

    Cut or cleaned in silence, it is another subgraph's.
    """
    id, version = thread.make().id, saver.get_next_version(None)
    made = {
        ns: kept_or_refused(saver, one, thread, number, version, ns=ns, id=id) for number, ns in enumerate(HARSH[kind])
    }
    expect_same(
        {ns: expected_paths(stored) for ns, stored in made.items() if stored},
        {ns: paths(saver, stored) for ns, stored in made.items() if stored},
        "what is seen in the namespaces that were taken",
    )


@rule(MUST, source="BaseCheckpointSaver.list: a config without a namespace; pregel/_loop.py")
def test_each_namespace_is_listed_under_its_name(saver: SaverDrive, thread: Thread) -> None:
    """A list of the whole thread gives each checkpoint under the namespace that it was put in, to the letter.

    What is listed is addressed by the config in it: under another name, a subgraph's state is not found again.
    """
    names = sorted(
        ["", "Child:1|Inner:2", " b", "c ", "d%", "e_", "\u00e9", "o\u0308", "🧵", "g/h", "i'", "01", "1.0", "x" * 99]
    )
    for number, ns in enumerate(names):
        thread.put({"number": number}, ns=ns)
    listed = saver.list(thread.config(ns=None))
    expect_same(names, sorted(each.config["configurable"]["checkpoint_ns"] for each in listed), "the namespaces listed")


@rule(MUST, source="pregel/main.py: the config of a state leads back to it")
def test_each_thread_is_found_under_its_id(saver: SaverDrive, new_thread: NewThread) -> None:
    """The config of a checkpoint names its thread to the letter, when it is the latest and when it is listed.

    What is found is addressed by that config: under another name, the conversation is not found again.
    """
    endings = ["", "-A", " b", "c ", "%", "_", "\u00e9", "o\u0308", "🧵", "/h", ":1|2", "'", "01", ".0", "x" * 60]
    threads = [new_thread(end) for end in endings]
    for thread in threads:
        thread.put({})
    expect_same(
        {thread.id: (thread.id, [thread.id]) for thread in threads},
        {
            thread.id: (
                thread.latest().config["configurable"]["thread_id"],
                [each.config["configurable"]["thread_id"] for each in saver.list(thread.config())],
            )
            for thread in threads
        },
        "the thread ids in the configs",
    )


# --- the same checkpoint id elsewhere


@rule(MUST, source="BaseCheckpointSaver: a checkpoint is named by thread, namespace and id together")
@pytest.mark.parametrize("apart", ["namespace", "nested namespace", "thread", "thread and namespace"])
def test_the_same_checkpoint_id_elsewhere_is_another_checkpoint(
    saver: SaverDrive, thread: Thread, new_thread: NewThread, apart: str
) -> None:
    """One id may be used in several threads and namespaces: each has its own checkpoint, values, writes and parent.

    A thread that was copied has the ids of its source. Filed by id alone, work on the copy changes the original.
    """
    id, version = thread.make().id, saver.get_next_version(None)
    other = new_thread() if "thread" in apart else thread
    ns = {"namespace": "child", "nested namespace": "child:1|inner:2", "thread": "", "thread and namespace": "child"}[
        apart
    ]
    stored = {"first": one(thread, 1, version, id=id), "second": one(other, 2, version, ns=ns, id=id)}
    expect_apart(saver, stored, f"another {apart} under one id")


@rule(MUST, source="BaseCheckpointSaver: one saver serves all threads of a process")
@pytest.mark.parametrize("of", ["thread id", "namespace", "channel", "value"])
def test_a_text_that_is_refused_leaves_the_saver_in_step(
    saver: SaverDrive, new_thread: NewThread, thread: Thread, of: str
) -> None:
    """After a put with a text that is no valid Unicode, whether it was taken or refused, others read what is theirs.

    Such a text comes with any JSON from outside ("\\ud800"). A driver that meets it half-way through a message answers
    the next question with the answer to the last one: people read what belongs to others.
    """
    version = saver.get_next_version(None)
    others = {name: one(new_thread(), number, version) for number, name in enumerate(("first", "second", "third"))}
    unique, harsh = fresh_id(), SURROGATES[-1]
    bad = {
        "thread id": lambda: one(new_thread(id=f"{unique}{harsh}"), 9, version),
        "namespace": lambda: one(thread, 9, version, ns=harsh),
        "channel": lambda: thread.put({harsh: [9]}),
        "value": lambda: thread.put({"value": [harsh]}),
    }[of]
    kept_or_refused(saver, bad)
    expect_apart(saver, others, "threads that were put before")


@rule(
    MUST, source="pregel/_loop.py: the root graph's namespace is the empty text, a subgraph's begins with a node's name"
)
def test_the_root_is_no_namespace_with_a_name(saver: SaverDrive, thread: Thread) -> None:
    """The root's namespace, the empty text, is apart from every namespace that has a name.

    Where a database wants a name for it, such as `default`, a node of that name shares its state with the root graph.
    """
    names = [*EMPTY, "default", "__root__", "main", "root:1", "__none__", "empty", "ROOT", "/", ":", "|", "*"]
    version, id = saver.get_next_version(None), thread.make().id
    stored = {name: one(thread, number, version, ns=name, id=id) for number, name in enumerate(names, 1)}
    expect_apart(saver, stored, "namespaces with these names")


# --- checkpoint ids


def expect_ordered(saver: SaverDrive, thread: Thread, ids: Sequence[str]) -> None:
    """Checkpoints with these ids are read by them, and the latest and a list go by their order."""
    shuffled = random.Random(7).sample(list(ids), len(ids))
    stored = {id: thread.put({"number": number}, id=id) for number, id in enumerate(shuffled)}
    for number, each in enumerate(stored.values()):
        thread.write(each, [("number", number)])
    falling = sorted(ids, reverse=True)
    expect_same(
        {
            "by id": {id: (expected_paths(each)["by id"]) for id, each in stored.items()},
            "listed": falling,
            "latest": falling[0],
        },
        {
            "by id": {id: held(saver.get_tuple(each.config)) for id, each in stored.items()},
            "listed": thread.listed_ids(),
            "latest": thread.latest().checkpoint["id"],
        },
        "checkpoints with these ids",
    )


UUIDS: Mapping[str, Sequence[str]] = {
    "end": ["1ef4f797-8335-6428-8001-8a1503f9b875", "1ef4f797-8335-6428-8001-8a1503f9b876"],
    "start": ["1ef4f797-8335-6428-8001-8a1503f9b875", "2ef4f797-8335-6428-8001-8a1503f9b875"],
    "digits and letters": [f"1ef4f797-8335-6428-8001-8a1503f9b87{digit}" for digit in "09af"],
    "first digit": [f"{digit}ef4f797-8335-6428-8001-8a1503f9b875" for digit in "019af"],
    "clock sequence": [f"1ef4f797-8335-6428-{step}-8a1503f9b875" for step in ("8000", "8001", "800a", "bffe", "bfff")],
    "time": [f"1ef4f797-8335-6{tick}-bfff-8a1503f9b875" for tick in ("428", "429", "42a", "42f", "430", "fff")],
    "time against node": ["1ef4f797-8335-6428-8001-ffffffffffff", "1ef4f797-8335-6429-8001-000000000000"],
    "exponents": [
        "1e000000-0000-6000-8000-000000000001",
        "1e100000-0000-6000-8000-000000000001",
        "00000000-0000-6000-8000-000000000000",
    ],
}


@rule(
    MUST, source="Checkpoint.id: unique and increasing, so can be used for sorting; langgraph.checkpoint.base.id.uuid6"
)
@pytest.mark.parametrize("kind", UUIDS)
def test_checkpoint_ids_are_exact_and_ordered(saver: SaverDrive, thread: Thread, kind: str) -> None:
    """Checkpoint ids, as LangGraph makes them, are told apart by every digit and ordered as text.

    They begin with the time, and several are made in one microsecond: ordered by a part of them, or as numbers,
    "latest" is an older state.
    """
    expect_ordered(saver, thread, UUIDS[kind])


CODE_POINTS = [*texts("10 9 B a ~ \u00e9 e Z - _ a-b ab aB \uff5e \U0001f600 z"), "a b"]


@rule(SHOULD, source="Checkpoint.id is a str; InMemorySaver, SqliteSaver, PostgresSaver")
@pytest.mark.parametrize(
    "kind", [*texts("case spaces accents like search encoded numbers prefixes long"), "backslashes", "code points"]
)
def test_any_text_is_a_checkpoint_id(saver: SaverDrive, thread: Thread, kind: str) -> None:
    """Checkpoint ids may be any text, told apart exactly and ordered by code point: "10" is before "9", "B" before "a".

    Ids that were made by other tools sort so in official savers: by number, by the rules of a language or without
    regard to case, "latest" is another checkpoint.
    """
    expect_ordered(saver, thread, {**NAMES, "backslashes": BACKSLASHES, "code points": CODE_POINTS}[kind])


@rule(SHOULD, source="InMemorySaver.list, SqliteSaver.list, PostgresSaver.list: a smaller id")
@pytest.mark.parametrize("kind", ["code points", "numbers", "case", "prefixes"])
def test_before_compares_ids_by_code_point(thread: Thread, kind: str) -> None:
    """`before` bounds a list by the order in which it lists: ids compare as text, by code point.

    Compared in another way than they are sorted, pages repeat checkpoints or skip them.
    """
    ids = {**NAMES, "code points": CODE_POINTS}[kind]
    stored = [thread.put({}, id=id) for id in ids]
    expect_same(
        {id: sorted((other for other in ids if other < id), reverse=True) for id in ids},
        {each.id: thread.listed_ids(before=each.config) for each in stored},
        "the ids listed before each",
    )


# --- task ids


def written_by(thread: Thread, tasks: Iterable[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two writes by each of these tasks at one checkpoint: as they must be read, and as they are."""
    stored = thread.put({})
    expected = {task: [("a", number), ("b", number)] for number, task in enumerate(tasks)}
    for task, writes in expected.items():
        thread.write(stored, writes, task=task)
    return expected, by_task(thread.read(stored))


def by_task(found: CheckpointTuple) -> dict[Any, list[tuple[Any, Any]]]:
    """The channels and values that each task wrote."""
    written: dict[Any, list[tuple[Any, Any]]] = {}
    for task, channel, value in writes_of(found):
        written.setdefault(task, []).append((channel, value))
    return written


@rule(MUST, source="BaseCheckpointSaver.put_writes: task_id identifies the task; StateUpdate.task_id is the caller's")
@kinds
def test_task_ids_are_exact(thread: Thread, kind: str) -> None:
    """A task id is one task's: no other one whose id is like it in case, spaces, form, pattern or number.

    The first of two tasks that meet would keep its writes, and the other's be lost.
    """
    expected, actual = written_by(thread, NAMES[kind])
    expect_same(expected, actual, "the writes of each task")


@rule(SHOULD, source="BaseCheckpointSaver.put_writes: task_id identifies the task; LangGraph's own are UUIDs")
def test_backslashes_in_task_ids_are_backslashes(thread: Thread) -> None:
    """A backslash in a task id stands for itself.

    Taken for an escape, it makes two tasks one, or their checkpoint unreadable.
    """
    expected, actual = written_by(thread, BACKSLASHES)
    expect_same(expected, actual, "the writes of each task")


@rule(MUST, source="WRITES_IDX_MAP: writes are kept by task id and position")
def test_task_id_and_position_are_not_joined(thread: Thread) -> None:
    """The second write of task "t1" is not the twelfth of task "t".

    Keys that are joined from id and position overwrite writes of tasks with similar ids.
    """
    tasks = ["t", "t1", "1t", "t-", "t:", "t:1", "t_1", "t11", "t0"]
    stored = thread.put({})
    for task in tasks:
        thread.write(stored, [("a", f"{task} {index}") for index in range(12)], task=task)
        thread.write(stored, [(ERROR, f"{task} error")], task=task)
    found = writes_of(thread.read(stored))
    expect_same(
        {task: sorted([f"{task} error", *(f"{task} {index}" for index in range(12))]) for task in tasks},
        {task: sorted(value for other, _, value in found if other == task) for task in tasks},
        "the twelve writes and the error of each task",
    )


@rule(MUST, source="BaseCheckpointSaver.put_writes: task_id, task_path and channel are arguments of their own")
@separators
def test_task_id_path_and_channel_are_not_joined(thread: Thread, separators: Sequence[str]) -> None:
    """Task id, task path and channel name are told apart wherever the one ends and the other begins.

    Keys that are joined from them overwrite writes of other tasks.
    """
    patterns = [("1", "2:3", "x"), ("1:2", "3", "x"), ("4", "x", "5:6"), ("4:5", "x", "6")]
    rows = {each: spread([each], *patterns) for each in separators}
    stored = {each: thread.put({}) for each in separators}
    for each in separators:
        for task, path, channel in rows[each]:
            thread.write(stored[each], [(channel, f"{task}, {path}")], task=task, path=path)
    expect_same(
        {each: sorted((task, channel, f"{task}, {path}") for task, path, channel in rows[each]) for each in separators},
        {each: sorted(writes_of(thread.read(stored[each]))) for each in separators},
        "the writes of all tasks, by separator",
    )


# --- channel names


@rule(MUST, source="Checkpoint.channel_values: from channel name to value; applications choose the keys of their state")
@kinds
def test_channel_names_are_exact(thread: Thread, kind: str) -> None:
    """A channel name is one channel's: no other one whose name is like it in case, spaces, form, pattern or number.

    A value of the state would be lost, or be read under another key.
    """
    expect_channels(thread, NAMES[kind])


@rule(MUST, source="Checkpoint.channel_values: from channel name to value; applications choose the keys of their state")
def test_channels_may_be_called_as_fields_are(thread: Thread) -> None:
    """A channel may have the name of a checkpoint's own field, or of an address: both are read as they were put.

    `id`, `type` and `ts` are natural keys of a state: in one flat document they take the place of the saver's own.
    """
    names = [*FIELDS, "pending_sends", "thread_id", "checkpoint_ns", "checkpoint_id", "parent_checkpoint_id"]
    names += texts("type metadata checkpoint writes value channel version task_id idx source step")
    first = thread.put({name: f"{name} 1" for name in names})
    second = thread.put({name: [name] for name in names}, parent=first)
    expect_same(
        [as_stored(first), as_stored(second)],
        [as_read(thread.read(first)), as_read(thread.read(second))],
        "two checkpoints with channels of these names",
    )


@rule(MUST, source="Checkpoint.channel_values: from channel name to value")
def test_backslashes_in_channel_names_are_backslashes(thread: Thread) -> None:
    """A backslash in a channel name stands for itself.

    Taken for an escape, it makes two channels one, or the whole state unreadable.
    """
    expect_channels(thread, BACKSLASHES)


def expect_channels(thread: Thread, names: Sequence[str]) -> None:
    """Channels with these names keep their values and versions, also when only one of them changes afterwards."""
    first = thread.put({name: [number] for number, name in enumerate(names)})
    changed = {**first.values, names[0]: ["changed"]}
    second = thread.put(changed, parent=first)
    stored = {"first": first, "second": second}
    expect_same(
        {name: (dict(each.values), each.checkpoint["channel_versions"]) for name, each in stored.items()},
        {
            name: (dict(found.checkpoint["channel_values"]), dict(found.checkpoint["channel_versions"]))
            for name, found in ((name, thread.read(each)) for name, each in stored.items())
        },
        "values and versions of the channels, and after one of them has changed",
    )
    listed = thread.saver.list(thread.config(), limit=1)
    expect_same(
        [changed], [dict(each.checkpoint["channel_values"]) for each in listed], "the values of the newest, listed"
    )


@rule(MUST, source="BaseCheckpointSaver.put_writes: a write is a channel name and a value")
@pytest.mark.parametrize("kind", NAMES)
def test_channel_names_of_writes_are_exact(thread: Thread, kind: str) -> None:
    """The channel that a task wrote to comes back to the letter.

    A write under another name goes to another key of the state, or to none.
    """
    batch = [(name, number) for number, name in enumerate(NAMES[kind])]
    stored = thread.put({})
    thread.write(stored, batch)
    expect_same(
        batch, [(channel, value) for _, channel, value in writes_of(thread.read(stored))], "the writes of the task"
    )


@rule(MUST, source="BaseCheckpointSaver.put_writes: a write is a channel name and a value")
def test_backslashes_in_channel_names_of_writes_are_backslashes(thread: Thread) -> None:
    """A backslash in the name of a channel that a task wrote to stands for itself.

    Taken for an escape, it sends the write to another channel, or makes the checkpoint unreadable.
    """
    batch = [(name, number) for number, name in enumerate(BACKSLASHES)]
    stored = thread.put({})
    thread.write(stored, batch)
    expect_same(
        batch, [(channel, value) for _, channel, value in writes_of(thread.read(stored))], "the writes of the task"
    )


@rule(MUST, source="Checkpoint.channel_values: from channel name to value")
@pytest.mark.parametrize("kind", [*HARSH, "empty"])
@pytest.mark.parametrize("of", ["channel", "task"])
def test_a_harsh_channel_or_task_is_exact_or_refused(thread: Thread, of: str, kind: str) -> None:
    """A channel name or task id with NUL, control characters or great length is kept exactly, or refused with an error.

    Cut or cleaned in silence, it is another one's.
    """
    names = HARSH.get(kind, EMPTY)
    stored = {name: kept_or_refused(thread.saver, harsh, thread, of, name) for name in names}
    taken = [each for each in stored.values() if each is not None]
    expect_same(
        [each["put"] for each in taken],
        [harshly_read(thread, of, each["stored"]) for each in taken],
        f"what each {of} holds",
    )


def harsh(thread: Thread, of: str, name: str) -> dict[str, Any]:
    """A checkpoint of its own with a channel, or a task, of that name, and one whose name differs at its end."""
    twin = f"{name[:-1]}~"
    if of == "channel":
        stored = thread.put({name: ["value"], twin: ["twin"], "plain": ["plain"]})
        return {"stored": stored, "put": dict(stored.values)}
    stored = thread.put({})
    thread.write(stored, [("a", 1)], task=name)
    thread.write(stored, [("a", 2)], task=twin)
    return {"stored": stored, "put": sorted([(name, "a", 1), (twin, "a", 2)])}


def harshly_read(thread: Thread, of: str, stored: Stored) -> object:
    """What is read of it."""
    found = thread.read(stored)
    return dict(found.checkpoint["channel_values"]) if of == "channel" else sorted(writes_of(found))


# --- names that meet when they are joined


@rule(MUST, source="BaseCheckpointSaver: thread id and namespace are keys of their own")
@separators
def test_thread_id_and_namespace_are_not_joined(
    saver: SaverDrive, new_thread: NewThread, separators: Sequence[str]
) -> None:
    """A thread and a namespace are told apart wherever the one ends and the other begins.

    Keys that are joined from both, with a character that either may hold, mix conversations with subgraphs of others.
    """
    unique, version = fresh_id(), saver.get_next_version(None)
    id = Thread(saver, unique).make().id
    addresses = spread(separators, ("a", "b:c"), ("a:b", "c"), ("a:b:c", ""), ("a:", ""), ("a", ":"), ("a", ""))
    threads = {name: new_thread(id=unique + name) for name, _ in addresses}
    stored = {
        f"{name!r}, {ns!r}": one(threads[name], number, version, ns=ns, id=id)
        for number, (name, ns) in enumerate(addresses)
    }
    expect_apart(saver, stored, "threads whose ids end so, and namespaces")


@rule(MUST, source="InMemorySaver and PostgresSaver keep values by thread, namespace, channel and version")
@separators
def test_namespace_and_channel_are_not_joined(saver: SaverDrive, thread: Thread, separators: Sequence[str]) -> None:
    """A namespace and a channel are told apart wherever the one ends and the other begins.

    Values that are kept under a key joined from both appear in the state of another subgraph.
    """
    version = saver.get_next_version(None)
    addresses = spread(separators, ("a", "b:c"), ("a:b", "c"), ("d", ":c"), ("d:", "c"), ("", "a:c"), ("a:b:c", "x"))
    stored = [
        thread.put({channel: [number]}, ns=ns, versions={channel: version})
        for number, (ns, channel) in enumerate(addresses)
    ]
    expect_same(
        {address: {address[1]: [number]} for number, address in enumerate(addresses)},
        {
            address: dict(thread.read(each).checkpoint["channel_values"])
            for address, each in zip(addresses, stored, strict=True)
        },
        "the values by namespace and channel",
    )


@rule(MUST, source="BaseCheckpointSaver.get_next_version: versions may be integers, as its own are")
def test_channel_and_version_are_not_joined(thread: Thread) -> None:
    """Version 11 of channel "a" is not version 1 of channel "a1".

    Values that are kept under a key joined from both appear under another channel.
    """
    versions = {"a": 111, "a1": 11, "a11": 1, "1a": 1, "11a": 111}
    stored = thread.put({channel: [channel] for channel in versions}, versions=versions)
    expect_same(dict(stored.values), dict(thread.read(stored).checkpoint["channel_values"]), "the channel values")


@rule(SHOULD, source="BaseCheckpointSaver: namespace and checkpoint id are keys of their own")
@separators
def test_namespace_and_checkpoint_id_are_not_joined(
    saver: SaverDrive, thread: Thread, separators: Sequence[str]
) -> None:
    """A namespace and a checkpoint id are told apart wherever the one ends and the other begins.

    Ids as LangGraph makes them have no such characters; those of other tools have.
    """
    addresses = spread(separators, ("a", "b:c"), ("a:b", "c"), ("d:", "c"), ("d", ":c"), ("", "a:b:c"))
    stored = {address: thread.put({"number": n}, ns=address[0], id=address[1]) for n, address in enumerate(addresses)}
    for number, each in enumerate(stored.values()):
        thread.write(each, [("number", number)])
    expect_same(
        {address: expected_paths(each)["by id"] for address, each in stored.items()},
        {address: held(saver.get_tuple(each.config)) for address, each in stored.items()},
        "the numbers held and written, by namespace and checkpoint id",
    )


@rule(SHOULD, source="BaseCheckpointSaver.put_writes: checkpoint id and task id are keys of their own")
@separators
def test_checkpoint_id_and_task_id_are_not_joined(thread: Thread, separators: Sequence[str]) -> None:
    """A checkpoint id and a task id are told apart wherever the one ends and the other begins.

    Ids as LangGraph makes them have no such characters; those of other tools have.
    """
    addresses = spread(separators, ("a", "b:c"), ("a:b", "c"), ("d:", "c"), ("d", ":c"))
    stored = {id: thread.put({}, id=id) for id, _ in addresses}
    for number, (id, task) in enumerate(addresses):
        thread.write(stored[id], [("a", number)], task=task)
    expect_same(
        {
            id: sorted((task, "a", number) for number, (other, task) in enumerate(addresses) if other == id)
            for id in stored
        },
        {id: sorted(writes_of(thread.read(each))) for id, each in stored.items()},
        "the writes at each checkpoint",
    )
