#!/usr/bin/env python3
"""Compares what the simulator does with results that are committed (tests/reference/simulator.json).

usage: reference.py [--build BUILD] [--seeds N] [--scenarios NAME...] [--record]

The file has, for each scenario in tests/scenarios and each seed, a hash of the last state of all
machines, the number of committed rounds, and bytes by kind of message. A change of the code's
structure must keep all of it. After a change of behaviour or of the wire format, record the file
again (--record) in a commit of its own that says why.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCENARIOS = ROOT / "tests/scenarios"
RESULTS = ROOT / "tests/reference/simulator.json"
SEEDS, SEEDS_OF_LARGE = 40, 2
LARGE = {"thousand"}  # one seed takes minutes; only where --scenarios names it


class Failure(Exception):
    pass


def simulate(build: Path, scenario: str, seeds: int) -> dict:
    """The result of each seed, from seed 1 on."""
    command = [str(build / "cli/tributary"), "sim", "run", str(SCENARIOS / f"{scenario}.toml"),
               "--seeds", str(seeds), "--each", "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    try:
        runs = json.loads(done.stdout)["data"]["runs"]
    except (json.JSONDecodeError, KeyError):
        raise Failure(f"{' '.join(command)} ended with {done.returncode}: "
                      f"{(done.stderr or done.stdout).strip()[-1000:]}") from None
    return {str(run.pop("seed")): run for run in runs}


def usual_scenarios() -> list:
    return sorted(path.stem for path in SCENARIOS.glob("*.toml") if path.stem not in LARGE)


def seeds_of(scenario: str, seeds: int) -> int:
    return min(seeds, SEEDS_OF_LARGE) if scenario in LARGE else seeds


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
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"of each scenario ({SEEDS})")
    parser.add_argument("--scenarios", nargs="+", metavar="NAME", help="these alone")
    parser.add_argument("--record", action="store_true", help="write the file anew")
    arguments = parser.parse_args()
    names = arguments.scenarios or usual_scenarios()
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    told = []
    try:
        for name in names:
            found = simulate(arguments.build, name, seeds_of(name, arguments.seeds))
            if arguments.record:
                known[name] = found
                RESULTS.parent.mkdir(exist_ok=True)
                RESULTS.write_text(text_of(known), encoding="utf-8")
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
