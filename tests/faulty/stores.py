"""Faulty stores: each is `ReferenceStore` with one fault that a store over a real backend has had or could well have.

They are what the suite is measured with: a run against any of them must fail. `FAULTY` has them by name, which is that
of a class here. A fault shows in the sync and the async methods unless it is meant for one of them. Those of the group
`durability` show only when a storage is opened again, so they are providers, with `open` and `reopen`.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import fnmatch
import functools
import itertools
import json
import re
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from types import TracebackType
from typing import Any, ClassVar, Literal, TypeVar, cast
from urllib.parse import unquote

import numpy as np
from langchain_core.embeddings import Embeddings
from langgraph.store.base import (
    NOT_PROVIDED,
    GetOp,
    IndexConfig,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    NotProvided,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
    tokenize_path,
)
from langgraph_reference.store import (
    _OPERATORS,
    ReferenceStore,
    _Condition,
    _equal,
    _Floats,
    _matches,
    _minutes,
    _name_matches,
    _Namespace,
    _plain,
    _Plan,
    _Put,
    _Record,
    _Space,
)

__all__ = ["FAULTY", "FaultyStore"]

_Index = Literal[False] | list[str] | None
_I = TypeVar("_I", bound=Item)
_S = TypeVar("_S", bound=type)


@dataclass(frozen=True)
class FaultyStore:
    """A store with one fault."""

    name: str
    """Of the class, which is also its name in this module."""
    factory: Callable[..., Any]
    """Takes the keywords of `ReferenceStore` (`index`, `ttl`, `clock`) and gives the store. In the group `durability`
    it takes nothing and gives a provider, whose `open` takes the keywords."""
    group: str
    """The part of the contract that the fault is about."""
    source: str
    """The id of the public report it is modelled on, or "own reading"."""
    fault: str
    """What is wrong."""
    seen: str
    """The kind of backend, or of code, where it is seen."""
    caught_by: tuple[str, ...] = ()
    """Ids of the rules that must catch it."""


FAULTY: dict[str, FaultyStore] = {}


def faulty(group: str, source: str = "own reading") -> Callable[[_S], _S]:
    """Registers a class under its name; its docstring is the fault and, as the last sentence, where it is seen."""

    def register(cls: _S) -> _S:
        if cls.__name__ in FAULTY:
            raise ValueError(f"there are two faulty stores of the name {cls.__name__}")
        fault, _, seen = " ".join((cls.__doc__ or "").split()).rpartition(". ")
        if not fault:
            raise ValueError(f"{cls.__name__} does not say what its fault is and where it is seen")
        FAULTY[cls.__name__] = FaultyStore(cls.__name__, cls, group, source, f"{fault}.", seen)
        return cls

    return register


_LONG_AGO = datetime.min.replace(tzinfo=timezone.utc)
"""A time at which nothing had expired."""


class _Store(ReferenceStore):
    """`ReferenceStore` in steps, so that a fault is one step done otherwise. As it stands it has no fault."""

    def __init__(
        self,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        super().__init__(index=index, ttl=ttl, clock=clock)
        self.prepare()

    def prepare(self) -> None:
        """Sets up what the fault needs to remember."""

    # Operations on their way in

    def rewrite(self, op: Op) -> Op:
        return op

    def _plan(self, ops: Iterable[Op]) -> _Plan:
        return super()._plan(map(self.rewrite, ops))

    def stored(self, value: dict[str, Any]) -> dict[str, Any]:
        return value

    def paths(self, op: PutOp) -> Sequence[str]:
        return self._fields if op.index is None else op.index or ()

    def extract(self, value: Any, path: str) -> list[str]:
        return get_text_at_path(value, path if path == "$" else tokenize_path(path))

    def _planned_put(self, op: PutOp) -> _Put:
        put = super()._planned_put(op)
        if put.value is not None:
            if self.index_config and op.index is not False:
                put.texts = [text for path in self.paths(op) for text in self.extract(put.value, path)]
            put.value = self.stored(put.value)
        return put

    # Reads

    def shown(self, item: _I) -> _I:
        return item

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        item = super()._get(op, now)
        return None if item is None else self.shown(item)

    def bend(self, conditions: list[_Condition]) -> list[_Condition]:
        return conditions

    def found(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        """Everything that a search may return, in order."""
        everything = op._replace(limit=sys.maxsize, offset=0, refresh_ttl=False)
        return ReferenceStore._search(self, everything, conditions, query, now)

    def page(self, found: list[SearchItem], op: SearchOp) -> list[SearchItem]:
        return found[op.offset : op.offset + op.limit]

    def refresh(self, found: list[SearchItem], page: list[SearchItem], now: datetime) -> None:
        for item in page:
            self.record(item).start_timer(now)

    def _search(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        found = self.found(op, self.bend(conditions), query, now)
        page = self.page(found, op)
        if op.refresh_ttl:
            self.refresh(found, page, now)
        return [self.shown(item) for item in page]

    # Lists of namespaces

    def living(self, now: datetime) -> list[_Namespace]:
        return [
            name
            for name, space in self._spaces.items()
            if not all(record.expired(now) for record in space.records.values())
        ]

    def name_fits(self, name: _Namespace, op: ListNamespacesOp) -> bool:
        return all(self.name_matches(name, condition) for condition in op.match_conditions or ())

    def name_matches(self, name: _Namespace, condition: MatchCondition) -> bool:
        return _name_matches(name, condition)

    def cut(self, names: list[_Namespace], op: ListNamespacesOp) -> list[_Namespace]:
        return sorted({name[: op.max_depth] for name in names})

    def name_page(self, names: list[_Namespace], op: ListNamespacesOp) -> list[_Namespace]:
        return names[op.offset : op.offset + op.limit]

    def _list(self, op: ListNamespacesOp, now: datetime) -> list[_Namespace]:
        fitting = [name for name in self.living(now) if self.name_fits(name, op)]
        return self.name_page(self.cut(fitting, op), op)

    # What is stored

    def record(self, item: Item) -> _Record:
        return self._spaces[item.namespace].records[item.key]

    def lookup(self, namespace: _Namespace, key: str) -> _Record | None:
        space = self._spaces.get(namespace)
        return space.records.get(key) if space else None

    def records(self) -> Iterator[_Record]:
        return itertools.chain.from_iterable(list(space.records.values()) for space in list(self._spaces.values()))


def _sound(namespace: object) -> bool:
    """Whether the labels are valid; what is not is left for the store to refuse."""
    return isinstance(namespace, tuple) and all(
        isinstance(label, str) and label and "." not in label and "\0" not in label for label in namespace
    )


def _deep(value: Any, leaf: Callable[[Any], Any]) -> Any:
    """A JSON value with `leaf` applied to everything in it, inner parts first."""
    if isinstance(value, dict):
        return leaf({key: _deep(element, leaf) for key, element in value.items()})
    if isinstance(value, list):
        return leaf([_deep(element, leaf) for element in value])
    return leaf(value)


# Labels


class _Labels(_Store):
    """Namespaces are changed on their way in."""

    def namespace(self, namespace: _Namespace) -> _Namespace:
        return tuple(self.label(label) or label for label in namespace)

    def label(self, label: str) -> str:
        return label

    def rewrite(self, op: Op) -> Op:
        if isinstance(op, (GetOp, PutOp)) and _sound(op.namespace):
            return op._replace(namespace=self.namespace(op.namespace))
        if isinstance(op, SearchOp) and _sound(op.namespace_prefix):
            return op._replace(namespace_prefix=self.namespace(op.namespace_prefix))
        if isinstance(op, ListNamespacesOp) and all(_sound(tuple(c.path)) for c in op.match_conditions or ()):
            conditions = [c._replace(path=self.namespace(tuple(c.path))) for c in op.match_conditions or ()]
            return op._replace(match_conditions=tuple(conditions))
        return op


class _Joined(_Labels):
    """Labels are joined to one text and split again."""

    separator: ClassVar[str]

    def namespace(self, namespace: _Namespace) -> _Namespace:
        joined = self.separator.join(namespace)
        return tuple(label for label in joined.split(self.separator) if label) or namespace


class _Collated(_Labels):
    """Namespaces that are one to the store are shown as they were first written."""

    def prepare(self) -> None:
        self.spelled: dict[_Namespace, _Namespace] = {}

    def same(self, namespace: _Namespace) -> _Namespace:
        raise NotImplementedError

    def namespace(self, namespace: _Namespace) -> _Namespace:
        return self.same(namespace)

    def rewrite(self, op: Op) -> Op:
        if isinstance(op, PutOp) and op.value is not None and _sound(op.namespace):
            self.spelled.setdefault(self.same(op.namespace), op.namespace)
        return super().rewrite(op)

    def shown(self, item: _I) -> _I:
        item.namespace = self.spelled.get(item.namespace, item.namespace)
        return item

    def living(self, now: datetime) -> list[_Namespace]:
        return [self.spelled.get(name, name) for name in super().living(now)]


@faulty("labels", "langchain-ai/langgraphjs#2830")
class LabelsJoinedBySlash(_Joined):
    """Labels are joined by a slash, so ("a/b",) is ("a", "b"). Files and object stores."""

    separator = "/"


@faulty("labels", "langchain-ai/langgraphjs#2830")
class LabelsJoinedByDash(_Joined):
    """Labels are joined by a dash, so ("a-b",) is ("a", "b"). Search indexes whose names allow little else."""

    separator = "-"


@faulty("labels", "langchain-ai/langgraphjs#2830")
class LabelsJoinedByUnderscore(_Joined):
    """Labels are joined by an underscore, so ("a_b",) is ("a", "b"). Table or collection per namespace."""

    separator = "_"


@faulty("labels", "langchain-ai/langgraphjs#2830")
class LabelsJoinedByHash(_Joined):
    """Labels are joined by "#", so ("a#b",) is ("a", "b"). DynamoDB sort keys."""

    separator = "#"


@faulty("labels", "langchain-ai/langgraphjs#2830")
class LabelsJoinedBySpace(_Joined):
    """Labels are joined by a space, so ("a b",) is ("a", "b"). Full-text fields."""

    separator = " "


@faulty("labels", "langchain-ai/langgraphjs#2830")
class LabelsJoinedByComma(_Joined):
    """Labels are joined by a comma, so ("a,b",) is ("a", "b"). RediSearch tag fields."""

    separator = ","


@faulty("labels", "langchain-ai/langgraphjs#2830")
class LabelsJoinedByUnitSeparator(_Joined):
    """Labels are joined by the unit separator, which nobody uses in a label, they say. SQL."""

    separator = "\x1f"


@faulty("labels", "langchain-ai/langgraphjs#2830")
class LabelsJoinedByColon(_Collated):
    """Namespaces whose labels joined by a colon are equal share their items. Redis keys."""

    def same(self, namespace: _Namespace) -> _Namespace:
        return tuple(label for label in ":".join(namespace).split(":") if label) or namespace


@faulty("labels", "langchain-ai/langgraphjs#2830")
class LabelsJoinedByDoubleColon(_Collated):
    """Namespaces whose labels joined by two colons are equal share their items. Redis keys."""

    def same(self, namespace: _Namespace) -> _Namespace:
        return tuple(label for label in "::".join(namespace).split("::") if label) or namespace


@faulty("labels", "langchain-ai/langgraphjs#2830")
class LabelsJoinedByBar(_Collated):
    """Namespaces whose labels joined by a bar are equal share their items. Cache in front of a database."""

    def same(self, namespace: _Namespace) -> _Namespace:
        return tuple(label for label in "|".join(namespace).split("|") if label) or namespace


@faulty("labels", "langchain-ai/langgraphjs#2830")
class LabelsJoinedByNothing(_Store):
    """A get looks an item up by its labels run together, so ("ab", "c") finds what is in ("a", "bc"). Hashed keys."""

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        if op.namespace not in self._spaces:
            for name in self._spaces:
                if name and "".join(name) == "".join(op.namespace):
                    return super()._get(op._replace(namespace=name), now)
        return super()._get(op, now)


@faulty("labels", "langchain-ai/langgraphjs#2830")
class NamespaceAndKeyJoined(_Store):
    """Namespace and key are one path, so key "b/c" in ("a",) is key "c" in ("a", "b"). Object stores."""

    def rewrite(self, op: Op) -> Op:
        if isinstance(op, (GetOp, PutOp)) and _sound(op.namespace):
            *labels, key = str(op.key).split("/")
            if labels and key and _sound((*op.namespace, *labels)):
                return op._replace(namespace=(*op.namespace, *labels), key=key)
        return op


@faulty("labels")
class LabelsLowercased(_Labels):
    """Labels are stored in lower case. Index and bucket names."""

    def label(self, label: str) -> str:
        return label.lower()


@faulty("labels")
class LabelsCollatedByCase(_Collated):
    """Namespaces that differ by case are one. MySQL's and SQL Server's default collations."""

    def same(self, namespace: _Namespace) -> _Namespace:
        return tuple(label.casefold() for label in namespace)


@faulty("labels")
class LabelsCollatedByAccent(_Collated):
    """Namespaces that differ by accents are one. MySQL's default collation."""

    def same(self, namespace: _Namespace) -> _Namespace:
        return tuple(
            "".join(c for c in unicodedata.normalize("NFD", label) if not unicodedata.combining(c)) or label
            for label in namespace
        )


@faulty("labels")
class LabelsTrimmed(_Labels):
    """White space around labels is cut off. CHAR columns."""

    def label(self, label: str) -> str:
        return label.strip()


@faulty("labels")
class LabelsLoseTrailingNewline(_Labels):
    """A newline at the end of a label is lost. Line-based files, and regular expressions that end in "$"."""

    def label(self, label: str) -> str:
        return label.removesuffix("\n")


@faulty("labels")
class LabelsNormalised(_Labels):
    """Labels are brought to Unicode's composed form, so two different texts are one. File systems."""

    def label(self, label: str) -> str:
        return unicodedata.normalize("NFC", label)


@faulty("labels")
class LabelsCompatibilityNormalised(_Labels):
    """Labels are brought to Unicode's compatible form, so a ligature and its letters are one. Search indexes."""

    def label(self, label: str) -> str:
        return unicodedata.normalize("NFKC", label).replace(".", "")


@faulty("labels")
class LabelsCutAt64(_Labels):
    """Labels are cut after 64 characters. VARCHAR columns of a lenient database."""

    def label(self, label: str) -> str:
        return label[:64]


@faulty("labels")
class LabelsPercentDecoded(_Labels):
    """Labels are decoded as parts of a URL, so "%41" is "A". REST backends."""

    def label(self, label: str) -> str:
        decoded = unquote(label)
        return decoded if _sound((decoded,)) else label


@faulty("labels")
class LabelsReadAsNumbers(_Labels):
    """Labels that look like numbers are numbers, so "01" is "1". Columns of SQLite's numeric affinity, YAML."""

    def label(self, label: str) -> str:
        return str(int(label)) if re.fullmatch("[0-9]+", label) else label


@faulty("labels")
class LabelsUnordered(_Collated):
    """The order of labels is lost, so ("b", "a") is ("a", "b"). Sets of tags."""

    def same(self, namespace: _Namespace) -> _Namespace:
        return tuple(sorted(namespace))


@faulty("labels")
class LabelsDeduplicated(_Labels):
    """A label that occurs twice counts once, so ("a", "a") is ("a",). Sets of tags."""

    def namespace(self, namespace: _Namespace) -> _Namespace:
        return tuple(dict.fromkeys(namespace))


@faulty("labels")
class LabelsBeyondFiveLost(_Labels):
    """Only the first five labels are stored. A column per label."""

    def namespace(self, namespace: _Namespace) -> _Namespace:
        return namespace[:5]


@faulty("labels", "langchain-ai/langgraphjs#2352")
class LabelsWithDollarRefused(_Store):
    """Labels that start with "$" or "__" are refused. MongoDB field names, JavaScript objects."""

    def rewrite(self, op: Op) -> Op:
        if isinstance(op, PutOp) and _sound(op.namespace):
            for label in op.namespace:
                if label.startswith(("$", "__")):
                    raise RuntimeError(f"illegal field name {label!r}")
        return op


@faulty("labels", "langchain-ai/langchain-mongodb#375")
class SharedLabelsCollide(_Store):
    """Items of one key whose namespaces share a label violate a unique index. MongoDB indexes over arrays."""

    def _execute(self, plan: _Plan, documents: Sequence[Any], queries: Sequence[Any]) -> list[Result]:
        for (namespace, key), put in plan.puts.items():
            for name, space in self._spaces.items():
                if put.value and name != namespace and key in space.records and not set(name).isdisjoint(namespace):
                    raise RuntimeError(f"duplicate key: {key!r} is in {name!r} already")
        return super()._execute(plan, documents, queries)


@faulty("labels", "langchain-ai/langchain-mongodb#375")
class SiblingKeysOverwritten(_Store):
    """An item replaces one of the same key in a sibling namespace. Primary key of the wrong columns."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        for name in list(self._spaces):
            if put.value is not None and name != namespace and name[:-1] == namespace[:-1]:
                self._remove(name, key)
        super()._put(namespace, key, put, units, now)


@faulty("labels")
class KeyAndChildNamespaceClash(_Store):
    """Key "b" in ("a",) and the namespace ("a", "b") cannot both exist. Files, where one is a directory."""

    def _execute(self, plan: _Plan, documents: Sequence[Any], queries: Sequence[Any]) -> list[Result]:
        for (namespace, key), put in plan.puts.items():
            taken = any(self.lookup(namespace[:i], namespace[i]) for i in range(len(namespace)))
            path = (*namespace, key)
            if put.value is not None and (taken or any(name[: len(path)] == path for name in self._spaces)):
                raise NotADirectoryError("/".join(path))
        return super()._execute(plan, documents, queries)


class _Lenient(_Store):
    """Puts mend a namespace that must be refused."""

    def mend(self, namespace: Any) -> _Namespace:
        return cast(_Namespace, namespace)

    def put(
        self,
        namespace: _Namespace,
        key: str,
        value: Mapping[str, Any],
        index: _Index = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
    ) -> None:
        mended = self.mend(namespace)
        if mended == namespace:
            super().put(namespace, key, value, index, ttl=ttl)
        else:
            self.batch([self.put_op(mended, key, value, index, ttl)])

    async def aput(
        self,
        namespace: _Namespace,
        key: str,
        value: Mapping[str, Any],
        index: _Index = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
    ) -> None:
        mended = self.mend(namespace)
        if mended == namespace:
            await super().aput(namespace, key, value, index, ttl=ttl)
        else:
            await self.abatch([self.put_op(mended, key, value, index, ttl)])

    def put_op(
        self, namespace: _Namespace, key: str, value: Mapping[str, Any], index: _Index, ttl: float | NotProvided | None
    ) -> PutOp:
        if isinstance(ttl, NotProvided):
            ttl = (self.ttl_config or {}).get("default_ttl")
        return PutOp(namespace, str(key), value, index=index, ttl=ttl)


@faulty("labels", "langchain-ai/langgraph#6240")
class LabelsOfOtherTypesTurnedToText(_Lenient):
    """A label that is no text is turned to text, so (1,) and (None,) are stored. Any backend with a str() too many."""

    def mend(self, namespace: Any) -> _Namespace:
        return tuple(map(str, namespace))


@faulty("labels", "langchain-ai/langgraph#6240")
class LabelsThatAreEmptyDropped(_Lenient):
    """Empty labels are dropped instead of refused. Path joins."""

    def mend(self, namespace: Any) -> _Namespace:
        kept = tuple(label for label in namespace if label != "")
        return kept or cast(_Namespace, namespace)


@faulty("labels", "langchain-ai/langgraph#6240")
class LabelsWithPeriodSplit(_Lenient):
    """A label with a period is split instead of refused. SQL stores that join by periods."""

    def mend(self, namespace: Any) -> _Namespace:
        if not all(isinstance(label, str) for label in namespace):
            return cast(_Namespace, namespace)
        labels = tuple(part for label in namespace for part in label.split(".") if part)
        return labels if _sound(labels) and labels else cast(_Namespace, namespace)


@faulty("labels")
class EmptyNamespaceAccepted(_Lenient):
    """A put to the empty namespace goes to one named "default". Backends that need a collection name."""

    def mend(self, namespace: Any) -> _Namespace:
        return namespace or ("default",)


@faulty("labels")
class ReservedRootAccepted(_Lenient):
    """A put below "langgraph", which is reserved, is accepted. Own validation in place of the base class's."""

    def put(
        self,
        namespace: _Namespace,
        key: str,
        value: Mapping[str, Any],
        index: _Index = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
    ) -> None:
        if namespace[:1] == ("langgraph",):
            self.batch([self.put_op(namespace, key, value, index, ttl)])
        else:
            super().put(namespace, key, value, index, ttl=ttl)

    async def aput(
        self,
        namespace: _Namespace,
        key: str,
        value: Mapping[str, Any],
        index: _Index = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
    ) -> None:
        if namespace[:1] == ("langgraph",):
            await self.abatch([self.put_op(namespace, key, value, index, ttl)])
        else:
            await super().aput(namespace, key, value, index, ttl=ttl)


# Keys


class _Keys(_Store):
    """Keys are changed on their way in."""

    def key(self, key: str) -> str:
        return key

    def rewrite(self, op: Op) -> Op:
        return op._replace(key=self.key(str(op.key))) if isinstance(op, (GetOp, PutOp)) else op


@faulty("keys")
class KeysLowercased(_Keys):
    """Keys are stored in lower case. Case-insensitive file systems."""

    def key(self, key: str) -> str:
        return key.lower()


@faulty("keys")
class KeysTrimmed(_Keys):
    """White space around keys is cut off. CHAR columns."""

    def key(self, key: str) -> str:
        return key.strip()


@faulty("keys")
class KeysNormalised(_Keys):
    """Keys are brought to Unicode's composed form, so two different texts are one. File systems."""

    def key(self, key: str) -> str:
        return unicodedata.normalize("NFC", key)


@faulty("keys")
class KeysReadAsNumbers(_Keys):
    """Keys that look like numbers are numbers, so "01" is "1". Columns of numeric affinity."""

    def key(self, key: str) -> str:
        return str(int(key)) if re.fullmatch("[0-9]+", key) else key


@faulty("keys")
class KeysCutAt128(_Keys):
    """Keys are cut after 128 characters. VARCHAR columns of a lenient database."""

    def key(self, key: str) -> str:
        return key[:128]


@faulty("keys")
class KeysMadeFileNames(_Keys):
    """Characters that are not allowed in file names become "_" in keys. Files."""

    def key(self, key: str) -> str:
        return re.sub(r'[/\\:*?"<>|]', "_", key)


@faulty("keys", "redis-developer/langgraph-redis#196")
class KeysPercentDecoded(_Keys):
    """Keys are decoded as parts of a URL, so "a%20b" is "a b". REST backends."""

    def key(self, key: str) -> str:
        return unquote(key)


@faulty("keys")
class KeysLoseFileEnding(_Keys):
    """What follows the last period of a key is lost. Files named after keys."""

    def key(self, key: str) -> str:
        return key.rsplit(".", 1)[0] or key


@faulty("keys", "redis-developer/langgraph-redis#196")
class KeyThatIsEmptyRefused(_Keys):
    """The empty key is refused. DynamoDB."""

    def key(self, key: str) -> str:
        if not key:
            raise RuntimeError("one or more parameter values are not valid: empty string for key")
        return key


