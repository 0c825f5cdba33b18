#!/usr/bin/env python3
"""Aggregators of sums in the network: tributary-switchd and XDP, alone and beside the other collectives.

usage: in_network.py [--build BUILD] [--seconds S] [--repetitions N] [--only PART ...] [--values N] [--rounds N]
                     [--plane PLANE] [--realtime] [--json]

Parts:
  check        the linear check on one core (tributary-bench in_network)
  xdp          nanoseconds of the XDP program for a contribution of 1,024 values (BPF_PROG_TEST_RUN)
  switchd      contributions per second of tributary-switchd over loopback: four agents on one core,
               the aggregator on another
  veth         contributions per second of XDP in native and generic mode on a virtual Ethernet pair
  collectives  25 MiB of float32 for four agents with links of 1 Gbit/s: levels and sums through
               tributary-switchd at an unlimited link, beside star, sharded star and ring with THC
  thin         jobs between real daemons: the coordinator behind 10 Mbit/s, in the network and by the star
  loss         1 % loss at each agent in both directions, and none: the sums alone, and the same job in the
               network and by the star, with TCP's least time-out as it is and with 5 ms
The agents check all sums. An estimate of the time comes first. Medians are printed beside the goals, and whether
they are met. All but `switchd` need root, and
the last three need the lab; parts that cannot run are skipped with a reason.

The collectives encode and decode THC; through the aggregator go levels that are ready, so the
codec's time is not in its figure. With --realtime all programs run before others (SCHED_RR), which
shows what the machine can do while it is busy."""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import collectives  # noqa: E402
import gateway  # noqa: E402
from gateway import Goal  # noqa: E402
from gateway_lab import Failure, Impossible  # noqa: E402
from lab_nodes import LabNodes, answers_of  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
PLACES = ",".join(str(2 * level) for level in range(16))
PORT, GROUP = 4650, "239.255.1.7:4651"
TICKS = os.sysconf("SC_CLK_TCK")
PARTS = ["check", "xdp", "switchd", "veth", "collectives", "thin", "loss"]
SIZE, SIZE_OF_LOSSES = 25 << 20, 4 << 20  # bytes of float32
SLOTS, WINDOW, WARM_UPS = 1024, 512, 2
SLOTS_OF_A_JOB, WINDOW_OF_AN_AGENT = 512, 32  # without settings
GOALS = {"check": (Goal(">= 1 G values/s", least=1.0),),
         "switchd": (Goal(">= 600,000/s", least=600_000),),
         # On a quiet machine 0.1 to 0.2 ms. A lab that cannot keep up measures itself: 3 ms.
         "links": (Goal("< 1 ms", most=1),),
         "veth native": (Goal(">= 500,000/s", least=500_000),),
         "in_network": (Goal("<= 70 ms", most=70), Goal("<= 0.95 x sharded star", most=0.95, of_ratio=True))}
# Seconds of a part: of a repetition, for each second of load in it, and for each round of its jobs, on a quiet
# machine of two cores.
ESTIMATES_S = {"check": (8, 0, 0), "xdp": (3, 0, 0), "switchd": (2, 1, 0), "veth": (8, 2, 0),
               "collectives": (45, 0, 0), "thin": (30, 0, 7), "loss": (110, 0, 2)}


class Skipped(Exception):
    pass


