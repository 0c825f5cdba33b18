#!/usr/bin/env python3
"""A coordinator whose disk writes 1 MB/s: rounds go on beside the copy of its log. One that is stopped meanwhile says
that it waits for the disk, and a second signal ends it without losing any of them. Before that, their copy has them.

usage: slow_disk.py [BUILD]

Real daemons, with bench/slow_disk under the coordinator and its agents. It takes a minute.
"""

import argparse
import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import daemon_rounds  # noqa: E402

SAYS_SO_WITHIN_S = 60
ROUNDS_BESIDE = 8  # while the log is copied, which takes more than a minute


def check(condition, text):
    if not condition:
        sys.exit(f"slow_disk: {text}")


def rounds_in(journal):
    with contextlib.closing(sqlite3.connect(f"file:{journal}?mode=ro", uri=True)) as run:
        return [row[0] for row in run.execute("SELECT round FROM rounds ORDER BY round")]


def answer(build, *words):
    command = [str(word) for word in (Path(build) / "cli/tributary", *words, "--json")]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)["data"]


# The coordinator's file lacks rounds, its readers say so, and its copy has them.
def check_copy(build, journal, rounds, copy):
    check(answer(build, "job", "list", "--run", journal)["rounds_beside"] > 0, "job list does not say what is missing")
    data = answer(build, "run", "copy", journal, copy)
    check(data["rounds"] >= rounds and data["rounds_beside"] == 0, f"{rounds} rounds, and the copy has {data}")
    check(rounds_in(copy) == list(range(1, data["rounds"] + 1)), "the copy lacks rounds")


def stop_twice(coordinator):
    coordinator.process.terminate()
    deadline = time.monotonic() + SAYS_SO_WITHIN_S
    while "waiting for the disk" not in coordinator.log():
        check(coordinator.process.poll() is None, "the coordinator has ended without waiting for the disk")
        check(time.monotonic() < deadline, "the coordinator waits for the disk and does not say so")
        time.sleep(0.1)
    coordinator.process.terminate()
    check(coordinator.process.wait(SAYS_SO_WITHIN_S) == 128 + signal.SIGTERM, "the second signal had no effect")
    check("stopped before the disk had everything" in coordinator.log(), "nothing says what is left behind")


def main(build):
    options = daemon_rounds.parse(["--agents", "2", "--codec", "fp32", "--durability", "30s",
                                   "--sync-rate", "1000000"])
    options.build = build
    with tempfile.TemporaryDirectory(prefix="tributary-slow-disk-") as folder, \
            daemon_rounds.Network(build, "loopback", options.agents) as network, \
            daemon_rounds.federation_of(options, "fp32", folder, network) as federation:
        beside = Path(federation.journal + "-recent")
        rounds = 1
        while not beside.exists():
            check(rounds < 60, f"60 rounds, and no {beside}: the log does not reach its bound")
            rounds, _ = federation.wait_for_rounds(rounds + 1)
        rounds, _ = federation.wait_for_rounds(rounds + ROUNDS_BESIDE)
        check(beside.exists(), "the copy of the log has ended before the stop: there is nothing to test")
        newest_in_file = rounds_in(federation.journal)[-1]
        check(newest_in_file <= rounds - ROUNDS_BESIDE, "the rounds were not stored beside the journal")
        check_copy(build, federation.journal, rounds, Path(folder) / "copy.db")
        stop_twice(federation.coordinator)
        check(beside.exists(), "the coordinator has ended, but not before the disk had everything")
        federation.restart_coordinator()
        federation.wait_for_rounds(2)
        check(not beside.exists(), f"{beside} is still there after a restart")
        check("rounds beside the journal are lost" not in federation.coordinator.log(), "rounds were dropped")
        stored = rounds_in(federation.journal)
        check(stored == list(range(1, len(stored) + 1)) and len(stored) >= rounds,
              f"{rounds} rounds were published, and {len(stored)} are stored, up to {stored[-1]}")
        for daemon in (federation.coordinator, *federation.agents):  # a clean end would wait for the disk
            daemon.process.kill()
    print(f"slow disk: {rounds} rounds before the stop, of which {newest_in_file} were in the file; none is lost")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default=os.environ.get("TRIBUTARY_BUILD_DIR", str(ROOT / "build/dev")))
    main(parser.parse_args().build)
