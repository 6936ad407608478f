"""Values that users keep in state, by kind, and what a saver may give back for each.

The types stand in a module that can be imported, since the serializer names a type by its module when it stores one.
"""

from __future__ import annotations

import gzip
import pickle
import re
import zlib
import zoneinfo
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, Flag, IntEnum
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import numpy
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.checkpoint.serde import types as serde_types
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.store.base import Item
from langgraph.types import Command, Interrupt, Send
from pydantic import BaseModel, SecretStr

from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.expect import expect_same, same

DeltaSnapshot: Any = getattr(serde_types, "_DeltaSnapshot", None)
"""What a delta channel stores now and then; None where langgraph-checkpoint has no delta channels yet."""


class Colour(Enum):
    RED = "red"
    GREEN = 2


class Rights(Flag):
    READ = 1
    WRITE = 2


class Priority(IntEnum):
    LOW = 1
    HIGH = 2


class Mode(str, Enum):
    FAST = "fast"
    SAFE = "safe"


class Point(NamedTuple):
    x: int
    label: bytes


@dataclass
class Address:
    street: str
    tags: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Person:
    name: str
    address: Address
    born: date
    picture: bytes = b""


@dataclass
class Basket:
    """One field is not an argument: the serializer cannot call the class with what it stored."""

    owner: str
    total: int = field(init=False, default=0)


class Profile(BaseModel):
    name: str
    seen: datetime
    scores: dict[str, float] = {}


class Account(BaseModel):
    id: UUID
    profile: Profile
    roles: set[str] = set()
    note: str | None = None


