#!/usr/bin/env python3
"""Compares what simulator and demonstration do with results that are committed in tests/reference.

usage: reference.py [--build BUILD] [--seeds N] [--scenarios NAME...] [--record]
       reference.py --demonstration [--build BUILD] [--seeds N] [--record]

simulator.json has, for each scenario in tests/scenarios and each seed, a hash of the last state of
all machines, the number of committed rounds, a hash of the models after each of them, and bytes by
kind of message. Another contributor to a round makes another model. demonstration.json has,
for each seed, the hash of the model after each round of a demonstration with real processes and real
training. A change of the code's structure must keep all of it. After a change of behaviour or of the
wire format, record the file again (--record) in a commit of its own that says why.

A scenario that takes minutes is cut to the few rounds that CUTS says, with all its faults in them,
and has results of 2 seeds.
"""

import argparse
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCENARIOS = ROOT / "tests/scenarios"
RESULTS = ROOT / "tests/reference/simulator.json"
SEEDS, SEEDS_OF_CUT = 40, 2
# A thousand agents: one seed takes minutes, and 8 s of processor time with so few rounds.
CUTS = {"thousand": {"rounds": 3, "until_round": 2}}

MODELS = ROOT / "tests/reference/demonstration.json"
MODEL_SEEDS = 4
# The plan is fixed and every agent contributes to every round, so that no link decides anything.
DEMONSTRATION = ["--headless", "--json", "--rounds", "5", "--pictures", "4000", "--codec",
                 "thc:bits=4", "--collective", "star", "--set", "job.quorum=1"]
# Training rounds differently with each instruction set. These settings choose kernels that every
# x86-64 processor has, in libtorch, in its convolutions, in OpenBLAS and in the C library.
PLAIN_KERNELS = {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41",
                 "OPENBLAS_CORETYPE": "Nehalem", "OMP_NUM_THREADS": "1",
                 "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4"}


class Failure(Exception):
    pass


def cut(text: str, values: dict) -> str:
    """The scenario with other values of these keys, which it has."""
    for key, value in values.items():
        text, count = re.subn(rf"^{key} = .*$", f"{key} = {value}", text, flags=re.MULTILINE)
        if count != 1:
            raise Failure(f"expected one line \"{key} = ...\" in the scenario, found {count}")
    return text


def simulate(build: Path, scenario: str, seeds: int, first: int = 1) -> dict:
    """The result of each seed, from the first one on."""
    with tempfile.TemporaryDirectory(prefix="tributary-reference-") as folder:
        path = SCENARIOS / f"{scenario}.toml"
        if scenario in CUTS:
            text = cut(path.read_text(encoding="utf-8"), CUTS[scenario])
            path = Path(folder) / path.name
            path.write_text(text, encoding="utf-8")
        command = [str(build / "cli/tributary"), "sim", "run", str(path), "--seed", str(first),
                   "--seeds", str(seeds), "--each", "--json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)
    try:
        runs = json.loads(done.stdout)["data"]["runs"]
    except (json.JSONDecodeError, KeyError):
        raise Failure(f"{' '.join(command)} ended with {done.returncode}: "
                      f"{(done.stderr or done.stdout).strip()[-1000:]}") from None
    return {str(run.pop("seed")): run for run in runs}


def demonstrate(build: Path, seed: int) -> dict:
    """The hash of the model after each round."""
    with tempfile.TemporaryDirectory(prefix="tributary-reference-") as folder:
        command = [str(build / "cli/tributary"), "demo", "--out", f"{folder}/demo", "--seed",
                   str(seed), *DEMONSTRATION]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False, env={**os.environ, **PLAIN_KERNELS})
        if done.returncode != 0:
            raise Failure(f"{' '.join(command)} ended with {done.returncode}: "
                          f"{(done.stderr or done.stdout).strip()[-1000:]}")
        with closing(sqlite3.connect(f"{folder}/demo/run.db")) as run:
            rows = run.execute("SELECT round, model_hash FROM rounds ORDER BY round").fetchall()
    return {f"round_{number}": f"{model % 2**64:016x}" for number, model in rows}


def scenarios() -> list:
    return sorted(path.stem for path in SCENARIOS.glob("*.toml"))


def seeds_of(scenario: str, seeds: int) -> int:
    return min(seeds, SEEDS_OF_CUT) if scenario in CUTS else seeds


def differences(scenario: str, expected: dict, found: dict) -> list:
    """In words, one for each seed that ended otherwise."""
    told = []
    for seed, now in found.items():
        before = expected.get(seed)
        if before is None:
            told.append(f"{scenario}, seed {seed}: no result is committed; record it (--record)")
        elif before != now:
            told.append(f"{scenario}, seed {seed}: " + "; ".join(
                f"{key}: expected {before.get(key)}, found {value}" for key, value in now.items()
                if before.get(key) != value))
    return told


def text_of(results: dict) -> str:
    """One line for each seed, so that a change can be read."""
    scenarios = []
    for scenario, runs in sorted(results.items()):
        lines = ",\n".join(f'  "{seed}": {json.dumps(run)}' for seed, run in runs.items())
        scenarios.append(f'"{scenario}": {{\n{lines}\n}}')
    return "{\n" + ",\n".join(scenarios) + "\n}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build/dev"))
    parser.add_argument("--seeds", type=int, default=SEEDS,
                        help=f"of each scenario ({SEEDS}), or of the demonstration ({MODEL_SEEDS})")
    parser.add_argument("--demonstration", action="store_true", help="its models, by seed")
    parser.add_argument("--scenarios", nargs="+", metavar="NAME", help="these alone")
    parser.add_argument("--record", action="store_true", help="write the file anew")
    arguments = parser.parse_args()
    if arguments.demonstration:
        results, names = MODELS, ["demonstration"]
    else:
        results, names = RESULTS, arguments.scenarios or scenarios()
    known = json.loads(results.read_text(encoding="utf-8")) if results.is_file() else {}
    told = []
    try:
        for name in names:
            if arguments.demonstration:
                seeds = range(1, min(arguments.seeds, MODEL_SEEDS) + 1)
                found = {str(seed): demonstrate(arguments.build, seed) for seed in seeds}
            else:
                found = simulate(arguments.build, name, seeds_of(name, arguments.seeds))
            if arguments.record:
                known[name] = found
                results.parent.mkdir(exist_ok=True)
                results.write_text(text_of(known), encoding="utf-8")
            else:
                told += differences(name, known.get(name, {}), found)
            print(f"reference: {name}, {len(found)} seeds", file=sys.stderr, flush=True)
    except Failure as failure:
        sys.exit(f"reference: {failure}")
    for line in told:
        print(line)
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
