#!/usr/bin/env python3
"""The bytes of THC with a rate on captured gradients: for each gradient, the least rate whose error
is at most that of `thc:bits=4`, and its bytes up and down as a share of the bytes of `thc:bits=4`.

Fails if a gradient misses the bound of its model."""

import argparse
import json
import math
import pathlib
import subprocess
import sys
from typing import NamedTuple

from training import command_of

AGENTS = 4
BEFORE = "thc:bits=4"
RATES = [sixteenths / 16 for sixteenths in range(4, 65)]
# At least this many times fewer bytes up and down, by the first word of a capture's name.
BOUNDS = {"transformer": 1.5, "convnet": 1.15}


class Row(NamedTuple):
    """One gradient: the least rate with an error as small as that of BEFORE."""
    name: str
    values: int
    error: float         # of BEFORE
    rate: float          # NaN: no rate has so small an error
    rate_error: float
    fewer: float         # bytes of BEFORE over those of the rate
    most_bytes: float    # of any rate, as a share of those of BEFORE

    def keeps(self, bound):
        return self.fewer >= bound and self.most_bytes <= 1


def measure(build, path):
    """One exchange of agents that have the same gradient, without error feedback."""
    command = [command_of(build), "codec", "measure", "--rounds", "1",
               "--no-error-feedback", "--json"]
    for codec in [BEFORE, *(f"thc:rate={rate}" for rate in RATES)]:
        command += ["--codec", codec]
    command += ["--in", str(path)] * AGENTS
    answer = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    before, *rated = answer["data"]["codecs"]
    bits = [row["bits_per_value_up"] + row["bits_per_value_down"] for row in rated]
    bits_before = before["bits_per_value_up"] + before["bits_per_value_down"]
    at = next((i for i, row in enumerate(rated) if row["nmse"] <= before["nmse"]), None)
    return Row(name=path.name.removesuffix(".gradient.f32"), values=before["values"],
               error=before["nmse"], rate=math.nan if at is None else RATES[at],
               rate_error=math.nan if at is None else rated[at]["nmse"],
               fewer=math.nan if at is None else bits_before / bits[at],
               most_bytes=max(bits) / bits_before)


def gradients_in(folders):
    return [path for folder in folders
            for path in sorted(pathlib.Path(folder).glob("*.gradient.f32"))]


def missed(rows, bounds):
    """Names of the gradients that miss the bound of their model."""
    return [row.name for row in rows if not row.keeps(bounds[row.name.split("-")[0]])]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("captures", nargs="*", default=["bench/gradients/captured"],
                        help="folders with the results of bench/gradients/capture.py")
    options = parser.parse_args()
    paths = gradients_in(options.captures)
    if not paths:
        sys.exit("rate_captures: the folders have no captured gradient (*.gradient.f32); run "
                 "./dev setup --bench or bench/gradients/capture.py")
    rows = []
    print(f"{'gradient':30} {'values':>8} {'NMSE':>8}  {'rate':>6} {'NMSE':>8} {'fewer bytes':>11}")
    for path in paths:
        row = measure(options.build, path)
        rows.append(row)
        print(f"{row.name:30} {row.values:8} {row.error:8.2g}  {row.rate:6.4g} "
              f"{row.rate_error:8.2g} {row.fewer:9.2f} x", flush=True)
    if names := missed(rows, BOUNDS):
        sys.exit(f"rate_captures: below the bound, or more bytes: {', '.join(names)}")
    print("every gradient keeps its bound: " +
          ", ".join(f"{name} {bound} x" for name, bound in BOUNDS.items()))


if __name__ == "__main__":
    main()
