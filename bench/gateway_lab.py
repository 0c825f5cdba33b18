"""A federation behind a gateway, on nodes of `tributary lab up --gateway`: the coordinator on node 0, the
aggregator on the last node, the agents between them. For bench/gateway.py and its test.

All daemons are real, with encrypted sessions. The coordinator's journal says by which collective each
round was committed.
"""

import json
import os
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple, Optional

from daemons import settings
from lab_nodes import Failure

PORT = 4640
AGGREGATOR_PORT = 4650
GROUP = "239.255.1.7:4651"
LATE_S = 240


class Impossible(Exception):
    """This machine lacks something; the text says what."""


class Setup(NamedTuple):
    """`plane` is user, native or generic; `group` is the aggregator's and `agents_group` the agents'."""
    agents: int = 3
    uplink: str = "rate=10mbit"
    link: str = "rate=1gbit"  # of each agent
    collective: str = "in_network"
    plane: str = "user"
    group: Optional[str] = GROUP
    agents_group: Optional[str] = GROUP
    parameters: int = 100_000
    rounds: int = 6
    settings: tuple = ()  # further ones of the coordinator
    agent_settings: tuple = ()
    rto_min_us: Optional[int] = None  # net.ipv4.tcp_rto_min_us of all nodes; the kernel's is 200 ms


