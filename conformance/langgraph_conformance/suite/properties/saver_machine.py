"""A state machine that uses a saver as the engine and its users do, and compares it with the reference after each read.

It stays where the contract is clear: what official savers do in different ways is neither tried nor looked at. The
`wide` domain adds what is advice only.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from threading import Lock
from typing import Any
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import WRITES_IDX_MAP, CheckpointTuple
from langgraph_reference import ReferenceSaver

from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.expect import expect_same, expect_true, same
from langgraph_conformance.explore import Machine, World
from langgraph_conformance.fixtures import remove
from langgraph_conformance.lookalikes import BACKSLASHES, NAMES
from langgraph_conformance.rules import unmet
from langgraph_conformance.suite.properties.choices import JSON, SEPARATORS, TEXTS, pick, picks, some_of
from langgraph_conformance.suite.saver import values as pools
from langgraph_conformance.threads import FORMAT, Thread, address_of, as_read, config_of, fresh_id, writes_of

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
PATHS = ["", "~__pregel_pull, node", "~__pregel_pull, a", "~__pregel_push, 10, False", "~__pregel_push, 2, False"]
EMPTIED = object()
"""Stands for a channel that gets a new version and no value."""
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
POOL = [0, *_ALONE, *([value, 1] for value in _ALONE[::5]), *({"a.b": value, "$c": [None]} for value in _ALONE[2::5])]
"""Values of a channel and of a write, alone and in containers."""
NUMBERS = [0, 1, -1, 2, 10, 9, 100, 2**31, 0.5, -2.25]
kinds = st.sampled_from(["case", *(kind for kind in NAMES if kind != "case"), *["joined"] * 5, "backslashes"])
values = st.sampled_from(POOL)
json_values = st.sampled_from(JSON)
USERS = ["a", "A", "ab", "a%", "%", "a'b", "1", ""]
metadata = some_of(user=USERS, score=NUMBERS, flag=[True, False], about=JSON, run_id=[0, 1, 2])
filters = st.one_of(
    some_of(user=USERS, run_id=[0, 1, 2, 3]),
    some_of(score=NUMBERS, flag=[True, False]),
    some_of(source=["input", "loop", "update"], step=[-1, 0, 1, 2]),
)
FILTERED = ["source", "step", "user", "score", "flag", "run_id"]
"""Keys of metadata whose values official savers compare alike."""
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
    return Names(threads, namespaces, [*inner, "__start__"], [*inner, f"{inner[0]}1"])


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
        self.unique = fresh_id()
        self.names = Names([self.unique], [""], ["a"], ["t"])
        self.versions, self.named_ids, self.ids_kind = "own", False, "case"
        self.highest = RANKS

    @property
    def saver(self) -> SaverDrive:
        """The drive for the next call."""
        return self.next_drive()

    @initialize(
        kind=kinds,
        chosen=st.tuples(st.integers(0, 15), picks, picks),
        in_front=st.booleans(),
        versions=st.sampled_from(["own", "own", "int", "text", "float"]),
        turns=st.lists(st.integers(0, 1), min_size=1, max_size=6),
        named_ids=st.booleans(),
    )
    def begin(
        self, kind: str, chosen: tuple[int, ...], in_front: bool, versions: str, turns: list[int], named_ids: bool
    ) -> None:
        self.names = names_of(kind, chosen, self.unique, in_front)
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
        return {name: f"{self.unique}-{value}" if name == "run_id" else value for name, value in described.items()}

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
        read["checkpoint"] = {key: value for key, value in read["checkpoint"].items() if key in keys}
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

    def compare(self, model: CheckpointTuple | None, found: CheckpointTuple | None, what: str) -> None:
        self.world.explorer.looked()
        expect_same(self.tuple_form(model, model), self.tuple_form(found, model), what)
        if found is not None:
            self.reads.append(Read(found, deepcopy(loose_form(found))))
            del self.reads[:-MOST_READS]

    def compare_lists(
        self, model: list[CheckpointTuple], found: list[CheckpointTuple], what: str, limit: int | None, one_place: bool
    ) -> None:
        found = [each for each in found if address_of(each.config) not in self.unclear]
        self.world.explorer.looked()
        if one_place:
            if limit is not None:
                model = model[:limit]
            expected, actual = [key(each) for each in model], [key(each) for each in found]
            expect_same(expected, actual, f"the checkpoints of {what}")
        else:
            expected, actual = sorted(map(key, model)), sorted(map(key, found))
            number = len(model) if limit is None else min(limit, len(model))
            expect_same(number, len(found), f"how many checkpoints are in {what}")
            if limit is None:
                expect_same(expected, actual, f"the checkpoints in {what}")
            strange = sorted(set(actual) - set(expected)) + [each for each in set(actual) if actual.count(each) > 1]
            expect_same([], strange, f"the checkpoints in {what} that are not asked for or come twice")
            in_place: dict[tuple[str, str], list[str]] = {}
            for each in map(key, found):
                in_place.setdefault(each[:2], []).append(each[2])
            falling = {place: sorted(ids, reverse=True) for place, ids in in_place.items()}
            expect_same(falling, in_place, f"the order of the checkpoints of each namespace in {what}")
        by_key = {key(each): each for each in model}
        for listed in found:
            self.compare(by_key[key(listed)], listed, f"the checkpoint {key(listed)[2]} in {what}")

    # -- storing

    @rule(
        thread=picks,
        ns=picks,
        parent=st.integers(-1, 5),
        rank=st.one_of(st.just(0), st.integers(0, RANKS)),
        changes=changes,
        described=metadata,
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
        seen: bool,
    ) -> None:
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
    ) -> None:
        """A checkpoint as the engine makes it: what did not change is held over from the parent."""
        before = on.arguments[0] if on else {"channel_values": {}, "channel_versions": {}}
        held, versions = dict(before["channel_values"]), dict(before["channel_versions"])
        version = self.next_version(on, thread_id, namespace) if changed else None
        if changed and versions and self.versions == "own":
            newest = max(versions.values())
            expect_true(version > newest, f"the version after {newest!r}", "a greater one", version)
        for channel, value in changed.items():
            held.pop(channel, None)
            if value is not EMPTIED:
                held[channel] = value
            versions[channel] = version
        id = self.free_id(thread_id, namespace, rank)
        checkpoint = {
            "v": FORMAT,
            "id": id,
            "ts": f"2024-05-04T06:32:{10 + self.highest * 17 % 50}.235444+00:00",
            "channel_values": held,
            "channel_versions": versions,
            "versions_seen": {"__input__": {}, "node": dict(versions)} if seen else {},
            "updated_channels": sorted(changed) if seen else None,
        }
        described = {
            "source": "loop" if on else "input",
            "step": on.arguments[1]["step"] + 1 if on else -1,
            "parents": {"": id} if namespace else {},
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

    @rule(thread=picks, ns=picks, write=st.booleans())
    def store_what_cannot_be_stored(self, thread: int, ns: int, write: bool) -> None:
        """A call that must raise, and leave everything as it was."""
        place = (named(self.names.threads, thread), named(self.names.namespaces, ns))
        there = self.checkpoints(*place)
        before = there[0] if there else None
        refused: dict[str, Any] = {"v": FORMAT, "id": self.free_id(*place, 0), "ts": "2024-05-04T06:32:42.235444+00:00"}
        version = self.next_version(before, *place)
        refused |= {"channel_values": {"lock": Lock()}, "channel_versions": {"lock": version}}
        refused |= {"versions_seen": {}, "updated_channels": None}
        described = {"source": "loop", "step": 0, "parents": {}, "example": self.unique}
        try:
            if write and before:
                self.saver.put_writes(config_of(*before.address), [("channel", Lock())], "refused")
                kept = "refused" in [write[0] for write in self.writes_at(before.address)]
            else:
                config = config_of(*place, before.address[2] if before else None)
                self.saver.put(config, refused, described, {"lock": version})
                read = self.saver.get_tuple(config_of(*place, refused["id"]))
                kept = read is not None and "lock" in read.checkpoint["channel_values"]
        except Exception:
            return
        expect_true(kept, "a call with a lock as a value, which returned", "an exception, or the value", "neither")
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
        config = config_of(thread, ns, parent_id, **configurable)
        arguments: Any = (config, checkpoint, described, new_versions)
        given = deepcopy(arguments)
        returned = self.saver.put(*given)
        if self.world.wide:
            expect_same(arguments, given, "the arguments of put after the call")
        else:
            expect_same(arguments[:2], given[:2], "the config and the checkpoint after put")
        address = (thread, ns, checkpoint["id"])
        expect_same(address, address_of(returned), "the address that put returns")
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
    @rule(which=picks, described=metadata)
    def put_again(self, which: int, described: dict[str, Any]) -> None:
        """The same checkpoint with other metadata."""
        old = pick(self.checkpoints(), which)
        if not old.parent_is_known:
            return
        thread, ns, _ = old.address
        checkpoint, earlier, new_versions = deepcopy(old.arguments)
        kept = {key: earlier[key] for key in ("source", "step", "parents", "example")}
        self.store(
            thread, ns, None, checkpoint, {**kept, **self.with_run(described)}, new_versions, parent_id=old.parent
        )

    @precondition(lambda self: self.world.wide)
    @rule(
        thread=picks,
        ns=picks,
        extra=json_values,
        parent=st.booleans(),
        tenant=st.sampled_from([*TEXTS, 7, True]),
        number=st.sampled_from([2**53 + 1, 1.0, 2**62, -0.5]),
    )
    def put_what_is_unusual(self, thread: int, ns: int, extra: Any, parent: bool, tenant: Any, number: float) -> None:
        """A parent that is not stored, fields that nobody knows, keys of the config that go into metadata."""
        thread_id, namespace = named(self.names.threads, thread), named(self.names.namespaces, ns)
        checkpoint = {
            "v": FORMAT,
            "id": self.free_id(thread_id, namespace, 0),
            "ts": "2024-05-04T06:32:42.235444+00:00",
            "channel_values": {},
            "channel_versions": {},
            "versions_seen": {},
            "updated_channels": None,
            "of_a_later_version": extra,
        }
        described = {"source": "update", "step": 0, "parents": {}, "example": self.unique, "number": number}
        parent_id = self.id_of(0) if parent else None
        if (thread_id, namespace, self.id_of(0)) in self.known:
            parent_id = None
        self.store(thread_id, namespace, None, checkpoint, described, {}, parent_id=parent_id, tenant=tenant)

    @rule(
        where=picks,
        early=st.booleans(),
        rank=st.integers(1, RANKS),
        task=picks,
        path=st.sampled_from(PATHS),
        batch=batches,
        extra=specials,
        alone=st.booleans(),
        times=st.sampled_from([1, 1, 1, 4, 40]),
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
    ) -> None:
        address = self.address_for_writes(where, early, rank)
        if address is None:
            return
        task_id = named(self.names.tasks, task)
        channels = [*self.names.channels, *REGULAR]
        writes = [(pick(channels, channel), value) for channel, value in batch] * times
        stored = self.model.writes.get(address, {})
        if extra and alone:
            writes = list(extra)
        elif not any((task_id, WRITES_IDX_MAP[channel]) in stored for channel, _ in extra):
            # official savers keep a special write that is there when its successor comes with regular ones
            writes = [*writes, *extra]
        self.write(address, writes, task_id, self.paths.setdefault((address, task_id), path))

    @precondition(lambda self: self.paths)
    @rule(which=picks, batch=batches, extra=specials, alone=st.booleans())
    def put_writes_again(
        self, which: int, batch: list[tuple[int, Any]], extra: list[tuple[str, Any]], alone: bool
    ) -> None:
        """A task that wrote before writes again: its regular writes stay, its special ones are replaced."""
        (address, task), path = pick(list(reversed(self.paths.items())), which)
        channels = [*self.names.channels, *REGULAR]
        stored = self.model.writes.get(address, {})
        taken = [channel for (owner, _), (_, channel, _, _) in stored.items() if owner == task and channel in SPECIAL]
        if alone and (extra or taken):
            self.write(address, extra or [(taken[0], batch[0][1])], task, path)
        elif address not in self.unclear:
            self.write(address, [(pick(channels, channel), value) for channel, value in batch], task, path)

    def address_for_writes(self, where: int, early: bool, rank: int) -> Address | None:
        if not early and self.known:
            return pick(self.checkpoints(), where).address
        address = (named(self.names.threads, where), named(self.names.namespaces, rank), self.id_of(rank))
        return None if address in self.unclear else address

    def write(self, address: Address, writes: list[tuple[str, Any]], task: str, path: str) -> None:
        config = config_of(*address)
        given = deepcopy((config, writes))
        self.saver.put_writes(*given, task, path or None)
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

    @rule(thread=picks, ns=picks, rank=st.integers(-3, RANKS), without=st.booleans())
    def get_tuple(self, thread: int, ns: int, rank: int, without: bool) -> None:
        """The latest checkpoint, a stored one, or one that need not be there."""
        if rank == -1 and self.known:
            address = pick(self.checkpoints(), thread).address
            config = config_of(*address)
        else:
            place = (named(self.names.threads, thread), named(self.names.namespaces, ns))
            config = config_of(*place) if rank < 0 else config_of(*place, self.id_of(rank))
            if self.is_unclear(*place, self.id_of(rank) if rank >= 0 else None):
                return
        if self.world.wide and rank == -3:
            config["configurable"]["checkpoint_id"] = ""
        if without and not config["configurable"]["checkpoint_ns"]:
            del config["configurable"]["checkpoint_ns"]
        self.read(config)

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
        self.compare(model, found, f"get_tuple of {config['configurable']}")
        spoil(given)
        if found is not None and "checkpoint_id" not in config["configurable"]:
            again = self.saver.get_tuple(found.config)
            self.compare(model, again, "get_tuple of the config of the tuple found")

    @rule(
        scope=st.sampled_from(["namespace", "thread", "all"]),
        thread=picks,
        ns=picks,
        filter=st.sampled_from([0, 0, 0, 1]).flatmap(lambda one: filters if one else st.none()),
        before=st.sampled_from([-2, -2, -2, -1, -1, *range(RANKS + 1)]),
        limit=st.sampled_from([None, None, 1, 2, 3]),
        like=st.integers(-6, 5),
    )
    def list_checkpoints(
        self, scope: str, thread: int, ns: int, filter: dict[str, Any] | None, before: int, limit: int | None, like: int
    ) -> None:
        place = (named(self.names.threads, thread), named(self.names.namespaces, ns))
        config = {
            "namespace": config_of(*place),
            "thread": config_of(place[0], None),
            "all": None,
        }[scope]
        filter = None if filter is None else self.with_run(filter)
        if like >= 0 and self.known:
            described = pick(self.checkpoints(), thread).arguments[1]
            name = pick([name for name in FILTERED if name in described], like)
            filter = {**(filter or {}), name: described[name]}
        if scope == "all":
            filter = {**(filter or {}), "example": self.unique}
        bound = None
        if before == -1 and self.known:
            bound = config_of(*pick(self.checkpoints(), ns).address)
        elif before >= 0:
            bound = {"configurable": {"checkpoint_id": self.id_of(before)}}
        if self.unclear - self.waiting:
            limit = None
        given = deepcopy((config, filter, bound))
        found = self.saver.list(given[0], filter=given[1], before=given[2], limit=limit)
        expect_same((config, filter, bound), given, "the arguments of list after the call")
        model = list(self.model.list(config, filter=filter, before=bound))
        what = f"list({config and config['configurable']}, filter={filter}, before={bound}, limit={limit})"
        self.compare_lists(model, found, what, limit, scope == "namespace")

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

    @precondition(lambda self: SEEDED and "delta_history" in self.world.offers)
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
                self.write(address, writes, task, self.paths.setdefault((address, task), path))
        self.delta_history(0, [0, 1])
        self.delta_history(0, [steps[0][0], steps[0][2]])

    @precondition(lambda self: SEEDED and "delta_history" in self.world.offers and self.known)
    @rule(which=picks, channels=st.lists(picks, min_size=1, max_size=2))
    def delta_history(self, which: int, channels: list[int]) -> None:
        target = pick(self.checkpoints(), which)
        names = list(dict.fromkeys(pick(self.names.channels, each) for each in channels))
        ancestors = self.ancestors(target)
        if ancestors is None:
            return
        expected = {name: history(ancestors, name) for name in names}
        if None in expected.values():
            return
        found = self.saver.get_delta_channel_history(config_of(*target.address), names)
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

    @precondition(lambda self: self.reads)
    @rule(which=picks)
    def change_what_was_read(self, which: int) -> None:
        """As the engine does with the tuple it goes on from."""
        read = self.reads.pop(which % len(self.reads))
        spoil((read.found.checkpoint, read.found.metadata, read.found.pending_writes, read.found.config))

    # -- deleting and copying

    @precondition(lambda self: "delete_thread" in self.world.offers)
    @rule(thread=picks, anew=st.booleans())
    def delete_thread(self, thread: int, anew: bool) -> None:
        thread_id = pick(self.threads_in_use(), thread)
        there = [*(each.address for each in self.checkpoints(thread_id)), *self.waiting_in([thread_id])]
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
    @rule(source=picks, copy=picks)
    def copy_thread(self, source: int, copy: int) -> None:
        start, end = pick(self.threads_in_use(), source), pick(self.names.threads[::-1], copy)
        used = {address[0] for address in [*self.known, *self.waiting, *self.unclear]}
        if start == end or end in used or not self.checkpoints(start):
            return
        self.saver.copy_thread(start, end)
        self.model.copy_thread(start, end)
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
        threads=st.lists(picks, min_size=1, max_size=2),
        strategy=st.sampled_from(["keep_latest", None, "delete"]),
        written=st.booleans(),
    )
    def prune(self, threads: list[int], strategy: str | None, written: bool) -> None:
        names = list(dict.fromkeys(pick(self.threads_in_use(), each) for each in threads))
        there = self.checkpoints(names[0])
        if written and there:
            newest = max(there, key=lambda known: known.address[2]).address
            task = self.names.tasks[0]
            self.write(newest, [("channel", 1)], task, self.paths.setdefault((newest, task), ""))
        if any(self.is_unclear(*each.address[:2], None) for name in names for each in self.checkpoints(name)):
            return
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
    @rule(runs=st.lists(st.integers(0, 3), min_size=1, max_size=2))
    def delete_for_runs(self, runs: list[int]) -> None:
        ids = [f"{self.unique}-{run}" for run in dict.fromkeys(runs)]
        if self.unclear - self.waiting:
            return
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
        for thread in self.names.threads:
            with self.shown_if_it_fails():
                config = config_of(thread, None)
                model, found = list(self.model.list(config)), self.saver.list(config)
                self.compare_lists(model, found, f"all of thread {thread!r}", None, False)
        for thread, ns in itertools.product(sorted({place[0] for place in used}), self.names.namespaces):
            if not self.is_unclear(thread, ns, None):
                with self.shown_if_it_fails():
                    self.read(config_of(thread, ns))
                with self.shown_if_it_fails():
                    config = config_of(thread, ns)
                    model, found = list(self.model.list(config)), self.saver.list(config)
                    self.compare_lists(model, found, f"namespace {ns!r} of thread {thread!r}", None, True)
        gone = [address for address in dict.fromkeys(self.gone[-MOST_READS:]) if address not in self.unclear]
        for address in dict.fromkeys([*self.known, *gone]):
            with self.shown_if_it_fails():
                config = config_of(*address)
                self.compare(self.model.get_tuple(config), self.saver.get_tuple(config), f"the checkpoint {address}")
        for address in gone[-2:]:
            self.put_where_one_was(address)
        for read in self.reads:
            expect_same(read.looks, loose_form(read.found), "what an earlier read gave, looked at later")

    def clean(self) -> None:
        drive = self._drives[0]
        remove(drive, [Thread(drive, thread) for thread in self.names.threads])


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
