"""A federation on nodes of `tributary lab`, and the counters of its agents' links, for bench/thin.py.

Node 0 is the coordinator's and has no limit. Agents are on nodes 1, 2, ..., each behind its own link.
If bytes are counted, segmentation offload is off in all nodes, so interface counters include every
Ethernet frame.
"""

import contextlib
import ctypes
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import threading
import time
from pathlib import Path
from typing import Callable, NamedTuple, Optional

import daemons
from lab_nodes import Failure, LabNodes, finished

LOOK_EVERY_S = 0.2
START_S_MAX = 30
PLAIN_PORT = 4641  # for the transfer without Tributary
METRICS_PORT = 9464  # on the loopback of each node
ACK_FRAME_BYTES = 66  # Ethernet, IP and TCP with timestamps; no payload
CLONE_NEWNET = 0x40000000
SETTINGS = ["journal.durability=stop", "link.encrypted=false", f"metrics.listen=127.0.0.1:{METRICS_PORT}",
            "stop.grace_ms=2000"]


class Link(NamedTuple):
    """The link of an agent; the settings hold in both directions."""
    mbit: float
    delay_ms: float = 0
    loss_percent: float = 0

    def option(self, node: int) -> list:
        """The option for `tributary lab up`."""
        settings = [f"rate={self.mbit:g}mbit"]
        if self.delay_ms:
            settings.append(f"delay={self.delay_ms:g}ms")
        if self.loss_percent:
            settings.append(f"loss={self.loss_percent:g}%")
        return ["--node", f"{node}:{','.join(settings)}"]

    def round_trip_s(self) -> float:
        return 2 * self.delay_ms / 1e3

    def seconds(self, size: float) -> float:
        return size * 8 / (self.mbit * 1e6)


class Counters(NamedTuple):
    """Counters of an agent's link. Frames that only acknowledge carry no TCP payload."""
    stream_in: int = 0  # bytes of TCP streams, without retransmissions
    stream_out: int = 0
    ethernet_in: int = 0  # bytes of frames, without their checksums
    ethernet_out: int = 0
    frames_in: int = 0
    frames_out: int = 0
    ack_frames_in: int = 0
    ack_frames_out: int = 0

    def since(self, before: "Counters") -> "Counters":
        return Counters(*(now - then for now, then in zip(self, before)))


class RunRecord(NamedTuple):
    """Times of the newest job in the coordinator's journal, by the coordinator's wall clock."""
    submitted_ns: int
    commits_ns: list


# --- a node's network namespace -------------------------------------------------------------------


@contextlib.contextmanager
def namespace(name: str):
    """Moves this thread to the network namespace inside the block. Programs started there stay in
    it."""
    libc = ctypes.CDLL(None, use_errno=True)

    def enter(file) -> None:
        if libc.setns(file.fileno(), CLONE_NEWNET) != 0:
            raise Failure(f"setns to {file.name}: {os.strerror(ctypes.get_errno())}; run as root")

    with open("/proc/thread-self/ns/net", "rb") as home, open(f"/run/netns/{name}", "rb") as there:
        enter(there)
        try:
            yield
        finally:
            enter(home)


def interface_counters(lines: str) -> tuple:
    """Bytes and frames of eth0, in and out, from the text of /proc/net/dev."""
    for line in lines.splitlines():
        name, _, numbers = line.partition(":")
        if name.strip() == "eth0":
            values = [int(word) for word in numbers.split()]
            return values[0], values[8], values[1], values[9]
    raise Failure("the agent's node has no eth0; is the lab still up?")


def parse_sockets(lines: str) -> dict:
    """The counters of each connection by its local address, from `ss -tinHO`."""
    connections = {}
    for line in lines.splitlines():
        words = line.split()
        if len(words) > 4:
            connections[words[3]] = {key: int(value) for key, value in
                                     re.findall(r"\b([a-z_]+):(\d+)(?=\s|$)", line)}
    return connections


def stream_counters(connections: dict) -> tuple:
    """Stream bytes and acknowledgement frames, in and out, of all connections."""
    def total(key: str) -> int:
        return sum(one.get(key, 0) for one in connections.values())

    return (total("bytes_received"),
            sum(one.get("bytes_sent", 0) - retransmitted(one) for one in connections.values()),
            total("segs_in") - total("data_segs_in"), total("segs_out") - total("data_segs_out"))


def retransmitted(connection: dict) -> int:
    return connection.get("bytes_retrans", 0)


