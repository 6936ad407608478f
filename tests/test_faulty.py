"""Every fault is caught by exactly the rules that are recorded for it, and every rule bites."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from faulty import savers, stores
from faulty.run import broken, expected, tried_on_each_commit
from generate import rules
from langgraph_conformance.rules import Level

FAULTY = {"savers": savers.FAULTY, "stores": stores.FAULTY}
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
    "QueriesEmbeddedAsDocuments": "SqliteStore and PostgresStore do it, InMemoryStore does not",
    "StoresShareItems": "those over one database do, and how they are opened does not tell",
    "SweeperOutlivesClose": "SqliteStore and PostgresStore leave it to the garbage collector, the async ones stop it",
    "UnknownOperationIgnored": "PostgresStore gives None for it, InMemoryStore raises",
}
"""Faulty backends that no MUST or SHOULD rule catches, and why."""
NOT_BITTEN = {"store.runtime.nodes_get_the_store_itself"}
"""MUST and SHOULD rules that no faulty backend breaks yet: LangGraph itself would have to change."""


TIMING = ("saver.concurrency.",)
"""Rules whose verdict on a fault may differ from run to run: whether threads meet at a gap is a matter of chance."""


def exact(rules: Iterable[str]) -> list[str]:
    """The rules whose verdict is the same in every run, sorted."""
    return sorted(rule for rule in rules if not rule.startswith(TIMING))


BY_CHANCE = {"PutWritesTakesTheBatchApart", "VersionsStandStill"}
"""What else these break depends on the order in which the tasks of a super-step end."""


@pytest.mark.parametrize(("kinds", "name"), [(kinds, name) for kinds in FAULTY for name in tried_on_each_commit(kinds)])
def test_a_fault_breaks_its_rules_and_no_others(kinds: str, name: str) -> None:
    recorded, found = expected(kinds)[name], broken(kinds.removesuffix("s"), name)
    assert set(found) & set(recorded)
    if name not in BY_CHANCE:
        assert exact(found) == exact(recorded)


ONLY_WHEN_RECORDED = {
    "saver.put.puts_in_quick_succession_stay_in_order",
    "store.parity.a_cancelled_caller_does_not_break_later_calls",
    "store.parity.a_waiting_call_does_not_block_the_loop",
}
"""Broken only by faults that show now and then, since they are of a clock, or that take a minute to show."""


@pytest.mark.parametrize("kinds", FAULTY)
def test_what_is_tried_on_each_commit_breaks_every_rule(kinds: str) -> None:
    found = expected(kinds)
    tried = {rule for name in tried_on_each_commit(kinds) for rule in found[name]}
    assert {rule for broken_rules in found.values() for rule in broken_rules} - tried <= ONLY_WHEN_RECORDED


@pytest.mark.parametrize("kinds", FAULTY)
def test_every_fault_is_caught(kinds: str) -> None:
    found = expected(kinds)
    assert {name for name in FAULTY[kinds] if not found.get(name)} == set(NOT_CAUGHT) & set(FAULTY[kinds])


@pytest.mark.parametrize(("kinds", "kind"), [("savers", "saver"), ("savers", "graph"), ("stores", "store")])
def test_every_rule_has_a_fault_that_breaks_it(kinds: str, kind: str) -> None:
    bitten = {rule for broken_rules in expected(kinds).values() for rule in broken_rules}
    binding = {rule.id for rule in rules() if rule.level is not Level.QUIRK and rule.id.startswith(f"{kind}.")}
    assert binding - bitten == {rule for rule in NOT_BITTEN if rule.startswith(f"{kind}.")}
