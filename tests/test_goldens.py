"""Golden runs: the recorded three-checkpoint run is what LangGraph's documents say, and goldens are stable and safe."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Judge
from langgraph_conformance.goldens import RUNS, GoldenRun
from langgraph_conformance.goldens.names import Names, numbered
from langgraph_conformance.goldens.sets import (
    VIEWS,
    GoldenSet,
    available,
    choose,
    installed,
    installed_minor,
    packaged,
    writable,
    write,
)
from langgraph_conformance.goldens.text import Section, text_of
from langgraph_conformance.goldens.views import record_reference
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
SETS = available(packaged())
CURRENT = choose(SETS, installed_minor())
PLAYABLE = [run for run in RUNS.values() if run.holds()]

every_set = pytest.mark.parametrize("golden_set", SETS, ids=[each.minor for each in SETS])
every_run = pytest.mark.parametrize("run", PLAYABLE, ids=[run.name for run in PLAYABLE])


def parsed(text: str) -> dict[str, Any]:
    """A golden as nested dicts, by its indentation; what is broken into several lines is put on one."""
    root: dict[str, Any] = {}
    open_sections = [(-1, root)]
    lines = re.sub(r"(?<=[\[({])\n\s+|,\n(\s+)(?=[\])}])|(?<=,)\n\s+", lambda m: "" if m[0][0] != "," else ",", text)
    for line in lines.replace(",]", "]").replace(",}", "}").splitlines():
        indent = len(line) - len(line.lstrip())
        while open_sections[-1][0] >= indent:
            open_sections.pop()
        # a key may hold colons, such as branch:to:node: it ends at the last one before the value
        key, _, value = line.strip().partition(": ")
        if value:
            open_sections[-1][1][key] = value
        else:
            section: dict[str, Any] = {}
            open_sections[-1][1][line.strip().removesuffix(":")] = section
            open_sections.append((indent, section))
    return root


def version_of(counter: int, fraction: int | None = None) -> str:
    return f"{counter:032}.<fraction {fraction or counter}>"


@every_set
def test_the_three_checkpoint_run_lies_in_memory_as_documented(golden_set: GoldenSet) -> None:
    """Written from LangGraph's description of its in-memory saver, not from a recording."""
    v1, v2, v3 = version_of(1), version_of(2), version_of(3)
    checkpoint = "<thread 1> '' <checkpoint {}>".format
    blob = "<thread 1> '' {} {}".format
    expected = {
        "storage": {
            checkpoint(1): {
                "parent": "None",
                "metadata msgpack": "{'parents': {}, 'source': 'input', 'step': -1}",
                "checkpoint msgpack": {
                    "channel_versions": f"{{'__start__': {v1}}}",
                    "id": "<checkpoint 1>",
                    "ts": "<time 1>",
                    "updated_channels": "['__start__']",
                    "v": "4",
                    "versions_seen": "{'__input__': {}}",
                },
            },
            checkpoint(2): {
                "parent": "<checkpoint 1>",
                "metadata msgpack": "{'parents': {}, 'source': 'loop', 'step': 0}",
                "checkpoint msgpack": {
                    "channel_versions": f"{{'__start__': {v2},'branch:to:get_address': {v2}}}",
                    "id": "<checkpoint 2>",
                    "ts": "<time 2>",
                    "updated_channels": "['branch:to:get_address']",
                    "v": "4",
                    "versions_seen": f"{{'__input__': {{}},'__start__': {{'__start__': {v1}}}}}",
                },
            },
            checkpoint(3): {
                "parent": "<checkpoint 2>",
                "metadata msgpack": "{'parents': {}, 'source': 'loop', 'step': 1}",
                "checkpoint msgpack": {
                    "channel_versions": f"{{'__start__': {v2},'address': {v3},"
                    f"'branch:to:get_address': {v3},'name': {v3}}}",
                    "id": "<checkpoint 3>",
                    "ts": "<time 3>",
                    "updated_channels": "['address', 'name']",
                    "v": "4",
                    "versions_seen": f"{{'__input__': {{}},'__start__': {{'__start__': {v1}}},"
                    f"'get_address': {{'branch:to:get_address': {v2}}}}}",
                },
            },
        },
        "writes": {
            checkpoint(1): {
                "<task 1> 0": "[<task 1>, 'branch:to:get_address', ['null', b''], '~__pregel_pull, __start__']"
            },
            checkpoint(2): {
                "<task 2> 0": r"[<task 2>, 'name', ['msgpack', b'\xacpavaneeshwar'], '~__pregel_pull, get_address']",
                "<task 2> 1": r"[<task 2>, 'address', ['msgpack', b'\xb3Hyderabad residency'], "
                "'~__pregel_pull, get_address']",
            },
        },
        "blobs": {
            blob("__start__", v1): r"['msgpack', b'\x80']",
            blob("__start__", v2): "['empty', b'']",
            blob("branch:to:get_address", v2): "['null', b'']",
            blob("branch:to:get_address", v3): "['empty', b'']",
            blob("name", v3): r"['msgpack', b'\xacpavaneeshwar']",
            blob("address", v3): r"['msgpack', b'\xb3Hyderabad residency']",
        },
    }
    assert parsed(golden_set.read("layout", "three_checkpoints") or "") == expected


