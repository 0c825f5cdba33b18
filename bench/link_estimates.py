#!/usr/bin/env python3
"""What a link is estimated to be, beside what it was set to: nine links that `tributary lab` makes.

Needs root. One end measures with round trips and trains over TCP, the other answers.
"""

import argparse
import json
import os
import sys
from pathlib import Path

from lab_nodes import Failure, LabNodes, answers_of

LAB = "estimates"
RATES_MBIT = (10, 100, 1000)
DELAYS_MS = (1, 10, 50)  # one way, over two links
# A rate counts Ethernet frames; at an MTU of 1500, this share is TCP payload.
PAYLOAD_SHARE = 1448 / 1514
TRAIN_S = 0.3  # duration of a train on the link
TIMEOUT_S = 120


def estimate(lab: LabNodes, program: str, options: list) -> dict:
    # The answering end may fail because the other end has left before the last answer was read.
    return answers_of([[*lab.command(rank), program, "--rank", str(rank), "--first", lab.addresses[0],
                        "--second", lab.addresses[1], *options] for rank in (0, 1)],
                      "estimate", TIMEOUT_S, needed=1)[0]


def measure(tributary: str, program: str, mbit: float, delay_ms: float, arguments) -> dict:
    links = ["--rate", f"{mbit:g}mbit", "--delay", f"{delay_ms / 2:g}ms",
             "--congestion", arguments.congestion]
    with LabNodes(tributary, LAB, 2, links) as lab:
        train_bytes = int(mbit * 1e6 / 8 * TRAIN_S)
        found = estimate(lab, program, ["--trains", str(arguments.trains),
                                        "--train-bytes", str(train_bytes)])
    line_s_per_byte = 8 / (mbit * 1e6 * PAYLOAD_SHARE)
    return {"mbit_per_s": mbit, "delay_ms": delay_ms, **found,
            "alpha_error": found["alpha_s"] / (delay_ms / 1e3) - 1,
            "beta_error": found["beta_s_per_byte"] / line_s_per_byte - 1,
            "load": os.getloadavg()[0]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/release", help="with the programs")
    parser.add_argument("--trains", type=int, default=12)
    parser.add_argument("--congestion", default="bbr")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    tributary = str(Path(arguments.build).resolve() / "cli/tributary")
    program = str(Path(arguments.build).resolve() / "bench/link/tributary-bench-estimate")
    rows = []
    for mbit in RATES_MBIT:
        for delay_ms in DELAYS_MS:
            row = measure(tributary, program, mbit, delay_ms, arguments)
            rows.append(row)
            if not arguments.json:
                print(f"| {mbit:g} Mbit/s, {delay_ms:g} ms | {row['alpha_s'] * 1e3:.2f} ms, "
                      f"{row['alpha_error'] * 100:+.1f} % | {row['alpha_confidence']:.2f} | "
                      f"{8e-6 / row['beta_s_per_byte']:.2f} Mbit/s, "
                      f"{row['beta_error'] * 100:+.1f} % | {row['beta_confidence']:.2f} | "
                      f"load {row['load']:.1f}", flush=True)
    if arguments.json:
        print(json.dumps(rows, indent=2))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f"link_estimates: {failure}")
