"""What differs between two sets of goldens, in words."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .play import RUNS
from .reading import Made, Tree, Word, sections, value_of
from .sets import VIEWS, GoldenSet
from .wire import WIRE_VIEW
from .wire_values import WIRE

CHANNELS = ("channel_values", "channel_versions", "new_versions", "updated_channels")
MORE, LESS, RENAMED, BYTES, OTHER = "more", "less", "renamed", "other bytes", "other value"
COUNTED = ("checkpoint", "write", "call", "task", "blob", "member", "golden run")
"""What there can be one more or less of; all else is new or gone."""
_NUMBERED_CALL = re.compile(r"\d+ (\w+)")
_BLOB = re.compile(r"<thread \d+> '[^']*' (.+) \S*<fraction \d+>")
_TASK_OR_TIME = re.compile(r"<(task|time|fraction) \d+>")
_ID = re.compile(r"<[a-z ]+ \d+>|<no task>")
SHOWN = 100
"""How many characters of a value are shown."""


@dataclass(frozen=True)
class Place:
    """Where something differs.

    Attributes:
        view, run: of the golden.
        where: the checkpoint or task, as the golden names it; empty for all of it.
        before, after: what the sets show; None for nothing.
    """

    view: str
    run: str
    where: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class Change:
    """Something that differs, wherever it does.

    Attributes:
        kind: ``more``, ``less``, ``renamed``, ``other bytes`` or ``other value``.
        what: in words.
        places: where.
    """

    kind: str
    what: str
    places: tuple[Place, ...]

    @property
    def runs(self) -> list[str]:
        """The golden runs, or kinds of values, that show it."""
        return list(dict.fromkeys(place.run for place in self.places))


def changes(before: GoldenSet, after: GoldenSet) -> list[Change]:
    """What the second set shows otherwise than the first; what differs in many places is one change.

    Raises:
        UnreadableGolden: a golden has another form.
    """
    found: dict[tuple[str, str], list[Place]] = {}
    for view in (*VIEWS, WIRE_VIEW):
        for run in sorted(before.names(view) | after.names(view)):
            for kind, what, place in _of_golden(view, run, before, after):
                found.setdefault((kind, what), []).append(place)
    return [Change(kind, what, tuple(places)) for (kind, what), places in found.items()]


Found = tuple[str, str, Place]


def _of_golden(view: str, run: str, before: GoldenSet, after: GoldenSet) -> Iterator[Found]:
    texts = before.read(view, run), after.read(view, run)
    if texts[0] == texts[1]:
        return
    old, new = (
        None if text is None else sections(text, f"{view}/{run}.txt of the set {golden_set.minor}")
        for text, golden_set in zip(texts, (before, after), strict=True)
    )
    if old is None or new is None:
        noun = "kind of values" if view == WIRE_VIEW else "golden run"
        kind = MORE if old is None else LESS
        yield kind, f"{noun} {run} is {'new' if old is None else 'gone'}", Place(view, run, "", None, None)
        return
    renamed = dict(_renamed_channels(_valued(old), _valued(new)))
    for was, becomes in renamed.items():
        what = f"channel {was} is renamed to {becomes}"
        yield RENAMED, what, Place(view, run, "", was, becomes)
        old = _with_name(old, was, becomes)
    found = list(_Comparison(view, run).compare((), _valued(old), _valued(new)))
    # what is named in another order is told only where nothing else shows why
    yield from found or ([] if renamed else [(OTHER, "tasks have another order", Place(view, run, "", None, None))])


def _valued(tree: Tree) -> dict[str, Any]:
    """A tree with values in place of their text."""
    return {key: _valued(each) if isinstance(each, dict) else value_of(each) for key, each in tree.items()}


def _with_name(tree: Tree, was: str, becomes: str) -> Tree:
    name = re.compile(rf"(?<![\w:]){re.escape(was)}(?![\w:])")
    return {
        name.sub(becomes, key): _with_name(each, was, becomes) if isinstance(each, dict) else name.sub(becomes, each)
        for key, each in tree.items()
    }


def _renamed_channels(old: Any, new: Any) -> Iterator[tuple[str, str]]:
    """Channels that have another name in the second tree, by the one that each checkpoint's versions lose and gain."""
    for key, was in old.items():
        becomes = new.get(key)
        if not isinstance(was, dict) or not isinstance(becomes, dict):
            continue
        if key == "channel_versions":
            gone = [name for name in was if name not in becomes]
            come = [name for name in becomes if name not in was]
            if len(gone) == len(come) == 1 and was[gone[0]] == becomes[come[0]]:
                yield gone[0], come[0]
        else:
            yield from _renamed_channels(was, becomes)


