#!/usr/bin/env python3
"""The layer check finds what is planted for it, in a copy of three folders of the real tree."""

import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import layers
import source_tree
from tree_testing import TreeTest

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
# Without benches they include nothing outside.
COPIED = (Path("core/base"), Path("core/update"), Path("core/codec"), Path("core/optimizer"))


class PlantedIncludes(TreeTest):
    """Each case appends a line to a real file, and names the complaint it must cause."""

    def setUp(self):
        super().setUp()
        for path in source_tree.code_files(ROOT):
            inside = any(path.is_relative_to(folder) for folder in COPIED)
            if not inside or path.name.endswith("_bench.cc"):
                continue
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, self.root / path)
        self.write("tests/layers.txt", (TESTS / "layers.txt").read_text(encoding="utf-8"))

    def plant(self, path: str, line: str) -> str:
        """Appends a line; returns the place of it."""
        file = self.root / path
        text = file.read_text(encoding="utf-8") + line + "\n"
        file.write_text(text, encoding="utf-8")
        return f"{path}:{len(text.splitlines())}"

    def check(self) -> list:
        text = (self.root / "tests" / "layers.txt").read_text(encoding="utf-8")
        return list(layers.complaints(self.root, layers.Order(text)))

    def assert_complaint(self, place: str, words: str):
        found = self.check()
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(place + ": "), found[0])
        self.assertIn(words, found[0])

    def run_script(self, root: Path) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, str(TESTS / "layers.py"), "--root", str(root)],
            capture_output=True, text=True, check=False)

    def test_the_tree_as_it_is(self):
        for root in (ROOT, self.root):
            result = self.run_script(root)
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_upward_include_names_file_and_line(self):
        place = self.plant("core/base/status.h", '#include "core/codec/codec.h"')
        result = self.run_script(self.root)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertEqual(result.stderr, f"{place}: core/base may not include core/codec/codec.h "
                                        "(core/codec stands after core/base)\n")

    def test_upward_include_in_a_test_file(self):
        self.write("core/base/planted_test.cc", "")
        place = self.plant("core/base/planted_test.cc", ' #  include "core/codec/codec.h"  // x')
        self.assert_complaint(place, "core/base may not include")

    def test_families_of_codecs_stand_side_by_side(self):
        self.write("core/codec/thc/planted.h", "#pragma once\n")
        self.write("core/codec/threelc/planted.h", "#pragma once\n")
        place = self.plant("core/codec/thc/planted.h", '#include "core/codec/threelc/planted.h"')
        self.assert_complaint(place, "core/codec/threelc stands beside core/codec/thc")

    def test_codec_interface_may_not_include_a_family(self):
        self.write("core/codec/thc/planted.h", "#pragma once\n")
        place = self.plant("core/codec/codec.h", '#include "core/codec/thc/planted.h"')
        self.assert_complaint(place, "core/codec/thc stands after core/codec")

    def test_registry_may_include_a_family_and_a_family_the_interface(self):
        self.write("core/codec/thc/planted.h", '#pragma once\n#include "core/codec/codec.h"\n')
        self.plant("core/codec/registry.cc", '#include "core/codec/thc/planted.h"')
        self.assertEqual(self.check(), [])

    def test_schemas_may_include_only_the_base(self):
        self.write("schemas/planted.h", "#pragma once\n")
        place = self.plant("schemas/planted.h", '#include "core/codec/codec.h"')
        self.assert_complaint(place, "schemas may include only core/base")

    def test_folder_without_a_place(self):
        self.write("core/novel/planted.h", "#pragma once\n")
        self.assert_complaint("core/novel/planted.h:1", "core/novel is not in tests/layers.txt")

    def test_include_relative_to_the_file(self):
        place = self.plant("core/base/status.cc", '#include "status.h"')
        self.assert_complaint(place, 'from the root of the repository, "core/base/status.h"')

    def test_dots_in_a_path(self):
        place = self.plant("core/base/status.cc", '#include "core/base/../base/status.h"')
        self.assert_complaint(place, 'without ".."')

    def test_project_header_in_angle_brackets(self):
        place = self.plant("core/base/status.cc", "#include <core/base/status.h>")
        self.assert_complaint(place, 'write "core/base/status.h"')

    def test_file_that_is_not_there(self):
        place = self.plant("core/base/status.cc", '#include "core/base/absent.h"')
        self.assert_complaint(place, 'no file "core/base/absent.h"')

    def test_path_behind_a_macro(self):
        place = self.plant("core/base/status.cc", "#include PLANTED_HEADER")
        self.assert_complaint(place, "hides the path")

    def test_generated_header_needs_no_file_but_keeps_its_layer(self):
        self.write("core/net/planted.h", '#pragma once\n#include "schemas/a_generated.h"\n')
        self.assertEqual(self.check(), [])
        place = self.plant("core/base/status.cc", '#include "schemas/a_generated.h"')
        self.assert_complaint(place, "schemas stands after core/base")


if __name__ == "__main__":
    unittest.main()
