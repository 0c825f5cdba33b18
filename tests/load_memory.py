#!/usr/bin/env python3
"""A coordinator's memory follows the size of the model, and hardly the number of its agents.

With 1,000 agents and encryption, the peak of its process may be that with 10 agents, the connections (job_memory.cc has
their size), and a limit for everything else. Without a bound on the bytes in flight to all agents together it would be
hundreds of MiB more. With 25 Mi values it may be four models beside the payloads that arrive, by each of the codecs whose
coordinators differ in what they keep.
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

MODEL_MIB = 100
MODELS = 4.25  # the goal is 4; what a heap keeps differs between runs
PAYLOADS_MIB = 1.5 * 17  # of limits.incoming_bytes_max, of which half as much again may wait
CODECS = ("fp32", "thc:bits=4", "threelc", "gcomp")


def peak_mib(agents, codec, parameters, rounds):
    command = [BUILD / "tools/tributary-load", "--agents", agents, "--params", parameters, "--codec", codec,
               "--rounds", rounds, "--json", "--coordinator", BUILD / "coordinator/tributary-coordinator"]
    answer = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, check=True).stdout
    data = json.loads(answer)["data"]
    assert data["agents_finished"] == agents and data["agents_lost"] == 0 and data["replicas_identical"], data
    return data["coordinator_peak_bytes"] / 2**20


def many_agents():
    few, many = (peak_mib(agents, "thc:bits=4", "1Mi", 4) for agents in (10, AGENTS))
    allowed = few + AGENTS * CONNECTION_KIB / 1024 + BESIDE_MIB
    print(f"10 agents {few:.0f} MiB, {AGENTS} agents {many:.0f} MiB, at most {allowed:.0f} MiB", flush=True)
    return many <= allowed


def large_model(codec):
    peak = peak_mib(4, codec, "25Mi", 8)
    models = (peak - PAYLOADS_MIB) / MODEL_MIB
    print(f"25 Mi values, {codec}: {peak:.0f} MiB, {models:.2f} models beside payloads that arrive, at most {MODELS}",
          flush=True)
    return models <= MODELS


def main():
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < FILES:
        print(f"at most {most} open files, {FILES} are needed")
        return 77
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(files, FILES), most))
    held = [many_agents(), *map(large_model, CODECS)]
    return 0 if all(held) else 1


sys.exit(main())