class _Comparison:
    """Compares the trees of one golden.

    Args:
        view, run: of the golden.
    """

    def __init__(self, view: str, run: str) -> None:
        self._view, self._run = view, run

    def compare(self, path: tuple[str, ...], old: Any, new: Any) -> Iterator[Found]:
        if old == new or (isinstance(old, Word) and isinstance(new, Word) and _nameless(old) == _nameless(new)):
            return
        if isinstance(old, Made) and isinstance(new, Made) and old.name == new.name:
            yield from self._dicts((*path, old.name), old.members, new.members)
        elif isinstance(old, dict) and isinstance(new, dict):
            if _is_sequence(old) and _is_sequence(new):
                yield from self._calls(path, old, new)
            else:
                yield from self._dicts(path, old, new)
        elif isinstance(old, list) and isinstance(new, list):
            yield from self._lists(path, old, new)
        else:
            kind = BYTES if isinstance(old, bytes) and isinstance(new, bytes) else OTHER
            subject = self._subject(path)
            what = f"other bytes: {subject}" if kind == BYTES else f"another value: {subject}"
            yield kind, what, self._place(path, old, new)

    def _dicts(self, path: tuple[str, ...], old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Found]:
        gone, come = [key for key in old if key not in new], [key for key in new if key not in old]
        for key, as_it_is_now in _named_anew({key: old[key] for key in gone}, {key: new[key] for key in come}):
            gone.remove(key)
            come.remove(as_it_is_now)
        yield from (self._one(LESS, path, key, old[key]) for key in gone)
        yield from (self._one(MORE, path, key, new[key]) for key in come)
        for key in old:
            if key in new:
                yield from self.compare((*path, str(key)), old[key], new[key])

    def _lists(self, path: tuple[str, ...], old: list[Any], new: list[Any]) -> Iterator[Found]:
        texts = [repr(each) for each in old], [repr(each) for each in new]
        for tag, old_from, old_to, new_from, new_to in difflib.SequenceMatcher(None, *texts, False).get_opcodes():
            if tag == "replace" and old_to - old_from == new_to - new_from:
                for was, becomes in zip(old[old_from:old_to], new[new_from:new_to], strict=True):
                    yield from self.compare(path, was, becomes)
            elif tag != "equal":
                for was in old[old_from:old_to]:
                    yield self._one(LESS, path, "member", was)
                for becomes in new[new_from:new_to]:
                    yield self._one(MORE, path, "member", becomes)

    def _calls(self, path: tuple[str, ...], old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Found]:
        keys = list(old), list(new)
        methods = [key.partition(" ")[2] for key in keys[0]], [key.partition(" ")[2] for key in keys[1]]
        for tag, old_from, old_to, new_from, new_to in difflib.SequenceMatcher(None, *methods, False).get_opcodes():
            if tag == "equal":
                for was, becomes in zip(keys[0][old_from:old_to], keys[1][new_from:new_to], strict=True):
                    yield from self.compare((*path, becomes), old[was], new[becomes])
            else:
                for key in keys[0][old_from:old_to]:
                    yield self._one(LESS, path, key, old[key])
                for key in keys[1][new_from:new_to]:
                    yield self._one(MORE, path, key, new[key])

    def _one(self, kind: str, path: tuple[str, ...], key: str, value: Any) -> Found:
        noun, name = _named(path, str(key), value)
        subject = self._subject(path)
        within = "" if noun == subject.rstrip("s") or not subject else f" in {subject}"
        if noun in COUNTED:
            what = f"a {noun} {kind}{f' ({name})' if name else ''}{within}"
        else:
            what = f"{noun} {name} is {'new' if kind == MORE else 'gone'}{within}"
        where = path if noun in ("channel", "field", "node", "member") else (*path, str(key))
        old, new = (value, None) if kind == LESS else (None, value)
        return kind, what, self._place(where, old, new)

    def _place(self, path: tuple[str, ...], old: Any, new: Any) -> Place:
        where = " ".join(part for part in path if _ID.search(part))
        shown = [None if each is None else _shown(each) for each in (old, new)]
        return Place(self._view, self._run, where, *shown)

    def _subject(self, path: tuple[str, ...]) -> str:
        """What a path is about, without the checkpoint or task that it is in."""
        if self._view == WIRE_VIEW:
            return " ".join(["the serialized", f"{self._run}/{'.'.join(path)}"])
        parts = [part.partition(" msgpack")[0] for part in path if not _ID.search(part)]
        if self._view != "calls" or not parts:
            return ".".join(parts)
        graph, *parts = (found[1] if (found := _NUMBERED_CALL.fullmatch(part)) else part for part in parts)
        return f"the call {'.'.join(parts)} that {graph} makes" if parts else f"the calls that {graph} makes"


def _nameless(value: Any) -> str:
    """A value's text without what names tasks and times: they have other numbers when there is one more before them."""
    return _TASK_OR_TIME.sub("", _text(value))


