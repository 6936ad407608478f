"""Type tags and bytes: a saver keeps those of its serializer, whatever is in them and whoever wrote them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import pytest
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph_fixtures import withdrawn

from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.expect import expect_same
from langgraph_conformance.goldens.plugin import Golden
from langgraph_conformance.goldens.sets import GoldenSet, available, installed_minor, not_newer, packaged
from langgraph_conformance.goldens.wire import WIRE_VIEW, decoded, recorded_wire, text_of_wire
from langgraph_conformance.goldens.wire_values import WIRE, typed_values
from langgraph_conformance.instances import Instances
from langgraph_conformance.rules import MUST, QUIRK, SHOULD, rule, unmet
from langgraph_conformance.session import Subject
from langgraph_conformance.suite.saver.test_serializer import Recorder, Scrambler, serialized_by
from langgraph_conformance.suite.saver.values import expect_kept
from langgraph_conformance.threads import Thread, fresh_id, writes_of

SERDE = "BaseCheckpointSaver.serde; SerializerProtocol"
VALUES = {f"{kind}_{name}": value for kind, values in WIRE.items() for name, value in values.items()}
BY_THEMSELVES = {name: value for name, value in VALUES.items() if not isinstance(value, bytearray)}
"""For writes; the serializer gives a bytearray's bytes as a bytearray, which some databases refuse."""
IN_LISTS = {name: [value] for name, value in VALUES.items()}
"""For channels: by itself a text or a number may be stored in another way, which has rules of its own."""
SETS = not_newer(available(packaged()), installed_minor())


@pytest.fixture
def apart(saver: SaverDrive, subject: Subject) -> SaverDrive:
    """An instance of the saver that no other check uses, in the same drive."""
    drive: SaverDrive = subject.drive(saver.mode, "serializer")
    return drive


