#!/usr/bin/env python3
"""Whether the quickest collective is chosen: what `tributary plan collective` says, over links that
`tributary lab` makes, beside the measured time of everything that it could have said.

54 settings: latency, rate, share that is kept, parameters; four agents. In each the choice is between
top-k with places of each agent's own, by all-gather, and AR-Topk, all at one agent's places, by every
collective that adds. Buckets are as many as `plan collective` makes; it measures the codecs on this
machine before every setting. The star is left out: it needs a coordinator's line as well, and with one
like the agents' it moves more than the all-gather does and waits twice as long.

All contenders take a turn; those that come near the quickest take a second one, in the opposite order,
unless their rounds are so long that they hardly vary, and up to five where they are short. A round
lasts from its last rank's beginning to the last one's end, and a contender's time is the median. Who
could not win if its line did nothing but carry its payloads is not measured. Every rank of every turn
must end with the same sums.
"""

import argparse
import json
import os
import signal
import statistics
import sys
import time
from pathlib import Path
from typing import NamedTuple, Optional

from collectives import (OURS, OVERHEAD, Contender, Costs, Failure, Lab, Link, Programs, costs,
                         summary)

NODES = 4
LEVELS = 2  # in a binomial tree of four
ALPHAS_MS = (1, 10, 50)
RATES_MBIT = (1000, 100, 10)
RATIOS = (0.1, 0.01, 0.001)
PARAMS = {"1Mi": 1 << 20, "8Mi": 8 << 20}
NEAR = 1.2  # a contender within this factor of the fastest one gets a second turn
HOPELESS = 1.2  # a contender whose payloads alone take longer by this factor gets no turn
ROUNDS = (1, 12)  # minimum and maximum per turn
SHORT_S, SHORT_TURNS, SHORT_NEAR = 0.05, 5, 1.5  # short rounds wait for cores and vary by a third
LONG_S = 1  # rounds of this length vary so little that one turn is sufficient
ALIKE = 0.02  # median difference between two turns of one contender
SHARE_MIN, LOSS_MAX = 0.9, 0.1


class Setting(NamedTuple):
    alpha_ms: float
    mbit: float
    kept: float
    size: str  # a key of PARAMS

    def name(self) -> str:
        return f"{self.mbit:g} Mbit/s, {self.alpha_ms:g} ms, CR {self.kept:g}, {self.size}"

    def link(self) -> Link:
        return Link(self.name(), self.mbit, self.alpha_ms)


SETTINGS = [Setting(alpha_ms, mbit, kept, size) for mbit in RATES_MBIT for alpha_ms in ALPHAS_MS
            for kept in RATIOS for size in PARAMS]


def predicted(programs: Programs, setting: Setting, cost: Costs) -> dict:
    cores = min(1.0, (os.cpu_count() or 1) / NODES)
    return programs.json("plan", "collective", "--alpha-ms", f"{setting.alpha_ms:g}",
                         "--gbps", f"{setting.mbit / 1e3:g}", "--cr", f"{setting.kept:g}",
                         "--params", str(PARAMS[setting.size]), "--agents", str(NODES),
                         "--overhead", f"{OVERHEAD:.3f}", "--cores-per-agent", f"{cores:g}",
                         *cost.options(), "--measure")


def chosen(plan: dict) -> str:
    return min(OURS, key=lambda name: plan["predicted_s"][name])


def payload_s(plan: dict, name: str, setting: Setting) -> float:
    """Time of the busiest link for payloads alone, if they exceed the minimum of all
    collectives."""
    stages = plan["measured"][plan["codecs"][name]]["stages"]
    if name == "all_gather":
        size = (NODES - 1) * sum(stage["bytes_up"] for stage in stages)
    elif name == "tree":  # the root sends indices and sums to both children
        size = LEVELS * (stages[0]["bytes_up"] + stages[1]["bytes_down"])
    else:
        return 0
    return size * plan["buckets"] * 8 / (setting.mbit * 1e6)


# --- measuring ------------------------------------------------------------------------------------


