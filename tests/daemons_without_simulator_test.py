#!/usr/bin/env python3
"""The daemons hold nothing of the simulator, which only developers' programs are linked with."""

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("TRIBUTARY_BUILD_DIR", ROOT / "build" / "dev"))
SIMULATOR = BUILD / "core" / "sim" / "libtributary_sim.a"
COMMAND = BUILD / "cli" / "tributary"  # runs the simulator
DAEMONS = (BUILD / "edge_agent" / "tributary-agent",
           BUILD / "coordinator" / "tributary-coordinator")
# nm's letters for code and data. A library's capitals can be used from outside; a program has the same
# symbols with small letters, because it shows none of them.
IN_LIBRARY = set("TBDR")
IN_PROGRAM = IN_LIBRARY | set("tbdr")
CANNOT_RUN = 77


def symbols(file: Path, kinds: set) -> set:
    """What the file defines. Inline functions, which any program may have a copy of, are left out."""
    listed = subprocess.run(["nm", "--defined-only", str(file)], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True, check=True)
    rows = (line.split() for line in listed.stdout.splitlines())
    return {row[2] for row in rows if len(row) == 3 and row[1] in kinds}


class Daemons(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.simulator = symbols(SIMULATOR, IN_LIBRARY)

    def test_the_command_has_the_simulator(self):
        """Without this the other test could pass because it looks for the wrong names."""
        self.assertTrue(self.simulator & symbols(COMMAND, IN_PROGRAM), COMMAND)

    def test_no_daemon_has_it(self):
        for daemon in DAEMONS:
            with self.subTest(daemon.name):
                found = self.simulator & symbols(daemon, IN_PROGRAM)
                self.assertEqual(sorted(found)[:5], [], f"{len(found)} symbols of core/sim")


if __name__ == "__main__":
    missing = [file for file in (SIMULATOR, COMMAND, *DAEMONS) if not file.exists()]
    if missing or not shutil.which("nm"):
        print(f"not built: {missing[0].name}" if missing else "there is no nm")
        sys.exit(CANNOT_RUN)
    unittest.main()
