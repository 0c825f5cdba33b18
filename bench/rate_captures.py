#!/usr/bin/env python3
"""The bytes of THC with a rate on captured gradients: for each gradient, the least rate whose error
is at most that of `thc:bits=4`, and its bytes up and down as a share of the bytes of `thc:bits=4`.

Fails if a gradient misses the bound of its model."""

import argparse
import json
import os
import pathlib
import subprocess
import sys

AGENTS = 4
BEFORE = "thc:bits=4"
RATES = [sixteenths / 16 for sixteenths in range(4, 65)]
# At least this many times fewer bytes up and down, by the first word of a capture's name.
BOUNDS = {"transformer": 1.5, "convnet": 1.15}


def measure(build, path, codecs):
    """Bits of a value up + down, and the NMSE, by codec: one exchange of agents that have the same
    gradient, without error feedback."""
    command = [os.path.join(build, "cli", "tributary"), "codec", "measure", "--rounds", "1",
               "--no-error-feedback", "--json"]
    for codec in codecs:
        command += ["--codec", codec]
    command += ["--in", path] * AGENTS
    answer = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return [(row["bits_per_value_up"] + row["bits_per_value_down"], row["nmse"])
            for row in answer["data"]["codecs"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("captures", nargs="*", default=["bench/gradients/captured"],
                        help="folders with the results of bench/gradients/capture.py")
    options = parser.parse_args()
    paths = [path for folder in options.captures
             for path in sorted(pathlib.Path(folder).glob("*.gradient.f32"))]
    if not paths:
        sys.exit("rate_captures: the folders have no captured gradient (*.gradient.f32)")
    missed = []
    print(f"{'gradient':34} {'values':>9} {'NMSE':>9}  {'rate':>6} {'NMSE':>9} {'fewer bytes':>11}")
    for path in paths:
        (bits, error), *rated = measure(options.build, path,
                                        [BEFORE, *(f"thc:rate={rate}" for rate in RATES)])
        # A rate of 4 has the bytes of 4 bits at most.
        enough = [(rate, *result) for rate, result in zip(RATES, rated) if result[1] <= error]
        name = path.name.removesuffix(".gradient.f32")
        print(f"{name:34} {path.stat().st_size // 4:9} {error:9.2g}  ", end="")
        if not enough:
            print("no rate has so small an error")
            missed.append(name)
            continue
        rate, rate_bits, rate_error = enough[0]
        print(f"{rate:6.4g} {rate_error:9.2g} {bits / rate_bits:9.2f} x", flush=True)
        if bits < BOUNDS[name.split("-")[0]] * rate_bits or max(rated)[0] > bits:
            missed.append(name)
    if missed:
        sys.exit(f"rate_captures: below the bound, or more bytes: {', '.join(missed)}")
    print("every gradient keeps its bound: " +
          ", ".join(f"{name} {bound} x" for name, bound in BOUNDS.items()))


if __name__ == "__main__":
    main()
