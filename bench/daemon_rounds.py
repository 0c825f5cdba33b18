#!/usr/bin/env python3
"""What a round of daemons costs: one coordinator and its agents as processes, with journals and the
synthetic trainer, over loopback and over agents' links of 1 Gbit/s and 100 Mbit/s (these need root).
`disk` is loopback with encrypted links and synchronous journals on a real disk. With --sync-rate, a sync of a
file takes as long as what a daemon has written to it since the last one takes at that rate.

For each codec: the median round beside its limit, the longest one, and the processor time by thread, written
bytes, bytes for the disk and peak memory of the coordinator and of an agent, as the kernel counts them for the
processes. A page that is overwritten before the system has written it is for the disk once; a file
system in memory has no bytes for a disk. Flower's rounds of the same size follow where it is found.

Limits: over links with a rate, an agent's payloads up and down at that rate, and its training; on
loopback, the goal for 4 Mi values and 4 agents; for `disk`, the round of the row `loopback` with its
encryption, or its bytes for the disk if they take longer, each by the rate that is measured at the start.
"""

import argparse
import ctypes
import json
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

import flower_rounds
from daemons import THREADS, Federation, here
from lab_nodes import Failure, LabNodes

MIB = 1 << 20
# In the first rounds agents fetch the model, and both sides allocate their buffers.
FIRST_ROUNDS = 3
LAB = "rounds"
MBIT = {"1gbit": 1000, "100mbit": 100}  # of the links that have a rate
LINKS = ["loopback", "disk", *MBIT]
BUILDS = ["build/release", "build/dev"]
USUAL = (4 << 20, 4)  # values and agents, for which there are goals
GOAL_S = {"fp32": 0.16, "thc:bits=4": 0.12, "threelc": 0.12}
AGENT_CPU_S_MAX = 0.03  # beside training
# Goals for the peak memory in models: beside the trainer's, and beside payloads that arrive.
AGENT_MODELS_MAX, COORDINATOR_MODELS_MAX = 4.5, 4
BIG = 16 << 20  # values from which on these count: a small model is less than a program without one
INCOMING_BYTES_MAX = 17 * MIB  # the default of limits.incoming_bytes_max, of which half as much again may wait
SLOW_ROUNDS_MAX = 15
FLOWER_ROUNDS = 5
LATE_SYNC = "the disk is slow: a power failure costs more"  # in a daemon's log


def size(text):
    """A count with an optional binary unit: 4194304, 4Mi."""
    number = re.fullmatch(r"(\d+)(Ki|Mi|Gi)?", text)
    if not number or not int(number[1]):
        raise argparse.ArgumentTypeError(f"expected a number such as 64, 512Ki or 4Mi, got '{text}'")
    return int(number[1]) << {None: 0, "Ki": 10, "Mi": 20, "Gi": 30}[number[2]]


def slow_disk(rate, folder):
    """The environment of a daemon whose syncs have this rate in bytes/s; none for 0."""
    if not rate:
        return {}
    library = os.path.join(folder, "slow_sync.so")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "slow_disk", "slow_sync.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", source, "-o", library, "-ldl"], check=True)
    return {"LD_PRELOAD": library, "SLOW_DISK_BYTES_PER_S": str(rate)}


class Keys:
    """Key pairs of a coordinator and its agents, and the settings that name them."""

    def __init__(self, build, folder, agents):
        self._folder = folder
        tributary = os.path.join(build, "cli", "tributary")
        allowed = f"{folder}/agents.allow"

        def run(*words):
            subprocess.run([tributary, "keys", *words], check=True, stdout=subprocess.DEVNULL)

        run("new", "--out", f"{folder}/coordinator.key")
        for i in range(agents):
            run("new", "--out", f"{folder}/agent-{i}.key")
            run("allow", "--list", allowed, "--id", f"agent-{i}", "--key-file",
                f"{folder}/agent-{i}.key.pub")
        self.of_coordinator = [f"link.key_file={folder}/coordinator.key",
                               f"link.allow_file={allowed}"]

    def of_agent(self, i):
        with open(f"{self._folder}/coordinator.key.pub", encoding="utf-8") as file:
            key = file.read().split()[-1]
        return [f"link.key_file={self._folder}/agent-{i}.key", f"link.coordinator_key={key}"]


