#!/usr/bin/env python3
"""What a round costs: a real coordinator, its journal on, and agents over loopback (`tributary
load`), beside Flower's legacy server where it is installed."""

import argparse
import json
import os
import shutil
import subprocess
import sys

import flower_rounds

MIB = 1 << 20
DENSE = ["--params", "4Mi", "--codec", "fp32"]

# Name, arguments of `tributary load`, maximum seconds per round, maximum memory in bytes.
RUNS = [
    ("empty update, 4 agents, CURVE", ["--agents", "4", "--params", "64", "--codec", "fp32",
                                       "--rounds", "200"], 0.005, None),
    ("dense fp32, 4 agents", [*DENSE, "--agents", "4", "--rounds", "15", "--curve", "off"],
     0.15, 150e6),
    ("dense fp32, 32 agents", [*DENSE, "--agents", "32", "--rounds", "5", "--curve", "off"],
     1.2, 150e6),
    ("dense fp32, 4 agents, CURVE", [*DENSE, "--agents", "4", "--rounds", "15"], 0.35, 150e6),
    ("dense fp32, 32 agents, CURVE", [*DENSE, "--agents", "32", "--rounds", "5"], 2.5, 150e6),
]
CROWD = ["--params", "1Mi", "--codec", "thc:bits=4", "--rounds", "3"]


def load(program, arguments):
    done = subprocess.run([program, "load", *arguments, "--json"], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"rounds: tributary load {' '.join(arguments)}: {done.stderr.strip()}")
    data = json.loads(done.stdout)["data"]
    if data["agents_lost"] or not data["replicas_identical"]:
        sys.exit(f"rounds: {' '.join(arguments)}: agents were lost, or replicas differ")
    return data


def seconds(value):
    return f"{value * 1e3:.2f} ms" if value < 0.1 else f"{value:.3f} s"


def row(name, data, round_max, memory_max):
    median, peak = data["round_s_median"], data["coordinator_peak_bytes"]
    met = median <= round_max and (memory_max is None or peak <= memory_max)
    print(f"{name:34} {seconds(median):>10} {seconds(data['round_s_p99']):>10} "
          f"{peak / MIB:8.1f} MiB   at most {seconds(round_max)}"
          f"{'' if memory_max is None else f', {memory_max / 1e6:.0f} MB'}: "
          f"{'met' if met else 'MISSED'}", flush=True)


def crowd(program, agents):
    few = load(program, ["--agents", "10", *CROWD])
    many = load(program, ["--agents", str(agents), *CROWD])
    more = many["coordinator_peak_bytes"] - few["coordinator_peak_bytes"]
    for count, data in ((10, few), (agents, many)):
        print(f"{f'thc:bits=4, 1 Mi, {count} agents':34} {seconds(data['round_s_median']):>10} "
              f"{seconds(data['round_s_p99']):>10} {data['coordinator_peak_bytes'] / MIB:8.1f} MiB")
    print(f"{'':34} {more / MIB:+.1f} MiB with {agents} agents, at most +64: "
          f"{'met' if more <= 64 * MIB else 'MISSED'}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--crowd", type=int, default=1000,
                        help="agents whose memory is compared with that of 10 (1000)")
    arguments = parser.parse_args()
    program = os.path.join(arguments.build, "cli", "tributary")
    if not shutil.which(program):
        sys.exit(f"rounds: no program {program}; ./dev bench rounds builds it")
    print(f"{'rounds':34} {'median':>10} {'p99':>10} {'coordinator':>12}   "
          f"journal in {os.environ.get('TMPDIR', '/tmp')}")
    for name, options, round_max, memory_max in RUNS:
        row(name, load(program, options), round_max, memory_max)
    if arguments.crowd > 0:
        crowd(program, arguments.crowd)
    flower = flower_rounds.python()
    if flower is None:
        print(f"Flower's legacy server: skipped, because {flower_rounds.MISSING}")
        return
    for agents in (4, 32):
        done = flower_rounds.measure(flower, agents, 4 << 20, 5)
        print(f"{f'Flower, 4 Mi float32, {agents} agents':34} " + (
            f"failed: {done['failed']}" if "failed" in done else f"{seconds(done['median_s']):>10}"))


if __name__ == "__main__":
    main()