@every_set
def test_the_three_checkpoint_run_reads_as_documented(golden_set: GoldenSet) -> None:
    """The history of the run, written from LangGraph's description of it."""
    golden = parsed(golden_set.read("logical", "three_checkpoints") or "")
    checkpoints = golden["<thread 1> namespace ''"]
    assert list(checkpoints) == ["latest", "<checkpoint 1>", "<checkpoint 2>", "<checkpoint 3>"]
    assert checkpoints["latest"] == "<checkpoint 3>"
    values = "{'address': 'Hyderabad residency', 'name': 'pavaneeshwar'}"
    seen = [
        (each["parent"], each["metadata"], each["channel_values"], each["snapshot"]["values"], each["snapshot"]["next"])
        for each in (checkpoints[f"<checkpoint {number}>"] for number in (1, 2, 3))
    ]
    assert seen == [
        ("None", "{'parents': {}, 'source': 'input', 'step': -1}", "{'__start__': {}}", "{}", "['__start__']"),
        (
            "<checkpoint 1>",
            "{'parents': {}, 'source': 'loop', 'step': 0}",
            "{'branch:to:get_address': None}",
            "{}",
            "['get_address']",
        ),
        ("<checkpoint 2>", "{'parents': {}, 'source': 'loop', 'step': 1}", values, values, "[]"),
    ]
    assert golden["calls"]["1 invoke"]["returned"] == values


@every_set
def test_a_set_has_a_readable_golden_of_each_run_and_no_other(golden_set: GoldenSet) -> None:
    newest_patch = f"{golden_set.minor}.999"
    holding = [run for run in RUNS.values() if not run.since or Requirement(run.since).specifier.contains(newest_patch)]
    assert golden_set.names("logical") == {run.name for run in holding}
    assert golden_set.names("layout") == {run.name for run in holding if run.layout}
    assert golden_set.names("calls") == {run.name for run in holding}
    assert set(golden_set.recorded_with()) == {"langgraph", "langgraph-checkpoint"}
    for view in VIEWS:
        for name in golden_set.names(view):
            text = golden_set.read(view, name) or ""
            assert max(map(len, text.splitlines())) <= 200, (view, name)
            assert not re.search(r"<id \d|[0-9a-f]{8}-[0-9a-f]{4}|\d{4}-\d\d-\d\dT|0\.\d{10}", text), (view, name)


@pytest.mark.skipif(CURRENT is None or CURRENT.recorded_with() != installed(), reason="other versions are installed")
@pytest.mark.parametrize("mode", ["sync", "async"])
@every_run
def test_both_drives_give_the_recorded_golden_again_and_again(run: GoldenRun, mode: str) -> None:
    assert CURRENT is not None
    for _ in range(2):
        recording = record_reference(run, mode)
        assert recording.logical == CURRENT.read("logical", run.name)
        assert recording.layout == CURRENT.read("layout", run.name)
        assert recording.calls == CURRENT.read("calls", run.name)


