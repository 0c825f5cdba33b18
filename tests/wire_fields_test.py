#!/usr/bin/env python3
"""Fields of the messages that nothing reads are found, and those that something reads are not."""

import unittest

import class_sizes
import wire_fields
from tree_testing import TreeTest

SCHEMA = """
// A table of this comment: x: uint;
table Plan {
  seed: ulong;             // told: x
  gone: uint (deprecated);
  names: [string];
}
enum Kind : ubyte { one, two }
"""


class Fields(TreeTest):
    def setUp(self):
        super().setUp()
        self.write("schemas/plan.fbs", SCHEMA)
        self.write("core/a/both.cc", "int f(T& t, U* u) { t.names.push_back(1); u->names(); }")

    def found(self) -> list:
        return wire_fields.find(self.root, class_sizes.sources_of(self.root))

    def found_with(self, text: str, path: str = "core/a/user.cc") -> list:
        self.write(path, text)
        return [(field.name, field.is_read, field.is_written) for field in self.found()]

    def test_neither_and_deprecated_ones_are_left_out(self):
        self.assertEqual(self.found_with(""), [("seed", False, False)])

    def test_accessor_reads(self):
        self.assertEqual(self.found_with("int g(T* t) { return t->seed(); }"),
                         [("seed", True, False)])

    def test_assignment_writes(self):
        self.assertEqual(self.found_with("void g(T& t) { t.seed = 1; }"), [("seed", False, True)])

    def test_named_member_writes(self):
        self.assertEqual(self.found_with("T g() { return {.seed = 1}; }"), [("seed", False, True)])

    def test_comparison_reads(self):
        self.assertEqual(self.found_with("bool g(T& t) { return t.seed == 1; }"), [])

    def test_function_of_that_name_with_parameters_is_no_reader(self):
        self.assertEqual(self.found_with("int g(T& t) { return t.seed(1); }"),
                         [("seed", False, False)])

    def test_checks_and_tests_are_no_readers(self):
        reader = "int g(T* t) { return t->seed(); }"
        for path in ("schemas/check_plan.cc", "core/a/plan_test.cc", "bench/plan.cc"):
            self.assertEqual(self.found_with(reader, path), [("seed", False, False)])

    def test_stored_records_are_not_looked_at(self):
        self.write("schemas/policy.fbs", "table Policy {\n  other: uint;\n}\n")
        self.assertEqual(self.found_with(""), [("seed", False, False)])

    def test_complaints(self):
        found = self.found()
        self.assertEqual(list(wire_fields.complaints(found, {"Plan.seed": "wanted"})), [])
        self.assertEqual(list(wire_fields.complaints(found, {})), [
            "schemas/plan.fbs:1: no code reads Plan.seed; mark it (deprecated), or say in "
            "tests/wire_fields.py why it stays"])
        self.assertEqual(list(wire_fields.complaints([], {"Plan.seed": "wanted"})), [
            "tests/wire_fields.py:1: Plan.seed is used or gone; remove its entry"])

    def test_facts_need_only_a_counter(self):
        self.write("schemas/mechanisms.fbs", "table Facts {\n  lost: uint;\n}\n")
        complaints = lambda: [complaint for complaint in wire_fields.complaints(self.found(), {})
                              if "Facts" in complaint]
        self.assertEqual(complaints(), ["schemas/mechanisms.fbs:1: no code counts Facts.lost; count it "
                                        "where the thing happens"])
        self.write("core/a/counts.cc", "void g(F& f) { f.lost += 1; }")
        self.assertEqual(complaints(), [])

    def test_listing_says_what_is_missing(self):
        self.assertEqual(list(wire_fields.listing(self.found())), [
            "1 fields of the messages are not both read and written:",
            "  schemas/plan.fbs: Plan.seed: neither read nor written"])


if __name__ == "__main__":
    unittest.main()
