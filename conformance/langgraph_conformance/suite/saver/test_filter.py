"""list with a filter on metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from langgraph_conformance.drive import SaverDrive
from langgraph_conformance.errors import Blocked
from langgraph_conformance.expect import expect_same, shown
from langgraph_conformance.rules import MUST, QUIRK, SHOULD, rule
from langgraph_conformance.threads import Stored, Thread, fresh_id, ids_of

OFFICIAL = "InMemorySaver.list, SqliteSaver.list, PostgresSaver.list"

# --- what a filter is


@rule(MUST, source="BaseCheckpointSaver.list: filter; pregel/main.py: get_state_history(filter)")
@pytest.mark.parametrize(
    ("filter", "wanted"),
    [({"source": "input"}, [0]), ({"source": "loop"}, [2, 1]), ({"step": 0}, [1]), ({"user_id": "u1"}, [2, 0])],
    ids=["source", "source of several", "step", "own key"],
)
def test_a_filter_keeps_checkpoints_whose_metadata_has_the_value(
    thread: Thread, filter: dict[str, Any], wanted: list[int]
) -> None:
    """`filter={key: value}` lists exactly the checkpoints whose metadata has that value under that key.

    Any key counts, LangGraph's own (source, step) and the application's: a filter that is ignored shows everything, one
    that never matches shows nothing.
    """
    stored: list[Stored] = []
    for user in ("u1", "u2", "u1"):
        parent = stored[-1] if stored else None
        stored.append(thread.put({"count": len(stored)}, parent=parent, metadata={"user_id": user}))
    expect_same(
        [stored[n].id for n in wanted], thread.listed_ids(filter=filter), f"the ids listed with filter={filter}"
    )


@rule(MUST, source="BaseCheckpointSaver.list: filter; all official savers")
@pytest.mark.parametrize(
    ("filter", "wanted"),
    [
        ({"a": 1, "b": 1}, [0]),
        ({"b": 1, "a": 1}, [0]),
        ({"a": 1, "b": 2}, [1]),
        ({"a": 2, "b": 2}, []),
        ({"a": 1, "c": 1}, []),
        ({"c": 1, "a": 1}, []),
    ],
    ids=["both", "other order", "second differs", "no such pair", "last absent", "first absent"],
)
def test_all_keys_of_a_filter_must_match(thread: Thread, filter: dict[str, Any], wanted: list[int]) -> None:
    """A filter with several keys lists the checkpoints that match all of them.

    Joined by "or", or cut to the first or the last key, it lists what the user has excluded.
    """
    stored = [thread.put({}, metadata={"a": a, "b": b}) for a, b in ((1, 1), (1, 2), (2, 1))]
    expect_same(
        [stored[n].id for n in wanted], thread.listed_ids(filter=filter), f"the ids listed with filter={filter}"
    )


@rule(MUST, source="BaseCheckpointSaver.list: filter; all official savers")
def test_an_empty_filter_keeps_all(thread: Thread) -> None:
    """`filter={}` lists all checkpoints.

    A user interface in which no condition is set passes it.
    """
    stored = thread.chain(2)
    expect_same([stored[1].id, stored[0].id], thread.listed_ids(filter={}), "the ids listed with an empty filter")


@rule(MUST, source="BaseCheckpointSaver.list: filter; all official savers")
@pytest.mark.parametrize(
    "filter",
    [{"source": "nowhere"}, {"absent": "x"}, {"absent": 0}, {"absent": ""}, {"absent": False}, {"step": 99}],
    ids=["value", "key", "absent 0", "absent empty", "absent False", "number"],
)
def test_a_filter_that_nothing_matches_lists_nothing(thread: Thread, filter: dict[str, Any]) -> None:
    """A filter on a value or a key that no checkpoint has lists nothing and raises nothing.

    Keys are the application's: most checkpoints of a database lack them. A missing key is not 0, not empty, not False.
    """
    thread.chain(2)
    expect_same([], thread.listed_ids(filter=filter), f"the ids listed with filter={filter}")


@rule(MUST, source="BaseCheckpointSaver.list: config and filter hold together")
def test_a_filter_stays_within_thread_and_namespace(
    saver: SaverDrive, thread: Thread, new_thread: Callable[..., Thread]
) -> None:
    """A filter narrows the list of a thread and namespace; what matches elsewhere is not in it.

    One user's search would show another user's conversation.
    """
    other, mark = new_thread(), fresh_id()
    wanted = thread.put({}, metadata={"mark": mark})
    other.put({}, metadata={"mark": mark})
    thread.put({}, ns="child", metadata={"mark": mark})
    thread.put({}, metadata={"mark": "another"})
    expect_same([wanted.id], thread.listed_ids(filter={"mark": mark}), "the ids listed of the thread's root namespace")


@rule(SHOULD, source=f"get_checkpoint_metadata; {OFFICIAL}")
@pytest.mark.parametrize("value", ["u1", 7, 1.5, True], ids=["str", "int", "float", "bool"])
@pytest.mark.parametrize("where", ["configurable", "metadata"])
def test_what_the_config_adds_to_metadata_can_be_filtered(thread: Thread, where: str, value: object) -> None:
    """Keys that `put` takes over into metadata from its config can be filtered like any other.

    `user_id` and the like are given in the config of a run: this is how an application finds its checkpoints.
    """
    made, other = thread.make({}), thread.make({})
    config = thread.config()
    if where == "metadata":
        config["metadata"] = {"tenant": value}
    else:
        config["configurable"]["tenant"] = value
    thread.saver.put(config, dict(made.checkpoint), dict(made.metadata), {})
    thread.store(other)
    expect_same(
        [made.id], thread.listed_ids(filter={"tenant": value}), f"the ids listed with filter={{'tenant': {value!r}}}"
    )


@rule(SHOULD, source=OFFICIAL)
def test_a_filter_sees_the_metadata_of_the_last_put(thread: Thread) -> None:
    """When a checkpoint is put again with other metadata, filters go by the new one.

    An index that keeps the old values finds the checkpoint under what it no longer is, and not under what it is.
    """
    made = thread.make({}, metadata={"state": "old", "before": 1})
    thread.store(made)
    again = thread.put({}, id=made.id, metadata={"state": "new"})
    expect_same(
        {"old": [], "new": [again.id], "a key that went": []},
        {
            "old": thread.listed_ids(filter={"state": "old"}),
            "new": thread.listed_ids(filter={"state": "new"}),
            "a key that went": thread.listed_ids(filter={"before": 1}),
        },
        "the ids listed by old and new metadata",
    )


# --- values: each is stored with a checkpoint of its own, and must find that checkpoint and no other

STRINGS: Mapping[str, Sequence[str]] = {
    "case": ["Abc", "abc", "ABC", "ß", "ss", "SS"],
    "space": ["a", " a", "a ", "a\t", "a\n", "a b", "a  b", "ab", "", " "],
    "part": ["a", "ab", "abc", "bc", "b", "a,b", "a b c"],
    "quotes": ["a", "a'", "a''", 'a"', 'a""', "a`", "'a'", '"a"', "a\\", "a\\\\", "a\\'", 'a\\"'],
    "escapes": ["a\nb", "a\\nb", "a\tb", "a\\tb", "a/b", "a\\/b", "\\u0061", "a", "%61", "&#97;", "\\x61", "\\141"],
    "sql": ["a%", "a_", "ab", "a", "%", "_", "a' OR '1'='1", "a'; DROP TABLE x; --", "a) OR (1=1", "--", "$1", "?"],
    "patterns": ["a*", "a?", "a.", "ab", "a", "*", ".*", "^a$", "[ab]", "a|ab", "(a)", "a{1}", "/a/", "~a"],
    "search": ["@a", "{a}", "-a", "a:b", "a-b", "a b", "a,b", "a|b", "(a|b)", "<a>", "a=b", "a;b", "a~1", "a.b"],
    "json": ["null", "true", "false", "0", "{}", "[]", '{"a":1}', "[1]", '"null"', "NaN", "undefined", "None", "True"],
    "numbers": ["1", "01", "1.0", "+1", "1e0", " 1", "0x1", "١", "1_0", "10", "-1", "1 ", "1.00"],
    "unicode": [
        "\u00e9",
        "e\u0301",
        "e",
        "\u00c9",
        "日本",
        "日",
        "🧵",
        "🧶",
        "\ufb01",
        "fi",
        "\u03a9",
        "\u2126",
        "ı",
        "i",
    ],
    "long": ["x" * 5000, "x" * 5000 + "y", "x" * 4999, "x" * 255 + "y", "x" * 255 + "z"],
    "operators": ["$ne", "$gt", "gt:1", "ne", "!a", "!=a", ">0", "like a", "${a}", "{{a}}", "{0}", "%s", ":a"],
}


def found_by_value(thread: Thread, values: Sequence[Any]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Stores each value with a checkpoint of its own; gives what each finds: as it must be, and as it is."""
    names = [f"{number}: {shown(value)}" for number, value in enumerate(values, 1)]
    stored = {thread.put({}, metadata={"k": value}).id: name for name, value in zip(names, values, strict=True)}
    thread.put({}, metadata={"other": "x"})
    found = [[stored.get(id, id) for id in thread.listed_ids(filter={"k": value})] for value in values]
    return {name: [name] for name in names}, dict(zip(names, found, strict=True))


