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
    "AStarListsAllThreads": "a list of a thread called by a wildcard is not compared with the whole database",
    "BytearraysBecomeBytes": "official backends differ",
    "CacheOutlivesPrune": "a cached read before a prune is not tried",
    "DeleteForRunsCutsDeltaHistory": "refusing, keeping and cutting are all allowed by the base class",
    "DeltaWalksAHundredSteps": "no history of that length is tried",
    "ListBreaksWhenSomethingIsPut": "official backends block while an iterator is open: a QUIRK",
    "ListIsAList": "a list can be iterated as well",
    "ListSeesWhatIsPutMeanwhile": "official backends block while an iterator is open: a QUIRK",
    "LongChannelNamesAreCut": "no channel name of that length is tried",
    "LongTaskPathsAreCut": "no task path of that length is tried",
    "NulInNestedMetadataRaises": "official backends differ",
    "OpenListBlocksWriters": "official backends block while an iterator is open: a QUIRK",
    "TaskPathIsPartOfTheKey": "official backends differ on another path for the same write",
    "WritesNeedANamespace": "official backends differ",
}
"""Faulty savers that no MUST or SHOULD rule catches, and why."""
NOT_BITTEN = {
    "graph.old_checkpoints.an_old_checkpoint_is_read_as_it_was",
    "graph.old_checkpoints.sends_that_were_pending_beside_an_old_checkpoint_are_run",
    "graph.old_checkpoints.the_installed_engine_goes_on_with_an_old_thread",
    "saver.copy_thread.other_threads_stay_as_they_are",
    "saver.delete_for_runs.only_the_run_id_decides",
    "saver.delta_history.no_channels_give_no_history",
    "saver.engine.a_saver_is_a_base_checkpoint_saver",
    "saver.get_tuple.a_config_without_a_thread_id_finds_nothing",
    "saver.get_tuple.a_read_does_not_change_its_config",
    "saver.identity.channel_and_version_are_not_joined",
    "saver.lifecycle.a_delete_after_a_restart_removes_what_was_stored_before",
    "saver.lifecycle.a_deleted_thread_leaves_nothing_in_the_storage",
    "saver.lifecycle.deleting_all_runs_leaves_nothing_in_the_storage",
    "saver.lifecycle.pruning_shrinks_the_storage",
    "saver.list.its_arguments_stay_as_they_are",
    "saver.metadata.other_values_of_the_config_are_left_out",
    "saver.parity.a_sync_read_inside_the_loop_does_not_hang",
    "saver.put.a_channel_without_a_version_has_no_value",
    "saver.put.put_without_a_namespace_raises_or_means_the_root",
    "saver.versions.get_next_version_is_a_plain_method",
}
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
