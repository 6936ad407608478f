"""On official backends the suite reports exactly their known deviations."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import officials
import pytest
from conftest import Judge, Run
from generate import rules
from langgraph_conformance.rules import Level
from langgraph_fixtures import deviating_rules, known_deviations
from packaging.version import Version

EMBEDDED = [(kind, name) for kind, targets in officials.EMBEDDED.items() for name in targets]
SERVED = [(kind, name) for kind, targets in officials.SERVED.items() for name in targets]


RECORDED = Version("4.3")
"""From this version of langgraph-checkpoint on, the deviations of stores are recorded; earlier ones have more."""
LIMIT = ("--conformance-timeout=15", "--conformance-profile=quick")
"""AsyncSqliteSaver hangs in two rules; half the usual limit saves a minute, and so do few examples of properties."""


def _expect_only_known_deviations(run: Run, name: str) -> None:
    broken = run.with_outcome("failed", "advice")
    unseen = deviating_rules(name) - broken - run.with_outcome("not_tested")
    assert broken <= deviating_rules(name), run.output
    assert unseen <= {each.rule for each in known_deviations() if each.timed}, run.output
    assert not run.with_outcome("blocked"), run.output
    assert len(run.with_outcome("passed")) > 50
    assert run.report["complete"]
    assert run.code == (1 if run.with_outcome("failed") else 0)
    assert _unlike_the_table(run, name) == {}


def _unlike_the_table(run: Run, name: str) -> dict[str, tuple[str, str]]:
    """QUIRKs that say another thing of an official backend than it does: what they say and what it does."""
    quirks = {rule.id: rule for rule in rules() if rule.level is Level.QUIRK}
    found = {}
    for each in run.report["rules"]:
        official = quirks[each["id"]].officials.get(name) if each["outcome"] == "quirk" else None
        if official is not None and each["message"] != official:
            found[each["id"]] = (official, each["message"])
    return found


@pytest.mark.parametrize(("kind", "name"), EMBEDDED, ids=[name for _, name in EMBEDDED])
def test_an_embedded_backend_shows_its_known_deviations(judge: Judge, kind: str, name: str) -> None:
    _skip_unrecorded(kind, name)
    strict = ["--conformance-strict"] if name.startswith("Reference") else []
    _expect_only_known_deviations(judge(f"--{kind}={officials.EMBEDDED[kind][name]}", *LIMIT, *strict), name)


@pytest.mark.parametrize(("kind", "name"), SERVED, ids=[name for _, name in SERVED])
def test_a_served_backend_shows_its_known_deviations(judge: Judge, postgres: str, kind: str, name: str) -> None:
    _skip_unrecorded(kind, name)
    run = judge(f"--{kind}={officials.SERVED[kind][name]}", *LIMIT, env={officials.SERVER: postgres}, timeout=600)
    _expect_only_known_deviations(run, name)


def _skip_unrecorded(kind: str, name: str) -> None:
    older = Version(version("langgraph-checkpoint")) < RECORDED
    if kind == "store" and not name.startswith("Reference") and older:
        pytest.skip(f"what stores of versions before {RECORDED} deviate in is not recorded")


def test_every_known_deviation_is_of_a_rule() -> None:
    assert {each.rule for each in known_deviations()} <= {rule.id for rule in rules()}


@pytest.mark.parametrize("deviation", known_deviations(), ids=lambda each: each.rule)
def test_a_deviation_says_what_and_shows_it(deviation: Any) -> None:
    assert deviation.what.endswith(".")
    compile(deviation.example, deviation.rule, "exec")
    assert 0 < len(deviation.example.strip().splitlines()) <= 20
