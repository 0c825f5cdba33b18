#!/usr/bin/env python3
"""Writes the P4 program of the aggregator for a number of lanes.

usage: generate.py LANES FILE

LANES is the largest number of values of a packet: a multiple of 64, the unit of the protocol, and at
most 1024. P4 has no loops, so aggregator.p4.in has a line //@ NAME for each part that is written here.
"""

import sys
from pathlib import Path

TEMPLATE = Path(__file__).with_name("aggregator.p4.in")
UNIT, LANES_MAX, LANES_MAX_WIDE, PIECE_BYTES = 64, 1024, 512, 64


def little(number: int) -> str:
    """A constant of 16 bits as the field has it, whose bytes are little-endian."""
    return f"0x{number & 0xff:02x}{number >> 8:02x}"


def sizes(groups: int) -> list:
    """Which packets have levels or contributors to read: type, flags, count and bytes agree."""
    lines = [f"(CONTRIBUTION, _, {little(UNIT * k)}, {24 + 32 * k}): levels_{k};"
             for k in range(1, groups + 1)]
    for k in range(1, LANES_MAX // UNIT + 1):
        lines.append(f"(RESULT, 0, {little(UNIT * k)}, {32 + 64 * k}): contributors;")
        if UNIT * k <= LANES_MAX_WIDE:
            lines.append(f"(RESULT, 1, {little(UNIT * k)}, {32 + 128 * k}): contributors;")
    return lines


def levels(groups: int) -> list:
    """The state levels_k reads k groups."""
    lines = []
    for k in range(groups, 0, -1):
        lines += [f"state levels_{k} {{", "  in_.extract(hdr.levels.next);",
                  f"  transition {f'levels_{k - 1}' if k > 1 else 'accept'};", "}"]
    return lines


def install() -> list:
    places = [f"places.write((at << 4) + {i}, hdr.install.places[{255 - 16 * i}:{240 - 16 * i}]);"
              for i in range(16)]
    return places + [f"sources.write((at << 6) + {agent}, 0);" for agent in range(64)]


def look_up(group: int, first: int, count: int, bits: int) -> list:
    """The places of `count` values of a group from `first` on, as lanes of so many bits. Together they
    are 512 bits, so the last shift leaves nothing of the piece before. BMv2 shifts by at most 255
    bits, so lanes cannot be slices of 512 bits."""
    lines = []
    for value in range(first, first + count):
        # Element 2i has the low nibble of byte i.
        low = 248 - 8 * (value // 2) + 4 * (value % 2)
        lines.append(f"places.read(meta.place, meta.places_at + "
                     f"(bit<32>)hdr.levels[{group}].bytes[{low + 3}:{low}]);")
        lines.append(f"meta.value = (meta.value << {bits}) | (bit<512>)meta.place[{bits - 1}:0];")
    return lines


def indented(lines: list) -> list:
    return ["  " + line for line in lines]


def piece(number: int, groups: int) -> list:
    """Reads, adds and writes 64 bytes of sums: 64 lanes of 8 bits, or 32 of 16 bits. Wide lanes are
    big-endian in the register, so that carries go to the upper byte, and turned on the way out."""
    narrow, wide = number < groups, number < 2 * min(groups, LANES_MAX_WIDE // UNIT)
    kinds = []
    if narrow:
        kinds += ["if (meta.wide == 0) {", *indented(look_up(number, 0, 64, 8)), "}"]
    if wide:
        kinds += ["if (meta.wide == 1) {", *indented(look_up(number // 2, number % 2 * 32, 32, 16)), "}"]
    mask = "512w0x" + "00ff" * 32
    take = [*kinds, "if (meta.first == 1) {", "  meta.sum = meta.value;", "} else {",
            "  meta.sum = meta.sum + meta.value;", "}", f"sums_{number}.write(meta.sums_at, meta.sum);"]
    reply = [f"hdr.sums[{number}].setValid();", f"hdr.sums[{number}].bytes = meta.sum;"]
    if wide:
        reply += ["if (meta.wide == 1) {",
                  f"  hdr.sums[{number}].bytes = ((meta.sum & {mask}) << 8) | ((meta.sum >> 8) & {mask});", "}"]
    return [f"if (meta.pieces > {number}) {{",
            *indented([f"sums_{number}.read(meta.sum, meta.sums_at);",
                       "if (meta.take == 1) {", *indented(take), "}",
                       "if (meta.reply == 1) {", *indented(reply), "}"]), "}"]


def program(lanes: int) -> str:
    if lanes % UNIT or not UNIT <= lanes <= LANES_MAX:
        raise ValueError(f"lanes: expected a multiple of {UNIT} up to {LANES_MAX}, got {lanes}")
    groups = lanes // UNIT
    pieces = max(groups, 2 * min(groups, LANES_MAX_WIDE // UNIT))
    parts = {"sizes": sizes(groups), "levels": levels(groups), "install": install(),
             "registers": [f"register<bit<512>>(SLOTS * 2) sums_{p};" for p in range(pieces)],
             "pieces": [line for p in range(pieces) for line in piece(p, groups)]}
    indents = {"sizes": 6, "levels": 2, "install": 4, "registers": 2, "pieces": 8}
    text = []
    for line in TEMPLATE.read_text(encoding="utf-8").splitlines():
        if line.startswith("//@ "):
            name = line[4:]
            text += [" " * indents[name] + one for one in parts.pop(name)]
        else:
            text.append(line.replace("GROUPS", str(groups)).replace("PIECES", str(pieces)))
    if parts:
        raise ValueError(f"{TEMPLATE.name} has no line for {', '.join(parts)}")
    return f"// {lanes} lanes; written by {Path(__file__).name}.\n" + "\n".join(text) + "\n"


def main() -> int:
    if len(sys.argv) != 3 or not sys.argv[1].isdigit():
        sys.exit(__doc__.strip().split("\n\n")[1])
    try:
        text = program(int(sys.argv[1]))
    except ValueError as error:
        sys.exit(f"generate.py: {error}")
    Path(sys.argv[2]).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
