#!/usr/bin/env python3
"""The command line of ./dev: help, wrong words, and packages that are missing.

What ./dev builds and runs, it shows by itself: this very test is run by ./dev test.
"""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERBS = "setup test demo build package bench fuzz lint format changelog clean".split()


def dev(*arguments: str, path: str = "") -> subprocess.CompletedProcess:
    environment = dict(os.environ, PATH=f"{path}:{os.environ['PATH']}" if path
                       else os.environ["PATH"])
    return subprocess.run([str(ROOT / "dev"), *arguments], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, env=environment, check=False)


class Help(unittest.TestCase):
    def test_whole(self):
        result = dev("--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for verb in VERBS:
            self.assertRegex(result.stdout, rf"(?m)^  {verb} ")

    def test_every_verb_has_examples(self):
        for verb in VERBS:
            with self.subTest(verb):
                result = dev(verb, "--help")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertTrue(result.stdout.startswith(f"usage: ./dev {verb}"), result.stdout)
                self.assertRegex(result.stdout, rf"examples?:\n  \./dev {verb}")

    def test_a_benchmark_prints_help_before_it_builds(self):
        for name, words in {"plan": "usage: ./dev bench", "fusion": "usage: fusion.py",
                            "ddp": "usage: compare.py"}.items():
            with self.subTest(name):
                result = dev("bench", name, "--help")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertTrue(result.stdout.startswith(words), result.stdout)

    def test_no_colour_without_a_terminal(self):
        self.assertNotIn("\x1b", dev("tets").stderr)


class WrongWords(unittest.TestCase):
    def assert_refused(self, arguments: str, words: str):
        result = dev(*arguments.split())
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn(words, result.stderr)

    def test_no_verb(self):
        self.assert_refused("", "usage: ./dev VERB")

    def test_unknown_verb(self):
        self.assert_refused("tets", "no verb 'tets'; did you mean 'test'?")
        self.assert_refused("formt", "did you mean 'format'?")

    def test_unknown_preset(self):
        self.assert_refused("build --preset relase", "did you mean 'release'?")

    def test_preset_without_a_name(self):
        self.assert_refused("test --preset", "--preset needs a value")

    def test_unknown_options(self):
        self.assert_refused("test --fats", "did you mean '--fast'?")
        self.assert_refused("fuzz --secnds 3", "did you mean '--seconds'?")
        self.assert_refused("package --chekc", "did you mean '--check'?")
        self.assert_refused("package --amr64", "did you mean '--arm64'?")
        self.assert_refused("setup --bnch", "did you mean '--bench'?")
        self.assert_refused("build --prset", "did you mean '--preset'?")
        self.assert_refused("setup --amr64", "did you mean '--arm64'?")
        self.assert_refused("setup --arm64 now", "setup has no option 'now'")

    def test_changelog_takes_a_version(self):
        self.assert_refused("changelog 0.1.0 0.2.0", "changelog takes one version, got '0.2.0'")
        self.assert_refused("changelog --version", "changelog has no option '--version'")

    def test_fast_is_a_tier_of_one_preset(self):
        self.assert_refused("test --fast --preset asan", "--fast needs the preset dev")

    def test_packages_are_tried_where_they_run(self):
        self.assert_refused("package --arm64 --check", "excludes --arm64")

    def test_seconds_that_are_none(self):
        self.assert_refused("fuzz --seconds soon", "takes a whole number, not 'soon'")

    def test_thin_takes_the_rest_of_the_line(self):
        self.assert_refused("bench codec thin", "thin must be the first and only name")
        self.assert_refused("bench codec ddp", "ddp must be the first and only name")

    def test_verbs_without_arguments(self):
        self.assert_refused("format everything", "format takes no argument")
        self.assert_refused("lint everything", "lint has no option 'everything'")


class FreshClone(unittest.TestCase):
    """./dev package and ./dev demo in a fresh clone, with a build that only notes what it is asked for."""

    def built(self, verb: str = "package", lacking: str = "nothing") -> list[str]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            shutil.copy(ROOT / "dev", folder)
            (folder / "bin").mkdir()
            (folder / "build/release/cli").mkdir(parents=True)
            for command, script in {
                    "../build/release/cli/tributary": "exit 0", "dpkg-query": "echo installed", "dpkg": "echo amd64", "cmake": "exit 0",
                    "cpack": 'mkdir -p "$4" && touch "$4/some.deb"',
                    "ninja": f'case "$*" in *-t*{lacking}*) exit 1 ;; *-t*) exit 0 ;; esac; '
                             f'echo "$*" >"{folder}/asked"'}.items():
                path = folder / "bin" / command
                path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
                path.chmod(0o755)
            environment = dict(os.environ, PATH=f"{folder}/bin:{os.environ['PATH']}")
            result = subprocess.run([folder / "dev", verb], capture_output=True,
                                    text=True, stdin=subprocess.DEVNULL, env=environment,
                                    check=False)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            return [word for word in (folder / "asked").read_text(encoding="utf-8").split()
                    if word.startswith("tributary_")]

    def test_every_program_that_is_packaged_is_built(self):
        self.assertEqual(self.built(), ["tributary_cli", "tributary_lab_tool", "tributary_load_tool",
                                        "tributary_coordinator", "tributary_agent",
                                        "tributary_switchd", "tributary_torch_plugin",
                                        "tributary_dashboard", "tributary_switch_xdp"])

    def test_every_program_that_a_demonstration_starts_is_built(self):
        self.assertEqual(self.built("demo"), ["tributary_cli", "tributary_coordinator", "tributary_agent",
                                              "tributary_switchd", "tributary_torch_plugin", "tributary_dashboard"])

    def test_parts_that_the_machine_lacks_are_left_out(self):
        self.assertNotIn("tributary_dashboard", self.built(lacking="dashboard"))
        self.assertNotIn("tributary_torch_plugin", self.built(lacking="torch"))


class MissingPackages(unittest.TestCase):
    """A machine without the packages, played by commands that stand first on the path."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.log = self.folder / "log"
        self.command("dpkg-query", "exit 1")
        self.command("apt-get", f'echo "$DEBIAN_FRONTEND $*" >>"{self.log}"; exit 100')

    def command(self, name: str, script: str):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)

    def test_without_root_and_sudo_the_command_is_shown(self):
        self.command("id", "echo 1000")
        self.command("sudo", "exit 1")
        result = dev("format", path=str(self.folder))
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("as root, run:\n  apt-get update && apt-get install -y "
                      "--no-install-recommends clang-format clang-tidy shellcheck\n",
                      result.stderr)
        self.assertFalse(self.log.exists(), "apt-get was not to be called")

    def test_peers_are_installed_for_benchmarks(self):
        self.command("dpkg-query", 'case $* in *libgloo-dev) exit 1 ;; *) echo installed ;; esac')
        self.command("id", "echo 1000")
        self.command("sudo", "exit 1")
        result = dev("setup", "--bench", path=str(self.folder))
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("--no-install-recommends libgloo-dev\n", result.stderr)

    def test_root_calls_apt_and_stops_when_it_fails(self):
        self.command("id", "echo 0")
        result = dev("format", path=str(self.folder))
        self.assertEqual(result.returncode, 1, result.stderr)
        calls = self.log.read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(calls), 1, calls)
        self.assertRegex(calls[0], r"^noninteractive -y .*\bupdate$")

    def test_sudo_calls_apt(self):
        self.command("id", "echo 1000")
        self.command("sudo", '[ "$1" = -n ] && shift; exec "$@"')
        self.assertEqual(dev("format", path=str(self.folder)).returncode, 1)
        self.assertTrue(re.match("noninteractive", self.log.read_text(encoding="utf-8")))

    def test_nothing_is_called_when_every_package_is_there(self):
        self.command("dpkg-query", "echo installed")
        self.command("id", "echo 0")
        self.assertEqual(dev("setup", path=str(self.folder)).returncode, 0)
        self.assertFalse(self.log.exists(), "apt-get was not to be called")


if __name__ == "__main__":
    unittest.main()
