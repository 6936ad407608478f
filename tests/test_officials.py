"""On official backends the suite reports exactly their known deviations."""

from __future__ import annotations

from typing import Any

import officials
import pytest
from conftest import Judge, Run
from langgraph_fixtures import deviating_rules, known_deviations

EMBEDDED = [(kind, name) for kind, targets in officials.EMBEDDED.items() for name in targets]
SERVED = [(kind, name) for kind, targets in officials.SERVED.items() for name in targets]


def _expect_only_known_deviations(run: Run, name: str) -> None:
    broken = run.with_outcome("failed", "advice")
    assert broken == deviating_rules(name) - run.with_outcome("not_tested"), run.output
    assert not run.with_outcome("blocked"), run.output
    assert len(run.with_outcome("passed")) > 50
    assert run.report["complete"]
    assert run.code == (1 if run.with_outcome("failed") else 0)


@pytest.mark.parametrize(("kind", "name"), EMBEDDED, ids=[name for _, name in EMBEDDED])
def test_an_embedded_official_backend_shows_its_known_deviations(judge: Judge, kind: str, name: str) -> None:
    _expect_only_known_deviations(judge(f"--{kind}={officials.EMBEDDED[kind][name]}"), name)


@pytest.mark.parametrize(("kind", "name"), SERVED, ids=[name for _, name in SERVED])
def test_a_served_official_backend_shows_its_known_deviations(
    judge: Judge, postgres: str, kind: str, name: str
) -> None:
    run = judge(f"--{kind}={officials.SERVED[kind][name]}", env={officials.SERVER: postgres}, timeout=600)
    _expect_only_known_deviations(run, name)


@pytest.mark.parametrize("kind", ["saver", "store"])
def test_the_reference_keeps_every_rule(judge: Judge, kind: str) -> None:
    run = judge(f"--{kind}={officials.EMBEDDED[kind][f'Reference{kind.title()}']}", "--conformance-strict")
    assert run.code == 0, run.output


def test_quirks_show_what_each_official_backend_does(judge: Judge) -> None:
    """What a QUIRK says of an official backend is what the backend does."""
    wrong: dict[str, Any] = {}
    for kind, targets in officials.EMBEDDED.items():
        for name, target in targets.items():
            run = judge(f"--{kind}={target}", "-v")
            wrong |= {f"{name} {rule}": seen for rule, seen in _unlike_the_table(run, name).items()}
    assert wrong == {}


def _unlike_the_table(run: Run, name: str) -> dict[str, tuple[str, str]]:
    from generate import rules  # type: ignore[import-not-found]
    from langgraph_conformance.rules import Level

    quirks = {rule.id: rule for rule in rules() if rule.level is Level.QUIRK}
    found = {}
    for each in run.report["rules"]:
        official = quirks[each["id"]].officials.get(name) if each["outcome"] == "quirk" else None
        if official is not None and each["message"] != official:
            found[each["id"]] = (official, each["message"])
    return found


def test_every_known_deviation_is_of_a_rule(judge: Judge) -> None:
    from generate import rules

    assert {each.rule for each in known_deviations()} <= {rule.id for rule in rules()}


@pytest.mark.parametrize("deviation", known_deviations(), ids=lambda each: each.rule)
def test_a_deviation_says_what_and_shows_it(deviation: Any) -> None:
    assert deviation.what.endswith(".")
    compile(deviation.example, deviation.rule, "exec")
    assert 0 < len(deviation.example.strip().splitlines()) <= 20
