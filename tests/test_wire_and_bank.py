"""What is recorded of the serializer and of old threads is complete and readable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph_conformance.goldens.bank import banked, old_threads, recorded
from langgraph_conformance.goldens.names import AsTheyAre
from langgraph_conformance.goldens.old_threads import THREADS, document
from langgraph_conformance.goldens.reading import UnreadableGolden, sections, value_of
from langgraph_conformance.goldens.sets import GoldenSet, available, choose, installed, installed_minor, packaged
from langgraph_conformance.goldens.text import text_of
from langgraph_conformance.goldens.wire import WIRE_VIEW, recorded_wire, text_of_wire, typed_in, typed_section
from langgraph_conformance.goldens.wire_values import OTHER_BYTES_ELSEWHERE, WIRE, typed_values
from langgraph_fixtures import withdrawn
from packaging.requirements import Requirement

SETS = available(packaged())
CURRENT = choose(SETS, installed_minor())
BANK = old_threads()
FORMATS = {
    "0.2.76_2.0.10": 1,
    "0.2.76_2.0.26": 2,
    "0.3.34_2.0.26": 3,
    "0.4.10_2.0.26": 3,
    "0.5.4_2.1.0": 4,
    "0.6.11_2.1.2": 4,
    "1.0.10_3.0.1": 4,
    "1.1.10_4.0.0": 4,
}

every_set = pytest.mark.parametrize("golden_set", SETS, ids=[each.minor for each in SETS])
every_thread = pytest.mark.parametrize("old", BANK, ids=[each.label for each in BANK])


# -- wire


@every_set
def test_a_set_holds_every_value_and_its_bytes_say_what_stands_beside_them(golden_set: GoldenSet) -> None:
    recorded_kinds = recorded_wire(golden_set)
    assert set(recorded_kinds) >= set(WIRE) - {"deltas"}
    for kind, typed in recorded_kinds.items():
        text = golden_set.read(WIRE_VIEW, kind) or ""
        assert text_of_wire(typed) == text
        assert max(map(len, text.splitlines())) <= 200
        assert kind == "json" or set(typed) == set(WIRE[kind])


def test_the_oldest_set_holds_what_was_withdrawn() -> None:
    known = {f"{kind}/{name}" for kind, typed in recorded_wire(SETS[0]).items() for name in typed}
    for each in withdrawn():
        assert set(each.values) <= known
        assert Requirement(each.since).name == "langgraph-checkpoint"
        assert each.becomes in ("data", "nothing")
        assert each.issue.startswith("GHSA-")


@pytest.mark.skipif(CURRENT is None or CURRENT.recorded_with() != installed(), reason="other versions are installed")
def test_the_installed_serializer_gives_the_recorded_bytes() -> None:
    assert CURRENT is not None
    made = typed_values(JsonPlusSerializer())
    for kind, typed in recorded_wire(CURRENT).items():
        for name, each in typed.items():
            if not (OTHER_BYTES_ELSEWHERE.get(kind) or OTHER_BYTES_ELSEWHERE.get(name)):
                assert (made[kind][name][0], bytes(made[kind][name][1])) == each, f"{kind}/{name}"


# -- old threads


def typed_sections(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for section in tree.values():
        if isinstance(section, dict):
            if "bytes" in section:
                yield section
            else:
                yield from typed_sections(section)


def test_the_bank_holds_every_thread_of_every_version() -> None:
    assert {each.label for each in BANK} == {f"{version}-{name}" for version in FORMATS for name in THREADS}


@every_thread
def test_an_old_thread_is_readable_and_in_the_format_of_its_time(old: Any) -> None:
    text = old.file.read_text("utf-8")
    assert max(map(len, text.splitlines())) <= 200
    assert {each.checkpoint["v"] for each in old.checkpoints()} == {FORMATS["_".join(old.made_with)]}
    tree = sections(text, old.label)
    assert tree["shows"] == THREADS[old.name].shows
    for section in typed_sections(tree):
        again = sections(text_of(typed_section(typed_in(section, old.label)), AsTheyAre()), old.label)
        assert (again["tag"], value_of(str(again["holds"]))) == (section["tag"], value_of(section["holds"]))


def test_what_is_pending_is_in_the_bank() -> None:
    by_label = {each.label: each.checkpoints() for each in BANK}
    for version, v in FORMATS.items():
        last = by_label[f"{version}-sends"][-1]
        in_channel = last.checkpoint["channel_values"].get("__pregel_tasks", [])
        assert [len(last.pending_sends), len(in_channel)] == ([3, 0] if v < 4 else [0, 3])
        assert "__interrupt__" in {write.channel for write in by_label[f"{version}-interrupted"][-1].writes}
        assert {write.channel for write in by_label[f"{version}-failed"][-1].writes} >= {"log", "__error__"}
        assert {each.ns != "" for each in by_label[f"{version}-subgraph"]} == {True, False}


def test_the_script_makes_files_of_the_bank() -> None:
    files = recorded(document())
    folder = "_".join(installed().values())
    assert set(files) == {f"{folder}/{name}.txt" for name in THREADS}
    assert files[f"{folder}/sends.txt"].startswith("shows: A run that was stopped when three Sends were pending.\n")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("    tag: msgpack\n", "", "expected a tag and bytes"),
        ("    bytes: b'", "    bytes: c'", "expected a tag and bytes"),
        ("  parent: None\n", "", "expected a checkpoint"),
        ("  namespace: ''\n", "  namespace: [\n", "a bracket is opened and not closed"),
    ],
)
def test_a_thread_that_cannot_be_read_is_named(tmp_path: Any, old: str, new: str, told: str) -> None:
    folder = tmp_path / "1.1.10_4.0.0"
    folder.mkdir()
    text = banked().joinpath("1.1.10_4.0.0").joinpath("failed.txt").read_text("utf-8")
    assert old in text
    (folder / "failed.txt").write_text(text.replace(old, new, 1), encoding="utf-8")
    [thread] = old_threads(tmp_path)
    with pytest.raises(UnreadableGolden, match=told) as error:
        thread.checkpoints()
    assert "failed.txt of 1.1.10_4.0.0" in str(error.value)
