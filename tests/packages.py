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
import unittest
from pathlib import Path
from typing import Optional

from package_root import (AGENTS_ALLOW, JOB, PACKAGES, PATIENCE_S, Booted, FreshRoot, about_process,
                          eventually, options, run, uid_of)

DAEMONS = ("tributary-coordinator", "tributary-agent", "tributary-switchd")


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
                                             "tributary-switchd", "tributary-torch")])
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
                                  ("etc/tributary/switchd.toml", 0o644, 0),
                                  ("var/lib/tributary-switchd", 0o700,
                                   uid_of(self.root, "tributary-switchd")),
                                  ("usr/bin/tributary-switchd", 0o755, 0),
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
            elif daemon == "tributary-switchd":
                self.assertIn("switch.advertise", told)
                self.assertIn("/etc/tributary/switchd.join", self.root.run(
                    daemon, "--check", "--config", "/etc/tributary/switchd.toml", "--set",
                    "switch.advertise=192.0.2.1:4650", check=False))
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
                                "--join", f"/srv/{made.name}", "--set", "link.coordinator=tcp://x:1",
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
        return ["tributary-agent.path", "tributary-switchd.path", *(f"{daemon}.service" for daemon in DAEMONS)]

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
        for waiting in ("tributary-agent", "tributary-switchd"):
            self.assertEqual(self.machine.state(waiting), "inactive")
            self.assertEqual(self.machine.state(f"{waiting}.path"), "active")
            self.assertEqual(self.machine.show(waiting, "ConditionResult"), "no")
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
        for daemon in ("tributary-coordinator", "tributary-agent"):
            self.expect_no_rights(daemon)
        self.assertEqual((self.root.path / "etc/tributary/agent.join").stat().st_uid,
                         uid_of(self.root, "tributary-agent"))

    def expect_no_rights(self, daemon: str):
        about = self.machine.about(daemon)
        uid = uid_of(self.root, daemon)
        self.assertEqual(set(about["Uid"].split()), {str(uid)})
        self.assertEqual((about["CapEff"], about["CapBnd"]), ("0" * 16, "0" * 16))
        self.assertEqual((about["NoNewPrivs"], about["Seccomp"]), ("1", "2"))

    def test_7_an_aggregator_starts_with_its_join_file_and_a_job_is_summed_by_it(self):
        agent = self.root.path / "etc/tributary/agent.toml"
        agent.write_text(agent.read_text() + '\n[in_network]\nlisten = "127.0.0.1:0"\n')
        settings = self.root.path / "etc/tributary/switchd.toml"
        settings.write_text(settings.read_text().replace('listen = "0.0.0.0:4650"',
                                                         'listen = "127.0.0.1:4650"'))
        self.root.join("gateway-1", "tcp://localhost:4640")
        self.machine.run("systemctl", "reload", "tributary-coordinator")
        self.machine.run("cp", "/srv/gateway-1.join", "/etc/tributary/switchd.join")
        eventually(lambda: " connected coordinator=" in self.machine.said("tributary-switchd"),
                   "an aggregator with a session", lambda: self.machine.said("tributary*"))
        self.expect_no_rights("tributary-switchd")
        # Two agents: sums of one are none. The second one is started by hand.
        self.machine.run("systemctl", "restart", "tributary-agent")
        self.root.join("garage-02", "tcp://localhost:4640")
        self.machine.run("systemctl", "reload", "tributary-coordinator")
        self.machine.run("systemd-run", "--unit=second-agent", "tributary-agent", "--join",
                         "/srv/garage-02.join", "--set", "journal.file=/run/second.db",
                         "--set", "in_network.listen=127.0.0.1:0", "--set", "trainer.name=torch",
                         "--set", "data.path=/var/lib/tributary-agent/data")
        self.assertEqual(self.sum_a_job("summed")["mode"], "user")

    def sum_a_job(self, name: str) -> dict:
        """The aggregator's counters, after two rounds of a new job."""
        (self.root.path / "etc/job.toml").write_text(
            f'name = "{name}"\nrounds = 3\nmodel = "lenet"\ninput = "1x28x28"\nclasses = 10\nmode = "gradient"\n'
            'optimizer = "momentum"\nlearning_rate = 0.02\ncodec = "thc"\ncollective = "in_network"\nagents_min = 2\n')

        def rounds() -> int:
            return len(re.findall("round committed .*collective=in_network ",
                                  self.machine.said("tributary-coordinator")))

        before = rounds()
        self.machine.run("tributary", "job", "submit", "/etc/job.toml")
        eventually(lambda: rounds() >= before + 2, "rounds in the network", lambda: self.machine.said("*"))
        shown = json.loads(self.machine.run("tributary", "switch", "show", "--json"))["data"]
        self.assertGreater(shown["results"], 0)
        return shown

    def test_7_the_example_runs_the_aggregator_in_the_kernel(self):
        if not (self.root.path / "usr/bin/tributary-switch-xdp").exists():
            self.skipTest("the package has no tributary-switch-xdp: built without libbpf")
        # The loopback device only has the generic mode.
        settings = self.root.path / "etc/tributary/switchd.toml"
        self.machine.run("install", "-D", "-t", "/etc/systemd/system/tributary-switchd.service.d",
                         "/usr/share/doc/tributary-switchd/examples/xdp.conf")
        settings.write_text(settings.read_text().replace("[switch]\n", '[switch]\ndevice = "lo"\n'))
        # XDP sees what a sender on the same machine has not cut yet, unlike behind a network card.
        run("nsenter", "-t", self.machine.first, "-n", "ip", "link", "set", "dev", "lo", "gso_max_segs", "1")
        self.machine.run("systemctl", "daemon-reload")
        connected = self.machine.said("tributary-switchd").count(" connected coordinator=")
        self.machine.run("systemctl", "restart", "tributary-switchd")
        eventually(lambda: self.machine.said("tributary-switchd").count(" connected coordinator=") > connected,
                   "an aggregator in the kernel", lambda: self.machine.said("tributary-switchd"))
        about = self.machine.about("tributary-switchd")
        self.assertEqual(set(about["Uid"].split()), {str(uid_of(self.root, "tributary-switchd"))})
        self.assertEqual(int(about["CapEff"], 16), sum(1 << bit for bit in (12, 38, 39)),
                         "CAP_NET_ADMIN, CAP_PERFMON and CAP_BPF alone")
        self.assertEqual(self.sum_a_job("in-the-kernel")["mode"], "generic")

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

    def test_8_an_upgrade_restarts_them_and_keeps_what_they_know(self):
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

    def test_9_purge_stops_them_and_leaves_nothing(self):
        # What the operator has made.
        self.machine.run("systemctl", "stop", "second-agent", check=False)
        self.machine.run("rm", "-rf", "/etc/systemd/system/tributary-coordinator.service.d",
                         "/etc/systemd/system/tributary-switchd.service.d", "/etc/job.toml",
                         "/srv/garage-01.join", "/srv/garage-02.join", "/srv/gateway-1.join")
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
