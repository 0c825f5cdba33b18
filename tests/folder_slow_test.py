#!/usr/bin/env python3
"""What cmake/TributaryFolder.cmake promises, in small projects of its own: a header that does not
compile alone is named, and every suite of a test program carries the folder's labels."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

CMAKE_LISTS = f"""
cmake_minimum_required(VERSION 3.25)
project(planted LANGUAGES CXX)
list(APPEND CMAKE_MODULE_PATH "{ROOT}/cmake")
set(CMAKE_CXX_STANDARD 20)
include(CTest)
find_package(GTest REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
include(TributaryPrecompiled)
set(TRIBUTARY_PRECOMPILE OFF)
include(TributaryFolder)
add_library(tributary_flags INTERFACE)
add_library(planted STATIC)
target_include_directories(planted PUBLIC "${{PROJECT_SOURCE_DIR}}")
add_subdirectory(folder)
"""


def run(*command) -> subprocess.CompletedProcess:
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)


class Folder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.source = Path(temporary.name, "source")
        self.build = Path(temporary.name, "build")
        self.write("CMakeLists.txt", CMAKE_LISTS)
        self.write("folder/CMakeLists.txt", "tributary_folder(planted LABELS threads other)\n")
        self.write("folder/a.cc", '#include "folder/a.h"\nint a() { return 1; }\n')
        self.write("folder/a.h", "#pragma once\nint a();\n")

    def write(self, path: str, text: str):
        (self.source / path).parent.mkdir(parents=True, exist_ok=True)
        (self.source / path).write_text(text, encoding="utf-8")

    def configure(self):
        configured = run("cmake", "-G", "Ninja", "-S", self.source, "-B", self.build)
        self.assertEqual(configured.returncode, 0, configured.stdout)

    def build_target(self, target: str) -> subprocess.CompletedProcess:
        return run("cmake", "--build", self.build, "--target", target)

    def test_headers_that_compile_alone(self):
        self.write("folder/again-inl.h", "std::string of_whoever_includes_this;\n")
        self.write("folder/lone.h", "#pragma once\n#include <string>\nstd::string lone();\n")
        self.configure()
        built = self.build_target("all_verify_interface_header_sets")
        self.assertEqual(built.returncode, 0, built.stdout)

    def test_header_that_does_not_compile_alone(self):
        self.write("folder/leaning.h", "#pragma once\nstd::string leaning();\n")
        self.configure()
        built = self.build_target("all_verify_interface_header_sets")
        self.assertNotEqual(built.returncode, 0)
        self.assertIn("folder/leaning.h:2", built.stdout)

    def test_every_suite_carries_the_labels(self):
        self.write("folder/a_test.cc", "#include <gtest/gtest.h>\nTEST(A, fast) {}\n")
        self.write("folder/b_slow_test.cc", "#include <gtest/gtest.h>\nTEST(B, slow) {}\n")
        self.configure()
        self.assertEqual(self.build_target("all").returncode, 0)
        listed = run("ctest", "--test-dir", self.build, "--show-only=json-v1").stdout
        tests = json.loads(listed[listed.index("{"):])["tests"]
        labels = {test["name"]: next((p["value"] for p in test["properties"]
                                      if p["name"] == "LABELS"), []) for test in tests}
        self.assertEqual(labels, {"folder_test.A": ["other", "threads"],
                                  "folder_slow_test.B": ["other", "slow", "threads"]})

    def test_what_ran_is_counted_by_case(self):
        self.write("folder/a_test.cc", "#include <gtest/gtest.h>\nTEST(A, one) {}\n"
                   "TEST(A, two) { GTEST_SKIP() << \"not today\"; }\nTEST(A, three) { FAIL(); }\n")
        self.configure()
        self.assertEqual(self.build_target("all").returncode, 0)
        results = self.build / "tests.xml"
        run("ctest", "--test-dir", self.build, "--output-junit", results)
        told = run("python3", ROOT / "tests" / "summary.py", results).stdout.splitlines()
        self.assertEqual(told, ["build: 2 tests run, 1 passed, 1 failed, 1 skipped",
                                "  failed: folder_test.A.three",
                                "  skipped, not today:", "    folder_test.A.two"])

    def test_a_program_that_is_not_built_fails(self):
        self.write("folder/a_test.cc", "#include <gtest/gtest.h>\nTEST(A, one) {}\n")
        self.configure()
        ran = run("ctest", "--test-dir", self.build)
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("folder_test_NOT_BUILT", ran.stdout)


if __name__ == "__main__":
    unittest.main()
