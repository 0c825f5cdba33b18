#!/usr/bin/env python3
"""The bytes and the loss of THC with a rate in training: real daemons train one model with each
codec over the same seeds, beside fixed widths, 3LC and top-k."""

import argparse
import statistics
import tempfile

from training import bytes_of_agent, last_metric, make_data, train

# Data, and the settings of a job, by model.
MODELS = {
    "chargpt": (["text", "--count", "200000", "--test-count", "20000"], [
        "model=chargpt:width=64,depth=2,heads=4", "task=next_token", "input='64'", "classes=97",
        "batch_size=16", "mode=gradient", "local_steps=1", "optimizer=adamw",
        "learning_rate=0.002", "schedule=cosine:warmup=5"]),
    "resnet20": (["shapes", "--count", "4000", "--test-count", "500"], [
        "model=resnet20", "task=classification", "input='3x32x32'", "classes=10", "batch_size=16",
        "mode=delta", "local_steps=10", "optimizer=adam", "learning_rate=0.002",
        "schedule=cosine"]),
}
CODECS = ["fp32", "thc:bits=4", "thc:rate=2", "thc:rate=1", "thc:bits=2", "thc:rate=0.5",
          "thc:rate=4", "thc:rate=3", "thc:bits=3", "thc:bits=1", "threelc", "topk:cr=0.05",
          "thc:rate=1.5"]
AGENTS = 3


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--model", choices=MODELS, default="chargpt")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                        help="a further setting of the job")
    parser.add_argument("--codec", action="append", help="instead of the usual ones")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--seed", type=int, action="append", help="instead of 1, 2 and 3")
    options = parser.parse_args()
    making, job = MODELS[options.model]
    job = [*job, f"name={options.model}", f"rounds={options.rounds}",
           f"evaluate_every={options.rounds}", "bucket_values=1048576", "collective=star",
           *options.set]
    with tempfile.TemporaryDirectory(prefix="tributary-rate-") as folder:
        data = make_data(options.build, folder, making)
        print(f"{options.model}, {AGENTS} agents, {options.rounds} rounds: bytes of an agent in a "
              "round up and down, loss and accuracy on the test set")
        codecs = options.codec or CODECS
        runs = {codec: [] for codec in codecs}
        for seed in options.seed or [1, 2, 3]:
            for codec in codecs:
                journal = train(options.build, tempfile.mkdtemp(dir=folder), data,
                                [*job, f"codec={codec}", f"seed={seed}"], AGENTS)
                run = (*bytes_of_agent(journal), last_metric(journal, "loss"),
                       last_metric(journal, "accuracy"))
                runs[codec].append(run)
                print(f"seed {seed} {codec:16} {run[0]:9.0f} {run[1]:9.0f} {run[2]:8.4f} "
                      f"{run[3]:8.4f}", flush=True)
        first = runs[codecs[0]]
        print(f"\n{'codec':16} {'up':>9} {'down':>9} {'of first':>8} {'loss':>8} {'accuracy':>8}  "
              f"loss less that of {codecs[0]}, by seed")
        traffic = statistics.mean(run[0] + run[1] for run in first)
        for codec in codecs:
            up, down, loss, accuracy = (statistics.mean(column) for column in zip(*runs[codec]))
            less = " ".join(f"{run[2] - base[2]:+.4f}" for run, base in zip(runs[codec], first))
            print(f"{codec:16} {up:9.0f} {down:9.0f} {(up + down) / traffic:8.3f} {loss:8.4f} "
                  f"{accuracy:8.4f}  {less}")


if __name__ == "__main__":
    main()
