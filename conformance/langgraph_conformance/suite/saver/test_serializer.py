"""The serializer of a saver: what goes through it, and what the engine does with it."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.checkpoint.serde.base import CipherProtocol, SerializerProtocol, maybe_add_typed_methods
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT, RESUME
from langgraph.types import Interrupt

from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.expect import expect_same, expect_true
from langgraph_conformance.rules import MUST, QUIRK, SHOULD, rule
from langgraph_conformance.session import Subject
from langgraph_conformance.suite.saver.values import Address
from langgraph_conformance.threads import Thread, fresh_id, writes_of

SERDE = "BaseCheckpointSaver.serde: serializer for encoding and decoding checkpoints"
PLAIN: dict[str, Any] = {"text": "text", "number": 7, "list": ["text", 1], "dict": {"key": {"inner": ["value"]}}}
SEEN = "what the saver's serializer was given"


class Recorder(JsonPlusSerializer):
    """A serializer that notes what goes through it and leaves the work to another one.

    It is a JsonPlusSerializer, since savers may ask for one.

    Args:
        inner: the serializer that does the work.
    """

    def __init__(self, inner: SerializerProtocol) -> None:
        super().__init__()
        self.inner = inner
        self.dumped: list[str] = []
        """What was serialized, as text."""
        self.given: list[tuple[str, bytes]] = []
        """The type tags and payloads that it gave out."""
        self.taken: list[tuple[str, bytes]] = []
        """The type tags and payloads that it got back."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        tag, payload = self.inner.dumps_typed(obj)
        self.dumped.append(repr(obj))
        self.given.append((tag, bytes(payload)))
        return tag, payload

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        self.taken.append((data[0], bytes(data[1])))
        return self.inner.loads_typed(data)

    def saw(self, text: str) -> bool:
        """Whether something that holds ``text`` was serialized."""
        return any(text in each for each in self.dumped)


class Scrambler(CipherProtocol):
    """A cipher that anyone can undo: enough to notice what did not go through it."""

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        return "scrambled", _scrambled(plaintext)

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        if ciphername != "scrambled":
            raise ValueError(f"a payload has the cipher {ciphername!r} in its type tag, not 'scrambled'")
        return _scrambled(ciphertext)


def _scrambled(data: bytes) -> bytes:
    return bytes(byte ^ 0xA5 for byte in reversed(data))


class Tagged:
    """A serializer with a type tag of its own, which it insists on.

    Args:
        tag: the type tag of everything that it serializes.
    """

    def __init__(self, tag: str) -> None:
        self.tag = tag

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        return self.tag, _scrambled(pickle.dumps(obj))

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        if data[0] != self.tag:
            raise ValueError(f"a payload came back with the type tag {data[0]!r}, not {self.tag!r}")
        return pickle.loads(_scrambled(data[1]))


MISSING = object()


def exchange(undo: ExitStack, owner: Any, attributes: Mapping[str, Any]) -> None:
    """Set attributes of an object until ``undo`` is closed; an object that allows none to be set is left as it is."""
    for name, value in attributes.items():
        own = vars(owner).get(name, MISSING)
        with suppress(AttributeError):
            setattr(owner, name, value)
            undo.callback(*((delattr, owner, name) if own is MISSING else (setattr, owner, name, own)))


@contextmanager
def serialized_by(saver: SaverDrive, recorder: Recorder) -> Iterator[Thread]:
    """A thread of the saver, whose serializer is the recorder as long as the context is open.

    The saver's attribute is set, and what it has taken from its serializer. Where nothing goes through the recorder
    then, the saver has handed its serializer on when it was made, for example to a saver that it wraps: there the
    methods of the serializer itself are exchanged. What was stored is deleted, since no other serializer can read it.
    """
    raw, thread = saver.raw, Thread(saver, fresh_id())
    taken = {name: each for name, each in vars(raw).items() if getattr(each, "__self__", None) is raw.serde}
    with ExitStack() as undo:
        undo.callback(delete, thread)
        with ExitStack() as attributes:
            exchange(attributes, raw, {name: getattr(recorder, each.__name__) for name, each in taken.items()})
            exchange(attributes, raw, {"serde": recorder})
            try_out(saver)
            if recorder.given:
                undo.push(attributes.pop_all())
        if not recorder.given:
            exchange(undo, raw.serde, {name: getattr(recorder, name) for name in ("dumps_typed", "loads_typed")})
        recorder.dumped.clear()
        yield thread


