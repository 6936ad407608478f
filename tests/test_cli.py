"""The command: sets are recorded and compared in words, and what goes wrong is said in one sentence."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Judge
from langgraph_conformance.cli import BAD_INPUT, DIFFERENT, FAILED, SAME, main
from langgraph_conformance.goldens import recording
from langgraph_conformance.goldens.recording import CannotRecord, checked_version, uv_command, why_uv_failed
from langgraph_conformance.goldens.sets import installed_minor, packaged
from packaging.version import Version

GOLDENS = Path(str(packaged()))
MINOR = installed_minor()


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A folder with a set, and the same one as that of a later version."""
    for minor in ("1.0", "1.1"):
        shutil.copytree(GOLDENS / "1.0", tmp_path / "goldens" / minor)
    return tmp_path / "goldens"


Diff = Callable[..., tuple[int, str]]


@pytest.fixture
def diff(two: Path, capsys: pytest.CaptureFixture[str]) -> Diff:
    """Compares the two; gives the exit code and what was printed."""

    def run(*options: str) -> tuple[int, str]:
        code = main(["goldens", "diff", "1.0", "1.1", f"--golden-dir={two}", *options])
        return code, capsys.readouterr().out

    return run


def changed(file: Path, old: str, new: str, count: int = -1) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, count), encoding="utf-8")


def failure(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """The exit code of a command and what it printed as an error, which must be one sentence."""
    code = main(arguments)
    printed = capsys.readouterr()
    assert printed.err.startswith("langgraph-conformance: ") and printed.err.count("\n") == 1
    return code, printed.err


# -- what differs, in words


def test_the_same_sets_show_the_same(diff: Diff) -> None:
    code, printed = diff()
    assert code == SAME
    assert "show the same" in printed


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        (
            "logical/counter.txt",
            "branch:to:add_one",
            "start:add_one",
            "channel branch:to:add_one is renamed to start:add_one",
        ),
        ("logical/counter.txt", "'source': 'loop', ", "", "field source is gone in metadata: 'loop'"),
        ("logical/counter.txt", "    ts: <time 1>\n", "", "field ts is gone: <time 1>"),
        (
            "logical/counter.txt",
            "        0 count: 1\n",
            "        0 count: 1\n        1 more: 2\n",
            "a write more (channel more)",
        ),
        ("logical/counter.txt", "'step': 1}", "'step': 7}", "another value: metadata.step: 1 → 7"),
        (
            "logical/sends.txt",
            "next: ['work', 'work', 'work']",
            "next: ['work']",
            "a member less ('work') in snapshot.next",
        ),
        ("layout/counter.txt", r"b'\x02'", r"b'\x03'", r"other bytes: "),
        (
            "layout/three_checkpoints.txt",
            "  <thread 1> '' name 0",
            "  <thread 1> '' noun 0",
            "a blob less (channel name)",
        ),
        ("calls/counter.txt", "2 put:", "2 put_writes:", "a call more (put_writes) in the calls that invoke makes"),
        ("calls/counter.txt", "'source': 'input'", "'source': 'loop'", "another value: the call put.metadata.source"),
        ("logical/counter.txt", "<task 1>", "<task 9>", "tasks have another order"),
        ("wire/engine.txt", "Interrupt", "Breakage", "another value: the serialized engine/interrupt"),
    ],
)
def test_a_change_is_told_in_words(diff: Diff, two: Path, file: str, old: str, new: str, told: str) -> None:
    changed(two / "1.1" / file, old, new)
    code, printed = diff("--all")
    assert code == DIFFERENT
    assert told in printed


def test_what_changes_in_many_places_is_told_once_with_its_runs(diff: Diff, two: Path) -> None:
    for run in ("counter", "sends"):
        changed(two / "1.1" / "logical" / f"{run}.txt", "'source': 'loop', ", "")
    code, printed = diff()
    assert code == DIFFERENT
    assert printed.count("field source is gone") == 1
    assert "counter, sends" in printed


def test_a_golden_run_may_be_new_or_gone(diff: Diff, two: Path) -> None:
    for view in ("logical", "layout", "calls"):
        (two / "1.1" / view / "counter.txt").unlink()
        (two / "1.0" / view / "sends.txt").unlink()
    _, printed = diff()
    assert "golden run counter is gone" in printed
    assert "golden run sends is new" in printed


def test_a_long_list_of_one_run_is_cut(diff: Diff, two: Path) -> None:
    shutil.copy(two / "1.0" / "logical" / "sends.txt", two / "1.1" / "logical" / "counter.txt")
    assert "--all tells them" in diff()[1]
    assert "--all tells them" not in diff("--all")[1]


