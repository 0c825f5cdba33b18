#!/usr/bin/env python3
"""Rounds over thin links: time, bytes and sessions beside what the payloads alone need.

A coordinator and one agent run on two nodes of `tributary lab`, without encryption. The agent's link
has a rate and may have a delay and losses; the coordinator's has no limit. The trainer is synthetic,
so that its time does not count. Journals are not synced.

Time zero is the submission of the job (`tributary job submit`); the agent is connected before. The
agent has no model then and downloads it. Counters begin at that moment as well, and end when the
agent has applied the last round. Commit times come from the coordinator's journal.

The time of the bytes alone is payload bytes over the link's rate: model and first update for the first
commit, update and aggregate for each round after it. A round needs one payload up and one down, of the
sizes that `tributary codec measure` reports; the journal's counts include repeated parts. Received and
sent bytes are counted twice: in TCP's streams (ss) and as Ethernet frames of the agent's interface. The
second count includes all headers and retransmissions. Frames that only acknowledge data of the other
direction are counted separately.

--resume, --soak and --fast run another part instead of the table; docs/thin_links.md explains all.
"""

import argparse
import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Optional

from thin_criteria import HEAD, ROUNDS, Outcome, bytes_met, criteria, missed, number, row_text, \
    verdict_text
from thin_lab import Counters, Failure, Federation, RunRecord
from thin_rows import SHORT, TABLE, Row, sized

RESUME = "1/1.0/fp32"
SOAK = "0.1/0.26/fp32"
# a part at 1 Mbit/s has 22 KiB; the framing of the whole model counts, too
PART_BYTES_MAX = 64 << 10
FAST_VALUES, FAST_AGENTS, FAST_CODECS = 1 << 22, 4, ["fp32", "thc:bits=4"]
FAST_ROUNDS = {1000: 12, 100: 6}  # key: Mbit/s
LOOPBACK_ROUNDS = 15


# --- one row --------------------------------------------------------------------------------------


@contextlib.contextmanager
def folder_for(arguments, name: str):
    """The folder for journals and logs: kept if --keep names one, otherwise removed."""
    if not arguments.keep:
        with tempfile.TemporaryDirectory(prefix="tributary-thin-") as folder:
            yield Path(folder)
        return
    folder = arguments.keep / name.replace("/", "_")
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise Failure(f"--keep: {folder} is not empty; remove it or name another folder")
    yield folder


@contextlib.contextmanager
def federation(arguments, name: str, build: Optional[Path] = None, agents: int = 1):
    with folder_for(arguments, name) as folder:
        with Federation(arguments.build / "cli/tributary", build or arguments.build, arguments.lab,
                        folder, agents) as made:
            yield made


def submit(one: Federation, row: Row, rounds: int) -> None:
    deadline_s = max(60.0, row.first_s_max())
    one.submit(name="thin", rounds=rounds, parameters=row.values, codec=row.codec,
               agents_min=one.agents, quorum=1.0, deadline_ms=int(1000 * deadline_s),
               preliminary_deadline_ms=int(1000 * deadline_s))


def run_row(arguments, row: Row) -> Outcome:
    with federation(arguments, row.name) as one:
        one.start(row.link)
        before, began = one.counters(), time.monotonic()
        submit(one, row, ROUNDS)
        one.wait(lambda: one.committed() > 0, row.first_s_max())
        ended = one.committed() > 0 and one.wait(lambda: one.applied() >= ROUNDS,
                                                 row.rest_s_max(ROUNDS))
        counters = one.counters().since(before)
        made = outcome(row, one, counters, ended, time.monotonic() - began)
        if arguments.short:
            return made
        return made._replace(first_tcp_s=one.plain_tcp_s(row.model_bytes(), row.bytes_up,
                                                         row.first_s_max()))


