#!/usr/bin/env python3
"""docs/run.md: its commands work as they stand there, and its tables, with those of docs/training.md and
docs/in_network.md, name every setting."""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("TRIBUTARY_BUILD_DIR", ROOT / "build" / "dev"))
GUIDE = (ROOT / "docs" / "run.md").read_text(encoding="utf-8")
TRAINING = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
IN_NETWORK = (ROOT / "docs" / "in_network.md").read_text(encoding="utf-8")
PORT = 4640
FOLDERS = [BUILD / "cli", BUILD / "coordinator", BUILD / "edge_agent"]
ENVIRONMENT = {**os.environ, "PATH": ":".join(map(str, FOLDERS)) + ":" + os.environ["PATH"]}


def run(command: str, folder) -> subprocess.CompletedProcess:
    return subprocess.run(["bash", "-e", "-c", command], cwd=folder, env=ENVIRONMENT, timeout=300,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def block_after(sentence: str) -> str:
    """The indented lines behind it."""
    lines = []
    for line in GUIDE.split(sentence, 1)[1].lstrip("\n").split("\n"):
        if not line.startswith("    "):
            break
        lines.append(line[4:])
    return "\n".join(lines)


def settings_of(title: str, guide: str = GUIDE) -> set[str]:
    table = re.split(r"\n###? ", guide.split(f"\n## {title}\n", 1)[1])[0]
    return {name for row in re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE)
            for name in re.findall(r"`([a-z_.]+)`", row)}


def bound_in(*files: str) -> set[str]:
    """Settings that the code binds, as far as their names stand there."""
    text = "".join((ROOT / file).read_text(encoding="utf-8") for file in files)
    return set(re.findall(r'settings\.(?:bind|text|texts|flag|real|number)(?:<[^>]*>)?\(\s*'
                          r'(?:prefix \+ )?"([a-z][a-z_.]*)"', text))


class Guide(unittest.TestCase):
    def test_from_nothing_to_ten_rounds(self):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("", PORT))
            except OSError:
                self.skipTest(f"port {PORT} is in use")
        commands = block_after("On one machine, from nothing to ten rounds:\n")
        self.assertIn("tributary-agent", commands)
        with tempfile.TemporaryDirectory(prefix="tributary-guide-") as folder:
            ran = run(commands + "\nwait $!", folder)
            self.assertEqual(ran.returncode, 0, ran.stdout)
            self.assertRegex(ran.stdout, r"round committed .*round=10 ")
            self.assertRegex(ran.stdout, r"model stored .*model_version=10 ")
            shown = run(block_after("The coordinator's journal has the result:\n"), folder)
            self.assertEqual(shown.returncode, 0, shown.stdout)
            self.assertRegex(shown.stdout, r"first +finished +10 +10")
            self.assertIn("rounds         10 of 10", shown.stdout)
            # What is there goes on from: nothing is left to do.
            again = run(commands.split("tributary keys allow", 1)[1].split("\n", 1)[1] +
                        "\nwait $!", folder)
            self.assertEqual(again.returncode, 0, again.stdout)
            self.assertNotIn("round committed", again.stdout)

    def test_every_setting_is_in_its_table(self):
        both = bound_in("core/service/settings/common_settings.cc")
        self.assertEqual(settings_of("Settings of both daemons"), both)
        journal = bound_in("core/service/settings/journal_settings.cc")
        self.assertIn("journal.file", journal)
        connection = bound_in("core/service/settings/spoke_settings.cc")
        self.assertIn("link.coordinator", connection)
        coordinator = settings_of("The coordinator's settings")
        kept = {f"retention.{table}_{unit}" for unit in ("days", "mib")
                for table in ("events", "metrics", "link_samples", "agent_rounds")}
        self.assertEqual(coordinator, bound_in("coordinator/config.cc") | kept | journal)
        self.assertEqual(settings_of("An agent's settings"),
                         bound_in("edge_agent/config.cc") | connection | journal)
        self.assertEqual(settings_of("Settings", IN_NETWORK),
                         bound_in("switch_p4/switchd/config.cc") | connection | both - {"threads"})
        job = settings_of("A job") | settings_of("Job keys for training", TRAINING)
        self.assertEqual(job, bound_in("core/job/job_settings.cc"))

    def test_every_setting_of_the_tables_is_known(self):
        both = "Settings of both daemons"
        for daemon, titles in (("tributary-coordinator", ("The coordinator's settings", both)),
                               ("tributary-agent", ("An agent's settings", both))):
            for name in sorted(set().union(*map(settings_of, titles))):
                told = run(f"{daemon} --check --set '{name}=[[]]' || true", ROOT)
                self.assertNotIn("a known setting", told.stdout, f"{daemon}: {name}")


if __name__ == "__main__":
    if not all(shutil.which(name, path=ENVIRONMENT["PATH"])
               for name in ("tributary", "tributary-coordinator", "tributary-agent")):
        print("the programs are not built")
        sys.exit(77)
    unittest.main()