@rule(MUST, source=f"BaseCheckpointSaver.list: filter; {OFFICIAL}")
@pytest.mark.parametrize("kind", STRINGS)
def test_a_text_matches_itself_and_nothing_else(thread: Thread, kind: str) -> None:
    """A text in a filter is data: it matches exactly the same text, whatever characters it holds.

    Read as a pattern, a fragment of SQL or JSON, or compared without case, spaces or accents, it finds other users'
    checkpoints or misses its own.
    """
    expected, actual = found_by_value(thread, STRINGS[kind])
    expect_same(expected, actual, "the values of the checkpoints that each value finds")


NUMBERS: Mapping[str, Sequence[float]] = {
    "ints": [0, 1, 2, 10, 11, -1, 100, 1000000],
    "floats": [0.5, 0.1, 0.25, -0.5, 1.5, 1e-9, 123456.789],
    "32 bit": [2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**32],
}


@rule(MUST, source=f"BaseCheckpointSaver.list: filter; {OFFICIAL}")
@pytest.mark.parametrize("kind", NUMBERS)
def test_a_number_matches_its_value_and_nothing_else(thread: Thread, kind: str) -> None:
    """A number in a filter matches exactly that number.

    `filter={"step": 1}` that finds step 10, or does not find step 0, shows the wrong states.
    """
    expected, actual = found_by_value(thread, NUMBERS[kind])
    expect_same(expected, actual, "the values of the checkpoints that each value finds")


