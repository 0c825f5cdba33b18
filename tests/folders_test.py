#!/usr/bin/env python3
"""Folders beyond the bound are found, and folders that the documents do not name."""

import unittest

import folders
from tree_testing import TreeTest

MAP = "# A\n\n## The map of the code\n\n| folder | what |\n|---|---|\n{rows}\n\n## More\n"


class Tree(TreeTest):
    def fill(self, folder: str, count: int):
        for number in range(count):
            self.write(f"{folder}/file{number}_test.cc")


class Sizes(Tree):
    def complaints(self, ceilings: dict) -> list:
        return list(folders.size_complaints(self.root, ceilings))

    def test_at_the_bound(self):
        self.fill("core/a", 25)
        self.fill("core/a/b", 25)
        self.write("core/a/CMakeLists.txt")
        self.write("core/a/a_generated.h")
        self.assertEqual(self.complaints({}), [])

    def test_beyond_the_bound(self):
        self.fill("core/a", 26)
        self.assertEqual(self.complaints({}), [
            "core/a:1: 26 source files at one level; make subfolders by what the files do "
            "(25 at most)"])

    def test_listed_folder_may_not_grow(self):
        self.fill("core/a", 27)
        self.assertEqual(self.complaints({"core/a": 27}), [])
        self.assertIn("it had 26, and may only shrink", self.complaints({"core/a": 26})[0])

    def test_entry_of_a_folder_that_keeps_the_bound_is_to_be_removed(self):
        self.fill("core/a", 25)
        for name in ("core/a", "core/gone"):
            self.assertEqual(self.complaints({name: 30}), [
                f"tests/house_exceptions.json:1: {name} keeps the bound of 25 source files now; "
                "remove its entry"])


class Documents(Tree):
    def complaints(self, rows: str) -> list:
        self.write("README.md", MAP.format(rows=rows))
        return list(folders.map_complaints(self.root))

    def test_all_folders_are_named(self):
        self.write("core/a/b/x.h")
        self.write("docs/x.md")
        self.write("build/x.h")
        self.write(".ci/run")
        self.assertEqual(self.complaints("| [core/a](core/a) | x |\n| [docs](docs) | x |"), [])

    def test_folder_of_core_that_is_not_named(self):
        self.write("core/a/x.h")
        self.write("core/b/x.h")
        self.assertEqual(self.complaints("| [core/a](core/a) | x |"), [
            "README.md:1: the folder core/b is not named; say what happens there"])

    def test_folder_at_the_top_that_is_not_named(self):
        self.write("core/a/x.h")
        self.write("cli/x.h")
        self.assertEqual(self.complaints("| [core/a](core/a) | x |"), [
            "README.md:1: the folder cli is not named; say what happens there"])

    def test_folder_that_is_not_there(self):
        self.write("core/a/x.h")
        self.assertEqual(self.complaints("| [core/a](core/a) | `core/b` |"), [
            "README.md:7: no folder or file core/b; name what is there now"])

    def test_folder_of_another_folder_that_is_not_there(self):
        self.write("core/a/x.h")
        self.assertEqual(self.complaints("| [core/a](core/a) | [c](old/c) and `engine/b` |"), [
            "README.md:7: no folder or file old/c; name what is there now",
            "README.md:7: no folder or file engine/b; name what is there now"])

    def test_word_that_is_no_folder(self):
        self.write("core/a/x.h")
        self.assertEqual(self.complaints("| [core/a](core/a) | `Status`, [x](https://x/y) |"), [])

    def test_text_and_target_of_a_link(self):
        self.write("core/a/x.h")
        self.assertEqual(self.complaints("| [core/old](core/a) | x |"), [
            "README.md:7: no folder or file core/old; name what is there now"])

    def test_folder_that_is_named_outside_the_map(self):
        self.write("core/a/x.h")
        self.write("README.md", "[core/a](core/a)\n" + MAP.format(rows="| [core](core) | x |"))
        self.assertEqual(list(folders.map_complaints(self.root)), [
            "README.md:1: the folder core/a is not named; say what happens there"])

    def test_architecture(self):
        self.write("core/a/x.h")
        self.write("core/b/x.h")
        self.write("docs/architecture.md", "`core/a`, `core/c/d`, [x.h](../core/a/x.h), `Status`")
        self.assertEqual(list(folders.map_complaints(self.root)), [
            "docs/architecture.md:1: no folder or file core/c/d; name what is there now",
            "docs/architecture.md:1: the folder core/b is not named; say what happens there"])

    def test_architecture_names_programs(self):
        self.write("core/a/x.h")
        self.write("agent/main.cc")
        self.write("scripts/run.py")
        self.write("docs/architecture.md", "`core/a`")
        self.assertEqual(list(folders.map_complaints(self.root)), [
            "docs/architecture.md:1: the folder agent is not named; say what happens there"])
        self.write("docs/architecture.md", "`core/a`, `agent`")
        self.assertEqual(list(folders.map_complaints(self.root)), [])

    def test_what_programs_leave_behind(self):
        self.write("core/a/x.h")
        self.write("tributary-demo/report/index.html")
        self.assertEqual(self.complaints("| [core/a](core/a) | x |"), [])


if __name__ == "__main__":
    unittest.main()
