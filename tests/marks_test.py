#!/usr/bin/env python3
"""Each alternative of a MARK (cmake/TributaryFolder.cmake) matches a case of a program of its folder.

A label that has lost its cases, for example because a suite was renamed, would otherwise change what
the sanitizers and ./dev test run without a word.
"""

import os
import re
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

LIST_SUITES = Path(__file__).resolve().parent.parent / "cmake/list_suites.py"


def folders_of(build: Path):
    """Every folder that the build's CTest visits, with the scripts of its test programs."""
    pending = [build]
    while pending:
        folder = pending.pop()
        file = folder / "CTestTestfile.cmake"
        if not file.is_file():
            continue
        text = file.read_text(encoding="utf-8")
        pending += [folder / name for name in re.findall(r'^subdirs\("([^"]+)"\)', text, re.MULTILINE)]
        yield folder, re.findall(r'^include\("([^"]+)_tests\.cmake"\)', text, re.MULTILINE)


def lost_marks(build: Path) -> list:
    """What to mend, one line each. A folder is left out if a program is not built, which CTest
    reports itself, or if its list was written by an earlier list_suites.py."""
    written_by = LIST_SUITES.stat().st_mtime
    complaints = []
    for folder, programs in folders_of(build):
        suites = [Path(program + "_suites.cmake") for program in programs]
        if not all(file.is_file() and file.stat().st_mtime > written_by for file in suites):
            continue
        cases = Counter()
        for file in suites:
            for line in file.read_text(encoding="utf-8").splitlines():
                if line.startswith("#mark\t"):
                    _, label, part, count = line.split("\t")
                    cases[label, part] += int(count)
        complaints += [f"{folder.relative_to(build)}/CMakeLists.txt: MARK {label}={part} matches no "
                       "case; write the suite's present name, or remove it"
                       for (label, part), count in cases.items() if not count]
    return complaints


class Marks(unittest.TestCase):
    def complaints(self, programs: dict) -> list:
        with tempfile.TemporaryDirectory() as name:
            build = Path(name)
            (build / "core").mkdir()
            (build / "CTestTestfile.cmake").write_text('subdirs("core")\n', encoding="utf-8")
            includes = "".join(f'include("{build}/core/{program}_tests.cmake")\n' for program in programs)
            (build / "core/CTestTestfile.cmake").write_text(includes, encoding="utf-8")
            for program, text in programs.items():
                if text is not None:
                    (build / f"core/{program}_suites.cmake").write_text(text, encoding="utf-8")
            return lost_marks(build)

    def test_a_mark_may_match_in_one_program_of_several(self):
        self.assertEqual(self.complaints({"a": "#mark\tlong\tSlow\t0\n", "b": "#mark\tlong\tSlow\t2\n"}), [])

    def test_a_mark_without_a_case_is_named(self):
        found = self.complaints({"a": "#mark\tlong\tOld[.]\t0\n", "b": "#mark\tlong\tOld[.]\t0\n"})
        self.assertEqual(len(found), 1)
        self.assertIn("core/CMakeLists.txt: MARK long=Old[.] ", found[0])

    def test_a_program_that_is_not_built_may_have_the_case(self):
        self.assertEqual(self.complaints({"a": "#mark\tlong\tSlow\t0\n", "b": None}), [])

    def test_every_mark_of_this_build_has_a_case(self):
        build = os.environ.get("TRIBUTARY_BUILD_DIR")
        if not build:
            self.skipTest("TRIBUTARY_BUILD_DIR names no build; CTest sets it")
        self.assertEqual(lost_marks(Path(build)), [])


if __name__ == "__main__":
    sys.exit(unittest.main())