def outcome(row: Row, one: Federation, counters: Counters, ended: bool, watched_s: float) -> Outcome:
    record = one.record()
    commits, trips = len(record.commits_ns), one.trips.seconds
    return Outcome(
        row=row.name, mbit=row.link.mbit, model_bytes=row.model_bytes(), codec=row.codec,
        delay_ms=row.link.delay_ms, loss_percent=row.link.loss_percent,
        commits=commits, ended=ended, first_s=first_s(record), first_bytes_s=row.first_bytes_s(),
        round_s=statistics.median(later_s(record)) if commits > 1 else None,
        round_bytes_s=row.round_bytes_s(), needed_in=row.model_bytes() + commits * row.bytes_down,
        needed_out=max(1, commits) * row.bytes_up, counters=counters, heartbeats=len(trips),
        heartbeat_s_median=statistics.median(trips) if trips else None,
        heartbeat_s_max=max(trips, default=None), sessions_lost=one.sessions_lost(),
        watched_s=watched_s)


def first_s(record: RunRecord) -> Optional[float]:
    return (record.commits_ns[0] - record.submitted_ns) / 1e9 if record.commits_ns else None


def later_s(record: RunRecord) -> list:
    """Seconds from each commit to the next one."""
    return [(after - before) / 1e9
            for before, after in zip(record.commits_ns, record.commits_ns[1:])]


def say(arguments, text: str) -> None:
    print(text, flush=True, file=sys.stderr if arguments.json else sys.stdout)


# --- parts of the program
# ---------------------------------------------------------------------------


def table(arguments) -> tuple:
    rows = [sized(arguments, text)
            for text in arguments.rows or (SHORT if arguments.short else TABLE)]
    say(arguments, HEAD)
    outcomes, broken = [], []
    for row in rows:
        try:
            outcomes.append(run_row(arguments, row))
        except Failure as failure:
            broken.append(row.name)
            print(f"thin: {row.name}: {failure}", file=sys.stderr, flush=True)
            continue
        say(arguments, row_text(outcomes[-1]))
        say(arguments, verdict_text(outcomes[-1]))
    met = sum(not missed(criteria(one)) for one in outcomes)
    say(arguments, f"\nmet in {met} of {len(rows)} rows")
    if arguments.short:
        broken += [one.row for one in outcomes if not bytes_met(one)]
    if broken:
        say(arguments, f"failed: {', '.join(broken)}")
    return {"rows": [as_data(one) for one in outcomes], "failed": broken}, not broken


def as_data(one: Outcome) -> dict:
    return {**one._asdict(), "counters": one.counters._asdict(), "ratios": one.ratios(),
            "criteria": [each._asdict() for each in criteria(one)]}


def resume(arguments) -> tuple:
    """Kills the agent when half of the model has arrived, and starts it again."""
    row = sized(arguments, arguments.rows[0] if arguments.rows else RESUME)
    with federation(arguments, "resume") as one:
        one.start(row.link)
        before = one.counters()

        def received() -> int:
            return one.counters().since(before).stream_in

        submit(one, row, 1)
        if not one.wait(lambda: received() >= row.model_bytes() / 2, row.first_s_max()):
            raise Failure("--resume: half of the model did not come in time")
        at_kill = received()
        one.kill_agent(1)
        one.agent_metrics = {}  # those of the first process
        one.start_agent(1)
        began = time.monotonic()
        ended = one.wait(lambda: one.applied() >= 1, row.first_s_max())
        data = resume_data(arguments, row, at_kill, received(), ended)
    say(arguments, f"killed after {at_kill} of {row.model_bytes()} bytes of the model; "
        f"{'applied' if ended else 'not applied'} {time.monotonic() - began:.1f} s later\n"
        f"received twice, with all framing: {data['twice_bytes']} bytes, limit one part "
        f"({arguments.part_bytes}): {verdict(data)}")
    return data, True


