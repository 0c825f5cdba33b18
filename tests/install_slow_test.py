#!/usr/bin/env python3
"""The installed package is found, linked and run by a project of its own."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("TRIBUTARY_BUILD_DIR", ROOT / "build" / "dev"))


def run(*command) -> subprocess.CompletedProcess:
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)


class InstalledPackage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.prefix = Path(temporary.name, "prefix")
        cls.build = Path(temporary.name, "build")  # one folder in it for each project
        installed = run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        assert installed.returncode == 0, installed.stdout

    def configure(self, source: Path) -> subprocess.CompletedProcess:
        return run("cmake", "-G", "Ninja", "-S", source, "-B", self.build / source.name,
                   f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCMAKE_BUILD_TYPE=Release")

    def test_consumer_builds_and_runs(self):
        configured = self.configure(ROOT / "tests" / "consumer")
        self.assertEqual(configured.returncode, 0, configured.stdout)
        built = run("cmake", "--build", self.build / "consumer")
        self.assertEqual(built.returncode, 0, built.stdout)
        ran = run(self.build / "consumer" / "consumer")
        self.assertEqual(ran.returncode, 0, ran.stdout)
        decoded, codec, hub, frame = ran.stdout.splitlines()
        self.assertEqual(decoded, "decoded: 1 -0.5 0 65504")
        self.assertRegex(codec, r"^codec: .*fp61.*fp16", "the nearest known name")
        self.assertEqual(hub, "hub: encrypted")
        self.assertRegex(frame, r"^frame: corrupt_data: ")

    def test_the_command_is_installed(self):
        listed = run(self.prefix / "bin" / "tributary", "codec", "list")
        self.assertEqual(listed.returncode, 0, listed.stdout)
        self.assertIn("fp16", listed.stdout)

    def test_the_daemons_are_installed_with_units_that_systemd_accepts(self):
        for daemon in ("tributary-coordinator", "tributary-agent", "tributary-switchd"):
            told = run(self.prefix / "bin" / daemon, "--version")
            self.assertEqual(told.returncode, 0, told.stdout)
            self.assertTrue(told.stdout.startswith(daemon + " "), told.stdout)
            unit = self.prefix / "lib" / "systemd" / "system" / f"{daemon}.service"
            self.assertIn(f"ExecStart={self.prefix}/bin/{daemon} --config",
                          unit.read_text(encoding="utf-8"))
            with self.subTest(f"systemd-analyze verify {unit.name}"):
                if not shutil.which("systemd-analyze"):
                    self.skipTest("there is no systemd-analyze")
                verified = run("systemd-analyze", "verify", unit)
                self.assertEqual(verified.returncode, 0, verified.stdout)
                self.assertEqual(verified.stdout, "")

    def test_another_minor_version_is_refused(self):
        source = self.build.parent / "newer"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(newer LANGUAGES CXX)\n"
            "find_package(tributary 99.1 REQUIRED)\n", encoding="utf-8")
        configured = self.configure(source)
        self.assertNotEqual(configured.returncode, 0)
        self.assertIn('compatible with requested version "99.1"', configured.stdout)

    def test_every_header_is_installed_where_it_is_included_from(self):
        folder = self.prefix / "include" / "tributary"
        installed = {path.relative_to(folder).as_posix() for path in folder.rglob("*.h")}
        headers = {path.relative_to(ROOT).as_posix()
                   for pattern in ("core/**/*.h", "schemas/*.h") for path in ROOT.glob(pattern)
                   if not path.name.endswith(("-inl.h", "_testing.h"))
                   # Libraries of their own, built where MPI and nvcc are.
                   and not {"mpi", "gpu"} & set(path.relative_to(ROOT).parts)
                   # What the programs are made of, and nobody else builds on.
                   and path.relative_to(ROOT).parts[1] not in
                   ("service", "sim", "data", "train", "lab", "plan", "job", "run", "watch")}
        self.assertEqual(headers - installed, set())

    def test_licence_comes_along(self):
        installed = {path.name for path in self.prefix.rglob("*") if path.is_file()}
        self.assertLessEqual({"LICENSE", "NOTICE"}, installed)


if __name__ == "__main__":
    unittest.main()
