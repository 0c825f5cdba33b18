#!/usr/bin/env python3
"""A coordinator's memory grows with the number of its agents only by their connections.

With 1,000 agents and encryption, the peak of its process may be that with 10 agents, the connections (job_memory.cc has
their size), and a limit for everything else. Without a bound on the bytes in flight to all agents together it would be
hundreds of MiB more.
"""
import json
import os
import pathlib
import resource
import subprocess
import sys

BUILD = pathlib.Path(os.environ["TRIBUTARY_BUILD_DIR"])
AGENTS = 1000
FILES = 10 * AGENTS
CONNECTION_KIB = 120
BESIDE_MIB = 40


def peak_mib(agents):
    command = [BUILD / "tools/tributary-load", "--agents", agents, "--params", "1Mi", "--codec", "thc:bits=4",
               "--rounds", 4, "--json", "--coordinator", BUILD / "coordinator/tributary-coordinator"]
    answer = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, check=True).stdout
    data = json.loads(answer)["data"]
    assert data["agents_finished"] == agents and data["agents_lost"] == 0 and data["replicas_identical"], data
    return data["coordinator_peak_bytes"] / 2**20


def main():
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < FILES:
        print(f"at most {most} open files, {FILES} are needed")
        return 77
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(files, FILES), most))
    few, many = peak_mib(10), peak_mib(AGENTS)
    allowed = few + AGENTS * CONNECTION_KIB / 1024 + BESIDE_MIB
    print(f"10 agents {few:.0f} MiB, {AGENTS} agents {many:.0f} MiB, at most {allowed:.0f} MiB")
    return 0 if many <= allowed else 1


sys.exit(main())
