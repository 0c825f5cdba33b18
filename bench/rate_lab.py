#!/usr/bin/env python3
"""The time to the same loss over slow links: a coordinator and four agents in a lab, all with links
of one rate, train the character transformer of bench/rate_curves.py with each codec.

The loss is the greatest of the codecs' last ones, so all of them reach it. Beside the times stand
those of a round: of all, and of training by the slowest agent. Needs root. A round includes
training on this machine, so say what else ran."""

import argparse
import os
import sqlite3
import subprocess
import sys
import tempfile

from rate_curves import MODELS
from training import make_data, train

AGENTS = 4
LAB = "rates"


def losses_over_time(journal):
    """Seconds since the first round began, with the loss on the test set."""
    with sqlite3.connect(f"file:{journal}?mode=ro", uri=True) as run:
        return run.execute(
            "SELECT (rounds.committed_at_ns - (SELECT min(began_at_ns) FROM rounds)) / 1e9, value "
            "FROM metrics JOIN rounds USING (job, round) WHERE name = 'evaluation_loss' "
            "ORDER BY round").fetchall()


def round_seconds(journal):
    """Mean seconds of a round, and of training by its slowest agent."""
    with sqlite3.connect(f"file:{journal}?mode=ro", uri=True) as run:
        whole = run.execute("SELECT avg(committed_at_ns - began_at_ns) / 1e9 FROM rounds").fetchone()
        training = run.execute(
            "SELECT avg(slowest) FROM (SELECT max(compute_s) AS slowest FROM agent_rounds "
            "GROUP BY job, round)").fetchone()
    return whole[0], training[0]


def time_to(loss, curve):
    """Between two evaluations the loss is taken as a line."""
    for (before_s, before), (after_s, after) in zip(curve, curve[1:]):
        if after <= loss < before:
            return before_s + (after_s - before_s) * (before - loss) / (before - after)
    return curve[0][0] if curve[0][1] <= loss else curve[-1][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--codec", action="append", help="instead of thc:bits=4 and thc:rate=2.5")
    parser.add_argument("--rate", action="append", help="of each link (10mbit and 100mbit)")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--every", type=int, default=5, help="rounds between two evaluations")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                        help="another setting of the job")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("rate_lab: a lab needs root; run it with sudo")
    making, usual = MODELS["chargpt"]
    settings = dict(pair.split("=", 1) for pair in usual) | {
        "name": "chargpt", "rounds": options.rounds, "evaluate_every": options.every,
        "seed": options.seed, "bucket_values": 1048576, "collective": "star"
    } | dict(pair.split("=", 1) for pair in options.set)
    job = [f"{key}={value}" for key, value in settings.items()]
    codecs = options.codec or ["thc:bits=4", "thc:rate=2.5"]
    lab = [os.path.join(options.build, "cli", "tributary"), "lab"]
    with tempfile.TemporaryDirectory(prefix="tributary-rate-lab-") as folder:
        data = make_data(options.build, folder, making)
        for rate in options.rate or ["10mbit", "100mbit"]:
            subprocess.run([*lab, "up", "--name", LAB, "--nodes", str(AGENTS + 1), "--rate", rate],
                           check=True, stdout=subprocess.DEVNULL)
            try:
                journals = {codec: train(options.build, tempfile.mkdtemp(dir=folder), data,
                                         [*job, f"codec={codec}"], AGENTS, LAB)
                            for codec in codecs}
            finally:
                subprocess.run([*lab, "down", "--name", LAB], check=True, stdout=subprocess.DEVNULL)
            curves = {codec: losses_over_time(journal) for codec, journal in journals.items()}
            loss = max(curve[-1][1] for curve in curves.values())
            first = time_to(loss, curves[codecs[0]])
            print(f"{rate}, {AGENTS} agents, {options.rounds} rounds, time to a loss of {loss:.4f}")
            for codec, curve in curves.items():
                seconds = time_to(loss, curve)
                whole, training = round_seconds(journals[codec])
                print(f"{codec:16} {seconds:8.1f} s, {seconds / first:.3f} of {codecs[0]}; last loss "
                      f"{curve[-1][1]:.4f} after {curve[-1][0]:.1f} s; a round takes {whole:.2f} s, "
                      f"training {training:.2f} s of it", flush=True)


if __name__ == "__main__":
    main()
