#!/usr/bin/env python3
"""The Debian packages, tried in a fresh Debian 12: installed, run, purged. ./dev package --check.

First in a root without systemd, where the daemons are started by hand as their own users; then in
one whose systemd really runs (systemd-nspawn), so that the units' limits are tried and not only read.
Both take the way that docs/install.md describes. Needs root.

usage: packages.py [--packages FOLDER] [--work FOLDER] [--only NAME]
"""

import argparse
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest
from pathlib import Path
from typing import Optional

ROOT = Path(__file__).resolve().parent.parent
MIRROR = "http://deb.debian.org/debian"
PATIENCE_S = 180
PACKAGES = "var/cache/tributary"  # in the root; systemd-nspawn has a /tmp of its own
DAEMONS = ("tributary-coordinator", "tributary-agent")
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


class WithoutSystemd(unittest.TestCase):
    """dpkg's part, and the daemons started by hand."""

    root: FreshRoot

    @classmethod
    def setUpClass(cls):
        cls.root = FreshRoot("plain")
        cls.addClassCleanup(cls.root.end)
        cls.root.install_ours()

    def start(self, daemon: str, *more: str) -> subprocess.Popen:
        log = open(options.work / f"{daemon}.log", "w", encoding="utf-8")
        self.addCleanup(log.close)
        settings = f"/etc/tributary/{daemon.removeprefix('tributary-')}.toml"
        command = self.root.inside("setpriv", f"--reuid={daemon}", f"--regid={daemon}",
                                   "--clear-groups", "--no-new-privs", f"/usr/bin/{daemon}",
                                   "--config", settings, *more)
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def logged(self, daemon: str, pattern: str) -> Optional[re.Match]:
        return re.search(pattern, (options.work / f"{daemon}.log").read_text())

    def test_all_are_installed_whole(self):
        self.assertEqual(self.root.ours(), [(name, "installed") for name in
                                            ("tributary", "tributary-agent",
                                             "tributary-coordinator", "tributary-dashboard",
                                             "tributary-torch")])
        for name, _ in self.root.ours():
            self.assertEqual(self.root.run("dpkg", "--verify", name), "")
            self.assertTrue((self.root.path / "usr/share/doc" / name / "copyright").exists())
        self.assertEqual(self.root.run("dpkg", "--audit"), "")

    def test_files_belong_to_whom_they_should(self):
        coordinator = uid_of(self.root, "tributary-coordinator")
        agent = uid_of(self.root, "tributary-agent")
        self.assertNotEqual(coordinator, agent)
        for path, mode, owner in (("etc/tributary/agent.toml", 0o644, 0),
                                  ("etc/tributary/coordinator.toml", 0o644, 0),
                                  ("etc/tributary/coordinator.key", 0o600, coordinator),
                                  ("etc/tributary/coordinator.key.pub", 0o644, 0),
                                  (AGENTS_ALLOW[1:], 0o644, coordinator),
                                  ("var/lib/tributary-coordinator", 0o700, coordinator),
                                  ("var/lib/tributary-agent", 0o700, agent),
                                  ("usr/bin/tributary-agent", 0o755, 0)):
            with self.subTest(path):
                about = (self.root.path / path).stat()
                self.assertEqual((oct(about.st_mode & 0o7777), about.st_uid), (oct(mode), owner))
        for daemon in DAEMONS:
            self.assertIn("/usr/sbin/nologin", self.root.run("getent", "passwd", daemon))

    def test_the_scripts_do_no_harm_a_second_time(self):
        key = self.root.path / "etc/tributary/coordinator.key"
        before = key.read_bytes(), uid_of(self.root, "tributary-agent")
        for daemon in DAEMONS:
            self.root.run(f"/var/lib/dpkg/info/{daemon}.postinst", "configure", "0.1.0")
        self.assertEqual((key.read_bytes(), uid_of(self.root, "tributary-agent")), before)

    def test_settings_as_they_are_make_sense(self):
        for daemon in DAEMONS:
            told = self.root.run(daemon, "--check", "--config",
                                 f"/etc/tributary/{daemon.removeprefix('tributary-')}.toml",
                                 check=False)
            if daemon == "tributary-agent":  # until it has been let in
                self.assertIn("tributary keys join", told)
            else:
                self.assertEqual(told, "the settings are valid\n")

    def test_they_commit_rounds_as_their_own_users(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            endpoint = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
        made = self.root.join("garage-01", endpoint)
        job = self.root.path / "tmp" / "job.toml"
        job.write_text(JOB.split("[job]\n", 1)[1])
        coordinator = self.start("tributary-coordinator", "--set", f"link.endpoint={endpoint}",
                                 "--job", "/tmp/job.toml")
        refused = self.root.run("tributary-agent", "--config", "/etc/tributary/agent.toml",
                                "--join", f"/srv/{made.name}", "--set", "link.coordinator=x",
                                "--set", "trainer.name=synthetic", "--check")
        self.assertEqual(refused, "the settings are valid\n")
        self.root.run("install", "-o", "tributary-agent", "-m", "0644", f"/srv/{made.name}",
                      "/etc/tributary/agent.join")
        self.assertIn("chmod 600", self.root.run("tributary-agent", "--config",
                                                 "/etc/tributary/agent.toml", "--check",
                                                 check=False), "others may read it")
        self.root.run("chmod", "600", "/etc/tributary/agent.join")
        agent = self.start("tributary-agent", "--set", "trainer.name=synthetic")
        eventually(lambda: self.logged("tributary-agent", r"model stored .*model_version=5\b"),
                   "five rounds")
        # The coordinator runs and its journal is where the command looks for it.
        jobs = json.loads(self.root.run("setpriv", "--reuid=tributary-coordinator",
                                        "--regid=tributary-coordinator", "--clear-groups",
                                        "tributary", "job", "list", "--json"))["data"]["jobs"]
        self.assertEqual([(job["name"], job["rounds_committed"]) for job in jobs], [("first", 5)])
        for daemon, process in zip(DAEMONS, (coordinator, agent)):
            self.assertEqual(about_process(process.pid)["Name"], daemon[:15])
            self.assertEqual(set(about_process(process.pid)["Uid"].split()),
                             {str(uid_of(self.root, daemon))})
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(PATIENCE_S), 0)

    def test_zz_removal_keeps_keys_and_journals_and_purge_nothing(self):
        self.root.run("apt-get", "remove", "-y", *[name for name, _ in self.root.ours()])
        self.assertTrue((self.root.path / "etc/tributary/coordinator.key").exists())
        self.assertTrue((self.root.path / "var/lib/tributary-agent").exists())
        users = [uid_of(self.root, daemon) for daemon in DAEMONS]
        self.root.purge_ours()
        self.assertEqual(self.root.leftovers(), [])
        self.assertEqual([uid_of(self.root, daemon) for daemon in DAEMONS], users,
                         "no other user gets the number of files that may be elsewhere")
        self.root.install_ours()
        self.assertEqual([uid_of(self.root, daemon) for daemon in DAEMONS], users)
        self.root.purge_ours()


