#!/usr/bin/env python3
"""Synchronous training beside PyTorch's DistributedDataParallel (DDP) over gloo.

Four agents on nodes of `tributary lab`, each behind a link of one rate, train one TorchScript model on
drawn digits: one batch per step, momentum on the mean gradient. Then four processes of DDP train the
same model on the same pictures over the same links. The coordinator's node has no limit. Links are
not encrypted, because gloo's are not. DDP is taken from Debian's python3-torch.

Printed are the median step, the time of forward and backward (beside an exchange that has begun, but for
DDP, which is timed without one), the time in which an agent's uplink sends nothing, the processor time of
an agent or process in a step, and the bytes that it sends in a step by the counter of its network interface, beside those that its exchange needs. A
row fails if it sends less than it needs. More than it needs is what the coordinator receives
beside a ring, and headers.
"""

import argparse
import json
import math
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple, Optional

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from daemons import Federation  # noqa: E402
from lab_nodes import Failure, LabNodes, answers_of  # noqa: E402
from thin_lab import interface_counters, namespace  # noqa: E402
from training import ask, make_data  # noqa: E402

PYTHON = "/usr/bin/python3"  # only Debian's finds Debian's packages
AGENTS = 4
LEARNING_RATE = 0.01
BATCH = 32
# Steps that do not count: buffers, connections, and DDP's order of buckets.
WARM = 6
START_S_MAX = 300
SAMPLE_S = 0.02
SKIPPED = 77


class Contender(NamedTuple):
    """A codec with its collective, or a hook of DDP."""
    family: str  # "tributary" or "ddp"
    method: str
    collective: str = ""
    beside: str = ""     # the hook of DDP with which it is compared
    at_most: float = 0   # the goal: its step, as a multiple of that of `beside`

    def name(self) -> str:
        return f"{self.method} {self.collective}".strip() if self.family == "tributary" else \
            f"DDP {self.method}"


class Figures(NamedTuple):
    step_s: float
    step_s_p90: float
    compute_s: float       # forward and backward, without an exchange for DDP
    cpu_s: float           # of an agent or process, in a step
    sent_bytes: float      # mean of the agents, in a step, by the interface's counter
    needed_bytes: float    # by the exchange
    loss: float            # of the last steps
    idle_s: float = 0      # of a step, while an agent's uplink has nothing to send


HOOKS = [Contender("ddp", "none"), Contender("ddp", "fp16"), Contender("ddp", "powersgd")]
JOBS = [Contender("tributary", "fp32", "ring", "none", 1.05),
        Contender("tributary", "fp16", "ring", "fp16", 1.05),
        Contender("tributary", "thc:bits=4", "star", "powersgd"),
        Contender("tributary", "threelc", "star", "powersgd", 0.8),
        Contender("tributary", "powersgd:rank=4", "star", "powersgd", 0.8)]


def ring_bytes(size: float) -> float:
    """Sent by one of the agents in a ring all-reduce of so many bytes."""
    return 2 * (AGENTS - 1) / AGENTS * size


class Lab(LabNodes):
    """The coordinator's node 0, and a node with a slow link for each agent."""

    def __init__(self, build: Path, name: str, rate: str):
        links = [word for node in range(1, AGENTS + 1) for word in ("--node", f"{node}:rate={rate}")]
        super().__init__(str(build / "cli/tributary"), name, AGENTS + 1, links)

    def open_counters(self, node: int):
        """Those of a node's interfaces; each reading from the beginning has the current ones."""
        with namespace(f"trib-{self.name}-{node}"):
            return open("/proc/thread-self/net/dev", encoding="ascii")

    def sent_bytes(self) -> list:
        """By the interface of each agent's node."""
        sent = []
        for node in range(1, AGENTS + 1):
            with self.open_counters(node) as file:
                sent.append(sent_by(file))
        return sent


