#!/usr/bin/env python3
"""Collectives over real links: ours beside gloo's, in network namespaces that `tributary lab` makes.

In each repetition every contender runs once, over the same lab. The time of a round is that of its
slowest rank, and the output shows the median. The bound is the time of a ring on the link alone. CPU
is that of one rank's process during rounds. After gloo's collectives follow codecs, beside float32 on
the same ring. GComp exchanges captured gradients and knows the optimizer.

With --predicted the script varies latency, rate and ratio, and compares the time of rounds with the
prediction of `tributary plan collective`. Before each setting it measures the codecs on this machine,
whose cores the ranks share.
"""

import argparse
import json
import os
import signal
import statistics
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple, Optional

from lab_nodes import Failure, LabNodes, answers_of, finished

LAB = "bench"
MIB = 1 << 20
BUCKET_VALUES = 64 << 10  # for predictions
# For 25 MiB: 128 buckets on a slow link, where only the last bucket's path is not hidden, and 16 on
# a fast link, where each message costs CPU time. Four owners have equally many.
DENSE_BUCKET_VALUES = {True: 50 << 10, False: 400 << 10}
# Overhead in percent: the headers of Ethernet, IP and TCP at an MTU of 1500, and acknowledgements
# of every second packet of the other direction. The lower bound does not contain it.
OVERHEAD = ((1514 + 66 / 2) / 1448 - 1) * 100

GLOO = ["ring", "ring_chunked", "halving_doubling", "bcube", "segmented_ring", "segmented_bcube"]
OURS = ["sharded_star", "ring", "tree", "halving_doubling", "all_gather"]
# all_gather is for payloads that cannot be added; for float32 it sends twice as much.
DENSE = ["sharded_star", "ring", "halving_doubling"]


class Link(NamedTuple):
    name: str
    mbit: Optional[float] = None  # None: as fast as the machine
    delay_ms: float = 0  # one way, between two nodes

    def options(self) -> list:
        """Options of `tributary lab up`; a packet crosses two links."""
        rate = [] if self.mbit is None else ["--rate", f"{self.mbit:g}mbit"]
        delay = [] if self.delay_ms == 0 else ["--delay", f"{self.delay_ms / 2:g}ms"]
        return rate + delay

    def bound_s(self, nodes: int, size: int) -> Optional[float]:
        if self.mbit is None:
            return None
        return 2 * (nodes - 1) / nodes * size * 8 / (self.mbit * 1e6) + self.delay_ms / 1e3


LINKS = [Link("100mbit", 100), Link("1gbit", 1000), Link("unshaped")]

CODEC_LINKS = [LINKS[1], Link("100mbit-10ms", 100, 10)]
CAPTURES = Path(__file__).parent / "gradients/captured"

# Latency, rate and ratio: a local network, a wide area network and a bad one.
SETTINGS = [(Link(f"{mbit} Mbit/s, {delay} ms", mbit, delay), ratio)
            for mbit, delay in ((1000, 1), (100, 1), (100, 10), (20, 25))
            for ratio in (1, 0.1, 0.01)]


class Contender(NamedTuple):
    family: str  # "gloo" or "tributary"
    algorithm: str
    options: tuple = ()
    note: str = ""

    def name(self) -> str:
        return " ".join(filter(None, (self.family, self.algorithm, self.note)))


class Figures(NamedTuple):
    round_s: float
    cpu_s_per_gb: float  # per GB of float32 contributed by one rank
    cpu_s_per_gb_sent: float
    bytes_sent: float  # bytes that one rank sent in one round


def round_times(ranks: list) -> list:
    """Duration of each round, from its last rank's start to its last rank's end."""
    times = []
    for round_ in zip(*(zip(rank["began_s"], rank["round_s"]) for rank in ranks)):
        times.append(max(began + took for began, took in round_) - max(began for began, _ in round_))
    return times