class Network:
    """Where the daemons run: on this machine's loopback, or in the nodes of a lab, of which node 0 is the
    coordinator's and has no limit."""

    def __init__(self, build, link, agents):
        links = [word for node in range(1, agents + 1) for word in ("--node", f"{node}:rate={link}")]
        self._lab = LabNodes(os.path.join(build, "cli", "tributary"), LAB, agents + 1, links) if link in MBIT else None
        self.address = "127.0.0.1"
        self.inside = self._lab.command if self._lab else here

    def __enter__(self):
        if self._lab:
            self.address = self._lab.__enter__().addresses[0]
        return self

    def __exit__(self, *_):
        if self._lab:
            self._lab.down()


def federation_of(options, codec, folder, network):
    keys = Keys(options.build, folder, options.agents) if options.curve else None
    return Federation(
        options.build, folder,
        [f"link.encrypted={'true' if options.curve else 'false'}", f"journal.durability={options.durability}"],
        [*(keys.of_coordinator if keys else []), "job.name=rounds", f"job.rounds={FIRST_ROUNDS + options.rounds + 100}",
         f"job.parameters={options.params}", f"job.codec={codec}", f"job.agents_min={options.agents}",
         *(f"job.{pair}" for pair in options.set)],
        [keys.of_agent(i) if keys else [] for i in range(options.agents)],
        inside=network.inside, address=network.address, environment=slow_disk(options.sync_rate, folder))


def reports_of_agents(journal):
    """Means of an agent in a round: bytes of payloads up and down, and seconds of training, encoding and
    decoding."""
    names = ["bytes_up", "bytes_down", "compute_s", "encode_s", "decode_s"]
    columns = ", ".join(f"avg({name})" for name in names)
    with sqlite3.connect(f"file:{journal}?mode=ro", uri=True) as run:
        row = run.execute(f"SELECT {columns} FROM agent_rounds WHERE round > ?", (FIRST_ROUNDS,)).fetchone()
    return {name: value or 0 for name, value in zip(names, row)}


def measure(options, link, codec):
    with tempfile.TemporaryDirectory(prefix="tributary-rounds-", dir=options.folder) as folder, \
            Network(options.build, link, options.agents) as network:
        with federation_of(options, codec, folder, network) as federation:
            first, begin_s = federation.wait_for_rounds(FIRST_ROUNDS)
            before = federation.counters()
            last, end_s = federation.wait_for_rounds(FIRST_ROUNDS + options.rounds)
            after = federation.counters()
            rounds = last - first

            def side(daemons, counters):
                def mean(of):
                    return statistics.mean((of(end) - of(start)) / rounds for start, end in counters)

                cpu_s, faults, written, disk = (mean(lambda one: one[0][i]) for i in range(4))
                return {"cpu_s": cpu_s, "page_faults": faults, "written_bytes": written, "disk_bytes": disk,
                        "thread_cpu_s": {name: mean(lambda one: one[1][name]) for name in THREADS},
                        "peak_bytes": max(daemon.peak_bytes() for daemon in daemons)}

            pairs = list(zip(before, after))
            result = {"link": link, "codec": codec, "rounds": rounds,
                      "round_s": (end_s - begin_s) / rounds,
                      "median_s": statistics.median(federation.coordinator.round_s[first:last]),
                      "longest_s": max(federation.coordinator.round_s[first:last]),
                      "coordinator": side([federation.coordinator], pairs[:1]),
                      "agent": side(federation.agents, pairs[1:]),
                      "late_syncs": sum(daemon.log().count(LATE_SYNC) for daemon in
                                        (federation.coordinator, *federation.agents))}
        return result | {"reports": reports_of_agents(federation.journal)}


# --- limits ---------------------------------------------------------------------------------------


def encryption_bytes_per_s():
    """Of CURVE's cipher by one core, in messages of 64 KiB; None without libsodium."""
    try:
        sodium = ctypes.CDLL("libsodium.so.23")
    except OSError:
        return None
    key, nonce, plain = bytes(32), bytes(24), bytes(1 << 16)
    box = ctypes.create_string_buffer(len(plain) + 16)
    begin, count = time.process_time(), 0
    while (used := time.process_time() - begin) < 0.2:
        sodium.crypto_box_easy_afternm(box, plain, ctypes.c_ulonglong(len(plain)), nonce, key)
        count += 1
    return count * len(plain) / used


def disk_bytes_per_s(folder):
    """Of a plain write of 64 MiB with fsync."""
    data = os.urandom(MIB)
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        begin = time.monotonic()
        for _ in range(64):
            file.write(data)
        os.fsync(file.fileno())
        return 64 * MIB / (time.monotonic() - begin)


