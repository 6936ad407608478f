"""Measures which faulty backends the properties find alone, and writes docs/properties.md.

``python docs/measure_properties.py savers`` tries each faulty backend of ``tests/faulty`` with the properties only,
without shrinking, until the first one fails, and keeps what came out in docs/properties.json. Several processes share
the work with ``--part 1/2 --into FILE``, and ``--merge FILE ...`` puts theirs together; ``--sample 4`` takes every
fourth. ``--page`` only writes the page. Examples are random: a second run finds a few others.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import re
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import Phase, settings
from langgraph_conformance.capabilities import MODES
from langgraph_conformance.explore import PROFILES

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))
RECORD = HERE / "properties.json"
PAGE = HERE / "properties.md"
MACHINES = "histories or both_drives or ((unusual or opened_again) and not async)"
"""Not those for one drive alone: the one for both drives in turns sees what they see."""
VALUES = "(test_any and not async)"
"""In one drive, but for the faults that are about the other one."""
TTL = "store_ttl"
"""Takes real seconds: for faults that are about it, and with a clock that is moved."""
NUMBER = re.compile(r"Found by example (\d+)")
HEAD = """# What the properties find

The properties draw examples at random and compare a backend with the reference; no list of cases tells them what to
look for. This page says which of the faulty backends in `tests/faulty` they find alone, without any other rule: which
property did, in which of its examples, and after how many seconds (of all properties until then, on a busy machine).
Each property tried its default number of examples, however long it took; TTL schedules ran on a clock that is moved. A
backend counts as found when a property fails, be it a MUST or a SHOULD. Among those not found are faults that no result
of a call shows: what is left in the storage, what closing leaves open, what is refused before anything can be tried.
Examples are random: another run finds some that this one missed, and misses some that this one found. Written by
`docs/measure_properties.py`.
"""


def tried(kind: str, name: str) -> dict[str, Any]:
    """What the properties make of one faulty backend."""
    from faulty.run import judge

    begun = time.monotonic()
    group = importlib.import_module(f"faulty.{kind}s").FAULTY[name].group
    values = "test_any" if group in ("async", "threads", "parity") else VALUES
    targets = [(name, f"({MACHINES} or {values}) and not {TTL}")]
    if group == "ttl":
        targets = [(f'Moved("{name}", "{mode}")', TTL) for mode in MODES] + targets
    for target, chosen in targets:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            report = judge(kind, target, "properties/", "-x", "-k", chosen, "--conformance-timeout=20")
        for each in report["rules"]:
            if each["outcome"] in ("failed", "advice"):
                example = NUMBER.search(each["message"])
                return {
                    "by": each["id"].removeprefix("properties."),
                    "example": int(example[1]) if example else None,
                    "seconds": round(time.monotonic() - begun, 1),
                }
    return {"by": None, "example": None, "seconds": round(time.monotonic() - begun, 1)}


def recorded(file: Path) -> dict[str, dict[str, Any]]:
    """Per kind and faulty backend, what came out."""
    found: dict[str, dict[str, Any]] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return found


def keep(found: dict[str, dict[str, Any]], file: Path) -> None:
    replacement = file.with_suffix(".new")
    replacement.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
    os.replace(replacement, file)


def page(found: dict[str, dict[str, Any]]) -> str:
    """The text of docs/properties.md."""
    lines = [HEAD]
    for kinds, outcomes in found.items():
        registry = importlib.import_module(f"faulty.{kinds}").FAULTY
        known = {name: outcomes[name] for name in registry if name in outcomes}
        hits = [name for name, outcome in known.items() if outcome["by"]]
        alone = Counter((outcome["by"] or "not found").partition(".")[0] for outcome in known.values())
        lines += [
            f"## Faulty {kinds}",
            "",
            f"{len(known)} of {len(registry)} were tried (a sample, where not all); {len(hits)} were found, "
            f"{len(hits) / len(known):.0%}.",
            "",
            "| found first by | faulty backends |",
            "| --- | --- |",
            *(f"| {module} | {number} |" for module, number in alone.most_common()),
            "",
            "| group | found | of |",
            "| --- | --- | --- |",
        ]
        groups: dict[str, list[str]] = {}
        for name in known:
            groups.setdefault(registry[name].group, []).append(name)
        lines += [
            f"| {group} | {sum(bool(known[name]['by']) for name in names)} | {len(names)} |"
            for group, names in groups.items()
        ]
        lines += ["", "| faulty backend | found by | in example | seconds |", "| --- | --- | --- | --- |"]
        lines += [
            f"| {name} | {outcome['by'] or 'not found'} | {outcome['example'] or ''} | {outcome['seconds']} |"
            for name, outcome in known.items()
        ]
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", choices=("savers", "stores"), nargs="?")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="every Nth faulty backend only")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--again", action="store_true", help="also those that are recorded as found")
    parser.add_argument("--into", type=Path, default=RECORD, help="where what came out is kept")
    parser.add_argument("--merge", type=Path, nargs="*", default=[])
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    found = recorded(options.into)
    for file in options.merge:
        for kinds, outcomes in recorded(file).items():
            found.setdefault(kinds, {}).update(outcomes)
    if options.kinds:
        settings.register_profile("measure", database=None, phases=[Phase.generate])
        settings.load_profile("measure")
        PROFILES["default"] = replace(PROFILES["default"], seconds=3600.0)
        number, parts = map(int, options.part.split("/"))
        names = options.names or list(importlib.import_module(f"faulty.{options.kinds}").FAULTY)[:: options.sample]
        mine = found.setdefault(options.kinds, {})
        for name in names[number - 1 :: parts]:
            if name in mine and mine[name]["by"] and not options.again:
                continue
            mine[name] = tried(options.kinds[:-1], name)
            print(name, mine[name], flush=True)
            keep(found, options.into)
    elif options.merge:
        keep(found, RECORD)
    if options.into == RECORD:
        PAGE.write_text(page(recorded(RECORD)), encoding="utf-8")


if __name__ == "__main__":
    main()
