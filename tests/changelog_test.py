#!/usr/bin/env python3
"""Fragments of changes/ become sections of CHANGELOG.md, in order, and none is lost."""

import datetime
import unittest
from pathlib import Path

import changelog
from tree_testing import TreeTest

ROOT = Path(__file__).resolve().parent.parent
DAY = datetime.date(2026, 11, 24)


class Changelog(TreeTest):
    def setUp(self):
        super().setUp()
        self.write("changes/README.md", "How to write one.\n")

    def release(self, version: str) -> str:
        changelog.release(self.root, version, DAY)
        return (self.root / "CHANGELOG.md").read_text(encoding="utf-8")

    def assert_refused(self, version: str, words: str):
        before = sorted(path.name for path in (self.root / "changes").iterdir())
        with self.assertRaisesRegex(changelog.Refused, words):
            self.release(version)
        self.assertEqual(sorted(path.name for path in (self.root / "changes").iterdir()), before)

    def test_section_by_kind_and_name(self):
        self.write("changes/b.fixed.md", "B works.\n")
        self.write("changes/c.added.md", "C is new:\nit has two lines.\n")
        self.write("changes/a.added.md", "A is new.\n")
        self.assertEqual(self.release("0.1.0"), changelog.HEADER + """
## 0.1.0 (2026-11-24)

### Added

- A is new.
- C is new:
  it has two lines.

### Fixed

- B works.
""")

    def test_fragments_are_removed_and_the_readme_stays(self):
        self.write("changes/a.added.md", "A is new.\n")
        self.release("0.1.0")
        self.assertEqual([path.name for path in (self.root / "changes").iterdir()], ["README.md"])

    def test_newest_release_first(self):
        self.write("changes/a.added.md", "A is new.\n")
        first = self.release("0.1.0")
        self.write("changes/b.removed.md", "B is gone.\n")
        second = self.release("0.2.0")
        self.assertEqual(second, first.replace("## 0.1.0", """## 0.2.0 (2026-11-24)

### Removed

- B is gone.

## 0.1.0"""))

    def test_links_start_at_the_root(self):
        self.write("changes/a.added.md", "See [jobs](../docs/jobs.md#a) and [x](https://a.org/b).\n")
        self.assertIn("See [jobs](docs/jobs.md#a) and [x](https://a.org/b).", self.release("0.1.0"))

    def test_unreleased_changes_are_printed_and_kept(self):
        self.write("changes/a.added.md", "A is new.\n")
        self.assertEqual(changelog.section("Unreleased", changelog.fragments(self.root)),
                         "## Unreleased\n\n### Added\n\n- A is new.\n")
        self.assertTrue((self.root / "changes/a.added.md").is_file())

    def test_version_of_another_form(self):
        self.write("changes/a.added.md", "A is new.\n")
        self.assert_refused("1.0", "expected a version like 1.2.3, found '1.0'")

    def test_version_twice(self):
        self.write("changes/a.added.md", "A is new.\n")
        self.release("0.1.0")
        self.write("changes/b.added.md", "B is new.\n")
        self.assert_refused("0.1.0", "has a section 0.1.0 already")

    def test_nothing_to_release(self):
        self.assert_refused("0.1.0", "found none; there is nothing to release")

    def test_file_with_another_name(self):
        self.write("changes/a.new.md", "A is new.\n")
        self.assert_refused("0.1.0", "a.new.md: expected a name like")

    def test_empty_fragment(self):
        self.write("changes/a.added.md", "\n")
        self.assert_refused("0.1.0", "a.added.md: expected one to three sentences")

    def test_fragments_of_this_tree(self):
        paths = changelog.fragments(ROOT)
        text = changelog.section("Unreleased", paths)
        self.assertEqual(text.count("\n- "), len(paths))


if __name__ == "__main__":
    unittest.main()