def summary(runs: list) -> Figures:
    """Summarizes repetitions; each is the list of what its ranks printed."""
    rounds = [time for run in runs for time in round_times(run)]
    ranks = [rank for run in runs for rank in run]
    cpu_s = sum(rank["cpu_user_s"] + rank["cpu_system_s"] for rank in ranks)
    sent = sum(rank["bytes_sent"] for rank in ranks)
    given = sum(rank["bytes"] * rank["rounds"] for rank in ranks)
    return Figures(statistics.median(rounds), cpu_s / given * 1e9, cpu_s / max(sent, 1) * 1e9,
                   sent / sum(rank["rounds"] for rank in ranks))


def check_agreement(name: str, ranks: list) -> None:
    hashes = {rank["sums_hash"] for rank in ranks}
    if len(hashes) != 1:
        raise Failure(f"{name}: ranks have different sums")


class Programs:
    def __init__(self, build: Path):
        self.tributary = build / "cli/tributary"
        self.family = {"tributary": build / "bench/collective/tributary-bench-collective",
                       "gloo": build / "bench/gloo/tributary-bench-gloo"}
        for program in (self.tributary, self.family["tributary"]):
            if not program.exists():
                sys.exit(f"collectives: no program {program}; ./dev bench collectives builds it")

    def has(self, family: str) -> bool:
        return self.family[family].exists()

    def json(self, *arguments: str) -> dict:
        return json.loads(finished([str(self.tributary), *arguments, "--json"]))["data"]


class Lab(LabNodes):
    """Nodes with equal links that run the ranks of a contender."""

    def __init__(self, programs: Programs, link: Link, nodes: int, congestion: Optional[str],
                 name: str = LAB):
        self.programs, self.link = programs, link
        congestion_control = ["--congestion", congestion] if congestion else []
        super().__init__(str(programs.tributary), name, nodes,
                         [*link.options(), *congestion_control])

    def run(self, contender: Contender, size: int, rounds: int, timeout_s: float) -> list:
        with tempfile.TemporaryDirectory() as store:
            answers = answers_of(
                [[*self.command(rank), str(self.programs.family[contender.family]),
                  "--rank", str(rank), "--size", str(self.count), "--store", store,
                  "--address", self.addresses[rank], "--algorithm", contender.algorithm,
                  "--bytes", str(size), "--rounds", str(rounds), *contender.options, "--json"]
                 for rank in range(self.count)], contender.name(), timeout_s)
        data = [answer["data"] for answer in answers]
        check_agreement(contender.name(), data)
        return data


def rounds_for(bound_s: Optional[float], seconds: float) -> int:
    """The number of rounds that fit in the time if only the link counts; without a rate, 1 Gbit/s
    is assumed."""
    return max(3, min(20, int(seconds / (bound_s or 0.3))))


def measure(lab: Lab, contenders: list, size: int, arguments) -> dict:
    bound_s = lab.link.bound_s(lab.count, size)
    rounds = rounds_for(bound_s, arguments.seconds)
    timeout_s = 60 + 20 * (rounds + 2) * (bound_s or 1)
    runs = {contender: [] for contender in contenders}
    for _ in range(arguments.repetitions):
        for contender in contenders:
            try:
                runs[contender].append(lab.run(contender, size, rounds, timeout_s))
            except Failure as failure:
                print(f"collectives: {failure}", file=sys.stderr, flush=True)
    return {contender: summary(done) for contender, done in runs.items() if done}


# --- our collectives and gloo's
# ---------------------------------------------------------------------


def best_gloo(figures: dict) -> Optional[float]:
    return min((one.round_s for contender, one in figures.items() if contender.family == "gloo"),
               default=None)


def comparison(link: Link, nodes: int, size: int, figures: dict) -> list:
    best, bound_s = best_gloo(figures), link.bound_s(nodes, size)
    return [{"link": link.name, "contender": contender.name(), "round_s": one.round_s,
             "to_best_gloo": one.round_s / best if best else None,
             "to_bound": one.round_s / bound_s if bound_s else None,
             "cpu_s_per_gb": one.cpu_s_per_gb, "cpu_s_per_gb_sent": one.cpu_s_per_gb_sent,
             "bytes_sent": one.bytes_sent}
            for contender, one in figures.items()]


def ratio(value: Optional[float]) -> str:
    return "" if value is None else f"{value:.3f}"