@faulty("keys", "redis-developer/langgraph-redis#196")
class KeysWithPunctuationStay(_Store):
    """An item whose key has "-", "#" or a period cannot be deleted. RediSearch queries without escapes."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        if put.value is not None or not set("-#.") & set(key):
            super()._put(namespace, key, put, units, now)


@faulty("keys", "langchain-ai/langgraphjs#2352")
class KeysThatAreReservedRefused(_Keys):
    """Keys such as "__proto__", "_id" or "$set" are refused. MongoDB, JavaScript objects."""

    def key(self, key: str) -> str:
        if key.startswith(("$", "__")) or key == "_id":
            raise RuntimeError(f"illegal key {key!r}")
        return key


@faulty("keys", "redis-developer/langgraph-redis#196")
class KeysMatchedByLike(_Store):
    """ "%" and "_" in the key of a get are wildcards. SQL LIKE in place of =."""

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        pattern = re.compile(_like(op.key), re.DOTALL)
        space = self._spaces.get(op.namespace)
        for key in (op.key, *(space.records if space else ())):
            if pattern.fullmatch(key) and (item := super()._get(op._replace(key=key), now)):
                return item
        return None


@faulty("keys")
class KeysDeletedByGlob(_Store):
    """ "*" and "?" in the key of a delete are wildcards. Redis SCAN, files."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        super()._put(namespace, key, put, units, now)
        if put.value is None and (space := self._spaces.get(namespace)):
            for match in [name for name in space.records if fnmatch.fnmatchcase(name, key)]:
                self._remove(namespace, match)


@faulty("keys", "langchain-ai/langchain-mongodb#375")
class KeysUniqueInTheStore(_Store):
    """A put removes the item of that key from every other namespace. Primary key without the namespace."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        for name in list(self._spaces):
            if put.value is not None and name != namespace:
                self._remove(name, key)
        super()._put(namespace, key, put, units, now)


@faulty("keys", "langchain-ai/langgraph#3739")
class KeysKeepTheirType(_Store):
    """A key that is no text is looked up as it is, so the item of key 1 is not found under "1". Dictionaries."""

    def put(
        self,
        namespace: _Namespace,
        key: str,
        value: Mapping[str, Any],
        index: _Index = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
    ) -> None:
        super().put(namespace, key if isinstance(key, str) else f"{type(key).__name__}:{key}", value, index, ttl=ttl)

    async def aput(
        self,
        namespace: _Namespace,
        key: str,
        value: Mapping[str, Any],
        index: _Index = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
    ) -> None:
        typed = key if isinstance(key, str) else f"{type(key).__name__}:{key}"
        await super().aput(namespace, typed, value, index, ttl=ttl)


# Values


class _Leaves(_Store):
    """Every part of a value is changed when it is stored."""

    def leaf(self, value: Any) -> Any:
        raise NotImplementedError

    def stored(self, value: dict[str, Any]) -> dict[str, Any]:
        return {key: _deep(element, self.leaf) for key, element in value.items()}


class _Texts(_Leaves):
    """Every text in a value, but no key, is changed when it is stored."""

    def text(self, text: str) -> Any:
        raise NotImplementedError

    def leaf(self, value: Any) -> Any:
        return self.text(value) if isinstance(value, str) else value


class _Names(_Store):
    """Keys of the dictionaries in a value are changed when it is stored."""

    def entries(self, value: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    def stored(self, value: dict[str, Any]) -> dict[str, Any]:
        changed = _deep(value, lambda part: self.entries(part) if isinstance(part, dict) else part)
        return cast(dict[str, Any], changed)


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@faulty("values")
class IntsBecomeFloats(_Leaves):
    """Integers come back as floats. DynamoDB numbers, protobuf's Struct."""

    def leaf(self, value: Any) -> Any:
        return float(value) if _is_int(value) and abs(value) < 2**53 else value


@faulty("values")
class WholeFloatsBecomeInts(_Leaves):
    """Floats without a fraction come back as integers. JavaScript, Lua."""

    def leaf(self, value: Any) -> Any:
        negative_zero = value == 0.0 and str(value).startswith("-")
        return int(value) if isinstance(value, float) and value.is_integer() and not negative_zero else value


@faulty("values")
class BigIntsLoseDigits(_Leaves):
    """Integers beyond 2**53 lose their last digits. JavaScript, Lua, JSON columns of doubles."""

    def leaf(self, value: Any) -> Any:
        return int(float(value)) if _is_int(value) and 2**53 < abs(value) < 10**300 else value


@faulty("values")
class BigIntsWrapAround(_Leaves):
    """Integers beyond 32 bits wrap around. INT columns, MongoDB's int32."""

    def leaf(self, value: Any) -> Any:
        return (value + 2**31) % 2**32 - 2**31 if _is_int(value) and abs(value) < 2**53 else value


@faulty("values")
class NegativeZeroLost(_Leaves):
    """-0.0 comes back as 0.0. Decimal numbers."""

    def leaf(self, value: Any) -> Any:
        return 0.0 if isinstance(value, float) and value == 0 else value


@faulty("values")
class FloatsSinglePrecision(_Leaves):
    """Floats are rounded to single precision. REAL columns, vector databases' payloads."""

    def leaf(self, value: Any) -> Any:
        return float(np.float32(value)) if isinstance(value, float) and abs(value) < 1e38 else value


@faulty("values")
class FloatsRounded(_Leaves):
    """Floats are rounded to six decimals. DECIMAL columns, "%f"."""

    def leaf(self, value: Any) -> Any:
        return round(value, 6) if isinstance(value, float) and value else value


@faulty("values")
class BoolsBecomeInts(_Leaves):
    """True and False come back as 1 and 0. SQLite, MySQL."""

    def leaf(self, value: Any) -> Any:
        return int(value) if isinstance(value, bool) else value


@faulty("values")
class BoolsBecomeText(_Leaves):
    """True and False come back as "true" and "false". Redis hashes."""

    def leaf(self, value: Any) -> Any:
        return str(value).lower() if isinstance(value, bool) else value


@faulty("values")
class NullsDropped(_Store):
    """Fields that are None are dropped. exclude_none, DynamoDB marshalling."""

    def stored(self, value: dict[str, Any]) -> dict[str, Any]:
        return {key: element for key, element in value.items() if element is not None}


@faulty("values")
class InnerNullsDropped(_Store):
    """None within nested dictionaries is dropped. Redis JSON merge, exclude_none."""

    def stored(self, value: dict[str, Any]) -> dict[str, Any]:
        def leaf(part: Any) -> Any:
            return {k: v for k, v in part.items() if v is not None} if isinstance(part, dict) else part

        return {key: _deep(element, leaf) for key, element in value.items()}


@faulty("values")
class NullsBecomeText(_Leaves):
    """None comes back as "None". Redis hashes."""

    def leaf(self, value: Any) -> Any:
        return "None" if value is None else value


@faulty("values")
class EmptyListsBecomeDicts(_Leaves):
    """An empty list comes back as an empty dictionary. Lua's cjson in Redis scripts."""

    def leaf(self, value: Any) -> Any:
        return {} if value == [] else value


@faulty("values")
class EmptyContainersDropped(_Names):
    """Fields that hold an empty list or dictionary are dropped. XML, Firestore clients, graph databases."""

    def entries(self, value: dict[str, Any]) -> dict[str, Any]:
        return {key: element for key, element in value.items() if element not in ([], {})}


@faulty("values")
class EmptyTextsBecomeNull(_Texts):
    """An empty text comes back as None. Oracle, early DynamoDB."""

    def text(self, text: str) -> Any:
        return text or None


@faulty("values")
class ListsOfOneUnwrapped(_Leaves):
    """A list of one element comes back as the element. XML, graph databases."""

    def leaf(self, value: Any) -> Any:
        return value[0] if isinstance(value, list) and len(value) == 1 else value


@faulty("values")
class ListsDeduplicated(_Leaves):
    """Equal texts in a list come back once. DynamoDB string sets."""

    def leaf(self, value: Any) -> Any:
        if isinstance(value, list) and all(isinstance(element, str) for element in value):
            return list(dict.fromkeys(value))
        return value


@faulty("values")
class NestedListsFlattened(_Leaves):
    """A list in a list is flattened. Firestore and SQL arrays."""

    def leaf(self, value: Any) -> Any:
        if isinstance(value, list) and any(isinstance(element, list) for element in value):
            return [inner for element in value for inner in (element if isinstance(element, list) else [element])]
        return value


@faulty("values")
class LongListsCut(_Leaves):
    """Lists are cut after 1000 elements. Search indexes."""

    def leaf(self, value: Any) -> Any:
        return value[:1000] if isinstance(value, list) else value


@faulty("values", "langchain-ai/langchain-aws#1138")
class LongTextsCut(_Texts):
    """Texts are cut after 65535 characters. MySQL's TEXT."""

    def text(self, text: str) -> Any:
        return text[:65535]


@faulty("values")
class DeepPartsBecomeText(_Store):
    """What lies deeper than eight levels comes back as JSON text. Serialisers with a depth limit."""

    def stored(self, value: dict[str, Any]) -> dict[str, Any]:
        def limited(part: Any, depth: int) -> Any:
            if isinstance(part, (dict, list)) and depth >= 8:
                return json.dumps(part)
            if isinstance(part, dict):
                return {key: limited(element, depth + 1) for key, element in part.items()}
            return [limited(element, depth + 1) for element in part] if isinstance(part, list) else part

        return {key: limited(element, 1) for key, element in value.items()}


@faulty("values")
class TextsTrimmed(_Texts):
    """White space around texts is cut off. CHAR columns, form parsers."""

    def text(self, text: str) -> Any:
        return text.strip()


@faulty("values")
class TextsNormalised(_Texts):
    """Texts come back in Unicode's composed form. Search indexes."""

    def text(self, text: str) -> Any:
        return unicodedata.normalize("NFC", text)


@faulty("values")
class AstralCharactersLost(_Texts):
    """Characters beyond the Basic Multilingual Plane come back as "?". MySQL's utf8."""

    def text(self, text: str) -> Any:
        return "".join(c if ord(c) < 0x10000 else "?" for c in text)


@faulty("values")
class NonAsciiEscaped(_Texts):
    """Characters beyond ASCII come back as their escapes. JSON encoded twice."""

    def text(self, text: str) -> Any:
        return "".join(c if ord(c) < 128 else f"\\u{ord(c):04x}" for c in text)


@faulty("values")
class TextsThatLookLikeNumbersParsed(_Texts):
    """The text "7" comes back as the number 7. Redis hashes, YAML."""

    def text(self, text: str) -> Any:
        return int(text) if re.fullmatch("[0-9]+", text) else text


@faulty("values")
class TextsThatLookLikeJsonParsed(_Texts):
    """A text that holds JSON comes back parsed. JSON columns read with a decoder per field."""

    def text(self, text: str) -> Any:
        if text[:1] not in ("{", "["):
            return text
        try:
            return json.loads(text)
        except ValueError:
            return text


@faulty("values")
class DatesRewritten(_Texts):
    """A text in the form of an ISO 8601 time comes back in another form of it. MongoDB, Elasticsearch."""

    def text(self, text: str) -> Any:
        if not re.fullmatch(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?)?", text):
            return text
        return text.replace("Z", "+00:00") if "T" in text else f"{text}T00:00:00"


@faulty("values", "langchain-ai/langgraph#1878")
class TextsCutAtNul(_Texts):
    """A text is cut at its first NUL. C libraries."""

    def text(self, text: str) -> Any:
        return text.split("\0", 1)[0]


@faulty("values")
class ControlCharactersDropped(_Texts):
    """Control characters other than line ends and tabs are dropped from texts. XML, cleaners."""

    def text(self, text: str) -> Any:
        return "".join(c for c in text if c in "\t\n\r" or unicodedata.category(c) != "Cc")


@faulty("values")
class LineEndsRewritten(_Texts):
    """ "\\r\\n" comes back as "\\n". Files in text mode."""

    def text(self, text: str) -> Any:
        return text.replace("\r\n", "\n")


@faulty("values")
class QuotesDoubled(_Texts):
    """Single quotes come back doubled. SQL escapes on top of bound parameters."""

    def text(self, text: str) -> Any:
        return text.replace("'", "''")


@faulty("values")
class BackslashesEaten(_Texts):
    """Backslashes are lost. SQL literals in MySQL."""

    def text(self, text: str) -> Any:
        return text.replace("\\", "")


@faulty("values")
class HtmlEscaped(_Texts):
    """ "<", ">" and "&" come back as entities. JSON encoders made for web pages."""

    def text(self, text: str) -> Any:
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


@faulty("values", "langchain-ai/langgraphjs#2352")
class DottedFieldsNested(_Names):
    """A field "a.b" comes back as "b" within "a". MongoDB updates."""

    def entries(self, value: dict[str, Any]) -> dict[str, Any]:
        nested: dict[str, Any] = {}
        for name, element in value.items():
            outer, dot, inner = name.partition(".")
            if dot and outer and inner:
                nested[outer] = {inner: element}
            else:
                nested[name] = element
        return nested


@faulty("values", "langchain-ai/langgraphjs#2352")
class DollarFieldsDropped(_Names):
    """Fields whose names start with "$" are dropped. MongoDB."""

    def entries(self, value: dict[str, Any]) -> dict[str, Any]:
        return {name: element for name, element in value.items() if not name.startswith("$")}


@faulty("values", "langchain-ai/langgraphjs#2352")
class UnderscoreFieldsDropped(_Store):
    """Fields such as "_id" are taken for the backend's own and dropped. MongoDB, Elasticsearch."""

    def stored(self, value: dict[str, Any]) -> dict[str, Any]:
        return {name: element for name, element in value.items() if not name.startswith("_")}


@faulty("values")
class EmptyFieldNamesDropped(_Names):
    """A field whose name is the empty text is dropped. DynamoDB."""

    def entries(self, value: dict[str, Any]) -> dict[str, Any]:
        return {name: element for name, element in value.items() if name}


@faulty("values")
class FieldNamesLowercased(_Names):
    """Names of fields come back in lower case. Columns for fields."""

    def entries(self, value: dict[str, Any]) -> dict[str, Any]:
        return {name.lower(): element for name, element in value.items()}


@faulty("values")
class FieldsNamedLikeColumnsLost(_Store):
    """Fields "key", "namespace", "created_at" and "updated_at" are overwritten by the item's. Flat documents."""

    def shown(self, item: _I) -> _I:
        columns = {"key": item.key, "namespace": list(item.namespace)}
        columns |= {"created_at": item.created_at.isoformat(), "updated_at": item.updated_at.isoformat()}
        item.value = {name: columns.get(name, element) for name, element in item.value.items()}
        return item


@faulty("values", "redis-developer/langgraph-redis#128")
class OtherTypesStoredAsText(_Store):
    """What is not JSON is stored as its text instead of refused. json.dumps(default=str)."""

    def rewrite(self, op: Op) -> Op:
        if not isinstance(op, PutOp) or not isinstance(op.value, dict):
            return op

        def text(part: Any) -> Any:
            if isinstance(part, dict):
                return {key: text(element) for key, element in part.items()}
            if isinstance(part, (list, tuple)):
                return [text(element) for element in part]
            return part if part is None or isinstance(part, (str, int, float)) else str(part)

        return op._replace(value=text(op.value))


@faulty("values")
class FieldsAdded(_Store):
    """The value comes back with a field of the backend's. MongoDB's "_id"."""

    def shown(self, item: _I) -> _I:
        item.value = {**item.value, "_id": "/".join((*item.namespace, item.key))}
        return item


@faulty("values", "langchain-ai/langgraph#3767")
class ValueIsText(_Store):
    """The value comes back as JSON text. Redis strings, TEXT columns."""

    def shown(self, item: _I) -> _I:
        item.value = cast(dict[str, Any], json.dumps(item.value))
        return item


# Aliasing


@faulty("aliasing", "langchain-ai/langgraph#8835")
class StoredValueIsTheCallers(_Store):
    """The store keeps the caller's dictionary, so changing that changes the item. In memory, caches."""

    def _planned_put(self, op: PutOp) -> _Put:
        put = super()._planned_put(op)
        if isinstance(op.value, dict):
            put.value = op.value
        return put


@faulty("aliasing", "langchain-ai/langgraph#8835")
class StoredPartsAreTheCallers(_Store):
    """The store copies the outer dictionary only, so nested parts stay the caller's. In memory, caches."""

    def _planned_put(self, op: PutOp) -> _Put:
        put = super()._planned_put(op)
        if isinstance(op.value, dict):
            put.value = dict(op.value)
        return put


@faulty("aliasing", "langchain-ai/langgraph#8835")
class GetGivesStoredValue(_Store):
    """A get returns the stored dictionary, so changing that changes the item. In memory, caches."""

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        item = super()._get(op, now)
        if item is not None:
            item.value = self.record(item).value
        return item


@faulty("aliasing", "langchain-ai/langgraph#8835")
class GetGivesStoredParts(_Store):
    """A get returns nested parts as they are stored, so changing those changes the item. Shallow copies."""

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        item = super()._get(op, now)
        if item is not None:
            item.value = dict(self.record(item).value)
        return item


@faulty("aliasing", "langchain-ai/langgraph#8835")
class SearchGivesStoredParts(_Store):
    """A search returns nested parts as they are stored, so changing those changes the item. Shallow copies."""

    def page(self, found: list[SearchItem], op: SearchOp) -> list[SearchItem]:
        page = super().page(found, op)
        for item in page:
            item.value = dict(self.record(item).value)
        return page


@faulty("aliasing", "langchain-ai/langgraph@1febec7c0")
class EqualGetsShareOneItem(_Store):
    """Equal gets of a batch are answered by one object, so changing one answer changes the other. Deduplication."""

    def _execute(self, plan: _Plan, documents: Sequence[Any], queries: Sequence[Any]) -> list[Result]:
        results = super()._execute(plan, documents, queries)
        first: dict[Op, Result] = {}
        return [
            first.setdefault(op, result) if isinstance(op, GetOp) else result
            for op, result in zip(plan.ops, results, strict=True)
        ]


# Items


class _Times(_Store):
    """Both times of an item are changed on their way out."""

    def time(self, time: datetime) -> datetime:
        raise NotImplementedError

    def shown(self, item: _I) -> _I:
        item.created_at, item.updated_at = self.time(item.created_at), self.time(item.updated_at)
        return item


@faulty("items", "langchain-ai/langgraph#7411")
class CreatedAtReset(_Store):
    """A put over an item resets created_at. INSERT OR REPLACE."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        super()._put(namespace, key, put, units, now)
        if record := self.lookup(namespace, key):
            record.created_at = now


@faulty("items")
class CreatedAtSurvivesDelete(_Store):
    """An item that is put after a delete has the created_at of the deleted one. Soft deletes."""

    def prepare(self) -> None:
        self.created: dict[tuple[_Namespace, str], datetime] = {}

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        super()._put(namespace, key, put, units, now)
        if record := self.lookup(namespace, key):
            record.created_at = self.created.setdefault((namespace, key), record.created_at)


@faulty("items", "langchain-ai/langgraph#7411")
class UpdatedAtStays(_Store):
    """A put over an item leaves updated_at as it was. Column default without a trigger."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        old = self.lookup(namespace, key)
        super()._put(namespace, key, put, units, now)
        if old and (record := self.lookup(namespace, key)):
            record.updated_at = old.updated_at


@faulty("items")
class UpdatedAtMovedByGet(_Store):
    """A get moves updated_at. ON UPDATE CURRENT_TIMESTAMP with refresh on read."""

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        item = super()._get(op, now)
        if item is not None:
            self.record(item).updated_at = now
        return item


@faulty("items")
class UpdatedAtMovedBySearch(_Store):
    """A search moves updated_at of what it returns. ON UPDATE CURRENT_TIMESTAMP with refresh on read."""

    def refresh(self, found: list[SearchItem], page: list[SearchItem], now: datetime) -> None:
        super().refresh(found, page, now)
        for item in page:
            self.record(item).updated_at = now


@faulty("items")
class UpdatedAtOfSiblingsMoves(_Store):
    """A put moves updated_at of every item of the namespace. One document per namespace."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        super()._put(namespace, key, put, units, now)
        if space := self._spaces.get(namespace):
            for record in space.records.values():
                record.updated_at = now


@faulty("items")
class UpdatedAtBeforeCreatedAt(_Store):
    """A new item has an updated_at before its created_at. Two clocks, the client's and the server's."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        super()._put(namespace, key, put, units, now)
        if (record := self.lookup(namespace, key)) and record.created_at == record.updated_at:
            record.created_at += timedelta(seconds=1)


@faulty("items", "langchain-ai/langgraph#3767")
class TimesAreNaive(_Times):
    """Times come back without a zone. SQLite, MongoDB."""

    def time(self, time: datetime) -> datetime:
        return time.replace(tzinfo=None)


@faulty("items", "langchain-ai/langgraph#3767")
class TimesAreText(_Times):
    """Times come back as text. Redis, JSON."""

    def time(self, time: datetime) -> datetime:
        return cast(datetime, time.isoformat())


@faulty("items", "langchain-ai/langgraph#3767")
class TimesAreNumbers(_Times):
    """Times come back as seconds since 1970. DynamoDB, Redis."""

    def time(self, time: datetime) -> datetime:
        return cast(datetime, time.timestamp())


@faulty("items", "langchain-ai/langchain-mongodb#315")
class TimesAreLocalLabelledUtc(_Times):
    """Times are of the server's wall clock, two hours ahead, but labelled UTC. TIMESTAMP without time zone."""

    def time(self, time: datetime) -> datetime:
        return time + timedelta(hours=2)


@faulty("items")
class TimesCutToTheDay(_Times):
    """Times come back as the start of their day. DATE columns."""

    def time(self, time: datetime) -> datetime:
        return time.replace(hour=0, minute=0, second=0, microsecond=0)


@faulty("items", "langchain-ai/langgraph#3767")
class NamespaceIsList(_Store):
    """An item's namespace is a list. JSON columns, SQL arrays."""

    def shown(self, item: _I) -> _I:
        item.namespace = cast(_Namespace, list(item.namespace))
        return item


@faulty("items", "langchain-ai/langgraph#3767")
class NamespaceIsText(_Store):
    """An item's namespace is its joined text. SQL columns."""

    def shown(self, item: _I) -> _I:
        item.namespace = cast(_Namespace, ".".join(item.namespace))
        return item


@faulty("items", "langchain-ai/langgraph#3767")
class FoundNamespaceIsThePrefix(_Store):
    """An item that a search returns has the searched prefix for its namespace. Rows read without that column."""

    def page(self, found: list[SearchItem], op: SearchOp) -> list[SearchItem]:
        self.prefix = op.namespace_prefix
        return super().page(found, op)

    def shown(self, item: _I) -> _I:
        if isinstance(item, SearchItem):
            item.namespace = self.prefix or item.namespace
        return item


@faulty("items", "langchain-ai/langgraph#3767")
class FoundKeyIsThePath(_Store):
    """An item that a search returns has its namespace in its key. Redis keys, object stores."""

    def shown(self, item: _I) -> _I:
        if isinstance(item, SearchItem):
            item.key = ":".join((*item.namespace, item.key))
        return item


@faulty("items", "langchain-ai/langgraph#3767")
class KeyIsBytes(_Store):
    """An item's key is bytes. Redis clients that do not decode."""

    def shown(self, item: _I) -> _I:
        item.key = cast(str, item.key.encode())
        return item


@faulty("items")
class FoundUpdatedAtIsCreatedAt(_Store):
    """An item that a search returns has created_at for its updated_at. Columns of one query mixed up."""

    def shown(self, item: _I) -> _I:
        if isinstance(item, SearchItem):
            item.updated_at = item.created_at
        return item


@faulty("items", "langchain-ai/langgraphjs@821ae3cf2")
class FoundItemsHaveNoScore(_Store):
    """A search returns items of the class Item, which have no score. One row mapper for get and search."""

    def page(self, found: list[SearchItem], op: SearchOp) -> list[SearchItem]:
        page = super().page(found, op)
        plain = [
            Item(value=i.value, key=i.key, namespace=i.namespace, created_at=i.created_at, updated_at=i.updated_at)
            for i in page
        ]
        return cast(list[SearchItem], plain)


