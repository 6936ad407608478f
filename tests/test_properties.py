"""The properties find faults alone, show them in a short script, and cost what they are allowed to."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Judge, run_script
from faulty.run import judge as judge_faulty
from generate import rules
from hypothesis import strategies as st
from langgraph_conformance.errors import Blocked, Broken, TimedOut
from langgraph_conformance.explore import PROFILES, Explorer, Profile
from langgraph_conformance.session import suite_files

BITTEN = {
    "properties.saver_histories.some_order_of_calls_at_the_same_time_explains_them": "ConcurrentBatchesLoseWrites",
    "properties.saver_machine.a_saver_in_use_reads_as_the_reference": "CarriedChannelsAreMissing",
    "properties.saver_machine.a_saver_in_unusual_use_reads_as_the_reference": "PutAgainIsIgnored",
    "properties.saver_machine.a_saver_that_is_opened_again_reads_as_the_reference": "CheckpointsAreNotCommitted",
    "properties.saver_machine.both_drives_in_use_read_as_the_reference": "AdeleteThreadDoesNothing",
    "properties.saver_values.any_plain_value_comes_back_as_it_was_put": "BytesComeBackAsText",
    "properties.store_histories.some_order_of_calls_at_the_same_time_explains_them": "ThreadsLoseWrites",
    "properties.store_machine.a_store_in_use_reads_as_the_reference": "PutOverItemRaises",
    "properties.store_machine.a_store_in_unusual_use_reads_as_the_reference": "FirstPutOfABatchWins",
    "properties.store_machine.a_store_that_is_opened_again_reads_as_the_reference": "PutsAreNotCommitted",
    "properties.store_machine.both_drives_in_use_read_as_the_reference": "AsyncDeleteDoesNothing",
    "properties.store_namespaces.any_list_and_search_of_short_names_stay_the_same": "ListOrderChanges",
    "properties.store_namespaces.any_list_gives_the_namespaces_that_its_conditions_select": "MaxDepthIgnored",
    "properties.store_namespaces.any_number_of_items_is_stored_found_and_listed": "LargeBatchesCut",
    "properties.store_namespaces.any_put_in_an_invalid_namespace_is_refused": "LabelsWithPeriodSplit",
    "properties.store_namespaces.any_two_places_are_apart": "LabelsTrimmed",
    "properties.store_ttl.any_item_lives_as_long_as_its_timer": 'Moved("TtlSticks", "sync")',
    "properties.store_values.any_filter_finds_what_meets_it": "NeIsIgnored",
    "properties.store_values.any_filter_tells_types_apart": "EqualityConflatesTypes",
    "properties.store_values.any_hostile_field_finds_nothing": "FilterKeyIsPastedIntoSql",
    "properties.store_values.any_json_comes_back_as_it_was_put": "NullsBecomeText",
    "properties.store_values.any_times_are_those_of_puts": "UpdatedAtStays",
    "properties.store_values.any_unknown_operator_is_refused": "UnknownOperatorMatchesNothing",
    "properties.store_vectors.any_index_is_of_the_texts_that_its_paths_name": "NestedPathsNotFollowed",
    "properties.store_vectors.any_limit_gives_the_head_of_the_whole_result": "LimitIgnoredWithQuery",
    "properties.store_vectors.any_score_is_the_cosine_and_its_own": "ScoreIsScaled",
    "properties.store_vectors.any_vectors_are_found_in_the_order_of_their_cosines": "WorstFirst",
}
"""Each property, and a faulty backend that it finds."""
SEED = "--hypothesis-seed=20"
IN_USE = "properties/test_saver_machine.py::test_a_saver_in_use_reads_as_the_reference[sync]"


def found(kind: str, name: str, *arguments: str) -> dict[str, dict[str, Any]]:
    """What the properties report of a faulty backend in its sync drive or in both together, by id."""
    report = judge_faulty(kind, name, "properties/", SEED, *arguments, "--conformance-timeout=20", mode="sync")
    return {each["id"]: each for each in report["rules"]}


@pytest.fixture(autouse=True)
def _no_examples_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hypothesis keeps failing examples in the working directory, and tries them first."""
    monkeypatch.chdir(tmp_path)


def test_every_property_has_a_backend_that_it_finds() -> None:
    assert {rule.id for rule in rules() if rule.id.startswith("properties.")} == set(BITTEN)


@pytest.mark.parametrize("rule", BITTEN)
def test_a_property_finds_a_fault_alone(rule: str) -> None:
    _, module, statement = rule.split(".")
    outcomes = found(module.split("_")[0], BITTEN[rule], "-k", f"test_{module} and {statement}")
    assert outcomes[rule]["outcome"] in ("failed", "advice")


def test_a_failure_shows_a_short_script_without_hypothesis() -> None:
    # on a busy machine the time for making an example short may end before it is
    messages = (found_in_use(f"--hypothesis-seed={seed}") for seed in (20, 21, 22, 23))
    message = next(message for message in messages if "Without pytest:" in message)
    script, printed = run_script(message)
    assert "hypothesis" not in script
    assert script.count("saver.put(") < 6
    assert printed
    assert re.search(r"Found by example \d+ with --hypothesis-seed=2\d", message)


