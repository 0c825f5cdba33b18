#!/usr/bin/env python3
"""The folder that tests the GPU's kernels on another machine: its program has all tests of kernels,
racecheck has some of each family, and without a GPU the folder says so in one JSON file."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from federation import BUILD

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/cuda"))
import kit  # noqa: E402 pylint: disable=wrong-import-position

KERNELS = ROOT / "core/codec/cuda"
TESTS = BUILD / "core/codec/cuda/gpu/core_codec_cuda_gpu_test"
SKIPPED = 77  # as tests/CMakeLists.txt has it
ONLY_EMULATED = re.compile(r"#ifndef TRIBUTARY_CUDA\n.*?#endif", re.DOTALL)


def tests_of(filters: str = "*") -> set:
    listed = subprocess.run([str(TESTS), "--gtest_list_tests", f"--gtest_filter={filters}"], check=True,
                            text=True, stdout=subprocess.PIPE).stdout
    found, suite = set(), ""
    for line in listed.splitlines():
        name = line.split("#")[0].rstrip()
        if name.startswith("  "):
            found.add(suite + name.strip())
        elif name.endswith("."):
            suite = name
    return found


def cases(path: Path) -> set:
    """Suite.Name of all tests in a file that also run on a GPU."""
    text = ONLY_EMULATED.sub("", path.read_text(encoding="utf-8"))
    return {".".join(case) for case in re.findall(r"^TEST(?:_[FP])?\((\w+),\s*(\w+)\)", text, re.MULTILINE)}


class Kit(unittest.TestCase):
    def test_has_all_tests_of_kernels(self):
        files = [*KERNELS.glob("*/device_*_test.cc"), KERNELS / "codec_device_test.cc"]
        families = {path.parent.name for path in KERNELS.glob("*/*.cu")}
        self.assertEqual({path.parent.name for path in files[:-1]}, families)
        # Instantiation/Suite.Name/parameter
        built = {re.sub(r"/[^/.]*$|^[^/.]*/", "", re.sub(r"/[^/.]*$", "", name)) for name in tests_of()}
        for path in files:
            with self.subTest(path.name):
                self.assertTrue(cases(path))
                self.assertEqual(cases(path) - built, set())

    def test_has_tests_of_each_family_for_racecheck(self):
        self.assertEqual(set(kit.RACECHECK), {path.parent.name for path in KERNELS.glob("*/*.cu")})
        for family, filters in kit.RACECHECK.items():
            for each in filters.split(":"):
                with self.subTest(family, filter=each):
                    self.assertTrue(tests_of(each), "no test has such a name")

    def result_with(self, driver: Path, status: int, *parts: str) -> tuple:
        """What run.sh writes if this is the driver's library, and what it prints beside that."""
        with tempfile.TemporaryDirectory() as folder:
            for script in (ROOT / "bench/cuda/kit").iterdir():
                shutil.copy(script, folder)
            for name in ("bin", "lib"):
                os.mkdir(Path(folder) / name)
            (Path(folder) / "commit").write_text("none\n", encoding="utf-8")
            (Path(folder) / "bin" / TESTS.name).symlink_to(TESTS)
            for library in kit.libraries(TESTS):
                (Path(folder) / "lib" / library.name).symlink_to(library)
            (Path(folder) / "lib/libcuda.so.1").symlink_to(driver)
            done = subprocess.run([f"{folder}/run.sh", "--out", f"{folder}/kit.json", *parts], check=False,
                                  env={**os.environ, "GTEST_FILTER": "DeviceSteps.*"}, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, status, done.stderr)
            result = json.loads((Path(folder) / "kit.json").read_text(encoding="utf-8"))
            self.assertEqual(json.loads(done.stdout), result)
            self.assertEqual(set(result["machine"]), {"gpu", "cpu", "cores", "kit"})
            return result, done.stderr

    def test_says_that_no_gpu_can_be_used(self):
        result, said = self.result_with(Path("/dev/null"), 3)  # hides a driver of this machine
        self.assertIn("no GPU can be used: ", said)
        self.assertIn("got no driver", result["no_gpu"])
        self.assertEqual(result["failed"], ["gpu"])

    def test_runs_tests_with_a_driver(self):
        result, _ = self.result_with(TESTS.parent / "emulated_driver/libcuda.so.1", 0, "tests")
        self.assertEqual((result["failed"], result["tests"]["exit"]), ([], 0))
        self.assertIn("OK ] DeviceSteps.", result["tests"]["output"])


if __name__ == "__main__":
    if not TESTS.exists():
        print("no code for GPUs in this build: neither nvcc nor clang with CUDA 12")
        sys.exit(SKIPPED)
    unittest.main()
