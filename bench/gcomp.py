#!/usr/bin/env python3
"""The bytes and the loss of GComp in a job: real daemons train a character transformer, and each
codec is compared with dense float32 over the same seeds."""

import argparse
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile

JOB = ["model=chargpt:width=64,depth=2,heads=4", "task=next_token", "input='64'", "classes=97",
       "batch_size=16", "bucket_values=65536"]
# The server's optimizer of the mode delta is that of `strategy`; an agent's starts anew each round.
MODES = {"gradient": ["learning_rate=0.001", "schedule=cosine:warmup=5", "local_steps=1"],
         "delta": ["learning_rate=0.001", "schedule=constant", "local_steps=4"]}
CODECS = ["fp32", "gcomp:truncation=none", "gcomp:truncation=metric", "gcomp"]
AGENTS = 3


def settings(pairs):
    return [word for pair in pairs for word in ("-s", pair)]


def result(journal):
    """Mean bytes that an agent sent in a round, and the loss of the last model on held-out text."""
    with sqlite3.connect(f"file:{journal}?mode=ro", uri=True) as run:
        # A report holds the bytes of the round before.
        sent = run.execute("SELECT avg(bytes_up) FROM agent_rounds WHERE round > 1").fetchone()[0]
        loss = run.execute("SELECT value FROM metrics WHERE name = 'evaluation_loss' "
                           "ORDER BY round DESC LIMIT 1").fetchone()[0]
    return sent, loss


def play(build, folder, data, job):
    """Runs one federation to its end and returns its result()."""
    common = ["--exit-when-done", "-s", "link.encrypted=false", "-s", "journal.sync=false"]
    journal = os.path.join(folder, "coordinator.db")
    with open(os.path.join(folder, "coordinator.log"), "w", encoding="utf-8") as log:
        coordinator = subprocess.Popen(
            [os.path.join(build, "coordinator", "tributary-coordinator"), *common, *settings([
                f"journal.file={journal}", "link.endpoint=tcp://127.0.0.1:18650",
                f"evaluation.path={data}", "evaluation.threads=1",
                *(f"job.{pair}" for pair in job)])], stderr=log)
        agents = [subprocess.Popen(
            [os.path.join(build, "edge_agent", "tributary-agent"), *common, *settings([
                f"agent_id=agent-{i}", f"journal.file={folder}/agent-{i}.db",
                "link.coordinator=tcp://127.0.0.1:18650", "peers.endpoint=tcp://127.0.0.1:0",
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
            sys.exit(f"gcomp: a process failed:\n{''.join(lines.readlines()[:20])}")
    return result(journal)


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
           f"optimizer={options.optimizer}", f"agents_min={AGENTS}", *options.set]
    with tempfile.TemporaryDirectory(prefix="tributary-gcomp-") as folder:
        data = os.path.join(folder, "text")
        subprocess.run([os.path.join(options.build, "cli", "tributary"), "data", "make", "text",
                        "--out", data, "--count", "200000", "--test-count", "20000"],
                       check=True, stdout=subprocess.DEVNULL)
        print(f"{options.collective}, {options.mode}, {options.optimizer}, "
              f"{options.rounds} rounds, {options.seeds} seeds")
        print(f"{'codec':24} {'bytes a round':>14} {'of first':>9}  loss by seed; less that of the "
              "first codec")
        first = None
        for codec in options.codec or CODECS:
            runs = [play(options.build, tempfile.mkdtemp(dir=folder), data,
                         [*job, f"codec={codec}", f"seed={seed + 1}"])
                    for seed in range(options.seeds)]
            first = first or runs
            sent = statistics.mean(run[0] for run in runs)
            share = sent / statistics.mean(run[0] for run in first)
            losses = " ".join(f"{run[1]:.4f}" for run in runs)
            less = " ".join(f"{run[1] - base[1]:+.4f}" for run, base in zip(runs, first))
            print(f"{codec:24} {sent:14.0f} {share:9.3f}  {losses}; {less}", flush=True)


if __name__ == "__main__":
    main()
