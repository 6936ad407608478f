"""A state machine that uses a saver as the engine and its users do, and compares it with the reference after each read.

It stays where the contract is clear: what official savers do in different ways is neither tried nor looked at. The
`wide` domain adds what is advice only.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import WRITES_IDX_MAP, CheckpointTuple
from langgraph.types import Send
from langgraph_reference import ReferenceSaver

from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.errors import Blocked
from langgraph_conformance.expect import expect_same, expect_true, same, shown
from langgraph_conformance.explore import Machine, World
from langgraph_conformance.fixtures import remove
from langgraph_conformance.lookalikes import BACKSLASHES, NAMES
from langgraph_conformance.rules import unmet
from langgraph_conformance.suite.properties.choices import JSON, SEPARATORS, TEXTS, pick, picks, some_of
from langgraph_conformance.suite.saver import values as pools
from langgraph_conformance.suite.saver.test_concurrency import cancelled
from langgraph_conformance.threads import (
    FORMAT,
    Thread,
    address_of,
    as_read,
    config_of,
    expect_tuple,
    fresh_id,
    writes_of,
)

Address = tuple[str, str, str]
"""Thread id, namespace and checkpoint id."""

ORDERED = unmet("langgraph-checkpoint>=4.3") is None
"""Whether pending writes have one order over all tasks: before, only each task's own is promised.

A rule of its own asks for it; savers of before that break this one need not break every other.
"""
SEEDED = unmet("langgraph-checkpoint>=4.2") is None
"""Whether the history of a delta channel has the writes of its seed's checkpoint."""
SPECIAL = list(WRITES_IDX_MAP)
REGULAR = ["__no_writes__", "error", "__return__"]
"""Channels of writes that look special and are not."""
NOBODY = "00000000-0000-0000-0000-000000000000"
"""The task to which `update_state` and a `Command` write."""
PATHS = [
    "",
    "~__pregel_pull, node",
    "~__pregel_pull, a",
    "~__pregel_push, 10, False",
    "~__pregel_push, 2, False",
    "~__pregel_pull, B",
    f"~__pregel_pull, {'x' * 70}2",
    f"~__pregel_pull, {'x' * 70}1",
]
ODD_VALUES: Mapping[str, Any] = {**pools.NOT_FINITE, **pools.TEXT_WITH_NUL}
"""Values that advice alone is about; as a whole value of a channel official savers do not agree on them."""
EMPTIED = object()
"""Stands for a channel that gets a new version and no value."""
LONG = ("checkpoints", "writes", "versions")
"""Of what an example may have very many."""
MOST_NEAR = 5
"""How many checkpoints of a thread are looked at before and after it is changed."""
MOST_READ_AGAIN = 12
"""How many checkpoints are read one by one in the end; all are listed."""
MOST_READS = 8
"""How many earlier results are looked at again in the end."""
RANKS = 6
"""How many checkpoint ids are used on purpose, in any order and in several places."""
_PLAIN = (type(None), bool, int, float, str, bytes, date, time, timedelta, UUID, Decimal)


def _is_clear(value: Any) -> bool:
    """Whether every saver must keep the value in its type, and a script can show it."""
    if isinstance(value, dict):
        return type(value) is dict and all(map(_is_clear, [*value, *value.values()]))
    if type(value) in (list, set, frozenset):
        return all(map(_is_clear, value))
    return isinstance(value, _PLAIN) and not isinstance(value, Enum) and "zoneinfo" not in repr(value)


