"""Every fault is caught, by exactly the rules that are recorded for it, and every rule bites."""

from __future__ import annotations

from typing import Any

import pytest
from faulty import savers, stores
from faulty.run import broken, cover, expected
from generate import rules
from langgraph_conformance.rules import Level

FAULTY: dict[str, dict[str, Any]] = {"savers": savers.FAULTY, "stores": stores.FAULTY}
UNDECIDED = {
    "savers": savers.UNDECIDED,
    "stores": stores.UNDECIDED,
}
"""Faults that the contract does not decide: official backends do the same, or no text says otherwise."""


def _chosen() -> list[tuple[str, str]]:
    official = [name for name, each in savers.FAULTY.items() if each.group == savers.OFFICIAL]
    return [("savers", name) for name in cover(expected("savers"), official)] + [
        ("stores", name) for name in cover(expected("stores"), [])
    ]


@pytest.mark.parametrize(("kinds", "name"), _chosen(), ids=[name for _, name in _chosen()])
def test_a_fault_breaks_exactly_its_rules(kinds: str, name: str) -> None:
    assert broken(kinds[:-1], name) == sorted(expected(kinds)[name])


@pytest.mark.parametrize("kinds", ["savers", "stores"])
def test_every_fault_is_caught(kinds: str) -> None:
    found = expected(kinds)
    missed = {name for name in FAULTY[kinds] if not found.get(name)}
    assert missed == set(UNDECIDED[kinds])


@pytest.mark.parametrize("kind", ["saver", "graph", "store"])
def test_every_rule_has_a_fault_that_breaks_it(kind: str) -> None:
    bitten = {rule for kinds in FAULTY for broken_rules in expected(kinds).values() for rule in broken_rules}
    binding = {rule.id for rule in rules() if rule.level is not Level.QUIRK and rule.id.startswith(f"{kind}.")}
    assert binding - bitten == set()