# Put, get, delete


@faulty("put")
class PutMerges(_Store):
    """A put keeps old fields that the new value lacks. Redis hashes, UPDATE of JSON with ||, MongoDB's $set."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        old = self.lookup(namespace, key)
        if old and put.value is not None:
            put.value = {**old.value, **put.value}
        super()._put(namespace, key, put, units, now)


@faulty("put")
class PutMergesInnerParts(_Store):
    """A put replaces the value, but merges dictionaries within it with the old ones. Elasticsearch's update."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        old = self.lookup(namespace, key)
        if old and put.value is not None:
            for name, part in put.value.items():
                if isinstance(part, dict) and isinstance(before := old.value.get(name), dict):
                    put.value[name] = {**before, **part}
        super()._put(namespace, key, put, units, now)


@faulty("put")
class PutKeepsTheFirst(_Store):
    """A put over an item does nothing. INSERT OR IGNORE, ON CONFLICT DO NOTHING."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        if put.value is None or self.lookup(namespace, key) is None:
            super()._put(namespace, key, put, units, now)


@faulty("put")
class PutOverItemRaises(_Store):
    """A put over an item raises. INSERT without a conflict clause."""

    def _execute(self, plan: _Plan, documents: Sequence[Any], queries: Sequence[Any]) -> list[Result]:
        for (namespace, key), put in plan.puts.items():
            if put.value is not None and self.lookup(namespace, key):
                raise RuntimeError(f"duplicate key: {namespace!r}, {key!r}")
        return super()._execute(plan, documents, queries)


@faulty("put")
class PutClearsNamespace(_Store):
    """A put removes the namespace's other items. One document per namespace, written anew."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        space = self._spaces.get(namespace)
        for other in [name for name in (space.records if space else ()) if name != key]:
            self._remove(namespace, other)
        super()._put(namespace, key, put, units, now)


@faulty("put")
class PutOfEmptyValueDeletes(_Store):
    """A put of {} deletes the item. `if not value` in place of `is None`, Redis hashes."""

    def rewrite(self, op: Op) -> Op:
        return op._replace(value=None) if isinstance(op, PutOp) and op.value == {} else op


@faulty("put", "langchain-ai/langgraph@1febec7c0")
class PutOfNoneStoresEmptyValue(_Store):
    """A put of None stores an empty value instead of deleting. Any backend that has delete as another call."""

    def rewrite(self, op: Op) -> Op:
        return op._replace(value={}) if isinstance(op, PutOp) and op.value is None else op


@faulty("put")
class PutStoresIndexedFieldsOnly(_Store):
    """A put with a list of fields to index stores those fields only. Vector databases' payloads."""

    def _planned_put(self, op: PutOp) -> _Put:
        put = super()._planned_put(op)
        if put.value is not None and op.index and set(op.index) <= set(put.value):
            put.value = {name: put.value[name] for name in op.index}
        return put


@faulty("put")
class PutRejectsUnindexed(_Store):
    """A put with index=False stores nothing. Vector databases, whose rows need a vector."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        if put.value is None or put.texts or not self.index_config:
            super()._put(namespace, key, put, units, now)


@faulty("get")
class GetOfMissingRaises(_Store):
    """A get of a missing item raises KeyError. Clients that raise on 404."""

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        item = super()._get(op, now)
        if item is None:
            raise KeyError(op.key)
        return item


@faulty("get")
class GetOfMissingGivesEmptyItem(_Store):
    """A get of a missing item returns an item with an empty value. Redis HGETALL."""

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        item = super()._get(op, now)
        if item is None:
            return Item(value={}, key=op.key, namespace=op.namespace, created_at=now, updated_at=now)
        return item


@faulty("get", "langchain-ai/langchain-azure#498")
class GetFallsBackToParent(_Store):
    """A get of what a namespace lacks returns the parent namespace's item. Layered settings."""

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        item = super()._get(op, now)
        return super()._get(op._replace(namespace=op.namespace[:-1]), now) if item is None and op.namespace else item


@faulty("get", "langchain-ai/langchain-azure#498")
class GetFindsInDeeperNamespaces(_Store):
    """A get finds items of deeper namespaces too. Get built on search."""

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        depth = len(op.namespace)
        for name in (op.namespace, *self._spaces):
            if name[:depth] == op.namespace and (item := super()._get(op._replace(namespace=name), now)):
                return item
        return None


@faulty("get")
class GetFindsInAnyNamespaceOfTheLength(_Store):
    """A get compares the last label and the key only. Composite index of the wrong columns."""

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        for name in (op.namespace, *self._spaces):
            if name[-1:] == op.namespace[-1:] and (item := super()._get(op._replace(namespace=name), now)):
                return item
        return None


@faulty("get")
class MissesAreCached(_Store):
    """A get that found nothing is remembered, and a later put does not clear that. Negative caches."""

    def prepare(self) -> None:
        self.misses: set[tuple[_Namespace, str]] = set()

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        item = None if (op.namespace, op.key) in self.misses else super()._get(op, now)
        if item is None:
            self.misses.add((op.namespace, op.key))
        return item


@faulty("get")
class HitsOutliveDelete(_Store):
    """A get that found an item is remembered, and a later delete does not clear that. Caches."""

    def prepare(self) -> None:
        self.hits: dict[tuple[_Namespace, str], Item] = {}

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        item = super()._get(op, now)
        if item is None:
            return self.hits.get((op.namespace, op.key))
        self.hits[op.namespace, op.key] = item
        return item


@faulty("get")
class HitsOutliveOverwriteInBatch(_Store):
    """A get that found an item is remembered, and a put within a larger batch does not clear that. Caches."""

    def prepare(self) -> None:
        self.hits: dict[tuple[_Namespace, str], Item] = {}

    def _execute(self, plan: _Plan, documents: Sequence[Any], queries: Sequence[Any]) -> list[Result]:
        for (namespace, key), put in plan.puts.items():
            if len(plan.ops) == 1 or put.value is None:
                self.hits.pop((namespace, key), None)
        return super()._execute(plan, documents, queries)

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        item = super()._get(op, now)
        return None if item is None else self.hits.setdefault((op.namespace, op.key), item)


@faulty("delete")
class DeleteOfMissingRaises(_Store):
    """A delete of a missing item raises. Files, clients that raise on 404."""

    def _execute(self, plan: _Plan, documents: Sequence[Any], queries: Sequence[Any]) -> list[Result]:
        for (namespace, key), put in plan.puts.items():
            if put.value is None and not self.lookup(namespace, key):
                raise FileNotFoundError("/".join((*namespace, key)))
        return super()._execute(plan, documents, queries)


@faulty("delete")
class DeleteIsInEveryNamespace(_Store):
    """A delete removes the key from every namespace. DELETE with half a WHERE."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        super()._put(namespace, key, put, units, now)
        for name in list(self._spaces) if put.value is None else ():
            self._remove(name, key)


@faulty("delete")
class DeleteIsInDeeperNamespaces(_Store):
    """A delete removes the key from deeper namespaces too. DELETE by prefix."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        super()._put(namespace, key, put, units, now)
        for name in list(self._spaces) if put.value is None else ():
            if name[: len(namespace)] == namespace:
                self._remove(name, key)


@faulty("delete")
class DeleteRemovesNamespaceNamedByKey(_Store):
    """A delete of key "b" in ("a",) removes all of the namespace ("a", "b"). rmtree, object store prefixes."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        super()._put(namespace, key, put, units, now)
        path = (*namespace, key)
        for name in list(self._spaces) if put.value is None else ():
            if name[: len(path)] == path:
                del self._spaces[name]


@faulty("delete")
class DeleteRemovesLongerKeys(_Store):
    """A delete of key "a" removes "ab" as well. Deletes by prefix, Redis "key*"."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        super()._put(namespace, key, put, units, now)
        space = self._spaces.get(namespace) if put.value is None else None
        for other in [name for name in (space.records if space else ()) if name.startswith(key)]:
            self._remove(namespace, other)


@faulty("delete")
class DeleteClearsNamespace(_Store):
    """A delete removes all items of the namespace. DELETE without the key."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        super()._put(namespace, key, put, units, now)
        if put.value is None:
            self._spaces.pop(namespace, None)


@faulty("delete")
class DeletedItemsAreFound(_Store):
    """A deleted item is gone for get, but a search still returns it. Soft deletes, indexes cleaned up later."""

    def prepare(self) -> None:
        self.deleted: set[tuple[_Namespace, str]] = set()

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        if put.value is None:
            self.deleted.add((namespace, key))
        else:
            self.deleted.discard((namespace, key))
            super()._put(namespace, key, put, units, now)

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        return None if (op.namespace, op.key) in self.deleted else super()._get(op, now)


@faulty("delete")
class DeleteDoesNothing(_Store):
    """A delete does nothing. Missing commit."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        if put.value is not None:
            super()._put(namespace, key, put, units, now)


@faulty("delete")
class DeleteInMixedBatchIgnored(_Store):
    """Deletes are ignored in a batch that also puts. Branches by the first operation."""

    def _execute(self, plan: _Plan, documents: Sequence[Any], queries: Sequence[Any]) -> list[Result]:
        if any(put.value is not None for put in plan.puts.values()):
            plan.puts = {name: put for name, put in plan.puts.items() if put.value is not None}
        return super()._execute(plan, documents, queries)


# Batches


class _Results(_Store):
    """The results of a batch are changed."""

    def results(self, ops: list[Op], results: list[Result]) -> list[Result]:
        raise NotImplementedError

    def _execute(self, plan: _Plan, documents: Sequence[Any], queries: Sequence[Any]) -> list[Result]:
        return self.results(plan.ops, super()._execute(plan, documents, queries))


@faulty("batch", "langchain-ai/langgraph#2534")
class ResultsLackPuts(_Results):
    """A batch has no results for its puts where it has reads too, so the others move up. Results of queries."""

    def results(self, ops: list[Op], results: list[Result]) -> list[Result]:
        kept = [result for op, result in zip(ops, results, strict=True) if not isinstance(op, PutOp)]
        return kept or results


@faulty("batch", "langchain-ai/langgraph#2534")
class ResultsGroupedByKind(_Results):
    """Results come in the order gets, searches, lists, puts. Operations grouped by kind."""

    def results(self, ops: list[Op], results: list[Result]) -> list[Result]:
        kinds = [GetOp, SearchOp, ListNamespacesOp, PutOp]
        order = sorted(range(len(ops)), key=lambda i: kinds.index(type(ops[i])))
        return [results[i] for i in order]


@faulty("batch", "langchain-ai/langgraph#2534")
class GetsOfABatchSortedByKey(_Results):
    """The gets of a batch are answered in the order of their keys. Results of one SELECT ... IN."""

    def results(self, ops: list[Op], results: list[Result]) -> list[Result]:
        places = [i for i, op in enumerate(ops) if isinstance(op, GetOp)]
        answers = iter(sorted(places, key=lambda i: cast(GetOp, ops[i]).key))
        return [results[next(answers)] if i in set(places) else result for i, result in enumerate(results)]


@faulty("batch", "langchain-ai/langgraph#2534")
class MissesOfABatchLeftOut(_Results):
    """Gets that find nothing have no result in a batch of several. Results of one SELECT ... IN."""

    def results(self, ops: list[Op], results: list[Result]) -> list[Result]:
        if len(ops) == 1:
            return results
        return [r for op, r in zip(ops, results, strict=True) if r is not None or not isinstance(op, GetOp)]


@faulty("batch", "langchain-ai/langgraph#2534")
class PutsHaveResults(_Results):
    """The result of a put is the number of rows. Clients' return values passed on."""

    def results(self, ops: list[Op], results: list[Result]) -> list[Result]:
        one = cast(Result, 1)
        return [one if isinstance(op, PutOp) else result for op, result in zip(ops, results, strict=True)]


@faulty("batch", "langchain-ai/langgraph@1febec7c0")
class EqualGetsAnsweredOnce(_Results):
    """Of equal gets in a batch only the last is answered. A dictionary from key to place."""

    def results(self, ops: list[Op], results: list[Result]) -> list[Result]:
        last = {op: i for i, op in enumerate(ops) if isinstance(op, GetOp)}
        return [
            result if not isinstance(op, GetOp) or last[op] == i else None
            for i, (op, result) in enumerate(zip(ops, results, strict=True))
        ]


@faulty("batch")
class GetsOfABatchFoundByKeyOnly(_Results):
    """Gets of a batch that ask for one key in several namespaces are answered by one item. Rows matched by key."""

    def results(self, ops: list[Op], results: list[Result]) -> list[Result]:
        found = {op.key: r for op, r in zip(ops, results, strict=True) if isinstance(op, GetOp) and r is not None}
        return [
            found[op.key] if isinstance(op, GetOp) and result is not None else result
            for op, result in zip(ops, results, strict=True)
        ]


@faulty("batch")
class SearchesOfABatchShareFilter(_Results):
    """Searches of a batch with one prefix are answered by the first one's result. Deduplication by too little."""

    def results(self, ops: list[Op], results: list[Result]) -> list[Result]:
        first: dict[_Namespace, Result] = {}
        return [
            first.setdefault(op.namespace_prefix, result) if isinstance(op, SearchOp) else result
            for op, result in zip(ops, results, strict=True)
        ]


@faulty("batch", "langchain-ai/langgraph#2534")
class FirstPutOfABatchWins(_Store):
    """Of two puts of an item in a batch the first wins. ON CONFLICT DO NOTHING, setdefault."""

    def _plan(self, ops: Iterable[Op]) -> _Plan:
        plan = super()._plan(ops)
        first: dict[tuple[_Namespace, str], PutOp] = {}
        for op in plan.ops:
            if isinstance(op, PutOp):
                first.setdefault((op.namespace, str(op.key)), op)
        plan.puts = {name: self._planned_put(op) for name, op in first.items()}
        for text in itertools.chain.from_iterable(put.texts for put in plan.puts.values()):
            plan.texts.setdefault(text, len(plan.texts))
        return plan


@faulty("batch", "langchain-ai/langgraph#2534")
class RepeatedPutsOfABatchRaise(_Store):
    """Two puts of an item in a batch raise. ON CONFLICT DO UPDATE cannot affect a row a second time."""

    def _plan(self, ops: Iterable[Op]) -> _Plan:
        plan = super()._plan(ops)
        if len(plan.puts) < sum(isinstance(op, PutOp) for op in plan.ops):
            raise RuntimeError("the statement cannot affect a row a second time")
        return plan


@faulty("batch", "langchain-ai/langgraph#2534")
class DeletesOfABatchComeFirst(_Store):
    """Deletes of a batch are done before its puts, so a put and then a delete leave the item. Grouped statements."""

    def _plan(self, ops: Iterable[Op]) -> _Plan:
        ops = list(ops)
        plan = super()._plan(ops)
        for op in plan.ops:
            name = (op.namespace, str(op.key)) if isinstance(op, PutOp) else None
            if isinstance(op, PutOp) and op.value is not None and name and plan.puts[name].value is None:
                plan.puts[name] = self._planned_put(op)
                for text in plan.puts[name].texts:
                    plan.texts.setdefault(text, len(plan.texts))
        return plan


@faulty("batch", "langchain-ai/langgraph#2534")
class PutsOfABatchDedupedByKey(_Store):
    """Of puts of one key to two namespaces in a batch only the last is done. Deduplication by too little."""

    def _execute(self, plan: _Plan, documents: Sequence[Any], queries: Sequence[Any]) -> list[Result]:
        last = {key: namespace for namespace, key in plan.puts}
        plan.puts = {(name, key): put for (name, key), put in plan.puts.items() if last[key] == name}
        return super()._execute(plan, documents, queries)


@faulty("batch", "langchain-ai/langgraph#2534")
class ReadsOfABatchSeeItsPuts(_Store):
    """Reads of a batch see its puts. Writes first, or operations one by one."""

    def _execute(self, plan: _Plan, documents: Sequence[Any], queries: Sequence[Any]) -> list[Result]:
        with self._lock:
            reads, plan.ops = plan.ops, []
            super()._execute(plan, documents, queries)
            plan.ops, plan.puts, plan.texts = reads, {}, {}
            return super()._execute(plan, [], queries)


@faulty("batch", "langchain-ai/langgraph#8590")
class BatchesAreNotAtomic(_Store):
    """A batch that fails leaves what came before the failing operation. Autocommit."""

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        try:
            return super().batch(ops)
        except Exception:
            for op in ops:
                super().batch([op])
            raise

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        try:
            return await super().abatch(ops)
        except Exception:
            for op in ops:
                await super().abatch([op])
            raise


@faulty("batch")
class LargeBatchesCut(_Store):
    """Of a batch only the first 25 puts are done. DynamoDB's unprocessed items."""

    def _execute(self, plan: _Plan, documents: Sequence[Any], queries: Sequence[Any]) -> list[Result]:
        plan.puts = dict(itertools.islice(plan.puts.items(), 25))
        return super()._execute(plan, documents, queries)


@faulty("batch")
class LargeReadsCut(_Results):
    """Of the gets of a batch only the first 100 are answered. DynamoDB's unprocessed keys."""

    def results(self, ops: list[Op], results: list[Result]) -> list[Result]:
        gets = itertools.count()
        return [
            None if isinstance(op, GetOp) and next(gets) >= 100 else result
            for op, result in zip(ops, results, strict=True)
        ]


@faulty("batch")
class EmptyBatchRaises(_Store):
    """A batch without operations raises. Statements built from a list."""

    def _plan(self, ops: Iterable[Op]) -> _Plan:
        plan = super()._plan(ops)
        if not plan.ops:
            raise RuntimeError("syntax error at end of input")
        return plan


@faulty("batch")
class GeneratorIsUsedUp(_Store):
    """A batch that is a generator, not a list, is looked through once and then empty. Iterables read twice."""

    def _plan(self, ops: Iterable[Op]) -> _Plan:
        kinds = {type(op) for op in ops}
        return super()._plan(op for op in ops if type(op) in kinds)


@faulty("batch")
class UnknownOperationIgnored(_Store):
    """An unknown kind of operation is skipped instead of refused. Branches without an else."""

    def _plan(self, ops: Iterable[Op]) -> _Plan:
        return super()._plan(op for op in ops if isinstance(op, (GetOp, PutOp, SearchOp, ListNamespacesOp)))


# Filters


_NAMES = {compare: name for name, compare in _OPERATORS.items()}


class _Compare(_Store):
    """A condition is tested by another comparison."""

    def compare(self, operator: str, value: Any, operand: Any) -> bool:
        return _OPERATORS[operator](value, operand)

    def bend(self, conditions: list[_Condition]) -> list[_Condition]:
        return [
            (name, functools.partial(self.compare, _NAMES[compare]), operand) for name, compare, operand in conditions
        ]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


@faulty("filter", "langchain-ai/langgraph#7684")
class NumbersComparedAsText(_Compare):
    """Ranges compare numbers as text, so 9 > 10. JSON's ->> operator."""

    def compare(self, operator: str, value: Any, operand: Any) -> bool:
        if operator in ("$gt", "$gte", "$lt", "$lte") and _is_number(value) and _is_number(operand):
            return super().compare(operator, str(value), str(operand))
        return super().compare(operator, value, operand)


@faulty("filter")
class NumbersComparedAsInts(_Compare):
    """Ranges cut numbers to integers, so 1.5 is not greater than 1. CAST(... AS INTEGER)."""

    def compare(self, operator: str, value: Any, operand: Any) -> bool:
        if operator in ("$gt", "$gte", "$lt", "$lte") and _is_number(value) and abs(value) < 1e300:
            return super().compare(operator, int(value), operand)
        return super().compare(operator, value, operand)


@faulty("filter")
class NegativeNumbersOutOfRange(_Compare):
    """Ranges never match negative numbers. Numbers as text with leading zeros."""

    def compare(self, operator: str, value: Any, operand: Any) -> bool:
        in_range = operator in ("$eq", "$ne") or not _is_number(value) or value >= 0
        return in_range and super().compare(operator, value, operand)


@faulty("filter")
class TextsOutOfRange(_Compare):
    """Ranges never match texts. Numeric index, CAST(... AS REAL)."""

    def compare(self, operator: str, value: Any, operand: Any) -> bool:
        in_range = operator in ("$eq", "$ne") or not isinstance(value, str)
        return in_range and super().compare(operator, value, operand)


@faulty("filter", "oracle/langchain-oracle#308")
class EqualityConflatesTypes(_Compare):
    """ "5" equals 5. Comparison of texts, numeric affinity."""

    def compare(self, operator: str, value: Any, operand: Any) -> bool:
        if operator in ("$eq", "$ne") and isinstance(value, (str, int)) and isinstance(operand, (str, int)):
            return (str(value) == str(operand)) == (operator == "$eq")
        return super().compare(operator, value, operand)


@faulty("filter", "langchain-ai/langgraph#8759")
class ListsNeverEqual(_Compare):
    """A list or dictionary equals nothing. Comparison of different encodings."""

    def compare(self, operator: str, value: Any, operand: Any) -> bool:
        if operator in ("$eq", "$ne") and isinstance(operand, (list, dict)):
            return operator == "$ne"
        return super().compare(operator, value, operand)


@faulty("filter")
class ListsEqualInAnyOrder(_Compare):
    """Lists with the same elements in another order are equal. SQL arrays' @> and <@."""

    def compare(self, operator: str, value: Any, operand: Any) -> bool:
        if operator in ("$eq", "$ne") and isinstance(value, list) and isinstance(operand, list):
            equal = sorted(map(json.dumps, value)) == sorted(map(json.dumps, operand))
            return equal == (operator == "$eq")
        return super().compare(operator, value, operand)


@faulty("filter")
class DictsComparedByOrderOfFields(_Compare):
    """Dictionaries with the same fields in another order are not equal. JSON text, BSON."""

    def compare(self, operator: str, value: Any, operand: Any) -> bool:
        if operator in ("$eq", "$ne") and isinstance(value, dict) and isinstance(operand, dict):
            return (json.dumps(value) == json.dumps(operand)) == (operator == "$eq")
        return super().compare(operator, value, operand)


@faulty("filter")
class ListOperandMeansAnyOf(_Compare):
    """A list as operand matches any of its elements. Vector databases' filters, Django-like ORMs."""

    def compare(self, operator: str, value: Any, operand: Any) -> bool:
        if operator == "$eq" and isinstance(operand, list) and not isinstance(value, list):
            return any(_equal(value, element) for element in operand)
        return super().compare(operator, value, operand)


@faulty("filter", "langchain-ai/langchain-mongodb#384")
class ListValueMatchesItsElements(_Compare):
    """A list in the value matches each of its elements. MongoDB, Elasticsearch, Qdrant."""

    def compare(self, operator: str, value: Any, operand: Any) -> bool:
        if operator == "$eq" and isinstance(value, list) and not isinstance(operand, list):
            return any(_equal(element, operand) for element in value)
        return super().compare(operator, value, operand)


@faulty("filter")
class DictOperandMatchesSuperset(_Compare):
    """A dictionary as operand matches one with more fields. JSONB's @>."""

    def compare(self, operator: str, value: Any, operand: Any) -> bool:
        if operator == "$eq" and isinstance(value, dict) and isinstance(operand, dict):
            return all(name in value and _equal(value[name], part) for name, part in operand.items())
        return super().compare(operator, value, operand)


@faulty("filter")
class TextsEqualInAnyCase(_Compare):
    """Texts that differ by case are equal. Case-insensitive collations, analysed text fields."""

    def compare(self, operator: str, value: Any, operand: Any) -> bool:
        if isinstance(value, str) and isinstance(operand, str):
            return super().compare(operator, value.lower(), operand.lower())
        return super().compare(operator, value, operand)


