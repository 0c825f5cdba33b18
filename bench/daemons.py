"""A coordinator and its agents as daemons, and what the kernel has counted for each of them."""

import contextlib
import os
import re
import subprocess
import time

from lab_nodes import Failure

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
LATE_S = 300
# A coordinator ends by itself after 180 s, also when its disk has not everything.
STOP_S_MAX = 200
THREADS = ["loop", "messages", "trainer", "other"]  # other: the journal and codecs' helpers
LISTENS = r"listening.*endpoint=\"?(tcp://[^\s\"]+)"


def settings(pairs):
    return [word for pair in pairs for word in ("-s", pair)]


def here(_node):
    """The words with which a program runs in a node, if all of them are this machine."""
    return []


class Daemon:
    """A process that logs to a file, and what the kernel has counted for it."""

    def __init__(self, command, folder, name, environment=None):
        self.name = name
        self._log_path = os.path.join(folder, f"{name}.log")
        with open(self._log_path, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                            env=os.environ | (environment or {}))
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

    def thread_cpu_s(self):
        """Processor seconds of the main thread, of libzmq's, the trainer's, and of the others that still run."""
        used = dict.fromkeys(THREADS, 0.0)
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                name = self._counters_of(f"task/{thread}/comm").strip()
                kind = "loop" if int(thread) == self.process.pid else \
                    "messages" if name.startswith("ZMQ") else "trainer" if name == "trainer" else "other"
                used[kind] += int(self._counters_of(f"task/{thread}/schedstat").split()[0]) / 1e9
        return used

    def peak_bytes(self):
        return int(re.search(r"VmHWM:\s+(\d+)", self._counters_of("status"))[1]) * 1024


class Federation:
    """A coordinator and its agents, with journals in a folder; all are stopped at the end of a `with` block.

    `common`, `coordinator` and each entry of `agents` are settings: of all daemons, of the coordinator, and of an
    agent; they override those that stand here. `inside(node)` has the words with which a program runs in a node: 0 is
    the coordinator's, with this address. Daemons end with their job, unless they `stay`.
    """

    def __init__(self, build, folder, common, coordinator, agents, *, inside=here, address="127.0.0.1",
                 environment=None, stay=False):
        self._folder, self._environment = folder, environment
        end = [] if stay else ["--exit-when-done"]
        self.journal = f"{folder}/coordinator.db"
        self.endpoint = f"tcp://{address}:*"
        self._coordinator = [
            *inside(0), os.path.join(build, "coordinator", "tributary-coordinator"), *end,
            *settings([f"journal.file={self.journal}", *common, *coordinator])]
        self._agents = [
            [*inside(1 + i), os.path.join(build, "edge_agent", "tributary-agent"), *end,
             *settings([f"agent_id=agent-{i}", f"journal.file={folder}/agent-{i}.db",
                        "peers.endpoint=tcp://127.0.0.1:0", *common, *own])] for i, own in enumerate(agents)]
        self.coordinator, self.agents = None, []

    def __enter__(self):
        try:
            self.restart_coordinator()
            self._wait_until(lambda: re.search(LISTENS, self.coordinator.log()), "its address")
            self.endpoint = re.search(LISTENS, self.coordinator.log())[1]
            for i in range(len(self._agents)):
                self.agents.append(self._start_agent(i))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        """Each daemon gets one signal: a second one would end it without its orderly stop."""
        for daemon in self.daemons():
            daemon.process.terminate()
        for daemon in self.daemons():
            try:
                daemon.process.wait(STOP_S_MAX)
            except subprocess.TimeoutExpired:
                daemon.process.kill()
                daemon.process.wait()

    def _start(self, name, command, endpoint):
        return Daemon([*command, *settings([endpoint])], self._folder, name, self._environment)

    def _start_agent(self, i):
        return self._start(f"agent-{i}", self._agents[i], f"link.coordinator={self.endpoint}")

    def daemons(self):
        return [*self.agents, self.coordinator]

    def restart_coordinator(self):
        """Begins another process, and another log, after the one before has ended."""
        self.coordinator = self._start("coordinator", self._coordinator, f"link.endpoint={self.endpoint}")

    def restart_agent(self, i):
        self.agents[i] = self._start_agent(i)

    def check(self, what):
        """Fails if a daemon has ended before `what`."""
        for daemon in self.daemons():
            if daemon.process.poll() is not None:
                raise Failure(f"a daemon ended before {what}: {daemon.log()[-3000:]}")

    def _wait_until(self, there, what, late_s=LATE_S):
        late = time.monotonic() + late_s
        while not there():
            self.check(f"{what} was in the log of the coordinator")
            if time.monotonic() > late:
                raise Failure(f"{what} is not in the log of the coordinator after {late_s:.0f} s: "
                              f"{self.coordinator.log()[-3000:]}")
            time.sleep(0.02)

    def wait_for_rounds(self, count, late_s=LATE_S):
        """The number of published rounds, and the time."""
        def there():
            self.coordinator.read_rounds()
            return len(self.coordinator.round_s) >= count
        self._wait_until(there, f"round {count}", late_s)
        return len(self.coordinator.round_s), time.monotonic()

    def wait_for_end(self):
        """Of the job, and of all daemons with it."""
        failed = self.coordinator.process.wait() != 0
        for agent in self.agents:
            if failed:
                agent.process.terminate()
            failed = agent.process.wait() != 0 or failed
        if failed:
            raise Failure("a daemon failed: " + "".join(
                f"\n--- {daemon.name} ended with {daemon.process.returncode}\n{daemon.log()[-1000:]}"
                for daemon in self.daemons()))

    def counters(self):
        """Of the coordinator and of each agent."""
        return [(daemon.counters(), daemon.thread_cpu_s()) for daemon in (self.coordinator, *self.agents)]
