#!/usr/bin/env python3
"""The fuzz runner's account of what its targets did. The targets here are scripts that end as
libFuzzer ends; ./dev fuzz runs the real ones."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RUNNER = Path(__file__).resolve().with_name("fuzz.py")
STATISTICS = "echo stat::number_of_executed_units: 1234; echo stat::average_exec_per_sec: 617"


class Runner(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.build = Path(temporary.name)
        (self.build / "fuzzers").mkdir()

    def target(self, name: str, script: str):
        path = self.build / "fuzzers" / name
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
        path.with_suffix(".corpus").write_text(f"{self.build}/seeds\n", encoding="utf-8")

    def run_fuzz(self, *arguments: str):
        return subprocess.run(
            [sys.executable, str(RUNNER), "--build", str(self.build), "--seconds", "1", *arguments],
            capture_output=True, text=True, check=False)

    def test_no_finding(self):
        self.target("calm", STATISTICS)
        result = self.run_fuzz()
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertRegex(result.stdout, r"calm +1234 +617  ok")

    def test_finding_is_kept_and_shown(self):
        self.target("calm", STATISTICS)
        # $6 is -artifact_prefix=FOLDER/.
        self.target("broken", f'printf abc >"${{6#*=}}crash-1"; {STATISTICS}; exit 77')
        result = self.run_fuzz()
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, r"broken +1234 +617  crash")
        self.assertRegex(result.stdout, r"calm +1234 +617  ok")
        self.assertIn("base64 of it: YWJj", result.stdout)
        self.assertTrue((self.build / "findings" / "broken" / "crash-1").exists())

    def test_target_that_runs_nothing_is_no_success(self):
        self.target("idle", "exit 0")
        result = self.run_fuzz()
        self.assertEqual(result.returncode, 1)
        self.assertIn("did not run", result.stdout)

    def test_seeds_are_handed_over(self):
        (self.build / "seeds").mkdir()
        self.target("calm", f'[ "$8" = "{self.build}/seeds" ] || exit 1; {STATISTICS}')
        self.assertEqual(self.run_fuzz().returncode, 0)

    def test_a_limit_of_runs_is_handed_over(self):
        self.target("calm", f'[ "$8" = "-runs=7" ] || exit 1; {STATISTICS}')
        self.assertEqual(self.run_fuzz("--runs", "7").returncode, 0)

    def test_unknown_target(self):
        self.target("calm", STATISTICS)
        result = self.run_fuzz("clam")
        self.assertEqual(result.returncode, 1)
        self.assertIn("no target clam; did you mean calm?", result.stderr)

    def test_no_target_at_all(self):
        result = self.run_fuzz()
        self.assertEqual(result.returncode, 1)
        self.assertIn("build its target fuzzers first", result.stderr)


if __name__ == "__main__":
    unittest.main()