@rule(SHOULD, source=OFFICIAL)
def test_large_integers_are_exact(thread: Thread) -> None:
    """Integers beyond 2**53 are told apart.

    Ids of users and messages are often such numbers: rounded to a float, one user finds another's checkpoints.
    """
    expected, actual = found_by_value(thread, [2**53, 2**53 + 1, 2**53 + 2, 2**62, 2**62 + 1, -(2**53) - 1])
    expect_same(expected, actual, "the values of the checkpoints that each value finds")


@rule(SHOULD, source=OFFICIAL)
def test_equal_numbers_match_whatever_their_type(thread: Thread) -> None:
    """5.0 matches 5 and 5 matches 5.0.

    JSON has one type of number: a value that went through it may come back as the other one.
    """
    whole, point = thread.put({}, metadata={"k": 5}), thread.put({}, metadata={"k": 6.0})
    expect_same(
        {"5.0 for 5": [whole.id], "6 for 6.0": [point.id]},
        {"5.0 for 5": thread.listed_ids(filter={"k": 5.0}), "6 for 6.0": thread.listed_ids(filter={"k": 6})},
        "the ids listed",
    )


@rule(MUST, source=f"BaseCheckpointSaver.list: filter; {OFFICIAL}")
def test_a_bool_matches_itself_and_not_its_opposite(thread: Thread) -> None:
    """True matches a stored True, False a stored False.

    Flags (approved, archived) are what applications filter by; as text or as "is set" they find the wrong half.
    """
    expected, actual = found_by_value(thread, [True, False])
    expect_same(expected, actual, "the values of the checkpoints that each value finds")


