#!/usr/bin/env python3
"""Runs libFuzzer targets, two at a time, each for a bounded time.

usage: fuzz.py --build build/asan [--seconds N] [--runs N] [--parallel N] [TARGET...]

Inputs that are worth keeping go to BUILD/corpora/TARGET, the ones that failed to
BUILD/findings/TARGET. Exits with 1 when there is a finding, or no target.
"""

import argparse
import base64
import difflib
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

INPUT_BYTES_MAX = 8192
SHOWN_INPUT_BYTES_MAX = 2048
VERDICTS = {0: "ok", 70: "timeout", 71: "out of memory", 77: "crash"}


class Outcome(NamedTuple):
    target: str
    runs: int
    runs_per_s: int
    verdict: str
    log: str
    inputs: list  # files that failed

    @property
    def ok(self) -> bool:
        return self.verdict == "ok"


class Fuzzing:
    def __init__(self, build: Path, seconds: int, runs: int):
        self.build = build
        self.seconds = seconds
        self.runs = runs

    def targets(self) -> list:
        folder = self.build / "fuzzers"
        return sorted(path.name for path in folder.glob("*")
                      if path.is_file() and os.access(path, os.X_OK))

    def run(self, target: str) -> Outcome:
        corpus = self.build / "corpora" / target
        findings = self.build / "findings" / target
        for folder in (corpus, findings):
            folder.mkdir(parents=True, exist_ok=True)
        before = set(findings.iterdir())
        command = [str(self.build / "fuzzers" / target), f"-max_total_time={self.seconds}",
                   f"-max_len={INPUT_BYTES_MAX}", "-timeout=10", "-rss_limit_mb=2048",
                   "-print_final_stats=1", f"-artifact_prefix={findings}/", str(corpus)]
        limit = [f"-runs={self.runs}"] if self.runs else []
        result = subprocess.run(command + self.seeds(target) + limit, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, errors="replace",
                                stdin=subprocess.DEVNULL, check=False)
        verdict = VERDICTS.get(result.returncode, f"exit status {result.returncode}")
        runs = statistic(result.stdout, "number_of_executed_units")
        if verdict == "ok" and runs == 0:
            verdict = "did not run"
        return Outcome(target, runs, statistic(result.stdout, "average_exec_per_sec"), verdict,
                       result.stdout, sorted(set(findings.iterdir()) - before))

    def seeds(self, target: str) -> list:
        named = (self.build / "fuzzers" / f"{target}.corpus").read_text(encoding="utf-8").strip()
        return [named] if Path(named).is_dir() else []


def statistic(log: str, name: str) -> int:
    match = re.search(rf"stat::{name}:\s+(\d+)", log)
    return int(match.group(1)) if match else 0


def show_finding(outcome: Outcome) -> None:
    print(f"\n{outcome.target}: {outcome.verdict}")
    print("\n".join(outcome.log.splitlines()[-60:]))
    for path in outcome.inputs:
        print(f"kept in {path}")
        data = path.read_bytes()
        if len(data) <= SHOWN_INPUT_BYTES_MAX:
            print(f"base64 of it: {base64.b64encode(data).decode()}")


def show_table(outcomes: list) -> None:
    width = max(len(outcome.target) for outcome in outcomes)
    print(f"\n{'target':<{width}}  {'runs':>12}  {'runs/s':>9}  verdict")
    for outcome in outcomes:
        print(f"{outcome.target:<{width}}  {outcome.runs:>12}  {outcome.runs_per_s:>9}  "
              f"{outcome.verdict}")


def chosen(targets: list, names: list) -> list:
    for name in names:
        if name not in targets:
            near = difflib.get_close_matches(name, targets, n=1, cutoff=0)
            sys.exit(f"fuzz: no target {name}" + (f"; did you mean {near[0]}?" if near else ""))
    return names or targets


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--runs", type=int, default=0,
                        help="most inputs of each target, its seeds included; 0: no limit")
    parser.add_argument("--parallel", type=int, default=2)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    arguments = parser.parse_args()
    fuzzing = Fuzzing(arguments.build, arguments.seconds, arguments.runs)
    targets = chosen(fuzzing.targets(), arguments.targets)
    if not targets:
        sys.exit(f"fuzz: no target in {arguments.build / 'fuzzers'}; build its target fuzzers first")
    with ThreadPoolExecutor(arguments.parallel) as pool:
        outcomes = list(pool.map(fuzzing.run, targets))
    for outcome in outcomes:
        if not outcome.ok:
            show_finding(outcome)
    show_table(outcomes)
    return 0 if all(outcome.ok for outcome in outcomes) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