def limit_s(result, options, plain, rates):
    """Of a round; None where none is known. `plain` is the result of the row `loopback`."""
    reports = result["reports"]
    sent = reports["bytes_up"] + reports["bytes_down"]
    if mbit := MBIT.get(result["link"]):
        return sent * 8 / (mbit * 1e6) + reports["compute_s"]
    if result["link"] == "loopback":
        return GOAL_S.get(result["codec"]) if (options.params, options.agents) == USUAL else None
    if plain is None or rates["encryption"] is None:
        return None
    # The coordinator encrypts and decrypts with one thread; all processes share the cores. The disk
    # writes meanwhile.
    one = options.agents * sent / rates["encryption"]
    disk = result["coordinator"]["disk_bytes"] + options.agents * result["agent"]["disk_bytes"]
    return max(plain["median_s"] + max(one, 2 * one / os.cpu_count()), disk / rates["disk"])


# --- output ---------------------------------------------------------------------------------------


HEAD = (f"{'':24}{'round':>11}{'limit':>11}{'':7}{'coordinator':^76}  {'agent':^76}\n"
        f"{'links':10}{'codec':14}{'median':>11}{'':11}{'':7}" +
        "  ".join(2 * [f"{'cpu':>10}{'loop + messages + trainer + other':>34}{'written':>11}{'disk':>11}"
                       f"{'peak':>10}"]) + f"{'training':>11}{'longest round':>15}")


def side_text(side):
    threads = " + ".join(f"{1e3 * side['thread_cpu_s'][name]:.1f}" for name in THREADS)
    return (f"{1e3 * side['cpu_s']:7.1f} ms{threads:>34}{side['written_bytes'] / 1e6:8.2f} MB"
            f"{side['disk_bytes'] / 1e6:8.2f} MB{side['peak_bytes'] / MIB:6.0f} MiB")


def row_text(result):
    limit = result["limit_s"]
    return (f"{result['link']:10}{result['codec']:14}{1e3 * result['median_s']:8.2f} ms" +
            (f"{1e3 * limit:8.1f} ms{result['median_s'] / limit:5.2f} x" if limit else " " * 18) +
            "  ".join(map(side_text, (result["coordinator"], result["agent"]))) +
            f"{1e3 * result['reports']['compute_s']:8.1f} ms{result['longest_s']:13.2f} s" +
            (f", warnings of late syncs: {result['late_syncs']}" if result["late_syncs"] else ""))


def peaks_in_models(result, options):
    """Peak memory of the coordinator, less the window of payloads that arrive, and of an agent, less the
    update of its trainer, in models."""
    model = 4 * options.params
    window = min(options.agents * result["reports"]["bytes_up"], 1.5 * INCOMING_BYTES_MAX)
    return ((result["coordinator"]["peak_bytes"] - window) / model, result["agent"]["peak_bytes"] / model - 1)


def verdict(value, most):
    return "met" if value <= most else "MISSED"


def print_goals(results, options):
    """Of rounds on loopback: an agent's processor time, and peak memory."""
    for result in results:
        if result["link"] != "loopback":
            continue
        if (options.params, options.agents) == USUAL:
            used = result["agent"]["cpu_s"] - result["agent"]["thread_cpu_s"]["trainer"]
            print(f"{result['codec']}: an agent's processor time beside its trainer {1e3 * used:.1f} ms, at most "
                  f"{1e3 * AGENT_CPU_S_MAX:.0f} ms: {verdict(used, AGENT_CPU_S_MAX)}")
        if options.params >= BIG:
            coordinator, agent = peaks_in_models(result, options)
            print(f"{result['codec']}: peak memory in models: agent beside its trainer {agent:.2f}, at most "
                  f"{AGENT_MODELS_MAX}: {verdict(agent, AGENT_MODELS_MAX)}; coordinator beside payloads that arrive "
                  f"{coordinator:.2f}, at most {COORDINATOR_MODELS_MAX}: "
                  f"{verdict(coordinator, COORDINATOR_MODELS_MAX)}")


def print_flower(options, links):
    flower = flower_rounds.python()
    if flower is None:
        print(f"Flower: skipped, because {flower_rounds.MISSING}")
        return
    for link in links:
        with Network(options.build, link, options.agents) as network:
            done = flower_rounds.measure(flower, options.agents, options.params, FLOWER_ROUNDS, network.inside,
                                         network.address)
        print(f"{link:10}{'Flower':14}" + (
            f"failed: {done['failed']}" if "failed" in done else
            f"{1e3 * done['median_s']:8.2f} ms, server's peak {done['peak_bytes'] / MIB:.0f} MiB, "
            f"version {done['version']}, fp32"), flush=True)