class Uplinks:
    """Samples in the background how much each agent sends, while the object is in use."""

    def __init__(self, lab: Lab):
        self._files = [lab.open_counters(node) for node in range(1, AGENTS + 1)]
        self._samples = []  # time, then the bytes that each agent has sent
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> "Uplinks":
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._end.set()
        self._thread.join()
        for file in self._files:
            file.close()

    def _run(self) -> None:
        while not self._end.wait(SAMPLE_S):
            self._samples.append((time.monotonic(), *map(sent_by, self._files)))

    def idle_share(self, begin_s: float, end_s: float) -> float:
        return idle_share([one for one in self._samples if begin_s <= one[0] <= end_s])


def sent_by(file) -> int:
    file.seek(0)
    return interface_counters(file.read())[1]


def idle_share(samples: list) -> float:
    """The share of the time in which an agent sends less than a tenth of what it sends at most; mean of
    the agents."""
    if len(samples) < 2:
        return math.nan
    rates = [[(now[agent] - then[agent]) / (now[0] - then[0]) for then, now in zip(samples, samples[1:])]
             for agent in range(1, len(samples[0]))]
    most = percentile([rate for one in rates for rate in one], 0.95)
    idle = sum(now[0] - then[0] for one in rates for rate, then, now in zip(one, samples, samples[1:])
               if rate < most / 10)
    return idle / len(rates) / (samples[-1][0] - samples[0][0])


# --- DDP ------------------------------------------------------------------------------------------


def run_ddp(lab: Lab, contender: Contender, model: Path, data: str, options) -> Figures:
    environment = dict(os.environ, MASTER_ADDR=lab.addresses[1], MASTER_PORT="29500",
                       GLOO_SOCKET_IFNAME="eth0", OMP_NUM_THREADS="1")
    with Uplinks(lab) as uplinks:
        outputs = answers_of(
            [[*lab.command(1 + rank), PYTHON, "-B", str(HERE / "process.py"), "--model", str(model),
              "--data", data, "--rank", str(rank), "--size", str(AGENTS), "--hook", contender.method,
              "--batch", str(BATCH), "--learning-rate", str(LEARNING_RATE), "--warm", str(WARM),
              "--steps", str(options.steps)] for rank in range(AGENTS)],
            contender.name(), START_S_MAX + 20 * options.steps, environment)
    figures = ddp_figures(contender.name(), outputs)
    begin_s, end_s = outputs[0]["measured_s"]
    return figures._replace(idle_s=uplinks.idle_share(begin_s, end_s) * figures.step_s)


def ddp_figures(name: str, ranks: list) -> Figures:
    if len({rank["model_sum"] for rank in ranks}) != 1:
        raise Failure(f"{name}: the processes have different models")
    steps = [time for rank in ranks for time in rank["step_s"]]
    losses = [loss for rank in ranks for loss in rank["losses"][-5:]]
    return Figures(statistics.median(steps), percentile(steps, 0.9),
                   statistics.mean(rank["local_s"] for rank in ranks),
                   statistics.mean(rank["cpu_s"] for rank in ranks),
                   statistics.mean(rank["sent_bytes"] for rank in ranks),
                   ring_bytes(ranks[0]["reduced_bytes"]), statistics.mean(losses))


def percentile(values: list, share: float) -> float:
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


# --- Tributary ------------------------------------------------------------------------------------


def federation_of(lab: Lab, contender: Contender, model: Path, data: str, folder: str, options) -> Federation:
    return Federation(
        str(options.build), folder, ["link.encrypted=false", f"journal.durability={options.durability}"],
        ["job.name=ddp", f"job.model_file={model}", "job.input='1x28x28'", "job.classes=10", "job.mode=gradient",
         "job.local_steps=1", "job.optimizer=momentum", f"job.learning_rate={LEARNING_RATE}",
         f"job.batch_size={BATCH}", f"job.codec={contender.method}", f"job.collective={contender.collective}",
         f"job.rounds={WARM + options.steps + 1000}", f"job.agents_min={AGENTS}", "job.quorum=1",
         "job.deadline_ms=600000", *(f"job.{pair}" for pair in options.set)],
        [[f"peers.endpoint=tcp://{lab.addresses[1 + i]}:4650", "trainer.name=torch", "trainer.threads=1",
          f"trainer.model_file={model}", f"data.path={data}", f"data.shard={i}", f"data.shards={AGENTS}",
          "data.evaluate=false", *options.agent_set] for i in range(AGENTS)],
        inside=lab.command, address=lab.addresses[0])