@rule(SHOULD, source=OFFICIAL)
def test_none_matches_a_stored_none(thread: Thread) -> None:
    """None matches metadata that holds None, and no other value, however empty.

    "Not assigned yet" is stored so. (Whether it also matches a key that is missing differs between official savers.)
    """
    values: list[Any] = [None, "", 0, False, "None", []]
    stored = [thread.put({}, metadata={"k": value}) for value in values]
    expect_same([stored[0].id], thread.listed_ids(filter={"k": None}), "the ids listed with filter={'k': None}")


PAIRS: Mapping[str, tuple[Any, Any]] = {
    "int for text": (5, "5"),
    "text for int": ("5", 5),
    "text for float": ("1.5", 1.5),
    "float for text": (1.5, "1.5"),
    "text for True": ("true", True),
    "Text for True": ("True", True),
    "True for text": (True, "true"),
    "1 for True as text": ("1", True),
    "text for None": ("null", None),
    "Text for None": ("None", None),
    "empty for None": ("", None),
    "0 for None": (0, None),
    "False for None": (False, None),
    "empty for 0": ("", 0),
    "0 for empty": (0, ""),
    "empty for False": ("", False),
    "list for its member": (["a"], "a"),
    "member for its list": ("a", ["a"]),
    "number for its list": (1, [1]),
    "dict for its value": ({"a": "b"}, "b"),
    "key for its dict": ("a", {"a": "b"}),
}


@rule(SHOULD, source=OFFICIAL)
@pytest.mark.parametrize("pair", PAIRS)
def test_a_value_of_another_type_does_not_match(thread: Thread, pair: str) -> None:
    """A value matches values of its own type: 5 is not "5", True is not "true", a list is not its member.

    What is found would depend on the database's rules of conversion, and an id "7" find user 7.
    """
    wanted, held = PAIRS[pair]
    thread.put({}, metadata={"k": held})
    expect_same(
        [], thread.listed_ids(filter={"k": wanted}), f"the ids listed with {wanted!r} of a checkpoint that has {held!r}"
    )


NESTED: Mapping[str, tuple[Any, Any]] = {
    "dict": ({"a": 1}, {"a": 2}),
    "dict key": ({"a": 1}, {"b": 1}),
    "two keys": ({"a": 1, "b": 2}, {"a": 1, "b": 3}),
    "deep": ({"a": {"b": [1, {"c": None}]}}, {"a": {"b": [1, {"c": 0}]}}),
    "empty dict": ({}, "x"),
    "list": ([1, 2], [1, 3]),
    "texts": (["a", "b"], ["a", "c"]),
    "mixed": ([1, "1", True, None], [1, "1", False, None]),
    "list of dicts": ([{"a": 1}], [{"a": 2}]),
    "parents": ({"": "1ef4f797"}, {"": "1ef4f798"}),
    "text in dict": ({"a": "x"}, {"a": "X"}),
    "type in dict": ({"a": 1}, {"a": "1"}),
}