def parse_metrics(text: str) -> dict:
    """The value of each series by its name with labels, from Prometheus' text."""
    rows = (line.rpartition(" ") for line in text.splitlines() if line and not line.startswith("#"))
    return {series: float(value) for series, _, value in rows}


def noted(metrics: dict, name: str) -> int:
    return int(sum(value for series, value in metrics.items()
                   if series.startswith("tributary_notes_total{") and f'name="{name}"' in series))


def scrape(node: str) -> dict:
    """Empty if the daemon does not listen (yet)."""
    try:
        with namespace(node):
            connection = socket.socket()
        with connection:
            connection.settimeout(2)
            connection.connect(("127.0.0.1", METRICS_PORT))
            connection.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    except OSError:
        return {}
    head, _, text = answer.decode("utf-8").partition("\r\n\r\n")
    return parse_metrics(text) if " 200 " in head.splitlines()[0] else {}


class Trips:
    """Round trips of heartbeats from the coordinator's counters. For several round trips between two
    readings only the mean is known."""

    def __init__(self):
        self.seconds = []
        self.count, self.sum_s = 0.0, 0.0

    def look(self, metrics: dict) -> None:
        count = metrics.get("tributary_round_trips_total", self.count)
        sum_s = metrics.get("tributary_round_trip_seconds_total", self.sum_s)
        if count > self.count:
            fresh = int(count - self.count)
            self.seconds += [(sum_s - self.sum_s) / fresh] * fresh
        self.count, self.sum_s = count, sum_s


# --- the same bytes over plain TCP
# ------------------------------------------------------------------


def receive(connection: socket.socket, size: int) -> None:
    while size > 0:
        got = len(connection.recv(min(size, 1 << 16)))
        if got == 0:
            raise Failure("the other side of a plain transfer has hung up")
        size -= got


def plain_tcp_s(server: str, client: str, address: str, bytes_down: int, bytes_up: int,
                seconds_max: float) -> Optional[float]:
    """Seconds for a connection from the client's node, `bytes_down` to it and then `bytes_up` back.

    None: it took longer than `seconds_max` for some step, or the connection broke."""
    def send_and_wait() -> None:
        try:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(seconds_max)
                connection.sendall(bytes(bytes_down))
                receive(connection, bytes_up)
                ended.append(time.monotonic())
        except (OSError, Failure):
            pass

    ended = []
    with namespace(server):
        listener = socket.create_server((address, PLAIN_PORT))
    with listener:
        listener.settimeout(seconds_max)
        other_side = threading.Thread(target=send_and_wait)
        other_side.start()
        began = time.monotonic()
        try:
            with namespace(client):
                connection = socket.socket()
            with connection:
                connection.settimeout(seconds_max)
                connection.connect((address, PLAIN_PORT))
                receive(connection, bytes_down)
                connection.sendall(bytes(bytes_up))
                other_side.join()
        except (OSError, Failure):
            return None
        finally:
            other_side.join()
    return ended[0] - began if ended else None


# --- one federation -------------------------------------------------------------------------------