def found_in_use(seed: str) -> str:
    """What the saver machine says of a fault with this seed."""
    chosen = ("-k", "saver_machine and in_use and sync and not async")
    outcome = found("saver", "StepsStartAtZero", seed, *chosen)
    message: str = outcome["properties.saver_machine.a_saver_in_use_reads_as_the_reference"]["message"]
    return message


def test_passing_properties_say_how_many_examples_were_tried(judge: Judge) -> None:
    quick = judge("--saver=langgraph_reference:ReferenceSaver", "--conformance-profile=quick", IN_USE)
    assert quick.code == 0, quick.output
    assert 1 <= tried(quick.report) <= PROFILES["quick"].examples


def tried(report: dict[str, Any]) -> int:
    (message,) = {each["message"] for each in report["rules"] if each["outcome"] == "passed"}
    number = re.match(r"(\d+) examples in \d", message)
    assert number, message
    return int(number[1])


def test_a_slow_backend_is_tried_with_fewer_examples(judge: Judge) -> None:
    run = judge("--saver=wearing_savers:Slow", "--conformance-profile=quick", IN_USE, "--conformance-timeout=10")
    assert run.code == 0, run.output
    assert 1 <= tried(run.report) < PROFILES["quick"].examples


def test_a_hang_is_one_failure_at_once(judge: Judge) -> None:
    run = judge("--saver=wearing_savers:HangsAfterAWhile", IN_USE, "--conformance-timeout=3")
    assert run.with_outcome("failed") == {"properties.saver_machine.a_saver_in_use_reads_as_the_reference"}
    (seconds,) = {each["seconds"] for each in run.report["rules"] if each["outcome"] == "failed"}
    assert seconds < 2 * 3  # what comes before the hang has as long
    assert "list did not return within 3 s" in run.output
    assert "Traceback" not in run.output


def test_the_end_of_the_process_is_one_failure(judge: Judge) -> None:
    run = judge("--saver=wearing_savers:ExitsAfterAWhile", IN_USE)
    assert run.with_outcome("failed") == {"properties.saver_machine.a_saver_in_use_reads_as_the_reference"}
    assert "the end of the process (exit code 0)" in run.output


@pytest.mark.parametrize("kind", ["saver", "store"])
def test_each_kind_of_backend_has_its_own_properties(kind: str) -> None:
    names = {file.name for file in suite_files({kind: None}) if file.parent.name == "properties"}
    assert names
    assert all(name.startswith(f"test_{kind}") for name in names)


# -- the explorer


@pytest.fixture
def explorer(request: pytest.FixtureRequest) -> Iterator[Callable[..., Explorer]]:
    """Makes an explorer; its statistics are no matter of this test."""

    def make(examples: int = 20, seconds: float = 5.0, limit: float = 10.0) -> Explorer:
        return Explorer(Profile(examples, 5, seconds), limit, 1, lambda calls: None, request.node)

    yield make
    request.node.__dict__.pop("hypothesis_statistics", None)


def test_examples_in_which_nothing_was_compared_are_no_pass(explorer: Callable[..., Explorer]) -> None:
    made = explorer()

    def body(_: int) -> None:
        with made.example():
            pass

    with pytest.raises(pytest.skip.Exception, match="nothing is known"):
        made.each(st.integers(), body)


def test_no_example_is_begun_when_the_time_is_used(explorer: Callable[..., Explorer]) -> None:
    made = explorer(seconds=0.2)

    def body(_: int) -> None:
        with made.example():
            time.sleep(0.15)
            made.looked()

    made.each(st.integers(), body)
    assert 1 <= made.done <= 3


def test_a_seed_gives_the_same_examples_again(explorer: Callable[..., Explorer]) -> None:
    first, again = (explorer().draw(st.integers(0, 10**9), 60) for _ in range(2))
    assert first == again
    assert len(set(first)) > 40
    tried: list[int] = []
    made = explorer(examples=60)

    def body(number: int) -> None:
        with made.example():
            made.looked()
            tried.append(number)

    made.each(st.integers(0, 10**9), body)
    assert tried == first


def test_the_shortest_failing_example_is_raised(explorer: Callable[..., Explorer]) -> None:
    made = explorer(examples=200)

    def body(number: int) -> None:
        with made.example():
            made.looked()
            if number >= 7:
                raise Broken("the number", "less", str(number))

    with pytest.raises(Broken, match=r"came back 7$"):
        made.each(st.integers(0, 1000), body)
    assert made.notes == [
        f"Found by example {made.done + 1} with --hypothesis-seed=1; shown is the shortest one found after it."
    ]


@pytest.mark.parametrize("error", [TimedOut(1.0), Blocked("hung before")], ids=["hang", "blocked"])
def test_a_hang_is_not_shrunk(explorer: Callable[..., Explorer], error: BaseException) -> None:
    made = explorer()
    begun = []

    def body(number: int) -> None:
        with made.example():
            begun.append(number)
            raise error

    with pytest.raises(type(error)):
        made.each(st.integers(), body)
    assert len(begun) == 1