@rule(SHOULD, source=OFFICIAL)
@pytest.mark.parametrize("kind", NESTED)
def test_a_dict_or_list_matches_its_equal(thread: Thread, kind: str) -> None:
    """A dict or list in a filter matches one that is equal at every depth, and not one that differs in a value.

    Metadata holds such values of its own: `parents` is a dict. (Partial matches, and another order of the keys, differ
    between official savers.)
    """
    wanted, other = NESTED[kind]
    stored, differs = thread.put({}, metadata={"k": wanted}), thread.put({}, metadata={"k": other})
    expect_same(
        {"the value": [stored.id], "another": [differs.id]},
        {"the value": thread.listed_ids(filter={"k": wanted}), "another": thread.listed_ids(filter={"k": other})},
        f"the ids listed with {wanted!r}, and with {other!r}",
    )


# --- keys

KEYS: Mapping[str, Sequence[str]] = {
    "case": ["user", "User", "USER", "uSer"],
    "joined": ["user_id", "user-id", "userid", "user", "id", "user_", "_user", "user__id"],
    "digits": ["1", "01", "1a", "a1", "2024-05-04", "0"],
    "sql": ["select", "order", "where", "from", "null", "group", "and", "key", "value", "rowid", "limit"],
    "columns": ["checkpoint", "metadata", "type", "ns", "ts", "v", "id", "parent_id", "created_at", "score"],
    "reserved": ["_id", "__proto__", "__class__", "constructor", "prototype", "toString", "__v", "_key", "length"],
    "long": ["k" * 100, "k" * 100 + "1", "k" * 99],
}


@rule(SHOULD, source=OFFICIAL)
@pytest.mark.parametrize("kind", KEYS)
def test_a_key_is_that_key_and_no_other(thread: Thread, kind: str) -> None:
    """A key of letters, digits, `_` and `-` finds what is stored under exactly that key.

    Keys are the application's own: a word of the database's language or one of its columns is a key like any other.
    """
    names = {thread.put({}, metadata={key: "x"}).id: key for key in KEYS[kind]}
    expect_same(
        {key: [key] for key in KEYS[kind]},
        {key: [names.get(id, id) for id in thread.listed_ids(filter={key: "x"})] for key in KEYS[kind]},
        "the keys of the checkpoints that each key finds",
    )


@rule(SHOULD, source=OFFICIAL)
def test_a_key_names_the_top_of_metadata_only(thread: Thread) -> None:
    """A key in a filter is one of metadata itself: not of a dict inside it, and not of the checkpoint.

    A channel or a nested value of that name would be found as if it were metadata.
    """
    thread.put({"k": "x"}, metadata={"inside": {"k": "x"}})
    expect_same([], thread.listed_ids(filter={"k": "x"}), "the ids listed by a key that is only deeper or a channel")


# --- what must never be taken for more than data


def listed_or_refused(thread: Thread, filter: Mapping[str, Any]) -> list[str]:
    """The ids listed; none when the saver refuses the filter, which is as safe as no match."""
    try:
        return thread.listed_ids(filter=filter)
    except Blocked:
        raise
    except Exception:
        return []


INJECTIONS: Sequence[str] = [
    "x' OR 1=1 --",
    "x') OR 1=1 --",
    "x')) OR 1=1 --",
    "x') = 'y' OR '1'='1",
    "source') IS NOT NULL OR ('1'='1",
    "x' IS NULL OR '1",
    'x" OR 1=1 --',
    'x") OR 1=1 --',
    'source" IS NOT NULL OR "1"="1',
    "x` OR 1=1 --",
    "x OR 1=1",
    "1=1 OR x",
    "x'; DELETE FROM checkpoints; --",
    "x'); DROP TABLE checkpoints; --",
    "x' UNION SELECT * FROM checkpoints --",
    "x'\nOR 1=1\n--",
    "x' /*",
    "*) | (@source:*",
    "source:* OR x",
    "*",
    ".*",
    "$**",
    "$.*",
    "**.source",
    "#>>'{}'",
    "source' || '",
    "$where",
    "$expr",
    "$or",
    "",
]