class GatewayFederation:
    """Runs from the beginning to the end of its `with` block, which removes the lab."""

    def __init__(self, build: Path, setup: Setup):
        self.build, self.setup = build, setup
        self.name = f"gateway-{os.getpid()}"
        self.processes = {}
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)

    def __enter__(self) -> "GatewayFederation":
        if os.geteuid() != 0:
            raise Impossible("the lab needs root")
        try:
            self.make_lab()
            self.make_keys()
            self.start_all()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        for process in reversed(self.processes.values()):
            process.terminate()
        for process in reversed(self.processes.values()):
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.tributary("lab", "down", "--name", self.name)
        self.temporary.cleanup()

    # --- the lab and its daemons

    @property
    def gateway(self) -> int:
        return self.setup.agents + 1

    def tributary(self, *words) -> subprocess.CompletedProcess:
        return subprocess.run([str(self.build / "cli/tributary"), *map(str, words)], check=False,
                              capture_output=True, text=True, cwd=self.folder)

    def make_lab(self) -> None:
        made = self.tributary("lab", "up", "--name", self.name, "--nodes", self.setup.agents + 2,
                              "--gateway", self.setup.uplink, "--json",
                              *(word for agent in range(1, self.setup.agents + 1) if self.setup.link
                                for word in ("--node", f"{agent}:{self.setup.link}")))
        if made.returncode != 0:
            raise Impossible(f"no lab: {(made.stderr or made.stdout).strip()}")
        # In generic mode, XDP sees what a virtual device's sender has not cut yet, unlike behind a card.
        for agent in range(1, self.setup.agents + 1 if self.setup.plane == "generic" else 0):
            subprocess.run(["ip", "-n", f"trib-{self.name}-{agent}", "link", "set", "dev", "eth0",
                            "gso_max_segs", "1"], check=True)
        for node in range(self.gateway + 1 if self.setup.rto_min_us else 0):
            done = subprocess.run(["ip", "netns", "exec", f"trib-{self.name}-{node}", "sysctl", "-q", "-w",
                                   f"net.ipv4.tcp_rto_min_us={self.setup.rto_min_us}"],
                                  capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise Impossible(f"TCP's least time-out is fixed here (Linux before 6.11?): {done.stderr.strip()}")
        self.addresses = [node["address"] for node in json.loads(made.stdout)["data"]["nodes"]]

    def make_keys(self) -> None:
        self.must("keys", "new", "--out", "coordinator.key")
        (self.folder / "agents.allow").touch()
        for identity in ("gateway", *(f"agent-{i}" for i in range(1, self.setup.agents + 1))):
            self.must("keys", "join", identity, "--list", "agents.allow", "--coordinator-key-file",
                      "coordinator.key.pub", "--coordinator", f"tcp://{self.addresses[0]}:{PORT}")

    def must(self, *words) -> None:
        done = self.tributary(*words)
        if done.returncode != 0:
            raise Failure(f"tributary {' '.join(words)}: {done.stderr.strip()}")

    def start(self, name: str, node: int, *command) -> None:
        with open(self.folder / f"{name}.log", "a", encoding="utf-8") as log:
            self.processes[name] = subprocess.Popen(
                ["ip", "netns", "exec", f"trib-{self.name}-{node}", *map(str, command)],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def start_all(self) -> None:
        at, setup = self.folder, self.setup
        self.start("coordinator", 0, self.build / "coordinator/tributary-coordinator", "--exit-when-done",
                   *settings([f"link.endpoint=tcp://*:{PORT}", f"link.key_file={at}/coordinator.key",
                              f"link.allow_file={at}/agents.allow", f"journal.file={at}/run.db",
                              "journal.durability=stop", "job.name=gateway", f"job.rounds={setup.rounds}",
                              f"job.parameters={setup.parameters}", "job.codec=thc:bits=4",
                              f"job.agents_min={setup.agents}", f"job.collective={setup.collective}",
                              "job.deadline_ms=120000", *setup.settings]))
        self.wait_for("coordinator", "listening")
        if setup.collective == "in_network":
            self.start_aggregator()
        for agent in range(1, setup.agents + 1):
            own = [f"journal.file={at}/agent-{agent}.db", "journal.durability=stop",
                   f"in_network.listen={self.addresses[agent]}:0",
                   f"peers.endpoint=tcp://{self.addresses[agent]}:0"]
            if setup.agents_group:
                own.append(f"in_network.group={setup.agents_group}")
            self.start(f"agent-{agent}", agent, self.build / "edge_agent/tributary-agent", "--join",
                       at / f"agent-{agent}.join", "--exit-when-done", *settings([*own, *setup.agent_settings]))

    def start_aggregator(self) -> None:
        own = [f"switch.listen={self.addresses[self.gateway]}:{AGGREGATOR_PORT}",
               f"switch.state={self.folder}/epochs"]
        program = self.build / "switch_p4/switchd/tributary-switchd"
        if self.setup.group:
            own.append(f"switch.group={self.setup.group}")
        if self.setup.plane != "user":
            program = self.build / "switch_p4/xdp/tributary-switch-xdp"
            own += ["switch.device=eth0", f"switch.mode={self.setup.plane}"]
            if not program.exists():
                raise Impossible(f"there is no {program.name}: built without libbpf")
        before = self.log("gateway").count(": connected ") if "gateway" in self.processes else 0
        self.start("gateway", self.gateway, program, "--json", "--join", self.folder / "gateway.join",
                   *settings(own))
        if not self.wait_for("gateway", ": connected ", before + 1, may_end=True):
            text = self.log("gateway").strip()
            refused = "loading the XDP program" in text and "permission_denied" in text
            raise (Impossible if refused else Failure)(f"the aggregator ended: {text}")

    # --- what it does

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(encoding="utf-8")

    def wait_for(self, name: str, pattern: str, count: int = 1, may_end: bool = False) -> bool:
        late = time.monotonic() + LATE_S
        while time.monotonic() < late:
            if len(re.findall(pattern, self.log(name))) >= count:
                return True
            if self.processes[name].poll() is not None and len(re.findall(pattern, self.log(name))) < count:
                if may_end:
                    return False
                break
            time.sleep(0.02)
        raise Failure(f"{name} does not say {pattern}: {self.logs()}")

    def logs(self) -> str:
        return "\n".join(f"--- {path.name}\n{path.read_text(encoding='utf-8')[-2000:]}"
                         for path in sorted(self.folder.glob("*.log")))

    def rounds_by(self, collective: str) -> int:
        return len(re.findall(f"round committed .*collective={collective} ", self.log("coordinator")))

    def wait_for_rounds(self, collective: str, count: int) -> None:
        self.wait_for("coordinator", f"round committed .*collective={collective} ", count)

    def kill_gateway(self) -> None:
        self.processes["gateway"].send_signal(signal.SIGKILL)
        self.processes["gateway"].wait()

    def finish(self) -> None:
        """Waits for the end of the job and of all daemons but the aggregator."""
        for name, process in self.processes.items():
            if name == "gateway":
                continue
            try:
                code = process.wait(LATE_S)
            except subprocess.TimeoutExpired:
                raise Failure(f"{name} does not end: {self.logs()}") from None
            if code != 0:
                raise Failure(f"{name} ended with {code}: {self.logs()}")

    def report(self) -> dict:
        """The job in the journal: rounds by collective, and the facts of `tributary report`."""
        done = self.tributary("report", "--run", self.folder / "run.db", "--out", self.folder / "report", "--json")
        if done.returncode != 0:
            raise Failure(f"tributary report: {done.stderr.strip()}")
        return json.loads(done.stdout)["data"]

    def counters(self) -> dict:
        """The aggregator's, after its end."""
        self.processes["gateway"].terminate()
        self.processes["gateway"].wait(20)
        return json.loads([line for line in self.log("gateway").splitlines() if line.startswith("{")][-1])

    def model_hashes(self) -> set:
        """Of the last model that the coordinator has committed and each agent has stored."""
        last = [re.findall(pattern, self.log(name))[-1] for name, pattern in
                [("coordinator", r"round committed .*model_hash=(\S+)"),
                 *((f"agent-{i}", r"model stored .*model_hash=(\S+)") for i in range(1, self.gateway))]]
        return set(last)

    def has_program(self) -> bool:
        """Whether the gateway's interface has an XDP program."""
        shown = subprocess.run(["ip", "-n", f"trib-{self.name}-{self.gateway}", "-d", "link", "show", "eth0"],
                               check=True, capture_output=True, text=True)
        return "xdp" in shown.stdout

    def round_s(self) -> list:
        return [float(text) for text in
                re.findall(r"round published .*seconds=([0-9.e-]+)", self.log("coordinator"))]
