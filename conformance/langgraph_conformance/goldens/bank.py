"""The bank of old threads: what earlier versions of LangGraph left in a saver, as files and as calls of a saver."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from packaging.version import Version

from ..drive import SaverDrive
from ..threads import Stored, Thread
from .names import AsTheyAre
from .old_threads import PACKAGES, THREADS
from .reading import Tree, UnreadableGolden, sections
from .sets import Folder
from .text import Said, Section, text_of
from .wire import section_at, typed_in, typed_section

OLD_THREADS = "old_threads"
Loads = Callable[[tuple[str, bytes]], Any]
FIELDS = ("v", "id", "ts", "channel_values", "channel_versions", "versions_seen", "updated_channels")
"""The fields of a checkpoint that a saver keeps; ``pending_sends`` lay elsewhere in most."""


def banked() -> Folder:
    """The folder of the bank that comes with the distribution."""
    folder: Folder = files("langgraph_fixtures").joinpath(OLD_THREADS)
    return folder


def recorded(document: Mapping[str, Any]) -> dict[str, str]:
    """The files of the bank, by their path in it, of what the script ``old_threads`` printed."""
    made_with = document["made_with"]
    folder = "_".join(made_with[package] for package in PACKAGES)
    return {f"{folder}/{name}.txt": _text(name, made_with, held) for name, held in document["threads"].items()}


def _text(name: str, made_with: Mapping[str, str], held: list[dict[str, Any]]) -> str:
    section = Section({"shows": Said(THREADS[name].shows)})
    section["made with"] = Section({package: Said(found) for package, found in made_with.items()})
    for each in held:
        checkpoint = Section({"namespace": each["ns"], "parent": each["parent"]})
        for part in ("checkpoint", "metadata"):
            checkpoint[part] = typed_section(_typed(each[part]))
        checkpoint["new_versions"] = each["new_versions"]
        if each["writes"]:
            checkpoint["writes"] = Section(
                {
                    str(number): Section(
                        {
                            **{key: write[key] for key in ("task", "path", "channel")},
                            "value": typed_section(_typed(write["value"])),
                        }
                    )
                    for number, write in enumerate(each["writes"], 1)
                }
            )
        section[each["id"]] = checkpoint
    return text_of(section, AsTheyAre())


def _typed(typed: list[str]) -> tuple[str, bytes]:
    return typed[0], bytes.fromhex(typed[1])


@dataclass(frozen=True)
class OldWrite:
    """A write that lies under an old checkpoint."""

    task: str
    path: str
    channel: str
    value: Any


@dataclass(frozen=True)
class OldCheckpoint:
    """A checkpoint as an earlier version of LangGraph left it.

    Attributes:
        ns, parent: where it lies; None for the first one.
        checkpoint: without what was pending beside it.
        metadata: as it was stored.
        new_versions: the versions that were new with it.
        writes: the writes of its tasks.
        pending_sends: what the version read beside it, before format 4.
    """

    ns: str
    parent: str | None
    checkpoint: dict[str, Any]
    metadata: dict[str, Any]
    new_versions: dict[str, Any]
    writes: tuple[OldWrite, ...]
    pending_sends: tuple[Any, ...]

    @property
    def id(self) -> str:
        return str(self.checkpoint["id"])


@dataclass(frozen=True)
class OldThreadFile:
    """A thread of the bank.

    Attributes:
        made_with: the distributions that played it, and their versions.
        name: its name in ``THREADS``.
        file: where it is.
    """

    made_with: tuple[str, str]
    name: str
    file: Folder

    @property
    def label(self) -> str:
        return f"{'_'.join(self.made_with)}-{self.name}"

    def checkpoints(self) -> list[OldCheckpoint]:
        """All of its checkpoints, each after its parent, with values as the installed serializer makes them.

        Raises:
            UnreadableGolden: the file has another form.
        """
        origin = f"{self.file.name} of {'_'.join(self.made_with)}"
        tree = sections(self.file.read_text("utf-8"), origin)
        loads = JsonPlusSerializer().loads_typed
        return [
            _checkpoint(section_at(tree, key, origin), f"{origin}, {key}", loads)
            for key in tree
            if key not in ("shows", "made with")
        ]


def _checkpoint(section: Tree, origin: str, loads: Loads) -> OldCheckpoint:
    try:
        held = loads(typed_in(section["checkpoint"], origin))
        return OldCheckpoint(
            ns=ast.literal_eval(str(section["namespace"])),
            parent=ast.literal_eval(str(section["parent"])),
            checkpoint={key: value for key, value in held.items() if key in FIELDS},
            metadata=loads(typed_in(section["metadata"], origin)),
            new_versions=ast.literal_eval(str(section["new_versions"])),
            writes=tuple(_writes(section.get("writes", {}), origin, loads)),
            pending_sends=tuple(held.get("pending_sends", ())),
        )
    except (KeyError, ValueError, SyntaxError) as error:
        raise UnreadableGolden(f"{origin}: expected a checkpoint, found {error}") from error


def _writes(section: Any, origin: str, loads: Loads) -> Iterator[OldWrite]:
    for number in section:
        write = section_at(section, number, origin)
        task, path, channel = (ast.literal_eval(str(write[key])) for key in ("task", "path", "channel"))
        yield OldWrite(task, path, channel, loads(typed_in(write["value"], origin)))


def old_threads(folder: Folder | None = None) -> list[OldThreadFile]:
    """The threads of the bank, oldest version first."""
    folder = folder or banked()
    found = []
    for versions in folder.iterdir() if folder.is_dir() else ():
        langgraph, _, checkpoint = versions.name.partition("_")
        if checkpoint:
            found += [
                OldThreadFile((langgraph, checkpoint), file.name[: -len(".txt")], file)
                for file in versions.iterdir()
                if file.name.endswith(".txt")
            ]
    return sorted(found, key=lambda each: (*map(Version, each.made_with), list(THREADS).index(each.name)))


def hand_over(old: list[OldCheckpoint], thread: Thread, *, with_pending_sends: bool = False) -> list[Stored]:
    """Put a thread of the bank into a saver, under the id of ``thread``; gives what must be read.

    Channel versions become the saver's own, in the same order: its own old threads have such, and it goes on from them.

    Args:
        old: its checkpoints.
        thread: where they are put.
        with_pending_sends: put what was pending as a part of each checkpoint, too.
    """
    stored: dict[tuple[str, str | None], Stored] = {}
    own = _own_versions(old, thread.saver)
    for each in old:
        metadata = {**each.metadata, **({"thread_id": thread.id} if "thread_id" in each.metadata else {})}
        checkpoint = {
            **each.checkpoint,
            "channel_versions": _translated(each.checkpoint["channel_versions"], own),
            "versions_seen": {node: _translated(seen, own) for node, seen in each.checkpoint["versions_seen"].items()},
            **({"pending_sends": list(each.pending_sends)} if with_pending_sends else {}),
        }
        parent, new_versions = stored.get((each.ns, each.parent)), _translated(each.new_versions, own)
        made = Stored(thread.id, each.ns, checkpoint, metadata, parent, new_versions)
        stored[each.ns, each.id] = thread.store(made)
        for task, writes in _by_task(each.writes).items():
            thread.write(made, [(write.channel, write.value) for write in writes], task=task, path=writes[0].path)
    return list(stored.values())


def _own_versions(old: list[OldCheckpoint], saver: SaverDrive) -> dict[Any, Any]:
    """For each channel version of a thread one that the saver makes."""
    found: set[Any] = set()
    for each in old:
        for versions in (
            each.checkpoint["channel_versions"],
            each.new_versions,
            *each.checkpoint["versions_seen"].values(),
        ):
            found.update(versions.values())
    own: dict[Any, Any] = {}
    last = None
    for version in sorted(found):
        last = own[version] = saver.get_next_version(last)
    return own


def _translated(versions: Mapping[str, Any], own: Mapping[Any, Any]) -> dict[str, Any]:
    return {channel: own[version] for channel, version in versions.items()}


def _by_task(writes: tuple[OldWrite, ...]) -> dict[str, list[OldWrite]]:
    tasks: dict[str, list[OldWrite]] = {}
    for write in writes:
        tasks.setdefault(write.task, []).append(write)
    return tasks
