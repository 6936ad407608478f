"""The part of the pytest plugin that compares goldens, through syrupy."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.data import SnapshotCollections
from syrupy.exceptions import SnapshotDoesNotExist
from syrupy.extensions.single_file import SingleFileSnapshotExtension
from syrupy.location import PyTestLocation

from ..drive import SaverDrive
from ..errors import Broken
from ..threads import Thread
from .play import GoldenRun
from .reading import UnreadableGolden
from .sets import GoldenSet, available, choose, installed, installed_minor, packaged, writable, write
from .views import Recording, record, record_reference

MOST_LINES = 60
"""How many lines of a difference are shown."""


class GoldenExtension(SingleFileSnapshotExtension):
    """A golden's text file as a syrupy snapshot: read from the chosen set, written only when goldens are updated.

    Its names are the same in syrupy 4 to 7, unlike those of the methods that syrupy wants overridden.
    """

    golden_set: ClassVar[GoldenSet]
    view: ClassVar[str]
    run: ClassVar[str]

    @classmethod
    def get_location(cls, *, test_location: PyTestLocation, index: Any) -> str:
        return str(cls.golden_set.folder.joinpath(cls.view).joinpath(f"{cls.run}.txt"))

    def serialize(self, data: Any, **settings: Any) -> Any:
        return data

    def read_snapshot(self, *, test_location: PyTestLocation, index: Any, session_id: str) -> Any:
        text = self.golden_set.read(self.view, self.run)
        if text is None:
            raise SnapshotDoesNotExist
        return text

    @classmethod
    def write_snapshot(cls, *, snapshot_location: str, snapshots: Any, **settings: Any) -> None:
        for text, *_ in snapshots:
            write(Path(snapshot_location), text)

    def discover_snapshots(self, **settings: Any) -> SnapshotCollections:
        # goldens of other sets and of runs that were not selected are not unused
        return SnapshotCollections()


class Goldens:
    """The goldens that a run is compared with, or that it updates.

    Args:
        folder: given by ``--golden-dir``; the packaged sets if None.
        update: whether ``--snapshot-update`` was given.

    Attributes:
        minor: the minor version of the installed LangGraph.
        chosen: the set; None if there is none for this LangGraph.
        updating: whether it is written.
    """

    def __init__(self, folder: str | None, update: bool) -> None:
        self._played: dict[tuple[str, str], Recording] = {}
        self.minor = installed_minor()
        target = Path(folder).resolve() if folder else writable(packaged())
        self.updating = update and target is not None
        if folder and not self.updating and not Path(folder).is_dir():
            raise pytest.UsageError(f"--golden-dir={folder}: there is no such folder")
        self._folder, self._refused = folder, update and target is None
        if self.updating and target is not None:
            self.chosen: GoldenSet | None = GoldenSet(self.minor, target / self.minor)
        else:
            self._sets = available(Path(folder) if folder else packaged())
            self.chosen = choose(self._sets, self.minor)
            try:
                recorded = self.chosen.recorded_with() if self.chosen else {}
            except UnreadableGolden as error:
                raise pytest.UsageError(str(error)) from error
            self._recorded = _in_words(recorded)

    def played(self, run: GoldenRun, saver: SaverDrive, new_thread: Callable[[], Thread]) -> Recording:
        """What the run left behind on this saver; it is played once for both views."""
        key = (run.name, saver.mode)
        if key not in self._played:
            self._played[key] = record(run, saver, new_thread)
        return self._played[key]

    def header(self) -> str:
        """Which set it is, in words."""
        if self.chosen is None:
            return f"goldens: {self.why_none()}"
        if self.updating:
            return f"goldens: writing the set {self.chosen.minor}"
        which = f"set {self.chosen.minor} (recorded with {self._recorded})"
        line = f"goldens: {which} for the installed LangGraph {self.minor}"
        if self._refused:
            line += f"; nothing is written, since {packaged()} is an installed package: give --golden-dir"
        return line

    def why_none(self) -> str:
        """Why there is no set to compare with, in words."""
        newer = ", ".join(each.minor for each in self._sets)
        why = f": those in {self._folder or packaged()} are newer ({newer})" if newer else ""
        return f"there is no set for the installed LangGraph {self.minor}{why}"


GOLDENS: pytest.StashKey[Goldens] = pytest.StashKey()


def goldens_of(config: pytest.Config) -> Goldens:
    """The goldens of a pytest run."""
    if GOLDENS not in config.stash:
        update = bool(getattr(config.option, "update_snapshots", False))
        config.stash[GOLDENS] = Goldens(config.getoption("golden_dir"), update)
    return config.stash[GOLDENS]


def pytest_report_header(config: pytest.Config) -> str | None:
    return goldens_of(config).header() if config.getoption("saver") else None


class Golden:
    """Compares what a run left behind with its golden, or writes it.

    Args:
        goldens: the goldens of the pytest run.
        chosen: the set.
        item: the test.
        session: syrupy's session.
    """

    def __init__(self, goldens: Goldens, chosen: GoldenSet, item: pytest.Item, session: Any) -> None:
        self._goldens, self._set, self._item, self._session = goldens, chosen, item, session

    def compare(self, view: str, run: GoldenRun, saver: SaverDrive, new_thread: Callable[[], Thread]) -> None:
        """Play a run and compare what it left behind; a golden that is updated is written.

        LangGraph changes what it persists with patches, too. So where the installed version is not the recorded one
        and the golden differs, what the reference saver shows with the installed version counts.

        Args:
            view: ``logical`` or ``layout``.
            run: the run.
            saver: the saver, through the drive that is to be used.
            new_thread: makes a thread that nobody else uses.

        Raises:
            Broken: it differs.
        """
        text = getattr(self._goldens.played(run, saver, new_thread), view)
        if view == "logical" and self._goldens.updating:
            # not in the drive that is used: before 1.0 an async run repeats calls that a sync one does not
            self.write("calls", run.name, record_reference(run, "sync").calls or "")
        recorded = self._set.read(view, run.name)
        if recorded is None and not self._goldens.updating:
            pytest.skip(f"the set {self._set.minor} has no {view} golden of the run {run.name}")
        if recorded != text and not self._goldens.updating and self._set.recorded_with() != installed():
            reference = getattr(record_reference(run, saver.mode), view)
            if reference != recorded:
                return self._drifted(view, run, reference, text)
        if not self._holds(view, run.name, text):
            raise _different(f"the set {self._set.minor}", view, run, recorded or "", text)
        return None

    def write(self, view: str, name: str, text: str) -> None:
        """Write a golden that no saver is compared with, if goldens are updated.

        Args:
            view: ``calls`` or ``wire``.
            name: of the run, or of the kind of values.
            text: what it shows.
        """
        if self._goldens.updating:
            self._holds(view, name, text)

    def _holds(self, view: str, name: str, text: str) -> bool:
        names = {"golden_set": self._set, "view": view, "run": name}
        snapshot = SnapshotAssertion(
            session=self._session,
            extension_class=type("Extension", (GoldenExtension,), names),
            test_location=PyTestLocation(self._item),
            update_snapshots=self._goldens.updating,
        )
        return bool(snapshot == text)

    def _drifted(self, view: str, run: GoldenRun, reference: str, text: str) -> None:
        versions = _in_words(installed())
        warnings.warn(
            f"{versions} persist these golden runs otherwise than the set {self._set.minor} shows (recorded with "
            f"{_in_words(self._set.recorded_with())}): they are compared with what the reference saver shows",
            stacklevel=1,
        )
        if reference != text:
            raise _different(f"the reference saver (with {versions})", view, run, reference, text)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compares what a golden run left behind with its golden."""
    goldens = goldens_of(request.config)
    session = getattr(request.config, "_syrupy", None)
    if session is None:
        pytest.skip("syrupy is switched off")
    if goldens.chosen is None:
        pytest.skip(goldens.why_none())
    return Golden(goldens, goldens.chosen, request.node, session)


def _in_words(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _different(shows: str, view: str, run: GoldenRun, expected: str, text: str) -> Broken:
    lines = list(difflib.unified_diff(expected.splitlines(), text.splitlines(), shows, "this run", lineterm="", n=4))
    more = [f"… and {len(lines) - MOST_LINES} more lines"] if len(lines) > MOST_LINES else []
    what = f"the {view} view of the golden run {run.name} ({run.shows})"
    return Broken(what, f"what {shows} shows", "something else", tuple(lines[:MOST_LINES] + more))