def try_out(saver: SaverDrive) -> None:
    """Store something, to see what serializes it."""
    thread = Thread(saver, fresh_id())
    thread.write(thread.put({"list": [1]}), [("list", [1])])
    delete(thread)


def delete(thread: Thread) -> None:
    """Delete a thread; whether that works is judged by rules of its own."""
    with suppress(Exception):
        thread.saver.delete_thread(thread.id)


@pytest.fixture
def apart(saver: SaverDrive, subject: Subject) -> SaverDrive:
    """An instance of the saver that no other check uses, in the same drive."""
    drive: SaverDrive = subject.drive(saver.mode, "serializer")
    return drive


def beside(saver: SaverDrive, raw: BaseCheckpointSaver[Any]) -> SaverDrive:
    """The same drive over a saver that was made from this one."""
    return SaverDrive(dataclasses.replace(saver.opened, backend=raw), saver.mode, saver.hangs, saver.missing)


# -- what goes through it


@rule(MUST, source=SERDE, needs="delete_thread")
def test_collections_in_channels_go_through_the_serializer(apart: SaverDrive) -> None:
    """Lists, dicts, sets, messages and objects in channels are serialized by the saver's serializer.

    Users give a serializer to encrypt, to compress, or for types of their own: what goes past it lies in the storage
    in clear, or cannot be stored.
    """
    recorder, mark = Recorder(JsonPlusSerializer()), fresh_id()
    put: dict[str, Any] = {
        "list": [f"{mark}-list"],
        "dict": {"key": f"{mark}-dict"},
        "set": {f"{mark}-set"},
        "message": HumanMessage(f"{mark}-message"),
        "object": Address(f"{mark}-object"),
    }
    with serialized_by(apart, recorder) as thread:
        thread.put(put)
    expect_same(dict.fromkeys(put, True), {name: recorder.saw(f"{mark}-{name}") for name in put}, SEEN)


@rule(SHOULD, source=SERDE, needs="delete_thread")
def test_text_in_channels_goes_through_the_serializer(apart: SaverDrive) -> None:
    """Text in channels is serialized by the saver's serializer.

    Stored beside it for speed, the names and questions of users lie in clear in a storage that was to be encrypted.
    """
    recorder, mark = Recorder(JsonPlusSerializer()), fresh_id()
    with serialized_by(apart, recorder) as thread:
        thread.put({"text": f"{mark}-text"})
    expect_same({"text": True}, {"text": recorder.saw(f"{mark}-text")}, SEEN)


@rule(MUST, source=SERDE, needs="delete_thread")
def test_pending_writes_go_through_the_serializer(apart: SaverDrive) -> None:
    """Whatever a task writes, to any channel, is serialized by the saver's serializer.

    Pending writes hold the same data as channels, and answers of users: what goes past the serializer is in clear.
    """
    recorder, mark = Recorder(JsonPlusSerializer()), fresh_id()
    put: dict[str, Any] = {
        "text": f"{mark}-text",
        "list": [f"{mark}-list"],
        RESUME: f"{mark}-{RESUME}",
        ERROR: f"{mark}-{ERROR}",
        INTERRUPT: [Interrupt(value=f"{mark}-{INTERRUPT}")],
    }
    with serialized_by(apart, recorder) as thread:
        stored = thread.put()
        for channel, value in put.items():
            thread.write(stored, [(channel, value)], task=f"task-{channel}")
    expect_same(dict.fromkeys(put, True), {name: recorder.saw(f"{mark}-{name}") for name in put}, SEEN)


