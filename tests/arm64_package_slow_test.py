#!/usr/bin/env python3
"""The packages for a device with a 64-bit Arm: cross-built, said to be what they are, and the agent
in them takes part in a federation under emulation, with a coordinator of this machine."""

import os
import platform
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("TRIBUTARY_BUILD_DIR", ROOT / "build" / "dev"))
SYSROOT = ROOT / "build" / "arm64-sysroot"
PACKAGES = ROOT / "build" / "packages-arm64"
DEVICE_CODE = b"TRIBGPU1"  # cmake/device_code.py
EM_CUDA = 190  # of an ELF file
EM_AARCH64 = 183
SKIPPED = 77  # as tests/CMakeLists.txt has it
PATIENCE_S = 300
ROUNDS = 3


def reason_to_skip() -> str:
    if platform.machine() == "aarch64":
        return "this machine is arm64 itself: ./dev package makes these packages there"
    missing = [tool for tool in ("aarch64-linux-gnu-g++", "qemu-aarch64", "dpkg-shlibdeps")
               if not shutil.which(tool)]
    if not (SYSROOT / "DEBIAN").exists():
        missing.append("libraries for arm64")
    return f"no {', no '.join(missing)} (run ./dev setup --arm64)" if missing else ""


def run(*command) -> str:
    ran = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                         timeout=3000)
    assert ran.returncode == 0, ran.stdout
    return ran.stdout


def device_code(program: bytes) -> list[dict]:
    """The code for GPUs in a program, as core/codec/cuda/gpu/kernels.cc reads it: for each file of
    kernels its entries by (is PTX, compute capability)."""
    found = []
    for match in re.finditer(re.escape(DEVICE_CODE), program):
        (count,) = struct.unpack_from("<Q", program, match.end())
        if not 0 < count < 16:
            continue  # the number with which kernels.cc compares
        entries = [struct.unpack_from("<IIQ", program, match.end() + 8 + 16 * i) for i in range(count)]
        found.append({(bool(ptx), capability): program[match.start() + offset:][:256]
                      for ptx, capability, offset in entries})
    return found


def needed_libraries(program: Path) -> list[str]:
    return re.findall(r"NEEDED +(\S+)", run("aarch64-linux-gnu-objdump", "-p", program))


def check_device_code(test: unittest.TestCase, program: Path):
    """Machine code for Jetson Orin (8.7) and what newer GPUs compile, of every file of kernels."""
    content = program.read_bytes()
    test.assertEqual(struct.unpack_from("<H", content, 18)[0], EM_AARCH64)
    packs = device_code(content)
    test.assertEqual(len(packs), len(list((ROOT / "core/codec/cuda").glob("**/*.cu"))))
    for pack in packs:
        test.assertEqual(set(pack), {(False, 80), (False, 87), (False, 90), (True, 80), (True, 90)})
        for (ptx, capability), code in pack.items():
            if ptx:
                test.assertIn(f".target sm_{capability}".encode(), code)
            else:
                test.assertEqual(code[:4], b"\x7fELF")
                test.assertEqual(struct.unpack_from("<H", code, 18)[0], EM_CUDA)


