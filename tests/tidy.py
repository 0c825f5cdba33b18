#!/usr/bin/env python3
"""The rules of the house that no compiler knows. Each message says what to do instead.

usage: tidy.py [--root FOLDER]
       tidy.py --table [--against COMMIT]   the sizes of classes and folders, lines of code, and the
                                            share of comment lines, here and in the commit
       tidy.py --unused                     what only tests, benchmarks and fuzzers use, and the
                                            fields of messages that nothing reads or writes
       tidy.py --words FOLDER               old terms and comments to rewrite, below FOLDER

class_sizes.py and folders.py hold the bounds of sizes, words.py those of words. house_exceptions.json
lists the classes and folders beyond a bound. Each figure there is a ceiling: it may not grow, and its
entry goes when the bound is kept. Each entry has a reason in one sentence. wire_fields.py finds fields
of messages that nothing reads or writes.
"""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Callable, Iterator, NamedTuple
from urllib.parse import unquote

import class_sizes
import cpp_reader
import folders
import size_table
import source_tree
import unused
import wire_fields
import words

LINES_MAX = 600
REASON_WORDS_MIN = 5
TEXT_SUFFIXES = source_tree.CODE_SUFFIXES | {".py", ".sh", ".cmake", ".txt", ".md", ".fbs", ".json"}
# Written in two pieces, so that this file does not break its own rule.
MACHINE_PATH = re.compile(r"(?<![\w.$}~-])/(?:ho" r"me|ro" r"ot|wo" r"rk)/\w")
UNFINISHED = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b")
FRAGMENT = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\.(?:added|changed|fixed|removed)\.md")
LINK = re.compile(r"\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")


class LineRule(NamedTuple):
    applies: Callable[[Path], bool]
    pattern: re.Pattern
    message: str


def is_code(path: Path) -> bool:
    return path.suffix in source_tree.CODE_SUFFIXES and not source_tree.is_generated(path)


def is_test(path: Path) -> bool:
    return is_code(path) and path.stem.endswith("_test")


def is_included_again(path: Path) -> bool:
    """Highway's way: compiled once per SIMD target."""
    return path.name.endswith("-inl.h")


def is_library(path: Path) -> bool:
    """Code of core/ that ends in the library: no test, no fuzzer, no benchmark, nor their help."""
    side_kick = path.stem.endswith(("_test", "_testing", "_fuzz", "_bench"))
    return is_code(path) and path.parts[0] == "core" and not side_kick


def is_text(path: Path) -> bool:
    if source_tree.is_generated(path):
        return False
    return path.suffix in TEXT_SUFFIXES or path.name in {"dev", "run"}


def library_outside(*folder: str) -> Callable[[Path], bool]:
    return lambda path: is_library(path) and path.parts[:len(folder)] != folder


LINE_RULES = [
    LineRule(is_library, re.compile(r"\bstd::(?:cout|cerr|clog)\b|(?<![\w.>:])f?printf\s*\(|"
                                    r"\b(?:fmt|std)::(?:print|fprintf|printf|puts)\b"),
             "a library does not print; return a Status, or log through core/base/log/log.h"),
    LineRule(is_library, re.compile(r"\bstd::(?:abort|exit|quick_exit|terminate)\b|"
                                    r"(?<![\w.>:])(?:abort|exit)\s*\("),
             "a library does not end the program; return a Status"),
    LineRule(library_outside("core", "base"),
             re.compile(r"\b(?:system_clock|steady_clock|high_resolution_clock)::now\b"),
             "take a Clock (core/base/clock.h), so that the simulator can hand in its own"),
    LineRule(library_outside("core", "base"),
             re.compile(r"\bstd::(?:mt19937\w*|random_device|default_random_engine|rand|srand)\b"),
             "use core/base/random.h: its numbers depend on their address alone, on every machine"),
    LineRule(is_test, re.compile(r"\b(?:sleep_for|sleep_until|usleep|nanosleep)\b"),
             "a test does not wait on the wall clock; hand in a clock, or wait for the event"),
    LineRule(is_test, re.compile(r"\bDISABLED_"),
             "a test that is switched off says nothing; mend it, or GTEST_SKIP() << the reason"),
    LineRule(is_test, re.compile(r"\bGTEST_SKIP\(\)\s*;"),
             "say why: GTEST_SKIP() << \"no AVX-512 on this machine\""),
    LineRule(is_text, UNFINISHED,
             "finish it, or open an issue and state the limit in the comment"),
    LineRule(is_text, re.compile(r"\t"), "indent with spaces"),
    LineRule(is_text, re.compile(r"[ \r]$", re.MULTILINE),
             "remove the blanks at the end of the line"),
    LineRule(is_text, MACHINE_PATH,
             "a path of one machine; write it relative to the repository, or take it as an option"),
]


