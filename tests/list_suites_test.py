#!/usr/bin/env python3
"""Which entries CTest gets of a test program (cmake/list_suites.py)."""

import argparse
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cmake"))
import list_suites  # noqa: E402

LISTING = """A.
  one
  ThreadsAgree
Each/B.
  case/0  # GetParam() = 8-byte object <00-00>
  case/1  # GetParam() = a.b
SlowOnes/B.
  case/0
Typed/0.  # TypeParam = int
  works
"""


class Suites(unittest.TestCase):
    def suites(self) -> dict:
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "program")
            program.write_text(f"#!/bin/sh\ncat <<'END'\n{LISTING}END\n", encoding="utf-8")
            program.chmod(0o755)
            return list_suites.suites_of([str(program)])

    def test_names_are_read_without_what_follows_them(self):
        self.assertEqual(self.suites(), {
            "A": ["one", "ThreadsAgree"], "Each/B": ["case/0", "case/1"], "SlowOnes/B": ["case/0"],
            "Typed/0": ["works"]})

    def entries(self, only="", labels=(), marks=()) -> list:
        return list_suites.entries_of("p", self.suites(), only, list(labels), list(marks))

    def test_each_suite_is_an_entry(self):
        self.assertEqual(self.entries(labels=["x"]), [
            ("p.A", "A.*", ["x"]), ("p.Each/B", "Each/B.*", ["x"]),
            ("p.SlowOnes/B", "SlowOnes/B.*", ["slow", "x"]), ("p.Typed/0", "Typed/0.*", ["x"])])

    def test_marked_suites_carry_the_label(self):
        self.assertEqual(self.entries(marks=[("long", "^p[.]Typed|SlowOnes")])[2:], [
            ("p.SlowOnes/B", "SlowOnes/B.*", ["long", "slow"]), ("p.Typed/0", "Typed/0.*", ["long"])])

    def test_marked_cases_are_an_entry_of_their_own(self):
        marks = [("threads", "Thread|Typed"), ("replay", "Typed")]
        self.assertEqual(self.entries(marks=marks)[:2], [
            ("p.A", "A.one", []), ("p.A (threads)", "A.ThreadsAgree", ["threads"])])
        self.assertEqual(self.entries(marks=marks)[-1],
                         ("p.Typed/0", "Typed/0.*", ["replay", "threads"]))

    def test_each_alternative_of_a_mark_has_its_number_of_cases(self):
        self.assertEqual(list_suites.alternatives(r"A[.]|B(c|d)$|\|"), ["A[.]", "B(c|d)$", r"\|"])
        comments = list_suites.mark_comments("p", self.suites(), [("long", "Each/|Gone"), ("threads", ".")])
        self.assertEqual(comments, ["#mark\tlong\tEach/\t2", "#mark\tlong\tGone\t0",
                                    "#mark\tthreads\t.\t6"])

    def test_a_mark_has_a_label_and_a_regex(self):
        self.assertEqual(list_suites.mark("long=a=b"), ("long", "a=b"))
        for text in ("long", "=x", "long="):
            with self.assertRaisesRegex(argparse.ArgumentTypeError, "expected LABEL=REGEX"):
                list_suites.mark(text)

    def test_only_leaves_out_the_others(self):
        self.assertEqual(self.entries(only="^p[.](Each|A[.]one)"), [
            ("p.A", "A.one", []), ("p.Each/B", "Each/B.*", [])])

    def test_files_of_results_have_plain_names(self):
        self.assertEqual(list_suites.result_file(Path("r"), "p.Each/B (threads)"),
                         Path("r/p.Each-B--threads-.xml"))


if __name__ == "__main__":
    unittest.main()