@faulty("filter")
class TextsMatchedByLike(_Compare):
    """ "%" and "_" in the operand are wildcards. SQL LIKE in place of =."""

    def compare(self, operator: str, value: Any, operand: Any) -> bool:
        if operator == "$eq" and isinstance(value, str) and isinstance(operand, str):
            return re.fullmatch(_like(operand), value, re.DOTALL) is not None
        return super().compare(operator, value, operand)


@faulty("filter")
class TextsMatchedByWord(_Compare):
    """A text matches each of its words. Full-text fields."""

    def compare(self, operator: str, value: Any, operand: Any) -> bool:
        if operator == "$eq" and isinstance(value, str) and isinstance(operand, str):
            return value == operand or operand in value.split()
        return super().compare(operator, value, operand)


@faulty("filter")
class TextsMatchedBySubstring(_Compare):
    """A text matches every part of it. LIKE '%...%'."""

    def compare(self, operator: str, value: Any, operand: Any) -> bool:
        if operator == "$eq" and isinstance(value, str) and isinstance(operand, str):
            return operand in value
        return super().compare(operator, value, operand)


@faulty("filter")
class TextsEqualButForBlanks(_Compare):
    """Blanks at the end of texts do not count. SQL's PAD SPACE collations."""

    def compare(self, operator: str, value: Any, operand: Any) -> bool:
        if operator in ("$eq", "$ne") and isinstance(value, str) and isinstance(operand, str):
            return super().compare(operator, value.rstrip(" "), operand.rstrip(" "))
        return super().compare(operator, value, operand)


@faulty("filter")
class EqOperatorComparesEncodedTexts(_Store):
    """{"$eq": text} compares with the JSON form of the text, so never matches. JSON's -> operator."""

    def _plan(self, ops: Iterable[Op]) -> _Plan:
        plan = super()._plan(ops)
        for i, conditions in plan.conditions.items():
            given = cast(SearchOp, plan.ops[i]).filter or {}
            plan.conditions[i] = [
                (name, compare, json.dumps(operand))
                if isinstance(operand, str) and compare is _equal and isinstance(given[name], Mapping)
                else (name, compare, operand)
                for name, compare, operand in conditions
            ]
        return plan


@faulty("filter")
class GtIsInclusive(_Compare):
    """$gt includes the bound. Redis ranges."""

    def compare(self, operator: str, value: Any, operand: Any) -> bool:
        return super().compare("$gte" if operator == "$gt" else operator, value, operand)


@faulty("filter")
class LtIsInclusive(_Compare):
    """$lt includes the bound. Redis ranges, BETWEEN."""

    def compare(self, operator: str, value: Any, operand: Any) -> bool:
        return super().compare("$lte" if operator == "$lt" else operator, value, operand)


@faulty("filter")
class GteIsExclusive(_Compare):
    """$gte excludes the bound. Typing errors."""

    def compare(self, operator: str, value: Any, operand: Any) -> bool:
        return super().compare("$gt" if operator == "$gte" else operator, value, operand)


@faulty("filter")
class LteIsExclusive(_Compare):
    """$lte excludes the bound. Half-open ranges."""

    def compare(self, operator: str, value: Any, operand: Any) -> bool:
        return super().compare("$lt" if operator == "$lte" else operator, value, operand)


@faulty("filter")
class NeIsIgnored(_Compare):
    """$ne matches everything that has the field. Indexes without negation."""

    def compare(self, operator: str, value: Any, operand: Any) -> bool:
        return operator == "$ne" or super().compare(operator, value, operand)


@faulty("filter")
class NeExcludesOtherTypes(_Compare):
    """$ne does not match a value of another type. Typed indexes."""

    def compare(self, operator: str, value: Any, operand: Any) -> bool:
        return (operator != "$ne" or type(value) is type(operand)) and super().compare(operator, value, operand)


@faulty("filter", "langchain-ai/langgraph#7684")
class LastOperatorWins(_Store):
    """Of several operators on a field only the last counts. A dictionary of conditions by field."""

    def bend(self, conditions: list[_Condition]) -> list[_Condition]:
        return list({condition[0]: condition for condition in conditions}.values())


@faulty("filter", "langchain-ai/langgraph#7684")
class FirstOperatorWins(_Store):
    """Of several operators on a field only the first counts. next(iter(...))."""

    def bend(self, conditions: list[_Condition]) -> list[_Condition]:
        return list({condition[0]: condition for condition in reversed(conditions)}.values())


@faulty("filter")
class LastFieldWins(_Store):
    """Of several fields in a filter only the last counts. Statement overwritten in a loop."""

    def bend(self, conditions: list[_Condition]) -> list[_Condition]:
        return [condition for condition in conditions if condition[0] == conditions[-1][0]]


