#!/usr/bin/env python3
"""Definitions without a caller are found, and those with one are not."""

import unittest

import class_sizes
import unused
from tree_testing import TreeTest


class Tree(TreeTest):
    def found(self) -> list:
        return unused.find(class_sizes.sources_of(self.root))

    def nowhere(self) -> list:
        return [one.name for one in self.found() if not one.is_used_at_home]

    def assert_used(self, path: str, text: str):
        self.write(path, text)
        self.assertEqual(self.found(), [])

    def assert_unused(self, path: str, text: str):
        self.write(path, text)
        self.assertEqual(len(self.nowhere()), 1)


class Functions(Tree):
    def setUp(self):
        super().setUp()
        self.write("core/a/f.h", "namespace t { // f(1)\nint f(int x); }")
        self.write("core/a/f.cc", "namespace t { int f(int x) { return x ? f(x - 1) : 0; } }")

    def test_recursion_is_no_caller(self):
        self.assertEqual(self.nowhere(), ["f"])

    def test_caller_in_a_program(self):
        self.assert_used("cli/main.cc", "int main() { return t::f(1); }")

    def test_caller_in_a_macro(self):
        self.assert_used("cli/main.cc", "#define RUN(x) \\\n  f(x)\n")

    def test_caller_in_a_branch_that_is_not_read(self):
        self.assert_used("cli/main.cc", "#if X\n#else\nint main() { return f(1); }\n#endif\n")

    def test_callers_outside_the_shipped_code(self):
        for path in ("core/a/f_test.cc", "core/a/f_fuzz.cc", "core/a/f_bench.cc", "core/a/f_cases.cc",
                     "bench/f.cc", "core/a/f_testing.h", "tests/end_to_end/f.cc"):
            self.assert_unused(path, "int g() { return f(1); }")

    def test_comment_and_text_are_no_callers(self):
        self.assert_unused("cli/main.cc", "// f(1)\nauto x = \"f(1)\";")

    def test_method_of_that_name_is_no_caller(self):
        self.assert_unused("cli/main.cc", "struct A { int f(int); }; int A::f(int x) { return 1; }"
                                          "int g(A& a, A* b) { return a.f(1) + b->f(2); }")

    def test_definition_in_another_file_is_no_caller(self):
        self.assert_unused("core/a/more.cc", "namespace t { int f(double x) { return 1; } }")

    def test_caller_in_its_own_file(self):
        self.write("core/a/f.cc", "int f(int x) { return x; } int g() { return f(1); }")
        self.assertEqual([(one.name, one.is_used_at_home) for one in self.found()], [("f", True)])

    def test_headers_of_programs_are_not_read(self):
        self.write("core/a/f.h", "")
        self.write("cli/f.h", "int f(int x);")
        self.assertEqual(self.found(), [])


class Types(Tree):
    def setUp(self):
        super().setUp()
        self.write("core/a/c.h", "namespace t { class C; class C { public: C(); C* next_; };"
                                 "template <> struct hash<C> { int x; }; }")
        self.write("core/a/c.cc", "namespace t { C::C() { C copy = *this; } }")

    def test_its_own_methods_are_no_callers(self):
        self.assertEqual(self.nowhere(), ["C"])

    def test_announcement_is_no_caller(self):
        self.assert_unused("core/a/d.h", "namespace t { class C; }")

    def test_parameter(self):
        self.assert_used("cli/main.cc", "int main() { t::C c; }")

    def test_methods_in_another_file_are_no_callers(self):
        self.assert_unused("core/a/c_more.cc", "namespace t { C C::f() { return C(); } }")


class Ratchet(Tree):
    def complaints(self, known: dict) -> list:
        return list(unused.complaints(self.found(), known))

    def test_new_one(self):
        self.write("core/a/f.h", "int f();")
        self.assertEqual(self.complaints({}), [
            "core/a/f.h:1: only tests, benchmarks or fuzzers use the function f; remove it, or "
            "move it to a _testing.h"])

    def test_known_one(self):
        self.write("core/a/f.h", "class C {};")
        self.assertEqual(self.complaints({"C": "A program of the next release uses it."}), [])

    def test_entry_of_one_that_is_used_is_to_be_removed(self):
        self.write("core/a/f.h", "int f();")
        self.write("cli/main.cc", "int x = f();")
        self.assertEqual(self.complaints({"f": "A program of the next release uses it."}), [
            "tests/house_exceptions.json:1: f is used or gone; remove its entry"])


if __name__ == "__main__":
    unittest.main()