def resume_data(arguments, row: Row, at_kill: int, received: int, ended: bool) -> dict:
    twice = received - row.model_bytes() - row.bytes_down
    return {"row": row.name, "model_bytes": row.model_bytes(), "received_at_kill": at_kill,
            "received": received, "twice_bytes": twice, "ended": ended,
            "met": ended and twice <= arguments.part_bytes}


def verdict(data: dict) -> str:
    return "met" if data["met"] else "MISSED"


def soak(arguments) -> tuple:
    """Runs rounds without waiting for any: the session must stay."""
    row = sized(arguments, arguments.rows[0] if arguments.rows else SOAK)
    with federation(arguments, "soak") as one:
        one.start(row.link)
        began = time.monotonic()
        submit(one, row, 1_000_000)
        while time.monotonic() - began < arguments.soak:
            one.wait(lambda: False, min(60.0, began + arguments.soak - time.monotonic()))
            print(f"thin: {time.monotonic() - began:.0f} s, {one.committed()} commits, "
                  f"{one.sessions_lost()} sessions lost", file=sys.stderr, flush=True)
        trips = one.trips.seconds
        data = {"row": row.name, "seconds": arguments.soak, "commits": one.committed(),
                "sessions_lost": one.sessions_lost(), "heartbeats": len(trips),
                "heartbeat_s_max": max(trips, default=None)}
    data["met"] = data["sessions_lost"] == 0 and data["commits"] > 0
    say(arguments, f"{row.name} for {arguments.soak:g} s: {data['commits']} commits, "
        f"{data['sessions_lost']} sessions lost, slowest heartbeat "
        f"{number(data['heartbeat_s_max'], 0)} s: {verdict(data)}")
    return data, True


# --- comparison with another build
# ------------------------------------------------------------------


def loopback_s(_, build: Path, codec: str) -> float:
    """Median of a round over loopback, without a lab."""
    command = [str(build / "cli/tributary"), "load", "--agents", str(FAST_AGENTS), "--params",
               str(FAST_VALUES), "--codec", codec, "--rounds", str(LOOPBACK_ROUNDS), "--curve", "off",
               "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()}")
    return json.loads(done.stdout)["data"]["round_s_median"]


def over_link(mbit: int):
    def round_s(arguments, build: Path, codec: str) -> float:
        row = sized(arguments, f"{mbit}/16.8/{codec}")
        with federation(arguments, f"fast-{mbit}-{time.monotonic_ns()}", build, FAST_AGENTS) as one:
            one.start(row.link, count_frames=False)
            submit(one, row, FAST_ROUNDS[mbit])
            if not one.wait(lambda: one.committed() >= FAST_ROUNDS[mbit],
                            120 + row.rest_s_max(FAST_ROUNDS[mbit]), one.look_at_coordinator):
                raise Failure(f"{build} at {mbit} Mbit/s with {codec}: {one.committed()} commits of "
                              f"{FAST_ROUNDS[mbit]}: {one.last_words()}")
            return statistics.median(later_s(one.record()))

    return round_s


def fast(arguments) -> tuple:
    links = {"loopback": loopback_s, "1 Gbit/s": over_link(1000), "100 Mbit/s": over_link(100)}
    rows = []
    say(arguments, f"{'':24} {'this s':>8} {'other s':>8} {'this / other':>12}   of {arguments.turns} "
                   f"turns each, in alternation")
    for name, round_s in links.items():
        for codec in FAST_CODECS:
            rows.append(beside(arguments, f"{name}, {codec}", round_s, codec))
            say(arguments, fast_text(rows[-1]))
    return {"rows": rows}, True


def beside(arguments, name: str, round_s, codec: str) -> dict:
    this, other = [], []
    for _ in range(arguments.turns):
        this.append(round_s(arguments, arguments.build, codec))
        other.append(round_s(arguments, arguments.other, codec))
    medians = statistics.median(this), statistics.median(other)
    return {"name": name, "this_s": this, "other_s": other, "this_s_median": medians[0],
            "other_s_median": medians[1], "ratio": medians[0] / medians[1]}


