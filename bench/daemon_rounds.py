#!/usr/bin/env python3
"""What a round of daemons costs: one coordinator and its agents as processes over loopback, with
journals and the synthetic trainer. For each codec: the time of a round, and the processor time,
page faults, written bytes, bytes for the disk and peak memory of the coordinator and of an agent, as
the kernel counts them for the processes. A page that is overwritten before the system has written
it is for the disk once; a file system in memory has no bytes for a disk."""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

from training import settings

MIB = 1 << 20
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
LATE_S = 300
# In the first rounds agents fetch the model, and both sides allocate their buffers.
FIRST_ROUNDS = 3


class Daemon:
    """A process that logs to a file, and what the kernel has counted for it."""

    def __init__(self, command, folder, name):
        self._log_path = os.path.join(folder, f"{name}.log")
        with open(self._log_path, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        self._reader = open(self._log_path, "rb")
        self.round_s = []  # of each published round

    def log(self):
        with open(self._log_path, encoding="utf-8") as log:
            return log.read()

    def read_rounds(self):
        """Reads only what is new in the log: the daemons need the cores."""
        self.round_s += [float(seconds) for seconds in
                         re.findall(rb"round published .*seconds=([0-9.e-]+)\n", self._new_lines())]

    def _new_lines(self):
        lines = []
        while (line := self._reader.readline()).endswith(b"\n"):
            lines.append(line)
        self._reader.seek(-len(line), os.SEEK_CUR)
        return b"".join(lines)

    def _counters_of(self, name):
        with open(f"/proc/{self.process.pid}/{name}", encoding="utf-8") as file:
            return file.read()

    def counters(self):
        """Processor seconds, page faults without input, bytes passed to write(), and bytes of pages
        for the disk, since its start. Messages do not pass through write()."""
        fields = self._counters_of("stat").rpartition(") ")[2].split()
        written = re.search(r"wchar: (\d+)(?s:.*)\bwrite_bytes: (\d+)", self._counters_of("io"))
        return ((int(fields[11]) + int(fields[12])) / TICKS_PER_S, int(fields[7]), int(written[1]),
                int(written[2]))

    def peak_bytes(self):
        return int(re.search(r"VmHWM:\s+(\d+)", self._counters_of("status"))[1]) * 1024


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


class Federation:
    """A coordinator with its agents; left, all of them are stopped."""

    def __init__(self, options, codec, folder):
        keys = Keys(options.build, folder, options.agents) if options.curve else None
        common = ["--exit-when-done", *settings([
            f"link.encrypted={'true' if options.curve else 'false'}",
            f"journal.durability={options.durability}"])]
        self.agents = []
        self.coordinator = Daemon(
            [os.path.join(options.build, "coordinator", "tributary-coordinator"), *common,
             *settings([*(keys.of_coordinator if keys else []),
                        f"journal.file={folder}/coordinator.db", "link.endpoint=tcp://127.0.0.1:*",
                        "job.name=rounds", f"job.rounds={FIRST_ROUNDS + options.rounds + 100}",
                        f"job.parameters={options.params}", f"job.codec={codec}",
                        f"job.agents_min={options.agents}",
                        *(f"job.{pair}" for pair in options.set)])], folder, "coordinator")
        endpoint = self._wait_until(lambda: re.search(r"listening.*endpoint=\"?(tcp://[^\s\"]+)",
                                                      self.coordinator.log()), "its address")[1]
        self.agents = [Daemon(
            [os.path.join(options.build, "edge_agent", "tributary-agent"), *common,
             *settings([*(keys.of_agent(i) if keys else []),
                        f"agent_id=agent-{i}", f"journal.file={folder}/agent-{i}.db",
                        f"link.coordinator={endpoint}", "peers.endpoint=tcp://127.0.0.1:0"])],
            folder, f"agent-{i}") for i in range(options.agents)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for daemon in (*self.agents, self.coordinator):
            daemon.process.terminate()
        for daemon in (*self.agents, self.coordinator):
            daemon.process.wait()

    def _wait_until(self, there, what):
        """The value of there(), once it is true."""
        late = time.monotonic() + LATE_S
        while not (value := there()):
            for daemon in (self.coordinator, *self.agents):
                if daemon.process.poll() is not None or time.monotonic() > late:
                    sys.exit(f"daemon_rounds: {what} is not in the log of the coordinator:\n"
                             f"{daemon.log()[-3000:]}")
            time.sleep(0.02)
        return value

    def wait_for_rounds(self, count):
        """The number of published rounds, and the time."""
        def there():
            self.coordinator.read_rounds()
            return len(self.coordinator.round_s) >= count
        self._wait_until(there, f"round {count}")
        return len(self.coordinator.round_s), time.monotonic()

    def counters(self):
        return [daemon.counters() for daemon in (self.coordinator, *self.agents)]


def measure(options, codec):
    with tempfile.TemporaryDirectory(prefix="tributary-rounds-") as folder:
        with Federation(options, codec, folder) as federation:
            first, begin_s = federation.wait_for_rounds(FIRST_ROUNDS)
            before = federation.counters()
            last, end_s = federation.wait_for_rounds(FIRST_ROUNDS + options.rounds)
            after = federation.counters()
            rounds = last - first

            def side(daemons, counters):
                cpu_s, faults, written, disk = (
                    statistics.mean((end[i] - start[i]) / rounds for start, end in counters)
                    for i in range(4))
                return {"cpu_s": cpu_s, "page_faults": faults, "written_bytes": written,
                        "disk_bytes": disk, "peak_bytes": max(daemon.peak_bytes() for daemon in daemons)}

            pairs = list(zip(before, after))
            return {"codec": codec, "rounds": rounds, "round_s": (end_s - begin_s) / rounds,
                    "median_s": statistics.median(federation.coordinator.round_s[first:last]),
                    "coordinator": side([federation.coordinator], pairs[:1]),
                    "agent": side(federation.agents, pairs[1:])}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--params", default=4 << 20, type=int, help="values of the model (4194304)")
    parser.add_argument("--agents", default=4, type=int, help="agents (4)")
    parser.add_argument("--rounds", default=40, type=int, help="rounds that are measured (40)")
    parser.add_argument("--curve", action="store_true", help="encrypted links")
    parser.add_argument("--durability", default="round", choices=("round", "30s", "stop"),
                        help="journal.durability (round)")
    parser.add_argument("--no-sync", dest="durability", action="store_const", const="stop",
                        help="do not wait until journals are on the disk")
    parser.add_argument("--codec", action="append", help="instead of fp32, thc:bits=4 and threelc")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                        help="a further setting of the job")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = []
    if not options.json:
        print(f"{options.agents} agents, {options.params} values, journals in "
              f"{tempfile.gettempdir()}; means of {options.rounds} rounds\n"
              f"{'':34}{'coordinator':^49}{'agent':^49}\n{'codec':14}{'round':>10}" +
              2 * f"{'cpu':>10}{'faults':>8}{'written':>10}{'disk':>10}{'peak':>11}")
    for codec in options.codec or ["fp32", "thc:bits=4", "threelc"]:
        result = measure(options, codec)
        results.append(result)
        if not options.json:
            print(f"{codec:14}{1e3 * result['round_s']:7.2f} ms"
                  f"{1e3 * result['median_s']:7.2f} ms" + "".join(
                f"{1e3 * side['cpu_s']:7.2f} ms{side['page_faults']:8.0f}"
                f"{side['written_bytes'] / 1e6:7.2f} MB{side['disk_bytes'] / 1e6:7.2f} MB"
                f"{side['peak_bytes'] / MIB:7.1f} MiB"
                for side in (result["coordinator"], result["agent"])), flush=True)
    if options.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