def test_changes_as_json_and_markdown(diff: Diff, two: Path) -> None:
    changed(two / "1.1" / "logical" / "counter.txt", "'step': 1}", "'step': 7}", 1)
    code, printed = diff("--format=json")
    document = json.loads(printed)
    assert code == DIFFERENT
    assert document["before"]["set"] == "1.0" and "langgraph" in document["before"]["recorded_with"]
    [change] = document["changes"]
    assert (change["kind"], change["what"]) == ("other value", "another value: metadata.step")
    [place] = change["places"]
    assert (place["view"], place["run"], place["before"], place["after"]) == ("logical", "counter", "1", "7")
    assert "<checkpoint" in place["where"]
    assert "- another value: metadata.step: `1` → `7`" in diff("--format=markdown")[1]


def test_every_two_packaged_sets_can_be_compared(capsys: pytest.CaptureFixture[str]) -> None:
    minors = sorted(path.name for path in GOLDENS.iterdir() if (path / "logical").is_dir())
    for before, after in itertools.pairwise(minors):
        assert main(["goldens", "diff", before, after, "--format=markdown"]) in (SAME, DIFFERENT)
        assert f"{before} (langgraph " in capsys.readouterr().out


# -- bad input


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["goldens", "diff", "1.0", "7.7"], "there is no set 7.7: there are 0.6, 1.0"),
        (["goldens", "diff", "1.0", "1.1", "--golden-dir=nowhere"], "there is no set 1.0: there is none in nowhere"),
        (["goldens", "record", "--langgraph=latest", "--golden-dir=x"], "'latest' is no version of LangGraph"),
        (["goldens", "record", "--langgraph=0.5.4", "--golden-dir=x"], "older than 0.6"),
        (["goldens", "record-threads", "--langgraph=0.1", "--bank-dir=x"], "older than 0.2"),
        (["goldens", "record", "--checkpoint=4.0.0", "--golden-dir=x"], "give --langgraph, too"),
    ],
)
def test_bad_input_is_told_in_one_sentence(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: list[str],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(recording, "uv", lambda: "uv")
    code, printed = failure(capsys, *arguments)
    assert code == BAD_INPUT
    assert told in printed


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("    ts: <time 1>\n", "     ts: <time 1>\n", "expected a key that is indented"),
        ("    ts: <time 1>\n", "    ts\n", "expected 'key: value' or 'heading:', found 'ts'"),
        ("    ts: <time 1>\n", "       ts: <time 1>\n", "expected a key that is indented"),
        ("    ts: <time 1>\n", "    ts: [\n", "a bracket is opened and not closed"),
    ],
)
def test_a_golden_that_does_not_parse_is_named_with_its_line(
    two: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, told: str
) -> None:
    changed(two / "1.1" / "logical" / "counter.txt", old, new, 1)
    code, printed = failure(capsys, "goldens", "diff", "1.0", "1.1", f"--golden-dir={two}")
    assert code == BAD_INPUT
    assert "logical/counter.txt of the set 1.1, line " in printed
    assert told in printed


def test_a_set_without_its_versions_is_named(two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (two / "1.1" / "recorded_with.json").write_text("{", encoding="utf-8")
    changed(two / "1.1" / "logical" / "counter.txt", "'step': 1}", "'step': 7}")
    code, printed = failure(capsys, "goldens", "diff", "1.0", "1.1", f"--golden-dir={two}")
    assert code == BAD_INPUT
    assert "expected a recorded_with.json" in printed


def test_nothing_is_written_into_an_installed_package(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("langgraph_conformance.goldens.sets.packaged", lambda: tmp_path / "site-packages" / "goldens")
    code, printed = failure(capsys, "goldens", "record")
    assert code == BAD_INPUT
    assert "is never written to: give --golden-dir=FOLDER" in printed


GOLDEN_RULES = ["--saver=langgraph_reference:ReferenceSaver", "graph/test_goldens.py", "-k", "counter"]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        (
            "99.0",
            '{"langgraph": "99.0.1"}',
            f"there is no set for the installed LangGraph {MINOR}: those in goldens are newer (99.0)",
        ),
        (MINOR, "[", "expected a recorded_with.json"),
    ],
)
def test_pytest_says_what_is_wrong_with_the_sets(judge: Judge, tmp_path: Path, name: str, text: str, told: str) -> None:
    folder = tmp_path / "goldens" / name
    shutil.copytree(GOLDENS / "1.0", folder)
    (folder / "recorded_with.json").write_text(text, encoding="utf-8")
    ended = judge(*GOLDEN_RULES, "--golden-dir=goldens")
    assert ended.code != 0
    assert told in ended.output
    assert "Traceback" not in ended.output


def test_pytest_says_that_the_folder_is_not_there(judge: Judge) -> None:
    ended = judge(*GOLDEN_RULES, "--golden-dir=nowhere")
    assert ended.code == 4
    assert "--golden-dir=nowhere: there is no such folder" in ended.output