class Aggregator:
    """A process with settings of its own; `prefix` starts it in a namespace or on a core."""

    def __init__(self, program: Path, prefix: list, address: str, slots: int, *settings: str):
        if not program.exists():
            raise Skipped(f"there is no {program}")
        self.folder = tempfile.TemporaryDirectory()
        job = f"handle=7 epoch=1 agents=4 granularity=30 table=99 slots={slots} places={PLACES}"
        config = Path(self.folder.name) / "switch.toml"
        config.write_text(f'[switch]\nlisten = "{address}:{PORT}"\nslots = {slots}\n'
                          f'state = "{self.folder.name}/epochs"\njobs = ["{job}"]\n' +
                          "".join(line + "\n" for line in settings), encoding="utf-8")
        self.process = subprocess.Popen([*prefix, str(program), "--config", str(config), "--json"],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def __enter__(self) -> "Aggregator":
        for line in self.process.stderr:
            if "listening" in line or "attached" in line:
                return self
        self.process.wait()
        raise Skipped(f"the aggregator ended with {self.process.returncode}")

    def __exit__(self, *_) -> None:
        self.counters = self.stop()

    def stop(self) -> dict:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        out, _ = self.process.communicate(timeout=30)
        self.folder.cleanup()
        lines = out.strip().splitlines()
        return json.loads(lines[-1]) if lines else {}

    def cpu_s(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


def two_cores() -> list:
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise Skipped("there is one core only")
    return cores[:2]


class Bench:
    def __init__(self, arguments):
        self.build = arguments.build
        self.arguments = arguments
        self.agents = self.build / "bench/in_network/tributary-bench-in-network"
        if not self.agents.exists():
            sys.exit(f"in_network: no program {self.agents}; ./dev bench in_network builds it")

    def json(self, *command: str) -> dict:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Skipped((done.stderr or done.stdout).strip())
        return json.loads(done.stdout)

    # --- parts, each a list of rows

    def check(self) -> list:
        program = self.build / "bench/tributary-bench"
        if not program.exists():
            raise Skipped(f"there is no {program}")
        suite = self.json(str(program), "in_network", "--json")["data"]
        return [{"name": f"{row['name']}, best", "value": row["max"] / 1e9, "unit": "G/s", "goals": GOALS["check"]}
                for row in suite["rows"] if row["name"].startswith("linear check")]

    def xdp(self) -> list:
        runs = [self.json(str(self.agents), "xdp", "--phases", "4000")
                for _ in range(self.arguments.repetitions)]
        return [{"name": f"xdp {what}", "value": statistics.median(run[key] for run in runs),
                 "unit": "ns", "goals": ()}
                for what, key in (("contribution", "contribution_ns"), ("result", "result_ns"),
                                  ("two instructions", "nothing_ns"))]

    def busy(self, command: list, aggregator: Aggregator) -> dict:
        cpu_s, began = aggregator.cpu_s(), time.monotonic()
        figures = self.json(*command)
        took = time.monotonic() - began
        return {"per_s": figures["contributions"] / sum(figures["round_s"]),
                "share": (aggregator.cpu_s() - cpu_s) / took,
                "per_cpu_s": figures["contributions"] / max(aggregator.cpu_s() - cpu_s, 1e-3),
                "per_all_cpu_s": figures["contributions"] /
                                 (aggregator.cpu_s() - cpu_s + figures["cpu_s"])}

    def load(self, *options: str) -> list:
        return [str(self.agents), "agents", "--rounds", "1000000", "--seconds",
                f"{self.arguments.seconds:g}", *options]

    def rows_of(self, name: str, runs: list, goals: tuple) -> list:
        def median(key: str) -> float:
            return statistics.median(run[key] for run in runs)
        return [{"name": f"{name}, in a second", "value": median("per_s"), "unit": "/s", "goals": goals},
                {"name": f"{name}, in a second of its process", "value": median("per_cpu_s"),
                 "unit": "/s", "goals": ()},
                {"name": f"{name}, in a second of it and the agents",
                 "value": median("per_all_cpu_s"), "unit": "/s", "goals": ()},
                {"name": f"{name}, share of a core", "value": median("share"), "unit": "", "goals": ()}]

    def switchd(self) -> list:
        first, second = two_cores()
        runs = []
        for _ in range(self.arguments.repetitions):
            with Aggregator(self.build / "switch_p4/switchd/tributary-switchd",
                            ["taskset", "-c", str(first)], "127.0.0.1", 256) as aggregator:
                runs.append(self.busy(["taskset", "-c", str(second),
                                       *self.load("--to", f"127.0.0.1:{PORT}")], aggregator))
        return self.rows_of("switchd", runs, GOALS["switchd"])

    def veth(self) -> list:
        rows = []
        for mode in ("native", "generic"):
            runs = [self.over_veth(mode) for _ in range(self.arguments.repetitions)]
            # The kernel's part of the work is in no process.
            rows += self.rows_of(f"XDP {mode}", runs, GOALS.get(f"veth {mode}", ()))[:1]
            rows.append({"name": f"XDP {mode}, replies by XDP_TX", "unit": "", "goals": (),
                         "value": statistics.median(run["reflected"] for run in runs)})
        return rows

    def over_veth(self, mode: str) -> dict:
        """Generic mode sees what the sender's kernel has not cut yet, so its agents send single packets."""
        first, second = two_cores()
        cut = ["--no-segments"] if mode == "generic" else []
        with VethPair() as pair:
            with Aggregator(self.build / "switch_p4/xdp/tributary-switch-xdp",
                            ["taskset", "-c", str(first), *pair.command("gate")], "10.77.9.1", 256,
                            f'group = "{GROUP}"', 'device = "eth0"', f'mode = "{mode}"') as aggregator:
                pair.pin_packets_of_gate(first)
                run = self.busy(["taskset", "-c", str(second), *pair.command("agents"),
                                 *self.load("--to", f"10.77.9.1:{PORT}", "--group", GROUP,
                                            "--passing", "eth0", *cut)], aggregator)
        counters = aggregator.counters
        replies = counters["reflected"] + counters["handed_over"]
        return {**run, "reflected": counters["reflected"] / max(replies, 1)}

    def collectives(self) -> list:
        programs = collectives.Programs(self.build)
        thc = [collectives.Contender("tributary", name, ("--codec", "thc", "--bucket-values",
                                                         str(collectives.DENSE_BUCKET_VALUES[True])), "thc")
               for name in ("star", "sharded_star", "ring")]
        times = {}
        link = collectives.Link("1gbit", 1000)
        for _ in range(self.arguments.repetitions):
            with collectives.Lab(programs, link, 4, None) as lab:
                for contender in thc:
                    times.setdefault(contender.name(), []).extend(
                        collectives.round_times(lab.run(contender, SIZE, 10, 300)))
            with AggregatorLab(programs, f"rate={link.mbit:g}mbit") as lab:
                times.setdefault("in_network", []).extend(self.through_aggregator(lab, SIZE, SLOTS, WINDOW))
        medians = {name: statistics.median(found) for name, found in times.items()}
        star = medians["tributary sharded_star thc"]
        return [{"name": f"25 MiB, {name}", "value": value * 1e3, "unit": "ms",
                 "ratio": (value / star, "sharded star"), "goals": GOALS.get(name, ())}
                for name, value in medians.items()]

    def of_jobs(self, rows) -> list:
        asked = self.arguments
        return rows(self.build, asked.repetitions, gateway.job(asked.values, asked.rounds, asked.plane))

    def thin(self) -> list:
        return self.of_jobs(gateway.thin_rows)

    def loss(self) -> list:
        """The sums alone, by UDP, and whole rounds, of which the rest goes by TCP."""
        programs, times, late_ms = collectives.Programs(self.build), {}, []
        for _ in range(self.arguments.repetitions):
            for link in (gateway.WITHOUT_LOSS, gateway.WITH_LOSS):
                with AggregatorLab(programs, link) as lab:
                    times.setdefault(link, []).extend(
                        self.through_aggregator(lab, SIZE_OF_LOSSES, SLOTS_OF_A_JOB, WINDOW_OF_AN_AGENT))
                    late_ms.append(lab.late_ms())
        clean, lossy = (statistics.median(times[link]) for link in (gateway.WITHOUT_LOSS, gateway.WITH_LOSS))
        late = {"name": "links of the lab, how late", "value": statistics.median(late_ms), "unit": "ms",
                "goals": GOALS["links"]}
        return [late, *gateway.loss_rows("4 MiB, sums", clean, lossy), *self.of_jobs(gateway.job_loss_rows)]

    def through_aggregator(self, lab, size: int, slots: int, window: int) -> list:
        with Aggregator(self.build / "switch_p4/switchd/tributary-switchd", lab.command(4),
                        lab.addresses[4], slots, f'group = "{GROUP}"'):
            try:
                answers = answers_of(
                    [[*lab.command(rank), str(self.agents), "agents", "--to", f"{lab.addresses[4]}:{PORT}",
                      "--group", GROUP, "--first", str(rank), "--count", "1", "--slots", str(slots), "--window",
                      str(window), "--values", str(size // 4), "--rounds", str(WARM_UPS + 10)] for rank in range(4)],
                    "agents of the aggregator", 600)
            except Failure as failure:
                raise Skipped(str(failure)) from failure
        return collectives.round_times(answers)[WARM_UPS:]


def napi_threads() -> set:
    found = set()
    for comm in Path("/proc").glob("[0-9]*/comm"):
        try:
            if comm.read_text(encoding="utf-8").startswith("napi/"):
                found.add(int(comm.parent.name))
        except OSError:  # it has ended
            continue
    return found


class VethPair:
    """Two namespaces, `gate` with 10.77.9.1 and `agents` with 10.77.9.2, joined by eth0."""

    def __init__(self):
        self.name = f"trib-bench-{os.getpid()}-"

    def __enter__(self) -> "VethPair":
        gate, agents = self.name + "gate", self.name + "agents"
        for line in (f"netns add {gate}", f"netns add {agents}",
                     f"-n {gate} link add eth0 type veth peer name eth0 netns {agents}",
                     f"-n {gate} addr add 10.77.9.1/24 dev eth0",
                     f"-n {agents} addr add 10.77.9.2/24 dev eth0",
                     f"-n {gate} link set eth0 up", f"-n {agents} link set eth0 up",
                     f"-n {agents} route add 224.0.0.0/4 dev eth0",
                     f"-n {gate} route add 224.0.0.0/4 dev eth0"):
            done = subprocess.run(["ip", *line.split()], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                self.__exit__()
                raise Skipped(f"ip {line}: {done.stderr.strip()}")
        return self

    def __exit__(self, *_) -> None:
        for name in ("gate", "agents"):
            subprocess.run(["ip", "netns", "del", self.name + name], capture_output=True, check=False)

    def command(self, which: str) -> list:
        return ["ip", "netns", "exec", self.name + which]

    def pin_packets_of_gate(self, core: int) -> None:
        """Moves the packets that reach the gate from the sender's core to this one (threaded NAPI)."""
        before = napi_threads()
        subprocess.run([*self.command("gate"), "sh", "-c", "echo 1 > /sys/class/net/eth0/threaded"],
                       capture_output=True, check=False)
        for thread in napi_threads() - before:
            os.sched_setaffinity(thread, {core})
            os.sched_setscheduler(thread, os.sched_getscheduler(0), os.sched_getparam(0))


class AggregatorLab(LabNodes):
    """Four agents with these links (as for `lab up --node`), and node 4 without one."""

    def __init__(self, programs, link: str):
        super().__init__(str(programs.tributary), collectives.LAB, 5,
                         [option for node in range(4) for option in ("--node", f"{node}:{link}")])

    def __enter__(self) -> "AggregatorLab":
        super().__enter__()
        for node in range(5):
            subprocess.run([*self.command(node), "ip", "route", "add", "224.0.0.0/4", "dev", "eth0"],
                           capture_output=True, check=False)
        return self


def estimate_s(arguments) -> float:
    return sum(arguments.repetitions * (fixed + load * arguments.seconds + rounds * (arguments.rounds + gateway.WARM_UPS))
               for fixed, load, rounds in (ESTIMATES_S[part] for part in arguments.only))


def line_of(row: dict) -> str:
    ratio = "  {:5.2f} x {}".format(*row["ratio"]) if row.get("ratio") else ""
    goals = "".join(f"  goal {goal.text}: {'met' if goal.met(row) else 'MISSED'}" for goal in row["goals"])
    return f"{row['name']:48} {row['value']:14,.2f} {row['unit']:3}{ratio}{goals}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--seconds", type=float, default=5, help="of load in each repetition (5)")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--values", type=int, default=1 << 20, help="of the jobs' model (1 Mi)")
    parser.add_argument("--rounds", type=int, default=4, help="of a job that count (4)")
    parser.add_argument("--plane", choices=["user", "native", "generic"], default="user",
                        help="of the jobs' aggregator")
    parser.add_argument("--realtime", action="store_true", help="run before other programs; needs root")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    os.umask(0o022)
    if arguments.realtime:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    bench, rows = Bench(arguments), []
    print(f"in_network: {' '.join(arguments.only)}: about {estimate_s(arguments) / 60:.1f} minutes on a quiet machine",
          file=sys.stderr)
    for part in arguments.only:
        began = time.monotonic()
        try:
            found = getattr(bench, part)()
        except (Skipped, collectives.Failure, Failure, Impossible) as reason:
            print(f"in_network: {part} skipped: {reason}", file=sys.stderr)
            continue
        rows += found
        for row in found if not arguments.json else ():
            print(line_of(row), flush=True)
        print(f"in_network: {part} took {time.monotonic() - began:.0f} s", file=sys.stderr)
    if arguments.json:
        print(json.dumps([{**row, "goals": [{"text": goal.text, "met": goal.met(row)} for goal in row["goals"]]}
                          for row in rows]))
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
