"""Every fault is caught by rules that are recorded for it, and every rule bites."""

from __future__ import annotations

import pytest
from faulty import savers
from faulty.run import broken, cover, expected
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


ON_EACH_COMMIT = 80
"""How many faulty savers are tried, first those that together break every rule."""


def _chosen() -> list[str]:
    found = {name: broken_rules for name, broken_rules in expected("savers").items() if broken_rules}
    covering = cover(found, [name for name, each in savers.FAULTY.items() if each.group == savers.OFFICIAL])
    return list(dict.fromkeys([*covering, *found]))[:ON_EACH_COMMIT]


@pytest.mark.parametrize("name", _chosen())
def test_a_fault_breaks_its_rules(name: str) -> None:
    assert set(broken("saver", name)) & set(expected("savers")[name])


def test_every_fault_of_a_saver_is_caught() -> None:
    found = expected("savers")
    assert {name for name in savers.FAULTY if not found.get(name)} == set(NOT_CAUGHT)


@pytest.mark.parametrize("kind", ["saver", "graph"])
def test_every_rule_has_a_fault_that_breaks_it(kind: str) -> None:
    bitten = {rule for broken_rules in expected("savers").values() for rule in broken_rules}
    binding = {rule.id for rule in rules() if rule.level is not Level.QUIRK and rule.id.startswith(f"{kind}.")}
    assert binding - bitten == {rule for rule in NOT_BITTEN if rule.startswith(f"{kind}.")}