def supported(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that the installed serializer can store: which ones depends on its version."""
    serializer = JsonPlusSerializer()
    return {name: value for name, value in values.items() if _stores(serializer, value)}


def _stores(serializer: JsonPlusSerializer, value: Any) -> bool:
    try:
        serializer.dumps_typed(value)
    except TypeError:  # ormsgpack's error is one
        return False
    return True


def _in_berlin() -> dict[str, Any]:
    try:
        berlin = zoneinfo.ZoneInfo("Europe/Berlin")
    except zoneinfo.ZoneInfoNotFoundError:  # systems without a time zone database
        return {}
    return {"zone": berlin, "summer_in_berlin": datetime(2024, 7, 1, 12, tzinfo=berlin)}


EMPTY = supported(
    {
        "none": None,
        "false": False,
        "zero": 0,
        "empty_text": "",
        "empty_list": [],
        "empty_dict": {},
        "empty_bytes": b"",
        "empty_set": set(),
        "empty_frozenset": frozenset(),
        "empty_deque": deque(),
        "no_time": timedelta(0),
        "zero_decimal": Decimal("0"),
    }
)

LOOK_ALIKES = supported(
    {
        "int": 1,
        "true": True,
        "float": 1.0,
        "text": "1",
        "bytes": b"1",
        "decimal": Decimal("1"),
        "int_in_a_list": [1],
        "true_in_a_list": [True],
        "set": {1},
        "frozenset": frozenset({1}),
        "deque": deque([1]),
        "int_key": {1: "one"},
        "text_key": {"1": "one"},
        "false": False,
        "int_zero": 0,
        "text_null": "null",
        "text_none": "None",
        "text_true": "true",
        "text_float": "1.0",
    }
)

INTS = supported(
    {
        "small": 7,
        "minus_one": -1,
        "one_byte": 128,
        "two_bytes": -32769,
        "four_bytes": 2**31,
        "unsigned_four_bytes": 2**32,
        "no_double": 2**53 + 1,
        "negative_no_double": -(2**53) - 1,
        "greatest_signed": 2**63 - 1,
        "least_signed": -(2**63),
        "greatest_unsigned": 2**64 - 1,
    }
)

FLOATS = supported(
    {
        "zero": 0.0,
        "half": 0.5,
        "whole": 1.0,
        "negative_whole": -3.0,
        "hundred": 100.0,
        "tenth": 0.1,
        "sum": 0.1 + 0.2,
        "third": 1 / 3,
        "tiny": 1e-9,
        "large_with_fraction": 123456789.987654321,
        "beside_ints": [1, 2.5, 3.0],
    }
)

SPECIAL_FLOATS = {
    "whole_1e16": 1e16,
    "whole_1e22": 1e22,
    "greatest": 1.7976931348623157e308,
    "least": 5e-324,
    "negative_zero": -0.0,
}

NOT_FINITE = {"nan": float("nan"), "infinity": float("inf"), "negative_infinity": float("-inf")}

TEXT = supported(
    {
        "plain": "text",
        "blanks_around": "  two words \t\n",
        "lines": "one\r\ntwo\rthree\n\n",
        "composed": "caf\u00e9",
        "decomposed": "cafe\u0301",
        "sharp_s": "Straße STRASSE",
        "emoji": "👩‍👩‍👧 \U0001f1e9\U0001f1ea",
        "many_scripts": "日本語 العربية עברית हिन्दी",
        "beyond_the_basic_plane": "\U0010ffff\uffff\ufeff\u2028\u200b",
        "control_characters": "\x01\x02\x07\x08\x1b\x1f\x7f\x85",
        "quotes": "'single' \"double\" `back` \\ \\\\",
        "an_escaped_nul": "\\u0000 \\x00 \\0",
        "an_escaped_letter": "\\u0041 \\n",
        "percent": "100% %s %(name)s {} {0} ${HOME}",
        "like_json": '{"a": [1, null]}',
        "like_a_number": "0012",
        "like_a_large_number": "1e5",
        "like_null": "null",
        "like_true": "true",
        "like_nan": "NaN",
        "like_a_time": "2024-05-04T06:32:42.235444+00:00",
        "like_a_uuid": "1ef4f797-8335-6428-8001-8a1503f9b875",
        "like_base64": "aGVsbG8=",
        "like_bytes": "b'abc'",
        "like_hex": "\\x616263",
        "like_a_tag": "msgpack",
        "empty_looking": " ",
    }
)

TEXT_WITH_NUL = {"nul_inside": "before\x00after", "nul_first": "\x00x", "nul_last": "x\x00", "only_nul": "\x00"}

BYTES = supported(
    {
        "all": bytes(range(256)),
        "no_text": b"\xff\xfe\x80",
        "nul_around": b"\x00a\x00",
        "like_text": b"text",
        "like_json": b'{"a": 1}',
        "like_base64": b"aGVsbG8=",
        "utf_8": "é".encode(),
        "bytearray": bytearray(b"\x00\xffa"),
    }
)

CONTAINERS = supported(
    {
        "list": [1, "two", None, 4.5, True, [b"\xff", []]],
        "repeated_members": [1, 1, True, 1.0, "1"],
        "nested_dict": {"a": {"b": {"c": [None, {"d": b"\x00"}]}}},
        "tuple": (1, (2, "three")),
        "tuple_in_a_dict": {"pair": (1, 2)},
        "int_keys": {1: "int", "1": "text", -5: "negative", 10: "ten", 9: "nine"},
        "int_keys_at_depth": [{"by_number": {0: {1: "x"}}}],
        "mixed_keys": {None: "none", 2.5: "float", "2.5": "text"},
        "true_key": {True: "true", "true": "text"},
        "bytes_key": {b"\xff": 1},
        "odd_keys": {
            "": 1,
            " ": 2,
            "a.b": 3,
            "$set": 4,
            "_id": 5,
            "__proto__": 6,
            "__class__": 7,
            "é": 8,
            "a'\"`;--": 9,
        },
        "case_of_keys": {"key": 1, "Key": 2, "KEY": 3},
    }
)

DICT_SUBCLASSES = supported(
    {
        "ordered": OrderedDict(b=1, a=2),
        "default": defaultdict(list, {"a": [1]}),
        "counter": Counter("abracadabra"),
    }
)

MARKS = ("base64:", "b64:", "data:;base64,", "hex:", "json:", "pickle:", "gzip:", "__bytes__:", "bytes:", "msgpack:")
ENVELOPES = supported(
    {
        "lc_1": {"lc": 1, "type": "constructor", "id": ["x"], "kwargs": {}},
        "lc_1_of_a_message": {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", "HumanMessage"],
            "kwargs": {"content": "hi"},
        },
        "lc_1_not_implemented": {"lc": 1, "type": "not_implemented", "id": ["builtins", "set"], "repr": "set()"},
        "lc_1_secret": {"lc": 1, "type": "secret", "id": ["HOME"]},
        "lc_2": {
            "lc": 2,
            "type": "constructor",
            "id": ["builtins", "set"],
            "method": None,
            "args": [[1]],
            "kwargs": {},
        },
        "lc_2_of_a_uuid": {"lc": 2, "type": "constructor", "id": ["uuid", "UUID"], "args": ["00" * 16]},
        "typed_pair": ["msgpack", b"\x80"],
        "typed_null": ["null", b""],
        "typed_empty": ["empty", b""],
        "typed_text": ["json", "{}"],
        "type_and_value": {"type": "msgpack", "value": b"\x80"},
        "type_and_data": {"__type__": "bytes", "data": "eA=="},
        "named_bytes": {"__bytes__": "eA=="},
        "named_set": {"__set__": [1]},
        "named_class": {"__class__": "datetime", "value": "2024-01-01"},
        "jsonpickle": {"py/object": "builtins.object", "py/set": [1]},
        "extended_json": {"$date": "2024-01-01T00:00:00Z"},
        "extended_json_number": {"$numberLong": "1"},
        "extended_json_binary": {"$binary": {"base64": "eA==", "subType": "00"}},
        "extended_json_id": {"$oid": "507f1f77bcf86cd799439011"},
        "attribute_value": {"S": "x"},
        "attribute_number": {"N": "1"},
        "attribute_map": {"M": {"a": {"BOOL": True}}},
        "attribute_null": {"NULL": True},
        "numpy": {"__ndarray__": [1], "dtype": "int64"},
        "delta": {"__delta__": [1]},
        "as_text": '{"lc": 1, "type": "constructor", "id": ["x"], "kwargs": {}}',
        "list_as_text": "[1, 2]",
        "number_as_text": "1",
        "null_as_text": "null",
        "time_as_text": "2024-02-29T12:30:45Z",
        "marked_texts": [f"{mark}eA==" for mark in MARKS],
        "text_of_base64": "eJxLTEoGAAJNASc=",
        "text_of_hex": "\\x789c",
        "bytes_of_text": b"abc",
        "bytes_of_json": b'{"a": 1}',
        "bytes_of_base64": b"eA==",
        "bytes_of_zlib": zlib.compress(b"abc"),
        "bytes_of_gzip": gzip.compress(b"abc", mtime=0),
        "bytes_of_a_pickle": pickle.dumps([1]),
        "bytes_of_msgpack": b"\x93\x01\x02\x03",
        "bytes_of_zstd": b"\x28\xb5\x2f\xfd\x20\x03\x19\x00\x00abc",
    }
)

SETS = supported(
    {
        "ints": {3, 1, 2},
        "text": {"a", "b", ""},
        "mixed": {1, "1", None, 2.5},
        "bytes": {b"\xff", b""},
        "frozen": frozenset({1, 2}),
        "frozen_members": {frozenset({1}), frozenset()},
        "deque": deque([3, 1, 2, 1]),
        "deque_of_sets": deque([{1}, frozenset({2})]),
    }
)

TIMES = supported(
    {
        "naive": datetime(2024, 2, 29, 12, 30, 45, 123456),
        "naive_whole_second": datetime(2024, 2, 29, 12, 30, 45),
        "utc": datetime(2024, 2, 29, 12, 30, 45, 999999, tzinfo=timezone.utc),
        "east": datetime(2024, 2, 29, 1, 2, 3, 4, tzinfo=timezone(timedelta(hours=5, minutes=30))),
        "west": datetime(2024, 2, 29, 23, 59, tzinfo=timezone(timedelta(hours=-8))),
        "odd_offset": datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=1, seconds=7))),
        "earliest": datetime.min,
        "latest": datetime.max,
        "before_1970": datetime(1582, 10, 15, tzinfo=timezone.utc),
        "date": date(2024, 2, 29),
        "midnight": datetime(2024, 2, 29),
        "earliest_date": date.min,
        "time": time(1, 2, 3, 4),
        "time_utc": time(1, 2, 3, tzinfo=timezone.utc),
        "duration": timedelta(days=400, hours=5, microseconds=7),
        "negative_duration": timedelta(microseconds=-1),
        "utc_itself": timezone.utc,
        "named_offset": timezone(timedelta(hours=5, minutes=30), "IST"),
        **_in_berlin(),
    }
)

SCALARS = supported(
    {
        "uuid": UUID("1ef4f797-8335-6428-8001-8a1503f9b875"),
        "nil_uuid": UUID(int=0),
        "decimal": Decimal("1.10"),
        "precise_decimal": Decimal("0.1234567890123456789012345678901234567890"),
        "large_decimal": Decimal("1E+30"),
        "path": Path("/var/some dir/file.txt"),
        "relative_path": Path("a/../b"),
        "pattern": re.compile(r"a+\d", re.IGNORECASE | re.MULTILINE),
        "bytes_pattern": re.compile(rb"\xff+"),
        "ipv4": IPv4Address("192.0.2.1"),
        "ipv4_interface": IPv4Interface("192.0.2.1/24"),
        "ipv4_network": IPv4Network("192.0.2.0/24"),
        "ipv6": IPv6Address("2001:db8::1"),
        "ipv6_interface": IPv6Interface("2001:db8::1/64"),
        "ipv6_network": IPv6Network("2001:db8::/32"),
        "secret": SecretStr("hidden"),
    }
)

ENUMS = supported({"by_text": Colour.RED, "by_number": Colour.GREEN, "flag": Rights.READ})

PRIMITIVE_ENUMS = supported({"int_enum": Priority.HIGH, "text_enum": Mode.SAFE})

ADDRESS = Address("Main St 1", {"home"})

RECORDS = supported(
    {
        "dataclass": ADDRESS,
        "frozen_dataclass": Person("Ada", ADDRESS, date(1815, 12, 10), b"\x89PNG"),
        "field_that_is_no_argument": Basket("Ada"),
        "named_tuple": Point(1, b"\xff"),
    }
)

PROFILE = Profile(name="Ada", seen=datetime(2024, 1, 1, tzinfo=timezone.utc), scores={"math": 1.0})

MODELS = supported(
    {
        "model": PROFILE,
        "nested_model": Account(id=UUID(int=7), profile=PROFILE, roles={"admin"}),
    }
)

CONVERSATION: list[Any] = [
    SystemMessage("Be brief.", id="m0"),
    HumanMessage("Weather in Paris?", id="m1", name="ada"),
    AIMessage(
        "",
        id="m2",
        tool_calls=[{"name": "weather", "args": {"city": "Paris", "days": 2}, "id": "call_1", "type": "tool_call"}],
        invalid_tool_calls=[
            {"name": "weather", "args": "{", "id": "call_2", "error": "no JSON", "type": "invalid_tool_call"}
        ],
        additional_kwargs={"refusal": None, "raw": {"a": [1]}},
        response_metadata={"model": "m", "finish_reason": "tool_calls"},
        usage_metadata={"input_tokens": 10, "output_tokens": 5, "total_tokens": 15},
    ),
    ToolMessage("sunny", id="m3", tool_call_id="call_1", artifact={"degrees": 21.0}, status="success"),
]

MESSAGES = supported(
    {
        "human": CONVERSATION[1],
        "human_with_blocks": HumanMessage(
            [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": "data:,"}}], id="m5"
        ),
        "system": CONVERSATION[0],
        "ai_with_tool_calls": CONVERSATION[2],
        "tool": CONVERSATION[3],
        "failed_tool": ToolMessage("no", id="m6", tool_call_id="call_9", status="error"),
        "without_id": AIMessage("hello"),
        "remove": RemoveMessage(id="m1"),
        "chat": ChatMessage(content="hi", role="critic", id="m7"),
        "function": FunctionMessage(content="1", name="f", id="m8"),
        "chunk": AIMessageChunk(
            content="par",
            id="m9",
            tool_call_chunks=[{"name": "f", "args": '{"a', "id": "c", "index": 0, "type": "tool_call_chunk"}],
        ),
        "conversation": CONVERSATION,
        "document": Document("text", metadata={"page": 1}, id="d1"),
    }
)

ENGINE_OBJECTS = supported(
    {
        "send": Send("node", {"x": 1, "raw": b"\xff"}),
        "send_of_a_message": Send("node", HumanMessage("hi", id="m1")),
        "send_of_none": Send("node", None),
        "sends": [Send("a", 1), Send("b", {"y": {2}})],
        "interrupt": Interrupt(value={"question": "Go on?", "seen": {1}}, id="0123456789abcdef0123456789abcdef"),
        "command": Command(update={"a": b"\xff"}, goto="node"),
        "resume": Command(resume={"answer": True}),
        "goto_sends": Command(goto=[Send("a", 1), "b"]),
        "item": Item(
            value={"a": 1},
            key="k",
            namespace=("users", "1"),
            created_at=datetime(2024, 1, 1, tzinfo=timezone.utc),
            updated_at=datetime(2024, 1, 2, tzinfo=timezone.utc),
        ),
    }
)

ARRAYS = supported(
    {
        "floats": numpy.array([[0.5, -0.0], [float("inf"), 1e22]]),
        "single_precision": numpy.array([1.5, float("nan")], dtype=numpy.float32),
        "ints": numpy.arange(6, dtype=numpy.int32).reshape(2, 3),
        "unsigned": numpy.array([0, 255], dtype=numpy.uint8),
        "big_endian": numpy.array([1, 2], dtype=">i4"),
        "booleans": numpy.array([True, False]),
        "complex": numpy.array([1j]),
        "column_order": numpy.asfortranarray(numpy.arange(6).reshape(2, 3)),
        "no_rows": numpy.zeros((0, 3)),
        "no_dimensions": numpy.array(3),
        "every_other": numpy.arange(10)[::2],
    }
)

KINDS: dict[str, dict[str, Any]] = {
    "empty": EMPTY,
    "ints": INTS,
    "floats": FLOATS,
    "text": TEXT,
    "bytes": BYTES,
    "containers": CONTAINERS,
    "envelopes": ENVELOPES,
    "sets": SETS,
    "times": TIMES,
    "scalars": SCALARS,
    "enums": ENUMS,
    "records": RECORDS,
    "models": MODELS,
    "messages": MESSAGES,
    "engine_objects": ENGINE_OBJECTS,
    "arrays": ARRAYS,
}
"""What every saver keeps."""

ONE_OF_EACH: dict[str, Any] = {
    "none": None,
    "false": False,
    "int": 2**63,
    "float": 1.0,
    "text": "é '\"\\",
    "bytes": b"\xff\x00",
    "list": [1, "1", b"1", None],
    "int_key": {1: [b"\xff"], "1": {"deep": {1, 2}}},
    "set": {1, 2},
    "time": TIMES["east"],
    "decimal": Decimal("1.10"),
    "enum": Colour.GREEN,
    "dataclass": RECORDS["frozen_dataclass"],
    "model": MODELS["nested_model"],
    "messages": CONVERSATION,
    "send": Send("node", {"raw": b"\xff"}),
}


def in_containers(value: Any) -> dict[str, Any]:
    """A value within a list, a dict, and both at depth."""
    return {"list": [value], "dict": {"key": value}, "deep": {"a": [{"b": [[value]]}]}}


def alone_and_nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Each value by itself under its name, and in containers under a second name."""
    return {**values, **{f"{name}_nested": in_containers(value) for name, value in values.items()}}


def expect_kept(saver: SaverDrive, stored: Mapping[str, Any], read: Mapping[str, Any], what: str) -> None:
    """``read`` holds what was stored: each value as it was, or as the serializer gives it back.

    The serializer decides what becomes of a tuple, or of a type that it does not know. It is the one that every saver
    has by default; a saver may also keep more than it does.

    Args:
        saver: the saver that was asked.
        stored: values by name.
        read: what came back, by the same names.
        what: what is looked at.

    Raises:
        Broken: they differ.
    """
    expect_same({name: _accepted(saver, value, read.get(name)) for name, value in stored.items()}, dict(read), what)


def _accepted(saver: SaverDrive, value: Any, read: Any) -> Any:
    forms = _forms(saver, value)
    return next((form for form in forms if same(form, read)), forms[0])


def _forms(saver: SaverDrive, value: Any) -> list[Any]:
    # alone or as a part of the checkpoint: bytearray and None have tags of their own only when alone
    return [
        form
        for serializer in _serializers(saver)
        for form in (_after(serializer, value), _after(serializer, [value])[0], value)
    ]


def _serializers(saver: SaverDrive) -> list[JsonPlusSerializer]:
    own: Any = getattr(saver.raw, "serde", None)
    if isinstance(own, EncryptedSerializer):
        own = own.serde
    # its author may have given it an allowlist, which decides which types are made again
    return [JsonPlusSerializer(), *([own] if type(own) is JsonPlusSerializer else [])]


def _after(serializer: JsonPlusSerializer, value: Any) -> Any:
    return serializer.loads_typed(serializer.dumps_typed(value))
