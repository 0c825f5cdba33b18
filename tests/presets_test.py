#!/usr/bin/env python3
"""A test run that runs nothing is an error, under every test preset."""

import json
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PRESETS = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))


class EmptyRun(unittest.TestCase):
    def test_is_an_error_under_every_preset(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(ROOT / "CMakePresets.json", folder)
            shutil.copytree(ROOT / "cmake", Path(folder, "cmake"))  # toolchains of presets
            Path(folder, "CMakeLists.txt").write_text(
                "cmake_minimum_required(VERSION 3.25)\nproject(empty LANGUAGES NONE)\n"
                "enable_testing()\n", encoding="utf-8")
            visible = [preset for preset in PRESETS["testPresets"] if not preset.get("hidden")]
            self.assertLessEqual({"dev", "fast", "release", "asan", "tsan"},
                                 {preset["name"] for preset in visible})
            for preset in visible:
                with self.subTest(preset["name"]):
                    configured = self.run_in(folder, "cmake", "--preset", preset["configurePreset"])
                    self.assertEqual(configured.returncode, 0, configured.stdout)
                    ran = self.run_in(folder, "ctest", "--preset", preset["name"])
                    self.assertNotEqual(ran.returncode, 0)
                    self.assertIn("No tests were found", ran.stdout)

    def run_in(self, folder: str, *command: str) -> subprocess.CompletedProcess:
        return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)


if __name__ == "__main__":
    unittest.main()