class Earlier:
    """A serializer whose bytes for some texts were recorded from an earlier LangGraph.

    It stands for a storage that the earlier version wrote to.

    Args:
        recorded: type tag and bytes by the text that stands for them.
    """

    def __init__(self, recorded: Mapping[str, tuple[str, bytes]]) -> None:
        self._recorded, self._installed = recorded, JsonPlusSerializer()
        self.asked: set[str] = set()
        """The texts that stood for recorded bytes and were serialized; all but those of a saver that joins writes."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        if not isinstance(obj, str) or obj not in self._recorded:
            return self._installed.dumps_typed(obj)
        self.asked.add(obj)
        return self._recorded[obj]

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        return self._installed.loads_typed(data)


def written(thread: Thread, values: Mapping[str, Any]) -> dict[str, Any]:
    """What came back of values that one task wrote, each to a channel of its own, by the same names."""
    stored = thread.put({"channel": "value"})
    thread.write(stored, list(values.items()))
    return {channel: value for _, channel, value in writes_of(thread.read(stored))}


# -- bytes


@rule(MUST, source=SERDE, needs="delete_thread")
def test_a_saver_keeps_exactly_what_its_serializer_gives(apart: SaverDrive) -> None:
    """The serializer gets back each type tag and all bytes that it gave, for every kind of value.

    Bytes are no text: a saver that decodes, trims or guesses a tag breaks values of some kind, and a serializer that
    encrypts or signs refuses them.
    """
    recorder = Recorder(JsonPlusSerializer())
    with serialized_by(apart, recorder) as thread:
        read = written(thread, BY_THEMSELVES)
        channels = dict(thread.read(thread.put(IN_LISTS)).checkpoint["channel_values"])
    given = set(recorder.given)
    strange = [(tag, payload) for tag, payload in recorder.taken if (tag, payload) not in given]
    expect_same([], strange, "the tags and bytes given back that were not given out")
    expect_kept(apart, BY_THEMSELVES, read, "the writes")
    expect_kept(apart, IN_LISTS, channels, "the channel values")


@rule(MUST, source=f"{SERDE}; sets of goldens that were recorded with each version", needs="delete_thread")
@pytest.mark.parametrize("golden_set", SETS, ids=[each.minor for each in SETS])
def test_what_an_older_langgraph_serialized_reads_equal(golden_set: GoldenSet, apart: SaverDrive) -> None:
    """Bytes that an earlier supported LangGraph made of a value are read as that value by the installed one.

    They lie in the storage after an upgrade. What was withdrawn on purpose is listed, with its advisory, and is read as
    the list says.
    """
    recorded = {
        f"{kind}_{name}": typed for kind, values in recorded_wire(golden_set).items() for name, typed in values.items()
    }
    earlier = Earlier(recorded)
    with serialized_by(apart, Recorder(earlier)) as thread:
        read = written(thread, {name: name for name in recorded})
    if not earlier.asked:
        pytest.skip("the saver does not serialize each write by itself")
    gone = {
        name.replace("/", "_"): each.becomes for each in withdrawn() if not unmet(each.since) for name in each.values
    }
    expected = {
        name: value_of(name) if name not in gone else decoded(recorded[name]) if gone[name] == "data" else None
        for name in recorded
        if name in earlier.asked
    }
    found = {name: value for name, value in read.items() if name in earlier.asked}
    expect_kept(apart, expected, found, f"the values that LangGraph {golden_set.minor} serialized")


def value_of(name: str) -> Any:
    """The value of a name; what earlier versions gave as JSON is a value of another kind, too."""
    kind, _, short = name.partition("_")
    return VALUES[name] if kind != "json" else next(each[short] for each in WIRE.values() if short in each)


@rule(
    QUIRK,
    source="JsonPlusSerializer; what it makes of known values is a golden",
    officials=dict.fromkeys(["InMemorySaver", "SqliteSaver", "PostgresSaver"], "LangGraph's bytes"),
)
@pytest.mark.parametrize("kind", typed_values(JsonPlusSerializer()))
def test_bytes_of_known_values(kind: str, saver: SaverDrive, golden: Golden, observe: Callable[[object], None]) -> None:
    """The saver's serializer makes LangGraph's own bytes of a value, or others.

    Tools that look into the storage, and other savers that are to take it over, read LangGraph's.
    """
    made = typed_values(JsonPlusSerializer())[kind]
    golden.write(WIRE_VIEW, kind, text_of_wire(made))
    observe("LangGraph's bytes" if typed_values(saver.raw.serde).get(kind) == made else "bytes of its own")


# -- encryption


@rule(MUST, source="EncryptedSerializer; SerializerProtocol", needs="delete_thread")
def test_every_value_comes_back_through_encryption(apart: SaverDrive) -> None:
    """With an encrypted serializer every kind of value comes back from channels and writes.

    It adds the cipher's name to the type tag and changes all bytes: a saver that knows only some tags, or looks into
    the bytes, works until the day that encryption is switched on.
    """
    recorder = Recorder(EncryptedSerializer(Scrambler(), JsonPlusSerializer()))
    with serialized_by(apart, recorder) as thread:
        read = written(thread, BY_THEMSELVES)
        channels = dict(thread.read(thread.put(IN_LISTS)).checkpoint["channel_values"])
    expect_kept(apart, BY_THEMSELVES, read, "the writes")
    expect_kept(apart, IN_LISTS, channels, "the channel values")


@pytest.fixture
def encrypted(instances: Instances) -> Iterator[Thread]:
    """A thread of a saver whose serializer is an encrypted one, in a storage whose rows can be looked at."""
    with ExitStack() as stack:
        saver = instances.open()
        recorder = Recorder(EncryptedSerializer(Scrambler(), JsonPlusSerializer()))
        yield stack.enter_context(serialized_by(saver, recorder))


@rule(MUST, source="EncryptedSerializer", needs=("rows", "delete_thread"))
def test_nothing_of_an_encrypted_state_is_stored_in_clear(encrypted: Thread, instances: Instances) -> None:
    """With an encrypted serializer the storage holds nothing of lists, dicts and objects in channels, nor of writes.

    Users encrypt since others can read the storage. What a saver stores beside the serializer, to show or to search it,
    gives the state away.
    """
    mark = fresh_id()
    hidden = {"list": [f"{mark}-list"], "dict": {"key": f"{mark}-dict"}, "nested": {"deep": [{"x": f"{mark}-nested"}]}}
    stored = encrypted.put(hidden)
    encrypted.write(stored, [("text", f"{mark}-text"), ("list", [f"{mark}-write"])])
    expect_same([], found_in(instances.rows(), mark), "the rows that hold a part of the state in clear")


@rule(SHOULD, source="EncryptedSerializer", needs=("rows", "delete_thread"))
def test_no_text_of_an_encrypted_state_is_stored_in_clear(encrypted: Thread, instances: Instances) -> None:
    """With an encrypted serializer the storage holds no text of a channel in clear.

    Names, questions and answers of users are texts in channels: stored beside the serializer for speed, they lie there
    for all to read.
    """
    mark = fresh_id()
    encrypted.put({"text": f"{mark}-text"})
    expect_same([], found_in(instances.rows(), mark), "the rows that hold a part of the state in clear")


def found_in(rows: list[Any], mark: str) -> list[str]:
    """The rows that hold a text, also as hexadecimal digits or in base64."""
    plain = mark.encode()
    shifted = [base64.b64encode(b"\0" * shift + plain)[4 if shift else 0 : -4] for shift in range(3)]
    forms = [plain, plain.hex().encode(), *shifted]
    return [repr(row) for row in rows if any(form in _bytes_of(row) for form in forms)]


def _bytes_of(row: Any) -> bytes:
    if isinstance(row, (bytes, bytearray, memoryview)):
        return bytes(row)
    if isinstance(row, Mapping):
        return b"\n".join(_bytes_of(member) for item in row.items() for member in item)
    if isinstance(row, (list, tuple, set)):
        return b"\n".join(_bytes_of(member) for member in row)
    return str(row).encode("utf-8", "replace")
