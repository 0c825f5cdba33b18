#!/usr/bin/env python3
"""Rounds of jobs by their setting `fusion`, over slow links: four agents in a lab, each behind a
link of one rate, and a coordinator without a limit train with gradients of one batch, so that groups
of layers are sent while backward still runs.

Every setting of `fusion` takes turns with the others, in the opposite order each second time. A
round lasts from its plan to its commit, and a turn's time is the median of its rounds after the
profile. The spread is what the turns of the best of the other settings differ by. Hidden is the
share of the time that the groups' bytes need on the agent's uplink that a round did not take beside
training. Needs root, and a machine on which nothing else runs."""

import argparse
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from typing import NamedTuple

from lab_nodes import LabNodes
from training import command_of, make_data, train

AGENTS = 4
LAB = "fusion"
# Rounds of the profile, and those in which caches and TCP windows still grow.
WARM = 12
LAYERWISE, WHOLE, OPTIMAL = "layerwise", "whole", "optimal"
SETTINGS = [LAYERWISE, WHOLE, "even:4", OPTIMAL]
CODECS = ["topk:cr=0.01", "ef_signsgd", "onebit", "thc:bits=4"]
MODELS = {
    # Many small layers: where every layer is a group, starting them takes most of a round.
    "deepgpt": (["text", "--count", "50000", "--test-count", "1000"], [
        "model=chargpt:width=16,depth=16,heads=2", "task=next_token", "input='64'", "classes=97",
        "batch_size=1"]),
    "chargpt": (["text", "--count", "50000", "--test-count", "1000"], [
        "model=chargpt:width=128,depth=4,heads=4", "task=next_token", "input='64'", "classes=97",
        "batch_size=4"]),
    "resnet20": (["shapes", "--count", "2000", "--test-count", "100"], [
        "model=resnet20", "task=classification", "input='3x32x32'", "classes=10", "batch_size=8"]),
}
RATES_MBIT = {"resnet20": (100, 1000), "deepgpt": (5,), "chargpt": (100, 1000)}


def job_settings(usual, rounds, collective="star"):
    """Of a job whose groups may go out while backward still runs."""
    return [*usual, "name=fusion", "mode=gradient", "local_steps=1", "optimizer=momentum",
            "learning_rate=0.01", f"rounds={rounds}", f"collective={collective}"]


class Turn(NamedTuple):
    round_s: float
    training_s: float
    groups: float
    early: float        # groups that were encoded before the update was whole, mean of the agents
    uplink_bytes: float


def facts(build, journal, number):
    """The groups of a round, and the mean number of early ones of its agents."""
    shown = subprocess.run([command_of(build), "job", "show", "fusion", "--run", journal, "--round",
                            str(number), "--json"], check=True, stdout=subprocess.PIPE).stdout
    mechanisms = json.loads(shown)["data"]["mechanisms"]
    groups = sum(mechanisms["coordinator"].get("fused", {}).values())
    early = [agent.get("buckets_early", 0) for agent in mechanisms["agents"].values()]
    return groups, statistics.mean(early or [0])


def turn_of(build, journal):
    with sqlite3.connect(f"file:{journal}?mode=ro", uri=True) as run:
        rounds = [row[0] for row in run.execute(
            "SELECT (committed_at_ns - began_at_ns) / 1e9 FROM rounds WHERE round > ?", (WARM,))]
        training, sent = run.execute(
            "SELECT avg(slowest), avg(bytes) FROM (SELECT max(compute_s) AS slowest, "
            "avg(bytes_up) AS bytes FROM agent_rounds WHERE round > ? GROUP BY round)",
            (WARM,)).fetchone()
        last = run.execute("SELECT max(round) FROM rounds").fetchone()[0]
    return Turn(statistics.median(rounds), training, *facts(build, journal, last - 1), sent)


def hidden(turn, rate):
    """Of the time that the bytes need on an uplink of `rate` bit/s; at least 0."""
    needed = turn.uplink_bytes * 8 / rate
    return max(0.0, 1 - max(0.0, turn.round_s - turn.training_s) / needed)