@rule(MUST, source="CVE-2025-67644: filter keys in the SQL of a saver's list")
@pytest.mark.parametrize("value", ["y", 1, "", None], ids=["text", "number", "empty", "None"])
def test_a_hostile_key_never_widens_the_list(thread: Thread, value: object) -> None:
    """A filter key is data: one that holds a fragment of a query finds nothing or is refused, and harms nothing.

    Keys often come from a request. Pasted into a query, one gives an attacker every conversation in the database, or
    deletes them.
    """
    stored = thread.chain(2)
    # None is left out where a missing key counts as None: nothing is wrong with such a match
    matches = set(listed_or_refused(thread, {"certainly_absent": value}))
    expect_same(
        {**{key: [] for key in INJECTIONS}, "afterwards": [stored[1].id, stored[0].id]},
        {
            **{key: [id for id in listed_or_refused(thread, {key: value}) if id not in matches] for key in INJECTIONS},
            "afterwards": thread.listed_ids(),
        },
        "the ids listed by each key",
    )


OPERATORS: Mapping[str, Any] = {
    "$ne": {"$ne": None},
    "$ne text": {"$ne": "nobody"},
    "$eq": {"$eq": "u1"},
    "$gt": {"$gt": ""},
    "$gte": {"$gte": ""},
    "$lt": {"$lt": "~"},
    "$exists": {"$exists": True},
    "$in": {"$in": ["u1", "u2"]},
    "$nin": {"$nin": []},
    "$regex": {"$regex": ".*"},
    "$not": {"$not": {"$eq": "nobody"}},
    "$where": {"$where": "1"},
    "$type": {"$type": "string"},
    "$like": {"$like": "%"},
    "no dollar": {"ne": None},
    "two underscores": {"__ne": None},
    "list": ["u1", "u2"],
    "empty list": [],
    "empty dict": {},
    "SQL in a list": ["u1' OR '1'='1"],
}


@rule(MUST, source="BaseCheckpointSaver.list: a filter is compared with metadata; all official savers")
@pytest.mark.parametrize("key", ["user", "step"])
def test_a_dict_in_a_filter_is_no_operator(thread: Thread, key: str) -> None:
    """A dict or list as a value is compared as it is: `{"$ne": None}` and its like match nothing, or are refused.

    Values often come from a request as JSON. Handed to the database as an operator, `{"$ne": null}` in place of a
    user's id gives that user everybody's conversations.
    """
    stored = [thread.put({}, metadata={"user": user, "step": step}) for step, user in enumerate(("u1", "u2"))]
    expect_same(
        {**{name: [] for name in OPERATORS}, "afterwards": [stored[1].id, stored[0].id]},
        {
            **{name: listed_or_refused(thread, {key: value}) for name, value in OPERATORS.items()},
            "afterwards": thread.listed_ids(),
        },
        f"the ids listed with each value for {key!r}",
    )


@rule(MUST, source="BaseCheckpointSaver.list: a filter is compared with metadata; all official savers")
def test_a_key_in_a_filter_is_no_operator(thread: Thread) -> None:
    """A key such as `$or` is a key of metadata: it matches nothing, or is refused, but is never carried out.

    A filter that comes from a request as JSON would choose its own conditions.
    """
    thread.put({}, metadata={"user": "u1"})
    filters: dict[str, dict[str, Any]] = {
        "$or": {"$or": [{"user": "u1"}, {"user": "u2"}]},
        "$and": {"$and": [{"user": "u1"}]},
        "$nor": {"$nor": [{"user": "nobody"}]},
        "$not": {"$not": {"user": "nobody"}},
        "$expr": {"$expr": True},
        "$where": {"$where": "true"},
        "$comment": {"$comment": "x"},
        "or": {"or": [{"user": "u1"}]},
        "OR": {"OR": True},
        "user__ne": {"user__ne": "nobody"},
        "user.ne": {"user.$ne": "nobody"},
        "user[$ne]": {"user[$ne]": "nobody"},
        "!user": {"!user": "nobody"},
        "user!=": {"user !=": "nobody"},
        "user>": {"user>": ""},
    }
    expect_same(
        {name: [] for name in filters},
        {name: listed_or_refused(thread, filter) for name, filter in filters.items()},
        "the ids listed with each filter",
    )


