"""A lab of network namespaces (`tributary lab`) for a benchmark: it is up while an object is in use."""

import json
import subprocess
from typing import Optional


class Failure(Exception):
    """The lab or a program in it does not do what it must."""


def finished(command: list) -> str:
    """The output of a command that succeeds."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def answers_of(commands: list, what: str, timeout_s: float, environment=None, needed: Optional[int] = None) -> list:
    """Runs programs beside one another to their end, and returns the JSON that each prints. `what` names them in a
    Failure. Only the first `needed` of them (all) must succeed and have an answer."""
    ends = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
            for command in commands]
    try:
        answers = [end.communicate(timeout=timeout_s) for end in ends]
    except subprocess.TimeoutExpired as expired:
        raise Failure(f"{what}: has not ended after {timeout_s:.0f} s") from expired
    finally:
        for end in ends:
            end.kill()
            end.wait()
    for end in ends[:needed]:
        if end.returncode != 0:
            raise Failure(f"{what}: " + (" ".join(err.strip() for _, err in answers) or f"code {end.returncode}"))
    return [json.loads(out) for out, _ in answers[:needed]]


class LabNodes:
    """A lab of `count` nodes, which is removed in any case. `options` are those of `tributary lab up`."""

    def __init__(self, tributary: str, name: str, count: int, options: list):
        self._tributary, self.name, self.count, self._options = tributary, name, count, options

    def __enter__(self):
        self.down()  # removes the remains of a killed run
        up = finished([self._tributary, "lab", "up", "--name", self.name, "--nodes", str(self.count),
                       *self._options, "--json"])
        data = json.loads(up)["data"]
        self.addresses = [node["address"] for node in data["nodes"]]
        self.congestion_control = data["congestion_control"]
        return self

    def __exit__(self, *_) -> None:
        self.down()

    def late_ms(self) -> float:
        """How late the worst of the links in user space has delivered packets until now, as a mean; 0 without any."""
        listed = json.loads(finished([self._tributary, "lab", "list", "--json"]))["data"]["labs"]
        return max((node[way]["late_ms_mean"] for lab in listed if lab["name"] == self.name for node in lab["nodes"]
                    for way in ("up", "down") if way in node), default=0)

    def down(self) -> None:
        subprocess.run([self._tributary, "lab", "down", "--name", self.name], capture_output=True,
                       check=False)

    def command(self, node: int) -> list:
        """What precedes a command that is to run in a node."""
        return [self._tributary, "lab", "exec", "--name", self.name, "--node", str(node), "--"]
