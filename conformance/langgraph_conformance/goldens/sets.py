"""Sets of goldens, one per minor version of LangGraph, and which of them a run is compared with."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Protocol

from packaging.version import InvalidVersion, Version

from .reading import UnreadableGolden

PACKAGES = ("langgraph", "langgraph-checkpoint")
VIEWS = ("logical", "layout", "calls")
RECORDED_WITH = "recorded_with.json"


class Folder(Protocol):
    """The part of ``importlib.resources.abc.Traversable`` that is needed; a Path has it, too."""

    @property
    def name(self) -> str: ...
    def joinpath(self, name: str, /) -> Folder: ...
    def is_file(self) -> bool: ...
    def is_dir(self) -> bool: ...
    def iterdir(self) -> Iterable[Folder]: ...
    def read_text(self, encoding: str) -> str: ...


def packaged() -> Folder:
    """The folder of the sets that come with the distribution."""
    folder: Folder = files("langgraph_fixtures").joinpath("goldens")
    return folder


def writable(folder: Folder) -> Path | None:
    """``folder`` as a path if it lies in a checkout of this project, else None: nothing installed is ever changed."""
    path = Path(str(folder)).resolve()
    project = path.parents[2] / "pyproject.toml"
    if not project.is_file() or 'name = "langgraph-conformance"' not in project.read_text(encoding="utf-8"):
        return None
    return path


def installed_minor() -> str:
    """The minor version of the installed LangGraph, such as ``1.2``."""
    langgraph = Version(version("langgraph"))
    return f"{langgraph.major}.{langgraph.minor}"


@dataclass(frozen=True)
class GoldenSet:
    """The goldens of one minor version of LangGraph.

    Attributes:
        minor: such as ``1.2``.
        folder: where they are: a folder per view, a text file per run.
    """

    minor: str
    folder: Folder

    def read(self, view: str, run: str) -> str | None:
        """The golden of a run in a view, None if there is none.

        Raises:
            UnreadableGolden: it is no text in UTF-8.
        """
        file = self.folder.joinpath(view).joinpath(f"{run}.txt")
        try:
            return file.read_text("utf-8") if file.is_file() else None
        except UnicodeDecodeError as error:
            raise UnreadableGolden(f"{view}/{run}.txt of the set {self.minor}: expected text in UTF-8") from error

    def names(self, view: str) -> set[str]:
        """The names of the runs that have a golden in a view."""
        folder = self.folder.joinpath(view)
        files = folder.iterdir() if folder.is_dir() else ()
        return {file.name[: -len(".txt")] for file in files if file.name.endswith(".txt")}

    def recorded_with(self) -> dict[str, str]:
        """The versions of the distributions that it was recorded with.

        Raises:
            UnreadableGolden: the file that says so is not there, or has another form.
        """
        file = self.folder.joinpath(RECORDED_WITH)
        try:
            versions: dict[str, str] = dict(json.loads(file.read_text("utf-8") if file.is_file() else ""))
        except ValueError:
            expected = f"expected a {RECORDED_WITH} with the versions that it was recorded with"
            raise UnreadableGolden(f"the set {self.minor} in {self.folder}: {expected}") from None
        return versions


def available(folder: Folder) -> list[GoldenSet]:
    """The sets in a folder, oldest first."""
    sets = []
    for each in folder.iterdir() if folder.is_dir() else ():
        try:
            sets.append((Version(each.name), GoldenSet(each.name, each)))
        except InvalidVersion:  # a cache folder, for example
            continue
    return [golden_set for _, golden_set in sorted(sets, key=lambda pair: pair[0])]


def not_newer(sets: Iterable[GoldenSet], minor: str) -> list[GoldenSet]:
    """The sets that are not newer than ``minor``."""
    return [each for each in sets if Version(each.minor) <= Version(minor)]


def choose(sets: Iterable[GoldenSet], minor: str) -> GoldenSet | None:
    """The newest set that is not newer than ``minor``, None if all are."""
    return max(not_newer(sets, minor), key=lambda each: Version(each.minor), default=None)


def installed() -> dict[str, str]:
    """The installed versions of the distributions that goldens depend on."""
    return {package: version(package) for package in PACKAGES}


def write(file: Path, text: str) -> None:
    """Write a golden, and beside its set what it was recorded with."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="\n")
    versions = json.dumps(installed(), indent=2) + "\n"
    (file.parent.parent / RECORDED_WITH).write_text(versions, encoding="utf-8", newline="\n")
