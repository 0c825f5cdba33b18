"""A coordinator and its agents as processes in a temporary folder, for tests of the whole system."""

import json
import os
import re
import subprocess
import time
from pathlib import Path

BUILD = Path(os.environ.get("TRIBUTARY_BUILD_DIR", "build/dev")).resolve()
COORDINATOR = BUILD / "coordinator/tributary-coordinator"
AGENT = BUILD / "edge_agent/tributary-agent"
CLI = BUILD / "cli/tributary"
TORCH = BUILD / "core/train/torch/plugin/libtributary-torch.so"
LATE_S = 240


def all_set(*settings: str) -> list:
    return [word for setting in settings for word in ("--set", setting)]


class Processes:
    """Processes that write to NAME.log in one folder. Those that still run at the end are stopped."""

    def __init__(self, folder: str):
        self.folder = Path(folder)
        self.processes = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """The agents first, because a coordinator may wait for them."""
        for process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
        for process in reversed(self.processes):
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def start(self, name: str, *command, env=None) -> subprocess.Popen:
        with open(self.folder / f"{name}.log", "w", encoding="utf-8") as out:
            process = subprocess.Popen([str(word) for word in command], stdout=out, stderr=out, env=env,
                                       stdin=subprocess.DEVNULL)
        self.processes.append(process)
        return process

    def start_coordinator(self, *command) -> tuple:
        """The process, and the endpoint at which it listens."""
        process = self.start("coordinator", COORDINATOR, *command,
                             *all_set("link.endpoint=tcp://127.0.0.1:*"))
        return process, self.wait_for("coordinator", r"listening.*endpoint=\"?(tcp://[^\s\"]+)")[0]

    def run(self, *command):
        subprocess.run([str(word) for word in command], cwd=self.folder, check=True, text=True,
                       capture_output=True, timeout=LATE_S)

    def log(self, name: str) -> str:
        path = self.folder / f"{name}.log"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def wait_for(self, name: str, pattern: str, count: int = 1) -> list:
        late = time.monotonic() + LATE_S
        while time.monotonic() < late:
            found = re.findall(pattern, self.log(name))
            if len(found) >= count:
                return found
            time.sleep(0.05)
        raise AssertionError(f"{name} does not say {pattern}: {self.logs()}")

    def logs(self) -> str:
        return "\n".join(f"--- {path.name}\n{path.read_text(encoding='utf-8')[-3000:]}"
                         for path in sorted(self.folder.glob("*.log")))


class Refused(Exception):
    """A command ended with an error; the text is the command's."""


def ask(*words) -> dict:
    """The data of a command of `tributary`."""
    done = subprocess.run([str(word) for word in (CLI, *words, "--json")], check=False, text=True,
                          capture_output=True, timeout=LATE_S)
    if done.returncode != 0:
        raise Refused(done.stdout + done.stderr)
    return json.loads(done.stdout)["data"]