@faulty("filter")
class FieldsAreOred(_Store):
    """One matching condition is enough. Elasticsearch's should, RediSearch's bar."""

    def found(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        found = super().found(op, [], query, now)
        return [item for item in found if not conditions or any(_matches(item.value, [c]) for c in conditions)]


@faulty("filter", "langchain-ai/langgraph#8829")
class UnknownOperatorIgnored(_Store):
    """An unknown filter operator is ignored, so everything matches. Branches without an else."""

    def rewrite(self, op: Op) -> Op:
        return (
            op._replace(filter=_pruned(op.filter, _OPERATORS.__contains__))
            if isinstance(op, SearchOp) and op.filter
            else op
        )


@faulty("filter", "langchain-ai/langgraph#8829")
class UnknownOperatorMatchesNothing(_Store):
    """An unknown filter operator matches nothing instead of being refused. Branches that end in False."""

    def rewrite(self, op: Op) -> Op:
        if isinstance(op, SearchOp) and op.filter and _pruned(op.filter, _OPERATORS.__contains__) != op.filter:
            return op._replace(filter=None, limit=0)
        return op


@faulty("filter", "langchain-ai/langchain-mongodb#384")
class OperatorsOfTheBackendPassedOn(_Store):
    """The backend's own operators, such as $regex and $exists, work in a filter. MongoDB."""

    def _plan(self, ops: Iterable[Op]) -> _Plan:
        ops = list(ops)
        own: dict[int, list[_Condition]] = {}
        for i, op in enumerate(ops):
            if isinstance(op, SearchOp) and op.filter:
                ops[i] = op._replace(filter=_pruned(op.filter, lambda operator: operator not in _BACKEND))
                own[i] = [
                    (name, _BACKEND[operator], operand)
                    for name, condition in op.filter.items()
                    for operator, operand in (condition.items() if isinstance(condition, dict) else ())
                    if operator in _BACKEND
                ]
        plan = super()._plan(ops)
        for i, conditions in own.items():
            plan.conditions[i] = plan.conditions[i] + conditions
        return plan


_BACKEND: dict[str, Callable[[Any, Any], bool]] = {
    "$regex": lambda value, operand: isinstance(value, str) and re.search(str(operand), value) is not None,
    "$exists": lambda value, operand: bool(operand),
    "$in": lambda value, operand: any(_equal(value, element) for element in operand),
    "$where": lambda value, operand: True,
}


def _pruned(filter: Mapping[str, Any], keep: Callable[[str], bool]) -> dict[str, Any]:
    """The filter without the operators that are not to `keep`."""
    kept: dict[str, Any] = {}
    for name, condition in filter.items():
        if not isinstance(condition, dict) or not any(str(key).startswith("$") for key in condition):
            kept[name] = condition
        elif rest := {key: operand for key, operand in condition.items() if keep(key)}:
            kept[name] = rest
    return kept


@faulty("filter", "langchain-ai/langchain-aws#1199")
class FilterIgnoredWithoutQuery(_Store):
    """A filter counts only with a query. Filters that belong to the vector search."""

    def found(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        return super().found(op, [] if query is None else conditions, query, now)


@faulty("filter", "langchain-ai/langchain-aws#1199")
class FilterIgnoredWithQuery(_Store):
    """A filter does not count with a query. Vector search built apart from the rest."""

    def found(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        return super().found(op, conditions if query is None else [], query, now)


@faulty("filter")
class FalsyOperandsIgnored(_Store):
    """A condition on 0, False, None or an empty text is ignored. `if value:`."""

    def bend(self, conditions: list[_Condition]) -> list[_Condition]:
        return [condition for condition in conditions if condition[2]]


@faulty("filter")
class EmptyFilterMatchesNothing(_Store):
    """The filter {} matches nothing. Disjunctions of no terms."""

    def rewrite(self, op: Op) -> Op:
        return op._replace(limit=0) if isinstance(op, SearchOp) and op.filter == {} else op


@faulty("filter", "langchain-ai/langgraph#5666")
class FilterKeyIsPastedIntoSql(_Store):
    """A field name with a quote ends the statement, so everything in the store matches. SQL without parameters."""

    def rewrite(self, op: Op) -> Op:
        if isinstance(op, SearchOp) and op.filter and any("'" in name and "--" in name for name in op.filter):
            return op._replace(filter=None, namespace_prefix=())
        return op


@faulty("filter", "langchain-ai/langgraph#5666")
class FilterValueIsPastedIntoSql(_Store):
    """An operand with a quote and OR ends the condition, so everything matches. SQL without parameters."""

    def rewrite(self, op: Op) -> Op:
        if isinstance(op, SearchOp) and op.filter and re.search(r"'\s*OR\b", json.dumps(op.filter, default=str), re.I):
            return op._replace(filter=None)
        return op


@faulty("filter")
class FilterValueWithQuoteRaises(_Store):
    """An operand with a quote raises a syntax error. SQL without parameters."""

    def rewrite(self, op: Op) -> Op:
        if isinstance(op, SearchOp) and op.filter and "'" in json.dumps(list(op.filter.values()), default=str):
            raise RuntimeError("unterminated quoted string")
        return op


@faulty("filter")
class FilterFieldsAreColumns(_Store):
    """A filter on "key" or "namespace" tests the item's own, not the value's field. Flat documents."""

    def found(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        own = [condition for condition in conditions if condition[0] in ("key", "namespace")]
        found = super().found(op, [c for c in conditions if c not in own], query, now)
        return [i for i in found if _matches({"key": i.key, "namespace": list(i.namespace)}, own)]


@faulty("filter")
class FilterFindsNestedFields(_Store):
    """A filter on "a" matches a field "a" of a nested dictionary. Recursive paths such as $..a."""

    def found(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        def parts(value: Any) -> Iterator[dict[str, Any]]:
            if isinstance(value, dict):
                yield value
                for part in value.values():
                    yield from parts(part)

        found = super().found(op, [], query, now)
        return [i for i in found if all(any(_matches(part, [c]) for part in parts(i.value)) for c in conditions)]


@faulty("filter", "langchain-ai/langgraph#8977")
class FilterAfterLimit(_Store):
    """A page is cut first and filtered then, so it may lack items. Filters in the client."""

    def found(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        found = super().found(op, [], query, now)
        matching = [i for i in found[op.offset : op.offset + op.limit] if _matches(i.value, conditions)]
        return found[: op.offset] + matching


@faulty("filter", "langchain-ai/langgraph#8977")
class OffsetBeforeFilter(_Store):
    """The offset skips items before the filter. Filters in the client."""

    def found(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        found = super().found(op, [], query, now)
        return found[: op.offset] + [item for item in found[op.offset :] if _matches(item.value, conditions)]


# Search


def _like(pattern: str) -> str:
    """A LIKE pattern as a regular expression."""
    return "".join({"%": ".*", "_": "."}.get(c, re.escape(c)) for c in pattern)


class _Prefix(_Store):
    """A search selects namespaces by another test."""

    def below(self, name: _Namespace, prefix: _Namespace) -> bool:
        raise NotImplementedError

    def found(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        found = super().found(op._replace(namespace_prefix=()), conditions, query, now)
        return [item for item in found if self.below(item.namespace, op.namespace_prefix)]


@faulty("search", "langchain-ai/langgraph#8300")
class PrefixIsLikePattern(_Prefix):
    """ "%" and "_" in the prefix of a search are wildcards. SQL LIKE."""

    def below(self, name: _Namespace, prefix: _Namespace) -> bool:
        return not prefix or re.match(_like(".".join(prefix)) + r"(\.|\Z)", ".".join(name), re.DOTALL) is not None


@faulty("search", "langchain-ai/langgraph#8300")
class PrefixIsGlobPattern(_Prefix):
    """ "*", "?" and "[...]" in the prefix of a search are wildcards. SQLite's GLOB, Redis SCAN."""

    def below(self, name: _Namespace, prefix: _Namespace) -> bool:
        joined, pattern = ".".join(name), ".".join(prefix)
        return not prefix or any(fnmatch.fnmatchcase(joined, p) for p in (pattern, f"{pattern}.*"))


@faulty("search", "langchain-ai/langgraph#8300")
class PrefixIsRegularExpression(_Prefix):
    """Labels of the prefix of a search are regular expressions. MongoDB's $regex."""

    def below(self, name: _Namespace, prefix: _Namespace) -> bool:
        try:
            return all(re.fullmatch(p, label) for p, label in zip(prefix, name, strict=False)) and len(name) >= len(
                prefix
            )
        except re.error:
            return False


@faulty("search", "langchain-ai/langgraph#8478")
class PrefixEndsInsideLabel(_Prefix):
    """A search for ("acme",) finds what is in ("acme-corp",). LIKE without the separator."""

    def below(self, name: _Namespace, prefix: _Namespace) -> bool:
        return ".".join(name).startswith(".".join(prefix))


@faulty("search", "langchain-ai/langgraph@66ebe1a0d")
class PrefixIgnoresCase(_Prefix):
    """A search for ("foo",) finds what is in ("Foo",). SQLite's LIKE."""

    def below(self, name: _Namespace, prefix: _Namespace) -> bool:
        return [label.lower() for label in name[: len(prefix)]] == [label.lower() for label in prefix]


@faulty("search", "langchain-ai/langchain-aws#1138")
class PrefixIsTheWholeNamespace(_Prefix):
    """A search finds the items of the very namespace only, not of deeper ones. Partition keys."""

    def below(self, name: _Namespace, prefix: _Namespace) -> bool:
        return not prefix or name == prefix


@faulty("search")
class PrefixExcludesItself(_Prefix):
    """A search finds the items of deeper namespaces only, not of the very one. LIKE 'a.%'."""

    def below(self, name: _Namespace, prefix: _Namespace) -> bool:
        return name[: len(prefix)] == prefix and (name != prefix or not prefix)


@faulty("search")
class PrefixReachesOneLevel(_Prefix):
    """A search finds nothing more than one level deeper. Directory listings."""

    def below(self, name: _Namespace, prefix: _Namespace) -> bool:
        return name[: len(prefix)] == prefix and (not prefix or len(name) <= len(prefix) + 1)


@faulty("search")
class EmptyPrefixFindsNothing(_Prefix):
    """A search of the whole store, with (), finds nothing. Partition keys."""

    def below(self, name: _Namespace, prefix: _Namespace) -> bool:
        return bool(prefix) and name[: len(prefix)] == prefix


@faulty("search")
class PrefixMatchesAnywhere(_Prefix):
    """A search finds namespaces that hold the labels in a row anywhere. LIKE '%a%'."""

    def below(self, name: _Namespace, prefix: _Namespace) -> bool:
        return any(name[i : i + len(prefix)] == prefix for i in range(len(name) + 1))


@faulty("search")
class PrefixMatchesAsSet(_Prefix):
    """A search finds namespaces that hold the labels in any order. MongoDB's $all, tags."""

    def below(self, name: _Namespace, prefix: _Namespace) -> bool:
        return set(prefix) <= set(name)


@faulty("search")
class PrefixTakesStarForAnyLabel(_Prefix):
    """A label "*" in the prefix of a search stands for any. Code shared with list_namespaces."""

    def below(self, name: _Namespace, prefix: _Namespace) -> bool:
        return _name_matches(name, MatchCondition("prefix", prefix))


@faulty("search")
class PrefixComparesFirstTwoLabels(_Prefix):
    """A search looks at the first two labels of its prefix only. Composite index of two columns."""

    def below(self, name: _Namespace, prefix: _Namespace) -> bool:
        return name[: len(prefix)][:2] == prefix[:2] and len(name) >= len(prefix)


@faulty("search")
class LimitIgnored(_Store):
    """A search returns everything, whatever the limit. LIMIT left out."""

    def page(self, found: list[SearchItem], op: SearchOp) -> list[SearchItem]:
        return found[op.offset :]


@faulty("search", "redis-developer/langgraph-redis#30")
class LimitCappedAtTen(_Store):
    """A search returns at most 10 items, whatever the limit. RediSearch's default."""

    def page(self, found: list[SearchItem], op: SearchOp) -> list[SearchItem]:
        return super().page(found, op)[:10]


@faulty("search", "redis-developer/langgraph-redis#30")
class LimitCappedAtHundred(_Store):
    """A search returns at most 100 items, whatever the limit. Backends that answer in pages, the first one taken."""

    def page(self, found: list[SearchItem], op: SearchOp) -> list[SearchItem]:
        return super().page(found, op)[:100]


@faulty("search")
class LimitIsPerNamespace(_Store):
    """A search returns up to the limit from each namespace. One query per partition."""

    def page(self, found: list[SearchItem], op: SearchOp) -> list[SearchItem]:
        spaces: dict[_Namespace, list[SearchItem]] = {}
        for item in found[op.offset :]:
            spaces.setdefault(item.namespace, []).append(item)
        return [item for items in spaces.values() for item in items[: op.limit]]


@faulty("search")
class LimitIsOneTooMany(_Store):
    """A search returns one item more than the limit. Look-ahead for a next page, not cut off."""

    def page(self, found: list[SearchItem], op: SearchOp) -> list[SearchItem]:
        return found[op.offset : op.offset + op.limit + 1] if op.limit else []


@faulty("search")
class DefaultLimitIsHundred(_Store):
    """A search without a limit returns up to 100 items, not 10. Own signature."""

    def search(
        self,
        namespace_prefix: _Namespace,
        /,
        *,
        query: str | None = None,
        filter: dict[str, Any] | None = None,
        limit: int = 100,
        offset: int = 0,
        refresh_ttl: bool | None = None,
    ) -> list[SearchItem]:
        return super().search(
            namespace_prefix, query=query, filter=filter, limit=limit, offset=offset, refresh_ttl=refresh_ttl
        )

    async def asearch(
        self,
        namespace_prefix: _Namespace,
        /,
        *,
        query: str | None = None,
        filter: dict[str, Any] | None = None,
        limit: int = 100,
        offset: int = 0,
        refresh_ttl: bool | None = None,
    ) -> list[SearchItem]:
        return await super().asearch(
            namespace_prefix, query=query, filter=filter, limit=limit, offset=offset, refresh_ttl=refresh_ttl
        )


@faulty("search")
class LimitOfZeroMeansAll(_Store):
    """A limit of 0 means no limit. MongoDB, `if limit:`."""

    def page(self, found: list[SearchItem], op: SearchOp) -> list[SearchItem]:
        return found[op.offset :] if op.limit == 0 else super().page(found, op)


@faulty("search", "langchain-ai/langgraph#8977")
class OffsetIgnored(_Store):
    """A search starts at the first item, whatever the offset. OFFSET left out."""

    def page(self, found: list[SearchItem], op: SearchOp) -> list[SearchItem]:
        return found[: op.limit]


@faulty("search")
class OffsetCountsPages(_Store):
    """The offset counts pages, not items. APIs that have pages."""

    def page(self, found: list[SearchItem], op: SearchOp) -> list[SearchItem]:
        return found[op.offset * op.limit :][: op.limit]


@faulty("search")
class OffsetRepeatsOne(_Store):
    """A page after the first starts with the last item of the page before. Inclusive cursors."""

    def page(self, found: list[SearchItem], op: SearchOp) -> list[SearchItem]:
        return found[max(op.offset - 1, 0) :][: op.limit]


@faulty("search")
class OffsetSkipsOne(_Store):
    """A page after the first skips an item. Exclusive cursors."""

    def page(self, found: list[SearchItem], op: SearchOp) -> list[SearchItem]:
        return found[op.offset + 1 if op.offset else 0 :][: op.limit]


@faulty("search")
class OffsetShortensPage(_Store):
    """The limit counts from the first item, so the offset shortens the page. list[offset:limit]."""

    def page(self, found: list[SearchItem], op: SearchOp) -> list[SearchItem]:
        return found[op.offset : op.limit]


@faulty("search", "langchain-ai/langgraph#8831")
class OrderChanges(_Store):
    """The order changes from one search to the next, so pages overlap. Hash order, shards."""

    def prepare(self) -> None:
        self.searches = itertools.count()

    def page(self, found: list[SearchItem], op: SearchOp) -> list[SearchItem]:
        plain = found and found[0].score is None
        return super().page(found[::-1] if plain and next(self.searches) % 2 else found, op)


@faulty("search", "langchain-ai/langgraph#8734")
class UnknownNamespaceRaises(_Store):
    """A search where nothing is stored raises. Table, collection or index per namespace."""

    def found(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        depth = len(op.namespace_prefix)
        if not any(name[:depth] == op.namespace_prefix for name in self._spaces):
            raise RuntimeError(f"no such collection: {op.namespace_prefix!r}")
        return super().found(op, conditions, query, now)


@faulty("search", "langchain-ai/langchain-aws#753")
class NewestPutIsNotFound(_Store):
    """A search does not find the item put last. Indexes that are refreshed later, as in Elasticsearch."""

    def prepare(self) -> None:
        self.newest: tuple[_Namespace, str] | None = None

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        super()._put(namespace, key, put, units, now)
        self.newest = (namespace, key)

    def found(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        return [i for i in super().found(op, conditions, query, now) if (i.namespace, i.key) != self.newest]


@faulty("search")
class SearchFindsOldValues(_Store):
    """A search returns the value an item was first put with. Copies in the index that are not updated."""

    def prepare(self) -> None:
        self.first: dict[tuple[_Namespace, str], dict[str, Any]] = {}

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        super()._put(namespace, key, put, units, now)
        if put.value is None:
            self.first.pop((namespace, key), None)
        else:
            self.first.setdefault((namespace, key), put.value)

    def shown(self, item: _I) -> _I:
        if isinstance(item, SearchItem):
            item.value = dict(self.first.get((item.namespace, item.key), item.value))
        return item


@faulty("search")
class DeepItemsFoundOncePerLevel(_Store):
    """An item below the prefix is returned once for each level. A row per ancestor, joined."""

    def found(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        found = super().found(op, conditions, query, now)
        depth = len(op.namespace_prefix)
        return [item for item in found for _ in range(max(1, len(item.namespace) - depth) if depth else 1)]


@faulty("search")
class SearchReturnsGenerator(_Store):
    """A search returns a generator, which has no length. Cursors passed on."""

    def _search(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        page = super()._search(op, conditions, query, now)
        return cast(list[SearchItem], (item for item in page))


@faulty("search")
class PlainSearchHasScores(_Store):
    """A search without a query gives each item the score 1.0. Elasticsearch's constant score."""

    def shown(self, item: _I) -> _I:
        if isinstance(item, SearchItem) and item.score is None:
            item.score = 1.0
        return item


@faulty("search")
class SearchLeavesOutNestedParts(_Store):
    """Items that a search returns lack lists and dictionaries. Indexed fields returned, not the document."""

    def shown(self, item: _I) -> _I:
        if isinstance(item, SearchItem):
            item.value = {name: part for name, part in item.value.items() if not isinstance(part, (list, dict))}
        return item


# Lists of namespaces


class _Phantoms(_Store):
    """Namespaces that hold nothing are listed."""

    def prepare(self) -> None:
        self.touched: set[_Namespace] = set()

    def living(self, now: datetime) -> list[_Namespace]:
        return sorted({*super().living(now), *self.touched})


@faulty("namespaces", "langchain-ai/langgraph#8734")
class EmptiedNamespacesListed(_Phantoms):
    """A namespace whose last item was deleted is listed. Dictionaries, tables of namespaces."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        super()._put(namespace, key, put, units, now)
        if put.value is not None:
            self.touched.add(namespace)


@faulty("namespaces", "langchain-ai/langgraph#8734")
class NamespacesOfGetsListed(_Phantoms):
    """A namespace that a get looked into is listed. defaultdict, get-or-create."""

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        self.touched.add(op.namespace)
        return super()._get(op, now)


@faulty("namespaces", "langchain-ai/langgraph#8734")
class NamespacesOfSearchesListed(_Phantoms):
    """A namespace that was searched is listed. defaultdict, get-or-create."""

    def page(self, found: list[SearchItem], op: SearchOp) -> list[SearchItem]:
        if op.namespace_prefix:
            self.touched.add(op.namespace_prefix)
        return super().page(found, op)


@faulty("namespaces", "langchain-ai/langgraph#8734")
class NamespacesOfDeletesListed(_Phantoms):
    """A namespace is listed when something that it did not hold was deleted from it. get-or-create."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        if put.value is None and namespace not in self._spaces:
            self.touched.add(namespace)
        super()._put(namespace, key, put, units, now)


@faulty("namespaces")
class ParentNamespacesListed(_Store):
    """The parents of a namespace are listed though they hold nothing. Directories."""

    def living(self, now: datetime) -> list[_Namespace]:
        return sorted({name[: i + 1] for name in super().living(now) for i in range(len(name))})


@faulty("namespaces")
class NamespacesWithChildrenHidden(_Store):
    """A namespace that has deeper ones is not listed. Leaves of a tree."""

    def living(self, now: datetime) -> list[_Namespace]:
        names = super().living(now)
        parents = {name[:i] for name in names for i in range(len(name))}
        return [name for name in names if name not in parents]


class _Match(_Store):
    """A condition on namespaces is tested otherwise."""

    def matches(self, name: _Namespace, path: _Namespace) -> bool:
        """Whether `name`, cut to the length of `path`, matches it."""
        return all(self.label_matches(label, part) for label, part in zip(name, path, strict=True))

    def label_matches(self, label: str, part: str) -> bool:
        return part in ("*", label)

    def name_matches(self, name: _Namespace, condition: MatchCondition) -> bool:
        path = tuple(condition.path)
        if len(path) > len(name):
            return False
        start = 0 if condition.match_type == "prefix" else len(name) - len(path)
        return self.matches(name[start : start + len(path)], path)


@faulty("namespaces", "langchain-ai/langgraph#8478")
class ListedPrefixEndsInsideLabel(_Store):
    """A prefix condition ("a",) matches ("ab",). LIKE without the separator."""

    def name_matches(self, name: _Namespace, condition: MatchCondition) -> bool:
        if condition.match_type == "prefix" and "*" not in condition.path:
            return ".".join(name).startswith(".".join(condition.path))
        return super().name_matches(name, condition)


@faulty("namespaces", "langchain-ai/langgraph#8478")
class ListedSuffixStartsInsideLabel(_Store):
    """A suffix condition ("b",) matches ("ab",). LIKE without the separator."""

    def name_matches(self, name: _Namespace, condition: MatchCondition) -> bool:
        if condition.match_type == "suffix" and "*" not in condition.path:
            return ".".join(name).endswith(".".join(condition.path))
        return super().name_matches(name, condition)


@faulty("namespaces")
class ListedLabelsIgnoreCase(_Match):
    """Conditions on namespaces ignore case. LIKE."""

    def label_matches(self, label: str, part: str) -> bool:
        return part == "*" or label.lower() == part.lower()


@faulty("namespaces")
class ListedLabelsAreLikePatterns(_Match):
    """ "%" and "_" in conditions on namespaces are wildcards. LIKE."""

    def label_matches(self, label: str, part: str) -> bool:
        return part == "*" or re.fullmatch(_like(part), label, re.DOTALL) is not None


@faulty("namespaces")
class ListedLabelsAreGlobPatterns(_Match):
    """A star within a label of a condition is a wildcard too. GLOB."""

    def label_matches(self, label: str, part: str) -> bool:
        return fnmatch.fnmatchcase(label, part)


@faulty("namespaces")
class StarIsLiteral(_Match):
    """A label "*" in a condition matches itself only. Wildcards not implemented."""

    def label_matches(self, label: str, part: str) -> bool:
        return label == part


@faulty("namespaces")
class StarIsLiteralInSuffix(_Match):
    """A label "*" in a suffix condition matches itself only. Wildcards implemented for prefixes."""

    def name_matches(self, name: _Namespace, condition: MatchCondition) -> bool:
        if condition.match_type == "suffix":
            return name[len(name) - len(condition.path) :] == tuple(condition.path)
        return super().name_matches(name, condition)


def _star_pattern(path: Iterable[str], star: str) -> str:
    return r"\.".join(star if part == "*" else re.escape(part) for part in path)


@faulty("namespaces")
class StarSpansLabels(_Store):
    """ "*" in a condition stands for one or more labels, not one. LIKE's %, the regular expression ".+"."""

    def name_matches(self, name: _Namespace, condition: MatchCondition) -> bool:
        pattern = _star_pattern(condition.path, ".+")
        pattern = rf"{pattern}(\..*)?" if condition.match_type == "prefix" else rf"(.*\.)?{pattern}"
        return not condition.path or re.fullmatch(pattern, ".".join(name), re.DOTALL) is not None


@faulty("namespaces")
class StarMatchesNoLabel(_Store):
    """ "*" at the end of a prefix matches no label as well, so ("a", "*") matches ("a",). LIKE 'a%'."""

    def name_matches(self, name: _Namespace, condition: MatchCondition) -> bool:
        path = tuple(condition.path)
        if condition.match_type == "prefix" and path[-1:] == ("*",) and len(name) == len(path) - 1:
            return super().name_matches(name, condition._replace(path=path[:-1]))
        return super().name_matches(name, condition)


@faulty("namespaces", "langchain-ai/langgraphjs#2825")
class ListConditionsAreOred(_Store):
    """Of a prefix and a suffix one is enough. OR in place of AND."""

    def name_fits(self, name: _Namespace, op: ListNamespacesOp) -> bool:
        conditions = op.match_conditions or ()
        return not conditions or any(self.name_matches(name, condition) for condition in conditions)


@faulty("namespaces", "langchain-ai/langgraphjs#2825")
class SecondListConditionDropped(_Store):
    """Of a prefix and a suffix only the prefix counts. elif."""

    def name_fits(self, name: _Namespace, op: ListNamespacesOp) -> bool:
        return all(self.name_matches(name, condition) for condition in (op.match_conditions or ())[:1])


@faulty("namespaces", "langchain-ai/langgraphjs#2825")
class PrefixAndSuffixMayNotOverlap(_Store):
    """A prefix and a suffix that share labels do not match. LIKE 'a.%.b'."""

    def name_fits(self, name: _Namespace, op: ListNamespacesOp) -> bool:
        length = sum(len(condition.path) for condition in op.match_conditions or ())
        return length <= len(name) and super().name_fits(name, op)


@faulty("namespaces")
class SuffixIgnored(_Store):
    """A suffix condition is ignored. Prefixes only."""

    def name_matches(self, name: _Namespace, condition: MatchCondition) -> bool:
        return condition.match_type == "suffix" or super().name_matches(name, condition)


@faulty("namespaces")
class SuffixMatchesAnywhere(_Store):
    """A suffix condition matches labels in the middle. LIKE '%b%'."""

    def name_matches(self, name: _Namespace, condition: MatchCondition) -> bool:
        if condition.match_type == "suffix":
            ends = range(len(condition.path), len(name) + 1)
            return any(super(SuffixMatchesAnywhere, self).name_matches(name[:end], condition) for end in ends)
        return super().name_matches(name, condition)


@faulty("namespaces")
class SuffixIsReversed(_Store):
    """A suffix of several labels matches them in reverse order. Reversed names, unreversed condition."""

    def name_matches(self, name: _Namespace, condition: MatchCondition) -> bool:
        if condition.match_type == "suffix":
            condition = condition._replace(path=tuple(reversed(condition.path)))
        return super().name_matches(name, condition)


@faulty("namespaces")
class SuffixComparesLastLabel(_Store):
    """Of a suffix of several labels only the last is compared. A column for the last label."""

    def name_matches(self, name: _Namespace, condition: MatchCondition) -> bool:
        if condition.match_type == "suffix":
            condition = condition._replace(path=tuple(condition.path[-1:]))
        return super().name_matches(name, condition)


@faulty("namespaces")
class ListedPrefixExcludesItself(_Store):
    """A prefix condition does not match the namespace that equals it. LIKE 'a.%'."""

    def name_matches(self, name: _Namespace, condition: MatchCondition) -> bool:
        whole = condition.match_type == "prefix" and len(name) == len(condition.path) > 0
        return not whole and super().name_matches(name, condition)


@faulty("namespaces", "langchain-ai/langgraph#4746")
class MaxDepthLeavesDuplicates(_Store):
    """Namespaces cut to max_depth are listed once for each original. DISTINCT before the cut."""

    def cut(self, names: list[_Namespace], op: ListNamespacesOp) -> list[_Namespace]:
        return sorted(name[: op.max_depth] for name in names)


@faulty("namespaces")
class MaxDepthDropsDeeper(_Store):
    """Namespaces deeper than max_depth are left out, not cut. WHERE depth <= ?."""

    def cut(self, names: list[_Namespace], op: ListNamespacesOp) -> list[_Namespace]:
        return super().cut([name for name in names if op.max_depth is None or len(name) <= op.max_depth], op)


@faulty("namespaces")
class MaxDepthDropsShallower(_Store):
    """Namespaces shallower than max_depth are left out. WHERE depth >= ?."""

    def cut(self, names: list[_Namespace], op: ListNamespacesOp) -> list[_Namespace]:
        return super().cut([name for name in names if op.max_depth is None or len(name) >= op.max_depth], op)


@faulty("namespaces")
class MaxDepthIgnored(_Store):
    """max_depth is ignored. Not implemented."""

    def cut(self, names: list[_Namespace], op: ListNamespacesOp) -> list[_Namespace]:
        return sorted(names)


@faulty("namespaces")
class MaxDepthIsOneTooDeep(_Store):
    """Namespaces are cut to one label more than max_depth. Counting from zero."""

    def cut(self, names: list[_Namespace], op: ListNamespacesOp) -> list[_Namespace]:
        return super().cut(names, op._replace(max_depth=None if op.max_depth is None else op.max_depth + 1))


@faulty("namespaces")
class MaxDepthCountsFromPrefix(_Store):
    """max_depth counts labels below the prefix, not from the root. Relative paths."""

    def cut(self, names: list[_Namespace], op: ListNamespacesOp) -> list[_Namespace]:
        base = sum(len(c.path) for c in op.match_conditions or () if c.match_type == "prefix")
        return super().cut(names, op._replace(max_depth=None if op.max_depth is None else op.max_depth + base))


@faulty("namespaces")
class SuffixTestedAfterCut(_Store):
    """Conditions are tested on the names cut to max_depth, not on the whole ones. WHERE outside of the subquery."""

    def name_fits(self, name: _Namespace, op: ListNamespacesOp) -> bool:
        return super().name_fits(name[: op.max_depth], op)


@faulty("namespaces", "langchain-ai/langgraph#4746")
class ListLimitBeforeCut(_Store):
    """Limit and offset count the namespaces before they are cut to max_depth. LIMIT in the subquery."""

    def cut(self, names: list[_Namespace], op: ListNamespacesOp) -> list[_Namespace]:
        return super().cut(sorted(names)[op.offset : op.offset + op.limit], op)

    def name_page(self, names: list[_Namespace], op: ListNamespacesOp) -> list[_Namespace]:
        return names


@faulty("namespaces")
class ListLimitBeforeConditions(_Store):
    """Limit and offset count the namespaces before the conditions. Filters in the client."""

    def _list(self, op: ListNamespacesOp, now: datetime) -> list[_Namespace]:
        page = sorted(self.living(now))[op.offset : op.offset + op.limit]
        return self.cut([name for name in page if self.name_fits(name, op)], op)


@faulty("namespaces", "langchain-ai/langgraph#4746")
class ListLimitIgnored(_Store):
    """All namespaces are listed, whatever the limit. LIMIT left out."""

    def name_page(self, names: list[_Namespace], op: ListNamespacesOp) -> list[_Namespace]:
        return names[op.offset :]


@faulty("namespaces", "langchain-ai/langgraph#4746")
class ListLimitCapped(_Store):
    """At most 10 namespaces are listed, whatever the limit. Defaults of aggregations and facets."""

    def name_page(self, names: list[_Namespace], op: ListNamespacesOp) -> list[_Namespace]:
        return super().name_page(names, op)[:10]


@faulty("namespaces", "langchain-ai/langgraph#4746")
class ListOffsetIgnored(_Store):
    """The list starts at the first namespace, whatever the offset. OFFSET left out."""

    def name_page(self, names: list[_Namespace], op: ListNamespacesOp) -> list[_Namespace]:
        return names[: op.limit]


@faulty("namespaces", "langchain-ai/langgraph#4746")
class ListOrderChanges(_Store):
    """The order changes from one list to the next, so pages overlap. Sets, SELECT DISTINCT without ORDER BY."""

    def prepare(self) -> None:
        self.lists = itertools.count()

    def cut(self, names: list[_Namespace], op: ListNamespacesOp) -> list[_Namespace]:
        return super().cut(names, op)[:: -1 if next(self.lists) % 2 else 1]


@faulty("namespaces")
class NamespacesListedOncePerItem(_Store):
    """A namespace is listed once for each of its items. DISTINCT left out."""

    def cut(self, names: list[_Namespace], op: ListNamespacesOp) -> list[_Namespace]:
        if op.max_depth is not None:
            return super().cut(names, op)
        return sorted(name for name in names for _ in self._spaces[name].records)


@faulty("namespaces")
class NamespacesListedAsText(_Store):
    """Namespaces are listed as joined texts. Columns passed on."""

    def name_page(self, names: list[_Namespace], op: ListNamespacesOp) -> list[_Namespace]:
        return [cast(_Namespace, "/".join(name)) for name in super().name_page(names, op)]


@faulty("namespaces")
class NamespacesListedAsLists(_Store):
    """Namespaces are listed as lists. JSON, SQL arrays."""

    def name_page(self, names: list[_Namespace], op: ListNamespacesOp) -> list[_Namespace]:
        return [cast(_Namespace, list(name)) for name in super().name_page(names, op)]


@faulty("namespaces")
class EmptyStoreCannotBeListed(_Store):
    """Listing raises where nothing matches. max() of nothing, missing index."""

    def cut(self, names: list[_Namespace], op: ListNamespacesOp) -> list[_Namespace]:
        deepest = max(len(name) for name in names)
        return super().cut(names, op) if deepest else []


@faulty("namespaces")
class NamespacesOfUnindexedItemsHidden(_Store):
    """A namespace whose items have no vectors is not listed. Lists made from the vector table."""

    def living(self, now: datetime) -> list[_Namespace]:
        return [n for n in super().living(now) if not self.index_config or self._spaces[n].vectors.owners]


# Vector search


_Vector = np.ndarray[Any, np.dtype[np.float64]]


class _Ranking(_Store):
    """A search by vectors in steps, on the embeddings as the embedder gave them."""

    def prepare(self) -> None:
        self.raw: dict[tuple[_Namespace, str], list[_Vector]] = {}
        self.by_text: dict[str, _Vector] = {}
        self.by_query: dict[str, _Vector] = {}

    def _execute(self, plan: _Plan, documents: Sequence[Any], queries: Sequence[Any]) -> list[Result]:
        with self._lock:
            self.by_text = {text: np.asarray(v, float) for text, v in zip(plan.texts, documents, strict=False)}
            self.by_query = {text: np.asarray(v, float) for text, v in zip(plan.queries, queries, strict=False)}
            return super()._execute(plan, documents, queries)

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        self.raw[namespace, key] = [self.by_text[text] for text in put.texts] if put.value is not None else []
        super()._put(namespace, key, put, units, now)

    def similarity(self, query: _Vector, vector: _Vector) -> float:
        size = float(np.linalg.norm(query) * np.linalg.norm(vector))
        return round(float(query @ vector) / size, 12) + 0.0 if size else 0.0

    def pool(self, scores: list[float]) -> float:
        return max(scores)

    def rows(self, scores: list[float]) -> list[float]:
        return [self.pool(scores)] if scores else []

    def ranked(self, rows: list[SearchItem], op: SearchOp) -> list[SearchItem]:
        return sorted(rows, key=lambda item: (-(item.score or 0.0), item.namespace, item.key))

    def found(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        if query is None:
            return super().found(op, conditions, None, now)
        given = self.by_query[op.query or ""]
        rows = [
            _scored(item, score)
            for item in super().found(op, conditions, None, now)
            for score in self.rows([self.similarity(given, v) for v in self.raw[item.namespace, item.key]])
        ]
        return self.ranked(rows, op)


def _scored(item: SearchItem, score: float | None) -> SearchItem:
    return SearchItem(
        namespace=item.namespace,
        key=item.key,
        value=item.value,
        created_at=item.created_at,
        updated_at=item.updated_at,
        score=score,
    )


@faulty("vector", "langchain-ai/langgraph#2594")
class SimilarityIsDistance(_Ranking):
    """Items are ranked by falling distance, so the farthest comes first. Metrics mixed up."""

    def similarity(self, query: _Vector, vector: _Vector) -> float:
        return 1.0 - super().similarity(query, vector)


@faulty("vector", "langchain-ai/langgraph#2594")
class ScoreIsDistance(_Store):
    """The order is right, but the score is the distance. pgvector's <=>, sqlite-vec."""

    def shown(self, item: _I) -> _I:
        if isinstance(item, SearchItem) and item.score is not None:
            item.score = 1.0 - item.score
        return item


@faulty("vector", "langchain-ai/langgraph#2594")
class WorstFirst(_Ranking):
    """Scores are right, but the order is rising. ORDER BY without DESC."""

    def ranked(self, rows: list[SearchItem], op: SearchOp) -> list[SearchItem]:
        return super().ranked(rows, op)[::-1]


@faulty("vector", "langchain-ai/langchain-aws#1208")
class SimilarityIsDotProduct(_Ranking):
    """Items are ranked by the dot product of embeddings that are not of unit length. Indexes of another metric."""

    def similarity(self, query: _Vector, vector: _Vector) -> float:
        return float(query @ vector)


@faulty("vector", "langchain-ai/langchain-aws#1208")
class SimilarityIsEuclidean(_Ranking):
    """Items are ranked by Euclidean distance, turned to a similarity. Default metric of many indexes."""

    def similarity(self, query: _Vector, vector: _Vector) -> float:
        return 1.0 / (1.0 + float(np.linalg.norm(query - vector)))


@faulty("vector")
class SimilarityIsAbsolute(_Ranking):
    """Opposite vectors are as similar as equal ones. abs() of the cosine."""

    def similarity(self, query: _Vector, vector: _Vector) -> float:
        return abs(super().similarity(query, vector))


@faulty("vector")
class ScoreIsScaled(_Store):
    """The score is (1 + cosine) / 2. Elasticsearch, OpenSearch, Weaviate's certainty."""

    def shown(self, item: _I) -> _I:
        if isinstance(item, SearchItem) and item.score is not None:
            item.score = (1.0 + item.score) / 2
        return item


@faulty("vector")
class ScoreIsRounded(_Ranking):
    """Scores are rounded to one decimal before the order is made. Quantised vectors."""

    def similarity(self, query: _Vector, vector: _Vector) -> float:
        return round(super().similarity(query, vector), 1) + 0.0


@faulty("vector")
class ScoreIsText(_Store):
    """The score is a text. Redis without decoding."""

    def shown(self, item: _I) -> _I:
        if isinstance(item, SearchItem) and item.score is not None:
            item.score = cast(float, str(item.score))
        return item


@faulty("vector", "langchain-ai/langgraphjs@821ae3cf2")
class ScoreIsMissing(_Store):
    """A search with a query gives no scores. Columns not read."""

    def shown(self, item: _I) -> _I:
        if isinstance(item, SearchItem):
            item.score = None
        return item


@faulty("vector")
class ScoreIsRelativeToBest(_Store):
    """Scores are divided by the best one of the page. Full-text search engines."""

    def page(self, found: list[SearchItem], op: SearchOp) -> list[SearchItem]:
        page = super().page(found, op)
        best = page[0].score if page else None
        return [_scored(item, (item.score or 0.0) / best) for item in page] if best else page


@faulty("vector")
class DissimilarItemsDropped(_Store):
    """Items whose score is 0 or less are not found. Score thresholds."""

    def found(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        return [i for i in super().found(op, conditions, query, now) if i.score is None or i.score > 0]


@faulty("vector", "oceanbase/langchain-oceanbase@1d49e20")
class VectorsAveraged(_Ranking):
    """An item with several vectors has the mean of their scores. Mean pooling."""

    def pool(self, scores: list[float]) -> float:
        return sum(scores) / len(scores)


@faulty("vector", "oceanbase/langchain-oceanbase@1d49e20")
class VectorsSummed(_Ranking):
    """An item with several vectors has the sum of their scores. SUM in place of MAX."""

    def pool(self, scores: list[float]) -> float:
        return sum(scores)


@faulty("vector", "oceanbase/langchain-oceanbase@1d49e20")
class LastVectorScores(_Ranking):
    """An item with several vectors has the score of the last. A vector column, overwritten."""

    def pool(self, scores: list[float]) -> float:
        return scores[-1]


@faulty("vector", "oceanbase/langchain-oceanbase@1d49e20")
class FirstVectorScores(_Ranking):
    """An item with several vectors has the score of the first. DISTINCT ON without an order."""

    def pool(self, scores: list[float]) -> float:
        return scores[0]


@faulty("vector", "oceanbase/langchain-oceanbase@1d49e20")
class WorstVectorScores(_Ranking):
    """An item with several vectors has the score of the worst. MIN of a distance turned round."""

    def pool(self, scores: list[float]) -> float:
        return min(scores)


@faulty("vector", "oceanbase/langchain-oceanbase@1d49e20")
class ItemsFoundOncePerVector(_Ranking):
    """An item with several vectors is found several times. JOIN without GROUP BY."""

    def rows(self, scores: list[float]) -> list[float]:
        return scores


@faulty("vector", "langchain-ai/langgraph#8977")
class VectorsCutBeforeGrouping(_Ranking):
    """Vectors are cut to twice the limit before they are grouped by item and paged. SQL with an inner LIMIT."""

    def rows(self, scores: list[float]) -> list[float]:
        return scores

    def ranked(self, rows: list[SearchItem], op: SearchOp) -> list[SearchItem]:
        best: dict[tuple[_Namespace, str], SearchItem] = {}
        for item in super().ranked(rows, op)[: 2 * op.limit]:
            best.setdefault((item.namespace, item.key), item)
        return list(best.values())


@faulty("vector", "langchain-ai/langchain-aws#1199")
class NearestBeforeFilter(_Store):
    """The nearest are cut to the page's end before the filter, so pages lack items. Post-filtering indexes."""

    def found(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        if query is None:
            return super().found(op, conditions, query, now)
        nearest = super().found(op, [], query, now)[: op.offset + op.limit]
        return [item for item in nearest if _matches(item.value, conditions)]


@faulty("vector", "langchain-ai/langgraph#8478")
class NearestBeforePrefix(_Store):
    """The nearest of the whole store are cut to the page's end before the prefix. Post-filtering indexes."""

    def found(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        if query is None:
            return super().found(op, conditions, query, now)
        depth = len(op.namespace_prefix)
        nearest = super().found(op._replace(namespace_prefix=()), conditions, query, now)[: op.offset + op.limit]
        return [item for item in nearest if item.namespace[:depth] == op.namespace_prefix]


@faulty("vector", "langchain-ai/langgraph#8977")
class NearestCutAtTwenty(_Store):
    """A search with a query never gets beyond the 20 nearest. num_candidates, ef, k of approximate indexes."""

    def found(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        found = super().found(op, conditions, query, now)
        return found if query is None else found[:20]


@faulty("vector", "langchain-ai/langgraph#8478")
class QueryIgnoresPrefix(_Store):
    """A search with a query is in the whole store. Vector search built apart from the rest."""

    def found(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        return super().found(op if query is None else op._replace(namespace_prefix=()), conditions, query, now)


@faulty("vector", "langchain-ai/langchain-aws#1138")
class QueryReachesOneNamespace(_Store):
    """A search with a query finds nothing in deeper namespaces. An index per namespace."""

    def found(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        found = super().found(op, conditions, query, now)
        return [i for i in found if query is None or not op.namespace_prefix or i.namespace == op.namespace_prefix]


@faulty("vector", "langchain-ai/langgraph#8977")
class OffsetIgnoredWithQuery(_Store):
    """A search with a query ignores the offset. k-nearest-neighbour APIs."""

    def page(self, found: list[SearchItem], op: SearchOp) -> list[SearchItem]:
        return super().page(found, op._replace(offset=0) if found and found[0].score is not None else op)


@faulty("vector")
class LimitIgnoredWithQuery(_Store):
    """A search with a query ignores the limit and takes 10. Retriever defaults."""

    def page(self, found: list[SearchItem], op: SearchOp) -> list[SearchItem]:
        return super().page(found, op._replace(limit=10) if found and found[0].score is not None else op)


@faulty("vector", "langchain-ai/langgraphjs@821ae3cf2")
class QueryIgnored(_Store):
    """The query is dropped on the way, so the newest items come first. Arguments not passed on."""

    def rewrite(self, op: Op) -> Op:
        return op._replace(query=None) if isinstance(op, SearchOp) else op


@faulty("vector")
class EmptyQueryRaises(_Store):
    """An empty query raises. Embedding services that refuse empty texts."""

    def rewrite(self, op: Op) -> Op:
        if isinstance(op, SearchOp) and op.query == "" and self.index_config:
            raise RuntimeError("input must not be empty")
        return op


@faulty("vector")
class QueryWithoutIndexRaises(_Store):
    """A query raises where the store has no index. Embedder that is None."""

    def rewrite(self, op: Op) -> Op:
        if isinstance(op, SearchOp) and op.query and not self.index_config:
            raise AttributeError("'NoneType' object has no attribute 'embed_query'")
        return op


@faulty("vector", "langchain-ai/langgraph#2602")
class QueryOverNothingRaises(_Store):
    """A search with a query over no candidates raises. numpy over no rows."""

    def found(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        found = super().found(op, conditions, query, now)
        if query is not None and not found:
            raise ValueError("zero-size array to reduction operation")
        return found


@faulty("vector")
class ScoresMisaligned(_Store):
    """With a filter and a query, items get the scores of those that the filter dropped. Lists zipped too late."""

    def found(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        found = super().found(op, conditions, query, now)
        every = super().found(op, [], query, now)
        return [_scored(item, other.score) for item, other in zip(found, every, strict=False)]


@faulty("vector", "langchain-ai/langgraph#8831")
class TiesChangeOrder(_Ranking):
    """Equal scores come in another order each time, so pages overlap. Parallel scans."""

    def prepare(self) -> None:
        super().prepare()
        self.searches = itertools.count()

    def ranked(self, rows: list[SearchItem], op: SearchOp) -> list[SearchItem]:
        ranked = super().ranked(rows, op)
        turned = ranked[::-1] if next(self.searches) % 2 else ranked
        return sorted(turned, key=lambda item: -(item.score or 0.0))


class _Unindexed(_Store):
    """Finds what a search by query leaves out, too."""

    def rest(
        self, found: list[SearchItem], op: SearchOp, conditions: list[_Condition], now: datetime
    ) -> list[SearchItem]:
        names = {(item.namespace, item.key) for item in found}
        return [i for i in super().found(op, conditions, None, now) if (i.namespace, i.key) not in names]


@faulty("vector", "langchain-ai/langgraph#8871")
class UnindexedItemsFillEachPage(_Unindexed):
    """Items without a vector fill up a page from the first on, so they are repeated. In memory."""

    def prepare(self) -> None:
        self.left: list[SearchItem] = []

    def found(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        found = super().found(op, conditions, query, now)
        self.left = [] if query is None else self.rest(found, op, conditions, now)
        return found

    def page(self, found: list[SearchItem], op: SearchOp) -> list[SearchItem]:
        page = super().page(found, op)
        return page + self.left[: op.limit - len(page)]


@faulty("vector")
class UnindexedItemsScoreBest(_Unindexed):
    """Items without a vector come first, with the score 1. Missing distance read as 0."""

    def found(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        found = super().found(op, conditions, query, now)
        if query is None:
            return found
        return [_scored(item, 1.0) for item in self.rest(found, op, conditions, now)] + found


class _Stale(_Store):
    """Vectors of earlier puts stay."""

    def units(self, namespace: _Namespace, key: str) -> _Floats:
        space = self._spaces.get(namespace)
        if space is None:
            return np.empty((0, self._dims))
        units: _Floats = space.vectors._units[space.vectors._rows.get(key, [])].copy()
        return units


@faulty("vector", "langchain-ai/langgraph#8214")
class VectorsOutliveIndexFalse(_Stale):
    """A put with index=False over an item keeps its old vectors. Vectors in a table of their own."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        kept = units if len(units) else self.units(namespace, key)
        super()._put(namespace, key, put, kept, now)


@faulty("vector", "langchain-ai/langgraph#8757")
class VectorsOfLostPathsStay(_Stale):
    """A put with fewer indexed texts over an item keeps the vectors of those that are gone. Upsert by path."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        old = self.units(namespace, key)
        kept = np.concatenate([units, old[len(units) :]]) if len(units) else units
        super()._put(namespace, key, put, kept, now)


@faulty("vector", "langchain-ai/langgraph#8757")
class VectorsOutliveDelete(_Stale):
    """The vectors of a deleted item attach to a later item of that key without any. No cascade."""

    def prepare(self) -> None:
        self.ghosts: dict[tuple[_Namespace, str], _Floats] = {}

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        if put.value is None and self.lookup(namespace, key):
            self.ghosts[namespace, key] = self.units(namespace, key)
        old = self.ghosts.pop((namespace, key), units) if put.value is not None else units
        super()._put(namespace, key, put, units if len(units) else old, now)


@faulty("vector", "langchain-ai/langgraph#8214")
class VectorsOfTheFirstPutStay(_Stale):
    """A put over an item does not embed it again. ON CONFLICT DO NOTHING in the table of vectors."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        old = self.units(namespace, key)
        super()._put(namespace, key, put, old if len(old) and len(units) else units, now)


@faulty("vector", "langchain-ai/langgraph#8808")
class FieldsIgnored(_Store):
    """The configured fields are ignored and the whole value is embedded. Option of another name."""

    def paths(self, op: PutOp) -> Sequence[str]:
        return ["$"] if op.index is None else super().paths(op)


@faulty("vector", "langchain-ai/langgraph#8808")
class FirstFieldOnly(_Store):
    """Only the first of the configured fields is embedded. One vector column."""

    def paths(self, op: PutOp) -> Sequence[str]:
        return super().paths(op)[:1] if op.index is None else super().paths(op)


@faulty("vector")
class FieldsJoined(_Store):
    """The texts of all fields are joined and embedded as one. One vector column."""

    def _planned_put(self, op: PutOp) -> _Put:
        put = super()._planned_put(op)
        put.texts = [" ".join(put.texts)] if put.texts else []
        return put


@faulty("vector")
class FieldsOfPutIgnored(_Store):
    """The fields that a put names are ignored for the configured ones. Arguments not passed on."""

    def paths(self, op: PutOp) -> Sequence[str]:
        return self._fields


@faulty("vector")
class FieldsOfPutAdded(_Store):
    """The fields that a put names are embedded besides the configured ones. Lists added."""

    def paths(self, op: PutOp) -> Sequence[str]:
        return list(dict.fromkeys([*self._fields, *super().paths(op)]))


@faulty("vector", "langchain-ai/langgraph#9059")
class DollarOfPutIgnored(_Store):
    """index=["$"] of a put embeds nothing. "$" split as a path."""

    def paths(self, op: PutOp) -> Sequence[str]:
        return super().paths(op) if op.index is None else [path for path in super().paths(op) if path != "$"]


@faulty("vector")
class IndexFalseIgnored(_Store):
    """index=False is taken for None, so the item is embedded. `if not index`."""

    def rewrite(self, op: Op) -> Op:
        return op._replace(index=None) if isinstance(op, PutOp) and op.index is False else op


@faulty("vector")
class IndexFalseSentToEmbedder(_Store):
    """An item put with index=False is sent to the embedder, though its vector is not stored. Filter at the end."""

    def _plan(self, ops: Iterable[Op]) -> _Plan:
        plan = super()._plan(ops)
        for op in plan.ops:
            if isinstance(op, PutOp) and op.index is False and op.value is not None and self.index_config:
                for text in self._planned_put(op._replace(index=None)).texts:
                    plan.texts.setdefault(text, len(plan.texts))
        return plan


@faulty("vector")
class NestedPathsNotFollowed(_Store):
    """A path such as "a.b" is a field of that name, so nested texts are not embedded. Flat payloads."""

    def extract(self, value: Any, path: str) -> list[str]:
        return [] if "." in path else super().extract(value, path)


@faulty("vector")
class StarTakesFirstElement(_Store):
    """ "[*]" in a path takes the first element only. JSON_VALUE, first match of a path."""

    def extract(self, value: Any, path: str) -> list[str]:
        return super().extract(value, path.replace("[*]", "[0]"))


@faulty("vector")
class StarJoinsElements(_Store):
    """ "[*]" in a path gives one text of all elements. string_agg."""

    def extract(self, value: Any, path: str) -> list[str]:
        texts = super().extract(value, path)
        return [" ".join(texts)] if "[*]" in path and texts else texts


@faulty("vector")
class ElementsByIndexNotFollowed(_Store):
    """ "[0]" in a path is not understood, so nothing is embedded. Own path parser."""

    def extract(self, value: Any, path: str) -> list[str]:
        return [] if re.search(r"\[\d+\]", path) else super().extract(value, path)


@faulty("vector")
class NegativeIndexNotFollowed(_Store):
    """ "[-1]" in a path is not understood, so nothing is embedded. JSON paths of MySQL, older PostgreSQL."""

    def extract(self, value: Any, path: str) -> list[str]:
        return [] if "[-" in path else super().extract(value, path)


@faulty("vector")
class BracesNotFollowed(_Store):
    """ "{a,b}" in a path is not understood, so nothing is embedded. Own path parser."""

    def extract(self, value: Any, path: str) -> list[str]:
        return [] if "{" in path else super().extract(value, path)


@faulty("vector", "langchain-ai/langgraph#5946")
class FieldThatIsNoTextRaises(_Store):
    """A put raises where an indexed field is a number, a dictionary or None. No check of its type."""

    def extract(self, value: Any, path: str) -> list[str]:
        if path in value and not isinstance(value[path], str):
            raise TypeError(f"expected str, got {type(value[path]).__name__}")
        return super().extract(value, path)


@faulty("vector", "langchain-ai/langgraph#5946")
class FieldThatIsMissingRaises(_Store):
    """A put raises where the value lacks an indexed field. value[field]."""

    def extract(self, value: Any, path: str) -> list[str]:
        if re.fullmatch(r"\w+", path) and path not in value:
            raise KeyError(path)
        return super().extract(value, path)


@faulty("vector", "langchain-ai/langgraph#2534")
class RepeatedTextsShiftVectors(_Store):
    """Where a text occurs twice in a batch, items get each other's vectors. Distinct texts zipped with all items."""

    def _execute(self, plan: _Plan, documents: Sequence[Any], queries: Sequence[Any]) -> list[Result]:
        if len(plan.texts) < sum(len(put.texts) for put in plan.puts.values()):
            documents = [*documents[1:], *documents[:1]]
        return super()._execute(plan, documents, queries)


@faulty("vector", "langchain-ai/langgraph#2534")
class RepeatedTextsRaise(_Store):
    """A text that occurs twice in a batch raises. Counts of texts and vectors compared."""

    def _execute(self, plan: _Plan, documents: Sequence[Any], queries: Sequence[Any]) -> list[Result]:
        count = sum(len(put.texts) for put in plan.puts.values())
        if len(plan.texts) != count:
            raise ValueError(f"{len(documents)} embeddings for {count} texts")
        return super()._execute(plan, documents, queries)


@faulty("vector", "langchain-ai/langgraph#2534")
class VectorsOfABatchInOtherOrder(_Store):
    """The texts of a batch are embedded sorted, but matched to items in their own order. Sets."""

    def _execute(self, plan: _Plan, documents: Sequence[Any], queries: Sequence[Any]) -> list[Result]:
        if len(documents) == len(plan.texts):
            place = {text: i for i, text in enumerate(sorted(plan.texts))}
            documents = [documents[place[text]] for text in plan.texts]
        return super()._execute(plan, documents, queries)


@faulty("vector", "langchain-ai/langgraph#2534")
class QueriesOfABatchShareVector(_Store):
    """All queries of a batch are answered with the vector of the first. Loop variable."""

    def _execute(self, plan: _Plan, documents: Sequence[Any], queries: Sequence[Any]) -> list[Result]:
        return super()._execute(plan, documents, [queries[0]] * len(queries) if len(queries) else queries)


@faulty("vector")
class FailedEmbeddingStoresItem(_Store):
    """Where the embedder fails, the put raises but the item is stored, without a vector. Two steps."""

    def unindexed(self, ops: list[Op]) -> list[Op]:
        return [op._replace(index=False) if isinstance(op, PutOp) else op for op in ops if not isinstance(op, SearchOp)]

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        try:
            return super().batch(ops)
        except Exception:
            super().batch(self.unindexed(ops))
            raise

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        try:
            return await super().abatch(ops)
        except Exception:
            await super().abatch(self.unindexed(ops))
            raise


@faulty("vector")
class FailedEmbeddingIsSilent(_Store):
    """Where the embedder fails, the put succeeds without a vector. Errors logged and swallowed."""

    def unindexed(self, ops: list[Op]) -> list[Op]:
        return [op._replace(index=False) if isinstance(op, PutOp) else op for op in ops]

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        try:
            return super().batch(ops)
        except Exception:
            return super().batch(self.unindexed(ops))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        try:
            return await super().abatch(ops)
        except Exception:
            return await super().abatch(self.unindexed(ops))


@faulty("vector", "langchain-ai/langchain-aws#1208")
class WrongDimensionAccepted(_Store):
    """Embeddings of the wrong dimension are cut or filled up with zeros. Columns without a dimension."""

    def fitted(self, vectors: Sequence[Any]) -> list[list[float]]:
        return [[*map(float, vector), *[0.0] * self._dims][: self._dims] for vector in vectors]

    def _execute(self, plan: _Plan, documents: Sequence[Any], queries: Sequence[Any]) -> list[Result]:
        return super()._execute(plan, self.fitted(documents), self.fitted(queries))


class _Embedder(Embeddings):
    """Passes texts on to another embedder."""

    def __init__(self, inner: Embeddings) -> None:
        self.inner = inner

    def text(self, text: str) -> str:
        return text

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self.inner.embed_documents([self.text(text) for text in texts])

    def embed_query(self, text: str) -> list[float]:
        return self.inner.embed_query(text)

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        return await self.inner.aembed_documents([self.text(text) for text in texts])

    async def aembed_query(self, text: str) -> list[float]:
        return await self.inner.aembed_query(text)


class _Embedding(_Store):
    """A store between which and its embedder something goes wrong."""

    embedder: ClassVar[type[_Embedder]]

    def prepare(self) -> None:
        if self.embeddings is not None:
            self.embeddings = self.embedder(self.embeddings)


class _QueriesAsDocuments(_Embedder):
    def embed_query(self, text: str) -> list[float]:
        return self.inner.embed_documents([text])[0]

    async def aembed_query(self, text: str) -> list[float]:
        return (await self.inner.aembed_documents([text]))[0]


@faulty("vector")
class QueriesEmbeddedAsDocuments(_Embedding):
    """A query is embedded by embed_documents, which some embedders treat otherwise. Embedder wrapped as a function."""

    embedder = _QueriesAsDocuments


class _DocumentsAsQueries(_Embedder):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.inner.embed_query(text) for text in texts]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        return [await self.inner.aembed_query(text) for text in texts]


@faulty("vector")
class DocumentsEmbeddedAsQueries(_Embedding):
    """Items are embedded one at a time by embed_query. One vector at a time."""

    embedder = _DocumentsAsQueries


class _Lowercasing(_Embedder):
    def text(self, text: str) -> str:
        return text.lower()


@faulty("vector")
class TextsLowercasedForEmbedder(_Embedding):
    """Texts of items are embedded in lower case. Cleaners."""

    embedder = _Lowercasing


class _Cutting(_Embedder):
    def text(self, text: str) -> str:
        return text[:256]


@faulty("vector")
class TextsCutForEmbedder(_Embedding):
    """Texts of items are cut after 256 characters before they are embedded. Token limits."""

    embedder = _Cutting


class _Encoding(_Embedder):
    def text(self, text: str) -> str:
        return json.dumps(text)


@faulty("vector")
class TextsEncodedForEmbedder(_Embedding):
    """Texts of items are embedded as JSON, in quotes and with escapes. JSON columns."""

    embedder = _Encoding


class _CachingByStart(_Embedder):
    def __init__(self, inner: Embeddings) -> None:
        super().__init__(inner)
        self.cache: dict[str, list[float]] = {}

    def embed_query(self, text: str) -> list[float]:
        if text[:3] not in self.cache:
            self.cache[text[:3]] = super().embed_query(text)
        return self.cache[text[:3]]

    async def aembed_query(self, text: str) -> list[float]:
        if text[:3] not in self.cache:
            self.cache[text[:3]] = await super().aembed_query(text)
        return self.cache[text[:3]]


@faulty("vector")
class QueriesCachedByTheirStart(_Embedding):
    """Queries that start alike share a vector. Caches with keys cut short."""

    embedder = _CachingByStart


class _SyncInAsync(_Embedder):
    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        return self.inner.embed_documents(texts)

    async def aembed_query(self, text: str) -> list[float]:
        return self.inner.embed_query(text)


@faulty("async", "langchain-ai/langgraph#2017")
class AsyncCallsSyncEmbedder(_Embedding):
    """The async methods call the embedder's sync methods, which block the loop. Code shared by both."""

    embedder = _SyncInAsync


# TTL


@faulty("ttl")
class TtlIsSeconds(_Store):
    """A TTL counts seconds, not minutes. Redis EXPIRE, DynamoDB."""

    def _planned_put(self, op: PutOp) -> _Put:
        put = super()._planned_put(op)
        put.lifetime = put.lifetime and put.lifetime / 60
        return put


@faulty("ttl")
class TtlIsHours(_Store):
    """A TTL counts hours, not minutes. timedelta(hours=...)."""

    def _planned_put(self, op: PutOp) -> _Put:
        put = super()._planned_put(op)
        put.lifetime = put.lifetime and min(put.lifetime, timedelta(days=10000)) * 60
        return put


@faulty("ttl")
class TtlCutToMinutes(_Store):
    """A TTL loses its fraction of a minute. INT columns."""

    def _planned_put(self, op: PutOp) -> _Put:
        return super()._planned_put(op._replace(ttl=float(int(op.ttl))) if op.ttl else op)


@faulty("ttl")
class TtlRoundedUp(_Store):
    """A TTL of less than a minute is a minute. max(1, ...)."""

    def _planned_put(self, op: PutOp) -> _Put:
        return super()._planned_put(op._replace(ttl=max(1.0, op.ttl)) if op.ttl and op.ttl > 0 else op)


@faulty("ttl")
class TtlIgnored(_Store):
    """A TTL is accepted, but nothing ever expires. Option without an implementation."""

    def _planned_put(self, op: PutOp) -> _Put:
        put = super()._planned_put(op)
        put.lifetime = None
        return put


@faulty("ttl", "redis-developer/langgraph-redis#66")
class TtlOfNoneMeansDefault(_Store):
    """put(ttl=None) takes the default TTL instead of none. `ttl or default`."""

    def _planned_put(self, op: PutOp) -> _Put:
        default = (self.ttl_config or {}).get("default_ttl")
        return super()._planned_put(op._replace(ttl=default) if op.ttl is None else op)


@faulty("ttl", "redis-developer/langgraph-redis#66")
class TtlOfNoneDoesNotClear(_Store):
    """A put without a TTL over an item leaves the old expiry in place. UPDATE of given columns only, Redis KEEPTTL."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        old = self.lookup(namespace, key)
        super()._put(namespace, key, put, units, now)
        if old and not old.expired(now) and put.lifetime is None and (record := self.lookup(namespace, key)):
            record.lifetime, record.expires_at = old.lifetime, old.expires_at


@faulty("ttl", "redis-developer/langgraph-redis#66")
class DefaultTtlIgnored(_Store):
    """The default TTL is ignored. Option of another name."""

    def prepare(self) -> None:
        if self.ttl_config:
            self.ttl_config["default_ttl"] = None


@faulty("ttl", "redis-developer/langgraph-redis#66")
class DefaultTtlOverrides(_Store):
    """The default TTL counts even where a put gives its own. Expiry of the collection."""

    def _planned_put(self, op: PutOp) -> _Put:
        default = (self.ttl_config or {}).get("default_ttl")
        return super()._planned_put(op._replace(ttl=default) if op.ttl is not None and default is not None else op)


@faulty("ttl")
class TtlNeedsConfiguration(_Store):
    """The TTL of a put is ignored where the store has no TTL configuration. `if self.ttl_config`."""

    def _planned_put(self, op: PutOp) -> _Put:
        put = super()._planned_put(op)
        put.lifetime = put.lifetime if self.ttl_config else None
        return put


@faulty("ttl")
class TtlOfABatchIsTheFirst(_Store):
    """All puts of a batch get the TTL of the first. One EXPIRE per pipeline."""

    def _plan(self, ops: Iterable[Op]) -> _Plan:
        plan = super()._plan(ops)
        lifetimes = [put.lifetime for put in plan.puts.values() if put.value is not None]
        for put in plan.puts.values():
            put.lifetime = lifetimes[0] if lifetimes else None
        return plan


@faulty("ttl", "langchain-ai/langgraph#5178")
class GetDoesNotRefresh(_Store):
    """A get does not refresh, whatever it is told. Not implemented."""

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        return super()._get(op._replace(refresh_ttl=False), now)


@faulty("ttl", "langchain-ai/langgraph#5178")
class SearchDoesNotRefresh(_Store):
    """A search does not refresh, whatever it is told. Not implemented."""

    def refresh(self, found: list[SearchItem], page: list[SearchItem], now: datetime) -> None:
        return


@faulty("ttl", "langchain-ai/langgraph#5178")
class QueryDoesNotRefresh(_Store):
    """A search with a query does not refresh. Vector search built apart from the rest."""

    def refresh(self, found: list[SearchItem], page: list[SearchItem], now: datetime) -> None:
        super().refresh(found, [item for item in page if item.score is None], now)


@faulty("ttl")
class SearchRefreshesFirstItem(_Store):
    """A search refreshes only the first item that it returns. Loop that returns early."""

    def refresh(self, found: list[SearchItem], page: list[SearchItem], now: datetime) -> None:
        super().refresh(found, page[:1], now)


@faulty("ttl")
class SearchRefreshesBeyondPage(_Store):
    """A search refreshes the items that limit and offset left out as well. UPDATE with the WHERE of the search."""

    def refresh(self, found: list[SearchItem], page: list[SearchItem], now: datetime) -> None:
        super().refresh(found, found, now)


@faulty("ttl")
class SearchRefreshesWhatFilterDropped(_Store):
    """A search refreshes the items that its filter left out as well. UPDATE with half the WHERE of the search."""

    def _search(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        if op.refresh_ttl and conditions:
            self.refresh([], self.found(op, [], None, now), now)
        return super()._search(op, conditions, query, now)


@faulty("ttl")
class GetRefreshesNamespace(_Store):
    """A get refreshes all items of the namespace. Expiry of one hash per namespace, half a WHERE."""

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        item = super()._get(op, now)
        if item is not None and op.refresh_ttl:
            for record in self._spaces[op.namespace].records.values():
                if not record.expired(now):
                    record.start_timer(now)
        return item


@faulty("ttl")
class BatchRefreshesIfAnyDoes(_Store):
    """All gets of a batch refresh where one of them shall. any(...) over the operations."""

    def _execute(self, plan: _Plan, documents: Sequence[Any], queries: Sequence[Any]) -> list[Result]:
        if any(isinstance(op, GetOp) and op.refresh_ttl for op in plan.ops):
            plan.ops = [op._replace(refresh_ttl=True) if isinstance(op, GetOp) else op for op in plan.ops]
        return super()._execute(plan, documents, queries)


@faulty("ttl")
class RefreshTakesDefault(_Store):
    """A refreshing read gives an item the default TTL in place of its own. TTL not stored with the item."""

    def renewed(self, record: _Record, now: datetime) -> None:
        default = (self.ttl_config or {}).get("default_ttl")
        if default is not None and record.lifetime is not None:
            record.expires_at = now + _minutes(default)

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        item = super()._get(op, now)
        if item is not None and op.refresh_ttl:
            self.renewed(self.record(item), now)
        return item

    def refresh(self, found: list[SearchItem], page: list[SearchItem], now: datetime) -> None:
        super().refresh(found, page, now)
        for item in page:
            self.renewed(self.record(item), now)


@faulty("ttl")
class RefreshGivesImmortalItemsDefault(_Store):
    """A refreshing get gives the default TTL to an item that was put without one. TTL not stored with the item."""

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        item = super()._get(op, now)
        default = (self.ttl_config or {}).get("default_ttl")
        if item is not None and op.refresh_ttl and default is not None and self.record(item).lifetime is None:
            self.record(item).expires_at = now + _minutes(default)
        return item


@faulty("ttl", "redis-developer/langgraph-redis#95")
class RefreshOnlyNearTheEnd(_Store):
    """A read refreshes only when less than a quarter of the TTL is left. Thresholds that save writes."""

    def early(self, record: _Record | None, now: datetime) -> bool:
        return bool(record and record.expires_at and record.lifetime and record.expires_at - now > record.lifetime / 4)

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        early = self.early(self.lookup(op.namespace, op.key), now)
        return super()._get(op._replace(refresh_ttl=False) if early else op, now)

    def refresh(self, found: list[SearchItem], page: list[SearchItem], now: datetime) -> None:
        super().refresh(found, [item for item in page if not self.early(self.record(item), now)], now)


@faulty("ttl")
class RefreshAddsUp(_Store):
    """A refreshing get adds the TTL to the expiry there is, not to the time now. expires_at + ttl."""

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        item = super()._get(op._replace(refresh_ttl=False), now)
        if item is not None and op.refresh_ttl:
            record = self.record(item)
            if record.expires_at and record.lifetime:
                record.expires_at += record.lifetime
        return item


@faulty("ttl")
class RefreshMakesImmortal(_Store):
    """A refreshing get ends the expiry for good. SET without EX, PERSIST."""

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        item = super()._get(op, now)
        if item is not None and op.refresh_ttl:
            self.record(item).lifetime = self.record(item).expires_at = None
        return item


@faulty("ttl", "redis-developer/langgraph-redis#95")
class RefreshFalseIgnored(_Store):
    """refresh_ttl=False is ignored, so every read refreshes. `refresh_ttl or default`."""

    def rewrite(self, op: Op) -> Op:
        return op._replace(refresh_ttl=True) if isinstance(op, (GetOp, SearchOp)) else op


@faulty("ttl", "redis-developer/langgraph-redis#95")
class RefreshTrueIgnored(_Store):
    """refresh_ttl=True is ignored where refresh_on_read is off. `refresh_ttl and default`."""

    def rewrite(self, op: Op) -> Op:
        on = (self.ttl_config or {}).get("refresh_on_read", True)
        return op._replace(refresh_ttl=op.refresh_ttl and on) if isinstance(op, (GetOp, SearchOp)) else op


@faulty("ttl", "redis-developer/langgraph-redis#95")
class RefreshOnReadIgnored(_Store):
    """refresh_on_read=False is ignored, so reads refresh unless told otherwise. Option of another name."""

    def prepare(self) -> None:
        if self.ttl_config:
            self.ttl_config["refresh_on_read"] = True


@faulty("ttl", "redis-developer/langgraph-redis#95")
class RefreshIsOffByDefault(_Store):
    """Reads do not refresh unless refresh_on_read is set. `.get("refresh_on_read", False)`."""

    def prepare(self) -> None:
        if self.ttl_config is not None:
            self.ttl_config.setdefault("refresh_on_read", False)


@faulty("ttl")
class PutDoesNotRestartTimer(_Store):
    """A put over an item leaves the expiry that it had. Expiry set on insert only."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        old = self.lookup(namespace, key)
        super()._put(namespace, key, put, units, now)
        record = self.lookup(namespace, key)
        if old and not old.expired(now) and old.expires_at and record and record.expires_at:
            record.expires_at = old.expires_at


@faulty("ttl")
class ExpiryOutlivesDelete(_Store):
    """An item put after a delete has the expiry of the deleted one. Expiries in a table of their own."""

    def prepare(self) -> None:
        self.expiries: dict[tuple[_Namespace, str], datetime] = {}

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        old = self.lookup(namespace, key)
        super()._put(namespace, key, put, units, now)
        record = self.lookup(namespace, key)
        if put.value is None and old and old.expires_at:
            self.expiries[namespace, key] = old.expires_at
        elif record and not old:
            record.expires_at = self.expiries.pop((namespace, key), record.expires_at)


@faulty("ttl", "langchain-ai/langgraph#8903")
class ExpiryIsOffByAnHour(_Store):
    """Items expire an hour late. Local time compared with UTC."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        super()._put(namespace, key, put, units, now)
        if (record := self.lookup(namespace, key)) and record.expires_at and record.expires_at.year < 9999:
            record.expires_at += timedelta(hours=1)


@faulty("ttl")
class TtlOfZeroMeansForever(_Store):
    """A TTL of 0 never ends. `if ttl:`."""

    def _planned_put(self, op: PutOp) -> _Put:
        return super()._planned_put(op if op.ttl else op._replace(ttl=None))


@faulty("ttl")
class TtlShortensWithEachPut(_Store):
    """The TTL counts from created_at, so a later put does not start it anew. created_at + ttl."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        super()._put(namespace, key, put, units, now)
        if (record := self.lookup(namespace, key)) and record.lifetime and record.lifetime < timedelta(days=10000):
            record.expires_at = record.created_at + record.lifetime


@faulty("ttl", "langchain-ai/langgraph#8902")
class ExpiredItemsGettable(_Store):
    """A get returns an expired item until it is swept, though a search does not. Check left out of one path."""

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        record = self.lookup(op.namespace, op.key)
        return super()._get(op, _LONG_AGO) if record and record.expired(now) else super()._get(op, now)


@faulty("ttl", "langchain-ai/langgraph#8902")
class ExpiredItemsFound(_Store):
    """A search returns expired items until they are swept, though a get does not. Check left out of one path."""

    def found(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        return super().found(op, conditions, query, _LONG_AGO)


@faulty("ttl", "redis-developer/langgraph-redis#66")
class ExpiredVectorsFound(_Store):
    """A search with a query returns expired items until they are swept. Vectors without an expiry."""

    def found(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        return super().found(op, conditions, query, now if query is None else _LONG_AGO)


@faulty("ttl", "langchain-ai/langgraph#8902")
class ExpiredNamespacesListed(_Store):
    """Namespaces whose items have all expired are listed until they are swept. Check left out of one path."""

    def living(self, now: datetime) -> list[_Namespace]:
        return super().living(_LONG_AGO)


@faulty("ttl")
class ExpiredItemsTakePlaces(_Store):
    """Expired items count for limit and offset, and are dropped then. Check after LIMIT."""

    def _search(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        page = self.page(self.found(op, conditions, query, _LONG_AGO), op)
        live = [item for item in page if not self.record(item).expired(now)]
        if op.refresh_ttl:
            self.refresh(live, live, now)
        return live


@faulty("ttl")
class GetRevivesExpired(_Store):
    """A get of an expired item returns None, but refreshes it, so the next one finds it. Refresh before the check."""

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        item = super()._get(op, now)
        record = self.lookup(op.namespace, op.key)
        if item is None and record and op.refresh_ttl and record.lifetime and record.lifetime > timedelta(0):
            record.start_timer(now)
        return item


@faulty("ttl")
class SweepDeletesAllWithTtl(_Store):
    """A sweep deletes everything that has an expiry. WHERE expires_at IS NOT NULL."""

    def sweep_ttl(self) -> int:
        with self._lock:
            doomed = [record for record in self.records() if record.expires_at]
            for record in doomed:
                self._remove(record.namespace, record.key)
            return len(doomed)


@faulty("ttl")
class SweepDeletesNamespace(_Store):
    """A sweep deletes the whole namespace of an expired item. Half a WHERE."""

    def sweep_ttl(self) -> int:
        with self._lock:
            doomed = [record for record in self.records() if record.expired(self._now())]
            for record in doomed:
                self._spaces.pop(record.namespace, None)
            return len(doomed)


@faulty("ttl")
class SweepCountsNothing(_Store):
    """A sweep returns 0, whatever it deleted. rowcount read too late."""

    def sweep_ttl(self) -> int:
        return super().sweep_ttl() * 0


@faulty("ttl")
class SweepCountsEverything(_Store):
    """A sweep returns how many items there were, not how many it deleted. Count of the wrong statement."""

    def sweep_ttl(self) -> int:
        count = sum(1 for _ in self.records())
        super().sweep_ttl()
        return count


@faulty("ttl")
class SweepStopsAtTen(_Store):
    """A sweep deletes and counts ten items at most. LIMIT of a batch."""

    def sweep_ttl(self) -> int:
        with self._lock:
            doomed = [record for record in self.records() if record.expired(self._now())][:10]
            for record in doomed:
                self._remove(record.namespace, record.key)
            return len(doomed)


@faulty("ttl")
class SweepDeletesNothing(_Store):
    """A sweep counts expired items, but leaves them. Missing commit."""

    def sweep_ttl(self) -> int:
        return sum(record.expired(self._now()) for record in self.records())


@faulty("ttl")
class SweeperNeverRuns(_Store):
    """The sweeper is started, but never sweeps. Task that nobody keeps."""

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> Future[None]:
        return Future()


@faulty("ttl")
class SweeperIgnoresInterval(_Store):
    """The sweeper waits 5 minutes, whatever interval it is given. Arguments not passed on."""

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> Future[None]:
        return super().start_ttl_sweeper(5.0)


@faulty("ttl")
class SweeperCannotBeStopped(_Store):
    """stop_ttl_sweeper returns True, but the sweeper goes on. Flag that the thread never reads."""

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        return True


@faulty("lifecycle", "langchain-ai/langgraph#8589")
class SweeperOutlivesClose(_Store):
    """Closing the store leaves the sweeper running. No __exit__."""

    def close(self) -> None:
        return


@faulty("lifecycle", "langchain-ai/langgraph#8589")
class SweeperStartsTwice(_Store):
    """A second start makes a second sweeper, and only that one can be stopped. No check."""

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> Future[None]:
        self._sweeper = None
        return super().start_ttl_sweeper(sweep_interval_minutes)


# Async


@faulty("async")
class AsyncWriteReturnsEarly(_Store):
    """An async put returns before it is done. Fire and forget."""

    def prepare(self) -> None:
        self.writing: set[asyncio.Task[None]] = set()

    async def later(self, ops: list[Op]) -> None:
        await asyncio.sleep(0.05)
        await super().abatch(ops)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        self._plan(ops)
        puts = [op for op in ops if isinstance(op, PutOp)]
        if puts:
            task = asyncio.create_task(self.later(list(puts)))
            self.writing.add(task)
            task.add_done_callback(self.writing.discard)
        reads = iter(await super().abatch([op for op in ops if not isinstance(op, PutOp)]))
        return [None if isinstance(op, PutOp) else next(reads) for op in ops]


class _Async(_Store):
    """Operations are changed on the async path only."""

    def arewrite(self, op: Op) -> Op:
        raise NotImplementedError

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await super().abatch([self.arewrite(op) for op in ops])


@faulty("async")
class AsyncSearchIgnoresFilter(_Async):
    """An async search ignores its filter. Twins by hand."""

    def arewrite(self, op: Op) -> Op:
        return op._replace(filter=None) if isinstance(op, SearchOp) else op


@faulty("async")
class AsyncSearchIgnoresOffset(_Async):
    """An async search ignores its offset. Twins by hand."""

    def arewrite(self, op: Op) -> Op:
        return op._replace(offset=0) if isinstance(op, SearchOp) else op


@faulty("async", "langchain-ai/langgraphjs@821ae3cf2")
class AsyncSearchIgnoresQuery(_Async):
    """An async search ignores its query. Twins by hand."""

    def arewrite(self, op: Op) -> Op:
        return op._replace(query=None) if isinstance(op, SearchOp) else op


@faulty("async")
class AsyncListIgnoresMaxDepth(_Async):
    """An async list of namespaces ignores max_depth. Twins by hand."""

    def arewrite(self, op: Op) -> Op:
        return op._replace(max_depth=None) if isinstance(op, ListNamespacesOp) else op


@faulty("async")
class AsyncPutIgnoresTtl(_Async):
    """An async put ignores its TTL. Twins by hand."""

    def arewrite(self, op: Op) -> Op:
        return op._replace(ttl=None) if isinstance(op, PutOp) else op


@faulty("async")
class AsyncPutIgnoresIndex(_Async):
    """An async put embeds the configured fields, whatever index says. Twins by hand."""

    def arewrite(self, op: Op) -> Op:
        return op._replace(index=None) if isinstance(op, PutOp) else op


@faulty("async")
class AsyncReadsDoNotRefresh(_Async):
    """Async reads do not refresh. Twins by hand."""

    def arewrite(self, op: Op) -> Op:
        return op._replace(refresh_ttl=False) if isinstance(op, (GetOp, SearchOp)) else op


@faulty("async")
class AsyncDeleteDoesNothing(_Store):
    """An async delete does nothing. Coroutine that is not awaited."""

    async def adelete(self, namespace: _Namespace, key: str) -> None:
        await self.aget(namespace, key, refresh_ttl=False)


@faulty("async", "langchain-ai/langgraph#2017")
class AsyncBatchMendsLabels(_Async):
    """abatch splits labels with a period that batch refuses. Validation in the sync twin."""

    def arewrite(self, op: Op) -> Op:
        if isinstance(op, (GetOp, PutOp)) and all(isinstance(label, str) for label in op.namespace):
            return op._replace(namespace=tuple(part for label in op.namespace for part in label.split(".") if part))
        return op


@faulty("async", "langchain-ai/langgraph#8590")
class AsyncBatchIsNotAtomic(_Store):
    """abatch does its puts one by one, so one that fails leaves those before it. gather over single operations."""

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        reads = iter(await super().abatch([op for op in ops if not isinstance(op, PutOp)]))
        results: list[Result] = []
        for op in ops:
            results.append((await super().abatch([op]))[0] if isinstance(op, PutOp) else next(reads))
        return results


@faulty("async", "langchain-ai/langgraph#2534")
class AsyncBatchResultsOutOfOrder(_Store):
    """abatch returns results in the order in which they are ready, searches last. as_completed."""

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        results = await super().abatch(ops)
        order = sorted(range(len(ops)), key=lambda i: isinstance(ops[i], (SearchOp, ListNamespacesOp)))
        return [results[i] for i in order]


@faulty("async")
class AsyncGetsCoalescedByKey(_Store):
    """Gets of one key at the same time are answered by one, whatever their namespaces. Request coalescing."""

    def prepare(self) -> None:
        self.asking: dict[str, asyncio.Future[Item | None]] = {}

    async def aget(self, namespace: _Namespace, key: str, *, refresh_ttl: bool | None = None) -> Item | None:
        if key in self.asking:
            return await self.asking[key]
        future = self.asking[key] = asyncio.get_running_loop().create_future()
        try:
            await asyncio.sleep(0)
            item = await super().aget(namespace, key, refresh_ttl=refresh_ttl)
            future.set_result(item)
            return item
        finally:
            del self.asking[key]
            future.cancel()


@faulty("async", "langchain-ai/langgraph#5503")
class AsyncCancelledCallerStopsAll(_Store):
    """A caller who is cancelled takes the worker along, and later calls hang. Batching in the background."""

    def prepare(self) -> None:
        self.queue: list[tuple[list[Op], asyncio.Future[list[Result]]]] = []
        self.draining = False

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        future: asyncio.Future[list[Result]] = asyncio.get_running_loop().create_future()
        self.queue.append((list(ops), future))
        if not self.draining:
            self.draining = True
            await asyncio.sleep(0)
            while self.queue:
                queued, waiting = self.queue.pop(0)
                try:
                    results = await super().abatch(queued)
                except Exception as error:
                    waiting.set_exception(error)
                else:
                    waiting.set_result(results)
            self.draining = False
        return await future


@faulty("async")
class AsyncWritesLost(_Store):
    """Async puts to one namespace at the same time lose each other's items. Files read, changed and written back."""

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        touched = {op.namespace for op in ops if isinstance(op, PutOp)}
        before = {name: set(self._spaces[name].records) for name in touched if name in self._spaces}
        self._plan(ops)
        if touched:
            await asyncio.sleep(0)
        for name in touched & set(self._spaces):
            for key in set(self._spaces[name].records) - before.get(name, set()):
                self._remove(name, key)
        return await super().abatch(ops)


@faulty("async", "langchain-ai/langchain-aws#754")
class AsyncBlocksTheLoop(_Store):
    """Async calls wait for the backend without letting the loop go on. Sync clients."""

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        time.sleep(0.02)
        return await super().abatch(ops)


@faulty("async", "langchain-ai/langgraph#6693")
class AsyncBoundToFirstLoop(_Store):
    """A store that was used in one event loop does not work in another. Locks and clients made on first use."""

    def prepare(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        running = asyncio.get_running_loop()
        self.loop = self.loop or running
        if self.loop is not running:
            raise RuntimeError("the client is bound to a different event loop")
        return await super().abatch(ops)


@faulty("async", "langchain-ai/langgraph#8722")
class AsyncBatchNotImplemented(_Store):
    """abatch handles all operations but ListNamespacesOp, for which it raises NotImplementedError. Half a store."""

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        if any(isinstance(op, ListNamespacesOp) for op in ops):
            raise NotImplementedError
        return await super().abatch(ops)


# Threads


@faulty("threads", "langchain-ai/langgraph#8340")
class ConcurrentInsertsRaise(_Store):
    """Two inserts of one item at the same time raise. SELECT and INSERT without an upsert."""

    def prepare(self) -> None:
        self.inserting: set[tuple[_Namespace, str]] = set()

    def claim(self, ops: list[Op]) -> set[tuple[_Namespace, str]]:
        self._plan(ops)
        new = {(op.namespace, str(op.key)) for op in ops if isinstance(op, PutOp) and op.value is not None}
        new = {name for name in new if not self.lookup(*name)}
        if new & self.inserting:
            raise RuntimeError("duplicate key value violates unique constraint")
        self.inserting |= new
        return new

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        with self._lock:
            new = self.claim(ops)
        try:
            if new:
                time.sleep(0.001)
            return super().batch(ops)
        finally:
            self.inserting -= new

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        with self._lock:
            new = self.claim(ops)
        try:
            if new:
                await asyncio.sleep(0)
            return await super().abatch(ops)
        finally:
            self.inserting -= new


@faulty("threads")
class ThreadsLoseWrites(_Store):
    """Puts of two threads to one namespace lose each other's items. Files read, changed and written back."""

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        self._plan(ops)
        touched = {op.namespace for op in ops if isinstance(op, PutOp)}
        with self._lock:
            before = {name: set(self._spaces[name].records) for name in touched if name in self._spaces}
        if touched:
            time.sleep(0.001)
        with self._lock:
            for name in touched & set(self._spaces):
                for key in set(self._spaces[name].records) - before.get(name, set()):
                    self._remove(name, key)
            return super().batch(ops)


@faulty("threads", "langchain-ai/langgraph#5675")
class ThreadsShareCursor(_Store):
    """A thread may get the results of another's call. One cursor for all."""

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        self.rows = super().batch(ops)
        time.sleep(0.001)
        return self.rows


@faulty("threads")
class OtherThreadsRefused(_Store):
    """Sync calls from another thread than the one that made the store raise. sqlite3's check_same_thread."""

    def prepare(self) -> None:
        self.thread = threading.get_ident()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        if threading.get_ident() != self.thread:
            raise RuntimeError("objects created in a thread can only be used in that same thread")
        return super().batch(ops)


@faulty("threads", "langchain-ai/langgraph#5675")
class ErrorPoisonsTheNextCalls(_Store):
    """After a call that failed all others fail. Aborted transaction that is not rolled back."""

    def prepare(self) -> None:
        self.aborted = False

    def _plan(self, ops: Iterable[Op]) -> _Plan:
        if self.aborted:
            raise RuntimeError("current transaction is aborted, commands are ignored")
        try:
            return super()._plan(ops)
        except Exception:
            self.aborted = True
            raise


@faulty("threads")
class ErrorKeepsTheLock(_Store):
    """After a call that failed all others hang. Lock released only on success."""

    def prepare(self) -> None:
        self.gate = threading.Lock()

    def _plan(self, ops: Iterable[Op]) -> _Plan:
        self.gate.acquire()
        plan = super()._plan(ops)
        self.gate.release()
        return plan


# Life cycle


@faulty("lifecycle")
class CloseRaises(_Store):
    """Closing the store raises. Connection closed twice."""

    def close(self) -> None:
        super().close()
        raise RuntimeError("the connection is closed")


@faulty("lifecycle")
class ErrorsWithinContextVanish(_Store):
    """An error within `with store:` is swallowed. __exit__ that returns True."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        return cast(None, True)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await super().__aexit__(kind, error, trace)
        return cast(None, True)


@faulty("lifecycle", "langchain-ai/langgraph#8722")
class ListNamespacesNotImplemented(_Store):
    """list_namespaces raises NotImplementedError, sync and async. Half a store."""

    def _plan(self, ops: Iterable[Op]) -> _Plan:
        plan = super()._plan(ops)
        if any(isinstance(op, ListNamespacesOp) for op in plan.ops):
            raise NotImplementedError
        return plan


@faulty("lifecycle")
class ListNamespacesHangs(_Store):
    """list_namespaces never returns. Cursor that waits for a page that does not come."""

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        if any(isinstance(op, ListNamespacesOp) for op in ops):
            threading.Event().wait()
        return super().batch(ops)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        if any(isinstance(op, ListNamespacesOp) for op in ops):
            await asyncio.Event().wait()
        return await super().abatch(ops)


@faulty("lifecycle")
class StoresShareItems(_Store):
    """Two stores that should have nothing in common share their items. Class attributes, default arguments."""

    shared: ClassVar[dict[int, dict[_Namespace, _Space]]] = {}

    def prepare(self) -> None:
        self._spaces = self.shared.setdefault(self._dims, {})


# What callers, nodes and storages meet


@faulty("vector")
class DeletedItemsFoundByVector(_Stale):
    """A search with a query finds deleted items. Vectors in a storage of their own, with the values."""

    def prepare(self) -> None:
        self.ghosts: dict[tuple[_Namespace, str], tuple[SearchItem, _Floats]] = {}

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        old = self.lookup(namespace, key)
        if put.value is None and old:
            self.ghosts[namespace, key] = old.search_item(None), self.units(namespace, key)
        elif put.value is not None:
            self.ghosts.pop((namespace, key), None)
        super()._put(namespace, key, put, units, now)

    def found(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        found = super().found(op, conditions, query, now)
        if query is None:
            return found
        depth = len(op.namespace_prefix)
        ghosts = [
            _scored(item, float((units @ query).max()))
            for (namespace, _), (item, units) in self.ghosts.items()
            if len(units) and namespace[:depth] == op.namespace_prefix and _matches(item.value, conditions)
        ]
        return sorted([*found, *ghosts], key=lambda item: -(item.score or 0.0))


@faulty("vector")
class IndexNeedsConfiguration(_Store):
    """A put with `index` raises where the store has no index. Early checks."""

    def rewrite(self, op: Op) -> Op:
        if isinstance(op, PutOp) and op.index is not None and not self.index_config:
            raise ValueError("the store has no index")
        return op


@faulty("ttl", "langchain-ai/langgraph#8896")
class RefreshCutToMinutes(_Store):
    """A refresh takes the TTL in whole minutes, so one of less ends the item. make_interval with an integer."""

    def restart(self, record: _Record | None, now: datetime) -> None:
        if record and record.lifetime:
            record.expires_at = now + timedelta(minutes=record.lifetime // timedelta(minutes=1))

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        item = super()._get(op, now)
        if item and op.refresh_ttl:
            self.restart(self.lookup(op.namespace, op.key), now)
        return item

    def refresh(self, found: list[SearchItem], page: list[SearchItem], now: datetime) -> None:
        for item in page:
            self.restart(self.record(item), now)


@faulty("ttl")
class RefreshTouchesUpdatedAt(_Store):
    """A refresh moves updated_at. Triggers, one UPDATE for all."""

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        item = super()._get(op, now)
        record = self.lookup(op.namespace, op.key)
        if item and op.refresh_ttl and record and record.lifetime:
            record.updated_at = now
        return item


@faulty("ttl")
class LongTtlOverflows(_Store):
    """The milliseconds of a TTL are kept in 32 bits, so that one of weeks is over at once. INTEGER columns."""

    def _planned_put(self, op: PutOp) -> _Put:
        put = super()._planned_put(op)
        if put.lifetime is not None:
            milliseconds = int(put.lifetime.total_seconds() * 1000)
            put.lifetime = timedelta(milliseconds=(milliseconds + 2**31) % 2**32 - 2**31)
        return put


@faulty("ttl")
class ExpiryIsLocalTime(_Store):
    """The expiry is written in local time and compared with UTC. Naive datetimes."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        super()._put(namespace, key, put, units, now)
        record = self.lookup(namespace, key)
        if record and record.expires_at:
            record.expires_at += datetime.now().astimezone().utcoffset() or timedelta()


@faulty("ttl")
class SweepDeletesImmortalItems(_Store):
    """A sweep deletes what has no expiry as well. NULL taken for 0, missing fields for old ones."""

    def sweep_ttl(self) -> int:
        with self._lock:
            now = self._now()
            doomed = [record for record in self.records() if record.expires_at is None or record.expired(now)]
            for record in doomed:
                self._remove(record.namespace, record.key)
            return len(doomed)


@faulty("ttl")
class TtlSticks(_Store):
    """A put without a TTL gets that of the put before. A variable set outside of the loop, settings of a session."""

    def prepare(self) -> None:
        self.given: timedelta | None = None

    def _planned_put(self, op: PutOp) -> _Put:
        put = super()._planned_put(op)
        self.given = put.lifetime = put.lifetime or self.given
        return put


@faulty("ttl")
class SweepStopsAtHundred(ExpiredItemsFound):
    """A sweep deletes a hundred items at most, and searches find the others. DELETE with a LIMIT."""

    def sweep_ttl(self) -> int:
        with self._lock:
            doomed = [record for record in self.records() if record.expired(self._now())][:100]
            for record in doomed:
                self._remove(record.namespace, record.key)
            return len(doomed)


@faulty("ttl", "langchain-ai/langgraph#8757")
class SweepLeavesVectors(VectorsOutliveDelete):
    """After a sweep, a later item without a vector has the one of the swept item of its key. No cascade."""

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        old = self.ghosts.pop((namespace, key), units) if put.value is not None else units
        _Stale._put(self, namespace, key, put, units if len(units) else old, now)

    def sweep_ttl(self) -> int:
        with self._lock:
            expired = [record for record in self.records() if record.expired(self._now())]
            for record in expired:
                self.ghosts[record.namespace, record.key] = self.units(record.namespace, record.key)
            return super().sweep_ttl()


@faulty("ttl")
class SupportsTtlIsFalse(_Store):
    """supports_ttl is False, though a put with a TTL is taken, and the item expires. Attribute forgotten."""

    supports_ttl = False

    def operation(
        self,
        namespace: _Namespace,
        key: str,
        value: dict[str, Any],
        index: _Index,
        ttl: float | NotProvided | None,
    ) -> PutOp:
        default = (self.ttl_config or {}).get("default_ttl")
        return PutOp(namespace, str(key), value, index, default if isinstance(ttl, NotProvided) else ttl)

    def put(
        self,
        namespace: _Namespace,
        key: str,
        value: dict[str, Any],
        index: _Index = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
    ) -> None:
        self.batch([self.operation(namespace, key, value, index, ttl)])

    async def aput(
        self,
        namespace: _Namespace,
        key: str,
        value: dict[str, Any],
        index: _Index = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
    ) -> None:
        await self.abatch([self.operation(namespace, key, value, index, ttl)])


@faulty("filter")
class FilterIsEmptied(_Store):
    """A search takes the operators out of the filter that it is given. pop() of each condition."""

    def rewrite(self, op: Op) -> Op:
        if not isinstance(op, SearchOp) or not op.filter:
            return op
        taken: dict[str, Any] = {}
        for name, condition in op.filter.items():
            taken[name] = dict(condition) if isinstance(condition, dict) else condition
            if isinstance(condition, dict) and len(condition) > 1:
                condition.clear()
        return op._replace(filter=taken)


@faulty("put")
class MappingsRefused(_Store):
    """A value must be a dict: other mappings are refused. isinstance() checks, JSON encoders."""

    def rewrite(self, op: Op) -> Op:
        if isinstance(op, PutOp) and op.value is not None and not isinstance(op.value, dict):
            raise TypeError(f"a value must be a dict, got {type(op.value).__name__}")
        return op


class _Named(_Store):
    """The single methods change the labels that they are given, before anything checks them."""

    def mend(self, method: str, namespace: Any) -> Any:
        return namespace

    def get(self, namespace: _Namespace, key: str, *, refresh_ttl: bool | None = None) -> Item | None:
        return super().get(self.mend("get", namespace), key, refresh_ttl=refresh_ttl)

    async def aget(self, namespace: _Namespace, key: str, *, refresh_ttl: bool | None = None) -> Item | None:
        return await super().aget(self.mend("get", namespace), key, refresh_ttl=refresh_ttl)

    def put(
        self,
        namespace: _Namespace,
        key: str,
        value: dict[str, Any],
        index: _Index = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
    ) -> None:
        super().put(self.mend("put", namespace), key, value, index, ttl=ttl)

    async def aput(
        self,
        namespace: _Namespace,
        key: str,
        value: dict[str, Any],
        index: _Index = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
    ) -> None:
        await super().aput(self.mend("put", namespace), key, value, index, ttl=ttl)


def _split(namespace: Any) -> Any:
    """Labels with a period as two, and no empty ones."""
    if not isinstance(namespace, tuple):
        return namespace
    parts = tuple(part for label in namespace for part in str(label).split(".") if part)
    return parts or namespace


@faulty("labels")
class NulInLabelsDropped(_Named):
    """A put drops NUL characters in labels instead of refusing them. Cleaning before an INSERT."""

    def mend(self, method: str, namespace: Any) -> Any:
        if method != "put" or not isinstance(namespace, tuple):
            return namespace
        return tuple(label.replace("\0", "") if isinstance(label, str) else label for label in namespace)


@faulty("labels")
class GetSplitsLabels(_Named):
    """A get takes a label with a period for two, and drops empty ones. Paths that are split."""

    def mend(self, method: str, namespace: Any) -> Any:
        return _split(namespace) if method == "get" else namespace


@faulty("labels")
class BatchSplitsLabels(_Store):
    """A batch takes a label with a period for two, and drops empty ones: only the single methods check. SQL."""

    def rewrite(self, op: Op) -> Op:
        if isinstance(op, (GetOp, PutOp)):
            return op._replace(namespace=_split(op.namespace))
        if isinstance(op, SearchOp):
            return op._replace(namespace_prefix=_split(op.namespace_prefix))
        if isinstance(op, ListNamespacesOp):
            conditions = tuple(c._replace(path=_split(c.path)) for c in op.match_conditions or ())
            return op._replace(match_conditions=conditions)
        return op


@faulty("labels")
class LanggraphReservedEverywhere(_Store):
    """A put refuses every label that begins with "langgraph", in any case. Tables of that name."""

    def rewrite(self, op: Op) -> Op:
        reserved = isinstance(op, PutOp) and _sound(op.namespace)
        if reserved and any(label.lower().startswith("langgraph") for label in op.namespace):
            raise InvalidNamespaceError(f"a label is reserved: {op.namespace!r}")
        return op


@faulty("aliasing")
class ItemsAreCached(_Store):
    """Gets of an item give one object, though its value is a copy. Caches of objects, weak references."""

    def prepare(self) -> None:
        self.items: dict[tuple[_Namespace, str], Item] = {}

    def shown(self, item: _I) -> _I:
        if isinstance(item, SearchItem):
            return item
        kept = self.items.setdefault((item.namespace, item.key), item)
        kept.value, kept.created_at, kept.updated_at = item.value, item.created_at, item.updated_at
        return cast(_I, kept)


@faulty("values")
class SearchRaisesOnWhatIsNoUnicode(_Store):
    """A search raises where it finds a text with half of a surrogate pair, which a put took. UTF-8 on read."""

    def page(self, found: list[SearchItem], op: SearchOp) -> list[SearchItem]:
        page = super().page(found, op)
        for item in page:
            json.dumps(item.value, ensure_ascii=False).encode()
        return page


@faulty("get")
class FirstPutIsLost(_Store):
    """The first put to a new store is lost. The table is made by it, or a buffer is."""

    def prepare(self) -> None:
        self.seen = False

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        if self.seen:
            super()._put(namespace, key, put, units, now)
        self.seen = True


@faulty("lifecycle")
class SetupTwiceRaises(_Store):
    """A second setup() raises. CREATE TABLE without IF NOT EXISTS."""

    def prepare(self) -> None:
        self.is_set_up = False

    def setup(self) -> None:
        """Sets the storage up."""
        if self.is_set_up:
            raise RuntimeError("the table exists already")
        self.is_set_up = True


@faulty("async")
class CancelledCallerTakesOthersAlong(_Store):
    """Async calls wait for a connection together, and one that is cancelled cancels them all. A shared task."""

    def prepare(self) -> None:
        self.connecting: asyncio.Task[None] | None = None

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        if self.connecting is None or self.connecting.done():
            self.connecting = asyncio.get_running_loop().create_task(asyncio.sleep(0))
        await self.connecting
        return await super().abatch(ops)


@faulty("async")
class ArgumentsHaveOtherNames(_Store):
    """The methods take their arguments under names of their own. Ports from another language."""

    def get(self, path: _Namespace, id: str, *, refresh_ttl: bool | None = None) -> Item | None:
        return super().get(path, id, refresh_ttl=refresh_ttl)

    async def aget(self, path: _Namespace, id: str, *, refresh_ttl: bool | None = None) -> Item | None:
        return await super().aget(path, id, refresh_ttl=refresh_ttl)


@faulty("async")
class AsyncReadsOfASyncStoreRaise(_Store):
    """Of the async methods, which are not implemented, only the writes say so. Stubs of a sync store."""

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        if any(isinstance(op, PutOp) for op in ops):
            raise NotImplementedError
        raise RuntimeError("there is no async connection")


@faulty("async")
class ErrorSpoilsTheOtherMode(_Store):
    """After a call that failed, those of the other mode fail, until one of its own went well. Open transactions."""

    def prepare(self) -> None:
        self.failed_in: str | None = None

    def enter(self, mode: str) -> None:
        if self.failed_in not in (None, mode):
            raise RuntimeError("the transaction of another call is aborted")

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        self.enter("sync")
        self.failed_in = "sync"
        results = super().batch(ops)
        self.failed_in = None
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        self.enter("async")
        self.failed_in = "async"
        results = await super().abatch(ops)
        self.failed_in = None
        return results


@faulty("async")
class SyncCallInTheLoopHangs(_Store):
    """A sync call within an event loop waits for that loop. run_coroutine_threadsafe(...).result()."""

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        with contextlib.suppress(RuntimeError):
            asyncio.get_running_loop()
            threading.Event().wait()
        return super().batch(ops)


# Durability


class _Disk:
    """A provider: when a storage is opened again, something in it is lost.

    All stores over a storage share it, so that what one stores the others see, until it is opened again.
    """

    store: ClassVar[type[_Stale]] = _Stale

    def __init__(self) -> None:
        self.index: IndexConfig | None = None
        self.ttl: TTLConfig | None = None
        self.last = self.store()

    def open(self, index: IndexConfig | None = None, ttl: TTLConfig | None = None) -> ReferenceStore:
        """A store over a new storage."""
        self.index, self.ttl = index, ttl
        self.last = self.store(index=index, ttl=ttl)
        return self.last

    def reopen(self) -> ReferenceStore:
        """One more store over the storage of the last one."""
        old, new = self.last, self.store(index=self.index, ttl=self.ttl)
        kept = [
            (self.read(dataclasses.replace(record), new), self.read_units(old.units(record.namespace, record.key)))
            for record in self.kept(old)
        ]
        new._spaces, new._sequence, new._lock = old._spaces, old._sequence, old._lock
        new._spaces.clear()
        for row, units in kept:
            space = new._spaces.setdefault(row.namespace, _Space(new._dims))
            space.records[row.key] = row
            space.vectors.replace(row, units)
        self.last = new
        return new

    def rows(self) -> list[Any]:
        """What is stored: each item with its vectors."""
        return [(record, self.last.units(record.namespace, record.key)) for record in self.last.records()]

    def kept(self, old: _Stale) -> Iterable[_Record]:
        """What was stored."""
        return old.records()

    def read(self, row: _Record, new: _Stale) -> _Record:
        """What is read of it."""
        return row

    def read_units(self, units: _Floats) -> _Floats:
        return units


@faulty("durability", "langchain-ai/langgraph#3762")
class PutsAreNotCommitted(_Disk):
    """Items are lost when the storage is opened again. SQL without a commit."""

    def kept(self, old: _Stale) -> Iterable[_Record]:
        return ()


class _Remembering(_Stale):
    """Remembers what was overwritten or deleted, by whether the new value is None."""

    def prepare(self) -> None:
        self.before: dict[tuple[_Namespace, str, bool], _Record] = {}

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        old = self.lookup(namespace, key)
        super()._put(namespace, key, put, units, now)
        if old:
            self.before.setdefault((namespace, key, put.value is None), old)
        if put.value is not None:
            self.before.pop((namespace, key, True), None)


@faulty("durability", "langchain-ai/langgraph#3762")
class DeletesAreNotCommitted(_Disk):
    """Deleted items are back when the storage is opened again. SQL that commits after puts only."""

    store = _Remembering

    def kept(self, old: _Stale) -> Iterable[_Record]:
        before = cast(_Remembering, old).before
        return [*old.records(), *(record for (_, _, deleted), record in before.items() if deleted)]


@faulty("durability", "langchain-ai/langgraph#3762")
class OverwritesAreNotCommitted(_Disk):
    """Overwritten items have their first value again when the storage is opened again. Files written once."""

    store = _Remembering

    def kept(self, old: _Stale) -> Iterable[_Record]:
        before = cast(_Remembering, old).before
        return [before.get((record.namespace, record.key, False), record) for record in old.records()]


class _Buffering(_Stale):
    """Knows what the last batch put."""

    def prepare(self) -> None:
        self.buffered: set[tuple[_Namespace, str]] = set()

    def _execute(self, plan: _Plan, documents: Sequence[Any], queries: Sequence[Any]) -> list[Result]:
        if plan.puts:
            self.buffered = set(plan.puts)
        return super()._execute(plan, documents, queries)


@faulty("durability", "langchain-ai/langgraph#3762")
class LastBatchIsNotFlushed(_Disk):
    """What was put last is lost when the storage is opened again. Buffers."""

    store = _Buffering

    def kept(self, old: _Stale) -> Iterable[_Record]:
        buffered = cast(_Buffering, old).buffered
        return [record for record in old.records() if (record.namespace, record.key) not in buffered]


class _CountingBatches(_Stale):
    """Knows which items were put by larger batches and are not the first there."""

    def prepare(self) -> None:
        self.later: set[tuple[_Namespace, str]] = set()

    def _execute(self, plan: _Plan, documents: Sequence[Any], queries: Sequence[Any]) -> list[Result]:
        self.later = (self.later - set(plan.puts)) | set(list(plan.puts)[1:])
        return super()._execute(plan, documents, queries)


@faulty("durability", "langchain-ai/langgraph#3762")
class OnlyFirstPutOfABatchIsCommitted(_Disk):
    """Of the puts of a batch only the first is there when the storage is opened again. Commit within the loop."""

    store = _CountingBatches

    def kept(self, old: _Stale) -> Iterable[_Record]:
        later = cast(_CountingBatches, old).later
        return [record for record in old.records() if (record.namespace, record.key) not in later]


class _KnowingAsync(_Stale):
    """Knows which items were put by the async methods."""

    def prepare(self) -> None:
        self.uncommitted: set[tuple[_Namespace, str]] = set()

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        results = await super().abatch(ops)
        self.uncommitted |= {(op.namespace, str(op.key)) for op in ops if isinstance(op, PutOp)}
        return results


@faulty("durability", "langchain-ai/langgraph#3762")
class AsyncPutsAreNotCommitted(_Disk):
    """Items put by the async methods are lost when the storage is opened again. Commit in the sync twin only."""

    store = _KnowingAsync

    def kept(self, old: _Stale) -> Iterable[_Record]:
        uncommitted = cast(_KnowingAsync, old).uncommitted
        return [record for record in old.records() if (record.namespace, record.key) not in uncommitted]


@faulty("durability", "langchain-ai/langgraphjs#1996")
class VectorsAreNotKept(_Disk):
    """A query finds nothing when the storage is opened again. Vector indexes in memory."""

    def read_units(self, units: _Floats) -> _Floats:
        return units[:0]


@faulty("durability", "langchain-ai/langgraphjs#1996")
class ExpiryIsNotKept(_Disk):
    """Items do not expire any more when the storage is opened again. Timers in memory."""

    def read(self, row: _Record, new: _Stale) -> _Record:
        row.lifetime = row.expires_at = None
        return row


@faulty("durability", "langchain-ai/langgraphjs#1996")
class ExpiryStartsAgain(_Disk):
    """Items have their whole TTL again when the storage is opened again. Timers in memory, TTLs on disk."""

    def read(self, row: _Record, new: _Stale) -> _Record:
        row.start_timer(new._now())
        return row


@faulty("durability", "langchain-ai/langgraphjs#1996")
class RefreshIsNotKept(_Disk):
    """Reads do not refresh items any more when the storage is opened again. Expiry on disk, TTLs in memory."""

    def read(self, row: _Record, new: _Stale) -> _Record:
        row.lifetime = None
        return row


@faulty("durability", "langchain-ai/langgraphjs#1996")
class TimesAreOfTheReopening(_Disk):
    """Items have the time of the opening for their times when the storage is opened again. Defaults on load."""

    def read(self, row: _Record, new: _Stale) -> _Record:
        row.created_at = row.updated_at = new._now()
        return row


@faulty("durability", "langchain-ai/langgraphjs#1996")
class CreatedAtIsNotKept(_Disk):
    """created_at is updated_at when the storage is opened again. Times of files."""

    def read(self, row: _Record, new: _Stale) -> _Record:
        row.created_at = row.updated_at
        return row


@faulty("durability", "langchain-ai/langgraphjs#1996")
class LabelsAreReadFromPaths(_Disk):
    """A label with a slash is two when the storage is opened again. Paths of files."""

    def read(self, row: _Record, new: _Stale) -> _Record:
        row.namespace = tuple(part for label in row.namespace for part in label.split("/") if part) or row.namespace
        return row


@faulty("durability", "langchain-ai/langgraphjs#1996")
class ValuesAreReadLossily(_Disk):
    """Numbers in values are texts when the storage is opened again. Files of text behind a cache."""

    def read(self, row: _Record, new: _Stale) -> _Record:
        row.value = {k: _deep(v, lambda part: str(part) if _is_number(part) else part) for k, v in row.value.items()}
        return row


class _Caching(_Stale):
    """Keeps what a get gave."""

    def prepare(self) -> None:
        self.cache: dict[tuple[_Namespace, str], Item | None] = {}

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        if (op.namespace, op.key) not in self.cache:
            self.cache[op.namespace, op.key] = super()._get(op, now)
        kept = self.cache[op.namespace, op.key]
        return kept and Item(**{**kept.dict(), "value": _plain(kept.value)})

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        self.cache.pop((namespace, key), None)
        super()._put(namespace, key, put, units, now)


@faulty("durability")
class PutsOfOthersAreNotSeen(_Disk):
    """A store that has read an item does not see what another one over the storage puts there. Caches per process."""

    store = _Caching


@faulty("durability")
class DeletedRowsStay(_Disk):
    """What was deleted or replaced stays in the storage, though no call shows it. Deletion marks, old versions."""

    store = _Remembering

    def rows(self) -> list[Any]:
        return [*super().rows(), *cast(_Remembering, self.last).before.values()]


# With a clock that is moved


class Moved:
    """A provider of a faulty store whose clock is moved, so that what it does with TTLs shows at once.

    It has one drive: the sweepers' real seconds would pass for each.

    Args:
        name: of the faulty store.
        drive: ``sync`` or ``async``.
    """

    def __init__(self, name: str, drive: str) -> None:
        lacking = {"batch": _refuse} if drive == "async" else {"abatch": _arefuse}
        self.factory: Any = type(name, (cast(type, FAULTY[name].factory),), lacking)
        self.now = datetime.now(timezone.utc)

    def open(self, index: IndexConfig | None = None, ttl: TTLConfig | None = None) -> ReferenceStore:
        """A store whose clock is this provider's."""
        store: ReferenceStore = self.factory(index=index, ttl=ttl, clock=lambda: self.now)
        return store

    def advance(self, seconds: float) -> None:
        """Moves the clock of all stores."""
        self.now += timedelta(seconds=seconds)


def _refuse(self: ReferenceStore, ops: Iterable[Op]) -> list[Result]:
    raise NotImplementedError


async def _arefuse(self: ReferenceStore, ops: Iterable[Op]) -> list[Result]:
    raise NotImplementedError