def compared(runs, rate):
    """The settings of one case: whether the solver's groups take at most as long as the best other
    setting, within the spread of that setting's turns, its speed-up on layer-wise groups, and the
    share of a layer-wise round that starting its groups takes, by the difference to one group."""
    medians = {name: statistics.median(turn.round_s for turn in turns)
               for name, turns in runs.items()}
    best = min((name for name in medians if name != OPTIMAL), key=medians.get)
    spread = max(turn.round_s for turn in runs[best]) - min(turn.round_s for turn in runs[best])
    lines = []
    for name, turns in runs.items():
        middle = sorted(turns)[len(turns) // 2]
        lines.append(
            f"  {name:10} {1e3 * medians[name]:8.1f} ms, {medians[name] / medians[best]:.3f} of "
            f"{best}; training {1e3 * middle.training_s:.1f} ms; {middle.groups:g} groups, "
            f"{middle.early:.1f} early; hidden {hidden(middle, rate):.2f}")
    case = {"lines": lines, "text": "", "kept": True, "to_layerwise": None, "alpha_share": None}
    if OPTIMAL not in medians:
        return case
    case["kept"] = medians[OPTIMAL] <= medians[best] + spread
    gain = ""
    if LAYERWISE in medians:
        case["to_layerwise"] = medians[LAYERWISE] / medians[OPTIMAL]
        gain = f", {case['to_layerwise']:.2f} x layerwise"
    if LAYERWISE in medians and WHOLE in medians:
        groups = [statistics.median(turn.groups for turn in runs[name]) for name in (LAYERWISE, WHOLE)]
        alpha_s = (medians[LAYERWISE] - medians[WHOLE]) / max(groups[0] - groups[1], 1)
        case["alpha_share"] = max(0.0, alpha_s * groups[0] / medians[LAYERWISE])
    case["text"] = (f"optimal {'within' if case['kept'] else 'NOT within'} the spread of {best}, "
                    f"{1e3 * spread:.1f} ms{gain}")
    return case


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--model", action="append", choices=MODELS, help="instead of all")
    parser.add_argument("--codec", action="append", help=f"instead of {', '.join(CODECS)}")
    parser.add_argument("--mbit", action="append", type=float,
                        help="of an agent's link (100 and 1000; 5 with deepgpt)")
    parser.add_argument("--fusion", action="append", help=f"instead of {', '.join(SETTINGS)}")
    parser.add_argument("--collective", default="star", help="(%(default)s)")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--lab", default=LAB, help=f"name of the lab ({LAB})")
    parser.add_argument("--json", action="store_true", help="one JSON object, at the end")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("fusion: a lab needs root; run it with sudo")
    cases = []
    names = options.fusion or SETTINGS
    with tempfile.TemporaryDirectory(prefix="tributary-fusion-") as folder:
        for model in options.model or MODELS:
            making, usual = MODELS[model]
            data = make_data(options.build, tempfile.mkdtemp(dir=folder), making)
            job = job_settings(usual, options.rounds, options.collective)
            for mbit in options.mbit or RATES_MBIT[model]:
                links = [word for node in range(1, AGENTS + 1)
                         for word in ("--node", f"{node}:rate={mbit:g}mbit")]
                with LabNodes(command_of(options.build), options.lab, AGENTS + 1, links):
                    for codec in options.codec or CODECS:
                        runs = {name: [] for name in names}
                        for turn in range(options.turns):
                            for name in names[::-1] if turn % 2 else names:
                                journal = train(options.build, tempfile.mkdtemp(dir=folder), data,
                                                [*job, f"codec={codec}", f"fusion={name}"],
                                                AGENTS, options.lab)
                                runs[name].append(turn_of(options.build, journal))
                        cases.append({"model": model, "codec": codec, "mbit": mbit,
                                      "collective": options.collective,
                                      **compared(runs, mbit * 1e6)})
                        if options.json:
                            continue
                        print(f"{model}, {codec}, {options.collective}, {mbit:g} Mbit/s, "
                              f"{AGENTS} agents, median of "
                              f"{options.turns} turns of {options.rounds} rounds")
                        print("\n".join([*cases[-1]["lines"], f"  {cases[-1]['text']}"]), flush=True)
    if options.json:
        print(json.dumps({"schema_version": 1, "status": "ok", "data": {"cases": cases}}))
    elif not all(case["kept"] for case in cases):
        sys.exit("fusion: the solver's groups are slower than another setting by more than its turns differ")


if __name__ == "__main__":
    main()
