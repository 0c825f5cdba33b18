"""The recorded packets of switch_p4/vectors as frames for a P4 switch, and the frames that must
come back. make_vectors.py describes the file."""

import struct
from pathlib import Path
from typing import Iterator, NamedTuple, Optional

FILE = Path(__file__).resolve().parent.parent / "vectors/slots.bin"
LISTEN_IP, LISTEN_PORT = 0x0a4d0001, 4650
GROUP_IP, GROUP_PORT = 0xefff0107, 4651
GROUP_MAC = bytes([0x01, 0x00, 0x5e, 0x7f, 0x01, 0x07])
SWITCH_MAC, AGENT_MAC = bytes([2, 0, 0, 0, 0, 1]), bytes([2, 0, 0, 0, 0, 2])
NOBODY, SENDER, ALL = 0, 1, 2


class Step(NamedTuple):
    """A restart, or a frame that arrives from the control plane or an agent, and the reply to it."""
    restart: bool = False
    from_cpu: bool = False
    frame: bytes = b""
    reply: Optional[bytes] = None
    reason: int = 0
    handle: int = 0  # of the packet, if it has one
    # Of an installation:
    job: Optional[dict] = None
    entry: int = 0
    instance: int = 0
    first_slot: int = 0


def checksum(header: bytes) -> int:
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def frame(macs: tuple, ends: tuple, datagram: bytes, ttl: int = 64, fragment: int = 0x4000) -> bytes:
    """`macs`: destination and source. `ends`: (address, port) of the sender and the receiver."""
    (from_ip, from_port), (to_ip, to_port) = ends
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, 28 + len(datagram), 0, fragment, ttl, 17, 0, from_ip, to_ip)
    ip = ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:]
    udp = struct.pack(">HHHH", from_port, to_port, 8 + len(datagram), 0)
    return b"".join(macs) + b"\x08\x00" + ip + udp + datagram


def install(entry: int, instance: int, first_slot: int, job: dict) -> bytes:
    wide = job["granularity"] * job["agents"] > 255
    return SWITCH_MAC + AGENT_MAC + struct.pack(
        ">HHBBBBHIIHHIHH16H", 0x88b5, job["handle"], entry, job["agents"], wide, 1, job["table"], instance,
        job["epoch"], first_slot, job["slots"], GROUP_IP, GROUP_PORT, 0, *job["places"])


class Reader:
    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def take(self, form: str) -> tuple:
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values

    def blob(self) -> bytes:
        size, = self.take("H")
        self.at += size
        return self.data[self.at - size:self.at]

    def job(self) -> dict:
        names = ("handle", "epoch", "agents", "granularity", "table", "slots")
        job = dict(zip(names, self.take("HIBHHH")))
        return dict(job, places=self.take("16H"))


def steps(lanes: int) -> Iterator[Step]:
    """All steps for a switch with so many lanes; slots with larger packets are left out from their
    first one on, until the job's next epoch."""
    reader = Reader(FILE.read_bytes())
    if reader.take("4s") != (b"TNV1",):
        raise ValueError(f"{FILE}: expected TNV1 at the beginning")
    ranges, instance = {}, 0  # ranges: first slot and quota of a handle
    while reader.at < len(reader.data):
        kind, = reader.take("B")
        if kind == 1:
            job = reader.job()
            first = ranges.setdefault(job["handle"], (sum(size for _, size in ranges.values()), job["slots"]))[0]
            instance, skipped = instance + 1, set()
            entry = list(ranges).index(job["handle"])
            yield Step(from_cpu=True, frame=install(entry, instance, first, job), job=job, entry=entry,
                       instance=instance, first_slot=first)
        elif kind == 2:
            ranges, instance = {}, 0
            yield Step(restart=True)
        else:
            source, = reader.take("H")
            packet = reader.blob()
            to, reason = reader.take("BB")
            reply = reader.blob()
            sender = (0x0a4d0100 + source, 5000 + source)
            slot, count = struct.unpack("<HH", packet[16:20]) if len(packet) >= 24 else (0, 0)
            if lanes < count <= 1024 and reason == 0:
                skipped.add(slot)
            if slot in skipped:
                continue
            macs = (SWITCH_MAC, AGENT_MAC)
            ends = (sender, (LISTEN_IP, LISTEN_PORT))
            expected = None
            if to == SENDER:
                expected = frame(macs[::-1], ends[::-1], reply)
            elif to == ALL:
                expected = frame((GROUP_MAC, SWITCH_MAC), (ends[1], (GROUP_IP, GROUP_PORT)), reply, ttl=1)
            yield Step(frame=frame(macs, ends, packet, fragment=0), reply=expected, reason=reason,
                       handle=int.from_bytes(packet[4:6], "little"))
