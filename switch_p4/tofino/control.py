#!/usr/bin/env python3
"""What the control plane of a Tofino writes for a job, in its order.

usage: control.py JOB ENTRY INSTANCE FIRST_SLOT

JOB has the form of switch.jobs (docs/in_network.md). ENTRY is one of 16 that no job uses, INSTANCE a
number that no job has had, and FIRST_SLOT the first of the job's slots. Prints a write a line, as
JSON. The row of `jobs` comes last, so no packet sees half of a job; the entry that the handle had
before is free then.
"""

import json
import re
import sys
from typing import Iterator, NamedTuple, Optional

ENTRIES, SLOTS, AGENTS_MAX, LANES = 16, 4096, 32, 64


class Group(NamedTuple):
    """Where results for all agents go. multicast: group of the packet replication engine; 0: back to
    the port of the contribution that completed the phase."""
    mac: int = 0
    ip: int = 0
    port: int = 0
    multicast: int = 0


def swapped(number: int, size: int) -> int:
    return int.from_bytes(number.to_bytes(size, "little"), "big")


def refusal(job: dict, entry: int, first_slot: int) -> Optional[str]:
    """Why this program cannot serve the job, if it cannot."""
    if not 2 <= job["agents"] <= AGENTS_MAX:
        return f"agents: expected 2 to {AGENTS_MAX}, got {job['agents']}"
    if job["granularity"] * job["agents"] > 255:
        return (f"granularity x agents: expected at most 255, the sums have 8 bits; "
                f"got {job['granularity'] * job['agents']}")
    if not 0 <= entry < ENTRIES:
        return f"ENTRY: expected 0 to {ENTRIES - 1}, got {entry}"
    if first_slot + job["slots"] > SLOTS:
        return f"slots: expected at most {SLOTS - first_slot} from {first_slot} on, got {job['slots']}"
    return None


def writes(job: dict, entry: int, instance: int, first_slot: int, group: Group = Group()) -> Iterator[dict]:
    for byte in range(LANES // 2):
        for value in range(256):
            places = job["places"][value & 15] << 8 | job["places"][value >> 4]
            yield {"table": f"look_up_{byte}", "key": [entry, value], "action": f"set_{byte}", "data": [places]}
    sources = job.get("sources", [])
    for agent in range(AGENTS_MAX):
        ip, port = sources[agent] if agent < len(sources) else (0, 0)
        yield {"register": "source_ips", "index": entry * AGENTS_MAX + agent, "value": ip}
        yield {"register": "source_ports", "index": entry * AGENTS_MAX + agent, "value": port}
    handle, everyone = swapped(job["handle"], 2), (1 << job["agents"]) - 1
    yield {"table": "groups", "key": [handle], "action": "set_group", "data": list(group)}
    yield {"table": "jobs", "key": [handle], "action": "set_job",
           "data": [entry, int(not sources), job["epoch"], job["agents"], swapped(job["table"], 2), first_slot,
                    job["slots"], instance, everyone, swapped(everyone, 4)]}


def read_job(text: str) -> dict:
    words = dict(re.findall(r"(\w+)=(\S+)", text))
    job = {name: int(words[name]) for name in ("handle", "epoch", "agents", "granularity", "table", "slots")}
    job["places"] = [int(place) for place in words["places"].split(",")]
    if len(job["places"]) != 16:
        raise ValueError(f"places: expected 16, got {len(job['places'])}")
    if "sources" in words:
        ends = [source.rsplit(":", 1) for source in words["sources"].split(",")]
        job["sources"] = [(int.from_bytes(bytes(map(int, ip.split("."))), "big"), int(port)) for ip, port in ends]
    return job


def main() -> int:
    if len(sys.argv) != 5:
        sys.exit(__doc__.strip().split("\n\n")[1])
    try:
        job, (entry, instance, first_slot) = read_job(sys.argv[1]), map(int, sys.argv[2:])
    except (KeyError, ValueError) as error:
        sys.exit(f"control.py: expected a job as in switch.jobs and three numbers, got {error}")
    reason = refusal(job, entry, first_slot)
    if reason:
        sys.exit(f"control.py: {reason}")
    for write in writes(job, entry, instance, first_slot):
        print(json.dumps(write))
    return 0


if __name__ == "__main__":
    sys.exit(main())