def fast_text(row: dict) -> str:
    turns = "  ".join(f"{this:.3f} {other:.3f}" for this, other in zip(row["this_s"], row["other_s"]))
    return (f"{row['name']:24} {row['this_s_median']:8.3f} {row['other_s_median']:8.3f} "
            f"{row['ratio']:12.3f}   {turns}")


# --- the command line -----------------------------------------------------------------------------


def parse(words: list) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build/release"),
                        help="where the programs are (build/release)")
    parser.add_argument("--rows", nargs="+", metavar="ROW",
                        help="RATE/MB/CODEC[/DELAYms][/LOSS%%], with the rate in Mbit/s; default: "
                             + " ".join(TABLE).replace("%", "%%"))
    parser.add_argument("--short", action="store_true",
                        help="three rows in less than two minutes; fails on bytes, not on time")
    parser.add_argument("--resume", action="store_true",
                        help=f"kill the agent in the middle of the model's download ({RESUME})")
    parser.add_argument("--soak", type=float, metavar="SECONDS",
                        help=f"run for so long and count lost sessions ({SOAK})")
    parser.add_argument("--fast", action="store_true",
                        help="seconds of a round over fast links, beside the build of --other")
    parser.add_argument("--other", type=Path, metavar="BUILD", help="for --fast")
    parser.add_argument("--turns", type=int, default=2, help="of each build, for --fast (2)")
    parser.add_argument("--part-bytes", type=int, default=PART_BYTES_MAX, metavar="N",
                        help=f"of the largest part of a model, for --resume ({PART_BYTES_MAX})")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="for journals and logs")
    parser.add_argument("--lab", default="thin", metavar="NAME", help="of the lab (thin)")
    parser.add_argument("--json", action="store_true", help="one JSON object, at the end")
    arguments = parser.parse_args(words)
    check(parser, arguments)
    return arguments


def check(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    parts = [arguments.short, arguments.resume, arguments.soak is not None, arguments.fast]
    if sum(parts) > 1:
        parser.error("--short, --resume, --soak and --fast: one of them at a time")
    if arguments.short and arguments.rows:
        parser.error("--short has its own rows; leave --rows out")
    if arguments.rows and (arguments.fast or len(arguments.rows) > 1 and (
            arguments.resume or arguments.soak is not None)):
        parser.error("--resume and --soak take one row, --fast takes none")
    if arguments.fast != (arguments.other is not None):
        parser.error("--fast and --other BUILD go together")
    if arguments.turns < 1 or (arguments.soak is not None and arguments.soak <= 0):
        parser.error("--turns and --soak take a number above 0")
    arguments.build = arguments.build.resolve()
    arguments.other = arguments.other.resolve() if arguments.other else None
    arguments.keep = arguments.keep.resolve() if arguments.keep else None


def check_programs(arguments: argparse.Namespace) -> None:
    for build in filter(None, [arguments.build, arguments.other]):
        for program in ("cli/tributary", "coordinator/tributary-coordinator",
                        "edge_agent/tributary-agent"):
            if not (build / program).exists():
                raise Failure(f"no program {build / program}; ./dev bench thin builds it in "
                              f"build/release, --build names another folder")


def part(arguments: argparse.Namespace) -> tuple:
    if arguments.resume:
        return resume(arguments)
    if arguments.soak is not None:
        return soak(arguments)
    return fast(arguments) if arguments.fast else table(arguments)


def main() -> int:
    arguments = parse(sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("thin: told to end"))
    if os.geteuid() != 0:
        sys.exit("thin: network namespaces need root; run it as root")
    try:
        check_programs(arguments)
        data, met = part(arguments)
    except Failure as failure:
        sys.exit(f"thin: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)
    if arguments.json:
        print(json.dumps({"schema_version": 1, "status": "ok", "data": data}))
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
