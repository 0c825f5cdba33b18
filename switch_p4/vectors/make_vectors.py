#!/usr/bin/env python3
"""Writes slots.bin: packets in their order, and the reply that every aggregator must give.

usage: make_vectors.py FILE

The rules here are written a second time, without the C++ code, so that the two check each other. The
format, little-endian: "TNV1", then records.
  1  install   u16 handle, u32 epoch, u8 agents, u16 granularity, u16 table, u16 slots, 16 x u16 places
  2  restart   nothing; all jobs and sums are gone
  3  packet    u16 source, u16 length, bytes; then u8 to (0 nobody, 1 sender, 2 all agents),
               u8 reason, u16 length, bytes of the reply
"""

import random
import struct
import sys

CONTRIBUTION, RESULT, REFUSAL = 1, 2, 3
REASONS = ["none", "too_short", "too_long", "foreign", "replayed", "early", "old_epoch", "future_epoch",
           "unknown_job", "unknown_phase", "wrong_count", "wrong_table", "wrong_agent", "wrong_slot",
           "sum_too_wide"]
REFUSED = {"unknown_job", "old_epoch", "unknown_phase"}
HEADER = "<2sBBHBBIIHHHBB"
NOBODY, SENDER, ALL = 0, 1, 2


def packet(job, agent, sequence, slot=0, body=None, count=64, **other):
    field = dict(magic=b"TN", version=1, type=CONTRIBUTION, handle=job["handle"], agent=agent,
                 agents=job["agents"], epoch=job["epoch"], sequence=sequence, slot=slot, count=count,
                 table=job["table"], flags=1 if wide(job) else 0, reason=0)
    field.update(other)
    head = struct.pack(HEADER, *field.values())
    return head + (bytes(count // 2) if body is None else body)


def wide(job):
    return job["granularity"] * job["agents"] > 255


class Aggregator:
    def __init__(self):
        self.jobs = {}

    def install(self, job):
        self.jobs[job["handle"]] = dict(job, state={}, source={})

    def handle(self, data, source):
        """Returns (to, reason, reply)."""
        if len(data) < 24:
            return NOBODY, "too_short", b""
        (magic, version, kind, handle, agent, agents, epoch, sequence, slot, count, table, flags,
         reason) = struct.unpack(HEADER, data[:24])
        if (magic != b"TN" or version != 1 or not 1 <= kind <= 3 or flags > 1 or reason >= len(REASONS)
                or (reason != 0) != (kind == REFUSAL)):
            return NOBODY, "foreign", b""
        if not 1 <= agents <= 64 or agent >= agents:
            return NOBODY, "wrong_agent", b""
        most = 512 if flags else 1024
        if count > most or kind != REFUSAL and (count == 0 or count % 64):
            return NOBODY, "wrong_count", b""
        size = 24 + {CONTRIBUTION: count // 2, RESULT: 8 + count * (1 + flags), REFUSAL: 0}[kind]
        if len(data) != size:
            return NOBODY, "too_short" if len(data) < size else "too_long", b""
        if kind == RESULT and agents < 64 and struct.unpack("<Q", data[24:32])[0] >> agents:
            return NOBODY, "wrong_agent", b""
        if kind != CONTRIBUTION:
            return NOBODY, "foreign", b""

        def drop(why):
            if why not in REFUSED:
                return NOBODY, why, b""
            return SENDER, why, data[:3] + bytes([REFUSAL]) + data[4:23] + bytes([REASONS.index(why)])

        job = self.jobs.get(handle)
        if job is None:
            return drop("unknown_job")
        for wrong, why in [(epoch < job["epoch"], "old_epoch"), (epoch > job["epoch"], "future_epoch"),
                           (agents != job["agents"], "wrong_agent"), (table != job["table"], "wrong_table"),
                           (flags != wide(job), "sum_too_wide"), (slot >= job["slots"], "wrong_slot"),
                           (job["source"].get(agent, source) != source, "foreign")]:
            if wrong:
                return drop(why)
        phases = job["state"].setdefault(slot, {})  # sequence: (count, {agent: values})
        values = [job["places"][b >> shift & 15] for b in data[24:] for shift in (0, 4)]
        last = max(phases, default=None)

        def result(to, phase):
            of, added = phases[phase]
            sums = [sum(column) for column in zip(*added.values())]
            head = struct.pack(HEADER, b"TN", 1, RESULT, handle, agent, agents, epoch, phase, slot, of,
                               table, flags, 0)
            body = struct.pack(f"<Q{of}{'H' if flags else 'B'}", (1 << agents) - 1, *sums)
            return to, "none", head + body

        def full(phase):
            return len(phases[phase][1]) == agents

        if last is None and sequence != 0:
            return drop("unknown_phase")
        if last is not None and sequence < last - 1:
            return drop("replayed")
        if last is not None and sequence > last and (sequence > last + 1 or not full(last)):
            return drop("early")
        if sequence in phases and agent in phases[sequence][1]:
            return result(SENDER, sequence) if full(sequence) else (NOBODY, "none", b"")
        if sequence in phases and phases[sequence][0] != count:
            return drop("wrong_count")
        job["source"][agent] = source
        phases.setdefault(sequence, (count, {}))[1][agent] = values
        return result(ALL, sequence) if full(sequence) else (NOBODY, "none", b"")


class Recorder:
    def __init__(self):
        self.out = b"TNV1"
        self.rules = Aggregator()
        self.seen = set()

    def install(self, job):
        self.rules.install(job)
        self.out += struct.pack("<BHIBHHH16H", 1, job["handle"], job["epoch"], job["agents"],
                                job["granularity"], job["table"], job["slots"], *job["places"])

    def restart(self):
        self.rules = Aggregator()
        self.out += b"\x02"

    def send(self, source, data):
        to, reason, reply = self.rules.handle(data, source)
        self.seen.add(reason)
        self.out += struct.pack("<BHH", 3, source, len(data)) + data
        self.out += struct.pack("<BBH", to, REASONS.index(reason), len(reply)) + reply


def job_of(handle, epoch, agents, granularity, slots):
    places = [i * granularity // 15 for i in range(16)]
    return dict(handle=handle, epoch=epoch, agents=agents, granularity=granularity, table=40 + handle,
                slots=slots, places=places)


def bad_packets(to, job):
    good = packet(job, 0, 0)
    sums = 128 if wide(job) else 64
    for data in [b"", good[:10], good[:-1], good + b"\0", packet(job, 0, 0, magic=b"XX"),
                 packet(job, 0, 0, version=2), packet(job, 0, 0, type=9), packet(job, 0, 0, flags=2),
                 packet(job, 0, 0, type=REFUSAL, reason=6, body=b""),
                 packet(job, 0, 0, type=REFUSAL, reason=200, agents=0, body=b""),
                 packet(job, 0, 0, type=RESULT, body=bytes(8 + sums)),
                 packet(job, 0, 0, type=RESULT, body=b"\xff" * 8 + bytes(sums)), packet(job, 5, 0),
                 packet(job, 0, 0, agents=0), packet(job, 0, 0, agents=65),
                 packet(job, 0, 0, agents=job["agents"] + 1), packet(job, 0, 0, count=0),
                 packet(job, 0, 0, count=65), packet(job, 0, 0, count=1088), packet(job, 0, 0, table=1),
                 packet(job, 0, 0, slot=job["slots"]), packet(job, 0, 0, flags=0 if wide(job) else 1),
                 packet(job, 0, 0, epoch=job["epoch"] - 1), packet(job, 0, 0, epoch=job["epoch"] + 1),
                 packet(job, 0, 0, handle=999), packet(job, 0, 3)]:
        to.send(1, data)
    to.send(9, packet(job, 0, 3))  # is not learned as the source of agent 0


def good_phases(to, draw, job, phases, first_source=1):
    """Every agent contributes to each phase, in any order, now and then twice or late."""
    for sequence in range(phases):
        for slot in range(job["slots"]):
            count = draw.choice([64, 192, 512] if wide(job) else [64, 192, 512, 1024])
            bodies = [draw.randbytes(count // 2) for _ in range(job["agents"])]
            order = list(range(job["agents"])) + [draw.randrange(job["agents"])]
            draw.shuffle(order)
            for agent in order:
                to.send(agent + first_source, packet(job, agent, sequence, slot, bodies[agent], count))
                if sequence == 0:  # the phase before the first one of an epoch
                    to.send(agent + first_source, packet(job, agent, 2**32 - 1, slot))
                if sequence > 0 and draw.random() < 0.2:  # missed the result before
                    to.send(agent + first_source, packet(job, agent, sequence - 1, slot))
    to.send(first_source, packet(job, 0, phases + 5))
    to.send(first_source, packet(job, 0, 0))
    to.send(9, packet(job, 0, phases))
    to.send(first_source, packet(job, 0, phases))
    to.send(first_source, packet(job, 0, phases + 1))
    to.send(first_source + 1, packet(job, 1, phases, count=128))


def main():
    to, draw = Recorder(), random.Random(26)
    narrow, wide_job = job_of(7, 1, 3, 30, 2), job_of(8, 5, 4, 100, 2)
    for job in (narrow, wide_job):
        to.install(job)
        bad_packets(to, job)
        good_phases(to, draw, job, 3)
    narrow = dict(narrow, epoch=2)
    to.install(narrow)
    good_phases(to, draw, narrow, 2, first_source=5)
    to.restart()
    to.send(1, packet(narrow, 0, 2))
    narrow = dict(narrow, epoch=3)
    to.install(narrow)
    good_phases(to, draw, narrow, 2)
    missing = set(REASONS) - to.seen
    if missing:
        sys.exit(f"no packet is dropped for {', '.join(sorted(missing))}")
    with open(sys.argv[1], "wb") as file:
        file.write(to.out)


if __name__ == "__main__":
    main()
