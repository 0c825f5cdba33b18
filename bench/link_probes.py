#!/usr/bin/env python3
"""What probes find out about links on which nothing else goes, and what they cost.

Needs root. A coordinator on one node of `tributary lab` and an agent on another, whose job waits
for a second agent that never comes: all that is known is from heartbeats and probes.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path

from daemons import Federation
from lab_nodes import Failure, LabNodes, finished

LAB = "probes"
LINKS = ((10, 10, 10), (10, 2, 10), (100, 100, 10), (1000, 1000, 1))  # Mbit/s down, up, ms one way
# A rate counts Ethernet frames; at an MTU of 1500, this share is TCP payload.
PAYLOAD_SHARE = 1448 / 1514
METRICS_PORT = 9464

AGENT = "agent-0"


def metrics(lab: LabNodes) -> str:
    ask = ("import urllib.request as u; "
           f"print(u.urlopen('http://127.0.0.1:{METRICS_PORT}/metrics').read().decode())")
    return finished([*lab.command(0), sys.executable, "-c", ask])


def total(text: str, name: str) -> float:
    rows = re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE)
    return sum(float(row) for row in rows)


def watch(tributary: str, build: Path, lab: LabNodes, arguments) -> tuple:
    with tempfile.TemporaryDirectory() as folder:
        waits = [f"metrics.listen=127.0.0.1:{METRICS_PORT}", f"probes.spacing_ms={arguments.spacing_ms}",
                 "job.name=waits", "job.rounds=1", "job.parameters=1000", "job.agents_min=2"]
        with Federation(str(build), folder, ["link.encrypted=false"], waits, [[]], inside=lab.command,
                        address=lab.addresses[0]) as federation:
            time.sleep(arguments.seconds)
            counted = metrics(lab)
        listed = json.loads(finished([tributary, "link", "list", "--run", federation.journal, "--json"]))
    return listed["data"]["links"], counted


def measure(tributary: str, build: Path, link: tuple, arguments) -> dict:
    down, up, delay_ms = link
    # The agent's node has the slow link; a packet also crosses the other node's link.
    slow = ["--delay", f"{delay_ms / 2:g}ms", "--node",
            f"1:up-rate={up:g}mbit,down-rate={down:g}mbit,delay={delay_ms / 2:g}ms"]
    with LabNodes(tributary, LAB, 2, slow) as lab:
        links, counted = watch(tributary, build, lab, arguments)
    ways = {(each["from"], each["to"]): each for each in links}
    return {"down_mbit_per_s": down, "up_mbit_per_s": up, "delay_ms": delay_ms,
            "alpha_s": ways.get(("", AGENT), {}).get("alpha_s"),
            "beta_up": ways.get((AGENT, ""), {}).get("beta_s_per_byte"),
            "beta_down": ways.get(("", AGENT), {}).get("beta_s_per_byte"),
            "probes": total(counted, "tributary_link_probes_total"),
            "probe_bytes": total(counted, "tributary_link_probe_bytes_total"),
            "ignored": total(counted, "tributary_link_echoes_ignored_total"),
            "load": os.getloadavg()[0]}


def rate_text(found: dict | None, mbit: float) -> str:
    if found is None:
        return "not known | -"
    line_s_per_byte = 8 / (mbit * 1e6 * PAYLOAD_SHARE)
    error = found["value"] / line_s_per_byte - 1
    return (f"{8e-6 / found['value']:.2f} Mbit/s, {error * 100:+.1f} % | "
            f"{found['confidence']:.2f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/release", help="with the programs")
    parser.add_argument("--seconds", type=float, default=60, help="that each link is watched")
    parser.add_argument("--spacing-ms", type=int, default=2000, help="between probes")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    build = Path(arguments.build).resolve()
    rows = []
    for link in LINKS:
        row = measure(str(build / "cli/tributary"), build, link, arguments)
        rows.append(row)
        if arguments.json:
            continue
        down, up, delay_ms = link
        alpha = row["alpha_s"]
        alpha_text = "not known | -"
        if alpha:
            alpha_text = f"{alpha['value'] * 1e3:.2f} ms | {alpha['confidence']:.2f}"
        print(f"| {down:g} and {up:g} Mbit/s, {delay_ms:g} ms | {alpha_text} | "
              f"{rate_text(row['beta_up'], up)} | {rate_text(row['beta_down'], down)} | "
              f"{row['probes']:.0f} | {row['probe_bytes'] / 1024:.0f} KiB | load {row['load']:.1f}",
              flush=True)
    if arguments.json:
        print(json.dumps(rows, indent=2))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f"link_probes: {failure}")