@rule(MUST, source=f"{SERDE}; SerializerProtocol.loads_typed", needs="delete_thread")
@pytest.mark.parametrize(
    "make",
    [
        lambda: EncryptedSerializer(Scrambler(), JsonPlusSerializer()),
        lambda: Tagged("conformance/1"),
        lambda: Tagged("My Own v=1.0; a+b"),
        lambda: Tagged("json"),
        lambda: maybe_add_typed_methods(pickle),
    ],
    ids=["encrypting", "own_tag", "any_text_as_tag", "tag_json", "untyped"],
)
def test_other_serializers_get_back_what_they_gave(apart: SaverDrive, make: Callable[[], SerializerProtocol]) -> None:
    """A serializer gets back the type tags and the bytes that it gave out, and its values come back from every read.

    A saver that stores no tag, knows only the default ones, or reads with another serializer than it writes with,
    cannot be used with encryption: the first resume fails.
    """
    recorder = Recorder(make())
    with serialized_by(apart, recorder) as thread:
        stored = thread.put(PLAIN)
        thread.write(stored, list(PLAIN.items()))
        recorder.taken.clear()
        read = {
            "by id": as_plain(thread.read(stored)),
            "latest": as_plain(thread.latest()),
            "listed": [as_plain(found) for found in apart.list(thread.config())],
        }
    strange = [(tag, payload) for tag, payload in recorder.taken if (tag, payload) not in recorder.given]
    expect_same([], strange, "the tags and bytes given back that were not given out")
    expect_same({"by id": (PLAIN, PLAIN), "latest": (PLAIN, PLAIN), "listed": [(PLAIN, PLAIN)]}, read, "what was read")


def as_plain(found: CheckpointTuple) -> tuple[dict[str, Any], dict[str, Any]]:
    """The channel values and the pending writes of a tuple, by channel."""
    return dict(found.checkpoint["channel_values"]), {channel: value for _, channel, value in writes_of(found)}


@rule(
    QUIRK,
    source="serializers of the official backends",
    needs="delete_thread",
    officials={"InMemorySaver": "serialized", "SqliteSaver": "stored as JSON", "PostgresSaver": "stored as JSON"},
)
def test_metadata(apart: SaverDrive, observe: Callable[[object], None]) -> None:
    """Metadata is serialized by the saver's serializer, or stored in another way, in which it can be searched.

    Where it is not, nothing secret belongs into metadata, nor into the config that is merged into it.
    """
    recorder, mark = Recorder(JsonPlusSerializer()), fresh_id()
    with serialized_by(apart, recorder) as thread:
        thread.put({"channel": 1}, metadata={"user": mark})
    observe("serialized" if recorder.saw(mark) else "stored as JSON")


# -- what the engine does with it


def expect_one_storage(first: SaverDrive, second: SaverDrive, thread: Thread) -> None:
    """What was stored through one of two savers is read, listed and written to through the other."""
    one, two = Thread(first, thread.id), Thread(second, thread.id)
    before = one.put({"channel": "first"})
    after = two.put({"channel": "second"}, parent=before)
    one.write(after, [("channel", "by the first")], task="one")
    two.write(before, [("channel", "by the second")], task="two")
    expected = {
        "read through the second": ("first", [("two", "channel", "by the second")]),
        "read through the first": ("second", [("one", "channel", "by the first")]),
        "listed through the first": [after.id, before.id],
        "listed through the second": [after.id, before.id],
    }
    by_second, by_first = two.read(before), one.read(after)
    read = {
        "read through the second": (by_second.checkpoint["channel_values"].get("channel"), writes_of(by_second)),
        "read through the first": (by_first.checkpoint["channel_values"].get("channel"), writes_of(by_first)),
        "listed through the first": one.listed_ids(),
        "listed through the second": two.listed_ids(),
    }
    expect_same(expected, read, "what two savers over one storage see")


