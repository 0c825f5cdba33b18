#!/usr/bin/env python3
"""Training that is real, over lines that change: a planner that follows them beside choices that stay.

A coordinator and four agents on nodes of `tributary lab` train a small network on drawn digits. Each
agent's line follows a trace (docs/traces), at a tenth of its rates, for the network is a tenth of those
that the trace was scaled for, and at half of its times, so that a run sees all of it; the coordinator's
is as fast as the machine. Runs differ in who plans and in nothing else: the job's seed, the trace and
where it begins are the same. Fixed choices are each on the collective that `tributary plan collective`
finds quickest, with its phases weighed by how long they last.

The result is the time from the start of the first round until the mean of three successive
evaluations by the coordinator has reached the target.
"""

import argparse
import json
import os
import re
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple, Optional

from collectives import OVERHEAD, Programs
from daemons import Federation
from lab_nodes import Failure, LabNodes

LAB = "adaptive"
AGENTS = 4
PARAMETERS = 784 * 128 + 128 + 128 * 10 + 10
FIXED = ["fp32", "fp16", "thc:bits=4", "gcomp", "topk:cr=0.1", "topk:cr=0.01", "star_topk:cr=0.1",
         "star_topk:cr=0.01", "threelc"]
ADAPTIVE = "adaptive"
COLLECTIVES = ["star", "sharded_star", "ring", "tree", "halving_doubling", "all_gather"]
RATE_SHARE, TIME_SHARE = 0.1, 0.5  # relative to the trace
EVALUATIONS = 3
MOST_TO_BEST, MOST_TO_MEDIAN = 1.05, 0.75


class Phase(NamedTuple):
    lasts_s: float
    mbit: float
    delay_ms: float  # per link; a packet between agents crosses two
    loss_percent: float

    def text(self) -> str:
        return f"{self.lasts_s:g}, {self.mbit:g}, {self.delay_ms:g}, {self.loss_percent:g}"


class Choice(NamedTuple):
    name: str
    codec: str
    collective: str
    planning: str


class Run(NamedTuple):
    seconds: Optional[float]  # None: the target was not reached
    rounds: int
    accuracy: float  # the best mean of consecutive evaluations
    rounds_by: dict  # number of rounds by collective and codec