def print_comparison(rows: list, congestion_control: str) -> None:
    print(f"\n{rows[0]['link']}, {congestion_control}\n"
          f"{'':32} {'median':>10} {'× gloo':>8} {'× bound':>8} {'CPU s/GB':>9} {'of sent':>8} "
          f"{'MB sent':>8}")
    for row in rows:
        print(f"{row['contender']:32} {row['round_s'] * 1e3:7.1f} ms {ratio(row['to_best_gloo']):>8} "
              f"{ratio(row['to_bound']):>8} {row['cpu_s_per_gb']:9.3f} "
              f"{row['cpu_s_per_gb_sent']:8.3f} {row['bytes_sent'] / 1e6:8.2f}", flush=True)


def dense_contenders(programs: Programs, encrypted: bool, shaped: bool) -> list:
    contenders = []
    if programs.has("gloo"):
        contenders += [Contender("gloo", algorithm) for algorithm in GLOO]
    else:
        print("collectives: no gloo; ./dev setup --bench installs Debian's libgloo-dev",
              file=sys.stderr)
    buckets = ("--bucket-values", str(DENSE_BUCKET_VALUES[shaped]))
    contenders += [Contender("tributary", algorithm, buckets) for algorithm in DENSE]
    if encrypted:
        contenders += [Contender("tributary", algorithm, (*buckets, "--encrypted"), "encrypted")
                       for algorithm in DENSE]
    return contenders


def named(contenders: list, words: Optional[list]) -> list:
    return [one for one in contenders if not words or any(word in one.name() for word in words)]


def compare(programs: Programs, arguments) -> list:
    rows = []
    for link in LINKS:
        contenders = dense_contenders(programs, arguments.encrypted, link.mbit is not None)
        rows += compare_over(link, contenders, comparison, print_comparison, programs, arguments)
    for link in CODEC_LINKS:
        rows += compare_over(link, codec_contenders(), beside_dense, print_codecs, programs,
                             arguments)
    if not rows:
        sys.exit("collectives: no contender has such a name on such a link, or none got through")
    return rows


def compare_over(link: Link, contenders: list, rows_of, show, programs: Programs,
                 arguments) -> list:
    contenders = named(contenders, arguments.only)
    if not contenders or (arguments.link and link.name not in arguments.link):
        return []
    with Lab(programs, link, arguments.nodes, arguments.congestion) as lab:
        figures = measure(lab, contenders, arguments.bytes, arguments)
        rows = rows_of(link, arguments.nodes, arguments.bytes, figures)
        if rows and not arguments.json:
            show(rows, lab.congestion_control)
    return rows


# --- codecs compared with float32
# -------------------------------------------------------------------


def codec_contenders() -> list:
    def one(algorithm: str, codec: str, *options: str) -> Contender:
        return Contender("tributary", algorithm, ("--codec", codec, *options, "--bucket-values",
                                                  str(DENSE_BUCKET_VALUES[True])), codec)

    return [one("ring", "fp32"), one("ring", "gcomp", "--captures", str(CAPTURES)),
            one("ring", "thc"), one("sharded_star", "thc"),
            *(one(name, "star_topk:cr=0.01") for name in ("ring", "halving_doubling",
                                                           "sharded_star")),
            one("all_gather", "topk:cr=0.01"), one("ring", "topk:cr=0.01")]


def beside_dense(link: Link, _nodes: int, _size: int, figures: dict) -> list:
    dense = next((one.round_s for contender, one in figures.items() if contender.note == "fp32"),
                 None)
    return [{"link": link.name, "contender": contender.name(), "round_s": one.round_s,
             "to_dense": one.round_s / dense if dense else None,
             "cpu_s_per_gb": one.cpu_s_per_gb, "bytes_sent": one.bytes_sent}
            for contender, one in figures.items()]


def print_codecs(rows: list, congestion_control: str) -> None:
    print(f"\n{rows[0]['link']}, {congestion_control}, with codecs\n"
          f"{'':48} {'median':>10} {'× dense':>8} {'CPU s/GB':>9} {'MB sent':>8}")
    for row in rows:
        print(f"{row['contender']:48} {row['round_s'] * 1e3:7.1f} ms {ratio(row['to_dense']):>8} "
              f"{row['cpu_s_per_gb']:9.3f} {row['bytes_sent'] / 1e6:8.2f}", flush=True)