@rule(MUST, source="BaseCheckpointSaver.with_allowlist makes a shallow copy")
def test_a_copy_shares_the_storage(saver: SaverDrive, thread: Thread) -> None:
    """`copy.copy(saver)` works and gives a saver over the same storage.

    The engine works with a copy that has another serializer when LANGGRAPH_STRICT_MSGPACK is set: a saver that cannot
    be copied, or whose copy starts empty, loses every thread.
    """
    expect_one_storage(saver, beside(saver, copy.copy(saver.raw)), thread)


ALLOWED = {(Address.__module__, Address.__qualname__)}


def strict() -> JsonPlusSerializer:
    """A serializer that makes no types again but the ones that are known to be safe."""
    return JsonPlusSerializer(allowed_msgpack_modules=None)


@rule(
    MUST,
    source="BaseCheckpointSaver.with_allowlist; pregel/main.py, with LANGGRAPH_STRICT_MSGPACK",
    since="langgraph-checkpoint>=4.0.1",
)
def test_a_saver_with_an_allowlist_shares_the_storage(saver: SaverDrive, thread: Thread) -> None:
    """`with_allowlist` gives a saver over the same storage as the one that it was called on.

    The engine calls it before every run and every read when LANGGRAPH_STRICT_MSGPACK is set: with a storage of its own
    each of them would start from nothing.
    """
    with ExitStack() as undo:
        exchange(undo, saver.raw, {"serde": strict()})
        expect_one_storage(saver, beside(saver, saver.raw.with_allowlist(ALLOWED)), thread)


@rule(
    SHOULD,
    source="BaseCheckpointSaver.with_allowlist sets serde on a shallow copy",
    since="langgraph-checkpoint>=4.0.1",
)
def test_an_allowlist_holds_for_the_saver_that_has_it(saver: SaverDrive, thread: Thread) -> None:
    """Types on the allowlist come back from the saver that `with_allowlist` gave, and only their data from the other.

    With LANGGRAPH_STRICT_MSGPACK the engine allows the types of a graph's state in this way. A saver that keeps using
    the serializer that it was made with gives dicts in place of them, or makes types again that nobody allowed.
    """
    if wraps_another(saver):
        pytest.skip("the saver wraps another one, which has the serializer")
    put = {"address": [Address("Main St 1")]}
    blocked = strict().loads_typed(strict().dumps_typed(put))
    with ExitStack() as undo:
        exchange(undo, saver.raw, {"serde": strict()})
        allowing = Thread(beside(saver, saver.raw.with_allowlist(ALLOWED)), thread.id)
        stored = allowing.put(put)
        read = {
            "with the allowlist": dict(allowing.read(stored).checkpoint["channel_values"]),
            "without it": dict(thread.read(stored).checkpoint["channel_values"]),
        }
    expect_same({"with the allowlist": put, "without it": blocked}, read, "what the savers give back")


def wraps_another(saver: SaverDrive) -> bool:
    """Whether the saver holds another saver."""
    return any(isinstance(each, BaseCheckpointSaver) for each in vars(saver.raw).values())


@rule(SHOULD, source="BaseCheckpointSaver.with_allowlist", since="langgraph-checkpoint>=4.0.1")
def test_an_allowlist_that_adds_nothing_changes_nothing(saver: SaverDrive) -> None:
    """`with_allowlist` of nothing gives the saver itself, and with something it leaves the saver's serializer alone.

    The engine calls it often: copies that nobody needs cost time, and a changed serializer would allow the types of one
    graph to all others.
    """
    with ExitStack() as undo:
        own = strict()
        exchange(undo, saver.raw, {"serde": own})
        same_saver = saver.raw.with_allowlist(set()) is saver.raw
        before = saver.raw.serde
        saver.raw.with_allowlist(ALLOWED)
        expect_true(same_saver, "with_allowlist of nothing", "the saver itself", "another saver")
        expect_true(saver.raw.serde is before, "the saver's serializer", "the same object", "another one")
