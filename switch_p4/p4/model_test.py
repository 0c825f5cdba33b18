#!/usr/bin/env python3
"""Runs the shared vectors through the generated v1model program in p4_model, byte for byte, where no
P4 tools are at hand. bmv2_test.py runs them through a real compiler and switch."""

import sys
import unittest

import generate
import p4_model
import p4_reader
import vectors

AGENTS, CPU = 1, 63


class Model(unittest.TestCase):
    def run_vectors(self, lanes: int) -> set:
        switch = p4_model.Switch(generate.program(lanes))
        reasons, drops, number = set(), {}, 0
        for number, step in enumerate(vectors.steps(lanes)):
            if step.restart:
                switch.restart()
                drops = {}
                continue
            left = switch.handle(step.frame, CPU if step.from_cpu else AGENTS)
            expected = None if step.reply is None else (AGENTS, step.reply)
            self.assertEqual(left, expected, f"{lanes} lanes, step {number}, reason {step.reason}")
            if step.reason:
                drops[step.reason] = drops.get(step.reason, 0) + 1
                reasons.add(step.reason)
            self.assertEqual(switch.counters["drops"], drops, f"{lanes} lanes, step {number}")
        self.assertGreater(number, 50)
        return reasons

    def test_1024_lanes_give_the_recorded_replies(self):
        self.assertEqual(self.run_vectors(1024), set(range(1, 15)))

    def test_fewer_lanes_give_those_of_small_packets(self):
        for lanes in (64, 256):
            self.run_vectors(lanes)

    def test_agents_cannot_install(self):
        switch = p4_model.Switch(generate.program(64))
        step = next(vectors.steps(64))
        self.assertTrue(step.from_cpu)
        switch.handle(step.frame, AGENTS)
        self.assertFalse(any(switch.registers["entry_of"].cells))
        switch.handle(step.frame, CPU)
        self.assertTrue(any(switch.registers["entry_of"].cells))

    def test_other_numbers_of_lanes_are_refused(self):
        for lanes in (0, 32, 100, 1088):
            self.assertRaises(ValueError, generate.program, lanes)

    def test_the_model_finds_widths_that_differ(self):
        text = generate.program(64)
        for wrong in ("meta.count = hdr.packet.epoch;", "meta.half = meta.half + meta.count;"):
            switch = p4_model.Switch(text.replace("read_numbers() {", "read_numbers() { " + wrong))
            with self.assertRaises(p4_reader.P4Error):
                for step in vectors.steps(64):
                    switch.handle(step.frame, AGENTS)


if __name__ == "__main__":
    sys.exit(unittest.main())
