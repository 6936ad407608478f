"""The command ``langgraph-conformance``: records sets of goldens, and says what differs between two."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .goldens.sets import GoldenSet

SAME, DIFFERENT, BAD_INPUT, FAILED = 0, 1, 2, 4
"""Exit codes."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives its exit code: 0, 1 where a diff shows changes, 2 for bad input, 4 for what failed."""
    options = _parser().parse_args(arguments)
    # not at the top: --help needs no LangGraph
    from .goldens.reading import UnreadableGolden
    from .goldens.recording import CannotRecord

    try:
        code: int = options.run(options)
    except CannotRecord as error:
        print(f"langgraph-conformance: {error}", file=sys.stderr)
        return error.code
    except UnreadableGolden as error:
        print(f"langgraph-conformance: {error}", file=sys.stderr)
        return BAD_INPUT
    except OSError as error:
        print(f"langgraph-conformance: {error.filename or 'a file'}: {error.strerror or error}", file=sys.stderr)
        return FAILED
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="langgraph-conformance", description="Tools beside `pytest --saver=…`.")
    goldens = parser.add_subparsers(metavar="goldens", required=True).add_parser(
        "goldens", help="what LangGraph persists in known runs, by version"
    )
    commands = goldens.add_subparsers(metavar="COMMAND", required=True)

    record = commands.add_parser("record", help="write the set of the installed LangGraph, or of another one")
    record.set_defaults(run=_record)
    threads = commands.add_parser("record-threads", help="write threads that a LangGraph leaves, to go on with later")
    threads.set_defaults(run=_record_threads)
    for command, folder in ((record, "--golden-dir"), (threads, "--bank-dir")):
        command.add_argument("--langgraph", metavar="VERSION", help="in an environment of its own, through uv")
        command.add_argument(
            "--checkpoint", metavar="VERSION", help="of langgraph-checkpoint (default: the one of LangGraph's time)"
        )
        command.add_argument(
            "--python",
            metavar="VERSION",
            default=sys.executable,
            help="for that environment (default: the one that runs this)",
        )
        command.add_argument(folder, metavar="FOLDER", dest="folder", help="where to write (default: this checkout)")

    diff = commands.add_parser("diff", help="what differs between two sets, in words; exit code 1 where something does")
    diff.set_defaults(run=_diff)
    diff.add_argument("before", metavar="1.0", help="a set")
    diff.add_argument("after", metavar="1.2", help="another one")
    diff.add_argument(
        "--golden-dir", metavar="FOLDER", dest="folder", help="where the sets are (default: the packaged ones)"
    )
    diff.add_argument("--format", choices=("text", "markdown", "json"), default="text")
    diff.add_argument("--all", action="store_true", help="tell all changes, however many one run shows")
    return parser


def _record(options: argparse.Namespace) -> int:
    from .goldens.recording import record, record_with, target
    from .goldens.sets import available, installed_minor, not_newer, packaged

    folder = target(options.folder, "--golden-dir", packaged())
    if options.langgraph is not None:
        print(record_with(options.langgraph, options.checkpoint, options.python, folder).strip())
        return SAME
    _no_environment(options)
    record(folder)
    minor = installed_minor()
    *earlier, written = not_newer(available(folder), minor)
    print(f"wrote the set {minor} ({_versions(written)}) into {folder / minor}")
    if earlier:
        where = f" --golden-dir={options.folder}" if options.folder else ""
        print(f"what changed: langgraph-conformance goldens diff {earlier[-1].minor} {minor}{where}")
    return SAME


def _record_threads(options: argparse.Namespace) -> int:
    from .goldens.bank import banked
    from .goldens.recording import record_threads, target

    folder = target(options.folder, "--bank-dir", banked())
    if options.langgraph is None:
        _no_environment(options)
    files = record_threads(folder, options.langgraph, options.checkpoint, options.python)
    print(f"wrote {len(files)} threads into {folder / Path(files[0]).parent}")
    return SAME


def _no_environment(options: argparse.Namespace) -> None:
    from .goldens.recording import CannotRecord

    if options.checkpoint is not None:
        raise CannotRecord("--checkpoint is for another version of LangGraph: give --langgraph, too")


def _diff(options: argparse.Namespace) -> int:
    from .goldens.changes import as_json, changes, in_markdown, in_words

    before, after = _set(options.before, options.folder), _set(options.after, options.folder)
    found = changes(before, after)
    if options.format == "json":
        print(json.dumps(as_json(before, after, found), indent=2))
    else:
        tell = in_markdown if options.format == "markdown" else in_words
        print("\n".join(tell(before, after, found, everything=options.all)))
    return DIFFERENT if found else SAME


def _set(minor: str, folder: str | None) -> GoldenSet:
    from .goldens.recording import CannotRecord
    from .goldens.sets import available, packaged

    where = Path(folder) if folder is not None else packaged()
    sets = {each.minor: each for each in available(where)}
    if minor not in sets:
        known = f"there are {', '.join(sets)}" if sets else f"there is none in {where}"
        raise CannotRecord(f"there is no set {minor}: {known}")
    return sets[minor]


def _versions(golden_set: GoldenSet) -> str:
    return ", ".join(f"{name} {version}" for name, version in golden_set.recorded_with().items())


if __name__ == "__main__":
    sys.exit(main())
