#!/usr/bin/env python3
"""Runs the shared vectors through the generated TNA program in tna_model: the packets of jobs whose
sums have 8 bits, in slots that only have packets of 64 values.

The program differs from the rules in one thing: it learns the source of an agent from its first packet
that fits the job, also if the slot then refuses the packet. The test takes that back."""

import importlib.util
import random
import struct
import sys
import unittest

import control
import generate
import tna_model
import vectors  # switch_p4/p4, by tna_model

AGENTS = 1
REFUSED_BY_SLOT = {4, 5, 9}  # replayed, early, unknown phase
PLACES = [0, 3, 5, 7, 9, 11, 13, 14, 16, 17, 19, 21, 23, 25, 27, 30]
GROUP = control.Group(int.from_bytes(vectors.GROUP_MAC, "big"), vectors.GROUP_IP, vectors.GROUP_PORT, 0)


def v1model_program() -> str:
    """The program for BMv2 of as many lanes."""
    spec = importlib.util.spec_from_file_location("v1model_generate", vectors.FILE.parent.parent / "p4/generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.program(generate.LANES)


def drawn_packet(draw: random.Random, epoch: int, phases: list) -> tuple:
    """The number of the sender and a contribution, which may be wrong in one field."""
    agent, slot = draw.randrange(3), draw.randrange(2)
    sequence = max(0, phases[slot] + draw.choice((0, 0, 0, 0, 0, 1, -1, -2, 2)))
    fields = {"magic": b"TN", "version": 1, "kind": 1, "handle": 7, "agent": agent, "agents": 3, "epoch": epoch,
              "sequence": sequence, "slot": slot, "count": 64, "table": 47, "flags": 0, "reason": 0}
    if draw.random() < 0.2:
        field = draw.choice(list(fields)[1:])
        fields[field] = draw.choice((0, 1, 2, 3, 5, 64, 65, 128, 200))
    body = draw.randbytes(32 if draw.random() < 0.95 else draw.choice((0, 8, 31, 33, 64)))
    source = agent if draw.random() < 0.97 else 9
    return source, struct.pack("<2sBBHBBIIHHHBB", *fields.values()) + body


class Model(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.switch = tna_model.Switch(generate.program())

    def setUp(self):
        self.switch.restart()

    def drops(self) -> dict:
        found = {}
        for counters in self.switch.counters.values():
            for reason, count in counters["drops"].items():
                found[reason] = found.get(reason, 0) + count
        return found

    def install(self, step: vectors.Step) -> bool:
        reason = control.refusal(step.job, step.entry, step.first_slot)
        if reason is None:
            for write in control.writes(step.job, step.entry, step.instance, step.first_slot, GROUP):
                self.switch.write(write)
        return reason is None

    def test_packets_of_64_values_get_the_recorded_replies(self):
        drops, reasons, replies, refused = {}, set(), 0, set()
        for number, step in enumerate(vectors.steps(generate.LANES)):
            if step.restart:
                self.switch.restart()
                drops = {}
                continue
            if step.job:
                (refused.discard if self.install(step) else refused.add)(step.job["handle"])
                continue
            if step.handle in refused:
                continue
            sources = {name: list(self.switch.registers[name].cells) for name in ("source_ips", "source_ports")}
            left = self.switch.handle(step.frame, AGENTS)
            if step.reason in REFUSED_BY_SLOT:
                for name, cells in sources.items():
                    self.switch.registers[name].cells = cells
            self.assertEqual(left, None if step.reply is None else (AGENTS, step.reply),
                             f"step {number}, reason {step.reason}")
            replies += step.reply is not None
            if step.reason:
                drops[step.reason] = drops.get(step.reason, 0) + 1
                reasons.add(step.reason)
            self.assertEqual(self.drops(), drops, f"step {number}")
        self.assertGreater(replies, 4)
        self.assertGreater(len(reasons), 10)

    def test_drawn_packets_get_the_replies_of_the_program_for_bmv2(self):
        draw, other = random.Random(3), tna_model.p4_model.Switch(v1model_program())
        seen, results = set(), 0
        for epoch in (1, 2, 3):
            job = {"handle": 7, "epoch": epoch, "agents": 3, "granularity": 30, "table": 47, "slots": 2,
                   "places": PLACES}
            other.handle(vectors.install(0, epoch, 0, job), 63)
            for write in control.writes(job, epoch, epoch, 0, GROUP):
                self.switch.write(write)
            phases = [0, 0]
            for agent in range(3):  # a packet that the slots take from each, so that sources are known
                packet = struct.pack("<2sBBHBBIIHHHBB", b"TN", 1, 1, 7, agent, 3, epoch, 0, 0, 64, 47, 0, 0)
                self.both(other, agent, packet + draw.randbytes(32))
            later = struct.pack("<2sBBHBBIIHHHBB", b"TN", 1, 1, 7, 0, 3, epoch, 2, 1, 64, 47, 0, 0)
            self.both(other, 0, later + bytes(32))
            for _ in range(250):
                source, packet = drawn_packet(draw, epoch, phases)
                reply = self.both(other, source, packet)
                if reply and len(reply) > 100:
                    slot, sequence = packet[16], int.from_bytes(packet[12:16], "little")
                    phases[slot] = max(phases[slot], sequence + 1)
                    results += 1
            seen |= set(self.drops())
            self.assertEqual(self.drops(), other.counters["drops"])
        self.assertGreater(results, 80)
        self.assertEqual(seen, set(range(1, 15)))

    def both(self, other: object, source: int, packet: bytes) -> bytes:
        sender = (0x0a4d0100 + source, 5000 + source)
        frame = vectors.frame((vectors.SWITCH_MAC, vectors.AGENT_MAC), (sender, (vectors.LISTEN_IP, 4650)), packet,
                              fragment=0)
        left = self.switch.handle(frame, AGENTS)
        self.assertEqual(left, other.handle(frame, AGENTS), packet.hex())
        return left[1] if left else b""

    def test_jobs_that_the_program_cannot_serve_are_refused(self):
        job = {"agents": 4, "granularity": 30, "slots": 64}
        self.assertIsNone(control.refusal(job, 0, 0))
        for wrong in ({"agents": 33}, {"agents": 9}, {"slots": 4097}):
            self.assertRegex(control.refusal(dict(job, **wrong), 0, 0), "expected")


if __name__ == "__main__":
    sys.exit(unittest.main())
