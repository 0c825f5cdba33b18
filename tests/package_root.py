"""A fresh Debian 12 with this project's packages in it, for tests/packages.py: a root in memory, and its own
systemd in namespaces. Needs root."""

import argparse
import re
import shutil
import subprocess
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MIRROR = "http://deb.debian.org/debian"
PATIENCE_S = 180
PACKAGES = "var/cache/tributary"  # in the root; systemd-nspawn has a /tmp of its own
AGENTS_ALLOW = "/var/lib/tributary-coordinator/agents.allow"
JOB = '\n[job]\nname = "first"\nrounds = 5\nparameters = 1000\n'

options = argparse.Namespace(packages=ROOT / "build" / "packages",
                             work=ROOT / "build" / "package-check")


def run(*command, check: bool = True, **more) -> subprocess.CompletedProcess:
    ran = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, check=False,
                         **more)
    if check and ran.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: exit code {ran.returncode}\n"
                             f"{ran.stdout[-4000:]}")
    return ran


def eventually(condition, what: str, log=lambda: ""):
    """Waits for what happens in another process."""
    deadline = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {PATIENCE_S} s: {what}\n{log()[-4000:]}")
        time.sleep(0.1)
    return found


def bootstrapped() -> Path:
    """A Debian 12 with nothing in it, made once."""
    base = options.work / "base"
    if (base / "complete").exists():
        return base
    shutil.rmtree(base, ignore_errors=True)
    options.work.mkdir(parents=True, exist_ok=True)
    made = run("debootstrap", "--variant=minbase", "bookworm", base, MIRROR, check=False)
    if made.returncode != 0:
        raise unittest.SkipTest("no fresh root, because debootstrap could not make one:\n" +
                                "\n".join(made.stdout.splitlines()[-3:]))
    # The mirror's newest, so that what is installed later fits what is there.
    (base / "complete").touch()
    return base


class FreshRoot:
    """What it becomes, in memory: nothing is copied, and nothing stays. Commands in it see mounts of
    their own."""

    def __init__(self, name: str):
        base = bootstrapped()
        self.mount = options.work / name
        self.end()  # of a run that was killed
        self.mount.mkdir(exist_ok=True)
        run("mount", "-t", "tmpfs", "-o", "size=6G,mode=0755", "tributary-check", self.mount)
        self.path = self.mount / "root"
        for folder in ("upper", "work", "root"):
            (self.mount / folder).mkdir()
        run("mount", "-t", "overlay", "tributary-check", "-o",
            f"lowerdir={base},upperdir={self.mount}/upper,workdir={self.mount}/work", self.path)
        shutil.copy("/etc/resolv.conf", self.path / "etc" / "resolv.conf")
        (self.path / "etc" / "hosts").write_text("127.0.0.1 localhost\n")
        self.archives = options.work / "archives"
        (self.archives / "partial").mkdir(parents=True, exist_ok=True)
        updated = run(*self.inside("apt-get", "update"), check=False)
        if updated.returncode != 0:
            raise unittest.SkipTest("the mirror of Debian does not answer:\n" + updated.stdout)

    def end(self):
        run("umount", "--recursive", "--lazy", self.mount, check=False)

    def inside(self, *command) -> list[str]:
        """The command line that becomes this command: no process stays in between."""
        script = ('mount -t proc proc "$0/proc" && '
                  'mount --bind "$1" "$0/var/cache/apt/archives" && '
                  'root=$0 && shift && exec chroot "$root" "$@"')
        return ["unshare", "--mount", "sh", "-c", script, str(self.path), str(self.archives),
                "env", "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive", *map(str, command)]

    def run(self, *command, check: bool = True) -> str:
        return run(*self.inside(*command), check=check).stdout

    def install(self, *packages) -> str:
        return self.run("apt-get", "install", "-y", "--no-install-recommends",
                        "-o", "APT::Sandbox::User=root",
                        "-o", "DPkg::Options::=--force-unsafe-io", *packages)

    def install_ours(self):
        """As a person does: apt resolves what the files need."""
        files = []
        folder = self.path / PACKAGES
        folder.mkdir(exist_ok=True)
        for deb in sorted(options.packages.glob("*.deb")):
            shutil.copy(deb, folder)
            files.append(f"/{PACKAGES}/{deb.name}")
        if not files:
            raise unittest.SkipTest(f"no packages in {options.packages}; ./dev package makes them")
        self.install(*files)

    def purge_ours(self):
        self.run("apt-get", "purge", "-y", *[name for name, _ in self.ours()])

    def ours(self) -> list[tuple[str, str]]:
        """Names and states."""
        text = self.run("dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", "tributary*",
                        check=False)
        rows = [line.split() for line in text.splitlines()]
        return [(row[0], row[1]) for row in rows if len(row) == 2 and row[1] != "not-installed"]

    def leftovers(self) -> list[str]:
        """Files that bear our name, but for those of apt and dpkg. The users stay."""
        return run("find", self.path, "-xdev", "-name", "*tributary*", "-not", "-path",
                    f"{self.path}/tmp/*", "-not", "-path", f"{self.path}/var/log/*", "-not",
                    "-path", f"{self.path}/var/cache/*").stdout.split()

    def join(self, agent: str, endpoint: str) -> Path:
        """As an operator makes it, on the coordinator's machine."""
        told = self.run("tributary", "keys", "join", agent, "--coordinator", endpoint,
                        "--list", AGENTS_ALLOW,
                        "--coordinator-key-file", "/etc/tributary/coordinator.key.pub",
                        "--out", f"/srv/{agent}.join")
        made = self.path / "srv" / f"{agent}.join"
        secret = re.search(r'secret_key = "(.{40})"', made.read_text())[1]
        assert secret not in told, "the secret is printed"
        return made

    def add_job(self, job: str = JOB):
        with open(self.path / "etc" / "tributary" / "coordinator.toml", "a",
                  encoding="utf-8") as file:
            file.write(job)

    def set_trainer(self, name: str):
        file = self.path / "etc" / "tributary" / "agent.toml"
        text, count = re.subn(r'(?m)^name = "\w+"$', f'name = "{name}"', file.read_text())
        assert count == 1, text
        file.write_text(text)