class Federation:
    """A federation that runs from start() to the end of its `with` block, which always removes
    it."""

    def __init__(self, tributary: Path, build: Path, name: str, folder: Path, agents: int = 1):
        self.tributary, self.build, self.name, self.folder = tributary, build, name, folder
        self.agents = agents
        self.in_use = contextlib.ExitStack()
        self.lab, self.daemons = None, None
        self.connections = {}  # connections of node 1, including closed ones
        self.trips = Trips()
        self.coordinator_metrics, self.agent_metrics = {}, {}

    def __enter__(self) -> "Federation":
        return self

    def __exit__(self, *_) -> None:
        """Ignores further signals, so that a second Ctrl-C does not interrupt the removal."""
        handlers = {number: signal.signal(number, signal.SIG_IGN)
                    for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            self.in_use.close()
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)

    def node(self, number: int) -> str:
        return f"trib-{self.name}-{number}"

    def start(self, link: Link, count_frames: bool = True) -> None:
        nodes = [word for agent in range(1, self.agents + 1) for word in link.option(agent)]
        self.lab = self.in_use.enter_context(LabNodes(str(self.tributary), self.name, self.agents + 1, nodes))
        for number in range(self.agents + 1 if count_frames else 0):
            finished(["ip", "-n", self.node(number), "link", "set", "dev", "eth0", "gso_max_segs", "1"])
        self.daemons = self.in_use.enter_context(daemons.Federation(
            str(self.build), str(self.folder), SETTINGS, [], [["trainer.name=synthetic"]] * self.agents,
            inside=self.lab.command, address=self.lab.addresses[0], stay=True))
        self.wait_until_connected()

    def kill_agent(self, agent: int) -> None:
        self.daemons.agents[agent - 1].process.kill()
        self.daemons.agents[agent - 1].process.wait()

    def start_agent(self, agent: int) -> None:
        self.daemons.restart_agent(agent - 1)

    def check(self) -> None:
        self.daemons.check("the end of the run")

    def last_words(self) -> str:
        logs = (daemon.log().strip() for daemon in self.daemons.daemons())
        return " | ".join(log.splitlines()[-1] for log in logs if log) or "its log is empty"

    def wait_until_connected(self) -> None:
        def all_connected() -> bool:
            return all(scrape(self.node(agent)).get("tributary_connected") == 1
                       for agent in range(1, self.agents + 1))

        if not self.wait(all_connected, START_S_MAX, self.check):
            raise Failure(f"no session in {START_S_MAX} s: {self.last_words()}")

    def submit(self, **job) -> None:
        """Heartbeats count from this call on."""
        self.trips.seconds.clear()
        text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in job.items())
        file = self.folder / "job.toml"
        file.write_text(text, encoding="utf-8")
        finished([str(self.tributary), "job", "submit", str(file), "--run", self.daemons.journal])

    # --- readings during the run

    def look(self) -> None:
        self.check()
        self.coordinator_metrics = scrape(self.node(0)) or self.coordinator_metrics
        self.agent_metrics = scrape(self.node(1)) or self.agent_metrics
        self.trips.look(self.coordinator_metrics)
        self.look_at_sockets()

    def look_at_coordinator(self) -> None:
        """Uses less CPU time than look(), for rounds that need all of it."""
        self.check()
        self.coordinator_metrics = scrape(self.node(0)) or self.coordinator_metrics

    def look_at_sockets(self) -> None:
        port = self.daemons.endpoint.rpartition(":")[2]
        with namespace(self.node(1)):
            done = subprocess.run(["ss", "-tinHO", "dport", "=", f":{port}"], capture_output=True,
                                  text=True, check=False)
        if done.returncode != 0:
            raise Failure(f"ss: {done.stderr.strip()}; it comes with iproute2")
        self.connections.update(parse_sockets(done.stdout))

    def counters(self) -> Counters:
        """The current counters of agent 1."""
        self.look_at_sockets()
        with namespace(self.node(1)):
            interface = interface_counters(
                Path("/proc/thread-self/net/dev").read_text(encoding="ascii"))
        streams = stream_counters(self.connections)
        return Counters(*streams[:2], *interface, *streams[2:])

    def wait(self, until: Callable[[], bool], seconds_max: float,
             look: Optional[Callable[[], None]] = None) -> bool:
        """Reads all counters before each call of `until`, or calls `look` instead."""
        end = time.monotonic() + seconds_max
        while time.monotonic() < end:
            (look or self.look)()
            if until():
                return True
            time.sleep(LOOK_EVERY_S)
        return False

    def committed(self) -> int:
        return int(sum(value for series, value in self.coordinator_metrics.items()
                       if series.startswith("tributary_rounds_committed_total{")))

    def applied(self) -> int:
        """The version of agent 1's replica."""
        return int(self.agent_metrics.get("tributary_model_version", 0))

    def plain_tcp_s(self, bytes_down: int, bytes_up: int, seconds_max: float) -> Optional[float]:
        """Over the link of agent 1, while only heartbeats use it."""
        return plain_tcp_s(self.node(0), self.node(1), self.lab.addresses[0], bytes_down, bytes_up,
                           seconds_max)

    def sessions_lost(self) -> int:
        """The larger of the counts of agent 1 and of the coordinator."""
        return max(noted(self.agent_metrics, "session_lost"),
                   noted(self.coordinator_metrics, "agent_gone"))

    def record(self) -> RunRecord:
        file = f"file:{self.daemons.journal}?mode=ro"
        with contextlib.closing(sqlite3.connect(file, uri=True, timeout=10)) as journal:
            job = journal.execute("SELECT job, submitted_wall_ns FROM jobs "
                                  "ORDER BY submission DESC LIMIT 1").fetchone()
            rounds = journal.execute("SELECT committed_wall_ns FROM rounds WHERE job = ? "
                                     "ORDER BY round", (job[0],)).fetchall()
        return RunRecord(job[1], [row[0] for row in rounds])
