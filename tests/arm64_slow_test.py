#!/usr/bin/env python3
"""NEON is checked: the codecs, cross-built for arm64 and run under emulation, give the golden bytes,
and their SIMD kernels those of the scalar version."""

import platform
import shutil
import subprocess
import sys
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build" / "arm64" / "tests.xml"
SKIPPED = 77  # as tests/CMakeLists.txt has it


def reason_to_skip() -> str:
    if platform.machine() == "aarch64":
        return "this machine is arm64 itself: the tests beside this one have checked NEON"
    missing = [tool for tool in ("aarch64-linux-gnu-g++", "qemu-aarch64") if not shutil.which(tool)]
    if not (ROOT / "build" / "arm64-sysroot" / "packages").exists():
        missing.append("libraries for arm64")
    return f"no {', no '.join(missing)} (run ./dev setup --arm64)" if missing else ""


def codecs(passed: set, prefix: str) -> set:
    return {name.removeprefix(prefix) for name in passed if name.startswith(prefix)}


class Neon(unittest.TestCase):
    def test_the_codecs(self):
        ran = subprocess.run([str(ROOT / "dev"), "test", "--preset", "arm64"], check=False,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
        print(ran.stdout)
        self.assertEqual(ran.returncode, 0, "its output is above")
        passed = {case.get("name") for case in xml.parse(RESULTS).iter("testcase")
                  if case.get("status") == "run"}
        # The test preset tells this one which instruction set to insist on.
        self.assertIn("core_codec_test.SimdTarget.IsNotTheSpecification", passed)
        golden = codecs(passed, "core_codec_test.All/GoldenRounds.StayAsTheyAre/")
        compared = codecs(
            passed, "core_codec_test.Defaults/CodecCases.ScalarAndSimdGiveTheSameBytes/")
        self.assertEqual(golden, compared)
        self.assertLessEqual({"thc", "threelc", "topk", "int8"}, golden)


if __name__ == "__main__":
    reason = reason_to_skip()
    if reason:
        print(reason)
        sys.exit(SKIPPED)
    unittest.main()
