#!/usr/bin/env python3
"""What ./dev test --fast leaves out: programs that have passed as they are, and no others."""

import subprocess
import sys
import unittest

import unchanged
from tree_testing import TreeTest


class Unchanged(TreeTest):
    def setUp(self):
        super().setUp()
        self.build = self.root / "build" / "dev"
        self.write("build/dev/a/a_test", f"runs {self.build}/cli/tool\0")
        self.write("build/dev/b/b_test", "alone")
        self.write("build/dev/cli/tool", "first")
        self.write("scenario.toml", "seed = 1")
        for name in "ab":
            self.write(f"build/dev/{name}/{name}_test_suites.cmake",
                       f"add_test([==[{name}_test.Suite]==] [==[{self.build}/{name}/{name}_test]==]"
                       " [==[--gtest_filter=Suite.*]==])\n")
        self.passed("a_test.Suite", "b_test.Suite")

    def run_script(self, *options: str) -> str:
        return subprocess.run([sys.executable, unchanged.__file__, str(self.build), "--root",
                               str(self.root), *options], capture_output=True, text=True,
                              check=True).stdout

    def passed(self, *names: str, failed: str = ""):
        cases = [f'<testcase name="{name}" status="run"/>' for name in names]
        if failed:
            cases.append(f'<testcase name="{failed}" status="fail"/>')
        self.write("build/dev/tests.xml", f"<testsuite>{''.join(cases)}</testsuite>")
        self.run_script("--record")

    def test_both_are_left_out(self):
        self.assertEqual(self.run_script(), "^(a_test[.]|b_test[.])\n")

    def test_a_program_that_has_changed_runs(self):
        self.write("build/dev/b/b_test", "otherwise")
        self.assertEqual(self.run_script(), "^(a_test[.])\n")

    def test_a_program_runs_when_one_that_it_runs_has_changed(self):
        self.write("build/dev/cli/tool", "second")
        self.assertEqual(self.run_script(), "^(b_test[.])\n")

    def test_data_concerns_all(self):
        self.write("scenario.toml", "seed = 2")
        self.assertEqual(self.run_script(), "")

    def test_words_concern_none(self):
        self.write("docs/page.md", "words")
        self.assertEqual(self.run_script(), "^(a_test[.]|b_test[.])\n")

    def test_what_failed_runs_again(self):
        self.write("build/dev/a/a_test", "otherwise")
        self.passed("a_test.Suite", failed="a_test.Other")
        self.assertEqual(self.run_script(), "^(b_test[.])\n")

    def test_what_failed_as_it_is_runs_again(self):
        self.passed("b_test.Suite", failed="a_test.Other")
        self.assertEqual(self.run_script(), "^(b_test[.])\n")

    def test_what_did_not_run_stays_known(self):
        self.write("build/dev/a/a_test", "otherwise")
        self.passed("a_test.Suite")
        self.assertEqual(self.run_script(), "^(a_test[.]|b_test[.])\n")

    def declare(self, patterns: str):
        self.write("build/dev/tests/inputs.txt", f"tests.scripts\t{patterns}\n")
        self.write("tests/scripts.py", "first")
        self.passed("a_test.Suite", "b_test.Suite", "tests.scripts", "tests.layers")

    def test_a_python_test_is_left_out_by_its_inputs(self):
        self.declare("tests/*.py dev")
        self.assertEqual(self.run_script(), "^(a_test[.]|b_test[.]|tests[.]scripts$)\n")
        self.write("core/a.cc", "code")
        self.assertEqual(self.run_script(), "^(a_test[.]|b_test[.]|tests[.]scripts$)\n")
        self.write("tests/scripts.py", "otherwise")
        self.assertEqual(self.run_script(), "^(a_test[.]|b_test[.])\n")

    def test_a_python_test_runs_when_an_input_appears(self):
        self.declare("tests/*.py docs/guide.md")
        self.write("docs/guide.md", "words")
        self.assertEqual(self.run_script(), "^(a_test[.]|b_test[.])\n")

    def test_an_input_may_be_of_the_build(self):
        self.declare("BUILD/cli/tool")
        self.write("build/dev/cli/tool", "second")
        self.assertEqual(self.run_script(), "^(b_test[.])\n")

    def test_a_python_test_that_says_nothing_runs(self):
        self.passed("tests.scripts")
        self.assertEqual(self.run_script(), "^(a_test[.]|b_test[.])\n")


if __name__ == "__main__":
    unittest.main()
