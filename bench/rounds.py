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
from daemon_rounds import COORDINATOR_MODELS_MAX, INCOMING_BYTES_MAX

MIB = 1 << 20
DENSE = ["--params", "4Mi", "--codec", "fp32"]

# Name, arguments of `tributary load`, maximum seconds per round where there is a goal.
RUNS = [
    ("empty update, 4 agents, CURVE", ["--agents", "4", "--params", "64", "--codec", "fp32",
                                       "--rounds", "200"], 0.005),
    ("dense fp32, 4 agents", [*DENSE, "--agents", "4", "--rounds", "15", "--curve", "off"], 0.15),
    ("dense fp32, 32 agents", [*DENSE, "--agents", "32", "--rounds", "5", "--curve", "off"], 1.2),
    ("dense fp32, 4 agents, CURVE", [*DENSE, "--agents", "4", "--rounds", "15"], 0.35),
    ("dense fp32, 32 agents, CURVE", [*DENSE, "--agents", "32", "--rounds", "5"], 2.5),
]
# For the goal of memory in models: a small model is less than a program without a job.
LARGE_VALUES, LARGE_AGENTS = 25 << 20, 4
LARGE = ["--params", "25Mi", "--codec", "fp32", "--agents", str(LARGE_AGENTS), "--rounds", "4", "--curve", "off"]
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


def verdict(value, most):
    return "met" if value <= most else "MISSED"


def row(name, data, goal=""):
    print(f"{name:34} {seconds(data['round_s_median']):>10} {seconds(data['round_s_p99']):>10} "
          f"{data['coordinator_peak_bytes'] / MIB:8.1f} MiB{goal and '   ' + goal}", flush=True)


def large(program):
    """Peak memory of a coordinator, less the payloads of all agents that may wait for it at a time, in models."""
    data = load(program, LARGE)
    model = 4 * LARGE_VALUES
    window = min(LARGE_AGENTS * model, 1.5 * INCOMING_BYTES_MAX)
    models = (data["coordinator_peak_bytes"] - window) / model
    row("dense fp32, 4 agents, 25 Mi", data,
        f"{models:.2f} models beside payloads that arrive, at most {COORDINATOR_MODELS_MAX}: "
        f"{verdict(models, COORDINATOR_MODELS_MAX)}")


def crowd(program, agents):
    few = load(program, ["--agents", "10", *CROWD])
    many = load(program, ["--agents", str(agents), *CROWD])
    more = many["coordinator_peak_bytes"] - few["coordinator_peak_bytes"]
    for count, data in ((10, few), (agents, many)):
        row(f"thc:bits=4, 1 Mi, {count} agents", data)
    print(f"{'':34} {more / MIB:+.1f} MiB with {agents} agents, at most +64: {verdict(more, 64 * MIB)}", flush=True)


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
    for name, options, round_max in RUNS:
        data = load(program, options)
        row(name, data, f"at most {seconds(round_max)}: {verdict(data['round_s_median'], round_max)}")
    large(program)
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