def test_another_process_with_other_hashes_records_the_same() -> None:
    script = (
        "import json; from langgraph_conformance.goldens import RUNS; "
        "from langgraph_conformance.goldens.views import record_reference as record; "
        "played = {run.name: record(run, 'sync') for run in RUNS.values() if run.holds()}; "
        "print(json.dumps({name: [each.logical, each.layout, each.calls] for name, each in played.items()}))"
    )
    recordings = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        ended = subprocess.run(
            [sys.executable, "-c", script], env=environment, check=True, capture_output=True, text=True
        )
        recordings.append(json.loads(ended.stdout.splitlines()[-1]))
    assert recordings[0] == recordings[1]
    assert recordings[0] == {
        run.name: [recording.logical, recording.layout, recording.calls]
        for run in PLAYABLE
        for recording in [record_reference(run, "sync")]
    }


def test_the_newest_set_that_is_not_newer_is_chosen() -> None:
    sets = [GoldenSet(minor, Path(minor)) for minor in ("0.6", "1.2", "1.10", "1.9")]
    chosen = {minor: choose(sets, minor) for minor in ("0.5", "0.6", "1.0", "1.2", "1.9", "1.11", "2.0")}
    assert {minor: each and each.minor for minor, each in chosen.items()} == {
        "0.5": None,
        "0.6": "0.6",
        "1.0": "0.6",
        "1.2": "1.2",
        "1.9": "1.9",
        "1.11": "1.10",
        "2.0": "1.10",
    }


# -- comparing and updating, in a pytest run

RULES = [
    "--saver=langgraph_reference:ReferenceSaver",
    "graph/test_goldens.py",
    "-k",
    "three_checkpoints or counter or delta_channel",
]
DIFFERENT = ("'step': 1}", "'step': 7}")


def files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".pyc"
    }


def replaced(file: Path) -> None:
    """Change a golden."""
    file.write_text(file.read_text(encoding="utf-8").replace(*DIFFERENT), encoding="utf-8")


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A set of the installed versions in the folder ``goldens``."""
    folder = tmp_path / "goldens" / installed_minor()
    for run in PLAYABLE:
        recording = record_reference(run, "sync")
        write(folder / "logical" / f"{run.name}.txt", recording.logical)
        for view in ("layout", "calls"):
            text = getattr(recording, view)
            if text is not None:
                write(folder / view / f"{run.name}.txt", text)
    return folder


def test_an_update_writes_the_set_of_the_installed_version_into_the_given_folder(
    judge: Judge, recorded: Path, tmp_path: Path
) -> None:
    updated = judge(*RULES, "--snapshot-update", "--golden-dir=again")
    assert updated.code == 0, updated.output
    assert f"goldens: writing the set {installed_minor()}" in updated.output
    written = files(tmp_path / "again" / installed_minor())
    assert {"logical/three_checkpoints.txt", "layout/counter.txt", "calls/counter.txt", "recorded_with.json"} <= set(
        written
    )
    assert written.items() <= files(recorded).items()


def test_a_golden_that_differs_is_shown_by_its_lines_and_is_not_changed(judge: Judge, recorded: Path) -> None:
    replaced(recorded / "logical" / "counter.txt")
    before = files(recorded)
    compared = judge(*RULES, "--golden-dir=goldens")
    assert compared.code == 1
    assert f"goldens: set {installed_minor()} (recorded with langgraph" in compared.output
    assert compared.with_outcome("failed") == {"graph.goldens.a_known_run_leaves_what_its_golden_shows"}
    assert "-    metadata: {'parents': {}, 'source': 'loop', 'step': 7}" in compared.output
    assert "+    metadata: {'parents': {}, 'source': 'loop', 'step': 1}" in compared.output
    assert "Three runs on one thread" in compared.output
    assert files(recorded) == before


FORGETFUL = """
from langgraph_reference import ReferenceSaver

class Forgetful(ReferenceSaver):
    def put(self, config, checkpoint, metadata, new_versions):
        return super().put(config, {**checkpoint, "updated_channels": None}, metadata, new_versions)