class PackagesForArm64(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        run(ROOT / "dev", "package", "--arm64")
        cls.packages = {deb.name.split("_")[0]: deb for deb in PACKAGES.glob("*.deb")}
        for deb in cls.packages.values():
            run("dpkg", "-x", deb, cls.folder / "root")

    def fields(self, package: str) -> dict[str, str]:
        lines = run("dpkg-deb", "--field", self.packages[package], "Architecture", "Depends",
                    "Recommends").splitlines()
        return dict(line.split(": ", 1) for line in lines)

    def emulated(self, program: str) -> list[str]:
        return ["qemu-aarch64", "-L", str(SYSROOT), str(self.folder / "root/usr/bin" / program)]

    def test_only_what_a_device_installs(self):
        self.assertLessEqual({"tributary", "tributary-agent"}, set(self.packages))
        self.assertLessEqual(set(self.packages), {"tributary", "tributary-agent", "tributary-switchd",
                                                  "tributary-torch"})

    def test_of_the_other_architecture_and_with_its_libraries(self):
        for package in self.packages:
            with self.subTest(package):
                fields = self.fields(package)
                self.assertEqual(fields["Architecture"], "arm64")
                libraries = re.findall(r"\b(lib[a-z0-9.+-]+) \(>= [^)]+\)", fields["Depends"])
                self.assertLessEqual({"libc6", "libstdc++6"}, set(libraries))
                for library in libraries:
                    self.assertTrue((SYSROOT / "usr/share/doc" / library).exists(), library)
        agent = self.fields("tributary-agent")
        for library in ("libzmq5", "libsqlite3-0", "libfmt9", "libspdlog1.10"):
            self.assertIn(library, agent["Depends"])
        self.assertIn("tributary-torch (= ", agent["Recommends"])

    @unittest.skipUnless((ROOT / "build/cuda12/bin/ptxas").exists(), "no CUDA 12 (./dev setup --cuda)")
    def test_the_agent_has_code_for_gpus(self):
        agent = self.folder / "root/usr/bin/tributary-agent"
        check_device_code(self, agent)
        self.assertFalse([name for name in needed_libraries(agent) if name.startswith("libcuda")],
                         "the driver is found at run time")

    def test_the_programs_start(self):
        for program in ("tributary", "tributary-agent"):
            version = run(*self.emulated(program), "--version")
            self.assertRegex(version, rf"^{program} \d+\.\d+\.\d+")

    def test_the_agent_and_a_coordinator_of_this_machine_agree(self):
        def path(name: str) -> str:
            return str(self.folder / name)

        for name in ("coordinator", "agent"):
            run(BUILD / "cli/tributary", "keys", "new", "--out", path(f"{name}.key"))
        run(BUILD / "cli/tributary", "keys", "allow", "--list", path("agents.allow"), "--id", "arm",
            "--key-file", path("agent.key.pub"))
        log = open(path("coordinator.log"), "w", encoding="utf-8")
        self.addCleanup(log.close)
        coordinator = subprocess.Popen(
            [BUILD / "coordinator/tributary-coordinator", "--exit-when-done", "-s",
             "link.endpoint=tcp://127.0.0.1:*", "-s", f"link.key_file={path('coordinator.key')}",
             "-s", f"link.allow_file={path('agents.allow')}", "-s",
             f"journal.file={path('coordinator.db')}", "-s", "job.name=arm", "-s",
             f"job.rounds={ROUNDS}", "-s", "job.parameters=20000", "-s", "job.codec=threelc",
             "-s", "heartbeat.timeout_ms=60000"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.addCleanup(coordinator.wait)
        self.addCleanup(coordinator.kill)

        def said(pattern: str) -> list[str]:
            return re.findall(pattern, Path(path("coordinator.log")).read_text(encoding="utf-8"))

        deadline = time.monotonic() + PATIENCE_S
        while not (endpoint := said(r'listening endpoint="?(tcp://[^\s"]+)')):
            self.assertIsNone(coordinator.poll(), said("(?s).*"))
            self.assertLess(time.monotonic(), deadline, said("(?s).*"))
            time.sleep(0.1)
        key = Path(path("coordinator.key.pub")).read_text(encoding="utf-8").strip()
        agent = run(*self.emulated("tributary-agent"), "--exit-when-done", "-s", "agent_id=arm",
                    "-s", f"link.key_file={path('agent.key')}", "-s",
                    f"journal.file={path('agent.db')}", "-s", f"link.coordinator={endpoint[0]}",
                    "-s", f"link.coordinator_key={key}")
        self.assertEqual(coordinator.wait(PATIENCE_S), 0, said("(?s).*"))
        committed = said(r"round committed .*\bmodel_hash=(\w+)")
        self.assertEqual(len(committed), ROUNDS)
        stored = re.findall(r"model stored .*\bmodel_hash=(\w+)", agent)
        self.assertEqual(stored[-1:], committed[-1:], "the same model, to the last bit")


if __name__ == "__main__":
    reason = reason_to_skip()
    if reason:
        print(reason)
        sys.exit(SKIPPED)
    unittest.main()
