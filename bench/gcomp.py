#!/usr/bin/env python3
"""The bytes and the loss of GComp in a job: real daemons train a character transformer, and each
codec is compared with dense float32 over the same seeds."""

import argparse
import statistics
import tempfile

from training import bytes_of_agent, last_metric, make_data, train

JOB = ["model=chargpt:width=64,depth=2,heads=4", "task=next_token", "input='64'", "classes=97",
       "batch_size=16", "bucket_values=65536"]
# The server's optimizer of the mode delta is that of `strategy`; an agent's starts anew each round.
MODES = {"gradient": ["learning_rate=0.001", "schedule=cosine:warmup=5", "local_steps=1"],
         "delta": ["learning_rate=0.001", "schedule=constant", "local_steps=4"]}
CODECS = ["fp32", "gcomp:truncation=none", "gcomp:truncation=metric", "gcomp"]
AGENTS = 3


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--collective", default="ring")
    parser.add_argument("--mode", choices=MODES, default="gradient")
    parser.add_argument("--optimizer", default="adamw")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                        help="a further setting of the job")
    parser.add_argument("--codec", action="append", help="instead of the usual ones")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    job = [*JOB, *MODES[options.mode], "name=gcomp", f"mode={options.mode}",
           f"rounds={options.rounds}", f"collective={options.collective}",
           f"optimizer={options.optimizer}", *options.set]
    with tempfile.TemporaryDirectory(prefix="tributary-gcomp-") as folder:
        data = make_data(options.build, folder,
                         ["text", "--count", "200000", "--test-count", "20000"])
        print(f"{options.collective}, {options.mode}, {options.optimizer}, "
              f"{options.rounds} rounds, {options.seeds} seeds")
        print(f"{'codec':24} {'bytes a round':>14} {'of first':>9}  loss by seed; less that of the "
              "first codec")
        first = None
        for codec in options.codec or CODECS:
            runs = []
            for seed in range(options.seeds):
                journal = train(options.build, tempfile.mkdtemp(dir=folder), data,
                                [*job, f"codec={codec}", f"seed={seed + 1}"], AGENTS)
                runs.append((bytes_of_agent(journal)[0], last_metric(journal, "loss")))
            first = first or runs
            sent = statistics.mean(run[0] for run in runs)
            share = sent / statistics.mean(run[0] for run in first)
            losses = " ".join(f"{run[1]:.4f}" for run in runs)
            less = " ".join(f"{run[1] - base[1]:+.4f}" for run, base in zip(runs, first))
            print(f"{codec:24} {sent:14.0f} {share:9.3f}  {losses}; {less}", flush=True)


if __name__ == "__main__":
    main()