# --- the command line -----------------------------------------------------------------------------


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", help=f"where the daemons are (the first of {', '.join(BUILDS)} that has them)")
    parser.add_argument("--link", action="append", choices=LINKS, help="instead of all four")
    parser.add_argument("--params", default=USUAL[0], type=size, help="values of the model (4Mi)")
    parser.add_argument("--agents", default=USUAL[1], type=int, help="agents (4)")
    parser.add_argument("--rounds", default=40, type=int,
                        help=f"rounds that are measured (40; over links with a rate at most {SLOW_ROUNDS_MAX})")
    parser.add_argument("--curve", action="store_true", help="encrypted links, not only for `disk`")
    parser.add_argument("--durability", default="round", choices=("round", "30s", "stop"),
                        help="journal.durability (round)")
    parser.add_argument("--no-sync", dest="durability", action="store_const", const="stop",
                        help="do not wait until journals are on the disk")
    parser.add_argument("--sync-rate", default=0, type=size, metavar="BYTES",
                        help="a second, of each daemon's syncs (0: those of the file system)")
    parser.add_argument("--codec", action="append", help="instead of fp32, thc:bits=4 and threelc")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                        help="a further setting of the job")
    parser.add_argument("--disk", metavar="DIR", help="on a disk, for the row `disk` (the build folder)")
    parser.add_argument("--no-flower", action="store_true", help="leave Flower out")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(words)
    if options.agents < 1 or options.rounds < 1:
        parser.error("--agents and --rounds take a number above 0")
    return options


def find_build(given):
    """The folder of a build with all programs, or the end of this program."""
    for build in [given] if given else BUILDS:
        if all(os.access(os.path.join(build, *path), os.X_OK) for path in (
                ("coordinator", "tributary-coordinator"), ("edge_agent", "tributary-agent"), ("cli", "tributary"))):
            return build
    sys.exit(f"daemon_rounds: no tributary-coordinator, tributary-agent and tributary in "
             f"{given or ' or '.join(BUILDS)}; ./dev bench rounds builds them, or name a build with --build")


def links_here(asked):
    """The links that this machine can have; the others are named with the reason."""
    links = asked or LINKS
    if os.geteuid() == 0:
        return links
    for link in links:
        if link in MBIT:
            print(f"{link}: skipped, because a lab needs root", file=sys.stderr)
    return [link for link in links if link not in MBIT]


def options_of(options, link):
    """With what the link changes of them."""
    folder = "/dev/shm" if "TMPDIR" not in os.environ and os.access("/dev/shm", os.W_OK) else \
        tempfile.gettempdir()
    changed = {"folder": folder}
    if link == "disk":
        changed = {"folder": options.disk or options.build, "curve": True, "durability": "round"}
    if link in MBIT:
        changed["rounds"] = min(options.rounds, SLOW_ROUNDS_MAX)
    return argparse.Namespace(**(vars(options) | changed))


def main(words):
    options = parse(words)
    options.build = find_build(options.build)
    links = links_here(options.link)
    rates = {"encryption": None, "disk": None}
    if "disk" in links:
        rates = {"encryption": encryption_bytes_per_s(),
                 "disk": disk_bytes_per_s(options_of(options, "disk").folder)}
    if not options.json:
        print(f"{options.agents} agents, {options.params} values, {options.build}, journals in "
              f"{options_of(options, 'loopback').folder}; processor times and bytes are means of "
              f"{options.rounds} rounds, those over links of at most {SLOW_ROUNDS_MAX}")
        if "disk" in links:
            cipher = rates["encryption"]
            print(f"{'CURVE: libsodium was not found' if cipher is None else f'CURVE {cipher / 1e6:.0f} MB/s'}, "
                  f"disk {rates['disk'] / 1e6:.0f} MB/s")
        print(HEAD)
    results = []
    for link in links:
        for codec in options.codec or list(GOAL_S):
            try:
                result = measure(options_of(options, link), link, codec)
            except Failure as failure:
                sys.exit(f"daemon_rounds: {link}, {codec}: {failure}")
            plain = next((one for one in results if (one["link"], one["codec"]) == ("loopback", codec)), None)
            result["limit_s"] = limit_s(result, options, plain, rates)
            results.append(result)
            if not options.json:
                print(row_text(result), flush=True)
    if options.json:
        print(json.dumps(results))
        return
    print_goals(results, options)
    if not options.no_flower:
        print_flower(options, [link for link in links if link != "disk"])


if __name__ == "__main__":
    main(sys.argv[1:])
