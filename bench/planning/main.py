#!/usr/bin/env python3
"""Everything that the planner must reach, beside what it reaches, from one command.

Parts, in this order; the live ones need root, a lab and a machine on which nothing else runs:

  c1, c2           real training over both traces of the AR-Topk paper, with the planner and with nine
                   fixed choices (bench/adaptive.py)
  demo             the demonstration with the planner and with eight fixed choices, to 90 % accuracy
  c1_busy          c1 while another program keeps one core busy
  demo_busy        the demonstration in the same way
  flapping, fading the two other traces, as c1
  choices          whether the collective with the shortest prediction is the fastest (bench/choices.py)
  fusion           groups of tensors in rounds (bench/fusion.py)
  closed_loop      virtual time (bench/closed_loop.py); needs neither root nor a quiet machine

An estimate stands before each part. Results of single runs are kept in a file, and --resume measures
only what it lacks. The last table has each goal with the figure wanted, the measured one and whether it
is met.
"""

import argparse
import contextlib
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
from collectives import Failure  # noqa: E402
import loop_part  # noqa: E402
import settings_parts  # noqa: E402
from live import DEMO_ACCURACY, DEMO_FIXED, TRACE_FIXED, BusyCore, DemoRuns, TraceRuns  # noqa: E402
from race import BEST_MAX, BUSY_MAX, Race, estimated_s  # noqa: E402
from rows import MISSED, NOT_MEASURED, table  # noqa: E402
from store import Store  # noqa: E402

DEMO_MAX = 1.15
TARGET = 0.85  # accuracy of a run over a trace
SHORT_TARGET, SHORT_ACCURACY, SHORT_ROUNDS = 0.12, 0.05, 24
LIMIT_S = 90  # of a run
TRACE_START_S, DEMO_START_S = 4, 7


class Live(NamedTuple):
    """A race with real processes."""

    what: str
    usual_s: float  # of a good run
    trace: str = ""  # empty: the demonstration
    busy: bool = False
    best_max: float = BEST_MAX


LIVE = {
    "c1": Live("training over C1", 11, "c1"),
    "c2": Live("training over C2", 11, "c2"),
    "demo": Live("the demonstration", 16, best_max=DEMO_MAX),
    "c1_busy": Live("training over C1, one core busy", 15, "c1", busy=True, best_max=BUSY_MAX),
    "demo_busy": Live("the demonstration, one core busy", 25, busy=True, best_max=BUSY_MAX),
    "flapping": Live("training over a link that flaps", 12, "flapping"),
    "fading": Live("training over a link that fades", 14, "fading"),
}
PARTS = [*LIVE, "choices", "fusion", "closed_loop"]


class LivePart:
    def __init__(self, name: str, options: argparse.Namespace, store: Store):
        self.name, self.options, self.live = name, options, LIVE[name]
        self.seeds = list(range(1, options.seeds + 1))
        self.needs_root = bool(self.live.trace)
        fixed = TRACE_FIXED if self.live.trace else DEMO_FIXED
        # On a busy machine only what was the best on a quiet one can be the best.
        fixed = fixed[:3] if self.live.busy else fixed
        self.fixed = fixed[:2] if options.short else fixed
        self.start_s = TRACE_START_S if self.live.trace else DEMO_START_S
        self.race = Race(store, name, self.fixed, self.run_one)
        self.runs = None

    def estimate_s(self) -> float:
        if self.options.short:
            return 60
        return estimated_s(len(self.fixed), len(self.seeds), self.live.usual_s, self.start_s)

    def run_one(self, choice: str, seed: int, limit_s: float):
        with BusyCore() if self.live.busy else contextlib.nullcontext():
            return self.runs.run(choice, seed, limit_s)

    def measure(self) -> None:
        short, build = self.options.short, self.options.build
        with tempfile.TemporaryDirectory(prefix="tributary-plan-") as folder:
            if self.live.trace:
                self.runs = TraceRuns(build, self.options.lab, ROOT / f"docs/traces/{self.live.trace}.csv",
                                      SHORT_TARGET if short else TARGET, Path(folder))
            else:
                self.runs = DemoRuns(build, Path(folder), SHORT_ROUNDS if short else None,
                                     SHORT_ACCURACY if short else DEMO_ACCURACY)
            self.race.hold(self.seeds, 40 if short else LIMIT_S)

    def rows(self) -> list:
        return self.race.rows(self.seeds, self.name, self.live.best_max,
                              median=bool(self.live.trace) and not self.live.busy)