def cpu_s(federation: Federation) -> float:
    """Mean of the agents."""
    return statistics.mean(agent.counters()[0] for agent in federation.agents)


def run_job(lab: Lab, contender: Contender, model: Path, data: str, options) -> Figures:
    with tempfile.TemporaryDirectory(prefix="tributary-ddp-") as folder:
        with federation_of(lab, contender, model, data, folder, options) as federation:
            first, begin_s = federation.wait_for_rounds(WARM, START_S_MAX)
            sent, cpu = lab.sent_bytes(), cpu_s(federation)
            with Uplinks(lab) as uplinks:
                last, end_s = federation.wait_for_rounds(first + options.steps, START_S_MAX + 20 * options.steps)
            rounds = last - first
            cpu = (cpu_s(federation) - cpu) / rounds
            sent = statistics.mean((now - then) / rounds for now, then in zip(lab.sent_bytes(), sent))
        figures = job_figures(federation.journal, contender, first, last, cpu, sent)
        return figures._replace(idle_s=uplinks.idle_share(begin_s, end_s) * figures.step_s)


def job_figures(journal: str, contender: Contender, first: int, last: int, cpu: float,
                sent: float) -> Figures:
    """From the journal of the coordinator, of the rounds from `first` to `last`."""
    with sqlite3.connect(f"file:{journal}?mode=ro", uri=True) as run:
        commits = [row[0] for row in run.execute(
            "SELECT committed_at_ns FROM rounds ORDER BY round LIMIT ? OFFSET ?",
            (last - first + 1, first - 1))]
        used = {row[0] for row in run.execute("SELECT collectives FROM plans")}
    if used != {contender.collective}:
        raise Failure(f"{contender.name()}: rounds were run by {', '.join(sorted(map(str, used)))}")
    if (least := ask(journal, "SELECT min(contributors) FROM contributor_sets")) != AGENTS:
        raise Failure(f"{contender.name()}: a round has {least} contributors instead of {AGENTS}")
    steps = [(end - begin) / 1e9 for begin, end in zip(commits, commits[1:])]
    within = f"round > {first} AND round <= {last}"
    return Figures(statistics.median(steps), percentile(steps, 0.9),
                   ask(journal, f"SELECT avg(compute_s) FROM agent_rounds WHERE {within}"), cpu, sent,
                   ask(journal, f"SELECT avg(bytes_up) FROM agent_rounds WHERE {within}"),
                   ask(journal, f"SELECT avg(loss) FROM agent_rounds WHERE round > {last - 5} AND "
                                f"round <= {last}"))


# --- output ---------------------------------------------------------------------------------------


def ratio_text(contender: Contender, figures: dict) -> str:
    """The step beside that of the hook, and whether it meets the goal."""
    beside = next((one for other, one in figures.items()
                   if other.family == "ddp" and other.method == contender.beside), None)
    if beside is None:
        return ""
    ratio = figures[contender].step_s / beside.step_s
    goal = "" if not contender.at_most else \
        f", goal {contender.at_most}: {'met' if ratio <= contender.at_most else 'MISSED'}"
    return f"{ratio:.2f} x DDP {contender.beside}{goal}"


def wrong_bytes(figures: dict) -> list:
    """Names of those that sent less than their exchange needs, so that a row is not what it says."""
    return [contender.name() for contender, one in figures.items()
            if not one.sent_bytes >= 0.98 * one.needed_bytes]


