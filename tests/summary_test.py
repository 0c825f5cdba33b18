#!/usr/bin/env python3
"""The summary of a test run, on results as CTest 3.25 writes them."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import summary

PASSED = '<testcase name="a.ok" status="run"><system-out>fine</system-out></testcase>'
FAILED = '<testcase name="a.bad" status="fail"><failure message=""/></testcase>'
DISABLED = '<testcase name="a.off" status="disabled"/>'
NOT_BUILT = ('<testcase name="b_NOT_BUILT" status="notrun">'
             '<skipped message="Unable to find executable"/></testcase>')
GTEST_SKIP = '''<testcase name="a.gpu" status="notrun">
<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
<system-out>[ RUN      ] A.gpu
core/codec/a_test.cc:4: Skipped
no GPU on
this machine
[  SKIPPED ] A.gpu (0 ms)
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] A.gpu
</system-out></testcase>'''
SKIP_CODE = '''<testcase name="a.root" status="notrun">
<skipped message="SKIP_RETURN_CODE=77"/><system-out>starting
needs root
</system-out></testcase>'''


def results(*cases: str) -> str:
    return f'<?xml version="1.0"?><testsuite>{"".join(cases)}</testsuite>'


class Counts(unittest.TestCase):
    def test_each_kind_is_counted_once(self):
        counted = summary.summarize(
            results(PASSED, FAILED, DISABLED, NOT_BUILT, GTEST_SKIP, SKIP_CODE))
        self.assertEqual(counted.passed, ["a.ok"])
        self.assertEqual(counted.failed, ["a.bad", "b_NOT_BUILT"])
        self.assertEqual(dict(counted.skipped), {
            "switched off in the source": ["a.off"],
            "no GPU on this machine": ["a.gpu"],
            "needs root": ["a.root"],
        })

    def test_paragraph_names_every_skipped_test_and_why(self):
        text = summary.paragraph("dev", summary.summarize(results(PASSED, GTEST_SKIP, SKIP_CODE)))
        self.assertEqual(text.splitlines(), [
            "dev: 1 tests run, 1 passed, 0 failed, 2 skipped",
            "  skipped, no GPU on this machine:", "    a.gpu",
            "  skipped, needs root:", "    a.root"])


class ExitStatus(unittest.TestCase):
    def run_on(self, *files: str):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for number, text in enumerate(files):
                paths.append(Path(folder, f"{number}.xml"))
                paths[-1].write_text(text, encoding="utf-8")
            return subprocess.run([sys.executable, summary.__file__, "--total", *map(str, paths)],
                                  capture_output=True, text=True, check=False)

    def test_all_passed(self):
        result = self.run_on(results(PASSED), results(PASSED, GTEST_SKIP))
        self.assertEqual((result.returncode, result.stdout), (0, "2 passed, 0 failed, 1 skipped\n"))

    def test_one_failed(self):
        result = self.run_on(results(PASSED), results(FAILED))
        self.assertEqual((result.returncode, result.stdout), (1, "1 passed, 1 failed, 0 skipped\n"))

    def test_nothing_ran(self):
        result = self.run_on(results(GTEST_SKIP))
        self.assertEqual((result.returncode, result.stdout), (1, "0 passed, 0 failed, 1 skipped\n"))


if __name__ == "__main__":
    unittest.main()