def about_process(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def uid_of(root: FreshRoot, user: str) -> int:
    for line in (root.path / "etc" / "passwd").read_text().splitlines():
        fields = line.split(":")
        if fields[0] == user:
            return int(fields[2])
    raise AssertionError(f"there is no user {user}")


class Booted:
    """The root's own systemd at work, in namespaces of its own and without a network."""

    def __init__(self, root: FreshRoot):
        self.log = open(options.work / "boot.log", "w", encoding="utf-8")
        self.process = subprocess.Popen(
            ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--private-network",
             "--machine=tributary-check", "--link-journal=no", "--capability=CAP_BPF,CAP_PERFMON",
             "--system-call-filter=bpf", "-D", str(root.path), "--boot"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.first = 0

    def begun(self) -> str:
        """Why it did not come up; empty where it did."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline and self.process.poll() is None:
            children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
            for child in children.read_text().split():
                self.first = int(child)
                state = self.run("systemctl", "is-system-running", check=False).strip()
                if state in ("running", "degraded"):
                    return ""
            time.sleep(0.2)
        return (options.work / "boot.log").read_text()[-1000:] or "systemd-nspawn said nothing"

    def run(self, *command, check: bool = True) -> str:
        return run("nsenter", "-t", self.first, "-m", "-u", "-i", "-n", "-p", "-C", "-r", "-w",
                   "env", "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive", *command,
                   check=check).stdout

    def state(self, unit: str) -> str:
        return self.run("systemctl", "is-active", unit, check=False).strip()

    def show(self, unit: str, name: str) -> str:
        return self.run("systemctl", "show", "--value", "-p", name, unit).strip()

    def said(self, unit: str) -> str:
        return self.run("journalctl", "--no-pager", "-o", "cat", "-u", unit, check=False)

    def about(self, unit: str) -> dict[str, str]:
        pid = self.show(unit, "MainPID")
        text = self.run("cat", f"/proc/{pid}/status")
        return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()