def complaints(root: Path) -> Iterator[str]:
    for path in source_tree.files(root):
        if is_text(path):
            yield from _complaints_of_file(root, path)
    yield from folders.map_complaints(root)
    exceptions = house_exceptions(root)
    yield from without_reason(exceptions)
    ceilings = {folder: entry["files"] for folder, entry in exceptions["folders"].items()}
    yield from folders.size_complaints(root, ceilings)
    try:
        sources = class_sizes.sources_of(root)
    except cpp_reader.Unreadable as error:
        yield f"{error}; the sizes of classes cannot be counted"
        return
    sizes = class_sizes.Classes(sources).sizes(root)
    ceilings = {name: {figure: value for figure, value in entry.items() if figure != "reason"}
                for name, entry in exceptions["classes"].items()}
    yield from class_sizes.complaints(sizes, ceilings)
    yield from class_sizes.duplicates(sizes)
    yield from unused.complaints(unused.find(sources), exceptions["unused"])
    yield from words.complaints(root)
    if (root / wire_fields.SCHEMAS / "frame.fbs").is_file():
        yield from wire_fields.complaints(wire_fields.find(root, sources), wire_fields.KEPT)


def house_exceptions(root: Path) -> dict:
    """What is beyond a bound and known, each with its reason:

    {"classes": {"C": {"methods": 41, "reason": "..."}}, "folders": {"cli": {"files": 26,
    "reason": "..."}}, "unused": {"function": "reason ..."}}
    """
    file = root / source_tree.EXCEPTIONS
    nothing = {"classes": {}, "folders": {}, "unused": {}}
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else nothing


def without_reason(exceptions: dict) -> Iterator[str]:
    """A reason is a sentence: a word or two explain nothing."""
    for kind, entries in exceptions.items():
        for name, entry in entries.items():
            reason = entry if kind == "unused" else entry.get("reason", "")
            if len(reason.split()) < REASON_WORDS_MIN or not reason.endswith("."):
                yield (f"{source_tree.EXCEPTIONS}:1: {name} has no reason; say in a sentence why it "
                       "is an exception")


def _complaints_of_file(root: Path, path: Path) -> Iterator[str]:
    try:
        text = (root / path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        yield f"{path}:1: not UTF-8 at byte {error.start}; save it as UTF-8"
        return
    lines = text.split("\n")
    # The whole text is searched first, because most files break no rule.
    rules = [rule for rule in LINE_RULES if rule.applies(path) and rule.pattern.search(text)]
    for number, line in enumerate(lines if rules else [], 1):
        for rule in rules:
            if rule.pattern.search(line):
                yield f"{path}:{number}: {rule.message}"
    if path.suffix == ".md":
        yield from _broken_links(root, path, lines)
    if path.parts[0] == "changes" and not (FRAGMENT.fullmatch(path.name)
                                           or path.name == "README.md"):
        yield f"{path}:1: name it WHAT.KIND.md as changes/README.md says"
    if path.suffix in {".cpp", ".hpp"}:
        yield f"{path}:1: name it .cc or .h; the build looks for nothing else"
    if path.suffix == ".h" and "#pragma once" not in lines and not is_included_again(path):
        yield f"{path}:1: begin the header with #pragma once"
    if path.suffix == ".cc" and is_code(path):
        yield from _own_header_not_first(root, path, lines)
    if is_code(path) and len(lines) - 1 > LINES_MAX:
        yield (f"{path}:{LINES_MAX + 1}: {len(lines) - 1} lines; split the file by what it does "
               f"({LINES_MAX} at most)")
    if lines[-1]:
        yield f"{path}:{len(lines)}: end the file with a newline"


def _own_header_not_first(root: Path, path: Path, lines: list) -> Iterator[str]:
    """What a file includes first has nothing before it that it could lean on."""
    header = path.with_name(path.stem.removesuffix("_test") + ".h")
    first = next((number for number, line in enumerate(lines, 1) if line.startswith("#include ")), 1)
    if (root / header).exists() and lines[first - 1] != f'#include "{header}"':
        yield f"{path}:{first}: include {header} first, so that it is known to compile alone"


def _broken_links(root: Path, path: Path, lines: list) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        for target in LINK.findall(line):
            if re.match(r"[a-z]+:|#", target):
                continue
            file = unquote(target.split("#")[0])
            if not (root / path.parent / file).exists():
                yield f"{path}:{number}: no file {file}; mend the link or add the file"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--table", action="store_true", help="print sizes, and check nothing")
    parser.add_argument("--against", metavar="COMMIT", help="with --table: the sizes before")
    parser.add_argument("--unused", action="store_true", help="print what has no caller or reader")
    parser.add_argument("--words", metavar="FOLDER", help="print old terms and comments to rewrite")
    options = parser.parse_args()
    if options.against and not options.table:
        parser.error("--against belongs to --table")
    if options.table:
        before = None
        if options.against:
            try:
                before = size_table.measure_commit(options.root, options.against)
            except ValueError as error:
                parser.error(str(error))
        print("\n".join(size_table.rows(size_table.measure(options.root), before)))
        return 0
    if options.unused:
        sources = class_sizes.sources_of(options.root)
        print("\n".join(unused.listing(unused.find(sources))))
        print()
        print("\n".join(wire_fields.listing(wire_fields.find(options.root, sources))))
        return 0
    if options.words is not None:
        print("\n".join(words.complaints(options.root, options.words)))
        return 0
    found = list(complaints(options.root))
    for complaint in found:
        print(complaint, file=sys.stderr)
    if not found:
        print("tidy: every file keeps the rules of the house")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