class Turns:
    """The turns of one setting in one lab."""

    def __init__(self, lab: Lab, plan: dict, setting: Setting, seconds: float):
        self.lab, self.plan, self.setting, self.seconds = lab, plan, setting, seconds
        self.runs = {}

    def median_s(self, name: str) -> float:
        return summary(self.runs[name]).round_s

    def quickest_s(self) -> float:
        return min((self.median_s(name) for name in self.runs), default=float("inf"))

    def take(self, name: str) -> None:
        expected_s = self.plan["predicted_s"][name]
        rounds = max(ROUNDS[0], min(ROUNDS[1], int(self.seconds / expected_s)))
        warm_ups = 3 if expected_s < LONG_S / 5 else 1  # afterwards, TCP windows have grown
        values = -(-PARAMS[self.setting.size] // self.plan["buckets"])
        contender = Contender("tributary", name,
                              ("--codec", self.plan["codecs"][name], "--bucket-values", str(values),
                               "--warm-ups", str(warm_ups)), self.plan["codecs"][name])
        timeout_s = 60 + 20 * (rounds + warm_ups) * expected_s
        run = self.lab.run(contender, 4 * PARAMS[self.setting.size], rounds, timeout_s)
        self.runs.setdefault(name, []).append(run)

    def take_all(self) -> None:
        choice = chosen(self.plan)
        for name in sorted(OURS, key=lambda name: self.plan["predicted_s"][name]):
            least_s = payload_s(self.plan, name, self.setting)
            if name == choice or least_s <= HOPELESS * self.quickest_s():
                self.take(name)
        turns, near = (SHORT_TURNS, SHORT_NEAR) if self.quickest_s() <= SHORT_S else (2, NEAR)
        for turn in range(1, turns):
            names = list(self.runs)
            for name in reversed(names) if turn % 2 else names:
                if self.median_s(name) <= min(LONG_S, near * self.quickest_s()):
                    self.take(name)

    def measured(self) -> dict:
        return {name: {"round_s": self.median_s(name),
                       "turns_s": [summary([run]).round_s for run in runs]}
                for name, runs in self.runs.items()}


def measure(programs: Programs, setting: Setting, plan: dict, arguments) -> dict:
    with Lab(programs, setting.link(), NODES, arguments.congestion, arguments.lab) as lab:
        turns = Turns(lab, plan, setting, arguments.seconds)
        turns.take_all()
        return {"congestion_control": lab.congestion_control, "load": os.getloadavg()[0],
                "measured": turns.measured()}


class Kept:
    """Earlier measurements in a file, so that an interrupted run continues."""

    def __init__(self, path: Optional[Path]):
        self.path = path
        self.rows = {}
        if path and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                self.rows[row["setting"]] = row

    def keep(self, row: dict) -> None:
        if self.path:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


def row_of(programs: Programs, setting: Setting, kept: Kept, cost: Costs, arguments) -> dict:
    """Predictions are always computed again; only measurements are kept."""
    plan = predicted(programs, setting, cost)
    found = kept.rows.get(setting.name())
    if not found or chosen(plan) not in found["measured"]:
        found = {"setting": setting.name(), **measure(programs, setting, plan, arguments)}
        kept.keep(found)
    times = {name: one["round_s"] for name, one in found["measured"].items()}
    fastest, choice = min(times, key=times.get), chosen(plan)
    return {**found, **setting._asdict(), "params": PARAMS[setting.size],
            "predicted_s": {name: plan["predicted_s"][name] for name in OURS}, "choice": choice,
            "fastest": fastest, "loss": times[choice] / times[fastest] - 1}


# --- output
# -----------------------------------------------------------------------------------------


def cell(row: dict, name: str) -> str:
    one = row["measured"].get(name)
    mark = "*" if name == row["fastest"] else ""
    took = f"{one['round_s'] * 1e3:.1f}{mark}" if one else "-"
    return f"{took:>9}/{row['predicted_s'][name] * 1e3:<8.1f}"


def print_head() -> None:
    print("milliseconds measured / predicted; * the quickest measured; -: its payloads alone take longer\n"
          f"{'':34} " + " ".join(f"{name:^18}" for name in OURS) + "  choice")


def print_row(row: dict) -> None:
    verdict = "" if row["choice"] == row["fastest"] else f", {row['loss'] * 100:+.1f} %"
    print(f"{row['setting']:34} " + " ".join(cell(row, name) for name in OURS)
          + f"  {row['choice']}{verdict}", flush=True)


def turns_differ(rows: list) -> list:
    """Relative differences between the first two turns of each contender."""
    pairs = [one["turns_s"][:2] for row in rows for one in row["measured"].values()
             if len(one["turns_s"]) > 1]
    return [abs(a - b) / min(a, b) for a, b in pairs]


def outcome(rows: list) -> dict:
    differ = turns_differ(rows)
    return {"settings": len(rows),
            "fastest": sum(row["choice"] == row["fastest"] for row in rows),
            "alike": sum(row["loss"] <= ALIKE for row in rows),
            "loss_max": max(row["loss"] for row in rows),
            "lose_too_much": sum(row["loss"] >= LOSS_MAX for row in rows),
            "turns_differ_median": statistics.median(differ) if differ else None}


def print_outcome(one: dict) -> None:
    met = one["fastest"] >= SHARE_MIN * one["settings"] and one["lose_too_much"] == 0
    if one["turns_differ_median"] is not None:
        print(f"\ntwo turns of one contender differ by {one['turns_differ_median'] * 100:.1f} % (median)")
    print(f"the fastest chosen in {one['fastest']} of {one['settings']}, one within {ALIKE:.0%} of it in "
          f"{one['alike']}; worst loss {one['loss_max'] * 100:.1f} %; goal: {SHARE_MIN:.0%}, and "
          f"less than {LOSS_MAX:.0%} lost elsewhere: {'met' if met else 'MISSED'}")


# --- the command line -----------------------------------------------------------------------------


def parse(words: list) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build/release"),
                        help="where the programs are (build/release)")
    parser.add_argument("--only", action="append", metavar="WORDS",
                        help="only settings with this in their name, as it is printed: '10 ms, CR 0.01'")
    parser.add_argument("--seconds", type=float, default=1,
                        help=f"that a turn is to take; {ROUNDS[0]} to {ROUNDS[1]} rounds (1)")
    parser.add_argument("--kept", type=Path, metavar="FILE",
                        help="what is measured is added to it, and what it has is not measured again")
    parser.add_argument("--congestion", metavar="NAME",
                        help="TCP's congestion control in the nodes (the system's)")
    parser.add_argument("--lab", default="choices", help="name of the lab (choices)")
    parser.add_argument("--json", action="store_true", help="one JSON object, at the end")
    arguments = parser.parse_args(words)
    arguments.nodes = NODES
    return arguments


def main() -> int:
    arguments = parse(sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("choices: told to end"))
    if os.geteuid() != 0:
        sys.exit("choices: network namespaces need root; run it as root")
    chosen = [one for one in SETTINGS
              if not arguments.only or any(words in one.name() for words in arguments.only)]
    if not chosen:
        sys.exit("choices: no setting has such a name; one is " + SETTINGS[0].name())
    programs, kept, rows, started = Programs(arguments.build), Kept(arguments.kept), [], time.monotonic()
    try:
        cost = costs(programs, arguments)
        if not arguments.json:
            print_head()
        for at, setting in enumerate(chosen):
            rows.append(row_of(programs, setting, kept, cost, arguments))
            if not arguments.json:
                print_row(rows[-1])
            print(f"choices: {at + 1} of {len(chosen)}, {time.monotonic() - started:.0f} s",
                  file=sys.stderr, flush=True)
    except Failure as failure:
        sys.exit(f"choices: {failure}")
    if arguments.json:
        print(json.dumps({"schema_version": 1, "status": "ok",
                          "data": {**outcome(rows), **cost._asdict(), "rows": rows}}))
    else:
        print_outcome(outcome(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
