#!/usr/bin/env python3
"""What both daemons export to Prometheus: promtool finds no fault, docs/run.md names every series,
and jobs do not overwrite one another."""

import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

from federation import AGENT, CLI, COORDINATOR, LATE_S, Processes, all_set

ROOT = Path(__file__).resolve().parent.parent
GUIDE = (ROOT / "docs" / "run.md").read_text(encoding="utf-8")
PROMTOOL = shutil.which("promtool")
NO_PROMTOOL = "there is no promtool (Debian has it in the package prometheus)"
SKIPPED = 77  # as tests/CMakeLists.txt has it


def families_of(text: str) -> dict[str, str]:
    """Each metric's lines by its name, in the text format of Prometheus."""
    blocks = re.split(r"^(?=# HELP )", text, flags=re.MULTILINE)
    return {re.match(r"# HELP (\S+)", block)[1]: block for block in blocks if block.strip()}


class Exported(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.processes = Processes(temporary.name)
        cls.addClassCleanup(cls.processes.stop)
        run = f"{temporary.name}/coordinator.db"

        def own(journal: str) -> list:
            return all_set(f"journal.file={temporary.name}/{journal}.db", "journal.durability=stop",
                           "link.encrypted=false", "metrics.listen=127.0.0.1:0")

        _, endpoint = cls.processes.start_coordinator(*own("coordinator"),
                                                      *all_set("watch.endpoint=tcp://127.0.0.1:*"))
        for job in ("first", "second"):
            file = Path(temporary.name, f"{job}.toml")
            file.write_text(f'name = "{job}"\nrounds = 3\nparameters = 1000\n', encoding="utf-8")
            cls.processes.run(CLI, "job", "submit", file, "--run", run)
            if job == "first":
                cls.processes.start("agent", AGENT, *own("agent"),
                                    *all_set("agent_id=a", f"link.coordinator={endpoint}"))
            cls.processes.run(CLI, "job", "watch", job, "--run", run)
        cls.scraped = {daemon: cls.scrape(daemon) for daemon in ("coordinator", "agent")}

    @classmethod
    def scrape(cls, daemon: str) -> dict[str, str]:
        """Waits for the gauges, which are set once in a second."""
        address = "http://" + cls.processes.wait_for(daemon, r'metrics .*?endpoint="?([^\s"]+)')[0] + "/metrics"
        deadline = time.monotonic() + LATE_S
        while True:
            with urllib.request.urlopen(address, timeout=LATE_S) as answer:
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
        families = self.scraped["coordinator"]
        for name in ("tributary_rounds_committed_total", "tributary_model_version"):
            for job in ("first", "second"):
                self.assertIn(f'\n{name}{{job="{job}"}} 3\n', families[name])

    def test_old_names_point_to_the_new_ones(self):
        families = self.scraped["coordinator"]
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
    missing = [program.name for program in (CLI, COORDINATOR, AGENT) if not program.exists()]
    if missing:
        print(f"skipped, because not built: {', '.join(missing)}")
        sys.exit(SKIPPED)
    passed = unittest.main(exit=False).result.wasSuccessful()
    if passed and not PROMTOOL:
        print(f"one test skipped, because {NO_PROMTOOL}")
        sys.exit(SKIPPED)
    sys.exit(0 if passed else 1)
