#!/usr/bin/env python3
"""What both daemons export to Prometheus: promtool finds no fault, docs/run.md names every series,
and jobs do not overwrite one another."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("TRIBUTARY_BUILD_DIR", ROOT / "build" / "dev"))
GUIDE = (ROOT / "docs" / "run.md").read_text(encoding="utf-8")
PROGRAMS = {name: BUILD / folder / name for folder, name in
            (("cli", "tributary"), ("coordinator", "tributary-coordinator"),
             ("edge_agent", "tributary-agent"))}
PROMTOOL = shutil.which("promtool")
NO_PROMTOOL = "there is no promtool (Debian has it in the package prometheus)"
SKIPPED = 77  # as tests/CMakeLists.txt has it
PATIENCE_S = 120


def families_of(text: str) -> dict[str, str]:
    """Each metric's lines by its name, in the text format of Prometheus."""
    blocks = re.split(r"^(?=# HELP )", text, flags=re.MULTILINE)
    return {re.match(r"# HELP (\S+)", block)[1]: block for block in blocks if block.strip()}


class Exported(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        cls.logs = {}
        endpoint = cls.start("tributary-coordinator", "listening",
                             "link.endpoint=tcp://127.0.0.1:*", "link.encrypted=false",
                             "watch.endpoint=tcp://127.0.0.1:*", "journal.durability=stop")
        for job in ("first", "second"):
            (cls.folder / f"{job}.toml").write_text(
                f'name = "{job}"\nrounds = 3\nparameters = 1000\n', encoding="utf-8")
            cls.run_command("job", "submit", f"{job}.toml", "--run", "tributary-coordinator.db")
            if job == "first":
                cls.start("tributary-agent", "metrics", "agent_id=a", "link.encrypted=false",
                          f"link.coordinator={endpoint}", "journal.durability=stop")
            cls.run_command("job", "watch", job, "--run", "tributary-coordinator.db")
        cls.scraped = {daemon: cls.scrape(daemon) for daemon in cls.logs}

    @classmethod
    def run_command(cls, *words: str):
        ran = subprocess.run([PROGRAMS["tributary"], *words], cwd=cls.folder, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=PATIENCE_S, check=False)
        assert ran.returncode == 0, ran.stdout

    @classmethod
    def start(cls, daemon: str, line: str, *settings: str) -> str:
        """The endpoint in that line of the log."""
        cls.logs[daemon] = cls.folder / f"{daemon}.log"
        log = open(cls.logs[daemon], "w", encoding="utf-8")
        cls.addClassCleanup(log.close)
        words = [word for setting in (*settings, f"journal.file={daemon}.db",
                                      "metrics.listen=127.0.0.1:0") for word in ("-s", setting)]
        process = subprocess.Popen([PROGRAMS[daemon], *words], cwd=cls.folder, stdout=log,
                                   stderr=log, stdin=subprocess.DEVNULL)
        cls.addClassCleanup(process.wait)
        cls.addClassCleanup(process.kill)
        return cls.logged(daemon, line)

    @classmethod
    def logged(cls, daemon: str, line: str) -> str:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            text = cls.logs[daemon].read_text(encoding="utf-8")
            if found := re.search(rf'{line} .*?endpoint="?([^\s"]+)', text):
                return found[1]
            assert time.monotonic() < deadline, text
            time.sleep(0.05)

    @classmethod
    def scrape(cls, daemon: str) -> dict[str, str]:
        """Waits for the gauges, which are set once in a second."""
        address = f"http://{cls.logged(daemon, 'metrics')}/metrics"
        deadline = time.monotonic() + PATIENCE_S
        while True:
            with urllib.request.urlopen(address, timeout=PATIENCE_S) as answer:
                families = families_of(answer.read().decode("utf-8"))
            version = families.get("tributary_model_version", "")
            if re.search(r"^tributary_model_version(\{job=\"second\"\})? 3$", version, re.MULTILINE):
                return families
            assert time.monotonic() < deadline, families
            time.sleep(0.2)

    @unittest.skipUnless(PROMTOOL, NO_PROMTOOL)
    def test_promtool_finds_no_fault(self):
        for daemon, families in self.scraped.items():
            text = "".join(block for block in families.values()
                           if not re.match(r"# HELP \S+ Deprecated, use ", block))
            self.assertIn("tributary_link_in_bytes_total", text)
            checked = subprocess.run([PROMTOOL, "check", "metrics"], input=text, text=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            self.assertEqual((checked.returncode, checked.stdout), (0, ""), daemon)

    def test_each_job_has_series_of_its_own(self):
        families = self.scraped["tributary-coordinator"]
        for name in ("tributary_rounds_committed_total", "tributary_model_version"):
            for job in ("first", "second"):
                self.assertIn(f'\n{name}{{job="{job}"}} 3\n', families[name])

    def test_old_names_point_to_the_new_ones(self):
        families = self.scraped["tributary-coordinator"]
        self.assertIn("# HELP tributary_round_s Deprecated, use tributary_round_seconds.",
                      families["tributary_round_s"])
        self.assertIn("# TYPE tributary_link_in_bytes gauge",
                      families["tributary_link_in_bytes"])

    def test_the_guide_names_every_series(self):
        documented = set(re.findall(r"`(tributary_\w+)", GUIDE))
        for daemon, families in self.scraped.items():
            exported = {name for name in families if name.startswith("tributary_")}
            self.assertEqual(exported - documented, set(), daemon)


if __name__ == "__main__":
    missing = [name for name, program in PROGRAMS.items() if not program.exists()]
    if missing:
        print(f"skipped, because not built: {', '.join(missing)}")
        sys.exit(SKIPPED)
    passed = unittest.main(exit=False).result.wasSuccessful()
    if passed and not PROMTOOL:
        print(f"one test skipped, because {NO_PROMTOOL}")
        sys.exit(SKIPPED)
    sys.exit(0 if passed else 1)
