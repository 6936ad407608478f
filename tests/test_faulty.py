"""Every fault is caught by exactly the rules that are recorded for it, and every rule bites."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from faulty import savers
from faulty.run import broken, expected, tried_on_each_commit
from generate import rules
from langgraph_conformance.rules import Level

NOT_CAUGHT = {
    "AlistBlocksTheLoop": "how long a call may hold the loop is not judged: it would take a timed assertion",
    "CloseLeavesATask": "a task that ends by itself is no thread that stays",
    "CloseSwallowsErrors": "no rule says that closing must raise",
    "BytearraysBecomeBytes": "official backends differ",
    "DeleteForRunsCutsDeltaHistory": "the base class warns of it: what it breaks is the caller's to know",
    "LaterTaskPathReplacesTheFirst": "the engine never repeats a task's writes under another path",
    "ListIsAList": "a list can be iterated as well",
    "NulInNestedMetadataRaises": "official backends differ",
    "TaskPathIsPartOfTheKey": "official backends differ on another path for the same write",
    "WritesNeedANamespace": "official backends differ",
}
"""Faulty savers that no MUST or SHOULD rule catches, and why."""
NOT_BITTEN: set[str] = set()
"""MUST and SHOULD rules that no faulty saver breaks yet."""


TIMING = ("saver.concurrency.",)
"""Rules whose verdict on a fault may differ from run to run: whether threads meet at a gap is a matter of chance."""


def exact(rules: Iterable[str]) -> list[str]:
    """The rules whose verdict is the same in every run, sorted."""
    return sorted(rule for rule in rules if not rule.startswith(TIMING))


@pytest.mark.parametrize("name", tried_on_each_commit("savers"))
def test_a_fault_breaks_its_rules_and_no_others(name: str) -> None:
    recorded, found = expected("savers")[name], broken("saver", name)
    assert exact(found) == exact(recorded)
    assert set(found) & set(recorded)


ONLY_WHEN_RECORDED = {"saver.put.puts_in_quick_succession_stay_in_order"}
"""Broken only by a fault that shows now and then, since it is one of a clock."""


def test_what_is_tried_on_each_commit_breaks_every_rule() -> None:
    found = expected("savers")
    tried = {rule for name in tried_on_each_commit("savers") for rule in found[name]}
    assert {rule for broken_rules in found.values() for rule in broken_rules} - tried == ONLY_WHEN_RECORDED


def test_every_fault_of_a_saver_is_caught() -> None:
    found = expected("savers")
    assert {name for name in savers.FAULTY if not found.get(name)} == set(NOT_CAUGHT)


@pytest.mark.parametrize("kind", ["saver", "graph"])
def test_every_rule_has_a_fault_that_breaks_it(kind: str) -> None:
    bitten = {rule for broken_rules in expected("savers").values() for rule in broken_rules}
    binding = {rule.id for rule in rules() if rule.level is not Level.QUIRK and rule.id.startswith(f"{kind}.")}
    assert binding - bitten == {rule for rule in NOT_BITTEN if rule.startswith(f"{kind}.")}
