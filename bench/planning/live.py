"""Contenders of a race with real processes: training over a trace in the lab, and the demonstration."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Optional

import adaptive
from adaptive import Choice
from collectives import Programs
from race import ADAPTIVE

# Likely ones first, so that the others are cut off early.
TRACE_FIXED = ["threelc", "thc:bits=4", "topk:cr=0.01", "topk:cr=0.1", "star_topk:cr=0.1", "fp16",
               "star_topk:cr=0.01", "gcomp", "fp32"]
DEMO_FIXED = ["threelc star", "threelc:s=1.75 star", "threelc sharded_star", "threelc all_gather",
              "thc:rate=2 sharded_star", "topk:cr=0.1 star", "fp16 star", "thc:bits=4 star"]
DEMO_ACCURACY = 0.9  # of two evaluations in a row


class TraceRuns:
    """Runs of bench/adaptive.py over one trace."""

    def __init__(self, build: Path, lab: str, trace: Path, target: float, folder: Path):
        adaptive.LAB = lab
        self.arguments = adaptive.parse(["--build", str(build), "--trace", str(trace),
                                         "--target", str(target)])
        self.folder = folder
        self.phases = adaptive.read_trace(trace)
        self.trace = folder / f"{trace.stem}.csv"
        self.trace.write_text("\n".join(["seconds, mbit_per_s, delay_ms, loss_percent",
                                         *(phase.text() for phase in self.phases)]) + "\n",
                              encoding="utf-8")
        self.collectives = {}

    def choice(self, name: str) -> Choice:
        if name == ADAPTIVE:
            return Choice(name, "", "star", "adaptive")  # as any job that names no codec
        if name not in self.collectives:
            self.collectives[name] = adaptive.best_collective(Programs(self.arguments.build), name,
                                                              self.phases)
        return Choice(name, name, self.collectives[name], "fixed")

    def run(self, name: str, seed: int, limit_s: float) -> Optional[float]:
        if not hasattr(self.arguments, "digits"):
            adaptive.draw_digits(self.arguments, self.folder)
        self.arguments.seed = seed
        # The limit begins with the first round; processes start before it.
        self.arguments.seconds_max = limit_s + 3
        done = adaptive.run(self.arguments, self.choice(name), self.trace)
        return done.seconds if done.seconds is not None and done.seconds <= limit_s else None


class DemoRuns:
    """Runs of `tributary demo` over its own links, with the job's choice fixed or planned."""

    def __init__(self, build: Path, folder: Path, rounds: Optional[int], accuracy: float):
        self.program, self.folder, self.rounds, self.accuracy = build / "cli/tributary", folder, rounds, accuracy

    def run(self, name: str, seed: int, limit_s: float) -> Optional[float]:
        out = self.folder / "demo"
        command = [str(self.program), "demo", "--headless", "--json", "--seed", str(seed), "--out", str(out)]
        if self.rounds:
            command += ["--rounds", str(self.rounds)]
        if name != ADAPTIVE:
            # As planned, so that the links are the same; the setting then fixes the choice.
            codec, collective = name.split()
            command += ["--planning", "adaptive", "--codec", codec, "--collective", collective,
                        "--set", "job.planning=fixed"]
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, start_new_session=True)
            try:
                # Rounds go on after the goal, and processes start and end.
                output, _ = process.communicate(timeout=1.6 * limit_s + 15)
            except subprocess.TimeoutExpired:
                end(process)
                return None
            if process.returncode != 0:
                errors.seek(0)
                raise adaptive.Failure(f"{' '.join(command)}: {errors.read().decode()[-500:]}")
        run_db = json.loads(output)["data"]["run_db"]
        seconds = time_to(run_db, self.accuracy)
        return seconds if seconds is not None and seconds <= limit_s else None


def end(process: subprocess.Popen) -> None:
    """Ends a demonstration, which then ends its own processes."""
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def time_to(run_db: str, accuracy: float) -> Optional[float]:
    """Seconds from the first round until the second of two evaluations in a row that reach it."""
    with sqlite3.connect(f"file:{run_db}?mode=ro", uri=True) as journal:
        began = journal.execute("SELECT min(began_at_ns) FROM rounds").fetchone()[0]
        rows = journal.execute(
            "SELECT rounds.committed_at_ns, metrics.value FROM metrics JOIN rounds USING (round) "
            "WHERE metrics.name = 'evaluation_accuracy' ORDER BY round").fetchall()
    for before, now in zip(rows, rows[1:]):
        if min(before[1], now[1]) >= accuracy:
            return (now[0] - began) * 1e-9
    return None


class BusyCore:
    """Another program that needs one core all the time."""

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        time.sleep(0.2)
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.wait()
