#!/usr/bin/env python3
"""What a codec costs in accuracy: real federations (`tributary demo`) that differ in nothing but the
codec, over several seeds, each compared with the dense one of the same seed."""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import typing



class Shape(typing.NamedTuple):
    """A job without its codec, and the runs of it: name, codec, and further options of `tributary
    demo`. The other runs are compared with the first one."""
    says: str
    rounds: int
    options: list
    runs: list


# A sparse codec sends withheld values dozens of rounds later. 3LC therefore has a job with many
# short rounds; the dense run for comparison has the same rounds and settings.
SHAPES = [
    Shape("16 local steps a round", 60, [], [
        ("dense", "fp32", []),
        ("THC, 4 bits", "thc:bits=4", []),
        ("GComp", "gcomp", []),
        ("dense, Dirichlet 0.3", "fp32", ["--skew", "0.3"]),
    ]),
    Shape("the gradient of one batch a round", 1500, [
        "--set", "job.mode=gradient", "--set", "job.local_steps=1",
        "--set", "job.learning_rate=0.03", "--set", "job.schedule=cosine:warmup=150,floor=0.02",
        "--set", "job.evaluate_every=100"], [
        ("dense", "fp32", []),
        ("3LC, s = 1.75", "threelc:s=1.75,clip=0,block=512", []),
    ]),
]
MAY_LOSE = 0.005
MUST_SAVE = {"3LC, s = 1.75": 30}  # factor in each direction
# Student's t for a two-sided 95 % interval, by degrees of freedom.
T_95 = {1: 12.71, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}


def demo(program, folder, codec, seed, options):
    trace = os.path.join(folder, "trace")
    with open(trace, "w", encoding="ascii") as file:
        file.write("1, 0, 0, 0\n")  # links cost no time: only rounds count
    command = [program, "demo", "--headless", "--json", "--out", os.path.join(folder, "demo"),
               "--trace", trace, "--codec", codec, "--seed", str(seed), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"accuracy: {' '.join(command)}: {done.stdout}{done.stderr}")
    data = json.loads(done.stdout)["data"]
    if not data["replicas_identical"]:
        sys.exit(f"accuracy: {' '.join(command)}: replicas differ")
    return data


def interval(differences):
    """Half of the 95 % confidence interval."""
    if len(differences) < 2:
        return math.nan
    error = statistics.stdev(differences) / math.sqrt(len(differences))
    return T_95[len(differences) - 1] * error


def row(name, runs, base):
    accuracies = [run["accuracy_final"] for run in runs]
    differences = [run["accuracy_final"] - dense["accuracy_final"]
                   for run, dense in zip(runs, base)]
    saved_up = statistics.median(run["bytes_dense_up"] / run["bytes_up"] for run in runs)
    saved_down = statistics.median(run["bytes_dense_down"] / run["bytes_down"] for run in runs)
    mean, half = statistics.mean(differences), interval(differences)
    met = mean >= -MAY_LOSE and min(saved_up, saved_down) >= MUST_SAVE.get(name, 0)
    verdict = "" if runs is base or "Dirichlet" in name else ("met" if met else "MISSED")
    around = f" +- {100 * half:.2f}" if len(runs) > 1 else ""
    print(f"{name:22} {100 * statistics.mean(accuracies):7.2f} % {100 * mean:+7.2f}{around}  "
          f"{saved_up:7.1f}:1 {saved_down:7.1f}:1 "
          f"{statistics.median(run['wall_s'] for run in runs):7.1f} s  {verdict}", flush=True)


def measure(options, folder, shape):
    rounds = max(1, round(shape.rounds * options.share))
    print(f"\n{rounds} rounds, {shape.says}")
    everything, base = {}, None
    for name, codec, more in shape.runs:
        runs = [demo(options.program, folder, codec, seed,
                     ["--rounds", str(rounds), *shape.options, *more])
                for seed in range(1, options.seeds + 1)]
        base = base or runs
        everything[name] = runs
        row(name, runs, base)
    return everything


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="build/release/cli/tributary")
    parser.add_argument("--seeds", type=int, default=5, choices=range(1, 11))
    parser.add_argument("--share", type=float, default=1, metavar="X",
                        help="of the rounds: less than 1 only tries this out")
    parser.add_argument("--json", metavar="FILE", help="all figures of all runs")
    options = parser.parse_args()
    print(f"lenet on drawn digits, 4 agents, {options.seeds} seeds: means; differences from dense "
          "with the same seed and their interval of 95 %;\n"
          "bytes of float32 over bytes of payloads, up and down")
    everything = {}
    with tempfile.TemporaryDirectory(prefix="tributary-accuracy-") as folder:
        for shape in SHAPES:
            everything[shape.says] = measure(options, folder, shape)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(everything, file, indent=1)


if __name__ == "__main__":
    main()