def part_of(name: str, options: argparse.Namespace, store: Store):
    if name in LIVE:
        return LivePart(name, options, store)
    if name == "choices":
        return settings_parts.Choices(options, store)
    if name == "fusion":
        return settings_parts.Fusion(options, store)
    return loop_part.ClosedLoop(options, store)


def lacking(part) -> str:
    """The reason why a part cannot run here; empty if it can."""
    if not part.needs_root:
        return ""
    if os.geteuid() != 0:
        return "a lab needs root"
    return "" if Path("/dev/net/tun").exists() else "there is no /dev/net/tun"


def minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench plan", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="PART", choices=PARTS,
                        help="this part; may be repeated")
    parser.add_argument("--seeds", type=int, default=3, help="of live runs (3; the goals say 5)")
    parser.add_argument("--loop-seed", type=int, default=1, metavar="N",
                        help="first seed of the closed loop (1); reserved seeds begin at 100001")
    parser.add_argument("--loop-seeds", type=int, default=4, metavar="N", help="seeds of the closed loop (4)")
    parser.add_argument("--resume", action="store_true", help="measure only what the file of results lacks")
    parser.add_argument("--results", type=Path, metavar="FILE",
                        help="results of single runs (plan_results.jsonl beside the build)")
    parser.add_argument("--short", action="store_true",
                        help="the shortest form of each part, to see that it works; its figures mean nothing")
    parser.add_argument("--estimate", action="store_true", help="print the estimates, and measure nothing")
    parser.add_argument("--lab", default="plan", help="name of the lab (plan)")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release",
                        help="the programs (build/release)")
    options = parser.parse_args()
    options.build = options.build.resolve()
    if options.seeds < 1 or options.loop_seeds < 1:
        parser.error("--seeds and --loop-seeds must be at least 1")
    if options.short:
        options.seeds = options.loop_seeds = 1
    # Short figures are never taken for others.
    name = "plan_results_short.jsonl" if options.short else "plan_results.jsonl"
    options.results = options.results or options.build.parent / name
    return options


def commit() -> str:
    done = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True,
                          text=True, check=False)
    return done.stdout.strip() or "unknown"


def main() -> int:
    options = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench plan: told to end; --resume goes on"))
    store = Store(options.results, options.resume or options.estimate)
    parts = [part_of(name, options, store) for name in PARTS if not options.only or name in options.only]
    print(f"{os.cpu_count()} cores, {platform.machine()}, load {os.getloadavg()[0]:.1f}, commit {commit()}, "
          f"programs of {options.build}")
    total_s = sum(part.estimate_s() for part in parts)
    for part in parts:
        print(f"  {part.name:12} about {minutes(part.estimate_s())}")
    print(f"  together     about {minutes(total_s)}; results go to {options.results}", flush=True)
    failed = []
    for part in parts if not options.estimate else []:
        why = lacking(part)
        print(f"\n{part.name}, about {minutes(part.estimate_s())}{': skipped, because ' + why if why else ''}",
              flush=True)
        if why:
            continue
        began = time.monotonic()
        try:
            part.measure()
        except Failure as failure:
            failed.append(part.name)
            print(f"bench plan: {part.name}: {failure}", file=sys.stderr)
        print(f"{part.name} took {minutes(time.monotonic() - began)}", flush=True)
    rows = [row for part in parts for row in part.rows()]
    print(f"\n{table(rows)}\n")
    counts = [sum(row.verdict == verdict for row in rows) for verdict in (MISSED, NOT_MEASURED)]
    print(f"{len(rows)} goals: {len(rows) - sum(counts)} met, {counts[0]} missed, {counts[1]} not measured"
          f"{'; short runs, whose figures mean nothing' if options.short else ''}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
