"""The values whose type tags and bytes are written down, by kind.

The classes here are named in recorded bytes: they are never renamed, moved or changed.
"""

from __future__ import annotations

import json
import re
import sys
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from ipaddress import ip_address, ip_interface, ip_network
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import numpy
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.serde import types as serde_types
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.store.base import Item
from langgraph.types import Command, Interrupt, Send
from pydantic import BaseModel, SecretStr


class Colour(Enum):
    RED = "red"


class Priority(IntEnum):
    HIGH = 3


@dataclass
class Address:
    street: str
    tags: list[str]


class Point(NamedTuple):
    x: int
    y: float


class Profile(BaseModel):
    name: str
    seen: datetime


AT = datetime(2024, 2, 29, 12, 30, 45, 123456)
EAST = timezone(timedelta(hours=5, minutes=30))
ID = UUID("1ef4f797-8335-6428-8001-8a1503f9b875")
ADDRESS = Address("Main St 1", ["home"])

WIRE: dict[str, dict[str, Any]] = {
    "builtins": {
        "none": None,
        "true": True,
        "false": False,
        "zero": 0,
        "least": -(2**63),
        "greatest": 2**64 - 1,
        "float": 0.1,
        "whole_float": 1.0,
        "infinity": float("inf"),
        "text": "plain text",
        "no_text": "",
        "unicode": "é 你 \U0001f600 \n\x00",
        "bytes": b"\x00\xff plain bytes",
        "no_bytes": b"",
        "bytearray": bytearray(b"\x00\xff"),
        "list": [1, "1", b"1", None, 1.0, True],
        "no_list": [],
        "tuple": (1, (2,)),
        "dict": {"a": {"b": [{}]}},
        "no_dict": {},
        "keys": {1: "int", "1": "text", None: "none", 2.5: "float", False: "false"},
        "bytes_inside": {"raw": b"\xff", "array": bytearray(b"\xff")},
        "exception": RuntimeError("no connection"),
    },
    "collections": {
        "set": {1},
        "no_set": set(),
        "frozenset": frozenset({"a"}),
        "deque": deque([3, 1, 2]),
        "nested": {"deep": [{"set": {1}, "deque": deque([frozenset()])}]},
    },
    "times": {
        "naive": AT,
        "utc": AT.replace(tzinfo=timezone.utc),
        "offset": AT.replace(tzinfo=EAST),
        "whole_second": AT.replace(microsecond=0),
        "date": date(2024, 2, 29),
        "time": time(1, 2, 3, 4),
        "time_offset": time(1, 2, 3, tzinfo=EAST),
        "duration": timedelta(days=-1, microseconds=7),
        "zone": EAST,
    },
    "scalars": {
        "uuid": ID,
        "decimal": Decimal("1.10"),
        "path": Path("/var/some dir/file.txt"),
        "pattern": re.compile(r"a+\d", re.IGNORECASE),
        "ipv4": ip_address("192.0.2.1"),
        "ipv4_interface": ip_interface("192.0.2.1/24"),
        "ipv4_network": ip_network("192.0.2.0/24"),
        "ipv6": ip_address("2001:db8::1"),
        "ipv6_interface": ip_interface("2001:db8::1/64"),
        "ipv6_network": ip_network("2001:db8::/32"),
        "secret": SecretStr("hidden"),
        "enum": Colour.RED,
        "int_enum": Priority.HIGH,
    },
    "objects": {
        "dataclass": ADDRESS,
        "named_tuple": Point(1, 2.0),
        "model": Profile(name="Ada", seen=AT),
        "nested": {"models": [Profile(name="Ada", seen=AT)], "dataclass": [ADDRESS]},
    },
    "engine": {
        "send": Send("node", {"x": 1}),
        "sends": [Send("a", 1), Send("b", None)],
        "interrupt": Interrupt(value="question", id="0123456789abcdef0123456789abcdef"),
        "command": Command(update={"a": 1}, goto="node"),
        "resume": Command(resume={"answer": True}),
        "item": Item(value={"a": 1}, key="k", namespace=("users", "1"), created_at=AT, updated_at=AT),
    },
    "arrays": {
        "ints": numpy.arange(6, dtype=numpy.int32).reshape(2, 3),
        "floats": numpy.array([0.5, -0.0]),
        "column_order": numpy.asfortranarray(numpy.arange(4, dtype=numpy.uint8).reshape(2, 2)),
        "no_dimensions": numpy.array(3, dtype=numpy.int8),
    },
    "messages": {
        "human": HumanMessage("Weather in Paris?", id="m1"),
        "ai": AIMessage(
            "",
            id="m2",
            tool_calls=[{"name": "weather", "args": {"city": "Paris"}, "id": "call_1", "type": "tool_call"}],
        ),
        "tool": ToolMessage("sunny", id="m3", tool_call_id="call_1"),
    },
}
"""Names and values by kind."""

if hasattr(serde_types, "_DeltaSnapshot"):  # since langgraph-checkpoint 4.1
    WIRE["deltas"] = {
        "snapshot": serde_types._DeltaSnapshot(["a", "b"]),
        "snapshot_of_none": serde_types._DeltaSnapshot(None),
    }

OTHER_BYTES_ELSEWHERE = {
    "messages": "a message's bytes depend on the version of langchain-core",
    "path": "Python 3.13 moved the class of paths to another module" if sys.version_info >= (3, 13) else "",
}
"""Kinds and values whose bytes do not depend on LangGraph alone, and on what else."""

JSON_OF = ("uuid", "decimal", "utc", "dataclass", "send", "set", "enum")
"""Values that earlier serializers also gave as JSON, with the constructors that make them again."""


def as_json(serializer: JsonPlusSerializer) -> dict[str, tuple[str, bytes]]:
    """What a serializer that still gives JSON makes of some values: how metadata was stored, for example."""
    dumps = getattr(serializer, "dumps", None)
    if dumps is None:
        return {}
    values = {name: value for kind in WIRE.values() for name, value in kind.items()}
    return {name: ("json", dumps(values[name])) for name in JSON_OF}


def typed_values(serializer: Any) -> dict[str, dict[str, tuple[str, bytes]]]:
    """Type tag and bytes of every value, by kind and name; those that earlier ones gave as JSON where it still does."""
    typed: dict[str, dict[str, tuple[str, bytes]]] = {
        kind: {name: serializer.dumps_typed(value) for name, value in values.items()} for kind, values in WIRE.items()
    }
    given = as_json(serializer)
    return {**typed, "json": given} if given else typed


def read_json(typed: Mapping[str, tuple[str, bytes]]) -> dict[str, Any]:
    """What is in JSON, without making anything again of it."""
    return {name: json.loads(payload) for name, (_, payload) in typed.items()}