def _named_anew(gone: Mapping[str, Any], come: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Keys that name the same task otherwise, with the same value."""
    left = {key: _nameless({key: value}) for key, value in come.items()}
    for key, value in gone.items():
        wanted = _nameless({key: value})
        again = next((each for each, text in left.items() if text == wanted), None)
        if again is not None:
            del left[again]
            yield key, again


def _is_sequence(tree: Mapping[str, Any]) -> bool:
    return all(_NUMBERED_CALL.fullmatch(str(key)) for key in tree)


def _named(path: tuple[str, ...], key: str, value: Any) -> tuple[str, str]:
    """What a key stands for, and its name without numbers and ids."""
    last = path[-1] if path else ""
    if key == "member":
        return "member", _shown(value)
    if key.startswith("<checkpoint") or last == "storage":
        return "checkpoint", ""
    if key == "writes":
        return "write", ""
    if "writes" in path:
        numbered = re.fullmatch(r"\d+ (.+)", key)
        channel = numbered[1] if numbered else value[1] if isinstance(value, list) else ""
        return "write", f"channel {channel}" if channel else ""
    if last == "blobs" and (found := _BLOB.fullmatch(key)):
        return "blob", f"channel {found[1]}"
    if last == "tasks":
        return "task", ""
    if found := _NUMBERED_CALL.fullmatch(key):
        return "call", found[1]
    if last in CHANNELS:
        return "channel", key
    if last == "versions_seen":
        return "node", key
    return "field", _ID.sub("…", key)


def _shown(value: Any) -> str:
    text = _text(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def _text(value: Any) -> str:
    if isinstance(value, Word):
        return value.text
    if isinstance(value, Made):
        return f"{value.name}({', '.join(f'{key}={_text(each)}' for key, each in value.members.items())})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {_text(each)}' for key, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    return repr(value)


MOST_OF_A_RUN = 12
"""How many changes of one golden run are told, unless all are asked for."""


def as_json(before: GoldenSet, after: GoldenSet, found: Sequence[Change]) -> dict[str, Any]:
    """Changes as a document."""
    return {
        "before": {"set": before.minor, "recorded_with": before.recorded_with()},
        "after": {"set": after.minor, "recorded_with": after.recorded_with()},
        "changes": [
            {**dataclasses.asdict(each), "places": list(map(dataclasses.asdict, each.places))} for each in found
        ],
    }


def in_words(before: GoldenSet, after: GoldenSet, found: Sequence[Change], *, everything: bool = False) -> list[str]:
    """Changes as lines of text: first those of several golden runs, then those of each.

    Args:
        before, after: the sets.
        found: their changes.
        everything: tell all, however many they are.
    """
    return _told(before, after, found, everything, heading="{}", item="  {}", code="{}")


def in_markdown(before: GoldenSet, after: GoldenSet, found: Sequence[Change], *, everything: bool = False) -> list[str]:
    """The same as Markdown."""
    return _told(before, after, found, everything, heading="### {}\n", item="- {}", code="`{}`")


def _told(
    before: GoldenSet,
    after: GoldenSet,
    found: Sequence[Change],
    everything: bool,
    *,
    heading: str,
    item: str,
    code: str,
) -> list[str]:
    sets = " and ".join(f"{each.minor} ({_versions(each)})" for each in (before, after))
    if not found:
        return [f"The sets {sets} show the same."]
    lines = [heading.format(f"{len(found)} changes between the sets {sets}"), ""]
    several = [each for each in found if len(each.runs) > 1]
    groups = {"In several golden runs": several} if several else {}
    for each in found:
        if len(each.runs) == 1:
            groups.setdefault(f"In {each.runs[0]}{_shows(each.runs[0])}", []).append(each)
    for title, members in groups.items():
        lines.append(heading.format(title))
        shown = members if everything or title == "In several golden runs" else members[:MOST_OF_A_RUN]
        lines += [item.format(_sentence(each, code)) for each in shown]
        if len(shown) < len(members):
            lines.append(item.format(f"… and {len(members) - len(shown)} more: --all tells them"))
        lines.append("")
    return lines[:-1]


def _versions(golden_set: GoldenSet) -> str:
    return ", ".join(f"{name} {version}" for name, version in golden_set.recorded_with().items())


def _shows(run: str) -> str:
    return f": {RUNS[run].shows}" if run in RUNS else f", values of the serializer ({run})" if run in WIRE else ""


def _sentence(change: Change, code: str) -> str:
    place = change.places[0]
    # a value may hold what Markdown takes for the end of code
    was, becomes = (
        code.format(each.replace("`", "'")) if each is not None else None for each in (place.before, place.after)
    )
    shown = f"{was} → {becomes}" if was and becomes else becomes or was or ""
    told = [f"{place.view}{f', {place.where}' if place.where else ''}"]
    if len(change.places) > 1:
        told.append(f"{len(change.places)} places")
    if len(change.runs) > 1:
        told.append(", ".join(change.runs))
    return f"{change.what}{f': {shown}' if shown and not change.what.endswith(')') else ''} [{'; '.join(told)}]"