# -- recording


def test_the_set_of_the_installed_version_is_recorded(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # one run and one kind of values show it, too
    monkeypatch.setattr(recording, "RECORDING", "(known_run and sync-sends) or engine")
    assert main(["goldens", "record", f"--golden-dir={tmp_path}"]) == SAME
    assert f"wrote the set {MINOR} (langgraph " in capsys.readouterr().out
    written = {path.relative_to(tmp_path / MINOR).as_posix() for path in (tmp_path / MINOR).rglob("*.*")}
    views = {f"{view}/sends.txt" for view in ("calls", "layout", "logical")}
    assert written == {*views, "wire/engine.txt", "recorded_with.json"}


def test_another_version_gets_the_checkpoint_package_of_its_time() -> None:
    command = uv_command("uv", Version("1.1.10"), None, "3.12", ["--with-editable", "here"])
    start = ["uv", "run", "--no-project", "--isolated", "--python", "3.12"]
    of_their_time = ["--with", "langgraph==1.1.10", "--with", "langgraph-checkpoint==4.0.0"]
    assert command == [*start, *of_their_time, "--with-editable", "here", "python"]
    assert uv_command("uv", Version("1.1.10"), "4.3.2", "3.12")[8:10] == ["--with", "langgraph-checkpoint==4.3.2"]
    assert uv_command("uv", Version("7.0.1"), None, "3.12") == [*start, "--with", "langgraph==7.0.1", "python"]


@pytest.fixture
def fake_uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Puts a program named uv first on the path, with the given body; gives the file where it leaves its arguments."""

    def make(body: str) -> Path:
        folder = tmp_path / "bin"
        folder.mkdir()
        program, left = folder / "uv", tmp_path / "arguments"
        program.write_text(f"#!/bin/sh\necho \"$@\" > '{left}'\n{body}\n", encoding="utf-8")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        return left

    return make


def test_another_version_is_recorded_through_uv(
    fake_uv: Callable[[str], Path], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    left = fake_uv("echo wrote the set 1.1")
    assert main(["goldens", "record", "--langgraph=1.1.10", f"--golden-dir={tmp_path / 'sets'}"]) == SAME
    assert "wrote the set 1.1" in capsys.readouterr().out
    arguments = left.read_text(encoding="utf-8")
    assert f"--python {sys.executable} --with langgraph==1.1.10 --with langgraph-checkpoint==4.0.0" in arguments
    assert arguments.endswith(f"-m langgraph_conformance.cli goldens record --golden-dir={tmp_path / 'sets'}\n")


def test_what_uv_cannot_do_is_told(
    fake_uv: Callable[[str], Path], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    fake_uv("echo 'error: Failed to fetch: `https://index.example/langgraph/`' >&2; exit 2")
    code, printed = failure(capsys, "goldens", "record", "--langgraph=1.1.10", f"--golden-dir={tmp_path}")
    assert code == FAILED
    assert "does not reach the network" in printed


def test_without_uv_another_version_cannot_be_recorded(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    code, printed = failure(capsys, "goldens", "record", "--langgraph=1.1.10", f"--golden-dir={tmp_path}")
    assert code == FAILED
    assert "install uv" in printed


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        (
            "  × No solution found\n  ╰─▶ Because there is no version of langgraph==9.9.9 …",
            "there is no LangGraph 9.9.9",
        ),
        (
            "× No solution found\n╰─▶ Because langgraph==9.9.9 depends on langgraph-checkpoint>=3",
            "cannot be installed together",
        ),
        ("error: Request failed\n  Caused by: dns error: no such host", "does not reach the network"),
        (
            "× No solution found\nhint: Packages were unavailable because the network was disabled.",
            "does not reach the network",
        ),
        (
            "ImportError: cannot import name 'x'",
            "recording with LangGraph 9.9.9 failed: ImportError: cannot import name 'x'",
        ),
        ("", "recording with LangGraph 9.9.9 failed: it printed nothing"),
    ],
)
def test_why_uv_failed(printed: str, told: str) -> None:
    assert told in why_uv_failed(printed, "9.9.9")


def test_versions_are_checked_before_anything_is_installed() -> None:
    assert checked_version("1.2.0rc1", "0.6") == Version("1.2.0rc1")
    with pytest.raises(CannotRecord, match="older than"):
        checked_version("0.5.4", "0.6")


def test_threads_of_the_installed_version_are_recorded(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["goldens", "record-threads", f"--bank-dir={tmp_path}"]) == SAME
    assert "wrote 6 threads into" in capsys.readouterr().out
    [folder] = tmp_path.iterdir()
    assert len(list(folder.glob("*.txt"))) == 6


def test_help_is_given(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["goldens", "--help"])
    assert ended.value.code == 0
    assert "record-threads" in capsys.readouterr().out