@rule(MUST, source="BaseCheckpointSaver.list: a filter is compared with metadata; all official savers")
@pytest.mark.parametrize("position", ["first", "last"])
def test_a_hostile_key_does_not_undo_the_others(thread: Thread, position: str) -> None:
    """A hostile key beside an honest one does not set the honest one aside.

    A condition on the user's own id, which the application adds, must hold whatever else the request brings.
    """
    thread.put({}, metadata={"user": "u1"})
    mine = {"user": "me"}
    expect_same(
        {key: [] for key in INJECTIONS},
        {
            key: listed_or_refused(thread, {key: "y", **mine} if position == "first" else {**mine, key: "y"})
            for key in INJECTIONS
        },
        "the ids listed by each key beside {'user': 'me'}, which nothing has",
    )


@rule(SHOULD, source="BaseCheckpointSaver.list: filter")
@pytest.mark.parametrize(
    "odd",
    ["\ud800", "a\0b", {"a": "b\0"}, {"a.b": {"$c": 1}}, {"": ""}, "{", 2**70, 1e308, {1: 2}, {"a": {1, 2}}],
    ids=["surrogate", "nul", "nested nul", "odd keys", "empty key", "brace", "2**70", "1e308", "number key", "set"],
)
def test_odd_metadata_does_not_stop_filters(thread: Thread, odd: object) -> None:
    """When a checkpoint with odd metadata was taken, filters on other checkpoints go on working; or it is refused.

    One such value would make every filtered list of the whole database raise, for all threads.
    """
    stored = thread.put({}, metadata={"user": "u1"})
    put_or_refused(thread, {"odd": odd, "user": "u2"})
    expect_same([stored.id], thread.listed_ids(filter={"user": "u1"}), f"the ids listed beside one with {shown(odd)}")


def put_or_refused(thread: Thread, metadata: Mapping[str, Any]) -> None:
    """Put a checkpoint, or be refused, which is judged by other rules."""
    try:
        thread.put({}, metadata=metadata)
    except Blocked:
        raise
    except Exception:
        thread.saver.broken = True  # a connection may be out of step now, which must not fail other checks


# --- where official savers differ


def matches(thread: Thread, held: Mapping[str, Any], filter: Mapping[str, Any]) -> str:
    """Whether a filter finds a checkpoint with that metadata: ``matches``, ``no match`` or ``refused``."""
    stored = thread.put({}, metadata=held)
    try:
        listed = thread.saver.list(thread.config(checkpoint_id=stored.id), filter=filter)
    except Blocked:
        raise
    except Exception:
        return "refused"
    return "matches" if ids_of(listed) == [stored.id] else "no match"


@rule(
    QUIRK,
    source=OFFICIAL,
    officials={"InMemorySaver": "matches", "SqliteSaver": "matches", "PostgresSaver": "no match"},
)
def test_none_for_a_missing_key(thread: Thread, observe: Callable[[object], None]) -> None:
    """Whether None matches metadata that lacks the key."""
    observe(matches(thread, {}, {"k": None}))


@rule(
    QUIRK,
    source=OFFICIAL,
    officials={
        "InMemorySaver": "1 matches, 0 matches",
        "SqliteSaver": "1 matches, 0 matches",
        "PostgresSaver": "1 no match, 0 no match",
    },
)
def test_a_number_for_a_bool(thread: Thread, observe: Callable[[object], None]) -> None:
    """Whether 1 matches True, and 0 False."""
    observe(f"1 {matches(thread, {'k': True}, {'k': 1})}, 0 {matches(thread, {'k': False}, {'k': 0})}")


