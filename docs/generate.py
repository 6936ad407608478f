"""Writes docs/contract.md from the suite; with ``--check`` it only says whether the page is up to date."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from langgraph_conformance.rules import Level, Rule, rule_of
from langgraph_conformance.session import FOLDERS, suite_files

PAGE = Path(__file__).with_name("contract.md")
HEAD = """# The contract of LangGraph savers and stores

Generated from the suite by `docs/generate.py`: a rule is a test, so this page says what the tests do.

- **MUST**: the base class documents it or LangGraph's engine relies on it. Breaking it fails a run.
- **SHOULD**: all official backends agree, and a user would be surprised. Advice; fails under `--conformance-strict`.
- **QUIRK**: official backends differ. Never fails: the report shows what a backend does beside each official one.
"""


def rules() -> list[Rule]:
    """Every rule of the suite, in the order of its modules."""
    found: list[Rule] = []
    for file in suite_files(FOLDERS):
        module = importlib.import_module(f"langgraph_conformance.suite.{file.parent.name}.{file.stem}")
        found += [rule for rule in map(rule_of, vars(module).values()) if rule is not None]
    return list({rule.id: rule for rule in found}.values())


def page() -> str:
    """The text of docs/contract.md."""
    every = rules()
    counts = ", ".join(f"{sum(rule.level is level for rule in every)} {level.value}" for level in Level)
    lines = [HEAD, f"{len(every)} rules: {counts}."]
    subject = ""
    for rule in every:
        kind, module, _ = rule.id.split(".", 2)
        if f"{kind}.{module}" != subject:
            subject = f"{kind}.{module}"
            lines += ["", f"## {subject}"]
        needs = f" Needs: {', '.join(rule.needs)}." if rule.needs else ""
        since = f" Since: {rule.since}." if rule.since else ""
        lines += ["", f"### {rule.id}", "", f"**{rule.level.value}** {rule.sentence}"]
        if rule.why:
            lines += ["", rule.why]
        lines += [f"- {name}: {does}" for name, does in rule.officials.items()] and [
            "",
            *(f"- {name}: {does}" for name, does in rule.officials.items()),
        ]
        lines += ["", f"Source: {rule.source}.{needs}{since}".replace("..", ".")]
    return "\n".join(lines) + "\n"


def main() -> int:
    text = page()
    if "--check" not in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    print("docs/contract.md is out of date: run python docs/generate.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
