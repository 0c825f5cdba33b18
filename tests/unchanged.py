#!/usr/bin/env python3
"""Remembers which tests have passed, so that ./dev test --fast need not run them again.

usage: unchanged.py BUILD           prints what CTest's -E takes of tests that have passed as they are
       unchanged.py BUILD --record  notes those that passed, by BUILD/tests.xml

A test program is as it was while itself, the programs of the build that it names (it runs them) and
the files of the tree that are no code, such as scenarios and golden payloads, are. A Python test is as
it was while the files are that tests/CMakeLists.txt says it reads (BUILD/tests/inputs.txt).
"""

import argparse
import hashlib
import json
import re
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

import source_tree

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = re.compile(r"^add_test\(\[==\[([^.\]]+)[.][^\]]*\]==\] \[==\[([^\]]+)\]==\]", re.MULTILINE)
INPUTS = Path("tests/inputs.txt")  # lines: the test's name in CTest, a tab, patterns with spaces between
OF_BUILD = "BUILD/"  # how a pattern begins that is of files in BUILD, and not of the source tree
NO_DATA = {".py", ".md"} | source_tree.CODE_SUFFIXES


def programs_of(build: Path) -> dict:
    """Name: path, of every program whose suites CTest knows."""
    found = {}
    for script in sorted(build.rglob("*_suites.cmake")):
        found.update(PROGRAM.findall(script.read_text(encoding="utf-8")))
    return {name: Path(path) for name, path in found.items()}


def inputs_of(build: Path) -> dict:
    """Name: patterns, of every Python test that says what it reads."""
    file = build / INPUTS
    if not file.is_file():
        return {}
    lines = (line.split("\t") for line in file.read_text(encoding="utf-8").splitlines() if line)
    return {name: patterns.split() for name, patterns in lines}


class Fingerprints:
    def __init__(self, build: Path, root: Path):
        self.build = build.resolve()
        self.root = root
        self.hashes = {}
        data = hashlib.sha256()
        for path in source_tree.files(root):
            if path.suffix not in NO_DATA:
                data.update(f"{path} {self._hash(root / path)}\n".encode())
        self.data = data.hexdigest()

    def of(self, program: Path) -> str:
        content = program.read_bytes()
        named = {Path(name.decode()) for name in
                 re.findall(re.escape(f"{self.build}/").encode() + rb"[\w./+-]+", content)}
        key = hashlib.sha256(content)
        for path in sorted(path for path in named if path.is_file()):
            key.update(self._hash(path).encode())
        key.update(self.data.encode())
        return key.hexdigest()

    def of_inputs(self, patterns: list) -> str:
        """A pattern that no file matches counts as well: the file may come."""
        key = hashlib.sha256()
        for pattern in patterns:
            folder, inside = self.root, pattern
            if pattern.startswith(OF_BUILD):
                folder, inside = self.build, pattern.removeprefix(OF_BUILD)
            found = sorted(path for path in folder.glob(inside) if path.is_file())
            key.update(f"{pattern} {[(str(path), self._hash(path)) for path in found]}\n".encode())
        return key.hexdigest()

    def _hash(self, path: Path) -> str:
        if path not in self.hashes:
            self.hashes[path] = hashlib.sha256(path.read_bytes()).hexdigest()
        return self.hashes[path]


def ran_in(results: Path, python_tests) -> tuple:
    """The programs all of whose suites passed with Python tests that did, and those that did not."""
    passed, failed = set(), set()
    for entry in xml.parse(results).getroot().iter("testcase"):
        name = entry.get("name")
        name = name if name in python_tests else name.split(".")[0]
        (passed if entry.get("status") == "run" else failed).add(name)
    return passed - failed, failed


def regex_of(names: list, python_tests) -> str:
    """What CTest's names of all entries of `names` match, and no others."""
    return "|".join(name.replace(".", "[.]") + ("$" if name in python_tests else "[.]")
                    for name in names)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--root", type=Path, default=ROOT)
    arguments = parser.parse_args()
    notes = arguments.build / "passed.json"
    known = json.loads(notes.read_text(encoding="utf-8")) if notes.is_file() else {}
    programs = programs_of(arguments.build)
    fingerprints = Fingerprints(arguments.build, arguments.root)
    python_tests = inputs_of(arguments.build)
    now = {name: fingerprints.of(path) for name, path in programs.items() if path.is_file()}
    now.update((name, fingerprints.of_inputs(patterns)) for name, patterns in python_tests.items())
    if arguments.record:
        passed, failed = ran_in(arguments.build / "tests.xml", python_tests)
        unchanged = {name for name in now if known.get(name) == now[name]} - failed
        notes.write_text(json.dumps({name: now[name] for name in now
                                     if name in passed or name in unchanged}), encoding="utf-8")
        return 0
    unchanged = sorted(name for name in now if known.get(name) == now[name])
    if unchanged:
        print(f"^({regex_of(unchanged, python_tests)})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