@rule(
    QUIRK,
    source=OFFICIAL,
    officials={
        "InMemorySaver": "dict no match, empty dict no match, list no match, empty list no match",
        "SqliteSaver": "dict no match, empty dict no match, list no match, empty list no match",
        "PostgresSaver": "dict matches, empty dict matches, list matches, empty list matches",
    },
)
def test_a_part_of_a_dict_or_list(thread: Thread, observe: Callable[[object], None]) -> None:
    """Whether a dict matches one with further keys, and a list one with further members."""
    observe(
        f"dict {matches(thread, {'k': {'a': 1, 'b': 2}}, {'k': {'a': 1}})}, "
        f"empty dict {matches(thread, {'k': {'a': 1}}, {'k': {}})}, "
        f"list {matches(thread, {'k': [1, 2]}, {'k': [2]})}, "
        f"empty list {matches(thread, {'k': [1]}, {'k': []})}"
    )


@rule(
    QUIRK,
    source=OFFICIAL,
    officials={"InMemorySaver": "matches", "SqliteSaver": "no match", "PostgresSaver": "matches"},
)
def test_a_dict_in_another_order(thread: Thread, observe: Callable[[object], None]) -> None:
    """Whether a dict matches one that has the same keys in another order."""
    observe(matches(thread, {"k": {"a": 1, "b": 2}}, {"k": {"b": 2, "a": 1}}))


@rule(
    QUIRK,
    source=OFFICIAL,
    officials={"InMemorySaver": "no match", "SqliteSaver": "no match", "PostgresSaver": "matches"},
)
def test_a_list_in_another_order(thread: Thread, observe: Callable[[object], None]) -> None:
    """Whether a list matches one that has the same members in another order."""
    observe(matches(thread, {"k": [1, 2]}, {"k": [2, 1]}))


@rule(
    QUIRK,
    source=OFFICIAL,
    officials={"InMemorySaver": "matches", "SqliteSaver": "no match", "PostgresSaver": "matches"},
)
def test_text_beyond_ascii_in_a_dict(thread: Thread, observe: Callable[[object], None]) -> None:
    """Whether a dict that holds text beyond ASCII matches its equal."""
    observe(matches(thread, {"k": {"a": "é"}}, {"k": {"a": "é"}}))


@rule(
    QUIRK,
    source=OFFICIAL,
    officials={"InMemorySaver": "no match", "SqliteSaver": "matches", "PostgresSaver": "no match"},
)
def test_the_text_of_a_list(thread: Thread, observe: Callable[[object], None]) -> None:
    """Whether the text `[1]` matches the list [1]."""
    observe(matches(thread, {"k": [1]}, {"k": "[1]"}))


@rule(
    QUIRK,
    source=OFFICIAL,
    officials={
        "InMemorySaver": "literal matches, path no match",
        "SqliteSaver": "literal no match, path matches",
        "PostgresSaver": "literal matches, path no match",
    },
)
def test_a_dot_in_a_key(thread: Thread, observe: Callable[[object], None]) -> None:
    """Whether a dot in a key is a part of it, or leads into a dict."""
    literal = matches(thread, {"a.b": "x"}, {"a.b": "x"})
    path = matches(thread, {"a": {"b": "x"}}, {"a.b": "x"})
    observe(f"literal {literal}, path {path}")


@rule(
    QUIRK,
    source=OFFICIAL,
    officials={
        "InMemorySaver": "all match",
        "SqliteSaver": "refused: 'user id', 'é', 'a/b', \"it's\", '$x', 'a[0]', ''",
        "PostgresSaver": "all match",
    },
)
def test_other_characters_in_a_key(thread: Thread, observe: Callable[[object], None]) -> None:
    """Which keys with other characters than letters, digits, `_` and `-` find their value."""
    seen: dict[str, list[str]] = {}
    for key in ("user id", "é", "a/b", "it's", "$x", "a[0]", ""):
        seen.setdefault(matches(thread, {key: "x"}, {key: "x"}), []).append(repr(key))
    if list(seen) == ["matches"]:
        observe("all match")
    else:
        observe("; ".join(f"{what}: {', '.join(keys)}" for what, keys in seen.items() if what != "matches"))
