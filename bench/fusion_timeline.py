#!/usr/bin/env python3
"""A timeline of one round by each setting `fusion`: when an agent trains, and when its uplink carries bytes.

Four agents in a lab train one job with each setting, as in fusion.py. A program in the first agent's node
reads the bytes that its link has sent every millisecond; the agent's log says when training began and
ended. Of each job the round with the median time is shown, after the rounds of the profile. Early is the
share of the round's bytes that were sent before the training ended. Needs root, and a machine on which
nothing else runs."""

import argparse
import datetime
import os
import re
import statistics
import subprocess
import sys
import tempfile
from typing import NamedTuple

from fusion import AGENTS, LAYERWISE, MODELS, OPTIMAL, WARM, WHOLE, job_settings
from lab_nodes import LabNodes
from training import command_of, make_data, train

LAB = "timeline"
# Prints time and bytes sent whenever these have changed.
SAMPLER = """
import glob, sys, time
files = [open(name, 'rb', 0) for name in glob.glob('/sys/class/net/*/statistics/tx_bytes')
         if '/lo/' not in name]
before = -1
while True:
    sent = 0
    for file in files:
        file.seek(0)
        sent += int(file.read())
    if sent != before:
        sys.stdout.write(f'{time.time():.4f} {sent}\\n')
        sys.stdout.flush()
        before = sent
    time.sleep(0.001)
"""
SAMPLE_S = 0.001
WIDTH, LEFT, ROW, GAP = 900, 110, 22, 34  # of the picture


class Round(NamedTuple):
    began: float
    trained: float
    next_began: float
    sent: list  # pairs of a time and the bytes since the pair before

    def seconds(self):
        return self.next_began - self.began

    def early(self):
        """The share of the bytes that were sent before the training ended."""
        whole = sum(count for _, count in self.sent)
        return sum(count for at, count in self.sent if at <= self.trained) / whole if whole else 0


def moments(log, message):
    """The time of this message, by round."""
    found = re.findall(rf"^(\S+) \S+ .*\b{message}\b.* round=(\d+)", log, re.MULTILINE)
    return {int(number): datetime.datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp()
            for time, number in found}


def rounds_of(log, samples):
    """The rounds of an agent's log after the profile, without the last one."""
    began, trained = moments(log, "agent: training"), moments(log, "agent: trained")
    pairs = [(float(at), int(count)) for at, count in (line.split() for line in samples.splitlines())]
    sent = [(at, count - before) for (_, before), (at, count) in zip(pairs, pairs[1:])]
    return [Round(began[number], trained[number], began[number + 1],
                  [(at, count) for at, count in sent if began[number] <= at < began[number + 1]])
            for number in began if number > WARM and number in trained and number + 1 in began]


def measured(build, folder, lab, data, job):
    """The round with the median time."""
    folder = tempfile.mkdtemp(dir=folder)
    with tempfile.TemporaryFile("w+") as samples:
        sampler = subprocess.Popen([*lab.command(1), sys.executable, "-c", SAMPLER], stdout=samples)
        try:
            train(build, folder, data, job, AGENTS, lab.name, ["log.level=debug"])
        finally:
            sampler.terminate()
            sampler.wait()
        samples.seek(0)
        with open(os.path.join(folder, "agent-0.log"), encoding="utf-8") as log:
            rounds = rounds_of(log.read(), samples.read())
    if not rounds:
        sys.exit(f"fusion_timeline: the log has no round after {WARM}; give --rounds more than {WARM + 2}")
    middle = statistics.median_low(one.seconds() for one in rounds)
    return next(one for one in rounds if one.seconds() == middle)


def picture(found, title, rate):
    """An SVG: for each setting a row with the training and one with the bytes on an uplink of `rate` bit/s."""
    longest = max(one.seconds() for one in found.values())
    scale = (WIDTH - LEFT - 20) / longest
    parts = [f'<text x="{LEFT}" y="18" font-weight="bold">{title}</text>']
    top = 30
    for name, one in found.items():
        end = LEFT + one.seconds() * scale
        parts.append(f'<text x="8" y="{top + ROW}">{name}</text>')
        parts.append(f'<rect x="{LEFT}" y="{top}" width="{(one.trained - one.began) * scale:.1f}" height="{ROW}" '
                     'fill="#4477aa"/>')
        parts.append(f'<rect x="{LEFT}" y="{top + ROW}" width="{end - LEFT:.1f}" height="{ROW}" fill="#eeeeee"/>')
        for at, count in one.sent:
            height = max(1.5, ROW * min(1.0, count / (SAMPLE_S * rate / 8)))
            parts.append(f'<rect x="{LEFT + (at - one.began) * scale:.1f}" y="{top + 2 * ROW - height:.1f}" '
                         f'width="{max(1.2, SAMPLE_S * scale):.1f}" height="{height:.1f}" fill="#cc6633"/>')
        parts.append(f'<text x="{end - 4:.1f}" y="{top + 2 * ROW - 6}" text-anchor="end">'
                     f'{1e3 * one.seconds():.0f} ms</text>')
        top += 2 * ROW + GAP
    parts.append(f'<text x="{LEFT}" y="{top - 10}">blue: training; orange: the uplink, full height is its rate; '
                 'a row ends where the next round begins</text>')
    body = "\n".join(parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{top}" font-family="sans-serif" '
            f'font-size="13">\n<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--model", choices=MODELS, default="chargpt", help="(%(default)s)")
    parser.add_argument("--codec", default="thc:bits=4", help="(%(default)s)")
    parser.add_argument("--mbit", type=float, default=100, help="of an agent's link (%(default)g)")
    parser.add_argument("--fusion", action="append", help=f"instead of {WHOLE}, {LAYERWISE} and {OPTIMAL}")
    parser.add_argument("--rounds", type=int, default=40, help="(%(default)s)")
    parser.add_argument("--out", default="fusion_timeline.svg", metavar="FILE", help="(%(default)s)")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("fusion_timeline: a lab needs root; run it with sudo")
    making, usual = MODELS[options.model]
    links = [word for node in range(1, AGENTS + 1) for word in ("--node", f"{node}:rate={options.mbit:g}mbit")]
    found = {}
    with tempfile.TemporaryDirectory(prefix="tributary-timeline-") as folder:
        data = make_data(options.build, folder, making)
        with LabNodes(command_of(options.build), LAB, AGENTS + 1, links) as lab:
            for name in options.fusion or [WHOLE, LAYERWISE, OPTIMAL]:
                job = [*job_settings(usual, options.rounds), f"codec={options.codec}", f"fusion={name}"]
                one = found[name] = measured(options.build, folder, lab, data, job)
                print(f"{name:10} round {1e3 * one.seconds():7.1f} ms, training "
                      f"{1e3 * (one.trained - one.began):.1f} ms, early {one.early():.2f}", flush=True)
    title = f"{options.model}, {options.codec}, {options.mbit:g} Mbit/s, {AGENTS} agents"
    with open(options.out, "w", encoding="utf-8") as file:
        file.write(picture(found, title, options.mbit * 1e6))
    print(f"the picture is in {options.out}")


if __name__ == "__main__":
    main()
