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
SKIP_CODE = '''<testcase name="a.root" status="notrun">
<skipped message="SKIP_RETURN_CODE=77"/><system-out>starting
needs root
</system-out></testcase>'''


SUITE = '<testcase name="p.A" status="run"/>'
SUITE_FAILED = '<testcase name="p.A" status="fail"/>'
CRASHED = '''<testcase name="p.A" status="fail"><failure message=""/><system-out>[ RUN      ] A.first
[       OK ] A.first (0 ms)
[ RUN      ] A.second
</system-out></testcase>'''
CASES = '''<?xml version="1.0"?><testsuites><testsuite name="A">
<testcase name="ok" status="run" result="completed" classname="A"/>
<testcase name="each/2" status="run" result="completed" classname="A"/>
<testcase name="DISABLED_x" status="notrun" result="suppressed" classname="A"/>
<testcase name="gpu" status="run" result="skipped" classname="A">
<skipped message="core/codec/a_test.cc:4&#x0A;no GPU on&#x0A;this machine&#x0A;"><![CDATA[core/codec/a_test.cc:4
no GPU on
this machine
]]></skipped></testcase>%s
</testsuite></testsuites>'''
BAD_CASE = '''<testcase name="bad" status="run" result="completed" classname="A">
<failure message="a.cc:5" type=""/></testcase>'''


def results(*cases: str) -> str:
    return f'<?xml version="1.0"?><testsuite>{"".join(cases)}</testsuite>'


class Counts(unittest.TestCase):
    def test_each_kind_is_counted_once(self):
        counted = summary.summarize(results(PASSED, FAILED, DISABLED, NOT_BUILT, SKIP_CODE))
        self.assertEqual(counted.passed, ["a.ok"])
        self.assertEqual(counted.failed, ["a.bad", "b_NOT_BUILT"])
        self.assertEqual(dict(counted.skipped), {
            "switched off in the source": ["a.off"],
            "needs root": ["a.root"],
        })

    def test_cases_of_a_suite_are_counted_and_not_the_suite(self):
        counted = summary.summarize(results(SUITE_FAILED, PASSED),
                                    {"p.A": CASES % BAD_CASE}.get)
        self.assertEqual(counted.passed, ["p.A.ok", "p.A.each/2", "a.ok"])
        self.assertEqual(counted.failed, ["p.A.bad"])
        self.assertEqual(dict(counted.skipped), {
            "switched off in the source": ["p.A.DISABLED_x"],
            "no GPU on this machine": ["p.A.gpu"],
        })

    def test_a_suite_that_failed_after_its_cases_is_a_failure(self):
        counted = summary.summarize(results(SUITE_FAILED), {"p.A": CASES % ""}.get)
        self.assertEqual(counted.failed, ["p.A (after its cases)"])

    def test_a_crash_is_named_by_the_case_it_ended_in(self):
        counted = summary.summarize(results(CRASHED))
        self.assertEqual(counted.failed, ["p.A (ended in A.second)"])

    def test_paragraph_names_every_skipped_test_and_why(self):
        text = summary.paragraph(
            "dev", summary.summarize(results(SUITE, SKIP_CODE), {"p.A": CASES % ""}.get))
        self.assertEqual(text.splitlines(), [
            "dev: 2 tests run, 2 passed, 0 failed, 3 skipped",
            "  skipped, switched off in the source:", "    p.A.DISABLED_x",
            "  skipped, no GPU on this machine:", "    p.A.gpu",
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
        result = self.run_on(results(PASSED), results(PASSED, SKIP_CODE))
        self.assertEqual((result.returncode, result.stdout), (0, "2 passed, 0 failed, 1 skipped\n"))

    def test_one_failed(self):
        result = self.run_on(results(PASSED), results(FAILED))
        self.assertEqual((result.returncode, result.stdout), (1, "1 passed, 1 failed, 0 skipped\n"))

    def test_half_a_file_of_results_is_none(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "tests.xml")
            path.write_text(results(CRASHED), encoding="utf-8")
            Path(folder, "results").mkdir()
            Path(folder, "results", "p.A.xml").write_text(CASES[:120], encoding="utf-8")
            result = subprocess.run([sys.executable, summary.__file__, str(path)],
                                    capture_output=True, text=True, check=False)
        self.assertIn("failed: p.A (ended in A.second)", result.stdout)

    def test_nothing_ran(self):
        result = self.run_on(results(SKIP_CODE))
        self.assertEqual((result.returncode, result.stdout), (1, "0 passed, 0 failed, 1 skipped\n"))


if __name__ == "__main__":
    unittest.main()
