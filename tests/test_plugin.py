"""The plugin as its users meet it: whatever is given, a right verdict or one clear sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Judge, run_script
from faulty.run import judge as judge_faulty
from odd_savers import SECRET

SMALL = ("saver/test_smoke.py", "saver/test_list.py::test_before_excludes_the_checkpoint_it_names")
BEFORE = "saver.list.before_excludes_the_checkpoint_it_names"
SMOKE = "saver.smoke.a_fresh_saver_stores_and_reads_a_checkpoint"


@pytest.mark.parametrize(
    "name",
    [
        "instance",
        "function",
        "coroutine_function",
        "context",
        "async_context",
        "generator",
        "async_generator",
        "Provider",
        "NeedsALoop",
        "OnlyAsync",
    ],
)
def test_every_form_of_target_is_opened(judge: Judge, name: str) -> None:
    run = judge(f"--saver=odd_savers:{name}", *SMALL)
    assert run.code == 0, run.output
    assert run.outcomes()[BEFORE] == "passed"


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("odd_savers", "names no object"),
        ("odd savers:X", "not a module's dotted name"),
        ("odd_savers:1 + 1", "neither a name"),
        ("no_such_module:X", "there is no module 'no_such_module'"),
        ("odd_savers:HangInPut", "did you mean 'HangsInPut'"),
        ("odd_savers:number", "expected a BaseCheckpointSaver"),
        ("odd_savers:number()", "leave the parentheses out"),
        ("odd_savers:NeedsArguments", "needs arguments (connection, table)"),
        ('odd_savers:NeedsArguments("a", b=1)', "does not take these arguments"),
        ("odd_savers:NeedsArguments(open, 1)", "not a literal"),
        ("odd_savers:gives_a_dict", "it gave a dict"),
        ("odd_savers:gives_a_store", "it gave a ReferenceStore"),
        ("odd_savers:gives_the_class", "gave the class ReferenceSaver"),
        ("odd_savers:raises", "open raised ConnectionError: could not connect to postgresql://***@host/db"),
        ("odd_savers:exits", "open raised SystemExit"),
        ("odd_savers:SetupRaises", "setup() raised RuntimeError: no such table"),
        ("odd_savers:SetupHangs", "setup() raised TimedOut: no end within 2 s"),
        ("odd_savers:Nothing", "there is nothing to test"),
    ],
)
def test_a_wrong_target_is_one_sentence(judge: Judge, target: str, sentence: str) -> None:
    run = judge(f"--saver={target}", "--conformance-timeout=2")
    assert run.code == 4
    assert sentence in run.output
    assert "Traceback" not in run.output
    assert SECRET not in run.output
    # LangChain's old versions warn when they are imported, in a line of their own and one of source
    told = [line for line in run.output.strip().splitlines() if "Warning" not in line and not line.startswith("  ")]
    assert len(told) == 1


def test_a_factory_may_give_what_is_set_up_already(judge: Judge) -> None:
    run = judge("--saver=odd_savers:is_set_up_already", SMALL[1])
    assert run.code == 0
    assert "setup() raised RuntimeError: no such table: checkpoints: what was opened was taken to be" in run.output


def test_a_saver_that_hangs_in_its_first_step_blocks_the_rest(judge: Judge) -> None:
    run = judge("--saver=odd_savers:HangsInPut", "--conformance-timeout=1")
    assert run.code == 1
    assert run.with_outcome("failed") == {SMOKE}
    assert run.with_outcome("passed") == {"saver.smoke.closing_raises_nothing"}
    assert "put did not return within 1 s" in run.output
    assert not run.with_outcome("advice", "quirk")


def test_a_saver_without_a_first_version_blocks_the_rest(judge: Judge) -> None:
    run = judge("--saver=odd_savers:HasNoFirstVersion", *SMALL)
    assert run.code == 1
    assert run.with_outcome("failed") == {SMOKE}
    assert "get_next_version raised TypeError" in run.output


def test_a_method_that_hangs_does_not_cost_the_others_their_verdict(judge: Judge) -> None:
    run = judge("--saver=odd_savers:HangsOnlyInAlist", "--conformance-timeout=1", "saver/test_list.py", SMALL[0])
    assert run.code == 1
    assert run.outcomes()[SMOKE] == "passed"
    assert "alist did not return within 1 s" in run.output
    assert "alist did not return within 1 s in 2 earlier checks" in run.output
    drives = {each["id"]: each["drives"] for each in run.report["rules"]}
    assert drives[BEFORE]["sync"] == "passed"


def test_a_saver_that_kills_the_process_gets_a_verdict(judge: Judge) -> None:
    run = judge("--saver=odd_savers:ExitsInList", *SMALL)
    assert run.code == 1
    assert run.outcomes() == {BEFORE: "failed", SMOKE: "passed", "saver.smoke.closing_raises_nothing": "passed"}
    assert "the end of the process (exit code 0)" in run.output


def test_a_saver_that_kills_the_process_in_its_first_step_is_no_pass(judge: Judge) -> None:
    run = judge("--saver=odd_savers:ExitsInPut")
    assert run.code == 1
    assert "the process died in the first steps" in run.output


def test_closing_that_raises_is_a_finding_of_its_own(judge: Judge) -> None:
    run = judge("--saver=odd_savers:CloseRaises", *SMALL)
    assert run.code == 1
    assert run.with_outcome("failed") == {"saver.smoke.closing_raises_nothing"}
    assert SECRET not in run.output


def test_a_missing_method_blocks_what_needs_it(judge: Judge) -> None:
    run = judge("--saver=odd_savers:WithoutAlist", *SMALL)
    assert run.code == 1
    assert run.outcomes()[BEFORE] == "blocked"
    assert "alist is not implemented" in run.output


def test_what_a_saver_prints_of_itself_keeps_no_secret(judge: Judge) -> None:
    run = judge('--saver=odd_savers:PrintsItsPassword("postgresql://u:hunter2-geheim@h/db")', "--showlocals", *SMALL)
    assert run.code == 1
    assert SECRET not in run.output
    assert SECRET not in json.dumps(run.report)
    assert 'PrintsItsPassword("***")' in run.output


def test_a_failure_explains_itself(judge: Judge) -> None:
    run = judge("--saver=odd_savers:IgnoresBefore", SMALL[1])
    assert run.code == 1
    for part in (
        "MUST saver.list.before_excludes_the_checkpoint_it_names",
        "the ids listed before the third checkpoint: expected [",
        "Why it matters:",
        "Source: BaseCheckpointSaver.list",
        "Without pytest:",
        "saver = IgnoresBefore()",
        "Again: pytest --saver='odd_savers:IgnoresBefore' "
        "'saver/test_list.py::test_before_excludes_the_checkpoint_it_names[sync]'",
    ):
        assert part in run.output


@pytest.mark.parametrize("drive", ["sync", "async"])
@pytest.mark.parametrize("target", ["IgnoresBefore", "ignores_before_in_a_loop"])
def test_the_script_of_a_failure_runs_without_pytest(judge: Judge, target: str, drive: str) -> None:
    run = judge(f"--saver=odd_savers:{target}", f"{SMALL[1]}[{drive}]")
    _, printed = run_script(run.output)
    assert printed.count("CheckpointTuple(") == 3


@pytest.mark.parametrize(
    ("kind", "name", "rule", "shown", "printed"),
    [
        ("saver", "CheckpointsAreNotCommitted", "lifecycle.a_reopened_saver_gives_the_same_tuples", "reopen()", "[]"),
        ("store", "PutsAreNotCommitted", "lifecycle.items_are_the_same_after_opening_again", "reopen()", "[]"),
        ("store", "WorstFirst", "vectors.the_nearest_comes_first", "index={", "key='180'"),
        ("store", "TtlIsSeconds", "ttl.an_item_is_there_until_its_ttl_is_over", "time.sleep(1.2)", "None"),
    ],
)
def test_the_script_opens_waits_and_opens_again_as_the_check_did(
    kind: str, name: str, rule: str, shown: str, printed: str
) -> None:
    module, statement = rule.split(".")
    report = judge_faulty(kind, name, f"{kind}/test_{module}.py", "-k", statement, mode="sync")
    message = next(each["message"] for each in report["rules"] if each["id"] == f"{kind}.{rule}")
    script, output = run_script(message)
    assert shown in script
    assert printed in output


def test_zero_checks_are_no_pass(judge: Judge) -> None:
    run = judge("--saver=odd_savers:function", "-k", "no_rule_has_this_name")
    assert run.code != 0


def test_only_the_suite_is_collected_without_a_path(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text("def test_of_the_project():\n    assert False\n")
    assert judge("--saver=odd_savers:function", "-k", "before_excludes or of_the_project").code == 0
    run = judge("--saver=odd_savers:function", "-k", "before_excludes or of_the_project", "test_own.py")
    assert run.code == 1
    assert "test_own.py::test_of_the_project" in run.output
    assert run.outcomes()[BEFORE] == "passed"


def test_without_a_target_the_plugin_changes_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_nothing_of_langgraph_is_loaded():
            assert "langgraph_conformance.session" not in sys.modules
            assert "langgraph.checkpoint.base" not in sys.modules
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:langsmith", "-p", "no:langsmith_plugin")
    result.assert_outcomes(passed=1)
    assert "conformance" not in result.stdout.str().replace("langgraph-conformance", "")


def test_the_projects_own_naming_options_do_not_hide_the_suite(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\npython_files = check_*.py\npython_functions = check_*\nfilterwarnings = error\n"
        "addopts = --strict-markers --import-mode=importlib\n"
    )
    run = judge("--saver=odd_savers:function", *SMALL)
    assert run.code == 0, run.output
    assert run.outcomes()[BEFORE] == "passed"


@pytest.mark.parametrize(
    "arguments",
    [("-n", "2"), ("-x",), ("-p", "no:randomly"), ("-p", "randomly", "-p", "no:xdist"), ("--import-mode=importlib",)],
    ids=" ".join,
)
def test_pytests_own_options_work(judge: Judge, arguments: tuple[str, ...]) -> None:
    run = judge("--saver=odd_savers:IgnoresBefore", *arguments, *SMALL)
    assert run.code == 1
    assert run.outcomes()[BEFORE] == "failed"
    assert "FAILS 1 MUST rule" in run.output


def test_junit_carries_rule_and_level(judge: Judge, tmp_path: Path) -> None:
    judge("--saver=odd_savers:IgnoresBefore", "--junitxml=junit.xml", *SMALL)
    text = (tmp_path / "junit.xml").read_text()
    assert f'<property name="rule" value="{BEFORE}"' in text
    assert '<property name="level" value="MUST"' in text


def test_last_failed_selects_the_rule_that_failed(judge: Judge) -> None:
    cache = ("-o", "cache_dir=cache", "-p", "cacheprovider")
    judge("--saver=odd_savers:IgnoresBefore", *cache, *SMALL)
    run = judge("--saver=odd_savers:IgnoresBefore", *cache, "--lf")
    assert run.with_outcome("failed") == {BEFORE}
    assert run.with_outcome("passed") == set()


def test_ids_are_short_and_work_as_arguments(judge: Judge) -> None:
    run = judge("--saver=odd_savers:function", "-v", f"{SMALL[1]}[async]")
    assert f"{SMALL[1]}[async] PASSED" in run.output
    assert "1 passed" in run.output


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ('absent = ["prun"]', "absent in pyproject.toml names prun"),
        ("absent = 3", "expected a list of capabilities"),
        ('absent = ["prune"]', "says that prune is absent, but it is there"),
        ('offers = ["reopen"]', "says that reopen is offered, but"),
    ],
)
def test_a_declaration_that_is_wrong_is_one_sentence(judge: Judge, tmp_path: Path, table: str, sentence: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.langgraph-conformance]\n{table}\n[tool.pytest.ini_options]\n")
    run = judge("--saver=odd_savers:function", *SMALL)
    assert run.code == 4
    assert sentence in run.output


def test_a_true_declaration_is_accepted(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.langgraph-conformance]\noffers = ["prune"]\nabsent = ["reopen"]\n[tool.pytest.ini_options]\n'
    )
    assert judge("--saver=odd_savers:function", *SMALL).code == 0


def test_a_report_that_cannot_be_written_is_one_sentence(judge: Judge) -> None:
    run = judge("--saver=odd_savers:function", "--conformance-report=/nowhere/at/all.json", *SMALL)
    assert run.code == 4
    assert "its folder does not exist" in run.output


def test_a_full_disk_loses_the_report_but_not_the_verdict(judge: Judge) -> None:
    run = judge("--saver=odd_savers:function", "--conformance-report=/dev/full", *SMALL)
    assert run.code != 0
    assert "the report cannot be written" in run.output
    assert "Traceback" not in run.output


def test_the_report_says_what_is_known(judge: Judge) -> None:
    run = judge("--saver=odd_savers:function", *SMALL)
    report = run.report
    assert report["schema_version"] == 1
    assert report["target"] == {"saver": "odd_savers:function"}
    assert set(report["versions"]) == {"langgraph-conformance", "langgraph", "langgraph-checkpoint", "python"}
    assert report["capabilities"]["saver"]["prune"] == "offered"
    assert report["complete"] is False  # a part of the suite was selected
    assert report["counts"]["MUST"] == {"passed": 3}
    rule = next(each for each in report["rules"] if each["id"] == BEFORE)
    assert set(rule) == {"id", "level", "outcome", "drives", "seconds", "message", "source"}
    assert rule["drives"] == {"sync": "passed", "async": "passed"}


def test_a_part_of_the_suite_needs_its_kind_of_target(judge: Judge) -> None:
    run = judge("--saver=odd_savers:function", "store/test_smoke.py")
    assert run.code == 4
    assert "give --store=module:object, too" in run.output
