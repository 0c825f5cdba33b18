#!/usr/bin/env python3
"""Tests of clang_tidy.py: what it says of batches that cannot be read together."""

import unittest

import clang_tidy

CLASH = """\
core/a/x_test.cc:23:25: error: redefinition of 'kAgents' [clang-diagnostic-error]
constexpr std::uint32_t kAgents = 3;
                        ^
core/b/y_test.cc:9:25: note: previous definition is here
core/a/x_test.cc:40:7: error: reference to 'Nobody' is ambiguous [clang-diagnostic-error]
"""


class NamesUsedTwice(unittest.TestCase):
    def test_names_the_second_file_and_is_not_worded_as_an_error(self):
        names = clang_tidy.names_used_twice(CLASH)
        self.assertEqual(names, ["core/a/x_test.cc: Nobody", "core/a/x_test.cc: kAgents"])

    def test_a_finding_is_none(self):
        finding = "core/a/x.cc:3:1: error: function is too long [readability-function-size]\n"
        self.assertEqual(clang_tidy.names_used_twice(finding), [])


if __name__ == "__main__":
    unittest.main()