# --- comparison with the prediction
# -----------------------------------------------------------------


def predicted_bucket_values(arguments) -> int:
    """Bucket size of the other comparison, or less, so that every agent owns two buckets."""
    values = arguments.bytes // 4
    return max(64, min(BUCKET_VALUES, -(-values // (2 * arguments.nodes))))


class Costs(NamedTuple):
    """CPU costs of payloads on this machine, at each end and on the path between."""
    message_us: float
    byte_ns: float

    def options(self) -> tuple:
        return ("--message-us", f"{self.message_us:.1f}", "--byte-ns", f"{self.byte_ns:.2f}")


CALIBRATION = Link("calibration", 1000, 1)
SMALL = (256, 64)  # number of buckets, and values of each
LARGE = (32, 1 << 16)
CALIBRATION_ROUNDS = 24


def relays_s() -> float:
    """CPU seconds that the relays of labs have used; the kernel charges the reception of their
    packets to them."""
    ticks = 0
    for process in Path("/proc").iterdir():
        try:
            if (process / "comm").read_text() == "tributary-relay\n":
                ticks += sum(map(int, (process / "stat").read_text().rsplit(")")[-1].split()[11:13]))
        except (OSError, UnicodeDecodeError):
            pass  # not a process, or one that has ended
    return ticks / os.sysconf("SC_CLK_TCK")


class RoundCost(NamedTuple):
    """CPU seconds of all ranks together: own work, and work of the kernel and the path for them."""
    own_s: float
    way_s: float


def cost_of_round(lab: Lab, buckets: int, values: int) -> RoundCost:
    contender = Contender("tributary", "sharded_star", ("--bucket-values", str(values)))
    before = relays_s()
    ranks = lab.run(contender, 4 * values * buckets, CALIBRATION_ROUNDS, 60)
    way_s = relays_s() - before + sum(rank["cpu_system_s"] for rank in ranks)
    return RoundCost(sum(rank["cpu_user_s"] for rank in ranks) / CALIBRATION_ROUNDS,
                     way_s / CALIBRATION_ROUNDS)


def costs(programs: Programs, arguments) -> Costs:
    name = getattr(arguments, "lab", LAB)
    with Lab(programs, CALIBRATION, arguments.nodes, arguments.congestion, name) as lab:
        small, large = (cost_of_round(lab, *size) for size in (SMALL, LARGE))
    return costs_from(small, large, arguments.nodes)


def costs_from(small: RoundCost, large: RoundCost, nodes: int) -> Costs:
    """The ranks' own work for a large bucket is mostly its codec, which is counted elsewhere."""
    ends = 4 * (nodes - 1)  # ends per bucket: up and down, sent and received
    message_s = (small.own_s + small.way_s) / SMALL[0] / ends
    more_s = large.way_s / LARGE[0] - small.way_s / SMALL[0]
    return Costs(message_s * 1e6, max(more_s, 0) / ends / (4 * (LARGE[1] - SMALL[1])) * 1e9)


def predicted(programs: Programs, link: Link, kept: float, cost: Costs, arguments) -> dict:
    assert link.mbit is not None
    cores = min(1.0, (os.cpu_count() or 1) / arguments.nodes)
    return programs.json("plan", "collective", "--alpha-ms", f"{link.delay_ms:g}",
                         "--gbps", f"{link.mbit / 1e3:g}", "--params", str(arguments.bytes // 4),
                         "--cr", f"{kept:g}", "--agents", str(arguments.nodes),
                         "--bucket-values", str(predicted_bucket_values(arguments)),
                         "--overhead", f"{OVERHEAD:.3f}", "--cores-per-agent", f"{cores:g}",
                         *cost.options(), "--measure")


def check_predictions(programs: Programs, arguments) -> list:
    rows = []
    buckets = ("--bucket-values", str(predicted_bucket_values(arguments)))
    cost = costs(programs, arguments)
    for link, kept in SETTINGS:
        plan = predicted(programs, link, kept, cost, arguments)
        contenders = {name: Contender("tributary", name,
                                      ("--codec", plan["codecs"][name], *buckets),
                                      plan["codecs"][name])
                      for name in OURS}
        with Lab(programs, link, arguments.nodes, arguments.congestion) as lab:
            figures = measure(lab, list(contenders.values()), arguments.bytes, arguments)
        for name, contender in contenders.items():
            if contender not in figures:
                continue
            measured_s, predicted_s = figures[contender].round_s, plan["predicted_s"][name]
            rows.append({"link": link.name, "kept": kept, "collective": name,
                         "codec": plan["codecs"][name], "measured_s": measured_s,
                         "predicted_s": predicted_s, "error": predicted_s / measured_s - 1,
                         "bytes_sent": figures[contender].bytes_sent,
                         "load": os.getloadavg()[0]})
            if not arguments.json:
                print_prediction(rows[-1])
    return rows


def print_prediction(row: dict) -> None:
    print(f"{row['link']:20} CR {row['kept']:<5g} {row['collective']:17} "
          f"{row['measured_s'] * 1e3:9.1f} ms measured {row['predicted_s'] * 1e3:9.1f} ms predicted "
          f"{row['error'] * 100:+6.1f} %   load {row['load']:.1f}", flush=True)


def errors_of(rows: list) -> list:
    """Errors of every collective, and of all together."""
    summaries = []
    for name in [*OURS, "all"]:
        errors = [abs(row["error"]) for row in rows if name in (row["collective"], "all")]
        if errors:
            summaries.append({"collective": name, "median_error": statistics.median(errors),
                              "worst_error": max(errors)})
    return summaries


def print_errors(rows: list) -> None:
    print()
    for one in errors_of(rows):
        print(f"{one['collective']:17} median error {one['median_error'] * 100:5.1f} %, "
              f"worst {one['worst_error'] * 100:5.1f} %")


# --- the command line -------------------------------------------------------------------------------


def parse(words: list) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build/release"),
                        help="where the programs are (build/release)")
    parser.add_argument("--nodes", type=int, default=4, help="ranks, each on a node (4)")
    parser.add_argument("--bytes", type=int,
                        help="of float32 (25 MiB; with --predicted 8 MiB)")
    parser.add_argument("--link", action="append",
                        choices=[link.name for link in [*LINKS, CODEC_LINKS[1]]],
                        help="only this one; may be repeated")
    parser.add_argument("--only", action="append", metavar="WORD",
                        help="only contenders with this in their name; may be repeated")
    parser.add_argument("--repetitions", type=int, default=3,
                        help="turns of every contender (3)")
    parser.add_argument("--seconds", type=float, default=6,
                        help="that a turn is to take on a perfect line; 3 to 20 rounds (6)")
    parser.add_argument("--encrypted", action="store_true", help="ours under TLS as well")
    parser.add_argument("--congestion", metavar="NAME",
                        help="TCP's congestion control in the nodes (the system's)")
    parser.add_argument("--predicted", action="store_true",
                        help="12 settings of latency, rate and ratio, against the prediction")
    parser.add_argument("--json", action="store_true", help="one JSON object, at the end")
    arguments = parser.parse_args(words)
    if arguments.bytes is None:
        arguments.bytes = (8 if arguments.predicted else 25) * MIB
    if arguments.nodes < 2 or arguments.bytes < 4 or arguments.repetitions < 1:
        parser.error("--nodes takes 2 or more, --bytes 4 or more, --repetitions 1 or more")
    return arguments


def main() -> int:
    arguments = parse(sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("collectives: told to end"))
    programs = Programs(arguments.build)
    if os.geteuid() != 0:
        sys.exit("collectives: network namespaces need root; run it as root")
    try:
        rows = (check_predictions if arguments.predicted else compare)(programs, arguments)
    except Failure as failure:
        sys.exit(f"collectives: {failure}")
    if arguments.json:
        data = {"nodes": arguments.nodes, "bytes": arguments.bytes, "rows": rows}
        if arguments.predicted:
            data["errors"] = errors_of(rows)
        print(json.dumps({"schema_version": 1, "status": "ok", "data": data}))
    elif arguments.predicted:
        print_errors(rows)
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