"""


@pytest.mark.parametrize(("saver", "code"), [("langgraph_reference:ReferenceSaver", 0), ("forgetful:Forgetful", 1)])
def test_with_another_patch_of_langgraph_the_reference_saver_decides(
    judge: Judge, recorded: Path, tmp_path: Path, saver: str, code: int
) -> None:
    """What a patch changed is no fault of a saver, and a saver's own fault still is one."""
    patch = {"langgraph": f"{installed_minor()}.999", "langgraph-checkpoint": "9.9"}
    (recorded / "recorded_with.json").write_text(json.dumps(patch), encoding="utf-8")
    replaced(recorded / "logical" / "counter.txt")
    (tmp_path / "forgetful.py").write_text(FORGETFUL, encoding="utf-8")
    compared = judge(f"--saver={saver}", *RULES[1:], "--golden-dir=goldens", env={"PYTHONPATH": str(tmp_path)})
    assert compared.code == code, compared.output
    assert "they are compared with what the reference saver shows" in compared.output
    assert ("what the reference saver (with langgraph" in compared.output) == bool(code)


def test_installed_goldens_are_never_written(judge: Judge, tmp_path: Path) -> None:
    site = tmp_path / "lib" / "site-packages"
    for folder in ("conformance", "reference", "fixtures"):
        shutil.copytree(ROOT / folder, site, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    replaced(site / "langgraph_fixtures" / "goldens" / installed_minor() / "logical" / "counter.txt")
    before = files(site)
    ended = judge(*RULES, "--snapshot-update", env={"PYTHONPATH": str(site)})
    assert f"goldens: set {installed_minor()}" in ended.output
    assert f"nothing is written, since {site}" in ended.output
    assert "give --golden-dir" in ended.output
    assert files(site) == before
    assert writable(site / "langgraph_fixtures" / "goldens") is None
    assert writable(packaged()) == ROOT / "fixtures" / "langgraph_fixtures" / "goldens"


# -- names and text


def test_names_are_kept_by_relation_and_given_in_the_order_of_appearance() -> None:
    names = Names()
    first, second = "1f0a1b2c-0000-6000-8000-000000000001", "1f0a1b2c-0000-6000-8000-000000000002"
    assert names.give("task", second) == "<task 1>"
    assert names.give("checkpoint", first) == "<checkpoint 1>"
    assert names.give("checkpoint", second) == "<task 1>"
    assert names.say(f"child:{second}|inner:{first}") == "child:<task 1>|inner:<checkpoint 1>"
    assert names.say("at 2026-01-02T03:04:05.678901+00:00 or 2026-01-02T03:04:05Z") == "at <time 1> or <time 2>"
    assert names.say("again at 2026-01-02T03:04:05Z") == "again at <time 2>"
    assert names.say(f"{'ab' * 16} and {'ab' * 16}") == "<id 1> and <id 1>"
    assert names.say_version(f"{7:032}.0.25") == f"{7:032}.<fraction 1>"
    assert names.say_version(f"{8:032}.1.5e-05") == f"{8:032}.<fraction 2>"
    assert names.say_version(f"{9:032}.0.25") == f"{9:032}.<fraction 1>"
    assert names.say_version(3) == "3"


def test_versions_of_any_kind_are_numbered_along_a_branch() -> None:
    parent = numbered(["b", "a", "b"], {})
    assert parent == {"a": 1, "b": 2}
    assert numbered(["b", "c.5"], parent) == {"a": 1, "b": 2, "c.5": 3}
    assert numbered(["b", "c.7"], parent) == {"a": 1, "b": 2, "c.7": 3}
    assert numbered([10, 9], {}) == {9: 1, 10: 2}


def test_text_breaks_what_is_too_long_and_keeps_every_character() -> None:
    value = {
        "long": "é\n" * 300,
        "bytes": bytes(range(256)),
        "nested": [{"number": n, "none": None} for n in range(30)],
    }
    text = text_of(Section({"value": value}), Names())
    assert max(map(len, text.splitlines())) <= 200
    assert eval(text.partition(": ")[2]) == value


def test_text_tells_types_apart() -> None:
    values = {"a": [1, True, 1.0, "1", b"1", None, -0.0], "b": {3, 1, 2}, "c": set(), "d": bytearray(b"x"), "e": {1: 2}}
    text = text_of(Section(values), Names())
    assert text.splitlines() == [
        "a: [1, True, 1.0, '1', b'1', None, -0.0]",
        "b: {1, 2, 3}",
        "c: set()",
        "d: bytearray(b'x')",
        "e: {1: 2}",
    ]


def test_text_refuses_what_has_no_stable_text() -> None:
    with pytest.raises(TypeError, match="a golden cannot show a object"):
        text_of(Section({"value": object()}), Names())