class Booted:
    """The root's own systemd at work, in namespaces of its own and without a network."""

    def __init__(self, root: FreshRoot):
        self.log = open(options.work / "boot.log", "w", encoding="utf-8")
        self.process = subprocess.Popen(
            ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--private-network",
             "--machine=tributary-check", "--link-journal=no", "-D", str(root.path), "--boot"],
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


class UnderSystemd(unittest.TestCase):
    """The units, from the first boot on."""

    root: FreshRoot
    machine: Booted

    @classmethod
    def setUpClass(cls):
        cls.root = FreshRoot("booted")
        cls.addClassCleanup(cls.root.end)
        cls.root.install("systemd", "systemd-sysv", "dbus")
        cls.root.install_ours()
        # Draws the same every time; a model learns it in a few rounds.
        cls.root.run("tributary", "data", "make", "digits", "--out", "/var/lib/tributary-agent/data",
                     "--count", "400", "--test-count", "100")
        cls.machine = Booted(cls.root)
        cls.addClassCleanup(cls.machine.end)
        why = cls.machine.begun()
        if why:
            raise unittest.SkipTest(f"systemd does not run here in namespaces of its own: {why}")

    def units(self) -> list[str]:
        return ["tributary-agent.path", *(f"{daemon}.service" for daemon in DAEMONS)]

    def test_1_units_verify(self):
        for unit in self.units():
            self.assertEqual(self.machine.run("systemd-analyze", "verify", unit), "")

    def test_2_exposure_is_small(self):
        for daemon in DAEMONS:
            told = self.machine.run("systemd-analyze", "security", "--offline=true", "--json=short",
                                    f"{daemon}.service")
            whole = self.machine.run("systemd-analyze", "security", "--offline=true",
                                     "--no-pager", f"{daemon}.service")
            exposure = float(re.search(r"exposure level for \S+: ([0-9.]+)", whole)[1])
            print(f"exposure of {daemon}: {exposure}", file=sys.stderr)
            self.assertLess(exposure, 2.0, told)
            json.loads(told)

    def test_3_the_coordinator_runs_from_the_first_boot_and_the_agent_waits(self):
        eventually(lambda: self.machine.state("tributary-coordinator") == "active",
                   "a running coordinator")
        self.assertEqual(self.machine.state("tributary-agent"), "inactive")
        self.assertEqual(self.machine.state("tributary-agent.path"), "active")
        self.assertEqual(self.machine.show("tributary-agent", "ConditionResult"), "no")
        self.change_the_list_as_the_service()

    def change_the_list_as_the_service(self):
        """What an operator's question does: as its user, and with the folders that it sees."""
        user = "tributary-coordinator"
        service = ("nsenter", "-t", self.machine.show(user, "MainPID"), "-m", "setpriv",
                   f"--reuid={user}", f"--regid={user}", "--clear-groups", "tributary", "keys")
        self.machine.run(*service, "allow", "--list", AGENTS_ALLOW, "--id", "tried", "--key-file",
                         "/etc/tributary/coordinator.key.pub")
        self.assertIn("tried ", (self.root.path / AGENTS_ALLOW[1:]).read_text())
        self.machine.run(*service, "revoke", "--list", AGENTS_ALLOW, "--id", "tried")
        self.machine.run("systemctl", "reload", user)

    def test_4_putting_the_join_file_there_starts_the_agent_and_it_trains(self):
        # It evaluates too, in a unit that lets it.
        self.machine.run("cp", "-r", "/var/lib/tributary-agent/data", "/var/lib/tributary-coordinator")
        self.machine.run("install", "-D", "-t",
                         "/etc/systemd/system/tributary-coordinator.service.d",
                         "/usr/share/doc/tributary-coordinator/examples/evaluation.conf")
        self.root.add_job('\n[evaluation]\npath = "/var/lib/tributary-coordinator/data"\n')
        self.machine.run("systemctl", "daemon-reload")
        self.root.add_job('\n[job]\nname = "digits"\nrounds = 6\nmodel = "lenet"\n'
                          'input = "1x28x28"\nclasses = 10\nmode = "gradient"\n'
                          'optimizer = "momentum"\nlearning_rate = 0.02\n')
        self.machine.run("systemctl", "restart", "tributary-coordinator")
        self.root.join("garage-01", "tcp://localhost:4640")
        self.machine.run("systemctl", "reload", "tributary-coordinator")
        self.machine.run("cp", "/srv/garage-01.join", "/etc/tributary/agent.join")
        eventually(lambda: self.machine.state("tributary-agent") == "active", "a running agent")
        eventually(lambda: re.search(r"model stored .*model_version=6\b",
                                     self.machine.said("tributary-agent")),
                   "six rounds", lambda: self.machine.said("tributary*"))
        eventually(lambda: re.search(r"evaluated .*model_version=6\b",
                                     self.machine.said("tributary-coordinator")),
                   "an evaluation", lambda: self.machine.said("tributary*"))
        for daemon in DAEMONS:
            about = self.machine.about(daemon)
            uid = uid_of(self.root, daemon)
            self.assertEqual(set(about["Uid"].split()), {str(uid)})
            self.assertEqual((about["CapEff"], about["CapBnd"]), ("0" * 16, "0" * 16))
            self.assertEqual((about["NoNewPrivs"], about["Seccomp"]), ("1", "2"))
        self.assertEqual((self.root.path / "etc/tributary/agent.join").stat().st_uid,
                         uid_of(self.root, "tributary-agent"))

    def test_5_a_stopped_agent_stays_stopped_until_it_is_started(self):
        self.machine.run("systemctl", "stop", "tributary-agent")
        self.machine.run("systemctl", "daemon-reload")
        self.assertEqual(self.machine.state("tributary-agent"), "inactive")
        self.assertEqual(self.machine.show("tributary-agent", "Result"), "success")
        self.machine.run("systemctl", "start", "tributary-agent")
        self.assertEqual(self.machine.state("tributary-agent"), "active")

    def test_6_a_join_file_that_others_may_read_is_refused_with_the_way_out(self):
        self.machine.run("systemctl", "stop", "tributary-agent")
        self.machine.run("chmod", "644", "/etc/tributary/agent.join")
        eventually(lambda: self.machine.state("tributary-agent") == "failed", "a refusal")
        self.assertIn("chmod 600", self.machine.said("tributary-agent"))
        self.machine.run("chmod", "600", "/etc/tributary/agent.join")
        eventually(lambda: self.machine.state("tributary-agent") == "active", "a running agent")

    def test_7_an_upgrade_restarts_them_and_keeps_what_they_know(self):
        journal = self.root.path / "var/lib/tributary-agent/agent.db"
        self.assertTrue(journal.exists())
        key = (self.root.path / "etc/tributary/coordinator.key").read_bytes()
        pids = [self.machine.show(daemon, "MainPID") for daemon in DAEMONS]
        self.machine.run("sh", "-c", f"dpkg --install --force-confold /{PACKAGES}/*.deb")
        for daemon, pid in zip(DAEMONS, pids):
            eventually(lambda: self.machine.state(daemon) == "active", f"{daemon} running again",
                       lambda: self.machine.said(daemon))
            self.assertNotEqual(self.machine.show(daemon, "MainPID"), pid)
        self.assertTrue(journal.exists())
        self.assertEqual((self.root.path / "etc/tributary/coordinator.key").read_bytes(), key)

    def test_8_purge_stops_them_and_leaves_nothing(self):
        self.machine.run("rm", "-r", "/etc/systemd/system/tributary-coordinator.service.d",
                         "/srv/garage-01.join")  # which the operator has made
        self.machine.run("apt-get", "purge", "-y", *[name for name, _ in self.root.ours()])
        for unit in self.units():
            self.assertEqual(self.machine.state(unit), "inactive")
        self.assertEqual(self.root.leftovers(), [])


def parse_arguments() -> list[str]:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--packages", type=Path, default=options.packages)
    parser.add_argument("--work", type=Path, default=options.work)
    parser.add_argument("--only", metavar="NAME", default="")
    parser.parse_args(namespace=options)
    return [sys.argv[0], "-v", *([f"-k={options.only}"] if options.only else [])]


def main():
    arguments = parse_arguments()
    missing = [tool for tool in ("debootstrap", "systemd-nspawn", "nsenter", "unshare")
               if not shutil.which(tool)]
    if missing or os.geteuid() != 0:
        print("skipped, because " + (f"there is no {', no '.join(missing)}" if missing
                                     else "only root can make a fresh root"))
        sys.exit(77)
    unittest.main(argv=arguments)


if __name__ == "__main__":
    main()
