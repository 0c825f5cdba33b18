#!/usr/bin/env python3
"""Compiles the v1model program and runs the shared vectors through BMv2, byte for byte, with counters.

The compiler is P4C_BM2 or p4c-bm2-ss on the path, the switch SIMPLE_SWITCH or simple_switch. Without
them the test is skipped (exit code 77) with the reason; REQUIRE_P4=1 makes that a failure. BMv2 lets
packets grow by 512 bytes; 1,024 lanes need one with more room (docs/in_network.md). The switch reads
and writes capture files, so it needs neither root nor an interface."""

import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import generate
import vectors

STEP_S = 0.01  # between packets; BMv2 handles hundreds of packets of 1,024 lanes in a second
LIMIT_S = 600
CPU_PORT = 63


def tool(variable: str, name: str) -> str:
    found = os.environ.get(variable) or shutil.which(name)
    if found:
        return found
    reason = f"no {name} on the path, and no {variable} in the environment"
    print(reason)
    sys.exit(1 if os.environ.get("REQUIRE_P4") == "1" else 77)


def write_capture(path: Path, frames: list) -> None:
    """`frames`: pairs of the time in steps and the bytes."""
    out = struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
    for step, frame in frames:
        time_us = int(step * STEP_S * 1e6)
        out += struct.pack("<IIII", time_us // 1_000_000, time_us % 1_000_000, len(frame), len(frame)) + frame
    path.write_bytes(out)


def read_capture(path: Path) -> list:
    data, at, frames = path.read_bytes() if path.exists() else b"", 24, []
    while at + 16 <= len(data):
        size = struct.unpack_from("<I", data, at + 8)[0]
        frames.append(data[at + 16:at + 16 + size])
        at += 16 + size
    return frames


def free_port() -> int:
    """For the switch's control plane."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Counters:
    """Reads counters of a running switch, by a call of Thrift's binary protocol: bm_counter_read()."""

    def __init__(self, port: int, program: Path):
        self.port = port
        self.names = {array["name"].rsplit(".", 1)[-1]: (array["name"], array["size"])
                      for array in json.loads(program.read_text(encoding="utf-8"))["counter_arrays"]
                      if not array["is_direct"]}

    def packets(self, name: str) -> list:
        full, size = self.names[name]
        return [self.read(full, index) for index in range(size)]

    def read(self, name: str, index: int) -> int:
        def text(value: str) -> bytes:
            return struct.pack(">I", len(value)) + value.encode()
        call = (struct.pack(">I", 0x80010001) + text("standard:bm_counter_read") + struct.pack(">I", 0) +
                struct.pack(">BHI", 8, 1, 0) + struct.pack(">BH", 11, 2) + text(name) +
                struct.pack(">BHIB", 8, 3, index, 0))
        with socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT_S) as link, link.makefile("rb") as answer:
            link.sendall(call)
            kind, size = struct.unpack(">II", answer.read(8))
            answer.read(size + 4)  # the name and the number of the call
            if kind != 0x80010002 or answer.read(3) != struct.pack(">BH", 12, 0):
                raise ValueError(f"no counter {name}[{index}] of the switch")
            # The value's fields: 1 is its bytes, 2 its packets.
            _, _, _, field, number, packets = struct.unpack(">BHQBHQ", answer.read(22))
            if (field, number) != (10, 2):
                raise ValueError(f"counter {name}[{index}] has no packets")
            return packets


def check_counters(counters: Counters, steps: list) -> None:
    """Drops by reason, results, and all packets of agents."""
    drops, taken = counters.packets("drops"), counters.packets("taken")
    for reason, count in enumerate(drops):
        expected = sum(step.reason == reason and reason != 0 for step in steps)
        if count != expected:
            sys.exit(f"drops of reason {reason}: expected {expected}, got {count}")
    packets = sum(not step.from_cpu for step in steps)
    if taken[0] + taken[1] + sum(drops) != packets:
        sys.exit(f"expected {packets} packets, got {taken[0]} contributions, {taken[1]} repeats and {sum(drops)} drops")
    replies = sum(step.reply is not None and step.reason == 0 for step in steps)
    if taken[2] + taken[3] != replies:
        sys.exit(f"expected {replies} results, got {taken[2]} and {taken[3]} sent again")


def through_switch(switch: str, program: Path, steps: list, folder: Path) -> list:
    """The frames that come back, in their order."""
    write_capture(folder / "agents_in.pcap",
                  [(at, step.frame) for at, step in enumerate(steps) if not step.from_cpu])
    write_capture(folder / "cpu_in.pcap",
                  [(at, step.frame) for at, step in enumerate(steps) if step.from_cpu])
    wanted, port = sum(step.reply is not None for step in steps), free_port()
    process = subprocess.Popen([switch, "--use-files", "1", "-i", "1@agents", "-i", f"{CPU_PORT}@cpu",
                                "--thrift-port", str(port), str(program)], cwd=folder,
                               stdout=subprocess.DEVNULL)
    try:
        began = time.monotonic()
        quiet = 2 + len(steps) * STEP_S * 1.5
        while time.monotonic() - began < LIMIT_S:
            time.sleep(0.2)
            if process.poll() is not None:
                sys.exit(f"{switch} ended with {process.returncode}: after \"data_size + bytes <= size\", build it "
                         "with more room for packets that grow, as docs/in_network.md says")
            got = read_capture(folder / "agents_out.pcap")
            if len(got) >= wanted and time.monotonic() - began > quiet:
                break
        check_counters(Counters(port, program), steps)
    finally:
        process.terminate()
        process.wait()
    return read_capture(folder / "agents_out.pcap")


def check(lanes: int, compiler: str, switch: str, folder: Path) -> None:
    source, program = folder / f"aggregator_{lanes}.p4", folder / f"aggregator_{lanes}.json"
    source.write_text(generate.program(lanes), encoding="utf-8")
    subprocess.run([compiler, "--std", "p4-16", "-o", str(program), str(source)], check=True)
    runs = [[]]  # between restarts of the switch
    for step in vectors.steps(lanes):
        if step.restart:
            runs.append([])
        else:
            runs[-1].append(step)
    for number, steps in enumerate(runs):
        place = folder / f"{lanes}_{number}"
        place.mkdir()
        got = through_switch(switch, program, steps, place)
        expected = [step.reply for step in steps if step.reply is not None]
        for at, (one, other) in enumerate(zip(got, expected)):
            if one != other:
                sys.exit(f"{lanes} lanes, run {number}, reply {at}: expected {other.hex()}, got {one.hex()}")
        if len(got) != len(expected):
            sys.exit(f"{lanes} lanes, run {number}: expected {len(expected)} replies, got {len(got)}")
        print(f"{lanes} lanes, run {number}: {len(expected)} replies to {len(steps)} packets are as recorded, "
              "with all counters")


def main() -> int:
    compiler, switch = tool("P4C_BM2", "p4c-bm2-ss"), tool("SIMPLE_SWITCH", "simple_switch")
    with tempfile.TemporaryDirectory() as folder:
        for lanes in (64, 256, 1024):
            check(lanes, compiler, switch, Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
