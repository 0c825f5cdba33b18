#!/usr/bin/env python3
"""tidy.py --table prints the sizes of this tree and those of another commit."""

import subprocess
import sys
import unittest
from pathlib import Path

from tree_testing import TreeTest

TIDY = Path(__file__).resolve().parent / "tidy.py"


class Table(TreeTest):
    def setUp(self):
        super().setUp()
        self.write("core/a/large.h", self.class_text("Large", 50, 20))
        self.write("core/a/small.h", self.class_text("Small", 5, 2))
        self.write("core/a/large_test.cc", "// A comment.\n\nint x;\n")
        for number in range(26):
            self.write(f"cli/file{number}.cc", "int x;\nint y;\n")

    @staticmethod
    def class_text(name: str, methods: int, data: int) -> str:
        members = [f"void f{at}();" for at in range(methods)]
        members += [f"int x{at};" for at in range(data)]
        return f"class {name} {{\n" + "\n".join(members) + "\n};\n"

    def run_tidy(self, *options: str) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, "-B", str(TIDY), "--root", str(self.root), *options],
                              capture_output=True, text=True, check=False)

    def git(self, *words: str):
        subprocess.run(["git", "-C", str(self.root), "-c", "user.name=a", "-c", "user.email=a@a",
                        "-c", "commit.gpgsign=false", *words], check=True, capture_output=True)

    def rows(self, *options: str) -> dict:
        """The figures of the table by the first word of their line, in the first part that has it."""
        rows = {}
        for part in self.parts(*options).values():
            for name, figures in part.items():
                rows.setdefault(name, figures)
        return rows

    def parts(self, *options: str) -> dict:
        """The same by part of the table; a part has the first two words of its heading."""
        result = self.run_tidy("--table", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        parts, part = {}, {}
        for line in result.stdout.splitlines():
            words = line.replace(" > ", ">").split()
            if line.startswith("  "):
                part[words[0]] = words[1:]
            elif words:
                part = parts.setdefault(" ".join(words[:2]), {})
        return parts

    def test_sizes_today(self):
        rows = self.rows()
        self.assertEqual(rows["Large"], ["50", "0", "20", "0"])
        self.assertEqual(rows["Small"], ["5", "0", "2", "0"])
        self.assertEqual(rows["cli"], ["26"])
        self.assertEqual(rows["core"], ["81", "1"])
        self.assertEqual(rows["all"], ["133", "1"])

    def test_against_a_commit(self):
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "before")
        self.write("core/a/large.h", self.class_text("Large", 30, 20))
        self.write("core/a/new.h", self.class_text("New", 45, 0))
        (self.root / "cli" / "file0.cc").unlink()
        rows = self.rows("--against", "HEAD")
        self.assertEqual(rows["Large"], ["50>30", "0", "20", "0"])
        self.assertEqual(rows["New"], ["->45", "->0", "->0", "->0"])
        self.assertEqual(rows["cli"], ["26>25"])
        self.assertEqual(rows["all"], ["133>158", "1"])

    def test_share_of_comment_lines(self):
        self.write("core/b/b.h", "// One.\n/* Two,\n   three. */\n\nint x;  // not a line of its own\n")
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "before")
        self.assertEqual(self.parts()["Share of"],
                         {"cli": ["0.0", "-", "0.0"], "core/a": ["0.0", "50.0", "1.2"],
                          "core/b": ["75.0", "-", "75.0"], "all": ["2.2", "50.0", "2.9"]})
        self.write("core/b/b.h", "// One.\nint x;\n")
        self.write("edge_agent/a.cc", "// One.\nint x;\n")
        parts = self.parts("--against", "HEAD")
        self.assertEqual(parts["Share of"]["core/b"], ["75.0>50.0", "-", "75.0>50.0"])
        self.assertEqual(parts["Share of"]["edge_agent"], ["->50.0", "-", "->50.0"])
        self.assertEqual(parts["Lines of"]["edge_agent"], ["0>1", "0"])

    def test_commit_that_is_not_there(self):
        self.git("init", "-q")
        result = self.run_tidy("--table", "--against", "absent")
        self.assertEqual(result.returncode, 2)
        self.assertIn("no commit absent", result.stderr)

    def test_against_belongs_to_the_table(self):
        self.assertEqual(self.run_tidy("--against", "HEAD").returncode, 2)

    def test_unused(self):
        result = self.run_tidy("--unused")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("  core/a/large.h: class Large\n", result.stdout)


if __name__ == "__main__":
    unittest.main()