def read_trace(path: Path) -> list:
    lines = (line.split("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    rows = [[float(word) for word in line.split(",")] for line in lines if line[:1].isdigit()]
    return [Phase(lasts * TIME_SHARE, mbit * RATE_SHARE, delay, loss)
            for lasts, mbit, delay, loss in rows]


# --- collective of a fixed choice
# -------------------------------------------------------------------


def predicted_s(programs: Programs, codec: str, phase: Phase, links: int) -> dict:
    return programs.json("plan", "collective", "--alpha-ms", f"{phase.delay_ms * links:g}",
                         "--gbps", f"{phase.mbit / 1e3:g}", "--hub-gbps", "10",
                         "--params", str(PARAMETERS), "--agents", str(AGENTS), "--codec", codec,
                         "--overhead", f"{OVERHEAD:.3f}")["predicted_s"]


def best_collective(programs: Programs, codec: str, phases: list) -> str:
    """A packet to the coordinator crosses one slow link, a packet to another agent crosses two."""
    total = dict.fromkeys(COLLECTIVES, 0.0)
    for phase in phases:
        far = predicted_s(programs, codec, phase, 2)
        near = predicted_s(programs, codec, phase, 1)
        for name in COLLECTIVES:
            total[name] += phase.lasts_s * (near if name == "star" else far)[name]
    return min(total, key=total.get)


def choices(programs: Programs, phases: list, only: Optional[list]) -> list:
    adaptive = Choice(ADAPTIVE, "", "star", "adaptive")  # begins as any job that names no codec
    names = [ADAPTIVE, *FIXED]
    chosen = [name for name in names if not only or name in only]
    if not chosen:
        raise Failure(f"no such choice; there are {', '.join(names)}")
    return [adaptive if name == ADAPTIVE else
            Choice(name, name, best_collective(programs, name, phases), "fixed") for name in chosen]


# --- one federation -------------------------------------------------------------------------------


def job_settings(arguments, choice: Choice) -> list:
    job = {"name": "digits", "rounds": 100_000, "model": "mlp:hidden=128,depth=1", "input": "1x28x28",
           "classes": 10, "mode": "gradient", "optimizer": "momentum", "learning_rate": arguments.learning_rate,
           "local_steps": arguments.local_steps, "batch_size": 32, "codec": choice.codec,
           "collective": choice.collective, "planning": choice.planning, "evaluate_every": 5,
           "agents_min": AGENTS, "quorum": 1.0, "seed": arguments.seed}
    return [f"job.{key}={value}" for key, value in job.items()]


def federation_in(lab: LabNodes, arguments, folder: Path, choice: Choice) -> Federation:
    data = f"data.path={arguments.digits}"
    agents = [[f"peers.endpoint=tcp://{address}:4650", "trainer.name=torch", "trainer.threads=1", data,
               f"data.shard={shard}", f"data.shards={AGENTS}", "data.evaluate=false"]
              for shard, address in enumerate(lab.addresses[1:])]
    return Federation(str(arguments.build), str(folder), ["journal.durability=stop", "link.encrypted=false"],
                      [f"evaluation.path={arguments.digits}", "evaluation.threads=1",
                       *job_settings(arguments, choice)], agents, inside=lab.command, address=lab.addresses[0])


def accuracies_in(log: str) -> list:
    """Pairs of round and accuracy from the log, which has them earlier than the journal."""
    return [(int(version), float(accuracy)) for version, accuracy in
            re.findall(r" evaluated .*\bmodel_version=(\d+) .*\baccuracy=(\S+) ", log)]


def in_a_row(accuracies: list) -> list:
    """Pairs of round and mean of the evaluations up to it."""
    return [(accuracies[at][0],
             statistics.mean(one for _, one in accuracies[at + 1 - EVALUATIONS:at + 1]))
            for at in range(EVALUATIONS - 1, len(accuracies))]


def reached(accuracies: list, target: float) -> Optional[int]:
    return next((at for at, mean in in_a_row(accuracies) if mean >= target), None)


def outcome_of(journal_file: str, accuracies: list, target: float) -> Run:
    with sqlite3.connect(f"file:{journal_file}?mode=ro", uri=True) as journal:
        rounds = {row[0]: row[1:] for row in journal.execute(
            "SELECT round, began_at_ns, committed_at_ns FROM rounds")}
        by = dict(journal.execute(
            "SELECT collectives || ' ' || codecs, count(*) FROM plans GROUP BY 1 ORDER BY 2 DESC"))
    at = reached(accuracies, target)
    seconds = None if at is None else (rounds[at][1] - rounds[min(rounds)][0]) * 1e-9
    best = max((mean for _, mean in in_a_row(accuracies)), default=0)
    return Run(seconds, at or len(rounds), best, by)


def keep(journal: str, as_file: Path) -> None:
    """Copies the journal, including its log, to a file for `tributary plan replay` and the
    dashboard."""
    as_file.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(journal) as from_, sqlite3.connect(as_file) as to:
        from_.backup(to)


def run(arguments, choice: Choice, trace: Path) -> Run:
    nodes = [word for agent in range(1, AGENTS + 1) for word in ("--node", f"{agent}:trace={trace}")]
    with tempfile.TemporaryDirectory(prefix="tributary-adaptive-") as folder:
        with LabNodes(str(arguments.build / "cli/tributary"), LAB, AGENTS + 1, nodes) as lab, \
                federation_in(lab, arguments, Path(folder), choice) as federation:
            end = time.monotonic() + arguments.seconds_max
            accuracies = []
            while time.monotonic() < end and reached(accuracies, arguments.target) is None:
                time.sleep(0.5)
                federation.check("it reached the target")
                accuracies = accuracies_in(federation.coordinator.log())
        if arguments.keep:
            keep(federation.journal, arguments.keep / f"{choice.name}.db")
        return outcome_of(federation.journal, accuracies, arguments.target)


# --- output
# -----------------------------------------------------------------------------------------


def row_text(choice: Choice, done: Run) -> str:
    took = f"{done.seconds:7.1f} s" if done.seconds is not None else "      never"
    on = choice.collective if choice.planning == "fixed" else \
        ", ".join(f"{count} {name}" for name, count in done.rounds_by.items())
    return f"{choice.name:20} {took} {done.rounds:6} rounds  {done.accuracy * 100:5.1f} %  {on}"


def verdict(rows: dict, seconds_max: float) -> Optional[dict]:
    """A run that has not reached the target counts with the time for which it was watched, a lower
    bound."""
    fixed = [seconds_max if done.seconds is None else done.seconds
             for choice, done in rows.items() if choice.planning == "fixed"]
    adaptive = next((done for choice, done in rows.items() if choice.name == ADAPTIVE), None)
    if not fixed or adaptive is None or adaptive.seconds is None:
        return None
    to_best, to_median = adaptive.seconds / min(fixed), adaptive.seconds / statistics.median(fixed)
    return {"to_best": to_best, "to_median": to_median,
            "met": to_best <= MOST_TO_BEST and to_median <= MOST_TO_MEDIAN}


def print_verdict(one: Optional[dict]) -> None:
    if one is None:
        print("\nadaptive beside fixed: not both reached the target")
        return
    print(f"\nadaptive, to the best fixed one: {one['to_best']:.2f} (limit {MOST_TO_BEST}), "
          f"to the median: {one['to_median']:.2f} (limit {MOST_TO_MEDIAN}): "
          f"{'met' if one['met'] else 'MISSED'}")


# --- the command line -----------------------------------------------------------------------------


def parse(words: list) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build/release"),
                        help="where the programs are (build/release)")
    parser.add_argument("--trace", type=Path, default=Path("docs/traces/c1.csv"),
                        help="that lines follow (docs/traces/c1.csv)")
    parser.add_argument("--only", action="append", metavar="CHOICE",
                        help=f"'{ADAPTIVE}', or one codec as it is printed; may be repeated")
    parser.add_argument("--target", type=float, default=0.85, help="accuracy (0.85)")
    parser.add_argument("--seconds-max", type=float, default=65, help="of a run, with its start (65)")
    parser.add_argument("--learning-rate", type=float, default=0.05, help="(0.05)")
    parser.add_argument("--local-steps", type=int, default=2, help="batches of a round (2)")
    parser.add_argument("--seed", type=int, default=1, help="of the job (1)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="for the journals of all runs")
    parser.add_argument("--json", action="store_true", help="one JSON object, at the end")
    arguments = parser.parse_args(words)
    arguments.build = arguments.build.resolve()
    return arguments


def draw_digits(arguments, folder: Path) -> None:
    arguments.digits = folder / "digits"
    subprocess.run([str(arguments.build / "cli/tributary"), "data", "make", "digits",
                    "--out", str(arguments.digits), "--count", "4000", "--test-count", "800"],
                   capture_output=True, text=True, check=True)


def compare(arguments, folder: Path) -> dict:
    programs = Programs(arguments.build)
    draw_digits(arguments, folder)
    phases = read_trace(arguments.trace)
    trace = folder / "trace.csv"
    trace.write_text("\n".join(["seconds, mbit_per_s, delay_ms, loss_percent",
                                *(phase.text() for phase in phases)]) + "\n", encoding="utf-8")
    rows = {}
    for choice in choices(programs, phases, arguments.only):
        rows[choice] = run(arguments, choice, trace)
        print(row_text(choice, rows[choice]), flush=True,
              file=sys.stderr if arguments.json else sys.stdout)
    return rows


def main() -> int:
    arguments = parse(sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("adaptive: told to end"))
    if os.geteuid() != 0:
        sys.exit("adaptive: network namespaces need root; run it as root")
    try:
        with tempfile.TemporaryDirectory(prefix="tributary-adaptive-") as folder:
            rows = compare(arguments, Path(folder))
    except Failure as failure:
        sys.exit(f"adaptive: {failure}")
    one = verdict(rows, arguments.seconds_max)
    if arguments.json:
        print(json.dumps({"schema_version": 1, "status": "ok", "data": {
            "target": arguments.target, "verdict": one,
            "runs": [{**choice._asdict(), **done._asdict()} for choice, done in rows.items()]}}))
    else:
        print_verdict(one)
    return 0


if __name__ == "__main__":
    sys.exit(main())
