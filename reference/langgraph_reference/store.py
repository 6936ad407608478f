"""`ReferenceStore`: the contract of LangGraph stores as running code.

It is written to be read in one sitting and to be believed: where official stores disagree, or where the base class
leaves a choice, the docstring of the class says what this one does. Everything is kept in memory.
"""

from __future__ import annotations

import heapq
import itertools
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from types import TracebackType
from typing import Any

import numpy as np
from langgraph.store.base import (
    BaseStore,
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
    ensure_embeddings,
    get_text_at_path,
    tokenize_path,
)
from numpy.typing import NDArray

__all__ = ["ReferenceStore"]

_Namespace = tuple[str, ...]
_Floats = NDArray[np.float64]

_DEFAULT_SWEEP_MINUTES = 5.0
"""What the official stores take when a sweeper is started and no interval is given anywhere."""

_SCORE_DECIMALS = 12
"""A matrix product may add up equal rows in different orders; without rounding, equal vectors would not tie."""


class ReferenceStore(BaseStore):
    """A store that does what the contract says, in memory, sync and async in one class, safe under threads.

    Items
        A value is any mapping with text keys whose contents are JSON: None, bool, int of any size, float (-0.0, NaN
        and infinities included), str, list, dict. It is stored as JSON would return it, so tuples become lists and
        subclasses their plain type. Anything else raises `TypeError`. Nothing is shared with callers in either
        direction. `created_at` stays on update and is new after a delete or an expiry; only a put moves `updated_at`.

    Batches
        Reads see the state before the batch's puts; the last put of an item wins. A batch is checked and embedded as a
        whole before it changes anything, so one that raises has changed nothing. Labels of namespaces are checked in
        every operation; keys are passed through `str`. An unknown kind of operation raises `ValueError`.

    Filters
        Conditions are ANDed. A field is a literal top-level key, dots and all. Every condition needs the field to
        exist: `{"k": None}` and `{"k": {"$ne": 1}}` do not match an item without `k`. Equality is deep and by type:
        True is not 1, 1 is 1.0, NaN is nothing. `$gt`, `$gte`, `$lt`, `$lte` compare numbers with numbers (exactly,
        whatever their size) and text with text (by code point); anything else does not match and does not raise. A
        condition that is a dictionary with a key starting with `$` holds operators only: an unknown one raises
        `ValueError`, whatever the store contains.

    Search
        Without a query: newest `updated_at` first, later puts before earlier ones of the same instant; `score` is None.
        With a query and an index: cosine of the query and the item's best vector, highest first, ties by namespace
        then key; items without a vector are left out. Prefix, filter and expiry apply before limit and offset, so
        pages are complete. A zero vector scores 0. `query=""`, and a query without an index, is no query. A negative
        limit or offset raises `ValueError`.

    Namespaces
        Only those that hold an item are listed, sorted label by label. `*` stands for any one label in
        `list_namespaces` (so a label `*` cannot be asked for there) and for itself in `search`.

    TTL
        An expired item is never returned nor listed, `omit_expired` or not; it stays in memory until it is swept,
        deleted or replaced. An item lives while the time is before its last put or refreshing read plus its own TTL;
        a TTL of 0 or less is over at once. A search refreshes what it returned, not what limit and offset left out.
        An operation built by hand says for itself: `PutOp.ttl=None` never expires, `GetOp.refresh_ttl` is as given.
        The sweeper has the form of the synchronous stores (it is a thread, `sweep_ttl` returns a number); the official
        asynchronous stores have coroutines of the same names, which one class cannot offer too.

    Args:
        index: Turns vector search on: `dims`, `embed` (an `Embeddings` object, a function, an async function or a
            provider string) and `fields` (paths to embed; the whole value when there are none).
        ttl: `default_ttl` in minutes, `refresh_on_read` (True unless set), `sweep_interval_minutes`.
        clock: Gives the time now, timezone-aware. Expiry and timestamps follow it; the sweeper's interval is real time.

    Raises:
        ValueError: If `index` lacks `embed`, or `dims` of at least 1.
    """

    supports_ttl = True

    def __init__(
        self,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        self.index_config: IndexConfig | None = index.copy() if index else None
        self.ttl_config: TTLConfig | None = ttl.copy() if ttl is not None else None
        self.embeddings = ensure_embeddings(self.index_config.get("embed")) if self.index_config else None
        self._dims = self.index_config.get("dims", 0) if self.index_config else 0
        if self.index_config and self._dims < 1:
            raise ValueError(f"index needs 'dims' of at least 1, got {self._dims!r}")
        self._fields = (self.index_config.get("fields") if self.index_config else None) or ["$"]
        self._clock = clock or _utc_now
        self._lock = threading.RLock()
        self._spaces: dict[_Namespace, _Space] = {}
        self._sequence = itertools.count()
        self._sweeper: _Sweeper | None = None

    # Operations. The base class turns get, put, search, delete and list_namespaces into batches of one.

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Executes `ops`, all or nothing; one result per operation, in their order.

        Raises:
            InvalidNamespaceError: If a label is empty, not text, or contains a period or NUL.
            TypeError: If a namespace is not a tuple, or a value is not a mapping of JSON values.
            ValueError: If an operation, filter operator or match type is unknown, a limit, offset or depth is
                negative, or an embedding is not `dims` finite numbers. Errors of the embedder are passed on.
        """
        plan = self._plan(ops)
        documents: Sequence[Sequence[float]] = []
        queries: list[Sequence[float]] = []
        if self.embeddings is not None:
            if plan.texts:
                documents = self.embeddings.embed_documents(list(plan.texts))
            queries = [self.embeddings.embed_query(query) for query in plan.queries]
        return self._execute(plan, documents, queries)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Does what `batch` does, with the embedder's asynchronous methods; nothing else in it waits."""
        plan = self._plan(ops)
        documents: Sequence[Sequence[float]] = []
        queries: list[Sequence[float]] = []
        if self.embeddings is not None:
            if plan.texts:
                documents = await self.embeddings.aembed_documents(list(plan.texts))
            queries = [await self.embeddings.aembed_query(query) for query in plan.queries]
        return self._execute(plan, documents, queries)

    def _plan(self, ops: Iterable[Op]) -> _Plan:
        """Checks every operation and copies what must be stored; everything that can be wrong is found here."""
        plan = _Plan()
        for op in ops:
            if isinstance(op, GetOp):
                _check_namespace(op.namespace)
                plan.ops.append(op._replace(key=str(op.key)))
            elif isinstance(op, SearchOp):
                _check_namespace(op.namespace_prefix)
                _check_page(op.limit, op.offset)
                plan.ops.append(op)
                plan.conditions[len(plan.ops) - 1] = _conditions(op.filter)
                if self._is_vector_search(op):
                    plan.queries.setdefault(op.query or "", len(plan.queries))
            elif isinstance(op, ListNamespacesOp):
                _check_list(op)
                plan.ops.append(op)
            elif isinstance(op, PutOp):
                _check_namespace(op.namespace)
                plan.ops.append(op)
                # Taken out first, so that the item stands where its last put does: equal times are sorted by that.
                plan.puts.pop((op.namespace, str(op.key)), None)
                plan.puts[op.namespace, str(op.key)] = self._planned_put(op)
            else:
                raise ValueError(f"unknown operation: {type(op).__name__}")
        for text in itertools.chain.from_iterable(put.texts for put in plan.puts.values()):
            plan.texts.setdefault(text, len(plan.texts))
        return plan

    def _planned_put(self, op: PutOp) -> _Put:
        if op.value is None:
            return _Put(None, None, [])
        if not isinstance(op.value, Mapping):
            raise TypeError(f"a value must be a mapping, got {type(op.value).__name__}")
        if isinstance(op.index, str):
            raise TypeError(f"index must be a list of paths, got the text {op.index!r}")
        value = _plain(op.value)
        texts: list[str] = []
        if self.index_config and op.index is not False:
            for path in self._fields if op.index is None else op.index:
                # "$" is the whole value only as a path; as a token it would be a key of that name.
                texts += get_text_at_path(value, path if path == "$" else tokenize_path(path))
        ttl: float | NotProvided | None = op.ttl
        if isinstance(ttl, NotProvided):
            ttl = (self.ttl_config or {}).get("default_ttl")
        return _Put(value, None if ttl is None else _minutes(ttl), texts)

    def _execute(self, plan: _Plan, documents: Sequence[Any], queries: Sequence[Any]) -> list[Result]:
        document_units = _unit_rows(documents, len(plan.texts), self._dims)
        query_units = _unit_rows(queries, len(plan.queries), self._dims)
        with self._lock:
            now = self._now()
            results: list[Result] = []
            for i, op in enumerate(plan.ops):
                if isinstance(op, GetOp):
                    results.append(self._get(op, now))
                elif isinstance(op, SearchOp):
                    unit = query_units[plan.queries[op.query or ""]] if self._is_vector_search(op) else None
                    results.append(self._search(op, plan.conditions[i], unit, now))
                elif isinstance(op, ListNamespacesOp):
                    results.append(self._list(op, now))
                else:
                    results.append(None)
            for (namespace, key), put in plan.puts.items():
                self._put(namespace, key, put, document_units[[plan.texts[text] for text in put.texts]], now)
            return results

    def _is_vector_search(self, op: SearchOp) -> bool:
        return bool(op.query) and self.index_config is not None

    def _get(self, op: GetOp, now: datetime) -> Item | None:
        space = self._spaces.get(op.namespace)
        record = space.records.get(op.key) if space else None
        if record is None or record.expired(now):
            return None
        if op.refresh_ttl:
            record.start_timer(now)
        return record.item()

    def _search(
        self, op: SearchOp, conditions: list[_Condition], query: _Floats | None, now: datetime
    ) -> list[SearchItem]:
        depth = len(op.namespace_prefix)
        spaces = [space for name, space in self._spaces.items() if name[:depth] == op.namespace_prefix]
        end = op.offset + op.limit

        def wanted(record: _Record) -> bool:
            return not record.expired(now) and _matches(record.value, conditions)

        found: list[tuple[_Record, float | None]]
        if query is None:
            records = filter(wanted, itertools.chain.from_iterable(space.records.values() for space in spaces))
            newest = heapq.nlargest(end, records, key=lambda record: (record.updated_at, record.sequence))
            found = [(record, None) for record in newest]
        else:
            found = list(_nearest(spaces, query, wanted, end))
        page = found[op.offset : end]
        if op.refresh_ttl:
            for record, _ in page:
                record.start_timer(now)
        return [record.search_item(score) for record, score in page]

    def _list(self, op: ListNamespacesOp, now: datetime) -> list[_Namespace]:
        names = {
            name[: op.max_depth]
            for name, space in self._spaces.items()
            if all(_name_matches(name, condition) for condition in op.match_conditions or ())
            and not all(record.expired(now) for record in space.records.values())
        }
        return sorted(names)[op.offset : op.offset + op.limit]

    def _put(self, namespace: _Namespace, key: str, put: _Put, units: _Floats, now: datetime) -> None:
        if put.value is None:
            self._remove(namespace, key)
            return
        space = self._spaces.setdefault(namespace, _Space(self._dims))
        old = space.records.get(key)
        record = _Record(
            namespace=namespace,
            key=key,
            value=put.value,
            created_at=now if old is None or old.expired(now) else old.created_at,
            updated_at=now,
            sequence=next(self._sequence),
            lifetime=put.lifetime,
        )
        record.start_timer(now)
        space.records[key] = record
        space.vectors.replace(record, units)

    def _remove(self, namespace: _Namespace, key: str) -> None:
        space = self._spaces.get(namespace)
        if space is None or space.records.pop(key, None) is None:
            return
        space.vectors.remove(key)
        if not space.records:
            del self._spaces[namespace]

    def _now(self) -> datetime:
        return self._clock().astimezone(timezone.utc)

    # TTL

    def sweep_ttl(self) -> int:
        """Deletes all expired items and returns how many those were."""
        with self._lock:
            now = self._now()
            expired = [
                (record.namespace, record.key)
                for space in self._spaces.values()
                for record in space.records.values()
                if record.expired(now)
            ]
            for namespace, key in expired:
                self._remove(namespace, key)
            return len(expired)

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> Future[None]:
        """Starts a thread that calls `sweep_ttl` every `sweep_interval_minutes` of real time.

        Without an interval it takes that of the TTL configuration, else 5 minutes. A second start changes nothing. The
        thread ends with `stop_ttl_sweeper`, `close`, the end of the context, or the store's own.

        Returns:
            A future that is done when the thread is; cancelling it stops the thread. Where the store has no TTL
            configuration there is no thread and the future is done, as in the official stores.

        Raises:
            ValueError: If the interval is not more than 0.
        """
        configured = (self.ttl_config or {}).get("sweep_interval_minutes")
        minutes = next((m for m in (sweep_interval_minutes, configured) if m is not None), _DEFAULT_SWEEP_MINUTES)
        if not minutes > 0:
            raise ValueError(f"the sweep interval must be more than 0 minutes, got {minutes}")
        with self._lock:
            if self.ttl_config is None:
                done: Future[None] = Future()
                done.set_result(None)
                return done
            if self._sweeper is None or not self._sweeper.running():
                self._sweeper = _Sweeper(self, minutes * 60)
            return self._sweeper.future

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Stops the sweeper, waits up to `timeout` seconds (None: as long as it takes), and says whether it has ended.

        It is also True where none was running.
        """
        # Not under the lock: the thread may need it to finish its last sweep.
        sweeper = self._sweeper
        return sweeper is None or sweeper.stop(timeout)

    # Life cycle

    def close(self) -> None:
        """Stops the sweeper. The items stay: they live as long as the object."""
        self.stop_ttl_sweeper()

    def __enter__(self) -> ReferenceStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> ReferenceStore:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


# What is stored


@dataclass(eq=False)
class _Record:
    """One item. Its value is replaced as a whole, never changed."""

    namespace: _Namespace
    key: str
    value: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    sequence: int
    lifetime: timedelta | None
    expires_at: datetime | None = None

    def start_timer(self, now: datetime) -> None:
        if self.lifetime is not None:
            self.expires_at = _later(now, self.lifetime)

    def expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    def item(self) -> Item:
        return Item(
            value=_plain(self.value),
            key=self.key,
            namespace=self.namespace,
            created_at=self.created_at,
            updated_at=self.updated_at,
        )

    def search_item(self, score: float | None) -> SearchItem:
        return SearchItem(
            namespace=self.namespace,
            key=self.key,
            value=_plain(self.value),
            created_at=self.created_at,
            updated_at=self.updated_at,
            score=score,
        )


class _Vectors:
    """The vectors of one namespace: rows of unit length in one array, so that a search is one matrix product."""

    def __init__(self, dims: int) -> None:
        self._units: _Floats = np.empty((0, dims))
        self._rows: dict[str, list[int]] = {}
        """Which rows belong to each key."""
        self.owners: list[_Record] = []
        """Which record each row belongs to."""

    def remove(self, key: str) -> None:
        # From the end, so that the last row, which fills the gap, is never another one of this key.
        for row in sorted(self._rows.pop(key, ()), reverse=True):
            last = len(self.owners) - 1
            owner = self.owners.pop()
            if row != last:
                self._units[row] = self._units[last]
                self.owners[row] = owner
                rows = self._rows[owner.key]
                rows[rows.index(last)] = row

    def replace(self, record: _Record, units: _Floats) -> None:
        """Makes `units`, which may be none, the vectors of the item that `record` now is."""
        self.remove(record.key)
        if not len(units):
            return
        start, end = len(self.owners), len(self.owners) + len(units)
        if end > len(self._units):
            grown: _Floats = np.empty((max(end, 2 * len(self._units)), self._units.shape[1]))
            grown[:start] = self._units[:start]
            self._units = grown
        self._units[start:end] = units
        self._rows[record.key] = list(range(start, end))
        self.owners += [record] * len(units)

    def cosines(self, unit: _Floats) -> _Floats:
        """The cosine of each row and `unit`; a zero vector has 0 with everything."""
        products: _Floats = self._units[: len(self.owners)] @ unit
        return products


class _Space:
    """One namespace. It exists while it holds a record."""

    def __init__(self, dims: int) -> None:
        self.records: dict[str, _Record] = {}
        self.vectors = _Vectors(dims)


@dataclass
class _Put:
    """A checked `PutOp`: the value to store (None deletes), how long it lives, and the texts that represent it."""

    value: dict[str, Any] | None
    lifetime: timedelta | None
    texts: list[str]


@dataclass
class _Plan:
    """A checked batch."""

    ops: list[Op] = field(default_factory=list)
    puts: dict[tuple[_Namespace, str], _Put] = field(default_factory=dict)
    conditions: dict[int, list[_Condition]] = field(default_factory=dict)
    """The filter of each search, by its place in `ops`."""
    texts: dict[str, int] = field(default_factory=dict)
    """Each different text to embed, and its place among them."""
    queries: dict[str, int] = field(default_factory=dict)
    """Each different query to embed, and its place among them."""


def _plain(value: Any) -> Any:
    """A copy of `value` as JSON would return it, except that numbers stay exact."""
    if value is None or isinstance(value, bool):
        return value
    # Through the base type: a subclass (an Enum, say) may have its own idea of conversion.
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, (list, tuple)):
        return [_plain(element) for element in value]
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("a stored dictionary must have text keys only")
        return {str.__str__(key): _plain(element) for key, element in value.items()}
    raise TypeError(f"a stored value must be JSON, got {type(value).__name__}")


# Vector search


def _unit_rows(vectors: Sequence[Any], count: int, dims: int) -> _Floats:
    """The embeddings as rows of length 1 (or 0); `ValueError` unless they are `count` times `dims` finite numbers."""
    if not count and not len(vectors):
        return np.empty((0, dims))
    rows: _Floats = np.asarray(vectors, dtype=np.float64)
    if rows.shape != (count, dims):
        raise ValueError(f"the embedder must give {count} vector(s) of {dims} dimensions, got the shape {rows.shape}")
    if not np.isfinite(rows).all():
        raise ValueError("the embedder must give finite numbers")
    # The largest component first: the square of a very large or small one would leave the range of floats.
    rows = rows / _or_one(np.abs(rows).max(axis=1, keepdims=True))
    return rows / _or_one(np.linalg.norm(rows, axis=1, keepdims=True))


def _or_one(sizes: _Floats) -> _Floats:
    return np.where(sizes == 0.0, 1.0, sizes)


def _nearest(
    spaces: list[_Space], unit: _Floats, wanted: Callable[[_Record], bool], count: int
) -> list[tuple[_Record, float]]:
    """The `count` best of the records that are `wanted`, each once, with the score of its best vector."""
    spaces = [space for space in spaces if space.vectors.owners]
    if not spaces or not count:
        return []
    owners = list(itertools.chain.from_iterable(space.vectors.owners for space in spaces))
    cosines = np.concatenate([space.vectors.cosines(unit) for space in spaces])
    # Adding 0.0 makes -0.0 plain.
    scores: _Floats = np.clip(cosines, -1.0, 1.0).round(_SCORE_DECIMALS) + 0.0
    best: dict[_Record, float] = {}
    lowest = 0.0
    for row in np.argsort(-scores):
        score = float(scores[row])
        # Everything that ties with the last one counted is needed, since ties are then put in order.
        if len(best) >= count and score < lowest:
            break
        record = owners[row]
        if record not in best and wanted(record):
            best[record] = lowest = score
    return sorted(best.items(), key=lambda hit: (-hit[1], hit[0].namespace, hit[0].key))[:count]


# Filters

_Condition = tuple[str, Callable[[Any, Any], bool], Any]
"""A field, how to compare its value, and with what."""


def _conditions(filter: Mapping[str, Any] | None) -> list[_Condition]:
    found: list[_Condition] = []
    for name, condition in (filter or {}).items():
        if not isinstance(condition, Mapping) or not any(str(key).startswith("$") for key in condition):
            found.append((name, _equal, condition))
            continue
        for operator, operand in condition.items():
            if operator not in _OPERATORS:
                raise ValueError(f"unknown filter operator {operator!r}; there are {', '.join(_OPERATORS)}")
            found.append((name, _OPERATORS[operator], operand))
    return found


def _matches(value: dict[str, Any], conditions: list[_Condition]) -> bool:
    return all(name in value and compare(value[name], operand) for name, compare, operand in conditions)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(_equal(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(_equal, left, right))
    if _is_number(left) and _is_number(right):
        return bool(left == right)
    return type(left) is type(right) and isinstance(left, (str, bool, type(None))) and left == right


def _comparable(left: Any, right: Any) -> bool:
    return (_is_number(left) and _is_number(right)) or (isinstance(left, str) and isinstance(right, str))


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": _equal,
    "$ne": lambda value, operand: not _equal(value, operand),
    "$gt": lambda value, operand: _comparable(value, operand) and value > operand,
    "$gte": lambda value, operand: _comparable(value, operand) and value >= operand,
    "$lt": lambda value, operand: _comparable(value, operand) and value < operand,
    "$lte": lambda value, operand: _comparable(value, operand) and value <= operand,
}


# Namespaces


def _check_namespace(namespace: _Namespace) -> None:
    if not isinstance(namespace, tuple):
        raise TypeError(f"a namespace must be a tuple, got {type(namespace).__name__}")
    _check_labels(namespace)


def _check_labels(path: Iterable[object]) -> None:
    # The base class checks its methods' arguments; not in all versions does it check what a batch holds.
    for label in path:
        if not isinstance(label, str):
            raise InvalidNamespaceError(f"a namespace label must be text, got {label!r} in {path!r}")
        if not label or "." in label or "\x00" in label:
            raise InvalidNamespaceError(
                f"a namespace label must not be empty nor contain a period or NUL, got {label!r} in {path!r}"
            )


def _check_page(limit: int, offset: int) -> None:
    if limit < 0 or offset < 0:
        raise ValueError(f"limit and offset must not be negative, got {limit} and {offset}")


def _check_list(op: ListNamespacesOp) -> None:
    _check_page(op.limit, op.offset)
    if op.max_depth is not None and op.max_depth < 0:
        raise ValueError(f"max_depth must not be negative, got {op.max_depth}")
    for condition in op.match_conditions or ():
        if condition.match_type not in ("prefix", "suffix"):
            raise ValueError(f"unknown match type {condition.match_type!r}; there are prefix and suffix")
        _check_labels(condition.path)


def _name_matches(name: _Namespace, condition: MatchCondition) -> bool:
    path = condition.path
    if len(path) > len(name):
        return False
    part = name[: len(path)] if condition.match_type == "prefix" else name[len(name) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))


# Time


def _utc_now() -> datetime:
    return datetime.now(timezone.utc)


def _minutes(ttl: float) -> timedelta:
    """`ttl` minutes, to the microsecond; what is too long for a `timedelta` is the longest there is."""
    try:
        return timedelta(minutes=ttl)
    except OverflowError:
        return timedelta.max if ttl > 0 else timedelta.min


def _later(now: datetime, lifetime: timedelta) -> datetime:
    try:
        return now + lifetime
    except OverflowError:
        return (datetime.max if lifetime > timedelta(0) else datetime.min).replace(tzinfo=timezone.utc)


class _Sweeper:
    """A thread that sweeps a store now and then, and does not keep it alive."""

    def __init__(self, store: ReferenceStore, seconds: float) -> None:
        stop = threading.Event()
        self._stop = stop
        self.future: Future[None] = Future()
        self.future.add_done_callback(lambda future: stop.set())
        # The callback wakes the thread when the store is gone; it must not hold on to the store itself.
        reference = weakref.ref(store, lambda _: stop.set())
        self._thread = threading.Thread(
            target=_sweep_until, args=(stop, seconds, reference, self.future), name="ttl-sweeper", daemon=True
        )
        self._thread.start()

    def running(self) -> bool:
        return self._thread.is_alive() and not self._stop.is_set()

    def stop(self, timeout: float | None) -> bool:
        self._stop.set()
        self._thread.join(timeout)
        return not self._thread.is_alive()


def _sweep_until(
    stop: threading.Event, seconds: float, reference: weakref.ref[ReferenceStore], future: Future[None]
) -> None:
    failure: Exception | None = None
    # A wait longer than the platform's limit raises; so long an interval never ends anyway.
    while failure is None and not stop.wait(min(seconds, threading.TIMEOUT_MAX)):
        store = reference()
        if store is None:
            break
        try:
            store.sweep_ttl()
        except Exception as error:
            failure = error
        del store
    # False when the future was cancelled: it has its outcome then.
    if future.set_running_or_notify_cancel():
        if failure is None:
            future.set_result(None)
        else:
            future.set_exception(failure)
