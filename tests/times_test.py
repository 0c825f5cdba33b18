#!/usr/bin/env python3
"""The table of two checkouts has what their builds logged, and dashes for what they did not."""

import unittest
from pathlib import Path

import times
from tree_testing import TreeTest


class Times(TreeTest):
    def checkout(self, name: str, milliseconds: int, tested_s=None, parts="") -> Path:
        build = self.root / name / "build/dev"
        build.mkdir(parents=True)
        (build / ".ninja_log").write_text(
            "# ninja log v5\n"
            f"0\t{milliseconds}\t0\ta/CMakeFiles/a.dir/a.cc.o\t1\n"
            f"0\t{milliseconds}\t0\ta/CMakeFiles/a_test.dir/a.cc.o\t2\n"
            "0\t500\t0\ta/a_test\t3\n0\t500\t0\ta/suites.cmake\t3\n", encoding="utf-8")
        if tested_s is not None:
            (build / "tests.xml").write_text(
                f'<testsuite><testcase name="A" time="{tested_s}"/></testsuite>', encoding="utf-8")
        if parts:
            (build.parent / times.PARTS).write_text(parts, encoding="utf-8")
        return self.root / name

    def test_totals(self):
        sums = times.totals(self.checkout("now", 2_000, 3.5) / "build/dev")
        self.assertEqual(dict(sums), {"compile": 2, "compile tests": 2, "link": 0.5, "test": 3.5})

    def test_comparison(self):
        before = self.checkout("before", 4_000)
        now = self.checkout("now", 1_000, 3, "lint\t240\n")
        lines = times.comparison(before, [now / "build/dev"])
        self.assertEqual([line.split() for line in lines[1:]], [
            ["dev", "compile", "4", "1", "0.25"],
            ["dev", "compile", "tests", "4", "1", "0.25"],
            ["dev", "link", "0", "0", "1.00"],
            ["dev", "test", "-", "3", "-"],
            [".ci/run", "lint", "-", "240", "-"]])

    def test_a_part_has_its_steps(self):
        now = self.checkout("now", 1_000, None, "test\t400\t610\nlint\t90\n")
        (now / "build" / times.LOG.format("test")).write_text(
            "==> configure the preset dev\n==> configure the preset dev: done, 4.2 s\n"
            "==> build the preset dev: done, 350.0 s\n==> install: done, 0.3 s\n", encoding="utf-8")
        found = times.parts(now / "build")
        self.assertEqual(found, {".ci/run test": 400, "  processor time, test": 610,
                                 "  configure the preset dev": 4.2,
                                 "  build the preset dev": 350.0, ".ci/run lint": 90})

    def test_a_record_stands_for_a_checkout(self):
        now = self.checkout("now", 1_000, 3, "test\t466\n")
        lines = times.comparison(times.RECORD, [now / "build/dev"])
        rows = {" ".join(line.split()[:-3]): line.split()[-3:] for line in lines[1:]}
        self.assertEqual(rows[".ci/run test"], ["932", "466", "0.50"])
        self.assertEqual(rows["dev compile"], ["728", "1", "0.00"])
        self.assertEqual(rows[".ci/run lint"], ["701", "-", "-"])


if __name__ == "__main__":
    unittest.main()
