#!/usr/bin/env python3
"""The files in packaging/ agree with the code and the pages: the packages install the files that the
programs read and that the guide names. tests/packages.py installs the packages themselves."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGING = ROOT / "packaging"
DAEMONS = ("coordinator", "agent", "switchd")


def read(*path: str) -> str:
    return ROOT.joinpath(*path).read_text(encoding="utf-8")


def codes_in(text: str) -> set[int]:
    return {int(code) for code in re.findall(r"\d+", text)}


def shipped_pages(component: str) -> set[str]:
    """Names of the pages in a component's package."""
    rules = read("cmake", "TributaryPackages.cmake")
    guides = re.search(r"set\(guides ([^)]*)\)", rules)[1]
    docs = re.search(rf"tributary_package\({component} .*?\n  DOCS ([^)]*)\)", rules, re.DOTALL)[1]
    words = docs.replace("${guides}", guides).split()
    return {Path(word).name for word in words}


class Packaging(unittest.TestCase):
    def test_the_command_looks_where_the_coordinator_writes(self):
        written = re.search(r'\[journal\]\n(?:#.*\n)*file = "([^"]+)"',
                            read("packaging", "coordinator.toml"))[1]
        read_by_default = re.search(r'kInstalled = "([^"]+)"',
                                    read("cli", "run", "job_journal.cc"))[1]
        self.assertEqual(read_by_default, written)

    def test_units_do_not_restart_after_the_codes_that_the_guide_calls_final(self):
        final = re.search(r"does not restart after the exit codes ([^:]*):",
                          " ".join(read("docs", "run.md").split()))[1]
        self.assertGreater(len(codes_in(final)), 3, final)
        for daemon in DAEMONS:
            unit = read("packaging", f"tributary-{daemon}.service.in")
            self.assertEqual(codes_in(re.search(r"RestartPreventExitStatus=(.*)", unit)[1]),
                             codes_in(final), daemon)

    def test_pages_that_settings_and_examples_cite_are_in_their_package(self):
        examples = {"gpu.conf": "agent", "evaluation.conf": "coordinator", "xdp.conf": "switchd"}
        examples |= {f"{daemon}.toml": daemon for daemon in DAEMONS}
        self.assertEqual({path.name for pattern in ("*.toml", "*.conf")
                          for path in PACKAGING.glob(pattern)}, set(examples))
        for name, component in examples.items():
            cited = set(re.findall(r"[\w-]+\.md", read("packaging", name)))
            self.assertLessEqual(cited, shipped_pages(component), name)

    def test_shipped_pages_exist(self):
        for component in DAEMONS:
            for page in shipped_pages(component):
                self.assertTrue((ROOT / "docs" / page).exists(), page)

    def test_purge_keeps_the_user(self):
        for script in PACKAGING.glob("debian/*.in"):
            self.assertNotRegex(script.read_text(encoding="utf-8"), r"\b(userdel|deluser)\b",
                                script.name)


if __name__ == "__main__":
    unittest.main()
