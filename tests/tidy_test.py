#!/usr/bin/env python3
"""Every rule of tidy.py fails on what it forbids, at the right line, and on nothing else."""

import json
import unittest

import tidy
from tree_testing import TreeTest


class Rules(TreeTest):
    def complaints(self, path: str, text: str):
        self.write(path, text)
        return list(tidy.complaints(self.root))

    def assert_refused(self, path: str, line: str, remedy: str):
        """The line stands third in the file; the message names the place and the remedy."""
        found = self.complaints(path, f"// A header.\n#pragma once\n{line}\n")
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"{path}:3: "), found[0])
        self.assertIn(remedy, found[0])

    def assert_allowed(self, path: str, line: str):
        self.assertEqual(self.complaints(path, f"// A header.\n#pragma once\n{line}\n"), [])

    def test_library_does_not_print(self):
        self.assert_refused("core/base/a.cc", "std::cout << 1;", "core/base/log/log.h")

    def test_library_does_not_printf(self):
        self.assert_refused("core/base/a.cc", '  printf("x");', "core/base/log/log.h")

    def test_tool_prints(self):
        self.assert_allowed("cli/a.cc", "std::cout << 1;")

    def test_formatting_is_not_printing(self):
        self.assert_allowed("core/base/a.cc", 'snprintf(b, 4, "x"); log.printf("x");')

    def test_library_does_not_exit(self):
        self.assert_refused("core/base/a.cc", "if (bad) abort();", "return a Status")

    def test_library_takes_a_clock(self):
        self.assert_refused("core/net/a.cc", "std::chrono::steady_clock::now()", "take a Clock")

    def test_the_clock_itself_may(self):
        self.assert_allowed("core/base/clock.cc", "std::chrono::steady_clock::now()")

    def test_benchmark_may_measure(self):
        self.assert_allowed("core/codec/a_bench.cc", "std::chrono::steady_clock::now()")

    def test_library_takes_random_numbers_by_address(self):
        self.assert_refused("core/codec/a.cc", "std::mt19937 g;", "core/base/random.h")

    def test_tests_do_not_sleep(self):
        self.assert_refused("core/base/a_test.cc", "std::this_thread::sleep_for(1s);", "event")

    def test_tests_are_not_switched_off(self):
        self.assert_refused("core/base/a_test.cc", "TEST(A, DISABLED_b) {}", "GTEST_SKIP")

    def test_skip_says_why(self):
        self.assert_refused("core/base/a_test.cc", "  GTEST_SKIP();", "say why")

    def test_skip_with_a_reason(self):
        self.assert_allowed("core/base/a_test.cc", '  GTEST_SKIP() << "no GPU";')

    def test_unfinished(self):
        self.assert_refused("cli/a.h", "// TO" "DO: later", "open an issue")

    def test_tab(self):
        self.assert_refused("cli/a.h", "\tint x;", "indent with spaces")

    def test_blank_at_the_end(self):
        self.assert_refused("docs/a.md", "text ", "remove the blanks")

    def test_path_of_a_machine(self):
        for folder in ("home", "root", "work"):
            self.assert_refused("docs/a.md", f"see `/{folder}/x/y`", "relative to the repository")

    def test_path_below_a_folder_of_ours(self):
        self.assert_allowed("docs/a.md", "see build/work/x, $HOME/work/y and https://a.org/home/z")

    def test_broken_link(self):
        self.assert_refused("docs/a.md", "see [b](b.md#part)", "no file b.md")

    def test_links_that_hold(self):
        self.assert_allowed("docs/a.md", "[a](a.md#x) [up](../docs/) [w](https://a.org) [h](#x)")

    def test_long_file(self):
        found = self.complaints("core/base/a.cc", "\n" * (tidy.LINES_MAX + 1))
        self.assertEqual(len(found), 1, found)
        self.assertIn("601 lines; split the file", found[0])

    def test_header_without_guard(self):
        found = self.complaints("core/base/a.h", "// A header.\nint x;\n")
        self.assertEqual(found, ["core/base/a.h:1: begin the header with #pragma once"])

    def test_own_header_comes_first(self):
        self.complaints("core/base/a.h", "// A header.\n#pragma once\n")
        self.assertEqual(self.complaints("core/base/a.cc", '#include "core/base/a.h"\n'), [])
        found = self.complaints("core/base/a.cc", '\n#include <map>\n#include "core/base/a.h"\n')
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith("core/base/a.cc:2: include core/base/a.h first"), found)

    def test_header_that_is_included_again(self):
        self.assertEqual(self.complaints("core/base/a-inl.h", "// A header.\nint x;\n"), [])

    def test_changelog_fragment(self):
        self.assert_allowed("changes/codec-int8.added.md", "New.")
        found = self.complaints("changes/Codec int8.md", "New.\n")
        self.assertEqual(found, ["changes/Codec int8.md:1: name it WHAT.KIND.md as "
                                 "changes/README.md says"])

    def test_extension(self):
        found = self.complaints("core/base/a.cpp", "int x;\n")
        self.assertEqual(len(found), 1, found)
        self.assertIn("name it .cc or .h", found[0])

    def test_no_newline_at_the_end(self):
        found = self.complaints("core/base/a.cc", "int x;")
        self.assertEqual(found, ["core/base/a.cc:1: end the file with a newline"])

    def test_generated_code_is_left_alone(self):
        self.assertEqual(self.complaints("schemas/a_generated.h",
                                         "#pragma once\nstd::cout;\n" + "\n" * 700), [])

    def test_build_folder_is_not_read(self):
        self.assertEqual(self.complaints("build/dev/a.cc", "\tint x;"), [])

    def test_large_class(self):
        methods = "\n".join(f"void f{number}();" for number in range(41))
        self.assert_refused("cli/a.h", f"class A {{ {methods} }};", "A has 41 methods (40 at most)")

    def test_large_folder(self):
        for number in range(26):
            found = self.complaints(f"cli/file{number}.cc", "int x;\n")
        self.assertEqual(len(found), 1, found)
        self.assertIn("26 source files at one level", found[0])

    def test_definition_without_a_caller(self):
        found = self.complaints("core/base/a.h", "// A header.\n#pragma once\nint f();\n")
        self.assertEqual(len(found), 1, found)
        self.assertIn("only tests, benchmarks or fuzzers use the function f", found[0])

    def test_folder_without_a_word_in_the_map(self):
        self.complaints("cli/a.cc", "int x;\n")
        found = self.complaints("README.md", "## The map of the code\n")
        self.assertEqual(len(found), 1, found)
        self.assertIn("the folder cli is not named", found[0])

    def test_exceptions(self):
        for number in range(26):
            self.complaints(f"cli/file{number}.cc", "int x;\n")
        methods = "\n".join(f"void f{number}();" for number in range(41))
        self.complaints("core/base/a.h", f"// A header.\n#pragma once\nclass A {{ {methods} }};\n")
        reason = "It has no parts that stand alone."
        known = {"classes": {"A": {"methods": 41, "reason": reason}},
                 "folders": {"cli": {"files": 26, "reason": reason}}, "unused": {"A": reason}}
        text = json.dumps(known) + "\n"
        self.assertEqual(self.complaints("tests/house_exceptions.json", text), [])

    def test_exceptions_without_a_reason(self):
        self.complaints("core/base/a.h", "// A header.\n#pragma once\nint f();\nint g();\nint h();\n")
        known = {"classes": {}, "folders": {},
                 "unused": {"f": "", "g": "Later.", "h": "The next release calls it."}}
        found = self.complaints("tests/house_exceptions.json", json.dumps(known) + "\n")
        self.assertEqual([line.split(" ")[1] for line in found], ["f", "g"])
        self.assertIn("say in a sentence why it is an exception", found[0])

    def test_file_that_cannot_be_read(self):
        found = self.complaints("cli/a.cc", "int f() {\n")
        self.assertEqual(found, ["cli/a.cc:1: a { is not closed; "
                                 "the sizes of classes cannot be counted"])


if __name__ == "__main__":
    unittest.main()
