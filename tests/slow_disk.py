#!/usr/bin/env python3
"""A coordinator whose disk writes 1 MB/s: rounds go on beside the copy of its log, and a coordinator that is
killed meanwhile loses none of them.

usage: slow_disk.py [BUILD]

Real daemons, with bench/slow_disk under the coordinator and its agents. It takes a minute.
"""

import argparse
import contextlib
import os
import sqlite3
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import daemon_rounds  # noqa: E402

ROUNDS_BESIDE = 8  # while the log is copied, which takes more than a minute


def check(condition, text):
    if not condition:
        sys.exit(f"slow_disk: {text}")


def rounds_in(journal):
    with contextlib.closing(sqlite3.connect(f"file:{journal}?mode=ro", uri=True)) as run:
        return [row[0] for row in run.execute("SELECT round FROM rounds ORDER BY round")]


def main(build):
    options = daemon_rounds.parse(["--agents", "2", "--codec", "fp32", "--durability", "30s",
                                   "--sync-rate", "1000000"])
    options.build = build
    with tempfile.TemporaryDirectory(prefix="tributary-slow-disk-") as folder, \
            daemon_rounds.Network(build, "loopback", options.agents) as network, \
            daemon_rounds.Federation(options, "fp32", folder, network) as federation:
        beside = Path(federation.journal + "-recent")
        rounds = 1
        while not beside.exists():
            check(rounds < 60, f"60 rounds, and no {beside}: the log does not reach its bound")
            rounds, _ = federation.wait_for_rounds(rounds + 1)
        rounds, _ = federation.wait_for_rounds(rounds + ROUNDS_BESIDE)
        check(beside.exists(), "the copy of the log has ended before the kill: there is nothing to test")
        newest_in_file = rounds_in(federation.journal)[-1]
        check(newest_in_file <= rounds - ROUNDS_BESIDE, "the rounds were not stored beside the journal")
        federation.coordinator.process.kill()
        federation.coordinator.process.wait()
        federation.restart_coordinator()
        federation.wait_for_rounds(2)
        check(not beside.exists(), f"{beside} is still there after a restart")
        check("rounds beside the journal are lost" not in federation.coordinator.log(), "rounds were dropped")
        stored = rounds_in(federation.journal)
        check(stored == list(range(1, len(stored) + 1)) and len(stored) >= rounds,
              f"{rounds} rounds were published, and {len(stored)} are stored, up to {stored[-1]}")
        for daemon in (federation.coordinator, *federation.agents):  # a clean end would wait for the disk
            daemon.process.kill()
    print(f"slow disk: {rounds} rounds before the kill, of which {newest_in_file} were in the file; none is lost")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default=os.environ.get("TRIBUTARY_BUILD_DIR", str(ROOT / "build/dev")))
    main(parser.parse_args().build)