_ALONE = [value for kind in pools.KINDS.values() for value in kind.values() if _is_clear(value)]
_OBJECTS = [
    *(
        HumanMessage("hi", id="1"),
        AIMessage([{"type": "text", "text": "hi"}], id="2"),
        ToolMessage("7", tool_call_id="3"),
    ),
    *(Send("node", {"bytes": b"\xff"}), [HumanMessage("hi", id="1"), HumanMessage("ho", id="1")]),
]
POOL = [
    0,
    *_ALONE,
    *_OBJECTS,
    *([value, 1] for value in _ALONE[::5]),
    *({"a.b": value, "$c": [None]} for value in _ALONE[2::5]),
]
"""Values of a channel and of a write, alone and in containers."""
REFUSED: Mapping[str, Any] = {"a complex number": 1j, "half of a letter": ["\ud800"]}
"""Values that not every saver can store."""
DOUBTFUL = ["half of a letter"]
"""Those of which a saver may store something else: in a thread of which nothing is read."""
NUMBERS = [0, 1, -1, 2, 10, 9, 100, 2**31, 0.5, -2.25]
SPELLINGS: Mapping[str, Callable[[UUID], Sequence[str]]] = {
    "numbers": lambda one: [
        form.format(one.int % 10**17 + 10**17)
        for form in ("{}", "{}1", "{}2", "0{}", "{}.0", "{}.", "+{}", "{}e0", " {}", "{}_0")
    ],
    "uuids": lambda one: [str(one), str(one).upper(), one.hex, f"{{{one}}}", one.urn, one.hex.upper()],
}
"""By kind: ways to write a number or an id that nobody else uses."""
alike_kinds = st.sampled_from([*NAMES, "backslashes", "very long"])
VERY_LONG = [f"{'x' * length}{end}" for length in (64, 128, 150, 200, 255) for end in "12"]
"""Names that a backend may refuse, and must not cut."""
kinds = st.sampled_from(["case", *(kind for kind in NAMES if kind != "case"), *["joined"] * 5, "backslashes"])
values = st.sampled_from(POOL)
looks = st.booleans()
"""Whether what is changed is looked at before and after."""
json_values = st.sampled_from(JSON)
USERS = ["a", "A", "ab", "a%", "%", "a'b", "1", "", "a-b", "a b", f"{'x' * 40}1", f"{'x' * 40}2"]
RUNS = [0, 1, 2, 10]
metadata = some_of(
    user=USERS, score=NUMBERS, flag=[True, False], about=JSON, run_id=RUNS, of_run=RUNS, source=["fork", "update"]
)
filters = st.one_of(
    some_of(user=USERS, run_id=[*RUNS, 3]),
    some_of(score=NUMBERS, flag=[True, False]),
    some_of(source=["input", "loop", "update", "fork"], step=[-1, 0, 1, 2]),
)
FILTERED = ["source", "step", "user", "score", "flag", "run_id"]
"""Keys of metadata whose values official savers compare alike."""
TAGS = ["", None, "None", "null", True, "true", "1", 5, "5", 1.5, "1.5", [1, 2], [1, 3], {"a": 1}, {"a": 2}, 0]
"""Values of a key that every checkpoint of the wide domain has: a filter tells each from those that are beside it."""
ODD_METADATA: Mapping[str, Any] = {
    "User": "a",
    "a.b": 1,
    "a": {"c": 2},
    "$x": "y",
    "numbers": ["7", "007", 7],
    "seven": "7",
    "members": [2, 1, 1],
    "long": f"{'x' * 300}é",
    "deep": {"a": {"b": {"c": {"d": [{"e": {}}]}}}},
}
"""Metadata that users may have."""
OPERATORS = [{"$ne": None}, {"$gt": ""}, {"$exists": True}, {"$in": ["a", "1"]}, {"$regex": ".*"}]
"""Values of a filter that must not become part of a query."""
WILDCARDS = ["*", "%", "?", "_", ".*", "**"]
"""Ids of threads that nobody uses, and which may be taken for a pattern."""
INJECTIONS = ["x' OR 1=1 --", "x') OR ('1'='1", 'source" IS NOT NULL OR "1"="1', "$or", "$where", "*", "**.source"]
"""Keys of a filter that must not become part of a query."""
new_values = st.sampled_from([0, EMPTIED, *POOL[1:], *[EMPTIED] * (len(POOL) // 5)])
changes = st.lists(st.tuples(picks, new_values), max_size=4)
batches = st.lists(st.tuples(picks, values), min_size=1, max_size=4)
specials = st.lists(st.tuples(st.sampled_from(SPECIAL), values), max_size=2, unique_by=lambda write: write[0])


@dataclass
class Names:
    """The names that an example uses: few, and such that mistakes take one for the other."""

    threads: list[str]
    namespaces: list[str]
    channels: list[str]
    tasks: list[str]


def names_of(kind: str, chosen: Sequence[int], unique: str, in_front: bool) -> Names:
    """Names of one kind, those at ``chosen`` among them."""
    if kind == "joined":
        separator = pick(SEPARATORS, chosen[0])
        joined = [f"a{separator}b", "a", f"b{separator}c", "c"]
        threads = [unique, f"{unique}{separator}a", f"{unique}{separator}a{separator}b"]
        return Names(threads, ["", *joined], joined, ["t", "t1", f"t{separator}a", "a"])
    every = BACKSLASHES if kind == "backslashes" else NAMES[kind]
    steps = (0, 1, chosen[1] + 2, chosen[2] + 3)  # neighbours are those that are alike
    texts = list(dict.fromkeys(every[(chosen[0] + step) % len(every)] for step in steps))
    # what begins like another one is never far
    threads = [f"{text}{unique}" if in_front else f"{unique}{text}" for text in [*texts, f"{texts[0]}1"]]
    namespaces = list(dict.fromkeys(["", texts[0], f"{texts[0]}:1", *texts[1:3], "child:1|inner:2"]))
    # official savers err with backslashes in names of channels and tasks
    inner = texts[:3] if kind != "backslashes" else ["a", "b", "A"]
    return Names(
        threads, namespaces, [*inner, f"{inner[0]}1", "__start__", "branch:to:a"], [*inner, f"{inner[0]}1", NOBODY]
    )


@dataclass
class Known:
    """What the machine knows of a stored checkpoint beside what the model holds.

    Attributes:
        address: where it is.
        arguments: of its put, but for the config.
        parent: id of its parent, None for none.
        parent_is_known: whether it is certain which parent it has now.
    """

    address: Address
    arguments: tuple[dict[str, Any], dict[str, Any], dict[str, Any]]
    parent: str | None
    parent_is_known: bool = True


@dataclass
class Read:
    """A result of an earlier read, and what it looked like."""

    found: CheckpointTuple
    looks: dict[str, Any] = field(default_factory=dict)


class SaverMachine(Machine[SaverDrive]):
    """One example: a saver in use."""

    def __init__(self, world: World[SaverDrive]) -> None:
        super().__init__(world)
        self.model = ReferenceSaver()
        self.known: dict[Address, Known] = {}
        self.deleted: dict[Address, Known] = {}
        """Checkpoints whose thread was deleted."""
        self.gone: list[Address] = []
        self.thinned: set[str] = set()
        """Threads of which a part was deleted: whether the values went, too, is not said."""
        self.unclear: set[Address] = set()
        """Addresses of which nobody says whether anything is there."""
        self.waiting: set[Address] = set()
        """Addresses with writes and without a checkpoint."""
        self.paths: dict[tuple[Address, str], str] = {}
        self.reads: list[Read] = []
        self.counters: dict[tuple[str, str], int] = {}
        self.former_counters: dict[tuple[str, str], int] = {}
        self.extra: dict[str, Any] = {}
        """What each config holds beside the address."""
        self.long: set[str] = set()
        """What may still be done that takes many calls."""
        self.others: list[str] = []
        """Threads beside those in the names."""
        self.unique = fresh_id()
        self.names = Names([self.unique], [""], ["a"], ["t"])
        self.versions, self.named_ids, self.ids_kind = "own", False, "case"
        self.highest, self.tags = RANKS, 0

    @property
    def saver(self) -> SaverDrive:
        """The drive for the next call."""
        return self.next_drive()

    @initialize(
        kind=kinds,
        chosen=st.tuples(st.integers(0, 15), picks, picks),
        in_front=st.booleans(),
        versions=st.sampled_from(["own", "int", "text", "float"]),
        turns=st.lists(st.integers(0, 1), min_size=1, max_size=6),
        named_ids=st.booleans(),
        extra=st.sampled_from([0, 0, 0, 1]),
        long=st.sampled_from([0, 0, 0, 1]),
    )
    def begin(
        self,
        kind: str,
        chosen: tuple[int, ...],
        in_front: bool,
        versions: str,
        turns: list[int],
        named_ids: bool,
        extra: int,
        long: int,
    ) -> None:
        # the engine's own objects are in the config of each call, and no JSON
        self.extra = {"__pregel_runtime": frozenset({1})} if extra else {}
        self.long = set(LONG if long and not self.world.small else ())
        self.names, self.tags = names_of(kind, chosen, self.unique, in_front), chosen[0]
        # a saver need know the versions alone that it makes
        self.versions, self._turns = versions if self.world.wide else "own", turns
        self.named_ids, self.ids_kind = named_ids and self.world.wide and kind in NAMES, kind

    # -- what there is to choose from

    def checkpoints(self, thread: str | None = None, ns: str | None = None) -> list[Known]:
        """Stored checkpoints, the last put first."""
        every = reversed(self.known.values())
        return [
            each
            for each in every
            if (thread is None or each.address[0] == thread) and (ns is None or each.address[1] == ns)
        ]

    def id_of(self, rank: int) -> str:
        """The checkpoint id with that rank; they rise with it."""
        if self.named_ids and rank <= RANKS:
            texts = [text for text in NAMES[self.ids_kind] if text]
            return texts[rank % len(texts)]
        low, high = rank * 37 % 4096, 0x1F0A2B3C + rank // 3
        return f"{high:08x}-{rank % 3:04x}-6{low:03x}-8{rank % 16:03x}-{rank:012x}"

    def free_id(self, thread: str, ns: str, rank: int) -> str:
        """An id that can be put: with 0 above all that were put, else one of a few."""
        id = self.id_of(rank)
        address = (thread, ns, id)
        if not rank or address in self.known or address in self.unclear:
            self.highest += 1
            return f"~{self.highest:06}" if self.named_ids else self.id_of(self.highest)
        return id

    def with_run(self, described: Mapping[str, Any]) -> dict[str, Any]:
        """Metadata, or a filter, with the id of a run that nobody else has in place of its number."""
        runs = ("run_id", "of_run")
        return {name: f"{self.unique}-{value}" if name in runs else value for name, value in described.items()}

    def config(self, thread: str, ns: str | None, id: str | None = None) -> RunnableConfig:
        """A config as the engine passes it on."""
        return config_of(thread, ns, id, **self.extra)

    def next_version(self, parent: Known | None, thread: str, ns: str) -> Any:
        before = parent.arguments[0]["channel_versions"].values() if parent else ()
        if self.versions == "own":
            # the model's own clock of versions would do as well; it is the saver's that runs use
            return self._drives[0].get_next_version(max(before, default=None), None)
        number = self.counters[thread, ns] = self.counters.get((thread, ns), 0) + 1
        return {"int": number, "text": f"{number:04}.{number % 7}", "float": number + 0.5}[self.versions]

    # -- comparing

    def tuple_form(self, found: CheckpointTuple | None, model: CheckpointTuple | None) -> Any:
        """What is looked at of a tuple: what was put must be there; a saver may add fields of its own."""
        if found is None or model is None:
            return None if found is None else as_read(found)
        read = as_read(found)
        known = self.known.get(address_of(model.config))  # type: ignore[arg-type]
        keys = model.checkpoint.keys()
        fields: Any = found.checkpoint if self.world.wide else read["checkpoint"]
        read["checkpoint"] = {key: value for key, value in fields.items() if key in keys}
        if not self.world.wide:
            read["metadata"] = {key: value for key, value in read["metadata"].items() if key in model.metadata}
        if known is not None and not known.parent_is_known:
            del read["parent"]
        read["writes"] = self.writes_form(writes_of(found))
        return read

    def writes_form(self, writes: Sequence[tuple[Any, ...]]) -> Any:
        if ORDERED and self.world.wide:
            return list(writes)
        return by_task(writes)

    def compare(
        self, model: CheckpointTuple | None, found: CheckpointTuple | None, what: str, kept: bool = True
    ) -> None:
        self.world.explorer.looked()
        expect_same(self.tuple_form(model, model), self.tuple_form(found, model), f"a checkpoint ({what})")
        if kept and found is not None:
            self.reads.append(Read(found, deepcopy(loose_form(found))))
            del self.reads[:-MOST_READS]

    def compare_lists(
        self, model: list[CheckpointTuple], found: list[CheckpointTuple], what: str, limit: int | None, one_place: bool
    ) -> None:
        found = [each for each in found if address_of(each.config) not in self.unclear]
        model = [each for each in model if address_of(each.config) not in self.unclear]
        self.world.explorer.looked()
        if one_place:
            if limit is not None:
                model = model[:limit]
            expected, actual = [key(each) for each in model], [key(each) for each in found]
            expect_same(expected, actual, f"which checkpoints ({what})")
        else:
            expected, actual = sorted(map(key, model)), sorted(map(key, found))
            number = len(model) if limit is None else min(limit, len(model))
            expect_same(number, len(found), f"which checkpoints ({what}, how many)")
            if limit is None:
                expect_same(expected, actual, f"which checkpoints ({what})")
            strange = sorted(set(actual) - set(expected)) + [each for each in set(actual) if actual.count(each) > 1]
            expect_same([], strange, f"which checkpoints ({what}, those that are not asked for or come twice)")
            in_place: dict[tuple[str, str], list[str]] = {}
            for each in map(key, found):
                in_place.setdefault(each[:2], []).append(each[2])
            falling = {place: sorted(ids, reverse=True) for place, ids in in_place.items()}
            expect_same(falling, in_place, f"which checkpoints ({what}, the order within each namespace)")
        by_key = {key(each): each for each in model}
        for listed in found:
            self.compare(by_key[key(listed)], listed, f"{key(listed)[2]} in {what}")

    # -- storing

    @rule(
        thread=picks,
        ns=picks,
        parent=st.integers(-1, 5),
        rank=st.one_of(st.just(0), st.integers(0, RANKS)),
        changes=changes,
        described=metadata,
        tag=st.integers(0, 2),
        seen=st.booleans(),
    )
    def put(
        self,
        thread: int,
        ns: int,
        parent: int,
        rank: int,
        changes: list[tuple[int, Any]],
        described: dict[str, Any],
        tag: int,
        seen: bool,
    ) -> None:
        if self.world.wide:
            described = {**described, "tag": pick(TAGS, self.tags + tag), **(ODD_METADATA if seen else {})}
        thread_id, namespace = named(self.names.threads, thread), named(self.names.namespaces, ns)
        there = self.checkpoints(thread_id, namespace)
        on = pick(there, parent) if there and parent >= 0 else None
        changed = {pick(self.names.channels, channel): value for channel, value in changes}
        self.put_on(on, thread_id, namespace, rank, changed, described, seen)

    def put_on(
        self,
        on: Known | None,
        thread_id: str,
        namespace: str,
        rank: int,
        changed: dict[str, Any],
        described: dict[str, Any],
        seen: bool,
        version: Any = None,
    ) -> None:
        """A checkpoint as the engine makes it: what did not change is held over from the parent."""
        before = on.arguments[0] if on else {"channel_values": {}, "channel_versions": {}}
        held, versions = dict(before["channel_values"]), dict(before["channel_versions"])
        if changed and version is None:
            version = self.next_version(on, thread_id, namespace)
        if changed and versions and self.versions == "own":
            newest = max(versions.values())
            expect_true(version > newest, f"the version after {newest!r}", "a greater one", version)
        if seen and len(versions) > 1:
            # of a graph that has changed since
            gone = min(versions, key=str)
            held.pop(gone, None)
            del versions[gone]
        for channel, value in changed.items():
            held.pop(channel, None)
            if value is not EMPTIED:
                held[channel] = value
            versions[channel] = version
        id = self.free_id(thread_id, namespace, rank)
        checkpoint = {
            "v": FORMAT,
            "id": id,
            "ts": f"2024-05-04T06:32:{10 + self.highest * 17 % 7}.235444+00:00",
            "channel_values": held,
            "channel_versions": versions,
            "versions_seen": {"__input__": {}, "node": dict(versions)} if seen else {"other": {}},
            "updated_channels": sorted(changed) if seen else None,
        }
        described = {
            "source": "loop" if on else "input",
            "step": on.arguments[1]["step"] + 1 if on else -1,
            "parents": {"": id, "outer:1": id} if namespace else {},
            **self.with_run(described),
            "example": self.unique,
        }
        self.store(thread_id, namespace, on, checkpoint, described, {name: version for name in changed})

    @precondition(lambda self: self.known)
    @rule(which=picks, channel=picks, branches=st.lists(new_values, min_size=2, max_size=2))
    def fork(self, which: int, channel: int, branches: list[Any]) -> None:
        """Two checkpoints on one, with different values of one channel."""
        on = pick(self.checkpoints(), which)
        for value in branches:
            changed = {pick(self.names.channels, channel): value}
            self.put_on(on, *on.address[:2], 0, changed, {}, False)

    @rule(thread=picks, ns=picks, write=st.booleans(), refusal=st.sampled_from([*REFUSED]))
    def store_what_cannot_be_stored(self, thread: int, ns: int, write: bool, refusal: str) -> None:
        """A call that raises, or stores what it was given; everything else stays as it was."""
        value = REFUSED[refusal]
        place = (named(self.names.threads, thread), named(self.names.namespaces, ns))
        if refusal in DOUBTFUL:
            place = (self.other_thread(), "")
        there = self.checkpoints(*place)
        before = there[0] if there else None
        refused: dict[str, Any] = {"v": FORMAT, "id": self.free_id(*place, 0), "ts": "2024-05-04T06:32:42.235444+00:00"}
        version = self.next_version(before, *place)
        refused |= {"channel_values": {"refused": value}, "channel_versions": {"refused": version}}
        refused |= {"versions_seen": {}, "updated_channels": None}
        described = {"source": "loop", "step": 0, "parents": {}}
        others = [known.address for known in self.checkpoints()[:2] if known.address not in self.unclear]
        for each in others:
            self.read(config_of(*each))
        calls = self._drives[0].calls
        before_it = len(calls)
        try:
            if write and before:
                self.saver.put_writes(config_of(*before.address), [("channel", value)], "refused")
                read_values = [read[2] for read in self.writes_at(before.address) if read[0] == "refused"]
            else:
                config = config_of(*place, before.address[2] if before else None)
                self.saver.put(config, refused, described, {"refused": version})
                read = self.saver.get_tuple(config_of(*place, refused["id"]))
                values = read.checkpoint["channel_values"] if read else {}
                read_values = [values[name] for name in values if name == "refused"]
        except Exception:
            for each in others:
                self.read(config_of(*each))
            del calls[before_it:]  # a script would end there
            return
        # what another serializer makes of it is its own matter; there must be something
        kept = bool(read_values) and (not self.world.wide or refusal in DOUBTFUL or same(value, read_values[0]))
        expect_true(kept, f"a call with {refusal}, which returned", "an exception, or the value", shown(read_values))
        if refusal not in DOUBTFUL:
            self.unclear.add(before.address if write and before else (*place, refused["id"]))

    def store(
        self,
        thread: str,
        ns: str,
        parent: Known | None,
        checkpoint: dict[str, Any],
        described: dict[str, Any],
        new_versions: dict[str, Any],
        *,
        parent_id: str | None = None,
        **configurable: Any,
    ) -> None:
        """Put in the saver and in the model; what was given is then changed, as the engine goes on with it."""
        parent_id = parent.address[2] if parent else parent_id
        config = config_of(thread, ns, parent_id, **self.extra, **configurable)
        if self.world.wide:
            described = {"tag": "", **described}
        arguments: Any = (config, checkpoint, described, new_versions)
        given = deepcopy(arguments)
        returned = self.saver.put(*given)
        if self.world.wide:
            expect_same(arguments, given, "the arguments of put after the call")
        else:
            expect_same(arguments[:2], given[:2], "the config and the checkpoint after put")
        address = (thread, ns, checkpoint["id"])
        expect_same(address, address_of(returned), "the address that put returns")
        if self.world.wide:
            carried = {*self.extra, *configurable} & {*returned["configurable"]}
            expect_same(set(), carried, "what the config that put returns has of the caller's")
        spoil(returned)
        self.model.put(*deepcopy(arguments))
        spoil(given)
        self.known.pop(address, None)
        self.known[address] = Known(address, deepcopy(arguments[1:]), parent_id)
        self.waiting.discard(address)

    def put_where_one_was(self, address: Address) -> None:
        """A deleted checkpoint's id, its versions where its whole thread went, and no values: nothing may come back."""
        if address in self.known or address in self.unclear:
            return
        thread, ns, id = address
        old = self.deleted.get(address)
        if old is not None and (thread in self.thinned or self.checkpoints(thread, ns)):
            old = None  # what others still need need not have been deleted
        checkpoint = {
            "v": FORMAT,
            "id": id,
            "ts": "2024-05-04T06:32:42.235444+00:00",
            "channel_values": {},
            "channel_versions": dict(old.arguments[0]["channel_versions"]) if old else {},
            "versions_seen": {},
            "updated_channels": None,
        }
        described = {"source": "update", "step": 0, "parents": {}, "example": self.unique}
        if old:
            self.counters[thread, ns] = max(
                self.counters.get((thread, ns), 0), self.former_counters.get((thread, ns), 0)
            )
        self.store(thread, ns, None, checkpoint, described, {})
        config = config_of(*address)
        self.compare(
            self.model.get_tuple(config), self.saver.get_tuple(config), "a checkpoint put where one was deleted"
        )

    def writes_at(self, address: Address) -> list[tuple[Any, ...]]:
        """The pending writes that the saver gives."""
        read = self.saver.get_tuple(config_of(*address))
        return writes_of(read) if read is not None else []

    @precondition(lambda self: self.world.wide and self.known)
    @rule(which=picks, described=metadata, look=looks)
    def put_again(self, which: int, described: dict[str, Any], look: bool) -> None:
        """The same checkpoint with other metadata."""
        old = pick(self.checkpoints(), which)
        if not old.parent_is_known:
            return
        thread, ns, _ = old.address
        checkpoint, earlier, new_versions = deepcopy(old.arguments)
        kept = {key: earlier[key] for key in ("source", "step", "parents", "example")}
        described = {**kept, **self.with_run(described)}
        with self.looked_at(old.address, look):
            self.store(thread, ns, None, checkpoint, described, new_versions, parent_id=old.parent)

    @precondition(lambda self: self.world.wide)
    @rule(
        thread=picks,
        ns=picks,
        extra=json_values,
        parent=st.booleans(),
        tenant=st.sampled_from([*TEXTS, 7, True, [1], {"a": 1}]),
        v=st.integers(0, FORMAT),
        number=st.sampled_from([2**53 + 1, 1.0, 2**62, -0.5]),
    )
    def put_what_is_unusual(
        self, thread: int, ns: int, extra: Any, parent: bool, tenant: Any, v: int, number: float
    ) -> None:
        """A parent that is not stored, fields that nobody knows, keys of the config that go into metadata."""
        thread_id, namespace = named(self.names.threads, thread), named(self.names.namespaces, ns)
        parent_id = self.id_of(0) if parent else None
        if (thread_id, namespace, self.id_of(0)) in self.known:
            parent_id = None
        version = self.next_version(None, thread_id, namespace)
        checkpoint = {
            # children of an older format may get what their parents sent
            "v": FORMAT if parent_id else FORMAT - v or 1,
            "id": self.free_id(thread_id, namespace, 0),
            "ts": "2024-05-04T06:32:42.235444+00:00",
            "channel_values": {"unusual": ODD_VALUES},
            "channel_versions": {"unusual": version},
            "versions_seen": {},
            "updated_channels": None,
            "of_a_later_version": extra,
        }
        described = {"source": "update", "step": 0, "parents": {}, "example": self.unique, "number": number}
        if v == FORMAT:
            described["tenant"] = "of the metadata"
        new_versions = {"unusual": version}
        self.store(thread_id, namespace, None, checkpoint, described, new_versions, parent_id=parent_id, tenant=tenant)
        address = (thread_id, namespace, checkpoint["id"])
        task = self.names.tasks[0]
        self.write(address, list(ODD_VALUES.items()), task, self.paths.setdefault((address, task), ""))

    @rule(
        where=picks,
        early=st.booleans(),
        rank=st.integers(1, RANKS),
        task=picks,
        path=st.sampled_from(PATHS),
        batch=batches,
        extra=specials,
        alone=st.booleans(),
        times=st.sampled_from([1, 1, 1, 4, 40, 300]),
        look=looks,
    )
    def put_writes(
        self,
        where: int,
        early: bool,
        rank: int,
        task: int,
        path: str,
        batch: list[tuple[int, Any]],
        extra: list[tuple[str, Any]],
        alone: bool,
        times: int,
        look: bool,
    ) -> None:
        address = self.address_for_writes(where, early, rank)
        if address is None:
            return
        task_id = named(self.names.tasks, task)
        channels = [*self.names.channels, *REGULAR]
        if times > 40:
            times = times if "writes" in self.long else 1
            self.long.discard("writes")
        writes = [(pick(channels, channel), value) for channel, value in batch] * times
        stored = self.model.writes.get(address, {})
        if extra and alone:
            writes = list(extra)
        elif not any((task_id, WRITES_IDX_MAP[channel]) in stored for channel, _ in extra):
            # official savers keep a special write that is there when its successor comes with regular ones
            writes = [*writes, *extra]
        with self.looked_at(address, look):
            self.write(address, writes, task_id, self.paths.setdefault((address, task_id), path))

    @precondition(lambda self: self.paths)
    @rule(which=picks, batch=batches, extra=specials, alone=st.booleans(), other=st.sampled_from(PATHS))
    def put_writes_again(
        self, which: int, batch: list[tuple[int, Any]], extra: list[tuple[str, Any]], alone: bool, other: str
    ) -> None:
        """A task that wrote before writes again: its regular writes stay, its special ones are replaced."""
        (address, task), path = pick(list(reversed(self.paths.items())), which)
        channels = [*self.names.channels, *REGULAR]
        stored = self.model.writes.get(address, {})
        taken = [channel for (owner, _), (_, channel, _, _) in stored.items() if owner == task and channel in SPECIAL]
        if alone and (extra or taken):
            self.write(address, extra or [(taken[0], batch[0][1])], task, path)
        elif address not in self.unclear:
            path = other if self.world.wide else path
            self.write(address, [(pick(channels, channel), value) for channel, value in batch], task, path)

    @precondition(lambda self: self.known)
    @rule(where=picks, batch=st.lists(st.tuples(st.sampled_from(SPECIAL), values), min_size=2, max_size=5))
    def ask_again(self, where: int, batch: list[tuple[str, Any]]) -> None:
        """A task that is interrupted, resumed, scheduled and fails, several times, each on its own."""
        address = pick(self.checkpoints(), where).address
        if address not in self.unclear:
            for write in batch:
                self.write(address, [write], "asks", "")

    def address_for_writes(self, where: int, early: bool, rank: int) -> Address | None:
        if not early and self.known:
            return pick(self.checkpoints(), where).address
        address = (named(self.names.threads, where), named(self.names.namespaces, rank), self.id_of(rank))
        return None if address in self.unclear else address

    def write(self, address: Address, writes: list[tuple[str, Any]], task: str, path: str) -> None:
        config = self.config(*address)
        given = deepcopy((config, writes))
        drive = self.saver
        drive.put_writes(*given, task, path or None)
        if self.world.wide:
            expect_same(None, drive.calls[-1].result, "what put_writes returns")
        expect_same((config, writes), given, "the arguments of put_writes after the call")
        self.model.put_writes(config, deepcopy(writes), task, path)
        spoil(given)
        if address not in self.known:
            self.waiting.add(address)

    @precondition(lambda self: self.world.wide and self.known)
    @rule(where=picks, batch=st.lists(st.tuples(st.sampled_from([*SPECIAL, "a", "b"]), values), max_size=4))
    def put_writes_in_any_order(self, where: int, batch: list[tuple[str, Any]]) -> None:
        """Special writes among regular ones, two of one kind, or no writes at all, of a task that has none yet."""
        address = pick(self.checkpoints(), where).address
        if any(write[0] == "alone" for write in self.model.writes.get(address, {}).values()):
            return
        special = [channel for channel, _ in batch if channel in SPECIAL]
        if len(set(special)) < len(special) and len(special) < len(batch):
            return
        self.write(address, batch, "alone", "")

    # -- reading

    @rule(thread=picks, ns=picks, rank=st.integers(-2, RANKS))
    def get_tuple(self, thread: int, ns: int, rank: int) -> None:
        """The latest checkpoint, a stored one, or one that need not be there."""
        if rank == -1 and self.known:
            config = self.config(*pick(self.checkpoints(), thread).address)
        else:
            place = (named(self.names.threads, thread), named(self.names.namespaces, ns))
            config = self.config(*place, self.id_of(rank) if rank >= 0 else None)
            if self.is_unclear(*place, self.id_of(rank) if rank >= 0 else None):
                return
        address = config["configurable"]
        others: list[dict[str, Any]] = []
        if self.world.wide and "checkpoint_id" not in address:
            others += [{**address, "checkpoint_id": ""}, {**address, "checkpoint_id": None}]
        if not address["checkpoint_ns"]:
            others += [{name: value for name, value in address.items() if name != "checkpoint_ns"}]
        self.read(config)
        for each in others:
            self.read({"configurable": each})
        checkpoint, model = self.saver.get(config), self.model.get(config)
        keys = ("id", "channel_values", "channel_versions")
        expected, found = ([each.get(name) for name in keys] if each else None for each in (model, checkpoint))
        expect_same(expected, found, f"{' and '.join(keys)} in what get gives of {config['configurable']}")

    def is_unclear(self, thread: str, ns: str, id: str | None) -> bool:
        """Whether it is unclear what a read must find."""
        if id is not None:
            return (thread, ns, id) in self.unclear
        newest = max((each.address[2] for each in self.checkpoints(thread, ns)), default="")
        return any(each[:2] == (thread, ns) and each[2] > newest for each in self.unclear - self.waiting)

    def read(self, config: RunnableConfig) -> None:
        given = deepcopy(config)
        found = self.saver.get_tuple(given)
        expect_same(config, given, "the config of get_tuple after the call")
        model = self.model.get_tuple(config)
        self.compare(model, found, f"get_tuple of {config['configurable']}", kept=False)
        spoil(given)
        if found is not None:
            own = deepcopy(found.config)
            spoil_tuple(found)
            again = self.saver.get_tuple(own)
            self.compare(model, again, "get_tuple of the config of the tuple found, which was changed since")

    @contextlib.contextmanager
    def looked_at(self, address: Address, look: bool) -> Iterator[None]:
        """If ``look``, the same reads before and after what changes their results, in the thread of ``address``."""
        thread, ns, _ = address
        near = [address, *(each.address for each in self.checkpoints(thread)[:MOST_NEAR])]
        for first in (True, False):
            if look:
                for each in dict.fromkeys(near):
                    if each not in self.unclear:
                        self.read(config_of(*each))
                if not self.is_unclear(thread, ns, None):
                    self.read(config_of(thread, ns))
                self.read_list(config_of(thread, None))
            if first:
                yield

    def read_list(self, config: RunnableConfig, limit: int | None = None, **keywords: Any) -> list[CheckpointTuple]:
        """A list, compared with the model's."""
        found = self.saver.list(config, limit=limit, **keywords)
        model = list(self.model.list(config, **keywords))
        one_place = "checkpoint_ns" in config["configurable"]
        what = f"list({config['configurable']}, limit={limit}, {keywords})"
        self.compare_lists(model, found, what, limit, one_place)
        return found

    @rule(
        thread=picks,
        ns=picks,
        filter=st.sampled_from([0, 0, 0, 1]).flatmap(lambda one: filters if one else st.none()),
        before=st.sampled_from([-2, -2, -2, -2, -1, -1, 3, RANKS]),
        limit=st.sampled_from([None, None, 1, 2, 3]),
        like=st.integers(-8, 7),
        then=st.sampled_from(["", "", "changed", "left"]),
    )
    def list_checkpoints(
        self,
        thread: int,
        ns: int,
        filter: dict[str, Any] | None,
        before: int,
        limit: int | None,
        like: int,
        then: str,
    ) -> None:
        """A list of a namespace, of its thread, and of all."""
        place = (named(self.names.threads, thread), named(self.names.namespaces, ns))
        if self.known and limit != 3:
            place = pick(self.checkpoints(), thread).address[:2]
        filter = None if filter is None else self.with_run(filter)
        if like >= 0 and self.known:
            described = pick(self.checkpoints(), thread).arguments[1]
            name = pick(self.filtered(pick(self.checkpoints(), thread)), like)
            filter = {**(filter or {}), name: described[name]}
        bound = None
        if before == -1 and self.known:
            bound = config_of(*pick(self.checkpoints(), ns).address)
        elif before >= 0:
            bound = {"configurable": {"checkpoint_id": self.id_of(before)}}
        if self.unclear - self.waiting:
            limit = None
        self.list_and_use((self.config(*place), None, None), limit, "")
        self.list_and_use((self.config(*place), filter, bound), limit, then)
        self.list_and_use((self.config(place[0], None), filter, bound), limit, then)
        self.list_and_use((None, {**(filter or {}), "example": self.unique}, bound), limit, then)

    def filtered(self, known: Known) -> list[str]:
        """The keys of a checkpoint's metadata that a filter may have."""
        names = [*FILTERED, "tag", "User"] if self.world.wide else FILTERED
        return [name for name in names[::-1] if name in known.arguments[1]]

    def list_and_use(self, asked: tuple[Any, Any, Any], limit: int | None, then: str) -> None:
        """A list, after which the tuples are changed, or which is left at its first."""
        config, filter, bound = given = deepcopy(asked)
        found = self.saver.list(config, filter=filter, before=bound, limit=limit)
        expect_same(asked, given, "the arguments of list after the call")
        model = list(self.model.list(config, filter=filter, before=bound))
        what = f"list({config and config['configurable']}, filter={filter}, before={bound}, limit={limit})"
        one_place = config is not None and "checkpoint_ns" in config["configurable"]
        self.compare_lists(model, found, what, limit, one_place)
        if then == "changed":
            for each in found:
                spoil_tuple(each)
            self.reads.clear()
            found = self.saver.list(config, filter=filter, before=bound, limit=limit)
            self.compare_lists(model, found, f"{what} again", limit, one_place)
        drive = self.saver
        # a sync list that is left early may keep a saver's lock
        if then == "left" and drive.mode == "async" and found:
            (first,) = drive.first(config, filter=filter, before=bound, limit=limit)
            self.compare_lists(model, [first], f"the first of {what}", 1, one_place)

    @rule(hostile=st.sampled_from(INJECTIONS), user=st.sampled_from(["me", "a"]), whole=st.booleans())
    def list_with_a_hostile_key(self, hostile: str, user: str, whole: bool) -> None:
        """A key of a filter finds nothing, or is refused; and so does an operator in place of a value."""
        config = None if whole else config_of(self.names.threads[0], None)
        filters: list[dict[str, Any]] = [{"user": operator} for operator in OPERATORS]
        for filter in [*filters, {hostile: "y", "user": user}]:
            try:
                found = self.saver.list(config, filter=filter)
            except Blocked:
                raise
            except Exception:
                del self._drives[0].calls[-1:]  # a script would end there
                continue
            expect_same([], [key(each) for each in found], f"list with {filter}, which nothing meets")

    @rule(thread=st.sampled_from(WILDCARDS))
    def read_a_pattern(self, thread: str) -> None:
        """The id of a thread is no pattern."""
        found = [*self.saver.list(config_of(thread, None)), self.saver.get_tuple(config_of(thread))]
        strange = [address_of(each.config) for each in found if each and key(each)[0] != thread]
        expect_same([], strange, f"checkpoints of other threads in thread {thread!r}")

    @precondition(lambda self: self.world.wide and self.known)
    @rule(which=picks, whole=st.booleans(), filter=st.one_of(st.none(), filters), limit=st.sampled_from([None, 0, 1]))
    def list_one(self, which: int, whole: bool, filter: dict[str, Any] | None, limit: int | None) -> None:
        """A list of one checkpoint id, in its namespace or in all of its thread."""
        thread, ns, id = pick(self.checkpoints(), which).address
        config = config_of(thread, None if whole else ns, id)
        filter = None if filter is None else self.with_run(filter)
        found = self.saver.list(config, filter=filter, limit=limit)
        model = list(self.model.list(config, filter=filter))
        self.compare_lists(model, found, f"list of {config['configurable']}, {filter}, limit={limit}", limit, not whole)

    @precondition(lambda self: SEEDED and "delta_history" in self.world.offers and not self.world.small)
    @rule(thread=picks, ns=picks, steps=st.lists(st.tuples(picks, new_values, picks, values), min_size=2, max_size=4))
    def delta_chain(self, thread: int, ns: int, steps: list[tuple[int, Any, int, Any]]) -> None:
        """Some checkpoints in a row, each with a value and writes of two tasks; then the histories of the last."""
        place = (named(self.names.threads, thread), named(self.names.namespaces, ns))
        if self.is_unclear(*place, None):
            return
        for channel, value, other, written in steps:
            there = self.checkpoints(*place)
            on = max(there, key=lambda known: known.address[2]) if there else None
            changed = {pick(self.names.channels, channel): value} if channel < 4 else {}
            self.put_on(on, *place, 0, changed, {}, False)
            address = self.checkpoints(*place)[0].address
            for task, path in ((self.names.tasks[0], PATHS[other % 5]), (self.names.tasks[1], PATHS[channel % 5])):
                writes = [(pick(self.names.channels, other + step), written) for step in range(2)]
                self.write(address, writes * 2, task, self.paths.setdefault((address, task), path))
        self.delta_history(0, [0, 1])
        before = pick(self.checkpoints(*place), 1).address
        self.write(before, [(name, 1) for name in self.names.channels[:2]], "late", PATHS[1])
        self.delta_history(0, [0, 1])
        self.delta_history(0, [steps[0][0], steps[0][2]])

    @precondition(lambda self: SEEDED and "delta_history" in self.world.offers and self.known)
    @rule(which=picks, channels=st.lists(picks, max_size=2))
    def delta_history(self, which: int, channels: list[int]) -> None:
        target = pick(self.checkpoints(), which)
        names = list(dict.fromkeys(pick(self.names.channels, each) for each in channels))
        thread, ns, id = target.address
        configs = [config_of(thread, ns, id)] * 2
        newest = max(each.address[2] for each in self.checkpoints(thread, ns))
        if newest == id and not self.is_unclear(thread, ns, None):
            configs[1] = config_of(thread, ns)
        if self.world.wide and not ns:
            configs[1] = config_of(thread, None, id)
        for config in configs:
            self.compare_histories(target, names, config)
        if self.world.wide:
            found = self.saver.get_delta_channel_history(config_of(f"{self.unique}-unknown"), names)
            expect_same({name: {"writes": []} for name in names}, dict(found), "the history of an unknown thread")

    def compare_histories(self, target: Known, names: Sequence[str], config: RunnableConfig) -> None:
        """The histories of a checkpoint's channels; what is read is changed then."""
        ancestors = self.ancestors(target)
        if ancestors is None:
            return
        expected = {name: history(ancestors, name) for name in names}
        if None in expected.values():
            return
        found = self.saver.get_delta_channel_history(config, names)
        self.world.explorer.looked()
        expect_same(sorted(names), sorted(found), "the channels of the history")
        for name in names:
            groups, seed = expected[name] or ([], {})
            read = found[name]
            writes = [tuple(write) for write in read["writes"]]
            expect_same(sum(map(len, groups)), len(writes), f"how many writes to {name!r} the history has")
            start, grouped = 0, []
            for group in groups:
                grouped.append(by_task(writes[start : start + len(group)]))
                start += len(group)
            expect_same([by_task(group) for group in groups], grouped, f"the writes to {name!r} by checkpoint and task")
            expect_same(seed, {"seed": read["seed"]} if "seed" in read else {}, f"the seed of {name!r}")
            spoil([write[2] for write in writes])
            spoil(dict(read))

    def ancestors(self, known: Known) -> list[CheckpointTuple] | None:
        """From the parent on; None where official savers do not agree which those are."""
        found: list[CheckpointTuple] = []
        while known.parent is not None:
            thread, ns, id = known.address
            parent = self.known.get((thread, ns, known.parent))
            if parent is None or not known.parent_is_known or known.parent >= id:
                return None
            known = parent
            model = self.model.get_tuple(config_of(*known.address))
            if model is None:
                return None
            found.append(model)
        return found if known.parent_is_known else None

    # -- many at once

    @precondition(lambda self: "checkpoints" in self.long)
    @rule(
        thread=picks,
        ns=picks,
        length=st.sampled_from([60, 120]),
        page=st.sampled_from([7, 10, 25]),
        deleted=st.booleans(),
    )
    def put_many(self, thread: int, ns: int, length: int, page: int, deleted: bool) -> None:
        """A long thread, listed as a whole and by pages; its first checkpoints are found, and its last one's history.

        One channel changes first and another, which is called alike, in each later step.
        """
        self.long.discard("checkpoints")
        place = (named(self.names.threads, thread), named(self.names.namespaces, ns))
        if self.is_unclear(*place, None) or self.unclear - self.waiting:
            return
        first, second = f"{self.names.channels[0]}1", self.names.channels[0]
        for number in range(length):
            changed = {second: number} if number else {first: "first", second: "second"}
            on = self.checkpoints(*place)[0] if number else None
            self.put_on(on, *place, 0, changed, {} if number > 2 else {"user": "first"}, False)
            if not number:
                start = self.checkpoints(*place)[0].address
                self.write(start, [("log", 1)], "t", self.paths.setdefault((start, "t"), ""))
        config = config_of(*place)
        self.read_list(config)
        self.read_list(config, filter={"user": "first", "example": self.unique})
        listed: list[CheckpointTuple] = []
        for _ in range(len(self.known) // page + 1):
            found = self.read_list(config, page, **({"before": listed[-1].config} if listed else {}))
            listed += found
            if len(found) < page:
                break
        expect_same(len(self.checkpoints(*place)), len(listed), f"how many checkpoints pages of {page} have")
        if SEEDED and "delta_history" in self.world.offers:
            last = self.checkpoints(*place)[0]
            self.compare_histories(last, ["log"], config_of(*last.address))
        if deleted and "delete_thread" in self.world.offers:
            self.delete_thread(0, False, True)

    @precondition(lambda self: not self.world.small)
    @rule(kind=alike_kinds, in_front=st.booleans())
    def use_all_that_are_alike(self, kind: str, in_front: bool) -> None:
        """Each name of a kind is a thread, a namespace, a channel and a task: no two of them are one."""
        if kind == "very long" and not self.world.wide:
            return
        every = BACKSLASHES if kind == "backslashes" else VERY_LONG if kind == "very long" else NAMES[kind]
        texts = [text for text in every if text]
        own = self.other_thread()
        spelt = SPELLINGS[kind](uuid4()) if kind in SPELLINGS else []
        threads = spelt or [f"{text}{own}" if in_front else f"{own}{text}" for text in texts]
        self.others += threads
        places = [*((own, text) for text in texts), *((thread, "") for thread in threads)]
        for number, each in enumerate(places):
            self.put_on(None, *each, 1, {"channel": number}, {}, False)
        self.write(self.checkpoints(*places[0])[0].address, [("channel", 0)], "t", "")
        if "delete_thread" in self.world.offers:
            gone = threads[self.highest % len(threads)]
            self.saver.delete_thread(gone)
            self.model.delete_thread(gone)
            self.forget_threads([gone])
        for each in places:
            config = config_of(*each)
            self.compare(self.model.get_tuple(config), self.saver.get_tuple(config), f"get_tuple of {each}")
        for thread in (own, *threads):
            self.read_list(config_of(thread, None))
        if kind != "backslashes":
            self.put_on(None, own, "", 0, {text: number for number, text in enumerate(texts)}, {}, False)
            address = self.checkpoints(own)[0].address
            for number, text in enumerate(texts):
                self.write(address, [(text, number)], text, "")
            self.read(config_of(*address))
        self.use_names_that_join_alike(own)
        # other steps go on with what was there before
        alike = {address: each for address, each in self.known.items() if address[0] in self.others}
        self.known = {**alike, **{address: each for address, each in self.known.items() if address not in alike}}

    def use_names_that_join_alike(self, own: str) -> None:
        """Parts of an address that are the same text when they are joined, with values of one version."""
        version = self._drives[0].get_next_version(None, None)
        beside = [f"{own}{separator}a" for separator in SEPARATORS]
        self.others += beside
        places = [(own, f"a{separator}b") for separator in SEPARATORS] + [(thread, "b") for thread in beside]
        for number, place in enumerate(places):
            self.put_on(None, *place, 2, {"c": number}, {}, False, version)
        joined = {f"b{separator}c": separator for separator in SEPARATORS}
        self.put_on(None, own, "a", 2, joined, {}, False, version)
        for place in [*places, (own, "a")]:
            config = config_of(*place)
            self.compare(self.model.get_tuple(config), self.saver.get_tuple(config), f"get_tuple of {place}")

    @precondition(lambda self: self.world.wide)
    @rule(left_out=st.sampled_from(["checkpoint_ns", "thread_id"]))
    def leave_out_a_part(self, left_out: str) -> None:
        """Without a namespace `put` raises or means the root; without a thread nothing is stored or found."""
        drive = self.saver
        thread = Thread(drive, self.other_thread())
        made = thread.make({"a": 1})
        config: RunnableConfig = {"configurable": {"thread_id": thread.id, "checkpoint_ns": ""}}
        del config["configurable"][left_out]
        calls, before = drive.calls, len(drive.calls)
        try:
            if left_out == "thread_id":
                found: object = drive.get_tuple(config)
            else:
                drive.put(config, dict(made.checkpoint), dict(made.metadata), dict(made.new_versions))
                found = None if drive.get_tuple(made.config) else "nothing in the root namespace"
        except Blocked:
            raise
        except Exception:
            del calls[before:]  # a script would end there
            return
        expect_same(None, found, f"a call without {left_out}")

    @rule(count=st.sampled_from([3, 12, 1100]), start=st.sampled_from([None, 1, 9]))
    def make_versions(self, count: int, start: int | None) -> None:
        """Versions rise, however many there are."""
        if count > 12:
            count = count if "versions" in self.long else 12
            self.long.discard("versions")
        drive = self._drives[0]
        version = drive.get_next_version(start if self.world.wide else None, None)
        for _ in range(count):
            following = drive.get_next_version(version, None)
            expect_same(type(version), type(following), "the type of a version")
            expect_true(following > version, f"the version after {version!r}", "a greater one", following)
            version = following

    @precondition(lambda self: any(drive.mode == "async" for drive in self._drives))
    @rule(write=st.booleans(), suspension=st.integers(0, 3))
    def cancel_a_call(self, write: bool, suspension: int) -> None:
        """A call whose task is cancelled midway puts all or nothing, and the saver goes on."""
        drive = next(drive for drive in self._drives if drive.mode == "async")
        thread = Thread(drive, self.other_thread())
        parent = thread.put({"a": [0], "b": "b"})
        made = thread.make({"a": [1], "b": "b", "c": {"c": "c" * 200}}, parent=parent)
        writes = [("a", 1), ("b", 2), ("c", 3)]
        raw: Any = drive.raw

        def call() -> Any:
            if write:
                return raw.aput_writes(parent.config, writes, "cancelled")
            arguments = (dict(made.checkpoint), dict(made.metadata), dict(made.new_versions))
            return raw.aput(parent.config, *arguments)

        drive.run(partial(cancelled, call, suspension))
        self.world.explorer.looked()
        if write:
            found = [(channel, value) for _, channel, value in writes_of(thread.read(parent))]
            expect_same([], [each for each in found if each not in writes], "what a cancelled call did not write")
            if self.world.wide:
                expect_true(found in ([], writes), "the writes of a cancelled call", "all or none", found)
        else:
            read = drive.get_tuple(made.config)
            if read is not None:
                expect_tuple(made, read, "the checkpoint whose put was cancelled")
        after = thread.put({"a": [2]}, parent=parent)
        expect_tuple(after, thread.read(after), "what is put after a call was cancelled")

    # -- deleting and copying

    @precondition(lambda self: "delete_thread" in self.world.offers)
    @rule(thread=picks, anew=st.booleans(), look=looks)
    def delete_thread(self, thread: int, anew: bool, look: bool) -> None:
        thread_id = pick(self.threads_in_use(), thread)
        there = [*(each.address for each in self.checkpoints(thread_id)), *self.waiting_in([thread_id])]
        with self.looked_at(there[0] if there else (thread_id, "", ""), look and bool(there)):
            self.saver.delete_thread(thread_id)
            self.model.delete_thread(thread_id)
            self.forget_threads([thread_id])
        if anew and there:
            self.put_where_one_was(there[0])

    def threads_in_use(self) -> list[str]:
        """All threads, those first in which something was stored last."""
        return list(dict.fromkeys([*(each.address[0] for each in self.checkpoints()), *self.names.threads]))

    def waiting_in(self, threads: Collection[str]) -> list[Address]:
        return sorted(address for address in self.waiting if address[0] in threads)

    def forget_threads(self, threads: Collection[str]) -> None:
        """Take deleted threads out of what is known."""
        self.deleted |= {address: each for address, each in self.known.items() if address[0] in threads}
        self.forget(lambda address: address[0] in threads)
        self.unclear = {address for address in self.unclear if address[0] not in threads}
        self.thinned.difference_update(threads)
        for place in [place for place in self.counters if place[0] in threads]:
            # the next values have the versions of deleted ones
            self.former_counters[place] = max(self.counters.pop(place), self.former_counters.get(place, 0))

    def forget(self, gone: Callable[[Address], bool]) -> None:
        """Take what is gone out of what is known."""
        for address in [address for address in self.known if gone(address)]:
            del self.known[address]
            self.gone.append(address)
        self.gone += [address for address in self.waiting if gone(address)]
        self.waiting = {address for address in self.waiting if not gone(address)}
        for key in [key for key in self.paths if gone(key[0])]:
            del self.paths[key]

    @precondition(lambda self: "copy_thread" in self.world.offers)
    @rule(source=picks, copy=picks, look=looks, then=st.sampled_from(["", "", "deleted", "copied"]))
    def copy_thread(self, source: int, copy: int, look: bool, then: str) -> None:
        start = pick(self.threads_in_use(), source)
        used = {address[0] for address in [*self.known, *self.waiting, *self.unclear]}
        free = [thread for thread in self.names.threads[::-1] if thread not in used]
        if not self.checkpoints(start):
            return
        self.copy(start, pick(free, copy) if free else self.other_thread(), look)
        if then == "copied":
            self.copy(start, self.other_thread(), False)
        elif then == "deleted" and "delete_thread" in self.world.offers:
            self.delete_thread(self.threads_in_use().index(start), False, False)

    def other_thread(self) -> str:
        """One that is not in use, and not in the names."""
        self.others.append(f"{self.unique}~{len(self.others)}")
        return self.others[-1]

    def copy(self, start: str, end: str, look: bool) -> None:
        """Copy a thread to one in which nothing is."""
        _, ns, id = self.checkpoints(start)[0].address
        with self.looked_at((end, ns, id), look):
            self.saver.copy_thread(start, end)
            self.model.copy_thread(start, end)
            self.know_copy(start, end)

    def know_copy(self, start: str, end: str) -> None:
        for known in [each for each in self.known.values() if each.address[0] == start]:
            moved = (end, *known.address[1:])
            self.known[moved] = Known(moved, deepcopy(known.arguments), known.parent, known.parent_is_known)
        # whether writes without a checkpoint are copied is not said
        self.unclear |= {(end, *address[1:]) for address in self.waiting | self.unclear if address[0] == start}
        self.waiting |= {(end, *address[1:]) for address in self.waiting if address[0] == start}
        if start in self.thinned:
            self.thinned.add(end)
        for (address, task), path in list(self.paths.items()):
            if address[0] == start:
                self.paths[(end, *address[1:]), task] = path
        for (thread, ns), number in list(self.counters.items()):
            if thread == start:
                self.counters[end, ns] = number

    @precondition(lambda self: "prune" in self.world.offers)
    @rule(
        threads=st.lists(picks, max_size=2),
        strategy=st.sampled_from(["keep_latest", None, "delete", "unknown"]),
        written=st.booleans(),
        look=looks,
        which=picks,
    )
    def prune(self, threads: list[int], strategy: str | None, written: bool, look: bool, which: int) -> None:
        longer = [thread for thread in self.threads_in_use() if len(self.checkpoints(thread)) > 1]
        names = list(dict.fromkeys(pick(longer or self.threads_in_use(), each) for each in threads))
        if strategy == "unknown":
            if self.world.wide:
                with contextlib.suppress(ValueError, NotImplementedError, TypeError, KeyError):
                    self.saver.prune(names, strategy=strategy)
            return
        there = self.checkpoints(names[0]) if names else []
        if written and there:
            newest = max(there, key=lambda known: known.address[2]).address
            task = self.names.tasks[0]
            self.write(newest, [("channel", 1)], task, self.paths.setdefault((newest, task), ""))
        if any(self.is_unclear(*each.address[:2], None) for name in names for each in self.checkpoints(name)):
            return
        with self.looked_at(pick(there, which).address if there else ("", "", ""), look and bool(there)):
            self.prune_threads(names, strategy)

    def prune_threads(self, names: Sequence[str], strategy: str | None) -> None:
        chains = {
            each.address: {known.address for known in self.chain(each)}
            for name in names
            for each in self.checkpoints(name)
        }
        keywords = {} if strategy is None else {"strategy": strategy}
        self.saver.prune(names, **keywords)
        self.model.prune(names, **keywords)
        if strategy == "delete":
            self.forget_threads(names)
            return
        self.thinned.update(names)
        left = {address for address in self.known if self.model.get_tuple(config_of(*address)) is not None}
        waiting = set(self.waiting_in(names))
        for address in [address for address in chains if address in left]:
            if not self.world.wide:
                self.unclear |= chains[address] - left  # ancestors may stay
            self.known[address].parent_is_known = False
        self.forget(lambda address: address[0] in names and address not in left)
        self.unclear |= waiting

    @precondition(lambda self: SEEDED and {"delta_history", "prune", "delete_thread"} <= self.world.offers)
    @rule(ns=picks, steps=st.lists(new_values, min_size=2, max_size=4), run=st.booleans())
    def thin_a_delta_channel(self, ns: int, steps: list[Any], run: bool) -> None:
        """Pruning, or deleting the run of the first steps, leaves the history of the last as it was, or is refused."""
        place = (self.other_thread(), named(self.names.namespaces, ns))
        counters = {"counters_since_delta_snapshot": {"log": [1, 1]}}
        for number, value in enumerate([*steps, EMPTIED]):
            there = self.checkpoints(*place)
            changed = {"log": value if number == 0 else EMPTIED, "other": value}
            described = {**counters, "run_id": 7 if number < 2 else 8}
            self.put_on(there[0] if there else None, *place, 0, changed, described, False)
            self.write(self.checkpoints(*place)[0].address, [("log", number)], "t", "")
        config = config_of(*self.checkpoints(*place)[0].address)
        before = deepcopy(dict(self.saver.get_delta_channel_history(config, ["log"])))
        with contextlib.suppress(NotImplementedError):
            if not run:
                self.saver.prune([place[0]])
            elif "delete_for_runs" in self.world.offers:
                self.saver.delete_for_runs([f"{self.unique}-7"])
        after = dict(self.saver.get_delta_channel_history(config, ["log"]))
        self.world.explorer.looked()
        expect_same(before, after, "the history of a delta channel, before and after a part of its thread was deleted")
        self.saver.delete_thread(place[0])
        self.model.delete_thread(place[0])
        self.forget_threads([place[0]])

    def chain(self, known: Known) -> Iterable[Known]:
        """The ancestors that are known."""
        seen: set[Address] = set()
        while known.parent is not None and known.address not in seen:
            seen.add(known.address)
            parent = self.known.get((*known.address[:2], known.parent))
            if parent is None:
                return
            yield parent
            known = parent

    @precondition(lambda self: "delete_for_runs" in self.world.offers)
    @rule(runs=st.lists(st.sampled_from([*RUNS, 3]), max_size=2), which=picks, look=looks)
    def delete_for_runs(self, runs: list[int], which: int, look: bool) -> None:
        ids = [f"{self.unique}-{run}" for run in dict.fromkeys(runs)]
        stored = [known.arguments[1]["run_id"] for known in self.known.values() if "run_id" in known.arguments[1]]
        if ids and stored:
            ids = list(dict.fromkeys([pick(stored, which), *ids[1:]]))
        if self.unclear - self.waiting:
            return
        there = self.checkpoints()
        with self.looked_at(pick(there, which).address if there else ("", "", ""), look and bool(there)):
            self.delete_runs(ids)

    def delete_runs(self, ids: Sequence[str]) -> None:
        self.saver.delete_for_runs(ids)
        self.model.delete_for_runs(ids)
        self.thinned.update(self.names.threads)
        gone = {address for address in self.known if self.model.get_tuple(config_of(*address)) is None}
        self.unclear |= self.waiting if ids else set()
        self.forget(lambda address: address in gone)
        for known in self.known.values():
            if known.parent is not None and (*known.address[:2], known.parent) in gone:
                known.parent_is_known = False

    # -- the end of an example

    def finish(self) -> None:
        used = {address[:2] for address in [*self.known, *self.gone, *self.waiting]}
        used = {place for place in used if place[0] in self.names.threads}
        named_threads = [thread for thread in self.names.threads if thread in {each[0] for each in used}]
        used |= {(thread, ns) for thread in named_threads for ns in self.names.namespaces}
        for place in sorted(used):
            if not self.is_unclear(*place, None):
                with self.shown_if_it_fails():
                    self.read(config_of(*place))
                with self.shown_if_it_fails():
                    self.read_list(config_of(*place))
        mine = {"example": self.unique}
        with self.shown_if_it_fails():
            self.list_and_use((None, mine, None), None, "")
        limits = (None,) if self.unclear - self.waiting else (1, 2, None, 0) if self.world.wide else (1, 2, None)
        for known in self.checkpoints()[:6:5]:
            thread, ns, _ = known.address
            for name in self.filtered(known):
                with self.shown_if_it_fails():
                    self.list_and_use((None, {**mine, name: known.arguments[1][name]}, None), None, "")
            for limit in limits:
                for bound in (None, config_of(*known.address)):
                    with self.shown_if_it_fails():
                        self.list_and_use((config_of(thread, ns), None, bound), limit, "")
                    with self.shown_if_it_fails():
                        self.list_and_use((config_of(thread, None), None, bound), limit, "")
        gone = [address for address in dict.fromkeys(self.gone[-MOST_READS:]) if address not in self.unclear]
        for address in dict.fromkeys([*[*self.known][-MOST_READ_AGAIN:], *gone]):
            with self.shown_if_it_fails():
                config = config_of(*address)
                self.compare(self.model.get_tuple(config), self.saver.get_tuple(config), f"get_tuple of {address}")
        for address in gone[-4:]:
            self.put_where_one_was(address)
        for read in self.reads:
            expect_same(read.looks, loose_form(read.found), "what an earlier read gave, looked at later")

    def clean(self) -> None:
        drive = self._drives[0]
        remove(drive, [Thread(drive, thread) for thread in [*self.names.threads, *self.others]])


def named(names: Sequence[str], number: int) -> str:
    """One of ``names``, the first ones more often: what is stored in one place only meets nothing."""
    return pick(names, (0, 0, 0, 1, 1, 2, 3, 4)[number % 8])


def key(found: CheckpointTuple) -> Address:
    """Where a checkpoint is."""
    address: Any = address_of(found.config)
    return (str(address[0]), str(address[1]), str(found.checkpoint["id"]))


def loose_form(found: CheckpointTuple) -> dict[str, Any]:
    """All of a tuple."""
    return {**as_read(found), "writes": writes_of(found)}


def by_task(writes: Sequence[tuple[Any, ...]]) -> dict[str, tuple[list[Any], list[Any]]]:
    """Per task its regular writes in order, and its special ones by channel."""
    tasks: dict[str, tuple[list[Any], list[Any]]] = {}
    for task, channel, value in writes:
        regular, special = tasks.setdefault(task, ([], []))
        (special if channel in WRITES_IDX_MAP else regular).append((channel, value))
    return {task: (regular, sorted(special, key=lambda write: write[0])) for task, (regular, special) in tasks.items()}


def history(ancestors: list[CheckpointTuple], channel: str) -> tuple[list[list[Any]], dict[str, Any]] | None:
    """The writes to a channel by checkpoint, oldest first, and the seed; None where official savers do not agree."""
    groups: list[list[Any]] = []
    for each in ancestors:
        groups.append([write for write in writes_of(each) if write[1] == channel])
        if channel in each.checkpoint["channel_values"]:
            seed = each.checkpoint["channel_values"][channel]
            return None if same(None, seed) else (groups[::-1], {"seed": seed})
    return groups[::-1], {}


def spoil_tuple(found: CheckpointTuple) -> None:
    """Change all of what was read, as the engine changes the tuple that it goes on from."""
    spoil((found.checkpoint, found.metadata, found.pending_writes, found.config, found.parent_config))


def spoil(value: Any) -> None:
    """Change every container within ``value``."""
    if isinstance(value, dict):
        for member in list(value.values()):
            spoil(member)
        value["spoilt"] = "spoilt"
    elif isinstance(value, (list, tuple)):
        for member in value:
            spoil(member)
        if isinstance(value, list):
            value.append("spoilt")
    elif isinstance(value, set):
        value.add("spoilt")
