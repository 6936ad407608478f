"""A rule is a test function; this module gives it a level, a source and an id."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeVar

from packaging.requirements import Requirement

Function = TypeVar("Function", bound=Callable[..., Any])


class Level(str, enum.Enum):
    """How binding a rule is."""

    MUST = "MUST"
    """The base class documents it or the engine relies on it: breaking it fails the run."""
    SHOULD = "SHOULD"
    """All official backends agree and a user would be surprised: breaking it is advice, unless strict."""
    QUIRK = "QUIRK"
    """Official backends differ: it is observed and never fails."""


MUST, SHOULD, QUIRK = Level.MUST, Level.SHOULD, Level.QUIRK


@dataclass(frozen=True)
class Rule:
    """What a test function of the suite states.

    Attributes:
        id: stable name, ``<kind>.<subject>.<statement>``.
        level: how binding it is.
        sentence: the rule, one sentence.
        why: what the engine does with it and what users lose when it is broken.
        source: where it is written or relied upon.
        since: requirement on an installed distribution, such as ``langgraph-checkpoint>=4.1``; empty for always.
        needs: capabilities without which the rule cannot be tried.
        officials: for a QUIRK, what each official backend does.
        aliases: earlier ids.
    """

    id: str
    level: Level
    sentence: str
    why: str
    source: str
    since: str = ""
    needs: tuple[str, ...] = ()
    officials: Mapping[str, str] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()

    def unmet_version(self) -> str | None:
        """The requirement in ``since`` if what is installed does not meet it, else None."""
        return unmet(self.since)


def unmet(since: str) -> str | None:
    """A requirement such as ``langgraph-checkpoint>=4.1`` if what is installed does not meet it, else None."""
    if not since:
        return None
    requirement = Requirement(since)
    try:
        installed = version(requirement.name)
    except PackageNotFoundError:
        return since
    return None if requirement.specifier.contains(installed, prereleases=True) else since


def rule(
    level: Level,
    *,
    source: str,
    since: str = "",
    needs: str | tuple[str, ...] = (),
    officials: Mapping[str, str] | None = None,
    aliases: tuple[str, ...] = (),
) -> Callable[[Function], Function]:
    """Mark a test function of the suite as a rule.

    Args:
        level: MUST, SHOULD or QUIRK.
        source: where the rule is written or relied upon, such as ``BaseCheckpointSaver.list`` or ``pregel/_loop.py``.
        since: see ``Rule.since``.
        needs: see ``Rule.needs``.
        officials: see ``Rule.officials``.
        aliases: ids that the rule had before it was renamed.
    """

    def mark(function: Function) -> Function:
        module = function.__module__.rsplit("suite.", 1)[-1].split(".")
        if module[-1].startswith("test_"):
            module[-1] = module[-1][len("test_") :]
        sentence, _, why = inspect.cleandoc(function.__doc__ or "").partition("\n")
        described = Rule(
            id=".".join([*module, function.__name__.removeprefix("test_")]),
            level=level,
            sentence=sentence.strip(),
            why=why.strip(),
            source=source,
            since=since,
            needs=(needs,) if isinstance(needs, str) else needs,
            officials=officials or {},
            aliases=aliases,
        )
        function.__dict__["__conformance_rule__"] = described
        return function

    return mark


def rule_of(function: object) -> Rule | None:
    """The rule that a test function states, if it is one."""
    found = getattr(function, "__conformance_rule__", None)
    return found if isinstance(found, Rule) else None