def row_text(contender: Contender, figures: dict) -> str:
    one = figures[contender]
    return (f"{contender.name():22}{1e3 * one.step_s:8.0f}{1e3 * one.step_s_p90:8.0f}"
            f"{1e3 * one.compute_s:9.0f}{1e3 * one.idle_s:7.0f}{1e3 * one.cpu_s:7.0f}{one.sent_bytes / 1e6:9.3f}"
            f"{one.needed_bytes / 1e6:9.3f}{one.loss:8.3f}  {ratio_text(contender, figures)}")


def lacking() -> Optional[str]:
    """Why nothing can be compared here; None if it can."""
    if os.geteuid() != 0:
        return "a lab needs root; run it with sudo"
    if not Path("/dev/net/tun").exists():
        return "there is no /dev/net/tun"
    if subprocess.run([PYTHON, "-c", "import torch.distributed"], capture_output=True,
                      check=False).returncode != 0:
        return f"{PYTHON} has no package torch; ./dev setup --bench installs python3-torch"
    return None


def parse(words: list) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--rate", default="100mbit", help="of an agent's link (100mbit)")
    parser.add_argument("--lab", default="ddp", metavar="NAME", help="of the lab, which is made anew (ddp)")
    parser.add_argument("--hidden", type=int, default=768,
                        help="columns of the layer that has most values (768: 2.4 M values in all)")
    parser.add_argument("--steps", type=int, default=60, help="steps that are measured (60)")
    parser.add_argument("--only", action="append", metavar="NAME",
                        help="a row, as it is printed; more than one is allowed")
    parser.add_argument("--durability", default="30s", choices=("round", "30s", "stop"),
                        help="journal.durability (30s)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                        help="a further setting of the job")
    parser.add_argument("--agent-set", action="append", default=[], metavar="KEY=VALUE",
                        help="a further setting of the agents: trainer.ahead=true")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(words)


def chosen(names: Optional[list]) -> list:
    contenders = HOOKS + JOBS
    known = [contender.name() for contender in contenders]
    for name in names or []:
        if name not in known:
            raise Failure(f"expected one of {', '.join(known)}, got '{name}'")
    return [contender for contender in contenders if not names or contender.name() in names]


def main(words: list) -> int:
    options = parse(words)
    if reason := lacking():
        print(f"ddp: skipped, because {reason}")
        return SKIPPED
    if not (options.build / "coordinator/tributary-coordinator").exists():
        print(f"ddp: no daemons in {options.build}; ./dev bench ddp builds them, or name another folder "
              "with --build", file=sys.stderr)
        return 2
    figures = {}
    try:
        with tempfile.TemporaryDirectory(prefix="tributary-ddp-") as folder:
            model, contenders = Path(folder) / "model.pt", chosen(options.only)
            subprocess.run([PYTHON, "-B", str(HERE / "process.py"), "--write-model", str(model),
                            "--hidden", str(options.hidden)], check=True)
            data = make_data(str(options.build), folder, ["digits", "--count", "20000", "--test-count", "10"])
            with Lab(options.build, options.lab, options.rate) as lab:
                if not options.json:
                    print(f"{AGENTS} agents behind links of {options.rate}, {lab.congestion_control}, batch "
                          f"{BATCH}, {options.steps} steps; milliseconds and MB of a step\n{'':22}"
                          f"{'median':>8}{'p90':>8}{'compute':>9}{'idle':>7}{'cpu':>7}{'sent':>9}{'needed':>9}"
                          f"{'loss':>8}", flush=True)
                for contender in contenders:
                    run = run_ddp if contender.family == "ddp" else run_job
                    figures[contender] = run(lab, contender, model, data, options)
                    if not options.json:
                        print(row_text(contender, figures), flush=True)
    except Failure as failure:
        print(f"ddp: {failure}", file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps([{"name": contender.name(), **one._asdict()}
                          for contender, one in figures.items()]))
    if names := wrong_bytes(figures):
        print(f"ddp: fewer bytes were sent than needed: {', '.join(names)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
