#!/usr/bin/env python3
"""The bytes and the loss of THC with a rate in training: real daemons train one model with each
codec over the same seeds, beside fixed widths, 3LC and top-k."""

import argparse
import os
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile

# Data, and the settings of a job, by model.
MODELS = {
    "chargpt": (["text", "--count", "200000", "--test-count", "20000"], [
        "model=chargpt:width=64,depth=2,heads=4", "task=next_token", "input='64'", "classes=97",
        "batch_size=16", "mode=gradient", "local_steps=1", "optimizer=adamw",
        "learning_rate=0.002", "schedule=cosine:warmup=5"]),
    "resnet20": (["shapes", "--count", "4000", "--test-count", "500"], [
        "model=resnet20", "task=classification", "input='3x32x32'", "classes=10", "batch_size=16",
        "mode=gradient", "local_steps=1", "optimizer=momentum", "learning_rate=0.05",
        "schedule=cosine:warmup=5"]),
}
CODECS = ["fp32", "thc:bits=4", "thc:rate=2", "thc:rate=1", "thc:bits=2", "thc:rate=0.5",
          "thc:rate=4", "thc:rate=3", "thc:bits=3", "thc:bits=1", "threelc", "topk:cr=0.05",
          "thc:rate=1.5"]
AGENTS = 3


def settings(pairs):
    return [word for pair in pairs for word in ("-s", pair)]


def result(journal):
    """Mean bytes of an agent in a round up and down, and the loss of the last model on the test
    set."""
    with sqlite3.connect(f"file:{journal}?mode=ro", uri=True) as run:
        # A report holds the bytes of the round before.
        up, down = run.execute("SELECT avg(bytes_up), avg(bytes_down) FROM agent_rounds "
                               "WHERE round > 1").fetchone()
        loss = run.execute("SELECT value FROM metrics WHERE name = 'evaluation_loss' "
                           "ORDER BY round DESC LIMIT 1").fetchone()[0]
    return up, down, loss


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def play(build, folder, data, job):
    """Runs one federation to its end and returns its result()."""
    common = ["--exit-when-done", "-s", "link.encrypted=false", "-s", "journal.sync=false"]
    journal = os.path.join(folder, "coordinator.db")
    endpoint = f"tcp://127.0.0.1:{free_port()}"
    with open(os.path.join(folder, "log"), "w", encoding="utf-8") as log:
        coordinator = subprocess.Popen(
            [os.path.join(build, "coordinator", "tributary-coordinator"), *common, *settings([
                f"journal.file={journal}", f"link.endpoint={endpoint}", f"evaluation.path={data}",
                "evaluation.threads=1", *(f"job.{pair}" for pair in job)])], stderr=log)
        agents = [subprocess.Popen(
            [os.path.join(build, "edge_agent", "tributary-agent"), *common, *settings([
                f"agent_id=agent-{i}", f"journal.file={folder}/agent-{i}.db",
                f"link.coordinator={endpoint}", "peers.endpoint=tcp://127.0.0.1:0",
                "trainer.name=torch", "trainer.threads=1", f"data.path={data}",
                f"data.shard={i}", f"data.shards={AGENTS}", "data.evaluate=false"])], stderr=log)
            for i in range(AGENTS)]
        failed = coordinator.wait() != 0
        for agent in agents:
            if failed:
                agent.terminate()
            failed = agent.wait() != 0 or failed
    if failed:
        with open(log.name, encoding="utf-8") as lines:
            sys.exit(f"rate_curves: a process failed:\n{''.join(lines.readlines()[:20])}")
    return result(journal)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--model", choices=MODELS, default="chargpt")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                        help="a further setting of the job")
    parser.add_argument("--codec", action="append", help="instead of the usual ones")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    making, job = MODELS[options.model]
    job = [*job, f"name={options.model}", f"rounds={options.rounds}",
           f"evaluate_every={options.rounds}", "bucket_values=1048576", "collective=star",
           f"agents_min={AGENTS}", *options.set]
    with tempfile.TemporaryDirectory(prefix="tributary-rate-") as folder:
        data = os.path.join(folder, "data")
        subprocess.run([os.path.join(options.build, "cli", "tributary"), "data", "make", *making,
                        "--out", data], check=True, stdout=subprocess.DEVNULL)
        print(f"{options.model}, {AGENTS} agents, {options.rounds} rounds: bytes of an agent in a "
              "round up and down, loss on the test set")
        codecs = options.codec or CODECS
        runs = {codec: [] for codec in codecs}
        for seed in range(1, options.seeds + 1):
            for codec in codecs:
                up, down, loss = play(options.build, tempfile.mkdtemp(dir=folder), data,
                                      [*job, f"codec={codec}", f"seed={seed}"])
                runs[codec].append((up, down, loss))
                print(f"seed {seed} {codec:16} {up:9.0f} {down:9.0f} {loss:8.4f}", flush=True)
        print(f"\n{'codec':16} {'up':>9} {'down':>9} {'loss':>8} less that of {codecs[0]}, by seed")
        for codec in codecs:
            up, down, loss = (statistics.mean(column) for column in zip(*runs[codec]))
            less = " ".join(f"{run[2] - base[2]:+.4f}"
                            for run, base in zip(runs[codec], runs[codecs[0]]))
            print(f"{codec:16} {up:9.0f} {down:9.0f} {loss:8.4f}  {less}")


if __name__ == "__main__":
    main()
